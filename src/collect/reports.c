/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/host.h"

struct reports {
	int32_t pid;
	/* descriptors of /proc/PID/status and task, which hidepid may hide later; -1: none */
	int status, task;
	uint64_t started; /* start of the process, ticks; 0: not known */
	int fd;           /* -1: it makes none */
	uint64_t fetched; /* number of reports read */
	uint64_t seen_ns; /* no later than when their number was last read */
	struct culprit_report pending[CULPRIT_REPORTS];
	uint32_t npending, taken; /* the first `taken` of these are the model's */
	bool looked, begun;       /* for the file; the window */
	uint64_t begin_ns;        /* start of the window */
	bool over;                /* true: what is not read by now never is */
	uint64_t ends;            /* number of reports made when the window ended */
	uint64_t lost;
	uint64_t strangers, misdated, early; /* left out */
	uint64_t forged;     /* times that more were said to have been made than can be */
	uint64_t work;       /* with those since the last fetch */
	int64_t start_shift; /* ns, of the clock that says when it started */
	int64_t shift;       /* shift of the program's clock, which may be in a time namespace */
};

/* When the process started; 0: not known, as culprit_start_ticks says. */
static uint64_t started(int32_t pid)
{
	char path[64], line[1024] = "", *at;
	unsigned long long ticks = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "re");
	if (f) {
		line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
		fclose(f);
	}
	at = strrchr(line, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %llu", &ticks) == 1 ? ticks : 0;
}

/* Removes what a killed process has left behind. */
static void remove_file(const struct reports *p)
{
	uint64_t lent;
	char path[64];

	if (p->fd < 0 || !kill(p->pid, 0) || errno != ESRCH)
		return;
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)p->pid);
	lent = confine_raise(RIGHT_FOWNER);
	unlink(path);
	confine_lower(lent);
}

void reports_free(struct reports *p)
{
	if (!p)
		return;
	remove_file(p);
	if (p->fd >= 0)
		close(p->fd);
	if (p->status >= 0)
		close(p->status);
	if (p->task >= 0)
		close(p->task);
	free(p);
}

/* Reads the reports instead of mapping them: a program that truncates its file must not be able to
 * end us. */
static bool read_reports(const struct reports *p, void *to, size_t len, size_t from)
{
	return pread(p->fd, to, len, from) == (ssize_t)len;
}

/* True when the process itself has made the file, and nobody else writes to it: anybody can make
 * one of that name. A process makes files in the name of its fsuid. */
static bool is_its_own(const struct reports *p, const struct stat *st)
{
	char text[4096], *line;
	unsigned uid[4];
	ssize_t n = p->status < 0 ? 0 : pread(p->status, text, sizeof(text) - 1, 0);
	bool own;

	text[n > 0 ? n : 0] = '\0';
	line = strstr(text, "\nUid:");
	own = line && sscanf(line, "\nUid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4 &&
	      st->st_uid == uid[3];
	return own && S_ISREG(st->st_mode) && !(st->st_mode & 0077);
}

/* True when the file holds the reports of this process, and not of one that had its number, or of
 * another that it inherited them from. */
static bool is_of_process(const struct reports *p)
{
	uint64_t from =
		p->started + p->start_shift / (int64_t)(NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
	uint64_t slack = p->start_shift != 0; /* a tick, because both are rounded then */
	struct culprit_reports head;

	return read_reports(p, &head, offsetof(struct culprit_reports, report), 0) &&
	       head.magic == CULPRIT_REPORTS_MAGIC && head.pid == (uint32_t)p->pid &&
	       head.start_ticks && head.start_ticks + slack >= from &&
	       head.start_ticks <= from + slack;
}

/* Opens the file where it is there. One that was not there at an earlier look has been made since
 * then, and so have all reports in it. */
static void look(struct reports *p)
{
	uint64_t lent, made, before = now_ns();
	char path[64];
	struct stat st;

	if (p->fd >= 0 || !p->pid)
		return;
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)p->pid);
	lent = confine_raise(RIGHT_DAC_READ_SEARCH);
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	confine_lower(lent);
	if (p->fd >= 0 &&
	    (fstat(p->fd, &st) || !is_its_own(p, &st) || !is_of_process(p) ||
	     !read_reports(p, &made, sizeof(made), offsetof(struct culprit_reports, head)))) {
		close(p->fd);
		p->fd = -1;
	}
	if (p->fd >= 0 && !p->looked)
		p->fetched = made;
	if (p->fd < 0 || !p->looked)
		p->seen_ns = before;
	p->looked = true;
}

struct reports *reports_new(int32_t pid)
{
	struct reports *p = calloc(1, sizeof(*p));
	char name[16], path[64];

	if (!p)
		return NULL;
	p->pid = pid;
	p->fd = p->status = p->task = -1;
	p->ends = UINT64_MAX;
	snprintf(name, sizeof(name), "%d", (int)pid);
	if (pid) { /* another user's are not always shown later */
		p->shift = host_clock_shift(name, "monotonic");
		p->start_shift = host_clock_shift(name, "boottime");
		p->started = started(pid);
		snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
		p->status = open(path, O_RDONLY | O_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		p->task = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	look(p);
	return p;
}

void reports_open(struct reports *p, uint64_t begin_ns)
{
	uint64_t head;

	look(p);
	/* Reports overwritten between the first look and the window are lost to nobody. */
	if (!p->begun && p->fd >= 0 &&
	    read_reports(p, &head, sizeof(head), offsetof(struct culprit_reports, head)) &&
	    head > p->fetched && head - p->fetched > CULPRIT_REPORTS)
		p->fetched = head - CULPRIT_REPORTS;
	p->begun = true;
	p->begin_ns = begin_ns;
}

/* The place that stands in a report now. A read is no barrier: what the caller reads before this
 * and after it is ordered by the fences. */
static bool read_place(const struct reports *p, size_t at, uint64_t *place)
{
	bool good;

	atomic_thread_fence(memory_order_acquire);
	good = read_reports(p, place, sizeof(*place), at + offsetof(struct culprit_report, place));
	atomic_thread_fence(memory_order_acquire);
	return good;
}

/* The report with this place: 0 and *r; 1: it has been overwritten; -1: it is being written. */
static int read_report(const struct reports *p, uint64_t place, struct culprit_report *r)
{
	size_t at = offsetof(struct culprit_reports, report) + place % CULPRIT_REPORTS * sizeof(*r);
	uint64_t before, after;

	if (!read_place(p, at, &before) || !read_reports(p, r, sizeof(*r), at) ||
	    !read_place(p, at, &after))
		return 1;
	if (before == place + 1 && after == before)
		return 0;
	return before < place + 1 ? -1 : 1;
}

/* Counts those that are not read up to this place. One that was made after the window counts as
 * none: it may have begun after it, too. */
static void lose(struct reports *p, uint64_t place)
{
	uint64_t in = place < p->ends ? place : p->ends;

	p->lost += in > p->fetched ? in - p->fetched : 0;
}

/* Keeps the report that was read, behind those that are pending, or counts why not. It had been
 * made by `now`: one that ends later would have all others wait behind it. */
static void keep(struct reports *p, uint64_t now)
{
	struct culprit_report *r = &p->pending[p->npending];

	r->start_ns -= p->shift;
	r->end_ns -= p->shift;
	if (r->end_ns <= r->start_ns || r->end_ns > now)
		p->misdated++;
	else if (r->start_ns >= p->begin_ns)
		p->npending++;
	else if (r->end_ns > p->begin_ns)
		p->early++;
}

/* Passes over those that were overwritten. The program says how many it has made, and may say
 * anything. None makes one a nanosecond: all its threads add to one number. */
static void skip(struct reports *p, uint64_t head, uint64_t since_ns)
{
	uint64_t more = head - p->fetched - CULPRIT_REPORTS;

	if (more <= since_ns)
		lose(p, head - CULPRIT_REPORTS);
	else
		p->forged++;
	p->fetched = head - CULPRIT_REPORTS;
}

void reports_fetch(struct reports *p)
{
	uint64_t head, now, began = now_ns();

	p->work = 0;
	if (p->fd < 0 ||
	    !read_reports(p, &head, sizeof(head), offsetof(struct culprit_reports, head)))
		return;
	now = now_ns(); /* those below head have been made */
	if (head > p->fetched && head - p->fetched > CULPRIT_REPORTS)
		skip(p, head, now - p->seen_ns);
	p->seen_ns = began;
	memmove(p->pending, p->pending + p->taken, (p->npending - p->taken) * sizeof(*p->pending));
	p->npending -= p->taken;
	p->taken = 0;
	for (; p->fetched < head && p->npending < CULPRIT_REPORTS; p->fetched++) {
		int err = read_report(p, p->fetched, &p->pending[p->npending]);

		if (err < 0 && !p->over)
			return;
		if (err)
			lose(p, p->fetched + 1);
		else
			keep(p, now);
	}
}

static bool is_due(const struct reports *p, uint64_t ns)
{
	return p->taken < p->npending && p->pending[p->taken].end_ns <= ns;
}

bool reports_next(struct reports *p, uint64_t ns, struct culprit_report *r)
{
	if (p->work >= REPORTS_WORK || !is_due(p, ns))
		return false;
	p->work += REPORTS_EACH;
	*r = p->pending[p->taken++];
	return true;
}

void reports_spend(struct reports *p, uint64_t work)
{
	p->work += work;
}

static void tell_left_out(const struct reports *p, uint64_t n, const char *which)
{
	if (n)
		say("left out of the reports of process %d: %llu %s", p->pid, (unsigned long long)n,
		    which);
}

/* Counts those that are left; later ones belong to no window. */
static void lose_pending(struct reports *p, uint64_t ns)
{
	for (; p->taken < p->npending; p->taken++)
		p->lost += p->pending[p->taken].end_ns <= ns;
}

void reports_stop(struct reports *p)
{
	p->ends = 0;
	if (p->fd >= 0)
		read_reports(p, &p->ends, sizeof(p->ends), offsetof(struct culprit_reports, head));
}

void reports_end(struct reports *p, uint64_t ns)
{
	p->over = true;
	lose_pending(p, ns);
	reports_fetch(p);
	lose_pending(p, ns);
	tell_left_out(p, p->strangers,
		      "about threads that are not its own, or have ended: a thread can report for "
		      "itself alone");
	tell_left_out(p, p->misdated,
		      "that end no later than they begin, or after they were made: times have to "
		      "be of CLOCK_MONOTONIC, the begin first");
	tell_left_out(p, p->early, "that begin before the window");
	if (p->forged)
		say("process %d said %llu time%s that it had made more reports than it can have: "
		    "how many of them were lost is not known",
		    p->pid, (unsigned long long)p->forged, plural(p->forged));
}

/* Whoever can store a report can store any number in it. */
bool reports_believe(struct reports *p, const struct culprit_report *r, uint32_t process)
{
	char name[16];
	struct stat st;
	bool own = process == (uint32_t)p->pid;

	if (!process && p->task >= 0) {
		snprintf(name, sizeof(name), "%u", r->tid);
		own = !fstatat(p->task, name, &st, AT_SYMLINK_NOFOLLOW);
	}
	p->strangers += !own;
	return own;
}

uint64_t reports_strange(const struct reports *p)
{
	return p->strangers + p->misdated + p->early;
}

uint64_t reports_lost(const struct reports *p)
{
	return p->lost;
}
