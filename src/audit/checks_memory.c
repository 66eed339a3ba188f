/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory management: sources of TLB flushes, drains of per-CPU lists, and faults in the
 * workload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/checks.h"
#include "base/escape.h"
#include "model/isolation.h"

#define VM "proc/sys/vm/"
#define MM "sys/kernel/mm/"

#define THP MM "transparent_hugepage/"

#define KNOB(...)           check_knob, &(const struct knob_check)__VA_ARGS__
#define KNOB_BY(check, ...) check, &(const struct knob_check)__VA_ARGS__

/* Copies a path that the kernel has escaped: "/a\\040b" is "/a b" (seq_file_path). False: it is too
 * long, or of a file that no longer has a name. */
static bool swap_path(const char *text, size_t len, char *path, size_t room)
{
	static const char gone[] = "\\040(deleted)";
	size_t n = 0, cut = sizeof(gone) - 1;
	unsigned octal;

	if (len >= room || (len > cut && !memcmp(text + len - cut, gone, cut)))
		return false;
	for (size_t i = 0; i < len; i++) {
		bool escaped =
			text[i] == '\\' && i + 3 < len && sscanf(text + i + 1, "%3o", &octal) == 1;

		path[n++] = escaped ? (char)octal : text[i];
		i += escaped ? 3 : 0;
	}
	path[n] = 0;
	return true;
}

/* Adds the command that brings an area back: swapon -a has those of /etc/fstab alone. The kernel
 * gives negative priorities itself, in the order in which areas come. */
static bool add_swapon(const char *line, struct text *back)
{
	char path[1024], quoted[4 * sizeof(path)];
	int priority;

	if (!swap_path(line, strcspn(line, " \t\n"), path, sizeof(path)) ||
	    !shell_quote(path, quoted, sizeof(quoted)) ||
	    sscanf(line, "%*s %*s %*s %*s %d", &priority) != 1)
		return false;
	text_add(back, "%sswapon ", back->len ? "; " : "");
	if (priority >= 0)
		text_add(back, "-p %d ", priority);
	text_add(back, "%s", quoted);
	return true;
}

static void check_swap(struct audit *a)
{
	const char *text = text_of(a, "proc/swaps");
	struct text back = {.audit = a};
	char first[128];
	bool whole = true;
	int areas = 0;

	if (!text) {
		unknown(a, "swap areas", "proc/swaps");
		return;
	}
	for (text += strcspn(text, "\n"), text += *text == '\n'; *text;
	     text += strcspn(text, "\n"), text += *text == '\n') {
		if (!areas++)
			snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, " \t\n"), text);
		whole = whole && add_swapon(text, &back);
	}
	if (!areas) {
		found_ok(a, "no swap");
		return;
	}
	struct finding *f = warn(a, "memory may be swapped out: a later touch waits for the disk");

	value(f, "%s%s", first, areas > 1 ? " and others" : "");
	good(f, "none, or all of the workload's memory locked");
	command(f, "swapoff -a");
	if (whole && back.len)
		undo(f, "%s", back.at);
	free(back.at);
}

static void check_hugepages(struct audit *a)
{
	const struct fact *x = NULL;
	char pages[256] = "";
	long long n;

	while ((x = next_of(a, MM "hugepages/*/nr_hugepages", x))) {
		const char *size = x->name + strlen(MM "hugepages/hugepages-");
		size_t have = strlen(pages);

		if (strlen(x->name) > strlen(MM "hugepages/hugepages-") &&
		    number_of(a, x->name, &n) && n)
			snprintf(pages + have, sizeof(pages) - have, "%s%lld of %.*s",
				 have ? ", " : "", n, (int)strcspn(size, "/"), size);
	}
	value(info(a, "huge pages set aside"), "%s", pages[0] ? pages : "none");
}

/* 0 switches off what comes by time alone (Documentation/admin-guide/sysctl/vm.rst). */
static void check_writeback(struct audit *a)
{
	long long n;

	if (number_of(a, VM "dirty_writeback_centisecs", &n) && !n)
		found_ok(a, "dirty pages are not written back periodically");
	else
		check_knob(a);
}

/* KFENCE patches the kernel's code twice in each interval, with an IPI to all CPUs each time, where
 * it uses a static key. */
static void check_kfence(struct audit *a)
{
	static const char name[] = "sys/module/kfence/parameters/sample_interval";
	struct finding *f;
	char keys[8];
	long long n;

	if (!number_of(a, name, &n)) {
		unknown(a, "KFENCE", name);
		return;
	}
	if (!n || (kconfig(a, "KFENCE_STATIC_KEYS", keys, sizeof(keys)) && strcmp(keys, "y"))) {
		found_ok(a, "KFENCE does not patch the kernel's text");
		return;
	}
	if (!kconfig(a, "KFENCE_STATIC_KEYS", keys, sizeof(keys))) {
		unknown(a, "whether KFENCE patches the kernel's text", "run/kconfig");
		return;
	}
	f = warn(a, "KFENCE patches the kernel's text every %lld ms, by IPIs to all CPUs", n);
	good(f, "0");
	write_fix(a, f, name, "0");
}

/* Says so of some of RHEL 9's kernels. */
static void vmstat_not_known(struct audit *a)
{
	struct finding *f =
		info(a, "whether memory statistics are added up on these CPUs: not known");

	if (f)
		f->known = false;
	value(f, "some kernels of RHEL 9 leave isolated CPUs out");
	write_fix(a, f, a->check->knob->name, a->check->knob->set);
}

/* From 6.5 on vmstat_shepherd() leaves out CPUs of isolcpus= and nohz_full=, from 6.8 on those of
 * isolated partitions, too (cpu_is_isolated). */
static void check_vmstat(struct audit *a)
{
	const char *release = text_of(a, "proc/sys/kernel/osrelease");
	struct isolation i;
	struct cpus left_out;
	long long interval;

	isolation_of(a->facts, &i);
	list_of(a, "sys/devices/system/cpu/nohz_full", &left_out);
	cpus_or(&left_out, &i.boot);
	if (kernel_from(a, 6, 8))
		cpus_or(&left_out, &i.cpusets);
	if (kernel_from(a, 6, 5) && cpus_cover(&left_out, &a->targets))
		found_ok(a, "memory statistics are not added up on these CPUs regularly: they are "
			    "isolated");
	else if (release && strstr(release, ".el9") && cpus_cover(&left_out, &a->targets) &&
		 number_of(a, a->check->knob->name, &interval) && interval < a->check->knob->limit)
		vmstat_not_known(a);
	else
		check_knob(a);
}

/* True where the chosen word of one of these files, "[always] madvise never", is none of those. */
static bool chooses_other(struct audit *a, const char *files, const char *const words[2])
{
	const struct fact *x = NULL;
	char word[32];

	while ((x = next_of(a, files, x)))
		if (!x->err && strchr(x->text, '[') &&
		    sscanf(strchr(x->text, '['), "[%31[^]]", word) == 1 && strcmp(word, words[0]) &&
		    strcmp(word, words[1]))
			return true;
	return false;
}

/* False also where it is not known, as in older recordings, which lack the word for shared memory.
 * A page size may have a word of its own, since 6.8; it may inherit that for all. */
static bool no_huge_pages(struct audit *a)
{
	static const char *const never[2] = {"never", "inherit"}, *const deny[2] = {"never",
										    "deny"};

	return text_of(a, THP "enabled") && text_of(a, THP "shmem_enabled") &&
	       !chooses_other(a, THP "enabled", never) &&
	       !chooses_other(a, THP "hugepages-*/enabled", never) &&
	       !chooses_other(a, THP "shmem_enabled", deny) &&
	       !chooses_other(a, THP "hugepages-*/shmem_enabled", never);
}

static void check_defrag(struct audit *a)
{
	if (no_huge_pages(a))
		found_ok(a, "no page fault compacts memory for a huge page: huge pages are off");
	else
		check_knob(a);
}

static void check_khugepaged(struct audit *a)
{
	if (no_huge_pages(a))
		found_ok(a, "khugepaged does not run: huge pages are off");
	else
		check_knob(a);
}

const struct check checks_memory[] = {
	{"vmstat", "K01",
	 KNOB_BY(check_vmstat,
		 {.name = VM "stat_interval",
		  .test = GOOD_FROM,
		  .limit = 10,
		  .level = FINDING_INFO,
		  .title = "memory statistics are added up often, by a work item on each CPU "
			   "that changed them",
		  .fine = "memory statistics are added up seldom",
		  .set = "120"})},
	{"thp", "P08",
	 KNOB({.name = THP "enabled",
	       .test = BAD_WORD,
	       .bad = "always",
	       .level = FINDING_WARN,
	       .title = "transparent huge pages are on for all: khugepaged sends IPIs and work "
			"to all CPUs",
	       .fine = "transparent huge pages are off, or on for programs that ask",
	       .set = "never"})},
	{"thp_defrag", "F04",
	 KNOB_BY(check_defrag,
		 {.name = THP "defrag",
		  .test = BAD_WORD,
		  .bad = "always",
		  .level = FINDING_INFO,
		  .title = "a page fault may compact memory to get a huge page",
		  .fine = "page faults compact memory for no program, or for those that ask",
		  .set = "never"})},
	{"khugepaged", "P08",
	 KNOB_BY(check_khugepaged, {.name = THP "khugepaged/scan_sleep_millisecs",
				    .test = GOOD_FROM,
				    .limit = 10000,
				    .level = FINDING_INFO,
				    .title = "khugepaged scans often",
				    .fine = "khugepaged scans seldom",
				    .set = "60000"})},
	{"ksm", "K24",
	 KNOB({.name = MM "ksm/run",
	       .test = BAD_WORD,
	       .bad = "1",
	       .level = FINDING_WARN,
	       .title = "pages are merged (KSM): ksmd write-protects memory and flushes TLBs",
	       .fine = "no pages are merged (KSM)",
	       .only = "ksmd",
	       .set = "2"})},
	{"numa_balancing", "F05",
	 KNOB({.name = "proc/sys/kernel/numa_balancing",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_WARN,
	       .title = "NUMA balancing takes pages away to see who touches them: page faults "
			"and TLB flushes",
	       .fine = "NUMA balancing is off",
	       .set = "0"})},
	{"swap", "F02", check_swap, NULL},
	{"zswap", "F02",
	 KNOB({.name = "sys/module/zswap/parameters/enabled",
	       .test = BAD_WORD,
	       .bad = "Y",
	       .level = FINDING_INFO,
	       .title = "zswap compresses memory that is swapped out",
	       .fine = "zswap is off",
	       .set = "N"})},
	{"compaction", "K24",
	 KNOB({.name = VM "compaction_proactiveness",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_INFO,
	       .title = "kcompactd compacts memory in advance: it wakes every 500 ms and drains "
			"all CPUs' page lists",
	       .fine = "memory is not compacted in advance",
	       .only = "kcompactd",
	       .set = "0"})},
	{"compact_locked", "F06",
	 KNOB({.name = VM "compact_unevictable_allowed",
	       .test = GOOD_IS,
	       .limit = 0,
	       .level = FINDING_INFO,
	       .title = "compaction may move locked pages: the workload faults on them",
	       .fine = "locked pages stay where they are",
	       .set = "0"})},
	{"writeback", "K10",
	 KNOB_BY(check_writeback, {.name = VM "dirty_writeback_centisecs",
				   .test = GOOD_FROM,
				   .limit = 500,
				   .level = FINDING_INFO,
				   .title = "dirty pages are written back often",
				   .fine = "dirty pages are written back every 5 s or less often",
				   .set = "1500"})},
	{"kfence", "P10", check_kfence, NULL},
	{"hugepages", "F01", check_hugepages, NULL},
	{0},
};
