/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The places of the kernel that BPF programs attach to, by the names of their sections:
 * tp_btf/NAME, fentry/NAME, fexit/NAME, tp/kvm/NAME, raw_tp/NAME; and syscall and raw_tp alone, of
 * programs that are run by hand and attached to nothing. */
#ifndef CULPRIT_HOOK_H
#define CULPRIT_HOOK_H

#include <stdbool.h>

#include "collect/kernel.h"
#include "state.h"

struct bpf_program;

const char *hook_place(const struct bpf_program *prog); /* NAME; "": of nothing */
bool hook_is_function(const struct bpf_program *prog);
bool hook_is_none(const struct bpf_program *prog); /* run by hand */
bool hook_is_kvm(const struct bpf_program *prog);  /* a tracepoint of the module kvm */

/* Writes where the tracepoints of kvm have their fields (enum exit_field), in bytes. -errno: this
 * kernel has none, or not these, or its format cannot be read. */
int hook_exit_fields(int at[EXIT_FIELDS]);

/* True when this kernel has the place, with all arguments that the program reads. */
bool hook_exists(const struct bpf_program *prog, const struct kernel *k);

/* The same, as far as this process may know. */
enum hook_state { HOOK_ABSENT, HOOK_THERE, HOOK_NOT_KNOWN };
enum hook_state hook_state(const struct bpf_program *prog, const struct kernel *k);

#endif
