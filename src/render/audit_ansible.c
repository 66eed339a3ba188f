/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An Ansible playbook. Commands are marked as !unsafe, so that braces in them are no template.
 *
 * An audit after the first playbook lists what is still missing alone. So files get a line for each
 * setting, which takes the place of the one of that name: those of earlier playbooks stay. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "render/audit_setup.h"

#define SYSCTL_FILE "/etc/sysctl.d/60-culprit.conf"
#define GRUB_DIR    "/etc/default/grub.d"
#define GRUB_FILE   GRUB_DIR "/60-culprit.cfg"
#define ON_DEBIAN   "      when: ansible_facts['os_family'] == 'Debian'\n"

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

/* The begin of a task that puts a line in place of the one that its regexp matches. */
static void write_line_task(const char *what, const char *name, size_t len, const char *file,
			    FILE *out)
{
	fprintf(out,
		"    - name: %s %.*s, kept over boots\n      ansible.builtin.lineinfile:\n"
		"        path: %s\n        create: true\n        mode: \"0644\"\n",
		what, (int)len, name, file);
}

/* A plain name, within a YAML string in double quotes. */
static void regexp_name(const char *name, size_t len, FILE *out)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, name[i] == '.' ? "\\\\%c" : "%c", name[i]);
}

/* sysctl's settings. False: there are none. */
static bool write_sysctls(const struct view *v, FILE *out)
{
	bool any = false;

	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		const char *at = f->fix;
		struct setting s;

		if (!finding_sets(f))
			continue;
		while (*at && setting_next(&at, &s)) {
			if (!s.sysctl || setting_repeated(v, f, &s, finding_sets))
				continue;
			any = true;
			write_line_task("sysctl", s.name, strlen(s.name), SYSCTL_FILE, out);
			fputs("        regexp: \"^", out);
			regexp_name(s.name, strlen(s.name), out);
			fprintf(out, "=\"\n        line: \"%s=%s\"\n", s.name, s.value);
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
	char keep[CPUS_LIST];
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

static void write_boot_line(const char *word, size_t len, FILE *out)
{
	size_t name = strcspn(word, "= ");

	write_line_task("boot parameter", word, name, GRUB_FILE, out);
	fputs("        regexp: \"^GRUB_CMDLINE_LINUX=\\\"\\\\$GRUB_CMDLINE_LINUX ", out);
	regexp_name(word, name, out);
	fprintf(out,
		"(=[^ \\\"]*)?\\\"$\"\n"
		"        line: \"GRUB_CMDLINE_LINUX=\\\"$GRUB_CMDLINE_LINUX %.*s\\\"\"\n"
		"      notify: update-grub\n" ON_DEBIAN,
		(int)len, word);
}

/* grubby has put the parameters in place of others of their names, which removing does not bring
 * back. Old ones and new ones have the same names, so these are two commands. */
static void write_boot_undo(const struct view *v, const char *boot, FILE *out)
{
	char *old, safe[4096];

	boot_replaced(&v->facts, boot, &old);
	fprintf(out, "# undo: grubby --update-kernel=ALL --remove-args='%s'", boot);
	if (old && strchr(old, '\''))
		fputs("; then add what these have replaced", out);
	else if (old)
		fprintf(out, "; grubby --update-kernel=ALL --args='%s'",
			escape_text(old, SIZE_MAX, safe, sizeof(safe)));
	putc('\n', out);
	free(old);
}

static bool write_boot(const struct view *v, const char *boot, FILE *out)
{
	if (!boot || strpbrk(boot, "\"'$`\\{}\n"))
		return false;
	fputs("    - name: boot parameters, the directory\n      ansible.builtin.file:\n"
	      "        path: " GRUB_DIR "\n        state: directory\n" ON_DEBIAN,
	      out);
	for (const char *at = boot; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		write_boot_line(at, len, out);
		at += len;
	}
	fprintf(out,
		"    - name: boot parameters, Red Hat and its kin\n"
		"      ansible.builtin.command:\n        argv:\n          - grubby\n"
		"          - --update-kernel=ALL\n          - \"--args=%s\"\n"
		"      when: ansible_facts['os_family'] == 'RedHat'\n",
		boot);
	write_boot_undo(v, boot, out);
	fputs("  handlers:\n    - name: update-grub\n"
	      "      ansible.builtin.command: update-grub\n",
	      out);
	return true;
}

int render_ansible(const struct view *v, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN), cpus[CPUS_LIST];
	bool any;

	render_setup_head(v, "for: ansible-playbook -l HOSTS FILE", out);
	fputs("# What is set \"now\" and by the other commands lasts until the next boot: play it "
	      "again then.\n# To undo: remove " SYSCTL_FILE " and " GRUB_FILE ";\n# then "
	      "update-grub, or on Red Hat and its kin what is behind \"undo:\"; and boot.\n# For "
	      "machines of this kind "
	      "only: the CPUs are named by number.\n",
	      out);
	render_setup_rest(v, SETUP_ANSIBLE, out);
	fprintf(out, "- name: quiet CPUs %s\n  hosts: all\n  become: true\n  tasks:\n",
		cpus_format(&v->run.cpus, cpus, sizeof(cpus)));
	any = write_sysctls(v, out);
	any |= write_commands(v, out);
	any |= write_irqs(v, out);
	any |= write_boot(v, boot, out); /* the last, for its handlers */
	if (!any)
		fprintf(out, "    - name: %s\n      ansible.builtin.meta: noop\n",
			render_setup_none(v, SETUP_ANSIBLE));
	free(boot);
	return ferror(out) ? -EIO : 0;
}
