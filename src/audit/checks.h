/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside the audit: what checks are made of. A check is a row of a table: its id, the cause that it
 * guards against, and a function that looks at facts and reports findings. */
#ifndef CULPRIT_CHECKS_H
#define CULPRIT_CHECKS_H

#include "audit/audit.h"
#include "audit/remedy.h"

#define LINE_MAX_TEXT 512

struct check;

struct audit {
	const struct facts *facts;
	struct findings *out;
	const struct check *check;                 /* the running one */
	struct cpus targets, online, housekeeping; /* housekeeping: audit_others() */
	struct cpus possible;                      /* empty: not known */
	struct conditions here;
	char cpus[CPUS_LIST], keep[CPUS_LIST]; /* targets and housekeeping as lists */
	char keep_mask[CPUS_MASK];             /* housekeeping, as the kernel writes it */
	char whose[CPUS_LIST + 8];             /* "cpu 3", "cpus 3-5" */
	bool realtime, x86;                    /* x86: also where it is not known */
	const char *cut; /* files that the running check looked at, and not all are here */
	bool short_of_memory;
};

/* A file that holds one number or one chosen word. */
struct knob_check {
	const char *name;
	enum {
		GOOD_IS,
		GOOD_FROM,
		/* equal to `limit`; `limit` or more; not the word `bad` ("always [never]" or
		 * alone) */
		BAD_WORD
	} test;
	long long limit;
	const char *bad;
	enum finding_level level;
	const char *title, *fine; /* titles of the finding: when bad, and when good */
	const char *set;          /* text to write; NULL: `words` instead */
	const char *words;
	const char *only; /* as in struct finding */
};

struct check {
	const char *id, *cause;
	void (*run)(struct audit *a);
	const struct knob_check *knob; /* used by check_knob */
	bool x86;                      /* about what x86 alone has: not run elsewhere */
};

void check_knob(struct audit *a);

/* Checks a mask in a file that should hold no target: reports `title` and the targets when it does,
 * `fine` when not. */
void check_mask(struct audit *a, const char *name, const char *title, const char *fine);

/* In checks_cgroup.c, for the table in checks_isolation.c. */
void check_partitions(struct audit *a);
void check_quota(struct audit *a);
/* In checks_irqbalance.c, for the table in checks_interrupts.c. */
void check_irqbalance(struct audit *a);
/* In checks_system.c, for the table in checks_hardware.c. */
void check_smt(struct audit *a);

/* Each table ends with a row of zeros. */
extern const struct check checks_isolation[], checks_interrupts[], checks_steering[],
	checks_tasks[], checks_workqueues[], checks_memory[], checks_scheduler[], checks_system[],
	checks_hardware[], checks_power[];

/* ---- findings: each function returns the row, or NULL when out of memory; all below accept NULL
 * ---- */

__attribute__((format(printf, 3, 4))) struct finding *
found(struct audit *a, enum finding_level level, const char *title, ...);
/* NULL, too, where not all was looked at: audit() says so. */
struct finding *found_ok(struct audit *a, const char *title);

/* Shorthands for each level. */
#define fail(a, ...) found(a, FINDING_FAIL, __VA_ARGS__)
#define warn(a, ...) found(a, FINDING_WARN, __VA_ARGS__)
#define info(a, ...) found(a, FINDING_INFO, __VA_ARGS__)

__attribute__((format(printf, 2, 3))) void value(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void good(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void words(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void boot(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void command(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3))) void undo(struct finding *f, const char *fmt, ...);

/* Sets the fix to writing `text` to this file, and the undo to writing back its present text. Uses
 * sysctl for files below proc/sys. */
void write_fix(struct audit *a, struct finding *f, const char *name, const char *text);
/* The same where the file shows what is in force: what was asked for is the text of `asked`. */
void write_fix_asked(struct audit *a, struct finding *f, const char *name, const char *text,
		     const char *asked);

/* Reports that a fact is missing: an absent one counts as fine (the kernel does not have it), any
 * other as not known. Facts that are absent because a file system is not mounted are not known,
 * too. */
void unknown(struct audit *a, const char *what, const char *name);

/* ---- reading facts; false: the fact is absent, unreadable or malformed ---- */

const char *text_of(const struct audit *a, const char *name); /* NULL for such a fact */
/* The same, but also the first FACT_MAX bytes of a longer one: what it says of the first CPU. */
const char *begin_of(const struct audit *a, const char *name);
/* As facts_next; notes in a->cut when it comes to the end and not all are here. */
const struct fact *next_of(struct audit *a, const char *glob, const struct fact *after);
/* False, and noted, when not all files of this glob, or below this directory, are here. */
bool all_kept(struct audit *a, const char *glob);
bool number_of(const struct audit *a, const char *name, long long *n);
bool list_of(const struct audit *a, const char *name,
	     struct cpus *set); /* "0-3,8"; "(null)" is empty */
bool mask_of(const struct audit *a, const char *name, struct cpus *set); /* "00000001,0000ff00" */

/* Adds up the targets' numbers in a line with one number for each possible CPU. */
unsigned long long sum_of_targets(const struct audit *a, const char *line);

/* The value of a kernel parameter, "" when it has none; the last one counts. False: it is not
 * given, and value is "". */
bool parameter(const struct audit *a, const char *name, char *value, size_t len);

/* True where the kernel is known to be of this version or newer. */
bool kernel_from(const struct audit *a, int major, int minor);

bool may_be_x86(const struct audit *a); /* false where the CPU is another architecture's */
bool has_word(const char *text, const char *word); /* between blanks */
bool meets(const struct cpus *a, const struct cpus *b);
struct cpus without(const struct cpus *all, const struct cpus *part);
void first_line(const char *text, char *line, size_t len); /* without blanks at its end */
/* A line of the kernel's log without what stands before the message. time_s: since boot; -1: it has
 * none. */
const char *log_message(const char *line, double *time_s);
bool log_has_boot(const char *text); /* True: it begins with the boot */
bool one_number(const char *name, const char *prefix,
		unsigned *n); /* "proc/irq/36/..." with "proc/irq/" is 36 */
bool kconfig(const struct audit *a, const char *option, char *value,
	     size_t len); /* "y", "250", "n" when not set; false: not known */
bool isolated_now(const struct audit *a,
		  /* isolated by isolcpus= or a cpuset partition; false: not known */
		  struct cpus *set);
struct cpus quiet_now(const struct audit *a); /* isolated, or nohz_full */
/* True when another CPU than the targets is online, isolated or not. */
bool has_others(const struct audit *a);

#define CPUINFO_LINE 8192
/* Flags of the first CPU, between blanks; false: not x86, or not known. In checks_hardware.c. */
bool cpu_flags(const struct audit *a, char *flags, size_t len);

/* Reads a file below sys/devices/system/cpu/cpuN. cpu_text: its first line; NULL, and line is "",
 * when it is missing. */
bool cpu_number(const struct audit *a, unsigned cpu, const char *path, long long *n);
const char *cpu_text(const struct audit *a, unsigned cpu, const char *path, char *line, size_t len);

#define each_target(a, cpu)                                                                        \
	for (int cpu = cpus_next(&(a)->targets, 0); cpu >= 0;                                      \
	     cpu = cpus_next(&(a)->targets, cpu + 1))

/* ---- threads ---- */

struct task {
	unsigned tid, tgid, flags, cpu, policy, priority;
	char state;
	struct cpus allowed;
	const char *comm; /* escaped */
	size_t comm_len;
};

#define TASK_KTHREAD 0x00200000u /* include/linux/sched.h: PF_KTHREAD, PF_NO_SETAFFINITY */
#define TASK_BOUND   0x04000000u

struct task_walk {
	const struct fact *fact;
	const char *at;
	/* The last thread's list, and its CPUs: most have one list. */
	const char *list;
	size_t list_len;
	struct cpus allowed;
};

const struct task *init_task(const struct audit *a, struct task *t); /* pid 1; NULL: not known */
/* True where systemd gives a unit its CPUs: it is pid 1, and the one hierarchy of cgroups has the
 * controller cpuset (systemd.resource-control(5), AllowedCPUs=), as a file of 6.8 and later shows.
 * On cgroup v1 setting them does nothing; before 6.8 it is not known which it is. */
bool systemd_confines(const struct audit *a);
/* The next thread in the facts; begin with zeros. */
bool next_task(const struct audit *a, struct task_walk *w, struct task *t);
bool need_tasks(struct audit *a); /* false: threads are not known, and a finding says so */
bool comm_is(const struct task *t, const char *name);
bool comm_begins(const struct task *t, const char *prefix);

/* A program's thread that may otherwise run on other quiet CPUs alone, those of its own workload:
 * they are in *rest, which is written in any case. */
bool has_own(const struct task *t, const struct cpus *targets, const struct cpus *online,
	     const struct cpus *quiet, struct cpus *rest);

/* True when the process runs as root: anybody may call a process irqbalance, so only root's daemons
 * are believed. Old recordings do not say: they are believed. */
bool runs_as_root(const struct audit *a, const struct task *t);

/* A growing text; begin with the audit alone. When out of memory, which the audit then knows, or
 * longer than facts of honest machines make it, it is empty, and stays so. The caller frees `at`.
 */
struct text {
	struct audit *audit;
	bool too_long;
	char *at; /* NULL: empty */
	size_t len, room;
	struct cpus last; /* the last list of thread_bind(), and where it stands */
	size_t list_at, list_len;
};
__attribute__((format(printf, 2, 3))) void text_add(struct text *t, const char *fmt, ...);

/* Adds a command that writes this text to a file of each of these CPUs (words of a shell). */
void on_each(struct text *to, const char *cpus, const char *text, const char *file);

/* Gives the finding this command and its undo, of which either may be empty, or the word that one
 * is too long; takes both texts. */
void fix_take(struct finding *f, struct text *fix, struct text *back);

/* Adds the fix and the undo of one to those of all, and frees them. */
void join_fixes(struct text *fix, struct text *back, struct finding *one);

/* Appends " 62", or with the one after it on a run of at least four numbers " $(seq 70 133)": words
 * of a shell. Add numbers in ascending order, and end with words_end. */
struct number_words {
	struct text text;
	unsigned first, last;
	bool some;
};
void words_add(struct number_words *w, unsigned number);
void words_end(struct number_words *w);

/* Collects threads for one command that moves them to housekeeping CPUs and one that moves them
 * back, then gives the commands to the finding. Takes both texts. */
void thread_fix(const struct task *t, struct text *list, struct text *back);
void thread_bind(const struct task *t, const struct cpus *to, struct text *commands); /* one more */
void threads_move(struct audit *a, struct finding *f, struct text *list, struct text *back);

/* Checks that no unbound kernel thread of this kind may run on the CPUs. The finding says `what`
 * threads may, "RCU", or `fine`. */
void check_kernel_threads(struct audit *a, bool (*is_meant)(const struct task *t), const char *what,
			  const char *fine);

/* A list of names for a sentence, cut after a few: "kswapd0, ksmd and others". */
struct naming {
	char text[256];
	unsigned count, shown; /* each name is shown once */
};
void name_add(struct naming *n, const char *name, size_t len);
const char *name_list(struct naming *n);

#endif
