#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Installing: man pages and completion are made from the option tables, read well, and go again."""
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

from lib import CULPRIT, ROOT, culprit, done, is_, ok, skip

place = tempfile.mkdtemp()
names = culprit("help", "--list").out.split()
ok("run" in names and "explain" in names and len(names) > 8, "the commands", names)
is_([n for n in names if not re.search(rf"^  {n} ", culprit("help").out, re.M)], [],
    "all of them are in the help")
ok(max(map(len, culprit("help").out.splitlines())) <= 80, "the help fits 80 columns")

topics = culprit("help", "--topics").out.split()
ok("reading.7" in topics and "formats.5" in topics, "the topics", topics)
listed = culprit("help").out.split("topics:")[1]
is_([t for t in topics if not re.search(rf"^  {t[:-2]} ", listed, re.M)], [],
    "all of them are in the help")

# ---- the program file ----
if shutil.which("readelf"):
    elf = subprocess.run(["readelf", "-hWld", CULPRIT], capture_output=True, text=True).stdout
    ok(re.search(r"Type: +DYN", elf) and "GNU_RELRO" in elf and "BIND_NOW" in elf and
       not re.search(r"GNU_STACK.*RWE", elf),
       "it lies anywhere, what is written once is read-only, and no stack is executable", elf)
else:
    skip("the program file", "readelf is not installed")

# ---- man pages ----
for page, section in [("", 1), *[(n, 1) for n in names], *[t.split(".") for t in topics]]:
    text = culprit("help", "--man", *([page] if page else [])).out
    path = os.path.join(place, f"culprit{'-' + page if page else ''}.{section}")
    with open(path, "w") as f:
        f.write(text)
    ok(re.match(rf'\.TH CULPRIT{"-" + page.upper() if page else ""} {section} ', text),
       f"man page {page}({section}): its head", text[:60])
    if shutil.which("groff"):
        r = subprocess.run(["groff", "-k", "-Tutf8", "-ww", "-man", path], capture_output=True,
                           text=True)
        ok(r.returncode == 0 and not r.stderr, f"man page {page}: no warnings", r.stderr[:500])
    else:
        skip(f"man page {page}", "groff is not installed")
    told = text.replace("\\-", "-")
    if page in names:
        options = set(re.findall(r"--[a-z][a-z-]+", culprit("help", page).out.split("options:")[1]))
        refers = {t for t in re.findall(r"^\.BR culprit-([a-z]+) \([57]\)", told, re.M)}
        is_(refers, {t[:-2] for t in topics if f"culprit {page}" in culprit("help", t[:-2]).out},
            f"man page {page}: it refers to the topics that speak of it")
        is_(sorted(options - set(re.findall(r"--[a-z][a-z-]+", told))), [],
            f"man page {page}: every option of the help")
    elif page:
        # Each word of the topic, and in their order: what roff adds stands on lines of its own or
        # before the words.
        r = culprit("help", page)
        ok(r.rc == 0 and max(map(len, r.out.splitlines())) <= 80, f"topic {page}: fits 80 columns",
           r.rc)
        words = iter(told.replace("\\&", "").replace("\\e", "\\").split())
        lost = [w for w in r.out.split("\n", 1)[1].split() if w != "*" and w not in words]
        is_(lost, [], f"man page {page}: every word of the topic")
    else:
        is_([w for w in [*names, *[t[:-2] for t in topics]] if f"culprit\\-{w} (" not in text], [],
            "culprit(1) refers to every page")

# ---- help that is not there ----
for word, near in ("redaing", "reading"), ("rnu", "run"), ("formts", "formats"):
    r = culprit("help", word)
    ok(r.rc == 1 and not r.out and r.err.count("\n") == 1 and f"did you mean '{near}'" in r.err,
       f"help {word}: one line with what is near", r)
is_(culprit("help", "help").out, culprit("help").out, "help help")

# ---- what the pages say of commands ----
pages = {"README.md": open(os.path.join(ROOT, "README.md"), encoding="utf-8").read()}
pages |= {t: culprit("help", t[:-2]).out for t in topics}
helps = {name: culprit("help", name).out for name in names}
for page, text in pages.items():
    said = re.findall(r"\bculprit +([a-z]+)((?: [^ \n`|#]+)*)", text.replace("\\\n", " "))
    used = [(command, option) for command, rest in said if command in helps
            for option in re.findall(r"(?<=\s)(--[a-z][a-z-]*|-[a-zA-Z])\b", rest.split(" -- ")[0])]
    is_([u for u in used if not re.search(rf"(^|\s){u[1]}\b", helps[u[0]])], [],
        f"{page}: the options of its {len(used)} uses are there")
    is_([w for w in re.findall(r"\bculprit help ([a-z]+)", " ".join(text.split())) if w not in names
         + [t[:-2] for t in topics]], [],
        f"{page}: it refers to pages that are there")

# ---- a container ----
# As tools/deploy/kubernetes/job.yaml starts one, and of the image that make image names.
version = json.loads(culprit("version", "-f", "json").out)["version"]
wanted = f"podman run --rm --privileged --pid=host -v /sys:/sys:ro culprit:{version} run"
with open(os.path.join(ROOT, "tools", "package", "build"), encoding="utf-8") as f:
    starts = {page: re.findall(r"\b(?:podman|docker) run [^`\n]*", text) for page, text in
              (("build", f.read()), *((p, pages[p]) for p in ("README.md", "kernels.7")))}
is_(starts, dict.fromkeys(starts, [wanted]), "containers are started in one way")
with open(os.path.join(ROOT, "tools", "deploy", "kubernetes", "job.yaml"), encoding="utf-8") as f:
    job = f.read()
is_([w for w in ("hostPID: true", "privileged: true", f"/culprit:{version}\n", "args: [run,",
                 "mountPath: /sys, readOnly: true") if w not in job], [], "and so is the job's")

# ---- what the formats topic names ----
words = set(re.findall(r"\w+", pages["formats.5"]))
with open(os.path.join(ROOT, "tests/golden/expected/quiet.csv"), encoding="utf-8") as f:
    is_([c for c in f.readline().strip().split(",") if c not in words], [], "every column of csv")
with open(os.path.join(ROOT, "tests/schema/report.json"), encoding="utf-8") as f:
    for what, of in json.load(f)["$defs"].items():
        if what not in ("series", "host"):  # the lists are cut short there
            is_([k for k in of.get("properties", {}) if k not in words], [],
                f"the names of a {what} in JSON")

# ---- what the source topic names ----
room, missing, found = "", [], 0
for line in pages["source.7"].splitlines():
    room = line if re.fullmatch(r"[a-z/]+/", line) else room
    names_here = line[:22] if line[20:22] == "  " else line
    for name in names_here.split() if re.match(r" {4}\S", line) else []:
        found += 1
        missing += [room + name] * (not glob.glob(os.path.join(ROOT, room, name.rstrip("/") + "*")))
ok(found > 50, "the source topic names files", found)
is_(missing, [], "they are there")

# ---- completion ----
script = os.path.join(place, "culprit.bash")
with open(script, "w") as f:
    f.write(culprit("help", "--bash").out)


def complete(*words):
    code = (f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _culprit; '
            'printf "%s\\n" "${COMPREPLY[@]}"')
    return subprocess.run(["bash", "--norc", "-c", code, "bash", *words], capture_output=True,
                          text=True).stdout.split()


is_(complete("culprit", "rep"), ["report"], "bash: a command")
is_(complete("culprit", "help", "aud"), ["audit"], "bash: a command to help")
is_(complete("culprit", "help", "read"), ["reading"], "bash: a topic")
is_(complete("culprit", "run", "--max-h"), ["--max-hiccup"], "bash: an option")
is_(complete("culprit", "run", "--style", "osj"), ["osjitter"], "bash: a choice")
is_(complete("culprit", "run", "--style", "=", "osj"), ["osjitter"],
    "bash: a choice behind =, which bash takes for a word")
is_(complete("culprit", "run", "--style", "="), complete("culprit", "run", "--style", ""),
    "bash: the choices behind =")
formats = complete("culprit", "report", "-f", "")
ok("markdown" in formats, "bash: the formats", formats)
is_([f for f in formats if not set(re.findall(r"\w+", f)) <= words], [],
    "the formats topic has all of them")
os.chdir(place)
is_(complete("culprit", "report", "culprit.b"), ["culprit.bash"], "bash: a file")
zsh = culprit("help", "--zsh").out
if shutil.which("zsh"):
    with open(os.path.join(place, "_culprit"), "w") as f:
        f.write(zsh)
    r = subprocess.run(["zsh", "-n", os.path.join(place, "_culprit")], capture_output=True,
                       text=True)
    ok(r.returncode == 0, "zsh: the script parses", r.stderr)
else:
    is_([n for n in names if f"\t\t{n})\n" not in zsh], [], "zsh: every command")
taken = [re.sub(r"\\.", "", line).rpartition("]")[2] for line in zsh.splitlines()
         if line.startswith("\t\t\t'*-")]
ok(len(taken) > 300 and not [t for t in taken if t.count(":") not in (0, 2)],
   "zsh: an option's value is a message and an action", {t for t in taken if t.count(":") > 2})
is_([t for t in topics if f"\t\t'{t[:-2]}:" not in zsh], [], "zsh: every topic")
fish = culprit("help", "--fish").out
if shutil.which("fish"):
    r = subprocess.run(["fish", "--no-config", "-c", fish + "complete -C 'culprit run --max-h'"],
                       capture_output=True, text=True)
    is_(r.stdout.split()[:1] + [r.stderr], ["--max-hiccup", ""], "fish: an option")
else:
    is_([line for line in fish.splitlines()[1:]
         if not re.fullmatch(r"complete -c culprit( -\w( \w[\w-]*| '[^'\\]*')?)*"
                             r" -d '([^'\\]|\\['\\])*'", line)], [], "fish: each line is whole")
is_([n for n in [*names, *[t[:-2] for t in topics]] if f" -a {n} " not in fish], [],
    "fish: every command and topic")

# ---- which culprit this is ----
r = culprit("version", "--features", "-f", "json")
about = json.loads(r.out)
head = culprit("--version")
is_(head.out, f"culprit {about['version']}" +
    (f" (commit {about['commit']})" if about["commit"] else "") + "\n", "--version is version")
ok(head.out == culprit("version").out and r.rc == 0, "and its first line is all of it", head)
kernel = os.uname()
is_((about["kernel"], about["arch"]), (kernel.release, kernel.machine), "the kernel and machine")
hooks = {name: state for state, of in about["hooks"].items() for name in of}
is_(len(hooks), sum(map(len, about["hooks"].values())), "each hook has one state")
listed = "/sys/kernel/tracing/events/irq/{}/id"
if os.path.exists(listed.format("irq_handler_entry")):
    is_({h for h in ("irq_handler_entry", "softirq_entry", "softirq_exit")
         if hooks.get(h) != "there"}, set(), "hooks that this kernel lists are there")
text = culprit("version", "--features", prefix=["env", "COLUMNS=80"]).out
ok(max(map(len, text.splitlines())) <= 80 and f"{len(about['hooks']['there'])} of {len(hooks)}" in
   text, "as text: within 80 columns, the same hooks", text)
ok(kernel.nodename not in text.split() and kernel.nodename not in r.out.split('"'),
   "the machine's name is not in it")
r = subprocess.run(["git", "-C", ROOT, "-c", f"safe.directory={ROOT}", "archive", "HEAD",
                    "tools/commit"], capture_output=True)
if r.returncode == 0:
    subprocess.run(["tar", "-xC", place], input=r.stdout, check=True)
    said = subprocess.run([os.path.join(place, "tools", "commit")], capture_output=True,
                          text=True).stdout.strip()
    here = subprocess.run([os.path.join(ROOT, "tools", "commit")], capture_output=True,
                          text=True).stdout.strip()
    is_((len(said), said), (12, here.removesuffix("+")), "a tarball knows its commit")
else:
    skip("a tarball knows its commit", "this is no checkout, or git is not installed")

# ---- install ----
to = os.path.join(place, "root")
# By the name that it was built under: by another one everything would be built again.
make = ["make", "-C", ROOT, f"O={os.path.relpath(os.path.dirname(CULPRIT), ROOT)}", f"DESTDIR={to}",
        "PREFIX=/usr", "--no-print-directory"]
if os.path.basename(CULPRIT) == "culprit" and shutil.which("make"):
    r = subprocess.run([*make, "install"], capture_output=True, text=True)
    found = sorted(os.path.relpath(os.path.join(d, f), to) for d, _, files in os.walk(to)
                   for f in files)
    is_(found, sorted(["usr/bin/culprit", "usr/include/culprit.h", "usr/share/man/man1/culprit.1",
                       "usr/share/bash-completion/completions/culprit",
                       "usr/share/fish/vendor_completions.d/culprit.fish",
                       "usr/share/zsh/site-functions/_culprit",
                       *[f"usr/share/man/man1/culprit-{n}.1" for n in names],
                       *[f"usr/share/man/man{t[-1]}/culprit-{t}" for t in topics]]),
        "install: what it puts where")
    r = subprocess.run([*make, "uninstall"], capture_output=True, text=True)
    is_([f for d, _, files in os.walk(to) for f in files], [], "uninstall: nothing of it is left")
    libraries = os.path.join(place, "libraries", "usr", "lib64")
    os.makedirs(libraries)
    linked = []
    for name in "libprotobuf-c.so", "libprotobuf-c.a":
        with open(os.path.join(libraries, name), "w"):
            linked.append(subprocess.run(
                [*make, f"O={os.path.relpath(place, ROOT)}/made", f"SYSROOT={place}/libraries",
                 "--eval=said:; @echo $(PROTOBUF_C)", "said"], capture_output=True, text=True,
                env={k: v for k, v in os.environ.items() if k != "PROTOBUF_C"}).stdout.strip())
    is_(linked, ["-lprotobuf-c", "-l:libprotobuf-c.a"],
        "protobuf-c is linked from the static library where there is one, else shared")
else:
    skip("install", "needs make and the built tree")
shutil.rmtree(place)
done()
