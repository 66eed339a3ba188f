/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile of tuned: tuned.conf, where tuned itself keeps and puts back what was there, and
 * script.sh for what it has no plugin for, with the undo lines of the audit. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "render/audit_setup.h"

#define SYSFS "/sys/"
/* Takes one word, and reads as a list of all: tuned would write that back, which fails. Of two
 * words it would keep the last. */
#define FEATURES "/sys/kernel/debug/sched/features"

/* tuned's plugin for files takes those of sysfs only, and puts back what it has read. */
static bool tuned_sets(const struct finding *f)
{
	const char *at = f->fix;
	struct setting s;

	if (finding_form(f) != FIX_SETTINGS)
		return false;
	while (*at && setting_next(&at, &s))
		if (!s.sysctl &&
		    (strncmp(s.name, SYSFS, strlen(SYSFS)) || !strcmp(s.name, FEATURES)))
			return false;
	return true;
}

/* Writes a section of all settings of one kind, each once: some of tuned's readers refuse a file
 * that has a name twice. */
static void write_section(const struct view *v, const char *name, bool sysctl, FILE *out)
{
	bool any = false;

	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		const char *at = f->fix;
		struct setting s;

		if (!tuned_sets(f))
			continue;
		while (*at && setting_next(&at, &s)) {
			if (s.sysctl != sysctl || setting_repeated(v, f, &s, tuned_sets))
				continue;
			if (!any)
				fprintf(out, "\n[%s]\n", name);
			any = true;
			fprintf(out, "%s=%s\n", s.name, s.value);
		}
	}
}

static bool scripted(const struct finding *f)
{
	enum fix_form form = finding_form(f);

	return form == FIX_SHELL || (form == FIX_SETTINGS && !tuned_sets(f));
}

/* True when a finding needs this plugin beside the settings. */
static bool any_of(const struct view *v, bool (*is)(const struct finding *f))
{
	for (uint32_t i = 0; i < v->findings.count; i++)
		if (is(&v->findings.row[i]))
			return true;
	return false;
}

static bool numbered(const struct finding *f)
{
	return finding_form(f) == FIX_NUMBERED;
}

/* tuned takes isolated_cores away from each affinity, and where nothing is left of one it gives it
 * all other CPUs (plugin_scheduler.py): with those of another workload among them, threads that are
 * bound there would be moved to housekeeping. */
static void write_scheduler(const struct view *v, FILE *out)
{
	const struct cpus quiet = render_setup_quiet(v);
	char list[CPUS_LIST];

	fputs("\n# interrupts and threads, whatever their numbers are\n", out);
	if (!cpus_empty(&quiet))
		fprintf(out,
			"# cpu %s is left to them: named below, it would lose what is bound to "
			"it\n",
			cpus_format(&quiet, list, sizeof(list)));
	fputs("[scheduler]\nisolated_cores=${isolated_cores}\n", out);
}

int render_tuned_conf(const struct view *v, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN), cpus[CPUS_LIST];

	render_setup_head(v, "for /etc/tuned/NAME, or where this tuned has its own profiles", out);
	fputs("# To undo: tuned-adm profile, with the one before. tuned puts back what was there; "
	      "boot parameters\n# go with the next boot.\n",
	      out);
	render_setup_rest(v, SETUP_TUNED, out);
	fprintf(out,
		"[main]\nsummary=Quiet CPUs, by culprit\n\n[variables]\n"
		"isolated_cores=%s\n",
		cpus_format(&v->run.cpus, cpus, sizeof(cpus)));
	if (any_of(v, numbered))
		write_scheduler(v, out);
	write_section(v, "sysctl", true, out);
	write_section(v, "sysfs", false, out);
	if (boot && !strpbrk(boot, "$\n"))
		fprintf(out, "\n[bootloader]\ncmdline_culprit=+%s\n", boot);
	if (any_of(v, scripted))
		fputs("\n[script]\nscript=${i:PROFILE_DIR}/script.sh\n", out);
	free(boot);
	return ferror(out) ? -EIO : 0;
}

static void write_lines(const struct view *v, bool undo, FILE *out)
{
	for (uint32_t i = 0, n = v->findings.count; i < n; i++) {
		const struct finding *f = &v->findings.row[undo ? n - 1 - i : i];

		if (!scripted(f))
			continue;
		fprintf(out, "\t# %s\n", f->id);
		if (!undo)
			fprintf(out, "\t%s\n", f->fix);
		else if (f->undo && !strpbrk(f->undo, "\n\r"))
			fprintf(out, "\t%s\n", f->undo);
	}
}

int render_tuned_script(const struct view *v, FILE *out)
{
	fputs("#!/bin/bash\n", out);
	render_setup_head(v, "What tuned has no plugin for; tuned calls it with start or stop.",
			  out);
	fputs("\n. /usr/lib/tuned/functions\n\nstart() {\n", out);
	write_lines(v, false, out);
	fputs("\treturn 0\n}\n\nstop() {\n", out);
	write_lines(v, true, out);
	fputs("\treturn 0\n}\n\nprocess $@\n", out);
	return ferror(out) ? -EIO : 0;
}
