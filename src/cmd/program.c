/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/program.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/reap.h"
#include "cmd/guard.h"

/* Makes these files 0, 1 and 2, whatever numbers they have. */
static int take_files(const int files[3])
{
	int high[3];

	for (int i = 0; i < 3; i++)
		if ((high[i] = fcntl(files[i], F_DUPFD_CLOEXEC, 3)) < 0)
			return -1;
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], i) < 0)
			return -1;
	return 0;
}

pid_t program_start(const char *const argv[], const int files[3], uint64_t keeps)
{
	int said[2], err = 0;
	ssize_t n;
	pid_t pid;

	if (pipe2(said, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid) {
		reset_signals();
		if (!take_files(files)) {
			guard_program(keeps);
			execvp(argv[0], (char *const *)argv);
		}
		err = errno;
		n = write(said[1], &err, sizeof(err));
		_exit(n != sizeof(err));
	}
	err = pid < 0 ? errno : 0;
	close(said[1]);
	do /* until it is another program, or says why not */
		n = read(said[0], &err, sizeof(err));
	while (n < 0 && errno == EINTR);
	close(said[0]);
	if (err && pid > 0)
		reap(pid, NULL);
	return err ? -err : pid;
}
