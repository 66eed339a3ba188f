#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle of tests/oracle in a guest whose kernel hides no thread. The loads are poke's storms.

Time counts instructions there, and one CPU runs at a time. A turn of the other CPU often begins
with a timer interrupt, between the two probes that see it, so net times are not the same in up to
one piece of ten (measured: one in twenty)."""
import re

from guests import need, need_long, run
from lib import diag, done, is_, ok, take_turn

KERNEL = "6.12"
LOADS = "poke-mix", "poke-udp"
JOB = f"""
NET_GOOD=0.9 tests/oracle/10-oracle.t {' '.join(LOADS)} >/tmp/out/tap 2>&1
echo $? >/tmp/out/rc
ls /sys/kernel/tracing/instances >/tmp/out/left
"""

need_long()
take_turn(shared=True)
kernel, = need(KERNEL)
rc, out, err, files = run(kernel, JOB, counted=1, isolation="isolcpus=1")
tap = files["tap"]
diag(*(line for line in tap.splitlines() if not line.startswith("ok ")))
is_(files["rc"].strip(), "0", "culprit and the kernel's own trace say the same")
is_(len(re.findall(r"^ok .*there is something to judge$", tap, re.M)), len(LOADS), "of each load")
ok(not re.search("stay whose leaving is missing", tap), "no thread left unseen")
is_(files["left"], "", "nothing is left in tracefs")
done()
