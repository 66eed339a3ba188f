/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the kernel's functions, of the kernel itself: its list of all of them, as text, takes a
 * third of a short run's start, and most are never asked for. User space runs these. */
#include "trace.bpf.h"

#define EPERM 1
/* A name and its module's: KSYM_NAME_LEN of include/linux/kallsyms.h is 512 from 6.1 on, a module's
 * is below 64. */
#define SYMBOL_TEXT 640

/* As the kernel's own %ps has it: "vmstat_update", "e1000_intr [e1000]", and of what it does not
 * know the address. Who runs the program reads it, one at a time. */
char symbol_text[SYMBOL_TEXT];

/* Finds those that the programs compare with, as probes_tell() says. 0, or below 0: the kernel
 * hides its addresses from who runs it. */
SEC("?syscall")
int symbol_find(void *ctx)
{
	static const char delayed[] = "delayed_work_timer_fn", nmi[] = "unknown_nmi_error";
	__u64 at = 0;
	long err = bpf_kallsyms_lookup_name(delayed, sizeof(delayed), 0, &at);

	if (err == -EPERM)
		return err;
	at_delayed_work_timer_fn = at;
	at = 0;
	bpf_kallsyms_lookup_name(nmi, sizeof(nmi), 0, &at);
	at_unknown_nmi_error = at;
	return 0;
}

/* Writes symbol_text; its length with the NUL at the end, or below 0. */
SEC("?syscall")
int symbol_name(__u64 *address)
{
	static const char as[] = "%ps";
	__u64 argument = *address;

	return bpf_snprintf(symbol_text, sizeof(symbol_text), as, &argument, sizeof(argument));
}
