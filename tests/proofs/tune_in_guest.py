#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: makes the noise of all these recipes at once, lets culprit tune end it, and
takes that back; then sets by hand, with the commands that a report prints, what of these tune has
kept, and what the unit of systemd says that tune has written, and undoes that as it says. Writes
the report, all knobs before, with each, and after, and what was lost with tune's and with those by
hand, as JSON.

    tune_in_guest.py OUT ID...
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from recipes import RECIPES

CULPRIT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "build", "culprit")
TARGET = "1"
WINDOW_S = 10
UNIT = "/tmp/culprit-fixes.service"
# A file below these that may be written is a knob.
TREES = ("/proc/sys", "/proc/irq", "/sys/module", "/sys/block", "/sys/kernel/debug/sched",
         "/sys/devices/virtual/workqueue", "/sys/devices/system", "/sys/kernel/mm")
FILES = ("/sys/class/net/*/queues/*/*", "/sys/block/*/queue/*", "/sys/kernel/rcu_*")
# The first interrupts all CPUs when it is read; the others change by themselves.
NO_KNOBS = re.compile(r"/stat_refresh$|/ns_last_pid$|/uevent$")


def knob_files():
    for tree in TREES:
        for place, _, names in os.walk(tree):
            yield from (os.path.join(place, n) for n in names)
    for pattern in FILES:
        yield from glob.glob(pattern)


def knobs():
    """The bytes of all files that are knobs, and the CPUs of all threads."""
    found = {}
    for path in knob_files():
        try:
            if os.stat(path).st_mode & 0o600 == 0o600 and not NO_KNOBS.search(path):
                with open(path, "rb") as f:
                    found[path] = f.read().decode("latin-1")
        except OSError:
            pass  # one that has nothing to read
    for task in glob.glob("/proc/[0-9]*/task/[0-9]*"):
        tid = task.split("/")[-1]
        try:
            found[tid] = sorted(os.sched_getaffinity(int(tid)))
        except ProcessLookupError:
            pass  # ended meanwhile
    return found


def culprit(*args):
    r = subprocess.run([CULPRIT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [r.returncode, r.stdout, r.stderr]


def window():
    """The target's part of a report."""
    lane, = json.loads(culprit("run", "-d", f"{WINDOW_S}s", *ON)[1])["cpus"]
    return lane


def run_lines(pattern):
    """Runs what matches in the unit, as systemd would read it; returns all knobs then."""
    with open(UNIT, encoding="ascii") as f:
        for line in re.findall(pattern, f.read(), re.M):
            plain = re.sub(r'\\(["\\])|([%$])\2', lambda m: m[1] or m[2], line)
            subprocess.run(["sh", "-c", plain], check=False)
    return knobs()


os.makedirs("/var/lib", exist_ok=True)  # the guest has none, every system has one
ON = ("-c", TARGET, "-H", "0", "-f", "json", "-q")
recipes = [RECIPES[i] for i in sys.argv[2:]]
for recipe in recipes:
    subprocess.run(["sh", "-c", recipe.make or ":"], check=False)
busy = [subprocess.Popen(["sh", "-c", r.busy], start_new_session=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL) for r in recipes if r.busy]
told = {}
try:
    told["dry"] = culprit("tune", "--dry-run", "--look", "5s", *ON)
    told["before"] = knobs()
    begun = time.monotonic()
    # Noise of unequal lengths that comes once a second takes ten times to be told from chance.
    told["tune"] = culprit("tune", "-n", "24", "-d", "26s", "--service", UNIT, *ON)
    told["took_s"] = time.monotonic() - begun
    told["with"] = knobs()
    told["tuned"] = window()
    told["undo"] = culprit("tune", "--undo")
    told["after"] = knobs()
    told["unit"] = run_lines('^ExecStart=-/bin/sh -c "(.*)"$')
    told["unit_undone"] = run_lines("^# undo: (.*)$")
    told["noisy"] = window()
    kept = {s["fixes"][0]["cause"] for s in json.loads(told["tune"][1])["steps"] if s["kept"]}
    rows = sorted(told["noisy"]["sources"], key=lambda s: -s["count"])
    told["hand"] = {}
    for cause in kept & set(sys.argv[2:]):
        advice = next((s["advice"] for s in rows if s.get("cause") == cause), "false")
        told["hand"][cause] = [advice, subprocess.run(["sh", "-c", advice],
                                                             check=False).returncode]
    told["by_hand"] = window()
finally:
    for b in busy:
        os.killpg(b.pid, signal.SIGKILL)
        b.wait()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(told, out)
