/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads facts for the checks: numbers, CPU lists and masks, kernel parameters, threads. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/units.h"
#include "model/isolation.h"
#include "model/place.h"

const char *text_of(const struct audit *a, const char *name)
{
	return facts_text(a->facts, name);
}

const char *begin_of(const struct audit *a, const char *name)
{
	const struct fact *x = facts_find(a->facts, name);

	return x && (!x->err || x->err == FACT_TOO_LONG) ? x->text : NULL;
}

bool all_kept(struct audit *a, const char *glob)
{
	const struct fact *x = facts_find(a->facts, glob);
	bool cut = x && x->err == FACT_NOT_KEPT;

	if (cut)
		a->cut = x->name;
	return !cut;
}

const struct fact *next_of(struct audit *a, const char *glob, const struct fact *after)
{
	const struct fact *x = facts_next(a->facts, glob, after);

	if (!x)
		all_kept(a, glob);
	return x;
}

void first_line(const char *text, char *line, size_t len)
{
	size_t n = strcspn(text, "\n");

	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	snprintf(line, len, "%.*s", (int)(n < len ? n : len - 1), text);
}

bool number_of(const struct audit *a, const char *name, long long *n)
{
	const char *text = text_of(a, name);
	char *end;

	if (!text)
		return false;
	errno = 0;
	*n = strtoll(text, &end, 10);
	return end != text && !errno && !end[strspn(end, " \t\n")];
}

bool list_of(const struct audit *a, const char *name, struct cpus *set)
{
	const char *text = text_of(a, name);
	char why[128];

	cpus_clear(set);
	if (!text)
		return false;
	/* "(null)": the mask was never allocated (lib/vsprintf.c: bitmap of a NULL pointer). */
	return !strncmp(text, "(null)", 6) || !cpus_parse(text, set, why, sizeof(why));
}

bool mask_of(const struct audit *a, const char *name, struct cpus *set)
{
	const char *text = text_of(a, name);

	cpus_clear(set);
	return text && cpus_parse_mask(text, set);
}

bool kernel_from(const struct audit *a, int major, int minor)
{
	const char *release = text_of(a, "proc/sys/kernel/osrelease");
	int x, y;

	return release && sscanf(release, "%5d.%5d", &x, &y) == 2 &&
	       (x > major || (x == major && y >= minor));
}

bool may_be_x86(const struct audit *a)
{
	const char *text = begin_of(a, "proc/cpuinfo");

	/* all CPUs of x86 have flags, none elsewhere */
	return !text || strstr(text, "\nflags");
}

bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || isspace((unsigned char)at[-1])) &&
		    (!at[len] || isspace((unsigned char)at[len])))
			return true;
	return false;
}

bool parameter(const struct audit *a, const char *name, char *val, size_t len)
{
	const char *at = text_of(a, "proc/cmdline");
	size_t n = strlen(name);
	bool given = false;

	val[0] = 0;
	while (at && *at) {
		size_t word;

		at += strspn(at, " \n");
		word = strcspn(at, " \n");
		if (word == 2 && !strncmp(at, "--", 2)) /* the rest is for init */
			break;
		if (word >= n && !strncmp(at, name, n) && (at[n] == '=' || word == n)) {
			size_t from = word == n ? n : n + 1;

			snprintf(val, len, "%.*s", (int)(word - from), at + from);
			given = true;
		}
		at += word;
	}
	return given;
}

bool kconfig(const struct audit *a, const char *option, char *val, size_t len)
{
	const char *text = text_of(a, "run/kconfig");
	char set[80], unset[80];
	size_t n;

	if (!text || !*text)
		return false;
	n = snprintf(set, sizeof(set), "CONFIG_%s=", option);
	snprintf(unset, sizeof(unset), "# CONFIG_%s is not set", option);
	snprintf(val, len, "n");
	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (!strncmp(text, set, n))
			first_line(text + n, val, len);
	return true;
}

bool isolated_now(const struct audit *a, struct cpus *set)
{
	struct isolation i;

	isolation_of(a->facts, &i);
	*set = i.all;
	return i.boot_known;
}

struct cpus quiet_now(const struct audit *a)
{
	struct isolation i;

	isolation_of(a->facts, &i);
	return i.quiet;
}

bool has_others(const struct audit *a)
{
	return !cpus_cover(&a->targets, &a->online);
}

struct cpus audit_others(const struct facts *facts, const struct cpus *targets)
{
	const struct audit a = {.facts = facts};
	const struct cpus quiet = quiet_now(&a);
	struct cpus online;

	audit_online(facts, &online);
	return place_others(&online, targets, &quiet);
}

unsigned long long sum_of_targets(const struct audit *a, const char *at)
{
	const struct cpus *all = &a->possible;
	unsigned long long sum = 0;

	for (int cpu = cpus_next(all, 0); cpu >= 0; cpu = cpus_next(all, cpu + 1)) {
		at += strspn(at, " ,");
		if (!isdigit((unsigned char)*at))
			break;
		if (cpus_has(&a->targets, cpu))
			sum += strtoull(at, NULL, 10);
		at += strspn(at, "0123456789");
	}
	return sum;
}

bool cpu_number(const struct audit *a, unsigned cpu, const char *path, long long *n)
{
	char name[256];

	snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/%s", cpu, path);
	return number_of(a, name, n);
}

const char *cpu_text(const struct audit *a, unsigned cpu, const char *path, char *line, size_t len)
{
	char name[256];
	const char *text;

	snprintf(name, sizeof(name), "sys/devices/system/cpu/cpu%u/%s", cpu, path);
	text = text_of(a, name);
	first_line(text ? text : "", line, len);
	return text ? line : NULL;
}

/* ---- sets ---- */

bool meets(const struct cpus *a, const struct cpus *b)
{
	struct cpus both = *a;

	cpus_and(&both, b);
	return !cpus_empty(&both);
}

struct cpus without(const struct cpus *all, const struct cpus *part)
{
	struct cpus rest = *all;

	cpus_sub(&rest, part);
	return rest;
}

bool one_number(const char *name, const char *prefix, unsigned *n)
{
	size_t len = strlen(prefix);
	char *end;

	if (strncmp(name, prefix, len) || !isdigit((unsigned char)name[len]))
		return false;
	*n = strtoul(name + len, &end, 10);
	return !*end || *end == '/';
}

/* ---- threads ---- */

bool need_tasks(struct audit *a)
{
	all_kept(a, "run/tasks/0*");
	if (text_of(a, "run/tasks/0000"))
		return true;
	if (a->cut) /* audit() says so */
		return false;
	struct finding *f = info(a, "threads: not known");

	if (f)
		f->known = false;
	value(f, "/proc could not be read");
	return false;
}

/* The CPUs of a list of so many bytes. False: it is none. */
static bool parse_allowed(struct task_walk *w, const char *list, size_t len, struct cpus *to)
{
	char allowed[CPUS_LIST], why[128];

	if (!w->list || w->list_len != len || memcmp(w->list, list, len) != 0) {
		snprintf(allowed, sizeof(allowed), "%.*s", (int)len, list);
		w->list = NULL;
		if (len >= sizeof(allowed) || cpus_parse(allowed, &w->allowed, why, sizeof(why)))
			return false;
		w->list = list;
		w->list_len = len;
	}
	*to = w->allowed;
	return true;
}

static bool parse_task(struct task_walk *w, const char *line, size_t len, struct task *t)
{
	char head[128];
	const char *blank, *end = line + len;
	int list = 0;

	/* on a copy, because sscanf would look for the end of all lines */
	snprintf(head, sizeof(head), "%.*s", (int)len, line);
	if (sscanf(head, "%u %u %c %x %u %u %u %n", &t->tid, &t->tgid, &t->state, &t->flags,
		   &t->cpu, &t->policy, &t->priority, &list) != 7 ||
	    !list || (size_t)list >= len)
		return false;
	line += list;
	blank = memchr(line, ' ', end - line);
	if (!blank || blank == line || !parse_allowed(w, line, blank - line, &t->allowed))
		return false;
	t->comm = blank + 1;
	t->comm_len = end - t->comm;
	return true;
}

bool next_task(const struct audit *a, struct task_walk *w, struct task *t)
{
	for (;;) {
		while (!w->at || !*w->at) {
			w->fact = facts_next(a->facts, "run/tasks/0*", w->fact);
			if (!w->fact)
				return false;
			w->at = w->fact->err ? NULL : w->fact->text;
		}
		const char *line = w->at;
		size_t len = strcspn(line, "\n");

		w->at = line + len + (line[len] == '\n');
		if (parse_task(w, line, len, t))
			return true;
	}
}

bool comm_is(const struct task *t, const char *name)
{
	return t->comm_len == strlen(name) && !memcmp(t->comm, name, t->comm_len);
}

bool comm_begins(const struct task *t, const char *prefix)
{
	return t->comm_len >= strlen(prefix) && !memcmp(t->comm, prefix, strlen(prefix));
}

bool runs_as_root(const struct audit *a, const struct task *t)
{
	const char *root = text_of(a, "run/root");
	char number[16];

	snprintf(number, sizeof(number), "%u", t->tgid);
	return !root || has_word(root, number);
}

bool has_own(const struct task *t, const struct cpus *targets, const struct cpus *online,
	     const struct cpus *quiet, struct cpus *rest)
{
	*rest = without(&t->allowed, targets);
	cpus_and(rest, online);
	return !(t->flags & TASK_KTHREAD) && !cpus_empty(rest) && cpus_cover(quiet, rest);
}

void check_kernel_threads(struct audit *a, bool (*is_meant)(const struct task *t), const char *what,
			  const char *fine)
{
	struct task_walk w = {0};
	struct naming names = {0};
	struct text list = {.audit = a}, back = {.audit = a};
	struct finding *f;
	struct task t;

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t)) {
		if (!(t.flags & TASK_KTHREAD) || (t.flags & TASK_BOUND) || !is_meant(&t) ||
		    !meets(&t.allowed, &a->targets))
			continue;
		name_add(&names, t.comm, t.comm_len);
		thread_fix(&t, &list, &back);
	}
	if (!names.count) {
		found_ok(a, fine);
		return;
	}
	f = warn(a, "%u %s thread%s may run on %s: %s", names.count, what, plural(names.count),
		 a->whose, name_list(&names));
	if (f)
		f->cpus = a->targets;
	threads_move(a, f, &list, &back);
}
