#!/usr/bin/env python3
"""Checks the pages: check_docs.py PROGRAM. Generated pages are current, links and named files exist, every
public function is in the C page, every tolerance in the contract, files shown as they are, every command of
the README and the docs is one that the program knows, and answers shown are its answers but for the time that
it took."""

import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
program = os.path.abspath(sys.argv[1])
bad = []
answers = 0

if (
    subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools", "make_docs.py"), program, "--check"]
    ).returncode
    != 0
):
    bad.append("generated pages are not current")


def without_times(text):
    return re.sub(r"fitted in .* a second", "fitted", text).strip()


pages = [
    os.path.join(folder, name)
    for folder in (
        ROOT,
        os.path.join(ROOT, "docs"),
        os.path.join(ROOT, "docs", "python"),
        os.path.join(ROOT, "examples", "sbottom_A"),
        os.path.join(ROOT, "examples", "batch"),
    )
    for name in sorted(os.listdir(folder))
    if name.endswith(".md")
]
commands = set(
    re.findall(
        r"^  ([a-z][a-z0-9-]*(?: [a-z]+)?)(?:  +\S|$)",
        subprocess.run([program, "--help"], capture_output=True, text=True).stdout,
        re.M,
    )
)
for page in pages:
    with open(page, encoding="utf-8") as file:
        text = file.read()
    shown = os.path.relpath(page, ROOT)
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if not re.match(r"[a-z]+:", target) and not os.path.exists(
            os.path.join(os.path.dirname(page), target)
        ):
            bad.append(f"{shown}: the link {target} leads nowhere")
    for path in re.findall(
        r"`((?:src|kernels|tests|bench|examples|docs|tools|cmake|include)/[A-Za-z0-9_./-]+)`", prose
    ):
        if not os.path.exists(os.path.join(ROOT, path)):
            bad.append(f"{shown}: {path} is not there")
    for path, shown_text in re.findall(
        r"`((?:examples|tests)/[A-Za-z0-9_./-]+)`[^`\n]*:\n\n```[a-z]*\n(.*?)\n```", text, flags=re.S
    ):
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            if file.read().strip() != shown_text.strip() and "docs/c-api.md" not in shown:
                bad.append(f"{shown}: {path} is not as shown")
    # what one command answers; `devices` answers another thing on every machine
    for words, answer in re.findall(
        r"```console\n\$ (?:build/release/bin/)?paritas (.*)\n((?:[^$`].*\n|\n)+)```", text
    ):
        if words.split()[0] == "devices":
            continue
        now = subprocess.run(
            [program, *words.split()],
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=dict(os.environ, PARITAS_DEVICE="cpu"),
        ).stdout
        answers += 1
        if without_times(answer) != without_times(now):
            bad.append(f"{shown}: `paritas {words}` is not as shown; it answers\n{now}")
    for command, action in re.findall(r"(?:^|[`$] ?)paritas ([a-z][a-z0-9-]+) +([a-z]*)", text, re.M):
        if command not in commands and f"{command} {action}" not in commands:
            bad.append(f"{shown}: `paritas {command} {action}` is no command")

functions = set()
for name in sorted(os.listdir(os.path.join(ROOT, "include"))):
    with open(os.path.join(ROOT, "include", name), encoding="utf-8") as file:
        functions |= set(re.findall(r"PARITAS_API[^;]*?\b(paritas_[a-z0-9_]+)\(", file.read()))
with open(os.path.join(ROOT, "docs", "c-api.md"), encoding="utf-8") as file:
    page = file.read()
bad += [f"docs/c-api.md: {name} is missing" for name in sorted(functions) if name not in page]

# every tolerance of the header stands in the contract, with its number, and no other
with open(os.path.join(ROOT, "kernels", "minimise", "fit_tolerances.h"), encoding="utf-8") as file:
    tolerances = dict(re.findall(r"^#define ([A-Z0-9_]+) ([0-9.e+-]+)", file.read(), re.M))
with open(os.path.join(ROOT, "docs", "contract.md"), encoding="utf-8") as file:
    stated = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| ([0-9.e+-]+) \|", file.read(), re.M))
bad += [
    f"docs/contract.md: {name} is {stated.get(name)}, in kernels/minimise/fit_tolerances.h {tolerances.get(name)}"
    for name in sorted(set(tolerances) | set(stated))
    if tolerances.get(name) != stated.get(name)
]

print(
    "\n".join(bad)
    or f"{len(pages)} pages, {len(functions)} functions, {len(commands)} commands, {answers} answers"
)
sys.exit(1 if bad else 0)
