/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the kernel's counters with the records between two readings. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "model/counters_state.h"
#include "model/source.h"

#define ROWS_MAX 4096 /* rows that a CPU can have in a recording */

/* Number traced: at least, and at most. */
struct traced {
	uint64_t least, most;
};

/* True for rows that are no interrupts, or are counted in another row as well. */
static bool skipped(const char *label)
{
	static const char *const names[] = {"RTR", "MCP", "PMI", "TLB", "ERR", "MIS"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(label, names[i]))
			return true;
	return false;
}

/* The low 32 bits of what the kernel counted. */
static uint32_t grown(const struct counters *c, uint32_t i, uint32_t row)
{
	size_t at = (size_t)row * c->n + i;

	return c->value[READING_END][at] - c->value[READING_BEGIN][at];
}

static uint32_t grown_of(const struct counters *c, uint32_t i, const char *label)
{
	for (uint32_t row = 0; row < c->rows; row++)
		if (!strcmp(c->row[row].label, label))
			return grown(c, i, row);
	return 0;
}

static bool traced_vector(const struct counters *c, uint32_t i, const char *label,
			  struct traced *traced)
{
	bool known = false;

	for (uint32_t id = 1; id < VECTOR_IDS; id++)
		if (!strcmp(vector_counter(id), label)) {
			traced->least += c->sure[i].vector[id];
			traced->most += c->perhaps[i].vector[id];
			known = true;
		}
	return known;
}

/* Handlers that share an IRQ make a record each. */
static struct traced traced_irq(const struct counters *c, uint32_t i, uint32_t irq, bool counted,
				unsigned (*actions)(void *, uint32_t), void *ctx)
{
	struct traced t = {c->sure[i].irq[irq], c->perhaps[i].irq[irq]};
	unsigned share;

	if (!counted && !t.least && !t.most)
		return t;
	share = actions(ctx, irq);
	t.most = (t.least + t.most + share - 1) / share - t.least / share;
	t.least /= share;
	return t;
}

/* The number that is nearest to the kernel's among those that are possible. */
static uint64_t nearest(uint64_t kernel, const struct traced *t)
{
	if (kernel < t->least)
		return t->least;
	return kernel > t->least + t->most ? t->least + t->most : kernel;
}

/* The number that the kernel counted, of which only the low 32 bits are known: the one nearest to
 * what was traced. */
static uint64_t whole(uint32_t low, const struct traced *t)
{
	const uint64_t turn = UINT64_C(1) << 32;
	uint64_t above = t->least + (uint32_t)(low - t->least), most = t->least + t->most;

	return above > most && above >= turn && above - most > t->least - (above - turn)
		       ? above - turn
		       : above;
}

static void compare_row(const struct counters *c, uint32_t i, uint32_t row, struct closure_row *out,
			unsigned (*actions)(void *, uint32_t), void *ctx)
{
	const char *label = c->row[row].label;
	uint32_t low = grown(c, i, row);
	struct traced t = {0};
	uint64_t with;

	if (c->row[row].vector) {
		t = (struct traced){c->sure[i].vector[c->row[row].vector],
				    c->perhaps[i].vector[c->row[row].vector]};
	} else if (c->row[row].irq >= IRQS_MAX) {
		out->why = IRQS_BEYOND;
	} else if (c->row[row].irq >= 0) {
		t = traced_irq(c, i, c->row[row].irq, low, actions, ctx);
	} else if (!strncmp(label, "softirq ", 8)) {
		for (unsigned id = 0; id < SOFTIRQS; id++)
			if (!strcmp(label + 8, softirq_name(id)))
				t = (struct traced){c->sure[i].softirq[id],
						    c->perhaps[i].softirq[id]};
	} else if (!strcmp(label, "NMI")) {
		t = (struct traced){c->sure[i].nmi, c->perhaps[i].nmi};
	} else if (!traced_vector(c, i, label, &t)) {
		out->why = "the kernel has no tracepoint for it";
	}
	out->kernel = whole(low, &t);
	/* some kernels subtract the one row from the other */
	with = out->kernel + (strcmp(label, "CAL") ? 0 : grown_of(c, i, "TLB"));
	if (out->kernel < t.least && nearest(with, &t) == with)
		out->kernel = with;
	out->traced = nearest(out->kernel, &t);
}

/* Adds a row, unless it counted nothing. False: there is no room. */
static bool add_row(struct cpu *run, struct closure_row *row, uint64_t lost)
{
	void *bigger = run->closure;

	if (!row->kernel && !row->traced)
		return true;
	if (row->kernel != row->traced && !row->why && lost)
		row->why = "records were lost";
	if (run->nclosure == ROWS_MAX)
		return false;
	if (!(run->nclosure & (run->nclosure - 1))) /* powers of two */
		bigger = reallocarray(run->closure, run->nclosure ? 2 * run->nclosure : 1,
				      sizeof(*run->closure));
	if (!bigger)
		return false;
	run->closure = bigger;
	run->closure[run->nclosure++] = *row;
	return true;
}

void counters_compare(const struct counters *c, uint32_t i, uint64_t lost, struct cpu *run,
		      unsigned (*actions)(void *ctx, uint32_t irq), void *ctx)
{
	const struct switches *begin = &c->switches[READING_BEGIN][i],
			      *end = &c->switches[READING_END][i];
	struct closure_row row = {.counter = "context switches",
				  .kernel = end->kernel - begin->kernel};
	struct traced t = {end->traced_before - begin->traced_after};
	bool room = true;

	run->closure_known = true;
	for (uint32_t k = 0; k < c->rows && room; k++) {
		struct closure_row one = {0};

		if (skipped(c->row[k].label))
			continue;
		memcpy(one.counter, c->row[k].label, sizeof(one.counter));
		compare_row(c, i, k, &one, actions, ctx);
		room = add_row(run, &one, lost);
	}
	t.most = end->traced_after - begin->traced_before - t.least;
	row.traced = nearest(row.kernel, &t);
	if (room)
		add_row(run, &row, lost);
}
