/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/units.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"

#define DEPTH   16 /* depth of cgroups in which a unit is looked for */
#define SERVICE ".service"
#define SLICE   ".slice"

bool unit_is_glob(const char *unit)
{
	return strchr(unit, '*');
}

/* ---- the folders of one ---- */

/* The next group in d, whose name is put behind the n bytes of path; NULL: that was the last. */
static const char *next_group(DIR *d, char path[PATH_MAX], size_t n)
{
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (e->d_type != DT_DIR || e->d_name[0] == '.' ||
		    n + 1 + strlen(e->d_name) >= PATH_MAX)
			continue;
		path[n] = '/';
		return strcpy(path + n + 1, e->d_name);
	}
	path[n] = '\0';
	return NULL;
}

/* ---- one unit ---- */

/* "ssh" is the unit ssh.service. */
static bool is_unit(const char *group, const char *unit)
{
	size_t n = strlen(unit);

	return !strncmp(group, unit, n) &&
	       (!group[n] || (!strchr(unit, '.') && !strcmp(group + n, SERVICE)));
}

static bool ends_with(const char *group, const char *end)
{
	size_t n = strlen(group);

	return n > strlen(end) && !strcmp(group + n - strlen(end), end);
}

/* Looks below path, which has room for PATH_MAX bytes and is left as it was. Returns at which depth
 * below it the unit is; `limit`: there is none above that. */
static unsigned search(char *path, const char *unit, bool slices, unsigned limit, char *found)
{
	size_t n = strlen(path);
	DIR *d = limit > 1 ? opendir(path) : NULL;
	const char *group;

	while (limit > 1 && (group = next_group(d, path, n))) {
		if (is_unit(group, unit)) {
			strcpy(found, path);
			limit = 1;
		} else if (!slices || ends_with(group, SLICE)) {
			limit = 1 + search(path, unit, slices, limit - 1, found);
		}
	}
	path[n] = '\0';
	if (d)
		closedir(d);
	return limit;
}

static bool find(const char *root, const char *unit, bool slices, char found[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s", root);
	return search(path, unit, slices, DEPTH + 1, found) <= DEPTH;
}

static bool is_there(const char *path)
{
	return path[0] && !access(path, F_OK);
}

void unit_look(struct unit *u, const char *root, const char *name)
{
	if (u->of_system && is_there(u->path))
		return;
	if (find(root, name, true, u->path))
		u->of_system = true;
	else if (!u->of_system && !is_there(u->path))
		find(root, name, false, u->path);
}

/* ---- those that fit a glob ---- */

static bool ends_like_unit(const char *group)
{
	static const char *const ends[] = {SERVICE, ".scope", SLICE, ".socket", ".mount", ".swap"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends_with(group, ends[i]))
			return true;
	return false;
}

static bool fits(const char *group, const char *glob)
{
	char whole[2 * NAME_MAX];

	if (!ends_like_unit(group))
		return false;
	snprintf(whole, sizeof(whole), "%s" SERVICE, glob);
	return glob_fits(glob, group, 0) || glob_fits(whole, group, 0);
}

static bool fits_one(const char *group, const char *const *globs, uint32_t n)
{
	bool one = false;

	for (uint32_t i = 0; i < n; i++)
		one |= fits(group, globs[i]);
	return one;
}

static void take(struct units *u, const char *path)
{
	uint32_t place = u->max;

	for (uint32_t i = u->max; i--;) {
		if (!strcmp(u->path[i], path))
			return;
		if (!u->path[i][0])
			place = i;
	}
	if (place < u->max)
		strcpy(u->path[place], path);
	else
		u->left_out++;
}

static void look_below(struct units *u, char *path, unsigned deep, const char *const *globs,
		       uint32_t n)
{
	size_t len = strlen(path);
	DIR *d = deep ? opendir(path) : NULL;
	const char *group;

	while ((group = next_group(d, path, len)))
		if (fits_one(group, globs, n))
			take(u, path);
		else
			look_below(u, path, deep - 1, globs, n);
	if (d)
		closedir(d);
}

void units_look(struct units *u, const char *root, const char *const *globs, uint32_t n)
{
	char path[PATH_MAX];
	struct stat st;

	for (uint32_t i = 0; i < u->max; i++)
		if (u->path[i][0] && stat(u->path[i], &st))
			u->path[i][0] = '\0';
	u->left_out = 0;
	snprintf(path, sizeof(path), "%s", root);
	if (n)
		look_below(u, path, DEPTH, globs, n);
}
