/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: one file for each, one row in main's table. */
#ifndef CULPRIT_CMD_H
#define CULPRIT_CMD_H

#include "base/opt.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,   /* an error, reported by one line on stderr */
	EXIT_CROSSED = 2, /* a threshold that the user set was crossed */
	/* less was measured than asked for, and not because of a signal; comes before EXIT_CROSSED
	 */
	EXIT_INCOMPLETE = 3,
};

/* Ends the help of a command that measures; crossed: "2 ..., ". */
#define EXIT_STATUS_PARTS(crossed, first)                                                          \
	"Exit status: 0 done, 1 error, " crossed                                                   \
	"3 less was measured than asked for: a CPU went offline, or its sampler was killed or "    \
	"moved. " first
#define EXIT_STATUS(crossed)                                                                       \
	EXIT_STATUS_PARTS(crossed, "Of several, 1 comes before 3, and 3 before 2.")
#define EXIT_STATUS_UNCROSSED EXIT_STATUS_PARTS("", "Of both, 1 comes first.")

/* Rows of a command's environment. */
#define ENV_NO_COLOR                                                                               \
	{                                                                                          \
		"NO_COLOR", "if it is set and not empty: no colours"                               \
	}
#define ENV_COLUMNS                                                                                \
	{                                                                                          \
		"COLUMNS", "how wide the text is, from 40 to 120; default: the terminal's width, " \
			   "or else 100"                                                           \
	}
#define ENV_NOTIFY                                                                                 \
	{"NOTIFY_SOCKET", "where a service tells its manager, as sd_notify(3) says, that its "     \
			  "window is open, and each ten seconds how it goes"},                     \
	{                                                                                          \
		"WATCHDOG_USEC", "how long this manager waits for a sign of life"                  \
	}
#define ENV_NONE                                                                                   \
	{                                                                                          \
		"none", "no variable changes what this command does"                               \
	}

struct command {
	const struct opt_command *usage;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
};

/* All commands, in the order of the help: NAME_usage and cmd_NAME are in NAME.c. */
/* clang-format off */
#define COMMANDS(ROW) \
	ROW(run) \
	ROW(record) \
	ROW(report) \
	ROW(diff) \
	ROW(plot) \
	ROW(audit) \
	ROW(try) \
	ROW(tune) \
	ROW(explain) \
	ROW(selftest) \
	ROW(top) \
	ROW(watch) \
	ROW(sleep) \
	ROW(pingpong) \
	ROW(queue) \
	ROW(syscall) \
	ROW(clock) \
	ROW(osnoise) \
	ROW(version)
/* clang-format on */

#define DECLARE_COMMAND(name)                                                                      \
	extern const struct opt_command name##_usage;                                              \
	int cmd_##name(int argc, char **argv);
COMMANDS(DECLARE_COMMAND)

/* The row of a table of options of who reads recordings or facts: a bool. */
#define OPT_REDACT(field)                                                                          \
	{                                                                                          \
		0, "redact", NULL,                                                                 \
			"leave out, or give other names in place of, what tells of the machine's " \
			"users: see culprit help security",                                        \
			field                                                                      \
	}

#endif
