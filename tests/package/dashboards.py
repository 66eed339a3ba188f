# SPDX-License-Identifier: GPL-2.0-or-later
"""Dashboards by Grafana's own classes, and a Prometheus that answers what they ask: both are
fetched by make check-package."""
import contextlib
import enum
import http.server
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import typing
import urllib.parse
import urllib.request

from lib import BUILD, ROOT

SCHEMAS = os.path.join(BUILD, "schemas")
PROMETHEUS = os.path.join(BUILD, "prometheus")
RULES = os.path.join(ROOT, "tools", "deploy", "prometheus", "rules.yml")


# ---- the schema ----
def _grafana():
    sys.path.insert(0, SCHEMAS)
    sys.dont_write_bytecode = True
    from grafana_foundation_sdk.cog import encoder, plugins
    from grafana_foundation_sdk.models import dashboard
    plugins.register_default_plugins()
    return dashboard.Dashboard, encoder.JSONEncoder


def _lost(given, kept, path=""):
    """What the classes did not take."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for key, value in given.items():
            if key in kept:
                yield from _lost(value, kept[key], f"{path}.{key}")
            else:
                yield f"{path}.{key}: no such field"
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for i, (a, b) in enumerate(zip(given, kept)):
            yield from _lost(a, b, f"{path}[{i}]")
    elif given != kept:
        yield f"{path}: {given!r}"


def _is(value, hint):
    kind, parts = typing.get_origin(hint), typing.get_args(hint)
    if kind is typing.Union:
        return any(_is(value, part) for part in parts)
    if kind is typing.Literal:
        return value in parts
    if kind in (list, dict):
        values = value.values() if isinstance(value, dict) else value
        return isinstance(value, kind) and all(_is(v, parts[-1]) for v in values)
    if not isinstance(hint, type):
        return True  # a type variable
    if issubclass(hint, enum.Enum):
        return value in [e.value for e in hint]
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, hint)


def _mistyped(value, path=""):
    if isinstance(value, (list, tuple)):
        for i, v in enumerate(value):
            yield from _mistyped(v, f"{path}[{i}]")
    elif isinstance(value, dict):
        for key, v in value.items():
            yield from _mistyped(v, f"{path}.{key}")
    elif type(value).__module__.startswith("grafana_foundation_sdk") and not isinstance(
            value, enum.Enum):
        for name, hint in typing.get_type_hints(type(value)).items():
            v = getattr(value, name, None)
            if v is not None and not _is(v, hint):
                yield f"{path}.{name}: {v!r} is no {hint}"
            yield from _mistyped(v, f"{path}.{name}")


def faults(board):
    """Fields that Grafana's classes do not know, or know as another type."""
    cls, encoder = _grafana()
    made = cls.from_json(board)
    kept = json.loads(json.dumps(made, cls=encoder))
    return [*_lost(board, kept), *_mistyped(made)]


# ---- the answers ----
AMOUNTS = re.compile(r"^(culprit_(?:lost_seconds_total|interruptions_total|hiccup_seconds_\w+)"
                     r"\{.*\} )(\S+)$", re.M)
OF_CPU = re.compile(r'^(culprit_\w+\{)cpu="\d+"(.*)$', re.M)
THREAD = "feed-handler [150]"


def filled(expr, variables):
    """With the values of its variables, for a regular expression as Grafana writes them there."""
    for name, value in variables.items():
        expr = expr.replace("$" + name, re.escape(value).replace("\\", "\\\\"))
    return expr


class _Page(http.server.BaseHTTPRequestHandler):
    """The file of metrics, as node_exporter shows it; /2 is that of a machine which has half of all
    that. On the first one a thread that culprit watches has what the CPU has."""
    file = None

    def do_GET(self):
        part = int(self.path[1:])
        try:
            with open(self.file, encoding="utf-8") as f:
                body, code = f.read(), 200
            body = AMOUNTS.sub(lambda m: f"{m[1]}{float(m[2]) / part}", body)
            if part == 1:
                body += "".join(f'{name}thread="{THREAD}"{rest}\n' for name, rest in
                                OF_CPU.findall(body) if "cpu_info" not in name)
            body += (f'node_textfile_mtime_seconds{{file="{self.file}"}} '
                     f"{os.stat(self.file).st_mtime}\n")
        except FileNotFoundError:
            body, code = "", 503
        body = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Prometheus:
    """One that asks for a file of metrics each second, with the rules of tools/deploy. parts: how
    many times less than in the file is on this host."""

    def __init__(self, place, file, parts):
        self.page = http.server.ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Page", (_Page,), {"file": file}))
        threading.Thread(target=self.page.serve_forever, daemon=True).start()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        config = {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
                  "rule_files": [RULES],
                  "scrape_configs": [
                      {"job_name": host, "metrics_path": f"/{part}", "static_configs": [
                          {"targets": [f"127.0.0.1:{self.page.server_address[1]}"],
                           "labels": {"instance": host}}]} for host, part in parts.items()]}
        path = os.path.join(place, "prometheus.yml")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(config, f)  # JSON is YAML
        self.process = subprocess.Popen(
            [PROMETHEUS, "--config.file=" + path, f"--storage.tsdb.path={place}/tsdb",
             "--web.listen-address=" + self.address, "--log.level=error"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, what, **words):
        url = f"http://{self.address}/api/v1/{what}?{urllib.parse.urlencode(words, doseq=True)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]

    def ready(self, seconds=120):
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.process.poll() is None:
            with contextlib.suppress(OSError):
                self.get("status/buildinfo")
                return True
            time.sleep(0.2)
        return False

    def query(self, expr):
        return self.get("query", query=expr)["result"]

    def label_values(self, text, **variables):
        """Values of a variable: label_values(SELECTOR, LABEL)."""
        selector, label = text.removeprefix("label_values(").removesuffix(")").rsplit(", ", 1)
        for name, value in variables.items():
            selector = selector.replace("$" + name, value)
        return self.get(f"label/{label}/values", **{"match[]": selector})

    def close(self):
        self.process.kill()
        self.process.wait()
        self.page.shutdown()
