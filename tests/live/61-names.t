#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Names that threads choose: one that renames itself thousands of times takes no rows from others,
and who is called as a kernel thread is not taken for one. And whose threads are, and who asks for
them: by their control groups, also of those that came after the start and are gone before the
report, each after milliseconds (LONG=1: a thousand of them)."""
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

import lib
from lib import cpu_of, done, is_, not_judged, ok, sources, total

CHILD = """
import ctypes, os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
prctl = ctypes.CDLL(None).prctl
def name(text): prctl(15, text.encode(), 0, 0, 0)
def burn(seconds):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds: pass
    time.sleep(0.01)
for i in range(6000):
    name(f"storm-{i}")
    time.sleep(0.00002)
if not os.fork():
    name("heavy-one")
    print("heavy", os.getpid(), flush=True)
    burn(0.3)
    os._exit(0)
os.wait()
for fake in (f"ksoftirqd/{sys.argv[1]}", f"kworker/{sys.argv[1]}:0", "[kswapd0]", "(others)"):
    name(fake)
    print("fake", os.getpid(), fake, flush=True)
    burn(0.02)
for i in range(3000):
    name(f"more-{i}")
    time.sleep(0.00002)
"""

OWNED = """
import ctypes, os, sys, time
with open(sys.argv[3] + "/cgroup.procs", "w") as f:
    f.write(str(os.getpid()))
ctypes.CDLL(None).prctl(15, sys.argv[2].encode(), 0, 0, 0)
rx, tx = os.pipe()
if not os.fork():
    os.sched_setaffinity(0, os.sched_getaffinity(0) - {int(sys.argv[1])})
    for _ in range(20):
        while open(f"/proc/{os.getppid()}/stat").read().rpartition(") ")[2][0] != "S":
            time.sleep(0.0005)
        os.write(tx, b"x")  # a reader that sleeps is woken by it, however busy its CPU is
    os._exit(0)
os.sched_setaffinity(0, {int(sys.argv[1])})
for _ in range(20):
    os.read(rx, 1)
os.wait()
begin = time.thread_time()
while time.thread_time() - begin < 0.02: pass
time.sleep(0.01)
"""

# Each group has one that asks and one that is woken; all are gone before the next comes.
MANY = """
import ctypes, os, sys, time
cpu, count, root, *names = sys.argv[1:]
rest = os.sched_getaffinity(0) - {int(cpu)}
os.sched_setaffinity(0, rest)
def live(i, group):
    with open(group + "/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))
    ctypes.CDLL(None).prctl(15, f"many-{i}".encode(), 0, 0, 0)
    rx, tx = os.pipe()
    if not os.fork():
        os.sched_setaffinity(0, {int(cpu)})
        os.read(rx, 1)
        begin = time.thread_time()
        while time.thread_time() - begin < 0.0002: pass
        os._exit(0)
    time.sleep(0.001)
    os.write(tx, b"x")
    os.wait()
    os._exit(0)
for i in range(int(count)):
    group = f"{root}/{names[i]}"
    os.mkdir(group)
    if not os.fork():
        live(i, group)
    os.wait()
    while True:
        try:
            os.rmdir(group)
            break
        except OSError:
            time.sleep(0.001)
"""


def many(count):
    """Short-lived control groups of several kinds; {comm: whose it is, in words}, and the rows of
    these comms in the report. Of a part of the time at once, as a table has no rows for all."""
    names, said = [], {}
    for i in range(count):
        box = hashlib.sha256(f"{os.getpid()} {i}".encode()).hexdigest()
        unit = f"culprit-many-{os.getpid()}-{i}.service"
        names.append((unit, f"docker-{box}.scope", f"cri-containerd-{box}.scope",
                      f"libpod-{box}.scope")[i % 4])
        said[f"many-{i}"] = f"container {box[:12]}" if i % 4 else unit
    with tempfile.TemporaryDirectory() as temp:
        path = os.path.join(temp, "many.rec")
        with lib.opened("record", "-c", str(cpu), "-d", "10m", "-q", "--no-audit", path) as run:
            subprocess.run([sys.executable, "-c", MANY, str(cpu), str(count), root, *names],
                           check=True, timeout=lib.HANG_S)
        if run.result.rc:
            raise RuntimeError(f"culprit record: {run.result}")
        whole, rows, at = json.loads(lib.culprit("report", path, "-f", "json").out), [], 0
        while at < cpu_of(whole, cpu)["observed_ns"]:
            span = "--from", f"{at or 1}ns", "--to", f"{at + PART_NS}ns"
            part = json.loads(lib.culprit("report", path, "-f", "json", *span).out)
            rows += [s for s in sources(part, cpu, kind="thread") if s["name"] in said]
            at += PART_NS
    return said, rows, cpu_of(whole, cpu)["records"]


PART_NS = 1_000_000_000


def groups():
    """The folder of the hierarchy that tells owners; None: there is none, or it is not ours."""
    with open("/proc/self/mounts") as f:
        mounts = [line.split()[1:4] for line in f]
    unified = [m[0] for m in mounts if m[1] == "cgroup2"]
    for name in ("pids", "memory", "cpu"):
        for folder, kind, options in mounts:
            if kind == "cgroup" and name in options.split(","):
                return folder if os.access(folder, os.W_OK) else None
    return unified[0] if unified and os.access(unified[0], os.W_OK) else None


def owned(comm, group):
    """A thread of that group takes the CPU for a while, and both are gone."""
    os.makedirs(group, exist_ok=True)
    try:
        subprocess.run([sys.executable, "-c", OWNED, str(cpu), comm, group], check=True,
                       timeout=lib.HANG_S)
    finally:
        lib.remove_group(group)


lib.need_bpf()
cpu = lib.pick_target()
root = groups()
ID = "0123456789abcdef" * 4
UNIT, CONTAINER = f"culprit-test-{os.getpid()}.service", f"docker-{ID}.scope"
# The kernel lets a group have any name but with a newline; what systemd writes for one comes back.
LIAR = "machine-qemu\\x2d1\\x2d\\x0aevil\\x1b[2J\x1b[31m.scope"
FORMATS = ("markdown", "html", "folded", "openmetrics", "prometheus", "csv", "jsonl")
if root:
    os.makedirs(f"{root}/{UNIT}", exist_ok=True)
with tempfile.TemporaryDirectory() as temp:
    recording = os.path.join(temp, "names.rec")
    # As long as that takes: each of the 9,000 sleeps ends with a turn of whoever is busy here.
    with lib.opened("run", "-c", str(cpu), "-d", "10m", "-f", "json", "-q", "-r", recording) as run:
        child = subprocess.run([sys.executable, "-c", CHILD, str(cpu)], capture_output=True,
                               text=True, timeout=lib.HANG_S)
        if root:
            owned("of-a-unit", f"{root}/{UNIT}")
            owned("of-a-box", f"{root}/{CONTAINER}")
            owned("of-a-liar", f"{root}/{LIAR}")
        over = run.proc.poll() is not None
    result = run.result
    text = lib.culprit("report", recording, "--top", "1000").out
    metrics = lib.culprit("report", recording, "-f", "openmetrics").out
    formats = {f: lib.culprit("report", recording, "-f", f).out for f in FORMATS}
if child.returncode or result.rc:
    raise RuntimeError(f"{child} {result}")
report = json.loads(result.out)
heavy = int(re.search(r"^heavy (\d+)$", child.stdout, re.M)[1])
fakes = {name: int(pid) for pid, name in re.findall(r"^fake (\d+) (.*)$", child.stdout, re.M)}
c = cpu_of(report, cpu)
if over or c["records"]["lost"] or c["records"]["hiccups_lost"]:
    not_judged("names", "the window closed too early, or records were lost")
    done()
    sys.exit()
lib.check_sums(report, "names")
rest = sources(report, cpu, kind="thread", name="(others)", kernel_thread=None)
ok(len(rest) == 1 and rest[0]["merged"] > 1000 and c["merged"]["sources"] == rest[0]["merged"],
   "most names are merged, and counted",
   rest, c["merged"])
ok(re.search(r"too many sources: [\d,]+ merged into \(others\)", text), "the text says so",
   text[:600])
ok(re.search(rf'^culprit_sources_merged_total\{{cpu="{cpu}",kind="thread"\}} {rest[0]["merged"]}$',
             metrics, re.M), "and the metrics")
mine = sources(report, cpu, kind="thread", id=heavy, name="heavy-one")
# Time that the machine stands still in an interrupt on top of a thread is the interrupt's.
stop = max(s["max_ns"] for s in c["sources"] if s["kind"] in ("vector", "irq", "softirq"))
ok(total(mine) + stop > 0.15e9, "who took 0.3 s has a row of its own", mine, c["merged"])
ok(total(sources(report, cpu, kind="vector", name="local_timer"), "runs") > 0,
   "the timer interrupt is named")
ok(not sources(report, cpu, name="(others)", kind=lambda kind: kind != "thread"),
   "other kinds have room", c["merged"])
for name, pid in fakes.items():
    rows = sources(report, cpu, kind="thread", id=pid, name=name)
    ok(rows and total(rows) + stop > 0.01e9 and {r["kernel_thread"] for r in rows} == {False},
       f"{name} is a user's thread", *rows)
    ok(all(r["cause"] == "K34" or r["function"] for r in rows),
       f"{name} has no kernel thread's cause", *rows)
kernel = [s for s in c["sources"] if s["kind"] == "thread" and s["kernel_thread"]]
ok(not {s["id"] for s in kernel} & {heavy, *fakes.values()},
   "none of them is taken for the kernel's", *kernel[:5])
ok(not re.search(rf"  \[[^]]*\] \[({'|'.join(map(str, {heavy, *fakes.values()}))})\]", text),
   "none of them stands in brackets", text)
for comm, kind, said, path in (("of-a-unit", "unit", UNIT, UNIT),
                               ("of-a-box", "container", f"container {ID[:12]}", CONTAINER)):
    if not root:
        lib.skip(f"whose {comm} is", "no hierarchy of control groups can be written")
        continue
    rows = sources(report, cpu, kind="thread", name=comm)
    ok(rows and all(r.get("owner", {}).get("kind") == kind and r["owner"]["text"] == said
                    and r["owner"]["cgroup"].endswith(f"/{path}") for r in rows),
       f"{comm}: whose the thread was", *rows)
    by = [o for r in rows for o in r["origins"] if o["comm"] == comm]
    ok(by and all(o.get("owner", {}).get("text") == said for o in by),
       f"{comm}: whose the one was who woke it", *rows)
    ok(re.search(rf"{comm} \[\d+\]\n(?:.*\n)*?\s+in {re.escape(said)}$", text, re.M),
       f"{comm}: the text says it, too", text[:3000])
    ok(re.search(rf"by {comm} \[\d+\] · {re.escape(said)}, on cpu \d+: ", " ".join(text.split())),
       f"{comm}: and of who woke it", text[:3000])
if root:
    liar = [r["owner"] for r in sources(report, cpu, kind="thread", name="of-a-liar")]
    shown = r"machine \x0aevil\x1b[2J\x1b[31m"
    ok(liar and {o["text"] for o in liar} == {shown} and f"in {shown}\n" in text,
       "the hostile name of a group is escaped", liar)
    formats.update(text=text, json=result.out)
    is_([f for f, out in formats.items() if "\x1b" in out or "\nevil" in out], [],
        "in every format")
COUNT = 1000 if os.environ.get("LONG") else 100
NAME = f"{COUNT} control groups that live for milliseconds: whose each thread was"
if not root:
    lib.skip(NAME, "no hierarchy of control groups can be written")
else:
    said, rows, records = many(COUNT)
    if records["lost"] or records["hiccups_lost"]:
        not_judged(NAME, "records were lost")
    else:
        wrong = [r for r in rows if r.get("owner", {}).get("text") != said[r["name"]]]
        ok({r["name"] for r in rows} == set(said) and not wrong, NAME,
           sorted(set(said) - {r["name"] for r in rows})[:5], wrong[:3])
        by = [o for r in rows for o in r["origins"] if o["comm"] in said]
        ok(by and all(o.get("owner", {}).get("text") == said[o["comm"]] for o in by),
           "and whose each of those was who woke them", len(by),
           [o for o in by if o.get("owner", {}).get("text") != said[o["comm"]]][:3])
        lib.diag(f"{len(set(o['comm'] for o in by))} of {COUNT} have their waker")
ok(r"\x5bkswapd0]" in text and r"\x28others)" in text,
   "a bracket of its own, and what only the rest is called, are written otherwise",
   text)
done()
