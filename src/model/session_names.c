/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/session_names.h"

static const char *ask_affinity(void *ctx, uint32_t irq)
{
	const struct session_names *s = ctx;

	return s->asked->irq_affinity
		       ? view_text(s->view, s->asked->irq_affinity(s->asked->ctx, irq))
		       : NULL;
}

static const char *ask_irq(void *ctx, uint32_t irq)
{
	const struct session_names *s = ctx;
	const char *name = view_text(s->view, s->asked->irq(s->asked->ctx, irq));

	session_tell(s->tap, &(struct event){.type = EVENT_IRQ,
					     .named = {.number = irq,
						       .name = name,
						       .affinity = ask_affinity(ctx, irq)}});
	return name;
}

/* Keeps a name, and tells it. */
static const char *keep(const struct session_names *s, enum event_type type, uint64_t number,
			const char *name)
{
	if (!name && event_is_users(type) && s->asked->lack)
		s->view->run.names_lack |= s->asked->lack(s->asked->ctx);
	name = event_is_users(type) ? view_users_text(s->view, name) : view_text(s->view, name);
	if (!name && type == EVENT_SYMBOL) /* memory is out */
		name = "[unknown]";
	if (name || (type != EVENT_COMMAND && type != EVENT_DEVICE && type != EVENT_CALLS))
		session_tell(s->tap, &(struct event){.type = type,
						     .named = {.number = number, .name = name}});
	return name;
}

static const char *ask_symbol(void *ctx, uint64_t address)
{
	const struct session_names *s = ctx;

	return keep(s, EVENT_SYMBOL, address, s->asked->symbol(s->asked->ctx, address));
}

static const char *ask_device(void *ctx, uint32_t irq)
{
	const struct session_names *s = ctx;

	return keep(s, EVENT_DEVICE, irq, s->asked->irq_device(s->asked->ctx, irq));
}

static const char *ask_owner(void *ctx, uint32_t group)
{
	const struct session_names *s = ctx;

	return keep(s, EVENT_OWNER, group,
		    s->asked->owner ? s->asked->owner(s->asked->ctx, group) : NULL);
}

static const char *ask_command(void *ctx, uint32_t process, const char *comm)
{
	const struct session_names *s = ctx;

	return keep(s, EVENT_COMMAND, names_command(process, comm),
		    s->asked->command(s->asked->ctx, process, comm));
}

static int ask_stack(void *ctx, int32_t id, const char **frame)
{
	const struct session_names *s = ctx;
	int known = s->asked->stack(s->asked->ctx, id, frame), n = 0;

	while (n < known && (frame[n] = view_text(s->view, frame[n])))
		n++;

	session_tell(s->tap,
		     &(struct event){.type = EVENT_STACK,
				     .named = {.number = id, .frame = frame, .nframes = n}});
	return n;
}

/* The calls are told as soon as they are known: a recorder may not hear the end. */
static uint32_t ask_user(void *ctx, int32_t id)
{
	const struct session_names *s = ctx;
	uint32_t user = s->asked->user(s->asked->ctx, id);

	if (!user)
		return 0;
	session_tell(s->tap,
		     &(struct event){.type = EVENT_CALLER, .named = {.number = id, .user = user}});
	keep(s, EVENT_CALLS, user, s->asked->calls(s->asked->ctx, user));
	return user;
}

static const char *ask_calls(void *ctx, uint32_t user)
{
	const struct session_names *s = ctx;

	return keep(s, EVENT_CALLS, user, s->asked->calls(s->asked->ctx, user));
}

void session_names_init(struct session_names *s, const struct session_options *o)
{
	*s = (struct session_names){.view = o->view, .asked = o->names, .tap = o->tap};
	s->names =
		(struct names){.ctx = s,
			       .irq = ask_irq,
			       .irq_affinity = ask_affinity,
			       .irq_device = o->names && o->names->irq_device ? ask_device : NULL,
			       .symbol = ask_symbol,
			       .stack = ask_stack,
			       .owner = ask_owner,
			       .command = o->names && o->names->command ? ask_command : NULL,
			       .user = o->names && o->names->user ? ask_user : NULL,
			       .calls = o->names && o->names->user ? ask_calls : NULL,
			       .by = o->names ? o->names->by : BY_THREAD};
}

static void finish_source(struct source *s, const struct names *names)
{
	if (names->command && s->process && s->process != SOURCE_PROCESSES)
		s->command = names->command(names->ctx, s->process, s->name);
	for (uint32_t i = 0; s->askers && i < s->askers->count; i++) {
		struct asker_row *row = &s->askers->row[i];
		struct asker *who = &row->who;

		if (who->process && names->command)
			who->command = names->command(names->ctx, who->process, who->comm);
		for (uint32_t k = 0; row->ways && names->calls && k < row->ways->count; k++) {
			who = &row->ways->row[k].who;
			who->calls = names->calls(names->ctx, who->user);
		}
		asker_ways_join(row);
	}
}

void session_names_finish(struct view *v, const struct names *names)
{
	if (!names || (!names->command && !names->calls))
		return;
	for (uint32_t i = 0; i < v->ncpus; i++)
		for (uint32_t k = 0; k < v->cpu[i].sources.count; k++)
			finish_source(v->cpu[i].sources.row[k], names);
}
