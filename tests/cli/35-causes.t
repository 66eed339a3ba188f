#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cause book: its generator refuses what is not whole, explain finds entries by every name, and
a run's sources carry causes and commands with this machine's numbers."""
import json
import os
import re
import shlex
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok, skip, sources

# ---- the generator ----

GOOD = """\
# a comment
id: T01
title: a title
what: text with "quotes" and a \\ backslash
  that goes on
why: why
confirm: `cat {cpu}`
fix: fix
advice: echo {housekeeping}
undo: echo {cpus}
since: any
source: somewhere
match: work one
match: comm two*
"""
KNOB = re.sub("advice: .*\nundo: .*\n", "knob: sysctl a.b 1\n", GOOD)
OTHER = GOOD.replace("T01", "T02").replace("work one", "work three").replace("two*", "four*")


def generate(text):
    with tempfile.NamedTemporaryFile("w", suffix=".cause") as f:
        f.write(text)
        f.flush()
        r = subprocess.run(["awk", "-f", os.path.join(lib.ROOT, "tools/causes.awk"), f.name],
                           capture_output=True, text=True,
                           env={**os.environ, "LC_ALL": "C"})
        return r.returncode, r.stdout, r.stderr.replace(f.name, "FILE")


code, out, err = generate(GOOD + "\n" + OTHER)
ok(code == 0 and not err, "a whole file is taken", code, err)
ok('"text with \\"quotes\\" and a \\\\ backslash that goes on"' in out,
   "a long field is one C string", out)
ok('{"comm", "four*", &causes[1]}' in out, "a match leads to its entry", out)
# A knob makes the command, the line that saves, and the one that undoes.
MADE = {
    "sysctl a.b 1": ("sysctl a.b=1", "$(sysctl -n a.b)", 'sysctl a.b="$old"',
                     "KNOB_FILE", "/proc/sys/a/b", "1"),
    "file /sys/a {hkmask}": ("echo {hkmask} > /sys/a", "$(cat /sys/a)", 'echo "$old" > /sys/a',
                             "KNOB_FILE", "/sys/a", "{hkmask}"),
    "feature /sys/a NO_X": ("echo NO_X > /sys/a", "$(xargs -n 1 < /sys/a | grep -x -e X -e NO_X)",
                            'echo "$old" > /sys/a', "KNOB_FEATURE", "/sys/a", "NO_X"),
    "feature /sys/a NO_X Y": ("for w in NO_X Y; do echo $w > /sys/a; done",
                              "$(xargs -n 1 < /sys/a | grep -x -e X -e NO_X -e Y -e NO_Y)",
                              "for w in $old; do echo $w > /sys/a; done",
                              "KNOB_FEATURE", "/sys/a", "NO_X Y"),
    "thread {housekeeping}": ("taskset -pc {housekeeping} {pid}",
                              "$(taskset -pc {pid} | sed 's/.*: //')",
                              'taskset -pc "$old" {pid}', "KNOB_THREAD", "", "{housekeeping}"),
}
for knob, (advice, save, undo, kind, path, value) in MADE.items():
    code, out, err = generate(KNOB.replace("sysctl a.b 1", knob) + "lag: 5s\n")
    want = [f".{field} = {json.dumps(text)}," for field, text in
            (("advice", advice), ("save", "old=" + save), ("undo", undo))]
    want += [f'.knob = {{{kind}, "{path}", "{value}"}},', ".lag_s = 5,"]
    ok(code == 0 and all(w in out for w in want), f"knob: {knob}", err, out, want)
for text, line, message in (
    (GOOD.replace("why:", "wye:"), 6, "unknown field 'wye'"),
    (GOOD.replace("since: any\n", ""), 2, "T01 has no since"),
    (GOOD + "\n" + GOOD, 17, "id T01 is there already"),
    (GOOD + "\n" + OTHER.replace("work three", "work one"), 28,
     "work one belongs to another match"),
    (GOOD.replace("match: work", "match: wrok"), 13, "unknown match kind 'wrok'"),
    (GOOD.replace("work one", "work"), 13, "match takes a kind and a pattern"),
    (GOOD.replace("{cpu}", "{gpu}"), 7, "unknown placeholder {gpu}"),
    (GOOD.replace("why: why", "why: {cpu}"), 6, "placeholders are filled in only in"),
    (GOOD.replace("T01", "Q1"), 2, "id 'Q1' is not"),
    (GOOD.replace("why: why", "why: why\nwhy: because"), 7, "T01 has why already"),
    (GOOD.replace("why: why", "why: " + 96 * "x"), 6, "longer than 100 columns"),
    (GOOD.replace("`cat", "cat"), 7, "a backquote without its partner"),
    (GOOD.replace("advice: echo {housekeeping}\n", ""), 2, "undo without advice"),
    (GOOD.replace("undo: echo", "undo: echo $old >"), 2, "$old in undo, but no save"),
    (GOOD.replace("undo:", "save: old=1\nundo:"), 2, "save, but undo does not put $old back"),
    (GOOD.replace("id: T01", "id: T01\n  more"), 3, "nothing here goes on"),
    (GOOD.replace("echo {housekeeping}", 51 * "x" + "\n  " + 49 * "x"), 9,
     "advice is longer than 100 columns"),
    (GOOD + "knob: sysctl a.b 1\n", 2, "advice, save and undo are made from it"),
    (KNOB.replace("sysctl a.b 1", "sysctl a.b"), 2, "a knob is sysctl NAME VALUE"),
    (KNOB.replace("sysctl a.b 1", "file /etc/passwd 1"), 2, "a knob is sysctl NAME VALUE"),
    (KNOB.replace("sysctl a.b 1", "shell /sys/a 1"), 2, "a knob is sysctl NAME VALUE"),
    (KNOB.replace("sysctl a.b 1", "file /sys/{gpu} 1"), 9, "unknown placeholder {gpu}"),
    (KNOB + "lag: 2m\n", 2, "lag is a number of seconds"),
    (GOOD + "lag: 2s\n", 2, "of an entry with a knob"),
    ("title: lost\n", 1, "title stands outside of an entry"),
    (GOOD.replace("why: why", "whywhy"), 6, "neither 'field: text' nor"),
):
    code, out, err = generate(text)
    ok(code == 1 and re.search(rf"^FILE:{line}: .*{re.escape(message)}", err, re.M) and not out,
       f"refused: {message}", code, err)

with tempfile.TemporaryDirectory() as place:
    for name, text in (("a.cause", KNOB),
                       ("proven", "# a comment\nT01 6.12 moved 5\nT01 7.3 moved 5\n"
                        "T01 5.10 without it has no T\n"),
                       ("unproven", "T01 no guest has it\n"),
                       ("wrong/proven", "T02 6.12 moved 0\nT01 6.12\nT01 6.12 so 0\n"
                        "T01 6.12 moved 0\nT01 7.3 booted 0\nT01 6.1 without\n"),
                       ("wrong/unproven", "T02 x\nT01\n")):
        os.makedirs(os.path.dirname(os.path.join(place, name)), exist_ok=True)
        with open(os.path.join(place, name), "w", encoding="ascii") as f:
            f.write(text)
    right, wrong, cannot, wrongly, both = (
        subprocess.run(["awk", "-f", os.path.join(lib.ROOT, "tools/causes.awk"), "a.cause",
                        *names.split()], capture_output=True, text=True, cwd=place)
        for names in ("proven", "wrong/proven", "unproven", "wrong/unproven", "proven unproven"))
ok(right.returncode == 0 and '.proven = "6.12, 7.3",' in right.stdout
   and ".proof = PROOF_MOVED, .proof_left = 5," in right.stdout
   and '.lacking = "; on 5.10 it has no T",' in right.stdout, "proofs have kernels", right)
is_((wrong.returncode, wrong.stderr.count("a proof is the id of a cause with advice"),
     wrong.stderr.count("T01 was proven in another way before"),
     wrong.stderr.count("before what a kernel is without stands a proof")), (1, 3, 1, 1),
    "a proof of something else is refused")
ok(cannot.returncode == 0 and '.unproven = "no guest has it",' in cannot.stdout,
   "where there can be none is the reason", cannot)
is_([(r.returncode, r.stderr.count("this is the id of a cause without a proof"))
     for r in (wrongly, both)], [(1, 2), (1, 1)],
    "which is refused of another, and of a proven one")

# ---- explain ----

r = culprit("explain", "-f", "json")
book = json.loads(r.out)["causes"] if r.rc == 0 else []

# Entries that hold on x86 alone say so, and are not offered elsewhere.
X86 = re.compile(r"\b(x86|MSRs?|rdmsr|SMIs?|BIOS|APIC|rdtsc|tsc|CPUID|microcode|MTRRs?|MCEs?|mce|"
                 r"split_lock_\w+|LOC|RES|CAL|IWI|TLB:|intel\w*|max_cstate|[am]perf|i915|"
                 r"turbostat)\b", re.I)
is_([c["id"] for c in book if not re.search("x86|Intel|AMD", c["since"])
     and X86.search(f"{c['title']}\n{c['advice']}\n{c['undo']}")], [],
    "no cause of every architecture has a title or an advice of x86's")
# None of their texts for all machines has a word of x86's, either.
is_({c["id"]: X86.findall(text) for c in book if not re.search("x86|Intel|AMD", c["since"])
     for text in ["\n".join(c[f] or "" for f in ("what", "why", "confirm", "fix"))]
     if X86.search(text)}, {}, "nor what it is, and how to confirm and to fix it")
ARM64 = os.path.join(lib.ROOT, "tests", "fixtures", "recordings", "1.0", "arm64.rec")
for form in "text", "markdown", "html", "json", "jsonl", "csv", "openmetrics", "folded":
    r = culprit("report", ARM64, "-f", form, *(["--stacks"] if form == "text" else []))
    shown = re.sub(r"(?s)<style>.*?</style>|<script.*?</script>", "", r.out)
    ok(r.rc == 0 and not X86.findall(shown), f"a report of arm64 as {form} has no word of x86's",
       r.rc, X86.findall(shown))
report = json.loads(culprit("report", ARM64, "-f", "json").out)
named = sorted(({s["cause"] for c in report["cpus"] for s in c["sources"]} |
                {f["cause"] for f in report["findings"] if f["level"] == "WARN"}) - {None})
# names that lead to an entry are of all architectures
told = re.sub(r"(?m)^  found by .*\n(?:   .*\n)*", "", culprit("explain", *named).out)
ok(len(named) >= 5 and all(f"{n}  " in told for n in named) and not X86.findall(told),
   "the causes that it names are explained without one", named, X86.findall(told))
ok(len(book) > 150, "explain lists all entries", len(book))
FIELDS = ("id", "group", "title", "what", "why", "confirm", "fix", "since", "source")
ok(all(c[f] for c in book for f in FIELDS), "each with its fields",
   [c["id"] for c in book if not all(c[f] for f in FIELDS)])


# ---- what an undo puts back is what was there, whatever it was ----

# First contents of a file that does not hold a word alone, and the contents to be written back; of
# two features, the last that is written.
HELD = {"transparent_hugepage/enabled": ("[always] madvise never", "always"),
        "sched/features": ("A NO_HRTICK HRTICK_DL RT_PUSH_IPI B", None)}
# Commands that stand for the machine's: what they say, and what a cause's undo has to call last.
SAYS = {"auditctl -s": "enabled 2\nfailure 1", "swapon --show": "/dev/sdb\n/swap",
        "findmnt": "rw,cdp", "lsmod": "Module Size\nacpi_pad 1 0\nnot_acpi_pad 1 0",
        "systemctl is-active": "inactive", "systemctl is-enabled": "enabled",
        "taskset -pc PID": "pid 7's current affinity list: 3-5,9", "sysctl -n": "-7"}
CALLS = {"F09": ["auditctl -e 2"], "F02": ["swapon /dev/sdb /swap"],
         "P21": ["mount -t resctrl -o rw,cdp resctrl ROOT/sys/fs/resctrl"], "T26": [],
         "K26": ["modprobe acpi_pad"], "I04": ["systemctl enable irqbalance"]}
STUBS = "".join(f"""{command}() {{
	case "{command} $*" in
""" + "".join(f"\t'{call}'*) printf '%s\\n' '{text}' | cat;;\n".replace("7's", "7'\\''s")
              for call, text in SAYS.items() if call.split()[0] == command)
                + f"""\t*) echo "{command} $*" >>"$ROOT/calls";;
	esac
}}
""" for command in sorted({call.split()[0] for call in SAYS} | {"mount", "modprobe"}))


def put_back(c):
    """Runs an entry's save and undo, with what they name changed in between; (what is there
    afterwards, what has to be)."""
    with tempfile.TemporaryDirectory() as root:
        there, wanted = {}, {}
        text = re.sub(r"/(sys|proc)/", rf"{root}/\1/", c["save"] + "\x00" + c["undo"])
        for name in set(re.findall(rf"{root}/[^\s\");]+", text)):
            if name.endswith("/resctrl"):
                continue
            paths = [re.sub(r"(\[[01]-9\])?\*", d, name)
                     for d in (("1", "12") if "*" in name else ("",))]
            for path in paths:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                first, back = next((v for k, v in HELD.items() if path.endswith(k)),
                                   (f"{len(there)}7", f"{len(there)}7"))
                there[path], wanted[path] = first, back or (
                    "HRTICK_DL" if "HRTICK" in c["save"] else "RT_PUSH_IPI")
                with open(path, "w", encoding="ascii") as f:
                    f.write(first + "\n")
        save, undo = text.split("\x00")
        tamper = "".join(f"echo changed >'{path}'\n" for path in there)
        subprocess.run(["sh", "-c", f"ROOT={root}\n{STUBS}\n{save}\n{tamper}\n{undo}"],
                       check=True)
        calls = lib.read(f"{root}/calls").replace(root, "ROOT").split("\n") \
            if os.path.exists(f"{root}/calls") else []
        key = re.search(r"sysctl ([\w.]+)=", c["undo"])
        return ({path: lib.read(path).strip() for path in there}, [x for x in calls if x]), \
            (wanted, CALLS.get(c["id"], [f"sysctl {key[1]}=-7"] if key else
                               ["taskset -pc 3-5,9 PID"] if "taskset" in c["undo"] else []))


saved = [c for c in book if c["save"]]
is_([c["id"] for c in book if c["undo"] and not c["save"]], ["H08"],
    "what was there is saved before it is changed; where by hand, the words say so")
for c in saved:
    have, want = put_back(c)
    is_(have, want, f"{c['id']}: undo puts back what was there")

# Threads that poll eth1 are called napi/eth1-8193; before 5.17 a name ends after 15 characters.
by_id = {c["id"]: c for c in book}
pins = re.search("`(for p in [^`]*pgrep[^`]*)`", by_id["S03"]["fix"])[1]
for name in ("eth1", "enp129s0f0"):
    run = subprocess.run(["sh", "-c", """pgrep() { for t in eth1 eth10 enp129s0f0; do
	    echo "napi/$t-8193" | cut -c-15 | grep -q "$1" && echo "$t"; done; }
	taskset() { echo "$*"; }\n""" + pins.replace("INTERFACE", name)],
                         capture_output=True, text=True, check=True)
    is_([x.split()[-1] for x in run.stdout.splitlines()], [name], f"S03 pins the threads of {name}")
ok("msr" not in by_id["P12"]["advice"], "P12: who reads MSRs in the kernel does not need msr.ko",
   by_id["P12"]["advice"])

r = culprit("explain")
ok(r.rc == 0 and all(c["id"] in r.out for c in book) and "Tick and timers\n  T01  " in r.out,
   "as text by group", r.out, r.err)
ok(max(map(len, r.out.splitlines())) <= 100, "in 100 columns")
for name, cause in (("vmstat_update", "K01"), ("k01", "K01"), ("TIMER", "S01"), ("LOC", "T01"),
                    ("getppid", "F08"),
                    ("local_timer", "T01"),
                    ("kworker/u8:2", "K09"), ("nvme7q3", "I02"), ("ipi_mb", "P11"),
                    ("local_timer > tick_nohz_handler", "T01"),
                    ("[ksoftirqd/1]", "S08"), ("python3 [4242]", "K34"), ("irq 9999", "I01"),
                    ("edge", "G12"), ("steal", "H14"),
                    ("throttled", "T09"), ("CPU quota", "T09"), ("[throttled]", "T18"),
                    ("syscall", "F08"), ("syscall getppid", "F08"), ("the call itself", "G11"),
                    ("timer late, or exit from idle", "G11"), ("not seen", "G11"),
                    ("nvme_irq_of_none [nvme]", "G10"), ("host: nothing seen", "H15"),
                    ("host: not covered", "H15"), ("exit HLT", "H21"), ("exit  exit HLT", "H21"),
                    ("exit MSR_WRITE 0x6e0 TSC_DEADLINE", "H21"), ("exit STOPPED", "H22"),
                    ("exit STOPPED > [asleep]", "H22"), ("exit IO 0x70 > [asleep]", "H21"),
                    ("host: exit NPF", "H21"), ("host  exit STOPPED > [asleep]", "H22"),
                    ("[asleep]", "H21"), ("host: local_timer > tick_nohz_handler", "T01"),
                    ("host: ksoftirqd/1 [23]", "S08"), ("host: python3 [4242]", "K34"),
                    ("the message's way, or its sender late", "G11"),
                    ("tcp_orphan_update", "T27"), ("do_sys_openat2", "G10"),
                    ("some_unheard_of_timer", "G01")):
    r = culprit("explain", name)
    ok(r.rc == 0 and r.out.startswith(cause + "  "), f"explain {name} is {cause}", r.out, r.err)
r = culprit("explain", "some_unheard_of_timer")
ok("asked      the book does not have some_unheard_of_timer" in r.out,
   "an entry on the kind of thing says that it is one", r.out)
r = culprit("explain", "-f", "json", "K34")
got = json.loads(r.out)["causes"][0]
ok(got["words"].startswith("PID: ") and got["asked"] is None and got["family"] is False,
   "words in capitals are explained", got)
r = culprit("explain", "-f", "json", "python3 [4242]")
got = json.loads(r.out)["causes"][0]
ok(got["advice"].endswith(" 4242") and got["words"] is None and "python3" in got["asked"],
   "a thread's number is filled in", got)
r = culprit("explain", "-c", "1", "T17", "T01")
ok(r.rc == 0 and "nohz_full=1" in r.out and "{" not in r.out.replace("${", ""),
   "commands are filled in", r.out)
if tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < (5, 18):
    skip("nohz_full= leaves out the boot CPU", "before 5.18 both parameters need one list")
else:
    r2 = culprit("explain", "-c", "0-1", "I05", "T01")
    ok("nohz_full=1`" in r2.out, "nohz_full= leaves out the boot CPU", r2.out)
ok(r.out.startswith("T01  ") and "\nT17  " in r.out, "several stand in the book's order", r.out)
r = culprit("explain", "-f", "markdown", "--all")
ok(r.rc == 0 and r.out.count("\n### ") == len(book) and r.out.count("\n## ")
   + r.out.startswith("## ") == 10, "Markdown has all", r.err)
for name, near in (("vmstat_upd", "vmstat_update (K01)"), ("vmstat_updaet", "vmstat_update"),
                   ("zzzzzzzz", "culprit explain lists it all")):
    r = culprit("explain", name)
    ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and near in r.err,
       f"explain {name}: one line, with what is near", r.err)
r = culprit("explain", "x\x1b[31m'\n")
ok(r.rc == 1 and "\x1b" not in r.err and r.err.count("\n") == 1, "a hostile name is escaped",
   repr(r.err))
irq = next((n for n in sorted(os.listdir("/sys/kernel/irq"), key=int)
            if lib.read(f"/sys/kernel/irq/{n}/actions")), None) \
    if os.path.isdir("/sys/kernel/irq") else None
if irq:
    for name in (irq, lib.read(f"/sys/kernel/irq/{irq}/actions").split(",")[0]):
        r = culprit("explain", name)
        ok(r.rc == 0 and r.out.startswith("I"), f"explain {name}: an interrupt of this machine",
           r.out, r.err)
# ---- what a reader pastes from a terminal is the command ----


def shell_words(text):
    """The words of a shell with where its lines end, without comments; None: it reads no end."""
    lex = shlex.shlex(re.sub(r"\\\n *", " ", text), posix=True, punctuation_chars="\n")
    lex.whitespace, lex.whitespace_split = " ", True
    try:
        return list(lex)
    except ValueError:
        return None


def without_comment(text):
    return re.sub(r"(?m)(^| +)# .*$", "", text).rstrip("\n")


LABELS = {"confirm": "confirm", "fix": "fix", "x86": "on x86", "arm64": "on arm64"}
book = json.loads(culprit("explain", "-f", "json").out)["causes"]
wrong, commands = [], 0
for columns in 60, 80, 100:
    prefix = ("env", f"COLUMNS={columns}")
    shown = culprit("explain", *(c["id"] for c in book), prefix=prefix).out
    entries = re.split(r"(?m)^([A-Z]\d\d)  ", shown)[1:]
    entries = dict(zip(entries[::2], entries[1::2]))
    for c in book:
        halves = re.split(r"(?m)^  (\S.{9}) (?=\S)", entries[c["id"]])[1:]
        parts = {k.strip(): v for k, v in zip(halves[::2], halves[1::2])}
        pairs = []
        for field, label in LABELS.items():
            want = re.findall(r"`([^`]*)`", c.get(field) or "")
            got = re.findall(r"`([^`]*)`", parts.get(label, ""))
            pairs += zip(want, got) if len(want) == len(got) else [(str(want), str(got))]
        pairs += [(without_comment(c[field]), without_comment(parts[label]))
                  for field, label in (("save", "save first"), ("undo", "undo")) if c.get(field)]
        commands += len(pairs)
        wrong += [(columns, c["id"], want, got) for want, got in pairs
                  # JSON doubles backslashes
                  if shell_words(want.replace(r"\\", "\\")) != shell_words(got)]
ok(commands > 500 and not wrong,
   "at 60, 80 and 100 columns each command of the book reads the same",
   commands, *wrong[:5])
narrow = culprit("explain", "T02", prefix=("env", "COLUMNS=40")).out
ok(re.search(r"in short.*ps -eLo psr,tid,comm \| \\\n +awk '\$1 == \S+'\n", narrow, re.S),
   "and so does one in an entry's short advice", narrow)

done()
