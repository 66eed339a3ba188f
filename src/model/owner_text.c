/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Owners in words. */
#include <stdio.h>

#include "model/owner.h"

enum owner_kind owner_kind(const struct owner *o)
{
	return o->pod_uid[0]     ? OWNER_POD
	       : o->container[0] ? OWNER_CONTAINER
	       : o->machine[0]   ? OWNER_MACHINE
	       : o->session[0]   ? OWNER_SESSION
	       : o->unit[0]      ? OWNER_UNIT
				 : OWNER_NONE;
}

const char *owner_kind_name(enum owner_kind kind)
{
	static const char *const names[] = {
		[OWNER_POD] = "pod",         [OWNER_CONTAINER] = "container",
		[OWNER_MACHINE] = "machine", [OWNER_SESSION] = "session",
		[OWNER_UNIT] = "unit",
	};

	return names[kind];
}

#define SHORT_ID 12 /* digits of an id that docker and podman print */

const char *owner_by_name(enum owner_by by)
{
	static const char *const names[] = {
		[BY_COMM] = "comm", [BY_UNIT] = "unit",       [BY_CONTAINER] = "container",
		[BY_POD] = "pod",   [BY_MACHINE] = "machine",
	};

	return names[by];
}

#define OWNER_OF 24

static void of_whom(const struct owner *o, char buf[OWNER_OF])
{
	bool theirs = o->users || (owner_kind(o) == OWNER_UNIT && o->of_user);

	snprintf(buf, theirs ? OWNER_OF : 1, " of user %u", o->user);
}

const char *owner_part(const struct owner *o, enum owner_by by, char buf[OWNER_PART])
{
	const char *name;
	char of[OWNER_OF];
	int len;

	of_whom(o, of);
	switch (by) {
	case BY_UNIT:
		if (!o->unit[0])
			return "";
		if (owner_kind(o) != OWNER_UNIT && owner_kind(o) != OWNER_SESSION)
			snprintf(buf, OWNER_PART, "%s in %s", o->unit, owner_key(o));
		else
			snprintf(buf, OWNER_PART, "%s%s", o->unit, of);
		return buf;
	case BY_CONTAINER:
		name = o->container_name[0] ? o->container_name : o->container;
		len = o->container_name[0] ? OWNER_NAME : SHORT_ID;
		if (o->pod_uid[0] && *name)
			snprintf(buf, OWNER_PART, "%.*s in %s%s", len, name, owner_key(o), of);
		else
			snprintf(buf, OWNER_PART, "%.*s%s", len, name, *name ? of : "");
		return buf;
	case BY_POD:
		name = o->pod[0] ? o->pod : o->pod_uid;
		break;
	case BY_MACHINE:
		name = o->machine;
		break;
	default:
		name = "";
	}
	snprintf(buf, OWNER_PART, "%s%s", name, *name ? of : "");
	return buf;
}

const char *owner_key(const struct owner *o)
{
	switch (owner_kind(o)) {
	case OWNER_POD:
		return o->pod[0] ? o->pod : o->pod_uid;
	case OWNER_CONTAINER:
		return o->container_name[0] ? o->container_name : o->container;
	case OWNER_MACHINE:
		return o->machine;
	case OWNER_SESSION:
		return o->session;
	case OWNER_UNIT:
		return o->unit;
	default:
		return "";
	}
}

char *owner_text(const struct owner *o, char buf[OWNER_TEXT])
{
	char container[OWNER_NAME + 16] = "", unit[OWNER_NAME + 8] = "", of[OWNER_OF];

	if (o->container_name[0])
		snprintf(container, sizeof(container), "container %s", o->container_name);
	else if (o->container[0])
		snprintf(container, sizeof(container), "container %.*s", SHORT_ID, o->container);
	/* a unit inside of a container or a machine */
	if (o->unit[0])
		snprintf(unit, sizeof(unit), " · %s", o->unit);
	of_whom(o, of);
	switch (owner_kind(o)) {
	case OWNER_POD:
		snprintf(buf, OWNER_TEXT, "pod %s%s%s%s", owner_key(o), container[0] ? " · " : "",
			 container, of);
		break;
	case OWNER_CONTAINER:
		snprintf(buf, OWNER_TEXT, "%s%s%s", container, unit, of);
		break;
	case OWNER_MACHINE:
		snprintf(buf, OWNER_TEXT, "machine %s%s%s", o->machine, unit, of);
		break;
	case OWNER_SESSION:
		snprintf(buf, OWNER_TEXT, "session %s of user %u", o->session, o->user);
		break;
	default:
		snprintf(buf, OWNER_TEXT, "%s%s", o->unit, of);
	}
	return buf;
}

char *owner_text_of(const char *text, char buf[OWNER_TEXT])
{
	struct owner o;

	owner_read(&o, text);
	return owner_text(&o, buf);
}

const char *owner_words(const char *text, char buf[OWNER_TEXT])
{
	return text && *owner_text_of(text, buf) ? buf : NULL;
}
