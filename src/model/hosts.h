/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several reports at once, usually of several hosts: their names, and the sources that cost
 * most. */
#ifndef CULPRIT_HOSTS_H
#define CULPRIT_HOSTS_H

#include "model/view.h"

#define HOST_LABEL (4 * 256 + 4 * 256 + 16) /* holds any but a long path */

/* One source of one host, over all of its CPUs. */
struct host_source {
	uint32_t view;
	/* The row on the first of the CPUs; the totals are below. */
	const struct source *who;
	struct cpus cpus; /* CPUs that it took time from; where watched threads ran */
	uint64_t count, total_ns, max_ns;
	uint64_t observed_ns; /* time of all the host's CPUs together, also those without this
				 source */
};

/* The host's name, escaped. Of several views of the same host it has in brackets what tells this
 * one from the others, "web-07 (before)": its label, else the name of its file, else its path;
 * where none of these does, a number in their order, "web-07 #2". Returns buf. */
char *host_label(const struct view *const *views, uint32_t n, uint32_t i, char *buf, size_t len);

/* Ranks the sources of all views by falling share of their host's observed time, each (kind, id,
 * name, function, kernel thread or not) once a view; writes the first `max` to row. Returns how
 * many there are in all, which may be more than max, or -ENOMEM. */
int hosts_rank(const struct view *const *views, uint32_t n, struct host_source *row, uint32_t max);

#endif
