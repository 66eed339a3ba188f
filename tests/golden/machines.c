/* SPDX-License-Identifier: GPL-2.0-or-later */
/* golden_machines DIR: recordings of machines as large as users have them, DIR/NAME.rec each. Their
 * isolated CPUs are alike, and lose half a percent to the tick; but for the odd ones:
 *
 *   60     CPUs 4-63; cpu 34 has one gap of 5.9 ms besides
 *   256    CPUs 8-255; cpu 100 has the gap, cpus 200-203 have only a network card's interrupt
 *   1024   CPUs 8-1031; cpu 700 has a gap of 1.9 ms, cpu 77 the interrupts, cpu 512 went offline,
 *          cpu 900 lost records
 *   unlike CPUs 1-64, of which no two are alike
 *
 * And others than CPUs of a sampler:
 *
 *   sleeps  sleeps on CPUs 8-1031, woken late by the tick now and then; cpu 500 once by 3 ms
 *   naps    the same on CPUs 8-11, of which cpu 9 is the odd one, and they read the clock
 *   feeds   feed-0 to feed-11, preempted by a kworker; feed-7 once for 5 ms by backup, and one
 *           thread with another name
 */
#include <limits.h>

#include "model/watch.h"
#include "../world/scene.h"

#define MS 1000000ULL
#define US 1000ULL

static uint32_t ticks; /* ticks of a CPU, one in 10 ms */

static void begin(struct scene *s, const char *name, unsigned first, unsigned n)
{
	unsigned *cpus = calloc(n, sizeof(*cpus));
	char list[32], cmdline[128];

	for (unsigned i = 0; cpus && i < n; i++)
		cpus[i] = first + i;
	scene_init(s, name, cpus, n);
	s->view.run.duration_ns = ticks * 10 * MS;
	snprintf(list, sizeof(list), "%u-%u", first, first + n - 1);
	snprintf(cmdline, sizeof(cmdline), "quiet isolcpus=managed_irq,domain,%s", list);
	strcpy(s->view.host.cmdline, cmdline);
	cpus_clear(&s->view.host.nohz_full);
	cpus_parse(list, &s->view.host.isolated, NULL, 0);
	world_fact(&s->view, "proc/cmdline", cmdline);
	world_fact(&s->view, "sys/devices/system/cpu/isolated", list);
	world_fact(&s->view, "sys/devices/system/cpu/nohz_full", "\n");
	world_fact(&s->view, "proc/sys/vm/stat_interval", "1\n");
	snprintf(list, sizeof(list), "0-%u", first + n - 1);
	cpus_parse(list, &s->view.host.online, NULL, 0);
	world_fact(&s->view, "sys/devices/system/cpu/online", list);
	for (uint32_t i = 0; i < n; i++)
		s->view.cpu[i].edge_seen.samples = 100;
	free(cpus);
}

/* The tick and what it brings along, and once the update of statistics. */
static void tick(struct scene *s, uint32_t i)
{
	uint64_t handler = scene_function(s, "tick_nohz_handler"),
		 update = scene_function(s, "vmstat_update");
	unsigned number = s->view.cpu[i].number;
	char comm[16];

	for (uint32_t k = 0; k < ticks; k++) {
		uint64_t end = 45 * US + 100 * ((k * 7 + i * 3) % 40);

		scene_gap(s, i, 1 * MS + 9 * MS * k + 1 * US * (i % 90));
		scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, handler, 450));
		scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, end));
		if (k % 3 == 0)
			scene_put(s, softirq(1, end + 80, end + 6 * US));
		scene_end(s, end + (k % 3 ? 500 : 6500) + 10 * (i % 7));
	}
	snprintf(comm, sizeof(comm), "kworker/%u:1", number);
	scene_gap(s, i, ticks * 9500 * US + 10 * US * (i % 97));
	scene_put(s,
		  asked(mark(LEVEL_THREAD, MARK_WORK, update, 1500), 77, "node_exporter", 0, -1));
	scene_put(s, kthread(1000 + number, comm, 1200, 14 * US + 20 * (i % 50)));
	scene_end(s, 15 * US + 20 * (i % 50));
}

/* One gap, by a thread that has no business there. */
static void long_gap(struct scene *s, uint32_t i, uint64_t length)
{
	scene_gap(s, i, ticks * 9700 * US);
	scene_put(s, thread(4711, "backup", 1500, length - 2 * US));
	scene_end(s, length);
}

static void interrupts(struct scene *s, uint32_t i)
{
	static char name[SCENE_WORDS][20];
	uint64_t handler = scene_function(s, "ixgbe_msix_clean_rings [ixgbe]");
	unsigned number = s->view.cpu[i].number;

	snprintf(name[number], sizeof(name[number]), "eth0-TxRx-%u", number % 64);
	s->irq[number] = name[number];
	for (uint32_t k = 0; k < 2 * ticks; k++) {
		scene_gap(s, i, 3 * MS + 4500 * US * k);
		scene_put(s, irq(number, handler, 350, 1800 + 11 * (k % 17)));
		scene_put(s, softirq(3, 2100, 70 * US + 100 * (k % 11)));
		scene_end(s, 72 * US);
	}
}

static int machine_60(struct scene *s, const char *path)
{
	ticks = 400;
	begin(s, "trade-60", 4, 60);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 60; i++)
		tick(s, i);
	long_gap(s, 34 - 4, 5900 * US);
	return scene_finish(s);
}

static int machine_256(struct scene *s, const char *path)
{
	ticks = 400;
	begin(s, "dpdk-256", 8, 248);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 248; i++)
		i >= 192 && i < 196 ? interrupts(s, i) : tick(s, i);
	long_gap(s, 100 - 8, 5900 * US);
	return scene_finish(s);
}

static int machine_1024(struct scene *s, const char *path)
{
	ticks = 100;
	begin(s, "hpc-1024", 8, 1024);
	scene_begin(s, path);
	s->cursor[900 - 8][LEVEL_IRQ] += 5;
	for (uint32_t i = 0; i < 1024; i++)
		i == 77 - 8 ? interrupts(s, i) : tick(s, i);
	long_gap(s, 700 - 8, 1900 * US);
	s->view.cpu[512 - 8].ended = "the CPU went offline";
	s->view.cpu[512 - 8].observed_ns = 990 * MS;
	return scene_finish(s);
}

static int machine_unlike(struct scene *s, const char *path)
{
	static char name[64][16];

	ticks = 100;
	begin(s, "zoo-64", 1, 64);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 64; i++) {
		snprintf(name[i], sizeof(name[i]), "job-%c%c", 'a' + i / 8, 'a' + i % 8);
		for (uint32_t k = 0; k < 10; k++) {
			scene_gap(s, i, 5 * MS + 90 * MS * k);
			scene_put(s, thread(500 + i, name[i], 1 * US, 100 * US + 10 * US * i));
			scene_end(s, 102 * US + 10 * US * i);
		}
	}
	return scene_finish(s);
}

/* ---- a workload ---- */

#define SLEEPS 40

/* One late wake-up; the latency counts as a value of the series, too. */
static void late(struct scene *s, uint32_t i, uint64_t at, uint64_t length, bool backup)
{
	scene_gap(s, i, at);
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 700, 1900));
	if (backup)
		scene_put(s, thread(4711, "backup", 2000, length - 300));
	else
		scene_put(s, softirq(7, 2100, length - 900));
	scene_end(s, length);
}

/* CPUs from 8 on. */
static int sleeping(struct scene *s, const char *path, uint32_t n, uint32_t odd_one)
{
	ticks = 100;
	begin(s, "plc", 8, n);
	strcpy(s->view.run.sampler, "sleep");
	strcpy(s->view.run.rest, "idle exit");
	s->view.run.windows = true;
	s->view.run.threshold_auto = false;
	scene_begin(s, path);
	for (uint32_t i = 0; i < n; i++) {
		struct cpu *c = &s->view.cpu[i];
		struct series *series = c->series = calloc(2, sizeof(*series));

		c->khz_until_ns = KHZ_ALWAYS;
		c->nseries = n < 10 ? 2 : 1;
		for (uint32_t k = 0; k < c->nseries; k++)
			if (!series || hist_init(&series[k].hist, SERIES_BITS))
				abort();
		c->threshold_ns = series[0].threshold_ns = 10 * US;
		strcpy(series[0].name, "latency");
		strcpy(series[1].name, "read the clock");
		series[1].fine = true;
		for (uint32_t k = 0; k < SLEEPS; k++) {
			bool slow = k % 10 == 9, odd = i == odd_one && k == 19;
			uint64_t length = odd ? 3 * MS : slow ? 14 * US + 10 * (i % 50) : 3 * US;

			if (slow)
				late(s, i, 20 * MS * k + 1 * US * (i % 90), length, odd);
			length += 10 * ((k * 7 + i) % 20) * !slow;
			hist_add(&series[0].hist, length);
			if (c->nseries > 1)
				hist_add(&series[1].hist, 21300 + 10 * k);
			series[0].longer += slow;
			if (length > series[0].longest_ns)
				series[0].longest_ns = length;
		}
	}
	return scene_finish(s);
}

static int machine_sleep(struct scene *s, const char *path)
{
	return sleeping(s, path, 1024, 500 - 8);
}

static int machine_naps(struct scene *s, const char *path)
{
	return sleeping(s, path, 4, 1);
}

/* ---- watched threads, one on each CPU ---- */

#define FEEDS 12

static struct watch *watch;
static uint16_t watch_seq[FEEDS + 1][LEVELS];

static void give(uint32_t i, struct record r, uint64_t at_ns)
{
	r.start_ns += WORLD_STARTED + at_ns;
	r.end_ns += WORLD_STARTED + at_ns;
	r.seq = ++watch_seq[i][r.level];
	watch_record(watch, i, &r);
}

static void does(uint32_t i, enum watch_kind what, const char *name, uint64_t at_ns, uint64_t start,
		 uint64_t end)
{
	struct record r = thread(700 + i, name, start, end);

	r.kind = RECORD_WATCH;
	r.mark = what;
	r.arg = what == WATCH_OUT ? 700 + i : i;
	give(i, r, at_ns);
}

/* Runs a thread for 10 ms, in the midst of which it is preempted for `length`. */
static void preempt(uint32_t i, const char *name, uint64_t at, uint32_t by, const char *who,
		    uint64_t length)
{
	struct record r = thread(by, who, 2 * MS, 2 * MS + length);

	if (by < 700)
		r = kthread(by, who, 2 * MS, 2 * MS + length);
	does(i, WATCH_IN, name, at, 0, 0);
	does(i, WATCH_OUT, name, at, 0, 2 * MS);
	give(i, r, at);
	does(i, WATCH_IN_PREEMPTED, name, at, 2 * MS, 2 * MS + length + 1 * US);
	does(i, WATCH_OUT, name, at, 2 * MS + length + 1 * US, 10 * MS);
}

static void watch_view(struct scene *s, unsigned *lane)
{
	struct view *v = &s->view;

	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	scene_init(s, "feeds", lane, WATCH_LANES);
	cpus_clear(&v->run.cpus);
	for (unsigned i = 0; i <= FEEDS; i++)
		cpus_add(&v->run.cpus, i);
	for (unsigned i = 0; i < WATCH_LANES; i++) {
		v->cpu[i].threshold_ns = v->cpu[i].edge_seen.samples = 0;
		v->cpu[i].loop_count = v->cpu[i].loop_min_ns = 0;
		v->cpu[i].loop_mean_ns = 0;
		v->cpu[i].bounds = (struct edge_bounds){0, 0};
	}
	cpus_clear(&v->run.housekeeping);
	cpus_add(&v->run.housekeeping, FEEDS + 1);
	strcpy(v->run.sampler, "watch");
	strcpy(v->run.priority, "its own");
	strcpy(v->run.rest, "not seen");
	v->run.watch = v->run.windows = v->run.whose = true;
	v->run.threshold_auto = false;
}

static int machine_feeds(struct scene *s, const char *path)
{
	unsigned lane[WATCH_LANES];

	watch_view(s, lane);
	scene_begin(s, path);
	watch = watch_new(&s->view, s->session, lane, FEEDS + 1);
	if (!watch)
		abort();
	for (uint32_t k = 0; k < 20; k++)
		for (uint32_t i = 0; i <= FEEDS; i++) {
			char name[16], worker[16];

			snprintf(name, sizeof(name), i < FEEDS ? "feed-%u" : "gui", i);
			snprintf(worker, sizeof(worker), "kworker/%u:1", i);
			if (i == 7 && k == 11)
				preempt(i, name, 40 * MS * k, 4711, "backup", 5 * MS);
			else
				preempt(i, name, 40 * MS * k, 30 + i, worker,
					40 * US + 10 * (i % 7));
		}
	watch_finish(watch, WORLD_STARTED + s->view.run.duration_ns);
	watch_free(watch);
	return scene_finish(s);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*make)(struct scene *s, const char *path);
	} machines[] = {{"60", machine_60},        {"256", machine_256},
			{"1024", machine_1024},    {"unlike", machine_unlike},
			{"sleeps", machine_sleep}, {"naps", machine_naps},
			{"feeds", machine_feeds}};
	static struct scene scene;
	char path[PATH_MAX];

	for (size_t i = 0; argc == 2 && i < sizeof(machines) / sizeof(machines[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s.rec", argv[1], machines[i].name);
		if (machines[i].make(&scene, path))
			return 1;
		view_free(&scene.view);
	}
	return argc != 2;
}
