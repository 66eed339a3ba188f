#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What cannot be done is refused at once, by one line that says why, before anything is measured:
options, operands, files, machines."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import tempfile
import threading

import forged
import lib
from lib import ALLOWED, CULPRIT, culprit, done, is_, ok, online, skip

BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.dirname(CULPRIT))
cpu = max(ALLOWED & online())
a, b = sorted(ALLOWED & online())[-2:] if len(ALLOWED & online()) > 1 else (cpu, cpu)
ON = "-c", str(cpu)
everywhere = ",".join(map(str, sorted(online())))
pool = concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1))
asked = []


def refused(what, *args, says=None, **kwargs):
    """One line on stderr, nothing on stdout, exit 1. They are asked side by side, and told of in
    the end."""
    asked.append((what, args, says, pool.submit(culprit, *args, **kwargs)))


def each(command, *options, says=None, bad):
    """Each of the values of the last option."""
    for value in bad:
        refused(f"{' '.join((command, *options[-1:]))} {value[:40]!r}", command, *options, value,
                says=says)


place = tempfile.mkdtemp(prefix="culprit-test-")
os.chmod(place, 0o755)
subprocess.run([os.path.join(BUILD, "golden"), place], check=True, stdout=subprocess.DEVNULL)
public = shutil.copy(CULPRIT, place)  # before others fork, who would have it open for writing


def at(name, data=None):
    path = os.path.join(place, name)
    if data is not None:
        with open(path, "wb") as f:
            f.write(data)
    return path


# ---- run ----
refused("an unknown command", "rnu", says="rnu")
refused("an unknown option", "run", "--bogus", says="bogus")
refused("an unknown letter", "run", "-Z", says="Z")
refused("an option without its value", "run", "-c")
refused("an operand that nobody takes", "run", "now", says="now")
each("run", "-d", "60s", "-c", bad=("", "x", "1-", "-1", "3-1", "1,,2", "1-2-3", "1;2", "0x1",
                                    "1.5", "99999999999"))
refused("an absent CPU", "run", "-c", "4000", "-d", "60s", says="4000")
refused("an absent CPU beside a present one", "run", "-c", f"{cpu},4000", "-d", "60s", says="4000")
refused("all CPUs at once", "run", "-c", everywhere, "-d", "60s", says="housekeeping")
refused("a target that is to do housekeeping", "run", *ON, "-H", str(cpu), "-d", "60s")
each("run", *ON, "-d", bad=("", "0", "0s", "-1s", "-5", "+5s", "s", "abc", "10 parsecs", "10sx",
                            "1e400s", "nan", "inf", "999999d", "1..5s"))
each("run", *ON, "-d", "60s", "-t", bad=("", "0", "0ns", "-1us", "5", "abc", "nan", "1us2"))
each("run", *ON, "-d", "60s", "-P", bad=("f", "f:0", "f:100", "x:1", "o:5", "b:1", "i:x", "f:1x",
                                   "d:", "d:1ms", "d:1ms:", "d::1ms", "d:1:1ms", "d:2ms:1ms",
                                   "d:1us:1ms", "d:1ms:1ms:1ms", "d:0s:1ms", "d:x:1ms"))
for command in "run", "record", "syscall", "osnoise":
    refused(f"{command} -P d:200us:1ms: it spins", command, *ON, "-d", "60s", "-P", "d:200us:1ms",
            *(["/dev/null"] if command == "record" else []), says="samplers that sleep")
each("run", *ON, "-d", "60s", "--max-lost", bad=("0", "-1", "101", "abc", "nan"))
refused("an unknown format", "run", *ON, "-d", "60s", "-f", "yaml", says="yaml")
refused("an output file that cannot be written", "run", *ON, "-d", "60s", "-o",
        "/nonexistent/report", says="/nonexistent/report")
refused("an output file that is a directory", "run", *ON, "-d", "60s", "-o", "/", says="/")
each("run", *ON, "--style", says="--style", bad=("", "oslt", "osjitter,hiccups"))
each("run", *ON, "--raw", says="the files need a name", bad=("", "here/"))
refused("run: no threshold at all", "run", *ON, "-t", "0", says="'0': too short")
refused("osnoise: an input without an end of a line", "osnoise", "--input", "/dev/zero",
        says="^culprit: /dev/zero is not output of osnoise .* no end within 1 MiB$")
refused("--textfile-interval without a file", "run", *ON, "-d", "60s", "--textfile-interval", "5s",
        says="belongs to --textfile")

for name, text, want in (("unknown", b"affinity.reader=1\n", "line 1 .*affinity.reader"),
                         ("bad", b"\n# x\naffinity.producer=x1\n", "line 3 .*x1"),
                         ("half", b"affinity.producer", "has no '='"),
                         ("odd", b"journaller.enabled=no\n", "neither true nor false"),
                         ("long", b"affinity.producer=" + b" " * 600 + b"1\n",
                          "line 1 .*too long")):
    refused(f"--places with what is {name}", "queue", "--places", at(name, text), says=want)
refused("--places of a file that is not there", "queue", "--places", "/nowhere", says="/nowhere")

# ---- recordings ----
for name, data, want in (("empty", b"", "it is empty"),
                         ("text", b"hello, this is no recording\n", "not a recording"),
                         ("newer", b"culprit\n\x63\x00\x05\x00\0\0\0\0", "format 99.5"),
                         ("headless", b"culprit\n\x01\x00\x00\x00\0\0\0\0", "head is missing")):
    refused(f"a recording that is {name}", "report", at(name, data), says=want)
for args, want in ((["/nowhere"], "No such file"), ([place], "is not a file"),
                   ([], "which recording"),
                   ([at("ticking.rec"), "-c", "999"], "was not recorded"),
                   ([at("ticking.rec"), "--from", "2s", "--to", "1s"], "--to must be later")):
    refused(f"report {' '.join(args[1:])}: {want}", "report", *args, says=want)
for args, want in (([at("ticking.rec")], "two or more"),
                   ([at("ticking.rec"), "/nowhere"], "No such file"),
                   ([at("ticking.rec"), os.devnull], "/dev/null"),
                   ([at("ticking.rec")] * 2 + ["--fail-if-worse", "much"], "not a percentage")):
    refused(f"diff: {want}", "diff", *args, says=want)
for args, want in (([], "which recordings"), ([at("missing.rec")], r"missing\.rec"),
                   ([at("sleep.rec"), "-o", "x.jpg"], r"x\.jpg"),
                   ([at("sleep.rec"), "-o", "/nonexistent/x.svg"], r"/nonexistent/x\.svg"),
                   ([at("sleep.rec"), "-f", "svg"], "-o"),
                   ([at("sleep.rec"), "--series", "nope"], "latency"),
                   ([at("sleep.rec"), at("ticking.rec")], r"ticking\.rec"),
                   ([at("sleep.rec"), "--log", "z"], "z")):
    refused(f"plot {' '.join(map(os.path.basename, args[-3:]))}", "plot", *args, says=want)

# ---- workloads ----
each("syscall", *ON, "--only", says="--only", bad=("", "getpd", "getpid,,close_bad_fd",
                                                   "getpid,getpid", "x" * 500))
refused("syscall: no rounds", "syscall", *ON, "-n", "0", says="-n|--rounds")
each("sleep", *ON, "-i", says="-i|--interval", bad=("", "0", "0s", "-1ms", "x", "5"))
each("sleep", *ON, "-n", says="-n|--samples", bad=("", "0", "-1", "x", "1.5"))
each("sleep", *ON, "--load", says="--load", bad=("", "cpus", "cpu:", "cpu:0", "cpu:x", "cpu,,disk",
                                                 "net:99999"))
refused("sleep: --load-here alone", "sleep", *ON, "--load-here", says="--load")
refused("sleep: a load without stress-ng", "sleep", *ON, "--load", "cpu",
        prefix=("env", "PATH=/nonexistent"), says="apt-get install stress-ng")
refused("sleep: an absent CPU", "sleep", "-c", "4000", says="4000")
refused("sleep: a load on CPUs of partitions", "sleep", *ON, "-P", "d:200us:1ms", "--load", "cpu",
        "--load-here", says="--load-here")
refused("sleep: an operand", "sleep", *ON, "now", says="now")
if a == b:
    skip("queue and pingpong", "need two CPUs")
else:
    places = "--producer", str(a), "--accumulator", str(b), "--journaller", "none"
    alone = "--producer", str(a), "--accumulator", "none", "--journaller", str(b)
    for args, want in ((("--producer", str(a), "--accumulator", str(a)), "two"),
                       (("--producer", "x"), "producer"),
                       (("--producer", "4000"), "4000"),
                       (("--accumulator", "none", "--journaller", "none"), "nobody would take"),
                       (("--pin", "none", "--producer", "0"), "the CPU of the producer"),
                       (("--pin", "none", "--no-trace"), "by tracing"),
                       (("--pin", "none", "--user-stacks"), "--user-stacks"),
                       (("-l", "7"), "-l"), (("-b", "100"), "power of two"),
                       (("-b", str(1 << 24), "-l", "65536"), "enough memory"),
                       (("-g", "0"), "-g"), (("-w", "0"), "-w"),
                       (("--payload", "/nonexistent"), "nonexistent"),
                       (("--payload", "/"), "/ is no regular file"),
                       ((*places, "--journal", "x"), "journaller"),
                       ((*alone, "--journal", "/nonexistent/j"), "nonexistent"),
                       (("--spinners", "-1"), "spinners")):
        refused(f"queue {' '.join(args)}", "queue", *args, says=want)
    for args, want in ((("-m", "smoke"), "smoke"), (("-m", "spim"), "spin"),
                       (("-m", "spin,spin"), "twice"), (("-m", ""), "method"),
                       (("-n", "0"), "-n"), (("-k", "-1"), "-k"), (("-p", "0"), "-p"),
                       (("--pin", "0"), "two"), (("--pin", "0,0"), "two"),
                       (("--pin", "0,4000"), "4000"), (("-c", "0"), "2 CPUs"),
                       (("--matrix", "-m", "spin,cv"), "one method"),
                       (("--matrix", "-r", "/dev/null"), "-r"), (("--matrix", "-f", "csv"), "csv"),
                       (("--times", "/nonexistent/x"), "nonexistent/x: .* file with --times"),
                       (("--pin", f"{a},{b}", "-c", f"{a},{b}"), "-c")):
        refused(f"pingpong {' '.join(args)}", "pingpong", *args, says=want)

# ---- clock ----
for what, args, want in (
        ("an interface without a clock", ("lo",), "^culprit: lo has no PTP hardware clock"),
        ("no interface", ("nosuch0",), "nosuch0.*not a network interface"),
        ("an empty name", ("",), "not a network interface"),
        ("a name that drives terminals", ("\033[2J",), r"\\x1b\[2J"),
        ("a device that is no clock", ("/dev/null",), "/dev/null is not a PTP hardware clock"),
        ("a device that is not there", ("/dev/ptp4000",), "cannot open /dev/ptp4000"),
        ("a path without end", ("/" + "x" * 5000,), "is not a PTP hardware clock"),
        ("a name without end", ("x" * 5000,), "is not a network interface"),
        ("an absent CPU", ("-c", "4000"), "4000"),
        ("no time", ("-d", "0"), "-d|--duration"), ("another format", ("-f", "csv"), "csv"),
        ("more devices than there are", ["/dev/null"] * 17, "16"),
        ("a file that cannot be written", ("-o", "/nonexistent/report"), "/nonexistent/report")):
    refused(f"clock: {what}", "clock", "-d", "60s", *args, says=want)

# ---- as root: watch, and what others may not ----
if os.geteuid():
    skip("watch, privileges", "needs root")
else:
    refused("nothing to watch", "watch", says="-p PID")
    refused("a process that is not there", "watch", "-p", "4194303", says="4194303")
    refused("a thread that is not there", "watch", "--tid", "4194303", says="4194303")
    thread = threading.Thread(target=threading.Event().wait, daemon=True)
    thread.start()
    for option, hint in (("-p", " for all its threads, or --tid for one"), ("--vcpus", "")):
        refused(f"watch {option}: a thread in place of its process", "watch", option,
                str(thread.native_id), says=f"{thread.native_id} is a thread of process "
                fr"{os.getpid()} \({option}\): give {option} {os.getpid()}{hint}")
    refused("watch: an absent CPU", "watch", "-c", "4000", says="4000")
    refused("report: a threshold without a unit", "report", "x.rec", "-t", "20", says="'20'")
    each("watch", "-p", says="-p|--pid", bad=("0", "-1", "x", "1.5", "", "99999999999"))
    each("watch", "--vcpus", says="a number is a PID, from 1 to 4194304",
         bad=("0", "4194305", "99999999"))
    refused("watch: more than 16", "watch",
            *(x for _ in range(17) for x in ("-p", str(os.getpid()))), says="16")
    refused("watch: an operand", "watch", str(os.getpid()), says=str(os.getpid()))
    for args, want in (("-t 1us", "--threshold"), ("--faults", "--faults"),
                       ("--syscalls", "--syscalls"), ("-r /nonexistent/x", "--record"),
                       ("--max-hiccup 1ms", "--max-hiccup"), ("--stop-on hiccup>1ms", "--stop-on"),
                       ("--last 1s", "--last"), ("-f csv", "(-f)"), ("-f html", "(-f)"),
                       ("--stacks", "--stacks"),
                       ("--metrics-label unit --textfile x", "--metrics-label")):
        refused(f"watch: --sums {args}", "watch", "-c", "0", "--sums", *args.split(), says=want)
    for what, want, unshare in (("a shifted clock", "time namespace",
                                 ("-T", "--monotonic", "1000")),
                                ("a user namespace", "user namespace", ("-U", "-r")),
                                ("a PID namespace", "PID namespace", ("-p", "-f", "--mount-proc"))):
        if subprocess.run(["unshare", *unshare, "true"], capture_output=True).returncode:
            skip(what, "no such namespace can be made here")
            continue
        for args in (("watch", "-p", str(os.getpid())), ("run", *ON, "-d", "1s")):
            refused(f"{what}: {args[0]}", *args, prefix=("unshare", *unshare), says=want)
    for args, want, what in ((("--textfile", at("nowhere/a.prom")), "cannot write into",
                              "a directory that is not there"),
                             (("--textfile", "/dev/null"), "not a regular file", "a device")):
        refused(f"--textfile: {what}", "run", *ON, "-d", "60s", *args, says=want)
    if shutil.which("setpriv"):
        nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"),
                  "path": public}
        refused("not root: the missing capability is named", "run", *ON, "-d", "60s",
                says="CAP_(BPF|PERFMON|SYS_ADMIN)", **nobody)
    else:
        skip("not root", "no setpriv")

for what, args, says, future in asked:
    r = future.result()
    lines = r.err.splitlines()
    good = r.rc == 1 and len(lines) == 1 and lines[0].startswith("culprit: ") and not r.out
    ok(good and (not says or re.search(says, r.err)), what, f"arguments {args}", r,
       says and f"should say /{says}/")
# 60 s was to be measured. Beside each other, and beside whatever else the machine does, none took
# as long.
slow = [(what, future.result().seconds) for what, _, _,
        future in asked if future.result().seconds > lib.AT_ONCE_S]
ok(not slow, "each of them at once", slow)
ok(os.path.exists("/dev/null"), "and the device is still there")
with open(os.path.join(lib.ROOT, "tests/fixtures/recordings/2.0/irq.rec"), "rb") as f:
    data = f.read()
unsaid = os.path.join(place, "unsaid.rec")
with open(unsaid, "wb") as f:
    f.write(forged.recording(
        [(kind, text.replace(b"system/cpu/online", b"system/cpu/nowhat"))
         for kind, text in forged.chunks(data)]))
r = subprocess.run([CULPRIT, "audit", unsaid], capture_output=True, text=True)
ok(r.returncode == 1 and "unsaid.rec does not say which CPUs were online" in r.stderr,
   "of a recording it is not this machine's /sys that is looked for", r)
WATCHED = os.path.join(lib.ROOT, "tests", "fixtures", "recordings", "3.0", "watch.rec")
for command in ("run -d 1ms", "run -c 0 -d 1ms", "run -c all -d 1ms", "clock", "audit -c 0",
                "watch -c 0 -d 1ms", "sleep -c 0 -d 1ms", "pingpong"):
    r = culprit(*command.split(), prefix=("unshare", "-m", "sh", "-c",
                                          'mount -t tmpfs none /sys && exec "$0" "$@"'))
    if "unshare" not in r.err and "mount" not in r.err.replace("mounted?", ""):
        is_((r.rc, r.err), (1, "culprit: cannot read from /sys/devices/system/cpu/online which "
                            "CPUs are online: is /sys mounted?\n"), f"without /sys: {command}")
for kb in 128, 1023:
    r = culprit("report", unsaid, prefix=("sh", "-c", f'ulimit -s {kb}; exec "$0" "$@"'))
    is_((r.rc, r.err), (1, f"culprit: the stack may not have more than {kb} KiB, and culprit needs "
                        "1024: raise the hard limit (ulimit -Hs, or LimitSTACK= of a service)\n"),
        f"a stack of {kb} KiB")
if not lib.sanitized():  # a sanitizer takes more
    r = culprit("report", unsaid,
                prefix=("env", "-i", "sh", "-c", 'ulimit -s 20; exec "$0" "$@"'))
    is_((r.rc, r.err.count("\n"), "may not have more than 20 KiB" in r.err), (1, 1, True),
        "one that has no room for say(): it is said all the same")
r = culprit("report", WATCHED, prefix=("sh", "-c", 'ulimit -Ss 128; exec "$0" "$@"'))
is_((r.rc, r.err), (0, ""), "one that may be larger is made so")
r = culprit("audit", WATCHED)
ok(r.rc == 1 and "record the same CPUs with culprit record" in r.err and "--no-audit" not in r.err,
   "audit of a watch's recording asks for what can be done", r)
shutil.rmtree(place)
done()
