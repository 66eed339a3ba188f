/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters that are known when the window is over: the CPU's frequency, and what a workload
 * measured, as levels and over time. */
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/perfetto.h"

#define SERIES_TRACK (4 * (SERIES_NAME + LANE_NAME) + 16)

static void emit_frequency(struct trace *t, uint32_t index)
{
	const struct cpu *c = &t->view->cpu[index];
	char name[32];

	if (!c->khz.n || t->view->run.watch)
		return;
	snprintf(name, sizeof(name), "CPU %u frequency", c->number);
	perfetto_track(t, TRACK_KHZ + index, TRACK_ROOT, t->view->ncpus + 1 + index, UNIT_KHZ,
		       name);
	for (uint32_t i = 0; i < c->khz.n; i++)
		perfetto_value(t, TRACK_KHZ + index, c->khz.row[i].at_ns, c->khz.row[i].khz);
}

/* "CPU 3 latency", or the same of a watched thread */
static void name_series(const struct trace *t, uint32_t index, const struct series *s,
			char name[SERIES_TRACK])
{
	char series[4 * SERIES_NAME + 8], lane[4 * LANE_NAME], buf[LANE_NAME];

	snprintf(lane, sizeof(lane), "CPU %u", t->view->cpu[index].number);
	if (view_threads(t->view))
		escape_text(view_lane(t->view, index, buf), SIZE_MAX, lane, sizeof(lane));
	snprintf(name, SERIES_TRACK, "%s %s", lane,
		 escape_text(s->name, sizeof(s->name), series, sizeof(series)));
}

static uint64_t new_counter(struct trace *t, uint32_t index, const char *unit, char *name)
{
	uint64_t track = TRACK_ROW + t->more++;

	perfetto_track(t, track, TRACK_ROOT, t->view->ncpus + 1 + index, unit, name);
	return track;
}

static void emit_levels(struct trace *t, uint32_t index, const struct series *s)
{
	static const struct {
		const char *name;
		double percentile;
	} levels[] = {{"median", 50}, {"p90", 90}, {"p99", 99}, {"p99.9", 99.9}, {"max", 100}};
	char series[SERIES_TRACK], name[SERIES_TRACK + 64], count[32];

	name_series(t, index, s, series);
	for (size_t k = 0; k < sizeof(levels) / sizeof(levels[0]); k++) {
		snprintf(name, sizeof(name), "%s %s of %s", series, levels[k].name,
			 format_count(s->hist.count, count, sizeof(count)));
		perfetto_value(t, new_counter(t, index, s->fine ? UNIT_PS : UNIT_NS, name),
			       t->view->run.started_ns,
			       hist_percentile(&s->hist, levels[k].percentile));
	}
}

enum figure { LARGEST, MEAN, NUMBER, FIGURES };

/* The bin is not empty, unless it is for the number. */
static uint64_t figure_of(const struct course_bin *b, enum figure f)
{
	if (f == NUMBER)
		return b->count;
	return f == LARGEST ? b->max : b->sum / b->count;
}

/* Writes a figure of each slice of time, where it changes; behind the last slice 0. A slice without
 * values has a number of them, 0, and no other figure: a counter cannot pause, so it stays as it
 * was. */
static void emit_course(struct trace *t, uint32_t index, const struct series *s, enum figure f)
{
	static const char *const figures[] = {"largest", "mean", "number"};
	const struct course *c = &s->course;
	const char *unit = f == NUMBER ? "values" : s->fine ? UNIT_PS : UNIT_NS;
	char series[SERIES_TRACK], name[SERIES_TRACK + 64], width[32];
	uint64_t track, last = UINT64_MAX;

	name_series(t, index, s, series);
	snprintf(name, sizeof(name), "%s %s in each %s", series, figures[f],
		 format_ns(c->width, width, sizeof(width)));
	track = new_counter(t, index, unit, name);
	for (uint32_t i = 0; i <= c->n; i++) {
		uint64_t value;

		if (i < c->n && !c->bin[i].count && f != NUMBER)
			continue;
		value = i < c->n ? figure_of(&c->bin[i], f) : 0;
		if (value != last)
			perfetto_value(t, track, c->start + i * c->width, value);
		last = value;
	}
}

void perfetto_window(struct trace *t, uint32_t index)
{
	const struct cpu *c = &t->view->cpu[index];

	emit_frequency(t, index);
	for (uint32_t i = 0; i < c->nseries; i++) {
		if (!c->series[i].hist.count)
			continue;
		emit_levels(t, index, &c->series[i]);
		for (int f = 0; f < FIGURES && c->series[i].course.n; f++)
			emit_course(t, index, &c->series[i], f);
	}
}
