#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The audit together with a run: its findings at the cost that the run measured, the same from the
recording."""
import json
import os
import re
import tempfile

from lib import culprit, done, is_, need_bpf, ok, pick_target, run_json

need_bpf()
cpu = pick_target()
with tempfile.TemporaryDirectory() as where:
    file = os.path.join(where, "run.rec")
    live, _ = run_json(cpu, 0.5, "-r", file)
    ok(live["verdict"] and re.match(rf"cpu {cpu}[ :]", live["verdict"]),
       "a run begins with its verdict", live["verdict"])
    ok(live["findings"] and all("cost_ns" in f for f in live["findings"]),
       "and has the audit's findings with their costs")
    r = culprit("audit", "-f", "json", file)
    again = json.loads(r.out)["findings"]
    is_(again, live["findings"],
        "the audit of a recording finds what the run did, at the same cost")
    report, _ = run_json(cpu, 0.5, "--no-audit", "-r", file, "--force")
    r = culprit("audit", file)
    ok(r.rc == 1 and "--no-audit" in r.err, "one without facts says why", r)
    ok("findings" not in report and report["verdict"], "--no-audit: a verdict, and no findings",
       report.get("findings"))
done()
