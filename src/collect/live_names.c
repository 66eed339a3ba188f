/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/live_names.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collect/commands.h"
#include "collect/irq_names.h"
#include "collect/owners.h"
#include "collect/symbols.h"
#include "collect/user_stacks.h"
#include "user.h"

#define STACKS_MAX USER_FIRST /* as many as asker.bpf.c keeps */

struct stack_names {
	int n;
	const char *frame[STACK_FRAMES];
};

struct live_names {
	struct probes *probes;
	struct symbols *symbols;
	struct irq_names *irqs;
	struct stack_names *stacks[STACKS_MAX]; /* by the kernel's id */
	int root;
	struct owners *owners;
	struct commands *commands; /* NULL: not asked for */
	struct user_stacks *user;  /* likewise */
	struct names names;
};

static const struct irq_facts *irq_facts(const struct live_names *n, uint32_t irq)
{
	static const struct irq_facts none = {.actions = 1};
	const struct irq_facts *facts = irq_names_of(n->irqs, irq);

	return facts ? facts : &none;
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	return irq_facts(ctx, irq)->name;
}

static const char *name_irq_affinity(void *ctx, uint32_t irq)
{
	return irq_facts(ctx, irq)->affinity;
}

unsigned live_irq_actions(void *ctx, uint32_t irq)
{
	return irq_facts(ctx, irq)->actions;
}

static const char *name_irq_device(void *ctx, uint32_t irq)
{
	return irq_facts(ctx, irq)->device;
}

static const char *name_symbol(void *ctx, uint64_t address)
{
	struct live_names *n = ctx;

	return symbols_name(n->symbols, address);
}

static int name_stack(void *ctx, int32_t id, const char **frame)
{
	struct live_names *n = ctx;
	struct stack_names *s;

	if (n->user && id >= USER_FIRST)
		user_stacks_number(n->user, id, &id);
	if (id < 0 || id >= STACKS_MAX)
		return 0;
	s = n->stacks[id];
	if (!s) {
		uint64_t address[STACK_FRAMES] = {0};

		s = calloc(1, sizeof(*s));
		if (!s)
			return 0;
		if (bpf_map_lookup_elem(probes_map(n->probes, PROBES_STACKS), &id, address))
			address[0] = 0;
		for (; s->n < STACK_FRAMES && address[s->n]; s->n++)
			s->frame[s->n] = symbols_caller(n->symbols, address[s->n],
							s->n ? s->frame[s->n - 1] : NULL);
		n->stacks[id] = s;
	}
	memcpy(frame, s->frame, sizeof(s->frame));
	return s->n;
}

static const char *name_owner(void *ctx, uint32_t group)
{
	struct live_names *n = ctx;
	const char *text = owners_text(n->owners, group);
	char path[GROUP_PATH];

	if (text || bpf_map_lookup_elem(probes_map(n->probes, PROBES_GROUPS), &group, path))
		return text;
	owners_made(n->owners, group, path);
	return owners_text(n->owners, group);
}

static const char *name_command(void *ctx, uint32_t process, const char *comm)
{
	struct live_names *n = ctx;

	return commands_text(n->commands, process, names_command(process, comm));
}

static bool lack_names(void *ctx)
{
	struct live_names *n = ctx;

	return owners_lack(n->owners) || (n->commands && commands_lack(n->commands));
}

static uint32_t name_user(void *ctx, int32_t id)
{
	struct live_names *n = ctx;

	return id >= USER_FIRST ? user_stacks_number(n->user, id, &id) : 0;
}

static const char *name_calls(void *ctx, uint32_t user)
{
	struct live_names *n = ctx;

	return user_stacks_calls(n->user, user);
}

static const char *ask_symbol(void *ctx, uint64_t address)
{
	return probes_symbol(ctx, address);
}

/* NULL: out of memory. */
static struct symbols *symbols_for(struct probes *probes)
{
	struct symbols *s;

	if (probes_know_symbols(probes))
		return symbols_asking(ask_symbol, probes);
	s = symbols_new();
	if (s)
		probes_tell(probes, symbols_address(s, "delayed_work_timer_fn"),
			    symbols_address(s, "unknown_nmi_error"));
	return s;
}

int live_names_want_user(struct live_names *n, const char *debug)
{
	n->user = user_stacks_new(probes_map(n->probes, PROBES_USER_STACKS), debug);
	if (!n->user)
		return -1;
	n->names.user = name_user;
	n->names.calls = name_calls;
	return 0;
}

void live_names_settle(struct live_names *n)
{
	if (n && n->user)
		user_stacks_settle(n->user);
}

struct live_names *live_names_new(struct probes *probes, enum owner_by by, bool commands)
{
	struct live_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->probes = probes;
	n->symbols = symbols_for(probes);
	n->irqs = irq_names_new("", IRQ_REREAD_NS);
	n->root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n->owners = owners_new(n->root, owners_hierarchy());
	n->commands = commands ? commands_new() : NULL;
	if (!n->symbols || !n->irqs || !n->owners || (commands && !n->commands)) {
		live_names_free(n);
		return NULL;
	}
	n->names = (struct names){.ctx = n,
				  .irq = name_irq,
				  .irq_affinity = name_irq_affinity,
				  .irq_device = name_irq_device,
				  .symbol = name_symbol,
				  .stack = name_stack,
				  .owner = name_owner,
				  .command = commands ? name_command : NULL,
				  .lack = lack_names,
				  .by = by};
	return n;
}

void live_names_free(struct live_names *n)
{
	if (!n)
		return;
	symbols_free(n->symbols);
	irq_names_free(n->irqs);
	owners_free(n->owners);
	commands_free(n->commands);
	user_stacks_free(n->user);
	if (n->root >= 0)
		close(n->root);
	for (size_t i = 0; i < STACKS_MAX; i++)
		free(n->stacks[i]);
	free(n);
}

const struct names *live_names(const struct live_names *n)
{
	return &n->names;
}

bool live_names_hidden(const struct live_names *n)
{
	return symbols_hidden(n->symbols);
}
