/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in a sentence, and commands: for one file, and growing ones for many. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"

#define NAMES_SHOWN 6

void name_add(struct naming *n, const char *name, size_t len)
{
	size_t have = strlen(n->text);
	char word[128];

	n->count++;
	snprintf(word, sizeof(word), "%s%.*s", have ? ", " : "", (int)len, name);
	for (const char *at = n->text; have && (at = strstr(at, word + 2)); at++)
		if ((at == n->text || at[-1] == ' ') &&
		    (!at[strlen(word + 2)] || at[strlen(word + 2)] == ','))
			return;
	if (n->shown++ < NAMES_SHOWN)
		snprintf(n->text + have, sizeof(n->text) - have, "%s", word);
}

const char *name_list(struct naming *n)
{
	size_t have = strlen(n->text);

	if (n->shown > NAMES_SHOWN)
		snprintf(n->text + have, sizeof(n->text) - have, " and others");
	return n->text;
}

/* ---- growing texts ---- */

#define TEXT_FIRST 256 /* bytes */
/* Most bytes of one: so many, and a multiple of the facts' own. A short list of CPUs may stand for
 * one of 20 kB, in a command for each of many threads. */
#define TEXT_LEAST 1048576
#define TEXT_TIMES 8

static void text_lose(struct text *t)
{
	free(t->at);
	*t = (struct text){.audit = t->audit, .too_long = t->too_long};
}

/* Makes room for len bytes more and a NUL. It doubles, so that a text of many parts is not copied
 * for each of them. */
static bool text_grow(struct text *t, size_t len)
{
	size_t room = t->room ? t->room : TEXT_FIRST;
	char *more;

	while (room - t->len <= len)
		room *= 2;
	more = room == t->room ? t->at : realloc(t->at, room);
	if (!more)
		return false;
	t->at = more;
	t->room = room;
	return true;
}

void text_add(struct text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	t->too_long |= t->len + n > TEXT_LEAST + TEXT_TIMES * t->audit->facts->bytes;
	t->audit->short_of_memory |= n < 0 || (!t->too_long && !text_grow(t, n));
	if (t->audit->short_of_memory || t->too_long) {
		text_lose(t);
		return;
	}
	va_start(args, fmt);
	vsnprintf(t->at + t->len, n + 1, fmt, args);
	va_end(args);
	t->len += n;
}

#define SEQUENCE_MIN 4 /* consecutive numbers that become one word */

void words_end(struct number_words *w)
{
	if (w->some && w->last - w->first + 1 >= SEQUENCE_MIN)
		text_add(&w->text, " $(seq %u %u)", w->first, w->last);
	else
		for (unsigned i = w->first; w->some && i <= w->last; i++)
			text_add(&w->text, " %u", i);
	w->some = false;
}

void words_add(struct number_words *w, unsigned number)
{
	if (w->some && number == w->last + 1) {
		w->last = number;
		return;
	}
	words_end(w);
	w->first = w->last = number;
	w->some = true;
}

/* ---- commands ---- */

void on_each(struct text *to, const char *cpus, const char *text, const char *file)
{
	text_add(to, "%s", to->len ? "; " : "");
	if (strchr(cpus + 1, ' '))
		text_add(to,
			 "for i in%s; do echo %s > /"
			 "sys/devices/system/cpu/"
			 "cpu$i/%s; done",
			 cpus, text, file);
	else
		text_add(to,
			 "echo %s > /"
			 "sys/devices/system/cpu/"
			 "cpu%s/%s",
			 text, cpus + 1, file);
}

static bool sysctl_key(const char *name, char *key, size_t len)
{
	static const char prefix[] = "proc/sys/";

	if (strncmp(name, prefix, sizeof(prefix) - 1) || strchr(name, '.') || strlen(name) >= len)
		return false;
	snprintf(key, len, "%s", name + sizeof(prefix) - 1);
	for (char *c = key; *c; c++)
		*c = *c == '/' ? '.' : *c;
	return true;
}

void write_fix(struct audit *a, struct finding *f, const char *name, const char *text)
{
	write_fix_asked(a, f, name, text, name);
}

void write_fix_asked(struct audit *a, struct finding *f, const char *name, const char *text,
		     const char *asked)
{
	const char *now = facts_text(a->facts, asked);
	char path[FACT_NAME_MAX + 8], slashed[FACT_NAME_MAX + 2], key[128], old[2 * CPUS_LIST],
		line[2 * CPUS_LIST];

	snprintf(slashed, sizeof(slashed), "/%s", name);
	if (!f || !shell_quote(slashed, path, sizeof(path)))
		return;
	first_line(now ? now : "", line, sizeof(line));
	/* "always [madvise] never": the undo writes the chosen word back. */
	if (strchr(line, '[') && strchr(strchr(line, '['), ']')) {
		char *from = strchr(line, '[') + 1;

		*strchr(from, ']') = 0;
		memmove(line, from, strlen(from) + 1);
	}
	if (!now || strcspn(now, "\n") >= sizeof(line) || !shell_quote(line, old, sizeof(old)))
		old[0] = 0;
	if (sysctl_key(name, key, sizeof(key))) {
		command(f, "sysctl -w %s=%s", key, text);
		if (old[0])
			undo(f, "sysctl -w %s=%s", key, old);
	} else {
		command(f, "echo %s > %s", text, path);
		if (old[0])
			undo(f, "echo %s > %s", old, path);
	}
	a->short_of_memory |= !f->fix || (old[0] && !f->undo);
}

void join_fixes(struct text *fix, struct text *back, struct finding *one)
{
	if (one->fix)
		text_add(fix, "%s%s", fix->len ? "; " : "", one->fix);
	if (one->undo)
		text_add(back, "%s%s", back->len ? "; " : "", one->undo);
	free(one->fix);
	free(one->undo);
}

void fix_take(struct finding *f, struct text *fix, struct text *back)
{
	bool too_long = fix->too_long || back->too_long;

	if (f && too_long)
		words(f, "its commands would be too long to list here");
	if (f && fix->len && !too_long) {
		free(f->fix);
		free(f->undo);
		f->fix = fix->at;
		f->undo = back->at;
		f->fix_kind = FIX_COMMAND;
	} else {
		free(fix->at);
		free(back->at);
	}
	fix->at = back->at = NULL;
}

/* ---- threads ---- */

/* Most threads have one list, which is written once, and then copied. */
void thread_bind(const struct task *t, const struct cpus *to, struct text *commands)
{
	static const char before[] = "; taskset -pc ";
	size_t len = commands->len, skip = len ? 0 : 2;
	char list[CPUS_LIST];

	if (commands->too_long)
		return;
	if (commands->list_len && !memcmp(&commands->last, to, sizeof(*to)))
		snprintf(list, sizeof(list), "%.*s", (int)commands->list_len,
			 commands->at + commands->list_at);
	else
		cpus_format(to, list, sizeof(list));
	text_add(commands, "%s%s %u", before + skip, list, t->tid);
	if (commands->len <= len)
		return;
	commands->last = *to;
	commands->list_at = len + strlen(before) - skip;
	commands->list_len = strlen(list);
}

void thread_fix(const struct task *t, struct text *list, struct text *back)
{
	text_add(list, " %u", t->tid);
	thread_bind(t, &t->allowed, back);
}

void threads_move(struct audit *a, struct finding *f, struct text *list, struct text *back)
{
	struct text move = {.audit = a, .too_long = list->too_long};

	good(f, "bound to cpu %s", a->keep);
	if (list->len)
		text_add(&move, "for t in%s; do taskset -pc %s $t; done", list->at, a->keep);
	fix_take(f, &move, back);
	free(list->at);
}
