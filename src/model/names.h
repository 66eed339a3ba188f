/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for numbers: IRQs, kernel addresses, stacks. The live run asks the machine, a recording
 * contains them. All strings belong to the answerer; a session keeps copies in
 * its view. */
#ifndef CULPRIT_NAMES_H
#define CULPRIT_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/hash.h"
#include "model/owner.h"

/* Enough for a message that its sender carries to the receiver: 30 frames and more. */
#define STACK_FRAMES 48

/* Number of a command line in recordings: a process that begins another program has another comm.
 */
static inline uint64_t names_command(uint32_t process, const char *comm)
{
	return (uint64_t)process << 32 | (uint32_t)hash_bytes(HASH_BEGIN, comm, strnlen(comm, 16));
}

struct names {
	void *ctx;
	const char *(*irq)(void *ctx, uint32_t irq); /* "virtio1-req.0"; NULL or "": unknown */
	/* Finds the CPUs where the IRQ may go and where it goes, "0-3, effective 1"; may be NULL,
	 * and may return NULL. */
	const char *(*irq_affinity)(void *ctx, uint32_t irq);
	/* Finds the device that sends the IRQ, "0000:00:03.0 (virtio-pci, NUMA node 0)"; may be
	 * NULL, and may return NULL. */
	const char *(*irq_device)(void *ctx, uint32_t irq);
	const char *(*symbol)(
		void *ctx,
		uint64_t address); /* "vmstat_update", "e1000_intr [e1000]"; never NULL */
	/* Writes the names of a kernel stack's frames, innermost first, to frame[STACK_FRAMES];
	 * returns how many. */
	int (*stack)(void *ctx, int32_t id, const char **frame);
	/* Finds the owner of the control group with this number, as owner_read() takes it
	 * (owner.h); may be NULL, and may return NULL: not known. */
	const char *(*owner)(void *ctx, uint32_t group);
	/* Finds the command line of a process when a thread of this comm, 16 bytes, was first seen.
	 * It is asked for then, and for what is reported again in the end: it may come late. May be
	 * NULL: none was asked for, and may return NULL: not known, or not yet. Any bytes. */
	const char *(*command)(void *ctx, uint32_t process, const char *comm);
	/* Finds the number of the user stack that goes with a stack's id, 0: none; may be NULL:
	 * none are kept. */
	uint32_t (*user)(void *ctx, int32_t id);
	/* Finds the calls of a user stack (calls.h), asked for as command lines are; NULL: not
	 * known, or not yet. Any bytes. */
	const char *(*calls)(void *ctx, uint32_t user);
	/* True when it had no room for an owner or a command line; may be NULL. */
	bool (*lack)(void *ctx);
	/* Meaning of rows of threads; from BY_UNIT on of user threads. */
	enum owner_by by;
	/* True: nobody hears who is asked for, so that only new names need be. */
	bool kept;
	/* Finds a stack's frames where they stay as long as the view; may be NULL: nowhere. */
	const char *const *(*stack_kept)(void *ctx, int32_t id);
};

#endif
