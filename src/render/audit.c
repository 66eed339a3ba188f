/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit for people. At 80 columns:
 *
 *   culprit 0.1 audit · linux 6.12.1 · Intel Xeon Gold 6338 · cpu 3 · housekeeping 0-2
 *   1 FAIL · 2 WARN · 4 INFO · 51 ok · 3 not known
 *
 *   FAIL  cpu 3 is not nohz_full: the tick interrupts it 250 times a second  [T01]
 *           found nohz_full: none; good nohz_full: 3
 *           boot with nohz_full=3 in place of nohz_full=2
 *   ...
 *   kernel command line: isolcpus=managed_irq,domain,3 nohz_full=3
 *   ok: boot_cpu, ...
 *   not known: irq_managed (debugfs is not mounted at /sys/kernel/debug), ...
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "render/audit.h"
#include "render/text.h"

#define LEAD        "        "
#define FIX_MAX     240 /* bytes of a command shown in text */
#define ALIKE_SHOWN 10  /* findings of one check and level */
#define TEXT_MAX    4096
#define WANTED      "if wanted (see what each costs), boot with "

static void paragraph(const struct page *p, const char *start, const char *text, const char *more)
{
	char safe[TEXT_MAX];
	struct flow f;

	flow_start(&f, p->out, p->width, start, " ", LEAD);
	flow_advice(&f, escape_text(text, SIZE_MAX, safe, sizeof(safe)));
	if (more)
		flow_add(&f, "%s", more);
	flow_end(&f);
}

static const char *list_of(const struct cpus *set, char *buf, size_t len)
{
	return cpus_empty(set) ? "none" : cpus_format(set, buf, len);
}

static void write_head(const struct page *p)
{
	const struct view *v = p->view;
	char text[512];
	struct flow f;
	uint32_t unknown = 0;

	text_head(p, &f, "culprit " CULPRIT_VERSION " audit");
	flow_add(&f, "cpu %s", list_of(&v->run.cpus, text, sizeof(text)));
	flow_add(&f, "housekeeping %s", list_of(&v->run.housekeeping, text, sizeof(text)));
	flow_end(&f);
	for (int level = FINDING_FAIL; level >= FINDING_INFO; level--)
		fprintf(p->out, "%u %s · ", findings_count(&v->findings, level),
			finding_level_name(level));
	for (uint32_t i = 0; i < v->findings.count; i++)
		unknown += !v->findings.row[i].known;
	fprintf(p->out, "%u ok · %u not known\n", findings_count(&v->findings, FINDING_OK),
		unknown);
}

/* Half a command must not be pasted: a long one stands elsewhere. */
static void write_fix(const struct page *p, const struct finding *x)
{
	const char *start = x->fix_kind == FIX_BOOT ? LEAD "boot with " : LEAD;
	char cut[FIX_MAX + 40], buf[FINDING_FIX];
	const char *fix = finding_fix(x, buf, sizeof(buf));

	if (!fix)
		return;
	if (x->fix_kind == FIX_COMMAND && strlen(fix) <= FIX_MAX) {
		text_command(p, LEAD, fix, LEAD);
		return;
	}
	snprintf(cut, sizeof(cut), "%.*s ... (all of it: --script)", FIX_MAX, fix);
	paragraph(p, start,
		  x->fix_kind == FIX_COMMAND ? finding_elsewhere(x)
		  : strlen(fix) > FIX_MAX    ? cut
					     : fix,
		  NULL);
}

/* The parameters of warnings and failures, or of notes, and what they replace. Returns buf; NULL:
 * none. */
static const char *together(const struct view *v, bool needed, char buf[FINDING_FIX])
{
	struct finding all = {.fix = needed ? findings_boot(&v->findings, FINDING_WARN)
					    : findings_boot_wanted(&v->findings)};
	const char *text;

	if (all.fix)
		boot_replaced(&v->facts, all.fix, &all.replaced);
	text = finding_fix(&all, buf, FINDING_FIX);
	if (text && text != buf)
		snprintf(buf, FINDING_FIX, "%s", text);
	free(all.fix);
	free(all.replaced);
	return text ? buf : NULL;
}

/* Writes it on one line if it fits. */
static void write_state(const struct page *p, const struct finding *x)
{
	char is[TEXT_MAX], should[TEXT_MAX];
	bool both = x->value && x->good;

	escape_text(x->value ? x->value : "", SIZE_MAX, is, sizeof(is));
	escape_text(x->good ? x->good : "", SIZE_MAX, should, sizeof(should));
	if (both &&
	    text_columns(LEAD "found:  · good: ") + text_columns(is) + text_columns(should) <=
		    p->width) {
		fprintf(p->out, LEAD "found: %s · good: %s\n", is, should);
		return;
	}
	if (x->value)
		paragraph(p, LEAD "found: ", x->value, NULL);
	if (x->good)
		paragraph(p, LEAD "good: ", x->good, NULL);
}

static void write_finding(const struct page *p, const struct finding *x)
{
	char start[16], cause[16], title[FINDING_TITLE], safe[TEXT_MAX];
	struct flow f;

	snprintf(start, sizeof(start), "%-4s  ", finding_level_name(x->level));
	fputs(text_style(p, x->level >= FINDING_WARN ? BOLD : DIM), p->out);
	fputs(start, p->out);
	fputs(text_plain(p), p->out);
	flow_start(&f, p->out, p->width, "", " ", "      ");
	f.column = strlen(start);
	flow_words(&f, escape_text(finding_title(x, title, sizeof(title)), SIZE_MAX, safe,
				   sizeof(safe)));
	snprintf(cause, sizeof(cause), "[%s]", x->cause ? x->cause : "");
	if (x->cause)
		flow_add(&f, "%s", cause);
	flow_end(&f);
	write_state(p, x);
	write_fix(p, x);
}

static void start_flow(struct flow *f, const struct page *p, const char *start)
{
	flow_start(f, p->out, p->width, start, " ", "  ");
	f->some = true;
}

/* Writes one paragraph of all findings that need only their names. */
static void write_rest(const struct page *p, const char *start, bool known, bool absent)
{
	char safe[512], held[600] = "";
	struct flow f;

	for (uint32_t i = 0; i < p->view->findings.count; i++) {
		const struct finding *x = &p->view->findings.row[i];
		bool is_absent = x->value && !strcmp(x->value, "absent");

		if (x->known != known || (known && (x->level != FINDING_OK || is_absent != absent)))
			continue;
		if (!held[0])
			start_flow(&f, p, start);
		else
			flow_add(&f, "%s,", held);
		snprintf(held, sizeof(held), "%s", x->id);
		if (!known)
			snprintf(held, sizeof(held), "%s (%s)", x->id,
				 escape_text(x->value ? x->value : "?", SIZE_MAX, safe,
					     sizeof(safe)));
	}
	if (!held[0])
		return;
	flow_add(&f, "%s", held);
	flow_end(&f);
}

static int write_text(const struct view *v, const struct render_options *options, FILE *out)
{
	struct page p = {
		out,         v, options->colour, false, options->width ? options->width : 100,
		SERIES_SHORT};
	uint32_t *order = calloc(v->findings.count + 1, sizeof(*order));
	char boot[FINDING_FIX];
	const char *id = "";
	int level = -1, alike = 0;

	if (!order)
		return -ENOMEM;
	write_head(&p);
	findings_order(&v->findings, order);
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *x = &v->findings.row[order[i]];

		if (x->level == FINDING_OK || !x->known)
			continue;
		alike = (int)x->level == level && !strcmp(x->id, id) ? alike + 1 : 0;
		if (alike == ALIKE_SHOWN)
			fprintf(out, "      and more of this kind: see -f json\n");
		if (alike >= ALIKE_SHOWN)
			continue;
		if ((int)x->level != level)
			fputc('\n', out);
		level = x->level;
		id = x->id;
		write_finding(&p, x);
	}
	for (int wanted = 0; wanted < 2; wanted++)
		if (together(v, !wanted, boot))
			paragraph(&p,
				  wanted ? "\n" WANTED : "\nall boot parameters together: ", boot,
				  NULL);
	fputc('\n', out);
	write_rest(&p, "ok:", true, false);
	write_rest(&p, "not in this kernel, or not here:", true, true);
	write_rest(&p, "not known:", false, false);
	fprintf(out, "\n[T01]: culprit explain T01 · fixes as a script: culprit audit --script\n");
	free(order);
	return ferror(out) ? -EIO : 0;
}

/* ---- JSON ---- */

static void write_cost(struct json *j, const struct finding *x, uint64_t ns)
{
	x->costed ? json_u64(j, "cost_ns", ns) : json_null(j, "cost_ns");
}

static void write_list(struct json *j, const struct finding *x)
{
	char list[CPUS_LIST];

	json_array(j, "list");
	for (uint32_t i = 0; i < x->list.count; i++) {
		const struct finding_item *one = &x->list.row[i];

		json_object_flat(j, NULL);
		json_string(j, "name", one->name);
		json_string(j, "cpus",
			    cpus_empty(&one->cpus) ? NULL
						   : cpus_format(&one->cpus, list, sizeof(list)));
		if (x->kind == SOURCE_IRQ) {
			json_u64(j, "irq", one->number);
			json_u64(j, "count", one->count);
		} else {
			json_null(j, "irq");
			json_null(j, "count");
		}
		write_cost(j, x, one->cost_ns);
		json_end(j);
	}
	json_end(j);
}

void render_findings(struct json *j, const char *key, const struct findings *findings)
{
	static const char *const kinds[] = {"words", "command", "boot"};
	char list[CPUS_LIST], title[FINDING_TITLE];

	json_array(j, key);
	for (uint32_t i = 0; i < findings->count; i++) {
		const struct finding *x = &findings->row[i];

		json_object(j, NULL);
		json_string(j, "id", x->id);
		json_string(j, "level", finding_level_name(x->level));
		json_bool(j, "known", x->known);
		if (cpus_count(&x->cpus) == 1)
			json_u64(j, "cpu", cpus_next(&x->cpus, 0));
		else
			json_null(j, "cpu");
		json_string(j, "cpus",
			    cpus_empty(&x->cpus) ? NULL
						 : cpus_format(&x->cpus, list, sizeof(list)));
		json_string(j, "title", finding_title(x, title, sizeof(title)));
		json_string(j, "value", x->value);
		json_string(j, "good", x->good);
		if (x->fix_kind != FIX_WORDS)
			json_command(j, "fix", x->fix);
		else
			json_string(j, "fix", x->fix);
		json_string(j, "fix_kind", x->fix ? kinds[x->fix_kind] : NULL);
		json_command(j, "undo", x->undo);
		json_string(j, "cause", x->cause);
		write_cost(j, x, x->cost_ns);
		write_list(j, x);
		json_end(j);
	}
	json_end(j);
}

static int write_json(const struct view *v, const struct render_options *options, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN);
	char *wanted = findings_boot_wanted(&v->findings), list[CPUS_LIST];
	struct json j;

	(void)options;
	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", AUDIT_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "kernel", v->host.kernel);
	json_string(&j, "cpus", cpus_format(&v->run.cpus, list, sizeof(list)));
	json_string(&j, "housekeeping", cpus_format(&v->run.housekeeping, list, sizeof(list)));
	json_object_flat(&j, "counts");
	for (int level = FINDING_FAIL; level >= FINDING_OK; level--)
		json_u64(&j, finding_level_name(level), findings_count(&v->findings, level));
	json_end(&j);
	json_string(&j, "boot", boot);
	json_string(&j, "boot_if_wanted", wanted);
	render_findings(&j, "findings", &v->findings);
	json_end(&j);
	free(boot);
	free(wanted);
	return ferror(out) ? -EIO : 0;
}

const struct audit_format audit_formats[] = {
	{{"text", "for people"}, write_text},
	{{"json", "for scripts: schema " AUDIT_SCHEMA}, write_json},
	{{"markdown", "for tickets"}, render_audit_markdown},
	{{"sarif", "SARIF 2.1.0, for collectors of findings"}, render_audit_sarif},
	{{0}},
};

/* ---- the script ---- */

static void comment(FILE *out, const char *start, const char *text)
{
	char safe[TEXT_MAX];

	if (text)
		fprintf(out, "# %s%s\n", start, escape_text(text, SIZE_MAX, safe, sizeof(safe)));
}

/* A command holds no control characters (shell_quote refuses them), so it cannot leave its line. */
static bool one_line(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

static void script_row(FILE *out, const struct finding *x)
{
	char title[FINDING_TITLE], fix[FINDING_FIX];

	fprintf(out, "\n");
	fprintf(out, "# %s %s\n", finding_level_name(x->level), x->id);
	comment(out, "  ", finding_title(x, title, sizeof(title)));
	comment(out, "  found: ", x->value);
	comment(out, "  good: ", x->good);
	if (x->fix_kind != FIX_COMMAND || !one_line(x->fix)) {
		comment(out, x->fix_kind == FIX_BOOT ? "  boot with: " : "  by hand: ",
			finding_fix(x, fix, sizeof(fix)));
		return;
	}
	fprintf(out, x->level == FINDING_INFO ? "# if wanted: %s\n" : "%s\n", x->fix);
	if (x->undo && one_line(x->undo))
		fprintf(out, "# undo: %s\n", x->undo);
}

int render_audit_script(const struct view *v, const struct render_options *options, FILE *out)
{
	uint32_t *order = calloc(v->findings.count + 1, sizeof(*order));
	char boot[FINDING_FIX], kernel[512], cpus[CPUS_LIST], keep[CPUS_LIST];

	(void)options;
	if (!order)
		return -ENOMEM;
	findings_order(&v->findings, order);
	fprintf(out,
		"#!/bin/sh\n# culprit " CULPRIT_VERSION
		" audit, linux %s: cpu %s quiet, housekeeping on %s.\n"
		"# Read this before you run it, as root. It lasts until the next boot; each undo "
		"line takes back the line above it.\n",
		escape_text(v->host.kernel, sizeof(v->host.kernel), kernel, sizeof(kernel)),
		list_of(&v->run.cpus, cpus, sizeof(cpus)),
		list_of(&v->run.housekeeping, keep, sizeof(keep)));
	if (together(v, true, boot)) {
		fprintf(out, "# These need the kernel's command line (/etc/default/grub, then "
			     "update-grub, and a boot):\n");
		comment(out, "  ", boot);
	}
	comment(out, WANTED, together(v, false, boot));
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *x = &v->findings.row[order[i]];

		if (x->level > FINDING_OK && x->known && x->fix)
			script_row(out, x);
	}
	free(order);
	return ferror(out) ? -EIO : 0;
}
