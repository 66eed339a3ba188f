#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A machine with many CPUs: two sockets, a NUMA node each, two hardware threads a core. Several
target CPUs at once, what each sampler costs, where culprit itself runs, CPUs that go offline
while they are measured and come back, and isolation that comes and goes.

8 CPUs; with LONG=1 32, which are suspended, too, and have a flight recorder. All that is asserted
holds in real time, however busy the host is: what was on which CPU, and how it ended."""
import json
import re

from guests import LONG, need, run
from lib import check_sums, cpu_of, diag, done, is_, ok, parse_cpus, sources, take_turn

take_turn(shared=True)

KERNEL = "6.12"
CPUS = 32 if LONG else 8
# The second thread of one core and the first of the next, on the second node.
FIRST, SECOND = CPUS // 2 + 1, CPUS // 2 + 2
TIME = r"[0-9.]+ (?:m?s|min)"  # minutes from two of them on, on a busy host
TURNS = 200 if LONG else 4
JOB = f"FIRST={FIRST} SECOND={SECOND} TURNS={TURNS}" + r"""
cd /sys/devices/system
for c in cpu/cpu[0-9]*; do
	echo ${c#cpu/cpu} $(cat $c/topology/thread_siblings_list) $(cd $c; echo node[0-9]*)
done >/tmp/out/topology
cd /culprit
now() { cut -d ' ' -f 1 /proc/uptime; }
# begin NAME CULPRIT-ARGUMENTS...: until the window is open
begin() { rm -f /tmp/ready; name=$1; shift
	began=$(now)
	culprit run "$@" -f json -q --no-audit -o /tmp/out/$name --ready-file /tmp/ready \
		2>/tmp/out/$name.err &
	run=$!
	until [ -e /tmp/ready ] || ! kill -0 $!; do usleep 10000; done
	echo $began $(now) >/tmp/out/$name.start; }
# finish: its exit code
finish() { wait $run; echo $? >/tmp/out/$name.rc; }
online() { echo $2 >/sys/devices/system/cpu/cpu$1/online; }

# The rings of each CPU, whose tails the tracer writes; the one that all CPUs share it only reads.
rings() { sed -n 's/^\([0-9a-f]*\)-[0-9a-f]* rw-s .*bpf-map$/\1/p' /proc/$1/maps |
	while read at; do grep "^$at " /proc/$1/numa_maps; done; }

begin both -d forever --textfile /tmp/out/both.prom --textfile-interval 1s -r /tmp/both.rec
for p in $(grep -lx culprit-sampler /proc/[0-9]*/comm); do
	grep -h Private_ ${p%comm}smaps_rollup | awk '{n += $2} END {print n}'
done >/tmp/out/memory
rings $! >/tmp/out/numa
poke fifo -c $FIRST -n 10 -l 100us >/tmp/out/poke
online 1 0 # one of those that culprit itself may run on
online $SECOND 0
usleep 500000
until grep -q "went offline" /tmp/out/both.err || ! kill -0 $run; do usleep 10000; done
online $SECOND 1
until grep -q "was offline" /tmp/out/both.err || ! kill -0 $run; do usleep 10000; done
poke fifo -c $SECOND -n 10 -l 100us >/tmp/out/poke.again
kill -INT $run; finish
culprit report /tmp/both.rec -f json >/tmp/out/both.report
culprit report /tmp/both.rec -f jsonl >/tmp/out/both.lines
culprit report /tmp/both.rec -f json --from 1ms >/tmp/out/both.part
online 1 1

# In and out again and again: none is taken for back before threads may be moved there.
begin turns -d forever -c $FIRST,$SECOND -H 1
n=0
while [ $n -lt $TURNS ] && kill -0 $run; do
	n=$((n + 1))
	online $SECOND 0
	until [ $(grep -c "went offline" /tmp/out/turns.err) -ge $n ] || ! kill -0 $run; do :; done
	online $SECOND 1
	until [ $(grep -c ": cpu $SECOND was offline" /tmp/out/turns.err) -ge $n ] ||
		! kill -0 $run; do :; done
done
online $FIRST 0
until grep -q ": cpu $FIRST ended" /tmp/out/turns.err || ! kill -0 $run; do usleep 10000; done
kill -INT $run; finish
online $FIRST 1

begin back -c $FIRST,$SECOND -H 1 -d 300ms --no-trace; finish
begin homeless -c $FIRST -H 1 -d 1h --no-trace
online 1 0
usleep 500000
kill -INT $!; finish
online 1 1

# begin_without CPU NAME CULPRIT-ARGUMENTS...: it goes offline while culprit starts, behind the
# samplers' fork and before they are told to learn their edges. There culprit reads which CPUs are
# possible: from a pipe that says so once the CPU has gone.
begin_without() { cpu=$1 name=$2 possible=/sys/devices/system/cpu/possible; shift 2
	cpus=$(cat $possible)
	mkfifo /tmp/possible
	mount --bind /tmp/possible $possible
	culprit run "$@" -f json -q --no-audit -o /tmp/out/$name 2>/tmp/out/$name.err &
	run=$!
	{ exec 3>/tmp/possible # waits for its reader
	until grep -qx culprit-sampler /proc/[0-9]*/comm 2>/dev/null; do usleep 1000; done
	online $cpu 0; umount -l $possible; echo $cpus >&3; } & gone=$!
	finish
	kill $gone 2>/dev/null && umount -l $possible # nobody read it
	rm /tmp/possible; }
begin_without $SECOND early -c $FIRST,$SECOND -d 300ms
online $SECOND 1
begin_without $FIRST alone -c $FIRST -d 300ms
online $FIRST 1
begin late -c 2,$FIRST -d 1h # on both nodes
rings $run >/tmp/out/numa.late
cut -d " " -f 2 /proc/$run/numa_maps | sort -u >/tmp/out/policy
for p in $(grep -lx culprit-sampler /proc/[0-9]*/comm); do
	grep dev/zero ${p%comm}numa_maps
done | sort >/tmp/out/numa.samplers
online 2 0 & offline=$!
kill -INT $run; wait $offline; finish
online 2 1

# Watched: a CPU that nobody knew of when the window opened, and that goes and comes again. Nobody
# computes while programs are loaded or end: an emulated machine takes long for that.
online 3 0
came() { way=$1; shift; rm -f /tmp/ready
	culprit watch --comm python3 "$@" -d 1h -q -f json -o /tmp/out/came$way \
		--ready-file /tmp/ready 2>/tmp/out/came$way.err & run=$!
	until [ -e /tmp/ready ] || ! kill -0 $run; do usleep 10000; done; }
said() { for way in "" --sums; do
	until grep -q "CPU 3 $1" /tmp/out/came$way.err || ! kill -0 $run; do usleep 10000; done
done; }
came ""; whole=$run
came --sums --sums
online 3 1; said "came online"
taskset -c 3 python3 -c 'while True: pass' & victim=$!
until [ $(cut -d " " -f 14 /proc/$victim/stat) -gt 20 ]; do usleep 10000; done
poke fifo -c 3 -n 10 -l 1ms >/tmp/out/came.poke
online 3 0; said "went offline"
online 3 1; said "is online again"
taskset -p -c 3 $victim
poke fifo -c 3 -n 10 -l 1ms >/tmp/out/came.again
usleep 100000
kill $victim
kill -INT $whole; wait $whole; echo $? >/tmp/out/came.rc
kill -INT $run; wait $run; echo $? >/tmp/out/came--sums.rc
"""
if LONG:
    JOB += r"""
# The flight recorder of one CPU alone: it waits for that to come back.
mkdir /tmp/kept
culprit record -c $SECOND -H 1 -q -d forever --last 1h --after 100ms --when SIGUSR1 --then keep \
	--then print --ready-file /tmp/flies /tmp/kept >/tmp/out/flight.said 2>/tmp/out/flight.err &
run=$!
until [ -e /tmp/flies ] || ! kill -0 $run; do usleep 10000; done
online $SECOND 0
until grep -q "went offline" /tmp/out/flight.err || ! kill -0 $run; do usleep 10000; done
usleep 500000
online $SECOND 1
until grep -q "was offline" /tmp/out/flight.err || ! kill -0 $run; do usleep 10000; done
poke fifo -c $SECOND -n 10 -l 100us >/tmp/out/poke.kept
kill -USR1 $run
until ls /tmp/kept/*.rec 2>/dev/null || ! kill -0 $run; do usleep 10000; done
kill -INT $run; wait $run; echo $? >/tmp/out/flight.rc
culprit report /tmp/kept/*.rec -f json >/tmp/out/flight

# Suspended: the kernel's own test of that ends before the firmware, which the emulator lacks.
echo core >/sys/power/pm_test
echo deep >/sys/power/mem_sleep
mkdir /tmp/slept
rm /tmp/ready
culprit watch --comm python3 -d 1h -q -f json -o /tmp/out/dozed --last 1h --when SIGUSR1 \
	--record /tmp/slept/ --ready-file /tmp/ready 2>/tmp/out/dozed.err & dozes=$!
until [ -e /tmp/ready ] || ! kill -0 $dozes; do usleep 10000; done
begin asleep -d 1h -c $FIRST -r /tmp/asleep.rec
taskset -c 3 python3 -c 'while True: pass' & victim=$!
until [ $(cut -d " " -f 14 /proc/$victim/stat) -gt 20 ]; do usleep 10000; done
cat /proc/uptime >/tmp/out/uptime
echo mem >/sys/power/state
cat /proc/uptime >>/tmp/out/uptime
for slept in asleep dozed; do
	until grep -q "was suspended" /tmp/out/$slept.err || ! kill -0 $run; do usleep 10000; done
done
poke fifo -c $FIRST -n 10 -l 1ms >/tmp/out/asleep.poke
taskset -p -c 3 $victim
poke fifo -c 3 -n 10 -l 1ms >/tmp/out/dozed.poke
kill $victim
kill -INT $run; finish
kill -USR1 $dozes
until ls /tmp/slept/*.rec 2>/dev/null || ! kill -0 $dozes; do usleep 10000; done
kill -INT $dozes; wait $dozes; echo $? >/tmp/out/dozed.rc
culprit report /tmp/asleep.rec -f json >/tmp/out/asleep.report
culprit report /tmp/slept/*.rec -f json >/tmp/out/dozed.kept
"""
JOB += r"""
begin near -c $FIRST -d 100ms --no-trace; finish
quiet=/sys/fs/cgroup/quiet
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
mkdir $quiet
echo 2-3 >$quiet/cpuset.cpus
partition() { echo $1 >$quiet/cpuset.cpus.partition; cat $quiet/cpuset.cpus.partition; }
partition isolated >/tmp/out/partition
begin parted -d 1h --no-trace
partition member >>/tmp/out/partition
kill -INT $!; finish
begin taken -c 2,$FIRST -d 1h --no-trace
partition isolated >>/tmp/out/partition
usleep 300000
kill -INT $!; finish
"""

# Each of the other commands: a CPU goes offline in its window, which without tracing opens soon.
VERBS = {"watched": "watch -c $FIRST,$SECOND --ready-file /tmp/ready",
         "slept": "sleep --no-trace -c $FIRST,$SECOND -i 1ms",
         "called": "syscall --no-trace -c $FIRST,$SECOND --only getpid",
         "played": "pingpong --no-trace --pin $FIRST,$SECOND -n 20000000",
         "passed": "queue --no-trace --producer $FIRST --accumulator $SECOND --journaller none "
                   "-n 1000000000"}
if LONG:
    JOB += r"""
without() { name=$1; shift; rm -f /tmp/ready
	culprit "$@" -d forever -f json -q -o /tmp/out/$name 2>/tmp/out/$name.err & run=$!
	until [ -e /tmp/ready ] || grep -qx culprit-sampler /proc/[0-9]*/comm 2>/dev/null ||
		! kill -0 $run; do usleep 10000; done
	sleep 10
	online $SECOND 0
	sleep 4 # more than the second between two looks
	kill -INT $run; finish; online $SECOND 1; }
""" + "".join(f"without {name} {verb}\n" for name, verb in VERBS.items()) + r"""
# The only CPU of culprit itself, at the start, at the end, and where it comes back.
begin_without 1 ousted -c $FIRST -H 1 -d 5s
online 1 1
begin ending -c $FIRST -H 1 -d 1h
online 1 0 & offline=$!
kill -INT $run; wait $offline; finish
online 1 1
begin returned -c $FIRST -H 1 -d 1h
online 1 0; sleep 2; online 1 1; sleep 2
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/$run/status >/tmp/out/returned.on
kill -INT $run; finish
"""

kernel, = need(KERNEL)
rc, out, err, text = run(kernel, JOB, cpus=CPUS, timeout=2700 if LONG else 900,
                         isolation=f"isolcpus={FIRST},{SECOND} irqaffinity=0")
if any(name + ".rc" not in text for name in ("both", "taken")):
    diag(rc, out, err, *(f"{name}: {text[name]}" for name in text if name.endswith(".err")))
RUNS = ["both", "back", "homeless", "early", "late", "near", "parted", "taken", "turns"]
if LONG:
    RUNS.append("asleep")
reports = {name: json.loads(text[name]) for name in RUNS}
status = {name: int(text[name + ".rc"]) for name in (*RUNS, "alone")}


def started(name):
    """How long it took until the window was open, in s."""
    began, ready = map(float, text[name + ".start"].split())
    return ready - began


def housekeeping(targets, isolated):
    """Where culprit is to run by itself."""
    beside = set().union(*(siblings[cpu] for cpu in targets))
    good = [cpu for cpu in range(CPUS) if cpu not in beside and cpu not in isolated]
    near = [cpu for cpu in good if nodes[cpu] in {nodes[target] for target in targets}]
    return near or good


siblings, nodes = {}, {}
for line in text["topology"].splitlines():
    cpu, group, node = line.split()
    siblings[int(cpu)], nodes[int(cpu)] = parse_cpus(group), node
ok(len(siblings) == CPUS and all(len(s) == 2 for s in siblings.values())
   and set(nodes.values()) == {"node0", "node1"} and nodes[FIRST] == nodes[SECOND] == "node1"
   and siblings[FIRST] != siblings[SECOND],
   f"{CPUS} CPUs with sibling threads on two nodes", text["topology"])

both = reports["both"]
check_sums(both, "both")
is_(both["run"]["cpus"], [FIRST, SECOND], "the isolated CPUs are measured together, without -c")
is_(both["run"]["housekeeping"], housekeeping({FIRST, SECOND}, {FIRST, SECOND}),
    "culprit itself keeps off them, and off the other threads of their cores")
memory = [int(n) for n in text["memory"].split()]
diag(f"the window of 2 CPUs opened after {started('both'):.2f} s; "
     f"private memory of each sampler, in kB: {memory}")
is_(len(memory), 2, "each has a sampler")
RING = 500  # pages: of 4 KiB, less than half of what a CPU has
HEAD = 8    # pages before the hiccups, which the tracer fills


def nodes_of(maps, beside=0):
    """Of each large map in /proc/PID/numa_maps: the nodes where it has more pages than that."""
    found = []
    for line in maps.splitlines():
        pages = {node: int(n) for node, n in re.findall(r"\b(N\d+)=(\d+)", line)}
        if sum(pages.values()) > RING:
            found.append(sorted(node for node, n in pages.items() if n > beside))
    return sorted(found)


is_(nodes_of(text["numa"]), [["N1"], ["N1"]], "their rings are on their own node")
is_(nodes_of(text["numa.late"]), [["N0"], ["N1"]],
    "where they are on two nodes, each one's ring is on its own")
is_(nodes_of(text["numa.samplers"], HEAD), [["N0"], ["N1"]], "so are the rings of hiccups")
# The kernel balances memory between nodes by faults, and the sampler's must stay where it is, as
# must what culprit's own process shares with it.
is_(text["policy"], "local\n", "NUMA balancing leaves culprit's pages alone")
is_({cpu: sources(both, cpu, kind="fault") for cpu in (FIRST, SECOND)}, {FIRST: [], SECOND: []},
    "the samplers take no page fault")
poked = {json.loads(line)["tid"] for line in text["poke"].splitlines() if '"tid"' in line}
on = {cpu: {s["id"] for s in sources(both, cpu, kind="thread")} for cpu in (FIRST, SECOND)}
ok(poked and poked <= on[FIRST] and not poked & on[SECOND],
   "a thread is found on the CPU where it ran, and there alone", poked, on)

first, second = cpu_of(both, FIRST), cpu_of(both, SECOND)
GONE = f"cpu {SECOND} ended early, after {TIME}: the CPU went offline"
BACK = f"cpu {SECOND} was offline for ({TIME}), and measured before and after that"
ok(not second["ended_early"] and not first["ended_early"],
   "a CPU that goes offline and comes back is measured to the end", second["ended_early"])
ok(first["observed_ns"] > second["observed_ns"] + 400_000_000,
   "the time between is not observed, and the other one goes on", first["observed_ns"],
   second["observed_ns"])
again = {json.loads(line)["tid"] for line in text["poke.again"].splitlines() if '"tid"' in line}
ok(again and again <= on[SECOND], "who runs on it then is found", again, on)
ok(re.fullmatch(BACK, both["run"]["incomplete"] or ""), "the run is incomplete",
   both["run"]["incomplete"])
is_(status["both"], 3, "and says so by its exit status")
ok(re.fullmatch("".join(f"culprit: incomplete: {line}\n" for line in (GONE, BACK)),
                text["both.err"]), "and in a line when it goes, and one when it comes back",
   text["both.err"])
ok(second["loop"]["count"] and not second["closure"],
   "of it all is known but the kernel's counters, which have gone on", second["closure"])
ok(not first["offline"] and 400_000_000 < second["offline"]["total_ns"] <
   both["run"]["duration_ns"] - second["observed_ns"] + 1_000_000,
   "and for how long it was not measured", second["offline"])
is_(text["both.report"], text["both"], "a recording of it has the same report")
part = json.loads(text["both.part"])
check_sums(part, "a part of it")
less = second["observed_ns"] - cpu_of(part, SECOND)["observed_ns"]
ok(0 <= less <= 1_000_000 + second["hiccups"]["max_ns"] and
   not cpu_of(part, SECOND)["records"]["lost"], "nor is the time between observed in a part", less)
lines = [json.loads(line) for line in text["both.lines"].splitlines()]
ok(any(line["cpu"] == SECOND and any(p["id"] in again for p in line["pieces"]) for line in lines),
   "and who ran then", again)

turns = text["turns.err"].splitlines()
is_([re.fullmatch(f"culprit: incomplete: {way}", line) is not None
     for way, line in zip([GONE, BACK] + [f"{GONE}; {BACK}", BACK] * (TURNS - 1), turns)],
    [True] * 2 * TURNS,
    f"{TURNS} times in turn: each time one line when it goes, and one when it is back")
is_(len(turns), 2 * TURNS + 1, "and no other line until another one goes")
ok(re.fullmatch(f"cpu {FIRST} ended early, after {TIME}: the CPU went offline; {BACK}",
                reports["turns"]["run"]["incomplete"] or "") and
   f"culprit: incomplete: {reports['turns']['run']['incomplete']}" == turns[-1],
   "which does not hide that the first one was not measured all the time",
   reports["turns"]["run"], turns[-1:])
gone, second = cpu_of(reports["turns"], FIRST), cpu_of(reports["turns"], SECOND)
ok(gone["ended_early"] and not gone["offline"] and not second["ended_early"] and
   second["offline"]["total_ns"] > 0 and not second["offline"]["at_most"],
   "and it says so of each", gone["ended_early"], gone["offline"], second["offline"])
check_sums(reports["turns"], "turns")

if LONG:
    flight = json.loads(text["flight"] or "{}")
    kept = {json.loads(line)["tid"] for line in text["poke.kept"].splitlines() if '"tid"' in line}
    ok(re.fullmatch(BACK, (flight.get("run") or {}).get("incomplete") or "") and
       kept and kept <= {s["id"] for s in sources(flight, SECOND, kind="thread")} and
       text["flight.rc"].strip() == "3", "the flight recorder goes on, too, and keeps that",
       flight.get("run"), text["flight.rc"], text["flight.said"], text["flight.err"])
    check_sums(flight, "flight")
    c = cpu_of(flight, SECOND)
    ok(c["observed_ns"] + 100_000_000 < flight["run"]["duration_ns"] and not c["records"]["lost"],
       "the time between is not observed in what is kept either", c["observed_ns"], flight["run"])

metrics = text["both.prom"].splitlines()
ok({"culprit_incomplete 1", f'culprit_ended_early{{cpu="{SECOND}"}} 0',
    f'culprit_ended_early{{cpu="{FIRST}"}} 0'} <= set(metrics),
   "metrics, too, say that a run is incomplete", text["both.prom"][:2000])

back = reports["back"]
ok(status["back"] == 0 and not text["back.err"] and not back["run"]["incomplete"]
   and all(c["observed_ns"] and c["loop"]["count"] for c in back["cpus"]),
   "another run measures it again", status["back"], text["back.err"], *back["cpus"])
homeless = reports["homeless"]
ok(cpu_of(homeless, FIRST)["observed_ns"] > 400_000_000 and status["homeless"] == 3,
   "where no CPU is left that culprit may run on it goes on, and says so by its exit status",
   homeless["run"], status["homeless"])
is_(text["homeless.err"], f"culprit: incomplete: {homeless['run']['incomplete']}\n",
    "and in one line")

if LONG:
    # All programs are frozen before the first CPU goes, and until the last is back: none misses
    # one. What passes then CLOCK_MONOTONIC does not know: no gap of it, and no time that was
    # observed.
    asleep = reports["asleep"]
    dozed, slept = (json.loads(text[name]) for name in ("dozed", "dozed.kept"))
    ok(all(len(re.findall(f"culprit: the machine was suspended for {TIME}: it goes on", text[name]))
           == 1 for name in ("asleep.err", "dozed.err")), "a suspended machine is said, once",
       text["asleep.err"], text["dozed.err"], text["uptime"])
    for what, report, poke, cpu in (("run", asleep, "asleep.poke", FIRST),
                                    ("watch", dozed, "dozed.poke", None),
                                    ("the recorder", slept, "dozed.poke", None)):
        check_sums(report, f"{what}, suspended meanwhile")
        found = {s["id"] for c in report["cpus"] for s in c["sources"] if s["kind"] == "thread"
                 and cpu in (None, c["cpu"])}
        woken = {json.loads(line)["tid"] for line in text[poke].splitlines() if '"tid"' in line}
        ok(woken and woken <= found, f"{what} goes on after it, and finds who runs then", woken,
           found, report["run"], text["dozed.err"])
    is_([status["asleep"], text["dozed.rc"], asleep["run"]["incomplete"]], [0, "0\n", None],
        "nothing is incomplete by that")
    took = [float(line.split()[0]) for line in text["uptime"].splitlines()]
    ok(cpu_of(asleep, FIRST)["hiccups"]["max_ns"] <= (took[1] - took[0]) * 1e9 + 1e7,
       "and no gap is longer than what the clock knows of it", cpu_of(asleep, FIRST)["hiccups"],
       took)
    is_(text["asleep.report"], text["asleep"], "its recording has the same report")

early, late = reports["early"], reports["late"]
check_sums(early, "early")
ok(status["early"] == 3 and cpu_of(early, FIRST)["observed_ns"] > 0
   and not cpu_of(early, SECOND)["observed_ns"]
   and cpu_of(early, SECOND)["ended_early"] == "the CPU went offline",
   "one that goes offline while culprit starts is missing, and the other one is measured",
   status["early"], text["early.err"], *early["cpus"])
is_(text["early.err"], f"culprit: incomplete: {early['run']['incomplete']}\n", "and in one line")
ok(status["alone"] == 1 and text["alone.err"].count("\n") == 1,
   "where it was the only one there is no report: an error, in one line", text["alone.err"])
check_sums(late, "late")
is_({cpu: sum(s["count"] for s in sources(late, cpu)) > 0 for cpu in (2, FIRST)},
    {2: True, FIRST: True}, "and what ran on them is named")
ok(status["late"] == (3 if late["run"]["incomplete"] else 0)
   and cpu_of(late, FIRST)["observed_ns"] and not cpu_of(late, FIRST)["ended_early"],
   "one that goes offline while the window ends leaves the other one whole", status["late"],
   text["late.err"], late["run"])

pokes = [{e["tid"]: e["comm"] for e in map(json.loads, text[f"came.{which}"].splitlines())
          if "tid" in e} for which in ("poke", "again")]
for way in "", "--sums":
    name = f"came{way}"
    came = json.loads(text[name])
    found = [[s for c in came["cpus"] if not way or c["cpu"] == 3 for s in c["sources"]
              if s["kind"] == "thread" and (s["name"] if way else s["id"]) in
              (poke.values() if way else poke)] for poke in pokes]
    ok(all(found) and sum(s["count"] for s in found[0]) >= (20 if way else 10),
       f"watch {way}: a CPU that comes later is watched, and again when it comes back", pokes,
       found, came["cpus"])
    is_((text[name + ".err"], text[name + ".rc"].strip(), came["run"]["incomplete"]),
        ("culprit: CPU 3 came online: it is watched from now on\n"
         "culprit: CPU 3 went offline: what ran there goes on where it is watched, too\n"
         "culprit: CPU 3 is online again: it is watched on\n", "0", None),
        f"watch {way}: that is said, and nothing is missing")
    ok(3 in came["run"]["cpus"], f"watch {way}: it is in the list of CPUs", came["run"]["cpus"])

near, parted, taken = (reports[name] for name in ("near", "parted", "taken"))
is_(near["run"]["housekeeping"], housekeeping({FIRST}, {FIRST, SECOND}),
    "it runs on the node of what it measures, where a CPU is left")
is_(text["partition"].split(), ["isolated", "member", "isolated"],
    "a cpuset partition is isolated, and is not, while the machine runs")
is_(parted["run"]["cpus"], sorted({2, 3, FIRST, SECOND}), "its CPUs are measured without -c")
is_([cpu_of(parted, cpu)["isolated"] for cpu in (2, 3, FIRST)], [True] * 3,
    "they are called isolated")
is_(parted["run"]["housekeeping"],
    housekeeping({2, 3, FIRST, SECOND}, {2, 3, FIRST, SECOND}), "and culprit keeps off")
is_((status["parted"], text["parted.err"].count("\n")), (0, 1),
    "two of one core are said to slow each other")
ok("cpu 3 shares its core" in text["parted.err"], "which of them", text["parted.err"])
ok("2-3" in (parted["run"]["isolation_changed"] or ""), "that they are no longer isolated is said",
   parted["run"])
ok(status["taken"] == 3 and cpu_of(taken, 2)["ended_early"] and
   not cpu_of(taken, FIRST)["ended_early"],
   "a partition that takes a CPU from its sampler ends that one's window, and no other",
   status["taken"], cpu_of(taken, 2)["ended_early"], text["taken.err"])
ok(re.fullmatch(f"culprit: incomplete: cpu 2 ended early, after {TIME}: .*cpuset.*\n",
                text["taken.err"]), "and says so in one line", text["taken.err"])
for name in ("ousted", "ending", "returned") if LONG else ():
    report, rc = json.loads(text[name]), int(text[name + ".rc"])
    homeless = report["run"]["incomplete"]
    ok(cpu_of(report, FIRST)["observed_ns"] and not cpu_of(report, FIRST)["ended_early"]
       and rc == (3 if homeless else 0) and (homeless or name == "ending")
       and text[name + ".err"] == (f"culprit: incomplete: {homeless}\n" if homeless else ""),
       f"{name}: without a CPU of its own it measures to the end, and says so",
       rc, text[name + ".err"], report["run"])
if LONG:
    is_(text["returned.on"].strip(), "1", "it goes back to the one that comes back")
for name in VERBS if LONG else ():
    verb = VERBS[name].split()[0]
    why = (json.loads(text.get(name) or "{}").get("run") or {}).get("incomplete") or ""
    # Both of two that need each other end.
    ended = (rf"cpus? ({FIRST}-)?{SECOND} (went offline|ended early),( the first, cpu \d+,)? "
             r"after [0-9.]+ [mun]?s")
    ok(text.get(name + ".rc", "").strip() == "3" and re.match(ended, why)
       and text[name + ".err"] == f"culprit: incomplete: {why}\n",
       f"{verb}, too, says that one went offline, by its exit status and in one line",
       text.get(name + ".rc"), text.get(name + ".err"), why)
done()
