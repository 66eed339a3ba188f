/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit osnoise: compares with the kernel's osnoise tracer (osnoise_live.c), or reports what it
 * and rtla have saved, in culprit's words. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/confine.h"
#include "base/reap.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/guard.h"
#include "cmd/measure.h"
#include "cmd/memory.h"
#include "cmd/osnoise_alternate.h"
#include "cmd/osnoise_live.h"
#include "cmd/newfile.h"
#include "cmd/output.h"
#include "cmd/program.h"
#include "model/osnoise_rates.h"
#include "model/osnoise.h"
#include "recording/read.h"
#include "render/osnoise_rates.h"
#include "render/osnoise.h"
#include "render/schemas.h"

#define BLOCK 65536

/* First bytes of a trace.dat (trace-cmd's file). */
static const char dat_magic[] = "\x17\x08\x44tracing";
#define DAT_MAGIC_LEN (sizeof(dat_magic) - 1)

struct options {
	struct measure measure;
	bool alternate;
	const char *input, *output;
	const char *recording; /* recording of culprit's, to compare with --input */
	int format;
	uint32_t workload;
	uint64_t memory;
};

static int set_pid(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	long pid;

	(void)row;
	if (parse_integer(text, 1, INT32_MAX, &pid, why, whylen))
		return -EINVAL;
	*(uint32_t *)field = pid;
	return 0;
}

#define FIELD(name) offsetof(struct options, name)

static const struct opt osnoise_opts[] = {
	{.include = measure_opts, .offset = FIELD(measure)},
	{'q', "quiet", NULL, "print no progress line", FIELD(measure.quiet)},
	{0, "input", "FILE",
	 "read saved output: the text of tracefs's trace or of trace-cmd report, a trace.dat, or "
	 "what rtla printed; - is standard input",
	 FIELD(input), opt_set_string,
	 .excludes = "cpus,duration,threshold,priority,housekeeping,clock,alternate,begin,"
		     "ready-file",
	 .why = "reads and does not measure"},
	{0, "from", "FILE", .alias = "input"},
	{0, "alternate", NULL,
	 "run the kernel's own workload and culprit's sampler in turn, twice each and for -d each "
	 "time, and print the columns of osnoise; -t auto then is 1 us",
	 FIELD(alternate)},
	{0, "workload", "PID",
	 "leave out the thread noise of this thread: the program that was measured with "
	 "NO_OSNOISE_WORKLOAD",
	 FIELD(workload), set_pid, .needs = "input", .why = "names a thread in what --input reads"},
	{'f', "format", "FORMAT", "the format of the report", FIELD(format), opt_set_choice,
	 .choices = OPT_CHOICES(text_or_json), .preset = "text"},
	{.include = output_file_opts, .offset = FIELD(output)},
	OPT_SCHEMA(schema_osnoise),
	{.include = memory_opts, .offset = FIELD(memory)},
	{0},
};

static const struct opt_example osnoise_examples[] = {
	{"sudo culprit osnoise -c 3 -d 1m",
	 "the kernel's tracer and culprit on the same CPU at the same time"},
	{"culprit osnoise --input trace.txt", "saved output of osnoise, timerlat or rtla"},
	{"culprit osnoise --input trace.txt before.rec", "the same, compared with a recording"},
	{0},
};

const struct opt_command osnoise_usage = {
	.name = "osnoise",
	.operands = "[RECORDING]",
	.summary = "compare with the kernel's osnoise tracer, read its or rtla's output",
	.about = "Switches the kernel's osnoise tracer on, without its own threads, measures the "
		 "same CPUs at the same time, and pairs the intervals of both one by one. "
		 "Afterwards all settings are put back. Needs a kernel with CONFIG_OSNOISE_TRACER, "
		 "like Debian's rt kernels.\n\nWith --input: reads the output of the kernel's "
		 "osnoise and timerlat tracers and of rtla, from this machine or another one, and "
		 "prints it with culprit's names. Lines that it does not know are counted and "
		 "shown.\n\nWith a RECORDING of culprit record as well: shows both beside each "
		 "other, per second and source.\n\nA trace.dat is read by trace-cmd, which must be "
		 "installed.\n\n" EXIT_STATUS_UNCROSSED,
	.opts = osnoise_opts,
	.examples = osnoise_examples,
	.environment = (const struct opt_choice[]){ENV_NO_COLOR,
						   ENV_COLUMNS,
						   {"PATH", "the directories to search for "
							    "trace-cmd, for a trace.dat"},
						   {0}},
};

/* ---- reading ---- */

struct input {
	int fd;
	pid_t child; /* trace-cmd; 0: none */
	char head[DAT_MAGIC_LEN];
	size_t headlen; /* bytes read already */
};

static void consume(struct osnoise_reader *r, struct lines *l, const char *data, size_t left)
{
	while (lines_next(l, &data, &left))
		osnoise_line(r, l->text, l->len);
}

static int read_all(const struct input *in, const char *name, struct osnoise_reader *r,
		    struct lines *l)
{
	char *block = malloc(BLOCK);
	ssize_t n = in->headlen;

	if (!block)
		return complain("reading %s: out of memory", name);
	memcpy(block, in->head, in->headlen);
	do {
		consume(r, l, block, n);
		do
			n = read(in->fd, block, BLOCK);
		while (n < 0 && errno == EINTR);
	} while (n > 0 && l->bytes < LINE_MOST);
	free(block);
	if (n < 0)
		return complain("reading %s: %s", name, strerror(errno));
	if (l->bytes >= LINE_MOST)
		return complain("%s is not output of osnoise or rtla: a line of it has no end "
				"within 1 MiB",
				name);
	if (lines_last(l))
		osnoise_line(r, l->text, l->len);
	osnoise_finish(r);
	r->lines_cut = l->ncut;
	return 0;
}

static int read_head(struct input *in, const char *name)
{
	while (in->headlen < sizeof(in->head)) {
		ssize_t n = read(in->fd, in->head + in->headlen, sizeof(in->head) - in->headlen);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return complain("reading %s: %s", name, strerror(errno));
		if (!n)
			break;
		in->headlen += n;
	}
	if (!in->headlen)
		return complain("%s is empty: nothing to read", name);
	return 0;
}

/* Replaces the file's bytes by the output of `trace-cmd report`. -t: stamps to the nanosecond. */
static int through_trace_cmd(struct input *in, const char *path)
{
	const char *const argv[] = {"trace-cmd", "report", "-t", "-i", path, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), pipefd[2], err;

	if (null < 0 || pipe2(pipefd, O_CLOEXEC))
		return complain("reading %s through trace-cmd: %s", path, strerror(errno));
	in->child = program_start(argv, (int[]){null, pipefd[1], null}, RIGHT_DAC_READ_SEARCH);
	close(null);
	close(pipefd[1]);
	close(in->fd);
	in->fd = pipefd[0];
	in->headlen = 0;
	if (in->child > 0)
		return 0;
	err = -in->child;
	in->child = 0;
	if (err == ENOENT)
		return complain("%s is a trace.dat, which only trace-cmd can read: install the "
				"package trace-cmd, or give the text of trace-cmd report",
				path);
	return complain("%s is a trace.dat, and trace-cmd does not start: %s", path, strerror(err));
}

static int open_input(struct input *in, const char *path, const char *name)
{
	struct stat st;

	in->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(0);
	if (in->fd < 0)
		return complain("cannot read %s: %s", name, strerror(errno));
	if (!fstat(in->fd, &st) && S_ISDIR(st.st_mode))
		return complain("cannot read %s: it is a directory; give the file that was saved",
				name);
	if (read_head(in, name))
		return -1;
	if (in->headlen < DAT_MAGIC_LEN || memcmp(in->head, dat_magic, DAT_MAGIC_LEN))
		return 0;
	if (!strcmp(path, "-"))
		return complain("standard input is a trace.dat: give it as a file, trace-cmd "
				"cannot read a pipe");
	return through_trace_cmd(in, path);
}

static int close_input(struct input *in, const char *name)
{
	int status = 0;

	if (in->fd >= 0)
		close(in->fd);
	if (!in->child)
		return 0;
	reap(in->child, &status);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return complain("trace-cmd could not read %s: 'trace-cmd report -i FILE' shows why", name);
}

/* Refuses a text with no line of osnoise or rtla: most likely the wrong file. */
static int check_known(const struct osnoise_reader *r, const char *name)
{
	char first[OSNOISE_TEXT + 1] = "";

	if (r->known)
		return 0;
	if (r->nunknowns)
		memcpy(first, r->unknowns[0].text, r->unknowns[0].len);
	return complain("%s is not output of osnoise, timerlat or rtla: none of its lines is "
			"known, the first is '%.60s'",
			name, first);
}

/* ---- writing ---- */

static int write_rates(const struct options *o, const struct osnoise_reader *r,
		       const struct view *v, const char *name, const struct render_options *ro,
		       FILE *out)
{
	struct osnoise_rates b;
	int err = rates_make(&b, r, v);

	if (err)
		return err;
	err = o->format == FORMAT_JSON ? render_osnoise_rates_json(&b, name, o->recording, out)
				       : render_osnoise_rates_text(&b, name, o->recording, ro, out);
	rates_free(&b);
	return err;
}

static int open_output(const struct options *o, struct newfile *new, FILE **out)
{
	int err = newfile_open(new, o->output);

	*out = new->file;
	return err ? complain("cannot write to %s: %s; choose another file with -o", o->output,
			      newfile_error(err))
		   : 0;
}

static int write_report(const struct options *o, const struct osnoise_reader *r,
			const struct view *v, const char *name)
{
	struct newfile new;
	struct render_options ro = {0};
	FILE *out = stdout;
	int bad;

	if (o->output && open_output(o, &new, &out))
		return -1;
	output_terminal(out, 100, &ro.colour, &ro.width);
	bad = v                          ? write_rates(o, r, v, name, &ro, out)
	      : o->format == FORMAT_JSON ? render_osnoise_json(r, name, out)
					 : render_osnoise_text(r, name, &ro, out);
	bad |= fflush(out);
	if (o->output)
		bad = newfile_close(&new, !bad) || bad;
	if (bad)
		return complain("writing the report to %s: %s",
				o->output ? o->output : "standard output", strerror(errno));
	return 0;
}

/* Writes the report, beside the recording if one is given. */
static int report(const struct options *o, const struct osnoise_reader *r, const char *name)
{
	struct view *v = o->recording ? calloc(1, sizeof(*v)) : NULL;
	struct recording *recording = NULL;
	int bad;

	if (o->recording && !v)
		return complain("out of memory");
	if (v && !(recording = recording_open(o->recording, NULL, v))) {
		view_free(v);
		free(v);
		return -1;
	}
	if (recording)
		recording_finish(recording);
	bad = write_report(o, r, v, name);
	if (v)
		view_free(v);
	recording_close(recording);
	free(v);
	return bad;
}

static int from_file(const struct options *o)
{
	const char *name = strcmp(o->input, "-") ? o->input : "standard input";
	struct osnoise_reader *r = calloc(1, sizeof(*r));
	struct lines *l = calloc(1, sizeof(*l));
	struct input in = {.fd = -1};
	int bad = -1;

	if (!r || !l || osnoise_init(r)) {
		complain("reading %s: out of memory", name);
		goto out;
	}
	r->workload = o->workload;
	bad = open_input(&in, o->input, name);
	guard_alone(o->output);
	bad = bad || read_all(&in, name, r, l);
	bad = (!bad && close_input(&in, name)) || bad;
	bad = bad || check_known(r, name) || report(o, r, name);
	osnoise_free(r);
out:
	free(l);
	free(r);
	return bad ? EXIT_ERROR : EXIT_OK;
}

static int live(struct options *o)
{
	struct newfile new;
	FILE *out = stdout;
	int code, err;

	if (o->output && open_output(o, &new, &out))
		return EXIT_ERROR;
	code = (o->alternate ? osnoise_alternate : osnoise_live)(&o->measure,
								 o->format == FORMAT_JSON, out);
	err = o->output ? newfile_close(&new, code != EXIT_ERROR) : 0;
	if (err) {
		complain("writing %s: %s", o->output, newfile_error(err));
		code = EXIT_ERROR;
	}
	return code;
}

int cmd_osnoise(int argc, char **argv)
{
	struct options o = {0};
	int operands, code;

	measure_init(&o.measure);
	o.measure.must_trace = true;
	code = opt_parse(&osnoise_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	if (operands > 1 || (operands && !o.input)) {
		complain(operands > 1
				 ? "--input compares with one RECORDING at a time"
				 : "a RECORDING is compared with --input FILE: see culprit help "
				   "osnoise");
		return EXIT_ERROR;
	}
	if (o.alternate && o.measure.duration_ns == UINT64_MAX) {
		complain("each turn of --alternate lasts as long as -d says: give -d a time");
		return EXIT_ERROR;
	}
	if (o.memory && !o.input) {
		complain("--memory bounds what --input holds: give --input FILE, or leave it out");
		return EXIT_ERROR;
	}
	o.recording = argv[1];
	if (o.input) {
		guard_reader(o.memory, o.output);
		return from_file(&o);
	}
	return live(&o);
}
