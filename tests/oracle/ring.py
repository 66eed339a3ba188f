# SPDX-License-Identifier: GPL-2.0-or-later
"""The kernel's own trace: instances of ftrace, and their ring buffers read as they are, page by
page.

Nothing stays switched on: a process of its own waits for the end of this one, however it ends, and
removes the instances; tracefs is mounted in a mount namespace that ends with the two. What an
earlier run left is removed first.
"""
import contextlib
import ctypes
import glob
import os
import re
import signal
import struct
import sys
import time

PREFIX = "culprit-oracle-"
_libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000


class Cannot(Exception):
    """This machine has no trace to hold anything against."""


def find_tracefs():
    """Where it is mounted; mounts it for this process alone where nobody has."""
    for at in "/sys/kernel/tracing", "/sys/kernel/debug/tracing":
        if os.path.exists(at + "/instances"):
            return at
    at = "/sys/kernel/tracing"
    if _libc.unshare(CLONE_NEWNS) or _libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None):
        raise Cannot("no mount namespace of one's own: " + os.strerror(ctypes.get_errno()))
    if not os.path.isdir(at) or _libc.mount(b"tracefs", at.encode(), b"tracefs", 0, None):
        raise Cannot("no tracefs in this kernel")
    return at


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


def remove(instance):
    """Switches it off and removes it; a reader that is still there is waited for."""
    for name, text in ("tracing_on", "0"), ("events/enable", "0"):
        with contextlib.suppress(OSError):
            write(f"{instance}/{name}", text)
    for _ in range(100):
        try:
            return os.rmdir(instance)
        except FileNotFoundError:
            return None
        except OSError:
            time.sleep(0.05)
    raise Cannot(f"{instance} cannot be removed")


def remove_all(tracefs):
    for instance in glob.glob(f"{tracefs}/instances/{PREFIX}*"):
        remove(instance)


class Guard:
    """Removes the instances when this process is gone. One that is ended removes none that somebody
    makes after that."""

    def __init__(self, tracefs):
        self.tracefs = tracefs
        end, self.held = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(end)
            return
        os.setsid()
        for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
            signal.signal(number, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for fd in 0, 1, 2:
            os.dup2(null, fd)
        os.closerange(3, end)
        os.closerange(end + 1, 256)
        os.read(end, 1)
        with contextlib.suppress(Cannot, OSError):
            remove_all(tracefs)
        os._exit(0)

    def end(self):
        os.close(self.held)
        os.waitpid(self.pid, 0)


class Instance:
    def __init__(self, tracefs, name, cpus, events, kilobytes):
        """events: "system/event", those that this kernel does not have are left out."""
        self.at = f"{tracefs}/instances/{PREFIX}{name}"
        self.cpus = cpus
        os.mkdir(self.at)
        write(self.at + "/tracing_on", "0")
        write(self.at + "/trace_clock", "mono")
        mask = f"{sum(1 << c for c in cpus):x}"
        write(self.at + "/tracing_cpumask", ",".join(re.findall(".{1,8}", mask[::-1]))[::-1])
        write(self.at + "/buffer_size_kb", "4")
        for cpu in cpus:
            write(f"{self.at}/per_cpu/cpu{cpu}/buffer_size_kb", str(kilobytes))
        self.events = [e for e in events if os.path.isdir(f"{self.at}/events/{e}")]
        for e in self.events:
            write(f"{self.at}/events/{e}/enable", "1")

    def stacks_of(self, event, condition):
        """Each time, or on a condition."""
        path = f"{self.at}/events/{event}/trigger"
        with contextlib.suppress(OSError):
            write(path, "!stacktrace")
        with contextlib.suppress(OSError):
            write(path, f"stacktrace if {condition}" if condition else "stacktrace")

    def switch(self, on):
        write(self.at + "/tracing_on", str(int(on)))

    def clear(self):
        write(self.at + "/trace", "")

    def lost(self, cpu):
        """Events that this CPU's buffer does not hold: overwritten, or dropped."""
        stats = dict(line.split(":")
                     for line in read(f"{self.at}/per_cpu/cpu{cpu}/stats").splitlines())
        return sum(int(stats[k]) for k in ("overrun", "commit overrun", "dropped events"))

    def pages(self, cpu):
        size = int(re.search(r"char data;\s*offset:(\d+);\s*size:(\d+)",
                             read(self.at + "/events/header_page"))[2]) + 16 \
            if os.path.exists(self.at + "/events/header_page") else 4096
        fd = os.open(f"{self.at}/per_cpu/cpu{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while page := _read(fd, size):
                yield page
        finally:
            os.close(fd)


def _read(fd, size):
    try:
        return os.read(fd, size)
    except BlockingIOError:
        return b""


MISSED = 1 << 31  # in a page's length: events are missing before it


def raw_events(pages):
    """(ns, offset of the event's data, page) of each event; see include/linux/ring_buffer.h and
    kernel/trace/ring_buffer.c."""
    for page in pages:
        now, commit = struct.unpack_from("<QQ", page)
        if commit & MISSED:
            raise Cannot("events are missing in the trace")
        at, end = 16, 16 + (commit & 0xfffff)
        word = struct.Struct("<I").unpack_from
        while at < end:
            head, = word(page, at)
            kind, delta = head & 31, head >> 5
            if kind <= 28:
                now += delta
                if kind:
                    yield now, at + 4, page
                    at += 4 + 4 * kind
                else:
                    yield now, at + 8, page
                    at += 4 + word(page, at + 4)[0]
            elif kind == 29:
                if not delta:
                    break
                now += delta
                at += 4 + word(page, at + 4)[0]
            else:
                high = word(page, at + 4)[0]
                if kind == 30:
                    now += high << 27 | delta
                else:
                    now = now & 0xf8 << 56 | high << 27 | delta
                at += 8


class Format:
    """Where the fields of one event lie."""

    CODES = {(1, 0): "B", (1, 1): "b", (2, 0): "H", (2, 1): "h", (4, 0): "I", (4, 1): "i",
             (8, 0): "Q", (8, 1): "q"}

    def __init__(self, text):
        self.id = int(re.search(r"^ID: (\d+)", text, re.M)[1])
        self.fields = {}
        for name, array, offset, size, signed in re.findall(
                r"^\tfield:[^;]*?(\w+)(\[[^\]]*\])?;\toffset:(\d+);\tsize:(\d+);\tsigned:(\d);",
                                                            text, re.M):
            code = f"{size}s" if array else self.CODES.get((int(size), int(signed)))
            if code:
                self.fields[name] = int(offset), code

    def getter(self, names):
        """A function (page, at) -> values of these fields; a field that this kernel does not have
        is None."""
        known = [(n, *self.fields[n]) for n in names if n in self.fields]
        if len(known) == len(names) and [o for _, o, _ in known] == sorted(o for _, o, _ in known):
            text, at = "<", 0
            for _, offset, code in known:
                text += f"{offset - at}x" * (offset > at) + code
                at = offset + struct.calcsize("<" + code)
            return struct.Struct(text).unpack_from
        parts = [(self.fields[n][0], struct.Struct("<" + self.fields[n][1])) if n in self.fields
                 else None for n in names]
        return lambda page, at: tuple(p and p[1].unpack_from(page, at + p[0])[0] for p in parts)


STACK_WORDS = struct.Struct("<I")


def decode(instance, cpu, wanted):
    """[(ns, event name, flags, pid, values)] of one CPU, in order of time. wanted: {event: field
    names}; a stack has the name "stack" and its addresses."""
    known = {}
    for event in instance.events:
        f = Format(read(f"{instance.at}/events/{event}/format"))
        name = event.split("/")[1]
        if name in wanted:
            known[f.id] = name, f.getter(wanted[name])
    head = struct.Struct("<HBBi").unpack_from
    stack = None
    path = f"{instance.at}/../../events/ftrace/kernel_stack/format"
    if os.path.exists(path):
        stack = Format(read(path)).id
    out = []
    for now, at, page in raw_events(instance.pages(cpu)):
        kind, flags, _, pid = head(page, at)
        if kind in known:
            name, get = known[kind]
            out.append((now, name, flags, pid, get(page, at)))
        elif kind == stack:
            count, = STACK_WORDS.unpack_from(page, at + 8)
            out.append((now, "stack", flags, pid, struct.unpack_from(f"<{count}Q", page, at + 16)))
    return out
