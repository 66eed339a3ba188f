/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/frames.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/begins.h"

static const struct {
	const char *begin;
	enum frame_is is;
} frames[] = {
#define ROW(begin, is) {begin, FRAME_##is},
	FRAMES(ROW)
#undef ROW
};

/* Compare inline: nearly all names differ in the first letters, for which a call would be slow. */
static bool comes_after(const char *begin, const char *name)
{
	while (*begin && *begin == *name)
		begin++, name++;
	return (unsigned char)*begin > (unsigned char)*name;
}

/* Only the last row that does not come after the name can be the one that it begins with. */
enum frame_is frame_is(const char *name)
{
	size_t from = 0, n = sizeof(frames) / sizeof(frames[0]);

	while (n) {
		size_t half = n / 2;

		if (comes_after(frames[from + half].begin, name)) {
			n = half;
		} else {
			from += half + 1;
			n -= half + 1;
		}
	}
	return from && begins(name, frames[from - 1].begin) ? frames[from - 1].is : FRAME_ANY;
}

int frames_of_tracer(const char *const *frame, int n)
{
	int way, i = 0;

	while (i < n && (begins(frame[i], "bpf_prog") || begins(frame[i], "[unknown")))
		i++;
	way = i;
	while (i < n && (begins(frame[i], "bpf_trace_run") || begins(frame[i], "__bpf_trace_") ||
			 begins(frame[i], "__traceiter_")))
		i++;
	return i > way ? i : 0;
}
