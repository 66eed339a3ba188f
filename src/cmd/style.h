/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --style and --raw of run: another tool's output in place of the report. */
#ifndef CULPRIT_STYLE_H
#define CULPRIT_STYLE_H

#include "cmd/output.h"
#include "render/styles.h"

struct styled {
	int style;       /* enum style */
	const char *raw; /* prefix of sysjitter's raw files; NULL: none */
	FILE **file;     /* one for each CPU */
	uint64_t *last_ns;
	struct style_period *period; /* one for each CPU, for osnoise */
	uint64_t tsc_khz;
};

/* Before the run: writes the tool's threshold to *threshold_ns, unless one is given. */
void style_prepare(const struct styled *s, uint64_t *threshold_ns);
bool style_wants_hiccups(const struct styled *s);

/* Call when the window has opened, at each hiccup, and at the end. 0 or -1 with the reason said. */
int style_begin(struct styled *s, const struct view *v, FILE *out);
void style_hiccup(struct styled *s, const struct view *v, uint32_t index, const struct account *a,
		  FILE *out);
int style_end(struct styled *s, const struct view *v, FILE *out);

#endif
