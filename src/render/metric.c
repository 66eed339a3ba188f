/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/metric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/escape.h"
#include "base/units.h"

void metric_label(struct metrics *m, const char *name, const char *value)
{
	char piece[ESCAPE_CHAR];
	size_t used;

	fprintf(m->out, "%c%s=\"", m->some ? ',' : '{', name);
	m->some = true;
	for (; value && (used = escape_char(value, SIZE_MAX, piece)); value += used)
		for (const char *p = piece; *p; p++) {
			if (*p == '\\' || *p == '"')
				putc('\\', m->out);
			putc(*p, m->out);
		}
	putc('"', m->out);
}

void metric_label_u64(struct metrics *m, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	metric_label(m, name, text);
}

void metric_begin(struct metrics *m, const char *name, const char *suffix)
{
	fprintf(m->out, "%s%s", name, suffix);
	m->some = false;
	if (m->many) {
		metric_label(m, "host", m->view->host.hostname);
		metric_label(m, "started", m->view->run.started);
	}
}

void metric_value(struct metrics *m, uint64_t value, bool seconds)
{
	if (m->some)
		putc('}', m->out);
	if (seconds)
		fprintf(m->out, " %llu.%09llu\n", value / NSEC_PER_SEC, value % NSEC_PER_SEC);
	else
		fprintf(m->out, " %" PRIu64 "\n", value);
}

const char *metric_suffix(enum type type)
{
	return type == COUNTER ? "_total" : type == INFO ? "_info" : "";
}

const char *metric_lane_label(const struct metrics *m)
{
	return view_threads(m->view) ? "thread" : "cpu";
}

void metric_lane(struct metrics *m, uint32_t part)
{
	char lane[LANE_NAME], *list;

	if (m->per == PER_HOST && m->leaders->of)
		return;
	if (m->per == PER_GROUP && m->leaders->of) {
		list = malloc(LIST_BYTES);
		metric_label(m, "cpus",
			     list ? cpus_format(&m->view->groups.row[part].cpus, list, LIST_BYTES)
				  : "?");
		free(list);
	} else if (view_threads(m->view)) {
		metric_label(m, metric_lane_label(m), view_lane(m->view, part, lane));
	} else {
		metric_label_u64(m, metric_lane_label(m), m->view->cpu[part].number);
	}
}

static int begin(struct leaders *s, const struct view *v, enum metrics_per per)
{
	uint32_t *of;
	int err;

	if (per == PER_CPU || view_threads(v) || (per == PER_GROUP && !v->groups.n))
		return leaders_init(s, v->ncpus);
	if (per == PER_GROUP)
		return leaders_init_parts(s, v->ncpus, v->groups.of, v->groups.n);
	of = calloc(v->ncpus + 1, sizeof(*of));
	err = of ? leaders_init_parts(s, v->ncpus, of, 1) : -ENOMEM;
	free(of);
	return err;
}

int metrics_leaders(struct leaders *s, const struct view *v, enum metrics_per per,
		    enum owner_by label)
{
	int err = begin(s, v, per);

	s->label = label;
	return err;
}

void metric_of_watch(struct metrics *m, const struct family *f)
{
	const char *run = (const char *)&m->view->run;

	if (!view_threads(m->view))
		return;
	metric_begin(m, f->name, metric_suffix(f->type));
	metric_value(m, *(const uint64_t *)(run + f->at), f->seconds);
}
