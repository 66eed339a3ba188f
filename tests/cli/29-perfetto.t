#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""perfetto: traces read back with the public schema, held against what jsonl says of the same
hiccups."""
import json
import os
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip

lib.with_readers()

try:
    from traces import agree, below, jsonl, read, who
except ImportError:
    lib.skip_all("the Python package perfetto is not there (make check installs it when it can)",
                 required=True)

where = tempfile.mkdtemp(prefix="culprit-test-")


def path(name):
    return os.path.join(where, name)


# ---- recordings, and hostile names ----

subprocess.run([os.path.join(lib.BUILD, "golden"), where], check=True, stdout=subprocess.DEVNULL)
arrows = deepest = 0
for file in sorted(f for f in os.listdir(where) if f.endswith(".rec")):
    r = culprit("report", path(file), "-f", "perfetto", "-o", path("trace"))
    lines = culprit("report", path(file), "-f", "jsonl")
    if not ok(r.rc == lines.rc == 0 and lines.out, f"{file}: both can be written", r, lines):
        continue
    tracks, top, counters, n = agree(file, path("trace"), jsonl(lines.out))
    arrows += n
    deepest = max([deepest] + [sum(1 for _ in below(s)) for row in top.values()
                               for s in row if s.children])
    if file == "threads.rec":
        with open(path("trace"), "rb") as f:
            trace = f.read()
        ok(b"python3 [4414] main > lib.so+0x1c00 > release (lib.c:31) > madvise() > "
           b"__lru_add_drain_all" in trace, "who asked has the calls of its program", trace[:400])
    if file == "sleep.rec":
        values = [v for _, v in counters.get("CPU 3 latency", [])]
        is_((values[0::2], set(values[1::2])),
            ([h["duration_ns"] for h in jsonl(lines.out)], {0}),
            "a series' counter has each outlier's length while it lasts")
        of = json.loads(culprit("report", path(file), "-f", "json").out)["cpus"][0]["series"]
        series = next(s for s in of if s["name"] == "latency")
        is_([counters.get(f"CPU 3 latency {name} of {series['count']}", [])
             for name in ("median", "p90", "p99", "p99.9", "max")],
            [[(5_000_000_000, series[key])] for key in ("p50_ns", "p90_ns", "p99_ns", "p999_ns",
                                                        "max_ns")],
            "and all its values are there, as levels over the window")
        over = series["over_time"]
        for name, column in ("largest", "max"), ("mean", "mean"), ("number", "count"):
            figures = [(i, v) for i, v in enumerate([*over[column], 0])
                       if name == "number" or i == len(over["count"]) or over["count"][i]]
            is_(counters.get(f"CPU 3 latency {name} in each 20.0 ms", []),
                [(5_000_000_000 + over["at_ns"] + i * over["each_ns"], v)
                 for k, (i, v) in enumerate(figures) if not k or v != figures[k - 1][1]],
                f"and over time, the {name} of each slice")
        ok(0 in over["count"], "some slices have no value, and no mean of 0", over["count"])
        is_((len(over["count"]), sum(over["count"]), max(over["max"])),
            (49, series["count"], series["max_ns"]), "they are all of its values")
        is_([v for _, v in counters.get("CPU 3 frequency", [])], [1200000, 3400000, 1200000],
            "each change of the CPU's frequency is on its counter")
    if file == "guest.rec":
        values = [v for _, v in counters.get("CPU 1 steal", [])]
        ok(values[:1] == [0] and values[-1:] == [40_000_000] and values == sorted(values),
           "the steal clock is a counter, from nothing to what the report says", counters)
ok(arrows and deepest > 1, "they have arrows and slices in slices", arrows, deepest)

# ---- a guest beside its host ----

r = culprit("report", path("vm.guest"), "--host", path("vm.host"), "-f", "perfetto", "-o",
            path("trace"))
lines = jsonl(culprit("report", path("vm.guest"), "--host", path("vm.host"), "-f", "jsonl").out)
tracks, top, _, _, wrong = read(path("trace"))
ok(r.rc == 0 and not wrong, "a guest's trace with its host's tracks keeps the schema's rules", r,
   *wrong[:5])
is_({(s.begin, s.end): (s.args["attributed_ns"], s.args["edge_ns"], s.args.get("host_ns", 0),
                        s.args["outside_ns"]) for s in top["CPU 1"]},
    {(x["start_ns"], x["start_ns"] + x["duration_ns"]):
     tuple(x[k + "_ns"] for k in ("attributed", "edge", "host", "outside")) for x in lines},
    "each hiccup says how much of it the host explains")
ok(all(sum(t) == e - b for (b, e), t in
       {(s.begin, s.end): (s.args["attributed_ns"], s.args["edge_ns"], s.args.get("host_ns", 0),
                           s.args["outside_ns"]) for s in top["CPU 1"]}.items()),
   "and these are all of it")
there = top["CPU 1 host"]
is_([{s.name for s in there if x["start_ns"] <= s.begin < s.end <= x["start_ns"] + x["duration_ns"]}
     for x in lines],
    [{f"host: {who(p | {'kind': p['host_kind']})}" for p in x["pieces"]
      if p["kind"] == "host" and p["host_kind"] != "edge"} for x in lines],
    "the host's track has in each what ran there")
ok(len(there) >= 40 and {s.category for s in there} == {"host"}, "as slices of a kind of their own",
   len(there))

files = path("files")
os.mkdir(files)
subprocess.run([os.path.join(lib.BUILD, "tests", "unit", "report_files"), files], check=True)
for name in ("one", "hostile"):
    with open(os.path.join(files, name + ".jsonl"), encoding="utf-8") as f:
        rows = jsonl(f.read())
    agree(name, os.path.join(files, name + ".perfetto"), rows, sums=name == "one")

r = culprit("report", path("guest.rec"), path("irq.rec"), "-f", "perfetto", "-o", path("both"))
ok(r.rc == 1 and "one recording" in r.err and len(r.err.splitlines()) == 1
   and not os.path.exists(path("both")),
   "two recordings are refused", r)
whole = culprit("report", path("guest.rec"), "-f", "perfetto", "-o", "/dev/full")
ok(whole.rc == 1 and "No space left" in whole.err and len(whole.err.splitlines()) == 1,
   "a full disk is told of", whole)

shutil.rmtree(where)
done()
