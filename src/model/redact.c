/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/redact.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/begins.h"
#include "base/glob.h"
#include "base/hash.h"
#include "model/word.h"

#define SLOTS      65536 /* slots for names of threads, a power of two */
#define NAMES_MAX  49152 /* number of names that are told apart */
#define NAME_BYTES 16
#define HOSTS_MAX  4096

struct redact {
	uint16_t tag;
	uint32_t nnames, nhosts;
	char *host[HOSTS_MAX];
	struct {
		char name[NAME_BYTES];
		uint32_t number; /* 0: the slot is free */
	} slot[SLOTS];
};

struct redact *redact_new(uint16_t tag)
{
	struct redact *r = calloc(1, sizeof(*r));

	if (r)
		r->tag = tag;
	return r;
}

void redact_free(struct redact *r)
{
	for (uint32_t i = 0; r && i < r->nhosts; i++)
		free(r->host[i]);
	free(r);
}

/* ---- threads ---- */

/* Names of the kernel's own threads, # for a number, and of culprit's: they tell nothing. */
static const char *const known[] = {
	"swapper/#",   "kworker/#:#",     "kworker/#:#H", "kworker/u#:#",    "kworker/u#:#H",
	"ksoftirqd/#", "migration/#",     "cpuhp/#",      "rcu_preempt",     "rcu_sched",
	"rcuc/#",      "rcub/#",          "rcuop/#",      "rcuos/#",         "rcuog/#",
	"kthreadd",    "kswapd#",         "kcompactd#",   "khugepaged",      "ktimers/#",
	"irq_work/#",  "idle_inject/#",   "watchdogd",    "khungtaskd",      "oom_reaper",
	"culprit",     "culprit-sampler", "culprit-load", "culprit-spinner", OTHERS_NAME,
};

static bool matches(const char *pattern, const char *name)
{
	for (; *pattern; pattern++)
		if (*pattern != '#') {
			if (*name++ != *pattern)
				return false;
		} else {
			size_t digits = strspn(name, "0123456789");

			if (!digits)
				return false;
			name += digits;
		}
	return !*name;
}

static bool is_known(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (matches(known[i], name))
			return true;
	return false;
}

/* 0: there is no room for more. */
static uint32_t number_of(struct redact *r, const char name[NAME_BYTES])
{
	uint32_t at = hash_slot(hash_bytes(hash_of_strangers(), name, NAME_BYTES), SLOTS);

	for (; r->slot[at].number; at = (at + 1) % SLOTS)
		if (!memcmp(r->slot[at].name, name, NAME_BYTES))
			return r->slot[at].number;
	if (r->nnames == NAMES_MAX)
		return 0;
	memcpy(r->slot[at].name, name, NAME_BYTES);
	return r->slot[at].number = ++r->nnames;
}

/* Bytes behind the NUL go, too. */
static void hide_thread(struct redact *r, char name[NAME_BYTES])
{
	char key[NAME_BYTES + 1] = "", text[40];
	size_t len = strnlen(name, NAME_BYTES);
	uint32_t number;

	memcpy(key, name, len);
	memset(name + len, 0, NAME_BYTES - len);
	if (!len || is_known(key))
		return;
	number = number_of(r, key);
	if (!number)
		snprintf(text, sizeof(text), "user-more");
	else if (r->tag)
		snprintf(text, sizeof(text), "user-%04x-%u", r->tag, number);
	else
		snprintf(text, sizeof(text), "user-%u", number);
	memcpy(name, text, NAME_BYTES);
	memset(name + strnlen(name, NAME_BYTES), 0, NAME_BYTES - strnlen(name, NAME_BYTES));
}

/* True where the name is one that the kernel has given: to its own thread or to an interrupt. */
static bool is_kernels(const struct record *r)
{
	if (r->kind == RECORD_OSNOISE)
		return r->mark != RECORD_THREAD;
	return r->flags & RECORD_KTHREAD && !(r->flags & RECORD_ASKED);
}

struct record redact_record(struct redact *r, const struct record *from)
{
	struct record to = *from;

	if (!is_kernels(from))
		hide_thread(r, to.name);
	return to;
}

void redact_spot(struct redact *r, struct spot *s)
{
	char name[NAME_BYTES] = "";

	if (s->thread == SPOT_THREAD_KERNEL)
		return;
	memcpy(name, s->comm, strnlen(s->comm, NAME_BYTES));
	hide_thread(r, name);
	memset(s->comm, 0, sizeof(s->comm));
	memcpy(s->comm, name, strnlen(name, sizeof(name)));
}

void redact_lane(struct redact *r, struct cpu *c)
{
	struct spot s = {.thread = c->kernel_thread ? SPOT_THREAD_KERNEL : 0};

	memcpy(s.comm, c->comm, sizeof(s.comm) - 1);
	redact_spot(r, &s);
	memset(c->comm, 0, sizeof(c->comm));
	memcpy(c->comm, s.comm, strnlen(s.comm, sizeof(c->comm) - 1));
}

/* Names that are alike stay so: the table is no longer searched by name. */
void redact_suspects(struct redact *r, struct suspects *s)
{
	for (uint32_t i = 0; i < s->nthreads; i++)
		if (!s->thread[i].kernel_thread)
			hide_thread(r, s->thread[i].comm);
}

/* ---- the machine ---- */

/* Hosts that are not told apart share the last number. */
static uint32_t host_of(struct redact *r, const char *name)
{
	for (uint32_t i = 0; i < r->nhosts; i++)
		if (!strcmp(r->host[i], name))
			return i + 1;
	if (r->nhosts < HOSTS_MAX && (r->host[r->nhosts] = strdup(name)))
		r->nhosts++;
	return r->nhosts;
}

/* Words of the kernel's command line that say how CPUs and clocks are used; what is concluded from
 * them stays true. */
static const char *const words[] = {
	"isolcpus=", "nohz_full=", "rcu_nocbs=", "irqaffinity=", "tsc=", "gicv3_pseudo_nmi=",
};

static bool stays(const char *word, size_t len)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		size_t n = strlen(words[i]);

		if (len >= n && !strncmp(word, words[i], n))
			return strspn(word + n, "0123456789,-:/_abcdefghijklmnopqrstuvwxyz") >=
			       len - n;
	}
	return false;
}

/* Leaves those words, and returns the new length. */
static size_t cut_cmdline(char *text)
{
	size_t to = 0;

	for (size_t at = 0; text[at];) {
		size_t blank = strspn(text + at, " \t\n"),
		       len = strcspn(text + at + blank, " \t\n");

		at += blank;
		if (stays(text + at, len)) {
			if (to)
				text[to++] = ' ';
			memmove(text + to, text + at, len);
			to += len;
		}
		at += len;
	}
	text[to] = 0;
	return to;
}

void redact_head(struct redact *r, struct host *host, struct run *run)
{
	char text[32];

	if (r->tag)
		snprintf(text, sizeof(text), "host-%04x", r->tag);
	else
		snprintf(text, sizeof(text), "host-%u", host_of(r, host->hostname));
	memset(host->hostname, 0, sizeof(host->hostname));
	cut_cmdline(host->cmdline);
	memset(run->label, 0, sizeof(run->label));
	snprintf(host->hostname, sizeof(host->hostname), "%s", text);
	run->redacted = true;
}

const char *redact_symbol(const char *name)
{
	static const char program[] = "bpf_prog_";

	if (!name || !begins(name, program))
		return name;
	return "bpf_prog [bpf]";
}

/* ---- facts ---- */

/* An asterisk stands for any bytes. numbers: only where the text holds nothing but digits of any
 * base, lists and masks. */
static const struct {
	const char *name;
	bool numbers;
} kept[] = {
	{"sys/devices/system/*", false},
	{"sys/devices/virtual/workqueue/*", false},
	{"sys/kernel/mm/*", false},
	{"sys/kernel/rcu_*", false},
	{"sys/kernel/irq/*", false},
	{"sys/kernel/debug/sched/*", false},
	{"sys/kernel/debug/sched_features", false},
	{"sys/kernel/iommu_groups/*", false},
	{"sys/kernel/security/lockdown", false},
	{"sys/block/*", false},
	{"sys/hypervisor/type", false},
	{"sys/module/*", true},
	{"sys/fs/cgroup/cpuset.cpus.isolated", true},
	{"sys/fs/cgroup/unified/cpuset.cpus.isolated", true},
	{"proc/sys/kernel/osrelease", false},
	{"proc/sys/*", true},
	{"proc/irq/*", true},
	{"proc/softirqs", false},
	{"proc/stat", false},
	{"proc/loadavg", false},
	{"proc/pressure/*", false},
	{"dev/cpu_dma_latency", true},
	{FACT_ENDED, true},
};

static bool is_kept(struct fact *x)
{
	if (!strcmp(x->name, "proc/cmdline") && !x->err) {
		x->len = cut_cmdline(x->text);
		return true;
	}
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (glob_fits(kept[i].name, x->name, 0))
			return !kept[i].numbers ||
			       strspn(x->text, "0123456789abcdefABCDEFx,-. \t\nYN") == x->len;
	return false;
}

void redact_facts(struct facts *f)
{
	facts_keep(f, is_kept);
}
