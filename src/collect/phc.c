/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/phc.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/ptp_clock.h>
#include <linux/sockios.h>
#include <math.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/line_of_file.h"
#include "base/say.h"
#include "base/units.h"
#include "collect/counter.h"

#define SAMPLES 25 /* PTP_MAX_SAMPLES of the kernel */
#define CALLS   20 /* number of each kind */
/* FD_TO_CLOCKID, Documentation/driver-api/ptp.rst */
#define CLOCK_OF(fd) (~(clockid_t)(fd)*8 | 3)

static int kernel_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

const struct phc_calls phc_kernel = {kernel_ioctl, clock_gettime};

/* ---- finding it ---- */

static int ethtool(int fd, const char *interface, void *command)
{
	struct ifreq request = {.ifr_data = command};

	snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", interface);
	return ioctl(fd, SIOCETHTOOL, &request) ? -errno : 0;
}

/* Number of the interface's /dev/ptpN, or -1 with the reason said. */
static int find_index(const char *interface)
{
	struct ethtool_ts_info info = {.cmd = ETHTOOL_GET_TS_INFO};
	struct ethtool_drvinfo driver = {.cmd = ETHTOOL_GDRVINFO};
	int fd = -1, err;

	if (!if_nametoindex(interface))
		return complain("'%.80s' is not a network interface here: give one that 'ip link' "
				"lists, or a device like /dev/ptp0",
				interface);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return complain("cannot ask for the clock of %s: %s", interface, strerror(errno));
	err = ethtool(fd, interface, &info);
	if (ethtool(fd, interface, &driver))
		snprintf(driver.driver, sizeof(driver.driver), "not known");
	close(fd);
	if (err && err != -EOPNOTSUPP)
		return complain("cannot ask for the clock of %s: %s", interface, strerror(-err));
	if (err || info.phc_index < 0)
		return complain("%s has no PTP hardware clock (driver %.*s)", interface,
				(int)sizeof(driver.driver), driver.driver);
	return info.phc_index;
}

static void read_name(struct phc *phc)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/class/ptp/%s/clock_name", strrchr(phc->path, '/') + 1);
	line_of_file(path, phc->name, sizeof(phc->name));
}

int phc_open(const char *operand, struct phc *phc)
{
	struct stat st;
	int fd, index;

	memset(phc, 0, sizeof(*phc));
	snprintf(phc->operand, sizeof(phc->operand), "%s", operand);
	if (strchr(operand, '/')) {
		if (strlen(operand) >= sizeof(phc->path))
			return complain("'%.80s' is not a PTP hardware clock: give a device like "
					"/dev/ptp0, or a network interface",
					operand);
		snprintf(phc->path, sizeof(phc->path), "%s", operand);
	} else {
		index = find_index(operand);
		if (index < 0)
			return -1;
		snprintf(phc->path, sizeof(phc->path), "/dev/ptp%d", index);
	}
	fd = open(phc->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return complain("cannot open %s: %s%s", phc->path, strerror(errno),
				errno == EACCES || errno == EPERM ? " (run with sudo)" : "");
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode) ||
	    ioctl(fd, PTP_CLOCK_GETCAPS, &(struct ptp_clock_caps){0})) {
		close(fd);
		return complain("%s is not a PTP hardware clock: give a device like /dev/ptp0, or "
				"a network interface",
				phc->path);
	}
	read_name(phc);
	return fd;
}

/* ---- measuring ---- */

struct bout {
	int fd;
	const struct phc_calls *calls;
	double ns_per_tick;
	uint64_t call_ns[CALLS];
	uint32_t ncalls;
	struct phc_result *result;
};

/* Limits the answer of a driver, which may be anything. */
static int64_t limited(__int128 ns)
{
	const int64_t most = INT64_MAX / 4;

	return ns > most ? most : ns < -most ? -most : (int64_t)ns;
}

static int64_t ns_of(int64_t seconds, int64_t ns)
{
	return limited((__int128)seconds * (int64_t)NSEC_PER_SEC + ns);
}

static int64_t ptp_ns(const struct ptp_clock_time *t)
{
	return ns_of(t->sec, t->nsec);
}

static int64_t spec_ns(const struct timespec *t)
{
	return ns_of(t->tv_sec, t->tv_nsec);
}

/* Adds a sample: the hardware's clock showed `device` between two readings of CLOCK_REALTIME. */
static void add_sample(struct bout *b, int64_t before, int64_t device, int64_t after)
{
	struct phc_result *r = b->result;
	int64_t raw = limited((__int128)device - before - (after - before) / 2);
	uint64_t delay = after > before ? after - before : 0;

	if (!r->samples || delay < r->delay_ns) {
		r->delay_ns = delay;
		r->raw_ns = raw;
	}
	if (!r->samples || raw < r->raw_least_ns)
		r->raw_least_ns = raw;
	if (!r->samples || raw > r->raw_most_ns)
		r->raw_most_ns = raw;
	r->samples++;
}

static void add_call(struct bout *b, uint64_t ticks)
{
	b->call_ns[b->ncalls++] = ticks * b->ns_per_tick + 0.5;
}

static int request(struct bout *b, unsigned long what, void *arg)
{
	uint64_t before = counter_fenced();
	int err = b->calls->ioctl(b->fd, what, arg) ? -errno : 0;
	uint64_t after = counter_fenced();

	if (!err)
		add_call(b, after - before);
	return err;
}

static int by_gettime(struct bout *b)
{
	struct timespec before, device, after;
	uint64_t from, to;

	for (int i = 0; i < CALLS; i++) {
		if (b->calls->gettime(CLOCK_REALTIME, &before))
			return -errno;
		from = counter_fenced();
		if (b->calls->gettime(CLOCK_OF(b->fd), &device))
			return -errno;
		to = counter_fenced();
		if (b->calls->gettime(CLOCK_REALTIME, &after))
			return -errno;
		add_call(b, to - from);
		add_sample(b, spec_ns(&before), spec_ns(&device), spec_ns(&after));
	}
	return 0;
}

/* Takes some readings, and keeps the one with the shortest delay. */
struct phc_start phc_begin(int fd, const struct phc_calls *calls)
{
	struct phc_start best = {.known = false};
	struct timespec begin, before, device, after, end;

	for (int i = 0; i < CALLS; i++) {
		uint64_t delay, bound;

		if (calls->gettime(CLOCK_BOOTTIME, &begin) ||
		    calls->gettime(CLOCK_REALTIME, &before) ||
		    calls->gettime(CLOCK_OF(fd), &device) ||
		    calls->gettime(CLOCK_REALTIME, &after) || calls->gettime(CLOCK_BOOTTIME, &end))
			return (struct phc_start){.known = false};
		delay = spec_ns(&after) - spec_ns(&before);
		if (best.known && delay >= best.delay_ns)
			continue;
		bound = (spec_ns(&end) - spec_ns(&begin)) / 2 + 1;
		best = (struct phc_start){.known = true,
					  .system_ns = spec_ns(&before) + delay / 2,
					  .delay_ns = delay,
					  .boot_ns = spec_ns(&begin) + bound,
					  .boot_bound_ns = bound};
		best.raw_ns = limited((__int128)spec_ns(&device) - best.system_ns);
	}
	return best;
}

static void find_rate(struct phc *phc, const struct phc_start *a, const struct phc_start *b)
{
	double elapsed = b->system_ns - a->system_ns, boot = b->boot_ns - a->boot_ns;

	phc->system_set = a->known && b->known &&
			  fabs(elapsed - boot) > (double)(a->boot_bound_ns + b->boot_bound_ns);
	phc->rate_known = a->known && b->known && elapsed > 0 && !phc->system_set;
	if (!phc->rate_known)
		return;
	phc->rate_ppm = (double)(b->raw_ns - a->raw_ns) / elapsed * 1e6;
	phc->rate_error_ppm = (double)(a->delay_ns + b->delay_ns) / 2 / elapsed * 1e6;
}

/* ts: system, device, system, device, ... system */
static int by_offset(struct bout *b)
{
	for (int i = 0; i < CALLS; i++) {
		struct ptp_sys_offset x = {.n_samples = SAMPLES};
		int err = request(b, PTP_SYS_OFFSET, &x);

		if (err)
			return err;
		for (unsigned k = 0; k < SAMPLES; k++)
			add_sample(b, ptp_ns(&x.ts[2 * k]), ptp_ns(&x.ts[2 * k + 1]),
				   ptp_ns(&x.ts[2 * k + 2]));
	}
	return 0;
}

/* ts[k]: system, device, system */
static int by_extended(struct bout *b)
{
	for (int i = 0; i < CALLS; i++) {
		struct ptp_sys_offset_extended x = {.n_samples = SAMPLES};
		int err = request(b, PTP_SYS_OFFSET_EXTENDED, &x);

		if (err)
			return err;
		for (unsigned k = 0; k < SAMPLES; k++)
			add_sample(b, ptp_ns(&x.ts[k][0]), ptp_ns(&x.ts[k][1]),
				   ptp_ns(&x.ts[k][2]));
	}
	return 0;
}

/* The hardware latches both clocks at the same time. */
static int by_precise(struct bout *b)
{
	for (int i = 0; i < CALLS; i++) {
		struct ptp_sys_offset_precise x = {0};
		int err = request(b, PTP_SYS_OFFSET_PRECISE, &x);
		int64_t system = ptp_ns(&x.sys_realtime);

		if (err)
			return err;
		add_sample(b, system, ptp_ns(&x.device), system);
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void read_caps(int fd, const struct phc_calls *calls, struct phc *phc)
{
	struct ptp_clock_caps caps = {0};

	phc->max_ppb = phc->pps = phc->pins = phc->alarms = phc->external = phc->cross = -1;
	if (calls->ioctl(fd, PTP_CLOCK_GETCAPS, &caps))
		return;
	phc->max_ppb = caps.max_adj;
	phc->pps = caps.pps;
	phc->pins = caps.n_pins;
	phc->alarms = caps.n_alarm;
	phc->external = caps.n_ext_ts;
	phc->cross = caps.cross_timestamping;
}

void phc_measure(int fd, const struct phc_calls *calls, const struct phc_start *start, int tai_s,
		 double ns_per_tick, struct phc *phc)
{
	struct phc_start now = phc_begin(fd, calls);
	static int (*const ways[PHC_WAYS])(struct bout * b) = {by_gettime, by_offset, by_extended,
							       by_precise};
	bool placed = false;
	int64_t applied;

	find_rate(phc, start, &now);
	read_caps(fd, calls, phc);
	phc->scale = PHC_OTHER;
	for (int i = 0; i < PHC_WAYS; i++) {
		struct phc_result *r = &phc->result[i];
		struct bout b = {.fd = fd, .calls = calls, .ns_per_tick = ns_per_tick, .result = r};

		memset(r, 0, sizeof(*r));
		r->error = -ways[i](&b);
		if (r->error)
			continue;
		qsort(b.call_ns, b.ncalls, sizeof(b.call_ns[0]), by_value);
		r->call_min_ns = b.call_ns[0];
		r->call_p50_ns = b.call_ns[b.ncalls / 2];
		if (!placed)
			phc->scale = phc_scale(r->raw_ns, tai_s, &applied);
		placed = true;
	}
}
