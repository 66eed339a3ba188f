/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, numbers, kinds and axes of the HTML report. */
#include <string.h>

#include "base/escape.h"
#include "base/phrase.h"
#include "base/units.h"
#include "model/report.h"
#include "render/html.h"
#include "render/render.h"

/* ---- text ---- */

/* Writes one character of printable UTF-8. U+FFFE and U+FFFF may not stand in XML. */
static void put_char(FILE *out, const char *c, size_t len)
{
	switch (*c) {
	case '&':
		fputs("&amp;", out);
		break;
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		if (len == 3 && !memcmp(c, "\xef\xbf", 2) && (unsigned char)c[2] >= 0xbe)
			fprintf(out, "\\xef\\xbf\\x%02x", (unsigned char)c[2]);
		else
			fwrite(c, 1, len, out);
	}
}

static size_t char_length(const char *c)
{
	size_t len = 1;

	while (((unsigned char)c[len] & 0xc0) == 0x80)
		len++;
	return len;
}

void html_text(FILE *out, const char *text)
{
	for (size_t len; *text; text += len) {
		len = char_length(text);
		put_char(out, text, len);
	}
}

void html_name_n(FILE *out, const char *name, size_t len)
{
	char c[ESCAPE_CHAR];
	size_t n;

	for (; (n = escape_char(name, len, c)); name += n) {
		html_text(out, c);
		len -= len == SIZE_MAX ? 0 : n;
	}
}

static void write_command(FILE *out, const char *command, size_t len)
{
	char c[ESCAPE_CHAR];

	for (size_t n; (n = escape_command_char(command, len, c)); command += n) {
		html_text(out, c);
		len -= len == SIZE_MAX ? 0 : n;
	}
}

void html_command_n(FILE *out, const char *command, size_t len)
{
	write_command(out, command, len);
}

void html_command(FILE *out, const char *command)
{
	write_command(out, command, SIZE_MAX);
}

void html_name(FILE *out, const char *name)
{
	html_name_n(out, name, SIZE_MAX);
}

void html_who(FILE *out, const struct source *s)
{
	char who[REPORT_WHO];

	html_text(out, report_who(s, who, sizeof(who)));
}

static void write_code(FILE *out, const char *command, size_t len)
{
	fputs("<code>", out);
	write_command(out, command, len);
	fputs("</code>", out);
}

void html_advice(FILE *out, const char *advice)
{
	struct phrase part = {0};

	while (phrase_next(advice, &part))
		if (part.code)
			write_code(out, part.text, part.len);
		else
			html_name_n(out, part.text, part.len);
}

void html_verdict(FILE *out, const char *verdict)
{
	size_t command = phrase_command(verdict);

	html_name_n(out, verdict, command);
	if (verdict[command])
		write_code(out, verdict + command, SIZE_MAX);
}

/* The field's u is a µ in HTML. */
static void write_time(FILE *out, const char *text)
{
	const char *us = strstr(text, " us");

	if (us)
		fprintf(out, "%.*s µs", (int)(us - text), text);
	else
		fputs(text, out);
}

void html_ns(FILE *out, uint64_t ns)
{
	char text[32];

	write_time(out, format_ns(ns, text, sizeof(text)));
}

void html_mean_ns(FILE *out, double ns)
{
	char text[32];

	format_mean_ns(ns, text, sizeof(text));
	if (text[0] == '<')
		html_text(out, text);
	else
		write_time(out, text);
}

void html_ps(FILE *out, uint64_t ps)
{
	char text[32];

	write_time(out, format_ps(ps, text, sizeof(text)));
}

void html_count(FILE *out, uint64_t n)
{
	char text[32];

	fputs(format_count(n, text, sizeof(text)), out);
}

void html_share(FILE *out, uint64_t part, uint64_t whole)
{
	char text[32];

	html_text(out, format_percent(whole ? 100.0 * part / whole : 0, text, sizeof(text)));
	fputs(" %", out);
}

void html_lost(FILE *out, const struct view *v, uint32_t index)
{
	if (!v->run.watch && !v->cpu[index].observed_ns)
		fputs("?", out);
	else if (view_lost(v, index) < 0)
		html_ns(out, v->cpu[index].hiccups.sum);
	else
		html_share(out, v->cpu[index].hiccups.sum, v->cpu[index].observed_ns);
}

void html_asker(FILE *out, const struct asker *a)
{
	char text[REPORT_OWNED];

	report_owned_asker(a, text);
	html_text(out, report_unmark(text));
}

void html_lane(FILE *out, const struct view *v, uint32_t index)
{
	char lane[LANE_NAME];

	html_name(out, view_lane(v, index, lane));
}

/* ---- kinds ---- */

void html_one_of(FILE *out, const struct view *v, uint32_t index)
{
	html_lane(out, v, index);
	if (groups_shown(v) && v->groups.row[v->groups.of[index]].n > 1)
		fprintf(out, ", one of %u alike", v->groups.row[v->groups.of[index]].n);
}

void html_kind(const struct html *h, unsigned kind)
{
	if (kind == TIMELINE_EDGE)
		fputs("edge", h->out);
	else if (kind == SOURCE_LOST)
		fputs(NOT_RECORDED, h->out);
	else if (kind == SOURCE_OUTSIDE)
		html_name(h->out, view_rest(h->view));
	else
		fputs(source_kind_name((enum source_kind)kind), h->out);
}

const char *html_class(unsigned kind)
{
	if (kind < SOURCE_KINDS)
		return source_kind_name(kind);
	return kind == TIMELINE_EDGE ? "edge" : "rest";
}

void html_swatch(FILE *out, unsigned kind)
{
	fprintf(out, "<i class=\"swatch k-%s\"></i>", html_class(kind));
}

/* ---- axes ---- */

uint64_t html_step(uint64_t range_ns, unsigned parts)
{
	static const uint64_t long_s[] = {1,   2,   5,    10,   20,   30,   60,    120,
					  300, 600, 1200, 1800, 3600, 7200, 21600, 43200};
	uint64_t want = range_ns / parts, step = 1;

	if (want > NSEC_PER_SEC) {
		for (size_t i = 0; i < sizeof(long_s) / sizeof(long_s[0]); i++)
			if (long_s[i] * NSEC_PER_SEC >= want)
				return long_s[i] * NSEC_PER_SEC;
		step = 86400 * NSEC_PER_SEC;
	}
	while (step * 10 <= want)
		step *= 10;
	return step >= want       ? step
	       : 2 * step >= want ? 2 * step
	       : 5 * step >= want ? 5 * step
				  : 10 * step;
}

static void begin_tick(FILE *out, double percent)
{
	fprintf(out, "<span style=\"left:%.2f%%\"%s>", percent,
		percent < 2    ? " class=\"first\""
		: percent > 94 ? " class=\"last\""
			       : "");
}

void html_tick(FILE *out, double percent, uint64_t ns, uint64_t step_ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{86400 * NSEC_PER_SEC, "d"}, {3600 * NSEC_PER_SEC, "h"},
		     {60 * NSEC_PER_SEC, "min"},  {NSEC_PER_SEC, "s"},
		     {NSEC_PER_MSEC, "ms"},       {NSEC_PER_USEC, "µs"}};
	size_t u = 0;

	while (u < 6 && units[u].ns > step_ns)
		u++;
	begin_tick(out, percent);
	if (!ns)
		fputs("0</span>", out);
	else
		fprintf(out, "%g %s</span>", u < 6 ? (double)ns / (double)units[u].ns : (double)ns,
			u < 6 ? units[u].name : "ns");
}

void html_tick_ns(FILE *out, double percent, double ns)
{
	begin_tick(out, percent);
	fprintf(out, "%g ns</span>", ns);
}
