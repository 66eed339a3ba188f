/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/diff.h"

#define SLOTS (4 * FLEET_SOURCES)

int fleet_init(struct fleet *f)
{
	*f = (struct fleet){0};
	f->texts = texts_new(TEXTS_BYTES);
	f->source = calloc(FLEET_SOURCES + SOURCE_KINDS, sizeof(*f->source));
	f->slot = calloc(SLOTS, sizeof(*f->slot));
	if (f->texts && f->source && f->slot)
		return 0;
	fleet_free(f);
	return -ENOMEM;
}

void fleet_free(struct fleet *f)
{
	for (uint32_t i = 0; i < f->nsources; i++) {
		free(f->source[i].seen);
		free(f->source[i].cell);
	}
	free(f->window);
	texts_free(f->texts);
	free(f->host);
	free(f->host_slot);
	free(f->source);
	free(f->slot);
	*f = (struct fleet){0};
}

static const char *keep(struct fleet *f, const char *text)
{
	return texts_keep(f->texts, text, strlen(text));
}

/* ---- hosts ---- */

static uint32_t *host_slot(const struct fleet *f, const char *name)
{
	uint32_t i = hash_slot(hash_text(hash_of_strangers(), name), f->host_slots);

	while (f->host_slot[i] && strcmp(f->host[f->host_slot[i] - 1].name, name) != 0)
		i = (i + 1) & (f->host_slots - 1);
	return &f->host_slot[i];
}

/* Room for one host more, in a hash that is half empty. */
static int hosts_grow(struct fleet *f)
{
	uint32_t room = f->hosts_room ? 2 * f->hosts_room : 64;
	struct fleet_host *host;
	uint32_t *slot;

	if (f->nhosts < f->hosts_room)
		return 0;
	host = realloc(f->host, room * sizeof(*host));
	if (host)
		f->host = host;
	slot = calloc(2UL * room, sizeof(*slot));
	if (!host || !slot) {
		free(slot);
		return -ENOMEM;
	}
	free(f->host_slot);
	f->host_slot = slot;
	f->host_slots = 2 * room;
	f->hosts_room = room;
	for (uint32_t i = 0; i < f->nhosts; i++)
		*host_slot(f, f->host[i].name) = 1 + i;
	return 0;
}

/* The row of a host; NULL: out of memory. */
static struct fleet_host *host_of(struct fleet *f, const char *name)
{
	uint32_t *slot;

	if (hosts_grow(f))
		return NULL;
	slot = host_slot(f, name);
	if (!*slot) {
		const char *kept = keep(f, name);

		if (!kept)
			return NULL;
		f->host[f->nhosts] = (struct fleet_host){.name = kept};
		*slot = ++f->nhosts;
	}
	return &f->host[*slot - 1];
}

/* ---- sources ---- */

static int source_seen(struct fleet_source *s, uint32_t host)
{
	size_t at = host / 8;

	if (s->last_host == 1 + host)
		return 0;
	if (at >= s->seen_len) {
		size_t len = at + 1 + at / 2;
		uint8_t *seen = realloc(s->seen, len);

		if (!seen)
			return -ENOMEM;
		memset(seen + s->seen_len, 0, len - s->seen_len);
		s->seen = seen;
		s->seen_len = len;
	}
	s->hosts += !(s->seen[at] >> host % 8 & 1);
	s->seen[at] |= (uint8_t)(1 << host % 8);
	s->last_host = 1 + host;
	return 0;
}

static uint32_t *source_slot(const struct fleet *f, enum source_kind kind, const char *name)
{
	uint64_t h = hash_text(hash_byte(hash_of_strangers(), (unsigned char)kind), name);
	uint32_t i = hash_slot(h, SLOTS);

	while (f->slot[i] && (f->source[f->slot[i] - 1].kind != kind ||
			      strcmp(f->source[f->slot[i] - 1].name, name) != 0))
		i = (i + 1) & (SLOTS - 1);
	return &f->slot[i];
}

static struct fleet_source *source_of(struct fleet *f, const struct source *s)
{
	struct source who = {.kind = s->kind,
			     .id = s->name[0] ? KIND_IDS : s->id,
			     .function = s->function,
			     .kernel_thread = s->kernel_thread,
			     .host_kind = s->host_kind,
			     .by = s->by,
			     .rest = s->rest,
			     .word = s->word};
	char name[DIFF_NAME], text[REPORT_WHO];
	uint32_t *slot;
	bool others = s->rest;

	group_name(s, name);
	snprintf(who.name, sizeof(who.name), "%.*s", SOURCE_NAME - 1, name);
	slot = source_slot(f, s->kind, report_who(&who, text, sizeof(text)));
	if (!*slot && f->nsources >= FLEET_SOURCES) {
		others = true;
		slot = source_slot(f, s->kind, strcpy(text, OTHERS_NAME));
	}
	if (!*slot) {
		const char *kept = keep(f, text);

		if (!kept)
			return NULL;
		f->source[f->nsources] = (struct fleet_source){
			.kind = s->kind, .name = kept, .others = others, .cause = s->cause};
		*slot = ++f->nsources;
	}
	return &f->source[*slot - 1];
}

/* Keeps an array's room for one more. */
static void *grown(void *array, uint32_t n, uint32_t *room, size_t size)
{
	uint32_t more = *room ? 2 * *room : 4;

	if (n < *room)
		return array;
	array = realloc(array, more * size);
	if (array)
		*room = more;
	return array;
}

static int add_cell(struct fleet *f, struct fleet_source *s, uint64_t ns)
{
	uint32_t recording = f->recordings - 1;
	struct fleet_cell *cell;

	if (!s->ncells || s->cell[s->ncells - 1].recording != recording) {
		cell = grown(s->cell, s->ncells, &s->cells_room, sizeof(*cell));
		if (!cell)
			return -ENOMEM;
		s->cell = cell;
		s->cell[s->ncells++] = (struct fleet_cell){.recording = recording};
	}
	s->cell[s->ncells - 1].ns += ns;
	return 0;
}

/* timed: the lane's loss is known. */
static int add_source(struct fleet *f, const struct source *s, struct fleet_host *h, bool timed)
{
	struct fleet_source *to = source_of(f, s);

	if (!to)
		return -ENOMEM;
	to->total_ns += s->net.sum;
	to->timed_ns += timed ? s->net.sum : 0;
	to->count += s->count;
	if (s->net.max > to->longest_ns)
		to->longest_ns = s->net.max;
	if (!s->cause || (to->cause && strcmp(to->cause, s->cause) != 0))
		to->cause = NULL;
	if (to->recording != f->recordings) {
		to->recording = f->recordings;
		to->recording_ns = 0;
	}
	to->recording_ns += s->net.sum;
	if (to->recording_ns > h->first_ns) {
		h->first_ns = to->recording_ns;
		h->first = to->name;
	}
	if (f->cells && timed && add_cell(f, to, s->net.sum))
		return -ENOMEM;
	return source_seen(to, (uint32_t)(h - f->host));
}

/* ---- reports ---- */

void fleet_losses_add(struct fleet_losses *to, const struct fleet_losses *from)
{
	to->records_seen += from->records_seen;
	to->records_lost += from->records_lost;
	to->hiccups_lost += from->hiccups_lost;
	to->incomplete += from->incomplete;
}

static struct fleet_losses losses_of(const struct view *v)
{
	struct fleet_losses l = {.incomplete = v->run.incomplete[0] != '\0',
				 .hiccups_lost = view_hiccups_lost(v)};

	for (uint32_t i = 0; i < v->ncpus; i++) {
		l.records_seen += v->cpu[i].counts.seen;
		l.records_lost += v->cpu[i].counts.lost;
	}
	return l;
}

static int add_lane(struct fleet *f, const struct view *v, uint32_t index, struct fleet_host *h)
{
	const struct cpu *c = &v->cpu[index];
	bool timed = view_lost_known(v, index);
	int err = 0;

	if (timed) {
		uint64_t lost_ns = c->hiccups.sum + c->hiccups_lost_ns;

		h->observed_ns += c->observed_ns;
		h->lost_ns += lost_ns;
		f->observed_ns += c->observed_ns;
		f->lost_ns += lost_ns;
		if (f->cells) {
			f->window[f->recordings - 1].observed_ns += c->observed_ns;
			f->window[f->recordings - 1].lost_ns += lost_ns;
		}
	}
	h->lanes++;
	f->lanes++;
	h->hiccups += c->hiccups.count;
	if (c->hiccups.count && c->hiccups.max > h->longest_ns)
		h->longest_ns = c->hiccups.max;
	for (uint32_t i = 0; i < c->sources.count && !err; i++)
		if (c->sources.row[i]->net.count)
			err = add_source(f, c->sources.row[i], h, timed);
	return err;
}

static int add_window(struct fleet *f, const struct view *v, uint32_t host)
{
	struct fleet_window *w = grown(f->window, f->recordings, &f->windows_room, sizeof(*w));
	char blind[1024];
	size_t len = 0;

	if (!w)
		return -ENOMEM;
	f->window = w;
	w += f->recordings;
	blind[0] = '\0';
	for (uint32_t i = 0; i < v->run.nnot_observed && len < sizeof(blind) - 1; i++)
		len += (size_t)snprintf(blind + len, sizeof(blind) - len, "%s%s", i ? ", " : "",
					v->run.not_observed[i]);
	*w = (struct fleet_window){.host = host,
				   .kernel = keep(f, v->host.kernel),
				   .blind = keep(f, blind),
				   .losses = losses_of(v)};
	return w->kernel && w->blind ? 0 : -ENOMEM;
}

int fleet_add(struct fleet *f, const struct view *v)
{
	struct fleet_host *h = host_of(f, v->host.hostname);
	struct fleet_losses losses = losses_of(v);
	int err = 0;

	if (!h)
		return -ENOMEM;
	if (f->cells && add_window(f, v, (uint32_t)(h - f->host)))
		return -ENOMEM;
	h->recordings++;
	f->recordings++;
	fleet_losses_add(&f->losses, &losses);
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = add_lane(f, v, i, h);
	return err;
}

/* ---- ranks ---- */

static double lost_share(const struct fleet_host *h)
{
	return h->observed_ns ? (double)h->lost_ns / (double)h->observed_ns : -1;
}

static int by_loss(const void *a, const void *b)
{
	double x = lost_share(a), y = lost_share(b);

	return x != y ? (x < y) - (x > y)
		      : strcmp(((const struct fleet_host *)a)->name,
			       ((const struct fleet_host *)b)->name);
}

static int by_time(const void *a, const void *b)
{
	const struct fleet_source *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
	return x->kind != y->kind ? (x->kind > y->kind) - (x->kind < y->kind)
				  : strcmp(x->name, y->name);
}

void fleet_rank(struct fleet *f)
{
	qsort(f->host, f->nhosts, sizeof(*f->host), by_loss);
	qsort(f->source, f->nsources, sizeof(*f->source), by_time);
}
