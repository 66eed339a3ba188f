#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit watch: what takes time from a program's threads has its name, what does not touch them is
not there, and windows that the program reports itself are explained. 73-watch-choice.t has which
threads are watched."""
import contextlib
import ctypes
import json
import os
import re
import shutil
import signal
import statistics
import struct
import subprocess

import lib
import watching
from lib import cpu_ns, culprit, done, is_, ok, skip, total
from watching import (BPFTOOL, check_sums, have_run, hierarchy, poke, poke_and_count, poked,
                      program, put, rows, tids, watch)

lib.need_bpf()
cpu = lib.pick_target()
place, WATCHED = watching.begin(cpu)

def handlers(report):
    """The rows of interrupts. The kernel counts their time as that of the thread below them, and
    the machine may have stood still in one."""
    return rows(report, kind=lambda kind: kind in lib.HANDLERS)


# ---- who takes its time ----
with program("spin") as p:
    def run_and_poke():
        # On a busy machine: a wait that begins before the window or ends after it does not count.
        have_run(p, seconds=0.001)
        did = poke_and_count("fifo", "-n", "20", "-l", "2ms", "-g", "5ms-15ms")
        have_run(p, seconds=0.001)
        return did

    report, (log, made) = watch("-p", p.pid, meanwhile=run_and_poke)
    check_sums(report, "preempted")
    # One of the two threads waits whenever the other one runs.
    beyond = [c["thread"] for c in report["cpus"]]
    ok(all(t["waits_before"] in (0, 1) and t["waits_beyond"] in (0, 1) and
           (t["waits_beyond_ns"] > 0) == t["waits_beyond"] for t in beyond) and
       any(t["waits_before"] for t in beyond) and any(t["waits_beyond"] for t in beyond),
       "waits that reach beyond the window are told", beyond)
    is_(tids(report), set(p.tids), "-p: its threads, each by its number")
    found = poked(report, log)
    ran_ns = lib.ran(log)
    # One of the two threads runs when poke comes, and the other waits: both lose the time. On a
    # busy CPU poke may come more than once before they run again.
    # A wait of a second and more may have more records than culprit keeps: those are counted.
    lost = rows(report, kind="lost")
    ok((lost or total(found, "count") >= len(log))
       and 0.9 * ran_ns <= total(found) + total(handlers(report)) + total(lost),
       "poke is named for what it took", ran_ns, found, lost)
    # Both lost the time of a stop of the machine right before or after poke read its clock, too.
    ok(total(found) - 2 * sum(s["max_ns"] for s in found)
       <= 2.2 * lib.spans(log) + 2 * lib.ALLOW_NS * (len(log) + lib.SPARE),
       "from both threads at most", log.config, found)
    others = rows(report, kind="thread", id=p.tids[0]) + rows(report, kind="thread", id=p.tids[1])
    ok(len(others) == 2, "two threads on one CPU take it from each other, and are named for it",
       others)
    ok(rows(report, kind="vector", name="local_timer"), "the tick is named")
    if BPFTOOL:
        ok(max(made) > len(log), "while it runs its CPU is recorded, each of poke's runs at least",
           made)

    # One thread; the flight recorder, and metrics meanwhile: who preempted it is in the kept part.
    kept, prom = os.path.join(place, "kept"), os.path.join(place, "prom")
    os.mkdir(kept)
    with lib.opened("watch", "--tid", str(p.tids[1]), "-q", "-f", "json", "-d", "1h", "--last",
                    "1h", "--when", "late", "--when", "end", "-r", kept, "--textfile", prom,
                    "--textfile-interval", "100ms", "--metrics-label", "unit") as run:
        have_run(p)
    r = run.result
    files = os.listdir(kept)
    ok(r.rc == 0 and len(files) == 1 and "end: " in r.err,
       "--last keeps a part of what was watched", r, files)
    whole, part = json.loads(r.out), json.loads(
        culprit("report", os.path.join(kept, files[0]), "-f", "json").out)
    check_sums(part, "a kept part")
    is_([(c["thread"]["pid"], c["hiccups"]["count"], c["hiccups"]["total_ns"])
         for c in part["cpus"]],
        [(c["thread"]["pid"], c["hiccups"]["count"], c["hiccups"]["total_ns"])
         for c in whole["cpus"]], "here it is all of the run")
    with open(prom) as f:
        metrics = f.read()
    for c in whole["cpus"]:
        ok(re.search(rf'^culprit_hiccups_total{{thread="[^"]*\[{c["thread"]["pid"]}\]"}} '
                     rf'{c["hiccups"]["count"]}$', metrics, re.M),
           "--textfile has its hiccups", metrics[:2000])
    ok(re.search(r'^culprit_lost_seconds_total\{.*,unit="', metrics, re.M), "and --metrics-label",
       metrics[:2000])
    is_(tids(whole), {p.tids[1]}, "-t: that thread only")
    ok(not poked(whole, log), "poke is not named when it is not there", poked(whole, log))

    # Both threads, of which a recording is made; what was printed at once is what is printed of it.
    rec = os.path.join(place, "rec")
    live, _ = watch("--tid", p.tids[1], "--tid", p.tids[0], "-t", "1ms", "-r", rec, form="text",
                    meanwhile=lambda: have_run(p))
    report = json.loads(culprit("report", rec, "-f", "json").out)
    is_(tids(report), set(p.tids), "-t may be given again")
    ok(all(c["hiccups"]["min_ns"] >= 1000000 for c in report["cpus"] if c["hiccups"]["count"]),
       "--threshold leaves out what is shorter", report["cpus"])
    name = "a recording's report is the watch's own, as"
    is_(culprit("report", rec).out, live, f"{name} text")
    with lib.ready_file() as path:
        proc = lib.spawn("watch", "-p", str(p.pid), "-d", "forever", "-q", "-r", rec, "--force",
                         "-f", "json", "--ready-file", path)
        lib.await_ready(proc, path)
        have_run(p)
        where = {pid: os.sched_getaffinity(pid) for pid in (proc.pid, *lib.children(proc.pid))}
        apart = lib.policy(proc.pid)
        os.killpg(proc.pid, signal.SIGINT)
        r = lib.finish(proc)
    ok(r.rc == 0 and r.seconds < lib.AT_ONCE_S and tids(json.loads(r.out)) == set(p.tids),
       "Ctrl-C: the full report, at once", r)
    ok(len(where) == 2 and not any(cpu in cpus for cpus in where.values()),
       "culprit, and who writes its recording, stay off the watched CPU", where)
    is_(culprit("report", rec, "-f", "json").out, r.out, f"{name} json")

# ---- sums: nothing leaves the kernel but totals ----
# A priority that leaves the CPU to these, whatever else wants it.
with program("spin", nice=-15) as p:
    prom = os.path.join(place, "sums.prom")
    report, log = watch("-p", p.pid, "--sums", "--textfile", prom, "--textfile-interval", "100ms",
                        meanwhile=poke("fifo", "-n", "20", "-l", "2ms", "-g", "20ms-40ms"))
    found = rows(report, kind="thread", name=re.compile("^poke"))
    ran = lib.ran(log)
    ok([c["cpu"] for c in report["cpus"]] == [cpu] and report["run"]["sums"] and
       report["cpus"][0]["hiccups"] is None, "--sums: a CPU, and no single hiccup", report["cpus"])
    ok(total(found, "count") >= len(log) and 0.9 * ran <= total(found) + total(handlers(report)),
       "poke is named for what it took", ran, found)
    ok(total(rows(report)) <= report["run"]["duration_ns"],
       "no time counts twice, though two threads lost it", total(rows(report)), report["run"])
    with open(prom) as f:
        metrics = f.read()
    ok(re.search(rf'^culprit_lost_seconds_total{{cpu="{cpu}",.*source="poke', metrics, re.M) and
       not re.search("^culprit_hiccup", metrics, re.M), "--textfile has them, and no hiccups",
       metrics[:2000])
# Waits that end because the thread is moved to another CPU, where it shares that with its fellow.
other = min(os.sched_getaffinity(0))
with program("spin") as p, program("spin"):
    def move():
        for turn in range(20):
            for tid in p.tids:
                os.sched_setaffinity(tid, {(other, cpu)[turn % 2]})
            have_run(p, seconds=0.005)

    report, _ = watch("-p", p.pid, "--sums", "-c", f"{cpu},{other}", "-H", other, meanwhile=move)
    took = [(total(c["sources"]), max((s["max_ns"] for s in c["sources"]), default=0))
            for c in report["cpus"]]
    ok(len(took) == 2 and all(0 < most <= ns <= report["run"]["duration_ns"] for ns, most in took),
       "--sums of threads that move: no time is longer than the window, nor all of a CPU", took)
    # Sums know threads by their names.
    is_([c["cpu"] for c in report["cpus"] if any(s["name"] == "watched" for s in c["sources"])],
        sorted((cpu, other)), "each of the CPUs names who was in their way there")
bench = os.path.join(lib.BUILD, "bench")
if os.path.exists(bench):
    r = subprocess.run([bench, "sums", str(cpu), "500"], capture_output=True, text=True)
    name = "sums and records of the same intervals are the same, to the ns"
    if r.stdout.splitlines()[-1:] and "not judged" in r.stdout:
        lib.not_judged(name, r.stdout)
    else:
        # Two of the programs send to themselves all the time, whose packets a softirq takes.
        ok(re.fullmatch(r"same: [1-9]\d* sources, [1-9]\d* runs, [1-9]\d* of them softirqs, "
                        r"[1-9]\d* ns\n", r.stdout), name, r)
else:
    skip("sums beside records", "no bench: make check builds it")

# ---- a program with a priority of its own, on a CPU that others want ----
SWITCH_NS = 100_000
with program("late", prefix=("chrt", "-f", "50")) as p:
    rec = os.path.join(place, "quiet")
    report, _ = watch("-p", p.pid, "-r", rec, seconds=0.5)
    lines = [json.loads(x) for x in culprit("report", rec, "-f", "jsonl").out.splitlines()]
    check_sums(report, "quiet")
    ok(not poked(report, log), "nobody who is not there is named", poked(report, log))
    lost = sum(c["hiccups"]["total_ns"] for c in report["cpus"])
    # Not the idle thread: it is there while a timer that is due has not come yet, as long as a
    # guest's host lets the CPU sleep.
    threads = rows(report, kind="thread", id=lambda tid: tid != 0)
    stays = sorted(x["net_ns"] for w in lines for x in w["pieces"]
                   if x["kind"] == "thread" and x["id"] != 0)[:-1]
    # The longest time is left out: the machine may have stood still when one was about to make way.
    # Where it has more than once, most of the times are short all the same.
    # Where somebody computes each of its 500 wake-ups has to take the CPU from him: the way from
    # the timer's interrupt to the switch is his time, 27 to 51 us of it in the mean of a window on
    # a guest. Who was not made way for keeps the CPU for a turn of ms.
    ok(total(threads) - max((s["max_ns"] for s in threads), default=0)
       < 0.05 * report["run"]["duration_ns"] + SWITCH_NS * total(threads, "count")
       or stays and statistics.median(stays) < SWITCH_NS,
       "a thread with a higher priority than all loses next to nothing to threads", total(threads),
       stays[::max(1, len(stays) // 20)], threads[:5])

# ---- one that runs when the window begins, and then goes on ----
with program("calls", prefix=("chrt", "-f", "50")) as p:
    report, log = watch("-p", p.pid, meanwhile=poke("perf", "-n", "5"))
    is_(tids(report), {p.pid}, "a thread that has its CPU for itself is there")
    # Two IPIs at least each, which switch to nobody.
    ok(total(rows(report, kind="vector"), "count") >= 2 * len(log) > 0,
       "and so are the interrupts that come upon it", report["cpus"])
    is_(rows(report, kind="syscall"), [], "no system call is, without --syscalls")

# ---- by whom: units, and a quota ----
@contextlib.contextmanager
def group(root, name):
    """A new cgroup, gone at the end: its programs have ended by then."""
    path = os.path.join(root, f"culprit-test-{os.getpid()}-{name}")
    os.mkdir(path)
    try:
        yield path
    finally:
        lib.remove_group(path)


def quotas_hidden(report):
    return "throttle_cfs_rq" in report["run"]["not_observed"]


def lost_to(report, pids):
    """The sums of these threads, after a look whether they are the whole. What a quota took is not
    known where the kernel does not show that."""
    sums = {}
    for c in report["cpus"]:
        to = dict(c["thread"]["lost_to"])
        is_(to["throttled_ns"] is None, quotas_hidden(report),
            "by whom it lost time: a quota's share is known if the kernel shows it")
        to["throttled_ns"] = to["throttled_ns"] or 0
        is_(to.pop("throttled_real_time_ns"), 0, "by whom it lost time: nothing to throttling")
        threads = [s for s in c["sources"] if s["kind"] == "thread"]
        is_([sum(to.values()), to["foreign_ns"] + to["own_ns"],
             to["throttled_ns"]],
            [c["hiccups"]["total_ns"],
             sum(s["total_ns"] for s in threads if not s["kernel_thread"]),
             sum(s["total_ns"] for s in c["sources"] if s["kind"] == "throttled")],
            "by whom it lost time: the sums are those of the sources")
        for key, ns in to.items() if c["thread"]["pid"] in pids else ():
            sums[key] = sums.get(key, 0) + ns
    return sums


unified, quotas = hierarchy("cgroup2", "rw"), hierarchy("cgroup", "cpu")
# The one that tells whose a thread is (collect/owners.h).
owners = next(filter(None, (hierarchy("cgroup", name) for name in ("pids", "memory", "cpu"))),
              unified)
if owners:
    with group(owners, "a") as one, group(owners, "b") as two:
        # Priorities that leave the CPU to these, whatever else wants it.
        with program("spin", nice=-15) as p:
            with program("spin", nice=-15) as near, program("spin", nice=-15) as far:
                for where, q in (one, p), (one, near), (two, far):
                    put(f"{where}/cgroup.procs", q.pid)
                report, _ = watch("-p", p.pid, meanwhile=lambda: have_run(p, near, far))
    sums = lost_to(report, p.tids)
    a, b = (sum(s["total_ns"] for s in rows(report, kind="thread", id=lambda tid: tid in q.tids))
            for q in (near, far))
    ok(0 < a <= sums["own_ns"], "another process of its own unit: own", sums, a)
    ok(0 < b <= sums["foreign_ns"], "the same program in another unit: foreign", sums, b)
else:
    skip("by whom: units", "no cgroup2 that may be written is mounted here")

if unified and "cpu" in lib.read(f"{unified}/cgroup.subtree_control").split():
    root, limit = unified, lambda g: put(f"{g}/cpu.max", "2000 20000")
elif quotas:
    root = quotas
    def limit(g):
        put(f"{g}/cpu.cfs_period_us", 20000)
        put(f"{g}/cpu.cfs_quota_us", 2000)
else:
    root = None
if root:
    with group(root, "quota") as g, program("spin") as p:
        limit(g)
        put(f"{g}/cgroup.procs", p.pid)
        # In fifteen periods, or more: where the machine stood still while one of the two ran, it
        # has used the quota of as many to come, and neither is seen in these.
        report, _ = watch("-p", p.pid, meanwhile=lambda: have_run(p, seconds=0.015))
        sums = lost_to(report, p.tids)
        # Two threads that together may run a tenth of the time. The time that others leave of the
        # CPU is the quota's. Where the machine stood still while one of the two ran, it has used as
        # much more of the CPU, and the other has waited for it.
        stood = max((s["max_ns"] for s in rows(report, kind="thread")), default=0)
        left = 0.9 * sum(c["observed_ns"] for c in report["cpus"]) - sum(
            sums[key] for key in ("foreign_ns", "own_ns", "kernel_ns", "not_known_ns"))
        if quotas_hidden(report):
            skip("a used-up quota", "this kernel does not show quotas")
        else:
            ok(0 < sums["throttled_ns"] and 0.8 * left - 2 * stood <= sums["throttled_ns"],
               "a used-up quota is named, and no thread in its place", sums, left, stood)
        check_sums(report, "a quota")
else:
    skip("by whom: a quota", "no cgroups with the CPU controller may be written here")

# ---- real-time throttling, or the deadline server: told apart from a quota ----
with program("spin") as normal, program("spin", prefix=("chrt", "-r", "10")) as p:
    # The kernel lets others in once a second, or more often.
    report, _ = watch("-p", p.pid, seconds=2.5)
    let = [c["thread"]["lost_to"] for c in report["cpus"]]
    taken = rows(report, kind="thread", function="[throttled]")
    if taken:
        is_([s["function"] for s in rows(report, kind="thread", id=lambda tid: tid in normal.tids)
             if s["function"] != "[throttled]"], [],
            "a normal thread in a real-time one's place is throttling")
        is_({x["throttled_ns"] is None for x in let}, {quotas_hidden(report)},
            "beside it a quota's share is known if the kernel shows it")
        ok(all(x["throttled_ns"] in (None, x["throttled_real_time_ns"]) for x in let) and
           sum(x["throttled_real_time_ns"] for x in let) >= total(taken),
           "which is no quota, and nobody's own", let, taken)
        check_sums(report, "throttled")
    else:
        skip("real-time throttling", "this kernel lets nobody in before a real-time thread")

# ---- on request ----
with program("calls") as p:
    report, _ = watch("-p", p.pid, "--syscalls", meanwhile=lambda: have_run(p))
    calls = rows(report, kind="syscall")
    ok(calls and total(calls, "count") > 1000
       and calls[0]["name"] == "getppid",
       "--syscalls: each call", calls[:3] or report)

with program("faults", nice=-15) as p:
    def take():
        before = cpu_ns(p.pid)
        have_run(p, seconds=0.1)
        return cpu_ns(p.pid) - before

    report, ran = watch("-p", p.pid, "--faults", meanwhile=take)
    found = rows(report, kind="fault")
    if {"page_fault_user", "handle_mm_fault"} & set(report["run"]["not_observed"]):
        skip("--faults", "this kernel does not tell of them")
    else:
        ok(total(found, "count") >= 10, "--faults: each fault that it takes itself", found)
        # The program computes for nearly all of its time; its faults in an emulator had 3 % of a
        # window, and a third where they began at the signals. The machine may stand still in one.
        took = total(found) - max((s["max_ns"] for s in found), default=0)
        ok(took < 0.25 * ran, "and not from one that was answered with a signal to a later one",
           took, ran, found)

# ---- its own windows ----
# On PREEMPT_RT the timer of an ordinary thread waits for a thread of the kernel, and watch does not
# see who keeps that from the CPU.
LOW = ("chrt", "-f", "1") if "PREEMPT_RT" in os.uname().version else ()
stolen, unseen = -lib.stolen_ns(cpu), lib.unseen_switches()
with program("late", prefix=LOW) as p:
    out, log = watch("-p", p.pid, form="jsonl", meanwhile=poke("fifo", "-n", "30", "-l", "3ms",
                                                               "-g", "8ms-16ms"))
    windows = [json.loads(line) for line in out.splitlines()]
    printed = [tuple(map(int, line.split())) for line in p.end().splitlines()]
stolen, left = stolen + lib.stolen_ns(cpu), lib.unseen_since(unseen)
own = {(start, end - start) for start, end in printed}
first = next(i for i, w in enumerate(windows) if (w["start_ns"], w["duration_ns"]) in own)
mine, foreign = [], []
for w in windows[first:]:
    (mine if (w["start_ns"], w["duration_ns"]) in own else foreign).append(w)
ok(len(mine) >= len(log) / 2 and not foreign,
   "from its first report on hiccups are the windows that it reports, to the nanosecond", len(mine),
   len(own), foreign[:3])


def overlap(w, e):
    return min(w["start_ns"] + w["duration_ns"], e["end_ns"]) - max(w["start_ns"], e["start_ns"])


late = [w for w in mine if any(overlap(w, e) > 1000000 for e in log) and not w["records_lost"]]
tid = log[0]["tid"]
by_poke = [w for w in late if any(x["kind"] == "thread" and x["id"] == tid for x in w["pieces"])]
# A thread that came unseen, or left unseen, has poke's time behind it for its own or for nobody's.
name = "poke is named in those that it made late"
if len(by_poke) < 0.9 * len(late) and left > 0.1 * len(late):
    lib.not_judged(name, f"threads that nobody sees left a CPU {left} times")
else:
    ok(len(by_poke) >= 5 and len(by_poke) >= 0.9 * len(late) - left, name, len(by_poke), len(late),
       len(log), left)
unexplained = [w for w in by_poke if w["outside_ns"] > w["duration_ns"] / 2]
name, outside = "and hardly anything of these is unexplained", total(unexplained, "outside_ns")
if len(unexplained) > len(by_poke) / 10 and stolen >= outside / 2:
    lib.not_judged(name, f"the host had the CPU for {stolen / 1e6:.0f} ms")
else:
    ok(len(unexplained) <= len(by_poke) / 10, name, len(unexplained), stolen, unexplained[:3])
is_([f for f in os.listdir("/dev/shm") if f == f"culprit-{p.pid}"], [],
    "nothing of it stays in /dev/shm")

# ---- the share of its time that nobody sees, by its own gaps ----
with program("gaps") as p:
    rec = os.path.join(place, "gaps")
    with lib.opened("watch", "-q", "-p", str(p.pid), "-d", "1h", "-r", rec) as run:
        have_run(p, seconds=0.3)
    report = json.loads(culprit("report", rec, "-f", "json").out)
    lines = [json.loads(x) for x in culprit("report", rec, "-f", "jsonl").out.splitlines()]
    printed = [tuple(map(int, line.split())) for line in p.end().splitlines()]
check_sums(report, "gaps")
t = report["cpus"][0]["thread"]
mine = [w for w in lines if (w["start_ns"], w["start_ns"] + w["duration_ns"]) in set(printed)]
is_((t["reported"], t["reported_ns"], t["reported_not_seen_ns"], t["reported_not_seen_max_ns"],
     t["reported_not_seen"]),
    (len(mine), sum(w["duration_ns"] for w in mine), sum(w["outside_ns"] for w in mine),
     max(w["outside_ns"] for w in mine), sum(w["outside_ns"] == w["duration_ns"] for w in mine)),
    "how much of its own gaps is in no interval: the sum over its gaps, as it printed them")
inside = [(a, b) for a, b in printed if a >= lines[0]["start_ns"] and b <= lines[-1]["start_ns"]]
ok(set(inside) <= {(w["start_ns"], w["start_ns"] + w["duration_ns"]) for w in lines},
   "no gap of the window is left out", len(inside), len(lines))
lib.diag(t)
said = re.search(r"in its reports, which may overlap, ([\d.e-]+) % is not seen",
                 " ".join(run.result.out.split()))
share = 100 * t["reported_not_seen_ns"] / t["reported_ns"]
ok(said and abs(float(said[1]) - share) <= 0.01 * share, "the text says it, too", said, share)
is_(t["ran_on"], [cpu], "and where it ran")
is_(t["kernel_thread"], False, "it is no kernel thread")
# Reports of its own may come before it was seen for the first time.
is_([w for w in lines if w["kernel_thread"] is not (None if w["comm"] is None else False)], [],
    "nor in any line, as far as it has a name there")

# ---- reports about another program's thread ----
with program("spin") as p, program("forge", "600", str(p.pid)) as q:
    with lib.opened("watch", "-q", "-p", str(q.pid), "--tid", str(p.tids[0]), "-d", "10m",
                    "-f", "json") as run:
        have_run(p, seconds=0.3)
        have_run(q, seconds=0.001)  # sleeps for most of its time
    report = json.loads(run.result.out)
    c = next((c for c in report["cpus"] if c["thread"]["pid"] == p.tids[0]), None)
ok(c and c["thread"]["reported"] == 0 and c["hiccups"]["count"],
   "a program's reports about another's thread neither invent nor hide its losses", c)
ok(f"left out of the reports of process {q.pid}: " in run.result.err, "which is said", run.result)

# ---- the end of a watched program ----
with program("late") as p, program("late") as q:
    proc, other = (lib.spawn("watch", "-p", str(one.pid), "-d", window, "-q", "-f", "json",
                             "--ready-file", os.path.join(place, ready), "-H",
                             ",".join(map(str, sorted(lib.ALLOWED | {cpu}))))
                   for one, window, ready in ((p, "60s", "r2"), (q, "500ms", "r3")))
    lib.await_ready(other, os.path.join(place, "r3"))
    q.proc.send_signal(signal.SIGSTOP)
    os.truncate(f"/dev/shm/culprit-{q.pid}", 0)
    lib.await_ready(proc, os.path.join(place, "r2"))
    is_((apart, lib.policy(proc.pid)), (os.SCHED_FIFO, os.SCHED_OTHER),
        "culprit has a real-time priority only where no watched thread runs")
    p.proc.kill()
    p.proc.wait()
    r, torn = lib.finish(proc), lib.finish(other)
    q.proc.kill()
    os.unlink(f"/dev/shm/culprit-{q.pid}")
ok(r.rc == 0 and r.seconds < lib.AT_ONCE_S and tids(json.loads(r.out)) == {p.tids[0]},
   "the program is killed: the watch ends, with its report", r)
ok(torn.rc == 0, "a program that cuts its reports off ends only itself", torn)
ok(not os.path.exists(f"/dev/shm/culprit-{p.pid}"), "and what it left in /dev/shm is removed")

# ---- more threads of one set of the table wait than it has places (bpf/wait.bpf.h) ----
SETS, FIRST, CLONE3 = 2048, 4096, 435
CROWD = shutil.copy(WATCHED, os.path.join(place, "crowd"))


def spinner(pid):
    """A program that computes, with this pid; None: the pid is taken."""
    tid = ctypes.c_int(pid)
    arg = struct.pack("4Q", 0, 0, 0, 0) + struct.pack("Q", signal.SIGCHLD) + \
        struct.pack("5Q", 0, 0, 0, ctypes.addressof(tid), 1)
    child = ctypes.CDLL(None, use_errno=True).syscall(CLONE3, arg, len(arg))
    if child:
        return child if child > 0 else None
    try:
        os.sched_setaffinity(0, {cpu})
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.execv(CROWD, ["crowd", "calls"])
    finally:
        os._exit(127)


def crowd(n):
    """Programs that share the target, all of one set; [] where no such pids are free."""
    for first in range(FIRST, FIRST + SETS, 8):
        pids = [spinner(first + SETS * i) for i in range(n)]
        if all(pids):
            return pids
        disperse(filter(None, pids))
    return []


def disperse(pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def take_turns(pids):
    until = {pid: cpu_ns(pid) + 2e7 for pid in pids}
    if lib.await_gone(lambda: [pid for pid in pids if cpu_ns(pid) < until[pid]
                               and lib.stat(pid)[0] != "Z"]):
        raise RuntimeError("programs that share a CPU take no turns")


def waits_lost(n, *args):
    """None: no such programs can be made here."""
    pids = crowd(n)
    if not pids:
        return None
    try:
        r, _ = watch("--comm", "crowd", *args, meanwhile=lambda: take_turns(pids))
        return sum(c["records"]["waits_lost"] for c in r["cpus"])
    finally:
        disperse(pids)


# One runs and the others wait; who leaves takes a place before who comes gives one back.
for args in [], ["--sums"]:
    what = f"waits that had no place are counted, and no others {args}"
    few, many = waits_lost(4, *args), waits_lost(6, *args)
    if None in (few, many):
        lib.skip(what, "pids that one asks for are not to be had (clone3, set_tid)")
    else:
        ok(few == 0 < many, what, few, many)

shutil.rmtree(place)
is_(lib.await_gone(lib.marked), [], "nothing is left running")
done()
