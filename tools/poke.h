/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of poke: what a class of noise is, what one poke leaves in the log, and the
 * thread that a class may keep on the target CPU. All times are ns of CLOCK_MONOTONIC. */
#ifndef POKE_H
#define POKE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define NSEC_PER_SEC 1000000000ULL
#define POKE_EXTRAS  5

struct poke;

/* One line of the log. start_ns and end_ns bracket the noise; a thread on the target takes them
 * itself. */
struct poke_event {
	struct poke *poke;
	uint64_t due_ns;
	uint64_t start_ns, end_ns;
	/* CPU time that the thread on the target used; 0: none of ours ran there */
	uint64_t ran_ns;
	struct {
		const char *key;
		uint64_t value;
	} extra[POKE_EXTRAS];
};

struct poke_class {
	const char *name;
	const char *makes;
	const char *function; /* the kernel function that makes the noise, where it has one */
	int policy;           /* policy of the thread on the target */
	uint64_t least_ns;    /* one poke lasts LENGTH, and no less than this */
	bool apart;           /* left out of a mix that does not name it */
	/* Sets up what all pokes share. May disturb the target: it runs before the first due time
	 * is fixed. -1 with p->why filled when this machine cannot do it. */
	int (*prepare)(struct poke *p);
	/* Gives all due times to a class that then acts by itself; NULL for a class that is driven
	 * poke by poke. */
	int (*arm)(struct poke *p);
	/* Makes one poke at ev->due_ns, which has come; or, for an armed class, waits until it is
	 * done. */
	int (*poke)(struct poke *p, struct poke_event *ev);
	/* Undoes everything; called once, also when prepare failed or never ran. */
	void (*finish)(struct poke *p);
	/* Work of the thread on the target each time it is kicked. */
	void (*body)(struct poke *p, struct poke_event *ev);
};

struct poke_conf {
	int cpu, control_cpu, priority;
	long count;
	uint64_t length_ns, gap_lo_ns, gap_hi_ns, period_ns;
	uint64_t seed;
};

/* A class in use. */
struct poke {
	const struct poke_class *class;
	const struct poke_conf *conf;
	char comm[16];
	char name[40]; /* second victim on the target: a device IRQ, a kernel thread */
	char why[200];
	struct poke_event **mine; /* this class's events in order of time */
	long nr, turn;

	pthread_t thread;
	bool started, stop;
	pid_t tid;
	/* Number of times that the kernel had taken the thread off its CPU when it ended, and
	 * number of these while it could have gone on; switches 0: it has not ended. */
	uint64_t switches, preempted;
	struct poke_event *now; /* handed to body */
	_Atomic uint32_t kicks, done, ready, release;
	/* A second thread on the target, for a storm, whose partner is the first. */
	struct poke *partner;
	bool second;

	int fd;
	void *priv;
};

extern const struct poke_class poke_classes[];
extern const size_t poke_nr_classes;
extern volatile sig_atomic_t poke_stop;
extern pid_t poke_pid;

uint64_t now_ns(void);
uint64_t cpu_time_ns(void);
/* Both return early, with -1, when a signal asks to stop. */
int sleep_until(uint64_t ns);
/* Spins a little, then looks every 50 us, so that a starved target cannot make this CPU spin for
 * ever. */
int wait_for(_Atomic uint32_t *word, uint32_t value);
uint64_t length_of(const struct poke *p);
void extra(struct poke_event *ev, const char *key, uint64_t value);
__attribute__((format(printf, 2, 3))) int cannot(struct poke *p, const char *fmt, ...);
/* The first line of a file without its newline. */
int read_line(const char *path, char *buf, size_t len);
int write_text(const char *path, const char *text);
bool cpu_in_list(int cpu, const char *list); /* "0-3,8" */

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Ends poke with this exit code, after one line on stderr. */
__attribute__((format(printf, 2, 3), noreturn)) void die(int rc, const char *fmt, ...);
/* The value of an option, or the end with one line on stderr. parse_ns: "100us", 1ns to 60s; with
 * `rest`, which gets the place behind the unit, a dash may follow. */
uint64_t parse_ns(const char *option, const char *text, const char **rest);
long parse_long(const char *option, const char *text, long lo, long hi);

/* poke_log.c */
void log_config(const char *what, const struct poke_conf *conf, const struct poke *pokes, size_t nr,
		uint64_t start);
void log_event(const struct poke_event *ev, long n);
void log_end(const struct poke *pokes, size_t nr, size_t done, bool whole);

/* poke_thread.c */
void futex(_Atomic uint32_t *word, int op, uint32_t value);
int worker_start(struct poke *p);
void worker_stop(struct poke *p);
void worker_kick(struct poke *p, struct poke_event *ev);
int worker_poke(struct poke *p, struct poke_event *ev);
void worker_burst(struct poke *p, struct poke_event *ev);
void worker_touch(struct poke *p, struct poke_event *ev);
int setaffinity_prepare(struct poke *p);
int signal_prepare(struct poke *p);
int signal_poke(struct poke *p, struct poke_event *ev);
void signal_body(struct poke *p, struct poke_event *ev);
void signal_finish(struct poke *p);
int open_loop(struct poke *p);
int net_prepare(struct poke *p);
void net_finish(struct poke *p);
void net_body(struct poke *p, struct poke_event *ev);
void setaffinity_body(struct poke *p, struct poke_event *ev);

/* poke_timer.c */
int timer_prepare(struct poke *p);
int timer_arm(struct poke *p);
int timer_poke(struct poke *p, struct poke_event *ev);
void timer_finish(struct poke *p);
void timer_body(struct poke *p, struct poke_event *ev);
int timerfd_poke(struct poke *p, struct poke_event *ev);
void timerfd_finish(struct poke *p);
void timerfd_body(struct poke *p, struct poke_event *ev);
int posix_poke(struct poke *p, struct poke_event *ev);
void posix_finish(struct poke *p);
void posix_body(struct poke *p, struct poke_event *ev);

int burst_prepare(struct poke *p);
int burst_poke(struct poke *p, struct poke_event *ev);
void burst_finish(struct poke *p);
void burst_body(struct poke *p, struct poke_event *ev);
int together_prepare(struct poke *p);
int together_poke(struct poke *p, struct poke_event *ev);
void together_finish(struct poke *p);
void together_body(struct poke *p, struct poke_event *ev);

/* poke_storm.c */
int storm_prepare(struct poke *p);
int storm_poke(struct poke *p, struct poke_event *ev);
void storm_finish(struct poke *p);
void yield_body(struct poke *p, struct poke_event *ev);
void switch_body(struct poke *p, struct poke_event *ev);
int udp_prepare(struct poke *p);
int udp_poke(struct poke *p, struct poke_event *ev);
void udp_body(struct poke *p, struct poke_event *ev);
void rename_body(struct poke *p, struct poke_event *ev);

/* poke_softirqd.c */
int softirqd_prepare(struct poke *p);
int softirqd_poke(struct poke *p, struct poke_event *ev);
void softirqd_finish(struct poke *p);

/* poke_ipi.c */
int membarrier_prepare(struct poke *p);
int membarrier_poke(struct poke *p, struct poke_event *ev);
int tlb_prepare(struct poke *p);
int tlb_poke(struct poke *p, struct poke_event *ev);
void tlb_finish(struct poke *p);
void spin_body(struct poke *p, struct poke_event *ev);
int kworker_prepare(struct poke *p);
int kworker_poke(struct poke *p, struct poke_event *ev);
void fd_finish(struct poke *p);
int bpf_prepare(struct poke *p);
int bpf_poke(struct poke *p, struct poke_event *ev);

/* poke_device.c */
int perf_prepare(struct poke *p);
int irqwork_prepare(struct poke *p);
int perf_poke(struct poke *p, struct poke_event *ev);
void perf_finish(struct poke *p);
int irq_prepare(struct poke *p);
int irq_poke(struct poke *p, struct poke_event *ev);
void irq_finish(struct poke *p);

#endif
