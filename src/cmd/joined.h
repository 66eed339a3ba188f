/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's recording joined with its host's, or with those of several hosts: --host. All files are
 * read twice, so none may be a pipe. */
#ifndef CULPRIT_JOINED_H
#define CULPRIT_JOINED_H

#include "base/opt.h"
#include "recording/read.h"

#define JOINED_HOSTS 64 /* recordings of hosts */

struct hosts_given {
	const char *path[JOINED_HOSTS]; /* those of --host; NULL behind the last */
	const char *name;               /* the only one's in messages; NULL: its path */
};

/* Setter of an option that adds one to a struct hosts_given. */
int joined_set_host(const char *text, void *field, const struct opt *row, char *why, size_t whylen);

#define OPT_HOST(field)                                                                            \
	{                                                                                          \
		0, "host", "FILE",                                                                 \
			"the recording that culprit watch made on the host of this guest, of the " \
			"threads of its CPUs: says who took what the guest lost outside its "      \
			"kernel; may be given several times, for several hosts or guests",         \
			field, joined_set_host                                                     \
	}

struct joined;

/* Reads all for their gaps, and matches the guest's with each of the hosts'; host_side of the view
 * tells how that went, also when nothing can be joined. part: of the guest's, for its CPUs and
 * redaction, which is kept. NULL with the reason said. */
struct joined *joined_open(const char *guest, const struct hosts_given *hosts,
			   const struct part *part);

/* Makes `part` one whose reading joins them; guest: the view that it fills. 0, or -1 with the
 * reason said. */
int joined_begin(struct joined *j, struct part *part, struct view *guest);

/* Reads the rest of the hosts' recordings, once the guest's has been read, and gives their sources
 * their causes, for the view's. */
void joined_finish(struct joined *j, struct view *guest);

/* Frees the names of the guest's rows, too. NULL is allowed. */
void joined_close(struct joined *j);

#endif
