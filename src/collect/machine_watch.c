/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/machine_watch.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/say.h"
#include "base/units.h"

#define LOOK_NS      NSEC_PER_SEC
#define OTHERS_LOOKS 16 /* looks after which others of the name are looked for */

static bool has(const int32_t *tid, int n, int32_t one)
{
	for (int i = 0; i < n; i++)
		if (tid[i] == one)
			return true;
	return false;
}

/* Says once what is doubtful about the machine's name: any process can claim it. */
static void tell_doubts(struct machine *m)
{
	const struct vcpus_search *s = &m->search;

	if (!m->pid && s->late && !m->late) {
		m->late = true;
		say("--vcpus %s: it is not found while the command line of process %d, which has "
		    "a virtual CPU, cannot be read, if it is that one, or another that comes: "
		    "give the number of its process",
		    m->name, s->late);
	}
	if (m->pid && s->claims > 1 && !m->several) {
		m->several = true;
		say("--vcpus %s: %u processes have that name, and process %d is watched: give the "
		    "number of the one that you mean",
		    m->name, s->claims, m->pid);
	}
	if (s->stranger && !m->stranger) {
		m->stranger = true;
		say("--vcpus %s: process %d has that name and is not watched, because it is "
		    "another user's than the one that was found first: give its number if you "
		    "mean it",
		    m->name, s->stranger);
	}
}

static void find_machine(struct machine *m)
{
	if (m->by_name && (!m->pid || !(++m->looks % OTHERS_LOOKS))) {
		int32_t found;

		if (m->pid) /* one that was found early may have given up its user */
			vcpus_owned(&m->search, m->pid);
		found = vcpus_machine(&m->search, m->name);
		m->pid = m->pid ? m->pid : found;
		tell_doubts(m);
	}
	if (m->pid && m->pidfd < 0)
		m->pidfd = (int)syscall(SYS_pidfd_open, m->pid, 0); /* since 5.3 */
}

static void leave_machine(struct machine *m)
{
	if (m->pidfd >= 0)
		close(m->pidfd);
	m->pidfd = -1;
	m->pid = 0;
}

/* True when its process is no more, whatever can be read of it. */
static bool is_gone(const struct machine *m)
{
	struct pollfd fd = {.fd = m->pidfd, .events = POLLIN};

	return m->pidfd >= 0 ? poll(&fd, 1, 0) > 0 : kill(m->pid, 0) && errno == ESRCH;
}

/* Reads the threads that it has now; below 0: it is there, and they are not known. */
static int read_machine(struct machine *m, int32_t *tid, int max)
{
	int n, err;

	find_machine(m);
	if (!m->pid)
		return 0;
	n = vcpus_threads(m->pid, tid, max);
	err = errno;
	if (is_gone(m)) {
		leave_machine(m);
		return 0;
	}
	if (n < 0 && !m->reported)
		say("the threads of process %d (--vcpus) cannot be read any more: %s; those that "
		    "it had are still watched, new ones are not",
		    m->pid, strerror(err));
	m->reported |= n < 0;
	return n;
}

/* CPUs are plugged and unplugged, and a machine that is known by name comes again. */
void machine_look(struct machine *m, int map, uint64_t now)
{
	int32_t tid[sizeof(m->tid) / sizeof(m->tid[0])];
	int n;

	if (m->looked_ns && now - m->looked_ns < LOOK_NS)
		return;
	m->looked_ns = now;
	n = read_machine(m, tid, sizeof(tid) / sizeof(tid[0]));
	if (n < 0)
		return;
	for (int i = 0; i < m->ntids; i++)
		if (!has(tid, n, m->tid[i]))
			bpf_map_delete_elem(map, &m->tid[i]);
	for (int i = 0; i < n; i++)
		if (!has(m->tid, m->ntids, tid[i]))
			bpf_map_update_elem(map, &tid[i], &m->pid, BPF_ANY);
	m->ntids = n;
	memcpy(m->tid, tid, n * sizeof(tid[0]));
	if (m->by_name && !n)
		leave_machine(m);
}

struct machine machine_of(const char *text)
{
	return (struct machine){.name = vcpus_name(text),
				.pid = vcpus_pid(text),
				.pidfd = -1,
				.by_name = !vcpus_pid(text),
				.search.proc = "/proc"};
}

void machine_end(struct machine *m)
{
	leave_machine(m);
	vcpus_search_end(&m->search);
}
