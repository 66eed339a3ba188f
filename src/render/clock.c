/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks for people (some rows left out):
 *
 *   rate of the counter (tsc)
 *       rate, kHz         +-  off, rms     max     tenths    over
 *     2596136.190  0.015 ppm    3.1 ns  7.1 ns  0.051 ppm  3.00 s  MONOTONIC
 *   tsc of other CPUs, from cpu 0
 *     ahead by      +-  round trip  and back  messages
 *        -5 ns  235 ns      481 ns    481 ns    17,375  cpu 1
 *   cost of reading it, and the clocks
 *         min   median      p99  resolution     read in
 *     22.1 ns  22.3 ns  37.9 ns        1 ns  user space  CLOCK_MONOTONIC
 *      508 ns   515 ns   739 ns        1 ns  the kernel  CLOCK_THREAD_CPUTIME_ID
 *
 * and a table for each PTP hardware clock.
 */
#include "render/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/table.h"
#include "base/units.h"
#include "render/text.h"

#define SAFE_MAX 1100

static const char *safe(const char *text, char buf[SAFE_MAX])
{
	return escape_text(text, SIZE_MAX, buf, SAFE_MAX);
}

static struct table *begin_table(const struct page *p, const char *const *headings)
{
	struct table *t = table_new(p->width, 2);

	for (size_t i = 0; t && headings[i]; i++)
		table_column(t, headings[i], ALIGN_RIGHT, false);
	if (t)
		table_column(t, "", ALIGN_LEFT, true);
	return t;
}

static int end_table(const struct page *p, struct table *t)
{
	if (!t)
		return -ENOMEM;
	table_print(t, p->out, p->colour);
	table_free(t);
	return 0;
}

static void title(const struct page *p, const char *text)
{
	fprintf(p->out, "\n%s%s%s\n", text_style(p, BOLD), text, text_plain(p));
}

/* "+12 ns", "-3.20 us" */
static const char *signed_ns(double ns, char *buf, size_t len)
{
	char text[32];

	snprintf(buf, len, "%c%s", ns < 0 ? '-' : '+',
		 format_ns(fabs(ns) + 0.5, text, sizeof(text)));
	return buf;
}

static const char *short_ps(uint64_t ps, char *buf, size_t len)
{
	if (ps < 99950)
		snprintf(buf, len, ps < 9995 ? "%.2f ns" : "%.1f ns", ps / 1000.0);
	else
		format_ns((ps + 500) / 1000, buf, len);
	return buf;
}

/* ---- the parts ---- */

static void write_head(const struct page *p, const struct clock_view *v)
{
	char text[SAFE_MAX], more[SAFE_MAX], guest[HOST_GUEST];
	struct flow f;

	fputs(text_style(p, BOLD), p->out);
	flow_start(&f, p->out, p->width, "culprit " CULPRIT_VERSION " clock", " · ", "  ");
	fputs(text_plain(p), p->out);
	f.some = true;
	flow_add(&f, "linux %s", safe(v->host.kernel, text));
	if (v->host.cpu_model[0])
		flow_add(&f, "%s", safe(v->host.cpu_model, text));
	if (v->host.hypervisor[0])
		flow_add(&f, "%s", safe(host_guest(&v->host, guest), text));
	flow_add(&f, "on cpu %u", v->reference);
	flow_add(&f, "clocksource %s (of: %s)",
		 v->host.clocksource[0] ? safe(v->host.clocksource, text) : "not known",
		 safe(v->clocksources, more));
	flow_end(&f);
	if (v->unstable)
		fprintf(p->out, "%sthe counter is not stable here: %s%s\n", text_style(p, BOLD),
			v->unstable, text_plain(p));
}

static void rate_row(struct table *t, const struct clock_rate *r, const char *by)
{
	char text[32];

	if (!r->known) {
		table_cell(t, NULL, "not known");
		for (int i = 0; i < 5; i++)
			table_cell(t, NULL, "");
	} else {
		table_cellf(t, NULL, "%.3f", r->khz);
		table_cellf(t, NULL, "%.3f ppm", r->error_ppm);
		table_cellf(t, NULL, "%.1f ns", r->rms_ns);
		table_cellf(t, NULL, "%.1f ns", r->worst_ns);
		table_cellf(t, NULL, "%.3f ppm", r->spread_ppm);
		table_cell(t, NULL, format_ns(r->duration_ns, text, sizeof(text)));
	}
	table_cell(t, "1", by);
	table_end_row(t);
}

/* Writes which clock runs faster, where the difference is larger than its error. */
static void write_pace(const struct page *p, const struct clock_view *v)
{
	double ppm = (v->raw.khz / v->monotonic.khz - 1) * 1e6;
	double error = v->monotonic.error_ppm + v->raw.error_ppm;

	if (fabs(ppm) <= error)
		fprintf(p->out,
			"  CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW run alike, within %.3f ppm\n",
			error);
	else
		fprintf(p->out,
			"  CLOCK_MONOTONIC runs %.3f ppm (+- %.3f) %s than CLOCK_MONOTONIC_RAW\n",
			fabs(ppm), error, ppm > 0 ? "faster" : "slower");
}

static int write_rates(const struct page *p, const struct clock_view *v)
{
	static const char *const headings[] = {"rate, kHz", "+-",   "off, rms", "max",
					       "tenths",    "over", NULL};
	struct table *t = begin_table(p, headings);
	char text[80];
	int err;

	snprintf(text, sizeof(text), "rate of the counter (%s)", v->counter);
	title(p, text);
	if (!t)
		return -ENOMEM;
	rate_row(t, &v->monotonic, "MONOTONIC");
	rate_row(t, &v->raw, "MONOTONIC_RAW");
	err = end_table(p, t);
	if (v->monotonic.known || v->raw.known)
		fprintf(p->out, "  off: from a straight line; tenths: of the time, how far their "
				"rates differ\n");
	if (v->monotonic.known && v->raw.known)
		write_pace(p, v);
	if (v->ntp_known)
		fprintf(p->out, "  the kernel is told %+.3f ppm, %s\n", v->ntp_ppm,
			v->ntp_synchronised ? "by a time daemon that is in step"
					    : "and nobody says that it is synchronised");
	else
		fprintf(p->out, "  what a time daemon tells the kernel is not known\n");
	return err;
}

static int write_offsets(const struct page *p, const struct clock_view *v)
{
	static const char *const headings[] = {"ahead by", "+-",       "round trip",
					       "and back", "messages", NULL};
	struct table *t;
	char a[40], b[40];

	snprintf(a, sizeof(a), "%s of other CPUs, from cpu %u", v->counter, v->reference);
	title(p, a);
	if (!v->noffsets) {
		fprintf(p->out, "  no other CPU was asked for\n");
		return 0;
	}
	t = begin_table(p, headings);
	for (uint32_t i = 0; t && i < v->noffsets; i++) {
		const struct clock_offset *o = &v->offset[i];

		if (o->failed) {
			table_cell(t, NULL, "not known");
			for (int k = 0; k < 4; k++)
				table_cell(t, NULL, "");
			table_cellf(t, "1", "cpu %u: %s", o->cpu, o->failed);
		} else {
			table_cell(t, NULL, signed_ns(o->ns, a, sizeof(a)));
			table_cell(t, NULL, format_ns(o->bound_ns + 0.5, a, sizeof(a)));
			table_cell(t, NULL,
				   format_ns(o->way[0].round_trip * v->ns_per_tick + 0.5, a,
					     sizeof(a)));
			table_cell(t, NULL,
				   format_ns(o->way[1].round_trip * v->ns_per_tick + 0.5, a,
					     sizeof(a)));
			table_cell(t, NULL,
				   format_count(o->way[0].count + o->way[1].count, b, sizeof(b)));
			table_cellf(t, "1", "cpu %u%s", o->cpu,
				    o->moved ? ": no one offset explains all messages, the "
					       "counters drift"
					     : "");
		}
		table_end_row(t);
	}
	return end_table(p, t);
}

static int write_costs(const struct page *p, const struct clock_view *v)
{
	static const char *const headings[] = {"min",        "median",  "p99",
					       "resolution", "read in", NULL};
	static const char *const how[] = {"not known", "user space", "the kernel"};
	struct table *t = begin_table(p, headings);
	char text[40];

	title(p, "cost of reading it, and the clocks");
	for (uint32_t i = 0; t && i < v->ncosts; i++) {
		const struct clock_cost *c = &v->cost[i];

		if (c->absent) {
			for (int k = 0; k < 5; k++)
				table_cell(t, NULL, k ? "" : "-");
			table_cellf(t, "1", "%s: %s", c->name, c->absent);
		} else {
			table_cell(t, NULL, short_ps(c->min_ps, text, sizeof(text)));
			table_cell(t, NULL, short_ps(c->median_ps, text, sizeof(text)));
			table_cell(t, NULL, short_ps(c->p99_ps, text, sizeof(text)));
			table_cell(t, NULL,
				   c->counter ? ""
					      : format_ns(c->resolution_ns, text, sizeof(text)));
			table_cell(t, NULL, c->counter ? "" : how[c->how]);
			table_cell(t, "1", c->name);
		}
		table_end_row(t);
	}
	return end_table(p, t);
}

/* ---- PTP hardware clocks ---- */

const char *render_phc_error(int error)
{
	switch (error) {
	case 0:
		return NULL;
	case EOPNOTSUPP:
		return "not supported";
	case ENOTTY:
	case ENOSYS:
		return "not in this kernel";
	default:
		return strerror(error);
	}
}

static void write_phc_head(const struct page *p, const struct clock_view *v, const struct phc *d)
{
	char text[SAFE_MAX], start[SAFE_MAX + 80];
	struct flow f;

	snprintf(start, sizeof(start), "PTP hardware clock %s", safe(d->operand, text));
	title(p, start);
	flow_start(&f, p->out, p->width, "  ", " · ", "  ");
	flow_add(&f, "%s", safe(d->path, text));
	if (d->name[0])
		flow_add(&f, "%s", safe(d->name, text));
	if (d->max_ppb >= 0) {
		flow_add(&f, "adjustable by %d ppb", d->max_ppb);
		flow_add(&f, "%d pins, %d external time stamps, %s", d->pins, d->external,
			 d->pps ? "PPS" : "no PPS");
		flow_add(&f, "%s read both clocks at once",
			 d->cross ? "its hardware can" : "its hardware cannot");
	}
	flow_end(&f);
	if (d->system_set)
		fprintf(p->out, "  its rate is not known: CLOCK_REALTIME was set meanwhile\n");
	if (d->rate_known && d->rate_ppm < -900000)
		fprintf(p->out, "  it stands still\n");
	else if (d->rate_known)
		fprintf(p->out, "  it runs %.3f ppm (+- %.3f) %s than CLOCK_REALTIME\n",
			fabs(d->rate_ppm), d->rate_error_ppm,
			d->rate_ppm < 0 ? "slower" : "faster");
	if (d->scale == PHC_TAI)
		fprintf(p->out, "  it keeps TAI: %d s are taken off (TAI - UTC, from %s)\n",
			v->tai_s, v->tai_from);
	else if (d->scale == PHC_UTC)
		fprintf(p->out, "  it keeps UTC: nothing is taken off\n");
	else
		fprintf(p->out,
			"  it keeps neither UTC nor TAI (TAI - UTC is %d s, from %s): nothing is "
			"taken off\n",
			v->tai_s, v->tai_from);
}

static int write_phc(const struct page *p, const struct clock_view *v, const struct phc *d)
{
	static const char *const headings[] = {"offset", "least", "most", "delay",
					       "call",   "min",   NULL};
	struct table *t = begin_table(p, headings);
	char text[40];

	write_phc_head(p, v, d);
	for (int i = 0; t && i < PHC_WAYS; i++) {
		const struct phc_result *r = &d->result[i];
		double applied = d->scale == PHC_TAI ? v->tai_s * 1e9 : 0;

		if (r->error) {
			for (int k = 0; k < 6; k++)
				table_cell(t, NULL, k ? "" : "-");
			table_cellf(t, "1", "%s: %s", phc_way_name(i), render_phc_error(r->error));
		} else {
			table_cell(t, NULL, signed_ns(r->raw_ns - applied, text, sizeof(text)));
			table_cell(t, NULL,
				   signed_ns(r->raw_least_ns - applied, text, sizeof(text)));
			table_cell(t, NULL,
				   signed_ns(r->raw_most_ns - applied, text, sizeof(text)));
			table_cell(t, NULL,
				   i == PHC_PRECISE ? ""
						    : format_ns(r->delay_ns, text, sizeof(text)));
			table_cell(t, NULL, format_ns(r->call_p50_ns, text, sizeof(text)));
			table_cell(t, NULL, format_ns(r->call_min_ns, text, sizeof(text)));
			table_cell(t, "1", phc_way_name(i));
		}
		table_end_row(t);
	}
	return end_table(p, t);
}

int render_clock_text(const struct clock_view *v, const struct render_options *options, FILE *out)
{
	struct page p = {.out = out,
			 .colour = options->colour,
			 .width = options->width ? options->width : 100};
	int err;

	write_head(&p, v);
	err = write_rates(&p, v);
	err = err ? err : write_offsets(&p, v);
	err = err ? err : write_costs(&p, v);
	for (uint32_t i = 0; i < v->ndevices && !err; i++)
		err = write_phc(&p, v, &v->device[i]);
	return err ? err : ferror(out) ? -EIO : 0;
}
