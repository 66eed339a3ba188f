#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit tune, in a guest with faults that are planted by the kernel's own mechanisms, all at
once: it finds all of them, keeps no fix that does nothing, and --undo puts all back, to the byte.
LONG: some minutes. The guest counts instructions, so that a busy host changes nothing."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vm"))
from guests import LONG, need, run  # noqa: E402
from lib import diag, done, is_, ok, skip_all, take_turn  # noqa: E402

PLANTED = ("I01", "K09", "K24", "K34", "T17")

if not LONG and not sys.argv[1:]:
    skip_all("long: LONG=1")
take_turn(shared=True)
kernel, = need(*sys.argv[1:] or ["6.12"])
rc, out, err, files = run(kernel, "python3 tests/proofs/tune_in_guest.py /tmp/out/told "
                          + " ".join(PLANTED), counted=2, isolation="irqaffinity=0", timeout=3600)
told = json.loads(files.get("told", "{}"))
tuned = json.loads(told["tune"][1]) if told.get("tune", ["", ""])[1] else {}
if not ok(tuned.get("steps"), "it tunes", rc, out[-500:], err[-500:], told.get("tune"),
          told.get("dry")):
    done()
    sys.exit()
kept = {}
for step in tuned["steps"]:
    name = step["fixes"][0]["cause"]
    cells = step.get("sources_of_causes", {})
    diag(f"{name} {step['knobs']}: {step['why_not'] or step['verdict']}, "
         f"{cells.get('without', {}).get('ns_per_s')} -> {cells.get('with', {}).get('ns_per_s')}")
    if step["kept"]:
        kept[name] = step
diag(f"before {tuned['before']}, after {tuned['after']}, {tuned['ended']}")
is_(told["tune"][0], 0, "its exit status")
is_(sorted(set(PLANTED) - set(kept)), [], "all planted faults are found, and their fixes kept")
ok(all(s["sources_of_causes"]["without"]["count"] > 0
       and s["sources_of_causes"]["time_ratio"]["high"] < 1 for s in kept.values()
       if s["sources_of_causes"]["with"]["count"]), "no fix is kept that does nothing", kept)
is_((told["undo"][0], told["after"]), (0, told["before"]), "--undo puts all back, to the byte")
done()
