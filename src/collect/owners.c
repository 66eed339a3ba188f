// SPDX-License-Identifier: GPL-2.0-or-later
#include "collect/owners.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/texts.h"
#include "collect/mounts.h"

#define GROUPS    65536 /* the newest; a power of two */
#define DEPTH     32
#define FILE_MOST (1 << 20) /* bytes read of a runtime's file */

struct group {
	uint32_t number, next; /* next: 1 + place of the next one in its list */
	char *path;            /* NULL once `text` is there */
	const char *text;
};

struct owners {
	int root;
	struct group group[GROUPS];
	uint32_t made;         /* number of groups ever made; group[made % GROUPS] is the oldest */
	uint32_t list[GROUPS]; /* by number: 1 + place of the newest */
	struct texts *texts;
};

/* ---- files ---- */

/* The file as a text, to be freed; NULL: it cannot be read, or is none. */
static char *read_file(int root, const char *path)
{
	int fd = openat(root, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	size_t len = 0;
	struct stat st;
	ssize_t n = 0;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode))
		text = malloc(FILE_MOST + 1);
	while (text && len < FILE_MOST && (n = read(fd, text + len, FILE_MOST - len)) > 0)
		len += n;
	if (fd >= 0)
		close(fd);
	if (text && n < 0) {
		free(text);
		return NULL;
	}
	if (text)
		text[len] = 0;
	return text;
}

/* Copies the text of a JSON string that begins behind its quote; false: it does not end, or holds
 * what no name does. */
static bool json_name(const char *at, char name[OWNER_NAME])
{
	size_t n = 0;

	for (; *at != '"'; at++) {
		if (*at == '\\' || (unsigned char)*at < ' ' || n + 1 >= OWNER_NAME)
			return false;
		name[n++] = *at;
	}
	name[n] = 0;
	return n;
}

bool owners_json(const char *json, const char *const *path, char name[OWNER_NAME])
{
	const char *value = json_find(json, path);

	return value && json_name(value, name);
}

/* ---- runtimes ---- */

/* Docker: "Name":"/web" (daemon's config.v2.json). The image's labels stand deeper. */
static bool docker_name(const struct owners *o, const struct owner *who, char name[OWNER_NAME])
{
	static const char *const key[] = {"Name", NULL};
	char path[PATH_MAX], *json;
	bool found;

	snprintf(path, sizeof(path), "var/lib/docker/containers/%s/config.v2.json", who->container);
	json = read_file(o->root, path);
	found = json && owners_json(json, key, name) && name[0] == '/' && name[1];
	if (found)
		memmove(name, name + 1, strlen(name));
	free(json);
	return found;
}

/* containerd, CRI-O: annotations of the OCI bundle's config.json. */
static bool bundle_name(const struct owners *o, const struct owner *who, char name[OWNER_NAME])
{
	static const char *const bundles[] = {
		"run/containerd/io.containerd.runtime.v2.task/k8s.io/%s/config.json",
		"run/containerd/io.containerd.runtime.v2.task/default/%s/config.json",
		"run/containers/storage/overlay-containers/%s/userdata/config.json",
		"var/lib/containers/storage/overlay-containers/%s/userdata/config.json",
	};
	static const char *const keys[][3] = {{"annotations", "io.kubernetes.cri.container-name"},
					      {"annotations", "io.kubernetes.container.name"},
					      {"annotations", "nerdctl/name"}};
	bool found = false;

	for (size_t i = 0; i < sizeof(bundles) / sizeof(*bundles) && !found; i++) {
		char path[PATH_MAX], *json;

		snprintf(path, sizeof(path), bundles[i], who->container);
		json = read_file(o->root, path);
		for (size_t k = 0; json && k < sizeof(keys) / sizeof(*keys) && !found; k++)
			found = owners_json(json, keys[k], name);
		free(json);
	}
	return found;
}

/* Podman: an entry of the storage's list, whose "names" stand behind its id. */
static bool name_in_list(const char *json, const char *container, char name[OWNER_NAME])
{
	char id[OWNER_ID + 8];
	const char *at, *names;

	snprintf(id, sizeof(id), "\"id\":\"%s\"", container);
	at = json ? strstr(json, id) : NULL;
	names = at ? strstr(at, "\"names\":[\"") : NULL;
	/* Names must belong to this entry, not to the next. */
	return names && (!strstr(at + 1, "\"id\":\"") || names < strstr(at + 1, "\"id\":\"")) &&
	       json_name(names + sizeof("\"names\":[\"") - 1, name);
}

/* Each driver of the storage that was ever used has a list of its own. */
static bool podman_name(const struct owners *o, const struct owner *who, char name[OWNER_NAME])
{
	static const char *const drivers[] = {"overlay", "vfs", "btrfs", "zfs"};
	bool found = false;

	for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers) && !found; i++) {
		char path[PATH_MAX], *json;

		snprintf(path, sizeof(path),
			 "var/lib/containers/storage/%s-containers/containers.json", drivers[i]);
		json = read_file(o->root, path);
		found = name_in_list(json, who->container, name);
		free(json);
	}
	return found;
}

static bool container_name(const struct owners *o, const struct owner *who, char name[OWNER_NAME])
{
	/* Some of its versions copy the image's annotations into the bundle. */
	if (who->runtime && !strcmp(who->runtime, "podman"))
		return podman_name(o, who, name);
	return docker_name(o, who, name) || bundle_name(o, who, name) || podman_name(o, who, name);
}

/* The kubelet's folder of a pod's logs: NAMESPACE_NAME_UID (pkg/kubelet/kuberuntime). */
static bool pod_name(const struct owners *o, const struct owner *who, char name[OWNER_NAME])
{
	int fd = openat(o->root, "var/log/pods", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t uid = strlen(who->pod_uid);
	const struct dirent *d;
	bool found = false;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && !found && (d = readdir(dir))) {
		size_t len = strlen(d->d_name);
		const char *under = strchr(d->d_name, '_');

		if (len < uid + 3 || !under || d->d_name[len - uid - 1] != '_' ||
		    strcmp(d->d_name + len - uid, who->pod_uid) ||
		    under >= d->d_name + len - uid - 1 || len - uid - 1 >= OWNER_NAME)
			continue;
		snprintf(name, OWNER_NAME, "%.*s/%.*s", (int)(under - d->d_name), d->d_name,
			 (int)(len - uid - 2 - (under - d->d_name)), under + 1);
		found = !strchr(name, '\n');
	}
	if (dir)
		closedir(dir);
	return found;
}

/* ---- groups ---- */

void owners_made(struct owners *o, uint32_t number, const char *path)
{
	uint32_t at = o->made++ % GROUPS, *list = &o->list[number % GROUPS];
	struct group *g = &o->group[at];

	if (g->number || g->path) { /* the oldest goes */
		uint32_t *link = &o->list[g->number % GROUPS];

		while (*link && *link != at + 1)
			link = &o->group[*link - 1].next;
		if (*link)
			*link = g->next;
		free(g->path);
	}
	*g = (struct group){.number = number, .next = *list, .path = strdup(path)};
	*list = at + 1;
}

/* The path and what the runtime's files say, as owner_read() takes it. */
static const char *describe(struct owners *o, const char *path)
{
	char text[PATH_MAX + 3 * OWNER_NAME], name[OWNER_NAME];
	struct owner who;
	bool ask;
	int len = snprintf(text, PATH_MAX, "%s", path);

	if (len >= PATH_MAX || strchr(path, '\n'))
		return NULL;
	owner_read(&who, path);
	/* These files are root's: no user's container is in them, whatever it is called. */
	ask = !who.users || !who.user;
	if (ask && who.pod_uid[0] && pod_name(o, &who, name))
		len += snprintf(text + len, sizeof(text) - len, "\npod=%s", name);
	if (ask && who.container[0] && !who.container_name[0] && container_name(o, &who, name))
		len += snprintf(text + len, sizeof(text) - len, "\ncontainer=%s", name);
	return texts_keep(o->texts, text, len);
}

const char *owners_text(struct owners *o, uint32_t number)
{
	uint32_t at = o->list[number % GROUPS];
	struct group *g;

	while (at && o->group[at - 1].number != number)
		at = o->group[at - 1].next;
	if (!at)
		return NULL;
	g = &o->group[at - 1];
	if (g->path) {
		g->text = describe(o, g->path);
		free(g->path);
		g->path = NULL;
	}
	return g->text;
}

bool owners_lack(const struct owners *o)
{
	return texts_lack(o->texts);
}

/* Takes the folder that `fd` is of, which it closes, and all below it. path: the group's, with room
 * for more. */
static void walk(struct owners *o, int fd, char path[PATH_MAX], int depth)
{
	DIR *dir = fdopendir(fd);
	size_t len = strlen(path);
	const struct dirent *d;
	struct stat st;

	if (!dir) {
		close(fd);
		return;
	}
	if (!fstat(fd, &st))
		owners_made(o, (uint32_t)st.st_ino, len ? path : "/");
	while (depth && (d = readdir(dir))) {
		if (d->d_type != DT_DIR || d->d_name[0] == '.' ||
		    len + strlen(d->d_name) + 2 > PATH_MAX)
			continue;
		snprintf(path + len, PATH_MAX - len, "/%s", d->d_name);
		fd = openat(dirfd(dir), d->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0)
			walk(o, fd, path, depth - 1);
		path[len] = 0;
	}
	closedir(dir);
}

static const char *const controllers[] = {
	[OWNERS_PIDS] = "pids", [OWNERS_MEMORY] = "memory", [OWNERS_CPU] = "cpu"};
/* The best first. */
static const enum owners_in order[] = {OWNERS_PIDS, OWNERS_MEMORY, OWNERS_CPU, OWNERS_UNIFIED};

/* Looks for this kind of hierarchy. True: it is mounted. */
static bool find_mount(int root, struct hierarchy *h, enum owners_in in)
{
	char folder[sizeof(h->mount) + 1];
	bool found = in == OWNERS_UNIFIED
			     ? mounts_find(root, "cgroup2", NULL, folder, sizeof(folder))
			     : mounts_find(root, "cgroup", controllers[in], folder, sizeof(folder));

	if (found) {
		h->in = in;
		snprintf(h->mount, sizeof(h->mount), "%s", folder + (folder[0] == '/'));
	}
	return found;
}

/* The hierarchy's id from a table: name, id, ... (cgroups(7)). */
static unsigned hierarchy_id(const char *table, const char *controller)
{
	size_t len = strlen(controller);

	for (const char *line = table; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, controller, len) && line[len] == '\t')
			return strtoul(line + len, NULL, 10);
	}
	return 0;
}

void owners_find(int root, struct hierarchy *h)
{
	char *text;

	*h = (struct hierarchy){.in = OWNERS_NOWHERE};
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (find_mount(root, h, order[i]))
			break;
	if (h->in == OWNERS_NOWHERE || !controllers[h->in])
		return;
	text = read_file(root, "proc/cgroups");
	h->id = text ? hierarchy_id(text, controllers[h->in]) : 0;
	free(text);
	if (!h->id)
		h->in = OWNERS_NOWHERE;
}

const struct hierarchy *owners_hierarchy(void)
{
	static struct hierarchy h;
	static bool known;
	int root = known ? -1 : open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (root >= 0) {
		owners_find(root, &h);
		close(root);
	}
	known = true;
	return &h;
}

struct owners *owners_new(int root, const struct hierarchy *h)
{
	struct owners *o = calloc(1, sizeof(*o));
	char path[PATH_MAX] = "";
	int fd;

	if (!o)
		return NULL;
	o->root = root;
	o->texts = texts_new(TEXTS_BYTES);
	if (!o->texts) {
		free(o);
		return NULL;
	}
	fd = h->in == OWNERS_NOWHERE ? -1
				     : openat(root, h->mount, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		walk(o, fd, path, DEPTH);
	return o;
}

void owners_free(struct owners *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; i < GROUPS; i++)
		free(o->group[i].path);
	texts_free(o->texts);
	free(o);
}
