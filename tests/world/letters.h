/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for tests of intervals: addresses are characters, and name themselves; three interrupts
 * have names. Include it behind cmocka.h. */
#ifndef CULPRIT_TESTS_LETTERS_H
#define CULPRIT_TESTS_LETTERS_H

#include <stdint.h>

#define LETTER_IRQS 3

static const char *name_symbol(void *ctx, uint64_t address)
{
	static char text[128][2];

	(void)ctx;
	assert_true(address < 128);
	text[address][0] = (char)address;
	return text[address];
}

static const char *name_irq(void *ctx, uint32_t irq)
{
	static const char *const names[LETTER_IRQS] = {"disk", "net", "usb"};

	(void)ctx;
	return irq < LETTER_IRQS ? names[irq] : NULL;
}

#endif
