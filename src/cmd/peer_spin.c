/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of the tools that spin: osjitter, hiccups, sysjitter, oslat. */
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "base/units.h"
#include "cmd/peer_line.h"

/* ---- osjitter ---- */

/* Policies by number, as in linux/sched.h. */
int osjitter_end(struct peer_line *l, const char *operand)
{
	static const char *const format[] = {NULL, "-Pf:%s", "-Pr:%s", "-Pb:0", NULL, "-Pi:0"};
	char priority[16];

	(void)operand;
	if (l->policy && (l->policy > 5 || !format[l->policy]))
		return complain("--sched: policy %ld is not taken: 0 is normal, 1 FIFO, 2 round "
				"robin, 3 batch, 5 idle",
				l->policy);
	if (l->policy) {
		snprintf(priority, sizeof(priority), "%ld", l->priority ? l->priority : 1);
		peer_add_value(l, format[l->policy], priority);
	}
	peer_add_cpus(l);
	return 0;
}

const struct peer_row osjitter_rows[] = {
	{'t', NULL, "SEC", .word = "--duration=%ss", .take = peer_number, .help = "10"},
	{'d', NULL, "NS", .word = "--threshold=%sns", .take = peer_number, .help = "100"},
	{0, "cpu", "CPUS", .take = peer_cpus, .help = "all; may be given again"},
	{0, "sched", "N", .take = peer_policy, .help = "0, the normal one"},
	{0, "prio", "N", .take = peer_priority, .help = "1"},
	{0, "khz", "N", .help = "no effect: the counter's rate is measured"},
	{0},
};
const char *const osjitter_words[] = {"run", "--style=osjitter", NULL};

/* ---- hiccups ---- */

const struct peer_row hiccups_rows[] = {
	{'r', NULL, "SEC", .word = "--duration=%ss", .take = peer_limit, .help = "5"},
	{'t', NULL, "NS", .word = "--threshold=%sns", .take = peer_number,
	 .help = "eight times the clock's smallest step"},
	{'s', NULL, "N", .help = "no effect: there is room for all"},
	{0},
};
const char *const hiccups_words[] = {"run", "--style=hiccups", NULL};

int hiccups_end(struct peer_line *l, const char *operand)
{
	(void)operand;
	if (!l->ends)
		peer_add(l, "--duration=5s");
	return 0;
}

/* ---- sysjitter ---- */

const struct peer_row sysjitter_rows[] = {
	{0, "runtime", "SEC", .word = "--duration=%ss", .take = peer_limit, .help = "70"},
	{0, "raw", "PREFIX", .word = "--raw=%s", .help = "none"},
	{0, "cores", "CPUS", .take = peer_cpus, .help = "all"},
	{0, "sort", NULL, .word = "--sort", .help = "raw files by length"},
	{0, "max", "N", .help = "no effect: there is room for all"},
	{0, "verbose", NULL, .help = "no effect: the counter's own values are not kept"},
	{0},
};
const char *const sysjitter_words[] = {"run", "--style=sysjitter", NULL};

int sysjitter_end(struct peer_line *l, const char *operand)
{
	char why[256];
	long ns;

	if (parse_integer(operand, 1, PEER_NUMBER, &ns, why, sizeof(why)))
		return complain("THRESHOLD_NSEC: %s", why);
	peer_add_value(l, "--threshold=%sns", operand);
	if (!l->ends)
		peer_add(l, "--duration=70s");
	peer_add_cpus(l);
	return 0;
}

/* ---- oslat ---- */

static int take_workload(struct peer_line *l, const char *value, const struct peer_row *row,
			 char *why, size_t whylen)
{
	(void)l;
	(void)row;
	if (!strcmp(value, "no"))
		return 0;
	snprintf(why, whylen, "the sampler has no workload of its own: only 'no' is taken");
	return -1;
}

const struct peer_row oslat_rows[] = {
	{'b', "bucket-size", "N", .word = "--oslat-buckets=%s", .take = peer_number, .help = "32"},
	{'B', "bias", NULL, .word = "--oslat-bias", .help = "lengths are less the shortest"},
	{'c', "cpu-list", "CPUS", .take = peer_cpus, .help = "all"},
	{'C', "cpu-main-thread", "CPUS", .word = "--housekeeping=%s",
	 .help = "those that are not measured"},
	{'D', "duration", "TIME", .word = "--duration=%s", .take = peer_time,
	 .help = "until Ctrl-C"},
	{'f', "rtprio", "N", .word = "-Pf:%s", .take = peer_number, .help = "none"},
	{'m', "workload-mem", "SIZE", .help = "no effect without a workload"},
	{'q', "quiet", NULL, .word = "--oslat-brief", .help = "no preamble"},
	{'s', "single-preheat", NULL, .help = "no effect"},
	{'T', "trace-threshold", "US", .word = "--stop-on=hiccup>%sus", .take = peer_number,
	 .help = "ends the run, with exit status 2; ftrace is not touched"},
	{'w', "workload", "no", .take = take_workload, .help = "no"},
	{'z', "zero-omit", NULL, .word = "--oslat-omit-zero", .help = "empty buckets"},
	{0, "json", "FILE", .word = "--style-json=%s", .help = "none; - is standard output"},
	{0},
};
const char *const oslat_words[] = {"run", "--style=oslat", NULL};

int oslat_end(struct peer_line *l, const char *operand)
{
	(void)operand;
	if (!l->ends)
		peer_add(l, "--duration=forever");
	peer_add_cpus(l);
	return 0;
}
