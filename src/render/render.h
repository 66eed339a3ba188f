/* Report formats: one file each, one function, one row in the table. */
#ifndef CULPRIT_RENDER_H
#define CULPRIT_RENDER_H

#include <stdbool.h>
#include <stdio.h>
#include "model/view.h"

struct render_options {
	bool colour;    /* escape sequences for a terminal */
	bool stacks;    /* kernel stacks of the origins, in text */
	unsigned width; /* columns; 0: 100 */
};

struct format {
	const char *name;
	const char *what; /* one line for the help */
	/* 0, or -errno when writing failed. */
	int (*write)(const struct view *view, const struct render_options *options, FILE *out);
};

extern const struct format formats[];    /* ends with a row of zeros */
extern const char *const format_names[]; /* the same, for opt_set_choice */

/* One hiccup as a line of JSON, times in ns of CLOCK_MONOTONIC:
 * {"cpu":1,"start_ns":..,"duration_ns":..,"edge_ns":..,"outside_ns":..,"pieces":[{"kind":..,"net_ns":..,"origin":{..}}]} */
void render_hiccup(const struct cpu_summary *cpu, const struct account *account, FILE *out);

int render_text(const struct view *view, const struct render_options *options, FILE *out);
int render_json(const struct view *view, const struct render_options *options, FILE *out);

#endif
