/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning of a trace, and the tracks of hiccups. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "render/perfetto.h"

static const char *const note_names[NOTES] = {
	NULL,
	"cause",
	"asked by",
	"attributed_ns",
	"edge_ns",
	"not_recorded_ns",
	"outside_ns",
	"records_lost",
	"spans_left_out",
	"series",
	"not only its own",
	"owner",
	"host_ns",
};

bool perfetto_first_time(struct said *said, uint64_t serial)
{
	size_t byte = serial / 8;

	if (byte >= said->bytes) {
		size_t bytes = 2 * byte + 64;
		uint8_t *bit = realloc(said->bit, bytes);

		if (!bit)
			return true;
		memset(bit + said->bytes, 0, bytes - said->bytes);
		said->bit = bit;
		said->bytes = bytes;
	}
	if (said->bit[byte] & 1 << serial % 8)
		return false;
	said->bit[byte] |= 1 << serial % 8;
	return true;
}

static void emit_clocks(struct trace *t)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock mono = PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT, wall = mono;
	Perfetto__ClockSnapshot__Clock *clocks[] = {&mono, &wall};

	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	mono.has_clock_id = mono.has_timestamp = wall.has_clock_id = wall.has_timestamp = true;
	mono.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	mono.timestamp = t->view->run.started_ns;
	wall.clock_id = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
	snapshot.clocks = clocks;
	snapshot.n_clocks = parse_iso_time(t->view->run.started, &wall.timestamp) ? 1 : 2;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = PERFETTO__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	packet.clock_snapshot = &snapshot;
	packet.trace_packet_defaults = &defaults;
	packet.has_sequence_flags = true;
	packet.sequence_flags =
		PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_INCREMENTAL_STATE_CLEARED;
	perfetto_emit(t, &packet);
}

/* The host, and all names known before the first event. */
static void emit_host(struct trace *t)
{
	char name[4 * sizeof(t->view->host.hostname)], release[4 * sizeof(t->view->host.kernel)];
	char arch[4 * sizeof(t->view->host.arch)], rest[4 * sizeof(t->view->run.rest)],
		linux_name[] = "Linux";
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__SystemInfo info = PERFETTO__SYSTEM_INFO__INIT;
	Perfetto__Utsname uts = PERFETTO__UTSNAME__INIT;
	Perfetto__InternedData interned = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__EventName event[2] = {PERFETTO__EVENT_NAME__INIT, PERFETTO__EVENT_NAME__INIT},
			    *events[2];
	Perfetto__EventCategory category[CATEGORY_HICCUP], *categories[CATEGORY_HICCUP];
	Perfetto__DebugAnnotationName note[NOTES], *notes[NOTES];

	for (int i = 0; i < 2; i++) {
		event[i].has_iid = true;
		event[i].iid = i ? NAME_OUTSIDE : NAME_HICCUP;
		event[i].name = i ? escape_text(view_rest(t->view), SIZE_MAX, rest, sizeof(rest))
				  : (char *)"hiccup";
		events[i] = &event[i];
	}
	for (int i = 0; i < CATEGORY_HICCUP; i++) {
		category[i] = (Perfetto__EventCategory)PERFETTO__EVENT_CATEGORY__INIT;
		category[i].has_iid = true;
		category[i].iid = i + 1;
		category[i].name = i < SOURCE_KINDS ? (char *)source_kind_name(i) : "hiccup";
		categories[i] = &category[i];
	}
	for (int i = 1; i < NOTES; i++) {
		note[i] = (Perfetto__DebugAnnotationName)PERFETTO__DEBUG_ANNOTATION_NAME__INIT;
		note[i].has_iid = true;
		note[i].iid = i;
		note[i].name = (char *)note_names[i];
		notes[i - 1] = &note[i];
	}
	interned.event_names = events;
	interned.n_event_names = 2;
	interned.event_categories = categories;
	interned.n_event_categories = CATEGORY_HICCUP;
	interned.debug_annotation_names = notes;
	interned.n_debug_annotation_names = NOTES - 1;
	uts.sysname = linux_name;
	uts.release = escape_text(t->view->host.kernel, SIZE_MAX, release, sizeof(release));
	uts.machine = escape_text(t->view->host.arch, SIZE_MAX, arch, sizeof(arch));
	info.utsname = &uts;
	info.machine_name = escape_text(t->view->host.hostname, SIZE_MAX, name, sizeof(name));
	packet.system_info = &info;
	packet.interned_data = &interned;
	perfetto_emit(t, &packet);
}

/* ---- tracks of hiccups ---- */

#define ROW_NAME (4 * LANE_NAME)

static char *row_name(const struct trace *t, uint32_t index, const struct row *r,
		      char name[ROW_NAME])
{
	unsigned cpu = t->view->cpu[index].number;
	char lane[LANE_NAME];

	if (!t->view->run.watch)
		snprintf(name, ROW_NAME, "CPU %u%s", cpu,
			 cpus_has(&t->view->host.isolated, cpu) ? " (isolated)" : "");
	else if (!r->tid)
		snprintf(name, ROW_NAME, OTHERS_NAME);
	else
		escape_text(view_thread(r->comm, t->view->cpu[index].kernel_thread, r->tid, lane),
			    SIZE_MAX, name, ROW_NAME);
	return name;
}

static void begin_row(struct trace *t, uint32_t index, struct row *r, uint64_t track)
{
	char name[ROW_NAME];

	r->track = track;
	perfetto_track(t, track, TRACK_ROOT, index, NULL, row_name(t, index, r, name));
}

/* Names the hiccup's thread: the last lane may belong to one thread first and to several later. */
static void name_row(const struct trace *t, uint32_t index, const struct account *a, struct row *r)
{
	const struct cpu *c = &t->view->cpu[index];

	memset(r, 0, sizeof(*r));
	if (!t->view->run.watch || (!c->tid && c->comm[0]))
		return;
	r->tid = a->spot.tid;
	memcpy(r->comm, a->spot.comm, sizeof(r->comm));
}

uint64_t perfetto_row(struct trace *t, uint32_t index, const struct account *a)
{
	struct row *row = t->rows[index], *r = row, *oldest = row, new;

	name_row(t, index, a, &new);
	for (; r < row + ROWS; r++) {
		if (r->track && r->tid == new.tid &&
		    !strncmp(r->comm, new.comm, sizeof(new.comm)) && r->end_ns <= a->start_ns)
			break;
		if (r->end_ns < oldest->end_ns)
			oldest = r;
	}
	if (r == row + ROWS) {
		r = oldest;
		*r = new;
		begin_row(t, index, r, TRACK_ROW + t->more++);
	}
	r->end_ns = a->start_ns + a->duration_ns;
	return t->run + r->track;
}

static void emit_tracks(struct trace *t)
{
	char host[4 * sizeof(t->view->host.hostname)], name[sizeof(host) + 32];

	snprintf(name, sizeof(name), "culprit %s",
		 escape_text(t->view->host.hostname, SIZE_MAX, host, sizeof(host)));
	perfetto_track(t, TRACK_ROOT, TRACK_ROOT, 0, NULL, name);
	for (uint32_t i = 0; i < t->view->ncpus && !t->view->run.watch; i++)
		begin_row(t, i, &t->rows[i][0], TRACK_CPU + i);
	perfetto_track(t, TRACK_ASKERS, TRACK_ROOT, t->view->ncpus, NULL, "who asked");
}

uint64_t perfetto_host(struct trace *t, uint32_t index)
{
	char name[32];

	if (!t->hosts[index]) {
		t->hosts[index] = true;
		snprintf(name, sizeof(name), "CPU %u host", t->view->cpu[index].number);
		perfetto_track(t, TRACK_HOST + index, TRACK_ROOT, index, NULL, name);
	}
	return t->run + TRACK_HOST + index;
}

void perfetto_head(struct trace *t)
{
	emit_clocks(t);
	emit_host(t);
	emit_tracks(t);
}
