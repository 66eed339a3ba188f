/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names that a recording has of numbers: each is found again, however many there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/calls.h"
#include "recording/naming.h"

#define MOST 131072 /* names that are kept */

static struct texts *texts, *users;
static struct naming *naming;

static int begin(void **state)
{
	(void)state;
	texts = texts_new(TEXTS_BYTES);
	users = texts_new(TEXTS_BYTES);
	naming = texts && users ? naming_new(texts, users, BY_THREAD) : NULL;
	return naming ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	naming_free(naming);
	texts_free(texts);
	texts_free(users);
	return 0;
}

static void take(struct event e, const char *a, const char *b)
{
	struct bytes bytes = {0};
	struct reading r;

	put_text(&bytes, a, 64);
	if (b)
		put_text(&bytes, b, 64);
	assert_false(bytes.failed);
	r = (struct reading){bytes.at, bytes.at + bytes.len, false};
	naming_take(naming, &r, &e);
	assert_false(r.bad);
	assert_ptr_equal(r.at, r.end);
	free(bytes.at);
}

static struct event named(enum event_type type, uint64_t number)
{
	return (struct event){.type = type,
			      .named = {.number = number, .nframes = type == EVENT_STACK ? 2 : 0}};
}

/* A user stack for each stack. */
static void take_user(uint32_t i)
{
	char text[32];

	snprintf(text, sizeof(text), "u%u", i);
	take(named(EVENT_CALLS, i), text, NULL);
	naming_take(naming, &(struct reading){0},
		    &(struct event){.type = EVENT_CALLER, .named = {.number = i, .user = i + 1}});
}

static void check_user(const struct names *names, uint32_t i)
{
	char text[32];

	snprintf(text, sizeof(text), "u%u", i);
	assert_string_equal(names->calls(names->ctx, i), text);
	assert_int_equal(names->user(names->ctx, i), i + 1);
	assert_null(names->calls(names->ctx, 3000 + i));
	assert_int_equal(names->user(names->ctx, 3000 + i), 0);
}

/* The numbers of IRQs and stacks are alike, those of symbols are addresses. */
static void test_many(void **state)
{
	const struct names *names = naming_names(naming);
	const char *frame[STACK_FRAMES];
	char text[32];

	(void)state;
	for (uint32_t i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "f%u", i);
		take(named(EVENT_SYMBOL, 0xffffffff81000000 + 16 * i), text, NULL);
		text[0] = 'i';
		take(named(EVENT_IRQ, i), text, "0-3");
		text[0] = 'd';
		take(named(EVENT_DEVICE, i), text, NULL);
		text[0] = 'o';
		take(named(EVENT_OWNER, i), text, NULL);
		text[0] = 'c';
		take(named(EVENT_COMMAND, names_command(i, text)), text, NULL);
		text[0] = 's';
		take(named(EVENT_STACK, i), text, "outer");
		take_user(i);
		take(named(EVENT_SYMBOL, 0xffffffff81000000), "another name",
		     NULL); /* the first one holds */
		if (i % 100 && i != 2999)
			continue;
		for (uint32_t k = 0; k <= i; k++) {
			snprintf(text, sizeof(text), "f%u", k);
			assert_string_equal(names->symbol(names->ctx, 0xffffffff81000000 + 16 * k),
					    text);
			text[0] = 'i';
			assert_string_equal(names->irq(names->ctx, k), text);
			assert_string_equal(names->irq_affinity(names->ctx, k), "0-3");
			text[0] = 'd';
			assert_string_equal(names->irq_device(names->ctx, k), text);
			text[0] = 'o';
			assert_string_equal(names->owner(names->ctx, k), text);
			text[0] = 'c';
			assert_string_equal(names->command(names->ctx, k, text), text);
			assert_null(names->command(names->ctx, k, "other"));
			check_user(names, k);
			text[0] = 's';
			assert_int_equal(names->stack(names->ctx, k, frame), 2);
			assert_string_equal(frame[0], text);
			assert_string_equal(frame[1], "outer");
			assert_memory_equal(names->stack_kept(names->ctx, k), frame,
					    2 * sizeof(frame[0]));
		}
	}
	assert_null(names->irq(names->ctx, 3000));
	assert_null(names->owner(names->ctx, 3000));
	assert_int_equal(names->stack(names->ctx, 3000, frame), 0);
	assert_null(names->stack_kept(names->ctx, 3000));
	/* Stacks that are alike are kept once. */
	take(named(EVENT_STACK, 3001), "s7", "outer");
	assert_ptr_equal(names->stack_kept(names->ctx, 3001), names->stack_kept(names->ctx, 7));
	/* None gives its number away: it may be an address. */
	assert_string_equal(names->symbol(names->ctx, 0xffffffff8fffffff), "[unknown]");
}

static void test_too_many(void **state)
{
	const struct names *names = naming_names(naming);

	(void)state;
	for (uint32_t i = 0; i < MOST + 100; i++)
		take(named(EVENT_IRQ, i), "eth0", "0");
	assert_string_equal(names->irq(names->ctx, 0), "eth0");
	assert_string_equal(names->irq(names->ctx, MOST - 1), "eth0");
	assert_null(names->irq(names->ctx, MOST));
	assert_true(naming_lacks(naming));
}

/* Too many control groups take no room of the kernel's functions. */
static void test_too_many_owners(void **state)
{
	const struct names *names = naming_names(naming);

	(void)state;
	for (uint32_t i = 0; i < MOST; i++)
		take(named(EVENT_OWNER, i), "/a.service", NULL);
	assert_false(naming_lacks(naming));
	take(named(EVENT_OWNER, 7), "/a.service", NULL); /* again */
	assert_false(naming_lacks(naming));
	take(named(EVENT_OWNER, MOST), "/b.service", NULL);
	assert_true(naming_lacks(naming));
	assert_string_equal(names->owner(names->ctx, MOST - 1), "/a.service");
	assert_null(names->owner(names->ctx, MOST));
	take(named(EVENT_SYMBOL, 0xffffffff81000000), "tick_handle", NULL);
	assert_string_equal(names->symbol(names->ctx, 0xffffffff81000000), "tick_handle");
}

/* Nor do texts without end. */
static void test_long_owners(void **state)
{
	const struct names *names;

	(void)state;
	naming_free(naming);
	texts_free(users);
	users = texts_new(100);
	naming = naming_new(texts, users, BY_THREAD);
	assert_non_null(naming);
	names = naming_names(naming);
	take(named(EVENT_OWNER, 1), "/a.service", NULL);
	assert_false(naming_lacks(naming));
	take(named(EVENT_OWNER, 2), "/a-name-of-more-than-forty-bytes-that-has-no-room.service",
	     NULL);
	assert_true(naming_lacks(naming));
	assert_null(names->owner(names->ctx, 2));
	take(named(EVENT_SYMBOL, 0xffffffff81000000), "tick_handle", NULL);
	assert_string_equal(names->symbol(names->ctx, 0xffffffff81000000), "tick_handle");
}

/* A text of so many bytes, and for a stack as many frames of it. */
static void take_long(enum event_type type, uint64_t number, size_t len, int nframes)
{
	struct event e = named(type, number);
	struct bytes bytes = {0};
	char text[65536];
	struct reading r;

	memset(text, 'x', len);
	text[len] = 0;
	for (int i = 0; i < nframes; i++)
		put_text(&bytes, text, sizeof(text));
	assert_false(bytes.failed);
	r = (struct reading){bytes.at, bytes.at + bytes.len, false};
	e.named.nframes = nframes;
	naming_take(naming, &r, &e);
	assert_false(r.bad);
	assert_ptr_equal(r.at, r.end);
	free(bytes.at);
}

static const char *name_of(const struct names *n, enum event_type type, uint64_t number)
{
	return type == EVENT_IRQ      ? n->irq(n->ctx, number)
	       : type == EVENT_DEVICE ? n->irq_device(n->ctx, number)
	       : type == EVENT_SYMBOL ? n->symbol(n->ctx, number)
	       : type == EVENT_OWNER  ? n->owner(n->ctx, number)
	       : type == EVENT_CALLS  ? n->calls(n->ctx, number)
				      : n->command(n->ctx, number >> 32, "");
}

/* A file says a text once, and means it a million times. */
static void test_long_texts(void **state)
{
	static const struct {
		enum event_type type;
		int texts;
		size_t most;
	} rows[] = {
		{EVENT_IRQ, 2, 256},     {EVENT_SYMBOL, 1, 640}, {EVENT_OWNER, 1, 4480},
		{EVENT_COMMAND, 1, 256}, {EVENT_DEVICE, 1, 600}, {EVENT_CALLS, 1, CALLS_TEXT},
	};
	const char *frame[STACK_FRAMES];
	const struct names *names;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t number = rows[i].type == EVENT_COMMAND ? names_command(7, "") : 7;

		end(state);
		assert_int_equal(begin(state), 0);
		names = naming_names(naming);
		take_long(rows[i].type, number - 1, rows[i].most, rows[i].texts);
		assert_false(naming_lacks(naming));
		take_long(rows[i].type, number, 65000, rows[i].texts);
		assert_true(naming_lacks(naming));
		assert_int_equal(strlen(name_of(names, rows[i].type, number)), rows[i].most);
	}
	end(state);
	assert_int_equal(begin(state), 0);
	names = naming_names(naming);
	take_long(EVENT_STACK, 1, 85, STACK_FRAMES);
	assert_false(naming_lacks(naming));
	assert_int_equal(names->stack(names->ctx, 1, frame), STACK_FRAMES);
	take_long(EVENT_STACK, 2, 100, STACK_FRAMES);
	assert_true(naming_lacks(naming));
	assert_int_equal(names->stack(names->ctx, 2, frame), 40);
	assert_int_equal(strlen(frame[39]), 100);
	take_long(EVENT_STACK, 3, 65000, 2);
	assert_int_equal(names->stack(names->ctx, 3, frame), 2);
	assert_int_equal(strlen(frame[1]), 640);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_many, begin, end),
		cmocka_unit_test_setup_teardown(test_too_many, begin, end),
		cmocka_unit_test_setup_teardown(test_too_many_owners, begin, end),
		cmocka_unit_test_setup_teardown(test_long_owners, begin, end),
		cmocka_unit_test_setup_teardown(test_long_texts, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
