/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_parse.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/elf.h"
#include "collect/user_made.h"
#include "collect/user_packed.h"
#include "collect/user_source.h"

#define MEMORY_MOST (768ULL << 20)
#define KEPT_MOST   (192U << 20) /* bytes of all files in hand, before another is read */
#define LINES_MOST  4            /* files with lines in hand: all of each is mapped */

/* ---- the process: files ---- */

/* Files stay open: the tables of a program are read when they are needed. */
struct file {
	int fd, debug; /* -1: none */
	struct elf *elf;
	bool no_lines;
	struct source *source;
	struct made *made;
};

/* Not static: samplers lock all that is in the program. */
struct parsing {
	struct file file[PARSE_FILES];
	struct file *lines[LINES_MOST]; /* those with a source, in turn; NULL: none yet */
	unsigned turn;
	volatile uint32_t *reading;
	struct parse_ask ask;
	struct parse_answer answer;
};

/* Gives all back if they have become too many. */
static void make_room(struct parsing *p)
{
	struct file *files = p->file;
	size_t bytes = 0;

	for (int i = 0; i < PARSE_FILES; i++)
		bytes += files[i].elf ? elf_bytes(files[i].elf) : 0;
	for (int i = 0; i < PARSE_FILES && bytes > KEPT_MOST; i++) {
		elf_free(files[i].elf);
		files[i].elf = NULL;
	}
}

/* Gives back what finds the lines of a file. False: there was nothing. */
static bool drop_source(struct file **place)
{
	if (!*place)
		return false;
	source_free((*place)->source);
	(*place)->source = NULL;
	*place = NULL;
	return true;
}

static bool drop_sources(struct parsing *p)
{
	bool some = false;

	for (int i = 0; i < LINES_MOST; i++)
		some |= drop_source(&p->lines[i]);
	return some;
}

static bool add_debug(struct parsing *p, uint32_t number)
{
	struct file *f = &p->file[number];
	bool added;

	*p->reading = PARSE_FILES + number;
	added = elf_add(f->elf, &(struct elf_source){&f->debug, read_fd});
	*p->reading = number;
	return added;
}

static struct elf *elf_of(struct parsing *p, uint32_t number)
{
	struct file *f = number < PARSE_FILES ? &p->file[number] : NULL;

	*p->reading = f ? number : UINT32_MAX;
	if (!f || f->elf || f->fd < 0)
		return f ? f->elf : NULL;
	make_room(p);
	f->elf = elf_new(&(struct elf_source){&f->fd, read_fd});
	if (!f->elf && drop_sources(p)) /* lines take memory, and functions are more */
		f->elf = elf_new(&(struct elf_source){&f->fd, read_fd});
	if (f->elf && f->debug >= 0)
		add_debug(p, number);
	else if (f->elf && !elf_is_whole(f->elf))
		packed_add(f->elf);
	return f->elf;
}

static void take_debug(struct parsing *p, uint32_t number, int fd, struct parse_answer *a)
{
	struct file *f = &p->file[number];

	if (f->debug >= 0 || !elf_of(p, number)) {
		close(fd);
		return;
	}
	f->debug = fd;
	a->ok = add_debug(p, number);
	if (a->ok)
		return;
	close(fd);
	f->debug = -1;
}

static void take_file(struct parsing *p, uint32_t number, int fd, struct parse_answer *a)
{
	struct file *f = &p->file[number];
	struct elf *e;

	made_free(f->made); /* the number was another one's */
	f->made = NULL;
	f->fd = fd;
	f->no_lines = p->ask.n;
	e = elf_of(p, number);
	a->ok = e;
	if (!e)
		return;
	a->whole = elf_is_whole(e);
	strcpy(a->build, elf_build(e));
}

/* NULL: it has no lines. */
static const struct source *source_of(struct parsing *p, struct file *f)
{
	struct file **place = &p->lines[p->turn % LINES_MOST];

	if (f->source || f->no_lines)
		return f->source;
	if (f->debug >= 0)
		f->source = source_new(f->debug);
	if (!f->source)
		f->source = source_new(f->fd);
	f->no_lines = !f->source;
	if (f->no_lines)
		return NULL;
	drop_source(place);
	*place = f;
	p->turn++;
	return f->source;
}

static void add_line(struct parsing *p, uint32_t number, uint64_t address, char line[CALLS_LINE])
{
	const struct source *s;

	*p->reading = 2 * PARSE_FILES + number;
	s = source_of(p, &p->file[number]);
	if (!s || !source_line(s, address, line))
		line[0] = 0;
	*p->reading = number;
}

/* Reads what a file of functions that are made has that it had not before. Should that not be all,
 * another one may be where an old one was: none is known. */
static void take_map(struct parsing *p, int fd, struct parse_answer *a)
{
	struct file *f = &p->file[p->ask.file % PARSE_FILES];
	size_t bytes = 0;

	*p->reading = p->ask.file;
	if (p->ask.n) {
		made_free(f->made);
		f->made = NULL;
	}
	if (!f->made)
		f->made = made_new();
	for (int i = 0; i < PARSE_FILES; i++) /* without its own, which have a bound */
		bytes += p->file[i].made && i != f - p->file ? made_bytes(p->file[i].made) : 0;
	a->full = bytes >= KEPT_MOST;
	a->ok = f->made && !a->full && made_read(f->made, fd);
	if (!a->ok) {
		made_free(f->made);
		f->made = NULL;
	}
	close(fd);
}

/* ---- the process: callers ---- */

/* Adds a frame. All but the first are return addresses, which may be behind the end of the function
 * that called. Returns how it was called. */
static enum elf_frame add_frame(struct parsing *r, uint32_t number, uint64_t *leaf_at)
{
	const struct parse_place *p = &r->ask.place[number];
	unsigned back = number > 0;
	struct parse_frame *f = &r->answer.frame[r->answer.n++];
	struct elf *e = elf_of(r, p->file);
	const char *name;
	uint64_t address;

	*f = (struct parse_frame){.number = number};
	/* No table says how code that was just made keeps its frames. */
	if (p->file < PARSE_FILES && r->file[p->file].made) {
		name = made_name(r->file[p->file].made, p->offset - back);
		strncpy(f->name, name ? name : "", sizeof(f->name) - 1);
		return ELF_FRAME_UNKNOWN;
	}
	if (!e || p->offset < back || !elf_address(e, p->offset - back, &address))
		return ELF_FRAME_UNKNOWN;
	name = elf_name(e, address);
	source_name(name ? name : "", f->name);
	add_line(r, p->file, address, f->line);
	return elf_frame(e, address, leaf_at);
}

/* Adds the caller of the innermost function, which returns to what is `at` bytes from the stack
 * pointer. Returns how that was called, as far as its frame pointer is known. */
static enum elf_frame add_leaf(struct parsing *r, enum elf_frame leaf, uint64_t at)
{
	enum elf_frame how = ELF_FRAME_UNKNOWN;

	if (r->ask.leaf_at == at && r->ask.place[PARSE_LEAF].file < PARSE_FILES)
		how = add_frame(r, PARSE_LEAF, &at);
	return leaf == ELF_FRAME_LEAF ? how : ELF_FRAME_UNKNOWN;
}

/* The return addresses that frame pointers lead to are those of this thread's callers only as long
 * as each function keeps the frame pointer: its table says so. */
static void walk(struct parsing *r)
{
	const struct parse_ask *ask = &r->ask;
	struct parse_answer *a = &r->answer;
	uint32_t n = ask->n < USER_FRAMES ? ask->n : USER_FRAMES, i = 0;
	uint64_t at;
	enum elf_frame how = n ? add_frame(r, 0, &at) : ELF_FRAME_UNKNOWN;

	if (how == ELF_FRAME_LEAF || how == ELF_FRAME_RETURN)
		how = add_leaf(r, how, at);
	while (how == ELF_FRAME_POINTER && ++i < n && ask->place[i].file < PARSE_FILES)
		how = add_frame(r, i, &at);
	if (how != ELF_FRAME_LAST)
		a->frame[a->n++] = (struct parse_frame){.gap = true};
	a->ok = true;
}

_Static_assert(USER_FRAMES + 2 <= CALLS_MOST, "there is room for all frames, the leaf and a gap");

/* ---- the process ---- */

/* Messages, files, memory, the end. */
static const int calls[] = {
	SYS_recvmsg,
	SYS_sendto,
	SYS_pread64,
	SYS_close,
	SYS_exit_group,
	SYS_restart_syscall,
	SYS_write,
	SYS_writev, /* the last words */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_madvise,
	SYS_mprotect,
	SYS_sysinfo,
	SYS_lseek,
/* libdw tries these: the path of the file, and others that it names */
#ifdef SYS_readlink
	SYS_readlink | CONFINE_FAILS,
	SYS_open | CONFINE_FAILS,
#endif
	SYS_readlinkat | CONFINE_FAILS,
	SYS_openat | CONFINE_FAILS,
	SYS_newfstatat | CONFINE_FAILS,
	-1,
};

static void forbidden(int number)
{
	(void)number;
}

static ssize_t hear(int from, struct parse_ask *ask, int *fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} room;
	struct iovec io = {ask, sizeof(*ask)};
	struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
	struct cmsghdr *c;
	ssize_t n;

	m.msg_control = room.bytes;
	m.msg_controllen = sizeof(room.bytes);
	n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	*fd = -1;
	if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(fd, CMSG_DATA(c), sizeof(int));
	return n;
}

static void serve(int socket, struct parsing *p)
{
	int fd;

	for (int i = 0; i < PARSE_FILES; i++)
		p->file[i] = (struct file){.fd = -1, .debug = -1};
	if (send(socket, "", 1, MSG_NOSIGNAL) != 1)
		return;
	while (hear(socket, &p->ask, &fd) == sizeof(p->ask)) {
		memset(&p->answer, 0, sizeof(p->answer));
		if (p->ask.what == PARSE_WALK)
			walk(p);
		else if (fd >= 0 && p->ask.what == PARSE_DEBUG)
			take_debug(p, p->ask.file % PARSE_FILES, fd, &p->answer);
		else if (fd >= 0 && p->ask.what == PARSE_MAP)
			take_map(p, fd, &p->answer);
		else if (fd >= 0)
			take_file(p, p->ask.file % PARSE_FILES, fd, &p->answer);
		if (send(socket, &p->answer, sizeof(p->answer), MSG_NOSIGNAL) != sizeof(p->answer))
			return;
	}
}

/* The memory that the process has from the one before: what is measured decides how much. 0: that
 * is not known. */
static uint64_t memory_so_far(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t pages = 0;

	if (f && fscanf(f, "%" SCNu64, &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * sysconf(_SC_PAGESIZE);
}

void parser_process(int socket, volatile uint32_t *reading, pid_t parent)
{
	const uint64_t most = memory_so_far() + MEMORY_MOST;
	struct rlimit memory = {most, most}, none = {0, 0};
	struct parsing *p = calloc(1, sizeof(*p));

	/* The files of the process before stay open here: who serves one may let its closing hang.
	 */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(1);
#ifndef SANITIZED
	setrlimit(RLIMIT_AS, &memory);
#endif
	setrlimit(RLIMIT_CORE, &none);
	source_load();
	packed_load();
	(void)memory;
	confine_rights(0);
	confine_calls(calls, forbidden);
	if (p) {
		p->reading = reading;
		serve(socket, p);
	}
	_exit(!p);
}
