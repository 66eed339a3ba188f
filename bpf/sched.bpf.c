/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other threads on a target CPU, and disturbances that the sampler causes itself: page faults,
 * remote TLB flushes. */
#include "sched.bpf.h"
#include "turns.bpf.h"

/* The fourth argument, where the kernel has one, is not read: its place changed between versions
 * (5.18). */
SEC("?tp_btf/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct cpu_state *c = target();
	struct turns *aside;
	__u8 unseen = 0;
	__u64 now;
	int out, in;

	if (!c) {
		aside = turns_here();
		if (aside)
			put_turn(aside, next, TURN_BEGINS, 0);
		return 0;
	}
	now = bpf_ktime_get_ns();
	out = prev->pid; /* once, as in struct party */
	in = next->pid;
	softirq_over_switch(c, now, out, in);
	c->irq[0].start_ns = 0; /* no interrupt is open here: an exit was missed */
	c->irq[1].start_ns = 0;
	if (c->thread.start_ns && c->thread.id != (__u32)out) {
		c->unpaired++; /* left without a record */
		unseen = RECORD_UNSEEN;
	}
	if (out == c->sampler) {
		c->switches++;
		thread_begins(c, (struct party){next, owner_of(next), in}, now);
	} else if (c->thread.start_ns) {
		thread_ends(c, (struct party){prev, owner_of(prev), out}, now, unseen);
	}
	c->thread.id = in;
	c->thread.start_ns = in == c->sampler ? 0 : now;
	if (in == c->sampler) {
		c->away_ns = 0;
		if (sampler_sleeps && c->came_ns <= c->timer_ns)
			c->came_ns = now; /* the first time since it was woken */
	} else if (out == c->sampler) {
		c->away_ns = now;
	}
	if (c->thread.start_ns)
		note_arrival(c, next, in, now);
	return 0;
}

/* Entry only: the exit has no hook. The join lets the fault last until the sampler runs again. */
SEC("?tp_btf/page_fault_user")
int BPF_PROG(page_fault_user, unsigned long address, void *regs, unsigned long error_code)
{
	struct cpu_state *c = target();
	__u64 now;

	if (!c || (int)bpf_get_current_pid_tgid() != c->sampler)
		return 0;
	now = bpf_ktime_get_ns();
	emit(c, LEVEL_THREAD, RECORD_FAULT, error_code, address, now, now);
	return 0;
}

/* Only flushes that another CPU asked for, which run in its IPI: all others belong to a thread that
 * is recorded already. */
SEC("?tp_btf/tlb_flush")
int BPF_PROG(tlb_flush, int reason, unsigned long pages)
{
	struct cpu_state *c = target();
	struct record r = {.id = reason, .arg = pages, .kind = RECORD_TLB};

	if (!c || (reason != TLB_REMOTE_SHOOTDOWN && reason != TLB_REMOTE_WRONG_CPU))
		return 0;
	/* With the other reason this CPU only loads the memory of another thread. */
	if (reason == TLB_REMOTE_SHOOTDOWN)
		bpf_get_current_comm(r.name, sizeof(r.name));
	r.start_ns = r.end_ns = bpf_ktime_get_ns();
	put_wide(c, LEVEL_IRQ, &r);
	return 0;
}
