/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages to the user, and the one progress line on the same terminal. Each message is built in
 * memory and written by one call, so that lines of several processes do not mix. The texts quote
 * the user and the machine (paths, names, arguments); escaping the finished line covers all of it,
 * even if a caller forgot. The only state is whether a progress line stands on the terminal. */
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

#define LINE_BYTES   4096
#define ERASE_TO_END "\033[K"

static bool progress_stands;

__attribute__((format(printf, 1, 0))) static void say_line(const char *fmt, va_list args)
{
	char text[LINE_BYTES], safe[4 * LINE_BYTES];
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
	fprintf(stderr, "%sculprit: %s\n", progress_stands ? "\r" ERASE_TO_END : "", safe);
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
	char safe[LINE_BYTES];
	int saved = errno;

	if (*line || progress_stands) {
		escape_text(line, SIZE_MAX, safe, sizeof(safe));
		fprintf(stderr, "\r%.*s" ERASE_TO_END, (int)text_fit(safe, progress_columns()),
			safe);
	}
	progress_stands = *line;
	errno = saved;
}
