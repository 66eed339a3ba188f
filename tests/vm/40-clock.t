#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit clock with a PTP hardware clock: an emulated network card's, whose driver offers all ways
but one. With LONG=1 alone."""
import json
import re

from guests import lab, need, need_long, run
from lib import done, is_, ok, skip, skip_all, take_turn

need_long()
take_turn(shared=True)

KERNEL = "6.12"  # with the core of PTP built in
WAYS = ["clock_gettime", "PTP_SYS_OFFSET", "PTP_SYS_OFFSET_EXTENDED", "PTP_SYS_OFFSET_PRECISE"]
JOB = """
LONG=1 tests/live/67-clock.t >/tmp/out/without
culprit run -c 1 --no-trace -q -d 4s -o /tmp/out/run --ready-file /tmp/ready 2>/tmp/out/steps &
until [ -e /tmp/ready ]; do sleep 0.1; done
sleep 1.2
date -s @$(($(date +%s) + 9000)) >/dev/null
sleep 1.2
date -s @$(($(date +%s) - 19800)) >/dev/null
wait
insmod /e1000e.ko
begun=$(date +%s)
culprit clock -d 1s -f json -o /tmp/out/card eth0
echo $? >/tmp/out/rc
date -s @$begun >/dev/null
culprit clock -d 100ms -o /tmp/out/text /dev/ptp0
/usr/bin/setpriv --reuid=65534 --clear-groups culprit clock -d 60s /dev/ptp0 2>/tmp/out/nobody
date -s @$((begun - 37)) >/dev/null
culprit clock -d 100ms -o /tmp/out/tai eth0
LONG=1 tests/live/67-clock.t ptp >/tmp/out/with
"""

kernel, = need(KERNEL)
try:
    driver = lab.modules(kernel, "e1000e")
except lab.Failed as why:
    skip_all(str(why), required=True)
rc, out, err, text = run(kernel, JOB, devices=["e1000e,romfile="], files=driver,
                         counted=2)
ok(rc == 0 and text["rc"].strip() == "0", "the job ends well in the guest", rc, out, err, text)

device, = json.loads(text["card"])["devices"]
is_((device["operand"], device["path"]), ("eth0", "/dev/ptp0"), "the interface leads to its device")
is_([w["name"] for w in device["ways"]], WAYS, "all ways are tried")
is_([w["error"] for w in device["ways"]], [None, None, None, "not supported"],
    "and the driver has three of them")
for w in device["ways"][:3]:
    ok(w["least_ns"] <= w["offset_ns"] <= w["most_ns"] and 0 < w["delay_ns"] < 1e9
       and 0 < w["call_min_ns"] <= w["call_p50_ns"],
       f"{w['name']}: offset, delay and the call's time", w)
ok(device["time_scale"] == "UTC" and device["applied_ns"] == 0, "it was set to UTC when it began",
   device)
ok(device["max_adjustment_ppb"] > 0 and device["cross_time_stamps"] == 0, "what it can", device)
still = device["rate_ppm"] < 0  # before QEMU 10; from then on it runs 2.5 times as fast as it says
ok(abs(device["rate_ppm"] - (-1e6 if still else 1.5e6)) < 1000, "its rate is what QEMU makes it",
   device["rate_ppm"])
ok("PTP_SYS_OFFSET_PRECISE: not supported" in text["text"], "the text says what it cannot",
   text["text"])
if still:
    ok("it stands still" in text["text"] and "it keeps UTC" in text["text"],
       "and that it stands still", text["text"])
    ok("it keeps TAI: 37 s are taken off" in text["tai"], "a clock that is 37 s ahead keeps TAI",
       text["tai"])
else:
    skip("UTC and TAI", "the card of this QEMU runs away from both")
ok(re.fullmatch(r"culprit: cannot open /dev/ptp0: Permission denied \(run with sudo\)\n",
                text["nobody"]), "it takes a privilege",
   text["nobody"])
is_(re.findall(r"culprit: the system clock was set (\w+) by (\d)", text["steps"]),
    [("forward", "2"), ("back", "5")],
    "a run says that the clock was set, by 2.5 h, and back by 5.5 h")
ok("4.0" in text["run"].splitlines()[0], "and its own time is what it was asked for", text["run"])
for name in "without", "with":
    ok(re.search(r"^1\.\.\d+$", text[name], re.M) and "not ok" not in text[name],
       f"the live test passes {name} a hardware clock", text[name])
ok("/dev/ptp0 can be read" in text["with"] and "/dev/ptp0 can be read" not in text["without"],
   "which it finds")
done()
