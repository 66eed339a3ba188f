/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

int outlet_open(int fd)
{
	char path[32];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opened = isatty(fd) ? open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC) : -1;
	return opened >= 0 ? opened : fd;
}

/* A terminal that still has much to show takes more, but is not ready. */
ssize_t outlet_write(int opened, int fd, const char *text, size_t len, int wait_ms)
{
	struct pollfd out = {opened, POLLOUT, 0};
	bool ready = poll(&out, 1, wait_ms) > 0;
	ssize_t n = ready || opened != fd ? write(opened, text, len) : 0;

	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : n;
}

size_t outlet_finish(int opened, int fd, const char *text, size_t len, int wait_ms)
{
	size_t at = 0;
	ssize_t n = 1;

	for (; at < len && n > 0; at += n > 0 ? n : 0)
		n = outlet_write(opened, fd, text + at, len - at, wait_ms);
	return at;
}
