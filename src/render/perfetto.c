/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace for ui.perfetto.dev and trace_processor: binary TrackEvents, written hiccup by hiccup, so
 * that a recording of a day needs no memory. perfetto.proto has the used part of their schema.
 *
 *   CPU 3         each hiccup as a slice, in it the spans of what ran, nested as they were; for a
 *                 watch audio [701], a track for each thread
 *   CPU 3 steal   the hypervisor's steal clock, read every 200 ms; a reading stands at the next
 *                 hiccup
 *   CPU 3 latency counters of a workload's series: the length of an outlier while it lasts, else 0
 *   CPU 3 latency p99 of 5,969 (and median, p90, ...): all values that the window has, as a level
 *   CPU 3 latency largest in each 10.0 ms (and mean, number): of the values of each slice of time
 *   CPU 3 frequency   each change in the window
 *   CPU 3 host    beside a recording of its host (report --host), the spans of what ran there
 *                 in place of the guest
 *   CPU 0 asks    who asked for a span, with an arrow to it. The time of the request is not
 *                 recorded: it stands where the span begins
 *
 * Times are CLOCK_MONOTONIC, with one snapshot of it and the wall clock. A source's name is written
 * once and then replaced by a number. All ids come from host and start of the run, so two runs
 * share none.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "base/hash.h"
#include "base/units.h"
#include "model/report.h"
#include "render/perfetto.h"

/* An event, and the things it points to. */
struct event_parts {
	Perfetto__TracePacket packet;
	Perfetto__TrackEvent event;
	Perfetto__InternedData interned;
	Perfetto__EventName name, *names;
	uint64_t category, flow;
	uint32_t notes;
	Perfetto__DebugAnnotation note[NOTES], *note_at[NOTES];
};

/* ---- packets ---- */

struct sink {
	ProtobufCBuffer base;
	struct buffer to;
};

static void sink_append(ProtobufCBuffer *buffer, size_t len, const uint8_t *data)
{
	buffer_put(&((struct sink *)buffer)->to, (const char *)data, len);
}

void perfetto_emit(struct trace *t, Perfetto__TracePacket *p)
{
	struct sink sink;
	Perfetto__Trace trace = PERFETTO__TRACE__INIT;

	sink.base.append = sink_append;
	buffer_init(&sink.to, t->out);
	p->has_trusted_packet_sequence_id = true;
	p->trusted_packet_sequence_id = perfetto_sequence(t);
	if (!p->has_sequence_flags) {
		p->has_sequence_flags = true;
		p->sequence_flags =
			PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE;
	}
	trace.packet = &p;
	trace.n_packet = 1;
	protobuf_c_message_pack_to_buffer(&trace.base, &sink.base);
	buffer_flush(&sink.to);
}

static uint64_t number_of_run(const struct view *v)
{
	uint64_t h = hash_text(hash_text(HASH_BEGIN, v->host.hostname), v->run.started);

	return h & ~0xfffffULL;
}

void perfetto_track(struct trace *t, uint64_t track, uint64_t parent, int rank, const char *unit,
		    char *name)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor d = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor c = PERFETTO__COUNTER_DESCRIPTOR__INIT;

	d.has_uuid = d.has_child_ordering = d.has_sibling_order_rank = true;
	d.uuid = t->run + track;
	d.child_ordering = PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	d.sibling_order_rank = rank;
	d.has_parent_uuid = track != parent;
	d.parent_uuid = t->run + parent;
	d.name = name;
	if (unit) {
		c.has_unit = !strcmp(unit, UNIT_NS);
		c.unit = PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_TIME_NS;
		c.unit_name = c.has_unit ? NULL : (char *)unit;
		d.counter = &c;
	}
	packet.track_descriptor = &d;
	perfetto_emit(t, &packet);
}

/* ---- the beginning ---- */

static void *begin(const struct view *view, FILE *out)
{
	struct trace *t = calloc(1, sizeof(*t));
	uint32_t n = view->ncpus;

	if (!t)
		return NULL;
	t->out = out;
	t->view = view;
	t->run = number_of_run(view);
	t->named = calloc(n ? n : 1, sizeof(*t->named));
	t->hosts = calloc(n ? n : 1, sizeof(*t->hosts));
	t->steal = malloc((n ? n : 1) * sizeof(*t->steal));
	t->rows = calloc(n ? n : 1, sizeof(*t->rows));
	t->series = calloc(n ? n : 1, sizeof(*t->series));
	if (!t->named || !t->hosts || !t->steal || !t->rows || !t->series) {
		free(t->named);
		free(t->series);
		free(t->rows);
		free(t->hosts);
		free(t->steal);
		free(t);
		return NULL;
	}
	memset(t->steal, 0xff, n * sizeof(*t->steal));
	perfetto_head(t);
	return t;
}

/* ---- events ---- */

static void event_init(struct event_parts *e, Perfetto__TrackEvent__Type type, uint64_t at_ns,
		       uint64_t track)
{
	e->packet = (Perfetto__TracePacket)PERFETTO__TRACE_PACKET__INIT;
	e->event = (Perfetto__TrackEvent)PERFETTO__TRACK_EVENT__INIT;
	e->notes = 0;
	e->packet.has_timestamp = true;
	e->packet.timestamp = at_ns;
	e->packet.track_event = &e->event;
	e->event.has_type = e->event.has_track_uuid = true;
	e->event.type = type;
	e->event.track_uuid = track;
}

static void event_category(struct event_parts *e, uint64_t category)
{
	e->category = category;
	e->event.category_iids = &e->category;
	e->event.n_category_iids = 1;
}

static Perfetto__DebugAnnotation *event_note(struct event_parts *e, enum note which)
{
	Perfetto__DebugAnnotation *note = &e->note[e->notes];

	*note = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	note->has_name_iid = true;
	note->name_iid = which;
	e->note_at[e->notes++] = note;
	e->event.debug_annotations = e->note_at;
	e->event.n_debug_annotations = e->notes;
	return note;
}

static void event_number(struct event_parts *e, enum note which, uint64_t value)
{
	Perfetto__DebugAnnotation *note = event_note(e, which);

	note->has_uint_value = true;
	note->uint_value = value;
}

static void emit_end(struct trace *t, uint64_t track, uint64_t at_ns)
{
	struct event_parts e;

	event_init(&e, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END, at_ns, track);
	perfetto_event(t, &e.packet);
}

static void emit_hiccup(struct trace *t, uint32_t index, uint64_t track, const struct account *a)
{
	const struct series *series = cpu_series(&t->view->cpu[index], &a->spot);
	bool explained = a->attributed_ns || a->host_ns;
	char name[4 * SERIES_NAME + 8];
	struct event_parts e;

	event_init(&e, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, a->start_ns, track);
	event_category(&e, explained ? CATEGORY_HICCUP : 1 + SOURCE_OUTSIDE);
	e.event.has_name_iid = true;
	e.event.name_iid = explained ? NAME_HICCUP : NAME_OUTSIDE;
	event_number(&e, NOTE_ATTRIBUTED, a->attributed_ns);
	event_number(&e, NOTE_EDGE, a->edge_ns);
	if (a->lost_ns)
		event_number(&e, NOTE_LOST_NS, a->lost_ns);
	event_number(&e, NOTE_OUTSIDE, a->outside_ns);
	if (a->host_ns)
		event_number(&e, NOTE_HOST, a->host_ns);
	if (a->lost)
		event_number(&e, NOTE_LOST, a->lost);
	if (a->spans_left)
		event_number(&e, NOTE_LEFT, a->spans_left);
	if (series)
		event_note(&e, NOTE_SERIES)->string_value =
			escape_text(series->name, sizeof(series->name), name, sizeof(name));
	perfetto_event(t, &e.packet);
}

void perfetto_value(struct trace *t, uint64_t track, uint64_t at_ns, uint64_t value)
{
	struct event_parts e;

	event_init(&e, PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER, at_ns, t->run + track);
	e.event.has_counter_value = true;
	e.event.counter_value = value;
	perfetto_event(t, &e.packet);
}

static void emit_steal(struct trace *t, uint32_t index, uint64_t at_ns)
{
	const struct cpu *c = &t->view->cpu[index];
	char name[32];

	if (!c->steal_known || c->steal_ns == t->steal[index])
		return;
	if (t->steal[index] == UINT64_MAX) {
		snprintf(name, sizeof(name), "CPU %u steal", t->view->cpu[index].number);
		perfetto_track(t, TRACK_STEAL + index, TRACK_ROOT, t->view->ncpus + 1 + index,
			       UNIT_NS, name);
	}
	t->steal[index] = c->steal_ns;
	perfetto_value(t, TRACK_STEAL + index, at_ns, c->steal_ns);
}

/* Shows an outlier on the counter of its series. */
static void emit_series(struct trace *t, uint32_t index, const struct account *a)
{
	const struct cpu *c = &t->view->cpu[index];
	const struct series *s = cpu_series(c, &a->spot);
	char series[4 * SERIES_NAME + 8], name[sizeof(series) + 32];
	uint64_t *track;

	if (!s)
		return;
	track = &t->series[index][s - c->series];
	if (!*track) {
		*track = TRACK_ROW + t->more++;
		snprintf(name, sizeof(name), "CPU %u %s", c->number,
			 escape_text(s->name, sizeof(s->name), series, sizeof(series)));
		perfetto_track(t, *track, TRACK_ROOT, t->view->ncpus + 1 + index, UNIT_NS, name);
	}
	perfetto_value(t, *track, a->start_ns, a->duration_ns);
	perfetto_value(t, *track, a->start_ns + a->duration_ns, 0);
}

/* ---- spans ---- */

/* Emits an event on the asker's track, where the arrow begins. what: "poke [4414] futex_wake".
 * Returns the arrow's number, 0: none. */
static uint64_t emit_asker(struct trace *t, const struct asker *a, uint64_t at_ns, char *what)
{
	struct event_parts e;
	char name[32];

	if (a->cpu >= CPUS_MAX)
		return 0;
	if (!cpus_has(&t->askers, a->cpu)) {
		cpus_add(&t->askers, a->cpu);
		snprintf(name, sizeof(name), "CPU %u asks", a->cpu);
		perfetto_track(t, TRACK_ASKER + a->cpu, TRACK_ASKERS, a->cpu, NULL, name);
	}
	e.flow = t->run + ++t->flows;
	event_init(&e, PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT, at_ns,
		   t->run + TRACK_ASKER + a->cpu);
	e.event.name = what;
	e.event.flow_ids = &e.flow;
	e.event.n_flow_ids = 1;
	perfetto_event(t, &e.packet);
	return e.flow;
}

static void emit_span(struct trace *t, uint32_t index, uint64_t track, const struct span *span)
{
	const struct source *s = t->view->cpu[index].sources.row[span->source];
	char name[REPORT_WHO], asker[PERFETTO_ASKER + REPORT_OWNER], by[REPORT_OWNER],
		owner[REPORT_OWNER];
	struct event_parts e;

	if (span->asker.kind) {
		e.flow = emit_asker(t, &span->asker, span->start_ns,
				    perfetto_asker(s, &span->asker, asker));
		strcat(asker, report_owner(span->asker.owner, by));
	}
	event_init(&e, PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN, span->start_ns, track);
	event_category(&e, 1 + s->kind);
	e.event.has_name_iid = true;
	e.event.name_iid = NAME_SOURCE + (s->serial << 16 | index);
	if (perfetto_first_time(&t->named[index], s->serial)) {
		e.name = (Perfetto__EventName)PERFETTO__EVENT_NAME__INIT;
		e.name.has_iid = true;
		e.name.iid = e.event.name_iid;
		e.name.name = (char *)report_who(s, name, sizeof(name));
		e.names = &e.name;
		e.interned = (Perfetto__InternedData)PERFETTO__INTERNED_DATA__INIT;
		e.interned.event_names = &e.names;
		e.interned.n_event_names = 1;
		e.packet.interned_data = &e.interned;
	}
	if (s->cause)
		event_note(&e, NOTE_CAUSE)->string_value = (char *)s->cause;
	if (*report_owner(s->owner, owner))
		event_note(&e, NOTE_OWNER)->string_value = owner + strlen(REPORT_BEHIND);
	if (span->unseen)
		event_note(&e, NOTE_UNSEEN)->string_value =
			(char *)"threads left the CPU unseen: part of it is theirs";
	if (span->asker.kind) {
		event_note(&e, NOTE_ASKED)->string_value = asker;
		e.event.terminating_flow_ids = &e.flow;
		e.event.n_terminating_flow_ids = e.flow != 0;
	}
	perfetto_event(t, &e.packet);
}

/* Emits the spans of the guest's own kernel, or of its host's. */
static void emit_spans(struct trace *t, uint32_t index, uint64_t track, const struct account *a,
		       bool host)
{
	uint64_t ends[SPANS_MAX]; /* ends of the open spans */
	uint32_t open = 0;

	for (uint32_t i = 0; i < a->nspans; i++) {
		const struct span *s = &a->spans[i];

		if ((t->view->cpu[index].sources.row[s->source]->kind == SOURCE_HOST) != host)
			continue;
		while (open && ends[open - 1] <= s->start_ns)
			emit_end(t, track, ends[--open]);
		emit_span(t, index, track, s);
		ends[open++] = s->end_ns;
	}
	while (open)
		emit_end(t, track, ends[--open]);
}

static int add_hiccup(void *state, uint32_t index, const struct account *a)
{
	struct trace *t = state;
	uint64_t track;

	emit_steal(t, index, a->start_ns);
	track = perfetto_row(t, index, a);
	emit_hiccup(t, index, track, a);
	emit_series(t, index, a);
	emit_spans(t, index, track, a, false);
	emit_end(t, track, a->start_ns + a->duration_ns);
	if (a->host_ns)
		emit_spans(t, index, perfetto_host(t, index), a, true);
	return ferror(t->out) ? -EIO : 0;
}

static int end(void *state)
{
	struct trace *t = state;
	int err;

	for (uint32_t i = 0; i < t->view->ncpus; i++)
		perfetto_window(t, i);
	for (uint32_t i = 0; i < t->view->ncpus; i++)
		emit_steal(t, i, t->view->run.started_ns + t->view->cpu[i].observed_ns);
	err = ferror(t->out) ? -EIO : 0;
	for (uint32_t i = 0; i < t->view->ncpus; i++)
		free(t->named[i].bit);
	free(t->named);
	free(t->rows);
	free(t->series);
	free(t->hosts);
	free(t->steal);
	free(t);
	return err;
}

const struct trace_format render_perfetto = {begin, add_hiccup, end};
