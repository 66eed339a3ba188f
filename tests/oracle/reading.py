# SPDX-License-Identifier: GPL-2.0-or-later
"""What a CPU did, read from the kernel's trace alone: which intervals, in what order, each with its
net time and functions, and who asked.

Written from the meaning of the tracepoints and of the report (culprit help reading), not from
culprit's code. Net time is time on top of the stack: each nanosecond between two events belongs to
the innermost interval that is open. What an interval runs is the function that began in it last;
its time before the first one counts as the way there.
"""
import bisect

VECTORS = ("local_timer", "reschedule", "call_function", "call_function_single", "irq_work",
           "thermal_apic", "threshold_apic",
           "deferred_error_apic", "error_apic", "spurious_apic", "x86_platform_ipi")
SOFTIRQS = ("HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
            "RCU")
SAMPLER = "culprit-sampler"

# Events and the fields that are read of them; the first are wanted on the target, the others on all
# CPUs.
ON_TARGET = {
    "irq/irq_handler_entry": ("irq",), "irq/irq_handler_exit": ("irq",),
    "irq/softirq_entry": ("vec",), "irq/softirq_exit": ("vec",), "irq/tasklet_entry": ("func",),
    **{f"irq_vectors/{v}_{end}": ("vector",) for v in VECTORS for end in ("entry", "exit")},
    "sched/sched_switch": ("prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"),
    "timer/hrtimer_expire_entry": ("function",), "timer/timer_expire_entry": ("function",),
             "timer/timer_expire_exit": (),
    "csd/csd_function_entry": ("func", "csd"), "nmi/nmi_handler": ("handler", "delta_ns",
                                                                   "handled"),
    "exceptions/page_fault_user": ("address",),
}
ASKING = {
    "sched/sched_waking": ("pid",), "csd/csd_queue_cpu": ("cpu", "csd"),
          "ipi/ipi_send_cpu": ("cpu", "callback"),
    "workqueue/workqueue_queue_work": ("work", "function"),
}
# Work items, on all CPUs: workers take them from one to another.
WORKING = {"workqueue/workqueue_execute_" + end: ("work", "function") for end in ("start", "end")}
EVENTS = {**ON_TARGET, **ASKING, **WORKING}
FIELDS = {e.split("/")[1]: fields for e, fields in EVENTS.items()}
PREEMPTED = 0x100  # in prev_state: TASK_REPORT_MAX
LEAVING_NS = 50_000  # more than a switch takes, from the queue to the event
NEVER_LEFT = 0, 0, False
HARDIRQ, SOFTIRQ, NMI = 8, 16, 64  # common_flags


def text(comm):
    return comm.split(b"\0")[0].decode(errors="replace")


class Symbols:
    """Names of addresses: a place may have several."""

    def __init__(self, path="/proc/kallsyms"):
        names = {}
        with open(path) as f:
            for line in f:
                at, _, rest = line.split(" ", 2)
                names.setdefault(int(at, 16), set()).add(rest.split()[0])
        self.names, self.order = names, sorted(names)

    def at(self, address):
        return frozenset(self.names.get(address, ()))

    def around(self, address):
        i = bisect.bisect_right(self.order, address) - 1
        return self.names[self.order[i]] if i >= 0 else ()


class Asked:
    """A request: who was running where, and whether it was an interrupt that asked."""

    __slots__ = "at", "cpu", "pid", "flags", "stack"

    def __init__(self, at, cpu, pid, flags):
        self.at, self.cpu, self.pid, self.flags, self.stack = at, cpu, pid, flags, None


class Part:
    """The stretch of an interval that runs one function. either: it may as well run one of these
    that it ran before: the trace does not tell."""

    __slots__ = ("kind", "id", "name", "function", "start", "end", "net", "asked", "sure", "seen",
                 "either")

    def __init__(self, kind, number, name, start, function=None):
        self.kind, self.id, self.name, self.function = kind, number, name, function
        self.start, self.end, self.net = start, None, 0
        self.asked = ()  # requests any of which it may have come from
        self.sure = True  # False: it may have come from none of them
        self.either = None
        self.seen = True  # False: it came upon a thread that the scheduler does not show


class Interval:
    __slots__ = "part", "marked", "start"

    def __init__(self, part):
        self.part, self.marked, self.start = part, False, part.start


class Requests:
    """What all CPUs asked for, to be looked up by what it was and when it was taken up."""

    def __init__(self):
        self.wakes, self.works, self.csds, self.ipis = {}, {}, {}, []
        self.at_work = {}  # tid: [(ns, whether it begins a work item, function)]

    def add(self, events, cpu, target):
        last = None
        for at, name, flags, pid, v in events:
            if name == "stack":
                if last:
                    last.stack = v
                continue
            last = None
            if name == "sched_waking":
                place = self.wakes.setdefault(v[0], [])
            elif name == "workqueue_queue_work":
                place = self.works.setdefault(v[0], [])
            elif name.startswith("workqueue_execute_"):
                if not flags & (SOFTIRQ | HARDIRQ):  # run by a worker
                    self.at_work.setdefault(pid, []).append((at, name.endswith("start"), v[1]))
                continue
            elif name == "csd_queue_cpu" and v[0] == target:
                place = self.csds.setdefault(v[1], [])
            elif name == "ipi_send_cpu" and v[0] == target and not v[1]:
                place = self.ipis
            else:
                continue
            last = Asked(at, cpu, pid, flags)
            place.append(last)

    def sort(self):
        for places in self.wakes, self.works, self.csds, {0: self.ipis}:
            for place in places.values():
                place.sort(key=lambda a: a.at)
        for place in self.at_work.values():
            place.sort()

    def work_before(self, tid, at):
        """What a thread did last before this time: (function, when it was done with it; None: it is
        in the middle of it); None: it is not known to have worked."""
        place = self.at_work.get(tid, ())
        i = bisect.bisect_left(place, (at,))
        if i:
            when, begins, function = place[i - 1]
            return function, None if begins else when
        if place and not place[0][1]:  # a begin before the trace
            return place[0][2], None
        return None

    def work_after(self, tid, at):
        """What a thread does next after this time; None: it is not known to begin anything."""
        place = self.at_work.get(tid, ())
        i = bisect.bisect_left(place, (at,))
        return place[i][2] if i < len(place) and place[i][1] else None

    @staticmethod
    def between(place, after, before):
        """The requests of a place after one time and before another."""
        lo = bisect.bisect_right(place, after, key=lambda a: a.at)
        return place[lo:bisect.bisect_left(place, before, key=lambda a: a.at)]


# Events that give a record each time, and those that may give one more: a sender that was noted, a
# tick that was kept, a flush, a work item's asker.
ONE_RECORD = {"irq_handler_exit", "softirq_exit", "hrtimer_expire_entry", "timer_expire_entry",
              "tasklet_entry", "csd_function_entry",
              "workqueue_execute_start", "sched_switch", *(v + "_exit" for v in VECTORS)}
ONE_MORE = {"reschedule_exit", "local_timer_exit", "csd_function_entry"}


def records(events, reading, start, end):
    """How many records this makes at least and at most. A switch is one: a stay that ends, or a
    sampler that makes way. Somebody who comes and had been woken is one more, and surely so where
    he had slept on this CPU; so is a worker that goes on. In threads that no program sees, none of
    it need be one."""
    sure = maybe = 0
    for at, name, _, pid, _ in events:
        if start <= at <= end:
            one, unseen = name in ONE_RECORD, pid in reading.unseen
            sure += one and not unseen
            maybe += (one and unseen) + (name in ONE_MORE)
    for at, known in reading.woken:
        if start <= at <= end:
            sure += known
            maybe += not known
    maybe += sum(start <= at <= end for at in reading.resumed)
    return sure, sure + maybe


class Reading:
    """parts: of all intervals, in the order in which they ended. doubts: [(from, to)] when it is
    not known who had the CPU."""

    def __init__(self, events, target, requests, symbols, samplers=None, unseen=()):
        """samplers: tids; None: known by their name, which another culprit's sampler has, too.
        unseen: tids of threads in which the kernel may run no program."""
        self.unseen = unseen
        self.target, self.requests, self.symbols = target, requests, symbols
        self.parts, self.doubts, self.faults, self.odd = [], [], [], []
        self.begin, self.end = (events[0][0], events[-1][0]) if events else (0, 0)
        self.samplers, self.by_name = set(samplers or ()), samplers is None
        self.woken = []        # somebody came who had been: when; if he slept here, and it was seen
        self.resumed = []      # workers
        self.stack = []        # open intervals, a thread's stay at the bottom
        self.current = None    # tid, None: not known
        self.doubt = self.begin
        self.left = {}         # tid: when it last left the queue of this CPU, the CPU; if it slept
        self.resched = self.begin
        self.taken = {}        # by purpose of a request: when the last one was taken up
        self.delayed = None    # a timer that will queue a work item
        last = self.begin
        handlers = self._handlers()
        for at, name, flags, pid, values in events:
            if self.stack:
                self.stack[-1].part.net += at - last
            last = at
            if self.current is None and pid in self.samplers and name != "sched_switch":
                self.doubts.append((self.doubt, at))
                self.current = pid
            handler = handlers.get(name)
            if handler:
                handler(at, flags, pid, values)
        self.parts.sort(key=lambda p: p.end)

    def _handlers(self):
        h = {"irq_handler_entry": lambda at, f, p, v: self._enter(at, p, "irq", v[0], None),
             "irq_handler_exit": lambda at, f, p, v: self._leave(at, "irq", v[0]),
             "softirq_entry": lambda at, f, p, v: self._enter(at, p, "softirq", v[0],
                                                              SOFTIRQS[v[0]]),
             "softirq_exit": lambda at, f, p, v: self._leave(at, "softirq", v[0]),
             "sched_switch": self._switch, "nmi_handler": lambda at, f, p,
             v: self.odd.append((at - v[1], at, "nmi")),
             "page_fault_user": lambda at, f, p, v: self.faults.append(at) if p in self.samplers
             else None,
             "workqueue_execute_start": self._work,
             "workqueue_queue_work": self._queued, "timer_expire_entry": self._timer,
             "hrtimer_expire_entry": lambda at, f, p, v: self._mark(at, v[0]),
             "tasklet_entry": lambda at, f, p, v: self._mark(at, v[0]),
             "csd_function_entry": self._csd}
        for vector in VECTORS:
            h[vector + "_entry"] = lambda at, f, p, v, name=vector: self._enter(at, p, "vector",
                                                                                v[0], name)
            h[vector + "_exit"] = lambda at, f, p, v, name=vector: self._leave(at, "vector", v[0])
        return h

    # ---- intervals ----

    def _enter(self, at, pid, kind, number, name):
        part = Part(kind, number, name, at)
        part.seen = self.current in (None, pid)
        self.stack.append(Interval(part))

    def _close(self, at, interval):
        interval.part.end = at
        self.parts.append(interval.part)

    def _leave(self, at, kind, number):
        part = self.stack[-1].part if self.stack else None
        if not part or (part.kind, part.id) != (kind, number):
            if self.stack:  # not before the trace began
                self.odd.append((at, at, f"{kind} {number} ends in {part.kind} {part.id}"))
            return
        interval = self.stack.pop()
        if part.name == "reschedule":
            part.asked = Requests.between(self.requests.ipis, self.resched, at)
            self.resched = part.start
        self._close(at, interval)

    def _mark(self, at, address, asked=(), names=None):
        if not self.stack:
            return
        interval, names = self.stack[-1], names or self.symbols.at(address)
        part = interval.part
        if interval.marked or part.either:
            if not interval.marked:
                part.function = names
            self._close(at, interval)
            new = Part(part.kind, part.id, part.name, at)
            new.seen = part.seen
            interval.part = part = new
        interval.marked = True
        part.function = names
        part.asked = asked or part.asked

    # ---- threads ----

    def _switch(self, at, flags, pid, v):
        before, after = v[1], v[4]
        below = 1 if self.stack and self.stack[0].part.kind == "thread" else 0
        for interval in self.stack[below:]:
            self.odd.append((interval.part.start, at,
                             f"{interval.part.kind} {interval.part.id} is open over a switch"))
        stay = self.stack[0] if self.stack and self.stack[0].part.kind == "thread" else None
        self.stack = []
        if self.current is not None and self.current != before:
            self._doubt(stay.start if stay else self.doubt, at)
            stay = None
        # Woken on another CPU after it was taken off the queue, but before this event: that one
        # counts.
        slept = bool(v[2] and not v[2] & PREEMPTED)
        if stay:
            stay.part.name = text(v[0])
            if not slept:
                self._may_begin(stay, before, at)
            self._close(at, stay)
        self.left[before] = at - LEAVING_NS if slept else at, at, slept
        if self.by_name and text(v[3]) == SAMPLER:
            self.samplers.add(after)
        if self.current is None:
            self.doubts.append((self.doubt, at))
        self.current = after
        self.doubt = at
        if after in self.samplers:
            return
        off, left, slept = self.left.get(after, NEVER_LEFT)
        wakes = Requests.between(self.requests.wakes.get(after, []), off, at)
        woken = wakes[-1:]
        # By two that came when he had left: he ran elsewhere in between.
        sure = slept and sum(w.at > left for w in wakes) <= 1
        if woken:
            self.woken.append((at, sure and woken[0].pid not in self.unseen))
        stay = Interval(Part("thread", after, text(v[3]), at))
        stay.part.sure = sure
        self._goes_on(stay, after, at, woken)
        stay.part.asked = woken
        self.stack.append(stay)

    def _goes_on(self, stay, tid, at, woken):
        """A worker goes on with the work item that it is in the middle of. One that was done with
        it, and was preempted before it slept, is on its way out, or beyond."""
        function, done = self.requests.work_before(tid, at) or (None, None)
        if not function:
            return
        self.resumed.append(at)
        if not done:
            stay.part.function = self.symbols.at(function)
            stay.marked = True
            return
        off, left, slept = self.left.get(tid, NEVER_LEFT)
        # work that it did since it was woken it did on another CPU
        if (done < left and not slept) or (done > off and (not woken or done > woken[-1].at)):
            stay.part.either = self.symbols.at(function)

    def _may_begin(self, stay, tid, at):
        """A worker has its next work item some way before the event that tells, and may be
        preempted there time and again."""
        function = self.requests.work_after(tid, at)
        if function and not (stay.marked or stay.part.function or stay.part.either):
            stay.part.either = self.symbols.at(function)

    def _doubt(self, start, end):
        """Somebody came and went unseen: who was interrupted meanwhile is not known either."""
        self.doubts.append((start, end))
        for part in reversed(self.parts):
            if part.start < start:
                break
            part.seen = False

    # ---- functions ----

    def _work(self, at, flags, pid, v):
        place = self.requests.works.get(v[0], [])
        asked = Requests.between(place, self.taken.get(v[0], 0), at)
        self.taken[v[0]] = at
        woken = self.stack[-1].part.asked if self.stack else ()
        self._mark(at, v[1], (*asked[-1:], *woken))  # the queuer, or the worker's waker

    def _timer(self, at, flags, pid, v):
        self._mark(at, v[0])
        if self.stack and "delayed_work_timer_fn" in (self.stack[-1].part.function or ()):
            self.delayed = self.stack[-1].part

    def _queued(self, at, flags, pid, v):
        if self.delayed and self.stack and self.stack[-1].part is self.delayed:
            self.delayed.function = self.symbols.at(v[1])
        self.delayed = None

    def _csd(self, at, flags, pid, v):
        if not self.stack or self.stack[-1].part.kind not in ("vector", "irq"):
            return  # a call of a thread's own to its own CPU, beside those to others
        asked = Requests.between(self.requests.csds.get(v[1], []), self.taken.get(("csd", v[1]), 0),
                                 at)
        self.taken["csd", v[1]] = at
        self._mark(at, v[0], asked[-1:])
