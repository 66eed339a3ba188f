/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --style and --raw of run: another tool's output in place of the report. */
#ifndef CULPRIT_STYLE_H
#define CULPRIT_STYLE_H

#include "cmd/measure.h"
#include "cmd/output.h"
#include "cmd/rt_file.h"
#include "model/own_period.h"
#include "render/styles.h"

struct styled {
	int style; /* enum style */
	struct oslat_style oslat;
	const char *raw;           /* prefix of sysjitter's raw files; NULL: none */
	bool sort;                 /* the hiccups in them by length */
	struct raw_file *raws;     /* one for each CPU */
	struct own_period *period; /* one for each CPU, for osnoise */
	uint64_t tsc_khz;
	struct rt_file json; /* oslat's */
};

/* Rows of a struct styled: --style, --raw and what belongs to them. */
extern const struct opt style_opts[];

/* Prepares the run: sets what the tool does where nothing else was said: its threshold, and without
 * tracing its CPUs. */
void style_prepare(struct styled *s, struct measure *m);
bool style_wants_hiccups(const struct styled *s);

/* Call when the window has opened, at each hiccup, and at the end. 0 or -1 with the reason said. */
int style_begin(struct styled *s, const struct view *v, FILE *out);
void style_hiccup(struct styled *s, const struct view *v, uint32_t index, const struct account *a,
		  FILE *out);
int style_end(struct styled *s, const struct view *v, FILE *out);

/* Writes what --style-json wants, when all else is written. 0 or -1 with the reason said. */
int style_json(struct styled *s, const struct view *v, const struct limits *limits);

#endif
