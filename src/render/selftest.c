/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of culprit selftest:
 *
 *   culprit 0.1 · linux 6.12.9 · ... · selftest of cpu 3
 *
 *   known noise, made on this CPU
 *     class     made  found  source  function  asker  verdict
 *     thread      25     25      25         -     25  named
 *     irq          -                                  not made: ...
 *
 *   what can be seen here
 *     threshold 200 ns · loop 24.1 ns · records lost 0
 *     closure: 21 of the kernel's 21 counters match what was traced
 *     ...
 *
 *   what tracing costs here
 *     an interrupt: 900 ns: one gap in ten was shorter than 4.10 us with tracing, than 3.20 us ...
 *
 *   all 20 classes of noise that were made are found and named
 */
#include "render/selftest.h"

#include <errno.h>
#include <inttypes.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "base/table.h"
#include "base/units.h"
#include "model/report.h"
#include "render/text.h"

static const char *verdict_of(const struct noise_sum *s)
{
	return !s->made ? "not made" : noise_is_named(s) ? "named" : "missed";
}

/* The reason why a class was not made; NULL: it was. */
static const char *why_not(const struct selftest *t, int class)
{
	const struct noise_sum *s = &t->sum[class];

	return s->made                         ? NULL
	       : noise_classes[class].left_out ? noise_classes[class].left_out
	       : s->why[0]                     ? s->why
					       : "it was cut short before that";
}

/* ---- text ---- */

static void add_share(struct table *t, struct noise_share s)
{
	if (!s.asked)
		table_cell(t, NULL, "-");
	else
		table_cellf(t, s.right < s.asked ? "1" : NULL, "%u", s.right);
}

static void write_classes(const struct page *p, const struct selftest *t)
{
	static const char *const headings[] = {"made", "found", "source", "function", "asker"};
	struct table *table = table_new(p->width, 2);
	char safe[TEXT_SAFE];

	if (!table)
		return;
	fprintf(p->out, "\n%sknown noise, made on this CPU%s\n", text_style(p, BOLD),
		text_plain(p));
	table_column(table, "class", ALIGN_LEFT, false);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++)
		table_column(table, headings[i], ALIGN_RIGHT, false);
	table_column(table, "verdict", ALIGN_LEFT, false);
	for (int i = 0; noise_classes[i].name; i++) {
		const struct noise_sum *s = &t->sum[i];

		if (!s->made)
			continue;
		table_cell(table, NULL, noise_classes[i].name);
		table_cellf(table, NULL, "%u", s->made);
		add_share(table, (struct noise_share){s->made, s->found});
		add_share(table, s->source);
		add_share(table, s->function);
		add_share(table, s->asker);
		table_cell(table, noise_is_named(s) ? "1;32" : "1;31", verdict_of(s));
		table_end_row(table);
	}
	table_print(table, p->out, p->colour);
	table_free(table);
	for (int i = 0; noise_classes[i].name; i++)
		if (!t->sum[i].made)
			text_line(p, "  %s: not made: %s", noise_classes[i].name,
				  text_safe(why_not(t, i), safe));
}

static uint64_t count_nmis(const struct cpu *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->sources.count; i++)
		if (c->sources.row[i]->kind == SOURCE_NMI)
			n += c->sources.row[i]->count;
	return n;
}

static void write_evidence(const struct page *p, const struct view *v, const struct cpu *c)
{
	char a[32];

	if (c->steal_known)
		text_line(p, "  steal clock: readable, it rose by %s (in steps of 10 ms)",
			  format_ns(c->steal_ns, a, sizeof(a)));
	else
		text_line(p, "  steal clock: not readable");
	if (c->smi_known)
		text_line(p, "  SMIs: counted, %s came", format_count(c->smi_count, a, sizeof(a)));
	else if (host_has_smis(&v->host))
		text_line(p, "  SMIs: cannot be counted here");
	if (!noise_is_blind(v, "nmi_handler"))
		text_line(p, "  NMIs: observed, %s came in hiccups; none was made",
			  format_count(count_nmis(c), a, sizeof(a)));
	else
		text_line(p, "  NMIs: not observed");
}

static void write_sight(const struct page *p, const struct view *v)
{
	const struct cpu *c = &v->cpu[0];
	char a[32], b[32], d[32];
	struct flow f;

	fprintf(p->out, "\n%swhat can be seen here%s\n", text_style(p, BOLD), text_plain(p));
	text_line(p, "  threshold %s%s · loop %.1f ns · records %s, lost %s",
		  format_ns(c->threshold_ns, a, sizeof(a)), v->run.threshold_auto ? " (auto)" : "",
		  c->loop_mean_ns, format_count(c->counts.seen, b, sizeof(b)),
		  format_count(c->counts.lost, d, sizeof(d)));
	text_line(p, "  edge beside an interrupt: up to %s, learned from %s interruption%s",
		  format_ns(c->bounds.irq_ns, a, sizeof(a)),
		  format_count(c->edge_seen.samples, b, sizeof(b)), plural(c->edge_seen.samples));
	text_closure(p, c);
	write_evidence(p, v, c);
	if (!v->run.nnot_observed) {
		text_line(p, "  not observed: nothing that is asked for");
		return;
	}
	flow_start(&f, p->out, p->width, "  not observed:", " ", "    ");
	f.hang = "    ";
	for (uint32_t i = 0; i < v->run.nnot_observed; i++)
		flow_add(&f, "%s", v->run.not_observed[i]);
	flow_end(&f);
}

static void write_costs(const struct page *p, const struct selftest *t)
{
	char a[32], b[32], d[32];

	fprintf(p->out, "\n%swhat tracing costs here%s\n", text_style(p, BOLD), text_plain(p));
	for (int i = 0; i < SELFTEST_COSTS; i++) {
		const struct selftest_cost *c = &t->cost[i];

		if (!c->without || !c->with) {
			text_line(p, "  %s: not known", c->what);
			continue;
		}
		format_ns(c->with_ns, a, sizeof(a));
		format_ns(c->without_ns, b, sizeof(b));
		text_line(p,
			  "  %s: %s: one gap in ten was shorter than %s with tracing, than %s "
			  "without (of %u and %u)",
			  c->what,
			  c->with_ns > c->without_ns
				  ? format_ns(c->with_ns - c->without_ns, d, sizeof(d))
				  : "hidden by what others do here",
			  a, b, c->with, c->without);
	}
}

static void write_end(const struct page *p, const struct selftest *t)
{
	uint32_t missed, made = selftest_made(t, &missed);
	const char *bold = text_style(p, BOLD), *plain = text_plain(p);

	fputc('\n', p->out);
	if (!made)
		fprintf(p->out, "%sno noise was made: nothing can be said%s\n", bold, plain);
	else if (missed)
		fprintf(p->out, "%s%u of %u classes of noise are missed: see the table%s\n", bold,
			missed, made, plain);
	else
		fprintf(p->out, "%sall %u classes of noise that were made are found and named%s\n",
			bold, made, plain);
	if (!t->whole)
		fprintf(p->out, "it was cut short\n");
	if (t->full)
		text_line(p, "more hiccups came than are kept: noise may be missed for that");
}

int render_selftest_text(const struct selftest *t, const struct render_options *options, FILE *out)
{
	struct page p = {.out = out,
			 .view = t->view,
			 .colour = options->colour,
			 .width = options->width ? options->width : 100};
	struct flow f;

	text_head(&p, &f, "culprit " CULPRIT_VERSION);
	flow_add(&f, "selftest of cpu %u", t->view->ncpus ? t->view->cpu[0].number : 0);
	flow_end(&f);
	write_classes(&p, t);
	if (t->view->ncpus)
		write_sight(&p, t->view);
	write_costs(&p, t);
	write_end(&p, t);
	return ferror(out) ? -EIO : 0;
}

/* ---- JSON ---- */

static void put_share(struct json *j, const char *key, struct noise_share s)
{
	if (s.asked) {
		json_object_flat(j, key);
		json_u64(j, "asked", s.asked);
		json_u64(j, "right", s.right);
		json_end(j);
	} else {
		json_null(j, key);
	}
}

static void put_classes(struct json *j, const struct selftest *t)
{
	json_array(j, "classes");
	for (int i = 0; noise_classes[i].name; i++) {
		const struct noise_sum *s = &t->sum[i];

		json_object(j, NULL);
		json_string(j, "class", noise_classes[i].name);
		json_u64(j, "made", s->made);
		json_string(j, "why_not", why_not(t, i));
		json_u64(j, "found", s->found);
		put_share(j, "source", s->source);
		put_share(j, "function", s->function);
		put_share(j, "asker", s->asker);
		json_string(j, "verdict", verdict_of(s));
		json_end(j);
	}
	json_end(j);
}

static void put_costs(struct json *j, const struct selftest *t)
{
	json_array(j, "costs");
	for (int i = 0; i < SELFTEST_COSTS; i++) {
		const struct selftest_cost *c = &t->cost[i];

		json_object_flat(j, NULL);
		json_string(j, "class", c->class);
		json_u64(j, "gaps_without", c->without);
		json_u64(j, "gaps_with", c->with);
		if (c->without && c->with) {
			json_u64(j, "p10_without_ns", c->without_ns);
			json_u64(j, "p10_with_ns", c->with_ns);
		} else {
			json_null(j, "p10_without_ns");
			json_null(j, "p10_with_ns");
		}
		json_end(j);
	}
	json_end(j);
}

int render_selftest_json(const struct selftest *t, FILE *out)
{
	const struct view *v = t->view;
	uint32_t missed, made = selftest_made(t, &missed);
	struct json j;
	int err = 0;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", SELFTEST_SCHEMA);
	json_string(&j, "version", CULPRIT_VERSION);
	render_host(&j, &v->host);
	json_bool(&j, "whole", t->whole);
	json_u64(&j, "made", made);
	json_u64(&j, "missed", missed);
	put_classes(&j, t);
	put_costs(&j, t);
	json_bool(&j, "hiccups_left_out", t->full);
	json_array_flat(&j, "not_observed");
	for (uint32_t i = 0; i < v->run.nnot_observed; i++)
		json_string(&j, NULL, v->run.not_observed[i]);
	json_end(&j);
	json_array(&j, "cpus");
	for (uint32_t i = 0; i < v->ncpus && !err; i++)
		err = render_json_cpu(&j, v, i);
	json_end(&j);
	json_end(&j);
	return err ? err : ferror(out) ? -EIO : 0;
}
