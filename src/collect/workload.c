/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/workload.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/spin.h"

#define BUCKETS     ((65 - SERIES_BITS) << SERIES_BITS)
#define WARM_FACTOR 10

struct samples {
	struct series series[SERIES_MAX];
	struct {
		uint64_t bucket[BUCKETS];
		struct course_bin bin[COURSE_BINS];
	} memory[];
};

static uint32_t count_series(const struct workload *workload)
{
	uint32_t n = 0;

	while (n < SERIES_MAX && workload->series[n])
		n++;
	return n;
}

static size_t samples_bytes(const struct workload *workload)
{
	struct samples *s;

	return sizeof(*s) + count_series(workload) * sizeof(s->memory[0]);
}

struct samples *samples_new(const struct workload *workload)
{
	struct samples *s = mmap(NULL, samples_bytes(workload), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	for (uint32_t i = 0; workload->series[i] && i < SERIES_MAX; i++) {
		snprintf(s->series[i].name, sizeof(s->series[i].name), "%s", workload->series[i]);
		hist_place(&s->series[i].hist, SERIES_BITS, s->memory[i].bucket);
		course_place(&s->series[i].course, s->memory[i].bin);
		s->series[i].fine = workload->fine;
	}
	return s;
}

void samples_hide(struct samples *s, const struct workload *workload)
{
	madvise(s, samples_bytes(workload), MADV_DONTFORK);
}

void samples_free(struct samples *s, const struct workload *workload)
{
	if (s)
		munmap(s, samples_bytes(workload));
}

struct series *samples_series(struct samples *s)
{
	return s->series;
}

uint64_t work_tick(const struct work *w)
{
	return read_counter(w->spin->counter);
}

cursors_t work_cursors(const struct work *w)
{
	return *w->spin->cursors;
}

bool work_going(struct work *w)
{
	if (w->learning)
		return w->left && w->left--;
	return !atomic_load_explicit(&w->spin->shm->stop, memory_order_relaxed);
}

bool work_stopped(const struct work *w)
{
	return atomic_load_explicit(&w->spin->shm->stop, memory_order_relaxed);
}

/* Ends the window of a sampler that is no longer on its CPU: what it measures now is another one's.
 * Asks the vDSO. */
static void check_place(const struct work *w)
{
	struct sampler_shm *l = w->spin->shm;

	if (w->learning || w->roams || (unsigned)sched_getcpu() == w->cpu)
		return;
	l->moved = true;
	atomic_store_explicit(&l->stop, 1, memory_order_relaxed);
}

void work_value(struct work *w, unsigned series, uint64_t at, uint64_t value)
{
	struct series *s = &w->series[series];

	check_place(w);
	hist_add(&s->hist, value);
	if (s->course.width)
		course_add(&s->course, at, value);
	s->last = value;
}

static void outlier(struct work *w, unsigned series, uint64_t before, uint64_t after,
		    cursors_t cursors_before, cursors_t cursors_after)
{
	struct series *s = &w->series[series];
	uint64_t ns = (after - before) * w->ns_per_tick;

	if (after - before > INT64_MAX)
		return;
	if (ns > s->longest_ns)
		s->longest_ns = ns;
	if (w->learning || after - before < w->limit[series])
		return;
	s->longer++;
	w->spin->shm->away_ticks += after - before;
	publish_window(w->spin, before, after, cursors_before, cursors_after, 1 + series);
}

void work_outlier(struct work *w, unsigned series, uint64_t before, uint64_t after,
		  cursors_t cursors)
{
	outlier(w, series, before, after, cursors, *w->spin->cursors);
}

void work_window(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
		 cursors_t cursors)
{
	work_value(w, series, after, value);
	work_outlier(w, series, before, after, cursors);
}

void work_past(struct work *w, unsigned series, uint64_t value, uint64_t before, uint64_t after,
	       cursors_t cursors_before, cursors_t cursors_after)
{
	work_value(w, series, after, value);
	outlier(w, series, before, after, cursors_before, cursors_after);
}

uint64_t work_tick_of(const struct work *w, uint64_t ns, uint64_t now_tick, uint64_t now_ns)
{
	return now_tick + (int64_t)((int64_t)(ns - now_ns) / w->ns_per_tick);
}

volatile struct cpu_state *work_state(const struct work *w)
{
	return w->spin->cursors == &no_cursors ? NULL : (volatile void *)w->spin->cursors;
}

bool work_woken(const struct work *w, uint64_t since_ns, uint64_t *timer_ns, uint64_t *came_ns)
{
	const volatile struct cpu_state *c = work_state(w);

	if (!c)
		return false;
	*timer_ns = c->timer_ns;
	*came_ns = c->came_ns;
	if (*came_ns < *timer_ns) /* was woken before it had left the CPU */
		*came_ns = *timer_ns;
	return *timer_ns >= since_ns;
}

int work_failed(struct work *w, int err, const char *what)
{
	struct sampler_shm *l = w->spin->shm;

	l->error = err;
	snprintf(l->what, sizeof(l->what), "%s", what);
	return -err;
}

void work_learn(struct work *w, uint64_t given, uint64_t least, uint64_t most_ns)
{
	w->learning = true;
	w->left = w->workload->warm;
	w->workload->run(w); /* the shared memory says what failed */
	w->learning = false;
	for (uint32_t i = 0; i < count_series(w->workload); i++) {
		struct series *s = &w->series[i];
		uint64_t median = hist_percentile(&s->hist, 50) / (s->fine ? 1000 : 1);
		/* Rounds up to the next 10 ns, for readers. */
		uint64_t limit = (WARM_FACTOR * median / 10 + 1) * 10 / w->ns_per_tick;

		if (most_ns && limit > most_ns / w->ns_per_tick)
			limit = most_ns / w->ns_per_tick; /* no tick more */
		if (limit < least)
			limit = least;
		w->limit[i] = given ? given : limit;
		s->threshold_ns = s->longest_ns ? w->limit[i] * w->ns_per_tick + 0.5 : 0;
		s->longer = s->longest_ns = 0;
		hist_reset(&s->hist);
		course_reset(&s->course, COURSE_WIDTH_NS / w->ns_per_tick);
	}
}

uint64_t work_first_limit(const struct work *w)
{
	for (uint32_t i = 0; i < count_series(w->workload); i++)
		if (w->series[i].threshold_ns)
			return w->limit[i];
	return w->limit[0];
}
