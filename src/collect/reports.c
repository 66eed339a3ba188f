#include "collect/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/host.h"

struct reports {
	int32_t pid;
	int fd;           /* -1: it makes none */
	uint64_t fetched; /* how many of them have been read */
	struct culprit_report pending[CULPRIT_REPORTS];
	uint32_t npending, taken; /* the first `taken` of these are the model's */
	uint64_t lost;
	int64_t shift; /* of the program's clock, which may be in a time namespace */
};

struct reports *reports_new(int32_t pid)
{
	struct reports *p = calloc(1, sizeof(*p));
	char name[16];

	if (!p)
		return NULL;
	p->pid = pid;
	p->fd = -1;
	snprintf(name, sizeof(name), "%d", (int)pid);
	p->shift = pid ? host_clock_shift(name) : 0; /* another user's is not always shown */
	return p;
}

/* Removes what a killed process has left behind. */
static void remove_file(const struct reports *p)
{
	char path[64];

	if (p->fd < 0 || !kill(p->pid, 0) || errno != ESRCH)
		return;
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)p->pid);
	unlink(path);
}

void reports_free(struct reports *p)
{
	if (!p)
		return;
	remove_file(p);
	if (p->fd >= 0)
		close(p->fd);
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
	char path[64], line[256];
	unsigned uid[4];
	bool own = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)p->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Uid: %u %u %u %u", &uid[0], &uid[1], &uid[2], &uid[3]) == 4)
			own = st->st_uid == uid[3];
	if (f)
		fclose(f);
	return own && S_ISREG(st->st_mode) && !(st->st_mode & 0077);
}

void reports_open(struct reports *p)
{
	char path[64];
	struct stat st;
	uint64_t magic;

	if (p->fd >= 0 || !p->pid)
		return;
	snprintf(path, sizeof(path), CULPRIT_REPORTS_PATH, (int)p->pid);
	p->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (p->fd < 0)
		return;
	if (!fstat(p->fd, &st) && is_its_own(p, &st) &&
	    read_reports(p, &magic, sizeof(magic), offsetof(struct culprit_reports, magic)) &&
	    magic == CULPRIT_REPORTS_MAGIC &&
	    read_reports(p, &p->fetched, sizeof(p->fetched),
			 offsetof(struct culprit_reports, head)))
		return; /* earlier ones do not belong to this window */
	close(p->fd);
	p->fd = -1;
}

/* The report with this place: 0 and *r; 1: it has been overwritten; -1: it is being written. */
static int read_report(const struct reports *p, uint64_t place, struct culprit_report *r)
{
	size_t at = offsetof(struct culprit_reports, report) + place % CULPRIT_REPORTS * sizeof(*r);
	uint64_t again;

	if (!read_reports(p, r, sizeof(*r), at) ||
	    !read_reports(p, &again, sizeof(again), at + offsetof(struct culprit_report, place)))
		return 1;
	if (r->place == place + 1 && again == r->place)
		return 0;
	return r->place < place + 1 ? -1 : 1;
}

void reports_fetch(struct reports *p)
{
	uint64_t head;

	if (p->fd < 0 ||
	    !read_reports(p, &head, sizeof(head), offsetof(struct culprit_reports, head)))
		return;
	if (head > p->fetched + CULPRIT_REPORTS) {
		p->lost += head - CULPRIT_REPORTS - p->fetched;
		p->fetched = head - CULPRIT_REPORTS;
	}
	memmove(p->pending, p->pending + p->taken, (p->npending - p->taken) * sizeof(*p->pending));
	p->npending -= p->taken;
	p->taken = 0;
	for (; p->fetched < head && p->npending < CULPRIT_REPORTS; p->fetched++) {
		int err = read_report(p, p->fetched, &p->pending[p->npending]);

		if (err < 0)
			return;
		p->npending += !err;
		p->lost += err;
	}
}

bool reports_next(struct reports *p, uint64_t ns, struct culprit_report *r)
{
	if (p->taken == p->npending || p->pending[p->taken].end_ns - p->shift > ns)
		return false;
	*r = p->pending[p->taken++];
	r->start_ns -= p->shift;
	r->end_ns -= p->shift;
	return true;
}

uint64_t reports_lost(const struct reports *p)
{
	return p->lost;
}
