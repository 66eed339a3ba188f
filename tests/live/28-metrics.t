#!/usr/bin/env python3
"""openmetrics, prometheus and --textfile, read back by promtool and by Prometheus' own Python parsers."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.dirname(os.environ.get("CULPRIT") or "build/culprit"))
READERS = os.path.join(BUILD, "readers", "bin")
if os.path.exists(READERS + "/python") and not sys.prefix.startswith(os.path.dirname(READERS)):
    os.execv(READERS + "/python", [READERS + "/python", __file__])

import json

import lib
from lib import culprit, done, is_, ok, skip

try:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
    from prometheus_client.parser import text_string_to_metric_families as prometheus
except ImportError:
    lib.skip_all("the Python package prometheus_client is not there (make check installs it when it can)", required=True)

where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([os.path.join(BUILD, "tests", "unit", "report_files"), where], check=True)


def path(*name):
    return os.path.join(where, *name)


def text(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


def promtool(name):
    tool = os.path.join(BUILD, "promtool")
    if not os.path.exists(tool) and os.environ.get("CI") != "true":
        return skip(f"promtool, {name}", "promtool is not there (make check installs it when it can)")
    with open(path(name)) as f:
        r = subprocess.run([tool, "check", "metrics"], stdin=f, capture_output=True, text=True)
    return ok(r.returncode == 0 and not r.stdout + r.stderr, f"promtool finds nothing to say of {name}", r)


def samples(families):
    """{(name, labels): value}, and none twice."""
    found = {}
    for family in families:
        for s in family.samples:
            key = s.name, tuple(sorted(s.labels.items()))
            assert key not in found, key
            found[key] = s.value
    return found


def labels(key):
    return dict(key[1])


def select(found, name, **match):
    return {k: v for k, v in found.items() if k[0] == name and match.items() <= labels(k).items()}


def total(found, name, **match):
    return round(sum(select(found, name, **match).values()) * 1e9)


# ---- views made by hand ----

truth = json.loads(text("truth.json"))
runs = {"one": ["web-07"], "two": ["web-07", "db-1"], "hostile": ["hostile"]}
for name, hosts in runs.items():
    promtool(name + ".prometheus")
    new, old = samples(openmetrics(text(name + ".openmetrics"))), samples(prometheus(text(name + ".prometheus")))
    is_(new, old, f"{name}: both dialects say the same")
    hiccups = [(host, h) for host in hosts for h in truth[host]["hiccups"]]
    is_(total(new, "culprit_lost_seconds_total"), sum(h["duration_ns"] for _, h in hiccups),
        f"{name}: the sources and the edges sum up to the time away")
    is_(total(new, "culprit_lost_seconds_total", kind="edge"), sum(h["edge_ns"] for _, h in hiccups), f"{name}: the edges")
    for host in hosts:
        many = {"host": truth[host]["host"] and bytes.fromhex(truth[host]["host"]).decode()} if len(hosts) > 1 else {}
        for cpu in {h["cpu"] for h in truth[host]["hiccups"]}:
            mine = [h["duration_ns"] for h in truth[host]["hiccups"] if h["cpu"] == cpu]
            buckets = {float(labels(k)["le"]): v for k, v in
                       select(new, "culprit_hiccup_seconds_bucket", cpu=str(cpu), **many).items()}
            is_(buckets, {le: sum(d < le * 1e9 for d in mine) for le in buckets}, f"{host}, cpu {cpu}: its histogram")
            ok(list(buckets) == sorted(buckets) and all(b == 2 * a for a, b in zip(list(buckets), list(buckets)[1:-1])),
               f"{host}, cpu {cpu}: the buckets are powers of two", list(buckets))
            is_(total(new, "culprit_longest_hiccup_seconds", cpu=str(cpu), **many), max(mine), f"{host}, cpu {cpu}: the longest")
    ok(text(name + ".openmetrics").endswith("\n# EOF\n"), f"{name}: it ends with # EOF")
    ok(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text(name + ".openmetrics")), f"{name}: no control character but newlines")
one = samples(openmetrics(text("one.openmetrics")))
is_(one[("culprit_lost_seconds_total", tuple(sorted({
    "cpu": "3", "kind": "thread", "source": "kworker/*:*", "kernel_thread": "true", "function": "vmstat_update",
    "cause": "K01"}.items())))], 31e-6, "a worker's time, with its function and cause, under a name that every boot has")
is_({labels(k)["kernel_thread"] for k in select(one, "culprit_lost_seconds_total") if labels(k)["kind"] != "thread"}, {""},
    "of what is no thread nothing says whether it is the kernel's")
is_(set(select(one, "culprit_cpu_info")), {("culprit_cpu_info", tuple(sorted({
    "cpu": c, "isolated": i, "nohz_full": "false"}.items()))) for c, i in (("2", "false"), ("3", "true"))}, "which CPUs")
hostile = samples(openmetrics(text("hostile.openmetrics")))
is_({labels(k)["kernel_thread"] for k in select(hostile, "culprit_lost_seconds_total", kind="thread") if labels(k)["source"] != "(others)"},
    {"false"}, "threads of users are none of the kernel's, whatever they are called")
told = {labels(k)["source"] for k in select(hostile, "culprit_lost_seconds_total")}
ok({'quo"te,comma', "new\\x0aline", "back\\\\slash", "\\x1b[31mred", "été"} <= told, "hostile names, escaped once", told)
ok(max(len(select(hostile, "culprit_lost_seconds_total", cpu=str(c))) for c in (1, 4)) <= 28,
   "20 sources a CPU and the rest of each kind", len(told))

# ---- --textfile ----

cpu = lib.pick_target()
run = ("run", "-q", "-c", str(cpu)) + (() if os.geteuid() == 0 else ("--no-trace",))
os.mkdir(path("t"))
os.umask(0o077)
# 10 ms: a hundred files a second, each of them must be whole.
proc = lib.spawn(*run, "-d", "5s", "-f", "json", "-o", path("report"), "--textfile", path("t", "culprit.prom"), "--textfile-interval", "10ms")
whole = broken = 0
tids = set()
modes, seen, last, falls, there = set(), [], {}, [], False
deadline = time.monotonic() + 5 + lib.READY_MAX_S
while proc.poll() is None and time.monotonic() < deadline:
    if whole % 100 == 0:
        tids |= {int(t) for t in os.listdir(f"/proc/{proc.pid}/task")} if os.path.exists(f"/proc/{proc.pid}/task") else set()
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
    if not seen or now != seen[-1] and len(seen) < 60 and time.monotonic() - stamp > 0.08:
        stamp = time.monotonic()
        seen.append(now)
r = lib.finish(proc, 5)
ok(r.rc == 0 and not r.out + r.err, "the run is as ever", r)
ok(not broken and whole > 1000 and len(seen) > 20, "who reads it in a tight loop never sees a half of it",
   f"{broken} broken, {whole} whole, {len(seen)} different ones kept")
is_(modes, {"0o644"}, "others may read it, whatever the umask")
is_(os.listdir(path("t")), ["culprit.prom"], "nothing else is left there")
report = json.loads(text("report"))
end = samples(prometheus(text("t/culprit.prom")))
mine = [s for s in lib.cpu_of(report, cpu)["sources"]
        if s["kind"] == "thread" and s["id"] in tids or any(o["pid"] in tids for o in s["origins"])]
ok(len(tids) == 2 and not mine, "the CPU under test saw nothing of who wrote it", tids, mine)
counters = re.compile("_(total|bucket|count|sum)$")
for one_text in seen + [text("t/culprit.prom")]:
    found = samples(prometheus(one_text))
    # The cause of a source may become clearer as more is seen: it is no part of who it is.
    plain = {(k[0], tuple(x for x in k[1] if x[0] != "cause")): v for k, v in found.items()}
    falls += [(k, last[k], v) for k, v in plain.items() if counters.search(k[0]) and v < last.get(k, 0)]
    last = plain
ok(not falls, "no counter ever falls", falls[:3])
first = samples(prometheus(seen[0]))
is_((total(first, "culprit_running"), total(end, "culprit_running")), (10**9, 0), "it says whether the run goes on")
steps = [total(samples(prometheus(t)), "culprit_observed_seconds_total") for t in seen]
ok(all(a < b for a, b in zip(steps, steps[1:])) and steps[-1] > 3e9, "the time observed grows", steps)
c = lib.cpu_of(report, cpu)
is_(total(end, "culprit_observed_seconds_total"), c["observed_ns"], "in the end it is the report's")
is_(total(end, "culprit_lost_seconds_total"), c["hiccups"]["total_ns"], "so is the time away")
is_(total(end, "culprit_hiccups_total") // 10**9, c["hiccups"]["count"], "so are the hiccups")
is_(total(end, "culprit_interruptions_total") // 10**9, sum(s["count"] for s in c["sources"]), "and the interruptions")
promtool("t/culprit.prom")

# A disk that is full, a directory that goes and comes: said once, the run goes on, and the file is there again.
gone = path("gone")
os.mkdir(gone)
with lib.ready_file() as ready:
    proc = lib.spawn(*run, "-d", "forever", "--textfile", gone + "/a.prom", "--textfile-interval", "50ms", "--ready-file", ready)
    lib.await_ready(proc, ready)
    time.sleep(0.3)
    shutil.rmtree(gone)
    time.sleep(0.5)
    os.mkdir(gone)
    time.sleep(0.5)
    back = os.path.exists(gone + "/a.prom")
    os.killpg(proc.pid, signal.SIGTERM)
    r = lib.finish(proc, 20)
ok(r.rc == 0 and f"cpu {cpu} " in r.out, "a run that goes on for ever ends by a signal, with its report", r)
ok(back and len(r.err.splitlines()) == 1 and "No such file" in r.err and "tries again" in r.err,
   "a directory that was gone for a while is told of in one line", r)

full = path("full")
os.mkdir(full)
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "culprit-test", full], capture_output=True).returncode:
    skip("a full disk", "cannot mount a small one here")
else:
    try:
        r = culprit(*run, "-d", "1s", "--textfile", full + "/a.prom", "--textfile-interval", "50ms")
        ok(r.rc == 1 and len(r.err.splitlines()) == 1 and "No space left" in r.err and f"cpu {cpu} " in r.out,
           "a full disk: one line, the whole report, and exit status 1", r)
        is_(os.listdir(full), [], "and no half file")
    finally:
        subprocess.run(["umount", full], check=True)

shutil.rmtree(where)
done()
