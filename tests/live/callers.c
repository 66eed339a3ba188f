/* SPDX-License-Identifier: GPL-2.0-or-later */
/* callers CPU [DIR]: wakes its thread "called" (CALLED in the environment: another name) on that
 * CPU again and again, from one of two functions of the same make: main > often > ask > syscall
 * three times, then main > seldom > ask > syscall once. main stays on one other CPU. Ends with its
 * parent. MANY: by as many ways as 15 calls of two functions can make, each in its turn; SLOW: by
 * 256 of them, with a name that takes long to write out. MADE: main calls by code that it has made,
 * and tells its name as perf reads it, in /tmp/perf-PID.map, and where a directory is given as well
 * in jit-PID.dump there. MANGLED: often and seldom have other names. HOLDING: ask makes the system
 * call itself, with words on the stack, for seldom on two of its pages. */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint32_t word;
static cpu_set_t target;

/* Goes to its CPU itself: a thread that is made with an affinity waits for the lock of
 * pthread_create(), and to be woken by that is one request more, by a third way. */
static void *called(void *unused)
{
	const char *name = getenv("CALLED");

	if (sched_setaffinity(0, sizeof(target), &target))
		exit(1);
	prctl(PR_SET_NAME, name ? name : "called");
	for (;;)
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

/* Each keeps a frame of its own, and is no jump. clang knows no noipa. */
#if defined(__clang__)
#define APART __attribute__((noinline))
#else
#define APART __attribute__((noipa))
#endif

#if defined(VARYING) && defined(__x86_64__)
/* The frame pointer's register has some other value each time: the begin of a chain of numbers. */
APART static long ask(void)
{
	static struct {
		void *next;
		uint64_t number;
	} chain[2];
	static uint64_t calls;
	long woken = SYS_futex;

	chain[0].next = &chain[1];
	chain[0].number = ++calls;
	chain[1].number = calls * 4096;
	__asm__ volatile("mov %%rbp, %%r8; mov %[chain], %%rbp; syscall; mov %%r8, %%rbp"
			 : "+a"(woken)
			 : [chain] "r"(chain), "D"(&word), "S"(FUTEX_WAKE_PRIVATE), "d"(1L)
			 : "rcx", "r8", "r11", "memory");
	return woken;
}
#else
#if defined(HOLDING) && defined(__x86_64__)
/* Has words of its own on the stack when it asks, as functions of libc have. */
APART static long ask(void)
{
	long woken = SYS_futex;

	__asm__ volatile(".rept 5; push $0; .cfi_adjust_cfa_offset 8; .endr; syscall;"
			 "add $40, %%rsp; .cfi_adjust_cfa_offset -40"
			 : "+a"(woken)
			 : "D"(&word), "S"(FUTEX_WAKE_PRIVATE), "d"(1L)
			 : "rcx", "r11", "memory");
	return woken;
}

/* Asks with those words on one page of the stack, and the return address on the next. */
static inline long ask_across(void)
{
	long woken;

	__asm__ volatile("mov %%rsp, %%rbx; sub $4096, %%rsp; and $-4096, %%rsp; add $16, %%rsp;"
			 "call *%[ask]; mov %%rbx, %%rsp"
			 : "=a"(woken)
			 : [ask] "r"(ask)
			 : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory");
	return woken;
}
#define ASK_ACROSS ask_across
#else
APART static long ask(void)
{
	volatile long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);

	return woken;
}
#endif
#endif

#ifndef ASK_ACROSS
#define ASK_ACROSS ask
#endif

#ifdef MANGLED /* as a C++ and a Rust compiler call them */
static long often(void) __asm__("_ZN3app6Engine5oftenEv");
static long seldom(void) __asm__("_RNvNtCsbmNqQUJIY6D_3app6engine6seldom");
#endif

APART static long often(void)
{
	volatile long woken = ask();

	return woken + 1;
}

APART static long seldom(void)
{
	volatile long woken = ASK_ACROSS();

	return woken + 2;
}

#ifdef MANY
#define PAUSE_NS 20000

#ifdef SLOW
/* f<P<...>>(), whose one argument has two that are the same, each of which has two, 17 times. */
#define WAYS 256
static long way(unsigned number, int calls) __asm__(
	"_Z1fI1PIiiES0_IS1_S1_ES0_IS2_S2_ES0_IS3_S3_ES0_IS4_S4_ES0_IS5_S5_ES0_IS6_S6_ES0_IS7_S7_E"
	"S0_IS8_S8_ES0_IS9_S9_ES0_ISA_SA_ES0_ISB_SB_ES0_ISC_SC_ES0_ISD_SD_ES0_ISE_SE_ES0_ISF_SF_E"
	"S0_ISG_SG_ES0_ISH_SH_EEvv");
#else
#define WAYS 32768
#endif

APART static long way(unsigned number, int calls)
{
	volatile long woken;

	if (!calls)
		return ask();
	if (number & 1)
		woken = way(number >> 1, calls - 1);
	else
		woken = way(number >> 1, calls - 1) + 1;
	return woken;
}

static void ask_once(unsigned i)
{
	if (way(i % WAYS, 15) < 0)
		exit(1);
	(void)often;
	(void)seldom;
}
#else
#define PAUSE_NS 500000

#ifdef MADE
#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; call *%rdi; leave; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0xc9, 0xc3};
#else
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const uint32_t code[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
#endif

static const char *dumps; /* a directory; NULL: none */

/* A function of a jitdump file: what it says before the name. */
struct load {
	uint32_t kind, bytes;
	uint64_t when;
	uint32_t pid, tid;
	uint64_t vma, address, code_bytes, index;
};

static void tell_load(FILE *out, uint64_t when, const void *made, const char *name)
{
	struct load l = {.kind = 0,
			 .bytes = sizeof(l) + strlen(name) + 1 + sizeof(code),
			 .when = when,
			 .pid = getpid(),
			 .tid = getpid(),
			 .vma = (uintptr_t)made,
			 .address = (uintptr_t)made,
			 .code_bytes = sizeof(code),
			 .index = when};

	fwrite(&l, sizeof(l), 1, out);
	fwrite(name, strlen(name) + 1, 1, out);
	fwrite(code, sizeof(code), 1, out);
}

/* Mapped it is found. The code was another function's before, and that is told late. */
static void dump(const void *made)
{
	uint32_t head[10] = {0x4a695444, 1, sizeof(head), 0, 0, getpid()};
	char path[256];
	FILE *out;

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dumps, (int)getpid());
	out = fopen(path, "w+");
	if (!out)
		exit(1);
	fwrite(head, sizeof(head), 1, out);
	tell_load(out, 2, made, "dumped:f x.js:2");
	tell_load(out, 1, made, "dumped:before");
	if (fflush(out) ||
	    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
		exit(1);
	fclose(out);
}

static void *make(void)
{
	void *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char path[64];
	FILE *map;

	if (made == MAP_FAILED)
		exit(1);
	memcpy(made, code, sizeof(code));
	__builtin___clear_cache(made, (char *)made + sizeof(code));
	mprotect(made, 4096, PROT_READ | PROT_EXEC);
	if (dumps)
		dump(made);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return made;
	fprintf(map, "%lx %zx made:%s\n", (unsigned long)made, sizeof(code), "f x.js:1");
	fclose(map);
	return made;
}

static void call(long (*function)(void))
{
	static void *made;

	if (!made)
		made = make();
	((void (*)(long (*)(void)))made)(function);
}
#else
static void call(long (*function)(void))
{
	function();
}
#endif

static void ask_once(unsigned i)
{
	if (i % 4)
		call(often);
	else
		call(seldom);
}
#endif

/* One CPU to ask from makes one asker. */
static bool stay_off(int called_on)
{
	cpu_set_t may;

	if (sched_getaffinity(0, sizeof(may), &may))
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t one;

		if (cpu == called_on || !CPU_ISSET(cpu, &may))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return !sched_setaffinity(0, sizeof(one), &one);
	}
	return false;
}

int main(int argc, char **argv)
{
	struct timespec pause = {0, PAUSE_NS};
	pthread_t thread;

	if (argc < 2)
		return 1;
#ifdef MADE
	dumps = argv[2];
#endif
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&target);
	CPU_SET(atoi(argv[1]), &target);
	if (pthread_create(&thread, NULL, called, NULL))
		return 1;
	if (!stay_off(atoi(argv[1])))
		return 1;
	puts("begun");
	fflush(stdout);
	for (unsigned i = 0;; i++) {
		nanosleep(&pause, NULL);
		ask_once(i);
	}
}
