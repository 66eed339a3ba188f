/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events of a trace as bytes. There are millions of them, and protobuf-c walks its tables of fields
 * for each, so those that have nothing rare are written here by hand: the same fields in the same
 * order (perfetto.proto), which makes the same bytes. */
#include <string.h>

#include "base/buffer.h"
#include "render/perfetto.h"

#define TEXTS_MOST 1000 /* bytes of texts in an event that is written here */
/* An event takes at most these, 3 bytes and a number of 10 for each other field, of which there are
 * a dozen and two in each note. */
#define EVENT_MOST (TEXTS_MOST + 13 * (16 + 3 * NOTES))

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

static uint8_t *number(uint8_t *at, uint64_t v)
{
	for (; v > 0x7f; v >>= 7)
		*at++ = v | 0x80;
	*at++ = v;
	return at;
}

static uint8_t *field(uint8_t *at, unsigned tag, uint64_t v)
{
	return number(number(at, tag), v);
}

static uint8_t *bytes(uint8_t *at, unsigned tag, const void *from, size_t len)
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
	uint8_t buf[TEXTS_MOST + 40], *to = field(buf, NOTE_NAME, n->name_iid);

	if (n->has_uint_value)
		to = field(to, NOTE_NUMBER, n->uint_value);
	if (n->string_value)
		to = bytes(to, NOTE_TEXT, n->string_value, strlen(n->string_value));
	return bytes(at, EVENT_NOTE, buf, to - buf);
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

void perfetto_event(struct trace *t, Perfetto__TracePacket *p)
{
	uint8_t event[EVENT_MOST], packet[EVENT_MOST + 64], head[16], *at = packet, *end;

	if (is_rare(p)) {
		perfetto_emit(t, p);
		return;
	}
	end = put_event(event, p->track_event);
	at = field(at, PACKET_TIMESTAMP, p->timestamp);
	at = field(at, PACKET_SEQUENCE, perfetto_sequence(t));
	at = bytes(at, PACKET_EVENT, event, end - event);
	at = field(at, PACKET_FLAGS,
		   PERFETTO__TRACE_PACKET__SEQUENCE_FLAGS__SEQ_NEEDS_INCREMENTAL_STATE);
	end = field(head, TRACE_PACKET, at - packet);
	fwrite_unlocked(head, 1, end - head, t->out);
	fwrite_unlocked(packet, 1, at - packet, t->out);
}
