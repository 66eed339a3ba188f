/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/read.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "recording/fields.h"
#include "recording/format.h"
#include "recording/reader.h"

#define UNKNOWN                                                                                    \
	"%s is packed by zstd, and this culprit was built without libzstd: use one that has it"
/* Samplers start together; the kernel may delay one, but not so long. */
#define STARTS_NS 60000000000ULL

/* ---- the head ---- */

static int take_cpus(struct recording *r, struct reading *in)
{
	uint64_t n = get_number(in);
	struct reading again = *in;
	uint32_t wanted = 0;
	unsigned *cpus;
	int err = -1;

	if (!n || n > CPUS_MAX || in->bad)
		return -1;
	r->nlanes = n;
	r->lane = calloc(n, sizeof(*r->lane));
	cpus = calloc(n, sizeof(*cpus));
	for (uint64_t i = 0; r->lane && cpus && i < n && !in->bad; i++) {
		uint64_t cpu = get_number(in);
		bool want = cpus_empty(&r->part.cpus) || cpus_has(&r->part.cpus, cpu);

		skip_cpu(in);
		in->bad |= cpu >= CPUS_MAX;
		r->lane[i] = (struct recorded_lane){.index = want ? wanted : UINT32_MAX,
						    .stop_ns = UINT64_MAX};
		if (want)
			cpus[wanted++] = cpu;
	}
	if (r->lane && cpus && !in->bad)
		err = !wanted ? -2 : view_cpus(r->view, cpus, wanted) ? -1 : 0;
	for (uint64_t i = 0; !err && i < n; i++) {
		get_number(&again);
		if (r->lane[i].index == UINT32_MAX)
			skip_cpu(&again);
		else
			get_cpu(&again, &r->view->cpu[r->lane[i].index],
				&r->view->run.recursion_misses, r->texts);
	}
	free(cpus);
	return again.bad ? -1 : err;
}

static int take_head(struct recording *r, const char *path)
{
	struct reading in;
	int err;

	if (!chunks_next(&r->chunks) || r->chunks.type != CHUNK_HEAD_TYPE || r->chunks.damaged)
		return r->chunks.unknown
			       ? complain(UNKNOWN, path)
			       : complain("%s: its head is %s, and without it nothing can be read",
					  path,
					  r->chunks.cut || r->chunks.size == FILE_HEAD ? "missing"
										       : "damaged");
	in = (struct reading){r->chunks.payload, r->chunks.payload + r->chunks.len, false};
	get_host(&in, &r->view->host);
	get_run(&in, &r->view->run, r->texts);
	err = take_cpus(r, &in);
	if (err == -2) {
		char wanted[128], recorded[128];

		return complain("%s: CPU %s was not recorded; recorded are %s", path,
				cpus_format(&r->part.cpus, wanted, sizeof(wanted)),
				cpus_format(&r->view->run.cpus, recorded, sizeof(recorded)));
	}
	if (err)
		return complain("%s: its head is damaged, and without it nothing can be read",
				path);
	reader_redact_head(r);
	return 0;
}

/* ---- impossible contents ---- */

/* Refuses the chunk in hand, which holds the impossible: its rest is not read. */
static void refuse(struct recording *r, const char *why)
{
	if (!r->ncannot++) {
		r->cannot = why;
		r->cannot_at = r->chunks.start;
	}
	r->reading = (struct reading){0};
}

void reader_run(struct recording *r, struct reading *in)
{
	struct run run = r->view->run;
	const char *why;

	run.not_observed = NULL;
	run.nnot_observed = 0;
	get_run(in, &run, r->texts);
	why = in->bad ? "it means nothing" : check_run(r->checked, r->nlanes, &r->view->run, &run);
	if (why) {
		free(run.not_observed);
		refuse(r, why);
		return;
	}
	free(r->view->run.not_observed);
	r->view->run = run;
	reader_redact_run(r);
}

/* ---- opening ---- */

/* Reads the end of the window from the tail, if there is one. */
static void find_end(struct recording *r)
{
	struct run run = {.started_ns = 0};

	if (chunks_find(&r->chunks, CHUNK_TAIL)) {
		struct reading in = {r->chunks.payload, r->chunks.payload + r->chunks.len, false};

		get_run(&in, &run, r->texts);
		if (!in.bad && run.duration_ns && !run.watch && !run.windows)
			r->end_ns = run.started_ns + run.duration_ns + STARTS_NS;
		free(run.not_observed);
	}
	chunks_rewind(&r->chunks);
	chunks_next(&r->chunks); /* the head */
}

static int prepare(struct recording *r, const char *path)
{
	view_text(r->view, ""); /* makes its texts */
	r->texts = r->view->texts;
	r->naming = r->texts ? naming_new(r->texts) : NULL;
	if (!r->naming)
		return complain("out of memory");
	if (take_head(r, path))
		return -1;
	r->decoder = decoder_new(r->nlanes, r->chunks.major);
	r->checked = calloc(r->nlanes, sizeof(*r->checked));
	if (!r->decoder || !r->checked)
		return complain("out of memory");
	find_end(r);
	if (r->part.from_ns || r->part.to_ns)
		part_find(r);
	reader_raise_threshold(r);
	r->session = session_new(&(struct session_options){.view = r->view,
							   .names = naming_names(r->naming),
							   .kept = true,
							   .spans = r->part.spans});
	if (!r->session)
		return complain("out of memory");
	for (uint32_t i = 0; i < r->nlanes && r->view->run.watch; i++)
		part_start(r, &r->lane[i]);
	return 0;
}

struct recording *recording_open(const char *path, const struct part *part, struct view *view)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (!r) {
		complain("out of memory");
		return NULL;
	}
	if (chunks_open(&r->chunks, path)) {
		free(r);
		return NULL;
	}
	if (!strcmp(path, "-"))
		path = "standard input";
	r->view = view;
	if (part)
		r->part = *part;
	if (!prepare(r, path))
		return r;
	recording_close(r);
	return NULL;
}

uint64_t recording_whole_ns(const struct recording *r)
{
	return r->whole_ns;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	chunks_close(&r->chunks);
	session_free(r->session);
	decoder_free(r->decoder);
	naming_free(r->naming);
	free(r->lane);
	free(r->checked);
	free(r);
}

/* ---- the events ---- */

static void take_tail(struct recording *r, struct reading *in)
{
	const char *why = r->tail ? "it ends twice" : reader_tail(r, in);

	if (why)
		refuse(r, why);
}

/* The next chunk that matters here. False: there are no more. */
static bool next_chunk(struct recording *r)
{
	while (!r->end && chunks_next(&r->chunks)) {
		struct reading in = {r->chunks.payload, r->chunks.payload + r->chunks.len, false};

		switch (r->chunks.type) {
		case CHUNK_EVENTS:
			if (r->tail) {
				refuse(r, "it goes on behind its end");
				break;
			}
			decoder_start(r->decoder, &in);
			r->reading = in;
			return true;
		case CHUNK_RUN:
			reader_run(r, &in);
			break;
		case CHUNK_FACT:
			get_facts(&in, &r->view->facts);
			reader_redact_facts(r);
			break;
		case CHUNK_TAIL:
			take_tail(r, &in);
			break;
		case CHUNK_END:
			r->end = true;
			break;
		}
	}
	return false;
}

/* True for a hiccup below this threshold. What ran in it is below the threshold, too. */
static bool too_short(const struct recording *r, struct recorded_lane *l, const struct event *e)
{
	uint64_t ns = e->type == EVENT_HICCUP ? e->hiccup->end_ns - e->hiccup->start_ns : 0;

	if (e->type != EVENT_HICCUP || !l->measured_from_ns || ns >= r->part.threshold_ns)
		return false;
	l->below.count++;
	l->below.total_ns += ns;
	return true;
}

static const struct account *take_event(struct recording *r, struct event *e)
{
	struct recorded_lane *l = &r->lane[e->index];
	const char *why;

	if (event_is_name(e->type)) {
		naming_take(r->naming, &r->reading, e);
		return NULL;
	}
	why = check_event(&r->checked[e->index], &r->view->run, r->end_ns, e);
	if (why) {
		refuse(r, why);
		return NULL;
	}
	reader_time(l, e);
	reader_redact_event(r, e);
	if (e->type == EVENT_WHERE)
		reader_spot(l, e->spot);
	if (l->index == UINT32_MAX || part_leaves(l, e) || too_short(r, l, e))
		return NULL;
	if (e->type == EVENT_HICCUP && e->hiccup->end_ns > l->left_ns)
		l->left_ns = e->hiccup->end_ns;
	e->index = l->index;
	return session_feed(r->session, e);
}

const struct account *recording_next(struct recording *r, uint32_t *index)
{
	struct event e;

	do {
		while (decoder_next(r->decoder, &r->reading, &e)) {
			const struct account *a = take_event(r, &e);

			if (a) {
				*index = e.index;
				return a;
			}
		}
		if (r->reading.bad)
			refuse(r, "an event means nothing");
		r->reading = (struct reading){0};
	} while (next_chunk(r));
	return NULL;
}

void recording_finish(struct recording *r)
{
	uint32_t index;

	if (r->finished)
		return;
	r->finished = true;
	while (recording_next(r, &index))
		;
	session_finish(r->session);
	reader_end(r);
}
