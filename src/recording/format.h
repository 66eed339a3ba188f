/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording file. All numbers are little-endian.
 *
 *   file    "culprit\n", u16 major, u16 minor, u32 0; then chunks up to the one of type END
 *   chunk   "CHNK", type (four letters), u32 stored, u32 raw, u32 crc32 of the payload as stored,
 *           u32 crc32 of the 20 bytes before; then `stored` bytes: the payload, packed when stored
 *           < raw, else as it is: by zlib, or from format 3 on by zstd, in one or several frames
 *           (pack.h tells which)
 *
 *   HEAD    host, run, and each CPU's number, threshold and edge bounds: first, and once
 *   RUN     run again, once the window has opened
 *   FACT    facts of the machine: name, error, text
 *   EVNT    the session's events, in its order (codec.h); readable without the chunks before it,
 *           except for names
 *   INDX    what the chunks EVNT since the last INDX hold (index.h): not read but for a part of the
 *           time, and nothing else needs it
 *   TAIL    run, host and each CPU's counters at the end; without it the recording was cut off
 *   CRSE    behind the tail, for each CPU that ran a workload: how its values went over time
 *           (course.h)
 *   STOP    behind the tail: when many CPUs stopped at once, and who ran elsewhere (together.h)
 *   END     nothing: the file is whole
 *
 * A reader skips unknown types. Minor versions add chunk types, and fields at the end of sections;
 * major versions change what exists. A reader leaves out a damaged chunk and says so; it finds the
 * next one by its mark.
 */
#ifndef CULPRIT_FORMAT_H
#define CULPRIT_FORMAT_H

#include <stdint.h>

#define FILE_MAGIC   "culprit\n"
#define FILE_HEAD    16
#define FORMAT_MAJOR 5 /* 1 to 4 are still read: see codec.h */
#define FORMAT_MINOR 0
#define CHUNK_MARK   "CHNK"
#define CHUNK_HEAD   24
#define CHUNK_MAX    (4 << 20) /* payload bytes, raw: what a reader has to hold */
/* Bound on the unpacked size of all packed chunks of a file, so that the time to read one is in
 * proportion to its size: these bytes, which head, facts and tail of the largest machine fit into,
 * and so many for each byte of the file. The writer stores a chunk of events, or an index, that
 * would unpack to more as it is: chunks of real runs unpacked to 1.6 to 2.6 times their size. */
#define UNPACKED_FREE  (32 << 20)
#define UNPACKED_TIMES 32
#define TIME_MAX       (UINT64_C(1) << 62) /* ns; more makes no sense, and sums would overflow */
#define WALL_MAX       INT64_MAX           /* ns since 1970: the kernel's clock ends in 2262 */
#define LETTERS(a, b, c, d)                                                                        \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)

enum chunk_type {
	CHUNK_HEAD_TYPE = LETTERS('H', 'E', 'A', 'D'),
	CHUNK_RUN = LETTERS('R', 'U', 'N', ' '),
	CHUNK_FACT = LETTERS('F', 'A', 'C', 'T'),
	CHUNK_EVENTS = LETTERS('E', 'V', 'N', 'T'),
	CHUNK_INDEX = LETTERS('I', 'N', 'D', 'X'),
	CHUNK_TAIL = LETTERS('T', 'A', 'I', 'L'),
	CHUNK_COURSE = LETTERS('C', 'R', 'S', 'E'),
	CHUNK_STOPS = LETTERS('S', 'T', 'O', 'P'),
	CHUNK_END = LETTERS('E', 'N', 'D', ' '),
};

#endif
