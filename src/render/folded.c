/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks, as flamegraph.pl, inferno and speedscope read them: all time that was lost, by who
 * took it and who asked for it.
 *
 *   cpu 3;thread;kworker/3:1 [812];vmstat_update;by poke [4414] on cpu 0;do_syscall_64;ask 31000
 *   cpu 3;thread;java [77] · pod shop/api-7f9 · container app 9200
 *   cpu 3;edge 2800
 *
 * The weight is ns, so the width is time: the lines of a CPU add up to what it lost. A source's
 * time is divided among its askers by how often each asked, because the time of single requests is
 * not kept; the part without a known asker ends with the source. The asker's kernel stack is that
 * of its first request, without the frames of the probe. With several hosts each line begins with
 * the host. Names are escaped, a semicolon as \x3b.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/escape.h"
#include "model/calls.h"
#include "model/hosts.h"
#include "model/report.h"
#include "render/render.h"

struct stack {
	FILE *out;
	bool some; /* the line has a frame already */
};

/* Writes text that is escaped already. */
static void put(struct stack *s, const char *text)
{
	if (s->some)
		putc(';', s->out);
	s->some = true;
	if (!*text)
		putc('?', s->out);
	for (; *text; text++)
		if (*text == ';')
			fputs("\\x3b", s->out);
		else
			putc(*text, s->out);
}

static void put_name(struct stack *s, const char *name)
{
	char text[REPORT_WHO];

	put(s, escape_text(name, SIZE_MAX, text, sizeof(text)));
}

static void end(struct stack *s, uint64_t ns)
{
	fprintf(s->out, " %" PRIu64 "\n", ns);
	s->some = false;
}

static void put_lane(struct stack *s, const char *host, const char *lane, const char *kind)
{
	if (host)
		put(s, host);
	put_name(s, lane);
	put(s, kind);
}

static void put_source(struct stack *s, const char *host, const char *lane,
		       const struct source *source)
{
	struct source bare = *source;
	char text[REPORT_WHO + REPORT_OWNER], owner[REPORT_OWNER];

	bare.function = NULL;
	put_lane(s, host, lane, source_kind_name(source->kind));
	report_who(&bare, text, REPORT_WHO);
	put(s, strcat(text, source->by ? "" : report_owner(source->owner, owner)));
	if (source->function)
		put_name(s, source->function);
}

/* The program's calls, the outermost first. */
static void put_calls(struct stack *s, const char *calls)
{
	char frame[CALLS_MOST][CALLS_FRAME];
	struct call c;
	int n = 0;

	while (n < CALLS_MOST && calls_next(&calls, &c))
		calls_frame(&c, frame[n++]);
	while (n-- > 0)
		put_name(s, frame[n]);
}

/* way: of the asker's, or the asker itself. */
static void put_asker(struct stack *s, const struct asker_row *o, const struct asker_row *way)
{
	const char *cpu = o->who.host ? "host cpu" : "cpu";
	char comm[128], owner[REPORT_OWNER], text[192 + sizeof(owner)];

	report_owner(o->who.owner, owner);
	if (asker_context(&o->who))
		snprintf(text, sizeof(text), "by %s on %s %u", asker_context(&o->who), cpu,
			 o->who.cpu);
	else
		snprintf(text, sizeof(text), "by %s [%u]%s%s on %s %u",
			 escape_text(o->who.comm, sizeof(o->who.comm), comm, sizeof(comm)),
			 o->who.tid, owner, *owner ? "," : "", cpu, o->who.cpu);
	put(s, text);
	put_calls(s, way->who.calls);
	for (int i = way->nframes; i-- > 0;)
		put_name(s, way->frame[i]);
	if (!way->nframes && o->who.function)
		put_name(s, o->who.function);
}

/* A source, and how often all asked. */
struct share {
	const char *host, *lane;
	const struct source *source;
	uint64_t requests;
};

/* Writes the part of the time for which `count` requests stand, and returns it. */
static uint64_t write_part(struct stack *s, const struct share *of, const struct asker_row *o,
			   const struct asker_row *way, uint64_t count)
{
	uint64_t ns = (unsigned __int128)of->source->net.sum * count / of->requests;

	if (!ns)
		return 0;
	put_source(s, of->host, of->lane, of->source);
	put_asker(s, o, way);
	end(s, ns);
	return ns;
}

/* An asker's ways, and what is left of its requests. */
static uint64_t write_asker(struct stack *s, const struct share *of, const struct asker_row *o)
{
	uint64_t left = o->count, ns = 0;

	for (uint32_t i = 0; o->ways && i < o->ways->count; i++) {
		const struct asker_row *way = &o->ways->row[i];

		ns += write_part(s, of, o, way, way->count);
		left -= way->count;
	}
	return ns + (left ? write_part(s, of, o, o, left) : 0);
}

static void write_source(struct stack *s, const char *host, const char *lane,
			 const struct source *source)
{
	const struct askers *o = source->askers;
	uint64_t rest = source->net.sum, requests = source->net.count;
	struct share of = {host, lane, source, 0};

	if (o && o->known > requests)
		requests = o->known;
	of.requests = requests;
	for (uint32_t i = 0; o && i < o->count; i++)
		rest -= write_asker(s, &of, &o->row[i]);
	if (rest) {
		put_source(s, host, lane, source);
		end(s, rest);
	}
}

int render_folded(const struct view *const *views, uint32_t n, const struct render_options *options,
		  FILE *out)
{
	struct stack s = {.out = out};
	char label[HOST_LABEL], lane[LANE_NAME];

	(void)options;
	for (uint32_t i = 0; i < n; i++) {
		const char *host = n > 1 ? host_label(views, n, i, label, sizeof(label)) : NULL;

		for (uint32_t k = 0; k < views[i]->ncpus; k++) {
			const struct cpu *c = &views[i]->cpu[k];

			view_lane(views[i], k, lane);
			for (uint32_t r = 0; r < c->sources.count; r++)
				write_source(&s, host, lane, c->sources.row[r]);
			if (!c->edge_ns)
				continue;
			put_lane(&s, host, lane, "edge");
			end(&s, c->edge_ns);
		}
	}
	return ferror(out) ? -EIO : 0;
}
