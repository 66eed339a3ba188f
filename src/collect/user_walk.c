/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The asking half of user_files.h: the process that reads, and what becomes of a file at which it
 * ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/user_open.h"
#include "collect/user_table.h"

#define DEBUG_FILES "/usr/lib/debug"
#define STARTS_MOST 8 /* should the process that reads files end, and no file be the reason */

/* p: no more of this place is read; NULL: only this is not. */
static void tell_lost(struct user_files *f, const struct place *p, const char *of, const char *name,
		      int err)
{
	const char *what = err == -ETIME   ? "reading it takes more than two seconds"
			   : err == -EBUSY ? "reading it takes too long"
					   : "reading it ended the process that did";
	char which[CALLS_FILE + 32], why[CALLS_FILE + 96];

	snprintf(which, sizeof(which), "%s%s", of, name);
	snprintf(why, sizeof(why), "%s: %s", which, what);
	if (p && user_may_ask(f, p))
		user_tell_slow(f, p, which, what);
	else
		f->lost(f->ctx, why);
}

/* The process itself says at which file it was: one that was led astray can take no more than
 * names. If it cannot be ended there, nothing more of that place is asked for. False: it was at
 * none. */
static bool blame(struct user_files *f, int err)
{
	uint32_t at = parser_reading(&f->parser);
	struct known_file *n = &f->file[at % PARSE_FILES];
	const struct place *slow = f->parser.stuck ? &n->place : NULL;

	if (at % PARSE_FILES >= f->files || at / PARSE_FILES > 2)
		return false;
	if (at / PARSE_FILES == 2 && !n->lines_bad) {
		tell_lost(f, slow, "the lines of ", n->known.name, err);
		return n->lines_bad = true;
	}
	if (at < PARSE_FILES && !n->bad) {
		tell_lost(f, slow, "", n->known.name, err);
		n->bad = true;
		user_close_known(f, n);
		return true;
	}
	if (n->bad || n->debug_bad)
		return false;
	tell_lost(f, NULL, "the debug information of ", n->known.name, err);
	f->debug_slow |= f->parser.stuck;
	return n->debug_bad = true;
}

/* False: there is no answer. A process that begins has no files. */
static bool ask_parser(struct user_files *f, const struct parse_ask *ask, int fd,
		       struct parse_answer *a)
{
	int err = f->parser.pid ? parser_ask(&f->parser, ask, fd, a) : -ESRCH;
	bool lines = err == -EBUSY && parser_reading(&f->parser) / PARSE_FILES == 2;

	if (!err || err == -ESRCH)
		return !err;
	for (uint32_t i = 0; i < f->files; i++)
		f->file[i].sent = false;
	if (err == -EBUSY && !lines)
		user_say_once(f, &f->busy_said,
			      "some stacks: reading their files took ten seconds");
	/* Lines come last: functions go on without those of the file that was being looked at. One
	 * that does not end for another reason is one too many, too. */
	if (((err != -EBUSY || lines) && blame(f, err) && f->parser.stuck == f->parser.left) ||
	    f->starts++ < STARTS_MOST)
		parser_start(&f->parser);
	if (!f->parser.pid)
		user_say_once(f, &f->ended_said,
			      "further stacks: the process that reads files ends time and again");
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
	const struct known_file *n = &f->file[number];
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

/* Said once of a file; it is tried again whenever it is looked at. */
static void tell_full(struct user_files *f, struct known_file *n)
{
	char why[CALLS_FILE + 96];

	snprintf(why, sizeof(why), "%s of process %u at times: there is no room beside the others",
		 n->known.name, n->tgid);
	user_say_once(f, &n->full_said, why);
}

/* One that cannot be read is not tried again. */
static void give_up(struct user_files *f, struct known_file *n)
{
	char why[CALLS_FILE + 96];

	n->bad = true;
	if (n->known.map)
		snprintf(why, sizeof(why), "%s of process %u: it is too large, or broken",
			 n->known.name, n->tgid);
	else
		snprintf(why, sizeof(why), "%s: it is no 64-bit program, or too large",
			 n->known.name);
	f->lost(f->ctx, why);
}

static void send_map(struct user_files *f, struct known_file *n, uint32_t number)
{
	struct parse_ask ask = {.what = PARSE_MAP, .file = number, .n = n->anew};
	struct parse_answer a;

	n->anew = n->full = false;
	if (!ask_parser(f, &ask, n->fd, &a) || a.ok)
		return;
	n->full = a.full;
	if (n->full)
		tell_full(f, n);
	else
		give_up(f, n);
}

static void send_file(struct user_files *f, uint32_t number)
{
	struct parse_ask ask = {.what = PARSE_FILE, .file = number};
	struct known_file *n = &f->file[number];
	struct parse_answer a;

	if (number >= f->files || n->sent || n->bad)
		return;
	n->bad = !user_may_ask(f, &n->place);
	if (n->bad)
		return;
	n->sent = true;
	ask.n = n->lines_bad;
	if (n->known.map) {
		send_map(f, n, number);
		return;
	}
	if (!ask_parser(f, &ask, n->fd, &a))
		return;
	if (!a.ok)
		give_up(f, n);
	if (n->bad || !is_build(a.build))
		return;
	memcpy(n->known.build, a.build, sizeof(n->known.build));
	if (!a.whole && !n->debug_bad && !f->debug_slow &&
	    !(f->debug && send_debug(f, number, f->debug)))
		send_debug(f, number, DEBUG_FILES);
}

/* True: the process has all files, as far as they can be read. */
static bool send_files(struct user_files *f, const struct parse_ask *ask)
{
	const uint32_t places = sizeof(ask->place) / sizeof(*ask->place);
	bool all = true;

	for (uint32_t i = 0; i < places; i++)
		send_file(f, ask->place[i].file);
	for (uint32_t i = 0; i < places; i++) {
		uint32_t number = ask->place[i].file;
		const struct known_file *n = &f->file[number % PARSE_FILES];

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
