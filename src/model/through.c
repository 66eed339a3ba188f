/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/through.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/through_state.h"

#define GAPS_MOST 262144 /* gaps of all lanes of a side, 16 bytes each */
#define GAPS_LANE 65536
#define JOINED_NS 5000 /* host's windows with less between them are one gap in the guest */
#define PAIRS     256  /* pairs of a CPU and a thread that are tried where names do not tell */

#define MANY     100 /* gaps of a CPU that tell whether a thread is its own... */
#define FEW_PART 10  /* unless fewer than one of so many coincide */

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

static void free_gaps(struct side *s)
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
	free_gaps(&t->guest);
	free_gaps(&t->host);
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

/* ---- who is who ---- */

static const struct align_gaps *gaps_of(const struct side *s, uint32_t index)
{
	static const struct align_gaps none;

	return index < s->n ? &s->lane[index].gaps : &none;
}

/* One thread for each CPU by the names. False where they do not tell: a thread has none, or several
 * have the same. */
static bool map_by_name(struct through *t, const struct view *guest, const struct view *host)
{
	uint32_t some = 0;

	for (uint32_t i = 0; i < guest->ncpus; i++) {
		t->found.lane[i] = THROUGH_NOBODY;
		for (uint32_t k = 0; k < host->ncpus; k++) {
			if (through_vcpu(host->cpu[k].comm) != (int)guest->cpu[i].number)
				continue;
			if (t->found.lane[i] != THROUGH_NOBODY)
				return false;
			t->found.lane[i] = k;
			some++;
		}
	}
	return some;
}

/* Pairs of a CPU and a thread that were tried. */
struct tried {
	uint32_t pairs;
	enum align_verdict best; /* the farthest of their verdicts */
	bool left;               /* some were not tried */
};

static void note_verdict(struct tried *tried, enum align_verdict v)
{
	tried->best = v > tried->best ? v : tried->best;
}

/* Maps the CPU to the only thread whose gaps are its own. With pairs left to try none is. */
static int map_cpu(struct through *t, uint32_t i, const struct view *guest, const struct view *host,
		   struct tried *tried)
{
	uint32_t found = 0, k = 0;

	t->found.lane[i] = THROUGH_NOBODY;
	for (; k < host->ncpus && tried->pairs < PAIRS; k++) {
		int vcpu = through_vcpu(host->cpu[k].comm);
		struct align_lane lane = {gaps_of(&t->guest, i), gaps_of(&t->host, k)};
		struct alignment a;

		if (vcpu >= 0 && vcpu != (int)guest->cpu[i].number)
			continue;
		tried->pairs++;
		if (align(&lane, 1, &a))
			return -ENOMEM;
		/* the clocks of two that fit are not set yet */
		note_verdict(tried, a.verdict == ALIGN_FOUND ? ALIGN_AMBIGUOUS : a.verdict);
		if (a.verdict == ALIGN_FOUND) {
			t->found.lane[i] = k;
			found++;
		}
		align_free(&a);
	}
	tried->left |= k < host->ncpus;
	if (found != 1 || k < host->ncpus)
		t->found.lane[i] = THROUGH_NOBODY;
	return 0;
}

static int map_by_gaps(struct through *t, const struct view *guest, const struct view *host,
		       struct tried *tried)
{
	int err = 0;

	for (uint32_t i = 0; i < guest->ncpus && !err; i++)
		err = map_cpu(t, i, guest, host, tried);
	return err;
}

/* tried: says why no CPU has a thread. */
static int match(struct through *t, const struct tried *tried)
{
	struct align_lane *lane = calloc(t->found.nlanes + 1, sizeof(*lane));
	uint32_t n = 0;
	int err;

	if (!lane)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->found.nlanes; i++)
		if (t->found.lane[i] != THROUGH_NOBODY)
			lane[n++] = (struct align_lane){gaps_of(&t->guest, i),
							gaps_of(&t->host, t->found.lane[i])};
	err = align(lane, n, &t->found.clocks);
	t->found.verdict = n ? t->found.clocks.verdict : tried->best;
	free(lane);
	return err;
}

/* ---- what is said about it ---- */

/* True for a CPU whose thread has its name, and not its gaps. */
static bool is_others(const struct through *t, uint32_t i)
{
	const struct align_lane lane = {gaps_of(&t->guest, i), gaps_of(&t->host, t->found.lane[i])};
	uint32_t fewer, common = align_common(&t->found.clocks, &lane, &fewer);

	return fewer >= MANY && common < fewer / FEW_PART;
}

/* Takes such threads away, which are another guest's, where others are left that set the clocks.
 * True: some were taken. */
static bool unmap_others(struct through *t)
{
	uint32_t *lane = t->found.lane, stay = 0, go = 0;

	if (t->found.clocks.verdict != ALIGN_FOUND)
		return false;
	for (uint32_t i = 0; i < t->found.nlanes; i++)
		if (lane[i] != THROUGH_NOBODY)
			*(is_others(t, i) ? &go : &stay) += 1;
	for (uint32_t i = 0; i < t->found.nlanes && stay && go; i++)
		if (lane[i] != THROUGH_NOBODY && is_others(t, i))
			lane[i] = THROUGH_NOBODY;
	return stay && go;
}

/* Notes the threads of whose time the recording lacks something: nobody knows where. */
static int note_holes(struct through *t, const struct view *host)
{
	t->holes = calloc(host->ncpus + 1, sizeof(*t->holes));
	if (!t->holes)
		return -ENOMEM;
	t->nholes = host->ncpus;
	for (uint32_t i = 0; i < host->ncpus; i++) {
		const struct cpu *c = &host->cpu[i];

		t->holes[i] = host->run.damaged || c->unpaired || c->counts.lost || c->hiccups_lost;
	}
	return 0;
}

static uint32_t known_lanes(const struct through_found *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->nlanes; i++)
		n += f->lane[i] != THROUGH_NOBODY;
	return n;
}

static void say(struct through_found *f, const struct tried *tried)
{
	static const char *const refused[] = {
		[ALIGN_FEW] = "not joined: there are too few gaps to set the clocks by",
		[ALIGN_NONE] =
			"not joined: its gaps are not those of this guest's CPUs, so it is of "
			"another host, or of another time",
		[ALIGN_AMBIGUOUS] =
			"not joined: the gaps of both coincide in more than one way, as "
			"those of periodic noise do"};
	static const char many[] =
		"not joined: no name tells which thread is which CPU, and there are too many to "
		"try them all; on the host watch the threads of this guest's CPUs alone";
	const struct alignment *a = &f->clocks;
	char matched[32], gaps[32], rival[32], residual[32];
	uint32_t known = known_lanes(f);
	size_t len;

	if (f->verdict != ALIGN_FOUND) {
		snprintf(f->text, sizeof(f->text), "%s",
			 !known && tried->left ? many : refused[f->verdict]);
		return;
	}
	snprintf(f->text, sizeof(f->text),
		 "clocks matched by %s of %s gaps, to %s; drift %+.1f ppm; the next best way would "
		 "match %s",
		 format_count(a->matched, matched, sizeof(matched)),
		 format_count(a->gaps, gaps, sizeof(gaps)),
		 format_ns(a->residual_ns, residual, sizeof(residual)), a->piece[0].drift * 1e6,
		 format_count(a->rival, rival, sizeof(rival)));
	len = strlen(f->text);
	if (known < f->nlanes)
		snprintf(f->text + len, sizeof(f->text) - len,
			 "; the threads of %u of %u CPUs are known", known, f->nlanes);
}

int through_match(struct through *t, const struct view *guest, const struct view *host)
{
	struct tried tried = {.best = ALIGN_FEW};
	int err = 0;

	for (uint32_t i = 0; i < t->host.n; i++)
		close_gap(&t->host, &t->host.lane[i]);
	t->from_ns = host->run.started_ns;
	t->to_ns = t->from_ns + host->run.duration_ns;
	t->found.nlanes = guest->ncpus;
	t->found.lane = calloc(guest->ncpus + 1, sizeof(*t->found.lane));
	if (!t->found.lane || note_holes(t, host))
		return -ENOMEM;
	t->found.by_name = map_by_name(t, guest, host);
	if (!t->found.by_name)
		err = map_by_gaps(t, guest, host, &tried);
	if (!err)
		err = match(t, &tried);
	if (!err && unmap_others(t)) {
		align_free(&t->found.clocks);
		err = match(t, &tried);
	}
	say(&t->found, &tried);
	free_gaps(&t->guest);
	free_gaps(&t->host);
	return err;
}

const struct through_found *through_found(const struct through *t)
{
	return &t->found;
}
