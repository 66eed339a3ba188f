/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stands in a program for numbers that are known when it is loaded (context.bpf.h: DIRECT). No
 * helper has this number. */
#ifndef CULPRIT_DIRECT_MARK_H
#define CULPRIT_DIRECT_MARK_H

#define DIRECT_MARK   0x7fff0101
#define DIRECT_NUMBER "0x7fff0101"

#endif
