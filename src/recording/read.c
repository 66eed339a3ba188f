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
	r->made_private = r->view->run.redacted;
	reader_redact_head(r);
	return 0;
}

/* ---- impossible contents ---- */

void reader_refuse(struct recording *r, const char *why)
{
	if (!r->ncannot++) {
		r->cannot = why;
		r->cannot_at = r->chunks.start;
	}
	r->holes |= r->chunks.type == CHUNK_EVENTS;
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
		reader_refuse(r, why);
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

		/* Redacted names count in the order in which they come: all must. */
		r->indexed = (r->part.from_ns || r->part.to_ns) && !r->part.redact &&
			     !index_init(&r->index, r->nlanes);
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
	bool texts = view_text(r->view, "") && view_users_text(r->view, ""); /* makes them */

	r->texts = r->view->texts;
	r->naming = texts ? naming_new(r->texts, r->view->users_texts, r->part.by) : NULL;
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
							   .divider = r->part.divider,
							   .kept = true,
							   .spans = r->part.spans});
	if (!r->session || reader_begin(r))
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
	if (chunks_open(&r->chunks, path, part ? part->name : NULL)) {
		free(r);
		return NULL;
	}
	if (part && part->name)
		path = part->name;
	else if (!strcmp(path, "-"))
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

bool recording_private(const struct recording *r)
{
	return r->made_private;
}

void recording_close(struct recording *r)
{
	if (!r)
		return;
	reader_stop(r);
	chunks_close(&r->chunks);
	session_free(r->session);
	decoder_free(r->decoder);
	naming_free(r->naming);
	free(r->lane);
	free(r->checked);
	index_free(&r->index);
	free(r);
}
