/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The few kernel structures that the probes read, written by hand. They hold only the fields in
 * use, in any order: preserve_access_index makes libbpf find the real offsets in the running
 * kernel's BTF (CO-RE), so this file fits every kernel and architecture. To read one more field,
 * add it here. */
#ifndef CULPRIT_VMLINUX_H
#define CULPRIT_VMLINUX_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	unsigned long preempt_count; /* arm64; the count is the lower half of its 64 bits */
	unsigned int status;         /* x86 */
	unsigned int cpu;            /* since 5.16 */
};

struct rq {
	int nr_running;
};

struct cfs_rq {
	struct rq *rq;
	/* for how long quotas kept its threads from running, until they ran again; since 6.6 */
	unsigned long long throttled_clock_self_time;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
	struct sched_entity *parent; /* the group's; NULL: the root's */
	unsigned char sched_delayed; /* sleeps, though it is in a run queue; since 6.12 */
};

struct kernfs_node {
	unsigned long long id;
};

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent; /* NULL: the root's */
};

struct cgroup_root {
	int hierarchy_id; /* 0: the unified one */
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

enum cgroup_subsys_id {
	cpu_cgrp_id,
	memory_cgrp_id,
	pids_cgrp_id,
};

struct css_set {
	struct cgroup_subsys_state *subsys[16]; /* as many as enum cgroup_subsys_id has */
	struct cgroup *dfl_cgrp;                /* in the unified hierarchy */
};

struct mm_struct {
	unsigned long start_code, end_code; /* the program's own code */
	unsigned long brk;
	unsigned long start_stack;
	unsigned long task_size; /* a power of two on arm64 */
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads of the process that have not begun to exit */
};

struct task_struct {
	struct sched_entity se;
	struct thread_info thread_info;
	int softirq_disable_cnt; /* PREEMPT_RT: softirqs run in threads */
	int pid;                 /* thread id of user space */
	int tgid;                /* process id of user space */
	unsigned int __state;    /* "state" before 5.14 */
	int wake_cpu;            /* CPU of its last run, or near which it is to wake up */
	unsigned int on_rq;      /* not 0: is in a run queue */
	unsigned int on_cpu;     /* not 0: runs, or is being switched out */
	unsigned long nvcsw;     /* times that it was switched out to sleep, */
	unsigned long nivcsw;    /* the same, because it had to make way */
	unsigned int flags;      /* PF_KTHREAD, ... */
	int prio;                /* 0..99 real time (99 - rt_priority), 100..139 normal */
	void *worker_private;    /* struct kthread of a kernel thread; since 5.17 */
	struct css_set *cgroups;
	struct mm_struct *mm;
	struct signal_struct *signal;
	char comm[16];
};

struct irqaction {
	void *handler;
};

struct timerqueue_node {
	long long expires;
};

struct hrtimer_clock_base {
	unsigned int index; /* number of its clock, and whether in interrupts */
	long long offset;   /* offset of its clock from CLOCK_MONOTONIC */
};

struct hrtimer {
	struct timerqueue_node node;
	void *function;
	struct hrtimer_clock_base *base;
	unsigned char is_soft; /* runs as a softirq */
};

struct timer_list {
	void *function;
};

struct work_struct {
	void *func;
};

struct delayed_work {
	struct work_struct work;
	struct timer_list timer;
};

struct irq_work {
	void *func;
};

struct __call_single_node {
	unsigned int u_flags;
};

struct __call_single_data {
	struct __call_single_node node;
	void *func;
};

/* The kernel's notes of a kernel thread (kernel/kthread.c). */
struct kthread {
	void *data; /* argument of the thread: struct worker of a worker */
};

struct worker {
	void *current_func; /* function of the work item in hand; NULL: none */
};

struct worker_pool {
	int cpu; /* -1: unbound */
};

struct pool_workqueue {
	struct worker_pool *pool;
};

/* The entry of a thread into the kernel: its system call (orig_ax, syscallno; below 0: none), the
 * place it came from, and its first arguments. */
struct pt_regs___x86 {
	unsigned long dx, si, di, orig_ax, ip, sp, bp;
};

struct pt_regs___on_arm64 {
	unsigned long long regs[31], sp, pc, pstate;
	int syscallno;
};

struct task_struct___before_5_14 {
	long state;
};

struct task_struct___before_5_16 {
	unsigned int cpu; /* thread_info.cpu */
};

struct task_struct___before_5_17 {
	void *set_child_tid; /* struct kthread of a kernel thread */
};

#pragma clang attribute pop

#endif
