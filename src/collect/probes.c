/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "collect/chosen.h"
#include "collect/direct.h"
#include "collect/hook.h"
#include "collect/host.h"
#include "collect/irq_vectors.h"
#include "collect/owners.h"
#include "collect/programs.h"
#include "collect/states.h"
#include "collect/turns.h"
#include "collect/unpack.h"
#include "culprit.skel.h"
#include "sums.skel.h"

#define PROBES_MAX 96

struct probes {
	struct culprit_bpf *skel;
	struct cpus targets, later; /* later: those that have not come yet */
	struct cpus may_come;
	struct states states;
	struct wanted wanted; /* set while loading */
	struct bpf_link *link[PROBES_MAX];
	uint32_t nlinks;
	char *missing[PROBES_MAX + 1];
	uint32_t nmissing;
	bool exits; /* see probes_exits() */
	char why[PROGRAMS_WHY];
};

static void miss(struct probes *p, const char *name)
{
	if (p->nmissing < PROBES_MAX)
		p->missing[p->nmissing++] = strdup(name);
}

/* Opens the programs, or those that add up, of the same layout. NULL with errno set. */
static struct culprit_bpf *open_programs(bool sums, const struct bpf_object_open_opts *opts)
{
	struct culprit_bpf *skel = calloc(1, sizeof(*skel));
	int err = skel ? culprit_bpf__create_skeleton(skel) : -ENOMEM;

	if (!err && sums)
		skel->skeleton->data = (void *)sums_bpf__elf_bytes(&skel->skeleton->data_sz);
	err = err ? err : unpack_open(skel->skeleton, opts);
	if (!err)
		return skel;
	culprit_bpf__destroy(skel);
	errno = -err;
	return NULL;
}

int probes_hooks(void (*tell)(void *ctx, const char *hook, enum hook_state state), void *ctx)
{
	struct culprit_bpf *skel;
	struct bpf_program *prog;
	struct kernel *k;
	int err = kernel_read(&k);

	if (err)
		return err;
	skel = open_programs(false, NULL);
	bpf_object__for_each_program(prog, skel ? skel->obj : NULL)
	{
		if (irq_vectors_replace(hook_place(prog)) || hook_is_none(prog))
			continue;
		tell(ctx, hook_place(prog), hook_state(prog, k));
	}
	err = skel ? 0 : -errno;
	culprit_bpf__destroy(skel);
	kernel_free(k);
	return err;
}

static void choose_programs(struct probes *p, const struct kernel *k)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, p->skel->obj)
	{
		if (!program_is_wanted(prog, &p->wanted, k))
			continue;
		bool there = program_may_run(prog, k);

		bpf_program__set_autoload(prog, there);
		if (!there && !irq_vectors_replace(hook_place(prog)))
			miss(p, hook_place(prog));
	}
	p->skel->rodata->unknown_nmi_seen = bpf_program__autoload(p->skel->progs.unknown_nmi);
}

static void find_context(struct probes *p, const struct kernel *k)
{
	p->skel->rodata->at_preempt_count = kernel_preempt_count(k);
	p->skel->rodata->reads_directly = direct_reads(p->skel->obj, k);
	p->skel->rodata->count_is_wide = kernel_from_queue(k, "local_interrupt_disable_state");
}

static void find_exits(struct probes *p)
{
	const struct bpf_program *exit = p->skel->progs.watch_exit;
	int at[EXIT_FIELDS] = {0};

	p->exits = programs_tell_exits(exit, p->skel->progs.watch_entry, &p->wanted, at);
	bpf_map__set_autocreate(p->skel->maps.vcpu_exits, p->exits);
	p->skel->rodata->exits_known = p->exits;
	memcpy((void *)p->skel->rodata->at_exit, at, sizeof(at));
}

/* Gives the programs the memory, by one way or the other. True: failed; errno is set. */
static bool use_memory(struct probes *p)
{
	struct bpf_map *here = p->skel->maps.cpu_states, *not_here = p->skel->maps.cpu_states_apart;
	bool apart = p->states.one;

	p->skel->rodata->states_apart = apart;
	p->skel->rodata->user_stacks_wanted = p->wanted.user;
	p->skel->rodata->turns_wanted = p->wanted.turns;
	return bpf_map__set_autocreate(apart ? here : not_here, false) ||
	       bpf_map__set_autocreate(p->skel->maps.user_stacks, p->wanted.user) ||
	       bpf_map__set_autocreate(p->skel->maps.user_shares, p->wanted.user) ||
	       bpf_map__set_autocreate(p->skel->maps.cpu_turns, p->wanted.turns) ||
	       bpf_map__set_max_entries(p->skel->maps.cpu_turns, turns_cpus()) ||
	       bpf_map__reuse_fd(apart ? not_here : here, p->states.fd);
}

static uint32_t sum_places(const struct probes *p)
{
	uint32_t later = cpus_count(&p->may_come);

	return cpus_count(&p->targets) + (later < LATER_SUMS ? later : LATER_SUMS);
}

/* Sums take a table for each target, and no notes of askers. True: failed; errno is set. */
static bool use_sums(struct probes *p)
{
	enum summing sums = p->wanted.watched ? p->wanted.watched->sums : SUMS_NONE;
	struct bpf_map *table = p->skel->maps.cpu_sums;
	bool asked = sums == SUMS_BESIDE;

	p->skel->rodata->summing = sums;
	if (!sums)
		return bpf_map__set_autocreate(table, false) ||
		       programs_fit_stacks(p->skel->maps.asker_stacks);
	return bpf_map__set_max_entries(table, SUM_ROWS * sum_places(p)) ||
	       bpf_map__set_autocreate(p->skel->maps.asker_notes, asked) ||
	       bpf_map__set_autocreate(p->skel->maps.asker_stacks, asked) ||
	       bpf_map__set_autocreate(p->skel->maps.asker_ways, asked);
}

/* 0 or -errno. */
static int map_sums(struct probes *p)
{
	int fd = bpf_map__fd(p->skel->maps.cpu_sums);

	return p->skel->rodata->summing ? states_map_sums(&p->states, fd, sum_places(p)) : 0;
}

static void choose_threads(struct probes *p, const struct kernel *k)
{
	const struct watched *w = p->wanted.watched;

	if (!w)
		return;
	p->skel->rodata->watching = 1;
	p->skel->rodata->current_known = kernel_has_helper(k, "get_current_task_btf");
	p->skel->rodata->watch_users = w->users;
	memcpy((void *)p->skel->rodata->watch_tgid, w->tgid, sizeof(w->tgid));
	memcpy((void *)p->skel->rodata->watch_tid, w->tid, sizeof(w->tid));
	for (int n = 0; w->comm[n]; p->skel->rodata->watch_comms = ++n)
		choice_glob((struct name_glob *)&p->skel->rodata->watch_comm[n], w->comm[n]);
	p->skel->rodata->watch_vcpus = w->vcpus[0] != NULL;
	p->skel->rodata->watch_in_groups = w->unit[0] || w->cgroup[0];
}

static int load_for(struct probes *p, const struct kernel *k)
{
	uint16_t slot = 0;
	int err;
	LIBBPF_OPTS(bpf_object_open_opts, opts);

	/* For a type that the kernel lacks libbpf looks in all modules, which takes this
	 * capability; given a file it looks in that alone. */
	if (!host_is_admin())
		opts.btf_custom_path = KERNEL_TYPES;
	p->skel = open_programs(p->wanted.watched && p->wanted.watched->sums, &opts);
	if (!p->skel || use_memory(p) || use_sums(p))
		return -errno;
	for (int cpu = cpus_next(&p->targets, 0); cpu >= 0; cpu = cpus_next(&p->targets, cpu + 1))
		p->skel->rodata->slot_of_cpu[cpu] = ++slot;
	for (int cpu = cpus_next(&p->may_come, 0); cpu >= 0; cpu = cpus_next(&p->may_come, cpu + 1))
		p->skel->rodata->slot_of_cpu[cpu] = ++slot;
	p->skel->rodata->sampler_sleeps = p->wanted.sleeper == SLEEPER_THREAD;
	bpf_map__set_autocreate(p->skel->maps.tickers, p->wanted.sleeper == SLEEPER_KERNEL);
	bpf_map__set_max_entries(p->skel->maps.tickers, slot);
	choose_threads(p, k);
	choose_programs(p, k);
	find_context(p, k);
	find_exits(p);
	p->skel->rodata->irqs_are_vectors = irq_vectors()->any;
	memcpy((void *)p->skel->rodata->vector_of_irq, irq_vectors()->vector, VECTOR_IRQS);
	p->skel->rodata->owners_in = owners_hierarchy()->in;
	p->skel->rodata->owners_hierarchy = owners_hierarchy()->id;
	err = culprit_bpf__load(p->skel);
	if (!err)
		states_hide(p->skel->bss, sizeof(*p->skel->bss));
	return err ? err : map_sums(p);
}

struct probes *probes_new(const struct cpus *targets, const struct cpus *later,
			  enum probes_for what)
{
	struct probes *p = calloc(1, sizeof(*p));
	int err;

	if (!p) {
		complain("out of memory");
		return NULL;
	}
	p->targets = *targets;
	if (later)
		p->later = p->may_come = *later;
	p->wanted.user = what == PROBES_FOR_USERS;
	err = states_make(&p->states, targets, &p->may_come, what != PROBES_FOR_SUMS);
	if (!err)
		return p;
	complain("cannot share memory with the probes: %s; --no-trace measures without them",
		 strerror(-err));
	probes_close(p);
	return NULL;
}

void probes_want_turns(struct probes *p)
{
	p->wanted.turns = true;
}

int probes_load(struct probes *p, bool osnoise, enum sleeper sleeper, const struct watched *watched)
{
	struct kernel *kernel = NULL;
	int err;

	programs_listen(p->why);
	err = kernel_read(&kernel);
	if (err)
		return program_complain_of_types(err);
	p->wanted = (struct wanted){osnoise, sleeper, watched, p->wanted.user, p->wanted.turns};
	err = program_lacks(&p->wanted, kernel) ?: load_for(p, kernel);
	kernel_free(kernel);
	return err ? program_complain(err, &p->wanted, p->why) : 0;
}

void probes_close(struct probes *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->nlinks; i++)
		bpf_link__destroy(p->link[i]);
	states_end(&p->states);
	culprit_bpf__destroy(p->skel);
	for (uint32_t i = 0; i < p->nmissing; i++)
		free(p->missing[i]);
	programs_listen(NULL);
	free(p);
}

int probes_attach(struct probes *p)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, p->skel->obj)
	{
		struct bpf_link *link;

		if (!bpf_program__autoload(prog) || hook_is_none(prog))
			continue;
		link = bpf_program__attach(prog);
		if (!link && hook_is_function(prog)) {
			miss(p, hook_place(prog));
			continue;
		}
		if (!link)
			return complain("cannot attach to tracepoint %s: %s", hook_place(prog),
					strerror(errno));
		p->link[p->nlinks++] = link;
	}
	return 0;
}

int probes_tick(struct probes *p)
{
	uint32_t slot = 0;

	for (int cpu = cpus_next(&p->targets, 0); cpu >= 0; cpu = cpus_next(&p->targets, cpu + 1)) {
		probes_state(p, slot)->tick_interval = NSEC_PER_MSEC;
		if (program_tick(p->skel->progs.ticker_start, slot++, cpu))
			return -1;
	}
	return 0;
}

bool probes_know_symbols(struct probes *p)
{
	return !program_run(p->skel->progs.symbol_find, NULL, 0);
}

const char *probes_symbol(struct probes *p, uint64_t address)
{
	int length = program_run(p->skel->progs.symbol_name, &address, sizeof(address));

	return length > 0 ? p->skel->bss->symbol_text : NULL;
}

void probes_tell(struct probes *p, uint64_t delayed_work_timer, uint64_t unknown_nmi)
{
	p->skel->bss->at_delayed_work_timer_fn = delayed_work_timer;
	p->skel->bss->at_unknown_nmi_error = unknown_nmi;
}

void probes_gate(struct probes *p, bool open)
{
	__atomic_store_n((int *)&p->skel->bss->gate, open, __ATOMIC_SEQ_CST);
}

void probes_look(struct probes *p)
{
	program_run_on(p->skel->progs.watch_look, &p->targets);
}

struct cpu_state *probes_state(struct probes *p, uint32_t index)
{
	return states_at(&p->states, index);
}

int probes_come(struct probes *p, unsigned cpu, uint32_t *index)
{
	uint32_t n = cpus_count(&p->targets);

	if (!cpus_has(&p->later, cpu))
		return -ENOENT;
	for (int c = cpus_next(&p->may_come, 0); c != (int)cpu; c = cpus_next(&p->may_come, c + 1))
		n++;
	*index = n;
	cpus_del(&p->later, cpu);
	return states_come(&p->states, n, cpu);
}

int probes_lend(struct probes *p, uint32_t index, bool on)
{
	return states_lend(&p->states, index, on);
}

const struct sum *probes_sums(const struct probes *p, uint32_t index)
{
	return p->states.sums + states_at(&p->states, index)->own.sums.base;
}

void probes_not_observed(const struct probes *p, struct view *v)
{
	for (uint32_t i = 0; i < p->nmissing; i++)
		view_not_observed(v, p->missing[i]);
}

void probes_watch_groups(struct probes *p, const uint64_t id[CHOICE_GROUPS])
{
	groups_publish(p->skel->bss->watch_group, &p->skel->bss->watch_groups_epoch, id);
}

int probes_watched(const struct probes *p, bool threads)
{
	return bpf_map__fd(threads ? p->skel->maps.watch_threads : p->skel->maps.watch_processes);
}

bool probes_exits(const struct probes *p)
{
	return p->exits;
}

uint64_t probes_recursion_misses(const struct probes *p)
{
	return programs_misses(p->skel->obj);
}

int probes_map(const struct probes *p, enum probes_map map)
{
	return bpf_map__fd(map == PROBES_GROUPS   ? p->skel->maps.groups_made
			   : map == PROBES_STACKS ? p->skel->maps.asker_stacks
			   : map == PROBES_WAITS  ? p->skel->maps.watch_waits
			   : map == PROBES_TURNS  ? p->skel->maps.cpu_turns
						  : p->skel->maps.user_stacks);
}
