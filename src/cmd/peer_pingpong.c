/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of osjitter's pingpong. */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/peer_line.h"

/* The number counts the messages of both directions. */
static PEER_TAKE(take_messages)
{
	char half[24];
	long n;

	(void)row;
	if (parse_integer(value, 2, PEER_NUMBER, &n, why, whylen))
		return -1;
	snprintf(half, sizeof(half), "%ld", n / 2);
	peer_add_value(line, "--messages=%s", half);
	return 0;
}

/* osjitter's pingpong pauses twice as often as it is told, but before each side's first message. */
static PEER_TAKE(take_pauses)
{
	char twice[24];
	long n;

	(void)row;
	if (parse_integer(value, 0, 500000, &n, why, whylen))
		return -1;
	snprintf(twice, sizeof(twice), "%ld", 2 * n);
	peer_add_value(line, "--pauses=%s", twice);
	return 0;
}

/* "0 3": thread 0 on CPU 3. */
static PEER_TAKE(take_pin)
{
	unsigned thread, cpu;
	int end = 0;

	(void)row;
	if (sscanf(value, "%1u %4u%n", &thread, &cpu, &end) != 2 || value[end] || thread > 1 ||
	    cpu >= CPUS_MAX) {
		snprintf(why, whylen, "'%.40s' is not a thread, 0 or 1, and a CPU", value);
		return -1;
	}
	line->pinned[thread] = true;
	line->pin[thread] = cpu;
	return 0;
}

/* The methods are options without a value: the last one holds. */
static PEER_TAKE(take_method)
{
	(void)value;
	(void)why;
	(void)whylen;
	line->method = row->name;
	return 0;
}

/* The pauses of --spin-pause alone; 0 is as if it were not given. */
static PEER_TAKE(take_looks)
{
	(void)row;
	return parse_integer(value, 0, PEER_NUMBER, &line->looks, why, whylen);
}

const struct peer_row pingpong_rows[] = {
	{'n', NULL, "N", .take = take_messages, .help = "1000000: half of it in each direction"},
	{'k', NULL, "N", .take = take_pauses, .help = "1000 PAUSEs, made twice"},
	{0, "pin", "THREAD CPU", .two = true, .take = take_pin,
	 .help = "two of the isolated CPUs, or of all"},
	{0, "spin", NULL, .take = take_method, .help = "this is the default"},
	{0, "spin-pause", NULL, .take = take_method, .help = "PAUSE between two looks"},
	{'p', NULL, "N", .take = take_looks, .help = "so many, with --spin-pause"},
	{0, "cv", NULL, .take = take_method, .help = "condition variable"},
	{0, "pipe", NULL, .take = take_method, .help = "pipe"},
	{0, "futex", NULL, .take = take_method, .help = "futex"},
	{0, "sem", NULL, .take = take_method, .help = "semaphore"},
	{0, "null", NULL, .take = take_method, .help = "what reading the counter costs"},
	{0, "khz", "N", .help = "no effect: the counter's rate is measured"},
	{0, "json", NULL, .word = "--style-raw",
	 .help = "the time of each message, of both threads"},
	{0},
};
const char *const pingpong_words[] = {"pingpong",          "--style=pingpong", "--threads",
				      "--messages=500000", "--pauses=2000",    NULL};

int pingpong_end(struct peer_line *l, const char *operand)
{
	bool looks = l->looks && l->method && !strcmp(l->method, "spin-pause");
	char pair[32], number[24];

	(void)operand;
	peer_add_value(l, "--method=%s", looks ? "spin-pauses" : l->method ? l->method : "spin");
	if (looks) {
		snprintf(number, sizeof(number), "%ld", l->looks);
		peer_add_value(l, "--looks=%s", number);
	}
	if (!l->pinned[0] && !l->pinned[1])
		return 0;
	if (!l->pinned[0] || !l->pinned[1])
		return complain("--pin: give both threads a CPU: --pin 0 2 --pin 1 3");
	snprintf(pair, sizeof(pair), "%u,%u", l->pin[0], l->pin[1]);
	peer_add_value(l, "--pin=%s", pair);
	return 0;
}
