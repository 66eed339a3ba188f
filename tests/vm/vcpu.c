/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A virtual machine of one CPU, made of /dev/kvm alone, that leaves its guest a known number of
 * times for each reason. Prints the numbers, and how often the kernel says that it left in all.
 *
 *     vcpu user|kernel [ROUNDS]   halts wait in this program, or in the kernel
 *
 * Its thread has a virtual CPU's name. Begins with a line on its standard input, and stays until
 * that is closed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MEMORY    (1 << 20)
#define CODE      0x1000
#define COUNTER   0x500 /* the guest writes its own there before it ends */
#define PORT      0x10
#define PORT_END  0x11
#define PORT_LATE 0x12 /* the device sleeps */
#define LATES     25
#define LATE_NS   1000000
#define OUTS      300
#define CPUIDS    200
#define WRITES    150
#define READS     120
#define HALTS     40
#define PAGES     64 /* from 0x20000 on */
#define HALT_NS   2000000
#define TEXT_(x)  #x
#define TEXT(x)   TEXT_(x)

/* The guest, in real mode. The model-specific register is EFER, which stays 0. */
/* clang-format off */
__asm__(".pushsection .rodata\n"
	".code16\n"
	"guest: mov $" TEXT(OUTS) ", %cx\n"
	"1: out %al, $" TEXT(PORT) "\n"
	"loop 1b\n"
	"mov $" TEXT(LATES) ", %cx\n"
	"8: out %al, $" TEXT(PORT_LATE) "\n"
	"loop 8b\n"
	"mov $" TEXT(CPUIDS) ", %si\n"
	"2: xor %eax, %eax\n"
	"cpuid\n"
	"dec %si\n"
	"jnz 2b\n"
	"mov $" TEXT(WRITES) ", %si\n"
	"mov $0xc0000080, %ecx\n"
	"3: xor %eax, %eax\n"
	"xor %edx, %edx\n"
	"wrmsr\n"
	"dec %si\n"
	"jnz 3b\n"
	"mov $" TEXT(READS) ", %si\n"
	"4: rdmsr\n"
	"dec %si\n"
	"jnz 4b\n"
	"mov $" TEXT(PAGES) ", %cx\n"
	"mov $0x2000, %bx\n"
	"5: mov %bx, %es\n"
	"movb $1, %es:0\n"
	"add $0x100, %bx\n"
	"loop 5b\n"
	"mov $" TEXT(HALTS) ", %cx\n"
	"6: hlt\n"
	"loop 6b\n"
	"rdtsc\n"
	"movl %eax, " TEXT(COUNTER) "\n"
	"movl %edx, " TEXT(COUNTER) " + 4\n"
	"out %al, $" TEXT(PORT_END) "\n"
	"7: jmp 7b\n"
	"guest_end:\n"
	".code64\n"
	".popsection\n");
/* clang-format on */
extern const char guest[], guest_end[];

static int vm, vcpu;
static struct kvm_run *run;
static bool in_kernel;
static unsigned outs, halts;
static const uint64_t *counter;  /* the guest's */
static uint64_t entered, exited; /* the counter here, around its last stay in the guest */
static pthread_t thread;
static pthread_barrier_t begin, end;
static _Atomic bool over;

static int fail(const char *what)
{
	fprintf(stderr, "vcpu: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int must(int result, const char *what)
{
	return result < 0 ? fail(what) : result;
}

static void ignore(int sig)
{
	(void)sig;
}

static void make(void)
{
	int kvm = must(open("/dev/kvm", O_RDWR | O_CLOEXEC), "/dev/kvm");
	struct kvm_userspace_memory_region memory = {.memory_size = MEMORY};
	struct kvm_sregs sregs;
	struct kvm_regs regs = {.rip = CODE, .rflags = 2};
	char *at = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int size = must(ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0), "KVM_GET_VCPU_MMAP_SIZE");

	if (at == MAP_FAILED)
		fail("mmap");
	madvise(at, MEMORY, MADV_NOHUGEPAGE);
	memcpy(at + CODE, guest, guest_end - guest);
	counter = (const uint64_t *)(at + COUNTER);
	vm = must(ioctl(kvm, KVM_CREATE_VM, 0), "KVM_CREATE_VM");
	if (in_kernel)
		must(ioctl(vm, KVM_CREATE_IRQCHIP, 0), "KVM_CREATE_IRQCHIP");
	memory.userspace_addr = (unsigned long)at;
	must(ioctl(vm, KVM_SET_USER_MEMORY_REGION, &memory), "KVM_SET_USER_MEMORY_REGION");
	vcpu = must(ioctl(vm, KVM_CREATE_VCPU, 0), "KVM_CREATE_VCPU");
	run = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		fail("mmap of the vCPU");
	must(ioctl(vcpu, KVM_GET_SREGS, &sregs), "KVM_GET_SREGS");
	sregs.cs.base = sregs.cs.selector = 0;
	must(ioctl(vcpu, KVM_SET_SREGS, &sregs), "KVM_SET_SREGS");
	must(ioctl(vcpu, KVM_SET_REGS, &regs), "KVM_SET_REGS");
}

/* A halted CPU goes on: that is what an interrupt would do. */
static void go_on(void)
{
	struct kvm_mp_state state;

	must(ioctl(vcpu, KVM_GET_MP_STATE, &state), "KVM_GET_MP_STATE");
	if (state.mp_state != KVM_MP_STATE_HALTED)
		return;
	halts++;
	state.mp_state = KVM_MP_STATE_RUNNABLE;
	must(ioctl(vcpu, KVM_SET_MP_STATE, &state), "KVM_SET_MP_STATE");
}

static void *be_a_cpu(void *unused)
{
	const struct timespec nap = {0, HALT_NS}, late = {0, LATE_NS};

	prctl(PR_SET_NAME, "CPU 0/KVM");
	pthread_barrier_wait(&begin);
	while (!over) {
		int err;

		entered = __builtin_ia32_rdtsc();
		err = ioctl(vcpu, KVM_RUN, 0);
		exited = __builtin_ia32_rdtsc();
		if (err) {
			if (errno != EINTR)
				fail("KVM_RUN");
			go_on();
		} else if (run->exit_reason == KVM_EXIT_IO && run->io.port == PORT) {
			outs++;
		} else if (run->exit_reason == KVM_EXIT_IO && run->io.port == PORT_LATE) {
			outs++;
			nanosleep(&late, NULL);
		} else if (run->exit_reason == KVM_EXIT_IO) {
			over = true;
		} else if (run->exit_reason == KVM_EXIT_HLT) {
			halts++;
			nanosleep(&nap, NULL);
		} else {
			fprintf(stderr, "vcpu: exit to here for %u\n", run->exit_reason);
			exit(1);
		}
	}
	/* As a machine's that is there: before 6.0 KVM does not tell whose thread it is. */
	pthread_barrier_wait(&end);
	return unused;
}

/* The kernel's count of exits; -1: not known. */
static long all_exits(void)
{
	char path[128];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/debug/kvm/%d-%d/exits", getpid(), vm);
	f = fopen(path, "r");
	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

int main(int argc, char **argv)
{
	struct sigaction kick = {.sa_handler = ignore};
	const struct timespec nap = {0, HALT_NS};

	in_kernel = argc > 1 && !strcmp(argv[1], "kernel");
	sigaction(SIGUSR1, &kick, NULL);
	make();
	pthread_barrier_init(&begin, NULL, 2);
	pthread_barrier_init(&end, NULL, 2);
	if (pthread_create(&thread, NULL, be_a_cpu, NULL))
		return 1;
	getchar();
	pthread_barrier_wait(&begin);
	while (!over) {
		nanosleep(&nap, NULL);
		if (in_kernel && !over)
			pthread_kill(thread, SIGUSR1);
	}
	printf("{\"IO\": %u, \"CPUID\": %u, \"MSR_WRITE\": %u, \"MSR_READ\": %u, \"HLT\": %u, "
	       "\"late\": %u, \"late_ns\": %u, \"pages\": %u, \"halts\": %u, \"exits\": %ld, "
	       "\"counter\": %llu, \"entered\": %llu, \"exited\": %llu}\n",
	       outs + 1, CPUIDS, WRITES, READS, HALTS, LATES, LATES * LATE_NS, PAGES, halts,
	       all_exits(), (unsigned long long)*counter, (unsigned long long)entered,
	       (unsigned long long)exited);
	fflush(stdout);
	while (getchar() != EOF)
		;
	pthread_barrier_wait(&end);
	pthread_join(thread, NULL);
	return 0;
}
