#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The JSON Schemas that culprit prints: all kept reports and what its other commands write keep to
them, they forbid what they do not name, and name nothing that none of them has. What only a machine
can show, tests/live/schemas.py holds against the same files, as fast as jsonschema would be slow:
here both are asked, and must agree."""
import copy
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
culprit = os.path.join(os.path.abspath(os.environ.get("BUILD", os.path.join(here, "../../build"))),
                       "culprit")
sys.path.insert(0, os.path.join(here, "../live"))
import schemas
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


def run(*args):
    """Its output; 2: audit has found something."""
    r = subprocess.run([culprit, *args], capture_output=True, text=True)
    if r.returncode not in (0, 2):
        raise RuntimeError(f"{args}: {r}")
    return r.stdout


ok(run("report", "--schema") == open(os.path.join(here, "../schema/report.json")).read(),
   "report --schema prints tests/schema/report.json")
printed, defs = {}, schemas.all_of()[0]
for name in sorted(glob.glob(os.path.join(here, "../schema/*.json"))):
    name = os.path.basename(name)[:-len(".json")]
    one = printed[name] = json.loads(run(*(("report", "--schema-jsonl") if name == "jsonl" else
                                           (name, "--schema"))))
    jsonschema.Draft202012Validator.check_schema(one)
    ok(all(d == defs[k] for k, d in one["$defs"].items()) and
       set(re.findall(r"#/\$defs/(\w+)", json.dumps(one))) <= one["$defs"].keys(),
       f"{name} --schema prints what its file says, and stands alone")
for name in ("run", "watch", "sleep", "queue", "syscall"):
    ok(json.loads(run(name, "--schema")) == printed["report"], f"{name} --schema is that of report")
schema = printed["report"]
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

# All flushes here are for one process: as where they are for several.
several = copy.deepcopy(reports["threads.json"])
for s in several["cpus"][0]["sources"]:
    if s.pop("memory_of", None):
        s["memories"] = True
reports["several"] = several


def why(report, schema=schema):
    """Where it leaves the schema; the quick reader of the other tests must say the same."""
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(report))
    quick = schemas.fault(schema, report, "", schema["$defs"])
    if bool(error) != bool(quick):
        raise RuntimeError(f"jsonschema: {error}, tests/live/schemas.py: {quick}")
    return f"{error.json_path}: {error.message}"[:300] if error else None


for name, report in reports.items():
    ok(not why(report), f"{name} keeps to the schema", why(report))

with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    subprocess.run([os.path.join(os.path.dirname(culprit), "golden"), place], check=True,
                   stdout=subprocess.DEVNULL)
    lines = [json.loads(line) for rec in sorted(glob.glob(place + "/*.rec"))
             for line in run("report", rec, "-f", "jsonl").splitlines()[:20]]
left = [f"{line}: {fault}" for line in lines if (fault := why(line, printed["jsonl"]))]
ok(len(lines) > 50 and not left, "each line of jsonl keeps to its own", len(lines), *left[:3])
line = {**next(x for x in lines if x["pieces"]), "new": 1}
ok(why(line, printed["jsonl"]) and why({k: v for k, v in line.items() if k not in ("new", "what")},
                                       printed["jsonl"]),
   "which forbids what it does not name, and wants all that it names")

# ---- what it does not name ----


def objects(value, path=()):
    """The paths of all objects; of a list those of its first element."""
    if isinstance(value, dict):
        yield path
        for key, inner in value.items():
            yield from objects(inner, path + (key,))
    elif isinstance(value, list) and value:
        yield from objects(value[0], path + (0,))


def forbids(report, schema):
    """The paths at which a name may be added."""
    for path in objects(report):
        more = copy.deepcopy(report)
        at = more
        for key in path:
            at = at[key]
        at["something"] = 1
        if not schemas.fault(schema, more, "", schema["$defs"]):
            yield path


is_open = list(forbids(reports["threads.json"], schema))
ok(not is_open, "an unknown name in a report is not allowed", *is_open)
for what, key, value in (("an unknown name", "other", 1), ("a kind of its own", "kind", "other"),
                         ("a negative count", "count", -1), ("half a count", "count", 1.5),
                         ("a bool for a count", "count", True), ("too much time", "max_ns", 2**64),
                         ("a number for a name", "name", 1), ("an escape", "name", "\x1b[1m")):
    wrong = copy.deepcopy(reports["threads.json"])
    wrong["cpus"][0]["sources"][0][key] = value
    ok(why(wrong), f"{what} is not allowed")

# ---- what nothing has ----

seen = {}  # id of an object's schema: the names that some report has


def visit(s, value, defs):
    while "$ref" in s:
        s = defs[s["$ref"].rpartition("/")[2]]
    for inner in s.get("oneOf", []) + s.get("anyOf", []):
        if not schemas.fault(inner, value, "", defs):
            visit(inner, value, defs)
    if isinstance(value, dict) and "properties" in s:
        seen.setdefault(id(s), set()).update(k for k in value)
        for key in value.keys() & s["properties"].keys():
            visit(s["properties"][key], value[key], defs)
    for inner in value if isinstance(value, list) and "items" in s else []:
        visit(s["items"], inner, defs)


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
    visit(schema, report, schema["$defs"])
missing = sorted(unseen(schema))
ok(not missing, "every name in it is in some report", *missing)

# ---- the other commands ----

work = tempfile.TemporaryDirectory()
os.chdir(work.name)
subprocess.run([os.path.join(os.path.dirname(culprit), "golden"), work.name], check=True,
               stdout=subprocess.DEVNULL)
saved = sorted(glob.glob(os.path.join(here, "../fixtures/osnoise/*.*")))
# None of their names is left out here; other outputs need a machine, and rights on it.
WHOLE = {"audit": [["irq.rec"], ["ticking.rec"]], "explain": [[], ["K09"], ["kworker/u8:2"]],
         "diff": [["irq.rec", "threads.rec"], ["sleep.rec", "sleep.rec"],
                  ["two.rec", "two.rec", "--", "two.rec", "four.rec"],
                  ["vm.guest", "vm.guest", "--host", "vm.host"],
                  ["--group", "irq.rec", "--group", "threads.rec"]],
         "plot": [["irq.rec", "threads.rec"], ["sleep.rec"]], "version": [["--features"], []]}
PART = {"osnoise": [*(["--input", s] for s in saved), ["--input", saved[0], "irq.rec"]]}
for name, calls in {**WHOLE, **PART}.items():
    values = []
    for args in calls:
        out = ("-o", "out.json") if name == "plot" else ()
        said = run(name, *args, "-f", "json", *out)
        values.append(json.load(open("out.json")) if out else json.loads(said))
    whys = [f"{args}: {w}" for args, v in zip(calls, values) if (w := why(v, printed[name]))]
    ok(not whys, f"{len(calls)} outputs of {name} keep to its schema", *whys)
    is_open = [p for v in values[-2:] for p in forbids(v, printed[name])]
    ok(not is_open, f"an unknown name in what {name} writes is not allowed", *is_open)
    if name in WHOLE:
        for value in values:
            visit(printed[name], value, printed[name]["$defs"])
        missing = sorted(unseen(printed[name]))
        ok(not missing, f"every name in the schema of {name} is in some of them", *missing)
os.chdir("/")
print(f"1..{count}")
sys.exit(failed > 0)
