# SPDX-License-Identifier: GPL-2.0-or-later
"""Recipes that make a cause's noise on CPU 1 of a guest by the kernel's own mechanism, so that what
a report advises can be done there as it is printed. Nothing is faked: no thread is only called so,
no file is made up. Those of one batch make their noise at once, in one guest; one after another is
ended.

A recipe is, of the cause with this id:

    make     lines of a shell that set things up
    busy     a line that goes on until it is killed, or none
    ends     none: the command that the report prints, or a second boot where that says "boot with";
             else what the report's sentence advises: STOP what is busy, MOVE it to CPU 0, or a line
    again    takes such a line back
    boots    the report says how to boot: "nohz_full=1"
    batch    of those with one number a guest has all
    least    times that the cause's sources have to come in a window without the fix
    seconds  length of a window, in virtual time: the longest of a batch
    left     share of them that the fix may leave
    who      glob of the names or functions that count; none: any
    without  kernels where the mechanism or the knob is missing, and why
"""
from dataclasses import dataclass, field

STOP, MOVE = "stop", "move"


@dataclass
class Recipe:
    make: str = ""
    busy: str = ""
    ends: str = ""
    again: str = ""
    boots: str = ""
    batch: int = 1
    least: int = 3
    seconds: float = 2.0
    left: float = 0.0
    who: str = "*"
    without: dict = field(default_factory=dict)

    @property
    def way(self):
        """As src/audit/causes/proven calls it: how the noise is ended."""
        return "booted" if self.boots else {STOP: "stopped", MOVE: "moved", "": "command"}.get(
            self.ends, "advised")


def bound(comm):
    """A kernel thread is put on CPU 1, as it may run there where nothing keeps it away."""
    return f"taskset -pc 1 $(for c in /proc/[0-9]*/comm; do [ \"$(cat $c)\" = {comm} ] && " \
           "echo $c | cut -d/ -f3; done | head -1)"


def loop(cpu, line, gap="0.1"):
    return f"exec taskset -c {cpu} sh -c 'while :; do {line}; sleep {gap}; done'"


def calls(name, cpu=0, *words):
    return " ".join(["exec python3 tests/proofs/noise.py", name, str(cpu), *map(str, words)])


KERNELS = ["6.12"]

RECIPES = {
    # By other CPUs.
    "P05": Recipe(busy=calls("munmap", 0), ends=STOP, who="flush_tlb_func"),
    "P09": Recipe(
        busy=loop(0, "sysctl -qw kernel.sched_schedstats=1; sysctl -qw kernel.sched_schedstats=0"),
        ends=STOP, who="do_sync_core", least=10),
    "P11": Recipe(busy=calls("membarrier", 0), ends=STOP, who="ipi_mb"),
    "P23": Recipe(busy=calls("perf_opens", 0), ends=STOP, who="remote_function", least=10),
    "P25": Recipe(
        busy=loop(0, "for v in 299 300; do echo $v > "
                     "/sys/devices/system/machinecheck/machinecheck0/check_interval; done"),
        ends=STOP, who="mce_cpu_restart"),
    "K04": Recipe(
        busy=loop(0, "for c in kmalloc-64 dentry; do echo 1 > /sys/kernel/slab/$c/shrink; "
                     "taskset -c 1 cat /proc/self/maps; done"),
        ends=STOP, who="flush_cpu_slab"),
    "K05": Recipe(busy=loop(0, "cat /proc/sys/vm/stat_refresh"), ends=STOP,
                  who="refresh_vm_stats"),
    "K20": Recipe(
        busy=loop(0, "echo base=0x60000000 size=0x1000000 type=uncachable > /proc/mtrr; "
                     "grep 0x060000000 /proc/mtrr | sed s/^reg/disable=/\\;s/:.*// > /proc/mtrr"),
        ends=STOP),
    "P14": Recipe(  # alone: among others it came once
        batch=6, busy=loop(0, "ip link set lo up; ip link set lo down", "0.05"),
        who="rcu_exp_handler"),
    "T17": Recipe(make="echo 1 > /proc/sys/kernel/watchdog_thresh", who="watchdog_timer_fn"),
    # By threads of CPU 1.
    "T11": Recipe(batch=2, busy=calls("itimer", 1), ends=MOVE, who="it_real_fn", least=20),
    "T20": Recipe(batch=2, busy=calls("perf_samples", 0, 1), ends=STOP,
                  who="perf_swevent_hrtimer", least=50),
    "S03": Recipe(batch=5, busy=loop(1, "ping -c 1 127.0.0.1"), ends=MOVE, left=0.1, least=10),
    "S05": Recipe(batch=2, busy=calls("keyboard_leds", 1), ends=MOVE, who="kbd_bh", least=20),
    "I01": Recipe(
        batch=2, make="echo 2 > /proc/irq/4/smp_affinity",
        busy=loop(0, "echo > /dev/ttyS0", "0.05"), least=5),
    "K07": Recipe(
        batch=2, busy="mkdir /tmp/m; " + loop(1, "mount -t tmpfs x /tmp/m; umount /tmp/m"),
        ends=MOVE, who="destroy_super_work", left=0.2),
    "K24": Recipe(batch=2, make=bound("kcompactd0"), who="kcompactd0"),
    "K23": Recipe(batch=2, make=bound("rcu_preempt"), who="rcu_preempt", least=10),
    "T16": Recipe(
        batch=2, make="echo 1 > /sys/devices/system/machinecheck/machinecheck0/check_interval",
        seconds=4, who="mce_timer_fn"),
    "K25": Recipe(
        batch=2, seconds=4, who="khungtaskd",
        make="echo 1 > /proc/sys/kernel/hung_task_timeout_secs; " + bound("khungtaskd")),
    # On a CPU that is quieter.
    "T10": Recipe(busy=loop(1, ":", "0.02"), ends=MOVE, who="hrtimer_wakeup", left=0.2,
                  least=20),
    "T19": Recipe(
        batch=3, make="echo HRTICK > /sys/kernel/debug/sched/features",
        busy="exec taskset -c 1 sh -c 'while :; do :; done'", who="hrtick", least=10),
    "T30": Recipe(
        batch=3, make="echo 2 > /proc/irq/4/smp_affinity", seconds=4,
        busy=loop(0, "echo > /dev/ttyS0", "0.05"),
        ends="echo 0 > /proc/irq/4/smp_affinity_list",
        again="echo 2 > /proc/irq/4/smp_affinity", who="mix_interrupt_randomness"),
    "P18": Recipe(
        batch=3, make="ip link set lo up; echo 2 > /sys/class/net/lo/queues/rx-0/rps_cpus",
        busy=loop(0, "ping -c 1 127.0.0.1", "0.02"), who="rps_trigger_softirq", least=10),
    "K09": Recipe(
        batch=3, make="echo 2 > /sys/devices/virtual/workqueue/cpumask",
        busy="exec taskset -c 0 python3 -c 'import os, time\n"
             "a, b = os.openpty()\n"
             "while True:\n    os.write(a, b\"x\")\n    os.read(b, 0)\n    time.sleep(0.01)'",
        least=5, who="kworker/u*"),
    "K34": Recipe(
        batch=3, busy="exec taskset -c 1 python3 -c 'import time\nwhile True: time.sleep(0.01)'",
        least=10, who="python3"),
    "P10": Recipe(
        batch=4, make="echo 100 > /sys/module/kfence/parameters/sample_interval; "
                      "echo 2 > /sys/devices/virtual/workqueue/cpumask",
        who="toggle_allocation_gate"),
    "T01": Recipe(batch=4, boots="nohz_full=1", who="tick_*", left=0.1, least=50),
    "S06": Recipe(batch=4, boots="isolcpus=managed_irq,domain,1 nohz_full=1", least=5),
    "S07": Recipe(batch=4, busy=loop(1, "mkdir /tmp/a; rmdir /tmp/a", "0.02"),
                  boots="rcu_nocbs=1", left=0.02, least=10),
    "K08": Recipe(batch=4, busy=loop(1, ":", "0.02"), boots="psi=0", who="psi_avgs_work",
                  seconds=5, least=2),
    "K12": Recipe(
        batch=4, boots="workqueue.power_efficient=1", who="check_lifetime", least=5,
        busy=loop(1, "ip addr add 10.1.1.1/32 dev lo; ip addr del 10.1.1.1/32 dev lo")),
    # With little else that wakes threads.
    "K21": Recipe(batch=4, busy=calls("affinity", 0), ends=STOP, who="migration/1", left=0.2,
                  least=5),
    "K02": Recipe(batch=5, busy=calls("memory", 1).removeprefix("exec ") + " & " + loop(
        0, "echo 1 > /proc/sys/vm/compact_memory"), ends=STOP, who="lru_add_drain_per_cpu"),
    "H04": Recipe(batch=5, busy=loop(0, "echo l > /proc/sysrq-trigger", "0.5"), ends=STOP,
                  who="nmi_cpu_backtrace_handler", least=2),
}
