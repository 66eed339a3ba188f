#include "collect/sleep.h"

#include <errno.h>
#include <time.h>

#include "base/units.h"
#include "collect/tick.h"

#define WARM_INTERVAL_NS (10 * NSEC_PER_MSEC) /* at most, while learning */
#define PATIENCE_NS      (50 * NSEC_PER_MSEC) /* how long a sleep may be without a look whether to stop */

enum { LATENCY, DELTA };

static int sleep_until(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int sleep_for(uint64_t ns)
{
	struct timespec t = {ns / NSEC_PER_SEC, ns % NSEC_PER_SEC};

	return clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* Most of a long sleep goes in pieces, so that Ctrl-C is heard; the last one is the one that counts. Returns the time left to sleep. */
static bool approach(struct work *w, uint64_t due)
{
	while (due > tick_clock() + 2 * PATIENCE_NS) {
		sleep_for(PATIENCE_NS);
		if (!w->learning && !work_going(w))
			return false;
	}
	return true;
}

static int run(struct work *w)
{
	const struct sleep_options *o = w->options;
	uint64_t interval = w->learning && o->interval_ns > WARM_INTERVAL_NS ? WARM_INTERVAL_NS : o->interval_ns;
	uint64_t due = tick_clock() + interval, last = 0;

	for (uint64_t n = 0; work_going(w) && (w->learning || !o->samples || n < o->samples); n++) {
		uint64_t cursors, now, tick;
		int err;

		if (!approach(w, due))
			break;
		cursors = work_cursors(w);
		now = tick_clock();
		if (o->relative &&
		    due > now) { /* the call asks for what is left of the interval, and counts from itself */
			due = n ? now + interval : due;
			err = sleep_for(due - now);
		} else {
			err = sleep_until(due);
		}
		tick = work_tick(w);
		now = tick_clock();
		if (err)
			return work_failed(w, err, "clock_nanosleep");
		work_window(w, LATENCY, now - due, work_tick_of(w, due, tick, now), tick, cursors);
		if (last)
			work_value(w, DELTA, now - last);
		last = now;
		due += interval;
		if (due <= now) /* it slept through whole intervals: they are one late wake-up, not many */
			due = now + interval;
	}
	return 0;
}

const struct workload sleep_workload = {
	.name = "sleep",
	.series = (const char *const[]){"latency", "delta", NULL},
	.rest = "timer late, or exit from idle",
	.warm = 64,
	.run = run,
};
