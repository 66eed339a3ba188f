/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/guard.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/confine.h"
#include "cmd/memory.h"
#include "cmd/newfile.h"
#include "recording/chunks.h"

/* Refused, not a list of what is needed: which calls the C library makes to read, print and
 * allocate differs between libraries and their versions. */
#ifdef SYS_fork /* threads are clone(2), of which confine.c asks more */
#define PROGRAMS SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_clone
#define BY_PATH  SYS_open, SYS_creat, SYS_unlink, SYS_rename, SYS_chmod, SYS_openat
#else
#define PROGRAMS SYS_execve, SYS_execveat, SYS_clone
#define BY_PATH  SYS_openat
#endif
#define MEMORY_OF_OTHERS                                                                           \
	SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_pidfd_getfd,                  \
		SYS_process_madvise, SYS_kcmp
#define OTHER_PROCESSES MEMORY_OF_OTHERS, SYS_kill, SYS_pidfd_open, SYS_pidfd_send_signal
#define CONNECTIONS     SYS_socket, SYS_connect, SYS_bind, SYS_listen
#define IDENTITY        /* with the view of the machine */                                         \
	SYS_setuid, SYS_setgid, SYS_setresuid, SYS_setresgid, SYS_setgroups, SYS_unshare,          \
		SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_open_tree,      \
		SYS_move_mount, SYS_fsopen, SYS_open_by_handle_at, SYS_mknodat
#define ADMINISTRATION                                                                             \
	SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,          \
		SYS_swapon, SYS_clock_settime, SYS_add_key, SYS_request_key, SYS_keyctl
#define KERNEL /* all that is offered beyond files */                                              \
	ADMINISTRATION, SYS_bpf, SYS_perf_event_open, SYS_io_uring_setup, SYS_userfaultfd
#define ALL PROGRAMS, OTHER_PROCESSES, CONNECTIONS, IDENTITY, KERNEL

static const int readers[] = {ALL, SYS_socketpair, SYS_accept, SYS_accept4, -1};
static const int programs[] = {OTHER_PROCESSES, CONNECTIONS, IDENTITY, KERNEL, -1};
static const int answerers[] = {ALL, -1};
/* Samplers are ended, and begun where a CPU comes back. */
static const int tracers[] = {
	SYS_execve, SYS_execveat, MEMORY_OF_OTHERS, SYS_userfaultfd, IDENTITY, ADMINISTRATION, -1};
/* An answer uses what is open. The C library looks for the time zone, other things may come. */
static const int files[] = {BY_PATH,       SYS_openat2,  SYS_unlinkat,
			    SYS_renameat2, SYS_linkat,   SYS_symlinkat,
			    SYS_fchmodat,  SYS_truncate, -1};

/* Writes the number of a call into the three zeros of `text`, and that to stderr. In a signal
 * handler: no more than write(2). */
static void say_call(char *text, size_t len, int number)
{
	char *digits = strstr(text, "000");

	for (int i = 2; i >= 0; i--, number /= 10)
		digits[i] = '0' + number % 10;
	if (write(STDERR_FILENO, text, len) < 0)
		return;
}

static void tell_reader(int number)
{
	char text[] = "culprit: a file led to system call 000, which no reader makes: that is a "
		      "fault of culprit's, and the file may be hostile\n";

	say_call(text, sizeof(text) - 1, number);
	newfile_abandon();
}

static void tell_answerer(int number)
{
	char text[] =
		"culprit: what came from outside led to system call 000, which its process "
		"does not make: that is a fault of culprit's, and who sent it may be hostile\n";

	say_call(text, sizeof(text) - 1, number);
}

void guard_reader(uint64_t memory, bool writes)
{
	chunks_bound_input(memory_bound(memory));
	confine_rights(RIGHT_DAC_READ_SEARCH | (writes ? RIGHTS_OF_FILES : 0));
}

void guard_alone(bool writes)
{
	if (!writes) {
		chunks_expect_input();
		confine_changes();
		confine_writes(NULL);
	}
	confine_without(readers, tell_reader);
}

void guard_program(uint64_t keeps)
{
	confine_rights(keeps);
	confine_changes();
	confine_writes(NULL);
	confine_refuse(programs);
}

void guard_answerer(void)
{
	confine_rights(0);
	confine_changes();
	confine_writes(NULL);
	confine_refuse(files);
	confine_without(answerers, tell_answerer);
}

static bool may_write(uint64_t keeps)
{
	return keeps & (RIGHT_DAC_OVERRIDE | RIGHT_SYS_PTRACE);
}

void guard_before_window(uint64_t keeps)
{
	if (!may_write(keeps))
		confine_changes();
	confine_refuse(tracers);
}

void guard_in_window(uint64_t keeps, const char *removes)
{
	confine_rights(keeps);
	if (!may_write(keeps))
		confine_writes(removes);
}
