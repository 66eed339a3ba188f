/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequency changes of the target CPUs. Any CPU may report the change of any other, so these are
 * counts in shared memory and no records: two reports at once may lose one of the extremes, but no
 * change. */
#include "trace.bpf.h"

SEC("?tp_btf/cpu_frequency")
int BPF_PROG(cpu_frequency, unsigned int khz, unsigned int cpu)
{
	struct cpu_state *c = gate ? state_of_cpu(cpu) : NULL;

	if (!c || c->own.khz == khz)
		return 0;
	c->own.khz = khz;
	__sync_fetch_and_add(&c->khz_changes, 1);
	if (!c->khz_min || khz < c->khz_min)
		c->khz_min = khz;
	if (khz > c->khz_max)
		c->khz_max = khz;
	return 0;
}
