# SPDX-License-Identifier: GPL-2.0-or-later
"""What the live tests share: TAP for prove, running culprit and poke side by side, and the report's
invariants.

A test file ends with done(). Expectations about noise hold on a busy virtual machine, too: counts
are held against the kernel's own counters of the same window, times get an allowance that is stated
where it is used.
"""
import collections
import contextlib
import ctypes
import errno
import fcntl
import glob
import importlib
import json
import os
import pty
import random
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback
import types
import uuid

import schemas

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CULPRIT = os.path.abspath(os.environ.get("CULPRIT") or os.path.join(ROOT, "build", "culprit"))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.dirname(CULPRIT))
POKE = os.path.abspath(os.environ.get("POKE") or os.path.join(os.path.dirname(CULPRIT), "poke"))
# Nothing that works takes so long, however busy the machine is: what does has failed.
HANG_S = 300
# Set-up: loading and attaching the probes, learning the loop. A guest of arm64 takes 20 s of a CPU.
READY_MAX_S = HANG_S
# By then all has ended that ends when it is told to, also on a busy machine, and nothing that waits
# for the end of its window, of a minute and more.
AT_ONCE_S = 30
MARK = "CULPRIT_TEST=" + uuid.uuid4().hex  # in the environment of all that this file starts

# CPUs; culprit gets them all, the test itself keeps off the target
ALLOWED = os.sched_getaffinity(0)

_count = 0
_failed = 0
# Locks that all trees on a machine have: directories that are always there.
TURN, QUEUE, PLACES = "/tmp", "/", ("/usr", "/dev")
_turn = _shared = _place = None
_in_json = []  # the fault of each output in JSON, or None
_starved = None  # last words of a culprit whose samplers could not run


# ---- TAP ----


def _say(text):
    print(text, flush=True)


def diag(*lines):
    for line in lines:
        for part in str(line).splitlines() or [""]:
            _say("# " + part)


def ok(passed, name, *details):
    """One test; the details are printed when it fails. After a run whose samplers had no CPU for
    ten seconds it cannot: what else would have come of it is not known."""
    global _count, _failed
    if _starved and not passed:
        not_judged(name, _starved)
        diag(*details)
        return False
    _count += 1
    _say(f"{'ok' if passed else 'not ok'} {_count} - {name}")
    if not passed:
        _failed += 1
        diag(*details)
    return bool(passed)


def is_(got, want, name):
    return ok(got == want, name, f"got  {got!r}", f"want {want!r}")


def skip(name, reason):
    global _count
    _count += 1
    _say(f"ok {_count} - {name} # SKIP {reason}")


def not_judged(name, why):
    """The machine made this result worthless: tests/check runs the file again, and calls it failed
    when that does not help."""
    skip(name, "not judged: " + why)


def skip_all(reason, required=False):
    """The whole file cannot run. Where CI promises what it lacks, that is a failure."""
    if required and os.environ.get("CI") == "true":
        _say("1..1")
        _say(f"not ok 1 - {reason}")
        sys.exit(1)
    _say(f"1..0 # SKIP {reason}")
    sys.exit(0)


def bail(reason):
    _say("Bail out! " + reason)
    sys.exit(255)


def keeps_to_schema(text):
    """Looks whether this, where it is JSON of culprit's, keeps to its schema: done() says so."""
    if found := schemas.leaves(text):
        _in_json.append(found[1] and f"{found[0]}: {found[1]}")


def done():
    if _in_json:
        bad = [why for why in _in_json if why]
        ok(not bad, "all outputs in JSON keep to their schemas", *bad[:5])
    _say(f"1..{_count}")
    sys.exit(1 if _failed else 0)


@contextlib.contextmanager
def small_disk(path, options):
    """A tmpfs, mounted there inside the block; yields whether it could be. Others may hold all that
    is mounted open, as who waits for all disks does: the name goes at once, the rest when they let
    go."""
    mounted = not subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path],
                                 stdout=sys.stderr).returncode
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "-l", path], stdout=sys.stderr, check=True)


def mounts_below(place):
    """Where something is mounted in a folder whose path has no blank, the last one first."""
    mounted = [line.split()[4] for line in read("/proc/self/mountinfo").splitlines()]
    return [path for path in reversed(mounted) if f"{path}/".startswith(f"{place}/")]


def _died(kind, value, trace):
    ok(False, "the test went on to its end",
       "".join(traceback.format_exception(kind, value, trace)))
    _say(f"1..{_count}")
    if _starved:  # to be run again, so nothing of it stays
        place = tempfile.gettempdir()
        for name in os.listdir(place) if "culprit-check-" in place else ():
            for path in mounts_below(os.path.join(place, name)):
                subprocess.run(["umount", "-l", path], stdout=sys.stderr)
            path = os.path.join(place, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        os._exit(0)


sys.excepthook = _died


# ---- what the machine must have ----


def with_readers():
    """Goes on under the Python that make check has given the readers of others' formats, where it
    has: they are imported after this."""
    readers = os.path.join(BUILD, "readers")
    python = os.path.join(readers, "bin", "python")
    if os.path.exists(python) and not sys.prefix.startswith(readers):
        os.execv(python, [python, os.path.abspath(sys.argv[0])])


def need_reader(module):
    """with_readers(), and the module. Without it the file is skipped; where CI promises it, that
    fails."""
    with_readers()
    try:
        return importlib.import_module(module)
    except ImportError:
        if os.environ.get("CI") == "true":
            raise
        skip_all(f"the Python package {module} is not there (make check installs it when it can)")


def sanitized():
    """culprit was built with a sanitizer: it has no filters of system calls, and other memory."""
    with open(CULPRIT, "rb") as f:
        return b"__asan_init" in f.read()


def landlocked():
    """True when the kernel lets a process give up writing."""
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 2


def tell_rights(file):
    """What a false program of others' runs, in shell, to say in a line what it may do."""
    return ("while read -r name value; do case $name in CapEff:|NoNewPrivs:) "
            "said=\"$said $value\";; esac; done </proc/self/status\n"
            f"(echo x >{file}) 2>&- && said=\"$said wrote\"\necho \"rights$said.\"\n")


def has_rights(text, rights):
    """True when the line of tell_rights in a text says these capabilities at most, of ours, and
    nothing beyond."""
    told = re.search(r"rights (\w+) 1( wrote)?\.", text)
    mine = int(re.findall(r"CapPrm:\t(\w+)", read("/proc/self/status"))[0], 16)
    return (told and int(told[1], 16) == (rights & mine if os.geteuid() == 0 else 0)
            and not (told[2] and landlocked()))


def helper(name):
    """A program of the build that is no part of culprit."""
    path = os.path.join(BUILD, name)
    if not os.path.exists(path):
        skip_all(f"no {path}: make unit-tests builds it", required=True)
    return path


def read(path):
    """A small file, or ""."""
    try:
        with open(path, errors="backslashreplace") as f:
            return f.read().strip()
    except OSError:
        return ""


def parse_cpus(text):
    cpus = set()
    for part in filter(None, text.split(",")):
        lo, _, hi = part.partition("-")
        cpus.update(range(int(lo), int(hi or lo) + 1))
    return cpus


def online():
    return parse_cpus(read("/sys/devices/system/cpu/online"))


def thread_name(name, kernel_thread):
    """As render_comm writes it. kernel_thread None: it is that of several, merged."""
    if kernel_thread:
        return f"[{name}]"
    poses = kernel_thread is False and (name[:1] == "[" or name == "(others)")
    return f"\\x{ord(name[0]):02x}{name[1:]}" if poses else name


def need_root():
    if os.geteuid() != 0:
        skip_all("needs root", required=True)


def need_bpf(shared=False):
    """Asked of the kernel, not of culprit: a culprit that cannot load its probes must fail its
    tests, not skip them. Takes the turn, as take_turn()."""
    need_root()
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        skip_all("needs BPF type information: no /sys/kernel/btf/vmlinux", required=True)
    if why := need_class(pick_target(shared), "bpf"):
        skip_all("needs BPF: " + why, required=True)


def take_turn(shared=False):
    """Waits until no other test measures on this machine, whatever TMPDIR says: its noise would be
    taken for this one's.

    Until the file ends. Files that measure nothing (tests/cli) take no turn. shared: those that
    hold beside each other take one together: guests that count instructions or need nothing that
    the host could make too late, and files that assert what is said and how it ends, of windows in
    which there may be anything. All queue for it at another lock, so that those who share do not
    keep a turn for ever from who does not. Who has stepped aside (tests/check) needs none.
    """
    global _turn, _shared
    if _shared not in (None, shared):
        raise RuntimeError("a file shares its turn, or it does not")
    _shared = shared
    if _turn is None and not (shared and os.environ.get("CULPRIT_ASIDE")):
        _turn, queue = os.open(TURN, os.O_RDONLY), os.open(QUEUE, os.O_RDONLY)
        fcntl.flock(queue, fcntl.LOCK_EX)
        fcntl.flock(_turn, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        os.close(queue)


def take_place():
    """Waits until no more than one other file measures, also of other trees: among more of them a
    window may have hardly a turn of its CPU. Until the file ends."""
    global _place
    while _place is None:
        for path in PLACES:
            fd = os.open(path, os.O_RDONLY)
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _place = fd
                return
            os.close(fd)
        time.sleep(0.05)


def pick_target(shared=False):
    """An isolated CPU, or else the highest allowed one; skips the file where it would be the only
    one. Takes the turn, as take_turn().

    This process and the pokes that it starts keep off that CPU from then on.
    """
    take_turn(shared)
    if shared:
        take_place()
    here = online()
    isolated = parse_cpus(read("/sys/devices/system/cpu/isolated")) & here
    cpu = min(isolated) if isolated else max(ALLOWED & here)
    if not ALLOWED - {cpu}:
        skip_all("needs two CPUs")
    os.sched_setaffinity(0, ALLOWED - {cpu})
    return cpu


def need_class(cpu, name):
    """None, or why poke cannot make this class here."""
    r = subprocess.run([POKE, "list", "--check", "-c", str(cpu)], capture_output=True, text=True,
                       timeout=HANG_S)
    said = dict(line.split(None, 1) for line in r.stdout.splitlines())
    return None if said[name].startswith("ok") else said[name]


# ---- running ----


class Result:
    def __init__(self, rc, out, err, seconds, slow=""):
        """slow: what it was at, when it had not ended at once."""
        self.rc, self.out, self.err, self.seconds, self.slow = rc, out, err, seconds, slow
        global _starved
        if starved(self):
            _starved = err.strip().splitlines()[-1]

    def __repr__(self):
        return (f"rc {self.rc} after {self.seconds:.1f} s{self.slow}\n"
                f"stdout: {self.out[:2000]}\nstderr: {self.err[:2000]}")


def loopback():
    """Whether messages to 127.0.0.1 arrive."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.settimeout(AT_ONCE_S)
        s.bind(("127.0.0.1", 0))
        s.sendto(b"x", s.getsockname())
        return s.recv(1) == b"x"
    return False


def free_port():
    """One that no connection of others is given before what is run next listens there."""
    least, most = map(int, read("/proc/sys/net/ipv4/ip_local_port_range").split())
    while True:
        found = random.randrange(10000, 60000)
        with contextlib.suppress(OSError), socket.socket() as s:
            s.bind(("127.0.0.1", found))
            if not least <= found <= most:
                return found


def _environment():
    key, value = MARK.split("=")
    return dict(os.environ, **{key: value})


def _begin():
    """In a new process: it may use all CPUs, and ends when the test does, also one that dies."""
    os.sched_setaffinity(0, ALLOWED)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def spawn(*args, prefix=(), path=CULPRIT, start_new_session=True, **kwargs):
    """culprit in a process group of its own; without a new session that wants process_group=0.
    kwargs are Popen's, as pipesize: bytes that its pipes hold; one with more in it cannot be made
    smaller afterwards."""
    return subprocess.Popen([*prefix, path, *args], stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment(),
                            start_new_session=start_new_session, preexec_fn=_begin, **kwargs)


def children(pid):
    """The processes that its first thread started, the eldest first; none: it has ended."""
    return [int(p) for p in read(f"/proc/{pid}/task/{pid}/children").split()]


# A thread: its process and that one's parent, its name, its state, CPU, policy and priority as
# /proc/PID/stat has them, and for how many ns it ran so far and waited for its CPU
Thread = collections.namedtuple("Thread", "pid parent comm state cpu policy priority ran waited")


def threads():
    """{folder in /proc: Thread} of all that there are."""
    found = {}
    for task in glob.glob("/proc/[0-9]*/task/*"):
        fields, spent = stat(task[len("/proc/"):]), read(f"{task}/schedstat").split()
        if len(fields) > 38 and len(spent) > 1:
            found[task] = Thread(int(task.split("/")[2]), int(fields[1]),
                                 read(f"{task}/comm").strip(), fields[0], int(fields[36]),
                                 fields[38], fields[15], int(spent[0]), int(spent[1]))
    return found


def _offspring(pid, there):
    """Of threads() the process and all that it started."""
    found = {pid}
    while more := {t.pid for t in there.values() if t.parent in found} - found:
        found |= more
    return found


def busy_with(pid, there):
    """Where the threads of a process and of those that it started stand, in lines of text; of one
    that waits for its CPU, who else would run."""
    found, its = [], _offspring(pid, there)
    for task, t in there.items():
        if t.pid not in its:
            continue
        stack = " < ".join(line.split()[-1] for line in read(f"{task}/stack").splitlines()[:6])
        found.append(f"\n{task} {t.comm} {t.state} {stack}; cpu {t.cpu} policy {t.policy} "
                     f"priority {t.priority}, ran {t.ran / 1e9:.3f} s, "
                     f"waited {t.waited / 1e9:.3f} s")
        found += [f"\n  beside {other} {o.comm} policy {o.policy} priority {o.priority}"
                  for other, o in there.items()
                  if t.state == o.state == "R" and o.cpu == t.cpu and other != task]
    return "".join(found)


def kept_waiting(pid, before, now):
    """From (time, threads()) twice: the seconds between, and words, when a thread of a process or
    of those that it started wanted its CPU both times and had less than a hundredth of them, while
    neither what this file started nor anybody's culprit had a tenth of that CPU; or None."""
    seconds, was, there = now[0] - before[0], before[1], now[1]
    ran = {task: t.ran - was[task].ran for task, t in there.items() if task in was}
    its, ours = _offspring(pid, there), _offspring(os.getpid(), there)
    for task in ran:
        cpu = there[task].cpu
        if (there[task].pid not in its or ran[task] >= 1e7 * seconds or was[task].cpu != cpu
                or not was[task].state == there[task].state == "R"):
            continue
        beside = [other for other in ran if there[other].cpu == cpu]
        if sum(ran[other] for other in beside if there[other].pid in ours
               or there[other].comm.startswith("culprit")) < 1e8 * seconds:
            most = max(beside, key=ran.get)
            return seconds, (f"a thread that wanted CPU {cpu} was kept from it ({there[most].comm} "
                             f"had it for {ran[most] / 1e9:.1f} s of {seconds:.1f})")
    return None


def finish(proc, timeout=HANG_S, since=None):
    """Its Result, with the seconds from now or `since` to its end; rc None when it had to be
    killed. Where that was because the machine kept it from its CPU for more than half of the time
    (by the kernel's count of what each thread ran), nothing that fails from then on is judged."""
    global _starved
    start, slow, polls = since or time.monotonic(), "", []
    step = min(timeout, AT_ONCE_S) / 3
    while True:
        left = start + timeout - time.monotonic()
        try:
            out, err = proc.communicate(timeout=max(0, min(left, step)))
            rc = proc.returncode
            break
        except subprocess.TimeoutExpired:
            polls.append((time.monotonic(), threads()))
            at, there = polls[-1]
            slow = f"; {at - start:.0f} s after its begin it was at{busy_with(proc.pid, there)}"
            if left > step:
                continue
            os.killpg(proc.pid, signal.SIGKILL)
            out, err = proc.communicate()
            rc = None
            diag(f"killed after {timeout} s{slow}")
            waits = [wait for pair in zip(polls, polls[1:])
                     if (wait := kept_waiting(proc.pid, *pair))]
            if sum(seconds for seconds, _ in waits) > timeout / 2:
                _starved = waits[-1][1]
            break
    keeps_to_schema(out)
    for word in proc.args:
        if word.endswith(".json") and os.path.isfile(word):
            keeps_to_schema(read(word))
    return Result(rc, out, err, time.monotonic() - start, slow)


def culprit(*args, timeout=HANG_S, **kwargs):
    """Its Result, with the seconds from before it began to after it ended."""
    since = time.monotonic()
    return finish(spawn(*args, **kwargs), timeout, since)


def on_terminal(*args, lines=0, columns=0, until=None, **env):
    """The Result of culprit when all its streams are a terminal of so many lines and columns, with
    all that it printed as stderr; 0: it does not say. What runs for longer than HANG_S is killed,
    and has printed that, too. until: once this has come, Ctrl-C does."""
    pid, master = pty.fork()
    if not pid:
        try:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.environ.pop("COLUMNS", None)
            os.environ.update(env)
            os.execv(CULPRIT, [CULPRIT, *args])
        finally:
            os._exit(127)  # never on in the test
    out, deadline = b"", time.monotonic() + HANG_S
    try:
        while select.select([master], [], [], max(0, deadline - time.monotonic()))[0]:
            if not (chunk := os.read(master, 4096)):
                break
            out += chunk
            if until and until.encode() in out:
                os.write(master, b"\x03")
                until = None
        else:
            out += b"\r\nkilled: it ran for too long"
            os.killpg(pid, signal.SIGKILL)
    except OSError:  # nobody has the terminal any more
        pass
    os.close(master)
    rc, text = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode(errors="replace")
    return Result(rc, "", text.replace("\r\n", "\n"), 0)


def interrupted_early(*args):
    """culprit's Result, which a Ctrl-C reaches as soon as it listens to it: before its window
    opens, or, where this test may not run for a while, soon after."""
    proc = spawn(*args)
    while proc.poll() is None:
        caught = re.search(r"^SigCgt:\s*(\w+)", read(f"/proc/{proc.pid}/status"), re.M)
        if caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            proc.send_signal(signal.SIGINT)
            break
        time.sleep(0.001)
    return finish(proc, READY_MAX_S)


def starved(r):
    """Whether culprit says that its samplers, or those of them that have to run at once, had no CPU
    for ten seconds: the machine has left nothing to judge."""
    return r.rc in (1, 3) and re.search("could not run(,| within)|did not come back to stop", r.err)


@contextlib.contextmanager
def ready_file():
    """A path that does not exist yet."""
    directory = tempfile.mkdtemp(prefix="culprit-test-")
    try:
        yield os.path.join(directory, "ready")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def policy(pid):
    return os.sched_getscheduler(pid) & ~os.SCHED_RESET_ON_FORK


def await_ready(proc, path):
    """Waits until the window is open."""
    deadline = time.monotonic() + READY_MAX_S
    while not os.path.exists(path):
        if proc.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"culprit did not begin to measure: {finish(proc, 1)}")
        time.sleep(0.01)


# Descriptions of interrupts with a number that have a row of their own on x86.
ROWS = {"arch_timer": "LOC", "Rescheduling interrupts": "RES", "Function call interrupts": "CAL",
        "IRQ work interrupts": "IWI"}


def interrupts(cpu):
    """/proc/interrupts of one CPU: {"LOC": 123, "36": 7, ...}. The timer and the IPIs of every
    architecture have the names of x86's rows."""
    with open("/proc/interrupts") as f:
        column = f.readline().split().index(f"CPU{cpu}")
        rows = {}
        for line in f:
            name, _, rest = line.partition(":")
            values = rest.split()
            if column < len(values) and values[column].isdigit():
                row = next((r for words, r in ROWS.items() if line.rstrip().endswith(words)),
                           name.strip())
                rows[row] = rows.get(row, 0) + int(values[column])
        return rows


def softirqs(cpu):
    with open("/proc/softirqs") as f:
        column = f.readline().split().index(f"CPU{cpu}")
        return {line.split(":")[0].strip(): int(line.split(":")[1].split()[column]) for line in f}


def counters(cpu):
    return {**interrupts(cpu), **softirqs(cpu)}


def difference(after, before):
    return {row: n - before.get(row, 0) for row, n in after.items()}


def unseen_threads():
    """Tids of process 1: some kernels show a tracer neither that these come to a CPU nor that they
    leave it, and run no program in them."""
    return set(map(int, os.listdir("/proc/1/task")))


def unseen_switches():
    """How often each of them has left a CPU."""
    return {tid: sum(map(int, re.findall(r"ctxt_switches:\s+(\d+)",
                                         read(f"/proc/1/task/{tid}/status"))))
            for tid in unseen_threads()}


def unseen_since(before):
    """How often they have since then, those that have ended left out."""
    return sum(max(0, n - before.get(tid, 0)) for tid, n in unseen_switches().items())


_unseen = unseen_switches()


class Log(list):
    """poke's pokes, with what the kernel counted on the target meanwhile.

    inner: from after the window opened to before it closed; outer: from before culprit started to
    after it ended. A row that culprit observes completely lies between the two. switches: of each
    class with a thread on the target, how often the kernel had taken that thread off its CPU when
    it came to its end; preempted: of these, how often it could have gone on. tids: culprit's own
    threads in the window; others may run one, too. err: what culprit said.
    """

    config = None
    inner = outer = None
    switches = {}
    preempted = {}
    tids = set()
    err = ""


def run_poke(cpu, *args, timeout=HANG_S):
    r = subprocess.run([POKE, args[0], "-c", str(cpu), *args[1:]], capture_output=True, text=True,
                       timeout=timeout,
                       env=_environment())
    if r.returncode:
        raise RuntimeError(f"poke {' '.join(args)}: rc {r.returncode}: {r.stderr.strip()}")
    lines = [json.loads(line) for line in r.stdout.splitlines()]
    log = Log(lines[1:-1])
    log.config, log.switches = lines[0], lines[-1]["switches"]
    log.preempted = lines[-1]["preempted"]
    return log


@contextlib.contextmanager
def opened(*args, stop=True, timeout=HANG_S, **kwargs):
    """culprit with args, whose window is open inside the block. Yields a namespace: proc, and after
    the block result.

    With `stop` the window is closed after the block, so that it is as long as what is done in it:
    its -d is how long it may be.
    """
    with ready_file() as path:
        run = types.SimpleNamespace(proc=spawn(*args, "--ready-file", path, **kwargs), result=None)
        try:
            await_ready(run.proc, path)
            yield run
            if stop and run.proc.poll() is None:
                run.proc.send_signal(signal.SIGINT)
            run.result = finish(run.proc, timeout)
        finally:
            if run.proc.poll() is None:
                os.killpg(run.proc.pid, signal.SIGKILL)
                run.proc.communicate()


def run_json(cpu, seconds, *extra, poke=None, **kwargs):
    """Measures `cpu` for `seconds` and more, at least as long as poke ["fifo", "-n", "20"] takes.
    Returns (report, log)."""
    before = counters(cpu)
    with opened("run", "-c", str(cpu), "-d", "10m", "-f", "json", "-q", *extra,
                **kwargs) as run:
        begun = time.monotonic()
        # some end meanwhile: those that open files for --user-stacks
        tids = {int(t.rpartition("/")[2]) for pid, _ in marked()
                for t in glob.glob(f"/proc/{pid}/task/*")}
        opening = counters(cpu)
        log = run_poke(cpu, *poke) if poke else Log()
        time.sleep(max(0, begun + seconds - time.monotonic()))
        closing = counters(cpu)
        if run.proc.poll() is not None:
            raise RuntimeError(f"the window closed before poke was done: {finish(run.proc, 1)}")
    log.inner, log.outer = difference(closing, opening), difference(counters(cpu), before)
    log.tids, log.err = tids, run.result.err
    if run.result.rc != 0:
        raise RuntimeError(f"culprit run: {run.result}")
    return json.loads(run.result.out), log


def remove_group(path):
    """Removes a control group whose last process has ended: it may be a moment before it left."""
    deadline = time.monotonic() + HANG_S
    while True:
        try:
            return os.rmdir(path)
        except OSError as e:
            if e.errno != errno.EBUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


def stat(pid):
    """The fields of /proc/PID/stat from its state on, as the name before may have any byte; [] when
    it has gone. pid: also "PID/task/TID"."""
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def stolen_ns(cpu):
    """For how long the host had a CPU, by the kernel's counter in ticks of 10 ms."""
    row = re.search(rf"^cpu{cpu} (.*)$", read("/proc/stat"), re.M)[1].split()
    return int(row[7]) * 10**9 // os.sysconf("SC_CLK_TCK")


def cpu_ns(tid):
    """For how long a thread has had a CPU, by the kernel."""
    return int(read(f"/proc/{tid}/schedstat").split()[0])


def marked():
    """Processes that this file started and that still run: [(pid, comm)]."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as f:
                ours = MARK.encode() in f.read().split(b"\0")
            if ours and stat(pid)[:1] not in ([], ["Z"]):
                found.append((int(pid), read(f"/proc/{pid}/comm")))
    return found


def await_gone(find, seconds=HANG_S):
    """Polls until find() returns nothing; returns what is left."""
    deadline = time.monotonic() + seconds
    while (left := find()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return left


# ---- reports ----


def cpu_of(report, cpu):
    return next(c for c in report["cpus"] if c["cpu"] == cpu)


def _matches(row, match):
    for key, want in match.items():
        have = row.get(key)
        if isinstance(want, re.Pattern):
            if not isinstance(have, str) or not want.search(have):
                return False
        elif callable(want):
            if not want(have):
                return False
        elif have != want:
            return False
    return True


def sources(report, cpu, **match):
    """The CPU's sources that match: a value, a compiled pattern or a function for each key."""
    return [s for s in cpu_of(report, cpu)["sources"] if _matches(s, match)]


def of_pokes(report, cpu, log):
    """The CPU's sources that are threads of these pokes, by their numbers: others may poke there,
    too. Until it has its name a thread may be anywhere."""
    its = {(e["tid"], e["comm"]) for e in log if "tid" in e}
    return [s for s in sources(report, cpu, kind="thread") if (s["id"], s["name"]) in its]


# Requests of a program of tests/live/callers.c, of which one in four is of its second way. Were it
# chance which of them come, ten of that way at most would do so less than once in a million
# windows: sum(comb(125, k) * 3 ** (125 - k) for k in range(11)) / 4 ** 125 = 9.7e-7; as many as of
# the first way once in 1e9.
LEAST = 125


def why_not(err, *programs):
    """Why nothing can be said of the ways of programs by which they asked, or "". On a busy machine
    threads that are called have hardly a turn; nor has who looks at stacks, and he gives some up
    then. culprit says so: a stack without calls of which it does not is for the test to judge."""
    bare = [w for ways in programs for w in ways if w.get("user_stack") == []]
    if "took ten seconds" in err or bare and re.search("the calls of .* are not known", err):
        return err.strip()
    few = [n for n in (sum(w["count"] for w in ways) for ways in programs) if n < LEAST]
    return f"of some programs there are {few} requests" if few else ""


def does_close(report, cpu, row, count, inner, outer, slack=0):
    """Whether as many as the kernel counted: between its count inside the window and that around
    it, both {row: n}. A record in a gap below the threshold is counted there instead of in a
    source; one whose begin was not seen is in none.

    Some kernels have threads in whose time no tracepoint fires: nobody sees the interrupts that
    come then. Closure shows that some are missing; where such a thread was seen by nobody at all,
    as between two turns of the sampler, no more than those threads have left a CPU.
    """
    c = cpu_of(report, cpu)
    below = c["records"]["below_threshold"] + c["records"]["unpaired"]
    lacks = inner[row] - below - slack - count
    told = any(x["counter"].removeprefix("softirq ") == row and x["kernel"] > x["traced"]
               for x in c["closure"])
    return (lacks <= 0 or (told and (c["records"]["unpaired"] or lacks <= unseen_since(_unseen)))
            ) and count <= outer[row] + slack


def closes(report, cpu, row, count, inner, outer, what, *details):
    c = cpu_of(report, cpu)
    return ok(does_close(report, cpu, row, count, inner, outer),
              f"{what}: as many as the kernel counted",
              f"kernel {inner[row]}..{outer[row]}, culprit {count}", c["records"], c["closure"],
              *details)


def total(rows, key="total_ns"):
    return sum(row[key] for row in rows)


def names(report):
    """All (kind, name) that a report names, in its sources and its worst hiccups."""
    rows = [s for c in report["cpus"] for s in c["sources"]] + [p for w in report["worst"]
                                                                for p in w["pieces"]]
    return {(r["kind"], r["name"]) for r in rows}


def shared_ns(hiccup, e):
    """For how long a line of jsonl and one of poke's log go on at once."""
    return (min(hiccup["start_ns"] + hiccup["duration_ns"], e["end_ns"])
            - max(hiccup["start_ns"], e["start_ns"]))


def spans(log, start="start_ns", end="end_ns"):
    """For how long poke's pokes went on, in all."""
    return sum(e[end] - e[start] for e in log)


def ran(log):
    """The CPU time that poke's threads had in them."""
    return sum(e["ran_ns"] for e in log)


HANDLERS = "vector", "irq", "softirq", "nmi"  # kinds of what interrupts, and is no thread
ALLOW_NS = 200_000
SPARE = 5  # runs of its thread after it has read how often it was switched off


def as_long_as_poked(took_ns, longest_ns, report, cpu, log, low, high, inside=None):
    """Whether a thread that poke ran took as long as poke says, `low` to `high` ns in all: took_ns,
    its longest run longest_ns.

    Its intervals are longer than the bursts that it times itself, by the switches and syscalls
    around them: ALLOW_NS a poke, which is ten times what a virtual machine under load was seen to
    take. They are shorter by the interrupts inside, `inside` ns, all of the CPU's if that is None,
    which are named by themselves and may be as long as the machine stood still in one. A stop of
    the machine right before or after poke reads its clock is in one of the thread's intervals, the
    longest, and in none of poke's times. So is the time of each thread that left unseen, for which
    this one was switched in. Its CPU time, `low`, is by another clock: that holds to one in a
    hundred.
    """
    c = cpu_of(report, cpu)
    if inside is None:
        inside = total(s for s in c["sources"] if s["kind"] in HANDLERS)
    beside = (1 + c["records"]["unpaired"]) * longest_ns
    return (0.99 * low <= took_ns + inside
            and took_ns - beside <= high + ALLOW_NS * (len(log) + SPARE))


POKES_MAX = 10  # times that poke_until_late pokes


def poke_until_late(cpu, path, pokes=12, least_ns=100_000):
    """Pokes `cpu` until a line of jsonl in `path`, which a command with messages writes meanwhile,
    says that one was late there for at least `least_ns` of a poke. On a busy machine nobody may
    have sent any meanwhile, and a line that lacks records need not name who made it late. Returns
    the log of all, the CPU's lines that a poke made late, and how often the kernel switched poke's
    threads off."""
    log, switches = [], 0
    for _ in range(POKES_MAX):
        more = run_poke(cpu, "fifo", "-n", str(pokes), "-l", "400us", "-g", "5ms")
        log += more
        switches += more.switches["fifo"]
        time.sleep(0.1)  # until it has written them
        text = read(path)
        lines = [json.loads(line) for line in text[:text.rfind("}\n") + 1].splitlines()]
        late = [h for h in lines if h["cpu"] == cpu and not h["records_lost"]
                and any(shared_ns(h, e) >= least_ns for e in log)]
        if late:
            break
    return log, late, switches


def broken_sums(report, lost=0, mismatches=0):
    """The invariants of every report that this one breaks. `lost` and `mismatches`: how many are
    allowed, None for any."""
    broken = []

    def holds(passed, text, *values):
        if not passed:
            broken.append(" ".join([text, *map(str, values)]))

    for c in report["cpus"]:
        cpu, t, h, r = f"cpu {c['cpu']}:", c["time"], c["hiccups"], c["records"]
        inside = [s for s in c["sources"] if s["kind"] not in ("outside", "lost")]
        unrecorded = total(s for s in c["sources"] if s["kind"] == "lost")
        holds(t["attributed_ns"] + t["edge_ns"] + t["not_recorded_ns"]
              + t["outside_ns"] == h["total_ns"],
              cpu, "attributed + edge + not recorded + outside is not the time of all hiccups", t,
              h["total_ns"])
        holds(unrecorded == t["not_recorded_ns"], cpu,
              "the lost rows do not add up to what is not recorded", unrecorded, t)
        holds(total(inside) == t["attributed_ns"],
              cpu, "the sources do not add up to the attributed time", total(inside), t)
        holds(total(c["sources"]) - total(inside) - unrecorded == t["outside_ns"],
              cpu, "the outside rows do not add up to the outside time",
              total(c["sources"]) - total(inside) - unrecorded, t)
        for s in inside:
            # A softirq that is preempted (PREEMPT_RT) has a part in each of several hiccups, and
            # counts where it ends.
            parts = s["kind"] == "softirq" and "-rt" in report["host"]["kernel"]
            holds(0 < s["hiccups"] and (s["hiccups"] <= s["runs"] or "merged" in s or parts)
                  and s["count"] <= s["runs"] and
                  s["max_ns"] <= s["total_ns"], cpu, "this row contradicts itself", s)
        # Time that a program reports itself may be time in which it slept.
        reports = (c.get("thread") or {}).get("reported")
        observed = report["run"]["duration_ns"] if reports else c["observed_ns"]
        holds(h["total_ns"] <= observed, cpu, "more time lost than observed", h, observed)
        holds(lost is None or r["lost"] <= lost, cpu, "records were lost", r)
        # A thread that left unseen (some kernels have those) may take the end of one record with
        # it.
        holds(mismatches is None or r["join_mismatches"] <= mismatches + r["unpaired"], cpu,
              "records and hiccups do not agree", r)
    for w in report["worst"]:
        holds(total(w["pieces"], "net_ns") + w["edge_ns"] + w["not_recorded_ns"] + w["outside_ns"]
              == w["duration_ns"], "this hiccup is not the sum of its parts", w)
    longest = [w["duration_ns"] for w in report["worst"]]
    holds(longest == sorted(longest, reverse=True), "the worst hiccups are out of order", longest)
    longest_of_all = max(c["hiccups"]["max_ns"] for c in report["cpus"])
    holds(not longest or longest[0] == longest_of_all, "the worst hiccup is not the longest one",
          longest, longest_of_all)
    return broken


def check_sums(report, what, **allowed):
    return ok(not (broken := broken_sums(report, **allowed)), what + ": the sums hold", *broken)
