#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: the report made from one is, byte for byte, what the run printed; one that was cut
off reads up to there."""
import contextlib
import datetime
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

import lib
from lib import culprit, done, is_, ok

sys.path.insert(1, os.path.join(lib.ROOT, "tests/cli"))
import forged  # noqa: E402

lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
work = tempfile.mkdtemp()


def at(name):
    return os.path.join(work, name)


# ---- byte for byte ----
noise = lib.spawn("mix", "-c", str(cpu), "-n", "300", "-g", "5ms", path=lib.POKE)
begins = json.loads(noise.stdout.readline())["start_ns"]  # after a while: it arms timers first
time.sleep(max(0, begins - time.monotonic_ns()) / 1e9)
its_threads = {int(tid) for tid in os.listdir(f"/proc/{noise.pid}/task")}
for fmt, more in ("json", ("--command-lines",)), ("text", ("--stacks", "-P", "f:3")):
    rec, live, offline = at(fmt + str(len(more)) + ".rec"), at("live"), at("offline")
    r = culprit("run", "-c", str(cpu), "-d", "300ms", "-q", "-f", fmt, *more, "-r", rec, "-o", live)
    if lib.starved(r):
        lib.not_judged(f"a run with {fmt} {' '.join(more)}", r.err.strip())
        continue
    ok(r.rc == 0, f"a run with {fmt} {' '.join(more)} is recorded", r)
    r = culprit("report", rec, "-f", fmt, "-o", offline, *[m for m in more if m == "--stacks"])
    ok(r.rc == 0 and open(live, "rb").read() == open(offline, "rb").read()
       and os.path.getsize(live) > 1000,
       "the report of the recording is the run's, byte for byte", r,
       subprocess.run(["diff", live, offline], capture_output=True, text=True).stdout[:2000])
    if fmt == "json":
        rows = [s for c in json.load(open(live))["cpus"] for s in c["sources"]]
        # The rows of poke, and poke as an asker; on a busy machine it may have had no turn.
        its = [x.get("command_line", "")[:240] for s in rows for x in (s, *s["origins"])
               if {x.get("id"), x.get("pid")} & its_threads]
        if its:
            is_(set(its), {" ".join(noise.args)[:240]},
                "and has the command line of who made noise")
        else:
            lib.not_judged("the command line of who made noise", "it had no turn in the window")
noise.terminate()
lib.finish(noise)


def make_noise():
    """Noise that makes the recordings grow, for 100 s: poke makes no more."""
    return lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "1ms", path=lib.POKE)


noise = make_noise()

# ---- record ----
rec = at("a.rec")
r = culprit("record", "-c", str(cpu), "-d", "600ms", "-q", rec)
ok(r.rc == 0 and re.match(re.escape(rec) + r": [1-9][\d.]* m?s of 1 CPU", r.out)
   and "culprit report" in r.out, "record says in a line what it has", r)
whole = json.loads(culprit("report", rec, "-f", "json").out)
is_(whole["run"]["incomplete"], None, "a whole recording lacks nothing")

# ---- a thread that has ended is not to be moved ----
rec = at("ended.rec")
with lib.opened("run", "-c", str(cpu), "-d", "30s", "-q", "-f", "json", "-r", rec) as run:
    gone = lib.run_poke(cpu, "thread", "-n", "20")
for what, said in (("run", run.result.out), ("recording", culprit("report", rec, "-f",
                                                                  "json").out)):
    rows = [s["advice"] for s in lib.of_pokes(json.loads(said), cpu, gone)]
    ok(rows and all(not a or "taskset -pc" not in a for a in rows)
       and any(a and "it has ended: start " in a or "isolcpus" in (a or "") for a in rows),
       f"{what}: a thread that has ended is not to be moved", *rows)
rec = at("a.rec")

# ---- it gives nobody the kernel's addresses, and itself only to its owner ----
is_(oct(os.stat(rec).st_mode & 0o777), "0o600", "only its owner reads it")
FORMATS = ("text", "json", "markdown", "html", "folded", "hgrm", "hlog", "openmetrics",
           "prometheus", "csv", "jsonl", "perfetto")
KERNEL = 1 << 63  # the kernel's half of all addresses
symbols, code = set(), {}  # code: of the kernel and of each module, its first and last function
with open("/proc/kallsyms") as f:
    for address, kind, _, *module in map(str.split, f):
        address = int(address, 16)
        if address >= KERNEL:
            symbols.add(address)
            if kind in "tT" and module != ["[bpf]"]:
                first, last = code.get(str(module), (address, address))
                code[str(module)] = min(first, address), max(last, address)


def addresses_in(data):
    """Those of symbols, and all inside of functions, as bytes, as numbers of seven bits a byte, and
    in hexadecimal or decimal digits.

    Eight bytes that have nothing to do with each other are no such address by chance: those that
    stand for addresses are random, and one window in 2^64 / 2^26 (64 MiB of code) is one, of less
    than 10^5 windows: 10^-7. What is -1 in records, and so like its upper half, stands behind a
    small number.
    """
    found = {struct.unpack("<Q", x)[0] for x in re.findall(rb"(?=(.{7}\xff))", data, re.S)}
    found |= {forged.Reader(x).number() for x in re.findall(rb"(?=([\x80-\xff]{9}\x01))", data)}
    found |= {int(x, 16) for x in re.findall(rb"(?i)(?=(f[0-9a-f]{15}))", data)}
    found |= {int(x) for x in re.findall(rb"(?=(18446\d{15}))", data)}
    return {hex(x) for x in found
            if x in symbols or any(first <= x <= last for first, last in code.values())}


def addresses_of(rec, formats=()):
    """In the recording, unpacked, and in these formats made from it."""
    with open(rec, "rb") as f:
        parts = [payload for _, payload in forged.chunks(f.read())]
    for fmt in formats:
        r = culprit("report", rec, "-f", fmt, "-o", at("any"))
        if r.rc:
            raise RuntimeError(f"{fmt}: {r}")
        with open(at("any"), "rb") as f:
            parts.append(f.read())
    return set().union(*map(addresses_in, parts))


if len(symbols) > 1000:
    inside = max(code.values(), key=lambda c: c[1] - c[0])[0] + 5
    for what, bytes_of_it in (("a record", struct.pack("<Q", inside)),
                              ("a number", forged.number(inside)), ("a text", b"%x" % inside),
                              ("JSON", b"%d" % inside)):
        is_(addresses_in(b"\x7f" + bytes_of_it + b"\x01"), {hex(inside)},
            f"an address of the kernel would be found, in {what}")
    is_(addresses_of(rec, FORMATS), set(), "and none is in it, nor in what is made from it")
else:
    lib.skip("no address is in it", "the kernel shows nobody its addresses")
lib.check_sums(whole, "the report of a recording")
schema = json.loads(culprit("report", "--schema").out)
try:
    import jsonschema
    errors = jsonschema.Draft202012Validator(schema).iter_errors(whole)
    error = jsonschema.exceptions.best_match(errors)
    ok(not error, "it keeps to the schema", error)
except ImportError:
    lib.skip("it keeps to the schema", "the Debian package python3-jsonschema is not there")
before = open(rec, "rb").read()
r = culprit("record", "-c", str(cpu), "-d", "100ms", "-q", rec)
ok(r.rc == 1 and "exists already" in r.err and open(rec, "rb").read() == before,
   "a recording is not overwritten", r)
r = culprit("record", "--no-trace", "-c", str(cpu), "-d", "100ms", "-q", "--force", rec)
ok(r.rc == 0 and open(rec, "rb").read() != before, "with --force it is", r)
link, victim = os.path.join(work, "link.rec"), os.path.join(work, "victim")
with open(victim, "w") as f:
    f.write("precious")
os.symlink(victim, link)
r = culprit("record", "--no-trace", "-c", str(cpu), "-d", "100ms", "-q", "--force", link)
ok(r.rc == 0 and open(victim).read() == "precious" and not os.path.islink(link),
   "a link is replaced, and never followed", r)
os.unlink(link)
with open(rec, "wb") as f:
    f.write(before)

# ---- parts ----
def is_complete(records):
    """None is lost, and each is in its hiccup, but where a thread that left unseen may have taken
    the end of one with it (lib.broken_sums)."""
    return records["lost"] == 0 and records["join_mismatches"] <= records["unpaired"]


FROM, TO = 200_000_000, 400_000_000
part = json.loads(culprit("report", rec, "-f", "json", "--from", f"{FROM}ns", "--to",
                          f"{TO}ns").out)
lines = [json.loads(l) for l in culprit("report", rec, "-f", "jsonl").out.splitlines()]
inside = [l for l in lines if FROM <= l["at_ns"] < TO]
is_(part["cpus"][0]["hiccups"]["count"], len(inside),
    "--from and --to: the hiccups that begin between")
is_(part["cpus"][0]["hiccups"]["total_ns"], sum(l["duration_ns"] for l in inside), "and their time")
# A hiccup belongs, with all its time, to the part in which it begins.
begin, end = (max([at] + [l["at_ns"] + l["duration_ns"] for l in lines if l["at_ns"] < at])
              for at in (FROM, TO))
is_(part["cpus"][0]["observed_ns"], max(0, end - begin), "observed for as long")
ok(is_complete(part["cpus"][0]["records"]), "their records are their own, and none is missing",
   part["cpus"][0]["records"])
is_(len(lines), whole["cpus"][0]["hiccups"]["count"], "lines: one a hiccup")

# ---- killed ----
def first_child(pid):
    """The writing process: it is forked before all others."""
    return lib.children(pid)[0]


def covers(rec):
    """Whether what is in this file by now reads as more than 100 ms with hiccups."""
    r = culprit("report", rec, "-f", "json")
    c = json.loads(r.out)["cpus"][0] if r.rc == 0 else None
    return c and c["hiccups"]["count"] > 0 and c["observed_ns"] > 1e8


for who in ("the tracer", "the writing process"):
    rec = at(f"killed by {who}.rec")
    p = lib.spawn("record", "-c", str(cpu), "-d", "30s", "-q", "--force", rec)
    lib.await_gone(lambda: not covers(rec) and p.poll() is None, lib.READY_MAX_S)
    if p.poll() is None:  # nothing let it measure otherwise, which its Result knows
        os.kill(p.pid if who == "the tracer" else first_child(p.pid), signal.SIGKILL)
    if who != "the tracer":
        time.sleep(0.1)
        p.send_signal(signal.SIGINT)
    r = lib.finish(p)
    if who != "the tracer":
        ok(r.rc == 1 and "was killed" in r.err, f"killed: {who}: it is said", r)
    # the writing process goes when it has written everything that it was given
    lib.await_gone(lambda: [p for p in lib.marked() if p[0] != noise.pid])
    r = culprit("report", rec, "-f", "json")
    report = json.loads(r.out)
    ok(r.rc == 0 and "cut off after" in (report["run"]["incomplete"] or ""),
       f"killed: {who}: the report says where it ends",
       r.err, report["run"]["incomplete"])
    ok(covers(rec), f"killed: {who}: what was written is read", report["cpus"][0])

# ---- a full disk ----
small = at("small")
os.mkdir(small)
with lib.small_disk(small, "size=8k") as mounted:
    if mounted:
        r = culprit("run", "-c", str(cpu), "-d", "400ms", "-q", "-r",
                    os.path.join(small, "full.rec"), "-o", at("full.txt"))
        ok(r.rc == 1 and "No space left" in r.err and os.path.getsize(at("full.txt")) > 500,
           "a full disk ends the recording, not the run", r)
        r = culprit("report", os.path.join(small, "full.rec"), "-f", "json")
        ok(r.rc == 0 and "cut off" in json.loads(r.out)["run"]["incomplete"],
           "what found room is read", r.err)
    else:
        lib.skip("a full disk", "no tmpfs can be mounted here")

# ---- the flight recorder: the noise comes each millisecond ----
# Noise anew: beside others all of this file may take as long as one lasts.
noise.terminate()
lib.finish(noise)
noise = make_noise()


def kept(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def is_a_part(path, label, least_ns):
    r = culprit("report", path, "-f", "json")
    part = json.loads(r.out) if r.rc == 0 else None
    ok(part and part["run"]["incomplete"] is None and part["run"]["label"] == label
       and part["run"]["duration_ns"] >= least_ns, "what is kept is a recording", r.err, path,
       part and part["run"])
    if part:
        # nor has a report, then, which is made from this alone
        is_(addresses_of(path), set(), "which has no address of the kernel")
        cpus = part["cpus"][0]
        ok(is_complete(cpus["records"]), "and lacks nothing at its begin", cpus["records"])
        lib.check_sums(part, "a kept part")


folder, told, status = at("kept"), at("told"), at("status")
os.mkdir(folder)
# The command hangs, and is begun once: nothing waits for its end, nor does who reads what culprit
# says.
command = (f"env | sort > {told}.new; cat /proc/self/status > {status}; mv {told}.new {told}; "
           "exec sleep 1000 >/dev/null 2>&1")
r = culprit("record", "-c", str(cpu), "-d", "40s", "-q", "--last", "300ms", "--after", "200ms",
            "--when", "count>200/s", "--when", "hiccup>1h", "--then", "keep",
            "--then", f"exec:{command}", "--then", "stop", folder)
files = kept(folder)
ok(r.rc == 2 and len(files) == 1 and re.fullmatch(
    rf".*/kept/\d{{8}}T\d{{6}}\.\d{{3}}Z-cpu{cpu}-[\w.-]+\.rec", files[0])
   and f"{files[0]}: CPU {cpu} at +" in r.out and "count>200/s" in r.out,
   "a trigger keeps one file, says it, and stops", r, files)
is_a_part(files[0], "count>200/s", 200_000_000)
lib.await_gone(lambda: not os.path.exists(told))
env = dict(line.split("=", 1) for line in lib.read(told).splitlines() if "=" in line)
ok(env.get("CULPRIT_FILE") == files[0] and env.get("CULPRIT_CPU") == str(cpu)
   and env.get("CULPRIT_TRIGGER") == "count>200/s" and int(env.get("CULPRIT_NS", 0)) > 0,
   "the command is told what it was", env)
ok(re.search(r"^CapEff:\t0+$", lib.read(status), re.M)
   and re.search(r"^NoNewPrivs:\t1$", lib.read(status), re.M), "and has no capabilities",
   lib.read(status))


def hanging():
    return [pid for pid, comm in lib.marked() if comm == "sleep"]


lib.await_gone(lambda: not hanging())  # the shell becomes it behind the last of its commands
hangs = hanging()
ok("still runs" in r.err and len(hangs) == 1, "what hangs is left behind, and it is said", r, hangs)
for pid in hangs:
    os.kill(pid, signal.SIGKILL)
# A thread has any name: the command gets it on one line, escaped, and nothing begins with it.
NAMED = """
import ctypes, os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
ctypes.CDLL(None).prctl(15, b"-e\\n\\x1b[3$(id)`", 0, 0, 0)
while True:
    begin = time.monotonic()
    while time.monotonic() - begin < 0.02: pass
    time.sleep(0.01)
"""
named = lib.spawn("-c", NAMED, str(cpu), path=sys.executable)
SHOWN = r"thread -e\x0a\x1b[3$(id)`"
for args, starts, ends in (
        (("record", "-c", str(cpu), "--when", 'hiccup>10us by "-e*"'), "CPU ", SHOWN),
        (("watch", "-p", str(named.pid), "--when", "hiccup>10us"), SHOWN + " [", "")):
    where = ("-r", at("named.rec")) if args[0] == "watch" else (at("named.rec"), )
    r = culprit(*args, "-d", "60s", "-q", "--last", "100ms", "--after", "1ms", "--then", "stop",
                "--then", f"exec:env -0 >{told}.new; mv {told}.new {told}.{args[0]}", *where)
    if not ok(r.rc == 2, f"{args[0]}: a thread with a hostile name pulls a trigger", r):
        continue
    lib.await_gone(lambda: not os.path.exists(f"{told}.{args[0]}"))
    env = [v for v in lib.read(f"{told}.{args[0]}").split("\0") if v.startswith("CULPRIT_T")]
    text = [v.partition("=")[2] for v in env if v.startswith("CULPRIT_TEXT=")][:1] or [""]
    ok(text[0].startswith(starts) and text[0].endswith(ends) and SHOWN in text[0]
       and not any("\n" in v or "\x1b" in v for v in env), f"{args[0]}: and the command is told so",
       env)
named.kill()
named.wait()
folder = at("signalled")
os.mkdir(folder)
with lib.opened("record", "-c", str(cpu), "-d", "60s", "-q", "--last", "5s", "--after", "100ms",
                "--when", "hiccup>1h", "--when", "SIGUSR1", "--rate", "1/1h", folder) as run:
    is_(kept(folder), [], "nothing is on the disk before a trigger")
    for _ in range(2):
        run.proc.send_signal(signal.SIGUSR1)
        lib.await_gone(lambda: not kept(folder))
ok(run.result.rc == 0 and len(kept(folder)) == 1 and "sooner than --rate" in run.result.err
   and "SIGUSR1: 2 times" in run.result.err, "SIGUSR1 keeps; what is not kept is counted",
   run.result, kept(folder))
is_a_part(kept(folder)[0], "SIGUSR1", 100_000_000)

# A disk that is full for a while: what cannot be written uses up no place of --keep.
with lib.small_disk(small, "size=4m") as mounted:
    if mounted:
        with contextlib.suppress(OSError), open(os.path.join(small, "full"), "wb", 0) as f:
            while True:
                f.write(bytes(4096))
        with lib.opened("record", "-c", str(cpu), "-d", "60s", "-q", "--last", "100ms", "--after",
                        "1ms", "--when", "SIGUSR1", "--keep", "1", small) as run:
            run.proc.send_signal(signal.SIGUSR1)
            failed = run.proc.stderr.readline()
            lib.await_gone(lambda: len(kept(small)) > 1)
            left = kept(small)
            os.unlink(os.path.join(small, "full"))
            run.proc.send_signal(signal.SIGUSR1)
            lib.await_gone(lambda: not kept(small))
        ok("No space left" in failed and left == [os.path.join(small, "full")],
           "a full disk: it says so, and leaves nothing there", failed, left)
        ok(run.result.rc == 1 and len(kept(small)) == 1
           and "1 could not be written" in run.result.err,
           "and when there is room the next one is kept", run.result, kept(small))
        is_a_part(kept(small)[0], "SIGUSR1", 0)
    else:
        lib.skip("a disk that is full for a while", "no tmpfs can be mounted here")

# Nobody reads what it prints: the pipe is full from the begin.
folder, ready = at("unread"), at("unread.ready")
os.mkdir(folder)
reads, writes = os.pipe()
os.set_blocking(writes, False)
with contextlib.suppress(BlockingIOError):
    while True:
        os.write(writes, bytes(4096))
os.set_blocking(writes, True)
proc = subprocess.Popen([lib.CULPRIT, "record", "-c", str(cpu), "-d", "60s", "-q", "--last", "5s",
                         "--after", "100ms", "--when", "SIGUSR1", "--ready-file", ready, folder],
                        stdout=writes, stderr=subprocess.PIPE, text=True)
lib.await_gone(lambda: not os.path.exists(ready) and proc.poll() is None)
proc.send_signal(signal.SIGUSR1)
lib.await_gone(lambda: not kept(folder) and proc.poll() is None)
proc.send_signal(signal.SIGINT)
try:
    err = proc.communicate(timeout=30)[1]
except subprocess.TimeoutExpired:
    proc.kill()
    err = "it waited for a reader: " + proc.communicate()[1]
r = lib.Result(proc.returncode, "", err, 0)
ok(r.rc == 0 and len(kept(folder)) == 1
   and "nobody read what was printed: lines that are missing: 1\n" in r.err,
   "a reader who does not read does not stop it, and it says so", r)
os.close(reads)
os.close(writes)

# An instance of the kernel's tracer: opened before rights are given away, and off at the trigger.
instances, name = "/sys/kernel/tracing/instances", f"culprit-test-{os.getpid()}"
SHORT = ("record", "-c", str(cpu), "--no-trace", "-q", "-d", "100ms", "--last", "1s")
if os.path.isdir(instances) and os.access(instances, os.W_OK):
    os.mkdir(f"{instances}/{name}")
    try:
        found = []
        for when, out in (("hiccup>1h", at("no.rec")), ("end", at("off.rec"))):
            r = culprit(*SHORT, "--when", when, "--then", f"trace_off:{name}", out)
            found.append((r.rc, lib.read(f"{instances}/{name}/tracing_on")))
        is_(found, [(0, "1"), (0, "0")], "trace_off: the instance is off when a trigger came")
    finally:
        os.rmdir(f"{instances}/{name}")
    r = culprit(*SHORT, "--then", f"trace_off:{name}", at("none.rec"))
    ok(r.rc == 1 and f"cannot open {instances}/{name}/tracing_on" in r.err
       and r.err.count("\n") == 1, "one that is not there is refused", r)
else:
    lib.skip("trace_off", "no instances of the tracer may be made here")
# The same run begins by the wall clock, and tells the manager of a service how it goes, until that
# has heard three signs of life. Between two of them are 200 ms or more: 400 ms in all.
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
    manager.bind(at("notify"))
    os.environ.update(NOTIFY_SOCKET=at("notify"), WATCHDOG_USEC="400000")
    asked = time.time()
    proc = lib.spawn("record", "-c", str(cpu), "-d", "1m", "-q", "--last", "5s", "--begin", "/2s",
                     at("end.rec"))
    del os.environ["NOTIFY_SOCKET"], os.environ["WATCHDOG_USEC"]
    manager.setblocking(False)
    said = []

    def hear():
        with contextlib.suppress(BlockingIOError):
            while True:
                said.append(manager.recv(4096).decode())
        return said.count("WATCHDOG=1")

    lib.await_gone(lambda: hear() < 3 and proc.poll() is None)
    proc.send_signal(signal.SIGINT)
    r = lib.finish(proc)
    hear()
is_(r.rc, 0, "without --when the end is kept")
is_a_part(at("end.rec"), "end", 400_000_000)
run = json.loads(culprit("report", at("end.rec"), "-f", "json").out)["run"]
# Not before the first multiple of two seconds after the command was given: exact, however late the
# machine is, and without waiting it would hold only where the start itself passes such a second.
started = datetime.datetime.fromisoformat(run["started"][:19] + "+00:00").timestamp()
begins, first = "--begin /2s begins with a multiple of two seconds", (asked // 2 + 1) * 2
if started >= first and started % 2:  # in a second between: late by a second, or not by the clock
    lib.not_judged(begins, f"it began at {run['started']}")
else:
    ok(started >= first, begins, run["started"], asked)
ok(said[:1] == ["READY=1"] and said[-1:] == ["STOPPING=1"] and "WATCHDOG=1" in said
   and any(re.match("STATUS=.* of 60.0 s · .* hiccups", s) for s in said),
   "a manager is told that it is ready, how it goes, and that it stops", said)

# ---- private ----
# It comes upon the sampler by its priority, however many others want the CPU.
planted = subprocess.Popen([sys.executable, "-c", f"""import ctypes, os, time
os.sched_setaffinity(0, {{{cpu}}})
os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
ctypes.CDLL(None).prctl(15, b"Zq-comm", 0, 0, 0)
while True: time.sleep(0.001)"""])
lib.await_gone(lambda: lib.read(f"/proc/{planted.pid}/comm") != "Zq-comm")
hashed = 0xcbf29ce484222325  # FNV-1a of the comm, of which a command line's number is made
for byte in b"Zq-comm":
    hashed = (hashed ^ byte) * 0x100000001b3 % 2**64
SECRET = re.compile(rb"Zq-\w+|root=\S+|\.service|\.slice|run/dmesg|run/tasks|"
                    + re.escape(forged.number(planted.pid << 32 | hashed % 2**32)))
held = {}
for how in (), ("--private",):
    rec = at("private.rec")
    r = culprit("record", "-c", str(cpu), "-d", "200ms", "-q", "--force", "--command-lines", *how,
                rec,
                prefix=("unshare", "--uts", "sh", "-c", 'hostname Zq-host; exec "$@"', "sh"))
    with open(rec, "rb") as f:
        held[how] = [set(SECRET.findall(p)) for _, p in forged.chunks(f.read())]
    ok(r.rc == 0, f"record {' '.join(how)}", r)
folder = at("private")
os.mkdir(folder)
with lib.opened("record", "-c", str(cpu), "-d", "60s", "-q", "--last", "100ms", "--after", "10ms",
                "--private", "--when", "hiccup>1us by Zq-comm", "--keep", "1", folder) as run:
    lib.await_gone(lambda: not kept(folder))
    time.sleep(0.3)  # for more
r = run.result
ok(r.rc == 0 and [re.sub(".*cpu", "", f) for f in kept(folder)] == [f"{cpu}-thread.rec"],
   "nor in the name of one that a trigger keeps, of which there are as many as --keep says", r,
   kept(folder))
planted.terminate()
planted.wait()
ok({b"Zq-comm", b"Zq-host", forged.number(planted.pid << 32 | hashed % 2**32)}
   <= set().union(*held[()]), "names are in a recording", held[()])
is_(set().union(*held[("--private", )]), set(), "but not in a private one")
r = culprit("report", rec)
ok(r.rc == 0 and "left out: names of the host" in r.out and "user-" in r.out and
   re.search(r"\[\w+/|vector +local_timer", r.out), "of which there is a report that says so", r)

rec = at("removed.rec")
with lib.opened("record", "-c", str(cpu), "-d", "60s", "-q", rec) as run:
    os.unlink(rec)
r = run.result
ok(r.rc == 1 and f"{rec} is not there any more" in r.err and "culprit report" not in r.out + r.err,
   "a recording that is removed meanwhile is not said to be there", r)
if os.environ.get("LONG"):  # for as long as the writing process may take to finish, 30 s
    rec = at("stopped.rec")
    with lib.opened("run", "-c", str(cpu), "-d", "60s", "-f", "json", "-r", rec) as run:
        held = {}
        for pid, _ in lib.marked():
            with contextlib.suppress(OSError):
                held[pid] = [os.readlink(fd.path) for fd in os.scandir(f"/proc/{pid}/fd")]
        writers = [pid for pid, files in held.items() if rec in files and pid != run.proc.pid]
        for pid in writers:
            os.kill(pid, signal.SIGSTOP)
        begun = time.monotonic()
    r = run.result
    ok(len(writers) == 1 and r.rc == 1 and "stops here: the rest was not taken in time" in r.err
       and r.out.startswith("{"), "a writing process that was stopped does not hold up the end", r,
       writers, time.monotonic() - begun)
    is_([p for p in lib.marked() if p[0] in writers], [], "and is not left")

noise.terminate()
lib.finish(noise)
subprocess.run(["rm", "-rf", work])
done()
