/* SPDX-License-Identifier: GPL-2.0-or-later */
/* golden DIR: makes the recordings whose reports are kept in this directory, DIR/NAME.rec each, and
 * prints the names of all formats. The recordings are the same on every machine.
 *
 *   quiet     an isolated CPU with next to nothing
 *   ticking   a housekeeping CPU with all that it does
 *   irq       a network card's interrupt on an isolated CPU
 *   threads   who preempts, who asked, from where; RT throttling, faults
 *   guest     time outside the kernel, with a steal clock
 *   two       CPUs that stop together, counters that do not close, one that was offline and an
 *             early end
 *   together  CPUs that stop together again and again, while one thread runs elsewhere
 *   rt        PREEMPT_RT, and hostile names everywhere
 *   untraced  --no-trace
 *   sleep     a workload: windows instead of hiccups
 *   stopped   a handler that a guest's host stopped
 *   four      CPUs of which three are alike
 *   crowd     a thread that renames itself, a fork storm, threads that pose as the kernel's,
 *             several timers in one interrupt
 */
#include <limits.h>
#include <unistd.h>

#include "model/watch.h"
#include "render/render.h"
#include "../world/scene.h"

#define MS 1000000ULL
#define US 1000ULL

static const unsigned cpu3[] = {3}, cpu1[] = {1}, cpus13[] = {1, 3};

/* A tick as on x86: the vector, its function, and the softirqs behind it. */
static void tick(struct scene *s, uint32_t index, uint64_t at_ns, uint64_t length,
		 uint32_t softirqs)
{
	uint64_t at = 300 + length;

	scene_gap(s, index, at_ns);
	scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, scene_function(s, "tick_nohz_handler"), 450));
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, at));
	for (uint32_t id = 0; id < 10; id++)
		if (softirqs & 1 << id) {
			scene_put(s, softirq(id, at + 80, at + 500 + 100 * id));
			at += 500 + 100 * id;
		}
	scene_end(s, at + 250);
}

static void quiet(struct scene *s, const char *path)
{
	scene_init(s, "trade-01", cpu3, 1);
	s->view.run.duration_ns = 10000 * MS;
	scene_begin(s, path);
	for (uint32_t i = 0; i < 3; i++) {
		scene_gap(s, 0, 1000 * MS + 4000 * MS * i);
		scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, scene_function(s, "tick_nohz_handler"),
				  450));
		scene_put(s, instant(RECORD_TICK, LEVEL_IRQ, 1 << 3, 4711, "matlab", 1100));
		scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, 2200 + 10 * i));
		scene_end(s, 2500 + 20 * i);
	}
	s->view.cpu[0].smi_known = true;
	world_closure(&s->view.cpu[0],
		      (const struct closure_row[]){{.counter = "LOC", .kernel = 3, .traced = 3},
						   {.counter = "context switches"}},
		      2);
}

static void ticking(struct scene *s, const char *path)
{
	scene_init(s, "web-07", cpu1, 1);
	world_fact(&s->view, "proc/cmdline", "quiet isolcpus=managed_irq,domain,3 nohz_full=3\n");
	world_fact(&s->view, "sys/devices/system/cpu/online", "0-3\n");
	world_fact(&s->view, "sys/devices/system/cpu/isolated", "3\n");
	world_fact(&s->view, "sys/devices/system/cpu/nohz_full", "3\n");
	world_fact(&s->view, "proc/sys/vm/stat_interval", "1\n");
	world_fact(&s->view, "proc/sys/kernel/watchdog", "1\n");
	scene_begin(s, path);
	for (uint32_t i = 0; i < 50; i++)
		tick(s, 0, 20 * MS * i + 1 * MS, 1800 + 7 * (i % 13),
		     (i % 3 ? 0 : 1 << 1) | (i % 10 ? 0 : 1 << 9) | (i % 25 ? 0 : 1 << 7));
}

/* Findings whose cost no source shows: a governor, and a load on the other CPUs. */
static void unmeasured(struct scene *s)
{
	world_fact(&s->view, "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "schedutil\n");
	world_fact(&s->view, "proc/loadavg", "9.00 9.00 9.00 9/99 999\n");
}

/* A network card's queue on cpu 3. */
static void queue(struct scene *s, uint32_t irq)
{
	char name[64], text[64];

	snprintf(name, sizeof(name), "proc/irq/%u/smp_affinity_list", irq);
	world_fact(&s->view, name, "0-3\n");
	snprintf(name, sizeof(name), "proc/irq/%u/effective_affinity_list", irq);
	world_fact(&s->view, name, "3\n");
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/actions", irq);
	snprintf(text, sizeof(text), "eth0-TxRx-%u\n", irq - 24);
	world_fact(&s->view, name, text);
	snprintf(name, sizeof(name), "sys/kernel/irq/%u/per_cpu_count", irq);
	snprintf(text, sizeof(text), "0,0,17,%u\n", 1000 * irq);
	world_fact(&s->view, name, text);
}

static void busy_irq(struct scene *s, const char *path)
{
	uint64_t handler, poll;

	scene_init(s, "gw-2", cpu3, 1);
	handler = scene_function(s, "ixgbe_msix_clean_rings [ixgbe]");
	poll = scene_function(s, "blk_mq_complete [blk]");
	s->irq[24] = "eth0-TxRx-0";
	s->affinity[24] = "0-3, effective 3";
	s->device[24] = "0000:00:03.0 (virtio-pci, NUMA node 0)";
	s->irq[36] = "nvme0q4";
	world_fact(&s->view, "sys/devices/system/cpu/online", "0-3\n");
	world_fact(&s->view, "sys/devices/system/cpu/possible", "0-3\n");
	for (uint32_t i = 24; i < 29; i++)
		queue(s, i);
	unmeasured(s);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t end = 1200 + 11 * (i % 17);

		scene_gap(s, 0, 20 * MS * i + 500 * US + 37 * US * (i % 7));
		scene_put(s, irq(24, handler, 350, end));
		scene_put(s, softirq(3, end + 100, end + 5000 + 300 * (i % 11)));
		scene_end(s, end + 5400 + 300 * (i % 11));
	}
	for (uint32_t i = 0; i < 5; i++) { /* one without a name, and one inside a softirq */
		scene_gap(s, 0, 850 * MS + 20 * MS * i);
		scene_put(s, irq(36, poll, 900, 2400));
		scene_put(s, irq(99, 0, 2600, 3100));
		scene_put(s, softirq(4, 500, 6000));
		scene_end(s, 6400);
	}
}

static struct record of_group(struct record r, uint32_t group)
{
	r.owner = OWNER(r.id, group);
	return r;
}

/* The asker's group. */
static struct record by_group(struct record m, uint32_t group)
{
	m.flags |= RECORD_OWNED;
	return of_group(m, group);
}

static void ask(struct scene *s, uint64_t at_ns, int32_t stack, const char *comm, uint32_t tid)
{
	uint64_t work = scene_function(s, "lru_add_drain_per_cpu");

	scene_gap(s, 0, at_ns);
	scene_put(s, vector(VECTOR_RESCHEDULE, 300, 900));
	scene_put(s, by_group(asked(mark(LEVEL_THREAD, MARK_WORK, work, 2500), tid, comm, 0, stack),
			      6));
	scene_put(s, kthread(812, "kworker/3:1", 2100, 31000));
	scene_end(s, 32500);
}

/* With command lines. */
static void owners(struct scene *s)
{
	s->command[0] = (struct scene_command){900, "stress --vm 2 \x1b[31m`|\n--cpu 1"};
	s->command[1] = (struct scene_command){4414, "python3 /srv/feed.py --key=Zq-in-command"};
	s->owner[5] = "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod"
		      "1b2c3d4e_0a1b_4c5d_8e9f_001122334455.slice/cri-containerd-"
		      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef.scope\n"
		      "pod=shop/api-7f9\ncontainer=app";
	s->owner[6] = "/system.slice/\x1b[31m<evil>|`.service";
	s->owner[7] = "/user.slice/user-1000.slice/session-3.scope";
	s->owner[8] = "/machine.slice/machine-qemu\\x2d3\\x2dweb.scope/libvirt/vcpu0";
	s->owner[9] = "/system.slice/docker-"
		      "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope/"
		      "system.slice/cron.service\ncontainer=web";
}

/* A thread of each kind of owner. */
static void owned_threads(struct scene *s)
{
	static const char *const comms[] = {"make", "CPU 0/KVM", "cron"};

	for (uint32_t i = 0; i < 3; i++) {
		scene_gap(s, 0, 700 * MS + 10 * MS * i);
		scene_put(s, of_group(thread(3000 + i, comms[i], 1200, (20 + i) * US), 7 + i));
		scene_end(s, 25 * US);
	}
}

/* Owners; and user stacks: one that is known, one with strange names and callers that are not
 * known. */
static void callers(struct scene *s, int32_t queued, int32_t woken)
{
	owners(s);
	s->user[queued] = 1;
	s->calls[1] =
		"madvise\t/usr/lib/libc.so.6\t11b3f7\t6196744a316dbd57c0fc8968df1680aac482cec4\n"
		"release\t/srv/Zq-feed/lib.so\t1a2b\tabcdef01\t/srv/Zq-feed/src/lib.c:31\n"
		"\t/srv/Zq-feed/lib.so\t1c00\tabcdef01\n"
		"main\t/usr/bin/python3\t9a0\t0123456789\n"
		"\t/usr/lib/libc.so.6\t271ca\t6196744a316dbd57c0fc8968df1680aac482cec4\n?\n";
	s->user[woken] = 2;
	s->calls[2] = "?\ncall <b>\x1b[31m;`|\t/tmp/<Zq> \x9b\t10\t\n\t\t7f0012345678\t\n";
}

static void threads(struct scene *s, const char *path)
{
	static const char *const queue[] = {"__queue_work", "queue_work_on", "__lru_add_drain_all",
					    "__x64_sys_madvise", "do_syscall_64"};
	static const char *const wake[] = {"try_to_wake_up", "wake_up_q", "futex_wake", "do_futex",
					   "do_syscall_64"};
	static const char *const timer[] = {"try_to_wake_up",    "process_timeout",
					    "call_timer_fn",     "__run_timers",
					    "run_timer_softirq", "handle_softirqs"};
	int32_t queued, woken, timed;
	uint64_t sched, flush;

	scene_init(s, "rt-box", cpu3, 1);
	strcpy(s->view.run.priority, "SCHED_FIFO 10");
	s->view.run.real_time = true;
	s->view.cpu[0].edge_seen = (struct edge_seen){3, 400, 400, 300, 300};
	s->view.cpu[0].bounds = (struct edge_bounds){2000, 5000};
	queued = scene_stack(s, queue, 5);
	woken = scene_stack(s, wake, 5);
	timed = scene_stack(s, timer, 6);
	sched = scene_function(s, "sched_rt_period_timer");
	flush = scene_function(s, "flush_tlb_func");
	callers(s, queued, woken);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 20; i++)
		ask(s, 10 * MS * i + 1 * MS, i % 4 ? queued : timed, i % 3 ? "python3" : "bash",
		    i % 3 ? 4414 : 99);
	for (uint32_t i = 0; i < 9; i++) { /* a real-time thread that another thread woke */
		struct record r = of_group(thread(77, "audio", 1200, 41 * US), 5);

		r.prio = 49;
		r.flags |= i % 5 == 1 ? RECORD_UNSEEN : 0;
		scene_gap(s, 0, 220 * MS + 10 * MS * i);
		scene_put(s,
			  asked(mark(LEVEL_IRQ, MARK_RESCHEDULE, 0, 400), 60, "player", 2, woken));
		scene_put(s, vector(VECTOR_RESCHEDULE, 300, 800));
		scene_put(s, by_group(asked(mark(LEVEL_THREAD, MARK_WAKER, 0, 1300), 60, "player",
					    2, woken),
				      9));
		scene_put(s, r);
		scene_end(s, 42500);
	}
	for (uint32_t i = 0; i < 7; i++) { /* an IPI for a TLB flush */
		scene_gap(s, 0, 330 * MS + 10 * MS * i);
		scene_put(s, asked(mark(LEVEL_IRQ, MARK_CSD, flush, 600), 500, "java", 1, -1));
		scene_put(s, instant(RECORD_TLB, LEVEL_IRQ, 1, 33, "java", 900));
		scene_put(s, vector(VECTOR_CALL_FUNCTION, 300, 2600));
		scene_end(s, 2900);
	}
	scene_gap(s, 0, 500 * MS); /* throttled: normal threads for 50 ms */
	scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, sched, 600));
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, 2600));
	scene_put(s, of_group(thread(900, "stress", 4000, 50 * MS), 6));
	scene_end(s, 50 * MS + 1500);
	for (uint32_t i = 0; i < 4; i++) { /* page faults, and an NMI in one */
		scene_gap(s, 0, 600 * MS + 10 * MS * i);
		scene_put(s, instant(RECORD_FAULT, LEVEL_THREAD, 4, 0x7f0000001000, "", 200));
		scene_put(s, nmi(scene_function(s, "perf_event_nmi_handler"), 700, 1900));
		scene_end(s, 2600);
	}
	owned_threads(s);
	s->view.cpu[0].unpaired = 2;
}

static struct record in_context(struct record m, uint8_t context)
{
	m.flags |= context;
	return m;
}

/* More askers than a source keeps apart: most come once; one of the two frequent ones comes late.
 * Some are not known. */
static void askers(struct scene *s, const char *path)
{
	static const char *const submit[] = {"try_to_wake_up", "wake_up_q", "futex_wake",
					     "do_futex", "do_syscall_64"};
	static const char *const strange[] = {"[unknown 0xffffffffc0000000]"};
	static const char *const timer[] = {"try_to_wake_up", "process_timeout", "call_timer_fn",
					    "handle_softirqs"};
	int32_t called, unreadable, timed;

	scene_init(s, "aio-box", cpu3, 1);
	called = scene_stack(s, submit, 5);
	unreadable = scene_stack(s, strange, 1);
	timed = scene_stack(s, timer, 4);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 240; i++) {
		struct record waker = asked(mark(LEVEL_THREAD, MARK_WAKER, 0, 1300), 5000 + i,
					    "short-lived", 2, called);

		if (i >= 80 && i % 4 == 0) {
			waker = asked(mark(LEVEL_THREAD, MARK_WAKER, 0, 1300), 4242, "late", 0,
				      called);
		} else if (i % 16 == 1) {
			waker.stack = unreadable;
		} else if (i % 8 == 3) {
			waker.stack = timed;
			waker = in_context(waker, RECORD_BY_SOFTIRQ);
		} else if (i % 40 == 2) {
			waker.stack = -1;
			waker = in_context(waker, RECORD_BY_INTERRUPT);
		}
		scene_gap(s, 0, 1 * MS + 2 * MS * i);
		scene_put(s, waker);
		scene_put(s, thread(77, "receiver", 1200, 9 * US + 10 * i));
		scene_end(s, 10 * US + 10 * i);
	}
}

static void guest(struct scene *s, const char *path)
{
	scene_init(s, "vm-3", cpu1, 1);
	strcpy(s->view.host.hypervisor, "KVM");
	s->view.cpu[0].threshold_ns = 500;
	s->view.cpu[0].shorts = (struct short_gaps){true, 100, 31400, 6 * MS};
	scene_begin(s, path);
	scene_steal(s, 0, 120 * MS);
	for (uint32_t i = 0; i < 20; i++) { /* short ones that nothing explains */
		scene_gap(s, 0, 9 * MS * i + 200 * US);
		scene_end(s, 3 * US + 150 * (i % 9));
	}
	for (uint32_t i = 0; i < 4; i++) {
		scene_gap(s, 0, 200 * MS + 50 * MS * i);
		scene_end(s, 9 * MS + 300 * US * i);
	}
	scene_steal(s, 0, 160 * MS);
	for (uint32_t i = 0; i < 20; i++)
		tick(s, 0, 500 * MS + 20 * MS * i, 2500 + 40 * US * (i % 4), 1 << 1);
	s->view.cpu[0].steal_known = true;
	s->view.cpu[0].steal_ns = 40 * MS;
}

/* A guest's vector that is short 240 times, and long once: the host took the CPU in the middle of
 * it. */
static void stopped(struct scene *s, const char *path)
{
	scene_init(s, "vm-4", cpu1, 1);
	strcpy(s->view.host.hypervisor, "KVM");
	scene_begin(s, path);
	for (uint32_t i = 0; i < 24; i++) {
		scene_gap(s, 0, 10 * MS * i + 1 * MS);
		for (uint32_t k = 0; k < 10; k++)
			scene_put(s, vector(VECTOR_RESCHEDULE, 700 + 3000 * k,
					    700 + 3000 * k + 1500 + 20 * i));
		scene_end(s, 31 * US);
	}
	scene_gap(s, 0, 500 * MS);
	scene_put(s, vector(VECTOR_RESCHEDULE, 700, 700 + 1470 * US));
	scene_end(s, 1472 * US);
}

/* A host with many gaps below a guest's threshold. */
static void shorts(struct scene *s, const char *path)
{
	scene_init(s, "bare-1", cpu3, 1);
	s->view.cpu[0].shorts = (struct short_gaps){true, 100, 60, 8500};
	s->view.cpu[0].edge_seen.samples = 20;
	scene_begin(s, path);
	for (uint32_t i = 0; i < 71; i++) {
		scene_gap(s, 0, 10 * MS * i + 200 * US);
		scene_end(s, i == 30 ? 4 * US : 250);
	}
}

static void two(struct scene *s, const char *path)
{
	scene_init(s, "numa-9", cpus13, 2);
	view_not_observed(&s->view, "ipi_send_cpu");
	view_not_observed(&s->view, "csd_function_entry");
	scene_begin(s, path);
	for (uint32_t i = 0; i < 30; i++)
		tick(s, i % 2, 15 * MS * i + 1 * MS, 2000 + 30 * (i % 5), 0);
	for (uint32_t i = 0; i < 3; i++) /* an SMI stops both */
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			scene_gap(s, cpu, 600 * MS + 20 * MS * i + 100 * cpu);
			scene_end(s, 180 * US + 1 * US * i);
		}
	s->cursor[1][LEVEL_IRQ] += 5; /* records that were lost */
	tick(s, 1, 700 * MS, 2100, 0);
	scene_gap(s, 1, 720 * MS); /* others, between the two ticks of a hiccup */
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 300, 2300));
	s->cursor[1][LEVEL_IRQ] += 7;
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 30 * US, 32 * US));
	scene_end(s, 32300);
	world_closure(
		&s->view.cpu[0],
		(const struct closure_row[]){{.counter = "LOC", .kernel = 50, .traced = 50},
					     {.counter = "RES",
					      .kernel = 9,
					      .traced = 8,
					      .why = "the kernel counts some that run no handler"},
					     {.counter = "HYP", .kernel = 4}},
		3);
	for (uint32_t i = 0; i < 2; i++) {
		s->view.cpu[i].smi_known = true;
		s->view.cpu[i].smi_count = 3;
	}
	s->view.cpu[1].hiccups_lost = 12;
	s->view.cpu[1].hiccups_lost_ns = 345678;
	s->view.run.recursion_misses = 1;
	s->view.cpu[1].ended = "the CPU went offline";
	s->view.cpu[1].observed_ns = 750 * MS;
	offline_add(&s->view.cpu[1].offline, WORLD_STARTED + 450 * MS, WORLD_STARTED + 500 * MS);
}

static struct presence elsewhere(uint32_t tid, const char *comm, uint64_t from, uint64_t to)
{
	struct presence p = {.start_ns = from, .end_ns = to, .tid = tid};

	strncpy(p.comm, comm, sizeof(p.comm));
	return p;
}

/* The thread's name holds what means something in some format. */
static void together(struct scene *s, const char *path)
{
	struct suspects *all = &s->view.suspects;

	scene_init(s, "gpu-2", cpus13, 2);
	strcpy(s->view.host.arch, "x86_64");
	all->looked = true;
	all->of_cpus = 2;
	scene_begin(s, path);
	for (uint32_t i = 0; i < 24; i++) {
		uint64_t at = 30 * MS * i + 1 * MS + i % 5 * 40 * US;
		uint64_t start = s->view.run.started_ns + at;
		struct stop stop = {start, start + 200 * US, i ? 30 * MS : 0, .cpus = 2};
		struct presence p[] = {
			elsewhere(412, "po|<b>`\033w\n", start - 30 * US, start + 240 * US),
			elsewhere(97, "sshd", start + 1 * MS, start + 2 * MS),
		};

		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			scene_gap(s, cpu, at);
			scene_end(s, 200 * US);
		}
		p[0].call = i % 3 ? 0 : 2 + 16;
		p[0].call_ns = start + 200 * US;
		suspects_cell(&stop);
		suspects_add(all, &stop, p, i == 7 ? 0 : 2);
	}
}

#define HOSTILE 24 /* number of hostile names, the first ones */

static void hostile_view(struct view *v)
{
	strcpy(v->host.hostname, "h|<b>\"x\",\n`y`\033[1m");
	strcpy(v->host.kernel, "6.12.9-rt|<i>`\n=\xe2\x80\xae");
	strcpy(v->host.cmdline, "quiet | `x` <script>alert(1)</script>\n# no \"head\" \xff");
	strcpy(v->host.cpu_model, "CPU | `<b>`\033[2J");
	strcpy(v->host.hypervisor, "H|V\n\033]0;x\007");
	strcpy(v->host.clocksource, "t\nsc");
	strcpy(v->host.arch, "x86|64");
	strcpy(v->run.sampler, "t|sc\n");
	strcpy(v->run.priority, "S|C\033[5m");
	view_not_observed(v, "evil|`<b>\n\033[1m*x*");
}

static void rt(struct scene *s, const char *path)
{
	struct view *v = &s->view;
	int32_t stack[HOSTILE];

	scene_init(s, "", cpu3, 1);
	hostile_view(v);
	for (uint32_t i = 0; i < HOSTILE; i++) {
		const char *frame[] = {hostile_names[i], hostile_names[(i + 1) % HOSTILE]};

		stack[i] = scene_stack(s, frame, 2);
		s->irq[i] = hostile_names[i];
		s->affinity[i] = i % 5 ? NULL : "0-3|\n\033[1m<b>";
	}
	scene_begin(s, path);
	for (uint32_t i = 0; i < HOSTILE; i++) {
		uint64_t function = scene_function(s, hostile_names[(i + 7) % HOSTILE]);
		struct record first = softirq(1, 3000, 6000), rest = softirq(1, 12000, 15000);

		scene_gap(s, 0, 1 * MS + 10 * MS * i);
		scene_put(s, irq(i, function, 300, 900));
		scene_put(s, instant(RECORD_TICK, LEVEL_IRQ, 1 << i % 5, 10 + i, hostile_names[i],
				     900));
		/* A softirq that is preempted with its thread, as on PREEMPT_RT. */
		first.flags = RECORD_PART;
		scene_put(s, first);
		scene_put(s, kthread(30 + i, "irq/24-eth0", 2500, 7000));
		scene_put(s, thread(200 + i, hostile_names[i], 7500, 11000));
		scene_put(s, rest);
		scene_put(s, asked(mark(LEVEL_THREAD, MARK_WAKER, 0, 15500), 7 + i,
				   hostile_names[i], 2, stack[i]));
		scene_put(s, kthread(15, "ksoftirqd/3", 11500, 16000));
		scene_end(s, 16500 + 100 * i);
	}
	world_closure(&v->cpu[0],
		      (const struct closure_row[]){{.counter = "a|`b`<i>\n\033[1m",
						    .kernel = 7,
						    .traced = 5,
						    .why = "w|`h`\n\033[1m<y>"},
						   {.counter = "LOC", .kernel = 1, .traced = 1}},
		      2);
	v->cpu[0].ended = "e|`nd`\n\033[1m<z>";
	strcpy(v->run.isolation_changed, "cpu 3|`a`\n\033[1m<b>");
	v->run.names_lack = true;
}

static void untraced(struct scene *s, const char *path)
{
	scene_init(s, "user-box", cpus13, 2);
	s->view.run.traced = false;
	s->view.run.threshold_auto = false;
	strcpy(s->view.run.sampler, "clock");
	s->view.host.tsc_khz = 0;
	world_fact(&s->view, "sys/devices/system/cpu/online", "0-3\n");
	world_fact(&s->view, "sys/devices/system/cpu/possible", "0-3\n");
	world_fact(&s->view, "sys/devices/system/cpu/isolated", "3\n");
	world_fact(&s->view, "sys/devices/system/cpu/nohz_full", "3\n");
	world_fact(&s->view, "sys/kernel/mm/transparent_hugepage/enabled", "[always]\n");
	queue(s, 24);
	unmeasured(s);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 16; i++) {
		scene_gap(s, i % 2, 10 * MS * i + 1 * MS);
		scene_end(s, 2 * US + 900 * (i % 7));
	}
}

static void sleeping(struct scene *s, const char *path)
{
	struct series *series;

	scene_init(s, "plc-4", cpu3, 1);
	strcpy(s->view.run.sampler, "sleep");
	strcpy(s->view.run.label, "shift 2");
	s->view.cpu[0].khz_changes = 3;
	s->view.cpu[0].khz_min = 1200000;
	s->view.cpu[0].khz_max = 3400000;
	for (uint32_t i = 0; i < 3; i++)
		khz_add(&s->view.cpu[0].khz, s->view.run.started_ns + i * 100 * MS,
			i == 1 ? 3400000 : 1200000);
	s->view.run.windows = true;
	strcpy(s->view.run.rest, "idle exit");
	series = s->view.cpu[0].series = calloc(2, sizeof(*series));
	if (!series || hist_init(&series[0].hist, SERIES_BITS) ||
	    hist_init(&series[1].hist, SERIES_BITS))
		abort();
	s->view.cpu[0].nseries = 2;
	strcpy(series[0].name, "latency");
	strcpy(series[1].name, "read the clock");
	for (uint32_t k = 0; k < 2; k++) {
		course_place(&series[k].course, calloc(COURSE_BINS, sizeof(struct course_bin)));
		if (!series[k].course.bin)
			abort();
		course_reset(&series[k].course, 20 * MS);
	}
	series[0].threshold_ns = 200;
	series[0].longer = 40;
	series[0].longest_ns = 2600 + 90 * 11;
	series[1].fine = true;
	scene_begin(s, path);
	session_feed(s->session,
		     &(struct event){.type = EVENT_WHERE, .spot = &(struct spot){3, .series = 1}});
	for (uint32_t i = 0; i < 40; i++) {
		uint64_t length = 2600 + 90 * (i % 12);

		scene_gap(s, 0, 25 * MS * i + 1 * MS);
		scene_put(s, vector(VECTOR_LOCAL_TIMER, 700, 1900));
		if (i % 8 == 0)
			scene_put(s, thread(1234, "logger", 2000, 2300));
		scene_end(s, length);
		hist_add(&series[0].hist, length);
		course_add(&series[0].course, s->view.run.started_ns + 25 * MS * i, length);
		hist_add(&series[1].hist, 21300 + 10 * i);
		course_add(&series[1].course, s->view.run.started_ns + 25 * MS * i, 21300 + 10 * i);
	}
}

static void four(struct scene *s, const char *path)
{
	static const unsigned cpus[] = {4, 5, 6, 7};
	uint64_t handler, update;

	scene_init(s, "numa-2", cpus, 4);
	handler = scene_function(s, "ixgbe_msix_clean_rings [ixgbe]");
	update = scene_function(s, "vmstat_update");
	s->view.run.duration_ns = 20 * MS;
	cpus_parse("4-7", &s->view.host.isolated, NULL, 0);
	cpus_parse("0-7", &s->view.host.online, NULL, 0);
	scene_begin(s, path);
	for (uint32_t i = 0; i < 4; i++) {
		char comm[16];

		s->irq[40 + i] = (const char *[]){"eth0-TxRx-0", "eth0-TxRx-1", "eth0-TxRx-2",
						  "eth0-TxRx-3"}[i];
		for (uint32_t k = 0; k < 15; k++) {
			scene_gap(s, i, MS * k + 10 * US * i);
			scene_put(s, irq(40 + i, handler, 350, 4000 + 100 * i + 10 * k));
			scene_end(s, 4500 + 100 * i + 10 * k);
		}
		snprintf(comm, sizeof(comm), "kworker/%u:1", cpus[i]);
		scene_gap(s, i, 16 * MS);
		scene_put(s, asked(mark(LEVEL_THREAD, MARK_WORK, update, 1500), 77, "node_exporter",
				   0, -1));
		scene_put(s, kthread(1000 + i, comm, 1200, 3 * US + 100 * i));
		scene_end(s, 3500 + 100 * i);
	}
	scene_gap(s, 2, 17 * MS);
	scene_put(s, thread(4711, "backup", 1500, 90 * US));
	scene_end(s, 92 * US);
}

/* Names that pose as others, and too many names. */
static void crowd(struct scene *s, const char *path)
{
	static const char *const fakes[] = {"ksoftirqd/3", "kworker/3:1", "migration/3",
					    "swapper/3",   "[kswapd0]",   "(others)",
					    "rcu_preempt"};
	uint64_t timer[3], lone, work, at;
	char comm[16];

	scene_init(s, "shared-2", cpu3, 1);
	timer[0] = scene_function(s, "process_timeout");
	timer[1] = scene_function(s, "delayed_work_timer_fn");
	timer[2] = scene_function(s, "tcp_keepalive_timer");
	lone = scene_function(s, "neigh_timer_handler");
	work = scene_function(s, "vmstat_update");
	s->irq[24] = "eth0-TxRx-0";
	scene_begin(s, path);
	/* Three timers in one interrupt; the second also begins one; a fourth never does. */
	for (uint32_t i = 0; i < 30; i++) {
		scene_gap(s, 0, 10 * MS * i + 1 * MS);
		for (uint32_t k = i % 10 == 9; k < 3; k++)
			scene_put(s, mark(LEVEL_SOFTIRQ, MARK_TIMER, timer[k], 600 + 500 * k));
		if (i % 10 == 4)
			scene_put(s, mark(LEVEL_SOFTIRQ, MARK_TIMER, lone, 2100));
		scene_put(s, softirq(1, 500, 2600));
		scene_end(s, 2900);
	}
	for (uint32_t i = 0; i < sizeof(fakes) / sizeof(fakes[0]);
	     i++) { /* the user's, and the kernel's own of that name and number */
		scene_gap(s, 0, 400 * MS + 10 * MS * i);
		scene_put(s, thread(812 + i, fakes[i], 1000, 31000 + 1000 * i));
		if (i < 3) {
			scene_put(s, mark(LEVEL_THREAD, MARK_WORK, i == 1 ? work : 0, 40500));
			scene_put(s, kthread(812 + i, fakes[i], 40000, 90000));
		} else if (i == 3) {
			scene_put(s, kthread(0, fakes[i], 40000, 41000));
		}
		scene_end(s, 91000);
	}
	scene_gap(s, 0, 500 * MS); /* in one hiccup, with ordinary ones at its end */
	for (uint32_t i = at = 0; i < 600; i++, at += 2000) {
		struct record r;

		snprintf(comm, sizeof(comm), i % 4 ? "n-%03u" : "sh", i);
		r = thread(i % 4 ? 4711 : 5000 + i, comm, at + 300, at + 1500 + i % 4 * 100);
		if (i % 4)
			r.arg = 4711;
		scene_put(s, r);
	}
	scene_put(s, thread(99, "heavy", at + 300, at + 600 * US));
	scene_put(s, irq(24, 0, at + 601 * US, at + 603 * US));
	scene_end(s, at + 604 * US);
}

/* ---- watched threads ---- */

static struct watch *watch;
static uint16_t watch_seq[2][LEVELS]; /* sequences of CPUs 0 and 3 */

static void give(uint32_t index, struct record r, uint64_t at_ns)
{
	r.start_ns += WORLD_STARTED + at_ns;
	r.end_ns += WORLD_STARTED + at_ns;
	if (r.level == LEVEL_THREAD)
		r.owner = OWNER(r.id, OWNER_ROOT);
	r.seq = ++watch_seq[index][r.level];
	watch_record(watch, index, &r);
}

/* Records an event of a watched thread: since at_ns + start, now at_ns + end. */
static void does(uint32_t index, enum watch_kind what, uint32_t tid, const char *name,
		 uint64_t at_ns, uint64_t start, uint64_t end)
{
	struct record r = thread(tid, name, start, end);

	r.kind = RECORD_WATCH;
	r.mark = what;
	r.arg = what == WATCH_OUT         ? tid
		: what == WATCH_THROTTLED ? WORLD_STARTED + at_ns + start + 400 * US
					  : 3 * index;
	give(index, r, at_ns);
}

static void upon(uint32_t index, struct record r, uint64_t at_ns)
{
	r.flags |= RECORD_UPON;
	give(index, r, at_ns);
}

static void engine(struct scene *s, uint64_t at)
{
	uint64_t function = scene_function(s, "tick_nohz_handler");

	does(1, WATCH_IN_DUE, 700, "engine", at, 0, 8 * US); /* timer due at the begin */
	give(1, mark(LEVEL_IRQ, MARK_HRTIMER, function, 20 * US), at);
	upon(1, vector(VECTOR_LOCAL_TIMER, 20 * US, 23 * US), at);
	upon(1, softirq(7, 23 * US + 200, 24 * US), at);
	does(1, WATCH_OUT, 700, "engine", at, 8 * US, 2 * MS);
	give(1, thread(900, "make", 2 * MS, 3 * MS), at); /* a wait of which a quota took a part */
	does(1, WATCH_THROTTLED, 700, "engine", at, 2 * MS, 3 * MS);
	does(1, WATCH_IN_PREEMPTED, 700, "engine", at, 2 * MS, 3 * MS + 2 * US);
	does(1, WATCH_OUT, 700, "engine", at, 3 * MS + 2 * US, 4 * MS);
}

static void watch_scene(struct scene *s, const char *hostname, const char *path)
{
	static const unsigned cpus[] = {0, 3};
	unsigned lane[WATCH_LANES];

	for (unsigned i = 0; i < WATCH_LANES; i++)
		lane[i] = i;
	memset(watch_seq, 0, sizeof(watch_seq));
	scene_init(s, hostname, lane, WATCH_LANES);
	cpus_clear(&s->view.run.cpus);
	cpus_add(&s->view.run.cpus, 0);
	cpus_add(&s->view.run.cpus, 3);
	cpus_clear(&s->view.run.housekeeping);
	cpus_add(&s->view.run.housekeeping, 1);
	for (unsigned i = 0; i < WATCH_LANES; i++) {
		s->view.cpu[i].threshold_ns = s->view.cpu[i].edge_seen.samples = 0;
		s->view.cpu[i].loop_count = s->view.cpu[i].loop_min_ns = 0;
		s->view.cpu[i].loop_mean_ns = 0;
		s->view.cpu[i].bounds = (struct edge_bounds){0, 0};
	}
	strcpy(s->view.run.sampler, "watch");
	strcpy(s->view.run.priority, "its own");
	strcpy(s->view.run.rest, "not seen");
	s->view.run.watch = s->view.run.windows = s->view.run.whose = true;
	s->view.run.threshold_auto = false;
	view_not_observed(&s->view, "irq_work_single");
	view_not_observed(&s->view, "handle_mm_fault");
	scene_begin(s, path);
	watch = watch_new(&s->view, s->session, cpus, 2);
	if (!watch)
		abort();
}

static void watched(struct scene *s, const char *path)
{
	struct record kernels;
	uint64_t end;

	watch_scene(s, "trader", path);
	end = WORLD_STARTED + s->view.run.duration_ns;
	for (unsigned i = 0; i < 10; i++)
		engine(s, 10 * MS * i);
	/* A thread that reports its own delays, the second time from before the first. */
	for (unsigned i = 0; i < 5; i++) {
		does(0, WATCH_IN_WOKEN, 701, "audio", 200 * MS + 10 * MS * i, 1 * MS, 2 * MS);
		watch_window(watch, 0, 701, WORLD_STARTED + 200 * MS + 10 * MS * (i & 6),
			     WORLD_STARTED + 203 * MS + 10 * MS * i);
		does(0, WATCH_OUT, 701, "audio", 200 * MS + 10 * MS * i, 2 * MS, 5 * MS);
	}
	for (unsigned i = 0; i < 3;
	     i++) { /* one that leaves unseen, and interrupts that do not concern it */
		does(0, WATCH_IN, 702, "=pool|<b>", 300 * MS + 10 * MS * i, 0, 0);
		upon(0, vector(VECTOR_RESCHEDULE, 1 * MS, 1 * MS + 900), 300 * MS + 10 * MS * i);
		give(0, vector(VECTOR_LOCAL_TIMER, 4 * MS, 5 * MS), 300 * MS + 10 * MS * i);
	}
	kernels = (struct record){.kind = RECORD_WATCH,
				  .level = LEVEL_THREAD,
				  .flags = RECORD_KTHREAD,
				  .mark = WATCH_IN_WOKEN,
				  .id = 35,
				  .name = "rcuc/3",
				  .arg = 3,
				  .end_ns = 2 * US};
	give(1, kernels, 350 * MS);
	does(1, WATCH_OUT, 35, "rcuc/3", 350 * MS, 2 * US, 2 * MS);
	watch_window(watch, 0, 703, WORLD_STARTED + 400 * MS,
		     WORLD_STARTED + 401 * MS); /* seen on no CPU */
	s->view.cpu[0].waits_lost = 2;
	s->view.run.waits_known = s->view.run.stops_known = true;
	watch_waits_on(watch, 700, end - 3 * MS, end);
	watch_waits_on(watch, 704, end - 20 * MS, end); /* woken, and never ran */
	watch_finish(watch, end);
	watch_free(watch);
}

/* ---- a guest and its host ---- */

#define VCPU      810
#define VCPU_NAME "CPU 1/KVM"
#define CLOCKS_NS (7 * 1000 * MS + 345 * US) /* the host's clock shows so much more */
#define PAIR_GAPS 60
#define HOST_GAPS 50 /* the host's recording ended after these */

/* Time that the guest loses: when, and for how long. No two are alike, nor periodic. */
static uint64_t pair_gap(unsigned k, uint64_t *length)
{
	*length = 30 * US + k * k * 7919 % 700 * US;
	return 16 * MS * k + (k * 7907 + k * k * k * 104729) % 9000 * US;
}

/* The gaps of the lane that is CPU 1. */
static void pair_gaps(struct scene *s, uint32_t lane)
{
	uint64_t length;

	for (unsigned k = 0; k < PAIR_GAPS; k++) {
		scene_gap(s, lane, pair_gap(k, &length));
		/* the tick that was due meanwhile */
		if (k % 10 == 3)
			scene_put(s, vector(VECTOR_LOCAL_TIMER, length + 4 * US, length + 6 * US));
		scene_end(s, length + (k % 10 == 3 ? 7 : 4) * US);
	}
}

static void pair_guest(struct scene *s, const char *path)
{
	static const unsigned cpus[] = {1};

	scene_init(s, "vm-1", cpus, 1);
	strcpy(s->view.host.hypervisor, "KVM");
	scene_begin(s, path);
	pair_gaps(s, 0);
}

/* The same with CPUs whose threads the host's recording lacks. */
static void pair_guests(struct scene *s, const char *path)
{
	static const unsigned cpus[] = {0, 1, 2};

	scene_init(s, "vm-1", cpus, 3);
	strcpy(s->view.host.hypervisor, "KVM");
	scene_begin(s, path);
	for (uint32_t lane = 0; lane < 3; lane += 2)
		for (unsigned k = 0; k < 3; k++) {
			scene_gap(s, lane, 300 * MS * k + MS);
			scene_end(s, 90 * US);
		}
	pair_gaps(s, 1);
}

/* One of the host's doings: a preemption by one thread or two, an interrupt with its softirq, a
 * quota; or nothing that its kernel sees. */
static void pair_host_does(struct scene *s, unsigned k)
{
	uint64_t length, at = pair_gap(k, &length) + CLOCKS_NS - 7 * 1000 * MS;
	uint64_t function = scene_function(s, "nvme_irq [nvme]");

	if (k % 6 == 5)
		return;
	if (k % 6 == 4) {
		upon(1, irq(36, function, 0, length - 20 * US), at);
		upon(1, softirq(4, length - 20 * US, length), at);
		return;
	}
	does(1, WATCH_OUT, VCPU, VCPU_NAME, at, 0, 0);
	if (k % 6 == 3) {
		give(1, thread(900, "backup", 0, length - 10 * US), at);
		give(1,
		     asked(mark(LEVEL_THREAD, MARK_WAKER, 0, length - 10 * US), 901, "writer", 2,
			   -1),
		     at);
		give(1, kthread(21, "ksoftirqd/3", length - 10 * US, length), at);
	} else if (k % 6) {
		give(1, kthread(21, "ksoftirqd/3", 0, length), at);
	} else {
		give(1, thread(900, "backup", 0, length), at);
	}
	does(1, WATCH_IN_PREEMPTED, VCPU, VCPU_NAME, at, 0, length);
}

static void pair_host(struct scene *s, const char *path)
{
	watch_scene(s, "metal-1", path);
	s->view.run.duration_ns = 900 * MS; /* shorter than the guest's */
	s->irq[36] = "nvme0q4";
	does(1, WATCH_IN, VCPU, VCPU_NAME, 0, 0, 0);
	for (unsigned k = 0; k < HOST_GAPS; k++)
		pair_host_does(s, k);
	watch_finish(watch, WORLD_STARTED + s->view.run.duration_ns);
	watch_free(watch);
}

/* ---- virtual CPUs ---- */

static void leaves(uint32_t id, uint64_t at, uint64_t length)
{
	upon(1,
	     (struct record){
		     .kind = RECORD_EXIT, .level = LEVEL_THREAD, .id = id, .end_ns = length},
	     at);
}

/* A virtual CPU, one that is emulated without KVM, and a thread that is neither. */
static void vcpus(struct scene *s, const char *path)
{
	uint64_t end;

	watch_scene(s, "metal-2", path);
	end = WORLD_STARTED + s->view.run.duration_ns;
	s->view.run.exits = true;
	s->view.run.reports_lost = 2;
	s->view.cpu[0].hiccups_lost = 1; /* the same, as it was recorded once */
	does(1, WATCH_IN, VCPU, "CPU 0/KVM", 0, 0, 0);
	for (unsigned k = 1; k <= 10; k++) {
		struct record halt = {.kind = RECORD_WATCH,
				      .level = LEVEL_THREAD,
				      .mark = WATCH_HALTED,
				      .id = VCPU,
				      .arg = 1,
				      .end_ns = 3 * MS};

		leaves(EXIT_ID(EXIT_SVM, 0x400), 10 * MS * k, 40 * US);
		leaves(EXIT_ID(EXIT_SVM, 0x7b), 10 * MS * k + 1 * MS, 200 * US);
		give(1, halt, 10 * MS * k + 2 * MS);
		leaves(EXIT_ID(EXIT_SVM, 0x78), 10 * MS * k + 5 * MS, 10 * US);
	}
	does(1, WATCH_OUT, VCPU, "CPU 0/KVM", 0, 0, 200 * MS);
	for (unsigned k = 0; k < 2; k++) {
		static const char *const names[] = {"CPU 0/TCG", "iou-wrk-810"};

		does(0, WATCH_IN, VCPU + 1 + k, names[k], 10 * MS * k, 0, 0);
		upon(0, vector(VECTOR_RESCHEDULE, 1 * MS, 2 * MS), 10 * MS * k);
		does(0, WATCH_OUT, VCPU + 1 + k, names[k], 10 * MS * k, 0, 10 * MS);
	}
	watch_finish(watch, end);
	/* as KVM tells of the first, and names of the second */
	s->view.cpu[0].machine = 800;
	s->view.cpu[0].vcpu = 1;
	s->view.cpu[0].counter = (struct counter_rule){1ULL << 32, -(uint64_t)9876543210, 32};
	s->view.cpu[1].machine = 900;
	watch_free(watch);
}

static const struct {
	const char *name;
	void (*make)(struct scene *s, const char *path);
} recordings[] = {
	{"quiet", quiet},         {"ticking", ticking},
	{"irq", busy_irq},        {"threads", threads},
	{"guest", guest},         {"short", shorts},
	{"stopped", stopped},     {"two", two},
	{"together", together},   {"rt", rt},
	{"untraced", untraced},   {"sleep", sleeping},
	{"askers", askers},       {"crowd", crowd},
	{"watch", watched},       {"four", four},
	{"vm.guest", pair_guest}, {"vm.guests", pair_guests},
	{"vm.host", pair_host},   {"vm.exits", vcpus},
};

int main(int argc, char **argv)
{
	static struct scene scene;
	char path[PATH_MAX];

	if (argc != 2)
		return 1;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		/* those with an ending of their own have no report of their own */
		snprintf(path, sizeof(path), "%s/%s%s", argv[1], recordings[i].name,
			 strchr(recordings[i].name, '.') ? "" : ".rec");
		recordings[i].make(&scene, path);
		if (scene_finish(&scene))
			return 1;
		view_free(&scene.view);
	}
	for (const struct format *f = formats; f->choice.name; f++)
		if (!f->trace) /* text shows all of them */
			puts(f->choice.name);
	return 0;
}
