/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/keys.h"

#include <stdlib.h>
#include <string.h>

#define ESC '\033'

/* Key of "ESC [ letter" and "ESC O letter". */
static int key_of_letter(char letter)
{
	static const char letters[] = "ABCDHF";
	static const int keys[] = {KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_HOME, KEY_END};
	const char *at = letter ? strchr(letters, letter) : NULL;

	return at ? keys[at - letters] : KEY_OTHER;
}

/* Key of "ESC [ number ~". */
static int key_of_number(int number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	default:
		return KEY_OTHER;
	}
}

size_t key_parse(const char *bytes, size_t len, int *key)
{
	size_t at = 2;

	if (bytes[0] != ESC) {
		*key = (unsigned char)bytes[0];
		return 1;
	}
	if (len < 2)
		return 0;
	if (bytes[1] != '[' && bytes[1] != 'O') {
		*key = KEY_ESCAPE; /* a further key comes behind it */
		return 1;
	}
	/* Parameters, then one final byte (ECMA-48, 5.4). */
	while (bytes[1] == '[' && at < len && bytes[at] >= 0x20 && bytes[at] < 0x40)
		at++;
	if (at == len)
		return 0;
	*key = bytes[at] == '~' ? key_of_number(atoi(bytes + 2)) : key_of_letter(bytes[at]);
	return at + 1;
}
