/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Askers: how they are told apart and counted, which frame of a stack is named, and that the nest
 * gives each interval its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/nest.h"
#include "model/asker.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define FRAMES_MAX   40

/* Stacks by id. */
static const char *const stacks[][FRAMES_MAX] = {
	{"insert_work", "__queue_work", "queue_work_on", "vmstat_shepherd", "process_one_work"},
	{"try_to_wake_up", "wake_up_q", "futex_wake", "do_syscall_64"},
	{"ttwu_queue_wakelist", "try_to_wake_up", "hrtimer_wakeup",
	 "asm_sysvec_apic_timer_interrupt", "do_work"},
	{"__queue_work", "delayed_work_timer_fn", "call_timer_fn", "handle_softirqs",
	 "irq_exit_rcu"},
	{"smp_call_function_many_cond", "on_each_cpu_cond_mask"}, /* helpers only */
	{"bpf_prog_1 [bpf]", "[unknown 0xffffffff81000000]", "flush_tlb_mm_range"},
	{"el1h_64_irq", "default_idle"},
	{NULL},
};

/* The same text is at a new place each time, as it may be when several addresses lie in one
 * function. */
static const char *name_symbol(void *ctx, uint64_t address)
{
	static char text[256][24];
	static unsigned next;
	char *at = text[next++ % COUNT(text)];

	(void)ctx;
	snprintf(at, sizeof(text[0]), "site_%llu", (unsigned long long)address);
	return at;
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	int n = 0;

	(void)ctx;
	assert_in_range(id, 0, COUNT(stacks) - 1);
	for (; n < FRAMES_MAX && stacks[id][n]; n++)
		frame[n] = stacks[id][n];
	return n;
}

static const struct names names = {.symbol = name_symbol, .stack = name_stack};

static struct record asker(uint16_t cpu, uint32_t tid, const char *comm, int32_t stack,
			   uint64_t site)
{
	struct record r = {
		.kind = RECORD_MARK, .mark = MARK_CSD, .flags = RECORD_ASKED, .level = LEVEL_IRQ};

	r.asker_cpu = cpu;
	r.id = tid;
	r.stack = stack;
	r.callsite = site;
	memcpy(r.name, comm, strnlen(comm, sizeof(r.name)));
	return r;
}

/* Returns 1 + the row of who asked, 0: it cannot be told. */
#define CLEARED __attribute__((cleanup(askers_clear)))

static uint32_t add_record(struct askers *o, const struct record *r)
{
	const struct asker *a = askers_add(o, r, &names);

	return a ? 1 + (uint32_t)((const struct asker_row *)a - o->row)
		 : 0; /* a row begins with its asker */
}

static uint32_t add(struct askers *o, uint16_t cpu, uint32_t tid, const char *comm, int32_t stack,
		    uint64_t site)
{
	struct record r = asker(cpu, tid, comm, stack, site);

	return add_record(o, &r);
}

static void test_each_part_of_the_key_counts(void **state)
{
	struct askers o CLEARED = {.count = 0};

	(void)state;
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(add(&o, 1, 10, "a", -1, 5), 1);
		assert_int_equal(add(&o, 2, 10, "a", -1, 5), 2);
		assert_int_equal(add(&o, 1, 11, "a", -1, 5), 3);
		assert_int_equal(add(&o, 1, 10, "b", -1, 5), 4);
		assert_int_equal(add(&o, 1, 10, "a", -1, 6), 5);
		assert_int_equal(add(&o, 1, 10, "a", -1, 0), 6);
		assert_int_equal(add(&o, 1, 10, "a", 1, 5), 7);
		assert_int_equal(o.count, 7);
		assert_int_equal(o.known, 7 * i);
		for (unsigned row = 0; row < o.count; row++)
			assert_int_equal(o.row[row].count, i);
	}
	assert_int_equal(o.unnamed, 0);
	assert_int_equal(o.row[1].who.cpu, 2);
	assert_int_equal(o.row[2].who.tid, 11);
	assert_string_equal(o.row[3].who.comm, "b");
	assert_string_equal(o.row[4].who.function, "site_6");
	assert_null(o.row[5].who.function);
	assert_string_equal(o.row[6].who.function, "futex_wake");
}

static const char *name_owner(void *ctx, uint32_t group)
{
	assert_in_range(group, OWNER_ROOT + 1, 9); /* nobody asks whose the root is */
	++*(unsigned *)ctx;
	return group == 9 ? NULL : "/system.slice/app.service";
}

/* A thread that moved to another group is another asker; an interrupt upon it is nobody's. */
static void test_owners(void **state)
{
	static const struct {
		uint32_t group;
		int32_t stack;
		uint32_t row, cgroup;
		bool known;
	} requests[] = {{5, 1, 1, 5, true},  {6, 1, 2, 6, true},  {5, 1, 1, 5, true},
			{9, 1, 3, 9, false}, {0, 1, 4, 0, false}, {OWNER_ROOT, 1, 4, 0, false},
			{5, 2, 5, 0, false}, {5, -1, 6, 5, true}};
	unsigned asked = 0;
	const struct names owned = {
		.ctx = &asked, .symbol = name_symbol, .stack = name_stack, .owner = name_owner};
	struct askers o CLEARED = {.count = 0};

	(void)state;
	for (unsigned i = 0; i < COUNT(requests); i++) {
		struct record r = asker(1, 10, "a", requests[i].stack, OWNER(7, requests[i].group));
		const struct asker *a;

		r.flags |= RECORD_OWNED;
		a = askers_add(&o, &r, &owned);
		assert_non_null(a);
		assert_int_equal(1 + ((const struct asker_row *)a - o.row), requests[i].row);
		assert_int_equal(a->cgroup, requests[i].cgroup);
		assert_int_equal(a->owner != NULL, requests[i].known);
		/* an owner is no call site */
		assert_true(!a->function == (requests[i].stack < 0));
	}
	assert_int_equal(asked, 6);
}

static void test_without_names(void **state)
{
	struct askers o CLEARED = {.count = 0};
	struct record r = asker(1, 10, "a", 1, 5);

	(void)state;
	assert_null(askers_add(&o, &r, NULL));
	assert_int_equal(o.count + o.known + o.unnamed, 0);
}

static const struct {
	int32_t stack;
	uint64_t site;
	const char *function;
	enum asker_kind kind;
} requests[] = {
	{0, 9, "vmstat_shepherd", ASKER_THREAD},
	{1, 9, "futex_wake", ASKER_THREAD},
	{2, 9, "hrtimer_wakeup", ASKER_INTERRUPT},
	{3, 9, "delayed_work_timer_fn", ASKER_SOFTIRQ},
	{4, 9, "site_9", ASKER_THREAD}, /* nothing but helpers: the call site says more */
	{4, 0, "on_each_cpu_cond_mask", ASKER_THREAD}, /* the outermost helper */
	{5, 9, "flush_tlb_mm_range", ASKER_THREAD},
	{6, 9, "el1h_64_irq", ASKER_INTERRUPT},
	{-1, 9, "site_9", ASKER_THREAD}, /* noted on a target: its context is known */
	{-1, 0, NULL, ASKER_THREAD},
};

static const char *name_of(enum asker_kind kind, const char *thread)
{
	return kind == ASKER_THREAD ? thread : kind == ASKER_SOFTIRQ ? "(softirq)" : "(interrupt)";
}

/* Without a readable stack it may have been an interrupt on top of any thread: nobody is named. */
static void test_unreadable(void **state)
{
	static const int32_t without[] = {7, -2}; /* empty; none could be had */

	(void)state;
	for (unsigned i = 0; i < COUNT(without); i++) {
		struct askers o CLEARED = {.count = 0};

		assert_int_equal(add(&o, 3, 77, "innocent", without[i], 9), 0);
		assert_int_equal(o.count, 0);
		assert_int_equal(o.known, 1);
		assert_int_equal(o.unnamed, 1);
	}
}

static void test_functions(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(requests); i++) {
		struct askers o CLEARED = {.count = 0};
		int frames = 0;

		assert_int_equal(add(&o, 3, 77, "a long name", requests[i].stack, requests[i].site),
				 1);
		if (requests[i].function)
			assert_string_equal(o.row[0].who.function, requests[i].function);
		else
			assert_null(o.row[0].who.function);
		assert_int_equal(o.row[0].who.cpu, 3);
		assert_int_equal(o.row[0].who.kind, requests[i].kind);
		assert_int_equal(o.row[0].who.tid, requests[i].kind == ASKER_THREAD ? 77 : 0);
		assert_string_equal(o.row[0].who.comm, name_of(requests[i].kind, "a long name"));
		while (requests[i].stack >= 0 && stacks[requests[i].stack][frames]) {
			assert_string_equal(o.row[0].frame[frames],
					    stacks[requests[i].stack][frames]);
			frames++;
		}
		assert_int_equal(o.row[0].nframes, frames);
	}
}

/* Interrupts that ask the same are one asker, whatever thread they interrupted. */
static void test_interrupts_are_one(void **state)
{
	struct askers o CLEARED = {.count = 0};

	(void)state;
	assert_int_equal(add(&o, 3, 77, "a name of 16 byt", 2, 0), 1);
	assert_int_equal(add(&o, 3, 78, "b", 2, 0), 1);
	assert_int_equal(add(&o, 4, 77, "a name of 16 byt", 2, 0), 2);
	assert_int_equal(add(&o, 3, 77, "a name of 16 byt", 3, 0), 3);
	assert_int_equal(o.row[0].count, 2);
	assert_int_equal(o.known, 4);
}

static void test_comms_of_any_bytes(void **state)
{
	struct askers o CLEARED = {.count = 0};

	(void)state;
	assert_int_equal(add(&o, 0, 1, "0123456789abcdef", -1, 0),
			 1); /* no NUL: what follows is not the name's */
	assert_int_equal(add(&o, 0, 1, "0123456789abcde", -1, 0), 2);
	assert_int_equal(add(&o, 0, 1, "\x1b]0;x\x07\xff\xc3\n", -1, 0), 3);
	assert_int_equal(add(&o, 0, 1, "", -1, 0), 4);
	assert_int_equal(add(&o, 0, 1, "0123456789abcdef", -1, 0), 1);
	assert_string_equal(o.row[0].who.comm, "0123456789abcdef");
	assert_string_equal(o.row[1].who.comm, "0123456789abcde");
	assert_string_equal(o.row[2].who.comm, "\x1b]0;x\x07\xff\xc3\n");
	assert_string_equal(o.row[3].who.comm, "");
}

/* ---- contexts ---- */

#define UDP_IN_SOFTIRQ                                                                             \
	"try_to_wake_up", "autoremove_wake_function", "__wake_up_common", "__wake_up_sync_key",    \
		"sock_def_readable", "__udp_enqueue_schedule_skb", "udp_queue_rcv_one_skb",        \
		"udp_unicast_rcv_skb", "__udp4_lib_rcv", "ip_protocol_deliver_rcu",                \
		"ip_local_deliver_finish", "__netif_receive_skb_one_core", "process_backlog",      \
		"__napi_poll", "net_rx_action"
#define SYSTEM_CALL "ip_output", "udp_send_skb", "udp_sendmsg", "__sys_sendto", "do_syscall_64"

/* The reading of a stack, with the context that the probe noted: 0 where the kernel has no counter
 * that it can read. */
static const struct {
	const char *what;
	const char *frame[FRAMES_MAX];
	enum asker_kind without, irq, softirq, thread; /* by the probe's word */
} shapes[] = {
	{"a signal ends the thread on its way out of an interrupt",
	 {"try_to_wake_up", "do_notify_parent", "do_exit", "get_signal",
	  "arch_do_signal_or_restart", "exit_to_user_mode_loop", "irqentry_exit",
	  "asm_sysvec_reschedule_ipi"},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_THREAD},
	{"the thread is preempted behind an interrupt, and its worker pool wakes another",
	 {"try_to_wake_up", "wq_worker_sleeping", "schedule", "preempt_schedule_irq",
	  "irqentry_exit", "asm_sysvec_apic_timer_interrupt"},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_THREAD},
	{"a system call",
	 {"try_to_wake_up", "wake_up_q", "futex_wake", "do_syscall_64"},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_THREAD},
	{"a hard interrupt",
	 {"try_to_wake_up", "hrtimer_wakeup", "__hrtimer_run_queues", "sysvec_apic_timer_interrupt",
	  "asm_sysvec_apic_timer_interrupt", "ksys_read", "do_syscall_64"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"a hard interrupt by FRED",
	 {"try_to_wake_up", "hrtimer_wakeup", "fred_sysvec_apic_timer_interrupt", "fred_extint",
	  "asm_fred_entrypoint_user"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"a hard interrupt, arm64",
	 {"try_to_wake_up", "__handle_irq_event_percpu", "gic_handle_irq", "call_on_irq_stack",
	  "el0_interrupt", "el0t_64_irq"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"an NMI",
	 {"irq_work_queue_on", "perf_event_overflow", "nmi_handle", "exc_nmi", "asm_exc_nmi",
	  "do_syscall_64"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"a softirq at the end of an interrupt",
	 {"try_to_wake_up", "process_timeout", "call_timer_fn", "run_timer_softirq",
	  "handle_softirqs", "__irq_exit_rcu", "sysvec_apic_timer_interrupt",
	  "asm_sysvec_apic_timer_interrupt", "do_syscall_64"},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"the same, 5.10",
	 {"try_to_wake_up", "process_timeout", "call_timer_fn", "run_timer_softirq",
	  "__softirqentry_text_start", "asm_call_irq_on_stack", "do_softirq_own_stack",
	  "irq_exit_rcu", "sysvec_apic_timer_interrupt"},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"ksoftirqd woken at the end of an interrupt, which counts as none any more",
	 {"try_to_wake_up", "wakeup_softirqd", "__irq_exit_rcu", "sysvec_apic_timer_interrupt",
	  "asm_sysvec_apic_timer_interrupt", "do_syscall_64"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"RCU's thread woken on the way back to user space from an interrupt",
	 {"try_to_wake_up", "swake_up_one", "__wake_nocb_gp", "rcu_nocb_flush_deferred_wakeup",
	  "irqentry_exit_to_user_mode", "asm_sysvec_apic_timer_interrupt"},
	 ASKER_INTERRUPT,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT},
	{"a message over loopback, carried by its sender",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "do_softirq.part.0", "__local_bh_enable_ip",
	  "__dev_queue_xmit", SYSTEM_CALL},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_THREAD,
	 ASKER_THREAD},
	{"the same, 5.10",
	 {UDP_IN_SOFTIRQ, "__softirqentry_text_start", "asm_call_irq_on_stack",
	  "do_softirq_own_stack", "do_softirq", "__local_bh_enable_ip", "ip_finish_output2",
	  SYSTEM_CALL},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_THREAD,
	 ASKER_THREAD},
	{"the same, arm64",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "__do_softirq", "____do_softirq", "call_on_irq_stack",
	  "do_softirq_own_stack", "do_softirq.part.0", "__local_bh_enable_ip", "__dev_queue_xmit",
	  SYSTEM_CALL, "el0t_64_sync"},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_THREAD,
	 ASKER_THREAD},
	{"the same, PREEMPT_RT",
	 {UDP_IN_SOFTIRQ, "handle_softirqs.constprop.0", "__local_bh_enable_ip", "__dev_queue_xmit",
	  SYSTEM_CALL},
	 ASKER_THREAD,
	 ASKER_INTERRUPT,
	 ASKER_THREAD,
	 ASKER_THREAD},
	{"the same, and the sender does not show any more",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "do_softirq.part.0", "__local_bh_enable_ip"},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"a message that came while an innocent kept softirqs off",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "do_softirq.part.0", "__local_bh_enable_ip",
	  "tcp_v4_rcv", "release_sock", "tcp_recvmsg", "do_syscall_64"},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"a timer that expired while a sender kept softirqs off",
	 {"try_to_wake_up", "process_timeout", "call_timer_fn", "run_timer_softirq",
	  "handle_softirqs", "do_softirq.part.0", "__local_bh_enable_ip", "__dev_queue_xmit",
	  SYSTEM_CALL},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"messages at the end of an interrupt that hit a sender",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "__irq_exit_rcu", "sysvec_call_function_single",
	  "asm_sysvec_call_function_single", "__local_bh_enable_ip", "__dev_queue_xmit",
	  SYSTEM_CALL},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
	{"ksoftirqd",
	 {UDP_IN_SOFTIRQ, "handle_softirqs", "run_ksoftirqd", "smpboot_thread_fn", "kthread",
	  "ret_from_fork"},
	 ASKER_SOFTIRQ,
	 ASKER_INTERRUPT,
	 ASKER_SOFTIRQ,
	 ASKER_SOFTIRQ},
};

static int shape_stack(void *ctx, int32_t id, const char **frame)
{
	int n = 0;

	(void)ctx;
	for (; n < FRAMES_MAX && shapes[id].frame[n]; n++)
		frame[n] = shapes[id].frame[n];
	return n;
}

static void assert_shape(unsigned shape, unsigned context, enum asker_kind want)
{
	static const struct names shape_names = {.symbol = name_symbol, .stack = shape_stack};
	struct record r = asker(3, 77, "current", (int32_t)shape, 0);
	struct askers o CLEARED = {.count = 0};
	const struct asker *a;

	r.flags |= context;
	a = askers_add(&o, &r, &shape_names);
	assert_non_null(a);
	if (a->kind != want)
		fail_msg("%s, by context %u: %u, not %u", shapes[shape].what, context, a->kind,
			 want);
	assert_int_equal(a->tid, want == ASKER_THREAD ? 77 : 0);
	assert_string_equal(a->comm, name_of(want, "current"));
	if (want == ASKER_THREAD)
		assert_null(asker_context(a));
	else
		assert_string_equal(asker_context(a),
				    want == ASKER_SOFTIRQ ? "a softirq" : "an interrupt");
}

static void test_shapes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT(shapes); i++) {
		assert_shape(i, 0, shapes[i].without);
		assert_shape(i, RECORD_BY_INTERRUPT, shapes[i].irq);
		assert_shape(i, RECORD_BY_SOFTIRQ, shapes[i].softirq);
		assert_shape(i, RECORD_BY_THREAD, shapes[i].thread);
	}
}

/* Softirqs and interrupts are known without a stack; the current thread does not matter. */
static void test_contexts_without_a_stack(void **state)
{
	static const struct {
		int32_t stack;
		unsigned context;
		uint32_t tid;
		const char *comm;
		enum asker_kind kind;
	} cases[] = {
		{-1, RECORD_BY_INTERRUPT, 0, "", ASKER_INTERRUPT},
		{-2, RECORD_BY_INTERRUPT, 9, "hit", ASKER_INTERRUPT},
		{-1, RECORD_BY_SOFTIRQ, 0, "", ASKER_SOFTIRQ},
		{-2, RECORD_BY_SOFTIRQ, 9, "hit", ASKER_SOFTIRQ},
		{-1, RECORD_BY_THREAD, 9, "does", ASKER_THREAD},
		{-1, RECORD_BY_THREAD, 0, "swapper/3", ASKER_THREAD}, /* the idle thread is one */
		{-2, RECORD_BY_THREAD, 9, "hit",
		 ASKER_UNKNOWN}, /* perhaps the end of an interrupt */
		{-2, 0, 9, "hit", ASKER_UNKNOWN},
		{-1, 0, 0, "(interrupt)", ASKER_INTERRUPT}, /* recordings of old */
		{-1, 0, 9, "(interrupt)", ASKER_THREAD}, /* the name that a thread gives itself */
		{-1, RECORD_BY_THREAD, 9, "(softirq)", ASKER_THREAD},
	};

	(void)state;
	for (unsigned i = 0; i < COUNT(cases); i++) {
		struct record r = asker(3, cases[i].tid, cases[i].comm, cases[i].stack, 9);
		struct askers o CLEARED = {.count = 0};
		const struct asker *a;

		r.flags |= cases[i].context;
		a = askers_add(&o, &r, &names);
		assert_int_equal(a ? a->kind : ASKER_UNKNOWN, cases[i].kind);
		assert_int_equal(o.unnamed, !a);
		if (!a)
			continue;
		assert_string_equal(a->comm, name_of(cases[i].kind, cases[i].comm));
		assert_int_equal(a->tid, cases[i].kind == ASKER_THREAD ? cases[i].tid : 0);
		assert_string_equal(a->function, "site_9");
	}
}

/* The same thread, from the same place, but not in the same context. */
static void test_contexts_are_kept_apart(void **state)
{
	static const unsigned contexts[] = {RECORD_BY_THREAD, RECORD_BY_SOFTIRQ,
					    RECORD_BY_INTERRUPT};
	struct askers o CLEARED = {.count = 0};

	(void)state;
	for (unsigned i = 0; i < 3 * COUNT(contexts); i++) {
		struct record r = asker(0, 5, "one", -1, 9);

		r.flags |= contexts[i % COUNT(contexts)];
		assert_int_equal(add_record(&o, &r), 1 + i % COUNT(contexts));
	}
	assert_int_equal(o.count, COUNT(contexts));
}

/* ---- more than there are rows for ---- */

#define ASKERS 4000

static uint64_t truth[ASKERS], asked, unnamed;

/* The rows must be true of what happened. */
static void assert_true_of(const struct askers *o)
{
	uint64_t sum = 0;

	assert_int_equal(o->known, asked);
	assert_int_equal(o->unnamed, unnamed);
	for (uint32_t i = 0; i < o->count; i++) {
		const struct asker_row *r = &o->row[i];

		assert_in_range(r->who.tid, 1, ASKERS - 1);
		assert_true(r->count >= 1 && r->count <= truth[r->who.tid]);
		assert_true(truth[r->who.tid] <= r->count + r->missed);
		sum += r->count + r->missed;
		for (uint32_t k = 0; k < i; k++)
			assert_int_not_equal(r->who.tid, o->row[k].who.tid);
	}
	assert_int_equal(sum, o->known - o->unnamed);
	for (uint32_t tid = 1; tid < ASKERS;
	     tid++) { /* askers who made more than one in ASKERS_MAX are here */
		bool here = truth[tid] * ASKERS_MAX <= asked - unnamed;

		for (uint32_t i = 0; i < o->count; i++)
			here |= o->row[i].who.tid == tid;
		assert_true(here);
	}
}

static void begin_counting(void)
{
	memset(truth, 0, sizeof(truth));
	asked = unnamed = 0;
}

static uint32_t ask(struct askers *o, uint32_t tid)
{
	truth[tid]++;
	asked++;
	return add(o, 0, tid, "many", -1, 0);
}

static void test_as_many_as_rows(void **state)
{
	struct askers o CLEARED = {.count = 0};

	(void)state;
	begin_counting();
	for (uint32_t n = 0; n < 3; n++)
		for (uint32_t tid = 1; tid <= ASKERS_MAX; tid++)
			assert_int_equal(ask(&o, tid), tid);
	assert_true_of(&o);
	for (uint32_t i = 0; i < o.count; i++)
		assert_int_equal(o.row[i].count + o.row[i].missed, 3);
}

/* The first askers never come again; the most frequent one comes late. */
static void test_the_heaviest_comes_late(void **state)
{
	struct askers o CLEARED = {.count = 0};
	uint32_t top, tid = 1;

	(void)state;
	begin_counting();
	for (; tid <= 70; tid++)
		ask(&o, tid);
	for (uint32_t n = 0; n < 535; n++) {
		ask(&o, ASKERS - 1);
		if (n % 8 == 0)
			ask(&o, tid++);
	}
	assert_true_of(&o);
	assert_int_equal(askers_top(&o, &top, 1), 1);
	assert_int_equal(o.row[top].who.tid, ASKERS - 1);
	assert_int_equal(o.row[top].count, 535);
	assert_true(o.row[top].missed > 0 && o.row[top].missed <= 3);
	assert_null(o.row[top].who.function);
	unnamed++;
	asked++;
	assert_int_equal(add(&o, 0, 1, "many", -2, 0),
			 0); /* cannot be told, and takes nobody's row */
	assert_true_of(&o);
}

/* Any stream: few heavy ones among many, at random. */
static void test_any_stream(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct askers o CLEARED = {.count = 0};
		uint64_t x = seed * 0x9e3779b97f4a7c15ULL;

		begin_counting();
		for (uint32_t n = 0; n < 3000; n++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			ask(&o, 1 + (x >> 8) % (x % 4 ? 1 + seed : ASKERS - 1));
		}
		assert_true_of(&o);
	}
}

/* Two sources become one: the rows stay true of both together. */
static void test_merged(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct askers o CLEARED = {.count = 0}, other CLEARED = {.count = 0};
		uint64_t x = seed * 0x9e3779b97f4a7c15ULL, least = UINT64_MAX;

		begin_counting();
		for (uint32_t n = 0; n < 2000; n++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			ask(x >> 60 < seed % 16 ? &o : &other,
			    1 + (x >> 8) % (x % 4 ? 1 + seed : ASKERS - 1));
		}
		askers_merge(&o, &other);
		assert_int_equal(o.known, asked);
		for (uint32_t i = 0; i < o.count; i++) {
			const struct asker_row *r = &o.row[i];

			assert_true(r->count <= truth[r->who.tid] &&
				    truth[r->who.tid] <= r->count + r->missed);
			least = r->count + r->missed < least ? r->count + r->missed : least;
			for (uint32_t k = 0; k < i; k++)
				assert_int_not_equal(r->who.tid, o.row[k].who.tid);
			truth[r->who.tid] = 0;
		}
		for (uint32_t tid = 1; tid < ASKERS; tid++) /* askers without a row */
			assert_true(truth[tid] <= least);
	}
}

/* Stack ids from 1000 on are one kernel stack, each with a user stack of its own. */
static int name_user_stack(void *ctx, int32_t id, const char **frame)
{
	return name_stack(ctx, id >= 1000 ? 1 : id, frame);
}

static uint32_t name_user(void *ctx, int32_t id)
{
	(void)ctx;
	return id >= 1000 ? id - 999 : 0;
}

static const struct names by_ways = {
	.symbol = name_symbol, .stack = name_user_stack, .user = name_user};

/* A asks 900 times from `from` user stacks in turn, B 100 times from one. */
static void ask_by_ways(struct askers *o, const struct names *with, int32_t from)
{
	for (int32_t n = 0; n < 1000; n++) {
		bool b = n % 10 == 9;
		struct record r = asker(0, b ? 20 : 10, b ? "B" : "A",
					b ? 5000 : 1000 + (n - n / 10) % from, 0);
		const struct asker *is = askers_add(o, &r, with);

		assert_int_equal(is->tid, b ? 20 : 10);
		assert_int_equal(is->user, with->user ? r.stack - 999 : 0);
	}
}

static void check_ways(const struct names *with, int32_t from)
{
	struct askers o CLEARED = {.count = 0};
	const struct asker_row *a, *b;
	uint32_t order[3];

	ask_by_ways(&o, with, from);
	assert_int_equal(askers_top(&o, order, 3), 2);
	a = &o.row[order[0]];
	b = &o.row[order[1]];
	assert_int_equal(a->who.tid, 10);
	assert_int_equal(a->count, 900);
	assert_int_equal(a->missed, 0);
	assert_int_equal(b->count, 100);
	if (!with->user) {
		assert_null(asker_way(a));
		assert_null(asker_way(b));
		return;
	}
	assert_int_equal(asker_way(b)->count, 100);
	assert_int_equal(a->ways->count, from < ASKERS_MAX ? from : ASKERS_MAX);
	a = asker_way(a);
	assert_true(a->count <= 900U / from && a->count + a->missed >= 900U / from);
	assert_int_equal(a->missed != 0, from > ASKERS_MAX);
}

/* The most frequent asker is the same whether user stacks are known or not, however many there are.
 */
static void test_ways(void **state)
{
	struct names kept = by_ways, without = by_ways;

	(void)state;
	kept.kept = true;
	without.user = NULL;
	for (int32_t from = 30; from <= 300; from *= 10) {
		check_ways(&by_ways, from);
		check_ways(&kept, from);
		check_ways(&without, from);
	}
}

/* Ways with the same calls are one, and those whose calls are not known. */
static void test_ways_joined(void **state)
{
	struct askers o CLEARED = {.count = 0}, other CLEARED = {.count = 0};

	(void)state;
	ask_by_ways(&o, &by_ways, 30);
	ask_by_ways(&other, &by_ways, 30);
	askers_merge(&o, &other);
	assert_int_equal(o.count, 2);
	assert_int_equal(o.row[0].count, 1800);
	assert_int_equal(o.row[0].ways->count, 30);
	for (uint32_t i = 0; i < 30; i++) {
		assert_int_equal(o.row[0].ways->row[i].count, 60);
		if (i % 3)
			o.row[0].ways->row[i].who.calls = i % 3 == 1 ? "f\tx\t1\t\n" : "";
	}
	asker_ways_join(&o.row[0]);
	assert_int_equal(o.row[0].ways->count, 2);
	assert_int_equal(asker_way(&o.row[0])->count, 1200);
	assert_int_equal(o.row[0].ways->row[0].count + o.row[0].ways->row[1].count, 1800);
	assert_int_equal(asker_way(&o.row[1])->count, 200);
}

/* A joined way has never missed more than all that its thread asked. */
static void test_many_ways_joined(void **state)
{
	struct askers o CLEARED = {.count = 0};
	const struct asker_row *way;

	(void)state;
	ask_by_ways(&o, &by_ways, 300);
	asker_ways_join(&o.row[0]);
	assert_int_equal(o.row[0].ways->count, 1);
	way = asker_way(&o.row[0]);
	assert_true(way->count >= ASKERS_MAX && way->count < 900);
	assert_int_equal(way->count + way->missed, 900);
}

/* A row that goes to another asker takes nothing along. */
static void test_a_row_taken_over(void **state)
{
	struct askers o CLEARED = {.count = 0};
	struct asker first;

	(void)state;
	assert_int_equal(add(&o, 1, 9999, "first", 1, 5), 1);
	first = o.row[0].who;
	for (uint32_t tid = 1; tid < ASKERS_MAX; tid++)
		for (int n = 0; n < 2; n++)
			add(&o, 0, tid, "many", -1, 0);
	assert_int_equal(add(&o, 2, 7777, "later", -1, 6), 1);
	assert_int_equal(o.row[0].who.tid, 7777);
	assert_int_equal(o.row[0].who.cpu, 2);
	assert_string_equal(o.row[0].who.comm, "later");
	assert_string_equal(o.row[0].who.function, "site_6");
	assert_int_equal(o.row[0].nframes, 0);
	assert_int_equal(o.row[0].count, 1);
	assert_int_equal(o.row[0].missed, 1);
	assert_int_equal(first.tid, 9999); /* a copy is still what it was */
	assert_string_equal(first.comm, "first");
	assert_string_equal(first.function, "futex_wake");
	add(&o, 1, 9999, "first", 1,
	    5); /* again, from the same place: the last request of no row is that any more */
	assert_int_equal(o.known, 2 * ASKERS_MAX + 1);
	for (uint32_t i = 0; i < o.count; i++)
		assert_int_not_equal(o.row[i].count, 0);
}

/* By falling count, of equal ones the earlier first. */
static void test_top(void **state)
{
	static const uint64_t counts[] = {3, 9, 1, 9, 4, 3};
	static const uint32_t want[] = {1, 3, 4, 0, 5, 2};
	uint32_t order[ASKERS_MAX];
	struct askers o CLEARED = {.count = 0};

	(void)state;
	assert_int_equal(askers_top(&o, order, 3), 0);
	for (uint32_t i = 0; i < COUNT(counts); i++)
		for (uint64_t n = counts[i]; n; n--)
			add(&o, 0, i + 1, "a", -1, 0);
	for (uint32_t n = 0; n <= COUNT(want) + 2; n++) {
		uint32_t found = n < COUNT(want) ? n : COUNT(want);

		memset(order, 0xff, sizeof(order));
		assert_int_equal(askers_top(&o, order, n), found);
		assert_memory_equal(order, want, found * sizeof(order[0]));
		assert_int_equal(order[found], UINT32_MAX); /* no more than was asked for */
	}
}

/* ---- in the nest ---- */

static const struct edge_bounds bounds = {.irq_ns = 10, .thread_ns = 20};
static struct sources t;
static struct nest *n;

static int begin(void **state)
{
	(void)state;
	if (sources_init(&t))
		return -1;
	n = nest_new(&t, bounds, &names, false);
	if (!n)
		return -1;
	nest_open(n);
	return 0;
}

static int end(void **state)
{
	(void)state;
	nest_free(n);
	sources_free(&t);
	return 0;
}

static void take(unsigned level, unsigned kind, uint64_t start, uint64_t end_ns)
{
	struct record r = {.start_ns = start,
			   .end_ns = end_ns,
			   .level = level,
			   .kind = kind,
			   .arg = 251,
			   .id = 3,
			   .name = "hog"};

	nest_take(n, &r, 0, UINT64_MAX);
}

/* asker 0: not known, though the fields of one are filled in. function 0: a mark that has none. */
static void take_mark(unsigned level, unsigned mark, uint64_t at, uint64_t function, uint32_t tid)
{
	struct record r = asker(1, tid ? tid : 666, tid ? "asker" : "stale", 1, 5);

	r.start_ns = r.end_ns = at;
	r.level = level;
	r.mark = mark;
	r.arg = function;
	r.flags = tid ? RECORD_ASKED : 0;
	nest_take(n, &r, 0, UINT64_MAX);
}

/* Pieces: function, net time and, behind a slash, the asker's tid; in brackets all requests so far.
 */
static void assert_account(uint64_t end_ns, const char *want)
{
	unsigned stuck_out;
	const struct account *a = nest_close(n, 0, end_ns, &stuck_out);
	char text[512] = "";
	size_t at = 0;

	for (uint32_t i = 0; i < a->npieces; i++) {
		const struct piece *p = &a->pieces[i];
		const struct source *s = t.row[p->source];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %llu", i ? ", " : "",
				       s->function ? s->function : s->name,
				       (unsigned long long)p->net_ns);
		if (p->asker.kind)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "/%u", p->asker.tid);
		if (s->askers)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " (%llu)",
					       (unsigned long long)s->askers->known);
	}
	assert_string_equal(text, want);
	nest_open(n);
}

static void test_each_interval_its_own(void **state)
{
	(void)state;
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, 41);
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take(LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 150, 160);
	take_mark(LEVEL_IRQ, MARK_RESCHEDULE, 180, 0, 42);
	take(LEVEL_IRQ, RECORD_VECTOR, 160, 180);
	assert_account(200, "hog 50/41 (1), NET_RX 10, call_function 20/42 (1)");
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take(LEVEL_IRQ, RECORD_VECTOR, 160, 180);
	assert_account(200, "hog 50 (1), call_function 20 (1)");
}

static void test_without_the_flag_nobody_asked(void **state)
{
	(void)state;
	take_mark(LEVEL_IRQ, MARK_CSD, 110, 1, 0);
	take(LEVEL_IRQ, RECORD_VECTOR, 100, 150);
	take_mark(LEVEL_THREAD, MARK_WAKER, 150, 0, 0);
	take_mark(LEVEL_THREAD, MARK_WORK, 160, 2, 0);
	take(LEVEL_THREAD, RECORD_THREAD, 150, 200);
	assert_account(200, "site_1 50, site_2 50");
	for (uint32_t i = 0; i < t.count; i++)
		assert_null(t.row[i]->askers);
}

static void test_work_before_waker(void **state)
{
	(void)state;
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, 41);
	take_mark(LEVEL_THREAD, MARK_WORK, 110, 1, 42);
	take_mark(LEVEL_THREAD, MARK_WORK, 120, 2, 43);
	take_mark(LEVEL_THREAD, MARK_WORK, 130, 3, 0);
	take(LEVEL_THREAD, RECORD_THREAD, 100, 150);
	take_mark(LEVEL_THREAD, MARK_WAKER, 150, 0, 44);
	take_mark(LEVEL_THREAD, MARK_WORK, 155, 4,
		  0); /* nobody queued it here: it stays the waker's */
	take(LEVEL_THREAD, RECORD_THREAD, 150, 170);
	assert_account(200, "site_1 20/42 (1), site_2 10/43 (1), site_3 20, site_4 20/44 (1)");
}

/* The thread that was woken and that came is not the one that was seen to leave. */
static void test_who_came_unseen_was_asked_by_nobody(void **state)
{
	struct record r = {.start_ns = 100,
			   .end_ns = 150,
			   .level = LEVEL_THREAD,
			   .kind = RECORD_THREAD,
			   .flags = RECORD_UNSEEN,
			   .id = 3,
			   .name = "hog"};

	(void)state;
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, 41);
	take_mark(LEVEL_THREAD, MARK_WORK, 100, 1, 0);
	take_mark(LEVEL_THREAD, MARK_WORK, 120, 2, 42);
	nest_take(n, &r, 0, UINT64_MAX);
	take_mark(LEVEL_THREAD, MARK_WAKER, 150, 0, 43);
	take(LEVEL_THREAD, RECORD_THREAD, 150, 160);
	assert_account(200, "site_2 50/42 (1), hog 10/43 (1)");
}

static void test_each_call_its_own(void **state)
{
	(void)state;
	take_mark(LEVEL_IRQ, MARK_CSD, 110, 1, 41);
	take_mark(LEVEL_IRQ, MARK_CSD, 120, 1, 42);
	take_mark(LEVEL_IRQ, MARK_CSD, 130, 2, 0);
	take_mark(LEVEL_IRQ, MARK_CSD, 140, 1, 41);
	take(LEVEL_IRQ, RECORD_VECTOR, 100, 150);
	assert_account(200, "site_1 40/41 (3), site_2 10");
	assert_int_equal(t.row[0]->askers->count, 2);
	assert_int_equal(t.row[0]->askers->row[0].count, 2);
}

/* More askers in one hiccup than a source has rows: each interval keeps its own, whoever has the
 * row now. */
static void test_rows_change_hands_in_a_hiccup(void **state)
{
	const struct account *a;
	unsigned stuck_out;

	(void)state;
	assert_int_equal(nest_keep_spans(n), 0);
	for (uint32_t i = 0; i < 3 * ASKERS_MAX; i++) {
		take_mark(LEVEL_THREAD, MARK_WAKER, 100 * i, 0, 1000 + i);
		take(LEVEL_THREAD, RECORD_THREAD, 100 * i, 100 * i + 50);
	}
	a = nest_close(n, 0, 100 * 3 * ASKERS_MAX, &stuck_out);
	assert_int_equal(a->nspans, 3 * ASKERS_MAX);
	for (uint32_t i = 0; i < a->nspans; i++) {
		assert_int_equal(a->spans[i].asker.tid, 1000 + i);
		assert_string_equal(a->spans[i].asker.comm, "asker");
	}
	assert_int_equal(a->npieces, 1);
	assert_int_equal(a->pieces[0].asker.tid, 1000 + 3 * ASKERS_MAX - 1);
	assert_int_equal(t.row[0]->askers->count, ASKERS_MAX);
	assert_int_equal(t.row[0]->askers->known, 3 * ASKERS_MAX);
}

#define TICKS 50000

/* A hog that was woken, and went to work, before very many ticks: it keeps its waker, its work and
 * who queued it, and gets none of the time behind what woke it. */
static void hog(bool woken_by_irq, uint32_t waker, uint32_t queuer, const char *who)
{
	uint64_t now = 120;
	char want[128];

	if (woken_by_irq)
		take(LEVEL_SOFTIRQ, RECORD_SOFTIRQ, 0, 95);
	take_mark(LEVEL_THREAD, MARK_WAKER, 100, 0, waker);
	if (queuer != UINT32_MAX)
		take_mark(LEVEL_THREAD, MARK_WORK, 110, 1, queuer);
	for (unsigned i = 0; i < TICKS; i++, now += 10)
		take(LEVEL_IRQ, RECORD_VECTOR, now, now + 3);
	take(LEVEL_THREAD, RECORD_THREAD, 100, now);
	snprintf(want, sizeof(want), "%scall_function %u, %s %u/%s",
		 woken_by_irq ? "NET_RX 95, " : "", 3 * TICKS,
		 queuer == UINT32_MAX ? "hog" : "site_1", 20 + 7 * TICKS, who);
	assert_true(nest_folded(n) > 0);
	assert_account(now, want);
}

static void test_hogs(void **state)
{
	(void)state;
	hog(false, 41, UINT32_MAX, "41 (1)");
	hog(false, 42, 43, "43 (1)");
	hog(false, 44, 0, "44 (2)");
	hog(true, 45, UINT32_MAX, "45 (2)");
	hog(true, 46, 0, "46 (3)");
	hog(true, 47, 48, "48 (4)");
}

/* A mark that is older than all that was merged stays where it was: what went on until then has its
 * time. */
static void test_hog_goes_on(void **state)
{
	struct record left = {.start_ns = 10,
			      .end_ns = 50,
			      .kind = RECORD_THREAD,
			      .id = 3,
			      .flags = RECORD_ONGOING};
	uint64_t now = 120;

	(void)state;
	take_mark(LEVEL_THREAD, MARK_WORK, 20, 1, 0);
	nest_take(n, &left, 0, UINT64_MAX);
	assert_account(100, "site_1 40");
	take_mark(LEVEL_THREAD, MARK_WORK, 110, 2, 0);
	for (unsigned i = 0; i < TICKS; i++, now += 10)
		take(LEVEL_IRQ, RECORD_VECTOR, now, now + 3);
	left.start_ns = 100;
	left.end_ns = now;
	nest_take(n, &left, 0, UINT64_MAX);
	assert_account(now, "call_function 150000, site_1 10, site_2 350010");
}

#define TEST(f) cmocka_unit_test(f)
#define NEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_part_of_the_key_counts),
		TEST(test_owners),
		TEST(test_without_names),
		TEST(test_functions),
		TEST(test_unreadable),
		TEST(test_interrupts_are_one),
		TEST(test_comms_of_any_bytes),
		TEST(test_shapes),
		TEST(test_contexts_without_a_stack),
		TEST(test_contexts_are_kept_apart),
		TEST(test_as_many_as_rows),
		TEST(test_the_heaviest_comes_late),
		TEST(test_any_stream),
		TEST(test_merged),
		TEST(test_ways),
		TEST(test_ways_joined),
		TEST(test_many_ways_joined),
		TEST(test_a_row_taken_over),
		TEST(test_top),
		NEST(test_each_interval_its_own),
		NEST(test_without_the_flag_nobody_asked),
		NEST(test_work_before_waker),
		NEST(test_who_came_unseen_was_asked_by_nobody),
		NEST(test_each_call_its_own),
		NEST(test_rows_change_hands_in_a_hiccup),
		NEST(test_hogs),
		NEST(test_hog_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
