/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Feeds any bytes to the osnoise reader and both of its reports: nothing crashes, every line is
 * counted. The first byte chooses the blocks in which the rest comes. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "count.h"
#include "model/osnoise.h"
#include "render/osnoise.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(const struct osnoise_event *e)
{
	assert(e->type <= OSNOISE_TIMERLAT);
	assert(e->cpu < CPUS_MAX);
	assert(e->kind < SOURCE_KINDS);
	assert(e->context < TIMERLAT_CONTEXTS);
	assert(memchr(e->name, '\0', sizeof(e->name)));
	assert(e->start_ns + e->duration_ns >= e->start_ns);
}

static uint64_t feed(struct osnoise_reader *r, struct lines *l, const char *text, size_t size,
		     size_t block)
{
	uint64_t events = 0;

	for (size_t at = 0; at < size;) {
		size_t left = size - at < block ? size - at : block;
		const char *p = text + at;

		at += left;
		while (lines_next(l, &p, &left))
			if (osnoise_line(r, l->text, l->len) == OSNOISE_EVENT) {
				check_event(&r->event);
				events++;
			}
	}
	if (lines_last(l) && osnoise_line(r, l->text, l->len) == OSNOISE_EVENT)
		events++;
	osnoise_finish(r);
	return events;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct render_options options = {0};
	struct osnoise_reader *r;
	struct lines *l;
	uint64_t events, sum = 0;
	FILE *out;

	if (!size)
		return 0;
	count_run(0, "osnoise");
	r = malloc(sizeof(*r));
	l = calloc(1, sizeof(*l));
	out = fopen("/dev/null", "w");
	if (!r || !l || !out || osnoise_init(r))
		abort();
	events = feed(r, l, (const char *)data + 1, size - 1, (size_t)data[0] + 1);
	for (int i = 0; i < 4; i++)
		sum += r->events[i];
	assert(events == sum);
	assert(r->unknown <= r->lines && r->known <= r->lines);
	assert(r->nunknowns <= OSNOISE_UNKNOWNS && !r->unknown == !r->nunknowns);
	render_osnoise_text(r, "fuzz", &options, out);
	render_osnoise_json(r, "fuzz", out);
	osnoise_free(r);
	free(r);
	free(l);
	fclose(out);
	return 0;
}
