/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/kept.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/begins.h"
#include "base/escape.h"

#define SYSCTL "/proc/sys/"
/* Characters that mean nothing to a shell. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+@-"

/* False for a text that echo would take as its options, or, in some shells, as escapes. */
static bool echoes(const char *value)
{
	return !strchr(value, '\\') && (value[0] != '-' || (value[1] >= '0' && value[1] <= '9'));
}

/* Writes the command that sets a file, as *line; NULL: no line of a shell holds it. 0 or -ENOMEM.
 */
static int setting(char **line, const char *path, const char *value)
{
	/* In quotes each character has four at most. */
	size_t path_len = 4 * strlen(path) + 3, value_len = 4 * strlen(value) + 3;
	char *to = malloc(path_len), *what = malloc(value_len), *at;
	bool plain = *value && strspn(value, PLAIN) == strlen(value);
	bool held = to && what && echoes(value) && shell_quote(path, to, path_len) &&
		    (plain ? strcpy(what, value) : shell_quote(value, what, value_len));
	int err = to && what ? 0 : -ENOMEM;

	*line = held ? malloc(path_len + value_len + 32) : NULL;
	if (held && !*line)
		err = -ENOMEM;
	if (*line && plain && begins(to, SYSCTL) && !strchr(to, '.')) {
		at = *line + sprintf(*line, "sysctl -w ");
		sprintf(at, "%s=%s", to + strlen(SYSCTL), what);
		for (; *at && *at != '='; at++)
			if (*at == '/')
				*at = '.';
	} else if (*line) {
		sprintf(*line, "echo %s > %s", what, to);
	}
	free(to);
	free(what);
	return err;
}

static int affinity(char **line, const struct knob *k, const char *cpus)
{
	size_t len = strlen(cpus) + 48;

	*line = malloc(len);
	if (!*line)
		return -ENOMEM;
	snprintf(*line, len, "taskset -pc %s %u", cpus, k->tid);
	return 0;
}

static int add_knob(struct findings *f, const struct tried_fix *fix, const struct knob *k)
{
	struct finding *x = findings_add(f, fix->id, FINDING_WARN);
	char name[PATH_MAX + 64];
	int err;

	if (!x || !finding_items_add(&x->list, knob_name(k, name, sizeof(name)), 0))
		return -ENOMEM;
	x->cause = fix->id;
	x->title = strdup(fix->title);
	x->value = strdup(k->old);
	x->good = strdup(k->new);
	x->fix_kind = FIX_COMMAND;
	if (k->kind == KNOB_THREAD)
		err = affinity(&x->fix, k, k->new) || affinity(&x->undo, k, k->old);
	else
		err = setting(&x->fix, k->path, k->new) || setting(&x->undo, k->path, k->old);
	if (!err && !x->fix) {
		/* A finding without a fix would be left out without a word. */
		x->fix = strdup("set it by hand: no line of a shell holds its name and value");
		x->fix_kind = FIX_WORDS;
	}
	return !err && x->title && x->value && x->good && x->fix ? 0 : -ENOMEM;
}

static int add_boot(struct findings *f, const struct finding *from)
{
	struct finding *x = findings_add(f, from->id, from->level);

	if (!x)
		return -ENOMEM;
	x->cause = from->cause;
	x->title = strdup(from->title ? from->title : from->id);
	x->fix = strdup(from->fix);
	x->fix_kind = FIX_BOOT;
	return x->title && x->fix ? 0 : -ENOMEM;
}

int kept_findings(struct findings *f, const struct tuned *t, const struct findings *audit)
{
	int err = 0;

	for (uint32_t i = 0; i < t->nsteps && !err; i++)
		for (uint32_t k = 0; t->step[i].kept && k < t->step[i].knobs.count && !err; k++)
			err = add_knob(f, &t->step[i].fix[0], &t->step[i].knobs.row[k]);
	for (uint32_t i = 0; i < audit->count && !err; i++) {
		const struct finding *x = &audit->row[i];

		if (x->fix_kind == FIX_BOOT && x->fix && x->known && x->level >= FINDING_WARN)
			err = add_boot(f, x);
	}
	return err;
}
