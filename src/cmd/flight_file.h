/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of kept recordings. */
#ifndef CULPRIT_FLIGHT_FILE_H
#define CULPRIT_FLIGHT_FILE_H

#include <limits.h>

#include "model/trigger.h"

#define FLIGHT_FILE 160 /* bytes at most behind the directory */

/* Names it by when, where and by whom: "DIR/20260102T030405.123Z-cpu3-softirq_NET_RX.rec", and so
 * that no file has that name. private: threads have no names. */
void flight_file(const char *directory, const struct trigger_hit *hit, bool private,
		 char file[PATH_MAX]);

#endif
