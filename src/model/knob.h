/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Knobs: the settings of a running kernel that fixes change, and what one try of a fix changes.
 */
#ifndef CULPRIT_KNOB_H
#define CULPRIT_KNOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Journals hold these by name: see knob_kind_name. */
enum knob_kind {
	KNOB_NONE,
	KNOB_FILE,    /* the text of a file */
	KNOB_FEATURE, /* a word of a list, with NO_ before it or without */
	KNOB_FILES,   /* the texts of all files that match a glob: each becomes a KNOB_FILE */
	KNOB_THREAD,  /* the CPUs where a thread may run */
	KNOB_KINDS,
};

/* One setting. Its texts are owned; they hold no newline at the end, but else any bytes. */
struct knob {
	enum knob_kind kind; /* not KNOB_FILES */
	char *path;          /* name of the file; "" for a thread */
	/* A thread's number, name and start time (field 22 of /proc/TID/stat), by which
	 * another thread that got its number is told from it. */
	unsigned tid;
	char comm[17];
	unsigned long long born;
	char *old; /* the value that was there, in the form in which it is written */
	char *new; /* to be written */
	/* The value that the kernel made of `new`, as it is read when it is in force. NULL: not
	 * known yet. */
	char *now;
	bool turned; /* written, or perhaps: only then is it put back */
	bool kept;   /* a try has left it in force: --apply */
};

#define KNOBS_MAX 4096

struct knobs { /* all zeros: none */
	struct knob *row;
	uint32_t count;
};

/* The most of a file's text, with its end: a CPU mask of 8,192 CPUs has 2,303 bytes. */
#define KNOB_VALUE 16384

const char *knob_kind_name(enum knob_kind kind); /* "file" */

/* Adds a row with copies of the texts (now: NULL), which are not NULL. NULL: out of memory, or
 * KNOBS_MAX are there. Valid until the next call. */
struct knob *knobs_add(struct knobs *k, enum knob_kind kind, const char *path, const char *old,
		       const char *new);
void knobs_remove(struct knobs *k, uint32_t index);
void knobs_free(struct knobs *k);

/* Writes "/proc/irq/36/smp_affinity_list", or of a thread "the CPUs of kswapd0 [61]". Unescaped.
 * Returns buf. */
char *knob_name(const struct knob *k, char *buf, size_t len);

/* Makes the value of a file's text, in place: the feature that is meant, as it is set. 0 or -errno.
 * text: shorter than KNOB_VALUE. */
int knob_feature(char *text, const char *feature);

/* True when two values, shorter than KNOB_VALUE, mean the same: masks of CPUs are compared without
 * the commas, and without the zeros before them. */
bool knob_same(const char *a, const char *b);

#endif
