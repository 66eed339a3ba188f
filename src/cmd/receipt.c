/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd/receiver.h"

/* Tells what is missing at the end of the host's recording, or "". */
static void describe_end(const struct receipt *r, uint64_t ended_ns, char *text, size_t len)
{
	char time[32];

	*text = '\0';
	if (r->how == RECEIVED_NOTHING && r->refused)
		snprintf(text, len,
			 "its host did not come (--host-listen), but %u connections that did not "
			 "show the token",
			 r->refused);
	else if (r->how == RECEIVED_NOTHING)
		snprintf(text, len, "its host did not come (--host-listen)");
	else if (r->how == RECEIVED_FULL)
		snprintf(text, len,
			 "its host sent more than %d MiB, and the rest was not taken: not covered",
			 RECEIVER_MOST >> 20);
	else if (r->how == RECEIVED_LEFT)
		snprintf(text, len,
			 "the rest of its host's recording was not waited for (interrupted): what "
			 "is missing is not covered");
	else if (r->last_ns < ended_ns)
		snprintf(text, len, "its host %s %s before the end: not covered from then on",
			 r->how == RECEIVED_WHOLE ? "stopped recording" : "broke off",
			 format_ns(ended_ns - r->last_ns, time, sizeof(time)));
	else if (r->how == RECEIVED_BROKE)
		snprintf(text, len, "its host broke off: its recording has no end");
	else if (!r->begun_ns)
		snprintf(text, len, "its host sent no recording");
}

void receipt_lack(const struct receipt *r, uint64_t begun_ns, uint64_t ended_ns, char *text,
		  size_t len)
{
	char time[32];
	size_t n;

	describe_end(r, ended_ns, text, len);
	n = strlen(text);
	if (r->how != RECEIVED_NOTHING && r->begun_ns > begun_ns)
		snprintf(text + n, len - n,
			 "%sits host came %s after the begin: not covered before", n ? "; " : "",
			 format_ns(r->begun_ns - begun_ns, time, sizeof(time)));
}
