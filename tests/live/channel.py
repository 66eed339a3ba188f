# SPDX-License-Identifier: GPL-2.0-or-later
"""Either end of the channel between culprit run --host-listen and culprit watch --to, written after
src/cmd/channel.h, by the same library."""
import ctypes
import hashlib
import os
import select
import socket
import threading

from lib import HANG_S

MAGIC = b"culprit\1"
MOST = 32768


def library():
    """libsodium, or None."""
    for name in "libsodium.so.23", "libsodium.so.26", "libsodium.so":
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


sodium = library()
PREFIX = "crypto_secretstream_xchacha20poly1305_"


def _call(name, *args):
    return getattr(sodium, PREFIX + name)(*args)


class Gone(Exception):
    """The other side has closed."""


class Channel:
    def __init__(self, sock, token):
        self.sock = sock
        self.token = hashlib.blake2b(token.strip(b"\r\n"), digest_size=32).digest()
        self.state = ctypes.create_string_buffer(_call("statebytes"))

    def bytes(self, n):
        got = b""
        while len(got) < n:
            try:
                more = self.sock.recv(n - len(got))
            except ConnectionError as why:
                raise Gone from why
            if not more:
                raise Gone
            got += more
        return got

    def _key(self, guest, host):
        made = hashlib.blake2b(MAGIC + guest + host, digest_size=64, key=self.token).digest()
        return made[:32], made[32:]

    def call(self):
        """As the host does."""
        hello = self.bytes(40)
        assert hello[:8] == MAGIC
        number, head = os.urandom(32), ctypes.create_string_buffer(24)
        key, proof = self._key(hello[8:], number)
        _call("init_push", self.state, head, key)
        self.sock.sendall(number + head.raw + self.sealed(b""))
        assert self.bytes(32) == proof
        return self

    def answer(self):
        """As the guest does."""
        number = os.urandom(32)
        self.sock.sendall(MAGIC + number)
        head = self.bytes(56)
        key, proof = self._key(number, head[:32])
        assert not _call("init_pull", self.state, head[32:], key)
        assert self.take() == (b"", False)
        self.sock.sendall(proof)
        return self

    def sealed(self, data, last=False):
        out = ctypes.create_string_buffer(len(data) + 17)
        length = len(out).to_bytes(4, "little")
        _call("push", self.state, out, None, data, ctypes.c_ulonglong(len(data)), length,
              ctypes.c_ulonglong(4), ctypes.c_ubyte(3 if last else 0))
        return length + out.raw

    def put(self, data, last=False):
        try:
            for at in range(0, len(data), MOST) or [0]:
                self.sock.sendall(self.sealed(data[at:at + MOST], last and at + MOST >= len(data)))
        except OSError as why:
            raise Gone from why

    def take(self):
        """A record, and whether it is the last."""
        length = self.bytes(4)
        box = self.bytes(int.from_bytes(length, "little"))
        out, n, tag = (ctypes.create_string_buffer(MOST + 17), ctypes.c_ulonglong(),
                       ctypes.c_ubyte())
        assert not _call("pull", self.state, out, ctypes.byref(n), ctypes.byref(tag), box,
                         ctypes.c_ulonglong(len(box)), length, ctypes.c_ulonglong(4)), "not sealed"
        return out.raw[:n.value], tag.value == 3


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=HANG_S)


def listen():
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    s.listen(4)
    s.settimeout(HANG_S)
    return s, s.getsockname()[1]


class Between(threading.Thread):
    """Takes what a watch sends, keeps it, and sends it on to the run."""

    def __init__(self, token, port):
        super().__init__(daemon=True)
        self.token, self.to = token, port
        self.listening, self.port = listen()
        self.got, self.fault = b"", None

    def run(self):
        try:
            self.pass_on()
        except Exception as why:  # pylint: disable=broad-except
            self.fault = repr(why)

    def pass_on(self):
        sock, _ = self.listening.accept()
        sock.settimeout(HANG_S)
        host = Channel(sock, self.token).answer()
        guest = Channel(connect(self.to), self.token).call()
        last, over = False, False
        while not last:
            ready, _, _ = select.select([host.sock] + [guest.sock] * (not over), [], [], HANG_S)
            assert ready, "neither end says anything"
            if guest.sock in ready:
                over = True
                assert guest.sock.recv(1) == b""
                host.sock.shutdown(socket.SHUT_WR)
            if host.sock in ready:
                data, last = host.take()
                self.got += data
                guest.put(data, last)
        assert over, "the watch ended by itself"
        host.sock.close()
        guest.sock.close()
