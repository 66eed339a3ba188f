#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A run without privileges; one that ends early, and one that crosses a limit, says so and still
gives its report."""
import contextlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import lib
from lib import CULPRIT, culprit, cpu_of, done, is_, ok, skip

lib.need_root()
cpu = lib.pick_target(shared=True)
ON = ("-c", str(cpu))
# ---- without privileges ----

if shutil.which("setpriv"):
    with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
        os.chmod(place, 0o755)
        public = shutil.copy(CULPRIT, place)
        nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                  "path": public}
        r = culprit("run", *ON, "-d", "200ms", "-q", "--no-trace", **nobody)
        is_(r.rc, 0, "--no-trace needs no privileges")
        ok(re.search("not traced|no.trace|attributes nothing|names nothing", r.out),
           "and says that it names nothing", r)
        r = culprit("run", *ON, "-d", "200ms", "-q", "--no-trace", "-f", "json", **nobody)
        report = json.loads(r.out) if r.rc == 0 else {}
        ok(report and cpu_of(report, cpu)["time"]["attributed_ns"] == 0,
           "its JSON attributes nothing", r)
        # as in 10-run.t: in the time that it had
        ok(report and (c := cpu_of(report, cpu))["loop"]["count"]
           > (c["observed_ns"] - c["hiccups"]["total_ns"]) / 1000 - 1,
           "but the sampler did measure", r)
        if report:
            lib.check_sums(report, "--no-trace")
        # ---- nor another process: as a user of whom there is none ----
        kept = os.path.join(place, "kept")
        user = str((1 << 30) + os.getpid())
        os.mkdir(kept)
        os.chown(kept, int(user), int(user))
        alone = ("setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups")
        last = ("prlimit", "--nproc=1", *alone)
        r = culprit("record", *ON, "-d", "200ms", "-q", "--no-trace", kept + "/a.rec", prefix=last,
                    path=public)
        is_((r.rc, r.err, os.listdir(kept)),
            (1, f"culprit: recording to {kept}/a.rec: no process can be started for it: Resource "
             "temporarily unavailable\n", []), "a limit of processes: the reason, and no file")
        last = ("prlimit", "--nproc=3", *alone, *(
            f"--{which}-caps=+bpf,+perfmon,+syslog" for which in ("inh", "ambient")))
        r = culprit("run", *ON, "-d", "200ms", "-q", "--user-stacks", prefix=last, path=public)
        name = "--user-stacks under a limit of processes: the reason"
        if os.path.exists("/sys/kernel/btf/vmlinux") and "--user-stacks: without" in r.err:
            is_((r.rc, r.err.splitlines()[-1]),
                (1, "culprit: --user-stacks: no process can be started for it: Resource "
                 "temporarily unavailable"), name)
        else:
            skip(name, "no types of the kernel's, or nobody may trace here")
else:
    skip("without privileges", "no setpriv")

# ---- an early end, and limits ----

trace = () if os.path.exists("/sys/kernel/btf/vmlinux") else ("--no-trace",)
with lib.ready_file() as path:
    proc = lib.spawn("run", *ON, "-d", "60s", "-f", "json", "-q", "--ready-file", path, *trace)
    lib.await_ready(proc, path)
    os.killpg(proc.pid, signal.SIGINT)  # as a terminal sends Ctrl-C: to the samplers, too
    r = lib.finish(proc)
is_(r.rc, 0, "Ctrl-C: exit 0")
ok(r.out and not lib.broken_sums(json.loads(r.out)), "Ctrl-C: the full report", r)
is_(r.err, "", "Ctrl-C: no word on stderr")

# The samplers would spin on, whatever -d says. A group without a parent in its session ignores it.
with lib.opened("run", *ON, "-d", "1s", "-q", "--no-trace", stop=False, start_new_session=False,
                process_group=0) as run:
    os.killpg(run.proc.pid, signal.SIGTSTP)
r = run.result
ok(r.rc == 0 and r.out and not r.err, "Ctrl-Z does not stop it: it ends after its time", r)

# Lines go to a pipe that is full when the signal comes: they are written all the same, and whole.
with lib.ready_file() as path:
    proc = lib.spawn("run", *ON, "-d", "60s", "-f", "jsonl", "-q", "-t", "200ns", "--no-trace",
                     "--ready-file", path, pipesize=4096)
    lib.await_ready(proc, path)
    lib.await_gone(lambda: "pipe_write" not in lib.read(f"/proc/{proc.pid}/wchan"))
    os.kill(proc.pid, signal.SIGTERM)
    time.sleep(0.2)  # signals that would end it now do so before anybody reads
    r = lib.finish(proc)  # through so small a pipe an emulated machine takes its time
# Lines that came while nobody read, and found no room, are missing: the run says so, and nothing
# else, but that a turn of the loop takes longer than the threshold, as in an emulated guest.
raised = (r"(culprit: a threshold of 200 ns is too short: the sampler's own loop would be hiccups; "
          rf"on CPU {cpu} they begin at \S+ ns\n)?")
missing = r"(culprit: CPU \d+: \S+ hiccups are missing here, [^\n]+\n)?"
ok(r.rc == 0 and re.fullmatch(raised + missing, r.err),
   "SIGTERM while nobody reads its lines: exit 0, no word but of what is missing", r.rc, r.err)
ok(r.out.endswith("\n") and all(json.loads(line) for line in r.out.splitlines()),
   "and no line is torn", r.out[-200:])

# ---- all CPUs ----
everywhere = sorted(lib.online())
r = culprit("run", "-c", "all", "-d", "200ms", "-q", "--no-trace", "-f", "json")
ok(r.rc == 0 and [c["cpu"] for c in json.loads(r.out)["cpus"]] == everywhere and not r.err,
   "-c all --no-trace: each CPU is measured", r)
if trace == ():
    r = culprit("run", "-c", "all", "-d", "200ms", "-q", "-f", "json")
    report = json.loads(r.out)
    left_out = set(everywhere) - {c["cpu"] for c in report["cpus"]}
    ok(r.rc == 0 and len(left_out) == 1, "-c all: each but one", r)
    ok(re.search(rf"^culprit: -c all: cpu {min(left_out)} is left out", r.err),
       "and it says which", r)
    ok(left_out >= set(report["run"]["housekeeping"]), "which culprit itself uses", report["run"])

# ---- a kernel that is locked down: as securityfs would say it ----
LOCKED = """mount -t tmpfs none /sys/kernel/security && cd /sys/kernel/security &&
echo 'none integrity [confidentiality]' >lockdown && exec "$0" "$@" """
PAIR = ("-c", f"{min(lib.online() - {cpu})},{cpu}")
if trace == () and os.path.isdir("/sys/kernel/security") and shutil.which("unshare"):
    inside = {"prefix": ("unshare", "-m", "sh", "-c", LOCKED)}
    for args in (("run", *ON), ("record", *ON, "/nonexistent"), ("watch", *ON), ("sleep", *ON),
                 ("syscall", *ON), ("pingpong", *PAIR), ("queue", *PAIR), ("osnoise", *ON)):
        r = culprit(*args, **inside)
        ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and "is locked down" in r.err,
           f"{args[0]} under lockdown=confidentiality: one line", r)
    r = culprit("run", *ON, "-d", "100ms", "-q", "--no-trace", **inside)
    ok(r.rc == 0 and not r.err, "which --no-trace can do without", r)
else:
    skip("lockdown", "no tracing, no securityfs or no unshare here")

# ---- types of the kernel's that end within one ----
if trace == () and shutil.which("unshare"):
    with tempfile.NamedTemporaryFile() as cut:
        with open("/sys/kernel/btf/vmlinux", "rb") as f:
            types = bytearray(f.read())
        size = int.from_bytes(types[12:16], sys.byteorder)  # type_len of struct btf_header
        types[12:16] = (size - 4).to_bytes(4, sys.byteorder)
        cut.write(types)
        cut.flush()
        r = culprit("run", *ON, "-d", "100ms", prefix=(
            "unshare", "-m", "sh", "-c",
            f'mount --bind {cut.name} /sys/kernel/btf/vmlinux && exec "$0" "$@"'))
        ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and "type information" in r.err,
           "types that cannot be read: one line, and none of libbpf's", r)
    for limit, why in (("ulimit -n 4", "(Too many open files): let culprit have more files open "
                                       "(ulimit -n)"),
                       ("mount -t tmpfs none /sys/kernel/btf", "(No such file or directory): use a "
                        "kernel with CONFIG_DEBUG_INFO_BTF=y")):
        r = culprit("run", *ON, "-d", "100ms",
                    prefix=("unshare", "-m", "sh", "-c", f'{limit} && exec "$0" "$@"'))
        is_((r.rc, r.err), (1, "culprit: tracing needs the kernel's type information, and "
                            f"/sys/kernel/btf/vmlinux cannot be read {why}; --no-trace measures "
                            "without\n"), f"{limit}: what helps against that")
else:
    skip("types that cannot be read", "no tracing or no unshare here")

# ---- less than was asked for ----
def kill(sampler):
    os.kill(sampler, signal.SIGKILL)


def kill_after_hiccup(sampler):
    """Kills it when it has told of a hiccup, which it does once it has come back: poke's end is too
    early; and the first may have begun before the window."""
    before = shared(sampler, HEAD)

    def few():
        lib.run_poke(cpu, "timer", "-n", "1")
        return shared(sampler, HEAD) < before + 2

    lib.await_gone(few)
    kill(sampler)


def move(sampler):
    os.sched_setaffinity(sampler, lib.ALLOWED - {cpu})


def cut_short(act, *args):
    """culprit whose sampler is killed or moved in the window, which otherwise would last a
    minute."""
    with lib.opened(*args, "-q", "--no-trace", *ON, "-d", "1m", stop=False) as run:
        act(next(pid for pid, comm in lib.marked() if comm == "culprit-sampler"))
    return run.result


PHASE, HEAD, LEARNED = (64, 4), (128, 8), 3  # sampler.h: struct sampler_shm, enum sampler_phase


def shared(sampler, member):
    """A (offset, size) of what a sampler without probes shares with culprit: its one shared
    mapping."""
    with contextlib.suppress(OSError):
        for line in lib.read(f"/proc/{sampler}/maps").splitlines():
            if " rw-s " in line:
                with open(f"/proc/{sampler}/mem", "rb") as f:
                    f.seek(int(line.split("-")[0], 16) + member[0])
                    return int.from_bytes(f.read(member[1]), sys.byteorder)
    return None


def killed_before_window():
    """culprit whose sampler is killed when it has learned all: before the window opens, unless this
    test was kept waiting."""
    proc = lib.spawn("run", *ON, "-d", "1m", "-q", "--no-trace", "-f", "json")
    deadline = time.monotonic() + lib.HANG_S
    while proc.poll() is None and time.monotonic() < deadline:
        samplers = lib.children(proc.pid)
        if samplers and (shared(samplers[0], PHASE) or 0) >= LEARNED:
            os.kill(samplers[0], signal.SIGKILL)
            break
        time.sleep(0.0002)
    return lib.finish(proc)


r = killed_before_window()
is_(r.rc, 3, "a sampler that dies right before its window opens: exit 3")
ok(re.fullmatch(rf"culprit: incomplete: cpu {cpu} ended early, after [^\n]*: its sampler was "
                r"killed\n", r.err), "and it says so in one line", r)
ok(r.seconds < lib.AT_ONCE_S, "without waiting for it", r.seconds)
ok(r.out and cpu_of(json.loads(r.out), cpu)["ended_early"] == "its sampler was killed",
   "and so does its report", r)

with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    rec, prom = os.path.join(place, "rec"), os.path.join(place, "x.prom")
    for act, why, *args in ((kill, "killed", "run", "--max-hiccup", "10s", "-f", "json"),
                            (move, "moved", "run", "--textfile", prom),
                            (kill, "killed", "record", rec),
                            (kill, "killed", "run", "--style", "sysjitter"),
                            (kill, "killed", "run", "-f", "jsonl", "-o", "/dev/null"),
                            (move, "moved", "sleep", "-i", "1ms"),
                            (move, "moved", "syscall")):
        r = cut_short(act, *args)
        name = " ".join(a for a in args[:2] if a != rec) + f", whose sampler is {why}"
        is_(r.rc, 3, f"{name}: exit 3")
        ok(re.fullmatch(rf"culprit: incomplete: cpu {cpu} ended early, after [^\n]*: its sampler "
                        r"was "
                        rf"{why}[^\n]*\n", r.err), f"{name}: says so in one line", r)
        if "json" in args:
            ok(json.loads(r.out)["run"]["incomplete"] == r.err[len("culprit: incomplete: "):-1],
               "JSON says the same", r)
        elif args[0] == "sleep":
            ok("\nincomplete: " in r.out and "\n  ended early, after " in r.out,
               "and so does text", r)
    with open(prom) as f:
        metrics = f.read()
    ok("\nculprit_incomplete 1\n" in metrics and f'\nculprit_ended_early{{cpu="{cpu}"}} 1\n'
       in metrics, "and metrics", metrics)
    r = culprit("report", rec, "-f", "json")
    ok(r.rc == 0 and "was killed" in json.loads(r.out)["run"]["incomplete"],
       "and the recording's report", r)
    r = cut_short(kill_after_hiccup, "run", "-t", "1us", "--max-hiccup", "1us")
    ok(r.rc == 3 and len(r.err.splitlines()) == 2 and "--max-hiccup" in r.err,
       "it comes before a limit that was crossed, which is said, too", r)
    r = cut_short(kill, "run", "-o", "/dev/full")
    is_(r.rc, 1, "an error comes before it")


def window_s(report):
    return json.loads(report)["run"]["duration_ns"] / 1e9 if report else float("inf")


with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    kept = os.path.join(place, "report")
    # noise, to have something to lose, for 200 s: a busy machine took 50 s for what needs it
    noise = lib.spawn("timer", *ON, "-n", "100000", "-g", "2ms", path=lib.POKE)
    for limit in ("--max-hiccup", "1us", "-t", "1us"), ("--max-lost", "0.0001"):
        r = culprit("run", *ON, "-d", "150ms", "-q", "-f", "json", "-o", kept, *limit, "--no-trace")
        is_(r.rc, 2, f"{' '.join(limit)}: exit 2")
        ok(len(r.err.splitlines()) == 1 and limit[0] in r.err,
           f"{' '.join(limit)}: says which was crossed", r)
        with open(kept) as f:
            ok(not lib.broken_sums(json.load(f)),
               f"{' '.join(limit)}: the report is written all the same")
    r = culprit("run", *ON, "-d", "150ms", "-q", "--max-hiccup", "60s", "--max-lost", "100",
                "--no-trace")
    is_(r.rc, 0, "limits that are not crossed: exit 0")
    for args in (("record", *ON, "-d", "150ms", "-q", "-t", "1us", "--no-trace",
                  os.path.join(place, "rec")),
                 ("sleep", *ON, "-n", "20", "-i", "1ms", "-q", "--no-trace")):
        r = culprit(*args, "--max-hiccup", "1us")
        ok(r.rc == 2 and r.out and "--max-hiccup" in r.err, f"{args[0]} --max-hiccup: exit 2", r)
    # Triggers stop a run at once: the noise comes each 2 ms. "At once" is of the window: on a busy
    # machine it may be long before it opens.
    took = []
    for args in (("run", "-d", "60s", "--no-trace", "-o", kept),
                 ("sleep", "-n", "100000", "-i", "1ms", "-t", "1us", "--no-trace"),
                 ("syscall", "-d", "60s", "-t", "1ns", "--no-trace")):
        args += "-f", "json"
        r = culprit(*args, *ON, "-q", "--stop-on", "count>1h/s", "--stop-on", "hiccup>1ns")
        ok(r.rc == 1 and "'count>1h/s': '1h': " in r.err, "--stop-on: a mistake is said", r)
        r = culprit(*args, *ON, "-q", "--stop-on", "hiccup>1h", "--stop-on", "count>3/s")
        ok(r.rc == 2 and re.fullmatch(
            rf"culprit: stops: CPU {cpu} at \+.*: count>3/s: with the hiccup of .*\n", r.err),
           f"{args[0]} --stop-on: exit 2, and says what it was", r)
        took.append(window_s(r.out or lib.read(kept)))
    # Those that take two CPUs, whose every operation is longer, and a watched program.
    target, other = str(cpu), str(min(lib.online() - {cpu}))
    for args in (("pingpong", "--pin", f"{other},{target}", "-n", "1000000000", "--no-trace",
                  "-t", "1ns"),
                 ("queue", "--producer", other, "--accumulator", target, "--journaller", "none",
                  "-n", "1000000000", "--no-trace", "-t", "1ns"),
                 ("watch", "-p", str(noise.pid), "-d", "60s")):
        r = culprit(*args, "-q", "-f", "json", "--stop-on", "hiccup>1h", "--stop-on", "hiccup>1ns")
        ok(r.rc == 2 and re.fullmatch(r"culprit: stops: .* at \+.*: hiccup>1ns: .*\n", r.err)
           and r.out, f"{args[0]} --stop-on: exit 2, and says what it was", r)
        took.append(window_s(r.out))
    ok(max(took) < lib.AT_ONCE_S, "and ends at once", took)
    with open(kept) as f:
        report = json.load(f)
    ok(not lib.broken_sums(report) and 4 <= cpu_of(report, cpu)["hiccups"]["count"],
       "with the full report", report)
    noise.terminate()
    lib.finish(noise)

is_(lib.await_gone(lib.marked), [], "nothing is left running")
done()
