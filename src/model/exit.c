/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/exit.h"

#include <stdio.h>

#include "record.h"

/* arch/x86/include/uapi/asm/vmx.h; an I/O instruction is called as AMD's. */
static const char *const vmx[] = {
	[0] = "EXCEPTION_NMI",
	[1] = "EXTERNAL_INTERRUPT",
	[2] = "TRIPLE_FAULT",
	[3] = "INIT_SIGNAL",
	[4] = "SIPI_SIGNAL",
	[7] = "INTERRUPT_WINDOW",
	[8] = "NMI_WINDOW",
	[9] = "TASK_SWITCH",
	[10] = "CPUID",
	[12] = "HLT",
	[13] = "INVD",
	[14] = "INVLPG",
	[15] = "RDPMC",
	[16] = "RDTSC",
	[18] = "VMCALL",
	[19] = "VMCLEAR",
	[20] = "VMLAUNCH",
	[21] = "VMPTRLD",
	[22] = "VMPTRST",
	[23] = "VMREAD",
	[24] = "VMRESUME",
	[25] = "VMWRITE",
	[26] = "VMOFF",
	[27] = "VMON",
	[28] = "CR_ACCESS",
	[29] = "DR_ACCESS",
	[30] = "IO",
	[31] = "MSR_READ",
	[32] = "MSR_WRITE",
	[33] = "INVALID_STATE",
	[34] = "MSR_LOAD_FAIL",
	[36] = "MWAIT",
	[37] = "MONITOR_TRAP_FLAG",
	[39] = "MONITOR",
	[40] = "PAUSE",
	[41] = "MCE_DURING_VMENTRY",
	[43] = "TPR_BELOW_THRESHOLD",
	[44] = "APIC_ACCESS",
	[45] = "EOI_INDUCED",
	[46] = "GDTR_IDTR",
	[47] = "LDTR_TR",
	[48] = "EPT_VIOLATION",
	[49] = "EPT_MISCONFIG",
	[50] = "INVEPT",
	[51] = "RDTSCP",
	[52] = "PREEMPTION_TIMER",
	[53] = "INVVPID",
	[54] = "WBINVD",
	[55] = "XSETBV",
	[56] = "APIC_WRITE",
	[57] = "RDRAND",
	[58] = "INVPCID",
	[59] = "VMFUNC",
	[60] = "ENCLS",
	[61] = "RDSEED",
	[62] = "PML_FULL",
	[63] = "XSAVES",
	[64] = "XRSTORS",
	[67] = "UMWAIT",
	[68] = "TPAUSE",
	[74] = "BUS_LOCK",
	[75] = "NOTIFY",
	[77] = "TDCALL",
};

/* arch/x86/include/uapi/asm/svm.h, from its first number with a name of its own on */
#define SVM_FIRST 0x60
static const char *const svm[] = {
	[0x60 - SVM_FIRST] = "INTERRUPT",   [0x61 - SVM_FIRST] = "NMI",
	[0x62 - SVM_FIRST] = "SMI",         [0x63 - SVM_FIRST] = "INIT",
	[0x64 - SVM_FIRST] = "VINTR",       [0x65 - SVM_FIRST] = "CR0_SEL_WRITE",
	[0x66 - SVM_FIRST] = "READ_IDTR",   [0x67 - SVM_FIRST] = "READ_GDTR",
	[0x68 - SVM_FIRST] = "READ_LDTR",   [0x69 - SVM_FIRST] = "READ_TR",
	[0x6a - SVM_FIRST] = "WRITE_IDTR",  [0x6b - SVM_FIRST] = "WRITE_GDTR",
	[0x6c - SVM_FIRST] = "WRITE_LDTR",  [0x6d - SVM_FIRST] = "WRITE_TR",
	[0x6e - SVM_FIRST] = "RDTSC",       [0x6f - SVM_FIRST] = "RDPMC",
	[0x70 - SVM_FIRST] = "PUSHF",       [0x71 - SVM_FIRST] = "POPF",
	[0x72 - SVM_FIRST] = "CPUID",       [0x73 - SVM_FIRST] = "RSM",
	[0x74 - SVM_FIRST] = "IRET",        [0x75 - SVM_FIRST] = "SWINT",
	[0x76 - SVM_FIRST] = "INVD",        [0x77 - SVM_FIRST] = "PAUSE",
	[0x78 - SVM_FIRST] = "HLT",         [0x79 - SVM_FIRST] = "INVLPG",
	[0x7a - SVM_FIRST] = "INVLPGA",     [0x7b - SVM_FIRST] = "IO",
	[0x7c - SVM_FIRST] = "MSR_READ",    [0x7d - SVM_FIRST] = "TASK_SWITCH",
	[0x7e - SVM_FIRST] = "FERR_FREEZE", [0x7f - SVM_FIRST] = "SHUTDOWN",
	[0x80 - SVM_FIRST] = "VMRUN",       [0x81 - SVM_FIRST] = "VMMCALL",
	[0x82 - SVM_FIRST] = "VMLOAD",      [0x83 - SVM_FIRST] = "VMSAVE",
	[0x84 - SVM_FIRST] = "STGI",        [0x85 - SVM_FIRST] = "CLGI",
	[0x86 - SVM_FIRST] = "SKINIT",      [0x87 - SVM_FIRST] = "RDTSCP",
	[0x88 - SVM_FIRST] = "ICEBP",       [0x89 - SVM_FIRST] = "WBINVD",
	[0x8a - SVM_FIRST] = "MONITOR",     [0x8b - SVM_FIRST] = "MWAIT",
	[0x8c - SVM_FIRST] = "MWAIT_COND",  [0x8d - SVM_FIRST] = "XSETBV",
	[0x8e - SVM_FIRST] = "RDPRU",       [0x8f - SVM_FIRST] = "EFER_WRITE_TRAP",
	[0xa2 - SVM_FIRST] = "INVPCID",     [0xa5 - SVM_FIRST] = "BUS_LOCK",
	[0xa6 - SVM_FIRST] = "IDLE_HLT",
};

static const char *const svm_more[] = {"NPF", "AVIC_INCOMPLETE_IPI", "AVIC_UNACCELERATED_ACCESS",
				       "VMGEXIT"}; /* from 0x400 on */
#define SVM_MORE 0x400

#define NAME_IN(names, i) ((i) < sizeof(names) / sizeof((names)[0]) ? (names)[i] : NULL)

static const char *svm_name(uint32_t reason)
{
	if (reason >= SVM_MORE)
		return NAME_IN(svm_more, reason - SVM_MORE);
	return reason >= SVM_FIRST ? NAME_IN(svm, reason - SVM_FIRST) : NULL;
}

/* AMD's first numbers: registers that are read or written, and exceptions. */
static char *svm_numbered(uint32_t reason, char *buf, size_t len)
{
	static const char *const forms[] = {"READ_CR%u", "WRITE_CR%u", "READ_DR%u", "WRITE_DR%u"};

	if (reason < 0x40)
		snprintf(buf, len, forms[reason / 16], reason % 16);
	else
		snprintf(buf, len, "EXCEPTION_%u", reason - 0x40);
	return buf;
}

/* The registers that guests touch most, of arch/x86/include/asm/msr-index.h and apicdef.h. */
static const char *msr_name(uint32_t msr)
{
	switch (msr) {
	case 0x10:
		return " TSC";
	case 0x48:
		return " SPEC_CTRL";
	case 0x6e0:
		return " TSC_DEADLINE";
	case 0x80b:
		return " X2APIC_EOI";
	case 0x830:
		return " X2APIC_ICR";
	case 0x838:
		return " X2APIC_TMICT";
	case 0xc0000080:
		return " EFER";
	default:
		return "";
	}
}

/* False: there is no such place. */
static bool find_msr(uint32_t place, uint32_t *msr)
{
	place--;
#define RANGE(first, count)                                                                        \
	if (place < (count)) {                                                                     \
		*msr = (first) + place;                                                            \
		return true;                                                                       \
	}                                                                                          \
	place -= (count);
	EXIT_MSRS(RANGE)
#undef RANGE
	return false;
}

/* Writes which port or register it was, where that is known. */
static void place_name(uint32_t id, char *buf, size_t len)
{
	uint32_t place = EXIT_PLACE(id), msr;

	*buf = '\0';
	if (EXIT_IS_IO(id) && place && place <= EXIT_PORTS)
		snprintf(buf, len, " 0x%x", place - 1);
	else if (EXIT_IS_MSR(id) && place && find_msr(place, &msr))
		snprintf(buf, len, " 0x%x%s", msr, msr_name(msr));
}

char *exit_name(uint32_t id, char *buf, size_t len)
{
	uint32_t isa = EXIT_ISA(id), reason = EXIT_REASON(id);
	char text[24], place[32];
	const char *name = isa == EXIT_VMX   ? NAME_IN(vmx, reason)
			   : isa == EXIT_SVM ? svm_name(reason)
					     : NULL;

	place_name(id, place, sizeof(place));
	if (EXIT_PLAIN(id) == (EXIT_SVM_MSR | EXIT_WRITES))
		name = "MSR_WRITE";
	else if (isa == EXIT_SVM && reason < SVM_FIRST)
		name = svm_numbered(reason, text, sizeof(text));
	if (id == EXIT_STOPPED)
		name = "STOPPED";
	if (name)
		snprintf(buf, len, "exit %s%s", name, place);
	else
		snprintf(buf, len, "exit %s %#x",
			 isa == EXIT_VMX   ? "VMX"
			 : isa == EXIT_SVM ? "SVM"
					   : "of an unknown kind",
			 reason);
	return buf;
}

bool exit_may_halt(uint32_t id)
{
	static const uint32_t may[] = {
		EXIT_ID(EXIT_VMX, 18),    /* VMCALL */
		EXIT_ID(EXIT_VMX, 36),    /* MWAIT */
		EXIT_ID(EXIT_VMX, 77),    /* TDCALL */
		EXIT_ID(EXIT_SVM, 0x81),  /* VMMCALL */
		EXIT_ID(EXIT_SVM, 0x8b),  /* MWAIT */
		EXIT_ID(EXIT_SVM, 0x8c),  /* MWAIT_COND */
		EXIT_ID(EXIT_SVM, 0xa6),  /* IDLE_HLT */
		EXIT_ID(EXIT_SVM, 0x403), /* VMGEXIT */
	};

	for (size_t i = 0; i < sizeof(may) / sizeof(may[0]); i++)
		if (may[i] == id)
			return true;
	return false;
}

bool exit_is_hosts(uint32_t id)
{
	uint32_t reason = EXIT_REASON(id);

	if (EXIT_ISA(id) == EXIT_VMX)
		return reason == 1;
	return EXIT_ISA(id) == EXIT_SVM && reason >= 0x60 && reason <= 0x62;
}
