/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values over time: each is in the slice of its time, however often slices were merged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "model/course.h"
#include "model/series.h"
#include "model/view.h"
#include "recording/course.h"

static struct course_bin memory[COURSE_BINS];

/* A series of n values, `step` of time apart; the i-th is i + 1. */
static struct series count_up(uint64_t start, uint64_t width, uint64_t step, uint64_t n)
{
	struct series s = {.name = "x"};

	assert_int_equal(hist_init(&s.hist, SERIES_BITS), 0);
	course_place(&s.course, memory);
	course_reset(&s.course, width);
	for (uint64_t i = 0; i < n; i++) {
		hist_add(&s.hist, i + 1);
		course_add(&s.course, start + i * step, i + 1);
	}
	return s;
}

/* Each slice holds what its time says, all are as wide, and their number is bounded. */
static void in_their_slice(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 3000; n += 7) {
		struct series s = count_up(5000, 10, 3, n);
		const struct course *c = &s.course;
		uint64_t width = 10, next = 0;

		while (3 * (n - 1) / width >= COURSE_BINS)
			width *= 2;
		assert_int_equal(c->width, width);
		assert_int_equal(c->start, 5000);
		assert_int_equal(c->n, 3 * (n - 1) / width + 1);
		for (uint32_t i = 0; i < c->n; i++) {
			uint64_t count = 0, sum = 0, max = 0;

			for (; next < n && 3 * next / width == i; next++, count++) {
				sum += next + 1;
				max = next + 1;
			}
			assert_int_equal(c->bin[i].count, count);
			assert_int_equal(c->bin[i].sum, sum);
			assert_int_equal(c->bin[i].max, max);
		}
		assert_int_equal(next, n);
		assert_true(course_fits(c, &s.hist));
		hist_free(&s.hist);
	}
}

/* A long pause merges more than once, and is a hole; a time before the first counts as that. */
static void jumps(void **state)
{
	struct series s = count_up(1000, 10, 1, 2);
	struct course *c = &s.course;

	(void)state;
	course_add(c, 1000 + 10 * COURSE_BINS * 64, 7);
	assert_int_equal(c->width, 10 * 128);
	assert_int_equal(c->n, COURSE_BINS / 2 + 1);
	assert_int_equal(c->bin[0].count, 2);
	assert_int_equal(c->bin[1].count, 0);
	assert_int_equal(c->bin[COURSE_BINS / 2].sum, 7);
	course_add(c, 10, 9);
	assert_int_equal(c->bin[0].count, 3);
	assert_int_equal(c->bin[0].max, 9);
	course_add(c, UINT64_MAX / 4, 11); /* no time makes it fail */
	assert_int_equal(c->bin[0].count, 4);
	assert_int_equal(c->bin[c->n - 1].max, 11);
	course_reset(c, 10);
	assert_int_equal(c->n, 0);
	assert_int_equal(memory[0].count, 0);
	course_add(c, 0, 3); /* at the clock's own begin */
	assert_int_equal(c->n, 1);
	hist_free(&s.hist);
}

/* Ticks of half a ns become ns; a copy of nothing is nothing. */
static void copied(void **state)
{
	struct series s = count_up(400, 20, 5, 100);
	struct course to, none = {0};

	(void)state;
	assert_true(course_copy(&to, &s.course, 77, 0.5));
	assert_int_equal(to.start, 77);
	assert_int_equal(to.width, 10);
	assert_int_equal(to.n, s.course.n);
	assert_memory_equal(to.bin, s.course.bin, to.n * sizeof(*to.bin));
	course_free(&to);
	assert_true(course_copy(&to, &none, 77, 0.5));
	assert_null(to.bin);
	hist_free(&s.hist);
}

/* A course that is not its values': one too many, a larger one, a mean above the largest. */
static void other_values(void **state)
{
	struct series s = count_up(0, 10, 3, 1000);
	struct course *c = &s.course;

	(void)state;
	hist_add(&s.hist, 5);
	assert_true(course_fits(c, &s.hist)); /* killed between the two */
	hist_add(&s.hist, 5);
	assert_false(course_fits(c, &s.hist));
	c->bin[3].count += 3;
	assert_false(course_fits(c, &s.hist));
	c->bin[3].count -= 2;
	assert_true(course_fits(c, &s.hist));
	c->bin[3].max = 1001;
	assert_false(course_fits(c, &s.hist));
	c->bin[3].max = 1;
	assert_false(course_fits(c, &s.hist));
	hist_free(&s.hist);
}

/* Through a recording: as it was, and refused where it cannot be. */
static void recorded(void **state)
{
	struct series s = count_up(1 << 20, 10, 3, 1700);
	struct cpu c = {.series = &s, .nseries = 1}, none = {0};
	struct course was = s.course;
	struct bytes b = {0};
	struct reading in;

	(void)state;
	put_courses(&b, &c);
	assert_false(b.failed);
	in = (struct reading){b.at, b.at + b.len, false};
	get_courses(&in, &none); /* a lane that nobody wants */
	assert_false(in.bad);
	memset(&s.course, 0, sizeof(s.course));
	in = (struct reading){b.at, b.at + b.len, false};
	get_courses(&in, &c);
	assert_false(in.bad);
	assert_true(in.at == in.end);
	assert_int_equal(s.course.start, was.start);
	assert_int_equal(s.course.width, was.width);
	assert_int_equal(s.course.n, was.n);
	assert_memory_equal(s.course.bin, memory, was.n * sizeof(*memory));
	for (size_t n = 0; n < b.len; n++) { /* cut off anywhere */
		in = (struct reading){b.at, b.at + n, false};
		get_courses(&in, &c);
		assert_true(in.bad);
	}
	hist_add_n(&s.hist, 3, 2); /* other values */
	in = (struct reading){b.at, b.at + b.len, false};
	get_courses(&in, &c);
	assert_true(in.bad);
	assert_null(s.course.bin);
	c.nseries = 0;
	free(b.at);
	course_free(&s.course);
	hist_free(&s.hist);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_their_slice), cmocka_unit_test(jumps),
		cmocka_unit_test(copied),         cmocka_unit_test(other_values),
		cmocka_unit_test(recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
