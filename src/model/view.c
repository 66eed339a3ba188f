#include "model/view.h"

#include <stdio.h>
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

char *view_thread(const char *comm, bool kernel_thread, uint32_t tid, char buf[LANE_NAME])
{
	snprintf(buf, LANE_NAME,
		 kernel_thread    ? "[%s] [%u]"
		 : comm[0] == '[' ? "user thread %s [%u]"
				  : "%s [%u]",
		 comm[0] ? comm : "thread", tid);
	return buf;
}

char *view_lane(const struct view *v, uint32_t index, char buf[LANE_NAME])
{
	const struct cpu_run *r = &v->cpu[index];

	if (!v->run.watch)
		snprintf(buf, LANE_NAME, "cpu %u", v->summary.cpu[index].cpu);
	else if (r->tid)
		view_thread(r->comm, r->kernel_thread, r->tid, buf);
	else
		snprintf(buf, LANE_NAME, "%s", r->comm);
	return buf;
}

double view_lost(const struct view *v, uint32_t index)
{
	const struct cpu_run *r = &v->cpu[index];
	uint64_t away = v->summary.cpu[index].hiccups.sum + r->hiccups_lost_ns;

	if (!r->observed_ns || (v->run.watch && (r->unpaired || r->reported)))
		return -1;
	return (double)away / r->observed_ns;
}

const char *view_rest(const struct view *v)
{
	return v->run.rest[0] ? v->run.rest : "outside the kernel";
}

void view_cut(struct view *v, uint32_t n)
{
	for (uint32_t i = n; i < v->summary.ncpus; i++)
		cpu_run_free(&v->cpu[i]);
	summary_cut(&v->summary, n);
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

bool view_shared(const struct view *v)
{
	struct cpus both = v->run.cpus;

	cpus_and(&both, &v->run.housekeeping);
	return !cpus_empty(&both);
}

const char *view_verdict(const struct view *v)
{
	const char *best = NULL;
	/* of watched threads the longest time, because their shares are of different times */
	double most = -2;

	for (uint32_t i = 0; v->cpu && i < v->summary.ncpus; i++) {
		double lost =
			v->run.watch ? (double)v->summary.cpu[i].hiccups.sum : view_lost(v, i);

		if (v->cpu[i].verdict[0] && lost > most) {
			best = v->cpu[i].verdict;
			most = lost;
		}
	}
	return best;
}
