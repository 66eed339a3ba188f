/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the cause of a source whose names alone do not decide:
 *
 *   the tick      of a nohz_full CPU: by the dependency that kept it most often (nohz_tick.h), and
 * by what else ran there outside       by the verdict, the SMI count, and whether this is a guest
 *   [throttled]   by whether the fair server's timer ran there
 *   migration/N   the soft-lockup watchdog's, when its timer ran there as often
 *   perf's NMI    a profiler's, when there are far more than the watchdog makes
 *   who asked     a kick, a flush or a stop of the CPU means what its asker wanted: by the kernel
 *                 stack of the most frequent asker
 */
#include "audit/choose.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "audit/checks.h"
#include "base/policy.h"
#include "base/units.h"
#include "model/stops.h"

/* Far more often than kernel.watchdog_thresh (10 s) of CPU time. */
#define WATCHDOG_NMI_NS NSEC_PER_SEC
/* Ticks at most for each time that a quota's timer runs: a long period of 250 ms, at 1,000 Hz. */
#define QUOTA_TICKS     250
#define QUOTA_PERIOD_NS NSEC_PER_SEC /* the longest that the kernel takes */
#define DEADLINE_TIMER  "dl_task_timer"
#define DEADLINE_TURNS  8 /* turns of threads at most for each time that its timer asks */

static bool runs(const struct source *s, const char *function)
{
	return s->function && !strcmp(s->function, function);
}

/* Number of times that the function ran on the CPU, in this kernel and not in its host's. */
static uint64_t beside(const struct place *p, const char *function)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->cpu->sources.count; i++)
		if (p->cpu->sources.row[i]->kind != SOURCE_HOST &&
		    runs(p->cpu->sources.row[i], function))
			n += p->cpu->sources.row[i]->net.count;
	return n;
}

/* The CPPC driver's irq_work is queued by each tick. */
bool source_is_tick(const struct source *s)
{
	if (runs(s, "tick_nohz_handler") || runs(s, "tick_sched_timer") || runs(s, "cppc_irq_work"))
		return true;
	return s->kind == SOURCE_VECTOR && !strcmp(s->name, "local_timer") &&
	       (!s->function || s->function[0] == '[');
}

/* The CPU, or those where a watched thread ran. */
static struct cpus where(const struct place *p)
{
	struct cpus on = p->cpu->ran_on;

	if (!view_threads(p->view)) {
		cpus_clear(&on);
		cpus_add(&on, p->cpu->number);
	}
	return on;
}

static bool is_nohz_full(const struct place *p)
{
	const struct cpus on = where(p);

	return !cpus_empty(&on) && cpus_cover(&p->view->host.nohz_full, &on);
}

/* True when the sampler, or a user's task that may run on the CPU, has the policy SCHED_DEADLINE.
 * The kernel's own such tasks (sugov) arm no timers. */
static bool has_deadline_task(const struct place *p)
{
	struct cpus on = where(p);

	cpus_and(&on, &p->view->told.deadline);
	return policy_text_is_deadline(p->view->run.priority) || !cpus_empty(&on);
}

/* True when the server for normal tasks is known to be on for such a CPU. */
static bool has_fair_server(const struct place *p)
{
	struct audit a = {.facts = &p->view->facts};
	const struct cpus on = where(p);
	long long runtime = 0;
	char name[80];

	for (int cpu = cpus_next(&on, 0); cpu >= 0; cpu = cpus_next(&on, cpu + 1)) {
		snprintf(name, sizeof(name), "sys/kernel/debug/sched/fair_server/cpu%d/runtime",
			 cpu);
		if (number_of(&a, name, &runtime) && runtime > 0)
			return true;
	}
	return false;
}

/* dl_task_timer belongs to a deadline task as well as to the fair server. */
static const struct cause *cause_of_deadline(const struct place *p)
{
	return has_fair_server(p) && !has_deadline_task(p) ? cause_by_id("T03")
							   : cause_by_id("T31");
}

/* True when the stack of the most frequent asker holds such a function; "*": when any asker is
 * known. */
static bool asked_by(const struct source *s, const char *pattern)
{
	uint32_t first;
	const struct asker_row *o;

	if (!s->askers || !askers_top(s->askers, &first, 1))
		return false;
	o = &s->askers->row[first];
	if (o->who.function && !fnmatch(pattern, o->who.function, 0))
		return true;
	for (int i = 0; i < o->nframes; i++)
		if (!fnmatch(pattern, o->frame[i], 0))
			return true;
	return !fnmatch(pattern, "", 0);
}

/* The timer of a nohz_full CPU's deadline entity may run on a housekeeping CPU, which then asks
 * this one. The server for normal tasks fires once a second wherever there is one; where threads
 * took turns more often than that, they kept the tick. */
static bool runs_deadline_timer(const struct place *p)
{
	uint64_t asked = 0, turns = 0;

	if (beside(p, "dl_task_timer") || beside(p, "inactive_task_timer"))
		return true;
	for (uint32_t i = 0; i < p->cpu->sources.count; i++) {
		const struct source *s = p->cpu->sources.row[i];

		if (s->kind == SOURCE_THREAD)
			turns += s->net.count;
		else if (s->kind == SOURCE_VECTOR && asked_by(s, DEADLINE_TIMER))
			asked += s->net.count;
	}
	return asked && turns <= asked * DEADLINE_TURNS;
}

/* True where the kernel keeps the tick for a task under a quota (cfs_task_bw_constrained). */
static bool quotas_keep_ticks(const struct view *v)
{
	struct audit a = {.facts = &v->facts};
	const char *features = text_of(&a, "sys/kernel/debug/sched/features");
	int major, minor;

	if (features) /* other kernels may have it, too */
		return has_word(features, "HZ_BW");
	return sscanf(v->host.kernel, "%5d.%5d", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 6));
}

/* Each exit from an interrupt counts as a tick that was kept, so there may be far more than ticks:
 * a quota's timer that ran in each period of the window is enough. */
static bool is_kept_by_quota(const struct place *p, uint32_t dependency)
{
	uint64_t n = beside(p, "sched_cfs_period_timer") + beside(p, "sched_cfs_slack_timer");
	uint64_t by_ticks = nohz_ticks_count(&p->cpu->ticks, dependency) / QUOTA_TICKS;
	uint64_t periods = p->cpu->observed_ns / QUOTA_PERIOD_NS;

	return n && quotas_keep_ticks(p->view) && (n > by_ticks || n >= periods);
}

static const struct cause *cause_of_tick(const struct place *p, const struct source *s,
					 const struct cause *otherwise)
{
	uint32_t dependency = nohz_ticks_dependency(&p->cpu->ticks);
	const struct cause *c;
	char bit[16];

	if (runs(s, "dl_task_timer") || runs(s, "inactive_task_timer"))
		return cause_of_deadline(p);
	if (!source_is_tick(s) || !is_nohz_full(p) || !dependency)
		return otherwise;
	if (!strcmp(nohz_dependency_name(dependency), "SCHED")) {
		if (runs_deadline_timer(p))
			return cause_of_deadline(p);
		if (is_kept_by_quota(p, dependency))
			return cause_by_id("T09");
	}
	snprintf(bit, sizeof(bit), "%u", dependency);
	c = cause_match("tickdep", bit);
	return c ? c : otherwise;
}

/* The threads that ran in the sampler's place had no real-time priority: a deadline task's timer
 * beside them is no reason. */
static const struct cause *cause_of_throttling(const struct place *p)
{
	bool server = has_fair_server(p) || (beside(p, "dl_task_timer") && !has_deadline_task(p));

	return cause_by_id(server ? "T03" : "T18");
}

static bool is_arm64(const struct view *v)
{
	return !strcmp(v->host.arch, "aarch64");
}

static const struct cause *cause_of_outside(const struct place *p, const struct source *s)
{
	if (s->word == WORD_STEAL)
		return cause_match("outside", "steal");
	if (s->word != WORD_SIMULTANEOUS && s->word != WORD_HARDWARE)
		return NULL; /* without tracing nothing is known about it */
	if (stops_are_smis(p->cpu))
		return cause_match("outside", "smi");
	if (p->view->host.hypervisor[0])
		return cause_match("outside", "guest");
	return cause_match("outside", is_arm64(p->view) ? "arm64" : "hardware");
}

static const struct cause *cause_by_asker(const struct source *s)
{
	static const struct {
		const char *who; /* function, or else name, of the source */
		const char *asker;
		const char *id;
	} rows[] = {
		{"do_sync_core", "toggle_allocation_gate", "P10"},
		{"do_nothing", "toggle_allocation_gate", "P10"},
		{"do_flush_tlb_all", "change_page_attr_set_clr", "P07"},
		{"do_kernel_range_flush", "change_page_attr_set_clr", "P07"},
		{"reschedule", "kvm_vcpu_kick*", "P22"},
		{"reschedule", "kvm_make_*request*", "P22"},
		{"reschedule", "kick_process", "P02"},
		{"reschedule", "signal_wake_up_state", "P02"},
		{"reschedule", "resched_cpu", "P03"},
		{"reschedule", "force_qs_rnp", "P03"},
		{"nohz_full_kick_func", "posix_cpu_timer*", "T04"},
		{"nohz_full_kick_func", "try_to_wake_up", "T02"},
		{"nohz_full_kick_func", "wake_up_new_task", "T02"},
		{"nohz_full_kick_func", "rcu_exp_*", "T08"},
		{"nohz_full_kick_func", "synchronize_rcu_expedited*", "T08"},
		{"nohz_full_kick_func", "rcu_*", "T07"},
		{"flush_tlb_func", "clear_refs_write", "P27"},
		{"flush_tlb_func", "*process_madvise", "P27"},
		{"flush_tlb_func", "kernel_move_pages", "P27"},
		{"flush_tlb_func", "kernel_migrate_pages", "P27"},
		{"migration/*", "stop_machine*", "K20"},
		{"migration/*", "stop_cpus*", "K20"},
		{"migration/*", "*", "K21"}, /* a stop of all CPUs would show the asker */
	};
	const char *who = s->function && s->function[0] != '[' ? s->function : s->name;

	if (s->kind != SOURCE_VECTOR && !s->kernel_thread)
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!fnmatch(rows[i].who, who, 0) && asked_by(s, rows[i].asker))
			return cause_by_id(rows[i].id);
	return NULL;
}

/* True when the most frequent asker was on a CPU that is not this place's. */
static bool asked_from_elsewhere(const struct place *p, const struct source *s)
{
	const struct cpus on = where(p);
	uint32_t first;

	return !cpus_empty(&on) && s->askers && askers_top(s->askers, &first, 1) &&
	       !cpus_has(&on, s->askers->row[first].who.cpu);
}

static const struct cause *cause_anywhere(const struct place *p, const struct source *s)
{
	const struct cause *c = cause_by_asker(s);

	c = c ? c : cause_of(s);
	if (s->kind == SOURCE_VECTOR && asked_by(s, DEADLINE_TIMER))
		return cause_of_deadline(p);
	if (c && !strcmp(c->id, "K07") && asked_from_elsewhere(p, s))
		return cause_by_id("K37");
	if (s->kind == SOURCE_OUTSIDE)
		return cause_of_outside(p, s);
	if (s->word == WORD_THROTTLED)
		return cause_of_throttling(p);
	if (s->kind == SOURCE_VECTOR || runs(s, "dl_task_timer") || runs(s, "inactive_task_timer"))
		c = cause_of_tick(p, s, c);
	if (s->kind == SOURCE_THREAD && s->kernel_thread && !s->function &&
	    !strncmp(s->name, "migration/", 10) && beside(p, "watchdog_timer_fn") >= s->net.count)
		return cause_match("hrtimer", "watchdog_timer_fn");
	if (runs(s, "perf_event_nmi_handler") &&
	    s->net.count * WATCHDOG_NMI_NS > p->cpu->observed_ns)
		return cause_match("nmi", "perf_ibs_nmi_handler");
	return c;
}

const struct cause *cause_at(const struct place *p, const struct source *s)
{
	const struct cause *c = cause_anywhere(p, s);

	return c && cause_fits(c, p->view->host.arch) ? c : NULL;
}
