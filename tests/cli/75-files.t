#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The files that culprit writes as root, in a directory where anybody may write: what a neighbour
has planted there is neither followed nor kept."""
import contextlib
import ctypes
import errno
import json
import os
import re
import resource
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import threading
import time
import xml.etree.ElementTree

from lib import (AT_ONCE_S, CULPRIT, HANG_S, ROOT, Result, await_gone, culprit, done, is_,
                 need_root, ok, sanitized)

need_root()
os.umask(0o027)
NOBODY = 65534
REC = os.path.join(ROOT, "tests/fixtures/recordings/1.0/sleep.rec")
rooms = tempfile.TemporaryDirectory(prefix="culprit-test-")
os.chmod(rooms.name, 0o755)
shared, private = os.path.join(rooms.name, "shared"), os.path.join(rooms.name, "private")
os.mkdir(shared)
os.chmod(shared, 0o1777)
os.mkdir(private, 0o755)
victim = os.path.join(rooms.name, "victim")
RUN = ("run", "-c", str(max(os.sched_getaffinity(0))), "-d", "50ms", "-q", "--no-trace")
WAYS = {"-o": ("report", REC, "-f", "json", "-o"), "-o in lines": (*RUN, "-f", "jsonl", "-o"),
        "--hiccups": (*RUN, "--hiccups"), "--ready-file": (*RUN, "--ready-file"),
        "--textfile": (*RUN, "--textfile"), "plot -o": ("plot", REC, "-f", "svg", "-o"),
        "a PNG": ("plot", REC, "-f", "png", "-o")}
report = culprit(*WAYS["-o"][:-1]).out


def plant(where, what):
    path = os.path.join(where, "planted")
    if os.path.lexists(path):
        os.unlink(path)
    if what == "link":
        os.symlink(victim, path)
    else:
        with open(path, "w") as f:
            f.write("theirs")
        os.chmod(path, 0o666)
    os.lchown(path, NOBODY, NOBODY)
    return path


def content(path):
    with open(path) as f:
        return f.read()


for name, way in WAYS.items():
    with open(victim, "w") as f:
        f.write("precious")
    path = plant(shared, "link")
    r = culprit(*way, path)
    said = r.err.splitlines()
    refused = r.rc == 1 or name == "--ready-file"
    ok(refused and content(victim) == "precious" and os.path.islink(path)
       and len([s for s in said if path in s]) == 1, f"{name}: a planted link is refused", r)

    path = plant(shared, "file")
    with open(path) as theirs:
        r = culprit(*way, path)
        st = os.stat(path)
        mode = 0o644 if name == "--textfile" else 0o640
        ok(r.rc == 0 and (st.st_uid, stat.S_IMODE(st.st_mode)) == (0, mode)
           and theirs.read() == "theirs" and content(path) != "theirs" if name != "a PNG" else
           r.rc == 0 and st.st_uid == 0 and theirs.read() == "theirs",
           f"{name}: the file of another is replaced by a new one", r, oct(st.st_mode), st.st_uid)
    is_(os.listdir(shared), ["planted"], f"{name}: nothing else is left there")

raw = os.path.join(shared, "planted." + RUN[2])
os.symlink(victim, raw)
r = culprit(*RUN, "--raw", os.path.join(shared, "planted"))
ok(r.rc == 1 and raw in r.err and content(victim) == "precious", "--raw: a planted link is refused",
   r)

os.symlink(private, os.path.join(shared, "way"))
r = culprit(*WAYS["-o"], os.path.join(shared, "way", "x"))
ok(r.rc == 1 and "a symbolic link in a directory" in r.err and os.listdir(private) == [],
   "a link on the way there is refused", r)
with open(os.path.join(private, "x"), "w") as f:
    f.write("precious")
for name, *way in (("a recording", "record", *RUN[1:], "--force"), ("-r", *RUN, "--force", "-r"),
                   ("record --last", "record", *RUN[1:], "--last", "1s", "--when", "end")):
    r = culprit(*way, os.path.join(shared, "way", "" if name.endswith("last") else "x"))
    ok(r.rc == 1 and "a symbolic link in a directory" in r.err and os.listdir(private) == ["x"]
       and content(os.path.join(private, "x")) == "precious",
       f"{name}: a link on the way there is refused", r, os.listdir(private))
os.unlink(os.path.join(private, "x"))
for name, *way in (("record --last", "record", *RUN[1:3], "-d", "9s", "--last", "1s"),
                   ("audit --tuned", "audit", "-c", "0", "--tuned"),
                   ("tune --tuned", "tune", "-c", "0", "--until", "worst<1s", "--tuned")):
    for end in "new/", "":
        r = culprit(*way, os.path.join(shared, "way", end))
        ok(r.rc == 1 and "a symbolic link in a directory" in r.err and os.listdir(private) == []
           and "measur" not in r.err and r.out == "",
           f"{name}: a link on the way to a directory{' that is to be made' if end else ''} is "
           "refused, and nothing is made", r, os.listdir(private))

# A file without a name gets one by /proc alone.
path = os.path.join(private, "x")
r = culprit(*WAYS["-o"], path, prefix=("unshare", "-m", "sh", "-c",
                                       'mount -t tmpfs none /proc && exec "$0" "$@"'))
if not sanitized():  # one that looks for leaks needs /proc
    ok(r.rc == 0 and content(path) == report, "a report where /proc is not mounted", r)
os.unlink(path)
gone = os.path.join(private, "gone")
r = culprit(*WAYS["-o"], "x", prefix=("sh", "-c", f'mkdir {gone}; cd {gone} && rmdir {gone} && '
                                      'exec "$0" "$@"'))
ok(r.rc == 1 and "cannot write to x: No such file or directory" in r.err,
   "in a directory that was removed", r)

for where, theirs in (private, False), (os.path.join(rooms.name, "theirs"), True):
    os.makedirs(where, exist_ok=True)
    if theirs:
        os.chown(where, NOBODY, NOBODY)
    r = culprit("audit", "-c", "0", "--tuned", where)
    is_(("another user may put other files there" in r.err, sorted(os.listdir(where))),
        (theirs, ["script.sh", "tuned.conf"]),
        f"a tuned profile in {'a directory of another' if theirs else 'one of its own'}")
    shutil.rmtree(where)
os.mkdir(private, 0o755)

path = os.path.join(shared, "device")
os.symlink("/dev/null", path)
r = culprit("record", *RUN[1:], path)
forced = culprit("record", *RUN[1:], "--force", path)
ok(r.rc == 1 and "exists already" in r.err and forced.rc == 0
   and stat.S_ISREG(os.lstat(path).st_mode), "record: a link to a device is not followed", r,
   forced)
os.unlink(path)

# ---- a directory of another user, who changes what is in it ----
theirs = os.path.join(rooms.name, "theirs")
for path in theirs, os.path.join(theirs, "sub"):
    os.mkdir(path)
    os.chmod(path, 0o755)
    os.chown(path, NOBODY, NOBODY)
os.symlink("sub", os.path.join(theirs, "inner"))
os.symlink(private, os.path.join(theirs, "way"))
for link in "inner", "way":
    os.lchown(os.path.join(theirs, link), NOBODY, NOBODY)
before = os.listdir(private)
for name, way in {**WAYS, "record": ("record", *RUN[1:]), "-r": (*RUN, "-r")}.items():
    with open(victim, "w") as f:
        f.write("precious")
    path = plant(theirs, "link")
    r = culprit(*way, path)
    ok((r.rc == 1 or name == "--ready-file") and content(victim) == "precious" and path in r.err
       and os.path.islink(path), f"{name}: another user's link out of theirs is refused", r)
    r = culprit(*way, os.path.join(theirs, "way", "x"))
    ok((r.rc == 1 or name == "--ready-file") and "of another user" in r.err
       and os.listdir(private) == before, f"{name}: so is one on the way there", r)
    r = culprit(*way, os.path.join(theirs, "inner", "x"))
    ok(r.rc == 0 and os.listdir(os.path.join(theirs, "sub")) == ["x"],
       f"{name}: one to another directory of theirs is followed", r)
    os.unlink(os.path.join(theirs, "sub", "x"))
path = plant(theirs, "link")
os.unlink(path)
os.symlink("/dev/null", path)
os.lchown(path, NOBODY, NOBODY)
r = culprit(*WAYS["-o"], path)
ok(r.rc == 1 and "of another user" in r.err, "another user's link to a device is refused", r)
os.unlink(path)
for owner, mode in (NOBODY, 0o755), (0, 0o775):
    os.chown(theirs, owner, NOBODY)
    os.chmod(theirs, mode)
    path = os.path.join(theirs, "fifo")
    os.mkfifo(path)
    os.chown(path, NOBODY, NOBODY)
    end = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    r = culprit(*WAYS["-o"], path)
    again = culprit("record", *RUN[1:], path)
    is_((r.rc, "another user's pipe" in r.err, again.rc, "exists already" in again.err,
         os.read(end, 1)), (1, True, 1, True, b""),
        f"another user's fifo where a stranger may write (mode {mode:o}) is refused")
    os.close(end)
    os.unlink(path)
os.chown(theirs, NOBODY, NOBODY)
os.chmod(theirs, 0o755)

for link, error in (("loop", "Too many links"), ("loop/x", "Too many links")):
    if not os.path.lexists(os.path.join(private, "loop")):
        os.symlink("loop", os.path.join(private, "loop"))
    r = culprit(*WAYS["-o"], os.path.join(private, link))
    ok(r.rc == 1 and error in r.err, f"{link}: links without an end are refused", r)
os.unlink(os.path.join(private, "loop"))

# The run has the directory, whatever its owner puts in its place, and looks again each time.
SAYS = "the run goes on, and tries again"
for what in "link", "fifo", "directory is a link":
    path = os.path.join(theirs, "sub", "x")
    said = os.path.join(rooms.name, "said")
    with open(victim, "w") as f:
        f.write("precious")
    with open(said, "w") as f:
        run = subprocess.Popen([CULPRIT, *RUN[:3], "-d", "1h", "-q", "--no-trace", "--textfile",
                                path, "--textfile-interval", "100ms"], stdout=subprocess.DEVNULL,
                               stderr=f)

    def put():
        if what == "directory is a link":
            os.rename(os.path.join(theirs, "sub"), os.path.join(theirs, "sub2"))
            os.symlink(private, os.path.join(theirs, "sub"))
            os.lchown(os.path.join(theirs, "sub"), NOBODY, NOBODY)
            return
        made = path + ".made"
        os.symlink(victim, made) if what == "link" else os.mkfifo(made)
        os.lchown(made, NOBODY, NOBODY)
        os.rename(made, path)

    def unsaid():
        """What comes after the look, and before the file has its name, is gone: once more."""
        if what != "directory is a link" and stat.S_ISREG(os.lstat(path).st_mode):
            put()
        return run.poll() is None and SAYS not in content(said)

    await_gone(lambda: run.poll() is None and not os.path.exists(path))
    put()
    await_gone(unsaid)
    time.sleep(0.3)  # some more times, of which nothing is said
    run.send_signal(signal.SIGINT)
    run.wait(timeout=HANG_S)
    err = content(said)
    Result(run.returncode, "", err, 0)  # knows when the samplers had no CPU
    ok(run.returncode == 1 and err.count(SAYS) == 1
       and content(victim) == "precious" and os.listdir(private) == before,
       f"--textfile: its {what}, while it runs: nothing is written to, and nothing waits", err,
       run.returncode)
    if what != "directory is a link":
        os.unlink(path)

# ---- a file that grows from run to run ----
cpus = sorted(os.sched_getaffinity(0))
journal = ("queue", "-n", "200", "-w", "100", "-l", "8", "--no-trace", "-q", "--producer",
           str(cpus[0]), "--journaller", str(cpus[-1]), "--accumulator", "none", "--journal")
with open(victim, "w") as f:
    f.write("precious")
for what, holds in (("link", "precious"), ("file", "theirs")):
    path = plant(shared, what)
    r = culprit(*journal, path)
    ok(r.rc == 1 and r.err.count("\n") == 1 and path in r.err and content(path) == holds,
       f"--journal: a planted {what} is refused", r)
path = os.path.join(shared, "hard link")  # only where fs.protected_hardlinks is 0 is it another's
os.link(victim, path)
r = culprit(*journal, path)
ok(r.rc == 1 and r.err.count("\n") == 1 and path in r.err and content(victim) == "precious",
   "--journal: so is another name of one's own file", r)
os.unlink(path)
path = os.path.join(private, "journal")
if len(cpus) > 1:
    with open(path, "w") as f:
        f.write("before")
    r = culprit(*journal, path)
    with open(path, "rb") as f:
        ok(r.rc == 0 and f.read(6) == b"before" and os.path.getsize(path) == 6 + 8 * 300,
           "--journal appends to one's own", r, os.path.getsize(path))
    os.unlink(path)

# ---- what goes on to work ----
link = plant(private, "link")
r = culprit(*WAYS["-o"], link)
ok(r.rc == 0 and os.path.islink(link) and content(victim) == report,
   "a link in a directory of one's own is followed, and stays", r)
os.unlink(link)
os.symlink(os.path.join(shared, "planted"), link)
plant(shared, "link")
r = culprit(*WAYS["-o"], link)
ok(r.rc == 1 and link in r.err and content(victim) == report, "a link to a planted link is refused",
   r)

fifo = os.path.join(shared, "fifo")
os.mkfifo(fifo)
got = []
reader = threading.Thread(target=lambda: got.append(content(fifo)), daemon=True)
reader.start()
r = culprit(*WAYS["-o"], fifo)
reader.join(HANG_S)
ok(r.rc == 0 and got == [report] and stat.S_ISFIFO(os.stat(fifo).st_mode), "-o to a fifo", r)
waits = os.path.join(shared, "waits.rec")
os.mkfifo(waits)
for place in ("/proc/self/mem", "/proc/nothing"):
    why = f" {place}: files are made anew, and its directory takes no new ones"
    r = culprit(*RUN, "-o", place)
    is_((r.rc, r.err), (1, f"culprit: cannot write to{why}; choose another file with -o\n"),
        f"{place}: the reason")
    r = culprit("record", *RUN[1:], "--force", place)
    is_((r.rc, r.err), (1, f"culprit: cannot record to{why}\n"), f"{place}: also of record")
r = culprit("report", waits)
ok(r.rc == 1 and "is not a file" in r.err, "a fifo in a recording's place is refused, unread", r)
r = culprit("record", *RUN[1:], waits)
ok(r.rc == 1 and "nobody reads from it" in r.err,
   "record to a fifo does not wait for its reader", r)
with open(waits, "rb", buffering=0, opener=lambda *_: os.open(waits, os.O_RDWR)):
    r = culprit("record", *RUN[1:], "-t", "100us", "--max-hiccup", "50us", waits)
ok(r.rc == 1 and "nobody can tell" in r.err and stat.S_ISFIFO(os.lstat(waits).st_mode),
   "a fifo stays, where nothing is recorded into it", r)
ready = os.path.join(private, "ready")
os.symlink("/dev/full", link := os.path.join(private, "full"))
with subprocess.Popen([CULPRIT, "record", *RUN[1:3], *RUN[5:], "-d", "10m", "--last", "1s",
                       "--when", "SIGUSR1", "--after", "1ms", "--then", "keep", "--then", "stop",
                       "--ready-file", ready, "--force", link],
                      stderr=subprocess.PIPE, text=True) as proc:
    await_gone(lambda: proc.poll() is None and not os.path.exists(ready))
    proc.send_signal(signal.SIGUSR1)
    said = proc.communicate(timeout=HANG_S)[1]
Result(proc.returncode, "", said, 0)
ok("No space left" in said and os.path.islink(link), "nor does a link go when writing fails", said)
for path in link, ready:
    os.unlink(path)
verdicts = os.path.join(private, "verdicts.xml")
with subprocess.Popen([CULPRIT, "record", *RUN[1:3], *RUN[5:], "-d", "10m", "--last", "1s",
                       "--when", "SIGUSR1", "--after", "1ms", "--then", "stop", "--max-hiccup",
                       "9m", "--junit", verdicts, "--ready-file", ready,
                       os.path.join(private, "none.rec")], stdout=subprocess.PIPE,
                      stderr=subprocess.PIPE, text=True) as proc:
    await_gone(lambda: proc.poll() is None and not os.path.exists(ready))
    proc.send_signal(signal.SIGUSR1)
    said = proc.communicate(timeout=HANG_S)
Result(proc.returncode, *said, 0)
cases = ([(c.get("name"), c.find("failure") is not None) for c in
          xml.etree.ElementTree.parse(verdicts).iter("testcase")]
         if os.path.exists(verdicts) else [])
is_((proc.returncode, cases), (2, [("--then stop", True), ("--max-hiccup 9.0 min", False),
                                   ("as much was measured as asked for", False)]),
    "a run that a trigger stops is judged, and its verdicts say that it was")
for path in verdicts, ready:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
# The maker of one would read what a run tells of the machine.
for path in fifo, waits:
    os.chown(path, 65534, 65534)
ends = [os.open(path, os.O_RDONLY | os.O_NONBLOCK) for path in (fifo, waits)]
r = culprit(*WAYS["-o"], fifo)
ok(r.rc == 1 and "another user's pipe" in r.err,
   "another user's fifo in a directory where anybody may write is refused", r)
r = culprit("record", *RUN[1:], waits)
ok(r.rc == 1 and "exists already" in r.err, "by record, too", r)
r = culprit("record", *RUN[1:], "--force", waits)
ok(r.rc == 0 and stat.S_ISREG(os.stat(waits).st_mode), "which replaces it with --force", r)
is_([os.read(end, 1) for end in ends], [b"", b""], "and nothing has come out of them")
for end in ends:
    os.close(end)
r = culprit(*WAYS["-o"], "/dev/null")
ok(r.rc == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), "-o /dev/null", r)
is_(culprit(*WAYS["-o"], "/dev/stdout").out, report, "-o /dev/stdout, a pipe")
out = os.path.join(private, "out")
command = f'{{ echo first; "$0" "$@" /dev/stdout; }} >{out}'
subprocess.run(["sh", "-c", command, CULPRIT, *WAYS["-o"]], check=True)
is_(content(out), "first\n" + report, "-o /dev/stdout, a file that the shell has opened")
command = '"$0" "$@" >(cat)'
r = subprocess.run(["bash", "-c", command, CULPRIT, *WAYS["-o"]], stdout=subprocess.PIPE, text=True)
is_(r.stdout, report, "-o to a pipe of the shell")

# ---- a run that fails ----
kept = os.path.join(private, "kept")
with open(kept, "w") as f:
    f.write("before")
r = culprit("report", "/nonexistent", "-o", kept)
ok(r.rc == 1 and content(kept) == "before", "what was there stays when there is no report", r)
r = culprit("report", "/nonexistent", "-o", kept + "2")
ok(r.rc == 1 and not os.path.exists(kept + "2"), "nor is there a new file", r)
NEVER = {"a limit below the threshold": ("-t", "100us", "--max-hiccup", "50us"),
         "a begin that is over": ("--begin", "@1")}
OVER = {"record --force": ("record", *RUN[1:], "--force"), "--hiccups": (*RUN, "--hiccups"),
        "run --record": (*RUN, "--force", "--record")}
for why, fails in NEVER.items():
    for way, args in OVER.items():
        r = culprit(args[0], *fails, *args[1:], kept)
        ok(r.rc == 1 and os.path.exists(kept) and content(kept) == "before",
           f"{way}: what was there stays after {why}", r)
with subprocess.Popen([CULPRIT, "record", *RUN[1:3], *RUN[5:], "-d", "10m", "--ready-file", ready,
                       "--force", kept], stderr=subprocess.PIPE) as proc:
    await_gone(lambda: proc.poll() is None and not os.path.exists(ready))
    new = os.stat(kept)
    proc.kill()
    err = proc.communicate(timeout=HANG_S)[1]
os.unlink(ready)
await_gone(lambda: culprit("report", kept).rc, AT_ONCE_S)  # time for its writer
r = culprit("report", kept, "-f", "json")
ok(new.st_mode == stat.S_IFREG | 0o600 and r.rc == 0 and json.loads(r.out)["run"]["incomplete"],
   "record --force that is killed leaves what it has measured", err, r)
is_(sorted(os.listdir(private)), ["kept", "out", "planted"], "nothing else is left")

# ---- a disk that is full ----
rec = os.path.join(private, "cut.rec")
with open(kept, "rb") as f:
    old = f.read()
for limit in (10, 1024):
    for name, *way in ("record", "record", *RUN[1:]), ("run --record", *RUN, "--record"):
        r = culprit(*way, kept, "--force", prefix=("prlimit", f"--fsize={limit}"))
        with open(kept, "rb") as f:
            ok(r.rc == 1 and not r.out and f.read() == old and r.err.count("\n") == 1
               and f"cannot record to {kept}: File too large; what is there stays" in r.err,
               f"{limit} bytes of room: {name} leaves the old recording as it was", r)
for limit in (10, 1024, 4096):
    with contextlib.suppress(FileNotFoundError):
        os.unlink(rec)
    r = culprit("record", *RUN[1:], "--force", rec, prefix=("prlimit", f"--fsize={limit}"))
    said = re.search(r"stops here: File too large; (?:its first (\d+) bytes|nothing of it) can be "
                     "read$", r.err, re.M)
    if not ok(r.rc == 1 and not r.out and said and r.err.count("\n") == 1,
              f"{limit} bytes of room: record says that it stops, and no size", r):
        continue
    r = culprit("report", rec, "-f", "json")
    if said[1]:
        ok(f"at byte {said[1]}:" in json.loads(r.out)["run"]["incomplete"],
           "as much as it says can be read", said[1], r)
    else:
        ok(r.rc == 1 and limit == 10, "nothing of it can be read", r)
for name, way in {**WAYS, "run -o": (*RUN, "-o"), "--raw": (*RUN, "--raw"), "-r": (*RUN, "-r"),
                  "audit -o": ("audit", *RUN[1:3], "-o"), "explain -o": ("explain", "K09", "-o"),
                  "diff -o": ("diff", REC, REC, "-o")}.items():
    path = os.path.join(private, "cut")
    r = culprit(*way, path, prefix=("prlimit", "--fsize=200"))
    if name == "--ready-file":  # has no bytes
        ok(r.rc == 0 and os.path.getsize(path) == 0, f"200 bytes of room: {name}", r)
    else:
        ok(r.rc == 1 and sum(path in line for line in r.err.splitlines()) == 1
           and ("File too large" in r.err or name == "a PNG"),
           f"200 bytes of room: {name} says so, and ends with 1", r)
    for left in "cut", "cut." + RUN[2]:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(private, left))
journals = os.path.join(private, "try")
r = culprit("try", "K01", *RUN[1:3], "--state", journals, prefix=("prlimit", "--fsize=20"))
ok(r.rc == 1 and "File too large" in r.err and not os.path.exists(journals),
   "20 bytes of room: a try that cannot keep what it has to put back is none", r)
with open(out, "wb") as f:
    r = subprocess.run(["prlimit", "--fsize=200", CULPRIT, "report", REC], stdout=f,
                       stderr=subprocess.PIPE, text=True)
ok(r.returncode == 1 and r.stderr.count("\n") == 1 and "File too large" in r.stderr,
   "200 bytes of room on standard output: report says so", r)
r = culprit("record", *RUN[1:], "--force", rec)
ok(r.rc == 0 and f" in {os.path.getsize(rec):,} bytes;" in r.out,
   "with room enough it says the size of the file", r, os.path.getsize(rec))
is_(sorted(os.listdir(private)), ["cut.rec", "kept", "out", "planted"], "nothing else is left")
for name in "my run.rec", "a;b.rec", "it's$(x).rec", "b\\.rec", "-x.rec", "a\x1b.rec":
    r = culprit("record", *RUN[1:], "--", name, prefix=("env", "-C", private))
    _, told, command = r.out.partition("; read it with: ")
    want = ["culprit", "report", "./-x.rec" if name[0] == "-" else name]
    ok(r.rc == 0 and r.out.count("\n") == 1
       and (not told if "\x1b" in name else shlex.split(command) == want),
       f"{name!r}: the command that record tells reads this file", r)
    os.unlink(os.path.join(private, name))

# ---- a directory that is not to be searched ----
os.mkdir(os.path.join(rooms.name, "closed"), 0o700)
public = shutil.copy(CULPRIT, rooms.name)
path = os.path.join(shared, "absolute")
nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
r = culprit("version", "-o", path, path=public,
            prefix=("env", "-C", os.path.join(rooms.name, "closed"), *nobody))
ok(r.rc == 0 and not r.err and os.stat(path).st_uid == NOBODY,
   "-o with an absolute path, in a directory that the user may not search", r)
shutil.rmtree(shared)

# ---- a file system on which each file has a name, as vfat ----


def no_tmpfile():
    """The kernel says so from here on: a filter of open calls."""
    call = {"x86_64": 257, "aarch64": 56}[os.uname().machine]  # openat
    code = [(0x20, 0, 0, 0), (0x15, 0, 3, call), (0x20, 0, 0, 32),  # number; third argument
            (0x45, 0, 1, 0o20000000), (0x06, 0, 0, 0x00050000 | errno.EOPNOTSUPP),  # O_TMPFILE
            (0x06, 0, 0, 0x7fff0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
    program = struct.pack("HxxxxxxQ", len(code), ctypes.addressof(text))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # no_new_privs, seccomp
        raise OSError(ctypes.get_errno(), "a filter")


if os.uname().machine in ("x86_64", "aarch64"):
    named = os.path.join(private, "named")
    os.mkdir(named)
    path = os.path.join(named, "x")
    for name, want, least, *args in (("it is put in place", 0, 0, REC),
                                     ("no report", 1, 0, "/nonexistent"),
                                     ("out of memory", 1, 2 << 20, REC)):
        if least and sanitized():
            continue

        def limited():
            no_tmpfile()
            if least:
                resource.setrlimit(resource.RLIMIT_DATA, (least, least))

        r = subprocess.run([CULPRIT, "report", *args, "-o", path], preexec_fn=limited, text=True,
                           capture_output=True)
        ok(r.returncode == want and os.listdir(named) == ([] if want else ["x"])
           and ("out of memory" in r.stderr) == bool(least),
           f"{name}: no temporary file is left", r, os.listdir(named))
        for left in os.listdir(named):
            os.unlink(os.path.join(named, left))
    for how in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        # not ignored, as it is behind nohup
        r = subprocess.Popen([CULPRIT, "report", "-", "-o", path], stdin=subprocess.PIPE,
                             stderr=subprocess.PIPE, preexec_fn=lambda how=how: (
                                 signal.signal(how, signal.SIG_DFL), no_tmpfile()))
        await_gone(lambda: r.poll() is None and not os.listdir(named))
        began = os.listdir(named)
        r.send_signal(how)
        _, err = r.communicate(timeout=HANG_S)
        ok(began and began[0].startswith(".culprit-") and r.returncode == -how
           and os.listdir(named) == [], f"{how.name} leaves no temporary file", began, err,
           r.returncode, os.listdir(named))
done()
