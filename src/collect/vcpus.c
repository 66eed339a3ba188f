/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/vcpus.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/through.h"

#define LINE_MOST 8192 /* bytes of a command line in which the name is looked for */

int32_t vcpus_pid(const char *text)
{
	return text[strspn(text, "0123456789")] || strlen(text) > 7 ? 0 : atoi(text);
}

/* True for "NAME", "guest=NAME" and these with more behind a comma. */
static bool names(const char *value, const char *name)
{
	size_t n = strlen(name);

	if (!strncmp(value, "guest=", 6))
		value += 6;
	return !strncmp(value, name, n) && (!value[n] || value[n] == ',');
}

static bool is_called(const char *pid, const char *name)
{
	char path[64], line[LINE_MOST + 1];
	bool next = false, found = false;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(line, 1, LINE_MOST, f);
	fclose(f);
	line[n] = 0;
	for (const char *word = line; word < line + n && !found; word += strlen(word) + 1) {
		found = next && names(word, name);
		next = !strcmp(word, "-name") || !strcmp(word, "--id");
	}
	return found;
}

int32_t vcpus_machine(const char *name)
{
	DIR *d = opendir("/proc");
	int32_t least = 0, tid;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		int32_t pid = isdigit((unsigned char)e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid && (!least || pid < least) && is_called(e->d_name, name) &&
		    vcpus_threads(pid, &tid, 1) > 0)
			least = pid;
	}
	if (d)
		closedir(d);
	return least;
}

int vcpus_threads(int32_t pid, int32_t *tid, int max)
{
	char path[64], comm[32];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	if (!d)
		return -1;
	while (n < max && (e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/comm", pid, e->d_name);
		f = isdigit((unsigned char)e->d_name[0]) ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f)) {
			comm[strcspn(comm, "\n")] = 0;
			if (through_vcpu(comm) >= 0)
				tid[n++] = atoi(e->d_name);
		}
		fclose(f);
	}
	closedir(d);
	return n;
}
