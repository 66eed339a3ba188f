/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/descriptors.h"
#include "base/now.h"
#include "base/units.h"
#include "collect/user_files.h"
#include "collect/user_open.h"
#include "collect/user_process.h"
#include "collect/user_shares.h"

#define JOBS_MOST 8192         /* stacks in hand */
#define HELD      64           /* programs that cost much, the newest */
#define MAPS_MOST (16 << 20)   /* bytes of /proc/PID/maps that are read */
#define MAPS_MANY (1 << 20)    /* bytes: these cost the stacks of others their time */
#define LOOKS_NS  NSEC_PER_SEC /* looks at such a process, at once... */
#define LOOKS_OF  10           /* later a tenth of the time */

/* To look at other people's processes and at the files that they run, deleted ones, too. */
#define RIGHTS_TO_LOOK (RIGHT_DAC_READ_SEARCH | RIGHT_SYS_PTRACE | RIGHT_CHECKPOINT)

/* A stack whose addresses are places in files. */
struct job {
	struct user_wait wait; /* first */
	struct user_stack stack;
	uint32_t number;
	struct parse_ask ask;
	uint64_t address[PARSE_LEAF + 1];
	uint32_t made; /* bits: those in code that was made */
};

_Static_assert(PARSE_LEAF < 32, "each has a bit");

/* A program with mappings that cost much. */
struct held {
	uint32_t tgid;
	uint64_t start_stack;
	uint64_t spent_ns; /* on it so far, less what the time since then has allowed */
	uint64_t at_ns;
	bool never, told; /* never: it is not looked at again */
};

struct reader {
	int socket;
	struct user_files *files;
	struct user_shares shares;
	uint32_t jobs;
	struct held held[HELD];
	uint32_t nheld; /* ever */
	struct user_answer out;
};

/* Tells culprit's process that the functions of a file, or of a process, are lost. */
static void tell_lost(void *ctx, const char *why)
{
	struct reader *r = ctx;
	struct user_answer *out = &r->out;

	out->number = 0;
	snprintf(out->calls, sizeof(out->calls), "%s", why);
	send(r->socket, out, offsetof(struct user_answer, calls) + strlen(out->calls) + 1,
	     MSG_NOSIGNAL);
}

/* ---- mappings ---- */

struct mapping {
	unsigned long long begin, end, offset;
	char mode[5],
		inside[48]; /* device and number in its file system, as the kernel writes it */
	char name[4096];
};

/* Reads a line of /proc/PID/maps. False: it is none. */
static bool read_mapping(const char *line, struct mapping *m)
{
	int at = 0;

	m->name[0] = 0;
	char device[20], number[24];

	if (sscanf(line, "%llx-%llx %4s %llx %19s %23s %n", &m->begin, &m->end, m->mode, &m->offset,
		   device, number, &at) < 6)
		return false;
	snprintf(m->inside, sizeof(m->inside), "%s %s", device, number);
	if (at)
		snprintf(m->name, sizeof(m->name), "%.*s", (int)strcspn(line + at, "\n"),
			 line + at);
	return true;
}

/* True for memory of code that a program made while it ran, or for all that is in no file but the
 * kernel's own. */
static bool is_made(const struct mapping *m)
{
	return m->name[0] != '/' ? m->name[0] != '[' || !strncmp(m->name, "[anon", 5) ||
					   !strcmp(m->name, "[heap]") || !strcmp(m->name, "[stack]")
				 : !strncmp(m->name, "/memfd:doublemapper", 19) ||
					   !strncmp(m->name, "//anon", 6);
}

/* Finds the places of the addresses in this mapping. */
static void place_in(struct reader *r, struct job *j, const struct user_stack *u,
		     const struct mapping *m)
{
	uint32_t file = PARSE_FILES;
	bool asked = false;

	for (uint32_t i = 0; i <= PARSE_LEAF; i++) {
		if (j->address[i] < m->begin || j->address[i] >= m->end)
			continue;
		j->made |= is_made(m) ? 1U << i : 0;
		if (!asked && !is_made(m))
			file = user_files_number(r->files, u, m->begin, m->end, m->inside, m->name);
		asked = true;
		j->ask.place[i] = (struct parse_place){file, j->address[i]};
		if (!is_made(m))
			j->ask.place[i].offset += m->offset - m->begin;
	}
}

/* Finds those in code that was made, when all mappings are known. */
static void place_made(struct reader *r, struct job *j, const struct user_stack *u,
		       const struct user_dump *dump)
{
	uint32_t file = j->made ? user_files_map(r->files, u, dump) : PARSE_FILES;

	for (uint32_t i = 0; i <= PARSE_LEAF; i++)
		if (j->made & 1U << i)
			j->ask.place[i].file = file;
}

static struct held *held_of(struct reader *r, const struct user_stack *u)
{
	for (uint32_t i = 0; i < HELD; i++)
		if (r->held[i].tgid == u->tgid && r->held[i].start_stack == u->start_stack)
			return &r->held[i];
	return NULL;
}

static bool is_held(struct held *h)
{
	uint64_t now = now_ns(), allowed = h ? (now - h->at_ns) / LOOKS_OF : 0;

	if (!h || h->never)
		return h;
	h->spent_ns -= allowed < h->spent_ns ? allowed : h->spent_ns;
	h->at_ns = now;
	return h->spent_ns >= LOOKS_NS;
}

/* Counts the time of a look at its mappings. UINT64_MAX: that is never tried again. */
static void count_time(struct reader *r, const struct user_stack *u, uint64_t ns, const char *what)
{
	struct held *h = held_of(r, u);
	char why[128];

	if (!h) {
		h = &r->held[r->nheld++ % HELD];
		*h = (struct held){u->tgid, u->start_stack, .at_ns = now_ns()};
	}
	h->never |= ns == UINT64_MAX;
	h->spent_ns += h->never ? 0 : ns;
	if (h->told || (!h->never && h->spent_ns < LOOKS_NS))
		return;
	h->told = true;
	snprintf(why, sizeof(why), "process %u%s", u->tgid, what);
	tell_lost(r, why);
}

/* The mappings of a process, as text; NULL: they cannot be read, or not in time. */
static char *read_mappings(struct reader *r, const struct user_stack *u, ssize_t *n)
{
	char path[48], *text;

	if (is_held(held_of(r, u)))
		return NULL;
	snprintf(path, sizeof(path), "/proc/%u/maps", u->tgid);
	text = user_read(path, MAPS_MOST, n);
	if (!text && *n == -ETIME)
		count_time(r, u, UINT64_MAX, ", whose mappings cannot be read");
	return text;
}

static void place_line(struct reader *r, struct job *j, const struct user_stack *u,
		       const char *line, struct user_dump *dump)
{
	struct mapping m;

	if (!read_mapping(line, &m) || m.mode[2] != 'x')
		return;
	if (m.name[0] == '/' || is_made(&m))
		place_in(r, j, u, &m);
	if (strlen(m.name) < sizeof(dump->name) && user_map_is_dump(dump, u->tgid, m.name)) {
		dump->begin = m.begin;
		dump->end = m.end;
		dump->device = user_device(m.inside);
		strcpy(dump->name, m.name);
	}
}

/* False: the process is gone, is another program by now, or may not be looked at. */
static bool find_places(struct reader *r, struct job *j, const struct user_stack *u)
{
	struct user_dump dump = {0};
	uint64_t began = now_ns();
	char *text, *end;
	ssize_t n;

	if (!u->start_stack || process_field(u->tgid, 28) != u->start_stack)
		return false;
	text = read_mappings(r, u, &n);
	if (!text)
		return false;
	for (char *line = text; (end = memchr(line, '\n', text + n - line)); line = end + 1) {
		*end = 0;
		place_line(r, j, u, line, &dump);
	}
	place_made(r, j, u, &dump);
	free(text);
	if (n > MAPS_MANY)
		count_time(r, u, now_ns() - began,
			   " in some of its stacks: its mappings are too many to look at for each");
	return process_field(u->tgid, 28) == u->start_stack;
}

/* ---- stacks ---- */

/* The place of a frame, in a file. An address tells where a process that runs has its memory, so
 * none is given away, also not of code that it made. */
static void describe(const struct reader *r, const struct job *j, const struct parse_frame *from,
		     struct call *c)
{
	uint32_t which = from->number % (PARSE_LEAF + 1);
	const struct parse_place *p = &j->ask.place[which];
	const struct user_file *f = user_files_at(r->files, p->file);

	*c = (struct call){.gap = from->gap};
	if (from->gap || !f || (f->map && !from->name[0]))
		return;
	memcpy(c->name, from->name, sizeof(c->name));
	memcpy(c->file, f->name, sizeof(c->file));
	memcpy(c->build, f->build, sizeof(c->build));
	memcpy(c->line, from->line, sizeof(c->line));
	c->offset = f->map ? 0 : p->offset;
}

static void answer(struct reader *r, const struct job *j, const struct parse_answer *a)
{
	struct user_answer *out = &r->out;
	size_t len = 0;
	struct call c;

	out->number = j->number;
	out->calls[0] = 0;
	for (uint32_t i = 0; a && i < a->n; i++) {
		describe(r, j, &a->frame[i], &c);
		len = calls_add(out->calls, len, &c);
	}
	send(r->socket, out, offsetof(struct user_answer, calls) + len + 1, MSG_NOSIGNAL);
}

/* Once its places are known, which is before any file of its user is read: processes end. True: it
 * is done. */
static bool do_job(struct reader *r, struct job *j)
{
	struct parse_answer a;

	if (!j->wait.later) {
		j->wait.later = find_places(r, j, &j->stack);
		if (!j->wait.later)
			answer(r, j, NULL);
		return !j->wait.later;
	}
	if (!user_files_walk(r->files, &j->ask, &a)) {
		/* The place in the innermost file is known all the same. */
		a = (struct parse_answer){.n = 2, .frame = {{0}, {.gap = true}}};
	}
	answer(r, j, &a);
	return true;
}

static void take(struct reader *r, const struct user_ask *u)
{
	struct job *j = r->jobs < JOBS_MOST ? calloc(1, sizeof(*j)) : NULL;

	if (!j) {
		answer(r, &(struct job){.number = u->number}, NULL);
		return;
	}
	j->number = u->number;
	j->stack = u->stack;
	j->ask.what = PARSE_WALK;
	memcpy(j->address, u->stack.frame, sizeof(u->stack.frame));
	j->address[PARSE_LEAF] = u->stack.leaf;
	j->ask.leaf_at = u->stack.leaf_at;
	while (j->ask.n < USER_FRAMES && j->address[j->ask.n])
		j->ask.n++;
	for (uint32_t i = 0; i <= PARSE_LEAF; i++)
		j->ask.place[i].file = PARSE_FILES;
	user_shares_add(&r->shares, &j->wait, u->stack.uid, u->stack.tgid);
	r->jobs++;
}

/* Goes on with the one whose turn it is. */
static void do_next(struct reader *r)
{
	struct job *j = (struct job *)user_shares_next(&r->shares);
	uint64_t began = now_ns();
	bool done = do_job(r, j);

	user_shares_spend(&j->wait, now_ns() - began);
	if (!done)
		return;
	user_shares_remove(&r->shares, &j->wait);
	free(j);
	if (!--r->jobs)
		user_files_rest(r->files);
}

static void serve(struct reader *r)
{
	struct pollfd come = {.fd = r->socket, .events = POLLIN};
	struct user_ask ask;

	for (;;) {
		if (poll(&come, 1, r->jobs ? 0 : -1) > 0) {
			if (recv(r->socket, &ask, sizeof(ask), 0) != sizeof(ask))
				return;
			take(r, &ask);
		} else if (r->jobs) {
			do_next(r);
		}
	}
}

/* Processes that hang in somebody's file system have these for as long. False: it cannot. */
static bool leave_streams(void)
{
	int null = open("/dev/null", O_RDWR);
	bool left = null >= 0;

	for (int fd = STDIN_FILENO; left && fd <= STDERR_FILENO; fd++)
#ifdef SANITIZED /* says there what it finds */
		if (fd != STDERR_FILENO)
#endif
			left = dup2(null, fd) == fd;
	return left;
}

void user_reader(int socket, const char *debug, pid_t culprit)
{
	/* None of it static: samplers lock all that is in the program. */
	struct reader *r = calloc(1, sizeof(*r));
	int err = 0;

	/* The socket says nothing while a file is waited for. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != culprit)
		_exit(1);
	signal(SIGINT, SIG_IGN); /* the socket says when it is over */
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGUSR1, SIG_IGN);
	if (!r || !leave_streams() || setsid() < 0)
		err = -errno;
	if (err) {
		send(socket, &err, sizeof(err), MSG_NOSIGNAL);
		_exit(1);
	}
	descriptors_close_but(socket, socket);
	setpriority(PRIO_PROCESS, 0, 10); /* the one that reads files has it from here */
	r->socket = socket;
	confine_rights(RIGHTS_TO_LOOK);
	confine_raise(RIGHTS_TO_LOOK);
	r->files = user_files_new(debug, tell_lost, r, socket);
	err = r->files ? 0 : -errno;
	if (send(socket, &err, sizeof(err), MSG_NOSIGNAL) != sizeof(err) || err)
		_exit(1);
	serve(r);
	user_files_free(r->files);
	_exit(0);
}
