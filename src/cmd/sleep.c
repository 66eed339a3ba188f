/* culprit sleep: the periodic scheduling test, and who made a thread wake late. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "collect/sleep.h"

#define DMA_LATENCY "/dev/cpu_dma_latency" /* Documentation/admin-guide/pm/cpuidle.rst */

struct options {
	struct bench bench;
	struct sleep_options sleep;
	bool dma_latency;
};

#define FIELD(name) offsetof(struct options, name)

static int set_count(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	long n;

	(void)row;
	if (parse_integer(text, 1, 1000000000000, &n, why, whylen))
		return -EINVAL;
	*(uint64_t *)field = n;
	return 0;
}

static const struct opt sleep_opts[] = {
	{'i', "interval", "TIME", "how long each sleep is; default 20ms", FIELD(sleep.interval_ns), opt_set_time, NULL},
	{'n', "samples", "N", "end after so many sleeps on each CPU; default: when -d is over", FIELD(sleep.samples),
	 set_count, NULL},
	{0, "relative", NULL, "sleep for the interval, not until a time", FIELD(sleep.relative), NULL, NULL},
	{0, "dma-latency", NULL, "hold " DMA_LATENCY " at 0 meanwhile: CPUs stay out of deep idle states",
	 FIELD(dma_latency), NULL, NULL},
	BENCH_OPTS(struct options, bench),
	{0},
};

const struct opt_command sleep_usage = {
	.name = "sleep",
	.summary = "sleep and wake in turn, and say who made a wake-up late",
	.about = "Sleeps on each CPU until a time, and measures how much later it ran: the wake-up latency, and the "
		 "time from one "
		 "wake-up to the next. Wake-ups that are late are explained: who ran instead, interrupts, exit from "
		 "idle.",
	.opts = sleep_opts,
};

int cmd_sleep(int argc, char **argv)
{
	struct options o = {.sleep.interval_ns = 20 * NSEC_PER_MSEC};
	int operands, code, fd = -1;
	int32_t none = 0;

	measure_init(&o.bench.measure);
	o.bench.measure.duration_ns = 0;
	code = opt_parse(&sleep_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	measure_end(&o.bench.measure, o.sleep.samples);
	if (o.dma_latency) {
		fd = open(DMA_LATENCY, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, &none, sizeof(none)) != sizeof(none)) {
			complain("cannot hold %s at 0: %s", DMA_LATENCY, strerror(errno));
			return EXIT_ERROR;
		}
	}
	code = bench_run(&o.bench, &sleep_workload, &o.sleep);
	if (fd >= 0)
		close(fd); /* the request goes with it */
	return code;
}
