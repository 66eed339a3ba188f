/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/queue_places.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/cpus.h"
#include "base/say.h"
#include "base/units.h"

#define LINE_LEN 512
#define PREFIX   "perf.workshop."

static char *trim(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	for (len = strlen(text); len && isspace((unsigned char)text[len - 1]); len--)
		text[len - 1] = '\0';
	return text;
}

/* The role behind "affinity."; QUEUE_ROLES: it is another name. */
static int role_of(const char *name)
{
	int role = 0;

	if (strncmp(name, "affinity.", strlen("affinity.")))
		return QUEUE_ROLES;
	while (role < QUEUE_ROLES && strcmp(name + strlen("affinity."), queue_role_names[role]))
		role++;
	return role;
}

/* Takes a line without its end. 0, or -1 with the reason in why. */
static int take_line(char *line, long place[QUEUE_ROLES], char *why, size_t whylen)
{
	char *name = trim(line), *value = strchr(name, '=');
	long cpu;
	int role;

	if (!*name || *name == '#' || *name == '!')
		return 0;
	if (!value) {
		snprintf(why, whylen, "'%.60s' has no '='", name);
		return -1;
	}
	*value++ = '\0';
	name = trim(name);
	value = trim(value);
	if (!strncmp(name, PREFIX, strlen(PREFIX)))
		name += strlen(PREFIX);
	if (!strcmp(name, "journaller.enabled")) {
		if (!strcmp(value, "false"))
			place[QUEUE_JOURNALLER] = PLACE_NONE;
		if (!strcmp(value, "false") || !strcmp(value, "true"))
			return 0;
		snprintf(why, whylen, "'%.60s' is neither true nor false", value);
		return -1;
	}
	role = role_of(name);
	if (role == QUEUE_ROLES) {
		snprintf(why, whylen,
			 "'%.60s' is not affinity.producer, affinity.accumulator, "
			 "affinity.journaller or journaller.enabled",
			 name);
		return -1;
	}
	if (parse_integer(value, 0, CPUS_MAX - 1, &cpu, why, whylen))
		return -1;
	if (place[role] != PLACE_NONE)
		place[role] = cpu;
	return 0;
}

int queue_places(const char *path, long cpu[QUEUE_ROLES])
{
	long place[QUEUE_ROLES] = {PLACE_NOT_GIVEN, PLACE_NOT_GIVEN, PLACE_NOT_GIVEN};
	char line[LINE_LEN], why[256];
	unsigned number = 0;
	int err = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		return complain("--places: cannot read %s: %s", path, strerror(errno));
	while (!err && fgets(line, sizeof(line), f)) {
		number++;
		if (!strchr(line, '\n') && !feof(f))
			err = complain("--places: line %u of %s is too long", number, path);
		else if (take_line(line, place, why, sizeof(why)))
			err = complain("--places: line %u of %s: %s", number, path, why);
	}
	if (!err && ferror(f))
		err = complain("--places: cannot read %s: %s", path, strerror(errno));
	fclose(f);
	for (int role = 0; !err && role < QUEUE_ROLES; role++)
		if (cpu[role] == PLACE_NOT_GIVEN)
			cpu[role] = place[role];
	return err;
}
