#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is handed to others: the tarball, the packages of Debian and of RPM, the image."""
import contextlib
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

from lib import CULPRIT, ROOT, done, is_, ok, skip, skip_all

BUILD = os.path.dirname(CULPRIT)
if subprocess.run(["git", "-C", ROOT, "rev-parse"], capture_output=True).returncode:
    skip_all("packages are made of a commit, and this is no checkout")
place = tempfile.mkdtemp()


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def make(*words, place=BUILD, again="", prefix=(), **options):
    r = run(*prefix, "make", "-C", ROOT, "--no-print-directory",
            f"O={os.path.relpath(place, ROOT)}", *words, **options)
    ok(r.returncode == 0, f"make {' '.join(words)}{again}", r.stdout[-2000:], r.stderr[-2000:])
    return r.stdout.split()[-1] if r.stdout.split() else ""


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def names(paths):
    """Without what differs between releases of one distribution: /lib is /usr/lib."""
    return {re.sub(r"^/lib/", "/usr/lib/", re.sub(r"\.gz$", "", p.lstrip("."))) for p in paths
            if not p.endswith("/")}


VERSION = run(CULPRIT, "version").stdout.split()[1]
PARTS = {"/usr/bin/culprit", "/usr/include/culprit.h", "/usr/share/man/man1/culprit.1",
         "/usr/share/man/man1/culprit-run.1", "/usr/share/man/man5/culprit-formats.5",
         "/usr/share/man/man7/culprit-reading.7",
         "/usr/share/bash-completion/completions/culprit",
         "/usr/share/fish/vendor_completions.d/culprit.fish"}
# The folders in which a distribution's zsh looks.
ZSH = {"deb": "/usr/share/zsh/vendor-completions/_culprit",
       "rpm": "/usr/share/zsh/site-functions/_culprit"}
COMMIT = run("git", "-C", ROOT, "rev-parse", "HEAD").stdout.strip()
PACKAGE = run(os.path.join(ROOT, "tools/package/version"), VERSION).stdout.strip()
UNITS = {f"/usr/lib/systemd/system/culprit-{u}" for u in ("record.service", "record.timer",
                                                          "watch.service")}
SHARED = {"/usr/share/culprit/" + f for f in (
    "grafana/culprit.json", "prometheus/rules.yml", "kubernetes/daemonset.yaml",
    "kubernetes/job.yaml", "fleet/duckdb.sql", "fleet/clickhouse.sql", "fleet/questions.sql")}


def is_of_this_commit(program, what):
    about = json.loads(run(program, "version", "-f", "json").stdout)
    ok(about["version"] == VERSION and COMMIT.startswith(about["commit"]),
       f"{what}: its program is of the commit, though built from the tarball", about, COMMIT)


# ---- the tarball ----
tarball = os.path.join(BUILD, f"culprit-{VERSION}.tar.gz")
make("dist")
first = digest(tarball)
make("dist")
is_(digest(tarball), first, "the tarball of a commit has the same bytes each time")
with tarfile.open(tarball) as t:
    is_({n.split("/")[0] for n in t.getnames()}, {f"culprit-{VERSION}"}, "in a folder of its own")

# ---- the version of packages, in a repository of its own ----
work = f"{place}/versions"
shutil.copytree(os.path.join(ROOT, "tools/package"), f"{work}/tools/package")


def commit(at, tag=None):
    """The package's version of a new commit at a time, with a tag."""
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a",
           "GIT_COMMITTER_EMAIL": "a@b", "GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
    for words in ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", at), ("tag", tag):
        if words[-1]:
            run("git", "-C", work, *words, env={**os.environ, **who})
    return run(f"{work}/tools/package/version", "0.7").stdout.strip()


rising = [commit("2026-03-01T10:00:00Z"), commit("2026-03-01T12:00:00+01:00"),
          commit("2026-03-02T10:00:00Z"), commit("2026-03-03T10:00:00Z", "v0.7")]
is_((rising[3], [v[:19] for v in rising[:2]]),
    ("0.7", ["0.7~20260301100000.", "0.7~20260301110000."]), "versions: of commits, and a release")
is_([run("dpkg", "--compare-versions", a, "lt", b).returncode
     for a, b in zip(rising, rising[1:])], [0] * 3, "versions: each package is an upgrade")

# ---- Debian ----
deb = make("deb")
listed = run("dpkg-deb", "-c", deb).stdout.splitlines()
is_(run("dpkg-deb", "-f", deb, "Version").stdout.strip(), PACKAGE, "deb: its version")
is_(sorted((PARTS | {ZSH["deb"]} | UNITS | SHARED) - names(line.split()[5] for line in listed)), [],
    "deb: all parts")
run("dpkg-deb", "-e", deb, f"{place}/control")
without = []
for script in "postinst", "prerm":
    text = ""
    with contextlib.suppress(FileNotFoundError), open(f"{place}/control/{script}") as f:
        text = f.read()
    without += [(script, unit) for unit in ("culprit-watch.service", "culprit-record.timer")
                if not re.search(rf"deb-systemd-(helper|invoke) .*{unit}", text)]
is_(without, [], "deb: its scripts know the units, which end when it is removed")
is_([line for line in listed if not re.match(r"\S+ root/root ", line)], [], "deb: all are root's")
run("dpkg-deb", "-x", deb, f"{place}/deb")
is_of_this_commit(f"{place}/deb/usr/bin/culprit", "deb")
if shutil.which("lintian"):
    r = run("lintian", "--allow-root", "--fail-on", "error,warning", deb,
            env={**os.environ, "TMPDIR": place})  # folder in which lintian leaves a file
    ok(r.returncode == 0, "deb: lintian finds no error and no warning", r.stdout)
else:
    skip("deb: lintian", "lintian is not installed")

# ---- RPM ----
rpm = make("rpm")
is_(sorted((PARTS | {ZSH["rpm"]} | UNITS | SHARED) - names(run("rpm", "-qpl", rpm).stdout.split())),
    [], "rpm: all parts")
is_(run("rpm", "-qp", "--qf", "%{VERSION} %{LICENSE}", rpm).stdout,
    f"{PACKAGE} GPL-2.0-or-later AND MIT", "rpm: version and licence")
tree = f"{place}/rpm"
os.mkdir(tree)
r = run("rpmbuild", "-ts", "--define", f"_topdir {tree}", tarball)
ok(r.returncode == 0 and glob.glob(f"{tree}/SRPMS/culprit-{PACKAGE}-*.src.rpm"),
   "rpm: the tarball alone is what rpmbuild wants", r.stderr)

# ---- the image, and the static file in it ----
image = make("image")
with tarfile.open(image) as t:
    t.extractall(f"{place}/image")
blobs = glob.glob(f"{place}/image/blobs/sha256/*")
is_([b for b in blobs if digest(b) != os.path.basename(b)], [], "image: blobs are what they say")
with open(f"{place}/image/index.json", encoding="utf-8") as f:
    manifest = json.load(f)["manifests"][0]["digest"].split(":")[1]
with open(f"{place}/image/blobs/sha256/{manifest}", encoding="utf-8") as f:
    layer = json.load(f)["layers"][0]["digest"].split(":")[1]
root = f"{place}/root"
with tarfile.open(f"{place}/image/blobs/sha256/{layer}") as t:
    t.extractall(root)
DOC = "usr/share/doc/culprit/"
inside = [os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files]
is_([f for f in inside if not f.startswith(DOC)], ["usr/bin/culprit"],
    "image: it holds the program alone")
LINKED = "libbpf-dev", "libc6-dev", "libelf-dev", "libprotobuf-c-dev", "libzstd-dev", "zlib1g-dev"
is_(sorted(f for f in inside if f.startswith(DOC)),
    sorted([DOC + "LICENSE", *(f"{DOC}{name}.copyright" for name in LINKED)]),
    "image: and the licences of all that is linked in it")
ok(os.path.getsize(f"{root}/usr/bin/culprit") <= 5_000_000, "image: 5 MB at most",
   os.path.getsize(f"{root}/usr/bin/culprit"))
if os.geteuid() == 0:
    for name in "proc", "sys":
        os.mkdir(f"{root}/{name}")
    r = run("unshare", "-m", "sh", "-c", f"mount --rbind /proc {root}/proc && "
            f"mount --rbind /sys {root}/sys && exec chroot {root} /usr/bin/culprit run -d 300ms -q "
            "-f json")
    report = json.loads(r.stdout) if r.returncode == 0 else {}
    ok(report.get("cpus") and report["run"]["traced"], "image: it traces where nothing else is",
       r.returncode, r.stderr, str(report)[:500])
else:
    skip("image: it traces where nothing else is", "needs root")
if shutil.which("skopeo"):
    r = run("skopeo", "inspect", f"oci-archive:{image}")
    ok(r.returncode == 0 and json.loads(r.stdout)["Os"] == "linux", "image: skopeo reads it",
       r.stderr)
else:
    skip("image: skopeo reads it", "skopeo is not installed")

# ---- once more, in another directory, by nobody and without a network where that can be ----
NOBODY = 65534
other = os.path.join(BUILD, "again")
shutil.rmtree(other, ignore_errors=True)
os.mkdir(other)
alone, how = {"again": " in another directory"}, dict(os.environ)
if os.geteuid() == 0:
    os.chown(other, NOBODY, NOBODY)
    alone = {"again": " by nobody, without a network", "prefix": [
        "unshare", "--net", "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]}
    how |= {"HOME": other, "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*"}  # the checkout is not nobody's
for kind, first in ("deb", deb), ("rpm", rpm), ("image", image):
    second = make(kind, place=other, env=how, **alone)
    ok(second != first and os.path.basename(second) == os.path.basename(first)
       and digest(second) == digest(first), f"{kind}: has the same bytes", first, second)
shutil.rmtree(other)
shutil.rmtree(place)
done()
