/* SPDX-License-Identifier: GPL-2.0-or-later */
/* watch --to: sends the recording to the guest that it is of, as it is written. A process of its
 * own seals and sends what the recording's writer gives it, without capabilities; a guest that is
 * slow, or gone, holds nobody up but the two. */
#ifndef CULPRIT_SENDER_H
#define CULPRIT_SENDER_H

#include "base/cpus.h"
#include "cmd/channel.h"

struct sender;

/* Connects, and shows that both sides have the token. NULL with the reason said. */
struct sender *sender_open(const struct channel_address *to, const struct token *token,
			   const struct cpus *housekeeping);

/* The file that the recording goes into, for recorder_open_to(), which closes it. */
int sender_file(struct sender *s);

/* True when the guest has enough, or is gone. */
bool sender_over(const struct sender *s);

/* Waits until all is sent, a minute at most. 0, or -1 with the reason said. */
int sender_finish(struct sender *s);
void sender_close(struct sender *s); /* NULL is allowed */

#endif
