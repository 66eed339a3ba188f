/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading a recording without what it tells of its machine's users. */
#include <string.h>

#include "recording/reader.h"

void reader_redact_head(struct recording *r)
{
	if (!r->part.redact)
		return;
	naming_redact(r->naming);
	redact_head(r->part.redact, &r->view->host, &r->view->run);
	for (uint32_t i = 0; i < r->view->ncpus; i++)
		redact_lane(r->part.redact, &r->view->cpu[i]);
}

/* The run's one text of its own is the label. */
void reader_redact_run(struct recording *r)
{
	if (!r->part.redact)
		return;
	memset(r->view->run.label, 0, sizeof(r->view->run.label));
	r->view->run.redacted = true;
}

void reader_redact_event(struct recording *r, struct event *e)
{
	if (!r->part.redact)
		return;
	if (e->type == EVENT_RECORD) {
		r->record = redact_record(r->part.redact, e->record);
		e->record = &r->record;
	} else if (e->type == EVENT_WHERE) {
		r->spot = *e->spot;
		redact_spot(r->part.redact, &r->spot);
		e->spot = &r->spot;
	}
}

/* Names that a tail does not repeat have been replaced before. */
void reader_redact_tail(struct recording *r, struct host *host, struct run *run)
{
	char name[sizeof(host->hostname)];
	bool same = !strcmp(host->hostname, r->view->host.hostname);

	if (!r->part.redact)
		return;
	memcpy(name, host->hostname, sizeof(name));
	redact_head(r->part.redact, host, run);
	if (same)
		memcpy(host->hostname, name, sizeof(name));
}

void reader_redact_lane(struct recording *r, struct cpu *c, const char *before)
{
	if (r->part.redact && strcmp(before, c->comm) != 0)
		redact_lane(r->part.redact, c);
}
