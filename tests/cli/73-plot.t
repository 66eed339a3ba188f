#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit plot: recordings of sleep and of run as pictures in each form, and the table of their
figures."""
import json
import os
import re
import shutil
import subprocess
import tempfile
import xml.dom.minidom

import lib
from lib import culprit, done, is_, ok, skip

BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.dirname(lib.CULPRIT))
place = tempfile.mkdtemp(prefix="culprit-test-")
os.chdir(place)
OLD = os.path.join(lib.ROOT, "tests/fixtures/recordings/1.0/sleep.rec")
HOSTILE = "<b>&\x1b[31m\"'`touch pwned`.rec"
subprocess.run([os.path.join(BUILD, "golden"), place], check=True, stdout=subprocess.DEVNULL)
shutil.copy("sleep.rec", HOSTILE)
os.rename("sleep.rec", "a.rec")
os.rename("ticking.rec", "run.rec")


def plot(*args):
    r = culprit("plot", *args)
    if r.rc:
        raise RuntimeError(f"culprit plot {args}: {r}")
    return r.out


def reported(name):
    return json.loads(culprit("report", name, "-f", "json").out)["cpus"]


series = {s["name"]: s for s in reported("a.rec")[0]["series"]}
hiccups = sum(c["hiccups"]["count"] for c in reported("run.rec"))
table = plot("a.rec", HOSTILE).splitlines()
is_(table[0], "latency", "the first series is what is drawn")
is_(table[1].split()[:7], "count min median p90 p99 p99.9 max".split(),
    "the table has these figures")
is_([int(line.split()[0].replace(",", "")) for line in table[2:4]],
    [series["latency"]["count"]] * 2, "of each file, in the order given")
ok("\x1b" not in "".join(table), "names are escaped", table)
is_(plot("a.rec", "--series", "read the clock").splitlines()[0], "read the clock",
    "--series picks another")
is_(plot("run.rec").splitlines()[0], "hiccups", "what has no series has hiccups")
is_(int(plot("run.rec").splitlines()[2].split()[0].replace(",", "")), hiccups, "all of them")

ok(plot("a.rec").splitlines()[2].endswith(" shift 2")
   and all(line.split()[-1] == "a.rec" for line in plot("a.rec", "a.rec").splitlines()[2:4]),
   "a file is shown by its label, but by its path where two have the same", plot("a.rec"))
head = [re.split(" {2,}", line.strip()) for line in
        culprit("diff", "a.rec", OLD).out.splitlines()[2:5]]
is_([dict(zip(head[0], line)).get("label") for line in head[1:2]], ["shift 2"],
    "diff tells the labels")
plot("a.rec", "-o", "y.json")
is_([(f["file"], f["label"]) for data in (json.load(open("y.json")), json.loads(
    culprit("diff", "a.rec", OLD, "-f", "json").out), json.loads(
        culprit("diff", "run.rec", "run.rec", "-f", "json").out)) for f in data["files"]],
    [("a.rec", "shift 2"), ("a.rec", "shift 2"), (OLD, "shift 2"), ("run.rec", None),
     ("run.rec", None)], "in JSON both have both")

bars = [line[2:62] for line in table[6:8]]
ok(bars[0] == bars[1] and bars[0][0] != " " and bars[0][-1] != " " and "█" in bars[0],
   "and bars of each, on one axis from the least value to the largest", *table)
tails = plot("a.rec", HOSTILE, "--percentiles").splitlines()
ok(any(line.endswith("|0 %") or "|0 %" in line and "|90 %" in line for line in tails)
   and any("\u2800" < c <= "\u28ff" for line in tails for c in line)
   and "\x1b" not in "".join(tails) and max(map(len, tails)) <= 100,
   "--percentiles without -o draws their tails in the terminal", *tails)
for name, what in ("a.rec", "values"), ("run.rec", "hiccups"):
    plain, chart = (culprit("report", name, *args).out for args in ((), ("--chart",)))
    ok(f"\n{what} by percentile" in chart and f"\n{what} by percentile" not in plain
       and chart.count("\n") > plain.count("\n") + 12, f"report --chart draws {what}", chart)
many = plot(*["a.rec"] * 40, "--percentiles", "-o", "many.svg").splitlines()
is_((len(many[2:42]), open("many.svg").read().count("<path")), (40, 81),
    "no number of files is too many: of 40 each has its line in the picture")
for args in (), ("--percentiles",), ("--log", "x"), ("--log", "y"), ("--log", "xy"), ("--surface",):
    plot("a.rec", HOSTILE, "-o", "x.svg", *args)
    text = open("x.svg").read()
    tree = xml.dom.minidom.parseString(text)
    what = " ".join(args) or "linear"
    ok("\x1b" not in text and "<b>" not in text and tree.documentElement.tagName == "svg",
       f"{what}: well-formed, names are escaped")
    inside = [float(e.getAttribute(a)) for e in tree.getElementsByTagName("text") for a in "xy"]
    ok(all(0 <= v <= float(tree.documentElement.getAttribute("height")) + 960 for v in inside),
       f"{what}: no text lies outside")
    paths = [e.getAttribute("d") for e in tree.getElementsByTagName("path")]
    numbers = [float(x) for p in paths for x in re.findall(r"-?[\d.]+", p)]
    ok(len(paths) >= 2 and all(-1 <= x <= 961 for x in numbers), f"{what}: nor any line",
       max(numbers))
is_(len(xml.dom.minidom.parse("x.svg").getElementsByTagName("path")), 2,
    "--surface: a panel for each file")
ok(len(xml.dom.minidom.parse("x.svg").getElementsByTagName("rect")) > 50,
   "--surface: with the values in it")
plot("a.rec", HOSTILE, "run.rec", "--series", "hiccups", "-o", "x.html")
page = xml.dom.minidom.parse("x.html")
boxes = [e.getAttribute("id") for e in page.getElementsByTagName("input")]
drawn = [e.getAttribute("class").split() for e in page.getElementsByTagName("path")]
ok(boxes == ["f0", "f1", "f2"] and len(page.getElementsByTagName("svg")) == 2
   and all(sum(b in c for c in drawn) == 3 and f"#{b}:not(:checked)~svg .{b}{{display:none}}"
           in open("x.html").read() for b in boxes),
   ".html: a box for each file hides its area and its lines in both pictures", drawn)
plot("a.rec", "-o", "x.html")
ok(open("x.html").read().startswith("<!DOCTYPE html>") and "</svg>" in open("x.html").read(),
   ".html: the same in a page")
plot("a.rec", HOSTILE, "-o", "x.json")
data = json.load(open("x.json"))
ok(all(abs(sum(f["percent"]) - 100) < 5 for f in data["files"])
   and len(data["bin_edges_ns"]) == len(data["files"][0]["percent"]) + 1,
   ".json: the shares, and where each begins")

os.unlink("x.json")
r = culprit("plot", "a.rec", "--surface", "-o", "x.json")
ok(r.rc == 1 and r.err.count("\n") == 1 and "--surface is a picture" in r.err
   and not os.path.exists("x.json"), "--surface: .json has none, and no file is left", r)

# ---- nothing to draw ----
r = culprit("run", "--no-trace", "--no-audit", "-t", "5s", "-d", "100ms", "-r", "none.rec", "-q")
table = plot("none.rec", "-o", "x.json").splitlines()
data = json.load(open("x.json"))["files"][0]
is_((table[2].split()[:-1], [v for k, v in data.items() if k.endswith("_ns")]),
    (["0", *"-" * 6], [None] * 6), "no values have no figures")

# ---- diff says the same ----
FIGURES = "p50", "p90", "p99", "p999", "max"
compared = json.loads(culprit("diff", "a.rec", OLD, "-f", "json").out)
for s in compared["series"]:
    plot("a.rec", OLD, "--series", s["name"], "-o", "y.json")
    data = json.load(open("y.json"))
    is_([[f["count"], *(f[k + "_ns"] for k in FIGURES)] for f in data["files"]],
        [[f["count"], *(f[k]["ns"] for k in FIGURES)] for f in s["files"]],
        f"diff has the same figures of '{s['name']}'")
plot("run.rec", "-o", "y.json")
data, total = json.load(open("y.json"))["files"][0], json.loads(
    culprit("diff", "run.rec", "run.rec", "-f", "json").out)["total"]["files"][0]
is_([data["count"], *(data[k + "_ns"] for k in FIGURES if k != "p90")],
    [total["count"], *(total[k + "_ns"] for k in FIGURES if k != "p90")], "and of hiccups")
if shutil.which("rsvg-convert"):
    plot("a.rec", "-o", "x.png")
    ok(open("x.png", "rb").read(8) == b"\x89PNG\r\n\x1a\n", ".png: is one")
    os.unlink("x.png")
    r = culprit("plot", "/dev/null", "-o", "x.png")
    ok(r.rc == 1 and r.err.count("\n") == 1 and not os.path.exists("x.png"),
       ".png of no recording: one line, and no file", r)
else:
    skip(".png", "needs rsvg-convert (librsvg2-bin)")
os.mkdir("bin")
for says, code in ((">&2 printf 'no\\033[1mroom\\nmore'", 1), ("exec <&-; sleep 0.2", 7)):
    with open("bin/rsvg-convert", "w") as f:
        f.write(f"#!/bin/sh\n{says}\nexit {code}\n")
    os.chmod("bin/rsvg-convert", 0o755)
    r = culprit("plot", "a.rec", "-o", "x.png", prefix=("env", "PATH=bin:" + os.environ["PATH"]))
    ok(r.rc == 1 and r.err.count("\n") == 1 and "\33" not in r.err
       and ("room" in r.err) == (code == 1) and "rsvg-convert could not write x.png" in r.err
       and not os.path.exists("x.png"),
       f"a converter that ends with {code}: one line, and no file", r)
os.chmod("bin/rsvg-convert", 0o644)
for says in "Permission denied", "apt-get install":
    r = culprit("plot", "a.rec", "-o", "x.png", prefix=("env", "PATH=" + os.path.abspath("bin")))
    ok(r.rc == 1 and says in r.err, f"a converter that does not start: {says}", r)
    if os.path.exists("bin/rsvg-convert"):
        os.unlink("bin/rsvg-convert")
with open("bin/rsvg-convert", "w") as f:
    f.write(f"#!/bin/sh\nexec >&2\n{lib.tell_rights('there')}exit 1\n")
os.chmod("bin/rsvg-convert", 0o755)
open("there", "w").close()
r = culprit("plot", "a.rec", "-o", "x.png", prefix=("env", "PATH=bin:" + os.environ["PATH"]))
ok(r.rc == 1 and lib.has_rights(r.err, 0), "a converter has no right, and writes no other file", r)
for args in (), ("--log", "xy"), ("--percentiles",), ("--surface",):
    plot("a.rec", HOSTILE, "-f", "gnuplot", "-o", "script", *args)
    if shutil.which("gnuplot"):
        r = subprocess.run(["gnuplot", "-e", "set terminal svg; set output 'g.svg'", "script"],
                           capture_output=True, text=True)
        ok(r.returncode == 0 and not r.stderr and os.path.getsize("g.svg") > 5000,
           f"gnuplot reads its script {' '.join(args)}", r)
        ok(not os.path.exists("pwned"), "and runs no part of a name")
    else:
        skip("gnuplot reads its script", "needs gnuplot")

os.chdir("/")
shutil.rmtree(place)
done()
