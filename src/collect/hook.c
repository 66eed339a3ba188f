/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/hook.h"

#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "collect/host.h"
#include "collect/tracepoint.h"

/* Number of arguments that the programs read, where it is more than one. */
static int args_needed(const char *name)
{
	static const struct {
		const char *name;
		int args;
	} needs[] = {{"sched_switch", 3},       {"nmi_handler", 3},
		     {"tlb_flush", 2},          {"page_fault_user", 3},
		     {"irq_handler_exit", 2},   {"tasklet_entry", 2},
		     {"csd_function_entry", 2}, {"csd_queue_cpu", 4},
		     {"ipi_send_cpu", 3},       {"workqueue_queue_work", 3},
		     {"tick_stop", 2},          {"cpu_frequency", 2},
		     {"sched_migrate_task", 2}, {"task_rename", 2},
		     {"sched_process_fork", 2}, {"irq_noise", 4},
		     {"softirq_noise", 3},      {"thread_noise", 3},
		     {"nmi_noise", 2}};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!strcmp(needs[i].name, name))
			return needs[i].args;
	return 1;
}

const char *hook_place(const struct bpf_program *prog)
{
	const char *slash = strrchr(bpf_program__section_name(prog), '/');

	return slash ? slash + 1 : "";
}

bool hook_is_function(const struct bpf_program *prog)
{
	const char *section = bpf_program__section_name(prog);

	return strstr(section, "fentry/") || strstr(section, "fexit/");
}

bool hook_is_none(const struct bpf_program *prog)
{
	return !hook_place(prog)[0];
}

bool hook_is_kvm(const struct bpf_program *prog)
{
	return !strncmp(hook_place(prog), "kvm_", strlen("kvm_"));
}

int hook_exit_fields(int at[EXIT_FIELDS])
{
	static const struct {
		const char *of, *name;
		uint32_t size;
	} fields[EXIT_FIELDS] = {[EXIT_FIELD_REASON] = {"kvm/kvm_exit", "exit_reason", 4},
				 [EXIT_FIELD_ISA] = {"kvm/kvm_exit", "isa", 4},
				 [EXIT_FIELD_INFO1] = {"kvm/kvm_exit", "info1", 8},
				 [EXIT_FIELD_MSR] = {"kvm/kvm_msr", "ecx", 4}};

	for (int i = 0; i < EXIT_FIELDS; i++) {
		at[i] = tracepoint_field(fields[i].of, fields[i].name, fields[i].size);
		if (at[i] < 0)
			return at[i];
	}
	return 0;
}

static bool kvm_tells(const char *name)
{
	char tracepoint[64];
	int at[EXIT_FIELDS];

	snprintf(tracepoint, sizeof(tracepoint), "kvm/%s", name);
	return tracepoint_field(tracepoint, "common_pid", TRACEPOINT_FIELD_ANY) >= 0 &&
	       !hook_exit_fields(at);
}

bool hook_exists(const struct bpf_program *prog, const struct kernel *k)
{
	const char *name = hook_place(prog);

	if (hook_is_none(prog)) /* loading it tells */
		return true;
	if (hook_is_kvm(prog))
		return kvm_tells(name);
	if (hook_is_function(prog))
		return kernel_function_takes_programs(k, name);
	return kernel_tracepoint_args(k, name) >= args_needed(name);
}

enum hook_state hook_state(const struct bpf_program *prog, const struct kernel *k)
{
	char missing[64];

	host_missing_caps(missing, sizeof(missing));
	if (missing[0] && (hook_is_function(prog) || hook_is_kvm(prog)))
		return HOOK_NOT_KNOWN;
	return hook_exists(prog, k) ? HOOK_THERE : HOOK_ABSENT;
}
