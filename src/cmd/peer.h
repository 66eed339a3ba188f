/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit under the name of another tool, by a link: osjitter, hiccups, sysjitter, oslat,
 * cyclictest or pingpong. It takes that tool's own options then, and prints what that tool prints:
 * a script switches without an edit. */
#ifndef CULPRIT_PEER_H
#define CULPRIT_PEER_H

struct peer;

/* The tool whose name the program was called by, with or without a path; NULL: none. */
const struct peer *peer_called(const char *program);

/* Measures as that tool would. Returns the exit code. */
int peer_run(const struct peer *peer, int argc, char **argv);

#endif
