/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The virtual CPUs of this host's KVM, as its debugfs lists them: number, thread, and how the
 * guest's counter is made from the host's. */
#ifndef CULPRIT_COLLECT_VCPU_CLOCKS_H
#define CULPRIT_COLLECT_VCPU_CLOCKS_H

#include "model/view.h"

#define KVM_FOLDER "/sys/kernel/debug/kvm"

struct vcpu_clock {
	uint32_t machine; /* pid of its process */
	uint32_t number;
	uint32_t tid; /* 0: this kernel does not tell (before 6.0) */
	struct counter_rule rule;
};

struct vcpu_clocks {
	struct vcpu_clock *row; /* owned */
	uint32_t n;
};

/* folder: KVM_FOLDER but in a test. Reads nothing where it may not, or there is none.
 */
void vcpu_clocks_read(struct vcpu_clocks *c, const char *folder);
void vcpu_clocks_free(struct vcpu_clocks *c);

/* Gives the view's threads their machines and numbers, and the rule of those whose rule was the
 * same before and after, or before they ended. Where KVM tells nothing, the machine is the thread's
 * process, as far as its name is that of a virtual CPU. proc: "/proc" but in a test. */
void vcpu_clocks_fill(const struct vcpu_clocks *before, const struct vcpu_clocks *after,
		      const char *proc, struct view *v);

#endif
