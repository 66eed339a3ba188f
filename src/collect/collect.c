/* The window of a live run, from its begin on all CPUs at once to its end. start.c starts the run,
 * read.c reads it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/target.h"
#include "collect/counter.h"

#define BARRIER_NS    (3 * NSEC_PER_MSEC)
#define STEAL_READ_NS (200 * NSEC_PER_MSEC)

/* Reads the eighth number of each CPU's line in /proc/stat, in clock ticks
 * (Documentation/filesystems/proc.rst). */
static void read_steal(struct collect *c)
{
	uint64_t tick_ns = NSEC_PER_SEC / sysconf(_SC_CLK_TCK);
	FILE *f = fopen("/proc/stat", "re");
	char line[512];

	c->steal_read_ns = now_ns();
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long steal;
		unsigned cpu;

		if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu", &cpu, &steal) != 2)
			continue;
		for (uint32_t i = 0; i < c->ntargets; i++) {
			if (c->target[i].cpu != cpu)
				continue;
			session_feed(c->session, &(struct event){.type = EVENT_STEAL,
								 .index = i,
								 .ns = steal * tick_ns});
		}
	}
	if (f)
		fclose(f);
}

/* Notes the start of the run: the first of its CPUs starts it. */
static void note_start(struct collect *c)
{
	struct run *run = &c->view->run;
	uint64_t now;

	run->started_ns = c->target[0].shm->start_ns;
	for (uint32_t i = 1; i < c->ntargets; i++)
		if (c->target[i].shm->start_ns < run->started_ns)
			run->started_ns = c->target[i].shm->start_ns;
	now = now_ns();
	format_iso_time(clock_ns(CLOCK_REALTIME) - (now - run->started_ns), run->started);
}

static int begin(void *run)
{
	struct collect *c = run;
	uint64_t begin;

	collect_rise(c);
	begin = now_ns() + BARRIER_NS;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		look_at_records(&c->target[i]); /* room for the window */
		while (read_records(&c->target[i], NULL, 0, false))
			;
		c->target[i].shm->begin_ns = begin;
		atomic_store(&c->target[i].shm->phase, SAMPLER_MEASURE);
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		while (!atomic_load_explicit(&c->target[i].shm->started, memory_order_acquire)) {
			if (now_ns() > begin + LEARN_MAX_NS)
				return complain("the sampler of CPU %u was not given its CPU",
						c->target[i].cpu);
			nap(NAP_NS / 4);
		}
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];
		struct event start = {.type = EVENT_START, .index = i};

		t->window = (struct begin){.cursors = t->shm->start_cursors};
		split_cursors(t->shm->start_cursors, start.cursor);
		session_feed(c->session, &start);
		t->last_ns = t->shm->start_ns;
		t->live = true;
		if (c->counter) /* by the learned rate; at the end the whole window tells it */
			c->view->host.tsc_khz = 1e6 / t->shm->ns_per_tick + 0.5;
		if (t->state) {
			t->unpaired_before = t->state->unpaired;
			t->state->khz_changes = t->state->khz_min = t->state->khz_max = 0;
		}
	}
	read_steal(c);
	if (c->probes)
		c->misses_before = probes_recursion_misses(c->probes);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		t->closure = t->state ? closure_new(t->cpu, t->pid) : NULL;
		if (t->closure)
			t->closing = closure_read(t->closure, t->state, &t->closure_begin.cursors);
		read_all(c); /* the calls above took a while */
	}
	note_start(c);
	c->began = true;
	return 0;
}

/* Raises a count. It never falls from one snapshot to the next: neither by a better rate of the
 * counter, nor by a window that ended with the last hiccup. */
static void raise_to(uint64_t *count, uint64_t now)
{
	if (now > *count)
		*count = now;
}

/* Writes the counts of a CPU's window up to end_ns to the view. */
static void count_window(struct collect *c, uint32_t i, uint64_t end_ns)
{
	struct target *t = &c->target[i];
	const struct sampler_shm *l = t->shm;
	struct cpu *run = &c->view->cpu[i];

	raise_to(&run->observed_ns, end_ns - l->start_ns);
	run->counts = *session_counts(c->session, i);
	if (t->state) {
		run->unpaired = t->state->unpaired - t->unpaired_before;
		run->khz_changes = t->state->khz_changes;
		run->khz_min = t->state->khz_min;
		run->khz_max = t->state->khz_max;
	}
	run->hiccups_lost = l->lost;
	raise_to(&run->hiccups_lost_ns, l->lost_ticks * t->ns_per_tick);
	if (!c->view->run.windows) /* begin and end come from two clocks */
		raise_to(&run->observed_ns, c->view->cpu[i].hiccups.sum + run->hiccups_lost_ns);
	raise_to(&run->bookkeeping_ns, l->busy_ticks * t->ns_per_tick);
	run->shorts.count = l->short_count;
	raise_to(&run->shorts.total_ns, l->short_ticks * t->ns_per_tick);
}

/* Counts the whole run. */
static void count_all(struct collect *c)
{
	if (c->probes)
		c->view->run.recursion_misses =
			probes_recursion_misses(c->probes) - c->misses_before;
	for (uint32_t i = 0; i < c->ntargets; i++)
		raise_to(&c->view->run.duration_ns, c->view->cpu[i].observed_ns);
}

static struct intervals *intervals(void *run, uint32_t index)
{
	const struct collect *c = run;

	return session_intervals(c->session, index);
}

static void snapshot(void *run)
{
	struct collect *c = run;
	uint64_t now = now_ns();

	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live)
			count_window(c, i, now);
	count_all(c);
}

/* Copies a workload's samples out of the shared memory. */
static void keep_series(struct cpu *run, const struct series *from)
{
	uint32_t n = 0;

	while (n < SERIES_MAX && from[n].name[0])
		n++;
	run->series = calloc(n ? n : 1, sizeof(*run->series));
	for (; run->series && run->nseries < n; run->nseries++) {
		struct series *to = &run->series[run->nseries];
		struct hist hist;

		if (hist_init(&hist, SERIES_BITS))
			return;
		hist_merge(&hist, &from[run->nseries].hist);
		*to = from[run->nseries];
		to->hist = hist;
	}
}

/* Enters the end of a CPU's window in the view. end_ns: when it ended. */
static void conclude(struct collect *c, uint32_t i, uint64_t end_ns)
{
	struct target *t = &c->target[i];
	struct sampler_shm *l = t->shm;
	struct cpu *run = &c->view->cpu[i];

	t->live = false;
	count_window(c, i, end_ns);
	run->smi_known = l->smi_known;
	run->smi_count = l->smi_count;
	run->loop_count = l->loop_count;
	if (l->loop_count) {
		run->loop_min_ns = l->loop_min * t->ns_per_tick;
		run->loop_mean_ns = (double)(l->end - l->start - l->away_ticks) * t->ns_per_tick /
				    l->loop_count;
	}
	for (int k = 0; k < LOOP_LENGTHS; k++) {
		run->loop_above_ns[k] = (1 << (LOOP_CLASS_FIRST + k)) * t->ns_per_tick;
		run->loop_above[k] = l->loop_above[k];
	}
	if (t->samples)
		keep_series(run, samples_series(t->samples));
	if (t->closed)
		closure_compare(t->closure, run, live_irq_actions, c->names);
	if (c->counter)
		c->view->host.tsc_khz = 1e6 / t->ns_per_tick + 0.5;
}

/* Finds samplers that have died, left their CPU, or finished, and takes their last hiccups
 * first. */
static void check_alive(struct collect *c, uint32_t i)
{
	struct target *t = &c->target[i];
	struct cpu *run = &c->view->cpu[i];

	if (t->pid && waitpid(t->pid, NULL, WNOHANG) == t->pid)
		t->pid = 0;
	if (t->pid && atomic_load_explicit(&t->shm->phase, memory_order_acquire) != SAMPLER_DONE)
		return;
	read_target(c, i);
	if (!t->pid)
		run->ended = run->ended ? run->ended : "its sampler was killed";
	else if (t->shm->error)
		run->ended = view_text(c->view, t->shm->what);
	else if (!t->shm->finished || t->shm->moved)
		run->ended = "the kernel moved its sampler to another CPU (taken offline?)";
	if (t->tail == t->head)
		conclude(c, i,
			 t->pid ? to_ns(t, t->shm->end_anchor, t->shm->end_ns, t->shm->end)
				: t->last_ns);
}

/* Ends all samplers after one of a group that wait for each other has failed: the others would wait
 * for ever. The next check finds them gone. */
static void abandon(struct collect *c)
{
	bool failed = false;

	for (uint32_t i = 0; i < c->ntargets; i++)
		failed |= c->view->cpu[i].ended != NULL;
	for (uint32_t i = 0; failed && i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (!t->live || t->pid <= 0)
			continue;
		kill(t->pid, SIGKILL);
		waitpid(t->pid, NULL, 0);
		t->pid = 0;
		if (!c->view->cpu[i].ended)
			c->view->cpu[i].ended = "the one that it worked with had ended";
	}
}

static bool poll(void *run)
{
	struct collect *c = run;
	uint32_t live = 0;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		if (!c->target[i].live)
			continue;
		read_target(c, i);
		check_alive(c, i);
	}
	read_busy(c);
	if (c->workload && c->workload->partners)
		abandon(c);
	for (uint32_t i = 0; i < c->ntargets; i++)
		live += c->target[i].live;
	if (now_ns() - c->steal_read_ns > STEAL_READ_NS)
		read_steal(c);
	return live;
}

/* Waits until a sampler has stopped. */
static void await_stop(struct collect *c, uint32_t i, uint64_t deadline)
{
	struct target *t = &c->target[i];

	while (t->pid &&
	       atomic_load_explicit(&t->shm->phase, memory_order_acquire) != SAMPLER_DONE &&
	       now_ns() < deadline) {
		if (waitpid(t->pid, NULL, WNOHANG) == t->pid) {
			t->pid = 0;
			break;
		}
		read_all(c); /* a thread that keeps it from stopping goes on being recorded */
		nap(NAP_NS / 4);
	}
}

static void close_window(struct collect *c)
{
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (t->live && t->closing)
			t->closed = closure_read(t->closure, t->state, &t->closure_end);
		read_all(c);
	}
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live) {
			atomic_store(&c->target[i].shm->stop, 1);
			atomic_store(&c->target[i].shm->limit, 0);
		}
	for (uint32_t i = 0; i < c->ntargets; i++)
		if (c->target[i].live) {
			await_stop(c, i, now_ns() + LEARN_MAX_NS);
			read_target(c, i);
		}
	if (c->probes)
		probes_gate(c->probes, false);
	collect_sink(c);
}

static void end(void *run)
{
	struct collect *c = run;

	if (!c->began || c->ended)
		return;
	c->ended = true;
	close_window(c);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (!t->live)
			continue;
		if (atomic_load_explicit(&t->shm->phase, memory_order_acquire) == SAMPLER_DONE) {
			conclude(c, i, to_ns(t, t->shm->end_anchor, t->shm->end_ns, t->shm->end));
		} else {
			if (!c->view->cpu[i].ended)
				c->view->cpu[i].ended = "its sampler did not come back to stop";
			conclude(c, i, t->last_ns);
		}
	}
	read_steal(c);
	session_finish(c->session);
	count_all(c);
}

void collect_close(void *run)
{
	struct collect *c = run;

	for (uint32_t i = 0; i < c->ntargets; i++) {
		struct target *t = &c->target[i];

		if (t->pid > 0) {
			kill(t->pid, SIGKILL);
			waitpid(t->pid, NULL, 0);
		}
	}
	collect_sink(c);
	probes_close(c->probes);
	for (uint32_t i = 0; i < c->ntargets; i++) {
		sampler_shm_free(c->target[i].shm);
		closure_free(c->target[i].closure);
		rings_free(c->target[i].rings);
		samples_free(c->target[i].samples, c->workload);
	}
	live_names_free(c->names);
	session_free(c->session);
	for (uint32_t i = 0; i < c->props.nfds; i++)
		close(c->props.fd[i]);
	if (c->props.shared)
		munmap(c->props.shared, c->workload->shared_bytes);
	free(c->cpus);
	free(c->target);
	free(c);
}

const struct engine collect_engine = {
	.open = collect_open,
	.begin = begin,
	.poll = poll,
	.intervals = intervals,
	.snapshot = snapshot,
	.end = end,
	.close = collect_close,
};
