// SPDX-License-Identifier: GPL-2.0-or-later
/* Owners of control groups: paths as the managers and runtimes make them, and as nobody does. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "model/owner.h"

#define ID   "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID  "1b2c3d4e-0a1b-4c5d-8e9f-001122334455"
#define USER "/user.slice/user-1000.slice/user@1000.service"
#define UID_ "1b2c3d4e_0a1b_4c5d_8e9f_001122334455"

static const struct {
	const char *path, *text, *key, *runtime;
} paths[] = {
	/* systemd */
	{"/system.slice/nginx.service", "nginx.service", "nginx.service"},
	{"/system.slice/system-getty.slice/getty@tty1.service", "getty@tty1.service",
	 "getty@tty1.service"},
	{"/user.slice/user-1000.slice/session-3.scope", "session 3 of user 1000", "3"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-firefox-12.scope",
	 "app-firefox-12.scope of user 1000", "app-firefox-12.scope"},
	{"/user.slice/user-1000.slice", "user-1000.slice", "user-1000.slice"},
	{"/init.scope", "init.scope", "init.scope"},
	{"/system.slice", "system.slice", "system.slice"},
	{"/system.slice/run-r12.scope/inner", "run-r12.scope", "run-r12.scope"},
	{"/batch.slice/batch-night.slice/run-u7.service", "run-u7.service", "run-u7.service"},
	{"/batch.slice/batch-night.slice/backup.scope", "backup.scope", "backup.scope"},
	{"/batch.slice/batch-night.slice", "batch-night.slice", "batch-night.slice"},
	{"/user.slice/user-1000.slice/user@1000.service/session.slice/pipewire.service",
	 "pipewire.service of user 1000", "pipewire.service"},
	{"/user.slice/user-1000.slice/user@1000.service/app.slice/app-a.slice/run-rf00.scope",
	 "run-rf00.scope of user 1000", "run-rf00.scope"},
	{"/user.slice/user-1000.slice/user@1000.service", "user@1000.service", "user@1000.service"},
	{"/user.slice/user-1000.slice/session-c2.scope", "session c2 of user 1000", "c2"},
	{"/", "", ""},
	{"", "", ""},
	{"/mine/own.group", "", ""},
	/* Docker, with both of its drivers; a unit inside */
	{"/system.slice/docker-" ID ".scope", "container 0123456789ab", ID, "docker"},
	{"/docker/" ID, "container 0123456789ab", ID, "docker"},
	{"/docker/" ID "/system.slice/cron.service", "container 0123456789ab · cron.service", ID,
	 "docker"},
	{"/system.slice/docker.service", "docker.service", "docker.service"},
	{"/system.slice/docker-0123.scope", "docker-0123.scope", "docker-0123.scope"},
	/* pods, with both drivers of the kubelet, of all classes */
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 "pod " UID " · container 0123456789ab", UID, "containerd"},
	{"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope",
	 "pod " UID " · container 0123456789ab", UID, "cri-o"},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice",
	 "pod " UID, UID},
	{"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	 ".scope",
	 "pod " UID " · container 0123456789ab", UID, "cri-o"},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/crio-" ID
	 ".scope/container",
	 "pod " UID " · container 0123456789ab", UID, "cri-o"},
	{"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID
	 ".scope",
	 "pod " UID " · container 0123456789ab", UID, "docker"},
	{"/kubepods/burstable/pod" UID "/" ID, "pod " UID " · container 0123456789ab", UID},
	{"/kubepods/besteffort/pod" UID "/" ID, "pod " UID " · container 0123456789ab", UID},
	{"/kubepods/pod" UID "/" ID, "pod " UID " · container 0123456789ab", UID},
	{"/kubepods/besteffort/pod" UID "/crio-" ID, "pod " UID " · container 0123456789ab", UID,
	 "cri-o"},
	{"/system.slice/kubelet.service", "kubelet.service", "kubelet.service"},
	{"/system.slice/crio-" ID ".scope", "container 0123456789ab", ID, "cri-o"},
	{"/system.slice/crio-conmon-" ID ".scope", "crio-conmon-" ID ".scope",
	 "crio-conmon-" ID ".scope"},
	{"/kubepods/pod0123456789abcdef0123456789abcdef/" ID,
	 "pod 0123456789abcdef0123456789abcdef · container 0123456789ab",
	 "0123456789abcdef0123456789abcdef"},
	/* a node that is a container itself */
	{"/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	 ".slice/cri-containerd-" ID ".scope",
	 "pod " UID " · container 0123456789ab", UID, "containerd"},
	{"/kubepods/burstable", "", ""},
	{"/system.slice/pod" UID, "system.slice", "system.slice"},
	/* Podman, also of a user */
	{"/machine.slice/libpod-" ID ".scope/container", "container 0123456789ab", ID, "podman"},
	{"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope",
	 "container 0123456789ab of user 1000", ID, "podman"},
	/* a name that a user gives a group cannot pose as another's */
	{USER "/docker-" ID ".scope", "container 0123456789ab of user 1000", ID, "docker"},
	{USER "/app.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope",
	 "pod " UID " · container 0123456789ab of user 1000", UID, "cri-o"},
	{USER "/machine-qemu\\x2d3\\x2dweb.scope", "machine web of user 1000", "web", "qemu"},
	{USER "/nginx.service", "nginx.service of user 1000", "nginx.service"},
	{USER "/user-0.slice", "user-0.slice of user 1000", "user-0.slice"},
	{USER "/user-0.slice/user@0.service/docker-" ID ".scope",
	 "container 0123456789ab of user 1000", ID, "docker"},
	{USER "/docker-" ID ".scope/user-0.slice/session-1.scope",
	 "container 0123456789ab · session-1.scope of user 1000", ID, "docker"},
	/* within a container the users are not this machine's */
	{"/docker/" ID "/user.slice/user-7.slice/user@7.service/a.service",
	 "container 0123456789ab · a.service", ID, "docker"},
	{"/machine.slice/libpod-conmon-" ID ".scope", "libpod-conmon-" ID ".scope",
	 "libpod-conmon-" ID ".scope"},
	{"/system.slice/nerdctl-" ID ".scope", "container 0123456789ab", ID, "containerd"},
	/* in a container of LXC, in a virtual machine's group, by a user's session */
	{"/lxc/101/system.slice/docker-" ID ".scope", "container 0123456789ab", ID, "docker"},
	{"/user.slice/user-0.slice/session-1.scope/libpod-" ID, "container 0123456789ab", ID,
	 "podman"},
	{"/garden/" ID, "container 0123456789ab", ID},
	/* LXC, libvirt, nspawn, Proxmox VE */
	{"/lxc.payload.web/init.scope", "container web · init.scope", "web", "lxc"},
	{"/lxc/101/ns", "container 101", "101", "lxc"},
	{"/machine.slice/machine-qemu\\x2d3\\x2dweb\\x2done.scope/libvirt/vcpu0", "machine web-one",
	 "web-one", "qemu"},
	{"/machine.slice/machine-qemu\\x2d1\\x2dname.scope", "machine name", "name", "qemu"},
	{"/machine.slice/machine-lxc\\x2d12\\x2ddb.scope", "machine db", "db", "lxc"},
	{"/machine.slice/machine-qemu\\x2dimage.scope", "machine qemu-image", "qemu-image"},
	{"/machine.slice/machine-bookworm.scope/payload", "machine bookworm", "bookworm"},
	{"/machine.slice/systemd-nspawn@deb\\x2d12.service/payload/system.slice/ssh.service",
	 "machine deb-12 · ssh.service", "deb-12", "nspawn"},
	{"/qemu.slice/100.scope", "machine 100", "100", "qemu"},
	/* text of the runtimes' files, behind the path */
	{"/docker/" ID "\ncontainer=web\nimage=nginx", "container web", "web", "docker"},
	{"/kubepods/pod" UID "/" ID "\npod=shop/api-7f9\ncontainer=app",
	 "pod shop/api-7f9 · container app", "shop/api-7f9"},
	{"/system.slice/a.service\n", "a.service", "a.service"},
};

static void test_paths(void **state)
{
	char text[OWNER_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct owner o;

		owner_read(&o, paths[i].path);
		assert_string_equal(owner_text(&o, text), paths[i].text);
		assert_string_equal(owner_key(&o), paths[i].key);
		assert_string_equal(o.runtime ? o.runtime : "-",
				    paths[i].runtime ? paths[i].runtime : "-");
		assert_int_equal(owner_kind(&o) == OWNER_NONE, !*paths[i].text);
	}
}

/* Rows that stand for all threads of an owner. */
static void test_parts(void **state)
{
	static const struct {
		const char *path, *unit, *container, *pod, *machine;
	} rows[] = {
		{"/system.slice/nginx.service", "nginx.service", "", "", ""},
		{"/init.scope", "init.scope", "", "", ""},
		{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope", "", "", ""},
		{"/user.slice/user-7.slice/user@7.service", "user@7.service", "", "", ""},
		{"/user.slice/user-7.slice/user@7.service/init.scope", "init.scope of user 7", "",
		 "", ""},
		{"/user.slice/user-7.slice/user@7.service/docker-" ID ".scope", "",
		 "0123456789ab of user 7", "", ""},
		{"/user.slice/user-7.slice/user@7.service/machine-web.scope", "", "", "",
		 "web of user 7"},
		{"/user.slice/user-7.slice/user@7.service/app.slice/dbus.service",
		 "dbus.service of user 7", "", "", ""},
		{"/docker/" ID "/system.slice/cron.service\ncontainer=web", "cron.service in web",
		 "web", "", ""},
		{"/docker/" ID, "", "0123456789ab", "", ""},
		{"/kubepods/pod" UID "/" ID "\npod=shop/api-7f9\ncontainer=app", "",
		 "app in shop/api-7f9", "shop/api-7f9", ""},
		{"/kubepods/burstable/pod" UID "/" ID, "", "0123456789ab in " UID, UID, ""},
		{"/qemu.slice/100.scope", "", "", "", "100"},
		{"/", "", "", "", ""},
	};
	char text[OWNER_PART];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct owner o;

		owner_read(&o, rows[i].path);
		assert_string_equal(owner_part(&o, BY_UNIT, text), rows[i].unit);
		assert_string_equal(owner_part(&o, BY_CONTAINER, text), rows[i].container);
		assert_string_equal(owner_part(&o, BY_POD, text), rows[i].pod);
		assert_string_equal(owner_part(&o, BY_MACHINE, text), rows[i].machine);
		assert_string_equal(owner_part(&o, BY_THREAD, text), "");
		assert_string_equal(owner_part(&o, BY_COMM, text), "");
	}
}

/* Names of any length and bytes fit, cut; nothing is read beyond them. */
static void test_long(void **state)
{
	static char path[20000];
	char text[OWNER_TEXT];
	struct owner o;

	(void)state;
	for (size_t at = 0; at + 300 < sizeof(path); at += 260) {
		path[at] = '/';
		memset(path + at + 1, at % 255 + 1, 251);
		memcpy(path + at + 252, ".service", 8);
	}
	for (size_t len = 0; len < sizeof(path); len += 37) {
		char *copy = strndup(path, len);

		owner_read(&o, copy);
		assert_true(strlen(o.unit) < OWNER_NAME);
		assert_true(strlen(owner_text(&o, text)) < OWNER_TEXT);
		free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
