/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit top: who takes time from the CPUs right now. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/book.h"
#include "audit/conclude.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "cmd/terminal.h"
#include "collect/host.h"
#include "render/top.h"

struct options {
	struct measure measure;
};

static const struct opt top_opts[] = {
	MEASURE_DURATION(offsetof(struct options, measure.duration_ns), "forever"),
	{.include = measure_opts, .offset = offsetof(struct options, measure)},
	MEASURE_NO_TRACE(offsetof(struct options, measure.no_trace)),
	MEASURE_COMMANDS(offsetof(struct options, measure.commands)),
	OUTPUT_BY(offsetof(struct options, measure.by), "no-trace"),
	{0},
};

static const struct opt_example top_examples[] = {
	{"sudo culprit top", "the isolated CPUs; if there are none, all but the lowest"},
	{"sudo culprit top -c 3 -d 1m", "CPU 3, for a minute"},
	{0},
};

const struct opt_command top_usage = {
	.name = "top",
	.summary = "watch who interrupts CPUs, second by second",
	.about = "Measures as culprit run does and shows each second which sources took time: in "
		 "the last second, in the last ten seconds, and since the start. Below them: who "
		 "asked for the one under the cursor, and what to do. Enter shows it in detail, "
		 "Tab all CPUs, h explains all keys. Runs until you end it with q, or for -d; the "
		 "last screen stays on the terminal.\n\n" EXIT_STATUS_UNCROSSED,
	.opts = top_opts,
	.examples = top_examples,
	.environment =
		(const struct opt_choice[]){
			ENV_NO_COLOR,
			{"TERM", "if it is empty or dumb: top cannot draw, and ends"},
			{0}},
};

/* Gives the sources on the screen their causes and advice. */
static void name_causes(struct view *v, struct top_state *s)
{
	struct source *detail = top_source(v, s);
	const struct cause *c;

	for (uint32_t i = s->first; i < s->first + s->shown; i++)
		if (s->row[i].source != TOP_NO_SOURCE)
			conclude_source(v, s->row[i].cpu,
					v->cpu[s->row[i].cpu].sources.row[s->row[i].source]);
	if (detail)
		conclude_source(v, s->at_cpu, detail);
	c = detail && detail->cause ? cause_by_id(detail->cause) : NULL;
	s->about = c ? (struct top_about){c->title, c->what, c->why} : (struct top_about){0};
}

static char *draw(struct top_state *s, struct view *v, const struct recent *r, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	if (!f)
		return NULL;
	terminal_size(&s->width, &s->height);
	if (s->last && s->height > 2)
		s->height -= 2; /* for the shell */
	if (!top_settle(v, r, s)) {
		name_causes(v, s);
		render_top(v, r, s, f);
	}
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

/* ---- keys ---- */

/* The source under the cursor, or the CPU's sources. */
static void go_in(struct top_state *s)
{
	if (s->detail || !s->nrows)
		return;
	if (s->page == TOP_CPUS) {
		s->page = TOP_SOURCES;
		s->alone = true;
		s->only = s->at_cpu;
		s->moved = false;
		return;
	}
	s->detail = true;
	s->moved = true;
	s->scroll = 0;
}

static void go_back(struct top_state *s)
{
	if (s->help) {
		s->help = false;
	} else if (s->detail) {
		s->detail = false;
	} else if (s->alone) {
		s->alone = false;
		s->page = TOP_CPUS;
		s->moved = true; /* on that CPU */
		s->cursor = 1;
	} else if (s->page == TOP_CPUS) {
		s->page = TOP_SOURCES;
		s->moved = false;
	}
}

static bool move(struct top_state *s, int key)
{
	int page = s->shown > 1 ? (int)s->shown - 1 : 1, all = s->nrows + s->scroll + 1000;

	switch (key) {
	case KEY_UP:
	case 'k':
		s->move--;
		return true;
	case KEY_DOWN:
	case 'j':
		s->move++;
		return true;
	case KEY_PAGE_UP:
		s->move -= page;
		return true;
	case KEY_PAGE_DOWN:
		s->move += page;
		return true;
	case KEY_HOME:
	case 'g':
		s->move = -all;
		return true;
	case KEY_END:
	case 'G':
		s->move = all;
		return true;
	default:
		return false;
	}
}

static bool sort(struct top_state *s, int key)
{
	static const char sorts[] = "10amc";
	const char *by = key > 0 && key < 256 ? strchr(sorts, key) : NULL;

	if (!by && key != 's')
		return false;
	s->sort = by ? (enum top_sort)(by - sorts) : (s->sort + 1) % TOP_SORTS;
	return true;
}

/* True when the screen changes. */
static bool take_key(struct top_state *s, int key)
{
	if (move(s, key) || sort(s, key))
		return true;
	switch (key) {
	case 'p':
	case ' ':
		s->paused = !s->paused;
		return true;
	case 'h':
	case '?':
		s->help = !s->help;
		return true;
	case '\r':
	case '\n':
	case KEY_RIGHT:
		go_in(s);
		return true;
	case KEY_ESCAPE:
	case KEY_LEFT:
	case 0x7f:
	case '\b':
		go_back(s);
		return true;
	case '\t':
		s->page = s->page == TOP_CPUS ? TOP_SOURCES : TOP_CPUS;
		s->detail = s->alone = s->moved = false;
		return true;
	default:
		return false;
	}
}

enum key_result { KEYS_NONE, KEYS_DRAW, KEYS_QUIT };

static enum key_result take_keys(struct top_state *s)
{
	enum key_result result = KEYS_NONE;
	int key;

	while ((key = terminal_key()) != KEY_NONE) {
		if (key == KEY_GONE || key == 'q' || key == 'Q')
			return KEYS_QUIT;
		if (take_key(s, key))
			result = KEYS_DRAW;
	}
	return result;
}

/* ---- running ---- */

/* State of the callbacks. */
struct terminal {
	struct view *view;
	struct recent recent;
	struct top_state screen;
	unsigned width, height; /* as it was drawn */
	char *frame;            /* text on its way; NULL: none */
	size_t len, at;         /* bytes of it, and those that are written */
	bool due;               /* the next one is to be drawn */
	bool gone;              /* the terminal has gone */
};

static int begin(void *ctx)
{
	struct terminal *s = ctx;

	if (recent_init(&s->recent, s->view->ncpus) || conclude(s->view))
		return complain("out of memory");
	return terminal_enter();
}

static void snapshot(void *ctx)
{
	struct terminal *s = ctx;

	if (s->view->run.duration_ns)
		recent_second(&s->recent, s->view);
	s->due |= !s->screen.paused;
}

/* Draws when that is due and the last frame is written, and writes what the terminal takes. */
static void show(struct terminal *s)
{
	ssize_t n;

	if (s->due && !s->frame) {
		s->frame = draw(&s->screen, s->view, &s->recent, &s->len);
		s->at = 0;
		s->due = false;
	}
	if (!s->frame)
		return;
	n = terminal_write(s->frame + s->at, s->len - s->at);
	s->gone = n < 0;
	s->at += n > 0 ? n : 0;
	if (s->at == s->len) {
		free(s->frame);
		s->frame = NULL;
	}
}

static bool step(void *ctx)
{
	struct terminal *s = ctx;
	enum key_result key = terminal_entered() ? take_keys(&s->screen) : KEYS_QUIT;
	unsigned width, height;

	if (key == KEYS_QUIT)
		return false;
	terminal_size(&width, &height);
	if (width != s->width || height != s->height)
		key = KEYS_DRAW;
	s->width = width;
	s->height = height;
	s->due |= key == KEYS_DRAW;
	show(s);
	return !s->gone;
}

static void over(void *ctx)
{
	(void)ctx;
	terminal_leave();
}

/* The last screen stays, as plain lines. */
static int end(void *ctx)
{
	struct terminal *s = ctx;
	size_t len;
	char *text;

	if (s->gone) {
		complain("the terminal is gone");
		return EXIT_ERROR;
	}
	s->screen.last = true;
	s->screen.colour = s->screen.paused = false;
	text = draw(&s->screen, s->view, &s->recent, &len);
	if (text)
		terminal_finish(text, len);
	free(text);
	return EXIT_OK;
}

/* Returns the exit code. */
static int run(const struct measure *m, struct view *v)
{
	const char *no_colour = getenv("NO_COLOR");
	struct collect_options co = measure_collect(m);
	struct terminal terminal = {.view = v, .screen.colour = !(no_colour && no_colour[0])};
	struct live live = {.measure = m,
			    .engine = &collect_engine,
			    .engine_options = &co,
			    .view = v,
			    .full_screen = true,
			    .ctx = &terminal,
			    .begin = begin,
			    .every_ns = NSEC_PER_SEC,
			    .snapshot = snapshot,
			    .step = step,
			    .over = over,
			    .end = end};
	int code = live_run(&live);

	free(terminal.frame);
	recent_free(&terminal.recent);
	top_free(&terminal.screen);
	return code;
}

int cmd_top(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	int operands, code;

	measure_init(&o.measure);
	o.measure.duration_ns = UINT64_MAX; /* forever */
	o.measure.quiet = true;
	code = opt_parse(&top_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	if (terminal_check()) {
		free(v);
		return EXIT_ERROR;
	}
	host_read(&v->host);
	code = measure_check(&o.measure, &v->host) ? EXIT_ERROR : run(&o.measure, v);
	view_free(v);
	free(v);
	return code;
}
