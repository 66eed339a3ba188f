/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons for which a virtual CPU leaves its guest. The classic tracepoint is used, as its
 * arguments changed (5.16) and no longer hold the reason; its fields are where its format says. */
#include "vcpu.bpf.h"

const volatile __u32 at_exit[EXIT_FIELDS] = {}; /* in the classic tracepoint, bytes */

static __always_inline __u64 field(void *ctx, enum exit_field f, __u32 size)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, size, ctx + at_exit[f]);
	return value;
}

SEC("?tp/kvm/kvm_exit")
int watch_exit(void *ctx)
{
	struct cpu_state *c = target();
	__u64 now, info;
	__u32 id;

	if (!is_here(c))
		return 0;
	now = bpf_ktime_get_ns();
	exit_unended(c, now);
	id = EXIT_ID(field(ctx, EXIT_FIELD_ISA, sizeof(__u32)),
		     field(ctx, EXIT_FIELD_REASON, sizeof(__u32)));
	info = field(ctx, EXIT_FIELD_INFO1, sizeof(__u64));
	if (id == EXIT_SVM_MSR && info)
		id |= EXIT_WRITES;
	if (EXIT_IS_IO(id)) /* both have the port there */
		id = EXIT_AT(id, (info >> 16 & 0xffff) + 1);
	exit_begins(c, id, EXIT_HALTS(id) ? EXIT_HALTED : EXIT_WORKS, now);
	return 0;
}

static __always_inline __u32 place_of(__u32 msr)
{
	__u32 place = 1;

#define RANGE(first, count)                                                                        \
	if (msr - (first) < (count))                                                               \
		return place + msr - (first);                                                      \
	place += (count);
	EXIT_MSRS(RANGE)
#undef RANGE
	return 0;
}

/* KVM tells of a register that it has read or written itself, when it has: what came of the exit
 * before, if its thread was switched out, has no place. */
SEC("?tp/kvm/kvm_msr")
int watch_msr(void *ctx)
{
	struct cpu_state *c = target();

	if (is_here(c) && c->own.exit.start_ns && EXIT_IS_MSR(c->own.exit.id))
		c->own.exit.id = EXIT_AT(c->own.exit.id,
					 place_of(field(ctx, EXIT_FIELD_MSR, sizeof(__u32))));
	return 0;
}

SEC("?raw_tp/kvm_entry")
int watch_entry(void *ctx)
{
	struct cpu_state *c = target();

	if (!is_here(c))
		return 0;
	c->own.exit.kind = EXIT_WORKS; /* a halt that neither slept nor polled is none */
	exit_ends(c, 0, bpf_ktime_get_ns());
	return 0;
}

/* The kernel no longer waits: what follows is the way back. */
SEC("?raw_tp/kvm_vcpu_wakeup")
int watch_vcpu_wakeup(void *ctx)
{
	end_halt();
	return 0;
}
