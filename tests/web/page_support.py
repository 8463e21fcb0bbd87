"""The web page in browsers: its folder, the native program beside it, a tab that notes what goes wrong."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SITE = Path(os.environ.get("PARITAS_WEB", ROOT / "build" / "web"))
PROGRAM = Path(os.environ.get("PARITAS_BIN", ROOT / "build" / "release" / "bin" / "paritas")).resolve()
SHARED = ROOT.parent / "shared" / "workspaces"
ADDRESS = (SITE / "index.html").as_uri()

ANALYSES = {
    "tHu_FCNC": ["tHu_FCNC.json"],
    "ttZ_4l": ["ttZ_4l.json"],
    "staus": ["SUSY-2018-04_staus.json"],
    "displaced_leptons": ["displaced_leptons_signal.json"],
    "sbottom": ["sbottom_A/BkgOnly.json", "sbottom_A/patchset.json"],
    "one_patch": ["sbottom_A/BkgOnly.json", "sbottom_A/patch.sbottom_1300_205_60.json"],
}


def analysis(name):
    return [SHARED / path for path in ANALYSES[name]]


def native(line, paths, folder):
    """the native program's answer to a command line of the page, in a folder with the files"""
    for path in paths:
        shutil.copy(path, folder)
    words = shlex.split(line)
    assert words[0] == "paritas"
    return subprocess.run([PROGRAM, *words[1:]], cwd=folder, capture_output=True)


def chromium_program():
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class Watched:
    """a tab that notes console errors, exceptions, refused resources and requests"""

    def __init__(self, context, home=SITE.as_uri()):
        self.home = home
        self.page = context.new_page()
        self.page.set_default_timeout(60_000)
        self.wrong = []
        self.requests = []
        self.page.on("console", lambda m: m.type in ("error", "warning") and self.wrong.append(m.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, fragment=""):
        self.page.goto(f"{self.home}/index.html{fragment}")
        return self.page

    def give(self, paths):
        self.page.set_input_files("#files", paths)

    def shown(self, *views):
        """until these views have an answer or a message"""
        for view in views:
            self.page.wait_for_selector(f"#{view}[data-shown]")

    def saved(self, button):
        with self.page.expect_download() as download:
            button.click()
        return Path(download.value.path()).read_bytes()

    def check(self):
        assert self.wrong == []
        outside = [one for one in self.requests if not one.startswith((self.home, "blob:", "data:"))]
        assert outside == []
