/* One entry as text:
 *
 *   K01  vmstat_update folds per-CPU memory counters
 *     what     The kernel adds up ...
 *     fix      ...
 *     do       sysctl vm.stat_interval=120
 *     found by function vmstat_update, thread ...
 *
 * In text a command in backquotes stays on one line where the line can hold it. */
#include "audit/explain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "model/tick.h"

#define LEAD "             "
#define WORD 1024

struct field {
	const char *name; /* JSON's */
	const char *label;
	const char *text;
	bool command; /* the whole text is one */
};

#define FIELDS 9

static void fields_of(const struct cause *c, struct field f[FIELDS])
{
	const struct field fields[FIELDS] = {
		{"what", "what", c->what, false},          {"why", "why", c->why, false},
		{"confirm", "confirm", c->confirm, false}, {"fix", "fix", c->fix, false},
		{"advice", "in short", c->advice, true},   {"undo", "undo", c->undo, true},
		{"cost", "cost", c->cost, false},          {"since", "kernels", c->since, false},
		{"source", "source", c->source, false},
	};

	memcpy(f, fields, sizeof(fields));
}

/* How a report calls what a row of the match table means: "softirq TIMER"; "" where it has no name of its own. */
static const char *match_label(const struct cause_match *m, char *buf, size_t len)
{
	static const char *const labels[][2] = {
		{"comm", "thread"}, {"irqrow", "/proc/interrupts"}, {"irq", "interrupt"}, {"nmi", "NMI handler"}};
	const char *label = "function";
	uint32_t number = strtoul(m->pattern, NULL, 10);

	buf[0] = 0;
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (!strcmp(m->kind, labels[i][0]))
			label = labels[i][1];
	if (!strcmp(m->kind, "softirq"))
		snprintf(buf, len, "softirq %s", softirq_name(number));
	else if (!strcmp(m->kind, "tlbreason"))
		snprintf(buf, len, "TLB flush '%s'", tlb_reason_name(number));
	else if (!strcmp(m->kind, "tickdep"))
		snprintf(buf, len, "tick kept by %s", tick_dependency_name(number));
	else if (strcmp(m->kind, "outside") && strcmp(m->pattern, "*"))
		snprintf(buf, len, "%s %s", label, m->pattern);
	return buf;
}

/* ---- text ---- */

/* The next word of text, a whole command in backquotes for one where it is short enough. Returns how far it goes. */
static size_t next_word(const char *text, size_t columns, char word[WORD])
{
	const char *open = strchr(text, '`'), *close = open ? strchr(open + 1, '`') : NULL;
	size_t len = strcspn(text, " "), whole;

	if (close && (size_t)(open - text) < len) {
		whole = close + 1 - text;
		whole += strcspn(text + whole, " ");
		if (whole <= columns)
			len = whole;
	}
	snprintf(word, WORD, "%.*s", (int)len, text);
	return len + (text[len] == ' ');
}

static void write_field(const struct explain_options *o, const char *label, const char *text, FILE *out)
{
	char start[32], word[WORD];
	struct flow f;

	snprintf(start, sizeof(start), "  %-*s", (int)strlen(LEAD) - 2, label);
	flow_start(&f, out, o->width, start, " ", LEAD);
	while (*text) {
		text += next_word(text, o->width - strlen(LEAD), word);
		flow_add(&f, "%s", word);
	}
	flow_end(&f);
}

static void write_title(const struct cause *c, const struct explain_options *o, FILE *out)
{
	char start[16], word[WORD];
	const char *text = c->title;
	struct flow f;

	snprintf(start, sizeof(start), "%s%s  ", o->whole ? "" : "  ", c->id);
	fputs(o->colour ? "\033[1m" : "", out);
	flow_start(&f, out, o->width, start, " ", o->whole ? "     " : "       ");
	if (!o->whole)
		fputs(o->colour ? "\033[0m" : "", out);
	while (*text) {
		text += next_word(text, o->width, word);
		flow_add(&f, "%s", word);
	}
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

static int write_text(const struct cause *c, const struct explain_options *o, FILE *out)
{
	struct field f[FIELDS];

	write_title(c, o, out);
	if (!o->whole)
		return 0;
	fields_of(c, f);
	for (int i = 0; i < FIELDS; i++) {
		char *text = f[i].text ? fill_text(f[i].text, &o->fill) : NULL;

		if (f[i].text && !text)
			return -ENOMEM;
		if (text)
			write_field(o, f[i].label, text, out);
		free(text);
	}
	write_matches(c, o, out);
	return 0;
}

/* ---- Markdown ---- */

/* Plain text between commands in backquotes: there stars and underscores are what they are. */
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

static int write_markdown(const struct cause *c, const struct explain_options *o, FILE *out)
{
	struct field f[FIELDS];

	fprintf(out, o->whole ? "### %s " : "* **%s** ", c->id);
	write_prose(c->title, out);
	fputs(o->whole ? "\n\n" : "\n", out);
	if (!o->whole)
		return 0;
	fields_of(c, f);
	for (int i = 0; i < FIELDS; i++) {
		char *text = f[i].text ? fill_text(f[i].text, &o->fill) : NULL;

		if (f[i].text && !text)
			return -ENOMEM;
		if (!text)
			continue;
		fprintf(out, "* **%c%s:** ", f[i].label[0] - 'a' + 'A', f[i].label + 1);
		(f[i].command ? write_command : write_prose)(text, out);
		fputc('\n', out);
		free(text);
	}
	fputc('\n', out);
	return 0;
}

/* ---- JSON ---- */

static int write_json(const struct cause *c, const struct explain_options *o, struct json *j)
{
	struct field f[FIELDS];
	int err = 0;

	json_object(j, NULL);
	json_string(j, "id", c->id);
	json_string(j, "group", c->group);
	json_string(j, "title", c->title);
	fields_of(c, f);
	for (int i = 0; i < FIELDS; i++) {
		char *text = f[i].text ? fill_text(f[i].text, &o->fill) : NULL;

		err |= f[i].text && !text ? -ENOMEM : 0;
		json_string(j, f[i].name, text);
		free(text);
	}
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
	return err;
}

static int explain_json(const struct cause *const *some, uint32_t n, const struct explain_options *o, FILE *out)
{
	struct json j;
	int err = 0;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", CAUSES_SCHEMA);
	json_array(&j, "causes");
	for (uint32_t i = 0; i < n; i++)
		err |= write_json(some[i], o, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

int explain(const struct cause *const *some, uint32_t n, const struct explain_options *o, FILE *out)
{
	bool markdown = o->format == EXPLAIN_MARKDOWN;
	const char *group = "";
	int err = 0;

	if (o->format == EXPLAIN_JSON)
		err = explain_json(some, n, o, out);
	for (uint32_t i = 0; o->format != EXPLAIN_JSON && i < n && !err; i++) {
		if (strcmp(group, some[i]->group) && (markdown || !o->whole)) {
			fprintf(out, markdown ? "%s## %s\n\n" : "%s%s\n", i ? "\n" : "", some[i]->group);
			group = some[i]->group;
		} else if (i && !markdown && o->whole) {
			fputc('\n', out);
		}
		err = (markdown ? write_markdown : write_text)(some[i], o, out);
	}
	return err ? err : fflush(out) || ferror(out) ? -EIO : 0;
}
