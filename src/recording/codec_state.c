/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/codec_state.h"

#include <stdlib.h>
#include <string.h>

struct codec_state *codec_state_new(uint32_t ncpus)
{
	struct codec_state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ncpus = ncpus;
	s->last = calloc(ncpus ? ncpus : 1, sizeof(*s->last));
	if (s->last)
		return s;
	free(s);
	return NULL;
}

void codec_state_free(struct codec_state *s)
{
	for (uint32_t i = 0; s && i < s->ncpus; i++)
		for (int level = 0; level < LEVELS; level++)
			free(s->last[i].near[level]);
	if (s)
		free(s->last);
	free(s);
}

void codec_state_start(struct codec_state *s, uint64_t base)
{
	s->chunk++;
	s->shapes = 0;
	s->index = 0;
	for (uint32_t i = 0; i < s->ncpus; i++) {
		struct last *l = &s->last[i];

		l->record_end = l->hiccup_end = base;
		memset(l->after, 0, sizeof(l->after));
		memset(l->seq, 0, sizeof(l->seq));
	}
}

bool codec_state_room(struct codec_state *s, unsigned level)
{
	struct near **near = &s->last[s->index].near[level];

	*near = calloc(NEAR_RECORDS, sizeof(**near));
	return *near;
}

static const struct near *near_of(const struct codec_state *s, unsigned level, uint32_t seq)
{
	const struct near *near = s->last[s->index].near[level];

	near = near ? &near[seq % NEAR_RECORDS] : NULL;
	return near && near->seq == seq && near->chunk == s->chunk ? near : NULL;
}

void codec_state_guess(const struct codec_state *s, const uint32_t n[LEVELS], uint64_t *start_ns,
		       uint64_t *end_ns)
{
	const struct last *last = &s->last[s->index];
	bool some = false;

	*start_ns = *end_ns = last->hiccup_end;
	for (unsigned level = 0; level < LEVELS; level++) {
		const struct near *a, *b;

		if (!n[level])
			continue;
		a = near_of(s, level, last->after[level] + 1);
		b = near_of(s, level, last->after[level] + n[level]);
		if (!a || !b)
			continue;
		if (!some || a->start_ns < *start_ns)
			*start_ns = a->start_ns;
		if (!some || b->end_ns > *end_ns)
			*end_ns = b->end_ns;
		some = true;
	}
}
