#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--user-stacks: the calls of a program that led to a request are its own, whatever it is built
like; what cannot be known is said to be unknown. Only requests in the midst of the window count:
the program asks before it opens and behind it.
"""
import atexit
import contextlib
import glob
import json
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, skip, sources, why_not

lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
PLAIN, STRIPPED, PACKED, BARE, VARYING, HOLDING, MANY, MADE, MANGLED, SLOW = (
    lib.helper(f"callers{kind}")
    for kind in ("", "_stripped", "_packed", "_bare", "_varying", "_holding", "_many", "_made",
                 "_mangled", "_slow"))
place = tempfile.mkdtemp()
atexit.register(shutil.rmtree, place, True)
compiled = []  # filters of system calls that culprit set up in a window: arm64 tells all CPUs
# A name by which its processes are told from those of others that measure beside this file.
OWN = os.path.join(place, f"own{os.getpid()}")
os.symlink(lib.CULPRIT, OWN)
# The threads that are called have one, too: of more than sixteen with one name culprit adds up half
# (src/model/source.h), and a thread of those that comes again has another row.
CALLED = os.environ["CALLED"] = f"called{os.getpid()}"
BUILT_WITH = json.loads(culprit("version", "--features", "-f", "json").out)["libraries"]


@contextlib.contextmanager
def asking(*program, more=()):
    with subprocess.Popen([*program, str(cpu), *more], stdout=subprocess.PIPE, text=True) as asker:
        try:
            if asker.stdout.readline() != "begun\n":
                raise RuntimeError(f"{program} does not begin")
            yield asker.pid
        finally:
            asker.kill()


def origins(report, pid):
    """The ways of those who asked for the thread that is called; requests on the target itself
    have none."""
    found = [o for s in sources(report, cpu, name=CALLED) for o in s["origins"]]
    return [w for o in found if o["pid"] == pid and o["cpu"] != cpu for w in o.get("ways", ())]


LONGER = 1, 4, 16  # windows, until one can be judged


def window(pids, seconds, *extra, **more):
    """The report of a window in which each of these can be judged; the file ends where none can."""
    for longer in LONGER:
        report, log = lib.run_json(cpu, longer * seconds, "--no-audit", "--user-stacks", *extra,
                                   **more)
        why = why_not(log.err, *(origins(report, pid) for pid in pids))
        if not why:
            return report
    lib.not_judged("requests", why)
    done()
    raise SystemExit


def measured(programs, *extra):
    """Of each of the programs by its name the origins, while all of them run."""
    with contextlib.ExitStack() as running:
        pids = {name: running.enter_context(asking(*p)) for name, p in programs.items()}
        report = window(pids.values(), 1 + len(pids) / 8, *extra, path=OWN)
        compiled.extend(s for s in sources(report, cpu, name="call_function", function="do_nothing")
                        if any(o["comm"] == os.path.basename(OWN) for o in s["origins"]))
        return {name: origins(report, pid) for name, pid in pids.items()}


def names(o):
    return [f["function"] for f in o["user_stack"]]


def chains(found):
    """Of the innermost calls each with its count: up to main, or all."""
    counted = {}
    for o in found:
        n = names(o)
        n = tuple(n[:n.index("main") + 1] if "main" in n else n)
        counted[n] = counted.get(n, 0) + o["count"]
    return counted


OFTEN, SELDOM = (("syscall", "ask", f, "main") for f in ("often", "seldom"))


def are_right(found, name):
    """Nothing but the two ways, and the one that is taken three times as often more often."""
    got = chains(found)
    ok(set(got) == {OFTEN, SELDOM} and got[OFTEN] > got[SELDOM], name, got)


# One window has them all: each has a thread of its own that is called.
mounts = os.path.join(place, "mounts")
os.mkdir(mounts)
inside = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs none {mounts} && cp {PLAIN} {mounts}/c && "
          f"exec {mounts}/c $0"]
MOUNTS = not subprocess.run([*inside[:4], f"mount -t tmpfs none {mounts}"],
                            capture_output=True).returncode
X86 = os.uname().machine == "x86_64"
LZMA = "liblzma" in BUILT_WITH and glob.glob("/usr/lib/*/liblzma.so.5")
got = measured({"plain": [PLAIN], "stripped": [STRIPPED], "bare": [BARE], "mangled": [MANGLED],
                **({"packed": [PACKED]} if LZMA else {}), **({"inside": inside} if MOUNTS else {}),
                **({"varying": [VARYING], "holding": [HOLDING]} if X86 else {})})
plain = got["plain"]
are_right(plain, "with frame pointers: each request is by the function that made it")
ok(all(o["user_stack"][1]["file"] == os.path.realpath(PLAIN) for o in plain),
   "its file is named", plain)


# ---- source ----

def lines_of(*texts):
    """Numbers of the lines of the programs' source that have one of the texts."""
    with open(os.path.join(os.path.dirname(__file__), "callers.c"), encoding="utf-8") as f:
        return [n for n, line in enumerate(f, 1) if any(text in line for text in texts)]


NAME = "with debug information: each call has its line"
if "libdw" not in BUILT_WITH or not glob.glob("/usr/lib/*/libdw.so.1"):
    skip(NAME, "libdw is not there, or culprit was built without")
else:
    in_often, in_seldom = lines_of("volatile long woken = ask();",
                                   "volatile long woken = ASK_ACROSS();")
    lines = {(f["function"], f["line"].rpartition("/")[2]) for o in plain for f in o["user_stack"]
             if f["function"] in ("often", "seldom")}
    is_(lines, {("often", f"callers.c:{in_often}"), ("seldom", f"callers.c:{in_seldom}")}, NAME)

NAME = "names of C++ and Rust are those of the source"
if "libiberty" not in BUILT_WITH:
    skip(NAME, "culprit was built without libiberty")
else:
    is_({n for o in got["mangled"] for n in names(o)[2:3]},
        {"app::Engine::often", "app::engine::seldom"}, NAME)


def places(found):
    return {tuple(f["offset"] for f in o["user_stack"][1:4]) for o in found}


build = {f["build_id"] for o in plain for f in o["user_stack"][1:4]}
is_(len(build), 1, "and has one build id")

stripped = got["stripped"]
ok(all(names(o)[1:4] == [None] * 3 for o in stripped) and places(stripped) == places(plain),
   "stripped: the same places, without names", stripped)

build = build.pop()
debug = os.path.join(place, ".build-id", build[:2])
os.makedirs(debug)
shutil.copy(PLAIN, os.path.join(debug, f"{build[2:]}.debug"))
are_right(measured({"stripped": [STRIPPED]}, "--debug-path", place)["stripped"],
          "stripped, with debug information by build id: each request is by its function")

NAME = "stripped, with packed functions of its own: each request is by its function"
if not LZMA:
    skip(NAME, "liblzma is not there, or culprit was built without")
else:
    are_right(got["packed"], NAME)

bare = got["bare"]
ok(bare and all(names(o)[:3] == ["syscall", "ask", None] and len(names(o)) == 3 and
                "file" not in o["user_stack"][2] for o in bare),
   "without frame pointers: who made the call, and that its callers are not known", bare)

NAME = "what else may be in the frame pointer's register makes no stack a new one"
if not X86:
    skip(NAME, "the program is for x86")
else:
    found = got["varying"]
    ok(sorted(names(o) for o in found) == [["ask", f, None] for f in ("often", "seldom")] and
       all(o["count"] == o["count_max"] > 10 for o in found), NAME, found)

NAME = "a function that has words on the stack, on one page or two, at the call: who called it"
if not X86:
    skip(NAME, "the program is for x86")
else:
    found = got["holding"]
    ok(sorted((names(o) for o in found), key=str)
       == [["ask", f, None] for f in ("often", "seldom")], NAME,
       found)

NAME = "a file that only the program's own mounts have: each request is by its function"
if not MOUNTS:
    skip(NAME, "no mounts of its own can be made here")
else:
    are_right(got["inside"], NAME)

is_(compiled, [], "who reads stacks and files is set up before the window")

# ---- code that is made ----

WAYS = [("syscall", "ask", f) for f in ("often", "seldom")]


@contextlib.contextmanager
def made(change, *more):
    """The program that makes code, after a change of its map, which is removed: its pid, and path
    of the map."""
    with asking(MADE, more=more) as pid:
        path = f"/tmp/perf-{pid}.map"
        try:
            # The program makes it with its first call, after it said that it begins.
            lib.await_gone(lambda: not os.path.exists(path) or not os.path.getsize(path))
            change(path)
            yield pid, path
        finally:
            for file in path, f"{path}.x":
                with contextlib.suppress(FileNotFoundError):
                    os.remove(file)


def another(path):
    os.rename(path, f"{path}.x")
    os.symlink(f"{path}.x", path)


def dump_of(path):
    return path.replace("/tmp/perf-", f"{place}/jit-").replace(".map", ".dump")


UNTOUCHED = "code that is made has its name from the program's map; its callers are not known"
CHANGES = {UNTOUCHED: lambda path: None,
           "that anybody may write": lambda path: os.chmod(path, 0o666),
           "of somebody else": lambda path: os.chown(path, 12345, -1),
           "older than the process": lambda path: os.utime(path, (1e9, 1e9)),
           "that is a link": another}
with contextlib.ExitStack() as running:
    programs = {name: running.enter_context(made(change)) for name, change in CHANGES.items()}
    dumped = running.enter_context(made(lambda path: None, place))
    open_dump = running.enter_context(made(lambda path: os.chmod(dump_of(path), 0o666), place))
    report = window([pid for pid, _ in (*programs.values(), dumped, open_dump)], 1.5)
for name, (pid, path) in programs.items():
    found = origins(report, pid)
    got = {tuple(names(o)) for o in found}
    if name == UNTOUCHED:
        ok(got == {(*w, "made:f x.js:1", None) for w in WAYS} and
           all(o["user_stack"][3]["file"] == path for o in found), name, found)
    else:
        ok(got == {(*w, None) for w in WAYS}, f"a map {name} is not read", found)
found = origins(report, dumped[0])
ok({tuple(names(o)) for o in found} == {(*w, "dumped:f x.js:2", None) for w in WAYS} and
   all(o["user_stack"][3]["file"] == dump_of(dumped[1]) for o in found),
   "or from its jitdump file, as of the latest time", found)
is_({tuple(names(o)) for o in origins(report, open_dump[0])},
    {(*w, "made:f x.js:1", None) for w in WAYS},
    "a jitdump file that anybody may write is not read: the map is")
frames = [f for pid, _ in (*programs.values(), dumped, open_dump) for o in origins(report, pid)
          for f in o["user_stack"]]
ok(frames and max(f.get("offset", 0) for f in frames) < 1 << 40,
   "no frame tells where its process has its memory", frames)

# ---- what is lost ----

NAME = "requests whose stacks find others in their places are counted"
LOST = "requests have no calls: no place was left for their stacks, or their CPU was noting another"
ENOUGH = 2500  # ways: a process' stacks may have 2048 places


def said(seconds, *late, more=1):
    """The report, and what was said. late: programs that ask for some seconds more; what they asked
    for is added. They are there until all stacks have been looked at."""
    with contextlib.ExitStack() as running:
        with lib.opened("run", "-c", str(cpu), "-d", "10m", "-f", "json", "-q", "--no-audit",
                        "--user-stacks") as run:
            time.sleep(seconds)
            pids = [running.enter_context(asking(program)) for program in late]
            time.sleep(more if late else 0)
    if run.result.rc:
        raise RuntimeError(f"culprit run: {run.result}")
    report = json.loads(run.result.out)
    return report, run.result.err, *(origins(report, pid) for pid in pids)


def known(err, found, name):
    """Two ways, of which each finds no place once in 4^8 times where one process has its share."""
    if why := why_not(err, found):
        lib.not_judged(name, f"{why}: {found}")
    else:
        got = chains([o for o in found if "user_stack" in o])
        ok(got and set(got) <= {OFTEN, SELDOM}, name, found)


with asking(MANY) as pid:
    for longer in LONGER:  # a busy machine lets it ask seldom
        report, err, late = said(2 * longer, PLAIN, more=longer)
        asked = sum(o["count"] for s in sources(report, cpu, name=CALLED) for o in s["origins"]
                    if o["pid"] == pid and o["cpu"] != cpu)
        if asked >= ENOUGH and not why_not(err, late):
            break
if asked < ENOUGH:
    skip(NAME, f"not judged: it asked {asked} times only")
else:
    ok(err.count(LOST) == 1 and
       err.count(f": process {pid} has had the 2048 places for stacks that one may have") == 1,
       NAME, err)
    known(err, late, "a program that begins to ask then has its calls")

# Each of its stacks takes a second or two, as long as which a process must be there to be looked
# at; the end comes 15 s after the window.
if os.environ.get("LONG"):
    with asking(SLOW) as pid:
        for longer in LONGER:
            _, err, late = said(3, PLAIN, more=5 * longer)
            if not why_not(err, late):
                break
    known(err, late, "beside a program whose names take long to write out, too")
    ok(re.search(rf"are not known; \d+ of them are process {pid}'s", err), "which is named", err)


def costly(path):
    """The program with a table of functions that takes too long to sort: all have the same place,
    and of their names as much is the same as is looked at. Its code is what it was."""
    data = bytearray(pathlib.Path(PLAIN).read_bytes())
    at, = struct.unpack_from("<Q", data, 0x28)
    size, count = struct.unpack_from("<HH", data, 0x3a)
    heads = [at + size * i for i in range(count)]
    table = next(h for h in heads if struct.unpack_from("<I", data, h + 4)[0] == 2)
    names = heads[struct.unpack_from("<I", data, table + 40)[0]]
    functions = b"".join(struct.pack("<IBBHQQ", i + 1, 2, 0, 1, 0x1000, 16) for i in range(400000))
    for head, more in ((table, functions), (names, b"\0" + b"_" * (1 << 20) + b"\0")):
        struct.pack_into("<QQ", data, head + 24, len(data), len(more))
        data += more
    pathlib.Path(path).write_bytes(data)
    os.chmod(path, 0o700)
    return path


COSTLY = costly(os.path.join(place, "costly\x1b"))
for longer in LONGER:
    with asking(COSTLY) as bad, asking(PLAIN) as pid:
        report, err = said(longer)
    found, honest = origins(report, bad), origins(report, pid)
    if not (why := why_not(err, found, honest)):
        break
NAME, SAID = "others have theirs all the same", f"no functions of {place}/costly\\x1b: reading it "
if why:
    lib.not_judged("a file that takes too long", f"there was not enough time: {why}")
    lib.not_judged(NAME, "likewise")
else:
    ok(all(set(names(o)[1:]) <= {None} for o in found) and
       err.count(SAID + "takes more than two seconds") == 1,
       "a file that takes too long has no functions, and a line says so", (found, err))
    are_right(honest, NAME)

# Many mappings cost each stack of their process its time, and others theirs.
CROWDED = """
import ctypes, os, sys, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
fd = os.open(f"{sys.argv[1]}/jit-{os.getpid()}.dump", os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(fd, 8192 * 40000)
for i in range(40000):
    libc.mmap(None, 4096, 5, 2, fd, 8192 * i)
code = libc.mmap(None, 1 << 20, 7, 0x22, -1, 0)
barrier = bytes.fromhex("554889e5b844010000bf0800000031f60f055dc3").ljust(32, b"\\x90")
ctypes.memmove(code, barrier * 3000 + b"\\xeb\\xfe", 96002)  # membarrier(2); a loop

def spin():
    os.sched_setaffinity(0, {int(sys.argv[2])})
    ctypes.CFUNCTYPE(None)(code + 96000)()

libc.syscall(324, 16, 0, 0)
threading.Thread(target=spin, daemon=True).start()
asks = [ctypes.CFUNCTYPE(None)(code + 32 * i) for i in range(3000)]
print("begun", flush=True)
while True:
    for ask in asks:
        ask()
"""
if os.uname().machine == "x86_64":
    with subprocess.Popen(["taskset", "-c", str(min(lib.ALLOWED - {cpu})), sys.executable, "-c",
                           CROWDED, place, str(cpu)], stdout=subprocess.PIPE, text=True) as crowd:
        crowd.stdout.readline()
        SAID = (f"no functions of process {crowd.pid} in some of its stacks: its mappings are too "
                "many to look at for each")
        for longer in LONGER:  # until they have been looked at for a second
            report, err = said(2 * longer)
            many = re.search(r"the calls of \d{3,} of \d+ user stacks are not known", err)
            if not many or SAID in err:
                break
        crowd.kill()
    if many:
        ok(SAID in err, "one with so many mappings that they would take all the time is named", err)

# ---- file systems that do not answer ----

# Serves /tmp of its own mounts: a file for each map, of which it answers nothing from OPEN (14) or
# READ (15) on; programs that make code come and go there, and have no map of their own.
STALLED = r"""
import ctypes, os, struct, subprocess, sys, threading, time
silent, cpu = int(sys.argv[1]), sys.argv[3]
program, fuse = os.open(sys.argv[2], os.O_RDONLY), os.open("/dev/fuse", os.O_RDWR)
options = b"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other" % fuse
if ctypes.CDLL(None).mount(b"none", b"/tmp", b"fuse", 0, options):
    sys.exit("it cannot be mounted")

def attributes(node):
    return struct.pack("<6Q10I", node, 0, 8, *[int(time.time())] * 3, 0, 0, 0,
                       0o40777 if node == 1 else 0o100600, 1, 0, 0, 0, 4096, 0)

def answer(call, node, pid, body):
    name, found = body.rstrip(b"\0"), b"perf-%d.map" % pid
    if call == 26:
        return struct.pack("<4I2H2I2H8I", 7, 31, 65536, 0, 12, 10, 65536, 1, *[0] * 10)
    if call == 1 and name.startswith(b"perf-") and name != found:
        return struct.pack("<4Q2I", int(name[5:-4]), 0, 0, 0, 0, 0) + attributes(int(name[5:-4]))
    if call == 3:
        return struct.pack("<Q2I", 0, 0, 0) + attributes(node)
    return struct.pack("<Q2I", 0, 1, 0) if call == 14 else b"" if call in (18, 25) else None

def serve():
    while request := os.read(fuse, 1 << 20):
        _, call, number, node, _, _, pid, _ = struct.unpack("<2I2Q4I", request[:40])
        if call in (silent, 2, 42):
            continue
        text = answer(call, node, pid, request[40:])
        os.write(fuse, struct.pack("<IiQ", 16 + len(text or b""), 0 if text is not None else
                                   -2 if call == 1 else -38, number) + (text or b""))

threading.Thread(target=serve, daemon=True).start()
print("begun", flush=True)
running = []
while True:
    running.append(subprocess.Popen([f"/proc/self/fd/{program}", cpu], pass_fds=[program],
                                    stdout=subprocess.DEVNULL))
    time.sleep(1)
    if len(running) > 2:
        running[0].kill()
        running.pop(0).wait()
"""


@contextlib.contextmanager
def stalled(silent):
    """True: there is such a file system, until the end."""
    with subprocess.Popen(["unshare", "-m", sys.executable, "-c", STALLED, str(silent), MADE,
                           str(cpu)], stdout=subprocess.PIPE, text=True,
                          start_new_session=True) as server:
        try:
            yield server.stdout.readline() == "begun\n"
        finally:
            os.killpg(server.pid, signal.SIGKILL)


def stuck():
    """Processes of culprit that wait for such a one."""
    stats = (lib.read(path).rpartition(")") for path in glob.glob("/proc/[0-9]*/stat"))
    return sum(before.endswith("(" + os.path.basename(OWN)[:15]) and after.split()[0] == "D"
               for before, _, after in stats)


def has_ended(file, seconds=20):
    """What a pipe had, and whether nobody has its other end any more."""
    deadline, text = time.monotonic() + seconds, b""
    while select.select([file], [], [], max(0, deadline - time.monotonic()))[0]:
        if not (more := os.read(file.fileno(), 65536)):
            return text.decode(), True
        text += more
    return text.decode(), False


NAME = "file systems that do not answer: what stays is no more with each process, and is counted"
HELD = "nor does it keep those waiting who read what culprit says"
with contextlib.ExitStack() as servers:
    there = os.path.exists("/dev/fuse") and MOUNTS and all(
        [servers.enter_context(stalled(call)) for call in (14, 15)])
    if there:
        proc = lib.spawn("run", "-c", str(cpu), "-d", "12", "-f", "json", "-q", "--no-audit",
                         "--user-stacks", "-o", os.path.join(place, "stalled.json"), path=OWN)
        proc.wait(lib.HANG_S)
        left = stuck()
        err, ended = has_ended(proc.stderr)
        proc.stdout.close()
        proc.stderr.close()
if not there:
    skip(NAME, "no such file system can be made here")
elif not all(text in err for text in ("could not be opened in time", "more than two seconds")):
    lib.not_judged(NAME, f"it did not come to both: {err}")
else:
    if lib.sanitized():  # words of a sanitizer go to stderr
        skip(HELD, "a sanitizer's processes keep it")
    else:
        ok(ended, HELD, err)
    told = re.findall(r"(\d+) process(?:es)? that w\w+ killed stays? until a file system", err)
    ok(err.count(", nor of further such files of user 0 there: ") == 2 and left <= 4 and
       told == [str(left)], NAME, left, err)
    ok(not lib.await_gone(stuck), "which then end", stuck())

# ---- recordings, and other forms ----

path = os.path.join(place, "x.rec")
for longer in LONGER:
    with asking(PLAIN) as pid:
        with lib.opened("record", "-c", str(cpu), "-d", "10m", "-q", "--no-audit", "--user-stacks",
                        "--force", path) as run:
            time.sleep(longer)
    r = culprit("report", path, "-f", "json")
    found = origins(json.loads(r.out), pid)
    if not (why := why_not(run.result.err, found)):
        break
NAME, FOLDED = "a recording has the calls", "folded has them from main inwards"
if why:
    lib.not_judged(NAME, why)
else:
    are_right(found, NAME)
r = culprit("report", path, "--redact", "-f", "json")
ok(r.rc == 0 and "user_stack" not in r.out and "often" not in r.out, "--redact leaves them out", r)
r = culprit("report", path, "-f", "folded")
if why:
    lib.not_judged(FOLDED, "likewise")
else:
    ok(any(";main;often;ask;syscall;" in line for line in r.out.splitlines()), FOLDED, r)
private = os.path.join(place, "private.rec")
with asking(PLAIN):
    with lib.opened("record", "-c", str(cpu), "-d", "10m", "-q", "--no-audit", "--user-stacks",
                    "--private", private):
        time.sleep(0.5)
r = culprit("report", private, "-f", "json")
ok(r.rc == 0 and "user_stack" not in r.out, "a private recording has none", r)

# ---- killed ----

def lookers():
    """CAP_SYS_PTRACE tells who looks at mappings; it has short-lived ones that open files."""
    return [pid for pid in lib.children(proc.pid)
            if int((re.findall(r"CapEff:\t(\w+)", lib.read(f"/proc/{pid}/status")) or "0")[0], 16)
            & 1 << 19]


with lib.ready_file() as ready:
    proc = lib.spawn("record", "-c", str(cpu), "-d", "10m", "-q", "--no-audit", "--user-stacks",
                     "--ready-file", ready, os.path.join(place, "killed.rec"))
    lib.await_ready(proc, ready)
    stopped = lookers()
    for pid in stopped:  # no end is heard of then
        os.kill(pid, signal.SIGSTOP)
    shared = [line for pid in stopped for child in (pid, *lib.children(pid))
              for line in lib.read(f"/proc/{child}/maps").splitlines() if " rw-s " in line]
    proc.kill()
    lib.finish(proc)
ok(len(stopped) == 1 and not lib.await_gone(lib.marked),
   "who looks ends with culprit, whatever it is at", stopped, lib.marked())
sizes = [int(end, 16) - int(begin, 16)
         for begin, end in (line.split()[0].split("-") for line in shared)]
ok(set(sizes) == {os.sysconf("SC_PAGESIZE")} and all("/dev/zero" in line for line in shared),
   "nor can it write to culprit's memory: it shares a page with who reads files", shared)

# ---- refusals ----

for command in (("run", "--user-stacks", "--no-trace"), ("run", "--debug-path", "/"),
                ("watch", "--user-stacks", "-p", str(os.getpid()))):
    r = culprit(*command)
    ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and
       "--user-stacks" in r.err, f"{' '.join(command[:3])}: refused in one line", r)
done()
