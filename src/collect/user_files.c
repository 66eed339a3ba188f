/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/hash.h"
#include "collect/user_map.h"
#include "collect/user_open.h"
#include "collect/user_process.h"
#include "collect/user_table.h"

struct user_files *user_files_new(const char *debug, void (*lost)(void *ctx, const char *why),
				  void *ctx, int apart)
{
	struct user_files *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return NULL;
	f->debug = debug;
	f->lost = lost;
	f->ctx = ctx;
	f->parser.apart = apart;
	err = parser_start(&f->parser);
	if (!err)
		return f;
	free(f);
	errno = -err;
	return NULL;
}

void user_files_free(struct user_files *f)
{
	if (!f)
		return;
	parser_stop(&f->parser);
	free(f);
}

const struct user_file *user_files_at(const struct user_files *f, uint32_t number)
{
	return number < f->files ? &f->file[number].known : NULL;
}

/* ---- numbers ---- */

void user_say_once(const struct user_files *f, bool *said, const char *what)
{
	if (!*said)
		f->lost(f->ctx, what);
	*said = true;
}

static struct known_file *find_free(struct user_files *f)
{
	if (f->files < PARSE_FILES)
		return &f->file[f->files++];
	for (uint32_t i = 0; i < PARSE_FILES; i++)
		if (f->file[i].free)
			return &f->file[i];
	return NULL;
}

/* One in this place, of which all but that is to be filled in; NULL: there are too many. */
static struct known_file *new_file(struct user_files *f, const struct place *p)
{
	struct known_file *n = NULL;
	uint32_t own = 0;
	char what[64];

	for (uint32_t i = 0; i < f->files; i++)
		own += !f->file[i].free && f->file[i].place.uid == p->uid;
	if (own < FILES_OF_USER)
		n = find_free(f);
	if (n) {
		*n = (struct known_file){.place = *p, .known.map = p->map, .fd = -1};
		return n;
	}
	f->full = true;
	snprintf(what, sizeof(what), "some files of user %u: there are too many", p->uid);
	if (own < FILES_OF_USER)
		user_say_once(f, &f->full_said, "some files: there are too many");
	else
		user_say_once(f, &f->share_said, what);
	return NULL;
}

void user_files_rest(struct user_files *f)
{
	for (uint32_t i = 0; f->full && i < f->files; i++) {
		struct known_file *n = &f->file[i];

		if (!n->known.map || n->free || process_field(n->tgid, 28) == n->start_stack)
			continue;
		n->free = true;
		user_close_known(f, n);
	}
	f->full = false;
}

/* ---- slow places ---- */

dev_t user_device(const char *inside)
{
	unsigned major, minor;

	return sscanf(inside, "%x:%x", &major, &minor) == 2 ? makedev(major, minor) : 0;
}

static bool is_slow(const struct user_files *f, const struct place *p)
{
	for (unsigned i = 0; p->device && i < f->slows; i++) {
		const struct place *s = &f->slow[i];

		if (s->device == p->device && (!s->map || (p->map && s->uid == p->uid)))
			return true;
	}
	return false;
}

bool user_may_ask(const struct user_files *f, const struct place *p)
{
	unsigned own = 0, maps = 0;

	for (unsigned i = 0; i < f->slows; i++) {
		const struct place *s = &f->slow[i];

		own += s->uid == p->uid && (p->uid || !s->device);
		maps += s->map;
	}
	return !is_slow(f, p) && f->slows < SLOW_MOST && (!p->map || maps < SLOW_MAPS) &&
	       (own < SLOW_OF_USER || (!p->uid && p->device));
}

void user_tell_slow(struct user_files *f, const struct place *p, const char *name, const char *why)
{
	char text[CALLS_FILE + 160], others[64] = "";

	if (!user_may_ask(f, p))
		return;
	f->slow[f->slows++] = *p;
	if (p->map && p->device)
		snprintf(others, sizeof(others), ", nor of further such files of user %u there",
			 p->uid);
	else if (p->device)
		snprintf(others, sizeof(others), ", nor of further ones there");
	snprintf(text, sizeof(text), "%.*s%s: %s", CALLS_FILE + 32, name, others, why);
	f->lost(f->ctx, text);
}

#define NOT_OPENED "it could not be opened in time"
#define NOT_CLOSED "it could not be closed in time"

void user_close_known(struct user_files *f, struct known_file *n)
{
	if (n->fd >= 0 && user_may_ask(f, &n->place) && !user_close(n->fd))
		user_tell_slow(f, &n->place, n->known.name, NOT_CLOSED);
	n->fd = -1;
}

/* ---- which file ---- */

/* Opens the file of a mapping, also one that was deleted or lies in a container. -1: it cannot
 * be. */
static int open_mapped(struct user_files *f, const struct recent *m, const struct place *p,
		       const char *name, struct stat *st)
{
	char path[96];
	int fd;

	if (!user_may_ask(f, p))
		return -1;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", m->tgid,
		 (unsigned long long)m->begin, (unsigned long long)m->end);
	fd = user_open(NULL, path, NULL, st);
	if (fd == -ETIME)
		user_tell_slow(f, p, name, NOT_OPENED);
	return fd < 0 ? -1 : fd;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* PARSE_FILES: there is none. */
static uint32_t known_file(const struct user_files *f, const struct stat *st)
{
	for (uint32_t i = 0; i < f->files; i++) {
		const struct known_file *n = &f->file[i];

		if (!n->known.map && n->dev == st->st_dev && n->ino == st->st_ino &&
		    same_time(&n->changed, &st->st_mtim))
			return i;
	}
	return PARSE_FILES;
}

static uint32_t number_of(struct user_files *f, const struct recent *m, const struct place *p,
			  const char *name)
{
	struct known_file *n = NULL;
	size_t len = strlen(name);
	uint32_t number;
	struct stat st;
	int fd = open_mapped(f, m, p, name, &st);

	if (fd < 0)
		return PARSE_FILES;
	number = known_file(f, &st);
	if (number == PARSE_FILES)
		n = new_file(f, p);
	if (!n) {
		if (!user_close(fd))
			user_tell_slow(f, p, name, NOT_CLOSED);
		return number;
	}
	n->dev = st.st_dev;
	n->ino = st.st_ino;
	n->changed = st.st_mtim;
	n->fd = fd;
	snprintf(n->known.name, sizeof(n->known.name), "%s",
		 len < sizeof(n->known.name) ? name : name + len - sizeof(n->known.name) + 1);
	return n - f->file;
}

uint32_t user_files_number(struct user_files *f, const struct user_stack *u, uint64_t begin,
			   uint64_t end, const char *inside, const char *name)
{
	struct recent m = {u->start_stack, begin, end, 0, u->tgid, PARSE_FILES}, *known;
	const struct place p = {user_device(inside), u->uid, false};

	m.inside = hash_bytes(HASH_BEGIN, inside, strlen(inside));
	known = &f->recent[((m.inside ^ m.start_stack ^ begin ^ u->tgid) * 0x9e3779b97f4a7c15ULL >>
			    32) %
			   RECENT];
	if (known->tgid == m.tgid && known->start_stack == m.start_stack && known->begin == begin &&
	    known->end == end && known->inside == m.inside) {
		m.number = known->number;
	} else {
		m.number = number_of(f, &m, &p, name);
		if (m.number < PARSE_FILES || !f->full) /* later there may be room */
			*known = m;
	}
	/* A file of many users is not lost to them with the share of the first one. */
	if (m.number < PARSE_FILES && !f->file[m.number].sent && user_may_ask(f, &p))
		f->file[m.number].place = p;
	return m.number;
}

/* ---- maps ---- */

static struct known_file *map_of(struct user_files *f, const struct user_stack *u)
{
	for (uint32_t i = 0; i < f->files; i++)
		if (f->file[i].known.map && !f->file[i].free && f->file[i].tgid == u->tgid &&
		    f->file[i].start_stack == u->start_stack)
			return &f->file[i];
	return NULL;
}

static struct known_file *new_map(struct user_files *f, const struct user_stack *u,
				  const struct place *p)
{
	struct known_file *n = new_file(f, p);

	if (!n)
		return NULL;
	n->anew = true;
	n->tgid = u->tgid;
	n->start_stack = u->start_stack;
	return n;
}

/* For the user whose map is looked for. */
struct seeker {
	const struct user_files *f;
	uint32_t uid;
};

static bool shun(const void *ctx, dev_t device)
{
	const struct seeker *s = ctx;

	return !user_may_ask(s->f, &(struct place){device, s->uid, true});
}

/* Has it never opened again. n: NULL: it has no number. */
static uint32_t late_map(struct user_files *f, struct known_file *n, const struct user_stack *u,
			 dev_t device, const char *name, const char *why)
{
	char which[CALLS_FILE + 32];

	snprintf(which, sizeof(which), "%s of process %u", name, u->tgid);
	user_tell_slow(f, &(struct place){device, u->uid, true}, which, why);
	if (n)
		n->bad = true;
	return PARSE_FILES;
}

uint32_t user_files_map(struct user_files *f, const struct user_stack *u,
			const struct user_dump *dump)
{
	struct seeker seeker = {f, u->uid};
	struct user_devices devices = {shun, &seeker, 0};
	char name[sizeof(f->file->known.name)];
	struct known_file *n = map_of(f, u);
	struct place place;
	struct stat st;
	int fd;

	if ((n && n->bad) || shun(&seeker, 0))
		return PARSE_FILES;
	fd = user_map_open(u, dump, &devices, name, sizeof(name), &st);
	place = (struct place){devices.at, u->uid, true};
	if (!n && (fd >= 0 || fd == -ETIME))
		n = new_map(f, u, &place);
	if (fd == -ETIME)
		return late_map(f, n, u, devices.at, name, NOT_OPENED);
	if (fd >= 0 && !n && !user_close(fd))
		return late_map(f, n, u, devices.at, name, NOT_CLOSED);
	if (fd < 0 || !n)
		return PARSE_FILES;
	user_close_known(f, n);
	n->anew |= n->dev != st.st_dev || n->ino != st.st_ino || st.st_size < n->size ||
		   (st.st_size == n->size && !same_time(&n->changed, &st.st_mtim));
	n->sent &= !n->anew && st.st_size == n->size && !n->full;
	n->fd = fd;
	n->place = place;
	n->dev = st.st_dev;
	n->ino = st.st_ino;
	n->changed = st.st_mtim;
	n->size = st.st_size;
	strcpy(n->known.name, name);
	return n - f->file;
}
