/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The samplers of a run before its window: forked, awaited, given up where their CPU is gone. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/counter.h"
#include "collect/host.h"
#include "collect/target.h"

#define SAMPLER_OF "the sampler of "

const char *sampler_called(const struct collect *c, const struct target *t, const char *of,
			   char buf[CALLED_MAX])
{
	if (c->roams)
		snprintf(buf, CALLED_MAX, "process %u of %u", t->index + 1, c->ntargets);
	else
		snprintf(buf, CALLED_MAX, "%sCPU %u", of, t->cpu);
	return buf;
}

/* Makes the memory of a target's sampler, and tells the sampler what to do. */
static int prepare(struct collect *c, uint32_t i, const struct collect_options *o,
		   struct sampler_options *s)
{
	struct target *t = &c->target[i];
	char name[CALLED_MAX];

	t->shm = sampler_shm_new();
	t->samples = o->workload ? samples_new(o->workload) : NULL;
	if (!t->shm || (o->workload && !t->samples))
		return complain("not enough memory for %s", sampler_called(c, t, SAMPLER_OF, name));
	*s = (struct sampler_options){.shm = t->shm,
				      .cpu = t->cpu,
				      .clock = o->clock,
				      .policy = o->policy,
				      .priority = o->priority,
				      .deadline = o->deadline,
				      .partitions = c->partitions,
				      .threshold_ns = o->threshold_ns,
				      .threshold_most_ns = o->threshold_most_ns,
				      .cursors =
					      t->state ? (const cursors_t *)t->state->cursor : NULL,
				      .workload = o->workload,
				      .props = &c->props,
				      .workload_options = o->workload_options,
				      .samples = t->samples,
				      .index = i,
				      .roams = o->roams,
				      .housekeeping = &c->view->run.housekeeping,
				      .learn_edges = !o->roams,
				      .guest = c->view->host.hypervisor[0]};
	return 0;
}

/* Forks a process with the samplers of n targets from `first` on. It gets their states alone. */
static int start_process(struct collect *c, uint32_t first, uint32_t n, struct sampler_options *s)
{
	char name[CALLED_MAX];
	pid_t pid = 0;

	for (uint32_t i = first; c->probes && !pid && i < first + n; i++)
		pid = probes_lend(c->probes, i, true);
	if (!pid)
		pid = sampler_start(s, n);
	for (uint32_t i = first; c->probes && i < first + n; i++)
		probes_lend(c->probes, i, false);
	if (pid < 0)
		return complain("cannot start %s: %s",
				sampler_called(c, &c->target[first], SAMPLER_OF, name),
				strerror(-pid));
	for (uint32_t i = first; i < first + n; i++)
		c->target[i].pid = pid;
	return 0;
}

/* Keeps their memory from processes that begin later, of which one reads strangers' files. */
static void hide_memory(struct collect *c, const struct workload *w)
{
	for (uint32_t i = 0; i < c->ntargets; i++) {
		madvise(c->target[i].shm, sizeof(*c->target[i].shm), MADV_DONTFORK);
		if (w)
			samples_hide(c->target[i].samples, w);
	}
	if (c->props.shared)
		madvise(c->props.shared, w->shared_bytes, MADV_DONTFORK);
}

int samplers_start(struct collect *c, const struct collect_options *o)
{
	uint32_t each = o->workload && o->workload->threads ? c->ntargets : 1;
	struct sampler_options *s = calloc(c->ntargets, sizeof(*s));
	int err = s ? 0 : complain("out of memory");

	for (uint32_t i = 0; i < c->ntargets && !err; i++)
		err = prepare(c, i, o, &s[i]);
	for (uint32_t i = 0; i < c->ntargets && !err; i += each)
		err = start_process(c, i, each, &s[i]);
	if (!err)
		hide_memory(c, o->workload);
	free(s);
	return err;
}

void samplers_name(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		t->tid = t->pid ? t->shm->tid : 0;
		if (t->state)
			t->state->sampler = t->tid;
	}
}

/* Forgets a process that is no longer there: its number may become another one's. */
static void forget(struct collect *c, pid_t pid)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].pid == pid)
			c->target[i].pid = c->target[i].tid = 0;
}

bool sampler_gone(struct collect *c, const struct target *t)
{
	if (t->pid && waitpid(t->pid, NULL, WNOHANG) != t->pid)
		return false;
	if (t->pid)
		forget(c, t->pid);
	return true;
}

void sampler_kill(struct collect *c, const struct target *t)
{
	if (t->pid <= 0)
		return;
	reap_killed(t->pid);
	forget(c, t->pid);
}

static int sampler_failed(const struct collect *c, const struct target *t)
{
	char name[CALLED_MAX];

	sampler_called(c, t, "", name);
	if (t->shm->error == EPERM)
		return complain("%s: %s is not permitted: it needs CAP_SYS_NICE (run with sudo)",
				name, t->shm->what);
	if (t->shm->error == EINVAL && !c->roams)
		return complain("%s: %s failed: it is offline or outside this process's "
				"cpuset; choose others with -c",
				name, t->shm->what);
	return complain("%s: %s failed: %s", name, t->shm->what, strerror(t->shm->error));
}

/* Gives up a CPU that went offline before its window: it has a window without time in the report.
 * False: it is there, nobody is left, or the others cannot work without it. */
static bool give_up(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	uint32_t left = 0;

	for (uint32_t k = 0; k < c->ntargets; k++)
		left += k != i && c->target[k].pid;
	if (c->roams || host_is_online(t->cpu) || !left || (c->workload && c->workload->partners))
		return false;
	sampler_kill(c, t);
	c->view->cpu[i].ended = WENT_OFFLINE;
	return true;
}

/* Changes when a sampler gets on with what it learns in several steps. */
static uint32_t steps(const struct collect *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->ntargets; i++)
		n += atomic_load(&c->target[i].shm->steps);
	return n;
}

const char *samplers_relief(const struct collect *c, const struct target *t, char buf[HOLDER_TEXT])
{
	const struct run *run = &c->view->run;
	bool found = false;
	struct holder h;

	if (t && !c->roams)
		found = holder_find("/proc", t->cpu, getpid(), &h);
	return holder_text(found ? &h : NULL, t ? t->cpu : 0, run->priority, &run->housekeeping,
			   buf);
}

int samplers_await(struct collect *c, int phase, uint64_t limit_ns)
{
	uint64_t deadline = now_ns() + limit_ns;
	uint32_t ready, done = steps(c), before;
	char name[CALLED_MAX], relief[HOLDER_TEXT];
	const struct target *late = NULL;

	do {
		ready = 0;
		before = done;
		done = steps(c);
		if (done != before)
			deadline = now_ns() + limit_ns;
		for (uint32_t i = 0; i < c->ntargets; i++) {
			struct target *t = &c->target[i];
			int now = atomic_load(&t->shm->phase);

			if (!t->pid || (now == SAMPLER_FAILED && give_up(c, i))) {
				ready++;
				continue;
			}
			if (now == SAMPLER_FAILED)
				return sampler_failed(c, t);
			/* window_open() reports a sampler that dies behind the barrier */
			if (now != phase && sampler_gone(c, t))
				return complain("%s ended while it started",
						sampler_called(c, t, SAMPLER_OF, name));
			ready += now == phase;
		}
		if (*c->hooks.stop)
			return -1;
		if (ready == c->ntargets)
			return 0;
		nap(NAP_NS);
	} while (now_ns() < deadline);
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].pid && atomic_load(&c->target[i].shm->phase) != phase)
			late = late ? late : &c->target[i];
	return complain("the samplers could not run within %llu s, as on CPUs that other threads "
			"keep busy: %s",
			(unsigned long long)(limit_ns / NSEC_PER_SEC),
			samplers_relief(c, late, relief));
}

void samplers_tell(struct collect *c, int phase)
{
	for (uint32_t i = 0; i < c->ntargets; i++)
		sampler_tell(c->target[i].shm, phase);
}
