/* The commands: one verb a file, one row in main's table. */
#ifndef CULPRIT_CMD_H
#define CULPRIT_CMD_H

#include "base/opt.h"

enum exit_code {
	EXIT_OK = 0,
	EXIT_ERROR = 1,   /* said on stderr, one line */
	EXIT_CROSSED = 2, /* a threshold that the user set was crossed */
};

struct command {
	const struct opt_command *usage;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns an exit code */
};

extern const struct opt_command run_usage;
int cmd_run(int argc, char **argv);

extern const struct opt_command record_usage;
int cmd_record(int argc, char **argv);

extern const struct opt_command report_usage;
int cmd_report(int argc, char **argv);

extern const struct opt_command audit_usage;
int cmd_audit(int argc, char **argv);

extern const struct opt_command diff_usage;
int cmd_diff(int argc, char **argv);

extern const struct opt_command osnoise_usage;
int cmd_osnoise(int argc, char **argv);

extern const struct opt_command explain_usage;
int cmd_explain(int argc, char **argv);

#endif
