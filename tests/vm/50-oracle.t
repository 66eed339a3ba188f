#!/usr/bin/env python3
"""The oracle of tests/oracle in a guest whose kernel hides no thread. The loads are poke's storms.

Time counts instructions there, and one CPU runs at a time. A turn of the other CPU often begins
with a timer interrupt, between the two probes that see it, so net times are not the same in up to
one piece of ten (measured: one in twenty)."""
import importlib.machinery
import importlib.util
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from lib import diag, done, is_, ok, skip_all, take_turn  # noqa: E402

_loader = importlib.machinery.SourceFileLoader("lab", os.path.join(ROOT, "tools", "lab"))
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", _loader))
_loader.exec_module(lab)
take_turn(shared=True)

KERNEL = "6.12"
LOADS = "poke-mix", "poke-udp"
JOB = f"""
NET_GOOD=0.9 tests/oracle/10-oracle.t {' '.join(LOADS)} >/tmp/out/tap 2>&1
echo $? >/tmp/out/rc
ls /sys/kernel/tracing/instances >/tmp/out/left
"""

if not os.environ.get("LONG"):
    skip_all("LONG=1 runs it: two minutes")
try:
    lab.need(lab.kernel(KERNEL))
    lab.output("qemu-system-x86_64", "--version")
except (lab.Failed, FileNotFoundError) as why:
    skip_all(str(why).replace("\n", " "), required=True)
rc, out, err, files = lab.run(lab.kernel(KERNEL), JOB, 300, counted=1, isolation="isolcpus=1")
tap = files["tap"].decode(errors="replace")
diag(*(line for line in tap.splitlines() if not line.startswith("ok ")))
is_(files["rc"].decode().strip(), "0", "culprit and the kernel's own trace say the same")
is_(len(re.findall(r"^ok .*there is something to judge$", tap, re.M)), len(LOADS), "of each load")
ok(not re.search("stay whose leaving is missing", tap), "no thread left unseen")
is_(files["left"].decode(), "", "nothing is left in tracefs")
done()
