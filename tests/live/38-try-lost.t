#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit try and tune lose what they work on: the thread ends, somebody else sets its CPUs, the
process that writes their recording is killed, a signal comes. What was measured is told, with the
reason, and once; tune goes on with the next fix."""
import glob
import json
import os
import signal
import tempfile

import lib
from lib import culprit, done, is_, ok

lib.need_bpf()
cpu = lib.pick_target()
place = tempfile.mkdtemp()
STATE = os.path.join(place, "state")
AT = ("-q", "--state", STATE, "-c", str(cpu))
MANY = ("-d", "12s", "-n", "30", "-f", "json")


def noisy():
    """A thread that is there on the CPU again and again."""
    proc = lib.spawn("-c", f"exec taskset -c {cpu} sh -c 'while :; do i=0; while [ $i -lt 2000 ]; "
                     "do i=$((i+1)); done; sleep 0.01; done'", path="/bin/sh")
    lib.await_gone(lambda: os.sched_getaffinity(proc.pid) != {cpu}, lib.HANG_S)
    return proc


def end(proc):
    os.killpg(proc.pid, signal.SIGKILL)
    proc.communicate()


def moves(thread, *command):
    """What tries something, once it has moved the thread, or has ended."""
    proc = lib.spawn(*command, *AT)
    lib.await_gone(lambda: proc.poll() is None and os.sched_getaffinity(thread.pid) == {cpu},
                   lib.READY_MAX_S)
    return proc


def told(r):
    return json.loads(r.out) if r.out else {}


def nothing_left(r, what):
    is_(os.listdir(place), [], f"{what}: nothing is left")
    is_(len(r.err.splitlines()), 1, f"{what}: one line says so")


# ---- the thread ends ----
thread = noisy()
ENDED = f"[{thread.pid}] cannot be set any more: the thread has ended"
proc = moves(thread, "try", f"K34:{thread.pid}", *MANY)
end(thread)
r = lib.finish(proc)
t = told(r)
ok(r.rc == 3 and t.get("whole") is False and t.get("gone") == 1 and not t.get("in_force")
   and t["cut_short"].endswith(ENDED), "the thread ends: a report says so, with status 3", r)
nothing_left(r, "the thread ends")

# ---- somebody else sets its CPUs ----
thread = noisy()
proc = moves(thread, "try", f"K34:{thread.pid}", *MANY)
os.sched_setaffinity(thread.pid, lib.ALLOWED)
r = lib.finish(proc)
t = told(r)
ok(r.rc == 3 and t.get("whole") is False and t.get("left_to_others") == 1
   and t["cut_short"].startswith("somebody has set the CPUs of "),
   "somebody else sets its CPUs: a report says so, with status 3", r)
is_(os.sched_getaffinity(thread.pid), lib.ALLOWED, "and that is left so")
nothing_left(r, "somebody else sets its CPUs")
end(thread)

# ---- tune goes on ----
name = "a thread of two ends: tune goes on with the other"
for _ in range(2):
    thread, other = noisy(), noisy()
    proc = moves(thread, "tune", f"K34:{thread.pid}", f"K34:{other.pid}", "--look", "1s", "-d",
                 "2s", "-f", "json")
    end(thread)
    r = lib.finish(proc)
    steps = {s["fixes"][0]["number"]: s for s in told(r).get("steps", [])}
    back = culprit("tune", "--undo", "--state", STATE)
    end(other)
    lost, next_one = steps.get(thread.pid, {}), steps.get(other.pid, {})
    chance = r.rc == 0 and (lost.get("why_not") or lost.get("kept") or next_one.get("why_not"))
    if not chance:
        break
if chance:
    lib.not_judged(name, f"one of them had no turn in the look, or it was too late: {steps}")
else:
    ok(r.rc == 0 and lost and not lost["kept"] and lost["cut_short"].endswith("has ended")
       and next_one and next_one["cut_short"] is None
       and told(r)["ended"] == "nothing is left to try", name, r)
ok(back.rc == 0 and os.listdir(place) == [], "and --undo leaves nothing", back, os.listdir(place))

# ---- the process that writes what is measured is killed ----
with lib.ready_file() as ready:
    proc = lib.spawn("try", "F06", "-d", "60s", "--ready-file", ready, *AT)
    lib.await_ready(proc, ready)
    writers = [p for p in lib.children(proc.pid) if lib.read(f"/proc/{p}/comm") == "culprit"
               and f"{STATE}/try.rec" in map(os.readlink, glob.glob(f"/proc/{p}/fd/*"))]
    for p in writers:
        os.kill(p, signal.SIGKILL)
    r = lib.finish(proc)
ok(len(writers) == 1 and r.rc == 1 and not r.out and r.err == (
    f"culprit: the try is over: what it measures cannot be kept in {STATE}: the process that "
    "writes it was killed\n"), "who writes what is measured is killed: the try is over", r)
nothing_left(r, "who writes what is measured is killed")

# ---- signals ----
thread = noisy()
proc = moves(thread, "tune", f"K34:{thread.pid}", "--look", "1s", "-d", "20s", "-f", "json")
proc.send_signal(signal.SIGTERM)
r = lib.finish(proc)
if r.rc == 0:
    lib.not_judged("SIGTERM to tune", "the thread had no turn in the look")
else:
    is_((r.rc, told(r).get("ended"), [s["cut_short"] for s in told(r).get("steps", [])]),
        (3, "SIGTERM came", ["SIGTERM came"]), "SIGTERM to tune: that is what ended it")
is_(os.sched_getaffinity(thread.pid), {cpu}, "and the thread is back")
end(thread)
for command in ("try",), ("tune", "--look", "3s"):
    with lib.ready_file() as ready:
        proc = lib.spawn(*command, "--ready-file", ready, *AT)
        lib.await_ready(proc, ready)
        proc.send_signal(signal.SIGINT)
        r = lib.finish(proc)
    is_((r.rc, r.out, r.err), (3, "", "culprit: SIGINT came: no fix is tried any more\n"),
        f"{command[0]} is interrupted in its first window: it says so")
is_(os.listdir(place), [], "nothing is left")
os.rmdir(place)
done()
