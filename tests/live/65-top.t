#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""top in a real terminal: what it shows, its keys, narrow and wide, and the terminal afterwards as
it was before."""
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import termios
import time

import lib
from lib import CULPRIT, culprit, done, is_, ok

if not lib.shutil.which("tmux"):
    lib.skip_all("tmux is not installed", required=True)
lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
place = tempfile.mkdtemp()
SOCKET = os.path.join(place, "tmux")


def tmux(*args, check=True):
    return subprocess.run(["tmux", "-S", SOCKET, "-f", "/dev/null", *args], check=check,
                          capture_output=True, text=True).stdout


def screen():
    return tmux("capture-pane", "-p", "-t", "t")


def keys(*names):
    tmux("send-keys", "-t", "t", *names)


def await_screen(what, seconds=lib.HANG_S):
    """Waits until the screen is as wanted: it has all of these texts, or `what` says so of it; the
    screen. One that is being drawn has not all of it yet, and another second may have."""
    wanted = what if callable(what) else lambda now: all(w in now for w in what)
    deadline = time.monotonic() + seconds
    while not wanted(now := screen()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return now


def shows(name, *what, **kwargs):
    """One test: soon the screen has all of these texts, and is as those that can be called say."""
    def wanted(now):
        return all(w(now) if callable(w) else w in now for w in what)

    return ok(wanted(now := await_screen(wanted, **kwargs)), name, now)


def still():
    """The screen, once it has been the same for half a second: nothing is being drawn."""
    now, since = screen(), time.monotonic()
    while time.monotonic() < since + 0.5:
        time.sleep(0.05)
        if (after := screen()) != now:
            now, since = after, time.monotonic()
    return now


def fits(width, height=30):
    return lambda now: (all(len(line) <= width for line in now.splitlines())
                        and len(now.splitlines()) <= height)


def start(*more):
    for name in "before", "after":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(place, name))
    keys("clear", "Enter")
    await_screen(lambda now: now.strip() == "$")  # the end of the one before is not that of this
    keys(f"stty -g > {place}/before; {CULPRIT} top -c {cpu} {' '.join(more)}; echo rc $?; "
         f"stty -g > {place}/after", "Enter")
    await_screen(lambda now: all(w in now for w in ("culprit top", "quit", "who"))
                 or re.search(r"^rc \d", now, re.M), lib.READY_MAX_S + 10)
    said = re.search("^culprit: .*$", tmux("capture-pane", "-pJ", "-t", "t"), re.M)
    if said:
        lib.Result(1, "", said[0], 0)  # lib knows one that starved


def same_terminal(how, last=True):
    """last: the last screen stays, in plain lines; a crash leaves none."""
    shows(f"{how}: the screen is the shell's again{', and has the last one' if last else ''}",
          "rc ", lambda now: ("\nculprit top ·" in "\n" + now) == last and "q quit" not in now
          and "\n>" not in now)
    lib.await_gone(lambda: not lib.read(f"{place}/after"))
    is_(lib.read(f"{place}/after"), lib.read(f"{place}/before"),
        f"{how}: the terminal's settings are as before")


def tops():
    """The processes of top that run: {number: its parent's}."""
    found = {}
    for pid, _ in lib.marked():
        fields = lib.stat(pid)
        if fields and lib.read(f"/proc/{pid}/cmdline").startswith(CULPRIT + "\0top\0"):
            found[pid] = int(fields[1])
    return found


def first_of(processes):
    """The one that has begun the others: after the largest number comes a small one."""
    return next(pid for pid, parent in processes.items() if parent not in processes)


@contextlib.contextmanager
def stopped_terminal():
    """As after Ctrl-S, which top's own screen does not have."""
    way = os.open(tmux("display", "-p", "-t", "t", "#{pane_tty}").strip(), os.O_RDWR | os.O_NOCTTY)
    termios.tcflow(way, termios.TCOOFF)
    try:
        yield
    finally:
        termios.tcflow(way, termios.TCOON)
        os.close(way)


def takes_its_time(name):
    if tops():
        is_(lib.await_gone(tops), {}, f"{name}: it ends after its time")
    else:
        lib.not_judged(name, "it had ended before the terminal stopped")


r = culprit("top", "-c", str(cpu))
ok(r.rc == 1 and "needs a terminal" in r.err and r.err.count("\n") == 1,
   "without a terminal one line says so", r)

tmux("new-session", "-d", "-s", "t", "-x", "100", "-y", "30", "env", "-u", "NO_COLOR", lib.MARK,
     "PS1=$ ", "bash", "--norc")
noise = lib.spawn("timer", "-c", str(cpu), "-n", "100000", "-g", "10ms", path=lib.POKE)
try:
    start()
    shows("it shows the CPU and how it sorts", "by the last second", f"cpu {cpu}")
    shows("a source with its cause", "local_timer > hrtimer_wakeup", "T10")
    shows("no line is wider than the terminal", fits(100))
    keys("Enter")
    shows("Enter shows the source under the cursor, its cause and what to do",
          "of the last second", "what to do", "Esc back", "interruption",
          lambda now: re.search(rf"^cpu {cpu} .*· \w+ · ", now, re.M)
          and re.search(r"^\[[A-Z]\d\d\] ", now, re.M))
    keys("Escape", "Tab")
    shows("Tab lists the CPUs", "who most", lambda now: re.search(rf"^> *{cpu} ", now, re.M))
    keys("Enter")
    shows("Enter there shows that CPU alone", "attributed", "Esc all CPUs", " hiccups · median ")
    keys("Escape", "Escape")
    await_screen(["Tab CPUs"])
    keys("Down", "Down", "Up")
    # The cursor stays with its source, which may be the first one for a second.
    shows("the cursor goes down", " who\n ", "\n>")
    keys("g", "m")
    shows("a key sorts", "by the longest")

    keys("p")
    await_screen(["paused"])
    paused = still()
    time.sleep(1.5)  # rows move each second
    ok("paused" in paused and screen() == paused, "paused: nothing moves", paused, screen())
    keys("p")
    shows("and goes on", lambda now: now != paused)
    keys("h")
    shows("a key explains", "quit; so does Ctrl-C")
    keys("h")
    for width, height in ((40, 15), (80, 24), (100, 40), (20, 5)):
        tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))
        shows(f"{width} x {height}: it fits", "culprit top", fits(width, height))
    tmux("resize-window", "-t", "t", "-x", "100", "-y", "30")
    keys("q")
    same_terminal("quit by key")
    shows("quit by key: that is no error", "rc 0")

    for name, sig in (("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM),
                      ("SIGQUIT", signal.SIGQUIT), ("SIGUSR1", signal.SIGUSR1),
                      ("SIGALRM", signal.SIGALRM), ("a real-time signal", signal.SIGRTMAX)):
        start("--no-trace")
        os.kill(first_of(tops()), sig)
        same_terminal(name, sig in (signal.SIGINT, signal.SIGTERM))
    start("--no-trace")
    keys("C-s")
    time.sleep(1.5)  # drawn each second
    os.kill(first_of(tops()), signal.SIGTERM)
    same_terminal("Ctrl-S and SIGTERM")
    name = "a terminal that takes nothing"
    start("--no-trace", "-d", "4s")
    with stopped_terminal():
        takes_its_time(name)
    lib.await_gone(lambda: not lib.read(f"{place}/after"))
    is_(lib.read(f"{place}/after"), lib.read(f"{place}/before"), "and restores its settings")
    start("--no-trace", "-d", "4s")
    with stopped_terminal():
        for pid in tops():
            if lib.read(f"/proc/{pid}/comm") == "culprit-sampler":
                os.kill(pid, signal.SIGSTOP)  # said at the end: it did not come back
        takes_its_time(f"{name}, with something to say")
    lib.await_gone(lambda: not lib.read(f"{place}/after"))
    keys(f"clear; {CULPRIT} run -c {cpu} --no-trace -d 3s -f json -o {place}/report"
         f" --ready-file {place}/ready; echo rc $?", "Enter")
    lib.await_gone(lambda: not os.path.exists(f"{place}/ready"))
    with stopped_terminal():
        is_(lib.await_gone(lambda: not os.path.exists(f"{place}/report")), False,
            f"{name}: its progress does not stop run")
    await_screen(["rc "])
    keys(f"clear; {CULPRIT} top -c {cpu} --no-trace & wait $!; echo it was $?", "Enter")
    shows("in the background one line says that it cannot", "it was 1\n", "in the background")
    start("--no-trace")
    tmux("kill-session", "-t", "t")
    is_(lib.await_gone(tops), {}, "a closed terminal: nothing is left running")
finally:
    noise.terminate()
    lib.finish(noise)
    tmux("kill-server", check=False)
    lib.shutil.rmtree(place, ignore_errors=True)
done()
