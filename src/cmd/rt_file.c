/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/rt_file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"

enum { SYSNAME, RELEASE, VERSION, MACHINE, START, END };

int rt_file_open(struct rt_file *f)
{
	int err = f->path && strcmp(f->path, "-") ? newfile_open(&f->file, f->path) : 0;

	f->open = f->path && strcmp(f->path, "-") && !err;
	return err ? complain("cannot write to %s: %s; choose another file for the JSON", f->path,
			      newfile_error(err))
		   : 0;
}

/* The words of our own command line. */
static void read_command(char *command, size_t len)
{
	FILE *in = fopen("/proc/self/cmdline", "re");
	size_t n = in ? fread(command, 1, len - 1, in) : 0;

	if (in)
		fclose(in);
	while (n && !command[n - 1])
		n--;
	for (size_t i = 0; i < n; i++)
		if (!command[i])
			command[i] = ' ';
	command[n] = '\0';
}

static void write_time(char text[256], time_t at)
{
	struct tm tm;

	localtime_r(&at, &tm);
	strftime(text, 256, "%a, %d %b %Y %T %z", &tm);
}

/* The NUMA node of a CPU, or 0, as rt-tests says it of a machine without. */
static int node_of(unsigned cpu)
{
	char path[64];
	struct dirent *e;
	int node = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	dir = opendir(path);
	while (dir && (e = readdir(dir)))
		if (!strncmp(e->d_name, "node", 4) && isdigit((unsigned char)e->d_name[4]))
			node = atoi(e->d_name + 4);
	if (dir)
		closedir(dir);
	return node;
}

FILE *rt_file_begin(struct rt_file *f, const struct view *v, const struct limits *limits)
{
	time_t now = time(NULL);
	struct utsname u;

	if (!f->path)
		return NULL;
	if (!uname(&u)) {
		snprintf(f->texts[SYSNAME], sizeof(f->texts[0]), "%s", u.sysname);
		snprintf(f->texts[RELEASE], sizeof(f->texts[0]), "%s", u.release);
		snprintf(f->texts[VERSION], sizeof(f->texts[0]), "%s", u.version);
		snprintf(f->texts[MACHINE], sizeof(f->texts[0]), "%s", u.machine);
	}
	write_time(f->texts[START], now - (time_t)((now_ns() - v->run.started_ns) / NSEC_PER_SEC));
	write_time(f->texts[END], now);
	read_command(f->command, sizeof(f->command));
	f->test = (struct rt_test){
		.command = f->command,
		.start = f->texts[START],
		.end = f->texts[END],
		.sysname = f->texts[SYSNAME],
		.release = f->texts[RELEASE],
		.version = f->texts[VERSION],
		.machine = f->texts[MACHINE],
		.realtime = !access("/sys/kernel/realtime", F_OK),
		.return_code = v->run.incomplete[0] ? EXIT_INCOMPLETE
			       : limits->stopped    ? EXIT_CROSSED
						    : EXIT_OK,
		.node = node_of,
	};
	return f->open ? f->file.file : stdout;
}

int rt_file_end(struct rt_file *f, int err)
{
	f->whole = !err;
	return err ? complain("cannot write %s: %s", f->path, strerror(-err)) : 0;
}

int rt_file_close(struct rt_file *f)
{
	int err = f->open ? newfile_close(&f->file, f->whole) : 0;

	if (f->whole && !f->open && (fflush(stdout) || ferror(stdout)))
		err = errno ? -errno : -EIO;
	f->open = f->whole = false;
	return err ? complain("writing %s: %s", f->path, newfile_error(err)) : 0;
}
