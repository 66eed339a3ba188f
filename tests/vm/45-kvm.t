#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit watch --vcpus on a host that has KVM: a virtual machine of known exits (vcpu.c) in the
emulated AMD-V of a guest. Each exit has its reason, and halts are no loss; where the module is not
loaded one line says so. A virtual CPU that is stopped loses that time, with KVM or without it.

    45-kvm.t [KERNEL...]    only on these; else with LONG=1 on all of them, without it not at all
"""
import json
import os
import re
import sys

from guests import lab, need, need_long, run
from lib import diag, done, is_, ok, skip_all, take_turn

if not sys.argv[1:]:
    need_long()
take_turn(shared=True)

VCPU = os.path.join(lab.BUILD, "vcpu")
DRIVERS = ["irqbypass", "ccp", "kvm", "kvm-amd"]
MORE = {"5.10": ["rng-core"]}  # for ccp
STOPS = 5
COUNTED = 2  # nanoseconds of an instruction, as a power of two
# watch NAME KIND [OPTION]: of the machine whose halts wait in this KIND of place.
JOB = """
culprit watch --vcpus nobody -d 100ms -q 2>/tmp/out/none >/dev/null
for m in DRIVERS; do
	insmod /$m.ko || exit
done
watch() { rm -f /tmp/ready /tmp/go; mkfifo /tmp/go
	/vcpu $2 </tmp/go >/tmp/out/$1.counts & proc=$!
	exec 3>/tmp/go
	until grep -q CPU /proc/$proc/task/*/comm || ! kill -0 $proc; do usleep 10000; done
	culprit watch ${3:---vcpus} $proc -d 1h -q -r /tmp/$1.rec --ready-file /tmp/ready -f json \
		-o /tmp/out/$1.json 2>/tmp/out/$1.err & watch=$!
	until [ -e /tmp/ready ] || ! kill -0 $watch; do usleep 10000; done
	echo >&3
	until [ -s /tmp/out/$1.counts ] || ! kill -0 $proc; do usleep 10000; done
	kill -INT $watch; wait $watch; echo $? >/tmp/out/$1.rc
	exec 3>&-
	wait $proc
	culprit report -f json /tmp/$1.rec -o /tmp/out/$1.again
	culprit report /tmp/$1.rec -o /tmp/out/$1.text; }
stopped() { rm -f /tmp/ready
	sh -c 'printf "CPU 0/TCG" >/proc/$$/comm; while :; do :; done' & proc=$!
	until grep -q CPU /proc/$proc/comm; do usleep 10000; done
	culprit watch --vcpus $proc -d 1h -q --ready-file /tmp/ready -f json \
		-o /tmp/out/stopped.json 2>/tmp/out/stopped.err & watch=$!
	until [ -e /tmp/ready ] || ! kill -0 $watch; do usleep 10000; done
	for i in $(seq STOPS); do
		kill -STOP $proc; usleep 20000; kill -CONT $proc; usleep 20000
	done
	kill -INT $watch; wait $watch; echo $? >/tmp/out/stopped.rc
	kill $proc; }
stopped
watch user user
watch kernel kernel
watch process user -p
"""
PLACES = ["user", "kernel", "process"]


def check(name, where, text):
    report, counts = json.loads(text[where + ".json"]), json.loads(text[where + ".counts"])
    cpu, = (c for c in report["cpus"] if c["thread"]["comm"] == "CPU 0/KVM")
    thread = cpu["thread"]
    exits = {s["name"].removeprefix("exit "): s["count"] for s in cpu["sources"]
             if s["kind"] == "exit" and not s["function"]}
    asleep = {s["name"]: (s["count"], s["total_ns"]) for s in cpu["sources"]
              if s["function"] == "[asleep]"}
    diag(f"{name}, {where}: {exits}, {thread['halts']} halts of {thread['halted_ns']} ns, "
         f"{counts['exits']} exits")
    for reason, at in ("CPUID", ""), ("MSR_WRITE", " 0xc0000080 EFER"), ("MSR_READ",
                                                                         " 0xc0000080 EFER"):
        is_(exits.get(reason + at), counts[reason], f"{name}, {where}: all exits for {reason}")
    is_({s: n for s, n in exits.items() if s.startswith("IO")},
        {"IO 0x10": counts["IO"] - counts["late"] - 1, "IO 0x12": counts["late"], "IO 0x11": 0},
        f"{name}, {where}: all for each port but the last, which the machine ends in")
    ok(exits.get("NPF", 0) > counts["pages"], f"{name}, {where}: one for NPF for each page, and "
       "for that of the code", exits)
    is_(exits.get("HLT"), counts["HLT"], f"{name}, {where}: all for HLT, with the way back alone")
    # A signal that comes right before it makes a halt in the kernel end before it waits.
    halts = thread["halts"]
    ok(halts == counts["HLT"] if where != "kernel" else counts["HLT"] / 2 < halts <= counts["HLT"],
       f"{name}, {where}: halts are those that waited", halts)
    is_(thread["exits_without_end"], 0, f"{name}, {where}: the kernel tells each end")
    is_(sum(exits.values()) + 1, counts["exits"],
        f"{name}, {where}: as many in all as the kernel has counted")
    # The signals that end halts in the kernel end sleeps as well.
    count, total_ns = asleep.get("exit IO 0x12", (0, 0))
    ok(total_ns > 0 if where == "kernel" else
       list(asleep) == ["exit IO 0x12"] and count == counts["late"]
       and 0.9 * counts["late_ns"] < total_ns < 3 * counts["late_ns"],
       f"{name}, {where}: sleeps of the device are a loss, and nothing else is one", asleep)
    is_(thread["asleep_ns"], sum(ns for _, ns in asleep.values()),
        f"{name}, {where}: and stand apart, too")
    lost = cpu["hiccups"]["total_ns"]
    ok(abs(thread["guest_wanted_ns"] - thread["guest_got_ns"] - lost) < 2
       and thread["guest_got_ns"] > 0,
       f"{name}, {where}: its guest got all that it wanted but what it lost", thread, lost)
    ok(thread["halted_ns"] > counts["HLT"] * 1e6 / 2 and lost <= cpu["observed_ns"],
       f"{name}, {where}: halts take their time, and are no loss", thread, lost)
    vcpu = thread["vcpu"]
    made = counts["counter"] - vcpu["counter_offset"] & 2**64 - 1
    ok(vcpu["number"] == 0 and vcpu["machine_pid"] > 0 and vcpu["counter_ratio"] == 1
       and counts["entered"] < made < counts["exited"],
       f"{name}, {where}: KVM's offset leads from the guest's counter to the host's", vcpu, counts)
    is_((cpu["records"]["lost"], text[where + ".rc"], text[where + ".err"]), (0, "0\n", ""),
        f"{name}, {where}: no record is lost")
    is_(json.loads(text[where + ".again"])["cpus"], report["cpus"],
        f"{name}, {where}: the recording says the same")
    ok(re.search(rf"the guest halted {halts} times, .* in all: no loss",
                 text[where + ".text"]) and "exit MSR_WRITE 0xc0000080" in text[where + ".text"],
       f"{name}, {where}: and the text", text[where + ".text"])


def check_stopped(name, text):
    cpu, = json.loads(text["stopped.json"])["cpus"]
    row, = (s for s in cpu["sources"] if s["kind"] == "exit")
    is_((row["name"], row["function"], row["count"]), ("exit STOPPED", "[asleep]", STOPS),
        f"{name}: a virtual CPU whose thread is stopped loses that time")
    ok(row["total_ns"] > STOPS * 19e6, f"{name}: all of it", row)
    is_((text["stopped.rc"], text["stopped.err"]), ("0\n", ""), f"{name}: and nothing is missing")


for kernel in need(*sys.argv[1:] or ["5.10", "6.1", "6.12", "7.3"]):
    names = MORE.get(kernel.name, []) + DRIVERS
    try:
        drivers = lab.modules(kernel, *names)
    except lab.Failed as why:
        skip_all(str(why), required=True)
    name = kernel.name
    job = JOB.replace("DRIVERS", " ".join(names)).replace("STOPS", str(STOPS))
    rc, out, err, text = run(kernel, job, counted=COUNTED, files=drivers | {"/vcpu": VCPU},
                             features=",+svm,+npt,vendor=AuthenticAMD")
    if not ok(rc == 0 and f"{PLACES[-1]}.text" in text, f"{name}: the job ends well", rc, out, err,
              text):
        continue
    ok(re.fullmatch("culprit: this kernel has no tracepoints of kvm.*\n", text["none"]),
       f"{name}: without the module one line says that exits are not observed", text["none"])
    check_stopped(name, text)
    for where in PLACES:
        check(name, where, text)
done()
