#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs recipes in a guest: measures the noise, runs the command that the report prints, measures
again, runs what undoes it, and measures a third time. What came of each is a line of JSON.

    in_guest.py OUT [--try] ID...
"""
import fnmatch
import json
import os
import re
import signal
import subprocess
import sys

from recipes import RECIPES

CULPRIT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "build", "culprit")
TARGET = "1"


def measure(recipe):
    r = subprocess.run([CULPRIT, "run", "-c", TARGET, "-d", f"{recipe.seconds}s", "-q", "-f",
                        "json", "-H", "0", *recipe.sampler], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, timeout=600)
    if r.returncode:
        raise RuntimeError(f"culprit run: rc {r.returncode}: {r.stderr}")
    return json.loads(r.stdout)["cpus"][0]["sources"]


def of_cause(sources, cause, recipe):
    found = [s for s in sources if s.get("cause") == cause]
    if not any(fnmatch.fnmatch(n or "", recipe.who) for s in found
               for n in (s["name"], s.get("function"))):
        return [], 0
    return found, sum(s["count"] for s in found)


class Shell:
    """One shell, which keeps $old between what saves and what undoes."""

    def __init__(self):
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def run(self, line):
        """Its exit status and output."""
        self.process.stdin.write(f"{line}\ncode=$?; echo; echo END $code\n")
        self.process.stdin.flush()
        text = ""
        for out in self.process.stdout:
            if end := re.fullmatch(r"END (\d+)\n", out):
                return int(end[1]), text.strip()
            text += out
        return None, text


def commands(cause, advice):
    """The entry's own command, and its lines that save and undo, about the thread or interrupt of
    the advice."""
    r = subprocess.run([CULPRIT, "explain", "-c", TARGET, "-f", "json", cause], text=True,
                       stdout=subprocess.PIPE, check=True)
    entry = json.loads(r.stdout)["causes"][0]
    pid, irq = re.search(r" (\d+)$", advice), re.search(r"/irq/(\d+)/", advice)
    lines = [entry[name] for name in ("advice", "save", "undo")]
    if pid:
        lines = [re.sub(r"\bPID\b", pid[1], t) for t in lines]
    if irq:
        lines = [re.sub(r"\bIRQ\b", irq[1], t) for t in lines]
    return lines


def prove(cause, told, also_try):
    recipe = RECIPES[cause]
    shell = Shell()
    code, said = shell.run(recipe.make or ":")
    told |= {"make": [code, said]}
    busy = subprocess.Popen(["sh", "-c", recipe.busy], start_new_session=True,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL) if recipe.busy else None
    try:
        sources = measure(recipe)
        found, told["noise"] = of_cause(sources, cause, recipe)
        if not found:
            told["instead"] = [[s["name"], s.get("function"), s.get("cause"), s["count"]]
                               for s in sources][:12]
            return
        advice = told["advice"] = max(found, key=lambda s: s["time_ns"] if "time_ns" in s
                                      else s["count"])["advice"]
        own, save, undo = commands(cause, advice)
        told["save"] = shell.run(save)
        before = told["before"] = shell.run('printf "%s\\n" "$old"')[1]
        told["fix"] = shell.run(advice)
        told["fixed"] = of_cause(measure(recipe), cause, recipe)[1]
        told["undo"] = shell.run(undo)
        if own != advice:  # an audit's, which may know a better value
            told["own"] = own
            told["own_fix"] = shell.run(own)
            told["own_fixed"] = of_cause(measure(recipe), cause, recipe)[1]
            shell.run(undo)
        told["back"] = before == shell.run(f'{save}; printf "%s\\n" "$old"')[1]
        told["again"] = of_cause(measure(recipe), cause, recipe)[1]
        if also_try:
            number = re.search(r" (\d+)$|/irq/(\d+)/", advice)
            word = cause + (":" + (number[1] or number[2]) if number else "")
            r = subprocess.run([CULPRIT, "try", word, "-c", TARGET, "-H", "0", "-q", "-d",
                                f"{8 * recipe.seconds}s", "-n", "4", "-f", "json",
                                *recipe.sampler], text=True, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
            told["try"] = [r.returncode, json.loads(r.stdout)["verdict"] if r.stdout else r.stderr]
            told["tried_back"] = before == shell.run(f'{save}; printf "%s\\n" "$old"')[1]
    finally:
        if busy:
            os.killpg(busy.pid, signal.SIGKILL)
            busy.wait()
        shell.process.kill()
        shell.process.wait()


os.makedirs("/var/lib", exist_ok=True)  # the guest has none, every system has one
also = "--try" in sys.argv
with open(sys.argv[1], "w", encoding="utf-8") as out:
    for cause in [a for a in sys.argv[2:] if a != "--try"]:
        told = {"cause": cause}
        try:
            prove(cause, told, also)
        except (RuntimeError, subprocess.SubprocessError, OSError, ValueError) as why:
            told["error"] = str(why)
        print(json.dumps(told), file=out, flush=True)
