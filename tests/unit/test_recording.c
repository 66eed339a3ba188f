/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading returns what was recorded: the view of a recording equals that of the session which was
 * fed the same events, in all that a report may show. A recording that is not whole, not ours or
 * not sane is read as far as possible, with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../world/chance.h"
#include "../world/chunk.h"
#include "../world/scene.h"
#include "base/units.h"
#include "recording/codec.h"
#include "recording/fields.h"
#include "recording/read.h"
#include "render/render.h"

#define CHUNKS_MAX 64

static char path[] = "/tmp/culprit-test-XXXXXX";
static int said = -1; /* messages in place of stderr */
static struct scene scene;

/* ---- files ---- */

static void write_file(const void *data, size_t len)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static struct bytes read_file(void)
{
	struct bytes b = {0};
	char block[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	assert_non_null(f);
	while ((n = fread(block, 1, sizeof(block), f)))
		put_raw(&b, block, n);
	fclose(f);
	return b;
}

/* Messages since the last time. */
static const char *hear(void)
{
	static char text[4096];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	assert_int_equal(ftruncate(said, 0), 0);
	text[n > 0 ? n : 0] = 0;
	return text;
}

/* ---- a scene ---- */

static const char *const comms[] = {"rcu_preempt", "kworker/3:1", "poke", "ksoftirqd/3", "",
				    "a\xff\n\"b"};

/* One gap with a nest by chance, up to `at` and back. */
static void random_gap(struct scene *s, uint32_t index, uint64_t at_ns)
{
	uint64_t tick = scene_function(s, "tick_nohz_handler"),
		 work = scene_function(s, "vmstat_update");
	uint64_t at = 200 + below(700), start = at;
	uint32_t tid = 10 + below(40);
	const char *comm = comms[below(sizeof(comms) / sizeof(comms[0]))];

	scene_gap(s, index, at_ns);
	for (uint64_t n = below(4); n--; at += 100) {
		uint64_t end = at + 500 + below(3000);

		switch (below(5)) {
		case 0:
			scene_put(s,
				  irq(below(5), scene_function(s, "e1000_intr [e1000]"), at, end));
			break;
		case 1:
			scene_put(s, nmi(scene_function(s, "perf_event_nmi_handler"), at, end));
			break;
		case 2:
			scene_put(s, softirq(below(10), at, end));
			break;
		default:
			scene_put(s, mark(LEVEL_IRQ, MARK_HRTIMER, tick, at + 50));
			scene_put(s, vector(VECTOR_LOCAL_TIMER, at, end));
			if (!below(3))
				scene_put(s, instant(RECORD_TICK, LEVEL_IRQ, 1 << below(4), 77,
						     comm, end));
		}
		at = end;
	}
	if (below(2)) {
		uint64_t begin = below(2) ? start - 100 : at;

		at += 2000;
		scene_put(s, asked(mark(LEVEL_THREAD, MARK_WORK, work, at - 1500), 100 + below(50),
				   "asker", below(4), (int32_t)below(3) - 1));
		scene_put(s, kthread(tid, comm, begin, at));
	}
	scene_end(s, at + below(9) * below(5000));
}

static void random_scene(struct scene *s, uint32_t gaps, const char *file)
{
	static const unsigned cpus[] = {1, 3};
	static const char *const stack[] = {"smp_call_function_many_cond", "sched_setaffinity",
					    "do_syscall_64"};
	uint64_t at = 1000000;

	scene_init(s, "web-07", cpus, 2);
	scene_stack(s, stack, 3);
	scene_stack(s, stack + 1, 1);
	for (int i = 0; i < 5; i += 2)
		s->irq[i] = i ? "virtio1-req.0" : "";
	s->affinity[4] = "0-3, effective 1";
	facts_add(&s->view.facts, "proc/cmdline", 0, "quiet\n", 6);
	facts_add(&s->view.facts, "proc/absent", -ENOENT, NULL, 0);
	view_not_observed(&s->view, "tlb_flush");
	view_not_observed(&s->view, "irq_work_run");
	scene_begin(s, file);
	for (uint32_t i = 0; i < gaps; i++) {
		random_gap(s, below(2), at += 100000 + below(1000000));
		if (!below(50))
			scene_steal(s, below(2), at / 100 / 10000000 * 10000000);
	}
	s->view.run.duration_ns = at + 100000000;
	s->view.cpu[1].closure = calloc(2, sizeof(*s->view.cpu[1].closure));
	s->view.cpu[1].closure[0] =
		(struct closure_row){"LOC", 12, 13, "one came at the window's end"};
	s->view.cpu[1].closure[1] = (struct closure_row){"RES", 7, 7, NULL};
	s->view.cpu[1].nclosure = 2;
	s->view.cpu[1].closure_known = true;
	s->view.cpu[1].ended = "the CPU went offline";
	s->view.cpu[0].loop_mean_ns = 0.1 + 0.2;
	s->view.cpu[0].loop_count = UINT64_MAX;
	s->view.cpu[1].shorts = (struct short_gaps){true, 100, 31, 4100};
	assert_int_equal(scene_finish(s), 0);
	assert_int_equal(s->stats.hiccups_lost, 0);
}

static void scene_free(struct scene *s)
{
	view_free(&s->view);
}

/* ---- equality ---- */

static void same_text(const char *a, const char *b)
{
	assert_int_equal(!a, !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_hist(const struct hist *a, const struct hist *b)
{
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->sum, b->sum);
	assert_int_equal(a->min, b->min);
	assert_int_equal(a->max, b->max);
	for (uint32_t i = 0; i < a->nbuckets; i++)
		assert_int_equal(hist_at(a, i), hist_at(b, i));
}

static void same_asker(const struct asker *a, const struct asker *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->tid, b->tid);
	assert_string_equal(a->comm, b->comm);
	same_text(a->function, b->function);
}

static void same_askers(const struct askers *a, const struct askers *b)
{
	assert_int_equal(!a, !b);
	if (!a)
		return;
	assert_int_equal(a->count, b->count);
	assert_int_equal(a->known, b->known);
	assert_int_equal(a->unnamed, b->unnamed);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct asker_row *x = &a->row[i], *y = &b->row[i];

		same_asker(&x->who, &y->who);
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->missed, y->missed);
		assert_int_equal(x->nframes, y->nframes);
		for (int k = 0; k < x->nframes; k++)
			assert_string_equal(x->frame[k], y->frame[k]);
	}
}

static void same_slices(const struct slices *a, const struct slices *b)
{
	assert_memory_equal(&a->slots, &b->slots, sizeof(a->slots));
	assert_true(a->squares == b->squares);
	assert_int_equal(a->largest, b->largest);
	for (unsigned i = 0; i < SLICES; i++) {
		assert_int_equal(slices_at(a, i).count, slices_at(b, i).count);
		assert_int_equal(slices_at(a, i).sum, slices_at(b, i).sum);
	}
}

static void same_sources(const struct sources *a, const struct sources *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct source *x = a->row[i], *y = b->row[i];

		assert_int_equal(x->kind, y->kind);
		assert_int_equal(x->id, y->id);
		assert_string_equal(x->name, y->name);
		same_text(x->function, y->function);
		assert_int_equal(x->hiccups, y->hiccups);
		same_hist(&x->net, &y->net);
		same_slices(&x->slices, &y->slices);
		same_text(x->affinity, y->affinity);
		assert_string_equal(x->memory_of, y->memory_of);
		assert_int_equal(x->kernel_thread, y->kernel_thread);
		same_askers(x->askers, y->askers);
	}
}

/* Member by member: what lies between them is anything. */
static void same_ticks(const struct nohz_ticks *a, const struct nohz_ticks *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		assert_int_equal(a->row[i].dependency, b->row[i].dependency);
		assert_int_equal(a->row[i].tid, b->row[i].tid);
		assert_string_equal(a->row[i].comm, b->row[i].comm);
		assert_int_equal(a->row[i].count, b->row[i].count);
	}
}

static void same_cpu(const struct cpu *a, const struct cpu *b)
{
	assert_int_equal(a->number, b->number);
	same_sources(&a->sources, &b->sources);
	same_ticks(&a->ticks, &b->ticks);
	same_hist(&a->hiccups, &b->hiccups);
	same_slices(&a->slices, &b->slices);
	assert_int_equal(a->attributed_ns, b->attributed_ns);
	assert_int_equal(a->edge_ns, b->edge_ns);
	assert_int_equal(a->outside_ns, b->outside_ns);
	assert_int_equal(a->pre_ns, b->pre_ns);
	assert_int_equal(a->post_ns, b->post_ns);
}

static void same_worst(const struct view *a, const struct view *b)
{
	assert_int_equal(a->nworst, b->nworst);
	for (uint32_t i = 0; i < a->nworst; i++) {
		const struct worst *x = &a->worst[i], *y = &b->worst[i];

		assert_int_equal(x->cpu, y->cpu);
		assert_int_equal(x->start_ns, y->start_ns);
		assert_int_equal(x->duration_ns, y->duration_ns);
		assert_int_equal(x->edge_ns, y->edge_ns);
		assert_int_equal(x->outside_ns, y->outside_ns);
		assert_int_equal(x->npieces, y->npieces);
		for (uint32_t k = 0; k < x->npieces; k++) {
			assert_int_equal(x->pieces[k].source, y->pieces[k].source);
			same_asker(&x->pieces[k].asker, &y->pieces[k].asker);
			assert_int_equal(x->pieces[k].net_ns, y->pieces[k].net_ns);
		}
	}
}

static void same_facts(const struct facts *a, const struct facts *b)
{
	assert_int_equal(a->count, b->count);
	for (uint32_t i = 0; i < a->count; i++) {
		assert_string_equal(a->row[i].name, b->row[i].name);
		assert_int_equal(a->row[i].err, b->row[i].err);
		assert_int_equal(a->row[i].len, b->row[i].len);
		assert_memory_equal(a->row[i].text, b->row[i].text, a->row[i].len);
	}
}

/* Host, run and counters are all that is in the report beside this: the report is the same. */
static void same_report(const struct view *a, const struct view *b)
{
	const struct view *both[] = {a, b};
	char *text[2];
	size_t len[2];

	for (const struct format *f = formats; f->choice.name; f++) {
		for (int i = 0; i < 2 && f->write; i++) {
			FILE *out = open_memstream(&text[i], &len[i]);

			assert_int_equal(f->write(&both[i], 1,
						  &(struct render_options){.stacks = true}, out),
					 0);
			assert_int_equal(fclose(out), 0);
		}
		if (!f->write)
			continue;
		assert_string_equal(text[0], text[1]);
		assert_true(len[0] > 40 || !a->nworst);
		free(text[0]);
		free(text[1]);
	}
}

static void same_view(const struct view *a, const struct view *b)
{
	assert_int_equal(a->ncpus, b->ncpus);
	for (uint32_t i = 0; i < a->ncpus; i++)
		same_cpu(&a->cpu[i], &b->cpu[i]);
	same_worst(a, b);
	same_facts(&a->facts, &b->facts);
	assert_memory_equal(&a->host, &b->host, sizeof(a->host));
	same_report(a, b);
}

/* ---- reading ---- */

static struct view view;

/* Messages meanwhile can be heard. */
static struct recording *read_part(const struct part *part)
{
	int before = dup(STDERR_FILENO);
	struct recording *r;

	memset(&view, 0, sizeof(view));
	lseek(said, 0, SEEK_SET);
	assert_true(dup2(said, STDERR_FILENO) >= 0);
	r = recording_open(path, part, &view);
	if (r)
		recording_finish(r);
	assert_true(dup2(before, STDERR_FILENO) >= 0);
	close(before);
	return r;
}

static void forget(struct recording *r)
{
	view_free(&view);
	recording_close(r);
}

static uint64_t hiccups_read(void)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < view.ncpus; i++)
		n += view.cpu[i].hiccups.count;
	return n;
}

/* The sums hold whatever was read, also modulo 2^64. */
static void check_sums(void)
{
	for (uint32_t i = 0; i < view.ncpus; i++) {
		const struct cpu *c = &view.cpu[i];
		uint64_t outside = 0, inside = 0, lost = 0;

		for (uint32_t k = 0; k < c->sources.count; k++) {
			const struct source *s = c->sources.row[k];

			*(s->kind == SOURCE_OUTSIDE ? &outside
			  : s->kind == SOURCE_LOST  ? &lost
						    : &inside) += s->net.sum;
		}
		assert_int_equal(c->attributed_ns + c->edge_ns + c->lost_ns + c->outside_ns,
				 c->hiccups.sum);
		assert_int_equal(lost, c->lost_ns);
		assert_int_equal(inside, c->attributed_ns);
		assert_int_equal(outside, c->outside_ns);
	}
}

/* ---- whole recordings ---- */

static void test_same(void **state)
{
	static const uint32_t sizes[] = {0, 1, 300,
					 60000}; /* the last makes several chunks of events */

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct recording *r;

		random_scene(&scene, sizes[i], path);
		assert_int_equal(scene.stats.hiccups, sizes[i]);
		r = read_part(NULL);
		assert_non_null(r);
		assert_false(view.run.damaged);
		assert_int_equal(hiccups_read(), sizes[i]);
		same_view(&scene.view, &view);
		check_sums();
		forget(r);
		scene_free(&scene);
	}
	assert_string_equal(hear(), "");
}

static unsigned padding;

static void write_jsonl(void *ctx, uint32_t index, const struct account *a, FILE *out)
{
	(void)ctx;
	assert_int_equal(render_jsonl(&view, index, a, out), 0);
	fprintf(out, "%*s", padding, "");
}

static void begin_jsonl(void *ctx)
{
	++*(unsigned *)ctx;
}

/* All lines, by so many threads; 0: one by one. */
static char *lines_of(unsigned threads, size_t *len)
{
	const struct part part = {.threads = threads};
	unsigned begun = 0;
	const struct account *a;
	struct recording *r;
	uint32_t index;
	char *text;
	FILE *out = open_memstream(&text, len);

	memset(&view, 0, sizeof(view));
	r = recording_open(path, &part, &view);
	assert_non_null(r);
	if (threads)
		assert_int_equal(
			recording_lines(r, &(struct line_writer){&begun, begin_jsonl, write_jsonl},
					out),
			0);
	assert_int_equal(begun, threads > 0);
	while ((a = recording_next(r, &index))) {
		assert_int_equal(threads, 0); /* none was left */
		write_jsonl(NULL, index, a, out);
	}
	assert_int_equal(fclose(out), 0);
	recording_finish(r);
	same_view(&scene.view, &view);
	forget(r);
	return text;
}

/* Whatever the number of threads, the same comes of it, with the lines in their order. */
static void test_threads(void **state)
{
	size_t len[2];
	char *one;

	(void)state;
	random_scene(&scene, 20000, path);
	one = lines_of(0, &len[0]);
	assert_true(len[0] > 60000);
	for (unsigned threads = 1; threads <= 3; threads++) {
		char *text = lines_of(threads, &len[1]);

		assert_int_equal(len[0], len[1]);
		assert_memory_equal(one, text, len[0]);
		free(text);
	}
	free(one);
	scene_free(&scene);
}

/* The same of lines that take more memory than all of a batch may. */
static void test_long_lines(void **state)
{
	size_t len[2];
	char *one, *text;

	(void)state;
	random_scene(&scene, 4000, path);
	padding = 6000;
	one = lines_of(0, &len[0]);
	text = lines_of(2, &len[1]);
	assert_true(len[0] > 4000 * 6000);
	assert_int_equal(len[0], len[1]);
	assert_memory_equal(one, text, len[0]);
	padding = 0;
	free(one);
	free(text);
	scene_free(&scene);
}

static nlink_t threads_here(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/task", &st), 0);
	return st.st_nlink;
}

/* A recording that is finished needs no threads, while its view is used. */
static void test_threads_end(void **state)
{
	const struct timespec nap = {.tv_nsec = 1000000};
	const struct part part = {.threads = 3};
	nlink_t before = threads_here();
	struct recording *r;

	(void)state;
	random_scene(&scene, 200, path);
	memset(&view, 0, sizeof(view));
	r = recording_open(path, &part, &view);
	assert_non_null(r);
	assert_true(threads_here() > before);
	recording_finish(r);
	/* the kernel lists a thread for a moment after it was joined */
	for (int i = 0; i < 300000 && threads_here() > before; i++)
		nanosleep(&nap, NULL);
	assert_int_equal(threads_here(), before);
	same_view(&scene.view, &view);
	forget(r);
	scene_free(&scene);
}

/* A reader who has taken some hiccups one by one may leave the rest to the threads. */
static void test_next_then_threads(void **state)
{
	const struct part part = {.threads = 3};
	struct recording *r;
	uint32_t index;

	(void)state;
	random_scene(&scene, 20000, path);
	for (uint32_t n = 1; n < 100000; n *= 10) {
		memset(&view, 0, sizeof(view));
		r = recording_open(path, &part, &view);
		assert_non_null(r);
		for (uint32_t i = 0; i < n && recording_next(r, &index); i++)
			;
		recording_finish(r);
		same_view(&scene.view, &view);
		forget(r);
	}
	memset(&view, 0, sizeof(view));
	r = recording_open(path, &part, &view);
	assert_non_null(recording_next(r, &index)); /* nobody must finish */
	forget(r);
	scene_free(&scene);
}

/* The accounts come one by one, and are those of the whole. */
static void test_next(void **state)
{
	const struct account *a;
	struct recording *r;
	uint64_t n = 0, sum = 0, last = 0;
	uint32_t index;

	(void)state;
	random_scene(&scene, 2000, path);
	memset(&view, 0, sizeof(view));
	r = recording_open(path, NULL, &view);
	assert_non_null(r);
	while ((a = recording_next(r, &index))) {
		assert_true(index < 2 && a->start_ns >= last);
		assert_int_equal(a->attributed_ns + a->edge_ns + a->outside_ns, a->duration_ns);
		last = a->start_ns;
		sum += a->duration_ns;
		n++;
	}
	assert_int_equal(n, 2000);
	recording_finish(r);
	recording_close(r); /* the view outlives it */
	same_view(&scene.view, &view);
	assert_int_equal(sum, view.cpu[0].hiccups.sum + view.cpu[1].hiccups.sum);
	view_free(&view);
	scene_free(&scene);
}

/* One of the CPUs: as if the other had not been there, except for what both tell. */
static void test_cpus(void **state)
{
	struct part part = {0};
	struct recording *r;

	(void)state;
	random_scene(&scene, 2000, path);
	cpus_add(&part.cpus, 3);
	cpus_add(&part.cpus, 7);
	r = read_part(&part);
	assert_non_null(r);
	assert_int_equal(view.ncpus, 1);
	assert_int_equal(view.cpu[0].number, 3);
	assert_int_equal(cpus_count(&view.run.cpus), 1);
	same_hist(&scene.view.cpu[1].hiccups, &view.cpu[0].hiccups);
	assert_int_equal(scene.view.cpu[1].attributed_ns, view.cpu[0].attributed_ns);
	assert_int_equal(view.cpu[0].nclosure, 2);
	assert_string_equal(view.cpu[0].ended, "the CPU went offline");
	assert_int_equal(scene.view.cpu[1].counts.seen, view.cpu[0].counts.seen);
	check_sums();
	forget(r);
	cpus_clear(&part.cpus);
	cpus_add(&part.cpus, 2);
	assert_null(read_part(&part));
	assert_non_null(strstr(hear(), "CPU 2 was not recorded; recorded are 1,3"));
	view_free(&view);
	scene_free(&scene);
}

/* With a larger threshold: its hiccups and their sources are those of that length; the others are
 * short gaps, together with the recorded ones. A threshold for windows stays. */
static void test_threshold(void **state)
{
	const struct account *a;
	uint64_t count[2] = {0}, sum[2] = {0}, below[2] = {0}, below_ns[2] = {0},
		 attributed[2] = {0};
	struct part part = {.threshold_ns = 4000};
	struct recording *r;
	uint32_t i;

	(void)state;
	random_scene(&scene, 3000, path);
	memset(&view, 0, sizeof(view));
	r = recording_open(path, NULL, &view);
	assert_non_null(r);
	while ((a = recording_next(r, &i))) {
		bool longer = a->duration_ns >= part.threshold_ns;

		count[i] += longer;
		below[i] += !longer;
		*(longer ? &sum[i] : &below_ns[i]) += a->duration_ns;
		attributed[i] += longer ? a->attributed_ns : 0;
	}
	assert_false(view.cpu[0].shorts.known);
	forget(r);
	r = read_part(&part);
	assert_non_null(r);
	for (i = 0; i < 2; i++) {
		assert_true(below[i] > 100 && count[i] > 100);
		assert_int_equal(view.cpu[i].threshold_ns, 4000);
		assert_int_equal(view.cpu[i].measured_from_ns, 200);
		assert_int_equal(view.cpu[i].hiccups.count, count[i]);
		assert_int_equal(view.cpu[i].hiccups.sum, sum[i]);
		assert_int_equal(view.cpu[i].attributed_ns, attributed[i]);
		assert_int_equal(view.cpu[i].shorts.from_ns, i ? 100 : 200);
		assert_int_equal(view.cpu[i].shorts.count, below[i] + (i ? 31 : 0));
		assert_int_equal(view.cpu[i].shorts.total_ns, below_ns[i] + (i ? 4100 : 0));
	}
	check_sums();
	forget(r);
	part.threshold_ns = 150; /* smaller: all stays */
	r = read_part(&part);
	same_view(&scene.view, &view);
	forget(r);
	scene_free(&scene);
}

/* The first hiccup that is long enough tells of those that were lost before shorter ones. */
static void test_threshold_lost(void **state)
{
	static const unsigned cpus[] = {3};
	static const uint64_t ends_ns[] = {40000, 300000, 1000, 40000};
	struct recording *r;

	(void)state;
	scene_init(&scene, "web-07", cpus, 1);
	scene_begin(&scene, path);
	for (int i = 0; i < 4; i++) {
		scene_gap(&scene, 0, (i + 1) * 1000000);
		scene_put(&scene, vector(VECTOR_LOCAL_TIMER, 100, ends_ns[i]));
		if (i != 1) /* the second is lost */
			scene_end(&scene, ends_ns[i] + 100);
		scene.lost = i == 1;
	}
	assert_int_equal(scene_finish(&scene), 0);
	assert_int_equal(scene.view.cpu[0].counts.mismatches, 0);
	r = read_part(&(struct part){.from_ns = 10, .threshold_ns = 10000});
	assert_non_null(r);
	assert_int_equal(hiccups_read(), 2);
	assert_int_equal(view.cpu[0].counts.mismatches, 0);
	forget(r);
	scene_free(&scene);
}

static void test_times(void **state)
{
	static const uint64_t span[][2] = {{0, 300000000}, {300000000, 700000000}, {700000000, 0}};
	uint64_t seen = 0, lost = 0, mismatches = 0, count = 0, sum = 0;

	(void)state;
	random_scene(&scene, 2000, path);
	for (size_t i = 0; i < sizeof(span) / sizeof(span[0]); i++) {
		struct recording *r =
			read_part(&(struct part){.from_ns = span[i][0], .to_ns = span[i][1]});

		assert_non_null(r);
		assert_true(hiccups_read() > 400);
		check_sums();
		for (uint32_t k = 0; k < 2; k++) {
			count += view.cpu[k].hiccups.count;
			sum += view.cpu[k].hiccups.sum;
			seen += view.cpu[k].counts.seen;
			lost += view.cpu[k].counts.lost;
			mismatches += view.cpu[k].counts.mismatches;
			for (uint32_t w = 0; w < view.nworst; w++)
				assert_true(view.worst[w].start_ns >= WORLD_STARTED + span[i][0]);
		}
		assert_true(view.run.part);
		forget(r);
	}
	assert_int_equal(count, 2000);
	assert_int_equal(sum, scene.view.cpu[0].hiccups.sum + scene.view.cpu[1].hiccups.sum);
	assert_int_equal(seen, scene.view.cpu[0].counts.seen + scene.view.cpu[1].counts.seen);
	assert_int_equal(lost, 0);
	assert_int_equal(mismatches,
			 scene.view.cpu[0].counts.mismatches + scene.view.cpu[1].counts.mismatches);
	scene_free(&scene);
}

/* The window of a CPU whose sampler began later than the first one's: a part has no time that was
 * before it, and all that was in it, also where a hiccup ends with the window, and where the CPU
 * was offline for a while. */
static void test_late(void **state)
{
	static const unsigned cpus[] = {1, 3};
	static const struct {
		uint64_t from_ns, to_ns, observed_ns;
	} part[] = {{1, 0, 700},   {1, 900, 678},  {30, 0, 692}, {0, 12, 0},
		    {500, 0, 422}, {150, 250, 50}, {210, 240, 0}};
	const uint64_t ms = 1000000;

	(void)state;
	scene_init(&scene, "web-07", cpus, 2);
	scene_begin(&scene, path);
	random_gap(&scene, 0, ms);
	random_gap(&scene, 1, 922 * ms - 5000);
	scene.view.run.duration_ns = 1000 * ms;
	scene.view.cpu[0].observed_ns = 990 * ms;
	scene.view.cpu[1].late_ns = 22 * ms;
	scene.view.cpu[1].observed_ns = 700 * ms;
	offline_add(&scene.view.cpu[1].offline, WORLD_STARTED + 200 * ms, WORLD_STARTED + 400 * ms);
	assert_int_equal(scene_finish(&scene), 0);
	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		struct recording *r = read_part(&(struct part){.from_ns = part[i].from_ns * ms,
							       .to_ns = part[i].to_ns * ms});

		assert_non_null(r);
		assert_int_equal(view.cpu[1].late_ns, 22 * ms);
		assert_int_equal(view.cpu[1].observed_ns, part[i].observed_ns * ms);
		forget(r);
	}
	scene_free(&scene);
}

/* Clocks may be set to any time that the kernel takes, with which nothing of the run goes. */
static void test_far_future(void **state)
{
	const uint64_t year_2230 = 8216000000ULL * NSEC_PER_SEC;
	struct recording *r;

	(void)state;
	for (int later = 0; later < 2; later++) {
		scene_init(&scene, "web-07", (const unsigned[]){1}, 1);
		scene_begin(&scene, path);
		random_gap(&scene, 0, 1000);
		scene.view.run.duration_ns = 1000000000;
		scene.view.run.readings.n = 2;
		for (uint32_t i = 0; i < 2; i++)
			scene.view.run.readings.row[i] = (struct reading_of_clocks){
				.ns = WORLD_STARTED + i,
				.tick = 1 + i,
				.real = later ? INT64_MAX - 1 + i : year_2230 + i};
		format_iso_time(year_2230, scene.view.run.started);
		assert_int_equal(scene_finish(&scene), 0);
		r = read_part(NULL);
		assert_non_null(r);
		assert_string_equal(view.run.incomplete, "");
		assert_string_equal(view.run.started, "2230-05-10T14:13:20.000000000Z");
		assert_int_equal(view.run.readings.n, 2);
		forget(r);
		scene_free(&scene);
	}
}

/* ---- other versions ---- */

static void test_versions(void **state)
{
	struct bytes file, longer = {0};
	struct chunk chunk[CHUNKS_MAX];
	struct recording *r;
	uint32_t n;

	(void)state;
	random_scene(&scene, 200, path);
	file = read_file();
	n = chunks_parse(file.at, file.len, chunk, CHUNKS_MAX);
	put_file_head(&longer, FORMAT_MAJOR, FORMAT_MINOR + 3);
	for (uint32_t i = 0; i < n; i++) {
		struct bytes more = {0};

		put_raw(&more, chunk[i].payload, chunk[i].len);
		if (chunk[i].type != CHUNK_EVENTS &&
		    chunk[i].type != CHUNK_FACT) /* fields that we do not know */
			put_raw(&more, "and more", 8);
		put_chunk(&longer, chunk[i].type, more.at, more.len);
		put_chunk(&longer, LETTERS('N', 'E', 'W', '1' + i % 8), "what is it", 10);
		free(more.at);
	}
	write_file(longer.at, longer.len);
	r = read_part(NULL);
	assert_non_null(r);
	assert_false(view.run.damaged);
	same_view(&scene.view, &view);
	forget(r);
	longer.at[8] = FORMAT_MAJOR + 1;
	longer.at[10] = 7;
	write_file(longer.at, longer.len);
	assert_null(read_part(NULL));
	assert_non_null(strstr(hear(), "has format 6.7, and this culprit reads formats up to 5.x"));
	for (uint32_t i = 0; i < n; i++)
		free(chunk[i].payload);
	free(longer.at);
	free(file.at);
	scene_free(&scene);
}

/* The owner of a thread comes back. */
static void test_owner(void **state)
{
	static const char *const owner[] = {"/system.slice/cron.service", "/user.slice"};
	struct recording *r;
	uint32_t found = 0;

	(void)state;
	scene_init(&scene, "web-07", (const unsigned[]){1, 3}, 2);
	scene.owner[7] = owner[0];
	scene.owner[8] = owner[1];
	scene_begin(&scene, path);
	for (uint32_t i = 0; i < 2; i++) {
		struct record t = thread(50 + i, i ? "bash" : "cron", 300, 900);

		t.owner = OWNER(t.id, 7 + i);
		scene_gap(&scene, i, 1000000);
		scene_put(&scene, t);
		scene_end(&scene, 1200);
	}
	assert_int_equal(scene_finish(&scene), 0);
	r = read_part(NULL);
	assert_non_null(r);
	assert_string_equal(view.run.incomplete, "");
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t k = 0; k < view.cpu[i].sources.count; k++) {
			const struct source *s = view.cpu[i].sources.row[k];

			if (s->kind != SOURCE_THREAD)
				continue;
			assert_string_equal(s->owner, owner[i]);
			found++;
		}
	assert_int_equal(found, 2);
	forget(r);
	scene_free(&scene);
}

/* ---- damage ---- */

/* A small recording with several chunks of events: those of the scene in chunks of some hiccups
 * each. */
struct small {
	struct bytes file;
	struct chunk chunk[CHUNKS_MAX];
	uint32_t chunks;
	uint64_t hiccups[CHUNKS_MAX]; /* in the chunks before it */
};

struct splitter {
	struct encoder *encoder;
	struct bytes payload[CHUNKS_MAX];
	uint32_t hiccups[CHUNKS_MAX], n, each;
};

static void split_event(void *ctx, const struct event *e)
{
	struct splitter *s = ctx;

	encoder_put(s->encoder, e);
	s->hiccups[s->n] += e->type == EVENT_HICCUP;
	if (s->hiccups[s->n] < s->each)
		return;
	put_raw(&s->payload[s->n++], encoder_bytes(s->encoder)->at, encoder_bytes(s->encoder)->len);
	encoder_reset(s->encoder);
}

static void make_small(struct small *m, uint32_t hiccups, uint32_t each)
{
	struct splitter s = {.encoder = encoder_new(2), .each = each};
	struct tap tap = {&s, split_event};
	struct chunk chunk[CHUNKS_MAX];
	struct bytes file;
	uint32_t n;

	memset(m, 0, sizeof(*m));
	scene.also = NULL;
	random_scene(&scene, 0, path);
	scene_free(&scene);
	file = read_file();
	n = chunks_parse(file.at, file.len, chunk, CHUNKS_MAX);
	scene_init(&scene, "web-07", (const unsigned[]){1, 3}, 2);
	scene.also = &tap;
	scene_begin(&scene, NULL);
	for (uint32_t i = 0; i < hiccups; i++)
		random_gap(&scene, i % 2, 1000000 + 1000000 * i);
	scene_finish(&scene);
	scene_free(&scene);
	put_file_head(&m->file, FORMAT_MAJOR, FORMAT_MINOR);
	for (uint32_t i = 0; i < n; i++) {
		if (chunk[i].type != CHUNK_EVENTS)
			put_chunk(&m->file, chunk[i].type, chunk[i].payload, chunk[i].len);
		for (uint32_t k = 0; chunk[i].type == CHUNK_EVENTS && k < s.n; k++)
			put_chunk(&m->file, CHUNK_EVENTS, s.payload[k].at, s.payload[k].len);
		free(chunk[i].payload);
	}
	m->chunks = chunks_parse(m->file.at, m->file.len, m->chunk, CHUNKS_MAX);
	for (uint32_t i = 0, k = 0; i < m->chunks; i++)
		m->hiccups[i + 1] =
			m->hiccups[i] + (m->chunk[i].type == CHUNK_EVENTS ? s.hiccups[k++] : 0);
	for (uint32_t k = 0; k < s.n; k++)
		free(s.payload[k].at);
	encoder_free(s.encoder);
	free(file.at);
}

static void free_small(struct small *m)
{
	for (uint32_t i = 0; i < m->chunks; i++)
		free(m->chunk[i].payload);
	free(m->file.at);
}

static void test_truncated(void **state)
{
	struct small m;
	char at[64];

	(void)state;
	make_small(&m, 12, 4);
	for (size_t len = 0; len <= m.file.len; len++) {
		struct recording *r;
		uint32_t whole = 0;

		write_file(m.file.at, len);
		r = read_part(NULL);
		while (whole < m.chunks && m.chunk[whole].end <= len)
			whole++;
		if (!whole) {
			assert_null(r);
			assert_non_null(
				strstr(hear(), !len ? "is not a recording of culprit: it is empty"
					       : len < FILE_HEAD ? "is not a recording of culprit"
								 : "its head is missing"));
			view_free(&view);
			continue;
		}
		assert_non_null(r);
		assert_int_equal(hiccups_read(), m.hiccups[whole]);
		check_sums();
		snprintf(at, sizeof(at), "at byte %zu: the end is missing", m.chunk[whole - 1].end);
		if (len == m.file.len)
			assert_false(view.run.damaged);
		else
			assert_non_null(strstr(view.run.incomplete, at));
		if (m.hiccups[whole])
			assert_true(view.run.duration_ns >= 1000000 * m.hiccups[whole]);
		forget(r);
	}
	assert_string_equal(hear(), "");
	free_small(&m);
}

static void check_flipped(const struct small *m, size_t i, struct recording *r)
{
	uint32_t hit = 0;
	char want[128];

	if (i < 10) {
		assert_null(r);
		assert_non_null(strstr(hear(), i < 8 ? "is not a recording of culprit"
						     : "this culprit reads formats up to 5.x"));
		return;
	}
	while (hit < m->chunks && m->chunk[hit].end <= i)
		hit++;
	if (i >= FILE_HEAD && !hit) {
		assert_null(r);
		assert_non_null(strstr(hear(), "its head is damaged"));
		return;
	}
	assert_non_null(r);
	check_sums();
	/* the minor version, bytes that mean nothing, and an index, which nobody asks here */
	if (i < FILE_HEAD ||
	    (m->chunk[hit].type == CHUNK_INDEX && i >= m->chunk[hit].start + CHUNK_HEAD)) {
		assert_false(view.run.damaged);
		assert_int_equal(hiccups_read(), m->hiccups[m->chunks]);
		return;
	}
	snprintf(want, sizeof(want), "1 damaged part was left out, the first at byte %zu",
		 m->chunk[hit].start);
	assert_non_null(strstr(view.run.incomplete, want));
	assert_int_equal(hiccups_read(),
			 m->hiccups[m->chunks] - (m->hiccups[hit + 1] - m->hiccups[hit]));
}

static void test_flipped(void **state)
{
	struct small m;

	(void)state;
	make_small(&m, 12, 4);
	for (size_t i = 0; i < m.file.len; i++) {
		/* a bit of the major version: to a larger one */
		uint8_t bit = i == 8 ? 8 : 1 << i % 8;
		struct recording *r;

		m.file.at[i] ^= bit;
		write_file(m.file.at, m.file.len);
		r = read_part(NULL);
		check_flipped(&m, i, r);
		view_free(&view);
		recording_close(r);
		m.file.at[i] ^= bit;
	}
	assert_string_equal(hear(), "");
	free_small(&m);
}

/* Bytes between two chunks are skipped, whatever they are; also when they look like the begin of
 * one. */
static void test_rubbish(void **state)
{
	struct small m;

	(void)state;
	make_small(&m, 12, 4);
	for (uint32_t at = 1; at <= m.chunks; at++) {
		struct bytes file = {0};
		size_t where = m.chunk[at - 1].end;
		struct recording *r;

		put_raw(&file, m.file.at, where);
		for (int i = 0; i < 30000; i++)
			put_raw(&file, CHUNK_MARK CHUNK_MARK "CHN", 11);
		put_raw(&file, m.file.at + where, m.file.len - where);
		write_file(file.at, file.len);
		r = read_part(NULL);
		assert_non_null(r);
		assert_int_equal(hiccups_read(), m.hiccups[m.chunks]);
		check_sums();
		if (at == m.chunks) /* behind the end */
			assert_false(view.run.damaged);
		else
			assert_non_null(strstr(view.run.incomplete, "1 damaged part was left out"));
		forget(r);
		free(file.at);
	}
	free_small(&m);
}

#define MANY 128

/* The end of a run on many CPUs whose frequency changed as often as can be kept is written: with
 * fewer changes of each, and until when they are all. */
static void test_long_tail(void **state)
{
	static const uint32_t khz[] = {3000000, 3100000};
	unsigned cpus[MANY];
	struct recording *r;

	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		cpus[i] = i;
	scene.also = NULL;
	scene_init(&scene, "web-07", cpus, MANY);
	scene_begin(&scene, path);
	for (unsigned i = 0; i < MANY; i++) {
		struct cpu *c = &scene.view.cpu[i];

		for (unsigned k = 0; k < KHZ_CHANGES_MAX; k++)
			assert_true(khz_add(&c->khz, 1000000 + 300000000ULL * k, khz[k % 2]));
		c->khz_changes = KHZ_CHANGES_MAX;
		c->khz_min = khz[0];
		c->khz_max = khz[1];
		c->khz_until_ns = KHZ_ALWAYS;
	}
	scene.view.run.duration_ns = 300000000ULL * (KHZ_CHANGES_MAX + 1);
	assert_int_equal(scene_finish(&scene), 0);
	r = read_part(NULL);
	assert_non_null(r);
	assert_string_equal(hear(), "");
	assert_false(view.run.damaged);
	assert_int_equal(view.ncpus, MANY);
	for (unsigned i = 0; i < MANY; i++) {
		const struct cpu *c = &view.cpu[i];

		assert_int_equal(c->khz_changes, KHZ_CHANGES_MAX);
		assert_in_range(c->khz.n, KHZ_CHANGES_MAX / 4, KHZ_CHANGES_MAX - 1);
		assert_int_equal(c->khz_until_ns, c->khz.row[c->khz.n - 1].at_ns);
	}
	forget(r);
	scene_free(&scene);
}

static int open_files(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	mallopt(M_MMAP_THRESHOLD,
		128 << 10); /* large memory that is hardly used would be cleared each time */
	said = fileno(tmpfile());
	return said < 0;
}

static int remove_files(void **state)
{
	(void)state;
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_next),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_threshold_lost),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_rubbish),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_threads_end),
		cmocka_unit_test(test_next_then_threads),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_far_future),
		cmocka_unit_test(test_long_tail),
	};

	return cmocka_run_group_tests(tests, open_files, remove_files);
}
