/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the user, and the one progress line on the same terminal. Each message is built in
 * memory and written by one call, so that lines of several processes do not mix. The texts quote
 * the user and the machine (paths, names, arguments); escaping the finished line covers all of it,
 * even if a caller forgot. The only state is of the terminal: whether a progress line stands on it,
 * and what it has not taken. */
#include "base/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/outlet.h"

#define LINE_BYTES   4096
#define ERASE_TO_END "\033[K"

static bool progress_stands;
static int outlet = -1; /* stderr, a terminal that is not waited for; -1: it is */
static char held[LINE_BYTES];
static size_t nheld;

/* Returns the bytes written: all, where the terminal is waited for. */
static size_t put(const char *text, size_t len, int wait_ms)
{
	return outlet < 0 ? fwrite(text, 1, len, stderr)
			  : outlet_finish(outlet, STDERR_FILENO, text, len, wait_ms);
}

void say_wait(bool wait)
{
	if (!wait && isatty(STDERR_FILENO))
		outlet = outlet_open(STDERR_FILENO);
	if (!wait || outlet < 0)
		return;
	if (outlet != STDERR_FILENO)
		close(outlet);
	outlet = -1;
	put(held, nheld, 0);
	nheld = 0;
}

__attribute__((format(printf, 1, 0))) static void say_line(const char *fmt, va_list args)
{
	char text[LINE_BYTES], safe[4 * LINE_BYTES], line[sizeof(safe) + 32];
	int saved = errno;
	size_t len;
	int want;

	want = vsnprintf(text, sizeof(text), fmt, args);
	if (want < 0)
		snprintf(text, sizeof(text), "%s", fmt);
	else if ((size_t)want >= sizeof(text))
		strcpy(text + sizeof(text) - sizeof("..."), "...");
	len = strlen(text);
	while (len && text[len - 1] == '\n')
		len--;
	escape_text(text, len, safe, sizeof(safe));
	len = snprintf(line, sizeof(line), "%sculprit: %s\n",
		       progress_stands ? "\r" ERASE_TO_END : "", safe);
	if (put(line, len, OUTLET_PATIENCE_MS) < len && outlet >= 0 &&
	    len <= sizeof(held) - nheld) {
		memcpy(held + nheld, line, len);
		nheld += len;
	}
	progress_stands = false;
	errno = saved;
}

void say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_line(fmt, args);
	va_end(args);
}

int complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_line(fmt, args);
	va_end(args);
	return -1;
}

/* One column less than the terminal has: a character in the last column makes some terminals wrap,
 * and \r then returns to the wrong line. */
static size_t progress_columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 79;
	return size.ws_col - 1;
}

void say_progress(const char *line)
{
	char safe[LINE_BYTES], whole[sizeof(safe) + 8];
	int saved = errno, len;

	if (*line || progress_stands) {
		escape_text(line, SIZE_MAX, safe, sizeof(safe));
		len = snprintf(whole, sizeof(whole), "\r%.*s" ERASE_TO_END,
			       (int)text_fit(safe, progress_columns()), safe);
		put(whole, len, 0);
	}
	progress_stands = *line;
	errno = saved;
}
