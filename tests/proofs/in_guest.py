#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs recipes in a guest, all at once: measures the noise; for each in turn runs the command that
the report prints, measures again, and runs what undoes it; and measures a last time. What came of
each is a line of JSON.

    in_guest.py OUT ID...
"""
import contextlib
import fnmatch
import glob
import json
import os
import re
import signal
import subprocess
import sys
import time

from recipes import MOVE, RECIPES, STOP, place_of

CULPRIT = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
                       "build", "culprit")
TARGET = "1"
WINDOWS = 3  # measured at most until the noise has come


def measure(seconds, command=f"run -c {TARGET}"):
    """The sources of CPU 1, or of the threads that are watched, in a window."""
    r = subprocess.run([CULPRIT, *command.split(), "-d", f"{seconds}s", "-q", "-f", "json",
                        "-H", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       timeout=600)
    if r.returncode:
        raise RuntimeError(f"culprit {command}: rc {r.returncode}: {r.stderr}")
    return [s for lane in json.loads(r.stdout)["cpus"] for s in lane["sources"]]


def of_cause(sources, cause, recipe):
    found = [s for s in sources if s.get("cause") == cause and
             any(fnmatch.fnmatch(n or "", recipe.who) for n in (s["name"], s.get("function")))]
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


def entry_of(cause):
    r = subprocess.run([CULPRIT, "explain", "-c", TARGET, "-f", "json", cause], text=True,
                       stdout=subprocess.PIPE, check=True)
    return json.loads(r.stdout)["causes"][0]


class Noise:
    """A recipe that is being made."""

    def __init__(self, cause):
        self.cause, self.recipe, self.busy, self.shell = cause, RECIPES[cause], None, Shell()
        self.told = {"cause": cause, "make": self.shell.run(self.recipe.make or ":")}
        self.start()

    def measure(self, seconds):
        return measure(seconds, self.recipe.run.format(pid=self.busy and self.busy.pid))

    def start(self):
        if self.recipe.busy:
            self.busy = subprocess.Popen(["sh", "-c", self.recipe.busy], start_new_session=True,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        if self.busy:
            with contextlib.suppress(ProcessLookupError):  # ended before: end() tells that
                os.killpg(self.busy.pid, signal.SIGKILL)
            self.busy.wait()
            self.busy = None

    def move(self, cpu):
        """All threads of what is busy."""
        for path in glob.glob("/proc/[0-9]*/task/[0-9]*/stat"):
            try:
                with open(path, encoding="utf-8", errors="replace") as f:
                    session = int(f.read().rpartition(")")[2].split()[3])
                if session == self.busy.pid:
                    os.sched_setaffinity(int(path.split("/")[4]), {cpu})
            except (FileNotFoundError, ProcessLookupError):
                pass

    def do(self, back):
        """What a sentence of the entry advises, or the reverse: exit status and output."""
        ends = self.recipe.ends
        if ends == MOVE:
            self.move(int(TARGET) if back else 0)
        elif ends == STOP:
            (self.start if back else self.stop)()
        else:
            return self.shell.run(self.recipe.again if back else ends)
        return 0, ""

    def fill(self, line, advice):
        """A command about the thread or interrupt of the advice."""
        pid, irq = re.search(r" (\d+)$", advice), re.search(r"/irq/(\d+)/", advice)
        line = re.sub(r"\bPID\b", pid[1], line) if pid else line
        return re.sub(r"\bIRQ\b", irq[1], line) if irq else line

    def prove(self, window, seconds):
        """The window with the fix; what comes of it is told."""
        told, recipe, entry = self.told, self.recipe, entry_of(self.cause)
        found, told["noise"] = of_cause(window, self.cause, recipe)
        if not found:
            told["instead"] = sorted({f"{s.get('cause')} {s['name']} {s.get('function')}"
                                      for s in window})
            return window
        told["advice"] = max(found, key=lambda s: s["count"])["advice"]
        told["command"] = entry["undo"] is not None
        if recipe.boots:
            return window
        if recipe.ends:
            told["fix"] = self.do(False)
            window = self.measure(seconds)
            told["undo"] = self.do(True)
        else:
            save, undo = (self.fill(entry[n], told["advice"]) for n in ("save", "undo"))
            told["save"] = self.shell.run(save)
            told["before"] = self.shell.run('printf "%s\\n" "$old"')[1]
            told["fix"] = self.shell.run(told["advice"])
            window = self.measure(seconds)
            told["undo"] = self.shell.run(undo)
            own = self.fill(entry["advice"], told["advice"])
            if own != told["advice"]:  # an audit's, which may know a better value
                told["own_fix"] = self.shell.run(own)
                told["own_fixed"] = of_cause(self.measure(seconds), self.cause,
                                             recipe)[1]
                self.shell.run(undo)
            told["back"] = told["before"] == self.shell.run(
                f'{save}; printf "%s\\n" "$old"')[1]
        told["fixed"] = of_cause(window, self.cause, recipe)[1]
        return window

    def end(self):
        self.told["died"] = self.busy.poll() if self.busy else None
        self.stop()
        self.shell.process.kill()
        self.shell.process.wait()


def comes(noise, window, look):
    """The first window that has enough of its noise, of this one and those that look() measures. A
    guest takes its time to begin a program or to bring up a device, and what two CPUs may do may be
    done by the other one for some seconds."""
    for _ in range(WINDOWS - 1):
        if of_cause(window, noise.cause, noise.recipe)[1] >= noise.recipe.least:
            break
        window = look()
    return window


def prove(causes, out):
    """All make their noise all the time, and one after another is ended: the window with the fix of
    another shows that the noise is back, and that no other fix has ended it."""
    seconds = max(RECIPES[c].seconds for c in causes)
    noises = [Noise(c) for c in causes]

    def look():
        return measure(seconds)

    try:
        time.sleep(1)
        window = look()
        last = None
        for noise in noises:
            same = window = comes(noise, window, look)
            window = noise.prove(window, seconds)
            if last and window is not same:
                last.told["again"] = of_cause(comes(last, window, look), last.cause,
                                              last.recipe)[1]
            last = noise if "fixed" in noise.told else last
        if last:
            last.told["again"] = of_cause(comes(last, look(), look), last.cause, last.recipe)[1]
    finally:
        for noise in noises:
            noise.end()
            print(json.dumps(noise.told), file=out, flush=True)


def prove_apart(cause, out):
    """One makes its noise alone."""
    seconds = RECIPES[cause].seconds
    noise = Noise(cause)

    def look():
        return noise.measure(seconds)

    try:
        time.sleep(1)
        noise.prove(comes(noise, look(), look), seconds)
        if "fixed" in noise.told:
            time.sleep(noise.recipe.wait)
            noise.told["again"] = of_cause(comes(noise, look(), look), cause, noise.recipe)[1]
    finally:
        noise.end()
        print(json.dumps(noise.told), file=out, flush=True)


os.makedirs("/var/lib", exist_ok=True)  # the guest has none, every system has one
with open(sys.argv[1], "w", encoding="utf-8") as told_to:
    if place_of(sys.argv[2]).apart:
        for c in sys.argv[2:]:
            prove_apart(c, told_to)
    else:
        prove(sys.argv[2:], told_to)
