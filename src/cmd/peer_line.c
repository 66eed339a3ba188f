/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/peer_line.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"

/* ---- words ---- */

void peer_add_value(struct peer_line *l, const char *format, const char *value)
{
	char *at = l->text + l->len;
	size_t room = sizeof(l->text) - l->len;
	int len = snprintf(at, room, format, value);

	if (l->n >= PEER_WORDS || len < 0 || (size_t)len >= room)
		return; /* peer_run() sees that it is full */
	l->word[l->n++] = at;
	l->len += len + 1;
}

void peer_add(struct peer_line *l, const char *word)
{
	peer_add_value(l, "%s", word);
}

/* ---- values ---- */

int peer_number(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		size_t whylen)
{
	long n;

	if (parse_integer(value, 0, PEER_NUMBER, &n, why, whylen))
		return -1;
	if (n) /* 0: as if it were not given */
		peer_add_value(l, row->word, value);
	return 0;
}

/* "90", "20m", "2H", "1d": seconds where no letter says more. */
int peer_time(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
	      size_t whylen)
{
	size_t digits = strspn(value, "0123456789");
	char word[64];

	if (!digits || digits > 9 ||
	    (value[digits] && (value[digits + 1] || !strchr("sSmMhHdD", value[digits])))) {
		snprintf(why, whylen, "'%.40s' is not a time like 60, 20m, 2H or 1d", value);
		return -1;
	}
	snprintf(word, sizeof(word), "%.*s%c", (int)digits, value,
		 value[digits] ? tolower((unsigned char)value[digits]) : 's');
	peer_add_value(l, row->word, word);
	l->ends = true;
	return 0;
}

int peer_limit(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
	       size_t whylen)
{
	int before = l->n;

	if (peer_number(l, value, row, why, whylen))
		return -1;
	l->ends |= l->n > before;
	return 0;
}

/* A CPU list; again: those, too. */
int peer_cpus(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
	      size_t whylen)
{
	struct cpus more;

	(void)row;
	l->cpus_given = true;
	if (!value)
		return 0;
	if (cpus_parse(value, &more, why, whylen))
		return -1;
	cpus_or(&l->cpus, &more);
	return 0;
}

int peer_long(long *to, const char *value, long hi, char *why, size_t whylen)
{
	return parse_integer(value, 0, hi, to, why, whylen) ? -1 : 0;
}

int peer_policy(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		size_t whylen)
{
	(void)row;
	return peer_long(&l->policy, value, 6, why, whylen);
}

int peer_priority(struct peer_line *l, const char *value, const struct peer_row *row, char *why,
		  size_t whylen)
{
	(void)row;
	return peer_long(&l->priority, value, 99, why, whylen);
}

void peer_add_cpus(struct peer_line *l)
{
	char list[PEER_WORD_MAX];

	if (l->cpus_given)
		peer_add_value(l, "--cpus=%s", cpus_format(&l->cpus, list, sizeof(list)));
}
