/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/closure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/irq_vectors.h"
#include "collect/counter.h"

/* A CPU's sampler, and the state of its probes. */
struct subject {
	pid_t sampler;
	const struct cpu_state *state;
	uint64_t lost_before;
};

struct closure {
	struct counters *counters;
	struct subject *subject;
	uint32_t n;
	char *text; /* text of a file */
	size_t room;
	bool begun, ended, failed;
	uint64_t ended_ns;
};

struct closure *closure_new(const unsigned *cpu, uint32_t n)
{
	struct closure *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->n = n;
	c->counters = counters_new(cpu, n);
	c->subject = calloc(n, sizeof(*c->subject));
	if (c->counters && c->subject) {
		counters_ipis(c->counters, irq_vectors()->ipi_base);
		return c;
	}
	closure_free(c);
	return NULL;
}

void closure_free(struct closure *c)
{
	if (!c)
		return;
	counters_free(c->counters);
	free(c->subject);
	free(c->text);
	free(c);
}

void closure_sampler(struct closure *c, uint32_t i, pid_t sampler, const struct cpu_state *state)
{
	c->subject[i] = (struct subject){sampler, state, 0};
}

/* ---- reading ---- */

/* Reads a whole file of /proc; returns its length or -errno. */
static ssize_t read_file(struct closure *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -errno : 1;
	size_t len = 0;

	while (n > 0) {
		if (c->room - len < 1 << 16) {
			char *bigger = realloc(c->text, 2 * c->room + (1 << 18));

			if (!bigger) {
				n = -ENOMEM;
				break;
			}
			c->text = bigger;
			c->room = 2 * c->room + (1 << 18);
		}
		n = read(fd, c->text + len, c->room - len);
		len += n > 0 ? n : 0;
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? n : (ssize_t)len;
}

static int read_table(struct closure *c, enum reading when, const char *path, const char *prefix)
{
	ssize_t len = read_file(c, path);

	return len < 0 ? len : counters_table(c->counters, when, prefix, c->text, len);
}

static uint64_t traced_switches(const struct subject *s)
{
	return __atomic_load_n(&s->state->switches, __ATOMIC_SEQ_CST);
}

static void read_switches(struct closure *c, enum reading when, uint32_t i)
{
	const struct subject *s = &c->subject[i];
	struct switches now = {.traced_before = traced_switches(s)};
	char path[64], line[128];
	unsigned long long n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)s->sampler);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			now.kernel += n;
	if (f)
		fclose(f);
	now.traced_after = traced_switches(s);
	counters_switches(c->counters, when, i, now);
}

static uint64_t lost(const struct cpu_state *s)
{
	uint64_t n = 0;

	for (int level = 0; level < LEVELS; level++)
		n += __atomic_load_n(&s->lost[level], __ATOMIC_RELAXED);
	return n;
}

void closure_read(struct closure *c, enum reading when)
{
	uint64_t from = now_ns(), to;

	for (uint32_t i = 0; when == READING_BEGIN && i < c->n; i++)
		c->subject[i].lost_before = lost(c->subject[i].state);
	c->failed |= read_table(c, when, "/proc/interrupts", "") ||
		     read_table(c, when, "/proc/softirqs", "softirq ");
	to = now_ns();
	for (uint32_t i = 0; i < c->n; i++)
		read_switches(c, when, i);
	counters_time(c->counters, when, from, to);
	c->begun = true;
	c->ended = when == READING_END;
	c->ended_ns = to;
}

/* An interval that began after the reading has not been counted. */
static bool may_be_counted(const __u64 *start, uint64_t ns)
{
	uint64_t began = __atomic_load_n(start, __ATOMIC_ACQUIRE);

	return began && began <= ns;
}

bool closure_still(const struct closure *c, uint32_t i)
{
	const struct cpu_state *s = c->subject[i].state;

	return !may_be_counted(&s->irq[0].start_ns, c->ended_ns) &&
	       !may_be_counted(&s->irq[1].start_ns, c->ended_ns) &&
	       !may_be_counted(&s->softirq.start_ns, c->ended_ns);
}

bool closure_ended(const struct closure *c)
{
	return c->ended && !c->failed;
}

/* ---- comparing ---- */

void closure_count(struct closure *c, uint32_t i, const struct record *r)
{
	counters_record(c->counters, i, r);
}

void closure_compare(const struct closure *c, uint32_t i, struct cpu *run,
		     unsigned (*actions)(void *ctx, uint32_t irq), void *ctx)
{
	counters_compare(c->counters, i, lost(c->subject[i].state) - c->subject[i].lost_before, run,
			 actions, ctx);
}
