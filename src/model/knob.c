/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/knob.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *knob_kind_name(enum knob_kind kind)
{
	static const char *const names[KNOB_KINDS] = {
		[KNOB_NONE] = "none",   [KNOB_FILE] = "file",     [KNOB_FEATURE] = "feature",
		[KNOB_FILES] = "files", [KNOB_THREAD] = "thread",
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

/* ---- values ---- */

int knob_feature(char *text, const char *feature)
{
	char list[KNOB_VALUE], *at, *rest;
	const char *name = feature + (strncmp(feature, "NO_", 3) ? 0 : 3);

	strcpy(list, text);
	for (at = strtok_r(list, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest))
		if (!strcmp(at, name) || (!strncmp(at, "NO_", 3) && !strcmp(at + 3, name))) {
			strcpy(text, at);
			return 0;
		}
	return -ENOENT;
}

/* Leaves of a kernel's mask, "00000000,0000000f", the digits that count. Other texts stay as they
 * are: behind a comma a mask has eight digits, and a list of CPUs never has. */
static const char *digits_of(const char *text, char *buf)
{
	size_t len = 0, first = strcspn(text, ",");

	if (!first || text[strspn(text, "0123456789abcdef,")])
		return text;
	for (const char *at = text + first; *at; at += 9)
		if (*at != ',' || strcspn(at + 1, ",") != 8)
			return text;
	for (; *text; text++)
		if (*text != ',' && (len || *text != '0'))
			buf[len++] = *text;
	buf[len] = 0;
	return buf;
}

bool knob_same(const char *a, const char *b)
{
	char x[KNOB_VALUE + 1], y[KNOB_VALUE + 1];

	return !strcmp(a, b) || !strcmp(digits_of(a, x), digits_of(b, y));
}
