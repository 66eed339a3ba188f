#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine without noise of its own: virtual time counts instructions, and all that happens is
known.

Two boots. Isolated but with its tick: each gap on CPU 1 has a cause there or lies in a turn of CPU
0, as the emulator lets one CPU run at a time; what was made is found, named and as long as it was;
and a worker that was preempted in the middle of its work goes on with that work, by the kernel's
own trace. Without the tick (nohz_full): the turns of CPU 0, one a tick at least, are noise from
outside the kernel, and none of it may be blamed on anybody.
"""
import bisect
import json
import re

from guests import lab, need, run
from lib import (check_sums, cpu_of, diag, done, is_, not_judged, ok, sources, take_turn,
                 total)
from traced import Seen, Stays, score

take_turn(shared=True)

KERNEL = "6.12-rt"
HZ = 250
TICK = re.compile("^tick_(nohz_handler|nohz_highres_handler|sched_timer)$")
BURST_NS = 4_000_000
LEAST_NS = 200  # a shorter gap is the loop's own
NEAR_NS = 5000  # from the event that begins or ends a turn of CPU 0 to the gap
CLASSES = ("thread,fifo,futex,timer,timerfd,posix,membarrier,tlb,kworker,perf,irqwork,bpf,signal,"
           "setaffinity,net")
SEEN = """
T=/sys/kernel/tracing
echo mono >$T/trace_clock; echo 1 >$T/tracing_cpumask; echo 8000 >$T/buffer_size_kb
events() {
	for e in power/cpu_idle sched/sched_switch irq_vectors irq; do
		echo $1 >$T/events/$e/enable
	done
}
events 1
"""
# Contexts of asynchronous I/O, whose memory CPU 1's worker frees, while a thread with a higher
# priority comes and goes.
FREED = """import ctypes, os
os.sched_setaffinity(0, {1})
call = ctypes.CDLL(None).syscall
for _ in range(30):
    context = ctypes.c_ulong(0)
    if call(206, 60000, ctypes.byref(context)) or call(207, context):
        raise OSError("io_setup, io_destroy")
"""
WORKS = f"""
(T=/sys/kernel/tracing/instances/works
mkdir $T
echo mono >$T/trace_clock; echo 2 >$T/tracing_cpumask; echo 20000 >$T/buffer_size_kb
echo 1 >$T/events/sched/sched_switch/enable
echo 1 >$T/events/workqueue/enable
culprit run -c 1 -d 60s -q -f json -o /tmp/out/works --hiccups /tmp/out/works.hiccups \\
	--ready-file /tmp/open &
culprit=$!
until [ -e /tmp/open ] || ! kill -0 $culprit; do usleep 10000; done
poke timer -c 1 -n 3000 -g 150us -l 40us >/dev/null &
python3 -c '{FREED}' >/tmp/out/freed 2>&1
wait $!
kill -TERM $culprit
wait $culprit
echo 0 >$T/tracing_on
cat $T/trace >/tmp/out/works.trace)
"""
# The score, and what the kernel itself saw of it.
SCORE = """
T=/sys/kernel/tracing/instances/score
mkdir $T
echo mono >$T/trace_clock; echo 30000 >$T/buffer_size_kb
for e in sched/sched_switch sched/sched_waking irq/irq_handler_entry irq/softirq_entry \\
		irq_vectors/irq_work_entry csd workqueue/workqueue_queue_work \\
		workqueue/workqueue_execute_start timer/hrtimer_expire_entry; do
	echo 1 >$T/events/$e/enable
done
tests/accuracy/score -c 1 -n 10 --tolerance 0 --keep /tmp/kept OPTIONS
echo 0 >$T/tracing_on
cat $T/trace >/tmp/out/score.trace
cp /tmp/kept/poke /tmp/out/score.poke
"""
TICKING = SEEN + f"""
culprit run -c 1 -d 2s -q -t {LEAST_NS}ns -f json -o /tmp/out/report --hiccups /tmp/out/hiccups \\
	--ready-file /tmp/ready &
until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
poke fifo -c 1 -n 30 -l {BURST_NS}ns -g 20ms-40ms >/tmp/out/poke
wait $!
events 0
cat $T/trace >/tmp/out/trace
{WORKS}
{SCORE.replace("OPTIONS", "--gap 8ms-12ms")}
"""
TICKLESS = SEEN + f"""
culprit run -c 1 -d 2s -q -t {LEAST_NS}ns -f json -o /tmp/out/report --hiccups /tmp/out/hiccups
events 0
cat $T/trace >/tmp/out/trace
{SCORE.replace("OPTIONS", f"--gap 2ms-6ms --classes {CLASSES}")}
taskset -c 1 sh -c 'while :; do :; done' &
echo $! >/tmp/out/lone.pid
sleep 0.5
T=/sys/kernel/tracing/instances/lone
mkdir $T
echo mono >$T/trace_clock; echo 2 >$T/tracing_cpumask
echo 1 >$T/events/sched/sched_switch/enable
culprit watch -p $! -q -d 300ms -f json -o /tmp/out/lone
cat $T/trace >/tmp/out/lone.trace
kill $!
"""


def boot(job, isolation):
    rc, out, err, files = run(kernel, job, counted=1, isolation=isolation)
    ok(rc == 0, f"{isolation}: the job ends well in the guest", rc, out, err)
    report = json.loads(files["report"])
    hiccups = [json.loads(line) for line in files["hiccups"].splitlines()]
    check_sums(report, isolation)
    is_(len(hiccups), cpu_of(report, 1)["hiccups"]["count"],
        f"{isolation}: each hiccup is handed out")
    e = cpu_of(report, 1)["edges"]
    ok(e["samples"] >= 30 and 0 < e["in_p50_ns"] <= e["in_p90_ns"]
       and 0 < e["out_p50_ns"] <= e["out_p90_ns"] and e["bound_irq_ns"] == 3 * e["out_p90_ns"],
       f"{isolation}: edges are learned from 30 interruptions and more, and their bound", e)
    return report, hiccups, out, files


class Turns:
    """When CPU 0 was seen doing something: from the first event after it went to sleep, which is
    the interrupt that wakes it, to where it sleeps again. What comes before the first event is not
    known.

    way: how long it takes to the first event, and from the last one to sleep, in 99 of 100."""

    def __init__(self, trace, hiccups):
        events = re.findall(r"^[^#].*? \[000\] \S+ +([0-9.]+): (\w+): (.*)", trace, re.M)
        self.spans, busy = [], False
        for at, name, text in events:
            at = round(float(at) * 1e9)
            if busy:
                self.spans[-1][1] = at + NEAR_NS
            else:
                self.spans.append([at - NEAR_NS, at + NEAR_NS])
            busy = name != "cpu_idle" or text.startswith("state=4294967295")
        self.ends = [end for _, end in self.spans]
        begins, ways = [h["start_ns"] for h in hiccups], [0]
        for begin, end in self.spans:
            for at, to in (begin + NEAR_NS, "start"), (end - NEAR_NS, "end"):
                h = hiccups[max(0, bisect.bisect(begins, at) - 1)]
                way = {"start": at - h["start_ns"], "end": h["start_ns"] + h["duration_ns"] - at}
                if not h["pieces"] and min(way.values()) >= 0:
                    ways.append(way[to])
        self.way = sorted(ways)[len(ways) * 99 // 100]

    def has(self, h):
        """A part of this gap lies in one."""
        at = bisect.bisect_left(self.ends, h["start_ns"])
        return at < len(self.spans) and self.spans[at][0] <= h["start_ns"] + h["duration_ns"]

    def share(self, begin, end):
        return sum(max(0, min(end, e) - max(begin, b)) for b, e in self.spans) / (end - begin)


def check_turns(hiccups, trace):
    """Each gap without a cause on the CPU lies in a turn of the other."""
    turns = Turns(trace, hiccups)
    unexplained = [h for h in hiccups if h["outside_ns"] > LEAST_NS]
    orphans = [h for h in unexplained if not turns.has(h)]
    covered = turns.share(hiccups[0]["start_ns"], hiccups[-1]["start_ns"])
    diag(f"{len(hiccups)} hiccups, {len(unexplained)} with time outside the kernel, "
         f"{len(orphans)} of these at no turn of CPU 0: {[h['outside_ns'] for h in orphans]} ns; "
         f"its turns are {100 * covered:.1f} % of the time, its way to the first event or from the "
         f"last {turns.way} ns")
    ok(len(hiccups) > HZ and turns.spans and covered < 0.5,
       "there is something to explain, and not one of two gaps by chance", covered)
    # When CPU 1 has its turn before CPU 0 sleeps, behind its last event, or after it woke, before
    # the first, the rest of that way is a turn without an event: 8 among 32,000 gaps of 52 windows
    # of 2 s, so that more than 6 of one window have a chance below 1e-6 (at 0.3, the upper end of
    # what those tell, 5e-8). It takes no longer than such a way.
    ok(turns.way < NEAR_NS and len(orphans) <= 6
       and all(h["outside_ns"] <= NEAR_NS for h in orphans),
       f"each gap of more than {LEAST_NS} ns has its cause on the CPU, or lies in a turn of the "
       "other", *orphans[:7])
    # The sampler's own work, said to be a gap, ends where what came upon it begins. That something
    # comes in the 800 ns after an orphan has a chance of 1e-4, and twice one of 1e-8.
    begins = {h["start_ns"] for h in hiccups if h["pieces"]}
    own = [h for h in orphans if h["start_ns"] + h["duration_ns"] in begins]
    ok(len(own) <= 1, "none is the sampler's own work", *own[:3])


def check_workers(trace, hiccups):
    """Each stay that began no work is of the work that the worker was in the middle of, or of none.
    In a hiccup with one stay of it: of several the pieces do not say which is which."""
    stays = [s for s in Stays(trace).found if not s["began"]]
    begins = [h["start_ns"] for h in hiccups]
    each, wrong = {}, []
    for s in stays:
        each.setdefault(bisect.bisect(begins, s["at"] + 1000) - 1, []).append(s)
    for i, found in each.items():
        if i < 0 or found[-1]["until"] > begins[i] + hiccups[i]["duration_ns"]:
            continue  # the window began or ended amid it
        for pid in {s["pid"] for s in found}:
            due = [s for s in found if s["pid"] == pid]
            said = {p["function"] for p in hiccups[i]["pieces"]
                    if p["kind"] == "thread" and p["id"] == pid}
            if not all(s["function"] in said or
                       not s["function"] and {s["ended"], s.get("next", s["ended"])} & said
                       for s in due):
                wrong.append((due, said, hiccups[i]))
    amid = [s for s in stays if s["function"]]
    diag(f"workers came back {len(amid)} times in the middle of a work, {len(stays) - len(amid)} "
         f"times of none: {sorted({s['function'] for s in amid})}")
    ok(len(amid) >= 30, "workers were preempted in the middle of their work", len(stays))
    ok(not wrong, "and are said to go on with just that", len(wrong), *wrong[:3])


# A worker that is preempted in its work, and twice more behind it, before it begins the next.
LEAVES = "sched_switch: prev_pid=59 prev_state=R+ ==> next_comm=poke next_pid=478"
COMES = "sched_switch: prev_pid=478 prev_state=S ==> next_comm=kworker/1:1 next_pid=59"
DRAWN = ("workqueue_execute_start: function first", LEAVES, COMES,
         "workqueue_execute_end: function first", LEAVES, COMES, LEAVES, COMES, LEAVES, COMES,
         "workqueue_execute_start: function second", LEAVES)


def check_reading():
    trace = "".join(f" x-{478 if line == COMES else 59} [001] d..2. {i}.000000: {line}\n"
                    for i, line in enumerate(DRAWN))
    is_([(s["function"], s["ended"], s.get("next"), s["began"]) for s in Stays(trace).found],
        [("first", None, "second", False), (None, "first", "second", False),
         (None, "first", "second", False), (None, "first", None, True)],
        "a trace made by hand: between two works a worker may come back more than once")
    e = {"class": "fifo", "sent_ns": 1000, "start_ns": 3000, "end_ns": 5000, "tid": 7, "cpu": 1,
         "comm": "poke-fifo", "sender_tid": 5}
    wakes = " poke-5 [000] d..2. 0.000002: sched_waking: comm=poke-fifo pid=7 target_cpu=001\n"
    comes = (" x-4 [001] d..2. 0.000003: sched_switch: prev_comm=x prev_pid=4 prev_state=R ==> "
             "next_comm=poke-fifo next_pid=7 next_prio=49\n")
    drawn = [Seen(t) for t in (wakes + comes, wakes.replace("d..2", "d.s2") + comes, wakes)]
    is_([score.judge(e, seen, ())[0] for seen in drawn],
        [(True, True, None, True), (True, True, None, False), (False, False, None, False)],
        "others: a thread comes for whom poke says, for another, not at all")
    out = ('miss: {"found": true, "source": true, "function": null, "asker": false} '
           f'{json.dumps(e)}\nfalsely blamed: {{"name": "poke-fifo", "function": null}} '
           '{"start_ns": 2000, "duration_ns": 5000, "outside_ns": 0}\n')
    is_([len(beyond(out, seen, ())) for seen in drawn], [1, 0, 1],
        "what culprit misses and blames there is its fault, or not")
    again = Seen(wakes + comes + wakes.replace("poke-5", "y-6").replace("002:", "004:")
                 + comes.replace("003:", "005:"))
    h = {"start_ns": 2000, "duration_ns": 5000, "outside_ns": 0,
         "pieces": [{"kind": "thread", "id": 7, "name": "poke-fifo", "function": None}]}
    is_([bool(beyond(f"{out.splitlines()[0]}\n    {json.dumps(h)}\n", again, ()))
         for h["pieces"][0]["origin"] in ({"pid": 6}, {"pid": 5}, {"pid": 8}, None)],
        [False, True, True, True], "woken twice in one hiccup: it names the last")


def last_asked(e, hiccups, seen, blind):
    """Whether culprit names who asked last, by the kernel's trace, for what this poke made in one
    hiccup: a piece keeps one, and a thread may be woken again before it gives the CPU back."""
    for test, _, asker in score.wants(e, blind):
        for h in hiccups if asker is not None else ():
            told = [p["origin"]["pid"] for p in h["pieces"] if test(p) and p.get("origin")]
            last = [p["origin"]["pid"]
                    for s in seen.between(h["start_ns"], h["start_ns"] + h["duration_ns"])
                    for p in s["pieces"] if test(p) and p["origin"]][-1:]
            if told == last and last not in ([], [asker]):
                return True
    return False


def beyond(out, seen, blind):
    """What the score says of culprit that is not so by the kernel's trace: pokes that it has and
    culprit misses, names to blame that it does not have."""
    wrong = []
    for said, e, near in re.findall(r"^miss: (\{.*?\}) (\{.*\})\n((?: +\{.*\n)*)", out, re.M):
        said, e = json.loads(said), json.loads(e)
        hiccups = [json.loads(line) for line in near.splitlines()]
        if said["asker"] is False and last_asked(e, hiccups, seen, blind):
            said["asker"] = None
        theirs, events = score.judge(e, seen, blind)
        if any(their is not False and ours is False for ours, their in zip(said.values(), theirs)):
            wrong.append((e, hiccups, events))
    for p, at, ns in re.findall(r'^falsely blamed: (.*) \{"start_ns": (\d+), "duration_ns": (\d+)',
                                out, re.M):
        p, near = json.loads(p), seen.between(int(at) - 1000, int(at) + int(ns) + 1000)
        if not any((p["name"], p["function"]) == (q["name"], q["function"])
                   for h in near for q in h["pieces"]):
            wrong.append(p)
    return wrong


def check_score(out, files, blind, least):
    """A poke may be disturbed: somebody comes between it and its noise, or asks for the same. None
    of 6,153 was; were it one of 2,000, the upper end of what those tell, five of a run had a chance
    of 8e-8. What culprit says has to be what the kernel's trace has, of these, too."""
    diag(out)
    seen = Seen(files["score.trace"])
    log = [e for e in map(json.loads, files["score.poke"].splitlines()) if "class" in e]
    other = [e for e in log if False in score.judge(e, seen, blind)[0]]
    ok(len(log) >= least and len(other) <= 4,
       "what poke says that it made is so in the kernel's own trace", len(log), *other[:5])
    table = re.search(r"^all +(\d+) .* falsely blamed (\d+)$", out, re.M)
    missed, wrong = len(re.findall("^miss:", out, re.M)), beyond(out, seen, blind)
    ok(table and int(table[1]) == len(log) and missed <= 4 and int(table[2]) <= 4 and not wrong,
       "all of that is found and rightly named, and nothing else is blamed", *wrong[:5])
    ok(", lost 0, join mismatches 0;" in out, "nothing is lost, and records and hiccups agree")


check_reading()
kernel, = need(KERNEL)
report, hiccups, out, files = boot(TICKING, "isolcpus=1")
check_turns(hiccups, files["trace"])
is_(files["freed"], "", "the contexts came and went")
check_workers(files["works.trace"],
              [json.loads(line) for line in files["works.hiccups"].splitlines()])

bursts = [e for e in map(json.loads, files["poke"].splitlines()) if "n" in e and "class" in e]
for e in bursts:
    near = [h for h in hiccups if h["start_ns"] < e["end_ns"] and e["start_ns"] < h["start_ns"]
            + h["duration_ns"]]
    # The tick that comes within is named by itself, and the burst is longer by it.
    e["read"] = sum(p["net_ns"] for h in near for p in h["pieces"] if p["name"] in (e["comm"],
                                                                                    "local_timer"))
exact = [e for e in bursts if abs(e["read"] - e["ran_ns"]) <= 0.01 * e["ran_ns"]]
diag(f"bursts of {BURST_NS} ns: poke's thread ran {min(e['ran_ns'] for e in bursts)} to "
     f"{max(e['ran_ns'] for e in bursts)} ns, culprit reads "
     f"{min(e['read'] for e in bursts)} to {max(e['read'] for e in bursts)}, {len(exact)} of "
     f"{len(bursts)} to 1 %")
# In one of thirty a turn of CPU 0 comes upon the way into the thread or out of it: longer, and
# never shorter. Were it one of ten, more than half of them had a chance of 2e-8.
ok(len(bursts) == 30 and len(exact) >= 15, "the bursts are measured to 1 %", *bursts)
ok(all(e["read"] >= 0.99 * e["ran_ns"] for e in bursts), "and none is found shorter than it was",
   *bursts)

ticks = total(sources(report, 1, name="local_timer", function=TICK), "runs")
due = cpu_of(report, 1)["observed_ns"] * HZ / 1e9
ok(abs(ticks - due) <= 2, "each tick is there, and none twice", ticks, due)
check_score(out, files, set(report["run"]["not_observed"]), 200)

report, hiccups, out, files = boot(TICKLESS, lab.ISOLATION)
check_turns(hiccups, files["trace"])
check_score(out, files, set(report["run"]["not_observed"]), 150)
seconds = cpu_of(report, 1)["observed_ns"] / 1e9
outside = [h for h in hiccups if not h["pieces"]]
named = sources(report, 1, kind=lambda kind: kind != "outside")
diag(f"{len(outside) / seconds:.0f} gaps a second without a name, half of them of "
     f"{sorted(h['duration_ns'] for h in outside)[len(outside) // 2]} ns")
# Ticks, and each look of culprit's reader.
ok(0.8 * HZ < len(outside) / seconds < 4 * HZ,
   "the turns of CPU 0 are gaps outside the kernel, one a tick at least", len(outside), seconds)
diag(*[f"{s['kind']} {s['name']} {s['function']}: {s['count']}" for s in named],
     cpu_of(report, 1)["tick"])
ok(total(named, "count") < 0.1 * len(outside), "none of them is blamed on a name", *named)
# The timer of the server for normal tasks, on CPU 0, once a second: the kernel tells no tracepoint
# on CPU 1 which function it calls there.
calls = [s for s in named if s["name"].startswith("call_function")]
by_timer = [s for s in named if s["function"] == "nohz_full_kick_func"
            or s["name"] == "reschedule"]
ok(calls and all(s["function"] for s in calls),
   "a call is named by what its asker queued, where nothing on its CPU tells", *calls)
ok({o["function"] for s in by_timer for o in s["origins"]} and
   all(s["cause"] == "T03" for s in by_timer),
   "what the deadline server's timer asks for from another CPU has that for its cause", *by_timer)
# Empty where the window had closed before the reader came.
differ = [row for row in cpu_of(report, 1)["closure"] if row["traced"] > row["kernel"] + 2
          and "why" not in row]
is_(differ, [], "nothing is named that the kernel did not count")

# A thread that no switch and hardly an interrupt tells of.
lone = json.loads(files["lone"])
pid = int(files["lone.pid"])
begin, ns = lone["run"]["started_monotonic_ns"], lone["run"]["duration_ns"]
switches = [line for at, line in re.findall(r"^ .* ([0-9.]+): (sched_switch: .*)",
                                            files["lone.trace"], re.M)
            if begin - 1000 <= float(at) * 1e9 <= begin + ns + 1000]
if switches:
    not_judged("a lone thread is seen where it runs on without a switch",
               f"the kernel's own trace has a switch in the window: {switches[0]}")
else:
    spent = [(c["observed_ns"], c["thread"]["places"]) for c in lone["cpus"]]
    is_([(t["pid"], t["ran_on"], t["waits_before"]) for t in (c["thread"] for c in lone["cpus"])],
        [(pid, [1], 0)], "a lone thread is seen where it runs on without a switch")
    ok(all(n == p[0]["ran_ns"] == ns for n, p in spent),
       "all the time, from the window's begin to its end", lone["run"], spent)
is_([s for c in lone["cpus"] for s in c["sources"] if "bpf" in (s["function"] or "")], [],
    "that it was looked for is not in the window")
done()
