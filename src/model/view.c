#include "model/view.h"

#include <stdlib.h>

void cpu_run_free(struct cpu_run *c)
{
	for (uint32_t i = 0; i < c->nseries; i++)
		hist_free(&c->series[i].hist);
	free(c->series);
	free(c->closure);
	c->series = NULL;
	c->closure = NULL;
	c->nseries = c->nclosure = 0;
}

void view_free(struct view *v)
{
	for (uint32_t i = 0; v->cpu && i < v->summary.ncpus; i++)
		cpu_run_free(&v->cpu[i]);
	free(v->cpu);
	v->cpu = NULL;
	summary_free(&v->summary);
	facts_free(&v->facts);
	findings_free(&v->findings);
}
