/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ends a fuzzer at an input that takes longer than FUZZ_CPU_MS (1,000) of CPU time, as a failure
 * like any other, with the input kept. libFuzzer itself knows the time on the wall alone, in which
 * a machine may have stood still. Whoever runs it is not asked for by name: the linker sends all
 * calls here. */
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/now.h"

#define TRIES 3 /* a hypervisor that takes the CPU away is counted as the process' time */

int __real_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int __wrap_LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint64_t most_ns;
	uint64_t took = 0;
	char text[100];

	if (!most_ns) {
		const char *ms = getenv("FUZZ_CPU_MS");

		most_ns = (ms ? strtoull(ms, NULL, 10) : 1000) * NSEC_PER_MSEC + 1;
	}
	for (int i = 0; i < TRIES; i++) {
		uint64_t began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		int rc = __real_LLVMFuzzerTestOneInput(data, size);

		took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
		if (took < most_ns)
			return rc;
	}
	snprintf(text, sizeof(text),
		 "%.3f s of CPU time for %zu bytes, %d times: longer than allowed",
		 (double)took / 1e9, size, TRIES);
	__sanitizer_report_error_summary(text); /* stderr may be closed */
	abort();
}
