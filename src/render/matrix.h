/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The time of a message from each CPU to each other one (schema culprit.matrix/1). */
#ifndef CULPRIT_RENDER_MATRIX_H
#define CULPRIT_RENDER_MATRIX_H

#include <stdbool.h>
#include <stdio.h>
#include "model/view.h"

struct matrix {
	const struct view *view; /* for its host, and the CPUs of its summary */
	const char *method;
	uint64_t messages;         /* each way between each two */
	const uint64_t *median_ns; /* [sender * n + receiver]; UINT64_MAX: not measured */
};

/* 0 or -errno. */
int render_matrix(const struct matrix *m, bool json, FILE *out);

#endif
