/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/knob.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *knob_kind_name(enum knob_kind kind)
{
	static const char *const names[KNOB_KINDS] = {
		[KNOB_NONE] = "none",       [KNOB_FILE] = "file",   [KNOB_CHOICE] = "choice",
		[KNOB_FEATURE] = "feature", [KNOB_FILES] = "files", [KNOB_THREAD] = "thread",
	};

	return names[kind];
}

static void knob_clear(struct knob *k)
{
	free(k->path);
	free(k->old);
	free(k->new);
	free(k->now);
}

struct knob *knobs_add(struct knobs *k, enum knob_kind kind, const char *path, const char *old,
		       const char *new)
{
	struct knob one = {
		.kind = kind, .path = strdup(path), .old = strdup(old), .new = strdup(new)};
	struct knob *grown;

	grown = k->count < KNOBS_MAX ? realloc(k->row, (k->count + 1) * sizeof(one)) : NULL;
	if (grown)
		k->row = grown;
	if (!grown || !one.path || !one.old || !one.new) {
		knob_clear(&one);
		return NULL;
	}
	k->row[k->count] = one;
	return &k->row[k->count++];
}

void knobs_remove(struct knobs *k, uint32_t index)
{
	knob_clear(&k->row[index]);
	memmove(&k->row[index], &k->row[index + 1], (--k->count - index) * sizeof(*k->row));
}

void knobs_free(struct knobs *k)
{
	for (uint32_t i = 0; i < k->count; i++)
		knob_clear(&k->row[i]);
	free(k->row);
	*k = (struct knobs){0};
}

char *knob_name(const struct knob *k, char *buf, size_t len)
{
	if (k->kind == KNOB_THREAD)
		snprintf(buf, len, "the CPUs of %s [%u]", k->comm, k->tid);
	else
		snprintf(buf, len, "%s", k->path);
	return buf;
}
