/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/through.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/through_state.h"

#define GAPS_MOST 262144 /* gaps of all lanes of a side, 16 bytes each */
#define GAPS_LANE 65536
#define JOINED_NS 5000 /* host's windows with less between them are one gap in the guest */

int through_vcpu(const char *comm)
{
	static const char *const forms[] = {"CPU %3u/KVM%n", "CPU %3u/TCG%n", "fc_vcpu %3u%n",
					    "vcpu%3u%n", "crosvm_vcpu%3u%n"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		unsigned number;
		int end = 0;

		if (sscanf(comm, forms[i], &number, &end) == 1 && end && !comm[end])
			return number;
	}
	return -1;
}

bool through_is_vcpu(const char *comm)
{
	return through_vcpu(comm) >= 0 || !strcmp(comm, "ALL CPUs/TCG");
}

struct through *through_new(void)
{
	return calloc(1, sizeof(struct through));
}

void side_free(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		align_gaps_free(&s->lane[i].gaps);
	free(s->lane);
	*s = (struct side){0};
}

void through_free(struct through *t)
{
	if (!t)
		return;
	side_free(&t->guest);
	side_free(&t->host);
	through_forget(t);
	align_free(&t->found.clocks);
	free(t->found.lane);
	free(t->holes);
	free(t);
}

/* ---- gaps ---- */

static struct side_lane *lane_of(struct side *s, uint32_t index)
{
	if (index >= s->n) {
		struct side_lane *more = reallocarray(s->lane, index + 1, sizeof(*more));

		if (!more)
			return NULL;
		s->lane = more;
		for (; s->n <= index; s->n++)
			s->lane[s->n] = (struct side_lane){.gaps.most = GAPS_LANE};
	}
	return &s->lane[index];
}

/* All lanes together have GAPS_MOST; the fewer each may have, the more there are. One that begins
 * before the newest is of no recording that culprit wrote. */
static void add_gap(struct side *s, struct side_lane *l, uint64_t start_ns, uint64_t length_ns)
{
	l->gaps.most = GAPS_MOST / s->n < GAPS_LANE ? GAPS_MOST / s->n : GAPS_LANE;
	if (l->gaps.n && start_ns < l->gaps.gap[l->gaps.n - 1].start_ns)
		return;
	align_gaps_add(&l->gaps, start_ns, length_ns);
}

/* A gap with much of the guest's own work in it says little about the host. */
void through_guest(struct through *t, uint32_t index, const struct account *a)
{
	struct side_lane *l;

	if (4 * a->outside_ns < 3 * a->duration_ns || !(l = lane_of(&t->guest, index)))
		return;
	add_gap(&t->guest, l, a->start_ns, a->outside_ns);
}

static void close_gap(struct side *s, struct side_lane *l)
{
	if (l->end_ns > l->start_ns)
		add_gap(s, l, l->start_ns, l->end_ns - l->start_ns);
	l->start_ns = l->end_ns = 0;
}

void through_host(struct through *t, uint32_t index, const struct account *a)
{
	struct side_lane *l = lane_of(&t->host, index);
	uint64_t end = a->start_ns + a->duration_ns;

	if (!l)
		return;
	if (l->end_ns && a->start_ns >= l->start_ns && a->start_ns <= l->end_ns + JOINED_NS) {
		l->end_ns = end > l->end_ns ? end : l->end_ns;
		return;
	}
	close_gap(&t->host, l);
	l->start_ns = a->start_ns;
	l->end_ns = end;
}

void side_close(struct side *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		close_gap(s, &s->lane[i]);
}
