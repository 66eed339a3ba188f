#include "collect/closure.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/counter.h"

#define ROWS_MAX    4096
#define LABEL_MAX   24
#define PATIENCE_NS 20000000 /* for a CPU that is never still: the rings are not read meanwhile */
#define IRQS_MAX    16384
#define SOFTIRQS    16

struct row {
	/* "24", "LOC" as in /proc/interrupts; "softirq TIMER"; "context switches" */
	char label[LABEL_MAX];
	uint64_t begin, end;
};

struct closure {
	unsigned cpu;
	int sampler;
	bool begun;
	struct row row[ROWS_MAX];
	uint32_t rows;
	uint64_t switches[2];
	/* Counts of records. */
	uint64_t vector[VECTOR_IDS], softirq[SOFTIRQS], nmi, irq[IRQS_MAX];
};

struct closure *closure_new(unsigned cpu, int sampler)
{
	struct closure *c = calloc(1, sizeof(*c));

	if (c) {
		c->cpu = cpu;
		c->sampler = sampler;
	}
	return c;
}

void closure_free(struct closure *c)
{
	free(c);
}

/* ---- reading ---- */

static void set(struct closure *c, const char *label, uint64_t value)
{
	uint32_t i;

	for (i = 0; i < c->rows && strcmp(c->row[i].label, label); i++)
		;
	if (i == c->rows) {
		if (c->rows == ROWS_MAX)
			return;
		c->rows++;
		snprintf(c->row[i].label, sizeof(c->row[i].label), "%s", label);
		c->row[i].begin =
			c->begun ? 0 : value; /* a row that is new at the end began at 0 */
	}
	if (c->begun)
		c->row[i].end = value;
	else
		c->row[i].begin = c->row[i].end = value;
}

/* Index of the CPU's column: the heading has one word "CPUn" for each column. */
static int column_of(const char *heading, unsigned cpu)
{
	int column = 0, n;
	unsigned number;

	while (sscanf(heading, " CPU%u%n", &number, &n) == 1) {
		if (number == cpu)
			return column;
		heading += n;
		column++;
	}
	return -1;
}

/* Reads a table of the kernel's: a heading of CPUs, then "label: count count ... text". */
static void read_table(struct closure *c, const char *path, const char *prefix)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, label[LABEL_MAX];
	size_t room = 0;
	int column = -1;

	if (f && getline(&line, &room, f) > 0)
		column = column_of(line, c->cpu);
	while (column >= 0 && getline(&line, &room, f) > 0) {
		char *at = strchr(line, ':'), *end;
		unsigned long long value = 0;
		int i;

		if (!at)
			continue;
		*at++ = 0;
		for (i = 0; i <= column; i++, at = end) {
			value = strtoull(at, &end, 10);
			if (end == at)
				break;
		}
		if (i <= column) /* a total without columns: ERR, MIS */
			continue;
		snprintf(label, sizeof(label), "%s%s", prefix, line + strspn(line, " "));
		set(c, label, value);
	}
	free(line);
	if (f)
		fclose(f);
}

static void read_switches(struct closure *c)
{
	char path[64], line[128];
	unsigned long long n, sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", c->sampler);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (f) {
		fclose(f);
		set(c, "context switches", sum);
	}
}

/* State that must not change while the counters are read. */
struct stillness {
	cursors_t cursors;
	uint64_t switches, open;
};

static struct stillness look(const struct cpu_state *s)
{
	struct stillness now = {.cursors = *(const volatile cursors_t *)s->cursor,
				.switches = __atomic_load_n(&s->switches, __ATOMIC_ACQUIRE),
				.open = __atomic_load_n(&s->irq[0].start_ns, __ATOMIC_ACQUIRE) |
					__atomic_load_n(&s->softirq.start_ns, __ATOMIC_ACQUIRE) |
					__atomic_load_n(&s->thread.start_ns, __ATOMIC_ACQUIRE)};

	/* keeps the order: later reads stay later, earlier ones earlier */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return now;
}

bool closure_read(struct closure *c, const struct cpu_state *state, cursors_t *cursors)
{
	uint64_t begin = now_ns();

	while (now_ns() - begin < PATIENCE_NS) {
		struct stillness before = look(state), after;

		read_table(c, "/proc/interrupts", "");
		read_table(c, "/proc/softirqs", "softirq ");
		read_switches(c);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		after = look(state);
		if (before.cursors == after.cursors && before.switches == after.switches &&
		    !before.open && !after.open) {
			c->switches[c->begun] = after.switches;
			c->begun = true;
			*cursors = after.cursors;
			return true;
		}
	}
	return false;
}

/* ---- comparing ---- */

void closure_count(struct closure *c, const struct record *r)
{
	if (r->kind == RECORD_VECTOR && r->id < VECTOR_IDS)
		c->vector[r->id]++;
	else if (r->kind == RECORD_SOFTIRQ && r->id < SOFTIRQS && !(r->flags & RECORD_PART))
		c->softirq[r->id]++;
	else if (r->kind == RECORD_NMI)
		c->nmi++;
	else if (r->kind == RECORD_IRQ && r->id < IRQS_MAX)
		c->irq[r->id]++;
}

/* True for rows that are no interrupts, or are counted in another row as well. */
static bool skipped(const char *label)
{
	static const char *const names[] = {"RTR", "MCP", "PMI", "TLB", "ERR", "MIS"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(label, names[i]))
			return true;
	return false;
}

static uint64_t grown(const struct closure *c, const char *label)
{
	for (uint32_t i = 0; i < c->rows; i++)
		if (!strcmp(c->row[i].label, label))
			return c->row[i].end - c->row[i].begin;
	return 0;
}

static bool traced_vector(const struct closure *c, const char *label, uint64_t *traced)
{
	bool known = false;

	*traced = 0;
	for (uint32_t id = 1; id < VECTOR_IDS; id++)
		if (!strcmp(vector_counter(id), label)) {
			*traced += c->vector[id];
			known = true;
		}
	return known;
}

/* Fills traced and why for one of the kernel's rows. */
static void compare_row(const struct closure *c, struct closure_row *out,
			unsigned (*actions)(void *ctx, uint32_t irq), void *ctx)
{
	const char *label = out->counter;
	unsigned irq;

	if (isdigit((unsigned char)label[0])) {
		irq = atoi(label);
		out->traced = irq < IRQS_MAX ? c->irq[irq] / actions(ctx, irq) : 0;
	} else if (!strncmp(label, "softirq ", 8)) {
		for (unsigned i = 0; i < SOFTIRQS; i++)
			if (!strcmp(label + 8, softirq_name(i)))
				out->traced = c->softirq[i];
	} else if (!strcmp(label, "context switches")) {
		out->traced = c->switches[1] - c->switches[0];
	} else if (!strcmp(label, "NMI")) {
		out->traced = c->nmi;
	} else if (!traced_vector(c, label, &out->traced)) {
		out->why = "the kernel has no tracepoint for it";
	} else if (!strcmp(label, "CAL") && out->traced == out->kernel + grown(c, "TLB")) {
		out->kernel +=
			grown(c, "TLB"); /* some kernels subtract the one row from the other */
	}
}

void closure_compare(struct closure *c, struct cpu *run,
		     unsigned (*actions)(void *ctx, uint32_t irq), void *ctx)
{
	run->closure = calloc(c->rows ? c->rows : 1, sizeof(*run->closure));
	if (!run->closure)
		return;
	run->closure_known = true;
	for (uint32_t i = 0; i < c->rows; i++) {
		struct closure_row *out = &run->closure[run->nclosure];

		if (skipped(c->row[i].label))
			continue;
		snprintf(out->counter, sizeof(out->counter), "%s", c->row[i].label);
		out->kernel = c->row[i].end - c->row[i].begin;
		out->traced = 0;
		out->why = NULL;
		compare_row(c, out, actions, ctx);
		if (out->kernel != out->traced && !out->why && run->counts.lost)
			out->why = "records were lost";
		if (out->kernel || out->traced)
			run->nclosure++;
	}
}
