/* SPDX-License-Identifier: GPL-2.0-or-later */
/* State of a recording while it is read. For the files that read one alone. */
#ifndef CULPRIT_READER_H
#define CULPRIT_READER_H

#include "base/crew.h"
#include "recording/batch.h"
#include "recording/check.h"
#include "recording/chunks.h"
#include "recording/codec.h"
#include "recording/naming.h"
#include "recording/read.h"

/* One recorded CPU. */
struct recorded_lane {
	uint32_t index;   /* in the view; UINT32_MAX: not wanted */
	uint64_t last_ns; /* time of the newest event */
	uint64_t left_ns; /* end of the last hiccup in the part */
	uint64_t gone_ns; /* since when its CPU was offline, when it has begun again; 0: not */
	/* With part.from_ns: the last hiccup before it */
	bool cut;
	uint64_t cut_ns;
	uint32_t cursor[LEVELS];
	bool passed[LEVELS];
	/* With part.to_ns: the first record after it. */
	uint64_t stop_ns;
	/* The steal clock's newest reading: one that an index told and the session has not got
	 * yet, or one that it has; and whether a gap waits for the clock to rise. */
	uint64_t steal_ns;
	bool steal_waits, steal_known, gap_waits;
	/* Hiccups that were lost before some below part.threshold_ns: those of the next one. */
	uint64_t below_lost;
	/* with part.threshold_ns, if larger: the recorded threshold */
	uint64_t measured_from_ns;
	struct short_gaps below; /* hiccups between the two thresholds */
	/* thread of the lane, by the events; tid 0: several threads' */
	bool named;
	struct spot spot;
};

struct recording {
	struct chunks chunks;
	struct part part;
	struct view *view;
	struct texts *texts; /* the view's */
	struct naming *naming;
	struct decoder *decoder;
	struct session *session;
	struct recorded_lane *lane;
	struct checked *checked; /* for each lane */
	uint32_t nlanes;
	bool made_private;      /* redacted when it was made */
	uint64_t whole_ns;      /* length of all its time, whatever part is wanted */
	uint64_t end_ns;        /* no hiccup ends later; 0: not known */
	struct reading reading; /* rest of the chunk of events in hand */
	const char *cannot;     /* the first impossible thing */
	uint64_t cannot_at;     /* begin of the part of the file that it is in */
	uint32_t ncannot;       /* number of such parts */
	bool holes;             /* some are of events */
	uint64_t hiccups_lost, records_lost;
	uint32_t tails; /* chunks TAIL that came, believed or not */
	bool tail, end, finished;
	bool indexed;       /* a part is wanted, and the file may tell where it is */
	bool finding;       /* the part's begin and end are searched for */
	struct index index; /* the newest */
	uint64_t judged;    /* chunks that begin before this place are to be read */
	/* The events in hand, and those that are read ahead meanwhile. */
	struct batch batch[2];
	unsigned hand;        /* index of the one in hand */
	uint32_t taken;       /* events of it that recording_next has taken */
	struct record joined; /* the newest of them */
	bool waits; /* a chunk of another type is in hand: it comes after all events read */
	bool over;  /* no chunk follows those read */
	struct crew *crew;
	struct record record; /* with part.redact: of the event in hand */
	struct spot spot;
};

/* Refuses the chunk in hand, which holds the impossible: its rest is not read. */
void reader_refuse(struct recording *r, const char *why);

/* Makes room for the events, when the session is there. 0 or -ENOMEM. reader_stop ends all reading
 * ahead, and frees that room. */
int reader_begin(struct recording *r);
void reader_stop(struct recording *r);

/* Fills a batch with the next events, up to a chunk that is of another type. It touches nothing
 * that a session does. */
void reader_fill(struct recording *r, struct batch *b);

/* Takes the chunk that waits. */
void reader_take_chunk(struct recording *r);

/* Takes the chunk RUN. */
void reader_run(struct recording *r, struct reading *in);

/* Searches the file once for the part's begin and end on each CPU. */
void part_find(struct recording *r);

/* Passes over chunks of events in which nothing is of the part, and takes what their index tells.
 * False: the next chunk is to be read. */
bool part_passes(struct recording *r);

/* Notes what an event of the part does to gaps that wait for the steal clock. */
void part_steal(struct recorded_lane *l, const struct event *e);

/* True for what lies outside the part; a begin of a window becomes the part's. */
bool part_leaves(struct recorded_lane *l, struct event *e);

/* Sets the sequences at the part's begin: for a watched thread no event does. */
void part_start(struct recording *r, const struct recorded_lane *l);

/* With part.redact they change what has just been read, for the view or the session; else nothing.
 * In the tail: the values that the view then gets. before: the lane's name before it was read. */
void reader_redact_head(struct recording *r);
void reader_redact_run(struct recording *r);
void reader_redact_event(struct recording *r, struct event *e);
void reader_redact_tail(struct recording *r, struct host *host, struct run *run);
void reader_redact_lane(struct recording *r, struct cpu *c, const char *before);

/* Turns hiccups below part.threshold_ns into short gaps. Call it on the head; reader_end does it on
 * the tail. */
void reader_raise_threshold(struct recording *r);

/* Notes whose lane it is: without the tail nothing else tells. */
void reader_spot(struct recorded_lane *l, const struct spot *s);

/* Reads the tail. NULL, or why it cannot be; then the view is unchanged. */
const char *reader_tail(struct recording *r, struct reading *in);

/* Ends the reading: fills in what the view still lacks, and what to say about the file. */
void reader_end(struct recording *r);

#endif
