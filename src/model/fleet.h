/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many recordings, ranked: which hosts lose most, and to what. Each view is added and may then go;
 * what stays is a row for each host, and up to FLEET_SOURCES rows of sources, so that ten thousand
 * recordings take some megabytes. With cells a number for each source of a recording stays, too. */
#ifndef CULPRIT_FLEET_H
#define CULPRIT_FLEET_H

#include "model/report.h"
#include "model/view.h"

#define FLEET_SOURCES 8192 /* later ones are added up in a row "(others)" of their kind */

/* Losses of recordings, of all their lanes. */
struct fleet_losses {
	uint64_t records_seen, records_lost, hiccups_lost;
	uint32_t incomplete; /* number of recordings that lack a part, for any reason */
};

struct fleet_host {
	const char *name; /* any bytes; all its recordings are one row */
	uint32_t recordings;
	uint64_t lanes;                /* CPUs or watched threads, of all its recordings together */
	uint64_t observed_ns, lost_ns; /* together, of lanes whose loss is known */
	uint64_t hiccups, longest_ns;
	/* The source that cost most in one of its recordings; NULL: none did. */
	const char *first;
	uint64_t first_ns;
};

/* Part of one recording: of its lanes whose loss is known. */
struct fleet_window {
	uint32_t host; /* index */
	uint64_t observed_ns, lost_ns;
	const char *kernel; /* release */
	const char *blind;  /* tracepoints that were not observed: "a, b" */
	struct fleet_losses losses;
};

struct fleet_cell {
	uint32_t recording; /* from 0 */
	uint64_t ns;        /* net, in lanes whose loss is known */
};

/* A source of all hosts: numbers in names and threads' ids are left out, as in groups of CPUs. */
struct fleet_source {
	enum source_kind kind;
	const char *name;  /* as reports print it */
	bool others;       /* a row "(others)", of names that had no room here or in a recording */
	const char *cause; /* id in the cause book; NULL: it has none, or several */
	uint64_t timed_ns; /* part of total_ns, in lanes whose loss is known: for shares */
	uint64_t total_ns, count, longest_ns;
	uint32_t hosts, last_host; /* number of hosts that have it; 1 + the last that was added */
	uint32_t recording;        /* number of the last recording that has it, */
	uint64_t recording_ns;     /* time in that recording */
	uint8_t *seen;             /* bits of those hosts; owned */
	size_t seen_len;
	struct fleet_cell *cell; /* by recording; owned */
	uint32_t ncells, cells_room;
};

struct fleet {
	struct texts *texts;
	struct fleet_host *host; /* owned */
	uint32_t nhosts, hosts_room;
	struct fleet_source *source; /* owned */
	uint32_t nsources;
	uint32_t *slot; /* hash of the sources: 1 + index */
	uint32_t *host_slot, host_slots;
	bool cells;                  /* set before the first is added */
	struct fleet_window *window; /* with cells: of each recording; owned */
	uint32_t windows_room;
	uint32_t recordings;
	uint64_t lanes, observed_ns, lost_ns;
	struct fleet_losses losses;
};

void fleet_losses_add(struct fleet_losses *to, const struct fleet_losses *from);

int fleet_init(struct fleet *f); /* 0 or -ENOMEM */
void fleet_free(struct fleet *f);

/* Adds a report whose sources have been looked up in the cause book. 0 or -ENOMEM. */
int fleet_add(struct fleet *f, const struct view *v);

/* Sorts hosts by the share that they lost, and sources by their time, the largest first. Nothing
 * can be added then. */
void fleet_rank(struct fleet *f);

#endif
