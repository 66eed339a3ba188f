/* --style and --raw of run: the output of another tool in place of the report. */
#ifndef CULPRIT_STYLE_H
#define CULPRIT_STYLE_H

#include "cmd/output.h"
#include "render/styles.h"

struct styled {
	int style;       /* enum style */
	const char *raw; /* prefix of sysjitter's raw files; NULL: none */
	FILE **file;     /* of each CPU */
	uint64_t *last_ns;
	struct style_period *period; /* of each CPU, for osnoise */
	uint64_t tsc_khz;
};

/* Before the run: the threshold of that tool into *threshold_ns, unless one is given. */
void style_prepare(const struct styled *s, uint64_t *threshold_ns);
bool style_wants_hiccups(const struct styled *s);

/* The window has opened, a hiccup has come, the run has ended. 0 or -1 with the reason said. */
int style_begin(struct styled *s, const struct view *v, FILE *out);
void style_hiccup(struct styled *s, const struct view *v, uint32_t index, const struct account *a,
		  FILE *out);
int style_end(struct styled *s, const struct view *v, FILE *out);

#endif
