/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parquet, a row a minute, lane and source: what each source cost, for questions over many hosts
 * and days. A lane is a CPU, or a watched thread.
 *
 *   host kernel started   as in line.c
 *   cpu tid comm          the lane: cpu of a CPU; tid and comm of a watched thread
 *   threshold_ns          shorter gaps of the lane are in no row
 *   minute                wall clock, UTC, a whole minute: of where its hiccups began
 *   kind id name function kernel_thread host_kind cause owner
 *                         the source, as in pieces. Kind `all`: all hiccups of the lane, whoever
 *                         made them; `edge`, `outside` and `lost`: time that no piece has. The
 *                         net_ns of all other kinds together are those of `all`
 *   observed_ns           of kind `all`: how long the lane was measured since its last row of that
 *                         kind, to the end of this minute or of the window. Null of a watched
 *                         thread, and of a part of a recording
 *   hiccups count         hiccups that it had a part in; interruptions
 *   net_ns max_ns         its time in them; the most in one hiccup
 *   histogram             number of hiccups in which it took 0 ns, 1 ns, 2 to 3, 4 to 7 ...:
 *                         element i counts those below 2^i that no element before it does
 *
 * A lane's minute may have several rows of one source: when there are more than CELLS_MAX in it,
 * when the table of sources had no row left meanwhile, or when a watched thread reported a hiccup
 * late. They add up.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/line.h"
#include "render/parquet.h"
#include "render/parquet_cells.h"
#include "render/render.h"

#define MINUTE_NS 60000000000ULL
#define OCTAVES   65
#define CELLS_MAX 1024 /* half a megabyte for a lane: more are written in parts */

enum {
	HOST,
	KERNEL,
	STARTED,
	CPU,
	TID,
	COMM,
	THRESHOLD,
	MINUTE,
	KIND,
	ID,
	NAME,
	FUNCTION,
	KERNEL_THREAD,
	HOST_KIND,
	CAUSE,
	OWNER,
	OBSERVED,
	HICCUPS,
	COUNT,
	NET,
	MAX,
	HISTOGRAM
};

static const struct parquet_field fields[] = {
	[HOST] = {"host", PARQUET_TEXT, true, 0},
	[KERNEL] = {"kernel", PARQUET_TEXT, true, 0},
	[STARTED] = {"started", PARQUET_TIME, true, 0},
	[CPU] = {"cpu", PARQUET_INT, true, 0},
	[TID] = {"tid", PARQUET_INT, true, 0},
	[COMM] = {"comm", PARQUET_TEXT, true, 0},
	[THRESHOLD] = {"threshold_ns", PARQUET_INT, true, 0},
	[MINUTE] = {"minute", PARQUET_TIME, true, 0},
	[KIND] = {"kind", PARQUET_TEXT, true, 0},
	[ID] = {"id", PARQUET_INT, true, 0},
	[NAME] = {"name", PARQUET_TEXT, true, 0},
	[FUNCTION] = {"function", PARQUET_TEXT, true, 0},
	[KERNEL_THREAD] = {"kernel_thread", PARQUET_BOOL, true, 0},
	[HOST_KIND] = {"host_kind", PARQUET_TEXT, true, 0},
	[CAUSE] = {"cause", PARQUET_TEXT, true, 0},
	[OWNER] = {"owner", PARQUET_TEXT, true, 0},
	[OBSERVED] = {"observed_ns", PARQUET_INT, true, 0},
	[HICCUPS] = {"hiccups", PARQUET_INT, true, 0},
	[COUNT] = {"count", PARQUET_INT, true, 0},
	[NET] = {"net_ns", PARQUET_INT, true, 0},
	[MAX] = {"max_ns", PARQUET_INT, true, 0},
	[HISTOGRAM] = {"histogram", PARQUET_LIST, false, 1},
	{"element", PARQUET_INT, false, 0},
};

/* The cost of one source in the minute in hand. */
struct cell {
	uint64_t serial; /* the source's; for time that no piece has, its enum other */
	struct line_who who;
	char name[SOURCE_NAME];
	const char *function, *cause, *owner;
	uint64_t hiccups, count, net_ns, max_ns;
	uint32_t histogram[OCTAVES];
};

enum other { ALL, EDGE, OUTSIDE, LOST, OTHERS };

static const char *const other_kind[] = {"all", "edge", "outside", "lost"};

struct lane {
	uint64_t minute; /* in hand: ns since 1970 */
	bool open;
	uint64_t covered_ns; /* time of the window that written rows have */
	struct cell *cell;   /* the first OTHERS, then sources by first appearance */
	uint32_t ncells, room;
};

struct rollup {
	const struct view *view;
	struct parquet *file;
	uint64_t started; /* ns since 1970; 0: not known */
	struct lane *lane;
};

static void *begin(const struct view *view, FILE *out)
{
	struct rollup *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->view = view;
	if (parse_iso_time(view->run.started, &r->started))
		r->started = 0;
	r->lane = calloc(view->ncpus ? view->ncpus : 1, sizeof(*r->lane));
	r->file = r->lane ? parquet_begin(fields, sizeof(fields) / sizeof(fields[0]), out) : NULL;
	if (r->file)
		return r;
	free(r->lane);
	free(r);
	return NULL;
}

/* ---- adding ---- */

static struct cell *cell_new(struct lane *l, uint64_t serial)
{
	if (l->ncells == l->room) {
		uint32_t room = l->room ? 2 * l->room : 16;
		struct cell *more = realloc(l->cell, room * sizeof(*more));

		if (!more)
			return NULL;
		l->cell = more;
		l->room = room;
	}
	l->cell[l->ncells] = (struct cell){.serial = serial};
	return &l->cell[l->ncells++];
}

static struct cell *cell_of(struct lane *l, const struct source *s)
{
	struct cell *c;

	for (uint32_t i = OTHERS; i < l->ncells; i++)
		if (l->cell[i].serial == s->serial)
			return &l->cell[i];
	c = cell_new(l, s->serial);
	if (!c)
		return NULL;
	c->who = line_who(s);
	memcpy(c->name, s->name, sizeof(c->name));
	c->function = s->function;
	c->cause = s->cause;
	return c;
}

static void cell_add(struct cell *c, uint64_t ns, uint32_t count)
{
	c->hiccups++;
	c->count += count;
	c->net_ns += ns;
	if (ns > c->max_ns)
		c->max_ns = ns;
	c->histogram[ns ? 64 - __builtin_clzll(ns) : 0]++;
}

static int open_minute(struct lane *l, uint64_t minute)
{
	l->ncells = 0;
	l->minute = minute;
	for (int i = 0; i < OTHERS; i++) {
		struct cell *c = cell_new(l, i);

		if (!c)
			return -ENOMEM;
		c->who = (struct line_who){
			.kind = other_kind[i], .id = LINE_UNKNOWN, .kernel_thread = LINE_UNKNOWN};
	}
	l->open = true;
	return 0;
}

/* ---- writing ---- */

/* When lanes were measured. */
static bool times_known(const struct rollup *r)
{
	return !r->view->run.watch && !r->view->run.part && r->started;
}

/* Time of the lane's window that ends with this minute, as far as it is not in a row yet; until:
 * the window's length. */
static int64_t observed(const struct rollup *r, struct lane *l, uint64_t until)
{
	uint64_t ends = l->minute + MINUTE_NS, before = l->covered_ns;

	ends = ends > r->started ? ends - r->started : 0;
	if (ends > until)
		ends = until;
	if (ends <= before)
		return 0;
	l->covered_ns = ends;
	return (int64_t)(ends - before);
}

static void put_histogram(const struct parquet_cells *at, const struct cell *c)
{
	struct parquet_cells element = *at;
	unsigned n = OCTAVES;

	while (n && !c->histogram[n - 1])
		n--;
	for (unsigned i = 0; i < n; i++) {
		element.again = i > 0;
		cell_number(&element, HISTOGRAM, c->histogram[i]);
	}
	if (!n)
		parquet_null(at->file, HISTOGRAM, false, 0);
}

static int put_cell(const struct rollup *r, const struct cpu *c, const struct lane *l,
		    const struct cell *cell, int64_t observed_ns)
{
	struct parquet_cells at = {.file = r->file};
	bool source = cell >= l->cell + OTHERS;
	char owner[OWNER_TEXT];

	cell_text(&at, HOST, r->view->host.hostname);
	cell_text(&at, KERNEL, r->view->host.kernel);
	cell_time(&at, STARTED, r->view->run.started);
	cell_number(&at, CPU, r->view->run.watch ? LINE_UNKNOWN : (int64_t)c->number);
	cell_number(&at, TID, c->tid ? c->tid : LINE_UNKNOWN);
	cell_text(&at, COMM, c->comm[0] ? c->comm : NULL);
	cell_number(&at, THRESHOLD, (int64_t)c->threshold_ns);
	cell_number(&at, MINUTE, r->started ? (int64_t)l->minute : LINE_UNKNOWN);
	cell_text(&at, KIND, cell->who.kind);
	cell_number(&at, ID, cell->who.id);
	cell_text(&at, NAME, source ? cell->name : NULL);
	cell_text(&at, FUNCTION, cell->function);
	cell_number(&at, KERNEL_THREAD, cell->who.kernel_thread);
	cell_text(&at, HOST_KIND, cell->who.host_kind);
	cell_text(&at, CAUSE, cell->cause);
	cell_text(&at, OWNER, owner_words(cell->owner, owner));
	cell_number(&at, OBSERVED, observed_ns);
	cell_number(&at, HICCUPS, (int64_t)cell->hiccups);
	cell_number(&at, COUNT, (int64_t)cell->count);
	cell_number(&at, NET, (int64_t)cell->net_ns);
	cell_number(&at, MAX, (int64_t)cell->max_ns);
	put_histogram(&at, cell);
	return parquet_row(r->file);
}

/* Writes the minute in hand. until: how long the window is, as far as that is known by now. */
static int put_minute(struct rollup *r, uint32_t index, uint64_t until)
{
	const struct cpu *c = &r->view->cpu[index];
	struct lane *l = &r->lane[index];
	int64_t observed_ns = times_known(r) ? observed(r, l, until) : LINE_UNKNOWN;
	int err = 0;

	for (uint32_t i = 0; i < l->ncells && !err; i++)
		if (i == ALL || l->cell[i].hiccups)
			err = put_cell(r, c, l, &l->cell[i], i == ALL ? observed_ns : LINE_UNKNOWN);
	l->open = false;
	return err;
}

static int add_hiccup(void *state, uint32_t index, const struct account *a)
{
	struct rollup *r = state;
	struct lane *l = &r->lane[index];
	const uint64_t other[] = {a->duration_ns, a->edge_ns, a->outside_ns, a->lost_ns};
	uint64_t so_far = a->start_ns - r->view->run.started_ns;
	uint64_t at = r->started + so_far;
	uint64_t minute = at - at % MINUTE_NS;
	int err = 0;

	if (l->open && minute != l->minute)
		err = put_minute(r, index, UINT64_MAX);
	else if (l->open && l->ncells + a->npieces > CELLS_MAX)
		err = put_minute(r, index, so_far);
	if (!l->open && !err)
		err = open_minute(l, minute);
	if (err)
		return err;
	for (int i = 0; i < OTHERS; i++)
		if (i == ALL || other[i])
			cell_add(&l->cell[i], other[i], 0);
	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct piece *p = &a->pieces[i];
		const struct source *s = r->view->cpu[index].sources.row[p->source];
		struct cell *c = cell_of(l, s);

		if (!c)
			return -ENOMEM;
		if (s->owner)
			c->owner = s->owner;
		cell_add(c, p->net_ns, p->count);
	}
	return 0;
}

/* ---- the end ---- */

static int end(void *state)
{
	struct rollup *r = state;
	int err = 0, failed;

	for (uint32_t i = 0; i < r->view->ncpus; i++) {
		uint64_t window = r->view->cpu[i].observed_ns;
		struct lane *l = &r->lane[i];

		if (l->open && !err)
			err = put_minute(r, i, window);
		if (!err && times_known(r) && l->covered_ns < window) {
			uint64_t last = r->started + window;

			err = open_minute(l, last - last % MINUTE_NS);
			err = err ? err : put_minute(r, i, window);
		}
		free(l->cell);
	}
	failed = parquet_end(r->file);
	free(r->lane);
	free(r);
	return err ? err : failed;
}

const struct trace_format render_rollup = {begin, add_hiccup, end};
