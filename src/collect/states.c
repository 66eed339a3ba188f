/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/states.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "collect/machine.h"

/* A map of the memory of n targets, mapped at `at`. placed: on this NUMA node, -1: on any, like all
 * maps in one map of maps; else on any. Returns its descriptor or -errno. */
static int make_map(void *at, size_t each, uint32_t n, bool placed, int node)
{
	int fd;

	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	if (placed) {
		opts.map_flags |= BPF_F_NUMA_NODE;
		opts.numa_node = node;
	}
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cpu_states", sizeof(uint32_t), each, n, &opts);
	if (fd < 0)
		return -errno;
	if (mmap(at, n * each, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED)
		return fd;
	close(fd);
	return -errno;
}

/* A map of maps, one for each target on its own node. To make it takes one of them: so the first is
 * made first. Returns its descriptor or -errno. */
static int make_apart(struct states *s, const struct cpus *targets, const int16_t *node)
{
	int fd = -1;

	s->one = calloc(s->n, sizeof(*s->one));
	if (!s->one)
		return -ENOMEM;
	descriptors_allow(s->n); /* each target's map stays open */
	for (int cpu = cpus_next(targets, 0), i = 0; cpu >= 0;
	     cpu = cpus_next(targets, cpu + 1), i++) {
		int one = make_map(states_at(s, i), s->stride, 1, true, node[cpu]);

		LIBBPF_OPTS(bpf_map_create_opts, opts, .inner_map_fd = one);
		if (one < 0)
			return one;
		s->one[i] = one;
		if (i == 0)
			s->fd = fd =
				bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "states_apart",
					       sizeof(uint32_t), sizeof(uint32_t), s->n, &opts);
		if (fd < 0 || bpf_map_update_elem(fd, &i, &one, BPF_ANY))
			return -errno;
	}
	return fd;
}

/* True when the targets lie on several nodes. */
static bool on_several(const struct cpus *targets, const int16_t *node)
{
	int first = cpus_next(targets, 0);

	for (int cpu = first; cpu >= 0; cpu = cpus_next(targets, cpu + 1))
		if (node[cpu] != node[first])
			return true;
	return false;
}

/* Makes the part that is read and written of those that come later, and never their rings. The
 * kernel may charge for all that can be written, whether it ever is or not (overcommit_memory). 0
 * or -errno. */
static int open_later(const struct states *s, size_t page)
{
	size_t part = (offsetof(struct cpu_state, ring) + page - 1) / page * page;

	for (uint32_t i = s->given; i < s->n; i++)
		if (mprotect(states_at(s, i), part, PROT_READ | PROT_WRITE))
			return -errno;
	return 0;
}

int states_make(struct states *s, const struct cpus *targets, const struct cpus *later, bool rings)
{
	size_t page = sysconf(_SC_PAGESIZE);
	int first = cpus_next(targets, 0);
	int16_t node[CPUS_MAX];
	bool apart;
	void *map;

	machine_nodes(node);
	apart = on_several(targets, node) || !cpus_empty(later);
	s->given = cpus_count(targets);
	s->n = s->given + cpus_count(later);
	s->stride = rings ? sizeof(struct cpu_state) : offsetof(struct cpu_state, ring);
	if (apart) /* each map begins on a page */
		s->stride = (s->stride + page - 1) / page * page;
	map = mmap(NULL, s->n * s->stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return -errno;
	s->memory = map;
	s->fd = apart ? make_apart(s, targets, node)
		      : make_map(map, s->stride, s->n, node[first] >= 0, node[first]);
	if (s->fd < 0)
		return s->fd;
	madvise(map, s->n * s->stride, MADV_DONTFORK);
	return open_later(s, page);
}

void states_hide(void *at, size_t bytes)
{
	madvise(at, bytes, MADV_DONTFORK);
}

void states_end(struct states *s)
{
	if (s->memory)
		munmap(s->memory, s->n * s->stride);
	if (s->fd > 0)
		close(s->fd);
	for (uint32_t i = 0; s->one && i < s->n; i++)
		if (s->one[i] > 0)
			close(s->one[i]);
	free(s->one);
	if (s->sums)
		munmap((void *)s->sums, s->places * SUM_ROWS * sizeof(*s->sums));
}

static void place_sums(struct states *s, uint32_t index)
{
	states_at(s, index)->own.sums.base = s->rows;
	s->rows += SUM_ROWS;
}

int states_map_sums(struct states *s, int fd, uint32_t places)
{
	void *map = mmap(NULL, places * SUM_ROWS * sizeof(*s->sums), PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	s->sums = map;
	s->places = places;
	for (uint32_t i = 0; i < s->given; i++)
		place_sums(s, i);
	return 0;
}

int states_come(struct states *s, uint32_t index, unsigned cpu)
{
	int16_t node[CPUS_MAX];
	int one;

	if (s->sums && s->rows == s->places * SUM_ROWS)
		return -ENOSPC;
	descriptors_allow(s->n);
	machine_nodes(node);
	one = make_map(states_at(s, index), s->stride, 1, true, node[cpu]);
	if (one < 0)
		return one;
	s->one[index] = one;
	madvise(states_at(s, index), s->stride, MADV_DONTFORK);
	if (s->sums)
		place_sums(s, index);
	return bpf_map_update_elem(s->fd, &index, &one, BPF_ANY) ? -errno : 0;
}

struct cpu_state *states_at(const struct states *s, uint32_t index)
{
	return (void *)((char *)s->memory + index * s->stride);
}

/* The page is mapped anew: what MADV_DONTFORK did cannot be undone everywhere, some kernels (7.3
 * does) refuse MADV_DOFORK for memory that is not a file's. */
int states_lend(struct states *s, uint32_t index, bool on)
{
	uintptr_t page = sysconf(_SC_PAGESIZE), base = (uintptr_t)s->memory;
	uintptr_t from = (base + index * s->stride) / page * page;
	off_t offset = s->one ? 0 : from - base;

	if (!on)
		return madvise((void *)from, page, MADV_DONTFORK) ? -errno : 0;
	return mmap((void *)from, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		    s->one ? s->one[index] : s->fd, offset) == MAP_FAILED
		       ? -errno
		       : 0;
}
