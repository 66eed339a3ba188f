/* What numbers are called: IRQs, kernel addresses, stacks. The live run asks the machine, a
 * recording has them in it. All strings belong to whoever answers and stay as they are until the
 * report has been made. */
#ifndef CULPRIT_NAMES_H
#define CULPRIT_NAMES_H

#include <stdint.h>

/* a message that its sender carries to the receiver is 30 deep and more */
#define STACK_FRAMES 48

struct names {
	void *ctx;
	const char *(*irq)(void *ctx, uint32_t irq); /* "virtio1-req.0"; NULL or "": unknown */
	/* Where it may go and where it goes, "0-3, effective 1"; may be NULL as a whole, and may
	 * answer NULL. */
	const char *(*irq_affinity)(void *ctx, uint32_t irq);
	const char *(*symbol)(
		void *ctx,
		uint64_t address); /* "vmstat_update", "e1000_intr [e1000]"; never NULL */
	/* Names of a kernel stack's frames, innermost first, into frame[STACK_FRAMES]; returns how
	 * many. */
	int (*stack)(void *ctx, int32_t id, const char **frame);
};

#endif
