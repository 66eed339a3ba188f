#include "render/render.h"

const struct format formats[] = {
	{"text", "for people (the default)", render_text, NULL, NULL},
	{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns", render_json, NULL, NULL},
	{"markdown", "for tickets", render_markdown, NULL, NULL},
	{"csv", "a hiccup a line, for DuckDB, ClickHouse, Spark and the like", NULL, render_csv_head, render_csv},
	{"jsonl", "a hiccup a line, with its pieces and who asked for them, as JSON: the columns of csv", NULL, NULL,
	 render_jsonl},
	{0},
};

const char *const format_names[] = {"text", "json", "markdown", "csv", "jsonl", NULL};
