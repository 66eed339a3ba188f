/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads any bytes as a recording, and feeds the result to each of its readers: reports in all
 * formats, of one and of several, audits and the forms of their fixes, comparisons with itself and
 * of groups, ranks, plots. Nothing crashes, the sums hold. Bytes 10 to 15 of the file, which mean
 * nothing else, choose the part to read (10, 12, 13), the reader (14) and its options (11, 15). */
#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "audit/advise.h"
#include "audit/audit.h"
#include "chunks.h"
#include "count.h"
#include "model/diff.h"
#include "recording/read.h"
#include "render/audit.h"
#include "render/audit_setup.h"
#include "render/diff.h"
#include "render/fleet.h"
#include "render/fleet_diff.h"
#include "render/plot.h"
#include "render/render.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* ---- mutations ---- */

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	size = mutate_recording(data, size, max_size, seed);
	if (size >= FILE_HEAD && seed % 4 == 0) { /* choice of the output, and its options */
		data[14] = seed >> 8;
		data[15] = seed >> 16;
		data[12] = seed >> 24 & 15;
		data[13] = seed >> 28;
		data[10] = seed >> 4 & 7;
		data[11] = seed >> 4 & 128 ? seed >> 20 : 0;
	}
	return size;
}

/* ---- what is read ---- */

enum what { ONE, SEVERAL, AUDIT, SCRIPT, SETUP, DIFF, RANK, GROUPS, PLOT };

static FILE *nowhere;

static void check_account(const struct account *a)
{
	uint64_t pieces = 0;

	for (uint32_t i = 0; i < a->npieces; i++)
		pieces += a->pieces[i].net_ns;
	assert(pieces == a->attributed_ns);
	assert(a->attributed_ns + a->edge_ns + a->lost_ns + a->outside_ns == a->duration_ns);
}

static void check_view(const struct view *v)
{
	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		uint64_t outside = 0, inside = 0;

		for (uint32_t k = 0; k < c->sources.count; k++)
			*(c->sources.row[k]->kind == SOURCE_OUTSIDE ? &outside : &inside) +=
				c->sources.row[k]->net.sum;
		assert(c->attributed_ns + c->edge_ns + c->lost_ns + c->outside_ns ==
		       c->hiccups.sum);
		assert(inside == c->attributed_ns + c->lost_ns && outside == c->outside_ns);
		if (!v->run.watch && !v->run.windows) /* never more than the whole time */
			assert(c->hiccups.sum + v->cpu[i].hiccups_lost_ns <= v->cpu[i].observed_ns);
		assert(!v->cpu[i].steal_known ||
		       v->cpu[i].steal_ns <= v->cpu[i].observed_ns + 1000000000);
	}
}

enum { STACKS = 1, ALL = 2, COLOUR = 4, REDACT = 8, PER_WHAT = 48, NARROW = 64, LONG = 128 };
enum { CHART = 1, UNIT = 2, POD = 4, FLOOR = 8, KINDS = 16, GLOB = 32, TOP = 64, VALUES = 128 };

static uint8_t more_chosen; /* bits of the second kind */

static struct render_options options_of(uint8_t chosen)
{
	return (struct render_options){.stacks = chosen & STACKS,
				       .all = chosen & ALL,
				       .colour = chosen & COLOUR,
				       .chart = more_chosen & CHART,
				       .metrics_per = (chosen & PER_WHAT) / 16 % 3,
				       .metrics_label = more_chosen & UNIT  ? BY_UNIT
							: more_chosen & POD ? BY_POD
									    : BY_THREAD,
				       .width = chosen & NARROW ? 40 : 100,
				       .series = chosen & LONG ? SERIES_LONG : SERIES_SHORT,
				       .values = more_chosen & VALUES ? SERIES_HICCUPS : NULL};
}

static void compare(const struct view *v, int format, uint8_t chosen)
{
	static const char *const names[] = {"a", "b", "c"};
	const struct render_options options = options_of(chosen);
	const struct view *two[] = {v, v};
	const struct diff_side sides[] = {{two, 1}, {two, 2}};
	struct diff d;

	if (!diff_observed_ns(v)) /* culprit diff refuses it */
		return;
	if (!diff_make(&d, sides, 2, DIFF_BETWEEN))
		render_diff(&d, names, format, &options, nowhere);
	diff_free(&d);
}

/* As many hosts as are compared, each with a recording in both groups or in one of them. */
static void rank_hosts(struct view *v, int what, int form, uint8_t chosen)
{
	const struct render_options options = options_of(chosen);
	uint32_t hosts = chosen & ALL ? FLEET_LEAST_HOSTS : 2 * FLEET_LEAST_HOSTS;
	struct fleet_diff d;
	struct fleet f;

	if (fleet_init(&f))
		abort();
	f.cells = what == GROUPS;
	for (uint32_t i = 0; i < 2 * FLEET_LEAST_HOSTS; i++) {
		snprintf(v->host.hostname, sizeof(v->host.hostname), "host-%u", i % hosts);
		if (fleet_add(&f, v))
			abort();
	}
	if (what == RANK) {
		fleet_rank(&f);
		render_fleet(&f, 1, &options, form, nowhere);
	} else if (!fleet_diff_make(&d, &f, FLEET_LEAST_HOSTS)) {
		render_fleet_diff(&d, 1, form, &options, nowhere);
		fleet_diff_free(&d);
	}
	fleet_free(&f);
}

/* All values of the first series of all CPUs, or of their hiccups, as two files. */
static void merge_values(const struct view *v, struct plot_file *f)
{
	const char *name = v->cpu[0].nseries ? v->cpu[0].series[0].name : NULL;

	for (uint32_t i = 0; i < v->ncpus; i++) {
		const struct cpu *c = &v->cpu[i];
		const struct hist *from = name ? NULL : &c->hiccups;

		for (uint32_t k = 0; name && k < c->nseries; k++)
			if (!strncmp(c->series[k].name, name, SERIES_NAME)) {
				from = &c->series[k].hist;
				f->fine = c->series[k].fine;
			}
		if (from && !f->hist.nbuckets && hist_init(&f->hist, from->bits))
			abort();
		if (from)
			hist_merge(&f->hist, from);
	}
}

static void draw(const struct view *v, struct surface *surface, int form, uint8_t chosen)
{
	struct plot_file file[2];
	struct plot p = {.what = "latency",
			 .nfiles = 2,
			 .file = file,
			 .log_x = chosen & STACKS,
			 .log_y = chosen & ALL,
			 .surface = chosen & COLOUR,
			 .percentiles = chosen & NARROW};

	if (!v->ncpus)
		return;
	for (uint32_t i = 0; i < p.nfiles; i++) {
		file[i] = (struct plot_file){.name = "a.rec",
					     .surface = surface,
					     .duration_ns = v->run.duration_ns,
					     .threshold_ns = v->cpu[0].threshold_ns};
		merge_values(v, &file[i]);
	}
	if (form == 0)
		plot_svg(&p, nowhere);
	else if (form == 1)
		plot_html(&p, nowhere);
	else if (form == 2)
		plot_gnuplot(&p, nowhere);
	else if (form == 3)
		plot_json(&p, nowhere);
	else if (form == 4)
		plot_braille(&p, chosen & LONG ? 40 : 100, nowhere);
	else
		plot_table(&p, 100, chosen & LONG, nowhere);
	for (uint32_t i = 0; i < p.nfiles; i++)
		hist_free(&file[i].hist);
}

/* ---- the readers ---- */

struct reader {
	char name[24];
	enum what what;
	int form; /* number of the output */
};

static const struct {
	const char *name;
	int (*write)(const struct view *v, FILE *out);
} setups[] = {
	{"kernel words", render_kernel_words}, {"sysctl", render_sysctl},
	{"service", render_service},           {"performance", render_performance_profile},
	{"ansible", render_ansible},           {"tuned.conf", render_tuned_conf},
	{"tuned script", render_tuned_script},
};

static struct reader readers[COUNTS];
static unsigned nreaders;

static void add_reader(int what, const char *of, const char *name, int form)
{
	struct reader *r = &readers[nreaders++];

	assert(nreaders <= COUNTS);
	snprintf(r->name, sizeof(r->name), "%s%s", of, name);
	r->what = what;
	r->form = form;
}

static void list_readers(void)
{
	static const char *const diffs[] = {"text", "markdown", "json"};
	static const char *const plots[] = {"svg", "html", "gnuplot", "json", "braille", "table"};

	for (int i = 0; formats[i].choice.name; i++) {
		add_reader(ONE, "", formats[i].choice.name, i);
		if (formats[i].write)
			add_reader(SEVERAL, "several: ", formats[i].choice.name, i);
	}
	for (int i = 0; audit_formats[i].choice.name; i++)
		add_reader(AUDIT, "audit: ", audit_formats[i].choice.name, i);
	add_reader(SCRIPT, "audit: ", "script", 0);
	for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++)
		add_reader(SETUP, "audit: ", setups[i].name, i);
	for (int i = 0; i <= DIFF_JSON; i++)
		add_reader(DIFF, "diff: ", diffs[i], i);
	for (int i = 0; i <= DIFF_JSON; i++)
		add_reader(GROUPS, "groups: ", diffs[i], i);
	add_reader(RANK, "rank: ", "text", false);
	add_reader(RANK, "rank: ", "markdown", true);
	for (int i = 0; i < 6; i++)
		add_reader(PLOT, "plot: ", plots[i], i);
}

static void write_report(const struct reader *by, const struct view *v, uint8_t chosen)
{
	const struct render_options options = options_of(chosen);
	const struct view *three[] = {v, v, v};
	const struct format *f = &formats[by->form];

	if (f->write)
		f->write(three, by->what == ONE ? 1 : 3, &options, nowhere);
}

/* Reads all hiccups, each as soon as it comes. */
static void read_hiccups(struct recording *r, struct view *v, const struct reader *by,
			 struct surface *surface)
{
	const struct format *f = by->what == ONE ? &formats[by->form] : &formats[0];
	struct trace *trace = f->trace ? f->trace->begin(v, nowhere) : NULL;
	const struct account *a;
	uint32_t index;

	/* a report of several leaves them to recording_finish, which joins all lanes at once */
	while (by->what != SEVERAL && (a = recording_next(r, &index))) {
		assert(index < v->ncpus);
		check_account(a);
		if (f->hiccup)
			f->hiccup(v, index, a, nowhere);
		if (trace)
			f->trace->hiccup(trace, index, a);
		if (surface && a->start_ns >= v->run.started_ns)
			surface_add(surface, a->start_ns - v->run.started_ns, a->duration_ns);
	}
	recording_finish(r);
	if (trace)
		f->trace->end(trace);
}

static void read_all(struct recording *r, struct view *v, const struct reader *by, uint8_t chosen)
{
	static struct surface surface;

	if (by->what == PLOT)
		surface_init(&surface);
	read_hiccups(r, v, by, by->what == PLOT ? &surface : NULL);
	check_view(v);
	if (by->what <= SETUP || by->what == RANK || by->what == GROUPS)
		advise(v);
	if ((by->what >= AUDIT && by->what <= SETUP) || (by->what == ONE && chosen & ALL))
		audit(&v->facts, &(struct audit_options){.targets = v->run.cpus}, &v->findings);
	if (by->what <= SEVERAL)
		write_report(by, v, chosen);
	else if (by->what == AUDIT)
		audit_formats[by->form].write(v, &(struct render_options){.width = 100}, nowhere);
	else if (by->what == SCRIPT)
		render_audit_script(v, &(struct render_options){.width = 100}, nowhere);
	else if (by->what == SETUP)
		setups[by->form].write(v, nowhere);
	else if (by->what == DIFF)
		compare(v, by->form, chosen);
	else if (by->what == RANK || by->what == GROUPS)
		rank_hosts(v, by->what, by->form, chosen);
	else
		draw(v, &surface, by->form, chosen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int file = -1;
	static char path[64];
	struct part part = {0};
	static struct view view;
	const struct reader *by;
	struct recording *r;
	uint8_t chosen = size >= FILE_HEAD ? data[15] : 0;

	if (file < 0) {
		list_readers();
		file = memfd_create("recording", MFD_CLOEXEC);
		nowhere = fopen("/dev/null", "w");
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (!nowhere || ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	if (size >= FILE_HEAD && data[12] & 1)
		cpus_add(&part.cpus, data[13] % 4);
	if (size >= FILE_HEAD && data[12] & 2)
		part.from_ns = data[13] * 10000000ULL;
	if (size >= FILE_HEAD && data[12] & 4)
		part.to_ns = part.from_ns + 300000000ULL;
	more_chosen = size >= FILE_HEAD ? data[11] : 0;
	part.by = size >= FILE_HEAD ? data[10] % (BY_MACHINE + 1) : 0;
	part.threshold_ns = more_chosen & FLOOR ? 10000 : 0;
	by = &readers[size >= FILE_HEAD ? data[14] % nreaders : 0];
	part.spans = (size >= FILE_HEAD && data[12] & 8) ||
		     (by->what <= SEVERAL && formats[by->form].spans);
	part.redact = chosen & REDACT ? redact_new(data[13]) : NULL;
	memset(&view, 0, sizeof(view));
	r = recording_open(path, &part, &view);
	view.shown.kinds = more_chosen & KINDS ? 1 << SOURCE_IRQ | 1 << SOURCE_THREAD : 0;
	view.shown.source = more_chosen & GLOB ? "*[a-w]*o*" : NULL;
	view.shown.top = more_chosen & TOP ? 3 : 0;
	count_run(by - readers, by->name);
	if (r)
		read_all(r, &view, by, chosen);
	view_free(&view);
	recording_close(r);
	redact_free(part.redact);
	return 0;
}
