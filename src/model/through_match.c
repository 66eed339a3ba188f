/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the threads of the host that are the guest's CPUs, and sets the clocks by each other. */
#include <errno.h>
#include <stdlib.h>

#include "model/through_state.h"

#define MANY     100 /* gaps of a CPU that tell whether a thread is its own... */
#define FEW_PART 10  /* unless fewer than one of so many coincide */
#define MACHINES 64  /* virtual machines of the host's that are tried */
#define LONGEST  300 /* gaps by which a CPU and a thread are tried */

/* Work, as align() has it: for any recordings, for each gap of both, and for pairs of a CPU and a
 * thread, of which so many are always tried. */
#define WORK_LEAST 400000000
#define WORK_GAP   200
#define WORK_PAIR  3000000
#define PAIRS      256
#define STEPS_PAIR 1000 /* beside the gaps */

struct matching {
	const struct view *guest, *host;
	int *vcpu; /* number of the virtual CPU that each thread is; -1: none */
	struct align_gaps *cpu, *thread; /* the longest of each; NULL until pairs are tried */
	uint64_t work, enough;           /* work: still allowed; enough: for one match */
	enum align_verdict best;         /* the farthest of the pairs that were tried */
	bool left;                       /* some of them were not */
};

static const struct align_gaps *gaps_of(const struct side *s, uint32_t index)
{
	static const struct align_gaps none;

	return index < s->n ? &s->lane[index].gaps : &none;
}

static uint64_t count_gaps(const struct side *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += s->lane[i].gaps.n;
	return n;
}

/* The virtual CPUs' numbers are told by the hypervisor, or by the threads' names. 0 or -ENOMEM. */
static int begin_matching(struct matching *m, const struct through *t, const struct view *guest,
			  const struct view *host)
{
	uint64_t pairs = (uint64_t)guest->ncpus * host->ncpus;
	uint64_t enough = WORK_LEAST + WORK_GAP * (count_gaps(&t->guest) + count_gaps(&t->host));

	*m = (struct matching){.guest = guest,
			       .host = host,
			       .vcpu = calloc(host->ncpus + 1, sizeof(*m->vcpu)),
			       .work = enough + WORK_PAIR * (pairs < PAIRS ? pairs : PAIRS),
			       .enough = enough,
			       .best = ALIGN_FEW};
	for (uint32_t k = 0; m->vcpu && k < host->ncpus; k++) {
		const struct cpu *thread = &host->cpu[k];

		m->vcpu[k] = thread->vcpu ? (int)(thread->vcpu - 1) : through_vcpu(thread->comm);
	}
	return m->vcpu ? 0 : -ENOMEM;
}

/* One thread of a virtual machine for each CPU by the numbers. False where they do not tell: a
 * thread has none, or several have the same. */
static bool map_by_name(struct through *t, const struct matching *m, uint32_t machine)
{
	uint32_t some = 0;

	for (uint32_t i = 0; i < m->guest->ncpus; i++)
		t->found.lane[i] = THROUGH_NOBODY;
	for (uint32_t k = 0; k < m->host->ncpus; k++) {
		if (m->host->cpu[k].machine != machine || m->vcpu[k] < 0)
			continue;
		for (uint32_t i = 0; i < m->guest->ncpus; i++) {
			if (m->vcpu[k] != (int)m->guest->cpu[i].number)
				continue;
			if (t->found.lane[i] != THROUGH_NOBODY)
				return false;
			t->found.lane[i] = k;
			some++;
		}
	}
	return some;
}

static void note_verdict(struct matching *m, enum align_verdict v)
{
	m->best = v > m->best ? v : m->best;
}

/* KVM's rule for the counter of these threads' guest; NULL: not known, or not one for all. */
static const struct counter_rule *rule_of(const struct view *host, const uint32_t *thread,
					  uint32_t n)
{
	const struct counter_rule *rule = n ? &host->cpu[thread[0]].counter : NULL;

	for (uint32_t i = 0; i < n; i++) {
		const struct counter_rule *r = &host->cpu[thread[i]].counter;

		if (!r->ratio || !counter_rule_same(r, rule))
			return NULL;
	}
	return rule;
}

/* Sets the guest's clock by the host's: by readings of both where these tell and the gaps confirm
 * it, else by the gaps alone. thread: of each lane. 0 or -ENOMEM. */
static int set_clocks(struct through *t, struct matching *m, const struct align_lane *lane,
		      const uint32_t *thread, uint32_t n, struct alignment *a)
{
	struct align_piece piece[READINGS_MOST];
	uint32_t pieces = readings_line(&m->guest->run.readings, &m->host->run.readings,
					rule_of(m->host, thread, n), piece, &t->found.by);

	if (pieces) {
		if (align_known(lane, n, piece, pieces, &m->work, a))
			return -ENOMEM;
		if (a->verdict == ALIGN_FOUND)
			return 0;
		align_free(a);
	}
	t->found.by = READINGS_NONE;
	return align(lane, n, &m->work, a);
}

/* Maps the CPU to the only thread whose gaps are its own. With pairs left to try none is. */
static int map_cpu(struct through *t, uint32_t i, struct matching *m)
{
	uint32_t found = 0, one = THROUGH_NOBODY, k = 0;

	for (; k < m->host->ncpus && found < 2; k++) {
		struct align_lane lane = {&m->cpu[i], &m->thread[k]};
		struct alignment a;

		if (m->vcpu[k] >= 0 && m->vcpu[k] != (int)m->guest->cpu[i].number)
			continue;
		if (!align_spend(&m->work, STEPS_PAIR))
			break;
		if (set_clocks(t, m, &lane, &k, 1, &a))
			return -ENOMEM;
		/* the clocks of two that fit are not set yet */
		note_verdict(m, a.verdict == ALIGN_FOUND ? ALIGN_AMBIGUOUS : a.verdict);
		if (a.verdict == ALIGN_FOUND) {
			one = k;
			found++;
		}
		align_free(&a);
	}
	m->left |= !m->work;
	t->found.lane[i] = found == 1 && m->work ? one : THROUGH_NOBODY;
	return 0;
}

static void free_longest(struct align_gaps *few, uint32_t n)
{
	for (uint32_t i = 0; few && i < n; i++)
		align_gaps_free(&few[i]);
	free(few);
}

/* The longest gaps of each lane. NULL: out of memory. */
static struct align_gaps *longest(const struct side *s, uint32_t n)
{
	struct align_gaps *few = calloc(n + 1, sizeof(*few));

	for (uint32_t i = 0; few && i < n; i++)
		if (align_gaps_longest(gaps_of(s, i), LONGEST, &few[i])) {
			free_longest(few, n);
			return NULL;
		}
	return few;
}

static int map_by_gaps(struct through *t, struct matching *m)
{
	int err;

	m->cpu = longest(&t->guest, m->guest->ncpus);
	m->thread = longest(&t->host, m->host->ncpus);
	err = m->cpu && m->thread ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < m->guest->ncpus && !err; i++)
		err = map_cpu(t, i, m);
	return err;
}

static int match(struct through *t, struct matching *m)
{
	struct align_lane *lane = calloc(t->found.nlanes + 1, sizeof(*lane));
	uint32_t *thread = calloc(t->found.nlanes + 1, sizeof(*thread)), n = 0;
	int err = -ENOMEM;

	align_free(&t->found.clocks);
	for (uint32_t i = 0; lane && thread && i < t->found.nlanes; i++)
		if (t->found.lane[i] != THROUGH_NOBODY) {
			thread[n] = t->found.lane[i];
			lane[n++] = (struct align_lane){gaps_of(&t->guest, i),
							gaps_of(&t->host, t->found.lane[i])};
		}
	if (lane && thread)
		err = set_clocks(t, m, lane, thread, n, &t->found.clocks);
	t->found.verdict = n ? t->found.clocks.verdict : m->best;
	free(lane);
	free(thread);
	return err;
}

/* The same of those that were chosen, whatever the choice took. */
static int match_at_last(struct through *t, struct matching *m)
{
	m->work = m->work > m->enough ? m->work : m->enough;
	return match(t, m);
}

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

	if (t->found.verdict != ALIGN_FOUND)
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

/* The virtual machines of the host's threads, those without one as 0. Returns how many; more than
 * MACHINES: there are more. */
static uint32_t list_machines(const struct view *host, uint32_t machine[MACHINES])
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < host->ncpus; k++) {
		uint32_t i = 0;

		while (i < n && machine[i] != host->cpu[k].machine)
			i++;
		if (i == n && n == MACHINES)
			return MACHINES + 1;
		if (i == n)
			machine[n++] = host->cpu[k].machine;
	}
	return n;
}

/* Tries the threads of each virtual machine in place of the guest's CPUs. Of several that fit
 * nobody knows which one it is. *fit: number of those that do. */
static int match_machines(struct through *t, struct matching *m, uint32_t *fit)
{
	uint32_t machine[MACHINES], n = list_machines(m->host, machine), right = 0, named = 0;
	int err = 0;

	*fit = 0;
	for (uint32_t i = 0; i < n && n <= MACHINES && !err; i++) {
		if (!map_by_name(t, m, machine[i]))
			continue;
		named++;
		right = *fit ? right : machine[i];
		err = match(t, m);
		if (t->found.verdict == ALIGN_FOUND && !(*fit)++)
			right = machine[i];
		note_verdict(m, t->found.verdict);
	}
	t->found.by_name = named;
	if (err || !named)
		return err;
	map_by_name(t, m, right);
	if (named > 1)
		err = match_at_last(t, m);
	if (*fit > 1)
		t->found.verdict = ALIGN_AMBIGUOUS;
	else if (!*fit)
		t->found.verdict = m->best;
	return err;
}

int through_match(struct through *t, const struct view *guest, const struct view *host)
{
	struct matching m = {.vcpu = NULL};
	uint32_t fit;
	int err;

	side_close(&t->host);
	t->from_ns = host->run.started_ns;
	t->to_ns = t->from_ns + host->run.duration_ns;
	t->found.nlanes = guest->ncpus;
	t->found.lane = calloc(guest->ncpus + 1, sizeof(*t->found.lane));
	if (!t->found.lane || note_holes(t, host))
		return -ENOMEM;
	err = begin_matching(&m, t, guest, host);
	if (!err)
		err = match_machines(t, &m, &fit);
	if (!err && !t->found.by_name) {
		err = map_by_gaps(t, &m);
		if (!err)
			err = match_at_last(t, &m);
	}
	if (!err && unmap_others(t))
		err = match_at_last(t, &m);
	through_say(&t->found, m.left);
	free_longest(m.cpu, guest->ncpus);
	free_longest(m.thread, host->ncpus);
	free(m.vcpu);
	side_free(&t->guest);
	side_free(&t->host);
	return err;
}

const struct through_found *through_found(const struct through *t)
{
	return &t->found;
}

void through_list(struct through *t, const struct through *next)
{
	t->found.next = &next->found;
}
