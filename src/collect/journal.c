/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/journal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/line_of_file.h"
#include "base/lock.h"
#include "base/say.h"

#define HEAD    "culprit try 1"
#define FILE_OF "%s/try.journal"
#define NOT_YET "unturned"
#define TRIES   20 /* every 100 ms */
#define MOST    (64u << 20)

/* ---- the directory ---- */

static int check_owner(int fd, const char *path, mode_t others)
{
	struct stat s;

	if (fstat(fd, &s))
		return complain("%s: %s", path, strerror(errno));
	if (s.st_uid != geteuid() || s.st_mode & others)
		return complain("%s belongs to, or can be changed by, somebody else: what it says "
				"is not trusted; look at it, and remove it",
				path);
	return 0;
}

/* Opens the directory, makes it if need be, and takes its lock. A descriptor, -1 with the reason
 * said, or -2: somebody else has it, or has removed the directory meanwhile. */
static int try_lock(const char *dir)
{
	int fd;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return complain("cannot make %s: %s: what was changed could not be kept there, so "
				"nothing is changed",
				dir, strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -2 : complain("cannot open %s: %s", dir, strerror(errno));
	if (check_owner(fd, dir, S_IWGRP | S_IWOTH)) {
		close(fd);
		return -1;
	}
	if (lock_named(fd, dir))
		return fd;
	close(fd);
	return -2;
}

int journal_lock(const char *dir, bool wait)
{
	struct timespec nap = {0, 100000000};
	int fd = try_lock(dir);

	for (int i = 0; fd == -2 && wait && i < TRIES; i++) {
		nanosleep(&nap, NULL);
		fd = try_lock(dir);
	}
	return fd == -2 ? complain("another culprit try is at work: wait for its end") : fd;
}

void journal_unlock(const char *dir, int lock)
{
	rmdir(dir); /* if nothing is in it */
	close(lock);
}

static bool is_boot(const char *text)
{
	return *text && strlen(text) < BOOT_ID && !text[strspn(text, "0123456789abcdef-")];
}

int journal_boot(char boot[BOOT_ID])
{
	static const char path[] = "/proc/sys/kernel/random/boot_id";

	if (line_of_file(path, boot, BOOT_ID) && is_boot(boot))
		return 0;
	return complain("%s does not say which boot this is: what was changed since could not be "
			"told from what ended with a reboot",
			path);
}

/* ---- writing ---- */

static void put_text(FILE *f, const char *text)
{
	fputs(" =", f);
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("._/:,+@-", *text))
			fputc(*text, f);
		else
			fprintf(f, "%%%02x", (unsigned char)*text);
}

static void put_knob(FILE *f, const struct knob *k)
{
	fprintf(f, "knob %s %d", knob_kind_name(k->kind), k->kept);
	if (k->kind == KNOB_THREAD) {
		fprintf(f, " %u %llu", k->tid, k->born);
		put_text(f, k->comm);
	} else {
		put_text(f, k->path);
	}
	put_text(f, k->old);
	put_text(f, k->new);
	if (k->now)
		put_text(f, k->now);
	else
		fputs(k->turned ? " -" : " " NOT_YET, f);
	fputc('\n', f);
}

static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -1;
	err = fsync(fd);
	close(fd);
	return err;
}

int journal_write(const char *dir, const char *boot, const struct knobs *k)
{
	char path[PATH_MAX], temp[PATH_MAX];
	FILE *f = NULL;
	int fd, bad;

	snprintf(path, sizeof(path), FILE_OF, dir);
	snprintf(temp, sizeof(temp), FILE_OF ".new", dir);
	/* left by a killed try: the directory is locked */
	if (unlink(temp) && errno != ENOENT)
		return complain("cannot write %s: %s", temp, strerror(errno));
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0)
		f = fdopen(fd, "w");
	if (!f) {
		complain("cannot write %s: %s", temp, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	fprintf(f, HEAD "\nboot %s\n", boot);
	for (uint32_t i = 0; i < k->count; i++)
		put_knob(f, &k->row[i]);
	fputs("end\n", f);
	bad = fflush(f) || ferror(f) || fsync(fd);
	bad |= fclose(f) != 0;
	if (!bad)
		bad = rename(temp, path) || sync_dir(dir);
	if (!bad)
		return 0;
	complain("cannot write %s: %s", path, strerror(errno));
	unlink(temp); /* a full disk has room for a name */
	return -1;
}

int journal_remove(const char *dir)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), FILE_OF ".new", dir);
	unlink(path); /* left by a killed try */
	snprintf(path, sizeof(path), FILE_OF, dir);
	if (unlink(path) && errno != ENOENT)
		return complain("cannot remove %s: %s", path, strerror(errno));
	sync_dir(dir);
	return 0;
}

int journal_keep(const char *dir, char *kept, size_t len)
{
	char path[PATH_MAX];
	int n = snprintf(kept, len, FILE_OF ".damaged", dir);

	snprintf(path, sizeof(path), FILE_OF, dir);
	if (n >= 0 && (size_t)n < len && (!unlink(kept) || errno == ENOENT) &&
	    (!link(path, kept) || !rename(path, kept)) && !sync_dir(dir))
		return 0;
	return complain("cannot keep %s, which is damaged, as %s: %s", path, kept, strerror(errno));
}

char *journal_recording(const char *dir, char *buf, size_t len)
{
	snprintf(buf, len, "%s/try.rec", dir);
	return buf;
}

void journal_scrap(const char *dir)
{
	char path[PATH_MAX];

	unlink(journal_recording(dir, path, sizeof(path)));
}

/* ---- reading ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Turns "=a%20b" into "a b", in place. NULL: it is no such text, or longer than any value. */
static char *take_text(char *word)
{
	char *to = word;

	if (!word || *word != '=')
		return NULL;
	for (const char *at = word + 1; *at; at++) {
		int high, low;

		if (*at != '%') {
			*to++ = *at;
			continue;
		}
		high = hex(at[1]);
		low = high < 0 ? -1 : hex(at[2]);
		if (low < 0 || !(high | low))
			return NULL;
		*to++ = (char)(high << 4 | low);
		at += 2;
	}
	*to = 0;
	return to - word < KNOB_VALUE ? word : NULL;
}

static bool take_number(char **rest, unsigned long long *n)
{
	char *word = strtok_r(NULL, " ", rest), *end;

	if (!word || !isdigit((unsigned char)*word))
		return false;
	errno = 0;
	*n = strtoull(word, &end, 10);
	return !*end && !errno;
}

/* Only what a try may have written: no file but the kernel's own is ever touched. */
static bool is_kernels(const char *path)
{
	static const char *const trees[] = {"/sys/", "/proc/sys/", "/proc/irq/"};

	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (!strncmp(path, trees[i], strlen(trees[i])))
			return !strstr(path, "/../") && strlen(path) < PATH_MAX;
	return false;
}

static bool take_knob(struct knobs *k, char **rest)
{
	char *kind = strtok_r(NULL, " ", rest), *name, *old, *new, *now;
	unsigned long long kept, tid = 0, born = 0;
	int is = KNOB_KINDS;
	struct knob *row;
	bool known, turned;

	while (kind && --is > KNOB_NONE && strcmp(kind, knob_kind_name(is)))
		;
	if (!kind || is <= KNOB_NONE || is == KNOB_FILES || !take_number(rest, &kept))
		return false;
	if (is == KNOB_THREAD &&
	    (!take_number(rest, &tid) || !take_number(rest, &born) || !tid || tid > INT_MAX))
		return false;
	name = take_text(strtok_r(NULL, " ", rest));
	old = take_text(strtok_r(NULL, " ", rest));
	new = take_text(strtok_r(NULL, " ", rest));
	now = strtok_r(NULL, " ", rest);
	if (!name || !old || !new || !now || strtok_r(NULL, " ", rest) ||
	    (is == KNOB_THREAD ? strlen(name) >= sizeof(row->comm) : !is_kernels(name)))
		return false;
	turned = strcmp(now, NOT_YET);
	known = turned && strcmp(now, "-");
	if (known && !(now = take_text(now)))
		return false;
	row = knobs_add(k, is, is == KNOB_THREAD ? "" : name, old, new);
	if (!row)
		return false;
	row->turned = turned;
	row->kept = kept;
	row->tid = tid;
	row->born = born;
	if (is == KNOB_THREAD)
		strcpy(row->comm, name);
	row->now = known ? strdup(now) : NULL;
	return row->now || !known;
}

/* True when the line is what would be written of the knob. */
static bool is_written(const struct knob *k, const char *line)
{
	char *text = NULL;
	size_t size, len = strlen(line);
	FILE *f = open_memstream(&text, &size);
	bool same;

	if (!f)
		return false;
	put_knob(f, k);
	same = !fclose(f) && size == len + 1 && !memcmp(text, line, len);
	free(text);
	return same;
}

/* Adds the line's knob; false: it is not as a try writes it. */
static bool take_line(struct knobs *k, const char *line)
{
	char *copy = strdup(line), *rest, *word = copy ? strtok_r(copy, " ", &rest) : NULL;
	uint32_t before = k->count;
	bool good = word && !strcmp(word, "knob") && take_knob(k, &rest) &&
		    is_written(&k->row[before], line);

	if (!good && k->count > before)
		knobs_remove(k, before);
	free(copy);
	return good;
}

static bool take_boot(char boot[BOOT_ID], const char *line)
{
	if (strncmp(line, "boot ", 5) || !is_boot(line + 5))
		return false;
	strcpy(boot, line + 5);
	return true;
}

/* Reads lines up to the end, and passes over those that are none of ours; true: there was none. */
static bool take_lines(FILE *f, char boot[BOOT_ID], struct knobs *k)
{
	char *line = NULL;
	size_t size = 0, lines = 0, all = 0;
	ssize_t len;
	bool end = false, damaged = false;

	while (!end && (len = getline(&line, &size, f)) > 0) {
		bool good = line[len - 1] == '\n' && !memchr(line, 0, len);

		all += len;
		line[len - 1] = 0;
		if (all > MOST)
			break;
		if (++lines < 3)
			good = good && (lines == 1 ? !strcmp(line, HEAD) : take_boot(boot, line));
		else if (good && !(end = !strcmp(line, "end")))
			good = take_line(k, line);
		damaged |= !good;
		if (lines < 3 && damaged)
			break;
	}
	free(line);
	return end && !damaged && fgetc(f) == EOF;
}

enum journal_state journal_read(const char *dir, char boot[BOOT_ID], struct knobs *k)
{
	char path[PATH_MAX];
	bool whole;
	FILE *f;
	int fd;

	boot[0] = 0;
	snprintf(path, sizeof(path), FILE_OF, dir);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return JOURNAL_NONE;
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		complain("cannot read %s: %s", path, strerror(errno));
		return JOURNAL_BAD;
	}
	if (check_owner(fd, path, S_IRWXG | S_IRWXO)) {
		fclose(f);
		return JOURNAL_BAD;
	}
	whole = take_lines(f, boot, k);
	fclose(f);
	if (*boot)
		return whole ? JOURNAL_WHOLE : JOURNAL_CUT;
	complain("%s is damaged: it does not say since which boot it holds; look at it, and remove "
		 "it",
		 path);
	return JOURNAL_BAD;
}
