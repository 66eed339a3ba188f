/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/tracepoint.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/confine.h"

static FILE *open_format(const char *tracepoint)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char path[192];
	FILE *f = NULL;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && !f; i++) {
		snprintf(path, sizeof(path), "%s/events/%s/format", places[i], tracepoint);
		f = fopen(path, "re");
	}
	return f;
}

/* Takes "	field:unsigned int exit_reason;	offset:8;	size:4;	signed:0;". */
static int offset_in(const char *line, const char *field, uint32_t size)
{
	const char *name, *end = strchr(line, ';'), *more;
	unsigned offset, bytes;

	if (!end || sscanf(line, " field:%*[^;]; offset:%u; size:%u;", &offset, &bytes) != 2)
		return -ENOENT;
	for (name = end; name > line && name[-1] != ' '; name--)
		;
	more = name + strlen(field);
	if (strncmp(name, field, strlen(field)) || more != end || (size && bytes != size))
		return -ENOENT;
	return offset;
}

int tracepoint_field(const char *tracepoint, const char *field, uint32_t size)
{
	uint64_t lent = confine_raise(RIGHTS_TO_READ);
	FILE *f = open_format(tracepoint);
	int offset = f ? -ENOENT : -errno;
	char line[512];

	confine_lower(lent);
	while (f && offset < 0 && fgets(line, sizeof(line), f))
		offset = offset_in(line, field, size);
	if (f)
		fclose(f);
	return offset;
}
