#!/usr/bin/env python3
"""What culprit learns before its window, on kernels that run timers in different ways: on
PREEMPT_RT most of them wait for a thread, and would tell nothing about an interrupt's way in and
out."""
import importlib.machinery
import importlib.util
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from lib import check_sums, cpu_of, diag, done, is_, ok, skip_all, take_turn  # noqa: E402

_loader = importlib.machinery.SourceFileLoader("lab", os.path.join(ROOT, "tools", "lab"))
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", _loader))
_loader.exec_module(lab)
take_turn(shared=True)

KERNELS = ["5.10", "6.1-rt", "6.12", "6.12-rt"]
ENOUGH = 30
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
"""

try:
    for name in KERNELS:
        lab.need(lab.kernel(name))
    lab.emulator(lab.MACHINES["amd64"])
except (lab.Failed, FileNotFoundError) as why:
    skip_all(str(why).replace("\n", " "), required=True)

for name in KERNELS:
    rc, out, err, files = lab.run(lab.kernel(name), JOB, 150)
    ok(rc == 0, f"{name}: the job ends well in the guest", rc, out, err)
    report = json.loads(files["report"])
    check_sums(report, name, lost=None, mismatches=None)
    e = cpu_of(report, 1)["edges"]
    diag(name, e)
    # Two hundred come in the 100 ms for which it learns. Where the host leaves few of them it goes
    # on, for a second at most.
    ok(e["samples"] >= ENOUGH, f"{name}: edges are learned from {ENOUGH} interruptions and more", e)
    ok(0 < e["in_p50_ns"] <= e["in_p90_ns"] and 0 < e["out_p50_ns"] <= e["out_p90_ns"],
       f"{name}: and their spread is told", e)
    is_(e["bound_irq_ns"], 3 * e["out_p90_ns"],
        f"{name}: the bound is theirs: three times the way out of nine in ten, as in any guest")
    fds = files["fds"].decode()
    ok(fds and "perf_event" not in fds,
       f"{name}: the clock that made them is closed when the window opens", fds)
    is_(cpu_of(report, 1)["threshold_ns"] >= 500, True, f"{name}: a guest's threshold")
    is_(files["rc"].decode().strip(), "0", f"{name}: without privileges it learns from timers")
    nobody = cpu_of(json.loads(files["nobody"]), 1)
    is_((nobody["edges"]["samples"], nobody["edges"]["out_p90_ns"]), (0, None),
        f"{name}: and untraced nothing of edges")
done()
