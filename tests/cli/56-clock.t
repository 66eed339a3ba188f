#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--clock: CLOCK_MONOTONIC in place of the time-stamp counter, and what refuses without it on a
machine whose counter is not stable."""
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip

cpus = sorted(lib.ALLOWED & lib.online())
CPU = str(cpus[-1])
rooms = tempfile.TemporaryDirectory(prefix="culprit-test-")
REC = os.path.join(rooms.name, "x.rec")
RUN = "run", "-c", CPU, "-d", "200ms", "-q", "--no-trace", "--no-audit"

r = culprit(*RUN, "--clock", "-f", "json", "-r", REC)
report = json.loads(r.out) if r.rc == 0 else {"run": {}, "cpus": [{"loop": {}}]}
row = report["cpus"][0]
ok(r.rc == 0 and row["loop"]["count"] > 0 and row["loop"]["min_ns"] > 0, "run reads it", r)
is_(report["run"].get("sampler"), "clock", "and says so")
ok(r.rc == 0 and 200e6 <= row["observed_ns"] <= report["run"]["duration_ns"],
   "for as long as it was to", report["run"], row.get("observed_ns"))
is_(culprit("report", REC, "-f", "json").out, r.out, "its recording says the same, to the byte")
ok(json.loads(culprit(*RUN, "-f", "json").out)["run"]["sampler"] != "clock",
   "without the option another one is read")

PAIRS = [(command, "-c", ",".join(map(str, cpus[-2:])), "-n", "200", "--no-trace")
         for command in ("queue", "pingpong")] if len(cpus) > 1 else []
for command, *args in (("record", "-c", CPU, "-d", "100ms", "--no-trace", REC, "--force"),
                       ("sleep", "-c", CPU, "-d", "100ms", "--no-trace"), *PAIRS,
                       ("syscall", "-c", CPU, "-d", "100ms", "--no-trace")):
    r = culprit(command, *args, "-q", "--clock")
    ok(r.rc == 0 and not r.err and (r.out or command == "record"), f"{command} reads it", r)
is_(json.loads(culprit("report", REC, "-f", "json").out)["run"]["sampler"], "clock",
    "what record has written says so")

# ---- a counter that is not stable: as the kernel would say it ----
clock, flags = (os.path.join(rooms.name, name) for name in ("clock", "cpuinfo"))
with open(clock, "w", encoding="ascii") as f:
    f.write("hpet\n")
with open("/proc/cpuinfo", encoding="utf-8") as f, open(flags, "w", encoding="utf-8") as out:
    out.write(f.read().replace("constant_tsc", "").replace("nonstop_tsc", ""))
SOURCE = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
UNSTABLE = (f'mount --bind "{clock}" {SOURCE} && mount --bind "{flags}" /proc/cpuinfo && '
            'exec "$0" "$@"')
inside = "unshare", "-m", "sh", "-c", UNSTABLE
if platform.machine() != "x86_64":
    skip("a counter that is not stable", "this architecture's always is")
elif not shutil.which("unshare") or subprocess.run([*inside, "true"],
                                                   capture_output=True).returncode:
    skip("a counter that is not stable", "no file can be bound over the kernel's here")
else:
    for command, *args in (RUN[:-1], ("record", "-c", CPU, "--no-trace", REC + "x"),
                           ("sleep", "-c", CPU, "--no-trace"), *PAIRS):
        r = culprit(command, *args, prefix=inside)
        ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and
           "the time-stamp counter is not stable here" in r.err and ": use --clock\n" in r.err,
           f"{command} where the counter is not stable: one line", r)
    ok(not os.path.exists(REC + "x"), "and no file")
    r = culprit(*RUN, "--clock", prefix=inside)
    ok(r.rc == 0 and not r.err and "hiccups" in r.out, "run --clock can do without", r)
    # as the kernel's watchdog leaves it: the CPU says that it is steady
    clocks = os.path.join(rooms.name, "clocks")
    with open(clocks, "w", encoding="ascii") as f:
        f.write("hpet acpi_pm \n")
    with open("/proc/cpuinfo", encoding="utf-8") as f, open(flags, "w", encoding="utf-8") as out:
        out.write(re.sub(r"^(flags\s*:.*)", r"\1 constant_tsc nonstop_tsc", f.read(), flags=re.M))
    refused = UNSTABLE.replace("exec", f'mount --bind "{clocks}" '
                               f'{SOURCE.replace("current", "available")} && exec')
    r = culprit(*RUN, prefix=("unshare", "-m", "sh", "-c", refused))
    ok(r.rc == 1 and "(the kernel has refused it as a clock): use --clock\n" in r.err,
       "nor is one that the kernel has refused", r)
rooms.cleanup()
done()
