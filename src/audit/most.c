/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/most.h"

#include "model/groups.h"
#include "model/stops.h"

struct most most_of(const struct cpu *c)
{
	struct most groups[GROUPS] = {{0}}, best = {0};

	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];
		uint64_t ns = stops_usual_sum(s);
		enum group g = group_of(s);

		if (g < GROUPS) {
			groups[g].ns += ns;
			if (!groups[g].source || ns > stops_usual_sum(groups[g].source))
				groups[g].source = s;
		} else if (ns > best.ns) {
			best = (struct most){s, GROUPS, ns};
		}
	}
	for (int g = 0; g < GROUPS; g++)
		if (groups[g].ns > best.ns)
			best = (struct most){groups[g].source, g, groups[g].ns};
	return best;
}

struct most longest_of(const struct cpu *c)
{
	struct most best = {0};

	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];

		if (s->net.count && stops_usual_max(s) > best.ns)
			best = (struct most){s, group_of(s), stops_usual_max(s)};
	}
	return best;
}

/* The longest run among those that the verdict adds up. */
static uint64_t longest_in(const struct cpu *c, const struct most *m)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];

		if ((s == m->source || (m->group != GROUPS && group_of(s) == m->group)) &&
		    stops_usual_max(s) > ns)
			ns = stops_usual_max(s);
	}
	return ns;
}

struct most odd_of(const struct cpu *c, const struct most *most)
{
	struct most odd = longest_of(c);

	return odd.source && group_longer(odd.ns, longest_in(c, most)) ? odd : (struct most){0};
}

static uint64_t not_recorded(const struct cpu *c)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->sources.count; i++)
		ns += c->sources.row[i]->kind == SOURCE_LOST ? c->sources.row[i]->net.sum : 0;
	return ns;
}

/* True for time outside the kernel's records, without evidence of its cause, while a share of the
 * records is missing. */
bool may_be_lost(const struct view *v, uint32_t i, const struct source *s)
{
	const struct cpu *c = &v->cpu[i];

	if (s->word == WORD_STEAL || (c->smi_known && c->smi_count) || not_recorded(&v->cpu[i]))
		return false;
	return c->counts.lost > (c->counts.seen + c->counts.lost) / 100;
}
