/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/readings.h"

#include <fcntl.h>
#include <linux/ptp_clock.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/line_of_file.h"
#include "base/now.h"
#include "collect/counter.h"

#define TRIES    10 /* the closest two of so many readings count */
#define DEVICES  16
#define CLOSE_NS (200 * NSEC_PER_MSEC)

int readings_open(void)
{
	char path[64], name[64];

	for (int i = 0; i < DEVICES; i++) {
		snprintf(path, sizeof(path), "/sys/class/ptp/ptp%d/clock_name", i);
		line_of_file(path, name, sizeof(name));
		if (strcmp(name, "KVM virtual PTP")) /* drivers/ptp/ptp_kvm_common.c */
			continue;
		snprintf(path, sizeof(path), "/dev/ptp%d", i);
		return open(path, O_RDONLY | O_CLOEXEC);
	}
	return -1;
}

static uint64_t ptp_ns(const struct ptp_clock_time *t)
{
	return t->sec * NSEC_PER_SEC + t->nsec;
}

/* CLOCK_MONOTONIC and the counter, or CLOCK_REALTIME, read as close together as they can be. */
static uint64_t read_beside(uint64_t (*other)(void), uint64_t *value)
{
	uint64_t least = UINT64_MAX, ns = 0;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now_ns(), x = other(), after = now_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		ns = before + least / 2;
		*value = x;
	}
	return ns;
}

static uint64_t read_counter(void)
{
	return counter_fenced();
}

static uint64_t read_real(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void readings_take(struct readings *r, int ptp, bool last)
{
	struct reading_of_clocks x = {0};
	struct ptp_sys_offset_precise both = {0};
	uint64_t ns, real = 0;

	if (!last && !readings_due(r, now_ns()))
		return;
	if (last && r->n > 1 && now_ns() - r->row[r->n - 1].ns < CLOSE_NS)
		r->n--; /* two so close tell no rate */
	x.ns = read_beside(read_counter, &x.tick);
	ns = read_beside(read_real, &real);
	x.real = real - (ns - x.ns); /* at the same time as the others */
	if (ptp >= 0 && !ioctl(ptp, PTP_SYS_OFFSET_PRECISE, &both))
		x.host = ptp_ns(&both.device) - (ptp_ns(&both.sys_realtime) - x.real);
	readings_add(r, &x);
}
