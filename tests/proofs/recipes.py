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
    batch    of those with one number a guest has all; PLACES says what guest that is
    least    times that the cause's sources have to come in a window without the fix
    seconds  length of a window, in virtual time: the longest of a batch
    left     share of them that the fix may leave
    who      glob of the names or functions that count; none: any
    run      the measuring command; {pid}: of what is busy
    wait     seconds of virtual time until a knob that is put back has its effect again
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
    run: str = "run -c 1"
    wait: float = 0.0
    without: dict = field(default_factory=dict)

    @property
    def way(self):
        """As src/audit/causes/proven calls it: how the noise is ended."""
        return "booted" if self.boots else {STOP: "stopped", MOVE: "moved", "": "command"}.get(
            self.ends, "advised")


def bound(comm):
    """A kernel thread is put on CPU 1, as it may run there where nothing keeps it away."""
    return f"taskset -pc 1 $(for c in /proc/[0-9]*/comm; do case $(cat $c) in {comm}) " \
           "echo $c | cut -d/ -f3;; esac; done | head -1)"


def loop(cpu, line, gap="0.1"):
    return f"exec taskset -c {cpu} sh -c 'while :; do {line}; sleep {gap}; done'"


def calls(name, cpu=0, *words):
    return " ".join(["exec python3 tests/proofs/noise.py", name, str(cpu), *map(str, words)])


@dataclass
class Place:
    """The guest of a batch. boot: words for its kernel; reliable: these say that the TSC is, too;
    modules: drivers in its /; setup: lines of a shell before all noise; apart: each recipe makes
    its noise alone, while the others are silent."""
    kernel: str = "6.12"
    boot: str = ""
    reliable: bool = True
    modules: tuple = ()
    devices: tuple = ()
    features: str = ""
    setup: str = ""
    apart: bool = False


# With one queue, between two CPUs that share no cache.
DISK = ("-smp sockets=2,cores=1", "-drive if=none,id=d,driver=null-co,size=64M",
        "virtio-blk-pci,drive=d,num-queues=1")
PLACES = {
    7: Place(boot="nohz_full=1", apart=True),
    8: Place(apart=True, modules=("configfs", "null_blk"),
             setup="insmod /configfs.ko; insmod /null_blk.ko submit_queues=1; "
                   "echo 1000 > /sys/block/nullb0/queue/io_timeout"),
    9: Place(apart=True, modules=("msr", "cpuid", "cryptd", "af_alg", "algif_hash"),
             setup="for m in msr cryptd af_alg algif_hash; do insmod /$m.ko; done"),
    10: Place(apart=True),
    12: Place(reliable=False, features=",vendor=GenuineIntel"),
    14: Place(modules=("e1000e",), devices=("e1000e,romfile=",),
              setup="insmod /e1000e.ko; ip link set eth0 up; ip addr add 10.9.0.1/24 dev eth0"),
    15: Place(modules=("ipmi_msghandler", "ipmi_si", "ipmi_devintf"),
              devices=("ipmi-bmc-sim,id=bmc", "isa-ipmi-kcs,bmc=bmc,irq=0"),
              setup="for m in msghandler si devintf; do insmod /ipmi_$m.ko; done"),
    16: Place(kernel="6.12-rt", apart=True),
    17: Place(kernel="6.1", apart=True),
    18: Place(modules=("virtio_blk",), devices=DISK, setup="insmod /virtio_blk.ko", apart=True),
    22: Place(modules=("scsi_common", "scsi_mod", "libata", "ata_piix", "cdrom", "sr_mod"),
              devices=("ide-cd",),
              setup="for m in scsi_common scsi_mod libata ata_piix cdrom sr_mod; do "
                    "insmod /$m.ko; done; sleep 3"),
    19: Place(modules=("virtio_blk",), devices=DISK, setup="insmod /virtio_blk.ko",
              boot="isolcpus=managed_irq,domain,1"),
    24: Place(boot="isolcpus=1", apart=True),
    20: Place(boot="isolcpus=1 nohz_full=1", apart=True),
    11: Place(modules=("tap", "tun", "vhost_iotlb", "vhost", "vhost_net"), apart=True,
              setup="for m in tap tun vhost_iotlb vhost vhost_net; do insmod /$m.ko; done"),
    13: Place(modules=("virtio_balloon",), devices=("virtio-balloon-pci,free-page-reporting=on",),
              setup="insmod /virtio_balloon.ko", apart=True),
    21: Place(modules=("irqbypass", "ccp", "kvm", "kvm-amd"), apart=True,
              features=",+svm,+npt,vendor=AuthenticAMD",
              setup="for m in irqbypass ccp kvm kvm-amd; do insmod /$m.ko; done"),
    23: Place(modules=("crc16", "crc32c_generic", "mbcache", "jbd2", "ext4", "brd"), apart=True,
              setup="for m in crc16 crc32c_generic mbcache jbd2 ext4; do insmod /$m.ko; done; "
                    "insmod /brd.ko rd_nr=1 rd_size=16384; mke2fs /dev/ram0; mkdir /tmp/ext; "
                    "mount -t ext4 /dev/ram0 /tmp/ext"),
    27: Place(modules=("e1000e",), devices=("e1000e,romfile=",), setup="insmod /e1000e.ko",
              apart=True),
    28: Place(kernel="6.12:arm64"),
}


def place_of(cause):
    return PLACES.get(RECIPES[cause].batch, Place())


# Missing in older kernels of Debian.
NO_CSD = {k: "the kernel does not tell which function an IPI calls" for k in ("5.10", "6.1")}
NO_NOHZ_FULL = {"5.10": "Debian's kernel has no nohz_full"}
NO_FILE = "the file does not exist"


# Beside grace periods of RCU.
LONG_CALLS = calls("long_calls", 1).removeprefix("exec ") + " & " + loop(
    0, "mkdir /tmp/a; rmdir /tmp/a", "0.02")
KERNELS = ["6.12", "6.12-rt", "6.1", "6.12:arm64"]

RECIPES = {
    # By other CPUs.
    "P05": Recipe(busy=calls("munmap", 0), ends=STOP, who="flush_tlb_func",
                  without=NO_CSD),
    "P09": Recipe(
        busy=loop(0, "sysctl -qw kernel.sched_schedstats=1; sysctl -qw kernel.sched_schedstats=0"),
        ends=STOP, who="do_sync_core", least=10,
        without=NO_CSD),
    "P11": Recipe(busy=calls("membarrier", 0), ends=STOP, who="ipi_mb",
                  without=NO_CSD),
    "P23": Recipe(busy=calls("perf_opens", 0), ends=STOP, who="remote_function", least=10,
                  without=NO_CSD),
    "P25": Recipe(
        busy=loop(0, "for v in 299 300; do echo $v > "
                     "/sys/devices/system/machinecheck/machinecheck0/check_interval; done"),
        ends=STOP, who="mce_cpu_restart",
        without=NO_CSD),
    "K04": Recipe(
        busy=loop(0, "for c in kmalloc-64 dentry; do echo 1 > /sys/kernel/slab/$c/shrink; "
                     "taskset -c 1 cat /proc/self/maps; done"),
        ends=STOP, who="flush_cpu_s*"),
    "K05": Recipe(busy=loop(0, "cat /proc/sys/vm/stat_refresh"), ends=STOP,
                  who="refresh_vm_stats"),
    "K20": Recipe(
        busy=loop(0, "echo base=0x60000000 size=0x1000000 type=uncachable > /proc/mtrr; "
                     "grep 0x060000000 /proc/mtrr | sed s/^reg/disable=/\\;s/:.*// > /proc/mtrr"),
        ends=STOP),
    "P14": Recipe(  # alone: among others it came once
        batch=6, busy=loop(0, "ip link set lo up; ip link set lo down", "0.05"),
        who="rcu_exp_handler",
        without=NO_CSD),
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
        busy="exec taskset -c 1 sh -c 'while :; do :; done'", who="hrtick", least=10,
        without={"5.10": "the file is /sys/kernel/debug/sched_features"}),
    "T30": Recipe(
        batch=3, make="echo 2 > /proc/irq/4/smp_affinity", seconds=4,
        busy=loop(0, "echo > /dev/ttyS0", "0.05"),
        ends="echo 0 > /proc/irq/4/smp_affinity_list",
        again="echo 2 > /proc/irq/4/smp_affinity", who="mix_interrupt_randomness"),
    "P18": Recipe(
        batch=3, make="ip link set lo up; echo 2 > /sys/class/net/lo/queues/rx-0/rps_cpus",
        busy=loop(0, "ping -c 1 127.0.0.1", "0.02"), who="rps_trigger_softirq", least=10,
        without=NO_CSD),
    "P26": Recipe(
        batch=10, make="ip link set lo up", busy=calls("deferred_free", 1),
        who="trigger_rx_softirq", least=10, without=NO_CSD),
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
        who="toggle_allocation_gate",
        without={"5.10": NO_FILE, "6.1": NO_FILE}),
    "T01": Recipe(batch=4, boots="nohz_full=1", who="tick_*", left=0.1, least=50,
                  without=NO_NOHZ_FULL),
    "S06": Recipe(batch=4, boots="isolcpus=managed_irq,domain,1 nohz_full=1", least=5,
                  without=NO_NOHZ_FULL),
    "S07": Recipe(batch=4, busy=loop(1, "mkdir /tmp/a; rmdir /tmp/a", "0.02"),
                  boots="rcu_nocbs=1", left=0.02, least=10,
                  without={"5.10": "Debian's kernel has no rcu_nocbs"}),
    # The averages of a cgroup begin with its first thread, where that runs; those of the whole
    # machine have begun long before, on CPU 0 perhaps, and stay there.
    "K08": Recipe(batch=4, busy="exec taskset -c 1 sh -c 'i=0; while :; do "
                  "rmdir /sys/fs/cgroup/p$(((i + 10) % 20)); p=/sys/fs/cgroup/p$((i % 20)); "
                  "mkdir $p; echo $$ > $p/cgroup.procs; i=$((i + 1)); sleep 0.5; done'",
                  boots="psi=0", who="psi_avgs_work", seconds=5, least=2),
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
    # The tick of a nohz_full CPU is kept, one reason at a time.
    "T02": Recipe(batch=7, busy="exec taskset -c 1 sh -c 'while :; do :; done'", ends=MOVE,
                  left=0.1, least=50,
                  without=NO_NOHZ_FULL),
    "T03": Recipe(
        batch=20, seconds=5, run="run -c 1 -P f:10",
        busy="exec taskset -c 1 sh -c 'while :; do :; done'",
        without={"5.10": NO_FILE, "6.1": NO_FILE}),
    "T04": Recipe(batch=7, busy=calls("cpu_timer", 1), ends=STOP, left=0.1, least=20,
                  without=NO_NOHZ_FULL),
    "T05": Recipe(batch=7, busy=calls("perf_frequency", 0), ends=STOP, left=0.1, least=50,
                  without=NO_NOHZ_FULL),
    # Block devices.
    "S04": Recipe(batch=18, busy=loop(1, "dd if=/dev/vda of=/dev/null iflag=direct bs=4k count=4",
                                      "0.02"), ends=MOVE, least=10),
    "T12": Recipe(batch=8, seconds=8, least=2, ends=MOVE, who="blk_rq_timed_out_timer", busy=loop(
        1, "dd if=/dev/nullb0 of=/dev/null iflag=direct bs=4k count=4", "0.02")),
    "K11": Recipe(batch=8, seconds=8, least=2, ends=MOVE, who="blk_mq_timeout_work", busy=loop(
        1, "dd if=/dev/nullb0 of=/dev/null iflag=direct bs=4k count=4", "0.02")),
    "K10": Recipe(
        batch=8, who="kworker/u*", least=5,  # any CPU that is awake may run its timer
        make="echo 10 > /proc/sys/vm/dirty_writeback_centisecs; "
             "echo 2 > /sys/devices/virtual/workqueue/writeback/cpumask",
        busy=loop(0, "dd if=/dev/zero of=/dev/nullb0 bs=4k count=4 conv=notrunc", "0.05")),
    # Modules and tools.
    "P12": Recipe(batch=9, busy=calls("read_msr", 0), ends=STOP, who="__rdmsr*", least=10,
                  without=NO_CSD),
    "P06": Recipe(batch=9, busy=loop(0, "insmod /cpuid.ko; rmmod cpuid"), ends=STOP,
                  who="do_*",
                  without=NO_CSD),
    "P07": Recipe(batch=9, busy=loop(0, "insmod /cpuid.ko; rmmod cpuid"), ends=STOP),
    "K22": Recipe(batch=9, busy=loop(0, "insmod /cpuid.ko; rmmod cpuid"), ends=STOP,
                  who="cpuhp/1"),
    "K19": Recipe(batch=9, busy=calls("cryptd_hash", 1), ends=MOVE, who="cryptd_queue_worker*",
                  least=10),
    "P24": Recipe(batch=10, busy=calls("sleepable_program", 0), ends=STOP, seconds=5,
                  who="trc_read_check_handler",
                  without=NO_CSD),
    "X02": Recipe(
        batch=10, ends=STOP, who="*able_trace_buffered_event",
        busy=loop(0, "for f in \"next_pid>5\" 0; do "
                     "echo $f > /sys/kernel/tracing/events/sched/sched_switch/filter; done"),
        without=NO_CSD),
    "K14": Recipe(
        batch=10, ends=MOVE, left=0.2,
        busy=loop(1, "for v in 1 0; do "
                     "echo $v > /sys/kernel/tracing/events/power/cpu_idle/enable; done")),
    # One at a time. Other threads are woken there, too, now and then.
    "P01": Recipe(batch=10, left=0.1, busy=calls("wakes", 0, 1),
                  ends="taskset -pc 0 $(cat /tmp/pid)",
                  again="taskset -pc 1 $(cat /tmp/pid)", least=20),
    "P04": Recipe(batch=18, left=0.1, busy=calls("wakes", 0, 1),
                  ends="taskset -pc 0 $(cat /tmp/pid)",
                  again="taskset -pc 1 $(cat /tmp/pid)", least=20),
    "P02": Recipe(batch=10, busy=calls("signals", 0, 1), ends=STOP, least=5),
    "T22": Recipe(batch=10, busy=calls("wall_clock", 0, 1), ends=STOP),
    "P15": Recipe(
        batch=10, who="rcu_barrier_handler", ends=STOP,
        busy=loop(1, "mkdir /tmp/a; rmdir /tmp/a", "0.01").removeprefix("exec ") + " & " + loop(
            0, "unshare -n true", "0.02"),
        without=NO_CSD),
    "K01": Recipe(batch=10, busy=calls("memory", 1), seconds=5, wait=130, who="vmstat_*",
                  left=0.3),
    "T13": Recipe(batch=12, boots="tsc=nowatchdog", seconds=5),
    # Other devices.
    "K27": Recipe(batch=14, busy=calls("broadcast", 0), seconds=7, least=2, who="napi/eth0*",
                  make="echo 1 > /sys/class/net/eth0/threaded; " + bound("napi/eth0*"),
                  without={"5.10": NO_FILE}),
    "K29": Recipe(batch=15, make=bound("kipmi0"), busy=calls("ipmi", 0), least=10, who="kipmi0"),
    "I02": Recipe(batch=18, least=10, boots="isolcpus=managed_irq,domain,1", busy=loop(
        1, "dd if=/dev/vda of=/dev/null iflag=direct bs=4k count=4", "0.02")),
    "K17": Recipe(  # the work stays on the CPU of the shell that asked for it
        batch=22, least=10, who="disk_events_workfn",
        make="taskset -pc 1 $$; echo 100 > /sys/module/block/parameters/events_dfl_poll_msecs"),
    # On kernels with PREEMPT_RT.
    "I03": Recipe(batch=16, make="echo 2 > /proc/irq/4/smp_affinity",
                  busy=loop(0, "echo > /dev/ttyS0", "0.05"), least=5),
    "K28": Recipe(batch=16, who="irq_work/1", ends=STOP, least=10, busy="cat /dev/kmsg & " + loop(
        1, "echo x > /dev/kmsg", "0.05")),
    # On older kernels.
    "T18": Recipe(batch=17, run="run -c 1 -P f:10", seconds=4,
                  without={"6.12": "the fair server takes its place: T03"}),
    # Cgroups and the network.
    "T09": Recipe(  # a quota's timer stays where it was started
        batch=10, least=10, who="sched_cfs_*",
        make="echo +cpu > /sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/q; "
             "taskset -c 1 sh -c 'echo 20000 100000 > /sys/fs/cgroup/q/cpu.max'",
        busy="echo $$ > /sys/fs/cgroup/q/cgroup.procs; "
             "exec taskset -c 1 sh -c 'while :; do :; done'",
        ends="echo max > /sys/fs/cgroup/q/cpu.max",
        again="taskset -c 1 sh -c 'echo 20000 100000 > /sys/fs/cgroup/q/cpu.max'"),
    "S08": Recipe(batch=10, busy="exec poke ksoftirqd -c 1 -n 100000", ends=STOP,
                  who="ksoftirqd/1"),
    # A report looks for deadline tasks when it begins.
    "T31": Recipe(batch=24, busy=calls("deadline", 1), ends=STOP, least=20, wait=1),
    "P19": Recipe(batch=19, make="echo 2 > /sys/block/vda/queue/rq_affinity", least=10, busy=loop(
        1, "dd if=/dev/vda of=/dev/null iflag=direct bs=4k count=4", "0.02")),
    "K03": Recipe(
        batch=10, who="drain_local_*stock", seconds=6,
        make="echo +memory > /sys/fs/cgroup/cgroup.subtree_control; mkdir /sys/fs/cgroup/k; "
             "echo 16M > /sys/fs/cgroup/k/memory.max",
        busy="echo $$ > /sys/fs/cgroup/k/cgroup.procs; echo -1000 > /proc/self/oom_score_adj; " +
        calls("memory", 1).removeprefix("exec ") + " & " + loop(
            0, "python3 tests/proofs/noise.py grow 0"),
        ends="echo max > /sys/fs/cgroup/k/memory.max",
        again="echo 16M > /sys/fs/cgroup/k/memory.max"),
    # RCU and a CPU of nohz_full that stays in the kernel; a real-time thread keeps no tick itself.
    "P03": Recipe(batch=7, busy=LONG_CALLS, ends=STOP, who="reschedule", least=2, seconds=5,
                  without=NO_NOHZ_FULL),
    "T07": Recipe(batch=7, busy=LONG_CALLS, ends=STOP, least=2, seconds=5,
                  without=NO_NOHZ_FULL),
    "T08": Recipe(
        batch=7, least=2, seconds=5,
        busy="chrt -f 10 taskset -c 1 sh -c 'while :; do echo t > /proc/sysrq-trigger; "
             "sleep 0.1; done' & " + loop(0, "ip link set lo up; ip link set lo down", "0.05"),
        without=NO_NOHZ_FULL),
    "P08": Recipe(
        batch=10, busy=calls("huge", 0), who="tlb_remove_table_smp_sync", least=5, seconds=4,
        make="echo always > /sys/kernel/mm/transparent_hugepage/enabled; "
             "cd /sys/kernel/mm/transparent_hugepage/khugepaged; "
             "echo 10 > scan_sleep_millisecs; echo 10 > alloc_sleep_millisecs; "
             "echo 100000 > pages_to_scan; cd /culprit",
        without=NO_CSD),
    "P22": Recipe(batch=21, busy=calls("kvm", 0, 1), ends=STOP, least=10),
    "I07": Recipe(batch=11, busy=calls("vhost", 0, 1), who="vhost-*", least=10,
                  ends="taskset -pc 0 $(cat /tmp/pid)",
                  again="taskset -pc 1 $(cat /tmp/pid)"),
    "P17": Recipe(
        batch=23, who="invalidate_bh_lru", least=5,
        busy=loop(0, "blockdev --flushbufs /dev/ram0", "0.05").removeprefix("exec ") + " & " +
        calls("directories", 1, "/tmp/ext/a"),
        ends="taskset -pc 0 $(cat /tmp/pid)", again="taskset -pc 1 $(cat /tmp/pid)",
        without=NO_CSD),
    "K30": Recipe(batch=13, busy=calls("frees", 1), ends=MOVE, who="page_reporting_process",
                  seconds=8, least=2),
    "K13": Recipe(
        batch=27, seconds=8, least=3, ends="ip link set eth0 down",
        make="for i in /proc/irq/[0-9]*; do echo 2 > $i/smp_affinity; done 2>/dev/null; "
             "ip link set eth0 up; sleep 3",
        again="ip link set eth0 up; for i in $(grep eth0 /proc/interrupts | cut -d: -f1); do "
              "echo 2 > /proc/irq/$i/smp_affinity; done; sleep 3"),
    "I12": Recipe(batch=28, busy=calls("perf_cycles", 0, 1), ends=STOP, who="armpmu*", least=50),
    # By the workload itself.
    "F01": Recipe(batch=10, run="watch -p {pid} --faults", busy=calls("faults", 1), least=50,
                  ends="printf 1 | dd of=/tmp/flag conv=notrunc",
                  again="printf 0 | dd of=/tmp/flag conv=notrunc"),
    "F08": Recipe(batch=10, run="watch -p {pid} --syscalls", busy=calls("system_calls", 1),
                  least=50, ends="printf 1 | dd of=/tmp/flag conv=notrunc",
                  again="printf 0 | dd of=/tmp/flag conv=notrunc"),
}
