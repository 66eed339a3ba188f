/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of culprit diff. */
#include "cmd/diff_options.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/memory.h"
#include "render/schemas.h"

/* enum diff_format */
static const struct opt_choice diff_formats[] = {
	{"text", "for people"},
	{"markdown", "for tickets"},
	{"json", "for scripts"},
	{0},
};

/* Takes any percentage: twice the time is 100 % worse. */
static int set_worse(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	size_t digits = strspn(text, "0123456789."), first = strspn(text, "0123456789");

	(void)row;
	if (!first || digits > 15 || strcspn(text, ".") + 1 == digits ||
	    memchr(text + first + 1, '.', digits - first) ||
	    (text[digits] && strcmp(text + digits, "%"))) {
		snprintf(why, whylen,
			 "'%.40s': not a percentage: write a plain number, like 5 or 2.5%%", text);
		return -1;
	}
	*(double *)field = strtod(text, NULL);
	return 0;
}

static int set_between(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;
	double factor = strtod(text, &end);

	(void)row;
	if (!digits || text[digits] || *end || !(factor >= 1) || factor > 1000) {
		snprintf(why, whylen, "'%.40s': not a factor from 1 to 1000, like 3 or 1.2", text);
		return -1;
	}
	*(double *)field = factor;
	return 0;
}

#define FIELD(name) offsetof(struct diff_options, name)

static const struct opt diff_opts[] = {
	{'f', "format", "FORMAT", "the format of the report", FIELD(output.format), opt_set_choice,
	 .choices = OPT_CHOICES(diff_formats), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output.path)},
	OPT_SCHEMA(schema_diff),
	{0, "fail-if-worse", "PERCENT",
	 "exit with 2 if another side loses more time a second than the first side, by more than "
	 "PERCENT, and the 95 % interval of the ratio is above 1; of workloads also if the median, "
	 "p90, p99, p99.9 or, where recordings of both sides were made in turn, max of a series is "
	 "and its verdict is worse",
	 FIELD(worse), set_worse},
	{0, "group", NULL,
	 "what follows, up to the next --group, are recordings of one group of hosts, any number; "
	 "give two groups",
	 FIELD(group)},
	{0, "between", "FACTOR",
	 "how much two windows of an unchanged machine may differ, 3 if not given; not used if "
	 "each side has several recordings made in turn, because these tell it",
	 FIELD(between), set_between},
	OPT_HOST(FIELD(hosts)),
	OPT_REDACT(FIELD(redact)),
	{.include = memory_opts, .offset = FIELD(memory)},
	{0},
};

static const struct opt_example diff_examples[] = {
	{"culprit diff before.rec after.rec",
	 "did the change help? one recording of each side shows only a large change"},
	{"culprit diff a1.rec a2.rec a3.rec -- b1.rec b2.rec b3.rec",
	 "three of each, made in turn: a1, b1, a2, b2, a3, b3"},
	{"culprit diff --group before/*.rec --group after/*.rec",
	 "what changed on a fleet: hosts in both groups are compared with themselves"},
	{"culprit diff before.rec after.rec --fail-if-worse 10",
	 "exits with 2 if over 10 % more time is lost, and not by chance"},
	{0},
};

const struct opt_command diff_usage = {
	.name = "diff",
	.operands = "FILE... [--] FILE...",
	.summary = "what changed between recordings, and whether it is more than chance",
	.about =
		"Compares each recording with the first one. With -- between them, it compares "
		"all before -- with all after it. Each source is compared with the same source of "
		"the other side, all figures are per second that a CPU was observed, and ratios "
		"have 95 % intervals. Several recordings of each side, made in turn (A B A B A "
		"B), show how much windows differ when nothing has changed. With one recording of "
		"each side this is not known: a factor is assumed (see --between), and the "
		"intervals are wider by it.\n\nA source is gone, new, better, worse, unclear or "
		"the same. It is unclear if it changed by more than chance within the windows but "
		"not by more than windows may differ, or in fewer than 1,000 intervals, or if "
		"records that were lost may be the difference. It is the same if its change could "
		"be chance, counting that many sources were looked at, or if the change is under "
		"1 % of the time lost and in no long interval. What a "
		"workload measured is compared series by series, all values of it. Below "
		"the sources follow the differences in machine, kernel and settings, and how the "
		"lengths are distributed. Hiccups of the largest threshold and longer are "
		"compared. - is standard input.\n\nWith --group two groups of hosts are compared, "
		"a "
		"host being one observation: by rank tests, which assume nothing of how losses are "
		"distributed, but that hosts are independent. Of the sources that are listed as "
		"changed 5 % at most are so by chance, on the average (the false discovery rate of "
		"Benjamini and Hochberg); of all sources JSON has the numbers. Not with --between, "
		"and not for workloads.\n\nExit status: 0 done, 1 error, 2 "
		"--fail-if-worse was met.",
	.opts = diff_opts,
	.examples = diff_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR, ENV_COLUMNS, {0}},
};
