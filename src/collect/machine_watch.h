/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine whose CPUs are watched, while it comes, goes, and has more or fewer of them. */
#ifndef CULPRIT_MACHINE_WATCH_H
#define CULPRIT_MACHINE_WATCH_H

#include "choice.h"
#include "collect/vcpus.h"

struct machine {
	const char *name;
	int32_t pid;   /* 0: not there */
	int pidfd;     /* -1: none */
	bool by_name;  /* one of that name may come */
	bool reported; /* said: its threads cannot be read */
	/* Said: it may be one whose command line does not come; several have the name; one of
	 * another user has it. */
	bool late, several, stranger;
	uint32_t looks; /* while it was there */
	struct vcpus_search search;
	uint64_t looked_ns;
	int32_t tid[CHOICE_THREADS / CHOICE_VCPUS]; /* as the probes know them */
	int ntids;
};

/* text: that of --vcpus, which outlives it. search.wait_ns is the caller's to set. */
struct machine machine_of(const char *text);

/* Looks once a second, and keeps the threads that are its CPUs in this map of the probes. */
void machine_look(struct machine *m, int map, uint64_t now_ns);
void machine_end(struct machine *m);

#endif
