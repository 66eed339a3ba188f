#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""tools/fleet: the questions, asked of a fleet whose answers are known, by DuckDB, and where the
package chdb is there also by ClickHouse's engine, which must say the same."""
import datetime
import decimal
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip

duckdb = lib.need_reader("duckdb")
try:
    import chdb.session
except ImportError:
    chdb = None

FLEET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "fleet")
where = tempfile.mkdtemp(prefix="culprit-test-")
os.chdir(where)
subprocess.run([os.path.join(lib.BUILD, "golden"), where], check=True, stdout=subprocess.DEVNULL)
r = culprit("report", "irq.rec", "-f", "parquet-rollup", "-o", "schema.parquet")
is_((r.rc, r.err), (0, ""), "a recording becomes minutes")

# ---- nine hosts of two CPUs, three days of two hours and three minutes each ----
MINUTE = 60_000_000_000
con = duckdb.connect()
con.sql("CREATE TABLE fleet AS FROM 'schema.parquet' LIMIT 0")
DAY = datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)


def octaves(*lengths):
    cells = [0] * max(n.bit_length() + 1 for n in lengths)
    for n in lengths:
        cells[n.bit_length()] += 1
    return cells


def add(host, cpu, minute, kind, name, function, lengths, observed=None):
    con.execute("INSERT INTO fleet (host, kernel, cpu, minute, kind, name, function, observed_ns, "
                "hiccups, count, net_ns, max_ns, histogram) "
                "VALUES (?, ?, ?, make_timestamp_ns(?), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [host, "6.13" if host >= "h06" else "6.12", cpu, minute, kind, name, function,
                 observed, len(lengths), len(lengths), sum(lengths), max(lengths),
                 octaves(*lengths)])


for host in [f"h{i:02}" for i in range(1, 10)]:
    for cpu in 2, 3:
        for day in range(3):
            for slot in range(6):
                at = int((DAY + datetime.timedelta(days=day, hours=9 + slot // 3,
                                                   minutes=slot % 3)).timestamp()) * 10**9
                pieces = [("vector", "local_timer", "tick_nohz_handler", [2000] * 50)]
                if host == "h07":
                    pieces.append(("irq", "eth0", "net_rx", [90000, 70000]))
                else:
                    pieces.append(("irq", "eth0", "net_rx", [900, 700]))
                if host in ("h03", "h04") and day == 2:
                    pieces.append(("thread", "kworker/3:1", "fresh_work", [5000]))
                if host == "h05" and cpu == 2 and (day, slot) == (0, 0):
                    pieces.append(("irq", "eth9", "storm", [10**8]))  # on this host alone
                if host == "h02" and cpu == 3:
                    pieces.append(("outside", None, None, [60000] * 10))
                for kind, name, function, lengths in pieces:
                    add(host, cpu, at, kind, name, function, lengths)
                add(host, cpu, at, "all", None, None, sum((p[3] for p in pieces), []), MINUTE)
# Files of a watched thread, and of a part of a recording, are not counted.
for host in [f"h{i:02}" for i in range(1, 10)]:
    os.makedirs(f"minutes/{host}")
    con.sql(f"COPY (FROM fleet WHERE host = '{host}') TO 'minutes/{host}/all.parquet'")
con.sql("COPY (SELECT * REPLACE (CAST(NULL AS BIGINT) AS observed_ns) FROM fleet "
        "WHERE host = 'h07' AND minute = (SELECT min(minute) FROM fleet WHERE host = 'h07')) "
        "TO 'minutes/h07/part.parquet'")
con.sql("COPY (SELECT * REPLACE (CAST(NULL AS BIGINT) AS cpu, 77 AS tid, CAST(NULL AS BIGINT) AS "
        "observed_ns) FROM fleet WHERE host = 'h08') TO 'minutes/h08/watched.parquet'")

# ---- the questions ----
with open(os.path.join(FLEET, "questions.sql"), encoding="utf-8") as f:
    parts = re.split(r"^-- (\d+)\. ", f.read(), flags=re.M)[1:]
questions = {int(n): re.sub(r"\A.*?^(?=SELECT|WITH)", "", sql, flags=re.M | re.S).strip()
             for n, sql in zip(parts[::2], parts[1::2])}
is_(sorted(questions), list(range(1, 11)), "there are ten questions")
con.sql("CREATE VIEW measured AS SELECT 1")  # an earlier version's, where a fleet.db was kept
with open(os.path.join(FLEET, "duckdb.sql"), encoding="utf-8") as f:
    con.sql(f.read())


def plain(value):
    if isinstance(value, (float, decimal.Decimal)):
        return round(float(value), 6)
    return value.strftime("%F %T") if isinstance(value, datetime.datetime) else value


def answers():
    return {number: [tuple(map(plain, row)) for row in con.sql(sql).fetchall()]
            for number, sql in questions.items()}


said = answers()

QUIET, STORM, STOLEN = 50 * 2000 + 1600, 10**8, 600000  # ns; the first and last in each minute
is_(said[1][:2], [("h05", round(100 * (36 * QUIET + STORM) / (36 * MINUTE), 4), 1e5, 36 * 52 + 1),
                  ("h02", round(100 * (QUIET * 2 + STOLEN) / (2 * MINUTE), 4), 60.0,
                   36 * 52 + 180)], "1: the hosts that lose most")
is_([row[0] for row in said[1][:5]], ["h05", "h02", "h07", "h03", "h04"], "1: in order")
is_(said[2][:2], [("irq", "eth9", "storm", "", 100.0, 1e5, 1),
                  ("vector", "local_timer", "tick_nohz_handler", "", 9 * 36 * 0.1, 2.0, 9)],
    "2: the sources that cost most")
rate = {(r[3], r[0]): r[4] for r in said[3]}
is_((rate["net_rx", "6.12"], rate["net_rx", "6.13"]),
    (round(1600 / 60, 1), round((3 * 1600 + 160000) / 4 / 60, 1)), "3: what a kernel costs more")
is_(said[4], [("h05", "irq", "eth9", "storm", round(STORM / 36 / 60, 1), 0.0),
              ("h02", "outside", "", "", round(STOLEN / 2 / 60, 1), 0.0),
              ("h07", "irq", "eth0", "net_rx", round(160000 / 60, 1), round(1600 / 60, 1))],
    "4: the hosts that differ, also by what only they have")
is_(said[5], [("thread", "kworker/3:1", "fresh_work", "", 2, 24 * 0.005)], "5: the new source")
is_((len(said[6]), said[6][:2]),
    (9, [("h05", 1e5, 2, "2026-03-01 09:00:00", "irq", "eth9", "storm", 1e5),
         ("h07", 90.0, 2, "2026-03-01 09:00:00", "irq", "eth0", "net_rx", 90.0)]),
    "6: the longest hiccup, and what took most in its minute")
is_([(row[0], row[2]) for row in said[7]], [(9, 1e5), (10, 90.0)], "7: the hours")
is_(said[8], [("h05", 2, round(100 * (18 * QUIET + STORM) / (18 * MINUTE), 4),
               round(100 * QUIET / MINUTE, 4)),
              ("h02", 3, round(100 * (QUIET + STOLEN) / MINUTE, 4),
               round(100 * QUIET / MINUTE, 4))], "8: the CPUs that differ")
is_(said[9], [("6.12", 5, round(3600e9 / (5 * 36 * MINUTE), 3)),
              ("6.13", 4, round(3600e9 * 2 * 36 / (4 * 36 * MINUTE), 3))], "9: long hiccups")
is_(said[10][0], ("h02", round(100 * 2 * QUIET / (2 * QUIET + STOLEN), 2),
                  round(100 * STOLEN / (2 * QUIET + STOLEN), 2), 0.0), "10: what has no name")


# ---- ClickHouse ----
def clickhouse(directory):
    """The questions' answers."""
    session = chdb.session.Session(path=directory + "/chdb")  # one at a time
    with open(os.path.join(FLEET, "clickhouse.sql"), encoding="utf-8") as f:
        for statement in re.sub(r"^--.*$", "", f.read(), flags=re.M).split(";")[:-1]:
            session.query(statement.replace("'minutes/", f"'{directory}/minutes/"))
    answers = {number: str(session.query(
        sql.rstrip(";") + " SETTINGS output_format_json_quote_64bit_integers = 0",
        "JSONCompactEachRow")).splitlines() for number, sql in questions.items()}
    session.close()
    return {n: [tuple(map(plain, json.loads(t))) for t in rows] for n, rows in answers.items()}


def numbers(rows):
    return [tuple(float(v) if isinstance(v, int) else v for v in row) for row in rows]


def same(directory, said, what):
    if not chdb:
        skip(what, "the Python package chdb is not there (make check-all installs it)")
        return
    differ = {n: (got[:2], said[n][:2]) for n, got in clickhouse(directory).items()
              if numbers(got) != numbers(said[n])}
    ok(not differ, what, *differ.items())


same(where, said, "ClickHouse says the same")


# ---- fleets made of the hiccups of real recordings ----
def fleet(name, hosts, hours, rate, *recordings):
    """Where it is; the hiccups that it was made of."""
    directory = os.path.join(where, name)
    os.mkdir(directory)
    r = subprocess.run([lib.helper("bench"), "fleet", directory, str(hosts), str(hours), str(rate),
                        *(os.path.join(lib.ROOT, "tests/fixtures/recordings/1.0", name + ".rec")
                          for name in recordings)], capture_output=True, text=True)
    is_((r.returncode, r.stderr), (0, ""), f"{name}: the fleet is made")
    return directory, int(r.stdout)


directory, made = fleet("peers", 50, 2, 1, "real")
os.chdir(directory)
with open(os.path.join(FLEET, "duckdb.sql"), encoding="utf-8") as f:
    con.sql(f.read())
said = answers()
is_(con.sql("SELECT sum(hiccups), count(DISTINCT host), sum(observed_ns) FROM cpu_minutes")
    .fetchall(), [(made, 50, 50 * 2 * 2 * 60 * MINUTE)],
    "peers: the minutes have all hiccups, and the time")
is_(con.sql("SELECT sum(lost_ns) FROM cpu_minutes").fetchall(),
    con.sql("SELECT sum(net_ns) FROM source_days").fetchall(), "peers: and each ns has its source")
is_({row[0] for row in said[4]}, {"host-0050"}, "peers: the one that has more of a source is found")
is_(len(said[3]), 2 * len({row[1:4] for row in said[3]}), "peers: each source has both kernels")
same(directory, said, "peers: ClickHouse says the same")
directory, made = fleet("days", 2, 24, 3, "real", "arm64")
sizes = [os.path.getsize(os.path.join(at, name))
         for at, _, files in os.walk(directory) for name in files]
ok(len(sizes) == 2 and max(sizes) <= 5_000_000,
   "days: a host's day of three hiccups a second and CPU has 5 MB at most", sizes)

os.chdir("/")
shutil.rmtree(where)
done()
