/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/listener.h"

#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"

#define LOCAL "127.0.0.1"

struct listener {
	int fd;
	pid_t pid;
};

#ifdef CULPRIT_LISTEN
#include <dlfcn.h>
#include <microhttpd.h>
#include <pthread.h>

#include "cmd/guard.h"

#define LIBRARY        "libmicrohttpd.so.12"
#define CONNECTIONS    16
#define OF_ONE_HOST    8
#define TIMEOUT_S      5     /* without a byte of a connection */
#define REQUEST_BYTES  16384 /* a longer head is refused */
#define TEXT_MAX       (64 << 20)
#define ANSWER_SECONDS 5

/* Opened when it is wanted: else culprit neither needs it nor has it in its memory. */
static struct {
	typeof(&MHD_start_daemon) start;
	typeof(&MHD_create_response_from_buffer) response;
	typeof(&MHD_add_response_header) header;
	typeof(&MHD_queue_response) queue;
	typeof(&MHD_destroy_response) destroy;
} http;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct MHD_Response *metrics; /* guarded by it; NULL: none yet */

static int open_library(void)
{
	const struct {
		const char *name;
		void *at;
	} calls[] = {{"MHD_start_daemon", &http.start},
		     {"MHD_create_response_from_buffer", &http.response},
		     {"MHD_add_response_header", &http.header},
		     {"MHD_queue_response", &http.queue},
		     {"MHD_destroy_response", &http.destroy}};
	void *library = dlopen(LIBRARY, RTLD_NOW);

	if (!library)
		return complain(
			"--listen: %s cannot be opened (%s): apt-get install libmicrohttpd12, "
			"or use --textfile",
			LIBRARY, dlerror());
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *call = dlsym(library, calls[i].name);

		if (!call)
			return complain("--listen: " LIBRARY " lacks %s", calls[i].name);
		memcpy(calls[i].at, &call, sizeof(call));
	}
	return 0;
}

/* ---- the process that answers ---- */

static enum MHD_Result say_so(struct MHD_Connection *c, unsigned status, const char *text)
{
	struct MHD_Response *r = http.response(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		http.header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	done = http.queue(c, status, r);
	http.destroy(r);
	return done;
}

static enum MHD_Result answer(void *ctx, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **request)
{
	enum MHD_Result done;

	(void)ctx;
	(void)version;
	(void)upload;
	(void)upload_size;
	(void)request;
	if (strcmp(method, "GET") && strcmp(method, "HEAD"))
		return say_so(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	if (strcmp(url, "/metrics"))
		return say_so(c, MHD_HTTP_NOT_FOUND, "only /metrics\n");
	pthread_mutex_lock(&lock);
	done = metrics ? http.queue(c, MHD_HTTP_OK, metrics)
		       : say_so(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no figures yet\n");
	pthread_mutex_unlock(&lock);
	return done;
}

static bool take(int fd, void *to, size_t len)
{
	for (size_t n = 0; n < len;) {
		ssize_t got = recv(fd, (char *)to + n, len - n, 0);

		if (got <= 0)
			return false;
		n += got;
	}
	return true;
}

/* Takes one text. False: culprit has ended. */
static bool take_text(int fd)
{
	struct MHD_Response *new, *old;
	uint64_t len;
	char *text;

	if (!take(fd, &len, sizeof(len)) || len > TEXT_MAX)
		return false;
	text = malloc(len + 1);
	if (!text || !take(fd, text, len)) {
		free(text);
		return false;
	}
	new = http.response(len, text, MHD_RESPMEM_MUST_FREE);
	if (!new) {
		free(text);
		return true;
	}
	http.header(new, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
	pthread_mutex_lock(&lock);
	old = metrics;
	metrics = new;
	pthread_mutex_unlock(&lock);
	if (old)
		http.destroy(old); /* requests that are being answered with it keep it */
	return true;
}

static void __attribute__((noreturn))
serve(int listening, int fd, const struct cpus *cpus, pid_t culprit)
{
	const char ready = 1;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_NAME, "culprit-listen");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != culprit || open_library())
		_exit(1);
	if (!cpus_empty(cpus))
		cpus_run_on(cpus);
	guard_answerer();
	if (!http.start(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, answer, NULL,
			MHD_OPTION_LISTEN_SOCKET, listening, MHD_OPTION_CONNECTION_LIMIT,
			(unsigned)CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
			(unsigned)OF_ONE_HOST, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
			MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
			MHD_OPTION_END)) {
		complain("--listen: " LIBRARY " cannot serve");
		_exit(1);
	}
	if (send(fd, &ready, 1, MSG_NOSIGNAL) == 1)
		while (take_text(fd))
			;
	_exit(0);
}

/* ---- ours ---- */

/* The socket, or -1 with the reason said. */
static int open_socket(const char *address)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE},
			*at = NULL;
	const char *colon = strrchr(address, ':');
	char host[64] = LOCAL;
	int fd = -1, one = 1;
	size_t n = colon ? colon - address : 0;
	char why[128];
	long port;

	if (n >= 2 && *address == '[' && colon[-1] == ']')
		snprintf(host, sizeof(host), "%.*s", (int)n - 2, address + 1);
	else if (n)
		snprintf(host, sizeof(host), "%.*s", (int)n, address);
	/* getaddrinfo takes a larger port for another one */
	if (!colon || parse_integer(colon + 1, 1, 65535, &port, why, sizeof(why)) ||
	    getaddrinfo(host, colon + 1, &hints, &at))
		return complain("--listen: '%.80s' is no address and port, like " LOCAL
				":9101 or [::1]:9101",
				address);
	fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (fd < 0 || bind(fd, at->ai_addr, at->ai_addrlen) || listen(fd, CONNECTIONS)) {
		complain("--listen: cannot listen at %.80s: %s", address, strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(at);
	return fd;
}

/* 0, or -1 with the reason said. */
static int start(struct listener *l, int listening, const struct cpus *cpus)
{
	struct timeval patience = {.tv_sec = ANSWER_SECONDS};
	pid_t culprit = getpid();
	int pair[2];
	char ready;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return complain("--listen: %s", strerror(errno));
	l->pid = fork();
	if (!l->pid) {
		close(pair[0]);
		serve(listening, pair[1], cpus, culprit);
	}
	close(pair[1]);
	l->fd = pair[0];
	if (l->pid < 0)
		return complain("--listen: cannot start a process for it: %s", strerror(errno));
	setsockopt(l->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return recv(l->fd, &ready, 1, 0) == 1 ? 0 : -1; /* the process has said why */
}

struct listener *listener_open(const char *address, const struct cpus *housekeeping)
{
	struct listener *l = calloc(1, sizeof(*l));
	int listening, err;

	if (!l) {
		complain("out of memory");
		return NULL;
	}
	l->fd = -1;
	listening = open_socket(address);
	err = listening < 0 ? -1 : start(l, listening, housekeeping);
	if (listening >= 0)
		close(listening);
	if (!err)
		return l;
	listener_close(l);
	return NULL;
}
#else
struct listener *listener_open(const char *address, const struct cpus *housekeeping)
{
	(void)address;
	(void)housekeeping;
	complain("--listen: this culprit was built without libmicrohttpd: use --textfile");
	return NULL;
}
#endif

static bool give(struct listener *l, const void *from, size_t len)
{
	for (size_t n = 0; n < len;) {
		ssize_t put = send(l->fd, (const char *)from + n, len - n, MSG_NOSIGNAL);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		n += put;
	}
	return true;
}

bool listener_put(struct listener *l, const char *text, size_t len)
{
	uint64_t n = len;

	if (l->fd < 0)
		return false;
	if (give(l, &n, sizeof(n)) && give(l, text, len))
		return true;
	close(l->fd); /* a text that it has a part of ends it */
	l->fd = -1;
	return false;
}

void listener_close(struct listener *l)
{
	if (!l)
		return;
	if (l->fd >= 0)
		close(l->fd);
	reap_killed(l->pid);
	free(l);
}
