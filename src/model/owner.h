/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The owner of a thread, in words that people know: the systemd unit, container, pod, virtual
 * machine or session that its control group belongs to.
 *
 * The path of the group tells most of it. systemd writes units into it
 * (systemd.io/CONTROL_GROUP_INTERFACE), the kubelet pods (pkg/kubelet/cm: "kubepods-burstable-pod…"
 * with its systemd driver, "kubepods/burstable/pod…" with the other), each runtime its containers:
 *
 *   docker       docker-ID.scope, docker/ID        containerd   cri-containerd-ID.scope, k8s.io/ID
 *   CRI-O        crio-ID.scope, crio-ID            Podman       libpod-ID.scope, libpod-ID
 *   nerdctl      nerdctl-ID.scope                  LXC          lxc.payload.NAME, lxc/NAME
 *   libvirt      machine-qemu\x2dN\x2dNAME.scope   nspawn       machine-NAME.scope
 *   Proxmox VE   qemu.slice/N.scope
 *
 * The names of containers and pods stand in files of the runtime: who reads the path asks them
 * (collect/owners.h), and puts what they say behind it. Anybody who may make a control group can
 * give it any of these names: an owner is what the path says. Of what is made below a user's own
 * manager the words say whose it is. Within a container's group the container's root makes groups.
 */
#ifndef CULPRIT_OWNER_H
#define CULPRIT_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNER_NAME 128 /* bytes of a name at most; longer ones are cut */
#define OWNER_ID   72  /* bytes of a container's or a pod's id */

/* Any bytes, to be escaped on output; "": it has none, or it is not known. */
struct owner {
	char unit[OWNER_NAME]; /* the innermost, as systemctl takes it: "nginx.service" */
	bool of_user;          /* the unit is one of the user's own manager, "user@1000.service" */
	const char *runtime;   /* "docker", "containerd", ...; static; NULL: not known */
	char container[OWNER_ID];
	char container_name[OWNER_NAME];
	char pod_uid[OWNER_ID];
	char pod[OWNER_NAME];     /* "namespace/name" */
	char machine[OWNER_NAME]; /* a virtual machine, or what systemd calls one */
	char session[16];         /* session of logind */
	bool users;               /* made below a user's own manager, as that user called it */
	bool user_known;
	uint32_t user; /* uid of the user in whose slice it is */
};

/* Names of an owner, the most telling first. */
enum owner_kind {
	OWNER_NONE,
	OWNER_POD,
	OWNER_CONTAINER,
	OWNER_MACHINE,
	OWNER_SESSION,
	OWNER_UNIT
};

/* Meaning of the rows of threads in a report. */
enum owner_by {
	BY_THREAD,
	BY_COMM, /* all threads of one comm, the kernel's too */
	BY_UNIT, /* from here on all threads of one owner; who has none stays a thread */
	BY_CONTAINER,
	BY_POD,
	BY_MACHINE,
};

/* Reads a path below the root of the control groups, "/system.slice/nginx.service", and the lines
 * behind it: "container=NAME", "pod=NAMESPACE/NAME". Other lines are passed over. */
void owner_read(struct owner *o, const char *text);

enum owner_kind owner_kind(const struct owner *o);

/* The kind's word in files, "pod"; NULL: none. Static. */
const char *owner_kind_name(enum owner_kind kind);

/* The word for such a row, "unit"; NULL for BY_THREAD. Static. */
const char *owner_by_name(enum owner_by by);

/* Writes the words behind a thread's name in a report: "pod web/api-7f9 · container app",
 * "nginx.service", "session 3 of user 1000"; "" for OWNER_NONE. Not escaped. Returns buf. */
#define OWNER_TEXT (3 * OWNER_NAME)
char *owner_text(const struct owner *o, char buf[OWNER_TEXT]);

/* The same of what owner_read() takes. */
char *owner_text_of(const char *text, char buf[OWNER_TEXT]);

/* The same; NULL where that is nobody's, or there is no text. */
const char *owner_words(const char *text, char buf[OWNER_TEXT]);

/* Name of a row of its threads: the unit, and in which container or machine, or whose manager's it
 * is; the container's name or short id, and in which pod; the pod's name or uid; the machine's; "":
 * it is in none. The owner's own, or buf. */
#define OWNER_PART (2 * OWNER_NAME + 16)
const char *owner_part(const struct owner *o, enum owner_by by, char buf[OWNER_PART]);

/* The one name by which reports and labels put threads together: the pod, the container, the
 * machine, the session or the unit; "" for OWNER_NONE. The owner's own. */
const char *owner_key(const struct owner *o);

#endif
