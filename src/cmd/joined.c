/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/joined.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "cmd/output.h"
#include "model/through.h"

/* The recording of one host. */
struct side {
	struct through *through;
	const char *path;
	const char *name; /* in messages; NULL: the path */
	struct view view; /* on the second way */
	struct recording *recording;
	bool over; /* all of it has been read */
};

struct joined {
	struct side side[JOINED_HOSTS];
	uint32_t n;
	struct cpus cpus; /* those of the guest's that are wanted; empty: all */
	const char *name; /* the guest's in messages; NULL: its path */
	struct redact *redact;
	struct divider divider;
};

int joined_set_host(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	struct hosts_given *h = field;
	int n = 0;

	(void)row;
	while (n < JOINED_HOSTS - 1 && h->path[n])
		n++;
	if (n == JOINED_HOSTS - 1) {
		snprintf(why, whylen, "'%.40s' is one too many: at most %d can be given", text,
			 JOINED_HOSTS - 1);
		return -EINVAL;
	}
	h->path[n] = text;
	return 0;
}

/* Reads a recording from end to end, for the gaps of the part's CPUs. */
static int read_gaps(struct through *t, const char *path, const struct part *part, struct view *v,
		     void (*take)(struct through *t, uint32_t index, const struct account *a))
{
	struct recording *r = recording_open(path, part, v);
	const struct account *a;
	uint32_t index;

	if (!r)
		return -1;
	while ((a = recording_next(r, &index)))
		take(t, index, a);
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

static int match(struct joined *j, struct side *s, const char *guest)
{
	struct view *g = calloc(1, sizeof(*g)), *h = calloc(1, sizeof(*h));
	/* The join sees these CPUs of the guest, and all threads of the host. */
	const struct part wanted = {.cpus = j->cpus, .name = j->name}, all = {.name = s->name};
	int err = -1;

	if (!g || !h)
		complain("out of memory");
	else if (!read_gaps(s->through, s->path, &all, h, through_host) &&
		 !read_gaps(s->through, guest, &wanted, g, through_guest) &&
		 !check(j->name ? j->name : guest, g, s->name ? s->name : s->path, h)) {
		err = through_match(s->through, g, h);
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

static int open_side(struct joined *j, struct side *s, const char *guest, const char *path,
		     const char *name)
{
	if (!strcmp(guest, "-") || !strcmp(path, "-"))
		return complain("--host reads all recordings twice, so none can be standard input: "
				"give it files");
	s->path = path;
	s->name = name;
	s->through = through_new();
	return s->through ? match(j, s, guest) : complain("out of memory");
}

/* Those that fit come first: they explain, and they are named. */
static void put_in_front(struct joined *j)
{
	uint32_t fit = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		struct side s = j->side[i];

		if (through_found(s.through)->verdict != ALIGN_FOUND)
			continue;
		memmove(&j->side[fit + 1], &j->side[fit], (i - fit) * sizeof(s));
		j->side[fit++] = s;
	}
}

struct joined *joined_open(const char *guest, const struct hosts_given *hosts,
			   const struct part *part)
{
	struct joined *j = calloc(1, sizeof(*j));

	if (!j) {
		complain("out of memory");
		return NULL;
	}
	j->cpus = part->cpus;
	j->redact = part->redact;
	j->name = part->name;
	for (; j->n < JOINED_HOSTS && hosts->path[j->n]; j->n++)
		if (open_side(j, &j->side[j->n], guest, hosts->path[j->n], hosts->name)) {
			j->n++;
			joined_close(j);
			return NULL;
		}
	put_in_front(j);
	return j;
}

/* Gives the join the host's windows, up to the time of the guest's gap. */
static void more(void *ctx, uint64_t until_ns)
{
	struct side *s = ctx;
	const struct account *a;
	uint32_t index;

	while (!s->over && (a = recording_next(s->recording, &index))) {
		through_window(s->through, index, a);
		if (a->start_ns + a->duration_ns >= until_ns)
			return;
	}
	s->over = true;
}

static bool fits(const struct side *s)
{
	return through_found(s->through)->verdict == ALIGN_FOUND;
}

/* Asks the hosts one after the other, until one was recorded at that time: a guest is on one host
 * at a time. */
static struct account *divide(void *ctx, uint32_t index, const struct account *a)
{
	const struct joined *j = ctx;
	struct account *r = NULL;

	for (uint32_t i = 0; i < j->n && fits(&j->side[i]); i++) {
		const struct divider *d = through_divider(j->side[i].through);

		r = d->divide(d->ctx, index, a);
		if (r->host_ns || r->host_not_covered_ns < r->outside_ns)
			break;
	}
	return r;
}

int joined_begin(struct joined *j, struct part *part, struct view *guest)
{
	bool several = j->n > 1 && fits(&j->side[1]);
	/* All recordings have one set of redacted names, and are read by turns. Where a window is
	 * longer than the guest's gap its spans tell what of it lies there. */
	struct part whole = {.redact = j->redact, .threads = 1, .spans = true};

	for (uint32_t i = 0; i < j->n; i++) {
		struct side *s = &j->side[i];

		if (i && !fits(s))
			break;
		whole.name = s->name;
		s->recording = recording_open(s->path, &whole, &s->view);
		if (!s->recording)
			return -1;
		if (through_begin(s->through, guest, &s->view,
				  &(struct through_source){s, more, several}))
			return complain("out of memory");
	}
	if (!fits(&j->side[0]))
		return 0;
	part->spans = true;
	part->threads = 1;
	j->divider = (struct divider){j, divide};
	part->divider = &j->divider;
	return 0;
}

void joined_finish(struct joined *j, struct view *guest)
{
	uint32_t fit = 0;

	while (fit < j->n && fits(&j->side[fit]))
		fit++;
	for (uint32_t i = 0; i < j->n && j->side[i].recording; i++) {
		recording_finish(j->side[i].recording);
		output_explain(&j->side[i].view);
		if (i)
			through_list(j->side[i - 1].through, j->side[i].through);
		through_tell(j->side[i].through, fit, j->n);
	}
	guest->host_side = through_found(j->side[0].through);
}

void joined_close(struct joined *j)
{
	if (!j)
		return;
	for (uint32_t i = 0; i < j->n; i++) {
		view_free(&j->side[i].view);
		recording_close(j->side[i].recording);
		through_free(j->side[i].through);
	}
	free(j);
}
