/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many CPUs stopped at once: who ran on another CPU nearly always when it happened, and seldom
 * else.
 *
 * Somebody is there when he ran on some CPU from before the stop until behind it: who makes all
 * CPUs stop waits for that in the call that does it. He is named when all of this holds:
 *
 *   nearly always  in SUSPECT_THERE of the stops at least
 *   seldom else    in no more than SUSPECT_ELSE of the time of their cells
 *   no chance      SUSPECT_CHANCE bounds how often any of the candidates of a run would be there as
 *                  often without having to do with it
 *
 * The chance: time is divided into cells, of a length that follows from how long stops take and how
 * far apart they are. A stop that is alone in its cell may lie anywhere in it as far as somebody
 * who has nothing to do with it is concerned, so it finds him there with no more than the
 * probability of his share of the cell, q, however his runs lie in it and in others; and cells are
 * independent of each other. So the number of stops that find him is at most binomial with the mean
 * share Q (Hoeffding 1956), and h of n of them or more happen with exp(-n D(h/n || Q)) at most
 * (Chernoff), with D = x ln(x/Q) + (1-x) ln((1-x)/(1-Q)). All candidates are tried: the bound is
 * that times their number. Bursts do no harm: somebody who is busy for a minute has shares near 1
 * all the time. His share counts the stop itself, which his run lasts longer by, and begins as much
 * earlier as two times may differ: that makes it larger, never smaller. Stops that share a cell are
 * not judged, nor are those for which no cell is long enough.
 *
 * Candidates are threads, and names that several threads have, as of a command that is run again
 * and again.
 *
 * One thing is not ruled out: two things of the very same period that begin in step. Then it is
 * true that he was there, and no more; the report says how often, not that he was the cause.
 *
 * Pure.
 */
#ifndef CULPRIT_SUSPECTS_H
#define CULPRIT_SUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#define SUSPECT_THERE      0.95
#define SUSPECT_ELSE       0.2
#define SUSPECT_CHANCE     1e-6
#define SUSPECT_STOPS      5  /* fewer name nobody */
#define SUSPECT_CELL       64 /* as many times as long as the stop is a cell at most, and */
#define SUSPECT_CELL_LEAST 8  /* no fewer times than this */
#define SUSPECT_CELL_NS    (1ULL << 31) /* nor longer than this */
#define SUSPECT_ROWS       1024         /* stops that are kept; of more every second, fourth, ... */
#define SUSPECT_THREADS    4096         /* threads that are told apart; later ones are not named */
#define SUSPECT_PARTS      256          /* threads of a stop that are kept, with most time */
#define SUSPECT_WHOLE      65535        /* a share of 1 */

/* Somebody ran on a CPU that is not measured. */
struct presence {
	uint64_t start_ns, end_ns;
	uint32_t tid;
	uint16_t cpu;
	/* System call that he was seen in while he ran there: 2 + its number; 1: in none; 0: not
	 * seen. And when. */
	uint16_t call;
	uint64_t call_ns;
	bool kernel_thread;
	char comm[16]; /* any bytes */
};

struct suspect_thread {
	uint32_t tid;
	bool kernel_thread;
	char comm[16];  /* any bytes, zeros behind a NUL */
	uint32_t place; /* 1 + place among the parts of the stop in hand; 0: none */
};

/* A thread in the cell of a stop. */
struct stop_part {
	uint32_t who;   /* index into the threads */
	uint16_t share; /* part of the cell, in SUSPECT_WHOLEths; rounded up */
	uint16_t cpu;   /* place of its run, if it was there */
	uint16_t call;  /* as in a presence; of one that was there */
	bool there;
};

struct stop {
	uint64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
	uint64_t apart_ns;         /* since the begin of the stop before it; 0: not known */
	uint64_t cell_ns;          /* 0: it is not judged */
	uint32_t cpus;             /* measured CPUs that stopped */
	uint16_t rest;             /* share of all that are not among the parts */
	uint16_t nparts;
	struct stop_part *part; /* owned */
};

struct suspects {
	bool looked;      /* false: nobody recorded who ran elsewhere */
	uint32_t of_cpus; /* measured CPUs */
	uint64_t stops;   /* all */
	uint64_t more;    /* threads that had no place in the table */
	struct stop *row; /* by begin; one of `stride` */
	uint32_t nrows, stride;
	struct suspect_thread *thread;
	uint32_t nthreads;
	uint32_t *slot; /* 2 * SUSPECT_THREADS: 1 + index of the thread; 0: free */
};

struct suspect {
	bool named;
	bool several;       /* several threads of one name; `who` is one of them */
	uint32_t who;       /* index into the threads */
	uint32_t there, of; /* stops at which it was, of those that were judged */
	double share;       /* mean share of their cells */
	double elsewhere;   /* share of the time around the stops, without them */
	double chance;      /* bound, for all candidates together */
	uint32_t as_good; /* others that hold, too: of these the one with the least chance is named
			   */
	uint32_t cpu;     /* place of its runs; UINT32_MAX: on several */
	/* The system call in which it was at call_there of the call_known stops that tell; 0: none
	 * can be named. As in a presence. */
	uint16_t call;
	uint32_t call_there, call_known;
};

struct stop_period {
	/* From the begin of one stop to that of the next; 0: fewer than three. And quartiles. */
	uint64_t median_ns, low_ns, high_ns;
};

/* Finds the cell of a stop by its start, end and apart_ns: sets its cell_ns, and returns the begin
 * of the cell. cell_ns 0: none is long enough. */
uint64_t suspects_cell(struct stop *s);

/* A run may begin and end so much too late and too early and be there. */
uint64_t suspects_tolerance(const struct stop *s);

/* Adds a stop, with cell_ns of 0 one that is not judged; p: all n runs that touch its cell. Stops
 * come in order of time. Out of memory it is not judged. */
void suspects_add(struct suspects *s, const struct stop *stop, const struct presence *p,
		  uint32_t n);

/* Index of a thread, which is entered when it is new; SUSPECT_THREADS: there is no room. */
uint32_t suspects_thread(struct suspects *s, const struct suspect_thread *t);

/* Forgets the stops that do not begin in this time. */
void suspects_cut(struct suspects *s, uint64_t from_ns, uint64_t to_ns);
void suspects_free(struct suspects *s);

/* Fills `out`. 0 or -ENOMEM. */
int suspects_find(const struct suspects *s, struct suspect *out);
int suspects_period(const struct suspects *s, struct stop_period *out);
/* The fewest CPUs that stopped at once. */
uint32_t suspects_cpus(const struct suspects *s);

#endif
