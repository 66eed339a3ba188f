/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/begins.h"

/* Copies what can stand in a line. */
static void plain(char *to, size_t room, const char *from)
{
	size_t n = 0;

	for (; from[n] && n < room - 1; n++)
		to[n] = from[n] == '\t' || from[n] == '\n' ? '?' : from[n];
	to[n] = 0;
}

size_t calls_add(char text[CALLS_TEXT], size_t len, const struct call *c)
{
	char name[CALLS_NAME], file[CALLS_FILE], build[CALLS_BUILD], line[CALLS_LINE];
	int more;

	plain(name, sizeof(name), c->name);
	plain(file, sizeof(file), c->file);
	plain(build, sizeof(build), c->build);
	plain(line, sizeof(line), c->line);
	if (c->gap)
		more = snprintf(text + len, CALLS_TEXT - len, "?\n");
	else
		more = snprintf(text + len, CALLS_TEXT - len, "%s\t%s\t%" PRIx64 "\t%s%s%s\n", name,
				file, c->offset, build, *line ? "\t" : "", line);
	if (more < 0 || (size_t)more >= CALLS_TEXT - len) {
		text[len] = 0;
		return len;
	}
	return len + more;
}

/* Copies up to one of the two ends, and moves behind it; false: it was the line's. */
static bool field(const char **text, char *to, size_t room)
{
	size_t n = strcspn(*text, "\t\n"), kept = n < room ? n : room - 1;
	char end = (*text)[n];

	memcpy(to, *text, kept);
	to[kept] = 0;
	*text += n + (end == '\t');
	return end == '\t';
}

bool calls_next(const char **text, struct call *c)
{
	char number[20] = "";
	bool more;

	memset(c, 0, sizeof(*c));
	if (!*text || !**text)
		return false;
	more = field(text, c->name, sizeof(c->name));
	c->gap = !more;
	more = more && field(text, c->file, sizeof(c->file));
	more = more && field(text, number, sizeof(number));
	more = more && field(text, c->build, sizeof(c->build));
	if (more)
		field(text, c->line, sizeof(c->line));
	c->offset = strtoull(number, NULL, 16);
	*text += strcspn(*text, "\n");
	*text += **text == '\n';
	if (c->gap)
		c->name[0] = 0;
	return true;
}

char *calls_frame(const struct call *c, char buf[CALLS_FRAME])
{
	const char *base = strrchr(c->file, '/');

	base = base && base[1] ? base + 1 : c->file;
	if (c->gap)
		strcpy(buf, "?");
	else if (c->name[0])
		snprintf(buf, CALLS_FRAME, "%s", c->name);
	else if (*base)
		snprintf(buf, CALLS_FRAME, "%s+%#" PRIx64, base, c->offset);
	else
		strcpy(buf, "[no file]");
	return buf;
}

const char *calls_line(const struct call *c)
{
	const char *base = strrchr(c->line, '/');

	return base ? base + 1 : c->line;
}

/* Name of the system call by the kernel's function for it; NULL: it is none. */
static const char *call_of(const char *frame)
{
	static const char *const entries[] = {"__x64_sys_", "__arm64_sys_", "__se_sys_",
					      "__do_sys_"};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (begins(frame, entries[i]))
			return frame + strlen(entries[i]);
	return NULL;
}

/* Calls from the innermost outwards, up to main, and the line of the first that has one. Returns
 * how many; *more: there are others. */
struct shown {
	char frame[CALLS_FRAME], line[CALLS_LINE];
};

static int read_calls(const char *text, const char *call, struct shown *shown, bool *more)
{
	bool has_line = false;
	struct call c;
	int n = 0;

	*more = false;
	while (calls_next(&text, &c)) {
		/* the C library's function of that name */
		if (!n && call && !strcmp(c.name, call))
			continue;
		if (n == CALLS_SHOWN) {
			*more = true;
			break;
		}
		calls_frame(&c, shown[n].frame);
		strcpy(shown[n++].line, has_line ? "" : calls_line(&c));
		has_line |= c.line[0];
		if (!strcmp(c.name, "main"))
			break;
	}
	return n;
}

char *calls_way(const struct asker_row *r, char buf[CALLS_WAY])
{
	struct shown shown[CALLS_SHOWN];
	const char *call = NULL;
	size_t len = 0;
	bool more;
	int n;

	buf[0] = 0;
	for (int i = r->nframes; r->who.calls && i-- > 0 && !call;)
		call = call_of(r->frame[i]);
	n = read_calls(r->who.calls, call, shown, &more);
	if (more)
		len = sprintf(buf, "...");
	while (n-- > 0) {
		const struct shown *s = &shown[n];

		len += sprintf(buf + len, "%s%s%s%s%s", len ? " > " : "", s->frame,
			       s->line[0] ? " (" : "", s->line, s->line[0] ? ")" : "");
	}
	if (call && len)
		len += snprintf(buf + len, CALLS_WAY - len, " > %.64s()", call);
	if (r->who.function && !(call && len && call_of(r->who.function)))
		snprintf(buf + len, CALLS_WAY - len, "%s%s", len ? " > " : "", r->who.function);
	return buf;
}
