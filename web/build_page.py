#!/usr/bin/env python3
"""Puts the page together: web/page and web/engine into one folder of static files.

  web/build_page.py --out build/web --program paritas.wasm [--portable paritas_portable.wasm]

Browsers refuse modules, fetch and workers from file://. So everything is a classic script: page.js is all of
web/page/*.js in one function, engine.js all of web/engine/*.js, and a compiled program is base64 of gzip in a
script of its own, as are the examples. Only Python's standard library is used."""

import argparse
import base64
import gzip
from pathlib import Path

WEB = Path(__file__).resolve().parent
ROOT = WEB.parent
# classes and constants come before what uses them at load time; main.js starts the page
LAST = ["figure_", "view_model", "view_", "main"]
EXAMPLES = {
    "two_bins": ["examples/two_bins.json"],
    "sbottom_A": ["examples/sbottom_A/BkgOnly.json", "examples/sbottom_A/patchset.json"],
}


def packed(content):
    """base64 of gzip, the same for the same content"""
    return base64.b64encode(gzip.compress(content, 9, mtime=0)).decode()


def page_order(path):
    """where a file stands in page.js"""
    return max((k + 1 for k, start in enumerate(LAST) if path.name.startswith(start)), default=0), path.name


def page_script(folder):
    """all scripts of the page as one strict function, so that they share names with nobody"""
    scripts = sorted(folder.glob("*.js"), key=page_order)
    texts = [path.read_text(encoding="utf-8") for path in scripts]
    return '"use strict";\n(() => {\n' + "\n".join(texts) + "})();\n"


def example_script(name, files):
    """calls the page with the files of an example"""
    entries = ",".join(f'"{path.name}":"{packed(path.read_bytes())}"' for path in files)
    return f'paritasExample("{name}",{{{entries}}});\n'


def build(out, programs):
    """writes the folder; returns the bytes of its files by name"""
    (out / "examples").mkdir(parents=True, exist_ok=True)
    page = WEB / "page"
    files = {
        "index.html": (page / "index.html").read_text(encoding="utf-8"),
        "page.css": (page / "style.css").read_text(encoding="utf-8"),
        "page.js": page_script(page),
        "engine.js": "\n".join((WEB / "engine" / f"{name}.js").read_text() for name in ENGINE),
    }
    for name, path in programs.items():
        files[f"engine_{name}.js"] = f'ENGINE_MODULES.{name} = "{packed(path.read_bytes())}";\n'
    for name, paths in EXAMPLES.items():
        files[f"examples/{name}.js"] = example_script(name, [ROOT / path for path in paths])
    for name, text in files.items():
        (out / name).write_text(text, encoding="utf-8")
    return {name: len(text.encode()) for name, text in files.items()}


ENGINE = ["wasi", "worker", "engine"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--program", type=Path, required=True)
    parser.add_argument("--portable", type=Path)
    options = parser.parse_args()
    programs = {"relaxed": options.program}
    if options.portable:
        programs["portable"] = options.portable
    for name, size in build(options.out, programs).items():
        print(f"{size:>9} {options.out / name}")


if __name__ == "__main__":
    main()
