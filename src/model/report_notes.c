/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notes on a source below its row in a report, a line each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "model/calls.h"
#include "model/owner.h"
#include "model/report.h"

#define ASKERS_MOST 3 /* with stacks */

/* "190 runs; 150 interruptions began with it", when the two numbers differ. */
static void note_runs(const struct source *s, FILE *out)
{
	char runs[32], count[32];

	if (s->count == s->net.count || s->kind == SOURCE_OUTSIDE)
		return;
	fprintf(out, "%s run%s; %s interruption%s began with it\n",
		format_count(s->net.count, runs, sizeof(runs)), plural(s->net.count),
		s->count ? format_count(s->count, count, sizeof(count)) : "no",
		s->count > 1 ? "s" : "");
}

/* "others left unseen, 12 times: up to 3.41 ms" */
static void note_unseen(const struct source *s, FILE *out)
{
	char time[32], count[32];

	if (s->unseen.ns)
		fprintf(out, "others left unseen, %s time%s: up to %s\n",
			format_count(s->unseen.count, count, sizeof(count)),
			plural(s->unseen.count), format_ns(s->unseen.ns, time, sizeof(time)));
}

static void note_name(const char *what, const char *name, size_t len, FILE *out)
{
	char text[4 * FACT_NAME_MAX];

	fprintf(out, "%s" REPORT_NAME "%s" REPORT_END "\n", what,
		escape_text(name, len, text, sizeof(text)));
}

/* "by poke [812] · app.service, on cpu 0: do_nanosleep (5 of 9)"; "5+" where there may have been
 * more. "(5 of 9; 3 of them this way)" where the program's calls were not always the same. */
static void note_asker(const struct askers *o, const struct asker_row *r, FILE *out)
{
	char text[REPORT_OWNED], way[CALLS_WAY], shown[4 * CALLS_WAY], count[32], known[32];
	const struct asker_row *most = asker_way(r);

	fputs(report_owned_asker(&r->who, text), out);
	if (*calls_way(most ? most : r, way))
		fprintf(out, ": " REPORT_NAME "%s" REPORT_END,
			escape_text(way, SIZE_MAX, shown, sizeof(shown)));
	fprintf(out, " (%s%s of %s", format_count(r->count, count, sizeof(count)),
		r->missed ? "+" : "", format_count(o->known, known, sizeof(known)));
	if (most && most->count < r->count)
		fprintf(out, "; %s%s of them this way",
			format_count(most->count, count, sizeof(count)), most->missed ? "+" : "");
	fputs(")\n", out);
}

/* Notes how many more requests there were. With a "+" above, some of them may be that asker's. */
static void note_others(const struct askers *o, const uint32_t *shown, uint32_t n, FILE *out)
{
	uint64_t rest = o->known - o->unnamed;
	char count[32], unknown[32];

	for (uint32_t i = 0; i < n; i++)
		rest -= o->row[shown[i]].count;
	if (rest || o->unnamed)
		fprintf(out, "%s more%s, %s unknown\n", format_count(rest, count, sizeof(count)),
			o->count > n ? " by others" : "",
			format_count(o->unnamed, unknown, sizeof(unknown)));
}

/* "command line: python3 /srv/feed.py" */
static void note_command(const char *what, const char *command, FILE *out)
{
	if (command && *command)
		note_name(what, command, SIZE_MAX, out);
}

/* The program's part of a stack, below the kernel's; with the file where that is not in the name.
 */
static void note_calls(const struct asker_row *r, FILE *out)
{
	char frame[CALLS_FRAME], text[CALLS_FRAME + CALLS_FILE + CALLS_LINE + 8];
	const char *calls = r->who.calls;
	struct call c;

	if (r->who.user && !(calls && *calls))
		fputs("    its program's calls are not known\n", out);
	for (int n = 0; n < CALLS_MOST && calls_next(&calls, &c); n++) {
		snprintf(text, sizeof(text), "%s%s%s%s%s%s", calls_frame(&c, frame),
			 c.line[0] ? " at " : "", c.line, c.name[0] ? " (" : "",
			 c.name[0] ? c.file : "", c.name[0] ? ")" : "");
		if (c.gap)
			strcpy(text, "callers that are not known");
		note_name("    ", text, SIZE_MAX, out);
	}
}

static void note_askers(const struct askers *o, bool stacks, FILE *out)
{
	uint32_t order[ASKERS_MOST], n = askers_top(o, order, stacks ? ASKERS_MOST : 1);

	for (uint32_t i = 0; i < n; i++) {
		const struct asker_row *r = &o->row[order[i]], *way = asker_way(r);

		note_asker(o, r, out);
		note_command(stacks ? "    its command line: " : "its command line: ",
			     r->who.command, out);
		r = way ? way : r;
		for (int k = 0; stacks && k < r->nframes; k++)
			note_name("    ", r->frame[k], SIZE_MAX, out);
		if (stacks)
			note_calls(r, out);
	}
	if (stacks)
		note_others(o, order, n, out);
}

/* "7 records missing; most seen: local_timer" */
static void note_lost(const struct sources *t, const struct source *s, FILE *out)
{
	const struct source *near = sources_near_lost(t);
	char count[32], who[REPORT_WHO + 2];

	fprintf(out, "%s record%s missing%s%s\n", format_count(s->missing, count, sizeof(count)),
		plural(s->missing), near ? "; most seen: " : "",
		near ? report_mark(near, who) : "");
}

char *report_notes(const struct sources *t, const struct source *s, bool stacks)
{
	char stops[REPORT_TEXT], owner[OWNER_TEXT], *notes = NULL;
	size_t len;
	FILE *out = open_memstream(&notes, &len);

	if (!out)
		return NULL;
	note_runs(s, out);
	note_unseen(s, out);
	if (report_stops(s, stops, sizeof(stops)))
		fprintf(out, "%s\n", stops);
	if (s->together)
		note_name("", s->together, SIZE_MAX, out);
	if (s->device)
		note_name("from ", s->device, SIZE_MAX, out);
	if (s->affinity)
		note_name("may go to cpu ", s->affinity, SIZE_MAX, out);
	if (s->memory_of[0])
		note_name("memory of ", s->memory_of, sizeof(s->memory_of), out);
	if (s->memories)
		fputs("memory of several\n", out);
	if (owner_words(s->owner, owner) && strcmp(owner, s->name) != 0)
		note_name("in ", owner, SIZE_MAX, out);
	note_command("command line: ", s->command, out);
	if (s->askers)
		note_askers(s->askers, stacks, out);
	if (s->kind == SOURCE_LOST)
		note_lost(t, s, out);
	if (!fclose(out))
		return notes;
	free(notes);
	return NULL;
}
