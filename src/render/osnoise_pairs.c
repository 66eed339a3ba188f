/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/osnoise_pairs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "base/table.h"
#include "base/units.h"

static struct pairs_row totals(const struct osnoise_pairs *c)
{
	struct pairs_row sum = {0};

	for (uint32_t i = 0; i < c->rows; i++) {
		sum.ours += c->row[i].ours;
		sum.theirs += c->row[i].theirs;
		sum.matched += c->row[i].matched;
		sum.only_ours += c->row[i].only_ours;
		sum.only_theirs += c->row[i].only_theirs;
	}
	return sum;
}

static double matched_percent(const struct pairs_row *r)
{
	return r->theirs ? 100.0 * r->matched / r->theirs : NAN;
}

static int by_time(const void *a, const void *b)
{
	const struct pairs_row *const *x = a, *const *y = b;

	if ((*x)->ours_ns != (*y)->ours_ns)
		return (*x)->ours_ns < (*y)->ours_ns ? 1 : -1;
	return *x < *y ? -1 : 1;
}

/* Rows by falling time; the caller owns them; NULL: out of memory. */
static const struct pairs_row **sorted(const struct osnoise_pairs *c)
{
	const struct pairs_row **order = calloc(c->rows + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < c->rows; i++)
		order[i] = &c->row[i];
	if (order)
		qsort(order, c->rows, sizeof(*order), by_time);
	return order;
}

/* ---- text ---- */

static void write_row(struct table *t, const struct pairs_row *r)
{
	char a[96], name[80];

	table_cell(t, NULL, source_kind_name(r->kind));
	table_cellf(t, NULL, "%s%s", escape_text(r->name, sizeof(r->name), name, sizeof(name)),
		    r->name[0] ? "" : "?");
	table_cell(t, NULL, format_count(r->ours, a, sizeof(a)));
	table_cell(t, NULL, format_count(r->theirs, a, sizeof(a)));
	table_cell(t, NULL, format_count(r->matched, a, sizeof(a)));
	table_cell(t, NULL, format_ns(r->ours_ns, a, sizeof(a)));
	table_cell(t, NULL, format_ns(r->theirs_ns, a, sizeof(a)));
	if (r->matched) {
		table_cell(t, NULL, format_ns(hist_percentile(&r->difference, 50), a, sizeof(a)));
		table_cell(t, NULL, format_ns(hist_percentile(&r->difference, 99), a, sizeof(a)));
		table_cell(t, NULL, format_ns(r->difference.max, a, sizeof(a)));
	}
	table_end_row(t);
}

static void write_alone(const struct osnoise_pairs *pairs, const struct pairs_row *r, FILE *out)
{
	char a[32], name[80];
	const char *why;

	escape_text(r->name, sizeof(r->name), name, sizeof(name));
	if (r->only_ours) {
		why = pairs_why(pairs, r);
		fprintf(out, "  only culprit: %s %s, %s%s%s\n", source_kind_name(r->kind), name,
			format_count(r->only_ours, a, sizeof(a)), why ? ": " : "", why ? why : "");
	}
	if (r->only_theirs)
		fprintf(out, "  only osnoise: %s %s, %s\n", source_kind_name(r->kind), name,
			format_count(r->only_theirs, a, sizeof(a)));
	if (pairs_differs(r)) {
		why = pairs_why_differs(pairs, r);
		fprintf(out, "  differ: %s %s, half of them by %s or more%s%s\n",
			source_kind_name(r->kind), name,
			format_ns(hist_percentile(&r->difference, 50), a, sizeof(a)),
			why ? ": " : "", why ? why : "");
	}
}

static int write_cpu(const struct view *v, uint32_t i, const struct paired *cpu,
		     const struct render_options *o, FILE *out)
{
	static const char *const numbers[] = {"culprit",   "osnoise",  "matched", "net here",
					      "net there", "diff p50", "p99",     "max"};
	const struct pairs_row **order = sorted(&cpu->pairs), sum = totals(&cpu->pairs);
	struct table *t = table_new(o->width ? o->width : 100, 2);
	char a[32], b[32], c[32], d[32];

	if (!order || !t) {
		free(order);
		table_free(t);
		return -ENOMEM;
	}
	fprintf(out, "\ncpu %u  %s intervals by culprit, %s by osnoise", v->cpu[i].number,
		format_count(sum.ours, a, sizeof(a)), format_count(sum.theirs, b, sizeof(b)));
	if (sum.theirs)
		fprintf(out, ", %s of these matched (%s %%)",
			format_count(sum.matched, c, sizeof(c)),
			format_percent(matched_percent(&sum), d, sizeof(d)));
	fputc('\n', out);
	if (sum.matched)
		fprintf(out, "  half of these differ by no more than %s, or %s %%\n",
			format_ns(hist_percentile(&cpu->pairs.difference, 50), a, sizeof(a)),
			format_percent(hist_percentile(&cpu->pairs.relative, 50) / 100.0, b,
				       sizeof(b)));
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
		table_column(t, numbers[k], ALIGN_RIGHT, false);
	for (uint32_t k = 0; k < cpu->pairs.rows; k++)
		write_row(t, order[k]);
	table_print(t, out, o->colour);
	for (uint32_t k = 0; k < cpu->pairs.rows; k++)
		write_alone(&cpu->pairs, order[k], out);
	fprintf(out,
		"  gaps without any interval, which osnoise calls HW: %s, %s; by osnoise's own "
		"events: %s\n",
		format_count(cpu->hw, a, sizeof(a)), format_ns(cpu->hw_ns, b, sizeof(b)),
		format_count(cpu->hw_theirs, c, sizeof(c)));
	fprintf(out, "  time outside the kernel in all, also beside short interrupts: %s\n",
		format_ns(v->cpu[i].outside_ns, a, sizeof(a)));
	if (cpu->intervals_lost)
		fprintf(out, "  %s intervals were not compared: the reader came too late\n",
			format_count(cpu->intervals_lost, a, sizeof(a)));
	table_free(t);
	free(order);
	return 0;
}

static int write_text(const struct view *v, const struct paired *cpu,
		      const struct render_options *o, FILE *out)
{
	char time[32], kernel[300], text[4 * sizeof(v->run.incomplete)];
	int err = 0;

	fprintf(out,
		"culprit %s · linux %s · %s of the same interruptions, by culprit and by the "
		"kernel's osnoise tracer\n",
		CULPRIT_VERSION,
		escape_text(v->host.kernel, sizeof(v->host.kernel), kernel, sizeof(kernel)),
		format_ns(v->run.duration_ns, time, sizeof(time)));
	if (v->run.incomplete[0])
		fprintf(out, "incomplete: %s\n",
			escape_text(v->run.incomplete, SIZE_MAX, text, sizeof(text)));
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = write_cpu(v, i, &cpu[i], o, out);
	return err;
}

/* ---- JSON ---- */

static void json_row(struct json *j, const struct osnoise_pairs *pairs, const struct pairs_row *r)
{
	json_object_flat(j, NULL);
	json_string(j, "kind", source_kind_name(r->kind));
	json_u64(j, "id", r->id);
	json_string(j, "name", r->name);
	json_u64(j, "culprit", r->ours);
	json_u64(j, "osnoise", r->theirs);
	json_u64(j, "matched", r->matched);
	json_u64(j, "only_culprit", r->only_ours);
	json_u64(j, "only_osnoise", r->only_theirs);
	json_u64(j, "culprit_ns", r->ours_ns);
	json_u64(j, "osnoise_ns", r->theirs_ns);
	json_u64(j, "difference_p50_ns", hist_percentile(&r->difference, 50));
	json_u64(j, "difference_p99_ns", hist_percentile(&r->difference, 99));
	json_u64(j, "difference_max_ns", r->difference.max);
	json_string(j, "why", r->only_ours ? pairs_why(pairs, r) : NULL);
	json_bool(j, "differs", pairs_differs(r));
	json_string(j, "why_differs", pairs_differs(r) ? pairs_why_differs(pairs, r) : NULL);
	json_end(j);
}

static int json_cpu(struct json *j, const struct view *v, uint32_t i, const struct paired *cpu)
{
	const struct pairs_row **order = sorted(&cpu->pairs), sum = totals(&cpu->pairs);

	if (!order)
		return -ENOMEM;
	json_object(j, NULL);
	json_u64(j, "cpu", v->cpu[i].number);
	json_u64(j, "observed_ns", v->cpu[i].observed_ns);
	json_u64(j, "culprit", sum.ours);
	json_u64(j, "osnoise", sum.theirs);
	json_u64(j, "matched", sum.matched);
	json_double(j, "matched_percent", matched_percent(&sum), 4);
	json_u64(j, "difference_p50_ns", hist_percentile(&cpu->pairs.difference, 50));
	json_double(j, "difference_p50_percent", hist_percentile(&cpu->pairs.relative, 50) / 100.0,
		    2);
	json_u64(j, "lost", v->cpu[i].counts.lost + cpu->intervals_lost);
	json_u64(j, "hw", cpu->hw);
	json_u64(j, "hw_ns", cpu->hw_ns);
	json_u64(j, "hw_osnoise", cpu->hw_theirs);
	json_u64(j, "outside_ns", v->cpu[i].outside_ns);
	json_array(j, "sources");
	for (uint32_t k = 0; k < cpu->pairs.rows; k++)
		json_row(j, &cpu->pairs, order[k]);
	json_end(j);
	json_end(j);
	free(order);
	return 0;
}

static int write_json(const struct view *v, const struct paired *cpu, FILE *out)
{
	struct json j;
	int err = 0;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", PAIRS_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "kernel", v->host.kernel);
	json_string(&j, "started", v->run.started);
	json_u64(&j, "duration_ns", v->run.duration_ns);
	json_string(&j, "incomplete", v->run.incomplete[0] ? v->run.incomplete : NULL);
	json_array(&j, "cpus");
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = json_cpu(&j, v, i, &cpu[i]);
	json_end(&j);
	json_end(&j);
	return err;
}

int render_osnoise_pairs(const struct view *v, const struct paired *cpu,
			 const struct render_options *o, bool json, FILE *out)
{
	int err = json ? write_json(v, cpu, out) : write_text(v, cpu, o, out);

	return err ? err : ferror(out) ? -EIO : 0;
}
