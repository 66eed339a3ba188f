/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/user_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CULPRIT_LIBIBERTY
#include <libiberty/demangle.h>
#endif
#ifdef CULPRIT_LIBDW
#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rows.h"
#endif

/* ---- names ---- */

static char *readable(const char *symbol)
{
#ifdef CULPRIT_LIBIBERTY
	/* Names of C, too, may begin like this; then they are no such name, or nobody's. */
	if (!strncmp(symbol, "_Z", 2) || !strncmp(symbol, "_R", 2))
		return cplus_demangle(symbol, DMGL_AUTO);
#endif
	(void)symbol;
	return NULL;
}

void source_name(const char *symbol, char name[CALLS_NAME])
{
	char *made = readable(symbol);

	snprintf(name, CALLS_NAME, "%s", made && *made ? made : symbol);
	free(made);
}

/* ---- lines ---- */

#ifdef CULPRIT_LIBDW

#define LIBRARY    "libdw.so.1"
#define SPANS_MOST (4U << 20) /* in a file; one with more has no lines */

static struct {
	Elf *(*image)(char *, size_t);
	int (*image_end)(Elf *);
	unsigned (*version)(unsigned);
	Dwarf *(*begin)(Elf *, Dwarf_Cmd, Elf_Scn *);
	int (*end)(Dwarf *);
	int (*next_unit)(Dwarf *, Dwarf_Off, Dwarf_Off *, size_t *, Dwarf_Half *, Dwarf_Off *,
			 uint8_t *, uint8_t *, uint64_t *, Dwarf_Off *);
	Dwarf_Die *(*die)(Dwarf *, Dwarf_Off, Dwarf_Die *);
	ptrdiff_t (*ranges)(Dwarf_Die *, ptrdiff_t, Dwarf_Addr *, Dwarf_Addr *, Dwarf_Addr *);
	Dwarf_Line *(*line)(Dwarf_Die *, Dwarf_Addr);
	int (*number)(Dwarf_Line *, int *);
	const char *(*file)(Dwarf_Line *, Dwarf_Word *, Dwarf_Word *);
	bool loaded;
} dw;

/* Addresses of a unit. */
struct span {
	uint64_t low, high; /* rows_up_to() */
	Dwarf_Off unit;     /* offset of its first entry */
};

struct source {
	void *bytes;
	size_t len;
	Elf *elf;
	Dwarf *dwarf;
	struct span *span;
	uint32_t spans, room;
};

void source_load(void)
{
	const struct {
		const char *name;
		void *at;
	} calls[] = {{"elf_memory", &dw.image},      {"elf_end", &dw.image_end},
		     {"elf_version", &dw.version},   {"dwarf_begin_elf", &dw.begin},
		     {"dwarf_end", &dw.end},         {"dwarf_next_unit", &dw.next_unit},
		     {"dwarf_offdie", &dw.die},      {"dwarf_ranges", &dw.ranges},
		     {"dwarf_getsrc_die", &dw.line}, {"dwarf_lineno", &dw.number},
		     {"dwarf_linesrc", &dw.file}};
	void *library = dw.loaded ? NULL : dlopen(LIBRARY, RTLD_NOW);

	for (size_t i = 0; library && i < sizeof(calls) / sizeof(calls[0]); i++) {
		void *call = dlsym(library, calls[i].name);

		if (!call)
			return;
		memcpy(calls[i].at, &call, sizeof(call));
	}
	dw.loaded |= library && dw.version(EV_CURRENT) != EV_NONE;
}

static bool add_span(struct source *s, const struct span *new)
{
	if (s->spans == s->room) {
		uint32_t room = s->room ? 2 * s->room : 256;
		struct span *more =
			room > SPANS_MOST ? NULL : realloc(s->span, room * sizeof(*more));

		if (!more)
			return false;
		s->span = more;
		s->room = room;
	}
	s->span[s->spans++] = *new;
	return true;
}

static int by_low(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->low != y->low)
		return x->low < y->low ? -1 : 1;
	return x->unit < y->unit ? -1 : x->unit > y->unit; /* the same in every libc */
}

/* Not by .debug_aranges, which not all compilers write. False: memory is out. */
static bool find_spans(struct source *s)
{
	Dwarf_Off at = 0, next, unit;
	Dwarf_Addr base;
	size_t head;

	for (; !dw.next_unit(s->dwarf, at, &next, &head, NULL, NULL, NULL, NULL, NULL, NULL) &&
	       next > at;
	     at = next) {
		struct span span = {.unit = at + head};
		ptrdiff_t more = 0;
		Dwarf_Die die;

		unit = at + head;
		if (!dw.die(s->dwarf, unit, &die))
			continue;
		while ((more = dw.ranges(&die, more, &base, &span.low, &span.high)) > 0)
			if (span.low < span.high && !add_span(s, &span))
				return false;
	}
	if (s->spans)
		qsort(s->span, s->spans, sizeof(*s->span), by_low);
	return true;
}

static bool open_source(struct source *s, int fd)
{
	off_t len = lseek(fd, 0, SEEK_END);

	s->bytes =
		len > 0 ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (s->bytes == MAP_FAILED)
		return false;
	s->len = len;
	s->elf = dw.image(s->bytes, s->len);
	s->dwarf = s->elf ? dw.begin(s->elf, DWARF_C_READ, NULL) : NULL;
	if (!s->dwarf)
		return false;
	return find_spans(s) && s->spans;
}

struct source *source_new(int fd)
{
	struct source *s = dw.loaded ? calloc(1, sizeof(*s)) : NULL;

	if (!s || open_source(s, fd))
		return s;
	source_free(s);
	return NULL;
}

void source_free(struct source *s)
{
	if (!s)
		return;
	if (s->dwarf)
		dw.end(s->dwarf);
	if (s->elf)
		dw.image_end(s->elf);
	if (s->len)
		munmap(s->bytes, s->len);
	free(s->span);
	free(s);
}

/* NULL: none. Where some overlap, it is the one that begins last. */
static const struct span *span_of(const struct source *s, uint64_t address)
{
	uint32_t low = rows_up_to(s->span, s->spans, sizeof(*s->span), address);

	return low && address < s->span[low - 1].high ? &s->span[low - 1] : NULL;
}

bool source_line(const struct source *s, uint64_t address, char line[CALLS_LINE])
{
	const struct span *span = span_of(s, address);
	const char *file;
	Dwarf_Line *found;
	Dwarf_Die die;
	char text[16];
	int number;
	size_t len, room;

	found = span && dw.die(s->dwarf, span->unit, &die) ? dw.line(&die, address) : NULL;
	file = found ? dw.file(found, NULL, NULL) : NULL;
	if (!file || !*file || dw.number(found, &number) || number <= 0)
		return false;
	room = CALLS_LINE - snprintf(text, sizeof(text), ":%d", number) - 1;
	len = strlen(file);
	snprintf(line, CALLS_LINE, "%s%s", len > room ? file + len - room : file, text);
	return true;
}

#else

void source_load(void)
{
}

struct source *source_new(int fd)
{
	(void)fd;
	return NULL;
}

void source_free(struct source *s)
{
	(void)s;
}

bool source_line(const struct source *s, uint64_t address, char line[CALLS_LINE])
{
	(void)s;
	(void)address;
	(void)line;
	return false;
}

#endif
