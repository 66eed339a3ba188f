#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Options: old spellings still work, and say so where they could mean two things; what would be
dropped is refused. Needs no root."""
import datetime
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml_tree

from lib import CULPRIT, HANG_S, ROOT, culprit, done, is_, not_judged, ok, skip

place = tempfile.mkdtemp()
subprocess.run([os.path.join(os.path.dirname(CULPRIT), "golden"), place], check=True,
               capture_output=True)
TRACE = os.path.join(ROOT, "tests", "fixtures", "osnoise", "6.12.trace")


def at(name):
    return os.path.join(place, name)


def refused(what, *args, says, lines=1):
    r = culprit(*args)
    err = r.err.splitlines()
    ok(r.rc == 1 and not r.out and len(err) == lines and err[-1].startswith("culprit: ")
       and re.search(says, err[-1]), what, r,
       f"should say /{says}/")


# ---- old spellings ----
SAME = [("report", (at("two.rec"),), ("--cpu", "3"), ("-c", "3")),
        ("plot", (at("irq.rec"),), ("--cpu=3",), ("--cpus=3",)),
        ("osnoise", (), ("--from", TRACE), ("--input", TRACE))]
for command, operands, old, new in SAME:
    a, b = culprit(command, *operands, *old), culprit(command, *operands, *new)
    ok(a.rc == 0 and a.out and not a.err, f"{command} {old[0]} is taken", a)
    is_(a.out, b.out, f"{command} {old[0]} is {new[0]}")
# The option's own check answers: the spelling was understood.
for args, says in ((("pingpong", "-p", "x"), "^culprit: -p: 'x': not a whole number"),
                   (("pingpong", "--raw", "/nonexistent/x"), "/nonexistent/x"),
                   (("queue", "--input", "/nonexistent"), "cannot read /nonexistent"),
                   (("run", "--interval", "1s"), "--textfile-interval"),
                   (("queue", "--long", "-n", "x"), "^culprit: -n")):
    refused(f"{args[0]} {args[1]} is understood", *args, says=says)
is_(culprit("help", "--help").out, culprit("--help").out, "help has a help")
refused("watch -t with a bare number is --tid, and says so", "watch", "-t", "4194303",
        says="no thread 4194303", lines=2)
ok("-t is --threshold now, so write --tid 4194303" in culprit("watch", "-t", "4194303").err,
   "the warning tells what to write")
for option, name in (("--unit", "A" * 256), ("--cgroup", "/a/" + "*" + "A" * 256),
                     ("--cgroup", "/A" * 2048)):
    refused(f"watch {option} with {len(name)} bytes", "watch", option, name, "-d", "1ms",
            says=f"longer than what a {option[2:]} can be called")
refused("watch -t with a time is --threshold", "watch", "-t", "10us", says="watch what")
refused("watch --threshold takes no bare number", "watch", "--threshold", "4194303", says="no unit")
for command in culprit("help", "--list").out.split():
    told = culprit("help", command).out
    old = {"report": ("--cpu=",), "plot": ("--cpu=",), "osnoise": ("--from",),
           "run": ("--interval", " --series"),
           "pingpong": ("-p,", "--raw"), "queue": ("--input", "--long"),
           "watch": ("-t, --tid",)}.get(command, ())
    is_([o for o in old if o in told], [], f"help {command} tells no old spelling")

# ---- what would be dropped ----
for what, says, *args in (
        ("--force without a recording", "give --record", "run", "--force"),
        ("--style with a format", "leave out --format", "run", "--style", "oslat", "-f", "json"),
        ("--style with --stacks", "leave out --stacks", "run", "--style", "oslat", "--stacks"),
        ("--style osnoise with --no-trace", "leave out one", "run", "--style", "osnoise",
         "--no-trace"),
        ("--style oslat with a threshold above its buckets", "leave out -t", "run", "--no-trace",
         "-d", "1ms", "-q", "--style", "oslat", "-t", "20us"),
        ("--stop-on by whom with --no-trace", "nobody knows by whom", "run", "--no-trace", "-d",
         "1s", "-q", "--stop-on", "hiccup>1us by outside"),
        ("--textfile-interval without --textfile", "give --textfile", "run", "--textfile-interval",
         "5s"),
        ("--metrics-per group in a run", "at its end", "run", "--textfile", "x", "--metrics-per",
         "group"),
        ("--metrics-per group in a watch", "at its end", "watch", "-c", "0", "--listen", ":1",
         "--metrics-per", "group"),
        ("a workload's --force without a recording", "give --record", "sleep", "--force"),
        ("--chart with -f json", "works only with -f text", "report", at("two.rec"), "--chart",
         "-f", "json"),
        ("--stacks with -f json", "works only with -f text", "report", at("two.rec"), "--stacks",
         "-f", "json"),
        ("--percentiles with -f json", "works only with -f text", "report", at("sleep.rec"),
         "--percentiles", "wide", "-f", "json"),
        ("--series with a format that has all", "hgrm and hlog", "report", at("sleep.rec"),
         "--series", "latency"),
        ("a series that is not there", "--series latency is what there is", "report",
         at("sleep.rec"), "--series", "long", "-f", "hgrm"),
        ("pingpong --looks without its method", "spin-pauses", "pingpong", "-m", "spin", "--looks",
         "5"),
        ("plot --log without a picture", "give --output", "plot", at("two.rec"), "--log", "x"),
        ("plot --surface without a picture", "give --output", "plot", at("two.rec"), "--surface"),
        ("audit --script with a format", "leave out --format", "audit", "--script", "-f", "json"),
        ("audit --deep of a recording", "leave out one of them", "audit", "--deep", at("two.rec")),
        ("osnoise --input with what measures", "leave out --cpus", "osnoise", "--input", TRACE,
         "-c", "0"),
        ("osnoise --workload without --input", "give --input", "osnoise", "--workload", "3"),
        ("osnoise --alternate without an end", "give -d a time", "osnoise", "--alternate", "-d",
         "forever"),
        ("sleep --load-here without --load", "give --load", "sleep", "--load-here"),
        ("sleep --style-json without --style", "give --style", "sleep", "--style-json", "x"),
        ("sleep --style-json with culprit's style", "--style cyclictest", "sleep", "--style",
         "culprit", "--style-json", "x"),
        ("sleep --nanoseconds with culprit's style", "--style cyclictest", "sleep", "--style",
         "culprit", "--nanoseconds"),
        ("sleep --style-json with a limit", "leave out --max-hiccup", "sleep", "--style",
         "cyclictest", "--style-json", "x", "--max-hiccup", "1ms"),
        ("run --style-json without --style", "give --style", "run", "--style-json", "x"),
        ("run --style-json with another style", "give --style oslat", "run", "--style", "osnoise",
         "--style-json", "x", "-o", "y"),
        *((f"run {args[0]} with another style", "give --style oslat, too", "run", "--style",
           "hiccups", *args) for args in (("--oslat-bias",), ("--oslat-brief",),
                                          ("--oslat-omit-zero",), ("--oslat-buckets", "8"))),
        ("pingpong --style-raw with culprit's style", "give --style pingpong, too", "pingpong",
         "--style", "culprit", "--style-raw"),
        *((f"run --style with {args[0]}, which nothing shows", "leave out one of the two", "run",
           "--style", "oslat", "-d", "1s", *args) for args in (
               ("--by", "unit"), ("--by", "unit", "-r", at("no")), ("--command-lines",),
               ("--user-stacks",))),
        *((f"{command} --undo with {args[0]}", f"only puts back .*: leave out {args[0]} ", command,
           "--undo", *args) for command, *args in (
               ("try", "--cpus", "0"), ("try", "--format", "json"), ("tune", "--until", "worst<1s"),
               ("tune", "--ansible", at("no")))),
        ("osnoise --memory without a file", "give --input FILE", "osnoise", "--memory", "1G"),
        ("audit --memory without a file", "for a RECORDING", "audit", "--memory", "1G"),
        *((f"report --by with -f {form}", f"leave out --format {form} ", "report", at("two.rec"),
           "--by", "comm", "-f", form) for form in ("hgrm", "hlog")),
        ("pingpong --matrix with --stacks", "leave out --stacks", "pingpong", "--matrix",
         "--stacks"),
        *((f"pingpong --matrix with {args[0]}", f"leave out {args[0]} ", "pingpong", "--matrix",
           *args) for args in (("--stop-on", "hiccup>1us"), ("--user-stacks",), ("--all",),
                               ("--command-lines",))),
        *((f"{command} --style with {args[0]}", f"leave out {args[0]} ", command, "--style", tool,
           *args) for command, tool in (("sleep", "cyclictest"), ("pingpong", "pingpong"))
          for args in (("--format", "json"), ("--stacks",), ("--chart",), ("--all",),
                       ("--percentiles", "wide"))),
        ("sleep --style with --load", "leave out --load", "sleep", "--style", "cyclictest",
         "--load", "cpu"),
        *((f"osnoise --input with {args[0]}", f"leave out {args[0]} ", "osnoise", "--input", TRACE,
           *args) for args in (("--begin", "/10s"), ("--ready-file", "x"))),
        *((f"report --rank with {args[0]}", f"leave out {args[0]} ", "report", "--rank",
           at("two.rec"), *args) for args in (("--stacks",), ("--chart",), ("--all",),
                                              ("--percentiles", "wide"), ("--kind", "irq"),
                                              ("--max-hiccup", "1s"), ("--host", at("two.rec")))),
        *((f"report --top with -f {form}", f"leave it out with -f {form}$", "report",
           at("two.rec"), "--top", "1", "-f", form, "-o", at("no"))
          for form in ("csv", "jsonl", "folded", "hgrm", "hlog", "openmetrics", "parquet")),
        *((f"one run twice with -f {form}", "leave out one of them", "report", at("two.rec"),
           at("four.rec"), at("two.rec"), "-f", form) for form in ("openmetrics", "prometheus")),
        *((f"report {args[0]} with -f {form}", f"of what -f {form} has", "report", at("four.rec"),
           *args, "-f", form) for args in (("--kind", "irq"), ("--source", "*"))
          for form in ("folded", "hgrm", "hlog", "openmetrics", "parquet-rollup",
                       "prometheus")),
        *((f"{command} --no-trace with {args[0]}", "leave out --(no-trace|stacks|metrics-label)",
           command, "--no-trace", *args) for command, *args in (
               ("run", "--by", "unit"), ("run", "--stacks"), ("sleep", "--stacks"),
               ("record", "--command-lines"), ("run", "--metrics-label", "unit"))),
        ("run --raw with --host-listen", "leave out --raw ", "run", "--raw", "x", "--host-listen",
         "tcp:1", "--token", "x"),
        ("pingpong --pin with -c", "leave out --cpus", "pingpong", "--pin", "0,1", "-c", "0")):
    refused(f"{what} is refused", *args, says=says)

# ---- who chooses the CPUs leaves those of -H ----
ONLINE = open("/sys/devices/system/cpu/online", encoding="utf-8").read().strip()
low, *more = sorted(os.sched_getaffinity(0))
for command in "pingpong", "queue":
    refused(f"{command} -H: what is left is not enough", command, "--no-trace", "-H", ONLINE,
            says="needs 2 CPUs, but only 0 can be used: give more with -c, or fewer with -H")
refused("selftest -H", "selftest", "-H", ONLINE, says="needs 1 CPUs, but only 0")
if len(more) > 1:
    r = culprit("pingpong", "--no-trace", "--no-audit", "-q", "-n", "10", "-f", "json", "-H",
                str(more[0]))
    ok(r.rc == 0 and more[0] not in [c["cpu"] for c in json.loads(r.out)["cpus"]],
       "pingpong -H leaves it out", r)
else:
    skip("pingpong -H leaves it out", "needs three CPUs")

# ---- triggers and what they do ----
for what, says, *args in (
        ("--when without --last", "give --last", "--when", "end"),
        ("--keep without --last", "give --last", "--keep", "3"),
        ("a trigger that cannot be", "'late': late cannot happen here: use hiccup, lost, count, "
         "SIGUSR1 or end", "--last", "1s", "--when", "late"),
        ("an action that is none", "'mail' is no action: use keep", "--last", "1s", "--then",
         "mail"),
        ("exec without a command", "'exec:' is no action", "--last", "1s", "--then", "exec:"),
        ("a signal that is none", "no such signal", "--last", "1s", "--then", "signal:FOO:1"),
        ("a signal to nobody", "to which process", "--last", "1s", "--then", "signal:USR1"),
        ("a PID that is none", "not a whole number", "--last", "1s", "--then", "signal:USR1:x"),
        ("a process that is not there", "process 4194304: No such process", "--last", "1s",
         "--then", "signal:USR1:4194304"),
        ("a rate without a time", "like 1/10s", "--last", "1s", "--rate", "5"),
        ("a rate of nothing", "'0'", "--last", "1s", "--rate", "0/s"),
        ("two files in one", "needs a directory", "--last", "1s", "--keep", "2"),
        ("an instance that is none", "no name of an instance", "--last", "1s", "--then",
         "trace_off:a/b")):
    refused(f"{what} is refused", "record", "--no-trace", "-d", "1s", *args, at("none.rec"),
            says=says)
for what, says, begin in (("a time that is none", "is no time: use @", "soon"),
                          ("a time that is over", "over .* before all was ready", "@1"),
                          ("no time at all", "'0s'", "/0s")):
    refused(f"--begin: {what} is refused", "run", "--no-trace", "-d", "1s", "-q", "--begin", begin,
            says=says)
# Exact, however late the machine is: not before the first multiple of two seconds.
asked, begins = time.time(), "syscall --begin /2s begins with a multiple of two seconds"
r = culprit("syscall", "--begin", "/2s", "-d", "50ms", "--no-trace", "-q", "-f", "json")
run = json.loads(r.out)["run"] if r.rc == 0 else {"started": "1970-01-01T00:00:01"}
started = datetime.datetime.fromisoformat(run["started"][:19] + "+00:00").timestamp()
first = (asked // 2 + 1) * 2
if started >= first and started % 2:  # late by a second, or not by the clock
    not_judged(begins, f"it began at {run['started']}")
else:
    ok(started >= first, begins, r, asked)
refused("watch --last without a place", "watch", "-p", str(os.getpid()), "--last", "1s",
        says="where, with --record")
refused("a directory in one that is not there", "record", "--no-trace", "-d", "1s", "--last", "1s",
        at("nowhere/deep/"), says="cannot make the directory")
try:
    os.mkdir("/sys/x")
except OSError as error:
    refused("a directory where none can be made", "record", "--no-trace", "-d", "1s", "--last",
            "1s", "/sys/x/", says=f"cannot make the directory /sys/x/: {error.strerror}")
refused("a directory that is a file", "record", "--no-trace", "-d", "1s", "--last", "1s",
        at("two.rec") + "/", says="two.rec/: it is no directory")
ok(not os.path.exists(at("none.rec")), "and nothing is made")

# ---- one file for two ----
for what, other, *args in (
        ("run -o and -r", "--record", "run", "--no-trace", "-d", "50ms", "-r", at("one")),
        ("run -o and --hiccups", "--hiccups", "run", "--no-trace", "-d", "50ms", "--hiccups",
         at("one")),
        ("report -o and --junit", "--junit", "report", at("two.rec"), "--junit", at("one")),
        ("osnoise -o and --input", "--input", "osnoise", "--input", at("one"))):
    refused(f"{what} to one file are refused", *args, "-o", at("one"),
            says=f"one is given to {other}, too, and would be lost: choose another file")
ok(not os.path.exists(at("one")), "and nothing is made")
shutil.copy(at("two.rec"), at("copy.rec"))
os.symlink(at("copy.rec"), at("way.rec"))
for command, way, *args in (("report", "copy"), ("report", "way"), ("audit", "copy"),
                            ("plot", "way", "-f", "svg"), ("diff", "way", at("two.rec"))):
    refused(f"{command} -o of what it reads is refused ({way})", command, at("copy.rec"), *args,
            "-o", at(f"{way}.rec"), says=f"is given to {command} itself, too")
with open(at("copy.rec"), "rb") as a, open(at("two.rec"), "rb") as b:
    ok(a.read() == b.read(), "and the recording stays")
for what, *args in (
        ("another side", at("copy.rec"), "--", at("two.rec"), "-o", at("copy.rec")),
        ("a side that follows", "-o", at("copy.rec"), at("two.rec"), "--", at("copy.rec")),
        ("another group", "--group", at("copy.rec"), at("two.rec"), "--group", at("irq.rec"), "-o",
         at("copy.rec"))):
    refused(f"diff -o of what it reads is refused: {what}", "diff", *args,
            says="copy.rec is given to diff itself, too")
refused("diff -o of a host of another side is refused", "diff", at("irq.rec"), "--host",
        at("copy.rec"), "--", at("two.rec"), "-o", at("copy.rec"),
        says="copy.rec is given to --host, too")
refused("report -o of the first of two hosts is refused", "report", at("irq.rec"), "--host",
        at("copy.rec"), "--host", at("two.rec"), "-o", at("copy.rec"),
        says="copy.rec is given to --host, too")
with open(at("copy.rec"), "rb") as a, open(at("two.rec"), "rb") as b:
    ok(a.read() == b.read(), "and it stays")
for what, other, *args in (
        ("queue --ready-file", "payload", "queue", "--ready-file", at("x.3"), "--payload"),
        ("watch --ready-file", "token", "watch", "-p", "1", "--to", "tcp:127.0.0.1:1",
         "--ready-file", at("x.3"), "--token"),
        ("run --raw", "output", "run", "--no-trace", "-d", "50ms", "--raw", at("x"), "-o")):
    refused(f"{what} of the file of --{other} is refused", *args, at("x.3"),
            says=rf"x\.3 is given to --{other}, too, and would be lost")
with open(at("both"), "w+", encoding="utf-8") as f:
    r = subprocess.run([CULPRIT, "report", at("irq.rec"), "-o", "/dev/stdout", "--tap",
                        "/dev/stdout"], stdout=f, stderr=subprocess.PIPE, text=True,
                       timeout=HANG_S)
with open(at("both"), encoding="utf-8") as f:
    text = f.read()
ok(r.returncode == 0 and text.startswith("culprit ") and "\n1..1\n" in "\n" + text,
   "what adds to standard output may do so together", r, text)
with open(at("m.prom"), "w+", encoding="utf-8") as f:
    r = subprocess.run([CULPRIT, "run", "--no-trace", "-q", "-d", "50ms", "--textfile",
                        at("m.prom")], stdout=f, stderr=subprocess.PIPE, text=True, timeout=HANG_S)
ok(r.returncode == 1 and "m.prom is standard output or" in r.stderr
   and not os.path.getsize(at("m.prom")), "--textfile does not replace standard output", r)
r = culprit("report", at("irq.rec"), "-o", "/dev/null", "--tap", "/dev/null")
ok(r.rc == 0 and not r.err, "/dev/null may take both", r)

# ---- a recording to standard output ----
os.symlink("/proc/self/fd/1", at("stdout"))  # as /dev/stdout is, which root would lose
for what, *args in (("record", "record"), ("record --force", "record", "--force"),
                    ("record --last", "record", "--last", "1s", "--force"),
                    ("run -r", "run", "--force", "-r")):
    for to in "file", "pipe":
        with open(at("redirected"), "w+", encoding="utf-8") as f:
            f.write("before")
            f.flush()
            r = subprocess.run([CULPRIT, *args, at("stdout"), "--no-trace", "-q", "-d", "50ms"],
                               stdout=f if to == "file" else subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, timeout=HANG_S)
        with open(at("redirected"), encoding="utf-8") as f:
            ok(r.returncode == 1 and not r.stdout and f.read() == "before"
               and os.path.islink(at("stdout"))
               and re.fullmatch(r"culprit: \S*/stdout is standard output or .*record to a file or "
                                r"a pipe of its own\n", r.stderr),
               f"{what}: standard output, a {to}", r)

with open(at("keep.jsonl"), "w", encoding="utf-8") as f:
    f.write("kept")
for to, says in (at("stdout"), "is standard output"), (at("two.rec"), "two.rec exists already"):
    r = culprit("run", "--no-trace", "-q", "-d", "50ms", "--hiccups", at("keep.jsonl"), "-r", to)
    with open(at("keep.jsonl"), encoding="utf-8") as f:
        ok(r.rc == 1 and says in r.err and f.read() == "kept",
           f"run -r: {says}: before anything is made", r)
    r = culprit("queue", "--no-trace", "-q", "-n", "5", "--journal", at("journal"), "-r", to)
    ok(r.rc == 1 and says in r.err and not os.path.exists(at("journal")), f"queue -r: {says}", r)

# ---- nothing is left ----
is_(culprit("report", at("irq.rec"), "--from", "0s", "--to", "10s").out,
    culprit("report", at("irq.rec"), "--to", "10s").out, "a part may begin where the window does")
refused("a part behind the end is refused", "report", at("irq.rec"), "--from", "20s",
        says="irq.rec: it ends after 1.00 s, and")
refused("a part that begins at the end is refused", "report", at("irq.rec"), "--from", "1s", "-f",
        "json", says="irq.rec: it ends after 1.00 s")
refused("CPUs that were not recorded are refused", "report", at("irq.rec"), "-c", "99",
        says="was not recorded; recorded are 3")
refused("a source that is not there is refused", "report", at("irq.rec"), "--source", "nosuch",
        says="no source has this")
refused("a kind that is not there is refused", "report", at("irq.rec"), "--kind", "nmi", "-f",
        "json", says="no source has this")
for what, says, *args in (("a source that is not there", "no source has", "--source", "nosuch"),
                          ("a part behind the end", "it ends after 1.00 s", "--from", "20s")):
    refused(f"as lines, {what} is refused before their head", "report", at("irq.rec"), *args,
            "-f", "csv", says=says)
    with open(at("kept.csv"), "w", encoding="utf-8") as f:
        f.write("what stood there")
    refused(f"and into a file, {what}", "report", at("irq.rec"), *args, "-f", "csv", "-o",
            at("kept.csv"), says=says)
    with open(at("kept.csv"), encoding="utf-8") as f:
        is_(f.read(), "what stood there", "which keeps what it had")

for command, cpus in ("run", "-c"), ("sleep", "-c"), ("pingpong", "--pin"):
    refused(f"{command} --style's default goes with a format", command, "--style", "culprit", "-f",
            "json", cpus, "8000,8001", says="does not exist or is offline")

# ---- thresholds ----
for name, args, rc, says in (("irq.rec", ("--max-hiccup", "1us"), 2,
                              "CPU 3: a hiccup of .* is longer than --max-hiccup 1.00 us"),
                             ("irq.rec", ("--max-lost", "0.001", "-f", "json"), 2,
                              "CPU 3: .* of its time lost is more than --max-lost"),
                             ("watch.rec", ("--max-hiccup", "1us"), 2,
                              "is longer than --max-hiccup"),
                             ("irq.rec", ("--max-hiccup", "1h", "--max-lost", "99"), 0, "^$")):
    r = culprit("report", at(name), *args)
    ok(r.rc == rc and r.out and re.search(says, r.err),
       f"report {name} {' '.join(args)} exits with {rc}", r)

# A limit below the threshold: of a workload's operations the longest is known all the same, of what
# else is shorter nobody could tell. What is learned leaves nothing between it and a trigger.
SLEEP = ("sleep", "-c", str(max(os.sched_getaffinity(0))), "--no-trace", "--no-audit", "-q", "-n",
         "20", "-i", "1ms")
LEARNED = r" threshold (9\d\d ns|1\.00 us) \(auto\)"  # whole ticks, at most 1 us
rec = at("none-slow.rec")
for what, *args in (("sleep", *SLEEP, "-t", "1h", "-r", rec), ("its recording", "report", rec)):
    r = culprit(*args, "--max-hiccup", "1us")
    ok(r.rc == 2 and re.fullmatch(r"culprit: CPU \d+: an operation of .* is longer than "
                                  r"--max-hiccup 1.00 us\n", r.err) and r.out,
       f"{what}: a limit below the threshold holds for the longest operation", r)
is_(culprit("report", rec, "--max-hiccup", "30m").rc, 0, "which may be shorter")
r = culprit(*SLEEP, "--stop-on", "wake>1us")
ok(r.rc == 2 and re.search("stops: .*wake>1us", r.err) and re.search(LEARNED, r.out),
   "the threshold of a workload is learned no higher than a trigger", r)
r = culprit(*SLEEP, "--max-hiccup", "1us")
ok(r.rc == 2 and " (auto)" in r.out and not re.search(LEARNED, r.out),
   "--max-hiccup leaves it as it is", r)
culprit("record", *SLEEP[1:-4], "-d", "50ms", "-t", "1h", at("slow.rec"))
r = culprit("report", at("irq.rec"), "--max-hiccup", "1ns")
ok(r.rc == 2 and r.out and "longer than --max-hiccup 1 ns" in r.err,
   "a limit below the threshold that a hiccup has crossed", r)
for what, says, *args in (
        ("a recording, by -t", "CPU 3 only what takes 100 us or more .* or a shorter -t", "report",
         at("irq.rec"), "-t", "100us", "--max-hiccup", "1us"),
        ("a recording, by its own", r"or record with a shorter -t", "report", at("slow.rec"),
         "--max-hiccup", "1us"),
        ("a part of a workload's", "CPU .* only what takes .* or record with", "report", rec,
         "--from", "1ms", "--max-hiccup", "1us"),
        ("a run", "CPU .* only what takes 100 us or more", "run", "--no-trace", "-d", "1s", "-q",
         "-t", "100us", "--max-hiccup", "50us"),
        ("a run's trigger", "'hiccup>1ns': nobody can tell", "run", "--no-trace", "-d", "1s", "-q",
         "--stop-on", "hiccup>1ns"),
        ("a sleep's trigger", "'wake>50us': nobody can tell", *SLEEP, "-t", "100us", "--stop-on",
         "wake>50us"),
        ("a trigger below the least that is learned", "'wake>1ns': nobody can tell", *SLEEP,
         "--stop-on", "wake>1ns"),
        ("the flight recorder's trigger", "'hiccup>1us': nobody can tell", "record", "--no-trace",
         "-d", "1s", "-t", "2us", "--last", "1s", "--when", "hiccup>1us", at("never.rec"))):
    refused(f"{what}: a time below the threshold is refused", *args, says=says)

# Limits as cases for a CI: each CPU by each limit, and the whole run, once a recording.
xml, tap = at("limits.xml"), at("limits.tap")
r = culprit("report", at("watch.rec"), at("threads.rec"), "--max-hiccup", "1us", "--max-lost",
            "99.9", "--junit", xml, "--tap", tap)
cases = xml_tree.parse(xml).getroot()[0]
bad = [c for c in cases if c.find("failure") is not None]
lanes = [json.loads(culprit("report", at(n + ".rec"), "-f", "json").out)["cpus"]
         for n in ("watch", "threads")]
is_((r.rc, len(cases), len(bad)), (3, 2 * sum(map(len, lanes)) + 4, len(r.err.splitlines())),
    "--junit: a case for each CPU and limit, and what no thread is known for; failures as on "
    "stderr")
is_((int(cases.get("tests")), int(cases.get("failures"))), (len(cases), len(bad)), "their numbers")
with open(tap, encoding="utf-8") as f:
    lines = f.read().splitlines()
is_(lines[:2], ["TAP version 13", f"1..{len(cases)}"], "--tap: its plan")
is_(sum(line.startswith("not ok ") for line in lines), len(bad), "--tap: as many failures")
is_([line for line in lines[2:] if not re.match(r"ok \d+ - |not ok \d+ - |# ", line)
     or not line.isprintable()], [], "--tap: names break no line")
is_([line for line in lines if re.search(r"[^\\]#", line[2:])], [], "--tap: nor make directives")
# Losses that a watch of threads may have missed, and cases that name them.
KEPT = os.path.join(ROOT, "tests/fixtures/recordings/3.0/watch.rec")
UNKNOWN = "what share of its time it lost is not known: "
for what, rec, limit, rc, *bad in (
        ("a wait that was not over", at("watch.rec"), ("--max-hiccup", "2ms"), 2,
         ("engine [700]", "a wait of 3.00 ms that was not over when the window ended is longer")),
        ("one of a thread that never ran", at("watch.rec"), ("--max-hiccup", "19ms"), 2,
         ("the run", "a chosen thread that never ran had waited for 20.0 ms")),
        ("waits without a place", at("watch.rec"), ("--max-hiccup", "1s"), 2,
         ("the run", "2 waits had no place in the table, and each of them may have been longer")),
        ("reports that nobody read", at("vm.exits"), ("--max-hiccup", "1s"), 2,
         ("reports of programs", "3 were not read, and may have been longer")),
        ("a thread that left unseen", KEPT, ("--max-hiccup", "1s"), 2,
         ("=pool|<b> [702]", "3 times nobody saw when it left its CPU: a loss longer than")),
        ("a part of a run where one left unseen", KEPT,
         ("--max-hiccup", "1s", "--to", "1ms"), 3),
        ("a share that is not known", KEPT, ("--max-lost", "50"), 3,
         ("audio [701]", UNKNOWN + "it reported its losses itself"),
         ("=pool|<b> [702]", UNKNOWN + "not all of its time was seen"),
         ("thread [703]", UNKNOWN + "it reported its losses itself")),
        ("shares of a part", KEPT, ("--max-lost", "50", "--to", "100ms"), 3,
         ("engine [700]", UNKNOWN + "this is a part"))):
    r = culprit("report", rec, *limit, "--tap", tap)
    with open(tap, encoding="utf-8") as f:
        failed = re.findall(r"^not ok \d+ - (.*) of \S+: --max-", f.read(), re.M)
    ok(r.rc == rc and all(f"culprit: {who}: {why}" in r.err and who in failed for who, why in bad),
       f"{what}: meets no limit", r, failed)
r = culprit("report", at("vm.exits"), "-f", "prometheus")
is_(re.findall(r"\nculprit_(?:reports|hiccups)_lost_total.* (\d+)", r.out), ["0", "0", "0", "3"],
    "reports that nobody read are the run's, and no thread's")
with open(at("irq.rec"), "rb") as f, open(at("short.rec"), "wb") as short:
    short.write(f.read()[:-100])  # the end is missing
is_([(r.rc, json.loads(r.out)["run"]["incomplete"] is None) for r in (
    culprit("report", at("short.rec"), "-f", "json"),
    culprit("report", at("short.rec"), "-f", "json", "--max-hiccup", "10s"),
    culprit("report", at("short.rec"), "-f", "json", "--tap", tap))],
    [(0, False), (3, False), (3, False)],
    "a verdict on a run that was cut short is told from others, as the run itself would tell it")
with open(tap, encoding="utf-8") as f:
    ok("not ok 1 - " in f.read(), "--tap: so does the file")
r = culprit("report", at("irq.rec"), "--max-hiccup", "1s", "--tap", "/nowhere/x")
ok(r.rc == 1 and r.err.count("\n") == 1 and "/nowhere/x" in r.err and not r.out,
   "--tap: a file that cannot be made is told before the report", r)

# ---- standard input and output ----
report = culprit("report", at("two.rec")).out
recording = open(at("two.rec"), "rb").read()


def piped(*args, given=recording):
    return subprocess.run([CULPRIT, *args], input=given, capture_output=True, timeout=HANG_S)


is_(piped("report", "-").stdout.decode(), report, "report - reads a pipe")
with open(at("two.rec"), "rb") as f:
    is_(subprocess.run([CULPRIT, "report", "-"], stdin=f, capture_output=True).stdout.decode(),
        report, "report - reads a file")
r = piped("diff", "-", "-", "-f", "json")
ok(r.returncode == 0 and r.stdout.startswith(b"{"), "diff - - reads it twice", r)
for what, given, says in (("nothing", b"", "standard input is not a recording.*empty"),
                          ("a text", b"hello\n", "standard input is not a recording"),
                          ("a head alone", recording[:100], "standard input: ")):
    r = piped("report", "-", given=given)
    ok(r.returncode == 1 and not r.stdout and re.search(says, r.stderr.decode())
       and r.stderr.count(b"\n") == 1, f"{what} on standard input is refused", r)
with open("/dev/zero", "rb") as endless, subprocess.Popen(["cat"], stdin=endless,
                                                          stdout=subprocess.PIPE) as cat:
    r = subprocess.run([CULPRIT, "report", "-"], stdin=cat.stdout, capture_output=True,
                       timeout=HANG_S)
    cat.kill()
ok(r.returncode == 1 and b"is not a recording" in r.stderr,
   "what is no recording and never ends is not copied to its end", r)
is_(culprit("report", at("two.rec"), "-o", "-").out, report, "report -o - is standard output")
ok(not os.path.exists("-"), "no file of this name is made")
is_(culprit("osnoise", "--input", TRACE, "-o", "-").out, culprit("osnoise", "--input", TRACE).out,
    "osnoise -o - is standard output")
for name in ("-", at("entry.txt")):
    r = culprit("explain", "K09", "-o", name)
    if name != "-":
        with open(name, encoding="utf-8") as f:
            ok(not r.out, "explain -o FILE prints nothing beside it", r)
            r.out = f.read()
    is_(r.out, culprit("explain", "K09").out, f"explain -o {os.path.basename(name)}")
refused("explain -o of a file that cannot be is refused", "explain", "K09", "-o",
        at("nosuch/entry.txt"), says="cannot write to .*choose another file with -o")
is_(piped("plot", "-", "-o", "-", "-f", "json").stdout[:1], b"{",
    "plot -o - writes the picture alone")
refused("plot -o - without -f is refused", "plot", at("two.rec"), "-o", "-", says="give -f")
for args in (("run", "--hiccups", "-"), ("run", "-r", "-"), ("run", "--textfile", "-"),
             ("sleep", "-r", "-"), ("pingpong", "--times", "-")):
    refused(f"{' '.join(args)} is refused", *args, says="name a file")
refused("record - is refused", "record", "-", says="not to standard output")

shutil.rmtree(place)
done()
