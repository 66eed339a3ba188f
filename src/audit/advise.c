/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds cause and advice of a source whose names alone do not decide:
 *
 *   the tick      of a nohz_full CPU: by the dependency that kept it most often (nohz_tick.h), and
 * by what else ran there outside       by the verdict, the SMI count, and whether this is a guest
 *   [throttled]   by whether the fair server's timer ran there
 *   migration/N   the soft-lockup watchdog's, when its timer ran there as often
 *   perf's NMI    a profiler's, when there are far more than the watchdog makes
 *   who asked     a kick, a flush or a stop of the CPU means what its asker wanted: by the kernel
 *                 stack of the most frequent asker
 */
#include "audit/advise.h"
#include "audit/placeholders.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "audit/remedy.h"
#include "base/policy.h"
#include "base/units.h"
#include "model/stops.h"

/* Far more often than kernel.watchdog_thresh (10 s) of CPU time. */
#define WATCHDOG_NMI_NS NSEC_PER_SEC
/* Ticks at most for each time that a quota's timer runs: a long period of 250 ms, at 1,000 Hz. */
#define QUOTA_TICKS     250
#define QUOTA_PERIOD_NS NSEC_PER_SEC /* the longest that the kernel takes */
#define POSIX_TIMER     1            /* a dependency of the tick */

/* The place of a source. */
struct place {
	const struct view *view;
	const struct cpu *cpu;
	const struct cpu *run;
};

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
bool advise_is_tick(const struct source *s)
{
	if (runs(s, "tick_nohz_handler") || runs(s, "tick_sched_timer") || runs(s, "cppc_irq_work"))
		return true;
	return s->kind == SOURCE_VECTOR && !strcmp(s->name, "local_timer") &&
	       (!s->function || s->function[0] == '[');
}

/* False for the CPUs of a watched thread, of which the view does not say. */
static bool is_nohz_full(const struct place *p)
{
	return !p->view->run.watch && cpus_has(&p->view->host.nohz_full, p->cpu->number);
}

/* True when the sampler, or a user's task that may run on the CPU, has the policy SCHED_DEADLINE.
 * The kernel's own such tasks (sugov) arm no timers. */
static bool has_deadline_task(const struct place *p)
{
	return policy_text_is_deadline(p->view->run.priority) ||
	       cpus_has(&p->view->told.deadline, p->cpu->number);
}

/* True when the server for normal tasks is known to be on for the CPU. */
static bool has_fair_server(const struct place *p)
{
	struct audit a = {.facts = &p->view->facts};
	long long runtime = 0;
	char name[80];

	snprintf(name, sizeof(name), "sys/kernel/debug/sched/fair_server/cpu%u/runtime",
		 p->cpu->number);
	return number_of(&a, name, &runtime) && runtime > 0;
}

/* dl_task_timer belongs to a deadline task as well as to the fair server. */
static const struct cause *cause_of_deadline(const struct place *p)
{
	return has_fair_server(p) && !has_deadline_task(p) ? cause_by_id("T03")
							   : cause_by_id("T31");
}

static bool runs_deadline_timer(const struct place *p)
{
	return beside(p, "dl_task_timer") || beside(p, "inactive_task_timer");
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
	if (!advise_is_tick(s) || !is_nohz_full(p) || !dependency)
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
	if (stops_are_smis(p->run))
		return cause_match("outside", "smi");
	if (p->view->host.hypervisor[0])
		return cause_match("outside", "guest");
	return cause_match("outside", is_arm64(p->view) ? "arm64" : "hardware");
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

static const struct cause *cause_anywhere(const struct place *p, const struct source *s)
{
	const struct cause *c = cause_by_asker(s);

	c = c ? c : cause_of(s);
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
	    s->net.count * WATCHDOG_NMI_NS > p->run->observed_ns)
		return cause_match("nmi", "perf_ibs_nmi_handler");
	return c;
}

static const struct cause *cause_at(const struct place *p, const struct source *s)
{
	const struct cause *c = cause_anywhere(p, s);

	if (!c || cause_fits(c, p->view->host.arch))
		return c;
	/* A call without a function is most often the TLB's on x86; the hardware does it here. */
	return s->kind == SOURCE_VECTOR && !s->function ? cause_match("family", "csd") : NULL;
}

/* A kernel thread that works for a device names it: "irq/24-eth0-TxRx-0", "napi/eth0-12". */
static void fill_device(const struct source *s, struct placeholders *f, char *device, size_t len)
{
	unsigned irq;

	device[0] = 0;
	f->interface = device;
	if (s->kind == SOURCE_IRQ)
		f->irq = s->id;
	else if (s->kind == SOURCE_THREAD && s->kernel_thread &&
		 sscanf(s->name, "irq/%u-", &irq) == 1)
		f->irq = irq;
	else if (s->kind != SOURCE_THREAD || !s->kernel_thread || strncmp(s->name, "napi/", 5))
		return;
	device_of(s->name, device, len);
}

/* True when the kernel refuses to move the thread, whatever its entry says of others. */
static bool is_bound(const struct source *s)
{
	return s->kernel_thread &&
	       (!strncmp(s->name, "rcuc/", 5) || !strncmp(s->name, "backlog_napi/", 13));
}

/* Number of the thread that the advice is about: the source's own, or the one that kept the tick.
 */
static uint32_t pid_of(const struct place *p, const struct source *s, const struct cause *c)
{
	const struct nohz_tick_row *most;

	if (s->kind == SOURCE_THREAD)
		return is_bound(s) ? 0 : s->id;
	if (strcmp(c->id, "T04"))
		return 0;
	most = nohz_ticks_row(&p->cpu->ticks, POSIX_TIMER);
	return most ? most->tid : 0;
}

/* True when the thread is known to have ended by the end of the window. */
static bool has_ended(const struct place *p, uint32_t tid)
{
	return tid && numbers_have(&p->view->told.ended, tid);
}

#define EVERYWHERE "what is watched may run on every CPU: bind it to a few first (taskset)"

static char *advice_at(const struct place *p, const struct source *s, const struct cause *c)
{
	/* the lane of a watched thread is no CPU */
	long cpu = view_threads(p->view) ? -1 : (long)p->cpu->number;
	struct conditions here = conditions_at(p->view->told.conditions, cpu);
	struct cpus rest = advise_others(p->view, c);
	char device[SOURCE_NAME], *text;
	struct placeholders f = {.cpu = cpu,
				 .cpus = &p->view->run.cpus,
				 .housekeeping = &rest,
				 .irq = -1,
				 .pid = pid_of(p, s, c),
				 .comm = s->kind == SOURCE_THREAD ? s->name : NULL,
				 .function = s->function,
				 .list_most = ADVICE_LIST};

	fill_device(s, &f, device, sizeof(device));
	advise_own(p->view, f.pid, &rest);
	if (p->view->run.watch && cpus_empty(&rest))
		f.cpus = NULL; /* threads may run on any CPU: none is meant to be quiet */

	/* The CPU has already what the book would advise, and nothing was seen that kept the
	 * tick. */
	if (!strcmp(c->id, "T01") && here.nohz_full)
		return strdup(
			"nohz_full is on for this CPU, and nothing was seen that kept its tick");
	if (p->view->run.windows && !p->view->run.watch &&
	    (!strcmp(c->id, "T10") || !strcmp(c->id, "P01") || !strcmp(c->id, "P04") ||
	     (!strcmp(c->id, "T31") && policy_text_is_deadline(p->view->run.priority))))
		return strdup("the workload's own wake-up comes this way, too: nothing may be "
			      "wrong with it");
	if (s->kind == SOURCE_THREAD && !s->kernel_thread && !strcmp(s->name, "culprit"))
		return strdup(cpus_empty(&rest)
				      ? "if it is this run's own, measure fewer CPUs than the "
					"machine has; else end the other run"
				      : "if it is this run's own, give culprit a CPU of its own "
					"with -H; else end the other run");
	if (s->kind == SOURCE_THREAD && !s->kernel_thread && !strcmp(s->name, "culprit-sampler"))
		return strdup("another run of culprit measured here, too: let one end before the "
			      "other begins");
	if (strstr(c->advice, "{pid}") && has_ended(p, f.pid))
		return remedy_ended(c, s->kind == SOURCE_THREAD && !s->kernel_thread, &f);
	text = remedy(c, &f, &here);
	/* A watch measures no CPUs. */
	if (text && p->view->run.watch && strstr(text, NOBODY_LEFT)) {
		free(text);
		if (asprintf(&text, "%s; culprit explain %s", EVERYWHERE, c->id) < 0)
			return NULL;
	}
	return text;
}

int advise_source(struct view *v, uint32_t lane, struct source *s)
{
	const struct place p = {v, &v->cpu[lane], &v->cpu[lane]};
	const struct cause *c;

	if (!v->told.read && advise_threads(v))
		return -ENOMEM;
	if (s->kind == SOURCE_HOST)
		return advise_host(v, s);
	if (s->by >= BY_UNIT && !s->word)
		return advise_owner(v, s);
	c = cause_at(&p, s);
	free(s->advice);
	s->advice = NULL;
	s->cause = c ? c->id : NULL;
	if (c && c->advice && !(s->advice = advice_at(&p, s, c)))
		return -ENOMEM;
	return 0;
}

int advise(struct view *v)
{
	v->advised = true;
	if (advise_threads(v))
		return -ENOMEM;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct sources *t = &v->cpu[i].sources;

		stops_find(v, i);
		for (uint32_t k = 0; k < t->count; k++)
			if (advise_source(v, i, t->row[k]))
				return -ENOMEM;
	}
	return 0;
}
