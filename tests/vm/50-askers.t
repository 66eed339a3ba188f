#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/live/22-askers.t on kernels that count their contexts in different places: 5.10, whose
place is not known, so that a target takes stacks; 6.12; PREEMPT_RT, where softirqs are counted by
thread; and the newest, where the counter has other bits. The guests count instructions, as what is
sent in a window must come within it however busy the host is.

    50-askers.t [KERNEL...]    only on these; else with LONG=1 on all of them, without it on 6.12
"""
import json
import re
import sys

from guests import LONG, need, run
from lib import diag, done, ok, skip, take_turn

take_turn(shared=True)

# Behind them, a program whose faults are answered with a signal, as not every kernel tells of
# faults; and machines where stacks may be no longer than SHORT, where there may be none, and where
# programs are not compiled. The kernel refuses another length until it has freed the last map of
# stacks, some time after its program has ended.
SHORT = 8
FAULTS_NS = 200_000_000
JOB = f"""
max_stack() {{
	until echo $1 >/proc/sys/kernel/perf_event_max_stack; do usleep 10000; done 2>>/tmp/out/busy
}}
LONG=1 tests/live/22-askers.t >/tmp/out/tap 2>&1
build/watched faults >/dev/null & faults=$!
kill -STOP $faults # an emulated machine takes long to load programs beside another one
culprit watch -p $faults --faults -d {FAULTS_NS}ns -f json -q -o /tmp/out/faults \\
	--ready-file /tmp/ready & watch=$!
until [ -e /tmp/ready ] || ! kill -0 $watch; do usleep 10000; done
kill -CONT $faults
wait $watch
kill $faults
max_stack {SHORT}
build/poke futex -c 1 -n 10000 >/dev/null &
culprit run -c 1 -d 400ms -f json -q --no-audit >/tmp/out/short
kill $!
max_stack 0
culprit run -c 1 -d 100ms -q --no-audit 2>/tmp/out/none
max_stack {SHORT}
echo 0 >/proc/sys/net/core/bpf_jit_enable
culprit run -c 1 -d 100ms -f json -q --no-audit >/tmp/out/slow
true
"""

for kernel in need(*sys.argv[1:] or (["5.10", "6.12", "6.12-rt", "7.3"] if LONG else ["6.12"])):
    name = kernel.name
    # Not isolated: an isolated CPU takes no messages for others (RPS), so that poke could not keep
    # its softirq busy.
    rc, out, err, files = run(kernel, JOB, counted=2, isolation="irqaffinity=0")
    tap = files.get("tap", "").splitlines()
    passed = [line for line in tap if line.startswith("ok ") and "# SKIP" not in line]
    diag(kernel.version(), *tap)
    ok(not [line for line in tap if line.startswith("not ok ")]
       and re.fullmatch(r"1\.\.[1-9][0-9]*", tap[-1] if tap else ""),
       f"{name}: all tests of askers pass", rc, out, err)
    ok(len(passed) >= (9 if name.endswith("-rt") else 11), f"{name}: and are not skipped",
       len(passed))
    stacks = [int(n) for line in tap
              for n in re.findall(r"([0-9]+) of [1-9][0-9]* on the target were told by a stack",
                                  line)]
    ok(stacks and (any(stacks) if name == "5.10" else not any(stacks)),
       f"{name}: on the target {'stacks tell' if name == '5.10' else 'the context tells'} who "
       "asked", stacks)
    report = json.loads(files.get("faults") or "null")
    faults = [s for c in report["cpus"] for s in c["sources"] if s["kind"] == "fault"] \
        if report else []
    if report and "handle_mm_fault" in report["run"]["not_observed"]:
        skip(f"{name}: page faults", "this kernel does not tell of them")
    else:
        # Each 2 ms two that end; the time from a signal to the next one would be most of it.
        ok(sum(s["count"] for s in faults) >= FAULTS_NS // 10**7
           and sum(s["total_ns"] for s in faults) < FAULTS_NS // 10,
           f"{name}: no page fault is told from a signal to the next fault", faults, err)
    short = json.loads(files.get("short") or "null")
    deep = [len(o["stack"]) for c in short["cpus"] for s in c["sources"]
            for o in s["origins"]] if short else []
    ok(any(deep) and max(deep) <= SHORT, f"{name}: shorter stacks tell who asked, too", deep, err)
    ok(files.get("none", "").startswith("culprit: cannot load the BPF programs: ")
       and files["none"].count("\n") == 1 and "perf_event_max_stack" in files["none"],
       f"{name}: and where there may be none that is said", files.get("none"))
    slow = json.loads(files.get("slow") or "null")
    # A kernel that preempts threads in itself does so in some programs that are not compiled, too.
    ok(short and slow and slow["run"]["traced"]
       and (name != "6.12"
            or set(slow["run"]["not_observed"]) == set(short["run"]["not_observed"])),
       f"{name}: without the JIT programs run, too", slow and slow["run"], err)
done()
