#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Parquet, read back by DuckDB: values made for its encodings, hiccups against the same in jsonl,
and minutes against the report."""
import datetime
import glob
import importlib
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok

duckdb = lib.need_reader("duckdb")

where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([os.path.join(lib.BUILD, "tests", "unit", "report_files"), where], check=True)
subprocess.run([os.path.join(lib.BUILD, "golden"), where], check=True, stdout=subprocess.DEVNULL)


def path(name):
    return os.path.join(where, name)


def rows(sql):
    return duckdb.sql(sql).fetchall()


def ns(iso):
    whole = datetime.datetime.fromisoformat(iso[:19] + "+00:00")
    return int(whole.timestamp()) * 1_000_000_000 + int(iso[20:29])


# ---- encodings: tests/unit/report_files.c makes the same ----


def wild(i):
    bits = i * 0x9E3779B97F4A7C15 % 2**64
    bits = bits >> i % 64 if i % 7 else bits | 1 << 63
    return bits - 2**64 if bits >> 63 else bits


def made(i):
    return (i, wild(i), None if i % 3 else -i, None if i // 1000 % 2 else i % 5 < 2,
            f"a long word {i % 70001}", None if i % 1000 >= 500 else "" if i % 2 else "·", None,
            [i + k for k in range(i % 5)])


got = rows(f"FROM '{path('table.parquet')}'")
want = [made(i) for i in range(120000)]
wrong = [(g, w) for g, w in zip(got, want) if g != w]
ok(len(got) == len(want) and not wrong, "values of all sizes, in order", len(got), wrong[:3])
groups = rows(f"SELECT max(row_group_id) + 1 FROM parquet_metadata('{path('table.parquet')}')")
ok(groups[0][0] > 1, "in several groups of rows", groups)
is_(rows(f"SELECT count(*) FROM '{path('table.parquet')}' WHERE wild < 0")[0][0],
    sum(w[1] < 0 for w in want), "the ranges of groups hide no row")
is_(rows(f"FROM '{path('empty.parquet')}'"), [], "a table without rows")

# ---- hiccups ----
PIECE = {"host_kind": None, "host_cpu": None, "cause": None, "unseen_ns": 0, "owner": None,
         "origin": None}


def line(text):
    it = json.loads(text)
    it.update({key: it[key] and ns(it[key]) for key in ("started", "time")})
    it["pieces"] = [PIECE | piece for piece in it["pieces"]]
    for piece in it["pieces"]:
        if piece["origin"]:
            piece["origin"].setdefault("owner", None)
    return it


def table(file):
    r = duckdb.sql(f"SELECT * REPLACE (epoch_ns(started) AS started, epoch_ns(time) AS time) "
                   f"FROM '{file}'")
    return [dict(zip(r.columns, row)) for row in r.fetchall()]


def differ(got, want):
    return [len(got), len(want)] * (len(got) != len(want)) \
        or [(g, w) for g, w in zip(got, want) if g != w or list(g) != list(w)][:1]


for name in ("one", "hostile", "quiet"):
    with open(path(name + ".jsonl"), encoding="utf-8") as f:
        is_(differ(table(path(name + ".parquet")), [line(t) for t in f]), [],
            f"{name}: each row is the line of jsonl, names with any bytes, too")
wrong, hiccups = {}, 0
for file in sorted(glob.glob(path("*.rec"))):
    lines = [line(t) for t in culprit("report", file, "-f", "jsonl").out.splitlines()]
    r = culprit("report", file, "-f", "parquet", "-o", path("x.parquet"))
    bad = differ(table(path("x.parquet")), lines)
    hiccups += len(lines)
    if bad or r.rc:
        wrong[os.path.basename(file)] = bad or r
ok(hiccups > 500 and not wrong, "the same of recordings", hiccups, wrong)

# ---- a floor ----
rec, FLOOR = os.path.join(lib.ROOT, "tests/fixtures/recordings/1.0/real.rec"), 20000
whole = [line(t) for t in culprit("report", rec, "-f", "jsonl").out.splitlines()]
longer = [row | {"threshold_ns": FLOOR} for row in whole if row["duration_ns"] >= FLOOR]
r = culprit("report", rec, "-t", "20us", "-f", "parquet", "-o", path("x.parquet"))
ok(0 < len(longer) < len(whole) and (r.rc, r.err) == (0, ""), "a part is longer than a floor", r)
is_(differ(table(path("x.parquet")), longer), [], "--threshold: the rows from that length on")
before = json.loads(culprit("report", rec, "-f", "json").out)
after = json.loads(culprit("report", rec, "-t", "20us", "-f", "json").out)
gone = [row["duration_ns"] for row in whole if row["duration_ns"] < FLOOR]
was, now = before["cpus"][0], after["cpus"][0]
is_((now["hiccups"]["total_ns"], now["short_gaps"]["count"], now["short_gaps"]["total_ns"]),
    (was["hiccups"]["total_ns"] - sum(gone), (was["short_gaps"] or {"count": 0})["count"]
     + len(gone), (was["short_gaps"] or {"total_ns": 0})["total_ns"] + sum(gone)),
    "--threshold: shorter ones are short gaps")
is_((before["run"]["threshold"], after["run"]["threshold"], now["threshold_ns"]),
    ("auto", "given", FLOOR), "--threshold: nobody calls it culprit's choice")
ok("(auto)" in culprit("report", rec).out and "(auto)" not in
   culprit("report", rec, "-t", "20us").out, "--threshold: nor in text")
culprit("report", rec, "-t", "20us", "-f", "parquet-rollup", "-o", path("y.parquet"))
is_(rows(f"SELECT sum(hiccups), min(threshold_ns) FROM '{path('y.parquet')}' WHERE kind = 'all'"),
    [(len(longer), FLOOR)], "--threshold: minutes have it, too")
r = culprit("report", rec, "-t", "100ns")
is_((r.rc, r.out, r.err.count("\n")), (0, culprit("report", rec).out, 1),
    "--threshold: a lower one shows no more, and says so")
# Nobody knows what the run added up in a part, or in a file that breaks off: these alone.
cut = path("cut.rec")
with open(rec, "rb") as f, open(cut, "wb") as g:
    g.write(f.read()[:-200])
for file, part in (rec, ("--from", "50ms", "--to", "250ms")), (cut, ()):
    all_of = [line(t)["duration_ns"] for t in
              culprit("report", file, *part, "-f", "jsonl").out.splitlines()]
    r = culprit("report", file, *part, "-t", "1s", "-f", "json")
    cpu, = json.loads(r.out)["cpus"]
    is_((cpu["hiccups"]["count"], cpu["short_gaps"]["count"], cpu["short_gaps"]["total_ns"]),
        (0, len(all_of), sum(all_of)),
        f"--threshold: all of {' '.join(part) or 'a cut file'} are short gaps")
    r = culprit("report", file, *part, "-t", "1s")
    ok(all_of and "is quiet but for gaps under 1.00 s" in r.out, "and the verdict says so", r)
r = culprit("report", rec, "-t", "20us", "--host", rec)
ok(r.rc == 1 and r.err.count("\n") == 1, "--threshold: not with --host", r)

# ---- minutes ----
wrong = {}
for file in sorted(glob.glob(path("*.rec"))):
    report = json.loads(culprit("report", file, "-f", "json").out)
    culprit("report", file, "-f", "parquet-rollup", "-o", path("y.parquet"))
    total = rows(f"SELECT sum(hiccups), sum(net_ns), max(max_ns), sum(observed_ns), "
                 f"sum(list_sum(histogram)) FROM '{path('y.parquet')}' WHERE kind = 'all'")[0]
    parts = rows(f"SELECT kind, name, function, sum(net_ns), sum(count) FROM '{path('y.parquet')}' "
                 f"WHERE kind NOT IN ('all', 'edge', 'outside', 'lost') GROUP BY ALL")
    rest = rows(f"SELECT sum(net_ns) FROM '{path('y.parquet')}' WHERE kind <> 'all'")[0][0]
    cpus, watch = report["cpus"], report["cpus"][0]["cpu"] is None
    counts = [c["hiccups"] for c in cpus]
    want = (sum(c["count"] for c in counts), sum(c["total_ns"] for c in counts),
            max(c["max_ns"] for c in counts),
            None if watch else sum(c["observed_ns"] for c in cpus), sum(c["count"] for c in counts))
    sources = {}
    for s in (s for c in cpus for s in c["sources"] if s["kind"] not in ("outside", "lost")):
        key = s["kind"], s["name"], s["function"]
        was = sources.get(key, (0, 0))
        sources[key] = was[0] + s["total_ns"], was[1] + s["count"]
    if total != want or rest != want[1] or {p[:3]: p[3:] for p in parts} != sources:
        wrong[os.path.basename(file)] = total, want, rest, parts, sources
ok(not wrong, "minutes add up to the report: hiccups, time, the longest, time observed, sources",
   *wrong.items())

crowd = f"FROM '{path('crowd.rollup.parquet')}' WHERE kind"
is_(rows(f"SELECT sum(hiccups), sum(net_ns), sum(observed_ns), count(*) > 1 {crowd} = 'all'")
    + rows(f"SELECT sum(hiccups), sum(net_ns), sum(count), count(*) {crowd} = 'thread'"),
    [(3000, 300000, 10**9, True), (3000, 300000, 3000, 3000)],
    "a minute with more sources than are kept is written in parts that add up")

# ---- other readers, as the formats topic prints them ----
os.mkdir(path("hosts"))
os.chdir(path("hosts"))
lost = {}  # host: ns
for name, of in {"web-07": "two.rec", "db-1": "threads.rec", "gw-1": "sleep.rec"}.items():
    report = json.loads(culprit("report", path(of), "-f", "json").out)
    lost[report["host"]["hostname"]] = sum(c["hiccups"]["total_ns"] for c in report["cpus"])
    for form in "jsonl", "parquet", "csv":
        culprit("report", path(of), "-f", form, "-o", f"{name}.{form}")
printed = re.findall(r"^    ((?:duckdb|polars|pandas|clickhouse-local|spark)\b.*(?:\n      .*)*)",
                     culprit("help", "formats").out, re.M)


def by_clickhouse(command):
    if shutil.which("clickhouse-local"):
        said = subprocess.run(command, shell=True, capture_output=True, text=True).stdout
    else:  # the same engine
        said = importlib.import_module("chdb").query(re.search('"(.*)"', command, re.S)[1], "TSV")
    return {h: int(n) for h, n in (row.split("\t") for row in str(said).splitlines())}


def by_spark(line):
    spark = importlib.import_module("pyspark.sql").SparkSession.builder.getOrCreate()
    rows = eval(line, {"spark": spark}).collect()
    legacy = "spark.sql.legacy.parquet.nanosAsLong"
    spark.conf.set(legacy, True)
    is_(spark.read.parquet("*.parquet").count(), spark.read.json("*.jsonl").count(),
        f"Spark reads parquet with {legacy}")
    table = spark.read.option("header", True).option("escape", '"').csv("*.csv")
    is_(sorted(r.pieces for r in table.collect()), sorted(
        json.dumps(json.loads(line)["pieces"]) for file in glob.glob("*.jsonl")
        for line in open(file, encoding="utf-8")), "Spark reads csv with that escape")
    return {r[0]: r[1] for r in rows}


def by_pandas(line):  # a single host
    return lost | eval(line, {"pandas": importlib.import_module("pandas")}).to_dict()


READ = {"duckdb": lambda line: dict(eval(line, {"duckdb": duckdb}).fetchall()),
        "polars": lambda line: dict(eval(line, {"polars": importlib.import_module("polars")})
                                    .rows()),
        "pandas": by_pandas, "clickhouse-local": by_clickhouse, "spark": by_spark}
is_([line.split(".")[0].split()[0] for line in printed], list(READ), "the lines of the topic")
for (name, read), line in zip(READ.items(), printed):
    try:
        said = read(line)
    except ImportError as e:
        lib.skip(f"{name}, as printed", f"the Python package {e.name} is not there")
        continue
    is_({h: int(n) for h, n in said.items()}, lost, f"{name}, as printed")
os.chdir("/")

# ---- a file that cannot be ----
r = culprit("report", path("one.rec"), path("two.rec"), "-f", "parquet", "-o", path("z.parquet"))
ok(r.rc == 1 and r.err.count("\n") == 1, "several recordings are not one table", r)
shutil.rmtree(where)
done()
