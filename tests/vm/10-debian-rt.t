#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A real deployment: Debian 12's newest real-time kernel, one isolated CPU, and noise whose length
is known from outside.

All in one boot of tools/lab in real time. QEMU's threads share this machine with all else, so that
the guest sees thousands of gaps that are the host's own: they are outside the kernel, and what is
asserted here holds beside them.
"""
import glob
import json
import os
import re
import signal
import time

from guests import ROOT, hear, lab, need
from lib import (HANDLERS, check_sums, cpu_of, diag, done, is_, not_judged, ok, skip, sources,
                 take_turn)

take_turn(shared=True)

KERNEL = "6.12-rt"
HZ = 250  # the value of all Debian kernels for amd64
TICK = re.compile(r"^tick_(nohz_handler|nohz_highres_handler|sched_timer)$")
HANDLER_NS = 110_000_000  # no handler takes so long by itself (src/model/stops.h)
STOPS_S = 0.12, 0.16, 0.22, 0.3, 0.4
CLASSES = ("thread,fifo,futex,timer,timerfd,posix,membarrier,tlb,kworker,perf,irqwork,bpf,signal,"
           "setaffinity,net")
JOB = f"""
set -e
cp /proc/interrupts /tmp/out/
ls -d /sys/kernel/tracing/events/*/* >/tmp/out/events
culprit audit -f json -o /tmp/out/audit || [ $? = 2 ]
culprit run -d 2s -f json -q -o /tmp/out/quiet
culprit run -c 0 -H 1 -d 1s -f json -q -o /tmp/out/busy
culprit run -d 4s -f json -q -o /tmp/out/stopped --hiccups /tmp/out/hiccups \\
	--ready-file /tmp/ready &
until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
echo READY $(cut -d " " -f 1 /proc/uptime) >/dev/console
poke mix -c 1 -n 10 -g 2ms-6ms --classes {CLASSES} >/tmp/out/poke
wait
"""


def probes():
    """Tracepoints and functions that culprit's programs attach to, but for virtual CPUs'."""
    text = "".join(open(path).read() for path in glob.glob(os.path.join(ROOT, "bpf", "*.bpf.c")))
    vectors = re.findall(r"^VECTOR\((\w+),", text, re.M)
    tracepoints = set(re.findall(r'SEC\("\?(?:tp_btf|raw_tp)/(\w+)"',
                                 text)) | {v + e for v in vectors for e in ("_entry", "_exit")}
    tracepoints = {t for t in tracepoints if not t.startswith("kvm_")}
    return tracepoints, set(re.findall(r'SEC\("\?fentry/(\w+)"', text))


def stop_the_world(guest):
    """Stops all of it for known times; returns of each how long it was at least and at most,
    and when it was over."""
    took = []
    for length in STOPS_S:
        time.sleep(0.15)
        before = time.monotonic_ns()
        guest.stop()
        begin = time.monotonic_ns()
        time.sleep(length)
        end = time.monotonic_ns()
        guest.process.send_signal(signal.SIGCONT)
        over = time.monotonic_ns()
        took.append((end - begin, over - before, over))
    return took


def measure():
    """Boots and does the job; returns the stops, when the window was open (in s of the guest's
    uptime, at a time.monotonic_ns() or after it), and the job's result."""
    guest = lab.Guest(kernel, JOB)
    try:
        before = guest.await_console("READY", 900)
        stops = stop_the_world(guest)
        uptime = float(re.search(r"READY (\S+)", guest.console())[1])
        return stops, (uptime, before), guest.result(900)
    finally:
        guest.close()


kernel, = need(KERNEL)
diag(kernel.version())
stops, (uptime, before), (rc, out, err, files) = lab.trying(measure)
said = {name: data.decode(errors="replace") for name, data in files.items()
        if name.endswith(".err")}
hear(err, said)
ok(rc == 0, "the job ends well in the guest", rc, out, err, said)
quiet, busy, stopped = (json.loads(files[name]) for name in ("quiet", "busy", "stopped"))

for what, report in ("quiet", quiet), ("busy", busy), ("stopped", stopped):
    check_sums(report, what)  # nothing lost, no mismatch
ok("-rt" in quiet["host"]["kernel"], "it is a real-time kernel", quiet["host"])
row = cpu_of(quiet, 1)
is_((quiet["run"]["cpus"], row["isolated"], row["nohz_full"]), ([1], True, True),
    "the isolated CPU is found, and called isolated and nohz_full")
row = cpu_of(busy, 0)
is_((row["isolated"], row["nohz_full"]), (False, False), "the housekeeping CPU is not")

tracepoints, functions = probes()
here = {path.rpartition("/")[2] for path in files["events"].decode().split()}
is_(sorted(set(quiet["run"]["not_observed"]) - functions), sorted(tracepoints - here),
    "not observed are just the tracepoints that this kernel does not list")


def ticks(report, cpu):
    """How often the tick ran, and how often it was due."""
    runs = sum(s["runs"] for s in sources(report, cpu, name="local_timer", function=TICK))
    return runs, cpu_of(report, cpu)["observed_ns"] * HZ / 1e9


# A tick that is due while the CPU is away, or that the emulator brings late, is one with the next:
# there are never more than are due, and fewer the busier the host is. vm/30-counted has them all.
off, due_off = ticks(quiet, 1)
on, due_on = ticks(busy, 0)
# By the kernel's own count: each that comes while a tick is due runs it.
came = next((row["kernel"] for row in cpu_of(busy, 0)["closure"] if row["counter"] == "LOC"), 0)


def away(report, cpu):
    """The share of its time that it was away."""
    return cpu_of(report, cpu)["hiccups"]["total_ns"] / cpu_of(report, cpu)["observed_ns"]


diag(f"ticks: {off} of {due_off:.0f} on the isolated CPU, {on} of {due_on:.0f} on the other, with "
     f"{came} timer interrupts; away for {away(quiet, 1):.0%} and {away(busy, 0):.0%}")
name = "the tick is off on the isolated CPU"
if off >= 0.04 * due_off and away(quiet, 1) > 0.5:  # threads that it waits for take as long
    not_judged(name, "the host left it no time")
else:
    ok(off < 0.04 * due_off, name, cpu_of(quiet, 1)["sources"])
name = f"CPU 0 has its tick, {HZ} a second at most"
# The emulator's timers are a thread of their own, which the host may starve alone.
few = on < 0.1 * due_on and (away(busy, 0) > 0.5 or came < 0.2 * due_on)
if few:
    not_judged(name, f"the host left it no time, or brought it {came} timer interrupts alone")
else:
    ok(0.1 * due_on < on <= due_on + 2, name, on, due_on, cpu_of(busy, 0)["sources"])

findings = json.loads(files["audit"])["findings"]
is_([f["title"] for f in findings if f["level"] == "FAIL"], [],
    "the audit finds the isolated CPU isolated")
failed = {f["id"]: f["cost_ns"] for f in busy["findings"] if f["level"] == "FAIL"}
name = "and of CPU 0 what is missing, and that it costs time"
if few and {"isolated", "nohz_full"} <= set(failed) and not failed["nohz_full"]:
    not_judged(name, "it had no tick")
else:
    ok({"isolated", "nohz_full"} <= set(failed) and failed["nohz_full"] > 0, name, failed)
diag(quiet["verdict"], busy["verdict"])
ok(quiet["verdict"].startswith("cpu 1 ") and "tick" not in quiet["verdict"],
   "the isolated CPU's verdict is not about the tick", quiet["verdict"])

hiccups = [json.loads(line) for line in files["hiccups"].decode().splitlines()]
exact, after, holds = [], 0, {}  # holds: time of the stops in a hiccup, by its begin


def place(h):
    """The longest of its parts."""
    return max(h["outside_ns"], h["edge_ns"], *(p["net_ns"] for p in h["pieces"]), 0)


def is_stop(row):
    """Whether one run of a handler was longer than any handler takes, and than a busy host makes
    many of its runs: the pieces of a hiccup may be several runs, each with a theft of its own."""
    return row["max_ns"] > max(HANDLER_NS, 9 * row["p99_ns"] if row["runs"] >= 200 else 0)


# When the window had not closed yet, by this machine's clock: /proc/uptime has 10 ms.
row = cpu_of(stopped, 1)
closed = (before + stopped["run"]["started_monotonic_ns"] + row["observed_ns"]
          - round(uptime * 1e9) - 10_000_000)
hit, silent = 0, []  # handlers that were stopped inside; those whose rows do not say so
for number, (least, most, over) in enumerate(stops, 1):
    if over > closed:
        not_judged("each stop is in the window", "the host let the test wait too long")
        break
    # However long the host let the guest wait before and after, it stood still for that long; and
    # to the guest that is one instant, so that all of it lies in one place: outside the kernel, at
    # an edge, or in the handler that ran just then. The first such hiccup is this stop, or one of
    # the host's that holds as well.
    # Where something held the CPU meanwhile, several stops may lie in one hiccup, each in a place.
    later = [h for h in hiccups if h["start_ns"] >= after and place(h) >= 0.9 * least
             and h["duration_ns"] - holds.get(h["start_ns"], 0) >= 0.9 * least]
    if ok(later, f"stop {number} is a hiccup, no shorter, and lies in one place", least,
          *sorted(hiccups, key=lambda h: -h["duration_ns"])[:10]):
        exact += [h for h in later if h["duration_ns"] <= 1.1 * most]
        h = later[0]
        after = h["start_ns"]
        holds[after] = holds.get(after, 0) + least
        # A stop in a handler: the report says that the handler was stopped.
        for p in (p for p in h["pieces"] if p["kind"] in HANDLERS and p["net_ns"] > HANDLER_NS):
            rows = sources(stopped, 1, **{key: p[key] for key in ("kind", "name", "function")})
            if len(rows) == 1 and not is_stop(rows[0]):
                continue
            hit += 1
            if len(rows) != 1 or "stopped_inside" not in rows[0]:
                silent.append((p, rows))
        diag(f"stopped for {least / 1e6:.2f} to {most / 1e6:.2f} ms, read "
             f"{h['duration_ns'] / 1e6:.2f} ms, {h['outside_ns'] / 1e6:.2f} of it outside")
name = "a handler in which one came is said to have been stopped inside"
if hit:
    ok(not silent, name, *silent)
else:
    skip(name, "each came while the loop ran")
if exact:
    ok(True, "and one of them is no longer than the stop")
else:
    not_judged("and one of them is no longer than the stop", "the host let the guest wait longer")

# vm/30-counted has the score of them; here all that is asked is what holds however late they come:
# a thread that is to be interrupted may have spun and gone before the interrupt was sent.
pokes = [e for e in map(json.loads, files["poke"].decode().splitlines()) if e.get("tid")]
end = stopped["run"]["started_monotonic_ns"] + cpu_of(stopped, 1)["observed_ns"]


def span(e):
    return (min(e["start_ns"], e.get("spin_start_ns", e["start_ns"])),
            max(e["end_ns"], e.get("spin_end_ns", e["end_ns"])))


missed = [e for e in pokes if span(e)[1] < end and e["tid"] not in
          {p["id"] for h in hiccups if h["start_ns"] < span(e)[1]
           and span(e)[0] < h["start_ns"] + h["duration_ns"] for p in h["pieces"]}]
ok(pokes and not missed, f"each thread of {len(pokes)} pokes beside the stops is found at its time",
   *missed[:5])
done()
