/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside collect: a live run and its target CPUs, shared by start.c, read.c and collect.c. */
#ifndef CULPRIT_TARGET_H
#define CULPRIT_TARGET_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/affinity.h"
#include "collect/closure.h"
#include "collect/collect.h"
#include "collect/holder.h"
#include "collect/live_names.h"
#include "collect/partition.h"
#include "collect/probes.h"
#include "collect/ring.h"
#include "collect/sampler.h"
#include "collect/turns.h"
#include "model/session.h"

#define LEARN_MAX_NS 10000000000ULL /* wait for samplers to answer */
#define NAP_NS       2000000
#define WENT_OFFLINE "the CPU went offline"

struct begin {
	cursors_t cursors;
	bool passed[LEVELS];
};

/* State of one target CPU. */
struct target {
	unsigned cpu;
	struct sampler_shm *shm;
	pid_t pid; /* process of its sampler; 0: it is gone */
	pid_t tid; /* the sampler's thread in it, known when that is ready; 0: as above */
	struct cpu_state *state; /* NULL without probes, as are: */
	struct rings *rings;
	unsigned fill; /* level of its fullest ring at the last look, percent */
	/* since when something else had the CPU at the last look; 0: the sampler had it */
	uint64_t since;
	bool steady;              /* true when that was so before and after the look */
	uint64_t head, tail;      /* hiccups of the shared memory: read, and accounted for */
	bool live;                /* the window is open */
	bool told;                /* the end is in the view */
	bool called;              /* the CPU is back, and its sampler has been told */
	uint64_t khz_read;        /* changes of its frequency up to the last visit */
	uint64_t khz_until_ns;    /* all before it are in the view */
	uint64_t unpaired_before; /* count of the probes at the window's start */
	double ns_per_tick;
	uint64_t anchor_tick, anchor_ns; /* the newest good reading of both clocks */
	uint64_t anchor_width;           /* width of that one, ticks */
	int64_t slewed_ns;               /* CLOCK_MONOTONIC, from the raw one, then */
	uint64_t base_tick, base_ns;     /* the first good one; until then the first */
	bool base_good;
	uint64_t last_ns;        /* end of the newest hiccup */
	struct samples *samples; /* samples of a workload; NULL: none */
	uint8_t series;          /* series of the newest hiccup, as in struct spot */
	struct begin window;
	struct closure *closure; /* the run's: counts this CPU's records; NULL: not yet */
	uint32_t index;          /* place of this CPU among the targets */
	bool preempted_known;
	uint64_t preempted_before; /* at the window's start */
	uint64_t earlier_ns;       /* observed before its CPU went offline last */
	uint64_t left_ns;          /* CLOCK_MONOTONIC: when that was */
};

struct collect {
	struct view *view;
	struct probes *probes;
	struct target *target;
	unsigned *cpus; /* numbers of the targets */
	uint32_t ntargets;
	struct closure *closure; /* NULL without probes */
	uint64_t misses_before;
	const struct workload *workload;
	struct workload_props props;
	bool counter, want_intervals;
	bool roams; /* the samplers are not pinned: targets only number them */
	struct engine_hooks hooks;
	bool began, ended;
	struct reader_priority reader;
	struct session *session;       /* from learning on */
	uint64_t steal_read_ns;        /* when the steal clocks were read last */
	struct live_names *names;      /* NULL without probes */
	struct turns_reader *turns;    /* NULL: nobody wants them */
	struct partitions *partitions; /* NULL without SCHED_DEADLINE */
};

/* ---- collect.c ---- */

int collect_close(void *run); /* as the engine's */

/* ---- window_end.c ---- */

/* Raises a count. It never falls from one snapshot to the next: neither by a better rate of the
 * counter, nor by a window that ended with the last hiccup. */
static inline void raise_to(uint64_t *count, uint64_t now)
{
	if (now > *count)
		*count = now;
}

/* Writes the counts of a CPU's window up to end_ns to the view. */
void window_count(struct collect *c, uint32_t i, uint64_t end_ns);
/* Enters the end of a CPU's window in the view. end_ns: when it ended. */
void window_conclude(struct collect *c, uint32_t i, uint64_t end_ns);
/* Says why a sampler's window ended before its time; NULL: it did not. asked: it was to end. */
const char *window_why_ended(struct collect *c, uint32_t i, bool asked);
/* True when a CPU that went offline may come back, and be measured again. */
bool window_may_return(const struct collect *c, uint32_t i);
/* Measures a CPU again that went offline and is back. */
void window_follow(struct collect *c, uint32_t i);
/* Finds samplers that have died, left their CPU, or finished, and takes their last hiccups
 * first. */
void window_check(struct collect *c, uint32_t i);
/* Ends all samplers after one of a group that wait for each other has failed: the others would wait
 * for ever. */
void window_abandon(struct collect *c);

/* ---- start.c ---- */

void *collect_open(const void *options, const struct engine_hooks *hooks, struct view *view);

/* ---- samplers.c ---- */

/* True when the process of a sampler is gone, and notes that for all samplers in it. */
bool sampler_gone(struct collect *c, const struct target *t);
void sampler_kill(struct collect *c, const struct target *t); /* ends that process, if any */
#define CALLED_MAX 48
/* Writes what a message calls a sampler: `of` and its CPU, or its number where it is not pinned.
 * Returns buf. */
const char *sampler_called(const struct collect *c, const struct target *t, const char *of,
			   char buf[CALLED_MAX]);
void samplers_name(struct collect *c); /* notes their threads, when all are ready */

/* Each returns 0, or -1 with the reason said. */
int samplers_start(struct collect *c, const struct collect_options *o); /* forks all */
/* Waits until all samplers have reached a phase, for limit_ns since the last step that one of them
 * took of its way there. One whose CPU went offline is not waited for: its
 * pid is 0 from then on, and the view says why it has no window. */
int samplers_await(struct collect *c, int phase, uint64_t limit_ns);
/* Writes who may hold the CPU of a sampler that could not run, and what to do; NULL: not known
 * which one. Returns buf. */
const char *samplers_relief(const struct collect *c, const struct target *t, char buf[HOLDER_TEXT]);
void samplers_tell(struct collect *c, int phase); /* tells them to begin it */

/* ---- window.c ---- */

/* Brings all samplers to a barrier, and opens it for all at once. 0, or -1 with the reason said. */
int window_open(struct collect *c);
/* Stops the samplers that have not ended, and closes the gate. All records have been read then. */
void window_close(struct collect *c);

/* ---- read.c ---- */

/* Taker of records: the session, or a join of its own while edges are learned. */
struct taker {
	void (*take)(void *ctx, uint32_t index, const struct record *r);
	void *ctx;
	uint32_t index; /* place of the CPU */
};

/* Looks at what the probes have written for one CPU, and since when something else has had that CPU
 * without a break. */
void look_at_records(struct target *t);
/* Moves a batch of the records to the taker (NULL: drops them); bounded: up to the sequences `end`.
 * False: there are no more. */
bool read_records(struct target *t, const struct taker *taker, cursors_t end, bool bounded);
/* Reads hiccups first, then records: when a hiccup is visible, so are all its records. */
void read_target(struct collect *c, uint32_t i);
void read_all(struct collect *c); /* all with an open window */
/* Reads again and again, while one of them fills its rings so fast that a nap may be too long. */
void read_busy(struct collect *c);

void split_cursors(cursors_t cursors, uint32_t *level);
uint64_t to_ns(const struct target *t, uint64_t anchor_tick, uint64_t anchor_ns, uint64_t tick);
#define DRIFT 1024 /* one ns in so many is more than a learned rate is wrong by */

/* True when both clocks, read within `width` ticks, went on together since the newest anchor:
 * the machine was not suspended, and the counter is the same one. */
bool anchors_hold(const struct target *t, uint64_t tick, uint64_t ns, uint64_t width);
void new_anchor(struct target *t, uint64_t tick, uint64_t ns); /* the rate is kept */
/* A hiccup in which the machine was suspended is as long as CLOCK_MONOTONIC knows. */
void convert(struct target *t, const struct shm_hiccup *l, struct hiccup *h);

void nap(uint64_t ns);

#endif
