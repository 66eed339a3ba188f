/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixes of an audit in the forms that keep them over boots and on many machines: a tuned
 * profile, an Ansible playbook, a unit of systemd, a PerformanceProfile of Kubernetes' node tuning
 * operator, and the boot parameters alone. Warnings and failures only.
 *
 * What names a process or an interrupt by its number means another one after a boot or on another
 * machine, so none of these forms holds such a command (numbered below). */
#ifndef CULPRIT_AUDIT_SETUP_H
#define CULPRIT_AUDIT_SETUP_H

#include <stdbool.h>
#include <stdio.h>

#include "model/view.h"

/* A value of the kernel that a fix sets. */
struct setting {
	bool sysctl; /* false: a file */
	char name[256], value[128];
};

/* Reads the next of the settings that a command consists of, and moves *at behind it. False: there
 * is none, or the command is no list of plain settings. */
bool setting_next(const char **at, struct setting *s);

/* True when a finding before this one, of those that are meant, sets the same. */
bool setting_repeated(const struct view *v, const struct finding *f, const struct setting *s,
		      bool (*is_meant)(const struct finding *f));

enum fix_form {
	FIX_SETTINGS, /* nothing but settings, all of sysctl's or all files */
	FIX_NUMBERED, /* names processes or interrupts by their numbers */
	FIX_SHELL,    /* another command; settings of both kinds, which need their order */
	FIX_OTHER,    /* no command, or not of printable ASCII */
};

/* The way to mend a finding; FIX_OTHER also where none is known. */
enum fix_form finding_form(const struct finding *f);
bool finding_sets(const struct finding *f); /* true for FIX_SETTINGS */

/* Each writes one form. 0 or -errno. */
int render_kernel_words(const struct view *v, FILE *out); /* one line; nothing if none is needed */
/* Settings of /proc/sys alone, in the form of sysctl.d(5); the rest is named in comments. */
int render_sysctl(const struct view *v, FILE *out);
int render_performance_profile(const struct view *v, FILE *out);
int render_service(const struct view *v, FILE *out); /* a unit of systemd */
int render_ansible(const struct view *v, FILE *out);
int render_tuned_conf(const struct view *v, FILE *out);
int render_tuned_script(const struct view *v, FILE *out); /* script.sh of that profile */

/* A line of comment: the command that undoes a fix, "not known" where that cannot be written. */
void render_setup_undo(const struct finding *f, FILE *out);

/* Two lines of comment: for which machine and CPUs it is, and its purpose. */
void render_setup_head(const struct view *v, const char *what, FILE *out);

/* Other CPUs that are online, and isolated or nohz_full: no housekeeping ones. */
struct cpus render_setup_quiet(const struct view *v);

enum setup_of {
	SETUP_ANSIBLE,
	SETUP_TUNED,
	SETUP_PROFILE, /* PerformanceProfile */
	SETUP_SYSCTL,
	SETUP_SERVICE,
};

/* Comments that name boot parameters in force that stand in the way, and the findings whose fixes
 * are not in this form, with the reason. */
void render_setup_rest(const struct view *v, enum setup_of of, FILE *out);

/* In place of fixes: that none is left to do, or that the form can hold none of them. */
const char *render_setup_none(const struct view *v, enum setup_of of);

#endif
