#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that a shell has no word for, again and again until it is killed.

    noise.py NAME CPU [...]     on this CPU; see the functions
"""
import ctypes
import fcntl
import itertools
import mmap
import os
import signal
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MEMBARRIER, PERF_EVENT_OPEN = (324, 298) if os.uname().machine == "x86_64" else (283, 241)
GAP_S = 0.02


def again(gap=GAP_S):
    while True:
        yield
        time.sleep(gap)


def perf(cpu, period_ns):
    """An event that samples a CPU by the software clock."""
    attr = ctypes.create_string_buffer(struct.pack("<IIQQ", 1, 64, 0, period_ns), 64)
    fd = LIBC.syscall(PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
    if fd < 0:
        sys.exit(f"perf_event_open: {os.strerror(ctypes.get_errno())}")
    return fd


def perf_samples(cpu="1"):
    """A profiler of one CPU with a fixed period of 10 ms."""
    perf(int(cpu), 10_000_000)
    signal.pause()


def perf_opens(cpu="1"):
    """A tool that opens counters of a CPU and closes them."""
    for _ in again():
        os.close(perf(int(cpu), 1_000_000_000))


def spin_here_and(cpu, beside):
    """A thread of this process spins on a CPU, outside the interpreter, beside another that does
    something."""
    def spin():
        os.sched_setaffinity(0, {int(cpu)})
        buffer = ctypes.create_string_buffer(1 << 20)
        while True:
            LIBC.memset(buffer, 0, 1 << 20)

    threading.Thread(target=spin, daemon=True).start()
    for _ in again():
        beside()


def munmap(cpu="1"):
    """Memory is unmapped beside a thread on a CPU."""
    def beside():
        with mmap.mmap(-1, 1 << 16) as m:
            m[:] = b"x" * (1 << 16)
    spin_here_and(cpu, beside)


def membarrier(cpu="1"):
    LIBC.syscall(MEMBARRIER, 1 << 4, 0, 0)  # MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
    spin_here_and(cpu, lambda: LIBC.syscall(MEMBARRIER, 1 << 3, 0, 0))


def itimer():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, GAP_S, GAP_S)
    while True:
        signal.pause()


def affinity():
    """Moves a thread that spins from CPU to CPU."""
    pid = os.fork()
    if not pid:
        while True:
            pass
    for cpu in itertools.cycle((0, 1)):
        os.sched_setaffinity(pid, {cpu})
        time.sleep(GAP_S)


def keyboard_leds():
    with open("/dev/tty0", "rb") as tty:
        for n, _ in enumerate(again()):
            fcntl.ioctl(tty, 0x4b32, n & 7)  # KDSETLED


def memory():
    """Small mappings are filled and given back."""
    for _ in again():
        with mmap.mmap(-1, 1 << 20) as m:
            m[:] = b"x" * (1 << 20)


if __name__ == "__main__":
    if sys.argv[2] != "-":
        os.sched_setaffinity(0, {int(sys.argv[2])})
    globals()[sys.argv[1]](*sys.argv[3:])
