/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samples of the sources: those that have a series, those that had one, and the rest. */
#include "render/metric.h"

static void write_source(struct metrics *m, const struct family *f, uint32_t i, const char *kind,
			 const char *name, const struct leader *l, uint64_t number)
{
	metric_begin(m, f->name, metric_suffix(f->type));
	metric_lane(m, i);
	metric_label(m, "kind", kind);
	metric_label(m, "source", name);
	metric_label(m, "kernel_thread",
		     l && l->kind == SOURCE_THREAD ? l->kernel_thread ? "true" : "false" : NULL);
	if (l && l->by)
		metric_label(m, "together", owner_by_name(l->by));
	if (m->leaders->label)
		metric_label(m, owner_by_name(m->leaders->label), l && *l->label ? l->label : NULL);
	metric_label(m, "function", l ? l->function : NULL);
	metric_label(m, "cause", l ? l->cause : NULL);
	metric_value(m, number, f->seconds);
}

static uint64_t sum_of(const struct family *f, const struct leader_sums *s)
{
	return *(const uint64_t *)((const char *)s + f->at);
}

static uint64_t edge_of(const struct metrics *m, uint32_t part)
{
	const struct leaders *s = m->leaders;
	uint64_t ns = 0;

	for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes; i = leaders_lane(s, part, i + 1))
		ns += m->view->cpu[i].edge_ns;
	return ns;
}

/* Writes that number of the sums that the family names. */
void metric_sources(struct metrics *m, const struct family *f)
{
	for (uint32_t i = 0; i < m->leaders->n; i++) {
		const struct leaders_cpu *c = &m->leaders->cpu[i];

		for (uint32_t k = 0; k < c->count; k++) {
			const struct leader *own = &c->own[k];

			write_source(m, f, i, source_kind_name(own->kind), own->name, own,
				     sum_of(f, &own->sum));
		}
		for (int k = 0; k < SOURCE_KINDS; k++)
			if (c->rest[k].runs || c->rest[k].count || c->rest[k].ns)
				write_source(m, f, i, source_kind_name(k), OTHERS_NAME, NULL,
					     sum_of(f, &c->rest[k]));
		if (f->seconds)
			write_source(m, f, i, "edge", NULL, NULL, edge_of(m, i));
	}
}

/* Writes that number of the sums of the series that made room. */
void metric_ended(struct metrics *m, const struct family *f)
{
	for (uint32_t i = 0; i < m->leaders->n; i++)
		for (int k = 0; k < SOURCE_KINDS; k++) {
			const struct leader_sums *gone = &m->leaders->cpu[i].gone[k];

			if (!gone->runs && !gone->count && !gone->ns)
				continue;
			metric_begin(m, f->name, metric_suffix(f->type));
			metric_lane(m, i);
			metric_label(m, "kind", source_kind_name(k));
			metric_value(m, sum_of(f, gone), f->seconds);
		}
}

void metric_merged(struct metrics *m, const struct family *f)
{
	const struct leaders *s = m->leaders;

	for (uint32_t part = 0; part < s->n; part++)
		for (int k = 0; k < SOURCE_KINDS; k++) {
			uint64_t ns = 0, n = 0, of;

			for (uint32_t i = leaders_lane(s, part, 0); i < s->lanes;
			     i = leaders_lane(s, part, i + 1)) {
				n += sources_merged(&m->view->cpu[i].sources, k, &of);
				ns += of;
			}
			if (!n)
				continue;
			metric_begin(m, f->name, metric_suffix(f->type));
			metric_lane(m, part);
			metric_label(m, "kind", source_kind_name(k));
			metric_value(m, f->seconds ? ns : n, f->seconds);
		}
}
