#!/usr/bin/env python3
"""Known noise is named, as often and as long as poke's own log says; without poke it is not there.

Allowances. A thread's interval is longer than the burst that poke's thread times itself, by the switches and syscalls
around it: ALLOW_NS a poke, which is ten times what a virtual machine under load was seen to take. It may be shorter
by the interrupts inside, which are named by themselves: a tenth. Setting up and ending poke runs its thread a few times
more, and a thread that is preempted comes in pieces: half as many again, SCHED_OTHER beside the sampler four times as
many.
"""
import re

import lib
from lib import done, names, ok, skip, sources, total

ALLOW_NS = 200_000
SPARE = 5  # runs of its thread while poke sets up and ends
WINDOW_S = 3

lib.need_bpf()
cpu = lib.pick_target()
control, quiet = lib.run_json(cpu, WINDOW_S)
lib.check_sums(control, "control")
ok(not [n for n in names(control) if n[1].startswith("poke")], "control: names nothing of poke", names(control))


def calls(report, **match):
    return sources(report, cpu, kind="vector", name=re.compile("^call_function"), **match)


def kworkers(report):
    return sources(report, cpu, kind="thread", name=re.compile(f"^kworker/{cpu}:"))


def measure(what, *args):
    """(report, log), or None when this machine cannot make that noise."""
    why = lib.need_class(cpu, what)
    if why:
        skip(what, why)
        return None
    report, log = lib.run_json(cpu, WINDOW_S, poke=[what, *args])
    lib.check_sums(report, what)
    return report, log


def runs_fit(rows, log, pieces=1.5):
    # Where the machine stalled, one poke follows another so closely that the thread does not sleep in between.
    runs = 1 + sum(e["start_ns"] > before["end_ns"] + 50_000 for before, e in zip(log, log[1:]))
    return runs <= total(rows, "count") <= pieces * len(log) + SPARE


def check_thread(what, report, log, low, high, pieces=1.5):
    """The thread that poke ran: one source, by tid and comm, between the two times in all."""
    rows = sources(report, cpu, kind="thread", name=log[0]["comm"], id=log[0]["tid"])
    if not ok(len(rows) == 1, f"{what}: its thread is one source", sources(report, cpu, kind="thread"), log[0]):
        return
    row, n = rows[0], len(log)
    ok(runs_fit(rows, log, pieces), f"{what}: its thread ran once a poke", f"{n} pokes", row)
    high += ALLOW_NS * (n + SPARE)
    ok(0.9 * low <= row["total_ns"] <= high, f"{what}: for as long as poke says",
       f"poke says {low}..{high} ns", row)
    ok(row["max_ns"] >= 0.9 * low / n, f"{what}: its longest run is no shorter than the mean", f"{low / n} ns", row)


def spans(log, start="start_ns", end="end_ns"):
    return sum(e[end] - e[start] for e in log)


def ran(log):
    return sum(e["ran_ns"] for e in log)


for what in "thread", "fifo":
    if got := measure(what, "-n", "50", "-l", "2ms", "-g", "10ms-30ms"):
        report, log = got
        check_thread(what, report, log, ran(log), spans(log), 4 if what == "thread" else 1.5)

if got := measure("futex", "-n", "150", "-g", "5ms-9ms"):
    report, log = got
    check_thread("futex", report, log, spans(log), spans(log))

if got := measure("timer", "-n", "400", "-g", "2ms-4ms"):
    report, log = got
    check_thread("timer", report, log, 0, 0)
    timers = total(sources(report, cpu, kind="vector", name="local_timer"), "count")
    # Some expire in one interrupt with the tick: then the kernel counts one, too.
    ok(log.inner["LOC"] <= timers <= log.outer["LOC"], "timer: as many local timer interrupts as the kernel counted",
       f"kernel {log.inner['LOC']}..{log.outer['LOC']}, culprit {timers}")
    ok(timers >= len(log) / 2, "timer: no fewer than half the pokes", timers)

for what in "membarrier", "tlb":
    if got := measure(what, "-n", "150", "-g", "5ms-9ms"):
        report, log = got
        # Where the sender lost its CPU for long, the spinner had gone when the IPI came.
        hit = [e for e in log if e["spin_start_ns"] <= e["start_ns"] and e["end_ns"] <= e["spin_end_ns"]]
        rows, usual = calls(report), total(calls(control, function=log[0]["function"]), "runs")
        count = total(rows, "count")
        ok(log.inner["CAL"] <= count <= log.outer["CAL"], f"{what}: as many function-call IPIs as the kernel counted",
           f"kernel {log.inner['CAL']}..{log.outer['CAL']}, culprit {count}", *rows)
        # Nor has the kernel sent one where the spinner had been taken off: then fewer have come, and that is the kernel's count.
        due = min(len(hit), log.inner["CAL"])
        ok(count >= due > usual, f"{what}: one a poke, more than the control run has",
           f"{len(hit)} of {len(log)} pokes, culprit {count}, control {usual}")
        # The IPI hits while poke's thread spins: the two share that time, and no ns belongs to both.
        thread = sources(report, cpu, kind="thread", name=log[0]["comm"])
        spun, high = spans(log, "spin_start_ns", "spin_end_ns"), ALLOW_NS * (len(log) + SPARE)
        both = total(thread) + total(rows)
        ok(0.9 * spun <= both <= spun + high + total(calls(control)),
           f"{what}: the IPI and the thread it interrupts share the thread's time",
           f"poke says {spun} ns, up to {high} more", *thread, *rows)
        ok(runs_fit(thread, log), f"{what}: its thread ran once a poke", *thread)
        if what == "tlb":
            flushes = total(calls(report, function=re.compile("shootdown|flush_tlb")), "runs")
            ok(min(len(hit), log.inner["TLB"]) <= flushes <= log.outer["TLB"], "tlb: the IPIs are named as shootdowns",
               f"{len(hit)} of {len(log)} pokes, kernel {log.outer['TLB']}, culprit {flushes}", *rows)

if got := measure("kworker", "-n", "150", "-g", "5ms-9ms"):
    report, log = got
    count, usual = total(kworkers(report), "runs"), total(kworkers(control), "runs")
    # A work item that finds the worker running joins that run.
    ok(count >= 0.9 * len(log) > usual, "kworker: one run a poke, more than the control run has",
       f"{len(log)} pokes, culprit {count}, control {usual}", *kworkers(report))
    # Other work of the same worker: as in the control run, and 100 ms more.
    high = spans(log) + ALLOW_NS * len(log) + total(kworkers(control)) + 100_000_000
    ok(0 < total(kworkers(report)) <= high, "kworker: within the time that poke waited for it", high, *kworkers(report))


# ---- all classes in one run, in random order: every function is named, and whoever asked for it ----

N = 25
# Function: the hook that names it, the hook that tells who asked, how often at least in a poke.
FUNCTIONS = {
    "hrtimer_wakeup": ("hrtimer_expire_entry", None, 1),
    "timerfd_tmrproc": ("hrtimer_expire_entry", None, 1),
    "posix_timer_fn": ("hrtimer_expire_entry", None, 1),
    "ipi_mb": ("csd_function_entry", "csd_queue_cpu", 1),
    "flush_tlb_func": ("csd_function_entry", "csd_queue_cpu", 1),
    "do_sync_core": ("csd_function_entry", "csd_queue_cpu", 2),
    "refresh_vm_stats": ("workqueue_execute_start", "workqueue_queue_work", 1),
    "perf_pending_irq": ("irq_work_single", None, 1),
}


# They run so often in one poke that only the least is known. One renames itself: most of its names go into (others).
STORMS = ("udp", "yield-storm", "rename-storm")


def asked(row, pid):
    return total([o for o in row.get("origins", []) if o["pid"] == pid], "count")


report, log = lib.run_json(cpu, 10, poke=["mix", "-n", str(N), "-g", "5ms-15ms"])
lib.check_sums(report, "mix")
missing = report["run"]["not_observed"]
poked = {name: [e for e in log if e["class"] == name] for name in log.config["classes"]}
for name in log.config["skipped"]:
    skip("mix: " + name, "poke cannot make it here")
for name, pokes in poked.items():
    function, comm, pid = pokes[0].get("function"), pokes[0].get("comm"), log.config["pid"]
    if comm:
        rows = sources(report, cpu, kind="thread", id=pokes[0]["tid"])
        if name in STORMS:
            ok(total(rows, "count") >= N, f"mix: {name}: its thread is named, once a poke and more", f"{N} pokes", *rows)
        else:
            rows = [r for r in rows if r["name"] == comm]
            ok(runs_fit(rows, pokes, 4), f"mix: {name}: its thread is named, once a poke", f"{N} pokes", *rows)
        if name not in ("timer", "setaffinity", "rename-storm") and "sched_waking" not in missing:
            ok(sum(asked(r, pid) for r in rows) >= 0.9 * N, f"mix: {name}: woken by poke's main thread", *rows)
    if function in FUNCTIONS:
        hook, origin, often = FUNCTIONS[function]
        often = pokes[0].get("calls", often)
        if hook in missing:
            skip(f"mix: {name}: {function} is named", f"this kernel has no {hook}")
            continue
        rows = sources(report, cpu, function=function)
        # One in twenty may share an interrupt or a worker's run with another.
        ok(total(rows, "runs") >= 0.95 * often * N, f"mix: {name}: {function} is named", f"{N} pokes", *rows)
        if origin and origin not in missing:
            ok(sum(asked(r, pid) for r in rows) >= 0.95 * often * N, f"mix: {name}: {function} was asked for by poke",
               *rows)
if "perf" in poked and "irqwork" in poked and "hrtimer_expire_entry" not in missing:
    samples = sum(e["samples"] for name in ("perf", "irqwork") for e in poked[name])
    rows = sources(report, cpu, function="perf_swevent_hrtimer")
    ok(total(rows, "runs") >= 0.95 * samples, "mix: perf: no fewer timers than samples", samples, *rows)
if "net" in poked:
    rows = sources(report, cpu, kind="softirq", name="NET_RX")
    ok(total(rows, "count") >= N, "mix: net: softirq NET_RX", *rows)
if "ksoftirqd" in poked:
    rows = sources(report, cpu, kind="thread", name=f"ksoftirqd/{cpu}")
    ok(total(rows, "count") >= 0.9 * N, "mix: ksoftirqd: the thread that takes over", *rows)
if "irq" in poked:
    rows = sources(report, cpu, kind="irq", id=poked["irq"][0]["irq"])
    ok(total(rows, "count") >= 0.9 * N and poked["irq"][0]["name"] in rows[0]["name"], "mix: irq: the device is named",
       *rows)
if "setaffinity" in poked:
    rows = sources(report, cpu, kind="thread", name=f"migration/{cpu}")
    ok(total(rows, "count") >= N, "mix: setaffinity: the stopper thread", *rows)
done()
