#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The Debian package in a clean Debian 12: installed as a user does it, it measures at once; an
upgrade is one, and what is removed and purged leaves nothing behind."""
import fcntl
import filecmp
import glob
import importlib.machinery
import importlib.util
import os
import re
import resource
import shutil
import stat
import subprocess
import sys
import time

from lib import BUILD, ROOT, diag, done, is_, ok, skip_all

INSIDE = "CULPRIT_CLEAN_ROOT"
NOT_OURS = re.compile(r"/(tmp|run|dev|proc|sys|var/(lib/(apt|dpkg)|cache|log))(/|$)|"
                      r"/etc/ld\.so\.cache$")
WINDOW_S, AT_MOST_S = 10, 20  # run's own time, and how long a verdict may take

if os.geteuid():
    skip_all("needs root")
if not shutil.which("debootstrap"):
    skip_all("debootstrap is not installed")
if INSIDE not in os.environ:  # mounts end with this namespace
    os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable,
                           *sys.argv], {**os.environ, INSIDE: "yes"})


def load(path):
    loader = importlib.machinery.SourceFileLoader(os.path.basename(path), path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


roots = load(os.path.join(ROOT, "tools", "roots"))
debs = glob.glob(f"{BUILD}/culprit_*.deb")
if not debs:
    skip_all("no package: make deb")
deb, = debs
try:
    root = roots.need_root("bookworm", "bookworm-bare", [])
except roots.lab.Failed as why:
    skip_all(f"no clean Debian: {why}")


def inside(top, command, **options):
    return subprocess.run(["chroot", top, "sh", "-c", command], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, env=roots.PATH, **options)


def does(top, command, what):
    r = inside(top, command)
    ok(r.returncode == 0, what, r.stdout[-1500:], r.stderr[-1500:])
    return r


def cpu_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def next_version(top):
    """The same package as it would be of a later commit."""
    tree = f"{top}/tmp/next"
    roots.call("dpkg-deb", "-R", deb, tree)
    with open(f"{tree}/DEBIAN/control", encoding="utf-8") as f:
        control = re.sub(r"(?m)^(Version: .*)$", r"\1.1", f.read())
    with open(f"{tree}/DEBIAN/control", "w", encoding="utf-8") as f:
        f.write(control)
    roots.call("dpkg-deb", "--root-owner-group", "-b", tree, f"{top}/tmp/next.deb")
    return re.search(r"(?m)^Version: (.*)$", control)[1]


def left(upper):
    """What the root has now that it had not, or otherwise, or no longer."""
    found = []
    for at, folders, files in os.walk(upper):
        for name in folders + files:
            path = os.path.join(at, name)
            place = path.removeprefix(upper)
            before = root + place
            if NOT_OURS.match(place):
                continue
            here = os.lstat(path)
            if stat.S_ISCHR(here.st_mode) and not here.st_rdev:
                found.append("gone: " + place)
            elif not os.path.lexists(before):
                found.append("new: " + place)
            elif stat.S_ISREG(here.st_mode) and not filecmp.cmp(path, before, shallow=False):
                found.append("changed: " + place)
    return found


with roots.opened(root, with_tree=False) as top:
    roots.mount("--bind", "/proc", top + "/proc")  # the tracer wants the machine's PIDs
    shutil.copy(deb, top + "/tmp/")
    name = os.path.basename(deb)
    does(top, "apt-get update -q", "the mirror is there")
    does(top, f"apt-get install -y -q --download-only /tmp/{name}",
         "its libraries are those of Debian 12")
    turn = os.open("/tmp", os.O_RDONLY)  # as lib.take_turn: one measurement at a time
    fcntl.flock(turn, fcntl.LOCK_EX)
    before, began = cpu_s(), time.monotonic()
    does(top, f"apt-get install -y -q /tmp/{name}", "apt-get install")
    used = cpu_s() - before
    r = does(top, "culprit run", "culprit run")
    wall = time.monotonic() - began
    os.close(turn)
    diag(f"{wall:.1f} s to the verdict; to install took {used:.1f} s of CPU")
    ok(re.search(r"(?m)^cpu \d+ .* hiccups ", r.stdout) and re.search(r"(?m)^cpus? .+", r.stdout),
       "it has a verdict, and what it is made of", r.stdout[-1500:])
    # Others may have the CPUs meanwhile: then the window, and the CPU time before it, count.
    ok(min(wall, WINDOW_S + used) <= AT_MOST_S, f"within {AT_MOST_S} s of the download", used, wall)
    is_(inside(top, "dpkg -V culprit; dpkg --audit").stdout, "", "dpkg finds all as it should be")
    is_(glob.glob(top + "/etc/systemd/system/**/culprit*", recursive=True), [],
        "no unit of it is switched on")
    ok(not inside(top, "man -w culprit 2>/dev/null || ls /usr/share/man/man1/culprit.1.gz")
       .returncode, "its manual is there")
    later = next_version(top)
    does(top, "apt-get install -y -q /tmp/next.deb", "an upgrade")
    is_(inside(top, "dpkg-query -W -f '${Version} ${Status}' culprit").stdout,
        f"{later} install ok installed", "is one")
    does(top, "apt-get remove -y -q culprit", "remove")
    does(top, "apt-get install -y -q /tmp/next.deb && apt-get purge -y -q culprit && "
         "apt-get autoremove --purge -y -q", "installed again, and purged")
    is_(left(roots.WORK + "/upper"), [], "nothing is left, gone or changed")
os.environ.pop(INSIDE)
done()
