/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/line_of_file.h"

#include <stdio.h>
#include <string.h>

bool line_of_file(const char *path, char *buf, size_t len)
{
	FILE *f = fopen(path, "re");

	buf[0] = 0;
	if (!f)
		return false;
	if (!fgets(buf, len, f))
		buf[0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	fclose(f);
	return buf[0];
}
