/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searches the cause book. A source in a report does not say what kind of thing ran its function,
 * so all kinds are tried, those first that such an interval can run: kvm_* as a timer means one
 * thing, as an IPI's function another. */
#include "audit/book.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"

#define EXACT     1000 /* more than any pattern is long */
#define NEAR_MAX  5
#define WORDS_MAX 1024

const struct cause *cause_by_id(const char *id)
{
	for (const struct cause *c = causes; c->id; c++)
		if (!strcasecmp(c->id, id))
			return c;
	return NULL;
}

static bool is_x86(const char *arch)
{
	return !strcmp(arch, "x86_64") || !fnmatch("i[3-6]86", arch, 0);
}

bool cause_names_one(const struct cause *cause)
{
	return cause->advice && (strstr(cause->advice, "{pid}") || strstr(cause->advice, "{irq}"));
}

const char *cause_on(const struct cause *c, const char *arch)
{
	if (is_x86(arch))
		return c->x86;
	return strcmp(arch, "aarch64") ? NULL : c->arm64;
}

bool cause_is_x86(const struct cause *c)
{
	static const char *const begins[] = {"x86*", "any x86*", "any[;,] x86*", "Intel*",
					     "any Intel*"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!fnmatch(begins[i], c->since, 0))
			return !strstr(c->since, "also arm64");
	return false;
}

bool cause_fits(const struct cause *c, const char *arch)
{
	return !arch[0] || is_x86(arch) || !cause_is_x86(c);
}

/* Fitness of a row: 0 does not fit at all. */
static size_t fit(const struct cause_match *m, const char *kind, const char *name)
{
	if (strcmp(m->kind, kind))
		return 0;
	if (!strcmp(m->pattern, name))
		return EXACT;
	return fnmatch(m->pattern, name, 0) ? 0 : strlen(m->pattern);
}

/* The best fit over several kinds, the first of equals. `least`: worse fits do not count. */
static const struct cause *best(const char *const *kinds, const char *name, size_t least)
{
	const struct cause *found = NULL;

	for (; *kinds; kinds++)
		for (const struct cause_match *m = cause_matches; m->kind; m++) {
			size_t n = fit(m, *kinds, name);

			if (n >= least && n) {
				found = m->cause;
				least = n + 1;
			}
		}
	return found;
}

const struct cause *cause_match(const char *kind, const char *name)
{
	return best((const char *const[]){kind, NULL}, name, 0);
}

static const struct cause *match_number(const char *kind, uint32_t number)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", number);
	return cause_match(kind, text);
}

/* Strips suffix and module: "e1000_watchdog.isra.0 [e1000]" becomes e1000_watchdog. A name in
 * brackets is none of the kernel's. */
static const char *plain_symbol(const char *function, char *buf, size_t len)
{
	if (!function || function[0] == '[')
		return NULL;
	snprintf(buf, len, "%s", function);
	buf[strcspn(buf, ". ")] = 0;
	return buf[0] ? buf : NULL;
}

const struct cause *cause_of_function(const struct source *s)
{
	char buf[256];
	const char *symbol = plain_symbol(s->function, buf, sizeof(buf));

	if (word_tlb_reason(s->word) >= 0)
		return match_number("tlbreason", word_tlb_reason(s->word));
	if (!symbol || (s->kind == SOURCE_THREAD &&
			!s->kernel_thread)) /* only kernel threads run work items and stoppers */
		return NULL;
	return best(kind_of(s->kind)->functions, symbol, kind_of(s->kind)->exact ? EXACT : 0);
}

/* The row of /proc/interrupts that counts a vector. */
static const char *vector_row(const char *vector)
{
	uint32_t id = vector_of_name(vector);

	return id ? vector_counter(id) : vector;
}

const struct cause *cause_of(const struct source *s)
{
	const struct cause *c = s->rest ? NULL : cause_of_function(s);
	const struct kind *kind = kind_of(s->kind);
	char symbol[8];

	if (c || s->rest) /* a row of many merged sources has no single cause */
		return c;
	if (s->kind == SOURCE_VECTOR || s->kind == SOURCE_NMI)
		/* a known function without a row is not what the vector mostly is */
		return plain_symbol(s->function, symbol, sizeof(symbol))
			       ? NULL
			       : cause_match(kind->book, vector_row(s->name));
	if (s->kind == SOURCE_THREAD && s->kernel_thread)
		return cause_match("comm", s->name);
	if (kind->cause)
		return cause_by_id(kind->cause);
	if (!kind->book)
		return NULL;
	return kind->by_id ? match_number(kind->book, s->id) : cause_match(kind->book, s->name);
}

/* True for a kind of entry that is found by the name of a function. */
static bool is_of_functions(const char *kind)
{
	for (enum source_kind k = 0; k < SOURCE_KINDS; k++)
		for (const char *const *one = kind_of(k)->functions; *one; one++)
			if (!strcmp(*one, kind))
				return true;
	return false;
}

bool cause_has_sources(const struct cause *cause, bool hidden)
{
	bool found = false;

	for (const struct cause_match *m = cause_matches; m->kind; m++) {
		if (m->cause != cause || !strcmp(m->kind, "family") || !strcmp(m->kind, "word") ||
		    !strcmp(m->kind, "irq"))
			continue;
		if (hidden && is_of_functions(m->kind))
			return false;
		found = true;
	}
	for (enum source_kind k = 0; k < SOURCE_KINDS && !found; k++)
		found = kind_of(k)->cause && !strcmp(kind_of(k)->cause, cause->id);
	return found;
}

static bool is_softirq(const char *name, uint32_t *id)
{
	for (*id = 0; strcmp(softirq_name(*id), "unknown"); ++*id)
		if (!strcasecmp(softirq_name(*id), name))
			return true;
	return false;
}

const struct cause *cause_of_name(const char *name)
{
	static const char *const kinds[] = {"work",    "hrtimer", "timer", "csd",
					    "irqwork", "stopper", "nmi",   "comm",
					    "irqrow",  "irq",     NULL};
	const struct cause *c;
	char buf[256] = ""; /* a name in brackets is no symbol */
	uint32_t id;

	if (strlen(name) < 2)
		return NULL;
	c = best(kinds, vector_row(name), 2);
	if (!c && plain_symbol(name, buf, sizeof(buf)))
		c = best(kinds, buf, 2);
	for (char *p = buf; !c && *p; p++)
		*p = toupper((unsigned char)*p);
	if (!c)
		c = cause_match("irqrow", buf);
	return !c && is_softirq(name, &id) ? match_number("softirq", id) : c;
}

/* ---- names that mean nothing ---- */

static bool holds(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

char *cause_near(const char *name, char *buf, size_t len)
{
	const char *words[WORDS_MAX + 1] = {0}, *alike;
	unsigned found = 0, n = 0;
	size_t at = 0;

	buf[0] = 0;
	for (const struct cause_match *m = cause_matches; m->kind; m++) {
		if (isdigit((unsigned char)m->pattern[0]) || !m->pattern[1] ||
		    !strcmp(m->kind, "outside") || !strcmp(m->kind, "family"))
			continue;
		if (n < WORDS_MAX)
			words[n++] = m->pattern;
		if (strlen(name) > 2 && holds(m->pattern, name) && found < NEAR_MAX && at < len)
			at += snprintf(buf + at, len - at, "%s%s (%s)", found++ ? ", " : "",
				       m->pattern, m->cause->id);
	}
	for (const struct cause *c = causes; c->id && strlen(name) > 2; c++)
		if ((holds(c->title, name) || holds(c->what, name)) && !holds(buf, c->id) &&
		    found < NEAR_MAX && at < len)
			at += snprintf(buf + at, len - at, "%s%s", found++ ? ", " : "", c->id);
	alike = found ? NULL : opt_nearest(name, words);
	if (alike)
		snprintf(buf, len, "%s", alike);
	return buf;
}
