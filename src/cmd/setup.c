/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/setup.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/kept.h"
#include "base/say.h"
#include "base/way.h"
#include "cmd/newfile.h"
#include "cmd/output.h"
#include "render/audit_setup.h"

const struct opt setup_opts[] = {
	{0, "tuned", "DIR",
	 "also write what was kept into DIR as a tuned profile. This and the next three leave out "
	 "what names a process or an interrupt by its number",
	 offsetof(struct setup_files, tuned), output_set_file, .writes = true},
	{0, "ansible", "FILE", "also write it as an Ansible playbook",
	 offsetof(struct setup_files, ansible), output_set_file, .writes = true},
	{0, "service", "FILE", "also write it as a systemd unit that does it at each boot",
	 offsetof(struct setup_files, service), output_set_file, .writes = true},
	{0, "sysctl", "FILE", "also write what is a sysctl, for /etc/sysctl.d",
	 offsetof(struct setup_files, sysctl), output_set_file, .writes = true},
	{0, "performance-profile", "FILE",
	 "also write a PerformanceProfile for Kubernetes' node tuning operator: its lists of CPUs, "
	 "and the boot parameters; the rest is named in comments",
	 offsetof(struct setup_files, profile), output_set_file, .writes = true},
	{0, "kernel-words", "FILE", "also write the boot parameters that the audit asks for",
	 offsetof(struct setup_files, words), output_set_file, .writes = true},
	{0},
};

static int write_file(const char *path, const struct view *v,
		      int (*write)(const struct view *v, FILE *out), bool run)
{
	struct newfile n;
	int err = newfile_open(&n, path), closed;

	if (err)
		return complain("cannot write to %s: %s", path, newfile_error(-err));
	err = write(v, n.file);
	if (run && !err && fchmod(fileno(n.file), 0755))
		err = -errno;
	closed = newfile_close(&n, !err);
	err = err ? err : closed;
	return err ? complain("writing %s: %s", path, newfile_error(-err)) : 0;
}

static int path_in(char path[PATH_MAX], const char *dir, const char *name)
{
	if (snprintf(path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX)
		return complain("cannot write to %s/%s: %s", dir, name, strerror(ENAMETOOLONG));
	return 0;
}

static int write_into(const char *dir, const char *name, const struct view *v,
		      int (*write)(const struct view *v, FILE *out), bool run)
{
	char path[PATH_MAX];

	return path_in(path, dir, name) ? -1 : write_file(path, v, write, run);
}

static int check_dir(const char *dir)
{
	char conf[PATH_MAX];
	struct stat st;

	if (snprintf(conf, sizeof(conf), "%s/tuned.conf", dir) < (int)sizeof(conf) &&
	    !lstat(conf, &st))
		return complain("%s holds a profile already, and this one has only what is still "
				"missing: name a new directory",
				dir);
	return 0;
}

/* Makes the directory unless it is there. 1: made, 0: there, -1 with the reason said. */
static int make_dir(const char *dir)
{
	int made = way_mkdir(dir, 0777);

	return made < 0 ? complain("cannot make the directory %s: %s", dir, way_error(made)) : made;
}

/* Says so where somebody else could exchange what tuned will run as root. */
static void warn_of_others(const char *dir)
{
	char path[PATH_MAX];
	struct way w;

	if (path_in(path, dir, "script.sh") || way_open(&w, path))
		return;
	if (!way_is_safe(&w))
		say("%s: another user may put other files there, and tuned would run them as root: "
		    "look at script.sh where root alone may write before it is used",
		    dir);
	way_close(&w);
}

int setup_tuned(const char *dir, const struct view *v)
{
	if (check_dir(dir) || make_dir(dir) < 0 ||
	    write_into(dir, "tuned.conf", v, render_tuned_conf, false) ||
	    write_into(dir, "script.sh", v, render_tuned_script, true))
		return -1;
	warn_of_others(dir);
	return 0;
}

static int check_file(const char *path)
{
	struct newfile n;
	int err = newfile_open(&n, path);

	if (err)
		return complain("cannot write to %s: %s", path, newfile_error(-err));
	newfile_close(&n, false);
	return 0;
}

/* Leaves nothing behind. */
static int check_tuned(const char *dir)
{
	int made = check_dir(dir) ? -1 : make_dir(dir), err;
	char conf[PATH_MAX], script[PATH_MAX];

	if (made < 0)
		return -1;
	err = path_in(conf, dir, "tuned.conf") || path_in(script, dir, "script.sh") ||
	      check_file(conf) || check_file(script);
	if (made)
		way_rmdir(dir);
	return err ? -1 : 0;
}

int setup_check(const struct setup_files *f)
{
	const char *const path[] = {f->ansible, f->service, f->sysctl, f->profile, f->words};

	if (f->tuned && check_tuned(f->tuned))
		return -1;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++)
		if (path[i] && check_file(path[i]))
			return -1;
	return 0;
}

int setup_files(const struct setup_files *f, const struct view *v)
{
	const struct {
		const char *path;
		int (*write)(const struct view *v, FILE *out);
	} files[] = {{f->ansible, render_ansible},
		     {f->service, render_service},
		     {f->sysctl, render_sysctl},
		     {f->profile, render_performance_profile},
		     {f->words, render_kernel_words}};

	int err = f->tuned ? setup_tuned(f->tuned, v) : 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (files[i].path && write_file(files[i].path, v, files[i].write, false))
			err = -1;
	return err;
}

int setup_kept(const struct setup_files *f, struct view *v, const struct tuned *kept)
{
	struct findings audit = v->findings;
	int err;

	v->findings = (struct findings){0};
	err = kept_findings(&v->findings, kept, &audit);
	findings_free(&audit);
	if (err)
		return complain("out of memory");
	return setup_files(f, v);
}
