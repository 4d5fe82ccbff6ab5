# SPDX-License-Identifier: Apache-2.0
"""Drives Debian's Chromium through the dashboard: browser.py URL TOKEN TASK

TASK is dead. It talks to the browser over a pipe, so it needs no library. Exit code 0: the login,
the pages, a retry and the logout did what they should, no page was wider than a narrow screen, the
console has no error, and nothing was asked of another host.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

PAGES = ["", "failures", "queues", "queues/default", "queues/default/dead", "queues/default/dead/retry",
         "queues/default/history", "search", "search?queue=default&state=dead&type=test.fail", "schedules",
         "locks", "routes", "bulk", "running", "types", "types?hours=192", "workers"]

# Elements that extend beyond the screen.
WIDE_ONES = """[...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > innerWidth)
    .map((each) => each.outerHTML.slice(0, 200)).join('\\n')"""


class Browser:
    def __init__(self, folder):
        self.read_fd, theirs_out = os.pipe()
        theirs_in, self.write_fd = os.pipe()

        def place():  # the browser reads commands from 3 and writes answers to 4
            low, high = os.dup(theirs_in), os.dup(theirs_out)
            os.dup2(low, 3)
            os.dup2(high, 4)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
             "--user-data-dir=" + folder, "about:blank"],
            preexec_fn=place, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.buffer = b""
        self.number = 0
        self.events = []
        self.session = None
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(each["targetId"] for each in targets if each["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def message(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read_fd, 1 << 16)
            if not part:
                raise SystemExit("the browser is gone")
            self.buffer += part
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(request).encode() + b"\0")
        while True:
            got = self.message()
            if got.get("id") != self.number:
                self.events.append(got)
                continue
            if "error" in got:
                raise SystemExit(f"{method}: {got['error']}")
            return got["result"]

    def value(self, code):
        """None also if the page changes while it is read."""
        got = self.call("Runtime.evaluate", expression=code, returnByValue=True)
        return None if "exceptionDetails" in got else got["result"].get("value")

    def until(self, code, what):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            if self.value(f"Boolean({code})"):
                return
            time.sleep(0.05)
        raise SystemExit(f"gave up waiting for {what} at {self.value('location.href')}:\n"
                         f"{self.value('document.body.innerText')}")

    def open(self, url):
        self.value("window.former = true")
        self.call("Page.navigate", url=url)
        self.until("!window.former && document.readyState === 'complete'", url)


def at(path):
    return f"location.pathname === {json.dumps(path)}"


def visit(browser, url, token, task):
    browser.open(f"{url}/ui/tasks/{task}")
    browser.until(at("/ui/login"), "the login")
    browser.value(f"document.querySelector('[name=token]').value = {json.dumps(token)}; "
                  "document.querySelector('.login button').click()")
    browser.until(at(f"/ui/tasks/{task}") + " && document.querySelector('main button.main')",
                  "the task behind the login")
    browser.value("document.querySelector('main button.main').click()")
    browser.until("location.search === '?note=retried'", "the retry")
    browser.until("document.querySelectorAll('.timeline > li').length === 2",
                  "the second attempt, without a reload")
    for page in PAGES + ["tasks/" + task]:
        for width in (375, 1280):
            browser.call("Emulation.setDeviceMetricsOverride", width=width, height=800,
                         deviceScaleFactor=1, mobile=False)
            browser.open(f"{url}/ui/{page}")
            browser.until("document.querySelector('h1')", "a title of " + page)
            wide = browser.value("document.documentElement.scrollWidth")
            if wide > width:
                raise SystemExit(f"/ui/{page} is {wide} px wide on a screen of {width}:\n" +
                                 str(browser.value(WIDE_ONES)))
    browser.open(f"{url}/ui/")
    browser.until("document.getElementById('pace').textContent.startsWith('Live')", "the module")
    browser.value("document.querySelector('.who button').click()")
    browser.until(at("/ui/login"), "the logout")


def faults(browser, url):
    for event in browser.events:
        params = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            yield params["exceptionDetails"]
        if event.get("method") == "Log.entryAdded" and params["entry"]["level"] == "error":
            yield params["entry"]
        if event.get("method") == "Network.requestWillBeSent":
            # The icon of a time field is a data: address of Chromium's own style.
            if not params["request"]["url"].startswith((url + "/ui/", "data:image/svg+xml;")):
                yield "asked for " + params["request"]["url"]


def main():
    url, token, task = sys.argv[1:]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(folder)
        try:
            visit(browser, url, token, task)
        finally:
            browser.process.kill()
            browser.process.wait()
        found = list(faults(browser, url))
    if found:
        raise SystemExit("\n".join(map(str, found)))


main()
