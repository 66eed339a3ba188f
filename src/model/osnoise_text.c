/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cursor over a line of any bytes; nothing here reads past its end. And blocks to lines. */
#include "model/osnoise_text.h"

#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void text_blanks(struct text *t)
{
	while (t->p < t->end && is_blank(*t->p))
		t->p++;
}

void text_trim(struct text *t)
{
	text_blanks(t);
	while (t->p < t->end && is_blank(t->end[-1]))
		t->end--;
}

bool text_word(struct text *t, const char *word)
{
	size_t len = strlen(word);

	if (text_left(t) < len || memcmp(t->p, word, len))
		return false;
	t->p += len;
	return true;
}

bool text_is(const struct text *t, const char *word)
{
	return text_left(t) == strlen(word) && !memcmp(t->p, word, text_left(t));
}

bool text_u64(struct text *t, uint64_t *value)
{
	const char *p = t->p;
	uint64_t v = 0;

	for (; p < t->end && is_digit(*p); p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == t->p)
		return false;
	t->p = p;
	*value = v;
	return true;
}

bool text_u32(struct text *t, uint32_t *value)
{
	struct text at = *t;
	uint64_t v;

	if (!text_u64(&at, &v) || v > UINT32_MAX)
		return false;
	*t = at;
	*value = v;
	return true;
}

bool text_field(struct text *t, uint64_t *value)
{
	struct text at = *t;

	text_blanks(&at);
	if (!text_u64(&at, value) || (at.p < at.end && !is_blank(*at.p)))
		return false;
	*t = at;
	return true;
}

struct text text_token(struct text *t)
{
	struct text token;

	text_blanks(t);
	token.p = t->p;
	while (t->p < t->end && !is_blank(*t->p))
		t->p++;
	token.end = t->p;
	return token;
}

bool text_find(const struct text *t, const char *word, struct text *at)
{
	const char *found = memmem(t->p, text_left(t), word, strlen(word));

	if (!found)
		return false;
	*at = (struct text){found, t->end};
	return true;
}

bool text_last_find(const struct text *t, const char *word, struct text *at)
{
	struct text rest = *t, found;
	bool any = false;

	while (text_find(&rest, word, &found)) {
		*at = found;
		rest.p = found.p + 1;
		any = true;
	}
	return any;
}

bool text_decimal(struct text *t, uint64_t unit, uint64_t *value)
{
	struct text at = *t;
	uint64_t whole, part = 0, scale = NSEC_PER_SEC;

	if (!text_u64(&at, &whole) || __builtin_mul_overflow(whole, unit, &whole))
		return false;
	if (at.p < at.end && *at.p == '.')
		for (at.p++; at.p < at.end && is_digit(*at.p); at.p++) {
			scale /= 10;
			part += scale *
				(uint64_t)(*at.p - '0'); /* ignores decimals from the tenth on */
		}
	/* Rounds to the nearest nanosecond. */
	if (__builtin_add_overflow(whole, (part * unit + NSEC_PER_SEC / 2) / NSEC_PER_SEC, value))
		return false;
	*t = at;
	return true;
}

void text_copy(const struct text *t, char *to, size_t size)
{
	size_t len = text_left(t) < size - 1 ? text_left(t) : size - 1;

	memcpy(to, t->p, len);
	memset(to + len, 0, size - len);
}

bool lines_next(struct lines *l, const char **data, size_t *left)
{
	const char *newline = memchr(*data, '\n', *left);
	size_t take = newline ? (size_t)(newline - *data) : *left, room;

	if (!l->fresh) {
		l->len = l->bytes = 0;
		l->cut = false;
		l->fresh = true;
	}
	room = LINE_BYTES - l->len;
	if (take > room && !l->cut) {
		l->cut = true;
		l->ncut++;
	}
	memcpy(l->text + l->len, *data, take < room ? take : room);
	l->len += take < room ? take : room;
	l->bytes += take;
	*data += take + !!newline;
	*left -= take + !!newline;
	l->fresh = !newline;
	return newline;
}

bool lines_last(struct lines *l)
{
	bool last = l->fresh && l->len;

	l->fresh = false;
	return last;
}

bool text_cell(struct text *t, uint64_t unit_ns, uint64_t *value, bool *some)
{
	struct text token = text_token(t);

	if (text_is(&token, "-")) {
		*some = false;
		return true;
	}
	*some = text_decimal(&token, unit_ns, value) && !text_left(&token);
	return *some;
}
