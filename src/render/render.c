#include "render/render.h"

const struct format formats[] = {
	{"text", "for people (the default)", render_text},
	{"json", "for scripts: schema " REPORT_SCHEMA ", all times integer ns", render_json},
	{0},
};

const char *const format_names[] = {"text", "json", NULL};
