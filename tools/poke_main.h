/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poke as a function: the program of that name is this alone, and culprit selftest calls it in a
 * child. Arguments, output and exit status are the program's; it may end the process. */
#ifndef POKE_MAIN_H
#define POKE_MAIN_H

int poke_main(int argc, char **argv);

#endif
