#include "cmd/limits.h"

#include "base/escape.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"

#define FIELD(name) offsetof(struct limits, name)

const struct opt limits_opts[] = {
	{0, "max-hiccup", "TIME", "exit with 2 if a hiccup is longer", FIELD(max_hiccup_ns),
	 opt_set_time},
	{0, "max-lost", "PERCENT", "exit with 2 if a CPU loses more of its time to hiccups",
	 FIELD(max_lost), opt_set_percent},
	{0},
};

/* Writes "CPU 3", or a watched thread's name. Returns buf. */
static const char *lane_name(const struct view *v, uint32_t i, char buf[4 * LANE_NAME])
{
	char lane[LANE_NAME];

	if (v->run.watch)
		return escape_text(view_lane(v, i, lane), SIZE_MAX, buf, 4 * LANE_NAME);
	snprintf(buf, 4 * LANE_NAME, "CPU %u", v->cpu[i].number);
	return buf;
}

static int check_lane(const struct limits *l, const struct view *v, uint32_t i)
{
	const struct cpu *r = &v->cpu[i];
	const struct hist *h = &r->hiccups;
	double lost = r->observed_ns ? 100.0 * (h->sum + r->hiccups_lost_ns) / r->observed_ns : 0;
	char name[4 * LANE_NAME], a[32], b[32];
	int code = EXIT_OK;

	lane_name(v, i, name);
	if (l->max_hiccup_ns && h->max > l->max_hiccup_ns) {
		say("%s: a hiccup of %s is longer than --max-hiccup %s", name,
		    format_ns(h->max, a, sizeof(a)), format_ns(l->max_hiccup_ns, b, sizeof(b)));
		code = EXIT_CROSSED;
	}
	if (l->max_hiccup_ns && r->hiccups_lost) {
		say("%s: %s hiccups were lost, and each of them may have been longer than "
		    "--max-hiccup",
		    name, format_count(r->hiccups_lost, a, sizeof(a)));
		code = EXIT_CROSSED;
	}
	if (l->max_lost > 0 && lost > l->max_lost) {
		say("%s: %s %% of its time lost is more than --max-lost %s", name,
		    format_percent(lost, a, sizeof(a)), format_percent(l->max_lost, b, sizeof(b)));
		code = EXIT_CROSSED;
	}
	return code;
}

int limits_crossed(const struct limits *l, const struct view *v)
{
	int code = EXIT_OK;

	for (uint32_t i = 0; i < v->ncpus; i++)
		if (check_lane(l, v, i) == EXIT_CROSSED)
			code = EXIT_CROSSED;
	return code;
}
