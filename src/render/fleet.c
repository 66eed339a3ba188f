/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Many recordings in one screen:
 *
 *   culprit 0.1 · 10,000 recordings of 9,998 hosts · 2.1 s lost of 5.6 h, 0.0104 %
 *
 *     host    recordings  lost %  hiccups    worst  first source
 *     web-07           2  0.4015    1,204  38.2 us  local_timer > tick_nohz_handler
 *
 *     lost %     time  count    worst  hosts  kind    cause  who
 *     0.0031  630 ms   9,902  9.80 us  9,120  vector  K01    local_timer > tick_nohz_handler
 */
#include "render/fleet.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

#include "base/escape.h"
#include "base/table.h"
#include "base/units.h"

#define HOSTS_SHOWN   16
#define SOURCES_SHOWN 16

/* whole 0: what it is of is not known. */
static const char *known(uint64_t part, uint64_t whole, char buf[32])
{
	return whole ? host_share(part, whole, buf, 32) : "?";
}

static void put(struct table *t, uint64_t more, const char *what, bool markdown, FILE *out)
{
	char a[32];

	if (markdown)
		table_print_markdown(t, out);
	else
		table_print(t, out, false);
	table_free(t);
	if (more)
		fprintf(out, "%sand %s more %s\n", markdown ? "\n" : "  ",
			format_count(more, a, sizeof(a)), what);
}

static int write_hosts(const struct fleet *f, unsigned width, bool markdown, FILE *out)
{
	struct table *t = table_new(width, 2);
	char a[32], name[4 * 256 + 1];

	if (!t)
		return -ENOMEM;
	table_column(t, "host", ALIGN_LEFT, true);
	table_column(t, "recordings", ALIGN_RIGHT, false);
	table_column(t, "lost %", ALIGN_RIGHT, false);
	table_column(t, "hiccups", ALIGN_RIGHT, false);
	table_column(t, "worst", ALIGN_RIGHT, false);
	table_column(t, "first source", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < f->nhosts && i < HOSTS_SHOWN; i++) {
		const struct fleet_host *h = &f->host[i];

		host_name_cell(t, escape_text(h->name, SIZE_MAX, name, sizeof(name)), markdown);
		table_cell(t, NULL, format_count(h->recordings, a, sizeof(a)));
		table_cell(t, NULL, known(h->lost_ns, h->observed_ns, a));
		table_cell(t, NULL, format_count(h->hiccups, a, sizeof(a)));
		table_cell(t, NULL, format_ns(h->longest_ns, a, sizeof(a)));
		host_name_cell(t, h->first ? h->first : "", markdown);
		table_end_row(t);
	}
	put(t, f->nhosts > HOSTS_SHOWN ? f->nhosts - HOSTS_SHOWN : 0, "hosts", markdown, out);
	return 0;
}

static int write_sources(const struct fleet *f, unsigned width, bool markdown, FILE *out)
{
	struct table *t = table_new(width, 2);
	char a[32];

	if (!t)
		return -ENOMEM;
	table_column(t, "lost %", ALIGN_RIGHT, false);
	table_column(t, "time", ALIGN_RIGHT, false);
	table_column(t, "count", ALIGN_RIGHT, false);
	table_column(t, "worst", ALIGN_RIGHT, false);
	table_column(t, "hosts", ALIGN_RIGHT, false);
	table_column(t, "kind", ALIGN_LEFT, false);
	table_column(t, "cause", ALIGN_LEFT, false);
	table_column(t, "who", ALIGN_LEFT, true);
	for (uint32_t i = 0; i < f->nsources && i < SOURCES_SHOWN; i++) {
		const struct fleet_source *s = &f->source[i];

		table_cell(t, NULL, known(s->timed_ns, s->timed_ns ? f->observed_ns : 0, a));
		table_cell(t, NULL, format_ns(s->total_ns, a, sizeof(a)));
		table_cell(t, NULL, format_count(s->count, a, sizeof(a)));
		table_cell(t, NULL, format_ns(s->longest_ns, a, sizeof(a)));
		table_cell(t, NULL, format_count(s->hosts, a, sizeof(a)));
		table_cell(t, NULL, source_kind_name(s->kind));
		table_cell(t, NULL, s->cause ? s->cause : "");
		host_name_cell(t, s->name, markdown);
		table_end_row(t);
	}
	put(t, f->nsources > SOURCES_SHOWN ? f->nsources - SOURCES_SHOWN : 0, "sources", markdown,
	    out);
	return 0;
}

void host_line(struct flow *f, FILE *out, unsigned width, bool markdown)
{
	fputs(markdown ? "\n" : "", out);
	flow_start(f, out, markdown ? UINT_MAX : width, "", " ", "  ");
}

/* Says what makes the figures below too small. */
static void write_losses(const struct fleet_losses *l, unsigned width, bool markdown, FILE *out)
{
	char a[32], b[32], text[256];
	struct flow f;

	if (l->records_lost || l->hiccups_lost) {
		snprintf(text, sizeof(text),
			 "lost: %s hiccup%s and %s record%s: there was more than is shown%s",
			 format_count(l->hiccups_lost, a, sizeof(a)), plural(l->hiccups_lost),
			 format_count(l->records_lost, b, sizeof(b)), plural(l->records_lost),
			 l->hiccups_lost ? ", and perhaps longer" : "");
		host_line(&f, out, width, markdown);
		flow_words(&f, text);
		flow_end(&f);
	}
	if (l->incomplete) {
		snprintf(text, sizeof(text),
			 "incomplete: %s recording%s; culprit report says of each what it lacks",
			 format_count(l->incomplete, a, sizeof(a)), plural(l->incomplete));
		host_line(&f, out, width, markdown);
		flow_words(&f, text);
		flow_end(&f);
	}
}

int render_fleet(const struct fleet *f, uint32_t unread, const struct render_options *options,
		 bool markdown, FILE *out)
{
	unsigned width = options->width ? options->width : 100;
	char a[32], b[32], c[32];
	int err;

	fputs(markdown ? "# culprit: " : "culprit " CULPRIT_VERSION " · ", out);
	fprintf(out, "%s recording%s", format_count(f->recordings, a, sizeof(a)),
		plural(f->recordings));
	fprintf(out, " of %s host%s", format_count(f->nhosts, a, sizeof(a)), plural(f->nhosts));
	fprintf(out, " · %s lost of %s, %s %%\n", format_ns(f->lost_ns, a, sizeof(a)),
		format_ns(f->observed_ns, b, sizeof(b)), known(f->lost_ns, f->observed_ns, c));
	if (unread)
		fprintf(out, "%s%s could not be read\n", markdown ? "\n" : "",
			format_count(unread, a, sizeof(a)));
	write_losses(&f->losses, width, markdown, out);
	putc('\n', out);
	err = write_hosts(f, width, markdown, out);
	putc('\n', out);
	return err ? err : write_sources(f, width, markdown, out);
}
