/* What to do about a source, with this machine's numbers in the command.
 *
 * Names that come from the machine never become part of a command: {comm} and {interface} are
 * filled in only when they hold nothing but letters, digits and ._:@+-/ and do not begin with a
 * dash; else, and where a value is not known, the placeholder stays as a word (COMM, IRQ, CPUS). In
 * a report's advice none stays: remedy.h. */
#ifndef CULPRIT_ADVISE_H
#define CULPRIT_ADVISE_H

#include "audit/book.h"
#include "model/view.h"

struct fill {
	long cpu;                /* -1: not known */
	const struct cpus *cpus; /* the measured ones; NULL or empty: not known */
	const struct cpus *housekeeping;
	long irq;              /* -1: none */
	uint32_t pid;          /* 0: none, or several */
	const char *comm;      /* any bytes; NULL: none */
	const char *interface; /* the same */
	const char *function;  /* the same; of "foo.isra.0 [module]" only foo is taken */
};

#define FILL_NOTHING                                                                               \
	{                                                                                          \
		.cpu = -1, .irq = -1                                                               \
	}

/* The text with its placeholders filled in; the caller frees it. NULL: out of memory. */
char *fill_text(const char *text, const struct fill *f);

/* The placeholders of the text that have no value, a bit each; 0: all have. */
unsigned fill_missing(const char *text, const struct fill *f);

/* What the words of these bits stand for: "PID: the thread's number; IRQ: the interrupt's number".
 * Returns buf. */
char *fill_legend(unsigned missing, char *buf, size_t len);

/* The device that an IRQ's name ("eth0-TxRx-3", "nvme0q5", "virtio1-req.0") or a NAPI thread's
 * ("napi/eth0-12") tells: "eth0", "nvme0", "virtio1", into buf; "" when it does not say. Returns
 * buf. */
char *device_of(const char *name, char *buf, size_t len);

/* Gives each source of the view its cause and advice. What runs beside it, the tick's table, steal
 * clock and SMI count decide where a name alone means several things, and view->advised is set.
 * Call it when the view is complete, as often as it changes. 0 or -ENOMEM. */
int advise(struct view *v);

#endif
