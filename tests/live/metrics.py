# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads metrics back: by promtool, and as what Prometheus' own Python parsers make of them."""
import os
import subprocess

import lib
from lib import ok, skip
# noqa: F401
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus  # noqa: F401


def promtool(path):
    tool, name = os.path.join(lib.BUILD, "promtool"), os.path.basename(path)
    if not os.path.exists(tool) and os.environ.get("CI") != "true":
        return skip(f"promtool, {name}",
                    "promtool is not there (make check installs it when it can)")
    with open(path) as f:
        r = subprocess.run([tool, "check", "metrics"], stdin=f, capture_output=True, text=True)
    return ok(r.returncode == 0 and not r.stdout + r.stderr,
              f"promtool finds nothing to say of {name}", r)


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
