#include "audit/together.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/audit.h"
#include "audit/verdict.h"

/* As advice is written: "boot with ..." for parameters. */
static int take_fix(const struct finding *f, struct source *s)
{
	char *advice;

	if (!f->about || !f->fix)
		return 0;
	if (asprintf(&advice, "%s%s", f->fix_kind == FIX_BOOT ? "boot with " : "", f->fix) < 0)
		return -ENOMEM;
	free(s->advice);
	s->advice = advice;
	s->cause = f->cause;
	return 0;
}

static int add_costs(struct view *v, struct finding *f)
{
	int err = 0;

	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		struct sources *t = &v->summary.cpu[i].sources;

		for (uint32_t k = 0; k < t->count && !err; k++) {
			struct source *s = t->row[k];

			if (!s->net.count || !finding_explains(f, v->summary.cpu[i].cpu, s))
				continue;
			f->cost_ns += s->net.sum;
			err = take_fix(f, s);
		}
	}
	return err;
}

int audit_view(struct view *v)
{
	struct audit_options o = {.targets = v->run.cpus, .realtime = v->run.real_time};
	int err = 0;

	findings_free(&v->findings);
	if (v->facts.count)
		err = audit(&v->facts, &o, &v->findings);
	for (uint32_t i = 0; i < v->findings.count && !err; i++)
		err = add_costs(v, &v->findings.row[i]);
	verdict(v);
	return err;
}
