#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--listen: one scrape is the text of --textfile, whoever else asks whatever else; who answers has
no rights, and when it is gone the run goes on. And a service's SIGHUP."""
import contextlib
import http.client
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import tempfile
import time

import lib
from lib import culprit, done, is_, ok

where = tempfile.mkdtemp(prefix="culprit-test-")
cpu = max(lib.ALLOWED)
ON = ("-c", str(cpu), "--no-trace", "-q", "-d", "forever", "-t", "1ms")
ESTABLISHED, CLOSED_THERE, LISTENING = "01", "08", "0A"
REQUESTS = 500  # changed at random, always the same ones


def get(path="/metrics", method="GET", **more):
    """Status, headers and text."""
    c = http.client.HTTPConnection("127.0.0.1", port, timeout=lib.HANG_S)
    try:
        c.request(method, path, **more)
        r = c.getresponse()
        return r.status, dict(r.getheaders()), r.read().decode()
    finally:
        c.close()


def taken(text):
    """When the figures of a scrape were taken."""
    return float(re.search(r"^culprit_figures_timestamp_seconds (\d+\.\d+)$", text, re.M)[1])


def raw(data):
    """What comes back for these bytes until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=lib.HANG_S) as s:
        got = b""
        with contextlib.suppress(OSError):
            s.sendall(data)
            s.shutdown(socket.SHUT_WR)
            while more := s.recv(65536):
                got += more
        return got


def changed(data, chance):
    """Some bytes set, taken out, or put in again elsewhere."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at, n = chance.randrange(len(data)), chance.choice((1, 2, 8, 30))
        data[at:at + chance.choice((0, n))] = chance.choice((
            b"", chance.randbytes(n), data[(m := chance.randrange(len(data))):m + n],
            bytes([chance.choice(b"\r\n :;=/%?\0\xff")]) * n, b"%d" % 2**chance.randrange(70)))
        data = data or bytearray(b"\n")
    return bytes(data)


def until(what, seconds=lib.HANG_S):
    """What it returns when that is true, or at last."""
    deadline = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def children(pid, comm="culprit-listen"):
    return [p for p in lib.children(pid) if lib.read(f"/proc/{p}/comm") == comm]


def sockets(*states):
    """Addresses of those at the port that are in these states (the kernel's net/tcp_states.h)."""
    rows = [line.split() for table in ("tcp", "tcp6")
            for line in lib.read(f"/proc/net/{table}").splitlines()[1:]]
    return [row[1] for row in rows if row[1].endswith(f":{port:04X}") and row[3] in states]


port = lib.free_port()
r = culprit("run", "-c", str(cpu), "--no-trace", "--listen", f":{port}", "-d", "1ms", "-q")
if "without libmicrohttpd" in r.err or "cannot be opened" in r.err:
    ok(r.rc == 1 and r.err.count("\n") == 1, "without libmicrohttpd it says so", r)
    shutil.rmtree(where)
    done()
    raise SystemExit

prom = os.path.join(where, "prom")
asked = time.time()
with lib.ready_file() as ready:
    proc = lib.spawn("run", *ON, "--listen", f":{port}", "--textfile", prom,
                     "--textfile-interval", "1s", "--ready-file", ready)
    lib.await_ready(proc, ready)
    status, headers, text = until(lambda: (x := get())[0] == 200 and x) or get()
    is_((status, headers.get("Content-Type"), text[:20], text[-6:]),
        (200, "text/plain; version=0.0.4; charset=utf-8", "# TYPE culprit_info ", "# EOF\n"),
        "a scrape is whole, in Prometheus' format")
    # Each second both are renewed, the one a moment behind the other.
    ok(until(lambda: get()[2].strip() == lib.read(prom)), "it is the text of --textfile",
       get()[2][:300])
    first, now = taken(text), time.time()
    ok(asked <= first <= now and until(lambda: taken(get()[2]) > first),
       "it tells when its figures were taken, and takes new ones", asked, first, now)
    # Seconds of waiting follow, in which others have its CPU.
    samplers = children(proc.pid, "culprit-sampler")
    for pid in samplers:
        os.kill(pid, signal.SIGSTOP)
    status, headers, text = get(method="HEAD")
    ok((status, text) == (200, "") and int(headers["Content-Length"]) > 1000, "HEAD has no text",
       status, headers)

    who = children(proc.pid)
    status = lib.read(f"/proc/{who[0]}/status") if len(who) == 1 else str(who)
    is_([line.split()[1].strip("0") for line in status.splitlines()
         if line.startswith(("CapInh", "CapPrm", "CapEff", "CapAmb"))], [""] * 4,
        "one process answers, without capabilities")
    ok("NoNewPrivs:\t1" in status, "and gets none back", status)
    is_(re.findall(r"^Seccomp:\t(\d)", status, re.M), ["0" if lib.sanitized() else "2"],
        "and has a filter of system calls, but for builds with a sanitizer")
    is_(sockets(LISTENING), [f"0100007F:{port:04X}"],
        "without an address only this machine can ask")

    # ---- hostile ----
    is_([get("/")[0], get("/metrics/..")[0], get("/../../etc/passwd")[0],
         get("/metrics" + "x" * 2000)[0]], [404] * 4, "there is nothing else")
    is_([get(method=m)[0] for m in ("PUT", "DELETE", "OPTIONS")] +
        [get(method="POST", body=b"x" * 1000)[0]], [405] * 4, "nothing is taken")
    ok(get("/metrics?a=%00&b=../..")[0] == 200, "a query is nothing to it")
    for what, data in (("bytes that are no request", bytes(range(256)) * 40),
                       ("a head without end", b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 50000),
                       ("a line without end", b"GET /" + b"x" * 300000),
                       ("a length that is none",
                        b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n"),
                       ("half a request", b"GET /metr")):
        answer = raw(data)
        ok(b" 200 " not in answer[:20] and get()[0] == 200, f"{what}: no answer, and it goes on",
           answer[:200])
    chance, good = random.Random(4711), (b"GET /metrics HTTP/1.1\r\nHost: localhost:9101\r\n"
                                         b"Accept-Encoding: gzip, deflate\r\nRange: bytes=0-9\r\n"
                                         b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n"
                                         b"Connection: keep-alive\r\n\r\n4\r\nabcd\r\n0\r\n\r\n")
    odd = []
    for i in range(REQUESTS):
        answer = raw(changed(good, chance))
        if answer and not re.match(rb"HTTP/1\.[01] [1-5]\d\d ", answer):
            odd.append(answer[:100])
    ok(not odd and get()[0] == 200, f"{REQUESTS} requests made from a good one by changes", odd)

    def files():
        """Its connections are among them."""
        return len(os.listdir(f"/proc/{who[0]}/fd"))

    # The last request may be answered, and its connection not closed yet.
    until(lambda: not sockets(ESTABLISHED, CLOSED_THERE))
    before, idle, began = files(), [], time.monotonic()
    for _ in range(40):
        s = socket.create_connection(("127.0.0.1", port), timeout=lib.HANG_S)
        s.sendall(b"GET /metrics HTTP/1.1\r\n")  # the head does not end
        idle.append(s)
    until(lambda: len(select.select(idle, [], [], 0)[0]) >= 32, seconds=4)  # those it has closed
    fds = files()
    what = "of connections of one address that say nothing it keeps eight"
    if time.monotonic() > began + 5:  # when those end that were silent since
        lib.not_judged(what, "the machine stood still")
    else:
        is_(fds - before, 8, what)
    since = time.monotonic()

    def served():
        with contextlib.suppress(OSError, http.client.HTTPException):
            return get()[0] == 200
        return False

    ok(until(served), "they are cut off in time, and others are served",
       time.monotonic() - since)
    for s in idle:
        s.close()
    ok(until(lambda: files() <= before), "nothing of them is kept", before, fds, files())
    ok(children(proc.pid) == who and proc.poll() is None, "all this time it was the same process")

    # ---- taken ----
    r = culprit("run", "-c", str(cpu), "--no-trace", "--listen", f":{port}", "-d", "1ms", "-q")
    ok(r.rc == 1 and "Address already in use" in r.err and r.err.count("\n") == 1,
       "a port that is taken is refused", r)

    # ---- gone ----
    os.kill(who[0], signal.SIGKILL)
    goes_on = []
    for _ in range(3):  # the second shows whether somebody took the first
        before = lib.read(prom)
        goes_on.append(until(lambda: lib.read(prom) != before))
    ok(all(goes_on), "when it is gone the run goes on")
    for pid in samplers:
        os.kill(pid, signal.SIGCONT)
    os.killpg(proc.pid, signal.SIGINT)
    r = lib.finish(proc)
ok(r.rc == 0 and r.err.count("--listen: the process that answers has ended") == 1,
   "and says so, once", r)

# Killed itself, it leaves nobody behind.
with lib.ready_file() as ready:
    proc = lib.spawn("run", *ON, "--listen", f"127.0.0.1:{port}", "--ready-file", ready)
    lib.await_ready(proc, ready)
    who = children(proc.pid)
    ok(get()[0] in (200, 503), "an address may be given")
    proc.kill()
    proc.wait()
    # Process 1 may leave it unreaped for ever.
    ok(len(who) == 1
       and until(lambda: lib.stat(who[0])[:1] in ([], ["Z"])),
       "killed, it leaves nobody behind", who)
    lib.finish(proc)

if os.path.exists("/proc/net/if_inet6") and lib.read("/proc/net/if_inet6"):
    with lib.ready_file() as ready:
        proc = lib.spawn("run", *ON, "--listen", f"[::1]:{port}", "--ready-file", ready)
        lib.await_ready(proc, ready)
        c = http.client.HTTPConnection("::1", port, timeout=lib.HANG_S)
        c.request("GET", "/metrics")
        status = c.getresponse().status
        c.close()
        proc.terminate()
        r = lib.finish(proc)
    ok(status in (200, 503) and r.rc == 0, "as may one of IPv6", status, r)
else:
    lib.skip("as may one of IPv6", "there is no IPv6 here")

for text in ("127.0.0.1", "localhost:9101", ":99999", "[::1:9101", "x:y", ""):
    r = culprit("run", "-c", str(cpu), "--no-trace", "--listen", text, "-d", "1ms", "-q")
    ok(r.rc == 1 and "is no address and port" in r.err and r.err.count("\n") == 1,
       f"--listen '{text}' is refused", r)

# ---- a service's SIGHUP ----
lines, old = os.path.join(where, "lines"), os.path.join(where, "lines.1")
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager, lib.ready_file() as ready:
    manager.bind(os.path.join(where, "notify"))
    os.environ["NOTIFY_SOCKET"] = os.path.join(where, "notify")
    proc = lib.spawn("run", *ON[:-1], "100ns", "--hiccups", lines, "-f", "json", "--ready-file",
                     ready)
    del os.environ["NOTIFY_SOCKET"]
    lib.await_ready(proc, ready)
    until(lambda: os.path.getsize(lines))
    node = os.stat(lines).st_ino
    os.kill(proc.pid, signal.SIGHUP)
    for _ in range(2):  # the signal is seen after a text, before the next
        size = os.path.getsize(lines)
        until(lambda: os.path.getsize(lines) > size)
    ok(os.stat(lines).st_ino == node and os.path.getsize(lines) > size,
       "a file that nobody has renamed is kept, and goes on", node, size, os.stat(lines))
    os.rename(lines, old)
    os.kill(proc.pid, signal.SIGHUP)
    ok(until(lambda: os.path.exists(lines) and os.path.getsize(lines)),
       "its file is opened anew, and goes on there", os.listdir(where))
    os.killpg(proc.pid, signal.SIGINT)
    r = lib.finish(proc)
count = sum(map(len, ([line for line in open(name)] for name in (old, lines))))
is_((r.rc, count), (0, json.loads(r.out)["cpus"][0]["hiccups"]["count"]),
    "no line is lost between the two")
shutil.rmtree(where)
done()
