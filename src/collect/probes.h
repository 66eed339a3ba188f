/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The BPF programs: loading, attaching, the shared memory, the gate. The only file that includes
 * the skeleton. */
#ifndef CULPRIT_PROBES_H
#define CULPRIT_PROBES_H

#include <stdbool.h>
#include <stdint.h>
#include "model/view.h"
#include "choice.h"
#include "collect/hook.h"
#include "collect/workload.h"
#include "state.h"

struct probes;

/* Threads to watch, in place of a sampler. Zeros: none. */
#define WATCH_IDS 16 /* as many as watch.bpf.c keeps */
struct watched {
	int32_t tgid[WATCH_IDS], tid[WATCH_IDS];
	bool users;            /* all threads of user space */
	bool faults, syscalls; /* records these of the threads, too */
	bool exits;            /* records why virtual CPUs leave their guests */
	enum summing sums;     /* adds up, and keeps no record or all of them */
	/* Processes by their names, with asterisks, and by what they belong to: choice.h. NULL
	 * ends each. */
	const char *comm[CHOICE_GLOBS + 1], *unit[CHOICE_GROUPS + 1], *cgroup[CHOICE_GROUPS + 1];
	/* The virtual CPUs of machines, by name or process; vcpus.h. */
	const char *vcpus[CHOICE_VCPUS + 1];
};

/* Makes the memory that probes share with readers and samplers: a cpu_state for each target, in
 * ascending order of CPU. later: more targets, behind these, which probes_come() begins with when
 * they come online; NULL: none. Sums alone need no rings; user stacks are taken of who asks
 * elsewhere. Loads nothing yet. NULL with the reason said. */
enum probes_for { PROBES_FOR_SUMS, PROBES_FOR_RECORDS, PROBES_FOR_USERS };
struct probes *probes_new(const struct cpus *targets, const struct cpus *later,
			  enum probes_for what);

/* The switches of the CPUs that are no targets are wanted, too (turns.h); before probes_load(). */
void probes_want_turns(struct probes *p);

/* Sums have room for so many of the targets that come later. */
#define LATER_SUMS 8

/* Begins with a target that has come online. *index: which it is among all. 0; -ENOENT: it is none
 * that may come, or has come before; another -errno; -ENOSPC: LATER_SUMS have come. */
int probes_come(struct probes *p, unsigned cpu, uint32_t *index);

/* Loads the programs for which this kernel has tracepoints; attaches nothing yet. osnoise: also the
 * events of the kernel's osnoise tracer. sleeper: of a thread also what wakes it, into
 * cpu_state.timer_ns and came_ns; of the kernel probes_tick is wanted. watched: NULL, or threads to
 * record on whatever target they are. 0, or -1 with the reason said. */
int probes_load(struct probes *p, bool osnoise, enum sleeper sleeper,
		const struct watched *watched);
void probes_close(struct probes *p); /* detaches all */

/* Patches kernel text, which interrupts every CPU: before the window, never in it. 0, or -1 with
 * the reason said. */
int probes_attach(struct probes *p);

/* True when probes_symbol() tells names: from Linux 5.16 on, where the kernel does not hide its
 * addresses. Else call probes_tell() with those of two of its functions, 0: not known, from the
 * table of symbols that has to be read then; libbpf would read one of its own. */
bool probes_know_symbols(struct probes *p);
void probes_tell(struct probes *p, uint64_t delayed_work_timer, uint64_t unknown_nmi);

/* "vmstat_update", with its module "e1000_intr [e1000]", or, where the kernel has no name for the
 * address, "0x..."; valid until the next call. NULL: it cannot be asked. Not by two threads at
 * once. */
const char *probes_symbol(struct probes *p, uint64_t address);

/* Starts the kernel's timer of each target, which runs until close: see cpu_state.tick. Call it
 * when the samplers wait; it moves this process to the targets, and leaves it there. 0, or -1 with
 * the reason said. */
int probes_tick(struct probes *p);

/* Opens or closes the gate: records are written only while it is open. */
void probes_gate(struct probes *p, bool open);

/* Finds the watched threads that run on target CPUs already, once the gate is open: an interrupt of
 * each CPU, as each program that is attached costs, too. */
void probes_look(struct probes *p);

/* State of the nth target; shared with the kernel, valid until close. */
struct cpu_state *probes_state(struct probes *p, uint32_t index);

/* While on: processes that are forked have the nth target's sequences (cursor). They never have
 * anything else of what is shared: with each fork the kernel would copy the page tables of all
 * targets' rings. 0 or -errno. */
int probes_lend(struct probes *p, uint32_t index, bool on);

/* Watches the threads of these cgroups and of all below them in place of earlier ones; 0: none. */
void probes_watch_groups(struct probes *p, const uint64_t id[CHOICE_GROUPS]);

/* A map, open until close, to which watched processes are added by their PID, with a uint8_t; or
 * watched threads by int32_t TID, with their int32_t PID. The programs themselves add and remove
 * processes by their names. */
int probes_watched(const struct probes *p, bool threads);

/* The nth target's sums, SUM_ROWS of them; where they are wanted, shared with the kernel from
 * probes_load() until close. */
const struct sum *probes_sums(const struct probes *p, uint32_t index);

/* Names the tracepoints that this kernel lacks in the view. */
void probes_not_observed(const struct probes *p, struct view *v);

/* Tells of each place that programs attach to, some of them twice, whether this kernel has it.
 * Without the right to load programs functions are NOT_KNOWN. Attaches nothing. 0, or -errno: the
 * kernel's types cannot be read. */
int probes_hooks(void (*tell)(void *ctx, const char *hook, enum hook_state state), void *ctx);

/* True when records tell why virtual CPUs leave their guests; known from probes_load() on. */
bool probes_exits(const struct probes *p);

/* Maps, open until close: char[GROUP_PATH] of the control groups that were made since the programs
 * were attached, by uint32_t number; uint64_t[STACK_FRAMES] of the stacks that records name, by
 * int32_t id: addresses, innermost first, 0 behind the last; for mmap, struct wait_set[WAIT_SETS]
 * of the watched threads that wait; and with PROBES_FOR_USERS struct user_stack by uint32_t slot,
 * which is a stack id less USER_FIRST. */
enum probes_map { PROBES_GROUPS, PROBES_STACKS, PROBES_WAITS, PROBES_TURNS, PROBES_USER_STACKS };
int probes_map(const struct probes *p, enum probes_map map);

/* Times that the kernel skipped a program because it was running already (since 5.12; 0 where the
 * kernel does not tell). */
uint64_t probes_recursion_misses(const struct probes *p);

#endif
