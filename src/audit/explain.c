/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One entry as text:
 *
 *   K01  vmstat_update folds per-CPU memory counters
 *     what     The kernel adds up ...
 *     fix      ...
 *     do       sysctl vm.stat_interval=120
 *     found by function vmstat_update, thread ...
 *
 * In text a command stays on one line where the line can hold it, and reads the same where not. */
#include "audit/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "model/nohz_tick.h"

#define LEAD "             "

struct field {
	const char *name; /* key in JSON */
	const char *label;
	char *text;   /* owned; NULL: none */
	bool command; /* the whole text is a command */
};

#define FIELDS 16
#define LEGEND 512

/* The texts of an entry as printed; release them with free_fields. */
struct fields {
	struct field row[FIELDS];
	char note[2 * MEANING_NOTE], legend[LEGEND];
};

static void free_fields(struct fields *f)
{
	for (int i = 0; i < FIELDS; i++)
		free(f->row[i].text);
}

/* Says in what way `make prove` did it: tests/proofs/recipes.py. */
static void proof_text(const struct cause *c, char *text, size_t size)
{
	static const struct {
		const char *ended, *back;
	} ways[] = {
		[PROOF_COMMAND] = {"with the command, as printed,", "with its undo it was back"},
		[PROOF_BOOTED] = {"booted so,", "without, it was there"},
		[PROOF_STOPPED] = {"one thing that makes the noise was made; when that was ended,",
				   "it came back with it"},
		[PROOF_MOVED] = {"one thing that makes the noise was made; when that was moved to "
				 "another CPU,",
				 "it came back with it"},
		[PROOF_ADVISED] = {"when what is advised was done,",
				   "when that was taken back, it was there again"},
	};
	char left[48] = "";

	if (c->proof_left)
		snprintf(left, sizeof(left), " but for at most %u %%", c->proof_left);
	snprintf(text, size, "on Debian's %s, in a guest: %s the noise was gone%s; %s%s", c->proven,
		 ways[c->proof].ended, left, ways[c->proof].back, c->lacking ? c->lacking : "");
}

/* Fills the fields in; a placeholder without a value becomes a word in capitals, which the last row
 * explains. 0 or -ENOMEM. */
static int fields_of(const struct explained *x, const struct explain_options *o, struct fields *f)
{
	const struct cause *c = x->cause;
	const char *here = cause_on(c, o->arch);
	char proven[1024] = "";
	unsigned missing = 0;
	const struct {
		const char *name, *label, *text;
		bool command;
	} fields[FIELDS - 1] = {
		{"asked", "asked",
		 x->note[0] ? escape_text(x->note, SIZE_MAX, f->note, sizeof(f->note)) : NULL,
		 false},
		{"what", "what", c->what, false},
		{"why", "why", c->why, false},
		{"confirm", "confirm", c->confirm, false},
		{"fix", "fix", c->fix, false},
		{"x86", "on x86", here == c->x86 ? here : NULL, false},
		{"arm64", "on arm64", here == c->arm64 ? here : NULL, false},
		{"save", "save first", c->save, true},
		{"advice", "in short", c->advice, true},
		{"undo", "undo", c->undo, true},
		{"cost", "cost", c->cost, false},
		{"since", "kernels", c->since, false},
		{"proven", "proven", c->proven ? proven : NULL, false},
		{"unproven", "not proven", c->unproven ? proven : NULL, false},
		{"source", "source", c->source, false},
	};

	if (c->proven)
		proof_text(c, proven, sizeof(proven));
	else if (c->unproven)
		snprintf(proven, sizeof(proven), "in the lab: %s", c->unproven);
	f->legend[0] = 0;
	for (char *at = f->note; x->note[0] && *at; at++)
		*at = *at == '`' ? '\'' : *at; /* a backquote marks commands */
	for (int i = 0; i < FIELDS - 1; i++) {
		const char *text = fields[i].text;

		f->row[i] =
			(struct field){fields[i].name, fields[i].label, NULL, fields[i].command};
		if (!text)
			continue;
		if (!i)
			f->row[i].text = strdup(text);
		else
			f->row[i].text = placeholders_fill(text, &o->fill);
		missing |= i ? placeholders_missing(text, &o->fill) : 0;
		if (!f->row[i].text) {
			free_fields(f);
			return -ENOMEM;
		}
	}
	f->row[FIELDS - 1] = (struct field){
		"words", "words",
		missing ? strdup(placeholders_legend(missing, f->legend, LEGEND)) : NULL, false};
	return 0;
}

/* A report's word for a row of the match table: "softirq TIMER"; "" where it has none. */
static const char *match_label(const struct cause_match *m, char *buf, size_t len)
{
	static const char *const labels[][2] = {{"comm", "thread"},
						{"irqrow", "/proc/interrupts"},
						{"irq", "interrupt"},
						{"nmi", "NMI handler"}};
	const char *label = "function";
	uint32_t number = strtoul(m->pattern, NULL, 10);

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(m->kind, labels[i][0]))
			label = labels[i][1];
	if (!strcmp(m->kind, "softirq"))
		snprintf(buf, len, "softirq %s", softirq_name(number));
	else if (!strcmp(m->kind, "tlbreason"))
		snprintf(buf, len, "TLB flush '%s'", word_text(word_of_tlb(number)));
	else if (!strcmp(m->kind, "tickdep"))
		snprintf(buf, len, "tick kept by %s", nohz_dependency_name(number));
	else if (strcmp(m->kind, "outside") && strcmp(m->kind, "family") &&
		 strcmp(m->kind, "word") && strcmp(m->pattern, "*"))
		snprintf(buf, len, "%s %s", label, m->pattern);
	return buf;
}

/* ---- text ---- */

static void write_field(const struct explain_options *o, const struct field *field, FILE *out)
{
	char start[32];
	struct flow f;

	snprintf(start, sizeof(start), "  %-*s", (int)strlen(LEAD) - 2, field->label);
	flow_start(&f, out, o->width, start, " ", LEAD);
	if (!field->command)
		flow_marked(&f, field->text);
	else if (strcmp(field->name, "advice") != 0)
		flow_command(&f, field->text);
	else
		flow_advice(&f, field->text);
	flow_end(&f);
}

static void write_title(const struct cause *c, const struct explain_options *o, FILE *out)
{
	char start[16];
	struct flow f;

	snprintf(start, sizeof(start), "%s%s  ", o->whole ? "" : "  ", c->id);
	fputs(o->colour ? "\033[1m" : "", out);
	flow_start(&f, out, o->width, start, " ", o->whole ? "     " : "       ");
	if (!o->whole)
		fputs(o->colour ? "\033[0m" : "", out);
	flow_words(&f, c->title);
	fputs(o->colour && o->whole ? "\033[0m" : "", out);
	flow_end(&f);
}

static void write_matches(const struct cause *c, const struct explain_options *o, FILE *out)
{
	char label[128];
	bool some = false;
	struct flow f;

	for (const struct cause_match *m = cause_matches; m->kind; m++) {
		if (m->cause != c || !match_label(m, label, sizeof(label))[0])
			continue;
		if (!some)
			flow_start(&f, out, o->width, "  found by   ", ", ", LEAD);
		some = true;
		flow_add(&f, "%s", label);
	}
	if (some)
		flow_end(&f);
}

static int write_text(const struct explained *x, const struct explain_options *o, FILE *out)
{
	struct fields f;

	write_title(x->cause, o, out);
	if (!o->whole)
		return 0;
	if (fields_of(x, o, &f))
		return -ENOMEM;
	for (int i = 0; i < FIELDS; i++)
		if (f.row[i].text)
			write_field(o, &f.row[i], out);
	free_fields(&f);
	write_matches(x->cause, o, out);
	return 0;
}

/* ---- Markdown ---- */

/* Writes plain text between commands in backquotes: inside them stars and underscores mean
 * themselves. */
static void write_prose(const char *text, FILE *out)
{
	for (bool code = false; *text; text++) {
		code ^= *text == '`';
		if (!code && strchr("\\*_<>[]#|~$", *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void write_command(const char *text, FILE *out)
{
	const char *fence = strchr(text, '`') ? "``" : "`";

	fprintf(out, "%s%s%s", fence, text, fence);
}

static int write_markdown(const struct explained *x, const struct explain_options *o, FILE *out)
{
	const struct cause *c = x->cause;
	struct fields f;

	fprintf(out, o->whole ? "### %s " : "* **%s** ", c->id);
	write_prose(c->title, out);
	fputs(o->whole ? "\n\n" : "\n", out);
	if (!o->whole)
		return 0;
	if (fields_of(x, o, &f))
		return -ENOMEM;
	for (int i = 0; i < FIELDS; i++) {
		if (!f.row[i].text)
			continue;
		fprintf(out, "* **%c%s:** ", f.row[i].label[0] - 'a' + 'A', f.row[i].label + 1);
		(f.row[i].command ? write_command : write_prose)(f.row[i].text, out);
		fputc('\n', out);
	}
	free_fields(&f);
	fputc('\n', out);
	return 0;
}

/* ---- JSON ---- */

static int write_json(const struct explained *x, const struct explain_options *o, struct json *j)
{
	const struct cause *c = x->cause;
	struct fields f;

	if (fields_of(x, o, &f))
		return -ENOMEM;

	json_object(j, NULL);
	json_string(j, "id", c->id);
	json_string(j, "group", c->group);
	json_string(j, "title", c->title);
	json_bool(j, "family", cause_is_family(c));
	for (int i = 0; i < FIELDS; i++)
		json_string(j, f.row[i].name,
			    /* the JSON writer escapes */
			    i || !f.row[i].text ? f.row[i].text : x->note);
	free_fields(&f);
	json_array(j, "matches");
	for (const struct cause_match *m = cause_matches; m->kind; m++) {
		if (m->cause != c)
			continue;
		json_object_flat(j, NULL);
		json_string(j, "kind", m->kind);
		json_string(j, "pattern", m->pattern);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	return 0;
}

static int explain_json(const struct explained *some, uint32_t n, const struct explain_options *o,
			FILE *out)
{
	struct json j;
	int err = 0;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", CAUSES_SCHEMA);
	json_array(&j, "causes");
	for (uint32_t i = 0; i < n; i++)
		err |= write_json(&some[i], o, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

int explain(const struct explained *some, uint32_t n, const struct explain_options *o, FILE *out)
{
	bool markdown = o->format == EXPLAIN_MARKDOWN;
	const char *group = "";
	int err = 0;

	if (o->format == EXPLAIN_JSON)
		err = explain_json(some, n, o, out);
	for (uint32_t i = 0; o->format != EXPLAIN_JSON && i < n && !err; i++) {
		if (strcmp(group, some[i].cause->group) && (markdown || !o->whole)) {
			fprintf(out, markdown ? "%s## %s\n\n" : "%s%s\n", i ? "\n" : "",
				some[i].cause->group);
			group = some[i].cause->group;
		} else if (i && !markdown && o->whole) {
			fputc('\n', out);
		}
		err = (markdown ? write_markdown : write_text)(&some[i], o, out);
	}
	return err ? err : fflush(out) || ferror(out) ? -EIO : 0;
}
