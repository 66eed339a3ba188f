#include "render/render.h"

const struct format formats[] = {
	{"text", "for people (the default)", .write = render_text},
	{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns",
	 .write = render_json},
	{"markdown", "for tickets", .write = render_markdown},
	{"html", "to look at: one file with pictures, for any browser", .write = render_html,
	 .spans = true},
	{"folded", "stacks of who asked, weighted by ns, for flame graphs", .write = render_folded},
	{"hgrm", "percentiles of the hiccups as HdrHistogram's tools print them",
	 .write = render_hgrm},
	{"hlog", "the hiccups of each CPU as an HdrHistogram log", .write = render_hlog},
	{"openmetrics", "metrics by OpenMetrics 1.0, for whoever scrapes",
	 .write = render_openmetrics},
	{"prometheus", "the same in the older text format, for node_exporter's textfile collector",
	 .write = render_prometheus},
	{"csv", "a hiccup a line, for DuckDB, ClickHouse, Spark and the like",
	 .head = render_csv_head, .hiccup = render_csv},
	{"jsonl",
	 "a hiccup a line, with its pieces and who asked for them, as JSON: the columns of csv",
	 .hiccup = render_jsonl},
	{"perfetto", "a trace of all hiccups for ui.perfetto.dev", .trace = &render_perfetto,
	 .spans = true},
	{0},
};

const char *const format_names[] = {"text",  "json",     "markdown",    "html",       "folded",
				    "hgrm",  "hlog",     "openmetrics", "prometheus", "csv",
				    "jsonl", "perfetto", NULL};
