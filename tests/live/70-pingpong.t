#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit pingpong: every method measures, both ways; who makes a message late is named on the CPU
that was late; it stops when told to."""
import json
import os
import re
import signal
import subprocess
import tempfile
import time

import lib
from lib import ALLOWED, cpu_of, culprit, done, is_, ok, sources

MESSAGES = 100  # messages by each method

lib.need_bpf()
os.sched_setaffinity(0, ALLOWED)
a, b = sorted(ALLOWED & lib.online())[-2:]
PIN = "--pin", f"{b},{a}"


def check_sums(report, what):
    lib.check_sums(report, what, lost=None, mismatches=None)  # culprit may share these CPUs


def pingpong(*args, **kwargs):
    r = culprit("pingpong", *PIN, "-q", *args, **kwargs)
    if r.rc:
        raise RuntimeError(f"culprit pingpong: {r}")
    return r


def series(report, cpu):
    return {s["name"]: s for s in cpu_of(report, cpu)["series"]}


def stopped(command, *args, inside=None):
    """Runs until SIGINT to all of it, as a terminal sends it; `inside` is done in the window. Its
    Result."""
    with lib.ready_file() as path:
        proc = lib.spawn(command, *args, "-q", "--ready-file", path)
        lib.await_ready(proc, path)
        if inside:
            inside()
        os.killpg(proc.pid, signal.SIGINT)
        return lib.finish(proc)


# ---- all methods, to the last message ----
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    raw, recording = os.path.join(place, "raw"), os.path.join(place, "rec")
    r = pingpong("-m", "all", "-n", str(MESSAGES), "-f", "json", "--times", raw, "-r", recording,
                 "--label", "x\033[2J")
    report = json.loads(r.out)
    with open(raw) as f:
        messages = json.load(f)["messages"]
    again = culprit("report", "-f", "json", recording)
    page = culprit("report", "-f", "html", recording).out
ok(again.rc == 0 and again.out == r.out, "a recording reports the same", again.err)
# Over time there is a picture only of those that took long enough for it.
parts = [part.split("<h2")[0] for part in page.split('<div class="histograms">')[1:]]
is_([sorted({int(cpu) for cpu in re.findall(r"</h3> cpu (\d+), [^<]* values?</fig", part)})
     for part in parts][:2], sorted([[a], [b]]), "html: the pictures of each CPU stand together")
check_sums(report, "pingpong")
names = list(series(report, a))
left_out = set(re.findall(r"^culprit: (\S+) is left out: ", r.err, re.M))
is_(set(names) | left_out, {"null", "spin", "spin-pause", "spin-pauses", "umwait", "mwaitx", "cv",
                            "sem", "futex", "pipe", "eventfd",
                            "socket", "io_uring"}, "all methods are there, or said to be left out")
ok(left_out <= {"umwait", "mwaitx", "io_uring"}, "and only those that a machine may lack are",
   left_out)
is_({series(report, cpu)[n]["count"] for cpu in (a, b) for n in names}, {MESSAGES},
    "each method sent each message, both ways")
for cpu in a, b:
    s = series(report, cpu)
    is_([n for n in names
         if not (s[n]["min_ns"] <= s[n]["p20_ns"] <= s[n]["p50_ns"] <= s[n]["p999_ns"]
                 <= s[n]["max_ns"])], [],
        f"cpu {cpu}: percentiles rise")
    # medians are of who else runs, on a busy machine
    ok(s["null"]["min_ns"] < s["spin"]["min_ns"] < s["pipe"]["min_ns"],
       f"cpu {cpu}: a clock costs less than a message, and that less than one through the kernel",
       s["null"], s["spin"], s["pipe"])
is_({(m["method"], m["from"], m["to"]): len(m["ns"]) for m in messages},
    {(n, None if n == "null" else {a: b, b: a}[to], to): MESSAGES for n in names for to in (a, b)},
    "--times has each message of each")
is_([(m["method"], m["to"]) for m in messages
     if (min(m["ns"]), max(m["ns"])) != tuple(series(report, m["to"])[m["method"]][k]
                                              for k in ("min_ns", "max_ns"))], [],
    "and they are those that the report counted")

r = culprit("pingpong", *PIN, "-q", "--threads", "-m", "spin,futex,cv,sem", "-n", str(MESSAGES),
            "-f", "json")
what = "--threads: each method sent each message, both ways"
if lib.starved(r):  # as below
    lib.not_judged(what, r.err.strip())
else:
    report = json.loads(r.out)
    is_((report["run"]["sampler"], {(n, s["count"]) for cpu in (a, b)
                                    for n, s in series(report, cpu).items()}),
        ("pingpong of threads", {(n, MESSAGES) for n in ("spin", "futex", "cv", "sem")}), what)
    check_sums(report, "--threads")
r = pingpong("-n", "100", "--label", "x\033[2J")
ok("\033" not in r.out and "x\\x1b[2J" in r.out, "a label is escaped", r)
ok(re.search(r"count\s+min\s+p20\s+median\s+p80\s+p90\s+p99\s+p99\.9\s+max\s+mad", r.out),
   "in text with p20 and p80", r)
shared = not lib.online() - {a, b}
is_("it ran on the measured ones, too" in r.out, shared,
    "where no CPU is left for culprit the report says so, and only there")

# ---- who was it ----
for cpu in a, b:
    with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
        lines, recording = os.path.join(place, "lines"), os.path.join(place, "rec")
        poked = []
        r = stopped("pingpong", *PIN, "-n", "1000000000", "-k", "0", "-f", "jsonl", "-o", lines,
                    "-r", recording, inside=lambda: poked.extend(lib.poke_until_late(cpu, lines)))
        again = culprit("report", "-f", "json", recording)
    report = json.loads(again.out) if r.rc == 0 else None
    if not ok(report, f"cpu {cpu}: Ctrl-C ends it with a report", r, again):
        continue
    ok(r.seconds < lib.AT_ONCE_S, "at once", r.seconds)
    log, late, switches = poked
    if not late:
        lib.not_judged(f"cpu {cpu}: a poke", "no message was under way during any of all pokes")
    wrong = [h for h in late if not any(p["name"] == "poke-fifo" for p in h["pieces"])]
    records = cpu_of(report, cpu)["records"]
    # One that comes behind a thread that nobody sees comes unseen: only its end is a record.
    ok(len(wrong) <= records["unpaired"],
       f"cpu {cpu}: a poke is the named cause of the messages that it made late", len(late),
       records, *wrong[:3])
    # A row may be among the (others) when more threads ran than there are rows.
    found = sources(report, cpu, kind="thread", name="poke-fifo")
    name, merged = f"cpu {cpu}: and in the report", cpu_of(report, cpu)["merged"]
    if late and not found and merged["sources"]:
        lib.not_judged(name, f"{merged['sources']} sources are merged")
    else:
        ok(not late or found, name, found, cpu_of(report, cpu)["sources"])
    beside = cpu_of(report, cpu)["beside"]
    ran = sum(o["count"] for o in beside if o["comm"] == "poke-fifo")
    due = switches - records["unpaired"] - records["lost"]
    name = "and it is among those that ran there, as often as the kernel says"
    if ran < due and any(o["kernel_thread"] is None for o in beside):
        lib.not_judged(name, "more threads ran there than are told apart")
    else:
        ok(ran >= due, name, switches, records, beside)
    is_(lib.of_pokes(report, {a: b, b: a}[cpu], log), [], "the other CPU is not blamed")
    check_sums(report, f"pingpong, poked on cpu {cpu}")

# ---- a side that is late between two ways ----
# The other one goes on to the next way and sends: one run in seven or so, where each shares its CPU
# with somebody busy. LONG=1: in time enough to see that happen.
busy = [subprocess.Popen(["taskset", "-c", str(cpu), "sh", "-c", "while :; do :; done"])
        for cpu in (a, b)]
try:
    for _ in range(10 if os.environ.get("LONG") else 2):
        what = "two ways, both CPUs shared"
        r = culprit("pingpong", *PIN, "-q", "-m", "null,spin", "-n", "300", "-f", "json")
        # Both have to have their CPUs at once: among many others they may not for long.
        if lib.starved(r):
            lib.not_judged(what, r.err.strip())
        else:
            check_sums(json.loads(r.out), what)
finally:
    for process in busy:
        process.kill()
        process.wait()

# ---- the end ----
for method in "spin", "cv", "pipe":
    r = stopped("pingpong", *PIN, "-n", "1000000000", "-m", method, "-P", "f:10")
    ok(r.rc == 0 and r.seconds < lib.AT_ONCE_S, f"{method} under SCHED_FIFO stops when told to", r)
is_(lib.await_gone(lib.marked), [], "and nothing is left running")
# A side that is stopped in null, while the other one waits in the next way already.
with lib.ready_file() as path:
    proc = lib.spawn("pingpong", *PIN, "-n", "20000000", "-m", "null,pipe", "--no-trace",
                     "--no-audit", "-q", "--ready-file", path)
    lib.await_ready(proc, path)
    held, other = lib.children(proc.pid)[:2]
    os.kill(held, signal.SIGSTOP)
    lib.await_gone(lambda: "pipe" not in lib.read(f"/proc/{other}/wchan")
                   and proc.poll() is None, lib.AT_ONCE_S)
    proc.send_signal(signal.SIGINT)
    time.sleep(0.3)
    os.kill(held, signal.SIGCONT)
    r = lib.finish(proc)
ok(r.rc == 0 and not r.err, "null and another: the other stops, too", r)
for threads in [], ["--threads"]:
    what = " ".join(["one that is killed", *threads])
    with lib.ready_file() as path:
        proc = lib.spawn("pingpong", *PIN, *threads, "-n", "1000000000", "-m", "futex", "-f",
                         "json", "-q", "--ready-file", path)
        lib.await_ready(proc, path)
        victims = lib.children(proc.pid)
        runs = [sorted(list(lib.parse_cpus(re.search(r"Cpus_allowed_list:\s*(\S+)", lib.read(
            f"/proc/{pid}/task/{tid}/status"))[1])) for tid in os.listdir(f"/proc/{pid}/task"))
            for pid in victims]
        os.kill(victims[0], signal.SIGKILL)
        r = lib.finish(proc)
    is_(sorted(runs), [[[a], [b]]] if threads else [[[a]], [[b]]],
        f"{what}: it was {'a thread' if threads else 'a process'}, each on its CPU")
    ok(r.rc == 3 and len([c for c in json.loads(r.out)["cpus"] if c["ended_early"]]) == 2,
       f"{what} takes the one that waits for it with it, and the report says so", r)
    ok(r.err.count("\n") == 1 and "its sampler was killed" in r.err,
       f"{what}: and one line on stderr", r)

# ---- the matrix ----
r = culprit("pingpong", "--matrix", "-c", f"{a},{b}", "-n", "500", "-f", "json", "-q")
m = json.loads(r.out) if r.rc == 0 else {}
ok(m and m["cpus"] == [a, b] and m["median_ns"][0][0] is None and m["median_ns"][0][1] > 0
   and m["median_ns"][1][0] > 0,
   "--matrix: each CPU to each other one", r)
r = culprit("pingpong", "--matrix", "-c", f"{a},{b}", "-n", "500", "-q")
ok(re.search(rf"^ +{a} +- +\d+\n +{b} +\d+ +-$", r.out, re.M), "and as a table", r)

done()
