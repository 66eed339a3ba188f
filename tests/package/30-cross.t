#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Built for other machines: without a warning, against the unpacked packages of a Debian; their
programs, run by an emulator of one process, say of the same recordings what this machine's says,
byte for byte, and measure."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import shutil
import subprocess
import sys

from lib import BUILD, ROOT, culprit, done, is_, ok, skip

RECORDINGS = sorted(glob.glob(os.path.join(ROOT, "tests/fixtures/recordings/*/*.rec")))
CLOCK = {"arm64": "cntvct", "riscv": "clock"}  # instead of the TSC


def lab():
    """tools/lab as a module."""
    loader = importlib.machinery.SourceFileLoader("lab", os.path.join(ROOT, "tools", "lab"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def build(arch, prefix, root, *options):
    """Where it was built; None: it was not."""
    place = os.path.join(os.path.relpath(BUILD, ROOT), "cross", arch + "-static" * bool(options))
    r = subprocess.run(["make", f"-j{os.cpu_count()}", "-C", ROOT, "--no-print-directory",
                        "WERROR=1", "ARCH=" + arch, f"CROSS_COMPILE={prefix}-", "SYSROOT=" + root,
                        "O=" + place, *options, place + "/culprit"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    good = ok(r.returncode == 0, f"{' '.join([arch, *options])}: it builds, with no warning",
              r.stdout[-2000:])
    return os.path.join(ROOT, place, "culprit") if good else None


def run(emulator, *args):
    return subprocess.run([*emulator, *args], capture_output=True, text=True, timeout=120)


def judge(what, arch, emulator):
    for form in "text", "json":
        is_([run(emulator, "report", "-f", form, path).stdout for path in RECORDINGS],
            [culprit("report", "-f", form, path).out for path in RECORDINGS],
            f"{what}: {form} of all recordings is that of this machine")
    is_(run(emulator, "explain", "call_function").stdout[:3], "G05",
        f"{what}: a call without a function is no flush of the TLB")
    built = json.loads(run(emulator, "version", "--features", "-f", "json").stdout)["libraries"]
    opened = () if what.endswith("static") else ("libdw", "liblzma")  # a static file opens none
    is_([name for name in ("zstd", "libsodium", "libiberty", *opened) if name not in built], [],
        f"{what}: it is built with the libraries that one may leave out: {built}")
    r = run(emulator, "run", "--no-trace", "-d", "200ms", "-f", "json", "-q")
    ok(r.returncode == 0 and json.loads(r.stdout)["run"]["sampler"] == CLOCK[arch],
       f"{what}: it measures, by {CLOCK[arch]}", r)


tools = lab()
for arch, name, prefix in (("arm64", "arm64", "aarch64-linux-gnu"),
                           ("riscv", "riscv64", "riscv64-linux-gnu")):
    emulator = shutil.which("qemu-" + prefix.partition("-")[0])
    if not emulator or not shutil.which(prefix + "-gcc"):
        skip(arch, f"no {prefix}-gcc or its emulator (make check-cross installs them)")
        continue
    try:
        root = tools.sysroot(name)
    except (tools.Failed, OSError) as why:  # a mirror, or no room
        skip(arch, f"no sysroot: {why}")
        continue
    if path := build(arch, prefix, root):
        judge(arch, arch, [emulator, "-L", root, path])
    if arch == "arm64" and (path := build(arch, prefix, root, "STATIC=1")):
        judge(arch + " static", arch, [emulator, path])
done()
