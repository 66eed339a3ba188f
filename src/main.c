/* The commands: their names come from cmd.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/manual.h"

#define COMMAND_ROW(name) {&name##_usage, cmd_##name},
static const struct command commands[] = {COMMANDS(COMMAND_ROW)};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < NCOMMANDS; i++)
		if (!strcmp(commands[i].usage->name, name))
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *words[NCOMMANDS + 2] = {"help"}, *near;

	for (size_t i = 0; i < NCOMMANDS; i++)
		words[i + 1] = commands[i].usage->name;
	near = opt_nearest(name, words);
	complain("'%s' is not a command%s%s%s: see culprit help", name,
		 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return EXIT_ERROR;
}

/* For make install: prints what is made from the tables. Not in the list of commands. */
static bool made_from_tables(int argc, char **argv)
{
	const struct command *c = argc > 2 ? find(argv[2]) : NULL;

	if (!strcmp(argv[1], "--list"))
		for (size_t i = 0; i < NCOMMANDS; i++)
			printf("%s\n", commands[i].usage->name);
	else if (!strcmp(argv[1], "--man") && c)
		manual_of(c->usage, stdout);
	else if (!strcmp(argv[1], "--man") && argc == 2)
		manual_all(commands, NCOMMANDS, stdout);
	else if (!strcmp(argv[1], "--bash"))
		complete_bash(commands, NCOMMANDS, stdout);
	else if (!strcmp(argv[1], "--zsh"))
		complete_zsh(commands, NCOMMANDS, stdout);
	else
		return false;
	return true;
}

static int help(int argc, char **argv)
{
	const struct command *c;

	if (argc > 1 && made_from_tables(argc, argv))
		return EXIT_OK;

	if (argc > 1) {
		c = find(argv[1]);
		if (!c)
			return unknown(argv[1]);
		opt_help(c->usage, stdout);
		return EXIT_OK;
	}
	printf("culprit %s: what interrupts a CPU, and who is to blame\n\n"
	       "usage: culprit COMMAND [OPTION...]\n\n",
	       CULPRIT_VERSION);
	for (size_t i = 0; i < NCOMMANDS; i++)
		printf("  %-10s %s\n", commands[i].usage->name, commands[i].usage->summary);
	printf("  %-10s %s\n", "help", "this list, or with a COMMAND its options");
	printf("\nTo begin: sudo culprit run\n");
	return EXIT_OK;
}

int main(int argc, char **argv)
{
	const struct command *c;

	if (argc < 2) {
		complain("no command given: try 'sudo culprit run', or see culprit help");
		return EXIT_ERROR;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		printf("culprit %s\n", CULPRIT_VERSION);
		return EXIT_OK;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help(argc - 1, argv + 1);
	c = find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}
