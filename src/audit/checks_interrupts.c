/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The targets of device interrupts. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "audit/remedy.h"
#include "base/escape.h"
#include "base/units.h"
#include "model/irq_row.h"

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

/* A line about it from sys/kernel/irq; "" when there is none. Its actions are the driver's name for
 * it, "virtio1-req.0"; nobody handles one that has none. */
static void irq_line(const struct audit *a, unsigned irq, const char *file, char *buf, size_t len)
{
	char name[64];
	const char *text;

	snprintf(name, sizeof(name), "sys/kernel/irq/%u/%s", irq, file);
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
	irq_line(a, irq, "actions", name, sizeof(name));
	if (sscanf(name, "nvme%*uq%u", &queue) == 1)
		return queue;
	snprintf(file, sizeof(file), "sys/kernel/irq/%u/chip_name", irq);
	text = text_of(a, file);
	return sscanf(name, "virtio%*u-req.%u", &queue) == 1 && text &&
	       !strncmp(text, "PCI-MSI", 7);
}

/* True for one that each CPU has for itself, as its timer and the IPIs of arm64: the kernel lets
 * nobody move it, whatever its affinity says. */
static bool irq_is_per_cpu(const struct audit *a, unsigned irq)
{
	char chip[LINE_MAX_TEXT], number[32], what[LINE_MAX_TEXT + 32];
	struct irq_row row;

	irq_line(a, irq, "chip_name", chip, sizeof(chip));
	irq_line(a, irq, "hwirq", number, sizeof(number));
	snprintf(what, sizeof(what), "%s %s", chip, number);
	irq_row_take("0", what, strlen(what), &row);
	return number[0] && row.per_cpu;
}

/* IRQs of one kind, which share a finding. */
struct irqs {
	struct finding_items delivered, managed, stuck, silent, may;
	struct cpus asked;  /* CPUs of isolcpus=managed_irq now */
	struct cpus quiet;  /* CPUs isolated now, or by the advice */
	struct cpus served; /* those of them that the stuck ones serve */
	unsigned seen;
};

static struct finding_item *irq_add(struct audit *a, struct finding_items *l, unsigned irq,
				    const char *name, const struct cpus *where)
{
	struct finding_item *x = finding_items_add(l, name, irq);

	if (!x) {
		a->short_of_memory = true;
		return NULL;
	}
	x->cpus = *where;
	cpus_and(&x->cpus, &a->targets);
	x->count = irq_count(a, irq);
	return x;
}

/* The command for one that can be moved. */
static void irq_add_fix(struct audit *a, struct finding_item *x)
{
	struct finding one = {0};
	char file[64];

	if (!x || irq_managed(a, x->number))
		return;
	snprintf(file, sizeof(file), IRQ_DIR "%u/smp_affinity_list", x->number);
	write_fix(a, &one, file, a->keep);
	x->fix = one.fix;
	x->undo = one.undo;
}

/* The command that moves all of them that can be moved, and the one that moves them back. */
static void irqs_move(struct audit *a, struct finding *f, const struct finding_items *l)
{
	struct number_words numbers = {.text.audit = a};
	struct text move = {.audit = a}, back = {.audit = a};

	for (uint32_t i = 0; i < l->count; i++)
		if (l->row[i].fix)
			words_add(&numbers, l->row[i].number);
	words_end(&numbers);
	if (l->count == 1 && l->row[0].fix)
		text_add(&move, "%s", l->row[0].fix);
	else if (numbers.text.len)
		text_add(&move, "for i in%s; do echo %s > /proc/irq/$i/smp_affinity_list; done",
			 numbers.text.at, a->keep);
	move.too_long |= numbers.text.too_long;
	for (uint32_t i = 0; i < l->count; i++)
		if (l->row[i].undo)
			text_add(&back, "%s%s", back.len ? "; " : "", l->row[i].undo);
	fix_take(f, &move, &back);
	free(numbers.text.at);
}

static unsigned long long irqs_count(const struct finding_items *l)
{
	unsigned long long sum = 0;

	for (uint32_t i = 0; i < l->count; i++)
		sum += l->row[i].count;
	return sum;
}

/* The CPUs of all of them, "cpu 3", "cpus 4-31"; *set: those CPUs. */
static void irqs_where(const struct finding_items *l, struct cpus *set, char *buf, size_t len)
{
	char list[CPUS_LIST];

	cpus_clear(set);
	for (uint32_t i = 0; i < l->count; i++)
		cpus_or(set, &l->row[i].cpus);
	snprintf(buf, len, "cpu%s %s", plural(cpus_count(set)),
		 cpus_format(set, list, sizeof(list)));
}

static int by_number(const void *a, const void *b)
{
	const struct finding_item *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* Makes the finding of these IRQs, which takes their list; NULL: there are none. `one` takes the
 * number, the name and the CPUs; `many` takes how many they are and the CPUs. */
static struct finding *irqs_found(struct audit *a, enum finding_level level,
				  struct finding_items *l, const char *one, const char *many)
{
	char where[CPUS_LIST + 8];
	struct finding *f;
	struct cpus set;

	if (!l->count)
		return NULL;
	qsort(l->row, l->count, sizeof(*l->row), by_number);
	irqs_where(l, &set, where, sizeof(where));
	f = l->count == 1 ? found(a, level, one, l->row[0].number, l->row[0].name, where)
			  : found(a, level, many, l->count, where);
	if (!f) {
		finding_items_free(l);
		return NULL;
	}
	f->cpus = set;
	f->kind = SOURCE_IRQ;
	f->list = *l;
	return f;
}

static struct finding *say_delivered(struct audit *a, struct finding_items *l, const char *many)
{
	struct finding *f = irqs_found(a, FINDING_WARN, l, "IRQ %u (%s) is delivered to %s", many);
	char count[32];

	if (!f)
		return NULL;
	f->about = true;
	value(f, "%s interrupts on %s since boot",
	      format_count(irqs_count(l), count, sizeof(count)), a->whose);
	good(f, "only on cpu %s", a->keep);
	return f;
}

static struct finding *say_managed(struct audit *a, struct finding_items *l)
{
	struct finding *f = say_delivered(a, l, "%u managed IRQs are delivered to %s");

	if (f)
		f->cause = "I02";
	good(f, "only on cpu %s; the kernel spreads %s itself, and nobody else can move %s",
	     a->keep, l->count == 1 ? "this one" : "these", l->count == 1 ? "it" : "them");
	return f;
}

/* Says which IRQs may come, though they do not now. */
static void say_may(struct audit *a, struct finding_items *l, const char *one, const char *many)
{
	struct finding *f = irqs_found(a, FINDING_INFO, l, one, many);

	if (!f)
		return;
	good(f, "only on cpu %s", a->keep);
	irqs_move(a, f, l);
}

/* isolcpus=managed_irq takes one away when it is new, and a CPU of its mask stays: where none is
 * online the kernel takes the whole mask (kernel/irq/manage.c: irq_do_set_affinity). */
static void add_managed(struct audit *a, struct irqs *all, unsigned irq, const char *name,
			const struct cpus *allowed, const struct cpus *effective)
{
	struct cpus here = *effective, stays = without(allowed, &all->quiet),
		    served = without(allowed, &stays);

	cpus_and(&here, &a->targets);
	if (!cpus_cover(&all->asked, &here) && meets(&stays, &a->online)) {
		irq_add(a, &all->managed, irq, name, effective);
		return;
	}
	irq_add(a, &all->stuck, irq, name, effective);
	cpus_or(&all->served, &served);
}

/* False, and noted, where one of its files was left out, as its kind was too many. */
static bool irq_kept(struct audit *a, unsigned irq)
{
	static const struct {
		const char *below, *file;
	} kinds[] = {{IRQ_DIR, "effective_affinity_list"},
		     {"sys/kernel/irq/", "actions"},
		     {"sys/kernel/irq/", "chip_name"},
		     {"sys/kernel/irq/", "hwirq"},
		     {"sys/kernel/irq/", "per_cpu_count"}};
	char name[80];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		snprintf(name, sizeof(name), "%s%u/%s", kinds[i].below, irq, kinds[i].file);
		if (facts_find(a->facts, name))
			continue;
		snprintf(name, sizeof(name), "%s*/%s", kinds[i].below, kinds[i].file);
		if (!all_kept(a, name))
			return false;
	}
	return true;
}

static void look_at_irq(struct audit *a, const struct fact *x, unsigned irq, struct irqs *all)
{
	struct cpus allowed, effective;
	char name[LINE_MAX_TEXT], file[64];

	if (!list_of(a, x->name, &allowed) || !irq_kept(a, irq))
		return;
	snprintf(file, sizeof(file), IRQ_DIR "%u/effective_affinity_list", irq);
	if (!list_of(a, file, &effective) || cpus_empty(&effective))
		effective = allowed;
	irq_line(a, irq, "actions", name, sizeof(name));
	if (!name[0])
		return;
	all->seen++;
	if (irq_is_per_cpu(a, irq))
		return;
	if (meets(&effective, &a->targets) && irq_count(a, irq) && irq_managed(a, irq))
		add_managed(a, all, irq, name, &allowed, &effective);
	else if (meets(&effective, &a->targets) && irq_count(a, irq))
		irq_add_fix(a, irq_add(a, &all->delivered, irq, name, &effective));
	else if (meets(&effective, &a->targets))
		irq_add_fix(a, irq_add(a, &all->silent, irq, name, &effective));
	else if (meets(&allowed, &a->targets))
		irq_add_fix(a, irq_add(a, &all->may, irq, name, &allowed));
}

static void check_irqs(struct audit *a)
{
	struct irqs all = {.quiet = to_isolate(a)};
	char given[CPUS_LIST], list[CPUS_LIST];
	const struct fact *x = NULL;
	struct finding *f;
	unsigned irq;

	parameter(a, "isolcpus", given, sizeof(given));
	if (strstr(given, "managed_irq,"))
		all.asked = a->here.isolcpus_list;
	while ((x = next_of(a, IRQ_DIR "*/smp_affinity_list", x)))
		if (one_number(x->name, IRQ_DIR, &irq))
			look_at_irq(a, x, irq, &all);
	if (!all.seen)
		unknown(a, "where interrupts go", "sys/kernel/irq/");
	else if (!all.delivered.count && !all.managed.count && !all.stuck.count &&
		 !all.silent.count && !all.may.count)
		found_ok(a, "no IRQ may go to these CPUs");
	f = say_delivered(a, &all.delivered, "%u IRQs are delivered to %s");
	if (f)
		irqs_move(a, f, &f->list);
	f = say_managed(a, &all.managed);
	if (f)
		isolate(a, f, true, false);
	words(say_managed(a, &all.stuck),
	      "do no I/O on cpu%s %s: the kernel spreads these interrupts itself",
	      plural(cpus_count(&all.served)), cpus_format(&all.served, list, sizeof(list)));
	say_may(a, &all.silent, "IRQ %u (%s) would be delivered to %s, and was not since boot",
		"%u IRQs would be delivered to %s, and were not since boot");
	say_may(a, &all.may, "IRQ %u (%s) may be moved to %s", "%u IRQs may be moved to %s");
}

static void check_managed(struct audit *a)
{
	struct finding_items bad = {0};
	const struct fact *x = NULL;
	unsigned irq, looked = 0;
	char name[LINE_MAX_TEXT], file[64], count[32];
	struct cpus allowed;
	struct finding *f;

	while ((x = next_of(a, "sys/kernel/debug/irq/irqs/*", x))) {
		if (x->err || !one_number(x->name, "sys/kernel/debug/irq/irqs/", &irq))
			continue;
		looked++;
		snprintf(file, sizeof(file), IRQ_DIR "%u/smp_affinity_list", irq);
		if (!irq_managed(a, irq) || !list_of(a, file, &allowed) || cpus_empty(&allowed) ||
		    !cpus_cover(&a->targets, &allowed))
			continue;
		irq_line(a, irq, "actions", name, sizeof(name));
		irq_add(a, &bad, irq, name, &allowed);
	}
	if (!looked)
		unknown(a, "which IRQs the kernel manages itself", "sys/kernel/debug/irq/irqs/");
	else if (!bad.count)
		found_ok(a, "no managed IRQ has only these CPUs");
	f = irqs_found(a, FINDING_WARN, &bad,
		       "managed IRQ %u (%s) has only %s, all of them to be quiet: managed_irq "
		       "cannot move it",
		       "managed_irq cannot move %u managed IRQs, which have only %s, all of them "
		       "to be quiet");
	if (!f)
		return;
	f->about = true;
	value(f, "%s interrupts on %s since boot",
	      format_count(irqs_count(&bad), count, sizeof(count)), a->whose);
	words(f,
	      "give the device fewer queues (ethtool -L for a network card), or do no I/O from %s",
	      a->whose);
}

static void check_default(struct audit *a)
{
	check_mask(a, IRQ_DIR "default_smp_affinity", "new IRQs may be delivered to",
		   "new IRQs leave these CPUs alone");
}

const struct check checks_interrupts[] = {
	{"irq", "I01", check_irqs, NULL},
	{"irq_managed", "I02", check_managed, NULL},
	{"irq_default", "I05", check_default, NULL},
	{"irqbalance", "I04", check_irqbalance, NULL},
	{0},
};
