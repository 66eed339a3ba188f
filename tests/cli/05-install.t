#!/usr/bin/env python3
"""Installing: man pages and completion are made from the option tables, read well, and go again."""
import os
import re
import shutil
import subprocess
import tempfile

from lib import CULPRIT, ROOT, culprit, done, is_, ok, skip

place = tempfile.mkdtemp()
names = culprit("help", "--list").out.split()
ok("run" in names and "explain" in names and len(names) > 8, "the commands", names)
is_([n for n in names if not re.search(rf"^  {n} ", culprit("help").out, re.M)], [], "all of them are in the help")

# ---- man pages ----
for name in ["", *names]:
    page = culprit("help", "--man", *([name] if name else [])).out
    path = os.path.join(place, f"culprit{'-' + name if name else ''}.1")
    with open(path, "w") as f:
        f.write(page)
    if shutil.which("groff"):
        r = subprocess.run(["groff", "-ww", "-man", "-z", path], capture_output=True, text=True)
        ok(r.returncode == 0 and not r.stderr, f"man page {name}: no warnings", r.stderr[:500])
    else:
        skip(f"man page {name}", "groff is not installed")
    if name:
        options = set(re.findall(r"--[a-z][a-z-]+", culprit("help", name).out.split("options:")[1]))
        told = set(re.findall(r"--[a-z][a-z-]+", page.replace("\\-", "-")))
        is_(sorted(options - told), [], f"man page {name}: every option of the help")

# ---- completion ----
script = os.path.join(place, "culprit.bash")
with open(script, "w") as f:
    f.write(culprit("help", "--bash").out)


def complete(*words):
    code = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _culprit; printf "%s\\n" "${{COMPREPLY[@]}}"'
    return subprocess.run(["bash", "--norc", "-c", code, "bash", *words], capture_output=True, text=True).stdout.split()


is_(complete("culprit", "rep"), ["report"], "bash: a command")
is_(complete("culprit", "help", "aud"), ["audit"], "bash: a command to help")
is_(complete("culprit", "run", "--max-h"), ["--max-hiccup"], "bash: an option")
is_(complete("culprit", "run", "--style", "osj"), ["osjitter"], "bash: a choice")
ok("markdown" in complete("culprit", "report", "-f", ""), "bash: the formats", complete("culprit", "report", "-f", ""))
os.chdir(place)
is_(complete("culprit", "report", "culprit.b"), ["culprit.bash"], "bash: a file")
zsh = culprit("help", "--zsh").out
if shutil.which("zsh"):
    with open(os.path.join(place, "_culprit"), "w") as f:
        f.write(zsh)
    r = subprocess.run(["zsh", "-n", os.path.join(place, "_culprit")], capture_output=True, text=True)
    ok(r.returncode == 0, "zsh: the script parses", r.stderr)
else:
    is_([n for n in names if f"\t\t{n})\n" not in zsh], [], "zsh: every command")

# ---- install ----
to = os.path.join(place, "root")
# By the name that it was built under: by another one everything would be built again.
make = ["make", "-C", ROOT, f"O={os.path.relpath(os.path.dirname(CULPRIT), ROOT)}", f"DESTDIR={to}", "PREFIX=/usr", "--no-print-directory"]
if os.path.basename(CULPRIT) == "culprit" and shutil.which("make"):
    r = subprocess.run([*make, "install"], capture_output=True, text=True)
    found = sorted(os.path.relpath(os.path.join(d, f), to) for d, _, files in os.walk(to) for f in files)
    is_(found, sorted(["usr/bin/culprit", "usr/include/culprit.h", "usr/share/man/man1/culprit.1",
                       "usr/share/bash-completion/completions/culprit", "usr/share/zsh/site-functions/_culprit",
                       *[f"usr/share/man/man1/culprit-{n}.1" for n in names]]), "install: what it puts where")
    r = subprocess.run([*make, "uninstall"], capture_output=True, text=True)
    is_([f for d, _, files in os.walk(to) for f in files], [], "uninstall: nothing of it is left")
else:
    skip("install", "needs make and the built tree")
shutil.rmtree(place)
done()
