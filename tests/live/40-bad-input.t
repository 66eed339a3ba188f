#!/usr/bin/env python3
"""What cannot be done is refused at once, by one line that says why; what ends early or crosses a limit says so."""
import json
import os
import re
import shutil
import signal
import tempfile

import lib
from lib import CULPRIT, culprit, cpu_of, done, is_, ok, online, skip

lib.need_root()
cpu = lib.pick_target()
ON = ("-c", str(cpu))
everywhere = ",".join(map(str, sorted(online())))


def refused(what, *args, says=None, **kwargs):
    """One line on stderr, nothing on stdout, exit 1, before anything is measured."""
    r = culprit(*args, timeout=20, **kwargs)
    lines = r.err.splitlines()
    good = r.rc == 1 and len(lines) == 1 and lines[0].startswith("culprit: ") and not r.out and r.seconds < 5
    ok(good and (not says or re.search(says, r.err)), what, f"arguments {args}", r, says and f"should say /{says}/")


refused("an unknown command", "rnu", says="rnu")
refused("an unknown option", "run", "--bogus", says="bogus")
refused("an unknown letter", "run", "-Z", says="Z")
refused("an option without its value", "run", "-c")
refused("an operand that nobody takes", "run", "now", says="now")
for bad in "", "x", "1-", "-1", "3-1", "1,,2", "1-2-3", "1;2", "0x1", "1.5", "99999999999":
    refused(f"the CPU list {bad!r}", "run", "-c", bad, "-d", "60s")
refused("an absent CPU", "run", "-c", "4000", "-d", "60s", says="4000")
refused("an absent CPU beside a present one", "run", "-c", f"{cpu},4000", "-d", "60s", says="4000")
refused("all CPUs at once", "run", "-c", everywhere, "-d", "60s", says="housekeeping")
refused("a target that is to do housekeeping", "run", *ON, "-H", str(cpu), "-d", "60s")
for bad in "", "0", "0s", "-1s", "-5", "+5s", "s", "abc", "10 parsecs", "10sx", "1e400s", "nan", "inf", "999999d", "1..5s":
    refused(f"the duration {bad!r}", "run", *ON, "-d", bad)
for bad in "", "0", "0ns", "-1us", "5", "abc", "nan", "1us2":
    refused(f"the threshold {bad!r}", "run", *ON, "-d", "60s", "-t", bad)
for bad in "f", "f:0", "f:100", "x:1", "o:5", "f:1x":
    refused(f"the priority {bad!r}", "run", *ON, "-d", "60s", "-P", bad)
for bad in "0", "-1", "101", "abc", "nan":
    refused(f"--max-lost {bad!r}", "run", *ON, "-d", "60s", "--max-lost", bad)
refused("an unknown format", "run", *ON, "-d", "60s", "-f", "yaml", says="yaml")
refused("an output file that cannot be written", "run", *ON, "-d", "60s", "-o", "/nonexistent/report",
        says="/nonexistent/report")
refused("an output file that is a directory", "run", *ON, "-d", "60s", "-o", "/", says="/")

# ---- without privileges ----

if shutil.which("setpriv"):
    with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
        os.chmod(place, 0o755)
        public = shutil.copy(CULPRIT, place)
        nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), "path": public}
        refused("not root: the missing capability is named", "run", *ON, "-d", "60s", says="CAP_(BPF|PERFMON|SYS_ADMIN)",
                **nobody)
        r = culprit("run", *ON, "-d", "500ms", "-q", "--no-trace", **nobody)
        is_(r.rc, 0, "--no-trace needs no privileges")
        ok(re.search("not traced|no.trace|attributes nothing|names nothing", r.out), "and says that it names nothing", r)
        r = culprit("run", *ON, "-d", "500ms", "-q", "--no-trace", "-f", "json", **nobody)
        report = json.loads(r.out) if r.rc == 0 else {}
        ok(report and cpu_of(report, cpu)["time"]["attributed_ns"] == 0, "its JSON attributes nothing", r)
        ok(report and cpu_of(report, cpu)["loop"]["count"] > 1e5, "but the sampler did measure", r)
        if report:
            lib.check_sums(report, "--no-trace")
else:
    skip("without privileges", "no setpriv")

# ---- an early end, and limits ----

trace = () if os.path.exists("/sys/kernel/btf/vmlinux") else ("--no-trace",)
with lib.ready_file() as path:
    proc = lib.spawn("run", *ON, "-d", "60s", "-f", "json", "-q", "--ready-file", path, *trace)
    lib.await_ready(proc, path)
    os.killpg(proc.pid, signal.SIGINT)  # as a terminal sends Ctrl-C: to the samplers, too
    r = lib.finish(proc, 20)
is_(r.rc, 0, "Ctrl-C: exit 0")
ok(r.out and not lib.broken_sums(json.loads(r.out)), "Ctrl-C: the full report", r)
is_(r.err, "", "Ctrl-C: no word on stderr")

with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    kept = os.path.join(place, "report")
    for limit in ("--max-hiccup", "1ns"), ("--max-lost", "0.0001"):
        r = culprit("run", *ON, "-d", "1s", "-q", "-f", "json", "-o", kept, *limit, *trace)
        is_(r.rc, 2, f"{' '.join(limit)}: exit 2")
        ok(len(r.err.splitlines()) == 1 and limit[0] in r.err, f"{' '.join(limit)}: says which was crossed", r)
        with open(kept) as f:
            ok(not lib.broken_sums(json.load(f)), f"{' '.join(limit)}: the report is written all the same")
    r = culprit("run", *ON, "-d", "1s", "-q", "--max-hiccup", "60s", "--max-lost", "100", *trace)
    is_(r.rc, 0, "limits that are not crossed: exit 0")

is_(lib.await_gone(lib.marked), [], "nothing is left running")
done()
