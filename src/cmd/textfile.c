/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/textfile.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/listener.h"
#include "cmd/newfile.h"
#include "cmd/output.h"
#include "model/watch.h"
#include "render/openmetrics.h"

#define INTERVAL_NS (15 * NSEC_PER_SEC)

#define FIELD(name) offsetof(struct textfile_options, name)

const struct opt textfile_opts[] = {
	{0, "textfile", "FILE",
	 "also keep metrics in FILE for the textfile collector of node_exporter; FILE is rewritten "
	 "during the run; with -d forever until it is stopped",
	 FIELD(path), output_set_file, .writes = true},
	{0, "listen", "ADDRESS:PORT",
	 "also answer Prometheus with these metrics, at /metrics; without ADDRESS on this machine "
	 "alone (127.0.0.1); who can reach the address can read them",
	 FIELD(listen), opt_set_string},
	{0, "textfile-interval", "TIME",
	 "how often FILE is rewritten, and what --listen answers is renewed", FIELD(interval_ns),
	 opt_set_duration, .preset = "15s"},
	{0},
};

uint64_t textfile_every(const struct textfile_options *o)
{
	return o->interval_ns ? o->interval_ns : INTERVAL_NS;
}

struct textfile {
	const char *path;          /* NULL: no file */
	struct listener *listener; /* NULL: none */
	bool deaf;                 /* the listener has ended, and its end was reported */
	bool host;
	enum owner_by label;
	struct leaders leaders;
	pthread_t writer;
	bool begun; /* the writer thread exists */

	pthread_mutex_t lock; /* guards the next three */
	pthread_cond_t come;
	char *text; /* waits to be written; NULL: nothing */
	size_t len;
	bool end;

	int error; /* errno of the writer's last attempt */
};

/* ---- the file ---- */

/* Whatever the umask: another user must be able to read it. 0 or -errno. */
static int open_file(const struct textfile *t, struct newfile *new)
{
	int err = newfile_open_plain(new, t->path);

	if (!err && fchmod(fileno(new->file), 0644))
		err = -errno;
	if (err && new->file)
		newfile_close(new, false);
	return err;
}

/* 0 or -errno. Without a sync: after a crash of the machine there is no run to report. */
static int put_file(const struct textfile *t, const char *text, size_t len)
{
	struct newfile new;
	int err = open_file(t, &new);

	if (err)
		return err;
	fwrite(text, 1, len, new.file); /* closing tells */
	return newfile_close(&new, true);
}

/* Reports a failure once, when it begins. */
static void put_or_say(struct textfile *t, const char *text, size_t len)
{
	int err = t->path ? put_file(t, text, len) : 0;

	if (t->listener && !t->deaf && !listener_put(t->listener, text, len)) {
		t->deaf = true;
		say("--listen: the process that answers has ended; the run goes on without");
	}
	if (err && !t->error)
		say("writing %s: %s; the run goes on, and tries again at the next time", t->path,
		    newfile_error(err));
	t->error = err;
}

/* ---- the writer ---- */

static void *write_all(void *arg)
{
	struct textfile *t = arg;
	bool end = false;

	while (!end) {
		char *text;
		size_t len;

		pthread_mutex_lock(&t->lock);
		while (!t->text && !t->end)
			pthread_cond_wait(&t->come, &t->lock);
		text = t->text;
		len = t->len;
		t->text = NULL;
		end = !text;
		pthread_mutex_unlock(&t->lock);
		if (text)
			put_or_say(t, text, len);
		free(text);
	}
	return NULL;
}

static void hand_over(struct textfile *t, char *text, size_t len)
{
	if (!t->begun)
		t->begun = !pthread_create(&t->writer, NULL, write_all, t);
	if (!t->begun) {
		put_or_say(t, text, len);
		free(text);
		return;
	}
	pthread_mutex_lock(&t->lock);
	free(t->text); /* the disk was too slow for it */
	t->text = text;
	t->len = len;
	pthread_cond_signal(&t->come);
	pthread_mutex_unlock(&t->lock);
}

/* ---- the run's side ---- */

bool textfile_wanted(const struct textfile_options *o)
{
	return o->path || o->listen;
}

int textfile_check(const struct textfile_options *o, struct output *output)
{
	output->metrics = textfile_wanted(o);
	if (o->interval_ns && !output->metrics)
		return complain("--textfile-interval belongs to --textfile and --listen: give "
				"--textfile FILE or --listen ADDRESS:PORT");
	if (output->metrics && output->metrics_per == PER_GROUP)
		return complain("--metrics-per group is for a report at its end: which CPUs are "
				"alike changes while a run goes on; use host or cpu with "
				"--textfile");
	return 0;
}

static int try_file(const struct textfile *t)
{
	struct newfile new;
	struct stat st;
	int err;

	if (!lstat(t->path, &st) && !S_ISREG(st.st_mode))
		return complain("%s is not a regular file and would be replaced by one: choose "
				"another file with --textfile",
				t->path);
	if (newfile_is_standard(t->path))
		return complain("%s is standard output or standard error, and would be replaced: "
				"choose another file with --textfile",
				t->path);
	err = open_file(t, &new);
	if (err)
		return complain("cannot write into the directory of %s: %s; choose another file "
				"with --textfile",
				t->path, newfile_error(err));
	newfile_close(&new, false);
	return 0;
}

struct textfile *textfile_open(const struct textfile_options *o, bool host, enum owner_by label,
			       const struct cpus *housekeeping)
{
	struct textfile *t = calloc(1, sizeof(*t));

	if (!t) {
		complain("out of memory");
		return NULL;
	}
	t->path = o->path;
	t->host = host;
	t->label = label;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->come, NULL);
	if ((!t->path || !try_file(t)) &&
	    (!o->listen || (t->listener = listener_open(o->listen, housekeeping))))
		return t;
	textfile_close(t);
	return NULL;
}

void textfile_write(struct textfile *t, struct view *view, bool running)
{
	struct view shown = *view;
	char *text = NULL;
	size_t len;
	FILE *f;

	if (!t->leaders.cpu &&
	    metrics_leaders(&t->leaders, view, t->host ? PER_HOST : PER_CPU, t->label))
		return; /* out of memory: the next time may work */
	f = open_memstream(&text, &len);
	if (!f)
		return;
	shown.run.taken_ns = clock_ns(CLOCK_REALTIME);
	if (view->run.watch &&
	    !view->run.sums) /* lanes have room from the start, and threads come later */
		shown.ncpus = t->leaders.n = t->leaders.lanes = watch_lanes(view);
	if (leaders_update(&t->leaders, &shown) |
	    render_textfile(&shown, &t->leaders, t->host, running, f) | fclose(f))
		free(text);
	else
		hand_over(t, text, len);
}

int textfile_close(struct textfile *t)
{
	int err;

	if (!t)
		return 0;
	if (t->begun) {
		pthread_mutex_lock(&t->lock);
		t->end = true;
		pthread_cond_signal(&t->come);
		pthread_mutex_unlock(&t->lock);
		pthread_join(t->writer, NULL);
	}
	listener_close(t->listener);
	err = t->error;
	leaders_free(&t->leaders);
	pthread_mutex_destroy(&t->lock);
	pthread_cond_destroy(&t->come);
	free(t->text);
	free(t);
	return err ? -1 : 0;
}
