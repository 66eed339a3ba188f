#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A run's sources carry causes of the book, and commands with this machine's numbers; its text fits
the terminal."""
import json
import re

import lib
from lib import culprit, done, ok, skip, sources

lib.need_bpf()
cpu = lib.pick_target()
ids = {c["id"] for c in json.loads(culprit("explain", "-f", "json").out)["causes"]}

can = []
for what in "membarrier", "kworker":
    if why := lib.need_class(cpu, what):
        skip(what, why)
    else:
        can.append(what)
with lib.opened("run", "-c", str(cpu), "-d", "10m", "-f", "json", "-q") as run:
    log = {what: lib.run_poke(cpu, what, "-n", "25", "-g", "3ms-5ms") for what in can}
if run.result.rc:
    raise RuntimeError(f"culprit run: {run.result}")
report = json.loads(run.result.out)

if "membarrier" in can:
    every = sources(report, cpu)
    ok(all(s["cause"] in ids for s in every if s["cause"]), "causes are in the book", every)
    ok(all("{" not in s["advice"] for s in every if s["advice"]), "advice is filled in", every)
    rows = sources(report, cpu, function="ipi_mb")
    if "csd_function_entry" in report["run"]["not_observed"]:
        skip("the IPIs of membarrier", "this kernel does not tell their function")
    else:
        ok(rows and all(s["cause"] == "P11" for s in rows), "the IPIs of membarrier", rows)
    rows = lib.of_pokes(report, cpu, log["membarrier"])
    its = {(s["id"], s["name"]) for s in rows}
    gone = "it has ended: start poke-membarrier with taskset "
    ok(rows and all(s["cause"] == "K34" and (s["advice"].endswith(f" {s['id']}")
                                             or s["advice"].startswith(gone)) for s in rows),
       "poke is a foreign thread, by number, or by name once it is gone", rows)
    rows = sources(report, cpu, kind="vector",
                   function=re.compile("^tick_(nohz_handler|sched_timer)"))
    tick = [s for s in rows if s["cause"] and s["cause"][0] == "T"]
    ok(len(tick) == len(rows), "the tick has a cause", rows)
    kernel = [s for s in every if s["kind"] == "thread"
              and re.match(r"(kworker|ksoftirqd|rcu_|migration)", s["name"])]
    ok(all(s["cause"] != "K34" for s in kernel), "no kernel thread is taken for a program", kernel)
    pieces = [p for w in report["worst"] for p in w["pieces"] if (p.get("id"), p["name"]) in its]
    ok(all(p["cause"] == "K34" for p in pieces), "the worst hiccups' pieces carry causes", pieces)
if "kworker" in can:
    rows = sources(report, cpu, function="refresh_vm_stats")
    ok(rows and all(s["cause"] == "K05" for s in rows), "a read of stat_refresh", rows)
# noise, to have something to say
noise = lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "2ms", path=lib.POKE)
for width in (80, 100):
    r = lib.on_terminal("run", "-c", str(cpu), "-d", "300ms", "-q", columns=width, NO_COLOR="1")
    lines = r.err.splitlines()
    ok(r.rc == 0 and any(re.match(r"           \[[A-Z]\d\d\] ", line) for line in lines),
       f"text at {width} columns says what to do", r)
    long = [line for line in lines if len(line) > width and not re.match(r" *\S+$", line)]
    ok(not long, f"and fits them", *long)
noise.terminate()
lib.finish(noise)
done()
