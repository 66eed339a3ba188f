#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Rights: what the processes of a run give away, and that nobody measures with a program file that
has just the capabilities of the README's table (LONG=1: all its commands)."""
import ctypes
import json
import os
import platform
import pty
import re
import shutil
import struct
import subprocess
import tempfile

import lib
from lib import CULPRIT, culprit, done, is_, ok, skip

lib.need_bpf(shared=True)
cpu = str(lib.pick_target(shared=True))
LONG = os.environ.get("LONG")
place = tempfile.mkdtemp(prefix="culprit-test-")
os.chmod(place, 0o755)

# ---- what the processes of a run may do ----

RELEASE = tuple(map(int, re.findall(r"\d+", os.uname().release)[:2]))
# CAP_BPF, where the kernel wants it from who reads maps
KEPT = 1 << 39 if RELEASE < (5, 19) and lib.read(
    "/proc/sys/kernel/unprivileged_bpf_disabled") != "0" else 0
FILES = 1 << 1 | 1 << 3  # CAP_DAC_OVERRIDE, CAP_FOWNER
READ = 1 << 2  # CAP_DAC_READ_SEARCH


def status(pid):
    return dict(re.findall(r"^(\w+):\t(.*)$", lib.read(f"/proc/{pid}/status"), re.M))


def rights(want, *args):
    """The three processes' [capabilities, no_new_privs, filter] in an open window, once they are as
    these are to be: culprit's process gives its own away right behind the news that the window is
    open, and the writer when it has its first turn."""
    with lib.opened(*args, "-c", cpu, "-d", "1m", "-q") as run:
        children = lib.children(run.proc.pid)

        def look():
            of = {}
            for pid in [run.proc.pid, *children]:
                s = status(pid)
                name = "tracer" if pid == run.proc.pid else s["Name"]
                sets = {int(s[k], 16) for k in ("CapPrm", "CapEff", "CapBnd")}
                of[name] = (sets, s["NoNewPrivs"], s["Seccomp"])
            return of

        lib.await_gone(lambda: not want.items() <= look().items(), lib.AT_ONCE_S)
        of = look()
        writer = [os.readlink(f"/proc/{p}/fd/{fd}") for p in children
                  if status(p)["Name"] == "culprit" for fd in os.listdir(f"/proc/{p}/fd")]
    is_(run.result.rc, 0, f"{args[0]} with few rights ends well")
    return of, writer


rec = os.path.join(place, "x.rec")
filtered = ({0}, "1", "0" if lib.sanitized() else "2")
tracing = ({KEPT}, *filtered[1:])
of, writer = rights({"culprit": filtered, "tracer": tracing}, "record", rec)
is_(of.get("culprit-sampler"), filtered, "a sampler has no right, and a filter")
is_(of.get("culprit"), filtered, "nor has the process that writes a recording")
is_(of.get("tracer"), tracing,
    "the tracer has no right that the kernel does not want for reading maps, and a filter")
ok(rec in writer and len(writer) == 2, "the writer has its file and stderr open, no more", writer)
with_files = ({KEPT | FILES}, *filtered[1:])
of, _ = rights({"tracer": with_files}, "run", "-o", os.path.join(place, "x.txt"))
is_(of.get("tracer"), with_files, "with -o also what files need")
of, _ = rights({"tracer": filtered}, "run", "--no-trace")
is_(of.get("tracer"), filtered, "without a trace it has none")
POSSIBLE = lib.parse_cpus(lib.read("/sys/devices/system/cpu/possible"))
reports = READ | 1 << 3  # CAP_FOWNER: for what the program says of itself
if POSSIBLE == lib.online():  # none may come, for which it would keep more
    watching = ({KEPT | reports}, *filtered[1:])
    of, _ = rights({"tracer": watching}, "watch", "-p", str(os.getpid()))
    is_(of.get("tracer"), watching, "watch -p has those for the reports of its program")
else:
    skip("watch -p has those for the reports of its program", "CPUs may come")
of, _ = rights({}, "sleep")
is_(of.get("culprit-sampler"), ({0}, "1", "0"), "a workload's sampler has no right, and no filter")

# ---- who reads what strangers made ----

readers = {}
for command in "report", "audit", "diff", "plot":
    for file in None, "x.svg", "x.png":
        if file == "x.png" and (command != "plot" or not shutil.which("rsvg-convert")):
            continue  # the one that starts another program, before it reads
        where = ("-o", os.path.join(place, file)) if file else ()
        more = (rec, ) if command == "diff" else ()
        p = subprocess.Popen([CULPRIT, command, "-", *more, *where], stdin=subprocess.PIPE,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # the filter is the last
        lib.await_gone(lambda: (status(p.pid).get("NoNewPrivs"), status(p.pid).get("Seccomp"))
                       != filtered[1:])
        s = status(p.pid)
        readers[command, file] = int(s.get("CapEff", "0"), 16), s.get("Seccomp")
        p.communicate()
is_({(k, v) for k, v in readers.items() if v != (READ | (FILES if k[1] else 0), filtered[2])},
    set(), "report, audit, diff and plot read files, write theirs, and have no other right, and a "
    "filter")

# ---- a system call too many ----

if lib.sanitized() or not shutil.which("cc"):
    skip("a forbidden system call", "no filter, or no compiler")
else:
    stray = os.path.join(place, "stray.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", stray,
                    os.path.join(lib.ROOT, "tests/live/forbidden.c")], check=True)
    said = "made a system call that it does not need: {}\n".format(
        {"x86_64": 102}.get(platform.machine(), 174))  # getuid
    preload = ("env", f"LD_PRELOAD={stray}")
    r = culprit("run", "-c", cpu, "-d", "1m", "-q", "-f", "json",
                prefix=(*preload, "FORBIDDEN=sampler"))
    ok(r.rc == 3 and r.err.count("\n") == 1 and re.search("its sampler " + said, r.err) and
       json.loads(r.out)["run"]["duration_ns"] < lib.AT_ONCE_S * 1e9,
       "a sampler that makes one: its end, and why", r)
    r = culprit("record", "--force", rec, "-c", cpu, "-d", "1s", "-q",
                prefix=(*preload, "FORBIDDEN=writer"))
    ok(r.rc == 1 and r.err.count("\n") == 1 and "the process that writes it " + said[:-1] in r.err,
       "a writer that makes one: the same", r)

# ---- files of root, which root without a right may still write ----


def tried(who, *args):
    """What was possible in the end, of who is who (forbidden.c)."""
    folder = tempfile.mkdtemp(dir=place)
    there, said = (os.path.join(folder, name) for name in ("there", "said"))
    for file in there, said:
        open(file, "w").close()
    r = culprit(*args, prefix=("env", f"LD_PRELOAD={stray}", f"FORBIDDEN={who}", f"SAID={said}",
                               f"FOLDER={folder}"))
    lines = lib.read(said).split()
    return r if r.rc else 0, lines[0] if lines else r, lines and lines[-1]


if lib.sanitized() or not shutil.which("cc") or not lib.landlocked():
    skip("files of root", "no filter, no compiler, or no Landlock of 6.2 or later")
else:
    window = ("-c", cpu, "-d", "300ms", "-q")
    is_(tried("tracer", "run", *window), (0, "wcmx", "----"),
        "once its window opens, culprit writes, changes and makes no file, and starts no program")
    is_(tried("tracer", "run", "-o", os.path.join(place, "x.txt"), *window), (0, "wcmx", "wcm-"),
        "with -o it still starts none")
    culprit("record", "--force", rec, *window)
    is_(tried("reader", "report", rec), (0, "----", "----"),
        "nor does who reads a recording, from its first byte on")

# ---- where nothing can be given away ----

NUMBERS = {"x86_64": (126, 317, 157), "aarch64": (91, 277, 167)}.get(platform.machine())
REFUSED = 0x00050000 | 1  # SECCOMP_RET_ERRNO: EPERM
libc = ctypes.CDLL(None, use_errno=True)


def refuse():
    """As a container may: capset, seccomp, and prctl of what gives rights away."""
    capset, seccomp, prctl = NUMBERS
    code = [(0x20, 0, 0, 0), (0x15, 6, 0, capset), (0x15, 5, 0, seccomp), (0x15, 0, 3, prctl),
            (0x20, 0, 0, 16), (0x15, 2, 0, 24), (0x15, 1, 0, 38),  # CAPBSET_DROP, NO_NEW_PRIVS
            (0x06, 0, 0, 0x7fff0000), (0x06, 0, 0, REFUSED)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code),
                                                      ctypes.addressof(text)))
    os.sched_setaffinity(0, lib.ALLOWED)
    if libc.prctl(22, 2, program, 0, 0):  # PR_SET_SECCOMP
        os._exit(99)


if NUMBERS:
    r = subprocess.run([CULPRIT, "record", "--force", rec, "-c", cpu, "-d", "300ms", "-q"],
                       preexec_fn=refuse, capture_output=True, text=True, timeout=lib.HANG_S)
    r = lib.Result(r.returncode, r.stdout, r.stderr, 0)
    ok(r.rc == 0 and not r.err, "where a container refuses all that: as before", r)

# ---- the README's table ----

with open(os.path.join(lib.ROOT, "README.md")) as f:
    rows = re.findall(r"^\| ((?:`[^`]+`,? ?)+)\| ((?:none|CAP_[A-Z_, ]+)+) *\|$", f.read(), re.M)
table = [(command.split(), re.findall("CAP_[A-Z_]+", caps))
         for commands, caps in rows for command in re.findall("`([^`]+)`", commands)]
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
home = os.path.join(place, "nobody")
os.mkdir(home)
os.chown(home, 65534, 65534)
os.chmod(rec, 0o644)
path = shutil.copy(CULPRIT, place)
os.chmod(path, 0o755)
VALUES = {"report": (rec,), "diff": (rec, rec), "plot": (rec,), "explain": ("K09",),
          "audit": ("-c", cpu), "clock": ("-d", "100ms"),
          "record": ("-c", cpu, "-d", "300ms", "-q", os.path.join(home, "x.rec"), "--force"),
          "pingpong": ("-n", "1000", "-q"), "queue": ("-n", "1000", "-q"),
          "osnoise": (os.path.join(lib.ROOT, "tests/fixtures/osnoise/6.12.trace"),),
          "top": ("-c", cpu, "-d", "300ms")}
MEASURE = ("-c", cpu, "-d", "300ms", "-q")


def on_terminal(args):
    """Status and what came on a terminal."""
    master, slave = pty.openpty()
    with subprocess.Popen([*NOBODY, path, *args], stdin=slave, stdout=slave, stderr=slave,
                          start_new_session=True, env={**os.environ, "TERM": "xterm"},
                          preexec_fn=lambda: os.sched_setaffinity(0, lib.ALLOWED)) as proc:
        os.close(slave)
        text = b""
        try:
            while part := os.read(master, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
    os.close(master)
    return lib.Result(proc.returncode, text.decode(errors="replace"), "", 0)


ok({command[0] for command, _ in table} >= {"report", "run", "record", "watch", "top"},
   "the README's table is read", rows)
if not shutil.which("setcap") or not shutil.which("setpriv"):
    skip("nobody with the table's capabilities", "needs setcap and setpriv")
    table = []
else:
    # Without CAP_SYSLOG the kernel hides where its functions are, and the report blames what does.
    restricted, paranoid = (lib.read(f"/proc/sys/kernel/{name}")
                            for name in ("kptr_restrict", "perf_event_paranoid"))
    if os.system(f"setcap cap_bpf,cap_perfmon+ep {path}"):
        skip("who hides names", "no capabilities on files here")
    else:
        r = culprit("run", *MEASURE, path=path, prefix=NOBODY)
        said = re.search("functions have no names: the kernel hides its addresses from "
                         r"(those without CAP_SYSLOG|everybody \(sysctl \S+kptr_restrict=2\))",
                         " ".join(r.out.split()))
        due = (None if restricted == "0" and int(paranoid) <= 1  # perf users may see them then
               else "everybody" if restricted == "2" else "those")
        ok((r.rc, said and said[1].split()[0]) == (0, due),
           f"with kptr_restrict={restricted} and no CAP_SYSLOG, it says who hides names", r)
    # Rights of the program file pass over none of what its user names.
    secret = os.path.join(place, "secret")
    for name in "secret", "secret.rec":
        shutil.copy(rec, os.path.join(place, name))
        os.chmod(os.path.join(place, name), 0o600)
    with open(secret, "w") as f:
        f.write("the first line of roots own\n")
    LOOK = "cap_bpf,cap_perfmon,cap_syslog,cap_sys_ptrace,cap_checkpoint_restore"
    if os.system(f"setcap {LOOK},cap_dac_read_search,cap_dac_override,cap_fowner+ep {path}"):
        skip("files of others by the program file's rights", "no capabilities on files here")
    else:
        for args in (("report", secret + ".rec"), ("plot", secret + ".rec"),
                     ("osnoise", "--input", secret), ("report", rec, "-o", secret),
                     ("run", *MEASURE, "--host-listen", "tcp:127.0.0.1:1", "--token", secret)):
            r = culprit(*args, path=path, prefix=NOBODY)
            ok(r.rc == 1 and "ermission denied" in r.err and "roots own" not in r.err + r.out,
               f"{args[0]}{len(args)}: with the program file's rights nobody opens root's file",
               r)
        ready = os.path.join(home, "ready")
        proc = lib.spawn("run", "-c", cpu, "-d", "1h", "-q", "--user-stacks", "--ready-file",
                         ready, path=path, prefix=NOBODY)
        lib.await_ready(proc, ready)
        caps = {lib.read(f"/proc/{pid}/comm"):
                int(re.search("CapEff:\t(.*)", lib.read(f"/proc/{pid}/status"))[1], 16)
                for pid in lib.children(proc.pid)}
        os.kill(proc.pid, 15)
        r = lib.finish(proc)
        ok(any(c & READ for c in caps.values()) and "--user-stacks: without" not in r.err,
           "but who looks at /proc/PID for --user-stacks has its own", caps, r.err)
        # Paths that culprit itself names are another thing, and so are rights of a service.
        if os.path.exists("/dev/cpu_dma_latency"):
            r = culprit("sleep", *MEASURE, "--dma-latency", path=path, prefix=NOBODY)
            is_((r.rc, r.err), (0, ""), "/dev/cpu_dma_latency is culprit's to open")
        service = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                   "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
        for what in path, CULPRIT:
            r = culprit("report", secret + ".rec", path=what, prefix=service)
            ok(r.rc == 0 or "etpriv" in r.err, "a service reads with its own rights", what, r)
    os.system(f"setcap -r {path}")
    os.chmod(path, 0o4755)
    r = culprit("report", rec, path=path, prefix=NOBODY)
    os.chmod(path, 0o755)
    ok(os.statvfs(place).f_flag & os.ST_NOSUID or
       r.rc == 1 and r.err.count("\n") == 1 and "as of a setuid program" in r.err,
       "nor does it run setuid", r)
now = []
for command, caps in table if LONG else [t for t in table if t[0][0] in ("run", "clock")]:
    if now != caps:
        if os.system(f"setcap {','.join(caps).lower() + '+ep' if caps else '-r'} {path}"):
            skip(" ".join(command), "no capabilities on files here")
            continue
        now = caps
    args = (*command, *VALUES.get(command[0], MEASURE))
    r = (on_terminal(args) if command[0] == "top" else
         culprit(*args, path=path, prefix=NOBODY))
    hidden = "CAP_SYSLOG" in caps and re.search("functions have no\\s+names", r.out)
    ok(r.rc in ((0, 2) if command[0] == "audit" else (0,)) and r.out and not hidden,
       f"nobody, with {', '.join(caps) or 'no right'}: {' '.join(command)}", r)
shutil.rmtree(place)
done()
