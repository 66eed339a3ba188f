#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whatever the oracle switches on in tracefs is put back: at its end, when it is killed, and what
an earlier run left when even its guard was."""
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = HERE, os.path.join(os.path.dirname(HERE), "live")
import lib  # noqa: E402
import ring  # noqa: E402
from lib import await_gone, done, is_, ok, skip_all  # noqa: E402

lib.need_root()
cpu = lib.pick_target()
try:
    tracefs = ring.find_tracefs()
except ring.Cannot as why:
    skip_all(str(why))
CHILD = f"""
import os, sys, time
sys.dont_write_bytecode = True
sys.path[:0] = {sys.path[:2]}
import measure
bench = measure.Bench({cpu}, {sorted(lib.online() - {cpu})}, "culprit")
print("up", flush=True)
if sys.argv[1] == "stay":
    time.sleep(600)
bench.close()
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone")
"""


def instances():
    return [name for name in os.listdir(tracefs + "/instances") if name.startswith(ring.PREFIX)]


def child(what):
    proc = subprocess.Popen([sys.executable, "-c", CHILD, what], stdout=subprocess.PIPE, text=True)
    return proc, proc.stdout.readline().strip()


is_(instances(), [], "there is nothing of it before")
proc, said = child("leave")
is_((said, proc.stdout.read(), proc.wait(lib.HANG_S)), ("up", "alone\n", 0),
    "it comes and goes, its guard before it")
is_(instances(), [], "and leaves nothing")

proc, said = child("stay")
ok(len(instances()) == 2
   and "1" in ring.read(f"{tracefs}/instances/{ring.PREFIX}target"
                        "/events/sched/sched_switch/enable"),
   "it has its instances and their events are on", instances())
proc.send_signal(signal.SIGKILL)
proc.wait()
is_(await_gone(instances), [], "killed, it leaves nothing either")

os.mkdir(f"{tracefs}/instances/{ring.PREFIX}target")
ring.write(f"{tracefs}/instances/{ring.PREFIX}target/events/irq/enable", "1")
proc, said = child("leave")
is_((said, proc.wait(lib.HANG_S), instances()), ("up", 0, []),
    "what an earlier run left is removed first")
done()
