/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal that try and tune write, and --undo reads: any bytes, and what was written of any
 * knobs. What is taken of it is, byte for byte, what a try would have written; --undo writes to no
 * file but those of the journal, of the kernel's, and nothing but the values that were there. The
 * machine is made up (machine.h).
 *
 * Bytes of an input: 0, bit 0, any bytes or a journal that was written; 1 to 8, what became of the
 * knobs of the machine; then the text, or the knobs' texts with a zero between them. */
#include <assert.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/undo.h"
#include "count.h"
#include "machine.h"

#define BEGIN 9 /* bytes of an input before its text */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_journal_boot(char boot[BOOT_ID]);

int __wrap_journal_boot(char boot[BOOT_ID])
{
	strcpy(boot, BOOT);
	return 0;
}

static char *journal(void)
{
	static char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/try.journal", machine.own) >= (int)sizeof(path))
		abort();
	return path;
}

/* Removes what was kept of a damaged one; true: there was one. */
static bool drop_kept(void)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s.damaged", journal());
	return !unlink(path);
}

static void put_file(const char *text, size_t len)
{
	mode_t mask = umask(077);
	FILE *f = fopen(journal(), "we");

	umask(mask);
	if (!f || fwrite(text, 1, len, f) != len || fclose(f))
		abort();
}

/* Owned by the caller. */
static char *get_file(size_t *len)
{
	FILE *f = fopen(journal(), "re");
	char *text = NULL;
	size_t room = 0;

	assert(f);
	*len = 0;
	do {
		room += 65536;
		text = realloc(text, room);
		assert(text);
		*len += fread(text + *len, 1, room - *len, f);
	} while (*len == room);
	fclose(f);
	return text;
}

/* Takes a text up to the next zero. */
static const char *take_text(const uint8_t **at, const uint8_t *end)
{
	const uint8_t *from = *at, *zero = memchr(from, 0, end - from);

	*at = zero ? zero + 1 : end;
	return zero ? (const char *)from : "";
}

/* Makes knobs of any texts, as a try could have them. */
static void make_knobs(const uint8_t *at, const uint8_t *end, struct knobs *k)
{
	while (end - at > 8) {
		bool thread = *at & 1, known = *at & 2, kept = *at & 4, feature = *at & 8;
		bool turned = known || *at & 16;
		unsigned tid = 1 + at[1] + 256U * at[2];
		const char *name, *old, *new, *now;
		char path[PATH_MAX];
		struct knob *row;

		at += 3;
		name = take_text(&at, end);
		old = take_text(&at, end);
		new = take_text(&at, end);
		now = take_text(&at, end);
		if (snprintf(path, sizeof(path), "/sys/%s", name) >= (int)sizeof(path) ||
		    strstr(path, "/../"))
			continue;
		row = knobs_add(k,
				thread    ? KNOB_THREAD
				: feature ? KNOB_FEATURE
					  : KNOB_FILE,
				thread ? "" : path, old, new);
		assert(row);
		row->tid = thread ? tid : 0;
		row->born = thread ? UINT64_MAX / tid : 0;
		if (thread)
			snprintf(row->comm, sizeof(row->comm), "%s", name);
		row->kept = kept;
		row->turned = turned;
		row->now = known ? strdup(now) : NULL;
	}
}

static void same_knobs(const struct knobs *a, const struct knobs *b)
{
	assert(a->count == b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct knob *x = &a->row[i], *y = &b->row[i];

		assert(x->kind == y->kind && x->tid == y->tid && x->born == y->born);
		assert(x->turned == y->turned);
		assert(x->kept == y->kept && !strcmp(x->path, y->path) && !strcmp(x->old, y->old));
		assert(!strcmp(x->comm, y->comm) && !strcmp(x->new, y->new));
		assert(!x->now == !y->now && (!x->now || !strcmp(x->now, y->now)));
	}
}

/* True when each of the lines stands in the text, in their order. */
static bool has_lines(const char *text, size_t len, const char *lines, size_t size)
{
	const char *at = text, *end = text + len;

	for (const char *line = lines; line < lines + size;) {
		size_t n = (const char *)memchr(line, '\n', lines + size - line) + 1 - line;

		while (at < end && ((size_t)(end - at) < n || memcmp(at, line, n))) {
			at = memchr(at, '\n', end - at);
			at = at ? at + 1 : end;
		}
		if (at == end)
			return false;
		at += n;
		line += n;
	}
	return true;
}

/* Looks whether what was taken is the begin of what was there, up to the first line that is none of
 * a try's, and what is written of it is taken again. */
static void check_taken(const char *text, size_t len, enum journal_state state, const char *boot,
			const struct knobs *k)
{
	struct knobs again = {0};
	char since[BOOT_ID];
	size_t size;
	char *got;

	for (uint32_t i = 0; i < k->count; i++) {
		const struct knob *row = &k->row[i];

		assert(strlen(row->old) < KNOB_VALUE);
		assert(strlen(row->new) < KNOB_VALUE);
		assert(!row->now || strlen(row->now) < KNOB_VALUE);
		assert(row->kind == KNOB_THREAD ? row->tid && row->tid <= INT_MAX
						: is_kernels(row->path));
	}
	assert(!journal_write(machine.own, boot, k));
	got = get_file(&size);
	assert(size > 4 && !memcmp(got + size - 4, "end\n", 4));
	assert(state != JOURNAL_WHOLE || (size == len && !memcmp(got, text, len)));
	assert(state != JOURNAL_CUT || has_lines(text, len, got, size - 4));
	free(got);
	assert(journal_read(machine.own, since, &again) == JOURNAL_WHOLE && !strcmp(since, boot));
	same_knobs(k, &again);
	knobs_free(&again);
}

static void try_text(const char *text, size_t len, const uint8_t *fates)
{
	struct knobs k = {0};
	char boot[BOOT_ID];
	enum journal_state state;
	bool here, there;
	size_t size;
	char *left;
	int code;

	put_file(text, len);
	state = journal_read(machine.own, boot, &k);
	assert(state != JOURNAL_NONE);
	if (state == JOURNAL_BAD)
		assert(!k.count && !*boot);
	else
		check_taken(text, len, state, boot, &k);
	here = !strcmp(boot, BOOT);
	machine_make(&k, fates);
	put_file(text, len);
	code = undo_all(machine.own);
	there = !access(journal(), F_OK);
	assert(here || !machine.writes);
	if (here && state != JOURNAL_BAD && !there)
		machine_check();
	assert(state != JOURNAL_BAD || (code == EXIT_ERROR && there));
	assert(drop_kept() == (state == JOURNAL_CUT && here));
	assert(state != JOURNAL_CUT || !here || code == EXIT_ERROR);
	assert(state == JOURNAL_BAD || (state == JOURNAL_CUT && here) ||
	       there == (code == EXIT_ERROR));
	if (there && state != JOURNAL_BAD) { /* the next one may put it back */
		assert(journal_read(machine.own, boot, &k) == JOURNAL_WHOLE && k.count);
		assert(k.count <= machine.was.count && !strcmp(boot, BOOT));
		knobs_free(&k);
	}
	if (there && state == JOURNAL_BAD) {
		left = get_file(&size);
		assert(size == len && !memcmp(left, text, len));
		free(left);
	}
	count_run(state == JOURNAL_BAD   ? 1
		  : !here                ? 2
		  : there                ? 3
		  : state == JOURNAL_CUT ? 4
					 : 5,
		  state == JOURNAL_BAD   ? "refused"
		  : !here                ? "rebooted since"
		  : there                ? "not all put back"
		  : state == JOURNAL_CUT ? "cut, put back"
					 : "put back");
	machine_free();
}

/* A journal of any knobs comes back. */
static void try_written(const uint8_t *data, const uint8_t *end, const uint8_t *fates)
{
	struct knobs k = {0}, again = {0};
	char boot[BOOT_ID], *text;
	size_t len;

	make_knobs(data, end, &k);
	assert(!journal_write(machine.own, BOOT, &k));
	assert(journal_read(machine.own, boot, &again) == JOURNAL_WHOLE);
	same_knobs(&k, &again);
	knobs_free(&again);
	knobs_free(&k);
	text = get_file(&len);
	count_run(6, "written");
	try_text(text, len, fates);
	free(text);
}

static void begin(void)
{
	char base[sizeof(machine.own) - 8];
	const char *tmp = getenv("TMPDIR");

	snprintf(base, sizeof(base), "%s/culprit-fuzz.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(base))
		abort();
	snprintf(machine.own, sizeof(machine.own), "%s/state", base); /* an undo removes it */
	machine.file = memfd_create("knob", MFD_CLOEXEC);
	if (machine.file < 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < BEGIN)
		return 0;
	count_run(0, "journals"); /* opens its file: before the machine is there */
	if (!machine.file)
		begin();
	mkdir(machine.own, 0700);
	if (data[0] & 1)
		try_written(data + BEGIN, data + size, data + 1);
	else
		try_text((const char *)data + BEGIN, size - BEGIN, data + 1);
	return 0;
}
