#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""run --host-listen and watch --to: what was sent is what a file would have, the report is that of
report --host, byte for byte; whoever else comes, breaks off, sends too much or nothing, the run
ends with its report, and says what of its host is missing. A guest and its host are one machine
here: vm/46-hosted has two."""
import contextlib
import os
import re
import select
import shutil
import signal
import socket
import tempfile
import threading
import time

import channel
import lib
from channel import Channel, Gone, connect
from lib import culprit, done, is_, ok

lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
work = tempfile.mkdtemp(prefix="culprit-test-")
MARK = b"culprit\n"


def at(name):
    return os.path.join(work, name)


def new_token(name, text, mode=0o600):
    with open(at(name), "wb") as f:
        f.write(text)
    os.chmod(at(name), mode)
    return text


secret = new_token("token", os.urandom(24).hex().encode() + b"\n")
port = lib.free_port()
LISTEN = ("--host-listen", f"tcp:{port}", "--token", at("token"))
ON = ("run", "-c", str(cpu), "-q", "--no-audit", *LISTEN)

# ---- what is refused at once ----
r = culprit("run", "-c", str(cpu), "-q", "-d", "1ms", "--host-wait", "1ms", *LISTEN)
if "built without libsodium" in r.err:
    ok(r.rc == 1 and r.err.count("\n") == 1, "without libsodium it says so", r)
    shutil.rmtree(work)
    done()
    raise SystemExit
if not channel.sodium:
    lib.skip_all("libsodium is not there for the test's own end of the channel", required=True)
is_((r.rc, re.findall("incomplete: (.*)", r.err)), (3, ["its host did not come (--host-listen)"]),
    "nobody came: the run says so, and ends with 3")
ok("incomplete: its host did not come (--host-listen)" in r.out, "and so does its report", r)

new_token("open", secret, 0o640)
new_token("short", b"0123456789abcde\n")
new_token("long", b"x" * 4097)
new_token("theirs", secret)
os.chown(at("theirs"), 65534, 65534)
for what, args, why in (
        ("a token that others can read", ("--token", at("open")), "others than its owner may use"),
        ("a token of another user", ("--token", at("theirs")), "is another user's"),
        ("a short token", ("--token", at("short")), "no file of 16 to 4096 bytes"),
        ("a long token", ("--token", at("long")), "no file of 16 to 4096 bytes"),
        ("a directory", ("--token", work), "others than its owner|no file of 16"),
        ("no token", (), "needs --token FILE"),
        ("no such token", ("--token", at("none")), "No such file")):
    r = culprit("run", "-c", str(cpu), "--host-listen", f"tcp:{port}", *args)
    ok(r.rc == 1 and re.search(why, r.err) and r.err.count("\n") == 1, f"{what}: one line", r)
for address in ("", "tcp", "tcp:", "tcp:0", "tcp:65536", "tcp::1", "tcp:x:1", "tcp:[::1:1",
                "tcp:localhost:1", "vsock:", "vsock:x", "vsock:1:1", "vsock:-1",
                "vsock:4294967295", "udp:1", "tcp:1 ", "tcp:127.0.0.1:"):
    r = culprit("run", "--host-listen", address, "--token", at("token"))
    ok(r.rc == 1 and "is no address: use vsock:PORT" in r.err and r.err.count("\n") == 1,
       f"--host-listen '{address}': one line", r)
for address in "vsock:1", "vsock:0:1", "vsock:1:x", "vsock:4294967295:1", "vsock:99999999999:1":
    r = culprit("watch", "-c", str(cpu), "--to", address, "--token", at("token"))
    ok(r.rc == 1 and "is no address: use vsock:CID:PORT" in r.err and r.err.count("\n") == 1,
       f"--to '{address}': one line", r)
r = culprit("watch", "-c", str(cpu), "--to", f"tcp:{port}", "--token", at("token"))
ok(r.rc == 1 and "nobody listens at tcp:" in r.err and r.err.count("\n") == 1,
   "nobody listens: one line", r)
busy, its = channel.listen()
r = culprit("run", "-c", str(cpu), "--host-listen", f"tcp:{its}", "--token", at("token"))
ok(r.rc == 1 and "cannot listen at" in r.err and r.err.count("\n") == 1, "a port that is taken", r)
for more in ("--no-trace",), ("--style", "oslat"), ("--hiccups", at("h")), ("--textfile", at("t")):
    r = culprit(*ON, *more)
    ok(r.rc == 1 and f"leave out {more[0]}" in r.err, f"not with {more[0]}", r)
for more in ("-r", at("x.rec")), ("--sums",), ("--last", "1s"):
    r = culprit("watch", "-c", str(cpu), "--to", f"tcp:{port}", "--token", at("token"), *more)
    ok(r.rc == 1 and "leave out --" in r.err, f"--to: not with {more[0]}", r)


# ---- both ends, with the test between them ----

def told(proc):
    """The child that takes what comes."""
    for pid in lib.children(proc.pid):
        if lib.read(f"/proc/{pid}/comm") == "culprit-host":
            return pid
    return None


def until(what, seconds=lib.HANG_S):
    deadline = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def answers(data):
    """What comes back for these bytes behind the greeting, until the other side closes."""
    with connect(port) as s, contextlib.suppress(OSError):
        hello = s.recv(40, socket.MSG_WAITALL)
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)
        return hello, s.recv(1000)
    return None, b""


def wrong_token():
    try:
        Channel(connect(port), b"x" * 16).call()
    except Gone:
        return True
    return False


def host_says():
    """What a host has once said to a listener, who greets nobody else so."""
    here, there = socket.socketpair()
    with here, there:
        there.sendall(channel.MAGIC + os.urandom(32) + bytes(32))
        with contextlib.suppress(AssertionError):  # nobody knows the proof
            Channel(here, secret).call()
        return there.recv(1000)


run = lib.spawn(*ON, "-d", "500ms", "--host-wait", "1h", "-f", "json", "-o", at("live"), "-r",
                at("guest.rec"))
child = until(lambda: told(run))
status = until(lambda: (s := lib.read(f"/proc/{child}/status")) and "NoNewPrivs:\t1" in s and s)
is_([line.split()[1].strip("0") for line in (status or "").splitlines()
     if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb"))], [""] * 4,
    "who listens has no capabilities")
is_(re.findall(r"^Seccomp:\t(\d)", status or "", re.M), ["0" if lib.sanitized() else "2"],
    "and a filter of system calls, but for builds with a sanitizer")
addresses = [line.split()[1] for table in ("tcp", "tcp6")
             for line in lib.read(f"/proc/net/{table}").splitlines()[1:]
             if line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"]
is_(addresses, [f"0100007F:{port:04X}"], "without an address only this machine can come")
first, second = answers(b"")[0], answers(b"")[0]
ok(first and second and first[:8] == second[:8] == channel.MAGIC and first != second,
   "each that comes is given another number", first, second)
for what, data in (("nothing", b""), ("a part of the greeting", b"x" * 30),
                   ("what a host said before", host_says()),
                   ("zeros", bytes(200)), ("the largest length", b"\xff" * 100000),
                   ("noise", os.urandom(100000))):
    is_(answers(data)[1], b"", f"{what}: is no host, and is told nothing")
ok(wrong_token(), "another token: is no host")
r = culprit("watch", "-c", str(cpu), "-q", "--to", f"tcp:{port}", "--token", at("open"))
ok(r.rc == 1 and "others than its owner may use" in r.err and r.err.count("\n") == 1,
   "watch with a token that others can read: one line", r)
new_token("other", b"y" * 32)
r = culprit("watch", "-c", str(cpu), "-q", "--to", f"tcp:{port}", "--token", at("other"))
ok(r.rc == 1 and "did not show that it has the token" in r.err and r.err.count("\n") == 1,
   "watch with another token: one line", r)
between = channel.Between(secret, port)
between.start()
watch = lib.spawn("watch", "-c", str(cpu), "-q", "--to", f"tcp:{between.port}", "--token",
                  at("token"), "-f", "json")
w, g = lib.finish(watch), lib.finish(run)
between.join(lib.HANG_S)
is_((between.fault, w.rc, w.err, g.err, g.out), (None, 0, "", "", ""),
    "a watch sends to a run, and ends with it")
if not lib.starved(g):
    is_(g.rc, 0, "a run whose host was there all the time ends with 0")
    with open(at("host.rec"), "wb") as f:
        f.write(between.got)
    r = culprit("report", at("host.rec"), "-f", "json")
    ok(r.rc == 0 and r.out == w.out and len(w.out) > 1000, "what was sent is the watch's recording",
       r, w.out[:500])
    r = culprit("report", at("guest.rec"), "--host", at("host.rec"), "-f", "json", "-o",
                at("offline"))
    ok(r.rc == 0 and lib.read(at("live")) == lib.read(at("offline"))
       and '"host_side"' in lib.read(at("live")),
       "the report is that of report --host, byte for byte", r, lib.read(at("live"))[:1000])
    ok(MARK in between.got[:8] and b"END" in between.got[-24:], "it begins and ends as a file does")


# ---- a flood ----
class Flood(threading.Thread):
    """Comes again and again, as strangers do, until it is told to end."""
    over = threading.Event()

    def __init__(self):
        super().__init__(daemon=True)
        self.came, self.late = 0, 0

    def run(self):
        what = (b"", b"x" * 30, host_says(), os.urandom(5000), b"\xff" * 100000)
        while not self.over.is_set():
            try:
                with connect(port) as s:
                    s.settimeout(1)
                    s.sendall(what[self.came % len(what)])
                self.came += 1
            except ConnectionRefusedError:  # nobody listens any more: the host is there
                self.late += 1
                time.sleep(0.005)
            except OSError:
                self.came += 1


if os.environ.get("LONG") and between.got:
    run = lib.spawn(*ON, "-d", "5s", "-f", "json", "-r", at("flooded.rec"))
    until(lambda: told(run))
    flood = [Flood() for _ in range(3)]
    for one in flood:
        one.start()
    until(lambda: sum(one.came for one in flood) > 1000, 5)
    watch = lib.spawn("watch", "-c", str(cpu), "-q", "--to", f"tcp:{port}", "--token", at("token"),
                      "-f", "json")
    w, g = lib.finish(watch), lib.finish(run)
    Flood.over.set()
    for one in flood:
        one.join(lib.HANG_S)
    lib.diag("strangers that came before the host and after it:", sum(one.came for one in flood),
             sum(one.late for one in flood))
    if not lib.starved(g):
        ok(w.rc == 0 and "--to" not in w.err and g.rc in (0, 3) and "its host" not in g.err
           and '"host_side"' in g.out and all(one.came and one.late for one in flood),
           "strangers come before the host, and go on while it sends: it is served", w, g)

# ---- hosts that fail ----
def hosted(send, *more, wait="1h", duration="300ms", before=lambda: None):
    """A run's Result with a host that does that with its channel, and that before it comes. One
    that comes late also ends the run, by c.end()."""
    fault = []

    def await_open():
        until(lambda: os.path.exists(at("ready")) or proc.poll() is not None)

    def host():
        try:
            until(lambda: told(proc))
            if wait == "1ms":
                await_open()
            before()
            c = Channel(connect(port), secret).call()
            c.await_open = await_open
            c.interrupt = lambda: proc.send_signal(signal.SIGINT)
            c.end = lambda: wait == "1ms" and c.interrupt()
            send(c)
            c.sock.close()
        except (Gone, OSError):
            pass
        except Exception as why:  # pylint: disable=broad-except
            fault.append(repr(why))

    with contextlib.suppress(FileNotFoundError):
        os.unlink(at("ready"))
    proc = lib.spawn(*ON, "-d", duration, "--host-wait", wait, "--ready-file", at("ready"), *more)
    thread = threading.Thread(target=host, daemon=True)
    thread.start()
    result = lib.finish(proc)
    thread.join(lib.HANG_S)
    is_(fault, [], "the test's own host does what it should")
    return result


def left(send):
    """A run's Result with a host that does that and goes: its window ends once the run has seen
    that."""
    def host(c):
        with contextlib.suppress(Gone, OSError):
            send(c)
            c.sock.shutdown(socket.SHUT_WR)
            while c.sock.recv(1):
                pass
        c.await_open()
        c.interrupt()

    return hosted(host, duration="10m")


def says(what, result, text, status=3):
    if lib.starved(result):
        lib.not_judged(what, result.err)
        return
    found = re.findall("incomplete: (.*)", result.err)
    ok(result.rc == status and any(re.search(text, line) for line in found)
       and re.search(r"^cpu \d+ \(", result.out, re.M)
       and re.search(text, " ".join(result.out.split())), what, result)


def half(c):
    c.put(between.got[:len(between.got) // 2])


def slowly(c):
    data = c.sealed(between.got[:1000])
    for byte in data[:200]:
        c.sock.sendall(bytes([byte]))
    c.sock.sendall(data[200:])
    half(c)


def too_much(c):
    block = os.urandom(32768)
    c.put(between.got)
    while True:
        c.put(block)


def forged(c):
    c.put(between.got[:5000])
    box = bytearray(c.sealed(between.got[5000:9000]))
    box[200] ^= 1
    c.sock.sendall(bytes(box))
    c.sock.recv(1)


def replayed(c):
    box = c.sealed(between.got[:5000])
    c.sock.sendall(box + box)
    c.sock.recv(1)


def too_long(c):
    c.put(between.got[:5000])
    c.sock.sendall((32768 + 18).to_bytes(4, "little") + bytes(40000))
    c.sock.recv(1)


def patiently(c):
    """Waits for the end, and sends all."""
    c.put(between.got[:5000])
    c.end()
    while not select.select([c.sock], [], [], 0.5)[0]:
        c.put(b"")
    c.put(between.got[5000:], last=True)


def endless(c):
    """Waits for the end, and breaks off."""
    c.put(between.got[:5000])
    select.select([c.sock], [], [], lib.HANG_S)
    c.put(between.got[5000:6000])


def held(c):
    """Has more to say, for ever, when it is asked for the rest; then Ctrl-C comes, if it ended the
    run, too, for the second time."""
    half(c)
    c.end()
    c.sock.setblocking(True)
    select.select([c.sock], [], [], lib.HANG_S)
    c.interrupt()
    since = time.monotonic()
    with contextlib.suppress(Gone):
        while time.monotonic() - since < 25:
            c.put(b"")
            time.sleep(0.05)
        assert False, "it waits all the same"


def mute(c):
    c.sock.close()
    time.sleep(0.5)
    c.end()


def silent(c):
    """Has nothing to send, and says so at the end."""
    c.end()
    c.sock.recv(1)
    c.put(b"", last=True)


def early(c):
    c.put(between.got, last=True)


class Silent:
    """Strangers who come, are greeted, say nothing and stay."""
    COME, BEFORE_S, KEPT = 100, 5, 64  # HANDSHAKE_NS, CALLERS

    def __init__(self):
        self.of, self.gone, self.seconds = [], [], 0

    def come(self):
        began = time.monotonic()
        for _ in range(self.COME):
            self.of.append(s := connect(port))
            assert len(s.recv(40, socket.MSG_WAITALL)) == 40
            if not self.of[1:]:
                s.sendall(b"x")  # a part of what a host says
        until(lambda: self.ended(self.COME - self.KEPT - 1))
        self.gone = [i for i in range(self.COME) if self.ended(i)]
        self.seconds = time.monotonic() - began

    def ended(self, i):
        return bool(select.select([self.of[i]], [], [], 0)[0])

    def leave(self):
        for s in self.of:
            s.close()


silence = Silent()
if between.got:
    r = hosted(patiently, "-f", "csv", before=silence.come)
    ok(lib.starved(r) or r.rc == 0 and r.err == "" and r.out.startswith("host,"),
       f"{Silent.COME} strangers who say nothing and stay do not keep the host away", r.rc, r.err)
    n = len(silence.gone)
    ok(silence.gone == list(range(n)) and n >= Silent.COME - Silent.KEPT
       and (n == Silent.COME - Silent.KEPT or silence.seconds > Silent.BEFORE_S),
       f"{Silent.KEPT} of them wait at a time: who came first has gone", n, silence.seconds)
    is_([i for i in range(Silent.COME) if not silence.ended(i)], [],
        "once it is there nobody else waits")
    silence.leave()
    says("half a recording: broke off", left(half), "its host broke off .* before the end")
    says("a host that goes at once: nobody waits for it any longer",
         left(lambda c: None), "its host broke off .* before the end")
    says("a host that is slow, and breaks off", left(slowly),
         "its host broke off .* before the end")
    says("a host that breaks off at the end", hosted(endless),
         "its host broke off: its recording has no end")
    says("a changed byte: broke off", left(forged), "its host broke off .* before the end")
    says("a record that comes twice: broke off", left(replayed),
         "its host broke off .* before the end")
    says("a length that is none: broke off", left(too_long),
         "its host broke off .* before the end")
    says("a host that ends before the run", left(early),
         "its host stopped recording .* before the end")
    says("a Ctrl-C while a run waits for the rest of its host's: it ends with what there is",
         hosted(held), r"the rest of its host's recording was not waited for \(interrupted\)")
    says("and so does the second of a run that one has ended",
         hosted(held, wait="1ms", duration="99s"),
         r"the rest of its host's recording was not waited for \(interrupted\)")
    says("a host that comes late", hosted(patiently, wait="1ms", duration="99s"),
         "its host came .* after the begin: not covered before")
    says("a host that says nothing: it broke off when it came",
         hosted(mute, wait="1ms", duration="99s"),
         r"its host broke off(: | [\d.]+ (us|ms|s) before the end)")
    says("a host that records nothing", hosted(silent, wait="1ms", duration="99s"),
         "its host sent no recording")
    says("what is no recording", left(lambda c: c.put(os.urandom(5000), last=True)),
         "its host stopped recording .* before the end")
    says("more than is taken", hosted(too_much, duration="1s"),
         "sent more than 256 MiB")
    r = hosted(patiently, "-f", "csv")
    ok(lib.starved(r) or r.rc == 0 and r.err == "" and r.out.startswith("host,"), "a whole one",
       r.rc, r.err, r.out[:300])

# ---- guests that fail ----
def watched(meanwhile):
    listening, its = channel.listen()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(at("ready"))
    proc = lib.spawn("watch", "-c", str(cpu), "-q", "--to", f"tcp:{its}", "--token", at("token"),
                     "--ready-file", at("ready"))
    sock, _ = listening.accept()
    sock.settimeout(lib.HANG_S)
    with contextlib.suppress(Gone):
        meanwhile(Channel(sock, secret), proc)
    sock.close()
    listening.close()
    return lib.finish(proc)


def takes_some(c, _proc):
    c.answer()
    while len(c.take()[0]) < 100:
        pass


r = watched(takes_some)
ok(r.rc == 1 and re.search("the guest at .* is gone", r.err),
   "a guest that goes: watch ends, with 1", r)
r = watched(lambda c, _proc: c.sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" + bytes(100)))
ok(r.rc == 1 and "did not show that it has the token" in r.err and r.err.count("\n") == 1,
   "a listener that is no culprit: one line", r)


def interrupted(c, proc):
    c.answer()
    got = b""
    while len(got) < 1000 or not os.path.exists(at("ready")):
        got += c.take()[0]
    proc.send_signal(signal.SIGINT)
    last = False
    while not last:
        data, last = c.take()
        got += data
    with open(at("cut.rec"), "wb") as f:
        f.write(got)


r = watched(interrupted)
again = culprit("report", at("cut.rec"))
ok(r.rc == 0 and again.rc == 0 and again.out == r.out, "Ctrl-C on the host: the guest has it whole",
   r, again)

def killed(c, proc):
    """The guest stays, and takes no more: nobody is to wait for it."""
    global lingers
    c.answer()
    c.take()
    until(lambda: os.path.exists(at("ready")))
    its = [pid for pid in lib.children(proc.pid)
           if lib.read(f"/proc/{pid}/comm") in ("culprit-to", "culprit-to\n")]
    proc.kill()
    until(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in its))
    lingers = its if not its or any(os.path.exists(f"/proc/{pid}") for pid in its) else None


lingers = "not tried"
r = watched(killed)
ok(r.rc == -signal.SIGKILL and lingers is None,
   "watch is killed: who sends for it goes with it", r, lingers)
busy.close()
shutil.rmtree(work)
done()
