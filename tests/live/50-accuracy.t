#!/usr/bin/env python3
"""The score for the truth, short: every class of noise some dozens of times. `make accuracy` is the long one."""
import os
import subprocess

import lib
from lib import diag, done, ok, skip

lib.need_bpf()
score = os.path.join(lib.ROOT, "tests", "accuracy", "score")
r = subprocess.run([score, "-c", str(lib.pick_target()), "-n", "30", "--gap", "2ms-12ms"], stdout=subprocess.PIPE, text=True,
                   env={**os.environ, "CULPRIT": lib.CULPRIT, "POKE": lib.POKE})
diag(r.stdout)
if r.returncode == 77:
    skip("the score", "cannot run here")
else:
    ok(r.returncode == 0, "known noise is found and named, nothing else is blamed")
done()
