/* The targets of device interrupts, and the programs that move them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"

#define IRQ_DIR "proc/irq/"

/* Interrupts of this number on the targets since boot. */
static unsigned long long irq_count(const struct audit *a, unsigned irq)
{
	char name[64];
	const char *text;

	snprintf(name, sizeof(name), "sys/kernel/irq/%u/per_cpu_count", irq);
	text = text_of(a, name);
	return text ? sum_of_targets(a, text) : 0;
}

/* The driver's name for it, "virtio1-req.0"; "" when nobody handles it. */
static void irq_name(const struct audit *a, unsigned irq, char *buf, size_t len)
{
	char name[64];
	const char *text;

	snprintf(name, sizeof(name), "sys/kernel/irq/%u/actions", irq);
	text = text_of(a, name);
	first_line(text ? text : "", buf, len);
}

/* True for queues that the kernel spreads itself: nobody can move them by hand. debugfs tells;
 * where it is silent, these drivers always have such queues: NVMe, and virtio disks with an
 * interrupt for each queue (drivers/virtio/virtio_pci_common.c). */
static bool irq_managed(const struct audit *a, unsigned irq)
{
	char file[64], name[LINE_MAX_TEXT];
	const char *text;
	unsigned queue;

	snprintf(file, sizeof(file), "sys/kernel/debug/irq/irqs/%u", irq);
	text = text_of(a, file);
	if (text)
		return strstr(text, "IRQD_AFFINITY_MANAGED");
	irq_name(a, irq, name, sizeof(name));
	if (sscanf(name, "nvme%*uq%u", &queue) == 1)
		return queue;
	snprintf(file, sizeof(file), "sys/kernel/irq/%u/chip_name", irq);
	text = text_of(a, file);
	return sscanf(name, "virtio%*u-req.%u", &queue) == 1 && text &&
	       !strncmp(text, "PCI-MSI", 7);
}

static void about_irq(struct finding *f, unsigned irq)
{
	if (!f)
		return;
	f->about = true;
	f->kind = SOURCE_IRQ;
	f->number = irq;
}

static void irq_delivered(struct audit *a, unsigned irq, const char *name, const struct cpus *where)
{
	unsigned long long count = irq_count(a, irq);
	char list[LIST_MAX], file[64];
	struct finding *f;

	f = warn(a, "IRQ %u (%s) is delivered to cpu %s", irq, name,
		 cpus_format(where, list, sizeof(list)));
	about_irq(f, irq);
	if (f) {
		f->cpus = *where;
		cpus_and(&f->cpus, &a->targets);
	}
	value(f, "effective affinity %s, %llu interrupts on %s since boot", list, count, a->whose);
	good(f, "only on cpu %s", a->keep);
	if (irq_managed(a, irq)) {
		if (f)
			f->cause = "I02";
		good(f,
		     "only on cpu %s; the kernel spreads this one itself, and nobody else can move "
		     "it",
		     a->keep);
		boot(f, "isolcpus=managed_irq,domain,%s", a->cpus);
		return;
	}
	snprintf(file, sizeof(file), IRQ_DIR "%u/smp_affinity_list", irq);
	write_fix(a, f, file, a->keep);
}

/* IRQs that share one finding. */
struct irq_group {
	struct naming names;
	char *list, *undo;
};

struct irqs {
	struct irq_group may, silent;
	unsigned seen, delivered;
};

static void group_add(struct irq_group *g, unsigned irq, const char *affinity)
{
	char number[16], list[LIST_MAX];

	first_line(affinity, list, sizeof(list));
	snprintf(number, sizeof(number), "%u", irq);
	name_add(&g->names, number, strlen(number));
	text_add(&g->list, " %u", irq);
	text_add(&g->undo, "%secho %s > /proc/irq/%u/smp_affinity_list", g->undo ? "; " : "", list,
		 irq);
}

static void group_say(struct audit *a, struct irq_group *g, const char *title)
{
	if (g->names.count) {
		struct finding *f = info(a, title, a->whose, name_list(&g->names));

		good(f, "only on cpu %s", a->keep);
		command(f, "for i in%s; do echo %s > /proc/irq/$i/smp_affinity_list; done", g->list,
			a->keep);
		undo(f, "%s", g->undo);
	}
	free(g->list);
	free(g->undo);
}

static void look_at_irq(struct audit *a, const struct fact *x, unsigned irq, struct irqs *all)
{
	struct cpus allowed, effective;
	char name[LINE_MAX_TEXT], file[64];

	if (!list_of(a, x->name, &allowed))
		return;
	snprintf(file, sizeof(file), IRQ_DIR "%u/effective_affinity_list", irq);
	if (!list_of(a, file, &effective) || cpus_empty(&effective))
		effective = allowed;
	irq_name(a, irq, name, sizeof(name));
	if (!name[0])
		return;
	all->seen++;
	if (meets(&effective, &a->targets) && irq_count(a, irq)) {
		all->delivered++;
		irq_delivered(a, irq, name, &effective);
	} else if (meets(&effective, &a->targets)) {
		group_add(&all->silent, irq, x->text);
	} else if (meets(&allowed, &a->targets)) {
		group_add(&all->may, irq, x->text);
	}
}

static void check_irqs(struct audit *a)
{
	struct irqs all = {0};
	const struct fact *x = NULL;
	unsigned irq;

	while ((x = facts_next(a->facts, IRQ_DIR "*/smp_affinity_list", x)))
		if (one_number(x->name, IRQ_DIR, &irq))
			look_at_irq(a, x, irq, &all);
	if (!all.seen)
		unknown(a, "where interrupts go", "sys/kernel/irq/");
	else if (!all.delivered && !all.silent.names.count && !all.may.names.count)
		found_ok(a, "no IRQ may go there");
	group_say(a, &all.silent,
		  "IRQs that would be delivered to %s, and were not since boot: %s");
	group_say(a, &all.may, "IRQs that may be moved to %s: %s");
}

static void check_managed(struct audit *a)
{
	const struct fact *x = NULL;
	unsigned irq, bad = 0, looked = 0;
	char name[LINE_MAX_TEXT], file[64];
	struct cpus allowed;

	while ((x = facts_next(a->facts, "sys/kernel/debug/irq/irqs/*", x))) {
		if (x->err || !one_number(x->name, "sys/kernel/debug/irq/irqs/", &irq))
			continue;
		looked++;
		snprintf(file, sizeof(file), IRQ_DIR "%u/smp_affinity_list", irq);
		if (!irq_managed(a, irq) || !list_of(a, file, &allowed) || cpus_empty(&allowed) ||
		    !covers(&a->targets, &allowed))
			continue;
		irq_name(a, irq, name, sizeof(name));
		struct finding *f = warn(
			a, "managed IRQ %u (%s) has only CPUs of %s: managed_irq cannot move it",
			irq, name, a->whose);

		about_irq(f, irq);
		if (f)
			f->cpus = allowed;
		words(f,
		      "give the device fewer queues (ethtool -L for a network card), or do no I/O "
		      "from %s",
		      a->whose);
		bad++;
	}
	if (!looked)
		unknown(a, "which IRQs the kernel manages itself", "sys/kernel/debug/irq/irqs/");
	else if (!bad)
		found_ok(a, "no managed IRQ has only these CPUs");
}

static void check_default(struct audit *a)
{
	check_mask(a, IRQ_DIR "default_smp_affinity", "new IRQs may be delivered to",
		   "new IRQs keep off");
}

/* Value of VAR=value in a shell file or an environment; the last one counts. */
static bool variable(const char *text, const char *name, char *val, size_t len)
{
	size_t n = strlen(name);
	bool given = false;

	for (; text && *text; text += strcspn(text, "\n"), text += *text == '\n') {
		const char *at = text + strspn(text, " \t");

		if (!strncmp(at, "export ", 7))
			at += 7;
		if (strncmp(at, name, n) || at[n] != '=')
			continue;
		at += n + 1;
		at += *at == '"' || *at == '\'';
		snprintf(val, len, "%.*s", (int)strcspn(at, "\"'\n"), at);
		given = true;
	}
	return given;
}

/* irqbalance avoids isolated and nohz_full CPUs by itself, but a given ban replaces that
 * (irqbalance.c: setup_banned_cpus). It does not know CPUs that a cpuset isolates. */
static void check_irqbalance(struct audit *a)
{
	static const char *const files[] = {"run/irqbalance", "etc/default/irqbalance",
					    "etc/sysconfig/irqbalance"};
	char text[LIST_MAX], why[128], list[LIST_MAX];
	struct cpus banned, missing;
	bool given = false, running = false;
	struct task_walk w = {0};
	struct finding *f;
	struct task t;

	while (next_task(a, &w, &t))
		running |= comm_is(&t, "irqbalance") && runs_as_root(a, &t);
	if (!need_tasks(a))
		return;
	if (!running) {
		found_ok(a, "irqbalance does not run");
		return;
	}
	cpus_clear(&banned);
	for (int i = 0; i < 3 && !given; i++) {
		given = variable(text_of(a, files[i]), "IRQBALANCE_BANNED_CPULIST", text,
				 sizeof(text)) &&
			text[0] && !cpus_parse(text, &banned, why, sizeof(why));
		if (!given)
			given = variable(text_of(a, files[i]), "IRQBALANCE_BANNED_CPUS", text,
					 sizeof(text)) &&
				text[0] && cpus_parse_mask(text, &banned);
	}
	if (!given) {
		struct cpus more;

		list_of(a, "sys/devices/system/cpu/isolated", &banned);
		if (list_of(a, "sys/devices/system/cpu/nohz_full", &more))
			cpus_or(&banned, &more);
	}
	missing = without(&a->targets, &banned);
	if (cpus_empty(&missing)) {
		found_ok(a, "irqbalance keeps off");
		return;
	}
	cpus_format(&missing, list, sizeof(list));
	if (given)
		f = warn(a,
			 "IRQBALANCE_BANNED_* replaces irqbalance's own ban of isolated CPUs and "
			 "leaves out cpu %s",
			 list);
	else
		f = warn(a, "irqbalance runs and may move IRQs to cpu %s", list);
	if (f)
		f->cpus = missing;
	value(f, "banned: %s",
	      cpus_empty(&banned) ? "none" : cpus_format(&banned, list, sizeof(list)));
	good(f, "banned: %s", a->cpus);
	words(f,
	      "IRQBALANCE_BANNED_CPULIST=%s in /etc/default/irqbalance and restart it, or "
	      "systemctl disable --now "
	      "irqbalance",
	      a->cpus);
}

const struct check checks_interrupts[] = {
	{"irq", "I01", check_irqs, NULL},
	{"irq_managed", "I02", check_managed, NULL},
	{"irq_default", "I05", check_default, NULL},
	{"irqbalance", "I04", check_irqbalance, NULL},
	{0},
};
