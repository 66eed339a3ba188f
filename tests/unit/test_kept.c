/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms that keep what tune has kept over boots, word for word; names of any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../world/world.h"
#include "audit/kept.h"
#include "render/audit_setup.h"

#define MADE     "# culprit " CULPRIT_VERSION ", linux 6.12.9: cpu 3 quiet, housekeeping on 0.\n"
#define FEATURES "/sys/kernel/debug/sched/features"

static struct view view;
static struct tuned t;
static char *out;

static struct tuned_step *add_step(const char *id, bool kept)
{
	struct tuned_step *s = tuned_add(&t);

	assert_non_null(s);
	s->fix[0] = (struct tried_fix){id, "a cause", 0, 0};
	s->nfixes = 1;
	s->kept = kept;
	return s;
}

static void add_file(struct tuned_step *s, const char *path, const char *old, const char *new)
{
	assert_non_null(knobs_add(&s->knobs, KNOB_FILE, path, old, new));
}

static void add_feature(const char *id, const char *name)
{
	char no[32];

	snprintf(no, sizeof(no), "NO_%s", name);
	assert_non_null(knobs_add(&add_step(id, true)->knobs, KNOB_FEATURE, FEATURES, name, no));
}

static int begin(void **state)
{
	static const unsigned cpus[] = {3};

	(void)state;
	world_view(&view, "host", cpus, 1);
	cpus_clear(&view.run.cpus);
	cpus_add(&view.run.cpus, 3);
	t = (struct tuned){.host = &view.host, .cpus = &view.run.cpus};
	return 0;
}

static int end(void **state)
{
	(void)state;
	tuned_free(&t);
	view_free(&view);
	free(out);
	out = NULL;
	return 0;
}

static void keep(struct findings *audit)
{
	assert_int_equal(kept_findings(&view.findings, &t, audit), 0);
	findings_free(audit);
}

static void write_out(int (*render)(const struct view *v, FILE *to))
{
	size_t len;
	FILE *f;

	free(out);
	f = open_memstream(&out, &len);
	assert_int_equal(render(&view, f), 0);
	fclose(f);
}

static void is(int (*render)(const struct view *v, FILE *to), const char *want)
{
	write_out(render);
	assert_string_equal(out, want);
}

/* Settings of each kind and a thread that were kept; one that was tried in vain, one not tried. */
static void tune_some(void)
{
	struct tuned_step *s = add_step("K01", true);
	struct findings audit = {0};
	struct finding *boot = findings_add(&audit, "isolated", FINDING_FAIL);
	struct knob *k;

	add_file(s, "/proc/sys/vm/stat_interval", "1", "120");
	add_file(s, "/sys/kernel/mm/x", "a b", "c");
	k = knobs_add(&add_step("K34", true)->knobs, KNOB_THREAD, "", "3", "0-2");
	assert_non_null(k);
	k->tid = 812;
	strcpy(k->comm, "<a>|\033[1m`b");
	add_file(add_step("T17", false), "/proc/sys/kernel/watchdog_cpumask", "0-3", "0-2");
	add_feature("T04", "HRTICK");
	add_feature("T05", "RT_PUSH_IPI");
	strcpy(add_step("I01", false)->why, "irqbalance runs here");
	boot->fix = strdup("isolcpus=3 nosmt");
	boot->fix_kind = FIX_BOOT;
	keep(&audit);
}

#define THREAD "K34, the CPUs of <a>|\\x1b[1m`b [812]\n"

static void as_sysctl(void **state)
{
	(void)state;
	tune_some();
	is(render_sysctl,
	   "# for /etc/sysctl.d/NAME.conf; now, too: sysctl -p FILE\n" MADE
	   "# To undo: remove it, and boot, or run what is behind \"undo:\".\n"
	   "# not in here, as numbers differ from boot to boot: " THREAD "# K01\n"
	   "vm.stat_interval = 120\n"
	   "# undo: sysctl -w vm.stat_interval=1\n"
	   "# not in here, as it is no sysctl: /sys/kernel/mm/x = c\n"
	   "# not in here, as it is no sysctl: /sys/kernel/debug/sched/features = NO_HRTICK\n"
	   "# not in here, as it is no sysctl: /sys/kernel/debug/sched/features = "
	   "NO_RT_PUSH_IPI\n");
}

static void as_service(void **state)
{
	(void)state;
	tune_some();
	is(render_service,
	   "# for /etc/systemd/system/culprit-fixes.service, then: systemctl enable --now "
	   "culprit-fixes\n" MADE "# To undo: systemctl disable culprit-fixes, and boot, or run "
	   "what is behind \"undo:\".\n"
	   "# not in here, as numbers differ from boot to boot: " THREAD "[Unit]\n"
	   "Description=Quiet CPUs, by culprit\n"
	   "After=systemd-sysctl.service systemd-modules-load.service\n"
	   "\n"
	   "[Service]\n"
	   "Type=oneshot\n"
	   "RemainAfterExit=yes\n"
	   "# One that fails keeps none of the others from running, and is in the journal.\n"
	   "# K01\n"
	   "ExecStart=-/bin/sh -c \"sysctl -w vm.stat_interval=120\"\n"
	   "# undo: sysctl -w vm.stat_interval=1\n"
	   "# K01\n"
	   "ExecStart=-/bin/sh -c \"echo c > /sys/kernel/mm/x\"\n"
	   "# undo: echo 'a b' > /sys/kernel/mm/x\n"
	   "# T04\n"
	   "ExecStart=-/bin/sh -c \"echo NO_HRTICK > /sys/kernel/debug/sched/features\"\n"
	   "# undo: echo HRTICK > /sys/kernel/debug/sched/features\n"
	   "# T05\n"
	   "ExecStart=-/bin/sh -c \"echo NO_RT_PUSH_IPI > /sys/kernel/debug/sched/features\"\n"
	   "# undo: echo RT_PUSH_IPI > /sys/kernel/debug/sched/features\n"
	   "\n"
	   "[Install]\n"
	   "WantedBy=multi-user.target\n");
}

static const char playbook[] =
	"# for: ansible-playbook -l HOSTS FILE\n" MADE
	"# What is set \"now\" and by the other commands lasts until the next boot: play it "
	"again then.\n"
	"# To undo: remove /etc/sysctl.d/60-culprit.conf and "
	"/etc/default/grub.d/60-culprit.cfg;\n"
	"# then update-grub, or on Red Hat and its kin what is behind \"undo:\"; and boot.\n"
	"# For machines of this kind only: the CPUs are named by number.\n"
	"# not in here, as numbers differ from boot to boot: " THREAD "- name: quiet CPUs 3\n"
	"  hosts: all\n"
	"  become: true\n"
	"  tasks:\n"
	"    - name: sysctl vm.stat_interval, kept over boots\n"
	"      ansible.builtin.lineinfile:\n"
	"        path: /etc/sysctl.d/60-culprit.conf\n"
	"        create: true\n"
	"        mode: \"0644\"\n"
	"        regexp: \"^vm\\\\.stat_interval=\"\n"
	"        line: \"vm.stat_interval=120\"\n"
	"    - name: sysctl, now\n"
	"      ansible.builtin.command: sysctl -p /etc/sysctl.d/60-culprit.conf\n"
	"    - name: K01\n"
	"      ansible.builtin.shell: !unsafe \"echo c > /sys/kernel/mm/x\"\n"
	"    - name: T04\n"
	"      ansible.builtin.shell: !unsafe \"echo NO_HRTICK > "
	"/sys/kernel/debug/sched/features\"\n"
	"    - name: T05\n"
	"      ansible.builtin.shell: !unsafe \"echo NO_RT_PUSH_IPI > "
	"/sys/kernel/debug/sched/features\"\n"
	"    - name: boot parameters, the directory\n"
	"      ansible.builtin.file:\n"
	"        path: /etc/default/grub.d\n"
	"        state: directory\n"
	"      when: ansible_facts['os_family'] == 'Debian'\n"
	"    - name: boot parameter isolcpus, kept over boots\n"
	"      ansible.builtin.lineinfile:\n"
	"        path: /etc/default/grub.d/60-culprit.cfg\n"
	"        create: true\n"
	"        mode: \"0644\"\n"
	"        regexp: \"^GRUB_CMDLINE_LINUX=\\\"\\\\$GRUB_CMDLINE_LINUX isolcpus(=[^ "
	"\\\"]*)?\\\"$\"\n"
	"        line: \"GRUB_CMDLINE_LINUX=\\\"$GRUB_CMDLINE_LINUX isolcpus=3\\\"\"\n"
	"      notify: update-grub\n"
	"      when: ansible_facts['os_family'] == 'Debian'\n"
	"    - name: boot parameter nosmt, kept over boots\n"
	"      ansible.builtin.lineinfile:\n"
	"        path: /etc/default/grub.d/60-culprit.cfg\n"
	"        create: true\n"
	"        mode: \"0644\"\n"
	"        regexp: \"^GRUB_CMDLINE_LINUX=\\\"\\\\$GRUB_CMDLINE_LINUX nosmt(=[^ "
	"\\\"]*)?\\\"$\"\n"
	"        line: \"GRUB_CMDLINE_LINUX=\\\"$GRUB_CMDLINE_LINUX nosmt\\\"\"\n"
	"      notify: update-grub\n"
	"      when: ansible_facts['os_family'] == 'Debian'\n"
	"    - name: boot parameters, Red Hat and its kin\n"
	"      ansible.builtin.command:\n"
	"        argv:\n"
	"          - grubby\n"
	"          - --update-kernel=ALL\n"
	"          - \"--args=isolcpus=3 nosmt\"\n"
	"      when: ansible_facts['os_family'] == 'RedHat'\n"
	"# undo: grubby --update-kernel=ALL --remove-args='isolcpus=3 nosmt'\n"
	"  handlers:\n"
	"    - name: update-grub\n"
	"      ansible.builtin.command: update-grub\n";

static void as_playbook(void **state)
{
	(void)state;
	tune_some();
	is(render_ansible, playbook);
}

static void as_profile(void **state)
{
	(void)state;
	tune_some();
	is(render_tuned_conf,
	   "# for /etc/tuned/NAME, or where this tuned has its own profiles\n" MADE
	   "# To undo: tuned-adm profile, with the one before. tuned puts back what was there; "
	   "boot parameters\n"
	   "# go with the next boot.\n"
	   "[main]\n"
	   "summary=Quiet CPUs, by culprit\n"
	   "\n"
	   "[variables]\n"
	   "isolated_cores=3\n"
	   "\n"
	   "# interrupts and threads, whatever their numbers are\n"
	   "[scheduler]\n"
	   "isolated_cores=${isolated_cores}\n"
	   "\n"
	   "[sysctl]\n"
	   "vm.stat_interval=120\n"
	   "\n"
	   "[sysfs]\n"
	   "/sys/kernel/mm/x=c\n"
	   "\n"
	   "[bootloader]\n"
	   "cmdline_culprit=+isolcpus=3 nosmt\n"
	   "\n"
	   "[script]\n"
	   "script=${i:PROFILE_DIR}/script.sh\n");
	is(render_tuned_script,
	   "#!/bin/bash\n"
	   "# What tuned has no plugin for; tuned calls it with start or stop.\n" MADE "\n"
	   ". /usr/lib/tuned/functions\n"
	   "\n"
	   "start() {\n"
	   "\t# T04\n"
	   "\techo NO_HRTICK > /sys/kernel/debug/sched/features\n"
	   "\t# T05\n"
	   "\techo NO_RT_PUSH_IPI > /sys/kernel/debug/sched/features\n"
	   "\treturn 0\n"
	   "}\n"
	   "\n"
	   "stop() {\n"
	   "\t# T05\n"
	   "\techo RT_PUSH_IPI > /sys/kernel/debug/sched/features\n"
	   "\t# T04\n"
	   "\techo HRTICK > /sys/kernel/debug/sched/features\n"
	   "\treturn 0\n"
	   "}\n"
	   "\n"
	   "process $@\n");
}

static void as_object(void **state)
{
	(void)state;
	tune_some();
	is(render_performance_profile,
	   "# for: oc apply -f FILE\n" MADE
	   "# To undo: oc delete -f FILE. The workers boot again, as with it.\n"
	   "# Read it first: nodeSelector below selects every worker, and the CPU numbers are "
	   "those of this\n"
	   "# machine. Give workers of this kind a label of their own, and select that.\n"
	   "# isolcpus=, nohz_full=, rcu_nocbs= and the affinity of interrupts and kernel threads "
	   "are\n"
	   "# the operator's, from the lists below.\n"
	   "# not in here, as this object has no field for it: K01, /proc/sys/vm/stat_interval\n"
	   "# not in here, as this object has no field for it: K01, /sys/kernel/mm/x\n"
	   "# not in here, as this object has no field for it: T04, "
	   "/sys/kernel/debug/sched/features\n"
	   "# not in here, as this object has no field for it: T05, "
	   "/sys/kernel/debug/sched/features\n"
	   "apiVersion: performance.openshift.io/v2\n"
	   "kind: PerformanceProfile\n"
	   "metadata:\n"
	   "  name: culprit\n"
	   "spec:\n"
	   "  cpu:\n"
	   "    isolated: \"3\"\n"
	   "    reserved: \"0\"\n"
	   "    # isolcpus=domain: what runs on several of these CPUs places each thread itself\n"
	   "    balanceIsolated: false\n"
	   "  globallyDisableIrqLoadBalancing: true\n"
	   "  additionalKernelArgs:\n"
	   "    - \"nosmt\"\n"
	   "  nodeSelector:\n"
	   "    node-role.kubernetes.io/worker: \"\"\n");
	is(render_kernel_words, "isolcpus=3 nosmt\n");
}

/* A form that can hold nothing of what was kept says so, and not that nothing is left to do. */
static void only_threads(void **state)
{
	struct findings none = {0};

	(void)state;
	assert_non_null(knobs_add(&add_step("K34", true)->knobs, KNOB_THREAD, "", "3", "0-2"));
	assert_string_equal(render_setup_none(&view, SETUP_SERVICE), "nothing is left to do");
	keep(&none);
	assert_string_equal(render_setup_none(&view, SETUP_SERVICE),
			    "nothing of it can be held here");
	assert_string_equal(render_setup_none(&view, SETUP_TUNED), "nothing is left to do");
}

/* Hostile names and values are quoted; what no line holds is named in a comment. */
static void as_setup_quoted(void **state)
{
	static const struct {
		const char *path, *old, *new, *fix, *undo;
	} rows[] = {
		{"/sys/a b/$(x)", "it's", "1", "echo 1 > '/sys/a b/$(x)'",
		 "echo 'it'\\''s' > '/sys/a b/$(x)'"},
		{"/proc/sys/kernel/sched_rt_runtime_us", "950000", "-1",
		 "sysctl -w kernel.sched_rt_runtime_us=-1",
		 "sysctl -w kernel.sched_rt_runtime_us=950000"},
		{"/sys/y", "", "-n", NULL, "echo '' > /sys/y"},
		{"/sys/y", "a\\c", "a\nb", NULL, NULL},
	};
	struct findings none = {0};
	struct tuned_step *s = add_step("K01", true);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		add_file(s, rows[i].path, rows[i].old, rows[i].new);
	keep(&none);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct finding *x = &view.findings.row[i];

		assert_int_equal(x->fix_kind, rows[i].fix ? FIX_COMMAND : FIX_WORDS);
		if (rows[i].fix)
			assert_string_equal(x->fix, rows[i].fix);
		if (rows[i].undo)
			assert_string_equal(x->undo, rows[i].undo);
		else
			assert_null(x->undo);
	}
	is(render_tuned_conf,
	   "# for /etc/tuned/NAME, or where this tuned has its own profiles\n" MADE
	   "# To undo: tuned-adm profile, with the one before. tuned puts back what was there; "
	   "boot parameters\n"
	   "# go with the next boot.\n"
	   "# not in here, as it takes a person: K01, /sys/y\n"
	   "# not in here, as it takes a person: K01, /sys/y\n"
	   "[main]\n"
	   "summary=Quiet CPUs, by culprit\n"
	   "\n"
	   "[variables]\n"
	   "isolated_cores=3\n"
	   "\n"
	   "[sysctl]\n"
	   "kernel.sched_rt_runtime_us=-1\n"
	   "\n"
	   "[script]\n"
	   "script=${i:PROFILE_DIR}/script.sh\n");
}

static void put(const char *name, const char *text)
{
	assert_int_equal(facts_add(&view.facts, name, 0, text, strlen(text)), 0);
}

/* tuned takes cpu 3 alone away from what may run on others, too: what is bound to cpu 2 stays
 * there, and what was bound to cpu 3 may go there, which the profile says. */
static void beside_quiet_ones(void **state)
{
	static const struct {
		const char *isolated, *nohz_full, *list;
	} rows[] = {{"3\n", "3\n", NULL},
		    {"2-3\n", "\n", "2"},
		    {"\n", "3,5\n", "5"},
		    {"3,7,9\n", "2-3,6\n", "2,6-7"}}; /* 9 is offline */
	char want[256];

	(void)state;
	tune_some();
	put("sys/devices/system/cpu/online", "0-7\n");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put("sys/devices/system/cpu/isolated", rows[i].isolated);
		put("sys/devices/system/cpu/nohz_full", rows[i].nohz_full);
		snprintf(want, sizeof(want),
			 "\n# cpu %s is left to them: named below, it would lose what is bound to "
			 "it\n[scheduler]\n",
			 rows[i].list ? rows[i].list : "");
		write_out(render_tuned_conf);
		assert_non_null(strstr(out, "\nisolated_cores=3\n"));
		assert_int_equal(strstr(out, want) != NULL, rows[i].list != NULL);
		assert_int_equal(strstr(out, " is left to them") != NULL, rows[i].list != NULL);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {TEST(as_sysctl),       TEST(as_service),
					   TEST(as_playbook),     TEST(as_profile),
					   TEST(as_object),       TEST(only_threads),
					   TEST(as_setup_quoted), TEST(beside_quiet_ones)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
