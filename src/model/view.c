#include "model/view.h"

#include <stdlib.h>

void view_free(struct view *v)
{
	for (uint32_t i = 0; v->cpu && i < v->summary.ncpus; i++)
		free(v->cpu[i].closure);
	free(v->cpu);
	v->cpu = NULL;
	summary_free(&v->summary);
	facts_free(&v->facts);
	findings_free(&v->findings);
}
