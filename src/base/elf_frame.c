/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call frame information: a small program for each function says, for each of its instructions,
 * where the frame of its caller begins (the CFA) and where the caller's registers are. Only the
 * frame pointer and the return address are followed here. Whether a return address is signed is
 * not: the kernel and the probes take the signature off (leaf_of in bpf/user.bpf.h). */
#include <elf.h>

#include "base/elf_entry.h"

#define REMEMBERED 8 /* states, one inside another */

enum rule { RULE_SAME, RULE_AT, RULE_UNDEFINED, RULE_OTHER };

struct saved {
	enum rule rule;
	int64_t at; /* RULE_AT: from the CFA */
};

struct row {
	uint64_t base; /* register from which the CFA is counted; UINT64_MAX: it is not one's */
	int64_t offset;
	struct saved frame_pointer, return_address;
};

/* ---- programs ---- */

struct machine {
	uint64_t frame_pointer, stack_pointer, return_address;
};

static const struct machine x86 = {6, 7, 16}, arm64 = {29, 31, 30};

/* The state while a program runs. */
struct run {
	const struct machine *m;
	const struct elf_entry *t;
	struct row row, first, remembered[REMEMBERED];
	unsigned depth;
	uint64_t at, until;
	bool bad, done;
};

static void set_rule(struct run *u, uint64_t reg, enum rule rule, int64_t at)
{
	if (reg == u->m->frame_pointer)
		u->row.frame_pointer = (struct saved){rule, at};
	else if (reg == u->m->return_address)
		u->row.return_address = (struct saved){rule, at};
}

static void restore_rule(struct run *u, uint64_t reg)
{
	if (reg == u->m->frame_pointer)
		u->row.frame_pointer = u->first.frame_pointer;
	else if (reg == u->m->return_address)
		u->row.return_address = u->first.return_address;
}

static void advance(struct run *u, uint64_t by)
{
	by *= u->t->code_align;
	u->done = by > u->until - u->at;
	u->at += u->done ? 0 : by;
}

static int64_t scaled(const struct run *u, uint64_t by)
{
	return by * (uint64_t)u->t->data_align;
}

static void skip_block(struct elf_bytes *r)
{
	elf_skip(r, elf_get_uleb(r));
}

static void remember(struct run *u)
{
	if (u->depth == REMEMBERED)
		u->bad = true;
	else
		u->remembered[u->depth++] = u->row;
}

static void recall(struct run *u)
{
	if (!u->depth)
		u->bad = true;
	else
		u->row = u->remembered[--u->depth];
}

/* Numbers of DW_CFA_... */
static void step_cfa(struct run *u, struct elf_bytes *r, uint8_t code)
{
	switch (code) {
	case 0x0c: /* def_cfa */
		u->row.base = elf_get_uleb(r);
		u->row.offset = elf_get_uleb(r);
		break;
	case 0x0d: /* def_cfa_register */
		u->row.base = elf_get_uleb(r);
		break;
	case 0x0e: /* def_cfa_offset */
		u->row.offset = elf_get_uleb(r);
		break;
	case 0x0f: /* def_cfa_expression */
		u->row.base = UINT64_MAX;
		skip_block(r);
		break;
	case 0x12: /* def_cfa_sf */
		u->row.base = elf_get_uleb(r);
		u->row.offset = scaled(u, elf_get_sleb(r));
		break;
	case 0x13: /* def_cfa_offset_sf */
		u->row.offset = scaled(u, elf_get_sleb(r));
		break;
	default:
		u->bad = true;
	}
}

/* Instructions with a register that is followed, or not. */
static void step_register(struct run *u, struct elf_bytes *r, uint8_t code)
{
	uint64_t reg = elf_get_uleb(r);

	switch (code) {
	case 0x05: /* offset_extended */
		set_rule(u, reg, RULE_AT, scaled(u, elf_get_uleb(r)));
		break;
	case 0x11: /* offset_extended_sf */
		set_rule(u, reg, RULE_AT, scaled(u, elf_get_sleb(r)));
		break;
	case 0x06: /* restore_extended */
		restore_rule(u, reg);
		break;
	case 0x07: /* undefined */
		set_rule(u, reg, RULE_UNDEFINED, 0);
		break;
	case 0x08: /* same_value */
		set_rule(u, reg, RULE_SAME, 0);
		break;
	case 0x09: /* register */
	case 0x14: /* val_offset */
	case 0x15: /* val_offset_sf */
		elf_get_uleb(r);
		set_rule(u, reg, RULE_OTHER, 0);
		break;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		skip_block(r);
		set_rule(u, reg, RULE_OTHER, 0);
		break;
	default:
		u->bad = true;
	}
}

static void step(struct run *u, struct elf_bytes *r)
{
	uint8_t code = elf_get(r, 1), low = code & 0x3f;

	if (code >> 6 == 1)
		advance(u, low);
	else if (code >> 6 == 2)
		set_rule(u, low, RULE_AT, scaled(u, elf_get_uleb(r)));
	else if (code >> 6 == 3)
		restore_rule(u, low);
	else if (code >= 0x02 && code <= 0x04) /* advance_loc1, 2, 4 */
		advance(u, elf_get(r, 1 << (code - 0x02)));
	else if (code == 0x0a)
		remember(u);
	else if (code == 0x0b)
		recall(u);
	else if (code == 0x2d && u->m == &arm64) /* negate_ra_state: signed from here on, or not */
		return;
	else if (code == 0x2c && u->m == &arm64) /* likewise, also by the program counter */
		return;
	else if (code == 0x2e) /* GNU_args_size */
		elf_get_uleb(r);
	else if ((code >= 0x0c && code <= 0x0f) || code == 0x12 || code == 0x13)
		step_cfa(u, r, code);
	else if (code)
		step_register(u, r, code);
}

static bool run(struct run *u, struct elf_bytes r)
{
	while (r.at < r.end && !r.bad && !u->bad && !u->done)
		step(u, &r);
	return !r.bad && !u->bad;
}

/* ---- the answer ---- */

static bool is_at(const struct saved *s, int64_t at)
{
	return s->rule == RULE_AT && s->at == at;
}

static enum elf_frame frame_on_x86(const struct row *row, uint64_t *leaf_at)
{
	if (!is_at(&row->return_address, -8))
		return ELF_FRAME_UNKNOWN;
	if (row->base == x86.stack_pointer && row->offset >= 8) {
		*leaf_at = row->offset - 8;
		return row->frame_pointer.rule == RULE_SAME ? ELF_FRAME_LEAF : ELF_FRAME_RETURN;
	}
	return row->base == x86.frame_pointer && row->offset == 16 &&
			       is_at(&row->frame_pointer, -16)
		       ? ELF_FRAME_POINTER
		       : ELF_FRAME_UNKNOWN;
}

/* Compilers save frame pointer and return address side by side where the stack pointer is, and let
 * the frame pointer point there, which the table does not always say: it may count from the stack
 * pointer. A function without frame pointers would save them side by side only by chance. */
static enum elf_frame frame_on_arm64(const struct row *row)
{
	int64_t at = row->frame_pointer.at;

	if (row->base == arm64.stack_pointer && !row->offset &&
	    row->frame_pointer.rule == RULE_SAME && row->return_address.rule == RULE_SAME)
		return ELF_FRAME_LEAF;
	return row->frame_pointer.rule == RULE_AT && is_at(&row->return_address, at + 8) &&
			       row->offset == -at &&
			       (row->base == arm64.stack_pointer ||
				row->base == arm64.frame_pointer)
		       ? ELF_FRAME_POINTER
		       : ELF_FRAME_UNKNOWN;
}

enum elf_frame elf_frame(const struct elf *e, uint64_t address, uint64_t *leaf_at)
{
	struct run u = {.m = e->machine == EM_X86_64    ? &x86
			     : e->machine == EM_AARCH64 ? &arm64
							: NULL};
	struct elf_entry t;

	if (!u.m || !elf_entry(e, address, &t) || t.signal ||
	    t.return_register != u.m->return_address)
		return ELF_FRAME_UNKNOWN;
	u.t = &t;
	u.row.base = UINT64_MAX;
	u.at = t.begin;
	u.until = address;
	if (!run(&u, t.common))
		return ELF_FRAME_UNKNOWN;
	u.first = u.row;
	if (!run(&u, t.code))
		return ELF_FRAME_UNKNOWN;
	if (u.row.return_address.rule == RULE_UNDEFINED)
		return ELF_FRAME_LAST;
	*leaf_at = 0;
	return e->machine == EM_X86_64 ? frame_on_x86(&u.row, leaf_at) : frame_on_arm64(&u.row);
}
