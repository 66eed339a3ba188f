#!/usr/bin/env python3
"""The cause book: its generator refuses what is not whole, explain finds entries by every name, and a run's sources carry causes and
commands with this machine's numbers."""
import json
import os
import re
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip, sources

# ---- the generator ----

GOOD = """\
# a comment
id: T01
title: a title
what: text with "quotes" and a \\ backslash
  that goes on
why: why
confirm: `cat {cpu}`
fix: fix
advice: echo {housekeeping}
undo: echo {cpus}
since: any
source: somewhere
match: work one
match: comm two*
"""
OTHER = GOOD.replace("T01", "T02").replace("work one", "work three").replace("two*", "four*")


def generate(text):
    with tempfile.NamedTemporaryFile("w", suffix=".cause") as f:
        f.write(text)
        f.flush()
        r = subprocess.run(["awk", "-f", os.path.join(lib.ROOT, "tools/causes.awk"), f.name], capture_output=True, text=True,
                           env={**os.environ, "LC_ALL": "C"})
        return r.returncode, r.stdout, r.stderr.replace(f.name, "FILE")


code, out, err = generate(GOOD + "\n" + OTHER)
ok(code == 0 and not err, "a whole file is taken", code, err)
ok('"text with \\"quotes\\" and a \\\\ backslash that goes on"' in out, "a long field is one C string", out)
ok('{"comm", "four*", &causes[1]}' in out, "a match leads to its entry", out)
for text, line, message in (
    (GOOD.replace("why:", "wye:"), 6, "unknown field 'wye'"),
    (GOOD.replace("since: any\n", ""), 2, "T01 has no since"),
    (GOOD + "\n" + GOOD, 17, "id T01 is there already"),
    (GOOD + "\n" + OTHER.replace("work three", "work one"), 28, "work one belongs to another match"),
    (GOOD.replace("match: work", "match: wrok"), 13, "unknown match kind 'wrok'"),
    (GOOD.replace("work one", "work"), 13, "match takes a kind and a pattern"),
    (GOOD.replace("{cpu}", "{gpu}"), 7, "unknown placeholder {gpu}"),
    (GOOD.replace("why: why", "why: {cpu}"), 6, "placeholders are filled in only in"),
    (GOOD.replace("T01", "Q1"), 2, "id 'Q1' is not"),
    (GOOD.replace("why: why", "why: why\nwhy: because"), 7, "T01 has why already"),
    (GOOD.replace("why: why", "why: " + 116 * "x"), 6, "longer than 120 columns"),
    (GOOD.replace("`cat", "cat"), 7, "a backquote without its partner"),
    (GOOD.replace("advice: echo {housekeeping}\n", ""), 2, "undo without advice"),
    (GOOD.replace("echo {cpus}", "echo\n  more"), 11, "nothing here goes on"),
    (GOOD.replace("echo {housekeeping}", "x" * 101), 9, "advice is longer than 100 columns"),
    ("title: lost\n", 1, "title stands outside of an entry"),
    (GOOD.replace("why: why", "whywhy"), 6, "neither 'field: text' nor"),
):
    code, out, err = generate(text)
    ok(code == 1 and re.search(rf"^FILE:{line}: .*{re.escape(message)}", err, re.M) and not out, f"refused: {message}", code, err)

# ---- explain ----

r = culprit("explain", "-f", "json")
book = json.loads(r.out)["causes"] if r.rc == 0 else []
ok(len(book) > 150, "explain lists all entries", len(book))
FIELDS = ("id", "group", "title", "what", "why", "confirm", "fix", "since", "source")
ok(all(c[f] for c in book for f in FIELDS), "each with its fields", [c["id"] for c in book if not all(c[f] for f in FIELDS)])
r = culprit("explain")
ok(r.rc == 0 and all(c["id"] in r.out for c in book) and "Tick and timers\n  T01  " in r.out, "as text by group", r.out, r.err)
ok(max(map(len, r.out.splitlines())) <= 100, "in 100 columns")
for name, cause in (("vmstat_update", "K01"), ("k01", "K01"), ("TIMER", "S01"), ("LOC", "T01"), ("local_timer", "T01"),
                    ("kworker/u8:2", "K09"), ("nvme7q3", "I02"), ("ipi_mb", "P11"), ("local_timer > tick_nohz_handler", "T01"),
                    ("[ksoftirqd/1]", "S08"), ("python3 [4242]", "K34"), ("irq 9999", "I01"), ("edge", "G12"), ("steal", "H14"),
                    ("tcp_orphan_update", "T27"), ("do_sys_openat2", "G10"), ("some_unheard_of_timer", "G01")):
    r = culprit("explain", name)
    ok(r.rc == 0 and r.out.startswith(cause + "  "), f"explain {name} is {cause}", r.out, r.err)
r = culprit("explain", "some_unheard_of_timer")
ok("asked      the book does not have some_unheard_of_timer" in r.out, "an entry on the kind of thing says that it is one", r.out)
r = culprit("explain", "-f", "json", "K34")
got = json.loads(r.out)["causes"][0]
ok(got["words"].startswith("PID: ") and got["asked"] is None and got["family"] is False, "words in capitals are explained", got)
r = culprit("explain", "-f", "json", "python3 [4242]")
got = json.loads(r.out)["causes"][0]
ok(got["advice"].endswith(" 4242") and got["words"] is None and "python3" in got["asked"], "a thread's number is filled in", got)
r = culprit("explain", "-c", "1", "T17", "T01")
ok(r.rc == 0 and "nohz_full=1" in r.out and "{" not in r.out.replace("${", ""), "commands are filled in", r.out)
ok(r.out.startswith("T01  ") and "\nT17  " in r.out, "several stand in the book's order", r.out)
r = culprit("explain", "-f", "markdown", "--all")
ok(r.rc == 0 and r.out.count("\n### ") == len(book) and r.out.count("\n## ") + r.out.startswith("## ") == 10, "Markdown has all", r.err)
for name, near in (("vmstat", "vmstat_update (K01)"), ("vmstat_updaet", "vmstat_update"), ("zzzzzzzz", "culprit explain lists it all")):
    r = culprit("explain", name)
    ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and near in r.err, f"explain {name}: one line, with what is near", r.err)
r = culprit("explain", "x\x1b[31m'\n")
ok(r.rc == 1 and "\x1b" not in r.err and r.err.count("\n") == 1, "a hostile name is escaped", repr(r.err))
irq = next((n for n in sorted(os.listdir("/sys/kernel/irq"), key=int) if lib.read(f"/sys/kernel/irq/{n}/actions")), None) \
    if os.path.isdir("/sys/kernel/irq") else None
if irq:
    for name in (irq, lib.read(f"/sys/kernel/irq/{irq}/actions").split(",")[0]):
        r = culprit("explain", name)
        ok(r.rc == 0 and r.out.startswith("I"), f"explain {name}: an interrupt of this machine", r.out, r.err)

# ---- a run ----

lib.need_bpf()
cpu = lib.pick_target()
ids = {c["id"] for c in book}


def run(what, n=40):
    why = lib.need_class(cpu, what)
    if why:
        skip(what, why)
        return None
    return lib.run_json(cpu, 2, poke=[what, "-n", str(n)])


got = run("membarrier")
if got:
    report, _ = got
    every = sources(report, cpu)
    ok(all(s["cause"] in ids for s in every if s["cause"]), "causes are in the book", every)
    ok(all("{" not in s["advice"] for s in every if s["advice"]), "advice is filled in", every)
    rows = sources(report, cpu, function="ipi_mb")
    ok(rows and all(s["cause"] == "P11" for s in rows), "the IPIs of membarrier", rows)
    rows = sources(report, cpu, name="poke-membarrier")
    ok(rows and all(s["cause"] == "K34" and s["advice"].endswith(f" {s['id']}") for s in rows), "poke is a foreign thread, by number",
       rows)
    rows = sources(report, cpu, kind="vector", function=re.compile("^tick_(nohz_handler|sched_timer)"))
    tick = [s for s in rows if s["cause"] and s["cause"][0] == "T"]
    ok(len(tick) == len(rows), "the tick has a cause", rows)
    kernel = [s for s in every if s["kind"] == "thread" and re.match(r"(kworker|ksoftirqd|rcu_|migration)", s["name"])]
    ok(all(s["cause"] != "K34" for s in kernel), "no kernel thread is taken for a program", kernel)
    pieces = [p for w in report["worst"] for p in w["pieces"] if p["name"] == "poke-membarrier"]
    ok(all(p["cause"] == "K34" for p in pieces), "the worst hiccups' pieces carry causes", pieces)
got = run("kworker")
if got:
    rows = sources(got[0], cpu, function="refresh_vm_stats")
    ok(rows and all(s["cause"] == "K05" for s in rows), "a read of stat_refresh", rows)
for width in (80, 100):
    r = subprocess.run(["script", "-qec", f"stty cols {width}; NO_COLOR=1 {lib.CULPRIT} run -c {cpu} -d 1 -q", "/dev/null"],
                       capture_output=True, text=True, timeout=60)
    lines = r.stdout.replace("\r", "").splitlines()
    ok(any(re.match(r"           \[[A-Z]\d\d\] ", line) for line in lines), f"text at {width} columns says what to do", r.stdout)
    long = [line for line in lines if len(line) > width and not re.match(r" *\S+$", line)]
    ok(not long, f"and fits them", *long)
done()
