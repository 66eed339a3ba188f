/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reader: the format of a line, the tables, and what is kept of unknown lines. */
#include "model/osnoise.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/osnoise_text.h"

#define SAMPLE_BITS   5
#define COMM_MAX      15  /* TASK_COMM_LEN without its NUL */
#define CUT_NOISE_MAX 128 /* "thread_noise: COMM:pid start ..." is shorter */

const char *timerlat_context_name(enum timerlat_context context)
{
	static const char *const names[TIMERLAT_CONTEXTS] = {"irq", "thread", "user"};

	return context < TIMERLAT_CONTEXTS ? names[context] : "unknown";
}

int osnoise_init(struct osnoise_reader *r)
{
	memset(r, 0, sizeof(*r));
	r->unit_ns = NSEC_PER_USEC;
	r->rows_left = OSNOISE_ROWS;
	r->min_start_ns = UINT64_MAX;
	r->cpu = calloc(OSNOISE_CPUS, sizeof(*r->cpu));
	return r->cpu ? 0 : -ENOMEM;
}

static void free_cpu(struct osnoise_cpu *c)
{
	if (c->has_sources)
		sources_free(&c->sources);
	hist_free(&c->samples);
	for (int i = 0; i < TIMERLAT_CONTEXTS; i++)
		hist_free(&c->latency[i]);
	free(c);
}

void osnoise_free(struct osnoise_reader *r)
{
	for (uint32_t i = 0; i < r->ncpus; i++)
		free_cpu(r->cpu[i]);
	free(r->cpu);
	for (uint32_t i = 0; i < r->ncolumns; i++)
		hist_free(&r->column[i].h);
	free(r->column);
	for (uint32_t i = 0; i < r->nanalyses; i++)
		free(r->analysis[i]);
	memset(r, 0, sizeof(*r));
}

struct osnoise_cpu *osnoise_cpu(struct osnoise_reader *r, uint64_t cpu)
{
	struct osnoise_cpu *c;

	if (cpu < CPUS_MAX && r->slot[cpu])
		return r->cpu[r->slot[cpu] - 1];
	if (cpu >= CPUS_MAX || r->ncpus == OSNOISE_CPUS) {
		r->cpus_beyond++;
		return NULL;
	}
	c = calloc(1, sizeof(*c));
	if (!c) {
		r->no_memory = true;
		return NULL;
	}
	c->cpu = cpu;
	r->cpu[r->ncpus++] = c;
	r->slot[cpu] = r->ncpus;
	return c;
}

/* ---- events into the tables ---- */

static void add_source(struct osnoise_reader *r, struct osnoise_cpu *c,
		       const struct osnoise_event *e)
{
	uint32_t before, row;

	if (!c->has_sources && sources_init(&c->sources)) {
		r->no_memory = true;
		return;
	}
	c->has_sources = true;
	before = c->sources.count;
	if (r->rows_left)
		row = sources_find(&c->sources, e->kind, e->id, e->name, NULL);
	else
		row = sources_rest(&c->sources, e->kind);
	if (r->rows_left)
		r->rows_left = r->rows_left + before > c->sources.count
				       ? r->rows_left + before - c->sources.count
				       : 0;
	source_add(c->sources.row[row], e->duration_ns, true);
}

static void keep_longest(struct osnoise_event *list, uint32_t *n, const struct osnoise_event *e)
{
	uint32_t i = *n;

	if (i == OSNOISE_LONGEST && e->duration_ns <= list[i - 1].duration_ns)
		return;
	if (i < OSNOISE_LONGEST)
		*n = ++i;
	for (i--; i && list[i - 1].duration_ns < e->duration_ns; i--)
		list[i] = list[i - 1];
	list[i] = *e;
}

static bool add_to(struct osnoise_reader *r, struct hist *h, uint64_t value)
{
	if (!h->bits && hist_init(h, SAMPLE_BITS)) {
		r->no_memory = true;
		return false;
	}
	hist_add(h, value);
	return true;
}

static void note_extent(struct osnoise_reader *r, const struct osnoise_event *e)
{
	if (e->start_ns < r->min_start_ns)
		r->min_start_ns = e->start_ns;
	if (e->start_ns + e->duration_ns > r->max_end_ns)
		r->max_end_ns = e->start_ns + e->duration_ns;
}

static void note_noise(struct osnoise_reader *r, struct osnoise_cpu *c, struct osnoise_event *e)
{
	/* The first one after switching on lasts since boot. */
	if (e->kind == SOURCE_THREAD && !e->start_ns) {
		r->left_out_first++;
		e->left_out = true;
	} else if (e->kind == SOURCE_THREAD && r->workload && e->id == r->workload) {
		r->left_out_workload++;
		e->left_out = true;
	}
	if (e->left_out)
		return;
	note_extent(r, e);
	keep_longest(r->longest, &r->nlongest, e);
	c->recent[c->nrecent++ % OSNOISE_RECENT] =
		(struct osnoise_span){e->start_ns, e->duration_ns};
	add_source(r, c, e);
}

/* Sums how much of a gap its noises explain: osnoise itself only counts them. Only when all of them
 * are in the text, that is, as many began within the gap as it claims. */
static void explain(struct osnoise_cpu *c, const struct osnoise_event *e)
{
	uint32_t n = c->nrecent < OSNOISE_RECENT ? c->nrecent : OSNOISE_RECENT;
	uint64_t found = 0, sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct osnoise_span *s = &c->recent[i];

		if (s->start_ns < e->start_ns || s->start_ns - e->start_ns > e->duration_ns)
			continue;
		found++;
		sum += s->duration_ns;
	}
	if (found != e->interference || sum > e->duration_ns)
		return;
	c->samples_complete++;
	c->samples_explained_ns += sum;
	c->samples_rest_ns += e->duration_ns - sum;
}

static void note_sample(struct osnoise_reader *r, struct osnoise_cpu *c,
			const struct osnoise_event *e)
{
	note_extent(r, e);
	add_to(r, &c->samples, e->duration_ns);
	keep_longest(r->gaps, &r->ngaps, e);
	if (e->interference) {
		explain(c, e);
		return;
	}
	c->samples_alone++;
	c->samples_alone_ns += e->duration_ns;
	add_source(r, c, e);
}

static void note_period(struct osnoise_cpu *c, const struct osnoise_event *e)
{
	struct osnoise_period *t = &c->traced;
	const struct osnoise_period *p = &e->period;

	t->count++;
	t->runtime_ns = p->runtime_ns == UINT64_MAX || t->runtime_ns == UINT64_MAX
				? UINT64_MAX
				: t->runtime_ns + p->runtime_ns;
	t->noise_ns += p->noise_ns;
	t->max_noise_ns = p->noise_ns > t->max_noise_ns ? p->noise_ns : t->max_noise_ns;
	t->max_single_ns =
		p->max_single_ns > t->max_single_ns ? p->max_single_ns : t->max_single_ns;
	t->hw += p->hw;
	t->nmi += p->nmi;
	t->irq += p->irq;
	t->softirq += p->softirq;
	t->thread += p->thread;
}

void osnoise_note(struct osnoise_reader *r)
{
	struct osnoise_event *e = &r->event;
	struct osnoise_cpu *c = osnoise_cpu(r, e->cpu);

	r->events[e->type]++;
	if (!c)
		return;
	switch (e->type) {
	case OSNOISE_NOISE:
		note_noise(r, c, e);
		break;
	case OSNOISE_SAMPLE:
		note_sample(r, c, e);
		break;
	case OSNOISE_PERIOD:
		note_period(c, e);
		break;
	case OSNOISE_TIMERLAT:
		add_to(r, &c->latency[e->context], e->duration_ns);
		break;
	}
}

/* ---- lines ---- */

static void keep_unknown(struct osnoise_reader *r, uint64_t line, const char *text, size_t len)
{
	size_t n = len < OSNOISE_TEXT ? len : OSNOISE_TEXT;

	if (r->nunknowns == OSNOISE_UNKNOWNS)
		return;
	memcpy(r->unknowns[r->nunknowns].text, text, n);
	r->unknowns[r->nunknowns].len = n;
	r->unknowns[r->nunknowns++].line = line;
}

/* Removes colours: rtla 6.1 colours its headings even into a file. Names are left alone: only a
 * line that begins with an escape is cleaned. */
static size_t drop_colours(const char *line, size_t len, char *clean, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len && n < size; i++) {
		if (line[i] != '\033' || i + 1 >= len || line[i + 1] != '[') {
			clean[n++] = line[i];
			continue;
		}
		for (i += 2; i < len && (line[i] < '@' || line[i] > '~'); i++)
			;
	}
	return n;
}

static enum osnoise_got dispatch(struct osnoise_reader *r, const char *line, size_t len)
{
	struct text t = {line, line + len};
	char clean[512];
	enum osnoise_got got;

	if (len && line[0] == '\033') {
		t.p = clean;
		t.end = clean + drop_colours(line, len, clean, sizeof(clean));
	}
	got = osnoise_trace_line(r, &t);
	if (got == OSNOISE_UNKNOWN)
		got = osnoise_rtla_line(r, &t);
	return got;
}

static void give_up_open(struct osnoise_reader *r)
{
	if (!r->open_len)
		return;
	r->unknown += r->open_lines;
	keep_unknown(r, r->open_at, r->open, r->open_len);
	r->open_len = 0;
}

/* True when a line goes on: a comm may hold newlines, and the kernel prints them as they are. */
static bool is_cut_noise(const char *line, size_t len)
{
	struct text t = {line, line + len}, at;

	return text_find(&t, " thread_noise: ", &at) && !text_find(&at, " duration ", &at);
}

static bool append_open(struct osnoise_reader *r, const char *line, size_t len)
{
	if (len >= sizeof(r->open) - r->open_len)
		return false;
	r->open[r->open_len] = '\n';
	memcpy(r->open + r->open_len + 1, line, len);
	r->open_len += len + 1;
	r->open_lines++;
	return true;
}

/* Joins the line with the open one, if that makes an event with a name that can be a comm. */
static bool closes_open(struct osnoise_reader *r, const char *line, size_t len)
{
	struct text t, at;
	size_t before = r->open_len;

	if (osnoise_has_front(&(struct text){line, line + len}) || !append_open(r, line, len))
		return false;
	t = (struct text){r->open, r->open + r->open_len};
	if (text_find(&t, " thread_noise: ", &at) && text_left(&at) < CUT_NOISE_MAX &&
	    osnoise_trace_line(r, &t) == OSNOISE_EVENT) {
		r->open_len = 0;
		return true;
	}
	r->open_len = before;
	r->open_lines--;
	return false;
}

enum osnoise_got osnoise_line(struct osnoise_reader *r, const char *line, size_t len)
{
	enum osnoise_got got;

	r->lines++;
	if (len && line[len - 1] == '\r')
		len--;
	if (r->open_len && closes_open(r, line, len))
		return OSNOISE_EVENT;
	if (r->open_len && !len && r->open_lines <= COMM_MAX && append_open(r, line, len))
		return OSNOISE_TAKEN;
	got = dispatch(r, line, len);
	if (got != OSNOISE_UNKNOWN) {
		give_up_open(r);
		return got;
	}
	if (r->open_len && r->open_lines <= COMM_MAX && append_open(r, line, len))
		return OSNOISE_TAKEN;
	give_up_open(r);
	if (len < sizeof(r->open) / 2 && is_cut_noise(line, len)) {
		memcpy(r->open, line, len);
		r->open_len = len;
		r->open_lines = 1;
		r->open_at = r->lines;
		return OSNOISE_TAKEN;
	}
	r->unknown++;
	keep_unknown(r, r->lines, line, len);
	return OSNOISE_UNKNOWN;
}

void osnoise_finish(struct osnoise_reader *r)
{
	give_up_open(r);
}
