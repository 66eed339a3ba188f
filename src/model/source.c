/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of sources: open addressing over hashes that grow with the rows, and rows by pointer,
 * so that they never move. A table without rows has one spare row, for when there is no memory
 * left. */
#include "model/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "model/source_trim.h"

#define ROWS_FIRST 8 /* a power of two, as SOURCES_MAX */
#define HASH_SLOTS 4 /* for each row that there is room for */
#define FOUND_MOST 1024
#define NET_BITS   5 /* percentiles of one source to 3 % */

/* A key that has been looked up. Small, and where it can be complete: rows are many, and far
 * apart. */
struct found {
	uint32_t id, row;
	const char *function;
	uint64_t name[2]; /* by its text: the row has it, its address, or itself */
	uint8_t kind, host_kind, text, by;
	bool known, kernel_thread;
};

/* Threads of one comm that have rows of their own. */
struct comm {
	const struct source *any; /* one of them; NULL: a free slot */
	uint32_t tids;
	uint32_t *tid; /* owned; SOURCE_PIDS */
};

static struct source *new_row(void)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s && !hist_init(&s->net, NET_BITS))
		return s;
	free(s);
	return NULL;
}

static void free_row(struct source *s)
{
	if (!s)
		return;
	hist_free(&s->net);
	slices_free(&s->slices);
	if (s->askers)
		askers_clear(s->askers);
	free(s->askers);
	free(s->advice);
	free(s);
}

/* Empties the table of comms. */
static void clear_comms(struct sources *t)
{
	for (uint32_t i = 0; t->comm && i < t->room; i++) {
		free(t->comm[i].tid);
		t->comm[i] = (struct comm){NULL};
	}
}

static void free_tables(struct sources *t)
{
	clear_comms(t);
	free(t->slot);
	free(t->comm);
	free(t->found);
}

static uint32_t found_slots(const struct sources *t)
{
	return t->room < FOUND_MOST ? t->room : FOUND_MOST;
}

/* Makes room for twice as many rows. */
static bool grow(struct sources *t)
{
	uint32_t room = 2 * t->room;
	uint32_t *slot = calloc(HASH_SLOTS * room, sizeof(*slot));
	struct comm *comm = calloc(room, sizeof(*comm));
	struct found *found = calloc(room < FOUND_MOST ? room : FOUND_MOST, sizeof(*found));

	if (!slot || !comm || !found) {
		free(slot);
		free(comm);
		free(found);
		return false;
	}
	free_tables(t);
	t->slot = slot;
	t->comm = comm;
	t->found = found;
	t->room = room;
	sources_index(t);
	return true;
}

int sources_init(struct sources *t)
{
	memset(t, 0, sizeof(*t));
	t->room = ROWS_FIRST / 2;
	t->row = calloc(SOURCE_ROWS, sizeof(t->row[0]));
	t->spare = new_row();
	if (t->row && t->spare && grow(t))
		return 0;
	sources_free(t);
	return -ENOMEM;
}

void sources_free(struct sources *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		if (!t->row[i]->rest)
			free_row(t->row[i]);
	for (int k = 0; k < SOURCE_KINDS; k++)
		free_row(t->rest[k]);
	free_row(t->spare);
	free_tables(t);
	free(t->row);
	memset(t, 0, sizeof(*t));
}

/* ---- looking up ---- */

/* The separating byte keeps "ab", "c" and "a", "bc" apart. */
static uint64_t hash_part(uint64_t h, const char *text)
{
	return hash_byte(hash_text(h, text), 0xff);
}

static uint64_t hash_key(const struct source_key *k)
{
	uint64_t h = hash_of_strangers() ^ k->kind ^ k->host_kind << 4 ^ k->by << 8 ^
		     (uint64_t)k->kernel_thread << 12 ^ (uint64_t)k->id << 13;

	return hash_part(hash_part(h, k->name), k->function);
}

static bool same_key(const struct source *s, const struct source_key *k)
{
	if (s->kind != k->kind || s->host_kind != k->host_kind || s->id != k->id ||
	    s->kernel_thread != k->kernel_thread || s->by != k->by || s->rest ||
	    strcmp(s->name, k->name))
		return false;
	return s->function == k->function ||
	       (s->function && k->function && !strcmp(s->function, k->function));
}

/* The hash slot of the key, or a free one for it. */
static uint32_t *find_slot(struct sources *t, const struct source_key *k)
{
	uint32_t slots = HASH_SLOTS * t->room, i = hash_slot(hash_key(k), slots);

	while (t->slot[i] && !same_key(t->row[t->slot[i] - 1], k))
		i = (i + 1) % slots;
	return &t->slot[i];
}

static struct comm *find_comm(struct sources *t, const struct source_key *k)
{
	uint64_t h = hash_text(hash_of_strangers() ^ k->kernel_thread, k->name);
	struct comm *c = &t->comm[hash_slot(h, t->room)];

	while (c->any &&
	       (c->any->kernel_thread != k->kernel_thread || strcmp(c->any->name, k->name)))
		c = c == &t->comm[t->room - 1] ? t->comm : c + 1;
	return c;
}

static bool has_tid(const struct comm *c, uint32_t tid)
{
	for (uint32_t i = 0; i < c->tids; i++)
		if (c->tid[i] == tid)
			return true;
	return false;
}

static void note_tid(struct sources *t, const struct source *s, const struct source_key *k)
{
	struct comm *c = find_comm(t, k);

	c->any = s;
	if (!c->tid)
		c->tid = calloc(SOURCE_PIDS, sizeof(*c->tid));
	if (c->tid && !has_tid(c, k->id) && c->tids < SOURCE_PIDS)
		c->tid[c->tids++] = k->id;
}

void sources_index(struct sources *t)
{
	memset(t->slot, 0, HASH_SLOTS * t->room * sizeof(t->slot[0]));
	clear_comms(t);
	memset(t->found, 0, found_slots(t) * sizeof(*t->found));
	memset(t->rows, 0, sizeof(t->rows));
	for (uint32_t i = 0; i < t->count; i++) {
		const struct source *s = t->row[i];
		struct source_key k = {s->kind,          s->id, s->name, s->function,
				       s->kernel_thread, 0,     s->word, s->host_kind,
				       .by = s->by};

		if (s->rest)
			continue;
		t->rows[s->kind]++;
		*find_slot(t, &k) = 1 + i;
		if (s->kind == SOURCE_THREAD && s->id)
			note_tid(t, s, &k);
	}
}

/* ---- new rows ---- */

static uint64_t group_of(const struct source_key *k)
{
	char begin[SOURCE_NAME];

	if (k->by >= BY_UNIT)
		return hash_text(HASH_BEGIN, k->name) | 1ULL << 62;
	if (!k->kernel_thread)
		return k->process ? k->process : k->id;
	snprintf(begin, sizeof(begin), "%.*s", (int)strcspn(k->name, "0123456789/:"), k->name);
	return hash_text(HASH_BEGIN, begin) | 1ULL << 63;
}

static uint32_t own_rows(const struct sources *t)
{
	uint32_t n = 0;

	for (int k = 0; k < SOURCE_KINDS; k++)
		n += t->rows[k];
	return n;
}

static uint32_t add_row(struct sources *t, const struct source_key *k)
{
	bool room = own_rows(t) + 1 < t->room || grow(t);
	struct source *s = room ? new_row() : NULL;

	if (!s)
		return sources_rest(t, k->kind);
	s->kind = k->kind;
	s->id = k->id;
	memcpy(s->name, k->name, strlen(k->name)); /* cut already */
	s->function = k->function;
	s->kernel_thread = k->kernel_thread;
	s->word = k->word;
	s->host_kind = k->host_kind;
	s->by = k->by;
	s->group = k->kind == SOURCE_THREAD ? group_of(k) : 0;
	s->serial = s->oldest = ++t->serial;
	*find_slot(t, k) = 1 + t->count;
	t->rows[k->kind]++;
	t->row[t->count] = s;
	if (k->kind == SOURCE_THREAD && k->id)
		note_tid(t, s, k);
	return t->count++;
}

static uint32_t find(struct sources *t, const struct source_key *k)
{
	uint32_t *slot = find_slot(t, k);

	if (*slot)
		return *slot - 1;
	if (k->kind == SOURCE_THREAD && k->id) {
		const struct comm *c = find_comm(t, k);

		if (c->tids == SOURCE_PIDS && !has_tid(c, k->id))
			sources_trim_comm(t, c->any);
	}
	if (t->rows[k->kind] >= kind_rows[k->kind])
		sources_trim_kind(t, k->kind);
	return add_row(t, k);
}

/* The words by which two names of this kind of text are compared. */
static inline void text_of(const struct source_key *key, uint64_t words[2])
{
	words[0] = words[1] = 0;
	if (key->text == TEXT_COMM)
		memcpy(words, key->name, 2 * sizeof(*words));
	else if (key->text == TEXT_STAYS)
		words[0] = (uintptr_t)key->name;
}

static uint32_t find_new(struct sources *t, const struct source_key *key, const char *name,
			 uint32_t place)
{
	char cut[SOURCE_NAME] = "";
	struct found new = {.kind = key->kind,
			    .host_kind = key->host_kind,
			    .text = key->text,
			    .by = key->by,
			    .id = key->id,
			    .known = true,
			    .kernel_thread = key->kernel_thread};
	struct source_key k = *key;

	strncpy(cut, name, sizeof(cut) - 1);
	text_of(key, new.name);
	k.name = cut;
	new.row = find(t, &k);
	new.function = t->row[new.row]->function;
	t->found[place & (found_slots(t) - 1)] = new; /* the table may have more slots now */
	return new.row;
}

/* Checks first the row that the key had last time: most keys come again, with their function's name
 * at the same address. */
uint32_t sources_find_key(struct sources *t, const struct source_key *key)
{
	const char *name = key->name ? key->name : "";
	uint64_t hash = (uintptr_t)key->function << 16 ^ (uint64_t)key->id << 8 ^ key->kind ^
			(unsigned char)*name;
	uint32_t place = hash * 0x9e3779b97f4a7c15ULL >> 32;
	const struct found *f = &t->found[place & (found_slots(t) - 1)];
	uint64_t words[2];

	text_of(key, words);
	if (f->known && f->id == key->id && f->function == key->function && f->kind == key->kind &&
	    f->host_kind == key->host_kind && f->kernel_thread == key->kernel_thread &&
	    f->text == key->text && f->by == key->by && f->name[0] == words[0] &&
	    f->name[1] == words[1] &&
	    (key->text != TEXT_ANY || !strncmp(t->row[f->row]->name, name, SOURCE_NAME - 1)))
		return f->row;
	return find_new(t, key, name, place);
}

uint32_t sources_find(struct sources *t, enum source_kind kind, uint32_t id, const char *name,
		      const char *function)
{
	return sources_find_key(
		t,
		&(struct source_key){.kind = kind, .id = id, .name = name, .function = function});
}

uint32_t sources_rest(struct sources *t, enum source_kind kind)
{
	uint32_t i = 0;

	if (!t->rest[kind]) {
		struct source *s = new_row();

		if (!s) {
			s = t->spare;
			t->spare = NULL;
		}
		if (!s)
			return 0; /* the spare row, or one that it followed */
		s->kind = kind;
		s->rest = true;
		strcpy(s->name, OTHERS_NAME);
		t->rest[kind] = s;
	}
	while (i < t->count && t->row[i] != t->rest[kind])
		i++;
	if (i == t->count) {
		t->rest[kind]->serial = t->rest[kind]->oldest = ++t->serial;
		t->row[t->count++] = t->rest[kind];
	}
	return i;
}

uint64_t sources_merged(const struct sources *t, enum source_kind kind, uint64_t *ns)
{
	uint64_t n = 0;

	*ns = 0;
	for (enum source_kind k = 0; k < SOURCE_KINDS; k++)
		if (t->rest[k] && (kind == SOURCE_KINDS || kind == k)) {
			n += t->rest[k]->merged;
			*ns += t->rest[k]->net.sum;
		}
	return n;
}
