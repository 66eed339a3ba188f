/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of a terminal: what its bytes mean. */
#ifndef CULPRIT_KEYS_H
#define CULPRIT_KEYS_H

#include <stddef.h>

/* Values beyond those of bytes. */
enum key {
	KEY_OTHER = 256, /* a sequence that stands for none of these */
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_ESCAPE,
};

/* Reads the first key of bytes[len], len > 0, into *key: a byte's own value, or one of enum key.
 * Returns how many bytes it takes; 0: its end is missing. An escape byte that nothing follows may
 * be a key of its own or the beginning of one: the caller waits for more, and if none comes takes
 * it for KEY_ESCAPE. */
size_t key_parse(const char *bytes, size_t len, int *key);

#endif
