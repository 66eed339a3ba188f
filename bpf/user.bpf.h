/* SPDX-License-Identifier: GPL-2.0-or-later */
/* User stacks of askers: addresses alone, taken where the asker runs. Files and functions are found
 * later, on housekeeping CPUs. */
#ifndef CULPRIT_USER_BPF_H
#define CULPRIT_USER_BPF_H

#include "trace.bpf.h"
#include "user.h"

/* 1: askers' user stacks are wanted. It is known when the programs are loaded, and the kernel then
 * drops all that follows from them. */
const volatile int user_stacks_wanted = 0;

/* The slots in use by a process (its number), and by a user (SHARE_OF_USER | number). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * USER_STACKS);
	__type(key, __u64);
	__type(value, __u32);
} user_shares SEC(".maps");

#define SHARE_OF_USER (1ULL << 32)

/* A slot is never given to another stack. Key USER_LOST, which is there from the beginning, counts
 * in its hash the requests whose stack found none. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, USER_STACKS + 1);
	__type(key, __u32); /* slot */
	__type(value, struct user_stack);
} user_stacks SEC(".maps");

/* The hashes of the stacks that are in their slots: a look at an array takes a tenth of one at a
 * hash map. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USER_STACKS);
	__type(key, __u32); /* slot */
	__type(value, __u64);
} user_hashes SEC(".maps");

#define WORDS 32 /* a program's stack is read by so many; a power of two */

struct user_room {
	struct user_stack stack;
	__u32 inside; /* see enter() */
	__u32 bytes;  /* read last, from the address `from` on */
	__u64 from, word[WORDS];
};

/* Each CPU's own. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct user_room);
} user_room SEC(".maps");

static __always_inline __u64 add_to_key(__u64 key, __u64 word)
{
	key = (key ^ word) * 0x9e3779b97f4a7c15; /* 2^64 by the golden ratio, as in scatter() */
	return key ^ key >> 32;
}

#define NEAR (256ULL << 20)
#define FAR  (4ULL << 30)

/* Registers with which the thread entered the kernel. */
struct user_place {
	__u64 ip, sp, fp;
	__u64 link; /* the register for it, where there is one */
};

/* An address without the signature in the bits above it. */
static __always_inline __u64 unsigned_address(const struct mm_struct *mm, __u64 address)
{
	return address & (mm->task_size - 1);
}

/* False: nothing is known of this machine's. */
static __always_inline bool user_place(const struct task_struct *task, struct user_place *p)
{
	const void *regs = (const void *)bpf_task_pt_regs((struct task_struct *)task);
	const struct pt_regs___x86 *x86 = regs;
	const struct pt_regs___on_arm64 *arm64 = regs;

	if (bpf_core_field_exists(x86->orig_ax)) {
		*p = (struct user_place){x86->ip, x86->sp, x86->bp, 0};
		return true;
	}
	if (!bpf_core_field_exists(arm64->syscallno))
		return false;
	*p = (struct user_place){arm64->pc, arm64->sp, arm64->regs[29], arm64->regs[30]};
	return true;
}

#define PAGE_BYTES 4096 /* the smallest page's */

/* Reads words of the stack from `at` on, which is a multiple of theirs: as many as may be beyond
 * those that are wanted take less than to call for each. Nothing beyond the page is read that might
 * not be there. False: not even two can be read. */
static __always_inline bool read_words(struct user_room *r, __u64 at)
{
	__u64 bytes = PAGE_BYTES - at % PAGE_BYTES;

	bytes = bytes > sizeof(r->word)        ? sizeof(r->word)
		: bytes < 2 * sizeof(*r->word) ? 2 * sizeof(*r->word)
					       : bytes;
	r->from = at;
	r->bytes = bpf_probe_read_user(r->word, bytes, (const void *)at) ? 0 : bytes;
	return r->bytes;
}

/* The two words there. False: they cannot be read. */
static __always_inline bool read_pair(struct user_room *r, __u64 at, __u64 pair[2])
{
	__u64 i = (at - r->from) / sizeof(*r->word);

	if (i > WORDS || (i + 2) * sizeof(*r->word) > r->bytes) {
		if (!read_words(r, at))
			return false;
		i = 0;
	}
	barrier_var(i);
	pair[0] = r->word[i % WORDS];
	pair[1] = r->word[(i + 1) % WORDS];
	return true;
}

/* The function that makes the system call may keep some words; no more are looked through. */
#define LEAF_WORDS 12

/* Finds the first word from the stack pointer on that may be an address of code: in the program, or
 * as near to the function that entered the kernel as libraries are to each other. Other words
 * change with each request, and would make each stack a new one; so would further ones. */
static __always_inline void find_leaf(struct user_room *r, const struct mm_struct *mm,
				      const struct user_place *p)
{
	__u64 pair[2];

	if (p->sp % sizeof(*r->word) || !read_words(r, p->sp))
		return;
	for (__u32 i = 0; i < LEAF_WORDS; i++) {
		/* the address may be on the next page, which its caller has written to */
		if (!read_pair(r, p->sp + i * sizeof(*r->word), pair))
			return;
		if ((pair[0] < mm->start_code || pair[0] >= mm->end_code) &&
		    pair[0] - p->ip + NEAR >= 2 * NEAR)
			continue;
		r->stack.leaf = pair[0];
		r->stack.leaf_at = i * sizeof(*r->word);
		return;
	}
}

static __always_inline void count_lost(void)
{
	__u32 key = USER_LOST;
	struct user_stack *lost = bpf_map_lookup_elem(&user_stacks, &key);

	if (lost)
		__sync_fetch_and_add(&lost->hash, 1);
}

/* NULL: there is no room for one more. */
static __always_inline __u32 *share_of(__u64 key)
{
	__u32 *share = bpf_map_lookup_elem(&user_shares, &key), none = 0;

	if (share)
		return share;
	bpf_map_update_elem(&user_shares, &key, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&user_shares, &key);
}

/* Gives the free slot to the stack, but where another CPU is faster. False: its process, or its
 * user, has as many as one may have. Two CPUs at once may go one beyond that. */
static __always_inline bool take_slot(__u32 slot, struct user_stack *u)
{
	__u32 *process, *user;

	u->uid = bpf_get_current_uid_gid();
	process = share_of(u->tgid);
	user = share_of(SHARE_OF_USER | u->uid);
	if (!process || !user || *process >= USER_OF_PROCESS || *user >= USER_OF_USER)
		return false;
	if (!bpf_map_update_elem(&user_stacks, &slot, u, BPF_NOEXIST)) {
		__sync_fetch_and_add(process, 1);
		__sync_fetch_and_add(user, 1);
	}
	return true;
}

/* A power of two. Of eight all are taken once in 256 times when half of all are. */
#define SLOTS_OF_STACK 8

/* Enters the stack if it is new. Returns its id; that of the kernel stack: its slots have others,
 * or it may have none. */
static __always_inline __s32 user_stack_id(struct user_stack *u)
{
	__u32 at = u->hash >> 40;

	for (int i = 0; i < SLOTS_OF_STACK; i++) {
		__u32 slot = (at ^ i) % USER_STACKS;
		__u64 *hash = bpf_map_lookup_elem(&user_hashes, &slot);
		const struct user_stack *known;

		if (!hash)
			return u->stack;
		if (!*hash) {
			/* Another CPU may be at it, with another stack: the first has the slot. */
			if (!take_slot(slot, u))
				break;
			known = bpf_map_lookup_elem(&user_stacks, &slot);
			if (known)
				*hash = known->hash;
		}
		if (*hash == u->hash)
			return USER_FIRST + slot;
	}
	count_lost();
	return u->stack;
}

/* True for what may be an address of code: in the program, in a library, which may have been loaded
 * long after the others, or in memory beside the program where it makes code. */
static __always_inline bool may_be_code(const struct mm_struct *mm, __u64 word, __u64 ip)
{
	if (word - ip + FAR < 2 * FAR)
		return true;
	/* The program has data and heap behind its own code. */
	return word - mm->start_code + FAR < 2 * FAR && (word < mm->end_code || word >= mm->brk);
}

#define FRAME_BYTES (8ULL << 20) /* a function's; an ordinary stack is no larger */

/* Follows the frame pointers, each of which is at the caller's and above its own: what is in that
 * register of a program without them mostly does not look like that, and to read there could fault,
 * which takes longer than all else here. Ends where it was led astray all the same: that would make
 * each stack a new one. Not by bpf_get_stack(), which reads whatever is there. Returns the hash of
 * the addresses, added to `key`. */
static __always_inline __u64 walk_user_stack(struct user_room *r, const struct mm_struct *mm,
					     const struct user_place *p, __u64 key)
{
	__u64 at = p->fp, below = p->sp, pair[2];

	for (int i = 1; i < USER_FRAMES; i++) {
		if (at - below >= FRAME_BYTES || at % sizeof(at) || !read_pair(r, at, pair))
			break;
		if (p->link)
			pair[1] = unsigned_address(mm, pair[1]);
		if (!may_be_code(mm, pair[1], p->ip))
			break;
		r->stack.frame[i] = pair[1];
		key = add_to_key(key, pair[1]);
		below = at + sizeof(pair);
		at = pair[0];
	}
	return key;
}

/* False: nobody knows this machine's stacks. */
static __always_inline bool read_user_stack(struct user_room *r, const struct task_struct *task,
					    __s32 stack)
{
	const struct mm_struct *mm = task->mm;
	struct user_stack *u = &r->stack;
	struct user_place p;
	__u64 key;

	if (!user_place(task, &p))
		return false;
	__builtin_memset(u->frame, 0, sizeof(u->frame));
	r->bytes = 0;
	u->frame[0] = p.ip;
	u->tgid = task->tgid;
	u->stack = stack;
	u->start_stack = mm->start_stack;
	u->leaf = p.link ? unsigned_address(mm, p.link) : 0;
	u->leaf_at = 0;
	if (!p.link)
		find_leaf(r, mm, &p);
	key = add_to_key((__u64)u->tgid << 32 | (__u32)stack, u->start_stack + u->leaf_at);
	u->hash = walk_user_stack(r, mm, &p, add_to_key(add_to_key(key, u->leaf), p.ip));
	return true;
}

/* The id for a system call's kernel stack and the stack of the thread's program that made it. */
static __always_inline __s32 with_user_stack(const struct task_struct *task, __s32 stack)
{
	__u32 zero = 0;
	struct user_room *room = bpf_map_lookup_elem(&user_room, &zero);

	if (!room || !enter(&room->inside)) {
		count_lost();
		return stack;
	}
	if (read_user_stack(room, task, stack))
		stack = user_stack_id(&room->stack);
	leave(&room->inside);
	return stack;
}

#endif
