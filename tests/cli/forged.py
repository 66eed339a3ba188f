# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings as a stranger may make them: chunks of a good one, taken apart, changed and sealed
again (src/recording/format.h)."""
import ctypes
import struct
import zlib

IRQ, THREAD = 1, 5  # record_kind
IRQ_LEVEL = 2
HICCUP, SYMBOL = 3, 7  # event_type


def number(v):
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def signed(v):
    return number(v << 1 if v >= 0 else (-v << 1) - 1)


def section(data):
    return number(len(data)) + data


def text(data):
    return number(len(data) + 1) + data


def fact(name, data, err=0):
    """One of a chunk FACT."""
    return text(name) + signed(err) + section(data)


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        v = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            v |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return v

    def section(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at]

    def rest(self):
        return self.data[self.at:]


def unpack(payload, size):
    """By zstd, whose library is there where culprit packs with it, or by zlib."""
    if payload[:4] != b"\x28\xb5\x2f\xfd":
        return zlib.decompress(payload)
    decompress = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
    decompress.restype = ctypes.c_size_t
    decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t] * 2
    plain = ctypes.create_string_buffer(size)
    if decompress(plain, size, payload, len(payload)) != size:
        raise ValueError("damaged")
    return plain.raw


def chunks(data):
    """(type, payload) of each chunk."""
    at = 16
    while at + 24 <= len(data):
        kind, stored, raw = data[at + 4:at + 8], *struct.unpack_from("<2I", data, at + 8)
        payload = data[at + 24:at + 24 + stored]
        yield kind, unpack(payload, raw) if stored < raw else payload
        at += 24 + stored


def chunk(kind, payload):
    packed = zlib.compress(payload, 9)
    stored = packed if len(packed) < len(payload) else payload
    head = b"CHNK" + kind + struct.pack("<3I", len(stored), len(payload), zlib.crc32(stored))
    return head + struct.pack("<I", zlib.crc32(head)) + stored


def recording(parts, major=2):
    return (b"culprit\n" + struct.pack("<2HI", major, 0, 0) +
            b"".join(chunk(*part) for part in parts))


def private(data):
    """A recording as record --private marks it: in the run's section nine values stand behind the
    flag, of a byte each in a recording without threads that never ran, readings, or reports."""
    parts = []
    for kind, payload in chunks(data):
        if kind in (b"HEAD", b"TAIL", b"RUN "):
            r = Reader(payload)
            host = section(r.section()) if kind == b"HEAD" else b""
            run_of = bytearray(r.section())
            run_of[-10] = 1
            payload = host + section(run_of) + r.rest()
        parts.append((kind, payload))
    return recording(parts, data[8])


def split_head(payload):
    """Of HEAD: host and run, as they stand, and the first CPU's section."""
    r = Reader(payload)
    begin = r.section(), r.section()
    r.number(), r.number()
    return section(begin[0]) + section(begin[1]), r.section()


def head(begin, cpus):
    """begin: host and run; cpus: a section for each, numbered from 0."""
    return begin + number(len(cpus)) + b"".join(number(i) + section(cpu)
                                                for i, cpu in enumerate(cpus))


def record(place, shape, seq, end, length):
    """An interval of a shape not seen before: (arg, id, prio, kind, level, name), at its place in
    the sequence; end: from the CPU's last record's."""
    arg, number_of, prio, kind, level, name = shape
    return (bytes((0x80 | 1 | 2, )) + number(place) +
            struct.pack("<2QIiH4B16s", arg, 0, number_of, -1, prio, kind, level, 0, 0, name) +
            struct.pack("<I", seq) + signed(end) + number(length))


def thread(place, tid, name, *when):
    """A record of a user thread."""
    return record(place, (0, tid, 120, THREAD, 0, name), *when)


def irq(place, function, *when):
    """A record of an IRQ's handler."""
    return record(place, (function, 5, 0, IRQ, IRQ_LEVEL, b""), *when)


def hiccup(start, length, records, level=0):
    """start: from the CPU's last hiccup's end; records: how many of this level lie in it."""
    return (bytes((HICCUP, )) + signed(start) + number(length) +
            b"".join(number(0) + number(records if at == level else 0) for at in range(4)))
