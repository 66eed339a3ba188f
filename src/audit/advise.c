/* From a source to its cause and advice, where its names alone do not decide:
 *
 *   the tick        of a nohz_full CPU: by what kept it most often (tick.h), and what else ran there
 *   outside         by the verdict, the SMI count and whether this is a guest
 *   [throttled]     by whether the fair server's timer ran there
 *   migration/N     with the soft-lockup timer beside it, as often: that one's
 *   perf's NMI      far more often than the watchdog's: a profiler
 *   who asked       a kick, a flush or a stop of the CPU means what its asker wanted: by the kernel stack of who asked most often
 */
#include "audit/advise.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define WATCHDOG_NMI_NS NSEC_PER_SEC /* far more often than kernel.watchdog_thresh (10 s) of CPU time */

/* Where a source is. */
struct place {
	const struct view *view;
	const struct cpu_summary *cpu;
	const struct cpu_run *run;
};

static bool runs(const struct source *s, const char *function)
{
	return s->function && !strcmp(s->function, function);
}

/* How many intervals of the CPU ran this function. */
static uint64_t beside(const struct place *p, const char *function)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->cpu->sources.count; i++)
		if (runs(p->cpu->sources.row[i], function))
			n += p->cpu->sources.row[i]->net.count;
	return n;
}

static bool is_tick(const struct source *s)
{
	if (runs(s, "tick_nohz_handler") || runs(s, "tick_sched_timer"))
		return true;
	return s->kind == SOURCE_VECTOR && !strcmp(s->name, "local_timer") && (!s->function || s->function[0] == '[');
}

/* The dependency that kept the tick most often; 0: none was seen. */
static uint32_t tick_kept_by(const struct ticks *t)
{
	uint64_t most = 0;
	uint32_t dependency = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		uint64_t n = 0;

		for (uint32_t k = 0; k < t->count; k++)
			n += t->row[k].dependency == t->row[i].dependency ? t->row[k].count : 0;
		if (n > most) {
			most = n;
			dependency = t->row[i].dependency;
		}
	}
	return dependency;
}

static const struct cause *cause_of_tick(const struct place *p, const struct cause *otherwise)
{
	static const char *const deadline[] = {"dl_task_timer", "inactive_task_timer"};
	static const char *const quota[] = {"sched_cfs_period_timer", "sched_cfs_slack_timer"};
	uint32_t dependency = tick_kept_by(&p->cpu->ticks);
	const struct cause *c;
	char bit[16];

	if (!cpus_has(&p->view->host.nohz_full, p->cpu->cpu) || !dependency)
		return otherwise;
	if (!strcmp(tick_dependency_name(dependency), "SCHED"))
		for (int i = 0; i < 2; i++) {
			if (beside(p, deadline[i]))
				return cause_match("hrtimer", deadline[i]);
			if (beside(p, quota[i]))
				return cause_match("hrtimer", quota[i]);
		}
	snprintf(bit, sizeof(bit), "%u", dependency);
	c = cause_match("tickdep", bit);
	return c ? c : otherwise;
}

static const struct cause *cause_of_outside(const struct place *p, const struct source *s)
{
	bool together = !strcmp(s->name, "simultaneous");

	if (!strcmp(s->name, "steal"))
		return cause_match("outside", "steal");
	if (!together && strcmp(s->name, "hardware or hypervisor"))
		return NULL; /* without tracing nothing is known about it */
	if (p->run->smi_known && p->run->smi_count)
		return cause_match("outside", "smi");
	if (p->view->host.hypervisor[0])
		return cause_match("outside", together ? "guest-together" : "guest");
	if (together)
		return cause_match("outside", p->run->smi_known ? "together-no-smi" : "together");
	return cause_match("outside", p->run->smi_known ? "no-smi" : "hardware");
}

/* The stack of who asked most often holds a function like this; "*": somebody is known to have asked. */
static bool asked_by(const struct source *s, const char *pattern)
{
	uint32_t first;
	const struct origin *o;

	if (!s->origins || !origins_top(s->origins, &first, 1))
		return false;
	o = &s->origins->row[first];
	if (o->function && !fnmatch(pattern, o->function, 0))
		return true;
	for (int i = 0; i < o->nframes; i++)
		if (!fnmatch(pattern, o->frame[i], 0))
			return true;
	return !fnmatch(pattern, "", 0);
}

static const struct cause *cause_by_asker(const struct source *s)
{
	static const struct {
		const char *who; /* the function, else the name, of the source */
		const char *asker;
		const char *id;
	} rows[] = {
		{"do_sync_core", "toggle_allocation_gate", "P10"},
		{"do_flush_tlb_all", "change_page_attr_set_clr", "P07"},
		{"do_kernel_range_flush", "change_page_attr_set_clr", "P07"},
		{"reschedule", "kvm_vcpu_kick*", "P22"},
		{"reschedule", "kvm_make_*request*", "P22"},
		{"reschedule", "kick_process", "P02"},
		{"reschedule", "signal_wake_up_state", "P02"},
		{"reschedule", "resched_cpu", "P03"},
		{"reschedule", "force_qs_rnp", "P03"},
		{"migration/*", "stop_machine*", "K20"},
		{"migration/*", "stop_cpus*", "K20"},
		{"migration/*", "*", "K21"}, /* one that stops all CPUs would show */
	};
	const char *who = s->function && s->function[0] != '[' ? s->function : s->name;

	if (s->kind != SOURCE_VECTOR && !s->kernel_thread)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!fnmatch(rows[i].who, who, 0) && asked_by(s, rows[i].asker))
			return cause_by_id(rows[i].id);
	return NULL;
}

static const struct cause *cause_at(const struct place *p, const struct source *s)
{
	const struct cause *c = cause_by_asker(s);

	c = c ? c : cause_of(s);
	if (s->kind == SOURCE_OUTSIDE)
		return cause_of_outside(p, s);
	if (s->kind == SOURCE_VECTOR && is_tick(s))
		return cause_of_tick(p, c);
	if (runs(s, "[throttled]"))
		return cause_match("hrtimer", beside(p, "dl_task_timer") ? "dl_task_timer" : "sched_rt_period_timer");
	if (s->kind == SOURCE_THREAD && !s->function && !strncmp(s->name, "migration/", 10) &&
	    beside(p, "watchdog_timer_fn") >= s->net.count)
		return cause_match("hrtimer", "watchdog_timer_fn");
	if (runs(s, "perf_event_nmi_handler") && s->net.count * WATCHDOG_NMI_NS > p->run->observed_ns)
		return cause_match("nmi", "perf_ibs_nmi_handler");
	return c;
}

/* A kernel thread that works for a device says so in its name: "irq/24-eth0-TxRx-0", "napi/eth0-12". */
static void fill_device(const struct source *s, struct fill *f, char *device, size_t len)
{
	unsigned irq;

	device[0] = 0;
	f->interface = device;
	if (s->kind == SOURCE_IRQ)
		f->irq = s->id;
	else if (s->kind == SOURCE_THREAD && s->kernel_thread && sscanf(s->name, "irq/%u-", &irq) == 1)
		f->irq = irq;
	else if (s->kind != SOURCE_THREAD || !s->kernel_thread || strncmp(s->name, "napi/", 5))
		return;
	device_of(s->name, device, len);
}

static char *advice_at(const struct place *p, const struct source *s, const struct cause *c)
{
	const struct run *r = &p->view->run;
	char device[SOURCE_NAME];
	struct fill f = {.cpu = p->cpu->cpu,
			 .cpus = &r->cpus,
			 .housekeeping = &r->housekeeping,
			 .irq = -1,
			 .pid = s->kind == SOURCE_THREAD ? s->id : 0,
			 .comm = s->kind == SOURCE_THREAD ? s->name : NULL};

	fill_device(s, &f, device, sizeof(device));

	/* It has what the book would say, and nothing was seen that kept the tick. */
	if (is_tick(s) && !strcmp(c->id, "T01") && cpus_has(&p->view->host.nohz_full, p->cpu->cpu))
		return strdup("nohz_full is on for this CPU, and nothing was seen that kept its tick");
	return fill_text(c->advice, &f);
}

int advise(struct view *v)
{
	v->advised = true;
	for (uint32_t i = 0; i < v->summary.ncpus; i++) {
		const struct place p = {v, &v->summary.cpu[i], &v->cpu[i]};

		for (uint32_t k = 0; k < p.cpu->sources.count; k++) {
			struct source *s = p.cpu->sources.row[k];
			const struct cause *c = cause_at(&p, s);

			free(s->advice);
			s->advice = NULL;
			s->cause = c ? c->id : NULL;
			if (c && c->advice && !(s->advice = advice_at(&p, s, c)))
				return -ENOMEM;
		}
	}
	return 0;
}
