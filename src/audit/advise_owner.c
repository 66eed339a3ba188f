/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice on all threads of an owner. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "audit/advise.h"
#include "audit/checks.h"
#include "audit/placeholders.h"
#include "model/place.h"

/* The unit whose CPUs this machine's systemd sets; "": none. Those in a container or a machine, and
 * those of users, belong to another manager, and one that was cut has another name. A session of a
 * login would lose the CPUs with all that was started from it, the workload and culprit, too. */
static const char *confined_unit(const struct view *v, const struct source *s, struct owner *o)
{
	if (s->by != BY_UNIT || !s->owner || !v->told.systemd)
		return "";
	owner_read(o, s->owner);
	return owner_kind(o) == OWNER_UNIT && !o->of_user && strlen(o->unit) < OWNER_NAME - 1
		       ? o->unit
		       : "";
}

struct cpus advise_others(const struct view *v, const struct cause *c)
{
	/* culprit's: may be a small part of the machine, or isolated where no other was left */
	struct cpus own = place_others_among(&v->host, &v->run.housekeeping, &v->run.cpus);

	if (cpus_empty(&own) || (!(c && cause_names_one(c)) && !cpus_empty(&v->host.online)))
		return place_others_of(&v->host, &v->run.cpus);
	return own;
}

int advise_owner(const struct view *v, struct source *s)
{
	const struct cpus others = advise_others(v, NULL);
	struct owner owner;
	const struct placeholders f = {.cpu = -1,
				       .irq = -1,
				       .housekeeping = &others,
				       .comm = confined_unit(v, s, &owner),
				       .list_most = ADVICE_LIST};
	const char *confine = "systemctl set-property --runtime {comm} AllowedCPUs={housekeeping}";
	const char *bind = "bind its threads to cpu {housekeeping}";
	const struct cause *c = cause_match("user", "*");

	free(s->advice);
	s->advice = NULL;
	s->cause = c ? c->id : NULL;
	if (!placeholders_missing(confine, &f))
		bind = confine;
	if (placeholders_missing(bind, &f))
		return 0;
	s->advice = placeholders_fill(bind, &f);
	return s->advice ? 0 : -ENOMEM;
}
