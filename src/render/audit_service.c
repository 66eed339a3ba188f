/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixes as a unit of systemd that runs them at each boot. */
#include <errno.h>

#include "render/audit_setup.h"

/* As systemd.service(5) reads a command within double quotes: C's escapes, specifiers (%) and
 * variables ($). */
static void write_quoted(const char *command, FILE *out)
{
	for (const char *p = command; *p; p++) {
		if (*p == '"' || *p == '\\')
			putc('\\', out);
		else if (*p == '%' || *p == '$')
			putc(*p, out);
		putc(*p, out);
	}
}

int render_service(const struct view *v, FILE *out)
{
	uint32_t commands = 0;

	render_setup_head(
		v,
		"for /etc/systemd/system/culprit-fixes.service, then: systemctl enable --now "
		"culprit-fixes",
		out);
	fputs("# To undo: systemctl disable culprit-fixes, and boot, or run what is behind "
	      "\"undo:\".\n",
	      out);
	render_setup_rest(v, SETUP_SERVICE, out);
	fputs("[Unit]\nDescription=Quiet CPUs, by culprit\n"
	      "After=systemd-sysctl.service systemd-modules-load.service\n\n"
	      "[Service]\nType=oneshot\nRemainAfterExit=yes\n"
	      "# One that fails keeps none of the others from running, and is in the journal.\n",
	      out);
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		enum fix_form form = finding_form(f);

		if (form != FIX_SETTINGS && form != FIX_SHELL)
			continue;
		fprintf(out, "# %s\nExecStart=-/bin/sh -c \"", f->id);
		write_quoted(f->fix, out);
		fputs("\"\n", out);
		render_setup_undo(f, out);
		commands++;
	}
	if (!commands)
		fprintf(out, "# %s\nExecStart=/bin/true\n", render_setup_none(v, SETUP_SERVICE));
	fputs("\n[Install]\nWantedBy=multi-user.target\n", out);
	return ferror(out) ? -EIO : 0;
}
