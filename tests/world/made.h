/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs made of hiccups by their pieces, without a join: by chance, for what compares runs; plain,
 * or with hostile names everywhere, for what shows them. */
#ifndef CULPRIT_TESTS_MADE_H
#define CULPRIT_TESTS_MADE_H

#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "model/diff.h"
#include "model/summary.h"
#include "world.h"

#define REPORT_HICCUPS 64
#define REPORT_PIECES  6

struct report {
	struct view view;
	/* in order of time, each of the CPU with this index */
	struct account hiccup[REPORT_HICCUPS];
	struct piece piece[REPORT_HICCUPS][REPORT_PIECES];
	struct span span[REPORT_HICCUPS][REPORT_PIECES];
	uint32_t index[REPORT_HICCUPS];
	uint32_t hiccups;
};

/* Adds a piece to a hiccup of the CPU with this index. */
static inline struct source *add_piece(struct view *v, uint32_t index, struct account *a,
				       const struct source_key *key, uint64_t net_ns)
{
	struct sources *t = &v->cpu[index].sources;
	uint32_t row = sources_find_key(t, key);

	a->pieces[a->npieces++] = (struct piece){.source = row, .net_ns = net_ns};
	a->attributed_ns += net_ns;
	a->duration_ns += net_ns;
	a->intervals++;
	t->row[row]->hiccups++;
	source_add(t->row[row], net_ns, true);
	return t->row[row];
}

/* ---- hiccups of one piece, of which only the sums are kept ---- */

static inline void run_init(struct view *v, const unsigned *cpus, uint32_t ncpus, double seconds)
{
	world_view(v, "host", cpus, ncpus);
	world_lasts(v, seconds * 1e9);
}

/* at_s: behind the run's start. */
static inline void run_add(struct view *v, uint32_t index, double at_s, enum source_kind kind,
			   uint32_t id, const char *name, const char *function, uint64_t net_ns)
{
	struct piece piece;
	struct account a = {.start_ns = WORLD_STARTED + (uint64_t)(at_s * 1e9), .pieces = &piece};

	add_piece(v, index, &a,
		  &(struct source_key){.kind = kind, .id = id, .name = name, .function = function},
		  net_ns);
	summary_add(v, index, &a);
}

/* Events of mean_ns that come by chance, per_s a second, in bursts of `burst` 100 us apart. */
static inline void run_noise(struct view *v, uint32_t index, double per_s, unsigned burst,
			     enum source_kind kind, uint32_t id, const char *name,
			     const char *function, double mean_ns)
{
	double seconds = v->cpu[index].observed_ns / 1e9, rate = per_s / burst;

	for (double at = -log(uniform()) / rate; at < seconds; at -= log(uniform()) / rate)
		for (unsigned i = 0; i < burst && at + 1e-4 * i < seconds; i++)
			run_add(v, index, at + 1e-4 * i, kind, id, name, function,
				1 - mean_ns * log(uniform()));
}

/* Each view a side of its own. */
static inline int diff_of(struct diff *d, const struct view *const *views, uint32_t n,
			  double between)
{
	struct diff_side side[DIFF_FILES];

	for (uint32_t k = 0; k < n; k++)
		side[k] = (struct diff_side){&views[k], 1};
	return diff_make(d, side, n, between);
}

/* ---- hiccups that are kept whole ---- */

static inline const char *report_symbol(void *ctx, uint64_t address)
{
	(void)ctx;
	return address == 1    ? "vmstat_update"
	       : address < 100 ? "poke_ask"
			       : hostile_names[address - 100];
}

/* Stack n of the plain view: the asker below the system call. */
static inline int report_stack(void *ctx, int32_t id, const char **frame)
{
	frame[0] = "bpf_prog_1_sched_waking [bpf]";
	frame[1] = "bpf_trace_run1";
	frame[2] = report_symbol(ctx, id);
	frame[3] = "do_syscall_64";
	frame[4] = "entry_SYSCALL_64_after_hwframe";
	return id < 0 ? 0 : 5;
}

static const struct names report_names = {.symbol = report_symbol, .stack = report_stack};

static inline void report_init(struct report *r, const char *hostname, const unsigned *cpus,
			       uint32_t ncpus)
{
	memset(r, 0, sizeof(*r));
	world_view(&r->view, hostname, cpus, ncpus);
	world_lasts(&r->view, 1000000000);
}

static inline void report_free(struct report *r)
{
	view_free(&r->view);
}

/* Begins a hiccup at_ns after the run's start. Its duration is the sum of its pieces. */
static inline struct account *report_hiccup(struct report *r, uint32_t index, uint64_t at_ns,
					    uint64_t edge_ns, uint64_t outside_ns)
{
	struct account *a = &r->hiccup[r->hiccups];

	if (r->hiccups == REPORT_HICCUPS)
		abort();
	r->index[r->hiccups] = index;
	a->pieces = r->piece[r->hiccups++];
	a->start_ns = WORLD_STARTED + at_ns;
	a->spot.cpu = r->view.cpu[index].number;
	a->edge_ns = edge_ns;
	a->outside_ns = outside_ns;
	a->duration_ns = edge_ns + outside_ns;
	return a;
}

/* Adds a piece to the newest hiccup. */
static inline struct source *report_key(struct report *r, const struct source_key *key,
					uint64_t net_ns)
{
	struct account *a = &r->hiccup[r->hiccups - 1];

	if (a->npieces == REPORT_PIECES)
		abort();
	return add_piece(&r->view, r->index[r->hiccups - 1], a, key, net_ns);
}

static inline struct source *report_piece(struct report *r, enum source_kind kind, uint32_t id,
					  const char *name, const char *function, uint64_t net_ns)
{
	return report_key(
		r, &(struct source_key){.kind = kind, .id = id, .name = name, .function = function},
		net_ns);
}

/* Sets who asked for the newest piece. */
static inline void report_asked(struct report *r, struct source *s, uint32_t tid, const char *comm,
				uint16_t cpu, uint64_t function)
{
	struct record mark = {.kind = RECORD_MARK,
			      .flags = RECORD_ASKED,
			      .id = tid,
			      .asker_cpu = cpu,
			      .callsite = function,
			      .stack = function};
	struct account *a = &r->hiccup[r->hiccups - 1];

	memcpy(mark.name, comm, strnlen(comm, sizeof(mark.name)));
	a->pieces[a->npieces - 1].asker = *source_asked(s, &mark, &report_names);
}

/* Lets all other pieces run one after the other inside the first. */
static inline void report_spans(struct report *r, struct account *a)
{
	struct span *span = r->span[r->hiccups - 1];
	uint64_t start = a->start_ns + a->edge_ns / 2, at = start;

	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct piece *p = &a->pieces[i];

		span[i] = (struct span){at, at + p->net_ns, .source = p->source, .asker = p->asker,
					.depth = i != 0};
		at += i ? p->net_ns : p->net_ns / 2;
	}
	if (a->npieces)
		span[0].end_ns = start + a->attributed_ns;
	a->spans = span;
	a->nspans = a->npieces;
}

/* Completes the newest hiccup. */
static inline void report_end(struct report *r, const char *verdict)
{
	struct account *a = &r->hiccup[r->hiccups - 1];
	uint32_t index = r->index[r->hiccups - 1];

	report_spans(r, a);
	summary_add(&r->view, index, a);
	if (a->outside_ns)
		summary_outside(&r->view, index, a->start_ns, a->outside_ns,
				verdict ? word_of(verdict) : WORD_HARDWARE);
}

/* CPUs 2 and 3; the tick on both, a worker that poke asked for, a device interrupt, and one
 * unexplained gap. */
static inline void report_plain(struct report *r, const char *hostname)
{
	static const unsigned cpus[] = {2, 3};
	struct source *s;

	report_init(r, hostname, cpus, 2);
	cpus_add(&r->view.host.isolated, 3);
	for (uint32_t i = 0; i < 10; i++) {
		report_hiccup(r, i % 2, 1000000 + 4000000 * i, 400, 0);
		report_piece(r, SOURCE_VECTOR, VECTOR_LOCAL_TIMER, "local_timer",
			     "tick_nohz_handler", 2000 + i);
		report_end(r, NULL);
	}
	report_hiccup(r, 1, 50000000, 500, 100);
	s = report_key(
		r,
		&(struct source_key){SOURCE_THREAD, 812, "kworker/3:1", "vmstat_update", true, 812},
		31000);
	s->cause = "K01";
	s->advice = strdup("sysctl vm.stat_interval=120");
	report_asked(r, s, 4414, "poke", 0, 2);
	report_piece(r, SOURCE_VECTOR, VECTOR_LOCAL_TIMER, "local_timer", "tick_nohz_handler",
		     2100);
	report_end(r, "steal");
	report_hiccup(r, 1, 60000000, 300, 0);
	report_piece(r, SOURCE_IRQ, 36, "virtio1-req.0", NULL, 7000);
	report_end(r, NULL);
	report_hiccup(r, 0, 70000000, 0, 90000);
	report_end(r, "hardware or hypervisor");
	r->hiccup[2].lost = 3;
}

/* Marks time of the newest hiccup as unknown, with missing records. */
static inline void report_lost(struct report *r, uint64_t records, uint64_t ns)
{
	struct account *a = &r->hiccup[r->hiccups - 1];

	a->lost = records;
	a->lost_ns = ns;
	a->duration_ns += ns;
}

/* CPUs 1 and 4; each hostile name as a thread's, an interrupt's, an asker's and a function's. */
static inline void report_hostile(struct report *r)
{
	static const unsigned cpus[] = {1, 4};
	struct view *v = &r->view;

	report_init(r, "h|<b>\"x\",\n`y`\033[1m", cpus, 2);
	strcpy(v->host.kernel, "6.12|<i>`\n=");
	strcpy(v->host.cmdline, "quiet | `x` <script>alert(1)</script>\n# no \"head\" \xff");
	strcpy(v->host.cpu_model, "CPU | `<b>`");
	strcpy(v->host.hypervisor, "H|V\n");
	view_not_observed(v, "evil|`<b>\n*x*");
	world_closure(
		&v->cpu[0],
		(const struct closure_row[]){
			{.counter = "LOC", .kernel = 5, .traced = 5},
			{.counter = "a|`b`<i>", .kernel = 7, .traced = 5, .why = "w|`h`\n<y>"}},
		2);
	for (uint32_t i = 0; i < HOSTILE_NAMES; i++) {
		const char *name = hostile_names[i];

		report_hiccup(r, i % 2, 1000 + 1000000 * i, 100 + i, i % 3 ? 0 : 50 + i);
		report_asked(r, report_piece(r, SOURCE_THREAD, 100 + i, name, name, 5000 + i),
			     7 + i, name, i, 100 + i);
		report_piece(r, SOURCE_IRQ, i, name, NULL, 3000 + i);
		if (i % 5 == 4)
			report_lost(r, i, i % 2 ? 6000 : 2);
		report_end(r, "hardware or hypervisor");
	}
}

#endif
