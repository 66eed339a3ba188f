/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fills in placeholders. A process chooses its own comm, and a driver the names of its interrupts:
 * bytes that mean something to a shell never get into the text. */
#include "audit/placeholders.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_harmless(const char *name)
{
	if (!name || !*name || *name == '-')
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("._:@+-/", *name))
			return false;
	return true;
}

/* The function without the compiler's suffix and the module. */
static const char *plain_function(const char *function, char *buf, size_t len)
{
	if (!function)
		return NULL;
	snprintf(buf, len, "%.*s", (int)strcspn(function, ". "), function);
	return buf;
}

/* The CPUs that the placeholder names; NULL: none, or they are not known. */
static const struct cpus *cpus_of(const struct placeholders *f, const char *field)
{
	const struct cpus *set = !strcmp(field, "isolate") ? &f->isolate
				 : !strcmp(field, "nohz")  ? &f->nohz
							   : NULL;

	if (set && !cpus_empty(set))
		return set;
	if (set || !strcmp(field, "cpus"))
		return f->cpus;
	return !strcmp(field, "housekeeping") ? f->housekeeping : NULL;
}

/* False for one that is longer than it may be. */
static bool format_list(const struct cpus *set, size_t most, char *buf, size_t len)
{
	size_t n = strlen(cpus_format(set, buf, most && most < len ? most + 1 : len));

	return n < 3 || strcmp(buf + n - 3, "...");
}

/* Writes the value of a placeholder to buf; false: it has none. */
static bool value_of(const struct placeholders *f, const char *field, char *buf, size_t len)
{
	const struct cpus *set = cpus_of(f, field);
	const char *name = NULL;
	char plain[128];

	if (!strcmp(field, "cpu") && f->cpu >= 0)
		snprintf(buf, len, "%ld", f->cpu);
	else if (set && !cpus_empty(set))
		return format_list(set, f->list_most, buf, len);
	else if (!strcmp(field, "hkmask") && f->housekeeping && !cpus_empty(f->housekeeping))
		cpus_format_mask(f->housekeeping, buf, len);
	else if (!strcmp(field, "irq") && f->irq >= 0)
		snprintf(buf, len, "%ld", f->irq);
	else if (!strcmp(field, "pid") && f->pid)
		snprintf(buf, len, "%" PRIu32, f->pid);
	else if (!strcmp(field, "comm"))
		name = f->comm;
	else if (!strcmp(field, "interface") && f->interface &&
		 strncmp(f->interface, "virtio", 6) && strncmp(f->interface, "nvme", 4))
		name = f->interface; /* those name a device that has an interface, or a disk */
	else if (!strcmp(field, "function"))
		name = plain_function(f->function, plain, sizeof(plain));
	else
		return false;
	if (!strcmp(field, "comm") || !strcmp(field, "interface") || !strcmp(field, "function")) {
		if (!is_harmless(name))
			return false;
		snprintf(buf, len, "%s", name);
	}
	return true;
}

static const struct {
	const char *name, *is; /* is: NULL where a value that is not known is the row before's */
} known[] = {
	{"cpu", "the CPU's number"},
	{"cpus", "the list of CPUs that should be quiet"},
	{"isolate", NULL},
	{"nohz", NULL},
	{"housekeeping", "the list of the other CPUs"},
	{"hkmask", "the other CPUs as a hex mask"},
	{"irq", "the interrupt's number"},
	{"pid", "the thread's number, as the report shows it in brackets"},
	{"comm", "the thread's name"},
	{"interface", "the network interface"},
	{"function", "the function's name"},
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

/* True for "{cpus}" at the beginning of text: its index in known, and its length in *used. */
static bool placeholder(const char *text, size_t *index, size_t *used)
{
	for (size_t i = 0; *text == '{' && i < KNOWN; i++) {
		size_t len = strlen(known[i].name);

		if (!strncmp(text + 1, known[i].name, len) && text[1 + len] == '}') {
			*index = i;
			*used = len + 2;
			return true;
		}
	}
	return false;
}

/* The row that says what stands for a missing value. */
static size_t word_of(size_t index)
{
	while (!known[index].is)
		index--;
	return index;
}

/* Writes {pid} without a value as PID. */
static void format_word(size_t index, char *buf)
{
	index = word_of(index);
	for (size_t i = 0; i <= strlen(known[index].name); i++)
		buf[i] = toupper((unsigned char)known[index].name[i]);
}

unsigned placeholders_missing(const char *text, const struct placeholders *f)
{
	char value[CPUS_LIST];
	unsigned missing = 0;
	size_t i, used;

	for (; *text; text++)
		if (placeholder(text, &i, &used) &&
		    !value_of(f, known[i].name, value, sizeof(value)))
			missing |= 1u << word_of(i);
	return missing;
}

char *placeholders_legend(unsigned missing, char *buf, size_t len)
{
	char word[32];
	size_t used = 0;

	buf[0] = 0;
	for (size_t i = 0; i < KNOWN; i++) {
		format_word(i, word);
		if (missing & 1u << i && used < len)
			used += snprintf(buf + used, len - used, "%s%s: %s", used ? "; " : "", word,
					 known[i].is);
	}
	return buf;
}

char *placeholders_fill(const char *text, const struct placeholders *f)
{
	char value[CPUS_LIST], *out = NULL;
	size_t size, used, i;
	FILE *s = open_memstream(&out, &size);

	if (!s)
		return NULL;
	for (; *text; text += used) {
		used = 1;
		if (!placeholder(text, &i, &used)) {
			fputc(*text, s);
			continue;
		}
		if (!value_of(f, known[i].name, value, sizeof(value)))
			format_word(i, value);
		fputs(value, s);
	}
	if (fclose(s)) {
		free(out);
		return NULL;
	}
	return out;
}

char *device_of(const char *name, char *buf, size_t len)
{
	/* Endings that drivers add to the device's name for the interrupts of its queues. */
	static const char *const ends[] = {"-TxRx",   "-rxtx", "-RxTx",   "-txrx", "-tx",
					   "-rx",     "-Tx",   "-Rx",     "-fp-",  "-input",
					   "-output", "-req",  "-config", "-Q"};
	char *end = NULL, *at;

	snprintf(buf, len, "%s", name);
	if (!strncmp(buf, "napi/", 5)) {
		memmove(buf, buf + 5, strlen(buf + 5) + 1);
		end = strrchr(buf, '-');
	} else if (!strncmp(buf, "nvme", 4)) {
		end = strchr(buf, 'q');
	} else {
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if ((at = strstr(buf, ends[i])) && (!end || at < end))
				end = at;
	}
	if (!end) {
		buf[0] = 0;
		return buf;
	}
	*end = 0;
	at = strrchr(buf, '-'); /* "i40e-eth0-TxRx-0": the driver's name comes first */
	if (at)
		memmove(buf, at + 1, strlen(at + 1) + 1);
	return buf;
}
