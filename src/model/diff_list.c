/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/diff_list.h"

#include <stdlib.h>
#include <string.h>

size_t diff_function_len(const char *function)
{
	static const char *const added[] = {".isra.", ".constprop.", ".part.", ".cold", ".llvm."};
	size_t n = strlen(function);

	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = strstr(function, added[i]);

		if (at && at > function && (size_t)(at - function) < n)
			n = at - function;
	}
	return n;
}

int diff_function_order(const char *a, const char *b)
{
	size_t na, nb;
	int order;

	if (!a || !b)
		return !!a - !!b;
	na = diff_function_len(a);
	nb = diff_function_len(b);
	order = strncmp(a, b, na < nb ? na : nb);
	return order ? order : (na > nb) - (na < nb);
}

int diff_same_row(const struct diff_entry *x, const struct diff_entry *y)
{
	int order;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->kernel_thread != y->kernel_thread)
		return x->kernel_thread ? -1 : 1;
	if (x->rest != y->rest)
		return x->rest ? -1 : 1;
	order = strcmp(x->name, y->name);
	return order ? order : diff_function_order(x->function, y->function);
}

static int by_row(const void *a, const void *b)
{
	const struct diff_entry *x = a, *y = b;
	int order = diff_same_row(x, y);

	if (order)
		return order;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static bool has_any(const struct source *s)
{
	return s->net.count || s->net.sum;
}

uint32_t diff_count_sources(const struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t r = 0; r < d->side[k].n; r++) {
			const struct view *s = d->side[k].view[r];

			for (uint32_t i = 0; i < s->ncpus; i++)
				n += s->cpu[i].sources.count;
		}
	return n;
}

static uint32_t list_view(const struct diff *d, uint32_t side, uint32_t at,
			  struct diff_entry *entry)
{
	const struct view *s = d->side[side].view[at];
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->ncpus; i++) {
		const struct sources *t = &s->cpu[i].sources;

		for (uint32_t r = 0; diff_counts(s, i) && r < t->count; r++) {
			const struct source *source = t->row[r];

			if (!has_any(source))
				continue;
			entry[n] = (struct diff_entry){.kind = source->kind,
						       .kernel_thread = source->kernel_thread,
						       .rest = source->rest,
						       .function = source->function,
						       .side = side,
						       .at = at,
						       .source = source};
			diff_name(source, d->same_cpus, entry[n].name);
			n++;
		}
	}
	return n;
}

uint32_t diff_list_sources(const struct diff *d, struct diff_entry *entry)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < d->n; k++)
		for (uint32_t at = 0; at < d->side[k].n; at++)
			n += list_view(d, k, at, entry + n);
	qsort(entry, n, sizeof(*entry), by_row);
	return n;
}
