#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON schema that culprit prints: all kept reports keep to it, it forbids what it does not
name, and names nothing that none of them has."""
import copy
import glob
import json
import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
culprit = os.path.join(os.path.abspath(os.environ.get("BUILD", os.path.join(here, "../../build"))),
                       "culprit")
try:
    import jsonschema
except ImportError:
    print("1..0 # SKIP the Debian package python3-jsonschema is not there")
    sys.exit(os.environ.get("CI") == "true")

count = failed = 0


def ok(passed, name, *details):
    global count, failed
    count += 1
    failed += not passed
    print(f"{'ok' if passed else 'not ok'} {count} - {name}")
    for line in [] if passed else details:
        print("# " + str(line)[:1000])


text = subprocess.run([culprit, "report", "--schema"], capture_output=True, text=True,
                      check=True).stdout
ok(text == open(os.path.join(here, "../schema/report.json")).read(),
   "report --schema prints tests/schema/report.json")
schema = json.loads(text)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
reports = {os.path.basename(p): json.load(open(p))
           for p in sorted(glob.glob(os.path.join(here, "expected/*.json")) +
                           glob.glob(os.path.join(here, "machines/*.json")))}

# No recording holds sums: as culprit watch --sums has them.
sums = copy.deepcopy(reports["irq.json"])
sums["run"]["sums"] = True
for c in sums["cpus"]:
    c["hiccups"] = None
reports["sums"] = sums


def why(report):
    error = jsonschema.exceptions.best_match(validator.iter_errors(report))
    return f"{error.json_path}: {error.message}"[:300] if error else None


for name, report in reports.items():
    ok(not why(report), f"{name} keeps to the schema", why(report))

# ---- what it does not name ----


def objects(value, path=()):
    """The paths of all objects; of a list those of its first element."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from objects(inner, path + (key,))
    elif isinstance(value, list) and value:
        yield from objects(value[0], path + (0,))


for path in objects(reports["threads.json"]):
    more = copy.deepcopy(reports["threads.json"])
    at = more
    for key in path:
        at = at[key]
    at["something"] = 1
    ok(why(more), f"an unknown name in {'.'.join(map(str, path)) or 'the report'} is not allowed")

# ---- what nothing has ----

seen = {}  # id of an object's schema: the names that some report has


def visit(s, value):
    while "$ref" in s:
        s = schema["$defs"][s["$ref"].rpartition("/")[2]]
    for inner in s.get("oneOf", []) + s.get("anyOf", []):
        if jsonschema.Draft202012Validator({**inner, "$defs": schema["$defs"]}).is_valid(value):
            visit(inner, value)
    if isinstance(value, dict) and "properties" in s:
        seen.setdefault(id(s), set()).update(k for k in value)
        for key in value.keys() & s["properties"].keys():
            visit(s["properties"][key], value[key])
    for inner in value if isinstance(value, list) and "items" in s else []:
        visit(s["items"], inner)


def unseen(s, path=""):
    if isinstance(s, dict):
        if "properties" in s:
            yield from (f"{path}.{key}" for key in s["properties"].keys() - seen.get(id(s), set()))
        for key, inner in s.items():
            yield from unseen(inner, f"{path}.{key}")
    elif isinstance(s, list):
        for inner in s:
            yield from unseen(inner, path)


for report in reports.values():
    visit(schema, report)
missing = sorted(unseen(schema))
ok(not missing, "every name in it is in some report", *missing)
print(f"1..{count}")
sys.exit(failed > 0)
