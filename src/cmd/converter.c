/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/converter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/reap.h"
#include "base/say.h"
#include "cmd/program.h"

static void close_both(const int pipe[2])
{
	close(pipe[0]);
	close(pipe[1]);
}

static int spawn(struct converter *c, FILE *png, const int in[2], const int said[2])
{
	/* twice as many dots, for today's screens */
	static const char *const argv[] = {"rsvg-convert", "--zoom=2", "--format=png", NULL};
	const int files[3] = {in[0], fileno(png), said[1]};

	c->pid = program_start(argv, files, 0);
	if (c->pid == -ENOENT)
		return complain("PNG needs rsvg-convert: apt-get install librsvg2-bin, or write an "
				".svg");
	return c->pid < 0 ? complain("rsvg-convert does not start: %s; an .svg needs no other "
				     "program",
				     strerror(-c->pid))
			  : 0;
}

int converter_start(struct converter *c, FILE *png)
{
	int in[2], said[2];

	if (pipe2(in, O_CLOEXEC))
		return complain("cannot make a pipe: %s", strerror(errno));
	if (pipe2(said, O_CLOEXEC)) {
		close_both(in);
		return complain("cannot make a pipe: %s", strerror(errno));
	}
	if (spawn(c, png, in, said)) {
		close_both(in);
		close_both(said);
		return -1;
	}
	signal(SIGPIPE, SIG_IGN); /* the program may end before it has read all */
	close(in[0]);
	close(said[1]);
	c->said = said[0];
	c->svg = fdopen(in[1], "w");
	if (c->svg)
		return 0;
	close(in[1]);
	converter_end(c, "", true);
	return complain("out of memory");
}

int converter_end(struct converter *c, const char *path, bool give_up)
{
	bool whole = !c->svg || (!fflush(c->svg) && !ferror(c->svg));
	char why[200] = "", line[4 * sizeof(why) + 1];
	int status = -1;
	ssize_t n;

	if (c->svg)
		fclose(c->svg);
	n = read(c->said, why, sizeof(why) - 1); /* until it ends, or complains */
	reap(c->pid, &status);
	close(c->said);
	if (give_up || (whole && !status))
		return give_up ? -1 : 0;
	why[n > 0 ? n : 0] = '\0';
	why[strcspn(why, "\n")] = '\0';
	return complain("rsvg-convert could not write %s%s%s; an .svg or .html needs no other "
			"program",
			path, why[0] ? ": " : "", escape_text(why, SIZE_MAX, line, sizeof(line)));
}
