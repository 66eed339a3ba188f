/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's source behind a row of the guest's. */
#include <string.h>

#include "model/through.h"
#include "model/view.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_it(const struct source *o, const struct source *s)
{
	return o->kind == s->host_kind && o->id == s->id && o->kernel_thread == s->kernel_thread &&
	       !strcmp(o->name, s->name) && same_text(o->function, s->function);
}

const struct source *through_origin(const struct through_found *f, const struct source *s,
				    uint32_t *index)
{
	const struct source *best = NULL;

	for (; f && f->verdict == ALIGN_FOUND; f = f->next)
		for (uint32_t i = 0; i < f->host->ncpus; i++) {
			const struct sources *rows = &f->host->cpu[i].sources;

			for (uint32_t k = 0; k < rows->count; k++) {
				const struct source *o = rows->row[k];

				if (!is_it(o, s) || (best && best->net.sum >= o->net.sum))
					continue;
				best = o;
				*index = i;
			}
		}
	return best;
}
