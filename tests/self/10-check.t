#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What builds and runs the tests, on false ones: tests/check counts what each says and never calls
a red run green, tools/flake adds up."""
import contextlib
import fcntl
import functools
import glob
import importlib.machinery
import importlib.util
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
HANG_S = 300  # as in tests/live/lib.py
place = tempfile.mkdtemp()
number = 0
failed = 0


def ok(passed, name, *details):
    global number, failed
    number += 1
    failed += not passed
    print(f"{'ok' if passed else 'not ok'} {number} - {name}", flush=True)
    for line in [] if passed else "\n".join(map(str, details)).splitlines():
        print("# " + line)


def fake(name, script):
    path = os.path.join(place, name)
    with open(path, "w") as f:
        f.write("#!/bin/sh\n" + script)
    os.chmod(path, 0o755)
    return path


def run(*command, **options):
    env = {**os.environ, "BUILD": place}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=env, cwd=ROOT, **options)


def check(name, script, *words):
    results = os.path.join(place, "results")
    r = run("tests/check", place, fake(name, script), "--results", results, *words)
    with open(results) as f:
        rows = [json.loads(line) for line in f]
    os.unlink(results)
    return r, r.stdout.splitlines()[-1], rows


try:
    for what, script, last, rc in [
            ("a green file", "echo ok 1 - a; echo ok 2 - b; echo 1..2",
             "2 passed, 0 failed, 0 skipped", 0),
            ("a red one", "echo ok 1 - a; echo not ok 2 - b; echo 1..2; exit 1",
             "1 passed, 1 failed, 0 skipped", 1),
            ("a skip", "echo ok 1 - a; echo 'ok 2 - b # SKIP no disk'; echo 1..2",
             "1 passed, 0 failed, 1 skipped", 0),
            ("a file that is skipped as a whole proves nothing", "echo '1..0 # SKIP no disk'",
             "0 passed, 0 failed, 1 skipped", 1),
            ("one that dies", "echo ok 1 - a; exit 3", "1 passed, 1 failed, 0 skipped", 1),
            ("one that ends early", "echo 1..3; echo ok 1 - a", "1 passed, 1 failed, 0 skipped", 1),
            ("one that is killed", "echo 1..1; echo ok 1 - a; kill -9 $$",
             "1 passed, 1 failed, 0 skipped", 1),
            ("one that says nothing", "true", "0 passed, 1 failed, 0 skipped", 1),
            ("one that leaves a file behind", "echo ok 1 - a; echo 1..1; touch $TMPDIR/x",
             "1 passed, 1 failed, 0 skipped", 1),
            ("one with another name each time", "echo ok 1 - $TMPDIR/x; echo 1..1",
             "1 passed, 1 failed, 0 skipped", 1)]:
        r, said, rows = check("a.t", script)
        ok((said, r.returncode) == (last, rc), what + ": " + last, r.stdout)
    r, _, _ = check("a.t", "echo 'ok 1 - b # SKIP no disk'; echo ok 2 - a; echo 1..2")
    ok("skipped:\n" in r.stdout and ": b: no disk" in r.stdout,
       "the end says what was skipped, and why", r.stdout)

    for sig in signal.SIGINT, signal.SIGTERM:
        p = subprocess.Popen(["tests/check", place,
                              fake("a.t", "sleep 1000 & kill -STOP $!; "
                                   f"echo $TMPDIR $! >{place}/where; wait"),
                              fake("b.t", "touch $TMPDIR/x")],
                             cwd=ROOT, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + HANG_S
        while not (os.path.exists(place + "/where")
                   and open(place + "/where").read()) and time.monotonic() < deadline:
            time.sleep(0.05)
        p.send_signal(sig)
        out, _ = p.communicate(timeout=HANG_S)
        where, stopped = open(place + "/where").read().split()
        os.unlink(place + "/where")
        ok(p.returncode == 128 + sig and where and not os.path.exists(where),
           f"{sig.name} ends it, and its TMPDIR goes", out, where)
        deadline = time.monotonic() + HANG_S
        while os.path.exists(f"/proc/{stopped}") and time.monotonic() < deadline:
            time.sleep(0.05)
        ok(not os.path.exists(f"/proc/{stopped}"), "as does a process that was stopped")
    with open("tests/check") as f:
        text = f.read()
    ok(text.count(KNOWN := "            running.add(r)\n") == 1,
       "what begins is known in one place")
    with open(f"{place}/check", "w") as f:
        f.write(text.replace(KNOWN, "            os.kill(os.getpid(), signal.SIGTERM)\n"
                             f"            stopped.wait(), time.sleep(1)\n{KNOWN}"))
    os.chmod(f"{place}/check", 0o755)
    r = run(f"{place}/check", place, fake("a.t", "sleep 1000"), timeout=HANG_S)
    ok(r.returncode == 128 + signal.SIGTERM, "and one that has only just begun", r.stdout)

    for what, said, last, names, rc in [
            ("cmocka's words", ["[ RUN      ] test_a", "[       OK ] test_a", "[ RUN      ] test_b",
                                "[  FAILED  ] test_b", "[  PASSED  ] 1 test(s).",
                                "[  FAILED  ] tests: 1 test(s), listed below:",
                                "[  FAILED  ] test_b", "exit 1"],
             "1 passed, 1 failed, 0 skipped", ["test_a", "test_b"], 1),
            ("a skip in cmocka's words, and why",
             ["[ RUN      ] test_a", "no disk,", "no room", "[  SKIPPED ] test_a",
              "[ RUN      ] test_b", "said", "[       OK ] test_b", "[ RUN      ] test_c",
              "[  SKIPPED ] test_c", "[  PASSED  ] 1 test(s).",
              "[  SKIPPED ] 2 test(s), listed below:", "[  SKIPPED ] test_a",
              "[  SKIPPED ] test_c", "", " 2 SKIPPED TEST(S)"],
             "1 passed, 0 failed, 2 skipped", ["test_a", "test_b", "test_c"], 0),
            ("a unit test that says nothing", [], "0 passed, 1 failed, 0 skipped",
             ["it has tests"], 1)]:
        r, end, rows = check("test_false", "".join(
            line + "\n" if line.startswith("exit") else f"echo '{line}'\n" for line in said))
        ok((end, [row["name"] for row in rows], r.returncode) == (last, names, rc)
           and (": test_a: no disk, no room\n" in r.stdout) == ("no disk," in said), what, r.stdout,
           rows)

    count = f"n=$(($(cat {place}/n 2>/dev/null || echo 0) + 1)); echo $n >{place}/n; "
    unjudged = ("echo 'ok 1 - a # SKIP not judged: the host stood still'; "
                "echo '# who had the CPU'; echo 1..1")
    r, said, rows = check("a.t", count
                          + f"[ $n -gt 2 ] || {{ {unjudged}; exit; }}; echo ok 1 - a; echo 1..1")
    ok(said == "1 passed, 0 failed, 0 skipped" and [row["result"] for row in rows] == ["not judged",
                                                                                       "not judged",
                                                                                       "ok"],
       "what is not judged is run again", r.stdout, rows)
    ok("run again: 2 times" in r.stdout and "a.t: 3 runs: the host stood still" in r.stdout,
       "and the end says how often, and why", r.stdout)
    ok(r.stdout.count("# who had the CPU") == 2, "each time with what the file said of it",
       r.stdout)
    os.unlink(os.path.join(place, "n"))
    log = f"{place}/log"
    r = run("tests/check", place, fake("c.t", f"{count} echo c >>{log}; [ $n -gt 1 ] || {{ "
                                       f"{unjudged}; exit; }}; echo ok 1 - a; echo 1..1"),
            fake("d.t", f"echo d >>{log}; echo ok 1 - a; echo 1..1"))
    with open(log) as f:
        ok(r.returncode == 0 and f.read().split() == ["c", "d", "c"],
           "behind the others of its stage", r.stdout)
    os.unlink(os.path.join(place, "n"))
    r, said, rows = check("a.t", count + unjudged)
    ok(said == "0 passed, 1 failed, 0 skipped" and open(os.path.join(place, "n")).read() == "3\n",
       "three times; then it has failed", r.stdout)
    os.unlink(os.path.join(place, "n"))
    r, said, rows = check("a.t", count
                          + "echo not ok 1 - a; echo 'ok 2 - b # SKIP not judged: x'; echo 1..2; "
                            "exit 1")
    ok(r.returncode == 1 and open(os.path.join(place, "n")).read() == "1\n"
       and [row["result"] for row in rows] == ["not ok", "not judged"],
       "what is red is never run again, and what was not judged beside it is not red", r.stdout)
    os.unlink(os.path.join(place, "n"))
    with open(f"{place}/test_none", "w"):
        os.chmod(f"{place}/test_none", 0o755)
    r = run("tests/check", place, f"{place}/test_none")
    ok(r.returncode == 1 and r.stdout.splitlines()[-1] == "0 passed, 1 failed, 0 skipped",
       "what cannot be run has failed", r.stdout)
    r = run("tests/check", place, "nothing.t")
    ok(r.returncode == 1 and "neither a stage nor a program" in r.stdout,
       "what is not there is refused", r.stdout)

    # ---- guests that count instructions begin beside what measures, out of its way ----
    suite = os.path.join(place, "suite")
    for stage in "live", "vm":
        os.makedirs(os.path.join(suite, stage))
    turn = os.path.join(place, "turn")  # nobody else's: others may measure for minutes
    os.mkdir(turn)
    with open("tests/check") as f:
        text = f.read()
    ok(text.count(TURN := 'TURN, QUEUE = "/tmp", "/"') == 1, "turns are taken in one place")
    with open(f"{suite}/check", "w") as f:
        f.write(text.replace(TURN, f"TURN, QUEUE = {turn!r}, {place!r}"))
    os.chmod(f"{suite}/check", 0o755)
    mark = f"{place}/mark-"
    wait = "i=0; until {}; do sleep 0.05; [ $((i += 1)) -lt 6000 ] || exit; done"
    where = "$(taskset -pc $$ | sed 's/.*: //')"
    tell = f'echo "# $(nice) {where} aside=$CULPRIT_ASIDE"'
    base, at = os.getpriority(os.PRIO_PROCESS, 0), subprocess.check_output(
        ["sh", "-c", f"echo {where}"], text=True).strip()
    fake("suite/live/a.t", f"{wait.format(f'[ -e {mark}begun ]')} && echo ok 1 - a; "
         f"echo 1..1; [ ! -e {mark}other ]")
    fake("suite/vm/b.t", f": counted=1; {tell}; touch {mark}begun; "
         f"{wait.format(f'[ -e {mark}other ]')}; sleep 1; {tell}; touch {mark}told; "
         f"{wait.format(f'[ $(nice)/{where} = {base}/{at} ]')} && echo ok 1 - b; "
         f"{tell}; echo 1..1; exit 1")
    fake("suite/vm/c.t", f"touch {mark}other; echo ok 1 - c; echo 1..1")
    cpus = os.sched_getaffinity(0)
    if len(cpus) > 1:
        measures = os.open(turn, os.O_RDONLY)  # as a live test of another tree would
        fcntl.flock(measures, fcntl.LOCK_EX)
        p = subprocess.Popen([f"{suite}/check", place], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "BUILD": place})
        deadline = time.monotonic() + HANG_S
        while (not os.path.exists(f"{mark}told") and p.poll() is None
               and time.monotonic() < deadline):
            time.sleep(0.05)
        os.close(measures)
        out, _ = p.communicate()
        ok(out.splitlines()[-1] == "3 passed, 1 failed, 0 skipped",
           "a guest that counts instructions begins beside a live test, no other does", out)
        told = re.findall(r"^ +# (\d+) (\S+) aside=(\d?)", out, re.M)
        low = (str(min(base + 10, 19)), "1")
        ok([(t[0], t[2]) for t in told] == [low, low, (str(base), "1")]
           and str(max(cpus)) not in re.split("[-,]", told[0][1])
           and told[0][1] == told[1][1] != told[2][1],
           "at a low priority, off the CPU that is measured, until its stage has begun and nobody "
           "measures", out)

    for name in "a.t", "c.t":
        os.unlink(f"{place}/suite/{'live' if name == 'a.t' else 'vm'}/{name}")
    os.unlink(f"{place}/suite/vm/b.t")
    shares, seen = ": 'pick_target(shared=True)'; ", f"{place}/seen-"
    for name, other in ("a", "c"), ("c", "a"):
        fake(f"suite/live/{name}.t", f"{shares}touch {seen}{name}; "
             f"{wait.format(f'[ -e {seen}{other} ]')} && echo ok 1 - {name}; "
             f"touch {seen}{name}end; echo 1..1")
    fake("suite/live/b.t", f"[ -e {seen}aend ] && [ -e {seen}cend ] && echo ok 1 - b; echo 1..1")
    r = run(f"{place}/suite/check", place, "live")
    ok(r.stdout.splitlines()[-1] == "3 passed, 0 failed, 0 skipped",
       "two live tests that may be beside each other are, and behind them each is alone", r.stdout)

    # Three of three trees: the last one measures when one of the others has ended.
    folders = [tempfile.mkdtemp(dir=place) for _ in range(4)]
    shared = [subprocess.Popen([sys.executable, "-c", f"""import sys
sys.path.insert(0, "{ROOT}/tests/live")
import lib
lib.TURN, lib.QUEUE, *lib.PLACES = {folders}
lib.take_turn(shared=True)
lib.take_place()
print("measures", flush=True)
sys.stdin.read()"""], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(3)]
    begun = []

    def await_begun(count, seconds):
        deadline = time.monotonic() + seconds
        while len(begun) < count and (left := deadline - time.monotonic()) > 0:
            begun.extend(select.select([p.stdout for p in shared if p.stdout not in begun], [], [],
                                       left)[0])
        return len(begun)

    ok(await_begun(2, HANG_S) == 2 and await_begun(3, 1) == 2,
       "no more than two measure at once, of whatever trees")
    for p in shared:
        if p.stdout in begun:
            p.stdin.close()
    ok(await_begun(3, HANG_S) == 3, "the third does when they have ended")
    for p in shared:
        p.stdin.close()
        p.wait()

    os.mkdir(f"{place}/suite/oracle")
    fake("suite/oracle/a.t", f"{wait.format(f'[ -e {seen}e ]')} && echo ok 1 - a; echo 1..1")
    fake("suite/vm/e.t", f": counted=1; touch {seen}e; echo ok 1 - e; echo 1..1")
    if len(cpus) > 1:
        r = run(f"{place}/suite/check", place, "oracle", "vm")
        ok(r.stdout.splitlines()[-1] == "2 passed, 0 failed, 0 skipped",
           "a guest begins beside the oracle, too", r.stdout)

    fake("suite/vm/d.t", ": counted=1; echo ok 1 - d; echo 1..1")
    r = run(f"{place}/suite/check", place, "live", f"{place}/suite/vm/d.t")
    ok(r.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped",
       "a stage and a file of another one are run, the file behind the stage", r.stdout)

    # ---- tools/flake: every third run is red, every second skips ----
    suite = fake("sometimes.t",
                 count + "[ $((n % 3)) = 0 ] && echo not ok 1 - shaky || echo ok 1 - shaky\n"
                 "[ $((n % 2)) = 0 ] && echo 'ok 2 - shy # SKIP no disk' || echo ok 2 - shy\n"
                 "echo 'ok 3 - never # SKIP no card'\n[ $n = 5 ] || echo ok 4 - firm; echo "
                 "1..4\n[ $((n % 3)) != 0 ]")
    r = run("tools/flake", "6", suite)
    folder = os.path.basename(place)
    for line in ("6 runs", r"run 3: RED +2 passed +1 failed +1 skipped +0 not judged +\d+ s$",
                 r"run 4: ok +2 passed +0 failed +2 skipped",
                 rf"RED +2 of 6 \(33\.3 %\)  {folder}/sometimes\.t: shaky",
                 rf"skip +3 of 6 \(50\.0 %\)  {folder}/sometimes\.t: shy: no disk",
                 rf"absent +1 of 6 \(16\.7 %\)  {folder}/sometimes\.t: firm"):
        ok(re.search(line, r.stdout, re.M), "flake says " + line.replace(folder, "FOLDER"),
           r.stdout)
    ok(r.returncode == 1 and "never" not in r.stdout.replace("nothing was ever", "")
       and "run 6" in r.stdout,
       "and nothing of what is the same each time", r.stdout)
    r = run("tools/flake", "7", suite)
    ok(r.stdout.count("run 7") == 2 and r.stdout.count("run 6") == 1 and "2 of 7" in r.stdout,
       "it goes on where it was", r.stdout)
    r = run("tools/flake", "2", "--beside", "sleep 1000", suite)
    ok(r.returncode == 1 and "--fresh begins anew" in r.stdout
       and "run " not in r.stdout,
       "and does not mix runs of different tests", r.stdout)
    r = run("tools/flake", "1", "--fresh", "--beside", "sleep 1000", suite)
    ok("run 1" in r.stdout and "1 runs" in r.stdout, "with something beside", r.stdout)
    ended = f"grep -q ') Z ' /proc/$(cat {place}/pid)/stat"
    r = run("tools/flake", "2", "--fresh", "--beside", f"sh -c 'echo $$ >{place}/pid'",
            fake("slow.t", f"{wait.format(ended)}; echo ok 1 - a; echo 1..1"))
    ok(r.returncode == 1 and "ended by itself" in r.stdout,
       "a run whose companion ended does not count", r.stdout)

    # Time to end, longer than Python waits for who has got Ctrl-C, too. What it waits for is there
    # before it says so: a shell that gets the signal as it begins a command waits for that command.
    # And before its trap: the child of a shell that has one loses a signal that comes before it is
    # another program.
    slow = fake("test_slow", "sleep 1000 & s=$!\ntrap 'sleep 1; exit 1' TERM\n"
                f"{count} [ $n = 2 ] || kill $s; wait $s; echo '[       OK ] a'")
    os.unlink(os.path.join(place, "n"))
    p = subprocess.Popen(["tools/flake", "3", "--fresh", slow], cwd=ROOT,
                         env={**os.environ, "BUILD": place, "TMPDIR": place},
                         stdout=subprocess.PIPE, text=True, start_new_session=True)
    deadline = time.monotonic() + HANG_S
    while not (os.path.exists(place + "/n")
               and open(place + "/n").read() == "2\n") and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(p.pid, signal.SIGINT)
    said, _ = p.communicate(timeout=HANG_S)
    ok("interrupted" in said and "1 runs" in said, "Ctrl-C ends it, with what is known", said)
    is_left = glob.glob(f"{place}/culprit-check-*")
    ok(not is_left, "and its TMPDIR goes", is_left)
    r = run("tools/flake", "3", slow)
    ok(r.stdout.count("run 2: ok") == 2 == r.stdout.count("run 3: ok")
       and r.stdout.count("run 1") == 1
       and "3 runs" in r.stdout and r.returncode == 0,
       "and the interrupted run is made again", r.stdout)

    # ---- warnings are errors with what was tried, never in a user's make ----
    def planned(*words):
        plain = ["env", "-u", "MAKEFLAGS", "-u", "MFLAGS", "-u", "MAKELEVEL", "-u", "WERROR"]
        return run(*plain, "make", "-n", "V=1", f"O={place}", *words).stdout

    def compiled(*words):
        return planned(*words, f"{place}/src/main.o", f"{place}/bpf/trace.bpf.o")

    untried = re.findall(r"warnings are not errors here: (.*) was not tried",
                         said := compiled("WERROR=1", "TRIED="))
    ok(untried and "-Werror" not in said,
       "with versions that were not tried warnings are no errors, and make says so", said)
    ok(compiled("WERROR=1", "TRIED=" + "".join(untried)).count("-Werror") == 2,
       "with those that were they are, on both sides")
    ok("-Werror" not in (said := compiled()), "in a user's make they never are", said)

    # ---- what includes a header that is made can be built alone, with any number of jobs ----
    made = {}
    for d in (d for part in ("src", "tests")
              for d in glob.glob(f"{BUILD}/{part}/**/*.d", recursive=True)):
        with open(d) as f:
            paths = [os.path.split(os.path.join(ROOT, w)) for w in f.read().split()]
        for header in {name for folder, name in paths if folder == BUILD and name.endswith(".h")}:
            made.setdefault(header, []).append(os.path.relpath(d, BUILD)[:-1] + "o")
    ok({"perfetto.pb-c.h", "culprit.skel.h", "sums.skel.h"} <= set(made),
       "objects with headers that are made are known", made)
    MAKES = {"perfetto.pb-c.h": "protoc-c"}
    late = [(obj, header) for header, objects in made.items() for obj in objects
            if not re.search(MAKES.get(header, rf"bpftool gen skeleton .*\b{header}"),
                             planned(f"{place}/{obj}"))]
    ok(not late, "each is made before what includes it", *late)

    # ---- a test whose samplers had no CPU is run again, and has failed in the end ----
    said = "culprit: the samplers could not run within 10 s: x"
    hungry = fake("hungry", f"echo '{said}' >&2; exit 1")
    guest = f"""import guests, lib
guests.lab.run = lambda *_, **options: (0, "", "", {{"a.err": b"{said}\\nb"}})
"""
    alone = [(name, result, n) for n, result in ((1, "not judged"), (2, "not judged"),
                                                 (3, "not ok"))
             for name in ("it runs", "the test went on to its end")]
    red = [(name, "not ok", 1) for name in ("it runs", "the test went on to its end",
                                            "nothing stays in TMPDIR")]
    for what, begins, want in (
            ("what a run without a CPU makes worthless is not judged",
             'import lib; lib.culprit("run")', alone),
            ("nor is what one in a guest does", guest + 'guests.run("", "")', alone),
            ("but for guests that count instructions", guest + 'guests.run("", "", counted=1)',
             red)):
        lost = fake("lost.t", f"""exec env CULPRIT={hungry} python3 -c '
import sys, tempfile
sys.path[:0] = "{ROOT}/tests/live", "{ROOT}/tests/vm"
{begins}
tempfile.mkdtemp()
lib.ok(False, "it runs")
raise ValueError
'""")
        r = run("tests/check", place, lost, "--results", path := os.path.join(place, "hungry-rows"))
        with open(path) as f:
            rows = [json.loads(line) for line in f]
        os.unlink(path)
        ok([(row["name"], row["result"], row["try"]) for row in rows] == want and r.returncode,
           what, r.stdout, rows)

    # ---- nor is one whose culprit the machine kept from its CPU: who had that is looked at ----
    drawn = f"""import sys
sys.path.insert(0, "{ROOT}/tests/live")
import lib
proc = lib.spawn("1000", path="sleep")
polls = 0


def threads():
    global polls
    polls += 1
    its = proc.pid, lib.os.getpid(), "sh", "R" if %s else "S", 3, "0", "20", polls * %d, 0
    other = %s, 0, %r, "R", %d, "0", "20", polls * 10**12, 0
    return {{"/its": lib.Thread(*its), "/other": lib.Thread(*other)}}


lib.threads = threads
lib.ok(lib.finish(proc, 1).rc == 0, "it ends")
lib.done()"""
    cases = {
        "a stranger keeps it from its CPU": (True, 1e6, 1, "x", 3, "x had it for 1000.0 s of "),
        "nobody is seen there": (True, 1e6, 1, "culprit", 2, "sh had it for 0.0 s of "),
        "what the test began keeps it from it": (True, 1e6, "proc.pid", "x", 3, None),
        "a culprit keeps it from it": (True, 1e6, 1, "culprit-sampler", 3, None),
        "it has its turns": (True, 1e12, 1, "x", 3, None),
        "it wants no CPU": ("polls % 2", 1e6, 1, "x", 3, None)}
    begun = [subprocess.Popen([sys.executable, "-c", drawn % case[:-1]], stdout=subprocess.PIPE,
                              text=True) for case in cases.values()]
    for p, (what, (*_, had)) in zip(begun, cases.items()):
        said, _ = p.communicate(timeout=HANG_S)
        ok((f"\nok 1 - it ends # SKIP not judged: a thread that wanted CPU 3 was kept from it "
            f"({had}" if had else "\nnot ok 1 - it ends\n") in said
           and "# killed after 1 s; " in said,
           f"one that does not end is {'not ' if had else ''}judged where {what}", said)

    # ---- a guest whose emulator has lost a timer is known ----
    loader = importlib.machinery.SourceFileLoader("lab", os.path.join(ROOT, "tools", "lab"))
    lab = importlib.util.module_from_spec(importlib.util.spec_from_loader("lab", loader))
    loader.exec_module(lab)
    late = "[  716.856730] rcu: \tPossible timer handling issue on cpu=%d timer-softirq=%d\n"
    for console, cpu in (("", None), (late % (4, 3), None),
                         (late % (4, 3) + late % (4, 5), None),
                         (late % (4, 3) + late % (5, 3), None),
                         (late % (4, 5) + "[  779.9] rcu: stalls\n" + late % (4, 5), 4)):
        ok(lab.without_timer(console) == cpu, f"lab: the timer that is lost is CPU {cpu}'s",
           console)

    # ---- a guest has ended, and its emulator neither ends nor answers ----
    lab.LOOK_S = 0.05
    guest = object.__new__(lab.Guest)
    guest.process = subprocess.Popen(["sleep", "1000"])
    guest.place, guest.nmi, guest.qmp = types.SimpleNamespace(name=place), 0, None
    with socket.socket(socket.AF_UNIX) as deaf, open(f"{place}/console", "w+") as console:
        deaf.bind(f"{place}/qmp")
        deaf.listen()
        print(lab.BEGUN, file=console, flush=True)
        threading.Timer(0.5, print, ["[   20.330758] reboot: Power down"],
                        {"file": console, "flush": True}).start()
        guest._watch(HANG_S)
        guest.close()
    ok(guest.process.returncode == -9, "lab: a guest that has ended is not waited for")

    # ---- one that waits for a CPU here all the time has all the time it needs, but for ever ----
    def waiting(begun):
        return [time.monotonic() - begun]

    open(f"{place}/console", "w").close()
    for what, lasts, waits, lab.PATIENCE, ends in (
            ("waits for CPUs is waited for", "1", waiting, 1000, True),
            ("waits for CPUs for ever is given up", "1000", waiting, 10, False),
            ("wants no CPU is given up", "1000", lambda begun: [0], 1000, False)):
        guest.process, guest.waited = subprocess.Popen(["sleep", lasts]), 0
        guest._waits = functools.partial(waits, time.monotonic())
        ended = False
        with contextlib.suppress(lab.Failed):
            ended = guest._watch(0.3) == 0
        guest.close()
        ok(ended == ends, f"lab: a guest that {what}")

    # ---- check-all: each stage, also after one that fails ----
    fake("flock", 'shift; exec "$@"')
    fake("make", 'case "$*" in *-n*oracle) exit 2 ;; *san) echo broken; exit 1 ;; *) echo "$*"; '
                 'echo 1 passed ;; esac')
    r = run("env", f"PATH={place}:{os.environ['PATH']}", "tests/check-all", place)
    rows = [line.split()[:2] for line in r.stdout.splitlines()
            if re.match(r"\w+ +(ok|FAILED) +\d+ s", line)]
    ok(r.returncode == 1 and rows == [[name, "FAILED" if name == "san" else "ok"] for name in
                                      ("check", "san", "browser", "live", "package", "cross",
                                       "roots", "fuzz", "accuracy", "proofs", "lab")],
       "check-all: a row for each stage",
       r.stdout)
finally:
    subprocess.run(["rm", "-rf", place])
print(f"1..{number}")
sys.exit(failed > 0)
