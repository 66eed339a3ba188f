/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output of poke: the configuration, and one JSON line a poke. */
#include "poke.h"

static void print_string(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else
			printf((unsigned char)*s < ' ' ? "\\u%04x" : "%c", *s);
	putchar('"');
}

void log_config(const char *what, const struct poke_conf *conf, const struct poke *pokes, size_t nr,
		uint64_t start)
{
	printf("{\"poke\":\"%s\"", what);
	for (int skipped = 0; skipped < 2; skipped++) {
		const char *comma = "";

		printf(skipped ? "],\"skipped\":[" : ",\"classes\":[");
		for (size_t i = 0; i < nr; i++) {
			if ((pokes[i].why[0] != 0) != skipped)
				continue;
			printf("%s\"%s\"", comma, pokes[i].class->name);
			comma = ",";
		}
	}
	printf("],\"why\":{");
	for (size_t i = 0, some = 0; i < nr; i++) {
		if (!pokes[i].why[0])
			continue;
		printf("%s\"%s\":", some++ ? "," : "", pokes[i].class->name);
		print_string(pokes[i].why);
	}
	printf("},\"cpu\":%d,\"control_cpu\":%d,\"count\":%ld,\"length_ns\":%llu,\"gap_ns\":[%llu,%"
	       "llu],\"period_ns\":%llu,\"seed\":%llu,\"pid\":%d,\"start_ns\":%llu}\n",
	       conf->cpu, conf->control_cpu, conf->count, (unsigned long long)conf->length_ns,
	       (unsigned long long)conf->gap_lo_ns, (unsigned long long)conf->gap_hi_ns,
	       (unsigned long long)conf->period_ns, (unsigned long long)conf->seed, poke_pid,
	       (unsigned long long)start);
	fflush(stdout);
}

void log_event(const struct poke_event *ev, long n)
{
	const struct poke *p = ev->poke;

	printf("{\"class\":\"%s\",\"n\":%ld,\"cpu\":%d,\"due_ns\":%llu,\"start_ns\":%llu,\"end_"
	       "ns\":%llu,\"pid\":%d",
	       p->class->name, n, p->conf->cpu, (unsigned long long)ev->due_ns,
	       (unsigned long long)ev->start_ns, (unsigned long long)ev->end_ns, poke_pid);
	if (ev->ran_ns)
		printf(",\"tid\":%d,\"comm\":\"%s\",\"ran_ns\":%llu", p->tid, p->comm,
		       (unsigned long long)ev->ran_ns);
	if (!p->class->arm)
		printf(",\"sender_tid\":%d,\"sender_cpu\":%d", poke_pid, p->conf->control_cpu);
	if (p->class->function)
		printf(",\"function\":\"%s\"", p->class->function);
	if (p->name[0]) {
		printf(",\"name\":");
		print_string(p->name);
	}
	for (int i = 0; i < POKE_EXTRAS && ev->extra[i].key; i++)
		printf(",\"%s\":%llu", ev->extra[i].key, (unsigned long long)ev->extra[i].value);
	puts("}");
}

void log_end(const struct poke *pokes, size_t nr, size_t done, bool whole)
{
	static const char *const names[] = {"switches", "preempted"};

	printf("{\"done\":%s,\"pokes\":%zu", whole ? "true" : "false", done);
	for (int of = 0; of < 2; of++) {
		const char *comma = "";

		printf(",\"%s\":{", names[of]);
		for (size_t i = 0; i < nr; i++) {
			const struct poke *p = &pokes[i];

			if (!p->switches)
				continue;
			printf("%s\"%s\":%llu", comma, p->class->name,
			       (unsigned long long)(of ? p->preempted : p->switches));
			comma = ",";
		}
		putchar('}');
	}
	puts("}");
}
