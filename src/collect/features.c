/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/features.h"

#include <bpf/libbpf.h>
#include <elfutils/version.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#ifdef CULPRIT_ZSTD
#include <zstd.h>
#endif

#include "collect/host.h"

#ifdef CULPRIT_LIBIBERTY
#define LIBIBERTY ", libiberty"
#else
#define LIBIBERTY ""
#endif
#ifdef CULPRIT_LIBDW
#define LIBDW ", libdw where it is installed"
#else
#define LIBDW ""
#endif

#ifdef CULPRIT_SODIUM
#define LIBSODIUM ", libsodium"
#else
#define LIBSODIUM ""
#endif

#ifdef CULPRIT_LIBLZMA
#define LIBLZMA ", liblzma where it is installed"
#else
#define LIBLZMA ""
#endif

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#else
#define COMPILER "gcc " __VERSION__
#endif
#define TEXT_OF(x)      #x
#define NUMBER_TEXT(x)  TEXT_OF(x)
#define ELFUTILS_NUMBER "0." NUMBER_TEXT(_ELFUTILS_VERSION) /* <elfutils/version.h> */

static const char *machine_built_for(void)
{
	return
#if defined(__x86_64__)
		"x86_64";
#elif defined(__aarch64__)
		"aarch64";
#elif defined(__riscv)
		"riscv64";
#elif defined(__s390x__)
		"s390x";
#else
		"another architecture";
#endif
}

/* Counts a place as there when one of its programs is: programs at one place may differ in that. */
static void take_hook(void *ctx, const char *hook, enum hook_state state)
{
	struct hooks *h = ctx;
	uint32_t i = 0;

	while (i < h->n && strcmp(h->name[i], hook))
		i++;
	if (i == HOOKS_MAX)
		return;
	if (i == h->n) {
		h->name[i] = strdup(hook);
		if (!h->name[i])
			return;
		h->state[i] = state;
		h->n++;
	} else if (state == HOOK_THERE) {
		h->state[i] = state;
	}
}

static const char *zstd_version(void)
{
#ifdef CULPRIT_ZSTD
	static char text[32];

	snprintf(text, sizeof(text), "zstd %s", ZSTD_versionString());
	return text;
#else
	return "no zstd";
#endif
}

struct features *features_read(void)
{
	struct features *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->built_for = machine_built_for();
	f->compiler = COMPILER;
	f->locked_down = host_locked_down();
	host_read(&f->host);
	f->foreign = host_foreign();
	host_missing_caps(f->missing, sizeof(f->missing));
	f->realtime = kernel_is_realtime();
	f->has_nohz_full = !access("/sys/devices/system/cpu/nohz_full", F_OK);
	f->has_osnoise = !access("/sys/kernel/tracing/osnoise", F_OK) ||
			 !access("/sys/kernel/debug/tracing/osnoise", F_OK);
	f->hooks.err = probes_hooks(take_hook, &f->hooks);
	for (uint32_t i = 0; i < f->hooks.n; i++)
		f->hooks.of_state[f->hooks.state[i]]++;
	snprintf(f->libraries, sizeof(f->libraries),
		 "libbpf %d.%d, libelf %s, zlib %s, %s, protobuf-c %s" LIBIBERTY LIBSODIUM LIBDW
			 LIBLZMA,
		 libbpf_major_version(), libbpf_minor_version(), ELFUTILS_NUMBER, zlibVersion(),
		 zstd_version(), protobuf_c_version());
	return f;
}

void features_free(struct features *f)
{
	for (uint32_t i = 0; f && i < f->hooks.n; i++)
		free(f->hooks.name[i]);
	free(f);
}
