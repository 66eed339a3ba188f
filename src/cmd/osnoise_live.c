#include "cmd/osnoise_live.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "collect/host.h"
#include "collect/tracer.h"
#include "render/compare.h"

static void hear(void *ctx, uint32_t index, const struct account *a)
{
	struct compared *cpu = ctx;

	cpu[index].hw_theirs += !a->theirs;
	if (!a->intervals) {
		cpu[index].hw++;
		cpu[index].hw_ns += a->duration_ns;
	}
}

static void take(struct collect *c, struct compared *cpu)
{
	const struct interval *i;
	uint32_t index;

	while ((i = collect_interval(c, &index)))
		compare_add(&cpu[index].compare, i);
}

static void measure(struct measure *m, struct collect *c, struct compared *cpu, uint32_t ncpus)
{
	uint64_t begin = now_ns();

	while (measure_wait(m, begin) && collect_poll(c))
		take(c, cpu);
	collect_end(c);
	take(c, cpu);
	for (uint32_t i = 0; i < ncpus; i++) {
		compare_finish(&cpu[i].compare);
		cpu[i].intervals_lost = collect_intervals_lost(c, i);
	}
}

static void compared_free(struct compared *cpu, uint32_t ncpus)
{
	for (uint32_t i = 0; cpu && i < ncpus; i++)
		compare_free(&cpu[i].compare);
	free(cpu);
}

/* NULL when out of memory. */
static struct compared *compared_new(uint32_t ncpus)
{
	struct compared *cpu = calloc(ncpus, sizeof(*cpu));

	for (uint32_t i = 0; cpu && i < ncpus; i++)
		if (compare_init(&cpu[i].compare)) {
			compared_free(cpu, ncpus);
			return NULL;
		}
	return cpu;
}

static int compare_on(struct measure *m, struct view *v, bool json, FILE *out)
{
	struct collect_options co = measure_collect(m);
	struct render_options ro = {.colour = isatty(fileno(out)) && !getenv("NO_COLOR")};
	uint32_t ncpus = cpus_count(&m->cpus);
	struct compared *cpu = compared_new(ncpus);
	struct collect *c;
	int code = EXIT_ERROR;

	if (!cpu) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	co.osnoise = co.intervals = true;
	co.hear = hear;
	co.hear_ctx = cpu;
	c = collect_open(&co, v, &measure_stop);
	if (!c) {
		compared_free(cpu, ncpus);
		return measure_stop ? EXIT_OK : EXIT_ERROR;
	}
	if (!collect_begin(c)) {
		measure_announce(m);
		measure(m, c, cpu, v->ncpus);
		code = render_compare(v, cpu, &ro, json, out) ? EXIT_ERROR : EXIT_OK;
		if (code)
			complain("writing the report failed");
	}
	compared_free(cpu, ncpus);
	collect_close(c);
	return code;
}

int osnoise_live(struct measure *m, bool json, FILE *out)
{
	struct view *v = calloc(1, sizeof(*v));
	struct tracer *tracer;
	int code = EXIT_ERROR;

	if (!v) {
		complain("out of memory");
		return EXIT_ERROR;
	}
	host_read(&v->host);
	if (!measure_check(m, &v->host)) {
		measure_catch_signals();
		tracer = tracer_start(
			&m->cpus,
			false); /* before our own probes: both are to settle before the window */
		if (tracer) {
			code = compare_on(m, v, json, out);
			tracer_stop(tracer);
		}
	}
	view_free(v);
	free(v);
	return code;
}
