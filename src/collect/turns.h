/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads who ran on the CPUs that are no targets (bpf/turn.h), around the stops of all targets. */
#ifndef CULPRIT_COLLECT_TURNS_H
#define CULPRIT_COLLECT_TURNS_H

#include "collect/probes.h"
#include "model/outside.h"

struct turns_reader;

uint32_t turns_cpus(void); /* CPUs of this machine that have a ring, from 0 on */

/* After the programs are loaded, and before rights are dropped. targets: CPUs that have no turns.
 * since_ns: the gate has been open from then on. NULL with errno set. */
struct turns_reader *turns_new(const struct probes *p, const struct cpus *targets,
			       uint64_t since_ns);
void turns_free(struct turns_reader *t);

/* Adds the stops whose cells are over at now_ns to s, and who ran there. end_ns: nobody was looked
 * at from then on; 0: they still are. */
void turns_take(struct turns_reader *t, const struct coincidences *stops, uint64_t now_ns,
		uint64_t end_ns, struct suspects *s);

#endif
