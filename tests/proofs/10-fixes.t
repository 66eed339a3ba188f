#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Fixes of the cause book, proven in guests: noise is made by the kernel's own mechanism, culprit
names its cause, the command that the report prints is run as it is printed, or the kernel booted
so, or what the report advises is done where that is no command, the noise is gone, the undo puts
back what was there, and the noise is back. The guests count instructions, so that a busy host
changes nothing.

    10-fixes.t [KERNEL...] [ID...]
                       only on these kernels, only these causes; without either with LONG=1 all of
                       recipes.py on the kernels that these are for, without that K34 on
                       6.12; with both these causes on whatever kernel
    PROVE=1 in the environment: writes what was proven to src/audit/causes/proven
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "vm"))
from guests import LONG, ROOT, lab, need, run  # noqa: E402
from lib import diag, done, ok, skip, take_turn  # noqa: E402
from recipes import KERNELS, RECIPES, place_of  # noqa: E402

PROVEN = os.path.join(ROOT, "src", "audit", "causes", "proven")
HEAD = """\
# Proofs: the id of a cause, one of tools/lab-kernels, in what way it was proven (tools/causes.awk),
# and what of the noise that may have left, in %; or why there can be none on a kernel. `make prove`
# writes this file.
"""


def why_not(told, recipe, booted=None):
    """The reason why this is no proof; "": it is one. booted: what a second boot told."""
    for one in (told, booted or {}):
        if "error" in one:
            return one["error"]
        if one and (one["make"][0] or one["died"] is not None):
            return f"what makes the noise failed: {one['make']} {one['died']}"
    if told["noise"] < recipe.least:
        return f"the noise came {told['noise']} times; there were {told.get('instead')}"
    if recipe.boots:
        if not told["advice"].startswith("boot with " + recipe.boots):
            return "the report does not say: boot with " + recipe.boots
        left = booted["noise"]
        return f"booted so, {left} are left" if left > recipe.left * told["noise"] else ""
    if "again" not in told:
        return f"not all windows were measured: {told}"
    if bool(recipe.ends) == told["command"]:
        return "an entry with a command is proven by its command, one without by what it says"
    if told["fix"][0] or told["undo"][0] or told.get("save", [0])[0]:
        return "a command fails"
    if told.get("own_fix", [0])[0]:
        return "the entry's own command fails"
    if told.get("own_fixed", 0) > recipe.left * told["noise"]:
        return f"with the entry's own command {told['own_fixed']} of {told['noise']} are left"
    if told["fixed"] > recipe.left * told["noise"]:
        return f"{told['fixed']} of {told['noise']} are left"
    if not told.get("back", True):
        return "the undo does not put back what was there"
    if told["again"] < recipe.least:
        return f"with the undo the noise came {told['again']} times"
    return ""


def in_guest(kernel, causes, boot=""):
    """{id: what a guest told}, where these make their noise at once."""
    place = place_of(causes[0])
    job = f"{place.setup}\npython3 tests/proofs/in_guest.py /tmp/out/proofs {' '.join(causes)}"
    rc, out, err, files = run(kernel, job, counted=2, timeout=3600,
                              isolation=f"irqaffinity=0 {place.boot} {boot}",
                              files=lab.modules(kernel, *place.modules), devices=place.devices,
                              features=place.features, reliable=place.reliable)
    lost = {"error": f"the guest has ended: {rc} {out[-500:]} {err[-500:]}"}
    told = {t["cause"]: t for t in map(json.loads, files.get("proofs", "").splitlines())}
    return {c: told[c] if "noise" in told.get(c, {}) else lost for c in causes}


def prove(kernel, causes):
    """Yields each id, what was told, and why it is no proof: a guest for each batch, and one for
    each way to boot."""
    told, booted = {}, {}
    for batch in sorted({RECIPES[c].batch for c in causes}):
        told |= in_guest(kernel, [c for c in causes if RECIPES[c].batch == batch])
    second = {c: (RECIPES[c].boots, repr(place_of(c))) for c in causes if RECIPES[c].boots}
    for way in sorted(set(second.values())):
        booted |= in_guest(kernel, [c for c in causes if second.get(c) == way], way[0])
    for c in causes:
        yield c, told[c], why_not(told[c], RECIPES[c], booted.get(c))


def main():
    take_turn(shared=True)
    proofs = {}
    if os.path.exists(PROVEN):
        with open(PROVEN, encoding="ascii") as f:
            for line in f:
                if line.strip() and line[0] != "#" and line.split()[2] != "without":
                    proofs.setdefault(tuple(line.split()[:2]), True)
    chosen = [a for a in sys.argv[1:] if a in RECIPES]
    kernels = [a for a in sys.argv[1:] if a not in RECIPES]
    ids = chosen or (list(RECIPES) if LONG or kernels else ["K34"])
    for name in kernels or KERNELS:
        here = [i for i in ids if name not in RECIPES[i].without
                and (chosen and kernels
                     or place_of(i).kernel == (name if name in KERNELS else KERNELS[0]))]
        if not here:
            continue
        if not os.path.exists(lab.kernel(name).machine.build() + "/culprit"):
            skip(name, "there is no culprit for it: make lab-arm64")
            continue
        kernel, = need(name)
        diag(kernel.version())
        for cause, t, why in prove(kernel, here):
            if "fixed" in t:
                diag(f"{cause}: {t['noise']} times, with '{t['advice']}' {t['fixed']}, then "
                     f"{t['again']}")
            ok(not why, f"{kernel.name}: {cause} is ended as is advised, and back without it", why,
               t)
            if why:
                proofs.pop((cause, kernel.name), None)
            else:
                proofs[cause, kernel.name] = True
    if LONG:
        with open(os.path.join(os.path.dirname(PROVEN), "unproven"), encoding="ascii") as f:
            diag("the lab cannot prove, and why:", *(line.strip() for line in f if line[0] != "#"))
        diag(f"proven: {len(set(c for c, _ in proofs))} causes")
    if os.environ.get("PROVE"):
        with open(PROVEN, "w", encoding="ascii") as f:
            f.write(HEAD)
            for cause in sorted({c for c, _ in proofs}):
                r = RECIPES[cause]
                f.writelines([f"{cause} {k} {r.way} {100 * r.left:.0f}\n"
                              for k in sorted(k for c, k in proofs if c == cause)]
                             + [f"{cause} {k} without {why}\n" for k, why in r.without.items()])
    done()


main()
