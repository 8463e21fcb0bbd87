#!/usr/bin/env python3
"""Makes the pages that repeat what stands elsewhere: make_docs.py PROGRAM [--check]

  docs/c-api.md          from include/paritas.h and examples/c/*.c
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
# the groups of the header, in its order, each with the example that shows it
EXAMPLES = {"statuses": None, "context": "context", "workspaces": "workspaces", "models": "models", "evaluation": "evaluation", "fits": "fits", "statistics": "statistics", "toys": "toys"}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def c_api():
    header = read("include", "paritas.h")
    introduction = re.match(r"/\* (.*?)\n \*/", header, re.S).group(1)
    introduction = "\n".join(re.sub(r"^ \* ?", "", line) for line in introduction.splitlines())
    out = ["# The C interface", "", "<!-- made by tools/make_docs.py from include/paritas.h and examples/c -->", "",
           "One header, `paritas.h`; link with `-lparitas` (`pkg-config paritas`) or `Paritas::paritas` (CMake). The text below is the header's own;",
           "the examples are compiled and run by the tests.", "", "```text", introduction, "```", ""]
    for title, body in re.findall(r"/\* ---- (.*?) -+ \*/\n(.*?)(?=/\* ---- |#ifdef __cplusplus\n\}|\Z)", header, re.S):
        name = title.split(" (")[0].strip()
        if name not in EXAMPLES:
            sys.exit(f"include/paritas.h: the group '{name}' is not known to tools/make_docs.py")
        out += [f"## {name.capitalize()}", "", "```c", body.strip(), "```", ""]
        if EXAMPLES[name]:
            out += [f"Example: `examples/c/{EXAMPLES[name]}.c`", "", "```c", read("examples", "c", EXAMPLES[name] + ".c").strip(), "```", ""]
    return "\n".join(out)


def command_line(program):
    def help_of(*words):
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} {' '.join(words)} --help: exit {done.returncode}")
        return done.stdout.strip()

    overview = help_of()
    commands = re.findall(r"^  ([a-z][a-z0-9-]*)(?:  +\S|$)", overview, re.M)
    out = ["# The command line", "", "<!-- made by tools/make_docs.py from --help -->", "", "```text", overview, "```", "",
           "Exit codes: 0 answered; 1 answered, but a fit did not converge (the output says which); 2 the command line cannot be parsed; 3 the input is wrong,",
           "or lacks what was named; 4 the device is not available; 5 a file could not be written.", ""]
    for command in commands:
        out += [f"## {command}", "", "```text", help_of(command), "```", ""]
    return "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
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
            print("\n".join(list(difflib.unified_diff(old.splitlines(), text.splitlines(), "docs/" + name, "now", lineterm=""))[:40]))
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    sys.exit(1 if stale and arguments.check else 0)


main()
