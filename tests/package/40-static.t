#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The one static file (STATIC=1): small, in need of nothing, and at work under each kernel of the
lab in an archive that has it and busybox alone; for arm64, too, where its compiler is here.

    tests/package/40-static.t [KERNEL...]        default: all of tools/lab-kernels
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "vm"))
from guests import ROOT, lab, need, run
from lib import BUILD, check_sums, cpu_of, diag, done, is_, ok, skip, take_turn, total

AT_MOST = 5_000_000
PLACE = {"amd64": "static", "arm64": "arm64-static"}
JOB = "culprit run -c 1 -d 1s -q -f json -o /tmp/out/report; code=$?; culprit report /nowhere " \
      "2>/tmp/out/said; culprit run -c 1 -d 300ms >/tmp/out/text; exit $code"
built = {}


def build(machine):
    """Path of the static file; None: it cannot be built here, which is said."""
    arch = machine.arch
    words = []
    if arch == "arm64":
        if not shutil.which("aarch64-linux-gnu-gcc"):
            skip("arm64: the static file", "no aarch64-linux-gnu-gcc (make check-cross has it)")
            return None
        words = ["ARCH=arm64", "CROSS_COMPILE=aarch64-linux-gnu-", "SYSROOT=" + lab.sysroot(arch)]
    here = os.path.relpath(BUILD, ROOT)
    at, lab_at = os.path.join(here, PLACE[arch]), os.path.relpath(machine.build(), ROOT)
    path = os.path.join(ROOT, at, "culprit")
    for options in ["STATIC=1", "O=" + at, at + "/culprit"], ["O=" + lab_at, lab_at + "/lab_guest"]:
        r = subprocess.run(["make", f"-j{os.cpu_count()}", "-C", ROOT, "--no-print-directory",
                            *words, *options],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if r.returncode:
            break
    if not ok(r.returncode == 0, f"{arch}: it builds", r.stdout[-2000:]):
        return None
    ok(os.path.getsize(path) <= AT_MOST, f"{arch}: 5 MB at most", os.path.getsize(path))
    wants = subprocess.run(["readelf", "-lWd", path], capture_output=True, text=True).stdout
    is_([line for line in wants.splitlines() if "NEEDED" in line or "INTERP" in line], [],
        f"{arch}: it wants neither libraries nor a loader")
    return path


def judge(kernel):
    arch, name = kernel.machine.arch, kernel.name
    if arch not in built:
        built[arch] = build(kernel.machine)
    if not built[arch]:
        return
    rc, out, err, files = run(kernel, JOB, bare=True, files={"/usr/bin/culprit": built[arch]},
                              counted=2 if arch == "arm64" else None)
    report = json.loads(files.get("report") or "{}")
    diag(kernel.version(), f"{rc} {out} {err}"[:1000])
    if not ok(rc == 0 and report.get("cpus"), f"{name}: it reports where there is only busybox",
              rc, err):
        return
    check_sums(report, name)
    row = cpu_of(report, 1)
    ok(report["run"]["traced"] and total(row["sources"], "count") > 0,
       f"{name}: it traces, and names what ran", row["sources"])
    ok("cpu 1" in files["text"] and files["said"].count("\n") == 1,
       f"{name}: its text is as elsewhere", files["text"], files["said"])


take_turn(shared=True)
for kernel in need(*(sys.argv[1:] or lab.kernels())):
    judge(kernel)
done()
