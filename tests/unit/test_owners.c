// SPDX-License-Identifier: GPL-2.0-or-later
/* The control groups of made-up machines, and the files of their runtimes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/owners.h"
#include "model/owner.h"

#define ID(digit) digit "123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID       "1b2c3d4e-0a1b-4c5d-8e9f-001122334455"
#define PODS      "var/log/pods/shop_api-7f9_" UID
#define DOCKER    "var/lib/docker/containers/" ID("a")
#define CRI       "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID("b")
#define CRIO      "run/containers/storage/overlay-containers/" ID("c") "/userdata"
#define PODMAN    "var/lib/containers/storage/overlay-containers"

static char top[64];
static int root = -1;

/* Makes the folders up to the last slash of a path below the root. */
static void folders(const char *path)
{
	char part[PATH_MAX];

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdirat(root, part, 0755);
	}
}

static void file(const char *path, const char *text)
{
	int fd;

	folders(path);
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static uint32_t group(const char *path)
{
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "sys/fs/cgroup%s/", path);
	folders(folder);
	assert_int_equal(fstatat(root, folder, &st, 0), 0);
	return (uint32_t)st.st_ino;
}

static int begin(void **state)
{
	(void)state;
	strcpy(top, "/tmp/owners.XXXXXX");
	assert_non_null(mkdtemp(top));
	root = open(top, O_RDONLY | O_DIRECTORY);
	return root < 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	close(root);
	snprintf(command, sizeof(command), "rm -r %s", top);
	return system(command);
}

static void called(struct owners *o, uint32_t number, const char *wanted)
{
	const char *text = owners_text(o, number);
	char buf[OWNER_TEXT];
	struct owner who;

	assert_non_null(text);
	owner_read(&who, text);
	assert_string_equal(owner_text(&who, buf), wanted);
}

static void test_names(void **state)
{
	uint32_t unit = group("/system.slice/nginx.service");
	uint32_t docker = group("/system.slice/docker-" ID("a") ".scope");
	uint32_t pod = group("/kubepods/burstable/pod" UID "/" ID("b"));
	uint32_t crio = group("/kubepods/burstable/pod" UID "/crio-" ID("c"));
	uint32_t podman = group("/machine.slice/libpod-" ID("d") ".scope/container");
	uint32_t other = group("/machine.slice/libpod-" ID("e") ".scope");
	uint32_t vfs = group("/libpod_parent/libpod-" ID("1"));
	uint32_t posing = group("/user.slice/user-7.slice/user@7.service/docker-" ID("a") ".scope");
	uint32_t unknown = group("/docker/" ID("f"));
	struct hierarchy h;
	struct owners *o;

	(void)state;
	file("proc/self/mounts", "proc /proc proc rw 0 0\n"
				 "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
	/* A label cannot pose as the name: its quotes are escaped, and it stands deeper. */
	file(DOCKER "/config.v2.json", "{\"Config\":{\"Labels\":{\"x\":\"\\\"Name\\\":\\\"/"
				       "evil\\\"\",\"Name\":\"/payments-db\"}},"
				       "\"Args\":[\"Name\",\"{\",\"\\\\\"],\"MountPoints\":"
				       "{\"/v\":{\"Name\":\"/volume\"}},\"Name\":\"/web\"}");
	file(CRI "/config.json",
	     "{\"process\":{\"io.kubernetes.cri.container-name\":\"evil\",\"annotations\":"
	     "{\"io.kubernetes.cri.container-name\":\"evil\"}}, \"annotations\": { \"more\": "
	     "{\"io.kubernetes.cri.container-name\":\"evil\"}, "
	     "\"io.kubernetes.cri.container-name\" : \"app\" } }");
	file(CRIO "/config.json", "{\"annotations\":{\"io.kubernetes.container.name\":\"side\"}}");
	file(PODMAN "/" ID("d") "/userdata/config.json",
	     "{\"annotations\":{\"io.kubernetes.container.name\":\"evil\"}}");
	file(PODS "/app/0.log", "");
	file("var/log/pods/shop_api_" UID "0/x", "");
	file(PODMAN "/containers.json", "[{\"id\":\"" ID("e") "\",\"layer\":\"x\"},{\"id\":\"" ID(
						"d") "\",\"names\":"
						     "[\"db\"],\"image\":\"i\"}]");
	file("var/lib/containers/storage/vfs-containers/containers.json",
	     "[{\"id\":\"" ID("1") "\",\"names\":[\"web\"]}]");
	owners_find(root, &h);
	assert_int_equal(h.in, OWNERS_UNIFIED);
	o = owners_new(root, &h);
	assert_non_null(o);
	called(o, unit, "nginx.service");
	called(o, docker, "container web");
	called(o, posing, "container a123456789ab of user 7");
	called(o, pod, "pod shop/api-7f9 · container app");
	called(o, crio, "pod shop/api-7f9 · container side");
	called(o, podman, "container db");
	called(o, vfs, "container web");
	called(o, other, "container e123456789ab");
	called(o, unknown, "container f123456789ab");
	called(o, unit, "nginx.service");
	assert_null(owners_text(o, unit ^ 0x40000000));
	owners_free(o);
}

/* The older hierarchies: runtimes make their groups in all of them. */
static void test_hierarchies(void **state)
{
	static const struct {
		const char *mounts;
		enum owners_in in;
		unsigned id;
		const char *mount;
	} machines[] = {
		{"c /sys/fs/cgroup cgroup2 rw 0 0\n", OWNERS_UNIFIED, 0, "sys/fs/cgroup"},
		{"c /sys/fs/cgroup/unified cgroup2 rw 0 0\n"
		 "c /sys/fs/cgroup/cpu cgroup rw,cpu,cpuacct 0 0\n"
		 "c /sys/fs/cgroup/memory cgroup rw,memory 0 0\n",
		 OWNERS_MEMORY, 7, "sys/fs/cgroup/memory"},
		{"c /sys/fs/cgroup/systemd cgroup rw,name=systemd 0 0\n"
		 "c /sys/fs/cgroup/cpu cgroup rw,cpuacct,cpu 0 0\n"
		 "c /sys/fs/cgroup/pids cgroup rw,pids 0 0\n"
		 "c /sys/fs/cgroup/unified cgroup2 rw 0 0\n",
		 OWNERS_PIDS, 12, "sys/fs/cgroup/pids"},
		{"c /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n", OWNERS_NOWHERE, 0, ""},
		{"", OWNERS_NOWHERE, 0, ""},
	};

	(void)state;
	file("proc/cgroups", "#subsys_name\thierarchy\tnum_cgroups\tenabled\ncpuset\t3\t1\t1\n"
			     "cpu\t4\t9\t1\nmemory\t7\t9\t1\npids\t12\t9\t1\n");
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		struct hierarchy h;

		file("proc/self/mounts", machines[i].mounts);
		owners_find(root, &h);
		assert_int_equal(h.in, machines[i].in);
		assert_int_equal(h.id, machines[i].id);
		assert_string_equal(h.mount, machines[i].mount);
	}
}

/* Groups that come and go: each has its name, also where a number comes again, and of the oldest
 * none is kept once there are too many. */
static void test_made(void **state)
{
	struct owners *o = owners_new(root, &(struct hierarchy){0});
	char path[64], wanted[64];

	(void)state;
	assert_non_null(o);
	for (uint32_t i = 1; i <= 200000; i++) {
		snprintf(path, sizeof(path), "/system.slice/job-%u.service", i);
		owners_made(o, i % 100000, path);
	}
	for (uint32_t i = 200000 - 65535; i <= 200000; i += 85) {
		snprintf(wanted, sizeof(wanted), "job-%u.service", i);
		called(o, i % 100000, wanted);
	}
	assert_null(owners_text(o, (200000 - 65536) % 100000));
	owners_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_names, begin, end),
		cmocka_unit_test_setup_teardown(test_hierarchies, begin, end),
		cmocka_unit_test_setup_teardown(test_made, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
