/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of the HTML report. The output is well-formed XML as well: elements are
 * closed, attributes quoted, and the only entities are the five of XML. */
#ifndef CULPRIT_HTML_H
#define CULPRIT_HTML_H

#include <stdbool.h>
#include <stdio.h>
#include "model/groups.h"
#include "model/report.h"
#include "model/view.h"

extern const char html_css[]; /* html.css, compiled in */

struct html {
	FILE *out;
	const struct view *view;
	/* CPUs with details of all views in this file: the more there are, the coarser each is
	 * drawn. */
	uint32_t ncpus;
	uint32_t number; /* place of the view in the file, from 1 on: the begin of its links */
};

/* Writes a page up to the begin of its <main>. title: printable. */
void html_begin(FILE *out, const char *title);

/* ---- text: safe inside elements and inside quoted attributes ---- */

void html_text(FILE *out, const char *printable);  /* UTF-8 from escape_text, or our own */
void html_name(FILE *out, const char *name);       /* a name from the machine, any bytes */
void html_command(FILE *out, const char *command); /* the same, with its backslashes */
void html_command_n(FILE *out, const char *command, size_t len);
void html_name_n(FILE *out, const char *name, size_t len);
void html_who(FILE *out, const struct source *s); /* report_who's words */

/* Advice on a source: prose in the text's font, commands in code. The same of a verdict. */
void html_advice(FILE *out, const char *advice);
void html_verdict(FILE *out, const char *verdict);

/* "38.2 µs", "12,345", "0.0061 %" */
void html_ns(FILE *out, uint64_t ns);
void html_mean_ns(FILE *out, double ns); /* as format_mean_ns */
void html_ps(FILE *out, uint64_t ps);
void html_count(FILE *out, uint64_t n);
void html_share(FILE *out, uint64_t part, uint64_t whole);

/* "by poke [812] on cpu 0", "by an interrupt on cpu 0" */
void html_asker(FILE *out, const struct asker *a);

/* Share of its time that a lane lost, or the time where the share is not known. */
void html_lost(FILE *out, const struct view *v, uint32_t index);

/* "cpu 3", or the name of a watched thread */
void html_lane(FILE *out, const struct view *v, uint32_t index);
/* The same where it stands for others: "cpu 3, one of 59 alike" */
void html_one_of(FILE *out, const struct view *v, uint32_t index);

/* True when hiccups are called windows: a workload was measured. */
static inline bool html_windows(const struct view *v)
{
	return v->run.windows && !v->run.watch;
}

/* ---- kinds: enum source_kind and TIMELINE_EDGE behind it ---- */

void html_kind(const struct html *h, unsigned kind); /* writes the name of a kind */
/* The CSS class of a kind, with the colour, behind "k-"; TIMELINE_KINDS: of the rest. */
const char *html_class(unsigned kind);
void html_swatch(FILE *out, unsigned kind);

/* ---- axes: labels are HTML above or below a stretched drawing, at a percentage of its width ----
 */

uint64_t html_step(uint64_t range_ns,
		   unsigned parts); /* round time that fits into the range about `parts` times */
void html_tick(FILE *out, double percent, uint64_t ns,
	       uint64_t step_ns);                        /* label in ns, in the unit of the step */
void html_tick_ns(FILE *out, double percent, double ns); /* with parts of ns */

/* A y axis of times, ns */
struct html_scale {
	double low, high;
	bool log;
};

struct html_scale html_scale_of(double low, double high);   /* for values from low to high */
double html_scale_y(const struct html_scale *a, double ns); /* the place on it, 0 to 1 */
/* Writes labels beside a drawing: powers of ten, with 2 and 5 between them while they are few;
 * round values on a linear axis. */
void html_scale_values(FILE *out, const struct html_scale *a);

/* ---- parts of a view ---- */

void html_card(const struct html *h, uint32_t index); /* a CPU's figures, an item of a list */
/* Draws time by kind as shares of a line. */
void html_shares(const struct html *h, const uint64_t by_kind[TIMELINE_KINDS], uint64_t whole);

void html_series(const struct html *h);
void html_series_histograms(const struct html *h);
void html_legend(const struct html *h); /* the kinds that took time, with their colours */
void html_timeline(const struct html *h);
/* Draws the values of n distributions by percentile, a line each. */
struct html_line {
	char name[4 * LANE_NAME]; /* printable */
	const struct hist *hist;
	bool fine; /* ps */
};
/* index: the lane whose they are; h->view->ncpus: a line for each lane. */
void html_percentiles(const struct html *h, uint32_t index, const struct html_line *line,
		      uint32_t n);
/* Draws how a lane's values of a series went over time; nothing where that is not known. */
void html_course(const struct html *h, uint32_t index, const struct series *s);
void html_histograms(const struct html *h);
int html_sources(const struct html *h, uint32_t index);                  /* 0 or -ENOMEM */
int html_group_sources(const struct html *h, const struct cpu_group *g); /* the same */
/* Parts on many CPUs: what each group lost, as cards; all of them in one table; a map of when. */
void html_groups(const struct html *h);
void html_all_cpus(const struct html *h);
void html_heat(const struct html *h);
void html_worst(const struct html *h);
int html_audit(const struct html *h);                  /* 0 or -ENOMEM */
void html_book(const struct html *h);                  /* entries of the causes */
void html_cause(const struct html *h, const char *id); /* id of a cause, with a link to its entry */
void html_method(const struct html *h);

/* Writes the page of several views: the hosts side by side, with links, and the sources that cost
 * most. 0 or -errno.
 */
int html_index(const struct view *const *views, uint32_t n, FILE *out);

#endif
