/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Thresholds that a script gates on: --max-hiccup and --max-lost judge at the end, --stop-on ends
 * the run. */
#ifndef CULPRIT_LIMITS_H
#define CULPRIT_LIMITS_H

#include "base/opt.h"
#include "cmd/cases.h"
#include "model/trigger.h"

#define LIMITS_HIT 512 /* bytes for limits_describe */

struct limits {
	uint64_t max_hiccup_ns; /* 0: not given */
	double max_lost;        /* percent of a CPU's time; 0: not given */
	struct triggers stop_on;
	bool stopped; /* by one of these */
	char stopped_by[LIMITS_HIT];
	struct cases cases; /* verdicts for --junit and --tap */
};

/* Events of CPUs, of operations, and of watched threads. */
#define RUN_TRIGGERS       (TRIGGER_BIT(HICCUP) | TRIGGER_BIT(LOST) | TRIGGER_BIT(COUNT))
#define OPERATION_TRIGGERS (TRIGGER_BIT(HICCUP) | TRIGGER_BIT(COUNT))
#define WATCH_TRIGGERS     (RUN_TRIGGERS | TRIGGER_BIT(WAKE) | TRIGGER_BIT(LATE))

/* Reads one more trigger. Setter of a struct triggers; context: the bits of what can
 * happen. */
int limits_set_trigger(const char *text, void *field, const struct opt *row, char *why,
		       size_t whylen);

/* Rows of a struct limits. --stop-on has a table of its own, for commands without the others; who
 * includes it gives the bits of what can happen there: .arg = &(const unsigned){RUN_TRIGGERS}. */
extern const struct opt limits_opts[], limits_stop_on_opts[];

/* The shortest time of one hiccup that --stop-on gives, ns; 0: it gives none. */
uint64_t limits_shortest(const struct limits *l);

/* Refuses a --max-hiccup below what counts as a hiccup in this view, which the file of that name
 * has (NULL: a window that begins), as nobody could tell, where no hiccup has crossed it. 0 or -1
 * with the reason said. */
int limits_check(const struct limits *l, const struct view *v, const char *file);

/* Call it when the view has its CPUs. 0 or -1 with the reason said: limits_check's, too. */
int limits_begin(struct limits *l, struct view *v);
void limits_end(struct limits *l); /* at the end, whichever; not written files are given up */

/* Takes a hiccup. Says, once, which trigger it pulled; l->stopped is then true. */
void limits_hear(struct limits *l, const struct view *v, uint32_t lane, const struct account *a);

/* Lets triggers ask for the causes of the view's sources, and makes room. 0 or -1 with the reason
 * said: also where a time is below what counts as a hiccup, so that it would tell nobody. */
int limits_begin_triggers(struct triggers *t, struct view *v);

/* Writes where and what a trigger was pulled by: "CPU 3 at +1.23 s: hiccup>100us: 152 us, most of
 * it thread kworker/3:1". Any bytes. Returns buf. */
const char *limits_describe(const struct view *v, const struct trigger_hit *hit,
			    char buf[LIMITS_HIT]);

/* True when a verdict is wanted: a limit, a trigger, or a file of verdicts. */
bool limits_given(const struct limits *l);

/* Opens the files of --junit and --tap; before anything is measured. 0 or -1 with the reason said.
 */
int limits_open(struct limits *l);

/* The rights that it takes to write them at the end. */
uint64_t limits_rights(const struct limits *l);

/* Reports what crosses them in the view, one line each on stderr. Returns EXIT_CROSSED or EXIT_OK;
 * EXIT_INCOMPLETE where a verdict is wanted and not all was measured, nobody is there to be judged,
 * or the share that --max-lost asks for is not known. */
int limits_crossed(struct limits *l, const struct view *v);

/* Writes the files of --junit and --tap. 0 or -1 with the reason said. */
int limits_write(struct limits *l);

#endif
