/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of culprit clock: how steady the CPU's counter runs, its offset between CPUs, the cost of
 * reading a clock, and the state of the hardware clocks of network cards. And their arithmetic,
 * pure. Times are ns unless a name says otherwise.
 */
#ifndef CULPRIT_CLOCK_H
#define CULPRIT_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "model/view.h"

#define CLOCK_SCHEMA  "culprit.clock/1"
#define CLOCK_NAME    40
#define CLOCK_COSTS   24
#define CLOCK_TENTHS  10
#define CLOCK_DEVICES 16

/* ---- rate ---- */

/* The counter and a clock, read together: the counter stood at `tick` +- width / 2 when the clock
 * showed ns. */
struct clock_reading {
	uint64_t tick, width, ns;
};

struct clock_rate {
	bool known;              /* false: fewer than three readings, or the counter stood still */
	double khz;              /* rate of the counter, by a straight line through all readings */
	double error_ppm;        /* error of khz, from the widths of the readings at both ends and a
				    tick */
	double rms_ns, worst_ns; /* distance of readings from the line */
	double spread_ppm;       /* between the fastest and the slowest tenth of the time */
	uint64_t duration_ns;
	uint32_t readings;
};

/* Readings in order of time. */
struct clock_rate clock_rate(const struct clock_reading *r, uint32_t n);

/* True where the kernel's list of clocks (available_clocksource) has clocks of the hardware alone,
 * and the TSC is not among them: it was found unsteady, or is not to be used. A hypervisor's clock
 * may stand in its place for other reasons. */
bool clock_tsc_refused(const char *list);

/* ---- offset between CPUs ---- */

/* One CPU asks at t0, another one answers at t1, the first sees the answer at t2, each by its own
 * counter. The answer came between t0 and t2, so the second counter is ahead by t1 - t2 at least
 * and t1 - t0 at most, each to a tick. The narrowest limits of many hold. */
struct clock_way {
	uint64_t count;      /* round trips; 0: none */
	int64_t low, high;   /* ticks: how far the answering CPU is ahead */
	uint64_t round_trip; /* ticks, the shortest */
};

void clock_way_add(struct clock_way *w, uint64_t t0, uint64_t t1, uint64_t t2);

struct clock_offset {
	unsigned cpu;
	const char *failed;      /* NULL: measured; else why not */
	struct clock_way way[2]; /* the reference asks; this CPU asks */
	/* This CPU's counter is ahead of the reference's by `ns` +- bound_ns. */
	double ns, bound_ns;
	bool moved; /* no single offset explains all round trips */
};

/* Computes ns, bound_ns and moved from both ways. */
void clock_offset_solve(struct clock_offset *o, double ns_per_tick);

/* ---- cost ---- */

enum clock_how { HOW_UNKNOWN, HOW_USER, HOW_SYSCALL };

struct clock_cost {
	char name[CLOCK_NAME];
	const char *absent;     /* NULL: measured; else why not */
	bool counter;           /* an instruction, not a clock */
	enum clock_how how;     /* way to read it: in user space by the vDSO, or by a system call */
	uint64_t resolution_ns; /* resolution of the clock, by its own account */
	uint64_t min_ps, median_ps, p99_ps; /* cost by batches */
};

/* ---- PTP hardware clocks ---- */

enum phc_way { PHC_GETTIME, PHC_OFFSET, PHC_EXTENDED, PHC_PRECISE, PHC_WAYS };

/* One way to compare a hardware clock with CLOCK_REALTIME. */
struct phc_result {
	int error;        /* errno; 0: it works */
	uint32_t samples; /* samples taken */
	/* Offsets as read, hardware clock minus CLOCK_REALTIME: that of the sample with the
	 * shortest delay, and the least and the most of all samples. */
	int64_t raw_ns, raw_least_ns, raw_most_ns;
	/* Shortest time between the two readings of CLOCK_REALTIME around it; 0: the hardware takes
	 * both. */
	uint64_t delay_ns;
	uint64_t call_min_ns, call_p50_ns; /* time of the call, which may take several samples */
};

enum phc_scale {
	PHC_UTC,
	PHC_TAI,
	PHC_OTHER
}; /* OTHER: no time of day, perhaps counted from its start */

struct phc {
	char operand[256]; /* as given */
	char path[64];     /* path of the device */
	char name[256];    /* the driver's name for the clock; "": not known */
	int max_ppb, pps, pins, alarms, external; /* PTP_CLOCK_GETCAPS; all -1: not known */
	int cross; /* true: the hardware can read both clocks at once; -1: not known */
	enum phc_scale scale;
	bool system_set; /* CLOCK_REALTIME was set meanwhile: the rate is not known */
	bool rate_known;
	double rate_ppm; /* difference of its rate from CLOCK_REALTIME's, positive when faster */
	double rate_error_ppm;
	struct phc_result result[PHC_WAYS];
};

const char *phc_way_name(enum phc_way w);

/* The time scale of a hardware clock that is raw_ns ahead of CLOCK_REALTIME, with TAI tai_s ahead
 * of UTC; the caller subtracts *applied_ns. */
enum phc_scale phc_scale(int64_t raw_ns, int tai_s, int64_t *applied_ns);

/* TAI - UTC at a time (s since 1970) by a leap-seconds.list (NTP's: seconds since 1900, then the
 * difference); 0: the list does not say. */
int clock_leap_seconds(const char *list, uint64_t unix_s);

#define TAI_BUILT_IN 37 /* since 2017-01-01 (IERS Bulletin C 52) */

/* ---- all of it ---- */

struct clock_view {
	struct host host;
	const char *counter;    /* "tsc", "cntvct" */
	const char *unstable;   /* NULL: stable as far as the kernel knows; else why not */
	char clocksources[128]; /* sources that the kernel has */
	struct cpus cpus;
	unsigned reference; /* one of the CPUs: all else is measured there */
	double ns_per_tick; /* by CLOCK_MONOTONIC */
	struct clock_rate monotonic, raw;
	bool ntp_known, ntp_synchronised;
	double ntp_ppm; /* correction of CLOCK_MONOTONIC's rate by the kernel, positive when faster
			 */
	int tai_s;      /* TAI - UTC... */
	const char *tai_from;
	struct clock_offset *offset; /* owned */
	uint32_t noffsets;
	struct clock_cost cost[CLOCK_COSTS];
	uint32_t ncosts;
	struct phc *device; /* owned */
	uint32_t ndevices;
};

void clock_view_free(struct clock_view *v); /* frees its contents */

#endif
