#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit is no noise of its own: nothing that it does shows up in its window, and nothing of it
stays behind."""
import ctypes
import json
import os
import re
import signal
import struct

import lib
from lib import cpu_of, done, is_, not_judged, ok, skip, sources, total

SECONDS = 1.2
USUAL_CALLS = 60  # IPIs that attaching the probes sends, at least: hundreds were seen

lib.need_bpf()
cpu = lib.pick_target()


def own(report):
    rows = [s for c in report["cpus"] for s in c["sources"]] + [p for w in report["worst"]
                                                                for p in w["pieces"]]
    return [r for r in rows if r["kind"] == "thread" and r["id"] in log.tids]


def call_rows(report):
    return sources(report, cpu, kind="vector", name=re.compile("^call_function"))


def moved_pages():
    """How many pages the kernel has given another place, also those of others: whoever uses one
    meanwhile takes a fault."""
    return sum(int(n) for n in re.findall(r"^pgmigrate_\w+ (\d+)$", lib.read("/proc/vmstat"),
                                          re.M))


def held(pid, what):
    """What the process holds by its descriptors: "prog_id" of BPF programs, "map_type" of maps."""
    return {int(n) for fd in os.listdir(f"/proc/{pid}/fdinfo")
            for n in re.findall(rf"^{what}:\s+(\d+)$", lib.read(f"/proc/{pid}/fdinfo/{fd}"), re.M)}


# ---- in its own window ----

moved = moved_pages()
report, log = lib.run_json(cpu, SECONDS)
moved = moved_pages() - moved
lib.check_sums(report, "traced")
untraced, _ = lib.run_json(cpu, 0.3, "--no-trace")
ok(len(log.tids) > 1, "its processes are known", log.tids)
is_(own(report), [], "no source and no worst hiccup names a process of culprit")
# Others may send as many as they like: those that are not known to be theirs could be culprit's.
calls = call_rows(report)
theirs = sum(total([o for o in s["origins"] if o["pid"] not in log.tids], "count") for s in calls)
if "csd_queue_cpu" in report["run"]["not_observed"]:
    skip("its window has no function-call IPIs of its own",
         "this kernel does not tell who sent them")
else:
    ok(total(calls, "count") - theirs <= USUAL_CALLS,
       "its window has no function-call IPIs of its own",
       f"the kernel counted {log.inner['CAL']}..{log.outer['CAL']}, {theirs} are by others", *calls)
ok(log.outer["CAL"] - log.inner["CAL"] > USUAL_CALLS,
   "attaching and detaching do send them: outside the window",
   log.outer["CAL"], log.inner["CAL"])
asked = [(s["kind"], s["name"], s["function"], o) for s in cpu_of(report, cpu)["sources"]
         for o in s.get("origins", []) if o["pid"] in log.tids]
is_(asked, [], "nothing that hit the target was asked for by culprit")
faults = sources(report, cpu, kind="fault")
if faults and moved:
    not_judged("the sampler takes no page fault", f"the kernel moved {moved} pages meanwhile")
else:
    is_(faults, [], "the sampler takes no page fault")
is_(cpu_of(report, cpu)["records"]["recursion_misses"], 0, "no probe was re-entered")
busy = cpu_of(report, cpu)["loop"]["mean_ps"] / cpu_of(untraced, cpu)["loop"]["mean_ps"]
ok(busy < 4, "watching the records does not slow the sampler's loop fourfold", busy)


# ---- afterwards ----


def is_loaded(program):
    """Whether the kernel still has the BPF program with this id."""
    attributes = struct.pack("I60x", program)
    fd = ctypes.CDLL(None).syscall({"x86_64": 321, "aarch64": 280}[os.uname().machine], 13,
                                   attributes, len(attributes))  # BPF_PROG_GET_FD_BY_ID
    if fd >= 0:
        os.close(fd)
    return fd >= 0


def run_and_signal(how):
    """Starts a long run, hits it once it measures; returns its Result, the ids of its programs and
    the types of its maps."""
    with lib.ready_file() as path:
        proc = lib.spawn("run", "-c", str(cpu), "-d", "60s", "-f", "json", "-q", "--ready-file",
                         path)
        lib.await_ready(proc, path)
        ours, maps = held(proc.pid, "prog_id"), held(proc.pid, "map_type")
        loaded = all(map(is_loaded, ours))
        os.kill(proc.pid, how)
        return lib.finish(proc), ours if loaded else set(), maps


for how in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
    result, ours, maps = run_and_signal(how)
    # BPF_MAP_TYPE_PERF_EVENT_ARRAY and _RINGBUF wake their reader by an irq_work, on the CPU of the
    # probe. Others may queue as many as they like.
    ok(maps and not maps & {4, 27}, f"{how.name}: its probes queue no irq_work", maps)
    if how == signal.SIGKILL:
        is_(result.rc, -signal.SIGKILL, "SIGKILL of the parent ends it")
    else:
        is_(result.rc, 0, f"{how.name} ends the run with 0")
        early = json.loads(result.out)
        lib.check_sums(early, f"{how.name}: the report so far")
        ok(0 < cpu_of(early, cpu)["observed_ns"] < 30e9, f"{how.name}: it covers what was measured")
    is_(lib.await_gone(lib.marked), [], f"{how.name}: no process is left")
    ok(ours, f"{how.name}: it had BPF programs, which the kernel knew")
    is_(lib.await_gone(lambda: [i for i in ours if is_loaded(i)]), [],
        f"{how.name}: none of its {len(ours)} BPF programs is left")


def memory(pid):
    """{"Anonymous": kB...}: the private memory is what is anonymous; files and rings are shared."""
    return {key: int(value) for key, value in re.findall(r"^(\w+): +(\d+) kB",
                                                         lib.read(f"/proc/{pid}/smaps_rollup"),
                                                         re.M)}


# A sampler that dies must not be waited for, and what was measured so far is worth a report.
with lib.ready_file() as path:
    proc = lib.spawn("run", "-c", str(cpu), "-d", "60s", "-f", "json", "-q", "--ready-file", path)
    lib.await_ready(proc, path)
    samplers = [pid for pid, _ in lib.marked() if pid != proc.pid]
    used = [memory(pid) for pid in samplers]
    for pid in samplers:
        os.kill(pid, signal.SIGKILL)
    result = lib.finish(proc)
ok(samplers, "the sampler is a process of its own: nobody shares its memory map")
words = "it has at most 1 MB for itself, whatever culprit has, and is locked"
if lib.sanitized():
    lib.skip(words, "a sanitizer has memory of its own, and locks nothing")
else:
    ok(all(m["Anonymous"] <= 1024 and m["Locked"] > 1024 for m in used), words, *used)
ok(result.rc is not None, "killing it ends the run", result)
is_(lib.await_gone(lib.marked), [], "and no process is left")
done()
