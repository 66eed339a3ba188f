/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/live_names.h"

#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/line_of_file.h"
#include "base/now.h"
#include "collect/commands.h"
#include "collect/irq_vectors.h"
#include "collect/owners.h"
#include "collect/symbols.h"
#include "collect/user_stacks.h"
#include "user.h"

#define IRQS_MAX   16384
#define STACKS_MAX USER_FIRST /* as many as asker.bpf.c keeps */

#define REREAD_NS 10000000000ULL

#define PCI "/sys/bus/pci/devices/"

struct irq_facts {
	char *name;
	char *affinity;   /* "0-3, effective 1" */
	char *device;     /* "0000:00:03.0 (virtio-pci, NUMA node 0)"; NULL: not known */
	unsigned actions; /* handlers that share the line */
};

struct stack_names {
	int n;
	const char *frame[STACK_FRAMES];
};

struct live_names {
	struct probes *probes;
	struct symbols *symbols;
	struct irq_facts irqs[IRQS_MAX];
	uint64_t devices_ns;                    /* when they were read */
	struct stack_names *stacks[STACKS_MAX]; /* by the kernel's id */
	int root;
	struct owners *owners;
	struct commands *commands; /* NULL: not asked for */
	struct user_stacks *user;  /* likewise */
	struct names names;
};

static void read_list(uint32_t irq, const char *which, char *list, size_t len)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/irq/%u/%s_affinity_list", irq, which);
	line_of_file(path, list, len);
}

static void read_affinity(struct irq_facts *facts, uint32_t irq)
{
	char allowed[40], effective[40], both[96];

	read_list(irq, "smp", allowed, sizeof(allowed));
	read_list(irq, "effective", effective, sizeof(effective));
	snprintf(both, sizeof(both), "%s%s%s", allowed, effective[0] ? ", effective " : "",
		 effective);
	facts->affinity = strdup(both);
}

/* Writes what is known of a PCI device by its address. */
static char *describe_device(const char *address)
{
	char path[300], driver[300], node[16], text[400];
	const char *name;
	ssize_t len;

	snprintf(path, sizeof(path), PCI "%s/driver", address);
	len = readlink(path, driver, sizeof(driver) - 1);
	driver[len > 0 ? len : 0] = 0;
	name = strrchr(driver, '/');
	snprintf(path, sizeof(path), PCI "%s/numa_node", address);
	line_of_file(path, node, sizeof(node));
	snprintf(text, sizeof(text), "%s (%s%s%s)", address, name ? name + 1 : "no driver",
		 node[0] && node[0] != '-' ? ", NUMA node " : "", node[0] != '-' ? node : "");
	return strdup(text);
}

/* Keeps, for each IRQ that a device sends as a message, its device. Lines that several may share
 * tell none. */
static void read_device(struct live_names *n, const char *address)
{
	char path[300], *text = NULL;
	const struct dirent *d;
	DIR *irqs;

	snprintf(path, sizeof(path), PCI "%.200s/msi_irqs", address);
	irqs = opendir(path);
	while (irqs && (d = readdir(irqs))) {
		unsigned long irq = strtoul(d->d_name, NULL, 10);

		if (d->d_name[0] == '.' || irq >= IRQS_MAX || n->irqs[irq].device)
			continue;
		if (!text)
			text = describe_device(address);
		n->irqs[irq].device = text ? strdup(text) : NULL;
	}
	if (irqs)
		closedir(irqs);
	free(text);
}

static void read_devices(struct live_names *n)
{
	DIR *devices = opendir(PCI);
	const struct dirent *d;

	while (devices && (d = readdir(devices)))
		if (d->d_name[0] != '.')
			read_device(n, d->d_name);
	if (devices)
		closedir(devices);
	n->devices_ns = now_ns();
}

static struct irq_facts *irq_facts(struct live_names *n, uint32_t irq)
{
	const struct irq_vectors *vectors = irq_vectors();
	char path[64], line[256];
	struct irq_facts *facts;
	const char *ipi;

	if (irq >= IRQS_MAX)
		return NULL;
	facts = &n->irqs[irq];
	if (facts->name)
		return facts;
	snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", irq);
	line_of_file(path, line, sizeof(line));
	facts->actions = 1;
	for (const char *comma = line; (comma = strchr(comma, ',')); comma++)
		facts->actions++;
	ipi = irq_vectors_ipi(irq);
	facts->name = strdup(ipi ? ipi : line);
	/* "may go to cpu 0-3" is no use of one that cannot be moved. */
	if (irq >= VECTOR_IRQS || !vectors->per_cpu[irq]) {
		read_affinity(facts, irq);
		/* A device may have come after the table was read. */
		if (!facts->device && now_ns() - n->devices_ns > REREAD_NS)
			read_devices(n);
	}
	return facts;
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	struct irq_facts *facts = irq_facts(ctx, irq);

	return facts ? facts->name : NULL;
}

static const char *name_irq_affinity(void *ctx, uint32_t irq)
{
	struct irq_facts *facts = irq_facts(ctx, irq);

	return facts && facts->affinity && facts->affinity[0] ? facts->affinity : NULL;
}

unsigned live_irq_actions(void *ctx, uint32_t irq)
{
	struct irq_facts *facts = irq_facts(ctx, irq);

	return facts ? facts->actions : 1;
}

static const char *name_irq_device(void *ctx, uint32_t irq)
{
	struct irq_facts *facts = irq_facts(ctx, irq);

	return facts ? facts->device : NULL;
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
			s->frame[s->n] = symbols_name(n->symbols, address[s->n]);
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
	n->symbols = symbols_new();
	read_devices(n);
	n->root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	n->owners = owners_new(n->root, owners_hierarchy());
	n->commands = commands ? commands_new() : NULL;
	if (!n->symbols || !n->owners || (commands && !n->commands)) {
		live_names_free(n);
		return NULL;
	}
	probes_tell(probes, symbols_address(n->symbols, "delayed_work_timer_fn"),
		    symbols_address(n->symbols, "unknown_nmi_error"));
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
	owners_free(n->owners);
	commands_free(n->commands);
	user_stacks_free(n->user);
	if (n->root >= 0)
		close(n->root);
	for (size_t i = 0; i < IRQS_MAX; i++) {
		free(n->irqs[i].name);
		free(n->irqs[i].affinity);
		free(n->irqs[i].device);
	}
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
