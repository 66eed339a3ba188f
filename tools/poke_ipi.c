/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Noise that another CPU sends: function-call IPIs and a work item. */
#include "poke.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* An abandoned spinner gives the target back after this. */
#define SPIN_LIMIT_NS 200000000ULL
#define STAT_REFRESH  "/proc/sys/vm/stat_refresh"
#define PAGE          4096

/* Membarrier and TLB shootdowns reach a CPU only while it runs a thread of this process. */
void spin_body(struct poke *p, struct poke_event *ev)
{
	uint64_t ran = cpu_time_ns(), start = now_ns(), now;
	uint32_t turn = (uint32_t)p->turn;

	atomic_store_explicit(&p->ready, turn + 1, memory_order_release);
	do {
		now = now_ns();
	} while (atomic_load_explicit(&p->release, memory_order_acquire) != turn &&
		 now - start < SPIN_LIMIT_NS);
	extra(ev, "spin_start_ns", start);
	extra(ev, "spin_end_ns", now_ns());
	ev->ran_ns = cpu_time_ns() - ran;
}

static int start_spinner(struct poke *p, struct poke_event *ev)
{
	p->turn++;
	worker_kick(p, ev);
	return wait_for(&p->ready, (uint32_t)p->turn + 1);
}

static int end_spinner(struct poke *p)
{
	atomic_store_explicit(&p->release, (uint32_t)p->turn, memory_order_release);
	return wait_for(&p->done, (uint32_t)p->turn);
}

int membarrier_prepare(struct poke *p)
{
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
		return cannot(p, "membarrier(PRIVATE_EXPEDITED): %s", strerror(errno));
	return worker_start(p);
}

int membarrier_poke(struct poke *p, struct poke_event *ev)
{
	if (start_spinner(p, ev))
		return -1;
	ev->start_ns = now_ns();
	syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
	ev->end_ns = now_ns();
	return end_spinner(p);
}

int tlb_prepare(struct poke *p)
{
#if defined(__aarch64__)
	return cannot(p, "arm64 has no IPI for it: its hardware tells all CPUs");
#endif
	p->priv = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->priv == MAP_FAILED) {
		p->priv = NULL;
		return cannot(p, "mmap: %s", strerror(errno));
	}
	return worker_start(p);
}

int tlb_poke(struct poke *p, struct poke_event *ev)
{
	volatile char *page = p->priv;

	/* Taking the right to write from a written page is what needs a flush; giving it back needs
	 * none. */
	*page = 1;
	if (start_spinner(p, ev))
		return -1;
	ev->start_ns = now_ns();
	mprotect(p->priv, PAGE, PROT_READ);
	ev->end_ns = now_ns();
	if (end_spinner(p))
		return -1;
	mprotect(p->priv, PAGE, PROT_READ | PROT_WRITE);
	return 0;
}

void tlb_finish(struct poke *p)
{
	worker_stop(p);
	if (p->priv)
		munmap(p->priv, PAGE);
}

int kworker_prepare(struct poke *p)
{
	p->fd = open(STAT_REFRESH, O_RDONLY | O_CLOEXEC);
	return p->fd < 0 ? cannot(p, STAT_REFRESH ": %s", strerror(errno)) : 0;
}

int kworker_poke(struct poke *p, struct poke_event *ev)
{
	char buf[64];

	ev->start_ns = now_ns();
	if (pread(p->fd, buf, sizeof(buf), 0) < 0)
		return cannot(p, STAT_REFRESH ": %s", strerror(errno));
	ev->end_ns = now_ns();
	return 0;
}

void fd_finish(struct poke *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

static int attach(struct poke *p)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uintptr_t)p->priv;
	attr.raw_tracepoint.prog_fd = (uint32_t)p->fd;
	return (int)syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr));
}

int bpf_prepare(struct poke *p)
{
	/* Nothing fires these while poke runs, and one of them is in every kernel. */
	static char *const unused[] = {"sched_kthread_stop", "oom_score_adj_update", "cpuhp_enter"};
	static const struct bpf_insn insns[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};
	union bpf_attr attr;

	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "GPL";
	memcpy(attr.prog_name, "poke", 5);
	p->fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (p->fd < 0)
		return cannot(p, "cannot load a BPF program: %s", strerror(errno));
	for (size_t i = 0; i < sizeof(unused) / sizeof(unused[0]); i++) {
		int link;

		p->priv = unused[i];
		link = attach(p);
		if (link < 0)
			continue;
		close(link);
		return 0;
	}
	return cannot(p, "cannot attach to a raw tracepoint: %s", strerror(errno));
}

int bpf_poke(struct poke *p, struct poke_event *ev)
{
	int link;

	ev->start_ns = now_ns();
	link = attach(p);
	if (link < 0)
		return cannot(p, "cannot attach: %s", strerror(errno));
	extra(ev, "attached_ns", now_ns());
	close(link);
	ev->end_ns = now_ns();
	return 0;
}
