/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/elf_state.h"
#include "base/rows.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADERS_MOST 65535
#define NOTE_MOST    4096
#define AT_A_TIME    1024 /* symbols */

static bool get(const struct elf_source *s, uint64_t at, void *to, size_t len)
{
	return s->read(s->ctx, at, to, len);
}

/* ---- segments and the build id ---- */

static uint64_t up_to(uint64_t at, uint64_t align)
{
	return (at + align - 1) & ~(align - 1);
}

/* Notes are aligned to 4 bytes, those of some segments to 8. */
static void find_build(struct elf *e, const struct elf_source *s, const Elf64_Phdr *p)
{
	uint64_t align = p->p_align == 8 ? 8 : 4, at = 0, end;
	unsigned char note[NOTE_MOST];
	Elf64_Nhdr h;

	end = p->p_filesz < sizeof(note) ? p->p_filesz : sizeof(note);
	if (e->build[0] || !get(s, p->p_offset, note, end))
		return;
	while (at + sizeof(h) <= end) {
		uint64_t name, text;

		memcpy(&h, note + at, sizeof(h));
		name = at + sizeof(h);
		text = up_to(name + h.n_namesz, align);
		at = up_to(text + h.n_descsz, align);
		if (text + h.n_descsz > end)
			return;
		if (h.n_type != NT_GNU_BUILD_ID || h.n_namesz != 4 || memcmp(note + name, "GNU", 4))
			continue;
		for (uint32_t i = 0; i < h.n_descsz && i < ELF_BUILD_BYTES; i++)
			sprintf(e->build + 2 * i, "%02x", note[text + i]);
		return;
	}
}

static void take_segment(struct elf *e, const struct elf_source *s, const Elf64_Phdr *p)
{
	if (p->p_type == PT_LOAD && e->segments < ELF_SEGMENTS && p->p_filesz &&
	    p->p_offset + p->p_filesz > p->p_offset && p->p_vaddr + p->p_filesz > p->p_vaddr)
		e->segment[e->segments++] =
			(struct elf_segment){p->p_offset, p->p_vaddr, p->p_filesz};
	else if (p->p_type == PT_GNU_EH_FRAME)
		e->frames_at = p->p_vaddr;
	else if (p->p_type == PT_NOTE)
		find_build(e, s, p);
}

/* False: it is no file that can be read here. */
static bool read_head(struct elf *e, const struct elf_source *s, Elf64_Ehdr *h)
{
	if (!get(s, 0, h, sizeof(*h)) || memcmp(h->e_ident, ELFMAG, SELFMAG) ||
	    h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB ||
	    h->e_phentsize != sizeof(Elf64_Phdr))
		return false;
	e->machine = h->e_machine;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		Elf64_Phdr p;

		if (!get(s, h->e_phoff + i * sizeof(p), &p, sizeof(p)))
			return false;
		take_segment(e, s, &p);
	}
	return true;
}

bool elf_address(const struct elf *e, uint64_t offset, uint64_t *address)
{
	for (unsigned i = 0; i < e->segments; i++) {
		const struct elf_segment *g = &e->segment[i];

		if (offset - g->offset >= g->bytes)
			continue;
		*address = g->address + (offset - g->offset);
		return true;
	}
	return false;
}

bool elf_read(const struct elf *e, uint64_t address, void *to, size_t len)
{
	for (unsigned i = 0; i < e->segments; i++) {
		const struct elf_segment *g = &e->segment[i];
		uint64_t at = address - g->address;

		if (at < g->bytes && len <= g->bytes - at)
			return get(&e->source, g->offset + at, to, len);
	}
	return false;
}

/* ---- symbols ---- */

/* The text of a table's names, which ends with a NUL; NULL: there is none. */
static char *read_names(struct elf *e, const struct elf_source *s, const Elf64_Shdr *h)
{
	struct elf_names *n;
	char *text;

	if (h->sh_type != SHT_STRTAB || !h->sh_size || h->sh_size > ELF_NAMES_MOST)
		return NULL;
	text = malloc(h->sh_size);
	n = malloc(sizeof(*n));
	if (!text || !n || !get(s, h->sh_offset, text, h->sh_size)) {
		free(text);
		free(n);
		return NULL;
	}
	text[h->sh_size - 1] = 0;
	*n = (struct elf_names){text, e->names};
	e->names = n;
	e->bytes += h->sh_size;
	return text;
}

static bool is_function(const Elf64_Sym *y)
{
	unsigned type = ELF64_ST_TYPE(y->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && y->st_shndx != SHN_UNDEF &&
	       y->st_size && y->st_value + y->st_size > y->st_value;
}

static void take_symbols(struct elf *e, const struct elf_source *s, const Elf64_Shdr *h,
			 const char *names, uint64_t names_len)
{
	uint64_t n = h->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym part[AT_A_TIME];
	struct elf_symbol *more;

	more = reallocarray(e->symbol, e->symbols + n, sizeof(*more));
	if (!more)
		return;
	e->symbol = more;
	for (uint64_t at = 0; at < n; at += AT_A_TIME) {
		uint64_t here = n - at < AT_A_TIME ? n - at : AT_A_TIME;

		if (!get(s, h->sh_offset + at * sizeof(*part), part, here * sizeof(*part)))
			return;
		for (uint64_t i = 0; i < here; i++)
			if (is_function(&part[i]) && part[i].st_name < names_len &&
			    names[part[i].st_name])
				e->symbol[e->symbols++] = (struct elf_symbol){
					part[i].st_value, part[i].st_size, names + part[i].st_name};
	}
}

static void read_table(struct elf *e, const struct elf_source *s, const Elf64_Ehdr *h,
		       const Elf64_Shdr *table)
{
	uint64_t n = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Shdr link;
	const char *names;

	if (!n || n > ELF_SYMBOLS_MOST || e->symbols > 2 * ELF_SYMBOLS_MOST ||
	    table->sh_entsize != sizeof(Elf64_Sym) || table->sh_link >= h->e_shnum ||
	    !get(s, h->e_shoff + table->sh_link * sizeof(link), &link, sizeof(link)))
		return;
	names = read_names(e, s, &link);
	if (names)
		take_symbols(e, s, table, names, link.sh_size);
}

/* One table of each kind: a file has no more. */
static void read_tables(struct elf *e, const struct elf_source *s, const Elf64_Ehdr *h)
{
	bool whole = false, dynamic = false;

	if (h->e_shentsize != sizeof(Elf64_Shdr))
		return;
	for (unsigned i = 0; i < h->e_shnum; i++) {
		Elf64_Shdr table;

		if (!get(s, h->e_shoff + i * sizeof(table), &table, sizeof(table)))
			break;
		if ((table.sh_type == SHT_SYMTAB && !whole) ||
		    (table.sh_type == SHT_DYNSYM && !dynamic))
			read_table(e, s, h, &table);
		whole |= table.sh_type == SHT_SYMTAB;
		dynamic |= table.sh_type == SHT_DYNSYM;
	}
	e->whole |= whole;
}

#define NAME_LOOKED 1024 /* bytes of one, in a comparison */

static unsigned underscores(const char *name)
{
	unsigned n = 0;

	while (n < NAME_LOOKED && name[n] == '_')
		n++;
	return n;
}

/* By address; of the names of one place the one that people write comes last: "write" behind
 * "__write" and "__libc_write". */
static int by_address(const void *a, const void *b)
{
	const struct elf_symbol *x = a, *y = b;
	size_t x_len, y_len;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (underscores(x->name) != underscores(y->name))
		return underscores(x->name) > underscores(y->name) ? -1 : 1;
	x_len = strnlen(x->name, NAME_LOOKED);
	y_len = strnlen(y->name, NAME_LOOKED);
	return x_len != y_len ? (x_len > y_len ? -1 : 1) : strncmp(y->name, x->name, NAME_LOOKED);
}

static void sort(struct elf *e)
{
	if (e->symbols)
		qsort(e->symbol, e->symbols, sizeof(*e->symbol), by_address);
}

#define LOOK_BACK 16 /* functions that lie inside another */

const char *elf_name(const struct elf *e, uint64_t address)
{
	uint32_t low = rows_up_to(e->symbol, e->symbols, sizeof(*e->symbol), address);

	for (uint32_t i = low; i && low - i < LOOK_BACK; i--)
		if (address - e->symbol[i - 1].address < e->symbol[i - 1].bytes)
			return e->symbol[i - 1].name;
	return NULL;
}

/* ---- the whole ---- */

struct elf *elf_new(const struct elf_source *source)
{
	struct elf *e = calloc(1, sizeof(*e));
	Elf64_Ehdr h;

	if (!e)
		return NULL;
	e->source = *source;
	if (!read_head(e, source, &h)) {
		elf_free(e);
		return NULL;
	}
	read_tables(e, source, &h);
	sort(e);
	return e;
}

bool elf_add(struct elf *e, const struct elf_source *debug)
{
	struct elf other = {.source = *debug};
	Elf64_Ehdr h;

	if (!read_head(&other, debug, &h) || !e->build[0] || strcmp(other.build, e->build) != 0)
		return false;
	read_tables(e, debug, &h);
	sort(e);
	return true;
}

/* A part of the program itself: what its build id is need not be asked. */
bool elf_add_packed(struct elf *e, const struct elf_source *unpacked)
{
	struct elf other = {.source = *unpacked};
	Elf64_Ehdr h;
	bool whole;

	if (!read_head(&other, unpacked, &h))
		return false;
	whole = e->whole; /* the rest is in debug information yet */
	read_tables(e, unpacked, &h);
	e->whole = whole;
	sort(e);
	return true;
}

#define PACKED ".gnu_debugdata"

static bool is_packed(const struct elf_source *s, const Elf64_Shdr *names, const Elf64_Shdr *h)
{
	char name[sizeof(PACKED)];

	return h->sh_type == SHT_PROGBITS && h->sh_size && h->sh_size <= ELF_PACKED_MOST &&
	       h->sh_name < names->sh_size &&
	       get(s, names->sh_offset + h->sh_name, name, sizeof(name)) &&
	       !memcmp(name, PACKED, sizeof(name));
}

void *elf_packed(const struct elf *e, size_t *len)
{
	const struct elf_source *s = &e->source;
	Elf64_Shdr names, section;
	Elf64_Ehdr h;
	void *bytes;

	if (!get(s, 0, &h, sizeof(h)) || h.e_shentsize != sizeof(section) ||
	    h.e_shstrndx >= h.e_shnum ||
	    !get(s, h.e_shoff + h.e_shstrndx * sizeof(names), &names, sizeof(names)))
		return NULL;
	for (unsigned i = 0; i < h.e_shnum; i++) {
		if (!get(s, h.e_shoff + i * sizeof(section), &section, sizeof(section)))
			return NULL;
		if (!is_packed(s, &names, &section))
			continue;
		bytes = malloc(section.sh_size);
		if (bytes && get(s, section.sh_offset, bytes, section.sh_size)) {
			*len = section.sh_size;
			return bytes;
		}
		free(bytes);
		return NULL;
	}
	return NULL;
}

void elf_free(struct elf *e)
{
	if (!e)
		return;
	while (e->names) {
		struct elf_names *n = e->names;

		e->names = n->next;
		free(n->text);
		free(n);
	}
	free(e->symbol);
	free(e);
}

const char *elf_build(const struct elf *e)
{
	return e->build;
}

bool elf_is_whole(const struct elf *e)
{
	return e->whole;
}

size_t elf_bytes(const struct elf *e)
{
	return sizeof(*e) + e->bytes + e->symbols * sizeof(*e->symbol);
}
