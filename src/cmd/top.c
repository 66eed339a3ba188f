/* culprit top: who takes time from the CPUs right now. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "audit/book.h"
#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/live.h"
#include "collect/host.h"
#include "render/top.h"

struct options {
	struct measure measure;
};

static const struct opt top_opts[] = {
	MEASURE_DURATION(offsetof(struct options, measure.duration_ns), "forever"),
	{.include = measure_opts, .offset = offsetof(struct options, measure)},
	MEASURE_NO_TRACE(offsetof(struct options, measure.no_trace)),
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
		 "the last second, in the last ten seconds, and since the start. Keys: q quits, p "
		 "pauses, s sorts, h explains. Runs until you end it, or for -d.\n\n" EXIT_STATUS(
			 ""),
	.opts = top_opts,
	.examples = top_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, {0}},
};

/* ---- the terminal, as it was and as it is ---- */

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* the other screen, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct termios saved;
static volatile sig_atomic_t entered;

static void leave(void)
{
	if (!entered)
		return;
	entered = 0;
	if (write(STDOUT_FILENO, LEAVE, sizeof(LEAVE) - 1) < 0) {
		/* a terminal that is gone needs nothing */
	}
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* Restores the terminal before a signal ends the process. */
static void on_crash(int sig)
{
	leave();
	signal(sig, SIG_DFL);
	raise(sig);
}

static int enter(void)
{
	static const int crashes[] = {SIGQUIT, SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
	struct termios raw;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &saved))
		return complain("top needs a terminal; culprit run prints a report anywhere");
	raw = saved;
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		signal(crashes[i], on_crash);
	signal(SIGTSTP, SIG_IGN); /* a stopped process could not restore the terminal */
	entered = 1;
	atexit(leave);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw))
		return complain("the terminal cannot be set up: %s", strerror(errno));
	return write(STDOUT_FILENO, ENTER, sizeof(ENTER) - 1) < 0
		       ? complain("writing to the terminal: %s", strerror(errno))
		       : 0;
}

static void read_size(struct top_state *s)
{
	struct winsize size;

	s->width = 80;
	s->height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	s->width = size.ws_col;
	s->height = size.ws_row;
}

/* False when the terminal has gone. */
static bool draw(struct top_state *s, const struct view *v, const struct recent *r)
{
	char *text = NULL;
	size_t len, at = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return true;
	read_size(s);
	render_top(v, r, s, f);
	fclose(f);
	while (text && at < len) {
		ssize_t n = write(STDOUT_FILENO, text + at, len - at);

		if (n < 0 && errno == EINTR && !measure_stop)
			continue;
		if (n <= 0)
			break;
		at += n;
	}
	free(text);
	return at == len;
}

/* ---- keys ---- */

enum key_result { KEY_NONE, KEY_DRAW, KEY_QUIT };

static enum key_result take_key(struct top_state *s, char key)
{
	static const char sorts[] = "10amc";
	const char *sort = key ? strchr(sorts, key) : NULL;

	if (sort) {
		s->sort = sort - sorts;
		return KEY_DRAW;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return KEY_QUIT;
	case 'p':
	case ' ':
		s->paused = !s->paused;
		return KEY_DRAW;
	case 's':
		s->sort = (s->sort + 1) % TOP_SORTS;
		return KEY_DRAW;
	case 'h':
	case '?':
		s->help = !s->help;
		return KEY_DRAW;
	default:
		return KEY_NONE;
	}
}

static enum key_result take_keys(struct top_state *s)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	enum key_result result = KEY_NONE;
	char keys[64];
	ssize_t n;

	if (poll(&in, 1, 0) <= 0)
		return KEY_NONE;
	if (in.revents & (POLLHUP | POLLERR | POLLNVAL))
		return KEY_QUIT;
	n = read(STDIN_FILENO, keys, sizeof(keys));
	if (n == 0)
		return KEY_QUIT; /* readable without data: the end */
	for (ssize_t i = 0; i < n; i++) {
		enum key_result one;

		if (keys[i] == '\033') /* ignores arrows and mice */
			break;
		one = take_key(s, keys[i]);
		if (one > result)
			result = one;
	}
	return result;
}

/* ---- running ---- */

static void name_causes(struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count; k++) {
			struct source *s = v->cpu[i].sources.row[k];
			const struct cause *c = s->cause ? NULL : cause_of(s);

			if (c)
				s->cause = c->id;
		}
}

/* State of the callbacks. */
struct terminal {
	struct view *view;
	struct recent recent;
	struct top_state screen;
	struct winsize drawn; /* size of the terminal at that time */
	bool second;          /* a second has passed since */
	bool gone;            /* the terminal has gone */
};

static int begin(void *ctx)
{
	struct terminal *s = ctx;

	if (recent_init(&s->recent, s->view->ncpus))
		return complain("out of memory");
	return enter();
}

static void snapshot(void *ctx)
{
	struct terminal *s = ctx;

	if (s->view->run.duration_ns)
		recent_second(&s->recent, s->view);
	name_causes(s->view);
	s->second = true;
}

static bool step(void *ctx)
{
	struct terminal *s = ctx;
	enum key_result key = entered ? take_keys(&s->screen) : KEY_QUIT;
	struct winsize now = {0};

	if (key == KEY_QUIT)
		return false;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &now);
	if (memcmp(&now, &s->drawn, sizeof(now)))
		key = KEY_DRAW;
	s->drawn = now;
	if (key == KEY_DRAW || (s->second && !s->screen.paused))
		s->gone = !draw(&s->screen, s->view, &s->recent);
	s->second = false;
	return !s->gone;
}

static void over(void *ctx)
{
	(void)ctx;
	leave();
}

static int end(void *ctx)
{
	const struct terminal *s = ctx;

	if (s->gone)
		complain("the terminal is gone");
	return s->gone ? EXIT_ERROR : EXIT_OK;
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

	recent_free(&terminal.recent);
	return code;
}

int cmd_top(int argc, char **argv)
{
	struct options o = {0};
	struct view *v = calloc(1, sizeof(*v));
	int operands, code;

	measure_init(&o.measure);
	o.measure.duration_ns = UINT64_MAX; /* forever */
	o.measure.quiet = o.measure.no_audit = true;
	code = opt_parse(&top_usage, argc, argv, &o, &operands);
	if (code || !v) {
		free(v);
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	}
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		complain("top needs a terminal; culprit run prints a report anywhere");
		free(v);
		return EXIT_ERROR;
	}
	host_read(&v->host);
	code = measure_check(&o.measure, &v->host) ? EXIT_ERROR : run(&o.measure, v);
	view_free(v);
	free(v);
	return code;
}
