#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files of tools/deploy, each by its own ecosystem's checker; and what they run, as they do.

    tests/package/20-deploy.t picture     draws the dashboard's picture anew
"""
import copy
import ctypes
import glob
import json
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import board_picture
import dashboards
from lib import (ALLOWED, BUILD, CULPRIT, POKE, ROOT, culprit, done, is_, ok, pick_target, skip,
                 take_turn)

DEPLOY = os.path.join(ROOT, "tools", "deploy")
place = tempfile.mkdtemp()


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def names(pattern):
    return sorted(glob.glob(os.path.join(DEPLOY, pattern)))


# ---- Prometheus, Grafana ----
promtool = os.path.join(BUILD, "promtool")
with open(os.path.join(DEPLOY, "grafana", "culprit.json"), encoding="utf-8") as f:
    board = json.load(f)
if os.path.exists(promtool):
    for path in names("prometheus/rules-test.yml"):
        r = run(promtool, "test", "rules", path)
        ok(r.returncode == 0, "promtool: the rules do what their cases say", r.stdout, r.stderr)
    # The dashboard's expressions, with its variables filled in, as if they were rules.
    exprs = [dashboards.filled(t["expr"], {"instance": "a", "cpu": "3", "thread": "b [4]"})
             for p in board["panels"] for t in p["targets"]]
    path = os.path.join(place, "board.yml")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"groups": [{"name": "board", "rules": [
            {"record": f"board:{i}", "expr": e} for i, e in enumerate(exprs)]}]}, f)
    r = run(promtool, "check", "rules", path)
    ok(r.returncode == 0 and len(exprs) == len(board["panels"]), "grafana: the expressions parse",
       r.stdout, r.stderr)
else:
    skip("promtool: the rules do what their cases say", "promtool is not there")
with open(os.path.join(DEPLOY, "prometheus", "rules.yml"), encoding="utf-8") as f:
    rules = f.read()
known = set(re.findall(r"record: (\S+)", rules)) | {"node_textfile_mtime_seconds"}
for path in glob.glob(os.path.join(ROOT, "tests/golden/expected/*.prometheus")):
    with open(path, encoding="utf-8") as f:
        known |= {n + end for n in re.findall(r"^# TYPE (\S+)", f.read(), re.M)
                  for end in ("", "_bucket", "_sum", "_count")}
used = set(re.findall(r"\b(?:culprit[_:][a-z0-9_:]+|node_textfile\w+)", rules + json.dumps(board)))
is_(sorted(used - known - {"culprit:lost"}), [], "every metric that they name is one of culprit's")
spots = [(p["gridPos"]["y"] + dy, p["gridPos"]["x"] + dx) for p in board["panels"]
         for dy in range(p["gridPos"]["h"]) for dx in range(p["gridPos"]["w"])]
ok(len(spots) == len(set(spots)) and max(x for _, x in spots) < 24,
   "grafana: no panel lies on another, none beyond the page")
is_(len({p["id"] for p in board["panels"]}), len(board["panels"]), "grafana: their ids differ")
# From the fleet to a host, and from there to a CPU: each link sets variables that there are, to
# labels that the panel's rows have.
kept = {"datasource", *(v["name"] for v in board["templating"]["list"])}
links = [(p["targets"][0]["expr"], link["url"]) for p in board["panels"]
         for link in p["fieldConfig"]["defaults"].get("links", [])]
recorded = dict(re.findall(r"record: (\S+)\n\s+expr: \|\n(.*?)(?=\n\s+- |\Z)", rules, re.S))


def labels_of(expr):
    """Of its rows: what they are summed by, here or by the rule that it names."""
    by = re.search(r"\bby \(([^)]*)\)", expr)
    rule = re.fullmatch(r"(culprit:[\w:]+)(\{.*\})?", expr)
    if by:
        return set(by[1].split(", ")) - {"le"}
    return labels_of(recorded[rule[1]]) if rule else set()


leads = [re.findall(r"var-(\w+)=\$\{(?:__field\.labels\.)?(\w+)(?::percentencode)?\}", url)
         for _, url in links]
is_([(board["uid"] in url, [(a, b) for a, b in lead if a != b or a not in kept])
     for (_, url), lead in zip(links, leads)], [(True, [])] * len(links),
    "grafana: links lead to the dashboard itself")
is_([set(re.findall(r"__field\.labels\.(\w+)", url)) - labels_of(expr) for expr, url in links],
    [set()] * len(links), "grafana: links name labels that the panel's rows have")
is_({name for lead in leads for name, _ in lead}, kept, "grafana: to a host, CPU and thread")

if os.path.exists(os.path.join(dashboards.SCHEMAS, "grafana_foundation_sdk")):
    is_(dashboards.faults(board), [], "grafana: each field is one of its schema's, and of its type")

    def spoilt(change):
        it = copy.deepcopy(board)
        change(it)
        return len(dashboards.faults(it))

    lines = next(i for i, p in enumerate(board["panels"]) if p["type"] == "timeseries")
    is_([spoilt(change) for change in (
        lambda b: b.update(refesh="1m"), lambda b: b["panels"][0]["gridPos"].update(h="9"),
        lambda b: b["panels"][0]["targets"][0].update(exp="up"),
        lambda b: b["panels"][lines]["fieldConfig"]["defaults"]["custom"].update(drawStyle="lin"),
        lambda b: b["panels"][0]["fieldConfig"]["defaults"].update(unti="s"))], [1] * 5,
        "grafana: a false field, type or word would be found")
else:
    skip("grafana: its schema", "its classes are not there: make check-package fetches them")

# ---- Prometheus and the dashboard with the metrics of a run ----
HOSTS, RUN_S = {"trade-07": 1, "trade-08": 3, "trade-09": 2, "trade-10": 7, "trade-11": 12}, 25
DRAWS = "picture" in sys.argv  # shows the README's recording in slow motion
RECORDING = os.path.join(ROOT, "tests", "golden", "pictures", "trade-07.rec"), 4000  # ms


def measure(cpu, file):
    noise = subprocess.Popen([POKE, "mix", "-c", cpu, "-n", "100000", "-g", "2ms-6ms"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    culprit("run", "-c", cpu, "-d", f"{RUN_S}s", "-q", "-o", "/dev/null", "--textfile", file,
            "--textfile-interval", "1s")
    noise.kill()
    noise.wait()


def replay(file):
    for step in range(1, RUN_S + 1):
        culprit("report", RECORDING[0], "--to", f"{RECORDING[1] * step // RUN_S}ms", "-f",
                "prometheus", "-o", file + ".new")
        os.rename(file + ".new", file)
        time.sleep(1)


if os.path.exists(dashboards.PROMETHEUS) and os.geteuid() == 0:
    take_turn()
    cpu = str(pick_target())
    file = os.path.join(place, "culprit.prom")
    server = dashboards.Prometheus(place, file, HOSTS)
    ok(server.ready(), "prometheus: it takes the rules and begins")
    if DRAWS:
        cpu = "1"
        replay(file)
    else:
        measure(cpu, file)
    rules_of = [r for g in server.get("rules")["groups"] for r in g["rules"]]
    is_([r["name"] for r in rules_of if r["health"] != "ok"], [],
        f"prometheus: all of its {len(rules_of)} rules are evaluated")
    variables = {}
    for v in board["templating"]["list"]:
        if v["type"] == "query":
            found = server.label_values(v["query"]["query"], **variables)
            variables[v["name"]] = found[0] if found else ""
    is_(variables, {"instance": min(HOSTS), "cpu": cpu, "thread": dashboards.THREAD},
        "grafana: its variables find host, CPU and thread")
    empty = {}
    for panel in board["panels"]:
        expr = dashboards.filled(panel["targets"][0]["expr"], variables)
        rows = server.query(f"last_over_time(({expr})[30s:1s])")
        if not any(r["value"][1] != "NaN" for r in rows):
            empty[panel["title"]] = expr
    is_(empty, {}, f"grafana: each of the {len(board['panels'])} panels has something to show")
    firing = {r["labels"]["alertname"] for r in server.get("alerts")["alerts"]
              if r["state"] == "firing"}
    # On a busy machine records may be lost; before the first scrape that is no increase.
    with open(file, encoding="utf-8") as f:
        lost = re.findall(r"^culprit_records_lost_total(?:\{.*\})? (\S+)$", f.read(), re.M)
    ok(lost and (any(map(float, lost)) or "CulpritRecordsLost" not in firing) and
       "CulpritNotRunning" not in firing, "prometheus: no alert of what did not happen", firing,
       lost)
    other = server.get("label/instance/values", **{"match[]": "culprit:thread_lost:ratio5m"})
    seen = [p["title"] for p in board["panels"] if "$cpu" in p["targets"][0]["expr"] and
            server.query(dashboards.filled(p["targets"][0]["expr"], {**variables, "cpu": ""}))]
    is_([other, seen], [[min(HOSTS)], []], "grafana: no panel of a CPU shows a thread")
    picture = os.path.join(ROOT, "tests/golden/pictures/dashboard.svg") if DRAWS else \
        os.path.join(BUILD, "dashboard.svg")
    with open(picture, "w", encoding="utf-8") as f:
        f.write(board_picture.Picture(board, server, variables, RUN_S).svg())
    ok(len({float(r["value"][1]) for r in server.query("culprit:lost:ratio5m")}) == len(HOSTS),
       "prometheus: the hosts differ as they should")
    server.close()
    os.sched_setaffinity(0, ALLOWED)
else:
    skip("grafana: each panel has something to show", "no prometheus, or not root")

# ---- systemd ----


def system_calls(names):
    """Numbers of the calls that a SystemCallFilter= allows, as the systemd here knows its sets;
    none where nothing tells them."""
    if not shutil.which("systemd-analyze") or not shutil.which("cc"):
        return []
    sets = {}
    for line in run("systemd-analyze", "syscall-filter").stdout.splitlines():
        if line.startswith("@"):
            members = sets[line.strip()] = []
        elif line.strip() and not line.strip().startswith("#"):
            members.append(line.strip())
    found, to_do = set(), list(names)
    while to_do:
        name = to_do.pop()
        if name not in found:
            found.add(name)
            to_do += sets.get(name, [])
    header = run("cc", "-E", "-dM", "-include", "sys/syscall.h", "-x", "c", "/dev/null").stdout
    numbers = dict(re.findall(r"^#define __NR_(\w+) (\d+)$", header, re.M))
    return sorted(int(numbers[name]) for name in found if name in numbers)


def allow(calls):
    """All others kill from here on, as a unit's do that names no error for them."""
    code = [(0x20, 0, 0, 0)]
    for call in calls:
        code += [(0x15, 0, 1, call), (0x06, 0, 0, 0x7fff0000)]
    code.append((0x06, 0, 0, 0x80000000))  # SECCOMP_RET_KILL_PROCESS
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code),
                                                      ctypes.addressof(text)))
    if ctypes.CDLL(None).prctl(22, 2, program, 0, 0):  # PR_SET_SECCOMP
        os._exit(99)


def lacks(told, why):
    """Skips, or fails where make check-package has installed what is missing."""
    if os.environ.get("CULPRIT_PACKAGE"):
        ok(False, told, why)
    else:
        skip(told, why)


fixes = os.path.join(place, "culprit-fixes.service")
r = culprit("audit", "-c", "0", "--service", "-o", fixes)
if shutil.which("systemd-analyze"):
    v = run("systemd-analyze", "verify", "--man=no", fixes)
    is_([r.rc in (0, 2), v.returncode, v.stderr], [True, 0, ""],
        "audit --service: systemd takes it")
    os.remove(fixes)
for path in names("systemd/*.service"):
    name = os.path.basename(path)
    with open(path, encoding="utf-8") as f:
        unit = f.read().replace("\\\n", " ")
    ok("PrivateNetwork=" not in unit, f"{name}: the network that it tells of is the machine's")
    if shutil.which("systemd-analyze"):
        r = run("systemd-analyze", "security", "--offline=yes", "--threshold=30", path)
        ok(r.returncode == 0, f"{name}: exposure of 3.0 at most", r.stdout[-300:], r.stderr)
        r = run("systemd-analyze", "verify", "--man=no", path)
        wrong = [line for line in r.stderr.splitlines()
                 if name in line and "is not executable" not in line]
        is_(wrong, [], f"{name}: systemd takes it")
    else:
        skip(f"{name}: systemd takes it", "systemd-analyze is not there")
    below = {d: re.search(rf"^{d}Directory=(.*)", unit, re.M) for d in ("Runtime", "State")}
    named = {d for d in below if f"${{{d.upper()}_DIRECTORY}}" in unit or
             f"${d.upper()}_DIRECTORY" in unit}
    is_(named, {d for d in below if below[d]}, f"{name}: it has the directories that it names")
    ok("Runtime" not in named or "\nRuntimeDirectoryPreserve=yes\n" in unit,
       f"{name}: its metrics stay when it has stopped")
    ok("\nSlice=culprit.slice\n" in unit, f"{name}: a slice of its own, which may have other CPUs")
    ok("\nLimitMEMLOCK=infinity\n" in unit, f"{name}: BPF's memory, which counts before Linux 5.11")
    caps = re.search(r"^CapabilityBoundingSet=(.*)", unit, re.M).group(1).lower().split()
    calls = system_calls(re.search(r"^SystemCallFilter=(.*)", unit, re.M).group(1).split())
    start = re.search(r"^ExecStart=(.*)", unit, re.M).group(1).replace("%%", "%")
    if os.geteuid() == 0:
        state = os.path.join(place, name)
        os.mkdir(state)
        given = dict(word.split("=", 1) for line in re.findall(r"^Environment=(.*)", unit, re.M)
                     for word in shlex.split(line.replace("%%", "%")))
        given |= {"STATE_DIRECTORY": state, "RUNTIME_DIRECTORY": state,
                  "PATH": f"{os.path.dirname(CULPRIT)}:{os.environ['PATH']}"}
        # As systemd puts them in; the pattern of the files' names is a part of an argument here.
        words = [re.sub(r"\$\{(\w+)\}", lambda m: given[m.group(1)], word)
                 for word in shlex.split(re.sub(r"-d \w+", "-d 500ms", start))]
        for what, allowed in (("capabilities", ()), ("capabilities and system calls", calls)):
            told = f"{name}: with these {what} it does its work"
            if what != "capabilities" and not calls:
                lacks(told, "systemd-analyze and cc, which tell the system calls, are not there")
                continue
            r = run("setpriv", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all,"
                    + ",".join("+" + c.removeprefix("cap_") for c in caps), *words,
                    env={**os.environ, **given, "CULPRIT_OPTIONS": "-P f:1"},
                    preexec_fn=lambda: allowed and allow(allowed))
            made = glob.glob(os.path.join(state, "*.rec"))
            if "--textfile" in words:
                made += glob.glob(os.path.join(state, "*.prom"))
            ok(r.returncode in (0, 2, 3) and made, told, r, made)
            if made and made[0].endswith(".rec"):
                run_of = json.loads(culprit("report", "-f", "json", made[0]).out)["run"]
                ok(run_of["traced"], f"{told}, and traces", run_of)
            for path in made:
                os.unlink(path)
    else:
        skip(f"{name}: with these capabilities and system calls it does its work", "needs root")

# ---- Kubernetes: against the schemas of its own API, which `make check-package` fetches ----
schemas = os.path.join(BUILD, "schemas", "kubernetes")
try:
    import jsonschema
    import warnings
    import yaml
    warnings.simplefilter("ignore", DeprecationWarning)  # Debian's jsonschema has nothing newer
except ImportError as why:
    skip("kubernetes", str(why))
else:
    for path in names("ci/*.yml"):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        ok(isinstance(yaml.safe_load(text), dict), f"{os.path.basename(path)} is YAML")
        line = re.search(r"culprit run[^|&>]*", re.sub(r"\\\n", " ", text)).group().split("\n")[0]
        words = shlex.split(re.sub(r"-d \w+", "-d 200ms", line.split(" -o ")[0]))
        r = culprit(*words[1:], "-o", "/dev/null")
        ok(r.rc in (0, 2), f"{os.path.basename(path)}: its command runs", r)
    for path in names("kubernetes/*.yaml"):
        with open(path, encoding="utf-8") as f:
            thing = yaml.safe_load(f)
        kind = f"{thing['kind']}-{thing['apiVersion'].replace('/', '-')}".lower()
        schema = os.path.join(schemas, kind + ".json")
        if not os.path.exists(schema):
            skip(f"{os.path.basename(path)} fits the API", f"{schema} is not there")
            continue
        with open(schema, encoding="utf-8") as f:
            root = json.load(f)
        with open(os.path.join(schemas, "_definitions.json"), encoding="utf-8") as f:
            definitions = json.load(f)
        resolver = jsonschema.RefResolver.from_schema(root, store={
            re.sub(r"[^/]*$", "_definitions.json", root["$id"]): definitions})
        errors = [e.message for e in jsonschema.Draft7Validator(root, resolver=resolver)
                  .iter_errors(thing)]
        is_(errors, [], f"{os.path.basename(path)} fits the API")
        pod = thing["spec"]["template"]["spec"]
        is_(pod["containers"][0]["image"].rpartition(":")[2],
            json.loads(culprit("version", "-f", "json").out)["version"],
            f"{os.path.basename(path)}: the image of this version")
        ok(pod["hostPID"] and not pod["automountServiceAccountToken"],
           f"{os.path.basename(path)}: the machine's PIDs, and no token")
        # With its directories here, and on the CPUs that there are.
        args = [a.replace("/metrics", place).replace("/recordings", place)
                for a in pod["containers"][0]["args"]]
        for option, value in ("-d", "300ms"), ("-c", "0"):
            if option in args:
                args[args.index(option) + 1] = value
        if os.geteuid() == 0:
            r = culprit(*args)
            ok(r.rc in (0, 2, 3), f"{os.path.basename(path)}: its command runs", r)
shutil.rmtree(place)
done()
