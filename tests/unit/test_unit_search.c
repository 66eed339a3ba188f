/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units by name and by glob, in trees of control groups made by hand: the least deep one of a name,
 * all that fit, those that come later, and no more than there are places for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/units.h"

static char root[PATH_MAX / 2];

static int begin(void **state)
{
	const char *place = getenv("TMPDIR");

	(void)state;
	snprintf(root, sizeof(root), "%s/culprit-units-XXXXXX", place ? place : "/tmp");
	return !mkdtemp(root);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int end(void **state)
{
	(void)state;
	return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static char *below(const char *path, char buf[PATH_MAX])
{
	snprintf(buf, PATH_MAX, "%s/%s", root, path);
	return buf;
}

/* Makes a group with those above it. */
static void make(const char *path)
{
	char buf[PATH_MAX];
	size_t len = strlen(below(path, buf));

	for (size_t i = strlen(root) + 1; i <= len; i++)
		if (buf[i] == '/' || !buf[i]) {
			char end = buf[i];

			buf[i] = '\0';
			mkdir(buf, 0700);
			buf[i] = end;
		}
}

static void leave(const char *path)
{
	char buf[PATH_MAX];

	assert_int_equal(rmdir(below(path, buf)), 0);
}

static void check_find(const char *unit, const char *path)
{
	struct unit u = {0};
	char want[PATH_MAX];

	unit_look(&u, root, unit);
	assert_string_equal(u.path, path ? below(path, want) : "");
}

static void test_by_name(void **state)
{
	(void)state;
	make("user.slice/user@1000.service/app.slice/feed.service");
	make("system.slice/ssh.service/inner");
	check_find("feed", "user.slice/user@1000.service/app.slice/feed.service");
	make("system.slice/feed.service");
	check_find("feed", "system.slice/feed.service");
	check_find("feed.service", "system.slice/feed.service");
	check_find("system.slice", "system.slice");
	check_find("fee", NULL);
	check_find("feed.slice", NULL);
	check_find("user@1000", "user.slice/user@1000.service");
	/* whoever has a group makes others in it, as near to the root as that is */
	make("lxc.payload.c1/web.service");
	check_find("web", "lxc.payload.c1/web.service");
	make("system.slice/system-web.slice/web.service");
	check_find("web", "system.slice/system-web.slice/web.service");
	make("system.slice/web.service");
	check_find("web", "system.slice/web.service");
	make("a.slice/b.slice/init.scope");
	make("init.scope");
	check_find("init.scope", "init.scope");
}

/* Looks again, as a run does that goes on. */
static void check_look(struct unit *u, const char *path, bool of_system)
{
	char want[PATH_MAX];

	unit_look(u, root, "web");
	assert_string_equal(u->path, below(path, want));
	assert_int_equal(u->of_system, of_system);
}

static void test_again(void **state)
{
	static const char ours[] = "system.slice/web.service",
			  deep[] = "user.slice/user@1.service/app.slice/web.service",
			  flat[] = "user.slice/user@2.service/web.service";
	struct unit u = {0};

	(void)state;
	make(deep);
	check_look(&u, deep, false);
	make(flat);
	check_look(&u, deep, false); /* is kept while it is there */
	leave(deep);
	check_look(&u, flat, false);
	make(ours);
	check_look(&u, ours, true);
	make(deep);
	check_look(&u, ours, true);
	/* the name is nobody else's while it is away, and it may come in another slice */
	leave(ours);
	check_look(&u, ours, true);
	make("high.slice/web.service");
	check_look(&u, "high.slice/web.service", true);
}

static struct units *look(struct units *u, const char *glob, const char *other)
{
	const char *globs[] = {glob, other};

	units_look(u, root, globs, other ? 2 : 1);
	return u;
}

static bool has(const struct units *u, const char *path)
{
	char want[PATH_MAX];

	below(path, want);
	for (uint32_t i = 0; i < u->max; i++)
		if (!strcmp(u->path[i], want))
			return true;
	return false;
}

static uint32_t count(const struct units *u)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < CHOICE_GROUPS; i++)
		n += u->path[i][0] != '\0';
	return n;
}

static void test_by_glob(void **state)
{
	static struct units u, all, two;

	(void)state;
	u.max = all.max = two.max = CHOICE_GROUPS;
	assert_int_equal(count(look(&u, "feed-*", NULL)), 0);
	make("system.slice/feed-a.service/feed-inner.service");
	make("system.slice/feed-b.service");
	make("system.slice/feed-dir"); /* no unit's name */
	make("system.slice/my-feed-c.service");
	make("user.slice/user@1.service/feed-d.scope");
	assert_int_equal(count(look(&u, "feed-*", NULL)), 3);
	assert_true(has(&u, "system.slice/feed-a.service"));
	assert_true(has(&u, "system.slice/feed-b.service"));
	assert_true(has(&u, "user.slice/user@1.service/feed-d.scope"));
	/* the same again; one goes, another comes */
	assert_int_equal(count(look(&u, "feed-*", NULL)), 3);
	leave("system.slice/feed-b.service");
	make("system.slice/feed-e.service");
	assert_int_equal(count(look(&u, "feed-*", NULL)), 3);
	assert_false(has(&u, "system.slice/feed-b.service"));
	assert_true(has(&u, "system.slice/feed-e.service"));
	/* the whole name, or without .service; and what is inside of one is that one's */
	assert_int_equal(count(look(&all, "*d-a", "*.service")), 4);
	assert_true(has(&all, "system.slice/feed-a.service"));
	assert_true(has(&all, "user.slice/user@1.service"));
	assert_int_equal(count(look(&two, "*.slice", "feed-*")), 2);
	assert_true(has(&two, "system.slice") && has(&two, "user.slice"));
}

static void test_places(void **state)
{
	static struct units u;
	char name[64];

	(void)state;
	u.max = 3;
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "job-%d.service", i);
		make(name);
	}
	assert_int_equal(count(look(&u, "job-*", NULL)), 3);
	assert_int_equal(u.left_out, 2);
	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "job-%d.service", i);
		if (has(&u, name)) {
			leave(name);
			break;
		}
	}
	assert_int_equal(count(look(&u, "job-*", NULL)), 3);
	assert_int_equal(u.left_out, 1);
	u = (struct units){0};
	assert_int_equal(count(look(&u, "job-*", NULL)), 0);
	assert_int_equal(u.left_out, 4);
}

static void test_globs(void **state)
{
	(void)state;
	assert_true(unit_is_glob("feed-*"));
	assert_false(unit_is_glob("feed-[a]?.service"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_by_name, begin, end),
		cmocka_unit_test_setup_teardown(test_again, begin, end),
		cmocka_unit_test_setup_teardown(test_by_glob, begin, end),
		cmocka_unit_test_setup_teardown(test_places, begin, end),
		cmocka_unit_test(test_globs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
