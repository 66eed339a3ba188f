/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that keep fixes over boots (render/audit_setup.h), put in place whole. */
#ifndef CULPRIT_CMD_SETUP_H
#define CULPRIT_CMD_SETUP_H

#include "base/opt.h"
#include "model/tuned.h"
#include "model/view.h"

/* Those that were asked for; NULL: not this one. */
struct setup_files {
	const char *tuned; /* directory of tuned.conf and script.sh */
	const char *ansible, *service, *sysctl, *profile, *words;
};
extern const struct opt setup_opts[];

/* Looks before anything is changed whether they can be written. 0, or -1 with the reason said. */
int setup_check(const struct setup_files *f);

/* Writes all that can be written. 0, or -1 with the reasons said. */
int setup_files(const struct setup_files *f, const struct view *v);
int setup_tuned(const char *dir, const struct view *v);

/* The same of what tune has kept, which takes the place of the view's findings. */
int setup_kept(const struct setup_files *f, struct view *v, const struct tuned *kept);

#endif
