#!/usr/bin/env python3
"""Makes the pages that repeat what stands elsewhere: make_docs.py PROGRAM [--check]

  docs/c-api.md          from include/*.h and examples/c/*.c
  docs/command-line.md   from `PROGRAM --help` and `PROGRAM COMMAND --help`

With --check nothing is written; the exit status is 1 where a page is not what it would be now. Python's
standard library only."""

import argparse
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# the headers and their groups, in the page's order, each with the example that shows it
HEADERS = {
    "paritas.h": {
        "statuses": None,
        "context": "context",
        "workspaces": "workspaces",
        "models": "models",
        "templates": "templates",
        "evaluation": "evaluation",
        "fits": "fits",
        "statistics": "statistics",
        "toys": "toys",
    },
    "paritas_gradient.h": {"quantities": None, "gradients": "gradient"},
    "paritas_er.h": {
        "reasons": None,
        "a day": "er",
        "the instrument": None,
        "geometry": None,
        "masks that need geometry": None,
    },
    "paritas_kappa.h": {
        "kappa distributions": None,
        "spectra from sweeps": None,
        "fits": None,
        "currents and the spacecraft's potential": "kappa",
    },
    "paritas_losscone.h": {
        "loss cones: data": None,
        "loss cones: fits": "losscone",
        "loss cones: the model": None,
        "loss cones: beams": None,
    },
}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def introduction_of(name, header):
    introduction = re.match(r"/\* (.*?)\n \*/", header, re.S)
    if not introduction:
        sys.exit(f"include/{name}: does not begin with a comment")
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in introduction.group(1).splitlines())


def groups_of(name, header, level):
    """The header's groups as sections of the page."""
    out, known = [], HEADERS[name]
    found = re.findall(r"/\* ---- (.*?) -+ \*/\n(.*?)(?=/\* ---- |#ifdef __cplusplus\n\}|\Z)", header, re.S)
    for title, body in found:
        group = title.split(" (")[0].strip()
        if group not in known:
            sys.exit(f"include/{name}: the group '{group}' is not known to tools/make_docs.py")
        out += [f"{level} {group[0].upper() + group[1:]}", "", "```c", body.strip(), "```", ""]
        if known[group]:
            out += [
                f"Example: `examples/c/{known[group]}.c`",
                "",
                "```c",
                read("examples", "c", known[group] + ".c").strip(),
                "```",
                "",
            ]
    return out


def c_api():
    if set(HEADERS) != {name for name in os.listdir(os.path.join(ROOT, "include")) if name.endswith(".h")}:
        sys.exit("include: has other headers than tools/make_docs.py knows")
    out = [
        "# The C interface",
        "",
        "<!-- made by tools/make_docs.py from include and examples/c -->",
        "",
        "`paritas.h` for fits of workspaces, and a header for each further family; link with `-lparitas` (`pkg-config paritas`) or `Paritas::paritas` (CMake). The text below is",
        "the headers' own; the examples are compiled and run by the tests.",
        "",
    ]
    for name in HEADERS:
        header = read("include", name)
        if name != "paritas.h":
            out += [f"## {name}", ""]
        out += ["```text", introduction_of(name, header), "```", ""] + groups_of(
            name, header, "##" if name == "paritas.h" else "###"
        )
    return "\n".join(out)


def command_line(program):
    def help_of(*words):
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} {' '.join(words)} --help: exit {done.returncode}")
        return done.stdout.strip()

    overview = help_of()
    commands = re.findall(r"^  ([a-z][a-z0-9-]*(?: [a-z]+)?)(?:  +\S|$)", overview, re.M)
    out = [
        "# The command line",
        "",
        "<!-- made by tools/make_docs.py from --help -->",
        "",
        "```text",
        overview,
        "```",
        "",
        "Exit codes: 0 answered; 1 answered, but a fit did not converge (the output says which); 2 the command line cannot be parsed; 3 the input is wrong,",
        "or lacks what was named; 4 the device is not available; 5 a file could not be written.",
        "",
    ]
    for command in commands:
        out += [f"## {command}", "", "```text", help_of(*command.split()), "```", ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    stale = False
    for name, text in (("c-api.md", c_api()), ("command-line.md", command_line(arguments.program))):
        path = os.path.join(ROOT, "docs", name)
        old = read("docs", name) if os.path.exists(path) else ""
        if old == text:
            continue
        stale = True
        if arguments.check:
            print(f"docs/{name} is not current: run tools/make_docs.py")
            print(
                "\n".join(
                    list(
                        difflib.unified_diff(
                            old.splitlines(), text.splitlines(), "docs/" + name, "now", lineterm=""
                        )
                    )[:40]
                )
            )
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(1 if stale and arguments.check else 0)


main()
