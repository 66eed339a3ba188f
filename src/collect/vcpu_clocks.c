/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/vcpu_clocks.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/through.h"

#define CLOCKS_MOST 65536 /* virtual CPUs of a host */

/* Reads a number, which KVM may write as a signed one. */
static bool read_number(const char *folder, const char *name, uint64_t *n)
{
	char path[PATH_MAX], line[64] = "", *end;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = 0;
	fclose(f);
	*n = line[0] == '-' ? (uint64_t)strtoll(line, &end, 10) : strtoull(line, &end, 10);
	return end != line && (*end == '\n' || !*end);
}

static void read_rule(const char *folder, struct counter_rule *r)
{
	uint64_t offset, ratio, fraction;

	if (!read_number(folder, "tsc-offset", &offset))
		return;
	/* Without scaling there are no such files. */
	if (!read_number(folder, "tsc-scaling-ratio", &ratio) ||
	    !read_number(folder, "tsc-scaling-ratio-frac-bits", &fraction)) {
		ratio = 1;
		fraction = 0;
	}
	if (ratio && fraction < 64)
		*r = (struct counter_rule){ratio, offset, fraction};
}

static void add(struct vcpu_clocks *c, const struct vcpu_clock *x)
{
	if (!(c->n & (c->n - 1))) { /* powers of two */
		void *more = c->n < CLOCKS_MOST
				     ? reallocarray(c->row, c->n ? 2 * c->n : 1, sizeof(*x))
				     : NULL;

		if (!more)
			return;
		c->row = more;
	}
	c->row[c->n++] = *x;
}

/* One machine: a folder called PID-FD. */
static void read_machine(struct vcpu_clocks *c, const char *folder, uint32_t machine)
{
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		struct vcpu_clock x = {.machine = machine};
		char path[PATH_MAX];
		uint64_t tid;
		int end = 0;

		if (sscanf(e->d_name, "vcpu%5" SCNu32 "%n", &x.number, &end) != 1 ||
		    e->d_name[end] ||
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
			continue;
		x.tid = read_number(path, "pid", &tid) ? tid : 0;
		read_rule(path, &x.rule);
		add(c, &x);
	}
	if (d)
		closedir(d);
}

void vcpu_clocks_read(struct vcpu_clocks *c, const char *folder)
{
	struct dirent *e;
	DIR *d = opendir(folder);

	while (d && (e = readdir(d))) {
		char path[PATH_MAX];
		uint32_t machine;
		int end = 0;

		if (sscanf(e->d_name, "%7" SCNu32 "-%*7u%n", &machine, &end) != 1 || !end ||
		    e->d_name[end] ||
		    snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path))
			continue;
		read_machine(c, path, machine);
	}
	if (d)
		closedir(d);
}

void vcpu_clocks_free(struct vcpu_clocks *c)
{
	free(c->row);
	*c = (struct vcpu_clocks){0};
}

/* The process of a thread; 0: not known. */
static uint32_t process_of(const char *proc, uint32_t tid)
{
	char path[PATH_MAX], line[256];
	uint32_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%" PRIu32 "/status", proc, tid);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		sscanf(line, "Tgid: %" SCNu32, &pid);
	if (f)
		fclose(f);
	return pid;
}

/* machine: the thread's process; 0: not known. */
static const struct vcpu_clock *clock_of(const struct vcpu_clocks *c, const struct cpu *thread,
					 uint32_t machine)
{
	int named = through_vcpu(thread->comm);

	for (uint32_t i = 0; i < c->n; i++) {
		const struct vcpu_clock *x = &c->row[i];

		if (x->tid ? x->tid == thread->tid
			   : machine && x->machine == machine && (int)x->number == named)
			return x;
	}
	return NULL;
}

static const struct vcpu_clock *same_vcpu(const struct vcpu_clocks *c, const struct vcpu_clock *as)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->row[i].machine == as->machine && c->row[i].number == as->number)
			return &c->row[i];
	return NULL;
}

void vcpu_clocks_fill(const struct vcpu_clocks *before, const struct vcpu_clocks *after,
		      const char *proc, struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		struct cpu *c = &v->cpu[i];
		uint32_t machine = c->tid ? process_of(proc, c->tid) : 0;
		const struct vcpu_clock *a = c->tid ? clock_of(after, c, machine) : NULL, *other;

		if (!a && c->tid) /* the machine has ended meanwhile */
			a = clock_of(before, c, machine);
		if (!a) {
			c->machine = through_is_vcpu(c->comm) ? machine : 0;
			continue;
		}
		c->machine = a->machine;
		c->vcpu = a->number + 1;
		other = same_vcpu(before, a); /* before its first stay in a guest without a tid */
		if (other && counter_rule_same(&a->rule, &other->rule))
			c->counter = a->rule;
	}
}
