/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/notify.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/units.h"

#define STATUS_NS (10 * NSEC_PER_SEC)

/* Half of the time that the manager waits: so says sd_watchdog_enabled(3). */
static uint64_t watchdog_ns(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
	char why[128];
	long us, of;

	if (!usec || parse_integer(usec, 1, 1000000000000, &us, why, sizeof(why)))
		return 0;
	if (pid && (parse_integer(pid, 1, 4194304, &of, why, sizeof(why)) || of != getpid()))
		return 0;
	return us * NSEC_PER_USEC / 2;
}

void notify_open(struct notify *n)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;

	*n = (struct notify){.fd = -1};
	if (len < 2 || len >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, len);
	if (path[0] == '@') /* a name of the abstract namespace */
		to.sun_path[0] = 0;
	n->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (n->fd < 0 ||
	    connect(n->fd, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + len)) {
		notify_close(n);
		return;
	}
	n->watchdog_ns = watchdog_ns();
}

void notify_tell(struct notify *n, const char *fmt, ...)
{
	char text[512];
	va_list args;
	int len;

	if (n->fd < 0)
		return;
	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	/* a manager that does not listen must not stop a measurement */
	if (len > 0 && send(n->fd, text, len < (int)sizeof(text) ? len : (int)sizeof(text) - 1,
			    MSG_NOSIGNAL) < 0)
		return;
}

bool notify_step(struct notify *n, uint64_t now)
{
	if (n->fd < 0)
		return false;
	if (n->watchdog_ns && now - n->told_ns >= n->watchdog_ns) {
		notify_tell(n, "WATCHDOG=1");
		n->told_ns = now;
	}
	if (now - n->status_ns < STATUS_NS)
		return false;
	n->status_ns = now;
	return true;
}

void notify_close(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	n->fd = -1;
}
