#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run --host-listen and watch --to. Over vsock, both ends in one guest; with LONG=1 in one of
arm64, too, and over TCP, between a guest in real time and this machine, on which there is noise
that the guest knows nothing of: threads, interrupts, softirqs, a quota and stops of the emulator.
Each has its name in the guest's report, and at no other time anything has it. Recordings of other
times are no pair.

    LONG=1 [POKES=1000] 46-hosted.t    so many threads, a fifth of that of each of the others
"""
import bisect
import contextlib
import ctypes
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import time

from guests import LONG, lab, need, run
from lib import (CULPRIT, POKE, culprit, diag, done, finish, free_port, is_, ok, remove_group,
                 skip, spawn, stat, take_turn)
import channel

KERNEL, ARM64 = "6.12", "6.12:arm64"
POKES = int(os.environ.get("POKES", "1000"))
ROUNDS = max(POKES // 100, 1)
OTHERS = POKES // 5
LEAST_NS = 100_000  # noise of that length and more is judged
NEAR_NS = 300_000   # noise begins so long after its order, at most
VSOCK = """
culprit run -c 1 --host-listen vsock:9171 --token /none 2>/tmp/out/none
(umask 077; head -c 32 /dev/urandom | base64 >/tmp/token)
culprit run -c 1 --host-listen vsock:9171 --token /tmp/token 2>/tmp/out/without
for m in vsock vmw_vsock_virtio_transport_common vsock_loopback; do insmod /$m.ko || exit; done
culprit watch -c 1 -q --to vsock:1:9171 --token /tmp/token 2>/tmp/out/nobody
culprit run -c 1 -d 300ms -q --no-audit --host-listen vsock:9171 --token /tmp/token \\
	-r /tmp/guest.rec -f json -o /tmp/out/run.json 2>/tmp/out/run.err & run=$!
for i in $(seq 100); do
	culprit watch -c 1 -q --to vsock:1:9171 --token /tmp/token -f json -o /tmp/out/watch.json \\
		2>/tmp/out/watch.err && break
	usleep 100000
done
wait $run; echo $? >/tmp/out/rc
"""
TCP = """
insmod /e1000.ko
ifconfig eth0 10.0.2.15 up
chmod 600 /token
culprit run -c 1 -H 0 -d forever -t 20us -q --no-audit --host-listen tcp:10.0.2.15:9171 \\
	--token /token -r /tmp/out/guest.rec -f jsonl -o /tmp/out/lines --ready-file /tmp/ready \\
	2>/tmp/out/err & run=$!
until [ -e /tmp/ready ] || ! kill -0 $run; do usleep 50000; done
echo READY >/dev/console
sleep SECONDS
kill -INT $run
wait $run; echo $? >/tmp/out/rc
"""
PARTS = """
for i in $(seq COUNT); do
	culprit record -c 1 -H 0 -d 5s -t 20us -q --no-audit --ready-file /tmp/ready \\
		/tmp/out/$i.rec 2>>/tmp/out/err & run=$!
	until [ -e /tmp/ready ] || ! kill -0 $run; do usleep 50000; done
	echo "BEGIN $i." >/dev/console
	wait $run; rm -f /tmp/ready
done
"""
COUNT = 12


def over_vsock(kernel):
    on = f"{kernel.name}: "
    files = lab.modules(kernel, "vsock", "vmw_vsock_virtio_transport_common", "vsock_loopback")
    rc, out, err, text = run(kernel, VSOCK, counted=2, files=files)
    if not ok(rc == 0 and "rc" in text, on + "the job ends well", rc, out, err, text):
        return
    ok("--token: cannot read /none" in text["none"], on + "without a token: one line",
       text["none"])
    ok("cannot listen at vsock:9171: Address family not supported" in text["without"],
       on + "without vsock: one line", text["without"])
    ok("nobody listens at vsock:1:9171" in text["nobody"],
       on + "nobody listens: one line", text["nobody"])
    is_((text["rc"], text["run.err"], text["watch.err"]), ("0\n", "", ""),
        on + "over vsock both ends end well")
    report, host = json.loads(text["run.json"]), json.loads(text["watch.json"])
    ok(report["host_side"]["hostname"] == host["host"]["hostname"] and host["cpus"],
       on + "and the run has the watch's recording", report["host_side"])


# ---- two machines ----


def threads(guest):
    """{name: thread} of the emulator."""
    found = {}
    for tid in os.listdir(f"/proc/{guest.process.pid}/task"):
        with contextlib.suppress(OSError), \
                open(f"/proc/{guest.process.pid}/task/{tid}/comm") as f:
            found[f.read().split("/")[0]] = int(tid)
    return found


def pinned(guest):
    """The thread of the guest's CPU 1 alone on the last CPU here, all others elsewhere."""
    target, others = max(os.sched_getaffinity(0)), os.sched_getaffinity(0)
    its = threads(guest)["CPU 1"]
    for tid in map(int, os.listdir(f"/proc/{guest.process.pid}/task")):
        os.sched_setaffinity(tid, {target} if tid == its else others - {target})
    return target


def now():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC)


def apart():
    """Between two of them."""
    time.sleep(random.uniform(0.01, 0.03))


# ---- noise, and the piece of the guest's that is it ----
# What makes it returns when it was: [(from, to)], in ns of CLOCK_MONOTONIC. Each is there for a
# while and then the next, ROUNDS times.


def poke(name, count, target, *more):
    log = subprocess.run([POKE, name, "-c", str(target), "-n", str(count), *more],
                         capture_output=True, text=True, check=True)
    return [(e["start_ns"], e["end_ns"]) for e in map(json.loads, log.stdout.splitlines())
            if "class" in e]


def preempt(target, _guest):
    return poke("fifo", POKES // ROUNDS, target, "-l", "150us", "-g", "10ms-30ms")


def softirqs(target, _guest):
    return poke("ksoftirqd", OTHERS // ROUNDS, target, "-l", "6ms", "-g", "20ms-40ms")


def interrupts(target, _guest):
    """TIMERS expire in one interrupt: this thread arms them on the target."""
    libc, here, spans = ctypes.CDLL(None), os.sched_getaffinity(0), []
    fds = [libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_CLOEXEC) for _ in range(TIMERS)]
    os.sched_setaffinity(0, {target})
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        while len(spans) < OTHERS // ROUNDS:
            due = now() + 20_000_000
            at = (ctypes.c_long * 4)(0, 0, due // 10**9, due % 10**9)
            for fd in fds:
                libc.timerfd_settime(fd, 1, at, None)
            if now() < due - 1_000_000:
                spans.append((due, due + 3_000_000))
            time.sleep(max(0, due - now()) / 1e9 + 0.005)
            apart()
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.sched_setaffinity(0, here)
        for fd in fds:
            os.close(fd)
    return spans


def stops(_target, guest):
    spans, its = [], threads(guest)["CPU 1"]
    while len(spans) < OTHERS // ROUNDS:
        begin = now()
        guest.process.send_signal(signal.SIGSTOP)
        time.sleep(0.002)
        stopped = stat(f"{guest.process.pid}/task/{its}")[0] == "T"
        end = now()
        guest.process.send_signal(signal.SIGCONT)
        # one that waits for its CPU goes on doing so, or stops only now
        (spans if stopped else PERHAPS).append((begin, end))
        apart()
    return spans


def quota(_target, guest):
    """A group that may run for 1 ms, until it may run again."""
    unified = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    group = ("/sys/fs/cgroup" if unified else "/sys/fs/cgroup/cpu") + "/culprit-vcpu"
    limit, few, none = ("cpu.max", "1000 100000", "max") if unified else \
        ("cpu.cfs_quota_us", "1000", "-1")

    def put(path, value):
        with open(path, "w") as f:
            f.write(str(value))

    if unified:
        put("/sys/fs/cgroup/cgroup.subtree_control", "+cpu")
    os.mkdir(group)
    who, its = ("cgroup.procs", guest.process.pid) if unified else ("tasks",
                                                                    threads(guest)["CPU 1"])
    spans = []
    try:
        put(f"{group}/{who}", its)
        for _ in range(OTHERS // ROUNDS):
            begin = now()
            put(f"{group}/{limit}", few)
            time.sleep(0.015)
            put(f"{group}/{limit}", none)
            spans.append((begin, now()))
            apart()
    finally:
        put(f"{os.path.dirname(group)}/{who}", its)
        remove_group(group)
    return spans


TIMERS = 1500
PERHAPS = []  # stops that may not have come to be
# maker, the piece that it is, and whether others make such here, too: short ones, or long ones
NOISES = {
    "threads": (preempt, lambda p, target: p["name"] == "poke-fifo", None),
    "interrupts": (interrupts, lambda p, target: p["name"] == "local_timer"
                   and p["function"] == "timerfd_tmrproc", "short"),
    "softirqs": (softirqs, lambda p, target: p["name"] in ("NET_RX", f"ksoftirqd/{target}"),
                 "long"),
    "quota": (quota, lambda p, target: p["name"] == "CPU quota", None),
    "stops": (stops, lambda p, target: p["name"] == "exit STOPPED", None),
}


# A line is believed so long beyond its gaps. Noise may have its name there, and as the line bends
# it need not.
BEYOND_NS = 2 * 10**9


def at_guest(line, ns, beyond_ns=0):
    """The guest's time then; None: the clocks are not known to agree."""
    for beyond, part in ((beyond, part) for beyond in sorted({0, beyond_ns}) for part in line):
        if part["host_from_ns"] - beyond <= ns <= part["host_to_ns"] + beyond:
            length = part["host_to_ns"] - part["host_from_ns"]
            return part["from_ns"] + (ns - part["host_from_ns"]) * (part["to_ns"]
                                                                    - part["from_ns"]) // length
    return None


def at_guests(line, spans):
    return [(begin, begin + end - start) for begin, start, end in
            ((at_guest(line, start, BEYOND_NS), start, end) for start, end in spans) if begin]


def is_it(noise, target, piece):
    return piece["kind"] == "host" and NOISES[noise][1](piece, target)


def judge(noise, target, rounds, line, lines):
    """How many have their name in the guest; those that have not, with the gaps there; how many are
    where the clocks are not known to agree; and where those begin that are alone in a gap."""
    starts = [x["start_ns"] for x in lines]
    found, missed, outside, begins = 0, [], 0, []
    for start, end in sum(rounds, []):
        begin = at_guest(line, start)
        if begin is None or end - start < LEAST_NS:
            outside += 1
            continue
        end += begin - start
        gaps = [x for x in lines[max(0, bisect.bisect(starts, begin) - 3):
                                 bisect.bisect(starts, end)]
                if x["start_ns"] < end and x["start_ns"] + x["duration_ns"] > begin]
        its = [x for x in gaps if any(is_it(noise, target, p) for p in x["pieces"])]
        took = sum(p["net_ns"] for x in its for p in x["pieces"] if is_it(noise, target, p))
        if took >= LEAST_NS / 2:
            found += 1
            if len(its[0]["pieces"]) == 1:
                begins.append(begin - its[0]["start_ns"])
        else:
            missed.append((start, took, [(x["start_ns"] - begin, x["duration_ns"],
                                          [(p["kind"], p["name"], p["function"], p["net_ns"])
                                           for p in x["pieces"]]) for x in gaps]))
    return found, missed, outside, sorted(begins)


def blamed(noise, target, rounds, line, lines, host):
    """Gaps that have its name when there was none: those that are long; of what nobody else makes
    any, from the first to the last of a round. Before and after it the threads that make it begin
    and end, and of some others make long ones, too: then the host's own windows say when it was
    there."""
    alone, others_too = not NOISES[noise][2], NOISES[noise][2] == "long"
    seen = at_guests(line, [(x["start_ns"], x["start_ns"] + x["duration_ns"]) for x in host
                            if any(NOISES[noise][1](p, target) for p in x["pieces"])])
    perhaps = at_guests(line, PERHAPS if noise == "stops" else [])
    there = [times for times in (at_guests(line, spans) for spans in rounds) if times]
    wrong = []
    for x in lines:
        took = sum(p["net_ns"] for p in x["pieces"] if is_it(noise, target, p))
        begin, end = x["start_ns"] - NEAR_NS, x["start_ns"] + x["duration_ns"] + NEAR_NS
        within = alone and any(begin > times[0][0] and end < times[-1][1] for times in there)
        if not took or took < LEAST_NS / 2 and not within:
            continue
        whens = sum(there, perhaps) + (seen if others_too or alone and not within else [])
        if not any(b < end and e > begin for b, e in whens):
            wrong.append(x)
    return wrong


def judge_all(target, made, line, lines, host):
    for noise, rounds in made.items():
        found, missed, outside, begins = judge(noise, target, rounds, line, lines)
        wrong = blamed(noise, target, rounds, line, lines, host)
        count = sum(map(len, rounds))
        judged = count - outside
        diag(f"{noise}: {count}, {outside} where the clocks are not known to agree; of "
             f"{judged} {found} have their name in the guest; it is named {len(wrong)} times when "
             f"there was none", *(f"missed {m}" for m in missed[:5]))
        if begins and noise == "threads":
            diag(f"begins of {len(begins)} gaps that poke has alone, against poke's own clock: "
                 f"median {begins[len(begins) // 2]} ns, 98 % from {begins[len(begins) // 100]} "
                 f"to {begins[-1 - len(begins) // 100]} ns")
        ok(found >= 0.99 * judged and judged > 0.9 * count, f"{noise}: each has its name",
           missed[:5])
        is_(wrong[:3], [], f"{noise}: and nothing else has it")


def over_tcp(kernel, work):
    token = os.path.join(work, "token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
        f.write(os.urandom(24).hex().encode())
    port = free_port()
    guest = lab.Guest(
        kernel, TCP.replace("SECONDS", str(15 + POKES // 40 + OTHERS // 5)),
        files=lab.modules(kernel, "e1000") | {"/token": token},
        devices=["e1000,netdev=net", f"-netdev user,id=net,restrict=on,"
                 f"hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:9171"])
    between = channel.Between(open(token, "rb").read(), port)
    try:
        between.start()
        until = time.monotonic() + 60
        while "CPU 1" not in threads(guest):
            assert time.monotonic() < until
            time.sleep(0.1)
        target = pinned(guest)
        watch = spawn("watch", "--vcpus", str(guest.process.pid), "-q", "--to",
                      f"tcp:{between.port}", "--token", token)
        guest.await_console("READY", 200)
        made = {noise: [] for noise in NOISES}
        for _ in range(ROUNDS):
            for noise, (make, _, _) in NOISES.items():
                made[noise].append(make(target, guest))
        w = finish(watch)
        between.join(60)
        rc, out, err, files = guest.result(300)
    finally:
        guest.close()
    text = {name: data.decode(errors="replace") for name, data in files.items()
            if name != "guest.rec"}
    if not ok(rc == 0 and w.rc == 0 and not between.fault and text.get("rc") == "0\n",
              "a guest and its host: both end well", rc, out, err, text.get("err"),
              text.get("rc"), w, between.fault):
        return
    for name, data in ("guest.rec", files["guest.rec"]), ("host.rec", between.got):
        with open(os.path.join(work, name), "wb") as f:
            f.write(data)
    both = [os.path.join(work, "guest.rec"), "--host", os.path.join(work, "host.rec")]
    report = subprocess.run([CULPRIT, "report", *both, "-f", "json"], capture_output=True,
                            text=True)
    again = subprocess.run([CULPRIT, "report", *both, "-f", "jsonl"], capture_output=True,
                           text=True)
    is_(again.stdout, text["lines"], "what the run printed is what the files give, byte for byte")
    side = json.loads(report.stdout)["host_side"]
    diag({k: v for k, v in side.items() if k != "line"})
    if not ok(side["clocks"] == "matched", "the clocks are matched", side):
        return
    lines = [json.loads(x) for x in text["lines"].splitlines()]
    windows = subprocess.run([CULPRIT, "report", both[-1], "-f", "jsonl"], capture_output=True,
                             text=True)
    judge_all(target, made, side["line"], lines,
              [x for x in map(json.loads, windows.stdout.splitlines())
               if x["comm"].startswith("CPU 1/")])


def parts(kernel, place):
    """Recordings of one guest after the other, and of its host at the same times, with noise all
    the time: of all pairs only those of the same time may match."""
    guest, noise, spans = lab.Guest(kernel, PARTS.replace("COUNT", str(COUNT))), None, []
    try:
        guest.await_console("BEGIN 1.", 200)
        noise = subprocess.Popen([POKE, "fifo", "-c", str(pinned(guest)), "-n", "100000", "-l",
                                  "150us", "-g", "5ms-15ms"], stdout=subprocess.DEVNULL)
        for i in range(1, COUNT + 1):
            guest.await_console(f"BEGIN {i}.", 60)
            begin = now()
            r = culprit("watch", "--vcpus", str(guest.process.pid), "-d", "3s", "-q", "-r",
                        os.path.join(place, f"host{i}"), "-o", "/dev/null", "--force")
            spans.append((begin, now()))
            if r.rc:
                diag(r)
        rc, out, err, files = guest.result(300)
    finally:
        guest.close()
        if noise:
            noise.terminate()
            noise.wait()
    if not ok(rc == 0 and all(f"{i}.rec" in files for i in range(1, COUNT + 1)),
              "a guest records itself again and again", rc, out, err, list(files)):
        return
    matched = set()
    for i in range(1, COUNT + 1):
        with open(os.path.join(place, "guest"), "wb") as f:
            f.write(files[f"{i}.rec"])
        for k in range(1, COUNT + 1):
            r = culprit("report", os.path.join(place, "guest"), "--host",
                        os.path.join(place, f"host{k}"), "-f", "json")
            side = json.loads(r.out)["host_side"]
            if side["clocks"] == "matched":
                matched.add((i, k))
    right = [p for p in matched if p[0] == p[1]]
    diag(f"{COUNT} pairs of one time, of which {len(right)} match; {COUNT * (COUNT - 1)} of two")
    is_(sorted(matched - set(right)), [], "recordings of two times never match")
    ok(len(right) > COUNT / 2, "those of one time do", sorted(right))


take_turn(shared=not LONG)
guests, = need(KERNEL)
over_vsock(guests)
if LONG:
    if os.path.exists(f"{lab.MACHINES['arm64'].build()}/culprit"):
        over_vsock(lab.need(lab.kernel(ARM64)))
    else:
        skip(ARM64, "nothing is built for it (make lab-arm64)")
    with (contextlib.nullcontext(os.environ["KEEP"]) if "KEEP" in os.environ else
          tempfile.TemporaryDirectory()) as place:
        over_tcp(guests, place)
        parts(guests, place)
done()
