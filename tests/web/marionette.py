"""Firefox, driven by its own remote control (Marionette): no driver and no patched browser is needed.

Messages are [0, id, command, parameters] and [1, id, error, result] as JSON, each behind its length and
a colon.
https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html"""

import json
import os
import shutil
import socket
import subprocess
import time

PREFERENCES = {
    "browser.download.folderList": 2,
    "browser.download.manager.showWhenStarting": False,
    "browser.helperApps.neverAsk.saveToDisk": "application/json,image/svg+xml,text/csv",
    "browser.download.always_ask_before_handling_new_types": False,
    "browser.download.alwaysOpenPanel": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "app.update.enabled": False,
    "network.proxy.type": 1,  # no server answers there: nothing can leave the machine
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Firefox:
    """a browser without a window, with a profile and downloads in `folder`"""

    def __init__(self, program, folder):
        self.downloads = folder / "downloads"
        self.downloads.mkdir(parents=True)
        profile = folder / "profile"
        profile.mkdir()
        port = free_port()
        preferences = {
            **PREFERENCES,
            "browser.download.dir": str(self.downloads),
            "marionette.port": port,
        }
        lines = [f'user_pref("{name}", {json.dumps(value)});' for name, value in preferences.items()]
        (profile / "user.js").write_text("\n".join(lines))
        command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        environment = {**os.environ, "HOME": str(folder), "MOZ_HEADLESS_WIDTH": "1400"}
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.connection = self.connect(port)
        self.messages = 0
        self.received = b""
        self.read()  # its greeting
        self.ask("WebDriver:NewSession", {"acceptInsecureCerts": False})

    def connect(self, port):
        end = time.monotonic() + 60
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=120)
            except OSError:
                if time.monotonic() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def read(self):
        while b":" not in self.received:
            self.received += self.connection.recv(65536)
        length, self.received = self.received.split(b":", 1)
        while len(self.received) < int(length):
            self.received += self.connection.recv(1 << 20)
        message, self.received = self.received[: int(length)], self.received[int(length) :]
        return json.loads(message)

    def ask(self, command, parameters):
        self.messages += 1
        text = json.dumps([0, self.messages, command, parameters]).encode()
        self.connection.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self.read()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def open(self, address):
        self.ask("WebDriver:Navigate", {"url": address})

    def run(self, script):
        """the value of a script that returns"""
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]

    def wait(self, expression, seconds=60):
        """until an expression of the page is true"""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({expression});"):
            assert time.monotonic() < end, f"not within {seconds} s: {expression}"
            time.sleep(0.05)

    def give(self, selector, paths):
        """files to a field of the page"""
        found = self.ask("WebDriver:FindElement", {"using": "css selector", "value": selector})["value"]
        text = "\n".join(map(str, paths))
        self.ask("WebDriver:ElementSendKeys", {"id": next(iter(found.values())), "text": text})

    def downloaded(self, name, seconds=30):
        """a file that the page has saved, when it is whole"""
        path = self.downloads / name
        end = time.monotonic() + seconds
        while not path.exists() or path.stat().st_size == 0 or list(self.downloads.glob("*.part")):
            assert time.monotonic() < end, f"{name} was not saved: {os.listdir(self.downloads)}"
            time.sleep(0.05)
        return path.read_bytes()

    def screenshot(self):
        """PNG of the whole page, as base64"""
        return self.ask("WebDriver:TakeScreenshot", {"full": True})["value"]

    def close(self):
        try:
            self.ask("Marionette:Quit", {"flags": ["eForceQuit"]})
            self.process.wait(timeout=20)
        except (OSError, RuntimeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


def firefox_program():
    return shutil.which("firefox-esr") or shutil.which("firefox")
