/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "audit/audit.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/book.h"
#include "audit/checks.h"
#include "audit/remedy.h"
#include "base/begins.h"
#include "base/escape.h"
#include "base/units.h"

/* ---- findings ---- */

struct finding *found(struct audit *a, enum finding_level level, const char *title, ...)
{
	struct finding *f = findings_add(a->out, a->check->id, level);
	char text[1024];
	va_list args;

	if (!f) {
		a->short_of_memory = true;
		return NULL;
	}
	va_start(args, title);
	vsnprintf(text, sizeof(text), title, args);
	va_end(args);
	f->cause = a->check->cause;
	f->title = strdup(text);
	return f;
}

struct finding *found_ok(struct audit *a, const char *title)
{
	return a->cut ? NULL : found(a, FINDING_OK, "%s", title);
}

/* A finding that memory did not suffice for has no title: audit() looks at these. */
static void lose(struct finding *f, char **field)
{
	*field = NULL;
	free(f->title);
	f->title = NULL;
}

#define TEXT_SETTER(name, field, more)                                                             \
	void name(struct finding *f, const char *fmt, ...)                                         \
	{                                                                                          \
		va_list args;                                                                      \
                                                                                                   \
		if (!f)                                                                            \
			return;                                                                    \
		free(f->field);                                                                    \
		va_start(args, fmt);                                                               \
		if (vasprintf(&f->field, fmt, args) < 0)                                           \
			lose(f, &f->field);                                                        \
		va_end(args);                                                                      \
		more;                                                                              \
	}

TEXT_SETTER(value, value, )
TEXT_SETTER(good, good, )
TEXT_SETTER(words, fix, f->fix_kind = FIX_WORDS)
TEXT_SETTER(boot, fix, f->fix_kind = FIX_BOOT)
TEXT_SETTER(command, fix, f->fix_kind = FIX_COMMAND)
TEXT_SETTER(undo, undo, )

/* ---- unknown facts ---- */

static const char *why_silent(const struct audit *a, const char *name)
{
	static const struct {
		const char *below, *type, *why;
	} mounts[] = {
		{"sys/kernel/debug/", "debugfs", "debugfs is not mounted at /sys/kernel/debug"},
		{"sys/kernel/tracing/", "tracefs", "tracefs is not mounted at /sys/kernel/tracing"},
		{"sys/kernel/security/", "securityfs",
		 "securityfs is not mounted at /sys/kernel/security"},
	};
	const char *mounted = facts_text(a->facts, "proc/mounts");

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		if (!begins(name, mounts[i].below))
			continue;
		if (!mounted)
			return "it is not known whether its file system is mounted";
		return has_word(mounted, mounts[i].type) ? NULL : mounts[i].why;
	}
	return NULL;
}

void unknown(struct audit *a, const char *what, const char *name)
{
	const struct fact *fact = facts_find(a->facts, name);
	bool derived; /* exists on every machine */
	struct finding *f;
	const char *why;

	/* The directory above may be what could not be read. */
	for (const char *slash = name; !fact && (slash = strchr(slash, '/')); slash++) {
		char above[FACT_NAME_MAX];

		snprintf(above, sizeof(above), "%.*s/", (int)(slash - name), name);
		fact = facts_find(a->facts, above);
		if (!fact && slash[1]) {
			above[slash - name] = 0;
			fact = facts_find(a->facts, above);
		}
	}
	if (!fact)
		fact = a->cut ? facts_find(a->facts, a->cut) : facts_not_kept(a->facts, name);
	name = fact && fact->err == FACT_NOT_KEPT ? fact->name : name;
	derived = !strncmp(name, "run/", 4);
	why = (!fact || fact->err == -ENOENT) ? why_silent(a, name) : NULL;
	if (!why && !derived && (!fact || fact->err == -ENOENT)) {
		f = found(a, FINDING_OK, "%s: not in this kernel", what);
		value(f, "absent");
		return;
	}
	a->cut = NULL; /* this says it */
	f = info(a, "%s: not known", what);
	if (f)
		f->known = false;
	if (why)
		value(f, "%s", why);
	else if (!fact)
		value(f, "nobody looked");
	else if (fact->err == FACT_NOT_TAKEN)
		value(f, "reading /%s disturbs the CPUs; --deep reads it", name);
	else if (fact->err == FACT_NOT_KEPT)
		value(f, "%s%s: too much to keep", derived ? "" : "/", name + (derived ? 4 : 0));
	else if (fact->err == FACT_FOREIGN)
		value(f, "/%s here may be of another network namespace than the machine's", name);
	else if (fact->err)
		value(f, "%s%s: %s", derived ? "" : "/", name + (derived ? 4 : 0),
		      strerror(-fact->err));
	else
		value(f, "/%s holds something else than expected", name);
}

/* ---- knobs ---- */

static void unknown_file(struct audit *a, const char *name)
{
	char path[FACT_NAME_MAX + 1];

	snprintf(path, sizeof(path), "/%s", name);
	unknown(a, path, name);
}

void check_knob(struct audit *a)
{
	const struct knob_check *k = a->check->knob;
	const char *text = text_of(a, k->name);
	char line[128], word[64] = "";
	struct finding *f;
	long long n = 0;
	bool bad;

	if (!text || (k->test != BAD_WORD && !number_of(a, k->name, &n))) {
		unknown_file(a, k->name);
		return;
	}
	first_line(text, line, sizeof(line));
	if (sscanf(strchr(line, '[') ? strchr(line, '[') : line, "[%63[^]]", word) != 1)
		snprintf(word, sizeof(word), "%.63s", line);
	bad = k->test == GOOD_IS     ? n != k->limit
	      : k->test == GOOD_FROM ? n < k->limit
				     : !strcmp(word, k->bad);
	if (!bad) {
		value(found_ok(a, k->fine), "%s", word);
		return;
	}
	f = found(a, k->level, "%s", k->title);
	if (f)
		f->only = k->only;
	value(f, "%s is %s", strrchr(k->name, '/') + 1, word);
	if (k->test == BAD_WORD)
		good(f, k->set ? "%s" : "not %s", k->set ? k->set : k->bad);
	else
		good(f, k->test == GOOD_IS ? "%lld" : "%lld or more", k->limit);
	if (k->set)
		write_fix(a, f, k->name, k->set);
	else if (k->words)
		words(f, "%s", k->words);
}

void check_mask(struct audit *a, const char *name, const char *title, const char *fine)
{
	struct cpus set;
	char list[CPUS_LIST];
	struct finding *f;

	if (!mask_of(a, name, &set)) {
		unknown_file(a, name);
		return;
	}
	if (!meets(&set, &a->targets)) {
		found_ok(a, fine);
		return;
	}
	f = warn(a, "%s %s", title, a->whose);
	value(f, "cpu %s", cpus_format(&set, list, sizeof(list)));
	good(f, "cpu %s", a->keep);
	write_fix(a, f, name, a->keep_mask);
}

/* ---- fixes that cannot work ---- */

/* Stands for the list and the mask of housekeeping CPUs when there are none: a command with it is
 * never printed. */
#define NOBODY "\001"

static void no_fix(struct finding *f, const char *why)
{
	free(f->undo);
	f->undo = NULL;
	words(f, "%s", why);
}

/* Corrects fixes that need another CPU when all are to be quiet, and boot parameters that this
 * kernel does not have; and takes away causes that x86 alone has, of which there are none here. */
static void mend_fixes(struct audit *a)
{
	bool somebody_left = has_others(a);

	for (uint32_t i = 0; i < a->out->count; i++) {
		struct finding *f = &a->out->row[i];
		int first = cpus_next(&f->cpus, 0);
		struct conditions here =
			conditions_at(&a->here, cpus_count(&f->cpus) == 1 ? first : -1);
		const char *why = f->fix && f->fix_kind == FIX_BOOT
					  ? boot_refused(f->fix, &here, somebody_left)
					  : NULL;

		if (!a->x86 && f->cause && cause_is_x86(cause_by_id(f->cause)))
			f->cause = NULL;
		if (f->good && strstr(f->good, NOBODY)) {
			free(f->good);
			f->good = NULL;
		}
		if (f->fix && strstr(f->fix, NOBODY))
			why = nobody_left(&a->here, &a->targets);
		if (why)
			no_fix(f, why);
		else if (f->fix && f->fix_kind == FIX_BOOT &&
			 boot_replaced(a->facts, f->fix, &f->replaced))
			a->short_of_memory = true;
		for (uint32_t k = 0; k < f->list.count; k++)
			if (f->list.row[k].fix && strstr(f->list.row[k].fix, NOBODY)) {
				free(f->list.row[k].fix);
				f->list.row[k].fix = NULL;
			}
	}
}

/* The book's words behind the command that writes this file back, " # ..."; NULL: none. */
static const char *book_note(const char *undo)
{
	for (const struct cause *c = causes; c->id; c++) {
		const char *note = c->undo ? strstr(c->undo, " # ") : NULL;
		const char *file = note ? strstr(c->undo, "> /") : NULL, *cpu;
		char path[128];

		if (!file || file > note)
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)(note - file - 2), file + 2);
		cpu = strchr(path, '}'); /* behind the CPU's number all are alike */
		if (strstr(undo, cpu ? cpu + 1 : path))
			return note;
	}
	return NULL;
}

/* Adds to undo lines what they do not bring back. */
static void add_notes(struct audit *a)
{
	for (uint32_t i = 0; i < a->out->count; i++) {
		struct finding *f = &a->out->row[i];
		const char *note = f->undo ? book_note(f->undo) : NULL;
		struct text undo = {.audit = a};

		if (!note)
			continue;
		text_add(&undo, "%s%s", f->undo, note);
		if (!undo.at)
			continue;
		free(f->undo);
		f->undo = undo.at;
	}
}

/* ---- the whole audit ---- */

void audit_online(const struct facts *facts, struct cpus *online)
{
	const char *text = facts_text(facts, "sys/devices/system/cpu/online");
	char why[128];

	cpus_clear(online);
	if (text)
		cpus_parse(text, online, why, sizeof(why));
}

void audit_default_targets(const struct facts *facts, struct cpus *targets)
{
	struct audit a = {.facts = facts};
	struct cpus online;
	int lowest;

	audit_online(facts, &online);
	cpus_clear(targets);
	isolated_now(&a, targets);
	cpus_and(targets, &online);
	if (!cpus_empty(targets))
		return;
	*targets = online;
	lowest = cpus_next(targets, 0);
	if (lowest >= 0)
		cpus_del(targets, lowest);
}

static bool has_realtime_task(const struct audit *a)
{
	struct task_walk w = {0};
	struct task t;

	while (next_task(a, &w, &t))
		if (!(t.flags & TASK_KTHREAD) && (t.policy == 1 || t.policy == 2) &&
		    cpus_cover(&a->targets, &t.allowed))
			return true;
	return false;
}

static void run_check(struct audit *a)
{
	a->cut = NULL;
	a->check->run(a);
	if (a->cut)
		unknown(a, a->check->id, a->cut);
}

int audit(const struct facts *facts, const struct audit_options *o, struct findings *out)
{
	static const struct check *const tables[] = {
		checks_isolation,  checks_interrupts, checks_steering,  checks_tasks,
		checks_workqueues, checks_memory,     checks_scheduler, checks_system,
		checks_hardware,   checks_power};
	struct audit *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	*a = (struct audit){.facts = facts, .out = out, .targets = o->targets};
	a->here = conditions_of(facts, NULL);
	a->online = a->here.online;
	list_of(a, "sys/devices/system/cpu/possible", &a->possible);
	a->housekeeping = audit_others(facts, &a->targets);
	cpus_format(&a->targets, a->cpus, sizeof(a->cpus));
	cpus_format(&a->housekeeping, a->keep, sizeof(a->keep));
	cpus_format_mask(&a->housekeeping, a->keep_mask, sizeof(a->keep_mask));
	if (cpus_empty(&a->housekeeping)) {
		snprintf(a->keep, sizeof(a->keep), NOBODY);
		snprintf(a->keep_mask, sizeof(a->keep_mask), NOBODY);
	}
	snprintf(a->whose, sizeof(a->whose), "cpu%s %s", plural(cpus_count(&a->targets)), a->cpus);
	a->realtime = o->realtime || has_realtime_task(a);
	a->x86 = may_be_x86(a);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (a->check = tables[i]; a->check->id; a->check++)
			if (a->x86 || !a->check->x86)
				run_check(a);
	mend_fixes(a);
	add_notes(a);
	findings_rank(out);
	for (uint32_t i = 0; i < out->count; i++)
		a->short_of_memory |= !out->row[i].title;
	int err = a->short_of_memory ? -ENOMEM : 0;

	free(a);
	return err;
}
