#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in a guest: makes the noise of all these recipes at once, lets culprit tune end it, and
takes that back. Writes the report, and the settings before, with the fixes, and after, as JSON.

    tune_in_guest.py OUT ID...
"""
import glob
import json
import os
import signal
import subprocess
import sys

from recipes import RECIPES

CULPRIT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "build", "culprit")
TARGET = "1"


def settings(knobs):
    """The bytes of these files, and the CPUs of these threads."""
    return {**{path: open(path, "rb").read().decode("latin-1")
               for k in knobs if "path" in k for path in glob.glob(k["path"])},
            **{str(k["tid"]): sorted(os.sched_getaffinity(k["tid"])) for k in knobs
               if "tid" in k}}


def culprit(*args):
    r = subprocess.run([CULPRIT, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return [r.returncode, r.stdout, r.stderr]


os.makedirs("/var/lib", exist_ok=True)  # the guest has none, every system has one
recipes = [RECIPES[i] for i in sys.argv[2:]]
for recipe in recipes:
    subprocess.run(["sh", "-c", recipe.make or ":"], check=False)
busy = [subprocess.Popen(["sh", "-c", r.busy], start_new_session=True, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL) for r in recipes if r.busy]
told = {}
try:
    ON = ("-c", TARGET, "-H", "0", "-f", "json", "-q")
    told["dry"] = culprit("tune", "--dry-run", "--look", "2s", *ON)
    knobs = [k for s in json.loads(told["dry"][1])["steps"] for k in s["knobs"]]
    told["before"] = settings(knobs)
    told["tune"] = culprit("tune", "-d", "20s", "--look", "2s", "-n", "12", *ON)
    told["with"] = settings([k for s in json.loads(told["tune"][1])["steps"] for k in s["knobs"]])
    told["undo"] = culprit("tune", "--undo")
    told["after"] = settings(knobs)
finally:
    for b in busy:
        os.killpg(b.pid, signal.SIGKILL)
        b.wait()
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        json.dump(told, out)
