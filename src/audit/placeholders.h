/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Placeholders in the book's commands, {cpus} {irq} {pid}, and their values on this machine.
 *
 * Names from the machine never become part of a command unchecked: {comm} and {interface} are
 * filled in only when they hold nothing but letters, digits and ._:@+-/ and do not begin with a
 * dash. Otherwise, and where a value is not known, the placeholder stays as a word (COMM, IRQ,
 * CPUS). The advice in a report has no such words left: remedy.h. */
#ifndef CULPRIT_PLACEHOLDERS_H
#define CULPRIT_PLACEHOLDERS_H

#include <stddef.h>
#include <stdint.h>
#include "base/cpus.h"

struct placeholders {
	long cpu;                /* -1: not known */
	const struct cpus *cpus; /* the measured ones; NULL or empty: not known */
	/* The lists of isolcpus= and rcu_nocbs=, and of nohz_full=; empty: the measured ones. */
	struct cpus isolate, nohz;
	const struct cpus *housekeeping;
	long irq;              /* -1: none */
	uint32_t pid;          /* 0: none, or several */
	const char *comm;      /* any bytes; NULL: none */
	const char *interface; /* the same */
	const char *function;  /* the same; of "foo.isra.0 [module]" only foo is taken */
	size_t list_most;      /* bytes of a list of CPUs; a longer one is not known. 0: any */
};

/* No value is known. */
#define PLACEHOLDERS_NONE                                                                          \
	{                                                                                          \
		.cpu = -1, .irq = -1                                                               \
	}

/* Fills in the placeholders of the text; the caller frees the result. NULL: out of memory. */
char *placeholders_fill(const char *text, const struct placeholders *f);

/* Bits of the placeholders in the text that have no value; 0: all have one. */
unsigned placeholders_missing(const char *text, const struct placeholders *f);

/* Explains the words of these bits: "PID: the thread's number; IRQ: the interrupt's number".
 * Returns buf. */
char *placeholders_legend(unsigned missing, char *buf, size_t len);

/* Writes the device in the name of an IRQ ("eth0-TxRx-3", "nvme0q5", "virtio1-req.0") or NAPI
 * thread ("napi/eth0-12") to buf: "eth0", "nvme0", "virtio1"; "" when the name has none. Returns
 * buf. */
char *device_of(const char *name, char *buf, size_t len);

#endif
