#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Report formats, each parsed back by a real reader of it: views made by hand, with hostile names
in them. tests/live/25-formats.t has a run."""
import csv
import datetime
import glob
import html.parser
import io
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

import lib
from lib import culprit, done, is_, ok, skip

lib.with_readers()

MAKER = os.path.join(lib.BUILD, "tests", "unit", "report_files")
where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([MAKER, where], check=True)


def same(got, want, name):
    """Lists of rows; of those that differ the first is shown."""
    differ = [i for i, (a, b) in enumerate(zip(got, want)) if a != b]
    ok(len(got) == len(want) and not differ, name, f"{len(got)} rows of {len(want)}",
       *[f"row {i}: got {got[i]!r}, want {want[i]!r}" for i in differ[:1]])


def path(name):
    return os.path.join(where, name)


def text(name):
    with open(path(name), "rb") as f:
        return f.read().decode()  # all output is UTF-8


def reader(module):
    """The module, or None when this machine has not got it; where CI promises it, that fails."""
    try:
        return __import__(module)
    except ImportError:
        if os.environ.get("CI") == "true":
            ok(False, f"the Python package {module} is there")
        else:
            skip(f"{module}",
                 f"the Python package {module} is not there (make check installs it when it can)")
        return None


# ---- the escaping rule of src/base/escape.h, told again ----


def escape(raw):
    out, i = [], 0
    while i < len(raw):
        for n in (1, 2, 3, 4):
            try:
                c = raw[i:i + n].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            c, n = "", 1
        hidden = c and (ord(c) < 0x20 or 0x7f <= ord(c) <= 0x9f or ord(c) in (0x61c, 0x200e, 0x200f)
                        or 0x2028 <= ord(c) <= 0x202e or 0x2066 <= ord(c) <= 0x2069)
        if not c or hidden:
            out += [f"\\x{b:02x}" for b in raw[i:i + n]]
        else:
            out.append("\\\\" if c == "\\" else c)
        i += n
    return "".join(out)


def said(hexed, formula=False):
    """A name of the truth as a report should say it."""
    if hexed is None:
        return None
    name = escape(bytes.fromhex(hexed))
    if formula and name[:1] and name[0] in "=+-@":
        return f"\\x{ord(name[0]):02x}" + name[1:]
    return name


def piece(p):
    it = {k: p[k] for k in ("kind", "id", "net_ns", "kernel_thread")}
    it |= {"name": said(p["name"]), "function": said(p["function"])}
    if p["cause"]:
        it["cause"] = p["cause"]
    if "by_cpu" in p:
        it["origin"] = {"cpu": p["by_cpu"], "pid": p["by_pid"], "comm": said(p["by_comm"]),
                        "function": said(p["by_function"])}
    return it


def lines_of(report, formula):
    """What csv (formula) and jsonl should say of a report of the truth."""
    for h in report["hiccups"]:
        largest = max((p["net_ns"] for p in h["pieces"]), default=-1)
        first = {"kind": "outside", "net_ns": h["outside_ns"]}
        if h["not_recorded_ns"] > max(largest, h["outside_ns"]):
            first = {"kind": "lost", "net_ns": h["not_recorded_ns"],
                     "name": "not recorded".encode().hex()}
        elif largest >= h["outside_ns"]:
            first = next(p for p in h["pieces"] if p["net_ns"] == largest)
        at = h["start_ns"] - 5_000_000_000
        line = {k: v for k, v in h.items() if k != "pieces"}
        line |= {"host": said(report["host"], formula), "kernel": said(report["kernel"], formula),
                 "nohz_full": False,
                 "started": "2026-03-01T12:00:00.000000000Z",
                 "time": f"2026-03-01T12:00:00.{at:09}Z", "at_ns": at,
                 "threshold_ns": 200, "piece_count": len(h["pieces"]),
                 "pieces": [piece(p) for p in h["pieces"]], "tid": None, "comm": None,
                 "kernel_thread": None,  # no watch
                 "what": "gap", "series": None, "first_owner": None,
                 "first_by_owner": None,
                 "host_ns": 0}
        for key in ("kind", "id", "net_ns", "cause", "by_pid", "by_cpu", "kernel_thread"):
            line["first_" + key] = first.get(key)
        for key in ("name", "function", "by_comm", "by_function"):
            line["first_" + key] = said(first.get(key), formula)
        yield line


truth = json.loads(text("truth.json"))
hosts = {"one": ["web-07"], "two": ["web-07", "db-1"], "hostile": ["hostile"], "quiet": ["quiet"]}


def expected(name, formula=False):
    return [line for host in hosts[name] for line in lines_of(truth[host], formula)]


# ---- csv and jsonl ----


def cell(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


for name in hosts:
    rows = [json.loads(line) for line in text(name + ".jsonl").splitlines()]
    same(rows, expected(name), f"jsonl, {name}: each line says what is true")
    with open(path(name + ".csv"), newline="", encoding="utf-8") as f:
        cells = list(csv.DictReader(f, strict=True))
    same([json.loads(c.pop("pieces")) for c in cells], [e["pieces"] for e in expected(name)],
         f"csv, {name}: the pieces")
    same(cells, [{k: cell(e[k]) for k in cells[0]} for e in expected(name, formula=True)],
         f"csv, {name}: all other cells")
    columns = text(name + ".csv").split("\n", 1)[0].split(",")
    ok(all(list(row) == columns for row in rows), f"csv, {name}: the columns of jsonl", columns)
    ok(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text(name + ".csv") + text(name + ".jsonl")),
       f"{name}: no control character but the newlines")

fleet = lib.culprit("help", "fleet").out
duckdb = reader("duckdb")
if duckdb:
    query = re.search(r"^    (CREATE VIEW lines.*?ORDER BY.*?;)$", fleet, re.M | re.S).group(1)
    os.makedirs(path("fleet"))
    for name in ("one", "hostile"):
        shutil.copy(path(name + ".jsonl"), path("fleet"))
    with open(path("fleet/two.jsonl"), "w") as f:
        f.write("".join(line + "\n" for line in text("two.jsonl").splitlines() if '"db-1"' in line))
    os.chdir(path("fleet"))
    want = {}
    for host in truth.values():
        for h in host["hiccups"]:
            rest = {"edge": h["edge_ns"], "lost": h["not_recorded_ns"], "outside": h["outside_ns"]}
            parts = [((p["kind"], p["name"], p["function"]), p["net_ns"])
                     for p in map(piece, h["pieces"])]
            for what, ns in parts + [((kind, None, None), ns) for kind, ns in rest.items()]:
                key = said(host["host"]), *what
                count, total, worst = want.get(key, (0, 0, 0))
                if ns:
                    want[key] = count + 1, total + ns, max(worst, ns)
    got = duckdb.sql(query).fetchall()
    is_({r[:4]: (r[4], round(r[5] * 1e6), round(r[6] * 1e3)) for r in got}, want,
        "the query over many jsonl files of culprit help fleet")
    ok({"edge", "lost", "outside"} <= {r[1] for r in got}, "what is in no piece has rows, too",
       {r[1] for r in got})
    lost = {}
    for host in truth.values():
        lost[said(host["host"])] = lost.get(said(host["host"]), 0) + sum(h["duration_ns"]
                                                                         for h in host["hiccups"])
    is_({name: round(sum(r[5] for r in got if r[0] == name) * 1e6) for name in lost}, lost,
        "its rows add up to the time that each host lost")
    ok(all((a[0], -a[5]) <= (b[0], -b[5]) for a, b in zip(got, got[1:])),
       "it ranks the sources of each host", got[:5])
    os.chdir("/")
    everything = f"FROM read_csv('{where}/*.csv')"
    is_(duckdb.sql("SELECT count(*), sum(duration_ns) " + everything).fetchall()[0],
        (len(sum(map(expected, hosts), [])), sum(e["duration_ns"] for n in hosts
                                                 for e in expected(n))),
        "duckdb reads all csv files at once, each line as one row")
    is_(duckdb.sql(f"SELECT sum(len(from_json(pieces, '[{{\"net_ns\": \"BIGINT\"}}]'))) "
                   f"{everything}").fetchall()[0][0],
        sum(len(e["pieces"]) for n in hosts for e in expected(n)), "and takes the pieces apart")
    types = dict(duckdb.sql("SELECT column_name, column_type FROM (DESCRIBE " + everything
                            + ")").fetchall())
    is_([types[c].split()[0] for c in ("host", "cpu", "start_ns", "isolated", "time")],
        ["VARCHAR", "BIGINT", "BIGINT", "BOOLEAN", "TIMESTAMP"],
        "and sees what is a number, a flag, a time")

# ---- markdown ----


class Page(html.parser.HTMLParser):
    """The tags that were used, the tables as rows of cell texts, and the code spans."""

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.tags, self.tables, self.code, self.titles, self.open = set(), [], [], [], []
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "code":
            self.code.append("")
        elif tag in ("h1", "h2"):
            self.titles.append("")

    def handle_endtag(self, tag):
        self.open.pop()

    def handle_data(self, data):
        if "code" in self.open:
            self.code[-1] += data
        if self.open and self.open[0] == "table" and self.open[-1] not in ("table", "tr", "thead",
                                                                           "tbody"):
            self.tables[-1][-1][-1] += data
        elif self.open and self.open[0] in ("h1", "h2"):
            self.titles[-1] += data


def blanks(name):
    return " ".join(name.split())  # in HTML one blank is as good as many


cmark = reader("cmarkgfm")
def markdown_page(name):
    return Page(cmark.markdown_to_html_with_extensions(
        text(name), extensions=["table", "strikethrough", "autolink", "tasklist"]))


HARMLESS = {"h1", "h2", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "ul", "li"}
for name in hosts if cmark else ():
    page = markdown_page(name + ".markdown")
    ok(page.tags <= HARMLESS, f"markdown, {name}: no name has become markup", page.tags - HARMLESS)
    ok(all(len(row) == len(t[0]) for t in page.tables for row in t),
       f"markdown, {name}: no name has split a cell",
       *[t for t in page.tables if any(len(row) != len(t[0]) for row in t)][:1])
    codes = set(map(blanks, page.code))
    names = {blanks(f"{lib.thread_name(said(p['name']), p['kernel_thread'])} [{p['id']}] > "
                    f"{said(p['function'])}")
             for host in hosts[name] for h in truth[host]["hiccups"] for p in h["pieces"]
             if p["kind"] == "thread"}
    names |= {"sysctl vm.stat_interval=120"} if "web-07" in hosts[name] else set()
    asked = {blanks(f"{said(p['by_comm'])} [{p['by_pid']}]")
             for host in hosts[name] for h in truth[host]["hiccups"] for p in h["pieces"]
             if "by_comm" in p}
    ok(names <= codes and asked <= codes,
       f"markdown, {name}: all threads and askers read as they should",
       (names | asked) - codes)
    is_([t for t in page.titles if t.startswith("culprit")],
        [f"culprit: {len(hosts[name])} reports"] * (len(hosts[name]) > 1)
        + ["culprit: " + said(truth[host]["host"]) for host in hosts[name]],
        f"markdown, {name}: the hosts' names")
    for host in hosts[name]:
        shares = [float(row[0]) for t in page.tables if t[0][0] == "share %" for row in t[1:]]
        cpus = len({h["cpu"] for h in truth[host]["hiccups"]}) * len(hosts[name])
        ok(abs(sum(shares) - 100 * cpus) < 1, f"markdown, {name}: the rows of each CPU make 100 %",
           shares)

# ---- folded stacks: split as flamegraph.pl does ----

for name in hosts:
    stacks = [re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line)
              for line in text(name + ".folded").splitlines()]
    ok(all(stacks), f"folded, {name}: each line is frames and a weight",
       text(name + ".folded")[:300])
    stacks = [(m.group(1).split(";"), int(m.group(2))) for m in stacks]
    many = len(hosts[name]) > 1
    got, want = {}, {}
    for frames, weight in stacks:
        key = tuple(frames[:2]) if many else (said(truth[hosts[name][0]]["host"]), frames[0])
        got[key] = got.get(key, 0) + weight
    for host in hosts[name]:
        for h in truth[host]["hiccups"]:
            key = said(truth[host]["host"]), f"cpu {h['cpu']}"
            want[key] = want.get(key, 0) + h["duration_ns"]
    is_(got, want, f"folded, {name}: the weights of each CPU are what it lost")
    askers = [p for host in hosts[name] for h in truth[host]["hiccups"]
              for p in h["pieces"] if "by_comm" in p]
    leaves = sorted(frames[-1] for frames, _ in stacks if any(f.startswith("by ") for f in frames))
    is_(leaves, sorted(said(p["by_function"]).replace(";", "\\x3b") or "?" for p in askers),
        f"folded, {name}: who asked ends with the function that asked")
    ok(all(f and f == f.strip("\r\n") for frames, _ in stacks for f in frames),
       f"folded, {name}: no frame is empty", stacks)

# ---- HdrHistogram's log and percentiles ----


def bucket(ns):
    """Of 2 significant digits."""
    shift = max(0, ns.bit_length() - 8)
    return shift, ns >> shift


if reader("hdrh"):
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    for name in hosts:
        want = {}
        everything = HdrHistogram(1, 3600 * 10 ** 9, 2)
        for host in hosts[name]:
            cpus = {h["cpu"] for h in truth[host]["hiccups"]} or {5}
            prefix = said(truth[host]["host"]).replace(",", "\\x2c").replace(" ", "\\x20") + ":"
            prefix = prefix if len(hosts[name]) > 1 else ""
            for n in cpus:
                h = want[f"{prefix}cpu{n}"] = HdrHistogram(1, 3600 * 10 ** 9, 2)
                for hiccup in truth[host]["hiccups"]:
                    if hiccup["cpu"] == n:
                        h.record_value(hiccup["duration_ns"])
                        everything.record_value(hiccup["duration_ns"])
        want[None] = everything  # the line for a reader that asks for no tag
        log = HistogramLogReader(path(name + ".hlog"), everything)
        got = {}
        while h := log.get_next_interval_histogram():
            got[h.get_tag()] = h
        is_(sorted(got, key=str), sorted(want, key=str),
            f"hlog, {name}: a line for each CPU, and one for all")
        ok(all(got[tag].equals(want[tag]) for tag in want if tag in got),
           f"hlog, {name}: each has the same histogram",
           *[(t, list(h.get_recorded_iterator())) for t, h in got.items()])
        started = datetime.datetime(2026, 3, 1, 12, tzinfo=datetime.timezone.utc).timestamp()
        ok(all((h.get_start_time_stamp(), h.get_end_time_stamp()) == (started * 1000,
                                                                      started * 1000 + 1000)
               for h in got.values()), f"hlog, {name}: from the run's start to its end")
        durations = sorted(h["duration_ns"] for host in hosts[name] for h in truth[host]["hiccups"])
        lines = text(name + ".hgrm").splitlines()
        printed = io.BytesIO()
        everything.output_percentile_distribution(printed, 1000)
        theirs = printed.getvalue().decode().splitlines()
        is_(lines[:2], theirs[:2], f"hgrm, {name}: the heading of the tools")
        is_(*[re.sub(r" *[\d.]+", "N", printed[-3]) for printed in (lines, theirs)],
            f"hgrm, {name}: and their footer")
        rows = [[float(x) for x in line.split()] for line in lines[2:-3]]
        wrong = []
        for row in rows:
            value, level, count = round(row[0] * 1000), row[1], row[2]
            last = len(row) == 3
            under = sum(bucket(d) < bucket(value) for d in durations)
            if count != sum(bucket(d) <= bucket(value)
                            for d in durations) or not under <= level * len(durations) <= count \
                    or last != (level == 1) or (not last and abs(row[3] - 1 / (1 - level)) > 0.01):
                wrong.append(row)
        ok(not wrong, f"hgrm, {name}: as many are not above each line's value as it says", wrong)
        steps = [0, .1, .2, .3, .4, .5, .55, .6, .65, .7, .75, .775, .8, .825, .85, .875, .8875]
        is_([row[1] for row in rows[:-1]][:len(steps)], steps[:max(0, len(rows) - 1)],
            f"hgrm, {name}: steps that halve")
        ok(not rows or rows[-1] == [durations[-1] / 1000, 1, len(durations)],
           f"hgrm, {name}: the last line is the longest", rows)
# ---- a workload: all values of each series in every format, not only its outliers ----

subprocess.run([os.path.join(lib.BUILD, "golden"), where], check=True, stdout=subprocess.DEVNULL)


def report(form, *args):
    return culprit("report", path("sleep.rec"), "-f", form, *args).out


measured = {s["name"]: s for s in json.loads(report("json"))["cpus"][0]["series"]}
bins = {name: list(zip(*(s["bins"][k] for k in ("from", "to", "count"))))
        for name, s in measured.items()}
is_({n: sum(b[2] for b in rows) for n, rows in bins.items()},
    {n: s["count"] for n, s in measured.items()}, "json: the bins of a series hold all its values")
last = {n: [b for b in rows if b[2]][-1] for n, rows in bins.items()}
ok(last["latency"][0] <= measured["latency"]["max_ns"] <= last["latency"][1]
   and measured["read the clock"]["bins"]["unit"] == "ps"
   and bins["read the clock"][0][0] <= measured["read the clock"]["min_ps"]
   <= bins["read the clock"][0][1], "json: they reach from the least to the largest", last)
for name, s in measured.items():
    printed = report("hgrm", "--series", name).splitlines()
    ok(f"Total count    = {s['count']:12}]" in printed[-3] and printed[-1] == f"#[Series  = {name}]"
       and round(float(printed[-5].split()[0]) * 1000) == s["max_ns"],
       f"hgrm: all values of '{name}'", *printed[-5:])
is_(report("hgrm"), report("hgrm", "--series", "latency"), "hgrm: the first series, when unasked")
log = report("hlog").splitlines()
is_([line.split(",")[0] for line in log[5:]],
    ["0.000", "Tag=latency:cpu3", "Tag=read\\x20the\\x20clock:cpu3:ps", "Tag=cpu3"],
    "hlog: the first series without a tag, then a tag for each, then the outliers")
is_(log[5].split(",")[1:3], ["1.000", "0.004"], "hlog: for the whole run, and its longest")
jar = glob.glob(os.path.join(lib.BUILD, "hdrhistogram/usr/share/java/[Hh]dr[Hh]istogram.jar"))
if jar and shutil.which("java"):
    with open(path("sleep.hlog"), "w") as f:
        f.write("\n".join(log) + "\n")
    for tag, of in ((), "latency"), (("-tag", "read\\x20the\\x20clock:cpu3:ps"), "read the clock"):
        said_of = subprocess.run(["java", "-cp", jar[0], "org.HdrHistogram.HistogramLogProcessor",
                                  "-i", path("sleep.hlog"), "-outputValueUnitRatio", "1", *tag],
                                 capture_output=True, text=True).stdout
        ok(f"Total count    = {measured[of]['count']:12}]" in said_of,
           f"hlog: HdrHistogram's own processor reads '{of}' {' '.join(tag[:1])}", said_of)
else:
    skip("hlog: HdrHistogram's own processor",
         "java or its package is not there (make check-all fetches that)")
is_([line.split(",")[0] for line in report("hlog", "--series", "hiccups").splitlines()[5:]],
    ["0.000", "Tag=cpu3"], "hlog: --series leaves the others out")
for form in ("openmetrics", "prometheus"):
    lines = [x for x in report(form).splitlines() if x.startswith("culprit_series_seconds")]
    buckets = [(float(m[1]), int(m[2])) for x in lines if
               (m := re.search(r'series="latency",le="([^"]*)"} (\d+)$', x))]
    is_([n for _, n in buckets[:-1]],
        [sum(c for _, to, c in bins["latency"] if to < le * 1e9) for le, _ in buckets[:-1]],
        f"{form}: a histogram of all values, labelled with its series")
    ok(f'culprit_series_seconds_count{{cpu="3",series="read the clock"}} 40' in lines
       and 'culprit_series_seconds_bucket{cpu="3",series="read the clock",le="3.2e-08"} 40'
       in lines, f"{form}: values of less than a nanosecond's step, too", *lines[-8:])
untraced = [json.loads(line) for line in
            culprit("report", path("untraced.rec"), "-f", "jsonl").out.splitlines()]
is_({(line["first_kind"], line["first_name"]) for line in untraced}, {("outside", "not traced")},
    "jsonl: without tracing nothing is said to be outside the kernel")
page = report("html")
is_([int(n) for n in re.findall(r"cpu 3, (\d+) values", page)],
    [s["count"] for s in measured.values()], "html: a histogram of all values of each series")
ok('class="bars beyond"' in page, "html: those that are explained stand out")
ok(re.search(r"\| `latency` +\| +40 \| 2.60 us \| 3.06 us \|", report("markdown")),
   "markdown: a row for each series")
lines = [json.loads(line) for line in report("jsonl").splitlines()]
is_({(x["what"], x["series"], x["threshold_ns"]) for x in lines}, {("outlier", "latency", 200)},
    "lines: what they are, and of which series")
is_({(x["what"], x["series"]) for name in ("irq", "watch")
     for x in map(json.loads, culprit("report", path(name + ".rec"), "-f", "jsonl").out
                  .splitlines())}, {("gap", None), ("thread", None)},
    "lines: gaps of the spin loop, and what threads lost")
part = json.loads(report("json", "--from", "500ms"))["cpus"][0]
is_((part["series"], part["hiccups"]["count"]), ([], 20),
    "a part of the time: the values of the whole are not told as the part's")

# ---- a comparison, of a plain run and one with hostile names ----

d = json.loads(text("diff.json"))
theirs = {(p["kind"], said(p["name"]), p["function"] and said(p["function"]))
          for h in truth["hostile"]["hiccups"]
          for p in h["pieces"] if p["kind"] == "thread"}
ok(theirs <= {(s["kind"], s["name"], s["function"]) for s in d["sources"] if s["files"][1]["runs"]},
   "diff, json: all hostile threads read as they should", theirs)
is_(sum(f["count"] for f in d["total"]["files"]), sum(len(truth[h]["hiccups"])
                                                      for h in ("web-07", "hostile")),
    "diff, json: all hiccups are counted")
if cmark:
    page = markdown_page("diff.markdown")
    ok(page.tags <= HARMLESS | {"pre"}, "diff, markdown: no name has become markup",
       page.tags - HARMLESS)
    ok(all(len(row) == len(t[0]) for t in page.tables for row in t),
       "diff, markdown: no name has split a cell", page.tables)
    shown = {blanks(row[-1]) for t in page.tables if t[0][-1] == "who"
             for row in t[1:] if row[-2] == "thread"}
    known = {blanks(n + (" > " + f if f is not None else "")) for _, n,
             f in theirs} | {"[kworker/*:*] > vmstat_update"}
    ok(len(shown) > 5 and shown <= known, "diff, markdown: threads read as they should",
       shown - known)

shutil.rmtree(where)
done()
