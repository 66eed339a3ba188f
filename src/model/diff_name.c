/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes names of the same thing alike. */
#include "model/diff.h"

#include <stdio.h>
#include <string.h>

static size_t digits(const char *text)
{
	return strspn(text, "0123456789");
}

/* True for "kworker/CPU:NUMBER" and "kworker/uPOOL:NUMBER", with an H behind it at high priority
 * (kernel/workqueue.c: create_worker). */
static bool worker_name(const char *text, bool keep_cpus, char name[DIFF_NAME])
{
	static const char prefix[] = "kworker/";
	const char *pool = text + sizeof(prefix) - 1, *number;
	bool unbound;
	size_t n;

	if (strncmp(text, prefix, sizeof(prefix) - 1))
		return false;
	unbound = *pool == 'u';
	pool += unbound;
	n = digits(pool);
	if (!n || pool[n] != ':' || !digits(pool + n + 1))
		return false;
	number = pool + n + 1;
	if (unbound || !keep_cpus)
		snprintf(name, DIFF_NAME, "kworker/%s*:*%s", unbound ? "u" : "",
			 number + digits(number));
	else
		snprintf(name, DIFF_NAME, "kworker/%.*s:*%s", (int)n, pool,
			 number + digits(number));
	return true;
}

/* Prefixes before the number of a thread or an interrupt. */
static const char *const numbered[] = {"irq/", "vhost-", "kvm-pit/", NULL};

static bool numbered_name(const char *text, char name[DIFF_NAME])
{
	for (unsigned i = 0; numbered[i]; i++) {
		size_t prefix = strlen(numbered[i]),
		       n = digits(text + (strncmp(text, numbered[i], prefix) ? 0 : prefix));

		if (strncmp(text, numbered[i], prefix) || !n)
			continue;
		snprintf(name, DIFF_NAME, "%s*%s", numbered[i], text + prefix + n);
		return true;
	}
	return false;
}

void diff_name(const struct source *s, bool keep_cpus, char name[DIFF_NAME])
{
	enum source_kind kind = s->kind == SOURCE_HOST ? s->host_kind : s->kind;
	const char *slash = strrchr(s->name, '/');

	if (!s->name[0] && !s->rest && (kind == SOURCE_IRQ || kind == SOURCE_VECTOR))
		snprintf(name, DIFF_NAME, "%u", s->id);
	else if (s->kind == SOURCE_THREAD && s->by < BY_UNIT &&
		 (worker_name(s->name, keep_cpus, name) || numbered_name(s->name, name)))
		return;
	else if (s->kind == SOURCE_THREAD && s->by < BY_UNIT && !keep_cpus && slash && slash[1] &&
		 !slash[1 + digits(slash + 1)])
		snprintf(name, DIFF_NAME, "%.*s/*", (int)(slash - s->name), s->name);
	else if (!strcmp(s->name, OTHERS_NAME) && !s->rest)
		snprintf(name, DIFF_NAME, "\\x28%s", &OTHERS_NAME[1]);
	else
		snprintf(name, DIFF_NAME, "%s", s->name);
}
