#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The oracle itself, on a trace made by hand: what it reads, and that it sees each kind of
error."""
import copy
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import Judge, asker_of, sort_out  # noqa: E402
from reading import (HARDIRQ, PREEMPTED, SOFTIRQ, Part, Reading, Requests,  # noqa: E402
                     records)

results = []


def is_(got, want, name):
    """Nothing is measured here, so nobody has to wait for a turn: not live/lib.py's."""
    results.append(got == want)
    print(f"{'ok' if got == want else 'not ok'} {len(results)} - {name}",
          *([] if got == want else [f"# got  {got!r}", f"# want {want!r}"]), sep="\n")


SAMPLER, OTHER, WORKER = 100, 200, 300
NAMES = {1: {"tick"}, 2: {"wakeup"}, 3: {"flush"}, 4: {"a_work"}, 5: {"delayed_work_timer_fn"},
         6: {"do_softirq"}, 7: {"run_ksoftirqd"},
         8: {"do_syscall_64"}, 9: {"ret_from_fork"}, 10: {"asm_sysvec_apic_timer_interrupt"},
         11: {"irqentry_exit"}}


class Symbols:
    def at(self, address):
        return frozenset(NAMES.get(address, ()))

    around = at


COMMS = {SAMPLER: b"culprit-sampler\0", OTHER: b"other\0", WORKER: b"kworker/1:2\0"}


def switch(at, before, after, state=0):
    return at, "sched_switch", 0, before, (COMMS.get(before, b"?"), before, state,
                                           COMMS.get(after, b"?"), after)


def event(at, name, *values, flags=0, pid=SAMPLER):
    return at, name, flags, pid, values


US = 1000
TRACE = [
    switch(0, OTHER, SAMPLER),
    # A timer interrupt of two functions, of which the second wakes a thread; a softirq behind it
    # whose timer queues work.
    event(100 * US, "local_timer_entry", 236), event(102 * US, "hrtimer_expire_entry", 1),
         event(110 * US, "hrtimer_expire_entry", 2),
    event(112 * US, "sched_waking", OTHER, flags=HARDIRQ), event(115 * US, "local_timer_exit", 236),
    event(116 * US, "softirq_entry", 1), event(117 * US, "timer_expire_entry", 5),
         event(118 * US, "workqueue_queue_work", 0xa, 4, flags=SOFTIRQ),
    event(125 * US, "softirq_exit", 1),
    switch(130 * US, SAMPLER, OTHER), event(150 * US, "call_function_single_entry", 251),
         event(152 * US, "csd_function_entry", 3, 0xc),
    event(160 * US, "call_function_single_exit", 251), switch(200 * US, OTHER, WORKER),
    event(210 * US, "workqueue_execute_start", 0xa, 4, pid=WORKER),
         switch(260 * US, WORKER, SAMPLER),
    # Somebody came and went unseen.
    switch(400 * US, SAMPLER, 999), event(420 * US, "local_timer_entry", 236),
         event(430 * US, "local_timer_exit", 236),
    switch(500 * US, SAMPLER, OTHER), switch(520 * US, OTHER, SAMPLER),
    event(1000 * US, "local_timer_entry", 236), event(1001 * US, "local_timer_exit", 236)]
ELSEWHERE = [event(140 * US, "csd_queue_cpu", 1, 0xc, pid=7),
             event(141 * US, "csd_queue_cpu", 1, 0xd, pid=8)]


def read(trace=None, elsewhere=None, unseen=()):
    trace, requests = trace or TRACE, Requests()
    requests.add(trace, 1, 1)
    requests.add(elsewhere or ELSEWHERE, 0, 1)
    requests.sort()
    return Reading(trace, 1, requests, Symbols(), unseen=unseen)


parts = [(p.kind, p.id, p.name, sorted(p.function or ()), p.net // US)
         for p in read().parts if p.end <= 300 * US]
is_(parts, [("vector", 236, "local_timer", ["tick"], 10),
            ("vector", 236, "local_timer", ["wakeup"], 5),
            ("softirq", 1, "TIMER", ["a_work"], 9),
            ("vector", 251, "call_function_single", ["flush"], 10),
            ("thread", OTHER, "other", [], 60), ("thread", WORKER, "kworker/1:2", ["a_work"], 60)],
    "intervals, functions and net times")


def piece(kind, number, name, function, net, origin=None):
    return {"kind": kind, "id": number, "name": name, "function": function, "net_ns": net * US,
            "origin": origin}


HICCUP = {"start_ns": 99 * US, "duration_ns": 170 * US, "outside_ns": 2 * US, "records_lost": 0,
          "pieces": [
    piece("vector", 236, "local_timer", "tick", 10),
                     piece("vector", 236, "local_timer", "wakeup", 5),
                     piece("softirq", 1, "TIMER", "a_work", 9),
    piece("thread", OTHER, "other", None, 60, {"cpu": 1, "pid": 0, "comm": "(interrupt)",
                                               "function": None}),
    piece("vector", 251, "call_function_single", "flush", 10,
          {"cpu": 0, "pid": 7, "comm": "x", "function": None}),
    piece("thread", WORKER, "kworker/1:2", "a_work", 60,
          {"cpu": 1, "pid": 0, "comm": "(softirq)", "function": None})]}


def verdict(change=None, hiccup=HICCUP):
    h = copy.deepcopy(hiccup)
    if change:
        change(h)
    return Judge(read(), 1).judge([h])


# A worker that came in the middle of its work, which it began elsewhere, is preempted right after
# it, goes on, takes up other work, sleeps, and comes again with nothing.
WORKING = [
    switch(0, SAMPLER, WORKER), event(50 * US, "workqueue_execute_end", 0xa, 4, pid=WORKER),
    switch(60 * US, WORKER, OTHER, state=PREEMPTED), switch(70 * US, OTHER, WORKER),
    event(80 * US, "workqueue_execute_start", 0xb, 3, pid=WORKER),
    event(90 * US, "workqueue_execute_end", 0xb, 3, pid=WORKER),
    switch(100 * US, WORKER, OTHER, state=1),
    event(110 * US, "sched_waking", WORKER, pid=OTHER), switch(120 * US, OTHER, WORKER),
    switch(150 * US, WORKER, SAMPLER)]


def work_done(trace, *said):
    """What is wrong with these functions and times of the worker."""
    h = {"start_ns": 0, "duration_ns": 150 * US, "outside_ns": 0, "records_lost": 0,
         "pieces": [piece("thread", WORKER, "kworker/1:2", *of) for of in said]
         + [piece("thread", OTHER, "other", None, 30)]}
    return sorted(Judge(read(trace, [event(-5, "workqueue_execute_start", 0xa, 4, pid=WORKER)]),
                        1).judge([h]).wrong)


is_(work_done(WORKING, ("a_work", 60), ("flush", 30), (None, 30)), [],
    "a worker that was preempted after its work begins other work")
is_(work_done(WORKING, ("a_work", 70), ("flush", 20), (None, 30)), [],
    "or was still on its way out")
is_(work_done(WORKING, ("a_work", 60), ("flush", 60)), ["net time", "only in the trace"],
    "one that slept does not go on")
is_(work_done(WORKING, ("flush", 30), (None, 90)), ["net time", "only in the trace"],
    "one that did not, does")

# A worker is woken, works on another CPU, is preempted there right after its work and goes on here;
# is preempted again before it tells of its next work, which it does elsewhere.
MOVED = [
    switch(0, SAMPLER, OTHER), event(5 * US, "sched_waking", WORKER, pid=OTHER),
    switch(30 * US, OTHER, WORKER), switch(60 * US, WORKER, SAMPLER, state=PREEMPTED)]


def moved(function, *then):
    """What is wrong when the worker is said to have run this here."""
    h = {"start_ns": 0, "duration_ns": 60 * US, "outside_ns": 0, "records_lost": 0,
         "pieces": [piece("thread", OTHER, "other", None, 30),
                    piece("thread", WORKER, "kworker/1:2", function, 30)]}
    requests = [event(at * US, f"workqueue_execute_{what}", work, address, pid=WORKER)
                for at, what, work, address in then]
    return sorted(Judge(read(MOVED, requests), 1).judge([h]).wrong)


BEFORE = (10, "start", 0xa, 4), (20, "end", 0xa, 4)
BEHIND = (70, "start", 0xb, 3), (80, "end", 0xb, 3)
is_([moved(of, *BEFORE) for of in ("a_work", None, "flush")], [[], [], ["function"]],
    "a worker that came from another CPU may be on its way out")
is_([moved(of, *BEHIND) for of in ("flush", None, "a_work")], [[], [], ["function"]],
    "one that was preempted may have its next work")
is_([moved("a_work", (2, "start", 0xa, 4), (3, "end", 0xa, 4)), moved("flush")],
    [["function"], ["function"]], "one that was woken since is not, nor has one that tells of none")

v = verdict()
is_((v.count["pieces"], v.count["askers"], dict(v.wrong)), (6, 3, {}),
    "the true account is right in all")


def wrong(change):
    return sorted(verdict(change).wrong)


def lose(h):
    h["records_lost"] = 9
    h["pieces"][3]["net_ns"] += 20 * US


is_(wrong(lambda h: h["pieces"].append(piece("irq", 9, "disk", None, 1))), ["only in culprit"],
    "a piece too many")
is_(wrong(lambda h: h["pieces"].pop(2)), ["only in the trace"], "a piece too few")
is_(wrong(lambda h: h["pieces"][0].update(function="tock")), ["function"], "another function")
is_(wrong(lambda h: h["pieces"][3].update(net_ns=70 * US)), ["net time"], "another time")
TICKS = [event(at * US, f"local_timer_{what}", 236) for at in (10, 30, 50)
         for at, what in ((at, "entry"), (at + 10, "exit"))]


def ticked(net, trace):
    """What is wrong when these ticks are said to have taken this long."""
    return sorted(Judge(read(trace + [event(90 * US, "softirq_entry", 1)]), 1).judge([
        {"start_ns": 10 * US, "duration_ns": 60 * US, "outside_ns": 0, "records_lost": 0,
         "pieces": [piece("vector", 236, "local_timer", None, net)]}]).wrong)


is_([ticked(net, TICKS[:2]) for net in (5, 15, 16)], [[], [], ["net time"]],
    "of one interval by 5 us")
is_([ticked(net, TICKS) for net in (21, 39, 40)], [[], [], ["net time"]],
    "of three by 9, for each is begun and ended between two probes")
is_(wrong(lambda h: h["pieces"][3].update(id=201)), ["only in culprit", "only in the trace"],
    "another thread")
is_(wrong(lambda h: h["pieces"][3]["origin"].update(pid=SAMPLER, comm="x")), ["asker"],
    "a thread in place of the interrupt that came upon it")
is_(wrong(lambda h: h["pieces"][4]["origin"].update(pid=8)), ["asker"], "another sender")
is_(wrong(lambda h: h["pieces"][2].update(origin=h["pieces"][4]["origin"])),
    ["asker that the trace does not have"], "an asker where there is none")
is_(wrong(lambda h: h.update(outside_ns=80 * US)), ["outside where the trace shows the kernel"],
    "time in the kernel that is called outside")
is_(wrong(lose), ["blamed for more than the trace says, records lost"],
    "more than the trace has, where records are missing")


def shared(h):
    h["pieces"][3].update(id=0)


def moved(h):
    """Its row became the shared one in the midst of the hiccup."""
    h["pieces"][3]["net_ns"] = 40 * US
    h["pieces"].append(piece("thread", 0, "other", None, 20))


def others(h):
    h["pieces"][3]["net_ns"] = 40 * US
    h["pieces"].append(piece("thread", 0, "(others)", None, 20))


is_(wrong(shared), [], "a row that threads of one name share")
is_(wrong(moved), [], "a row that became such a one")
is_(wrong(others), [], "a row that became one of the others")
is_(wrong(lambda h: (moved(h), h["pieces"][-1].update(net_ns=40 * US))), ["net time"],
    "together they have as much as the trace has")
unseen = {"start_ns": 390 * US, "duration_ns": 140 * US, "outside_ns": 0, "records_lost": 0,
          "pieces": [piece("vector", 236, "local_timer", None, 10),
                     piece("thread", 999, "gone", None, 130)]}
v = verdict(hiccup=unseen)
is_(dict(v.wrong), {}, "where somebody left unseen no thread is judged")
is_((v.count["in doubt"], sum(v.unjudged.values()) > 0, v.count["pieces"]), (1, True, 1),
    "which is said, and interrupts are judged")
v = verdict(hiccup={**HICCUP, "start_ns": 999 * US, "duration_ns": 50 * US})
is_((v.unjudged["hiccups before or after the trace"], v.count["judged"]), (1, 0),
    "what lies outside the trace is not judged")


v = verdict(lambda h: [p.update(origin=None) for p in h["pieces"]])
is_((dict(v.wrong), v.count["askers"], v.count["askers not named"]), ({}, 0, 1),
    "who asked, and is not named, is counted where what came surely came from there")
v = verdict()
is_((v.count["askers"], v.count["askers not named"]), (3, 0), "nobody else is")
SLEPT = [switch(0, SAMPLER, OTHER), switch(50 * US, OTHER, SAMPLER, state=1),
         event(80 * US, "sched_waking", OTHER, pid=WORKER), switch(90 * US, SAMPLER, OTHER),
         switch(120 * US, OTHER, SAMPLER)]
for trace, count in ((SLEPT, 1), (SLEPT[:1] + [switch(50 * US, OTHER, SAMPLER)] + SLEPT[2:], 0)):
    h = {"start_ns": 85 * US, "duration_ns": 35 * US, "outside_ns": 0, "records_lost": 0,
         "pieces": [piece("thread", OTHER, "other", None, 30)]}
    is_(Judge(read(trace), 1).judge([h]).count["askers not named"], count,
        f"the waker of who {'slept' if count else 'may have come from another CPU'}")


def worker(start, length, function, either=None):
    part = Part("thread", 24, "kworker/1:0H", start, function)
    part.end, part.net, part.either = start + length, length, either
    return part


def worked(function, net):
    return {"kind": "thread", "id": 24, "name": "kworker/1:0H", "function": function,
            "net_ns": net}


# On its way out a worker may count as at its work, or as beyond: as culprit has it.
WORK = frozenset({"wb_workfn"})
stays = [worker(0, 500, WORK), worker(600, 40, None, WORK), worker(700, 30, None, WORK)]
for pieces, want in (([worked("wb_workfn", 560)], {WORK: 570}),
                     ([worked("wb_workfn", 480)], {WORK: 570}),
                     ([worked("wb_workfn", 505), worked(None, 68)], {WORK: 500, None: 70})):
    is_({names: t.net for (_, names), t in sort_out(stays, pieces).items()}, want,
        f"a worker that leaves: {[(p['function'], p['net_ns']) for p in pieces]}")
# The short stay comes first, and its function has more left.
stays = [worker(0, 150, WORK), worker(200, 13, None, WORK), worker(300, 48, None, WORK)]
is_({names: t.net for (_, names), t in
     sort_out(stays, [worked("wb_workfn", 199), worked(None, 14)]).items()},
    {WORK: 198, None: 13}, "of two stays each function has the one that fits")
many = [worker(100 * i, 20 + i, None, WORK) for i in range(14)]
shared = {names: (t.count, abs(t.net - {WORK: 280, None: 91}[names]) <= 15) for (_, names), t in
          sort_out(many, [worked("wb_workfn", 280), worked(None, 91)]).items()}
is_((sum(n for n, _ in shared.values()), {near for _, near in shared.values()}), (14, {True}),
    "nearly so where they are many")


# A timer upon WORKER, who came unseen, wakes OTHER, who slept here: three switches, a mark, an
# interrupt, an arrival. No program saw the timer where the kernel runs none in WORKER.
UPON = [switch(0, SAMPLER, OTHER), switch(50 * US, OTHER, SAMPLER, state=1),
        event(60 * US, "local_timer_entry", 236, pid=WORKER),
        event(61 * US, "hrtimer_expire_entry", 2, pid=WORKER),
        event(62 * US, "sched_waking", OTHER, flags=HARDIRQ, pid=WORKER),
        event(63 * US, "local_timer_exit", 236, pid=WORKER),
        switch(90 * US, SAMPLER, OTHER)]
for unseen, want in ((), (6, 7)), ((WORKER,), (3, 7)):
    is_(records(UPON, read(UPON, unseen=unseen), 0, 90 * US), want,
        f"records, at least and at most, with no program in {unseen}")


# Innermost first: a softirq, in a thread's own call, in ksoftirqd, upon a thread; a thread, on its
# way out of an interrupt, at an interrupt's end.
for flags, stack, may in ((SOFTIRQ, (6, 8), {"(softirq)", SAMPLER}),
                          (SOFTIRQ, (6, 7, 9), {"(softirq)"}), (SOFTIRQ, (6, 10), {"(softirq)"}),
                          (SOFTIRQ | HARDIRQ, (), {"(interrupt)"}), (0, (8,), {SAMPLER}),
                          (0, (), {SAMPLER}), (0, (1, 11, 10), {SAMPLER}),
                          (0, (1, 10), {"(interrupt)", "(softirq)"})):
    requests = Requests()
    requests.add([event(5, "sched_waking", OTHER, flags=flags),
                  *([event(6, "stack", *stack)] if stack else [])], 1, 1)
    is_(asker_of(requests.wakes[OTHER][0], Symbols())[1], frozenset(may),
        f"who asked: flags {flags}, stack {[NAMES[n] for n in stack]}")
print(f"1..{len(results)}")
sys.exit(not all(results))
