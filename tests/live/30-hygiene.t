#!/usr/bin/env python3
"""culprit is no noise of its own: nothing that it does shows up in its window, and nothing of it
stays behind."""
import json
import os
import re
import shutil
import signal
import subprocess

import lib
from lib import cpu_of, done, is_, names, ok, skip, sources, total

SECONDS = 2
USUAL_CALLS = 60  # IPIs that attaching the probes sends, at least: hundreds were seen

lib.need_bpf()
cpu = lib.pick_target()


def own(report):
    return [n for n in names(report) if n[1].startswith("culprit")]


def call_rows(report):
    return sources(report, cpu, kind="vector", name=re.compile("^call_function"))


# ---- in its own window ----

report, log = lib.run_json(cpu, SECONDS)
lib.check_sums(report, "traced")
untraced, _ = lib.run_json(cpu, 0.3, "--no-trace")
is_(own(report), [], "no source and no worst hiccup names a process of culprit")
# Others may send as many as they like: those that are not known to be theirs could be culprit's.
calls = call_rows(report)
theirs = sum(total([o for o in s["origins"] if not o["comm"].startswith("culprit")], "count")
             for s in calls)
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
         for o in s.get("origins", [])
         if o["comm"].startswith("culprit")]
is_(asked, [], "nothing that hit the target was asked for by culprit")
faults = sources(report, cpu, kind="fault")
is_(faults, [], "the sampler takes no page fault")
work = total(sources(report, cpu, kind="vector", name="irq_work"), "count")
ok(work <= log.outer["IWI"] and work < 100, "its probes queue no irq_work", work)
is_(cpu_of(report, cpu)["records"]["recursion_misses"], 0, "no probe was re-entered")
busy = cpu_of(report, cpu)["loop"]["mean_ps"] / cpu_of(untraced, cpu)["loop"]["mean_ps"]
ok(busy < 4, "watching the records does not slow the sampler's loop fourfold", busy)


# ---- afterwards ----


def programs():
    """{id: pids} of the BPF programs in the kernel; None without bpftool."""
    tool = shutil.which("bpftool") or shutil.which("bpftool",
                                                   path="/usr/sbin:/sbin:/usr/local/sbin")
    if not tool:
        return None
    for _ in range(5):  # it may stumble over programs that go while it lists
        listing = subprocess.run([tool, "-j", "prog", "list"], capture_output=True, text=True)
        if listing.returncode == 0:
            return {p["id"]: {u["pid"] for u in p.get("pids", [])}
                    for p in json.loads(listing.stdout)}
    return None


def run_and_signal(how):
    """Starts a long run, hits it once it measures; returns its Result and the ids of its
    programs."""
    before = programs()
    with lib.ready_file() as path:
        proc = lib.spawn("run", "-c", str(cpu), "-d", "60s", "-f", "json", "-q", "--ready-file",
                         path)
        lib.await_ready(proc, path)
        during = programs()
        ours = None
        if before is not None and during is not None:
            tree = {pid for pid, _ in lib.marked()}
            ours = {i for i, pids in during.items() if i not in before
                    and (not pids or pids & tree)}
        os.kill(proc.pid, how)
        return lib.finish(proc, 20), ours


for how in signal.SIGINT, signal.SIGTERM, signal.SIGKILL:
    result, ours = run_and_signal(how)
    if how == signal.SIGKILL:
        is_(result.rc, -signal.SIGKILL, "SIGKILL of the parent ends it")
    else:
        is_(result.rc, 0, f"{how.name} ends the run with 0")
        early = json.loads(result.out)
        lib.check_sums(early, f"{how.name}: the report so far")
        ok(0 < cpu_of(early, cpu)["observed_ns"] < 30e9, f"{how.name}: it covers what was measured")
    is_(lib.await_gone(lib.marked), [], f"{how.name}: no process is left")
    if not ours:
        if ours is None:
            skip(f"{how.name}: no BPF program is left", "no bpftool")
        else:
            ok(False, f"{how.name}: it had BPF programs")
        continue
    is_(lib.await_gone(lambda: ours & set(programs() or ())), set(),
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
    result = lib.finish(proc, 20)
ok(samplers, "the sampler is a process of its own: nobody shares its memory map")
ok(all(m["Anonymous"] <= 1024 and m["Locked"] > 1024 for m in used),
   "it has at most 1 MB for itself, whatever culprit has, and is locked", *used)
ok(result.rc is not None, "killing it ends the run", result)
is_(lib.await_gone(lib.marked), [], "and no process is left")
done()
