/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the recording as a live run does: feeds a session, the recorder hears it, a process writes.
 * It is faster than any machine's noise, so it waits now and then until all is written; the queue
 * must never be full. Always the same bytes. */
#include "recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "../world/scene.h"
#include "cmd/memory.h"
#include "recording/blackbox.h"

#define BATCH     50 /* gaps of one CPU before the next one's, as a reader of rings finds them */
#define LAST_NS   10000000000ULL
#define BOX_BYTES (64 << 20)
#define AHEAD     500000 /* records on their way at most: 4 MB of the queue's 16 */

static const char *const workers[] = {"vmstat_update", "lru_add_drain_per_cpu",
				      "blk_mq_run_work_fn", "wb_workfn", "flush_to_ldisc"};
static const char *const wakers[] = {"futex_wake", "pipe_write", "sock_def_readable",
				     "hrtimer_wakeup", "process_timeout"};
#define FEW 5

struct making {
	struct scene scene;
	uint64_t random;
	uint32_t cpus, threads;
	uint64_t at[RECORDING_CPUS];
	int32_t queued[FEW], woken[FEW];
	uint64_t tick, net, work[FEW];
	uint64_t records;
};

static uint32_t below(struct making *m, uint32_t n)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return (m->random >> 20) % n;
}

static void put(struct making *m, struct record r)
{
	scene_put(&m->scene, r);
	m->records++;
}

static uint64_t make_tick(struct making *m)
{
	uint64_t end = 2000 + below(m, 3000);

	put(m, mark(LEVEL_IRQ, MARK_HRTIMER, m->tick, 350 + below(m, 200)));
	put(m, vector(VECTOR_LOCAL_TIMER, 300, end));
	if (below(m, 3))
		return end;
	put(m, softirq(below(m, 2) ? 1 : 7, end + 100, end + 600 + below(m, 2000)));
	return end + 2700;
}

static uint64_t make_interrupt(struct making *m)
{
	uint64_t end = 1000 + below(m, 800), busy = end + 1500 + below(m, 20000);

	put(m, irq(24, m->net, 300, end));
	put(m, softirq(3, end + 90, busy));
	return busy;
}

static uint64_t make_work(struct making *m)
{
	uint32_t which = below(m, FEW);
	uint64_t end = 5000 + below(m, 40000);

	put(m, vector(VECTOR_RESCHEDULE, 300, 900));
	put(m, asked(mark(LEVEL_THREAD, MARK_WORK, m->work[which], 2500), 700 + below(m, 3),
		     "python3", 0, m->queued[which]));
	put(m, kthread(40 + below(m, 4), "kworker/3:1", 2100, end));
	return end;
}

static uint64_t make_thread(struct making *m)
{
	uint64_t end = 4000 + below(m, 60000);
	uint32_t tid = 1000 + below(m, m->threads);
	char comm[16];

	snprintf(comm, sizeof(comm), "server-%u", tid % 40);
	put(m, vector(VECTOR_RESCHEDULE, 300, 800));
	put(m, asked(mark(LEVEL_THREAD, MARK_WAKER, 0, 1300), 700 + below(m, 3), "client", 0,
		     m->woken[below(m, FEW)]));
	put(m, thread(tid, comm, 1200, end));
	return end;
}

static void make_gap(struct making *m, uint32_t cpu)
{
	uint32_t what = below(m, 20);
	uint64_t end;

	scene_gap(&m->scene, cpu, m->at[cpu]);
	if (what < 12)
		end = make_tick(m);
	else if (what < 15)
		end = make_interrupt(m);
	else if (what < 17)
		end = make_work(m);
	else if (what < 19)
		end = make_thread(m);
	else
		end = 500 + below(m, 3000);
	end += 200 + below(m, 100);
	scene_end(&m->scene, end);
	m->at[cpu] += end + 1000 + below(m, 200000);
}

/* Waits until nothing has been written for a while. */
static void wait_for_writer(const struct recorder *r)
{
	struct timespec nap = {.tv_nsec = 60000000};
	uint64_t before;

	do {
		before = recorder_stats(r).raw_bytes;
		nanosleep(&nap, NULL);
	} while (recorder_stats(r).raw_bytes != before);
}

/* box: hears all; NULL: none. */
static void begin(struct making *m, const char *path, struct blackbox *box)
{
	unsigned cpus[RECORDING_CPUS];
	struct scene *s = &m->scene;

	for (uint32_t i = 0; i < m->cpus; i++)
		cpus[i] = 1 + i;
	scene_init(s, "bench", cpus, m->cpus);
	m->random = 88172645463325252ULL;
	m->tick = scene_function(s, "tick_nohz_handler");
	m->net = scene_function(s, "ixgbe_msix_clean_rings [ixgbe]");
	s->irq[24] = "eth0-TxRx-0";
	for (int i = 0; i < FEW; i++) {
		const char *queue[] = {"__queue_work", "queue_work_on", workers[i],
				       "do_syscall_64"};
		const char *wake[] = {"try_to_wake_up", "wake_up_q", wakers[i], "do_syscall_64"};

		m->work[i] = scene_function(s, workers[i]);
		m->queued[i] = scene_stack(s, queue, 4);
		m->woken[i] = scene_stack(s, wake, 4);
	}
	if (box && blackbox_prepare(box, &s->view))
		exit(1);
	s->also = box ? blackbox_tap(box) : NULL;
	scene_begin(s, path);
	if (box)
		blackbox_begin(box, &s->view);
}

/* ---- memory ---- */

static long rss_kb(void)
{
	long pages = -1;
	FILE *f = fopen("/proc/self/statm", "re");

	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		pages = -1;
	if (f)
		fclose(f);
	return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Cuts a slice where it is due, by the made clock of the CPU that is behind all others. */
static void cut_slice(struct making *m, struct blackbox *box, uint64_t *due)
{
	uint64_t at = m->at[0];

	for (uint32_t i = 1; i < m->cpus; i++)
		at = m->at[i] < at ? m->at[i] : at;
	if (at < *due)
		return;
	*due = at + blackbox_slice_ns(box);
	for (uint32_t i = 0; i < m->cpus; i++)
		m->scene.view.cpu[i].observed_ns = at;
	blackbox_slice(box, &m->scene.view, WORLD_STARTED + at);
}

int bench_memory(uint64_t records)
{
	struct making *m = calloc(1, sizeof(*m));
	struct blackbox *box;
	uint64_t due = 0;
	long kb = 0;

	memory_returns();
	box = m ? blackbox_new(LAST_NS, BOX_BYTES, NULL) : NULL;
	if (!box)
		return -1;
	m->cpus = 2;
	m->threads = RECORDING_THREADS;
	begin(m, NULL, box);
	for (uint32_t cpu = 0; m->records < records; cpu = (cpu + 1) % m->cpus) {
		for (int i = 0; i < BATCH; i++)
			make_gap(m, cpu);
		cut_slice(m, box, &due);
		if (!kb && m->records >= records / 100)
			kb = rss_kb();
	}
	printf("memory: flight recorder, made records\t%ld\tkB\tmore after %.0e than after %.0e "
	       "(%ld kB): to be at most 1024; %lu kB of it are the last %.0f s\n",
	       rss_kb() - kb, (double)records, records / 100.0, kb,
	       (unsigned long)(blackbox_bytes(box) / 1024), LAST_NS / 1e9);
	return 0;
}

int bench_recording(const char *path, uint64_t records, uint32_t cpus, uint32_t threads)
{
	struct making *m = calloc(1, sizeof(*m)); /* other benches want little memory */
	const struct recorder_stats *n;
	uint64_t next = AHEAD;

	if (!m)
		return -1;
	n = &m->scene.stats;
	m->cpus = cpus;
	m->threads = threads;
	begin(m, path, NULL);
	for (uint32_t cpu = 0; m->records < records; cpu = (cpu + 1) % cpus) {
		for (int i = 0; i < BATCH; i++)
			make_gap(m, cpu);
		recorder_poll(m->scene.recorder);
		if (m->records < next)
			continue;
		wait_for_writer(m->scene.recorder);
		next = m->records + AHEAD;
	}
	for (uint32_t i = 0; i < cpus; i++)
		if (m->at[i] > m->scene.view.run.duration_ns)
			m->scene.view.run.duration_ns = m->at[i];
	if (scene_finish(&m->scene))
		return -1;
	view_free(&m->scene.view);
	printf("recording: a record\t%.2f\tB\tof %.1f M made ones in %.1f M hiccups, the hiccups "
	       "not counted as records but in the bytes\n",
	       (double)n->stored_bytes / n->records, n->records / 1e6, n->hiccups / 1e6);
	printf("recording: a hiccup, with its records\t%.1f\tB\t\n",
	       (double)n->stored_bytes / n->hiccups);
	printf("recording: CPU of the writer\t%.0f\tns\ta record: %.1f %% of a CPU at 100,000 a "
	       "second\n",
	       (double)n->cpu_ns / n->records, n->cpu_ns * 1e5 / n->records / 1e7);
	free(m);
	return 0;
}
