/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/style.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/newfile.h"

#define STEPS        10000 /* as many as hiccups takes */
#define STEPS_FACTOR 8

/* hiccups takes eight times the smallest step of the clock in ten thousand readings. */
static uint64_t smallest_step(void)
{
	uint64_t least = UINT64_MAX, last = 0;

	for (int i = 0; i < STEPS; i++) {
		uint64_t now = now_ns();

		if (last && now - last < least && now > last)
			least = now - last;
		last = now;
	}
	return STEPS_FACTOR * least;
}

void style_prepare(const struct styled *s, uint64_t *threshold_ns)
{
	if (!*threshold_ns)
		*threshold_ns =
			s->style == STYLE_HICCUPS ? smallest_step() : style_threshold(s->style);
}

bool style_wants_hiccups(const struct styled *s)
{
	return s->raw || s->style == STYLE_OSNOISE;
}

static int open_raw(struct styled *s, const struct view *v)
{
	char path[4096];

	s->file = calloc(v->ncpus, sizeof(*s->file));
	s->last_ns = calloc(v->ncpus, sizeof(*s->last_ns));
	if (!s->file || !s->last_ns)
		return complain("out of memory");
	for (uint32_t i = 0; i < v->ncpus; i++) {
		snprintf(path, sizeof(path), "%s.%u", s->raw, v->cpu[i].number);
		s->file[i] = newfile_grow(path);
		if (!s->file[i])
			return complain("cannot write to %s: %s; choose another prefix with --raw",
					path, newfile_error(errno));
	}
	return 0;
}

int style_begin(struct styled *s, const struct view *v, FILE *out)
{
	s->tsc_khz = v->host.tsc_khz;
	s->period = calloc(v->ncpus, sizeof(*s->period));
	if (!s->period)
		return complain("out of memory");
	if (s->style == STYLE_OSNOISE)
		render_period_head(out);
	return s->raw ? open_raw(s, v) : 0;
}

void style_hiccup(struct styled *s, const struct view *v, uint32_t index, const struct account *a,
		  FILE *out)
{
	if (s->style == STYLE_OSNOISE)
		render_period(v, index, &s->period[index], a, out);
	if (!s->raw || !s->file[index])
		return;
	render_raw(v, a, s->last_ns[index], s->tsc_khz, s->file[index]);
	s->last_ns[index] = a->start_ns;
}

int style_end(struct styled *s, const struct view *v, FILE *out)
{
	int err = 0;

	if (s->style == STYLE_OSNOISE)
		for (uint32_t i = 0; i < v->ncpus; i++)
			render_period(v, i, &s->period[i], NULL, out);
	else if (s->style != STYLE_NONE && render_style(s->style, v, out) == -ENOMEM)
		err = complain("out of memory");
	for (uint32_t i = 0; s->file && i < v->ncpus; i++)
		if (s->file[i] && (ferror(s->file[i]) | fclose(s->file[i])))
			err = complain("writing %s.%u: %s", s->raw, v->cpu[i].number,
				       strerror(errno));
	if (s->style != STYLE_NONE && (fflush(out) || ferror(out)))
		err = complain("writing the report: %s", strerror(errno));
	free(s->file);
	free(s->last_ns);
	free(s->period);
	return err;
}
