/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The view: all that a report is made from. Renderers read this and nothing else; a live run and a
 * recording fill it alike. */
#ifndef CULPRIT_VIEW_H
#define CULPRIT_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include "base/cpus.h"
#include "base/texts.h"
#include "model/book_entry.h"
#include "model/facts.h"
#include "model/finding.h"
#include "model/frequency.h"
#include "model/groups.h"
#include "model/incomplete.h"
#include "model/places.h"
#include "model/readings.h"
#include "model/series.h"
#include "model/shown.h"
#include "model/suspects.h"
#include "model/syscall_name.h"
#include "model/join.h"
#include "model/lengths.h"
#include "model/timeline.h"

#define NOT_RECORDED  "not recorded" /* source of the time that lost records took */
#define LOOP_LENGTHS  8
#define REPORT_SCHEMA "culprit.report/2"

struct through_found;

struct host {
	char hostname[256];
	char kernel[256];
	char arch[65];
	char cpu_model[128];
	/* "" on bare metal: "KVM", "VMware", ..., "unknown" when only the CPU flag shows it. */
	char hypervisor[64];
	char clocksource[64];
	char cmdline[4096];
	uint64_t tsc_khz; /* as measured against CLOCK_MONOTONIC; 0: the counter was not used */
	struct cpus isolated, nohz_full, online;
	char kconfig[1024]; /* lines of the kernel's configuration, as run/kconfig; "": not known */
	bool no_nohz_full;  /* true: it has no file that lists such CPUs */
};

/* Writes whose guest the machine is, "KVM guest"; "": it is none. Unescaped. Returns buf. */
#define HOST_GUEST 80
char *host_guest(const struct host *h, char buf[HOST_GUEST]);

/* False on an architecture whose firmware has no system management interrupts. */
bool host_has_smis(const struct host *h);

/* One counter of the kernel's beside the traced number, over the same window. */
struct closure_row {
	char counter[24]; /* "LOC", "24", "softirq TIMER", "context switches" */
	uint64_t kernel, traced;
	const char *why; /* reason for a difference; NULL: not known, or no difference */
};

/* Gaps below the threshold, which are no hiccups. A gap is longer than the sampler's loop ever is
 * by itself: see model/threshold.h. */
struct short_gaps {
	bool known; /* false: not counted, or counted over more than the report covers */
	uint64_t from_ns, count, total_ns;
};

#define WORST_MAX   20
#define HICCUP_BITS 7 /* resolution of the histogram of hiccups: percentiles to 0.8 % */

struct worst {
	uint32_t cpu; /* index into the view's CPUs */
	struct spot spot;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns, edge_ns, lost_ns, outside_ns;
	uint64_t host_ns;     /* time of its pieces of kind host */
	struct piece *pieces; /* owned; by falling net time */
	uint32_t npieces;
	struct span *spans; /* owned; in order of time; none unless the session keeps them */
	uint32_t nspans, spans_left;
	uint64_t place; /* order of hiccups of several lanes that are still apart */
};

#define EDGE_SAMPLES_MIN 8  /* with fewer the bounds are defaults */
#define EDGE_SAMPLES_FEW 30 /* the report says so with fewer samples */

/* The samples from which the bounds beside interrupts were learned. */
struct edge_seen {
	uint64_t samples; /* ways out; 0: none */
	uint64_t in_p50_ns, in_p90_ns, out_p50_ns, out_p90_ns;
};

/* A target CPU, or a watched thread: a lane. Nothing here grows with the length of the run. */
struct cpu {
	unsigned number;

	/* Results of the join (summary.h). */
	struct sources sources; /* rows of kind outside are among them */
	struct nohz_ticks ticks;
	struct bystanders bystanders; /* known for a workload only */
	struct hist hiccups;
	struct slices slices; /* slices of the hiccups */
	struct timeline timeline;
	struct lengths lengths; /* those of hiccups, by kind */
	uint64_t attributed_ns, edge_ns, lost_ns, outside_ns;
	uint64_t host_ns; /* see through.h; 0 where no host's recording was joined */
	/* Time of a watched thread by cause; together attributed_ns + edge_ns. */
	uint64_t whose_ns[WHOSE];
	uint64_t let_in_ns; /* a part of what was throttled: against a real-time priority */
	/* Before the first and after the last interval, whatever they count as. */
	uint64_t pre_ns, post_ns;

	/* Further facts about its window. */
	uint32_t tid;  /* a watched thread, whose lane this is; 0 for a CPU (or several threads) */
	char comm[17]; /* name of the thread; "" for a CPU */
	bool kernel_thread; /* known where comm is, of one thread */
	/* Wake-ups of a watched thread, and those by a timer whose due time is known. */
	uint64_t woken, woken_due;
	/* Waits of a watched thread for a CPU that are no hiccups and in no figure: those that had
	 * begun before the window, or unseen, when it first ran; those that were not over when the
	 * window ended, and how long the longest of these had lasted then. */
	uint64_t waits_before, waits_beyond, waits_beyond_ns;
	/* Times that a watched thread was stopped, by a signal or a debugger, and for how long: no
	 * hiccups. */
	uint64_t stops, stopped_ns;
	/* Was seen to leave a guest: a virtual CPU of KVM's. */
	bool is_vcpu;
	/* The process whose virtual CPU the thread is, and 1 + its number there; 0: not known. */
	uint32_t machine, vcpu;
	struct counter_rule counter; /* as that virtual CPU had it all of the window */
	/* A virtual CPU's (is_vcpu): halts of its guest that began; their time, and the part of
	 * that on a CPU; time asleep though the guest wanted to run, a part of what it lost. The
	 * last two are in observed_ns. And all that it lost, whatever the threshold is. */
	uint64_t halts, halted_ns, halted_here_ns, asleep_ns, taken_ns;
	uint64_t unended; /* exits whose time is not known, and counts as the guest's */
	/* Hiccups that the thread reported itself: how many, their time, how much of that nothing
	 * explains, in all and of one of them at most, and how many of them hold no interval. */
	uint64_t reported, reported_ns, unseen_ns, unseen_max_ns, unseen_whole;
	/* The CPUs where a watched thread ran, and what their steal clocks rose by in the window,
	 * together: how much of that was the thread's nobody knows. */
	struct cpus ran_on;
	struct places places; /* the same in figures; empty where they are not known */
	bool ran_steal_known;
	uint64_t ran_steal_ns;
	uint64_t late_ns; /* from the run's begin, by its first CPU, until this CPU's */
	uint64_t observed_ns;
	struct offline offline; /* not in observed_ns */
	uint64_t threshold_ns;
	/* The threshold that it was measured with, where it has been raised since; 0: the same. */
	uint64_t measured_from_ns;
	struct short_gaps shorts;
	uint64_t loop_count; /* loops shorter than the threshold, short gaps among them */
	double loop_min_ns, loop_mean_ns;
	double loop_above_ns[LOOP_LENGTHS]; /* lengths of loops, for the next array */
	uint64_t loop_above[LOOP_LENGTHS];  /* number of loops longer than each of these lengths */
	struct edge_bounds bounds;
	struct edge_seen edge_seen;
	struct join_counts counts;
	/* Ends without a begin, and unseen exits of threads; of a watched thread: its own exits. */
	uint64_t unpaired;
	uint64_t hiccups_lost_ns;
	uint64_t hiccups_lost;   /* the reader was late: the sampler's ring was full */
	uint64_t bookkeeping_ns; /* the sampler's own time between gap and loop */
	bool steal_known, smi_known;
	uint64_t steal_ns;  /* steal clock over the window, in steps of 10 ms (/proc/stat) */
	uint64_t smi_count; /* SMIs on this CPU in the window (perf event msr/smi/) */
	/* False: not traced, or its counters could not be read at both ends of the window. */
	bool closure_known;
	struct closure_row *closure;
	uint32_t nclosure;
	uint32_t sampler_pid; /* pid in a live run; 0: not known */
	/* Switches of the sampler that it did not ask for; of a live run. */
	bool preempted_known;
	uint64_t preempted;
	struct series *series; /* measurements of a workload */
	uint32_t nseries;
	/* windows of a workload that nobody could read, and that are in no series */
	uint64_t unread;
	/* Waits of watched threads that had no place (bpf/wait.bpf.h). With --sums on this CPU,
	 * else those of all CPUs in the first row. */
	uint64_t waits_lost;
	/* One sentence: is the CPU quiet, and if not, what to do first (audit/verdict.h). Any
	 * bytes; "": none. */
	char verdict[1000];
	/* Changes of its frequency in the window. */
	uint64_t khz_changes, khz_min, khz_max;
	struct khz_changes khz; /* when */
	/* CLOCK_MONOTONIC; until then all changes are in khz, and none is where that is empty.
	 * KHZ_ALWAYS; 0: that is not known. */
	uint64_t khz_until_ns;
	const char *ended; /* NULL: with the window; else why this CPU's window ended early */
};

struct run {
	char sampler[32];    /* "tsc", "cntvct", "clock" */
	char priority[64];   /* "SCHED_OTHER", "SCHED_FIFO 10", "SCHED_DEADLINE 200:1000 us" */
	char started[40];    /* ISO 8601, UTC */
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	uint64_t taken_ns;   /* CLOCK_REALTIME of metrics of a run that goes on; 0: of a report */
	uint64_t duration_ns;
	bool threshold_auto;
	bool real_time;      /* the samplers have a real-time priority */
	bool symbols_hidden; /* the kernel hides its addresses: functions have no names */
	bool traced;         /* false: --no-trace */
	bool redacted;       /* names and facts of its users were taken out (redact.h) */
	bool watch;          /* threads were watched: a lane is a thread */
	bool sums;           /* the probes added up: a lane is a CPU all the same (sums.h) */
	bool whose;          /* records tell the owners of the threads before it */
	bool exits;          /* records tell when the threads, virtual CPUs, are out of guests */
	/* hiccups are a workload's slow operations, not gaps of the spin loop */
	bool windows;
	char label[64]; /* label from the user; any bytes; "": none */
	char rest[48];  /* with windows: name of the time in them that nothing explains */
	/* Holds only a part of the recording's time: counts over the whole do not compare. */
	bool part;
	/* Gaps of a recording, or of a window that ended before its time (view_incomplete); any
	 * bytes; "": none. */
	char incomplete[400];
	bool damaged; /* the recording lacks it, and not the window */
	bool holes; /* events are missing of times that nobody knows: more was lost than is told */
	/* Reason why the window is shorter than was asked for, where that is not because CPUs ended
	 * early; any bytes; "": it is not. */
	char cut_short[160];
	/* Measured CPUs that were isolated when the window opened and not when it closed, or the
	 * other way round; any bytes; "": none. */
	char isolation_changed[160];
	struct cpus cpus, housekeeping;
	const char **not_observed; /* tracepoints and functions without a probe; allocated */
	uint32_t nnot_observed;
	uint64_t recursion_misses; /* misses of the probes, which are the same for all CPUs */
	bool names_lack;           /* some had no room: REPORT_NAMES_LACK */
	/* True: these and the lanes' waits_before and waits_beyond are known, which an earlier
	 * version did not record. */
	bool waits_known;
	bool stops_known; /* the same of the lanes' stops and stopped_ns */
	/* Watched threads that were woken in the window and had not run when it ended, and have no
	 * lane for that reason; and since when the first of them waited, at the end. */
	uint64_t never_ran, never_ran_ns;
	/* Windows that watched programs reported themselves and nobody read, of any length. */
	uint64_t reports_lost;
	/* Records that are lost of a watch, those in no thread's hiccups among them. */
	uint64_t records_lost;
	struct readings readings; /* clocks on the way; empty: an earlier version's */
};

struct view {
	struct host host;
	struct run run;
	struct cpu *cpu;
	uint32_t ncpus;
	struct worst worst[WORST_MAX]; /* worst hiccups of all CPUs, by falling duration */
	uint32_t nworst;
	struct shown shown;          /* the sources that a report shows */
	struct facts facts;          /* read before the window; empty: nobody read any */
	struct threads_told told;    /* by them */
	struct findings findings;    /* conclusions of the audit from them */
	struct book_entries entries; /* entries of the causes that these have */
	struct texts *texts;         /* strings that it points to, sources' names among them */
	struct texts *users_texts;   /* those of which users choose as many as they like */
	struct cpu_groups groups;    /* CPUs that are alike; empty: nobody looked, or not CPUs */
	const struct through_found *host_side; /* NULL: no recording of its host was joined */
	const char *file; /* name of its recording, as given; any bytes; NULL: none, or not known */
	struct suspects suspects; /* threads elsewhere when many CPUs stopped */
	struct suspect suspect;   /* one of these, or none */
	bool advised;             /* true: its sources have been looked up in the cause book */
	bool drawn;               /* true: hiccups are added to timelines and lengths, too */
};

/* True where culprit chose the thresholds itself, and nobody has raised them since. */
static inline bool view_threshold_auto(const struct view *v)
{
	bool raised = false;

	for (uint32_t i = 0; i < v->ncpus; i++)
		raised |= v->cpu[i].measured_from_ns != 0;
	return v->run.threshold_auto && !raised;
}

/* Hiccups of all its lanes that nobody has read, and programs' reports. */
static inline uint64_t view_hiccups_lost(const struct view *v)
{
	uint64_t lost = v->run.reports_lost;

	for (uint32_t i = 0; i < v->ncpus; i++)
		lost += v->cpu[i].hiccups_lost;
	return lost;
}

/* The time in which the guest whose CPU this thread is wanted to run, and the part of it in which
 * it did, ns: of one that is_vcpu. Time before its first exit counts as both. */
uint64_t view_guest_wanted(const struct cpu *c);
uint64_t view_guest_got(const struct cpu *c);

/* From the begin of a CPU's window to its end, ns; and from the run's begin to that end. */
uint64_t cpu_window_ns(const struct cpu *c);
uint64_t cpu_end_ns(const struct cpu *c);

/* Makes the view's CPUs: numbers in ascending order. 0 or -ENOMEM. */
int view_cpus(struct view *v, const unsigned *numbers, uint32_t n);

void worst_free(struct worst *w); /* frees its contents */
/* The view's copy of a text; NULL for NULL, and when there is no memory for it. */
const char *view_text(struct view *v, const char *text);
const char *view_users_text(struct view *v, const char *text);  /* an owner's, a command, calls */
void view_not_observed(struct view *v, const char *tracepoint); /* adds one without a probe */

void cpu_clear(struct cpu *c); /* frees its series, closure rows and changes of frequency */

/* Values of a series, or of hiccups for SERIES_HICCUPS: ns, or ps where *fine is set to true. NULL:
 * the CPU has none of that name. */
const struct hist *cpu_values(const struct cpu *c, const char *name, bool *fine);
/* Name of what a distribution of these views is of when nobody says it: the first series that has
 * values, else SERIES_HICCUPS. Their own, or static. */
const char *views_values(const struct view *const *views, uint32_t n);
/* True when one of them has values of that name. */
bool views_have(const struct view *const *views, uint32_t n, const char *name);
/* The series that a workload's window belongs to; NULL: of no workload, or not known. */
const struct series *cpu_series(const struct cpu *c, const struct spot *spot);
/* The time from which on all count as hiccups, ns: the highest threshold of its series, or its own.
 */
uint64_t cpu_counts_from(const struct cpu *c);
/* Forgets the values of its series, which are of other time than the report. */
void cpu_forget_series(struct cpu *c);

/* True where a lane is a watched thread, and no CPU. */
bool view_threads(const struct view *v);

/* "cpu 3", or for a watched thread "poke-timer [812]" with unescaped bytes; a kernel thread is
 * "[kworker/3:1] [12]", and a thread that poses as one "user thread [kworker/3:1] [812]". Returns
 * buf. */
#define LANE_NAME 56
char *view_lane(const struct view *v, uint32_t index, char buf[LANE_NAME]);

/* Name of a watched thread, which may no longer be the lane's; "": not known. Returns buf. */
char *view_thread(const char *comm, bool kernel_thread, uint32_t tid, char buf[LANE_NAME]);

/* Writes when many CPUs stopped at once, and who was there, without an end: "when 3 of 3 CPUs
 * stopped together, every 333 ms (320 ms to 350 ms), powerd [412] ran on ..."; raw bytes. NULL:
 * they did not, or nobody looked. Else buf. */
#define SUSPECTS_SAID 320
const char *suspects_say(const struct view *v, char *buf, size_t len);
/* Writes the name of the system call in which the suspect was; false: it has none. */
bool suspect_call(const struct view *v, char name[SYSCALL_NAME]);

/* Says in run.incomplete which CPUs' windows ended before the others', and why, and which were
 * offline meanwhile; or else what run.cut_short says. Gaps of a damaged recording stay. */
void view_incomplete(struct view *v);

/* False where a watched thread's counts and times are not known: of a part of a recording, or of
 * one without its end. */
bool view_thread_known(const struct view *v);

/* False where nothing could show the time that a watched thread lost so: it is in other kinds. */
bool view_whose_known(const struct view *v, const struct cpu *c, enum whose whose);

/* Tells why kernel functions have no names, as the end of a sentence; NULL: they have, or nothing
 * was traced. It names what hides them as far as the facts tell. */
const char *view_names_hidden(const struct view *v);

/* Fills run.isolation_changed. isolated: as it is now, when the window has closed. */
void view_isolation(struct view *v, const struct cpus *isolated);

/* Share of its time that a lane lost, 0 to 1; -1: not known. The share of a watched thread is not
 * known either when some of its time is missing because it left unseen, or when it reported its
 * losses itself, which may overlap. */
double view_lost(const struct view *v, uint32_t index);
/* True when that is all: no events are missing. */
bool view_lost_known(const struct view *v, uint32_t index);

/* Name of the time that nothing explains, for this kind of hiccups; where nothing was traced
 * nobody knows whose it is. */
const char *view_rest(const struct view *v);

/* Removes the lanes from n on, which were not used. */
void view_cut(struct view *v, uint32_t n);
/* Adds a lane for this CPU where one was removed. 0 or -ENOMEM. */
int view_again(struct view *v, unsigned number);

/* The limit of reports of watched threads. */
#define VIEW_WATCH                                                                                 \
	"nobody sees the time that a hypervisor, firmware or hardware takes while a thread runs, " \
	"nor kernel work without a probe: in windows that a program reports itself it is "         \
	"measured, as not seen; how much it is elsewhere is not known"

/* The report of watched threads without a lane: they may sleep, or not be there. */
/* The limit of sums. */
#define VIEW_SUMS                                                                                  \
	"added up in the kernel (--sums), over the time that watched threads ran or waited on a "  \
	"CPU: single losses, who asked, whose time it was and used-up quotas are not known; what " \
	"is in the way when the window ends is not counted; a watched thread counts with all of "  \
	"its run where another one waits when it leaves, else not; percentiles are up to half "    \
	"too "                                                                                     \
	"high"

#define VIEW_NOBODY "none of the chosen threads was seen to run in this time"

/* No CPU was left for culprit itself: it ran on the measured ones, too, and is a part of the
 * report. */
#define VIEW_SHARED                                                                                \
	"no CPU was left for culprit itself: it ran on the measured ones, too, and disturbed them"
bool view_shared(const struct view *v);

/* Waits of watched threads for a CPU that had no place in the table of those that wait, on all
 * CPUs: whoever waited may have lost more than is said. */
uint64_t view_waits_lost(const struct view *v);

/* The reason why records are lost; behind it stands view_relief(). */
#define VIEW_LATE "culprit could not keep up"

/* Tells what to do where records were lost, as far as it can be done here. */
const char *view_relief(const struct view *v);

void view_free(struct view *v); /* frees its contents, not itself */

/* The verdict on the CPU that lost the largest share of its time, or on all that are like it where
 * reports show groups; NULL: none. */
const char *view_verdict(const struct view *v);

/* Length of a tick of the sampler's counter, ns, where it is so long that it shows in the
 * figures: no gap and no edge is known any better. 0: it does not show. */
double view_tick(const struct view *v);

#endif
