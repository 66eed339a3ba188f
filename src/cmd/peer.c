/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each option of a peer becomes a word of culprit's own command line (peer_line.h). So what a
 * peer's command line means can be said in culprit's own words, and nothing is measured in another
 * way. */
#include "cmd/peer.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/say.h"
#include "cmd/cmd.h"
#include "cmd/peer_line.h"

/* ---- the peers ---- */

static const struct peer peers[] = {
	{"osjitter", NULL, osjitter_words, osjitter_rows, osjitter_end, cmd_run, ""},
	{"hiccups", NULL, hiccups_words, hiccups_rows, hiccups_end, cmd_run,
	 "It measures the CPUs that it is allowed: taskset -c 1-3 hiccups.\n"},
	{"sysjitter", "THRESHOLD_NSEC", sysjitter_words, sysjitter_rows, sysjitter_end, cmd_run,
	 ""},
	{"oslat", NULL, oslat_words, oslat_rows, oslat_end, cmd_run, ""},
	{"cyclictest", NULL, cyclictest_words, cyclictest_rows, cyclictest_end, cmd_sleep,
	 "Each thread has a CPU of its own, also without -a.\n"},
	{"pingpong", NULL, pingpong_words, pingpong_rows, pingpong_end, cmd_pingpong,
	 "The two sides are threads of one process, as osjitter's are.\n"},
	{0},
};

const struct peer *peer_called(const char *program)
{
	const char *slash = strrchr(program, '/');

	for (const struct peer *p = peers; p->name; p++)
		if (!strcmp(slash ? slash + 1 : program, p->name))
			return p;
	return NULL;
}

static void print_help(const struct peer *p)
{
	char option[64];

	printf("%s, by culprit %s: culprit", p->name, CULPRIT_VERSION);
	for (int i = 0; p->words[i]; i++)
		printf(" %s", p->words[i]);
	printf(" --no-trace\n\nusage: %s [OPTION...]%s%s\n\n", p->name, p->operand ? " " : "",
	       p->operand ? p->operand : "");
	for (const struct peer_row *r = p->rows; r->letter || r->name; r++) {
		char letter[4] = {'-', r->letter, r->name ? ',' : '\0'};

		snprintf(option, sizeof(option), "%s%s%s%s%s%s%s", r->letter ? letter : "",
			 r->letter && r->name ? " " : "", r->name ? "--" : "",
			 r->name ? r->name : "", r->value ? " " : "", r->value ? r->value : "",
			 r->maybe ? "?" : "");
		printf("  %-26s %s%s\n", option, r->refused ? "not taken: " : "",
		       r->refused ? r->refused : r->help);
	}
	printf("\n%sBehind each option: its default, or what it does. To name the causes, run "
	       "culprit\nitself: culprit help workloads.\n",
	       p->note);
}

/* ---- reading ---- */

static const struct peer_row *find_row(const struct peer *p, char letter, const char *name,
				       size_t len)
{
	for (const struct peer_row *r = p->rows; r->letter || r->name; r++)
		if (name ? r->name && strlen(r->name) == len && !memcmp(r->name, name, len)
			 : r->letter == letter)
			return r;
	return NULL;
}

static int take_option(struct peer_line *l, const struct peer_row *r, const char *shown,
		       const char *value)
{
	char why[256] = "not taken";

	if (r->refused)
		return complain("%s is not taken: %s", shown, r->refused);
	if (r->take && r->take(l, value, r, why, sizeof(why)))
		return complain("%s: %s (%s --help)", shown, why, l->peer->name);
	if (r->word && !r->take)
		peer_add_value(l, r->word, value ? value : "");
	return 0;
}

/* The value of an option: what is joined to it, or the next word. Moves *at past that. NULL: it has
 * none. */
static const char *value_of(const struct peer_row *r, const char *joined, int argc, char **argv,
			    int *at)
{
	if (joined)
		return joined;
	if (!r->value || *at + 1 >= argc || (r->maybe && !isdigit((unsigned char)*argv[*at + 1])))
		return NULL;
	return argv[++*at];
}

static int unknown(const struct peer_line *l, const char *shown)
{
	return complain("%s: unknown option (%s --help)", shown, l->peer->name);
}

static int take_row(struct peer_line *l, const struct peer_row *r, const char *shown,
		    const char *joined, int argc, char **argv, int *at)
{
	const char *value = value_of(r, joined, argc, argv, at);
	char both[128];

	if (r->value && !r->maybe && (!value || (r->two && *at + 1 >= argc)))
		return complain("%s: needs a value: %s %s", shown, shown, r->value);
	if (r->two) {
		snprintf(both, sizeof(both), "%s %s", value, argv[++*at]);
		value = both;
	}
	return take_option(l, r, shown, value);
}

static int take_long_option(struct peer_line *l, int argc, char **argv, int *at)
{
	const char *name = argv[*at] + 2, *equals = strchr(name, '=');
	size_t len = equals ? (size_t)(equals - name) : strlen(name);
	const struct peer_row *r = find_row(l->peer, 0, name, len);
	char shown[64];

	snprintf(shown, sizeof(shown), "--%.*s", (int)(len < 60 ? len : 60), name);
	if (!r)
		return unknown(l, shown);
	if (equals && !r->value)
		return complain("%s: takes no value", shown);
	return take_row(l, r, shown, equals ? equals + 1 : NULL, argc, argv, at);
}

/* Letters may be joined: -mqS, and their value with them: -p80. */
static int take_letters(struct peer_line *l, int argc, char **argv, int *at)
{
	const char *word = argv[*at];

	for (const char *c = word + 1; *c; c++) {
		const struct peer_row *r = find_row(l->peer, *c, NULL, 0);
		char shown[] = {'-', *c, '\0'};

		if (!r)
			return unknown(l, shown);
		if (r->value)
			return take_row(l, r, shown, c[1] ? c + 1 : NULL, argc, argv, at);
		if (take_option(l, r, shown, NULL))
			return -1;
	}
	return 0;
}

/* Returns 0, 1 after help was printed, or -1 with the reason said. */
static int read_line(struct peer_line *l, int argc, char **argv, const char **operand)
{
	const struct peer *p = l->peer;

	for (int at = 1; at < argc; at++) {
		const char *word = argv[at];

		if (!strcmp(word, "--help") ||
		    (!strcmp(word, "-h") && !find_row(p, 'h', NULL, 0))) {
			print_help(p);
			return 1;
		}
		if (word[0] == '-' && word[1] == '-' ? take_long_option(l, argc, argv, &at)
		    : word[0] == '-'                 ? take_letters(l, argc, argv, &at)
						     : 0)
			return -1;
		if (word[0] == '-')
			continue;
		if (!p->operand || *operand)
			return complain("'%.60s': %s takes no%s operand (%s --help)", word, p->name,
					p->operand ? " second" : "", p->name);
		*operand = word;
	}
	if (p->operand && !*operand)
		return complain("%s is missing (%s --help)", p->operand, p->name);
	return 0;
}

int peer_run(const struct peer *p, int argc, char **argv)
{
	struct peer_line l = {.peer = p};
	const char *operand = NULL;
	int err;

	for (int i = 0; p->words[i]; i++)
		peer_add(&l, p->words[i]);
	if (p->run == cmd_sleep)
		peer_add(&l, "--interval=1000us");
	err = read_line(&l, argc, argv, &operand);
	if (err)
		return err > 0 ? EXIT_OK : EXIT_ERROR;
	if (p->end(&l, operand))
		return EXIT_ERROR;
	peer_add(&l, "--no-trace");
	peer_add(&l, "--no-audit");
	peer_add(&l, "--quiet");
	if (strcmp(l.word[l.n - 1], "--quiet")) {
		complain("the options are too long");
		return EXIT_ERROR;
	}
	return p->run(l.n, l.word);
}
