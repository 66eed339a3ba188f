/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recording/course.h"

#include <stdlib.h>

#include "recording/format.h"
#include "recording/section.h"

void put_courses(struct bytes *b, const struct cpu *c)
{
	put_number(b, c->nseries);
	for (uint32_t i = 0; i < c->nseries; i++) {
		const struct course *x = &c->series[i].course;
		struct bytes s = {0};

		put_number(&s, x->start);
		put_number(&s, x->width);
		put_number(&s, x->n);
		for (uint32_t k = 0; k < x->n; k++) {
			put_number(&s, x->bin[k].count);
			if (x->bin[k].count) {
				put_number(&s, x->bin[k].sum);
				put_number(&s, x->bin[k].max);
			}
		}
		put_section(b, &s);
	}
}

static void get_course(struct reading *r, struct series *series)
{
	struct course x = {.start = get_number(r), .width = get_number(r)};
	uint64_t n = get_number(r);

	r->bad |= n > COURSE_BINS || x.start > TIME_MAX || x.width > TIME_MAX / COURSE_BINS ||
		  (n && !x.width);
	x.bin = n && !r->bad ? calloc(n, sizeof(*x.bin)) : NULL;
	for (; x.bin && x.n < n; x.n++) {
		struct course_bin *b = &x.bin[x.n];

		b->count = get_number(r);
		if (b->count) {
			b->sum = get_number(r);
			b->max = get_number(r);
		}
	}
	r->bad |= n && !course_fits(&x, &series->hist);
	if (r->bad || !x.n)
		course_free(&x);
	course_free(&series->course);
	series->course = x;
}

void get_courses(struct reading *r, struct cpu *c)
{
	uint64_t n = get_number(r);

	r->bad |= c->nseries && n != c->nseries;
	for (uint64_t i = 0; i < n && i < c->nseries && !r->bad; i++) {
		struct reading s = get_section(r);

		get_course(&s, &c->series[i]);
		r->bad |= s.bad;
	}
}
