/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Leads from a report's spelling of a name to the book's entry. A row of a report says more than a
 * bare function: it says what ran the function. When the book does not know the function, the kind
 * of thing is known at least, and the answer is the entry on that kind, marked as such. */
#include "audit/meaning.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARROW " > "

bool cause_is_family(const struct cause *c)
{
	return c->id[0] == 'G';
}

const struct cause *cause_family(const char *kind)
{
	return cause_match("family", kind);
}

/* ---- the spelling ---- */

static void trim(char *text)
{
	size_t n = strlen(text), lead = strspn(text, " \t\n");

	while (n > lead && isspace((unsigned char)text[n - 1]))
		n--;
	memmove(text, text + lead, n - lead);
	text[n - lead] = 0;
}

/* Cuts off "<open>123<close>" at the end of text and returns the number; -1: there is none. */
static long cut_number(char *text, const char *open, char close)
{
	size_t n = strlen(text);
	char *at = NULL, *end;
	long number;

	if (!n || text[n - 1] != close)
		return -1;
	for (char *next = text; (next = strstr(next, open)); next++)
		at = next;
	if (!at || !isdigit((unsigned char)at[strlen(open)]))
		return -1;
	number = strtol(at + strlen(open), &end, 10);
	if (*end != close || end[1])
		return -1;
	*at = 0;
	return number;
}

/* Returns what follows the first len bytes of a word and a blank; NULL: the name does not begin so.
 */
static const char *behind(const char *name, const char *word, size_t len)
{
	return !strncmp(name, word, len) && name[len] == ' ' && name[len + 1] ? name + len + 1
									      : NULL;
}

static bool is_exit(const char *who)
{
	return behind(who, "exit", 4);
}

/* Skips a word of the report's column "kind", or one with which the verdict begins a name, as the
 * "host:" of a guest's report. For an interrupt both name its number: see spell_irq(). The names of
 * exits begin with their kind. */
static const char *skip_kind(const char *name)
{
	static const char *const words[] = {"the thread", "the kernel thread", "the user thread",
					    "user thread", "edge"};
	const char *rest = word_of(name) ? NULL : behind(name, "host:", 5);

	name = rest ? rest : name;
	if (is_exit(name) && !is_exit(name + 5 + strspn(name + 5, " ")))
		return name;
	rest = NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && !rest; i++)
		rest = behind(name, words[i], strlen(words[i]));
	for (enum source_kind k = 0; k < SOURCE_KINDS && !rest; k++) {
		const char *noun = kind_of(k)->noun, *word = source_kind_name(k);

		if (k != SOURCE_IRQ)
			rest = behind(name, word, strlen(word));
		if (!rest && noun && strstr(noun, " %s"))
			rest = behind(name, noun, strlen(noun) - strlen(" %s"));
	}
	return rest ? rest : name;
}

/* "irq 36", "IRQ 36 (virtio1-req.0)", "irq virtio1-req.0 (irq 36)" */
static void spell_irq(struct meaning *m)
{
	char *name = m->who;
	size_t n;

	m->irq = cut_number(name, " (irq ", ')');
	if (strncasecmp(name, "irq ", 4))
		return;
	memmove(name, name + 4, strlen(name + 4) + 1);
	if (m->irq >= 0 || !isdigit((unsigned char)*name))
		return;
	m->irq = strtol(name, &name, 10);
	name += strspn(name, " (");
	memmove(m->who, name, strlen(name) + 1);
	n = strlen(m->who);
	if (n && m->who[n - 1] == ')')
		m->who[n - 1] = 0;
}

/* Takes the name apart. True: it stands in brackets, as ps writes kernel threads and a report the
 * ids of causes. */
static bool spell(const char *name, struct meaning *m)
{
	char whole[sizeof(m->who) + sizeof(m->function)], *arrow = NULL;
	size_t n;
	long tid;

	*m = (struct meaning){.irq = -1};
	snprintf(whole, sizeof(whole), "%s", name);
	for (char *at = whole; (at = strstr(at, ARROW)); at++)
		arrow = at;
	if (arrow) {
		*arrow = 0;
		snprintf(m->function, sizeof(m->function), "%.*s", (int)sizeof(m->function) - 1,
			 arrow + strlen(ARROW));
		trim(m->function);
	}
	snprintf(m->who, sizeof(m->who), "%.*s", (int)sizeof(m->who) - 1, skip_kind(whole));
	trim(m->who);
	spell_irq(m);
	tid = cut_number(m->who, " [", ']');
	m->tid = tid > 0 ? tid : 0;
	n = strlen(m->who);
	if (n < 3 || m->who[0] != '[' || m->who[n - 1] != ']' ||
	    !isalpha((unsigned char)m->who[1]) || !strncmp(m->who, "[unknown", 8))
		return false;
	memmove(m->who, m->who + 1, n - 2);
	m->who[n - 2] = 0;
	return true;
}

/* ---- what ran a function ---- */

/* True for a thread that only the kernel makes, by its name; then the report's function ran in
 * it. */
static bool runs_work_of_kernel(const char *who)
{
	static const char *const threads[] = {"kworker/*", "migration/*", "ksoftirqd/*",
					      "ktimers/*", "irq_work/*"};

	for (size_t i = 0; i < sizeof(threads) / sizeof(threads[0]); i++)
		if (!fnmatch(threads[i], who, 0))
			return true;
	return false;
}

static struct source carrier_of(const struct meaning *m)
{
	struct source s = {.kind = SOURCE_THREAD,
			   .id = m->tid,
			   .function = m->function,
			   .word = word_of(m->function)};

	snprintf(s.name, sizeof(s.name), "%.*s", SOURCE_NAME - 1, m->who);
	s.kernel_thread = runs_work_of_kernel(m->who);
	if (vector_of_name(m->who))
		s.kind = SOURCE_VECTOR;
	for (uint32_t i = 0; strcmp(softirq_name(i), "unknown"); i++)
		if (!strcmp(m->who, softirq_name(i))) {
			s.kind = SOURCE_SOFTIRQ;
			s.id = i;
		}
	if (!strcmp(m->who, "NMI"))
		s.kind = SOURCE_NMI;
	if (m->irq >= 0)
		s.kind = SOURCE_IRQ;
	if (is_exit(m->who))
		s.kind = SOURCE_EXIT;
	return s;
}

/* Kind of the functions that such an interval runs; NULL: several kinds, or none. */
static const char *kind_run_by(const struct source *s)
{
	static const struct {
		const char *who, *kind;
	} rows[] = {
		{"local_timer", "hrtimer"},      {"call_function", "csd"},
		{"call_function_single", "csd"}, {"irq_work", "irqwork"},
		{"irq_work/*", "irqwork"},       {"TIMER", "timer"},
		{"HRTIMER", "hrtimer"},          {"kworker/*", "work"},
		{"migration/*", "stopper"},      {"NMI", "nmi"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!fnmatch(rows[i].who, s->name, 0))
			return rows[i].kind;
	return NULL;
}

static void note_kind(struct meaning *m, const char *why)
{
	snprintf(m->note, sizeof(m->note),
		 "the book does not have %.100s; %.250s, and this is what holds for its kind",
		 m->function[0] ? m->function : m->who, why);
}

static void row_meaning(struct meaning *m, bool bracketed)
{
	struct source s = carrier_of(m);
	const char *kind = kind_run_by(&s);
	char why[200];

	s.kernel_thread |= bracketed && s.kind == SOURCE_THREAD;
	if (s.word == WORD_THROTTLED)
		m->cause = cause_match("hrtimer", "sched_rt_period_timer");
	else if (m->function[0] == '[' && s.kind != SOURCE_EXIT)
		m->cause = cause_match("word", m->function);
	else
		m->cause = cause_of_function(&s);
	if (m->cause)
		return;
	if (kind) {
		m->cause = cause_family(kind);
		snprintf(why, sizeof(why), "%.100s ran it", m->who);
		note_kind(m, why);
		return;
	}
	m->cause = cause_of(&s);
	if (m->cause || s.kind != SOURCE_VECTOR)
		return;
	m->cause = cause_family("vector");
	note_kind(m, "a vector's handler ran it");
}

/* ---- a bare name ---- */

/* Kind of a bare function, guessed by the kernel's habits of naming. */
static const char *kind_by_name(const char *function)
{
	static const struct {
		const char *pattern, *kind;
	} rows[] = {
		{"*hrtimer*", "hrtimer"},     {"*_irq_work*", "irqwork"},
		{"*_iw", "irqwork"},          {"*_timer", "timer"},
		{"*_timer_fn", "timer"},      {"*_timer_func", "timer"},
		{"*_timer_handler", "timer"}, {"*_timer_callback", "timer"},
		{"*_timeout", "timer"},       {"*_timeout_fn", "timer"},
		{"*_work", "work"},           {"*_workfn", "work"},
		{"*_work_fn", "work"},        {"*_work_func", "work"},
		{"*_work_handler", "work"},   {"*_dwork", "work"},
		{"*_worker", "work"},         {"*_nmi_handler", "nmi"},
	};
	char plain[128];

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(function, ". "), function);
	if (plain[strspn(plain, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!fnmatch(rows[i].pattern, plain, 0))
			return rows[i].kind;
	return NULL;
}

static const struct cause *word_meaning(const char *name)
{
	char low[128];
	size_t i;

	if (word_tlb_reason(word_of(name)) >= 0)
		return cause_of_function(
			&(struct source){.kind = SOURCE_VECTOR, .word = word_of(name)});
	for (i = 0; name[i] && i + 1 < sizeof(low); i++)
		low[i] = tolower((unsigned char)name[i]);
	low[i] = 0;
	return cause_match("word", low);
}

/* Words for a kind; "work" stands for the function of a work item. */
static const char *kind_words(const char *kind)
{
	static const char *const rows[][2] = {{"work", "a work item's"},
					      {"irqwork", "an irq_work's"},
					      {"nmi", "an NMI handler's"},
					      {"hrtimer", "a high-resolution timer's"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i][0], kind))
			return rows[i][1];
	return "a timer's";
}

static void thread_meaning(struct meaning *m, bool bracketed)
{
	m->cause = bracketed ? cause_family("kthread") : cause_match("user", m->who);
	snprintf(m->note, sizeof(m->note),
		 bracketed ? "the book does not have %.100s; ps writes kernel threads in brackets, "
			     "and this is what holds for any of them"
			   : "%.100s is a thread's name of its own choice: this holds for any "
			     "program's thread; of a kernel thread see G08",
		 m->who);
}

void name_meaning(const char *name, struct meaning *m)
{
	bool bracketed = spell(name, m);
	const char *kind;
	char why[200];

	if (m->function[0]) {
		row_meaning(m, bracketed);
		return;
	}
	m->cause = cause_by_id(m->who);
	if (!m->cause && (m->irq >= 0 || is_exit(m->who))) {
		struct source s = carrier_of(m);

		s.function = NULL;
		m->cause = cause_of(&s);
	}
	if (!m->cause && bracketed) /* "[throttled]", "[asleep]": no thread is called so */
		m->cause = word_meaning(name);
	m->cause = m->cause ? m->cause : cause_of_name(m->who);
	m->cause = m->cause ? m->cause : word_meaning(m->who);
	if (!m->cause && !strncmp(name, "syscall ", 8))
		m->cause = cause_by_id("F08");
	if (m->cause)
		return;
	if (m->tid || bracketed) {
		thread_meaning(m, bracketed);
		return;
	}
	kind = kind_by_name(m->who);
	if (!kind)
		return;
	m->cause = cause_family(kind);
	snprintf(why, sizeof(why), "by the sound of it it is %s function", kind_words(kind));
	note_kind(m, why);
}
