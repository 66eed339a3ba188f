# SPDX-License-Identifier: GPL-2.0-or-later
"""What the kernel's own trace, as text, says of CPU 1: the stays of its workers, and all that
tests/accuracy/score asks for. To be imported after guests."""
import os
import re

from guests import ROOT, load

score = load("score", os.path.join(ROOT, "tests", "accuracy", "score"))


class Stays:
    """By the kernel's trace, what each worker of CPU 1 was in the middle of when it came back.

    ended: the work that it was at the end of, until it sleeps. The kernel forgets that a while
    after the event (kernel/workqueue.c: process_one_work sets current_func), and has the next one
    in its place a while before the event of that: next, of each stay between the two, as the worker
    may be preempted more than once there."""

    def __init__(self, trace):
        self.found, work, ended, left, here = [], {}, {}, {}, None
        for pid, at, name, text in re.findall(
                r"^ *\S+-(\d+) +\[001\] \S+ +([0-9.]+): (\w+): (.*)", trace, re.M):
            at = round(float(at) * 1e9)
            if name == "workqueue_execute_start":
                work[pid] = re.search(r"function (\w+)", text)[1]
                ended.pop(pid, None)
                for stay in left.pop(pid, []):
                    stay["next"] = work[pid]
                if here:
                    here["began"] = True
            elif name == "workqueue_execute_end":
                ended[pid], work[pid] = work.get(pid), None
                left.pop(pid, None)
            elif name == "sched_switch":
                if here:
                    self.found.append(here | {"until": at})
                    left.setdefault(str(here["pid"]), []).append(self.found[-1])
                if "prev_state=R" not in text:
                    ended.pop(pid, None)
                    left.pop(pid, None)
                to = re.search(r"next_comm=kworker/1\S* next_pid=(\d+)", text)
                here = to and {"pid": int(to[1]), "at": at, "function": work.get(to[1]),
                               "ended": ended.get(to[1]), "began": False}


class Seen(score.Hiccups):
    """What the kernel's own trace has of CPU 1, each event as a hiccup of one piece: the score asks
    of it what it asks of culprit's."""

    def __init__(self, trace):
        self.all, asked = [], {}
        for comm, pid, cpu, context, at, event, text in re.findall(
                r"^ *(\S.*)-(\d+) +\[00(\d)\] ..(.)\S* +([0-9.]+): (\w+): (.*)", trace, re.M):
            names = dict(re.findall(r"(\w+)=(\S+)", text))
            key = (re.search(r"(?:struct|csd)[ =](\w+)", text) or [0, names.get("pid")])[1]
            piece = {"kind": "vector", "id": 0, "function": names.get("func", "").rstrip(",")}
            if event in ("sched_waking", "csd_queue_cpu", "workqueue_queue_work"):
                # A thread that an interrupt or a softirq came upon did not ask.
                asked[key] = {"pid": 0 if context in "hHs" else int(pid)}
                continue
            elif cpu != "1":
                continue
            elif event == "sched_switch":
                key = names["next_pid"]
                comm = re.search("next_comm=(.*) next_pid", text)[1]
                piece |= {"kind": "thread", "id": int(key), "name": comm, "function": None}
            elif event == "workqueue_execute_start":
                piece |= {"kind": "thread", "id": int(pid), "name": comm,
                          "function": re.search(r"function (\w+)", text)[1]}
            elif event == "irq_handler_entry":
                piece |= {"kind": "irq", "id": int(names["irq"]), "name": names["name"]}
            elif event == "softirq_entry":
                piece |= {"kind": "softirq", "name": re.search(r"action=(\w+)", text)[1]}
            elif event == "hrtimer_expire_entry":
                piece |= {"name": "local_timer", "function": names["function"]}
            else:
                piece["name"] = {"csd_function_entry": "call_function",
                                 "irq_work_entry": "irq_work"}.get(event, event)
            self.all.append({"start_ns": round(float(at) * 1e9), "duration_ns": 0,
                             "pieces": [piece | {"origin": asked.pop(key, None)}]})
        self.ends = [h["start_ns"] for h in self.all]
