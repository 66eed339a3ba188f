/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Report formats: one file, one function, one row in the table for each. */
#ifndef CULPRIT_RENDER_H
#define CULPRIT_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/opt.h"
#include "model/view.h"

/* For several reports: {"schema":..., "reports":[each as alone]} */
#define REPORTS_SCHEMA "culprit.reports/1"

/* Figures of a workload's values in text. */
enum series_style { SERIES_SHORT, SERIES_WIDE, SERIES_LONG };

struct render_options {
	bool colour;     /* escape sequences for a terminal */
	bool stacks;     /* kernel stacks of the askers, in text */
	bool chart;      /* distributions as a picture of characters, in text */
	bool all;        /* each CPU by itself, also those that are alike */
	int metrics_per; /* enum metrics_per */
	enum owner_by metrics_label;
	unsigned width; /* columns; 0: 100 */
	/* Lines of the terminal that it is written to; a text that is longer ends with the verdict,
	 * too. 0: to no terminal. */
	unsigned height;
	enum series_style series;
	/* The values of a format of distributions: a series' name, or SERIES_HICCUPS; NULL: the
	 * format's own choice. */
	const char *values;
};

/* Reports are written at the end; line formats write one line for each hiccup as it comes. */
struct format {
	struct opt_choice choice; /* name, and one line for the help */
	/* Writes a report of n views, 1 or more, with the host's name when there are several. 0, or
	 * -errno. NULL: a line format. */
	int (*write)(const struct view *const *views, uint32_t n,
		     const struct render_options *options, FILE *out);
	/* Line formats: the head, once for all views (NULL: none), and the line of one hiccup of
	 * the CPU with this index. While a run lasts, it may read from the view only what is known
	 * at its begin, and the CPU's sources. */
	void (*head)(FILE *out);
	int (*hiccup)(const struct view *view, uint32_t index, const struct account *account,
		      FILE *out);
	bool spans; /* shows when each interval of a hiccup ran: the session must record spans */
	const struct trace_format *trace; /* replaces all of these except spans */
};

/* A binary file of one view that is written hiccup by hiccup, and remembers what it has written. It
 * reads of the view what line formats do, and everything at the end. */
struct trace_format {
	/* Returns what it remembers, or NULL: out of memory. */
	void *(*begin)(const struct view *view, FILE *out);
	/* The account has its spans where the format asks for them. */
	int (*hiccup)(void *state, uint32_t index, const struct account *account);
	int (*end)(void *state); /* frees it. 0 or -errno, as the others */
};

enum { FORMAT_TEXT, FORMAT_JSON }; /* the first two */

extern const struct format formats[]; /* ends with a row of zeros */

/* Reports, a row each: name, whether it shows spans, and a line for the help. Its function is
 * render_NAME, in a file of its own. */
#define REPORT_FORMATS(ROW)                                                                        \
	ROW(text, false, "for people")                                                             \
	ROW(json, false, "for scripts: schema " REPORT_SCHEMA ", all times integer ns")            \
	ROW(markdown, false, "for tickets")                                                        \
	ROW(html, true, "one file with pictures, for any browser")                                 \
	ROW(folded, false, "stacks of who asked, weighted by ns, for flame graphs")                \
	ROW(hgrm, false,                                                                           \
	    "percentiles of the hiccups, or of what a workload measured, as HdrHistogram's "       \
	    "tools print them")                                                                    \
	ROW(hlog, false,                                                                           \
	    "hiccups of each CPU, and what a workload measured, as an HdrHistogram log")           \
	ROW(openmetrics, false, "metrics by OpenMetrics 1.0, for whoever scrapes")                 \
	ROW(prometheus, false, "the same for node_exporter's textfile collector")

#define REPORT_FUNCTION(name, ...)                                                                 \
	int render_##name(const struct view *const *views, uint32_t n,                             \
			  const struct render_options *options, FILE *out);
REPORT_FORMATS(REPORT_FUNCTION)

extern const struct trace_format render_perfetto, render_parquet, render_rollup;

/* Lines: see line.c for the columns. */
void render_csv_head(FILE *out);
int render_csv(const struct view *view, uint32_t index, const struct account *account, FILE *out);
int render_jsonl(const struct view *view, uint32_t index, const struct account *account, FILE *out);

/* ---- for the renderers ---- */

/* Writes the begin of a report of several, in text or Markdown: the hosts side by side, and the
 * sources that cost most. 0 or -errno. */
int render_hosts(const struct view *const *views, uint32_t n, const struct render_options *options,
		 bool markdown, FILE *out);

/* Writes the end of a report in Markdown: how it was measured, and what was not observed. all: each
 * CPU, also those that others stand for. 0 or -errno. */
int render_markdown_method(const struct view *view, bool all, FILE *out);

struct json;

/* Writes CPUs as an array of numbers. */
void render_cpus(struct json *j, const char *key, const struct cpus *set);

/* Writes the object "host". */
void render_host(struct json *j, const struct host *h);
/* Writes "short_gaps": {"from_ns","count","total_ns"}, or null. */
void render_shorts(struct json *j, const struct short_gaps *s);

/* Writes "frequency": the changes side by side as columns, or null. */
void render_frequency(struct json *j, const struct view *v, const struct cpu *c);
/* Writes "count","total_ns", ... "p99999_ns". per_ns: the histogram's units in a nanosecond. */
void render_numbers(struct json *j, const struct hist *h, unsigned per_ns);

/* Writes "stack" of an asker, and "user_stack" of one that has one. */
void render_stacks(struct json *j, const struct asker_row *r);

/* Writes "series", a workload's values of all its windows, with their bins. */
void render_series(struct json *j, const struct view *v, const struct cpu *c);

/* Writes "cpu": null and the object "thread" of a watched thread. */
void render_json_thread(struct json *j, const struct view *v, const struct cpu *c);

/* Writes the CPU with this index as an object. 0 or -ENOMEM. */
int render_json_cpu(struct json *j, const struct view *v, uint32_t index);

/* Writes "groups", the CPUs that are alike, where reports show them. */
void render_json_groups(struct json *j, const struct view *v);

/* Writes "kind","id","name","function","kernel_thread" of a source. */
struct source;
void render_who(struct json *j, const struct source *s);

/* Writes each as an object, into an array: {"kind":..,"id":..,"name":..,"function":..,"cause":..,
 * "net_ns":..,"owner":..,"origin":{"cpu":..,"pid":..,"comm":..,"function":..,"owner":..}} */
void render_pieces(struct json *j, const struct cpu *cpu, const struct piece *pieces, uint32_t n);

#endif
