#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A report on a terminal: longer than the screen, it ends with the verdict, too; elsewhere it does
not. No line of any report is wider than the screen."""
import glob
import os
import re
import subprocess
import tempfile

import lib
from lib import CULPRIT, culprit, done, is_, ok

RECORDING = os.path.join(lib.ROOT, "tests/fixtures/recordings/1.0/threads.rec")


def on_terminal(lines, *args, columns=100, **env):
    """The report on a terminal of so many lines, without its colours, and its exit status."""
    r = lib.on_terminal("report", RECORDING, *args, lines=lines, columns=columns, **env)
    return re.sub(r"\x1b\[[0-9;]*m", "", r.err), r.rc


plain = culprit("report", RECORDING).out
verdict = plain.split("\n\n")[1]
lines = plain.count("\n")
ok(re.match(r"cpu \d+ loses ", verdict) and lines > 24, "the first paragraph is the verdict",
   plain[:400])
is_(on_terminal(24), (f"{plain}\n{verdict}\n", 0),
    "on 24 lines the verdict stands at the end, too")
is_(on_terminal(lines), (f"{plain}\n{verdict}\n", 0),
    "also where only the prompt has no room")
is_(on_terminal(lines + 1), (plain, 0), "where all of it is in sight it does not")
is_(on_terminal(24, "-o", "/dev/stdout"), (f"{plain}\n{verdict}\n", 0),
    "nor does the option matter")
is_(on_terminal(0), (plain, 0), "nor where the terminal does not say how high it is")
is_(on_terminal(24, "-f", "markdown"), (culprit("report", RECORDING, "-f", "markdown").out, 0),
    "other formats are the same everywhere")

narrow = on_terminal(0, columns=38)
is_(narrow, on_terminal(0, columns=40),
    "a terminal of less than 40 columns has those of 40")
is_(narrow, on_terminal(0, COLUMNS="30"),
    "so has one that COLUMNS makes as narrow")

# ---- one that cannot be drawn on ----
for term in "dumb", "":
    r = lib.on_terminal("top", "-c", "0", "--no-trace", "-d", "100ms", TERM=term)
    ok(r.rc == 1 and re.fullmatch(rf"culprit: top needs a terminal [^\n]* '{term}'[^\n]*\n", r.err),
       f"top where TERM is '{term}': one line, and nothing is drawn", r)

# ---- width ----
# A word alone on its line may be wider.
def too_wide(width, *args):
    r = subprocess.run([CULPRIT, "report", *args], capture_output=True, text=True, check=True,
                       env={**os.environ, "COLUMNS": str(width)})
    return [line for line in r.stdout.splitlines() if len(line) > width and " " in line.strip()]


with tempfile.TemporaryDirectory() as place:
    for make in "golden", "golden_machines":
        subprocess.run([os.path.join(lib.BUILD, make), place], check=True, capture_output=True)
    machines = [f"{place}/{m}.rec" for m in (60, 256, 1024, "unlike")]
    others = sorted(set(glob.glob(f"{place}/*.rec")) - set(machines)) + sorted(
        glob.glob(os.path.join(lib.ROOT, "tests/fixtures/recordings/*/*.rec")))
    for width in 60, 80, 100:
        wide = [(os.path.basename(p), line) for p in machines for line in too_wide(width, p)]
        wide += [(os.path.basename(p), line) for p in others
                 for line in too_wide(width, p, "--stacks", "--all")]
        wide += [(p, line) for p in others if p.endswith("/sleep.rec")
                 for line in too_wide(width, p, "--percentiles", "wide")]
        if width > 60:  # the tables of all hosts need more
            wide += [("all of them", line) for line in too_wide(width, *others)]
        is_(wide, [], f"{len(machines)} and {len(others)} reports fit {width} columns")
done()
