/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "render/rt_json.h"

#include <inttypes.h>

void rt_json_head(struct json *j, const struct view *v, const struct rt_test *test)
{
	json_object(j, NULL);
	json_u64(j, "file_version", 1);
	json_string(j, "cmdline:", test->command);
	json_string(j, "rt_test_version:", "culprit " CULPRIT_VERSION);
	json_string(j, "start_time", test->start);
	json_string(j, "end_time", test->end);
	json_i64(j, "return_code", test->return_code);
	json_object(j, "sysinfo");
	json_string(j, "sysname", test->sysname);
	json_string(j, "nodename", v->host.hostname);
	json_string(j, "release", test->release);
	json_string(j, "version", test->version);
	json_string(j, "machine", test->machine);
	json_u64(j, "realtime", test->realtime);
	json_end(j);
	json_u64(j, "num_threads", v->ncpus);
}

void rt_json_histogram(struct json *j, const uint64_t *count, uint32_t n, uint32_t from)
{
	char us[16];

	json_object(j, "histogram");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(us, sizeof(us), "%" PRIu32, from + i);
		if (count[i])
			json_u64(j, us, count[i]);
	}
	json_end(j);
}
