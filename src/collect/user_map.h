/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file in which a process tells the functions that it makes (base/perf_map.h, base/jitdump.h).
 */
#ifndef CULPRIT_USER_MAP_H
#define CULPRIT_USER_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "collect/user_open.h"
#include "user.h"

#define USER_MAP_NAME 256 /* bytes of a path that are looked at */

/* A jitdump file is found by its mapping, which is there for that. */
struct user_dump {
	unsigned long long begin, end; /* the mapping's; 0: there is none */
	dev_t device;
	char name[USER_MAP_NAME]; /* as the process sees it */
	uint32_t
		own; /* number of the process there; 0: nobody has looked, as it has no such file */
};

/* True when the path of a mapping is that of the process's own jitdump file: jit-PID.dump. One of
 * another number came from the process that forked it. That number is looked up once for all
 * mappings. */
bool user_map_is_dump(struct user_dump *dump, uint32_t process, const char *path);

/* Opens it where the process sees it, the one that is mapped before the other: a file of the
 * process's user that not everybody may write, written since the process began. Returns the file,
 * which is the caller's until user_close(), with its name there (the end of a longer one) and what
 * it is; -ETIME: it took too long; -errno: there is none. devices->at: where it is, or what took
 * too long. */
int user_map_open(const struct user_stack *u, const struct user_dump *dump,
		  struct user_devices *devices, char *name, size_t len, struct stat *st);

#endif
