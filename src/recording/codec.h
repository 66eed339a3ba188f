/* The events of a session as bytes, one chunk at a time. Most records repeat: a record without its
 * times and its place in the sequence is its shape. Writer and reader hold the same table of
 * shapes, so that a tick takes some eight bytes. Table and times begin anew with each chunk, which
 * can be read without those before it.
 *
 *   chunk           base (number: ns), then events
 *   event           one byte: event_type; or 0x80 + flags for a record, or CODE_CPU
 *   CODE_CPU        number: index of the CPU of the events that follow; 0 at first
 *   START           4 x u32 sequence
 *   HICCUP          signed: start less the last hiccup's end; number: duration; for each level two
 *                   numbers: sequence before, less the last one's after, and after less before,
 *                   modulo 2^32
 *   WHERE           number: CPU, number: tid + 2^32 * enum spot_thread + 2^40 * series, text: comm
 *   RELIEVE, STEAL  number: ns
 *   IRQ             number, text: name, text: affinity
 *   SYMBOL          u64 address, text
 *   STACK           number: id, number: frames, a text for each
 *   record          number: place in the table; if SHAPE_NEW its 46 bytes; if SEQUENCE_JUMPS u32:
 *                   sequence, else it is the level's next one; signed: end less the CPU's last
 *                   record's end; number: length, unless INSTANT
 *
 * In format 1 sequences are u16, and modulo 2^16: reading makes them whole again.
 */
#ifndef CULPRIT_CODEC_H
#define CULPRIT_CODEC_H

#include "model/session.h"
#include "recording/bytes.h"

struct encoder;

struct encoder *encoder_new(uint32_t ncpus); /* NULL: out of memory */
void encoder_free(struct encoder *e);
void encoder_put(struct encoder *e, const struct event *event);
/* The events put since the last reset; the encoder's own, valid until the next put. */
const struct bytes *encoder_bytes(const struct encoder *e);
void encoder_reset(struct encoder *e); /* the next event begins a chunk */

struct decoder;

struct decoder *decoder_new(uint32_t ncpus,
			    unsigned major); /* of the file's format; NULL: out of memory */
void decoder_free(struct decoder *d);
void decoder_start(struct decoder *d, struct reading *r); /* at the begin of a chunk */
/* Reads the next event into *event; what it points to belongs to the decoder or the chunk, and
 * stays until the next call. For names and stacks *event has the numbers only: the caller must take
 * their texts from *r by get_text before the next call. False: the chunk has ended, or is bad
 * (r->bad). */
bool decoder_next(struct decoder *d, struct reading *r, struct event *event);

#endif
