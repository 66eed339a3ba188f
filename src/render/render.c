/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/render.h"

#define REPORT_ROW(name, has_spans, help)                                                          \
	{{#name, help}, .write = render_##name, .spans = has_spans},

const struct format formats[] = {
	REPORT_FORMATS(REPORT_ROW){{"csv", "a line a hiccup, as it comes"},
				   .head = render_csv_head,
				   .hiccup = render_csv},
	{{"jsonl", "the same as JSON, with its pieces and who asked for them"},
	 .hiccup = render_jsonl},
	{{"perfetto", "a trace of all hiccups for ui.perfetto.dev"},
	 .trace = &render_perfetto,
	 .spans = true},
	{{"parquet", "a table of all hiccups, for DuckDB, ClickHouse, Spark and pandas"},
	 .trace = &render_parquet},
	{{"parquet-rollup", "a table of what each source cost in each minute, for the same"},
	 .trace = &render_rollup},
	{{0}},
};
