/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Features: libraries that this program is built with, and abilities of the machine. */
#ifndef CULPRIT_FEATURES_H
#define CULPRIT_FEATURES_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/probes.h"
#include "model/view.h"

#define HOOKS_MAX 128

/* The places that programs attach to, each once. */
struct hooks {
	char *name[HOOKS_MAX];
	enum hook_state state[HOOKS_MAX];
	uint32_t n, of_state[HOOK_NOT_KNOWN + 1];
	int err; /* -errno: the kernel's types cannot be read */
};

struct features {
	struct host host;
	struct hooks hooks;
	bool realtime, has_nohz_full, has_osnoise, locked_down;
	char missing[64];      /* capabilities for tracing: "CAP_BPF"; "": none */
	const char *foreign;   /* reason why tracing is not possible in these namespaces, or NULL */
	const char *built_for; /* "x86_64" */
	const char *compiler;  /* "gcc 12.2.0" */
	char libraries[192];   /* "libbpf 1.1, libelf 0.188, ..." */
};

/* NULL: out of memory. Changes nothing on the machine. */
struct features *features_read(void);
void features_free(struct features *f);

#endif
