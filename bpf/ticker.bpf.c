/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A timer of the kernel's own on each target CPU (culprit sleep --kernel): how late it runs, with
 * no thread to wake. The kernel runs the callback of a BPF timer in the softirq HRTIMER (on
 * PREEMPT_RT in its thread), so that is where its time ends. */
#include "trace.bpf.h"

#define CLOCK_MONOTONIC 1
/* enum of include/uapi/linux/bpf.h, which older headers lack: the time is no interval (6.4), and
 * the timer stays on its CPU (6.7). */
#define TIMER_ABS_PINNED 3

struct ticker {
	struct bpf_timer timer;
	__u64 due_ns;
	__u32 cursor[LEVELS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* resized to the number of target CPUs before loading */
	__type(key, __u32);
	__type(value, struct ticker);
} tickers SEC(".maps");

static __always_inline void copy_cursor(__u32 *to, const __u32 *from)
{
	for (int i = 0; i < LEVELS; i++)
		to[i] = from[i];
}

static int tick(void *map, __u32 *slot, struct ticker *t)
{
	struct cpu_state *c = state_at(*slot);
	__u64 now = bpf_ktime_get_ns();
	struct tick *row;

	if (!c)
		return 0;
	row = &c->tick[c->ticks % TICKS];
	row->due_ns = t->due_ns;
	row->ran_ns = now;
	copy_cursor(row->before, t->cursor);
	copy_cursor(row->after, c->cursor);
	copy_cursor(t->cursor, c->cursor);
	*(volatile __u64 *)&c->ticks = c->ticks + 1;
	t->due_ns += c->tick_interval;
	if (t->due_ns <= now) /* whole intervals were missed: one late run, not many */
		t->due_ns = now + c->tick_interval;
	bpf_timer_start(&t->timer, t->due_ns, TIMER_ABS_PINNED);
	return 0;
}

/* Starts the timer of a target on the CPU that it is run on; *slot: which. 0 or -errno. */
SEC("?syscall")
int ticker_start(__u32 *slot)
{
	__u32 which = *slot;
	struct ticker *t = bpf_map_lookup_elem(&tickers, &which);
	long err;

	if (!t)
		return -2;
	err = bpf_timer_init(&t->timer, &tickers, CLOCK_MONOTONIC);
	if (!err)
		err = bpf_timer_set_callback(&t->timer, tick);
	if (err)
		return err;
	t->due_ns = bpf_ktime_get_ns() + 1000000;
	return bpf_timer_start(&t->timer, t->due_ns, TIMER_ABS_PINNED);
}
