#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What culprit osnoise does with the settings of the kernel's tracer, before anything is measured.
The tracer is a directory of files of its own here, so switching it on fails at the end: there is no
instance's current_tracer."""
import ctypes
import os
import shutil
import tempfile

import lib
from lib import culprit, done, is_, ok

lib.need_root()
ROOT = "/sys/kernel/tracing"
STATE = "/run/culprit-osnoise.state"
OTHER = "instances/osnoise_hist"
MS_BIND, MS_REC, MS_PRIVATE, CLONE_NEWNS = 4096, 16384, 1 << 18, 0x20000
libc = ctypes.CDLL(None, use_errno=True)
place = tempfile.mkdtemp()
CPU = str(max(lib.online()))


def put(name, text):
    path = os.path.join(place, "tracing", name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def bind(what, where):
    return libc.mount(what.encode(), where.encode(), None, MS_BIND, None)


def knobs():
    """To the byte, as the kernel would get it."""
    text = []
    for name in ("cpus", "options"):
        with open(f"{ROOT}/osnoise/{name}", encoding="ascii") as f:
            text.append(f.read())
    return text


def leave(text):
    with open(STATE, "w", encoding="ascii") as f:
        f.write(text)


def start(*more):
    return culprit("osnoise", "-c", CPU, "-d", "1s", *more)


put("available_tracers", "timerlat osnoise nop\n")
put("current_tracer", "nop\n")
put("osnoise/cpus", "0-1\n")
put("osnoise/options", "NO_OSNOISE_WORKLOAD NO_PANIC_ON_STOP\n")
put(OTHER + "/current_tracer", "osnoise\n")
os.mkdir(os.path.join(place, "run"))
if not os.path.isdir(ROOT) or libc.unshare(CLONE_NEWNS) or \
        libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) or \
        bind(place + "/tracing", ROOT) or bind(place + "/run", "/run"):
    shutil.rmtree(place)
    lib.skip_all(f"nothing can be bound over {ROOT}: {os.strerror(ctypes.get_errno())}",
                 required=True)

# ---- another one's measurement ----
leave("1 0-3\n")
before = knobs()
for more in (), ("--alternate",):
    r = start(*more)
    ok(r.rc == 1 and r.err.count("\n") == 1 and f"is in use already ({ROOT}/{OTHER})" in r.err,
       "another user is left alone" + " ".join(("", *more)), r)
    is_((knobs(), lib.read(STATE)), (before, "1 0-3"),
        "also by what a killed run has left to put back, which stays to be done")
shutil.rmtree(os.path.join(ROOT, OTHER))

# ---- putting back ----
r = start()
ok(r.rc == 1 and r.err.startswith("culprit: cannot switch on the osnoise tracer: No such file")
   and r.err.count("\n") == 1, "then that is put back, and the tracer switched on", r)
is_(knobs(), ["0-3\n", "OSNOISE_WORKLOAD\n"],
    "each setting is as it was before the run that was killed, and written with an end")
ok(not os.path.exists(STATE), "and nothing is left")

put("osnoise/cpus", "0-1\n")
leave("1 0-3\n0-1\n")
start()
is_(knobs()[0], "0-3\n", "CPUs that are still those that it had set")
for now, said in ("1\n", True), ("0-3\n", False):
    put("osnoise/cpus", now)
    leave("1 0-3\n0-1\n")
    r = start()
    stays = f"{ROOT}/osnoise/cpus stays '1', as somebody else has set it meanwhile; it was '0-3' "
    is_((knobs()[0], stays + "before" in r.err, os.path.exists(STATE)), (now, said, False),
        "CPUs that somebody else has set since stay so")
# ---- what cannot be put back ----
leave("1 0-2\n")
CANNOT = (f"culprit: cannot set {ROOT}/osnoise/cpus back to '0-2': No space left on device: set it "
          f"by hand and remove {STATE}, or the next run of culprit osnoise tries again\n")
bind("/dev/full", ROOT + "/osnoise/cpus")
for once in "it is said", "and again":
    r = start()
    is_((r.rc, r.err, lib.read(STATE)), (1, CANNOT, "1 0-2"),
        f"what cannot be put back is known to the next run: {once}")
libc.umount2((ROOT + "/osnoise/cpus").encode(), 2)
start()
is_((knobs()[0], os.path.exists(STATE)), ("0-2\n", False), "which puts it back when it can")

# ---- the instance of a run that was killed ----
MINE = "instances/culprit-osnoise"
AGAIN = ("end who has a file of it open, and the next run of culprit osnoise tries again "
         f"({STATE})\n")
leave("0 0-2\n")
put(MINE + "/current_tracer", "osnoise\n")
before = knobs()
bind("/dev/full", f"{ROOT}/{MINE}/current_tracer")
r = start()
is_((r.rc, r.err), (1, f"culprit: cannot switch off the osnoise tracer of {ROOT}/{MINE}: "
                    f"No space left on device: {AGAIN}"), "one that cannot be switched off is said")
is_((knobs(), lib.read(STATE)), (before, "0 0-2"),
    "and its settings stay, with which its threads would begin anew")
libc.umount2(f"{ROOT}/{MINE}/current_tracer".encode(), 2)
r = start()
is_((r.rc, r.err), (1, f"culprit: cannot remove {ROOT}/{MINE}: Directory not empty: {AGAIN}"),
    "so is one that cannot be removed")
is_((knobs(), lib.read(STATE)), (["0-2\n", "NO_OSNOISE_WORKLOAD\n"], "0 0-2"),
    "which is off: the settings are put back, and the rest stays to be done")
shutil.rmtree(os.path.join(ROOT, MINE))
start()
ok(not os.path.exists(STATE), "and is done when it can be")

# ---- what could not be put back later ----
bind("/dev/full", ROOT + "/osnoise/cpus")
before = lib.read(ROOT + "/osnoise/options")
r = start()
is_((r.rc, r.err), (1, f"culprit: {ROOT}/osnoise/cpus is '', and the kernel does not take that "
                    "again: No space left on device: it could not be put back, and is left so\n"),
    "a list that the kernel does not take back is not changed")
is_((lib.read(ROOT + "/osnoise/options"), os.path.exists(STATE)), (before, False),
    "nor is anything else, and nothing is left")
libc.umount2((ROOT + "/osnoise/cpus").encode(), 2)

libc.umount2(b"/run", 2)
libc.umount2(ROOT.encode(), 2)
shutil.rmtree(place)
done()
