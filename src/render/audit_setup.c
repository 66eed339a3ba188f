/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/audit_setup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "model/isolation.h"

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,=-"

/* ---- what fixes consist of ---- */

/* Copies a word of plain characters; returns the text behind it, or NULL. */
static const char *plain_word(const char *at, size_t len, char *to, size_t room)
{
	if (!len || len >= room || strspn(at, PLAIN) < len)
		return NULL;
	memcpy(to, at, len);
	to[len] = '\0';
	return at + len;
}

static const char *starts(const char *at, const char *with)
{
	size_t len = strlen(with);

	return strncmp(at, with, len) ? NULL : at + len;
}

/* "sysctl -w NAME=VALUE", "echo VALUE > /FILE", up to "; " or the end. */
bool setting_next(const char **at, struct setting *s)
{
	const char *p = starts(*at, "sysctl -w "), *value;

	s->sysctl = p;
	if (p) {
		p = plain_word(p, strcspn(p, "="), s->name, sizeof(s->name));
		p = p && *p == '=' ? p + 1 : NULL;
		p = p ? plain_word(p, strcspn(p, "; "), s->value, sizeof(s->value)) : NULL;
	} else if ((value = starts(*at, "echo "))) {
		p = plain_word(value, strcspn(value, " "), s->value, sizeof(s->value));
		p = p ? starts(p, " > /") : NULL;
		p = p ? plain_word(p - 1, strcspn(p - 1, "; "), s->name, sizeof(s->name)) : NULL;
	}
	if (!p || (*p && !starts(p, "; ")))
		return false;
	*at = *p ? p + 2 : p;
	return true;
}

static bool printable(const char *text)
{
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7e)
			return false;
	return true;
}

enum fix_form finding_form(const struct finding *f)
{
	bool sysctl = false, file = false;
	struct setting s;
	const char *at = f->fix;

	if (f->level < FINDING_WARN || !f->known || !at || !*at || f->fix_kind != FIX_COMMAND ||
	    !printable(at))
		return FIX_OTHER;
	if ((strstr(at, "/proc/irq/") && !strstr(at, "/proc/irq/default_")) ||
	    (strstr(at, "taskset -pc ") && !strstr(at, "$(")))
		return FIX_NUMBERED;
	while (*at) {
		if (!setting_next(&at, &s))
			return FIX_SHELL;
		sysctl |= s.sysctl;
		file |= !s.sysctl;
	}
	return sysctl && file ? FIX_SHELL : FIX_SETTINGS;
}

bool finding_sets(const struct finding *f)
{
	return finding_form(f) == FIX_SETTINGS;
}

bool setting_repeated(const struct view *v, const struct finding *f, const struct setting *s,
		      bool (*is_meant)(const struct finding *f))
{
	for (const struct finding *x = v->findings.row; x < f; x++) {
		const char *at = x->fix;
		struct setting had;

		while (is_meant(x) && *at && setting_next(&at, &had))
			if (had.sysctl == s->sysctl && !strcmp(had.name, s->name) &&
			    !strcmp(had.value, s->value))
				return true;
	}
	return false;
}

/* ---- comments ---- */

void render_setup_head(const struct view *v, const char *what, FILE *out)
{
	char kernel[512], cpus[CPUS_LIST], keep[CPUS_LIST];

	fprintf(out,
		"# %s\n# culprit " CULPRIT_VERSION ", linux %s: cpu %s quiet, housekeeping "
		"on %s.\n",
		what, escape_text(v->host.kernel, sizeof(v->host.kernel), kernel, sizeof(kernel)),
		cpus_format(&v->run.cpus, cpus, sizeof(cpus)),
		cpus_format(&v->run.housekeeping, keep, sizeof(keep)));
}

void render_setup_undo(const struct finding *f, FILE *out)
{
	fprintf(out, "# undo: %s\n",
		f->undo && printable(f->undo) ? f->undo : "not known; note first what is there");
}

/* The reason why a form does not hold this fix; NULL: it does, or there is none. */
static const char *left_out(const struct finding *f, enum setup_of of)
{
	if (f->level < FINDING_WARN || !f->known || !f->fix)
		return NULL;
	switch (finding_form(f)) {
	case FIX_NUMBERED: /* the other objects have rules for all interrupts and threads */
		return of == SETUP_SYSCTL || of == SETUP_SERVICE ||
				       (of == SETUP_ANSIBLE && !strstr(f->fix, "/proc/irq/"))
			       ? "as numbers differ from boot to boot"
			       : NULL;
	case FIX_SETTINGS:
		return of == SETUP_PROFILE ? "as this object has no field for it" : NULL;
	case FIX_SHELL:
		return of == SETUP_PROFILE  ? "as this object has no field for it"
		       : of == SETUP_SYSCTL ? "as it is no sysctl"
					    : NULL;
	default:
		return f->fix_kind == FIX_WORDS     ? "as it takes a person"
		       : f->fix_kind == FIX_COMMAND ? "as a name in it is not of plain ASCII"
						    : NULL;
	}
}

/* Puts no list twice: the kernel takes the first of two lists of CPUs that differ
 * (kernel/sched/isolation.c), and the first is on the command line already. */
static void write_in_force(const struct view *v, FILE *out)
{
	static const char *const lists[] = {"isolcpus=", "nohz_full="};
	char *boot = findings_boot(&v->findings, FINDING_WARN), word[2048], safe[4096];
	const char *line = facts_text(&v->facts, "proc/cmdline");

	for (const char *at = line; boot && at && *at; at += strspn(at, " \n")) {
		size_t len = strcspn(at, " \n");

		snprintf(word, sizeof(word), "%.*s", (int)len, at);
		at += len;
		if (!strcmp(word, "--"))
			break;
		for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
			const char *new = starts(word, lists[i]) ? strstr(boot, lists[i]) : NULL;

			len = new ? strcspn(new, " ") : 0;
			if (new && (strncmp(new, word, len) || word[len]))
				fprintf(out,
					"# %s is on the command line: take it out where it stands, "
					"unless this replaces it;\n# of two lists of CPUs that "
					"differ the kernel takes the first.\n",
					escape_text(word, SIZE_MAX, safe, sizeof(safe)));
		}
	}
	free(boot);
}

void render_setup_rest(const struct view *v, enum setup_of of, FILE *out)
{
	char name[1024];

	write_in_force(v, out);
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		const char *why = left_out(f, of);
		bool one = f->list.count == 1;

		if (why)
			fprintf(out, "# not in here, %s: %s%s%s\n", why, f->id, one ? ", " : "",
				one ? escape_text(f->list.row[0].name, SIZE_MAX, name, sizeof(name))
				    : "");
	}
}

const char *render_setup_none(const struct view *v, enum setup_of of)
{
	for (uint32_t i = 0; i < v->findings.count; i++)
		if (left_out(&v->findings.row[i], of))
			return "nothing of it can be held here";
	return "nothing is left to do";
}

/* ---- boot parameters ---- */

int render_kernel_words(const struct view *v, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN);

	if (boot && printable(boot))
		fprintf(out, "%s\n", boot);
	free(boot);
	return ferror(out) ? -EIO : 0;
}

/* ---- sysctl.d ---- */

int render_sysctl(const struct view *v, FILE *out)
{
	render_setup_head(v, "for /etc/sysctl.d/NAME.conf; now, too: sysctl -p FILE", out);
	fputs("# To undo: remove it, and boot, or run what is behind \"undo:\".\n", out);
	render_setup_rest(v, SETUP_SYSCTL, out);
	for (uint32_t i = 0; i < v->findings.count; i++) {
		const struct finding *f = &v->findings.row[i];
		const char *at = f->fix;
		struct setting s;
		bool any = false;

		if (!finding_sets(f))
			continue;
		while (*at && setting_next(&at, &s)) {
			if (setting_repeated(v, f, &s, finding_sets))
				continue;
			any |= s.sysctl;
			if (s.sysctl)
				fprintf(out, "# %s\n%s = %s\n", f->id, s.name, s.value);
			else
				fprintf(out, "# not in here, as it is no sysctl: %s = %s\n", s.name,
					s.value);
		}
		if (any)
			render_setup_undo(f, out);
	}
	return ferror(out) ? -EIO : 0;
}

/* ---- PerformanceProfile ---- */

/* The operator gives these itself, from the lists of CPUs. */
static bool operator_gives(const char *word)
{
	static const char *const given[] = {
		"isolcpus=",   "nohz_full=", "rcu_nocbs=", "tuned.", "systemd.cpu_affinity=",
		"irqaffinity="};

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (starts(word, given[i]))
			return true;
	return false;
}

static void kernel_args(char *boot, FILE *out)
{
	bool any = false;

	for (char *word; (word = strsep(&boot, " "));) {
		if (!*word || operator_gives(word) || strspn(word, PLAIN) != strlen(word))
			continue;
		fprintf(out, "%s    - \"%s\"\n", any ? "" : "  additionalKernelArgs:\n", word);
		any = true;
	}
}

static void add_list(struct cpus *all, const char *text)
{
	char list[CPUS_LIST], why[128];
	struct cpus more;

	if (!text)
		return;
	snprintf(list, sizeof(list), "%.*s", (int)strcspn(text, " \n"), text);
	if (!cpus_parse(list, &more, why, sizeof(why)))
		cpus_or(all, &more);
}

struct cpus render_setup_quiet(const struct view *v)
{
	struct isolation now;
	struct cpus online;

	isolation_of(&v->facts, &now);
	cpus_clear(&online);
	add_list(&online, facts_text(&v->facts, "sys/devices/system/cpu/online"));
	cpus_and(&now.quiet, &online);
	cpus_sub(&now.quiet, &v->run.cpus);
	cpus_sub(&now.quiet, &v->run.housekeeping);
	return now.quiet;
}

/* These CPUs, and those that are isolated already or that the boot parameters name: the operator
 * takes its own lists in place of those on the command line. rest: those that are online besides.
 */
static struct cpus isolated_then(const struct view *v, const char *boot, struct cpus *rest)
{
	static const char *const lists[] = {"isolcpus=", "nohz_full="};
	struct cpus all = v->run.cpus;
	struct isolation now;

	isolation_of(&v->facts, &now);
	cpus_or(&all, &now.boot);
	add_list(&all, facts_text(&v->facts, "sys/devices/system/cpu/nohz_full"));
	for (size_t i = 0; boot && i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *at = strstr(boot, lists[i]);

		add_list(&all, at ? at + strcspn(at, "0123456789 ") : NULL); /* behind flags */
	}
	cpus_clear(rest);
	add_list(rest, facts_text(&v->facts, "sys/devices/system/cpu/online"));
	cpus_or(rest, &v->run.housekeeping);
	cpus_sub(rest, &all);
	return all;
}

int render_performance_profile(const struct view *v, FILE *out)
{
	char *boot = findings_boot(&v->findings, FINDING_WARN), cpus[CPUS_LIST], keep[CPUS_LIST];
	struct cpus rest, all = isolated_then(v, boot, &rest);

	if (cpus_empty(&rest)) { /* somebody has to keep house */
		all = v->run.cpus;
		rest = v->run.housekeeping;
	}

	render_setup_head(v, "for: oc apply -f FILE", out);
	fputs("# To undo: oc delete -f FILE. The workers boot again, as with it.\n"
	      "# Read it first: nodeSelector below selects every worker, and the CPU numbers are "
	      "those of this\n# machine. Give workers of this kind a label of their own, and "
	      "select that.\n"
	      "# isolcpus=, nohz_full=, rcu_nocbs= and the affinity of interrupts and kernel "
	      "threads are\n# the operator's, from the lists below.\n",
	      out);
	render_setup_rest(v, SETUP_PROFILE, out);
	fprintf(out,
		"apiVersion: performance.openshift.io/v2\nkind: PerformanceProfile\n"
		"metadata:\n  name: culprit\nspec:\n  cpu:\n    isolated: \"%s\"\n"
		"    reserved: \"%s\"\n"
		"    # isolcpus=domain: what runs on several of these CPUs places each thread "
		"itself\n    balanceIsolated: false\n"
		"  globallyDisableIrqLoadBalancing: true\n",
		cpus_format(&all, cpus, sizeof(cpus)), cpus_format(&rest, keep, sizeof(keep)));
	if (boot)
		kernel_args(boot, out);
	fputs("  nodeSelector:\n    node-role.kubernetes.io/worker: \"\"\n", out);
	free(boot);
	return ferror(out) ? -EIO : 0;
}
