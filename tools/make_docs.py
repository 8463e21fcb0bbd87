#!/usr/bin/env python3
"""Makes the pages that repeat what stands elsewhere: make_docs.py PROGRAM [--library FILE] [--check]

These pages are not in git:
  docs/results.md        from the library's descriptors of enumerations and records (paritas_records.h)
  docs/c-api.md          from include/*.h and examples/c/*.c
These are:
  docs/command-line.md   from `PROGRAM --help` and `PROGRAM COMMAND --help`
  the files that other pages show ("`examples/...`:" before a block of code)

The library is libparitas beside the program's folder. With --check pages in git are not written; the exit
status is 1 if one of them is not what it would be now. Python's standard library only."""

import argparse
import ctypes
import difflib
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOT_IN_GIT = ("docs/results.md", "docs/c-api.md")
# the headers in the page's order, each with the examples that show it
HEADERS = {
    "paritas.h": [],
    "paritas_records.h": [],
    "paritas_context.h": ["context"],
    "paritas_workspace.h": ["workspaces"],
    "paritas_datacard.h": [],
    "paritas_model.h": ["models", "templates", "evaluation"],
    "paritas_fit.h": ["fits"],
    "paritas_statistics.h": ["statistics"],
    "paritas_toys.h": ["toys"],
    "paritas_sample.h": [],
    "paritas_simplified.h": [],
    "paritas_unfold.h": [],
    "paritas_gradient.h": ["gradient"],
    "paritas_sweep.h": [],
    "paritas_er.h": ["er"],
    "paritas_kappa.h": ["kappa"],
    "paritas_losscone.h": ["losscone"],
    "paritas_days.h": ["days"],
}


RESULTS = """\
# Results and options: every field and word

<!-- made by tools/make_docs.py from the library's descriptors -->

Look up a field of a result. A field has the same name in JSON, CSV, SQLite and Python:

```console
$ paritas hypotest examples/two_bins.json --json
```

The first column of a table is this name. It is empty for fields that only C and Python have, under the C
name. A number that does not exist is `null` in JSON, an empty field in CSV, and NaN in C and Python. Five
expected values belong to -2, -1, 0, 1, 2 sigma.

Programs can read these tables too: see `paritas_records`, `paritas_enumerations` and `paritas_option_lists`
in `paritas_records.h`.

## Records
"""
OPTIONS = """\
## Options

Each table is a struct in C. Python's keywords have the names in C. Numbers outside the bounds are refused.
"""
C_API = """\
# The C interface

<!-- made by tools/make_docs.py from include and examples/c -->

Compile a program with the installed library and run it:

```console
$ cc examples/c/statistics.c $(pkg-config --cflags --libs paritas) -o statistics
$ ./statistics examples/two_bins.json
CLs at mu = 1: observed 0.05251553, expected 0.06445515
upper limit:   observed 1.011572, expected 1.062355
```

Where the library is in a folder that the system does not search, as below your home, the program does not
start: "cannot open shared object file". Run `export LD_LIBRARY_PATH=$(pkg-config --variable=libdir paritas)`
first, on macOS with `DYLD_LIBRARY_PATH`.

With CMake use `find_package(Paritas)` and link `Paritas::paritas`. The text below comes from the headers. The
tests compile and run the examples. Tables of all records, options and enumerations: [results](results.md).
"""
COMMAND_LINE = """\
# The command line

<!-- made by tools/make_docs.py from --help -->

Fit a workspace:

```console
$ paritas fit examples/two_bins.json
```

```text
{overview}
```

| exit code | meaning |
|---|---|
| 0 | answered |
| 1 | answered, but a fit did not converge; the output says which |
| 2 | wrong command line |
| 3 | wrong input, or the input lacks what was named |
| 4 | the device is not available |
| 5 | a file could not be written |
"""


def read(*path):
    return ROOT.joinpath(*path).read_text(encoding="utf-8")


def table(head, rows):
    def cells(row):
        return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"

    return [cells(head), "|" + "---|" * len(head), *map(cells, rows), ""]


# ---- results.md: enumerations and records ------------------------------------------------------------


class Word(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_int)]
    _fields_ += [("word", ctypes.c_char_p), ("doc", ctypes.c_char_p)]


class Enumeration(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("doc", ctypes.c_char_p), ("n", ctypes.c_size_t)]
    _fields_ += [("words", ctypes.POINTER(Word))]


class Record(ctypes.Structure):
    pass


class Field(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "word", "unit", "doc")]
    _fields_ += [("type", ctypes.c_int)]
    _fields_ += [(name, ctypes.c_size_t) for name in ("offset", "size", "count")]
    _fields_ += [("is_array", ctypes.c_int), ("columns", ctypes.c_size_t)]
    _fields_ += [("enumeration", ctypes.POINTER(Enumeration)), ("nested", ctypes.POINTER(Record))]


Record._fields_ = [
    *[(name, ctypes.c_char_p) for name in ("name", "doc")],
    *[(name, ctypes.c_size_t) for name in ("size", "n_fields")],
    ("fields", ctypes.POINTER(Field)),
]


class Bound(ctypes.Structure):
    _fields_ = [("value", ctypes.c_double)]
    _fields_ += [(name, ctypes.c_int) for name in ("exists", "open", "or_zero")]


class Option(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "word", "unit", "doc")]
    _fields_ += [("type", ctypes.c_int), ("offset", ctypes.c_size_t), ("size", ctypes.c_size_t)]
    _fields_ += [("enumeration", ctypes.POINTER(Enumeration)), ("otherwise", ctypes.c_double)]
    _fields_ += [("lower", Bound), ("upper", Bound)]


class OptionList(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("doc", ctypes.c_char_p), ("size", ctypes.c_size_t)]
    _fields_ += [("n_options", ctypes.c_size_t), ("options", ctypes.POINTER(Option))]


def described(library):
    """(enumerations, records, structs of options) of the library, in its order."""
    out = []
    for function, kind in (
        ("paritas_enumerations", Enumeration),
        ("paritas_records", Record),
        ("paritas_option_lists", OptionList),
    ):
        call = getattr(library, function)
        call.restype = ctypes.POINTER(kind)
        count = ctypes.c_size_t()
        first = call(ctypes.byref(count))
        out.append([first[i] for i in range(count.value)])
    return out


def link(name):
    return f"[`{name}`](#{name})"


def type_of(field):
    """The field's type in C, linked where this page describes it."""
    if field.nested:
        name = link(field.nested[0].name.decode())
    elif field.enumeration:
        name = link(field.enumeration[0].name.decode())
    else:
        whole = "unsigned" if field.size == 4 else "64-bit unsigned"
        name = {0: "double", 1: whole, 2: "int", 3: "0 or 1", 6: f"text, {field.count} bytes"}[field.type]
    return f"{name} [{field.count}]" if field.is_array and field.type != 6 else name


def bounds_of(option):
    """Bounds in mathematicians' brackets: "[0, 1)"."""
    lower, upper = option.lower, option.upper
    if not (lower.exists or upper.exists):
        return ""
    start = ("(" if lower.open else "[") + f"{lower.value:.10g}"
    if not lower.exists:
        start = "(-inf" if option.type == 0 else "[0"
    end = f"{upper.value:.10g}" + (")" if upper.open else "]") if upper.exists else "inf)"
    return ("0 or " if lower.or_zero else "") + f"{start}, {end}"


def default_of(option):
    if not option.enumeration:
        return f"{option.otherwise:.17g}" if option.type else repr(option.otherwise).removesuffix(".0")
    words = option.enumeration[0].words
    return next(w.word.decode() for w in words[: option.enumeration[0].n] if w.value == option.otherwise)


def options_table(options):
    """The table of one struct of options."""
    rows = []
    for option in options.options[: options.n_options]:
        kind = option.enumeration[0].name.decode() if option.enumeration else ""
        whole = "unsigned" if option.size == 4 else "64-bit unsigned"
        rows.append(
            (
                f"`{option.name.decode()}`",
                f"`{option.word.decode()}`" if option.word else "",
                link(kind) if kind else {0: "double", 1: whole, 2: "int", 3: "0 or 1"}[option.type],
                default_of(option),
                bounds_of(option),
                option.unit.decode(),
                option.doc.decode(),
            )
        )
    return table(("in C", "in the program", "type", "default", "bounds", "unit", "meaning"), rows)


def results(library):
    enumerations, records, structs = described(library)
    out = [RESULTS]
    out += table(("record", "holds"), ((link(r.name.decode()), r.doc.decode()) for r in records))
    for record in records:
        out += [f"### {record.name.decode()}", "", record.doc.decode(), ""]
        rows = []
        for field in (record.fields[i] for i in range(record.n_fields)):
            word, unit = field.word.decode(), field.unit.decode()
            name = f"`{word}`" if word else ""
            rows.append((name, f"`{field.name.decode()}`", type_of(field), unit, field.doc.decode()))
        out += table(("field", "in C", "type", "unit", "meaning"), rows)
    out += [OPTIONS]
    for options in structs:
        out += [f"### {options.name.decode()}", "", options.doc.decode(), "", *options_table(options)]
    out += ["## Enumerations", ""]
    for enumeration in enumerations:
        out += [f"### {enumeration.name.decode()}", "", enumeration.doc.decode(), ""]
        rows = []
        for word in (enumeration.words[i] for i in range(enumeration.n)):
            text = word.word.decode()
            rows.append(
                (f"`{text}`" if text else "", f"`{word.name.decode()}`", word.value, word.doc.decode())
            )
        out += table(("word", "in C", "value", "meaning"), rows)
    return "\n".join(out)


# ---- c-api.md: the headers ---------------------------------------------------------------------------

LISTS = re.compile(
    r"#define PARITAS_\w+_(?:LIST\(ITEM\)|FIELDS\(FIELD, R\)|OPTIONS\(OPTION, OTHER, S\)"
    r"|ENUMERATIONS\(ENUMERATION\)|RECORDS\(RECORD\))"
    r"(?:.*\\\n)*.*\n|^PARITAS_\w+_ENUMERATIONS\(PARITAS_NAME_FUNCTION\)\n",
    re.M,
)
MADE_OF_LISTS = re.compile(
    r"typedef (?:enum|struct) (\w+) \{\s*(?:size_t size;\s*)?"
    r"PARITAS_\w+\((?:PARITAS_ENUMERATOR|PARITAS_MEMBER, ?|PARITAS_OPTION_MEMBER, PARITAS_OTHER_MEMBER, ?)\)"
    r"\s*\} \1;\n?"
)
COMMENT = re.compile(r"\s*/\*(.*?)\*/\s*", re.S)


def text_of(comment):
    """A comment's text without its stars."""
    return "\n".join(re.sub(r"^ \* ?", "", line).rstrip() for line in comment.strip().splitlines())


def described_types(chunk):
    """A chunk of a header whose types are made of lists: its comment, links to the tables, what is left."""
    out = []
    chunk = LISTS.sub("", chunk)
    names = MADE_OF_LISTS.findall(chunk)
    rest = MADE_OF_LISTS.sub("", chunk)
    comment = COMMENT.match(rest)
    if comment and names:
        text = text_of(comment[1])
        laid_out = re.search(r"^ ", text, re.M)
        out += ["```text", text, "```", ""] if laid_out else [re.sub(r"([*<>|])", r"\\\1", text), ""]
        rest = rest[comment.end() :]
    out += [f"Table of [`{name}`](results.md#{name})." for name in names] + [""] * bool(names)
    return out, rest.strip()


def section(name, level):
    """A header as a section of the page: its introduction, then its groups with their declarations."""
    header = read("include", name)
    introduction = COMMENT.match(header)
    if not introduction:
        sys.exit(f"include/{name}: does not begin with a comment")
    out = [f"{level} {name}", "", "```text", text_of(introduction[1]), "```", ""]
    body = re.search(r'extern "C" \{\n#endif\n(.*)#ifdef __cplusplus\n\}', header, re.S)
    guards = re.compile(r"^#(ifndef|endif|define \w+_H\b|include).*\n", re.M)
    body = body[1] if body else guards.sub("", header[introduction.end() :])
    code = []

    def show_code():
        if any(code):
            out.extend(["```c", "\n\n".join(code), "```", ""])
        code.clear()

    for chunk in re.split(r"\n{2,}", body.strip("\n")):
        title = re.match(r"/\* ---- (.*?) -+ \*/$", chunk)
        if title:
            show_code()
            out.extend([f"{level}# {name}: {title[1].split(' (')[0]}", ""])
            continue
        tables, rest = described_types(chunk + "\n")
        if tables:
            show_code()
            out.extend(tables)
        if rest:
            code.append(rest)
    show_code()
    for example in HEADERS[name]:
        out += [f"Example: `examples/c/{example}.c`", ""]
        out += ["```c", read("examples", "c", example + ".c").strip(), "```", ""]
    return out


def c_api():
    present = {path.name for path in ROOT.glob("include/*.h")}
    if not present <= set(HEADERS):
        sys.exit(f"include: tools/make_docs.py does not know {', '.join(sorted(present - set(HEADERS)))}")
    out = [C_API]
    for name in (name for name in HEADERS if name in present):
        out += section(name, "##")
    return "\n".join(out)


# ---- command-line.md: the program's help -------------------------------------------------------------


def command_line(program):
    def help_of(*words):
        done = subprocess.run([program, *words, "--help"], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{program} {' '.join(words)} --help: exit {done.returncode}")
        return done.stdout.strip()

    overview = help_of()
    commands = re.findall(r"^  ([a-z][a-z0-9-]*(?: [a-z]+)?)(?:  +\S|$)", overview, re.M)
    blocks = {command: help_of(*command.split()).split("\n\n") for command in commands}
    groups = {}  # (title, text of the options): the commands that have them
    for command in commands:
        for block in blocks[command]:
            title, _, options = block.partition(":\n")
            if options and re.fullmatch(r"[A-Z][\w ]*", title):
                groups.setdefault((title, options), []).append(command)
    shared = {key: users for key, users in groups.items() if len(users) > 1}
    names = {}  # a second group of one title is named after its first command
    for title, options in shared:
        taken = f"{title} options" in names.values()
        names[title, options] = f"{title} options" + (f" of {shared[title, options][0]}" if taken else "")

    def anchor(name):
        short = name.lower().replace(" options", "")
        return f"[{short}](#{name.lower().replace(' ', '-')})"

    out = [COMMAND_LINE.format(overview=overview)]
    for command in commands:
        own = [block for block in blocks[command][:-1] if tuple(block.split(":\n", 1)) not in shared]
        others = [anchor(names[key]) for key, users in shared.items() if command in users]
        out += [f"## {command}", "", "```text", "\n\n".join(own), "```", ""]
        out += [f"More: {', '.join(others)}.", ""] * bool(others)
    out += ["## Options of several commands", ""]
    for key, users in shared.items():
        used = ", ".join(f"`{command}`" for command in users)
        out += [f"### {names[key]}", "", "```text", key[1], "```", "", f"Of {used}.", ""]
    return "\n".join(out)


# ---- files that pages show ---------------------------------------------------------------------------

SHOWN = re.compile(r"(`((?:examples|tests)/[\w./-]+)`[^`\n]*:\n\n```[a-z]*\n)(.*?)(?=^```$)", re.S | re.M)


def with_shown_files(text):
    return SHOWN.sub(lambda block: block[1] + read(block[2]).strip() + "\n", text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program", type=Path)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    program = arguments.program.resolve()
    name = "libparitas.dylib" if sys.platform == "darwin" else "libparitas.so"
    library = ctypes.CDLL(str((arguments.library or program.parent.parent / name).resolve()))
    pages = dict(zip(NOT_IN_GIT, (results(library), c_api())))
    pages["docs/command-line.md"] = command_line(str(program))
    for path in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        page = str(path.relative_to(ROOT))
        pages.setdefault(page, with_shown_files(path.read_text(encoding="utf-8")))
    stale = False
    for page, text in pages.items():
        path = ROOT / page
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        if arguments.check and page not in NOT_IN_GIT:
            stale = True
            print(f"{page} is not current: run tools/make_docs.py")
            changes = difflib.unified_diff(old.splitlines(), text.splitlines(), page, "now", lineterm="")
            print("\n".join(list(changes)[:40]))
        else:
            path.write_text(text, encoding="utf-8")
    sys.exit(1 if stale else 0)


main()
