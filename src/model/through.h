/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Through the hypervisor: who took, on the host, what a guest lost outside its kernel. The guest's
 * CPUs are threads of the host's, whose lost time culprit watch records there.
 *
 *   first    both recordings are read for their gaps alone: through_guest, through_host
 *   match    through_match finds out which thread is which CPU, by its number, its name ("CPU
 *            3/KVM") or its gaps, and sets the clocks by each other (readings.h, align.h)
 *   join     the guest's recording is read again, the host's beside it (through_window): each
 *            hiccup's time outside becomes pieces of kind SOURCE_HOST, as far as the host's
 *            recording explains it, and the rest is known to be not seen there, or not covered
 *
 * What the host did in a gap of the guest's is divided as the host's own report divides it. A gap
 * that is shorter than the clocks are sure may get the name of one beside it.
 *
 * Pure. Memory is bounded: of a thread's gaps the longest are matched, and the newest windows wait
 * for the guest's.
 */
#ifndef CULPRIT_THROUGH_H
#define CULPRIT_THROUGH_H

#include "model/align.h"
#include "model/session.h"

struct through;

/* The outcome, for reports. */
struct through_found {
	const struct through_found *next; /* another host that it was on; NULL: none */
	const struct view *host; /* view of the host's recording; whole once both have been read */
	enum align_verdict verdict; /* all but ALIGN_FOUND explain nothing */
	struct alignment clocks;
	bool by_name;        /* the threads' names or numbers tell their vCPUs */
	enum readings_by by; /* by what the clocks were known, before the gaps confirmed it */
	/* A sentence: how the clocks were matched, or why nothing was joined. With the host's name
	 * in front, of any bytes, where there are several recordings. */
	char text[640];
	bool named; /* true: that name is in front */
	uint32_t nlanes;
	uint32_t *lane; /* one for each CPU of the guest: its thread's on the host, or
			   THROUGH_NOBODY */
};
#define THROUGH_NOBODY UINT32_MAX

/* The number of the virtual CPU that a thread of this name runs: of QEMU ("CPU 3/KVM", "CPU
 * 3/TCG"), Firecracker ("fc_vcpu 3"), cloud-hypervisor ("vcpu3") or crosvm ("crosvm_vcpu3"). -1: of
 * none. */
int through_vcpu(const char *comm);

/* True for these, and for the thread that runs all CPUs in turn, which has no number: QEMU's with
 * thread=single ("ALL CPUs/TCG"). */
bool through_is_vcpu(const char *comm);

struct through *through_new(void); /* NULL: out of memory */
void through_free(struct through *t);

/* Takes the gap of a hiccup, of the guest's CPU or the host's thread with this index. */
void through_guest(struct through *t, uint32_t index, const struct account *a);
void through_host(struct through *t, uint32_t index, const struct account *a);

/* Once all gaps have come; the views are whole. 0 or -ENOMEM. */
int through_match(struct through *t, const struct view *guest, const struct view *host);
const struct through_found *through_found(const struct through *t);

/* The next of several hosts' stands behind this one. */
void through_list(struct through *t, const struct through *next);

/* Puts the host's name in front of the sentence where its recording is one of several, and how many
 * of `all` fit the guest. */
void through_tell(struct through *t, uint32_t fit, uint32_t all);

/* The place where windows come from: `more` gives the next ones by through_window until one ends at
 * or after until_ns of the host's time, or there are none left. It is called while the guest's are
 * divided.
 */
struct through_source {
	void *ctx;
	void (*more)(void *ctx, uint64_t until_ns);
	bool several; /* other hosts' recordings fit the guest, too: rows say whose they are */
};

/* Begins the join. guest: where the pieces go; host: whose windows come. Both outlive it. 0 or
 * -ENOMEM. */
int through_begin(struct through *t, struct view *guest, const struct view *host,
		  const struct through_source *source);
void through_window(struct through *t, uint32_t index, const struct account *a);
const struct divider *through_divider(const struct through *t);

/* The source of the host with the identity of a row of kind SOURCE_HOST; NULL: it has gone. *index:
 * the lane that it is in, as the one for which it has most time. */
const struct source *through_origin(const struct through_found *f, const struct source *s,
				    uint32_t *index);

#endif
