/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/guard.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "cmd/memory.h"

/* Refused, not a list of what is needed: which calls the C library makes to read, print and
 * allocate differs between libraries and their versions. */
static const int refused[] = {
	/* programs and processes; threads are clone(2), of which confine.c asks more */
	SYS_execve, SYS_execveat,
#ifdef SYS_fork
	SYS_fork, SYS_vfork,
#endif
	SYS_clone,
	/* other processes */
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_pidfd_open,
	SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_process_madvise, SYS_kcmp,
	/* connections */
	SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,
	/* identity, and view of the machine */
	SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_unshare, SYS_setns,
	SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_open_tree, SYS_move_mount,
	SYS_fsopen, SYS_open_by_handle_at, SYS_mknodat,
	/* the kernel's administration, and what it offers beyond files */
	SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup, SYS_userfaultfd, SYS_init_module,
	SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot, SYS_swapon,
	SYS_clock_settime, SYS_add_key, SYS_request_key, SYS_keyctl, -1};

/* In a signal handler: no more than write(2). */
static void tell(int number)
{
	char text[] = "culprit: a file led to system call 000, which no reader makes: that is a "
		      "fault of culprit's, and the file may be hostile\n";
	char *digits = strstr(text, "000");

	for (int i = 2; i >= 0; i--, number /= 10)
		digits[i] = '0' + number % 10;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

void guard_reader(uint64_t memory, bool writes)
{
	memory_bound(memory);
	confine_rights(RIGHT_DAC_READ_SEARCH | (writes ? RIGHTS_OF_FILES : 0));
}

void guard_alone(void)
{
	confine_without(refused, tell);
}
