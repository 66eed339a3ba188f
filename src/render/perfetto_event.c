/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of a trace as bytes. There are millions of them, and protobuf-c walks its tables of fields
 * for each, so those that have nothing rare are written here by hand: the same fields in the same
 * order (perfetto.proto), which makes the same bytes. */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/escape.h"
#include "model/calls.h"
#include "render/perfetto.h"

#define TEXTS_MOST 1000 /* bytes of texts in an event that is written here */
/* An event takes at most these, 3 bytes and a number of 10 for each other field, of which there are
 * a dozen and two in each note. */
#define EVENT_MOST (TEXTS_MOST + 13 * (16 + 3 * NOTES))

#define HEAD_MOST 64 /* bytes before it: four tags, and numbers of 10 */

/* Tags of fields: number << 3, and 0 a number, 1 eight bytes, 2 bytes with their length. */
enum {
	TRACE_PACKET = 1 << 3 | 2,
	PACKET_TIMESTAMP = 8 << 3,
	PACKET_SEQUENCE = 10 << 3,
	PACKET_EVENT = 11 << 3 | 2,
	PACKET_FLAGS = 13 << 3,
	EVENT_CATEGORY = 3 << 3,
	EVENT_NOTE = 4 << 3 | 2,
	EVENT_TYPE = 9 << 3,
	EVENT_NAME_IID = 10 << 3,
	EVENT_TRACK = 11 << 3,
	EVENT_NAME = 23 << 3 | 2,
	EVENT_COUNTER = 30 << 3,
	EVENT_FLOW = 47 << 3 | 1,
	EVENT_FLOW_ENDS = 48 << 3 | 1,
	NOTE_NAME = 1 << 3,
	NOTE_NUMBER = 3 << 3,
	NOTE_TEXT = 6 << 3 | 2,
};

/* Bytes that a number takes: seven of its bits in each, 9/64 is a little less than 1/7. */
static unsigned size_of(uint64_t v)
{
	return (9 * (63 - __builtin_clzll(v | 1)) + 73) / 64;
}

/* One byte after the other. */
static inline uint8_t *short_number(uint8_t *at, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

/* Eight bytes at once, of which those behind the number mean nothing: halves are moved apart to
 * four bytes each, then quarters to two, then eighths. */
static uint8_t *long_number(uint8_t *at, uint64_t v)
{
	uint64_t more = UINT64_C(0x8080808080808080), w = v & UINT64_C(0xffffffffffffff);
	unsigned size = size_of(v);

	w = (w & UINT64_C(0xfffffff0000000)) << 4 | (w & UINT64_C(0xfffffff));
	w = (w & UINT64_C(0xfffc0000fffc000)) << 2 | (w & UINT64_C(0x3fff00003fff));
	w = (w & UINT64_C(0x3f803f803f803f80)) << 1 | (w & UINT64_C(0x7f007f007f007f));
	if (size <= 8)
		more &= (UINT64_C(1) << 8 * (size - 1)) - 1;
	w = htole64(w | more);
	memcpy(at, &w, sizeof(w));
	return size <= 8 ? at + size : short_number(at + 8, v >> 56);
}

static inline uint8_t *number(uint8_t *at, uint64_t v)
{
	if (v > 0x7f)
		return long_number(at, v);
	*at = v;
	return at + 1;
}

/* Writes up to 7 bytes behind the field. */
static inline uint8_t *field(uint8_t *at, unsigned tag, uint64_t v)
{
	return number(short_number(at, tag), v);
}

/* Writes nothing behind it. */
static inline uint8_t *exact_field(uint8_t *at, unsigned tag, uint64_t v)
{
	return short_number(short_number(at, tag), v);
}

static inline uint8_t *bytes(uint8_t *at, unsigned tag, const void *from, size_t len)
{
	at = field(at, tag, len);
	memcpy(at, from, len);
	return at + len;
}

static uint8_t *fixed(uint8_t *at, unsigned tag, uint64_t v)
{
	at = number(at, tag);
	for (int i = 0; i < 8; i++)
		*at++ = v >> 8 * i;
	return at;
}

static uint8_t *put_note(uint8_t *at, const Perfetto__DebugAnnotation *n)
{
	size_t len = n->string_value ? strlen(n->string_value) : 0;
	size_t size = 1 + size_of(n->name_iid);

	if (n->has_uint_value)
		size += 1 + size_of(n->uint_value);
	if (n->string_value)
		size += 1 + size_of(len) + len;
	at = field(at, EVENT_NOTE, size);
	at = field(at, NOTE_NAME, n->name_iid);
	if (n->has_uint_value)
		at = field(at, NOTE_NUMBER, n->uint_value);
	return n->string_value ? bytes(at, NOTE_TEXT, n->string_value, len) : at;
}

static uint8_t *put_event(uint8_t *at, const Perfetto__TrackEvent *e)
{
	for (size_t i = 0; i < e->n_category_iids; i++)
		at = field(at, EVENT_CATEGORY, e->category_iids[i]);
	for (size_t i = 0; i < e->n_debug_annotations; i++)
		at = put_note(at, e->debug_annotations[i]);
	at = field(at, EVENT_TYPE, e->type);
	if (e->has_name_iid)
		at = field(at, EVENT_NAME_IID, e->name_iid);
	at = field(at, EVENT_TRACK, e->track_uuid);
	if (e->name)
		at = bytes(at, EVENT_NAME, e->name, strlen(e->name));
	if (e->has_counter_value)
		at = field(at, EVENT_COUNTER, e->counter_value);
	for (size_t i = 0; i < e->n_flow_ids; i++)
		at = fixed(at, EVENT_FLOW, e->flow_ids[i]);
	for (size_t i = 0; i < e->n_terminating_flow_ids; i++)
		at = fixed(at, EVENT_FLOW_ENDS, e->terminating_flow_ids[i]);
	return at;
}

/* True for an event with new names, or with long ones. */
static bool is_rare(const Perfetto__TracePacket *p)
{
	const Perfetto__TrackEvent *e = p->track_event;
	size_t texts = e->name ? strlen(e->name) : 0;

	for (size_t i = 0; i < e->n_debug_annotations; i++)
		texts += e->debug_annotations[i]->string_value
				 ? strlen(e->debug_annotations[i]->string_value)
				 : 0;
	return p->interned_data || texts > TEXTS_MOST || e->n_category_iids > 1 ||
	       e->n_flow_ids > 1 || e->n_terminating_flow_ids > 1;
}

/* The event is written first, behind room for what stands before it and has its length. */
void perfetto_event(struct trace *t, Perfetto__TracePacket *p)
{
	uint8_t packet[HEAD_MOST + EVENT_MOST + 16], *const event = packet + HEAD_MOST;
	uint8_t *begin = event, *end, *at;
	uint32_t sequence = perfetto_sequence(t);
	size_t size;

	if (is_rare(p)) {
		perfetto_emit(t, p);
		return;
	}
	end = put_event(event, p->track_event);
	size = end - event;
	begin -= 3 + size_of(p->timestamp) + size_of(sequence) + size_of(size);
	at = field(begin, PACKET_TIMESTAMP, p->timestamp);
	at = exact_field(at, PACKET_SEQUENCE, sequence);
	exact_field(at, PACKET_EVENT, size);
	end = field(end, PACKET_FLAGS,
		    PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE);
	size = end - begin;
	begin -= 1 + size_of(size);
	exact_field(begin, TRACE_PACKET, size);
	fwrite_unlocked(begin, 1, end - begin, t->out);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* The source's way of an asker with a user stack; its frames show the system call. NULL: none. */
static const struct asker_row *way_of(const struct source *s, const struct asker *a)
{
	for (uint32_t i = 0; a->user && s->askers && i < s->askers->count; i++) {
		const struct asker_row *r = &s->askers->row[i];

		if (r->who.tid != a->tid || !same_text(r->who.function, a->function))
			continue;
		for (uint32_t k = 0; r->ways && k < r->ways->count; k++)
			if (r->ways->row[k].who.user == a->user)
				return &r->ways->row[k];
	}
	return NULL;
}

char *perfetto_asker(const struct source *s, const struct asker *a, char buf[PERFETTO_ASKER])
{
	char comm[4 * sizeof(a->comm)], way[CALLS_WAY], shown[PERFETTO_ASKER - 128];
	const struct asker_row *r = way_of(s, a);

	if (asker_context(a))
		snprintf(buf, PERFETTO_ASKER, "%s", asker_context(a));
	else
		snprintf(buf, PERFETTO_ASKER, "%s [%u]",
			 escape_text(a->comm, sizeof(a->comm), comm, sizeof(comm)), a->tid);
	calls_way(r ? r : &(struct asker_row){.who.function = a->function}, way);
	if (*way)
		snprintf(buf + strlen(buf), PERFETTO_ASKER - strlen(buf), " %s",
			 escape_text(way, SIZE_MAX, shown, sizeof(shown)));
	return buf;
}
