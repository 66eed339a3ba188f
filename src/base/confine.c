/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCH AUDIT_ARCH_RISCV64
#endif

#ifndef SYS_SECCOMP
#define SYS_SECCOMP 1 /* asm-generic/siginfo.h: Debian 12's C library does not have it */
#endif

/* ---- capabilities ---- */

/* Without CAP_SETPCAP the bounding set stays: what a program that is started then gets is bounded
 * by no_new_privs. */
static void bound(uint64_t keep)
{
	for (int cap = 0; cap < 64 && prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!(keep >> cap & 1))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
}

int confine_rights(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	int err = 0;

	bound(keep);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &head, data))
		err = -errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3 && !err; i++) {
		data[i].permitted &= keep >> 32 * i;
		data[i].effective &= keep >> 32 * i;
		data[i].inheritable = 0;
	}
	if (!err && syscall(SYS_capset, &head, data))
		err = -errno;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !err)
		err = -errno;
	return err;
}

/* ---- system calls ---- */

#if defined(ARCH) && !defined(SANITIZED)

/* A signal handler gets no context. */
static void (*volatile tell_number)(int number);

static void on_forbidden(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_code == SYS_SECCOMP)
		tell_number(info->si_syscall);
	_exit(1);
}

static int hear_forbidden(void (*tell)(int number))
{
	struct sigaction act = {.sa_sigaction = on_forbidden, .sa_flags = SA_SIGINFO};
	sigset_t set;

	tell_number = tell;
	sigemptyset(&set);
	sigaddset(&set, SIGSYS);
	/* the kernel kills without calling the handler where the signal is blocked */
	return sigaction(SIGSYS, &act, NULL) || sigprocmask(SIG_UNBLOCK, &set, NULL) ? -errno : 0;
}

int confine_calls(const int *calls, void (*tell)(int number))
{
	struct sock_filter code[CONFINE_CALLS + 6] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.filter = code};
	unsigned n = 0, at = 4;
	int err = hear_forbidden(tell);

	if (err)
		return err;
	while (n < CONFINE_CALLS && calls[n] >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		code[at++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], n - i, 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = at;
	/* Without this flag kernels before 5.16 switch speculation off for the process, at each
	 * switch to it and from it. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &program)
		       ? -errno
		       : 0;
}

#else

int confine_calls(const int *calls, void (*tell)(int number))
{
	(void)calls;
	(void)tell;
	return -ENOSYS;
}

#endif
