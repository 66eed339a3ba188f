/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frequency changes of the target CPUs. Any CPU may report the change of any other, so these are
 * counts and a short list in shared memory and no records: two reports at once may lose a place in
 * the list or one of the extremes, but no change. The place that such a pair leaves out keeps what
 * it held: the reader takes only what is later than the place before.
 *
 * Order of publication: a report is written before it is counted, and the next one after that. The
 * reader loads the count, the report, and the count again (collect/ring.h: khz_take). */
#include "trace.bpf.h"

SEC("?tp_btf/cpu_frequency")
int BPF_PROG(cpu_frequency, unsigned int khz, unsigned int cpu)
{
	struct cpu_state *c = gate ? state_of_cpu(cpu) : NULL;
	struct khz_report *row;

	if (!c || c->own.khz == khz)
		return 0;
	c->own.khz = khz;
	row = &c->khz_report[c->khz_changes % KHZ_REPORTS];
	row->at_ns = bpf_ktime_get_ns();
	row->khz = khz;
	order_stores(c);
	__sync_fetch_and_add(&c->khz_changes, 1);
	order_stores(c);
	if (!c->khz_min || khz < c->khz_min)
		c->khz_min = khz;
	if (khz > c->khz_max)
		c->khz_max = khz;
	return 0;
}
