/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorts all rows of all CPUs so that those of one source of one host stand together, adds them up,
 * and sorts by share. */
#include "model/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

struct entry {
	uint32_t view, cpu; /* index of the first row that was added */
	const struct source *source;
	uint32_t rows; /* rows added up here; they still stand behind it */
	uint64_t count, total_ns, max_ns, observed_ns;
	double share;
};

static int compare_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

static int compare_key(const struct entry *x, const struct entry *y)
{
	const struct source *a = x->source, *b = y->source;

	if (x->view != y->view)
		return x->view < y->view ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->host_kind != b->host_kind)
		return a->host_kind < b->host_kind ? -1 : 1;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->kernel_thread != b->kernel_thread)
		return a->kernel_thread ? -1 : 1;
	if (a->by != b->by)
		return a->by < b->by ? -1 : 1;
	if (a->rest != b->rest)
		return a->rest ? -1 : 1;
	return strcmp(a->name, b->name) ? strcmp(a->name, b->name)
					: compare_text(a->function, b->function);
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_key(x, y);

	return order ? order : x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static int by_share(const void *a, const void *b)
{
	const struct entry *const *x = a, *const *y = b;

	if ((*x)->share != (*y)->share)
		return (*x)->share < (*y)->share ? 1 : -1;
	return *x < *y ? -1 : *x > *y; /* place by key */
}

static uint64_t observed(const struct view *v)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		ns += v->cpu[i].observed_ns;
	return ns;
}

static size_t count_rows(const struct view *const *views, uint32_t n)
{
	size_t rows = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < views[i]->ncpus; k++)
			rows += views[i]->cpu[k].sources.count;
	return rows;
}

/* Fills all[]; returns how many rows have time. */
static size_t list(const struct view *const *views, uint32_t n, struct entry *all)
{
	size_t count = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t ns = observed(views[i]);

		for (uint32_t k = 0; k < views[i]->ncpus; k++) {
			const struct sources *t = &views[i]->cpu[k].sources;

			for (uint32_t r = 0; r < t->count; r++)
				if (t->row[r]->net.count)
					all[count++] = (struct entry){.view = i,
								      .cpu = k,
								      .source = t->row[r],
								      .observed_ns = ns};
		}
	}
	return count;
}

/* Adds up rows of the same key in the first of them; into[] gets those. */
static size_t fold(struct entry *all, size_t count, struct entry **into)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		const struct hist *h = &all[i].source->net;
		struct entry *e;

		if (!n || compare_key(into[n - 1], &all[i]))
			into[n++] = &all[i];
		e = into[n - 1];
		e->rows++;
		e->count += all[i].source->count;
		e->total_ns += h->sum;
		e->max_ns = h->max > e->max_ns ? h->max : e->max_ns;
		e->share = e->observed_ns ? (double)e->total_ns / e->observed_ns : 0;
	}
	return n;
}

static void fill(struct host_source *row, const struct entry *e, const struct view *v)
{
	*row = (struct host_source){.view = e->view,
				    .who = e->source,
				    .count = e->count,
				    .total_ns = e->total_ns,
				    .max_ns = e->max_ns,
				    .observed_ns = e->observed_ns};
	for (uint32_t i = 0; i < e->rows; i++)
		if (view_threads(v))
			cpus_or(&row->cpus, &v->cpu[e[i].cpu].ran_on);
		else
			cpus_add(&row->cpus, v->cpu[e[i].cpu].number);
}

int hosts_rank(const struct view *const *views, uint32_t n, struct host_source *row, uint32_t max)
{
	size_t rows = count_rows(views, n), count;
	struct entry *all = calloc(rows + 1, sizeof(*all)),
		     **order = calloc(rows + 1, sizeof(*order));

	if (!all || !order) {
		free(all);
		free(order);
		return -ENOMEM;
	}
	rows = list(views, n, all);
	qsort(all, rows, sizeof(*all), by_key);
	count = fold(all, rows, order);
	qsort(order, count, sizeof(*order), by_share);
	for (size_t i = 0; i < count && i < max; i++)
		fill(&row[i], order[i], views[order[i]->view]);
	free(all);
	free(order);
	return count;
}

enum part { LABEL, FILE_NAME, FILE_PATH, PARTS };

/* Tells a view from others of its host; "": nothing does. */
static const char *part_of(const struct view *v, enum part part)
{
	const char *path = v->file ? v->file : "", *slash = strrchr(path, '/');

	return part == LABEL ? v->run.label : part == FILE_NAME && slash ? slash + 1 : path;
}

static bool is_unique(const struct view *const *views, uint32_t n, uint32_t i, enum part part)
{
	const char *own = part_of(views[i], part);
	size_t len = part == LABEL ? sizeof(views[i]->run.label) : SIZE_MAX;

	for (uint32_t k = 0; k < n && *own; k++)
		if (k != i && !strcmp(views[k]->host.hostname, views[i]->host.hostname) &&
		    !strncmp(part_of(views[k], part), own, len))
			return false;
	return *own;
}

/* The view's path without the directories that all files of its host are in. */
static const char *short_path(const struct view *const *views, uint32_t n, uint32_t i)
{
	const char *own = part_of(views[i], FILE_PATH);
	size_t same = strrchr(own, '/') ? (size_t)(strrchr(own, '/') - own) + 1 : 0;

	for (uint32_t k = 0; k < n; k++) {
		const char *other = part_of(views[k], FILE_PATH);

		if (strcmp(views[k]->host.hostname, views[i]->host.hostname) != 0)
			continue;
		while (same && (own[same - 1] != '/' || strncmp(own, other, same) != 0))
			same--;
	}
	return own + same;
}

char *host_label(const struct view *const *views, uint32_t n, uint32_t i, char *buf, size_t len)
{
	const char *name = views[i]->host.hostname;
	uint32_t same = 0, before = 0;
	enum part part = LABEL;
	size_t at;

	escape_text(name, sizeof(views[i]->host.hostname), buf, len);
	at = strlen(buf);
	for (uint32_t k = 0; k < n; k++)
		if (!strcmp(views[k]->host.hostname, name)) {
			same++;
			before += k < i;
		}
	if (same < 2)
		return buf;
	while (part < PARTS && !is_unique(views, n, i, part))
		part++;
	if (part < PARTS && at + 16 < len) {
		strcpy(buf + at, " (");
		escape_text(part == FILE_PATH ? short_path(views, n, i) : part_of(views[i], part),
			    part == LABEL ? sizeof(views[i]->run.label) : SIZE_MAX, buf + at + 2,
			    len - at - 3);
		strcat(buf, ")");
	} else {
		snprintf(buf + at, len - at, " #%u", before + 1);
	}
	return buf;
}
