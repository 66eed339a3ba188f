#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--redact: names planted wherever a recording has one that is its users' stand in every format
without it, and in none with it."""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import forged
from lib import BUILD, CULPRIT, HANG_S, done, is_, ok

room = tempfile.TemporaryDirectory(prefix="culprit-test-")
place = room.name
subprocess.run([os.path.join(BUILD, "golden"), place], check=True, stdout=subprocess.DEVNULL)
formats = [m for m in re.findall(r"^ {25,35}(\w+) ", subprocess.run(
    [CULPRIT, "report", "--help"], capture_output=True, text=True).stdout.split("--output")[0],
    re.M)]
ok(len(formats) >= 12, "the formats", formats)
KERNELS = re.compile(r"(swapper|ksoftirqd|migration|cpuhp|rcuc|ktimers)/\d+|kworker/u?\d+:\d+H?|"
                     r"rcu_\w+|\(others\)|culprit.*")
MARK = re.compile(rb"Zq[0-9]{2}[a-z]*|Zq-in-\w+")


def run(*args):
    """Output of report, or of another command; 2: audit has found something."""
    r = subprocess.run([CULPRIT, *args], capture_output=True, timeout=HANG_S)
    if r.returncode not in (0, 2):
        raise RuntimeError(f"{args}: {r}")
    return r.stdout


def texts(x, wanted=("hostname", "label", "comm")):
    """All such strings in JSON, and the names of user threads."""
    if isinstance(x, dict):
        for key, value in x.items():
            if key in wanted and isinstance(value, str):
                yield value
            yield from texts(value, wanted)
        if x.get("kind") == "thread" and not x.get("kernel_thread") and "comm" in wanted:
            yield x.get("name") or ""
    elif isinstance(x, list):
        for value in x:
            yield from texts(value, wanted)


FACTS = (b"proc/cmdline", b"quiet root=Zq-in-root isolcpus=1-2,Zq-in-isolcpus nohz_full=1-2\n"), \
    (b"run/dmesg", b"workqueue: Zq-in-dmesg hogged CPU\n"), \
    (b"run/tasks/0000", b"812 812 S 400040 1 0 0 1-3 0 Zq-in-tasks\n"), \
    (b"run/irqbalance", b"IRQBALANCE_ARGS=Zq-in-environ\n"), \
    (b"sys/fs/cgroup/Zq-in-slice/cpuset.cpus.partition", b"root\n"), \
    (b"etc/systemd/system.conf", b"CPUAffinity=Zq-in-conf\n"), \
    (b"proc/mounts", b"/dev/sda /Zq-in-mounts ext4 rw 0 0\n"), \
    (b"proc/sys/kernel/hostname", b"Zq-in-hostname\n"), \
    (b"sys/class/net/Zq-in-net/threaded", b"1\n"), \
    (b"sys/kernel/tracing/instances/Zq-in-instance/current_tracer", b"osnoise\n"), \
    (b"sys/module/x/parameters/y", b"Zq-in-parameter\n"), \
    (b"proc/sys/vm/stat_interval", b"10\n"), (b"sys/devices/system/cpu/online", b"0-7\n"), \
    (b"sys/devices/system/cpu/possible", b"0-7\n")


def plant(path):
    """A mark in place of each name, as long as it; and facts with marks."""
    report = json.loads(run("report", path, "-f", "json"))
    functions = set(texts(report, ("function",)))  # one recording calls both the same
    names = {n for n in texts(report)
             if len(n) >= 4 and not KERNELS.fullmatch(n) and n not in functions}
    mark = {}
    for i, name in enumerate(sorted(names, key=lambda n: (-len(n), n))):
        mark[name.encode()] = (b"Zq%02d" % i + b"abcdefghijklmnopqrstuvwxyz")[:len(name)]
    mark[b"lru_add_drain_per_cpu"] = b"bpf_prog_Zq-in-a_prog"
    parts = []
    with open(path, "rb") as f:
        data = f.read()
        for kind, payload in forged.chunks(data):
            for name, instead in mark.items():
                payload = re.sub(rb"(?<![\w-])" + re.escape(name) + rb"(?![\w-])", instead, payload)
            if kind != b"FACT":
                parts.append((kind, payload))
            if kind == b"HEAD":
                parts.append((b"FACT", b"".join(forged.fact(*x) for x in sorted(FACTS))))
    planted = path.replace(".rec", ".planted")
    with open(planted, "wb") as f:
        f.write(forged.recording(parts, data[8]))
    return planted


def marks(*args):
    return set(MARK.findall(run(*args)))


recordings = [plant(path) for path in sorted(glob.glob(place + "/*.rec"))]
jobs = [("report", path, "-f", f, *more) for path in recordings for f in formats
        for more in ((), ("--stacks", "--all")) if f == "text" or not more]
jobs += [("audit", path, "-f", f) for path in recordings for f in ("text", "json", "markdown")]
jobs += [("audit", path, "--script") for path in recordings]
jobs += [("diff", recordings[0], recordings[0], "-f", f) for f in ("text", "json", "markdown")]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    plain = list(pool.map(lambda job: marks(*job), jobs))
    redacted = list(pool.map(lambda job: marks(*job, "--redact"), jobs))
for f in formats:
    of = [m for job, m in zip(jobs, plain) if job[:1] + job[2:4] == ("report", "-f", f)]
    found = set().union(*of)
    # these have numbers of CPUs only, and csv the host's name
    ok(found or f in ("hgrm", "hlog"), f"{f} without it: marks are there", found)
ok(any(b"Zq-in" in m for of in plain for m in of), "and marks of facts", plain)
is_([(job, m) for job, m in zip(jobs, redacted) if m], [], "with it there is none in any")
both = run("report", *recordings[:2], "--redact", "-f", "json")
is_(sorted(set(re.findall(rb'"hostname": ?"([^"]*)"', both))), [b"host-1", b"host-2"],
    "hosts stay apart")
os.mkdir(place + "/Zq-in-a")
twice = [place + "/Zq-in-a/Zq-in-" + name for name in ("before", "after")]
for path in twice:  # both of one host: a report tells them apart by their names
    shutil.copy(recordings[0], path)
other = place + "/Zq-in-a/Zq-in-other"
shutil.copy(recordings[1], other)
ONE_RUN, METRICS = ("perfetto", "parquet"), ("openmetrics", "prometheus")
apart = {f: run("report", twice[0], other if f in METRICS else twice[1], "-f", f, "--redact")
         for f in formats if f not in ONE_RUN}
is_([f for f in apart if MARK.search(apart[f])], [], "nor are there names of files")
is_([f for f in ("text", "markdown", "html") if b"#1" not in apart[f] or b"#2" not in apart[f]],
    [], "two recordings of one host have numbers")
ok(b"Zq-in-after" in run("report", *twice), "as without it they have their names")
labelled = [p for p in recordings if re.search(rb'"label": ?"Zq', run("report", p, "-f", "json"))]
ok(labelled, "a label is planted")
drawings = [("plot", p, "-f", f, "-o", "-") for p in (*labelled, *twice)
            for f in ("svg", "html", "gnuplot", "json")] + [("plot", p) for p in labelled]
drawings += [("diff", *twice, "-f", f) for f in ("text", "markdown", "json")]
drawings += [("diff", *twice, "--", *twice, "-f", f) for f in ("text", "markdown", "json")]
is_([job for job in drawings if not marks(*job)], [], "plot and diff without it: marks are there")
is_([(job, m) for job in drawings for m in [marks(*job, "--redact")] if m], [],
    "with it there is none")
is_([(f["file"], f["label"]) for f in json.loads(
    run("plot", *twice, "--redact", "-f", "json", "-o", "-"))["files"]],
    [("#1", None), ("#2", None)], "files have numbers in a plot")
is_([(s["side"], s["file"]) for s in json.loads(
    run("diff", twice[0], "--", *twice, "--redact", "-f", "json"))["files"]],
    [(0, "A"), (1, "B1"), (1, "B2")], "and letters in a comparison")
for path in twice:
    with open(path, "rb") as f:
        data = f.read()
    with open(path, "wb") as f:
        f.write(forged.private(data))
kept = {f: run("report", *twice, "-f", f) for f in ("text", "markdown", "html")}
ok(b"left out: names of the host" in kept["text"], "recorded without names", kept["text"])
is_([f for f in kept if b"Zq-in-after" in kept[f]], [], "its files' names are not there")
text = run("report", recordings[0], "--redact").decode()
ok("left out: names of the host" in text, "a report says what is left out", text[:400])
ok(json.loads(run("report", recordings[0], "--redact", "-f", "json"))["run"]["redacted"] is True,
   "so does its JSON")
r = subprocess.run([CULPRIT, "audit", "--redact"], capture_output=True, text=True)
ok(r.returncode == 1 and "RECORDING" in r.stderr, "audit of the machine has nothing to redact", r)
room.cleanup()
done()
