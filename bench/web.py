#!/usr/bin/env python3
"""How fast the engine of the web page is in Chromium: web.py [WORKSPACE [FOLDER]]

FOLDER is what `make web` built (build/web). Prints the time until the program is compiled, of a first and a
later upper limit, of a fit and of expected yields of an open model, and toys a second of one worker. Medians
of several browsers, with and without `Engine.warm`."""

import base64
import os
import shutil
import statistics
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "workspaces" / "tHu_FCNC.json"
RUNS = 3  # browsers

MEASURE = """async ([text, warm, name]) => {
  const file = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const times = {};
  const timed = async (name, work) => {
    const start = performance.now();
    const answer = await work();
    (times[name] ||= []).push(performance.now() - start);
    return answer;
  };
  const module = await timed("compile", () => Engine.compile(name));
  if (warm) await timed("warm up", () => Engine.warm(module));
  const engine = new Engine(module);
  const files = { "ws.json": file };
  const limit = () => engine.command(["limit", "ws.json", "--json"], { files });
  await timed("first limit", limit);
  for (let k = 0; k < 3; k++) await timed("later limit", limit);
  const model = await engine.open(["ws.json"]);
  const point = model.parameters.map((p) => p.init);
  for (let k = 0; k < 20; k++) await timed("fit", () => engine.fit(model.model, point));
  for (let k = 0; k < 20; k++) await timed("expected", () => engine.expected(model.model, point));
  const toys = name === "portable" ? "100" : "2000";
  const rates = [];
  for (let k = 0; k < 3; k++) {
    const { out } = await engine.command(["toys", "ws.json", "--ntoys", toys, "--json"]);
    rates.push(JSON.parse(out).toys_per_second);
  }
  return [times, rates];
}"""


def main():
    workspace = Path(sys.argv[1]) if len(sys.argv) > 1 else SHARED
    site = Path(sys.argv[2]) if len(sys.argv) > 2 else ROOT / "build" / "web"
    text = base64.b64encode(workspace.read_bytes()).decode()
    print(f"{workspace.name}; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with sync_playwright() as driver:
        for name, warm in (("relaxed", False), ("relaxed", True), ("portable", False)):
            times, rates = {}, []
            for _ in range(RUNS):
                browser = driver.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox"]
                )
                page = browser.new_page()
                page.goto((site / "index.html").as_uri())
                new_times, new_rates = page.evaluate(MEASURE, [text, warm, name])
                browser.close()
                rates += new_rates
                for key, values in new_times.items():
                    times.setdefault(key, []).extend(values)
            print(f"{name}{', warmed up' if warm else ''}: {statistics.median(rates):.0f} toys a second")
            print("  " + ", ".join(f"{key} {statistics.median(v):.1f} ms" for key, v in times.items()))


main()
