#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A plain run: the report parses, its sums hold, what every kernel does shows up under its name,
and the audit's findings have the cost that the run measured, the same from the recording."""
import json
import os
import re
import tempfile
import time

import lib
from lib import cpu_of, culprit, done, is_, ok, sources, total

lib.need_bpf()
cpu = lib.pick_target()
since = time.monotonic_ns()
with tempfile.TemporaryDirectory() as where:
    file = os.path.join(where, "run.rec")
    report, log = lib.run_json(cpu, 1, "-r", file, poke=["timer", "-n", "100", "-g", "10ms"])
    until = time.monotonic_ns()
    again = culprit("audit", "-f", "json", file)
    short = culprit("run", "-c", str(cpu), "-d", "300ms", "--no-audit", "-r", file, "--force", "-q",
                    "-f", "json")
    unknown = culprit("audit", file)
    least = culprit("run", "-c", str(cpu), "-d", "100ms", "-t", "1ns", "--no-audit", "--no-trace",
                    "-q", "-f", "json")

is_(report["schema"], "culprit.report/2", "the schema names itself")
is_(report["host"]["kernel"], os.uname().release, "the kernel is this one")
is_(report["host"]["arch"], os.uname().machine, "so is the architecture")
is_(report["run"]["cpus"], [cpu], "the CPU asked for")
ok(cpu not in report["run"]["housekeeping"] and report["run"]["housekeeping"],
   "housekeeping is elsewhere",
   report["run"]["housekeeping"])
ok(isinstance(report["run"]["not_observed"], list), "what is not observed is listed")
c = cpu_of(report, cpu)
ok(1e9 <= c["observed_ns"] < until - since, "a window of 1 s observes as long as it is open",
   c["observed_ns"], until - since)
without = json.loads(short.out)
ok(0.3e9 <= cpu_of(without, cpu)["observed_ns"] < 1e9 * short.seconds, "-d ends it, and not before",
   short)
ok(c["loop"]["count"] * c["loop"]["mean_ps"] / 1000
   + c["hiccups"]["total_ns"] < 1.01 * c["observed_ns"],
   "loops and hiccups fit into the time observed", c["loop"], c["hiccups"])
# A turn takes some tens of ns. What the machine leaves of the window is up to it: that is told.
ok(c["loop"]["count"] > (c["observed_ns"] - c["hiccups"]["total_ns"]) / 1000 - 1,
   "the sampler did spin", c["loop"], c["observed_ns"], c["hiccups"])
# Both are rounded from ticks.
ok(0 < c["threshold_ns"] <= c["hiccups"]["min_ns"] + 1, "no hiccup is below the threshold",
   c["threshold_ns"],
   c["hiccups"])
counts = cpu_of(json.loads(least.out), cpu)
ok(least.rc == 0 and counts["threshold_ns"] > counts["loop"]["min_ns"]
   and least.err == "culprit: a threshold of 1 ns is too short: the sampler's own loop would be "
   f"hiccups; on CPU {cpu} they begin at {counts['threshold_ns']} ns\n",
   "a threshold within the sampler's own loop is made longer, and that is said", least)
h = c["hiccups"]
order = [h[k] for k in ("min_ns", "p20_ns", "p50_ns", "p80_ns", "p90_ns", "p99_ns", "p999_ns",
                        "max_ns")]
ok(order == sorted(order), "the percentiles are in order", order)
lib.check_sums(report, "run")


def closes(row, rows, what):
    lib.closes(report, cpu, row, total(rows, "count"), log.inner, log.outer, what)


timers = sources(report, cpu, kind="vector", name="local_timer")
ok(total(timers, "count") > 0, "local_timer is there", timers)
closes("LOC", timers, "local_timer")
closes("RES", sources(report, cpu, kind="vector", name="reschedule"), "reschedule")
calls = [s for s in sources(report, cpu, kind="vector") if s["name"].startswith("call_function")]
closes("CAL", calls, "call_function and call_function_single")
for name in ("TIMER", "SCHED", "RCU", "NET_RX", "TASKLET", "BLOCK"):
    closes(name, sources(report, cpu, kind="softirq", name=name), "softirq " + name)
if log.inner["TIMER"] + log.inner["SCHED"] + log.inner["RCU"] > (c["records"]["below_threshold"]
                                                                 + c["records"]["unpaired"]):
    ok(sources(report, cpu, kind="softirq"), "a softirq is there")
# The kernel counts interrupts, culprit handlers: on a shared line several, and one more when it
# came again meanwhile.
devices = {row: total(sources(report, cpu, kind="irq", id=int(row)), "count")
           for row, n in log.inner.items()
           if row.isdigit() and n and "," not in lib.read(f"/sys/kernel/irq/{row}/actions")}
differ = [(row, log.inner[row], log.outer[row], n) for row, n in devices.items()
          if not lib.does_close(report, cpu, row, n, log.inner, log.outer,
                                slack=2 + log.outer[row] // 50)]
ok(not differ, "interrupts of devices: as many as the kernel counted", *differ, c["records"],
   c["closure"])
ok(sources(report, cpu, kind="thread", name="poke-timer"), "a thread is there",
   sources(report, cpu, kind="thread"))

# ---- the audit ----
ok(report["verdict"] and re.match(rf"cpu {cpu}[ :]", report["verdict"]),
   "a run begins with its verdict", report["verdict"])
ok(report["findings"] and all("cost_ns" in f for f in report["findings"]),
   "and has the audit's findings with their costs")
is_(json.loads(again.out)["findings"], report["findings"],
    "the audit of a recording finds what the run did, at the same cost")
ok(unknown.rc == 1 and "--no-audit" in unknown.err, "one without facts says why", unknown)
ok("findings" not in without and without["verdict"], "--no-audit: a verdict, and no findings",
   without.get("findings"))
done()
