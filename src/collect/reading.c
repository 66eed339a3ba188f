/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/reading.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"

#define STACK (64 << 10)

struct reading {
	pthread_t thread;
	int at;
	char *path;
	size_t most;
	ssize_t n;
	char bytes[];
};

static void *read_file(void *arg)
{
	struct reading *r = arg;
	int fd = openat(r->at, r->path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && (size_t)r->n < r->most &&
	       (n = read(fd, r->bytes + r->n, r->most - r->n)) > 0)
		r->n += n;
	if (n < 0)
		r->n = -errno;
	if (fd >= 0)
		close(fd);
	return NULL;
}

struct reading *reading_begin(int at, const char *path, size_t most)
{
	struct reading *r = calloc(1, sizeof(*r) + most);
	bool begun = false;
	pthread_attr_t attr;

	if (!r)
		return NULL;
	r->at = at;
	r->most = most;
	r->path = strdup(path);
	if (r->path && !pthread_attr_init(&attr)) {
		/* The usual one, of megabytes, would be made and locked whole for each thread. */
		pthread_attr_setstacksize(&attr, STACK);
		begun = !pthread_create(&r->thread, &attr, read_file, r);
		pthread_attr_destroy(&attr);
	}
	if (begun)
		return r;
	reading_free(r);
	return NULL;
}

bool reading_came(struct reading *r, long wait_ns)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += wait_ns;
	until.tv_sec += until.tv_nsec / NSEC_PER_SEC;
	until.tv_nsec %= NSEC_PER_SEC;
	return !pthread_timedjoin_np(r->thread, NULL, &until);
}

ssize_t reading_bytes(struct reading *r, char **bytes)
{
	*bytes = r->bytes;
	return r->n;
}

void reading_free(struct reading *r)
{
	free(r->path);
	free(r);
}

/* ---- all in one ---- */

static struct reading *pending[READINGS_PENDING];

/* The place of the reading of this file; NULL: it is not pending. */
static struct reading **place_of(int at, const char *path)
{
	for (int i = 0; i < READINGS_PENDING; i++)
		if (pending[i] && pending[i]->at == at && !strcmp(pending[i]->path, path))
			return &pending[i];
	return NULL;
}

/* Begins the reading in a free place; NULL: there is none. Lets those go that have come and that
 * nobody asked for again. */
static struct reading **begin(int at, const char *path, size_t most)
{
	struct reading **place = NULL;

	for (int i = 0; i < READINGS_PENDING; i++) {
		struct reading **r = &pending[i];

		if (*r && reading_came(*r, 0)) {
			reading_free(*r);
			*r = NULL;
		}
		if (!*r)
			place = r;
	}
	if (place)
		*place = reading_begin(at, path, most);
	return place && *place ? place : NULL;
}

ssize_t read_in_time(int at, const char *path, char *buf, size_t most, long *wait_ns)
{
	struct reading **old = place_of(at, path), **r = old ? old : begin(at, path, most);
	uint64_t began = now_ns(), waited;
	bool came = r && reading_came(*r, old ? 0 : *wait_ns);
	char *bytes;
	ssize_t n;

	waited = now_ns() - began;
	*wait_ns = waited < (uint64_t)*wait_ns ? *wait_ns - (long)waited : 0;
	if (!came)
		return -ETIMEDOUT;
	n = reading_bytes(*r, &bytes);
	n = n > (ssize_t)most ? (ssize_t)most : n;
	if (n > 0)
		memcpy(buf, bytes, n);
	reading_free(*r);
	*r = NULL;
	return n;
}
