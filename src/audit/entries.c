/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/entries.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/book.h"
#include "audit/remedy.h"

static void note(bool *named, const char *id)
{
	const struct cause *c = id ? cause_by_id(id) : NULL;

	if (c)
		named[c - causes] = true;
}

/* Returns how many causes are noted. */
static unsigned note_all(const struct view *v, bool *named)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count; k++)
			if (v->cpu[i].sources.row[k]->net.count)
				note(named, v->cpu[i].sources.row[k]->cause);
	for (uint32_t i = 0; i < v->findings.count; i++)
		if (v->findings.row[i].cost_ns)
			note(named, v->findings.row[i].cause);
	for (unsigned i = 0; i < causes_count; i++)
		n += named[i];
	return n;
}

static int add(struct book_entries *e, const struct cause *c, const struct placeholders *f,
	       const char *arch)
{
	struct book_entry *x = &e->row[e->n++];
	const char *here = cause_on(c, arch);

	*x = (struct book_entry){.id = c->id,
				 .title = c->title,
				 .what = c->what,
				 .why = c->why,
				 .cost = c->cost,
				 .source = c->source,
				 .confirm = placeholders_fill(c->confirm, f),
				 .fix = placeholders_fill(c->fix, f)};
	if (here) {
		x->here = placeholders_fill(here, f);
		x->arch = here == c->x86 ? "on x86" : "on arm64";
	}
	return x->confirm && x->fix && (x->here || !here) ? 0 : -ENOMEM;
}

int entries_make(struct view *v)
{
	struct placeholders f = PLACEHOLDERS_NONE;
	const struct cpus rest = advise_others(v, NULL);
	bool *named = calloc(causes_count + 1, sizeof(*named));
	int err = 0;

	book_entries_free(&v->entries);
	if (named)
		v->entries.row = calloc(note_all(v, named) + 1, sizeof(*v->entries.row));
	if (!v->entries.row) {
		free(named);
		return -ENOMEM;
	}
	f.cpus = v->run.watch ? NULL : &v->run.cpus;
	f.housekeeping = &rest;
	if (v->told.conditions)
		placeholders_boot(&f, v->told.conditions);
	if (f.cpus && cpus_count(f.cpus) == 1)
		f.cpu = cpus_next(f.cpus, 0);
	for (unsigned i = 0; i < causes_count && !err; i++)
		if (named[i])
			err = add(&v->entries, &causes[i], &f, v->host.arch);
	free(named);
	return err;
}
