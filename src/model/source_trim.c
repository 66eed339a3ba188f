/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chooses twice which rows stay: by all their time, and by their time since the last choice. The
 * others are added to the row that stands for them, and the remaining rows close up. A choice costs
 * a heap and makes room for a quarter of the rows (of a comm: for half of its threads), so a new
 * source costs little even if none ever repeats. */
#include "model/source_trim.h"

#include <stdlib.h>
#include <string.h>

#include "model/owner.h"

/* A candidate: a row, or all rows of a thread. */
struct choice {
	uint32_t id; /* row, or tid */
	uint64_t all_ns, new_ns, group;
	uint32_t slot; /* place of the group's count */
	bool stays;
};

/* A heap of candidates: the first has the most time; of equal ones it has the least id. */
struct rank {
	uint64_t ns;
	uint32_t id, at; /* at: index of the candidate */
};

static inline bool is_before(const struct rank *a, const struct rank *b)
{
	return a->ns != b->ns ? a->ns > b->ns : a->id < b->id;
}

static inline void sink(struct rank *heap, uint32_t n, uint32_t at)
{
	struct rank r = heap[at];

	for (uint32_t below; (below = 2 * at + 1) < n; at = below) {
		if (below + 1 < n && is_before(&heap[below + 1], &heap[below]))
			below++;
		if (!is_before(&heap[below], &r))
			break;
		heap[at] = heap[below];
	}
	heap[at] = r;
}

#define SLOTS (2 * SOURCE_ROWS)

/* Gives each group a place. */
static void find_groups(struct choice *c, uint32_t n)
{
	uint64_t group[SLOTS];
	bool taken[SLOTS] = {false};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t slot = (c[i].group * 0x9e3779b97f4a7c15ULL >> 32) % SLOTS;

		while (taken[slot] && group[slot] != c[i].group)
			slot = (slot + 1) % SLOTS;
		taken[slot] = true;
		group[slot] = c[i].group;
		c[i].slot = slot;
	}
}

/* At most `most` of one group stay; of_group: numbers of those that do. Only as many are put in
 * order as are looked at. */
static void choose(struct choice *c, uint32_t n, uint32_t keep, uint32_t most, uint32_t *of_group,
		   bool by_new)
{
	struct rank heap[SOURCE_ROWS];

	for (uint32_t i = 0; i < n; i++)
		heap[i] = (struct rank){by_new ? c[i].new_ns : c[i].all_ns, c[i].id, i};
	for (uint32_t i = n / 2; i--;)
		sink(heap, n, i);
	while (n && keep) {
		struct choice *first = &c[heap[0].at];

		heap[0] = heap[--n];
		sink(heap, n, 0);
		if (first->stays || of_group[first->slot] >= most)
			continue;
		first->stays = true;
		of_group[first->slot]++;
		keep--;
	}
}

/* ---- one row into another ---- */

static void merge_askers(struct source *into, struct source *from)
{
	if (!from->askers)
		return;
	if (into->askers) {
		askers_merge(into->askers, from->askers);
	} else {
		into->askers = from->askers;
		from->askers = NULL;
	}
}

/* Groups below one unit are of one owner. */
static bool same_owner(const char *owner, const char *other)
{
	char a[OWNER_TEXT], b[OWNER_TEXT];

	return owner && other && !strcmp(owner_text_of(owner, a), owner_text_of(other, b));
}

void source_owned(struct source *s, uint32_t cgroup, const char *owner)
{
	if (s->owners || cgroup == s->cgroup)
		return;
	s->owners = s->cgroup && !same_owner(s->owner, owner);
	s->owner = s->owners ? NULL : owner;
	s->cgroup = cgroup;
}

void source_flushed(struct source *s, const char *comm)
{
	if (s->memories || !*comm)
		return;
	s->memories = s->memory_of[0] && strncmp(s->memory_of, comm, 16) != 0;
	memcpy(s->memory_of, comm, 16);
	if (s->memories)
		s->memory_of[0] = '\0';
}

void source_label_anew(struct source *s, const char *label)
{
	s->elsewhere.ns = s->net.sum;
	s->elsewhere.count = s->count;
	s->elsewhere.runs = s->net.count;
	s->labelled = label;
}

static bool same_label(const struct source *a, const struct source *b)
{
	return a->labelled && b->labelled && !strcmp(a->labelled, b->labelled);
}

/* Threads of several owners have no label; what was counted by that of one stays there. */
static void merge_label(struct source *into, const struct source *from)
{
	if (into->labelled && !same_label(into, from) && (from->labelled || from->owner))
		source_label_anew(into, "");
	if (!from->labelled)
		return;
	into->elsewhere.ns += same_label(into, from) ? from->elsewhere.ns : from->net.sum;
	into->elsewhere.count += same_label(into, from) ? from->elsewhere.count : from->count;
	into->elsewhere.runs += same_label(into, from) ? from->elsewhere.runs : from->net.count;
}

static void merge(struct source *into, struct source *from)
{
	source_end_run(from);
	merge_label(into, from);
	into->merged += from->merged ? from->merged : 1;
	into->count += from->count;
	into->hiccups += from->hiccups;
	into->marked.ns += from->marked.ns;
	into->marked.count += from->marked.count;
	into->judged_ns += from->judged_ns;
	into->unseen.ns += from->unseen.ns;
	into->unseen.count += from->unseen.count;
	into->oldest = from->oldest < into->oldest ? from->oldest : into->oldest;
	hist_merge(&into->net, &from->net);
	slices_merge(&into->slices, &from->slices);
	merge_askers(into, from);
	if (from->process != into->process)
		into->process = SOURCE_PROCESSES;
	if (from->owners || into->rest)
		into->owners = true, into->owner = NULL;
	else
		source_owned(into, from->cgroup, from->owner);
	source_flushed(into, from->memory_of);
	if (from->memories)
		into->memories = true, into->memory_of[0] = '\0';
	hist_free(&from->net);
	slices_free(&from->slices);
	free(from->askers);
	free(from->advice);
	free(from);
}

/* ---- places ---- */

/* Rows have moved as t->went says. */
static void note_moves(struct sources *t)
{
	for (uint32_t i = 0; i < t->settled; i++)
		t->moved[i] = (t->moved[i] & SOURCE_GONE) | t->went[t->moved[i] & SOURCE_PLACE];
	t->trims++;
	sources_index(t);
}

/* t->went has for each row the one that it goes into, with SOURCE_GONE, or itself. */
static void close_up(struct sources *t)
{
	uint32_t before = t->count, place[SOURCE_ROWS];

	t->count = 0;
	for (uint32_t i = 0; i < before; i++) {
		struct source *s = t->row[i];

		if (t->went[i] & SOURCE_GONE) {
			merge(t->row[t->went[i] & SOURCE_PLACE], s);
			t->row[i] = NULL;
		}
	}
	for (uint32_t i = 0; i < before; i++) {
		if (!t->row[i])
			continue;
		place[i] = t->count;
		t->row[t->count++] = t->row[i];
	}
	for (uint32_t i = 0; i < before; i++)
		t->went[i] = (t->went[i] & SOURCE_GONE) | place[t->went[i] & SOURCE_PLACE];
	note_moves(t);
}

void sources_last(struct sources *t, enum source_kind kind)
{
	struct source *last[SOURCE_ROWS];
	uint32_t n = 0, kept = 0, from[SOURCE_ROWS];

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t at = n;

		if (t->row[i]->kind != kind) {
			t->went[i] = kept;
			t->row[kept++] = t->row[i];
			continue;
		}
		for (; at && last[at - 1]->word > t->row[i]->word; at--) {
			last[at] = last[at - 1];
			from[at] = from[at - 1];
		}
		last[at] = t->row[i];
		from[at] = i;
		n++;
	}
	for (uint32_t i = 0; i < n; i++) {
		t->went[from[i]] = kept;
		t->row[kept++] = last[i];
		last[i]->serial = last[i]->oldest = ++t->serial;
	}
	if (n)
		note_moves(t);
}

void sources_settle(struct sources *t)
{
	if (t->settled_trims != t->trims)
		t->settled = 0;
	t->settled_trims = t->trims;
	for (; t->settled < t->count; t->settled++)
		t->moved[t->settled] = t->settled;
}

static void begin(struct sources *t)
{
	for (uint32_t i = 0; i < SOURCE_ROWS; i++)
		t->went[i] = i;
}

/* ---- which ---- */

void sources_trim_kind(struct sources *t, enum source_kind kind)
{
	struct choice c[SOURCE_ROWS];
	uint32_t n = 0, stay = kind_rows[kind] * 3U / 4, rest = sources_rest(t, kind);
	uint32_t of_group[SLOTS] = {0};
	/* most rows of one group */
	uint32_t most = kind == SOURCE_THREAD ? kind_rows[kind] / 4U : UINT32_MAX;

	begin(t);
	for (uint32_t i = 0; i < t->count; i++) {
		struct source *s = t->row[i];

		if (s->kind != kind || s->rest)
			continue;
		c[n++] = (struct choice){i, s->net.sum, s->net.sum - s->judged_ns, s->group, false};
		s->judged_ns = s->net.sum;
	}
	find_groups(c, n);
	choose(c, n, stay - stay / 2, most / 2, of_group, false);
	choose(c, n, stay / 2, most, of_group, true);
	for (uint32_t i = 0; i < n; i++)
		if (!c[i].stays)
			t->went[c[i].id] = rest | SOURCE_GONE;
	close_up(t);
}

static bool of_comm(const struct source *s, const struct source *any)
{
	return s->kind == SOURCE_THREAD && !s->rest && s->by == any->by &&
	       s->kernel_thread == any->kernel_thread && !strcmp(s->name, any->name);
}

static bool same_function(const struct source *a, const struct source *b)
{
	return a->function == b->function ||
	       (a->function && b->function && !strcmp(a->function, b->function));
}

/* Moves the row into the one that all such threads share; the first of them becomes that row. */
static void share(struct sources *t, uint32_t row)
{
	struct source *s = t->row[row];

	for (uint32_t i = 0; i < t->count; i++)
		if (i != row && of_comm(t->row[i], s) && !t->row[i]->id &&
		    same_function(t->row[i], s)) {
			t->went[row] = i | SOURCE_GONE;
			return;
		}
	s->id = 0;
	s->merged = 1;
	s->serial = ++t->serial;
}

void sources_trim_comm(struct sources *t, const struct source *any)
{
	struct choice c[SOURCE_PIDS];
	uint32_t n = 0, k, all = 0; /* all threads are one group */

	begin(t);
	for (uint32_t i = 0; i < t->count; i++) {
		struct source *s = t->row[i];

		if (!of_comm(s, any) || !s->id)
			continue;
		for (k = 0; k < n && c[k].id != s->id; k++)
			;
		if (k == SOURCE_PIDS)
			continue;
		if (k == n)
			c[n++] = (struct choice){.id = s->id};
		c[k].all_ns += s->net.sum;
		c[k].new_ns += s->net.sum - s->judged_ns;
		s->judged_ns = s->net.sum;
	}
	choose(c, n, SOURCE_PIDS / 4, UINT32_MAX, &all, false);
	choose(c, n, SOURCE_PIDS / 4, UINT32_MAX, &all, true);
	for (uint32_t i = 0; i < t->count; i++) {
		if (!of_comm(t->row[i], any) || !t->row[i]->id)
			continue;
		for (k = 0; k < n && c[k].id != t->row[i]->id; k++)
			;
		if (k < n && !c[k].stays)
			share(t, i);
	}
	close_up(t);
}
