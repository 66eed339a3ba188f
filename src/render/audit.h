/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of an audit in its formats, and as a script. They read view->host, run.cpus,
 * run.housekeeping and findings. */
#ifndef CULPRIT_RENDER_AUDIT_H
#define CULPRIT_RENDER_AUDIT_H

#include "base/json.h"
#include "render/render.h"

#define AUDIT_SCHEMA "culprit.audit/1"

struct audit_format {
	struct opt_choice choice;
	int (*write)(const struct view *v, const struct render_options *options,
		     FILE *out); /* 0 or -errno */
};

extern const struct audit_format audit_formats[]; /* ends with a row of zeros */

int render_audit_markdown(const struct view *v, const struct render_options *options, FILE *out);
int render_audit_sarif(const struct view *v, const struct render_options *options, FILE *out);

/* Writes the fixes as a shell script to read before use: commands of warnings and failures, those
 * of notes in comments, and below each the line that undoes it. */
int render_audit_script(const struct view *v, const struct render_options *options, FILE *out);

/* Writes findings[] as an array of this key:
 * {"id","level","known","cpu","cpus","title","value","good",
 * "fix","fix_kind","undo","cause","cost_ns","list":[{"name","cpus","irq","count","cost_ns"}]} */
void render_findings(struct json *j, const char *key, const struct findings *f);

#endif
