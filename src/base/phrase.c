/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/phrase.h"

#include <ctype.h>
#include <string.h>

#include "base/begins.h"

/* Begins of commands. Words that are also said in prose (perf, dmesg) need what follows them. */
static const char *const commands[] = {
	"auditctl ",  "chrt ",          "cpupower ",     "culprit ",    "echo ",     "ethtool ",
	"numactl ",   "perf kvm stat ", "perf record -", "perf stat -", "prlimit ",  "ps -",
	"rmmod ",     "swapoff ",       "sysctl -",      "sysctl k",    "sysctl vm", "sysctl n",
	"systemctl ", "taskset ",       "umount /",      "tuned-adm ",  "modprobe ", "ip link ",
	"pgrep -",    "mount ",         "irqbalance --", "ulimit -",
};

/* Words behind which prose goes on. */
static const char *const ends[] = {" says ", " lists ", " if ", " only before ", " prints "};

static const char *const boots[] = {"boot with ", "boot the guest with "};

static bool ends_with(const char *text, const char *at, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(at - text) >= len && !memcmp(at - len, with, len);
}

/* "for i in", not "for 10 s". */
static bool is_loop(const char *at)
{
	return begins(at, "for ") && begins(at + 4 + strcspn(at + 4, " "), " in ");
}

static bool is_command(const char *at)
{
	if (is_loop(at))
		return true;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (begins(at, commands[i]))
			return true;
	return false;
}

static bool is_start(const char *text, const char *at)
{
	static const char *const before[] = {": ", "; ", ", ", "(", " or ", "; or ", " then "};

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		if (ends_with(text, at, before[i]))
			return true;
	return at == text;
}

/* A comma or a semicolon with a blank, a closing bracket that it has not opened, or a word of prose
 * ends a command; a loop of the shell goes on to the end. */
static size_t command_length(const char *at)
{
	const char *end = at, *closing;
	int open = 0;

	if (is_loop(at))
		return strlen(at);
	for (; *end; end++) {
		closing = *end == '\'' || *end == '"' ? strchr(end + 1, *end) : NULL;
		end = closing ? closing : end;
		open += *end == '(';
		open -= *end == ')';
		if (open < 0 || begins(end, ", "))
			break;
		if (begins(end, "; ") && !is_command(end + 2))
			break;
		for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
			if (begins(end, ends[i]))
				return end - at;
	}
	return end - at;
}

/* Without the punctuation behind it. */
static size_t word_length(const char *at)
{
	size_t len = strcspn(at, " ");

	while (len && strchr(",;:.)", at[len - 1]))
		len--;
	return len;
}

/* "nohz_full=3", "/proc/softirqs"; "rcu_nocb_poll" where the machine is told to boot with it. */
static bool is_setting(const char *text, const char *at, size_t len)
{
	size_t name = 0;

	while (name < len && (isalnum((unsigned char)at[name]) || strchr("_.-", at[name])))
		name++;
	if (name && name < len && at[name] == '=')
		return true;
	if (*at == '/' && len > 2 && isalpha((unsigned char)at[1]))
		return true;
	for (size_t i = 0; i < sizeof(boots) / sizeof(boots[0]); i++)
		if (ends_with(text, at, boots[i]))
			return len > 0 && name == len;
	return false;
}

/* Length of what is to be typed from here on; 0: this is prose. */
static size_t code_at(const char *text, const char *at)
{
	size_t len, all = 0;

	if (is_start(text, at) && is_command(at))
		return command_length(at);
	if (at != text && at[-1] != ' ' && at[-1] != '(')
		return 0;
	while ((len = word_length(at + all)) && is_setting(text, at + all, len)) {
		all += len;
		if (at[all] != ' ')
			break;
		all++; /* another parameter may follow */
	}
	return all && at[all - 1] == ' ' ? all - 1 : all;
}

bool phrase_next(const char *advice, struct phrase *part)
{
	const char *from = part->text ? part->text + part->len : advice;

	*part = (struct phrase){from, code_at(advice, from), true, false};
	part->command = is_start(advice, from) && is_command(from);
	if (part->len)
		return true;
	part->code = false;
	while (from[part->len] && !code_at(advice, from + part->len))
		part->len++;
	return part->len;
}

static bool is_behind_joint(const char *text, const char *at)
{
	return ends_with(text, at, ": ") || ends_with(text, at, "; ");
}

/* True when a command may go on here that began before: "echo 0 > a; echo 0 > b". */
static bool goes_on(const char *text, const char *at)
{
	if (!ends_with(text, at, "; "))
		return false;
	for (at--; at > text && !is_behind_joint(text, at); at--)
		;
	return is_command(at);
}

size_t phrase_command(const char *sentence)
{
	size_t all = strlen(sentence);

	for (const char *at = sentence + all; at > sentence; at--)
		if (is_behind_joint(sentence, at) && is_command(at) &&
		    command_length(at) == strlen(at) && !strstr(at, ": "))
			return goes_on(sentence, at) ? all : (size_t)(at - sentence);
	return all;
}
