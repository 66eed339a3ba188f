/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes' writer as it is built for arm64, for test_order.c. */
#undef __TARGET_ARCH_x86
#define __TARGET_ARCH_arm64
#include "order_writer.h"
#include "ring.bpf.h"

void order_put_narrow(struct cpu_state *c, struct record *r)
{
	put_narrow(c, ORDER_LEVEL, r->kind, r->mark, r->flags, r->id, r->arg, r->start_ns,
		   r->end_ns);
}

void order_put_wide(struct cpu_state *c, struct record *r)
{
	put_wide(c, ORDER_LEVEL, r);
}
