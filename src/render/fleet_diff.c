/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two groups of hosts:
 *
 *   culprit 0.1 · two groups of hosts
 *     A: 120 recordings of 117 hosts
 *     B: 117 recordings of 117 hosts
 *   117 hosts are in both groups, and each is compared with itself
 *
 *   lost each second of a CPU, mean of the hosts
 *                 A       B  ratio   chance  verdict
 *     all   58.8 us 71.0 us   1.21  <0.0001  worse
 *
 *   changed: 2 of 84 sources
 *     verdict  A        B  ratio   hosts      FDR  kind    cause  who
 *     new      0  9.90 us    inf  0, 104  <0.0001  vector  K01    local_timer > fn
 */
#include "render/fleet_diff.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "base/markdown.h"
#include "base/units.h"
#include "render/diff_page.h"
#include "render/fleet.h"

#define GROUPS_SCHEMA "culprit.groups/1"
#define CHANGED_SHOWN 24

/* Time in a second. */
static const char *share_text(double share, char buf[32])
{
	return share > 0 ? format_mean_ns(share * 1e9, buf, 32) : "0";
}

static double change_ratio(const struct fleet_change *c)
{
	return c->share[0] > 0 ? c->share[1] / c->share[0] : c->share[1] > 0 ? INFINITY : NAN;
}

static const char *chance_text(double p, char buf[32])
{
	snprintf(buf, 32, p < 0.0001 ? "<0.0001" : "%.4f", p);
	return buf;
}

/* ---- for people ---- */

static void write_group(const struct page *p, const struct fleet_diff *d, int g)
{
	char a[32], b[32];

	fprintf(p->out, "%s%s: %s recording%s of %s host%s\n", p->markdown ? "- " : "  ",
		diff_letter((uint32_t)g), format_count(d->recordings[g], a, sizeof(a)),
		plural(d->recordings[g]), format_count(d->hosts[g], b, sizeof(b)),
		plural(d->hosts[g]));
}

static void write_left_out(const struct page *p, const struct fleet_diff *d, uint32_t unread)
{
	char a[32];
	const char *line = p->markdown ? "\n" : "";

	if (d->alone)
		fprintf(p->out, "%sleft out: %s host%s in one group alone\n", line,
			format_count(d->alone, a, sizeof(a)), plural(d->alone));
	if (d->unknown)
		fprintf(p->out, "%sleft out: %s host%s whose loss is not known\n", line,
			format_count(d->unknown, a, sizeof(a)), plural(d->unknown));
	if (unread)
		fprintf(p->out, "%sleft out: %s recording%s, as said\n", line,
			format_count(unread, a, sizeof(a)), plural(unread));
}

static void write_common(const struct page *p, const struct fleet_diff *d, const char *what,
			 const struct fleet_common *c, const char *then)
{
	struct flow f;

	if (!c->differs)
		return;
	host_line(&f, p->out, p->width, p->markdown);
	flow_words(&f, what);
	for (int g = 0; g < 2; g++) {
		char text[TEXT_LEN], span[TEXT_LEN + 32], a[32];
		bool others = c->recordings[g] < d->recordings[g];
		const char *end = g ? then : ";";

		escape_text(c->most[g], SIZE_MAX, text, sizeof(text));
		flow_add(&f, "%s:", diff_letter((uint32_t)g));
		flow_add(&f, "%s%.*s",
			 !c->most[g][0] ? "none"
			 : p->markdown  ? markdown_code(text, span, sizeof(span))
					: text,
			 others ? 0 : (int)strcspn(end, " "), end);
		if (others) {
			snprintf(text, sizeof(text), "(%s recording%s, others differ)%.*s",
				 format_count(c->recordings[g], a, sizeof(a)),
				 plural(c->recordings[g]), (int)strcspn(end, " "), end);
			flow_words(&f, text);
		}
	}
	flow_words(&f, then + strcspn(then, " "));
	flow_end(&f);
}

/* Writes how many each group lost, of its `whole` unless that is NULL; nothing where none did. */
static void write_lack(const struct page *p, const char *what, const uint64_t lost[2],
		       const uint64_t *whole, const char *then)
{
	struct flow f;

	if (!lost[0] && !lost[1])
		return;
	host_line(&f, p->out, p->width, p->markdown);
	flow_words(&f, what);
	for (int g = 0; g < 2; g++) {
		char a[32], b[32], text[128];

		snprintf(text, sizeof(text), "%s: %s%s%s%.*s", diff_letter((uint32_t)g),
			 format_count(lost[g], a, sizeof(a)), whole ? " of " : "",
			 whole ? format_count(whole[g], b, sizeof(b)) : "",
			 g ? (int)strcspn(then, " ") : 1, g ? then : ";");
		flow_words(&f, text);
	}
	flow_words(&f, then + strcspn(then, " "));
	flow_end(&f);
}

static void write_losses(const struct page *p, const struct fleet_diff *d)
{
	const struct fleet_losses *a = &d->losses[0], *b = &d->losses[1];

	write_lack(
		p, "records lost:", (uint64_t[]){a->records_lost, b->records_lost},
		(uint64_t[]){a->records_seen + a->records_lost, b->records_seen + b->records_lost},
		"; of what they would name the group that lost them shows less, or none");
	write_lack(p, "hiccups lost:", (uint64_t[]){a->hiccups_lost, b->hiccups_lost}, NULL,
		   "; what they were lost to is not known");
	write_lack(p, "incomplete recordings:", (uint64_t[]){a->incomplete, b->incomplete},
		   (uint64_t[]){d->recordings[0], d->recordings[1]}, "");
}

static void write_head(const struct page *p, const struct fleet_diff *d, uint32_t unread)
{
	char a[32];

	fprintf(p->out, "%s · two groups of hosts\n%s",
		p->markdown ? "# culprit" : "culprit " CULPRIT_VERSION, p->markdown ? "\n" : "");
	write_group(p, d, 0);
	write_group(p, d, 1);
	fputs(p->markdown ? "\n" : "", p->out);
	if (d->pairs)
		fprintf(p->out, "%s hosts are in both groups, and each is compared with itself\n",
			format_count(d->hosts[0], a, sizeof(a)));
	else
		fputs("no host is in both groups: different hosts are compared\n", p->out);
	write_left_out(p, d, unread);
	write_common(p, d, "kernel:", &d->kernel, "");
	write_common(p, d, "not observed:", &d->blind,
		     "; what only the others can name seems new or gone");
	write_losses(p, d);
}

static void change_cells(struct table *t, const struct fleet_change *c)
{
	char a[32];

	table_cell(t, NULL, share_text(c->share[0], a));
	table_cell(t, NULL, share_text(c->share[1], a));
	table_cell(t, NULL, render_diff_number(change_ratio(c), a, sizeof(a)));
}

static void change_columns(struct table *t)
{
	table_column(t, "A", ALIGN_RIGHT, false);
	table_column(t, "B", ALIGN_RIGHT, false);
	table_column(t, "ratio", ALIGN_RIGHT, false);
}

static void write_total(const struct page *p, const struct fleet_diff *d)
{
	struct table *t = table_new(p->width, 2);
	char a[32];

	if (!t)
		return;
	diff_heading(p, d->threads ? "lost each second of a thread, mean of the hosts"
				   : "lost each second of a CPU, mean of the hosts");
	change_columns(t);
	table_column(t, "chance", ALIGN_RIGHT, false);
	table_column(t, "verdict", ALIGN_LEFT, false);
	change_cells(t, &d->total);
	table_cell(t, NULL, d->total.tested ? chance_text(d->total.p, a) : "-");
	if (d->total.tested)
		diff_verdict_cell(t, d->total.verdict);
	else
		table_cell(t, NULL, "not tested");
	table_end_row(t);
	diff_print(p, t);
}

/* True where there is room for them beside names. */
static bool has_kinds(const struct page *p)
{
	return p->markdown || p->width >= 100;
}

static void source_row(const struct page *p, struct table *t, const struct fleet_change *c)
{
	char a[32];

	diff_verdict_cell(t, c->verdict);
	change_cells(t, c);
	table_cellf(t, NULL, "%s, %s", format_count(c->hosts[0], a, sizeof(a)),
		    format_count(c->hosts[1], a + 16, sizeof(a) - 16));
	table_cell(t, NULL, chance_text(c->q, a));
	if (has_kinds(p))
		table_cell(t, NULL, source_kind_name(c->source->kind));
	table_cell(t, NULL, c->source->cause ? c->source->cause : "");
	host_name_cell(t, c->source->name, p->markdown);
	table_end_row(t);
}

static void write_sources(const struct page *p, const struct fleet_diff *d)
{
	struct table *t = table_new(p->width, 2);
	char heading[96], a[32];

	if (!t)
		return;
	snprintf(heading, sizeof(heading), "changed: %" PRIu32 " of %" PRIu32 " sources",
		 d->changed, d->nchanges - d->others);
	diff_heading(p, heading);
	table_column(t, "verdict", ALIGN_LEFT, false);
	change_columns(t);
	table_column(t, "hosts", ALIGN_RIGHT, false);
	table_column(t, "FDR", ALIGN_RIGHT, false);
	if (has_kinds(p))
		table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "cause", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < d->changed && i < CHANGED_SHOWN; i++)
		source_row(p, t, &d->change[i]);
	if (d->changed)
		diff_print(p, t);
	else
		table_free(t);
	if (d->changed > CHANGED_SHOWN)
		fprintf(p->out, "%sand %s more\n", p->markdown ? "\n" : "  ",
			format_count(d->changed - CHANGED_SHOWN, a, sizeof(a)));
}

static void write_meaning(const struct page *p, const struct fleet_diff *d)
{
	uint32_t same = d->tested - d->changed, rare = d->nchanges - d->tested - d->others;
	char a[32], text[TEXT_LEN];
	size_t n = 0;

	text[0] = '\0';
	if (d->changed)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "FDR: so large a share of the sources with this rate or a "
				      "lower one is here by chance, on the average; none is listed "
				      "with more than %g. ",
				      FLEET_DISCOVERY);
	if (same)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s source%s may differ by chance. ",
				      format_count(same, a, sizeof(a)), plural(same));
	if (rare)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s source%s %son fewer than %d hosts: not tested. ",
				      format_count(rare, a, sizeof(a)), plural(rare),
				      !d->pairs   ? ""
				      : rare == 1 ? "that differs "
						  : "that differ ",
				      FLEET_LEAST_HOSTS);
	if (d->others)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "Names were left out: there were too many, and the time of "
				      "the rest, as " OTHERS_NAME ", is not tested. ");
	if (d->least * (d->tested ? d->tested : 1) > FLEET_DISCOVERY)
		snprintf(text + n, sizeof(text) - n,
			 "The groups are too small: if one source alone had changed, it could not "
			 "be told from chance.");
	for (n = strlen(text); n && text[n - 1] == ' '; n--)
		text[n - 1] = '\0';
	putc('\n', p->out);
	diff_sentence(p, text);
}

/* ---- for programs ---- */

static void json_change(struct json *j, const char *key, const struct fleet_change *c)
{
	json_object(j, key);
	if (c->source) {
		json_string(j, "kind", source_kind_name(c->source->kind));
		json_command(j, "name", c->source->name); /* escaped already */
		json_string(j, "cause", c->source->cause);
	}
	json_string(j, "verdict", diff_verdict_name(c->verdict));
	json_array_flat(j, "ns_per_s");
	json_double(j, NULL, 1e9 * c->share[0], 3);
	json_double(j, NULL, 1e9 * c->share[1], 3);
	json_end(j);
	json_double(j, "ratio", change_ratio(c), 6);
	json_array_flat(j, "hosts");
	json_u64(j, NULL, c->hosts[0]);
	json_u64(j, NULL, c->hosts[1]);
	json_end(j);
	json_bool(j, "tested", c->tested);
	json_double(j, "chance", c->p, 9);
	if (c->source)
		json_double(j, "fdr", c->q, 9);
	json_end(j);
}

static void json_common(struct json *j, const char *key, const struct fleet_common *c, int g)
{
	json_object_flat(j, key);
	json_string(j, "most", c->most[g]);
	json_u64(j, "recordings", c->recordings[g]);
	json_end(j);
}

static int write_json(const struct fleet_diff *d, uint32_t unread, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", GROUPS_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_bool(&j, "pairs", d->pairs);
	json_array(&j, "groups");
	for (int g = 0; g < 2; g++) {
		json_object(&j, NULL);
		json_u64(&j, "recordings", d->recordings[g]);
		json_u64(&j, "hosts", d->hosts[g]);
		json_common(&j, "kernel", &d->kernel, g);
		json_common(&j, "not_observed", &d->blind, g);
		json_u64(&j, "records", d->losses[g].records_seen);
		json_u64(&j, "records_lost", d->losses[g].records_lost);
		json_u64(&j, "hiccups_lost", d->losses[g].hiccups_lost);
		json_u64(&j, "recordings_incomplete", d->losses[g].incomplete);
		json_end(&j);
	}
	json_end(&j);
	json_u64(&j, "hosts_in_one_group", d->alone);
	json_u64(&j, "hosts_unknown", d->unknown);
	json_u64(&j, "recordings_left_out", unread);
	json_double(&j, "fdr_limit", FLEET_DISCOVERY, 3);
	json_double(&j, "least_chance", d->least, 9);
	json_bool(&j, "names_left_out", d->others > 0);
	json_u64(&j, "changed", d->changed);
	json_change(&j, "total", &d->total);
	json_array(&j, "sources");
	for (uint32_t i = 0; i < d->nchanges; i++)
		json_change(&j, NULL, &d->change[i]);
	json_end(&j);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}

int render_fleet_diff(const struct fleet_diff *d, uint32_t unread, enum diff_format format,
		      const struct render_options *options, FILE *out)
{
	const struct page p = {.out = out,
			       .markdown = format == DIFF_MARKDOWN,
			       .colour = options->colour,
			       .width = options->width ? options->width : 100};

	if (format == DIFF_JSON)
		return write_json(d, unread, out);
	write_head(&p, d, unread);
	write_total(&p, d);
	write_sources(&p, d);
	write_meaning(&p, d);
	return ferror(out) ? -EIO : 0;
}
