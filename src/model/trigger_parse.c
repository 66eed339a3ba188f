/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads one trigger: the grammar is in trigger.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/trigger.h"

#define WINDOW_MIN_NS NSEC_PER_MSEC
#define DIGITS        "0123456789"
#define SPACES        " \t"

static const char *const event_names[] = {"hiccup", "wake",    "late", "lost",
					  "count",  "SIGUSR1", "end"};
#define EVENTS (sizeof(event_names) / sizeof(event_names[0]))

/* Holds the limits of the examples. */
static const char *const limits[EVENTS] = {
	[TRIGGER_HICCUP] = "100us",
	[TRIGGER_WAKE] = "200us",
	[TRIGGER_LOST] = "0.1%/1s",
	[TRIGGER_COUNT] = "1000/s",
};

struct parser {
	const char *text, *at;
	const char *name; /* as it is written, of the event */
	bool goal;
	char *why;
	size_t whylen;
};

static int refuse(const struct parser *p, const char *reason)
{
	snprintf(p->why, p->whylen, "'%.60s': %s", p->text, reason);
	return -EINVAL;
}

static void skip(struct parser *p)
{
	p->at += strspn(p->at, SPACES);
}

/* Copies the bytes up to one of `ends` or the end, without spaces behind them. */
static const char *take(struct parser *p, const char *ends, char *word, size_t len)
{
	size_t n = strcspn(p->at, ends), all = n;

	while (n && strchr(SPACES, p->at[n - 1]))
		n--;
	snprintf(word, len, "%.*s", (int)(n < len ? n : len - 1), p->at);
	p->at += all;
	skip(p);
	return word;
}

/* Returns "worst", too, which is what goals say of hiccups. */
static const char *name_of(const struct parser *p, size_t event)
{
	return p->goal && event == TRIGGER_HICCUP ? "worst" : event_names[event];
}

/* "hiccup, lost or count" */
static char *list_events(const struct parser *p, unsigned can, char *buf, size_t len)
{
	size_t n = 0, at = 0, all = 0;

	for (size_t i = 0; i < EVENTS; i++)
		all += can >> i & 1;
	buf[0] = 0;
	for (size_t i = 0; i < EVENTS && at < len; i++)
		if (can >> i & 1) {
			at += snprintf(buf + at, len - at, "%s%s",
				       !n             ? ""
				       : n + 1 == all ? " or "
						      : ", ",
				       name_of(p, i));
			n++;
		}
	return buf;
}

static bool is(const char *text, size_t len, const char *word)
{
	return strlen(word) == len && !strncmp(text, word, len);
}

static char sign(const struct parser *p)
{
	return p->goal ? '<' : '>';
}

static int parse_event(struct parser *p, unsigned can, struct trigger *t)
{
	char reason[160], list[80];
	size_t n = strspn(p->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS),
	       i = 0;

	while (i < EVENTS && !is(p->at, n, event_names[i]) && !is(p->at, n, name_of(p, i)))
		i++;
	list_events(p, can, list, sizeof(list));
	if (i == EVENTS) {
		snprintf(reason, sizeof(reason), "a %s begins with %s, as in %s%c%s",
			 p->goal ? "goal" : "trigger", list, name_of(p, TRIGGER_HICCUP), sign(p),
			 limits[TRIGGER_HICCUP]);
		return refuse(p, reason);
	}
	p->name = is(p->at, n, event_names[i]) ? event_names[i] : name_of(p, i);
	if (!(can >> i & 1)) {
		snprintf(reason, sizeof(reason), "%s cannot happen here: use %s", event_names[i],
			 list);
		return refuse(p, reason);
	}
	t->event = i;
	p->at += n;
	skip(p);
	return 0;
}

static int parse_time(struct parser *p, const char *word, bool unit_alone, uint64_t *ns)
{
	char one[48], why[200];

	if (unit_alone && *word && !strchr(DIGITS ".", *word)) {
		snprintf(one, sizeof(one), "1%s", word);
		word = one;
	}
	return parse_duration(word, 0, ns, why, sizeof(why)) ? refuse(p, why) : 0;
}

/* Reads what is behind ">", up to "/", "by" or "of". */
static int parse_above(struct parser *p, struct trigger *t)
{
	char word[40], why[200], reason[120];
	long n;

	if (*p->at != sign(p) || t->event >= TRIGGER_SIGUSR1) {
		if (t->event == TRIGGER_LATE || t->event >= TRIGGER_SIGUSR1)
			return 0;
		snprintf(reason, sizeof(reason),
			 "behind %s a %c and a limit are missing, as in %s%c%s", p->name, sign(p),
			 p->name, sign(p), limits[t->event]);
		return refuse(p, reason);
	}
	p->at++;
	skip(p);
	take(p, t->event == TRIGGER_LOST || t->event == TRIGGER_COUNT ? "/" : SPACES, word,
	     sizeof(word));
	if (t->event == TRIGGER_LOST)
		return parse_percent(word, &t->percent, why, sizeof(why)) ? refuse(p, why) : 0;
	if (t->event != TRIGGER_COUNT)
		return parse_time(p, word, false, &t->above);
	if (parse_integer(word, 0, 1000000000000, &n, why, sizeof(why)))
		return refuse(p, why);
	t->above = n;
	return 0;
}

static int parse_window(struct parser *p, struct trigger *t)
{
	char word[40], reason[120];

	if (t->event != TRIGGER_LOST && t->event != TRIGGER_COUNT)
		return 0;
	if (*p->at != '/') {
		snprintf(reason, sizeof(reason), "within what time is missing, as in %s%c%s",
			 p->name, sign(p), limits[t->event]);
		return refuse(p, reason);
	}
	p->at++;
	skip(p);
	if (parse_time(p, take(p, SPACES, word, sizeof(word)), true, &t->window_ns))
		return -EINVAL;
	return t->window_ns < WINDOW_MIN_NS ? refuse(p, "the time behind / must be 1 ms or more")
					    : 0;
}

/* "K09", "F08": as the cause book writes them. */
static bool is_cause(const char *who)
{
	return strlen(who) == 3 && who[0] >= 'A' && who[0] <= 'Z' && strspn(who + 1, DIGITS) == 2;
}

static int parse_who(struct parser *p, struct trigger *t)
{
	const char *word = t->event == TRIGGER_COUNT ? "of" : "by";
	bool alone = t->event == TRIGGER_LOST || t->event >= TRIGGER_SIGUSR1;
	char reason[120], quote = 0;
	size_t n;

	if (!*p->at)
		return 0;
	if (alone || strncmp(p->at, word, 2) || !strchr(SPACES, p->at[2])) {
		snprintf(reason, sizeof(reason),
			 alone ? "'%.20s' behind it means nothing"
			       : "'%.20s' behind it means nothing: only %s WHO can follow",
			 p->at, word);
		return refuse(p, reason);
	}
	p->at += 2;
	skip(p);
	if (*p->at == '\'' || *p->at == '"')
		quote = *p->at++;
	n = quote ? strcspn(p->at, quote == '"' ? "\"" : "'") : strcspn(p->at, SPACES);
	if (quote && !p->at[n])
		return refuse(p, "the quote is not closed");
	if (!n || n >= sizeof(t->who))
		return refuse(p, n ? "who it is by is too long" : "who it is by is missing");
	memcpy(t->who, p->at, n);
	p->at += n + !!quote;
	skip(p);
	t->cause = !quote && is_cause(t->who);
	return *p->at ? refuse(p, "a name with spaces needs quotes, as in by 'softirq NET_RX'") : 0;
}

int trigger_parse(const char *text, unsigned can, struct trigger *t, char *why, size_t whylen)
{
	struct parser p = {text, text, NULL, can & TRIGGER_GOAL, why, whylen};
	struct trigger new = {.pulled = 0};

	skip(&p);
	if (strlen(text) >= sizeof(new.text))
		return refuse(&p, "it is too long");
	strcpy(new.text, text);
	if (parse_event(&p, can, &new) || parse_above(&p, &new) || parse_window(&p, &new) ||
	    parse_who(&p, &new))
		return -EINVAL;
	*t = new;
	return 0;
}
