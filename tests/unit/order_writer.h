/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CULPRIT_ORDER_WRITER_H
#define CULPRIT_ORDER_WRITER_H

#include "state.h"

#define ORDER_LEVEL LEVEL_IRQ

void order_put_narrow(struct cpu_state *c, struct record *r);
void order_put_wide(struct cpu_state *c, struct record *r);

#endif
