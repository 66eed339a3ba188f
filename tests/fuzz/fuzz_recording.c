/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads any bytes as a recording, and feeds the result to a report, the audit, or a comparison with
 * itself: nothing crashes, the sums hold. Mutations work on the contents of chunks: they are
 * unpacked before, and get their lengths and checksums after. Bytes 12 and 13 of the file, which
 * mean nothing else, choose the part to read, and whether names are taken out. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "audit/advise.h"
#include "audit/audit.h"
#include "model/diff.h"
#include "recording/format.h"
#include "recording/pack.h"
#include "recording/read.h"
#include "render/diff.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* ---- mutations ---- */

static uint32_t get32(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

static void put32(uint8_t *at, uint32_t v)
{
	for (int i = 0; i < 4; i++)
		at[i] = v >> 8 * i;
}

static void put_chunk_head(uint8_t *at, uint32_t len)
{
	memcpy(at, CHUNK_MARK, 4);
	put32(at + 8, len);
	put32(at + 12, len);
	put32(at + 16, crc32(0, at + CHUNK_HEAD, len));
	put32(at + 20, crc32(0, at, CHUNK_HEAD - 4));
}

/* Copies with chunks uncompressed, as many as fit; skips one that it does not understand. */
static size_t unpack_all(const uint8_t *from, size_t size, uint8_t *to, size_t room)
{
	static struct unpacker *unpacker;
	size_t at = FILE_HEAD, n = FILE_HEAD;

	if (!unpacker)
		unpacker = unpacker_new();
	if (!unpacker || size < FILE_HEAD || room < FILE_HEAD)
		return 0;
	memcpy(to, from, FILE_HEAD);
	while (size - at >= CHUNK_HEAD && room - n >= CHUNK_HEAD) {
		uint32_t stored = get32(from + at + 8), len = get32(from + at + 12);

		if (stored > len || stored > size - at - CHUNK_HEAD || len > room - n - CHUNK_HEAD)
			break;
		memcpy(to + n, from + at, CHUNK_HEAD);
		if (stored == len)
			memcpy(to + n + CHUNK_HEAD, from + at + CHUNK_HEAD, len);
		else if (unpack(unpacker, to + n + CHUNK_HEAD, len, from + at + CHUNK_HEAD, stored))
			break;
		put_chunk_head(to + n, len);
		at += CHUNK_HEAD + stored;
		n += CHUNK_HEAD + len;
	}
	return n;
}

/* Repairs chunks: each mark begins a chunk that lasts to the next one. */
static void repair(uint8_t *data, size_t size)
{
	size_t start = FILE_HEAD;

	if (size < FILE_HEAD)
		return;
	memcpy(data, FILE_MAGIC, 8);
	put32(data + 8, 1 + data[8] % FORMAT_MAJOR);
	while (size - start >= CHUNK_HEAD) {
		size_t end = start + CHUNK_HEAD;

		while (end < size && (size - end < 4 || memcmp(data + end, CHUNK_MARK, 4) != 0))
			end++;
		put_chunk_head(data + start, end - start - CHUNK_HEAD);
		start = end;
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	uint8_t *unpacked = malloc(max_size);
	size_t n = unpacked ? unpack_all(data, size, unpacked, max_size) : 0;

	if (n > FILE_HEAD) {
		memcpy(data, unpacked, n);
		size = n;
	}
	free(unpacked);
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 16) /* else leaves it damaged */
		repair(data, size);
	return size;
}

/* ---- what is read ---- */

static FILE *nowhere;

static void check_account(const struct account *a)
{
	uint64_t pieces = 0;

	for (uint32_t i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert(pieces == a->attributed_ns);
	assert(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns == a->duration_ns);
}

static void check_view(const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		uint64_t outside = 0, inside = 0;

		for (uint32_t k = 0; k < c->sources.count; k++)
			*(c->sources.row[k]->kind == SOURCE_OUTSIDE ? &outside : &inside) +=
				c->sources.row[k]->net.sum;
		assert(c->attributed_ns + c->edge_ns + c->lost_ns + c->outside_ns ==
		       c->hiccups.sum);
		assert(inside == c->attributed_ns + c->lost_ns && outside == c->outside_ns);
		if (!v->run.watch && !v->run.windows) /* never more than the whole time */
			assert(c->hiccups.sum + v->cpu[i].hiccups_lost_ns <= v->cpu[i].observed_ns);
		assert(!v->cpu[i].steal_known ||
		       v->cpu[i].steal_ns <= v->cpu[i].observed_ns + 1000000000);
	}
}

static void render(const struct format *f, const struct view *v)
{
	const struct render_options options = {.stacks = true};
	const struct view *two[] = {v, v};

	if (f->write)
		f->write(two, 1 + v->ncpus % 2, &options, nowhere);
}

static void compare(const struct view *v)
{
	static const char *const names[] = {"a", "b", "c"};
	const struct view *two[] = {v, v};
	const struct diff_side sides[] = {{two, 1}, {two, 2}};
	uint64_t observed_ns = 0;
	struct diff d;

	/* culprit diff refuses what has observed nothing */
	for (uint32_t i = 0; i < v->ncpus; i++)
		observed_ns += v->cpu[i].observed_ns;
	if (!observed_ns)
		return;
	if (!diff_make(&d, sides, 2, DIFF_BETWEEN))
		for (int i = 0; i <= DIFF_JSON; i++)
			render_diff(&d, names, i, &(struct render_options){.width = 100}, nowhere);
	diff_free(&d);
}

/* which: one of the formats or a comparison, modulo their number. */
static void read_all(struct recording *r, struct view *v, uint32_t which)
{
	const struct format *f = formats;
	const struct account *a;
	struct trace *trace;
	uint32_t index, n = 0;

	while (formats[n].choice.name)
		n++;
	f += which % (n + 1);
	trace = f->trace ? f->trace->begin(v, nowhere) : NULL;
	while ((a = recording_next(r, &index))) {
		assert(index < v->ncpus);
		check_account(a);
		if (f->hiccup)
			f->hiccup(v, index, a, nowhere);
		if (trace)
			f->trace->hiccup(trace, index, a);
	}
	recording_finish(r);
	if (trace)
		f->trace->end(trace);
	check_view(v);
	advise(v);
	audit(&v->facts, &(struct audit_options){.targets = v->run.cpus}, &v->findings);
	if (f->choice.name)
		render(f, v);
	else
		compare(v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct part part = {0};
	static struct view view;
	struct recording *r;

	if (file < 0) {
		file = memfd_create("recording", MFD_CLOEXEC);
		nowhere = fopen("/dev/null", "w");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (!nowhere || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (size >= FILE_HEAD && data[12] & 1)
		cpus_add(&part.cpus, data[13] % 4);
	if (size >= FILE_HEAD && data[12] & 2)
		part.from_ns = data[13] * 10000000ULL;
	if (size >= FILE_HEAD && data[12] & 4)
		part.to_ns = part.from_ns + 300000000ULL;
	part.spans = size >= FILE_HEAD && data[12] & 8;
	if (size >= FILE_HEAD && data[12] & 16)
		part.redact = redact_new(data[13]);
	memset(&view, 0, sizeof(view));
	r = recording_open(path, &part, &view);
	if (r)
		read_all(r, &view, size);
	view_free(&view);
	recording_close(r);
	redact_free(part.redact);
	return 0;
}
