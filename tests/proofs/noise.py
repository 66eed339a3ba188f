#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls that a shell has no word for, again and again until it is killed.

    noise.py NAME CPU [...]     on this CPU; see the functions
"""
import ctypes
import fcntl
import itertools
import mmap
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MEMBARRIER, PERF_EVENT_OPEN, BPF, SCHED_SETATTR = \
    (324, 298, 321, 314) if os.uname().machine == "x86_64" else (283, 241, 280, 274)
GAP_S = 0.02


def again(gap=GAP_S):
    while True:
        yield
        time.sleep(gap)


def name_pid():
    with open("/tmp/pid", "w", encoding="ascii") as f:
        f.write(str(os.getpid()))


def perf(cpu, period, event=0, frequency=False, hardware=False):
    """An event of software, or of the CPU's own counters, that samples a CPU: by its clock, or
    cycles, when nothing else is said; after so many, or so many times a second."""
    attr = ctypes.create_string_buffer(
        struct.pack("<IIQQQQQ", not hardware, 64, event, period, 0, 0, frequency << 10), 64)
    fd = LIBC.syscall(PERF_EVENT_OPEN, attr, -1, cpu, -1, 0)
    if fd < 0:
        sys.exit(f"perf_event_open: {os.strerror(ctypes.get_errno())}")
    return fd


def perf_samples(cpu="1"):
    """A profiler of one CPU with a fixed period of 10 ms."""
    perf(int(cpu), 10_000_000)
    signal.pause()


def perf_cycles(cpu="1"):
    """A profiler of one CPU by its counter of cycles."""
    perf(int(cpu), 1_000_000, hardware=True)
    signal.pause()


def perf_opens(cpu="1"):
    """A tool that opens counters of a CPU and closes them."""
    for _ in again():
        os.close(perf(int(cpu), 1_000_000_000))


def perf_frequency():
    """A profiler that wants so many samples a second, at switches of threads on this CPU."""
    perf(0, 100, 3, True)
    signal.pause()


def cpu_timer():
    """Real-time bursts of a process that counts its CPU time with a timer."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    signal.signal(signal.SIGPROF, lambda *_: None)
    signal.setitimer(signal.ITIMER_PROF, 1, 1)
    for _ in again():
        spin(GAP_S)


def read_msr(cpu="1"):
    """A monitor of the CPU's time-stamp counter."""
    fd = os.open(f"/dev/cpu/{cpu}/msr", os.O_RDONLY)
    for _ in again():
        os.pread(fd, 8, 0x10)


def cryptd_hash():
    s = socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET)
    s.bind(("hash", "cryptd(sha256-generic)"))
    for _ in again():
        op, _ = s.accept()
        op.sendall(b"x")
        op.recv(32)
        op.close()


def sleepable_program():
    """Programs of BPF that may sleep come and go."""
    code = ctypes.create_string_buffer(struct.pack("<QQ", 0xb7, 0x95))  # r0 = 0; exit
    license_ = ctypes.create_string_buffer(b"GPL")
    attr = ctypes.create_string_buffer(
        struct.pack("<IIQQIIQII", 31, 2, ctypes.addressof(code), ctypes.addressof(license_), 0, 0,
                    0, 0, 1 << 4), 128)  # BPF_PROG_TYPE_SYSCALL, BPF_F_SLEEPABLE
    for _ in again():
        fd = LIBC.syscall(BPF, 5, attr, 128)  # BPF_PROG_LOAD
        if fd < 0:
            sys.exit(f"bpf: {os.strerror(ctypes.get_errno())}")
        os.close(fd)


def deferred_free(reader="0"):
    """Packets of this CPU are freed by a reader on another one, many at a time."""
    server = socket.create_server(("127.0.0.1", 0))
    end = socket.create_connection(server.getsockname())
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    here, other = os.sched_getaffinity(0), server.accept()[0]
    for _ in again():
        for _ in range(500):
            end.send(b"x")
        os.sched_setaffinity(0, {int(reader)})
        other.recv(500)
        os.sched_setaffinity(0, here)


def wakes(cpu="1"):
    """A thread that sleeps on a CPU is woken by this one; the file /tmp/pid names it."""
    r, w = os.pipe()
    if not os.fork():
        name_pid()
        os.sched_setaffinity(0, {int(cpu)})
        while True:
            os.read(r, 1)
    for _ in again():
        os.write(w, b"x")


def signals(cpu="1"):
    """A process that spins on a CPU gets signals."""
    pid = os.fork()
    if not pid:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN if cpu == "-" else lambda *_: None)
        os.sched_setaffinity(0, {int(cpu)})
        while True:
            pass
    time.sleep(0.5)
    for _ in again():
        os.kill(pid, signal.SIGUSR1)


def wall_clock(cpu="1"):
    """The clock is stepped to and fro over a timer of a thread on a CPU."""
    if not os.fork():
        os.sched_setaffinity(0, {int(cpu)})
        fd = LIBC.timerfd_create(time.CLOCK_REALTIME, 0)
        for _ in again():
            at = struct.pack("<QQQQ", 0, 0, int(time.time()) + 30, 0)
            LIBC.timerfd_settime(fd, 1, at, None)  # TFD_TIMER_ABSTIME
    for n, _ in enumerate(again(5 * GAP_S)):
        time.clock_settime(time.CLOCK_REALTIME, time.time() + (-60 if n % 2 else 60))


def deadline():
    """A task with a deadline, which uses up its time again and again."""
    ms = 1_000_000
    attr = ctypes.create_string_buffer(
        struct.pack("<IIQiIQQQ", 48, 6, 0, 0, 0, 2 * ms, 20 * ms, 20 * ms), 48)
    if LIBC.syscall(SCHED_SETATTR, 0, attr, 0):
        sys.exit(f"sched_setattr: {os.strerror(ctypes.get_errno())}")
    while True:
        os.sched_yield()


def broadcast():
    """Datagrams that a network card sends to all."""
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    for _ in again():
        s.sendto(b"x", ("10.9.0.255", 9))


def ipmi():
    """A monitor that asks the management controller who it is."""
    data, to = ctypes.create_string_buffer(8), struct.pack("<ihBB", 0xc, 0xf, 0, 0)
    address = ctypes.create_string_buffer(to)
    request = struct.pack("<QIIqBBHIQ", ctypes.addressof(address), 8, 0, 1, 6, 1, 0, 0,
                          ctypes.addressof(data))
    for _ in again():
        with open("/dev/ipmi0", "r+b", buffering=0) as f:
            fcntl.ioctl(f, 0x8028690d, request)  # IPMICTL_SEND_COMMAND: Get Device ID
            select.select([f], [], [], 1)


def spin(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def grow():
    """More memory than its group may have."""
    with open("/proc/self/oom_score_adj", "w", encoding="ascii") as f:
        f.write("1000")
    with mmap.mmap(-1, 1 << 25) as m:
        for at in range(0, 1 << 25, 4096):
            m[at] = 1


def spin_here_and(cpu, beside):
    """A thread of this process spins on a CPU, outside the interpreter, beside another that does
    something."""
    def spin():
        os.sched_setaffinity(0, {int(cpu)})
        buffer = ctypes.create_string_buffer(1 << 20)
        while True:
            LIBC.memset(buffer, 0, 1 << 20)

    threading.Thread(target=spin, daemon=True).start()
    for _ in again():
        beside()


def munmap(cpu="1"):
    """Memory is unmapped beside a thread on a CPU."""
    def beside():
        with mmap.mmap(-1, 1 << 16) as m:
            m[:] = b"x" * (1 << 16)
    spin_here_and(cpu, beside)


def membarrier(cpu="1"):
    LIBC.syscall(MEMBARRIER, 1 << 4, 0, 0)  # MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED
    spin_here_and(cpu, lambda: LIBC.syscall(MEMBARRIER, 1 << 3, 0, 0))


def itimer():
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, GAP_S, GAP_S)
    while True:
        signal.pause()


def affinity():
    """Moves a thread that spins from CPU to CPU."""
    pid = os.fork()
    if not pid:
        while True:
            pass
    for cpu in itertools.cycle((0, 1)):
        os.sched_setaffinity(pid, {cpu})
        time.sleep(GAP_S)


def keyboard_leds():
    with open("/dev/tty0", "rb") as tty:
        for n, _ in enumerate(again()):
            fcntl.ioctl(tty, 0x4b32, n & 7)  # KDSETLED


def memory():
    """Small mappings are filled and given back."""
    for _ in again():
        with mmap.mmap(-1, 1 << 20) as m:
            m[:] = b"x" * (1 << 20)


def long_calls():
    """System calls that take a quarter of a second, of a real-time thread."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    buffer = [memoryview(bytearray(1 << 20))] * 64
    with open("/dev/zero", "rb", buffering=0) as zero:
        for _ in again(0.1):
            os.readv(zero.fileno(), buffer)


def huge():
    """A page here and there where huge ones may be: khugepaged makes them whole."""
    for _ in again(0.1):
        with mmap.mmap(-1, 1 << 24, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as m:
            m.madvise(mmap.MADV_NOHUGEPAGE)
            for at in range(0, 1 << 24, 1 << 21):
                m[at] = 1
            m.madvise(mmap.MADV_HUGEPAGE)
            time.sleep(0.1)


def kvm(cpu="1"):
    """A virtual machine of one CPU, which spins on this one; its memory changes again and again."""
    dev = os.open("/dev/kvm", os.O_RDWR)
    vm = fcntl.ioctl(dev, 0xae01, 0)  # KVM_CREATE_VM
    pages = mmap.mmap(-1, 8192)
    pages[0xff0:0xff2] = b"\xeb\xfe"  # jmp to itself, where a CPU begins
    at = ctypes.addressof(ctypes.c_char.from_buffer(pages))

    def region(slot, physical, size, offset):
        fcntl.ioctl(vm, 0x4020ae46,  # KVM_SET_USER_MEMORY_REGION
                    struct.pack("<IIQQQ", slot, 0, physical, size, at + offset))

    region(0, 0xfffff000, 4096, 0)
    vcpu = fcntl.ioctl(vm, 0xae41, 0)  # KVM_CREATE_VCPU

    def run():
        os.sched_setaffinity(0, {int(cpu)})
        while True:
            fcntl.ioctl(vcpu, 0xae80, 0)  # KVM_RUN

    threading.Thread(target=run, daemon=True).start()
    for _ in again():
        region(1, 0, 4096, 4096)
        region(1, 0, 0, 4096)


def vhost(cpu="1"):
    """A guest's network card whose queue is kicked; its worker runs on a CPU, and /tmp/pid names
    it."""
    dev = os.open("/dev/vhost-net", os.O_RDWR)
    before = set(os.listdir("/proc")) | set(os.listdir("/proc/self/task"))
    fcntl.ioctl(dev, 0xaf01, 0)  # VHOST_SET_OWNER
    worker, = (set(os.listdir("/proc")) | set(os.listdir("/proc/self/task"))) - before
    os.sched_setaffinity(int(worker), {int(cpu)})
    with open("/tmp/pid", "w", encoding="ascii") as f:
        f.write(worker)
    kick = LIBC.eventfd(0, 0)
    fcntl.ioctl(dev, 0x4008af20, struct.pack("<Ii", 1, kick))  # VHOST_SET_VRING_KICK
    for _ in again():
        os.write(kick, struct.pack("<Q", 1))


def directories(path):
    """One is made and removed; /tmp/pid names this process."""
    name_pid()
    for _ in again():
        os.mkdir(path)
        os.rmdir(path)


def frees():
    """Much memory is filled and given back."""
    for _ in again(0.5):
        with mmap.mmap(-1, 1 << 26) as m:
            m[:] = b"x" * (1 << 26)


def flag():
    """A byte that a file holds, read without a system call."""
    with open("/tmp/flag", "w+b") as f:
        f.write(b"0")
        f.flush()
        return mmap.mmap(f.fileno(), 1)


def faults():
    """New memory is written to; once the flag is set, all memory is locked."""
    locked = flag()
    for _ in again():
        if locked[0] == ord("1"):
            LIBC.mlockall(3)  # MCL_CURRENT, MCL_FUTURE
        else:
            LIBC.munlockall()
        with mmap.mmap(-1, 1 << 16) as m:
            m[:] = b"x" * (1 << 16)


def system_calls():
    """A hot loop that enters the kernel now and then, until the flag is set."""
    quiet, n = flag(), 0
    while True:
        n += 1
        if not n % 1000 and quiet[0] != ord("1"):
            os.getppid()


if __name__ == "__main__":
    if sys.argv[2] != "-":
        os.sched_setaffinity(0, {int(sys.argv[2])})
    globals()[sys.argv[1]](*sys.argv[3:])
