/* SPDX-License-Identifier: GPL-2.0-or-later */
/* poke: makes known noise on one CPU and says what it did and when, so that a tracer's answer can
 * be held against it.
 *
 *   poke fifo -c 1 -n 3 -l 200us
 *   {"poke":"fifo","classes":["fifo"],"skipped":[],"cpu":1,"control_cpu":0,"count":3,...}
 *   {"class":"fifo","n":0,"cpu":1,"start_ns":81349,"end_ns":281350,"pid":7,"tid":8,...}
 *   {"done":true,"pokes":3,"switches":{"fifo":4},"preempted":{"fifo":0}}
 *
 * The main thread stays on the control CPU, sleeps until each due time and drives the poke of a
 * class; threads on the target run only for their poke. Nothing is written before the last poke,
 * and all memory is locked, so the log holds all that poke did to the target between its first and
 * last due time. Setup and exit do disturb the target.
 *
 * Exit: 0 done, 1 bad arguments, 3 this machine cannot make that noise, 128+N ended by signal N
 * (after undoing its changes).
 */
#include "poke.h"
#include "poke_main.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_COUNT 100000
/* Time from the end of set-up to the first due time, in which effects of the set-up (RCU callbacks,
 * migrations) die down. */
#define LEAD_NS 100000000ULL

volatile sig_atomic_t poke_stop;
pid_t poke_pid;

static const struct poke_class *find_class(const char *name, size_t len)
{
	for (size_t i = 0; i < poke_nr_classes; i++)
		if (strlen(poke_classes[i].name) == len && !memcmp(poke_classes[i].name, name, len))
			return &poke_classes[i];
	die(1, "no class '%.*s': `poke list` shows them", (int)len, name);
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static void on_signal(int sig)
{
	poke_stop = sig;
}

/* Picks and takes the control CPU, locks memory, blocks signals that only a class may receive. */
static void settle(struct poke_conf *conf)
{
	struct sigaction sa = {.sa_handler = on_signal};
	struct sched_param prio = {.sched_priority = 1};
	char online[256] = "";
	cpu_set_t set;
	sigset_t blocked;

	if (!read_line("/sys/devices/system/cpu/online", online, sizeof(online)) &&
	    !cpu_in_list(conf->cpu, online))
		die(1, "-c %d: that CPU is not online (online: %s)", conf->cpu, online);
	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; conf->control_cpu < 0 && cpu < CPU_SETSIZE; cpu++)
		if (cpu != conf->cpu && CPU_ISSET(cpu, &set))
			conf->control_cpu = cpu;
	if (conf->control_cpu < 0)
		die(3, "no CPU but %d may be used, and the target cannot be controlled from itself",
		    conf->cpu);
	CPU_ZERO(&set);
	CPU_SET(conf->control_cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die(1, "-H %d: cannot run on that CPU: %s", conf->control_cpu, strerror(errno));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die(3, "cannot lock memory, and page faults would be noise of their own: %s",
		    strerror(errno));
	/* Only for punctuality; where it is refused, pokes come late and their times show it. */
	sched_setscheduler(0, SCHED_FIFO, &prio);

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigaddset(&blocked, SIGRTMIN);
	sigaddset(&blocked, SIGRTMIN + 1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
}

static void *must_alloc(size_t nr, size_t size)
{
	void *mem = calloc(nr, size);

	if (!mem)
		die(3, "out of memory");
	return mem;
}

/* Fixes all due times, with the classes' turns shuffled, and gives each class its own. */
static void schedule(struct poke_event *events, size_t nr_events, struct poke *pokes, size_t nr,
		     struct poke_conf *conf, uint64_t start)
{
	uint64_t state = conf->seed, due = start;
	size_t at = 0;

	for (size_t i = 0; i < nr; i++)
		for (long k = 0; !pokes[i].why[0] && k < conf->count; k++)
			events[at++].poke = &pokes[i];
	for (size_t i = nr_events; i > 1; i--) {
		size_t j = random_next(&state) % i;
		struct poke *swap = events[i - 1].poke;

		events[i - 1].poke = events[j].poke;
		events[j].poke = swap;
	}
	for (size_t i = 0; i < nr_events; i++) {
		struct poke *p = events[i].poke;

		events[i].due_ns = due;
		p->mine[p->nr++] = &events[i];
		due += length_of(p) - conf->length_ns; /* a storm may last its own length more */
		due += conf->gap_lo_ns +
		       random_next(&state) % (conf->gap_hi_ns - conf->gap_lo_ns + 1);
	}
}

static int run(const char *what, struct poke *pokes, size_t nr, struct poke_conf *conf, bool skip)
{
	size_t nr_events = 0, armed = 0, done = 0;
	struct poke_event *events = must_alloc(nr * (size_t)conf->count, sizeof(*events));
	const struct poke *failed = NULL;
	uint64_t start;

	for (size_t i = 0; i < nr && !poke_stop && !failed; i++) {
		if (!pokes[i].class->prepare(&pokes[i])) {
			nr_events += (size_t)conf->count;
			armed += pokes[i].class->arm ? (size_t)conf->count : 0;
		} else if (!skip) {
			failed = &pokes[i];
		}
	}
	/* 20 us is more than arming one timer takes. */
	start = now_ns() + LEAD_NS + 20000 * armed;
	if (!failed)
		schedule(events, nr_events, pokes, nr, conf, start);
	for (size_t i = 0; i < nr && !poke_stop && !failed; i++)
		if (!pokes[i].why[0] && pokes[i].class->arm && pokes[i].class->arm(&pokes[i]))
			failed = &pokes[i];
	if (!poke_stop && !failed)
		log_config(what, conf, pokes, nr, start);
	for (; done < nr_events && !failed; done++) {
		struct poke *p = events[done].poke;

		if (sleep_until(events[done].due_ns))
			break;
		if (p->class->poke(p, &events[done])) {
			failed = p;
			break;
		}
	}
	for (size_t i = 0; i < nr; i++)
		pokes[i].class->finish(&pokes[i]);
	for (size_t i = 0; i < done; i++)
		log_event(&events[i], (long)i);
	if (failed && !poke_stop)
		die(3, "%s: %s", failed->class->name,
		    failed->why[0] ? failed->why : strerror(errno));
	log_end(pokes, nr, done, !poke_stop);
	free(events);
	return poke_stop ? 128 + poke_stop : 0;
}

static int list(struct poke *pokes, size_t nr, bool check)
{
	for (size_t i = 0; i < nr; i++) {
		struct poke *p = &pokes[i];

		if (!check) {
			printf("%-13s %s\n", p->class->name, p->class->makes);
			continue;
		}
		if (p->class->prepare(p))
			printf("%-13s no: %s\n", p->class->name, p->why);
		else
			printf("%-13s ok%s%s\n", p->class->name, p->name[0] ? ": " : "", p->name);
		fflush(stdout);
		p->class->finish(p);
	}
	return 0;
}

static const char usage[] =
	"usage: poke CLASS -c CPU [-n COUNT] [-l LENGTH] [-g GAP|LO-HI] [-p PERIOD] [-P PRIO] [-H "
	"CPU] [--seed S]\n"
	"       poke mix -c CPU [-n COUNT of each class] [--classes a,b,c [--able]] [the same "
	"options]: "
	"all but fifo-switch, or these; --able: of these, those that this machine can make\n"
	"       poke list [--check -c CPU]\n"
	"Makes known noise on CPU, controlled from another CPU, and prints what it did as JSON "
	"lines.\n"
	"  -c CPU      the target\n"
	"  -n COUNT    how many pokes (10)\n"
	"  -l LENGTH   how long one runs, where that makes sense (100us); storms no less than "
	"`poke list` says\n"
	"  -g GAP      from one start to the next (20ms), or a random LO-HI such as 5ms-15ms\n"
	"  -p PERIOD   between the samples of the classes perf and irqwork (LENGTH/4, at least "
	"10us)\n"
	"  -P PRIO     of the SCHED_FIFO threads (50)\n"
	"  -H CPU      controls from this CPU (the lowest allowed one that is not the target)\n"
	"  --seed S    of all that is random (1)\n"
	"Times take a unit: 100us, 5ms, 1s.\n";

struct args {
	const char *what, *gap, *classes;
	bool check, listing, mix, able;
	struct poke_conf conf;
};

static void parse_options(int argc, char **argv, struct args *args)
{
	static const struct option longs[] = {
		{"seed", required_argument, NULL, 's'}, {"classes", required_argument, NULL, 'C'},
		{"able", no_argument, NULL, 'a'},       {"check", no_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},       {0}};
	struct poke_conf *conf = &args->conf;
	int opt;

	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "c:n:l:g:p:P:H:h", longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			conf->cpu = (int)parse_long("-c", optarg, 0, CPU_SETSIZE - 1);
			break;
		case 'n':
			conf->count = parse_long("-n", optarg, 1, MAX_COUNT);
			break;
		case 'l':
			conf->length_ns = parse_ns("-l", optarg, NULL);
			break;
		case 'g':
			args->gap = optarg;
			break;
		case 'p':
			conf->period_ns = parse_ns("-p", optarg, NULL);
			break;
		case 'P':
			conf->priority = (int)parse_long("-P", optarg, 1, 99);
			break;
		case 'H':
			conf->control_cpu = (int)parse_long("-H", optarg, 0, CPU_SETSIZE - 1);
			break;
		case 's':
			conf->seed = (uint64_t)parse_long("--seed", optarg, 0, INT32_MAX);
			break;
		case 'C':
			args->classes = optarg;
			break;
		case 'a':
			args->able = true;
			break;
		case 'k':
			args->check = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			die(1,
			    "option '%s' is unknown or lacks its value: `poke -h` shows the "
			    "options",
			    argv[optind - 1]);
		}
	}
	if (argc - optind != 1)
		die(1, "give one class, mix or list: `poke -h` shows how");
	args->what = argv[optind];
	args->mix = !strcmp(args->what, "mix");
	args->listing = !strcmp(args->what, "list");
}

static void check_args(struct args *args)
{
	struct poke_conf *conf = &args->conf;
	const char *rest;

	if (args->classes && !args->mix)
		die(1, "--classes goes with mix");
	if (args->able && !args->classes)
		die(1, "--able goes with --classes");
	if (args->check && !args->listing)
		die(1, "--check goes with list");
	if (conf->cpu < 0 && (args->check || !args->listing))
		die(1, "-c CPU is needed: the target");
	if (conf->cpu == conf->control_cpu && conf->cpu >= 0)
		die(1, "-H %d: the target cannot be controlled from itself", conf->cpu);
	conf->gap_lo_ns = conf->gap_hi_ns = parse_ns("-g", args->gap, &rest);
	if (*rest)
		conf->gap_hi_ns = parse_ns("-g", rest + 1, NULL);
	if (conf->gap_hi_ns < conf->gap_lo_ns)
		die(1, "-g %s: the second time is less than the first", args->gap);
	if (conf->length_ns >= conf->gap_lo_ns)
		die(1, "a poke of %lluns does not fit into a gap of %lluns",
		    (unsigned long long)conf->length_ns, (unsigned long long)conf->gap_lo_ns);
	if (!conf->period_ns)
		conf->period_ns = conf->length_ns / 4 > 10000 ? conf->length_ns / 4 : 10000;
}

/* All classes, or the named ones. */
static size_t choose(struct poke *pokes, const struct args *args)
{
	const char *names = args->mix ? args->classes : args->listing ? NULL : args->what, *end;
	size_t nr = 0;

	for (size_t i = 0; !names && i < poke_nr_classes; i++)
		if (!args->mix || !poke_classes[i].apart)
			pokes[nr++].class = &poke_classes[i];
	for (const char *at = names; at; at = *end ? end + 1 : NULL) {
		const struct poke_class *class;

		end = at + strcspn(at, ",");
		class = find_class(at, (size_t)(end - at));
		for (size_t i = 0; i < nr; i++)
			if (pokes[i].class == class)
				die(1, "--classes %s: the same class twice", names);
		if (*end && !args->mix)
			die(1, "one class at a time: several go with mix --classes");
		pokes[nr++].class = class;
	}
	for (size_t i = 0; i < nr; i++) {
		pokes[i].conf = &args->conf;
		pokes[i].fd = -1;
		snprintf(pokes[i].comm, sizeof(pokes[i].comm), "poke-%.10s", pokes[i].class->name);
		pokes[i].mine = must_alloc((size_t)args->conf.count, sizeof(pokes[i].mine[0]));
	}
	return nr;
}

int poke_main(int argc, char **argv)
{
	struct args args = {
		.gap = "20ms",
		.conf = {.cpu = -1,
			 .control_cpu = -1,
			 .count = 10,
			 .length_ns = 100000,
			 .priority = 50,
			 .seed = 1},
	};
	struct poke *pokes = must_alloc(poke_nr_classes, sizeof(*pokes));
	size_t nr;
	int rc;

	parse_options(argc, argv, &args);
	check_args(&args);
	nr = choose(pokes, &args);
	poke_pid = getpid();
	if (args.check || !args.listing)
		settle(&args.conf);
	rc = args.listing ? list(pokes, nr, args.check)
			  : run(args.what, pokes, nr, &args.conf,
				args.mix && (!args.classes || args.able));
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the log: %s", strerror(errno));
	for (size_t i = 0; i < nr; i++)
		free(pokes[i].mine);
	free(pokes);
	return rc;
}
