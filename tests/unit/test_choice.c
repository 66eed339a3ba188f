/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One look at all machines that were chosen by name, which all wait: the rings do not overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <bpf/bpf.h>

#include "collect/chosen.h"
#include "collect/machine_watch.h"

static long waited_ns;
static int looks;

struct machine machine_of(const char *text)
{
	return (struct machine){.name = text, .search.wait_ns = VCPUS_WAIT_NS};
}

void machine_look(struct machine *m, int map, uint64_t now_ns)
{
	(void)map, (void)now_ns;
	waited_ns += m->search.wait_ns;
	looks++;
}

void machine_end(struct machine *m)
{
	(void)m;
}

int probes_watched(const struct probes *p, bool threads)
{
	(void)p, (void)threads;
	return -1;
}

void probes_watch_groups(struct probes *p, const uint64_t id[CHOICE_GROUPS])
{
	(void)p, (void)id;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	(void)fd, (void)key, (void)value, (void)flags;
	return -1;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	(void)fd, (void)key, (void)value;
	return -1;
}

static void test_machines_wait_once(void **state)
{
	struct watched w = {0};

	(void)state;
	for (int n = 1; n <= CHOICE_VCPUS; n++) {
		struct choice *c;

		w.vcpus[n - 1] = "web";
		c = choice_new(NULL, &w);
		assert_non_null(c);
		waited_ns = looks = 0;
		choice_look(c, NULL, 2);
		assert_int_equal(looks, n);
		assert_in_range(waited_ns, VCPUS_WAIT_NS - n, VCPUS_WAIT_NS); /* whole ns each */
		choice_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_machines_wait_once)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
