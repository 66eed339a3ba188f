/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads all of a machine's clocks together: see model/readings.h. */
#ifndef CULPRIT_COLLECT_READINGS_H
#define CULPRIT_COLLECT_READINGS_H

#include "model/readings.h"

/* Opens the clock of the host that a guest of KVM may read (ptp_kvm). Its file descriptor; -1:
 * there is none, or no right to it. */
int readings_open(void);

/* Adds a reading where it is time for one, or it is the last. ptp: of readings_open(), or -1. */
void readings_take(struct readings *r, int ptp, bool last);

#endif
