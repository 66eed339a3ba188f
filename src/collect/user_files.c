/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/now.h"
#include "collect/user_open.h"
#include "collect/user_process.h"

#define DEBUG_FILES   "/usr/lib/debug"
#define STARTS_MOST   8    /* should the process that reads files end, and no file be the reason */
#define SLOW_MOST     16   /* devices; then no more files are opened */
#define RECENT        1024 /* mappings whose file's number is kept; a power of two */
#define CLOCK_SLACK_S 2    /* between the clocks of files and of processes */

struct file {
	struct user_file known;
	dev_t dev;
	ino_t ino;
	struct timespec changed;
	int fd; /* -1: it is bad */
	bool sent, bad, debug_bad;
	/* A map: whose, and how much of it was sent. */
	uint32_t tgid;
	uint64_t start_stack;
	off_t size;
	bool anew; /* another file is there than before */
};

/* A mapping of a program. */
struct recent {
	uint64_t start_stack, begin, end, inside;
	uint32_t tgid, number; /* tgid 0: none */
};

struct user_files {
	const char *debug;
	void (*lost)(void *ctx, const char *why);
	void *ctx;
	struct parser parser;
	unsigned starts;
	struct file file[PARSE_FILES];
	uint32_t files;
	struct recent recent[RECENT];
	char slow[SLOW_MOST][20]; /* devices */
	unsigned slows;
};

struct user_files *user_files_new(const char *debug, void (*lost)(void *ctx, const char *why),
				  void *ctx)
{
	struct user_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->debug = debug;
	f->lost = lost;
	f->ctx = ctx;
	if (!parser_start(&f->parser))
		return f;
	free(f);
	return NULL;
}

void user_files_free(struct user_files *f)
{
	if (!f)
		return;
	parser_stop(&f->parser);
	for (uint32_t i = 0; i < f->files; i++)
		if (f->file[i].fd >= 0)
			close(f->file[i].fd);
	free(f);
}

const struct user_file *user_files_at(const struct user_files *f, uint32_t number)
{
	return number < f->files ? &f->file[number].known : NULL;
}

/* ---- which file ---- */

static bool is_slow(const struct user_files *f, const char *inside)
{
	size_t len = strcspn(inside, " ");

	for (unsigned i = 0; i < f->slows; i++)
		if (strlen(f->slow[i]) == len && !strncmp(f->slow[i], inside, len))
			return true;
	return f->slows == SLOW_MOST;
}

/* Opens the file of a mapping, also one that was deleted or lies in a container. -1: it cannot
 * be. */
static int open_mapped(struct user_files *f, const struct recent *m, const char *inside,
		       const char *name, struct stat *st)
{
	char path[96], why[CALLS_FILE + 96];
	int fd;

	if (is_slow(f, inside))
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", m->tgid,
		 (unsigned long long)m->begin, (unsigned long long)m->end);
	fd = user_open(NULL, path, st);
	if (fd == -ETIME) {
		snprintf(f->slow[f->slows++], sizeof(f->slow[0]), "%.*s", (int)strcspn(inside, " "),
			 inside);
		snprintf(why, sizeof(why),
			 "%.*s, nor of others there: it could not be opened in time", CALLS_FILE,
			 name);
		f->lost(f->ctx, why);
	}
	return fd < 0 ? -1 : fd;
}

static uint32_t number_of(struct user_files *f, const struct recent *m, const char *inside,
			  const char *name)
{
	size_t len = strlen(name);
	struct file *n;
	struct stat st;
	int fd = open_mapped(f, m, inside, name, &st);

	if (fd < 0)
		return PARSE_FILES;
	for (uint32_t i = 0; i < f->files; i++) {
		n = &f->file[i];
		if (n->known.map || n->dev != st.st_dev || n->ino != st.st_ino ||
		    n->changed.tv_sec != st.st_mtim.tv_sec ||
		    n->changed.tv_nsec != st.st_mtim.tv_nsec)
			continue;
		close(fd);
		return i;
	}
	if (f->files == PARSE_FILES) {
		close(fd);
		return PARSE_FILES;
	}
	n = &f->file[f->files++];
	*n = (struct file){.dev = st.st_dev, .ino = st.st_ino, .changed = st.st_mtim, .fd = fd};
	snprintf(n->known.name, sizeof(n->known.name), "%s",
		 len < sizeof(n->known.name) ? name : name + len - sizeof(n->known.name) + 1);
	return n - f->file;
}

uint32_t user_files_number(struct user_files *f, const struct user_stack *u, uint64_t begin,
			   uint64_t end, const char *inside, const char *name)
{
	struct recent m = {u->start_stack, begin, end, 0, u->tgid, PARSE_FILES}, *known;

	m.inside = hash_bytes(HASH_BEGIN, inside, strlen(inside));
	known = &f->recent[((m.inside ^ m.start_stack ^ begin ^ u->tgid) * 0x9e3779b97f4a7c15ULL >>
			    32) %
			   RECENT];
	if (known->tgid == m.tgid && known->start_stack == m.start_stack && known->begin == begin &&
	    known->end == end && known->inside == m.inside)
		return known->number;
	m.number = number_of(f, &m, inside, name);
	*known = m;
	return m.number;
}

/* ---- maps ---- */

/* Reads the process' number in its own namespace, and its user. False: it is gone. */
static bool read_status(uint32_t process, uint32_t *number, uid_t *uid)
{
	char path[48], line[512], *last;
	bool has_uid = false;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%u/status", process);
	in = fopen(path, "re");
	*number = 0;
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "Uid: %*u %u", uid) == 1)
			has_uid = true;
		if (!strncmp(line, "NSpid:", 6) && (last = strrchr(line, '\t')))
			*number = strtoul(last, NULL, 10);
	}
	if (in)
		fclose(in);
	return has_uid && *number;
}

/* Seconds of the clock that files have, when a process began; INT64_MAX: not known. A file of the
 * process before of the same number is older. */
static int64_t begin_of(uint32_t process)
{
	uint64_t ticks = process_field(process, 22);
	int64_t per_second = sysconf(_SC_CLK_TCK);

	if (!ticks || per_second <= 0)
		return INT64_MAX;
	return (int64_t)((clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME)) / NSEC_PER_SEC +
			 ticks / per_second);
}

/* Opens it where the process sees it. Its own user wrote it, and nobody else may. -1: there is
 * none. */
static int open_map(const struct user_stack *u, char *name, size_t len, struct stat *st)
{
	uint32_t number;
	char root[48];
	uid_t uid;
	int fd;

	if (!read_status(u->tgid, &number, &uid))
		return -1;
	snprintf(root, sizeof(root), "/proc/%u/root", u->tgid);
	snprintf(name, len, "/tmp/perf-%u.map", number);
	fd = user_open(root, name, st);
	if (fd < 0)
		return -1;
	if (st->st_uid == uid && !(st->st_mode & S_IWOTH) &&
	    st->st_mtim.tv_sec + CLOCK_SLACK_S >= begin_of(u->tgid))
		return fd;
	close(fd);
	return -1;
}

static struct file *map_of(struct user_files *f, const struct user_stack *u)
{
	for (uint32_t i = 0; i < f->files; i++)
		if (f->file[i].known.map && f->file[i].tgid == u->tgid &&
		    f->file[i].start_stack == u->start_stack)
			return &f->file[i];
	if (f->files == PARSE_FILES)
		return NULL;
	f->file[f->files] = (struct file){
		.known.map = true, .tgid = u->tgid, .start_stack = u->start_stack, .fd = -1};
	return &f->file[f->files++];
}

uint32_t user_files_map(struct user_files *f, const struct user_stack *u)
{
	char name[sizeof(f->file->known.name)];
	struct file *n;
	struct stat st;
	int fd = open_map(u, name, sizeof(name), &st);

	n = fd >= 0 ? map_of(f, u) : NULL;
	if (!n || n->bad) {
		if (fd >= 0)
			close(fd);
		return PARSE_FILES;
	}
	if (n->fd >= 0)
		close(n->fd);
	n->anew |= n->dev != st.st_dev || n->ino != st.st_ino || st.st_size < n->size;
	n->sent &= !n->anew && st.st_size == n->size;
	n->fd = fd;
	n->dev = st.st_dev;
	n->ino = st.st_ino;
	n->size = st.st_size;
	strcpy(n->known.name, name);
	return n - f->file;
}

/* ---- the process that reads ---- */

static void tell_lost(const struct user_files *f, const char *of, const char *name, int err)
{
	char why[CALLS_FILE + 96];

	snprintf(why, sizeof(why), "%s%s: reading it %s", of, name,
		 err == -ETIME   ? "takes more than two seconds"
		 : err == -EBUSY ? "was not done in ten seconds of a busy machine"
				 : "ended the process that did");
	f->lost(f->ctx, why);
}

/* The process itself says at which file it was: one that was led astray can take no more than
 * names. False: it was at none. */
static bool blame(struct user_files *f, int err)
{
	uint32_t at = parser_reading(&f->parser);
	struct file *n = &f->file[at % PARSE_FILES];

	if (at % PARSE_FILES >= f->files || at / PARSE_FILES > 1)
		return false;
	if (at < PARSE_FILES && !n->bad) {
		tell_lost(f, "", n->known.name, err);
		n->bad = true;
		close(n->fd);
		n->fd = -1;
		return true;
	}
	if (n->bad || n->debug_bad)
		return false;
	tell_lost(f, "the debug information of ", n->known.name, err);
	return n->debug_bad = true;
}

/* False: there is no answer. A process that begins has no files. */
static bool ask_parser(struct user_files *f, const struct parse_ask *ask, int fd,
		       struct parse_answer *a)
{
	int err = f->parser.pid ? parser_ask(&f->parser, ask, fd, a) : -ESRCH;

	if (!err || err == -ESRCH)
		return !err;
	for (uint32_t i = 0; i < f->files; i++)
		f->file[i].sent = false;
	if (blame(f, err) || f->starts++ < STARTS_MOST)
		parser_start(&f->parser);
	return false;
}

/* False for a build id that is no number in hex: the process without rights may say anything, and
 * it becomes part of a path. */
static bool is_build(const char *build)
{
	return strlen(build) > 2 && !build[strspn(build, "0123456789abcdef")];
}

/* Sends debug information that belongs to a program. False: there is none. */
static bool send_debug(struct user_files *f, uint32_t number, const char *where)
{
	const struct file *n = &f->file[number];
	struct parse_ask ask = {.what = PARSE_DEBUG, .file = number};
	struct parse_answer a;
	struct stat st;
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", where, n->known.build,
		 n->known.build + 2);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	a.ok = false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !ask_parser(f, &ask, fd, &a))
		a.ok = false;
	close(fd);
	return a.ok;
}

static void send_file(struct user_files *f, uint32_t number)
{
	struct parse_ask ask = {.what = PARSE_FILE, .file = number};
	struct file *n = &f->file[number];
	struct parse_answer a;

	if (number >= f->files || n->sent || n->bad)
		return;
	n->sent = true;
	if (n->known.map) {
		ask.what = PARSE_MAP;
		ask.n = n->anew;
		n->anew = false;
		ask_parser(f, &ask, n->fd, &a);
		return;
	}
	if (!ask_parser(f, &ask, n->fd, &a))
		return;
	n->bad = !a.ok;
	if (n->bad || !is_build(a.build))
		return;
	memcpy(n->known.build, a.build, sizeof(n->known.build));
	if (!a.whole && !n->debug_bad && !(f->debug && send_debug(f, number, f->debug)))
		send_debug(f, number, DEBUG_FILES);
}

/* True: the process has all files, as far as they can be read. */
static bool send_files(struct user_files *f, const struct parse_ask *ask)
{
	const struct file *n;
	bool all = true;

	for (uint32_t i = 0; i <= ask->n; i++) {
		uint32_t number = i < ask->n ? ask->place[i].file : ask->leaf.file;

		send_file(f, number);
	}
	for (uint32_t i = 0; i <= ask->n; i++) {
		uint32_t number = i < ask->n ? ask->place[i].file : ask->leaf.file;

		n = &f->file[number % PARSE_FILES];
		all &= number >= f->files || n->sent || n->bad;
	}
	return all;
}

/* Each turn but the last takes a file or one of STARTS_MOST. */
bool user_files_walk(struct user_files *f, const struct parse_ask *ask, struct parse_answer *answer)
{
	while (f->parser.pid)
		if (send_files(f, ask) && ask_parser(f, ask, -1, answer))
			return true;
	return false;
}
