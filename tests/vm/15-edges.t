#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What culprit learns before its window, on kernels that run timers in different ways: on
PREEMPT_RT most of them wait for a thread, and would tell nothing about an interrupt's way in and
out. And how little memory CPUs take that might come one day.

The guests count instructions: in real time a busy host leaves a guest too few clean interruptions
to learn from. LONG=1: on more kernels; vm/30-counted asks 6.12-rt, too."""
import json
import os

from guests import LONG, ROOT, need, run
import lib
from lib import check_sums, cpu_of, diag, done, is_, ok, take_turn

take_turn(shared=True)

KERNELS = ["5.10", "6.1-rt", "6.12", "6.12-rt"] if LONG else ["5.10"]
ENOUGH = 30
POSSIBLE = "possible_cpus=240"  # from 6.9 on the kernel takes it for a limit
JOB = """
culprit run -c 1 -d 1h -f json -q --no-audit -o /tmp/out/report --ready-file /tmp/ready &
until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
sampler=$(grep -lx culprit-sampler /proc/[0-9]*/comm)
ls -l ${sampler%comm}fd >/tmp/out/fds
usleep 300000
kill -INT $!
wait $!
/usr/bin/setpriv --reuid=65534 --clear-groups culprit run --no-trace -c 1 -d 300ms -f json \\
	-q --no-audit >/tmp/out/nobody
echo $? >/tmp/out/rc
cp /sys/devices/system/cpu/possible /tmp/out/
echo 2 >/proc/sys/vm/overcommit_memory
culprit watch --comm nobody -d 100ms -q >/tmp/out/watch 2>&1
echo $? >>/tmp/out/watch
"""

for kernel in need(*KERNELS):
    name = kernel.name
    rc, out, err, files = run(kernel, JOB, counted=2, append=POSSIBLE)
    ok(rc == 0, f"{name}: the job ends well in the guest", rc, out, err)
    report = json.loads(files["report"])
    check_sums(report, name, lost=None, mismatches=None)
    e = cpu_of(report, 1)["edges"]
    diag(name, e)
    # The sampler learns for 40 ms, and goes on until there are 60 gaps.
    ok(e["samples"] >= ENOUGH, f"{name}: edges are learned from {ENOUGH} interruptions and more", e)
    ok(0 < e["in_p50_ns"] <= e["in_p90_ns"] and 0 < e["out_p50_ns"] <= e["out_p90_ns"],
       f"{name}: and their spread is told", e)
    is_(e["bound_irq_ns"], 3 * e["out_p90_ns"],
        f"{name}: the bound is theirs: three times the way out of nine in ten, as in any guest")
    fds = files["fds"]
    ok(fds and "perf_event" not in fds,
       f"{name}: the clock that made them is closed when the window opens", fds)
    is_(cpu_of(report, 1)["threshold_ns"] >= 500, True, f"{name}: a guest's threshold")
    is_(files["rc"].strip(), "0", f"{name}: without privileges it learns from timers")
    nobody = cpu_of(json.loads(files["nobody"]), 1)
    is_((nobody["edges"]["samples"], nobody["edges"]["out_p90_ns"]), (0, None),
        f"{name}: and untraced nothing of edges")
    ok(files["possible"].strip() == "0-239" or name.startswith("6.12"),
       f"{name}: a guest may get more CPUs", files["possible"])
    # Their rings alone are more than twice the memory that may be charged for.
    is_(files["watch"].split()[-1], "0",
        f"{name}: those that have not come are charged for hardly any memory")

ended = lib.spawn("run", KERNELS[0], "--", "sleep", "1000", path=f"{ROOT}/tools/lab")


def guests():
    """It starts other programs, too, before its guest."""
    return [p for p in lib.children(ended.pid) if "-initrd" in lib.read(f"/proc/{p}/cmdline")]


lib.await_gone(lambda: not guests() and ended.poll() is None)
guest = guests()
ended.terminate()
r = lib.finish(ended)
ok(r.rc == 143 and guest and not os.path.exists(f"/proc/{guest[0]}"),
   "a guest ends with the lab that is told to end", r, guest)
done()
