/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial's fix is back before the engine ends, which may wait for a sampler or the disk: whether
 * the guardian was killed or the window was cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/now.h"
#include "cmd/cmd.h"
#include "cmd/fixes.h"
#include "cmd/live.h"
#include "cmd/trial.h"
#include "collect/knobs.h"

#define BOOT "0"

static char dir[64], knob[96], journal[96];
static enum { KILLED, CUT, GONE, OTHERS } how; /* KILLED: the guardian; CUT: the window */

/* ---- what is not there in this test ---- */

const struct engine collect_engine;

struct collect_options measure_collect(const struct measure *m)
{
	(void)m;
	return (struct collect_options){0};
}

volatile int measure_stop;

const char *measure_end_name(void)
{
	return "";
}

int limits_begin_triggers(struct triggers *triggers, struct view *v)
{
	(void)triggers;
	(void)v;
	return 0;
}

bool fixes_meant(void *tried, const struct view *v, const struct source *s)
{
	(void)tried;
	(void)v;
	(void)s;
	return false;
}

static char value(void)
{
	FILE *f = fopen(knob, "r");
	int c = f ? fgetc(f) : 0;

	if (f)
		fclose(f);
	return (char)c;
}

static void set(const char *text)
{
	FILE *f = fopen(knob, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void kill_guardian(void)
{
	char path[64];
	siginfo_t info;
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &pid), 1);
	fclose(f);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
}

/* As the real one calls them, in a second window, which has the fix; then the end takes an hour. */
int live_run(struct live *l)
{
	const uint64_t hour_ns = 3600 * NSEC_PER_SEC;

	l->view->run.started_ns = now_ns();
	assert_int_equal(l->begin(l->ctx), 0);
	assert_int_equal(value(), 'A');
	l->view->run.started_ns -= hour_ns;
	if (how == GONE || how == OTHERS) {
		assert_int_equal(unlink(knob), 0);
		if (how == OTHERS)
			set("C\n");
		assert_false(l->step(l->ctx));
		l->over(l->ctx);
		return EXIT_OK;
	}
	assert_true(l->step(l->ctx));
	assert_int_equal(value(), 'B');
	if (how == KILLED)
		kill_guardian();
	assert_int_equal(l->step(l->ctx), how != KILLED);
	if (l->over)
		l->over(l->ctx);
	assert_int_equal(value(), 'A');
	l->view->run.started_ns -= hour_ns;
	assert_false(l->step(l->ctx));
	assert_int_equal(value(), 'A');
	return EXIT_INCOMPLETE;
}

/* ---- the tests ---- */

static int make_dir(void **state)
{
	const char *temp = getenv("TMPDIR");

	(void)state;
	snprintf(dir, sizeof(dir), "%s/trial.XXXXXX", temp && strlen(temp) < 40 ? temp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(knob, sizeof(knob), "%s/knob", dir);
	snprintf(journal, sizeof(journal), "%s/try.journal", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(knob);
	return rmdir(dir); /* nothing else is in it */
}

static void fix_is_back(int end, int code, const char *cut)
{
	struct host host = {0};
	struct measure m = {0};
	struct tried t = {
		.host = &host, .in_turn = true, .windows = 2, .window_ns = 200 * NSEC_PER_MSEC};
	char why[128];
	struct trial *r;

	how = end;
	set("A\n");
	assert_non_null(knobs_add(&t.knobs, KNOB_FILE, knob, "A", "B"));
	r = trial_new(&t, &m, dir, BOOT);
	assert_non_null(r);
	assert_int_equal(access(journal, F_OK), 0);
	assert_int_equal(trial_run(r, true), code);
	assert_int_equal(t.stuck, end == KILLED);
	assert_int_equal(t.lost, end == GONE || end == OTHERS);
	snprintf(why, sizeof(why), cut, knob);
	assert_string_equal(t.cut, why);
	assert_false(t.kept || t.whole);
	assert_int_equal(access(journal, F_OK), -1);
	assert_int_equal(wait(NULL), -1);
	trial_free(r);
	knobs_free(&t.knobs);
}

static void fix_is_back_when_the_guardian_is_killed(void **state)
{
	(void)state;
	fix_is_back(KILLED, EXIT_ERROR, "");
}

static void fix_is_back_when_the_window_is_cut(void **state)
{
	(void)state;
	fix_is_back(CUT, EXIT_ERROR, ""); /* nor can the recording be read */
}

static void what_is_lost_ends_it(void **state)
{
	(void)state;
	fix_is_back(GONE, EXIT_INCOMPLETE, "%s is no longer there");
	fix_is_back(OTHERS, EXIT_INCOMPLETE,
		    "somebody has set %s to C, where A was: that is left so");
	assert_int_equal(value(), 'C');
}

/* A try that cannot put its fix in force may take long to end: that is none of the guardian's
 * business. */
static void no_hurry_without_a_fix(void **state)
{
	const struct cpus anywhere = {0};
	struct knobs knobs = {0};
	struct guardian *g;
	char why[KNOB_WHY];

	(void)state;
	assert_non_null(knobs_add(&knobs, KNOB_FILE, knob, "A", "B")); /* no such file */
	assert_int_equal(journal_write(dir, BOOT, &knobs), 0);
	g = guardian_start(&knobs, dir, BOOT, &anywhere);
	assert_non_null(g);
	assert_int_equal(guardian_turn(g, true, NSEC_PER_MSEC, why), TURNED_LOST);
	usleep(200000);
	assert_true(guardian_lives(g));
	assert_int_equal(guardian_end(g, false, NULL), 0);
	assert_int_equal(access(journal, F_OK), -1);
	knobs_free(&knobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_hurry_without_a_fix),
		cmocka_unit_test(fix_is_back_when_the_guardian_is_killed),
		cmocka_unit_test(fix_is_back_when_the_window_is_cut),
		cmocka_unit_test(what_is_lost_ends_it),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
