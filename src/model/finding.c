/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/begins.h"
#include "base/units.h"

#define NAMES_SHOWN 3 /* names of a list in a title */

struct finding *findings_add(struct findings *f, const char *id, enum finding_level level)
{
	if (f->count == f->room) {
		uint32_t room = f->room ? 2 * f->room : 32;
		struct finding *row = realloc(f->row, room * sizeof(*row));

		if (!row)
			return NULL;
		f->row = row;
		f->room = room;
	}
	f->row[f->count] =
		(struct finding){.id = id, .level = level, .known = true, .kind = SOURCE_KINDS};
	return &f->row[f->count++];
}

void findings_free(struct findings *f)
{
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->row[i].title);
		free(f->row[i].value);
		free(f->row[i].good);
		free(f->row[i].fix);
		free(f->row[i].undo);
		free(f->row[i].replaced);
		finding_items_free(&f->row[i].list);
	}
	free(f->row);
	*f = (struct findings){0};
}

struct finding_item *finding_items_add(struct finding_items *l, const char *name, uint32_t number)
{
	char *copy = strdup(name);

	if (copy && l->count == l->room) {
		uint32_t room = l->room ? 2 * l->room : 16;
		struct finding_item *row = realloc(l->row, room * sizeof(*row));

		if (!row) {
			free(copy);
			return NULL;
		}
		l->row = row;
		l->room = room;
	}
	if (!copy)
		return NULL;
	l->row[l->count] = (struct finding_item){.name = copy, .number = number};
	return &l->row[l->count++];
}

void finding_items_free(struct finding_items *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		free(l->row[i].name);
		free(l->row[i].fix);
		free(l->row[i].undo);
	}
	free(l->row);
	*l = (struct finding_items){0};
}

static int by_rank(const void *a, const void *b)
{
	const struct finding_item *x = a, *y = b;

	if (x->cost_ns != y->cost_ns)
		return x->cost_ns < y->cost_ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->number != y->number ? (x->number > y->number) - (x->number < y->number)
				      : strcmp(x->name, y->name);
}

void findings_rank(struct findings *f)
{
	for (uint32_t i = 0; i < f->count; i++)
		if (f->row[i].list.count)
			qsort(f->row[i].list.row, f->row[i].list.count, sizeof(*f->row->list.row),
			      by_rank);
}

char *finding_title(const struct finding *f, char *buf, size_t len)
{
	const struct finding_items *l = &f->list;
	uint32_t shown = l->count > NAMES_SHOWN ? NAMES_SHOWN : l->count;
	size_t at = snprintf(buf, len, "%s", f->title ? f->title : f->id);
	bool ranked = shown < l->count && (l->row[0].cost_ns || l->row[0].count);

	for (uint32_t i = 0; l->count > 1 && i < shown && at < len; i++) {
		at += snprintf(buf + at, len - at, "%s%s",
			       i        ? ", "
			       : ranked ? ": the busiest "
					: ": ",
			       l->row[i].name);
		if (f->kind == SOURCE_IRQ && at < len)
			at += snprintf(buf + at, len - at, " (irq %u)", l->row[i].number);
	}
	if (shown < l->count && !ranked && at < len)
		snprintf(buf + at, len - at, " and %u more", l->count - shown);
	return buf;
}

const char *finding_fix(const struct finding *f, char *buf, size_t len)
{
	if (!f->fix || !f->replaced)
		return f->fix;
	snprintf(buf, len, "%s in place of %s", f->fix, f->replaced);
	return buf;
}

const char *finding_elsewhere(const struct finding *f)
{
	return f->fix_kind == FIX_WORDS ? FINDING_SCRIPT " says how"
					: FINDING_SCRIPT " prints the commands";
}

const char *finding_level_name(enum finding_level level)
{
	static const char *const names[] = {"OK", "INFO", "WARN", "FAIL"};

	return names[level];
}

uint32_t findings_count(const struct findings *f, enum finding_level level)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->count; i++)
		n += f->row[i].known && f->row[i].level == level;
	return n;
}

void findings_order(const struct findings *f, uint32_t *order)
{
	for (uint32_t i = 0; i < f->count; i++) {
		const struct finding *new = &f->row[i];
		uint32_t k = i;

		for (; k > 0; k--) {
			const struct finding *before = &f->row[order[k - 1]];

			if (before->level > new->level ||
			    (before->level == new->level && before->cost_ns >= new->cost_ns))
				break;
			order[k] = order[k - 1];
		}
		order[k] = i;
	}
}

/* True for one of two findings that explain the very same sources: the worse one is enough. */
static bool said(const struct findings *all, const struct finding *x)
{
	for (const struct finding *y = all->row; y < all->row + all->count; y++)
		if (y != x && y->cause && x->cause && !strcmp(y->cause, x->cause) &&
		    y->cost_ns == x->cost_ns &&
		    (y->level > x->level || (y->level == x->level && y < x)))
			return true;
	return false;
}

uint32_t findings_costly(const struct findings *f, uint32_t *order, struct findings_rest rest[2])
{
	uint32_t n = 0;

	rest[false] = rest[true] = (struct findings_rest){0};
	for (uint32_t i = 0; i < f->count; i++) {
		const struct finding *x = &f->row[i];
		uint32_t k = n;

		if (x->level == FINDING_OK || !x->known)
			continue;
		if (!x->cost_ns) {
			rest[x->costed].warnings += x->level >= FINDING_WARN;
			rest[x->costed].failed += x->level == FINDING_FAIL;
			continue;
		}
		if (!x->fix || said(f, x))
			continue;
		for (; k > 0 && f->row[order[k - 1]].cost_ns < x->cost_ns; k--)
			order[k] = order[k - 1];
		order[k] = i;
		n++;
	}
	return n;
}

const char *findings_rest(const struct findings_rest *r, bool others, char buf[FINDINGS_REST])
{
	int n = snprintf(buf, FINDINGS_REST, "%u %swarning%s", r->warnings, others ? "more " : "",
			 plural(r->warnings));

	if (r->failed)
		snprintf(buf + n, FINDINGS_REST - n, ", %u of them FAIL,", r->failed);
	return buf;
}

const char *findings_uncosted(bool traced, bool hidden)
{
	if (!traced)
		return "the cost is not known, as nothing was traced";
	return hidden ? "this run, without names of functions, does not show the cost"
		      : "no run shows the cost";
}

/* The parameter of this name; NULL: not there. */
static const char *parameter_in(const char *parameters, const char *word, size_t key)
{
	for (const char *at = parameters; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (strcspn(at, "= ") == key && !strncmp(at, word, key))
			return at;
	return NULL;
}

/* The parameters of the rows from one level to another, without those in `but`. */
static char *boot_of(const struct findings *f, enum finding_level least, enum finding_level most,
		     const char *but)
{
	char *line = NULL, *more;

	for (uint32_t i = 0; i < f->count; i++) {
		const struct finding *x = &f->row[i];
		const char *at = x->fix_kind == FIX_BOOT && x->level >= least && x->level <= most
					 ? x->fix
					 : NULL;

		while (at && *at) {
			size_t len = strcspn(at, " "), key = strcspn(at, "= ");

			if (!parameter_in(line, at, key) && !parameter_in(but, at, key)) {
				if (asprintf(&more, "%s%s%.*s", line ? line : "", line ? " " : "",
					     (int)len, at) < 0) {
					free(line);
					return NULL;
				}
				free(line);
				line = more;
			}
			at += len + (at[len] == ' ');
		}
	}
	return line;
}

char *findings_boot(const struct findings *f, enum finding_level least)
{
	return boot_of(f, least, FINDING_FAIL, NULL);
}

char *findings_boot_wanted(const struct findings *f)
{
	char *needed = findings_boot(f, FINDING_WARN);
	char *line = boot_of(f, FINDING_INFO, FINDING_INFO, needed);

	free(needed);
	return line;
}

int boot_replaced(const struct facts *facts, const char *parameters, char **words)
{
	const char *at = facts_text(facts, "proc/cmdline");
	char *more;

	*words = NULL;
	while (at && *(at += strspn(at, " \n"))) {
		size_t len = strcspn(at, " \n"), key = strcspn(at, "= \n");
		const char *by = parameter_in(parameters, at, key);

		if (len == 2 && !strncmp(at, "--", 2)) /* the rest is for init */
			break;
		if (by && (strcspn(by, " ") != len || strncmp(by, at, len))) {
			int n = asprintf(&more, "%s%s%.*s", *words ? *words : "", *words ? " " : "",
					 (int)len, at);

			free(*words);
			*words = n < 0 ? NULL : more;
			if (n < 0)
				return -ENOMEM;
		}
		at += len;
	}
	return 0;
}

bool finding_explains(const struct finding *f, unsigned cpu, const struct source *s)
{
	if (f->level == FINDING_OK || !f->known ||
	    (!cpus_empty(&f->cpus) && !cpus_has(&f->cpus, cpu)))
		return false;
	if (f->about || s->kind == SOURCE_IRQ) /* the target of one IRQ says nothing of another's */
		return f->about && finding_item(f, cpu, s);
	if (f->only && !begins(s->name, f->only))
		return false;
	return f->cause && s->cause && !strcmp(f->cause, s->cause);
}

struct finding_item *finding_item(const struct finding *f, unsigned cpu, const struct source *s)
{
	for (uint32_t i = 0; f->kind == s->kind && i < f->list.count; i++) {
		struct finding_item *x = &f->list.row[i];

		if (x->number == s->id && (cpus_empty(&x->cpus) || cpus_has(&x->cpus, cpu)))
			return x;
	}
	return NULL;
}
