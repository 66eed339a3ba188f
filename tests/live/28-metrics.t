#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--textfile: who reads it while the run goes on sees whole files, whose counters never fall and in
the end are the report's."""
import atexit
import contextlib
import json
import os
import re
import select
import shutil
import signal
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, skip

lib.with_readers()

try:
    from metrics import prometheus, promtool, samples, total
except ImportError:
    lib.skip_all("the Python package prometheus_client is not there (make check installs it when "
                 "it can)", required=True)

where = tempfile.mkdtemp(prefix="culprit-test-")


def path(*name):
    return os.path.join(where, *name)


def text(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


# ---- --textfile ----

cpu = lib.pick_target(shared=True)
# noise, to have something to count
noise = lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "2ms", path=lib.POKE)
run = ("run", "-q", "-c", str(cpu)) + (() if os.geteuid() == 0 else ("--no-trace",))
# In memory: for a file on a disk the file system's own threads work, on any CPU, as they are asked
# to.
shm = tempfile.mkdtemp(prefix="culprit-test-",
                       dir="/dev/shm" if os.path.isdir("/dev/shm") else where)
atexit.register(shutil.rmtree, shm, True)
os.symlink(shm, path("t"))
os.umask(0o077)
# 10 ms: a hundred files a second, each of them must be whole. Until enough of them were read: a
# reader in an emulated guest is slow.
proc = lib.spawn(*run, "-d", "1h", "-f", "json", "-o", path("report"), "--textfile",
                 path("t", "culprit.prom"), "--textfile-interval", "10ms")
whole = broken = 0
tids = set()
modes, seen, last, falls, there = set(), [], {}, [], False
deadline = time.monotonic() + lib.HANG_S


def enough():
    return whole > 200 and len(seen) > 10


while proc.poll() is None and time.monotonic() < deadline:
    if whole % 100 == 0:
        with contextlib.suppress(FileNotFoundError):
            tids |= {int(t) for t in os.listdir(f"/proc/{proc.pid}/task")}
    try:
        with open(path("t", "culprit.prom")) as f:
            now = f.read()
            modes.add(oct(os.fstat(f.fileno()).st_mode & 0o777))
        there = True
    except FileNotFoundError:
        broken += there
        continue
    whole += now.endswith("\n# EOF\n") and now.startswith("# TYPE culprit_info ")
    broken += not (now.endswith("\n# EOF\n") and now.startswith("# TYPE culprit_info "))
    if not seen or now != seen[-1] and len(seen) < 60 and time.monotonic() - stamp > 0.04:
        stamp = time.monotonic()
        seen.append(now)
    if enough() and len(seen) > 15:
        proc.send_signal(signal.SIGINT)
        break
r = lib.finish(proc)
ok(r.rc == 0 and not r.out + r.err, "the run is as ever", r)
ok(not broken and enough(),
   "who reads it in a tight loop never sees a half of it",
   f"{broken} broken, {whole} whole, {len(seen)} different ones kept")
is_(modes, {"0o644"}, "others may read it, whatever the umask")
is_(os.listdir(path("t")), ["culprit.prom"], "nothing else is left there")
report = json.loads(text("report"))
each = [samples(prometheus(t)) for t in (*seen, text("t/culprit.prom"))]
first, end = each[0], each[-1]
mine = [s for s in lib.cpu_of(report, cpu)["sources"]
        if s["kind"] == "thread" and s["id"] in tids or any(o["pid"] in tids for o in s["origins"])]
ok(len(tids) == 2 and not mine, "the CPU under test saw nothing of who wrote it", tids, mine)
counters = re.compile("_(total|bucket|count|sum)$")
for found in each:
    # The cause of a source may become clearer as more is seen: it is no part of who it is.
    plain = {(k[0], tuple(x for x in k[1] if x[0] != "cause")): v for k, v in found.items()}
    falls += [(k, last[k], v) for k, v in plain.items() if counters.search(k[0])
              and v < last.get(k, 0)]
    last = plain
ok(not falls, "no counter ever falls", falls[:3])
is_((total(first, "culprit_running"), total(end, "culprit_running")), (10**9, 0),
    "it says whether the run goes on")
end_ns = total(end, "culprit_observed_seconds_total")
c = lib.cpu_of(report, cpu)
steps = [total(found, "culprit_observed_seconds_total") for found in each[:-1]]
# Behind the last step the run is told to end, and does when the sampler is back: after a hiccup, of
# which the longest took 0.8 s beside two emulated guests, as long as all before it.
ok(all(a < b for a, b in zip(steps, steps[1:]))
   and steps[-1] > (end_ns - c["hiccups"]["max_ns"]) / 2, "the time observed grows", steps, end_ns,
   c["hiccups"])
is_(total(end, "culprit_observed_seconds_total"), c["observed_ns"], "in the end it is the report's")
is_(total(end, "culprit_hiccups_total") // 10**9, c["hiccups"]["count"], "so are the hiccups")
# A series that made room for another has ended: its sums stand apart, so that nothing is missing.


def ever(name, ended):
    return total(end, f"culprit_{name}_total") + total(end, f"culprit_series_ended_{ended}_total")


is_(ever("lost_seconds", "seconds"), c["hiccups"]["total_ns"], "so is the time away")
is_(ever("interruptions", "interruptions") // 10**9, sum(s["count"] for s in c["sources"]),
    "and the interruptions")
is_(ever("function_runs", "function_runs") // 10**9, sum(s["runs"] for s in c["sources"]),
    "and the runs of functions")
promtool(path("t/culprit.prom"))

# A disk that is full, a directory that goes and comes: said once, the run goes on, and the file is
# there again.
gone = path("gone")
os.mkdir(gone)
with lib.ready_file() as ready:
    proc = lib.spawn(*run, "--no-trace", "-d", "forever", "--textfile", gone + "/a.prom",
                     "--textfile-interval", "50ms", "--ready-file", ready)
    lib.await_ready(proc, ready)
    lib.await_gone(lambda: not os.path.exists(gone + "/a.prom"))
    os.rename(gone, gone + " now")
    select.select([proc.stderr], [], [], lib.HANG_S)  # until it has noticed
    time.sleep(0.2)  # some intervals
    os.mkdir(gone)
    back = not lib.await_gone(lambda: not os.path.exists(gone + "/a.prom"))
    os.killpg(proc.pid, signal.SIGTERM)
    r = lib.finish(proc)
ok(r.rc == 0 and f"cpu {cpu} " in r.out,
   "a run that goes on for ever ends by a signal, with its report", r)
ok(back and len(r.err.splitlines()) == 1 and "No such file" in r.err and "tries again" in r.err,
   "a directory that was gone for a while is told of in one line", r)

full = path("full")
os.mkdir(full)
with lib.small_disk(full, "size=8k") as mounted:
    if not mounted:
        skip("a full disk", "cannot mount a small one here")
    else:
        r = culprit(*run, "--no-trace", "-d", "300ms", "--textfile", full + "/a.prom",
                    "--textfile-interval", "50ms")
        ok(r.rc == 1 and len(r.err.splitlines()) == 1 and "No space left" in r.err
           and f"cpu {cpu} " in r.out,
           "a full disk: one line, the whole report, and exit status 1", r)
        is_(os.listdir(full), [], "and no half file")

noise.terminate()
lib.finish(noise)
shutil.rmtree(where)
done()
