/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/osnoise.h"

#include <inttypes.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/units.h"

/* Reports what the numbers above leave out. */
static void write_left_out(const struct osnoise_reader *r, FILE *out)
{
	char a[32];

	if (r->left_out_first)
		fprintf(out,
			"left out: %s thread noise%s since boot (the first after switching on)\n",
			format_count(r->left_out_first, a, sizeof(a)), plural(r->left_out_first));
	if (r->left_out_workload)
		fprintf(out, "left out: %s thread noises of the workload [%u] itself\n",
			format_count(r->left_out_workload, a, sizeof(a)), r->workload);
	if (r->lost)
		fprintf(out, "the kernel lost %s records before they were saved\n",
			format_count(r->lost, a, sizeof(a)));
	if (r->cpus_beyond)
		fprintf(out, "%s records and rows of CPUs after the first %u are not shown\n",
			format_count(r->cpus_beyond, a, sizeof(a)), OSNOISE_CPUS);
	if (r->lines_cut)
		fprintf(out, "%s lines were longer than %u bytes, and cut\n",
			format_count(r->lines_cut, a, sizeof(a)), LINE_BYTES);
	if (r->no_index)
		fprintf(out, "a histogram is left out: without an index (rtla's --no-index) it "
			     "does not say what its rows count\n");
	if (r->analyses_beyond)
		fprintf(out, "%s more analyses are not shown\n",
			format_count(r->analyses_beyond, a, sizeof(a)));
	if (r->tainted)
		fprintf(out, "the kernel says that osnoise is tainted: its accounting went "
			     "wrong, doubt these times\n");
	if (r->no_memory)
		fprintf(out, "out of memory: some of the input is not in these numbers\n");
	if (r->events[OSNOISE_NOISE] && !r->events[OSNOISE_SAMPLE] &&
	    !r->events[OSNOISE_TIMERLAT] && !r->workload)
		fprintf(out, "no gaps of the kernel's own loop are here: the run time of the "
			     "program that was measured\n"
			     "  counts as thread noise; --workload PID leaves it out\n");
}

static void write_unread(const struct osnoise_reader *r, unsigned width, FILE *out)
{
	char text[4 * OSNOISE_TEXT], a[32];
	struct flow f;

	if (r->nother) {
		flow_start(&f, out, width, "events of other systems, counted only: ", " · ", "  ");
		for (uint32_t i = 0; i < r->nother; i++)
			flow_add(&f, "%s %s", escape_text(r->other[i].name, SIZE_MAX, text, 80),
				 format_count(r->other[i].count, a, sizeof(a)));
		flow_end(&f);
	}
	if (!r->unknown) {
		fprintf(out, "every line was understood\n");
		return;
	}
	fprintf(out, "not understood: %s line%s\n", format_count(r->unknown, a, sizeof(a)),
		plural(r->unknown));
	for (uint32_t i = 0; i < r->nunknowns; i++) {
		escape_text(r->unknowns[i].text, r->unknowns[i].len, text,
			    width > 12 ? width - 12 : 8);
		fprintf(out, "  %7" PRIu64 ": %s\n", r->unknowns[i].line, text);
	}
}

void render_osnoise_notes(const struct osnoise_reader *r, unsigned width, FILE *out)
{
	write_left_out(r, out);
	write_unread(r, width, out);
}
