/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/nest_state.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "model/exit.h"
#include "model/syscall_name.h"

/* The row of a kind whose names stay where they are. */
static uint32_t find(struct nest *n, enum source_kind kind, uint32_t id, const char *name,
		     const char *function)
{
	return sources_find_key(n->sources, &(struct source_key){.kind = kind,
								 .id = id,
								 .name = name,
								 .function = function,
								 .text = TEXT_STAYS});
}

static uint32_t irq_source(struct nest *n, uint32_t irq, const char *function)
{
	const char *name = n->names ? n->names->irq(n->names->ctx, irq) : NULL;
	uint32_t row = find(n, SOURCE_IRQ, irq, name, function);
	struct source *s = n->sources->row[row];

	if (s->rest)
		return row;
	if (n->names && n->names->irq_affinity && !s->affinity)
		s->affinity = n->names->irq_affinity(n->names->ctx, irq);
	if (n->names && n->names->irq_device && !s->device)
		s->device = n->names->irq_device(n->names->ctx, irq);
	return row;
}

/* The name of such a row: of a long one the begin and the end, where a pod's tells the most, and
 * what keeps it apart from others that begin and end so. */
static void put_name(const char *name, char together[SOURCE_NAME])
{
	size_t len = strlen(name);

	if (len < SOURCE_NAME)
		memcpy(together, name, len + 1);
	else
		snprintf(together, SOURCE_NAME, "%.24s..%08x..%s", name,
			 (unsigned)(hash_text(HASH_BEGIN, name) >> 32), name + len - 26);
}

/* The name of the row of all threads of this control group's owner; "": they have none. Found once
 * a group as long as no other takes its place. */
static const char *name_together(struct nest *n, uint32_t cgroup)
{
	struct together *t = &n->together[cgroup % TOGETHER];
	char whole[OWNER_PART];
	const char *text;
	struct owner owner;

	if (t->cgroup == cgroup)
		return t->name;
	text = cgroup ? n->names->owner(n->names->ctx, cgroup) : NULL;
	if (!text)
		return "";
	owner_read(&owner, text);
	put_name(owner_part(&owner, n->names->by, whole), t->name);
	t->cgroup = cgroup;
	return t->name;
}

/* Changes the key to that of the row of all threads of its comm, or of its owner where it has
 * one. */
static void put_together(struct nest *n, uint32_t cgroup, struct source_key *key)
{
	const char *name;

	if (n->names->by == BY_COMM) {
		key->id = 0;
		key->by = BY_COMM;
		return;
	}
	name = name_together(n, cgroup);
	if (!*name)
		return;
	key->id = key->process = 0;
	key->name = name;
	key->text = TEXT_ANY;
	key->by = n->names->by;
}

uint32_t nest_thread(struct nest *n, struct source_key *key, uint32_t cgroup)
{
	struct source *s;
	uint32_t row;

	if (key->kernel_thread || !n->names || !n->names->owner)
		cgroup = 0;
	if (n->names && n->names->by)
		put_together(n, cgroup, key);
	row = sources_find_key(n->sources, key);
	s = n->sources->row[row];
	if (cgroup && s->cgroup != cgroup && !s->owners)
		source_owned(s, cgroup, n->names->owner(n->names->ctx, cgroup));
	if (!s->process && key->process && !key->kernel_thread && !s->rest && n->names &&
	    n->names->command && n->names->by == BY_THREAD) {
		s->process = key->process;
		n->names->command(n->names->ctx, key->process, key->name);
	}
	return row;
}

static uint32_t thread_source(struct nest *n, const struct record *r, const char *function,
			      enum own_word word)
{
	char name[sizeof(r->name) + 1];
	struct source_key key = {.kind = SOURCE_THREAD,
				 .id = r->id,
				 .name = name,
				 .function = function,
				 .word = word,
				 .text = TEXT_COMM};

	memcpy(name, r->name, sizeof(r->name));
	name[sizeof(r->name)] = 0;
	key.kernel_thread = r->flags & RECORD_KTHREAD || !r->id; /* idle has no flag before 5.14 */
	key.process = r->arg;
	return nest_thread(n, &key, OWNER_CGROUP(r->owner));
}

static uint32_t syscall_source(struct nest *n, const struct record *r)
{
	char name[SYSCALL_NAME];

	if (!syscall_name(r->arg <= SYSCALL_ARM64 ? r->arg : SYSCALL_UNKNOWN, r->id, name))
		snprintf(name, sizeof(name), "%u", r->id);
	return sources_find(n->sources, SOURCE_SYSCALL, r->id, name, NULL);
}

static uint32_t vector_source(struct nest *n, const struct record *r, const char *function,
			      enum own_word word)
{
	return sources_find_key(n->sources, &(struct source_key){.kind = SOURCE_VECTOR,
								 .id = r->arg,
								 .name = vector_name(r->id),
								 .function = function,
								 .word = word,
								 .text = TEXT_STAYS});
}

uint32_t nest_source(struct nest *n, const struct record *r, const char *symbol, enum own_word word)
{
	const char *function = word ? word_text(word) : symbol;
	char name[EXIT_NAME];

	switch (record_source(r->kind)) {
	case SOURCE_IRQ:
		return irq_source(n, r->id, function);
	case SOURCE_VECTOR:
		return vector_source(n, r, function, word);
	case SOURCE_SOFTIRQ:
		return find(n, SOURCE_SOFTIRQ, r->id, softirq_name(r->id), function);
	case SOURCE_NMI:
		return find(n, SOURCE_NMI, 0, "NMI", function);
	case SOURCE_THREAD:
		return thread_source(n, r, function, word);
	case SOURCE_FAULT:
		return find(n, SOURCE_FAULT, 0, "page fault", function);
	case SOURCE_SYSCALL:
		return syscall_source(n, r);
	case SOURCE_THROTTLED:
		return find(n, SOURCE_THROTTLED, 0, "CPU quota", NULL);
	case SOURCE_EXIT:
		exit_name(r->id, name, sizeof(name));
		return sources_find_key(n->sources, &(struct source_key){.kind = SOURCE_EXIT,
									 .name = name,
									 .function = function,
									 .word = word});
	case SOURCE_HOST:
	case SOURCE_LOST:
	case SOURCE_OUTSIDE:
	case SOURCE_KINDS:
		break; /* no interval's */
	}
	return sources_rest(n->sources, SOURCE_LOST);
}

bool nest_tells_of(const struct nest *n, const struct record *note, const struct record *interval)
{
	if (note->level != interval->level || interval->kind == RECORD_FAULT) /* a lost thread's */
		return false;
	/* A note at the begin tells of the thread that was seen to come. */
	return interval->kind != RECORD_THREAD || !(interval->flags & RECORD_UNSEEN) ||
	       interval == &n->thread || note->start_ns > interval->start_ns;
}

const char *nest_symbol(const struct nest *n, uint64_t address)
{
	return n->names && address ? n->names->symbol(n->names->ctx, address) : NULL;
}

/* True of a worker that is bound to no CPU, "kworker/u8:0": it may end its work on another one, and
 * come back with new work. */
static bool may_go_on_elsewhere(const struct record *r)
{
	return r->flags & RECORD_KTHREAD && !strncmp(r->name, "kworker/u", 9);
}

const char *nest_first_function(const struct nest *n, const struct record *r)
{
	if (r->kind == RECORD_IRQ || r->kind == RECORD_NMI)
		return nest_symbol(n, r->arg);
	if (r->kind == RECORD_THREAD && r->id && n->ongoing[r->id % ONGOING].tid == r->id)
		return n->ongoing[r->id % ONGOING].function;
	return NULL;
}

enum own_word nest_first_word(const struct nest *n, const struct record *r)
{
	bool let_in = r->flags & RECORD_LET_IN || (n->real_time && r->prio >= NORMAL_PRIO);

	if (r->kind == RECORD_EXIT && r->mark == EXIT_ASLEEP)
		return WORD_ASLEEP;
	return r->kind == RECORD_THREAD && let_in ? WORD_THROTTLED : WORD_NONE;
}

void nest_keep_function(struct nest *n, const struct record *r, const char *function,
			enum own_word word)
{
	if (r->kind != RECORD_THREAD || !r->id || may_go_on_elsewhere(r) ||
	    (r->flags & RECORD_ONGOING && word == WORD_THROTTLED))
		return;
	if (r->flags & RECORD_ONGOING && function) {
		n->ongoing[r->id % ONGOING].tid = r->id;
		n->ongoing[r->id % ONGOING].function = function;
	} else if (n->ongoing[r->id % ONGOING].tid == r->id) {
		n->ongoing[r->id % ONGOING].tid = 0;
	}
}

void nest_forget(struct nest *n, const struct record *r)
{
	if (r->kind == RECORD_THREAD && n->ongoing[r->id % ONGOING].tid == r->id)
		n->ongoing[r->id % ONGOING].tid = 0;
}

void nest_doubt(struct nest *n, unsigned level, bool inside)
{
	n->doubt[level] = inside;
	if (level != LEVEL_THREAD)
		return;
	n->in_thread = n->in_fault = false; /* any thread may have left meanwhile */
	memset(n->ongoing, 0, sizeof(n->ongoing));
}

const char *whose_name(enum whose whose)
{
	static const char *const names[WHOSE] = {"foreign", "own", "throttled", "kernel"};

	return names[whose];
}

enum whose nest_whose(const struct record *r)
{
	switch (r->kind) {
	case RECORD_THREAD:
		return r->flags & RECORD_LET_IN              ? WHOSE_THROTTLED
		       : r->flags & RECORD_KTHREAD || !r->id ? WHOSE_KERNEL
		       : r->flags & RECORD_FOREIGN           ? WHOSE_FOREIGN
							     : WHOSE_OWN;
	case RECORD_FAULT:
	case RECORD_SYSCALL:
		return WHOSE_OWN;
	case RECORD_THROTTLED:
		return WHOSE_THROTTLED;
	case RECORD_EXIT:
		return exit_is_hosts(r->id) && r->mark != EXIT_ASLEEP ? WHOSE_KERNEL : WHOSE_OWN;
	default:
		return WHOSE_KERNEL;
	}
}
