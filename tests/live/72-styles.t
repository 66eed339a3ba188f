#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit run --style: the columns of other tools in their order and units, figures that agree with
each other and with the hiccups of the same window; none of the faults that those tools have.
And culprit by those tools' names, with their options, read as scripts read them.
LONG=1 in the environment: also beside oslat, where Debian's is installed."""
import json
import os
import re
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip

ROUNDS = 3

lib.need_bpf()
cpu = lib.pick_target()
ON = "-c", str(cpu), "-q"
COLUMNS = {
    "osjitter": "CPU TSC_khz #intr #delta ovfl_ns invol_ctx sum_intr_ns iratio rt_s loop_ns "
                "median_ns p20_ns p80_ns p90_ns "
                "p99_ns p99.9_ns max_ns mad_ns",
    "hiccups": "cpu threshold_ns hiccups pct99_ns pct999_ns max_ns",
    "osnoise": "CPU RUNTIME NOISE %CPU-AVAIL MAX-SINGLE HW NMI IRQ SIRQ THREAD",
}
SYSJITTER = ("core_i threshold(ns) cpu_mhz runtime(ns) runtime(s) int_n int_n_per_sec int_min(ns) "
             "int_median(ns) int_mean(ns) int_90(ns) "
             "int_99(ns) int_999(ns) int_9999(ns) int_99999(ns) int_max(ns) int_total(ns) "
             "int_total(%)").split()


def styled(style, *args, **kwargs):
    r = culprit("run", *ON, "--style", style, *args, **kwargs)
    if r.rc:
        raise RuntimeError(f"culprit run --style {style}: {r}")
    return r.out


def rows(style, *args):
    return rows_of(style, styled(style, *args))


def rows_of(style, text):
    """Of the styles with a header its rows as {column: value}."""
    lines = [line.split() for line in text.splitlines()]
    is_(" ".join(lines[0]), COLUMNS[style], f"{style}: its columns, in its order")
    ok(all(len(line) == len(lines[0]) for line in lines), f"{style}: each row has them all", lines)
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def ascending(row, *columns):
    values = [int(row[c]) for c in columns]
    return values == sorted(values)


# ---- columns and units; with some noise, so that each has something to count ----
noise = lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "2ms", path=lib.POKE)
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    def raw_of(name):
        return [tuple(map(int, line.split()))
                for line in lib.read(os.path.join(place, f"{name}.{cpu}")).splitlines()
                if line[0] != "#"]

    text = styled("sysjitter", "-d", "400ms", "-t", "1us", "--raw", os.path.join(place, "raw"))
    table = dict((line.split()[0].rstrip(":"), line.split()[1:]) for line in text.splitlines())
    is_([line.split()[0].rstrip(":") for line in text.splitlines()], SYSJITTER,
        "sysjitter: its rows, in its order")
    values = {k: float(v[0]) for k, v in table.items()}
    mhz = round(values["cpu_mhz"])
    is_([values["core_i"], values["threshold(ns)"]], [cpu, 1000],
        "sysjitter: of this CPU and threshold")
    rate = values["int_n_per_sec"]
    ok(abs(values["int_n"] / values["runtime(s)"] - rate) < 0.01 * rate + 0.01,
       "sysjitter: the rate", values)
    ok(abs(100 * values["int_total(ns)"] / values["runtime(ns)"] - values["int_total(%)"]) < 0.01,
       "sysjitter: the share", values)
    ok(abs(values["int_mean(ns)"] * values["int_n"] - values["int_total(ns)"]) <= values["int_n"],
       "sysjitter: the mean", values)
    is_(os.listdir(place), [f"raw.{cpu}"], "--raw: a file for each CPU, named after it")
    raw = raw_of("raw")
    is_(len(raw), int(values["int_n"]), "--raw: a line for each hiccup")
    head = dict(re.findall(r"^# (\w+): +(\d+)(?: cycles|ns|) *$",
                           lib.read(os.path.join(place, f"raw.{cpu}")), re.M))
    is_([head.get("threshold"), head.get("n_interruptions"), head.get("cpu_mhz")],
        ["1000", str(len(raw)), str(mhz)], "--raw: its head, of the whole run")
    is_(sum(r[3] for r in raw), int(values["int_total(ns)"]), "--raw: their lengths are the total")
    ok(all(b[0] >= a[0] + a[3] and abs((b[0] - a[0]) / 1000 - b[1]) <= 1 for a,
           b in zip(raw, raw[1:])),
       "--raw: when, and how long after the last one", raw[:5])
    ok(all(abs(r[2] * 1000 / mhz - r[3]) <= 0.002 * r[3] + 2 for r in raw),
       "--raw: cycles are the same lengths", raw[:5])

    # All loops of at least 1 us are hiccups here: the counts are exactly theirs, but for the 8 bits
    # of a length that are kept.
    oslat_text = styled("oslat", "-d", "400ms", "-P", "f:10", "--raw", os.path.join(place, "oslat"))
    counted = {}
    for _, _, _, ns in raw_of("oslat"):
        shift = max(0, ns.bit_length() - 8)
        us = min(32, (ns >> shift << shift) // 1000 + 1)
        counted[us] = counted.get(us, 0) + 1
    shown = {int(us): int(n) for us, n in re.findall(r"^\s*(\d{3}) \(us\):\s+(\d+)", oslat_text,
                                                     re.M)}
    # The limit in ticks is rounded: a hiccup of 999 ns is possible, and counts as less than 1 us.
    is_({us: n for us, n in shown.items() if n and us > 1},
        {us: n for us, n in counted.items() if us > 1},
        "oslat: its counts are those of the hiccups")
    ok(shown[1] > 1e5, "oslat: and all other loops took less than 1 us", shown)

# The others measure within osnoise's two seconds and a half.
kept = tempfile.mkdtemp(prefix="culprit-test-")
osnoise = lib.spawn("run", *ON, "--style", "osnoise", "-d", "2500ms", "-r", f"{kept}/rec")
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    rec = os.path.join(place, "rec")
    (row,) = rows("osjitter", "-d", "1s", "-t", "1us", "-r", rec)
    window_ns = lib.cpu_of(json.loads(culprit("report", rec, "-f", "json").out),
                           cpu)["observed_ns"]
# The window is longer than was asked for where the machine stands still at its end.
is_([row["CPU"], row["rt_s"], row["ovfl_ns"], row["#intr"]],
    [str(cpu), f"{window_ns / 1e9:.0f}", "0", row["#delta"]], "osjitter: of this CPU, nothing lost")
ok(ascending(row, "p20_ns", "median_ns", "p80_ns", "p90_ns", "p99_ns", "p99.9_ns", "max_ns"),
   "osjitter: its percentiles ascend", row)
ok(abs(int(row["sum_intr_ns"]) / window_ns - float(row["iratio"])) < 0.001,
   "osjitter: iratio is the share of the time", row, window_ns)
ok(abs(int(row["TSC_khz"]) / 1000 - mhz) < 2, "osjitter: the counter's rate is in kHz", row, mhz)

ok(int(row["loop_ns"]) > 0 and row["invol_ctx"].isdigit(),
   "osjitter: the loop takes time, and switches are counted", row)

(row,) = rows("hiccups", "-d", "300ms")
ok(int(row["threshold_ns"]) % 8 == 0 and 8 <= int(row["threshold_ns"]) < 10000,
   "hiccups: eight times the clock's smallest step", row)
ok(ascending(row, "threshold_ns", "pct99_ns", "pct999_ns", "max_ns"),
   "hiccups: its percentiles ascend", row)
(row,) = rows("hiccups", "-d", "300ms", "-t", "3us")
is_(row["threshold_ns"], "3000", "hiccups: -t is what it says")

periods = rows_of("osnoise", lib.finish(osnoise).out)
same = lib.cpu_of(json.loads(culprit("report", f"{kept}/rec", "-f", "json").out), cpu)
shutil.rmtree(kept)
# A last part of 50 ms or less has no line.
whole, rest = divmod(same["observed_ns"], 10**9)
is_([p["RUNTIME"] for p in periods],
    ["1000000"] * whole + [str(rest // 1000)] * (rest > 50000000), "osnoise: a line a second")


def counted_as(*kinds):
    return sum(s["count"] for s in same["sources"] if s["kind"] in kinds)


what = "osnoise: its counts are those of the report, and so is the longest gap"
if rest > 50000000:
    is_([sum(int(p[column]) for p in periods) for column in ("NMI", "IRQ", "SIRQ", "THREAD")]
        + [max(int(p["MAX-SINGLE"]) for p in periods)],
        [counted_as("nmi"), counted_as("irq", "vector"), counted_as("softirq"),
         counted_as("thread"), same["hiccups"]["max_ns"] // 1000], what)
else:
    lib.not_judged(what, f"the window was {same['observed_ns']} ns long")
ok(all(abs(100 - 100 * int(p["NOISE"]) / int(p["RUNTIME"]) - float(p["%CPU-AVAIL"])) < 0.01
       for p in periods),
   "osnoise: what is left of the CPU is what noise has not taken", periods)
ok(all(int(p["IRQ"]) > 0 for p in periods[:2]), "osnoise: interrupts are counted", periods)
noise.terminate()
lib.finish(noise)

# ---- all CPUs that were asked for ----
spare = sorted(lib.ALLOWED & lib.online())
if len(spare) > 2:
    both = spare[-2:]
    out = culprit("run", "-c", ",".join(map(str, both)), "-d", "500ms", "-q", "--style",
                  "osjitter").out
    is_([line.split()[0] for line in out.splitlines()[1:]], [str(c) for c in both],
        "-c A,B measures both")
else:
    r = culprit("run", "-c", ",".join(map(str, spare)), "-d", "500ms", "-q", "--style", "osjitter")
    ok(r.rc == 1 and not r.out and "housekeeping" in r.err,
       "-c A,B is refused where there is no third one, not cut to A", r)

# ---- beside oslat ----


def buckets(text):
    """{us: count}."""
    return {int(us): int(n) for us, n in re.findall(r"^\s*(\d{3}) \(us\):\s+(\d+)", text, re.M)}


def longer(text, us):
    """Loops of at least that many us: of the bucket us + 1 on."""
    return sum(n for bucket, n in buckets(text).items() if bucket > us)


def oslat(seconds):
    return subprocess.run(["oslat", "-c", str(cpu), "-C", str(min(lib.ALLOWED - {cpu})), "-D",
                           str(seconds), "-s", "-f", "10"],
                          capture_output=True, text=True, check=True, timeout=lib.HANG_S).stdout


def shape(text):
    """Its table, without numbers but the labels'."""
    table = [line for line in text.splitlines() if re.match(r"^\s*[\w-][\w ()-]*:\t ", line)]
    return [re.sub(r"(?<=[\t ])\d+(\.\d+)?(?=$| )", "N", line) for line in table]


ok(re.search(r"Minimum:\t 1 \(us\)", oslat_text), "oslat: the shortest loop counts as 1 us",
   oslat_text)
if not os.environ.get("LONG"):
    pass  # two windows of one machine: how far they may differ takes many of them to know
elif not shutil.which("oslat"):
    skip("counts beside oslat's", "needs oslat (rt-tests)")
else:
    alone, beside, mine = [oslat(2) for _ in range(ROUNDS)], [], []
    for _ in range(ROUNDS):
        beside.append(oslat(2))
        mine.append(styled("oslat", "-d", "2s", "-P", "f:10"))
    for us in 1, 5:
        theirs = sorted(longer(text, us) for text in alone + beside)
        ours = sorted(longer(text, us) for text in mine)
        spread = max(theirs) / max(1, min(theirs))
        middle = theirs[len(theirs) // 2]
        lib.diag(f"longer than {us} us: oslat {theirs}, culprit {ours}; oslat's own spread "
                 f"{spread:.2f}")
        ok(middle / spread / 1.5 <= ours[ROUNDS // 2] <= middle * spread * 1.5,
           f"counts above {us} us are oslat's, within its own spread from run to run", theirs, ours)

# ---- under another tool's name, with its own options; read as scripts read it ----
PEERS = {  # command line: (the awk or sed line, the shape of what it prints)
    "osjitter -t 1 -d 1000 --cpu {cpu}":
        ("awk 'NR > 1 {{ print $1, $6, $8, $10, $11, $NF }}'",
         r"{cpu} \d+ \d\.\d{{3}} [1-9]\d* \d+ \d+"),
    "hiccups -r 1 -t 10000":
        ("awk 'NR == 2 && $1 != {cpu} {{ print $2, $3, $6 }}'", r"10000 \d+ \d+"),
    "sysjitter --runtime 1 --cores {cpu} --sort --raw {place}/peer 2000":
        # as text: mawk writes a number of 2^31 and more, as of three seconds, with an exponent
        ("awk -F': *' '/^int_(n|max|total).*:/ {{ print $1, $2 }}'",
         r"int_n \d+\nint_n_per_sec [\d.]+\nint_max\(ns\) \d+\n"
         r"int_total\(ns\) \d+\nint_total\(%\) [\d.]+"),
    "oslat -c {cpu} -D 1 -b 8 -z":
        ("awk '/^Test completed/ {{ t = 1 }} t && /Maximum:/ {{ print $2, $3 }}'",
         r"\d+ \(us\)"),
    "cyclictest -mnq -a {cpu} -t 1 -i 10000 -l 20 --laptop":
        # a value of five digits follows its colon without a blank, as cyclictest prints it
        ("awk '/^T:/ {{ gsub(/[A-Za-z]+:/, \" \"); print $(NF-3), $(NF-1), $NF }}'",
         r"\d+ \d+ \d+"),
    "cyclictest -a {cpu} -H 400 -q -R -o 5 -l 20 -i 10000 --default-system":
        ("grep -v -e '^#' -e '^$' | wc -l", "400"),
    "pingpong --pin 0 {other} --pin 1 {cpu} -n 2000 -k 10 --pipe":
        ("awk 'NR > 1 {{ print $1, $3, $6, $NF }}'",
         r"0 1000 [1-9]\d* \d+\n1 1000 [1-9]\d* \d+"),
    "pingpong --pin 0 {other} --pin 1 {cpu} -n 2000 -k 10 --json":
        ("python3 -c 'import json, sys; a, b = json.load(sys.stdin); "
         "print(len(a), len(b), all(type(x) is int for x in a + b), max(a + b) > 0)'",
         "1000 1000 True True"),
}
with tempfile.TemporaryDirectory(prefix="culprit-test-") as place:
    for name in "osjitter", "hiccups", "sysjitter", "oslat", "cyclictest", "pingpong":
        os.symlink(lib.CULPRIT, os.path.join(place, name))

    def filled(text):
        return text.format(cpu=cpu, other=min(lib.ALLOWED - {cpu}), place=place)

    def begin(*words, path="/bin/sh"):
        """Without the target among its CPUs, as what has no option for them measures all it has."""
        away = ",".join(map(str, sorted(lib.ALLOWED - {cpu})))
        return lib.spawn(*words, prefix=("taskset", "-c", away), path=path)

    def begin_peer(line, *more):
        name, *options = line.split()
        return begin(*options, *more, path=f"{place}/{name}")

    running = {line: begin_peer(filled(line)) for line in PEERS}
    osjitter = begin_peer("osjitter -t 1")
    if shutil.which("oslat"):
        is_(shape(oslat_text), shape(oslat(1)),
            "oslat: its lines, byte for byte but for the figures")
    else:
        skip("oslat: its lines", "needs oslat (rt-tests)")
    for line, (reader, printed) in PEERS.items():
        r = lib.finish(running[line])
        got = subprocess.run(filled(reader), shell=True, input=r.out, capture_output=True,
                             text=True).stdout.strip()
        ok(r.rc == 0 and re.fullmatch(filled(printed), got),
           f"{line.split()[0]}: its options, and its output read by {reader.split()[0]}", line,
           got, r)
    lengths = [int(row.split()[2]) for row in lib.read(f"{place}/peer.{cpu}").splitlines()
               if row[0] != "#"]
    is_(lengths, sorted(lengths), "sysjitter --sort: its raw lines by length")
    everywhere = lib.finish(osjitter)
    is_({int(row.split()[0]) for row in everywhere.out.splitlines()[1:]}, lib.online(),
        "osjitter without --cpu: all CPUs of the machine")
    # ---- --json: the keys, their order and their types are those that rt-tests writes ----
    for line in (f"cyclictest -q -a {cpu} -t 1 -i 1000 -l 30 -h 100000",
                 f"cyclictest -q -a {cpu} -t 1 -i 1000 -l 30 -N",
                 f"cyclictest -q -a {cpu} -t 1 -i 1000 -l 30 -N -h 1000000",
                 f"oslat -c {cpu} -D 1 -z"):
        name = line.split()[0]
        file = os.path.join(place, 'a "b"\n.json')
        r = lib.finish(begin_peer(line, "--json", file))
        mine = json.loads(lib.read(file))
        one = mine["thread"]["0"]
        bins = {int(value): n for value, n in one["histogram"].items()}
        most = int(line.split(" -h ")[1]) if " -h " in line else 0
        # A wake-up that was later than all bins is in none; one of almost their end may be.
        counted = {0} if not most else {30} if one["max"] < most else set(
            range(30 + (one["max"] < 1.01 * most)))
        ok(r.rc == 0 and mine["return_code"] == 0 and one["cpu"] == cpu
           and mine["num_threads"] == len(mine["thread"]) == 1
           and one["min"] <= one["avg"] <= one["max"] + 1
           and (name == "oslat" or one["cycles"] == 30 and sum(bins.values()) in counted
                and all(one["min"] <= value <= one["max"] for value in bins)),
           f"{name} --json: what it says", mine, r)
        ok(mine["cmdline:"].endswith("/" + line + f" --json {place}/" + 'a "b"\\x0a.json'),
           f"{name} --json: its command line, whatever is in it", mine)
        if name == "oslat":
            figures = re.findall(r"^ *(\d{3}) \(us\):\t (\d+)", r.out, re.M)
            is_({us: n for us, n in one["histogram"].items()},
                {str(int(us)): int(n) for us, n in figures if int(n)},
                "oslat --json: the same buckets as in its columns")
        if not shutil.which(name):
            skip(f"{name} --json: beside its own", f"needs {name} (rt-tests)")
            continue
        subprocess.run([*line.split(), f"--json={place}/theirs"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def form(value):
            if not isinstance(value, dict):
                return type(value).__name__
            return [(k, form(v)) for k, v in value.items()
                    if not k.isdigit() or v == value.get("0")]

        theirs = json.loads(lib.read(f"{place}/theirs"))
        is_(form(mine), form(theirs), f"{name} --json: the keys, order and types are its own's")
        is_([mine["sysinfo"], mine["num_threads"], mine.get("resolution_in_ns"), one.get("node")],
            [theirs["sysinfo"], 1, theirs.get("resolution_in_ns"),
             theirs["thread"]["0"].get("node")], f"{name} --json: and what does not vary")
    # A return_code of 0 stands behind no run that failed.
    for line in (f"cyclictest -q -a {cpu} -i 1000 -l 3 --histfile /dev/full --json {place}/old",
                 f"oslat -c {cpu} -D 1 --json {place}/old > /dev/full"):
        with open(f"{place}/old", "w") as f:
            f.write("old")
        r = lib.finish(begin("-c", f"{place}/{line}"))
        ok(r.rc == 1 and "No space left" in r.err and lib.read(f"{place}/old") == "old",
           f"{line.split()[0]} --json: beside columns that fail it leaves what was there", r)
    both = lib.finish(begin_peer(f"cyclictest -q -a {cpu} -i 1000 -l 5 --json=-"))
    document, end = json.JSONDecoder().raw_decode(both.out)
    ok(document["thread"]["0"]["cycles"] == 5 and re.fullmatch(r"\s*T: 0 .*\n", both.out[end:]),
       "--json=-: on standard output, and then its columns", both)

    for line, why in (("oslat -w memmove", "-w: "),
                      ("oslat --json=/nonexistent/x", "cannot write to /nonexistent/x"),
                      ("cyclictest --secaligned", "--secaligned is not taken"),
                      ("sysjitter --runtime 1", "THRESHOLD_NSEC is missing"),
                      ("cyclictest --bogus", "--bogus: unknown option"),
                      ("hiccups -r", "-r: needs a value")):
        refused = subprocess.run(f"{place}/{line}", shell=True, capture_output=True, text=True)
        ok(refused.returncode == 1 and not refused.stdout and why in refused.stderr and
           len(refused.stderr.splitlines()) == 1, f"{line}: refused in one line", refused)

r = culprit("run", *ON, "-d", "500ms", "--style", "sysjitter", "--raw", "/nonexistent/x")
ok(r.rc == 1 and "/nonexistent/x" in r.err and len(r.err.splitlines()) == 1,
   "--raw where nothing can be written is refused", r)
is_(lib.await_gone(lib.marked), [], "nothing is left running")
done()
