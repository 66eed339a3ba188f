/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "poke_main.h"

int main(int argc, char **argv)
{
	return poke_main(argc, argv);
}
