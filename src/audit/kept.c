/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSCTL "/proc/sys/"
/* Characters that mean nothing to a shell. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=+@-"

/* The command that sets a file. NULL: out of memory, or a text that no line of a shell holds. */
static char *setting(const char *path, const char *value)
{
	size_t len = strlen(path) + strlen(value) + 32;
	char *line = malloc(len), *at;
	bool plain = *value && strspn(value, PLAIN) == strlen(value);

	if (!line || strpbrk(value, "'\n") || strspn(path, PLAIN) != strlen(path)) {
		free(line);
		return NULL;
	}
	if (!strncmp(path, SYSCTL, strlen(SYSCTL)) && plain && !strchr(path, '.')) {
		at = line + sprintf(line, "sysctl -w ");
		sprintf(at, "%s=%s", path + strlen(SYSCTL), value);
		for (; *at && *at != '='; at++)
			if (*at == '/')
				*at = '.';
	} else {
		sprintf(line, plain ? "echo %s > %s" : "echo '%s' > %s", value, path);
	}
	return line;
}

static char *affinity(const struct knob *k, const char *cpus)
{
	size_t len = strlen(cpus) + 48;
	char *line = malloc(len);

	if (line)
		snprintf(line, len, "taskset -pc %s %u", cpus, k->tid);
	return line;
}

static int add_knob(struct findings *f, const struct tried_fix *fix, const struct knob *k)
{
	struct finding *x = findings_add(f, fix->id, FINDING_WARN);

	if (!x)
		return -ENOMEM;
	x->cause = fix->id;
	x->title = strdup(fix->title);
	x->value = strdup(k->old);
	x->good = strdup(k->new);
	x->fix_kind = FIX_COMMAND;
	if (k->kind == KNOB_THREAD) {
		x->fix = affinity(k, k->new);
		x->undo = affinity(k, k->old);
	} else {
		x->fix = setting(k->path, k->new);
		x->undo = setting(k->path, k->old);
	}
	return x->title && x->value && x->good ? 0 : -ENOMEM;
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
