#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""openmetrics, prometheus and --textfile, read back by promtool and by Prometheus' own Python
parsers."""
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, skip

lib.with_readers()

try:
    from metrics import labels, openmetrics, prometheus, promtool, samples, select, total
except ImportError:
    lib.skip_all("the Python package prometheus_client is not there (make check installs it when "
                 "it can)", required=True)

where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([os.path.join(lib.BUILD, "tests", "unit", "report_files"), where], check=True)


def path(*name):
    return os.path.join(where, *name)


def text(name):
    with open(path(name), encoding="utf-8") as f:
        return f.read()


# ---- views made by hand ----

truth = json.loads(text("truth.json"))
runs = {"one": ["web-07"], "two": ["web-07", "db-1"], "hostile": ["hostile"]}
for name, hosts in runs.items():
    promtool(path(name + ".prometheus"))
    new = samples(openmetrics(text(name + ".openmetrics")))
    old = samples(prometheus(text(name + ".prometheus")))
    is_(new, old, f"{name}: both dialects say the same")
    hiccups = [(host, h) for host in hosts for h in truth[host]["hiccups"]]
    is_(total(new, "culprit_lost_seconds_total"), sum(h["duration_ns"] for _, h in hiccups),
        f"{name}: the sources and the edges sum up to the time away")
    is_(total(new, "culprit_lost_seconds_total", kind="edge"),
        sum(h["edge_ns"] for _, h in hiccups), f"{name}: the edges")
    for host in hosts:
        many = {"host": truth[host]["host"]
                and bytes.fromhex(truth[host]["host"]).decode()} if len(hosts) > 1 else {}
        for cpu in {h["cpu"] for h in truth[host]["hiccups"]}:
            mine = [h["duration_ns"] for h in truth[host]["hiccups"] if h["cpu"] == cpu]
            buckets = {float(labels(k)["le"]): v for k, v in
                       select(new, "culprit_hiccup_seconds_bucket", cpu=str(cpu), **many).items()}
            is_((len(buckets) > 5, buckets),
                (True, {le: sum(d <= le * 1e9 for d in mine) for le in buckets}),
                f"{host}, cpu {cpu}: its histogram")
            ok(list(buckets) == sorted(buckets) and all(b == 2 * a for a,
                                                        b in zip(list(buckets),
                                                                 list(buckets)[1:-1])),
               f"{host}, cpu {cpu}: the buckets are powers of two", list(buckets))
            is_(total(new, "culprit_longest_hiccup_seconds", cpu=str(cpu), **many), max(mine),
                f"{host}, cpu {cpu}: the longest")
    ok(text(name + ".openmetrics").endswith("\n# EOF\n"), f"{name}: it ends with # EOF")
    ok(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text(name + ".openmetrics")),
       f"{name}: no control character but newlines")
one = samples(openmetrics(text("one.openmetrics")))
is_(one[("culprit_lost_seconds_total", tuple(sorted({
    "cpu": "3", "kind": "thread", "source": "kworker/*:*", "kernel_thread": "true",
                                                     "function": "vmstat_update",
    "cause": "K01"}.items())))], 31e-6,
    "a worker's time, with its function and cause, under a name that every boot has")
is_({labels(k)["kernel_thread"] for k in select(one, "culprit_lost_seconds_total")
     if labels(k)["kind"] != "thread"}, {""},
    "of what is no thread nothing says whether it is the kernel's")
is_(set(select(one, "culprit_cpu_info")), {("culprit_cpu_info", tuple(sorted({
    "cpu": c, "isolated": i, "nohz_full": "false"}.items()))) for c,
                                           i in (("2", "false"), ("3", "true"))}, "which CPUs")
watched = os.path.join(lib.ROOT, "tests", "fixtures", "recordings", "3.0", "watch.rec")
for per in "cpu", "group", "host":
    wrote = culprit("report", watched, "-f", "openmetrics", "--metrics-per", per).out
    series = [line.rsplit(" ", 1)[0] for line in wrote.splitlines() if not line.startswith("#")]
    twice = {name for name in series if series.count(name) > 1}
    ok(len(series) > 50 and not twice, f"watched threads, --metrics-per {per}: no sample twice",
       *sorted(twice)[:5])
hostile = samples(openmetrics(text("hostile.openmetrics")))
is_({labels(k)["kernel_thread"] for k in select(hostile, "culprit_lost_seconds_total",
                                                kind="thread")
     if labels(k)["source"] != "(others)"},
    {"false"}, "threads of users are none of the kernel's, whatever they are called")
told = {labels(k)["source"] for k in select(hostile, "culprit_lost_seconds_total")}
ok({'quo"te,comma', "new\\x0aline", "back\\\\slash", "\\x1b[31mred", "été"} <= told,
   "hostile names, escaped once", told)
ok(max(len(select(hostile, "culprit_lost_seconds_total", cpu=str(c))) for c in (1, 4)) <= 28,
   "20 sources a CPU and the rest of each kind", len(told))

shutil.rmtree(where)
done()
