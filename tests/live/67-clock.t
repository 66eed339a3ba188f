#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit clock: the counter's rate is what others measure, which clocks are system calls is known,
the counters of CPUs agree as far as the kernel says so, and a network card without a clock is
refused. A PTP hardware clock is tried where the machine has one. tests/vm/40-clock.t runs it where
instructions are counted, and again with the word ptp, for the hardware clocks alone; LONG=1 in the
environment: here, too."""
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, read, skip

if not os.environ.get("LONG"):
    lib.skip_all("tests/vm/40-clock.t runs it, and LONG=1")
lib.take_turn()
TRIES = 3  # threads on two CPUs must both run for a while
IN_USER_SPACE = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}

clocksource = read("/sys/devices/system/clocksource/clocksource0/current_clocksource")
cpus = sorted((lib.ALLOWED
               | lib.parse_cpus(read("/sys/devices/system/cpu/isolated"))) & lib.online())
# the kernel itself compares the counters of all CPUs, or the architecture promises
stable = clocksource in {"tsc", "arch_sys_counter"}


# ---- PTP hardware clocks ----
def hardware_clocks():
    devices = glob.glob("/dev/ptp[0-9]*")
    if not devices:
        skip("a PTP hardware clock", "this machine has none: no /dev/ptp*")
    for path in devices:
        r = culprit("clock", "-d", "100ms", "-f", "json", path)
        device = json.loads(r.out)["devices"][0]
        ways = {w["name"]: w for w in device["ways"]}
        works = [w for w in device["ways"] if not w["error"]]
        ok(r.rc == 0 and ways["clock_gettime"] in works, f"{path} can be read", r)
        ok(all(w["least_ns"] <= w["offset_ns"] <= w["most_ns"] and w["call_min_ns"] > 0
               for w in works), "by each way that works", ways)
        # One after the other, and an emulated clock may stand still meanwhile.
        ok(all(abs(w["offset_ns"] - works[0]["offset_ns"]) < 100e6 for w in works),
           "and all say about the same", ways)
        ok(device["rate_ppm"] is not None and device["rate_error_ppm"] > 0, "its rate is known",
           device)
    is_(lib.await_gone(lib.marked), [], "nothing is left running")


if sys.argv[1:] == ["ptp"]:
    hardware_clocks()
    done()

for _ in range(TRIES):
    with tempfile.NamedTemporaryFile() as kept:
        r = culprit("clock", "-d", "1s", "-f", "json", "-o", kept.name)
        ok(r.rc == 0 and not r.err, "clock measures", r)
        clock = json.loads(read(kept.name))  # by its name: -o put a new file there
    ok(not r.out, "-o", r)
    if not any(o["failed"] for o in clock["offsets"]):
        break
is_(clock["schema"], "culprit.clock/1", "its schema")

# ---- rate ----
mono, raw = clock["rates"]
is_((mono["clock"], raw["clock"]), ("CLOCK_MONOTONIC", "CLOCK_MONOTONIC_RAW"), "both rates")
ok(mono["readings"] > 20 and 0.9e9 < mono["duration_ns"] < 1e9 * r.seconds,
   "over the time that was asked for", mono)
ok(0 < mono["error_ppm"] < 20 and mono["rms_ns"] <= mono["worst_ns"], "with a bound", mono)
if len(cpus) > 1:
    other = json.loads(culprit("run", "--no-trace", "-d", "1s", "-q", "-f",
                               "json").out)["host"]["tsc_khz"]
    # The sampler's rate comes from 30 ms to 2 s of readings some 100 ns apart.
    ok(abs(mono["khz"] / other - 1) < 50e-6, "the rate is the one that the sampler knows",
       mono["khz"], other)
slew = (raw["khz"] / mono["khz"] - 1) * 1e6
ok(abs(slew) < 1000, "CLOCK_MONOTONIC is never steered by more than the kernel allows", slew)
if clock["kernel"]["synchronised"] is False and stable:
    ok(abs(slew - clock["kernel"]["frequency_ppm"]) < 2 * (mono["error_ppm"] + raw["error_ppm"])
       + 1,
       "and by what the kernel was told", slew, clock["kernel"])
else:
    skip("steered by what the kernel was told", "a time daemon steers it meanwhile")

# ---- cost ----
cost = {c["name"]: c for c in clock["costs"]}
measured = [c for c in clock["costs"] if not c["absent"]]
ok(len(measured) >= 12 and all(0 < c["min_ps"] <= c["median_ps"] <= c["p99_ps"] for c in measured),
   "each has its cost", measured)
plain, fenced = ("rdtsc", "lfence rdtsc lfence") if "rdtsc" in cost else ("cntvct",
                                                                          "isb cntvct isb")
if "TCG" in str(clock["host"]["hypervisor"]):
    skip("fences cost something", "an emulator does without")
else:
    # the least: who else runs on the core makes one more expensive than the other
    ok(cost[plain]["min_ps"] < cost[fenced]["min_ps"], "fences cost something", cost[plain],
       cost[fenced])
is_(cost["CLOCK_THREAD_CPUTIME_ID"]["system_call"], True, "a thread's CPU time is a system call")
is_(cost["CLOCK_MONOTONIC_COARSE"]["system_call"], False, "a coarse clock never is")
ok(cost["CLOCK_THREAD_CPUTIME_ID"]["min_ps"] > 2 * cost["CLOCK_MONOTONIC_COARSE"]["min_ps"],
   "which shows")
ok(cost["CLOCK_MONOTONIC_COARSE"]["resolution_ns"] >= 1000000
   and cost["CLOCK_MONOTONIC"]["resolution_ns"] == 1, "resolutions")
for name in "CLOCK_MONOTONIC", "CLOCK_REALTIME", "gettimeofday":
    if clocksource in IN_USER_SPACE:
        is_(cost[name]["system_call"], False,
            f"{name} needs no system call with clocksource {clocksource}")
    elif clocksource in {"hpet", "acpi_pm", "jiffies"}:
        is_(cost[name]["system_call"], True,
            f"{name} is a system call with clocksource {clocksource}")
    else:
        skip(f"{name}, a system call or not", f"not known of clocksource {clocksource!r}")

# ---- offsets ----
is_([clock["reference_cpu"]] + [o["cpu"] for o in clock["offsets"]], cpus,
    "all allowed CPUs are compared")
for o in clock["offsets"]:
    name = f"cpu {o['cpu']}"
    if not ok(not o["failed"], f"{name} answers", o):
        continue
    ok(all(w["messages"] > 100 and w["low_ns"] <= w["high_ns"] + 1 for w in o["ways"]),
       f"{name}: both ways are measured", o)
    ok(o["bound_ns"] <= min(w["round_trip_ns"] for w in o["ways"]) / 2 + 1e6 / mono["khz"] + 1,
       f"{name}: known to half a round trip and a tick", o)
    if stable:
        ok(not o["moved"] and abs(o["offset_ns"]) <= o["bound_ns"] + 1,
           f"{name}: the counters agree, as the kernel found", o)
if len(cpus) > 1 and shutil.which("chrt") and os.geteuid() == 0:
    hog = subprocess.Popen(["chrt", "-f", "99", "taskset", "-c", str(cpus[-1]), "sh", "-c",
                            "while :; do :; done"])
    r = culprit("clock", "-d", "100ms")
    hog.kill()
    hog.wait()
    ok(r.rc == 0 and r.seconds < lib.AT_ONCE_S,
       "a CPU that a thread of the highest priority holds does not hold up the rest", r)

# ---- the report, its ends ----
nobody = shutil.which("setpriv") and os.geteuid() == 0
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    os.chmod(place, 0o755)
    as_nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                 "path": shutil.copy(lib.CULPRIT, place)}
    r = culprit("clock", "-c", str(cpus[0]), "-d", "100ms", **(as_nobody if nobody else {}))
ok(r.rc == 0 and "no other CPU" in r.out and "CLOCK_BOOTTIME" in r.out
   and max(map(len, r.out.splitlines())) <= 100,
   "text, of one CPU", r)
if nobody:
    ok(r.rc == 0 and "kHz" in r.out, "needs no privileges", r)
rates = r.out.split("rate of the counter")[1].split("\n\n")[0].splitlines()
ok(all(len(line) <= 80 for line in rates) and any("MONOTONIC_RAW" in line for line in rates),
   "80 columns have room for the names of the clocks", rates)
begun = time.monotonic()
proc = lib.spawn("clock", "-d", "60s", "-f", "json")


def deaf():
    """Whether it does not catch SIGINT yet."""
    caught = re.search(r"^SigCgt:\s*(\w+)", read(f"/proc/{proc.pid}/status"), re.M)
    return not caught or not int(caught[1], 16) >> signal.SIGINT - 1 & 1


lib.await_gone(deaf)
time.sleep(1)
os.killpg(proc.pid, signal.SIGINT)
r = lib.finish(proc)
ok(r.rc == 0 and r.seconds < lib.AT_ONCE_S
   and json.loads(r.out)["rates"][0]["duration_ns"] < 1e9 * (time.monotonic() - begun),
   "Ctrl-C: the report of what there is", r)

hardware_clocks()
done()
