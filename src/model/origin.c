/* The function that is named is the first on the stack that says something: senders of IPIs, wakers and queuers all end in the same
 * few helpers, which are passed over. */
#include "model/origin.h"

#include <stdbool.h>
#include <string.h>

/* Prefixes of helpers between the one who wants something and the tracepoint that sees it. */
static const char *const helpers[] = {
	"[unknown ",
	"bpf_",
	"__bpf_",
	"__traceiter_",
	"trace_",
	"smp_call_function",
	"__smp_call",
	"generic_exec_single",
	"on_each_cpu",
	"arch_send_call",
	"native_send_call",
	"native_smp_send",
	"send_call_function",
	"try_to_wake_up",
	"wake_up_",
	"__wake_up",
	"ttwu_",
	"default_wake_function",
	"autoremove_wake",
	"ep_autoremove_wake",
	"wake_q",
	"wake_up_q",
	"swake_up",
	"complete",
	"__complete",
	"insert_work",
	"__queue_work",
	"queue_work_on",
	"__queue_delayed",
	"queue_delayed_work",
	"mod_delayed_work",
	"schedule_work",
	"kick_pool",
	"resched_curr",
	"__resched_curr",
	"resched_cpu",
	"check_preempt",
	"wakeup_preempt",
	"call_function_single_prep",
	"irq_work_queue_on",
	"__irq_work_queue",
	"smp_send_reschedule",
	"pollwake",
	"ep_poll_callback",
	"__pollwait",
	"sched_ttwu",
	"activate_task",
	"select_task",
	"_raw_spin_",
	"native_queued_spin",
	"__flush_smp_call",
	"text_poke_sync",
	"smp_text_poke",
	"text_poke_bp",
	"arch_jump_label",
	"arch_static_call",
	"__static_call",
	"jump_label_update",
	"__jump_label",
	"static_key",
	"static_key_",
	"__text_poke",
	"schedule_on_each_cpu",
};

/* Asked of every frame with every helper: nearly all differ in the first letters, for which a call would be too much. */
static bool begins(const char *name, const char *prefix)
{
	while (*prefix && *name == *prefix)
		name++, prefix++;
	return !*prefix;
}

static bool is_helper(const char *name)
{
	for (size_t i = 0; i < sizeof(helpers) / sizeof(helpers[0]); i++)
		if (begins(name, helpers[i]))
			return true;
	return false;
}

/* Frames below which the thread has no part in what happens. */
static bool is_interrupt(const char *name)
{
	static const char *const entries[] = {"asm_sysvec_",      "sysvec_",         "asm_common_interrupt",
					      "common_interrupt", "handle_softirqs", "__do_softirq",
					      "irq_exit_rcu",     "el1h_64_irq",     "el0t_64_irq",
					      "el1_irq",          "el0_irq",         "gic_handle_irq"};

	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (begins(name, entries[i]))
			return true;
	return false;
}

static void find_interrupt(struct origin *o)
{
	for (int i = 0; i < o->nframes; i++)
		if (is_interrupt(o->frame[i])) {
			o->tid = 0;
			strcpy(o->comm, "(interrupt)");
			return;
		}
}

static const char *function_of(const struct origin *o, const char *site)
{
	for (int i = 0; i < o->nframes; i++)
		if (!is_helper(o->frame[i]))
			return o->frame[i];
	return site ? site : o->nframes ? o->frame[o->nframes - 1] : NULL;
}

/* Who asks, asks again, from the same place: 1 + the row whose last request was as this one, 0: none. Its names are the same, too. */
static uint32_t again(const struct origins *o, const struct record *r)
{
	for (uint32_t i = 0; i < o->count; i++) {
		const struct origin_last *l = &o->row[i].last;

		if (l->stack == r->stack && l->tid == r->id && l->site == r->origin && o->row[i].cpu == r->origin_cpu &&
		    !memcmp(l->comm, r->name, sizeof(l->comm)))
			return i + 1;
	}
	return 0;
}

static bool same(const struct origin *a, const struct origin *b)
{
	if (a->cpu != b->cpu || a->tid != b->tid || strcmp(a->comm, b->comm))
		return false;
	return a->function == b->function || (a->function && b->function && !strcmp(a->function, b->function));
}

/* Noted on a target, where the context is known, or with a stack that has names. */
static bool readable(const struct origin *o, const struct record *r)
{
	if (r->stack == -1)
		return true;
	for (int i = 0; i < o->nframes; i++)
		if (!begins(o->frame[i], "[unknown"))
			return true;
	return false;
}

uint32_t origins_add(struct origins *o, const struct record *r, const struct names *names)
{
	struct origin new = {.cpu = r->origin_cpu, .tid = r->id, .count = 1};
	const char *site;
	uint32_t row;

	if (!names)
		return 0;
	o->known++;
	if (r->stack >= 0)
		new.nframes = names->stack(names->ctx, r->stack, new.frame);
	site = r->origin ? names->symbol(names->ctx, r->origin) : NULL;
	row = again(o, r);
	if (row) {
		o->row[row - 1].count++;
		return row;
	}
	memcpy(new.comm, r->name, sizeof(r->name));
	new.last = (struct origin_last){.stack = r->stack, .tid = r->id, .site = r->origin};
	memcpy(new.last.comm, r->name, sizeof(new.last.comm));
	if (!readable(&new, r)) { /* it may have been an interrupt: nobody is named */
		o->others++;
		return 0;
	}
	find_interrupt(&new);
	new.function = function_of(&new, site);
	for (uint32_t i = 0; i < o->count; i++)
		if (same(&o->row[i], &new)) {
			o->row[i].count++;
			o->row[i].last = new.last;
			return i + 1;
		}
	if (o->count == ORIGINS_MAX) {
		o->others++;
		return 0;
	}
	o->row[o->count++] = new;
	return o->count;
}

uint32_t origins_top(const struct origins *o, uint32_t *order, uint32_t n)
{
	uint32_t found = 0;

	for (; found < n && found < o->count; found++) {
		uint32_t best = UINT32_MAX;

		for (uint32_t i = 0; i < o->count; i++) {
			bool taken = false;

			for (uint32_t k = 0; k < found; k++)
				taken |= order[k] == i;
			if (!taken && (best == UINT32_MAX || o->row[i].count > o->row[best].count))
				best = i;
		}
		order[found] = best;
	}
	return found;
}
