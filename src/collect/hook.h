/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The places of the kernel that BPF programs attach to, by the names of their sections:
 * tp_btf/NAME, fentry/NAME, fexit/NAME; and syscall, of programs that are run by hand and attached
 * to nothing. */
#ifndef CULPRIT_HOOK_H
#define CULPRIT_HOOK_H

#include <stdbool.h>

#include "collect/kernel.h"

struct bpf_program;

const char *hook_place(const struct bpf_program *prog); /* NAME; "": of nothing */
bool hook_is_function(const struct bpf_program *prog);
bool hook_is_ticker(const struct bpf_program *prog); /* run by hand */

/* True when this kernel has the place, with all arguments that the program reads. */
bool hook_exists(const struct bpf_program *prog, const struct kernel *k);

#endif
