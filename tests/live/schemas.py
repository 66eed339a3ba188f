# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds what culprit writes as JSON against tests/schema/, many times faster than jsonschema, with
which tests/golden/20-schema.t compares it. It knows the words that these schemas use, and no
others."""
import functools
import glob
import json
import os
import re

HERE = os.path.dirname(os.path.realpath(__file__))
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
LINES = 200  # checked of jsonl
PROSE = {"description", "title", "$schema", "$id", "$defs"}


def _is(value, name):
    if name in ("integer", "number"):
        return (isinstance(value, int) or name == "number" and isinstance(value, float)) and \
            not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def _same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def _object(schema, value, path, defs):
    known = schema.get("properties", {})
    needed = [k for key, needs in schema.get("dependentRequired", {}).items() if key in value
              for k in needs]
    for key in [*schema.get("required", ()), *needed]:
        if key not in value:
            return f"{path}: there is no {key}"
    for key, inner in value.items():
        if key in known:
            if why := fault(known[key], inner, f"{path}.{key}", defs):
                return why
        elif schema.get("additionalProperties", True) is False:
            return f"{path}: it has {key}"
    return None


def _array(schema, value, path, defs):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return f"{path}: it has {len(value)} elements"
    if schema.get("uniqueItems") and len({json.dumps(v) for v in value}) < len(value):
        return f"{path}: two are the same"
    for i, inner in enumerate(value):
        if why := fault(schema.get("items", {}), inner, f"{path}[{i}]", defs):
            return why
    return None


@functools.cache
def _pattern(text):
    return re.compile(text)


def _simple(schema, value, path):
    types = schema.get("type", ())
    types = [types] if isinstance(types, str) else types
    if types and not any(_is(value, t) for t in types):
        return f"{path}: {value!r:.60} is no {' or '.join(types)}"
    if "const" in schema and not _same(value, schema["const"]):
        return f"{path}: {value!r:.60} is not {schema['const']!r}"
    if "enum" in schema and not any(_same(value, e) for e in schema["enum"]):
        return f"{path}: {value!r:.60} is none of {schema['enum']}"
    if _is(value, "number") and not (schema.get("minimum", value) <= value <=
                                     schema.get("maximum", value)):
        return f"{path}: {value} is out of range"
    if isinstance(value, str) and not _pattern(schema.get("pattern", "")).search(value):
        return f"{path}: {value!r:.60} does not match"
    return None


KNOWN = PROSE | {"$ref", "type", "properties", "required", "additionalProperties", "items", "enum",
                 "const", "oneOf", "anyOf", "minimum", "maximum", "minItems", "maxItems",
                 "uniqueItems", "pattern", "dependentRequired"}


def fault(schema, value, path, defs):
    """Where the value first leaves the schema, in words; None: nowhere."""
    if not schema.keys() <= KNOWN:
        raise ValueError(f"{path}: not known here: {schema.keys() - KNOWN}")
    if "$ref" in schema:
        if why := fault(defs[schema["$ref"].rpartition("/")[2]], value, path, defs):
            return why
    for word in ("oneOf", "anyOf"):
        if word in schema:
            whys = [fault(s, value, path, defs) for s in schema[word]]
            fit = whys.count(None)
            if not fit:
                return max(whys, key=lambda why: len(why.partition(":")[0]))  # the nearest one
            if word == "oneOf" and fit > 1:
                return f"{path}: it is {fit} of these at once"
    if why := _simple(schema, value, path):
        return why
    if isinstance(value, dict):
        return _object(schema, value, path, defs)
    return _array(schema, value, path, defs) if isinstance(value, list) else None


@functools.cache
def all_of():
    """The definitions of all files, and what each value of `schema` stands for."""
    defs, roots = {}, {}
    for name in glob.glob(os.path.join(HERE, "../schema/*.json")):
        with open(name, encoding="utf-8") as f:
            whole = json.load(f)
        defs |= whole["$defs"]
        for one in [*whole["$defs"].values(), *whole.get("oneOf", ())]:
            if const := one.get("properties", {}).get("schema", {}).get("const"):
                roots[const] = one
    return defs, roots


def _leaves_lines(text):
    """Where the first lines of jsonl leave their schema; the last may be cut off."""
    defs = all_of()[0]
    for line in text.splitlines(keepends=True)[:LINES]:
        if "line" in defs and line.endswith("\n") and \
                (why := fault(defs["line"], json.loads(line), "", defs)):
            return why
    return None


def leaves(text):
    """(what it is, where it leaves its schema or None) of a text; None for what is no JSON of
    culprit's with a name of its own."""
    if text.startswith('{"host": '):
        return "a line of jsonl", _leaves_lines(text)
    if not text.startswith("{\n"):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None  # several texts, or cut off: for the test to say
    if not isinstance(value, dict) or not str(value.get("schema", "")).startswith("culprit."):
        return None
    defs, roots = all_of()
    if not roots:
        return None  # a copy without the schemas
    name = value["schema"]
    return name, fault(roots[name], value, "", defs) if name in roots else "it has no schema"
