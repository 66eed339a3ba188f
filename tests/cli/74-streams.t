#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Standard streams that are closed or full, limits of the shell, and a signal that the parent
ignores: nothing that is printed lands in a file of culprit's, and what could not be printed is an
error, said in one line."""
import os
import resource
import shutil
import signal
import stat
import subprocess
import tempfile

import lib
from lib import CULPRIT, ROOT, culprit, done, is_, ok

rooms = tempfile.TemporaryDirectory(prefix="culprit-test-")
place = rooms.name
REC = os.path.join(ROOT, "tests/fixtures/recordings/1.0/sleep.rec")
TRACE = os.path.join(ROOT, "tests/fixtures/osnoise/6.12.trace")
cpus = sorted(lib.ALLOWED & lib.online())
RUN = "-c", str(cpus[-1]), "-d", "50ms", "-q", "--no-trace"


def at(name):
    return os.path.join(place, name)


def content(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def run(*args, stdout=subprocess.PIPE, begin=None):
    """Its Result; `begin` is called in its process before it begins."""
    r = subprocess.run([CULPRIT, *args], stdin=subprocess.DEVNULL, stdout=stdout,
                       stderr=subprocess.PIPE, text=True, preexec_fn=begin, timeout=lib.HANG_S)
    return lib.Result(r.returncode, r.stdout, r.stderr, 0)


def closed(fds, *args):
    """Its status, and what it has printed, with these streams closed."""
    r = run(*args, begin=lambda: [os.close(fd) for fd in fds])
    return r.rc, r.out, r.err


# ---- closed ----
for fds in ((0,), (1,), (2,), (1, 2), (0, 1, 2)):
    name = " and ".join(("stdin", "stdout", "stderr")[fd] for fd in fds) + " closed"
    rc, out, err = closed(fds, "run", *RUN, "-o", at("out"))
    text = content(at("out"))
    ok((rc, out, err) == (0, "", "") and text.startswith("culprit ") and "\n" in text,
       f"{name}: run -o", rc, err, text[:200])
    rc, out, err = closed(fds, "report", REC, "-o", at("out"))
    is_((rc, out, err, content(at("out"))),
        (0, "", "", culprit("report", REC).out), f"{name}: report -o")
    # something is said meanwhile
    rc, out, err = closed(fds, "run", *RUN, "-o", at("out"), "--ready-file", "/nonexistent/x")
    text = content(at("out"))
    ok((rc, out, err.count("\n")) == (0, "", 2 not in fds) and text.startswith("culprit ")
       and "/nonexistent" not in text, f"{name}: what is said is not in the file", rc, err, text)
    for args in (("report", REC), ("record", *RUN, "--force", at("rec")), ("run", *RUN),
                 ("help",)):
        rc, out, err = closed(fds, *args)
        ok(rc == (1 in fds) and bool(out) == (1 not in fds)
           and err.count("\n") == (1 in fds and 2 not in fds), f"{name}: {args[0]}", rc, out, err)
    r = culprit("report", at("rec"))
    ok(r.rc == 0 and not r.err, f"{name}: the recording is whole", r)
    if not os.geteuid():
        rc, out, err = closed(fds, "try", "--undo", "--state", at("state"))
        ok(rc == (1 in fds) and err.count("\n") == (1 in fds and 2 not in fds),
           f"{name}: try --undo", rc, out, err)
rc, out, err = closed((0,), "report", "-")
ok(rc == 1 and err == "culprit: cannot read standard input: Bad file descriptor\n",
   "report of a standard input that is closed", rc, out, err)
rc, out, err = closed((1,), "report", REC, "-o", "/dev/stdout")
ok(rc == 1 and err.count("\n") == 1, "-o /dev/stdout that is closed", rc, out, err)
rc, out, err = closed((1,), "report", REC, "-o", "/dev/null")
ok((rc, err) == (0, ""), "-o /dev/null has nothing to do with it", rc, err)

# ---- full ----
PAIR = "-n", "100", "-q", "--no-trace"
ALL = [("help",), ("help", "run"), ("help", "reading"), ("help", "--man"), ("help", "--zsh"),
       ("version",), ("version", "--features"), ("run", "--help"), ("report", REC),
       ("report", "--rank", REC, REC), ("diff", REC, REC), ("plot", REC), ("audit", *RUN[:2]),
       ("audit", *RUN[:2], "--script"), ("explain",), ("explain", "K09"), ("clock", "-d", "100ms"),
       ("osnoise", "--input", TRACE), ("osnoise", "--input", TRACE, REC), ("run", *RUN),
       ("run", *RUN, "--style", "oslat"),
       ("record", *RUN, "--force", at("rec")), ("sleep", *RUN),
       ("sleep", *RUN, "--style", "cyclictest"), ("syscall", *RUN[:2], *PAIR)]
ALL += [("report", REC, "-f", form) for form in ("json", "csv", "markdown", "html", "perfetto",
                                                 "openmetrics", "hgrm", "hlog")]
if len(cpus) > 1:
    ALL += [("pingpong", *PAIR), ("queue", *PAIR, "-w", "100", "--producer", str(cpus[0]),
                                  "--accumulator", str(cpus[-1]), "--journaller", "none")]
if not os.geteuid():
    ALL += [("try", "--undo", "--state", at("state")),
            ("try", "--dry-run", "K01", *RUN[:2], "--state", at("state")),
            ("tune", "--dry-run", *RUN[:2], "--look", "300ms", "--state", at("state"))]
for args in ALL:
    with open("/dev/full", "w") as full:
        r = run(*args, stdout=full)
    ok(r.rc == 1 and r.err.startswith("culprit: ") and r.err.count("\n") == 1,
       f"a full standard output: {' '.join(os.path.basename(word) for word in args)}", r.err)
shutil.rmtree(at("state"), ignore_errors=True)

# ---- programs that it starts ----
os.mkdir(at("bin"))
# All but two of the C library's own (32 and 33), which nobody may set: posix_spawn() leaves them
# ignored, and so have children of make.
LOOK = r"grep -q '^SigIgn:.0*\(0\|8\|10\|18\)0\{7\}$' /proc/self/status"
for name, more in (("rsvg-convert", "cat"), ("trace-cmd", f"cat {TRACE}"),
                   ("stress-ng", "sleep 1000 & wait")):
    with open(os.path.join(at("bin"), name), "w") as f:
        f.write(f"#!/bin/sh\n{LOOK} || exit 3\n{more}\n")
    os.chmod(f.name, 0o755)
with open(at("trace.dat"), "wb") as f:
    f.write(b"\x17\x08\x44tracing" + bytes(100))
for name, *args in (("rsvg-convert", "plot", REC, "-o", at("x.png")),
                    ("trace-cmd", "osnoise", "--input", at("trace.dat")),
                    ("stress-ng", "sleep", *RUN[:2], "-n", "20", "-i", "1ms", "-q", "--no-trace",
                     "--load", "cpu:1", "--load-here"),
                    ("exec", "record", *RUN, "--last", "1s", "--when", "end", "--then",
                     f"exec:{LOOK} && touch {at('none')}", at("last"))):
    r = culprit(*args, prefix=("env", f"PATH={at('bin')}:{os.environ['PATH']}"))
    # culprit waits neither for ever for those that it killed nor for one to begin
    if "were killed and have not ended" in r.err or "did not run to the end" in r.err:
        lib.not_judged(f"{name} ignores no signal", r.err.strip())
        continue
    if name == "exec" and not r.rc:  # nor for its end
        lib.await_gone(lambda: not os.path.exists(at("none")))
    ok(r.rc == 0 and (name != "exec" or os.path.exists(at("none")))
       and (name != "stress-ng" or not r.err), f"{name} ignores no signal", r)

# ---- a parent that ignores its children's ends ----
# The kernel then keeps no child that has ended until somebody asks for it.
r = run("record", *RUN, at("rec-of-child"),
        begin=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
is_((r.rc, r.err), (0, ""), "SIGCHLD ignored: the end of the recording is seen")
os.unlink(at("rec-of-child"))

# ---- few descriptors, little memory, any umask ----
left = sorted(os.listdir(place))


def limited(what, *args, limit):
    """It works, or says why not: in a line, behind one that says what it did without."""
    r = run(*args, begin=limit)
    lines = r.err.splitlines()
    # ld.so, too, may have too little memory
    ok(r.rc == 127 and "error while loading shared libraries" in r.err
       or r.rc in (0, 1) and r.rc <= len(lines) <= 2
       and all(line.startswith("culprit: ") for line in lines), what, r)
    if os.path.exists(at("few")):
        os.unlink(at("few"))
    is_(sorted(os.listdir(place)), left, "and nothing is left")


# A sanitizer looks for leaks with a descriptor of its own, and says it where it has none.
LIMITS = [("descriptors", resource.RLIMIT_NOFILE, n, n) for n in (4, 6, 16)
          if n > 4 or not lib.sanitized()]
LIMITS += [("MB of addresses", resource.RLIMIT_AS, n, n << 20) for n in (16, 64)
           if not lib.sanitized()]
for what, limit, shown, n in LIMITS:
    for args in (("run", *RUN), ("run", *RUN, "-o", at("few")), ("report", REC),
                 ("report", REC, "-o", at("few")), ("record", *RUN, at("few"))):
        limited(f"{shown} {what}: {args[0]}{' -o' * ('-o' in args)}", *args,
                limit=lambda: resource.setrlimit(limit, (n, n)))
# Without rights a sampler makes interruptions with many timers: it raises a soft limit for them.
if os.geteuid() or shutil.which("setpriv"):
    drop = () if os.geteuid() else ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
    r = culprit("run", *RUN, prefix=(*drop, "sh", "-c", 'ulimit -Sn 60; exec "$@"', "sh"))
    is_((r.rc, r.err), (0, ""), "60 descriptors by a soft limit: a sampler raises it")
else:
    lib.skip("60 descriptors by a soft limit", "no setpriv")
for umask in 0o777, 0:
    for args in (("run", *RUN, "-o", at("few")), ("run", *RUN, "--textfile", at("few")),
                 ("report", REC, "-o", at("few")), ("record", *RUN, at("few")),
                 ("record", *RUN, "--last", "1s", "--when", "end", at("few"))):
        r = run(*args, begin=lambda: os.umask(umask))
        mode = 0o644 if "--textfile" in args else (0o600 if args[0] == "record" else 0o666) & ~umask
        is_((r.rc, stat.S_IMODE(os.stat(at("few")).st_mode)), (0, mode),
            f"umask {umask:o}: {' '.join(args[:1] + args[-2:-1])}")
        os.unlink(at("few"))
        is_(sorted(os.listdir(place)), left, "and nothing else is left")
done()
