/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/knob_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "collect/knob_file.h"
#include "model/knob.h"

#define PF_NO_SETAFFINITY 0x04000000u /* include/linux/sched.h */

int knob_thread_read(const char *root, unsigned tid, struct knob_thread *t)
{
	char path[64], text[KNOB_VALUE], *end, *begin;
	unsigned flags;
	int err;

	snprintf(path, sizeof(path), "/proc/%u/stat", tid);
	err = knob_read(root, path, text);
	if (err)
		return err;
	begin = strchr(text, '(');
	end = strrchr(text, ')'); /* a thread may have any in its name */
	if (!begin || !end || end < begin ||
	    sscanf(end + 1,
		   " %*c %*d %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
		   "%llu",
		   &flags, &t->born) != 2)
		return -EINVAL;
	t->bound = flags & PF_NO_SETAFFINITY;
	*end = 0;
	snprintf(t->name, sizeof(t->name), "%s", begin + 1);
	return 0;
}

int knob_cpus_read(const char *root, unsigned tid, char *text)
{
	static const char key[] = "Cpus_allowed_list:";
	int fd, err = -EINVAL;
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	fd = knob_open(root, path, O_RDONLY);
	if (fd < 0)
		return fd;
	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return -ENOMEM;
	}
	/* Other lines may be long: a process may be in 65,536 groups. */
	while (err == -EINVAL && getline(&line, &size, f) > 0) {
		const char *list = line + strlen(key);
		size_t len;

		if (strncmp(line, key, strlen(key)))
			continue;
		list += strspn(list, " \t");
		len = strcspn(list, "\n");
		err = len < KNOB_VALUE ? 0 : -EFBIG;
		if (!err)
			snprintf(text, KNOB_VALUE, "%.*s", (int)len, list);
	}
	if (ferror(f))
		err = -ESRCH; /* ended meanwhile */
	free(line);
	fclose(f);
	return err;
}

static bool parse(const char *list, struct cpus *cpus)
{
	char why[256];

	return !cpus_parse(list, cpus, why, sizeof(why));
}

int knob_cpus_write(unsigned tid, const char *list)
{
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
	cpu_set_t *set = CPU_ALLOC(CPUS_MAX);
	struct cpus cpus;
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	if (!parse(list, &cpus))
		err = -EINVAL;
	for (int i = err ? -1 : cpus_next(&cpus, 0); i >= 0; i = cpus_next(&cpus, i + 1))
		CPU_SET_S(i, size, set);
	if (!err && sched_setaffinity((pid_t)tid, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

/* False: it is not known. */
static bool read_online(const char *root, struct cpus *online)
{
	char text[KNOB_VALUE];

	return !knob_read(root, "/sys/devices/system/cpu/online", text) && parse(text, online) &&
	       !cpus_empty(online);
}

bool knob_cpus_same(const char *root, const char *a, const char *b)
{
	struct cpus x, y, online;

	if (!strcmp(a, b))
		return true;
	if (!parse(a, &x) || !parse(b, &y) || !read_online(root, &online))
		return false;
	cpus_and(&x, &online);
	cpus_and(&y, &online);
	return cpus_cover(&x, &y) && cpus_cover(&y, &x);
}

bool knob_cpus_within(const char *list, const char *in)
{
	struct cpus x, y;

	return parse(list, &x) && parse(in, &y) && cpus_cover(&y, &x);
}

bool knob_cpus_offline(const char *root, const char *list)
{
	struct cpus cpus, online;

	if (!parse(list, &cpus) || !read_online(root, &online))
		return false;
	cpus_and(&cpus, &online);
	return cpus_empty(&cpus);
}
