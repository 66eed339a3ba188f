/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef CULPRIT_ZSTD
#include <zstd.h>
#endif

#include "render/parquet_state.h"

#define MAGIC "PAR1"

/* Numbers of parquet.thrift. */
enum { TYPE_BOOLEAN, TYPE_INT64 = 2, TYPE_BYTE_ARRAY = 6 };
enum { REQUIRED, OPTIONAL, REPEATED };
enum { CONVERTED_UTF8, CONVERTED_LIST = 3 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8 };
enum { ENCODING_PLAIN, ENCODING_RLE = 3, ENCODING_DELTA = 5, ENCODING_DICTIONARY = 8 };
enum { CODEC_GZIP = 2, CODEC_ZSTD = 6 };
enum { PAGE_DATA, PAGE_DICTIONARY = 2 };

/* ---- pages ---- */

static void put(struct parquet *p, const struct bytes *b)
{
	if (b->failed)
		p->error = p->error ? p->error : -ENOMEM;
	else if (b->used && fwrite(b->at, b->used, 1, p->out) != 1)
		p->error = p->error ? p->error : -EIO;
	p->offset += b->used;
}

#ifdef CULPRIT_ZSTD
#define CODEC CODEC_ZSTD
static void squeeze(struct bytes *to, const struct bytes *from)
{
	size_t room = ZSTD_compressBound(from->used), len;

	to->at = malloc(room);
	len = to->at ? ZSTD_compress(to->at, room, from->at, from->used, 3) : (size_t)-1;
	to->failed = from->failed || !to->at || ZSTD_isError(len);
	to->used = to->failed ? 0 : len;
}
#else
#define CODEC CODEC_GZIP
static void squeeze(struct bytes *to, const struct bytes *from)
{
	z_stream z = {.next_in = from->at, .avail_in = (uInt)from->used};
	uLong room;

	to->failed = deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK;
	if (to->failed)
		return;
	room = deflateBound(&z, from->used);
	to->at = malloc(room);
	z.next_out = to->at;
	z.avail_out = (uInt)room;
	to->failed = from->failed || !to->at || deflate(&z, Z_FINISH) != Z_STREAM_END;
	to->used = to->failed ? 0 : z.total_out;
	deflateEnd(&z);
}
#endif

/* A page of n values, and by how much it is smaller than it was. */
struct page {
	int type;
	int encoding;
	uint32_t n;
	uint64_t saved;
};

static void put_page(struct parquet *p, struct page *page, const struct bytes *raw)
{
	struct bytes packed = {0}, head = {0};
	struct thrift t = {.to = &head};

	squeeze(&packed, raw);
	thrift_i32(&t, 1, page->type);
	thrift_i32(&t, 2, (int32_t)raw->used);
	thrift_i32(&t, 3, (int32_t)packed.used);
	thrift_struct(&t, page->type == PAGE_DATA ? 5 : 7);
	thrift_i32(&t, 1, (int32_t)page->n);
	thrift_i32(&t, 2, page->encoding);
	if (page->type == PAGE_DATA) {
		thrift_i32(&t, 3, ENCODING_RLE);
		thrift_i32(&t, 4, ENCODING_RLE);
	}
	thrift_end(&t);
	bytes_u8(&head, 0);
	put(p, &head);
	put(p, &packed);
	page->saved = raw->used - packed.used;
	bytes_free(&packed);
	bytes_free(&head);
}

static int encoding_of(const struct column *c)
{
	switch (c->field->type) {
	case PARQUET_TEXT:
		return c->words.count ? ENCODING_DICTIONARY : ENCODING_PLAIN;
	case PARQUET_BOOL:
		return ENCODING_PLAIN;
	default:
		return ENCODING_DELTA;
	}
}

static void encode_values(struct bytes *raw, const struct column *c)
{
	const void *values = c->values.at;
	unsigned width = encode_width(c->words.count ? c->words.count - 1 : 0);

	switch (encoding_of(c)) {
	case ENCODING_DICTIONARY:
		bytes_u8(raw, (uint8_t)width);
		encode_hybrid(raw, values, c->values.used / sizeof(uint32_t), width);
		break;
	case ENCODING_DELTA:
		encode_delta(raw, values, c->values.used / sizeof(int64_t));
		break;
	default:
		encode_bits(raw, values, c->values.used / sizeof(int64_t));
	}
}

static uint32_t values_of(const struct parquet *p, const struct column *c)
{
	return (uint32_t)(c->defined ? c->there.used : p->rows);
}

/* ---- groups of rows ---- */

static int type_of(const struct parquet_field *f)
{
	return f->type == PARQUET_TEXT   ? TYPE_BYTE_ARRAY
	       : f->type == PARQUET_BOOL ? TYPE_BOOLEAN
					 : TYPE_INT64;
}

static void describe_range(struct thrift *t, const struct column *c)
{
	struct bytes b = {0};

	thrift_struct(t, 12);
	thrift_i64(t, 3, (int64_t)c->nulls);
	if (type_of(c->field) == TYPE_INT64 && c->values.used) {
		bytes_le64(&b, (uint64_t)c->most);
		bytes_le64(&b, (uint64_t)c->least);
		if (b.failed) {
			t->to->failed = true;
		} else {
			thrift_binary(t, 5, b.at, 8);
			thrift_binary(t, 6, b.at + 8, 8);
		}
	}
	thrift_end(t);
	bytes_free(&b);
}

/* Place of a column in the file. */
struct chunk {
	uint64_t words_at, data_at, size, raw_size;
};

static void describe_chunk(struct thrift *t, const struct parquet *p, const struct column *c,
			   const struct chunk *chunk)
{
	bool words = encoding_of(c) == ENCODING_DICTIONARY;

	thrift_element(t);
	thrift_i64(t, 2, (int64_t)(words ? chunk->words_at : chunk->data_at));
	thrift_struct(t, 3);
	thrift_i32(t, 1, type_of(c->field));
	thrift_list(t, 2, THRIFT_I32, words ? 3 : 2);
	thrift_element_i32(t, ENCODING_RLE);
	thrift_element_i32(t, encoding_of(c));
	if (words)
		thrift_element_i32(t, ENCODING_PLAIN);
	thrift_list(t, 3, THRIFT_BINARY, c->names);
	for (unsigned i = 0; i < c->names; i++)
		thrift_element_text(t, c->path[i]);
	thrift_i32(t, 4, CODEC);
	thrift_i64(t, 5, values_of(p, c));
	thrift_i64(t, 6, (int64_t)chunk->raw_size);
	thrift_i64(t, 7, (int64_t)chunk->size);
	thrift_i64(t, 9, (int64_t)chunk->data_at);
	if (words)
		thrift_i64(t, 11, (int64_t)chunk->words_at);
	describe_range(t, c);
	thrift_end(t);
	thrift_end(t);
}

static void column_clear(struct column *c)
{
	c->there.used = c->again.used = c->values.used = 0;
	c->words.at.used = c->words.begin.used = 0;
	c->words.count = 0;
	if (c->words.slot)
		memset(c->words.slot, 0, c->words.slots * sizeof(*c->words.slot));
	c->nulls = 0;
}

static struct chunk put_column(struct parquet *p, struct column *c)
{
	struct page words = {PAGE_DICTIONARY, ENCODING_PLAIN, c->words.count, 0};
	struct page data = {PAGE_DATA, encoding_of(c), values_of(p, c), 0};
	struct chunk at = {.words_at = p->offset};
	struct bytes raw = {0};

	if (c->words.count)
		put_page(p, &words, &c->words.at);
	at.data_at = p->offset;
	if (c->repeated)
		encode_levels(&raw, c->again.at, c->again.used, 1);
	if (c->defined)
		encode_levels(&raw, c->there.at, c->there.used, encode_width(c->defined));
	encode_values(&raw, c);
	if (c->there.failed || c->again.failed || c->values.failed)
		raw.failed = true;
	put_page(p, &data, &raw);
	bytes_free(&raw);
	at.size = p->offset - at.words_at;
	at.raw_size = at.size + words.saved + data.saved;
	return at;
}

void parquet_put_group(struct parquet *p)
{
	struct thrift t = {.to = &p->groups};
	uint64_t begin, raw = 0;

	if (!p->all_rows)
		put(p, &(struct bytes){.at = (uint8_t *)MAGIC, .used = 4});
	if (!p->rows)
		return;
	begin = p->offset;
	thrift_list(&t, 1, THRIFT_STRUCT, p->ncolumns);
	for (unsigned i = 0; i < p->ncolumns; i++) {
		struct chunk chunk = put_column(p, &p->column[i]);

		describe_chunk(&t, p, &p->column[i], &chunk);
		column_clear(&p->column[i]);
		raw += chunk.raw_size;
	}
	thrift_i64(&t, 2, (int64_t)raw);
	thrift_i64(&t, 3, (int64_t)p->rows);
	thrift_i64(&t, 5, (int64_t)begin);
	thrift_i64(&t, 6, (int64_t)(p->offset - begin));
	bytes_u8(&p->groups, 0);
	p->ngroups++;
	p->all_rows += p->rows;
	p->rows = 0;
}

/* ---- the end of the file ---- */

static void describe_type(struct thrift *t, const struct parquet_field *f)
{
	if (f->type == PARQUET_TEXT || f->type == PARQUET_LIST)
		thrift_i32(t, 6, f->type == PARQUET_TEXT ? CONVERTED_UTF8 : CONVERTED_LIST);
	if (f->type != PARQUET_TEXT && f->type != PARQUET_LIST && f->type != PARQUET_TIME)
		return;
	thrift_struct(t, 10);
	thrift_struct(t, f->type == PARQUET_TEXT   ? LOGICAL_STRING
			 : f->type == PARQUET_LIST ? LOGICAL_LIST
						   : LOGICAL_TIMESTAMP);
	if (f->type == PARQUET_TIME) {
		thrift_bool(t, 1, true); /* UTC */
		thrift_struct(t, 2);
		thrift_struct(t, 3); /* ns */
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
	thrift_end(t);
}

static void describe_field(struct thrift *t, const struct parquet_field *f)
{
	thrift_element(t);
	if (f->type < PARQUET_LIST)
		thrift_i32(t, 1, type_of(f));
	thrift_i32(t, 3, f->optional ? OPTIONAL : REQUIRED);
	thrift_text(t, 4, f->name);
	if (f->children)
		thrift_i32(t, 5, f->children);
	describe_type(t, f);
	thrift_end(t);
	if (f->type != PARQUET_LIST)
		return;
	thrift_element(t);
	thrift_i32(t, 3, REPEATED);
	thrift_text(t, 4, "list");
	thrift_i32(t, 5, 1);
	thrift_end(t);
}

/* Fields of the first level, and elements of the schema: a list is two. */
static void count_fields(const struct parquet *p, int32_t *first, uint32_t *all)
{
	uint32_t within = 0;

	*first = 0;
	*all = p->nfields;
	for (unsigned i = 0; i < p->nfields; i++) {
		*all += p->fields[i].type == PARQUET_LIST;
		if (within)
			within--;
		else
			++*first;
		within += p->fields[i].children;
	}
}

void parquet_put_footer(struct parquet *p)
{
	struct bytes foot = {0};
	struct thrift t = {.to = &foot};
	uint32_t all;
	int32_t first;

	count_fields(p, &first, &all);
	thrift_i32(&t, 1, 2);
	thrift_list(&t, 2, THRIFT_STRUCT, 1 + all);
	thrift_element(&t);
	thrift_text(&t, 4, "schema");
	thrift_i32(&t, 5, first);
	thrift_end(&t);
	for (unsigned i = 0; i < p->nfields; i++)
		describe_field(&t, &p->fields[i]);
	thrift_i64(&t, 3, (int64_t)p->all_rows);
	thrift_list(&t, 4, THRIFT_STRUCT, p->ngroups);
	bytes_put(&foot, p->groups.at, p->groups.used);
	thrift_text(&t, 6, "culprit " CULPRIT_VERSION);
	thrift_list(&t, 7, THRIFT_STRUCT, p->ncolumns);
	for (unsigned i = 0; i < p->ncolumns; i++) { /* ranges are ordered as their type is */
		thrift_element(&t);
		thrift_struct(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	bytes_u8(&foot, 0);
	bytes_le32(&foot, (uint32_t)foot.used);
	bytes_put(&foot, MAGIC, 4);
	foot.failed |= p->groups.failed;
	put(p, &foot);
	bytes_free(&foot);
}
