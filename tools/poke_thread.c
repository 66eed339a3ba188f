/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The thread that a class keeps asleep on the target CPU, and the classes that need only that
 * thread. */
#include "poke.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE 65536

static struct poke *signal_self;

uint64_t cpu_time_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

void futex(_Atomic uint32_t *word, int op, uint32_t value)
{
	syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Number of times that the kernel has taken this thread off its CPU since then. */
static void count_switches(struct poke *p, const struct rusage *since)
{
	struct rusage used;

	getrusage(RUSAGE_THREAD, &used);
	p->preempted = (uint64_t)(used.ru_nivcsw - since->ru_nivcsw);
	p->switches = (uint64_t)(used.ru_nvcsw - since->ru_nvcsw) + p->preempted;
}

static void *worker_main(void *arg)
{
	struct poke *p = arg;
	struct rusage begin;
	uint32_t seen = 0;

	/* Before it may come here it waits for its affinity, maybe on another CPU. */
	getrusage(RUSAGE_THREAD, &begin);
	prctl(PR_SET_NAME, p->comm);
	p->tid = (pid_t)syscall(SYS_gettid);
	atomic_store_explicit(&p->ready, 1, memory_order_release);
	for (;;) {
		while (atomic_load_explicit(&p->kicks, memory_order_acquire) == seen)
			futex(&p->kicks, FUTEX_WAIT, seen);
		seen++;
		if (p->stop) {
			count_switches(p, &begin);
			return NULL;
		}
		p->class->body(p, p->now);
		/* Does not wake the control thread: the wake-up would be sent from the target. It
		 * looks by itself. */
		atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
	}
}

static int start_on(struct poke *p, int cpu)
{
	struct sched_param prio = {.sched_priority =
					   p->class->policy == SCHED_FIFO ? p->conf->priority : 0};
	sigset_t all, old;
	pthread_attr_t attr;
	cpu_set_t set;
	int err;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, p->class->policy);
	pthread_attr_setschedparam(&attr, &prio);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&p->thread, &attr, worker_main, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err == EPERM)
		return cannot(p, "no right to SCHED_FIFO here: it takes CAP_SYS_NICE, and "
				 "cpu.rt_runtime_us of its cgroup above 0");
	if (err)
		return cannot(p, "cannot start a thread on CPU %d: %s", cpu, strerror(err));
	p->started = true;
	return wait_for(&p->ready, 1);
}

int worker_start(struct poke *p)
{
	return start_on(p, p->conf->cpu);
}

void worker_stop(struct poke *p)
{
	struct timespec until;

	if (!p->started)
		return;
	p->stop = true;
	worker_kick(p, NULL);
	/* A thread that the target starves is left for exit to end. */
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	if (!pthread_timedjoin_np(p->thread, NULL, &until))
		p->started = false;
}

void worker_kick(struct poke *p, struct poke_event *ev)
{
	p->now = ev;
	atomic_fetch_add_explicit(&p->kicks, 1, memory_order_release);
	futex(&p->kicks, FUTEX_WAKE, 1);
}

int worker_poke(struct poke *p, struct poke_event *ev)
{
	extra(ev, "sent_ns", now_ns());
	worker_kick(p, ev);
	return wait_for(&p->done, (uint32_t)++p->turn);
}

void worker_burst(struct poke *p, struct poke_event *ev)
{
	uint64_t start = now_ns(), ran = cpu_time_ns(), end;

	do {
		end = now_ns();
	} while (end - start < length_of(p));
	ev->start_ns = start;
	ev->end_ns = end;
	ev->ran_ns = cpu_time_ns() - ran;
}

void worker_touch(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns();

	(void)p;
	ev->start_ns = now_ns();
	ran = cpu_time_ns() - ran;
	ev->ran_ns = ran ? ran : 1; /* a virtual machine's clock may stand; 0: nothing ran */
	ev->end_ns = now_ns();
}

static void on_usr1(int sig)
{
	(void)sig;
	if (signal_self->now)
		signal_self->now->start_ns = now_ns();
}

void signal_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns();
	sigset_t but_usr1;

	(void)ev;
	sigfillset(&but_usr1);
	sigdelset(&but_usr1, SIGUSR1);
	for (;;) {
		uint64_t now;

		sigsuspend(&but_usr1);
		if (p->stop)
			return;
		now = cpu_time_ns();
		p->now->ran_ns = now - ran;
		ran = now;
		p->now->end_ns = now_ns();
		atomic_fetch_add_explicit(&p->done, 1, memory_order_release);
	}
}

int signal_prepare(struct poke *p)
{
	struct sigaction sa = {.sa_handler = on_usr1};

	signal_self = p;
	sigaction(SIGUSR1, &sa, NULL);
	if (worker_start(p))
		return -1;
	worker_kick(p, NULL);
	return 0;
}

int signal_poke(struct poke *p, struct poke_event *ev)
{
	extra(ev, "sent_ns", now_ns());
	p->now = ev;
	if (syscall(SYS_tgkill, poke_pid, p->tid, SIGUSR1))
		return -1;
	return wait_for(&p->done, (uint32_t)++p->turn);
}

void signal_finish(struct poke *p)
{
	if (!p->started)
		return;
	p->stop = true;
	p->now = NULL;
	syscall(SYS_tgkill, poke_pid, p->tid, SIGUSR1);
	worker_stop(p);
}

void setaffinity_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns();
	cpu_set_t target, home;

	CPU_ZERO(&target);
	CPU_SET(p->conf->cpu, &target);
	CPU_ZERO(&home);
	CPU_SET(p->conf->control_cpu, &home);
	if (sched_setaffinity(0, sizeof(target), &target))
		return;
	ev->start_ns = now_ns();
	sched_setaffinity(0, sizeof(home), &home);
	ev->end_ns = now_ns();
	ev->ran_ns = cpu_time_ns() - ran;
}

int setaffinity_prepare(struct poke *p)
{
	snprintf(p->name, sizeof(p->name), "migration/%d", p->conf->cpu);
	return start_on(p, p->conf->control_cpu);
}

void net_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns();
	char byte = 0;

	ev->start_ns = now_ns();
	send(p->fd, &byte, 1, MSG_DONTWAIT);
	recv(p->fd, &byte, 1, MSG_DONTWAIT);
	ev->end_ns = now_ns();
	ev->ran_ns = cpu_time_ns() - ran;
}

/* Opens a socket that is connected to itself. */
int open_loop(struct poke *p)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	char byte = 0;

	p->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->fd < 0 || bind(p->fd, (struct sockaddr *)&addr, sizeof(addr)) ||
	    getsockname(p->fd, (struct sockaddr *)&addr, &len) ||
	    connect(p->fd, (struct sockaddr *)&addr, len) || send(p->fd, &byte, 1, 0) != 1 ||
	    recv(p->fd, &byte, 1, MSG_DONTWAIT) != 1)
		return cannot(p, "no datagram over loopback (is lo up?): %s", strerror(errno));
	return 0;
}

int net_prepare(struct poke *p)
{
	return open_loop(p) ? -1 : worker_start(p);
}

void net_finish(struct poke *p)
{
	worker_stop(p);
	fd_finish(p);
}
