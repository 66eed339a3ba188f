/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts the runs of each reader, and answers that are worth a count, in the file that FUZZ_COUNTS
 * names, also of a fuzzer that is killed; tests/fuzz/counts prints them. */
#ifndef CULPRIT_FUZZ_COUNT_H
#define CULPRIT_FUZZ_COUNT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define COUNTS 64

struct count {
	char name[24];
	uint64_t runs;
};

static inline void count_run(unsigned reader, const char *name)
{
	static struct count *all;
	static struct count nowhere[COUNTS];

	if (!all) {
		const char *path = getenv("FUZZ_COUNTS");
		int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;

		all = fd < 0 || ftruncate(fd, sizeof(nowhere))
			      ? MAP_FAILED
			      : mmap(NULL, sizeof(nowhere), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     0);
		if (all == MAP_FAILED)
			all = nowhere;
		if (fd >= 0)
			close(fd);
	}
	if (!all[reader % COUNTS].name[0])
		snprintf(all[reader % COUNTS].name, sizeof(all->name), "%s", name);
	all[reader % COUNTS].runs++;
}

#endif
