#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the sampler has to bear: a stop longer than 32 bits of its counter, being moved, hostile
names, real-time priority, a terminal."""
import ctypes
import json
import os
import re
import signal
import tempfile
import time

import lib
from lib import cpu_of, done, is_, ok, sources

HOSTILE = b"\x1b[31m\"\\|\n\xff<b>"

lib.need_bpf()
cpu = lib.pick_target()
other = min(c for c in lib.online() if c != cpu)


def while_measuring(act, *extra, rc=0):
    """Runs culprit and calls act(pid of the sampler) in its window, which ends then; returns the
    report and what act returned."""
    with lib.opened("run", "-c", str(cpu), "-d", "30s", "-f", "json", "-q", *extra) as run:
        got = act(next(pid for pid, comm in lib.marked() if pid != run.proc.pid
                       and comm == "culprit-sampler"))
    ok(run.result.rc == rc, "the run ends well" if not rc else f"the run ends with {rc}",
       run.result)
    return json.loads(run.result.out), got


def stays_open(sampler):
    """What it holds by perf: the clock that it learned with must be closed, that of SMIs is not."""
    return [link for fd in os.listdir(f"/proc/{sampler}/fd")
            if "perf_event" in (link := os.readlink(f"/proc/{sampler}/fd/{fd}"))]


def look(sampler):
    held = stays_open(sampler), os.getpriority(os.PRIO_PROCESS, sampler)
    reader = int(lib.stat(sampler)[1])
    time.sleep(0.2)
    return *held, (lib.policy(reader), os.sched_getparam(reader).sched_priority)


report, (held, nice, reader) = while_measuring(look)
# Programs with a real-time priority, as stress-ng's timers at 49, keep it from the rings otherwise.
is_(reader, (os.SCHED_FIFO, 50), "who reads what it finds has the priority of interrupts' threads")
is_((report["run"]["priority"], nice), ("SCHED_OTHER", 0), "it is as normal as any other thread")
row = cpu_of(report, cpu)
# As long as its counter takes to count to 2^32, and somewhat longer; where that is a minute (arm64)
# it is left out.
stop_s = min(1.1 * 2 ** 32 / report["host"]["tsc_khz"] / 1000, 2.6)
ok(len(held) == (row["evidence"]["smi_count"] is not None),
   "no perf event is left behind from learning", held, row["evidence"])
gaps, loop = row["short_gaps"], row["loop"]
ok(gaps["count"] * (gaps["from_ns"] - 1) <= gaps["total_ns"] <= gaps["count"] * (row["threshold_ns"]
                                                                                 + 1),
   "short gaps are as long as they are said to be", gaps)
for c in loop["longer_than"]:
    ok(c["count"] >= gaps["count"] if c["ns"] < gaps["from_ns"] else c["count"] <= gaps["count"],
       f"and they are those of the loops, longer than {c['ns']} ns", gaps, c)
# The rate of the counter is known to a millionth or so, each hiccup's length to a tick.
told = (loop["count"] * loop["mean_ps"] / 1000 + row["hiccups"]["total_ns"]
        + row["records"]["hiccups_lost_ns"] + row["bookkeeping_ns"])
ok(abs(told - row["observed_ns"]) < 0.001 * row["observed_ns"],
   "loops, hiccups and bookkeeping make up the window", told, row["observed_ns"])


def stop(sampler):
    """Stops it; from when to when it was stopped for certain, CLOCK_MONOTONIC."""
    os.kill(sampler, signal.SIGSTOP)
    lib.await_gone(lambda: lib.stat(sampler)[0] != "T")
    begun = time.monotonic_ns()
    time.sleep(stop_s)
    ended = time.monotonic_ns()
    os.kill(sampler, signal.SIGCONT)
    return begun, ended


# One window, told twice: in another tool's columns, whose own 32 bits do not hold that, and by its
# recording.
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    recording = os.path.join(place, "rec")
    with lib.opened("run", "-c", str(cpu), "-d", "30s", "-q", "--style", "osjitter", "-r",
                    recording) as run:
        begun, ended = stop(next(pid for pid, comm in lib.marked()
                                 if comm == "culprit-sampler"))
    until = time.monotonic_ns()
    ok(run.result.rc == 0, "the run ends well", run.result)
    heading, values = (line.split() for line in run.result.out.splitlines())
    row = dict(zip(heading, values))
    report = json.loads(lib.culprit("report", "-f", "json", recording).out)
# A busy disk makes a hundred thousand records a second: more in that one hiccup than ever wait.
# Then what came before its last stay may be dropped, and counts as lost (join_relieve() in
# src/model/join.h; join_net_ahead() begins with so many).
JOIN_AHEAD = 16 * 16384 // 4 * 3
seen = cpu_of(report, cpu)["records"]["seen"]
lib.check_sums(report, "stopped", lost=None if seen > JOIN_AHEAD else 0)
longest = report["worst"][0]
# The time until it is back on its CPU is up to the machine, but it was back before the run ended;
# and when another thread had the CPU at the stop, the gap began with that thread, in the window.
start = report["run"]["started_monotonic_ns"] + longest["at_ns"]
ok(longest["at_ns"] >= 0 and start <= begun and ended <= start + longest["duration_ns"] < until,
   "a stop of seconds is one hiccup of its true length", begun, ended, until, start, longest)
# Told in ticks of a rate that is known to its kHz.
ok(abs(int(row["max_ns"]) / longest["duration_ns"] - 1) < 1e-5, "and in osjitter's column, too",
   row, longest)
ok(longest["outside_ns"] < 0.2 * longest["duration_ns"], "and others or idle had the CPU meanwhile",
   longest)


def move(sampler):
    time.sleep(0.3)
    os.sched_setaffinity(sampler, {other})
    time.sleep(0.1)


began = time.monotonic()
report, _ = while_measuring(move, rc=3)
row = cpu_of(report, cpu)
ok(row["ended_early"] and "moved" in row["ended_early"], "a sampler that is moved says so",
   row["ended_early"])
ok(row["ended_early"] in report["run"]["incomplete"], "and the run is incomplete for that",
   report["run"]["incomplete"])
ok(0.25 < row["observed_ns"] / 1e9 < time.monotonic() - began - 0.1,
   "and the time before is covered", row["observed_ns"])
lib.check_sums(report, "moved", lost=None, mismatches=None)


def hostile(_):
    """A child with a name that would drive a terminal takes the CPU for a while."""
    pid = os.fork()
    if not pid:
        ctypes.CDLL(None).prctl(15, ctypes.c_char_p(HOSTILE), 0, 0, 0)
        os.sched_setaffinity(0, {cpu})
        end = time.monotonic() + 0.2
        while time.monotonic() < end:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    return pid


with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    recording = os.path.join(place, "rec")
    report, pid = while_measuring(hostile, "-r", recording)
    text = lib.culprit("report", recording).out
rows = sources(report, cpu, kind="thread", id=pid, name=re.compile(r"x1b"))
ok(rows and all(c.isprintable() for c in rows[0]["name"]), "a hostile name is escaped in JSON",
   sources(report, cpu, id=pid))
ok("\\x1b[31m" in text and "\x1b" not in text, "and in text", text[:2000])
ok(all(len(line) <= 100 for line in text.splitlines()), "the text fits 100 columns",
   [x for x in text.splitlines() if len(x) > 100])

report, _ = while_measuring(lambda sampler: is_(os.sched_getscheduler(sampler), os.SCHED_FIFO,
                                                "-P f:10 makes it FIFO"), "-P", "f:10")
is_(report["run"]["priority"], "SCHED_FIFO 10", "and the report says so")
report, got = while_measuring(lambda sampler: (os.sched_getscheduler(sampler),
                                               os.getpriority(os.PRIO_PROCESS, sampler)),
                              "-P", "b:0", "--no-trace")
is_([*got, report["run"]["priority"]], [os.SCHED_BATCH, 0, "SCHED_BATCH"],
    "-P b:0 makes it batch, and the report says so")

# ---- the other clock ----
report, log = lib.run_json(cpu, 0, "--clock", poke=["fifo", "-n", "20", "-l", "2ms"])
# by its name, too: what it does there before it has that may be a stay of its own
told = sources(report, cpu, kind="thread", id=log[0]["tid"], name=log[0]["comm"])
ok(cpu_of(report, cpu)["records"]["lost"]
   or (len(told) == 1 and lib.as_long_as_poked(told[0]["total_ns"], told[0]["max_ns"], report, cpu,
                                               log, lib.ran(log), lib.spans(log))),
   "--clock: a thread held the CPU for as long as it says", *told, *log)
lib.check_sums(report, "--clock", lost=None)


def on_terminal(duration, *args, **more):
    return lib.on_terminal("run", "-c", str(cpu), "-d", duration, *args, **more)


ends = [on_terminal("1m", until=" of 60.0 s"), on_terminal("300ms", "-q", "--no-trace"),
        on_terminal("100ms", "-q", NO_COLOR="1")]
plain, quiet, mono = (r.err for r in ends)
ok(all(r.rc == 0 for r in ends), "runs on a terminal end with 0", *ends)
ok("hiccups · worst" in plain and " of 60.0 s" in plain and "\r" in plain,
   "a terminal gets a progress line", plain[:300])
ok(" of 300 ms" not in quiet, "-q takes it away", quiet[:300])
ok("\x1b[" in quiet and "\x1b[" not in mono, "colour on a terminal, none with NO_COLOR", mono[:300])
done()
