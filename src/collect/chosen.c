/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/chosen.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/now.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/machine_watch.h"
#include "collect/mounts.h"
#include "collect/units.h"

#define LOOK_NS   (100 * NSEC_PER_MSEC)
#define SEARCH_NS NSEC_PER_SEC
#define SPARE     100 /* a search takes so small a part of a CPU where there are many cgroups */

struct chosen {
	const char *name;
	bool unit;
	bool doubted; /* said: it is not the system's */
	struct unit at;
	uint64_t search_ns; /* when to look again */
};

struct choice {
	struct probes *probes;
	bool by_name;        /* processes are chosen by their names */
	bool left_out;       /* some of those that were there had no place */
	char root[PATH_MAX]; /* folder of the unified hierarchy */
	struct chosen group[CHOICE_GROUPS];
	uint32_t ngroups;
	const char *glob[CHOICE_GROUPS]; /* globs for units */
	uint32_t nglobs;
	struct units units;
	bool too_many;              /* said: not all that fit are watched */
	uint64_t search_ns;         /* when to look for units again */
	uint64_t id[CHOICE_GROUPS]; /* as the probes know them */
	uint64_t looked_ns;
	struct machine machine[CHOICE_VCPUS];
	uint32_t nmachines;
};

int choice_glob(struct name_glob *to, const char *glob)
{
	uint32_t state = 0;

	memset(to, 0, sizeof(*to));
	for (; *glob; glob++) {
		if (*glob == '*') {
			to->loop |= 1u << state;
			continue;
		}
		if (state == GLOB_TOKENS)
			return -EINVAL;
		to->accept[(unsigned char)*glob] |= 1u << state++;
	}
	to->end = 1u << state;
	return 0;
}

/* ---- cgroups ---- */

static bool find_root(char root[PATH_MAX])
{
	return mounts_find(-1, "cgroup2", NULL, root, PATH_MAX);
}

bool choice_has_cgroups(void)
{
	char root[PATH_MAX];

	return find_root(root);
}

/* Number of the cgroup as the kernel counts them; 0: there is none. */
static uint64_t number_of(const char *path)
{
	struct stat st;

	return path[0] && !stat(path, &st) ? st.st_ino : 0;
}

/* When to search again after one for which this thread's time on a CPU was `began` at its begin:
 * all cgroups are looked at. */
static uint64_t next_search(uint64_t now, uint64_t began)
{
	uint64_t spared = SPARE * (clock_ns(CLOCK_THREAD_CPUTIME_ID) - began);

	return now + (spared > SEARCH_NS ? spared : SEARCH_NS);
}

static void look_for_unit(struct choice *c, struct chosen *g, uint64_t now)
{
	uint64_t began = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	unit_look(&g->at, c->root, g->name);
	g->search_ns = next_search(now, began);
	if (g->doubted || g->at.of_system || !g->at.path[0])
		return;
	g->doubted = true;
	say("--unit %s: the system's slices have none, so while they do not one elsewhere is "
	    "watched, as users and containers can make it, now %s; --cgroup chooses one by its "
	    "path",
	    g->name, g->at.path + strlen(c->root));
}

/* The same of one that may have to be looked for. */
static uint64_t id_of(struct choice *c, struct chosen *g, uint64_t now)
{
	uint64_t id = number_of(g->at.path);

	if (!g->unit || (id && g->at.of_system) || now < g->search_ns)
		return id;
	look_for_unit(c, g, now);
	return number_of(g->at.path);
}

/* Units that fit globs have the places behind those of the others. */
static void look_for_units(struct choice *c, uint64_t now)
{
	uint64_t began;

	if (!c->nglobs || now < c->search_ns)
		return;
	began = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	c->units.max = CHOICE_GROUPS - c->ngroups;
	units_look(&c->units, c->root, c->glob, c->nglobs);
	c->search_ns = next_search(now, began);
	if (c->units.left_out && !c->too_many)
		say("%u more units fit --unit than the %d that can be watched at a time: these "
		    "wait until one of those ends",
		    c->units.left_out, c->units.max);
	c->too_many |= c->units.left_out;
}

static void look_at_groups(struct choice *c, uint64_t now)
{
	uint64_t id[CHOICE_GROUPS] = {0};

	look_for_units(c, now);
	for (uint32_t i = 0; i < c->ngroups; i++)
		id[i] = id_of(c, &c->group[i], now);
	for (uint32_t i = 0; i < c->units.max; i++)
		id[c->ngroups + i] = number_of(c->units.path[i]);
	if (!memcmp(id, c->id, sizeof(id)))
		return;
	memcpy(c->id, id, sizeof(id));
	probes_watch_groups(c->probes, id);
}

static void add_group(struct choice *c, const char *name, bool unit)
{
	struct chosen *g = &c->group[c->ngroups];
	size_t n = strlen(c->root);

	if (c->ngroups == CHOICE_GROUPS)
		return;
	c->ngroups++;
	g->name = name;
	g->unit = unit;
	if (!unit)
		snprintf(g->at.path, sizeof(g->at.path), "%s%s%s",
			 strncmp(name, c->root, n) ? c->root : "", *name == '/' ? "" : "/", name);
}

/* ---- processes ---- */

/* By its name, which it has since before the programs were attached. */
static void watch_process(struct choice *c, int32_t pid)
{
	uint64_t one = 1;

	c->left_out |= bpf_map_update_elem(probes_watched(c->probes, false), &pid, &one, BPF_ANY);
}

void choice_tell(const struct choice *c, struct run *run)
{
	const int map = probes_watched(c->probes, false);
	uint64_t left_out = 0, deep;

	if (run->cut_short[0])
		return;
	if (c->by_name)
		bpf_map_lookup_elem(map, &(int32_t){0}, &left_out);
	if (left_out || c->left_out)
		snprintf(run->cut_short, sizeof(run->cut_short),
			 "some processes that fit --comm were not watched: there is room for %d at "
			 "a time",
			 CHOICE_LIVE);
	else if (!bpf_map_lookup_elem(map, &(int32_t){CHOICE_DEEP}, &deep))
		snprintf(run->cut_short, sizeof(run->cut_short),
			 "threads ran in cgroups %d deep and more: whether these are below the "
			 "chosen ones was not looked at, and they were not watched",
			 CHOICE_DEPTH);
}

static void look_at_processes(struct choice *c, const struct watched *w)
{
	struct name_glob glob[CHOICE_GLOBS];
	char path[64], name[16];
	struct dirent *e;
	int n = 0;
	DIR *d;

	c->by_name = w->comm[0];
	if (c->by_name)
		c->left_out = bpf_map_update_elem(probes_watched(c->probes, false), &(int32_t){0},
						  &(uint64_t){0}, BPF_ANY);
	for (; n < CHOICE_GLOBS && w->comm[n]; n++)
		choice_glob(&glob[n], w->comm[n]);
	d = n ? opendir("/proc") : NULL;
	while (d && (e = readdir(d))) {
		bool takes = false;
		FILE *f;

		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/comm", e->d_name);
		f = fopen(path, "re");
		memset(name, 0, sizeof(name));
		if (!f)
			continue;
		/* a worker's tells more than its name, and may be longer */
		if (fread(name, 1, sizeof(name) - 1, f))
			name[strcspn(name, "\n")] = '\0';
		fclose(f);
		for (int i = 0; i < n; i++)
			takes |= glob_takes(&glob[i], name, sizeof(name));
		if (takes)
			watch_process(c, atoi(e->d_name));
	}
	if (d)
		closedir(d);
}

/* ---- all of them ---- */

void choice_look(struct choice *c, struct run *run, uint64_t now)
{
	for (uint32_t i = 0; i < c->nmachines; i++)
		machine_look(&c->machine[i], probes_watched(c->probes, true), now);
	if (c->looked_ns && now - c->looked_ns < LOOK_NS)
		return;
	c->looked_ns = now;
	if (c->ngroups || c->nglobs)
		look_at_groups(c, now);
	if (run)
		choice_tell(c, run);
}

struct choice *choice_new(struct probes *probes, const struct watched *w)
{
	struct choice *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->probes = probes;
	if (!find_root(c->root))
		c->root[0] = 0;
	for (int i = 0; w->unit[i]; i++)
		if (unit_is_glob(w->unit[i]))
			c->glob[c->nglobs++] = w->unit[i];
		else
			add_group(c, w->unit[i], true);
	for (int i = 0; w->cgroup[i]; i++)
		add_group(c, w->cgroup[i], false);
	for (int i = 0; w->vcpus[i]; i++)
		c->machine[c->nmachines++] = machine_of(w->vcpus[i]);
	for (uint32_t i = 0; i < c->nmachines; i++) /* all look in the same poll */
		c->machine[i].search.wait_ns = VCPUS_WAIT_NS / c->nmachines;
	look_at_processes(c, w);
	choice_look(c, NULL, 1);
	c->looked_ns = 0;
	return c;
}

void choice_free(struct choice *c)
{
	for (uint32_t i = 0; c && i < c->nmachines; i++)
		machine_end(&c->machine[i]);
	free(c);
}
