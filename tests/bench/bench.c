/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of `make bench` that need a program of their own: the spin loop against a bare one, a
 * record's cost by ring, each probe's cost by the kernel's own program statistics, and the floor of
 * tests/bench/peers. Prints rows of a table: name, value, unit, remark. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <unistd.h>

#include "collect/sampler.h"
#include "collect/counter.h"
#include "bench.skel.h"
#include "count.h"
#include "fleet.h"
#include "pair.h"
#include "recording.h"
#include "scale.h"
#include "sums.h"
#include "turns.h"

#define ROUNDS 15
#define RUNS   40
#define CALLS  500 /* prctl calls a run */

static struct sampler_shm *shm;

static void end_loop(int sig)
{
	(void)sig;
	atomic_store(&shm->limit, 0);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("bench: sched_setaffinity");
		exit(1);
	}
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(double *v, int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static double ns_per_tick(void)
{
	uint64_t t0 = counter_now(), n0 = now_ns();

	usleep(200000);
	return (double)(now_ns() - n0) / (counter_now() - t0);
}

static void run_loop(uint64_t short_from)
{
	struct itimerval t = {.it_value.tv_usec = 50000};

	setitimer(ITIMER_REAL, &t, NULL);
	sampler_bench_loop(shm, short_from, 600);
}

/* Mean of the loops that were not hiccups, over 50 ms. */
static double real_loop(void)
{
	run_loop(200);
	return (double)(shm->end - shm->start - shm->away_ticks) / shm->loop_count;
}

/* Time to count a short gap, when every loop is one. */
static double short_gap(void)
{
	run_loop(1);
	return (double)shm->busy_ticks / shm->short_count;
}

static void bench_loop(void)
{
	double bare[ROUNDS], real[ROUNDS], ratio[ROUNDS], gap[ROUNDS], ns = ns_per_tick();

	shm = sampler_shm_new();
	if (!shm)
		exit(1);
	signal(SIGALRM, end_loop);
	memset(shm->ring, 0, sizeof(shm->ring));
	for (int i = 0; i < ROUNDS; i++) {
		bare[i] = sampler_bench_bare(200) * ns;
		real[i] = real_loop() * ns;
		ratio[i] = real[i] / bare[i];
		gap[i] = short_gap() * ns;
	}
	printf("loop: bare counter reads\t%.2f\tns\tmedian of %d rounds, in turn with the next\n",
	       median(bare, ROUNDS), ROUNDS);
	printf("loop: the sampler's\t%.2f\tns\t\n", median(real, ROUNDS));
	printf("loop: ratio\t%.3f\t\tto be at most 1.05\n", median(ratio, ROUNDS));
	printf("loop: counting a short gap\t%.2f\tns\t\n", median(gap, ROUNDS));
}

/* ---- rings ---- */

/* The least of many short runs: a longer one was interrupted. */
static double prctl_ns(struct ring_buffer *ring)
{
	double best = 1e9;

	for (int run = 0; run < RUNS; run++) {
		uint64_t start = now_ns();
		double ns;

		for (int i = 0; i < CALLS; i++)
			prctl(PR_SET_NAME, "bench");
		ns = (double)(now_ns() - start) / CALLS;
		best = ns < best ? ns : best;
		ring_buffer__consume(ring);
	}
	return best;
}

static int ignore(void *ctx, void *data, size_t len)
{
	(void)ctx;
	(void)data;
	(void)len;
	return 0;
}

/* Attached against detached, in turn. */
static void bench_program(struct bpf_program *prog, struct ring_buffer *ring, const char *name)
{
	double added[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double without = prctl_ns(ring), with;
		struct bpf_link *link = bpf_program__attach(prog);

		if (!link) {
			fprintf(stderr, "bench: attaching %s failed\n", name);
			return;
		}
		prctl_ns(ring);
		with = prctl_ns(ring);
		bpf_link__destroy(link);
		added[i] = with - without;
	}
	printf("record: %s\t%.0f\tns\tadded to a system call, attached against detached, median of "
	       "%d\n",
	       name, median(added, ROUNDS), ROUNDS);
}

/* Loads the programs whose names begin so, for this target CPU. */
static struct bench_bpf *load_programs(const char *prefix, int cpu)
{
	struct bench_bpf *skel = bench_bpf__open();
	struct bpf_program *prog;

	if (!skel)
		exit(1);
	bpf_object__for_each_program(prog, skel->obj)
	{
		const char *name = bpf_program__name(prog);

		bpf_program__set_autoload(prog, !strncmp(name, prefix, strlen(prefix)));
	}
	skel->rodata->slot_of_cpu[cpu] = 1;
	skel->bss->gate = 1;
	if (bench_bpf__load(skel)) {
		fprintf(stderr, "bench: the programs do not load here\n");
		exit(1);
	}
	return skel;
}

static void bench_rings(int cpu)
{
	struct bench_bpf *skel = load_programs("bench_", cpu);
	struct ring_buffer *ring;

	ring = ring_buffer__new(bpf_map__fd(skel->maps.ringbuf), ignore, NULL, NULL);
	bench_program(skel->progs.bench_empty, ring, "empty program");
	bench_program(skel->progs.bench_clock, ring, "+ timestamp");
	bench_program(skel->progs.bench_array, ring, "+ record, array ring (in use)");
	bench_program(skel->progs.bench_ringbuf, ring, "+ record, BPF ring buffer");
	ring_buffer__free(ring);
	bench_bpf__destroy(skel);
}

/* ---- the floor ---- */

/* Attaches the programs of floor.bpf.c, says so, and keeps them until standard input ends. */
static void bench_floor(int cpu)
{
	struct bench_bpf *skel = load_programs("floor_", cpu);
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, skel->obj) if (bpf_program__autoload(prog) &&
							  !bpf_program__attach(prog))
	{
		fprintf(stderr, "bench: attaching %s failed\n", bpf_program__name(prog));
		exit(1);
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	bench_bpf__destroy(skel);
}

/* ---- the probes of a running culprit, by the kernel's statistics ---- */

static void bench_probes(unsigned seconds)
{
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct bpf_prog_info info;
	__u32 id = 0, len;
	int fd;

	if (stats < 0)
		return;
	sleep(seconds);
	while (!bpf_prog_get_next_id(id, &id)) {
		fd = bpf_prog_get_fd_by_id(id);
		memset(&info, 0, sizeof(info));
		len = sizeof(info);
		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len) &&
		    info.type == BPF_PROG_TYPE_TRACING && info.run_cnt > 100)
			printf("probe: %s\t%.0f\tns\tmean of %llu runs on all CPUs, statistics "
			       "included\n",
			       info.name, (double)info.run_time_ns / info.run_cnt,
			       (unsigned long long)info.run_cnt);
		if (fd >= 0)
			close(fd);
	}
	close(stats);
}

int main(int argc, char **argv)
{
	int cpu = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 1 && !strcmp(argv[1], "probes")) {
		bench_probes(argc > 3 ? atoi(argv[3]) : 5);
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "recording"))
		return bench_recording(argv[2], strtoull(argv[3], NULL, 10),
				       argc > 4 ? atoi(argv[4]) : 4,
				       argc > 5 ? atoi(argv[5]) : RECORDING_THREADS)
			       ? 1
			       : 0;
	if (argc > 3 && !strcmp(argv[1], "count"))
		return bench_count(cpu, argv + 3, argc - 3) ? 1 : 0;
	if (argc > 2 && !strcmp(argv[1], "memory"))
		return bench_memory(strtoull(argv[2], NULL, 10)) ? 1 : 0;
	if (argc > 6 && !strcmp(argv[1], "fleet"))
		return bench_fleet(argv[2],
				   &(struct fleet_size){.hosts = strtoul(argv[3], NULL, 10),
							.hours = strtoul(argv[4], NULL, 10),
							.rate = strtod(argv[5], NULL)},
				   argv + 6, argc - 6)
			       ? 1
			       : 0;
	if (argc > 3 && !strcmp(argv[1], "scale"))
		return bench_scale(cpu, strtoul(argv[3], NULL, 10)) ? 1 : 0;
	if (argc > 3 && !strcmp(argv[1], "sums"))
		return bench_sums(cpu, atoi(argv[3])) ? 1 : 0;
	if (argc > 3 && !strcmp(argv[1], "pair")) {
		bench_pair(cpu, atoi(argv[3]), ns_per_tick());
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "floor")) {
		bench_floor(cpu);
		return 0;
	}
	pin(cpu);
	if (argc > 1 && !strcmp(argv[1], "loop"))
		bench_loop();
	else if (argc > 1 && !strcmp(argv[1], "rings"))
		bench_rings(cpu);
	else if (argc > 4 && !strcmp(argv[1], "turns"))
		return bench_turns(argv[3], argv[4]) ? 1 : 0;
	else
		return 1;
	return 0;
}
