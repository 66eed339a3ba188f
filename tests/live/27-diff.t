#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings compared: of one setting they say same, a known noise is new and costs what poke says,
and scripts can gate on it. The threshold is given, so that no hiccup is left out of the comparison.

The samplers have a real-time priority below poke's, so that few of the machine's threads are part
of it. Still two windows of one setting differ now and then, as a machine's neighbours come and go:
with LONG=1 in the environment of up to PAIRS pairs one has to say same. How often two say so that
are alike is for tests/unit/test_diff_between.c.
"""
import json
import os
import re
import shutil
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, skip, sources

PAIRS = 6
WINDOW_S = 4 if os.environ.get("LONG") else 1

lib.need_bpf()
cpu = lib.pick_target()
where = tempfile.mkdtemp(prefix="culprit-test-")
recorded = 0


def record(*poke):
    """A recording of a window, with poke in it; (path, poke's log)."""
    global recorded
    recorded += 1
    path = os.path.join(where, f"{recorded}.rec")
    with lib.opened("record", "-q", "-P", "f:1", "-t", "1us", "-c", str(cpu), "-d", "60s",
                    path) as run:
        log = lib.run_poke(cpu, *poke) if poke else time.sleep(WINDOW_S)
    r = run.result
    if lib.starved(r):
        lib.not_judged("recordings compared", r.err.strip())
        shutil.rmtree(where)
        done()
    if r.rc != 0:
        raise RuntimeError(f"culprit record: {r}")
    return path, log


def diff(*args):
    r = culprit("diff", "-f", "json", *args)
    if r.rc not in (0, 2):
        raise RuntimeError(f"culprit diff: {r}")
    return json.loads(r.out)


def verdicts(d, file=1):
    return {(s["kind"], s["name"], s["function"]): s["files"][file]["verdict"]
            for s in d["sources"]}


# ---- one setting ----

quiet, _ = record()
tried = []
while not tried or os.environ.get("LONG") and tried[-1][0] != "same" and len(tried) < PAIRS:
    quiet = other if tried else quiet
    other, _ = record()
    d = diff(quiet, other)
    tried.append((d["total"]["files"][1]["verdict"], d["total"]["files"][1]["time_ratio"]))
if os.environ.get("LONG"):
    ok(tried[-1][0] == "same", "two recordings of one setting: the time lost is the same", *tried)
is_(d["schema"], "culprit.diff/1", "the schema")
is_([e["what"] for e in d["environment"] if e["what"] != "threshold" and "/" not in e["what"]], [],
    "nothing about the machine differs")  # settings may differ: others may change them
is_(len(d["bin_edges_ns"]), len(d["total"]["files"][0]["bins"]) + 1, "bins lie between edges")

for f, path in zip(d["total"]["files"], (quiet, other)):
    report = json.loads(culprit("report", "-f", "json", path).out)
    c = lib.cpu_of(report, cpu)
    is_((f["count"], f["total_ns"], f["p99_ns"], f["max_ns"], sum(f["bins"])),
        tuple(c["hiccups"][k] for k in ("count", "total_ns", "p99_ns", "max_ns", "count")),
        "the totals are the report's")
    ours = {}
    for s in c["sources"]:
        ours[s["kind"]] = ours.get(s["kind"], 0) + s["total_ns"]
    index = (quiet, other).index(path)
    theirs = {}
    for s in d["sources"]:
        if s["files"][index]["total_ns"]:
            theirs[s["kind"]] = theirs.get(s["kind"], 0) + s["files"][index]["total_ns"]
    is_(theirs, {k: v for k, v in ours.items() if v}, "pairing loses no time of any kind")

sides = diff(quiet, other, "--", quiet)
is_([s["files"] for s in sides["sides"]] + [f["side"] for f in sides["files"]], [2, 1, 0, 0, 1],
    "two recordings, and one")
is_([f["count"] for f in sides["total"]["files"]],
    [sum(f["count"] for f in d["total"]["files"]), d["total"]["files"][0]["count"]],
    "a side is all of its recordings")
is_(diff("-f", "json", "--", quiet, other)["total"], d["total"],
    "-- in front of all files only ends the options")

itself = diff(quiet, quiet)
is_(set(verdicts(itself).values()) | {itself["total"]["files"][1]["verdict"]}, {"same"},
    "against itself all is the same")
is_(itself["environment"], [], "against itself nothing differs")
is_(culprit("diff", quiet, quiet, "--fail-if-worse", "0.1").rc, 0,
    "against itself --fail-if-worse is not met")

# ---- a series that is worse: sleeps of eight times the length ----
short, long = (os.path.join(where, f"{n}ms.rec") for n in (1, 8))
for path, interval in (short, "1ms"), (long, "8ms"):
    r = culprit("sleep", "-q", "-c", str(cpu), "-i", interval, "-n", "100", "-P", "f:80",
                "--no-trace", "--no-audit", "-r", path, "-f", "json")
    if r.rc:
        raise RuntimeError(f"culprit sleep: {r}")
r = culprit("diff", "--between", "1", short, long, "--fail-if-worse", "200")
ok(r.rc == 2 and re.search(r"delta.*median.*--fail-if-worse 200", r.err),
   "--fail-if-worse of a series' median: status 2, and a line why", r)
# A maximum of one recording is one value: said, and never judged.
longer = sum((s["files"][1]["max"]["ratio"]["value"] or 0) > 3
             for s in json.loads(culprit("diff", short, long, "-f", "json").out)["series"])
is_([len(re.findall("max: .* does not judge it: one value has no interval", r.err)),
     re.findall("max: .*ratio", r.err)], [longer, []], "a maximum is not judged")
r = culprit("diff", "--between", "1", short, short, "--fail-if-worse", "0.1")
is_([r.rc, r.err], [0, ""], "against itself no series is worse")

# ---- a known noise ----

why = lib.need_class(cpu, "fifo")
if why:
    skip("a known noise", why)
else:
    # Noise enough that RT throttling, which takes 50 ms at once, does not hide it in the total.
    noisy, log = record("fifo", "-n", "80", "-l", "8ms", "-g", "10ms-12ms")
    ran, comm = lib.ran(log), log[0]["comm"]
    # other differences of two windows are for the unit tests
    d = diff("--between", "1", quiet, noisy)
    rows = [s for s in d["sources"] if s["kind"] == "thread" and s["name"] == comm]
    ok(len(rows) == 1 and rows[0]["files"][1]["verdict"] == "new", "the noise is new", *rows)
    usual = verdicts(diff(quiet, noisy)).get(("thread", comm, None))
    ok(usual in ("new", "unclear"), "with one recording of each it is new, or it is not clear",
       usual)
    changed = [s["files"][1]["verdict"] != "same" for s in d["sources"]]
    is_(changed, sorted(changed, reverse=True), "what changed comes before what did not")
    f = rows[0]["files"][1]
    seconds = d["files"][1]["observed_ns"] / 1e9
    # Time that it ran is less than time that it took: the host's time in it is the host's.
    took = lib.spans(log)
    report = json.loads(culprit("report", "-f", "json", noisy).out)
    longest = max(s["max_ns"] for s in sources(report, cpu, name=comm))
    ok(lib.as_long_as_poked(f["total_ns"], longest, report, cpu, log, ran, max(ran, took)),
       "it costs what poke says", f"poke: {ran} ns in {took} ns, longest {longest} ns", f)
    ok(abs(f["ns_per_s"] * seconds - f["total_ns"]) < 1e3, "and that is what it says for a second",
       f, seconds)
    ok(f["count_ratio"]["low"] > 1 and f["count_ratio"]["value"] is None,
       "its ratio is infinite, its interval above 1", f)
    gone = verdicts(diff("--between", "1", noisy, quiet)).get(("thread", comm, None))
    is_(gone, "gone", "the other way round it is gone")

    three = diff("--between", "1", quiet, other, noisy)
    is_([len(s["files"]) for s in three["sources"]], [3] * len(three["sources"]),
        "three files: a column each")
    is_(verdicts(three, 2).get(("thread", comm, None)), "new",
        "the third is compared with the first")

    total = d["total"]["files"][1]
    more = 100 * (total["time_ratio"]["value"] - 1)
    if total["time_ratio"]["low"] > 1:
        r = culprit("diff", "--between", "1", quiet, noisy, "--fail-if-worse",
                    str(round(more / 2, 3)))
        ok(r.rc == 2 and noisy in r.err and r.err.count("\n") == 1,
           "--fail-if-worse half of that: status 2, and a line why", r)
    else:
        skip("--fail-if-worse is met", f"the machine is too noisy: {total['time_ratio']}")
    r = culprit("diff", "--between", "1", quiet, noisy, "--fail-if-worse",
                str(round(2 * max(more, 0) + 1, 3)))
    ok(r.rc == 0 and r.err == "", "--fail-if-worse twice of that: status 0", r)

# ---- what it says when it cannot ----

untraced = os.path.join(where, "untraced.rec")
r = culprit("run", "-q", "-c", str(cpu), "-d", "100ms", "--no-trace", "-r", untraced, "-o",
            os.path.join(where, "x"))
r = culprit("diff", quiet, untraced)
ok(r.rc == 0 and "cannot be compared" in r.out,
   "not traced: it says that sources cannot be compared", r)

shutil.rmtree(where)
done()
