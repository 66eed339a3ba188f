/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watched threads that are chosen by what they are called or belong to, those that come later among
 * them: the probes look at names themselves (bpf/choice.bpf.h); here is what they are told. */
#ifndef CULPRIT_COLLECT_CHOSEN_H
#define CULPRIT_COLLECT_CHOSEN_H

#include "collect/probes.h"
#include "model/view.h"

/* A glob's automaton: an asterisk stands for any bytes, or none. -EINVAL: it is too long. */
int choice_glob(struct name_glob *to, const char *glob);

struct choice;

/* True where units and cgroups can be told: the unified hierarchy is mounted. */
bool choice_has_cgroups(void);

/* Call it when the probes are attached: tells them of processes that run already, and of the
 * cgroups that are there. Both outlive the choice. NULL: out of memory. */
struct choice *choice_new(struct probes *probes, const struct watched *watched);

/* Tells of cgroups that have come, gone or come again, and the run as choice_tell(). Call it often:
 * it looks ten times a second at those that are known, once a second for a unit that is not there
 * and for all that fit a glob; says once where more fit than can be watched. */
void choice_look(struct choice *c, struct run *run, uint64_t now_ns);

/* Says in run->cut_short that not all that were chosen were watched, if so. */
void choice_tell(const struct choice *c, struct run *run);
void choice_free(struct choice *c); /* NULL: nothing */

#endif
