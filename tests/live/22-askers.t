#!/usr/bin/env python3
"""Nobody is said to have asked who did not: an interrupt and a softirq come upon the sampler, which asks for nothing; and who did ask is
named, also where its own message is carried by a softirq.

All of it holds inside one window, whatever else the machine does: the sampler makes no system call in it, so nothing may be by it; and
a receiver is woken by its sender alone, or where the message did not get through at once by a softirq, which has no pid.
"""
import json
import os
import socket
import tempfile
import time

import lib
from lib import done, ok, skip, sources, total

lib.need_bpf()
cpu = lib.pick_target()
SAMPLER = "culprit-sampler"


def measure(seconds, make):
    """Measures while make() runs: (report, the askers in its sources, those of all its hiccups)."""
    with lib.ready_file() as ready, tempfile.NamedTemporaryFile() as lines:
        proc = lib.spawn("run", "-c", str(cpu), "-d", f"{seconds}s", "-f", "json", "-q", "--ready-file", ready, "--hiccups", lines.name)
        lib.await_ready(proc, ready)
        made = make()
        result = lib.finish(proc, seconds + lib.READY_MAX_S)
        hiccups = [json.loads(line) for line in lines]
    if result.rc:
        raise RuntimeError(f"culprit run: {result}")
    report = json.loads(result.out)
    askers = [dict(o, of=s["name"]) for c in report["cpus"] for s in c["sources"] for o in s["origins"]]
    askers += [dict(p["origin"], of=p["name"]) for h in hiccups for p in h["pieces"] if p.get("origin")]
    return report, askers, made


def stacks(what, origins):
    here = [o for o in origins if o["cpu"] == cpu]
    lib.diag(f"{what}: {sum(bool(o['stack']) for o in here)} of {len(here)} on the target were told by a stack")


def check(what, report, askers):
    lib.check_sums(report, what)
    ok(askers, f"{what}: somebody asked for something")
    victims = [a for a in askers if a["comm"] == SAMPLER]
    ok(not victims, f"{what}: the sampler asked for nothing", *victims[:5])
    # A pid of 0 is no thread or the idle one; the words for no thread stand for nobody's name.
    odd = [a for a in askers if not a["pid"] and not a["comm"].startswith(("(interrupt)", "(softirq)", "swapper/"))]
    ok(not odd, f"{what}: who has no pid is an interrupt, a softirq or the idle thread", *odd[:5])
    stacks(what, [o for c in report["cpus"] for s in c["sources"] for o in s["origins"] if o["comm"] in ("(interrupt)", "(softirq)")])
    for s in report["cpus"][0]["sources"]:
        counted = total(s["origins"], "count")
        if not counted + s["requests_unnamed"] <= s["requests"]:
            ok(False, f"{what}: no more is counted than was asked", s)


# ---- softirqs that take long: ksoftirqd goes on with them ----

if why := lib.need_class(cpu, "ksoftirqd"):
    skip("ksoftirqd", why)
    report, askers, _ = measure(3, lambda: time.sleep(2))
    check("quiet", report, askers)
else:
    report, askers, log = measure(4, lambda: lib.run_poke(cpu, "ksoftirqd", "-n", "60", "-g", "30ms"))
    check("ksoftirqd", report, askers)
    rows = sources(report, cpu, kind="thread", name=f"ksoftirqd/{cpu}")
    ok(rows and total(rows, "requests") > 0, "ksoftirqd: it ran, and was asked to", *rows)
    # A thread that raises a softirq outside of any interrupt wakes it, too: rarely.
    nobody = total([o for s in rows for o in s["origins"] if not o["pid"]], "count")
    ok(nobody > total(rows, "requests") / 2, "ksoftirqd: by no thread, most of the time", *rows)


# ---- a datagram to the target, from another CPU ----

MESSAGES = 200


def exchange():
    """Sends to a receiver on the target; returns the pids of the sender and the receiver."""
    rx, tx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    rx.bind(("127.0.0.1", 0))
    receiver = os.fork()
    if not receiver:
        os.sched_setaffinity(0, {cpu})
        for _ in range(MESSAGES):
            rx.recv(1)
        os._exit(0)
    sender = os.fork()
    if not sender:
        time.sleep(0.3)
        for _ in range(MESSAGES):
            tx.sendto(b"x", rx.getsockname())
            time.sleep(0.01)
        os._exit(0)
    os.waitpid(sender, 0)
    os.waitpid(receiver, 0)
    return sender, receiver


if not lib.loopback():
    skip("udp", "there is no loopback here")
else:
    report, askers, (sender, receiver) = measure(5, exchange)
    check("udp", report, askers)
    rows = sources(report, cpu, kind="thread", id=receiver)
    by_sender = total([o for s in rows for o in s["origins"] if o["pid"] == sender], "count")
    # The stopper that moves it to the target, when it asks for that, wakes it once.
    others = [o for s in rows for o in s["origins"] if o["pid"] not in (0, sender) and not o["comm"].startswith("migration/")]
    # It sleeps before each message, but for those that came while it was not on its CPU yet.
    ok(by_sender >= MESSAGES / 2, "udp: the sender is named, though a softirq carries its message", f"{by_sender} of {MESSAGES}", *rows)
    ok(not others, "udp: and nobody else", *others)


# ---- one thread on the target wakes another there, by a system call ----


def hand_over():
    """Writes to a reader on the same CPU; returns the pids of the writer and the reader."""
    rx, tx = os.pipe()
    reader = os.fork()
    if not reader:
        os.sched_setaffinity(0, {cpu})
        for _ in range(MESSAGES):
            os.read(rx, 1)
        os._exit(0)
    writer = os.fork()
    if not writer:
        os.sched_setaffinity(0, {cpu})
        time.sleep(0.3)
        for _ in range(MESSAGES):
            os.write(tx, b"x")
            time.sleep(0.01)
        os._exit(0)
    os.waitpid(writer, 0)
    os.waitpid(reader, 0)
    os.close(rx)
    os.close(tx)
    return writer, reader


report, askers, (writer, reader) = measure(5, hand_over)
check("pipe", report, askers)
rows = sources(report, cpu, kind="thread", id=reader)
by_writer = [o for s in rows for o in s["origins"] if o["pid"] == writer]
stacks("pipe", by_writer)
others = [o for s in rows for o in s["origins"] if o["pid"] not in (0, writer) and not o["comm"].startswith("migration/")]
ok(total(by_writer, "count") >= MESSAGES / 2, "pipe: who writes on the target is named", f"of {MESSAGES}", *rows)
ok(not others, "pipe: and nobody else", *others)
done()
