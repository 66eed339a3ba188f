/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advice in parts: each form that the cause book and the audit have, and names that would pose as
 * commands. What is to be typed stands in braces here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "audit/book.h"
#include "base/phrase.h"

static const char *marked(const char *advice, char *buf)
{
	struct phrase part = {0};

	buf[0] = '\0';
	while (phrase_next(advice, &part)) {
		strcat(buf, part.code ? "{" : "");
		strncat(buf, part.text, part.len);
		strcat(buf, part.code ? "}" : "");
	}
	return buf;
}

static void forms(void **state)
{
	static const char *const rows[] = {
		"",
		"{taskset -pc 0 152}",
		"{sysctl vm.stat_interval=120}",
		"{for i in $(seq 24 28); do echo 0-2 > /proc/irq/$i/smp_affinity_list; done}",
		"{systemctl stop irqbalance}, and move interrupts only before the run",
		"{systemctl stop thermald; rmmod intel_powerclamp acpi_pad}",
		"boot with {nohz_full=3 rcu_nocbs=3}",
		"boot with {nohz_full=3} or {rcu_nocbs=3}; no module unload, umount, netns delete",
		"boot with {rcu_nocb_poll}",
		"boot the guest with {no-kvmapf}; host: no swap, huge pages for its RAM",
		"record each side, for 10 s or longer; then {culprit diff a.rec b.rec}",
		"find out which: SMIs (H01), frequency (H08): {culprit explain H18}",
		"end the profiler ({pgrep -a perf}), or give it a fixed period ({perf record -c})",
		"no fork() after warm-up (or MADV_DONTFORK); {echo 2 > /sys/kernel/mm/ksm/run}",
		"limit the tool: {perf stat -C 0}; start it before the run",
		"on the host: {perf kvm stat live} says why the CPU left this guest",
		"see on the host what held up this guest's CPUs: {culprit explain H15}",
		"find the softirq that rises in {/proc/softirqs} and end its source (S01 to S07)",
		"start and stop tracers, BPF, tcpdump, perf and sysctl switches outside the run",
		"stop the monitor that sends this; or: {rmmod msr}",
		"dmesg shows the message: end what logs it",
		"{culprit audit --script} prints the commands",
		"use memory of the CPU's own node ({numactl --membind}), and a share of L3",
	};
	char text[512], buf[512];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *to = text;

		for (const char *c = rows[i]; *c; c++)
			if (*c != '{' && *c != '}')
				*to++ = *c;
		*to = '\0';
		assert_string_equal(marked(text, buf), rows[i]);
	}
}

/* Every advice of the book comes back whole, and none has an empty part. */
static void whole(void **state)
{
	(void)state;
	for (const struct cause *c = causes; c->id; c++) {
		struct phrase part = {0};
		size_t all = 0;

		while (c->advice && phrase_next(c->advice, &part)) {
			assert_ptr_equal(part.text, c->advice + all);
			all += part.len;
		}
		assert_int_equal(all, c->advice ? strlen(c->advice) : 0);
	}
}

static void sentences(void **state)
{
	static const char *const rows[][2] = {
		{"cpu 6 loses 0.44 % to the thread backup [4711]: taskset -pc 0 4711",
		 "taskset -pc 0 4711"},
		{"cpu 6 loses 0.44 % to the thread x: rmmod kvm [12]: taskset -pc 0 12",
		 "taskset -pc 0 12"},
		{"cpu 3 loses 2 % to the thread x: rmmod kvm [12]; no sockets on cpu 3", ""},
		{"cpu 3 loses 2 % to the thread x: echo hi [12]: the cause book has nothing on it",
		 ""},
		{"x: echo hi [12] loses 2 % to the tick: it is not nohz_full", ""},
		{"x: echo hi [12] is quiet: it lost 0.1 % of its time to hiccups", ""},
		{"cpu 3 loses 0.2 % to the softirq TIMER: culprit explain S01",
		 "culprit explain S01"},
		{"it is not nohz_full: sysctl kernel.sched_rt_runtime_us=-1; echo 0 > "
		 "/sys/kernel/debug/sched/fair_server/cpu3/runtime",
		 ""},
		{"kept by SCHED while x; rmmod b ran; sysctl kernel.sched_rt_runtime_us=-1; "
		 "echo 0 > /sys/a",
		 ""},
		{"cpu 3 loses 2 % to the thread x; rmmod b [12]: taskset -pc 0 12",
		 "taskset -pc 0 12"},
		{"kept by SCHED while backup ran; echo 0 > /sys/a", "echo 0 > /sys/a"},
		{"isolated; run culprit there", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(rows[i][0] + phrase_command(rows[i][0]), rows[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(whole),
		cmocka_unit_test(sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
