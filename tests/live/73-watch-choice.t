#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit watch: which threads are watched, by name, unit, machine and CPU, also those that come
later; on no other CPU is anything recorded; and whose reports of a program are believed."""
import concurrent.futures
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time
import types

import lib
import watching
from lib import culprit, done, is_, ok, skip
from watching import (BPFTOOL, Chosen, Program, fill_watched, have_run, hierarchy, poke_and_count,
                      program, put, records_made, tids, watch)

lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
place, WATCHED = watching.begin(cpu)
unified = hierarchy("cgroup2", "rw")

# ---- nobody ----
rec = os.path.join(place, "nobody.rec")
culprit("watch", "--comm", "culprit-no-such", "-d", "100ms", "-q", "-r", rec)
r = culprit("plot", rec)
ok(r.rc == 1 and r.err.count("\n") == 1 and "nobody was observed" in r.err,
   "a recording of nobody has nothing to draw", r)
tap = os.path.join(place, "nobody.tap")
for args in (("watch", "--comm", "culprit-no-such", "-d", "100ms", "-q"), ("report", rec)):
    for limit in (), ("--max-hiccup", "1s"), ("--max-lost", "99"):
        r = culprit(*args, *limit, "--tap", tap, "-o", "/dev/null")
        ok(r.rc == 3 and r.err.count("\n") == 1 and "nothing was judged" in r.err and
           re.search("^not ok .*as much was measured", lib.read(tap), re.M),
           f"{args[0]} {' '.join(limit)}: nobody meets no limit", r, lib.read(tap))
        os.remove(tap)
is_(culprit("report", rec, "-o", "/dev/null").rc, 0, "where there is no limit nothing is judged")
r = culprit("watch", "--comm", "culprit-no-such", "-d", "100ms", "-q", "--stop-on", "hiccup>1ms",
            "-o", "/dev/null")
ok(r.rc == 3 and "nothing was judged" in r.err, "nor does nobody pass by --stop-on alone", r)

# ---- by name and by unit, also what comes later ----
NAME = f"jit{os.getpid()}er-7"  # nobody else's, as of this file in another tree
jitter = os.path.join(place, NAME)
shutil.copy(WATCHED, jitter)


def ran_as(path, group=None, seen_by=()):
    """The threads of a program that runs until all of these have said something about both of
    them."""
    proc = lib.spawn("spin", path=path)
    pids = set(map(int, proc.stdout.readline().split()[2:]))
    if group:
        put(f"{group}/cgroup.procs", proc.pid)
    if seen_by:
        lib.await_gone(lambda: [c for c in seen_by if c.lacks(pids)])
    else:
        time.sleep(0.2)
    proc.terminate()
    proc.communicate(timeout=lib.HANG_S)
    return pids


unit = f"{unified}/culprit-test-{os.getpid()}.slice"
decoy = f"{unified}/culprit-test-{os.getpid()}.scope"
comm, by_group = Chosen("--comm", f"j*t{os.getpid()}e*-7"), []
if unified:
    # One of the same name, in what may be a container's, and there all the time.
    os.makedirs(f"{decoy}/{os.path.basename(unit)}")
    # A unit that is not there is looked for once a second.
    by_group = [Chosen(option, os.path.basename(unit)) for option in ("--cgroup", "--unit")]
    by_group.append(Chosen("--unit", f"culprit-test-{os.getpid()}*", mark="glob"))
    by_group[-1].option += " of a glob"


def in_group():
    """The group comes and goes, with one in it that has a name of its own; or one in none."""
    if not unified:
        return ran_as(WATCHED)
    os.mkdir(unit)
    os.mkdir(f"{unit}/inner")
    pids = ran_as(WATCHED, f"{unit}/inner", by_group)
    lib.remove_group(f"{unit}/inner")
    lib.remove_group(unit)
    return pids


def start_named(mode, *cpus):
    """A program of the name that is chosen, on these CPUs."""
    return subprocess.Popen([jitter, mode], stdout=subprocess.PIPE, text=True,
                            start_new_session=True,
                            preexec_fn=lambda: (lib._begin(), os.sched_setaffinity(0, cpus)))


with program("spin") as p:
    # Both are there already, leave the other CPUs to those that begin to watch, and do not run
    # until those do: where all is emulated by one CPU that would take half of it.
    exe = start_named("spin", cpu)
    before = set(map(int, exe.stdout.readline().split()[2:]))
    for pid in p.pid, exe.pid:
        os.kill(pid, signal.SIGSTOP)
    for c in [comm, *by_group]:
        lib.await_ready(c.proc, c.ready)
    for pid in p.pid, exe.pid:
        os.kill(pid, signal.SIGCONT)
    came, inside = [], []
    for _ in range(2):
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            one, other = pool.submit(ran_as, jitter, seen_by=[comm]), pool.submit(in_group)
        came.append(one.result())
        inside.append(other.result())
    for c in [comm, *by_group]:
        c.proc.send_signal(signal.SIGINT)
    for c in [comm, *by_group]:
        c.result = lib.finish(c.proc)
        if c.result.rc:
            raise RuntimeError(f"culprit watch {c.option}: {c.result}")
    exe.terminate()
    exe.communicate(timeout=lib.HANG_S)
    found = comm.tids()
    is_([before <= found] + [t <= found for t in came], [True] * 3,
        "--comm: threads that were there, that came, and that came again")
    ok(not found & set(p.tids).union(*inside), "and no other's", found, p.tids, inside)
    for c in by_group:
        found = c.tids()
        is_([t <= found for t in inside], [True] * 2,
            f"{c.option}: threads in it, and in it when it has come again")
        ok(not found & before.union(p.tids, *came), "and no other's", found, p.tids, came)
        is_(c.result.err.count(f"elsewhere is watched, as users and containers can make it, now "
                               f"{decoy.removeprefix(unified)}/"), c.option == "--unit",
            "and that one of another's was watched until it came is said of a unit alone")
if unified:
    lib.remove_group(f"{decoy}/{os.path.basename(unit)}")
    lib.remove_group(decoy)

    # A thread's group and 64 above it are looked at.
    for depth, looked_at in (40, True), (70, False):
        way = [unit + "/d" * i for i in range(depth + 1)]
        os.makedirs(way[-1])
        with program("spin") as p:
            put(f"{way[-1]}/cgroup.procs", p.pid)
            with lib.opened("watch", "-q", "-f", "json", "-d", "10m", "--cgroup",
                            os.path.basename(unit), stop=True) as run:
                have_run(p)
        for path in reversed(way):
            lib.remove_group(path)
        report = json.loads(run.result.out)
        is_(set(p.tids) <= tids(report), looked_at,
            f"--cgroup: {depth} groups below it {'too' if looked_at else 'none'}")
        is_(("threads ran in cgroups 64 deep and more" in str(report["run"]["incomplete"]),
             run.result.rc), (not looked_at, 0 if looked_at else 3), "and what is not is said")
else:
    skip("by unit", "no cgroup2 that may be written is mounted here")
for args, why in ((("--comm", ""), "1 to 31 bytes"), (("--comm", "x" * 32), "1 to 31 bytes"),
                  (("--unit", "a/b"), "no name of a unit"),
                  (("--cgroup", "/a.slice/.."), "no name of a cgroup"),
                  (("--cgroup", "./a"), "no name of a cgroup"),
                  (("--vcpus", "a", "--syscalls"), "inside one system call")):
    r = culprit("watch", *args)
    ok(r.rc == 1 and why in r.err and r.err.count("\n") == 1, f"{args}: is refused", r)

r = culprit("watch", "--comm", "nobody-of-this", "-d", "0.2")
ok(r.rc == 0 and "none of the chosen threads was seen" in r.out, "--comm: that it finds nobody", r)

# ---- names that others take, too ----
elsewhere = min(lib.ALLOWED - {cpu})
exe = start_named("spin", cpu)
before = set(map(int, exe.stdout.readline().split()[2:]))
os.kill(exe.pid, signal.SIGSTOP)


def crowd():
    """Many more than are watched at a time come and go elsewhere; then the first one runs."""
    with start_named("forks", elsewhere) as p:
        p.communicate()
    os.kill(exe.pid, signal.SIGCONT)
    have_run(types.SimpleNamespace(tids=before))


report, _ = watch("--comm", NAME, "-c", cpu, meanwhile=crowd)
ok(before <= tids(report), "--comm: no crowd of that name pushes one out", before, tids(report))
is_(report["run"]["incomplete"], None, "and all were watched")
exe.terminate()
exe.communicate(timeout=lib.HANG_S)

name = "--comm: that there was no place for one is said, and the run is incomplete"
if BPFTOOL:
    c = Chosen("--comm", NAME, "full")
    lib.await_ready(c.proc, c.ready)
    fill_watched()
    with start_named("spin", elsewhere) as p:
        p.stdout.readline()
        p.terminate()
    c.proc.send_signal(signal.SIGINT)
    r = lib.finish(c.proc)
    ok(r.rc == 3 and r.err.count("incomplete: some processes that fit --comm were not") == 1, name,
       r)
else:
    skip(name, "needs bpftool")

# ---- the virtual CPUs of a machine ----
name = f"guest-{os.getpid()}"
by_name = Chosen("--vcpus", name)
with program("machine") as p, program("machine") as other:
    by_pid, _ = watch("--vcpus", str(p.pid), meanwhile=lambda: have_run(p, other))
    is_(tids(by_pid), {p.tids[1]}, "--vcpus PID: the one thread that is a virtual CPU's")
    lib.await_ready(by_name.proc, by_name.ready)
    came = []
    for value in f"guest={name},debug-threads=on", name:
        machine = Program("machine", "-name", value)
        lib.await_gone(lambda: by_name.lacks({machine.tids[1]}))
        came.append(machine.tids)
        machine.end()
    by_name.proc.send_signal(signal.SIGINT)
    if (r := lib.finish(by_name.proc)).rc:
        raise RuntimeError(f"culprit watch --vcpus: {r}")
    is_(by_name.tids(), {t[1] for t in came},
        "--vcpus NAME: a machine that comes, and that comes again, and none of another")
    r = culprit("watch", "--vcpus", str(os.getpid()), "-d", "0.2")
    ok(r.rc == 1 and "is called like a virtual CPU" in r.err and r.err.count("\n") == 1,
       "--vcpus of a process that is no machine: is refused", r)
    with program("spin", "-name", name) as p:
        r = culprit("watch", "-q", "--vcpus", f"name={name}", "-d", "0.2")
    ok(r.rc == 0 and r.err.count(f"process {p.pid} is called {name}, but no thread") == 1,
       "--vcpus NAME of a machine whose threads have no names: says so", r)

# ---- the end of several ----
for sums in (), ("--sums",):
    first, second, thread = (Program("sleep") for _ in range(3))
    ready = os.path.join(place, f"several{len(sums)}")
    proc = lib.spawn("watch", "-p", str(first.pid), "-p", str(second.pid), "--tid", str(thread.pid),
                     "-d", "1h", "-q", "-o", "/dev/null", "--ready-file", ready, *sums)
    lib.await_ready(proc, ready)
    for p, left in (first, 2), (second, 1), (thread, 0):
        p.end()
        if left:
            time.sleep(0.3)  # many looks
            is_(proc.poll(), None, f"{' '.join(sums)} goes on while {left} of them live")
    is_(lib.finish(proc).rc, 0, "and ends by itself when none does")

# ---- on the CPUs that were asked for ----
with program("spin") as here, program("spin", on=(elsewhere,)) as there:
    report, _ = watch("-c", cpu, meanwhile=lambda: have_run(here, there))
    ok(set(here.tids) <= tids(report), "-c: programs on that CPU are watched", here.tids,
       tids(report))
    ok(not set(there.tids) & tids(report), "and none that runs elsewhere", there.tids, tids(report))
    is_(report["run"]["cpus"], [cpu], "the report says which CPU")


def ran(tid):
    """How often a thread has come to a CPU, and for how long it ran and waited, by the kernel."""
    return lib.read(f"/proc/{tid}/schedstat")


SHORT = "fifo", "-n", "30", "-l", "1ms", "-g", "5ms-10ms"

if BPFTOOL:
    name = "while a watched program sleeps nothing at all is recorded on its CPU"
    with program("sleep") as p:
        lib.await_gone(lambda: lib.stat(p.pid)[:1] != ["S"])
        before = ran(p.pid)
        report, (_, made) = watch("-p", p.pid, meanwhile=lambda: poke_and_count(*SHORT))
        if before == ran(p.pid):
            ok(set(made) == {0}, name, made, report)
        else:
            lib.not_judged(name, "somebody has woken it")

    shell = os.path.join(place, f"jit{os.getpid()}sh")
    shutil.copy("/bin/sh", shell)
    # As busybox it would not know a shell by another name.
    with subprocess.Popen(["sh", "-c", "read go; for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; "
                           "echo done; read end"], executable=shell, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True,
                          preexec_fn=lambda: (lib._begin(),
                                              os.sched_setaffinity(0, (cpu,)))) as p:
        def children():
            """How often it came to the CPU, and the records, before and after others ran."""
            p.stdin.write("\n")
            p.stdin.flush()
            p.stdout.readline()
            lib.await_gone(lambda: lib.stat(p.pid)[:1] != ["S"])
            before = ran(p.pid), records_made()
            _, made = poke_and_count(*SHORT)
            return before, (ran(p.pid), made)

        _, (before, after) = watch("--comm", f"jit{os.getpid()}s*", meanwhile=children)
        p.stdin.close()
    name = "children that are watched until they are renamed leave nothing behind"
    if before[0] == after[0]:
        is_(after[1], before[1], name)
    else:
        lib.not_judged(name, "somebody has woken it")
else:
    skip("CPUs where nobody runs make no records", "needs bpftool")

# ---- reports that somebody else makes for it ----
MAGIC = 0x32656b6375636c75


class Forged:
    """A program, a watch of it, and a file of reports that has this owner, and says that it is of
    another process, or of one that started later. by, prefix: commands that start the program, and
    culprit. beside: what else is watched."""

    def __init__(self, owner, pid=0, later=0, by=(), prefix=(), beside=()):
        self.program = Program("spin", prefix=by)
        self.pid = self.program.pid
        self.path = f"/dev/shm/culprit-{self.pid}"
        started = int(lib.stat(self.pid)[19])
        self.head = struct.pack("<2Q", started + later, self.pid + pid)
        with open(self.path, "wb") as f:
            f.write(struct.pack("<2Q", MAGIC, 0) + self.head + bytes(4096 * 32))
        os.chown(self.path, owner, owner)
        os.chmod(self.path, 0o600)
        self.ready = os.path.join(place, f"r1-{self.pid}")
        self.proc = lib.spawn("watch", *map(str, beside), "-p", str(self.pid), "-d", "60s", "-q",
                              "-f", "json", "--ready-file", self.ready, prefix=prefix)

    def report(self):
        """12 times, in the window, when all of them have ended: others are left out."""
        lib.await_ready(self.proc, self.ready)
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        time.sleep(0.012)
        with open(self.path, "r+b") as f:
            f.write(struct.pack("<2Q", MAGIC, 12) + self.head)
            for i in range(12):
                f.write(struct.pack("<3Q2I", i + 1, now + i * 1000000, now + i * 1000000 + 500000,
                                    self.pid, 0))

    def believed(self):
        """How many count."""
        os.killpg(self.proc.pid, signal.SIGINT)
        r = lib.finish(self.proc)
        os.unlink(self.path)
        self.program.end()
        return sum(c["thread"]["reported"] for c in json.loads(r.out)["cpus"])


HIDDEN = ("unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 p /proc && exec "$@"', "sh")
hidden = "the same of another user's program, of which /proc hides all"
forged = [("a file that is not the process's own is not believed", False, Forged(65534)),
          ("nor one of an earlier process of the same number", False, Forged(0, later=-1)),
          ("nor one of another process", False, Forged(0, pid=1)),
          ("one that says so is", True, Forged(0)),
          ("also of the second process that is given, and beside a name", True,
           Forged(0, beside=("-p", os.getpid(), "--comm", "culprit-no-such")))]
if subprocess.run([*HIDDEN, "true"], check=False).returncode or not shutil.which("setpriv"):
    skip(hidden, "no hidepid or setpriv")
else:
    os.chmod(place, 0o755)
    nobody = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
    forged.append((hidden, True, Forged(65534, by=nobody, prefix=HIDDEN)))
for _, _, f in forged:
    f.report()

# A machine of another user. Root's group sees it, unless gid= names another.
hidden = ["--vcpus of a machine that /proc hides: is watched on",
          "--vcpus of a machine that /proc hides only later: is watched on, and that is said"]
if len(forged) < 6 or re.search(r" /proc proc \S*hidepid=[^0o]", lib.read("/proc/mounts")):
    for name in hidden:
        skip(name, "no hidepid or setpriv, or /proc hides processes all the time")
else:
    def hiding(option):
        return [word.replace("hidepid=2", option) for word in HIDDEN]

    with program("machine", prefix=nobody) as p, program("spin"):
        early, late = (Chosen("--vcpus", p.pid, mark, hiding(option)) for mark, option in
                       (("1", "hidepid=2,gid=65533"), ("2", "hidepid=0")))
        for c in early, late:
            lib.await_ready(c.proc, c.ready)
        subprocess.run(["nsenter", "-t", str(late.proc.pid), "-m", "mount", "-o",
                        "remount,hidepid=2,gid=65533", "/proc"], check=True)
        hides_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)  # looked at once a second
        lib.await_gone(lambda: [c for c in (early, late)
                                if c.lacks({p.tids[1]}, hides_ns + 3 * 10**9)])
        for c, said, name in zip((early, late), (0, 1), hidden):
            watched = not c.lacks({p.tids[1]}, hides_ns + 3 * 10**9)
            c.proc.send_signal(signal.SIGINT)
            r = lib.finish(c.proc)
            ok(watched and r.rc == 0 and r.err.count("cannot be read any more") == said, name, r)
time.sleep(0.3)  # reports are read many times a second, and at the end
for name, honest, f in forged:
    is_(f.believed() > 0, honest, name)

shutil.rmtree(place)
is_(lib.await_gone(lib.marked), [], "nothing is left running")
done()
