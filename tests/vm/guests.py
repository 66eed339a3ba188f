# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests in guests share: tools/lab as a module, and whether what they boot is here. To be
imported before lib, which it makes known."""
import importlib.machinery
import importlib.util
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
import lib  # noqa: E402
from lib import skip_all  # noqa: E402

LONG = bool(os.environ.get("LONG"))


def need_long():
    """Skips the file without LONG=1."""
    if not LONG:
        skip_all("with LONG=1 only, as in make check-all")


def load(name, path):
    """A program in Python as a module."""
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


lab = load("lab", os.path.join(ROOT, "tools", "lab"))


def need(*names):
    """Kernels of tools/lab-kernels and what runs them, fetched where they are not here; skips the
    file where that cannot be."""
    try:
        kernels = [lab.need(lab.kernel(name)) for name in names]
        for machine in {k.machine for k in kernels}:
            lab.emulator(machine)
    except (lab.Failed, FileNotFoundError) as why:
        skip_all(str(why).replace("\n", " "), required=True)
    return kernels


def hear(err, files):
    """Looks in what was said in a guest in real time whether a culprit had no CPU there for ten
    seconds: ok() then calls nothing failed."""
    for said in err, *(text for name, text in files.items() if name.endswith("err")):
        for line in said.splitlines():
            lib.Result(1, "", line, 0)


def run(kernel, job, **options):
    """As lab.run. text: the files of /tmp/out as text. However busy the host is, a guest has time
    enough: only one that hangs is given up."""
    rc, out, err, files = lab.run(kernel, job, **({"timeout": 900} | options))
    text = {name: data.decode(errors="replace") for name, data in files.items()}
    if "counted" not in options:
        hear(err, text)
    return rc, out, err, text
