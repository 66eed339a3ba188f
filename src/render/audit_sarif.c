/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The audit as SARIF 2.1.0 (Static Analysis Results Interchange Format, OASIS, 2020), which the
 * collectors of findings read:
 *
 *   {"version":"2.1.0","runs":[{"tool":{"driver":{"name":"culprit","rules":[{"id":"nohz_full"}]}},
 *     "results":[{"ruleId":"nohz_full","kind":"fail","level":"error","message":{"text":"..."},
 *       "locations":[{"logicalLocations":[{"fullyQualifiedName":"cpu 3","kind":"resource"}]}],
 *       "partialFingerprints":{"finding/v1":"nohz_full cpu 3"}}]}]}
 *
 * A rule is a check; its texts are those of its findings, as a check has none of its own. Nothing
 * in a file is at fault, so no place in one is named. The fingerprint tells the same finding again
 * in the next audit, whatever its figures are then. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "render/audit.h"

#define SARIF_SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"
#define TEXT_MAX     4096

/* A kind "fail" has a level, of any other it is "none" (SARIF 2.1.0, 3.27.10). */
static const struct {
	const char *kind, *level;
} grade[FINDING_LEVELS] = {
	[FINDING_OK] = {"pass", "none"},
	[FINDING_INFO] = {"informational", "none"},
	[FINDING_WARN] = {"fail", "warning"},
	[FINDING_FAIL] = {"fail", "error"},
};

/* Names the CPUs that it is about: "cpu 3", "cpus 3-5", "machine". */
static const char *place(const struct finding *x, char *buf, size_t len)
{
	char list[TEXT_MAX];

	if (cpus_empty(&x->cpus))
		return "machine";
	snprintf(buf, len, "cpu%s %s", cpus_count(&x->cpus) > 1 ? "s" : "",
		 cpus_format(&x->cpus, list, sizeof(list)));
	return buf;
}

static void add(FILE *f, const char *start, const char *text)
{
	char safe[TEXT_MAX];

	if (text && *text)
		fprintf(f, "%s%s", start, escape_text(text, SIZE_MAX, safe, sizeof(safe)));
}

/* Keeps the command's backslashes, which json_command() does, too. */
static void add_command(FILE *f, const char *start, const char *command)
{
	if (command && *command)
		fprintf(f, "%s%s", start, command);
}

/* The message for a person, in one line. */
static void write_message(struct json *j, const struct finding *x)
{
	static const char *const starts[] = {"; to do: ", "; run: ", "; boot with: "};
	char title[FINDING_TITLE], fix[FINDING_FIX], *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (f) {
		add(f, "", finding_title(x, title, sizeof(title)));
		add(f, x->known ? "; found: " : ": ", x->value);
		add(f, "; good: ", x->good);
		(x->fix_kind == FIX_WORDS ? add : add_command)(f, starts[x->fix_kind],
							       finding_fix(x, fix, sizeof(fix)));
		add_command(f, "; to undo: ", x->undo);
		add(f, "; more: culprit explain ", x->cause);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	json_object_flat(j, "message");
	json_command(j, "text", text ? text : x->id);
	json_end(j);
	free(text);
}

/* Counts the earlier findings of the same check on the same CPUs. */
static unsigned alike_before(const struct findings *f, uint32_t i)
{
	unsigned n = 0;

	for (uint32_t k = 0; k < i; k++)
		n += !strcmp(f->row[k].id, f->row[i].id) &&
		     !memcmp(&f->row[k].cpus, &f->row[i].cpus, sizeof(f->row[k].cpus));
	return n;
}

static void write_result(struct json *j, const struct findings *f, uint32_t i)
{
	const struct finding *x = &f->row[i];
	char cpus[TEXT_MAX + 8], name[TEXT_MAX + 80];
	const char *where = place(x, cpus, sizeof(cpus));
	unsigned before = alike_before(f, i);

	json_object(j, NULL);
	json_string(j, "ruleId", x->id);
	json_string(j, "kind", x->known ? grade[x->level].kind : "review");
	json_string(j, "level", x->known ? grade[x->level].level : "none");
	write_message(j, x);
	json_array_flat(j, "locations");
	json_object_flat(j, NULL);
	json_array_flat(j, "logicalLocations");
	json_object_flat(j, NULL);
	json_string(j, "fullyQualifiedName", where);
	json_string(j, "kind", "resource");
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
	snprintf(name, sizeof(name), before ? "%s %s (%u)" : "%s %s", x->id, where, before + 1);
	json_object_flat(j, "partialFingerprints");
	json_string(j, "finding/v1", name);
	json_end(j);
	json_end(j);
}

static bool is_first(const struct findings *f, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(f->row[k].id, f->row[i].id))
			return false;
	return true;
}

static void write_rules(struct json *j, const struct findings *f)
{
	json_array(j, "rules");
	for (uint32_t i = 0; i < f->count; i++) {
		if (!is_first(f, i))
			continue;
		json_object_flat(j, NULL);
		json_string(j, "id", f->row[i].id);
		json_end(j);
	}
	json_end(j);
}

int render_audit_sarif(const struct view *v, const struct render_options *options, FILE *out)
{
	struct json j;

	(void)options;
	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "$schema", SARIF_SCHEMA);
	json_string(&j, "version", "2.1.0");
	json_array(&j, "runs");
	json_object(&j, NULL);
	json_object(&j, "tool");
	json_object(&j, "driver");
	json_string(&j, "name", "culprit");
	json_string(&j, "version", CULPRIT_VERSION);
	write_rules(&j, &v->findings);
	json_end(&j);
	json_end(&j);
	json_array(&j, "results");
	for (uint32_t i = 0; i < v->findings.count; i++)
		write_result(&j, &v->findings, i);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	return ferror(out) ? -EIO : 0;
}
