#!/usr/bin/env python3
"""top in a real terminal: what it shows, its keys, narrow and wide, and the terminal afterwards as
it was before."""
import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time

import lib
from lib import CULPRIT, culprit, done, is_, ok

if not lib.shutil.which("tmux"):
    lib.skip_all("tmux is not installed", required=True)
lib.need_bpf()
cpu = lib.pick_target()
place = tempfile.mkdtemp()
SOCKET = os.path.join(place, "tmux")


def tmux(*args, check=True):
    return subprocess.run(["tmux", "-S", SOCKET, "-f", "/dev/null", *args], check=check,
                          capture_output=True, text=True).stdout


def screen():
    return tmux("capture-pane", "-p", "-t", "t")


def keys(*names):
    tmux("send-keys", "-t", "t", *names)


def await_screen(what, seconds=20):
    """Waits until all of these are on the screen; the screen."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        now = screen()
        if all(w in now for w in what):
            return now
        time.sleep(0.05)
    return screen()


def await_change(before, seconds=10):
    """Waits until the screen is another one; the screen."""
    lib.await_gone(lambda: screen() == before, seconds)
    return screen()


def start(*more):
    for name in "before", "after":
        with contextlib.suppress(FileNotFoundError):
            os.unlink(os.path.join(place, name))
    keys(f"clear; stty -g > {place}/before; {CULPRIT} top -c {cpu} {' '.join(more)}; echo rc $?; "
         f"stty -g > {place}/after", "Enter")
    return await_screen(["culprit top", "quit", "who"], lib.READY_MAX_S + 10)


def same_terminal(how, last=True):
    """last: the last screen stays, in plain lines; a crash leaves none."""
    await_screen(["rc "])
    now = screen()
    ok(("\nculprit top ·" in "\n" + now) == last and "rc " in now and "q quit" not in now
       and "\n>" not in now,
       f"{how}: the screen is the shell's again{', and has the last one' if last else ''}", now)
    lib.await_gone(lambda: not lib.read(f"{place}/after"))
    is_(lib.read(f"{place}/after"), lib.read(f"{place}/before"),
        f"{how}: the terminal's settings are as before")


r = culprit("top", "-c", str(cpu))
ok(r.rc == 1 and "needs a terminal" in r.err and r.err.count("\n") == 1,
   "without a terminal one line says so", r)

tmux("new-session", "-d", "-s", "t", "-x", "100", "-y", "30", "env", "-u", "NO_COLOR", lib.MARK,
     "PS1=$ ", "bash", "--norc")
noise = lib.spawn("timer", "-c", str(cpu), "-n", "3000", "-g", "10ms", path=lib.POKE)
try:
    first = start()
    ok("by the last second" in first and f"cpu {cpu}" in first, "it shows the CPU and how it sorts",
       first)
    now = await_screen(["local_timer"])
    ok("local_timer" in now and "T01" in now, "a source with its cause", now)
    ok(all(len(l) <= 100 for l in now.splitlines()), "no line is wider than the terminal", now)
    keys("Enter")
    now = await_screen(["of the last second", "what to do", "Esc back"])
    ok(re.search(rf"^cpu {cpu} .*· \w+ · ", now, re.M) and "interruption" in now
       and re.search(r"^\[[A-Z]\d\d\] ", now, re.M),
       "Enter shows the source under the cursor, its cause and what to do", now)
    keys("Escape", "Tab")
    now = await_screen(["who most"])
    ok(re.search(rf"^> *{cpu} ", now, re.M), "Tab lists the CPUs", now)
    keys("Enter")
    now = await_screen(["attributed", "Esc all CPUs"])
    ok(" hiccups · median " in now, "Enter there shows that CPU alone", now)
    keys("Escape", "Escape")
    now = await_screen(["Tab CPUs"])
    keys("Down", "Down", "Up")
    lib.await_gone(lambda: re.search(r" who\n>", screen()))
    now = screen()
    ok(" who\n " in now and "\n>" in now, "the cursor goes down", now)
    keys("g", "m")
    now = await_screen(["by the longest"])
    ok("by the longest" in now, "a key sorts", now)

    keys("p")
    paused = await_screen(["paused"])
    time.sleep(1.5)  # it moves each second
    is_(screen(), paused, "paused: nothing moves")
    keys("p")
    ok(await_change(paused) != paused, "and goes on", paused)
    keys("h")
    ok("quit; so does Ctrl-C" in await_screen(["quit; so"]), "a key explains", screen())
    keys("h")
    for width, height in ((40, 15), (80, 24), (100, 40), (20, 5)):
        tmux("resize-window", "-t", "t", "-x", str(width), "-y", str(height))
        now = await_change(screen())
        ok("culprit top" in now and all(len(l) <= width for l in now.splitlines())
           and len(now.splitlines()) <= height,
           f"{width} x {height}: it fits", now)
    tmux("resize-window", "-t", "t", "-x", "100", "-y", "30")
    keys("q")
    same_terminal("quit by key")
    ok("rc 0" in screen(), "quit by key: that is no error", screen())

    for name, sig in (("SIGINT", signal.SIGINT), ("SIGTERM", signal.SIGTERM),
                      ("SIGQUIT", signal.SIGQUIT)):
        start("--no-trace")
        pids = [p for p in subprocess.run(["pgrep", "-f", f"^{CULPRIT} top"], capture_output=True,
                                          text=True).stdout.split()]
        os.kill(int(min(pids, key=int)), sig)
        same_terminal(name, sig != signal.SIGQUIT)
    start("--no-trace")
    tmux("kill-session", "-t", "t")
    deadline = time.monotonic() + 15
    left = "?"
    while left and time.monotonic() < deadline:
        left = subprocess.run(["pgrep", "-f", f"^{CULPRIT} top"], capture_output=True,
                              text=True).stdout
        time.sleep(0.05)
    is_(left, "", "a closed terminal: nothing is left running")
finally:
    noise.terminate()
    lib.finish(noise, 20)
    tmux("kill-server", check=False)
    lib.shutil.rmtree(place, ignore_errors=True)
done()
