#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whose threads are under a real systemd, which a guest starts: services, scopes and slices as it
makes them, of its own and of a user's manager, and with the names that its clients ask for: of
containers, pods and virtual machines. All are gone before the report."""
import glob
import json
import os

from guests import lab, need, need_long, run
from lib import cpu_of, done, is_, ok, skip_all, take_turn

need_long()
take_turn(shared=True)
kernel, = need("6.12")
SYSTEMD = "/lib/systemd/systemd"
programs = [SYSTEMD, "/usr/bin/systemd-run", "/usr/bin/nsenter"]
for path in programs:
    if not os.path.exists(path):
        skip_all(f"there is no {path}")
programs += glob.glob("/lib/systemd/systemd-executor")
programs += glob.glob("/usr/lib/*/systemd/libsystemd-*.so")
files = {path: path for path in programs} | lab.libraries(programs, lab.MACHINES["amd64"])

ID = "0123456789abcdef" * 4
POD = "1b2c3d4e_0a1b_4c5d_8e9f_001122334455"
BOX = f"container {ID[:12]}"
IN_POD = f"pod {POD.replace('_', '-')} · {BOX}"
# Options of systemd-run, and whose the thread is then.
CASES = [
    ("--unit=served", "served.service"),
    ("--scope --unit=mine", "mine.scope"),
    ("--scope --slice=batch-night --unit=late", "late.scope"),
    ("--slice=batch-night --unit=nightly", "nightly.service"),
    ("--user --scope --slice=app --unit=app-browser-7",
     "app-browser-7.scope of user 1000"),
    ("--user --unit=player", "player.service of user 1000"),
    ("--scope --slice=user-1000 --unit=session-3", "session 3 of user 1000"),
    (f"--scope --unit=docker-{ID}", BOX),
    (f"--scope --slice=machine --unit=libpod-{ID}", BOX),
    (f"--scope --slice=kubepods-burstable-pod{POD} --unit=cri-containerd-{ID}", IN_POD),
    (f"--scope --slice=kubepods-besteffort-pod{POD} --unit=crio-{ID}", IN_POD),
    ("--scope --slice=machine --unit=machine-qemu\\\\x2d1\\\\x2dname", "machine name"),
]
BURN = ("import os, time; os.sched_setaffinity(0, {1}); b = time.time(); "
        "all(time.time() - b < .1 for _ in iter(int, 1))")
INSIDE = "nsenter -t $P -m -p env XDG_RUNTIME_DIR=/run/user/1000"
JOB = f"""
mkdir -p /etc/systemd/system /etc/systemd/user /run
echo ID=lab >/etc/os-release
for where in system user; do
	for target in lab sysinit basic shutdown; do
		printf '[Unit]\\nDefaultDependencies=no\\n' >/etc/systemd/$where/$target.target
	done
done
printf '[Unit]\\nDefaultDependencies=no\\n[Service]\\nType=notify\\nDelegate=yes\\n\
Slice=user-1000.slice\\nEnvironment=XDG_RUNTIME_DIR=/run/user/1000\\n\
ExecStart={SYSTEMD} --user --unit=lab.target\\n' >/etc/systemd/system/user@1000.service
env -i PATH=$PATH container=lab SYSTEMD_LOG_TARGET=console unshare -fpm --mount-proc sh -c '
	mount -t tmpfs none /run && mkdir -p /run/user/1000 &&
	exec {SYSTEMD} --system --unit=user@1000.service' >/tmp/said 2>&1 &
# Until the user's manager listens, however long that takes here.
until P=$(pidof systemd) && P=$(echo $P | tr ' ' '\\n' | sort -n | head -1) &&
	[ -e /proc/$P/root/run/user/1000/systemd/private ] || ! kill -0 $!; do
	sleep 0.1
done
cat /tmp/said
culprit run -c 1 -d 1h -q -f json -o /tmp/out/report --no-audit --ready-file /tmp/ready &
c=$!
until [ -e /tmp/ready ] || ! kill -0 $c; do usleep 10000; done
n=0
while read -r options; do
	ln -s /usr/bin/python3 /tmp/case-$n
	eval {INSIDE} systemd-run $options /tmp/case-$n -c '"$BURN"' </dev/null
	n=$((n + 1))
done <<'CASES'
{chr(10).join(options for options, _ in CASES)}
CASES
sleep 1
kill -INT $c
wait $c
"""

rc, out, err, made = run(kernel, f"BURN='{BURN}'\n{JOB}",
                         isolation="isolcpus=1 irqaffinity=0", files=files)
ok(rc == 0, "the job ends well in the guest", rc, out, err)
rows = {s["name"]: s for s in cpu_of(json.loads(made["report"]), 1)["sources"]}
for i, (options, text) in enumerate(CASES):
    row = rows.get(f"case-{i}", {})
    is_(row.get("owner", {}).get("text"), text, f"systemd-run {options}: {text}")
done()
