/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/elf_entry.h"

#include <elf.h>
#include <string.h>

#define TABLE_HEAD 12 /* .eh_frame_hdr before its table, as all linkers write it */

/* Pointer encodings: how wide, and from where. */
enum {
	ENC_ABSOLUTE = 0,
	ENC_U4 = 0x03,
	ENC_S4 = 0x0b,
	ENC_S8 = 0x0c,
	ENC_HERE = 0x10,
	ENC_TABLE_S4 = 0x3b,
	ENC_NONE = 0xff
};

/* ---- numbers ---- */

uint64_t elf_get(struct elf_bytes *r, unsigned n)
{
	uint64_t v = 0;

	if ((size_t)(r->end - r->at) < n) {
		r->bad = true;
		r->at = r->end;
		return 0;
	}
	memcpy(&v, r->at, n);
	r->at += n;
	r->address += n;
	return v;
}

/* LEB128: seven bits a byte. sign: the bits of a negative number that it leaves out. */
static uint64_t get_leb(struct elf_bytes *r, uint64_t *sign)
{
	uint64_t v = 0;
	uint8_t byte;
	unsigned shift = 0;

	do {
		byte = elf_get(r, 1);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !r->bad);
	*sign = byte & 0x40 && shift < 64 ? ~UINT64_C(0) << shift : 0;
	return v;
}

uint64_t elf_get_uleb(struct elf_bytes *r)
{
	uint64_t sign;

	return get_leb(r, &sign);
}

int64_t elf_get_sleb(struct elf_bytes *r)
{
	uint64_t sign, v = get_leb(r, &sign);

	return v | sign;
}

/* A pointer in this encoding; here: counted from where it stands, if the encoding says so. */
static uint64_t get_pointer(struct elf_bytes *r, uint8_t encoding, bool here)
{
	uint64_t from = here && (encoding & 0x70) == ENC_HERE ? r->address : 0;

	if (here && encoding & 0xe0) {
		r->bad = true;
		return 0;
	}
	switch (encoding & 0x0f) {
	case ENC_ABSOLUTE:
	case ENC_S8:
	case 0x04: /* unsigned */
		return from + elf_get(r, 8);
	case ENC_U4:
		return from + elf_get(r, 4);
	case ENC_S4:
		return from + (int32_t)elf_get(r, 4);
	default:
		r->bad = true;
		return 0;
	}
}

void elf_skip(struct elf_bytes *r, uint64_t n)
{
	if ((uint64_t)(r->end - r->at) < n) {
		r->bad = true;
		return;
	}
	r->at += n;
	r->address += n;
}

/* ---- entries ---- */

/* Reads the entry at an address into `room`. False: there is none that can be read. */
static bool get_entry(const struct elf *e, uint64_t address, uint8_t room[ELF_ENTRY_MOST],
		      struct elf_bytes *r)
{
	uint32_t len;

	if (!elf_read(e, address, &len, sizeof(len)) || !len || len > ELF_ENTRY_MOST ||
	    !elf_read(e, address + 4, room, len))
		return false;
	*r = (struct elf_bytes){room, room + len, address + 4, false};
	return true;
}

/* Letters say what follows. B and G are arm64's: return addresses are signed with the other key,
 * or memory is tagged, none of which moves them. */
static void read_augmentation(struct elf_entry *t, struct elf_bytes *r, const char *letters,
			      bool arm64)
{
	uint64_t len;
	const uint8_t *end;

	if (letters[0] != 'z') {
		r->bad |= letters[0];
		return;
	}
	t->sized = true;
	len = elf_get_uleb(r);
	if (r->bad || (uint64_t)(r->end - r->at) < len) {
		r->bad = true;
		return;
	}
	end = r->at + len;
	for (const char *p = letters + 1; *p && !r->bad; p++) {
		if (*p == 'R')
			t->encoding = elf_get(r, 1);
		else if (*p == 'L')
			elf_get(r, 1);
		else if (*p == 'P')
			get_pointer(r, elf_get(r, 1) & 0x0f, false);
		else if (*p == 'S')
			t->signal = true;
		else if (!arm64 || (*p != 'B' && *p != 'G'))
			r->bad = true;
	}
	r->bad |= r->at > end;
	if (!r->bad)
		elf_skip(r, end - r->at);
}

static bool read_common(const struct elf *e, uint64_t address, struct elf_entry *t)
{
	struct elf_bytes *r = &t->common;
	const char *letters;
	uint8_t version;

	if (!get_entry(e, address, t->shared, r) || elf_get(r, 4))
		return false;
	version = elf_get(r, 1);
	letters = (const char *)r->at;
	if ((version != 1 && version != 3) || !memchr(r->at, 0, r->end - r->at))
		return false;
	elf_skip(r, strlen(letters) + 1);
	t->code_align = elf_get_uleb(r);
	t->data_align = elf_get_sleb(r);
	t->return_register = version == 1 ? elf_get(r, 1) : elf_get_uleb(r);
	t->encoding = ENC_ABSOLUTE;
	t->sized = t->signal = false;
	read_augmentation(t, r, letters, e->machine == EM_AARCH64);
	return !r->bad;
}

static bool read_own(const struct elf *e, uint64_t address, struct elf_entry *t)
{
	struct elf_bytes *r = &t->code;
	uint64_t from;
	uint32_t back;

	if (!get_entry(e, address, t->own, r))
		return false;
	from = r->address;
	back = elf_get(r, 4);
	if (!back || r->bad || !read_common(e, from - back, t) || t->encoding == ENC_NONE)
		return false;
	t->begin = get_pointer(r, t->encoding, true);
	t->bytes = get_pointer(r, t->encoding, false);
	if (t->sized)
		elf_skip(r, elf_get_uleb(r));
	return !r->bad;
}

/* The table of .eh_frame_hdr has the begin of each function and its entry, by address: counted from
 * its own address. False: no function is there. */
bool elf_entry(const struct elf *e, uint64_t address, struct elf_entry *t)
{
	uint8_t head[TABLE_HEAD];
	int32_t pair[2], want;
	uint32_t low = 0, high;
	int64_t distance = address - e->frames_at;

	want = distance;
	if (!e->frames_at || want != distance || !elf_read(e, e->frames_at, head, sizeof(head)) ||
	    head[0] != 1 || (head[1] & 0x0f) == ENC_ABSOLUTE || head[2] != ENC_U4 ||
	    head[3] != ENC_TABLE_S4)
		return false;
	memcpy(&high, head + 8, sizeof(high));
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (!elf_read(e, e->frames_at + TABLE_HEAD + 8ULL * middle, pair, sizeof(pair)))
			return false;
		if (pair[0] <= want)
			low = middle + 1;
		else
			high = middle;
	}
	return low &&
	       elf_read(e, e->frames_at + TABLE_HEAD + 8ULL * (low - 1), pair, sizeof(pair)) &&
	       read_own(e, e->frames_at + pair[1], t) && address - t->begin < t->bytes;
}
