/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/outlet.h"
#include "base/say.h"

#define SEQUENCE_MS 20 /* the bytes of one key come together */

#define ENTER "\033[?1049h\033[?25l\033[?7l" /* the other screen, no cursor, no wrapping */
#define LEAVE "\033[?7h\033[?25h\033[?1049l"

static struct termios saved;
static volatile sig_atomic_t entered;
static pid_t entered_by;           /* children that are killed leave it as it is */
static int screen = STDOUT_FILENO; /* written to without waiting */

void terminal_leave(void)
{
	if (!entered)
		return;
	entered = 0;
	terminal_finish(LEAVE, sizeof(LEAVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* Restores the terminal before a signal ends the process. */
static void on_end(int sig)
{
	if (entered_by == getpid())
		terminal_leave();
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Has each signal do so that ends a process, and that nobody else catches or ignores. */
static void catch_ends(void)
{
	static const int others[] = {SIGCHLD, SIGCONT,  SIGSTOP, SIGTSTP, SIGTTIN,
				     SIGTTOU, SIGWINCH, SIGURG,  SIGKILL};
	struct sigaction act;
	sigset_t ends;

	sigfillset(&ends);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		sigdelset(&ends, others[i]);
	for (int sig = 1; sig <= SIGRTMAX; sig++)
		if (sigismember(&ends, sig) == 1 && !sigaction(sig, NULL, &act) &&
		    act.sa_handler == SIG_DFL)
			signal(sig, on_end);
}

int terminal_check(void)
{
	const char *term = getenv("TERM");
	pid_t front = tcgetpgrp(STDIN_FILENO); /* -1: not the terminal that has job control */

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return complain("top needs a terminal; culprit run prints a report anywhere");
	if (!term || !*term || !strcmp(term, "dumb"))
		return complain("top needs a terminal that it can draw on, and TERM is '%s'; "
				"culprit run prints a report anywhere",
				term ? term : "");
	if (front >= 0 && front != getpgrp())
		return complain("top needs the terminal, and runs in the background; culprit run "
				"prints a report anywhere");
	return 0;
}

int terminal_enter(void)
{
	struct termios raw;

	if (terminal_check())
		return -1;
	if (tcgetattr(STDIN_FILENO, &saved))
		return complain("the terminal cannot be set up: %s", strerror(errno));
	screen = outlet_open(STDOUT_FILENO);
	raw = saved;
	raw.c_iflag &= ~IXON; /* stopped by Ctrl-S it could not be left */
	raw.c_lflag &= ~(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	entered_by = getpid();
	catch_ends();
	entered = 1;
	atexit(terminal_leave);
	if (tcsetattr(STDIN_FILENO, TCSANOW, &raw))
		return complain("the terminal cannot be set up: %s", strerror(errno));
	terminal_finish(ENTER, sizeof(ENTER) - 1);
	return 0;
}

bool terminal_entered(void)
{
	return entered;
}

void terminal_size(unsigned *width, unsigned *height)
{
	struct winsize size;

	*width = 80;
	*height = 24;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row)
		return;
	*width = size.ws_col;
	*height = size.ws_row;
}

ssize_t terminal_write(const char *text, size_t len)
{
	return outlet_write(screen, STDOUT_FILENO, text, len, 0);
}

void terminal_finish(const char *text, size_t len)
{
	outlet_finish(screen, STDOUT_FILENO, text, len, OUTLET_PATIENCE_MS);
}

/* ---- keys ---- */

static char waiting[64]; /* bytes that were read and not yet taken */
static size_t nwaiting;

/* Reads what is there, after waiting for so long. False: the terminal has gone. */
static bool read_bytes(int wait_ms)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};
	ssize_t n;

	if (poll(&in, 1, wait_ms) <= 0)
		return true;
	if (in.revents & (POLLHUP | POLLERR | POLLNVAL))
		return false;
	n = read(STDIN_FILENO, waiting + nwaiting, sizeof(waiting) - nwaiting);
	if (n > 0)
		nwaiting += n;
	return n != 0; /* readable without data: the end */
}

int terminal_key(void)
{
	size_t taken;
	int key;

	if (!nwaiting && !read_bytes(0))
		return KEY_GONE;
	if (!nwaiting)
		return KEY_NONE;
	taken = key_parse(waiting, nwaiting, &key);
	if (!taken && nwaiting < sizeof(waiting)) {
		if (!read_bytes(SEQUENCE_MS))
			return KEY_GONE;
		taken = key_parse(waiting, nwaiting, &key);
	}
	if (!taken) {
		key = nwaiting == 1 ? KEY_ESCAPE : KEY_OTHER;
		taken = nwaiting;
	}
	nwaiting -= taken;
	memmove(waiting, waiting + taken, nwaiting);
	return key;
}
