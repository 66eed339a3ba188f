#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit diff --group: recordings of many hosts, and what is said of two groups of them. How often
it errs is tests/unit/test_fleet_diff.c's."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import forged
import lib
from lib import culprit, done, is_, ok

where = tempfile.mkdtemp(prefix="culprit-test-")
os.chdir(where)
subprocess.run([os.path.join(lib.BUILD, "golden"), where], check=True, stdout=subprocess.DEVNULL)


def made(source, host, place, names):
    """Recordings of other hosts, with names as long as this one's, else the same."""
    os.makedirs(place)
    with open(source, "rb") as f:
        data = f.read()
    parts = list(forged.chunks(data))
    for name in names:
        with open(f"{place}/{name}.rec", "wb") as f:
            f.write(data[:16] + b"".join(forged.chunk(kind, part.replace(host, name.encode()))
                                         for kind, part in parts))
    return [f"{place}/{name}.rec" for name in names]


NAMES = [f"node{i:02}" for i in range(12)]
before = made("ticking.rec", b"web-07", "before", NAMES)
after = made("threads.rec", b"rt-box", "after", NAMES[1:])
others = made("threads.rec", b"rt-box", "others", [n.replace("node", "rack") for n in NAMES[:9]])
lossy = made("two.rec", b"numa-9", "lossy", [n.replace("node", "unit") for n in NAMES[:9]])
alike = made("ticking.rec", b"web-07", "alike", [n.replace("node", "rack") for n in NAMES[:9]])


def compared(*args, rc=0):
    r = culprit("diff", *args, "-f", "json")
    is_(r.rc, rc, f"the exit status: {[a for a in args if not a.endswith('.rec')]}")
    return json.loads(r.out), r.err


# ---- hosts in both groups ----
d, err = compared("--group", *before, "--group", *after)
is_((d["pairs"], [g["hosts"] for g in d["groups"]], d["hosts_in_one_group"],
     [g["recordings"] for g in d["groups"]], err), (True, [11, 11], 1, [11, 11], ""),
    "hosts in both groups are compared with themselves, and others left out")
one = {tuple(s["hosts"]): s for s in d["sources"]}
is_(set(one), {(11, 0), (0, 11)}, "each source is on all hosts of a group here")
ok(all(s["verdict"] == ("new" if s["hosts"][1] else "gone") and s["tested"]
       and abs(s["chance"] - 2 / 2**11) < 1e-9 and s["fdr"] == s["chance"] for s in d["sources"])
   and d["changed"] == len(d["sources"]) > 5, "each is new or gone, by the chance of eleven signs",
   d["sources"][:2])
single = json.loads(culprit("report", after[0], "-f", "json").out)["cpus"]
rate = sum(c["hiccups"]["total_ns"] for c in single) / \
    sum(c["observed_ns"] for c in single)
ok(abs(d["total"]["ns_per_s"][1] - 1e9 * rate) < 1, "what is lost is what each report has",
   d["total"], 1e9 * rate)
ok(d["total"]["verdict"] == "worse" and
   d["sources"] == sorted(d["sources"],
                          key=lambda s: -abs(s["ns_per_s"][1] - s["ns_per_s"][0])),
   "the largest changes come first", d["total"])

d, err = compared("--redact", "--group", *before, "--group", *after)
is_(([g["hosts"] for g in d["groups"]], d["names_left_out"], err), ([11, 11], False, ""),
    "so they are with --redact, by which a reader leaves names out")

# ---- others ----
d, err = compared("--group", *before, "--group", *alike)
is_((d["pairs"], d["changed"], d["total"]["verdict"], d["total"]["chance"]), (False, 0, "same", 1),
    "groups of different hosts that are alike")
d, err = compared("--fail-if-worse", "10", "--group", *before, "--group", *others, rc=2)
ok("group B lost" in err and "more than --fail-if-worse 10" in err, "--fail-if-worse says why", err)
d, err = compared("--fail-if-worse", "10", "--group", *others, "--group", *before)
is_((d["total"]["verdict"], err), ("better", ""), "and better is no failure")

# ---- losses ----
d, _ = compared("--group", *lossy, "--group", *before)
one = json.loads(culprit("report", "two.rec", "-f", "json").out)["cpus"]
is_([[g[key] for key in ("records", "records_lost", "hiccups_lost", "recordings_incomplete")]
     for g in d["groups"]][0],
    [9 * sum(c["records"]["seen"] for c in one), 9 * sum(c["records"]["lost"] for c in one),
     9 * sum(c["records"]["hiccups_lost"] for c in one), 9], "what a group lost is added up")
r = culprit("diff", "--group", *lossy, "--group", *before, prefix=("env", "COLUMNS=80"))
said = r.out.replace("\n  ", " ")
ok("\nrecords lost: A: 108 of " in said and "; B: 0 of " in said
   and "; of what they would name the group that lost them shows less, or none\n" in said
   and "\nhiccups lost: A: 108; B: 0; " in said
   and "\nincomplete recordings: A: 9 of 9; B: 0 of 12\n" in said, "and is said", r.out)
is_([s for s in r.out.splitlines() if len(s) > 80], [], "on lines of 80 columns")
r = culprit("diff", "-f", "markdown", "--group", *lossy, "--group", *before)
ok(re.search("^records lost: .*, or none$", r.out, re.M), "in Markdown on one line", r.out)
r = culprit("diff", "--group", *before, "--group", *others)
ok("records lost" not in r.out and "incomplete" not in r.out, "where there is any", r.out)

# ---- text ----
r = culprit("diff", "--group", *before, "--group", *after, prefix=("env", "COLUMNS=80"))
ok("11 hosts are in both groups, and each is compared with itself" in r.out
   and "left out: 1 host in one group alone" in r.out and "changed: " in r.out
   and max(map(len, r.out.splitlines())) <= 80, "text of 80 columns", r.out)
r = culprit("diff", "--group", *before[:2], "--group", *others[:2])
ok("The groups are too small" in r.out and "not tested" in r.out, "groups that are too small",
   r.out)
is_(re.search(r"chance +verdict\n(.*)", r.out)[1].split()[-3:], ["-", "not", "tested"],
    "what is lost in all is not the same where nobody tested it")
r = culprit("diff", "-f", "markdown", "--group", *before, "--group", *after)
ok(r.out.startswith("# culprit") and "| verdict |" in r.out, "Markdown", r.out)

# ---- what does not go ----
r = culprit("diff", "--group", *before, "none.rec", "untraced.rec", "--group", *others, "-f",
            "json", "--fail-if-worse", "10")
is_((r.rc, json.loads(r.out)["recordings_left_out"]), (1, 2),
    "what cannot be read or compared is left out, and the status says that before all else")
ok("none.rec" in r.err and "untraced.rec: a recording of run without a trace" in r.err
   and len(r.err.splitlines()) == 3, "each with its reason, once", r.err)
with open(before[0], "rb") as f, open("private.rec", "wb") as to:
    to.write(forged.private(f.read()))
d, err = compared("--group", *before, "private.rec", "--group", *others, rc=1)
ok(d["recordings_left_out"] == 1 and d["groups"][0]["hosts"] == len(before)
   and err.count("\n") == 1 and "private.rec: made with --private" in err,
   "a recording that does not tell its host is left out", err)
r = culprit("diff", "--group", "watch.rec", "--group", "watch.rec")
ok("fewer than 6" in r.err, "watched threads, of one host", r.err)

# A file with holes was told to have lost nothing: the others were so much worse.
HOLES = "how much of their time its CPUs lost is not known"
with open(before[0], "rb") as f:
    data = bytearray(f.read())
data[data.index(b"CHNKEVNT") + 24 + 9] ^= 1
with open("flipped.rec", "wb") as f:
    f.write(data)
parts = [(kind, part[:-9] + b"\xff" * 9 if kind == b"EVNT" else part)
         for kind, part in forged.chunks(open(before[0], "rb").read())]
with open("impossible.rec", "wb") as f:
    f.write(data[:16] + b"".join(forged.chunk(*part) for part in parts))
for name, says in (("flipped.rec", "hiccups · not observed\n"),
                   ("impossible.rec", "\nas far as the recording tells, cpu 1 ")):
    d, err = compared("--group", *before[1:], name, "--group", *others, rc=1)
    ok((d["recordings_left_out"], d["groups"][0]["hosts"]) == (1, len(before) - 1)
       and err.count("\n") == 1 and f"{name}: parts of it are missing: {HOLES}" in err,
       f"{name} is left out", d["groups"], err)
    r = culprit("diff", "--group", name, "--group", *others)
    ok(r.rc == 1 and not r.out and "no recording that can be compared" in r.err,
       "it alone is no group", r)
    r = culprit("diff", name, before[1])
    ok(r.rc == 1 and not r.out and HOLES in r.err, "nor is it compared with one other", r)
    r = culprit("diff", before[1], name, "--", before[2], before[3])
    ok(r.rc == 1 and not r.out and HOLES in r.err, "nor as one of several", r)
    r = culprit("report", name)
    ok(says in r.out and "\ncpu 1 is " not in r.out, "its report's verdict is of what is there", r)
    r = culprit("report", name, "--max-lost", "50")
    ok(r.rc == 3 and "what share of its time it lost is not known" in r.err, "as is a limit", r)
    r = culprit("report", name, before[1], "-f", "markdown")
    ok(re.search(r"(?m)^\| `node00` .*\| +\? \|", r.out)
       and re.search(r"(?m)^\| `node01` .*\| +[0-9.]+ \|", r.out),
       "nor is its host among those whose loss is known", r.out)
for args, why in (((*before, "--group", *others), "before the first --group"),
                  (("--group", *before), "give a second one"),
                  (("--group", "--group", *before), "without a recording"),
                  (("--group", *before, "--group", *others, "--group", *others), "two groups"),
                  (("--group", *before, "--group", *after[:4]), "fewer than 6"),
                  (("--between", "2", "--group", *before, "--group", *after), "--between"),
                  (("--group", "sleep.rec", "--group", "sleep.rec"), "workload")):
    r = culprit("diff", *args)
    ok(r.rc == 1 and r.out == "" and why in r.err, f"refused: {why}", r)
os.chdir("/")
shutil.rmtree(where)
done()
