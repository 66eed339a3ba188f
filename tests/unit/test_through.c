/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's time outside its kernel, divided by what its host did meanwhile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "../world/chance.h"
#include "../world/world.h"
#include "model/through.h"

#define US      1000ULL
#define MS      1000000ULL
#define GAPS    200
#define APART   (40000 * MS + 777)
#define COVERED (WORLD_STARTED + APART)

static struct view guest, host;
static struct through *t;
/* Time that the host's thread lost, by its own clock. */
static struct {
	uint64_t start_ns, length_ns;
} gap[GAPS];
static uint32_t ngaps, given;

static struct account host_account(uint32_t i, struct piece *p)
{
	*p = (struct piece){.net_ns = gap[i].length_ns - 2 * US, .count = 1};
	p->source = sources_find(&host.cpu[0].sources, SOURCE_THREAD, 900 + i % 2, "backup", NULL);
	return (struct account){.start_ns = gap[i].start_ns,
				.duration_ns = gap[i].length_ns,
				.attributed_ns = p->net_ns,
				.edge_ns = US,
				.outside_ns = US, /* unseen by the host, too */
				.spot = {.cpu = 12},
				.pieces = p,
				.npieces = 1};
}

static void more(void *ctx, uint64_t until_ns)
{
	const struct account before = {.start_ns = COVERED, .duration_ns = US, .edge_ns = US};
	struct piece p;

	(void)ctx;
	while (given < ngaps) {
		struct account a = host_account(given++, &p);

		through_window(t, 0, &a);
		through_window(t, 0, &before); /* a forged file's: they go back */
		if (a.start_ns + a.duration_ns >= until_ns)
			return;
	}
}

/* A guest's gap, all of it outside. */
static struct account all_outside(uint64_t start_ns, uint64_t length_ns)
{
	return (struct account){
		.start_ns = start_ns, .duration_ns = length_ns, .outside_ns = length_ns};
}

static void give_gap(uint32_t i)
{
	struct piece p;
	struct account a = host_account(i, &p);

	through_host(t, 0, &a);
	a = all_outside(gap[i].start_ns - APART, gap[i].length_ns + 3 * US);
	through_guest(t, 0, &a);
}

#define LANES 300

/* A guest's CPU 3, and so many threads on its host, of which the first has the gaps. With two the
 * guest has a CPU 4, too. */
static void draw_gaps(uint32_t lanes, const char *comm)
{
	static const unsigned cpus[] = {3, 4};
	static unsigned lane[LANES];
	uint64_t at = COVERED + MS;

	world_view(&guest, "vm", cpus, lanes == 2 ? 2 : 1);
	world_view(&host, "metal", lane, lanes);
	host.run.started_ns = COVERED;
	host.run.duration_ns = 10000 * MS;
	strcpy(host.cpu[0].comm, comm);
	t = through_new();
	seed = 88172645463325252ULL;
	given = 0;
	for (ngaps = 0; ngaps < GAPS; ngaps++) {
		at += 5 * MS + below(20 * MS);
		gap[ngaps].start_ns = at;
		gap[ngaps].length_ns = 50 * US + below(2 * MS);
		give_gap(ngaps);
	}
}

static int begin(void **state)
{
	(void)state;
	draw_gaps(1, "CPU 3/KVM");
	return through_match(t, &guest, &host) ||
	       through_begin(t, &guest, &host, &(struct through_source){NULL, more});
}

static int end(void **state)
{
	(void)state;
	through_free(t);
	view_free(&guest);
	view_free(&host);
	return 0;
}

static void join(void)
{
	assert_int_equal(through_match(t, &guest, &host), 0);
	assert_int_equal(through_begin(t, &guest, &host, &(struct through_source){NULL, more}), 0);
}

static const struct account *divide(const struct account *a)
{
	const struct divider *d = through_divider(t);
	const struct account *r = d->divide(d->ctx, 0, a);

	assert_int_equal(r->attributed_ns + r->edge_ns + r->lost_ns + r->host_ns + r->outside_ns,
			 r->duration_ns);
	assert_int_equal(r->outside_ns >= r->host_nothing_ns + r->host_not_covered_ns, true);
	return r;
}

static uint64_t in_guest(uint32_t i)
{
	return gap[i].start_ns - APART;
}

static void every_gap_gets_its_own(void **state)
{
	uint32_t right = 0;

	(void)state;
	assert_int_equal(through_found(t)->verdict, ALIGN_FOUND);
	for (uint32_t i = 0; i < GAPS; i++) {
		struct account a = all_outside(in_guest(i), gap[i].length_ns + 3 * US);
		const struct account *r = divide(&a);
		const struct source *s;

		assert_int_equal(r->npieces, 2);
		s = guest.cpu[0].sources.row[r->pieces[0].source];
		/* the third microsecond is the way out and back */
		right += s->kind == SOURCE_HOST && s->host_kind == SOURCE_THREAD &&
			 s->id == 900 + i % 2 && s->host_cpu == 13 &&
			 r->pieces[0].net_ns == gap[i].length_ns - 2 * US &&
			 r->pieces[1].net_ns == US && r->host_nothing_ns == 4 * US;
	}
	assert_int_equal(right, GAPS);
}

/* Times where the host has nothing, where its recording had not begun, and where the clocks are not
 * matched. */
static void says_what_is_not_known(void **state)
{
	struct account a = all_outside(in_guest(9) + 3 * MS, 300 * US);
	const struct account *r = divide(&a);

	(void)state;
	assert_int_equal(r->host_nothing_ns, 300 * US);
	a = all_outside(WORLD_STARTED - MS, 300 * US);
	assert_int_equal(divide(&a)->host_not_covered_ns, 300 * US);
	a = all_outside(in_guest(GAPS - 1) + 60000 * MS, 300 * US);
	assert_int_equal(divide(&a)->host_not_covered_ns, 300 * US);
}

/* Time that the guest's own interval took stays its own, also where the host stopped the guest in
 * it. */
static void leaves_the_guests_own_time(void **state)
{
	uint64_t length = gap[4].length_ns;
	struct span own = {.start_ns = in_guest(4) + length / 2, .end_ns = in_guest(4) + length};
	struct piece p = {.net_ns = length - length / 2};
	struct account a = {.start_ns = in_guest(4),
			    .duration_ns = length,
			    .attributed_ns = p.net_ns,
			    .outside_ns = length / 2,
			    .pieces = &p,
			    .npieces = 1,
			    .spans = &own,
			    .nspans = 1};
	const struct account *r;

	(void)state;
	p.source = sources_find(&guest.cpu[0].sources, SOURCE_VECTOR, 1, "local_timer", NULL);
	r = divide(&a);
	assert_int_equal(r->pieces[0].net_ns, length - length / 2);
	assert_in_range(r->host_ns, length / 2 - 2 * US, length / 2);
}

/* A gap shorter than the clocks agree is not that of a window before it. */
static void needs_an_overlap(void **state)
{
	struct account a = all_outside(in_guest(9) + gap[9].length_ns + US, US / 2);

	(void)state;
	a.start_ns += US;
	assert_int_equal(divide(&a)->host_nothing_ns, US / 2);
}

/* Nobody knows that nothing was there in a gap of a thread's recording. */
static void trusts_no_recording_with_holes(void **state)
{
	struct account a;

	(void)state;
	draw_gaps(1, "CPU 3/KVM");
	host.cpu[0].unpaired = 1;
	join();
	a = all_outside(in_guest(9), gap[9].length_ns + 3 * US);
	assert_int_equal(divide(&a)->host_not_covered_ns, 4 * US);
	a = all_outside(in_guest(9) + 3 * MS, 300 * US);
	assert_int_equal(divide(&a)->host_nothing_ns, 0);
	assert_int_equal(divide(&a)->host_not_covered_ns, 300 * US);
	end(NULL);
}

/* Windows with more pieces than are kept together: the older ones go, and it is said so. */
static void keeps_so_many_pieces(void **state)
{
	enum { PIECES = 300000 };
	struct piece *p = calloc(PIECES, sizeof(*p));
	struct account a = all_outside(in_guest(4), gap[4].length_ns);

	(void)state;
	more(NULL, UINT64_MAX);
	for (uint32_t i = 0; i < 2; i++)
		through_window(t, 0,
			       &(struct account){.start_ns = COVERED + (9000 + i) * MS,
						 .duration_ns = US,
						 .pieces = p,
						 .npieces = PIECES});
	assert_int_equal(divide(&a)->host_not_covered_ns, a.outside_ns);
	free(p);
}

/* Names none that had no part in a gap, however near it was. */
static void names_nobody_beside(void **state)
{
	struct account a = all_outside(in_guest(4) - 21 * US, 20 * US);
	const struct account *r = divide(&a);

	(void)state;
	assert_int_equal(r->npieces, 0);
	assert_int_equal(r->host_nothing_ns, 20 * US);
}

/* A window that the guest's gap ends in: what ran there later has no part in the gap. Where not all
 * of the spans are known, each has as much of it as of the window. */
static void names_what_ran_in_the_gap(void **state)
{
	struct sources *rows = &host.cpu[0].sources;
	uint32_t first = sources_find(rows, SOURCE_THREAD, 11, "first", NULL);
	uint32_t then = sources_find(rows, SOURCE_THREAD, 12, "then", NULL);
	uint64_t at = gap[GAPS - 1].start_ns + 50 * MS;

	(void)state;
	more(NULL, UINT64_MAX);
	for (uint32_t left = 0; left < 2; left++, at += 50 * MS) {
		const struct span spans[] = {
			{.start_ns = at, .end_ns = at + 2 * MS, .source = first},
			{.start_ns = at + MS, .end_ns = at + 1500 * US, .source = then, .depth = 1},
			{.start_ns = at + 2 * MS, .end_ns = at + 3 * MS, .source = then}};
		struct piece p[] = {{.source = first, .net_ns = 1500 * US, .count = 1},
				    {.source = then, .net_ns = 1500 * US, .count = 1}};
		struct account a = all_outside(at - APART, 2 * MS);
		const struct account *r;

		through_window(t, 0,
			       &(struct account){.start_ns = at,
						 .duration_ns = 3 * MS,
						 .attributed_ns = 3 * MS,
						 .pieces = p,
						 .npieces = 2,
						 .spans = spans,
						 .nspans = left ? 1 : 3,
						 .spans_left = left ? 2 : 0});
		r = divide(&a);
		assert_int_equal(r->npieces, 2);
		assert_string_equal(guest.cpu[0].sources.row[r->pieces[0].source]->name, "first");
		assert_in_range(r->pieces[0].net_ns, (left ? 990 : 1490) * US,
				(left ? 1010 : 1510) * US);
		assert_in_range(r->pieces[1].net_ns, (left ? 990 : 490) * US,
				(left ? 1010 : 510) * US);
	}
}

/* A recording of a host has room for many threads, whose windows need none: those of the guest's
 * own are kept until the guest comes to them. */
static void keeps_the_windows_of_its_cpus(void **state)
{
	enum { THREADS = 64, MORE = 10000 };
	struct account a;

	(void)state;
	draw_gaps(THREADS, "CPU 3/KVM");
	join();
	more(NULL, UINT64_MAX);
	for (uint32_t i = 0; i < MORE; i++) {
		a = all_outside(gap[GAPS - 1].start_ns + 100 * MS + i * 10 * US, US);
		through_window(t, 0, &a);
	}
	a = all_outside(in_guest(0), gap[0].length_ns);
	assert_int_equal(divide(&a)->host_not_covered_ns, 0);
	assert_in_range(divide(&a)->host_ns, gap[0].length_ns - 5 * US, gap[0].length_ns);
	end(NULL);
}

/* A thread has the name of CPU 4, and gaps of its own: it is another guest's. */
static void sees_names_of_other_guests(void **state)
{
	(void)state;
	draw_gaps(2, "CPU 3/KVM");
	strcpy(host.cpu[1].comm, "CPU 4/KVM");
	for (uint32_t i = 0; i < GAPS; i++) {
		struct account a = all_outside(in_guest(i) + MS + below(MS), MS + below(MS));

		through_guest(t, 1, &a);
		a = all_outside(gap[i].start_ns + 3 * MS + below(MS), MS + below(MS));
		through_host(t, 1, &a);
	}
	assert_int_equal(through_match(t, &guest, &host), 0);
	assert_int_equal(through_found(t)->verdict, ALIGN_FOUND);
	assert_int_equal(through_found(t)->lane[0], 0);
	assert_int_equal(through_found(t)->lane[1], THROUGH_NOBODY);
	assert_non_null(strstr(through_found(t)->text, "1 of 2 CPUs"));
	end(NULL);
}

/* Threads without names, whose gaps tell. */
static void finds_threads_by_their_gaps(void **state)
{
	static const uint32_t lanes[] = {2, LANES};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		draw_gaps(lanes[i], "");
		assert_int_equal(through_match(t, &guest, &host), 0);
		assert_int_equal(through_found(t)->verdict, ALIGN_FOUND);
		assert_int_equal(through_found(t)->lane[0], 0);
		end(NULL);
	}
}

/* Two threads without names have the gaps: the reason is not that these are few. */
static void says_why_no_thread_is_found(void **state)
{
	(void)state;
	draw_gaps(2, "");
	for (uint32_t i = 0; i < GAPS; i++) { /* two threads have them */
		struct account a = all_outside(gap[i].start_ns, gap[i].length_ns);

		through_host(t, 1, &a);
	}
	assert_int_equal(through_match(t, &guest, &host), 0);
	assert_int_equal(through_found(t)->verdict, ALIGN_AMBIGUOUS);
	assert_non_null(strstr(through_found(t)->text, "more than one way"));
	end(NULL);
}

/* A guest that moved: what ran on each host is told apart, as far as it has one row. */
static void tells_hosts_apart(void **state)
{
	const struct through_source source = {NULL, more, true};
	struct through *first;
	const struct source *s;
	struct account a;

	(void)state;
	draw_gaps(1, "CPU 3/KVM");
	assert_int_equal(through_match(t, &guest, &host), 0);
	assert_int_equal(through_begin(t, &guest, &host, &source), 0);
	a = all_outside(in_guest(0), gap[0].length_ns);
	s = guest.cpu[0].sources.row[divide(&a)->pieces[0].source];
	assert_string_equal(s->host_name, "metal");
	assert_int_equal(s->host_cpu, 13);
	first = t;
	t = through_new();
	for (uint32_t i = 0; i < GAPS; i++)
		give_gap(i);
	strcpy(host.host.hostname, "metal-2");
	given = 0;
	assert_int_equal(through_match(t, &guest, &host), 0);
	assert_int_equal(through_begin(t, &guest, &host, &source), 0);
	a = all_outside(in_guest(2), gap[2].length_ns);
	assert_ptr_equal(s, guest.cpu[0].sources.row[divide(&a)->pieces[0].source]);
	assert_string_equal(s->host_name, "");
	assert_int_equal(s->host_cpu, SOURCE_CPUS);
	through_free(first);
	end(NULL);
}

static void knows_the_threads_of_vcpus(void **state)
{
	static const struct {
		const char *comm;
		int vcpu;
	} rows[] = {{"CPU 3/KVM", 3},    {"CPU 12/TCG", 12}, {"fc_vcpu 0", 0}, {"vcpu7", 7},
		    {"crosvm_vcpu2", 2}, {"CPU 3/KVMx", -1}, {"CPU /KVM", -1}, {"vcpu", -1},
		    {"vcpu-1", -1},      {"", -1},           {"worker", -1},   {"vcpu1234", -1},
		    {"CPU -1/KVM", -1}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(through_vcpu(rows[i].comm), rows[i].vcpu);
		assert_int_equal(through_is_vcpu(rows[i].comm), rows[i].vcpu >= 0);
	}
	assert_true(through_is_vcpu("ALL CPUs/TCG")); /* one thread for all, without a number */
	assert_int_equal(through_vcpu("ALL CPUs/TCG"), -1);
	assert_false(through_is_vcpu("ALL CPUs/TCGx"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_gap_gets_its_own),
		TEST(says_what_is_not_known),
		TEST(leaves_the_guests_own_time),
		TEST(needs_an_overlap),
		TEST(names_nobody_beside),
		TEST(names_what_ran_in_the_gap),
		TEST(keeps_so_many_pieces),
		cmocka_unit_test(trusts_no_recording_with_holes),
		cmocka_unit_test(sees_names_of_other_guests),
		cmocka_unit_test(finds_threads_by_their_gaps),
		cmocka_unit_test(says_why_no_thread_is_found),
		cmocka_unit_test(tells_hosts_apart),
		cmocka_unit_test(keeps_the_windows_of_its_cpus),
		cmocka_unit_test(knows_the_threads_of_vcpus),
	};

	return cmocka_run_group_tests_name("through", tests, NULL, NULL);
}
