# SPDX-License-Identifier: GPL-2.0-or-later
"""What the files share that test culprit watch."""
import contextlib
import ctypes
import json
import mmap
import os
import re
import shutil
import struct
import subprocess
import tempfile

import lib
from lib import cpu_ns, culprit

NEWEST = 1 << 16  # bytes of what a watch has said
cpu = place = watched = None  # target, folder of the file, the watched program


def begin(target):
    """Returns the folder, and a copy of the program in it, which another user may start, too."""
    global cpu, place, watched
    cpu, place = target, tempfile.mkdtemp(prefix="culprit-test-")
    watched = shutil.copy(lib.helper("watched"), place)
    return place, watched


def favour(nice):
    """Where the kernel shares the CPUs among sessions (sched_autogroup_enabled), niceness counts
    inside one alone, and all of one share what it gets, on whatever CPUs: in this test's own six
    threads of -15 left it a hundredth of the other CPU (measured: 25 s for the end of a watch)."""
    if not nice:
        return
    os.nice(nice)
    with contextlib.suppress(OSError), open("/proc/self/autogroup", "w") as f:
        f.write(str(nice))


class Program:
    """A watched program, on the target unless `on` says otherwise. Guests have no program that
    sets its niceness."""

    def __init__(self, *args, on=None, prefix=(), nice=0):
        self.proc = subprocess.Popen([*prefix, watched, *args], stdout=subprocess.PIPE, text=True,
                                     env=lib._environment(), start_new_session=True,
                                     preexec_fn=lambda: (lib._begin(),
                                                         os.sched_setaffinity(0, on or {cpu}),
                                                         favour(nice)))
        self.pid, *tids = map(int, self.proc.stdout.readline().split()[1:])
        self.tids = list(filter(None, tids))  # some have no second thread

    def end(self):
        """What it printed."""
        self.proc.terminate()
        return self.proc.communicate(timeout=lib.HANG_S)[0]


@contextlib.contextmanager
def program(*args, **kwargs):
    p = Program(*args, **kwargs)
    try:
        yield p
    finally:
        p.proc.terminate()  # the program removes its reports
        p.proc.communicate(timeout=lib.HANG_S)


def watch(*args, form="json", meanwhile=None, seconds=0.3):
    """The report of a window that lasts `seconds`, or as long as `meanwhile` takes; and what that
    returned."""
    with lib.opened("watch", "-q", "-f", form, "-d", "10m" if meanwhile else f"{seconds}s",
                    *map(str, args), stop=bool(meanwhile)) as run:
        did = meanwhile and meanwhile()
        if meanwhile and run.proc.poll() is not None:
            raise RuntimeError(f"the window closed too early: {lib.finish(run.proc, 1)}")
    if run.result.rc:
        raise RuntimeError(f"culprit watch {args}: {run.result}")
    return json.loads(run.result.out) if form == "json" else run.result.out, did


def have_run(*programs, seconds=0.04):
    """Waits until each thread of these programs has had a CPU for so long; otherwise for several
    turns of two that share it."""
    until = {tid: cpu_ns(tid) + 1e9 * seconds for p in programs for tid in p.tids}
    lib.await_gone(lambda: [tid for tid, ns in until.items() if cpu_ns(tid) < ns])


def check_sums(report, what):
    lib.check_sums(report, what, lost=None)  # the reader may have to share its CPU


def rows(report, **match):
    return [s for c in report["cpus"] for s in c["sources"] if lib._matches(s, match)]


def poked(report, log):
    """The rows of the threads of this run of poke: somebody else's may be there, too."""
    own = {e["tid"] for e in log}
    return rows(report, kind="thread", name=re.compile("^poke"), id=lambda tid: tid in own)


def tids(report):
    return {c["thread"]["pid"] for c in report["cpus"]}


def poke(*args):
    return lambda: lib.run_poke(cpu, *args)


BPFTOOL = shutil.which("bpftool")


BPF = {"x86_64": 321, "aarch64": 280}[os.uname().machine]


def own_maps(name):
    """What bpftool says of each map of this name that a culprit of this test has, and a file
    descriptor. Others may have probes of their own."""
    held = {m for pid, _ in lib.marked() for fd in os.listdir(f"/proc/{pid}/fdinfo")
            for m in re.findall(r"^map_id:\s+(\d+)$", lib.read(f"/proc/{pid}/fdinfo/{fd}"), re.M)}
    for number in held:
        m = json.loads(subprocess.run(["bpftool", "-j", "map", "show", "id", number],
                                      capture_output=True, text=True, check=True).stdout)
        if m.get("name") != name:
            continue
        attributes = struct.pack("I60x", m["id"])
        fd = ctypes.CDLL(None).syscall(BPF, 14, attributes, len(attributes))
        yield m, fd
        os.close(fd)


def records_made():
    """Of each CPU that this culprit observes: how many records its probes have made, by the
    kernel's own memory: bpftool would print all the rings."""
    made = []
    for m, fd in own_maps("cpu_states"):
        size = -(-m["bytes_value"] // 8) * 8
        with mmap.mmap(fd, m["max_entries"] * size, mmap.MAP_SHARED, mmap.PROT_READ) as memory:
            made += [sum(struct.unpack_from("4Q", memory, slot * size + 96))
                     for slot in range(m["max_entries"])]
    return made


def fill_watched():
    """Takes all places of processes that --comm has left, in the name of numbers that none has."""
    key, value = ctypes.c_int32(), ctypes.c_uint64(1)
    for m, fd in own_maps("watch_processes"):
        attributes = struct.pack("I4x3Q96x", fd, ctypes.addressof(key), ctypes.addressof(value), 0)
        for i in range(m["max_entries"]):
            key.value = 1 << 30 | i
            if ctypes.CDLL(None).syscall(BPF, 2, attributes, len(attributes)):
                break


def poke_and_count(*args):
    """poke's log, and the records made by then."""
    return lib.run_poke(cpu, *args), records_made() if BPFTOOL else []


def hierarchy(kind, option):
    """Where such a hierarchy of cgroups is mounted, and may be written; None: nowhere."""
    for line in lib.read("/proc/mounts").splitlines():
        _, path, fs, options, *_ = line.split()
        if fs == kind and option in options.split(",") and os.access(path, os.W_OK):
            return path
    return None


def put(path, text):
    with open(path, "w") as f:
        f.write(str(text))


class Chosen:
    """A watch of what an option chooses, with what it has said so far."""

    def __init__(self, option, name, mark="", prefix=()):
        self.option, self.taken, self.last_ns = option, 0, {}
        self.lines, self.rec, self.ready = (os.path.join(place, kind + option + mark)
                                            for kind in ("lines", "rec", "ready"))
        self.proc = lib.spawn("watch", "-q", option, str(name), "-d", "1h", "-f", "jsonl", "-o",
                              self.lines, "-r", self.rec, "--ready-file", self.ready,
                              prefix=prefix)

    def lacks(self, wanted, since_ns=0):
        """Those of these threads, which run on, about which it has said nothing since then. Only
        the newest of what is new is read, and of it two numbers: where all is emulated four watches
        say more than can be read, and who reads keeps the CPU from those who write. A name's quotes
        are escaped, so that none looks like a key; a line without its head has no start."""
        with contextlib.suppress(FileNotFoundError), open(self.lines, "rb") as f:
            begin = f.seek(max(self.taken, f.seek(0, os.SEEK_END) - NEWEST))
            whole = b"".join(f.read().rpartition(b"\n")[:2])
            self.taken = begin + len(whole)
            for start, tid in re.findall(rb'^.*?"start_ns": ?(\d+),.*?"tid": ?(\d+),', whole, re.M):
                self.last_ns[int(tid)] = max(int(start), self.last_ns.get(int(tid), 0))
        return {tid for tid in wanted if self.last_ns.get(tid, -1) < since_ns}

    def tids(self):
        """All that it watched, behind the window."""
        return tids(json.loads(culprit("report", self.rec, "-f", "json").out))
