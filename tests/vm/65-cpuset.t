#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs that a cpuset partition isolates at run time: they are measured by default, by samplers
that enter the partition, are called isolated, and culprit itself keeps off. What changes while
they are measured is said.

And partitions that culprit makes itself, for samplers with SCHED_DEADLINE: they are taken away
again, also when it is killed.

With LONG=1 only, on a kernel that lists such CPUs, on one that does not, and on one that
keeps what was isolated at boot apart."""
import json
import re

from guests import need, need_long, run
from lib import done, is_, ok, take_turn

need_long()
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
# In version 1 where 2 will not do.
DEADLINE = r"""
cd /culprit
root=/sys/fs/cgroup
if [ ! -e $root/cpuset.cpus.isolated ]; then
	culprit sleep -c 2 -P d:200us:1ms -d 1s >/tmp/out/refused 2>&1; echo $? >/tmp/out/refused.rc
	umount $root; mkdir /tmp/v1; mount -t cgroup -o cpuset none /tmp/v1; root=/tmp/v1
fi
before=$(cat $root/cgroup.subtree_control; cat $root/cpuset.sched_load_balance)
# begin CULPRIT-ARGUMENTS...: until the window is open
begin() { rm -f /tmp/ready; culprit sleep -i 20ms -q "$@" --ready-file /tmp/ready & proc=$!
	until [ -e /tmp/ready ] || ! kill -0 $proc; do usleep 10000; done; }
taskset 0xe sleep 1000000 & other=$!
allowed() { grep Cpus_allowed_list /proc/$other/status; }
allowed >/tmp/out/allowed
begin -c 2-3 -P d:5ms:20ms -f json -o /tmp/out/report -d 1h 2>/tmp/out/err
for p in /proc/[0-9]*; do [ "$(cat $p/comm)" = culprit-sampler ] &&
	echo $(grep "^policy" $p/sched) $(grep Cpus_allowed_list $p/status); done >/tmp/out/samplers
ls $root | grep -c culprit-deadline >/tmp/out/made
usleep 2000000; kill -INT $proc; wait $proc; echo $? >/tmp/out/rc
ls $root | grep culprit-deadline >/tmp/out/after
cat $root/cgroup.subtree_control >/tmp/out/control
cat $root/cpuset.sched_load_balance >/tmp/out/balance
culprit pingpong --pin 2,3 -m futex,pipe -k 0 -n 50 -P d:5ms:20ms -q --no-trace --no-audit -f json \
	>/tmp/out/pingpong 2>/tmp/out/pingpong.err
begin -c 2 -P d:5ms:20ms -d 1h >/dev/null 2>&1
ls $root | grep -c culprit-deadline >/tmp/out/made2
kill -9 $proc
# the guard may still be at work
state() { ls $root | grep culprit-deadline; cat $root/cgroup.subtree_control
	cat $root/cpuset.sched_load_balance; }
i=0; while [ "$(state)" != "$before" ] && [ $i -lt 300 ]; do usleep 100000; i=$((i+1)); done
ls $root | grep culprit-deadline >/tmp/out/after2
cat $root/cgroup.subtree_control >/tmp/out/control2
cat $root/cpuset.sched_load_balance >/tmp/out/balance2
allowed >/tmp/out/allowed2 2>&1
guards() { for p in /proc/[0-9]*; do
	[ "$(cat $p/comm)" = culprit-guard ] && echo ${p#/proc/}; done | sort -n; }
for guard in 1 2; do
	begin -c 2 -P d:5ms:20ms -d 1h >/dev/null 2>&1
	kill -9 $(guards | sed -n ${guard}p); kill -INT $proc; wait $proc; echo $?; state
done >/tmp/out/one
begin -c 2 -P d:5ms:20ms -d 1h >/dev/null 2>/tmp/out/both.err
kill -9 $(guards); kill -INT $proc; wait $proc; echo $? >/tmp/out/both; state >>/tmp/out/both
begin -c 2 -P d:5ms:20ms -d 1h >/dev/null 2>&1
culprit sleep -c 2 -P d:5ms:20ms -d 1s >/tmp/out/live 2>&1
kill -9 $(guards)
kill -9 $proc; wait $proc
ls $root | grep -c culprit-deadline >/tmp/out/left
culprit sleep -c 2 -i 20ms -P d:5ms:20ms -q --no-trace -d 1s >/tmp/out/again 2>&1
echo $? >/tmp/out/again.rc
state >/tmp/out/after3; echo "$before" >/tmp/out/before
# two at once, and the first ends first
begin -c 2 -P d:5ms:20ms -d 1h >/dev/null 2>&1; one=$proc
begin -c 3 -P d:5ms:20ms -d 1h >/tmp/out/two 2>&1
if [ $root = /sys/fs/cgroup ]; then
	kill -INT $one; wait $one; ls $root | grep -c culprit-deadline >/tmp/out/two.left
	cat $root/cgroup.subtree_control >/tmp/out/two.control
	kill -INT $proc; wait $proc
else
	kill -INT $one; wait $one
fi
state >/tmp/out/after4
culprit sleep -c 2 -i 20ms -P d:5ms:20ms -q --no-trace -d 1s <&- >/tmp/out/closed 2>&1
echo $? >/tmp/out/closed.rc; state >/tmp/out/after6
# nobody else gets this CPU: only where the kernel leaves no time to threads of lower priority
if [ $root != /sys/fs/cgroup ]; then
	knob=/proc/sys/kernel/sched_rt_runtime_us; limit=$(cat $knob); echo -1 >$knob
	chrt -f 50 taskset 4 sh -c "while :; do :; done" & spinner=$!
	usleep 1000000
	culprit sleep -c 2 -P d:5ms:20ms -d 1s >/tmp/out/busy 2>&1
	kill -9 $spinner; echo $limit >$knob
	state >/tmp/out/after5
fi
culprit sleep -c 2 -P d:995us:1ms -d 1s >/tmp/out/full 2>&1
culprit sleep -c 0-3 -P d:5ms:20ms -d 1s --no-trace >/tmp/out/all 2>&1
mkdir $root/theirs
[ -e $root/cgroup.subtree_control ] && echo +cpuset >$root/cgroup.subtree_control
echo 2-3 >$root/theirs/cpuset.cpus; cat $root/cpuset.mems >$root/theirs/cpuset.mems 2>/dev/null
echo 1 >$root/theirs/cpuset.cpu_exclusive; echo root >$root/theirs/cpuset.cpus.partition
culprit sleep -c 2 -P d:5ms:20ms -d 1s >/tmp/out/taken 2>&1
ls $root | grep culprit-deadline >>/tmp/out/after2
kill $other
true
"""


def check_deadline(kernel):
    name = kernel.name
    rc, out, err, text = run(kernel, DEADLINE, cpus=4, isolation="")
    if not ok(rc == 0 and text["rc"] == "0\n",
              f"{name}: sleep -P d:5ms:20ms in partitions of its own", rc, out, err, text):
        return
    first = "refused" in text
    if first:
        ok(text["refused.rc"] == "1\n" and text["refused"].count("\n") == 1
           and "taskset" in text["refused"], f"{name}: not where others would lose their CPUs",
           text["refused"])
    is_(text["samplers"].splitlines(),
        [f"policy : 6 Cpus_allowed_list: {cpu}" for cpu in (2, 3)],
        f"{name}: each sampler has the policy, and one CPU")
    is_((text["made"], text["made2"]), ("3\n", "2\n"),
        f"{name}: each CPU has a partition; one more name says what to put back")
    report = json.loads(text["report"])
    is_(report["run"]["priority"], "SCHED_DEADLINE 5000:20000 us", f"{name}: the report says so")
    ok(all(c["series"][0]["count"] > 10 for c in report["cpus"]),
       f"{name}: they sleep and wake", report["cpus"])
    is_((text["after"], text["control"], text["balance"]),
        ("", "", "1\n" if first else ""), f"{name}: all is taken away again")
    is_((text["after2"], text["control2"], text["balance2"]),
        ("", text["control"], text["balance"]), f"{name}: also when culprit is killed")
    is_(text["allowed2"], text["allowed"], f"{name}: others keep the CPUs that taskset gave them")
    ok(all(len(c["series"]) == 2 and c["series"][0]["count"] == 50
           for c in json.loads(text["pingpong"])["cpus"]), f"{name}: pingpong -m futex,pipe, too",
       text["pingpong"])
    back = text["before"].split()
    is_(text["one"].split(), ["0", *back] * 2, f"{name}: and when either of its guards is")
    ok(text["both"].split() == ["0", *back] and not text["both.err"]
       or text["both"].startswith("1\nculprit-deadline") and text["both.err"].count("\n") == 1
       and "cannot remove the cpuset partition" in text["both.err"],
       f"{name}: when both are, it does it, or says that it cannot and exits with 1",
       text["both"], text["both.err"])
    is_(text["left"], "2\n", f"{name}: when they are killed, too, both names stay")
    ok(text["again.rc"] == "0\n" and text["after3"].strip() == text["before"].strip(),
       f"{name}: the next run takes them away, and all that the first had changed",
       text["again"], text["after3"], text["before"])
    if first:
        ok(re.match("culprit: .*another cpuset\n", text["two"]),
           f"{name}: version 1 has room for one run", text["two"])
        ok(re.fullmatch("culprit: cpu 2: a thread could not run there.*\n", text["busy"])
           and text["after5"].strip() == text["before"].strip(),
           f"{name}: a CPU that a thread never leaves is given up", text["busy"], text["after5"])
    else:
        is_((text["two.left"], text["two.control"]), ("2\n", "cpuset\n"),
            f"{name}: of two runs the second goes on when the first ends")
    is_(text["after4"].strip(), text["before"].strip(), f"{name}: the last run puts all back")
    ok(text["closed.rc"] == "0\n" and text["after6"].strip() == text["before"].strip(),
       f"{name}: so does one whose standard input is closed", text["closed"], text["after6"])
    for what, says in (("full", "kernel.sched_rt_runtime_us"), ("all", "leaves no CPU"),
                       ("live", "run [0-9]+ measures it"), ("taken", "exclusive|another cpuset")):
        ok(re.fullmatch(f"culprit: .*({says}).*\n", text[what]),
           f"{name}: one line where the kernel has none: {what}", text[what])


for kernel in need(*KERNELS):
    check_deadline(kernel)
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
