/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings that steer network and block work to CPUs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"
#include "model/isolation.h"

#define QUEUES "sys/class/net/*/queues/*/rps_cpus"

static void check_rps(struct audit *a)
{
	const struct fact *x = NULL, *all = facts_find(a->facts, QUEUES);
	struct naming names = {0};
	struct finding *f = NULL;
	unsigned looked = 0;
	struct text fix = {.audit = a}, back = {.audit = a};
	struct cpus set;

	if (all && all->err == FACT_FOREIGN) {
		unknown(a, "where network queues steer packets to", QUEUES);
		return;
	}
	while ((x = next_of(a, QUEUES, x))) {
		char path[FACT_NAME_MAX], mask[CPUS_MASK], slashed[FACT_NAME_MAX];
		const char *interface = x->name + strlen("sys/class/net/");

		looked++;
		if (!mask_of(a, x->name, &set) || !meets(&set, &a->targets))
			continue;
		name_add(&names, interface, strcspn(interface, "/"));
		set = without(&set, &a->targets);
		cpus_format_mask(&set, mask, sizeof(mask));
		snprintf(slashed, sizeof(slashed), "/%s", x->name);
		if (!shell_quote(slashed, path, sizeof(path)))
			continue;
		text_add(&fix, "%secho %s > %s", fix.len ? "; " : "", mask, path);
		text_add(&back, "%secho %.*s > %s", back.len ? "; " : "",
			 (int)strcspn(x->text, "\n"), x->text, path);
	}
	if (names.count) {
		f = warn(a, "RPS steers received packets to %s: %s", a->whose, name_list(&names));

		good(f, "no queue's mask holds it");
	} else if (looked) {
		found_ok(a, "no network queue is steered to these CPUs");
	}
	fix_take(f, &fix, &back);
}

static void check_rps_default(struct audit *a)
{
	check_mask(a, "proc/sys/net/core/rps_default_mask", "new network queues steer packets to",
		   "new network queues leave these CPUs alone");
}

static void check_napi(struct audit *a)
{
	struct naming names = {0};
	struct task_walk w = {0};
	struct task t;

	if (!need_tasks(a))
		return;
	while (next_task(a, &w, &t))
		if ((t.flags & TASK_KTHREAD) && comm_begins(&t, "napi/") &&
		    meets(&t.allowed, &a->targets))
			name_add(&names, t.comm, t.comm_len);
	if (!names.count) {
		found_ok(a, "no NAPI thread may run on these CPUs");
		return;
	}
	struct finding *f = warn(a, "NAPI threads may run on %s: %s", a->whose, name_list(&names));

	good(f, "bound to cpu %s", a->keep);
	command(f, "for t in $(pgrep '^napi/'); do taskset -pc %s $t; done", a->keep);
}

/* With rq_affinity 1 a CPU completes what another one asked for where the scheduler counts the two
 * as sharing the last-level cache (kernel/sched/topology.c: cpus_share_cache): a CPU that a cpuset
 * has taken out of its domains shares it with none. One that isolcpus= has left out from the begin
 * counts as in the cache of number 0, which is that of CPU 0 unless this is isolated. */
static bool shares_cache(const struct audit *a)
{
	struct isolation now;
	struct cpus cache;
	char name[96];

	isolation_of(a->facts, &now);
	if (!now.boot_known || cpus_has(&now.all, 0))
		return false;
	cpus_sub(&now.all, &now.boot);
	if (meets(&now.all, &a->targets))
		return false;
	each_target(a, cpu)
	{
		snprintf(name, sizeof(name),
			 "sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
		if (!list_of(a, name, &cache) || !cpus_cover(&cache, &a->online))
			return false;
	}
	return true;
}

/* A request completes where its interrupt came if all interrupts are threads (block/blk-mq.c:
 * blk_mq_complete_need_ipi). */
static bool all_threaded(const struct audit *a)
{
	char text[8];

	return (kconfig(a, "PREEMPT_RT", text, sizeof(text)) && !strcmp(text, "y")) ||
	       (parameter(a, "threadirqs", text, sizeof(text)) && kernel_from(a, 5, 12));
}

static void check_block(struct audit *a)
{
	struct text fix = {.audit = a}, back = {.audit = a};
	bool one = false, two = false, shared = shares_cache(a), threaded = all_threaded(a);
	struct naming names = {0};
	const struct fact *x = NULL;
	struct finding *f = NULL;
	long long n;

	while ((x = next_of(a, "sys/block/*/queue/rq_affinity", x))) {
		char path[FACT_NAME_MAX], slashed[FACT_NAME_MAX];
		const char *disk = x->name + strlen("sys/block/");

		if (threaded || !number_of(a, x->name, &n) || (n != 2 && (n != 1 || shared)))
			continue;
		one |= n == 1;
		two |= n == 2;
		name_add(&names, disk, strcspn(disk, "/"));
		snprintf(slashed, sizeof(slashed), "/%s", x->name);
		if (!shell_quote(slashed, path, sizeof(path)))
			continue;
		text_add(&fix, "%secho 0 > %s", fix.len ? "; " : "", path);
		text_add(&back, "%secho %lld > %s", back.len ? "; " : "", n, path);
	}
	if (!names.count) {
		found_ok(a,
			 "no disk sends the completion of I/O back to the CPU that asked for it");
	} else {
		f = info(a,
			 "disks may send the completion of I/O back to the CPU that asked for it: "
			 "%s",
			 name_list(&names));
		value(f, "rq_affinity %s", !one ? "2" : two ? "1 and 2" : "1");
		good(f, "0, and no I/O from %s", a->whose);
	}
	fix_take(f, &fix, &back);
}

static void check_softirqs(struct audit *a)
{
	const char *at = text_of(a, "proc/softirqs");
	char counts[256] = "", name[16];

	if (!at) {
		unknown(a, "softirq counts", "proc/softirqs");
		return;
	}
	for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		size_t have = strlen(counts);
		unsigned long long sum;

		if (sscanf(at, " %15[A-Z_]:", name) != 1 || !memchr(at, ':', strcspn(at, "\n")))
			continue;
		sum = sum_of_targets(a, strchr(at, ':') + 1);
		if (sum)
			snprintf(counts + have, sizeof(counts) - have, "%s%s %llu",
				 have ? ", " : "", name, sum);
	}
	value(info(a, "softirqs on %s since boot", a->whose), "%s", counts[0] ? counts : "none");
}

const struct check checks_steering[] = {
	{"rps", "P18", check_rps, NULL},           {"rps_default", "P18", check_rps_default, NULL},
	{"napi_threads", "K27", check_napi, NULL}, {"block_affinity", "P19", check_block, NULL},
	{"softirqs", NULL, check_softirqs, NULL},  {0},
};
