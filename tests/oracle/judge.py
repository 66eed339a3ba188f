# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit's hiccups against the reading of the trace, piece by piece.

A piece is what one source did in one hiccup: kind, number or name, function, net time, who asked.
What cannot be compared is counted with its reason, never passed over.
"""
import bisect
import collections

from reading import HARDIRQ, NMI, SOFTIRQ

NEAR_NS, NEAR_PART = 5000, 0.05  # net times may differ by this much, or by this part
# Begin and end of each further interval in them add this: of 5 to 32 they differed by 1.1 to 1.5 us
# each on a busy machine, where what either probe needs is not in the CPU's caches.
MORE_NS = 2000
SHARED_OUT = 10  # parts of which each way to share them out is tried
UPON_HIDDEN = "interrupts upon a thread that the scheduler does not show"
THROTTLED = "[throttled]"


class Verdict:
    def __init__(self):
        self.count = collections.Counter()
        self.unjudged = collections.Counter()
        self.wrong = collections.defaultdict(list)
        self.asker_kinds = collections.Counter()
        self.times = collections.defaultdict(lambda: [0, 0])  # source: compared net times, others
        self.records = 0, 0

    def fail(self, what, hiccup, *details):
        self.count[what] += 1
        if len(self.wrong[what]) < 20:
            self.wrong[what].append((hiccup["start_ns"], hiccup["duration_ns"],
                                     hiccup["records_lost"], details))

    def add(self, other):
        self.count += other.count
        self.unjudged += other.unjudged
        self.asker_kinds += other.asker_kinds
        for what, rows in other.wrong.items():
            self.wrong[what] = (self.wrong[what] + rows)[:20]
        for source, (compared, others) in other.times.items():
            self.times[source][0] += compared
            self.times[source][1] += others


class Truth:
    """A source in one hiccup, as the trace has it."""

    def __init__(self):
        self.net, self.unseen, self.count, self.parts = 0, 0, 0, []

    def add(self, part):
        self.net += part.net
        self.unseen += 0 if part.seen else part.net
        self.count += 1
        self.parts.append(part)


def source_of(part):
    return (part.kind, part.name if part.kind == "thread" else "", part.id)


def sort_out(parts, pieces):
    """{(source, function names): Truth}. What may run either of two functions runs the one that
    the pieces have; where they have both, the parts are shared out so that both have what the
    pieces say, as nearly as may be."""
    found, either = {}, {}
    for p in parts:
        if p.either:
            either.setdefault((source_of(p), p.function, p.either), []).append(p)
        else:
            found.setdefault((source_of(p), p.function), Truth()).add(p)

    def left(source, names):
        """What the pieces have of it beyond what is found; None: they have none of it."""
        said = [q["net_ns"] for q in pieces
                if piece_source(q) == source and same_function(q, names)]
        return sum(said) - found.get((source, names), Truth()).net if said else None

    for (source, *names), some in either.items():
        lefts = [left(source, n) for n in names]
        if None in lefts:
            shares = [some, []] if lefts[1] is None else [[], some]
        else:
            shares = share_out(some, lefts, [(source, n) in found for n in names])
        for n, share in zip(names, shares):
            for p in share:
                found.setdefault((source, n), Truth()).add(p)
    return found


def share_out(parts, lefts, found):
    """Two lists of parts, whose net times are as near to `lefts` as may be, and neither is empty
    where nothing is found of it."""
    parts = sorted(parts, key=lambda p: -p.net)
    many, parts = parts[SHARED_OUT:], parts[:SHARED_OUT]
    best = None
    for chosen in range(1 << len(parts)):
        shares = [[p for i, p in enumerate(parts) if (chosen >> i & 1) == which]
                  for which in (0, 1)]
        off = (sum(not (share or there) for share, there in zip(shares, found)),
               sum(abs(want - sum(p.net for p in share)) for want, share in zip(lefts, shares)))
        if best is None or off < best[0]:
            best = off, shares
    for p in many:  # small beside the others
        rest = [want - sum(q.net for q in share) for want, share in zip(lefts, best[1])]
        best[1][rest[1] > rest[0]].append(p)
    return best[1]


def piece_source(p):
    if p["kind"] == "thread":
        return ("thread", p["name"], p["id"])
    return (p["kind"], "", p["id"])


def same_function(p, names):
    if p["kind"] == "irq":
        return True
    if p["function"] in (None, THROTTLED):
        return not names
    return p["function"] in (names or ())


def close_to(a, b, more=0):
    """more: how many further intervals begin and end in these times."""
    return abs(a - b) <= max(NEAR_NS + more * MORE_NS, NEAR_PART * max(a, b))


class Judge:
    def __init__(self, reading, target):
        self.reading, self.target, self.v = reading, target, Verdict()
        self.ends = [p.end for p in reading.parts]
        self.doubts = sorted(reading.doubts)
        self.odd = sorted(o[:2] + (str(o[2]),) for o in reading.odd)

    def parts_in(self, h):
        start, end = h["start_ns"], h["start_ns"] + h["duration_ns"]
        lo, hi = bisect.bisect_left(self.ends, start), bisect.bisect_right(self.ends, end)
        return [p for p in self.reading.parts[lo:hi] if p.id not in self.reading.samplers
                or p.kind != "thread"]

    def judge(self, hiccups):
        v = self.v
        for h in hiccups:
            start, end = h["start_ns"], h["start_ns"] + h["duration_ns"]
            v.count["hiccups"] += 1
            if start < self.reading.begin or end > self.reading.end:
                v.unjudged["hiccups before or after the trace"] += 1
                continue
            odd = [o for o in self.odd if o[0] <= end and o[1] >= start]
            if odd:
                v.unjudged["hiccups with an interval that has no begin or end"] += 1
                continue
            if any(start <= f <= end for f in self.reading.faults):
                v.unjudged["hiccups with a page fault of the sampler"] += 1
                continue
            unseen = any(a < end and b > start for a, b in self.doubts_near(start, end))
            v.count["judged"] += 1
            v.count["in doubt"] += unseen
            v.count["thefts"] += not h["pieces"] and h["outside_ns"] >= NEAR_NS
            v.count["taken ns"] += h["duration_ns"]
            parts = self.parts_in(h)
            self.short_ns = 0
            if h["records_lost"]:
                v.count["with losses"] += 1
                self.bounded(h, parts, unseen)
            else:
                before = v.count["net time"]
                self.exact(h, parts, unseen)
                v.count["hiccups with another net time"] += v.count["net time"] > before
            self.coverage(h, parts, unseen)
        return v

    def doubts_near(self, start, end):
        lo = bisect.bisect_left(self.doubts, (start - 60_000_000_000,))
        for a, b in self.doubts[lo:]:
            if a > end:
                return
            yield a, b

    # ---- time that nothing explains ----

    def coverage(self, h, parts, unseen):
        """What culprit calls outside the kernel is no more than what the trace leaves, and what the
        net times differ by, which is counted there."""
        if unseen:
            self.v.unjudged["outside time of hiccups with a stay whose leaving is missing"] += 1
            return
        covered = sum(p.net for p in parts)
        left = h["duration_ns"] - covered
        self.v.count["outside judged"] += 1
        if h["outside_ns"] > left + self.short_ns + max(NEAR_NS, NEAR_PART * covered):
            self.v.fail("outside where the trace shows the kernel", h,
                        f"outside {h['outside_ns']}, the trace leaves {left}",
                        [(p.kind, p.id, p.name, p.net) for p in parts][:6])

    # ---- no record is missing: all must agree ----

    def exact(self, h, parts, unseen):
        self.parts = parts
        truth = sort_out(parts, h["pieces"])
        rest, pieces = [], h["pieces"] if unseen else self.match_shared(h, truth)
        for p in pieces:
            if p["kind"] not in ("irq", "vector", "softirq", "thread"):
                self.v.unjudged[f"pieces of the kind {p['kind']}"] += 1
                continue
            if unseen and p["kind"] == "thread":
                self.v.unjudged["threads in hiccups with a stay whose leaving is missing"] += 1
                continue
            if not self.match(h, p, truth):
                rest.append(p)
        rest = [p for p in rest if not self.match_function(h, p, truth)]
        for p in rest:
            self.v.fail("only in culprit", h, short(p))
        for (source, function), t in truth.items():
            if source[0] == "thread" and unseen:
                self.v.unjudged["threads in hiccups with a stay whose leaving is missing"] += 1
            elif t.net == t.unseen:
                self.v.unjudged[UPON_HIDDEN] += 1
            else:
                self.v.fail("only in the trace", h, source, sorted(function or ()), t.net,
                            t.parts[0].start - h["start_ns"])

    def match(self, h, p, truth):
        source = piece_source(p)
        for key, t in truth.items():
            if key[0] == source and same_function(p, key[1]):
                del truth[key]
                self.time(h, p, t)
                self.asker(h, p, t)
                return True
        return False

    def match_shared(self, h, truth):
        """Rows that many threads share: by name alone, or (others). A thread's row may become one
        of these in the midst of a hiccup, so all that bear the name are compared together, and
        where there are (others), all threads. Returns the other pieces."""
        pieces = h["pieces"]
        for p in sorted((p for p in pieces if p["kind"] == "thread" and not p["id"]),
                        key=lambda p: p["name"] == "(others)"):
            def joins(kind, name, function, p=p):
                return kind == "thread" and (p["name"] == "(others)" or name == p["name"]
                                             and function)

            mates = [q for q in pieces if joins(q["kind"], q["name"],
                                                q["function"] == p["function"])]
            keys = [k for k in truth if joins(k[0][0], k[0][1], same_function(p, k[1]))]
            if p not in mates or not keys:
                continue
            t = Truth()
            for k in keys:
                for part in truth.pop(k).parts:
                    t.add(part)
            self.v.count["shared rows"] += len(mates)
            self.time(h, {**p, "net_ns": sum(q["net_ns"] for q in mates)}, t)
            pieces = [q for q in pieces if q not in mates]
        return pieces

    def match_function(self, h, p, truth):
        """The same source, but another function."""
        source = piece_source(p)
        for key, t in truth.items():
            if key[0] == source:
                del truth[key]
                self.v.count["pieces"] += 1
                self.v.fail("function", h, short(p), sorted(key[1] or ()), t.net)
                return True
        return False

    def time(self, h, p, t):
        self.v.count["pieces"] += 1
        self.short_ns += max(0, t.net - p["net_ns"])
        if t.unseen:
            self.v.unjudged[UPON_HIDDEN] += 1
            return
        near = close_to(p["net_ns"], t.net)
        times = self.v.times[p["kind"], p["name"] if p["kind"] != "thread" else "", p["function"]]
        times[0] += 1
        times[1] += not near
        if not near and not close_to(p["net_ns"], t.net, max(self.inner(t.parts) - 1, 0)):
            self.v.fail("net time", h, short(p), f"trace {t.net} in {t.count}")

    def inner(self, parts):
        """Number of the hiccup's intervals that begin in these, which are among them."""
        starts = sorted(o.start for o in self.parts)
        return sum(bisect.bisect_left(starts, p.end) - bisect.bisect_left(starts, p.start)
                   for p in parts)

    def asker(self, h, p, t):
        o = p.get("origin")
        asked = [a for part in t.parts for a in part.asked]
        if p["kind"] == "vector" and p["function"] is None and p["name"] != "reschedule":
            return
        if not o:
            # A thread that had not slept here may have come from another CPU, woken there.
            self.v.count["askers not named"] += any(part.asked and part.sure for part in t.parts)
            return
        if not asked:
            self.v.fail("asker that the trace does not have", h, short(p), o)
            return
        self.v.count["askers"] += 1
        last = t.parts[-1].asked or asked[-1:]
        kinds = {asker_of(a, self.reading.symbols) for a in last}
        said = o["comm"] if o["comm"] in ("(interrupt)", "(softirq)") else o["pid"]
        if not any(o["cpu"] == cpu and said in may for cpu, may, _ in kinds):
            others = {asker_of(a, self.reading.symbols) for a in asked}
            what = "asker, of an earlier time in the hiccup" if any(o["cpu"] == c and said in q
                                                                    for c, q,
                                                                    _ in others) else "asker"
            self.v.fail(what, h, short(p), {k: o[k] for k in ("cpu", "pid", "comm", "function")},
                        [(a.cpu, a.pid, a.flags, asker_of(a, self.reading.symbols)[2],
                          [min(self.reading.symbols.around(at), default=hex(at))
                           for at in (a.stack or ())[:16]])
                         for a in last])
        for _, _, how in kinds:
            self.v.asker_kinds[how, said if isinstance(said, str) else "a thread"] += 1

    # ---- records are missing: nothing may be blamed for more than the trace says ----

    def bounded(self, h, parts, unseen):
        truth = {}
        for p in parts:
            key = (p.kind, p.id)
            truth[key] = truth.get(key, 0) + p.net
            truth[p.kind] = truth.get(p.kind, 0) + p.net
        said = collections.Counter()
        for p in h["pieces"]:
            if p["kind"] in ("irq", "vector", "softirq", "thread"):
                if p["kind"] == "thread" and unseen:
                    self.v.unjudged["threads in hiccups with a stay whose leaving is missing"] += 1
                else:
                    said[(p["kind"], p["id"]) if p["kind"] != "thread"
                         or p["id"] else "thread"] += p["net_ns"]
        for key, net in said.items():
            self.v.count["pieces of hiccups with losses"] += 1
            have = truth.get(key, 0)
            if net > have and not close_to(net, have):
                self.v.fail("blamed for more than the trace says, records lost", h, key,
                            f"culprit {net}, trace {have}",
                            [short(p) for p in h["pieces"] if (p["kind"], p["id"]) == key][:2])


# Frames of a stack, from the innermost on, that tell whose doing it is: the thread's own, or an
# interrupt's that came upon it.
OWN = ("irqentry_exit", "exit_to_user_mode", "preempt_schedule_irq", "raw_irqentry_exit",
       "do_syscall_64", "entry_SYSCALL", "ret_from_fork")
UPON = ("asm_sysvec_", "sysvec_", "asm_common_interrupt", "common_interrupt", "irq_exit_rcu",
        "__irq_exit_rcu")


def whose(stack, symbols):
    """"own", "upon", or None: there is no stack that tells. And all its names."""
    names = [symbols.around(at) for at in stack or ()]
    for frame in names:
        if any(n.startswith(OWN) for n in frame):
            return "own", set().union(*names)
        if any(n.startswith(UPON) for n in frame):
            return "upon", set().union(*names)
    return None, set().union(*names)


def asker_of(a, symbols):
    """(cpu, what may be named: tids, "(interrupt)", "(softirq)"; how it is known)"""
    if a.flags & (HARDIRQ | NMI):
        return a.cpu, frozenset(("(interrupt)",)), "hard interrupt"
    by, names = whose(a.stack, symbols)
    if a.flags & SOFTIRQ:
        if by == "own" and names & {"__local_bh_enable_ip",
                                    "do_softirq"} and "run_ksoftirqd" not in names:
            return a.cpu, frozenset(("(softirq)", a.pid)), "softirq in a thread's own call"
        return a.cpu, frozenset(("(softirq)",)), "softirq"
    if by == "upon":  # the count says thread: it was lowered already
        return a.cpu, frozenset(("(interrupt)", "(softirq)")), "end of an interrupt"
    return a.cpu, frozenset((a.pid,)), "thread"


def short(p):
    return p["kind"], p["id"], p["name"], p["function"], p["net_ns"]
