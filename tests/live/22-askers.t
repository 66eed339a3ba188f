#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody is said to have asked who did not: an interrupt and a softirq come upon the sampler, which
asks for nothing; and who did ask is named, also where its own message is carried by a softirq.

All of it holds inside one window, whatever else the machine does: the sampler makes no system call
in it, so nothing may be by it; and a receiver is woken by its sender alone, or where the message
did not get through at once by a softirq, which has no pid. tests/vm/50-askers.t runs it where
instructions are counted; LONG=1 in the environment: here, too.
"""
import json
import os
import socket
import tempfile
import time

import lib
from lib import done, ok, skip, sources, total

if not os.environ.get("LONG"):
    lib.skip_all("tests/vm/50-askers.t runs it, and LONG=1")
lib.need_bpf()
cpu = lib.pick_target()
SAMPLER = "culprit-sampler"


def stacks(what, origins):
    here = [o for o in origins if o["cpu"] == cpu]
    lib.diag(f"{what}: {sum(bool(o['stack']) for o in here)} of {len(here)} on the target were "
             "told by a stack")


MESSAGES = 100


def begin(targeted, work):
    """Forks a process that does `work`, on the target when it is `targeted`; its pid."""
    pid = os.fork()
    if not pid:
        if targeted:
            os.sched_setaffinity(0, {cpu})
        work()
        os._exit(0)
    return pid


def await_all(*pids):
    """These pids, and how often the last of them went to sleep."""
    slept = [os.wait4(pid, 0)[2].ru_nvcsw for pid in pids]
    return *pids, slept[-1]


def slowly(send):
    """Sends to who sleeps by then, each time."""
    time.sleep(0.2)
    for _ in range(MESSAGES):
        send()
        time.sleep(0.005)


def exchange():
    """Sends datagrams from another CPU to a receiver on the target; the pids of the sender and the
    receiver, and how often that one slept."""
    udp = socket.AF_INET, socket.SOCK_DGRAM
    with socket.socket(*udp) as rx, socket.socket(*udp) as tx:
        rx.bind(("127.0.0.1", 0))
        receiver = begin(True, lambda: [rx.recv(1) for _ in range(MESSAGES)])
        sender = begin(False, lambda: slowly(lambda: tx.sendto(b"x", rx.getsockname())))
        return await_all(sender, receiver)


def hand_over():
    """Writes to a reader on the same CPU, by a system call; the pids of the writer and the reader,
    and how often that one slept."""
    rx, tx = os.pipe()
    reader = begin(True, lambda: [os.read(rx, 1) for _ in range(MESSAGES)])
    writer = begin(True, lambda: slowly(lambda: os.write(tx, b"x")))
    told = await_all(writer, reader)
    os.close(rx)
    os.close(tx)
    return told


# ---- one window: softirqs that take long, so that ksoftirqd goes on with them; then a datagram;
# then a pipe ----

busy, loopback = lib.need_class(cpu, "ksoftirqd"), lib.loopback()
with tempfile.NamedTemporaryFile() as lines:
    with lib.opened("run", "-c", str(cpu), "-d", "60s", "-f", "json", "-q", "--hiccups",
                    lines.name) as run:
        samplers = {pid for pid, comm in lib.marked() if comm == SAMPLER}
        if not busy:
            lib.run_poke(cpu, "ksoftirqd", "-n", "40", "-g", "30ms")
        sender, receiver, received = exchange() if loopback else (0, 0, 0)
        writer, reader, slept = hand_over()
    if run.result.rc != 0:
        raise RuntimeError(f"culprit run: {run.result}")
    with open(lines.name, encoding="utf-8") as written:  # by its name: it is a new file
        hiccups = [json.loads(line) for line in written]
report = json.loads(run.result.out)
lib.check_sums(report, "askers")
askers = [dict(o, of=s["name"]) for c in report["cpus"] for s in c["sources"] for o in s["origins"]]
askers += [dict(p["origin"], of=p["name"]) for h in hiccups for p in h["pieces"] if p.get("origin")]
ok(askers, "somebody asked for something")
victims = [a for a in askers if a["pid"] in samplers]
ok(len(samplers) == 1 and not victims, "the sampler asked for nothing", *victims[:5])
# A pid of 0 is no thread or the idle one; the words for no thread stand for nobody's name.
odd = [a for a in askers if not a["pid"] and not a["comm"].startswith(("(interrupt)", "(softirq)",
                                                                       "swapper/"))]
ok(not odd, "who has no pid is an interrupt, a softirq or the idle thread", *odd[:5])
stacks("interrupts and softirqs", [o for c in report["cpus"] for s in c["sources"]
                                   for o in s["origins"]
                                   if o["comm"] in ("(interrupt)", "(softirq)")])
more = [s for s in report["cpus"][0]["sources"] if total(s["origins"], "count")
        + s["requests_unnamed"] > s["requests"]]
ok(not more, "no more is counted than was asked", *more[:3])


def woken(thread, by):
    """The rows of a thread, what `by` asked for there, and what others did in the same function.

    Softirqs, which have no pid, are nobody else. In other functions somebody else does wake it: the
    stopper that moves it to the target when it asks for that, or who gives a lock of the kernel's
    back.
    """
    rows = sources(report, cpu, kind="thread", id=thread)
    origins = [o for s in rows for o in s["origins"]]
    mine = [o for o in origins if o["pid"] == by]
    functions = {o["function"] for o in mine if o["count"] > MESSAGES / 10}
    return rows, mine, [o for o in origins if o["pid"] not in (0, by)
                        and not o["comm"].startswith("migration/")
                        and o["function"] in functions]


if busy:
    skip("ksoftirqd", busy)
else:
    rows = sources(report, cpu, kind="thread", name=f"ksoftirqd/{cpu}")
    ok(rows and total(rows, "requests") > 0, "ksoftirqd: it ran, and was asked to", *rows)
    # A thread that raises a softirq outside of any interrupt wakes it, too: rarely.
    nobody = total([o for s in rows for o in s["origins"] if not o["pid"]], "count")
    ok(nobody > total(rows, "requests") / 2, "ksoftirqd: by no thread, most of the time", *rows)

if not loopback:
    skip("udp", "there is no loopback here")
else:
    rows, mine, others = woken(receiver, sender)
    # The sender sleeps before each message, but for those that came while it had to wait for its
    # CPU.
    ok(total(mine, "count") >= min(MESSAGES, received) / 2,
       "udp: the sender is named, though a softirq carries its message",
       f"of {MESSAGES}, slept {received} times", *rows)
    ok(not others, "udp: and nobody else", *others)

rows, mine, others = woken(reader, writer)
stacks("pipe", mine)
ok(total(mine, "count") >= min(MESSAGES, slept) / 2, "pipe: who writes on the target is named",
   f"of {MESSAGES}, slept {slept} times", *rows)
ok(not others, "pipe: and nobody else", *others)
done()
