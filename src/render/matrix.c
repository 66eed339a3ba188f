/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The core-to-core table. As text:
 *
 *   culprit 0.1 · linux 6.12.1 · AMD EPYC 9575F · spin, one way, median of 10,000 messages, ns
 *
 *   from\to     0     1
 *         0     -    69
 *         1    84     -
 *
 * Wider than a page with many CPUs: each sender is one line.
 */
#include "render/matrix.h"

#include <errno.h>
#include <inttypes.h>

#include "base/escape.h"
#include "base/flow.h"
#include "base/json.h"
#include "base/units.h"

#define CORNER "from\\to"

static void write_text(const struct matrix *m, FILE *out)
{
	const struct view *s = m->view;
	char text[512];
	uint64_t most = 0;
	struct flow f;
	int width;

	flow_start(&f, out, 100, "culprit " CULPRIT_VERSION, " · ", "  ");
	f.some = true;
	flow_add(&f, "linux %s",
		 escape_text(m->view->host.kernel, sizeof(m->view->host.kernel), text,
			     sizeof(text)));
	flow_add(&f, "%s",
		 escape_text(m->view->host.cpu_model, sizeof(m->view->host.cpu_model), text,
			     sizeof(text)));
	flow_add(&f, "%s, one way, median of %s messages, ns", m->method,
		 format_count(m->messages, text, sizeof(text)));
	flow_end(&f);
	for (uint32_t i = 0; i < s->ncpus * s->ncpus; i++)
		if (m->median_ns[i] != UINT64_MAX && m->median_ns[i] > most)
			most = m->median_ns[i];
	width = snprintf(NULL, 0, "%" PRIu64, most);
	if (width < 4) /* "8191" */
		width = 4;
	fprintf(out, "\n" CORNER);
	for (uint32_t i = 0; i < s->ncpus; i++)
		fprintf(out, "  %*u", width, s->cpu[i].number);
	fputc('\n', out);
	for (uint32_t i = 0; i < s->ncpus; i++) {
		fprintf(out, "%*u", (int)sizeof(CORNER) - 1, s->cpu[i].number);
		for (uint32_t k = 0; k < s->ncpus; k++) {
			uint64_t ns = m->median_ns[i * s->ncpus + k];

			if (ns == UINT64_MAX)
				fprintf(out, "  %*s", width, i == k ? "-" : "?");
			else
				fprintf(out, "  %*" PRIu64, width, ns);
		}
		fputc('\n', out);
	}
}

static void write_json(const struct matrix *m, FILE *out)
{
	const struct view *s = m->view;
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "culprit.matrix/1");
	json_string(&j, "version", CULPRIT_VERSION);
	json_string(&j, "hostname", m->view->host.hostname);
	json_string(&j, "kernel", m->view->host.kernel);
	json_string(&j, "cpu_model", m->view->host.cpu_model);
	json_string(&j, "method", m->method);
	json_u64(&j, "messages", m->messages);
	json_array_flat(&j, "cpus");
	for (uint32_t i = 0; i < s->ncpus; i++)
		json_u64(&j, NULL, s->cpu[i].number);
	json_end(&j);
	json_array(&j, "median_ns");
	for (uint32_t i = 0; i < s->ncpus; i++) {
		json_array_flat(&j, NULL);
		for (uint32_t k = 0; k < s->ncpus; k++)
			if (m->median_ns[i * s->ncpus + k] == UINT64_MAX)
				json_null(&j, NULL);
			else
				json_u64(&j, NULL, m->median_ns[i * s->ncpus + k]);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

int render_matrix(const struct matrix *m, bool json, FILE *out)
{
	if (json)
		write_json(m, out);
	else
		write_text(m, out);
	return ferror(out) ? -EIO : 0;
}
