/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions on a kernel stack that tell how its request came about. */
#ifndef CULPRIT_FRAMES_H
#define CULPRIT_FRAMES_H

enum frame_is {
	FRAME_ANY,
	FRAME_HELPER, /* between the asker's function and the tracepoint */
	/* Enters the kernel: the thread below has no part in what happens. Also of NMIs. */
	FRAME_INTERRUPT,
	FRAME_SOFTIRQ, /* runs softirqs: before and since 6.9, and an alias of the older one */
	/* A thread's own work on the way back from an interrupt: signals, task work, its own
	 * preemption (kernel/entry/common.c). */
	FRAME_OWN_WORK,
};

/* By how their names begin, in the order of their bytes; none begins with another one. */
#define FRAMES(ROW)                                                                                \
	ROW("[unknown ", HELPER)                                                                   \
	ROW("__bpf_", HELPER)                                                                      \
	ROW("__complete", HELPER)                                                                  \
	ROW("__do_softirq", SOFTIRQ)                                                               \
	ROW("__flush_smp_call", HELPER)                                                            \
	ROW("__irq_exit", INTERRUPT)                                                               \
	ROW("__irq_work_queue", HELPER)                                                            \
	ROW("__jump_label", HELPER)                                                                \
	ROW("__pollwait", HELPER)                                                                  \
	ROW("__queue_delayed", HELPER)                                                             \
	ROW("__queue_work", HELPER)                                                                \
	ROW("__resched_curr", HELPER)                                                              \
	ROW("__smp_call", HELPER)                                                                  \
	ROW("__softirqentry_text_start", SOFTIRQ)                                                  \
	ROW("__static_call", HELPER)                                                               \
	ROW("__text_poke", HELPER)                                                                 \
	ROW("__traceiter_", HELPER)                                                                \
	ROW("__wake_up", HELPER)                                                                   \
	ROW("_raw_spin_", HELPER)                                                                  \
	ROW("activate_task", HELPER)                                                               \
	ROW("arch_do_signal", OWN_WORK)                                                            \
	ROW("arch_jump_label", HELPER)                                                             \
	ROW("arch_send_call", HELPER)                                                              \
	ROW("arch_static_call", HELPER)                                                            \
	ROW("arm64_preempt_schedule_irq", OWN_WORK)                                                \
	ROW("asm_common_interrupt", INTERRUPT)                                                     \
	ROW("asm_exc_nmi", INTERRUPT)                                                              \
	ROW("asm_sysvec_", INTERRUPT)                                                              \
	ROW("autoremove_wake", HELPER)                                                             \
	ROW("bpf_", HELPER)                                                                        \
	ROW("call_function_single_prep", HELPER)                                                   \
	ROW("check_preempt", HELPER)                                                               \
	ROW("common_interrupt", INTERRUPT)                                                         \
	ROW("complete", HELPER)                                                                    \
	ROW("default_wake_function", HELPER)                                                       \
	ROW("do_notify_resume", OWN_WORK)                                                          \
	ROW("do_signal", OWN_WORK)                                                                 \
	ROW("el0_interrupt", INTERRUPT)                                                            \
	ROW("el0_irq", INTERRUPT)                                                                  \
	ROW("el0t_32_irq", INTERRUPT)                                                              \
	ROW("el0t_64_fiq", INTERRUPT)                                                              \
	ROW("el0t_64_irq", INTERRUPT)                                                              \
	ROW("el1_interrupt", INTERRUPT)                                                            \
	ROW("el1_irq", INTERRUPT)                                                                  \
	ROW("el1h_64_fiq", INTERRUPT)                                                              \
	ROW("el1h_64_irq", INTERRUPT)                                                              \
	ROW("ep_autoremove_wake", HELPER)                                                          \
	ROW("ep_poll_callback", HELPER)                                                            \
	ROW("exc_nmi", INTERRUPT)                                                                  \
	ROW("exit_to_user_mode_loop", OWN_WORK)                                                    \
	ROW("fred_exc_nmi", INTERRUPT)                                                             \
	ROW("fred_extint", INTERRUPT)                                                              \
	ROW("fred_sysvec_", INTERRUPT)                                                             \
	ROW("generic_exec_single", HELPER)                                                         \
	ROW("gic_handle_irq", INTERRUPT)                                                           \
	ROW("handle_softirqs", SOFTIRQ)                                                            \
	ROW("insert_work", HELPER)                                                                 \
	ROW("irq_exit", INTERRUPT)                                                                 \
	ROW("irq_work_queue_on", HELPER)                                                           \
	ROW("jump_label_update", HELPER)                                                           \
	ROW("kick_pool", HELPER)                                                                   \
	ROW("mod_delayed_work", HELPER)                                                            \
	ROW("native_queued_spin", HELPER)                                                          \
	ROW("native_send_call", HELPER)                                                            \
	ROW("native_smp_send", HELPER)                                                             \
	ROW("on_each_cpu", HELPER)                                                                 \
	ROW("pollwake", HELPER)                                                                    \
	ROW("preempt_schedule_irq", OWN_WORK)                                                      \
	ROW("queue_delayed_work", HELPER)                                                          \
	ROW("queue_work_on", HELPER)                                                               \
	ROW("resched_cpu", HELPER)                                                                 \
	ROW("resched_curr", HELPER)                                                                \
	ROW("sched_ttwu", HELPER)                                                                  \
	ROW("schedule_on_each_cpu", HELPER)                                                        \
	ROW("schedule_work", HELPER)                                                               \
	ROW("select_task", HELPER)                                                                 \
	ROW("send_call_function", HELPER)                                                          \
	ROW("smp_call_function", HELPER)                                                           \
	ROW("smp_send_reschedule", HELPER)                                                         \
	ROW("smp_text_poke", HELPER)                                                               \
	ROW("static_key", HELPER)                                                                  \
	ROW("swake_up", HELPER)                                                                    \
	ROW("sysvec_", INTERRUPT)                                                                  \
	ROW("text_poke_bp", HELPER)                                                                \
	ROW("text_poke_sync", HELPER)                                                              \
	ROW("trace_", HELPER)                                                                      \
	ROW("try_to_wake_up", HELPER)                                                              \
	ROW("ttwu_", HELPER)                                                                       \
	ROW("wake_q", HELPER)                                                                      \
	ROW("wake_up_", HELPER)                                                                    \
	ROW("wakeup_preempt", HELPER)

enum frame_is frame_is(const char *name);

/* Counts those of the innermost of n frames that are the tracer's own: its program, whose name may
 * be hidden (net.core.bpf_jit_kallsyms), and the way to it from the tracepoint. */
int frames_of_tracer(const char *const *frame, int n);

#endif
