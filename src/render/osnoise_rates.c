/* SPDX-License-Identifier: GPL-2.0-or-later */
/*	osnoise.txt (osnoise, 4.00 s) beside a.rec (culprit, 10.0 s), per second
 *
 *	        osnoise           culprit
 *	   count       time   count       time  ratio  kind     who
 *	     250    1.20 ms     251    1.31 ms   1.09  irq      local_timer
 */
#include "render/osnoise_rates.h"

#include <errno.h>
#include <math.h>

#include "base/escape.h"
#include "base/json.h"
#include "base/table.h"
#include "base/units.h"

#define ROWS_MAX 24
#define ESCAPED  (4 * SOURCE_NAME + 8)

static double rate(uint64_t n, uint64_t observed_ns)
{
	return observed_ns ? n * 1e9 / observed_ns : 0;
}

static void count_cell(struct table *t, const struct rates_share *s, uint64_t observed_ns)
{
	if (s->no_count || !observed_ns)
		table_cell(t, NULL, "-");
	else
		table_cellf(t, NULL, "%.1f", rate(s->count, observed_ns));
}

static void time_cell(struct table *t, const struct rates_share *s, uint64_t observed_ns)
{
	char text[32];

	table_cell(t, NULL,
		   s->no_ns || !observed_ns
			   ? "-"
			   : format_ns(rate(s->ns, observed_ns), text, sizeof(text)));
}

static bool is_there(const struct rates_share *s)
{
	return s->count || s->ns;
}

static bool is_absent(const struct rates_share *s)
{
	return !is_there(s) && !s->no_count && !s->no_ns;
}

static void ratio_cell(struct table *t, const struct osnoise_rates *b,
		       const struct rates_share *theirs, const struct rates_share *ours)
{
	double a = rate(theirs->ns, b->theirs_ns), c = rate(ours->ns, b->ours_ns);

	if (a > 0 && c > 0 && !theirs->no_ns && !ours->no_ns)
		table_cellf(t, NULL, "%.2f", c / a);
	else
		table_cell(t, NULL,
			   is_there(theirs) && is_absent(ours)    ? "gone"
			   : is_there(ours) && is_absent(theirs)  ? "new"
			   : is_absent(ours) && is_absent(theirs) ? ""
								  : "-");
}

static void row(struct table *t, const struct osnoise_rates *b, const struct rates_share *theirs,
		const struct rates_share *ours, const char *kind, const char *name)
{
	count_cell(t, theirs, b->theirs_ns);
	time_cell(t, theirs, b->theirs_ns);
	count_cell(t, ours, b->ours_ns);
	time_cell(t, ours, b->ours_ns);
	ratio_cell(t, b, theirs, ours);
	table_cell(t, "2", kind);
	table_cell(t, "1", name);
	table_end_row(t);
}

int render_osnoise_rates_text(const struct osnoise_rates *b, const char *theirs, const char *ours,
			      const struct render_options *options, FILE *out)
{
	static const char *const headings[] = {"osnoise/s", "time/s", "culprit/s", "time/s",
					       "ratio"};
	struct table *t = table_new(options->width ? options->width : 100, 2);
	char name[ESCAPED], a[32], c[32], file[256];

	if (!t)
		return -ENOMEM;
	fprintf(out, "%s: osnoise, %s observed\n",
		escape_text(theirs, SIZE_MAX, file, sizeof(file)),
		b->theirs_ns ? format_ns(b->theirs_ns, a, sizeof(a)) : "an unknown time");
	fprintf(out, "%s: culprit, %s observed\n\n",
		escape_text(ours, SIZE_MAX, file, sizeof(file)),
		format_ns(b->ours_ns, c, sizeof(c)));
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	row(t, b, &b->theirs, &b->ours, "", "all gaps");
	for (uint32_t i = 0; i < b->count && i < ROWS_MAX; i++)
		row(t, b, &b->row[i].theirs, &b->row[i].ours, source_kind_name(b->row[i].kind),
		    escape_text(b->row[i].name[0] ? b->row[i].name : "(all)", SIZE_MAX, name,
				sizeof(name)));
	table_print(t, out, options->colour);
	table_free(t);
	if (b->count > ROWS_MAX)
		fprintf(out, "  %u more sources (all in -f json)\n", b->count - ROWS_MAX);
	fputs("\nboth per second observed; not the same time, perhaps not the same machine. irq: "
	      "vectors, too. gone: only osnoise\n"
	      "saw it; new: only culprit did; -: not known. osnoise has no page faults, and no "
	      "functions\n",
	      out);
	if (!b->theirs_told)
		fputs("the saved output does not tell what interrupted: no sources are compared\n",
		      out);
	else if (!b->theirs_detailed)
		fputs("the saved output has counters only: sources have no names, and no times of "
		      "their own\n",
		      out);
	return ferror(out) ? -EIO : 0;
}

static void u64_or_null(struct json *j, const char *key, uint64_t value, bool known)
{
	if (known)
		json_u64(j, key, value);
	else
		json_null(j, key);
}

static void write_share(struct json *j, const char *key, const struct rates_share *s,
			uint64_t observed_ns)
{
	json_object_flat(j, key);
	u64_or_null(j, "count", s->count, !s->no_count);
	u64_or_null(j, "total_ns", s->ns, !s->no_ns);
	json_double(j, "per_second",
		    s->no_count || !observed_ns ? NAN : rate(s->count, observed_ns), 3);
	json_double(j, "ns_per_second", s->no_ns || !observed_ns ? NAN : rate(s->ns, observed_ns),
		    1);
	json_end(j);
}

int render_osnoise_rates_json(const struct osnoise_rates *b, const char *theirs, const char *ours,
			      FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.beside/1");
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "osnoise", theirs);
	json_string(&j, "culprit", ours);
	json_u64(&j, "osnoise_observed_ns", b->theirs_ns);
	json_u64(&j, "culprit_observed_ns", b->ours_ns);
	json_bool(&j, "osnoise_has_names", b->theirs_detailed);
	json_object(&j, "gaps");
	write_share(&j, "osnoise", &b->theirs, b->theirs_ns);
	write_share(&j, "culprit", &b->ours, b->ours_ns);
	json_end(&j);
	json_array(&j, "sources");
	for (uint32_t i = 0; i < b->count; i++) {
		json_object(&j, NULL);
		json_string(&j, "kind", source_kind_name(b->row[i].kind));
		json_string(&j, "name", b->row[i].name);
		write_share(&j, "osnoise", &b->row[i].theirs, b->theirs_ns);
		write_share(&j, "culprit", &b->row[i].ours, b->ours_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
