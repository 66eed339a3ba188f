/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/joined.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "cmd/output.h"
#include "model/through.h"

struct joined {
	struct through *through;
	const char *path; /* the host's */
	struct cpus cpus; /* those of the guest's that are wanted; empty: all */
	struct redact *redact;
	struct view view; /* the host's, on the second way */
	struct recording *recording;
	bool over; /* all of it has been read */
};

/* Reads a recording from end to end, for the gaps of the part's CPUs. */
static int read_gaps(struct joined *j, const char *path, const struct part *part, struct view *v,
		     void (*take)(struct through *t, uint32_t index, const struct account *a))
{
	struct recording *r = recording_open(path, part, v);
	const struct account *a;
	uint32_t index;

	if (!r)
		return -1;
	while ((a = recording_next(r, &index)))
		take(j->through, index, a);
	recording_finish(r);
	recording_close(r);
	return 0;
}

static int check(const char *guest, const struct view *g, const char *host, const struct view *h)
{
	if (g->run.watch)
		return complain("%s: --host explains what CPUs of a guest lost, and this is a "
				"recording of threads: record the guest with culprit record",
				guest);
	if (g->run.windows)
		return complain("%s: --host explains what CPUs of a guest lost, and this is a "
				"recording of a workload's slow times: record the guest with "
				"culprit record",
				guest);
	if (!g->run.traced)
		return complain("%s: recorded with --no-trace, it does not tell what was outside "
				"the guest's kernel: record the guest without --no-trace",
				guest);
	if (!h->run.watch)
		return complain("%s: of the host --host needs a recording of the threads of the "
				"guest's CPUs: culprit watch -p PID -r FILE on the host",
				host);
	return 0;
}

static int match(struct joined *j, const char *guest)
{
	struct view *g = calloc(1, sizeof(*g)), *h = calloc(1, sizeof(*h));
	/* The join sees these CPUs of the guest, and all threads of the host. */
	const struct part wanted = {.cpus = j->cpus}, all = {.redact = NULL};
	int err = -1;

	if (!g || !h)
		complain("out of memory");
	else if (!read_gaps(j, j->path, &all, h, through_host) &&
		 !read_gaps(j, guest, &wanted, g, through_guest) && !check(guest, g, j->path, h)) {
		err = through_match(j->through, g, h);
		if (err)
			complain("out of memory");
	}
	if (g)
		view_free(g);
	if (h)
		view_free(h);
	free(g);
	free(h);
	return err;
}

struct joined *joined_open(const char *guest, const char *host, const struct part *part)
{
	struct joined *j;

	if (!strcmp(guest, "-") || !strcmp(host, "-")) {
		complain("--host reads both recordings twice, so neither can be standard input: "
			 "give it files");
		return NULL;
	}
	j = calloc(1, sizeof(*j));
	if (!j || !(j->through = through_new())) {
		complain("out of memory");
		free(j);
		return NULL;
	}
	j->path = host;
	j->cpus = part->cpus;
	j->redact = part->redact;
	if (!match(j, guest))
		return j;
	joined_close(j);
	return NULL;
}

/* Gives the join the host's windows, up to the time of the guest's gap. */
static void more(void *ctx, uint64_t until_ns)
{
	struct joined *j = ctx;
	const struct account *a;
	uint32_t index;

	while (!j->over && (a = recording_next(j->recording, &index))) {
		through_window(j->through, index, a);
		if (a->start_ns + a->duration_ns >= until_ns)
			return;
	}
	j->over = true;
}

int joined_begin(struct joined *j, struct part *part, struct view *guest)
{
	/* Both recordings have one set of redacted names, and are read by turns. */
	const struct part whole = {.redact = j->redact, .threads = 1};

	j->recording = recording_open(j->path, &whole, &j->view);
	if (!j->recording)
		return -1;
	if (through_begin(j->through, guest, &j->view,
			  &(struct through_source){.ctx = j, .more = more}))
		return complain("out of memory");
	if (through_found(j->through)->verdict != ALIGN_FOUND)
		return 0;
	part->spans = true;
	part->threads = 1;
	part->divider = through_divider(j->through);
	return 0;
}

void joined_finish(struct joined *j, struct view *guest)
{
	recording_finish(j->recording);
	guest->host_side = through_found(j->through);
	output_explain(&j->view);
}

void joined_close(struct joined *j)
{
	if (!j)
		return;
	view_free(&j->view);
	recording_close(j->recording);
	through_free(j->through);
	free(j);
}
