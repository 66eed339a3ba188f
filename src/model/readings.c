/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/readings.h"

#include <stddef.h>

#include "model/align_state.h"

bool readings_due(const struct readings *r, uint64_t now_ns)
{
	uint64_t apart = r->apart_ns ? r->apart_ns : READINGS_APART_NS;

	return !r->n || now_ns - r->row[r->n - 1].ns >= apart;
}

bool readings_add(struct readings *r, const struct reading_of_clocks *x)
{
	const struct reading_of_clocks *last = r->n ? &r->row[r->n - 1] : NULL;
	uint32_t n = 0;

	if (last && (x->ns <= last->ns || (x->tick && x->tick <= last->tick)))
		return false;
	if (r->n == READINGS_MOST) {
		for (uint32_t i = 0; i < r->n; i += 2)
			r->row[n++] = r->row[i];
		r->n = n;
		r->apart_ns = 2 * (r->apart_ns ? r->apart_ns : READINGS_APART_NS);
	}
	r->row[r->n++] = *x;
	return true;
}

bool counter_rule_same(const struct counter_rule *a, const struct counter_rule *b)
{
	return a->ratio == b->ratio && a->offset == b->offset && a->fraction == b->fraction;
}

uint64_t counter_on_host(const struct counter_rule *rule, uint64_t tick)
{
	unsigned __int128 scaled = tick - rule->offset;

	/* scaling has dropped the bits below a tick */
	return (uint64_t)((scaled << rule->fraction) / rule->ratio);
}

/* ---- one clock of the host's by another ---- */

/* The clock by which the host's readings are looked up. */
static uint64_t key_of(const struct reading_of_clocks *x, enum readings_by by)
{
	return by == READINGS_COUNTER ? x->tick : x->real;
}

/* The host's CLOCK_MONOTONIC when the other clock showed `key`: between its readings, or as far
 * beyond them as the line through the last two goes. False: they are fewer than two, or that clock
 * was set back. */
static bool host_ns(const struct readings *host, enum readings_by by, uint64_t key, uint64_t *ns)
{
	const struct reading_of_clocks *a, *b;
	uint32_t i = 1;
	uint64_t wide;

	if (host->n < 2)
		return false;
	while (i + 1 < host->n && key_of(&host->row[i], by) <= key)
		i++;
	a = &host->row[i - 1];
	b = &host->row[i];
	if (!key_of(a, by) || key_of(b, by) <= key_of(a, by))
		return false;
	wide = key_of(b, by) - key_of(a, by);
	*ns = a->ns + (uint64_t)((__int128)(int64_t)(key - key_of(a, by)) * (b->ns - a->ns) / wide);
	return true;
}

static bool guest_to_host(const struct reading_of_clocks *x, const struct readings *host,
			  const struct counter_rule *rule, enum readings_by by, uint64_t *ns)
{
	if (by == READINGS_COUNTER)
		return x->tick && host_ns(host, by, counter_on_host(rule, x->tick), ns);
	return x->host && host_ns(host, by, x->host, ns);
}

static uint32_t draw(const struct readings *guest, const struct readings *host,
		     const struct counter_rule *rule, enum readings_by by,
		     struct align_piece piece[READINGS_MOST])
{
	uint64_t before = 0, ns;

	for (uint32_t i = 0; i < guest->n; i++, before = ns) {
		const struct reading_of_clocks *x = &guest->row[i];
		double drift;

		if (!guest_to_host(x, host, rule, by, &ns))
			return 0;
		if (!i)
			continue;
		drift = (double)(int64_t)(ns - before) / (double)(x->ns - x[-1].ns) - 1;
		if (!(drift <= ALIGN_DRIFT && drift >= -ALIGN_DRIFT))
			return 0;
		piece[i - 1] =
			(struct align_piece){x[-1].ns, x->ns, x[-1].ns, before - x[-1].ns, drift};
	}
	return guest->n ? guest->n - 1 : 0;
}

uint32_t readings_line(const struct readings *guest, const struct readings *host,
		       const struct counter_rule *rule, struct align_piece piece[READINGS_MOST],
		       enum readings_by *by)
{
	uint32_t n = rule && rule->ratio ? draw(guest, host, rule, READINGS_COUNTER, piece) : 0;

	*by = n ? READINGS_COUNTER : READINGS_NONE;
	if (n)
		return n;
	n = draw(guest, host, NULL, READINGS_PTP, piece);
	*by = n ? READINGS_PTP : READINGS_NONE;
	return n;
}
