/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that read the kernel's memory at an address without a helper (bpf/context.bpf.h:
 * DIRECT): since 6.2 the kernel has a function that makes a pointer of any number, and the program
 * that reads there meets 0 where nothing can be read. libbpf's own way to call it is not taken,
 * because without the right to look into all modules it fails on every older kernel, and 5.13
 * to 5.15 refuse the programs even if the call is never reached. */
#ifndef CULPRIT_DIRECT_LOAD_H
#define CULPRIT_DIRECT_LOAD_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include "collect/kernel.h"

/* Puts the kernel's numbers into all programs of an object that is not loaded yet. False: this
 * kernel does not let programs do it, or no memory is left; the programs are as they were or must
 * not use it. */
bool direct_reads(struct bpf_object *object, const struct kernel *k);

#endif
