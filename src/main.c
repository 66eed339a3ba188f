/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The commands: their names come from cmd.h; and help. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/manual.h"
#include "cmd/memory.h"
#include "cmd/peer.h"
#include "cmd/topic.h"

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

#define NTOPICS 32 /* names in which a suggestion is looked for */

/* `what`: "a command"; topics: they are meant, too. */
static int unknown(const char *name, const char *what, bool of_topics)
{
	const char *words[NCOMMANDS + NTOPICS + 3] = {"help"}, *near;
	size_t n = 1;

	for (size_t i = 0; i < NCOMMANDS; i++)
		words[n++] = commands[i].usage->name;
	for (const struct topic *t = topics; of_topics && t->name && n < NCOMMANDS + NTOPICS; t++)
		words[n++] = t->name;
	near = opt_nearest(name, words);
	complain("'%.60s' is not %s%s%s%s: see culprit help", name, what,
		 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
	return EXIT_ERROR;
}

/* For make install: prints what is made from the tables. Not in the list of commands. */
static bool made_from_tables(int argc, char **argv)
{
	const struct command *c = argc > 2 ? find(argv[2]) : NULL;
	const struct topic *topic = argc > 2 ? topic_find(argv[2]) : NULL;

	if (!strcmp(argv[1], "--list"))
		for (size_t i = 0; i < NCOMMANDS; i++)
			printf("%s\n", commands[i].usage->name);
	else if (!strcmp(argv[1], "--topics"))
		for (const struct topic *t = topics; t->name; t++)
			printf("%s.%d\n", t->name, t->section);
	else if (!strcmp(argv[1], "--man") && topic)
		topic_manual(topic, stdout);
	else if (!strcmp(argv[1], "--man") && c)
		manual_of(c->usage, stdout);
	else if (!strcmp(argv[1], "--man"))
		manual_all(commands, NCOMMANDS, stdout);
	else if (!strcmp(argv[1], "--bash"))
		complete_bash(commands, NCOMMANDS, stdout);
	else if (!strcmp(argv[1], "--fish"))
		complete_fish(commands, NCOMMANDS, stdout);
	else if (!strcmp(argv[1], "--zsh"))
		complete_zsh(commands, NCOMMANDS, stdout);
	else
		return false;
	return true;
}

static void list(void)
{
	printf("culprit %s: what interrupts a CPU, and who is to blame\n\n"
	       "usage: culprit COMMAND [OPTION...]\n\n",
	       CULPRIT_VERSION);
	for (size_t i = 0; i < NCOMMANDS; i++)
		printf("  %-10s %s\n", commands[i].usage->name, commands[i].usage->summary);
	printf("  %-10s %s\n\ntopics:\n", "help",
	       "this list, or with a COMMAND or a TOPIC its page");
	for (const struct topic *t = topics; t->name; t++)
		printf("  %-10s %s\n", t->name, t->summary);
	printf("\nTo begin: sudo culprit run\n");
}

static bool asks_help(const char *word)
{
	return !strcmp(word, "help") || !strcmp(word, "--help") || !strcmp(word, "-h");
}

static int help(int argc, char **argv)
{
	const struct topic *topic;
	const struct command *c;

	if (argc > 1 && made_from_tables(argc, argv))
		return EXIT_OK;
	if (argc < 2 || asks_help(argv[1])) {
		list();
		return EXIT_OK;
	}
	c = find(argv[1]);
	topic = topic_find(argv[1]);
	if (!c && !topic)
		return unknown(argv[1], "a command or a topic", true);
	if (c)
		opt_help(c->usage, stdout);
	else
		topic_print(topic, stdout);
	return EXIT_OK;
}

/* Gives a standard stream that is closed a descriptor all the same, of which every use fails as it
 * did: else the next file opened would get its number, and with it what is printed. */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/", O_PATH) < 0)
			return;
}

/* Several lists of 8,192 CPUs as text, 27 kB each, are held at a time, and the kernel looks at the
 * soft limit as the stack grows. Threads without a size of their own have the limit of the begin.
 */
#define STACK_LEAST 1048576

/* Says it without say(), which takes more than so small a stack may have. */
static int refuse_stack(unsigned long long most)
{
	char text[200];
	int len = snprintf(text, sizeof(text),
			   "culprit: the stack may not have more than %llu KiB, and culprit needs "
			   "%d: raise the hard limit (ulimit -Hs, or LimitSTACK= of a service)\n",
			   most / 1024, STACK_LEAST / 1024);

	return write(STDERR_FILENO, text, len) < 0 ? -errno : -ENOMEM;
}

static int check_stack(void)
{
	struct rlimit most;
	pthread_attr_t threads;

	if (getrlimit(RLIMIT_STACK, &most) || most.rlim_cur >= STACK_LEAST)
		return 0;
	if (most.rlim_max < STACK_LEAST)
		return refuse_stack(most.rlim_max);
	most.rlim_cur = STACK_LEAST;
	setrlimit(RLIMIT_STACK, &most);
	pthread_attr_init(&threads);
	pthread_attr_setstacksize(&threads, STACK_LEAST);
	pthread_setattr_default_np(&threads);
	pthread_attr_destroy(&threads);
	return 0;
}

/* A setuid or setgid program would open for anybody what its owner may. */
static int check_user(void)
{
	if (!getuid() || (geteuid() == getuid() && getegid() == getgid()))
		return 0;
	return complain("the effective user or group is not the real one, as of a setuid program: "
			"culprit would open files for one who may not; give the program file "
			"capabilities instead (culprit help security)");
}

/* Returns the exit code of a command that ended with `code`. */
static int ended(int code)
{
	if (code == EXIT_ERROR)
		return code;
	if (memory_is_out()) {
		complain("out of memory: what was printed may lack parts");
		return EXIT_ERROR;
	}
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	complain("writing to standard output: %s", strerror(errno ? errno : EIO));
	return EXIT_ERROR;
}

static int run(int argc, char **argv)
{
	const struct peer *peer = argc > 0 ? peer_called(argv[0]) : NULL;
	const struct command *c;

	if (peer)
		return peer_run(peer, argc, argv);
	if (argc < 2) {
		complain("no command given: try 'sudo culprit run', or see culprit help");
		return EXIT_ERROR;
	}
	if (!strcmp(argv[1], "--version"))
		argv[1] += strlen("--");
	if (asks_help(argv[1]))
		return help(argc - 1, argv + 1);
	c = find(argv[1]);
	if (!c)
		return unknown(argv[1], "a command", false);
	return c->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	fill_standard();
	signal(SIGCHLD, SIG_DFL); /* a parent may ignore it: nobody could wait for a child */
	signal(SIGXFSZ, SIG_IGN); /* the write fails, and is told of as any that does */
	confine_files();
	return ended(check_stack() || check_user() ? EXIT_ERROR : run(argc, argv));
}
