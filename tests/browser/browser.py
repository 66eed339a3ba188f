# SPDX-License-Identifier: GPL-2.0-or-later
"""A headless Chromium, spoken to by its DevTools protocol through two pipes: nothing but Python's
own library is needed."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from lib import HANG_S, await_gone, stat


def find():
    return (shutil.which("chromium") or shutil.which("chromium-browser")
            or shutil.which("google-chrome"))


class Page:
    """One tab. What the console and the network said since open() is in .errors and .requests."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="culprit-browser-")
        to_read, self.to = os.pipe()
        self.of, from_write = os.pipe()

        def place():  # the browser reads commands from 3 and writes to 4
            a, b = os.dup(to_read), os.dup(from_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.proc = subprocess.Popen(
            [find(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run",
             "--disable-background-networking", "--user-data-dir=" + self.profile,
             "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     close_fds=False, preexec_fn=place, start_new_session=True,
            env={**os.environ,
                 **dict.fromkeys(["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"],
                                 self.profile)})  # all that it writes
        os.close(to_read)
        os.close(from_write)
        self.number, self.rest, self.session = 0, b"", None
        self.errors, self.requests, self.events = [], [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target,
                                 flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    def _message(self):
        deadline = time.monotonic() + HANG_S
        while b"\0" not in self.rest:
            left = max(0, deadline - time.monotonic())
            if not select.select([self.of], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.of, 1 << 20)
            if not part:
                raise RuntimeError("the browser ended")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def _note(self, message):
        method, params = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.errors.append(params["exceptionDetails"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(str([a.get("value") for a in params["args"]]))
        elif method == "Log.entryAdded":
            self.errors.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def wait(self, event):
        while event not in self.events:
            self._note(self._message())

    def look(self, width, dark=False):
        """From here on the page is so wide, and its reader prefers this scheme."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def open(self, path):
        """Returns how many seconds of a CPU the page's thread took until all was loaded, however
        many others want that CPU."""
        self.errors, self.requests, self.events = [], [], []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait("Page.loadEventFired")
        return {m["name"]: m["value"] for m in self.call("Performance.getMetrics")["metrics"]}[
            "TaskDuration"]

    def eval(self, expression):
        return self.call("Runtime.evaluate", expression=expression,
                         returnByValue=True)["result"].get("value")

    def screenshot(self, whole=True):
        """PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png",
                                          captureBeyondViewport=whole)["data"])

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])

    def close(self):
        """Its children end after it, and write there until then."""
        self.proc.terminate()
        self.proc.wait(timeout=HANG_S)
        if left := await_gone(self._processes):
            raise RuntimeError(f"the browser has ended, its processes {left} have not")
        shutil.rmtree(self.profile)

    def _processes(self):
        """Those of its session, which has its first one's number."""
        return [pid for pid in filter(str.isdigit, os.listdir("/proc"))
                if (fields := stat(pid)) and fields[3] == str(self.proc.pid) and fields[0] != "Z"]
