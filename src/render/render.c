#include "render/render.h"

const struct format formats[] = {
	{"text", "for people (the default)", render_text, NULL, NULL},
	{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns", render_json, NULL, NULL},
	{"markdown", "for tickets", render_markdown, NULL, NULL},
	{"folded", "stacks of who asked, weighted by ns, for flame graphs", render_folded, NULL, NULL},
	{"hgrm", "percentiles of the hiccups as HdrHistogram's tools print them", render_hgrm, NULL, NULL},
	{"hlog", "the hiccups of each CPU as an HdrHistogram log", render_hlog, NULL, NULL},
	{"openmetrics", "metrics by OpenMetrics 1.0, for whoever scrapes", render_openmetrics, NULL, NULL},
	{"prometheus", "the same in the older text format, for node_exporter's textfile collector", render_prometheus,
	 NULL, NULL},
	{"csv", "a hiccup a line, for DuckDB, ClickHouse, Spark and the like", NULL, render_csv_head, render_csv},
	{"jsonl", "a hiccup a line, with its pieces and who asked for them, as JSON: the columns of csv", NULL, NULL,
	 render_jsonl},
	{0},
};

const char *const format_names[] = {"text",        "json",       "markdown", "folded", "hgrm", "hlog",
				    "openmetrics", "prometheus", "csv",      "jsonl",  NULL};
