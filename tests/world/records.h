/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records as the probes write them. */
#ifndef CULPRIT_TESTS_RECORDS_H
#define CULPRIT_TESTS_RECORDS_H

#include <string.h>

#include "record.h"

static inline struct record vector(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_VECTOR,
			       .level = LEVEL_IRQ,
			       .id = id,
			       .arg = 236 + id,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record irq(uint32_t id, uint64_t handler, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_IRQ,
			       .level = LEVEL_IRQ,
			       .id = id,
			       .arg = handler,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record softirq(uint32_t id, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_SOFTIRQ,
			       .level = LEVEL_SOFTIRQ,
			       .id = id,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record nmi(uint64_t handler, uint64_t start, uint64_t end)
{
	return (struct record){.kind = RECORD_NMI,
			       .level = LEVEL_NMI,
			       .arg = handler,
			       .start_ns = start,
			       .end_ns = end};
}

static inline struct record named(struct record r, const char *name)
{
	memset(r.name, 0, sizeof(r.name));
	for (size_t i = 0; i < sizeof(r.name) && name[i]; i++)
		r.name[i] = name[i];
	return r;
}

static inline struct record thread(uint32_t tid, const char *comm, uint64_t start, uint64_t end)
{
	return named((struct record){.kind = RECORD_THREAD,
				     .level = LEVEL_THREAD,
				     .id = tid,
				     .arg = tid,
				     .prio = 120,
				     .start_ns = start,
				     .end_ns = end},
		     comm);
}

static inline struct record kthread(uint32_t tid, const char *comm, uint64_t start, uint64_t end)
{
	struct record r = thread(tid, comm, start, end);

	r.flags = RECORD_KTHREAD;
	return r;
}

/* An instant of an interval of this level: after records that ended before it, before those around
 * it. */
static inline struct record mark(uint8_t level, uint8_t kind, uint64_t function, uint64_t at)
{
	return (struct record){.kind = RECORD_MARK,
			       .level = level,
			       .mark = kind,
			       .arg = function,
			       .start_ns = at,
			       .end_ns = at};
}

static inline struct record asked(struct record m, uint32_t tid, const char *comm, uint16_t cpu,
				  int32_t stack)
{
	m.flags |= RECORD_ASKED;
	m.id = tid;
	m.asker_cpu = cpu;
	m.stack = stack;
	return named(m, comm);
}

static inline struct record instant(uint8_t kind, uint8_t level, uint32_t id, uint64_t arg,
				    const char *name, uint64_t at)
{
	return named((struct record){.kind = kind,
				     .level = level,
				     .id = id,
				     .arg = arg,
				     .start_ns = at,
				     .end_ns = at},
		     name);
}

#endif
