#!/usr/bin/env python3
"""Checks the pages against the program and the sources: check_docs.py PROGRAM [PAGE ...]

Generated pages are current. Links and named files exist. Every public function is in the C page, and every
tolerance in the contract. Every command and option is known to the program. Blocks of commands with answers
are run, all of a page in one folder, and answer what is shown (times may differ, a line "..." stands for
any). Snippets of C compile. Every law of constraints has its row. README's speeds stand in docs/numbers.md.
The table of places names all files that an addition touches. With pages named, only these are looked at.
Python's standard library only."""

import os
import re
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(sys.argv[1]).resolve()
PAGES = ("*.md", "docs/*.md", "docs/python/*.md", "examples/*/*.md")
NOT_RUN = (
    "devices",  # answers another thing on every machine
    "make",  # the build
    "cmake",
    "pip",
)
LIBRARY = PROGRAM.parent.parent
NOT_INSTALLED = f"-I{ROOT / 'include'} -L{LIBRARY} -Wl,-rpath,{LIBRARY} -lparitas -lm"
DECLARED = "paritas_context *context, paritas_workspace *workspace, paritas_model *model"  # for snippets of C


def help_of(command, known={}):  # noqa: B006 (a cache)
    if command not in known:
        done = subprocess.run([PROGRAM, *command.split(), "--help"], capture_output=True, text=True)
        known[command] = done.stdout
    return known[command]


COMMANDS = set(re.findall(r"^  ([a-z][a-z0-9-]*(?: [a-z]+)?)(?:  +\S|$)", help_of(""), re.M))


def dead_links(page, prose):
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", prose):
        if not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
            yield f"the link {target} leads nowhere"
    for path in re.findall(
        r"`((?:src|kernels|tests|bench|examples|docs|tools|cmake|include)/[A-Za-z0-9_./-]+)`", prose
    ):
        if not (ROOT / path).exists():
            yield f"{path} is not there"
    for path, name in re.findall(r"`((?:src|kernels|cli|include)/[A-Za-z0-9_./-]+)` `(\w+)`", prose):
        if (ROOT / path).exists() and not re.search(rf"\b{name}\b", (ROOT / path).read_text()):
            yield f"{path} has no {name}"


def unknown_commands(text):
    joined = re.sub(r"\\\n\s*", " ", text)
    for words in re.findall(r"(?:^|[`$;] ?|> +)(?:build/release/bin/)?paritas ([a-z][^`\n|]*)", joined, re.M):
        first = words.split()
        command = next((c for c in (" ".join(first[:2]), first[0]) if c in COMMANDS), None)
        if command is None:
            yield f"`paritas {words.strip()}` is no command"
            continue
        for option in re.findall(
            r"(?<!\S)(--?[a-z][a-z-]*)", words.split(" | ")[0].split(" && ")[0].split(";")[0]
        ):
            if option not in re.findall(r"--?[a-z][a-z-]*", help_of(command)):
                yield f"`paritas {command}` has no option {option}"


def without_times(text):
    return re.sub(r"fitted in .* a second", "fitted", text).strip()


def matches(shown, answer):
    """Is this the answer? A line "..." of it stands for any lines."""
    parts = [re.escape(part.strip("\n")) for part in re.split(r"^\.\.\.$", without_times(shown), flags=re.M)]
    return re.fullmatch(r"\s*.*\s*".join(parts), without_times(answer), re.S)


def wrong_answers(text):
    """Runs the blocks that show an answer, one after the other in a folder with the examples."""
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        environment = dict(os.environ, PATH=path, PARITAS_DEVICE="cpu", PARITAS_CACHE="")
        for block in re.findall(r"^```console\n(.*?)^```", text, re.M | re.S):
            steps = re.findall(r"^\$ ((?:.*\\\n)*.*(?:\n> .*)*)\n?((?:(?!\$ ).*\n)*)", block, re.M)
            steps = [(re.sub(r"^> ", "", command, flags=re.M), answer) for command, answer in steps]
            if not any(answer.strip() for _, answer in steps):
                continue
            if any(set(re.split(r"[\s/]+", command)) & set(NOT_RUN) for command, _ in steps):
                continue
            for command, answer in steps:
                command = command.replace("build/release/bin/paritas", "paritas")
                command = command.replace("$(pkg-config --cflags --libs paritas)", NOT_INSTALLED)
                done = subprocess.run(
                    ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
                )
                if answer.strip() and not matches(answer, done.stdout):
                    yield f"`{command}` is not as shown; it answers\n{done.stdout}{done.stderr}"
                yield None  # one more that was run


def snippets_that_do_not_compile(text):
    with tempfile.TemporaryDirectory() as folder:
        for snippet in re.findall(r"^```c\n(.*?)^```", text, re.M | re.S):
            if "paritas.h>" not in snippet or "int main" in snippet:
                continue
            includes = "".join(re.findall(r"^#include.*\n", snippet, re.M))
            rest = re.sub(r"^#include.*\n", "", snippet, flags=re.M)
            source = Path(folder) / "snippet.c"
            source.write_text(f"{includes}void snippet({DECLARED})\n{{\n{{\n{rest}}}\n}}\n")
            done = subprocess.run(
                [os.environ.get("CC", "cc"), "-std=c17", "-fsyntax-only", f"-I{ROOT / 'include'}", source],
                capture_output=True,
                text=True,
            )
            if done.returncode:
                yield f"a snippet does not compile:\n{snippet}{done.stderr}"


def missing_functions():
    functions = set()
    for header in ROOT.glob("include/*.h"):
        functions |= set(
            re.findall(r"PARITAS_API[^;]*?\b(paritas_[a-z0-9_]+)\(", header.read_text(encoding="utf-8"))
        )
    page = (ROOT / "docs" / "c-api.md").read_text(encoding="utf-8")
    return [f"docs/c-api.md: {name} is missing" for name in sorted(functions) if name not in page]


def wrong_tolerances():
    """Every tolerance of the header stands in the contract, with its number, and no other."""
    header, page = "kernels/minimise/fit_tolerances.h", "docs/contract.md"
    tolerances = dict(re.findall(r"^#define ([A-Z0-9_]+) ([0-9.e+-]+)", (ROOT / header).read_text(), re.M))
    text = (ROOT / page).read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `([A-Z0-9_]+)` \| ([0-9.e+-]+) \|", text, re.M))
    return [
        f"{page}: {name} is {stated.get(name)}, in {header} {tolerances.get(name)}"
        for name in sorted(set(tolerances) | set(stated))
        if tolerances.get(name) != stated.get(name)
    ]


def missing_laws():
    """Every word of the list of constraints has its row on the page, and the word of inspect."""
    header, page = "kernels/histfactory/histfactory_constraints.h", "docs/semantics.md"
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        f"{page}: {word} or {inspected} is missing"
        for word, inspected in re.findall(r'LAW\(\w+, \w+, "(\w+)", "(\w+)"', (ROOT / header).read_text())
        if f"\n| `{word}` |" not in text or f"`{inspected}`" not in text
    ]


def wrong_speeds():
    """The numbers of README's sentences on speed are those of the table of docs/numbers.md."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    page = (ROOT / "docs" / "numbers.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\|.*", page, re.M)
    ]
    fits = [row for row in rows if row[0] == "fit"]
    said = {
        "pyhf": r"takes (\S+ \S+) on one thread, and pyhf takes (\S+) times as long",
        "Combine": r"read and fitted in (\S+ \S+), where text2workspace.py and Combine take (\S+ s)\b",
    }
    for peer, sentence in said.items():
        row = next(row for row in fits if row[-1].startswith(peer))
        found = re.search(sentence, readme)
        stands = (row[6], row[8] if peer == "pyhf" else row[7])
        if not found or found.groups() != stands:
            yield f"README.md: beside {peer} it should say {' and '.join(stands)}, as docs/numbers.md does"


def code_of(path):
    """The text of a file of C or CMake without its comments."""
    text = path.read_text()
    if path.suffix in (".c", ".h"):
        return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    return re.sub(r"#[^\n]*", "", text)


def wrong_places():
    """Rows of the page's table "to add | as for" against the files whose code names the example."""
    page = (ROOT / "docs" / "development.md").read_text()
    section = page.split("| to add | as for |", 1)[1].split("\n\n", 1)
    listed = subprocess.check_output(
        ["git", "ls-files", "src", "kernels", "include", "cmake", "CMakeLists.txt"], cwd=ROOT, text=True
    ).split()
    for row in section[0].splitlines()[2:]:
        _, _, example, *cells = row.split("|")
        example = example.strip(" `")
        patterns = re.findall(r"`([^`]+)`", "".join(cells))
        word = re.compile(rf"(?<![a-z]){example}(?![a-z])", re.I)
        named = {path for path in listed if not path.endswith(".md") and word.search(code_of(ROOT / path))}
        asking = re.findall(
            rf"asks?\s+for\s+a {example}\s+by\s+name: ((?:`[^`]+`(?:,| and)?\s*)+)", section[1]
        )
        also = set(re.findall(r"`([^`]+)`", " ".join(asking)))
        for path in sorted(named - also):
            if not any(fnmatch(path, pattern) for pattern in patterns):
                yield f"docs/development.md: {path} names {example} and is not in the table"
        for pattern in patterns + sorted(also):
            if not any(fnmatch(path, pattern) for path in named):
                yield f"docs/development.md: {pattern} does not name {example}"


def main():
    bad, run = [], 0
    pages = [ROOT / page for page in sys.argv[2:]]
    make_docs = [sys.executable, ROOT / "tools" / "make_docs.py", PROGRAM, "--check"]
    current = subprocess.run(make_docs).returncode == 0
    if not pages:
        pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
        if not current:
            bad.append("generated pages are not current")
        bad.extend(wrong_places())
        bad += [*missing_functions(), *wrong_tolerances(), *missing_laws(), *wrong_speeds()]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        prose = re.sub(r"```.*?```", "", text, flags=re.S)
        found = [*dead_links(page, prose), *unknown_commands(text), *snippets_that_do_not_compile(text)]
        for fault in wrong_answers(text):
            run += fault is None
            found += [fault] if fault else []
        bad += [f"{page.relative_to(ROOT)}: {fault}" for fault in found]
    print("\n".join(bad) or f"{len(pages)} pages, {len(COMMANDS)} commands, {run} commands run")
    sys.exit(1 if bad else 0)


main()
