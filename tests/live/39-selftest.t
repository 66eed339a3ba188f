#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit selftest makes noise of each class of poke's that this machine can make, names it, and
leaves nothing behind, however it ends, also where it is told that the CPU is nohz_full.

That a class is named is judged as tests/live/20-poke.t judges it."""
import json
import os
import signal
import subprocess
import tempfile
import time

import lib
from lib import culprit, diag, done, is_, ok

lib.need_bpf()
cpu = lib.pick_target()
MIGRATION = "/proc/sys/kernel/timer_migration"
before = lib.read(MIGRATION)

used = -sum(os.times()[2:4])
with tempfile.TemporaryDirectory() as place:
    report = os.path.join(place, "selftest.json")
    r = culprit("selftest", "-c", str(cpu), "-f", "json", "-q", "-o", report)
    used += sum(os.times()[2:4])
    told = json.loads(lib.read(report) or "{}")
is_((r.out, r.err), ("", ""), "it writes into the file, and into that alone")
classes = {c["class"]: c for c in told.get("classes", [])}
listed = subprocess.run([lib.POKE, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
is_(list(classes), [line.split()[0] for line in listed.splitlines()],
    "its classes are those of poke")
for name, c in classes.items():
    if c["why_not"]:
        diag(f"{name}: {c['why_not']}")
NAME = "it makes noise of most classes"
if r.rc == 3 and told.get("whole") is False:  # on a busy machine, and nobody has interrupted it
    lib.not_judged(NAME, "the noise was not at its end after 25 s, which culprit waits for it")
else:
    made = [c for c in classes.values() if c["made"]]
    ok(len(made) >= 10 and all(c["made"] >= 25 for c in made), NAME, told)
    is_([c for c in made if c["verdict"] != "named"], [], "and names all of them")
    is_((r.rc, told.get("whole"), told.get("missed")), (0, True, 0), "as its exit status says")
    ok(all(c["gaps_with"] > 0 and c["gaps_without"] > 0 and c["p10_with_ns"] > 0
           for c in told["costs"]), "it tells what tracing costs", told["costs"])
ok(used < 60, "within a minute of CPU time, however long a busy machine takes", used, r.seconds)


def ours(pid):
    """Processes of its session."""
    found = []
    for p in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(p)) == pid:
                found.append(p)
        except OSError:
            pass
    return found


def noise(pid):
    """The process that makes noise, once there is one that measures, too: it is the elder."""
    found = lib.children(pid)
    return found[0] if len(found) > 1 else None


for number, code, windows in ((signal.SIGKILL, -9, 1), (signal.SIGTERM, 3, 1),
                              (signal.SIGINT, 3, 2)):
    proc = lib.spawn("selftest", "-c", str(cpu), "-q")
    seen = {None}
    end = time.monotonic() + lib.READY_MAX_S
    while len(seen) <= windows and proc.poll() is None and time.monotonic() < end:
        seen.add(noise(proc.pid))
        time.sleep(0.01)
    # A terminal's goes to all of them; who is killed cannot clean up, so that is the others' work.
    (os.kill if number == signal.SIGKILL else os.killpg)(proc.pid, number)
    r = lib.finish(proc)
    is_(r.rc, code, f"{number.name}: the exit status")
    ok(code < 0 or r.out or len(r.err.splitlines()) == 1, f"{number.name}: it says so", r)
    left = lib.await_gone(lambda: ours(proc.pid))
    is_((left, lib.read(MIGRATION)), ([], before), f"{number.name}: nothing is left")

# A machine as a mount namespace has it: with a nohz_full CPU, whose timers stay only while
# the knob is 0. It is a file there, which nobody else reads.
TOLD = """cd "$0" && mkdir real cpus && mount --bind /sys/devices/system/cpu real &&
ln -s "$0"/real/* cpus/ && rm -f cpus/nohz_full && echo $1 >cpus/nohz_full && shift &&
mount --bind cpus /sys/devices/system/cpu && mount --bind knob MIGRATION && exec "$@"
""".replace("MIGRATION", MIGRATION)


def await_off(proc, knob, known):
    """The process that makes noise with the knob off, none of the known ones; None: it never came.
    """
    end = time.monotonic() + lib.READY_MAX_S
    while proc.poll() is None and time.monotonic() < end:
        pid = noise(proc.pid)
        if pid not in known and lib.read(knob).strip() == "0":
            return pid
        time.sleep(0.002)
    return None


# The noise of both windows, and culprit itself.
for victims in ("noise", "noise"), ("culprit",):
    with tempfile.TemporaryDirectory() as here:
        knob = os.path.join(here, "knob")
        with open(knob, "w") as f:
            f.write("1\n")
        proc = lib.spawn("selftest", "-c", str(cpu), "-q",
                         prefix=("unshare", "-m", "sh", "-c", TOLD, here, str(cpu)))
        known = [None]
        for victim in victims:
            known.append(await_off(proc, knob, known))
            if known[-1]:
                os.kill(known[-1] if victim == "noise" else proc.pid, signal.SIGKILL)
        r = lib.finish(proc)
        # Had it not been put back behind the first window, the second would have found it off, and
        # left it so.
        left = lib.await_gone(lambda: lib.read(knob).strip() == "0")
        ok(all(known[1:]) and not left and r.rc == (-9 if "culprit" in victims else 1),
           f"killed with kernel.timer_migration off, {' and '.join(victims)}: it is put back",
           known, lib.read(knob), r)
        if victims[0] == "noise":
            is_(r.err, "culprit: noise could not be made: the process that makes it was killed\n",
                "and one line says so")
done()
