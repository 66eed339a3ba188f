/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Option tables: every way to write an option, every setter, every error to the word, and help that
 * fits 80 columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/escape.h"
#include "base/opt.h"
#include "base/units.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ARGS_MAX     24
#define TEXT_MAX     8192

struct part {
	int before;
	const char *path;
	int depth;
};

struct options {
	struct part part;
	struct cpus cpus;
	uint64_t duration, threshold;
	double percent;
	const char *output;
	int format, level;
	bool quiet, verbose, plain;
};

static const struct opt_choice formats[] = {{"text"}, {"json"}, {"csv"}, {0}};

/* A flag with a setter of its own: `arg` says which level it stands for. */
static int set_level(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (text || !why || !whylen)
		return -1;
	*(int *)field = *(const int *)row->arg;
	return 0;
}

static const int level_nine = 9;

#define FIELD(name) offsetof(struct options, name)

static const struct opt rows[] = {
	{'c', "cpus", "CPUS", "Watch these CPUs, like 1-3,8.", FIELD(cpus), opt_set_cpus, NULL},
	{'d', "duration", "TIME", "Stop after this time.", FIELD(duration), opt_set_duration, NULL},
	{'t', "threshold", "TIME", "Report gaps as long as this, and count all of the rest  too.",
	 FIELD(threshold), opt_set_time, NULL},
	{'p', "percent", "SHARE", "Fail below this share.", FIELD(percent), opt_set_percent, NULL},
	{'o', "output", "FILE",
	 "Write here.\nThe file is replaced only when the whole report could be written: a run "
	 "that fails keeps it.",
	 FIELD(output), opt_set_string, NULL},
	{0, "format", "WORD", "One of text, json and csv.", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(formats)},
	{'q', "quiet", NULL, "Say nothing.", FIELD(quiet), NULL, NULL},
	{'v', NULL, NULL, "Say more.", FIELD(verbose), NULL, NULL},
	{'x', "best", NULL, "Level nine.", FIELD(level), set_level, &level_nine},
	{0, "a-long-name-with-its-value", "AND-A-LONG-VALUE", "\xc2\xb5s.", FIELD(output),
	 opt_set_string, NULL},
	{0, "plain", NULL, "No colours.", FIELD(plain), NULL, NULL},
	{0},
};

static const struct opt_command run = {
	.name = "run",
	.summary = "Measure jitter and name its sources.",
	.about = "Spins on each of the CPUs and looks for gaps in the time that it sees there, and "
		 "wraps.\n\n"
		 "Examples:\n"
		 "  culprit run -c 2-3 -d 60      a minute on two CPUs\n",
	.opts = rows,
};

/* A table that includes another one, tells about one of its options in its own words, and keeps old
 * spellings. */
static const struct opt_choice depths[] = {{"flat", "one level"}, {"deep", "all levels"}, {0}};

static const struct opt part_rows[] = {
	{'i', "path", "FILE", "Read FILE.", offsetof(struct part, path), opt_set_string},
	{0, "depth", "HOW", "How deep.", offsetof(struct part, depth), opt_set_choice,
	 .choices = OPT_CHOICES(depths), .preset = "flat"},
	{0},
};
static const struct opt outer_rows[] = {
	{0, "depth", "HOW", "How far down.", FIELD(part.depth), opt_set_choice,
	 .choices = OPT_CHOICES(depths), .preset = "deep"},
	{.include = part_rows, .offset = FIELD(part)},
	{'q', "quiet", NULL, "Say nothing.", FIELD(quiet)},
	{0, "plain", NULL, "No colours.", FIELD(plain), .needs = "path,quiet",
	 .why = "is for files"},
	{'v', "verbose", NULL, "Say more.", FIELD(verbose), .excludes = "quiet",
	 .why = "says what this does not"},
	{0, "deeper", NULL, NULL, FIELD(plain), .needs = "depth=deep", .why = "goes on"},
	{0, "flatter", NULL, NULL, FIELD(plain), .excludes = "depth=deep,quiet", .why = "ends"},
	{'o', "output", "FILE", NULL, FIELD(output), opt_set_string, .writes = true},
	{0, "journal", "FILE", NULL, FIELD(output), opt_set_string, .writes = true,
	 .appends = true},
	{0, "each", "PREFIX", NULL, FIELD(output), opt_set_string, .writes = true, .prefix = true},
	{0, "file", "FILE", .alias = "path"},
	{'f', NULL, "FILE", .alias = "path"},
	{0, "silent", .alias = "quiet"},
	{0},
};
static const struct opt_example outer_examples[] = {
	{"culprit outer -i x", "reads x"}, {"culprit outer", "reads nothing"}, {0}};
static const struct opt_choice outer_environment[] = {{"COLUMNS", "the width"}, {0}};
static const struct opt_command outer = {
	.name = "outer",
	.summary = "Reads.",
	.opts = outer_rows,
	.examples = outer_examples,
	.environment = outer_environment,
};

static const struct opt_command show = {"show", "FILE...", "Show reports.", NULL, rows};

struct result {
	struct options options;
	int code, noperands, argc;
	char *argv[ARGS_MAX + 1];
	char out[TEXT_MAX], err[TEXT_MAX]; /* the printed text */
};

/* Parses a command line, NULL at its end. Static: a test looks at one at a time. */
static const struct result *parse(const struct opt_command *command, const char *const *args)
{
	static struct result r;
	FILE *const streams[] = {stdout, stderr};
	char *const texts[] = {r.out, r.err};
	FILE *files[2];
	int kept[2];

	memset(&r, 0, sizeof(r));
	r.noperands = r.options.format = -1;
	r.argv[r.argc++] = (char *)"culprit";
	for (; *args && r.argc < ARGS_MAX; args++)
		r.argv[r.argc++] = (char *)(uintptr_t)*args;
	for (int i = 0; i < 2; i++) {
		fflush(streams[i]);
		files[i] = tmpfile();
		kept[i] = dup(fileno(streams[i]));
		assert_true(files[i] && dup2(fileno(files[i]), fileno(streams[i])) >= 0);
	}
	r.code = opt_parse(command, r.argc, r.argv, &r.options, &r.noperands);
	for (int i = 0; i < 2; i++) {
		fflush(streams[i]);
		dup2(kept[i], fileno(streams[i]));
		close(kept[i]);
		rewind(files[i]);
		assert_true(fread(texts[i], 1, TEXT_MAX - 1, files[i]) < TEXT_MAX - 1);
		fclose(files[i]);
	}
	return &r;
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const struct result *parse_well(const struct opt_command *command, const char *const *args)
{
	const struct result *r = parse(command, args);

	assert_string_equal(r->err, "");
	assert_string_equal(r->out, "");
	assert_int_equal(r->code, 0);
	return r;
}

static void check_everything_set(const struct result *r)
{
	char list[64];

	assert_string_equal(cpus_format(&r->options.cpus, list, sizeof(list)), "1-3,8");
	assert_int_equal(r->options.duration, 90 * NSEC_PER_SEC);
	assert_int_equal(r->options.threshold, 10 * NSEC_PER_USEC);
	assert_true(r->options.percent == 99.9);
	assert_string_equal(r->options.output, "a=b");
	assert_int_equal(r->options.format, 2);
	assert_int_equal(r->options.level, 9);
	assert_true(r->options.quiet && r->options.verbose && !r->options.plain);
	assert_int_equal(r->noperands, 0);
}

static void test_every_setter_in_every_spelling(void **state)
{
	const char *const *const spellings[] = {
		ARGS("--cpus=1-3,8", "--duration=90", "--threshold=10us", "--percent=99.9%",
		     "--output=a=b", "--format=csv", "--quiet", "-v", "--best"),
		ARGS("--cpus", "1-3,8", "--duration", "1.5m", "--threshold", "0.01ms", "--percent",
		     "99.9", "--output", "a=b", "--format", "csv", "-qvx"),
		ARGS("-xc1-3,8", "-d90s", "-t10us", "-p99.9", "-oa=b", "--format=csv", "-q", "-v"),
		ARGS("-qvxc", "1-3,8", "-d", "90", "-t", "10us", "-p", "99.9", "-o", "a=b",
		     "--format=csv"),
	};

	(void)state;
	for (size_t i = 0; i < COUNT(spellings); i++)
		check_everything_set(parse_well(&run, spellings[i]));
}

static void test_nothing_given_sets_nothing(void **state)
{
	const struct result *r = parse_well(&run, ARGS());
	struct options untouched;

	(void)state;
	memset(&untouched, 0, sizeof(untouched));
	untouched.format = -1;
	assert_memory_equal(&r->options, &untouched, sizeof(untouched));
	assert_int_equal(r->noperands, 0);
}

static void test_the_last_of_two_counts(void **state)
{
	const struct result *r = parse_well(&run, ARGS("-d1", "--duration=2", "-c1", "-c2"));

	(void)state;
	assert_int_equal(r->options.duration, 2 * NSEC_PER_SEC);
	assert_int_equal(cpus_count(&r->options.cpus), 1);
	assert_true(cpus_has(&r->options.cpus, 2));
}

static void test_values_may_look_like_options(void **state)
{
	(void)state;
	assert_string_equal(parse_well(&run, ARGS("-o", "--"))->options.output, "--");
	assert_string_equal(parse_well(&run, ARGS("-o", "-"))->options.output, "-");
	assert_int_equal(parse_well(&run, ARGS("--format=text"))->options.format, 0);
	assert_string_equal(parse_well(&run, ARGS("--output="))->options.output, "");
	assert_string_equal(parse_well(&run, ARGS("--output", "--quiet"))->options.output,
			    "--quiet");
	assert_false(parse_well(&run, ARGS("--output", "--quiet"))->options.quiet);
}

static void check_operands(const struct result *r, const char *const *want)
{
	int n = 0;

	for (; want[n]; n++)
		assert_string_equal(r->argv[n + 1], want[n]);
	assert_int_equal(r->noperands, n);
	assert_null(r->argv[n + 1]);
	assert_string_equal(r->argv[0], "culprit");
}

static void test_operands_keep_their_order(void **state)
{
	const struct result *r =
		parse_well(&show, ARGS("one", "-q", "two", "-o", "out", "three", "--format=json"));

	(void)state;
	check_operands(r, ARGS("one", "two", "three"));
	assert_true(r->options.quiet && r->options.format == 1);
	assert_string_equal(r->options.output, "out");
	r = parse_well(&show, ARGS("-q", "--", "-v", "--plain", "--", "-"));
	check_operands(r, ARGS("-v", "--plain", "--", "-"));
	assert_false(r->options.verbose || r->options.plain);
	check_operands(parse_well(&show, ARGS("-", "a")), ARGS("-", "a"));
	check_operands(parse_well(&show, ARGS("a", "b")), ARGS("a", "b"));
	check_operands(parse_well(&show, ARGS("--")), ARGS());
	check_operands(parse_well(&show, ARGS("")), ARGS(""));
}

static const struct {
	const char *const *args;
	const char *line;
} errors[] = {
	{ARGS("--durration=5"), "--durration: unknown option: did you mean --duration?"},
	{ARGS("--duratoin", "5"), "--duratoin: unknown option: did you mean --duration?"},
	{ARGS("--cpu", "5"), "--cpu: unknown option: did you mean --cpus?"},
	{ARGS("--hlep"), "--hlep: unknown option: did you mean --help?"},
	{ARGS("--quietly=yes"), "--quietly: unknown option: did you mean --quiet?"},
	{ARGS("--frobnicate"), "--frobnicate: unknown option"},
	{ARGS("--=5"), "--: unknown option"},
	{ARGS("---"), "---: unknown option"},
	{ARGS("-z"), "-z: unknown option"},
	{ARGS("-qzv"), "-z: unknown option"},
	{ARGS("-q-"), "--: unknown option"},
	{ARGS("-quiet"), "-quiet: unknown option: did you mean --quiet?"},
	{ARGS("-format=csv"), "-format=csv: unknown option: did you mean --format=csv?"},
	{ARGS("-\xc3\xbc"), "-\xc3\xbc: unknown option"},
	{ARGS("--\033[2J"), "--\\x1b[2J: unknown option"},
	{ARGS("--duration"), "--duration: needs a value: --duration TIME"},
	{ARGS("-q", "-d"), "-d: needs a value: -d TIME"},
	{ARGS("-qd"), "-d: needs a value: -d TIME"},
	{ARGS("--quiet=yes"), "--quiet: takes no value, but 'yes' was given: write --quiet alone"},
	{ARGS("--quiet="), "--quiet: takes no value, but '' was given: write --quiet alone"},
	{ARGS("--help=run"), "--help: takes no value, but 'run' was given: write --help alone"},
	{ARGS("file"), "'file': run takes only options, which begin with -"},
	{ARGS("-q", "-"), "'-': run takes only options, which begin with -"},
	{ARGS("--", "-q"), "'-q': run takes only options, which begin with -"},
	{ARGS("a\nb\033"), "'a\\x0ab\\x1b': run takes only options, which begin with -"},
	{ARGS("--duration", "5 parsecs"),
	 "--duration: '5 parsecs': unknown unit 'parsecs': use ns, us, ms, s, m, h or d"},
	{ARGS("-d0"), "-d: '0': too short: must be 1 ns or more"},
	{ARGS("--threshold=10"), "--threshold: '10': no unit: write 10us or 10ms, say"},
	{ARGS("--percent=200"),
	 "--percent: '200': not a share: must be more than 0 and at most 100"},
	{ARGS("--cpus=1,5-3"),
	 "--cpus: '1,5-3' is not a CPU list: '5-3' runs backwards: write the lower number first"},
	{ARGS("-c", ""), "-c: '' names no CPU: write a list like 0-3,8"},
	{ARGS("--format=jsno"), "--format: 'jsno' is not known: use text, json or csv"},
	{ARGS("--format=\x9b"), "--format: '\\x9b' is not known: use text, json or csv"},
};

static void test_errors_are_one_clear_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(errors); i++) {
		const struct result *r = parse(&run, errors[i].args);
		char line[256];

		snprintf(line, sizeof(line), "culprit: %s (culprit help run)\n", errors[i].line);
		assert_string_equal(r->err, line);
		assert_int_equal(r->code, -1);
		assert_string_equal(r->out, "");
	}
}

static void test_setters_leave_the_field_on_error(void **state)
{
	struct options options, kept;
	char why[64];

	(void)state;
	memset(&options, 0x5a, sizeof(options));
	kept = options;
	assert_int_not_equal(opt_set_cpus("x", &options.cpus, &rows[0], why, sizeof(why)), 0);
	assert_int_not_equal(opt_set_cpus(" ", &options.cpus, &rows[0], why, sizeof(why)), 0);
	assert_int_not_equal(opt_set_duration("x", &options.duration, &rows[1], why, sizeof(why)),
			     0);
	assert_int_not_equal(opt_set_time("5", &options.threshold, &rows[2], why, sizeof(why)), 0);
	assert_int_not_equal(opt_set_percent("x", &options.percent, &rows[3], why, sizeof(why)), 0);
	assert_int_not_equal(opt_set_choice("x", &options.format, &rows[5], why, 12), 0);
	assert_string_equal(why, "'x' is not ");
	assert_memory_equal(&options, &kept, sizeof(options));
}

static void test_included_tables(void **state)
{
	const struct result *r = parse_well(&outer, ARGS("-i", "x", "--depth=deep", "-q"));

	(void)state;
	assert_string_equal(r->options.part.path, "x");
	assert_int_equal(r->options.part.depth, 1);
	assert_int_equal(r->options.part.before, 0);
	assert_true(r->options.quiet);
	r = parse(&outer, ARGS("-h"));
	assert_string_equal(r->out, "usage: culprit outer [OPTIONS]\n\n"
				    "Reads.\n\n"
				    "options:\n"
				    "      --depth=HOW  How far down.; default: deep\n"
				    "                     flat  one level\n"
				    "                     deep  all levels\n"
				    "  -i, --path=FILE  Read FILE.\n"
				    "  -q, --quiet      Say nothing.\n"
				    "      --plain      No colours.\n"
				    "  -v, --verbose    Say more.\n"
				    "  -h, --help       Print this help.\n\n"
				    "examples:\n"
				    "  culprit outer -i x\n"
				    "      reads x\n"
				    "  culprit outer\n"
				    "      reads nothing\n\n"
				    "environment:\n"
				    "  COLUMNS\n"
				    "      the width\n");
}

static void test_old_spellings(void **state)
{
	(void)state;
	assert_string_equal(parse_well(&outer, ARGS("--file", "y"))->options.part.path, "y");
	assert_string_equal(parse_well(&outer, ARGS("--file=y"))->options.part.path, "y");
	assert_string_equal(parse_well(&outer, ARGS("-qfy"))->options.part.path, "y");
	assert_true(parse_well(&outer, ARGS("--silent"))->options.quiet);
	assert_string_equal(parse(&outer, ARGS("--file"))->err,
			    "culprit: --file: needs a value: --file FILE (culprit help outer)\n");
	assert_string_equal(parse(&outer, ARGS("--fille"))->err,
			    "culprit: --fille: unknown option (culprit help outer)\n");
}

/* An option that would be dropped is an error; old spellings count as the new. */
static void test_company(void **state)
{
	static const char alone[] =
		"culprit: --plain: is for files: give --path or --quiet, too (culprit help "
		"outer)\n";
	static const char both[] = "culprit: --verbose: says what this does not: leave out --quiet "
				   "(culprit help outer)\n";

	(void)state;
	parse_well(&outer, ARGS("--plain", "-q"));
	parse_well(&outer, ARGS("--file=x", "--plain"));
	parse_well(&outer, ARGS("-v"));
	assert_string_equal(parse(&outer, ARGS("--plain"))->err, alone);
	assert_string_equal(parse(&outer, ARGS("-v", "--silent"))->err, both);
	assert_int_equal(parse(&outer, ARGS("-qv"))->code, -1);
}

static void check_said(const struct opt_command *command, const char *const *args, const char *says)
{
	const struct result *r = parse(command, args);
	char line[256];

	snprintf(line, sizeof(line), "culprit: %s (culprit help %s)\n", says, command->name);
	assert_string_equal(r->err, line);
	assert_int_equal(r->code, -1);
}

/* Company can depend on which word another option has. */
static void test_company_of_words(void **state)
{
	static const char needs[] = "--deeper: goes on: give --depth deep, too";

	(void)state;
	parse_well(&outer, ARGS("--deeper", "--depth=deep"));
	parse_well(&outer, ARGS("--flatter", "--depth", "flat"));
	parse_well(&outer, ARGS("--flatter", "--depth", "deep", "--depth", "flat"));
	check_said(&outer, ARGS("--deeper"), needs);
	check_said(&outer, ARGS("--deeper", "--depth", "flat"), needs);
	check_said(&outer, ARGS("--flatter", "--depth", "deep"),
		   "--flatter: ends: leave out --depth deep");
	check_said(&outer, ARGS("--flatter", "-q"), "--flatter: ends: leave out --quiet");
}

/* A file that is written is the file of nothing else. */
static void test_one_file_for_two(void **state)
{
	static const struct opt_command reads = {"reads", "FILE...", "", NULL, outer_rows};
	static const struct opt_command names = {"names", "NAME...", "", NULL, outer_rows};
	char there[] = "/tmp/test_opt.XXXXXX", other[64];
	int fd = mkstemp(there);
	char says[256];

	(void)state;
	assert_true(fd >= 0);
	snprintf(other, sizeof(other), "/tmp/../%s", there);
	parse_well(&outer, ARGS("-o", "nowhere/a", "-i", "nowhere/b"));
	parse_well(&outer, ARGS("-o", "-", "-i", "-"));
	parse_well(&outer, ARGS("-o", "/dev/null", "-i", "/dev/null"));
	parse_well(&outer, ARGS("-o", "deep", "--depth", "deep"));
	parse_well(&names, ARGS("-o", "nowhere/a", "nowhere/a"));
	parse_well(&reads, ARGS("-i", there, there));
	check_said(&outer, ARGS("-o", "nowhere/a", "--file", "nowhere/a"),
		   "--output: nowhere/a is given to --path, too, and would be lost: choose "
		   "another file");
	snprintf(says, sizeof(says),
		 "--output: %s is given to --path, too, and would be lost: choose another file",
		 there);
	check_said(&outer, ARGS("-i", other, "-o", there), says);
	snprintf(says, sizeof(says),
		 "--output: %s is given to reads itself, too, and would be lost: choose another "
		 "file",
		 other);
	check_said(&reads, ARGS("nowhere", "-o", other, there), says);
	close(fd);
	unlink(there);
}

#define LOST(option, file, other)                                                                  \
	"--" option ": " file " is given to " other ", too, and would be lost: choose another "    \
	"file"

/* Names that differ, and what each kind of writer does to the file. */
static void test_one_file_of_many_names(void **state)
{
	static const struct opt_command reads = {"reads", "FILE...", "", NULL, outer_rows};
	static const char *const read[] = {"a", "b"};
	char was[4096], place[] = "/tmp/test_opt.XXXXXX", path[64];
	int null = open("/dev/null", O_RDONLY), in = dup(STDIN_FILENO), fd;

	(void)state;
	assert_true(null >= 0 && in >= 0 && getcwd(was, sizeof(was)) && mkdtemp(place));
	assert_int_equal(chdir(place), 0);
	snprintf(path, sizeof(path), "%s/new", place);
	assert_int_equal(symlink("new", "way"), 0);

	/* Nothing is there yet. */
	check_said(&outer, ARGS("-o", "./new", "-i", "new"), LOST("output", "./new", "--path"));
	check_said(&outer, ARGS("-o", "way", "-i", "new"), LOST("output", "way", "--path"));
	check_said(&outer, ARGS("-o", "new", "-i", path), LOST("output", "new", "--path"));
	parse_well(&outer, ARGS("-o", "./new", "-i", "newer"));
	parse_well(&outer, ARGS("-o", "none/new", "-i", "new"));

	/* An option may be given several times. */
	check_said(&outer, ARGS("-i", "new", "-i", "b", "-o", "new"),
		   LOST("output", "new", "--path"));

	/* A rename leaves the other name of a hard link, what is added changes both. */
	fd = open("new", O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0 && !link("new", "hard"));
	parse_well(&outer, ARGS("-o", "hard", "-i", "new"));
	check_said(&outer, ARGS("--journal", "hard", "-i", "new"),
		   LOST("journal", "hard", "--path"));

	/* Standard input is a file, too; but to write, - is standard output. */
	assert_true(dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	check_said(&reads, ARGS("-", "-o", "new"), LOST("output", "new", "reads itself"));
	check_said(&outer, ARGS("-i", "-", "-o", "new"), LOST("output", "new", "--path"));
	parse_well(&reads, ARGS("new", "-o", "-"));
	parse_well(&outer, ARGS("--journal", "-", "-o", "new"));
	assert_true(dup2(null, STDIN_FILENO) == STDIN_FILENO);
	parse_well(&reads, ARGS("-", "-o", "new"));

	check_said(&outer, ARGS("--each", "new", "-i", "new.12"), LOST("each", "new.12", "--path"));
	for (const char *const *other =
		     (const char *[]){"new", "new.", "new.x", "new.1x", "ne.1", "none/new.1", NULL};
	     *other; other++)
		parse_well(&outer, ARGS("--each", "new", "-i", *other));

	/* A command that is parsed in parts asks for the whole of it. */
	assert_int_equal(opt_check_written(&reads, "output", "c", NULL, read, 2), 0);
	assert_int_equal(opt_check_written(&reads, "output", NULL, NULL, read, 2), 0);
	assert_int_equal(opt_check_written(&reads, "output", "b", NULL, read, 1), 0);
	assert_int_equal(opt_check_written(&reads, "output", "b", NULL, read, 2), -1);
	assert_int_equal(opt_check_written(&reads, "output", "b", "path", read, 2), -1);

	assert_true(dup2(in, STDIN_FILENO) == STDIN_FILENO);
	close(in);
	close(null);
	close(fd);
	assert_int_equal(unlink("new") | unlink("hard") | unlink("way") | chdir(was), 0);
	rmdir(place);
}

static void check_columns(const char *text)
{
	for (; *text; text += strcspn(text, "\n") + 1) {
		size_t len = strcspn(text, "\n");

		if (text_fit(text, 80) < len || (len && text[len - 1] == ' '))
			fail_msg("too long, or blanks at its end: '%.*s'", (int)len, text);
	}
}

static void test_help_page(void **state)
{
	const struct result *r = parse(&run, ARGS("-q", "--help", "--nonsense"));

	(void)state;
	assert_int_equal(r->code, 1);
	assert_string_equal(r->err, "");
	assert_string_equal(
		r->out,
		"usage: culprit run [OPTIONS]\n\n"
		"Measure jitter and name its sources.\n\n"
		"Spins on each of the CPUs and looks for gaps in the time that it sees there, and\n"
		"wraps.\n\n"
		"Examples:\n"
		"  culprit run -c 2-3 -d 60      a minute on two CPUs\n\n"
		"options:\n"
		"  -c, --cpus=CPUS       Watch these CPUs, like 1-3,8.\n"
		"  -d, --duration=TIME   Stop after this time.\n"
		"  -t, --threshold=TIME  Report gaps as long as this, and count all of the rest\n"
		"                        too.\n"
		"  -p, --percent=SHARE   Fail below this share.\n"
		"  -o, --output=FILE     Write here.\n"
		"                        The file is replaced only when the whole report could be\n"
		"                        written: a run that fails keeps it.\n"
		"      --format=WORD     One of text, json and csv.\n"
		"  -q, --quiet           Say nothing.\n"
		"  -v                    Say more.\n"
		"  -x, --best            Level nine.\n"
		"      --a-long-name-with-its-value=AND-A-LONG-VALUE\n"
		"                        \xc2\xb5s.\n"
		"      --plain           No colours.\n"
		"  -h, --help            Print this help.\n");
	check_columns(r->out);
	assert_string_equal(parse(&run, ARGS("-qh"))->out, r->out);
	r = parse(&show, ARGS("-h"));
	assert_ptr_equal(
		strstr(r->out,
		       "usage: culprit show [OPTIONS] FILE...\n\nShow reports.\n\noptions:\n"),
		r->out);
}

/* Long words and long names have to give way somewhere. */
static void test_help_never_passes_80_columns(void **state)
{
	static const char word[] = "\u00fc123456789012345678901234567890123456789012345678901234567"
				   "8901234567890123456789";
	static const char right[] =
		"                                                  far to the right of everything";
	const struct opt odd[] = {
		{0, word, "VALUE", word, 0, opt_set_string, NULL},
		{'a', "b", word, "", 0, opt_set_string, NULL},
		{'e', NULL, "F", right, 0, opt_set_string, NULL},
		{0},
	};
	const struct opt_command command = {"odd", word, word, word, odd};
	const struct result *r = parse(&command, ARGS("-h"));
	size_t times = 0;

	(void)state;
	check_columns(r->out);
	for (const char *at = r->out; (at = strstr(at, "\xc3\xbc")); at++)
		times++;
	assert_int_equal(times, 6);
	assert_non_null(strstr(r->out, "\n  -e F"));
}

static void test_nearest(void **state)
{
	static const char *const words[] = {"run",    "report", "record", "diff",
					    "doctor", "help",   NULL};
	/* each word, then its nearest; "recort" is one edit from two words: the first counts */
	const char *const *pair = ARGS(
		"run", "run", "rnu", "run", "urn", "run", "rn", "run", "repport", "report",
		"recrod", "record", "recort", "report", "docter", "doctor", "dokktor", "doctor",
		"dokktr", "", "ru-n-", "", "x", "", "", "", "helpless", "", "diff2", "diff");
	char longest[200] = "";

	(void)state;
	for (; *pair; pair += 2) {
		const char *nearest = opt_nearest(pair[0], words);

		assert_string_equal(nearest ? nearest : "", pair[1]);
	}
	assert_null(opt_nearest("run", ARGS()));
	memset(longest, 'r', sizeof(longest) - 1);
	assert_null(opt_nearest(longest, ARGS("run", longest)));
	assert_null(opt_nearest("run", ARGS(longest)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_setter_in_every_spelling),
		cmocka_unit_test(test_nothing_given_sets_nothing),
		cmocka_unit_test(test_the_last_of_two_counts),
		cmocka_unit_test(test_values_may_look_like_options),
		cmocka_unit_test(test_operands_keep_their_order),
		cmocka_unit_test(test_errors_are_one_clear_line),
		cmocka_unit_test(test_setters_leave_the_field_on_error),
		cmocka_unit_test(test_included_tables),
		cmocka_unit_test(test_old_spellings),
		cmocka_unit_test(test_company),
		cmocka_unit_test(test_company_of_words),
		cmocka_unit_test(test_one_file_for_two),
		cmocka_unit_test(test_one_file_of_many_names),
		cmocka_unit_test(test_help_page),
		cmocka_unit_test(test_help_never_passes_80_columns),
		cmocka_unit_test(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
