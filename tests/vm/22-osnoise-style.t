#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run --style osnoise beside the kernel's osnoise tracer, in a guest that counts instructions: what
one column says of a noise that is made at a known rate the other says, too, in turn. With LONG=1
alone: live/72-styles judges the columns without a guest.

HW is not compared: gaps without a cause are turns of the other CPU, where culprit's reader works
and osnoise has none. They are in NOISE, which may differ by as much."""
import json
import re
import statistics

from guests import need, need_long, run
from lib import cpu_of, diag, done, is_, ok, take_turn

need_long()
take_turn(shared=True)

KERNEL = "6.12-rt"
NMIS = 12
HZ = 250
BURST_US, BURSTS = 20000, 10  # length, and how many a second
COLUMNS = "RUNTIME NOISE %CPU-AVAIL MAX-SINGLE HW NMI IRQ SIRQ THREAD".split()
JOB = f"""
T=/sys/kernel/tracing
nmis() {{ sed -n 's/^ *NMI: *//p' /proc/interrupts | tr -s ' ' | cut -d' ' -f2; }}
# NMIs in the middle of a turn
turn() {{ usleep 1200000; nmis; i=0
	while [ $i -lt {NMIS} ]; do echo l >/proc/sysrq-trigger; usleep 20000; i=$((i+1)); done
	nmis; }}
poke timer -c 1 -n 100000 -g 10ms >/dev/null & timer=$!
poke fifo -c 1 -n 100000 -l {BURST_US}us -g {1000 // BURSTS}ms >/dev/null & fifo=$!
usleep 1500000
echo 1 >$T/osnoise/cpus
echo osnoise >$T/current_tracer
turn >/tmp/out/nmis.osnoise
usleep 1800000
# osnoise's thread begins when it gets to it
i=0
until [ $(grep -c '^ .*\\[001\\]' $T/trace) -ge 3 ] || [ $i -ge 50 ]
do usleep 200000; i=$((i+1)); done
cat $T/trace >/tmp/out/osnoise
echo nop >$T/current_tracer
culprit run -q --style osnoise -c 1 -d 3s -r /tmp/out/rec -o /tmp/out/culprit \\
	--ready-file /tmp/ready &
until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
turn >/tmp/out/nmis.culprit
wait $!; echo $? >/tmp/out/rc
kill $timer $fifo
culprit report /tmp/out/rec -f json >/tmp/out/report; rm /tmp/out/rec
"""

kernel, = need(KERNEL)
rc, out, err, text = run(kernel, JOB, counted=1)
if not ok(rc == 0 and text.get("rc") == "0\n", "the job ends well in the guest", rc, out, err):
    done()
heading = [line.split() for line in text["osnoise"].splitlines() if line[0] == "#"]
ok(any(words[-5:] == COLUMNS[-5:] for words in heading), "the kernel's own columns", heading)
theirs = [dict(zip(COLUMNS, map(float, m[1].split()))) for m in
          re.finditer(r"^ .*\[001\].*?: (\d[\d. ]+)$", text["osnoise"], re.M)]
ours = [dict(zip(COLUMNS, map(float, line.split()[1:])))
        for line in text["culprit"].splitlines()[1:]]
is_(text["culprit"].split("\n")[0].split(), ["CPU", *COLUMNS], "culprit's columns")
diag(*(" ".join(f"{name} {row[name]:.0f}" for name in COLUMNS) for row in theirs + ours))
if not ok(len(theirs) >= 3 and len(ours) == 3, "a line each second", len(theirs), len(ours)):
    done()
# The kernel's loop ends with its first turn behind the second (run_osnoise() in
# kernel/trace/trace_osnoise.c), which a noise may have made longer, by no more than the longest.
ok(all(row["RUNTIME"] == 1e6 for row in ours)
   and all(1e6 <= row["RUNTIME"] <= 1e6 + row["MAX-SINGLE"] + 1 for row in theirs),
   "RUNTIME: a second, in us", theirs, ours)
ok(all(abs(100 * (1 - row["NOISE"] / row["RUNTIME"]) - row["%CPU-AVAIL"]) < 2e-4
       for row in theirs + ours), "%CPU-AVAIL: what NOISE leaves")
for who, rows in ("osnoise", theirs), ("culprit", ours):
    before, after = map(int, text[f"nmis.{who}"].split())
    is_((sum(row["NMI"] for row in rows), after - before), (NMIS, NMIS),
        f"NMI, {who}: as many as the kernel counts")


def usual(rows, column):
    """Of the later seconds: poke begins in the first."""
    return statistics.median(row[column] for row in rows[1:])


# One timer and one burst may be in the next row, as a turn of the other CPU delays them.
for column, least in ("IRQ", 100 + BURSTS - 2), ("THREAD", 100 + BURSTS - 2):
    ok(abs(usual(ours, column) - usual(theirs, column)) <= 0.02 * usual(theirs, column) + 2
       and usual(theirs, column) >= least,
       f"{column}: as many as osnoise counts", usual(ours, column), usual(theirs, column))
# A wake-up that CPU 0 sends in its turn: this CPU has stood since that began, at most since CPU 0's
# last tick.
ok(all(BURST_US <= row["MAX-SINGLE"] <= 1.1 * BURST_US + 1e6 / HZ for row in theirs[1:] + ours)
   and all(min(row["MAX-SINGLE"] for row in rows) <= 1.1 * BURST_US for rows in (theirs, ours)),
   "MAX-SINGLE: the bursts")
cpu = cpu_of(json.loads(text["report"]), 1)
outside_us = cpu["time"]["outside_ns"] / cpu["observed_ns"] * 1e6
noise = usual(ours, "NOISE"), usual(theirs, "NOISE")
ok(min(noise) >= BURST_US * BURSTS
   and noise[0] - outside_us <= 1.05 * noise[1] and noise[1] <= 1.05 * noise[0],
   "NOISE: osnoise's, but for turns of the other CPU", noise, outside_us)
done()
