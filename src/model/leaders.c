#include "model/leaders.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Totals of all sources with one series, in order of their first rows. */
struct group {
	uint32_t row;
	char name[DIFF_NAME];
	uint64_t ns, count;
};

int leaders_init(struct leaders *s, uint32_t ncpus)
{
	s->ncpus = ncpus;
	s->cpu = calloc(ncpus ? ncpus : 1, sizeof(*s->cpu));
	return s->cpu ? 0 : -ENOMEM;
}

void leaders_free(struct leaders *s)
{
	free(s->cpu);
	s->cpu = NULL;
}

static bool same_but_name(const struct source *a, const struct source *b)
{
	const char *f = a->function ? a->function : "", *g = b->function ? b->function : "";

	return a->kind == b->kind && (f == g || !strcmp(f, g));
}

/* What the table of sources could not tell apart. */
#define NAMELESS "(others)"

static uint32_t group_all(const struct sources *t, struct group *g)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		const struct source *s = t->row[i];
		char name[DIFF_NAME];
		uint32_t k;

		diff_name(s, false, name);
		if (!strcmp(name, NAMELESS))
			continue;
		for (k = 0; k < n && (strcmp(name, g[k].name) || !same_but_name(s, t->row[g[k].row])); k++)
			;
		if (k == n) {
			g[n] = (struct group){.row = i};
			memcpy(g[n++].name, name, sizeof(name));
		}
		g[k].ns += s->net.sum;
		g[k].count += s->net.count;
	}
	return n;
}

static int by_time(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->row < y->row ? -1 : 1;
}

static struct leader *own_of(struct leaders_cpu *c, uint32_t row)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (c->own[i].row == row)
			return &c->own[i];
	return NULL;
}

/* Room for one more: where there is none the last in the order goes, with what it had at the last update. */
static struct leader *make_room(struct leaders_cpu *c, const struct sources *t, const struct group *g, uint32_t n)
{
	struct leader *s = NULL;
	enum source_kind kind;

	if (c->count < LEADERS_MAX)
		return &c->own[c->count++];
	while (!s)
		s = own_of(c, g[--n].row);
	kind = t->row[s->row]->kind;
	c->gone_ns[kind] += s->ns;
	c->gone_count[kind] += s->count;
	return s;
}

/* All that there is, less what has a series or had one. */
static void update_rest(struct leaders_cpu *c, const struct sources *t)
{
	memset(c->rest_ns, 0, sizeof(c->rest_ns));
	memset(c->rest_count, 0, sizeof(c->rest_count));
	for (uint32_t i = 0; i < t->count; i++) {
		c->rest_ns[t->row[i]->kind] += t->row[i]->net.sum;
		c->rest_count[t->row[i]->kind] += t->row[i]->net.count;
	}
	for (int k = 0; k < SOURCE_KINDS; k++) {
		c->rest_ns[k] -= c->gone_ns[k];
		c->rest_count[k] -= c->gone_count[k];
	}
	for (uint32_t i = 0; i < c->count; i++) {
		c->rest_ns[t->row[c->own[i].row]->kind] -= c->own[i].ns;
		c->rest_count[t->row[c->own[i].row]->kind] -= c->own[i].count;
	}
}

static void update_cpu(struct leaders_cpu *c, const struct sources *t, struct group *g)
{
	uint32_t n = group_all(t, g);

	qsort(g, n, sizeof(*g), by_time);
	for (uint32_t i = 0; i < n && i < LEADERS_TOP && (g[i].ns || g[i].count); i++) {
		struct leader new = {.row = g[i].row};

		if (own_of(c, g[i].row))
			continue;
		memcpy(new.name, g[i].name, sizeof(new.name));
		if (g[i].row < c->rows) { /* so far it is in the rest */
			new.before_ns = g[i].ns;
			new.before_count = g[i].count;
		}
		*make_room(c, t, g, n) = new;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct leader *s = own_of(c, g[i].row);

		if (s) {
			s->ns = g[i].ns - s->before_ns;
			s->count = g[i].count - s->before_count;
		}
	}
	c->rows = t->count;
	update_rest(c, t);
}

int leaders_update(struct leaders *s, const struct summary *summary)
{
	uint32_t most = 1;
	struct group *g;

	for (uint32_t i = 0; i < summary->ncpus; i++)
		if (summary->cpu[i].sources.count > most)
			most = summary->cpu[i].sources.count;
	g = calloc(most, sizeof(*g));
	if (!g)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->ncpus && i < summary->ncpus; i++)
		update_cpu(&s->cpu[i], &summary->cpu[i].sources, g);
	free(g);
	return 0;
}
