/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as recordings of a guest and of its host, read together as report --host reads them:
 * nothing crashes, the sums hold, also of hiccups that were divided by what the host says. The
 * host's file begins at the second magic. Byte 12 of the guest's chooses a CPU, byte 14 whether
 * names are redacted, and whether the host's file is given twice. */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/conclude.h"
#include "chunks.h"
#include "cmd/joined.h"
#include "cmd/output.h"
#include "count.h"
#include "model/through.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The begin of the host's recording; `size`: there is none. */
static size_t host_at(const uint8_t *data, size_t size)
{
	const uint8_t *p = size > FILE_HEAD ? memmem(data + FILE_HEAD, size - FILE_HEAD, FILE_MAGIC,
						     strlen(FILE_MAGIC))
					    : NULL;

	return p ? (size_t)(p - data) : size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size_t at = host_at(data, size), rest = size - at, n;
	uint8_t *host = malloc(max_size);

	if (!host)
		abort();
	memcpy(host, data + at, rest);
	if (rest && seed & 256) {
		n = mutate_recording(host, rest, max_size - at, seed);
		memcpy(data + at, host, n);
		n += at;
	} else {
		n = mutate_recording(data, at, max_size - rest, seed);
		memcpy(data + n, host, rest);
		n += rest;
	}
	free(host);
	if (n >= FILE_HEAD && seed % 8 == 0)
		data[12] = seed >> 9 & 7, data[14] = seed >> 12;
	return n;
}

/* All that joined.c wants of the command. */
void output_explain(struct view *v)
{
	if (conclude(v))
		abort();
}

static int new_file(char *path, size_t len)
{
	int file = memfd_create("recording", MFD_CLOEXEC);

	snprintf(path, len, "/proc/self/fd/%d", file);
	return file;
}

static void fill(int file, const uint8_t *data, size_t size)
{
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
}

static void check_account(const struct account *a)
{
	uint64_t pieces = 0;

	for (uint32_t i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert(pieces == a->attributed_ns + a->host_ns);
	assert(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns + a->host_ns ==
	       a->duration_ns);
}

/* As report does. */
static void read_both(const char *guest, const char *host, bool two, struct part *part,
		      FILE *nowhere)
{
	static struct view view;
	const struct view *one = &view;
	const struct account *a;
	struct recording *r = NULL;
	struct joined *j;
	bool matched = false;
	uint32_t index;

	memset(&view, 0, sizeof(view));
	j = joined_open(guest, &(struct hosts_given){.path = {host, two ? host : NULL}}, part);
	if (j && !joined_begin(j, part, &view))
		r = recording_open(guest, part, &view);
	while (r && (a = recording_next(r, &index)))
		check_account(a);
	if (r) {
		recording_finish(r);
		joined_finish(j, &view);
		output_explain(&view);
		formats[0].write(&one, 1, &(struct render_options){.width = 100}, nowhere);
		matched = view.host_side && view.host_side->verdict == ALIGN_FOUND;
	}
	count_run(matched ? 2 : !r, matched ? "joined" : r ? "not joined" : "refused");
	view_free(&view);
	recording_close(r);
	joined_close(j);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char guest_path[64], host_path[64];
	static int guest = -1, host;
	static FILE *nowhere;
	size_t at = host_at(data, size);
	struct part part = {0};

	if (guest < 0) {
		guest = new_file(guest_path, sizeof(guest_path));
		host = new_file(host_path, sizeof(host_path));
		nowhere = fopen("/dev/null", "w");
		if (guest < 0 || host < 0 || !nowhere)
			abort();
	}
	if (at < FILE_HEAD || at == size)
		return 0;
	fill(guest, data, at);
	fill(host, data + at, size - at);
	if (data[12] & 4)
		cpus_add(&part.cpus, data[12] % 4);
	part.redact = data[14] & 1 ? redact_new(data[14]) : NULL;
	read_both(guest_path, host_path, data[14] & 2, &part, nowhere);
	redact_free(part.redact);
	return 0;
}
