/* What the tool says to its user outside a report: one line on stderr, "culprit: ..." in front. */
#ifndef CULPRIT_SAY_H
#define CULPRIT_SAY_H

/* One line on stderr: what, why, and what to do. The text needs no newline; the whole of it is
 * escaped (escape.h), so a hostile name in an argument cannot drive the terminal: pass names as
 * they are. Cut with "..." at 4 KiB. Clears a progress line first. Keeps errno. */
__attribute__((format(printf, 1, 2))) void say(const char *fmt, ...);

/* The same, then returns -1, so that a frame can write: return complain("cpu %d is offline ...",
 * cpu); */
__attribute__((format(printf, 1, 2))) int complain(const char *fmt, ...);

/* A progress line on stderr, rewritten in place; an empty string takes it away. Only for a
 * terminal: the caller asks isatty() first. Escaped, and cut to the terminal's width. */
void say_progress(const char *line);

#endif
