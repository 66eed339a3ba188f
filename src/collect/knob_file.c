/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/knob_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/knob.h"

int knob_open(const char *root, const char *path, int flags)
{
	char name[PATH_MAX];
	struct stat s;
	int fd;

	if ((size_t)snprintf(name, sizeof(name), "%s%s", root, path) >= sizeof(name))
		return -ENAMETOOLONG;
	fd = open(name, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &s) && S_ISREG(s.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

int knob_read(const char *root, const char *path, char *text)
{
	int fd = knob_open(root, path, O_RDONLY);
	ssize_t n = 0;
	size_t len = 0;

	if (fd < 0)
		return fd;
	while (len < KNOB_VALUE && (n = read(fd, text + len, KNOB_VALUE - len)) > 0)
		len += n;
	n = n < 0 ? -errno : len == KNOB_VALUE ? -EFBIG : 0;
	close(fd);
	if (len == KNOB_VALUE)
		len--;
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = 0;
	return !n && memchr(text, 0, len) ? -EINVAL : n;
}

int knob_write(const char *root, const char *path, const char *text)
{
	char line[KNOB_VALUE + 2];
	int fd = knob_open(root, path, O_WRONLY | O_TRUNC), err = 0;
	int len = snprintf(line, sizeof(line), "%s\n", text);

	if (fd < 0)
		return fd;
	if (write(fd, line, len) != len)
		err = errno ? -errno : -EIO;
	if (close(fd) && !err)
		err = -errno;
	return err;
}
