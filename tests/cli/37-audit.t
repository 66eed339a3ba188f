#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""culprit audit: on roots that are made up here, good, bad and hostile; what it opens and what
never; and on this machine, where what it says is held against the files themselves."""
import configparser
import ctypes
import glob
import json
import os
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile

import lib
from lib import (CULPRIT, HANG_S, Result, culprit, done, is_, need_bpf, ok, online, parse_cpus,
                 pick_target, read, run_json, skip)

CPU = "sys/devices/system/cpu/"
KTHREAD, BOUND = 0x00200040, 0x04200040


def cpu_seconds():
    """What culprit has taken of the CPUs so far: how long that lasts is up to others."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def stat_line(tid, comm, flags, cpu, policy=0, priority=0, state="S"):
    fields = [state] + ["0"] * 49
    fields[9 - 3], fields[39 - 3] = str(flags), str(cpu)
    fields[40 - 3], fields[41 - 3] = str(priority), str(policy)
    return f"{tid} ({comm}) " + " ".join(fields) + "\n"


class Root:
    """A machine of four CPUs, the last of which is as quiet as can be."""

    FILES = {
        "proc/cmdline": "quiet isolcpus=managed_irq,domain,3 nohz_full=3\n",
        "proc/sys/kernel/osrelease": "6.12.0-test\n",
        "boot/config-6.12.0-test": "CONFIG_NO_HZ_FULL=y\nCONFIG_HZ=250\nCONFIG_CPU_ISOLATION=y\n"
                                   "CONFIG_RCU_NOCB_CPU=y\nCONFIG_X=y\n",
        "dev/kmsg": "[0.0] Linux version\n[0.0] NO_HZ: Full dynticks CPUs: 3.\n",
        CPU + "online": "0-3\n", CPU + "possible": "0-3\n", CPU + "isolated": "3\n",
             CPU + "nohz_full": "3\n",
        "proc/mounts": "none /sys/kernel/debug debugfs rw 0 0\n",
        "proc/irq/36/smp_affinity_list": "0-2\n", "proc/irq/36/effective_affinity_list": "1\n",
        "sys/kernel/irq/36/actions": "virtio1-req.0\n",
             "sys/kernel/irq/36/per_cpu_count": "5,123,0,0\n",
        "proc/irq/default_smp_affinity": "7\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n",
        "proc/sys/vm/stat_interval": "120\n",
        "sys/class/net/eth0/queues/rx-0/rps_cpus": "0\n",
        "sys/devices/virtual/workqueue/cpumask": "7\n",
        CPU + "cpu3/cpufreq/scaling_driver": "intel_pstate\n",
             CPU + "cpu3/cpufreq/scaling_governor": "performance\n",
        CPU + "cpu3/cpufreq/energy_performance_preference": "balance_power\n",
        CPU + "cpu3/cpufreq/cpuinfo_cur_freq": "1\n",
        "proc/sys/vm/stat_refresh": "", "proc/sys/vm/compact_memory": "",
             "proc/sys/vm/drop_caches": "0\n",
        "proc/sysrq-trigger": "", "sys/class/hwmon/hwmon0/temp1_input": "42\n",
        "sys/class/powercap/rapl/energy_uj": "42\n", "dev/cpu/3/msr": "",
        "sys/fs/cgroup/cgroup.procs": "1\n", "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
    }

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="culprit-root-")
        for name, text in self.FILES.items():
            self.put(name, text)
        self.task(1, "systemd", 0x400100, 0, "0-2")
        self.task(2, "kthreadd", KTHREAD, 1, "0-2")
        self.task(30, "migration/3", BOUND, 3, "3", 1, 99)

    def put(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)

    def task(self, tid, comm, flags, cpu, allowed, policy=0, priority=0, state="S", tgid=None,
             uid=0):
        base = f"proc/{tgid or tid}/task/{tid}/"
        self.put(base + "stat", stat_line(tid, comm, flags, cpu, policy, priority, state))
        self.put(base + "status",
                 f"Name:\t{comm}\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nCpus_allowed:\tf\n"
                                  f"Cpus_allowed_list:\t{allowed}\n")

    def replace(self, name, how):
        """Something else in place of a file."""
        path = os.path.join(self.path, name)
        if os.path.lexists(path):
            os.unlink(path)
        how(path)

    def audit(self, *args, prefix=()):
        return culprit("audit", "--root", self.path, "-c", "3", *args, prefix=prefix)

    def __enter__(self):
        return self

    def __exit__(self, *args):
        shutil.rmtree(self.path, ignore_errors=True)


def findings(result, name):
    try:
        rows = json.loads(result.out)["findings"]
    except ValueError:
        ok(False, f"{name}: the JSON can be read", result)
        return {}
    by_id = {}
    for row in rows:
        old = by_id.get(row["id"])
        order = ["OK", "INFO", "WARN", "FAIL"]
        if not old or order.index(row["level"]) > order.index(old["level"]):
            by_id[row["id"]] = row
    return by_id


# ---- one good, some bad ----

with Root() as root:
    r = root.audit("-f", "json")
    rows = findings(r, "good")
    bad = [(i, f["title"]) for i, f in rows.items() if f["level"] in ("FAIL", "WARN")]
    ok(r.rc == 0 and not bad, "a quiet machine has no FAIL and no WARN, and exits with 0", bad, r)
    is_(rows.get("energy_preference", {}).get("known"), False,
        "what disturbs the CPU is not known without --deep")
    rows = findings(root.audit("-f", "json", "--deep"), "deep")
    is_(rows.get("energy_preference", {}).get("value"),
        "energy_performance_preference balance_power", "--deep reads it")

BAD = [
    ("isolated", "FAIL", {CPU + "isolated": "\n", "proc/cmdline": "isolcpus=nohz,3 nohz_full=3\n"},
     "no 'domain'"),
    ("nohz_full", "FAIL", {CPU + "nohz_full": "1\n"},
     "cpu 3 is not nohz_full: the tick interrupts it 250 times"),
    ("dmesg", "FAIL",
     {"dev/kmsg": "x\nHousekeeping: nohz unsupported. Build with CONFIG_NO_HZ_FULL\n"},
     "nohz unsupported"),
    ("dmesg", "FAIL",
     {"dev/kmsg": "<5>[    0.000000][    T0] Linux version 6.12\n"
                  "<4>[    0.000000][    T0] isolcpus: Skipped unknown flag bogus\n"},
     '"isolcpus: Skipped unknown flag bogus"'),
    # A program is called so, and crashed. Another one's name has a newline before that.
    ("dmesg", "OK",
     {"dev/kmsg": "<5>[    0.000000] Linux version 6.12\n"
                  "<6>[   70.000001] isolcpus: gone[29302]: segfault at 0 ip 1 sp 2 error 4\n"
                  "<6>[   71.000002] isolcpus: [9]: segfault at 0 ip 1 sp 2 error 4 in x\n"
                  "<6>[   72.000003] Housekeeping: n\n"}, "no kernel message"),
    ("dmesg", "OK", {"dev/kmsg": "Linux version 6.12\nisolcpus: gone[9]: x\nHousekeeping: \n"},
     "no kernel message"),
    # A log that has lost its begin
    ("dmesg", "INFO", {"dev/kmsg": "<6>[    3.296335] clocksource: x\n"}, "not known"),
    ("dmesg", "INFO", {"dev/kmsg": "clocksource: x\n"}, "not known"),
    ("split_lock", "OK", {"dev/kmsg": "<6>[    3.296335] clocksource: x\n"}, "that are left"),
    ("irq", "WARN",
     {"proc/irq/36/effective_affinity_list": "3\n", "sys/kernel/irq/36/per_cpu_count": "0,0,0,9\n"},
     "IRQ 36"),
    ("rps", "WARN", {"sys/class/net/eth0/queues/rx-0/rps_cpus": "8\n"}, "eth0"),
    ("unbound_work", "WARN", {"sys/devices/virtual/workqueue/cpumask": "f\n"}, "unbound"),
    ("cpuset_partition", "FAIL",
     {"sys/fs/cgroup/rt/cpuset.cpus.partition": "isolated invalid (no)\n"}, "/sys/fs/cgroup/rt"),
    ("cpu_quota", "INFO", {"sys/fs/cgroup/a/b/cpu.max": "1000 100000\n"}, "quotas"),
    ("thp", "WARN", {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
     "khugepaged"),
]
for check, level, files, title in BAD:
    with Root() as root:
        for name, text in files.items():
            root.put(name, text)
        r = root.audit("-f", "json")
        row = findings(r, check).get(check, {})
        ok(row.get("level") == level and title in row.get("title", "")
           and r.rc == (2 if level == "FAIL" else 0),
           f"{check}: {level} where it should be", row, r.rc)

with Root() as root:
    root.task(99, "cron)(x y", 0x400000, 3, "0-3", state="R")
    root.task(100, "irqbalance", 0x400000, 0, "0-2")
    root.put("proc/100/environ", b"SECRET=x\0IRQBALANCE_BANNED_CPULIST=1\0HOME=/\0")
    root.task(102, "worker", 0x400000, 3, "3", 1, 50, tgid=101)
    root.put("boot/config-6.12.0-test", "CONFIG_HZ=250\nCONFIG_RT_GROUP_SCHED=y\n")
    root.put("proc/sys/kernel/sched_rt_runtime_us", "950000\n")
    root.put("proc/sys/kernel/sched_rt_period_us", "1000000\n")
    r = root.audit("-f", "json")
    rows = findings(r, "tasks")
    ok("cron)(x y" in rows["tasks"]["title"] and rows["tasks"]["level"] == "FAIL",
       "a thread that runs there is named", rows["tasks"])
    ok("leaves out cpu 3" in rows["irqbalance"]["title"], "irqbalance's own environment counts",
       rows["irqbalance"])
    ok("SECRET" not in r.out, "and nothing else of it is told")
    is_(rows["rt_throttle"]["level"], "WARN",
        "throttling is a warning where a real-time thread is bound to the CPU")



def quoted(lines):
    """Whether a shell is between quotes behind these."""
    try:
        shlex.split(" ".join(lines))
    except ValueError:
        return True
    return False


# ---- commands as they are pasted, and those that cannot work here ----

with Root() as root:
    for tid in range(400, 500):
        root.task(tid, f"thread{tid}", KTHREAD, 0, "0-3")
    root.task(340, "player", 0x400000, 0, "0-3", 1, 50)
    root.put("sys/devices/virtual/workqueue/writeback/cpumask", "f\n")
    root.put("sys/devices/virtual/workqueue/cpumask", "f\n")
    for irq in 25, 26, 28, 29, 31, 37:
        root.put(f"proc/irq/{irq}/smp_affinity_list", "3\n")
        root.put(f"proc/irq/{irq}/effective_affinity_list", "3\n")
        root.put(f"sys/kernel/irq/{irq}/actions", "eth0\n")
        root.put(f"sys/kernel/irq/{irq}/per_cpu_count", "0,0,0,9\n")
    root.put("sys/fs/cgroup/it's a name of a few words/cpu.max", "50000 100000\n")
    root.put("sys/fs/cgroup/it's a name of a few words/cgroup.procs", "341\n")
    root.task(341, "app", 0x400000, 3, "3")
    every = json.loads(root.audit("-f", "json").out)["findings"]
    rows = {row["id"]: row for row in every}
    want = [f["fix"] for f in every if f["fix_kind"] == "command" and len(f["fix"]) <= 240]
    bad = []
    for width in 60, 80, 100:
        text = root.audit(prefix=("env", f"COLUMNS={width}")).out
        got = re.findall(r"^        (\S.*(?:(?<= \\)\n.*)*)", text, re.M)
        whole = {re.sub(r" \\\n +", " ", g): g for g in got}
        bad += [w for w in want if w not in whole]
        for w in set(want) & whole.keys():
            lines = whole[w].split(" \\\n")
            bad += [line for line in lines if len(line) > width]
            bad += [" \\\n".join(lines[:n]) for n in range(1, len(lines)) if quoted(lines[:n])]
            bad += [whole[w]] if subprocess.run(["sh", "-n", "-c", whole[w]]).returncode else []
        bad += [g for g in got if "all of it" in g]
        bad += [] if "\n        culprit audit --script prints the commands\n" in text else [text]
    ok(len(want) > 4 and any("few words" in w for w in want) and not bad,
       "a command works as it is pasted, on several lines, too", bad, want)
    is_(rows["realtime"]["fix"], "for t in 340; do taskset -pc 0-2 $t; done",
        "a real-time thread that may come is moved by its number")
    is_(rows["realtime"]["undo"], "taskset -pc 0-3 340", "and put back where it could run")

with Root() as root:
    root.put("boot/config-6.12.0-test", "CONFIG_HZ=250\n# CONFIG_NO_HZ_FULL is not set\n")
    root.replace(CPU + "nohz_full", lambda path: None)
    row = findings(culprit("audit", "--root", root.path, "-c", "2-3", "-f", "json"),
                   "two CPUs")["nohz_full"]
    ok("cpus 2-3 are not nohz_full: the tick interrupts each 250" in row["title"],
       "the tick interrupts each of several CPUs", row)
    rows = findings(root.audit("-f", "json"), "one CPU")
    ok("boot a kernel that is built with" in rows["nohz_full"]["fix"], "for one of them it is",
       rows["nohz_full"])

with Root() as root:
    root.task(100, "irqbalance", 0x400000, 0, "0-2", uid=1000)
    root.put("proc/100/environ", b"IRQBALANCE_BANNED_CPULIST=1\0")
    root.task(101, "turbostat", 0x400000, 0, "0-2", uid=1000)
    rows = findings(root.audit("-f", "json"), "irqbalance")
    is_(rows["irqbalance"]["title"], "irqbalance does not run",
        "a process of anybody's called irqbalance is not believed")
    ok(rows["agents"]["level"] == "INFO" and "if it is that program" in rows["agents"]["title"],
       "nor one called turbostat", rows["agents"])

# ---- many CPUs and many interrupts ----


def crowd(root, cpus, irqs):
    """A machine of so many CPUs, the first four of which keep house, with a network queue on each
    of the others in turn, and so many of them; the busiest is the 11th."""
    root.put(CPU + "online", f"0-{cpus - 1}\n")
    root.put(CPU + "possible", f"0-{cpus - 1}\n")
    for i in range(irqs):
        cpu = 4 + i % (cpus - 4)
        counts = ["0"] * cpus
        counts[cpu] = str(1234567 if i == 10 else 5 + i)
        root.put(f"proc/irq/{100 + i}/smp_affinity_list", f"{cpu}\n")
        root.put(f"proc/irq/{100 + i}/effective_affinity_list", f"{cpu}\n")
        root.put(f"sys/kernel/irq/{100 + i}/actions", f"eth0-TxRx-{i}\n")
        root.put(f"sys/kernel/irq/{100 + i}/per_cpu_count", ",".join(counts) + "\n")
    for cpu in range(cpus):
        root.put(CPU + f"cpu{cpu}/cpuidle/state0/latency", "133\n")
        root.put(CPU + f"cpu{cpu}/cpufreq/scaling_governor", "schedutil\n")
        root.put(CPU + f"cpu{cpu}/topology/thread_siblings_list", f"{cpu}\n")


for cpus, irqs in ((64, 613), (256, 300)):
    with Root() as root:
        crowd(root, cpus, irqs)
        name = f"{cpus} CPUs, {irqs} IRQs"
        quiet = f"4-{cpus - 1}"
        used = cpu_seconds()
        r = root.audit("-c", quiet)
        used = cpu_seconds() - used
        flat = " ".join(r.out.split())
        lines = r.out.splitlines()
        ok(flat.find(f"WARN {irqs} IRQs are delivered to cpus {quiet}: the busiest eth0-TxRx-10 "
                            f"(irq 110), eth0-TxRx-{irqs - 1} (irq {99 + irqs}), ") > 0
           and f"for i in $(seq 100 {99 + irqs}); do echo 0-2 >" in flat
           and f"for i in $(seq 4 {cpus - 1}); do echo performance >" in flat,
           f"{name}: one finding with the busiest first, and one command", r)
        ok(re.search(r"· ([2-9]|1[0-9]) WARN ·", r.out) and len(lines) < 80,
           f"{name}: a handful of warnings in less than 80 lines", len(lines), r)
        is_([x for x in r.out.split("\nok: ")[0].splitlines() if len(x) > 100], [],
            f"{name}: none wider than 100 columns")
        ok(used < 10, f"{name}: it does not take long", used)
        row = findings(root.audit("-c", quiet, "-f", "json"), name)["irq"]
        is_([one["irq"] for one in row["list"][:2]] + [len(row["list"])], [110, 99 + irqs, irqs],
            f"{name}: JSON lists all of them, ranked")
        is_(row["list"][0], {"name": "eth0-TxRx-10", "cpus": "14", "irq": 110, "count": 1234567,
                             "cost_ns": None}, f"{name}: with what was counted")
        script = root.audit("-c", quiet, "--script").out
        move = [x for x in script.splitlines() if "smp_affinity_list" in x and x[0] != "#"]
        new = os.path.join(root.path, "proc/irq")
        subprocess.run(["sh", "-c", move[0].replace("/proc/irq", new)], check=True)
        is_({open(f"{new}/{100 + i}/smp_affinity_list").read() for i in range(irqs)}, {"0-2\n"},
            f"{name}: the one command moves all")
        back = script.split(move[0] + "\n# undo: ", 1)[1].split("\n")[0]
        subprocess.run(["sh"], input=back.replace("/proc/irq", new), text=True, check=True)
        is_([open(f"{new}/{100 + i}/smp_affinity_list").read() for i in range(irqs)],
            [f"{4 + i % (cpus - 4)}\n" for i in range(irqs)], f"{name}: its undo moves all back")
        table = root.audit("-c", quiet, "-f", "markdown").out
        ok(f"## {irqs} IRQs are delivered" in table
           and "| eth0-TxRx-10 (irq 110) | 14 | 1,234,567 |  |" in table
           and f"And {irqs - 20} more" in table, f"{name}: Markdown has a table of the busiest",
           table[-2000:])

# ---- more files than there is room for ----

KNOBS = {
    "sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
    "sys/kernel/mm/ksm/run": "1\n",
    "proc/sys/kernel/numa_balancing": "1\n",
    "proc/sys/kernel/nmi_watchdog": "1\n",
    "proc/sys/kernel/watchdog_cpumask": "0-3\n",
}
with Root() as root:
    for name, text in KNOBS.items():
        root.put(name, text)
    few = json.loads(root.audit("-f", "json").out)["findings"]
    for i in range(300):
        root.put(f"sys/kernel/debug/irq/irqs/{i}", "x" * 65535 + "\n")
    r = root.audit("-f", "json")
    many = json.loads(r.out)["findings"]
    is_([f["title"] for f in many if f["level"] in ("WARN", "FAIL")],
        [f["title"] for f in few if f["level"] in ("WARN", "FAIL")],
        "with too many files, the same warnings")
    ok(len([f for f in many if f["level"] == "WARN"]) >= 4, "the knobs' among them", many)
    is_([[f["id"], f["known"], f["value"]] for f in many if "too much" in (f["value"] or "")],
        [["irq_managed", False, "/sys/kernel/debug/irq/irqs/*: too much to keep"]],
        "and what was left out is not known")
    is_(r.err, "culprit: not all facts could be kept: they are too many\n", "one line says so")

# ---- SARIF ----

with Root() as root:
    rows = json.loads(root.audit("-f", "json").out)["findings"]
    sarif = json.loads(root.audit("-f", "sarif").out)
    run, = sarif["runs"]
    results = run["results"]
    is_([sarif["version"], run["tool"]["driver"]["name"]], ["2.1.0", "culprit"], "SARIF: its head")
    is_([r["ruleId"] for r in results], [row["id"] for row in rows], "SARIF: the same findings")
    is_({rule["id"] for rule in run["tool"]["driver"]["rules"]}, {row["id"] for row in rows},
        "with a rule for each check")
    GRADE = {"FAIL": ("fail", "error"), "WARN": ("fail", "warning"),
             "INFO": ("informational", "none"), "OK": ("pass", "none")}
    is_([(r["kind"], r["level"]) for r in results],
        [GRADE[row["level"]] if row["known"] else ("review", "none") for row in rows],
        "and the level of each; what is not known is for review")
    is_(len({json.dumps(r["partialFingerprints"]) for r in results}), len(rows),
        "no two have one fingerprint")
    is_([r["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] for r in results],
        [("cpu " if row["cpu"] is not None else "cpus ") + row["cpus"] if row["cpus"] else "machine"
         for row in rows], "each says of which CPUs it is")
    ok(all(row["fix"] is None or row["fix"] in r["message"]["text"]
           for row, r in zip(rows, results)), "and what to do")

# ---- a quota holds for all the groups below it ----

with Root() as root:
    root.task(812, "app", 0x400100, 3, "3")
    root.put("sys/fs/cgroup/t.slice/cpu.max", "50000 100000\n")
    root.put("sys/fs/cgroup/t.slice/cgroup.procs", "")
    root.put("sys/fs/cgroup/t.slice/app.service/cgroup.procs", "")
    root.put("sys/fs/cgroup/t.slice/app.service/sub/cgroup.procs", "812\n")
    root.put("sys/fs/cgroup/t.slice/app.service/sub/cpu.max", "max 100000\n")
    row, = [f for f in json.loads(root.audit("-f", "json").out)["findings"]
            if f["id"] == "cpu_quota"]
    is_([row["level"], row["fix"], [one["name"] for one in row["list"]]],
        ["FAIL", "echo max > /sys/fs/cgroup/t.slice/cpu.max", ["app [812]"]],
        "a thread two groups below a quota is under it")

# ---- a command is written as a shell takes it ----

with Root() as root:
    group = r"sys/fs/cgroup/machine.slice/machine-qemu\x2d3\x2dweb.scope"
    root.put(f"{group}/cpu.max", "50000 100000\n")
    root.put(f"{group}/cgroup.procs", "812\n")
    root.task(812, "CPU 0/KVM", 0x400100, 3, "3", 1, 50)
    fix = f"echo max > '/{group}/cpu.max'"
    row, = [f for f in json.loads(root.audit("-f", "json").out)["findings"]
            if f["id"] == "cpu_quota"]
    is_(row["fix"], fix, "JSON: a command's backslashes are its own")
    for form in "text", "markdown", "sarif":
        said = root.audit("-f", form).out
        if form == "sarif":
            said = json.dumps(json.loads(said)["runs"], ensure_ascii=False).replace("\\\\", "\\")
        ok(fix in said, f"{form}: so are they there", fix, said[-3000:])


def code_spans(cell):
    """What stands as code in a cell of a Markdown table."""
    return [text[1:-1] if text[0] == text[-1] == " " else text for _, text in
            re.findall(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", cell.replace(r"\|", "|"))]


with Root() as root:
    root.put("proc/cmdline", "quiet isolcpus=managed_irq,domain,3 nohz_full=2\n")
    root.put(CPU + "nohz_full", "2\n")
    root.put("proc/irq/default_smp_affinity", "f\n")
    root.put("sys/class/net/$(x);`id`|``y/queues/rx-0/rps_cpus", "8\n")
    root.put("sys/fs/cgroup/a_b*c*/cpu.max", "50000 100000\n")
    root.put("sys/fs/cgroup/a_b*c*/cgroup.procs", "812\n")
    root.task(812, "app", 0x400100, 3, "3")
    for tid in range(1000, 2200):
        root.task(tid, f"thread{tid}", KTHREAD, 0, "0-3")
    rows = json.loads(root.audit("-f", "json").out)["findings"]
    fixes = [row["fix"] for row in rows if row["fix_kind"] in ("command", "boot")]
    cells = [re.split(r"(?<!\\) \|", line)[4] for line in
             root.audit("-f", "markdown").out.splitlines()[4:4 + len(rows)]]
    spans = [code_spans(cell) for cell in cells]
    ok({len(fix) > 4096 for fix in fixes} == {True, False} and "`" in "".join(fixes),
       "Markdown: commands of all kinds", fixes)
    is_([fix for fix in fixes if len(fix) <= 4096 and fix not in [s[0] for s in spans if s]], [],
        "each is one code span, as it is typed")
    ok([c for c in cells
        if re.fullmatch(" `[^`]* nohz_full=2-3` in place of `[^`]* nohz_full=2`", c)],
       "and so is what a boot parameter replaces", [c for c in cells if "nohz" in c])
    ok(" `culprit audit --script` prints the commands" in cells,
       "one that is too long stands elsewhere", [c[:200] for c in cells if len(c) > 2000])

# ---- hostile files ----

HOSTILE = {
    "empty": b"",
    "binary": bytes(range(256)) * 8,
    "huge": b"9" * 300000,
    "not closed": b"[always",
}
for kind, content in HOSTILE.items():
    with Root() as root:
        for name in Root.FILES:
            root.put(name, content)
        root.put(CPU + "online", "0-3\n")
        for n in ("proc/7/task/7/stat", "proc/7/task/7/status", "proc/8/task/8/stat"):
            root.put(n, content)
        for form in ("text", "json", "markdown", "sarif"):
            r = root.audit("-f", form)
            ok(r.rc in (0, 2) and not r.err and "\x1b" not in r.out and "\x07" not in r.out,
               f"all files {kind}: {form}", r)

with Root() as root:
    sides = [CPU + "isolated", "proc/cmdline", "proc/irq/36/smp_affinity_list",
             "sys/kernel/mm/transparent_hugepage/enabled"]
    root.replace(sides[0], os.mkdir)
    root.replace(sides[1], os.mkfifo)
    root.replace(sides[2], lambda p: os.symlink("/dev/zero", p))
    root.replace(sides[3], lambda p: os.symlink("/nowhere/at/all", p))
    r = root.audit("-f", "json")
    rows = findings(r, "odd")
    ok(r.rc in (0, 2) and not rows["isolated"]["known"]
       and "directory" in rows["isolated"]["value"],
       "a directory, a pipe, a device and a dead link in place of files", r)

with Root() as root:
    if os.geteuid() == 0 and shutil.which("setpriv"):
        os.chmod(root.path, 0o755)
        for directory, _, names in os.walk(root.path):
            os.chmod(directory, 0o755)
        os.chmod(os.path.join(root.path, "sys/kernel/mm/transparent_hugepage/enabled"), 0)
        os.chmod(os.path.join(root.path, CPU + "nohz_full"), 0)
        shutil.copy(CULPRIT, os.path.join(root.path, "culprit"))
        os.chmod(os.path.join(root.path, "culprit"), 0o755)
        p = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                            "./culprit", "audit", "--root", ".",
                            "-c", "3", "-f", "json"], cwd=root.path, capture_output=True, text=True,
                           timeout=HANG_S)
        rows = findings(Result(p.returncode, p.stdout, p.stderr, 0), "unreadable")
        ok(not rows["thp"]["known"] and "Permission denied" in rows["thp"]["value"]
           and not rows["nohz_full"]["known"],
           "what may not be read is not known, and said so", rows.get("thp"), rows.get("nohz_full"))
    else:
        skip("what may not be read is not known, and said so", "needs root and setpriv")

with Root() as root:
    root.put("sys/class/net/$(touch x);`id`/queues/rx-0/rps_cpus", "8\n")
    root.put("sys/devices/virtual/workqueue/cpumask", "f\n")
    root.put("sys/devices/virtual/workqueue/a'b\nreboot/cpumask", "8\n")
    root.put("sys/devices/virtual/workqueue/c'd/cpumask", "8\n")
    root.task(99, "x\nreboot\n", 0x400000, 1, "0-3")
    r = root.audit("--script")
    code = [line for line in r.out.splitlines() if line and not line.startswith("#")]
    syntax = subprocess.run(["sh", "-n"], input=r.out, capture_output=True, text=True)
    ok(syntax.returncode == 0
       and not [c for c in code if not re.match(r"(echo|for|sysctl|taskset|swapoff|systemctl) ",
                                                c)],
       "hostile names: the script is one, and holds only commands of culprit's own", code,
       syntax.stderr)
    ok(any("'/sys/class/net/$(touch x);`id`/queues/rx-0/rps_cpus'" in c for c in code),
       "a name in it is one quoted word", code)
    ok(any("c'\\''d" in c for c in code), "with a quote in it, too", code)

with Root() as root:
    root.task(99, "@all #1|&lt;$x", 0x400000, 1, "0-3")
    table = root.audit("-f", "markdown").out
    ok(r"\@<!-- -->all \#1\|\&lt;\$x" in table, "Markdown: a thread's name mentions nobody",
       table)

# ---- tuned, Ansible, Kubernetes ----


def tuned_profile(path):
    """tuned.conf as tuned reads it (tuned/profiles/loader.py)."""
    c = configparser.ConfigParser(delimiters=("=",), inline_comment_prefixes=("#",), strict=False,
                                  interpolation=None)
    c.optionxform = str
    with open(os.path.join(path, "tuned.conf")) as f:
        c.read_file(f)
    return {name: dict(c[name]) for name in c.sections()}


TUNED = os.path.join(lib.BUILD, "tuned/usr/lib/python3/dist-packages")
BY_TUNED = """
import json, sys
from tuned.profiles import factory, loader, locator, merger, variables
known = variables.Variables()
whole = loader.Loader(locator.Locator([sys.argv[1]]), factory.Factory(), merger.Merger(), None,
                      known).load(sys.argv[2])
print(json.dumps({n: [u.type, {k: known.expand(v) if isinstance(v, str) else v
                           for k, v in u.options.items()}]
                  for n, u in whole.units.items()}))
"""


def by_tuned(path):
    """Its units {name: [plugin, {option: value}]}, as tuned's own reader takes them."""
    r = subprocess.run([sys.executable, "-c", BY_TUNED, *os.path.split(path)], capture_output=True,
                       text=True, env=dict(os.environ, PYTHONPATH=TUNED))
    return json.loads(r.stdout) if not r.returncode else r.stderr


def lines_in_files(play, files):
    """These files {path: lines} after the lineinfile tasks of a play."""
    files = {path: list(lines) for path, lines in files.items()}
    for task in play["tasks"]:
        if do := task.get("ansible.builtin.lineinfile"):
            lines = files.setdefault(do["path"], [])
            at = [i for i, line in enumerate(lines) if re.search(do["regexp"], line)]
            lines[at[-1] if at else len(lines):] = [do["line"]] + (lines[at[-1] + 1:] if at else [])
    return files


def setup_forms(root):
    """(profile, script, playbook, Kubernetes object, boot words) of a root."""
    into = os.path.join(root.path, "profile")
    shutil.rmtree(into, ignore_errors=True)
    r = root.audit("--tuned", into)
    if r.out or r.err:
        raise RuntimeError(f"audit --tuned: {r}")
    return (tuned_profile(into), read(os.path.join(into, "script.sh")),
            yaml.load(root.audit("--ansible").out, Loader=Unsafe),
            yaml.safe_load(root.audit("--performance-profile").out),
            root.audit("--kernel-words").out)


with tempfile.TemporaryDirectory() as place:
    into = os.path.join(place, "profile")
    r = culprit("audit", os.path.join(lib.ROOT, "tests/fixtures/recordings/3.0/irq.rec"), "--tuned",
                into)
    ok(r.rc in (0, 2) and not r.out and not r.err
       and sorted(os.listdir(into)) == ["script.sh", "tuned.conf"],
       "audit of a recording writes a profile, too", r)

try:
    import yaml

    class Unsafe(yaml.SafeLoader):
        """With Ansible's mark for strings that are no templates."""

    Unsafe.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))
except ImportError:
    yaml = None

if not yaml:
    skip("audit --tuned, --ansible, --performance-profile", "needs PyYAML")
else:
    with Root() as root:
        root.put("sys/kernel/iommu_groups/0/type", "DMA-FQ\n")
        root.put("proc/cpuinfo", "processor\t: 3\nflags\t\t: fpu tsc_adjust\n\n")
        wanted = "iommu.passthrough=1 tsc=reliable"
        whole, text = json.loads(root.audit("-f", "json").out), root.audit().out
        script = root.audit("--script").out
        is_([whole["boot"], whole["boot_if_wanted"], "command line" in script,
             "together" in text, f"\nif wanted (see what each costs), boot with {wanted}\n" in text,
             f"\n# if wanted (see what each costs), boot with {wanted}\n" in script],
            [None, wanted, False, False, True, True],
            "boot parameters that nobody needs, to those who look for them")
        profile, script, (play,), cluster, words = setup_forms(root)
        is_([sorted(profile), words, play["tasks"]],
            [["main", "variables"], "",
             [{"name": "nothing of it can be held here", "ansible.builtin.meta": "noop"}]],
            "where nothing is to be done, no form does anything")
        is_([cluster["spec"]["cpu"], cluster["spec"]["globallyDisableIrqLoadBalancing"]],
            [{"isolated": "3", "reserved": "0-2", "balanceIsolated": False}, True],
            "PerformanceProfile: the CPUs, and neither balance nor interrupts there")
        root.put("proc/cmdline", "quiet nohz_full=3\n")
        root.put(CPU + "isolated", "\n")
        root.put("proc/sys/kernel/watchdog", "1\n")
        root.put("proc/sys/kernel/soft_watchdog", "1\n")
        root.put("proc/sys/kernel/watchdog_cpumask", "0-3\n")
        root.put("sys/devices/virtual/workqueue/cpumask", "f\n")
        root.put("proc/irq/default_smp_affinity", "f\n")
        root.task(77, "kauditd", KTHREAD, 3, "0-3")
        root.put("sys/class/net/$(touch x);`id`{{ 7 * 7 }}/queues/rx-0/rps_cpus", "8\n")
        rows = {i: f for i, f in findings(root.audit("-f", "json"), "forms").items()
                if f["level"] in ("WARN", "FAIL")}
        profile, script, (play,), cluster, words = setup_forms(root)
        is_([profile["variables"], profile["scheduler"], profile["sysfs"],
             profile["sysctl"], profile["script"]],
            [{"isolated_cores": "3"}, {"isolated_cores": "${isolated_cores}"},
             {"/sys/devices/virtual/workqueue/cpumask": "7"},
             {"kernel.watchdog_cpumask": "0-2"},
             {"script": "${i:PROFILE_DIR}/script.sh"}],
            "tuned: settings, interrupts and threads each go to their plugin")
        is_([words, profile["bootloader"]["cmdline_culprit"]],
            ["isolcpus=managed_irq,domain,3\n", "+isolcpus=managed_irq,domain,3"],
            "the boot parameters, in one line and in tuned's")
        if os.path.isdir(TUNED):
            units, at = by_tuned(os.path.join(root.path, "profile")), profile
            want = {name: {k: v.replace("${isolated_cores}", "3") for k, v in at[name].items()}
                    for name in at if name not in ("main", "variables")}
            want["script"]["script"] = [os.path.join(root.path, "profile/script.sh")]
            is_({n: u[1] for n, u in units.items()}, want, "tuned's own reader takes all of it")
            is_([t for t, _ in units.values() if not
                 os.path.exists(os.path.join(TUNED, f"tuned/plugins/plugin_{t}.py"))], [],
                "tuned: each part goes to a plugin that it has")
        else:
            skip("tuned's own reader", "its package is not there (make check fetches it)")
        unit = root.audit("--service").out
        starts = re.findall(r'^ExecStart=-/bin/sh -c "(.*)"$', unit, re.M)
        plain = [re.sub(r'\\(["\\])|([%$])\2', lambda m: m[1] or m[2], s) for s in starts]
        is_(plain, [rows[i]["fix"] for i in rows if i not in ("kthreads", "tsc")
                    and rows[i]["fix_kind"] == "command"],
            "a unit of systemd has each command, quoted as systemd reads it")
        syntax = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
        begin, end = script.split("stop() {")
        ok(syntax.returncode == 0 and rows["rps"]["fix"] in begin and rows["rps"]["undo"] in end
           and rows["irq_default"]["fix"] in begin and "_list" not in script
           and "watchdog" not in script,
           "tuned: its script does and undoes the rest", script, syntax.stderr)
        is_(os.stat(os.path.join(root.path, "profile/script.sh")).st_mode & 0o111, 0o111,
            "tuned: its script can be run")
        tasks = {t["name"]: t for t in play["tasks"]}
        files = lines_in_files(play, {})
        is_([tasks["rps"]["ansible.builtin.shell"], tasks["unbound_work"]["ansible.builtin.shell"],
             files],
            [rows["rps"]["fix"], rows["unbound_work"]["fix"],
             {"/etc/sysctl.d/60-culprit.conf": ["kernel.watchdog_cpumask=0-2"],
              "/etc/default/grub.d/60-culprit.cfg":
              ['GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX isolcpus=managed_irq,domain,3"']}],
            "Ansible: each fix is a task, as it is")
        ok('!unsafe "' + rows["rps"]["fix"].replace("\\", "\\\\").replace('"', '\\"') + '"' in
           root.audit("--ansible").out, "Ansible: braces of a name are no template")
        ok("additionalKernelArgs" not in cluster["spec"],
           "PerformanceProfile: what the operator gives itself is left to it", cluster)
        texts = (read(os.path.join(root.path, "profile/tuned.conf")), root.audit("--ansible").out,
                 root.audit("--performance-profile").out)
        person = "it takes a person: tsc"
        # For threads tuned has a plugin, also the operator's tuned.
        is_([re.findall("^# not in here, as (.*)$", text, re.M) for text in texts],
            [[person], ["numbers differ from boot to boot: kthreads", person],
             ["this object has no field for it: " + i
              for i in ("irq_default", "rps", "unbound_work", "softlockup")] + [person]],
            "each says what it leaves out")
        # Both watchdogs have one mask.
        root.put("proc/sys/kernel/nmi_watchdog", "1\n")
        setup_forms(root)
        text = root.audit("--ansible").out + read(os.path.join(root.path, "profile/tuned.conf"))
        is_(re.findall("^ *(?:line: .)?kernel.watchdog_cpumask=.*$", text, re.M),
            ['        line: "kernel.watchdog_cpumask=0-2"', "kernel.watchdog_cpumask=0-2"],
            "a setting that two findings want is written once")
        root.put("proc/sys/kernel/nmi_watchdog", "0\n")
        r = root.audit("--tuned", os.path.join(root.path, "profile"))
        ok(r.rc == 1 and "holds a profile already" in r.err and len(r.err.splitlines()) == 1,
           "--tuned over a profile is refused", r)
        # The next audit, after a boot with another list of CPUs, and for other CPUs.
        root.put("proc/cmdline", "quiet isolcpus=managed_irq,domain,3 -- isolcpus=1\n")
        root.put(CPU + "nohz_full", "\n")
        root.put(CPU + "isolated", "3\n")
        text = root.audit("--ansible").out
        again = lines_in_files(yaml.load(text, Loader=Unsafe)[0], files)
        # As grub-mkconfig does.
        got = subprocess.run(["sh", "-c", "\n".join(again["/etc/default/grub.d/60-culprit.cfg"])
                              + '\necho "$GRUB_CMDLINE_LINUX"'], capture_output=True, text=True,
                             env={"GRUB_CMDLINE_LINUX": "quiet"}, check=False)
        is_([got.stdout, "on the command line" in text],
            ["quiet isolcpus=managed_irq,domain,3 nohz_full=3 rcu_nocbs=3\n", False],
            "Ansible: a second playbook keeps what the first has set")
        root.put(CPU + "isolated", "2\n")
        root.put("proc/cmdline", "quiet isolcpus=2 -- isolcpus=1\n")
        text = root.audit("--ansible").out
        more = lines_in_files(yaml.load(text, Loader=Unsafe)[0], again)
        is_([re.findall("^# (isolcpus.*) is on the", text, re.M),
             [line.replace("domain,2-3", "domain,3").replace("full=2-3", "full=3")
              for line in more["/etc/default/grub.d/60-culprit.cfg"]]],
            [["isolcpus=2"], again["/etc/default/grub.d/60-culprit.cfg"]],
            "and names a list of CPUs that is in its way, which its own has, too")
        is_(re.findall("^# undo: (grubby.*)$", text, re.M),
            ["grubby --update-kernel=ALL --remove-args='isolcpus=managed_irq,domain,2-3 "
             "nohz_full=2-3 rcu_nocbs=3'; grubby --update-kernel=ALL --args='isolcpus=2'"],
            "and its undo on Red Hat brings that back")
        is_(yaml.safe_load(root.audit("--performance-profile").out)["spec"]["cpu"],
            {"isolated": "2-3", "reserved": "0-1", "balanceIsolated": False},
            "PerformanceProfile: CPUs that are isolated already stay so")
        text, script = " ".join(root.audit().out.split()), root.audit("--script").out
        both = "isolcpus=managed_irq,domain,2-3 nohz_full=2-3"
        ok(f"boot with {both} in place of isolcpus=2" in text
           and f"together: {both} rcu_nocbs=3 in place of isolcpus=2 if wanted" in text
           and f"#   {both} rcu_nocbs=3 in place of isolcpus=2\n" in script
           and f"#   boot with: {both} in place of isolcpus=2\n" in script,
           "text and script say what they replace", text, script)
    with Root() as root:
        root.task(812, "workload", 0x400000, 3, "3", 1, 50, "R")
        root.put("proc/sys/kernel/sched_rt_runtime_us", "950000\n")
        root.put("sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000\n")
        profile, script, _, _, _ = setup_forms(root)
        begin, end = script.split("stop() {")
        ok("sysctl" not in profile and "sysfs" not in profile
           and "sysctl -w kernel.sched_rt_runtime_us=-1; echo 0 > /sys" in begin
           and "runtime; sysctl -w kernel.sched_rt_runtime_us=950000" in end,
           "tuned: settings that need their order are for its script", profile, script)
        book = root.audit("--ansible").out
        ok("lineinfile" not in book
           and "sysctl -w kernel.sched_rt_runtime_us=-1; echo 0 > /sys" in book,
           "Ansible: no half of them stays over a boot", book)
    r = culprit("audit", "--tuned", "/nonexistent/x/y")
    ok(r.rc == 1 and not r.out and "/nonexistent/x/y" in r.err and len(r.err.splitlines()) == 1,
       "--tuned where nothing can be made is refused", r)

# ---- what is opened, and what never ----

IN_OPEN = 0x20
libc = ctypes.CDLL(None, use_errno=True)
NEVER = ["proc/sys/vm/stat_refresh", "proc/sys/vm/compact_memory", "proc/sys/vm/drop_caches",
         "proc/sysrq-trigger",
         "sys/class/hwmon/hwmon0/temp1_input", "sys/class/powercap/rapl/energy_uj", "dev/cpu/3/msr",
         CPU + "cpu3/cpufreq/cpuinfo_cur_freq"]
DEEP = CPU + "cpu3/cpufreq/energy_performance_preference"


def opened(root, names, *args):
    fd = libc.inotify_init1(os.O_NONBLOCK)
    watch = {libc.inotify_add_watch(fd, os.path.join(root.path, n).encode(), IN_OPEN): n
             for n in names}
    root.audit("-f", "json", *args)
    seen = set()
    try:
        data = os.read(fd, 65536)
    except BlockingIOError:
        data = b""
    os.close(fd)
    while data:
        wd, _, _, size = struct.unpack_from("iIII", data)
        seen.add(watch[wd])
        data = data[16 + size:]
    return seen


with Root() as root:
    is_(opened(root, NEVER + [DEEP, "proc/cmdline"]), {"proc/cmdline"},
        "what disturbs CPUs is not opened")
    is_(opened(root, NEVER + [DEEP], "--deep"), {DEEP},
        "with --deep what disturbs one CPU is, and nothing that disturbs all")

# ---- this machine ----


def where_irqs_go():
    """{number: its CPUs}."""
    return {int(irq): parse_cpus(read(f"/proc/irq/{irq}/effective_affinity_list"))
            for irq in os.listdir("/proc/irq") if irq.isdigit()}



used, goes = cpu_seconds(), where_irqs_go()
r = culprit("audit", "-f", "json")
used = cpu_seconds() - used
report = json.loads(r.out)
target = parse_cpus(report["cpus"])
rows = report["findings"]
is_(report["schema"], "culprit.audit/1", "the schema")
is_(r.rc, 2 if any(f["level"] == "FAIL" for f in rows) else 0,
    "exits with 2 where something failed, else with 0")
by_id = findings(r, "here")
isolated = parse_cpus(read("/" + CPU + "isolated"))
nohz = read("/" + CPU + "nohz_full")
nohz = parse_cpus(nohz) if nohz and nohz[0].isdigit() else set()
rest = parse_cpus(report["housekeeping"])
partitions = parse_cpus(read("/sys/fs/cgroup/cpuset.cpus.isolated"))
for name in glob.glob("/sys/fs/cgroup/**/cpuset.cpus.partition", recursive=True):
    if read(name) == "isolated":
        partitions |= parse_cpus(read(name.removesuffix("partition") + "effective"))
ok(target and rest, "somebody is quiet, and somebody keeps house", (report["cpus"], rest))
is_(rest, online() - target - isolated - nohz - partitions or online() - target,
    "the rest keeps house, without others that are to be quiet")
is_(by_id["nohz_full"]["level"], "OK" if target <= nohz else "FAIL",
    "nohz_full as the machine has it")
if not os.path.exists("/sys/fs/cgroup/cpuset.cpus.isolated"):
    is_(by_id["isolated"]["level"], "OK" if target <= isolated else "FAIL",
        "isolated as the machine has it")
delivered = [one for f in rows if f["id"] == "irq" and "delivered to" in f["title"]
             and f["level"] == "WARN" for one in f["list"]]
later = where_irqs_go()  # somebody may move one meanwhile
astray = [(one, there) for one in delivered
          for there in [goes.get(one["irq"], set()) | later.get(one["irq"], set())]
          if not there & parse_cpus(one["cpus"]) or not one["count"]
          or read(f"/sys/kernel/irq/{one['irq']}/actions") != one["name"]]
is_(astray, [], f"each of {len(delivered)} IRQs goes where the audit says")
is_(by_id["thp"]["level"] == "WARN",
    "[always]" in read("/sys/kernel/mm/transparent_hugepage/enabled"),
    "huge pages as the machine has them")
missing = [f["id"] for f in rows if f["level"] in ("FAIL", "WARN") and not f["title"]]
is_(missing, [], "every finding has a title")

text = culprit("audit").out.splitlines()
wide = [line for line in text if len(line) > 100 and " " in line.strip()[:-60]]
is_(wide, [], "the text fits 100 columns")
ok(used < 2, "it takes no time", used)

# /proc/sys/net is that of the process' network namespace, /sys/class/net that of whom mounted /sys.
network = {i: by_id[i]["known"] for i in ("rps", "rps_default") if i in by_id}
for name, command, known in (
        ("a network namespace", 'exec "$0" "$@"', network | {"rps_default": False}),
        ("a network namespace with its own /sys", 'mount -t sysfs none /sys && exec "$0" "$@"',
         {"rps": False, "rps_default": False})):
    inside = "unshare", "--net", "--mount", "sh", "-c", command
    if subprocess.run([*inside, "true"], capture_output=True).returncode:
        skip(name, "no such namespace can be made here")
        continue
    by_id = findings(culprit("audit", "-f", "json", prefix=inside), name)
    got = {i: by_id[i]["known"] for i in known if i in by_id}
    # Rights to look at process 1's /sys are not everybody's: without them it is not known.
    ok(got == known or (not os.access("/proc/1/root/sys", os.F_OK) and not any(got.values())),
       f"{name}: its queues are not taken for the machine's", got, known)
done()
