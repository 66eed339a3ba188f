/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine's clocks, read together now and then while it measures. With what KVM does to a guest's
 * counter, or with the host's own clock as a guest reads it there (PTP_KVM), the readings of both
 * sides say which time of the one is which of the other: without a single gap in common.
 *
 * Pure. Counters and times count modulo 2^64.
 */
#ifndef CULPRIT_READINGS_H
#define CULPRIT_READINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/align.h"

struct reading_of_clocks {
	uint64_t ns;   /* CLOCK_MONOTONIC */
	uint64_t tick; /* the CPU's counter (x86: TSC); 0: not read */
	uint64_t real; /* CLOCK_REALTIME, ns */
	uint64_t host; /* the host's CLOCK_REALTIME, ns, read in its guest; 0: not read */
};

#define READINGS_MOST     64
#define READINGS_APART_NS 1000000000ULL /* at the begin; twice as long each time they are full */

/* In order of time, all of the run from its begin on: every second one goes when they are full. */
struct readings {
	uint32_t n;
	uint64_t apart_ns; /* time between two; 0: READINGS_APART_NS */
	struct reading_of_clocks row[READINGS_MOST];
};

/* True when it is time for another one. */
bool readings_due(const struct readings *r, uint64_t now_ns);
/* Adds one. False for one that is not later than the last by each clock. */
bool readings_add(struct readings *r, const struct reading_of_clocks *x);

/* KVM's way from its host's counter to a guest's: guest = (host * ratio >> fraction) + offset
 * (Documentation/virt/kvm/x86/timekeeping.rst). Without scaling ratio is 1 and fraction 0. All
 * zeros: not known. */
struct counter_rule {
	uint64_t ratio, offset;
	uint32_t fraction;
};

bool counter_rule_same(const struct counter_rule *a, const struct counter_rule *b);

/* The host's counter when the guest's showed `tick`. The rule is known. */
uint64_t counter_on_host(const struct counter_rule *rule, uint64_t tick);

enum readings_by { READINGS_NONE, READINGS_COUNTER, READINGS_PTP };

/* Writes the guest's time in the host's as pieces of a line, one between each two of the guest's
 * readings, and returns how many; 0 with *by READINGS_NONE: they do not tell, or tell of clocks
 * that differ in rate by more than clocks do. rule: NULL when it is not known. */
uint32_t readings_line(const struct readings *guest, const struct readings *host,
		       const struct counter_rule *rule, struct align_piece piece[READINGS_MOST],
		       enum readings_by *by);

#endif
