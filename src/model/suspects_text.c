/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sentence on the CPUs that stopped at once, and of who was there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "model/syscall_name.h"
#include "model/view.h"

bool suspect_call(const struct view *v, char name[SYSCALL_NAME])
{
	enum syscall_table table = !strcmp(v->host.arch, "x86_64")    ? SYSCALL_X86_64
				   : !strcmp(v->host.arch, "aarch64") ? SYSCALL_ARM64
								      : SYSCALL_UNKNOWN;

	return v->suspect.call >= 2 && syscall_name(table, v->suspect.call - 2, name);
}

/* "every 333 ms (320 ms to 350 ms), " */
static void say_when(const struct suspects *s, FILE *out)
{
	uint32_t least = suspects_cpus(s);
	char every[32], low[32], high[32];
	struct stop_period p;

	fprintf(out, "when %s%" PRIu32 " of %" PRIu32 " CPUs stopped together, ",
		least < s->of_cpus ? "at least " : "", least, s->of_cpus);
	if (suspects_period(s, &p) || !p.median_ns)
		return;
	fprintf(out, "every %s (%s to %s), ", format_ns(p.median_ns, every, sizeof(every)),
		format_ns(p.low_ns, low, sizeof(low)), format_ns(p.high_ns, high, sizeof(high)));
}

/* "powerd [412] ran on cpu 0 at 118 of 120 of them" */
static void say_who(const struct view *v, FILE *out)
{
	const struct suspect *x = &v->suspect;
	const struct suspect_thread *t = &v->suspects.thread[x->who];
	char comm[sizeof(t->comm) + 1] = "", name[LANE_NAME], share[32], call[SYSCALL_NAME];

	memcpy(comm, t->comm, sizeof(t->comm));
	if (x->several)
		fprintf(out, "a %sthread called %s ran", t->kernel_thread ? "kernel " : "", comm);
	else
		fprintf(out, "%s ran", view_thread(comm, t->kernel_thread, t->tid, name));
	if (x->cpu != UINT32_MAX)
		fprintf(out, " on cpu %" PRIu32, x->cpu);
	fprintf(out, " at %" PRIu32 " of %" PRIu32 " of them", x->there, x->of);
	if (suspect_call(v, call))
		fprintf(out, " (in %s at %" PRIu32 " of the %" PRIu32 " that tell)", call,
			x->call_there, x->call_known);
	fprintf(out, " and %s %% of the time around them: that is no proof",
		format_percent(100 * x->elsewhere, share, sizeof(share)));
}

const char *suspects_say(const struct view *v, char *buf, size_t len)
{
	const struct suspects *s = &v->suspects;
	FILE *out = s->looked && s->nrows ? fmemopen(buf, len, "w") : NULL;

	if (!out)
		return NULL;
	say_when(s, out);
	if (v->suspect.named)
		say_who(v, out);
	else if (v->suspect.of < SUSPECT_STOPS)
		fputs("who else ran is known of too few of them", out);
	else
		fprintf(out,
			"nobody who ran elsewhere was there nearly each time and seldom else "
			"(%" PRIu32 " of them looked at)",
			v->suspect.of);
	fclose(out);
	buf[len - 1] = 0;
	return buf;
}
