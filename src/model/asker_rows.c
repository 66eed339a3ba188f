/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/asker_rows.h"

#include <stdlib.h>
#include <string.h>

#include "model/frames.h"

#define ROWS_FEW 4 /* looked through from the first to the last */

static bool was_last(const struct asker_row *o, const struct record *r)
{
	const struct asker_last *l = &o->last;

	return l->stack == r->stack && l->tid == r->id && l->site == r->callsite &&
	       o->who.cpu == r->asker_cpu && l->context == (r->flags & RECORD_CONTEXT) &&
	       !memcmp(l->comm, r->name, sizeof(l->comm));
}

/* True for the row's last request, or for that of one of its ways. */
static bool came(struct asker_row *row, const struct record *r, struct asker_row **way)
{
	for (uint32_t i = 0; row->ways && i < row->ways->count; i++)
		if (was_last(&row->ways->row[i], r)) {
			*way = &row->ways->row[i];
			return true;
		}
	*way = NULL;
	return was_last(row, r) && !row->last.user;
}

static struct asker_row *look_through(struct askers *o, const struct record *r,
				      struct asker_row **way)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (came(&o->row[i], r, way))
			return &o->row[i];
	return NULL;
}

struct asker_row *asker_row_again(struct askers *o, const struct record *r, struct asker_row **way)
{
	uint32_t hash =
		(r->callsite ^ r->id ^ (uint32_t)r->stack << 12 ^ (uint32_t)r->asker_cpu << 24) *
		0x9e3779b9U;
	struct asker_row *row;
	uint8_t *near;

	if (!o->near && o->count > ROWS_FEW)
		o->near = calloc(ASKERS_NEAR, sizeof(*o->near));
	if (!o->near)
		return look_through(o, r, way);
	near = &o->near[hash / (UINT32_MAX / ASKERS_NEAR + 1)];
	if (*near && came(&o->row[*near - 1], r, way))
		return &o->row[*near - 1];
	row = look_through(o, r, way);
	if (row)
		*near = row - o->row + 1;
	return row;
}

static bool same(const struct asker *a, const struct asker *b)
{
	if (a->kind != b->kind || a->cpu != b->cpu || a->tid != b->tid || a->cgroup != b->cgroup ||
	    a->user != b->user || strcmp(a->comm, b->comm))
		return false;
	return a->function == b->function ||
	       (a->function && b->function && !strcmp(a->function, b->function));
}

static void free_frames(struct asker_row *row)
{
	if (!row->kept)
		free((void *)row->frame);
}

static void free_row(struct asker_row *row)
{
	for (uint32_t i = 0; row->ways && i < row->ways->count; i++)
		free_frames(&row->ways->row[i]); /* ways have none themselves */
	if (row->ways)
		free(row->ways->row);
	free(row->ways);
	free_frames(row);
}

/* Makes room for one more row; false: there are as many as there may be, or memory is out. */
static bool grow(struct askers *o)
{
	uint32_t room = o->room < ROWS_FEW ? o->room + 1 : 2 * o->room;
	struct asker_row *more;

	if (o->count < o->room)
		return true;
	more = o->full || o->room == ASKERS_MAX ? NULL
						: reallocarray(o->row, room, sizeof(*o->row));
	o->full = !more;
	if (!more)
		return false;
	o->row = more;
	o->room = room;
	return true;
}

struct asker_row *asker_row_of(struct askers *o, const struct asker *who)
{
	uint64_t least_count = UINT64_MAX;
	struct asker_row *least = NULL;

	for (uint32_t i = 0; i < o->count; i++) {
		struct asker_row *x = &o->row[i];

		if (same(&x->who, who))
			return x;
		if (x->count + x->missed < least_count) {
			least = x;
			least_count = x->count + x->missed;
		}
	}
	if (grow(o)) {
		least = &o->row[o->count++];
		*least = (struct asker_row){};
	} else if (least) {
		free_row(least);
		*least = (struct asker_row){.missed = least_count};
	}
	return least;
}

struct asker_row *asker_way_of(struct asker_row *row, const struct asker *who)
{
	if (!row->ways)
		row->ways = calloc(1, sizeof(*row->ways));
	return row->ways ? asker_row_of(row->ways, who) : NULL;
}

void asker_row_frames(struct asker_row *row, const char *const *frame, int n,
		      const char *const *kept)
{
	int own = frames_of_tracer(frame, n);
	const char **copy;

	frame += own;
	n = n - own < ASKER_FRAMES ? n - own : ASKER_FRAMES;
	row->kept = kept;
	row->nframes = n;
	row->frame = kept ? kept + own : NULL;
	if (kept)
		return;
	copy = n ? malloc(n * sizeof(*copy)) : NULL;
	if (copy)
		memcpy(copy, frame, n * sizeof(*copy));
	row->frame = copy;
	row->nframes = copy ? n : 0;
}

void askers_note(struct askers *o, const struct asker *who)
{
	struct asker_row *row = asker_row_of(o, who);

	o->known++;
	if (!row) {
		o->unnamed++;
		return;
	}
	if (!row->count++)
		row->who = *who;
	else if (!row->who.command)
		row->who.command = who->command;
}

/* Upper bound of the requests of an asker without a row. */
static uint64_t most_unseen(const struct askers *o)
{
	uint64_t least = o->full || o->count == ASKERS_MAX ? UINT64_MAX : 0;

	for (uint32_t i = 0; i < o->count && least; i++)
		if (o->row[i].count + o->row[i].missed < least)
			least = o->row[i].count + o->row[i].missed;
	return least;
}

static struct asker_row *row_like(struct askers *o, const struct asker_row *r)
{
	for (uint32_t i = 0; i < o->count; i++)
		if (same(&o->row[i].who, &r->who))
			return &o->row[i];
	return NULL;
}

static void drop_least(struct asker_row **row, uint32_t *n)
{
	uint32_t least = 0;

	for (uint32_t i = 1; i < *n; i++)
		if (row[i]->count + row[i]->missed < row[least]->count + row[least]->missed)
			least = i;
	free_row(row[least]);
	row[least] = row[--*n];
}

void asker_row_drop(struct askers *o, uint32_t i)
{
	free_row(&o->row[i]);
	o->row[i] = o->row[--o->count];
	if (o->near)
		memset(o->near, 0, ASKERS_NEAR * sizeof(*o->near));
}

/* Makes room for n rows, as far as there may be so many and memory is there. */
static void grow_to(struct askers *o, uint32_t n)
{
	uint32_t room = ROWS_FEW;
	struct asker_row *row;

	while (room < n && room < ASKERS_MAX)
		room *= 2;
	row = room > o->room ? reallocarray(o->row, room, sizeof(*row)) : NULL;
	if (row) {
		o->row = row;
		o->room = room;
	}
}

/* Moves the ways of an equal row. Those of ways are none: it goes no deeper. */
static void merge_ways(struct asker_row *into, struct asker_row *from)
{
	if (into->ways && from->ways) {
		askers_merge(into->ways, from->ways);
	} else if (from->ways) {
		into->ways = from->ways;
		from->ways = NULL;
	}
}

/* Adds up the askers that both have, and what each may have missed of the others'. Returns how many
 * of from's are new; new: their places. */
static uint32_t add_up(struct askers *o, struct askers *from, uint32_t *new)
{
	uint64_t here = most_unseen(o), there = most_unseen(from);
	bool both[ASKERS_MAX] = {false};
	uint32_t n = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		struct asker_row *r = &from->row[i], *like = row_like(o, r);

		if (!like) {
			r->missed += here;
			new[n++] = i;
			continue;
		}
		both[like - o->row] = true;
		like->count += r->count;
		like->missed += r->missed;
		merge_ways(like, r);
		free_row(r);
	}
	for (uint32_t i = 0; i < o->count && there; i++)
		o->row[i].missed += both[i] ? 0 : there;
	return n;
}

/* An asker without a row on one side may have come there as often as the least frequent one. Askers
 * without room are the least frequent. The rows that stay where they are are not copied. */
void askers_merge(struct askers *o, struct askers *from)
{
	struct asker_row *all[2 * ASKERS_MAX];
	uint32_t new[ASKERS_MAX], fresh = add_up(o, from, new), n = o->count + fresh;

	grow_to(o, n);
	for (uint32_t i = 0; i < n; i++)
		all[i] = i < o->count ? &o->row[i] : &from->row[new[i - o->count]];
	o->full |= from->full;
	while (n > o->room) { /* without memory fewer stay */
		o->full = true;
		drop_least(all, &n);
	}
	/* A row moves only towards the first, into a place whose own row is gone or copied. */
	for (uint32_t i = 0; i < n; i++)
		if (all[i] != &o->row[i])
			o->row[i] = *all[i];
	if (o->near)
		memset(o->near, 0, ASKERS_NEAR * sizeof(*o->near));
	o->count = n;
	o->known += from->known;
	o->unnamed += from->unnamed;
	free(from->row);
	free(from->near);
	*from = (struct askers){};
}

void askers_clear(struct askers *o)
{
	for (uint32_t i = 0; i < o->count; i++)
		free_row(&o->row[i]);
	free(o->row);
	free(o->near);
	*o = (struct askers){};
}
