#include "model/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	f->row[f->count] = (struct finding){.id = id, .level = level, .known = true};
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
	}
	free(f->row);
	*f = (struct findings){0};
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

static bool has_parameter(const char *line, const char *parameter, size_t key)
{
	for (const char *at = line; at && *at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (!strncmp(at, parameter, key) && (at[key] == '=' || at[key] == ' ' || !at[key]))
			return true;
	return false;
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

uint32_t findings_costly(const struct findings *f, uint32_t *order, uint32_t *rest,
			 uint32_t *failed)
{
	uint32_t n = 0;

	*rest = *failed = 0;
	for (uint32_t i = 0; i < f->count; i++) {
		const struct finding *x = &f->row[i];
		uint32_t k = n;

		if (x->level == FINDING_OK || !x->known)
			continue;
		if (!x->cost_ns) {
			*rest += x->level >= FINDING_WARN;
			*failed += x->level == FINDING_FAIL;
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

char *findings_boot(const struct findings *f)
{
	char *line = NULL, *more;

	for (uint32_t i = 0; i < f->count; i++) {
		const char *at = f->row[i].fix_kind == FIX_BOOT && f->row[i].level > FINDING_OK
					 ? f->row[i].fix
					 : NULL;

		while (at && *at) {
			size_t len = strcspn(at, " ");

			if (!has_parameter(line, at, strcspn(at, "= "))) {
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

bool finding_explains(const struct finding *f, unsigned cpu, const struct source *s)
{
	if (f->level == FINDING_OK || !f->known ||
	    (!cpus_empty(&f->cpus) && !cpus_has(&f->cpus, cpu)))
		return false;
	if (f->about || s->kind == SOURCE_IRQ) /* the target of one IRQ says nothing of another's */
		return f->about && f->kind == s->kind && f->number == s->id;
	if (f->only && strncmp(s->name, f->only, strlen(f->only)))
		return false;
	return f->cause && s->cause && !strcmp(f->cause, s->cause);
}
