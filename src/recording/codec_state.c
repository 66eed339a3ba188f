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
	if (s)
		free(s->last);
	free(s);
}

void codec_state_start(struct codec_state *s, uint64_t base)
{
	s->chunk++;
	s->index = 0;
	for (uint32_t i = 0; i < s->ncpus; i++) {
		struct last *l = &s->last[i];

		l->record_end = l->hiccup_end = base;
		memset(l->after, 0, sizeof(l->after));
		memset(l->seq, 0, sizeof(l->seq));
	}
}
