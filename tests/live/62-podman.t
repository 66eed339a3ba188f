#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Containers of podman's: their names at the thread that took time and at who woke it, the calls of
their programs from their own files, and of code that one made from the map that it wrote inside,
when they are gone before the report is made. Its image is made
here, nothing is fetched, and all of podman's storage lies in mounts of this file's own, which end
with it.
"""
import atexit
import contextlib
import ctypes
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import lib
from lib import done, ok, skip_all, sources

lib.need_bpf(shared=True)
for tool in ("podman", "runc", "conmon"):
    if not shutil.which(tool) and not os.path.exists(f"/usr/libexec/podman/{tool}"):
        skip_all(f"there is no {tool} (apt-get install podman runc)")
CALLERS, MADE = (lib.helper(name) for name in ("callers", "callers_made"))
libc = ctypes.CDLL(None, use_errno=True)
NEW_NS, PRIVATE_TREE, DETACH = 0x20000, 1 << 18 | 1 << 14, 2
if libc.unshare(NEW_NS) or libc.mount(b"none", b"/", None, PRIVATE_TREE, None):
    skip_all(f"no mounts of its own can be made here: {os.strerror(ctypes.get_errno())}")


def leave_nothing(path, made):
    libc.umount2(path.encode(), DETACH)
    if made:
        os.rmdir(path)


for path in ("/var/lib/containers", "/run/containers", "/run/libpod"):
    made = not os.path.isdir(path)
    os.makedirs(path, exist_ok=True)
    atexit.register(leave_nothing, path, made)
    if libc.mount(b"none", path.encode(), b"tmpfs", 0, None):
        skip_all(f"{path}: {os.strerror(ctypes.get_errno())}")
cpu = lib.pick_target(shared=True)
PODMAN = ["podman", "--runtime", "runc", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"]
NAME, IMAGE = f"culprit-test-{os.getpid()}", "culprit-test"


def podman(*args, **more):
    return subprocess.run([*PODMAN, *args], capture_output=True, text=True, timeout=lib.HANG_S,
                          **more)


def groups():
    return {path for path, *_ in os.walk("/sys/fs/cgroup") if "libpod" in os.path.basename(path)}


with tempfile.TemporaryDirectory() as place:
    tree = os.path.join(place, "tree")
    needs = subprocess.run(["ldd", CALLERS], capture_output=True, text=True, check=True).stdout
    os.makedirs(tree + "/tmp")
    for path in (CALLERS, MADE, *(word for word in needs.split() if word.startswith("/"))):
        copy = tree + (path if path not in (CALLERS, MADE) else "/" + os.path.basename(path))
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(path, copy)
    packed = os.path.join(place, "image.tar")
    subprocess.run(["tar", "-C", tree, "-cf", packed, "."], check=True)
    before = groups()
    r = podman("import", packed, IMAGE)
    if r.returncode:
        skip_all(f"podman can make no image here: {r.stderr.splitlines()[-1:]}")
RUN = ["run", "--pull", "never", "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1000:1000",
       "--network", "none", "--rm"]


ids = set()  # those of all containers that were made here


def live(name, program):
    """Runs the program in a container for some time. Its id, and what was said; no id: it cannot
    run here."""
    with subprocess.Popen([*PODMAN, *RUN, "--name", name, IMAGE, program, str(cpu)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as box:
        begun = box.stdout.readline() == "begun\n"
        known = podman("inspect", "-f", "{{.Id}}", name).stdout.strip()
        ids.add(known)
        if begun:
            time.sleep(2)
        podman("kill", name)
        return known if begun else "", box.communicate()[1]


try:
    with lib.opened("run", "-c", str(cpu), "-d", "10m", "-f", "json", "-q", "--no-audit",
                    "--user-stacks") as run:
        known, said = live(NAME, "/callers")
        if known:
            live(NAME + "-made", "/callers_made")
        gone = podman("ps", "-aq").stdout == ""
finally:
    # Others may have begun containers, and have groups of these, meanwhile, perhaps in a folder
    # that was made for those of this file.
    for path in sorted(groups() - before, key=len, reverse=True):
        if any(i and i in path for i in ids):
            with contextlib.suppress(FileNotFoundError):  # conmon removes them, too
                lib.remove_group(path)
        elif os.path.basename(path) == "libpod_parent":
            with contextlib.suppress(OSError):
                os.rmdir(path)
if not known:
    skip_all(f"podman can run no container here: {said.splitlines()[-1:]}")
if run.result.rc:
    raise RuntimeError(f"culprit run: {run.result}")
report = json.loads(run.result.out)


def of(comm):
    """The rows of the thread that this one woke, and these askers."""
    rows = [s for s in sources(report, cpu, kind="thread", name="called")
            if any(o["comm"] == comm for o in s["origins"])]
    return rows, [o for s in rows for o in s["origins"] if o["comm"] == comm and o["cpu"] != cpu]


def ways(asked, depth):
    """Without those of the program's begin, which is in the window: who makes a thread may wake it,
    too (glibc holds it until it has its attributes)."""
    found = {tuple(f["function"] for f in w["user_stack"][:depth])
             for o in asked for w in o.get("ways", ())}
    return {way for way in found if "pthread_create" not in way}


rows, asked = of("callers")
ok(gone and re.fullmatch("[0-9a-f]{64}", known), "the container is gone", known)
for owner, name in (([s.get("owner", {}) for s in rows], "the thread that took time"),
                    ([o.get("owner", {}) for o in asked], "who woke it")):
    ok(owner and all(o.get("kind") == "container" and o["name"] == NAME and
                     o["text"] == f"container {NAME}" and known in o["cgroup"] for o in owner),
       f"{name}: the container's name and id", *owner)
WAYS = [("syscall", "ask", f) for f in ("often", "seldom")]


def called(comm, by, name):
    """The two ways of a program, which may have ended before anybody could look at them."""
    rows, asked = of(comm)
    if why := lib.why_not(run.result.err, [w for o in asked for w in o.get("ways", ())]):
        lib.not_judged(name, why)
    else:
        ok(ways(asked, 4) == {(*w, by) for w in WAYS}, name, ways(asked, 9), rows)


called("callers", "main", "the calls of its program, from its own files")
called("callers_made", "made:f x.js:1", "code that it made, from the map in the container")
done()
