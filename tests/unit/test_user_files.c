/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names are those of the file of functions as it is now, whichever its form, a map that opens late
 * is said once, and numbers come back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/user_files.h"
#include "collect/user_map.h"
#include "collect/user_open.h"
#include "collect/user_table.h"

static char path[64], said[256];
static const struct user_dump none;
static bool late, hangs;
static dev_t device; /* for maps; 0: not known */
static unsigned opened, told, closed;

int __real_user_open(const char *root, const char *name, struct user_devices *devices,
		     struct stat *st);
int __wrap_user_open(const char *root, const char *name, struct user_devices *devices,
		     struct stat *st);
bool __real_user_close(int fd);
bool __wrap_user_close(int fd);

int __wrap_user_open(const char *root, const char *name, struct user_devices *devices,
		     struct stat *st)
{
	opened++;
	return late ? -ETIME : __real_user_open(root, name, devices, st);
}

bool __wrap_user_close(int fd)
{
	closed++;
	return __real_user_close(fd) && !hangs;
}

/* In place of the one that looks for it where the process sees it. */
int user_map_open(const struct user_stack *u, const struct user_dump *dump,
		  struct user_devices *devices, char *name, size_t len, struct stat *st)
{
	(void)u;
	(void)dump;
	snprintf(name, len, "a.map");
	devices->at = device;
	if (devices->shun(devices->ctx, device))
		return -ENODEV;
	return user_open(NULL, path, NULL, st);
}

static void lost(void *ctx, const char *why)
{
	(void)ctx;
	told++;
	snprintf(said, sizeof(said), "%s", why);
}

/* Writes to the same file; second: of its time. */
static void put_bytes(const void *bytes, size_t len, int how, int second)
{
	const struct timespec times[2] = {{second, 0}, {second, 0}};
	int fd = open(path, O_WRONLY | O_CREAT | how, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), len);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static void put(const char *text, int how, int second)
{
	put_bytes(text, strlen(text), how, second);
}

static int begin(void **state)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	late = hangs = false;
	device = 0;
	opened = told = closed = 0;
	snprintf(path, sizeof(path), "%.40s/XXXXXX", dir ? dir : "/tmp");
	fd = mkstemp(path);
	*state = user_files_new(NULL, lost, NULL, -1);
	return fd < 0 || close(fd) || !*state;
}

static int end(void **state)
{
	user_files_free(*state);
	return unlink(path);
}

/* Name of the function there, of the program that began with this stack; until the next call. */
static const char *name_at(struct user_files *f, uint64_t start_stack, uint64_t address)
{
	struct user_stack u = {.tgid = getpid(), .start_stack = start_stack};
	struct parse_ask ask = {.what = PARSE_WALK, .n = 1};
	static struct parse_answer a;

	for (size_t i = 0; i < sizeof(ask.place) / sizeof(*ask.place); i++)
		ask.place[i].file = PARSE_FILES;
	ask.place[0] = (struct parse_place){user_files_map(f, &u, &none), address};
	assert_true(ask.place[0].file < PARSE_FILES);
	assert_true(user_files_walk(f, &ask, &a));
	return a.frame[0].name;
}

static void is_name(struct user_files *f, uint64_t address, const char *name)
{
	assert_string_equal(name_at(f, 1, address), name);
}

static void test_map_as_it_is_now(void **state)
{
	put("1000 10 one\n", O_TRUNC, 1);
	is_name(*state, 0x1000, "one");
	put("2000 10 two\n", O_APPEND, 2);
	is_name(*state, 0x2000, "two");
	is_name(*state, 0x1000, "one");
	put("1000 10 six\n2000 10 ten\n", O_TRUNC, 3); /* as long as before */
	is_name(*state, 0x1000, "six");
	put("1000 10 abc\n2000 10 def\n3000 10 ghi\n", O_TRUNC, 4); /* longer */
	is_name(*state, 0x1000, "abc");
	is_name(*state, 0x3000, "ghi");
	put("1000 10 x\n", O_TRUNC, 5); /* shorter */
	is_name(*state, 0x1000, "x");
	is_name(*state, 0x2000, "");
	assert_int_equal(told, 0);
}

/* A jitdump file: its head, and a function of 16 bytes at 0x1000 without its code. */
static const uint32_t dump_head[10] = {0x4a695444, 1, 40, 0, 0, 7};

static void put_load(uint32_t when, const char *name, int second)
{
	uint32_t load[15] = {0, 60, when, 0, 7, 7, 0, 0, 0x1000, 0, 16, 0, when};

	strncpy((char *)&load[14], name, sizeof(*load) - 1);
	put_bytes(load, sizeof(load), O_APPEND, second);
}

static void test_dump_as_it_is_now(void **state)
{
	put("1000 10 map\n", O_TRUNC, 1);
	is_name(*state, 0x1000, "map");
	put_bytes(dump_head, sizeof(dump_head), O_TRUNC, 2);
	is_name(*state, 0x1000, "");
	put_load(2, "two", 3);
	is_name(*state, 0x1000, "two");
	put_load(1, "one", 4);
	is_name(*state, 0x1000, "two");
	put_load(3, "new", 5);
	is_name(*state, 0x1000, "new");
	put_bytes(dump_head, sizeof(dump_head), O_TRUNC, 6); /* another one */
	put_load(1, "one", 6);
	is_name(*state, 0x1000, "one");
	put_bytes(dump_head, 3, O_TRUNC, 7); /* may become anything */
	is_name(*state, 0x1000, "");
	put_bytes((const char *)dump_head + 3, sizeof(dump_head) - 3, O_APPEND, 8);
	put_load(1, "now", 8);
	is_name(*state, 0x1000, "now");
	put("1000 10 map\n", O_TRUNC, 9);
	is_name(*state, 0x1000, "map");
	assert_int_equal(told, 0);
}

static void is_lost(struct user_files *f, unsigned times)
{
	struct user_stack u = {.tgid = getpid(), .start_stack = 1};
	char why[64];

	is_name(f, 0x1000, "");
	assert_int_equal(user_files_map(f, &u, &none), PARSE_FILES);
	snprintf(why, sizeof(why), "a.map of process %d: it is too large, or broken", getpid());
	assert_string_equal(said, why);
	assert_int_equal(told, times);
}

/* Behind the place may be another function, where an old one was. */
static void test_broken_dump(void **state)
{
	static const uint32_t bad[4] = {3, 15};

	put_bytes(dump_head, sizeof(dump_head), O_TRUNC, 1);
	put_load(1, "old", 1);
	is_name(*state, 0x1000, "old");
	put_bytes(bad, sizeof(bad), O_APPEND, 2);
	put_load(2, "new", 2);
	is_lost(*state, 1);
}

/* Lines of which 34 MiB are more than a map may have. */
static void put_lines(unsigned times)
{
	enum { LINES = 1024, LINE = 1001 };
	char *lines = malloc(LINES * LINE + 1);

	assert_non_null(lines);
	for (int i = 0; i < LINES; i++)
		sprintf(lines + i * LINE, "2000 10 %0*d\n", LINE - 9, i);
	while (times--)
		put(lines, O_APPEND, 2);
	free(lines);
}

static void test_large_map(void **state)
{
	put("1000 10 old\n", O_TRUNC, 1);
	is_name(*state, 0x1000, "old");
	put_lines(34);
	put("1000 10 new\n", O_APPEND, 3);
	is_lost(*state, 1);
}

/* Looks up a function of seven other processes. */
static void walk_others(struct user_files *f)
{
	for (uint64_t start_stack = 2; start_stack < 9; start_stack++)
		name_at(f, start_stack, 0x1000);
}

/* Maps of others leave a small one no room, which it has when these have become small. */
static void test_no_room(void **state)
{
	char why[96];

	put("1000 10 old\n", O_TRUNC, 1);
	put_lines(30);
	walk_others(*state);
	snprintf(why, sizeof(why),
		 "a.map of process %d at times: there is no room beside the others", getpid());
	put("1000 10 new\n", O_TRUNC, 3);
	told = 0;
	is_name(*state, 0x1000, "");
	is_name(*state, 0x1000, "");
	assert_string_equal(said, why);
	assert_int_equal(told, 1);
	walk_others(*state); /* these have the short one now */
	is_name(*state, 0x1000, "new");
}

/* Memory that the process has before does not count: with hundreds of CPUs it is more than that. */
static void test_large_process(void **state)
{
	const size_t much = 800 << 20;
	void *memory = mmap(NULL, much, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct user_files *f;

	(void)state;
	assert_true(memory != MAP_FAILED);
	f = user_files_new(NULL, lost, NULL, -1);
	munmap(memory, much);
	assert_non_null(f);
	put("1000 10 one\n", O_TRUNC, 1);
	put_lines(1);
	is_name(f, 0x1000, "one");
	assert_int_equal(told, 0);
	user_files_free(f);
}

static void *map_file(void)
{
	int fd = open(path, O_RDONLY);
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	assert_true(fd >= 0 && at != MAP_FAILED);
	close(fd);
	return at;
}

/* A program that cannot be read: it is told once. */
static void test_no_program(void **state)
{
	struct parse_ask ask = {.what = PARSE_WALK, .n = 1};
	static struct parse_answer a;
	struct user_stack u = {.tgid = getpid(), .start_stack = 1};
	unsigned long long begin, end;
	void *at;

	put("MZ, and no more of it than this line\n", O_TRUNC, 1);
	at = map_file();
	begin = (uintptr_t)at;
	end = begin + 4096;
	for (size_t i = 0; i < sizeof(ask.place) / sizeof(*ask.place); i++)
		ask.place[i].file = PARSE_FILES;
	for (int i = 0; i < 2; i++) {
		ask.place[0] = (struct parse_place){
			user_files_number(*state, &u, begin, end, "00:00 1", "a.exe"), 0};
		assert_true(ask.place[0].file < PARSE_FILES);
		assert_true(user_files_walk(*state, &ask, &a));
		assert_string_equal(a.frame[0].name, "");
	}
	munmap(at, 4096);
	assert_int_equal(told, 1);
	assert_string_equal(said, "a.exe: it is no 64-bit program, or too large");
}

static void test_late_map(void **state)
{
	struct user_stack u = {.tgid = 7, .start_stack = 1};

	late = true;
	for (int i = 0; i < 3; i++)
		assert_int_equal(user_files_map(*state, &u, &none), PARSE_FILES);
	assert_int_equal(opened, 1);
	assert_int_equal(told, 1);
	assert_string_equal(said, "a.map of process 7: it could not be opened in time");
}

/* All of these have ended: no process has its stack there. */
static void test_numbers(void **state)
{
	struct user_stack u = {.tgid = getpid(), .uid = 1000};

	put("1000 10 old\n", O_TRUNC, 1);
	for (u.start_stack = 2; u.start_stack < PARSE_FILES + 2; u.start_stack++) {
		if (u.start_stack == FILES_OF_USER + 2) {
			for (int i = 0; i < 2; i++)
				assert_int_equal(user_files_map(*state, &u, &none), PARSE_FILES);
			assert_int_equal(told, 1);
			assert_string_equal(said, "some files of user 1000: there are too many");
			u.uid = 33;
		}
		assert_int_equal(user_files_map(*state, &u, &none), u.start_stack - 2);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(user_files_map(*state, &u, &none), PARSE_FILES);
	assert_int_equal(told, 2);
	assert_string_equal(said, "some files: there are too many");
	user_files_rest(*state);
	is_name(*state, 0x1000, "old");
	assert_int_equal(user_files_map(*state, &u, &none), 1);
	assert_int_equal(told, 2);
}

/* The number of a file on such a device; less than PARSE_FILES: it is looked at. */
static uint32_t on_device(struct user_files *f, const void *at, uint32_t uid, int which)
{
	struct user_stack u = {.tgid = getpid(), .start_stack = 1, .uid = uid};
	unsigned long long begin = (uintptr_t)at;
	char inside[24];

	snprintf(inside, sizeof(inside), "00:%02x 1", which + 1);
	return user_files_number(f, &u, begin, begin + 4096, inside, "a");
}

/* Somebody has file systems that let nobody in. */
static void test_slow_devices(void **state)
{
	void *at;

	put("a program\n", O_TRUNC, 1);
	at = map_file();
	late = true;
	for (int i = 0; i < SLOW_OF_USER + 3; i++)
		assert_int_equal(on_device(*state, at, 1000, i), PARSE_FILES);
	assert_int_equal(opened, SLOW_OF_USER);
	assert_int_equal(told, SLOW_OF_USER);
	assert_int_equal(on_device(*state, at, 33, 0), PARSE_FILES);
	assert_int_equal(opened, SLOW_OF_USER);
	late = false;
	assert_int_equal(on_device(*state, at, 1000, 100), PARSE_FILES);
	assert_true(on_device(*state, at, 33, 101) < PARSE_FILES);
	late = true;
	for (int i = SLOW_OF_USER; i < SLOW_MOST - 1; i++)
		assert_int_equal(on_device(*state, at, 0, i), PARSE_FILES);
	late = false;
	assert_true(on_device(*state, at, 0, 102) < PARSE_FILES);
	munmap(at, 4096);
}

/* The map of another process at each call. */
static uint32_t map_on(struct user_files *f, uint32_t uid, dev_t which)
{
	static uint64_t start_stack = 1000;
	struct user_stack u = {.tgid = 7, .start_stack = start_stack++, .uid = uid};

	device = which;
	return user_files_map(f, &u, &none);
}

/* Processes come and go whose maps lie where nobody answers. */
static void test_slow_maps(void **state)
{
	void *at;

	put("1000 10 one\n", O_TRUNC, 1);
	at = map_file();
	late = true;
	for (int i = 0; i < 20; i++)
		assert_int_equal(map_on(*state, 0, 1), PARSE_FILES);
	assert_int_equal(opened, 1);
	assert_string_equal(said, "a.map of process 7, nor of further such files of user 0 there: "
				  "it could not be opened in time");
	for (dev_t i = 1; i < 20; i++)
		assert_int_equal(map_on(*state, 1000, i), PARSE_FILES);
	assert_int_equal(opened, 1 + SLOW_OF_USER);
	late = false;
	assert_true(map_on(*state, 33, 1) < PARSE_FILES);
	assert_true(on_device(*state, at, 33, 0) < PARSE_FILES);
	late = true;
	for (dev_t i = 1; i < 20; i++)
		assert_int_equal(map_on(*state, 34, i), PARSE_FILES);
	late = false;
	assert_int_equal(told, SLOW_MAPS);
	assert_int_equal(map_on(*state, 33, 100), PARSE_FILES);
	assert_true(on_device(*state, at, 33, 101) < PARSE_FILES);
	munmap(at, 4096);
}

/* A file that the programs of many users have is the last one's who may ask: the first one may have
 * had its share of slow places meanwhile. */
static void test_shared_file(void **state)
{
	struct user_files *f = *state;
	uint32_t number;
	void *at;

	put("a program\n", O_TRUNC, 1);
	at = map_file();
	number = on_device(f, at, 1000, 50);
	assert_true(number < PARSE_FILES);
	assert_int_equal(f->file[number].place.uid, 1000);
	late = true;
	for (dev_t i = 1; i < 20; i++)
		assert_int_equal(map_on(f, 1000, i), PARSE_FILES);
	late = false;
	assert_false(user_may_ask(f, &f->file[number].place));
	assert_int_equal(on_device(f, at, 33, 50), number);
	assert_true(user_may_ask(f, &f->file[number].place));
	assert_int_equal(on_device(f, at, 1000, 50), number);
	assert_int_equal(f->file[number].place.uid, 33);
	munmap(at, 4096);
}

/* A device that is not known may be another one each time. */
static void test_unknown_places(void **state)
{
	late = true;
	for (int i = 0; i < 20; i++)
		assert_int_equal(map_on(*state, 0, 0), PARSE_FILES);
	assert_int_equal(opened, SLOW_OF_USER);
	assert_int_equal(told, SLOW_OF_USER);
}

/* Files of a place that does not let one be closed stay open. */
static void test_slow_closing(void **state)
{
	put("1000 10 one\n", O_TRUNC, 1);
	for (uint32_t i = 0; i < PARSE_FILES; i++)
		assert_int_equal(map_on(*state, i / FILES_OF_USER, 1), i);
	assert_int_equal(map_on(*state, 2, 1), PARSE_FILES);
	hangs = true;
	told = closed = 0;
	user_files_rest(*state);
	assert_int_equal(closed, 2); /* each user's first */
	assert_int_equal(told, 2);
	assert_string_equal(said, "a.map, nor of further such files of user 1 there: it could not "
				  "be closed in time");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_map_as_it_is_now, begin, end),
		cmocka_unit_test_setup_teardown(test_dump_as_it_is_now, begin, end),
		cmocka_unit_test_setup_teardown(test_broken_dump, begin, end),
		cmocka_unit_test_setup_teardown(test_large_map, begin, end),
		cmocka_unit_test_setup_teardown(test_no_room, begin, end),
		cmocka_unit_test_setup_teardown(test_large_process, begin, end),
		cmocka_unit_test_setup_teardown(test_no_program, begin, end),
		cmocka_unit_test_setup_teardown(test_late_map, begin, end),
		cmocka_unit_test_setup_teardown(test_numbers, begin, end),
		cmocka_unit_test_setup_teardown(test_slow_devices, begin, end),
		cmocka_unit_test_setup_teardown(test_slow_maps, begin, end),
		cmocka_unit_test_setup_teardown(test_shared_file, begin, end),
		cmocka_unit_test_setup_teardown(test_unknown_places, begin, end),
		cmocka_unit_test_setup_teardown(test_slow_closing, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
