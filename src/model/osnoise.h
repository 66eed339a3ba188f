/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the kernel's osnoise and timerlat tracers and rtla print: tracefs `trace` and
 * trace_pipe text, `trace-cmd report` text, rtla osnoise top and hist, rtla hwnoise, rtla timerlat
 * top and hist with its auto-analysis. One line at a time, no look-ahead; memory is bounded
 * whatever the text holds. Unknown lines are counted, and the first ones kept.
 *
 *   osnoise_init(&r);
 *   while (lines_next(&l, &data, &left))
 *           if (osnoise_line(&r, l.text, l.len) == OSNOISE_EVENT)
 *                   ... r.event, in the order of the text, valid until the next line ...
 *   osnoise_finish(&r);
 *
 * All times are integer nanoseconds. `start_ns` is trace_clock_local, whatever clock the record's
 * own stamp is in.
 */
#ifndef CULPRIT_OSNOISE_H
#define CULPRIT_OSNOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"
#include "model/source.h"

#define OSNOISE_SCHEMA "culprit.osnoise/1"
/* CPUs with tables of their own; later ones are counted in cpus_beyond */
#define OSNOISE_CPUS 1024
/* Source rows of all CPUs together; later names fold into their kind's (others). */
#define OSNOISE_ROWS     4096
#define OSNOISE_LONGEST  20
#define OSNOISE_UNKNOWNS 8
#define OSNOISE_TEXT     160
#define OSNOISE_NAMES    64 /* other events, by name */
#define OSNOISE_COLUMNS  1024
#define OSNOISE_ANALYSES 8
#define OSNOISE_PARTS    32
#define OSNOISE_FRAMES   24
#define OSNOISE_RECENT   32

/* Result of osnoise_line() for a line. */
enum osnoise_got {
	/* read, with no result: headings, rtla's tables, events of other systems */
	OSNOISE_TAKEN,
	OSNOISE_EVENT,   /* an event is complete, in reader.event */
	OSNOISE_UNKNOWN, /* unknown: counted */
};

enum osnoise_type {
	/* irq_noise, nmi_noise, softirq_noise, thread_noise: net time of one interval */
	OSNOISE_NOISE,
	OSNOISE_SAMPLE,   /* sample_threshold: one gap of the kernel's loop, gross */
	OSNOISE_PERIOD,   /* osnoise's line at the end of a period */
	OSNOISE_TIMERLAT, /* timerlat's line: duration_ns is the latency */
};

enum timerlat_context { TIMERLAT_IRQ, TIMERLAT_THREAD, TIMERLAT_USER, TIMERLAT_CONTEXTS };

/* One period, or the sum of several. osnoise counts a gap without any interference as hw. */
struct osnoise_period {
	uint64_t count;
	/* UINT64_MAX: not known (trace-cmd prints no run time on old kernels). */
	uint64_t runtime_ns;
	uint64_t noise_ns;
	uint64_t max_noise_ns; /* the worst period */
	uint64_t max_single_ns;
	uint64_t hw, nmi, irq, softirq, thread;
	bool irqs_off; /* rtla hwnoise: there is no irq, softirq and thread noise */
};

struct osnoise_event {
	enum osnoise_type type;
	unsigned cpu;
	uint32_t task;  /* tid in the record's front */
	uint64_t stamp; /* the record's own: ns, or a counter's value when stamp_ns is false */
	bool stamp_ns;
	bool left_out;     /* noise that is not in the sums, see struct osnoise_reader */
	uint64_t start_ns; /* noise, sample */
	uint64_t duration_ns;
	enum source_kind kind; /* noise */
	uint32_t id;           /* IRQ, vector, softirq, tid; of timerlat its activation */
	uint64_t interference; /* sample: number of noises in it; 0: the kernel showed nothing */
	enum timerlat_context context;
	struct osnoise_period period;
	char name[SOURCE_NAME]; /* noise; any bytes, ends with NUL */
};

/* One of rtla's rows, and columns of its histograms. */
struct osnoise_latency {
	uint64_t count, cur_ns, min_ns, avg_ns, max_ns;
	bool known, cur_known;
};

struct osnoise_column {
	char what[4];  /* "CPU", "IRQ", "Thr", "Usr" */
	int cpu;       /* -1: all */
	struct hist h; /* bucket lows; rtla rounds down to its bucket */
	uint64_t over; /* beyond its last bucket */
	bool over_known;
	struct osnoise_latency summary;
};

/* rtla's auto-analysis of one stop. */
struct osnoise_part {
	char label[48]; /* rtla's word: "Blocking thread", without the colon */
	/* "swapper/1:0": a part of the label's time; "" for the label's own line. */
	char who[SOURCE_NAME];
	uint64_t ns;         /* UINT64_MAX: none given */
	uint32_t hundredths; /* hundredths of a percent; UINT32_MAX: none given */
};

struct osnoise_analysis {
	unsigned cpu;
	struct osnoise_part part[OSNOISE_PARTS];
	uint32_t nparts;
	char frame[OSNOISE_FRAMES][SOURCE_NAME]; /* the blocking thread's stack, innermost first */
	uint32_t nframes;
};

struct osnoise_span {
	uint64_t start_ns, duration_ns;
};

struct osnoise_cpu {
	unsigned cpu;
	bool has_sources;
	/* Net times of noises; gaps without interference are of kind outside. */
	struct sources sources;
	struct hist samples;       /* gross lengths of all gaps; bits 0: none came */
	uint64_t samples_alone_ns; /* sum of gaps without interference */
	uint64_t samples_alone;
	/* The same of gaps with all of their noises in the text. */
	uint64_t samples_explained_ns, samples_rest_ns;
	uint64_t samples_complete;
	struct osnoise_period traced, top; /* sums of period lines; rtla's last table */
	struct hist latency[TIMERLAT_CONTEXTS];
	struct osnoise_latency rtla[TIMERLAT_CONTEXTS];
	/* The latest noises, of which a sample that ends now consists. */
	struct osnoise_span recent[OSNOISE_RECENT];
	uint64_t nrecent;
	/* Period, timerlat: since 6.18 both come twice, as a line of the tracer and as an event. */
	struct osnoise_event last[2];
	bool last_form[2];
};

struct osnoise_name {
	char name[SOURCE_NAME];
	uint64_t count;
};

enum osnoise_section {
	SECTION_NONE,
	SECTION_OSNOISE_TOP,
	SECTION_TIMERLAT_TOP,
	SECTION_HIST,
	SECTION_NO_INDEX,
	SECTION_ANALYSIS
};

struct osnoise_reader {
	/* Settings, before the first line. */
	/* Thread noise of this tid is the measured program itself, and left out; 0: none. */
	uint32_t workload;

	struct osnoise_event event; /* the one in hand */

	/* Results. */
	struct osnoise_cpu **cpu; /* in order of first appearance */
	uint32_t ncpus;
	uint64_t cpus_beyond; /* events and rows of CPUs past OSNOISE_CPUS */
	/* Noises and gaps alone, by falling duration. */
	struct osnoise_event longest[OSNOISE_LONGEST];
	uint32_t nlongest;
	struct osnoise_event gaps[OSNOISE_LONGEST]; /* the longest samples */
	uint32_t ngaps;
	struct osnoise_latency all[TIMERLAT_CONTEXTS]; /* rtla timerlat's row of all CPUs */
	struct osnoise_column *column;                 /* columns of the last histogram */
	uint32_t ncolumns;
	uint64_t columns_beyond;
	/* length of its buckets, or a multiple of it; 0: there is none but the first */
	uint64_t bucket_ns;
	bool no_index; /* the last histogram does not say what it counts: it has no columns */
	struct osnoise_analysis *analysis[OSNOISE_ANALYSES];
	uint32_t nanalyses;
	uint64_t analyses_beyond;
	uint64_t idle_latency_ns; /* "Max timerlat IRQ latency from idle"; 0: none */
	unsigned idle_latency_cpu;
	uint64_t rtla_duration_ns;
	bool stopped, tainted;
	char saved_to[64];                 /* file to which rtla wrote the trace */
	uint64_t min_start_ns, max_end_ns; /* range of the noises and samples that count */

	uint64_t lines, events[4]; /* by type */
	uint64_t left_out_first;   /* thread noise since boot: the first after switching on */
	uint64_t left_out_workload;
	uint64_t lost;     /* records that the kernel reports as missing */
	uint64_t headings; /* comments, blank lines, stacks */
	uint64_t other_events;
	struct osnoise_name other[OSNOISE_NAMES];
	uint32_t nother;
	uint64_t lines_cut; /* longer than LINE_BYTES: the caller's count */
	uint64_t unknown;
	uint64_t known; /* lines that are surely osnoise's or rtla's */
	struct {
		uint64_t line;
		uint16_t len;
		char text[OSNOISE_TEXT]; /* any bytes */
	} unknowns[OSNOISE_UNKNOWNS];
	uint32_t nunknowns;
	bool no_memory; /* something was not kept */

	/* State between lines. */
	enum osnoise_section section;
	uint64_t unit_ns; /* unit of rtla's numbers */
	/* Contexts of the histogram's columns for all CPUs; 0 before these. */
	enum timerlat_context all_context[TIMERLAT_CONTEXTS];
	uint32_t nall;
	uint32_t rows_left; /* rows left of OSNOISE_ROWS */
	char open[512];     /* a noise line cut by a newline in a comm, so far */
	size_t open_len;
	uint32_t open_lines;
	uint64_t open_at;
	uint16_t slot[CPUS_MAX]; /* 1 + index into cpu */
};

int osnoise_init(struct osnoise_reader *r); /* 0 or -ENOMEM */
void osnoise_free(struct osnoise_reader *r);

/* One line without its newline; may hold any bytes. */
enum osnoise_got osnoise_line(struct osnoise_reader *r, const char *line, size_t len);
void osnoise_finish(struct osnoise_reader *r); /* the end of the text */

/* Values of a histogram, those that are known to be beyond its last bucket, too. */
uint64_t osnoise_column_count(const struct osnoise_column *c);

const char *timerlat_context_name(enum timerlat_context context); /* "irq", "thread", "user" */

/* Splits blocks of text into lines. A line longer than LINE_BYTES is returned cut. */
#define LINE_BYTES 65536
#define LINE_MOST  (1 << 20) /* no output of osnoise or rtla has a line of so many bytes */

struct lines {
	size_t len;   /* length of the line in text, after lines_next() returned true */
	size_t bytes; /* length of what was seen of it, kept or not */
	bool fresh, cut;
	uint64_t ncut;
	char text[LINE_BYTES];
};

/* Takes bytes from *data until a line is complete: true, call again; false: all are taken, more are
 * needed. At the end of the text lines_last() says whether there is a last line without newline. */
bool lines_next(struct lines *l, const char **data, size_t *left);
bool lines_last(struct lines *l);

#endif
