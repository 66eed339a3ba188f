/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise from a perf event and from a device. */
#include "poke.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define PAGE        4096
#define RING_PAGES  16
#define MAX_IRQS    2048
#define TRIES       16
#define DISK_BLOCKS 4

struct irq_line {
	int irq;
	uint64_t total, on_target;
	char name[40];
};

struct irq_source {
	void *buf; /* for a disk; NULL: a serial port */
	unsigned int block;
	int irq;
	char affinity[256]; /* as it was; "": untouched */
};

static int perf_open(struct poke *p, bool wake)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = p->conf->period_ns,
		.sample_type = PERF_SAMPLE_TIME,
		.disabled = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = !wake,
	};

	if (wake)
		attr.wakeup_events = 1;
	else
		attr.wakeup_watermark = RING_PAGES * PAGE - 1;
	p->fd = (int)syscall(SYS_perf_event_open, &attr, -1, p->conf->cpu, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (p->fd < 0)
		return cannot(p, "perf_event_open on CPU %d: %s", p->conf->cpu, strerror(errno));
	p->priv = mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, 0);
	if (p->priv != MAP_FAILED)
		return 0;
	p->priv = NULL;
	return cannot(p, "the perf ring: %s", strerror(errno));
}

int perf_prepare(struct poke *p)
{
	return perf_open(p, false);
}

int irqwork_prepare(struct poke *p)
{
	return perf_open(p, true);
}

static void read_samples(struct poke *p, struct poke_event *ev)
{
	struct perf_event_mmap_page *page = p->priv;
	const char *ring = (const char *)p->priv + PAGE;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
	uint64_t samples = 0, first = 0, last = 0;

	while (at < head) {
		/* Records are multiples of 8 bytes, and so is the ring: neither word is ever split.
		 */
		const struct perf_event_header *h = (const void *)(ring + at % (RING_PAGES * PAGE));

		if (h->type == PERF_RECORD_SAMPLE) {
			last = *(const uint64_t *)(ring + (at + sizeof(*h)) % (RING_PAGES * PAGE));
			first = first ? first : last;
			samples++;
		}
		at += h->size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
	extra(ev, "samples", samples);
	extra(ev, "first_sample_ns", first);
	extra(ev, "last_sample_ns", last);
}

int perf_poke(struct poke *p, struct poke_event *ev)
{
	uint64_t on;

	ev->start_ns = now_ns();
	if (ioctl(p->fd, PERF_EVENT_IOC_ENABLE, 0))
		return cannot(p, "PERF_EVENT_IOC_ENABLE: %s", strerror(errno));
	on = now_ns();
	extra(ev, "on_ns", on);
	sleep_until(on + p->conf->length_ns);
	extra(ev, "off_ns", now_ns());
	ioctl(p->fd, PERF_EVENT_IOC_DISABLE, 0);
	ev->end_ns = now_ns();
	read_samples(p, ev);
	return 0;
}

void perf_finish(struct poke *p)
{
	if (p->priv)
		munmap(p->priv, (1 + RING_PAGES) * PAGE);
	fd_finish(p);
}

/* Reads the numbered rows of /proc/interrupts; returns how many. */
static int read_irqs(struct irq_line *lines, int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	int column = -1, columns = 0, nr = 0;
	char *text = NULL, *at;
	size_t size = 0;

	if (!f)
		return 0;
	if (getline(&text, &size, f) > 0) {
		for (at = text; (at = strstr(at, "CPU")); columns++) {
			at += 3;
			if (atoi(at) == cpu)
				column = columns;
		}
	}
	while (nr < MAX_IRQS && getline(&text, &size, f) > 0) {
		struct irq_line *line = &lines[nr];

		line->irq = (int)strtol(text, &at, 10);
		if (at == text || *at++ != ':')
			continue;
		line->total = line->on_target = 0;
		for (int i = 0; i < columns; i++) {
			uint64_t count = strtoull(at, &at, 10);

			line->total += count;
			if (i == column)
				line->on_target = count;
		}
		at[strcspn(at, "\n")] = '\0';
		at = strrchr(at, ' ');
		snprintf(line->name, sizeof(line->name), "%s", at ? at + 1 : "");
		nr++;
	}
	free(text);
	fclose(f);
	return nr;
}

static int raise_irq(struct poke *p)
{
	struct irq_source *src = p->priv;

	if (src->buf)
		return pread(p->fd, src->buf, PAGE, (off_t)(src->block++ % DISK_BLOCKS) * PAGE) ==
				       PAGE
			       ? 0
			       : -1;
	return write(p->fd, "\r", 1) == 1 && !tcdrain(p->fd) ? 0 : -1;
}

static int raise_many(struct poke *p)
{
	for (int i = 0; i < TRIES; i++)
		if (poke_stop || raise_irq(p))
			return -1;
	return 0;
}

static void affinity_path(char *path, size_t len, int irq)
{
	snprintf(path, len, "/proc/irq/%d/smp_affinity_list", irq);
}

/* Tests whether raising moves this row, once its affinity is the target: by count, because the
 * kernel may apply a new affinity only at the next interrupt, and a managed IRQ that cannot be
 * moved may be on the target already. */
static bool try_line(struct poke *p, const struct irq_line *before, struct irq_line *after)
{
	struct irq_source *src = p->priv;
	char path[64], target[16];
	int nr, i;

	affinity_path(path, sizeof(path), before->irq);
	if (read_line(path, src->affinity, sizeof(src->affinity)))
		src->affinity[0] = '\0';
	snprintf(target, sizeof(target), "%d", p->conf->cpu);
	src->irq = before->irq;
	if (src->affinity[0] && write_text(path, target))
		src->affinity[0] = '\0';
	for (int round = 0; round < 2; round++) {
		uint64_t was = 0;

		nr = read_irqs(after, p->conf->cpu);
		for (i = 0; i < nr && after[i].irq != src->irq; i++)
			;
		if (i == nr)
			break;
		was = after[i].on_target;
		if (raise_many(p) || read_irqs(after, p->conf->cpu) != nr)
			break;
		if (after[i].on_target - was >= TRIES * 3 / 4)
			return true;
	}
	if (src->affinity[0])
		write_text(path, src->affinity);
	src->affinity[0] = '\0';
	return false;
}

static bool try_device(struct poke *p, struct irq_line *before, struct irq_line *after)
{
	int nr = read_irqs(before, p->conf->cpu);

	if (raise_many(p) || read_irqs(after, p->conf->cpu) != nr)
		return false;
	for (int i = 0; i < nr; i++) {
		if (after[i].total - before[i].total < TRIES * 3 / 4)
			continue;
		if (try_line(p, &before[i], after)) {
			snprintf(p->name, sizeof(p->name), "%s", before[i].name);
			return true;
		}
	}
	return false;
}

/* Leaves p->fd open on success. */
static bool try_path(struct poke *p, const char *path, int flags)
{
	struct irq_line *before = calloc(MAX_IRQS, sizeof(*before)),
			*after = calloc(MAX_IRQS, sizeof(*after));
	bool found;

	p->fd = open(path, flags | O_CLOEXEC);
	found = p->fd >= 0 && before && after && try_device(p, before, after);
	if (!found)
		fd_finish(p);
	free(before);
	free(after);
	return found;
}

static bool try_class(struct poke *p, const char *sysfs, const char *prefix, int flags)
{
	DIR *dir = opendir(sysfs);
	struct dirent *de;
	bool found = false;

	while (dir && !found && !poke_stop && (de = readdir(dir))) {
		char path[300], type[16];

		if (de->d_name[0] == '.' || strncmp(de->d_name, prefix, strlen(prefix)))
			continue;
		/* A serial port's type 0 is a port that is not there. */
		snprintf(path, sizeof(path), "%s/%s/type", sysfs, de->d_name);
		if (prefix[0] && (read_line(path, type, sizeof(type)) || !strcmp(type, "0")))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", de->d_name);
		found = try_path(p, path, flags);
	}
	if (dir)
		closedir(dir);
	return found;
}

int irq_prepare(struct poke *p)
{
	struct irq_source *src = calloc(1, sizeof(*src));

	if (!src)
		return cannot(p, "out of memory");
	p->priv = src;
	if (posix_memalign(&src->buf, PAGE, PAGE))
		return cannot(p, "out of memory");
	/* Our own program file needs no right to a whole disk; read directly, it comes from the
	 * disk each time. */
	if (try_path(p, "/proc/self/exe", O_RDONLY | O_DIRECT) ||
	    try_class(p, "/sys/block", "", O_RDONLY | O_DIRECT))
		return 0;
	free(src->buf);
	src->buf = NULL;
	if (try_class(p, "/sys/class/tty", "ttyS", O_RDWR | O_NOCTTY))
		return 0;
	return cannot(p, "no disk or serial port raises an IRQ that can be moved to CPU %d",
		      p->conf->cpu);
}

int irq_poke(struct poke *p, struct poke_event *ev)
{
	const struct irq_source *src = p->priv;

	ev->start_ns = now_ns();
	if (raise_irq(p))
		return cannot(p, "%s: %s", p->name, strerror(errno));
	ev->end_ns = now_ns();
	extra(ev, "irq", (uint64_t)src->irq);
	return 0;
}

void irq_finish(struct poke *p)
{
	struct irq_source *src = p->priv;
	char path[64];

	fd_finish(p);
	if (!src)
		return;
	affinity_path(path, sizeof(path), src->irq);
	if (src->affinity[0])
		write_text(path, src->affinity);
	free(src->buf);
	free(src);
	p->priv = NULL;
}
