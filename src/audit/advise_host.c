/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice on what a guest's host did: what the host's own report says of it, marked as the host's.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "audit/advise.h"
#include "model/through.h"

int advise_host(const struct view *v, struct source *s)
{
	uint32_t i;
	const struct source *there =
		v->host_side && !s->rest ? through_origin(v->host_side, s, &i) : NULL;

	free(s->advice);
	s->advice = NULL;
	s->cause = there ? there->cause : NULL;
	if (there && there->advice && asprintf(&s->advice, "on the host: %s", there->advice) < 0) {
		s->advice = NULL;
		return -ENOMEM;
	}
	return 0;
}
