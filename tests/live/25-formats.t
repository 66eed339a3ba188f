#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of a live run: what it writes while it goes on, in what order, what ends it; and that its
recording gives the same."""
import csv
import datetime
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET

import lib
from lib import culprit, done, is_, ok, skip

lib.with_readers()

lib.need_bpf()
cpu = lib.pick_target()
where = tempfile.mkdtemp(prefix="culprit-test-")
# noise, to have something to write
noise = lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "2ms", path=lib.POKE)


def path(name):
    return os.path.join(where, name)


def text(name):
    with open(path(name), "rb") as f:
        return f.read().decode()  # all output is UTF-8


def same(got, want, name):
    """Lists of rows; of those that differ the first is shown."""
    differ = [i for i, (a, b) in enumerate(zip(got, want)) if a != b]
    ok(len(got) == len(want) and not differ, name, f"{len(got)} rows of {len(want)}",
       *[f"row {i}: got {got[i]!r}, want {want[i]!r}" for i in differ[:1]])


def cell(value):
    """As csv writes it."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


# ---- lines ----
run = ("run", "--no-trace", "-q", "-c", str(cpu), "-d", "300ms")
before = time.time()
r = culprit(*run, "-f", "csv", "-o", path("live.csv"), "--hiccups", path("live.jsonl"))
after = time.time()
is_((r.rc, r.out, r.err), (0, "", ""), "a run that writes csv to a file says nothing")
with open(path("live.csv"), newline="", encoding="utf-8") as f:
    cells = list(csv.DictReader(f, strict=True))
rows = [json.loads(line) for line in text("live.jsonl").splitlines()]
ok(rows, "there are hiccups", r)
same(cells, [{k: json.dumps(v) if k == "pieces" else cell(v) for k, v in row.items()}
             for row in rows],
    "--hiccups has the same lines, in jsonl")
is_(sorted({(r["host"], r["kernel"], r["cpu"]) for r in rows}), [(*os.uname()[1:3], cpu)],
    "of this machine")
# A report that nobody reads on holds culprit there.
run_on = lib.spawn(*run, "-f", "json", "--hiccups", path("held.jsonl"), pipesize=4096)
select.select([run_on.stdout], [], [], lib.HANG_S)
held = text("held.jsonl")
ok(held.endswith("}\n"), "where the report begins all of its lines are there", held[-200:])
r = lib.finish(run_on)
is_((r.rc, len(held.splitlines())), (0, json.loads(r.out)["cpus"][0]["hiccups"]["count"]),
    "as many as it has")
ok(all(r["duration_ns"] == sum(r[k + "_ns"] for k in ("attributed", "edge", "not_recorded",
                                                      "outside")) >= r["threshold_ns"]
       for r in rows),
   "each is the sum of its parts", rows[:3])
started = datetime.datetime.fromisoformat(rows[0]["started"][:26] + "+00:00").timestamp()
ok(before <= started <= after - 0.3, "it started when it did, by the wall clock", before, started,
   after)
ok(all(0 <= r["at_ns"] < 1e9 * (after - before) for r in rows)
   and [r["at_ns"] for r in rows] == sorted(r["at_ns"] for r in rows),
   "the hiccups come in order of time", rows[:3], rows[-3:])

# ---- recordings: of one run the lines that it wrote, of two one report ----

for name in ("a", "b"):
    culprit(*run, "-r", path(name + ".rec"), "-f", "csv", "-o", path(name + ".csv"))
got = culprit("report", path("a.rec"), "-f", "csv").out
same(got.splitlines(), text("a.csv").splitlines(), "the lines of a recording are those of the run")
lines = culprit("report", path("a.rec"), path("b.rec"), "-f", "csv").out
is_(lines, text("a.csv") + "".join(text("b.csv").splitlines(keepends=True)[1:]),
    "of two recordings they come under one heading")
both = culprit("report", path("a.rec"), path("b.rec")).out
ok(all(f"\n  {os.uname().nodename} ({n}.rec)  {cpu} " in both for n in ("a", "b")),
   "of two a text report has a row each", both)
reports = json.loads(culprit("report", path("a.rec"), path("b.rec"), "-f", "json").out)
is_((reports["schema"], [r["cpus"][0]["hiccups"]["count"] for r in reports["reports"]]),
    ("culprit.reports/1", [len(text(n + ".csv").splitlines()) - 1 for n in ("a", "b")]),
    "and as many hiccups as there are lines")

proc = lib.spawn(*run, "-f", "jsonl", "-d", "1h")
ok(json.loads(proc.stdout.readline())["cpu"] == cpu, "lines come while the run lasts")
proc.stdout.close()
proc.stdout = open(os.devnull)
r = lib.finish(proc)
ok(r.rc == 1 and r.seconds < lib.AT_ONCE_S and "Broken pipe" in r.err
   and len(r.err.splitlines()) == 1,
   "a reader that goes ends the run, and culprit says why", r)
r = culprit(*run, "-f", "csv", "-o", "/dev/full")
ok(r.rc == 1 and "No space left" in r.err and len(r.err.splitlines()) == 1, "so does a full disk",
   r)
with open(path("kept.csv"), "w") as f:
    f.write("kept")
r = culprit(*run, "-f", "csv", "-o", path("kept.csv"), "-c", "9999")
ok(r.rc == 1 and text("kept.csv") == "kept", "a run that does not begin leaves the file as it was",
   r)

# ---- a disk that gets full: lines stay, whole ones; all else leaves what was there ----
RECORDING = os.path.join(lib.ROOT, "tests", "fixtures", "recordings", "3.0", "askers.rec")
os.mkdir(small := path("small"))
FULL = f"writing %s{small}/file: No space left on device"
for args, size, before in ((("report", RECORDING, "-f", "csv", "-o"), 16, "old"),
                           (("report", RECORDING, "-f", "jsonl", "-o"), 16, "old"),
                           (("report", RECORDING, "-f", "jsonl", "-o"), 16, None),
                           (("report", RECORDING, "-f", "html", "-o"), 8, "old"),
                           (("report", RECORDING, "-f", "perfetto", "-o"), 8, "old"),
                           (("report", RECORDING, "-f", "html", "-o"), 8, None),
                           ((*run, "-f", "jsonl", "-o"), 4, "old"),
                           ((*run, "-o", path("beside"), "--hiccups"), 4, "old")):
    what = "--hiccups" if "--hiccups" in args else args[args.index("-f") + 1]
    name = f"a full disk: {args[0]}, {what}, with {before or 'no'} file there"
    with lib.small_disk(small, f"size={size}k") as mounted:
        file = os.path.join(small, "file")
        if mounted and before:
            with open(file, "w", encoding="utf-8") as f:
                f.write(before)
        r = culprit(*args, file) if mounted else None
        kept = text("small/file") if mounted and os.path.exists(file) else None
    lines = what in ("csv", "jsonl", "--hiccups")
    said = "culprit: " + FULL % ("" if what == "--hiccups" else "the report to ") + (
        "; the lines up to then are in it" if lines else "") + "\n"
    if not mounted:
        skip(name, "no tmpfs can be mounted here")
    elif r.rc == 0 and args[0] == "run":
        lib.not_judged(name, f"there was room: {len(kept)} bytes")
    elif lines:
        kept = kept or ""
        rows = kept.splitlines()
        ok((r.rc, r.err) == (1, said) and kept.endswith("\n") and len(kept) > 2000 and
           (all(json.loads(row) for row in rows) if what != "csv" else
            len({len(row) for row in csv.reader(rows, strict=True)}) == 1), name, r,
           kept[:100], kept[-300:])
    else:
        is_((r.rc, r.err, kept), (1, said, before), name)

# ---- html ----
# With a real-time priority: one that has to share its CPU may be away for most of the window.
recording, late = path("run.rec"), path("late.html")
r = culprit("run", "-c", str(cpu), "-P", "f:1", "-d", "800ms", "-q", "-r", recording, "-f", "html",
            "-o", path("live.html"))
ok(r.rc == 0 and not r.err, "html: a live run writes it", r)
r = culprit("report", recording, "-f", "html", "-o", path("again.html"))
is_((r.rc, text("again.html") == text("live.html")), (0, True),
    "html: the recording gives the same file, byte for byte")
root = ET.fromstring(text("live.html"))
paths = [p.get("d") for p in root.iter("path")]
ok(len(paths) >= 2 and all(p.startswith("M") for p in paths), "html: time was lost, and is drawn",
   paths[:3])
spans = [i for i in root.find(".//ol[@class='worst']").iter("i") if "d0" in (i.get("class") or "")]
ok(spans, "html: the worst hiccups have strips")
# A hiccup that begins in the part belongs to it with all its time.
report = json.loads(culprit("report", recording, "-f", "json").out)
longest = report["worst"][0]["duration_ns"] / 1e9
PART = recording, "--from", "200ms", "--to", "600ms"
r = culprit("report", *PART, "-f", "html", "-o", late)
ticks = [s.text for s in ET.fromstring(text("late.html"))
         .findall(".//div[@class='lanes']/div[@class='axis']/span")]
what = "html: a part of it has its own axis"
if not lib.cpu_of(json.loads(culprit("report", *PART, "-f", "json").out), cpu)["hiccups"]["count"]:
    lib.not_judged(what, f"no hiccup began in it: the longest lasts {longest} s")
else:
    ok(r.rc == 0 and ticks
       and all(0.1 <= float(t.split()[0]) * (0.001 if "ms" in t else 1) <= 0.7 + longest
               for t in ticks),
       what, r, ticks)
noise.terminate()
lib.finish(noise)

# ---- perfetto ----
try:
    from traces import agree, jsonl, read
except ImportError:
    skip("perfetto: a live run",
         "the Python package perfetto is not there (make check installs it when it can)")
else:
    # A hiccup has up to 512 spans: a sampler that has to share its CPU may be away for so long that
    # short ones are left out, and their arrows. One with a real-time priority below poke's is not.
    with lib.opened("run", "-q", "-c", str(cpu), "-d", "30s", "-P", "f:1", "-f", "perfetto", "-o",
                    path("live"), "-r", path("live.rec"),
                    "--hiccups", path("live.jsonl")) as run:
        lib.run_poke(cpu, "futex", "-n", "40", "-g", "10ms")
    is_((run.result.rc, run.result.out, run.result.err), (0, "", ""),
        "perfetto: a live run writes one")
    tracks, top, counters, n = agree("live", path("live"), jsonl(text("live.jsonl")))
    ok(n >= 32, "perfetto: who woke a thread is at the other end of an arrow", n)
    r = culprit("report", path("live.rec"), "-f", "perfetto", "-o", path("again"))
    ok(r.rc == 0, "perfetto: so does the report of its recording", r)
    is_([(t, [(s.begin, s.end, s.name) for s in row]) for t, row in read(path("again"))[1].items()],
        [(t, [(s.begin, s.end, s.name) for s in row]) for t, row in top.items()],
        "perfetto: with the same slices")

shutil.rmtree(where)
done()
