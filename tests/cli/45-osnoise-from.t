#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit osnoise --input: saved output of the osnoise tracer and of rtla, as a file, a pipe or a
trace.dat. Needs no root."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib
from lib import CULPRIT, ROOT, culprit, done, is_, ok, skip

FIXTURES = os.path.join(ROOT, "tests", "fixtures", "osnoise")
TRACE = os.path.join(FIXTURES, "6.12.trace")


def refused(what, *args, says, **kwargs):
    r = culprit("osnoise", *args, **kwargs)
    lines = r.err.splitlines()
    ok(r.rc == 1 and not r.out and len(lines) == 1 and lines[0].startswith("culprit: ")
       and re.search(says, r.err), what, r,
       f"should say /{says}/")


def run(*args, given=None, env=None):
    r = subprocess.run([CULPRIT, "osnoise", *args], input=given, capture_output=True,
                       timeout=lib.HANG_S, env=env)
    lib.keeps_to_schema(r.stdout.decode())
    return r


# ---- every fixture, both formats ----

for name in sorted(os.listdir(FIXTURES)):
    if name == "expect":
        continue
    path = os.path.join(FIXTURES, name)
    r = run("--input", path, "-f", "json")
    report = json.loads(r.stdout) if r.returncode == 0 else {}
    ok(report.get("schema") == "culprit.osnoise/1" and report["unread"]["unknown_lines"] == 0,
       f"{name}: every line is known", r)
    r = run("--input", path)
    wide = [line for line in r.stdout.decode().splitlines() if len(line) > 100]
    ok(r.returncode == 0 and not wide and not r.stderr, f"{name}: text of at most 100 columns", r,
       *wide)

report = json.loads(run("--input", TRACE, "-f", "json").stdout)
(cpu,) = report["cpus"]
is_(cpu["periods"][0]["noise_ns"], (51701 + 26768) * 1000, "the periods of a trace are summed")
is_((cpu["sources"][0]["kind"], cpu["sources"][0]["name"], cpu["sources"][0]["max_ns"]),
    ("thread", "inject", 3997604),
    "the worst source has its name")

# ---- rtla's histograms ----


def hist(*lines):
    """rtla timerlat hist's lines, read: (text, JSON)."""
    given = "\n".join(["# RTLA timerlat histogram", "# Time unit is microseconds (us)",
                       "# Duration:   0 00:00:11", *lines, ""]).encode()
    return (run("--input", "-", given=given).stdout.decode(),
            json.loads(run("--input", "-", "-f", "json", given=given).stdout))


SUMMARY = "count:  1000", "min:  50", "avg:  85", "max:  99"
# A row is the lowest value of its bucket; -b makes these longer.
for what, says, *lines in (
        ("as long as they are", "below 400 us", "100  10", "200  10", "300  980", "over:  0"),
        ("no longer than the largest value", "below 100 us", "0  1000", "over:  0", *SUMMARY),
        ("of a length that nothing says", "in the first bucket", "0  1000", "over:  0"),
        ("and one of 1 us", "below 227 us", "225  10", "226  980", "over:  1"),
        ("with more than a hundredth beyond them", "beyond the last bucket", "100  90",
         "over:  10")):
    text, _ = hist("Index   Thr-001", *lines)
    ok(re.search(f"· p99 {says}( ·|\n) +[01]0? beyond the last bucket", text),
       f"p99 in buckets {what}", text)

with open(os.path.join(FIXTURES, "rtla-6.12-timerlat-hist.txt")) as f:
    whole = f.read().splitlines()[3:]
short = [line for line in whole if not re.match("(count|min|avg|max|ALL):", line)]
text, got = hist(*short)
ok("irq  9,916 times · p99 beyond the last bucket · 122 beyond the last bucket" in text
   and [got["histograms"][0][k] for k in ("count", "min_ns", "over")] == [9916, None, 122],
   "--no-summary: text and JSON count the same", text, got["histograms"][0]["count"])
text, got = hist(*short[:-1])
ok("irq  at least 9,794 times · how many beyond the last bucket is not known" in text
   and [got["histograms"][0][k] for k in ("count", "over")] == [None, None],
   "cut before the end: how many lie beyond is not known", text)
text, got = hist(*(line[:8] + line[18:] for line in whole))
ok(re.search("all CPUs\n  timerlat thread  9,916 times · min 44.0 us .*\n  timerlat user ", text)
   and [x["context"] for x in got["timerlat_all"]] == ["thread", "user"],
   "--no-irq: the contexts of all CPUs are those that are named", text, got["timerlat_all"])
text, got = hist(*(line[7:] for line in whole))
ok("a histogram is left out: without an index" in text and "every line was understood" in text
   and got["histograms"] == [] and got["input"]["histogram_without_index"],
   "--no-index: what rows count is not known", text)

# ---- other ways in and out ----

with open(TRACE, "rb") as f:
    text = f.read()
r = run("--input", "-", "-f", "json", given=text)
ok(r.returncode == 0 and json.loads(r.stdout)["cpus"] == report["cpus"], "- reads standard input",
   r.stderr)
r = run("--input", "-", given=text.replace(b"\n", b"\r\n"))
ok(r.returncode == 0 and b"every line was understood" in r.stdout, "lines may end with CR",
   r.stdout[-300:])
r = run("--input", "-", given=text + b"\nwhat is \x1b[31mthis\n\0\xff\n")
ok(r.returncode == 0 and b"not understood: 2 lines" in r.stdout
   and rb"what is \x1b[31mthis" in r.stdout and
   b"\x1b" not in r.stdout, "unknown lines are counted and shown, escaped", r.stdout[-300:])
r = run("--input", "-", given=text[:len(text) // 2])
ok(r.returncode == 0, "a trace cut in the middle", r)
spin = os.path.join(FIXTURES, "6.1-rt-noworkload.trace")
names = [s["name"] for s in json.loads(run("--input", spin, "-f", "json", "--workload",
                                           "122").stdout)["cpus"][0]["sources"]]
ok("spin" not in names and names, "--workload leaves out the measured program", names)

with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    def file(name, data, mode=0o644):
        path = os.path.join(place, name)
        with open(path, "wb") as out:
            out.write(data)
        os.chmod(path, mode)
        return path

    out = os.path.join(place, "report")
    r = run("--input", TRACE, "-o", out)
    ok(r.returncode == 0 and not r.stdout and open(out).read().startswith(TRACE[:40]),
       "-o writes a file", r)

    # ---- what cannot be read ----
    refused("no such file", "--input", os.path.join(place, "none"),
            says="cannot read .*none: No such file")
    refused("a directory", "--input", place, says="is a directory")
    refused("an empty file", "--input", file("empty", b""), says="is empty")
    refused("another text", "--input", file("text", b"hello\nworld\n"),
            says="not output of osnoise.*'hello'")
    refused("another text with a hostile first line", "--input", file("esc", b"\x1b]0;x\x07\n"),
            says=r"\\x1b")
    refused("zeros", "--input", file("zeros", b"\0" * 300000), says="not output of osnoise")
    refused("a report that cannot be written", "--input", TRACE, "-o", "/nonexistent/report",
            says="/nonexistent/report")
    refused("an unknown format", "--input", TRACE, "-f", "yaml", says="yaml")
    refused("a workload that is no PID", "--input", TRACE, "--workload", "x", says="x")
    r = run("--input", "-", given=b"")
    ok(r.returncode == 1 and b"standard input is empty" in r.stderr, "empty standard input", r)
    if os.geteuid() == 0 and shutil.which("setpriv"):
        os.chmod(place, 0o755)
        public = shutil.copy(CULPRIT, place)
        file("secret", text, 0o600)
        refused("a file without permission", "--input", os.path.join(place, "secret"),
                says="Permission denied",
                prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), path=public)
        r = culprit("osnoise", "--input", shutil.copy(TRACE, place),
                    prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                    path=public)
        is_(r.rc, 0, "needs no privileges")
    else:
        skip("a file without permission", "needs root and setpriv")

    # ---- trace.dat: a trace-cmd of our own stands in, so that none needs to be installed ----
    dat = file("trace.dat", b"\x17\x08\x44tracing" + b"6\0" * 50)
    r = run("--input", dat, env={"PATH": os.path.join(place, "nothing")})
    ok(r.returncode == 1 and len(r.stderr.splitlines()) == 1 and b"package trace-cmd" in r.stderr,
       "a trace.dat without trace-cmd names the package", r)
    bin_ = os.path.join(place, "bin")
    os.mkdir(bin_)
    fake = {"PATH": bin_ + ":" + os.environ["PATH"]}
    report_text = os.path.join(FIXTURES, "6.12-noworkload.report")
    file("bin/trace-cmd",
         f'#!/bin/sh\n[ "$*" = "report -t -i {dat}" ] && cat {report_text}\n'.encode(), 0o755)
    r = run("--input", dat, "-f", "json", env=fake)
    ok(r.returncode == 0 and json.loads(r.stdout)["input"]["noises"] == 80,
       "a trace.dat goes through trace-cmd", r)
    for to in (), ("-o", out):
        there = file("there", b"")
        file("bin/trace-cmd", f"#!/bin/sh\ncat {report_text}\n{lib.tell_rights(there)}".encode(),
             0o755)
        r = run("--input", dat, *to, env=fake)
        said = open(out).read() if to else r.stdout.decode()
        ok(r.returncode == 0 and lib.has_rights(said, 1 << 2),
           f"trace-cmd may read any file, and write none {' '.join(to[:1])}", said[-300:])
    file("bin/trace-cmd", f"#!/bin/sh\ncat {report_text}; exit 3\n".encode(), 0o755)
    r = run("--input", dat, env=fake)
    ok(r.returncode == 1 and not r.stdout and b"trace-cmd could not read" in r.stderr,
       "a trace-cmd that fails is an error", r)
    r = run("--input", "-", given=open(dat, "rb").read())
    ok(r.returncode == 1 and b"give it as a file" in r.stderr, "a trace.dat on standard input", r)

# ---- beside a recording ----
golden = os.path.join(os.path.dirname(CULPRIT), "golden")
if os.path.exists(golden):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([golden, place], check=True, capture_output=True)
        recording = os.path.join(place, sorted(f for f in os.listdir(place) if "tick" in f)[0])
        r = run("--input", TRACE, recording, "-f", "json")
        b = json.loads(r.stdout)
        timer = [s for s in b["sources"] if s["name"] == "local_timer"]
        ok(r.returncode == 0 and len(timer) == 1 and timer[0]["osnoise"]["count"]
           and timer[0]["culprit"]["count"],
           "beside a recording: local_timer by both", r)
        r = run("--input", TRACE, recording)
        ok(r.returncode == 0 and b"local_timer" in r.stdout and b"per second observed" in r.stdout,
           "and as text", r)
        r = run("--input", TRACE, recording, recording)
        ok(r.returncode == 1 and len(r.stderr.splitlines()) == 1, "two recordings are refused", r)
        r = run("--input", TRACE, os.path.join(place, "none"))
        ok(r.returncode == 1 and b"No such file" in r.stderr, "one that is not there is an error",
           r)
else:
    skip("beside a recording", "the recordings of tests/golden are not built")
r = run("some.rec")
ok(r.returncode == 1 and b"compared with --input" in r.stderr, "a recording alone is refused", r)
done()
