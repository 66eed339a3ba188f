#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs that a cpuset partition isolates at run time: they are measured by default, by samplers
that enter the partition, are called isolated, and culprit itself keeps off. What changes while
they are measured is said.

With LONG=1 only, on a kernel that lists such CPUs, on one that does not, and on one that
keeps what was isolated at boot apart."""
import json
import re

from guests import LONG, need, run
from lib import done, is_, ok, skip_all, take_turn

if not LONG:
    skip_all("with LONG=1 only")
take_turn(shared=True)
KERNELS = ["6.1", "6.12", "7.3"]
JOB = r"""
cd /sys/fs/cgroup
echo +cpuset >cgroup.subtree_control
mkdir rt; echo 2-3 >rt/cpuset.cpus; echo isolated >rt/cpuset.cpus.partition
cat rt/cpuset.cpus.partition >/tmp/out/partition
cat /sys/devices/system/cpu/isolated >/tmp/out/isolcpus
cd /culprit
# begin NAME CULPRIT-ARGUMENTS...: until the window is open
begin() { rm -f /tmp/ready; name=$1; shift
	culprit run "$@" -f json -q --no-audit --no-trace -d 1h -o /tmp/out/$name \
		--ready-file /tmp/ready 2>/tmp/out/$name.err &
	until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done; }
finish() { wait $!; echo $? >/tmp/out/$name.rc; }

begin inside
cat /sys/fs/cgroup/rt/cgroup.procs >/tmp/out/procs
echo member >/sys/fs/cgroup/rt/cpuset.cpus.partition
kill -INT $!; finish
begin outside -c 2
echo isolated >/sys/fs/cgroup/rt/cpuset.cpus.partition
finish
"""

for kernel in need(*KERNELS):
    name = kernel.name
    rc, out, err, text = run(kernel, JOB, cpus=4, isolation="")
    if not ok(rc == 0 and text["partition"] == "isolated\n" and not text["isolcpus"].strip(),
              f"{name}: a partition isolates CPUs, and isolcpus= none", rc, out, err, text):
        continue
    inside, outside = json.loads(text["inside"]), json.loads(text["outside"])
    is_([(c["cpu"], c["isolated"]) for c in inside["cpus"]], [(2, True), (3, True)],
        f"{name}: its CPUs are measured by default, and are isolated")
    is_(len(text["procs"].split()), 2, f"{name}: their samplers are in it")
    ok(set(inside["run"]["housekeeping"]) <= {0, 1}, f"{name}: and culprit itself is not",
       inside["run"])
    is_(inside["run"]["isolation_changed"],
        "cpu 2-3 isolated when the window opened, not at its end",
        f"{name}: that it ended meanwhile is said")
    # 6.1 lets its threads go anywhere then.
    is_(text["inside.rc"], "3\n" if inside["run"]["incomplete"] else "0\n",
        f"{name}: and the status is 3 where a sampler was moved for that")
    ok(text["outside.rc"] == "3\n" and re.search("moved to another CPU|went offline",
                                                 outside["run"]["incomplete"] or ""),
       f"{name}: a CPU that a partition takes is no longer measured: exit 3",
       text["outside.rc"], outside["run"])
    # The window may be over before the kernel calls the partition isolated.
    ok(outside["run"]["isolation_changed"] in (None,
                                               "cpu 2 isolated at the window's end, not before"),
       f"{name}: and nothing else is said of it", outside["run"])
done()
