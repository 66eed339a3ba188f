/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"

const struct format formats[] = {
	{{"text", "for people"}, .write = render_text},
	{{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns"},
	 .write = render_json},
	{{"markdown", "for tickets"}, .write = render_markdown},
	{{"html", "one file with pictures, for any browser"}, .write = render_html, .spans = true},
	{{"folded", "stacks of who asked, weighted by ns, for flame graphs"},
	 .write = render_folded},
	{{"hgrm", "percentiles of the hiccups, or of what a workload measured, as HdrHistogram's "
		  "tools print them"},
	 .write = render_hgrm},
	{{"hlog", "hiccups of each CPU, and what a workload measured, as an HdrHistogram log"},
	 .write = render_hlog},
	{{"openmetrics", "metrics by OpenMetrics 1.0, for whoever scrapes"},
	 .write = render_openmetrics},
	{{"prometheus", "the same for node_exporter's textfile collector"},
	 .write = render_prometheus},
	{{"csv", "a line a hiccup, as it comes"}, .head = render_csv_head, .hiccup = render_csv},
	{{"jsonl", "the same as JSON, with its pieces and who asked for them"},
	 .hiccup = render_jsonl},
	{{"perfetto", "a trace of all hiccups for ui.perfetto.dev"},
	 .trace = &render_perfetto,
	 .spans = true},
	{{0}},
};
