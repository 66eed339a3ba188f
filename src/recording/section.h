/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structs as bytes: a table of fields writes and reads one, and a section says how long it is, so
 * that a reader passes over what a newer version has added. */
#ifndef CULPRIT_SECTION_H
#define CULPRIT_SECTION_H

#include "recording/bytes.h"
#include "base/texts.h"

enum field_type {
	FIELD_NUMBER,
	FIELD_NUMBER32,
	FIELD_TIME, /* ns; 0 when read as more than TIME_MAX */
	FIELD_FLAG,
	FIELD_REAL,     /* ns, as FIELD_TIME */
	FIELD_BUFFER,   /* an array of char, cut to its size */
	FIELD_SET,      /* struct cpus */
	FIELD_TEXT,     /* const char *, kept in the texts when read */
	FIELD_KHZ,      /* struct khz_changes */
	FIELD_PLACES,   /* struct places */
	FIELD_READINGS, /* struct readings */
};

struct field {
	enum field_type type;
	size_t offset, size;
};

#define F(type, of, name)                                                                          \
	{                                                                                          \
		FIELD_##type, offsetof(struct of, name), sizeof(((struct of *)0)->name)            \
	}
#define FIELDS(table) table, sizeof(table) / sizeof(table[0])

void put_fields(struct bytes *b, const struct field *table, size_t n, const void *of);

/* As many as there are; what is missing stays as it was. t: NULL when the table has no texts. */
void get_fields(struct reading *r, const struct field *table, size_t n, void *of, struct texts *t);

/* Writes its length, then what is in it, which is freed. */
void put_section(struct bytes *b, struct bytes *section);
struct reading get_section(struct reading *r); /* the part of r that it is */

/* A length in ns: 0 if it is negative, infinite or no number. */
double get_real(struct reading *r);

#endif
