#!/usr/bin/env python3
"""culprit queue: every message comes as it was sent; who makes one late is named on the producer's
or consumer's CPU."""
import json
import os
import re
import signal
import tempfile

import lib
from lib import ALLOWED, cpu_of, culprit, done, is_, ok, sources

POKES = 12
N = 10000  # messages

lib.need_bpf()
os.sched_setaffinity(0, ALLOWED)
a, b = sorted(ALLOWED & lib.online())[-2:]
PLACES = "--producer", str(a), "--accumulator", str(b), "--journaller", "none"
ALONE = "--producer", str(a), "--accumulator", "none", "--journaller", str(b)


def queue(*args, **kwargs):
    r = culprit("queue", "-q", *args, **kwargs)
    if r.rc:
        raise RuntimeError(f"culprit queue: {r}")
    return r


def series(report, cpu):
    return {s["name"]: s for s in cpu_of(report, cpu)["series"] if s["count"]}


def ended_early(report):
    return [c["ended_early"] for c in report["cpus"] if c["ended_early"]]


# ---- what is measured ----
report = json.loads(queue(*PLACES, "-n", str(N), "-w", "500", "-l", "100", "-b", "64", "-f",
                          "json").out)
is_({n: s["count"] for n, s in series(report, a).items()},
    {"publish": N, "between publications": N - 1},
    "the producer's series, without the warm-up")
is_({n: s["count"] for n, s in series(report, b).items()},
    {"accumulator transit": N, "accumulator between messages": N - 1},
    "the accumulator's; a ring far smaller than the messages loses none")
is_(ended_early(report), [], "and each came as it was sent")
ok(10000 <= series(report, a)["between publications"]["min_ns"],
   "the producer is busy for 10 us between two messages")
lib.check_sums(report, "queue")

with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    journal, stock, recording = (os.path.join(place, name) for name in ("journal", "stock", "rec"))
    with open(stock, "wb") as f:
        f.write(os.urandom(1000))
    with open(stock, "rb") as f:
        pieces = f.read()
    before = set(os.listdir(tempfile.gettempdir()))
    report = json.loads(queue(*ALONE, "-n", "500", "-w", "100", "-l", "300", "--payload", stock,
                              "--journal", journal, "-f", "json").out)
    is_({n: s["count"] for n, s in series(report, b).items()},
        {"journaller transit": 500, "journaller between messages": 499},
        "the journaller's series")
    with open(journal, "rb") as f:
        written = f.read()
    ok(written == pieces[:900] * 200,
       "the journal holds all messages in order, made of the file that was given")
    r = queue(*ALONE, "-n", "500", "-w", "100", "--percentiles", "long", "-r", recording, "--label",
              "tuned",
              prefix=("env", f"TMPDIR={place}"))
    is_(set(os.listdir(place)) - {"journal", "stock", "rec"}, set(),
        "a journal without a name is gone afterwards")
    again = culprit("report", "--percentiles", "long", recording)
    is_(again.out, r.out, "a recording reports the same")
    ok("· tuned" in r.out and all(re.search(rf"^ +{p} ", r.out, re.M) for p in ("mean", "min", "50",
                                                                                "99\\.9",
                                                                                "99\\.9999", "max",
                                                                                "count")),
       "--percentiles long has the whole tail, --label is in the head", r)
    ok("its process stayed on this CPU; beside it ran" in r.out,
       "each process: where it was, and who else ran there", r)
r = queue(*PLACES, "-n", "20000", "-w", "100", "--spinners", str(len(lib.online())), "-f", "json")
ok(all(any(o["comm"] == "culprit-spinner" for o in c["beside"]) for c in json.loads(r.out)["cpus"]),
   "--spinners disturb each CPU", r)

# ---- who was it ----
for cpu, what in (a, "producer"), (b, "accumulator"):
    with lib.ready_file() as path:
        proc = lib.spawn("queue", *PLACES, "-n", "100000000", "-f", "json", "-q", "--ready-file",
                         path)
        lib.await_ready(proc, path)
        lib.run_poke(cpu, "fifo", "-n", str(POKES), "-l", "400us", "-g", "20ms")
        os.killpg(proc.pid, signal.SIGINT)
        r = lib.finish(proc, 20)
    report = json.loads(r.out) if r.rc == 0 else None
    if not ok(report and r.seconds < 5, f"{what}: Ctrl-C ends it with a report, at once", r):
        continue
    found = sources(report, cpu, kind="thread", name="poke-fifo")
    # On a machine with more work than CPUs it may have been another thread that made way; and where
    # poke's other thread, which wakes it, runs on the producer's CPU, the first message that can be
    # late is sent in the middle of a poke.
    ok(sum(s["count"] for s in found) >= POKES // 3 and max((s["max_ns"] for s in found),
                                                            default=0) > 100e3,
       f"{what}: a poke on its CPU is the named cause of what was late", found,
       cpu_of(report, cpu)["threshold_ns"],
       cpu_of(report, cpu)["hiccups"], series(report, cpu))
    is_(lib.total(sources(report, {a: b, b: a}[cpu], kind="thread", name="poke-fifo")), 0,
        "the other CPU is not blamed")
    lib.check_sums(report, f"queue, poked on the {what}")

# ---- the end ----
with lib.ready_file() as path:
    proc = lib.spawn("queue", *PLACES, "-n", "100000000", "-P", "f:10", "--spinners", "2", "-f",
                     "json", "-q", "--ready-file", path)
    lib.await_ready(proc, path)
    os.killpg(proc.pid, signal.SIGTERM)
    r = lib.finish(proc, 20)
ok(r.rc == 0 and r.seconds < 5, "under SCHED_FIFO it stops when told to", r)
is_(lib.await_gone(lib.marked), [], "and nothing is left running")
r = culprit("queue", *ALONE, "-n", "100000000", "--journal", "/dev/full", "-f", "json", "-q",
            timeout=20)
ok(r.rc == 1 and "writing the journal" in r.err, "a journal that takes nothing is said", r)
done()
