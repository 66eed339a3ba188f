# SPDX-License-Identifier: GPL-2.0-or-later
"""Recipes that make a cause's noise on CPU 1 of a guest by the kernel's own mechanism, so that the
command that a report prints can be run there as it is printed. Nothing is faked: no thread is only
called so, no file is made up.

A recipe is, of the cause with this id:

    make     lines of a shell that set things up
    busy     a line that goes on until it is killed, or none
    least    times that the cause's sources have to come in a window without the fix
    seconds  length of a window, in virtual time
    left     share of them that the fix may leave
    who      glob of the names or functions that have to be among the sources; none: any
    sampler  more options of culprit run
    without  kernels where the mechanism or the knob is missing, and why
"""
from dataclasses import dataclass, field


@dataclass
class Recipe:
    make: str = ""
    busy: str = ""
    least: int = 3
    seconds: float = 1.0
    left: float = 0.0
    who: str = "*"
    sampler: tuple = ()
    without: dict = field(default_factory=dict)


def bound(comm):
    """A kernel thread is put on CPU 1, as it may run there where nothing keeps it away."""
    return f"taskset -pc 1 $(for c in /proc/[0-9]*/comm; do [ \"$(cat $c)\" = {comm} ] && " \
           "echo $c | cut -d/ -f3; done | head -1)"


KERNELS = ["6.12"]

RECIPES = {
    "T16": Recipe(
        make="echo 1 > /sys/devices/system/machinecheck/machinecheck0/check_interval",
        seconds=4, who="mce_timer_fn"),
    "T17": Recipe(
        make="echo 1 > /proc/sys/kernel/watchdog_thresh", seconds=2, who="watchdog_timer_fn"),
    "T19": Recipe(
        make="echo HRTICK > /sys/kernel/debug/sched/features",
        busy="taskset -c 1 sh -c 'while :; do :; done'", who="hrtick", least=10),
    "P14": Recipe(
        busy="taskset -c 0 sh -c 'while :; do ip link set lo up; ip link set lo down; done'",
        who="rcu_exp_handler"),
    "P18": Recipe(
        make="ip link set lo up; echo 2 > /sys/class/net/lo/queues/rx-0/rps_cpus",
        busy="taskset -c 0 sh -c 'while :; do ping -c 1 127.0.0.1 >/dev/null; done'",
        who="rps_trigger_softirq", least=10),
    "I01": Recipe(
        make="echo 2 > /proc/irq/4/smp_affinity",
        busy="taskset -c 0 sh -c 'while :; do echo >/dev/ttyS0; sleep 0.05; done'", least=5),
    "K09": Recipe(
        make="echo 2 > /sys/devices/virtual/workqueue/cpumask",
        busy="taskset -c 0 python3 -c 'import os, time\n"
             "a, b = os.openpty()\n"
             "while True:\n    os.write(a, b\"x\")\n    os.read(b, 0)\n    time.sleep(0.01)'",
        least=5),
    "K24": Recipe(make=bound("kcompactd0"), seconds=3, who="kcompactd0"),
    "K25": Recipe(
        make="echo 1 > /proc/sys/kernel/hung_task_timeout_secs; " + bound("khungtaskd"),
        seconds=4, who="khungtaskd"),
    "K34": Recipe(
        busy="exec taskset -c 1 python3 -c 'import time\nwhile True: time.sleep(0.01)'", least=10),
}
