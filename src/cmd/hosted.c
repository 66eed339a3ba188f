/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/hosted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/guard.h"
#include "cmd/receiver.h"

#define WAIT_NS (60 * NSEC_PER_SEC)
#define NAP_NS  (20 * NSEC_PER_MSEC)
#define MOST    (256 << 20) /* bytes of the run's own recording in memory */

#define FIELD(name) offsetof(struct hosted_options, name)

const struct opt hosted_opts[] = {
	{0, "host-listen", "ADDRESS",
	 "in a guest: takes here what culprit watch sends of it from its host meanwhile, and says "
	 "who took on the host what was lost outside the kernel; vsock:PORT, tcp:PORT (127.0.0.1 "
	 "alone) or tcp:ADDRESS:PORT (culprit help reading)",
	 FIELD(listen), channel_set_listen,
	 .excludes = "no-trace,style,raw,hiccups,textfile,listen",
	 .why = "makes its report at the end, from all that was traced"},
	{0, "host-wait", "TIME",
	 "how long to wait for the host before the window opens; without it the run begins, and "
	 "the host may come later",
	 FIELD(wait_ns), opt_set_duration, .needs = "host-listen", .why = "is for a host",
	 .preset = "60s"},
	OPT_TOKEN(FIELD(token), "host-listen"),
	{0},
};

struct hosted {
	const struct hosted_options *o;
	struct live *live;
	struct receiver *receiver;
	int file;         /* the run's recording; -1: it has a name */
	const char *path; /* to read it from */
	char of_file[32];
	uint64_t begun_ns, ended_ns;
};

/* The recorder owns what it is given. 0, or -1 with errno. */
static int record_in_memory(struct hosted *h)
{
	h->file = memfd_create("culprit run", MFD_CLOEXEC);
	h->live->record_fd = h->file < 0 ? -1 : fcntl(h->file, F_DUPFD_CLOEXEC, 3);
	if (h->live->record_fd < 0)
		return -1;
	h->live->record_to = "memory";
	h->live->record_most = MOST;
	snprintf(h->of_file, sizeof(h->of_file), "/proc/self/fd/%d", h->file);
	h->path = h->of_file;
	return 0;
}

struct hosted *hosted_open(const struct hosted_options *o, struct live *live)
{
	struct hosted *h = calloc(1, sizeof(*h));
	struct token token;

	if (!h) {
		complain("out of memory");
		return NULL;
	}
	*h = (struct hosted){.o = o, .live = live, .file = -1, .path = live->record_to};
	if (!o->token)
		complain("--host-listen needs --token FILE, a secret that the host has, "
			 "too: " TOKEN_MAKE);
	else if (!channel_token(o->token, &token))
		h->receiver = receiver_open(&o->listen, &token, &live->measure->housekeeping);
	if (h->receiver && !live->record_to && record_in_memory(h)) {
		complain("--host-listen: no memory for the recording: %s", strerror(errno));
	} else if (h->receiver) {
		return h;
	}
	hosted_close(h);
	return NULL;
}

/* True while the host may still come. Once it has gone nobody else is let in. */
static bool may_come(const struct hosted *h)
{
	struct receipt r = receiver_look(h->receiver);

	return !r.begun_ns && (r.how == RECEIVED_NOTHING || r.how == RECEIVED_PART);
}

void hosted_await(struct hosted *h)
{
	uint64_t end_ns = now_ns() + (h->o->wait_ns ? h->o->wait_ns : WAIT_NS);
	struct timespec nap = {0, NAP_NS};
	char text[32];

	measure_catch_signals();
	if (!h->live->measure->quiet)
		say("waits for the host, up to %s: there, culprit watch --vcpus NAME --to ... "
		    "--token FILE",
		    format_ns(end_ns - now_ns(), text, sizeof(text)));
	while (!measure_stop && now_ns() < end_ns && may_come(h))
		nanosleep(&nap, NULL);
}

void hosted_ended(struct hosted *h)
{
	h->begun_ns = h->live->view->run.started_ns;
	h->ended_ns = now_ns();
	measure_stop = 0; /* the next one says that the rest is not wanted */
	measure_catch_signals();
	receiver_enough(h->receiver);
}

/* ---- the report ---- */

static void add_lack(struct run *run, const char *lack)
{
	size_t n = strlen(run->incomplete);

	if (*lack)
		snprintf(run->incomplete + n, sizeof(run->incomplete) - n, "%s%s", n ? "; " : "",
			 lack);
}

/* Reads the run again, joined with the host's if there is one; as report does. */
static int report(struct hosted *h, struct output *o, struct part *part, struct joined *j,
		  const char *lack)
{
	struct view view = {.ncpus = 0};
	const struct view *one = &view;
	const struct account *a;
	struct recording *r = NULL;
	int code = EXIT_ERROR;
	uint32_t index;

	if (!j || !joined_begin(j, part, &view))
		r = recording_open(h->path, part, &view);
	if (r) {
		while (!o->error && (a = recording_next(r, &index)))
			output_hiccup(o, &view, index, a);
		recording_finish(r);
		if (j)
			joined_finish(j, &view);
		add_lack(&view.run, lack);
		output_explain(&view);
		code = output_end(o, &one, 1) ? EXIT_ERROR : EXIT_OK;
	}
	view_free(&view);
	recording_close(r);
	return code;
}

static struct joined *join(struct hosted *h, const struct receipt *r, const struct part *part,
			   char *lack, size_t len)
{
	const struct hosts_given hosts = {.path = {receiver_path(h->receiver)},
					  .name = "what the host sent"};
	struct joined *j = NULL;

	if (r->begun_ns)
		j = joined_open(h->path, &hosts, part);
	if (r->begun_ns && !j && !*lack)
		snprintf(lack, len, "what its host sent could not be joined");
	return j;
}

int hosted_report(struct hosted *h, struct output *o, int by, int code)
{
	struct part part = {.name = "this run", .by = by, .spans = output_spans(o)};
	char lack[200];
	struct receipt receipt;
	struct joined *j;

	if (!h->ended_ns)
		return code;
	receipt = receiver_finish(h->receiver, &measure_stop);
	guard_reader(0, o->path);
	guard_alone(o->path);
	receipt_lack(&receipt, h->begun_ns, h->ended_ns, lack, sizeof(lack));
	j = join(h, &receipt, &part, lack, sizeof(lack));
	if (*lack)
		say("incomplete: %s", lack);
	o->live = true;
	if (report(h, o, &part, j, lack))
		code = EXIT_ERROR;
	joined_close(j);
	return *lack && code != EXIT_ERROR ? EXIT_INCOMPLETE : code;
}

void hosted_close(struct hosted *h)
{
	if (!h)
		return;
	receiver_close(h->receiver);
	if (h->file >= 0)
		close(h->file);
	free(h);
}
