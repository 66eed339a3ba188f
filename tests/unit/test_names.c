/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of a long run: what users call their own leaves the kernel's names their room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "model/session_names.h"

#define LONG  2000 /* bytes of a path */
#define SHORT 10

static struct view view;
static struct session_names session;
static int len;

static const char *name_irq(void *ctx, uint32_t irq)
{
	(void)ctx;
	(void)irq;
	return "virtio1-req.0";
}

static const char *name_symbol(void *ctx, uint64_t address)
{
	(void)ctx;
	(void)address;
	return "vmstat_update";
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	(void)ctx;
	(void)id;
	frame[0] = "queue_work_on";
	return 1;
}

/* Another one for each group, as long as its user likes. */
static const char *name_owner(void *ctx, uint32_t group)
{
	static char path[LONG + 1];

	(void)ctx;
	snprintf(path, sizeof(path), "/%0*u", len - 1, group);
	return path;
}

static const char *name_command(void *ctx, uint32_t process, const char *comm)
{
	(void)comm;
	return name_owner(ctx, process);
}

static const struct names asked = {.irq = name_irq,
				   .symbol = name_symbol,
				   .stack = name_stack,
				   .owner = name_owner,
				   .command = name_command};

static int begin(void **state)
{
	(void)state;
	len = LONG;
	memset(&view, 0, sizeof(view));
	session_names_init(&session, &(struct session_options){.view = &view, .names = &asked});
	return 0;
}

static int end(void **state)
{
	(void)state;
	view_free(&view);
	return 0;
}

static void check_kernels_names(void)
{
	const struct names *n = &session.names;
	const char *frame[STACK_FRAMES];

	assert_string_equal(n->symbol(n->ctx, 0xffffffff81000000), "vmstat_update");
	assert_string_equal(n->irq(n->ctx, 24), "virtio1-req.0");
	assert_int_equal(n->stack(n->ctx, 5, frame), 1);
	assert_string_equal(frame[0], "queue_work_on");
}

static void test_owners_without_end(void **state)
{
	const struct names *n = &session.names;
	const char *first = n->owner(n->ctx, 1);
	uint32_t i = 2;

	(void)state;
	while (n->owner(n->ctx, i)) {
		assert_false(view.run.names_lack);
		assert_true(i < TEXTS_BYTES / LONG); /* no loop without end */
		i++;
	}
	assert_true(view.run.names_lack);
	/* as much as earlier versions had for all names: recordings of theirs are read whole */
	assert_true(i > TEXTS_BYTES / (LONG + 64));
	assert_ptr_equal(n->owner(n->ctx, 1), first);
	for (len = LONG; len > SHORT; len -= 10) /* to the last byte */
		while (n->owner(n->ctx, i))
			i++;
	check_kernels_names();
}

static void test_commands_without_end(void **state)
{
	const struct names *n = &session.names;

	(void)state;
	for (uint32_t i = 1; len > SHORT; len -= 10)
		while (n->command(n->ctx, i, "poke"))
			i++;
	assert_true(view.run.names_lack);
	check_kernels_names();
}

static const char *name_none(void *ctx, uint32_t group)
{
	(void)ctx;
	(void)group;
	return NULL;
}

static bool lack(void *ctx)
{
	(void)ctx;
	return true;
}

/* Says it, too, where the machine's names had no room; a group that has no name is no such case. */
static void test_asked_without_room(void **state)
{
	struct names without = asked;
	const struct names *n = &session.names;

	(void)state;
	without.owner = name_none;
	session_names_init(&session, &(struct session_options){.view = &view, .names = &without});
	assert_null(n->owner(n->ctx, 1));
	assert_false(view.run.names_lack);
	without.lack = lack;
	assert_string_equal(n->symbol(n->ctx, 1), "vmstat_update");
	assert_false(view.run.names_lack);
	assert_null(n->owner(n->ctx, 1));
	assert_true(view.run.names_lack);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_owners_without_end, begin, end),
		cmocka_unit_test_setup_teardown(test_commands_without_end, begin, end),
		cmocka_unit_test_setup_teardown(test_asked_without_room, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
