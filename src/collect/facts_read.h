/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside facts_take: reading one file below the root, and the facts that are derived from many
 * files.
 */
#ifndef CULPRIT_COLLECT_FACTS_READ_H
#define CULPRIT_COLLECT_FACTS_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "model/facts.h"

struct facts_in {
	struct facts *facts;
	int root;        /* directory */
	bool live;       /* the root is this machine's, not a test's */
	bool partitions; /* takes only the cpuset partitions of the cgroups */
	bool left_out;   /* true: there is a FACT_NOT_KEPT */
};

/* Reads at most `len` bytes of a file below the root; returns how many, or -errno. Never waits;
 * opens no directory, no pipe, and no device but cpu_dma_latency. */
ssize_t facts_bytes(const struct facts_in *in, const char *path, void *buf, size_t len);

/* As facts_add, but leaves room for what facts_left_out adds. */
int facts_put(struct facts_in *in, const char *name, int err, const void *text, size_t len);

/* For an err of -ENOSPC adds the FACT_NOT_KEPT of this name, and returns its error; else err. */
int facts_left_out(struct facts_in *in, const char *name, int err);

/* Adds the file as a fact, with its text or its error. absent: also when the file does not exist.
 * 0, -ENOMEM, -ENOSPC. */
int facts_read(struct facts_in *in, const char *path, bool absent);

bool facts_never(const char *path); /* true when it must not be opened */

int facts_derive(struct facts_in *in);
int facts_config(struct facts_in *in); /* run/kconfig; asks for the release's fact */
int facts_tasks(struct facts_in *in);
int facts_cgroups(struct facts_in *in);
int facts_partitions(struct facts_in *in); /* takes the cpuset partitions alone */

#endif
