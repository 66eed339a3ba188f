/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measures the clocks in this order: this process moves to the reference CPU and stays there; the
 * short measurements come first; the rate takes the given time. */
#include "collect/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <time.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/host.h"
#include "collect/machine.h"
#include "collect/counter.h"

#define CLOCKSOURCES "/sys/devices/system/clocksource/clocksource0/available_clocksource"
#define LEAP_LIST    "/usr/share/zoneinfo/leap-seconds.list" /* from tzdata */
#define LEAP_MAX     65536
#define READ_TRIES   8
#define ROUGH_NS     (20 * NSEC_PER_MSEC)
#define STEP_NS      (5 * NSEC_PER_MSEC)   /* least time between two readings of the rates */
#define PATIENCE_NS  (100 * NSEC_PER_MSEC) /* longest sleep without a look whether to stop */

/* ---- rates ---- */

/* Reads the counter before and after the clock, several times; keeps the closest pair. */
static struct clock_reading read_both(clockid_t clock)
{
	struct clock_reading best = {.width = UINT64_MAX};

	for (int i = 0; i < READ_TRIES; i++) {
		uint64_t before = counter_fenced(), ns = clock_ns(clock), after = counter_fenced();

		if (after - before < best.width)
			best = (struct clock_reading){before + (after - before) / 2, after - before,
						      ns};
	}
	return best;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	nanosleep(&t, NULL); /* a signal ends it early */
}

/* Sleeps in short steps, so that a stop is noticed wherever it comes. */
static void sleep_until(uint64_t due, const volatile int *stop)
{
	for (uint64_t now = now_ns(); now < due && !*stop; now = now_ns())
		sleep_ns(due - now < PATIENCE_NS ? due - now : PATIENCE_NS);
}

void clock_measure_rates(struct clock_view *v, const struct clock_options *o)
{
	static struct clock_reading monotonic[CLOCK_READINGS_MAX], raw[CLOCK_READINGS_MAX];
	uint64_t begin = now_ns(), step = o->duration_ns / (CLOCK_READINGS_MAX - 2);
	uint32_t n = 0;

	if (step < STEP_NS)
		step = STEP_NS;
	for (;;) {
		uint64_t elapsed;

		monotonic[n] = read_both(CLOCK_MONOTONIC);
		raw[n] = read_both(CLOCK_MONOTONIC_RAW);
		n++;
		elapsed = now_ns() - begin;
		if (n == CLOCK_READINGS_MAX || (n > 2 && (elapsed >= o->duration_ns || *o->stop)))
			break;
		sleep_until(begin + n * step, o->stop);
		if (*o->stop) /* takes now what is missing of three readings */
			sleep_ns(STEP_NS);
	}
	v->monotonic = clock_rate(monotonic, n);
	v->raw = clock_rate(raw, n);
}

/* Rate of the counter, good enough to estimate how long a batch of calls takes. */
static double rough_rate(void)
{
	struct clock_reading a = read_both(CLOCK_MONOTONIC), b;

	sleep_ns(ROUGH_NS);
	b = read_both(CLOCK_MONOTONIC);
	return (double)(b.ns - a.ns) / (double)(b.tick - a.tick);
}

/* ---- what the kernel says ---- */

static size_t read_text(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(buf, 1, len - 1, f) : 0;

	buf[n] = 0;
	if (f)
		fclose(f);
	return n;
}

/* Reads TAI - UTC from the kernel, if chronyd, ptp4l or another program has set it. */
static void read_tai(struct clock_view *v, int kernel)
{
	char *list = malloc(LEAP_MAX);

	v->tai_s = kernel;
	v->tai_from = "the kernel";
	if (!v->tai_s && list && read_text(LEAP_LIST, list, LEAP_MAX)) {
		v->tai_s = clock_leap_seconds(list, clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
		v->tai_from = LEAP_LIST;
	}
	if (!v->tai_s) {
		v->tai_s = TAI_BUILT_IN;
		v->tai_from = "culprit: so since 2017";
	}
	free(list);
}

static void read_kernel(struct clock_view *v)
{
	struct timex t = {.modes = 0};
	int state = adjtimex(&t);

	v->ntp_known = state != -1;
	v->ntp_synchronised = v->ntp_known && !(t.status & STA_UNSYNC);
	v->ntp_ppm = v->ntp_known ? t.freq / 65536.0 : 0; /* adjtimex(2): in units of 2^-16 ppm */
	read_tai(v, v->ntp_known ? t.tai : 0);
	read_text(CLOCKSOURCES, v->clocksources, sizeof(v->clocksources));
	v->clocksources[strcspn(v->clocksources, "\n")] = 0;
	while (v->clocksources[0] && v->clocksources[strlen(v->clocksources) - 1] == ' ')
		v->clocksources[strlen(v->clocksources) - 1] = 0;
}

/* ---- all ---- */

static void say_stage(const struct clock_options *o, const char *what)
{
	if (o->progress)
		o->progress(what);
}

int clock_measure(struct clock_view *v, const struct clock_options *o)
{
	int err;

	v->counter = COUNTER_NAME;
	if (!machine_counter_stable(v->host.clocksource, &v->unstable) && !v->unstable)
		v->unstable = "not known";
	v->cpus = o->cpus;
	v->reference = o->reference;
	v->offset = calloc(cpus_count(&o->cpus), sizeof(*v->offset));
	if (!v->offset)
		return complain("out of memory");
	err = cpus_run_on_one(v->reference);
	if (err)
		return complain("cannot move to CPU %u: %s; choose others with -c", v->reference,
				strerror(-err));
	read_kernel(v);
	v->ns_per_tick = rough_rate();
	say_stage(o, "what reading a clock costs");
	clock_measure_costs(v, o->stop);
	say_stage(o, "offsets between CPUs");
	for (int cpu = cpus_next(&o->cpus, 0); cpu >= 0; cpu = cpus_next(&o->cpus, cpu + 1)) {
		struct clock_offset *x = &v->offset[v->noffsets];

		if ((unsigned)cpu == v->reference)
			continue;
		v->noffsets++;
		x->cpu = cpu;
		if (*o->stop)
			x->failed = "ended early";
		else
			clock_measure_offset(x, v->ns_per_tick, o->stop);
	}
	say_stage(o, "rates");
	clock_measure_rates(v, o);
	if (v->monotonic.known)
		v->ns_per_tick = 1e6 / v->monotonic.khz;
	v->host.tsc_khz = 1e6 / v->ns_per_tick + 0.5;
	say_stage(o, "");
	return 0;
}
