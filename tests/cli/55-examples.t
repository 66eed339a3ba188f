#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples and the environment of each command's help: those that need no root are run, the
others read up to their end."""
import os
import re
import shutil
import subprocess
import tempfile

from lib import CULPRIT, HANG_S, ROOT, culprit, done, is_, ok, skip

place = tempfile.mkdtemp()
subprocess.run([os.path.join(os.path.dirname(CULPRIT), "golden"), place], check=True,
               capture_output=True)
for name in "before", "after", "web-07", "web-08", *(f"{side}{n}" for side in "ab"
                                                     for n in (1, 2, 3)):
    shutil.copy(os.path.join(place, "irq.rec"), os.path.join(place, name + ".rec"))
for name, made in ("before", "irq.rec"), ("after", "threads.rec"):
    os.mkdir(os.path.join(place, name))
    shutil.copy(os.path.join(place, made), os.path.join(place, name))
for name in "guest", "host":
    shutil.copy(os.path.join(place, "vm." + name), os.path.join(place, name + ".rec"))
shutil.copy(os.path.join(ROOT, "tests", "fixtures", "osnoise", "6.12.trace"),
            os.path.join(place, "trace.txt"))
RUN = {"report", "diff", "plot", "audit", "explain", "clock", "osnoise", "version"}
END = "--no-such-option"


def section(page, name):
    return page.split(f"\n{name}:\n",
                      1)[1].split("\n\n")[0].splitlines() if f"\n{name}:\n" in page else []


def shell(line):
    path = os.pathsep.join((os.path.dirname(CULPRIT), os.environ["PATH"]))
    return subprocess.run(["sh", "-c", line], cwd=place, capture_output=True, text=True,
                          timeout=HANG_S,
                          env={**os.environ, "PATH": path})


for command in culprit("help", "--list").out.split():
    page = culprit("help", command).out
    man = culprit("help", "--man", command).out.replace("\\-", "-")
    examples = [line.strip() for line in section(page, "examples") if re.match(r"  \S", line)]
    ok(len(examples) >= 2, f"help {command} has examples", page[-500:])
    is_([e for e in examples if e not in man], [], f"man page {command}: the same examples")
    known = set(re.findall(r"^ +-(\w)[, ]", page,
                           re.M)) | set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", page, re.M))
    told = re.findall(r"(?<![\w-])--?([A-Za-z][a-z-]*)(?![\w-])", page.split("\nexamples:")[0])
    is_([w for w in told if w not in known], [],
        f"help {command} speaks of no option that it has not")
    variables = [line.strip() for line in section(page, "environment") if re.match(r"  \S", line)]
    ok(variables and all(f"\\fB{v}\\fR" in man.split(".SH ENVIRONMENT")[1] for v in variables),
       f"{command}: help and man page tell the environment", variables)
    if command == "audit":  # the recordings from the golden tests know nothing of a machine
        r = culprit("record", "-q", "--no-trace", "--force", "-d", "100ms",
                    os.path.join(place, "before.rec"))
        ok(r.rc == 0, "a recording of this machine", r)
    for example in examples:
        ok(example.removeprefix("sudo ").startswith(f"culprit {command}"),
           f"of {command}: {example}")
        line = re.sub(r"-([cH]) [0-9,]+", r"-\1 0", example.removeprefix("sudo "))
        if command in RUN and "sudo culprit osnoise" not in example and "ptp" not in example:
            r = shell(line)
            good = (0, 2) if command in ("audit", "diff") else (0,)
            ok(r.returncode in good and not [e for e in r.stderr.splitlines() if "help" in e],
               f"runs: {example}", r)
        else:  # each word before the last is taken
            r = shell(f"{line} {END}")
            is_(r.stderr, f"culprit: {END}: unknown option (culprit help {command})\n",
                f"is read: {example}")
        if " kept/" in example:
            r = shell(line.replace(" forever", " 100ms --no-trace"))
            kept = os.path.join(place, "kept")
            ok(r.returncode in (0, 3) and os.stat(kept).st_mode & 0o777 == 0o700 and
               "made the directory kept/" in r.stderr, f"begins, in a new directory: {example}", r)

# ---- the environment ----
page = {w: subprocess.run([CULPRIT, "report", os.path.join(place, "two.rec")], capture_output=True,
                          text=True,
                          env={**os.environ, "COLUMNS": w}).stdout for w in ("90", "120", "", "39",
                                                                             "40", "wide")}
is_([max(map(len, page[w].splitlines())) <= int(w) for w in ("90", "120")], [True, True],
    "COLUMNS is kept to")
ok(page["90"] != page["120"], "COLUMNS changes the width")
is_([page["wide"] == page[""], page["39"] == page["40"]], [True, True],
    "COLUMNS that is no width changes nothing, and 40 are the least")

# ---- culprit.h, which programs include ----

REPORTER = """#include "culprit.h"
int main(void)
{
	struct culprit_reports *r = culprit_reports_open();
	int good;

	culprit_late(r, 5, 7);
	good = r && r->head == 1 && r->report[0].place == 1 && r->report[0].start_ns == 5 &&
	       r->report[0].end_ns == 7 && r->report[0].tid == (uint32_t)getpid();
	culprit_reports_close(r);
	return !good;
}
"""
for compiler, language, standards in (("cc", "c", ("c99", "c11", "gnu11")),
                                      ("c++", "c++", ("c++11", "c++17", "c++20"))):
    if not shutil.which(compiler):
        skip(f"culprit.h as {language}", f"needs {compiler}")
        continue
    said = {}
    for standard in standards:
        program = os.path.join(place, standard)
        made = subprocess.run([compiler, f"-std={standard}", "-pedantic", "-Wall", "-Wextra",
                               "-Wconversion", "-Wshadow", "-Werror", "-I",
                               os.path.join(ROOT, "src"), "-x", language, "-", "-o", program],
                              input=REPORTER, capture_output=True, text=True)
        said[standard] = made.stderr or subprocess.run([program]).returncode
    is_(said, dict.fromkeys(standards, 0), f"culprit.h as {language}: it compiles and reports")

shutil.rmtree(place)
done()
