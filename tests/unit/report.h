/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Views made by hand, for the tests of report formats: a plain one, and one in which every name is
 * hostile. */
#ifndef CULPRIT_TESTS_REPORT_H
#define CULPRIT_TESTS_REPORT_H

#include <stdlib.h>
#include <string.h>

#include "model/summary.h"
#include "model/view.h"

#define REPORT_HICCUPS 64
#define REPORT_PIECES  4
#define REPORT_STARTED 5000000000ULL

struct report {
	struct view view;
	/* in order of time, each of the CPU with this index */
	struct account hiccup[REPORT_HICCUPS];
	struct piece piece[REPORT_HICCUPS][REPORT_PIECES];
	struct span span[REPORT_HICCUPS][REPORT_PIECES];
	uint32_t index[REPORT_HICCUPS];
	uint32_t hiccups;
};

/* Names that a process, a driver or a file could bring. 15 bytes at most: comms. */
static const char *const hostile_names[] = {
	"<script>",
	"a|b",
	"new\nline",
	"\033[31mred",
	"quo\"te,comma",
	"bad\xff\xfeutf8",
	"`tick`",
	"=1+1",
	"back\\slash",
	"\xe2\x80\xaeidib",
	"&lt;b&amp;",
	"*bold* _it_",
	"[a](j:b)",
	"cr\r\nlf",
	"tab\tx",
	"semi;colon",
	"100% 'x'",
	"http://x.yz",
	"@all #1",
	"\xc3\xa9t\xc3\xa9",
	"~~x~~ $y$",
	"# head",
	"",
	"a b  c ",
};
#define HOSTILE_NAMES (sizeof(hostile_names) / sizeof(hostile_names[0]))

static const char *report_symbol(void *ctx, uint64_t address)
{
	(void)ctx;
	return address == 1    ? "vmstat_update"
	       : address < 100 ? "poke_ask"
			       : hostile_names[address - 100];
}

/* Stack n of the plain view: the asker below the system call. */
static int report_stack(void *ctx, int32_t id, const char **frame)
{
	frame[0] = "bpf_prog_1_sched_waking [bpf]";
	frame[1] = "bpf_trace_run1";
	frame[2] = report_symbol(ctx, id);
	frame[3] = "do_syscall_64";
	frame[4] = "entry_SYSCALL_64_after_hwframe";
	return id < 0 ? 0 : 5;
}

static const struct names report_names = {.symbol = report_symbol, .stack = report_stack};

static void report_init(struct report *r, const char *hostname, const unsigned *cpus,
			uint32_t ncpus)
{
	struct view *v = &r->view;

	memset(r, 0, sizeof(*r));
	strcpy(v->host.hostname, hostname);
	strcpy(v->host.kernel, "6.12.1");
	strcpy(v->host.arch, "x86_64");
	strcpy(v->host.cpu_model, "Model 1");
	strcpy(v->host.clocksource, "tsc");
	strcpy(v->host.cmdline, "isolcpus=3 nohz_full=3");
	v->host.tsc_khz = 2000000;
	strcpy(v->run.sampler, "tsc");
	strcpy(v->run.priority, "SCHED_OTHER");
	strcpy(v->run.started, "2026-01-02T03:04:05.000000006Z");
	v->run.started_ns = REPORT_STARTED;
	v->run.duration_ns = 1000000000;
	v->run.threshold_auto = v->run.traced = true;
	cpus_add(&v->run.housekeeping, 0);
	if (view_cpus(v, cpus, ncpus))
		abort();
	for (uint32_t i = 0; i < ncpus; i++) {
		cpus_add(&v->run.cpus, cpus[i]);
		v->cpu[i].observed_ns = 1000000000;
		v->cpu[i].threshold_ns = 200;
		v->cpu[i].loop_count = 50000000;
		v->cpu[i].loop_mean_ns = 9.7;
		v->cpu[i].loop_min_ns = 9;
		v->cpu[i].bounds = (struct edge_bounds){.irq_ns = 900, .thread_ns = 1900};
		v->cpu[i].edge_seen = (struct edge_seen){100, 310, 480, 290, 420};
	}
}

static void report_free(struct report *r)
{
	view_free(&r->view);
}

/* Begins a hiccup at_ns after the run's start. Its duration is the sum of its pieces. */
static struct account *report_hiccup(struct report *r, uint32_t index, uint64_t at_ns,
				     uint64_t edge_ns, uint64_t outside_ns)
{
	struct account *a = &r->hiccup[r->hiccups];

	if (r->hiccups == REPORT_HICCUPS)
		abort();
	r->index[r->hiccups] = index;
	a->pieces = r->piece[r->hiccups++];
	a->start_ns = REPORT_STARTED + at_ns;
	a->spot.cpu = r->view.cpu[index].number;
	a->edge_ns = edge_ns;
	a->outside_ns = outside_ns;
	a->duration_ns = edge_ns + outside_ns;
	return a;
}

/* Adds a piece to the newest hiccup. */
static struct source *report_key(struct report *r, const struct source_key *key, uint64_t net_ns)
{
	struct account *a = &r->hiccup[r->hiccups - 1];
	struct sources *t = &r->view.cpu[r->index[r->hiccups - 1]].sources;
	uint32_t row = sources_find_key(t, key);

	if (a->npieces == REPORT_PIECES)
		abort();
	a->pieces[a->npieces++] = (struct piece){.source = row, .net_ns = net_ns};
	a->attributed_ns += net_ns;
	a->duration_ns += net_ns;
	a->intervals++;
	t->row[row]->hiccups++;
	source_add(t->row[row], net_ns, true);
	return t->row[row];
}

static struct source *report_piece(struct report *r, enum source_kind kind, uint32_t id,
				   const char *name, const char *function, uint64_t net_ns)
{
	return report_key(
		r, &(struct source_key){.kind = kind, .id = id, .name = name, .function = function},
		net_ns);
}

/* Sets who asked for the newest piece. */
static void report_asked(struct report *r, struct source *s, uint32_t tid, const char *comm,
			 uint16_t cpu, uint64_t function)
{
	struct record mark = {.kind = RECORD_MARK,
			      .flags = RECORD_ORIGIN,
			      .id = tid,
			      .origin_cpu = cpu,
			      .origin = function,
			      .stack = function};
	struct account *a = &r->hiccup[r->hiccups - 1];

	memcpy(mark.name, comm, strnlen(comm, sizeof(mark.name)));
	a->pieces[a->npieces - 1].asker = *source_asked(s, &mark, &report_names);
}

/* Lets all other pieces run one after the other inside the first. */
static void report_spans(struct report *r, struct account *a)
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
static void report_end(struct report *r, const char *verdict)
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
	v->cpu[0].closure = calloc(2, sizeof(*v->cpu[0].closure));
	if (!v->cpu[0].closure)
		abort();
	v->cpu[0].closure_known = true;
	v->cpu[0].nclosure = 2;
	v->cpu[0].closure[0] = (struct closure_row){.counter = "LOC", .kernel = 5, .traced = 5};
	v->cpu[0].closure[1] = (struct closure_row){
		.counter = "a|`b`<i>", .kernel = 7, .traced = 5, .why = "w|`h`\n<y>"};
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
