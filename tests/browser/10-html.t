#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The HTML report in a real browser: nothing to complain of on its console, nothing asked of any
network, and it is drawn: wide and narrow, light and dark, and on paper. Needs Chromium: `make
check-browser` installs it."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
import browser
import lib
from lib import done, is_, ok

if not browser.find():
    lib.skip_all("Chromium is not here; make check-browser installs it")
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.dirname(lib.CULPRIT))
where = tempfile.mkdtemp(prefix="culprit-test-")
subprocess.run([os.path.join(BUILD, "tests", "unit", "report_files"), where], check=True)


def pixels(png):
    """(width, height, the rows' bytes) of a PNG without interlacing, 8 bits a channel."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, head = 8, b"", b""
    while at < len(png):
        size, kind = int.from_bytes(png[at:at + 4], "big"), png[at + 4:at + 8]
        head = png[at + 8:at + 8 + size] if kind == b"IHDR" else head
        data += png[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    width, height = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:8], "big")
    channels = {2: 3, 6: 4}[head[9]]
    raw, stride, rows = zlib.decompress(data), width * channels, []
    last = bytes(stride)
    for y in range(height):
        how, row = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1)
                                                        + 1:(y + 1) * (stride + 1)])
        for x in range(stride if how else 0):
            left, up = row[x - channels] if x >= channels else 0, last[x]
            corner = last[x - channels] if x >= channels else 0
            nearest = min((abs(left + up - corner - v), n, v) for n,
                          v in enumerate((left, up, corner)))[2]
            row[x] = row[x] + (0, left, up, (left + up) // 2, nearest)[how] & 255
        rows.append(bytes(row))
        last = rows[-1]
    return width, height, channels, rows


def colours(png):
    """How many pixels have which colour; every third row is enough."""
    width, _, channels, rows = pixels(png)
    count = {}
    for row in rows[::3]:
        for x in range(width):
            colour = tuple(row[x * channels:x * channels + 3])
            count[colour] = count.get(colour, 0) + 1
    return count


page = browser.Page()
for name in ("one", "two", "hostile"):
    path = os.path.join(where, name + ".html")
    page.look(1200)
    seconds = page.open(path)
    ok(0 < seconds < 2, f"{name}: opens within 2 s of a CPU", seconds)
    is_(page.errors, [], f"{name}: the console is quiet")
    is_([u for u in page.requests if not u.startswith(("file://" + where, "data:"))], [],
        f"{name}: nothing is asked of a network")
    is_(page.eval("document.querySelectorAll('script, iframe, object, img').length"), 0,
        f"{name}: no script, frame or image")
    for width in (1200, 360):
        page.look(width)
        ok(page.eval("document.documentElement.scrollWidth") <= width,
           f"{name}: {width} pixels are wide enough for it")

page.open(os.path.join(where, "one.html"))
for dark in (False, True):
    for width in (1200, 360):
        page.look(width, dark)
        seen = colours(page.screenshot(whole=False))
        background = max(seen, key=seen.get)
        what = f"{'dark' if dark else 'light'}, {width} pixels wide"
        ok((sum(background) < 150) == dark and (sum(background) > 700) != dark,
           what + ": the background is", background)
        strong = sum(n for c, n in seen.items() if max(c) - min(c) > 100)
        ok(len(seen) > 50 and strong > 500, what + ": it is drawn, in colours", len(seen), strong)
pdf = page.pdf()
ok(pdf[:5] == b"%PDF-" and len(pdf) > 20000, "it can be printed", len(pdf))
box = ("JSON.stringify([...document.querySelectorAll('.strip i')]"
       ".map(e => e.getBoundingClientRect().width))")
widths = json.loads(page.eval(box))
ok(widths and min(widths) > 0, "all spans of the strips can be seen", widths)
page.close()
shutil.rmtree(where)
done()
