/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPUs and the kernel's list syntax for them: comma-separated parts, each a number, a
 * range, or a range with a stride ("0-15:2/4": the first 2 of every 4 CPUs). The reader is stricter
 * than the kernel's, which accepts empty parts and a stride of 0: the list decides which CPUs are
 * measured, so a typing error must not pass. */
#include "base/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#define WORD_BITS 64
#define WORDS     (CPUS_MAX / WORD_BITS)

/* As often as a list may name each CPU, about: who repeats them makes a short text much work. */
#define TIMES 16

struct part {
	unsigned first, last, used, group;
};

/* Reads the number at *text, and moves *text past it. Stops counting at CPUS_MAX, so that no length
 * of digits overflows. */
static int number_read(const char **text, unsigned *number)
{
	unsigned n = 0;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	for (; isdigit((unsigned char)**text); ++*text)
		n = n >= CPUS_MAX ? CPUS_MAX : n * 10 + (unsigned)(**text - '0');
	*number = n;
	return n < CPUS_MAX ? 0 : -ERANGE;
}

/* Reads one part at *text, and moves *text past what it understood. */
static int part_read(const char **text, struct part *part)
{
	int err = number_read(text, &part->first);

	part->last = part->first;
	part->used = part->group = 1;
	if (err || **text != '-')
		return err;
	++*text;
	err = number_read(text, &part->last);
	if (err || **text != ':')
		return err;
	++*text;
	err = number_read(text, &part->used);
	if (err || **text != '/')
		return err ? err : -EINVAL;
	++*text;
	return number_read(text, &part->group);
}

/* Adds all from first to last. Returns how many words that were. */
static unsigned add_range(struct cpus *set, unsigned first, unsigned last)
{
	unsigned from = first / WORD_BITS, to = last / WORD_BITS;

	for (unsigned i = from; i <= to; i++) {
		uint64_t word = UINT64_MAX;

		if (i == from)
			word &= UINT64_MAX << first % WORD_BITS;
		if (i == to)
			word &= UINT64_MAX >> (WORD_BITS - 1 - last % WORD_BITS);
		set->bits[i] |= word;
	}
	return to - from + 1;
}

/* Adds the part [text, end) to *set, and takes its work from *left. */
static int part_parse(const char *text, const char *end, struct cpus *set, unsigned *left,
		      char *why, size_t whylen)
{
	const char *at = text;
	struct part part;
	const char *reason = NULL;
	int err = part_read(&at, &part);

	if (err == -ERANGE)
		reason = "goes too high: CPU numbers end at 8191";
	else if (err || at != end)
		reason = "is not a CPU number or range: write a list like 0-3,8";
	else if (part.first > part.last)
		reason = "runs backwards: write the lower number first";
	else if (!part.used || part.used > part.group)
		reason = "takes more or less than there is: USED/GROUP needs 1 <= USED <= GROUP";
	else if (!*left)
		reason = "names CPUs that were named many times: name each once";
	if (reason) {
		snprintf(why, whylen, "'%.*s' %s", end - text < 40 ? (int)(end - text) : 40, text,
			 reason);
		return err ? err : -EINVAL;
	}
	if (part.used == part.group)
		part.used = part.group = CPUS_MAX;
	for (unsigned from = part.first; from <= part.last; from += part.group) {
		unsigned last = from + part.used - 1;
		unsigned work = add_range(set, from, last < part.last ? last : part.last);

		*left -= work < *left ? work : *left;
	}
	return 0;
}

int cpus_parse(const char *text, struct cpus *out, char *why, size_t whylen)
{
	const char *end = text + strlen(text);
	unsigned left = TIMES * CPUS_MAX;
	struct cpus set;

	cpus_clear(&set);
	while (isspace((unsigned char)*text))
		text++;
	while (end > text && isspace((unsigned char)end[-1]))
		end--;
	while (text < end) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		int err = part_parse(text, comma ? comma : end, &set, &left, why, whylen);

		if (!err && comma && comma + 1 == end)
			err = part_parse(end, end, &set, &left, why, whylen);
		if (err)
			return err;
		text = comma ? comma + 1 : end;
	}
	*out = set;
	return 0;
}

/* Writes the number's digits, without a NUL. Returns how many: lists of thousands of numbers are
 * written for thousands of rows. */
static size_t put_digits(char *buf, unsigned number)
{
	char digits[12];
	size_t n = sizeof(digits);

	do
		digits[--n] = '0' + number % 10;
	while (number /= 10);
	memcpy(buf, digits + n, sizeof(digits) - n);
	return sizeof(digits) - n;
}

char *cpus_format(const struct cpus *set, char *buf, size_t len)
{
	size_t pos = 0,
	       whole = 0; /* whole: the last place between parts that leaves room for the dots */

	if (!len)
		return buf;
	buf[0] = '\0';
	for (int first = cpus_next(set, 0), last; first >= 0;
	     first = cpus_next(set, (unsigned)last + 1)) {
		char part[32];
		size_t n = 0;

		for (last = first; cpus_has(set, (unsigned)last + 1); last++)
			;
		if (pos)
			part[n++] = ',';
		n += put_digits(part + n, (unsigned)first);
		if (last > first) {
			part[n++] = '-';
			n += put_digits(part + n, (unsigned)last);
		}
		if (pos + n >= len) {
			snprintf(buf + whole, len - whole, whole ? ",..." : "...");
			return buf;
		}
		memcpy(buf + pos, part, n);
		pos += n;
		buf[pos] = '\0';
		if (pos + sizeof(",...") <= len)
			whole = pos;
	}
	return buf;
}

void cpus_clear(struct cpus *set)
{
	memset(set, 0, sizeof(*set));
}

void cpus_add(struct cpus *set, unsigned cpu)
{
	if (cpu < CPUS_MAX)
		set->bits[cpu / WORD_BITS] |= UINT64_C(1) << cpu % WORD_BITS;
}

void cpus_del(struct cpus *set, unsigned cpu)
{
	if (cpu < CPUS_MAX)
		set->bits[cpu / WORD_BITS] &= ~(UINT64_C(1) << cpu % WORD_BITS);
}

bool cpus_has(const struct cpus *set, unsigned cpu)
{
	return cpu < CPUS_MAX && set->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1;
}

unsigned cpus_count(const struct cpus *set)
{
	unsigned count = 0;

	for (unsigned i = 0; i < WORDS; i++)
		count += (unsigned)__builtin_popcountll(set->bits[i]);
	return count;
}

bool cpus_empty(const struct cpus *set)
{
	return cpus_next(set, 0) < 0;
}

void cpus_and(struct cpus *set, const struct cpus *other)
{
	for (unsigned i = 0; i < WORDS; i++)
		set->bits[i] &= other->bits[i];
}

void cpus_or(struct cpus *set, const struct cpus *other)
{
	for (unsigned i = 0; i < WORDS; i++)
		set->bits[i] |= other->bits[i];
}

void cpus_sub(struct cpus *set, const struct cpus *other)
{
	for (unsigned i = 0; i < WORDS; i++)
		set->bits[i] &= ~other->bits[i];
}

bool cpus_cover(const struct cpus *all, const struct cpus *part)
{
	struct cpus rest = *part;

	cpus_sub(&rest, all);
	return cpus_empty(&rest);
}

int cpus_next(const struct cpus *set, unsigned from)
{
	uint64_t mask = UINT64_MAX << from % WORD_BITS;

	for (unsigned i = from / WORD_BITS; i < WORDS; i++, mask = UINT64_MAX)
		if (set->bits[i] & mask)
			return (int)(i * WORD_BITS) + __builtin_ctzll(set->bits[i] & mask);
	return -1;
}

unsigned cpus_end(const struct cpus *set)
{
	for (unsigned i = WORDS; i-- > 0;)
		if (set->bits[i])
			return (i + 1) * WORD_BITS - (unsigned)__builtin_clzll(set->bits[i]);
	return 0;
}

bool cpus_parse_mask(const char *text, struct cpus *set)
{
	size_t len = strcspn(text, "\n"), digits = 0;

	cpus_clear(set);
	for (size_t i = len; i-- > 0;) {
		char c = text[i];
		int digit = isdigit((unsigned char)c) ? c - '0'
			    : c >= 'a' && c <= 'f'    ? c - 'a' + 10
						      : -1;

		if (c == ',')
			continue;
		if (digit < 0)
			return false;
		for (int bit = 0; bit < 4; bit++)
			if (digit >> bit & 1)
				cpus_add(set, 4 * digits + bit);
		digits++;
	}
	return digits > 0;
}

char *cpus_format_mask(const struct cpus *set, char *buf, size_t len)
{
	int last = 0;
	size_t n = 0;

	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		last = cpu;
	buf[0] = 0;
	for (int word = last / 32; word >= 0 && n + 12 < len; word--) {
		uint32_t bits = set->bits[word / 2] >> (word % 2 * 32);

		n += snprintf(buf + n, len - n, word == last / 32 ? "%x" : "%08x", bits);
		n += snprintf(buf + n, len - n, "%s", word ? "," : "");
	}
	return buf;
}

int cpus_run_on(const struct cpus *set)
{
	/* not of the heap: a process that may ask the kernel for no more memory calls this */
	cpu_set_t mask[CPUS_MAX / CPU_SETSIZE];

	CPU_ZERO_S(sizeof(mask), mask);
	for (int cpu = cpus_next(set, 0); cpu >= 0; cpu = cpus_next(set, cpu + 1))
		CPU_SET_S(cpu, sizeof(mask), mask);
	return sched_setaffinity(0, sizeof(mask), mask) ? -errno : 0;
}

int cpus_run_on_one(unsigned cpu)
{
	struct cpus set;

	cpus_clear(&set);
	cpus_add(&set, cpu);
	return cpus_run_on(&set);
}

void cpus_allowed(struct cpus *set)
{
	cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);
	size_t size = CPU_ALLOC_SIZE(CPUS_MAX);

	cpus_clear(set);
	if (mask && !sched_getaffinity(0, size, mask))
		for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
			if (CPU_ISSET_S(cpu, size, mask))
				cpus_add(set, cpu);
	CPU_FREE(mask);
}
