/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences between the machines and the measurements: settings by name, the kernel's command
 * line and other lists word by word. */
#include "model/diff_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/units.h"

#define THRESHOLD_ALIKE 1.1 /* learned ones differ a little from run to run */

/* Facts left out: counters, values that come and go by themselves, and those that the host has
 * already. */
static const char *const left_out[] = {
	"proc/stat",
	"proc/loadavg",
	"proc/pressure/*",
	"proc/softirqs",
	"proc/interrupts",
	"proc/cpuinfo",
	"proc/mounts",
	"proc/swaps",
	"proc/cmdline",
	"proc/sys/kernel/osrelease",
	"sys/kernel/irq/*/per_cpu_count",
	"sys/kernel/debug/irq/irqs/*",
	"sys/devices/system/cpu/isolated",
	"sys/devices/system/cpu/nohz_full",
	"sys/devices/system/cpu/online",
	"sys/devices/system/cpu/cpu*/thermal_throttle/*",
	"sys/devices/system/clocksource/clocksource0/current_clocksource",
	"sys/devices/system/edac/mc/mc*/ce_count",
	"sys/hypervisor/type",
	"run/root",
	"run/tasks/*",
	FACT_ENDED,
	"run/dmesg",
	NULL,
};

/* ---- host and run ---- */

struct field {
	const char *what;
	size_t offset; /* in struct view */
};

#define FIELD(name) offsetof(struct view, name)

static const struct field texts[] = {
	{"host", FIELD(host.hostname)},         {"kernel", FIELD(host.kernel)},
	{"architecture", FIELD(host.arch)},     {"CPU model", FIELD(host.cpu_model)},
	{"hypervisor", FIELD(host.hypervisor)}, {"clock source", FIELD(host.clocksource)},
	{"sampler", FIELD(run.sampler)},        {"priority", FIELD(run.priority)},
};

static const struct field sets[] = {
	{"online CPUs", FIELD(host.online)},       {"isolated CPUs", FIELD(host.isolated)},
	{"nohz_full CPUs", FIELD(host.nohz_full)}, {"measured CPUs", FIELD(run.cpus)},
	{"housekeeping", FIELD(run.housekeeping)},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int note_fields(struct diff *d)
{
	const char *value[DIFF_FILES];
	char buf[DIFF_FILES][1024];
	int err = 0;

	for (size_t i = 0; i < COUNT(texts) && !err; i++) {
		for (uint32_t k = 0; k < d->n; k++) {
			value[k] = (const char *)d->view[k] + texts[i].offset;
			value[k] = value[k][0] ? value[k] : NULL;
		}
		err = diff_note(d, texts[i].what, value);
	}
	for (size_t i = 0; i < COUNT(sets) && !err; i++) {
		for (uint32_t k = 0; k < d->n; k++) {
			const char *view = (const char *)d->view[k];

			cpus_format((const struct cpus *)(view + sets[i].offset), buf[k],
				    sizeof(buf[k]));
			value[k] = buf[k][0] ? buf[k] : NULL;
		}
		err = diff_note(d, sets[i].what, value);
	}
	return err;
}

/* Thresholds of all CPUs of a view. */
static void thresholds(const struct view *v, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		uint64_t t = c->measured_from_ns ? c->measured_from_ns : c->threshold_ns;

		*low = t < *low ? t : *low;
		*high = t > *high ? t : *high;
	}
}

static int note_threshold(struct diff *d)
{
	char buf[DIFF_FILES][80], a[32], b[32];
	const char *value[DIFF_FILES];
	uint64_t low, high, least = UINT64_MAX, most = 0;
	bool learned = true;

	for (uint32_t k = 0; k < d->n; k++) {
		const char *how = d->view[k]->run.threshold_auto ? " (auto)" : "";

		thresholds(d->view[k], &low, &high);
		format_ns(low, a, sizeof(a));
		format_ns(high, b, sizeof(b));
		if (low == high)
			snprintf(buf[k], sizeof(buf[k]), "%s%s", a, how);
		else
			snprintf(buf[k], sizeof(buf[k]), "%s to %s%s", a, b, how);
		value[k] = buf[k];
		learned &= d->view[k]->run.threshold_auto;
		least = low < least ? low : least;
		most = high > most ? high : most;
	}
	return learned && most < least * THRESHOLD_ALIKE ? 0 : diff_note(d, "threshold", value);
}

static int note_traced(struct diff *d)
{
	const char *value[DIFF_FILES], *hidden[DIFF_FILES], *of[DIFF_FILES];
	int err;

	for (uint32_t k = 0; k < d->n; k++) {
		const struct run *r = &d->view[k]->run;

		of[k] = r->watch ? "threads" : r->windows ? "windows of a workload" : "CPUs";
		value[k] = d->view[k]->run.traced ? "yes" : "no";
		hidden[k] = d->view[k]->run.symbols_hidden ? "hidden" : "shown";
	}
	err = diff_note(d, "measured", of);
	err = err ? err : diff_note(d, "traced", value);
	return err ? err : diff_note(d, "kernel symbols", hidden);
}

/* Notes the tracepoints that a kernel lacks: what they would show counts as outside the kernel
 * there. */
static int note_not_observed(struct diff *d)
{
	char *text[DIFF_FILES] = {NULL};
	int err = 0;

	for (uint32_t k = 0; k < d->n && !err; k++) {
		const struct run *r = &d->view[k]->run;
		size_t len = 0, at = 0;

		for (uint32_t i = 0; i < r->nnot_observed; i++)
			len += strlen(r->not_observed[i]) + 1;
		text[k] = malloc(len + 1);
		if (!text[k])
			err = -ENOMEM;
		for (uint32_t i = 0; text[k] && i < r->nnot_observed; i++)
			at += sprintf(text[k] + at, "%s\n", r->not_observed[i]);
		if (text[k])
			text[k][at] = 0;
	}
	if (!err)
		err = diff_note_list(d, "not observed", (const char *const *)text, "\n");
	for (uint32_t k = 0; k < d->n; k++)
		free(text[k]);
	return err;
}

/* ---- facts ---- */

static bool is_left_out(const char *name)
{
	for (unsigned i = 0; left_out[i]; i++)
		if (glob_fits(left_out[i], name, '/'))
			return true;
	return false;
}

/* Notes a fact's text without the last newline; NULL where it is absent. Several lines are a
 * list. */
static int note_fact(struct diff *d, const char *name)
{
	char *text[DIFF_FILES] = {NULL};
	bool lines = false;
	int err = 0;

	for (uint32_t k = 0; k < d->n && !err; k++) {
		const struct fact *f = facts_find(&d->view[k]->facts, name);
		size_t len;

		if (!f || f->err == -ENOENT)
			continue;
		text[k] = strdup(f->err && !f->len ? "(not readable)" : f->text);
		if (!text[k]) {
			err = -ENOMEM;
			break;
		}
		len = strlen(text[k]);
		if (len && text[k][len - 1] == '\n')
			text[k][len - 1] = 0;
		lines |= strchr(text[k], '\n') != NULL;
	}
	if (!err)
		err = lines ? diff_note_list(d, name, (const char *const *)text, "\n")
			    : diff_note(d, name, (const char *const *)text);
	for (uint32_t k = 0; k < d->n; k++)
		free(text[k]);
	return err;
}

/* First name after `after` (NULL: of all) among any file's facts; NULL: that was the last. */
static const char *next_name(const struct diff *d, const char *after, uint32_t *at)
{
	const char *next = NULL;

	for (uint32_t k = 0; k < d->n; k++) {
		const struct facts *f = &d->view[k]->facts;

		while (after && at[k] < f->count && strcmp(f->row[at[k]].name, after) <= 0)
			at[k]++;
		if (at[k] < f->count && (!next || strcmp(f->row[at[k]].name, next) < 0))
			next = f->row[at[k]].name;
	}
	return next;
}

/* Notes facts that both sides have read: others cannot be compared. */
static int note_facts(struct diff *d)
{
	uint32_t at[DIFF_FILES] = {0};
	int err = 0;

	for (uint32_t k = 0; k < d->n; k++)
		if (!facts_taken(&d->view[k]->facts))
			return 0;
	for (const char *name = next_name(d, NULL, at); name && !err; name = next_name(d, name, at))
		if (!is_left_out(name))
			err = note_fact(d, name);
	return err;
}

static int environment(struct diff *d)
{
	const char *cmdline[DIFF_FILES];
	int err = note_fields(d);

	for (uint32_t k = 0; k < d->n; k++)
		cmdline[k] = d->view[k]->host.cmdline;
	if (!err)
		err = diff_note_list(d, "cmdline", cmdline, " \t\n");
	if (!err)
		err = note_threshold(d);
	if (!err)
		err = note_traced(d);
	if (!err)
		err = note_not_observed(d);
	return err ? err : note_facts(d);
}

static bool has_word(const char *list, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = list; at && (at = strstr(at, word)); at++)
		if ((at == list || at[-1] == ' ') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

/* Notes what the recordings of one side differ in: each is compared with the first. */
static int note_unlike(struct diff *d, uint32_t k)
{
	int err = 0;

	for (uint32_t i = 1; i < d->side[k].n && !err; i++) {
		struct diff two = {.n = 2, .view = {d->side[k].view[0], d->side[k].view[i]}};

		err = environment(&two);
		for (uint32_t f = 0; f < two.facts && !err; f++) {
			const char *was = d->unlike[k] ? d->unlike[k] : "";
			char *longer = NULL;

			if (has_word(was, two.fact[f].what))
				continue;
			if (asprintf(&longer, "%s%s%s", was, was[0] ? ", " : "", two.fact[f].what) <
			    0)
				err = -ENOMEM;
			else
				free(d->unlike[k]), d->unlike[k] = longer;
			if (!err && d->unlikes[k]++ < DIFF_UNLIKE_SHOWN)
				d->unlike_shown[k] = strlen(longer);
		}
		diff_free(&two);
	}
	return err;
}

int diff_environment(struct diff *d)
{
	int err = environment(d);

	for (uint32_t k = 0; k < d->n && !err; k++)
		err = note_unlike(d, k);
	return err;
}
