// SPDX-License-Identifier: GPL-2.0-or-later
#include "model/owner.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Part of a text. */
struct part {
	const char *at;
	size_t len;
};

static void copy(char *to, size_t room, struct part p)
{
	if (p.len >= room)
		p.len = room - 1;
	memcpy(to, p.at, p.len);
	to[p.len] = 0;
}

static bool is(struct part p, const char *text)
{
	return p.len == strlen(text) && !memcmp(p.at, text, p.len);
}

/* Takes `text` from its begin or its end; false: it is not there, and p stays. */
static bool cut_begin(struct part *p, const char *text)
{
	size_t n = strlen(text);

	if (p->len < n || memcmp(p->at, text, n))
		return false;
	*p = (struct part){p->at + n, p->len - n};
	return true;
}

static bool cut_end(struct part *p, const char *text)
{
	size_t n = strlen(text);

	if (p->len < n || memcmp(p->at + p->len - n, text, n))
		return false;
	p->len -= n;
	return true;
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool all_hex(struct part p, size_t len)
{
	for (size_t i = 0; i < p.len; i++)
		if (hex(p.at[i]) < 0)
			return false;
	return p.len == len;
}

/* The id that every OCI runtime here gives its containers: 64 digits. */
static bool is_id(struct part p)
{
	return all_hex(p, 64);
}

/* Undoes systemd's "\x2d" (systemd-escape). */
static struct part unescaped(struct part p, char *buf, size_t room)
{
	size_t n = 0;

	for (size_t i = 0; i < p.len && n < room; i++) {
		if (i + 3 < p.len && p.at[i] == '\\' && p.at[i + 1] == 'x' &&
		    hex(p.at[i + 2]) >= 0 && hex(p.at[i + 3]) >= 0) {
			buf[n++] = (char)(hex(p.at[i + 2]) << 4 | hex(p.at[i + 3]));
			i += 3;
		} else {
			buf[n++] = p.at[i];
		}
	}
	return (struct part){buf, n};
}

/* True below the group of a user's own manager, where the user makes groups of any name. */
static bool in_manager(const struct owner *o)
{
	return o->users || (o->user_known && !o->container[0] && !o->machine[0] && !o->pod_uid[0] &&
			    (o->of_user || !strncmp(o->unit, "user@", 5)));
}

static void contained(struct owner *o, const char *runtime, struct part id)
{
	o->users = in_manager(o);
	o->runtime = runtime;
	copy(o->container, sizeof(o->container), id);
	/* Folders outside of it belong to the runtime, or to a container around it. */
	o->unit[0] = o->container_name[0] = o->machine[0] = o->session[0] = 0;
}

/* "docker-ID", "cri-containerd-ID", and an ID alone below the folder of a runtime. */
static bool take_container(struct owner *o, struct part p, struct part above)
{
	static const struct {
		const char *prefix, *folder, *runtime;
	} runtimes[] = {
		{"docker-", "docker", "docker"},        {"cri-containerd-", "k8s.io", "containerd"},
		{"nerdctl-", "nerdctl", "containerd"},  {"crio-", "crio", "cri-o"},
		{"libpod-", "libpod_parent", "podman"},
	};

	cut_end(&p, ".scope");
	for (size_t i = 0; i < COUNT(runtimes); i++) {
		struct part id = p;

		if ((cut_begin(&id, runtimes[i].prefix) || is(above, runtimes[i].folder)) &&
		    is_id(id)) {
			contained(o, runtimes[i].runtime, id);
			return true;
		}
	}
	if (!is_id(p))
		return false;
	contained(o, NULL, p);
	return true;
}

static bool take_lxc(struct owner *o, struct part p, struct part above)
{
	if (!cut_begin(&p, "lxc.payload.") && !is(above, "lxc"))
		return false;
	contained(o, "lxc", p);
	copy(o->container_name, sizeof(o->container_name), p);
	return true;
}

/* "kubepods-burstable-pod0a1b_2c.slice" of systemd, "pod0a1b-2c" below "kubepods" otherwise. A
 * mirror of a static pod has 32 digits without dashes. */
static bool take_pod(struct owner *o, struct part p, bool in_kubepods)
{
	struct part uid = p;
	const char *pod = NULL;

	if (cut_end(&uid, ".slice")) {
		for (size_t i = 0; i + 4 < uid.len; i++)
			if (!memcmp(uid.at + i, "-pod", 4))
				pod = uid.at + i + 4;
		if (!pod || !memmem(p.at, p.len, "kubepods", 8))
			return false;
		uid = (struct part){pod, uid.len - (pod - uid.at)};
	} else if (!in_kubepods || !cut_begin(&uid, "pod")) {
		return false;
	}
	if (uid.len != 36 && !all_hex(uid, 32))
		return false;
	*o = in_manager(o) ? (struct owner){.users = true, .user_known = true, .user = o->user}
			   : (struct owner){0};
	copy(o->pod_uid, sizeof(o->pod_uid), uid);
	for (char *c = o->pod_uid; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return true;
}

/* "machine-qemu\x2d3\x2dweb.scope" of libvirt, "machine-web.scope" and "systemd-nspawn@web.service"
 * of systemd, "100.scope" in Proxmox' "qemu.slice". */
static bool take_machine(struct owner *o, struct part p, struct part above)
{
	char plain[OWNER_NAME];
	struct part name = p;
	char *end;

	if (cut_end(&name, ".scope") && cut_begin(&name, "machine-")) {
		name = unescaped(name, plain, sizeof(plain) - 1);
		plain[name.len] = 0;
		o->runtime = NULL;
		/* libvirt's own: driver, number, name */
		if (!strncmp(plain, "qemu-", 5) && strtoul(plain + 5, &end, 10) && *end == '-') {
			name = (struct part){end + 1, strlen(end + 1)};
			o->runtime = "qemu";
		} else if (!strncmp(plain, "lxc-", 4) && strtoul(plain + 4, &end, 10) &&
			   *end == '-') {
			name = (struct part){end + 1, strlen(end + 1)};
			o->runtime = "lxc";
		}
	} else if (name = p, cut_end(&name, ".service") && cut_begin(&name, "systemd-nspawn@")) {
		name = unescaped(name, plain, sizeof(plain) - 1);
		o->runtime = "nspawn";
	} else if (name = p, is(above, "qemu.slice") && cut_end(&name, ".scope")) {
		o->runtime = "qemu";
	} else {
		return false;
	}
	o->users = in_manager(o);
	copy(o->machine, sizeof(o->machine), name);
	o->unit[0] = 0;
	return true;
}

/* The user's slice and session of logind. */
static bool take_session(struct owner *o, struct part p)
{
	char number[16];
	struct part unit = p;
	char *end;

	if (in_manager(o))
		return false;
	if (cut_begin(&p, "user-") && cut_end(&p, ".slice")) {
		copy(o->unit, sizeof(o->unit), unit);
		copy(number, sizeof(number), p);
		o->user = (uint32_t)strtoul(number, &end, 10);
		o->user_known = p.len && !*end;
		return o->user_known;
	}
	if (!o->user_known || !cut_begin(&p, "session-") || !cut_end(&p, ".scope"))
		return false;
	copy(o->session, sizeof(o->session), p);
	copy(o->unit, sizeof(o->unit), unit);
	return true;
}

/* Control groups end in a unit's type only where systemd, or one who imitates it, made them. */
static void take_unit(struct owner *o, struct part p)
{
	static const char *const types[] = {".service", ".scope", ".socket",
					    ".mount",   ".swap",  ".slice"};

	for (size_t i = 0; i < COUNT(types); i++) {
		struct part name = p;

		if (!cut_end(&name, types[i]) || !name.len)
			continue;
		o->of_user = o->user_known && (o->of_user || !strncmp(o->unit, "user@", 5));
		copy(o->unit, sizeof(o->unit), p);
	}
}

static void take_path(struct owner *o, struct part path)
{
	struct part above = {"", 0};
	bool in_kubepods = false;

	while (path.len) {
		const char *slash = memchr(path.at, '/', path.len);
		struct part p = {path.at, slash ? (size_t)(slash - path.at) : path.len};

		path.at += p.len + !!slash;
		path.len -= p.len + !!slash;
		if (!p.len)
			continue;
		if (!take_pod(o, p, in_kubepods) && !take_container(o, p, above) &&
		    !take_lxc(o, p, above) && !take_machine(o, p, above) && !take_session(o, p))
			take_unit(o, p);
		in_kubepods |= is(p, "kubepods");
		above = p;
	}
}

void owner_read(struct owner *o, const char *text)
{
	size_t len = strcspn(text, "\n");

	*o = (struct owner){0};
	take_path(o, (struct part){text, len});
	while (text[len]) {
		struct part line = {text + len + 1, strcspn(text + len + 1, "\n")};

		len += 1 + line.len;
		if (cut_begin(&line, "container="))
			copy(o->container_name, sizeof(o->container_name), line);
		else if (cut_begin(&line, "pod="))
			copy(o->pod, sizeof(o->pod), line);
	}
}
