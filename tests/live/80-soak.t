#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Soak: storms that last, several culprits on one CPU, short runs and kills at any moment. LONG=1:
two minutes; SOAK_S=seconds, as `make soak` sets it, for so long."""
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import time

import lib
from lib import diag, done, is_, ok, skip, skip_all

SECONDS = int(os.environ.get("SOAK_S") or (120 if os.environ.get("LONG") else 0))
STORMS = ("forks", "threads", "renames", "futex")
STOPPED_S = 3
SETTLED_S = 60  # names and sources have come by then, or half of a shorter run
AT_LEAST = SECONDS // 9  # short runs, and as many that are killed: 200 in half an hour
# Records that wait for the end of a hiccup keep as much, from a long one on (JOIN_WAIT_MAX in
# src/model/join.h, of 64 bytes each), and what is allocated in small blocks as much again.
GROWTH_KB = 2048
# Records that wait for the end of a hiccup, and their ring's smaller half while it grows
# (JOIN_WAIT_ALL in src/model/join.h): for as long as the hiccup lasts.
WAITING_KB = 24 * 1024
if not SECONDS:
    skip_all("LONG=1 or make soak: it takes minutes")
lib.need_bpf()
cpu = lib.pick_target()
place = tempfile.mkdtemp(prefix="culprit-test-")
storm = lib.helper("storm")
ON = ("-c", str(cpu), "-q")


def blow(kind):
    return subprocess.Popen([storm, kind], preexec_fn=lambda: os.sched_setaffinity(0, {cpu}),
                            start_new_session=True)


def hold(processes):
    for p in processes:
        os.killpg(p.pid, signal.SIGKILL)
        p.wait()


def rss_kb(pid):
    for line in lib.read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def places():
    """What a run could leave in the file system."""
    return {os.path.join(d, f) for d in ("/dev/shm", "/tmp", "/sys/kernel/tracing/instances",
                                         "/run", place) if os.path.isdir(d)
            for f in os.listdir(d) if "culprit" in f
            and not f.startswith(("culprit-check-", "culprit-test-", "culprit-lab-"))  # tests
            and not os.path.exists(f"/proc/{f.rpartition('-')[2]}/comm")}  # others, which run


def orphans():
    """The kernel's BPF programs, maps and links that no process holds: others' culprits have
    theirs. None without bpftool."""
    tool = shutil.which("bpftool") or shutil.which("bpftool", path="/usr/sbin:/sbin")
    listed = set()
    for kind in ("prog", "map", "link") if tool else ():
        r = subprocess.run([tool, "-j", kind, "list"], capture_output=True, text=True, check=True)
        listed |= {(kind, row["id"]) for row in json.loads(r.stdout or "[]")}
    held = {(kind, int(number)) for file in glob.glob("/proc/[0-9]*/fdinfo/*")
            for kind, number in re.findall(r"^(prog|map|link)_id:\s+(\d+)", lib.read(file), re.M)}
    return listed - held if tool else None


# ---- a long run in storms ----
seconds = SECONDS * 0.55
settled = min(SETTLED_S, seconds / 2)
grown, first, late, stopped = {}, {}, {}, False
with lib.opened("run", *ON, "-d", "1d", "-f", "json", timeout=120) as run:
    before = orphans()
    storms = [blow(kind) for kind in STORMS]
    began = time.monotonic()
    while (passed := time.monotonic() - began) < seconds and run.proc.poll() is None:
        for pid, _ in lib.marked():
            now = rss_kb(pid)
            which = first if passed < settled else grown
            which[pid] = max(which.get(pid, 0), now)
            if passed > seconds * 0.75:
                late[pid] = min(late.get(pid, now), now)
        if not stopped and passed > seconds * 0.3:
            stopped = True
            os.kill(run.proc.pid, signal.SIGSTOP)
            time.sleep(STOPPED_S)
            os.kill(run.proc.pid, signal.SIGCONT)
        time.sleep(0.5)
    hold(storms)
r = run.result
report = json.loads(r.out) if r.out else None
ok(r.rc == 0 and not r.err, "a run in storms of forks, threads, renames and futexes ends well", r)
# While culprit itself is stopped records are lost, and each of them counts.
lib.check_sums(report, "in storms", lost=None)
c = lib.cpu_of(report, cpu)
rate = c["records"]["seen"] / (c["observed_ns"] / 1e9)
stayed = max((late[p] - first.get(p, 0) for p in late), default=None)
worst = max((grown[p] - first.get(p, 0) for p in grown), default=None)
diag(f"{'storms, s':<34}{c['observed_ns'] / 1e9:>12.1f}",
     f"{'hiccups':<34}{c['hiccups']['count']:>12,}",
     f"{'records':<34}{c['records']['seen']:>12,}",
     f"{'records each second':<34}{rate:>12,.0f}",
     f"{'records lost':<34}{c['records']['lost']:>12,}",
     f"{'hiccups lost':<34}{c['records']['hiccups_lost']:>12,}",
     *(f"{f'RSS of process {i + 1}, kB, settled, end':<34}{first.get(p, 0):>12,}"
       f"{late.get(p, 0):>12,}, at most {grown[p]:,}" for i, p in enumerate(grown)))
ok(late and stayed <= GROWTH_KB, f"memory is flat after {settled:.0f} s", first, late)
ok(grown and worst <= GROWTH_KB + WAITING_KB, "but for what waits while a hiccup lasts", first,
   grown)

# ---- several on one CPU ----
for n in 2, 5:
    storms = [blow("futex")]
    several = [lib.spawn("run", *ON, "-d", f"{max(2, SECONDS * 0.03):.1f}s", "-f", "json")
               for _ in range(n)]
    ends = [lib.finish(p) for p in several]
    hold(storms)
    ok(all(e.rc == 0 for e in ends), f"{n} culprits on one CPU: all end well", *ends)
    broken = [lib.broken_sums(json.loads(e.out), lost=None) for e in ends if e.rc == 0]
    ok(not any(broken), f"{n} culprits: all sums hold", broken)

# ---- short ones, and kills ----
files = places()
until = time.monotonic() + SECONDS * 0.15
short = killed = 0
chance = random.Random(4711)
while time.monotonic() < until or short < AT_LEAST:
    r = lib.culprit("run", *ON, "-d", "200ms")
    short += 1
    if not (r.rc == 0 and r.out):
        ok(False, f"short run {short}", r)
        break
diag(f"{'runs of 0.2 s':<34}{short:>12,}")
until = time.monotonic() + SECONDS * 0.15
while time.monotonic() < until or killed < AT_LEAST:
    rec = os.path.join(place, "culprit.rec")
    p = lib.spawn("run", *ON, "-d", "1d", "-r", rec, "--force", "-o", rec + ".txt")
    time.sleep(chance.uniform(0, 1.5))
    os.kill(p.pid, signal.SIGKILL)
    p.communicate()
    killed += 1
diag(f"{'killed at any moment':<34}{killed:>12,}")
ok(short >= AT_LEAST and killed >= AT_LEAST, "short runs end well, and others are killed", short,
   killed)
is_(lib.await_gone(lib.marked, 20), [], "no process is left")
if before is None:
    skip("nor a program, map or link", "no bpftool")
else:
    is_(lib.await_gone(lambda: (orphans() or set()) - before, 20), set(),
        "nor a program, map or link")
is_(places() - files - {rec}, set(), "nor a file")
shutil.rmtree(place)
done()
