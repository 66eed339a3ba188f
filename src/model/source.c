/* The table of sources: open addressing over a fixed hash, rows by pointer so that they stay where they are. */
#include "model/source.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HASH_SLOTS  (4 * SOURCES_MAX)
#define FOUND_SLOTS 256 /* a power of two */
#define NET_BITS    5   /* percentiles of one source to 3 % */
#define ROWS_MAX    (SOURCES_MAX + SOURCE_KINDS)
#define SPARE       ROWS_MAX /* where the row waits that is taken when memory is out, so that there is a first row */

/* A key that has been looked up. */
struct found {
	uint32_t id, row;
	enum source_kind kind;
	bool known;
	char name[SOURCE_NAME];
};

static const char *const kind_names[SOURCE_KINDS] = {"irq",    "vector", "softirq", "nmi",
						     "thread", "fault",  "syscall", "outside"};

const char *source_kind_name(enum source_kind kind)
{
	return kind < SOURCE_KINDS ? kind_names[kind] : "unknown";
}

const char *softirq_name(uint32_t id)
{
	static const char *const names[] = {"HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

	return id < sizeof(names) / sizeof(names[0]) ? names[id] : "unknown";
}

const char *vector_name(uint32_t vector_id)
{
	static const char *const names[VECTORS] = {
		"unknown",       "local_timer",      "reschedule",     "call_function",       "call_function_single",
		"irq_work",      "thermal_apic",     "threshold_apic", "deferred_error_apic", "error_apic",
		"spurious_apic", "x86_platform_ipi",
	};

	return names[vector_id < VECTORS ? vector_id : 0];
}

const char *tlb_reason_name(uint32_t reason)
{
	static const char *const names[] = {"task switch",        "remote shootdown", "local shootdown",
					    "local mm shootdown", "remote IPI send",  "remote wrong CPU"};

	return reason < sizeof(names) / sizeof(names[0]) ? names[reason] : "unknown";
}

static struct source *new_row(void)
{
	struct source *s = calloc(1, sizeof(*s));

	if (s && !hist_init(&s->net, NET_BITS))
		return s;
	free(s);
	return NULL;
}

int sources_init(struct sources *t)
{
	memset(t, 0, sizeof(*t));
	t->row = calloc(ROWS_MAX + 1, sizeof(t->row[0]));
	t->slot = calloc(HASH_SLOTS, sizeof(t->slot[0]));
	t->found = calloc(FOUND_SLOTS, sizeof(*t->found));
	if (t->row && t->slot && t->found && (t->row[SPARE] = new_row()))
		return 0;
	sources_free(t);
	return -ENOMEM;
}

static void free_row(struct source *s)
{
	if (!s)
		return;
	hist_free(&s->net);
	free(s->origins);
	free(s->advice);
	free(s);
}

void sources_free(struct sources *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		free_row(t->row[i]);
	if (t->row)
		free_row(t->row[SPARE]);
	free(t->row);
	free(t->slot);
	free(t->found);
	memset(t, 0, sizeof(*t));
}

static uint32_t hash_key(enum source_kind kind, uint32_t id, const char *name, const char *function)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ kind ^ (uint64_t)id << 8; /* FNV-1a */

	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ULL;
	h = (h ^ 0xff) * 0x100000001b3ULL;
	for (const char *p = function; p && *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ULL;
	return h ^ h >> 32;
}

static bool same_key(const struct source *s, enum source_kind kind, uint32_t id, const char *name, const char *function)
{
	if (s->kind != kind || s->id != id || strcmp(s->name, name))
		return false;
	return s->function == function || (s->function && function && !strcmp(s->function, function));
}

/* The hash slot that holds the key, or the free one where it belongs. */
static uint32_t *find_slot(struct sources *t, enum source_kind kind, uint32_t id, const char *name,
			   const char *function)
{
	uint32_t i = hash_key(kind, id, name, function) % HASH_SLOTS;

	while (t->slot[i] && !same_key(t->row[t->slot[i] - 1], kind, id, name, function))
		i = (i + 1) % HASH_SLOTS;
	return &t->slot[i];
}

static uint32_t add_row(struct sources *t, uint32_t *slot, enum source_kind kind, uint32_t id, const char *name,
			const char *function)
{
	struct source *s = new_row();

	if (!s) {
		s = t->row[SPARE];
		t->row[SPARE] = NULL;
	}
	if (!s)
		return UINT32_MAX;
	s->kind = kind;
	s->id = id;
	memcpy(s->name, name, strlen(name)); /* cut already */
	s->function = function;
	t->row[t->count] = s;
	*slot = ++t->count;
	return t->count - 1;
}

/* Threads of this comm have all the rows they may, and this one is none of them. A thread has a row for each of its functions. */
static bool many_pids(const struct sources *t, uint32_t pid, const char *name)
{
	uint32_t seen[SOURCE_PIDS], n = 0, k;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct source *s = t->row[i];

		if (s->kind != SOURCE_THREAD || !s->id || strcmp(s->name, name))
			continue;
		if (s->id == pid)
			return false;
		for (k = 0; k < n && seen[k] != s->id; k++)
			;
		if (k == n && n < SOURCE_PIDS)
			seen[n++] = s->id;
	}
	return n >= SOURCE_PIDS;
}

static uint32_t find(struct sources *t, enum source_kind kind, uint32_t id, const char *cut, const char *function)
{
	uint32_t *slot = find_slot(t, kind, id, cut, function);
	uint32_t row;

	if (*slot)
		return *slot - 1;
	if (kind == SOURCE_THREAD && id && many_pids(t, id, cut)) {
		id = 0;
		slot = find_slot(t, kind, id, cut, function);
		if (*slot)
			return *slot - 1;
	}
	if (t->count < SOURCES_MAX) {
		row = add_row(t, slot, kind, id, cut, function);
		if (row != UINT32_MAX)
			return row;
	}
	slot = find_slot(t, kind, 0, "(others)", NULL);
	if (*slot)
		return *slot - 1;
	row = add_row(t, slot, kind, 0, "(others)", NULL);
	return row == UINT32_MAX ? 0 : row; /* out of memory: the first row takes it */
}

/* A key always has the same row, and most come again, with their function's name at the same address. */
uint32_t sources_find(struct sources *t, enum source_kind kind, uint32_t id, const char *name, const char *function)
{
	uint64_t hash = (uintptr_t)function << 16 ^ (uint64_t)id << 8 ^ kind ^ (name ? (unsigned char)*name : 0);
	struct found *f = &t->found[hash * 0x9e3779b97f4a7c15ULL >> 32 & (FOUND_SLOTS - 1)];

	name = name ? name : "";
	if (f->known && f->kind == kind && f->id == id && t->row[f->row]->function == function &&
	    !strncmp(f->name, name, sizeof(f->name) - 1))
		return f->row;
	*f = (struct found){.kind = kind, .id = id, .known = true};
	strncpy(f->name, name, sizeof(f->name) - 1);
	f->row = find(t, kind, id, f->name, function);
	return f->row;
}

struct ranked {
	uint64_t total;
	uint32_t row;
};

static int by_total(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

uint32_t sources_rank(const struct sources *t, uint32_t *order)
{
	struct ranked *rank = calloc(t->count ? t->count : 1, sizeof(*rank));
	uint32_t n = 0;

	if (!rank)
		return 0;
	for (uint32_t i = 0; i < t->count; i++)
		if (t->row[i]->net.count || t->row[i]->net.sum)
			rank[n++] = (struct ranked){t->row[i]->net.sum, i};
	qsort(rank, n, sizeof(*rank), by_total);
	for (uint32_t i = 0; i < n; i++)
		order[i] = rank[i].row;
	free(rank);
	return n;
}

const struct asker *source_asked(struct source *s, const struct record *r, const struct names *names)
{
	if (!s->origins)
		s->origins = calloc(1, sizeof(*s->origins));
	return s->origins ? origins_add(s->origins, r, names) : NULL;
}
