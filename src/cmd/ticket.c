/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/ticket.h"

#include "base/say.h"
#include "render/tuned.h"

const struct opt_choice ticket_formats[] = {
	{"text", "for people"},
	{"json", "for scripts"},
	{"markdown", "for a ticket, for who has to approve the change"},
	{"html", "the same as a page for a browser"},
	{0},
};

int ticket_write(struct output *o, int format, const struct tuned *t)
{
	static const enum sheet_form forms[] = {
		[TICKET_TEXT] = SHEET_TEXT,
		[TICKET_MARKDOWN] = SHEET_MARKDOWN,
		[TICKET_HTML] = SHEET_HTML,
	};
	struct render_options r;

	output_ready(o, &r);
	return output_done(o, format == TICKET_JSON ? render_tuned_json(t, o->file)
						    : render_tuned(t, forms[format], &r, o->file));
}

int ticket_write_one(struct output *o, int format, const struct tried *t)
{
	struct tuned one = {.host = t->host, .cpus = t->cpus, .one = true, .dry = t->dry};
	struct tuned_step *s = tuned_add(&one);
	int err =
		s && !tuned_take(s, t) ? ticket_write(o, format, &one) : complain("out of memory");

	tuned_free(&one);
	return err;
}
