#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--user-stacks of programs that make code while they run, as the machine has them: node and Java.
They wake a thread through functions of libc: those are named, and who called them where that is
certain. No function of a script's is named but those that asked.
"""
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time

import lib
from lib import done, ok, skip, sources

lib.need_bpf(shared=True)
cpu = lib.pick_target(shared=True)
place = tempfile.mkdtemp()
# askOften and tick become code; `other` does, too, and asks for nothing.
NODE = """
const { Worker, isMainThread, workerData } = require('worker_threads');
const fs = require('fs');
if (isMainThread) {
  const a = new Int32Array(new SharedArrayBuffer(8));
  new Worker(__filename, { workerData: a });
  function askOften(x) { Atomics.add(a, 0, 1); Atomics.notify(a, 0, 1); return x + 1; }
  function other(x) { for (let i = 0; i < 1000; i++) x = (x * 7 + i) % 1001; return x; }
  function tick() { let x = 0; for (let i = 0; i < 10; i++) x = askOften(other(x)); }
  setInterval(tick, 1);
} else {
  const tid = fs.readlinkSync('/proc/thread-self').split('/')[2];
  require('child_process').execSync(`taskset -p -c CPU ${tid}`);
  fs.writeFileSync(`/proc/self/task/${tid}/comm`, 'called');
  console.log('begun');
  for (;;) Atomics.wait(workerData, 0, Atomics.load(workerData, 0), 1000);
}
"""
JAVA = """
import java.nio.file.*;
import java.util.concurrent.locks.LockSupport;
class Asking {
  static int asked;
  static void askOften(Thread t) { asked++; LockSupport.unpark(t); }
  public static void main(String[] a) throws Exception {
    Thread t = new Thread(() -> {
      try {
        Path self = Files.readSymbolicLink(Path.of("/proc/thread-self"));
        String tid = self.getFileName().toString();
        Runtime.getRuntime().exec(new String[] {"taskset", "-p", "-c", "CPU", tid}).waitFor();
        Files.writeString(Path.of("/proc/self/task/" + tid + "/comm"), "called");
      } catch (Exception e) { System.exit(1); }
      System.out.println("begun");
      for (;;) LockSupport.park();
    });
    t.start();
    for (;;) { Thread.sleep(1); askOften(t); }
  }
}
"""


@contextlib.contextmanager
def running(*command):
    """A program off the target, until its thread is there; its pid."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=place) as program:
        try:
            said = program.stdout.readline()
            while said and said != "begun\n":
                said = program.stdout.readline()
            if not said:
                raise RuntimeError(f"{command[0]} does not begin")
            time.sleep(1)  # until it is made into code
            yield program.pid
        finally:
            program.kill()
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"/tmp/perf-{program.pid}.map")


def judge(name, pid):
    report, _ = lib.run_json(cpu, 2, "--no-audit", "--user-stacks")
    # 24-user-stacks.t, which may run beside, has threads of that name, too.
    asked = [o for s in sources(report, cpu, name="called",
                                id=lambda tid: os.path.exists(f"/proc/{pid}/task/{tid}"))
             for o in s["origins"]]
    stacks = [w["user_stack"] for o in asked if o["cpu"] != cpu for w in o.get("ways", ())
              if w["user_stack"]]
    if not stacks:
        lib.not_judged(name, "nobody asked")
        return
    named = [[f["function"] for f in stack] for stack in stacks]
    made = {f["function"] for stack in stacks for f in stack
            if (f.get("file") or "").endswith(f"perf-{pid}.map")}
    ok(all("/libc" in stack[0].get("file", "") and stack[0]["function"] for stack in stacks),
       f"{name}: the function of libc that asked", named)
    ok(all(stack[-1]["function"] is None for stack in stacks) and
       not {m for m in made if not any(w in m for w in ("askOften", "tick", "unpark", "main"))},
       f"{name}: who called is known, or said to be unknown", named)


def script(name, text):
    path = os.path.join(place, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("CPU", str(cpu)))
    return path


if not shutil.which("node"):
    skip("node", "it is not there (apt-get install nodejs)")
else:
    with running("node", "--perf-basic-prof", script("asking.js", NODE)) as pid:
        judge("node", pid)
if not shutil.which("javac") or not shutil.which("jcmd"):
    skip("Java", "its compiler is not there (apt-get install openjdk-17-jdk-headless)")
else:
    subprocess.run(["javac", "-d", place, script("Asking.java", JAVA)], check=True)
    with running("java", "-XX:+PreserveFramePointer", "-cp", place, "Asking") as pid:
        if subprocess.run(["jcmd", str(pid), "Compiler.perfmap"], capture_output=True).returncode:
            lib.diag("this Java writes no map")
        judge("Java", pid)
shutil.rmtree(place)
done()
