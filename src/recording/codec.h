/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The events of a session as bytes, one chunk at a time. Most records repeat: a record without its
 * times and its place in the sequence is its shape. Writer and reader hold the same table of
 * shapes, so that a tick takes some six bytes before it is packed. Table and times begin anew with
 * each chunk, which can be read without those before it.
 *
 *   chunk           u32 bytes of events, u32 bytes of low, events, low, high: three sections, which
 *                   are packed apart, because like bytes pack well
 *   events          base (number: ns), then event by event
 *   low, high       the times of the events, in their order: the first byte of each number, and the
 *                   bytes that follow it, of those that have more than one
 *   event           one byte: event_type; or 0x80 + flags for a record, or CODE_CPU, or CODE_NEAR
 *   CODE_CPU        number: index of the CPU of the events that follow; 0 at first
 *   START           4 x u32 sequence
 *   HICCUP          signed time: start less the last hiccup's end; time: duration; for each level
 *                   two numbers: sequence before, less the last one's after, and after less before,
 *                   modulo 2^32; the first with 2^32 * hiccups lost before this one
 *   CODE_NEAR       a hiccup that begins in the sequence where the last one ended: u8 number of its
 *                   records, 2 bits of threads, 2 of softirqs, 3 of IRQs, 1 of NMIs; signed times:
 *                   start and end, less those that its first and last records have
 *                   (codec_state_guess)
 *   WHERE           number: CPU, number: tid + 2^32 * enum spot_thread + 2^40 * series, text: comm
 *   RELIEVE, STEAL  number: ns
 *   IRQ             number, text: name, text: affinity
 *   OWNER           number: of the control group, text: its path
 *   COMMAND         number: names_command(), text: command line
 *   DEVICE          number: IRQ, text: device
 *   CALLER          number: id of a stack, number: the user stack that goes with it
 *   CALLS           number: of a user stack, text: its calls (model/calls.h)
 *   SYMBOL          u64 address, text
 *   STACK           number: id, number: frames, a text for each
 *   record          number: place in the table; if SHAPE_NEW its 46 bytes, where a thread, or an
 *                   asker with RECORD_OWNED, has its OWNER (record.h) in place of a callsite; if
 *                   SEQUENCE_JUMPS u32: sequence, else it is the level's next one; signed time: end
 *                   less the CPU's last record's end; time: length, unless INSTANT
 *
 * Formats up to 3 know no OWNER, those up to 4 no CALLER and no CALLS: their readers would leave
 * out the rest of a chunk that has one. In
 * formats 1 and 2 a chunk is its events alone, with the times among them, and no CODE_NEAR. In
 * format 1 sequences are u16, and modulo 2^16: reading makes them whole again.
 */
#ifndef CULPRIT_CODEC_H
#define CULPRIT_CODEC_H

#include "model/session.h"
#include "recording/bytes.h"

#define CODEC_HEAD     8 /* bytes before the first section */
#define CODEC_SECTIONS 3

/* Finds where the sections of a chunk end, the first one with what is before it. Returns how many
 * there are; 1, the whole, when it is no chunk of events. */
size_t codec_sections(const uint8_t *chunk, size_t len, size_t ends[CODEC_SECTIONS]);

struct encoder;

struct encoder *encoder_new(uint32_t ncpus); /* NULL: out of memory */
void encoder_free(struct encoder *e);
void encoder_put(struct encoder *e, const struct event *event);
size_t encoder_len(const struct encoder *e); /* bytes of the events put since the last reset */
/* The chunk of these events; the encoder's own, valid until the next call. */
const struct bytes *encoder_bytes(struct encoder *e);
void encoder_reset(struct encoder *e); /* the next event begins a chunk */

struct decoder;

struct decoder *decoder_new(uint32_t ncpus,
			    unsigned major); /* version of the file's format; NULL: out of memory */
void decoder_free(struct decoder *d);
void decoder_start(struct decoder *d, struct reading *r); /* at the begin of a chunk */
/* Reads the next event into *event; what it points to belongs to the decoder or the chunk, and
 * stays until the next call. For names and stacks *event has the numbers only: the caller must take
 * their texts from *r by get_text before the next call. False: the chunk has ended, or is bad
 * (r->bad). */
bool decoder_next(struct decoder *d, struct reading *r, struct event *event);

#endif
