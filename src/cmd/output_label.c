/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/output.h"

const struct opt_choice output_labels[] = {
	{"none", "none"},
	{"unit", "the systemd unit"},
	{"pod", "the Kubernetes pod"},
	{0},
};

enum owner_by output_label(const struct output *o)
{
	static const enum owner_by by[] = {BY_THREAD, BY_UNIT, BY_POD};

	return by[o->label];
}
