/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/sampler.h"

#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/policy.h"
#include "collect/affinity.h"
#include "collect/learn.h"
#include "collect/partition.h"
#include "collect/workload.h"
#include "collect/smi.h"

#define STACK_TOUCH (256 * 1024)

struct sampler_shm *sampler_shm_new(void)
{
	void *p = mmap(NULL, sizeof(struct sampler_shm), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sampler_shm_free(struct sampler_shm *shm)
{
	if (shm)
		munmap(shm, sizeof(*shm));
}

/* ---- the process ---- */

/* Keeps the memory map, and other threads of the process, until everything has been read; then
 * culprit ends the process. */
static void __attribute__((noreturn)) await_end(void)
{
	for (;;)
		pause();
}

static void __attribute__((noreturn)) give_up(struct sampler_shm *l, int err, const char *what)
{
	l->error = err;
	snprintf(l->what, sizeof(l->what), "%s", what);
	atomic_store(&l->phase, SAMPLER_FAILED);
	await_end();
}

#define AWAY_NAP_NS 50000000

/* Waits for its CPU to come back, which culprit's process notices; not where others measure. */
static void wait_for_cpu(struct sampler_shm *l, const struct sampler_options *o)
{
	if (!l->moved || o->workload || o->roams)
		await_end();
	cpus_run_on(o->housekeeping);
	while (atomic_load(&l->phase) != SAMPLER_MEASURE)
		nanosleep(&(struct timespec){0, AWAY_NAP_NS}, NULL);
	l->earlier_ticks += l->end - l->start;
	l->moved = false;
}

/* Waits for culprit's process. Asleep: a spinning FIFO sampler would shut out the attach. Until it
 * is woken: who looks again and again interrupts others, and took 2/5 of an emulated start. */
static void wait_for(struct sampler_shm *l, int phase)
{
	int now;

	while ((now = atomic_load(&l->phase)) != phase)
		syscall(SYS_futex, &l->phase, FUTEX_WAIT, now, NULL, NULL, 0);
}

void sampler_tell(struct sampler_shm *l, int phase)
{
	atomic_store(&l->phase, phase);
	syscall(SYS_futex, &l->phase, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The barrier. With SCHED_DEADLINE spinning would use the runtime up. */
static void wait_for_begin(struct sampler_shm *l, bool sleeps)
{
	while (now_ns() < atomic_load(&l->begin_ns))
		if (sleeps)
			nanosleep(&(struct timespec){0, 20000}, NULL);
}

static void touch_stack(void)
{
	volatile char page[STACK_TOUCH];

	for (size_t i = 0; i < sizeof(page); i += 512)
		page[i] = 1;
}

/* Fetches the code and the variables of one loaded object. */
static int fetch_object(struct dl_phdr_info *object, size_t size, void *ctx)
{
	(void)size;
	(void)ctx;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &object->dlpi_phdr[i];

		if (p->p_type == PT_LOAD)
			mlock((const char *)object->dlpi_addr + p->p_vaddr, p->p_memsz);
	}
	return 0;
}

/* Locks what this process has touched and will touch. The rest of culprit's memory is mapped here
 * as well: to lock that, too, would copy it, for each sampler. */
static void lock_own(const struct sampler_options *o)
{
	/* Without privilege locked memory has a limit. Today's pages may fit in it while later
	 * ones, if locked too, do not: then one more page of stack would kill the process. */
	int later = geteuid() ? 0 : MCL_FUTURE;

	touch_stack();
	*(const volatile cursors_t *)(o->cursors ? o->cursors : &no_cursors);
	if (!mlockall(MCL_CURRENT | MCL_ONFAULT | later))
		dl_iterate_phdr(fetch_object, NULL);
}

static int take_place(const struct sampler_options *o)
{
	return o->roams ? cpus_run_on(o->roams) : move_to(o->cpu);
}

/* False where the kernel has taken it elsewhere. */
static bool is_in_place(const struct sampler_options *o)
{
	return o->roams || (unsigned)sched_getcpu() == o->cpu;
}

static void settle_in(struct sampler_shm *l, const struct sampler_options *o)
{
	struct sched_param param = {.sched_priority = o->priority};
	sigset_t all;
	int err;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "culprit-sampler");
	prctl(PR_SET_TIMERSLACK, 1);
	err = partitions_enter(o->partitions, o->cpu);
	if (err)
		give_up(l, -err, "entering its cpuset partition");
	err = take_place(o);
	if (err)
		give_up(l, -err, "moving to the CPU");
	if (o->policy != SCHED_OTHER && o->policy != SCHED_DEADLINE &&
	    sched_setscheduler(0, o->policy, &param))
		give_up(l, errno, "setting the scheduling policy");
	/* o:0 is nobody's better, as our own process is (affinity.c) */
	if (!policy_is_real_time(o->policy))
		setpriority(PRIO_PROCESS, 0, 0);
	pages_stay(true);
	memset(l->ring, 0, sizeof(l->ring));
	memset(l->loop, 0, sizeof(l->loop));
	lock_own(o);
}

/* ---- what it may do ---- */

/* The process from here on: it moves to its CPU, waits, reads the count of SMIs, ends. */
static const int calls[] = {
#ifdef SYS_pause
	SYS_pause,
#endif
	SYS_sched_setaffinity,
	SYS_futex,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_ppoll,
	SYS_read,
	SYS_exit_group,
	SYS_restart_syscall,
	/* a system call is needed where the vDSO cannot answer */
	SYS_clock_gettime,
	SYS_getcpu,
	-1,
};

static struct sampler_shm *own; /* for a signal handler, which gets no context */

static void forbidden(int number)
{
	char digits[12];
	size_t at = sizeof(digits);

	for (unsigned n = number; at == sizeof(digits) || n; n /= 10)
		digits[--at] = '0' + n % 10;
	strcpy(own->what, "its sampler made a system call that it does not need: ");
	strncat(own->what, digits + at, sizeof(digits) - at);
	own->error = EPERM;
}

/* Gives away what it has needed so far. A workload's calls are what it measures, and each would
 * pass a filter: it has none. */
static void confine(struct sampler_shm *l, const struct workload *workload)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};

	own = l;
	/* Pages that it has locked count against this limit from now on. Where it cannot be raised,
	 * later ones are not locked. */
	if (setrlimit(RLIMIT_MEMLOCK, &all))
		mlockall(MCL_CURRENT | MCL_ONFAULT);
	confine_rights(0);
	if (!workload)
		confine_calls(calls, forbidden);
}

/* ---- its life ---- */

/* Learns the edges, and the length of a workload's windows: then the limit is known. */
static void learn_all(struct spin *s, struct work *w, const struct sampler_options *o)
{
	struct sampler_shm *l = s->shm;
	uint64_t limit = threshold_auto(l->loop, l->ns_per_tick, o->guest), given,
		 back = spin_way_back(s);
	int err;

	if (o->learn_edges) {
		learn_limits(l, threshold_short(l->loop, l->ns_per_tick, back, limit), limit);
		err = learn_edges(s);
		if (err)
			give_up(l, -err, "setting up a timer");
	}
	w->ns_per_tick = l->ns_per_tick;
	given = o->threshold_ns ? threshold_ticks(o->threshold_ns, l->ns_per_tick) : 0;
	if (w->workload) {
		l->error = 0;
		work_learn(w, given, limit, o->threshold_most_ns);
		if (l->error)
			give_up(l, l->error, strdupa(l->what));
		limit = work_first_limit(w);
	}
	if (given)
		limit = w->workload ? given : threshold_given(l->loop, l->ns_per_tick, back, given);
	learn_limits(l, threshold_short(l->loop, l->ns_per_tick, back, limit), limit);
}

static void run_workload(struct work *w)
{
	struct sampler_shm *l = w->spin->shm;

	window_opens(w->spin);
	l->error = 0;
	w->workload->run(w); /* the shared memory says what failed */
	l->end = read_counter(w->spin->counter);
	window_closes(w->spin);
	l->finished = !l->error;
	l->moved |= !w->roams && (unsigned)sched_getcpu() != w->cpu;
}

/* A sampler that has lost its CPU before its window opens has a window without time. */
static void miss_window(struct spin *s)
{
	s->shm->moved = true;
	window_opens(s);
	s->shm->end = s->shm->start;
	window_closes(s);
}

static void measure(struct spin *s, struct work *w, const struct sampler_options *o, int smi_event)
{
	struct sampler_shm *l = s->shm;
	int err = o->roams ? 0 : cpus_run_on_one(o->cpu);
	uint64_t smi_before;

	wait_for_begin(l, w->sleeps);
	smi_before = smi_read(smi_event, &l->smi_known);
	if (err || !is_in_place(o)) /* the CPU went offline at the barrier */
		miss_window(s);
	else if (w->workload)
		run_workload(w);
	else
		spin_window(s);
	l->smi_count = smi_read(smi_event, &l->smi_known) - smi_before;
}

static void __attribute__((noreturn)) sampler_main(const struct sampler_options *o)
{
	struct sampler_shm *l = o->shm;
	struct spin s = {
		.shm = l,
		.cursors = o->cursors ? o->cursors : &no_cursors,
		.cpu = o->cpu,
		.counter = !o->clock,
		.deadline = UINT64_MAX,
	};
	struct work w = {.spin = &s,
			 .workload = o->workload,
			 .props = o->props,
			 .options = o->workload_options,
			 .series = o->samples ? samples_series(o->samples) : NULL,
			 .index = o->index,
			 .cpu = o->cpu,
			 .roams = o->roams,
			 .sleeps = o->policy == SCHED_DEADLINE};
	int smi_event, err;

	l->tid = syscall(SYS_gettid);
	settle_in(l, o);
	l->busy_min = l->short_busy_min = UINT64_MAX / 8;
	l->anchor_min = UINT64_MAX / 8;
	learn_loop(&s); /* needs no probes: culprit's process loads them meanwhile */
	atomic_store(&l->phase, SAMPLER_READY);
	/* Tens of ms for the first event of a process: the kernel patches itself, waits for RCU. */
	smi_event = smi_open(o->cpu, o->roams, o->workload);
	l->smi_known = smi_event >= 0;
	wait_for(l, SAMPLER_LEARN);
	err = take_place(o); /* the CPU may have been offline meanwhile */
	if (err)
		give_up(l, -err, "moving to the CPU");
	learn_all(&s, &w, o);
	l->lost = l->lost_ticks = l->lost_told = l->backwards = l->busy_ticks = l->away_ticks = 0;
	l->short_count = l->short_ticks = l->loop_count = 0;
	l->loop_min = UINT64_MAX;
	l->moved = false;
	memset(l->loop_above, 0, sizeof(l->loop_above));
	atomic_store(&l->started, 0);
	if (w.sleeps && (err = deadline_set(&o->deadline)))
		give_up(l, -err, "setting SCHED_DEADLINE");
	confine(l, o->workload);
	atomic_store(&l->phase, SAMPLER_LEARNED);
	wait_for(l, SAMPLER_MEASURE);
	for (;; l->smi_known = false) { /* the event has ended with the CPU */
		measure(&s, &w, o, smi_event);
		atomic_store(&l->phase, SAMPLER_DONE);
		wait_for_cpu(l, o);
	}
}

static void *sampler_thread(void *options)
{
	sampler_main(options);
}

/* Starts the samplers beside the first one, whose thread this is. */
static void start_others(struct sampler_options *options, uint32_t n)
{
	pthread_t thread;

	for (uint32_t i = 1; i < n; i++) {
		int err = pthread_create(&thread, NULL, sampler_thread, &options[i]);

		if (err)
			give_up(options[i].shm, err, "starting its thread");
	}
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Closes the inherited locks and programs, which must go when culprit's process goes; keeps a
 * workload's own descriptors. */
static void close_others(struct workload_props *props)
{
	unsigned from = 3;

	if (props)
		qsort(props->fd, props->nfds, sizeof(props->fd[0]), by_number);
	for (uint32_t i = 0; props && i < props->nfds; i++) {
		if ((unsigned)props->fd[i] > from)
			syscall(SYS_close_range, from, props->fd[i] - 1, 0);
		from = props->fd[i] + 1;
	}
	syscall(SYS_close_range, from, ~0U, 0);
}

pid_t sampler_start(struct sampler_options *options, uint32_t n)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		return -errno;
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close_others(options->props);
	if (getppid() != parent) /* the parent died before the line above */
		_exit(1);
	start_others(options, n);
	sampler_main(options);
}
