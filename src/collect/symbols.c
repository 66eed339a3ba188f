/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/texts.h"
#include "model/frames.h"

#define UNKNOWN_MAX 256  /* addresses without a symbol that get a string of their own */
#define OWN_BYTES   4096 /* a page: vmalloc leaves one free behind the last */

struct symbol {
	uint64_t address;
	uint32_t name; /* offset into the text */
};

struct module {
	char name[64];
	uint64_t begin, end;
};

/* An answer of the kernel's. */
struct said {
	uint64_t address; /* 0: empty */
	const char *name;
};

struct symbols {
	const char *(*ask)(void *ctx, uint64_t address); /* NULL: the table is read */
	void *ctx;
	struct said *said; /* by address, in the first free place from where it belongs */
	uint32_t nsaid, places;
	struct texts *names;
	struct symbol *row; /* sorted by address */
	uint32_t count, room;
	struct module *module;
	uint32_t nmodules;
	char *text;
	size_t used, size;
	bool hidden;
	struct {
		uint64_t address;
		char name[32];
	} unknown[UNKNOWN_MAX];
	uint32_t nunknown;
};

/* Returns the offset of a copy, 0 when out of memory (offset 0 is the empty string). */
static uint32_t keep_text(struct symbols *s, const char *text, size_t length)
{
	uint32_t at = s->used;

	if (s->used + length >= s->size) {
		size_t size = s->size * 2 + length + 1;
		char *bigger = realloc(s->text, size);

		if (!bigger)
			return 0;
		s->text = bigger;
		s->size = size;
	}
	memcpy(s->text + at, text, length);
	s->text[at + length] = 0;
	s->used += length + 1;
	return at;
}

static void keep_symbol(struct symbols *s, uint64_t address, const char *name, size_t length)
{
	uint32_t at;

	if (s->count == s->room) {
		uint32_t room = s->room * 2 + 4096;
		struct symbol *bigger = realloc(s->row, room * sizeof(*bigger));

		if (!bigger)
			return;
		s->row = bigger;
		s->room = room;
	}
	at = keep_text(s, name, length);
	if (at)
		s->row[s->count++] = (struct symbol){address, at};
}

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name < y->name ? -1 : 1;
}

#define DIGITS 16 /* an address has so many, however small it is */

/* Reads the address of "ffffffff81000000 T name\t[module]"; 0: there is none. */
static uint64_t address_of(const char *line)
{
	uint64_t address = 0;

	for (int i = 0; i < DIGITS; i++) {
		unsigned char c = line[i], digit = c <= '9' ? c - '0' : c - 'a' + 10;

		if (digit > 15)
			return 0;
		address = address << 4 | digit;
	}
	return address;
}

/* Functions only: the letters t and w in either case. Of a short run's CPU time this is a good part
 * (with sscanf and sprintf it was a fifth), so that other lines are passed over at once. */
static void load(struct symbols *s, const char *kallsyms)
{
	FILE *f = fopen(kallsyms, "re");
	char line[1024];

	s->hidden = true;
	if (f)
		setvbuf(f, NULL, _IOFBF, 1 << 16);
	while (f && fgets(line, sizeof(line), f)) {
		size_t length = strlen(line);
		char *name = line + DIGITS + 3, *module;
		uint64_t address;

		if (length < DIGITS + 4 || line[DIGITS] != ' ' || name[-1] != ' ' ||
		    !memchr("tTwW", name[-2], 4))
			continue;
		address = address_of(line);
		if (!address)
			continue;
		s->hidden = false;
		if (line[length - 1] == '\n')
			line[--length] = 0;
		module = memchr(name, '\t', line + length - name);
		if (module)
			*module = ' ';
		keep_symbol(s, address, name, line + length - name);
	}
	if (f)
		fclose(f);
	if (s->count)
		qsort(s->row, s->count, sizeof(*s->row), by_address);
}

/* Reads where each module lies: "e1000 172032 0 - Live 0xffffffffc0000000". Since 6.4 its functions
 * and its data have areas of their own, and its size is that of all. */
static void load_modules(struct symbols *s, const char *modules)
{
	FILE *f = fopen(modules, "re");
	char line[4096];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, " 0x");
		struct module m, *more;
		uint64_t size;

		if (!at || sscanf(line, "%63s %" SCNu64, m.name, &size) != 2)
			continue;
		m.begin = strtoull(at, NULL, 16);
		m.end = m.begin + size;
		more = m.begin ? reallocarray(s->module, s->nmodules + 1, sizeof(m)) : NULL;
		if (!more)
			continue;
		s->module = more;
		s->module[s->nmodules++] = m;
	}
	if (f)
		fclose(f);
}

struct symbols *symbols_new(void)
{
	return symbols_of("/proc/kallsyms", "/proc/modules");
}

struct symbols *symbols_of(const char *kallsyms, const char *modules)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->size = 1 << 20;
	s->text = calloc(1, s->size);
	s->used = 1;
	if (!s->text) {
		free(s);
		return NULL;
	}
	load(s, kallsyms);
	load_modules(s, modules);
	return s;
}

static struct said *place_of(const struct symbols *s, uint64_t address)
{
	uint32_t at = address * 0x9e3779b97f4a7c15ULL >> 32 & (s->places - 1);

	while (s->said[at].address && s->said[at].address != address)
		at = (at + 1) & (s->places - 1);
	return &s->said[at];
}

/* Makes room for more answers, half of which stays empty. False: out of memory, all is as it was.
 */
static bool grow(struct symbols *s)
{
	struct symbols more = {.places = s->places ? 2 * s->places : 1024};

	more.said = calloc(more.places, sizeof(*more.said));
	if (!more.said)
		return false;
	for (uint32_t i = 0; i < s->places; i++)
		if (s->said[i].address)
			*place_of(&more, s->said[i].address) = s->said[i];
	free(s->said);
	s->said = more.said;
	s->places = more.places;
	return true;
}

struct symbols *symbols_asking(const char *(*ask)(void *ctx, uint64_t address), void *ctx)
{
	struct symbols *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->ask = ask;
	s->ctx = ctx;
	s->names = texts_new(TEXTS_BYTES);
	if (s->names && grow(s))
		return s;
	symbols_free(s);
	return NULL;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	free(s->said);
	texts_free(s->names);
	free(s->row);
	free(s->module);
	free(s->text);
	free(s);
}

bool symbols_hidden(const struct symbols *s)
{
	return s->hidden;
}

static const char *unknown(struct symbols *s, uint64_t address)
{
	for (uint32_t i = 0; i < s->nunknown; i++)
		if (s->unknown[i].address == address)
			return s->unknown[i].name;
	if (s->nunknown == UNKNOWN_MAX)
		return "[unknown]";
	s->unknown[s->nunknown].address = address;
	snprintf(s->unknown[s->nunknown].name, sizeof(s->unknown[0].name), "[unknown %u]",
		 s->nunknown + 1);
	return s->unknown[s->nunknown++].name;
}

/* True when the address lies behind the module that this symbol is in. What has no module
 * (programs, probes, trampolines) has pages of its own, nobody says how many. */
static bool is_behind(const struct symbols *s, const struct symbol *row, uint64_t address)
{
	const char *text = s->text + row->name, *of = strstr(text, " [");

	if (of && (!strcmp(of, " [bpf]") || !strncmp(of, " [__builtin__", 13)))
		return address - row->address >= OWN_BYTES;
	for (uint32_t i = 0; of && i < s->nmodules; i++) {
		const struct module *m = &s->module[i];
		size_t len = strlen(m->name);

		if (!strncmp(of + 2, m->name, len) && of[2 + len] == ']')
			return row->address >= m->begin && row->address < m->end &&
			       address >= m->end;
	}
	return false;
}

static const char *asked(struct symbols *s, uint64_t address)
{
	struct said *at = place_of(s, address);
	const char *text;

	if (at->address)
		return at->name;
	text = s->ask(s->ctx, address);
	if (text && strncmp(text, "0x", 2))
		text = texts_keep(s->names, text, strlen(text));
	else
		text = NULL;
	*at = (struct said){address, text ?: unknown(s, address)};
	text = at->name;
	if (2 * ++s->nsaid > s->places && !grow(s))
		*place_of(s, address) = (struct said){0}, s->nsaid--;
	return text;
}

const char *symbols_name(struct symbols *s, uint64_t address)
{
	uint32_t lo = 0, hi = s->count;

	if (s->ask)
		return address ? asked(s, address) : unknown(s, address);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s->row[mid].address <= address)
			lo = mid + 1;
		else
			hi = mid;
	}
	/* Past the last symbol, or far from any, or behind a module there is no function: a module
	 * or program that came later. */
	if (!lo || address - s->row[lo - 1].address > 1 << 20 ||
	    is_behind(s, &s->row[lo - 1], address))
		return unknown(s, address);
	/* Takes the first of several names for one address, as in kallsyms. */
	for (lo--; lo && s->row[lo - 1].address == s->row[lo].address; lo--)
		;
	return s->text + s->row[lo].name;
}

const char *symbols_caller(struct symbols *s, uint64_t address, const char *called)
{
	/* A call may be the last that a function has; an interrupt comes before any instruction. */
	bool exact = called && (!strncmp(called, "asm_", 4) || !strncmp(called, "el1", 3) ||
				frame_is(called) == FRAME_INTERRUPT);

	return symbols_name(s, address - !exact);
}

uint64_t symbols_address(const struct symbols *s, const char *name)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (!strcmp(s->text + s->row[i].name, name))
			return s->row[i].address;
	return 0;
}
