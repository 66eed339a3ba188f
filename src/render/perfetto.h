/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the trace's renderer: see perfetto.c. */
#ifndef CULPRIT_RENDER_PERFETTO_H
#define CULPRIT_RENDER_PERFETTO_H

#include "perfetto.pb-c.h"
#include "render/render.h"

/* Numbers of tracks, beside a run's own number. */
enum {
	TRACK_ROOT,
	TRACK_ASKERS,
	TRACK_CPU = 0x10000,
	TRACK_STEAL = 0x20000,
	TRACK_ASKER = 0x30000,
	TRACK_KHZ = 0x38000,
	TRACK_HOST = 0x3c000,
	TRACK_ROW = 0x40000
};

/* Units of counters */
#define UNIT_NS  "ns"
#define UNIT_PS  "ps"
#define UNIT_KHZ "kHz"

/* Ids of interned names: event names */
enum { NAME_HICCUP = 1, NAME_OUTSIDE, NAME_SOURCE };

/* Ids of interned categories: 1 + enum source_kind, and this one. */
#define CATEGORY_HICCUP (SOURCE_KINDS + 1)

/* Ids of the interned names of annotations. */
enum note {
	NOTE_NONE,
	NOTE_CAUSE,
	NOTE_ASKED,
	NOTE_ATTRIBUTED,
	NOTE_EDGE,
	NOTE_LOST_NS,
	NOTE_OUTSIDE,
	NOTE_LOST,
	NOTE_LEFT,
	NOTE_SERIES,
	NOTE_UNSEEN,
	NOTE_OWNER,
	NOTE_HOST,
	NOTES
};

/* A track of a lane, which is a CPU or a watched thread. Slices of one track must not overlap.
 * Hiccups may, when the thread that lost the time reports them: then they stand on several tracks
 * of the same name. */
struct row {
	uint64_t track;  /* 0: none yet */
	uint64_t end_ns; /* end of its last hiccup */
	uint32_t tid;    /* thread of the track, with its name; 0: the track of a CPU, or of several
			    threads */
	char comm[sizeof(((struct spot *)0)->comm)];
};

#define ROWS 8 /* tracks of a lane that can be reused */

/* Serials of the sources whose names are written: rows go and move, serials stay. */
struct said {
	uint8_t *bit;
	size_t bytes;
};

struct trace {
	FILE *out;
	const struct view *view;
	uint64_t run;                   /* number of the run */
	uint64_t flows;                 /* number of arrows so far */
	struct cpus askers;             /* CPUs of askers with a track */
	struct said *named;             /* one for each CPU */
	struct row (*rows)[ROWS];       /* for each lane */
	bool *hosts;                    /* CPUs with a track of their host's */
	uint64_t more;                  /* number of rows with a track of their own so far */
	uint64_t *steal;                /* last shown value of each CPU; UINT64_MAX: none */
	uint64_t (*series)[SERIES_MAX]; /* tracks of the counters of each CPU; 0: none yet */
};

/* Writes the packet as a trace of one: several in a row are one trace. */
void perfetto_emit(struct trace *t, Perfetto__TracePacket *p);

/* The same of an event. */
void perfetto_event(struct trace *t, Perfetto__TracePacket *p);

/* The number of the sequence of packets, which is the trace's only one. */
static inline uint32_t perfetto_sequence(const struct trace *t)
{
	return (uint32_t)(t->run >> 33) | 0x40000000;
}

/* True when no row with this serial was asked for before, or memory is out: then its name is
 * written again, which changes nothing. */
bool perfetto_first_time(struct said *said, uint64_t serial);

/* Adds a track below another; one that is its own parent has none. rank: among its siblings.
 * unit: that of a counter; NULL: slices. */
void perfetto_track(struct trace *t, uint64_t track, uint64_t parent, int rank, const char *unit,
		    char *name);

/* The track of the lane's hiccup, made on first use. Returns its uuid. */
uint64_t perfetto_row(struct trace *t, uint32_t index, const struct account *a);

/* The track of what the host ran in the CPU's place; the first call for a CPU begins it. */
uint64_t perfetto_host(struct trace *t, uint32_t index);

/* Writes the value of a counter from then on; track: without the run's number. */
void perfetto_value(struct trace *t, uint64_t track, uint64_t at_ns, uint64_t value);

/* Writes counters of a CPU's whole window: all changes of its frequency; of each series the
 * percentiles of all values, as levels, and its figures over time. */
void perfetto_window(struct trace *t, uint32_t index);

/* Describes who asked for a span of this source, escaped and perhaps cut: "poke [4414] main > storm
 * > futex() > futex_wake". Returns buf. */
#define PERFETTO_ASKER 768
char *perfetto_asker(const struct source *s, const struct asker *a, char buf[PERFETTO_ASKER]);

/* Writes what comes before the first hiccup: clocks, host, all names known by then, tracks. */
void perfetto_head(struct trace *t);

#endif
