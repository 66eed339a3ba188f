/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An Ansible playbook. Commands are marked as !unsafe, so that braces in them are no template. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/audit_setup.h"

#define SYSCTL_FILE "/etc/sysctl.d/60-culprit.conf"
#define GRUB_FILE   "/etc/default/grub.d/60-culprit.cfg"

/* A YAML string in double quotes, of printable ASCII. */
static void yaml_string(const char *text, FILE *out)
{
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', out);
		putc(*text, out);
	}
	putc('"', out);
}

/* sysctl's settings, as lines of one string. False: there are none. */
static bool write_sysctls(const struct view *v, FILE *out)
{
	bool any = false;

	for (uint32_t i = 0; i < v->findings.count; i++) {
		const char *at = v->findings.row[i].fix;
		struct setting s;

		if (finding_form(&v->findings.row[i]) != FIX_SETTINGS)
			continue;
		while (*at && setting_next(&at, &s)) {
			if (!s.sysctl)
				continue;
			if (!any)
				fputs("    - name: sysctl, kept over boots\n"
				      "      ansible.builtin.copy:\n"
				      "        dest: " SYSCTL_FILE "\n"
				      "        mode: \"0644\"\n        content: |\n",
				      out);
			any = true;
			fprintf(out, "          %s=%s\n", s.name, s.value);
		}
	}
	if (any)
		fputs("    - name: sysctl, now\n      ansible.builtin.command: sysctl "
		      "-p " SYSCTL_FILE "\n",
		      out);
	return any;
}

static bool only_sysctls(const struct finding *f)
{
	const char *at = f->fix;
	struct setting s;

	while (*at && setting_next(&at, &s))
		if (!s.sysctl)
			return false;
	return true;
}

static bool write_commands(const struct view *v, FILE *out)
{
	bool any = false;

	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		enum fix_form form = finding_form(f);

		if (form != FIX_SHELL && (form != FIX_SETTINGS || only_sysctls(f)))
			continue;
		any = true;
		fprintf(out, "    - name: %s\n      ansible.builtin.shell: !unsafe ", f->id);
		yaml_string(f->fix, out);
		putc('\n', out);
	}
	return any;
}

/* All interrupts that can be moved, as their numbers differ. */
static bool write_irqs(const struct view *v, FILE *out)
{
	char keep[4096];
	bool any = false;

	for (uint32_t i = 0; i < v->findings.count; i++)
		any |= finding_form(&v->findings.row[i]) == FIX_NUMBERED &&
		       strstr(v->findings.row[i].fix, "/proc/irq/");
	if (any)
		fprintf(out,
			"    - name: interrupts, now\n      ansible.builtin.shell: \"for f in "
			"/proc/irq/*/smp_affinity_list; do echo %s > $f 2> /dev/null || :; "
			"done\"\n",
			cpus_format(&v->run.housekeeping, keep, sizeof(keep)));
	return any;
}

static bool write_boot(const char *boot, FILE *out)
{
	if (!boot || strpbrk(boot, "\"'$`\\{}\n"))
		return false;
	fprintf(out,
		"    - name: boot parameters, Debian and its kin\n"
		"      ansible.builtin.copy:\n        dest: " GRUB_FILE "\n"
		"        mode: \"0644\"\n        content: |\n"
		"          GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX %s\"\n"
		"      register: grub\n"
		"      when: ansible_facts['os_family'] == 'Debian'\n"
		"    - name: boot parameters, the boot loader's own file\n"
		"      ansible.builtin.command: update-grub\n"
		"      when: grub is changed\n"
		"    - name: boot parameters, Red Hat and its kin\n"
		"      ansible.builtin.command:\n        argv:\n          - grubby\n"
		"          - --update-kernel=ALL\n          - \"--args=%s\"\n"
		"      when: ansible_facts['os_family'] == 'RedHat'\n",
		boot, boot);
	return true;
}

int render_ansible(const struct view *v, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN), cpus[4096];
	bool any;

	render_setup_head(v, "for: ansible-playbook -l HOSTS FILE", out);
	fputs("# What is set \"now\" and by the other commands lasts until the next boot: play it "
	      "again then.\n# For machines of this kind only: the CPUs are named by number.\n",
	      out);
	render_setup_rest(v, SETUP_ANSIBLE, out);
	fprintf(out, "- name: quiet CPUs %s\n  hosts: all\n  become: true\n  tasks:\n",
		cpus_format(&v->run.cpus, cpus, sizeof(cpus)));
	any = write_sysctls(v, out);
	any |= write_commands(v, out);
	any |= write_irqs(v, out);
	any |= write_boot(boot, out);
	if (!any)
		fputs("    - name: nothing is left to do\n      ansible.builtin.meta: noop\n", out);
	free(boot);
	return ferror(out) ? -EIO : 0;
}
