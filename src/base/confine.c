/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
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

#define RIGHTS_TO_FILES (RIGHT_CHOWN | RIGHT_DAC_OVERRIDE | RIGHT_DAC_READ_SEARCH | RIGHT_FOWNER)

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

/* Makes these of those that are permitted effective, or the others; but for `stay`, those that are
 * inheritable. Returns what changed. */
static uint64_t effect(uint64_t rights, bool on, bool stay)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t changed = 0;

	if (syscall(SYS_capget, &head, data))
		return 0;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t these = rights >> 32 * i & data[i].permitted;

		these &= on ? ~data[i].effective : data[i].effective;
		these &= stay ? ~data[i].inheritable : ~0U;
		data[i].effective ^= these;
		changed |= (uint64_t)these << 32 * i;
	}
	return changed && syscall(SYS_capset, &head, data) ? 0 : changed;
}

/* Ambient ones, as a service has them, are inheritable, too. */
void confine_files(void)
{
	if (getuid() && getauxval(AT_SECURE))
		effect(RIGHTS_TO_FILES, false, true);
}

uint64_t confine_raise(uint64_t rights)
{
	return effect(rights, true, false);
}

void confine_lower(uint64_t rights)
{
	effect(rights, false, false);
}

bool confine_try(uint64_t rights, bool (*works)(void))
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3], less[_LINUX_CAPABILITY_U32S_3];
	bool good;

	if (syscall(SYS_capget, &head, now))
		return false;
	memcpy(less, now, sizeof(less));
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		less[i].effective &= ~(rights >> 32 * i);
	if (syscall(SYS_capset, &head, less))
		return false;
	good = works();
	return !syscall(SYS_capset, &head, now) && good;
}

/* ---- files ---- */

/* From linux/landlock.h and asm-generic/unistd.h, which old systems do not have: each later version
 * of the interface has some bits more. */
#define LANDLOCK_CREATE   444
#define LANDLOCK_ADD      445
#define LANDLOCK_RESTRICT 446
#define LANDLOCK_VERSION  1
#define LANDLOCK_BENEATH  1
#define FILE_WRITE        (1ULL << 1)
#define FILE_REMOVE       (1ULL << 4 | 1ULL << 5)
#define FILE_MAKE         (0x7fULL << 6) /* all types */
#define FILE_REFER        (1ULL << 13)
#define FILE_TRUNCATE     (1ULL << 14)

struct landlock_below {
	uint64_t allowed;
	int32_t folder;
} __attribute__((packed));

#define FCHMODAT2     452 /* likewise, as these */
#define SETXATTRAT    463
#define REMOVEXATTRAT 466
#define FILE_SETATTR  469

/* These it does not know, nor what io_uring does of them. */
static const int changes[] = {
#ifdef SYS_chmod
	SYS_chmod,        SYS_chown,          SYS_lchown,
	SYS_utime,        SYS_utimes,         SYS_futimesat,
#endif
	SYS_fchmod,       SYS_fchmodat,       FCHMODAT2,
	SYS_fchown,       SYS_fchownat,       SYS_truncate,
	SYS_setxattr,     SYS_lsetxattr,      SYS_fsetxattr,
	SETXATTRAT,       SYS_removexattr,    SYS_lremovexattr,
	SYS_fremovexattr, REMOVEXATTRAT,      SYS_utimensat,
	FILE_SETATTR,     SYS_io_uring_setup, -1};

int confine_writes(const char *removes)
{
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
	uint64_t writes = FILE_WRITE | FILE_REMOVE | FILE_MAKE | (version > 1 ? FILE_REFER : 0) |
			  (version > 2 ? FILE_TRUNCATE : 0);
	struct landlock_below below = {.allowed = FILE_REMOVE};
	int rules, bad;

	if (version < 0)
		return -errno;
	rules = syscall(LANDLOCK_CREATE, &writes, sizeof(writes), 0);
	if (rules < 0)
		return -errno;
	below.folder = removes ? open(removes, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	if (below.folder >= 0) {
		syscall(LANDLOCK_ADD, rules, LANDLOCK_BENEATH, &below, 0);
		close(below.folder);
	}
	bad = syscall(LANDLOCK_RESTRICT, rules, 0) ? -errno : 0;
	close(rules);
	return bad;
}

int confine_changes(void)
{
	return confine_refuse(changes);
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

#define LOAD_AT(at)          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define LOAD(field)          LOAD_AT(offsetof(struct seccomp_data, field))
#define IF_EQUAL(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define RETURN(what)         BPF_STMT(BPF_RET | BPF_K, what)

#define HEAD 6  /* instructions before what a filter asks itself */
#define MORE 10 /* besides one a call */

/* Calls of another architecture are none of this one, and x32 has numbers of its own for all. */
static const struct sock_filter head[HEAD] = {LOAD(arch),
					      IF_EQUAL(ARCH, 1, 0),
					      RETURN(SECCOMP_RET_TRAP),
					      LOAD(nr),
					      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
					      RETURN(SECCOMP_RET_TRAP)};

/* Three returns stand last: for calls that are not in the list, for those that are, and for those
 * that fail. */
static unsigned ask(struct sock_filter *code, unsigned at, const int *calls, unsigned listed,
		    unsigned others)
{
	unsigned n = 0;

	while (n < CONFINE_CALLS && calls[n] >= 0)
		n++;
	for (unsigned i = 0; i < n; i++) {
		unsigned fails = !!(calls[i] & CONFINE_FAILS), call = calls[i] & ~CONFINE_FAILS;

		code[at++] = (struct sock_filter)IF_EQUAL(call, n - i + fails, 0);
	}
	code[at++] = (struct sock_filter)RETURN(others);
	code[at++] = (struct sock_filter)RETURN(listed);
	code[at++] = (struct sock_filter)RETURN(SECCOMP_RET_ERRNO | EPERM);
	return at;
}

/* tell NULL: the filter ends nobody. */
static int install(struct sock_filter *code, unsigned len, void (*tell)(int number))
{
	struct sock_fprog program = {.filter = code, .len = len};
	int err = tell ? hear_forbidden(tell) : 0;

	if (err)
		return err;
	/* Without CAP_SYS_ADMIN there is no filter else. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	/* Without this flag kernels before 5.16 switch speculation off for the process, at each
	 * switch to it and from it. */
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
		       &program)
		       ? -errno
		       : 0;
}

int confine_calls(const int *calls, void (*tell)(int number))
{
	struct sock_filter code[HEAD + CONFINE_CALLS + MORE];

	memcpy(code, head, sizeof(head));
	return install(code, ask(code, HEAD, calls, SECCOMP_RET_ALLOW, SECCOMP_RET_TRAP), tell);
}

int confine_without(const int *calls, void (*tell)(int number))
{
	const struct sock_filter first[] = {
		IF_EQUAL(SYS_clone3, 0, 1),
		RETURN(SECCOMP_RET_ERRNO | ENOSYS),
		IF_EQUAL(SYS_clone, 0, 4),
		LOAD(args[0]), /* the lower half: flags have no more */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
		RETURN(SECCOMP_RET_ALLOW),
		LOAD(nr),
	};
	struct sock_filter code[HEAD + CONFINE_CALLS + MORE];

	_Static_assert(sizeof(first) <= (MORE - 3) * sizeof(first[0]), "there is no room");
	memcpy(code, head, sizeof(head));
	memcpy(code + HEAD, first, sizeof(first));
	return install(code,
		       ask(code, HEAD + sizeof(first) / sizeof(first[0]), calls, SECCOMP_RET_TRAP,
			   SECCOMP_RET_ALLOW),
		       tell);
}

int confine_refuse(const int *calls)
{
	struct sock_filter code[HEAD + CONFINE_CALLS + MORE];

	memcpy(code, head, sizeof(head));
	return install(code, ask(code, HEAD, calls, SECCOMP_RET_ERRNO | EACCES, SECCOMP_RET_ALLOW),
		       NULL);
}

#else

int confine_refuse(const int *calls)
{
	(void)calls;
	return -ENOSYS;
}

int confine_without(const int *calls, void (*tell)(int number))
{
	(void)calls;
	(void)tell;
	return -ENOSYS;
}

int confine_calls(const int *calls, void (*tell)(int number))
{
	(void)calls;
	(void)tell;
	return -ENOSYS;
}

#endif
