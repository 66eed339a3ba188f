/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentences around the tables: what the numbers do not tell, and what the words mean. */
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/markdown.h"
#include "base/units.h"
#include "render/diff_page.h"

const char *diff_letter(uint32_t k)
{
	static const char *const letters[DIFF_FILES] = {"A", "B", "C", "D", "E", "F", "G", "H"};

	return letters[k];
}

void diff_sentence(const struct page *p, const char *text)
{
	struct flow f;

	if (p->markdown) { /* a word that begins a line may be markup */
		fprintf(p->out, "%s\n", text);
		return;
	}
	flow_start(&f, p->out, p->width, "  ", " ", "  ");
	flow_advice(&f, text);
	flow_end(&f);
}

/* Writes a sentence of its own, after an empty line. */
static void write_note(const struct page *p, const char *text)
{
	fputc('\n', p->out);
	diff_sentence(p, text);
}

/* The same of a file, whose name stays as it is, with its blanks. text: begins with a blank, or
 * with what follows the name at once. */
static void write_note_of(const struct page *p, const char *file, const char *text)
{
	int joined = (int)strcspn(text, " ");
	struct flow f;

	fputc('\n', p->out);
	if (p->markdown) {
		fprintf(p->out, "%s%s\n", file, text);
		return;
	}
	flow_start(&f, p->out, p->width, "  ", " ", "  ");
	flow_add(&f, "%s%.*s", file, joined, text);
	flow_words(&f, text + joined);
	flow_end(&f);
}

/* A file's name: escaped, and in Markdown a code span. */
static const char *name_text(const struct page *p, const char *name, char buf[TEXT_LEN])
{
	char text[TEXT_LEN];

	if (!p->markdown)
		return escape_text(name, SIZE_MAX, buf, TEXT_LEN);
	return markdown_code(escape_text(name, SIZE_MAX, text, sizeof(text)), buf, TEXT_LEN);
}

/* Text from a recording, `len` bytes at most: escaped, and in Markdown no markup. */
static const char *plain_text(const struct page *p, const char *text, size_t len,
			      char buf[TEXT_LEN])
{
	char escaped[TEXT_LEN];

	if (!p->markdown)
		return escape_text(text, len, buf, TEXT_LEN);
	return markdown_text(escape_text(text, len, escaped, sizeof(escaped)), buf, TEXT_LEN);
}

/* Reports losses, which make a recording's numbers too small. */
static void write_loss(const struct page *p, const char *file, const struct view *v)
{
	char a[32], b[32], text[2 * TEXT_LEN], incomplete[TEXT_LEN];
	uint64_t hiccups = view_hiccups_lost(v), records = 0;

	for (uint32_t i = 0; i < v->ncpus; i++)
		records += v->cpu[i].counts.lost;
	if (v->run.incomplete[0]) {
		snprintf(text, sizeof(text), " is incomplete: %s",
			 plain_text(p, v->run.incomplete, sizeof(v->run.incomplete), incomplete));
		write_note_of(p, file, text);
	}
	if (!hiccups && !records)
		return;
	snprintf(text, sizeof(text),
		 ": %s hiccup%s and %s record%s were lost: its sources had more than is shown",
		 format_count(hiccups, a, sizeof(a)), plural(hiccups),
		 format_count(records, b, sizeof(b)), plural(records));
	write_note_of(p, file, text);
}

/* Reports the CPUs or watched threads that are in no figure. */
static void write_left_out(const struct page *p, const char *file, const struct view *v)
{
	uint32_t left_out = diff_left_out(v);
	char text[2 * TEXT_LEN];

	if (!left_out)
		return;
	if (!v->run.watch) {
		write_note_of(p, file,
			      ": it is left out, because how much of their time its CPUs lost is "
			      "not known: parts of it are missing");
		return;
	}
	snprintf(text, sizeof(text),
		 ": %u of %u watched threads %s left out, with all that took their time: how "
		 "much of it they lost is not known, because they reported their losses "
		 "themselves, left a CPU unseen or were not seen to run",
		 left_out, v->ncpus, left_out == 1 ? "is" : "are");
	write_note_of(p, file, text);
}

void diff_losses(const struct page *p)
{
	for (uint32_t k = 0, name = 0; k < p->d->n; k++)
		for (uint32_t i = 0; i < p->d->side[k].n; i++, name++) {
			const struct view *v = p->d->side[k].view[i];
			char text[TEXT_LEN];

			write_loss(p, name_text(p, p->names[name], text), v);
			write_left_out(p, text, v);
		}
}

void diff_unlike(const struct page *p)
{
	char names[TEXT_LEN], text[2 * TEXT_LEN];

	for (uint32_t k = 0; k < p->d->n; k++) {
		char more[64] = "";

		if (!p->d->unlike[k])
			continue;
		plain_text(p, p->d->unlike[k], p->d->unlike_shown[k], names);
		if (p->d->unlikes[k] > DIFF_UNLIKE_SHOWN)
			snprintf(more, sizeof(more), ", and in %u more (all in -f json)",
				 p->d->unlikes[k] - DIFF_UNLIKE_SHOWN);
		snprintf(text, sizeof(text), "the recordings of %s are not alike in: %s%s",
			 diff_letter(k), names, more);
		write_note(p, text);
	}
}

void diff_thresholds(const struct page *p)
{
	char text[TEXT_LEN], a[32];

	if (p->d->raised)
		snprintf(text, sizeof(text),
			 "the thresholds differ: compared are hiccups of %s and more, as in the "
			 "recording with the largest one; shorter ones count as short gaps",
			 format_ns(p->d->threshold_ns, a, sizeof(a)));
	else if (p->d->thresholds_differ)
		snprintf(text, sizeof(text),
			 "the thresholds differ, and each recording's hiccups are those above its "
			 "own: do not compare their number");
	else
		return;
	write_note(p, text);
}

/* Names the sides that were recorded in turn with A, or the others: "B, C: ", and "" for all of
 * them. False: none. */
static bool sides_text(const struct diff *d, bool in_turn, char *buf, size_t len)
{
	uint32_t n = 0;

	buf[0] = '\0';
	for (uint32_t k = 1; k < d->n; k++) {
		if (d->in_turn[k] != in_turn)
			continue;
		snprintf(buf + strlen(buf), len - strlen(buf), "%s%s", n++ ? ", " : "",
			 diff_letter(k));
	}
	if (n + 1 == d->n)
		buf[0] = '\0';
	else
		snprintf(buf + strlen(buf), len - strlen(buf), ": ");
	return n != 0;
}

/* Reports what the intervals know of differences with nothing changed. */
void diff_between(const struct page *p)
{
	char sides[64], text[TEXT_LEN];

	if (sides_text(p->d, true, sides, sizeof(sides))) {
		snprintf(text, sizeof(text),
			 "%sthe intervals are by how far the recordings of a side differ (they "
			 "were made in turn)",
			 sides);
		write_note(p, text);
	}
	if (!sides_text(p->d, false, sides, sizeof(sides)))
		return;
	if (p->d->between > 1)
		snprintf(text, sizeof(text),
			 "%snothing here tells how far two windows differ with nothing changed: up "
			 "to a factor of %g is assumed (--between), and the intervals are wider by "
			 "it. Several recordings a side, made in turn, tell it",
			 sides, p->d->between);
	else
		snprintf(text, sizeof(text),
			 "%swindows are taken to differ by chance alone (--between 1): what else "
			 "changes from one to the next counts as a difference",
			 sides);
	write_note(p, text);
}

/* Writes a sentence below a table. */
static void write_below(const struct page *p, const char *text)
{
	if (p->markdown)
		fputc('\n', p->out);
	diff_sentence(p, text);
}

void diff_legend(const struct page *p)
{
	const struct diff *d = p->d;
	bool none = false;
	char text[TEXT_LEN];

	if (!d->rows)
		return;
	for (uint32_t i = 0; i < d->rows; i++)
		none |= !d->row[i].cell[0].total_ns || !d->row[i].cell[1].total_ns;
	snprintf(text, sizeof(text),
		 "same: may be chance, with %u source%s to look at, or weighs little", d->rows,
		 plural(d->rows));
	write_below(p, text);
	if (none && d->n == 2)
		write_below(p, "where one side has none, the ratio is that of the counts");
}

void diff_unclear(const struct page *p)
{
	const struct diff *d = p->d;
	bool unclear = false, lacking = false;
	char text[TEXT_LEN], time[32];

	for (uint32_t k = 1; k < d->n; k++) {
		unclear |= d->total[k].verdict == DIFF_UNCLEAR;
		for (uint32_t i = 0; i < d->rows; i++) {
			const struct diff_cell *c = &d->row[i].cell[k];

			lacking |= c->lacking;
			unclear |= c->verdict == DIFF_UNCLEAR && !c->lacking;
		}
	}
	if (lacking)
		write_below(p,
			    "unclear, where a recording lost over 1 % of its records or hiccups: "
			    "these may be the difference");
	if (!unclear)
		return;
	snprintf(text, sizeof(text),
		 "unclear: not chance within these windows, and yet not surely more than a factor "
		 "of %g between them, or fewer than 1,000 intervals in each, as any program makes "
		 "that comes or goes",
		 d->between);
	write_below(p, text);
	snprintf(
		text, sizeof(text),
		"to tell, record each side three times, in turn, for %s or longer: a1, b1, a2, b2, "
		"a3, b3; then culprit diff a1.rec a2.rec a3.rec -- b1.rec b2.rec b3.rec",
		format_ns(d->view[0]->run.duration_ns, time, sizeof(time)));
	write_below(p, text);
}
