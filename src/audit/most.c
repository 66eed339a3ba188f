/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/most.h"

#include <string.h>

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
			best = (struct most){groups[g].source, g, groups[g].ns, .summed = true};
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

bool is_odd(const struct cpu *c, const struct most *longest, const struct most *most)
{
	return longest->source && group_longer(longest->ns, longest_in(c, most));
}

/* True for the time of slow windows that is neither an interruption nor the kernel's entry and
 * exit: the operation itself, as far as is known. */
static bool is_rest(const struct source *s)
{
	return s->word == WORD_REST;
}

/* True for sources that the operation's own wake-up uses, too; an idle CPU is nobody's. */
static bool may_be_own(const struct source *s)
{
	static const char *const causes[] = {"T10", "P01", "P04"};

	if (source_is_idle(s))
		return true;
	if (s->kind == SOURCE_VECTOR && !s->function && !strcmp(s->name, "local_timer"))
		return true; /* the function of the timer interrupt is not known */
	for (size_t i = 0; s->cause && i < sizeof(causes) / sizeof(causes[0]); i++)
		if (!strcmp(s->cause, causes[i]))
			return true;
	return false;
}

struct most most_of_windows(const struct cpu *c, uint64_t *rest)
{
	struct most best = {0};

	*rest = 0;
	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];

		if (is_rest(s))
			*rest += s->net.sum;
		else if (!may_be_own(s) && stops_usual_sum(s) > best.ns)
			best = (struct most){s, group_of(s), stops_usual_sum(s)};
	}
	return best;
}

struct most longest_of_windows(const struct cpu *c)
{
	struct most best = {0};

	for (uint32_t i = 0; i < c->sources.count; i++) {
		const struct source *s = c->sources.row[i];

		if (!is_rest(s) && !may_be_own(s) && s->net.count && stops_usual_max(s) > best.ns)
			best = (struct most){s, group_of(s), stops_usual_max(s)};
	}
	return best;
}

bool most_unread(const struct cpu *c, const struct most *m)
{
	return c->hiccups_lost && (!c->hiccups_lost_ns || c->hiccups_lost_ns > m->ns);
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

	if (s->word == WORD_STEAL || not_recorded(c))
		return false;
	if (c->smi_known && c->smi_count && c->smi_count >= stops_gaps(c))
		return false; /* each gap may be an SMI */
	return c->counts.lost > (c->counts.seen + c->counts.lost) / 100;
}
