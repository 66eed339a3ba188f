/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program's reports about itself, and how they are read, for test_order_shared.c: a read of the
 * file copies memory, in whatever order the machine likes. */
#include <unistd.h>

static ssize_t copy(int fd, void *to, size_t len, off_t at);
#define pread copy
#include "collect/reports.c"
#undef pread
#include "culprit.h"
#include "order_shared.h"

static struct culprit_reports *shared;

static ssize_t copy(int fd, void *to, size_t len, off_t at)
{
	(void)fd;
	memcpy(to, (char *)shared + at, len);
	return len;
}

void order_late(struct culprit_reports *reports, __u64 start_ns, __u64 end_ns)
{
	shared = reports;
	culprit_late(reports, start_ns, end_ns);
}

int order_read_report(__u64 place, struct culprit_report *r)
{
	static const struct reports p = {.fd = 0};

	return read_report(&p, place, r);
}
