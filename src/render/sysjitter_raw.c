/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sysjitter's raw files (Xilinx-CNS/cns-sysjitter): a head of figures that are known at the end,
 * and a line a hiccup. The head is as long at the beginning as at the end, so that the lines can go
 * behind it meanwhile. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/units.h"
#include "render/styles.h"

#define HEAD_WIDTH 56

/* A line of a fixed length. */
static void __attribute__((format(printf, 2, 3))) write_padded(FILE *out, const char *format, ...)
{
	char line[HEAD_WIDTH + 1];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	fprintf(out, "%-*s\n", HEAD_WIDTH, line);
}

static uint64_t cycles(uint64_t ns, uint64_t tsc_khz)
{
	return (uint64_t)(ns * (tsc_khz / 1e6) + 0.5);
}

void render_raw_head(const struct view *v, uint32_t index, bool sorted, FILE *out)
{
	const struct cpu *c = &v->cpu[index];
	const struct hist *h = &c->hiccups;

	write_padded(out, "# cpu_mhz: %" PRIu64, v->host.tsc_khz / 1000);
	write_padded(out, "# threshold: %" PRIu64 "ns", c->threshold_ns);
	write_padded(out, "# n_interruptions: %" PRIu64, h->count);
	write_padded(out, "# interruption: %f%%",
		     c->observed_ns ? 100.0 * h->sum / c->observed_ns : 0);
	write_padded(out, "# total_interruption: %" PRIu64 " cycles",
		     cycles(h->sum, v->host.tsc_khz));
	write_padded(out, "# total_runtime: %" PRIu64 " cycles",
		     cycles(c->observed_ns, v->host.tsc_khz));
	write_padded(out, "# total_interruption: %.9f seconds", h->sum / 1e9);
	write_padded(out, "# total_runtime: %.9f seconds", c->observed_ns / 1e9);
	fputs("#\n", out);
	fputs(sorted ? "#      Timestamp   <== interruption =>\n"
		       "#         (nsec)   (cycles)     (nsec)\n"
		     : "#      Timestamp      delta   <== interruption =>\n"
		       "#         (nsec)     (usec)   (cycles)     (nsec)\n",
	      out);
}

void render_raw(const struct view *v, const struct account *a, uint64_t last_ns, uint64_t tsc_khz,
		FILE *out)
{
	fprintf(out, "%16" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n",
		a->start_ns - v->run.started_ns, last_ns ? (a->start_ns - last_ns) / 1000 : 0,
		cycles(a->duration_ns, tsc_khz), a->duration_ns);
}

static int by_length(const void *a, const void *b)
{
	const struct raw_gap *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->at_ns < y->at_ns ? -1 : x->at_ns > y->at_ns;
}

void render_raw_sorted(struct raw_gap *gap, size_t n, uint64_t tsc_khz, FILE *out)
{
	if (n)
		qsort(gap, n, sizeof(*gap), by_length);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%16" PRIu64 " %10" PRIu64 " %10" PRIu64 "\n", gap[i].at_ns,
			cycles(gap[i].ns, tsc_khz), gap[i].ns);
}
