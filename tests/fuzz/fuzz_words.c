/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that others choose, each with its reader: options and their values, triggers, names from
 * the machine on their way to a terminal, a shell, JSON, Markdown or the cause book, keys, rows of
 * /proc/interrupts, control groups, files of container runtimes, command lines. The first byte
 * chooses the reader, the rest is the text. Nothing crashes, what is printed is printable and fits,
 * and what is read and written again stays what it was. */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/explain.h"
#include "audit/placeholders.h"
#include "base/cpus.h"
#include "base/escape.h"
#include "base/glob.h"
#include "base/json.h"
#include "base/keys.h"
#include "base/markdown.h"
#include "base/opt.h"
#include "base/units.h"
#include "collect/owners.h"
#include "collect/vcpus.h"
#include "count.h"
#include "model/irq_row.h"
#include "model/redact.h"
#include "model/trigger.h"

#define TEXT_MAX 4096
#define WHY      256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

static void check_why(const char *why)
{
	assert(why[0] && strlen(why) < WHY);
}

static void check_printable(const char *text)
{
	char again[4 * TEXT_MAX + 1];
	size_t slashes = 0;

	for (const char *p = text; *p; p++)
		slashes += *p == '\\';
	escape_text(text, SIZE_MAX, again, sizeof(again));
	assert(strlen(again) == strlen(text) + slashes);
}

/* ---- options ---- */

struct options {
	struct cpus cpus;
	uint64_t duration_ns, time_ns;
	double percent;
	const char *text;
	int word;
	bool flag;
};

#define FIELD(name) offsetof(struct options, name)

static const struct opt_choice words[] = {{"text"}, {"json", "for scripts"}, {0}};
static const struct opt rows[] = {
	{'c', "cpus", "CPUS", "these", FIELD(cpus), opt_set_cpus},
	{'d', "duration", "TIME", "so long", FIELD(duration_ns), opt_set_duration, .needs = "cpus"},
	{'t', "threshold", "TIME", "from here on", FIELD(time_ns), opt_set_time, .preset = "1us"},
	{'p', "percent", "SHARE", "so much", FIELD(percent), opt_set_percent, .excludes = "time",
	 .why = "they do not go together"},
	{0, "time", "TIME", "the same", FIELD(time_ns), opt_set_time, .alias = "threshold"},
	{'f', "format", "WORD", "so", FIELD(word), opt_set_choice, .choices = OPT_CHOICES(words)},
	{'o', NULL, "FILE", "there", FIELD(text), opt_set_string},
	{'q', "quiet", NULL, "nothing", FIELD(flag)},
	{0},
};

/* A command line, its words apart by line breaks. */
static void read_options(char *text)
{
	const struct opt_command command = {"run", "FILE...", "measures", NULL, rows, NULL, NULL};
	char *argv[32] = {"run"}, *word;
	struct options o = {.word = 0};
	int argc = 1, operands = 0, code;

	while (argc < 31 && (word = strsep(&text, "\n")))
		argv[argc++] = word;
	code = opt_parse(&command, argc, argv, &o, &operands);
	assert(code >= -1 && code <= 1);
	if (code)
		return;
	assert(operands >= 0 && operands < argc && !argv[1 + operands]);
	assert(o.percent >= 0 && o.percent <= 100 && o.word >= 0 && o.word < 2);
}

/* ---- values ---- */

static void read_cpus(char *text)
{
	char why[WHY] = "", again[TEXT_MAX * 8];
	struct cpus cpus = {{0}}, same = {{0}};

	if (cpus_parse(text, &cpus, why, sizeof(why))) {
		check_why(why);
		return;
	}
	cpus_format(&cpus, again, sizeof(again));
	if (!strstr(again, "..."))
		assert(!cpus_parse(again, &same, why, sizeof(why)) &&
		       !memcmp(&cpus, &same, sizeof(cpus)));
}

static void read_values(char *text)
{
	char why[WHY] = "", again[64];
	uint64_t ns = 0, same = 0;
	double percent;
	long number;

	if (parse_duration(text, 0, &ns, why, sizeof(why)))
		check_why(why);
	else
		assert(!parse_duration(format_ns(ns, again, sizeof(again)), 0, &same, why,
				       sizeof(why)));
	if (!parse_duration(text, NSEC_PER_SEC, &ns, why, sizeof(why)))
		assert(ns > 0 && ns <= 366 * 86400 * NSEC_PER_SEC);
	if (!parse_percent(text, &percent, why, sizeof(why)))
		assert(percent > 0 && percent <= 100);
	if (!parse_integer(text, -7, 4711, &number, why, sizeof(why)))
		assert(number >= -7 && number <= 4711);
	if (!parse_iso_time(text, &ns))
		assert(!parse_iso_time(format_iso_time(ns, again), &same) && ns == same);
}

static void read_trigger(char *text)
{
	char why[WHY] = "";
	struct trigger t = {.event = 0};
	struct triggers all = {.count = 1};
	struct view v = {.ncpus = 0};

	trigger_parse(text, ~0U, &t, why, sizeof(why)); /* as a goal */
	if (trigger_parse(text, ~TRIGGER_GOAL, &t, why, sizeof(why))) {
		check_why(why);
		return;
	}
	assert(!strcmp(t.text, text) && strlen(t.who) < TRIGGER_WHO);
	assert(t.percent >= 0 && t.percent <= 100);
	all.row[0] = t;
	if (!triggers_begin(&all, 2))
		for (unsigned i = 0; i < 100; i++) {
			struct account a = {.start_ns = 1000 * i, .duration_ns = 900};
			struct trigger_hit hit;

			triggers_hear(&all, &v, i % 2, &a, &hit);
		}
	triggers_free(&all);
}

/* ---- names ---- */

static void show_name(char *text)
{
	static char quoted[4 * TEXT_MAX], escaped[4 * TEXT_MAX + 1], code[8 * TEXT_MAX];
	char cut[20];

	escape_text(text, SIZE_MAX, escaped, sizeof(escaped));
	assert(text_columns(escaped) <= strlen(escaped) &&
	       text_fit(escaped, 10) <= strlen(escaped));
	assert(strlen(escape_text(text, SIZE_MAX, cut, sizeof(cut))) < sizeof(cut));
	markdown_code(escaped, code, sizeof(code));
	assert(!escaped[0] || code[0] == '`');
	/* plain text needs no quotes, and quoted text begins and ends with them */
	if (shell_quote(text, quoted, sizeof(quoted)) && strcmp(quoted, text))
		assert(quoted[0] == '\'' && quoted[strlen(quoted) - 1] == '\'');
	check_printable(cut);
}

static void write_json(char *text)
{
	struct json j;
	size_t half = strlen(text) / 2;

	json_init(&j, nowhere);
	json_object(&j, NULL);
	json_string(&j, text, text + half);
	json_array_flat(&j, text + half);
	json_string_n(&j, NULL, text, half);
	json_end(&j);
	json_end(&j);
}

static void ask_book(char *text)
{
	struct explain_options options = {
		.width = 80, .whole = true, .fill = PLACEHOLDERS_NONE, .arch = "aarch64"};
	char near[400], device[32];
	struct explained one;
	struct meaning m;

	name_meaning(text, &m);
	cause_near(text, near, sizeof(near));
	options.fill.comm = options.fill.interface = options.fill.function = text;
	options.format = strlen(text) % 3;
	one.cause = m.cause ? m.cause : cause_of_name(text);
	memcpy(one.note, m.note, sizeof(one.note));
	if (one.cause)
		explain(&one, 1, &options, nowhere);
	assert(strlen(device_of(text, device, sizeof(device))) < sizeof(device));
	assert(redact_symbol(text));
}

/* A word is always a glob of itself, unless a star in the text is meant. */
static void match_glob(char *text)
{
	char *name = strchr(text, '\n');

	if (!name) {
		assert(glob_fits(text, text, 0));
		return;
	}
	*name++ = '\0';
	if (glob_fits(text, name, '/'))
		assert(glob_fits(text, name, 0));
}

static void read_keys(char *text)
{
	size_t left = strlen(text), n;
	int key = -1;

	while (left && (n = key_parse(text, left, &key))) {
		assert(n <= left && key >= 0 && key <= KEY_ESCAPE);
		text += n;
		left -= n;
	}
}

static void read_irq(char *text)
{
	struct irq_row row;
	char *what = strchr(text, '\n');

	irq_row_read(text, &row);
	if (what) {
		*what++ = '\0';
		irq_row_take(text, what, strlen(what), &row);
	}
	assert(row.irq >= -1 && row.ipi >= -1);
}

/* An id becomes a part of a file's name, so that it is no path. */
static void read_owner(char *text)
{
	char buf[OWNER_TEXT], part[OWNER_PART];
	struct owner o;

	owner_read(&o, text);
	assert(strlen(owner_text(&o, buf)) < OWNER_TEXT);
	assert(!o.container[0] || o.container_name[0] ||
	       (strlen(o.container) == 64 &&
		!o.container[strspn(o.container, "0123456789abcdef")]));
	assert(owner_kind(&o) == OWNER_NONE || owner_key(&o)[0]);
	for (int by = BY_THREAD; by <= BY_MACHINE; by++)
		assert(strlen(owner_part(&o, by, part)) < OWNER_PART);
}

/* A key, or two, and the file that they are looked for in. */
static void read_runtime(char *text)
{
	const char *path[3] = {text};
	char *json = strchr(text, '\n'), *in = strchr(text, '/'), name[OWNER_NAME];

	if (!json || json == text)
		return;
	*json++ = '\0';
	if (in && in < json) {
		*in = '\0';
		path[1] = in + 1;
	}
	if (!owners_json(json, path, name))
		return;
	assert(name[0] && strlen(name) < OWNER_NAME && !strpbrk(name, "\"\\\n"));
}

/* A name, and words of a command line that may give it to a machine. */
static void read_machine(char *text)
{
	char *line = strchr(text, '\n');
	size_t len = line ? strlen(line + 1) : 0;

	if (!line)
		return;
	*line++ = '\0';
	for (size_t i = 0; i < len; i++)
		if (line[i] == '\n')
			line[i] = '\0';
	vcpus_line_names(line, len, text);
}

static const struct {
	const char *name;
	void (*read)(char *text);
} readers[] = {
	{"options", read_options},  {"CPU lists", read_cpus}, {"values", read_values},
	{"triggers", read_trigger}, {"names", show_name},     {"JSON strings", write_json},
	{"cause book", ask_book},   {"globs", match_glob},    {"keys", read_keys},
	{"interrupts", read_irq},   {"owners", read_owner},   {"runtimes", read_runtime},
	{"machines", read_machine},
};

/* One run with the cause book costs as much as 60 others. */
static unsigned choose(uint8_t byte, size_t size)
{
	unsigned n = sizeof(readers) / sizeof(readers[0]), which = byte % n;

	return readers[which].read == ask_book && size % 8 ? (which + size % 8) % n : which;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned which = size ? choose(data[0], size) : 0;
	char *text;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!size || size > TEXT_MAX)
		return 0;
	text = malloc(size); /* as long as it is, so that a byte too far is seen */
	if (!nowhere || !text)
		abort();
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	count_run(which, readers[which].name);
	readers[which].read(text);
	free(text);
	return 0;
}
