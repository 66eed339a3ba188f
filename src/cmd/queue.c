/* SPDX-License-Identifier: GPL-2.0-or-later */
/* culprit queue: messages through a ring from a producer to busy-waiting consumers, and who made
 * one late. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/say.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "cmd/newfile.h"
#include "cmd/queue_places.h"
#include "cmd/spinners.h"
#include "cmd/workload_command.h"
#include "collect/host.h"
#include "collect/queue.h"

#define BUILT_IN (1 << 20) /* bytes of payload without a given file */

struct options {
	struct workload_command command;
	struct queue_options queue;
	long cpu[QUEUE_ROLES];
	const char *payload, *journal, *places;
	uint64_t spinners;
	bool long_table;
	int pin;
};

#define FIELD(name) offsetof(struct options, name)

static int set_cpu(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	if (row->arg && !strcmp(text, "none")) {
		*(long *)field = PLACE_NONE;
		return 0;
	}
	return parse_integer(text, 0, CPUS_MAX - 1, field, why, whylen) ? -EINVAL : 0;
}

static int set_slots(const char *text, void *field, const struct opt *row, char *why, size_t whylen)
{
	long n;

	(void)row;
	if (parse_integer(text, 2, 1 << 24, &n, why, whylen))
		return -EINVAL;
	if (n & (n - 1)) {
		snprintf(why, whylen, "'%s' is not a power of two: a ring has 2 to 16777216 slots",
			 text);
		return -EINVAL;
	}
	*(uint64_t *)field = n;
	return 0;
}

static const struct measure_range length_range = {8, QUEUE_LENGTH_MAX},
				  spinners_range = {0, SPINNERS_MAX};
static const struct measure_range warmup_range = {100, 1000000000};

static const struct opt_choice journal_forms[] = {
	{"raw", "the message alone"},
	{"text", "a line: its number, its stamp (CLOCK_MONOTONIC, ns), its transit (ns)"},
	{"binary", "these three as 64-bit words, and the message"},
	{0},
};

enum pin { PIN_EACH, PIN_NONE };
static const struct opt_choice pins[] = {
	{"each", "each process to a CPU of its own"},
	{"none", "none: the scheduler moves them"},
	{0},
};

static const struct opt queue_opts[] = {
	{'n', "messages", "N", "end after so many messages", FIELD(queue.messages),
	 measure_set_count, .preset = "200000"},
	{'w', "warmup", "N", "how many messages to send first that are not counted",
	 FIELD(queue.warmup), measure_set_count, &warmup_range, .preset = "10000"},
	{'l', "length", "BYTES", "the length of a message", FIELD(queue.length), measure_set_count,
	 &length_range, .preset = "64"},
	{'b', "slots", "N", "the number of slots of the ring, a power of two", FIELD(queue.slots),
	 set_slots, .preset = "65536"},
	{'g', "gap", "TIME", "how long the producer is busy between two messages",
	 FIELD(queue.gap_ns), opt_set_time, .preset = "10us"},
	{'c', "cpus", "CPUS",
	 "the CPUs for those of the three processes that have no option of their own",
	 FIELD(command.measure.cpus), opt_set_cpus,
	 .preset = "isolated CPUs; if there are none, any"},
	{0, "pin", "WHICH",
	 "which processes are pinned to a CPU. With none they may run on all CPUs of -c, or all: "
	 "the report has a part for each process in place of a CPU, with what the queue measured, "
	 "where it ran, how often it was moved, and who took its time",
	 FIELD(pin), opt_set_choice, .choices = OPT_CHOICES(pins), .preset = "each"},
	{0, "producer", "CPU", "the CPU on which it runs", FIELD(cpu[0]), set_cpu,
	 .preset = "the first free one of -c"},
	{0, "accumulator", "CPU", "the CPU on which it runs, or none", FIELD(cpu[1]), set_cpu,
	 "none", .preset = "the next free one"},
	{0, "journaller", "CPU", "the CPU on which it runs, or none", FIELD(cpu[2]), set_cpu,
	 "none", .preset = "the next free one, or none"},
	{0, "places", "FILE",
	 "a file of lines like affinity.producer=2 that say where each runs, and "
	 "journaller.enabled=false; the options above go before it",
	 FIELD(places), opt_set_string},
	{0, "payload", "FILE", "the file whose bytes the messages carry", FIELD(payload),
	 opt_set_string, .preset = "built in"},
	{0, "input", "FILE", .alias = "payload"},
	{0, "journal", "FILE", "the file to which the journaller appends", FIELD(journal),
	 opt_set_string, .preset = "a file that is removed afterwards", .writes = true,
	 .appends = true},
	{0, "journal-form", "FORM", "what the journaller writes of each message", FIELD(queue.form),
	 opt_set_choice, .choices = OPT_CHOICES(journal_forms), .preset = "raw", .needs = "journal",
	 .why = "says what is in the journal"},
	{0, "spinners", "N",
	 "how many processes to start that disturb: each spins 3 ms and sleeps 30 ms in turn; they "
	 "are spread over all online CPUs",
	 FIELD(spinners), measure_set_count, &spinners_range},
	{0, "long", NULL, NULL, FIELD(long_table)}, /* old spelling of --percentiles long */
	MEASURE_DURATION(FIELD(command.measure.duration_ns), "until all messages are sent"),
	{.include = workload_command_opts, .offset = FIELD(command)},
	{.include = limits_stop_on_opts,
	 .offset = FIELD(command.limits),
	 .arg = &(const unsigned){OPERATION_TRIGGERS}},
	{0},
};

static const struct opt_example queue_examples[] = {
	{"sudo culprit queue --producer 2 --accumulator 3", "from CPU 2 to CPU 3"},
	{"sudo culprit queue --pin none",
	 "a baseline: how often the scheduler moves each process, and who runs in its place"},
	{"sudo culprit queue -n 1000000 --percentiles long -r queue.rec",
	 "a million messages with their whole tail, kept for culprit diff"},
	{0},
};

const struct opt_command queue_usage = {
	.name = "queue",
	.summary = "what a message through a ring costs, and who made one late",
	.about = "A producer sends messages through a ring in shared memory to two consumers that "
		 "do not know each other: the accumulator adds them up, the journaller appends "
		 "them to a file. Each is a process that spins, pinned to a CPU unless --pin says "
		 "none. Transit is the "
		 "time from a message's stamp until a consumer sees it. Messages that were late "
		 "are explained on the CPU that was late; for each CPU the report says who else "
		 "ran there.\n\n" EXIT_STATUS("2 --max-hiccup or --stop-on was crossed, "),
	.opts = queue_opts,
	.examples = queue_examples,
	.environment =
		(const struct opt_choice[]){
			ENV_NO_COLOR,
			ENV_COLUMNS,
			{"TMPDIR", "the directory of the journal without --journal; default: /tmp"},
			{0}},
};

/* ---- places ---- */

/* The CPU of a role: the given one, or else the first free one. */
static int choose_cpu(struct options *o, int role, const unsigned *from, int n)
{
	struct cpus *taken = &o->command.measure.cpus;

	for (int i = 0; o->cpu[role] == PLACE_NOT_GIVEN && i < n; i++) {
		bool free = !cpus_has(taken, from[i]);

		for (int k = 0; k < QUEUE_ROLES; k++)
			free &= o->cpu[k] != (long)from[i];
		if (free)
			o->cpu[role] = from[i];
	}
	o->queue.cpu[role] = QUEUE_NOBODY;
	if (o->cpu[role] == PLACE_NONE ||
	    (o->cpu[role] == PLACE_NOT_GIVEN && role == QUEUE_JOURNALLER))
		return 0;
	if (o->cpu[role] == PLACE_NOT_GIVEN)
		return complain("no CPU is left for the %s: give it one with --%s%s",
				queue_role_names[role], queue_role_names[role],
				role == QUEUE_ACCUMULATOR ? ", or none" : "");
	if (cpus_has(taken, o->cpu[role]))
		return complain("CPU %ld cannot have two roles: give --%s another CPU",
				o->cpu[role], queue_role_names[role]);
	o->queue.cpu[role] = o->cpu[role];
	cpus_add(taken, o->cpu[role]);
	return 0;
}

/* Numbers those that take part, where none is pinned. */
static int number_roles(struct options *o)
{
	struct workload_command *c = &o->command;

	if (c->measure.no_trace)
		return complain("--pin none follows the processes by tracing: leave out either it "
				"or --no-trace");
	if (c->measure.user_stacks)
		return complain("--user-stacks: none are taken on the CPUs where the processes "
				"may run: leave it out with --pin none");
	for (int role = 0; role < QUEUE_ROLES; role++) {
		if (o->cpu[role] >= 0)
			return complain("--pin none pins no process: leave out the CPU of the %s",
					queue_role_names[role]);
		o->queue.cpu[role] = o->cpu[role] == PLACE_NONE ? QUEUE_NOBODY : c->roaming++;
	}
	c->measure.must_trace = true;
	if (cpus_empty(&c->measure.cpus))
		cpus_allowed(&c->measure.cpus);
	return 0;
}

static int pin_roles(struct options *o)
{
	static struct host host; /* large */
	unsigned from[2 * QUEUE_ROLES];
	int n;

	host_read(&host);
	n = measure_choose(&o->command.measure, &host, from, 2, 2 * QUEUE_ROLES);
	if (n < 0)
		return -1;
	cpus_clear(&o->command.measure.cpus);
	for (int role = 0; role < QUEUE_ROLES; role++)
		if (choose_cpu(o, role, from, n))
			return -1;
	return 0;
}

static int choose_cpus(struct options *o)
{
	if (o->pin == PIN_NONE ? number_roles(o) : pin_roles(o))
		return -1;
	if (o->queue.cpu[QUEUE_ACCUMULATOR] == QUEUE_NOBODY &&
	    o->queue.cpu[QUEUE_JOURNALLER] == QUEUE_NOBODY)
		return complain(
			"nobody would take the messages: leave out --accumulator none, or give "
			"--journaller a CPU");
	return 0;
}

/* "producer 812 on cpu 2", of a role's process; "": nobody has this role. */
static void name_process(const struct options *o, const struct view *v, int role, char name[64])
{
	const struct workload_command *c = &o->command;
	unsigned cpu = o->queue.cpu[role];

	name[0] = '\0';
	if (c->roaming && cpu != QUEUE_NOBODY)
		snprintf(name, 64, "%s %d", queue_role_names[role], c->pid[cpu]);
	for (uint32_t i = 0; i < v->ncpus && !c->roaming; i++)
		if (v->cpu[i].number == cpu)
			snprintf(name, 64, "%s %u on cpu %u", queue_role_names[role],
				 v->cpu[i].sampler_pid, cpu);
}

/* For those who attach other tools to them. */
static void tell_processes(struct workload_command *c, const struct view *v)
{
	const struct options *o = (const struct options *)((char *)c - FIELD(command));
	char line[256] = "", name[64];
	size_t len = 0;

	for (int role = 0; role < QUEUE_ROLES; role++) {
		name_process(o, v, role, name);
		if (name[0])
			len += snprintf(line + len, sizeof(line) - len, "%s%s", len ? ", " : "",
					name);
	}
	if (len && !c->measure.quiet)
		say("processes: %s", line);
}

/* ---- what the processes share ---- */

/* Allocates memory to be inherited, all of it mapped. */
static void *get_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* Limits the ring to a quarter of the machine's memory, because all of it will be mapped and
 * locked. */
static int map_ring(struct queue_options *q)
{
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		 bytes = queue_ring_bytes(q);

	q->ring = bytes <= all / 4 ? get_memory(bytes) : NULL;
	return q->ring ? 0
		       : complain("not enough memory for a ring of %llu MB: give a smaller -b or "
				  "-l",
				  (unsigned long long)(bytes >> 20));
}

static int map_payload(struct options *o)
{
	struct queue_options *q = &o->queue;
	struct stat st;
	int fd;

	if (!o->payload) {
		char *at = get_memory(BUILT_IN);

		for (uint32_t i = 0, x = 1; at && i < BUILT_IN; i++, x = x * 1664525 + 1013904223)
			at[i] = x >> 24;
		q->payload = at;
		q->payload_len = BUILT_IN;
		return at ? 0 : complain("out of memory");
	}
	fd = open(o->payload, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		complain("cannot read %s: %s", o->payload, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		complain("%s is no regular file: give one with --payload", o->payload);
	} else if ((uint64_t)st.st_size < q->length) {
		complain("%s is too small for -l %llu: give a larger file, or a smaller -l",
			 o->payload, (unsigned long long)q->length);
	} else {
		q->payload_len = st.st_size;
		q->payload = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
		if (q->payload == MAP_FAILED) {
			q->payload = NULL;
			complain("cannot map %s: %s", o->payload, strerror(errno));
		}
	}
	if (fd >= 0)
		close(fd);
	return q->payload ? 0 : -1;
}

static int open_journal(struct options *o)
{
	const char *place = getenv("TMPDIR");
	char path[4096];
	int fd;

	o->queue.journal = -1;
	if (o->queue.cpu[QUEUE_JOURNALLER] == QUEUE_NOBODY)
		return o->journal ? complain("--journal needs a journaller: give it a CPU with "
					     "--journaller")
				  : 0;
	if (o->journal) {
		fd = newfile_append(o->journal);
	} else {
		snprintf(path, sizeof(path), "%s/culprit-journal-XXXXXX",
			 place && place[0] ? place : "/tmp");
		fd = mkostemp(path, O_APPEND | O_CLOEXEC);
		if (fd >= 0)
			unlink(path);
		else
			fd = -errno;
	}
	if (fd < 0)
		return complain(
			"cannot write the journal %s: %s; choose another one with --journal",
			o->journal ? o->journal : path, newfile_error(fd));
	o->queue.journal = fd;
	return 0;
}

int cmd_queue(int argc, char **argv)
{
	struct options o = {.cpu = {PLACE_NOT_GIVEN, PLACE_NOT_GIVEN, PLACE_NOT_GIVEN},
			    .queue = {.messages = 200000,
				      .warmup = 10000,
				      .gap_ns = 10 * NSEC_PER_USEC,
				      .length = 64,
				      .slots = 65536,
				      .journal = -1}};
	struct spinners *spinners;
	int operands, code;

	measure_init(&o.command.measure);
	o.command.measure.duration_ns = UINT64_MAX;
	o.command.measure.may_share = true;
	code = opt_parse(&queue_usage, argc, argv, &o, &operands);
	if (code)
		return code > 0 ? EXIT_OK : EXIT_ERROR;
	o.command.begun = tell_processes;
	if (o.long_table)
		o.command.output.series = SERIES_LONG;
	if ((o.places && queue_places(o.places, o.cpu)) || choose_cpus(&o) || map_payload(&o))
		return EXIT_ERROR;
	if (live_check_record(o.command.record, o.command.force) || map_ring(&o.queue) ||
	    open_journal(&o))
		return EXIT_ERROR;
	spinners = spinners_start(o.spinners);
	if (!spinners)
		return EXIT_ERROR;
	code = workload_command_run(&o.command, &queue_workload, &o.queue);
	if (!spinners_end(spinners) && code != EXIT_ERROR)
		code = EXIT_INCOMPLETE;
	return code;
}
