#!/usr/bin/env python3
"""Beside the kernel's own osnoise, in a guest that counts instructions: both account for the same interruptions, one by one. And all
that the comparison switches on is put back, on every way out."""
import importlib.machinery
import importlib.util
import json
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from lib import diag, done, is_, ok, skip_all  # noqa: E402

_loader = importlib.machinery.SourceFileLoader("lab", os.path.join(ROOT, "tools", "lab"))
lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", _loader))
_loader.exec_module(lab)

KERNEL = "6.12-rt"
JOB = """
T=/sys/kernel/tracing
knobs() { cat $T/osnoise/cpus $T/osnoise/options $T/current_tracer; ls $T/instances; }
knobs >/tmp/out/before
culprit osnoise -c 1 -d 6s -q -f json -o /tmp/out/compare --ready-file /tmp/ready &
until [ -e /tmp/ready ]; do usleep 10000; done
poke mix -c 1 -n 20 -g 5ms-10ms >/tmp/out/poke
wait $!
knobs >/tmp/out/after
culprit osnoise -c 1 -d 2s -q -f json --alternate -o /tmp/out/periods
knobs >/tmp/out/alternated

rm -f /tmp/ready
culprit osnoise -c 1 -d 60s -q -o /dev/null --ready-file /tmp/ready &
until [ -e /tmp/ready ]; do usleep 10000; done
knobs >/tmp/out/during
culprit osnoise -c 1 -d 1s -q -o /dev/null 2>/tmp/out/second; echo $? >>/tmp/out/second
kill -9 $!; wait $!; usleep 500000
culprit osnoise -c 1 -d 1s -q -o /dev/null 2>/tmp/out/third; echo $? >>/tmp/out/third
knobs >/tmp/out/killed

echo osnoise >$T/current_tracer
culprit osnoise -c 1 -d 1s -q -o /dev/null 2>/tmp/out/other; echo $? >>/tmp/out/other
cat $T/current_tracer >>/tmp/out/other
echo nop >$T/current_tracer
"""

try:
    guest = lab.Guest(lab.kernel(KERNEL), JOB, counted=True)
except lab.Failed as why:
    skip_all(str(why), required=True)
try:
    rc, out, err, files = guest.result(200)
finally:
    guest.close()
text = {name: data.decode(errors="replace") for name, data in files.items()}
ok(rc == 0, "the job ends well in the guest", rc, out, err)

cpu = json.loads(text["compare"])["cpus"][0]
diag(*[f"{s['kind']} {s['name']}: {s['culprit']} {s['osnoise']} {s['matched']} p50 {s['difference_p50_ns']}" for s in cpu["sources"]])
ok(cpu["osnoise"] > 300, "osnoise saw the noise that was made", cpu["osnoise"])
ok(cpu["matched"] >= 0.999 * cpu["osnoise"], "99.9 % of osnoise's intervals are matched one to one", cpu["matched"], cpu["osnoise"])
is_(cpu["lost"], 0, "nothing was lost")
alone = [s for s in cpu["sources"] if s["only_culprit"] and not s["why"]]
is_(alone, [], "what only culprit has is explained")
for s in cpu["sources"]:
    # Threads that run softirqs: osnoise on PREEMPT_RT leaves those in them, culprit takes them out.
    if s["matched"] >= 20 and not s["name"].startswith(("ktimers", "ksoftirqd", "poke-net")):
        ok(s["difference_p50_ns"] <= max(0.05 * s["culprit_ns"] / s["culprit"], 1500),
           f"{s['kind']} {s['name']}: the two agree on its length", s)

periods = json.loads(text["periods"])["periods"]
ok({p["by"] for p in periods} == {"culprit", "osnoise"} and {p["turn"] for p in periods} == {1, 2}, "both measure in turn, twice", periods)
ok(all(p["noise_ns"] <= p["runtime_ns"] and p["max_single_ns"] <= p["noise_ns"] for p in periods), "the periods hold", periods)

is_(text["after"], text["before"], "what was switched on is put back")
is_(text["alternated"], text["before"], "after the alternation, too")
ok("NO_OSNOISE_WORKLOAD" in text["during"] and "culprit-osnoise" in text["during"], "it was switched on", text["during"])
ok(text["second"].startswith("culprit: another culprit") and text["second"].endswith("\n1\n"), "a second one waits its turn", text["second"])
ok(text["third"].endswith("0\n") and text["killed"] == text["before"], "the run after a kill puts back what was left",
   text["third"], text["killed"], text["before"])
ok("somebody else uses" in text["other"] and text["other"].endswith("\n1\nosnoise\n"), "another user is left alone", text["other"])
done()
