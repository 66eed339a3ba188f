#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit try, as far as it measures nothing: what it refuses, what it would do, and what it makes
of a journal that an earlier try has left. Nothing of the machine is changed: the setting that it is
about is a file of its own here, with a value that no fix gives."""
import ctypes
import json
import os
import shutil
import subprocess
import tempfile

import lib
from lib import culprit, done, is_, ok

lib.need_root()
CPU = max(lib.online())
ON = ("-c", str(CPU))
STATS = "/proc/sys/vm/stat_interval"
BOOT = lib.read("/proc/sys/kernel/random/boot_id")
libc = ctypes.CDLL(None, use_errno=True)
MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS = 4096, 16384, 1 << 18, 0x20000
BOUND = next(p for p in os.listdir("/proc") if p.isdigit()
             and lib.read(f"/proc/{p}/comm") == "ksoftirqd/0")
place = tempfile.mkdtemp()
INTERVAL = place + ".interval"
with open(INTERVAL, "w", encoding="ascii") as f:
    f.write("1\n")
if libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) or \
        libc.mount(INTERVAL.encode(), STATS.encode(), None, MS_BIND, None):
    os.unlink(INTERVAL)
    os.rmdir(place)
    lib.skip_all(f"no file can be bound over {STATS}: {os.strerror(ctypes.get_errno())}",
                 required=True)
LINK = place + ".link"
os.symlink("/etc/hostname", LINK)
STATE = os.path.join(place, "state")
TAKEN = tempfile.mkdtemp()  # holds a tuned profile
with open(os.path.join(TAKEN, "tuned.conf"), "w", encoding="ascii"):
    pass
PROFILE = os.path.join(place, "profile")
JOURNAL = os.path.join(STATE, "try.journal")


def attempt(*args, command="try"):
    return culprit(command, "--state", STATE, *args)


def refused(what, *args, says, command="try"):
    r = attempt(*args, command=command)
    ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and says in r.err, what, r,
       f"should say {says}")


for what, args, says in (
        ("an id that is none", ("K09x", *ON), "'K09x' is not the id of a cause"),
        ("a hostile word", ("\x1b[31m", *ON), "'\\x1b[31m' is not the id of a cause"),
        ("a number that is none", ("K34:-1", *ON), "'K34:-1': after the colon comes the number"),
        ("a number where there is none", ("K01:7", *ON), "leave out :7"),
        ("several without --together", ("K01", "K09", *ON), "--together"),
        ("a fix that is no setting", ("T01", *ON), "T01 cannot be tried"),
        ("a fix that takes CPUs away", ("H12", *ON), "H12 cannot be tried"),
        ("an interrupt's that cannot be moved", ("I02", *ON), "I02 cannot be tried"),
        ("a thread that is not there", ("K34:4194303", *ON), "it has ended"),
        ("a thread that is bound to its CPU", (f"K25:{BOUND}", *ON),
         "is bound to its CPUs"),
        ("one fix twice", ("K09", "K09", *ON), "'K09' is there twice"),
        ("too short", ("K01", "-d", "1s", *ON), "-d is too short"),
        ("without an end", ("K01", "-d", "forever", *ON), "-d: 'forever'"),
        ("one window a side", ("K01", "-n", "1", *ON), "-n: '1'"),
        ("--apply and --undo", ("--apply", "--undo"), "--apply"),
        ("--undo of one", ("--undo", "K01"), "leave out K01"),
        ("a recording that nothing is looked for in", ("K01", "-r", "/nonexistent", "--dry-run",
                                                       *ON), "leave out one of the two"),
        ("a recording that is no file", ("-r", "/dev/null", *ON), "is no regular file"),
        ("a recording from a pipe", ("-r", "-", *ON), "only a recording that is a file"),
        ("a recording by a link", ("-r", LINK, *ON), "it is a symbolic link"),
        ("a recording that is none", ("-r", "/proc/sys/kernel/ostype", *ON),
         "/proc/sys/kernel/ostype is not a recording of culprit"),
        ("a recording that is not there", ("-r", LINK + "x", *ON), "No such file"),
        ("no throttling of real-time samplers", ("T18", "-P", "f:1", "--dry-run", *ON),
         "leave out -P"),
        ("a fix that no write takes back to the byte", ("P10", *ON), "P10 cannot be tried"),
):
    refused(what, *args, says=says)
for what, args, says in (
        ("tune: a goal that is a trigger", ("--until", "hiccup>20us", *ON), "a < and a limit"),
        ("tune: too short", ("-d", "1s", *ON), "-d is too short"),
        ("tune: a profile that is there", ("--tuned", TAKEN, *ON), "holds a profile already"),
        ("tune: a file that cannot be", ("--ansible", "/nonexistent/x", *ON), "cannot write to"),
        ("tune: a profile that cannot be", ("--tuned", "/nonexistent/x", *ON),
         "cannot make the directory /nonexistent/x: No such file"),
        ("tune: a profile in a file", ("--tuned", "/etc/hostname", *ON),
         "cannot make the directory /etc/hostname: Not a directory"),
        ("tune: a profile where another file is", ("--tuned", PROFILE, "--ansible",
                                                   "/nonexistent/x", *ON), "/nonexistent/x: "),
        ("tune: an id that is none", ("K99", *ON), "'K99' is not the id of a cause"),
        ("tune: a profile of a dry run", ("--dry-run", "--tuned", place, *ON), "changes nothing"),
):
    refused(what, *args, says=says, command="tune")
ok(not os.path.exists(STATE) and not os.path.exists(PROFILE), "and nothing was written for that")

# ---- what would be done ----
before = lib.read(STATS)
r = attempt("K01", "--dry-run", "-f", "json", *ON)
told = json.loads(r.out) if r.rc == 0 else {}
is_((told.get("knobs"), told.get("in_force"), told.get("verdict")),
    ([{"kind": "file", "path": STATS, "before": before, "fix": "120"}], False, "not measured"),
    "--dry-run tells what it is and what it would be")
r = attempt("K01", "--dry-run", *ON)
ok(f"{STATS}: {before}, with the fix 120\n" in r.out and "nothing is changed" in r.out, "as text",
   r)
r = attempt("K01", "--dry-run", "-f", "markdown", *ON)
ok(r.rc == 0 and f"\n## What it changes\n\n* \\[K01\\] " in r.out
   and f"{before}, with the fix 120\n" in r.out, "as a ticket in Markdown", r)
r = attempt("K01", "--dry-run", "-f", "html", *ON)
ok(r.rc == 0 and f"<li>{STATS}: {before}, with the fix 120</li>" in r.out, "and in HTML", r)
# A recording of this machine, by the name that it has there: what took most time of what can be
# tried.
RECORDING = os.path.join(lib.ROOT, "tests/fixtures/recordings/2.0/four.rec")
AS_THAT = ("unshare", "-u", "sh", "-c", 'hostname numa-2 && exec "$0" "$@"')
r = culprit("try", "--state", STATE, "-r", RECORDING, "--dry-run", "-f", "json", *ON,
            prefix=AS_THAT)
told = json.loads(r.out) if r.rc == 0 else {}
ok([f["cause"] for f in told.get("fixes", [])] == ["K01"] and told.get("knobs") == [
    {"kind": "file", "path": STATS, "before": before, "fix": "120"}], "-r: its fix", r)
refused("-r of another machine", "-r", RECORDING, "--dry-run", *ON,
        says="was made on another machine, numa-2")
is_((lib.read(STATS), os.path.exists(STATE)), (before, False), "--dry-run changes nothing")

# ---- what earlier tries have left ----
is_(attempt("--undo").out, "no try has left anything to be put back\n", "--undo of nothing")
r = culprit("try", "--state", os.path.join(place, "none", "state"), "--undo")
is_((r.rc, r.out, r.err, os.path.exists(os.path.join(place, "none"))),
    (0, "no try has left anything to be put back\n", "", False),
    "where the directory would be there is none, nor is it made")


def leave(boot, *knobs, end=True):
    os.makedirs(STATE, mode=0o700, exist_ok=True)
    with open(JOURNAL, "w", encoding="ascii") as f:
        f.write("\n".join(["culprit try 1", f"boot {boot}", *knobs, *["end"] * end, ""]))
    os.chmod(JOURNAL, 0o600)


# As if it were 1 what another one has left at 120, and 120 is what the fix made of it.
OTHERS = f"knob file 0 ={STATS} =999 =120 =120"
leave("00000000-0000-0000-0000-000000000000", OTHERS)
r = attempt("--undo")
ok(r.rc == 0 and "rebooted since" in r.out and not os.path.exists(JOURNAL),
   "--undo after a reboot: there is nothing to be put back, and it says so", r)
leave(BOOT, OTHERS)
refused("a try after one that was killed", "K01", *ON, says="culprit try --undo first")
r = attempt("--undo")
ok(r.rc == 0 and "left as it is" in r.err and not os.path.exists(JOURNAL)
   and r.out == "put back: 0 settings\nleft as somebody else has set them: 1\n",
   "--undo leaves alone what somebody else has set since", r)
leave(BOOT, f"knob file 0 ={STATS} ={before} =120 -", end=False)
damaged = JOURNAL + ".damaged"


def kept(r, what, *lines):
    """A journal that was damaged: it stays beside, for what is not known."""
    with open(damaged, encoding="ascii") as f:
        text = f.read()
    ok(r.rc == 1 and r.err.endswith(
        f"culprit: {JOURNAL} was damaged: what else it said may still be set; it is kept as "
        f"{damaged}: look at it, then remove it\n") and not os.path.exists(JOURNAL) and
       all(line in text for line in lines), what, r, text)
    os.unlink(damaged)


refused("a try after a journal that is cut", "K01", *ON, says="culprit try --undo first")
leave(BOOT, f"knob file 0 ={STATS} =\x07 =120 -")
refused("nor is one written over of which nothing is known", "K01", *ON,
        says="culprit try --undo first")
leave(BOOT, f"knob file 0 ={STATS} ={before} =120 -", end=False)
r = attempt("--undo")
is_(r.out, "put back: 1 setting\n", "--undo of a journal that is cut")
kept(r, "says what it may lack, and keeps it", f"={STATS} ={before} =120 -")
os.makedirs(STATE, mode=0o700, exist_ok=True)
with open(damaged, "w", encoding="ascii") as f:
    f.write("an older one")
leave(BOOT, f"knob file 0 ={STATS} ={before} =120 -",
      "knob file 0 =/proc/sys/kernel/rand\x07mize_va_space =2 =0 =0",
      f"knob file 0 ={STATS} ={before} =130 -")
r = attempt("--undo")
is_(r.out, "put back: 2 settings\n", "--undo passes over a line that is damaged")
kept(r, "and keeps it, too", "rand\x07mize")
leave(BOOT, f"knob file 0 ={STATS} =999 =120 -")
r = attempt("--undo")
ok(r.rc == 0
   and f"to {before} since: at first there was 999, and the fix was to set 120" in r.err
   and r.out == "put back: 0 settings\nleft as somebody else has set them: 1\n",
   "also where both processes were killed while they turned it", r)
leave(BOOT, f"knob file 0 ={STATS} =120 ={before} unturned")
r = attempt("--undo")
ok((r.rc, r.out, r.err) == (0, "put back: 0 settings\n", "") and not os.path.exists(JOURNAL),
   "--undo of a fix that was not in force yet puts nothing back, whatever is set", r)
RENAMED = "/sys/class/net/culprit-none/queues/rx-0/rps_cpus"
leave(BOOT, f"knob file 0 ={RENAMED} =0 =1 =1")
r = attempt("--undo")
is_((r.rc, r.out, r.err), (0, "put back: 0 settings\nno longer there: 1\n", (
    f"culprit: {RENAMED} is no longer there: if its interface has another name by now, look "
    "there: it had '0' at first, and '1' with the fix\n")),
    "--undo of what an interface has taken along")
leave(BOOT, f"knob file 0 ={STATS} =120 ={before} unturned")
refused("nor has it to be before the next try", f"K25:{BOUND}", *ON,
        says="is bound to its CPUs")
leave(BOOT, "knob file 0 =/proc/sys/kernel/ostype =x =y =Linux")
for _ in range(2):
    r = attempt("--undo")
    ok(r.rc == 1 and not r.out and r.err == (
        "culprit: /proc/sys/kernel/ostype: x cannot be put back: Permission denied\n"
        f"culprit: what is left to be put back is in {JOURNAL}: culprit try --undo tries again; "
        "to give it up, remove that file\n"), "--undo of what cannot be put back", r)
refused("a try then", "K01", *ON, says="may not be back yet: run culprit try --undo first")
os.unlink(JOURNAL)
refused("and once it is given up", f"K25:{BOUND}", *ON, says="is bound to its CPUs")
leave(BOOT, "knob file 0 =/etc/hostname =x =y -")
r = attempt("--undo")
is_(r.out, "put back: 0 settings\n", "--undo never touches what is not the kernel's")
kept(r, "nor is that line lost", "/etc/hostname")
os.makedirs(STATE, mode=0o700, exist_ok=True)
with open(JOURNAL, "w", encoding="ascii") as f:
    f.write("culprit try 1\nboot 0000")
os.chmod(JOURNAL, 0o600)
refused("a journal that is cut before its boot", "--undo", says="is damaged")
refused("and a try with it", "K01", *ON, says="is damaged")
leave(BOOT, OTHERS)
os.chmod(JOURNAL, 0o666)
refused("a journal that others can write", "--undo", says="somebody else")

# A stranger has put it there: it says that the setting was 7, and 1 what a try made of it.
os.rename(JOURNAL, place + ".journal")
with open(place + ".journal", "w", encoding="ascii") as f:
    f.write(f"culprit try 1\nboot {BOOT}\nknob file 0 ={STATS} =7 ={before} ={before}\nend\n")
os.chmod(place + ".journal", 0o600)
os.symlink(place + ".journal", JOURNAL)
refused("a journal that is a link", "--undo", says="symbolic links")
os.unlink(JOURNAL)
os.mkfifo(JOURNAL, 0o600)
refused("one that is a pipe", "--undo", says="is damaged")
os.unlink(JOURNAL)
os.rename(place + ".journal", JOURNAL)
os.chown(JOURNAL, 65534, 65534)
refused("one of another user", "--undo", says="somebody else")
os.chown(JOURNAL, 0, 0)
for what, owner, mode in (("of another user", 65534, 0o700), ("that a group may write", 0, 0o770)):
    os.chown(STATE, owner, owner)
    os.chmod(STATE, mode)
    refused("a directory " + what, "--undo", says="somebody else")
os.chown(STATE, 0, 0)
os.chmod(STATE, 0o700)
os.rename(STATE, place + ".state")
os.symlink(place + ".state", STATE)
refused("a link to it", "--undo", says="cannot open")
refused("and a try with it", "K01", *ON, says="cannot open")
os.unlink(STATE)
os.rename(place + ".state", STATE)
is_(lib.read(STATS), before, "and nothing is written to")
os.unlink(JOURNAL)

# Without a journal on the disk nothing is changed.
with lib.small_disk(STATE, "size=4k,mode=700") as mounted:
    if not mounted:
        lib.skip("a disk that is full", "no tmpfs can be mounted here")
    else:
        with open(os.path.join(STATE, "fill"), "wb") as f:
            f.write(bytes(4096))
        refused("a disk that is full", "K01", "-q", *ON, says="No space left")
        is_(os.listdir(STATE), ["fill"], "and nothing is left there")
        subprocess.run(["mount", "-o", "remount,ro", STATE], check=True)
        refused("one that cannot be written", "K01", "-q", *ON, says="Read-only file system")
        is_(lib.read(STATS), before, "the setting is as it was")
attempt("--undo")
is_((lib.read(STATS), os.listdir(place)), (before, []), "all is as it was")
os.rmdir(place)
shutil.rmtree(TAKEN)
os.unlink(LINK)
os.unlink(INTERVAL)
done()
