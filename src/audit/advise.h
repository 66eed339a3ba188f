/* What to do about a source, with this machine's numbers in the command.
 *
 * Names from the machine never become part of a command unchecked: {comm} and {interface} are
 * filled in only when they hold nothing but letters, digits and ._:@+-/ and do not begin with a
 * dash. Otherwise, and where a value is not known, the placeholder stays as a word (COMM, IRQ,
 * CPUS). The advice in a report has no such words left: remedy.h. */
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

/* Fills in the placeholders of the text; the caller frees the result. NULL: out of memory. */
char *fill_text(const char *text, const struct fill *f);

/* Bits of the placeholders in the text that have no value; 0: all have one. */
unsigned fill_missing(const char *text, const struct fill *f);

/* Explains the words of these bits: "PID: the thread's number; IRQ: the interrupt's number".
 * Returns buf. */
char *fill_legend(unsigned missing, char *buf, size_t len);

/* Writes the device in the name of an IRQ ("eth0-TxRx-3", "nvme0q5", "virtio1-req.0") or NAPI
 * thread ("napi/eth0-12") to buf: "eth0", "nvme0", "virtio1"; "" when the name has none. Returns
 * buf. */
char *device_of(const char *name, char *buf, size_t len);

/* Gives each source of the view its cause and advice, and sets view->advised. Where a name alone
 * means several things, its neighbours, the tick's table, the steal clock and the SMI count decide.
 * Call it when the view is complete, as often as the view changes. 0 or -ENOMEM. */
int advise(struct view *v);

#endif
