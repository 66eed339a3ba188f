/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/live_record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/say.h"
#include "recording/create.h"

/* Refuses standard output, where lines of text would get between. */
static int check_standard(const char *path)
{
	if (!newfile_is_standard(path))
		return 0;
	return complain("%s is standard output or standard error, which are for reports and "
			"messages: record to a file or a pipe of its own",
			path);
}

int live_check_record(const char *path, bool force)
{
	return path && (check_standard(path) || create_check(path, force)) ? -1 : 0;
}

bool live_record_refused(const struct live *l)
{
	return l->record_to && l->record_fd <= 0 && check_standard(l->record_to);
}

/* Returns what it writes a new recording to, over an old one, which stays until there is something
 * in its place; -1 with the reason said. */
static int open_over(struct live *l)
{
	int err = newfile_open_over(&l->file, l->record_to);
	int fd = err ? -1 : fcntl(fileno(l->file.file), F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0)
		complain("cannot record to %s: %s", l->record_to, newfile_error(err ? err : errno));
	return fd;
}

struct recorder *live_record_open(struct live *l)
{
	const struct cpus *cpus = &l->measure->housekeeping;
	struct recorder *r;
	int fd = l->record_fd;

	if (fd <= 0 && (!l->force || !create_replaces(l->record_to)))
		return recorder_open(l->record_to, l->force, cpus);
	if (fd <= 0)
		fd = open_over(l);
	r = fd < 0 ? NULL : recorder_open_to(fd, l->record_to, l->record_most, cpus);
	if (!r)
		newfile_close(&l->file, false);
	return r;
}

int live_record_settle(struct live *l, struct recorder *r)
{
	return l->file.file ? recorder_settle(r) : 0;
}

int live_record_place(struct live *l, struct recorder *r)
{
	int err;

	if (live_record_settle(l, r)) /* once more: a begin may have been hours away */
		return -1;
	err = l->file.file ? newfile_place(&l->file) : 0;
	return err ? complain("cannot record to %s: %s", l->record_to, newfile_error(err)) : 0;
}

void live_record_close(struct live *l)
{
	newfile_close(&l->file, l->file.placed);
}
