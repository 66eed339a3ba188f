/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/facts_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/klog.h>
#include <unistd.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/begins.h"

ssize_t facts_bytes(const struct facts_in *in, const char *path, void *buf, size_t len)
{
	struct stat st;
	size_t have = 0;
	ssize_t n = 0;
	int fd;

	if (facts_never(path))
		return -EPERM;
	fd = openat(in->root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		n = -errno;
	} else if (S_ISDIR(st.st_mode)) {
		n = -EISDIR;
	} else if (!S_ISREG(st.st_mode) && strcmp(path, "dev/cpu_dma_latency")) {
		n = -EINVAL;
	} else if (!S_ISREG(st.st_mode)) {
		have = (n = read(fd, buf, 4)) > 0
			       ? n
			       : 0; /* reads as 4 bytes in binary (kernel/power/qos.c) */
		n = n < 0 ? -errno : 0;
	} else {
		while (have < len && (n = read(fd, (char *)buf + have, len - have)) > 0)
			have += n;
		n = n < 0 ? -errno : 0;
	}
	close(fd);
	return n ? n : (ssize_t)have;
}

#define SPARE_FACTS 512
#define SPARE_BYTES (256u << 10) /* names of these, and what is known when the window ends */

int facts_put(struct facts_in *in, const char *name, int err, const void *text, size_t len)
{
	if (in->facts->count >= FACTS_MAX - SPARE_FACTS ||
	    in->facts->bytes + strlen(name) + len > FACTS_ALL_MAX - SPARE_BYTES)
		return -ENOSPC;
	return facts_add(in->facts, name, err, text, len);
}

int facts_left_out(struct facts_in *in, const char *name, int err)
{
	if (err != -ENOSPC)
		return err;
	in->left_out = true;
	return facts_add(in->facts, name, FACT_NOT_KEPT, NULL, 0);
}

int facts_read(struct facts_in *in, const char *path, bool absent)
{
	static const size_t max = FACT_MAX + 1; /* one more, so that facts_add sees a cut */
	char *buf = malloc(max);
	ssize_t n;
	int err;

	if (!buf)
		return -ENOMEM;
	n = facts_bytes(in, path, buf, max);
	if ((n == -ENOENT || n == -ENOTDIR) && !absent)
		err = 0;
	else
		err = n < 0 ? facts_put(in, path, n, NULL, 0) : facts_put(in, path, 0, buf, n);
	free(buf);
	return err == -EINVAL ? 0 : err; /* skips a path that is too long for a fact */
}

/* ---- lines that matter of texts that are long ---- */

/* Adds the lines of `text` for which `wanted` holds; packs them in place. */
static int add_lines(struct facts_in *in, const char *name, char *text,
		     bool (*wanted)(const char *line))
{
	char *from = text, *to = text;
	size_t have = 0;

	while (*from) {
		size_t len = strcspn(from, "\n"), whole = len + (from[len] == '\n');
		char end = from[len];

		from[len] = 0;
		if (wanted(from)) {
			memmove(to, from, len);
			to[len] = '\n';
			to += len + 1;
		}
		from += whole;
		if (!end)
			break;
	}
	have = to - text;
	return facts_put(in, name, 0, text, have);
}

#define CONFIG "CONFIG_"

/* "CONFIG_HZ=250", or "# CONFIG_HZ is not set". Each start asks of some 10,000 lines. */
static bool config_wanted(const char *line)
{
	static const char *const options[] = {
		"NO_HZ_FULL",
		"RCU_NOCB_CPU",
		"CPU_ISOLATION",
		"CONTEXT_TRACKING_USER",
		"HZ",
		"PREEMPT_RT",
		"KFENCE_STATIC_KEYS",
		"RT_GROUP_SCHED",
		"DEBUG_INFO_BTF",
		"CSD_LOCK_WAIT_DEBUG",
		"GENERIC_IRQ_DEBUGFS",
		"PSI",
	};
	bool unset = begins(line, "# ");
	const char *name = line + (unset ? strlen("# ") : 0);
	size_t len;

	if (!begins(name, CONFIG))
		return false;
	name += strlen(CONFIG);
	len = strcspn(name, "= ");
	if (!begins(name + len, unset ? " is" : "="))
		return false;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strlen(options[i]) == len && !strncmp(options[i], name, len))
			return true;
	return false;
}

#define CONFIG_MAX (4u << 20)

/* Adds the wanted lines of /proc/config.gz, or else of /boot/config-RELEASE. */
int facts_config(struct facts_in *in)
{
	char *packed = malloc(CONFIG_MAX), *text = malloc(CONFIG_MAX + 1), path[512];
	ssize_t n =
		packed && text ? facts_bytes(in, "proc/config.gz", packed, CONFIG_MAX) : -ENOMEM;
	const char *release = facts_text(in->facts, "proc/sys/kernel/osrelease");
	int err = -ENOMEM;

	if (n > 0) {
		z_stream z = {.next_in = (void *)packed,
			      .avail_in = n,
			      .next_out = (void *)text,
			      .avail_out = CONFIG_MAX};

		if (inflateInit2(&z, 15 + 16) == Z_OK) {
			inflate(&z, Z_FINISH);
			n = CONFIG_MAX - z.avail_out;
			inflateEnd(&z);
		}
	} else if (n != -ENOMEM && release) {
		snprintf(path, sizeof(path), "boot/config-%.*s", (int)strcspn(release, "/\n"),
			 release);
		n = facts_bytes(in, path, text, CONFIG_MAX);
	}
	if (packed && text && n > 0) {
		text[n] = 0;
		err = add_lines(in, "run/kconfig", text, config_wanted);
	} else if (packed && text) {
		err = facts_put(in, "run/kconfig", n ? n : -ENODATA, NULL, 0);
	}
	free(packed);
	free(text);
	return err;
}

/* The first words tell whether the log begins with the boot. Programs that crashed have names that
 * may be any of these, and addresses of theirs beside them. */
static bool dmesg_wanted(const char *line)
{
	static const char *const words[] = {
		"Linux version ", "Housekeeping:", "isolcpus:",  "NO_HZ",
		"clocksource:",   "tsc:",          "TSC ",       "throttling",
		"split lock",     "split_lock",    "Domain TLB", "DMA domain"};

	if (strstr(line, "]: segfault at ") || strstr(line, " ip:"))
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcasestr(line, words[i]))
			return true;
	return false;
}

#define DMESG_MAX (1u << 20)

static int take_dmesg(struct facts_in *in)
{
	enum { READ_ALL = 3 };
	char *text = malloc(DMESG_MAX + 1);
	ssize_t n;
	int err;

	if (!text)
		return -ENOMEM;
	n = in->live ? klogctl(READ_ALL, text, DMESG_MAX)
		     : facts_bytes(in, "dev/kmsg", text, DMESG_MAX);
	if (in->live && n < 0)
		n = -errno;
	if (n >= 0) {
		text[n] = 0;
		err = add_lines(in, "run/dmesg", text, dmesg_wanted);
	} else {
		err = facts_put(in, "run/dmesg", n, NULL, 0);
	}
	free(text);
	return err;
}

int facts_derive(struct facts_in *in)
{
	static const struct {
		const char *name;
		int (*take)(struct facts_in *in);
	} derived[] = {
		{"run/kconfig", facts_config},
		{"run/dmesg", take_dmesg},
		{"run/tasks/0*", facts_tasks},
		{"sys/fs/cgroup/", facts_cgroups},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(derived) / sizeof(derived[0]) && !err; i++)
		err = facts_left_out(in, derived[i].name, derived[i].take(in));
	return err;
}
