/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/queue.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/units.h"
#include "collect/spin.h"

#define LOOKS 4096 /* between two checks whether to stop */
#define LINE  64

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#else
#define RELAX() __asm__ volatile("" ::: "memory")
#endif

enum {
	PUBLISH,
	BETWEEN,
	ACCUMULATOR_TRANSIT,
	ACCUMULATOR_BETWEEN,
	JOURNALLER_TRANSIT,
	JOURNALLER_BETWEEN,
};

const char *const queue_role_names[QUEUE_ROLES] = {"producer", "accumulator", "journaller"};

struct slot {
	_Atomic uint64_t message; /* 1 + its number; 0: never used */
	uint64_t stamp;
	char payload[];
};

/* Shared. Learning is run 0, measuring run 1; message numbers go on. */
struct table {
	_Alignas(128) _Atomic uint64_t arrived[2];
	_Alignas(128) _Atomic uint64_t
		end[2]; /* 1 + number behind the run's last message; 0: the run goes on */
	uint64_t sum;   /* sum of all payloads sent, written before end */
	struct {
		_Alignas(128) _Atomic uint64_t seen; /* messages */
	} consumer[QUEUE_ROLES];
};

/* One process. */
struct party {
	struct work *work;
	const struct queue_options *o;
	struct table *table;
	enum queue_role role;
	bool counter;
};

static size_t stride(const struct queue_options *o)
{
	return (sizeof(struct slot) + o->length + LINE - 1) / LINE * LINE;
}

size_t queue_ring_bytes(const struct queue_options *o)
{
	return stride(o) * o->slots;
}

static struct slot *slot_of(const struct queue_options *o, uint64_t message)
{
	return (struct slot *)(o->ring + (message & (o->slots - 1)) * stride(o));
}

static uint64_t add_up(const char *payload, uint64_t len)
{
	uint64_t sum = 0, word;

	for (; len >= sizeof(word); len -= sizeof(word), payload += sizeof(word)) {
		memcpy(&word, payload, sizeof(word));
		sum += word;
	}
	while (len--)
		sum += (unsigned char)*payload++;
	return sum;
}

static uint64_t to_ns_of(const struct party *p, uint64_t from, uint64_t to)
{
	return (int64_t)(to - from) > 0 ? (to - from) * p->work->ns_per_tick + 0.5 : 0;
}

/* ---- the producer ---- */

/* Waits until all consumers have seen the message whose slot this one takes. False: told to
 * stop. */
static bool await_room(const struct party *p, uint64_t message)
{
	for (int role = QUEUE_ACCUMULATOR; role < QUEUE_ROLES; role++) {
		if (p->o->cpu[role] == QUEUE_NOBODY)
			continue;
		while (message - atomic_load_explicit(&p->table->consumer[role].seen,
						      memory_order_acquire) >=
		       p->o->slots) {
			if (work_stopped(p->work))
				return false;
			RELAX();
		}
	}
	return true;
}

static void produce(struct party *p, uint64_t first, uint64_t messages)
{
	const struct queue_options *o = p->o;
	struct work *w = p->work;
	cursors_t cursors = work_cursors(w), next;
	uint64_t gap = o->gap_ns / w->ns_per_tick;
	uint64_t last = read_counter(p->counter), n = first;
	uint64_t pieces = o->payload_len / o->length;

	for (; n < first + messages && !work_stopped(w); n++) {
		uint64_t due = last + gap, now;
		struct slot *slot = slot_of(o, n);

		if (!await_room(p, n))
			break;
		memcpy(slot->payload, o->payload + n % pieces * o->length, o->length);
		p->table->sum += add_up(slot->payload, o->length);
		/* The last reading of the cursors before the due time belongs to the window. */
		for (;;) {
			next = work_cursors(w);
			now = read_counter(p->counter);
			if (now >= due)
				break;
			cursors = next;
		}
		slot->stamp = read_counter(p->counter);
		atomic_store_explicit(&slot->message, n + 1, memory_order_release);
		now = read_counter(p->counter);
		work_window(w, PUBLISH, to_ns_of(p, due, now), due, now, cursors);
		if (n > first)
			work_value(w, BETWEEN, now, to_ns_of(p, last, now));
		last = now;
		cursors = next;
	}
	atomic_store(&p->table->end[!w->learning], n + 1);
}

/* ---- the consumers ---- */

/* Waits for a message. False: no more will come. */
static inline bool await_message(const struct party *p, const struct slot *slot, uint64_t message)
{
	for (;;) {
		for (int i = 0; i < LOOKS; i++)
			if (atomic_load_explicit(&slot->message, memory_order_acquire) ==
			    message + 1)
				return true;
		if (work_stopped(p->work) ||
		    atomic_load(&p->table->end[!p->work->learning]) == message + 1)
			return false;
	}
}

/* A file that takes a part of an entry says with the next part why it takes no more. */
static int append(const struct party *p, const char *entry, size_t len)
{
	while (len) {
		ssize_t n = write(p->o->journal, entry, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return work_failed(p->work, n ? errno : ENOSPC, "writing the journal");
		entry += n;
		len -= n;
	}
	return 0;
}

/* The time of a counter's reading. The two clocks are read together anew, and that pair is taken if
 * nothing came between. */
static uint64_t time_of(const struct party *p, uint64_t stamp)
{
	static uint64_t tick, ns, least = UINT64_MAX / 4;
	uint64_t before = read_counter(p->counter), now = now_ns();
	uint64_t took = read_counter(p->counter) - before;

	least = took < least ? took : least;
	if (took <= 2 * least + 1) {
		tick = before + took / 2;
		ns = now;
	}
	return ns + (int64_t)((int64_t)(stamp - tick) * p->work->ns_per_tick);
}

/* Appends a message that has just come. */
static int journal(const struct party *p, const struct slot *slot, uint64_t number,
		   uint64_t transit)
{
	static char entry[3 * sizeof(uint64_t) + QUEUE_LENGTH_MAX];
	uint64_t head[] = {number, p->o->form == QUEUE_RAW ? 0 : time_of(p, slot->stamp), transit};
	int len;

	switch (p->o->form) {
	case QUEUE_TEXT:
		len = snprintf(entry, sizeof(entry), "%" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			       head[0], head[1], head[2]);
		return append(p, entry, len);
	case QUEUE_BINARY:
		memcpy(entry, head, sizeof(head));
		memcpy(entry + sizeof(head), slot->payload, p->o->length);
		return append(p, entry, sizeof(head) + p->o->length);
	default:
		return append(p, slot->payload, p->o->length);
	}
}

static int use(const struct party *p, const struct slot *slot, uint64_t number, uint64_t transit,
	       uint64_t *sum)
{
	if (p->role == QUEUE_JOURNALLER)
		return journal(p, slot, number, transit);
	*sum += add_up(slot->payload, p->o->length);
	return 0;
}

static int consume(struct party *p, uint64_t first, cursors_t cursors, uint64_t *sum)
{
	unsigned transit = p->role == QUEUE_ACCUMULATOR ? ACCUMULATOR_TRANSIT : JOURNALLER_TRANSIT;
	struct work *w = p->work;
	uint64_t last = 0, n = first;
	int err = 0;

	for (; !err; n++) {
		const struct slot *slot = slot_of(p->o, n);
		uint64_t now, stamp;
		cursors_t next;
		bool waited;

		if (!await_message(p, slot, n))
			break;
		next = work_cursors(w);
		now = read_counter(p->counter);
		stamp = slot->stamp;
		waited = !last || (int64_t)(last - stamp) < 0;
		/* those behind a late message would teach nothing but its delay */
		if (waited || !w->learning)
			work_value(w, transit, now, to_ns_of(p, stamp, now));
		work_outlier(w, transit, waited ? stamp : last, now, cursors);
		if (last)
			work_value(w, transit + 1, now, to_ns_of(p, last, now));
		err = use(p, slot, n, to_ns_of(p, stamp, now), sum);
		atomic_store_explicit(&p->table->consumer[p->role].seen, n + 1,
				      memory_order_release);
		cursors = next;
		last = now;
	}
	if (!err && p->role == QUEUE_ACCUMULATOR &&
	    atomic_load(&p->table->end[!w->learning]) == n + 1 && *sum != p->table->sum)
		return work_failed(w, EIO, "comparing what came with what was sent");
	return err;
}

/* ---- together ---- */

/* Makes all begin a run together. They learn at different times, so they sleep until then; false:
 * stopped. */
static bool meet(const struct party *p)
{
	_Atomic uint64_t *arrived = &p->table->arrived[!p->work->learning];
	struct timespec nap = {0, 200 * NSEC_PER_USEC};

	atomic_fetch_add(arrived, 1);
	while (atomic_load(arrived) < p->work->props->n) {
		if (work_stopped(p->work))
			return false;
		if (p->work->learning)
			nanosleep(&nap, NULL);
		else
			RELAX();
	}
	return true;
}

/* Touches the memory: where it cannot be locked, it is at least mapped. */
static void touch(const struct queue_options *o)
{
	for (size_t i = 0; i < queue_ring_bytes(o); i += 4096)
		__atomic_fetch_or(&o->ring[i], 0, __ATOMIC_RELAXED);
}

static int run(struct work *w)
{
	const struct queue_options *o = w->options;
	struct party p = {
		.work = w, .o = o, .table = w->props->shared, .counter = w->spin->counter};
	static uint64_t sum; /* over all payloads this process has seen, learning included */
	uint64_t first = w->learning ? 0 : o->warmup;
	cursors_t cursors;

	while (p.role < QUEUE_ROLES - 1 && o->cpu[p.role] != w->cpu)
		p.role++;
	if (w->roams) /* as a report calls it */
		prctl(PR_SET_NAME, queue_role_names[p.role]);
	if (w->learning)
		touch(o);
	if (w->learning && p.role == QUEUE_JOURNALLER) {
		signal(SIGPIPE, SIG_IGN); /* a journal that ends is an error to be said */
		signal(SIGXFSZ, SIG_IGN);
	}
	cursors = work_cursors(w); /* before the producer sends anything */
	if (!meet(&p))
		return 0;
	if (p.role != QUEUE_PRODUCER)
		return consume(&p, first, cursors, &sum);
	produce(&p, first, w->learning ? o->warmup : o->messages);
	return 0;
}

static int prepare(struct workload_props *props, const void *options)
{
	const struct queue_options *o = options;

	if (o->journal >= 0)
		props->fd[props->nfds++] = o->journal;
	return 0;
}

const struct workload queue_workload = {
	.name = "queue",
	.series = (const char *const[]){"publish", "between publications", "accumulator transit",
					"accumulator between messages", "journaller transit",
					"journaller between messages", NULL},
	.rest = "the message's way, or its consumer at work",
	.shared_bytes = sizeof(struct table),
	.partners = true,
	.prepare = prepare,
	.run = run,
};
