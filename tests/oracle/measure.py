# SPDX-License-Identifier: GPL-2.0-or-later
"""One load: culprit run and the trace beside it, then the verdict. Used by the tests of this
folder."""
import json
import os
import shutil
import subprocess
import tempfile
import time

import lib
import ring
from judge import Judge
from reading import (ASKING, EVENTS, FIELDS, SAMPLER, WORKING, Reading, Requests, Symbols,
                     records)

READY_S = lib.HANG_S


def buffer_kb():
    """Of the target's trace, and of all others' together: what storms of three seconds need, or an
    eighth of the memory. Elsewhere "udp" makes 26 MB of stacks, and on a machine so busy that its
    end waits 57,000 events more than 32 MB hold."""
    with open("/proc/meminfo") as f:
        return min(131072, int(f.readline().split()[1]) // 8)


def descendants(pid):
    """Of a process, by their parents."""
    parents = {}
    for other in filter(str.isdigit, os.listdir("/proc")):
        if fields := lib.stat(other):
            parents[int(other)] = int(fields[1])
    found = {pid}
    while more := {p for p, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


class Broken(Exception):
    """culprit did not do what it was asked for: its status, and what it said."""

    def __init__(self, what, rc, path):
        self.rc, self.err = rc, ring.read(path)
        super().__init__(f"{what}: {self.err}")


class Bench:
    """Instances that stay for several loads."""

    def __init__(self, target, others, culprit):
        self.target, self.others, self.culprit = target, sorted(others), culprit
        self.tracefs = ring.find_tracefs()
        ring.remove_all(self.tracefs)
        self.guard = ring.Guard(self.tracefs)
        self.on_target = ring.Instance(self.tracefs, "target", [target], EVENTS, buffer_kb())
        self.elsewhere = ring.Instance(self.tracefs, "others", self.others,
                                       {**ASKING, **WORKING},
                                       buffer_kb() // len(self.others))
        self.stacks = None
        self.instances = self.on_target, self.elsewhere

    def close(self):
        for instance in self.instances:
            ring.remove(instance.at)
        self.guard.end()

    def _take_stacks(self, many):
        """Of all who ask, or of softirqs alone where they are too many."""
        if self.stacks == many:
            return
        for instance in self.instances:
            for event in ASKING:
                instance.stacks_of(event, "common_flags & 16" if many else None)
        self.stacks = many

    def run(self, load, seconds, *options, many=False):
        """load: commands. (report, hiccups, Verdict), or in its place a reason why it is not
        judged."""
        with tempfile.TemporaryDirectory() as folder:
            names = [os.path.join(folder, n) for n in ("hiccups", "report", "ready", "said")]
            self._take_stacks(many)
            for instance in self.instances:
                instance.clear()
                instance.switch(True)
            with open(names[3], "w") as said:
                proc = subprocess.Popen([self.culprit, "run", "-c", str(self.target), "-d",
                                         f"{seconds}s", "-q", "-f", "json", "--hiccups", names[0],
                                         "-o", names[1], "--ready-file", names[2], *options],
                                        stderr=said)
            try:
                deadline = time.monotonic() + READY_S
                while not os.path.exists(names[2]):
                    if proc.poll() is not None or time.monotonic() > deadline:
                        raise Broken("it did not begin to measure", proc.poll(), names[3])
                    time.sleep(0.01)
                self.samplers = {p for p in descendants(proc.pid)
                                 if ring.read(f"/proc/{p}/comm").strip() == SAMPLER}
                for command in load:
                    made = subprocess.run(command, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.PIPE, text=True)
                    if made.returncode:
                        raise ring.Cannot(f"{os.path.basename(command[0])}: {made.stderr.strip()}")
                proc.wait(seconds + READY_S)
            finally:
                for instance in self.instances:
                    instance.switch(False)
                if proc.poll() is None:
                    proc.kill()
                    proc.wait()
            if proc.returncode:
                raise Broken(f"it ended with {proc.returncode}", proc.returncode, names[3])
            with open(names[0]) as f:
                hiccups = [json.loads(line) for line in f]
            with open(names[1]) as f:
                report = json.load(f)
        return report, hiccups, self.judge(hiccups, report["cpus"][0])

    def judge(self, hiccups, row):
        for instance in self.instances:
            for cpu in instance.cpus:
                if lost := instance.lost(cpu):
                    return f"the trace of cpu {cpu} lost {lost} events"
        symbols, requests = Symbols(), Requests()
        events = ring.decode(self.on_target, self.target, FIELDS)
        requests.add(events, self.target, self.target)
        for cpu in self.others:
            requests.add(ring.decode(self.elsewhere, cpu, FIELDS), cpu, self.target)
        requests.sort()
        self.events, self.requests, self.symbols = events, requests, symbols
        self.reading = Reading(events, self.target, requests, symbols, self.samplers,
                               lib.unseen_threads())
        verdict = Judge(self.reading, self.target).judge(hiccups)
        if hiccups:
            start = hiccups[0]["start_ns"] - hiccups[0]["at_ns"]
            verdict.records = records(events, self.reading, start, start + row["observed_ns"])
        return verdict


# ---- loads ----

STRESSORS = ("switch", "yield", "timer", "hrtimers", "futex", "fork", "clone", "udp", "aio",
             "epoll")
# loads that ask so often that a stack of each is too much
MANY = {"switch", "yield", "hrtimers", "futex", "epoll", "udp", "poke-fifo-switch"}
STORMS = ("udp", "yield-storm", "hrtimer-storm", "many-timers", "rename-storm", "ksoftirqd")


def loads(poke, target, other, seconds):
    """{name: commands that make the load, one after the other}"""
    def poked(name, *options):
        return [poke, name, "-c", str(target), "-H", str(other), *options]

    made = {"idle": [["sleep", str(seconds - 1)]]}
    for name in STRESSORS:
        made[name] = [["stress-ng", "--quiet", "--taskset", f"{other},{target}", "--" + name, "2",
                       "-t", str(seconds - 1)]]
    for name in STORMS:
        made["poke-" + name] = [poked(name, "-n", "60", "-g", "8ms-20ms")]
    made["poke-storms"] = [poked("mix", "--classes", ",".join(STORMS), "-n", "15", "-g",
                                 "5ms-20ms")]
    made["poke-mix"] = [poked("mix", "-n", "10", "-g", "4ms-8ms")]
    made["poke-fifo-switch"] = [poked("fifo-switch", "-n", "3", "-g", "200ms")]
    return made


def missing(commands):
    """Which program is not here, None: all are."""
    return next((f"no {c[0]}" for c in commands if not shutil.which(c[0])), None)
