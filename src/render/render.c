#include "render/render.h"

const struct format formats[] = {
	{"text", "for people (the default)", render_text, NULL, NULL},
	{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns", render_json, NULL, NULL},
	{"jsonl", "a hiccup a line, with its pieces and who asked for them, as JSON", NULL, NULL, render_jsonl},
	{0},
};

const char *const format_names[] = {"text", "json", "jsonl", NULL};
