/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/periods.h"

#include <errno.h>
#include <inttypes.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/table.h"
#include "render/styles.h"

static void text_row(struct table *t, const struct period_line *l)
{
	const struct osnoise_period *p = &l->period;
	char left[AVAILABLE];

	table_cellf(t, NULL, "%u", l->round);
	table_cell(t, NULL, l->ours ? "culprit" : "osnoise");
	table_cellf(t, NULL, "%u", l->cpu);
	table_cellf(t, NULL, "%" PRIu64, p->runtime_ns / 1000);
	table_cellf(t, NULL, "%" PRIu64, p->noise_ns / 1000);
	table_cell(t, NULL, render_available(p->noise_ns, p->runtime_ns, left));
	table_cellf(t, NULL, "%" PRIu64, p->max_single_ns / 1000);
	table_cellf(t, NULL, "%" PRIu64, p->hw);
	table_cellf(t, NULL, "%" PRIu64, p->nmi);
	table_cellf(t, NULL, "%" PRIu64, p->irq);
	table_cellf(t, NULL, "%" PRIu64, p->softirq);
	table_cellf(t, NULL, "%" PRIu64, p->thread);
	table_end_row(t);
}

static int write_text(const struct periods *p, FILE *out)
{
	static const char *const headings[] = {"TURN",  "BY",      "CPU",        "RUNTIME",
					       "NOISE", "% AVAIL", "MAX SINGLE", "HW",
					       "NMI",   "IRQ",     "SIRQ",       "THREAD"};
	struct table *t = table_new(100, 0);
	const struct host *host = p->host;
	char kernel[300], text[1024];

	if (!t)
		return -ENOMEM;
	fprintf(out,
		"culprit %s · linux %s · the kernel's own workload and culprit's sampler in turn\n",
		CULPRIT_VERSION,
		escape_text(host->kernel, sizeof(host->kernel), kernel, sizeof(kernel)));
	if (p->incomplete[0])
		fprintf(out, "incomplete: %s\n",
			escape_text(p->incomplete, SIZE_MAX, text, sizeof(text)));
	fprintf(out, "a line a period; times in us; HW: gaps without any interference\n\n");
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], i == 1 ? ALIGN_LEFT : ALIGN_RIGHT, false);
	for (uint32_t i = 0; i < p->count; i++)
		text_row(t, &p->line[i]);
	table_print(t, out, false);
	table_free(t);
	return 0;
}

static void write_json(const struct periods *all, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.periods/1");
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "kernel", all->host->kernel);
	json_string(&j, "incomplete", all->incomplete[0] ? all->incomplete : NULL);
	json_array(&j, "periods");
	for (uint32_t i = 0; i < all->count; i++) {
		const struct period_line *line = &all->line[i];
		const struct osnoise_period *p = &line->period;

		json_object_flat(&j, NULL);
		json_u64(&j, "turn", line->round);
		json_string(&j, "by", line->ours ? "culprit" : "osnoise");
		json_u64(&j, "cpu", line->cpu);
		json_u64(&j, "runtime_ns", p->runtime_ns);
		json_u64(&j, "noise_ns", p->noise_ns);
		json_u64(&j, "max_single_ns", p->max_single_ns);
		json_u64(&j, "hw", p->hw);
		json_u64(&j, "nmi", p->nmi);
		json_u64(&j, "irq", p->irq);
		json_u64(&j, "softirq", p->softirq);
		json_u64(&j, "thread", p->thread);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

int render_periods(const struct periods *p, bool json, FILE *out)
{
	int err = 0;

	if (json)
		write_json(p, out);
	else
		err = write_text(p, out);
	return err ? err : ferror(out) ? -EIO : 0;
}
