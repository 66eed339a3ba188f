/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NTP_EPOCH   2208988800ULL /* 1970 in seconds since 1900 */
#define SAME_SCALE  5000000000LL  /* a clock this near to a scale keeps it, if badly */
#define NS_PER_S    1000000000LL
#define MIN_FOR_FIT 3

/* ---- rate ---- */

struct line {
	double slope;    /* ns per tick */
	double at0, ns0; /* a point on the line, relative to the first reading */
};

/* Fits by least squares, about the mean: the numbers stay small enough for doubles. */
static bool fit(const struct clock_reading *r, uint32_t n, struct line *line)
{
	double mean_x = 0, mean_y = 0, xx = 0, xy = 0;

	for (uint32_t i = 0; i < n; i++) {
		mean_x += (double)(r[i].tick - r[0].tick) / n;
		mean_y += (double)(r[i].ns - r[0].ns) / n;
	}
	for (uint32_t i = 0; i < n; i++) {
		double x = (double)(r[i].tick - r[0].tick) - mean_x,
		       y = (double)(r[i].ns - r[0].ns) - mean_y;

		xx += x * x;
		xy += x * y;
	}
	*line = (struct line){xx > 0 ? xy / xx : 0, mean_x, mean_y};
	return xx > 0 && xy > 0;
}

/* Difference between the slopes of the tenths, each from its first to its last reading. */
static double spread(const struct clock_reading *r, uint32_t n, double slope)
{
	double least = INFINITY, most = -INFINITY;
	uint32_t step = (n - 1) / CLOCK_TENTHS;

	if (!step)
		return 0;
	for (uint32_t i = 0; i + step < n; i += step) {
		double s =
			(double)(r[i + step].ns - r[i].ns) / (double)(r[i + step].tick - r[i].tick);

		least = fmin(least, s);
		most = fmax(most, s);
	}
	return (most - least) / slope * 1e6;
}

struct clock_rate clock_rate(const struct clock_reading *r, uint32_t n)
{
	struct clock_rate rate = {.readings = n};
	double sum = 0;
	struct line line;

	if (n < MIN_FOR_FIT || !fit(r, n, &line))
		return rate;
	for (uint32_t i = 0; i < n; i++) {
		double off = (double)(r[i].ns - r[0].ns) - line.ns0 -
			     line.slope * ((double)(r[i].tick - r[0].tick) - line.at0);

		sum += off * off / n;
		rate.worst_ns = fmax(rate.worst_ns, fabs(off));
	}
	rate.known = true;
	rate.khz = 1e6 / line.slope;
	rate.rms_ns = sqrt(sum);
	rate.duration_ns = r[n - 1].ns - r[0].ns;
	/* the place within its tick at which the counter was read is not known, too */
	rate.error_ppm = ((r[0].width + 1) + (r[n - 1].width + 1)) / 2.0 /
			 (double)(r[n - 1].tick - r[0].tick) * 1e6;
	rate.spread_ppm = spread(r, n, line.slope);
	return rate;
}

bool clock_tsc_refused(const char *list)
{
	static const char *const hardware[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies"};
	bool some = false;

	while (list && *(list += strspn(list, " \n"))) {
		size_t len = strcspn(list, " \n");

		some = false;
		for (size_t i = 0; i < sizeof(hardware) / sizeof(hardware[0]); i++)
			some |= strlen(hardware[i]) == len && !strncmp(list, hardware[i], len);
		if (!some)
			return false;
		list += len;
	}
	return some;
}

/* ---- offset between CPUs ---- */

void clock_way_add(struct clock_way *w, uint64_t t0, uint64_t t1, uint64_t t2)
{
	/* a counter shows the tick that began last */
	int64_t low = t1 - t2 - 1, high = t1 - t0 + 1;

	if (!w->count || low > w->low)
		w->low = low;
	if (!w->count || high < w->high)
		w->high = high;
	if (!w->count || t2 - t0 < w->round_trip)
		w->round_trip = t2 - t0;
	w->count++;
}

void clock_offset_solve(struct clock_offset *o, double ns_per_tick)
{
	const struct clock_way *there = &o->way[0], *back = &o->way[1];
	/* On the way back this CPU asks, so this measures how far the reference is ahead. */
	int64_t low = there->low > -back->high ? there->low : -back->high;
	int64_t high = there->high < -back->low ? there->high : -back->low;

	o->moved = low > high;
	o->ns = ((double)low + (double)high) / 2 * ns_per_tick;
	o->bound_ns = fabs((double)high - (double)low) / 2 * ns_per_tick;
}

/* ---- PTP hardware clocks ---- */

const char *phc_way_name(enum phc_way w)
{
	static const char *const names[PHC_WAYS] = {"clock_gettime", "PTP_SYS_OFFSET",
						    "PTP_SYS_OFFSET_EXTENDED",
						    "PTP_SYS_OFFSET_PRECISE"};

	return names[w];
}

enum phc_scale phc_scale(int64_t raw_ns, int tai_s, int64_t *applied_ns)
{
	int64_t from_utc = llabs(raw_ns), from_tai = llabs(raw_ns - tai_s * NS_PER_S);
	bool tai = tai_s && from_tai < from_utc;

	*applied_ns = 0;
	if ((tai ? from_tai : from_utc) > SAME_SCALE)
		return PHC_OTHER;
	*applied_ns = tai ? tai_s * NS_PER_S : 0;
	return tai ? PHC_TAI : PHC_UTC;
}

int clock_leap_seconds(const char *list, uint64_t unix_s)
{
	int found = 0;

	while (list && *list) {
		char *end;
		unsigned long long since = strtoull(list, &end, 10);
		long difference = *list != '#' && end > list ? strtol(end, NULL, 10) : 0;

		if (difference > 0 && difference < 1000 && since >= NTP_EPOCH &&
		    since - NTP_EPOCH <= unix_s)
			found = difference;
		list = strchr(list, '\n');
		list = list ? list + 1 : NULL;
	}
	return found;
}

void clock_view_free(struct clock_view *v)
{
	free(v->offset);
	free(v->device);
	v->offset = NULL;
	v->device = NULL;
	v->noffsets = v->ndevices = 0;
}
