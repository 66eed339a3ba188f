/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfetto: on which track a hiccup stands. A trace is read back and compared as text, a line a
 * track that has slices: its name, and of each outer slice begin+length. The public schema is
 * tested by tests/cli/29-perfetto.t. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/perfetto.h"
#include "../world/made.h"

static struct report report;
static struct trace *trace;
static FILE *out;
static char *bytes;
static size_t len;

static void begin(bool watch, const char *comm, uint32_t tid)
{
	static const unsigned cpus[] = {2, 3};

	report_init(&report, "web-07", cpus, 2);
	cpus_add(&report.view.host.isolated, 3);
	report.view.run.watch = watch;
	for (unsigned i = 0; i < 2 && watch; i++) {
		report.view.cpu[i].tid = tid;
		strcpy(report.view.cpu[i].comm, comm);
	}
	out = open_memstream(&bytes, &len);
	assert_non_null(out);
	trace = render_perfetto.begin(&report.view, out);
	assert_non_null(trace);
}

/* A hiccup of the lane with this index, since the run's start; as a thread's, or (tid 0) a
 * CPU's. */
static void hiccup(uint32_t index, const char *comm, uint32_t tid, uint64_t start_ns,
		   uint64_t end_ns)
{
	struct account a = {.start_ns = WORLD_STARTED + start_ns,
			    .duration_ns = end_ns - start_ns,
			    .outside_ns = end_ns - start_ns,
			    .spot = {.cpu = 0, .tid = tid}};

	strcpy(a.spot.comm, comm);
	assert_int_equal(render_perfetto.hiccup(trace, index, &a), 0);
}

/* The slices of a track. As who reads a trace takes it: an end is the end of what began last, so
 * slices must not overlap. */
static size_t tell(const Perfetto__Trace *t, uint64_t track, char *text, size_t size)
{
	uint64_t last = 0, open = 0;
	size_t n = 0;

	for (size_t i = 0; i < t->n_packet; i++) {
		const Perfetto__TracePacket *p = t->packet[i];
		const Perfetto__TrackEvent *e = p->track_event;

		if (!e || e->track_uuid != track)
			continue;
		assert_true(p->timestamp >= last);
		last = p->timestamp;
		if (e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN) {
			assert_true(!open);
			open = p->timestamp;
		} else if (e->type == PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END) {
			assert_true(open);
			n += snprintf(text + n, size - n, " %lu+%lu",
				      (unsigned long)(open - WORLD_STARTED),
				      (unsigned long)(p->timestamp - open));
			open = 0;
		}
	}
	assert_true(!open);
	return n;
}

static void check(const char *want)
{
	char text[4096] = "";
	Perfetto__Trace *t;
	size_t n = 0;

	assert_int_equal(render_perfetto.end(trace), 0);
	assert_int_equal(fclose(out), 0);
	t = perfetto__trace__unpack(NULL, len, (const uint8_t *)bytes);
	assert_non_null(t);
	for (size_t i = 0; i < t->n_packet; i++) {
		const Perfetto__TrackDescriptor *d = t->packet[i]->track_descriptor;
		char slices[1024];

		if (d && tell(t, d->uuid, slices, sizeof(slices)))
			n += snprintf(text + n, sizeof(text) - n, "%s:%s\n", d->name, slices);
	}
	assert_string_equal(text, want);
	perfetto__trace__free_unpacked(t, NULL);
	free(bytes);
	report_free(&report);
}

static void test_a_cpu_has_one(void **state)
{
	(void)state;
	begin(false, "", 0);
	hiccup(1, "", 0, 10, 20);
	hiccup(0, "", 0, 15, 16);
	hiccup(1, "", 0, 20, 25); /* close behind the one before */
	hiccup(1, "", 0, 30, 31);
	check("CPU 2: 15+1\nCPU 3 (isolated): 10+10 20+5 30+1\n");
}

/* A thread that says itself when it was late may say the same time twice. */
static void test_windows_that_overlap(void **state)
{
	(void)state;
	begin(true, "audio", 701);
	hiccup(0, "audio", 701, 201, 202);
	hiccup(0, "audio", 701, 200, 203); /* around it */
	hiccup(0, "audio", 701, 200, 213); /* a hiccup with the same begin */
	hiccup(0, "audio", 701, 210, 220);
	hiccup(0, "audio", 701, 203, 210); /* before it */
	hiccup(0, "audio", 701, 230, 231);
	check("audio [701]: 201+1 210+10 230+1\naudio [701]: 200+3 203+7\naudio [701]: 200+13\n");
}

/* None is lost when there are more than a lane keeps: the others have a track of their own. */
static void test_more_than_tracks_are_kept(void **state)
{
	char want[1024];
	size_t n = 0;

	(void)state;
	begin(true, "audio", 701);
	for (unsigned i = 0; i < 3 * ROWS; i++) {
		hiccup(0, "audio", 701, 100, 200 + i);
		n += snprintf(want + n, sizeof(want) - n, "audio [701]: 100+%u\n", 100 + i);
	}
	check(want);
}

static void test_who_the_lane_is_of(void **state)
{
	(void)state;
	begin(true, "engine", 700);
	hiccup(0, "engine", 700, 10, 20);
	hiccup(0, "turbine", 700, 30, 40); /* a thread with another name now */
	hiccup(0, "engine", 700, 50, 60);
	hiccup(1, "", 703, 10, 20);          /* no record named it */
	hiccup(1, "[kswapd0]", 703, 30, 40); /* the name that the thread gives itself */
	report.view.cpu[1].kernel_thread = true;
	hiccup(1, "kswapd0", 35, 50, 60);
	report.view.cpu[0].tid = 0; /* from here on the lane is that of several */
	strcpy(report.view.cpu[0].comm, "(others)");
	hiccup(0, "", 811, 70, 80);
	hiccup(0, "", 812, 75, 90);
	hiccup(0, "", 813, 80, 85);
	check("engine [700]: 10+10 50+10\nturbine [700]: 30+10\n"
	      "thread [703]: 10+10\nuser thread [kswapd0] [703]: 30+10\n[kswapd0] [35]: 50+10\n"
	      "(others): 70+10 80+5\n(others): 75+15\n");
}

/* Levels of a series are named after the lane, a thread or a CPU. */
static void test_levels(void **state)
{
	static const char *const want[] = {"CPU 2 wait median of 1",
					   "a\\x1bb [700] wait median of 1"};

	(void)state;
	for (unsigned watch = 0; watch < 2; watch++) {
		struct cpu *c;

		begin(watch, "a\033b", 700);
		c = &report.view.cpu[0];
		c->series = calloc(1, sizeof(*c->series));
		assert_non_null(c->series);
		c->nseries = 1;
		strcpy(c->series[0].name, "wait");
		assert_int_equal(hist_init(&c->series[0].hist, SERIES_BITS), 0);
		hist_add(&c->series[0].hist, 5000);
		assert_int_equal(render_perfetto.end(trace), 0);
		assert_int_equal(fclose(out), 0);
		assert_non_null(memmem(bytes, len, want[watch], strlen(want[watch])));
		free(bytes);
		report_free(&report);
	}
}

static size_t packed(void (*pack)(struct trace *, Perfetto__TracePacket *),
		     Perfetto__TracePacket *p, char **packet)
{
	size_t n;

	trace->out = open_memstream(packet, &n);
	assert_non_null(trace->out);
	pack(trace, p);
	assert_int_equal(fclose(trace->out), 0);
	trace->out = out;
	return n;
}

/* The events that are written by hand are, byte for byte, those of protobuf-c. */
static void check_by_hand(uint64_t number, char *text)
{
	Perfetto__TracePacket p = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackEvent e = PERFETTO__TRACK_EVENT__INIT;
	Perfetto__DebugAnnotation note = PERFETTO__DEBUG_ANNOTATION__INIT, *notes = &note;
	char *by_hand, *expected;
	size_t n;

	p.has_timestamp = e.has_type = e.has_track_uuid = e.has_name_iid = true;
	p.timestamp = e.track_uuid = e.name_iid = number;
	p.track_event = &e;
	e.type = PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN;
	note.has_name_iid = note.has_uint_value = true;
	note.name_iid = note.uint_value = number;
	note.string_value = text;
	e.debug_annotations = &notes;
	e.n_debug_annotations = e.n_flow_ids = e.n_category_iids = 1;
	e.flow_ids = e.category_iids = &number;
	n = packed(perfetto_emit, &p, &expected);
	assert_int_equal(packed(perfetto_event, &p, &by_hand), n);
	assert_memory_equal(by_hand, expected, n);
	free(by_hand);
	free(expected);
}

static void test_numbers_of_all_lengths(void **state)
{
	char text[256] = "";

	(void)state;
	begin(false, "", 0);
	for (int bit = 0; bit < 64; bit++) {
		check_by_hand((UINT64_C(1) << bit) - 1, text);
		check_by_hand(UINT64_C(0x123456789abcdef) & ((UINT64_C(1) << bit) - 1), text);
		check_by_hand(UINT64_C(1) << bit, text);
		memset(text, 'x', 4 * bit);
	}
	check_by_hand(UINT64_MAX, text);
	check("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_cpu_has_one),
		cmocka_unit_test(test_windows_that_overlap),
		cmocka_unit_test(test_more_than_tracks_are_kept),
		cmocka_unit_test(test_who_the_lane_is_of),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_numbers_of_all_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
