#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tests/accuracy/score on runs that nobody made: what culprit says in them is right, or wrong in
one respect, in all pokes or in some."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("score", os.path.join(ROOT, "tests/accuracy/score"))
score = importlib.util.module_from_spec(importlib.util.spec_from_loader("score", loader))
loader.exec_module(score)
POKES, SENDER, GAP = 200, 10, 100_000_000  # GAP: ns
number = failed = 0


def judged(change, bad, asker):
    """Status and output of score, where the pieces of so many pokes are changed."""
    log = [{"class": "membarrier", "cpu": 1, "function": "ipi_mb", "sender_tid": asker,
            "start_ns": GAP * (i + 1), "due_ns": GAP * (i + 1), "end_ns": GAP * (i + 1) + 3000}
           for i in range(POKES)]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "hiccups")
        with open(path, "w") as f:
            for i, e in enumerate(log):
                piece = {"kind": "vector", "id": 251, "name": "call_function", "function": "ipi_mb",
                         "origin": {"pid": SENDER}}
                f.write(json.dumps({"start_ns": e["start_ns"], "duration_ns": 2500, "outside_ns": 0,
                                    "pieces": [piece | change if i < bad else piece]}) + "\n")
        hiccups = score.Hiccups(path)
    report = {"run": {"not_observed": []},
              "cpus": [{"records": {"seen": POKES, "lost": 0, "join_mismatches": 0}}]}
    score.run = lambda *_: (report, hiccups, {"skipped": []}, [log])
    score.os.geteuid = lambda: 0
    sys.argv = ["score", "-n", "1000"]
    said, status = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        try:
            score.main()
        except SystemExit as e:
            status = int(e.code)
    return status, said.getvalue()


WRONG = ("function", {"function": "generic_ipi"}), ("asker", {"origin": {"pid": SENDER + 1}})
for what, change, bad, asker, want, row in (
        ("all is right", {}, 0, SENDER, 0, ["100.00"] * 4),
        ("nobody is asked for", {}, 0, None, 0, ["100.00"] * 3 + ["-"]),
        *((f"{what} wrong in {bad} of {POKES}", change, bad, SENDER, int(bad > 2), None)
          for what, change in WRONG for bad in (1, 3, POKES - 1, POKES)),
        ("no asker at all", {"origin": None}, POKES, SENDER, 1, ["100.00"] * 3 + ["0.00"])):
    status, said = judged(change, bad, asker)
    shown = next(line.split()[2:6] for line in said.splitlines() if line.startswith("all "))
    number += 1
    good = status == want and row in (None, shown)
    failed += not good
    print(f"{'ok' if good else 'not ok'} {number} - {what}: {'not ' * want}met")
    if not good:
        print(f"# status {status}", *said.splitlines()[:3], sep="\n# ")
print(f"1..{number}")
sys.exit(failed > 0)
