#!/usr/bin/env python3
"""Rights: nobody measures with a program file that has three capabilities; LONG=1: all commands."""
import os
import shutil
import tempfile

import lib
from lib import CULPRIT, culprit, done, ok, skip_all

lib.need_bpf()
cpu = str(lib.pick_target())
if not shutil.which("setcap") or not shutil.which("setpriv"):
    skip_all("needs setcap and setpriv")
place = tempfile.mkdtemp(prefix="culprit-test-")
os.chmod(place, 0o755)
path = shutil.copy(CULPRIT, place)
os.chmod(path, 0o755)
home = os.path.join(place, "nobody")
os.mkdir(home)
os.chown(home, 65534, 65534)
if os.system(f"setcap cap_bpf,cap_perfmon,cap_syslog+ep {path}"):
    shutil.rmtree(place)
    skip_all("no capabilities on files here")

commands = [("run", "-c", cpu, "-d", "300ms"),
            ("sleep", "-c", cpu, "-d", "300ms"),
            ("syscall", "-c", cpu, "-d", "300ms"),
            ("watch", "-c", cpu, "-d", "300ms"),
            ("record", "-c", cpu, "-d", "300ms", os.path.join(home, "x.rec")),
            ("pingpong", "-n", "1000")]
for args in commands if os.environ.get("LONG") else commands[:1]:
    r = culprit(*args, "-q", path=path,
                prefix=("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"))
    ok(r.rc == 0 and r.out and "not traced" not in r.out, f"nobody: {args[0]}", r)
shutil.rmtree(place)
done()
