#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run --host-listen and watch --to. Over vsock, both ends in one guest. With LONG=1 over TCP,
between a guest in real time and this machine, on which poke makes noise that the guest knows
nothing of: each poke has its name in the guest's report, and no other has it.

    LONG=1 [POKES=1000] 46-hosted.t
"""
import bisect
import json
import os
import socket
import subprocess
import tempfile
import time

from guests import LONG, lab, need, run
from lib import CULPRIT, POKE, diag, done, finish, is_, ok, spawn, take_turn
import channel

KERNEL = "6.12"
POKES = int(os.environ.get("POKES", "1000"))
LEAST_NS = 100_000  # pokes of that length and more are judged
NEAR_NS = 300_000   # a poke's noise begins so long after its order, at most
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


def over_vsock(kernel):
    files = lab.modules(kernel, "vsock", "vmw_vsock_virtio_transport_common", "vsock_loopback")
    rc, out, err, text = run(kernel, VSOCK, counted=2, files=files)
    if not ok(rc == 0 and "rc" in text, "the job ends well", rc, out, err, text):
        return
    ok("--token: cannot read /none" in text["none"], "without a token: one line", text["none"])
    ok("cannot listen at vsock:9171: Address family not supported" in text["without"],
       "without vsock: one line", text["without"])
    ok("nobody listens at vsock:1:9171" in text["nobody"], "nobody listens: one line",
       text["nobody"])
    is_((text["rc"], text["run.err"], text["watch.err"]), ("0\n", "", ""),
        "over vsock both ends end well")
    report, host = json.loads(text["run.json"]), json.loads(text["watch.json"])
    ok(report["host_side"]["hostname"] == host["host"]["hostname"] and host["cpus"],
       "and the run has the watch's recording", report["host_side"])


# ---- two machines ----


def pinned(guest):
    """The thread of the guest's CPU 1 alone on the last CPU here, all others elsewhere."""
    target, others = max(os.sched_getaffinity(0)), os.sched_getaffinity(0)
    for tid in map(int, os.listdir(f"/proc/{guest.process.pid}/task")):
        with open(f"/proc/{guest.process.pid}/task/{tid}/comm") as f:
            its = f.read().startswith("CPU 1/")
        os.sched_setaffinity(tid, {target} if its else others - {target})
    return target


def poke(target):
    log = subprocess.run([POKE, "fifo", "-c", str(target), "-n", str(POKES), "-l", "150us",
                          "-g", "10ms-30ms"], capture_output=True, text=True, check=True)
    return [e for e in map(json.loads, log.stdout.splitlines()) if "class" in e]


def at_guest(line, ns):
    """The guest's time then; None: the clocks are not known to agree."""
    for part in line:
        if part["host_from_ns"] <= ns <= part["host_to_ns"]:
            length = part["host_to_ns"] - part["host_from_ns"]
            return part["from_ns"] + (ns - part["host_from_ns"]) * (part["to_ns"]
                                                                    - part["from_ns"]) // length
    return None


def judge(pokes, line, lines):
    """Each poke's gap in the guest: the name that it has there, and how far it is from it."""
    starts = [x["start_ns"] for x in lines]
    found, missed, outside, apart = 0, [], 0, []
    for e in pokes:
        begin = at_guest(line, e["start_ns"])
        if begin is None or e["end_ns"] - e["start_ns"] < LEAST_NS:
            outside += 1
            continue
        end = begin + e["end_ns"] - e["start_ns"]
        gaps = [x for x in lines[max(0, bisect.bisect(starts, begin) - 3):
                                 bisect.bisect(starts, end)]
                if x["start_ns"] < end and x["start_ns"] + x["duration_ns"] > begin]
        its = [x for x in gaps for p in x["pieces"]
               if p["kind"] == "host" and p["name"] == e["comm"] and p["id"] == e["tid"]]
        found += bool(its)
        if its and its[0]["pieces"][0]["name"] == e["comm"] and len(its[0]["pieces"]) == 1:
            apart.append(begin - its[0]["start_ns"])
        if not its:
            missed.append((e["n"], [(x["start_ns"] - begin, x["duration_ns"],
                                     [(p["kind"], p["name"]) for p in x["pieces"]])
                                    for x in gaps]))
    return found, missed, outside, sorted(apart)


def blamed(pokes, line, lines):
    """Gaps that name poke when it did nothing, from its first to its last: before and after that it
    begins and ends its threads."""
    times = [(at_guest(line, e["start_ns"]), at_guest(line, e["end_ns"])) for e in pokes]
    times = [t for t in times if None not in t]
    wrong = []
    for x in lines:
        begin, end = x["start_ns"] - NEAR_NS, x["start_ns"] + x["duration_ns"] + NEAR_NS
        if begin > times[0][0] and end < times[-1][1] and \
                any(p["kind"] == "host" and p["name"] == "poke-fifo" for p in x["pieces"]) and \
                not any(b < end and e > begin for b, e in times):
            wrong.append(x)
    return wrong


def over_tcp(kernel, work):
    token = os.path.join(work, "token")
    with open(os.open(token, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as f:
        f.write(os.urandom(24).hex().encode())
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    guest = lab.Guest(
        kernel, TCP.replace("SECONDS", str(8 + POKES // 45)),
        files=lab.modules(kernel, "e1000") | {"/token": token},
        devices=["e1000,netdev=net", f"-netdev user,id=net,restrict=on,"
                 f"hostfwd=tcp:127.0.0.1:{port}-10.0.2.15:9171"])
    between = channel.Between(open(token, "rb").read(), port)
    try:
        between.start()
        until = time.monotonic() + 60
        while not os.path.exists(f"/proc/{guest.process.pid}/task") or not any(
                "CPU 1/" in open(f"/proc/{guest.process.pid}/task/{t}/comm").read()
                for t in os.listdir(f"/proc/{guest.process.pid}/task")):
            assert time.monotonic() < until
            time.sleep(0.1)
        target = pinned(guest)
        watch = spawn("watch", "--vcpus", str(guest.process.pid), "-q", "--to",
                      f"tcp:{between.port}", "--token", token)
        guest.await_console("READY", 200)
        pokes = poke(target)
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
    if not ok(side["clocks"] == "matched" and len(pokes) == POKES, "the clocks are matched", side):
        return
    lines = [json.loads(x) for x in text["lines"].splitlines()]
    found, missed, outside, apart = judge(pokes, side["line"], lines)
    wrong = blamed(pokes, side["line"], lines)
    judged = len(pokes) - outside
    diag(f"{len(pokes)} pokes, {outside} where the clocks are not known to agree; of {judged} "
         f"{found} have their name in the guest; poke is named {len(wrong)} times when it did "
         f"nothing")
    if apart:
        diag(f"begins of {len(apart)} gaps that poke has alone, against poke's own clock: median "
             f"{apart[len(apart) // 2]} ns, 98 % from {apart[len(apart) // 100]} to "
             f"{apart[-1 - len(apart) // 100]} ns")
    ok(found >= 0.99 * judged and judged > 0.9 * len(pokes), "each has its name", missed[:5])
    is_(wrong[:3], [], "and nothing else has it")


take_turn(shared=not LONG)
guests, = need(KERNEL)
over_vsock(guests)
if LONG:
    with tempfile.TemporaryDirectory() as place:
        over_tcp(guests, place)
done()
