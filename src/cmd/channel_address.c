/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of a channel, and their sockets. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/vm_sockets.h> /* wants sys/socket.h before it */

#include "base/say.h"
#include "base/units.h"
#include "cmd/channel.h"

#define LOCAL      "127.0.0.1"
#define WAITING    64 /* connections that nobody has answered yet */
#define CONNECT_MS 10000

/* ---- addresses ---- */

static int bad_address(const char *text, bool to, char *why, size_t whylen)
{
	snprintf(why, whylen,
		 "'%.60s' is no address: use %s, tcp:PORT (" LOCAL "), tcp:ADDRESS:PORT or "
		 "tcp:[ADDRESS]:PORT",
		 text, to ? "vsock:CID:PORT" : "vsock:PORT");
	return -EINVAL;
}

static int parse_vsock(const char *rest, bool to, struct channel_address *a)
{
	const char *colon = strchr(rest, ':');
	char cid[16], not [128];
	long number = VMADDR_CID_ANY, port;

	if (to != !!colon)
		return -EINVAL;
	if (to) {
		snprintf(cid, sizeof(cid), "%.*s", (int)(colon - rest), rest);
		if (parse_integer(cid, 1, VMADDR_CID_ANY - 1L, &number, not, sizeof(not )))
			return -EINVAL;
		rest = colon + 1;
	}
	if (parse_integer(rest, 1, VMADDR_PORT_ANY - 1L, &port, not, sizeof(not )))
		return -EINVAL;
	a->len = sizeof(struct sockaddr_vm);
	*(struct sockaddr_vm *)&a->at =
		(struct sockaddr_vm){.svm_family = AF_VSOCK, .svm_cid = number, .svm_port = port};
	return 0;
}

static int parse_tcp(const char *rest, struct channel_address *a)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE},
			*at = NULL;
	const char *colon = strrchr(rest, ':'), *port = colon ? colon + 1 : rest;
	size_t n = colon ? colon - rest : 0;
	char host[64] = LOCAL, not [128];
	long number;

	if (n >= 2 && *rest == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, rest + 1);
	else if (n)
		snprintf(host, sizeof(host), "%.*s", (int)n, rest);
	/* getaddrinfo takes a larger port for another one */
	if ((colon && !n) || parse_integer(port, 1, 65535, &number, not, sizeof(not )) ||
	    getaddrinfo(host, port, &hints, &at))
		return -EINVAL;
	memcpy(&a->at, at->ai_addr, at->ai_addrlen);
	a->len = at->ai_addrlen;
	freeaddrinfo(at);
	return 0;
}

static int set_address(const char *text, struct channel_address *a, bool to, char *why,
		       size_t whylen)
{
	struct channel_address parsed = {.text = text};
	int err = !strncmp(text, "vsock:", 6) ? parse_vsock(text + 6, to, &parsed)
		  : !strncmp(text, "tcp:", 4) ? parse_tcp(text + 4, &parsed)
					      : -EINVAL;

	if (err)
		return bad_address(text, to, why, whylen);
	*a = parsed;
	return 0;
}

int channel_set_listen(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen)
{
	(void)row;
	return set_address(text, field, false, why, whylen);
}

int channel_set_to(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	(void)row;
	return set_address(text, field, true, why, whylen);
}

/* ---- sockets ---- */

static int fail(int fd, const char *what, const struct channel_address *a)
{
	int err = errno;

	if (fd >= 0)
		close(fd);
	return complain("%s %.80s: %s", what, a->text, strerror(err));
}

int channel_listen(const struct channel_address *a)
{
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	if (fd >= 0 && a->at.ss_family != AF_VSOCK)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, (const struct sockaddr *)&a->at, a->len) || listen(fd, WAITING))
		return fail(fd, "--host-listen: cannot listen at", a);
	return fd;
}

int channel_connect(const struct channel_address *a)
{
	int fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(err);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)&a->at, a->len)) {
		err = errno;
		if (err == EINPROGRESS)
			err = poll(&p, 1, CONNECT_MS) <= 0                       ? ETIMEDOUT
			      : getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) ? errno
										 : err;
	}
	if (fd >= 0 && !err)
		return fd;
	errno = err ? err : errno;
	if (errno == ECONNREFUSED || errno == ECONNRESET || errno == ENODEV) {
		if (fd >= 0)
			close(fd);
		return complain("--to: nobody listens at %.80s: first, in the guest, culprit run "
				"--host-listen",
				a->text);
	}
	return fail(fd, "--to: cannot connect to", a);
}
