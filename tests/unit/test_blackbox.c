/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last part of a run, kept in memory and written while the run goes on: wherever it begins,
 * also within a hiccup, each hiccup in it has the account that the whole recording gives it, and
 * nothing counts as lost; what does not fit is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../world/chance.h"
#include "../world/scene.h"
#include "recording/blackbox.h"
#include "recording/format.h"
#include "recording/read.h"

#define MS   1000000ULL
#define GAPS 3000

static char whole_path[] = "/tmp/culprit-test-XXXXXX", part_path[] = "/tmp/culprit-test-XXXXXX";
static struct scene scene;
static const char *worker = "vmstat_update"; /* the function that runs in gaps */

/* ---- a run ---- */

static void count_until(struct scene *s, uint64_t now)
{
	for (uint32_t i = 0; i < 2; i++)
		s->view.cpu[i].observed_ns = now - WORLD_STARTED;
}

static void slice(struct scene *s, struct blackbox *box, uint64_t at)
{
	count_until(s, WORLD_STARTED + at);
	blackbox_slice(box, &s->view, WORLD_STARTED + at);
}

/* A gap on CPU `index`, whose records come before its end: a slice may begin between any two. */
static void gap(struct scene *s, struct blackbox *box, uint32_t index, uint64_t at_ns, bool cut)
{
	uint64_t work = scene_function(s, worker), at = 300;
	unsigned n = 1 + below(4), where = cut ? below(n + 1) : n + 1;

	scene_gap(s, index, at_ns);
	for (unsigned i = 0; i < n; i++, at += 900) {
		if (i == where)
			slice(s, box, at_ns + at);
		if (below(2)) {
			scene_put(s, vector(VECTOR_LOCAL_TIMER, at, at + 500 + below(300)));
			continue;
		}
		scene_put(s, asked(mark(LEVEL_THREAD, MARK_WORK, work, at + 100), 77, "asker", 1,
				   (int32_t)below(2)));
		scene_put(s, kthread(10 + below(3), "kworker/3:1", at, at + 800));
	}
	if (where == n)
		slice(s, box, at_ns + at);
	scene_end(s, at + 200);
}

/* Records of short gaps, which no hiccup follows. */
static void short_gap(struct scene *s, uint32_t index, uint64_t at_ns)
{
	scene_gap(s, index, at_ns);
	scene_put(s, vector(VECTOR_LOCAL_TIMER, 10, 60));
}

static enum blackbox_state poll_box(struct blackbox *box, bool to_its_end)
{
	enum blackbox_state state;
	struct timespec nap = {0, MS};

	while ((state = blackbox_poll(box)) == BLACKBOX_WRITES && to_its_end)
		nanosleep(&nap, NULL);
	return state;
}

/* ---- comparing ---- */

struct told {
	uint32_t index;
	struct account a;
	char text[400]; /* pieces of the account */
};

static struct told whole[GAPS], part[GAPS];

/* Reads all hiccups of a file, and closes it. */
static uint32_t read_all(const char *path, struct told *told, struct view *v)
{
	struct recording *r = recording_open(path, NULL, v);
	const struct account *a;
	uint32_t n = 0, index;

	assert_non_null(r);
	while ((a = recording_next(r, &index))) {
		struct told *t = &told[n++];
		size_t at = 0;

		assert_true(n < GAPS);
		t->index = index;
		t->a = *a;
		for (uint32_t i = 0; i < a->npieces && at < sizeof(t->text); i++) {
			const struct source *s = v->cpu[index].sources.row[a->pieces[i].source];

			at += snprintf(t->text + at, sizeof(t->text) - at, "%s>%s=%lu*%u by %s ",
				       s->name, s->function ? s->function : "",
				       (unsigned long)a->pieces[i].net_ns, a->pieces[i].count,
				       a->pieces[i].asker.function ? a->pieces[i].asker.function
								   : "-");
		}
	}
	recording_finish(r);
	recording_close(r);
	return n;
}

static void same(const struct told *x, const struct told *y)
{
	assert_int_equal(x->index, y->index);
	assert_int_equal(x->a.start_ns, y->a.start_ns);
	assert_int_equal(x->a.duration_ns, y->a.duration_ns);
	assert_int_equal(x->a.attributed_ns, y->a.attributed_ns);
	assert_int_equal(x->a.edge_ns, y->a.edge_ns);
	assert_int_equal(x->a.outside_ns, y->a.outside_ns);
	assert_int_equal(x->a.lost_ns, y->a.lost_ns);
	assert_string_equal(x->text, y->text);
}

/* The part is the end of the whole, from a hiccup on that ends behind `from`. */
static void is_the_end(uint32_t nwhole, uint64_t from, uint64_t to)
{
	struct view v = {0};
	uint32_t n = read_all(part_path, part, &v), skipped = nwhole - n;

	assert_true(n > 0 && n <= nwhole);
	for (uint32_t i = 0; i < n; i++)
		same(&whole[skipped + i], &part[i]);
	if (skipped) /* nothing that ended later is missing */
		assert_true(whole[skipped - 1].a.start_ns < WORLD_STARTED + from);
	assert_string_equal(v.run.incomplete, "");
	assert_string_equal(v.run.label, "why");
	assert_true(v.run.part && v.run.started_ns <= WORLD_STARTED + from &&
		    v.run.started_ns <= part[0].a.start_ns);
	assert_int_equal(v.run.started_ns + v.run.duration_ns, WORLD_STARTED + to);
	for (uint32_t i = 0; i < v.ncpus; i++) {
		assert_int_equal(v.cpu[i].observed_ns, v.run.duration_ns);
		assert_int_equal(v.cpu[i].counts.lost, 0);
		assert_int_equal(v.cpu[i].counts.mismatches, 0);
	}
	view_free(&v);
}

/* ---- the tests ---- */

static const unsigned cpus[] = {1, 3};
static const char *const stack[] = {"smp_call_function_many_cond", "sched_setaffinity"};
static const struct cpus anywhere;

static struct blackbox *begin(uint64_t keep_ns, uint64_t bytes, const char *file)
{
	struct blackbox *box = blackbox_new(keep_ns, bytes, NULL);

	assert_non_null(box);
	memset(&scene, 0, sizeof(scene));
	scene_init(&scene, "web-07", cpus, 2);
	scene_stack(&scene, stack, 2);
	scene.also = blackbox_tap(box);
	assert_int_equal(blackbox_prepare(box, &scene.view), 0);
	scene_begin(&scene, file);
	blackbox_begin(box, &scene.view);
	return box;
}

static uint64_t play(struct blackbox *box, uint64_t at, unsigned gaps)
{
	for (unsigned i = 0; i < gaps; i++) {
		at += 200000 + below(3 * MS);
		if (!below(4))
			short_gap(&scene, below(2), at - 150000);
		gap(&scene, box, below(2), at, !below(9));
		at += 10000;
		if (!below(30))
			slice(&scene, box, at);
	}
	return at;
}

static void test_parts(void **state)
{
	struct blackbox *box;
	uint64_t at, from;
	uint32_t n;

	(void)state;
	for (int round = 0; round < 40; round++) {
		struct blackbox_file f = {.path = part_path,
					  .force = true,
					  .housekeeping = &anywhere,
					  .label = "why"};
		struct view v = {0};

		box = begin(10000 * MS, 64 << 20, whole_path);
		at = play(box, MS, 100 + below(300));
		from = at / 64 * below(64);
		count_until(&scene, WORLD_STARTED + at);
		scene.view.run.duration_ns = at;
		f.from_ns = WORLD_STARTED + from;
		assert_int_equal(blackbox_write(box, &f, &scene.view, WORLD_STARTED + at), 0);
		assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
		assert_int_equal(poll_box(box, true), BLACKBOX_IDLE);
		assert_int_equal(scene_finish(&scene), 0);
		n = read_all(whole_path, whole, &v);
		is_the_end(n, from, at);
		view_free(&v);
		blackbox_free(box);
		view_free(&scene.view);
	}
}

/* The run goes on while it is written, and a second file follows; and the memory is bounded. */
static void test_goes_on(void **state)
{
	enum { BYTES = 200000, KEEP = 500 };
	struct blackbox *box = begin(KEEP * MS, BYTES, NULL);
	struct blackbox_file f = {
		.path = part_path, .force = true, .housekeeping = &anywhere, .label = "why"};
	uint64_t at = play(box, MS, 600), to = at, last_ns = 0;
	size_t least = 0, most = 0;
	struct view v = {0};
	uint32_t n;

	(void)state;
	for (int file = 0; file < 2; file++) {
		f.from_ns = WORLD_STARTED + at - KEEP * MS;
		scene.view.run.duration_ns = to = at;
		count_until(&scene, WORLD_STARTED + at);
		scene.view.run.reports_lost += 5;
		assert_int_equal(blackbox_write(box, &f, &scene.view, WORLD_STARTED + at), 0);
		while (poll_box(box, false) == BLACKBOX_WRITES)
			at = play(box, at, 3);
		memset(&v, 0, sizeof(v));
		n = read_all(part_path, part, &v);
		assert_int_equal(v.run.started_ns + v.run.duration_ns, WORLD_STARTED + to);
		assert_true(n > 0 && v.run.duration_ns >= KEEP * MS &&
			    v.run.duration_ns < 2 * KEEP * MS);
		assert_int_equal(v.cpu[0].counts.lost + v.cpu[1].counts.lost, 0);
		assert_int_equal(v.run.reports_lost, 5);
		assert_true(part[0].a.start_ns > last_ns);
		last_ns = part[n - 1].a.start_ns;
		view_free(&v);
		for (int i = 0; i < 40; i++) {
			at = play(box, at, 50);
			assert_true(blackbox_bytes(box) < BYTES + (192 << 10) + 4096);
			assert_true(WORLD_STARTED + at - blackbox_from_ns(box) < 2 * KEEP * MS);
		}
	}
	/* However long it goes on, it takes no more: what is in use lies between two slices' bytes.
	 */
	for (int i = 0; i < 8; i++) {
		size_t used;

		at = play(box, at, 2000);
		if (mallinfo2().uordblks < blackbox_bytes(box))
			break; /* a sanitizer's allocator, which does not count */
		used = mallinfo2().uordblks - blackbox_bytes(box);
		least = i == 1 || used < least ? used : least;
		most = i == 1 || used > most ? used : most;
	}
	assert_true(most - least < 65536);
	session_free(scene.session);
	blackbox_free(box);
	view_free(&scene.view);
}

/* Writes all from `from` on, while nobody looks after it meanwhile or later. */
static void begin_file(struct blackbox *box, uint64_t at, uint64_t from)
{
	struct blackbox_file f = {.path = part_path,
				  .force = true,
				  .housekeeping = &anywhere,
				  .label = "why",
				  .from_ns = WORLD_STARTED + from};

	count_until(&scene, WORLD_STARTED + at);
	scene.view.run.duration_ns = at;
	assert_int_equal(blackbox_write(box, &f, &scene.view, WORLD_STARTED + at), 0);
}

static void end_box(struct blackbox *box)
{
	session_free(scene.session);
	blackbox_free(box);
	view_free(&scene.view);
}

/* A MiB of names that nothing needs, and a bit. */
static void flood(struct blackbox *box)
{
	static uint64_t number = 1 << 20;
	char name[1000];

	for (unsigned i = 0; i < 1300; i++) {
		struct event e = {.type = EVENT_SYMBOL,
				  .named = {.number = ++number, .name = name}};

		snprintf(name, sizeof(name), "%0999llu", (unsigned long long)number);
		blackbox_tap(box)->event(blackbox_tap(box)->ctx, &e);
	}
}

static bool names(uint32_t n, const char *function)
{
	for (uint32_t i = 0; i < n; i++)
		if (strstr(part[i].text, function))
			return true;
	return false;
}

/* Names are kept for as long as there is room, and a recording that may lack some is known. */
static void test_names(void **state)
{
	struct blackbox *box = begin(10000 * MS, 64 << 20, NULL);
	struct view v = {0};
	uint64_t at, later;
	uint32_t n;

	(void)state;
	worker = "early_work";
	at = play(box, MS, 60);
	worker = "vmstat_update";
	for (int floods = 1; floods <= 3; floods++) {
		flood(box);
		later = at = play(box, at, 100);
		begin_file(box, at, 0);
		assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
		assert_int_equal(blackbox_names_lack(box), floods > 1);
		/* bytes that could be packed far closer than a reader believes */
		assert_true(blackbox_stats(box).raw_bytes / UNPACKED_TIMES <
			    blackbox_stats(box).stored_bytes);
		n = read_all(part_path, part, &v);
		assert_true(names(n, "vmstat_update"));
		assert_int_equal(names(n, "early_work"), floods == 1);
		view_free(&v);
		memset(&v, 0, sizeof(v));
	}
	at = play(box, later, 100);
	begin_file(box, at, later + (at - later) / 2);
	assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
	assert_false(blackbox_names_lack(box));
	end_box(box);
}

/* A disk that waits: the run goes on, what was to be written goes, and the file counts it; what
 * came later is not the file's. */
static void test_slow(void **state)
{
	enum { BYTES = 100000, HICCUPS = 300 };
	struct blackbox *box = begin(100000 * MS, BYTES, NULL);
	uint64_t at = play(box, MS, HICCUPS);
	struct view v = {0};
	uint32_t n;

	(void)state;
	assert_true(blackbox_from_ns(box) == WORLD_STARTED); /* all of it is there */
	begin_file(box, at, 0);
	for (int i = 0; i < 150; i++) {
		at = play(box, at, 100);
		assert_true(blackbox_bytes(box) < 2 * BYTES + (192 << 10) + 4096);
	}
	assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
	n = read_all(part_path, part, &v);
	assert_true(blackbox_stats(box).hiccups_lost > 0 && blackbox_stats(box).records_lost > 0);
	assert_int_equal(n + blackbox_stats(box).hiccups_lost, HICCUPS);
	view_free(&v);
	end_box(box);
}

/* Stands for the C library's. */
static bool no_memory;
void *reallocarray(void *at, size_t n, size_t size)
{
	return no_memory ? NULL : realloc(at, n * size);
}

/* Gaps of which none is cut, and no slices between them. */
static uint64_t play_uncut(struct blackbox *box, uint64_t at, unsigned gaps)
{
	for (unsigned i = 0; i < gaps; i++)
		gap(&scene, box, below(2), at += 2 * MS, false);
	return at + MS;
}

/* Events for which there was no memory count as lost in a file that has the others. */
static void test_no_memory(void **state)
{
	struct blackbox *box = begin(100000 * MS, 64 << 20, NULL);
	uint64_t at = play_uncut(box, MS, 200);
	struct view v = {0};
	uint32_t n;

	(void)state;
	slice(&scene, box, at);
	at = play_uncut(box, at, 100);
	no_memory = true;
	slice(&scene, box, at);
	no_memory = false;
	at = play_uncut(box, at, 200);
	assert_true(blackbox_from_ns(box) == WORLD_STARTED); /* all of it is there */
	begin_file(box, at, 0);
	assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
	n = read_all(part_path, part, &v);
	assert_int_equal(n, 400);
	assert_int_equal(blackbox_stats(box).hiccups_lost, 100);
	view_free(&v);
	end_box(box);
}

/* Names for which there was no memory are missing, and told; later files have theirs. */
static void test_no_names(void **state)
{
	struct blackbox *box = begin(100000 * MS, 64 << 20, NULL);
	uint64_t at = play_uncut(box, MS, 50), later;
	struct view v = {0};

	(void)state;
	no_memory = true;
	flood(box);
	no_memory = false;
	for (int file = 0; file < 2; file++) {
		later = at;
		slice(&scene, box, at);
		at = play_uncut(box, at, 50);
		slice(&scene, box, at);
		at = play_uncut(box, at, 50);
		begin_file(box, at, file ? later + 110 * MS : 0);
		assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
		assert_int_equal(blackbox_names_lack(box), !file);
		assert_true(read_all(part_path, part, &v) >= 50);
		assert_string_equal(v.run.incomplete, "");
		view_free(&v);
		memset(&v, 0, sizeof(v));
	}
	end_box(box);
}

/* Events that wait for a hiccup on many CPUs must not be more than a chunk takes. */
static void test_many_lanes(void **state)
{
	enum { LANES = 128, WAITING = 1024, POLLS = 30000 };
	struct blackbox_file f = {
		.path = part_path, .force = true, .housekeeping = &anywhere, .from_ns = 2};
	struct blackbox *box = blackbox_new(10000 * MS, 64 << 20, NULL);
	enum blackbox_state now = BLACKBOX_WRITES;
	struct timespec nap = {0, MS};
	struct view v = {.run.started_ns = 1};
	struct record r = {.level = LEVEL_IRQ};
	unsigned number[LANES];

	(void)state;
	for (unsigned i = 0; i < LANES; i++)
		number[i] = i;
	assert_int_equal(view_cpus(&v, number, LANES), 0);
	assert_int_equal(blackbox_prepare(box, &v), 0);
	for (r.arg = 0; r.arg < LANES * WAITING; r.arg++, r.seq = r.arg / LANES) {
		struct event e = {.type = EVENT_RECORD, .index = r.arg % LANES, .record = &r};

		blackbox_tap(box)->event(blackbox_tap(box)->ctx, &e);
	}
	blackbox_slice(box, &v, 2);
	assert_int_equal(blackbox_write(box, &f, &v, 3), 0);
	for (int i = 0; i < POLLS && now == BLACKBOX_WRITES; i++) {
		nanosleep(&nap, NULL);
		now = poll_box(box, false);
	}
	assert_int_equal(now, BLACKBOX_WRITTEN);
	blackbox_free(box);
	view_free(&v);
}

static int setup(void **state)
{
	int a = mkstemp(whole_path), b = mkstemp(part_path);

	(void)state;
	if (a < 0 || b < 0)
		return -1;
	close(a);
	close(b);
	return 0;
}

/* Puts the generator back: the number of random values depends on how long a file takes, and no
 * other test may see that. */
static int reseed(void **state)
{
	static uint64_t first;

	(void)state;
	if (!first)
		first = seed;
	seed = first;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	unlink(whole_path);
	unlink(part_path);
	return 0;
}

/* ---- the process that writes ---- */

static pid_t newest_child(void)
{
	char name[64];
	int pid, newest = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/self/task/%d/children", (int)getpid());
	f = fopen(name, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		newest = pid;
	if (f)
		fclose(f);
	return newest;
}

/* Begins a file of a short run. Returns the process that writes it, or 0 where /proc does not tell
 * it. */
static pid_t write_short(struct blackbox **box, const char *file)
{
	struct blackbox_file f = {
		.path = file, .force = true, .housekeeping = &anywhere, .label = "why"};
	uint64_t at;

	*box = begin(10000 * MS, 64 << 20, NULL);
	at = play(*box, MS, 100);
	count_until(&scene, WORLD_STARTED + at);
	scene.view.run.duration_ns = at;
	f.from_ns = WORLD_STARTED;
	assert_int_equal(blackbox_write(*box, &f, &scene.view, WORLD_STARTED + at), 0);
	return newest_child();
}

static void skip_writer(void)
{
	print_message("/proc does not tell who writes\n");
	skip();
}

static void end_short(struct blackbox *box)
{
	assert_int_equal(scene_finish(&scene), 0);
	blackbox_free(box);
	view_free(&scene.view);
}

static void await_bytes(const char *file)
{
	struct timespec nap = {0, MS};
	struct stat st;

	while (!stat(file, &st) && !st.st_size)
		nanosleep(&nap, NULL);
}

static void on_usr1(int sig)
{
	(void)sig;
}

/* Whoever sends the signal to all that are named culprit reaches it, too. */
static void test_signal(void **state)
{
	struct sigaction act = {.sa_handler = on_usr1}, was;
	struct blackbox *box;
	pid_t writer;

	(void)state;
	assert_int_equal(sigaction(SIGUSR1, &act, &was), 0);
	writer = write_short(&box, part_path);
	await_bytes(part_path); /* the process is confined by then */
	assert_true(!writer || !kill(writer, SIGUSR1));
	assert_int_equal(poll_box(box, true), BLACKBOX_WRITTEN);
	end_short(box);
	sigaction(SIGUSR1, &was, NULL);
	if (!writer)
		skip_writer();
}

/* Killed with all of the file before it: what is not whole does not count as written. */
static void test_killed(void **state)
{
	struct blackbox *box;
	pid_t writer = write_short(&box, part_path);

	(void)state;
	assert_true(!writer || !kill(writer, SIGSTOP));
	if (writer) {
		assert_int_equal(waitpid(writer, NULL, WUNTRACED), writer);
		assert_int_equal(poll_box(box, false), BLACKBOX_WRITES);
		assert_int_equal(kill(writer, SIGKILL), 0);
	}
	assert_int_equal(poll_box(box, true), writer ? BLACKBOX_FAILED : BLACKBOX_WRITTEN);
	end_short(box);
	if (!writer)
		skip_writer();
}

/* A full disk ends the file, and waits for no other process of this one. */
static void test_full(void **state)
{
	pid_t other = fork(), writer;
	struct blackbox *box;
	siginfo_t ended;

	(void)state;
	assert_true(other >= 0);
	if (!other) {
		sleep(2);
		_exit(0);
	}
	writer = write_short(&box, "/dev/full");
	assert_true(!writer || !waitid(P_PID, writer, &ended, WEXITED | WNOWAIT));
	assert_int_equal(poll_box(box, true), BLACKBOX_FAILED);
	end_short(box);
	assert_int_equal(kill(other, SIGKILL), 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

#define TEST(function) cmocka_unit_test_setup(function, reseed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_parts),     TEST(test_goes_on), TEST(test_many_lanes), TEST(test_signal),
		TEST(test_killed),    TEST(test_full),    TEST(test_names),      TEST(test_slow),
		TEST(test_no_memory), TEST(test_no_names)};

	return cmocka_run_group_tests(tests, setup, teardown);
}
