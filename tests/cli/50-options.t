#!/usr/bin/env python3
"""Options: old spellings still work, and say so where they could mean two things; what would be dropped is refused. Needs no root."""
import os
import re
import shutil
import subprocess
import tempfile

from lib import CULPRIT, ROOT, culprit, done, is_, ok

place = tempfile.mkdtemp()
subprocess.run([os.path.join(os.path.dirname(CULPRIT), "golden"), place], check=True, capture_output=True)
TRACE = os.path.join(ROOT, "tests", "fixtures", "osnoise", "6.12.trace")


def at(name):
    return os.path.join(place, name)


def refused(what, *args, says, lines=1):
    r = culprit(*args, timeout=20)
    err = r.err.splitlines()
    ok(r.rc == 1 and not r.out and len(err) == lines and err[-1].startswith("culprit: ") and re.search(says, err[-1]), what, r,
       f"should say /{says}/")


# ---- old spellings ----
SAME = [("report", (at("two.rec"),), ("--cpu", "3"), ("-c", "3")),
        ("report", (at("sleep.rec"),), ("--series", "long"), ("--percentiles", "long")),
        ("plot", (at("two.rec"),), ("--cpu=3",), ("--cpus=3",)),
        ("osnoise", (), ("--from", TRACE), ("--input", TRACE))]
for command, operands, old, new in SAME:
    a, b = culprit(command, *operands, *old), culprit(command, *operands, *new)
    ok(a.rc == 0 and a.out and not a.err, f"{command} {old[0]} is taken", a)
    is_(a.out, b.out, f"{command} {old[0]} is {new[0]}")
# The option's own check answers: the spelling was understood.
for args, says in ((("pingpong", "-p", "x"), "^culprit: -p: 'x': not a whole number"), (("pingpong", "--raw", "/nonexistent/x"), "/nonexistent/x"),
                   (("queue", "--input", "/nonexistent"), "cannot read /nonexistent"), (("run", "--interval", "1s"), "--textfile-interval"),
                   (("queue", "--long", "-n", "x"), "^culprit: -n")):
    refused(f"{args[0]} {args[1]} is understood", *args, says=says)
refused("watch -t with a bare number is --tid, and says so", "watch", "-t", "4194303", says="no thread 4194303", lines=2)
ok("-t is --threshold now, so write --tid 4194303" in culprit("watch", "-t", "4194303").err, "the warning tells what to write")
refused("watch -t with a time is --threshold", "watch", "-t", "10us", says="watch what")
refused("watch --threshold takes no bare number", "watch", "--threshold", "4194303", says="no unit")
for command in culprit("help", "--list").out.split():
    told = culprit("help", command).out
    old = {"report": ("--cpu=", "--series"), "plot": ("--cpu=",), "osnoise": ("--from",), "run": ("--interval", " --series"),
           "pingpong": ("-p,", "--raw", "--series"), "queue": ("--input", "--long", "--series"), "watch": ("-t, --tid",)}.get(command, ())
    is_([o for o in old if o in told], [], f"help {command} tells no old spelling")

# ---- what would be dropped ----
for what, says, *args in (
        ("--force without a recording", "give --record", "run", "--force"),
        ("--style with a format", "leave out --format", "run", "--style", "oslat", "-f", "json"),
        ("--style with --stacks", "leave out --stacks", "run", "--style", "oslat", "--stacks"),
        ("--textfile-interval without --textfile", "give --textfile", "run", "--textfile-interval", "5s"),
        ("a workload's --force without a recording", "give --record", "sleep", "--force")):
    refused(f"{what} is refused", *args, says=says)

shutil.rmtree(place)
done()
