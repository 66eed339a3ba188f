#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What a record costs in instructions, which are the same on every machine and however busy it is:
a guest whose clock counts them makes noise of each kind alone, with culprit, with an instance of
ftrace that has the same events, and, where `make bench` has built it, with the floor: programs on
culprit's hooks that only read the clock. With LONG=1 also with threads watched, by both ways, and
beside the same tracepoints counted as perf stat does.

Prints a table. The bounds are what was measured, and a little for updates of Debian's kernel: a
change that makes a record dearer has to say so here.

A CPU that has a function called on another one waits for it, and the instructions of both count.
So that row (`call`) is of both; what it takes to note who asked is told once more alone, as the run
of the program that does it, by the kernel's own statistics, a reading of the clock included.
"""
import json
import os

from guests import LONG, lab, need, run
from lib import cpu_of, diag, done, is_, ok, skip_all, sources, take_turn

take_turn(shared=True)

KERNEL = "6.12"
SHIFT = 3  # an instruction takes 8 ns: so a second of the guest is short
# Noise of tests/vm/noise.c, the records that it makes, and the instructions that they may add. A
# record adds the same number in every guest: 377, 834, 400, 606 and 1,354, in 150 processes of each
# noise in two guests (one more in 2 of 300 calls). A burst of switches is shorter than the 1.024 ms
# after which the kernel sums up what a CPU was used for (kernel/sched/pelt.c), so that it falls
# into one once at most: 61 instructions, a sixteenth of them an event, which is below 4. Of 24
# bursts the third shortest counts: it has more than that only where 22 were disturbed, and up to
# eight are.
KINDS = {
    "switch": ("thread", 385),
    "wake": ("thread, and who woke it", 850),
    "softirq": ("softirq", 408),
    "timer": ("vector, and its function", 614),
    "call": ("vector, its function, and who asked: on both CPUs", 1390),
}
# Programs where somebody asks by a way that is known (bpf/asker.bpf.c): no stack is unwound.
ASKERS = {"sched_waking": 515, "ipi_send_cpu": 515}
# More for a program that has no frame pointers (Python): 256 bytes of its stack are read, and
# twelve words looked through.
CALLERS = 490
# While threads are watched: what records and sums add, at most, and how many events each noise is.
# The kernel reads the clock and goes to the programs for both: the floor above.
WATCHED = {
    "switch": (880, 710, 24 * 9 * 2),
    "wake": (2030, 942, 24 * 9 * 2),
    "softirq": (460, 550, 1000 + 24 * 9),
    "timer": (990, 790, 24 * 7),
}
EVENTS = """sched/sched_switch sched/sched_waking irq/softirq_entry irq/softirq_exit
irq_vectors/local_timer_entry irq_vectors/local_timer_exit timer/hrtimer_expire_entry"""
CALL_EVENTS = """irq_vectors/call_function_single_entry irq_vectors/call_function_single_exit
csd/csd_queue_cpu csd/csd_function_entry ipi/ipi_send_cpu"""
NOISE = f"noise 1 0 24 {' '.join(KINDS)}"
ALONE = f"noise 1 0 24 {' '.join(kind for kind in KINDS if kind != 'call')}"
JOB = f"""
echo -1 >/proc/sys/kernel/sched_rt_runtime_us
{NOISE}
echo ftrace
T=/sys/kernel/tracing
echo mono >$T/trace_clock
echo 2 >$T/tracing_cpumask
for e in {' '.join(EVENTS.split())}; do echo 1 >$T/events/$e/enable; done
{ALONE}
echo 3 >$T/tracing_cpumask  # culprit notes who asked, too, which is the other CPU's
for e in {' '.join(CALL_EVENTS.split())}; do echo 1 >$T/events/$e/enable; done
noise 1 0 24 call
echo 0 >$T/events/enable
if [ -e /usr/bin/bench ]; then
	echo floor
	mkfifo /tmp/open
	bench floor 1 </tmp/open >/tmp/floor &
	exec 3>/tmp/open
	until grep -q ready /tmp/floor || ! kill -0 $!; do usleep 10000; done
	{NOISE}
	exec 3>&-
	wait $!
fi
culprit run -c 1 -d 300ms -q -t 1us --no-trace -f json -o /tmp/out/untraced --no-audit
echo culprit
culprit run -c 1 -d 1h -q -t 1us -f json -o /tmp/out/report --no-audit --ready-file /tmp/ready &
until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
sleep 1  # until CPU 0 is calm: its turns come on top
{NOISE}
echo 1 >/proc/sys/kernel/bpf_stats_enabled
python3 tests/vm/asking.py $! >/tmp/out/askers
kill -INT $!
wait $!
culprit run -c 1 -d 1h -q -o /tmp/out/users --no-audit --user-stacks --ready-file /tmp/users &
until [ -e /tmp/users ] || ! kill -0 $!; do usleep 10000; done
python3 tests/vm/asking.py $! >/tmp/out/callers
kill -INT $!
wait $!
echo 0 >/proc/sys/kernel/bpf_stats_enabled
"""
WATCHING = f"""
if [ -e /usr/bin/bench ]; then
	echo counting
	mkfifo /tmp/counts
	bench count 1 {' '.join(EVENTS.split())} </tmp/counts >/tmp/count &
	exec 3>/tmp/counts
	until grep -q ready /tmp/count || ! kill -0 $!; do usleep 10000; done
	noise 1 0 24 {' '.join(WATCHED)}
	exec 3>&-
	wait $!
fi
for way in '' --sums; do
	echo watch$way
	culprit watch -c 1 -d 1h -q $way -o /tmp/out/watch$way -H 0 --ready-file /tmp/go$way &
	until [ -e /tmp/go$way ] || ! kill -0 $!; do usleep 10000; done
	sleep 1
	for kind in {' '.join(WATCHED)}; do
		read before rest </proc/$!/schedstat
		noise 1 0 24 $kind
		sleep 0.1  # until it is read
		read after rest </proc/$!/schedstat
		echo read-$kind $((after - before))
	done
	kill -INT $!
	wait $!
done
"""

kernel, = need(KERNEL)
noise, bench = (os.path.join(lab.BUILD, name) for name in ("noise", "bench"))
if not os.path.exists(noise):
    skip_all(f"no {noise}: make unit-tests builds it")
here = {"/usr/bin/noise": noise}
if os.path.exists(bench):
    here |= {"/usr/bin/bench": bench} | lab.libraries([bench], lab.MACHINES["amd64"])
rc, out, err, files = run(kernel, JOB + (WATCHING if LONG else ""), counted=SHIFT,
                          isolation="isolcpus=1 irqaffinity=0", files=here)
ok(rc == 0, "the job ends well in the guest", rc, out, err)

took, tool = {}, "alone"
for line in out.splitlines():
    word, _, ns = line.partition(" ")
    tool = tool if ns else word
    if ns:
        took[tool, word] = float(ns) / 2**SHIFT
tools = [t for t in ("floor", "ftrace", "culprit") if (t, "switch") in took]
asked, called = ({name: [float(ns) / 2**SHIFT for ns in rest]
                  for name, *rest in map(str.split, files[of].splitlines())}
                 for of in ("askers", "callers"))
report = json.loads(files["report"])
diag(f"instructions on {kernel.version()}",
     f"{'':<14}{'alone':>7}{''.join(f'{t:>9}' for t in tools)}{'bound':>7}{'/ftrace':>9}"
     f"{'/floor':>8}  records: what tracers add")
for kind, (records, bound) in KINDS.items():
    adds = {t: took[t, kind] - took["alone", kind] for t in tools}
    diag(f"{kind:<14}{took['alone', kind]:>7.0f}{''.join(f'{adds[t]:>9.0f}' for t in tools)}"
         f"{bound:>7}{adds['culprit'] / adds['ftrace']:>9.2f}"
         f"{adds['culprit'] / adds['floor'] if 'floor' in adds else 0:>8.2f}  {records}")
    # Less than a tenth of what it was: nothing was recorded.
    ok(bound / 10 < adds["culprit"] <= bound,
       f"{kind}: a record adds no more instructions than it did", adds, bound)
    ok(adds["culprit"] < adds["ftrace"] / 2, f"{kind}: fewer than half of what ftrace adds", adds)
if LONG:
    diag("watched:      records     sums           with the reader         times alone counting")
    for kind, (*bounds, events) in WATCHED.items():
        adds = [took[t, kind] - took["alone", kind] for t in ("watch", "watch--sums")]
        whole = [on_cpu + took[t, f"read-{kind}"] / events
                 for on_cpu, t in zip(adds, ("watch", "watch--sums"))]
        times = [1 + n / took["alone", kind] for n in adds]
        diag(f"{kind:<14}{adds[0]:>7.0f}{adds[1]:>9.0f}{adds[1] / adds[0]:>7.2f}"
             f"{whole[0]:>9.0f}{whole[1]:>9.0f}{whole[1] / whole[0]:>7.2f}"
             f"{''.join(f'{n:>8.2f}' for n in times)}"
             + "".join(f"{took[t, kind] - took['alone', kind]:>9.0f}" for t in ("counting",)
                       if (t, kind) in took))
        ok(adds[1] < 1000, f"{kind}: 1,000 of it a second with --sums take less than 0.1 % of a "
           "CPU that does 1e9 instructions a second", adds)
        ok(all(bound / 10 < n <= bound for n, bound in zip(adds, bounds)),
           f"{kind}: watched, it takes no more than it did", adds, bounds)
        ok(0 < whole[1] <= whole[0] / 2,
           f"{kind}: sums take half of records at most, with who reads them", whole)
for name, bound in ASKERS.items():
    known, often = asked[name]
    diag(f"{name:<14}{'':>7}{known:>{9 * len(tools)}.0f}{bound:>7}{'':>17}"
         f"  where somebody asks by a known way; else {often:.0f}")
    # Less than a quarter of it: it was no request for the target.
    ok(bound / 4 < known <= bound, f"{name}: noting who asked takes no more than it did", known,
       bound)
more = called["sched_waking"][0] - asked["sched_waking"][0]
diag(f"--user-stacks {'':>7}{more:>{9 * len(tools)}.0f}{CALLERS:>7}{'':>17}"
     "  more for sched_waking")
ok(CALLERS / 10 < more <= CALLERS, "a user stack takes no more than it did", called, asked)
loop = [cpu_of(r, 1)["loop"] for r in (json.loads(files["untraced"]), report)]
turns = [of["min_ns"] / 2**SHIFT for of in loop]
diag(f"loop          {turns[0]:>7.0f}{turns[1]:>{9 * len(tools)}.0f}{'':>24}"
     "  a turn of the sampler's, untraced and traced")
is_(*turns, "on the quiet path there is not one instruction more")
# All others are gaps: a turn of the other CPU, or the way back to the loop from noting the one
# before, which must not be noted as the next one.
ok(all(of["mean_ps"] < 1.02 * of["min_ns"] * 1000 for of in loop),
   "and the turns are those of the quiet path", loop)
is_(cpu_of(report, 1)["records"]["lost"], 0, "no record was lost")
seen = {s["kind"] for s in sources(report, 1)}
ok({"thread", "softirq", "vector"} <= seen, "there were records of all kinds", seen)
done()
