# SPDX-License-Identifier: GPL-2.0-or-later
"""In a guest: planted.py TIMES, on CPU 0: TIMES times in a row, says NOW on the console and is in
getrandom() until the whole guest has been stopped, and prints when the call before that ended, and
when this one did, in ns of CLOCK_MONOTONIC. A stop that came before it was in the call it waits for
in vain: it says MISSED, and ends. planted.py 0: is in it for as long, now and then,
until it is killed, and says nothing."""
import os
import random
import sys
import time

STOPPED_NS = 150_000_000  # no less than this
MISSED_NS = 60_000_000_000
BUSY_S = 0.25
APART_S = 4.5
BYTES = 1 << 18


def main():
    times = int(sys.argv[1])
    os.sched_setaffinity(0, {0})
    with open("/proc/self/comm", "w") as comm:
        comm.write("planted")
    # Stays open: closing it waits until all is sent, and the stop would come meanwhile.
    console = os.open("/dev/console", os.O_WRONLY | os.O_NOCTTY)
    for k in range(times):
        time.sleep(APART_S)
        os.write(console, b"NOW %d\n" % k)
        since = begin = end = time.monotonic_ns()
        while end - begin < STOPPED_NS:
            if end - since > MISSED_NS:
                os.write(console, b"MISSED\n")
                return
            os.getrandom(BYTES)
            begin, end = end, time.monotonic_ns()
        print(begin, end, flush=True)
    while not times:
        time.sleep(random.uniform(0, 2 * APART_S))
        end = time.monotonic() + BUSY_S
        while time.monotonic() < end:
            os.getrandom(BYTES)


main()
