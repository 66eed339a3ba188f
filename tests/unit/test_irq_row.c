/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of /proc/interrupts for interrupts that are vectors elsewhere. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "model/irq_row.h"
#include "record.h"

static const struct {
	const char *line;
	struct irq_row row;
} cases[] = {
	/* arm64: 6.12 under GICv3, 6.1 under GICv2 */
	{" 11:       3141       1522     GICv3  27 Level     arch_timer\n",
	 {11, -1, VECTOR_LOCAL_TIMER, true}},
	{" 13:          0          0     GICv3  33 Level     uart-pl011\n", {13, -1, 0, false}},
	{" 16:          0          0     GICv3  23 Level     arm-pmu\n", {16, -1, 0, true}},
	{"  9:        123     GICv2  30 Level     arch_timer\n", {9, -1, VECTOR_LOCAL_TIMER, true}},
	{" 20:          0          0     GICv3 1056 Level     extended\n", {20, -1, 0, true}},
	{" 20:          0          0     GICv3 1120 Level     extended\n", {20, -1, 0, false}},
	{" 21:          0          0  GICv5-PPI  27 Level     arch_timer\n",
	 {21, -1, VECTOR_LOCAL_TIMER, true}},
	{" 22:          0          0  GICv5-SPI  27 Level     eth0\n", {22, -1, 0, false}},
	{"IPI0:        23        209       Rescheduling interrupts\n",
	 {-1, 0, VECTOR_RESCHEDULE, true}},
	{"IPI1:         0        132       Function call interrupts\n",
	 {-1, 1, VECTOR_CALL_FUNCTION, true}},
	{"IPI4:         0          0       Timer broadcast interrupts\n", {-1, 4, 0, true}},
	{"IPI5:         1         10       IRQ work interrupts\n", {-1, 5, VECTOR_IRQ_WORK, true}},
	{"Err:          0\n", {-1, -1, 0, false}},
	/* riscv */
	{" 10:       5120  RISC-V INTC   5 Edge      riscv-timer\n",
	 {10, -1, VECTOR_LOCAL_TIMER, true}},
	/* x86 has vectors of its own, and no interrupt is one */
	{"  0:         34          0   IO-APIC   2-edge      timer\n", {0, -1, 0, false}},
	{" 24:          0        100  PCI-MSI-0000:00:02.0   0-edge      virtio0-config\n",
	 {24, -1, 0, false}},
	{"RES:       1234       4321   Rescheduling interrupts\n", {-1, -1, 0, false}},
	/* a device that is called like the timer is none */
	{" 33:          1          1     GICv3  99 Edge      my arch_timer\n", {33, -1, 0, false}},
	{" 34:          1          1     GICv3  20 Edge      not_arch_timer\n", {34, -1, 0, true}},
	{"no row", {-1, -1, 0, false}},
	{"12:", {12, -1, 0, false}},
	/* cut within its counts: what stands behind its end is not read */
	{"13: 1  2\0GICv3 27 Level arch_timer", {13, -1, 0, false}},
	{"4294967299: 1 GICv3 27 Level arch_timer\n", {-1, -1, 0, false}},
	{"", {-1, -1, 0, false}},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct irq_row row;

		irq_row_read(cases[i].line, &row);
		if (row.irq != cases[i].row.irq || row.ipi != cases[i].row.ipi ||
		    row.vector != cases[i].row.vector || row.per_cpu != cases[i].row.per_cpu)
			fail_msg("%s: irq %d, IPI %d, vector %u, per CPU %d", cases[i].line,
				 row.irq, row.ipi, row.vector, row.per_cpu);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
