/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The y axis of a chart of times: logarithmic where they spread over more than a factor of ten. A 0
 * has no place on such an axis: it stands at its lower end, six decades below the largest. */
#include <math.h>

#include "base/units.h"
#include "render/html.h"

struct html_scale html_scale_of(double low, double high)
{
	struct html_scale a = {.low = fmax(low > 0 ? low : high / 1e6, 0.01), .high = high};

	a.log = a.high > 10 * a.low;
	a.low = a.log ? a.low * 0.9 : 0;
	a.high = a.high > 0 ? a.high * 1.05 : 1;
	return a;
}

double html_scale_y(const struct html_scale *a, double ns)
{
	double y = a->log ? log(fmax(ns, a->low) / a->low) / log(a->high / a->low) : ns / a->high;

	return y < 1 ? y : 1;
}

static void write_value(const struct html_scale *a, double ns, FILE *out)
{
	fprintf(out, "<span style=\"bottom:%.1f%%\">", 100 * html_scale_y(a, ns));
	if (ns < NSEC_PER_SEC)
		html_ps(out, (uint64_t)(ns * 1000 + 0.5));
	else
		html_ns(out, nearest_whole(ns));
	fputs("</span>", out);
}

/* A linear axis has about four values; in ps only where they are short. */
static double step_of(const struct html_scale *a)
{
	return a->high < 4 * (double)NSEC_PER_USEC
		       ? html_step((uint64_t)(a->high * 1000) + 1, 4) / 1000.0
		       : html_step(nearest_whole(a->high), 4);
}

void html_scale_values(FILE *out, const struct html_scale *a)
{
	double few = a->high < 300 * a->low, step;

	for (double ten = 1e-3; a->log && ten <= a->high; ten *= 10)
		for (unsigned m = 1; m <= (few ? 5 : 1); m += m == 1 ? 1 : 3)
			if (m * ten >= a->low && m * ten <= a->high)
				write_value(a, m * ten, out);
	if (a->log)
		return;
	step = step_of(a);
	for (unsigned i = 1; i < 8 && i * step <= a->high; i++)
		write_value(a, i * step, out);
}
