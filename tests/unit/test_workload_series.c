/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measurements of a workload: through a recording and back, and as a report shows them when values
 * are shorter than a nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording/fields.h"
#include "render/text.h"
#include "../world/made.h"

static struct series make(const char *name, bool fine, uint64_t value, uint64_t threshold_ns)
{
	struct series s = {
		.fine = fine, .threshold_ns = threshold_ns, .longer = threshold_ns ? 3 : 0};

	snprintf(s.name, sizeof(s.name), "%s", name);
	assert_int_equal(hist_init(&s.hist, SERIES_BITS), 0);
	hist_add_n(&s.hist, value, 99);
	hist_add(&s.hist, 2 * value);
	s.longest_ns = threshold_ns * 5;
	return s;
}

static struct cpu some_run(void)
{
	struct cpu c = {.series = calloc(3, sizeof(*c.series)), .nseries = 3};

	assert_non_null(c.series);
	c.series[0] = make("addition", true, 275, 330);
	c.series[1] = make("a\033[2Jb", true, 90100, 910);
	c.series[2] = make("bare", true, 24150, 0);
	return c;
}

static char *text_of(const struct cpu *c, unsigned width)
{
	char *text = NULL;
	size_t len;
	struct page p = {.out = open_memstream(&text, &len), .width = width};

	assert_non_null(p.out);
	text_series(&p, c);
	fclose(p.out);
	return text;
}

static void fine_values(void **state)
{
	struct cpu c = some_run();
	char *text;

	(void)state;
	text = text_of(&c, 120);
	assert_non_null(strstr(text, "a\\x1b[2Jb")); /* recordings come from anybody */
	assert_non_null(strstr(text, "0.28 ns"));    /* 0.275 */
	assert_non_null(strstr(text, "90.1 ns"));    /* below 100 ns one decimal */
	assert_non_null(strstr(text, "4.55 us"));    /* the longest window, longer than any value */
	assert_non_null(strstr(text, "longer"));     /* thresholds of their own */
	assert_null(strstr(text, "p99.9"));
	free(text);

	c.series[1].threshold_ns = 0;
	text = text_of(&c, 120);
	assert_non_null(strstr(text, "p99.9"));
	assert_null(strstr(text, "longer"));
	assert_non_null(strstr(text, "180 ns"));
	assert_null(strstr(text, "us"));
	free(text);
	cpu_clear(&c);
}

/* On a narrow page figures give room to names, whose words are never broken. */
static void names(void **state)
{
	struct cpu c = {.series = calloc(2, sizeof(*c.series)), .nseries = 2};
	char *text;

	(void)state;
	assert_non_null(c.series);
	c.series[0] = make("nanosleep_0_slack1", false, 16500, 330);
	c.series[1] = make("sqrt_reciprocal, bare", true, 3650, 910);
	text = text_of(&c, 80);
	assert_non_null(strstr(text, " nanosleep_0_slack1\n"));
	assert_non_null(strstr(text, " sqrt_reciprocal,\n"));
	assert_null(strstr(text, "p90"));
	assert_non_null(strstr(text, "min"));
	free(text);
	text = text_of(&c, 72);
	assert_non_null(strstr(text, " nanosleep_0_slack1\n"));
	assert_null(strstr(text, "min"));
	free(text);
	text = text_of(&c, 100);
	assert_non_null(strstr(text, " sqrt_reciprocal, bare\n"));
	assert_non_null(strstr(text, "p90"));
	free(text);
	cpu_clear(&c);
}

static void recorded(void **state)
{
	struct cpu c = some_run(), back = {0};
	struct texts *texts = texts_new(TEXTS_BYTES);
	struct bytes b = {0};
	struct reading r;
	uint64_t misses = 1;

	(void)state;
	c.unread = 5;
	*places_at(&c.places, 9) = (struct place_row){9, 40, 3, 1000};
	*places_at(&c.places, 2) = (struct place_row){2, 7, 6, 50};
	put_cpu(&b, &c, 7);
	assert_false(b.failed);
	r = (struct reading){b.at, b.at + b.len, false};
	get_cpu(&r, &back, &misses, texts);
	assert_false(r.bad);
	assert_int_equal(misses, 8); /* the run's are added to */
	assert_int_equal(back.nseries, 3);
	for (int i = 0; i < 3; i++) {
		const struct series *x = &c.series[i], *y = &back.series[i];

		assert_string_equal(x->name, y->name);
		assert_int_equal(x->fine, y->fine);
		assert_int_equal(x->threshold_ns, y->threshold_ns);
		assert_int_equal(x->longer, y->longer);
		assert_int_equal(x->longest_ns, y->longest_ns);
		assert_int_equal(x->hist.count, y->hist.count);
		assert_int_equal(hist_percentile(&x->hist, 50), hist_percentile(&y->hist, 50));
		assert_int_equal(x->hist.max, y->hist.max);
	}
	assert_int_equal(back.unread, 5);
	assert_int_equal(back.places.n, 2);
	assert_int_equal(back.places.row[0].cpu, 2);
	assert_memory_equal(back.places.row, c.places.row, 2 * sizeof(struct place_row));
	free(b.at);
	cpu_clear(&c);
	cpu_clear(&back);
	texts_free(texts);
}

/* A chart would draw a value that is longer than the longest beside its columns. */
static void longest_is_the_longest(void **state)
{
	struct texts *texts = texts_new(TEXTS_BYTES);

	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct cpu c = some_run(), back = {0};
		struct hist *h = &c.series[0].hist;
		uint64_t misses = 0, mean = h->sum / h->count;
		struct bytes b = {0};
		struct reading r;

		hist_add_n(h, mean, 1000);
		hist_add(h, 4 * h->max);
		h->max = bad ? h->max / 2 : h->max; /* the mean is below that */
		put_cpu(&b, &c, 0);
		r = (struct reading){b.at, b.at + b.len, false};
		get_cpu(&r, &back, &misses, texts);
		assert_int_equal(r.bad, bad);
		free(b.at);
		cpu_clear(&c);
		cpu_clear(&back);
	}
	texts_free(texts);
}

static char *written(const char *name, const struct view *v)
{
	const struct format *f = formats;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	while (strcmp(f->choice.name, name))
		f++;
	assert_int_equal(f->write(&v, 1, &(struct render_options){.width = 100}, out), 0);
	fclose(out);
	return text;
}

/* A mean of 22.6 ns is 23 as the least value is; what takes 4.000 ns takes no longer than that. */
static void of_equal_values(void **state)
{
	static const unsigned cpus[] = {3};
	struct view v;
	struct series *s;
	char *text;

	(void)state;
	run_init(&v, cpus, 1, 1);
	s = v.cpu[0].series = calloc(2, sizeof(*s));
	assert_non_null(s);
	v.cpu[0].nseries = 2;
	for (int i = 0; i < 2; i++) {
		s[i].fine = true;
		snprintf(s[i].name, sizeof(s[i].name), i ? "four" : "clock");
		assert_int_equal(hist_init(&s[i].hist, SERIES_BITS), 0);
		hist_add_n(&s[i].hist, i ? 4000 : 22600, 10);
	}
	hist_add(&s[0].hist, 22650);
	text = written("json", &v);
	assert_non_null(strstr(text, "\"min_ns\": 23"));
	assert_non_null(strstr(text, "\"mean_ns\": 23"));
	assert_non_null(strstr(text, "\"mean_ps\": 22605")); /* 22604.5 */
	free(text);
	text = written("prometheus", &v);
	assert_non_null(strstr(text, "series=\"four\",le=\"2e-09\"} 0\n"));
	assert_non_null(strstr(text, "series=\"four\",le=\"4e-09\"} 10\n"));
	free(text);
	view_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_equal_values),
		cmocka_unit_test(fine_values),
		cmocka_unit_test(names),
		cmocka_unit_test(recorded),
		cmocka_unit_test(longest_is_the_longest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
