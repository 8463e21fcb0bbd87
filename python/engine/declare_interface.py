#!/usr/bin/env python3
"""Writes the C interface for Cython and type checkers, from the public headers.

    declare_interface.py --headers include --into FOLDER COMPILER...

  interface_h.pxd   all declarations and numbers; NAME_default of each struct with a size
  calls.pxi         functions that take a context: called with an engine instead, they raise errors
  structs.pxi       defaults of structs of options; arrays in structs
  fields.pyi        types of result attributes and option keywords (paritas/fields.py)

The preprocessor expands the headers, with empty system headers. Unknown shapes are errors. Standard library
only."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

SYSTEM_HEADERS = ("stddef.h", "stdint.h")
STRUCTS_OF_ARRAYS = ("paritas_er_day", "paritas_day_sweeps", "paritas_er_attitude", "paritas_er_mag")
#: structs of options, members to skip
KEYWORDS = {
    "paritas_losscone_options": ("response", "first"),
    "paritas_kappa_options": (),
    "paritas_potential_options": (),
}
#: functions with state that threads may share: they keep the interpreter's lock
LOCKED = re.compile("paritas_(er_(mask|spice|geometry_apply|mag_apply)|day_prepare|day_count)")
NUMPY_TYPES = {"double": "f8", "int64_t": "i8", "uint64_t": "u8", "uint8_t": "u1"}
ARRAY_TYPES = {"f8": "float64", "i8": "int64", "u8": "uint64", "u1": "uint8"}
PYTHON_TYPES = {"double": "float", "paritas_truth": "bool", "char": "str"}
COLUMN_TYPES = {"float": "np.float64", "int": "np.int64", "bool": "np.bool_", "str": "np.str_"}
PYTHON_TYPES.update({name: "int" for name in ("int", "unsigned", "uint64_t", "size_t")})

TOKEN = re.compile(r'\s*("(?:\\.|[^"\\])*"|\w[\w.]*|\S)')
NUMBER = re.compile(r"[-+*() 0-9.xXa-fA-FuUlL]+")


def headers_in(folder):
    return sorted(name for name in os.listdir(folder) if name.endswith(".h"))


def preprocessed(compiler, folder):
    """Numbers, defaults and records become statements."""
    text, asked = "", []
    for name in headers_in(folder):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            text += file.read().replace("\\\n", " ")
        asked.append(f'#include "{name}"')
    asked += [f'macro "{name}" {name};' for name in re.findall(r"^#define (PARITAS_\w+) +[^/\s]", text, re.M)]
    asked.append("#define FIELD(record, type, name, count, word, unit, doc) field type #name #count word;")
    asked.append("#define RECORD(type, LIST, doc) record type; LIST(FIELD, type)")
    asked += [f"{name}(RECORD)" for name in re.findall(r"^#define (PARITAS_\w+_RECORDS)\(", text, re.M)]
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            open(os.path.join(empty, name), "w").close()
        return subprocess.run(
            [*compiler, "-E", "-P", "-nostdinc", "-I", empty, "-I", folder, "-x", "c", "-"],
            input="\n".join(asked) + "\n",
            stdout=subprocess.PIPE,
            universal_newlines=True,
            check=True,
        ).stdout


def split(tokens, separator):
    """Tokens between separators outside brackets."""
    part, depth = [], 0
    for token in tokens:
        depth += (token in "({[") - (token in ")}]")
        if token == separator and depth == 0:
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


class Interface:
    """Declarations are lists of tokens."""

    def __init__(self, headers, text):
        self.headers = headers
        self.enumerations, self.structs, self.records = {}, {}, {}
        self.types, self.functions, self.numbers, self.defaults = [], [], [], {}
        for statement in split(TOKEN.findall(text), ";"):
            self.read(statement)

    def read(self, tokens):
        kind, name = tokens[0], tokens[-1]
        if kind == "macro":
            self.read_macro(tokens[1].strip('"'), tokens[2:])
        elif kind == "record":
            self.records[tokens[1]] = []
        elif kind == "field":
            self.records[list(self.records)[-1]].append([token.strip('"') for token in tokens[1:5]])
        elif tokens[:2] == ["typedef", "enum"]:
            self.enumerations[name] = [item[0] for item in split(tokens[4:-2], ",")]
        elif tokens[:2] == ["typedef", "struct"]:
            opaque = tokens[3] != "{"
            self.structs[name] = [] if opaque else list(split(tokens[4:-2], ";"))
        elif kind == "typedef":
            self.types.append(tokens[1:])
        elif name == ")":
            self.functions.append(tokens)
        elif tokens[0] != "struct":
            sys.exit(f"declare_interface.py: cannot read: {' '.join(tokens)}")

    def read_macro(self, name, tokens):
        value = " ".join(tokens)
        if NUMBER.fullmatch(value):
            self.numbers.append((name, "double" if "." in value else "int"))
        elif value.startswith("{") and name.endswith("_DEFAULT"):
            self.defaults[name[: -len("_DEFAULT")].lower()] = name

    def sized(self):
        return [name for name, members in self.structs.items() if members[:1] == [["size_t", "size"]]]


def declared(tokens):
    """Function pointers are nogil."""
    text = " ".join(token for token in tokens if token != "struct").replace("( void )", "()")
    text = re.sub(r"\[ ([^\]]*) \]", lambda length: f"[{eval(length.group(1))}]", text)
    return text + (" noexcept nogil" if re.search(r"\( \* \w+ \) \(", text) else "")


def members_of(interface, name):
    """(type, member) pairs: `char *a, *b;` are two."""
    for tokens in interface.structs[name]:
        first, *others = split(tokens, ",")
        last_word = max(i for i, token in enumerate(first) if re.match(r"\w", token) and "[" not in first[:i])
        base = first[: first.index("*") if "*" in first else last_word]
        yield first
        yield from (base + other for other in others)


def without_records(interface, declaration):
    """Pointers to records become void, like Array.rows."""
    return re.sub(rf"\b({'|'.join(interface.records)}) \*", "void *", declaration)


def takes_context(tokens):
    return tokens[0] == "paritas_status" and tokens[2:6] == ["(", "paritas_context", "*", "context"]


def cython_calls(interface):
    """Functions without their context. Arrays become pointers."""
    yield "# Made by declare_interface.py from include/*.h."
    for tokens in filter(takes_context, interface.functions):
        name, arguments = tokens[1], [part for part in split(tokens[7:-1], ",")]
        names = [part[part.index("[") - 1] if "[" in part else part[-1] for part in arguments]
        typed = [without_records(interface, declared(part)) for part in arguments]
        typed = [re.sub(r"(\w+) \[.*\]", r"*\1", argument) for argument in typed]
        yield f"cdef int {name}({', '.join(typed)}, Engine engine=None, object progress=None) except -1:"
        yield "    cdef Context call = begin(engine, progress)"
        lock = "" if LOCKED.match(name) else "with nogil: "
        yield f"    {lock}call.status = in_c_{name}(call.c, {', '.join(names)})"
        yield "    return call.end()"


def cython_declarations(interface):
    def of_rows(declaration):
        return without_records(interface, declaration)

    yield "# Made by declare_interface.py from include/*.h."
    yield "from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t"
    yield 'cdef extern from * nogil:\n    """'
    yield from (f'#include "{name}"' for name in interface.headers)
    for name in interface.sized():
        default = interface.defaults.get(name, f"PARITAS_INIT({name})")
        yield f"static const {name} {name}_default = {default};"
    yield '    """'
    for name, constants in interface.enumerations.items():
        yield f"    ctypedef enum {name}:\n        " + "\n        ".join(constants)
    for name, kind in interface.numbers:
        yield f"    enum: {name}" if kind == "int" else f"    const double {name}"
    yield from (f"    ctypedef struct {name}" for name in interface.structs)
    yield from (f"    ctypedef {declared(tokens)}" for tokens in interface.types)
    for name, members in interface.structs.items():
        if members:
            yield f"    ctypedef struct {name}:"
            yield from (f"        {of_rows(declared(member))}" for member in members_of(interface, name))
    for tokens in interface.functions:
        if takes_context(tokens):
            tokens = [tokens[0], f'in_c_{tokens[1]} "{tokens[1]}"', *tokens[2:]]
        yield f"    {of_rows(declared(tokens))}"
    yield from (f"    const {name} {name}_default" for name in interface.sized())


def arrays_of(interface, name):
    """(name, NumPy type) of pointers to numbers or texts."""
    for member in members_of(interface, name):
        if member[1] == "*" and member[0] in NUMPY_TYPES:
            yield member[-1], NUMPY_TYPES[member[0]]
        elif member[:3] == ["char", "(", "*"]:
            yield member[3], f"S{member[6]}"


def cython_structs(interface):
    yield "# Made by declare_interface.py from include/*.h."
    defaults = ", ".join(f"{name!r}: <dict>{name}_default" for name in KEYWORDS)
    yield f"cdef dict DEFAULTS = {{{defaults}}} # by struct: members and defaults, as C has them"
    for name in STRUCTS_OF_ARRAYS:
        yield f"cdef dict arrays_of_{name[len('paritas_') :]}({name} *of):"
        arrays = arrays_of(interface, name)
        yield "    return {" + ", ".join(f'"{a}": (<size_t>of.{a}, "{kind}")' for a, kind in arrays) + "}"


def options_of(interface, name):
    """(type, name) of number members, without the size."""
    return [(member[0], member[-1]) for member in list(members_of(interface, name))[1:]]


def python_type(interface, kind, count, of_rows):
    if kind in interface.records:
        return "Any" if of_rows or count else kind[len("paritas_") :]
    found = "str" if kind in interface.enumerations else PYTHON_TYPES[kind]
    return f"NDArray[{COLUMN_TYPES[found]}]" if of_rows or (count and found != "str") else found


def stubs(interface):
    yield "# Made by declare_interface.py from include/*.h."
    yield "from typing import Any, TypedDict\n\nimport numpy as np\nfrom numpy.typing import NDArray\n"
    yield "from .records import Record, Rows"
    for name, fields in interface.records.items():
        for suffix, base in ("", "Record"), ("_rows", "Rows"):
            yield f"\nclass {name[len('paritas_') :]}{suffix}({base}):"
            for kind, field, count, word in fields:
                yield f"    {word or field}: {python_type(interface, kind, count, base == 'Rows')}"
            if "status" in [field for _, field, _, _ in fields]:
                yield "    @property\n    def converged(self) -> bool: ..."
    for name in STRUCTS_OF_ARRAYS:
        yield f"\nclass {name[len('paritas_') :]}_arrays:"
        for array, kind in arrays_of(interface, name):
            yield f"    {array}: NDArray[np.{ARRAY_TYPES.get(kind, 'bytes_')}]"
    for name, left_out in KEYWORDS.items():
        title = "".join(part.title() for part in name.split("_")[1:])
        yield f"\nclass {title}(TypedDict, total=False):"
        for kind, member in options_of(interface, name):
            if member not in left_out:
                yield f"    {member}: {python_type(interface, kind, '', False)}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--headers", required=True, metavar="FOLDER", help="where the headers are")
    parser.add_argument("--into", required=True, metavar="FOLDER", help="where the files are written")
    parser.add_argument("compiler", nargs="+", metavar="COMPILER", help="a C compiler and its options")
    options = parser.parse_args()
    interface = Interface(headers_in(options.headers), preprocessed(options.compiler, options.headers))
    os.makedirs(options.into, exist_ok=True)
    for name, lines in (
        ("interface_h.pxd", cython_declarations(interface)),
        ("calls.pxi", cython_calls(interface)),
        ("structs.pxi", cython_structs(interface)),
        ("fields.pyi", stubs(interface)),
    ):
        with open(os.path.join(options.into, name), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
