#!/usr/bin/env python3
"""What users build on, as lines of text: interface.py PROGRAM [--write FILE]

A line is a thing and its parts: a struct in C and its members, a command and its options, keys of its JSON,
columns of its tables, a function in Python and its arguments. `tests/stable/1.0.txt` has those of version
1.0. A later 1.x may add things and parts, and test_stable.py fails if it loses one. Needs a C compiler and
the package in python/."""

import argparse
import csv
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted(path.name for path in (ROOT / "include").glob("*.h"))
TWO = str(ROOT / "examples" / "two_bins.json")
SBOTTOM = ROOT / "examples" / "sbottom_A"
# modules of the package that users import by name; those of torch, JAX, Dask and spey need these
MODULES = [
    "",
    "pyhf",
    "plot",
    "losscone",
    "kappa",
    "steering",
    "convert",
    "differentiable",
    "report",
    "results",
    "unfolding",
]
ANSWERS = [
    f"fit {TWO} --covariance --minos all",
    f"fit {TWO} --starts 3",
    f"nll {TWO} --gradient --expected",
    f"scan {TWO} --start 0 --stop 1 --points 3",
    f"contour {TWO} --par mu --par uncorr_bkguncrt[0] --points 4",
    f"hypotest {TWO} --mu 1",
    f"hypotest {TWO} --mu 0 --test-stat q0",
    f"hypotest {SBOTTOM}/BkgOnly.json --patchset {SBOTTOM}/patchset.json",
    f"hypotest-toys {TWO} --ntoys 100",
    f"toys {TWO} --ntoys 20 --errors",
    f"generate {TWO} --ntoys 2",
    f"limit {TWO}",
    f"limit {TWO} --calc toys --ntoys 100 --rtol 0.5",
    f"interval {TWO} --ntoys 50",
    f"interval {TWO} --calc asymptotic",
    f"significance {TWO}",
    f"significance {TWO} --calc toys --ntoys 100",
    f"ranking {TWO}",
    f"ranking {TWO} --impacts global",
    f"sample {TWO} --draws 50 --warmup 50 --chains 2",
    f"gof {TWO}",
    f"gof {TWO} --toys --ntoys 50",
    f"unfold {ROOT}/examples/unfolding.json --parameters mu_* --scan 5",
    f"predict {TWO}",
    f"inspect {TWO}",
    f"digest {TWO}",
    f"patchset inspect {SBOTTOM}/patchset.json",
    "losscone synthesize -o er --days 1 --sweeps 10",
    "losscone fit er --spacecraft-potential er/truth.csv --geometry er/truth.csv -o losscone",
    "losscone profile er/3D980116.TAB --polarity=-1 --spectrum 5",
    "losscone inject --sweeps 4",
    "kappa fit er --polarity=-1 -o kappa",
]
PATCHES = f"{SBOTTOM}/BkgOnly.json --patchset {SBOTTOM}/patchset.json"
TABLES = {
    "hypotest_patches": f"hypotest {PATCHES}",
    "limit_patches": f"limit {PATCHES}",
    "limit_patches_toys": f"limit {PATCHES} --calc toys --ntoys 20",
    "fit": f"fit {TWO} --minos all",
}


def preprocessed():
    """the headers without comments and macros"""
    text = "".join(f'#include "{name}"\n' for name in HEADERS)
    command = ["cc", "-E", "-P", "-I", str(ROOT / "include"), "-x", "c", "-"]
    found = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    return re.sub(r"__attribute__\s*\(\(.*?\)\)", "", re.sub(r"\s+", " ", found))


def members(body):
    """names of a struct's members"""
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer[1]
            continue
        for part in declaration.split(","):
            name = re.search(r"(\w+)\s*((\[[^]]*\])*)\s*$", part)
            if name:
                yield name[1]


def c_lines():
    text = preprocessed()
    enumerations = re.findall(r"typedef enum (\w+) \{(.*?)\}", text)
    structs = re.findall(r"typedef struct (paritas_\w+) \{(.*?)\} paritas_\w+;", text)
    program = ["#include <stdio.h>", "#include <stddef.h>", *(f'#include "{name}"' for name in HEADERS)]
    program.append('#define E(e, m) printf("C enum %s | %s %d\\n", #e, #m, (int)m);')
    program.append(
        '#define M(s, m) printf("C struct %s | %s at %zu, %zu bytes\\n",'
        " #s, #m, offsetof(s, m), sizeof(((s *)0)->m));"
    )
    program.append("int main(void) {")
    program += [f"E({name}, {one})" for name, body in enumerations for one in re.findall(r"(\w+) =", body)]
    program += [f"M({name}, {member})" for name, body in structs for member in members(body)]
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "layout")
        command = ["cc", "-I", str(ROOT / "include"), "-x", "c", "-", "-o", binary]
        subprocess.run(command, input="\n".join(program) + "\nreturn 0; }", text=True, check=True)
        for line in subprocess.run([binary], capture_output=True, text=True, check=True).stdout.splitlines():
            yield tuple(line.split(" | "))
    for function in re.findall(r"(?<=[;}]) ((?:const )?(?:unsigned )?\w+ [*]*paritas_\w+\([^;{]*\));", text):
        yield "C functions", re.sub(r"([*(]) +", r"\1", function)  # PARITAS_OR_NULL leaves a blank


def option_lines(program):
    def help_of(*words):
        return subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout

    overview = help_of().split("Commands:")[1].split("\n\n")[0]
    for command in re.findall(r"^  (\S+(?: \S+)?)  ", overview, re.M):
        for option in re.findall(r"^  (?:-\w, )?(--[\w-]+)", help_of(*command.split()), re.M):
            yield f"program {command}", option


def key_lines(value, path=""):
    """the keys of a JSON document with the types of their values"""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from key_lines(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for inner in value:
            yield from key_lines(inner, f"{path}[]")
    elif value is not None:
        yield f"{path} {'number' if type(value) in (int, float) else type(value).__name__}"


def documents(text):
    """JSON documents, one after the other"""
    decoder = json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        yield document
        text = text[end:]


def answer_lines(program):
    with tempfile.TemporaryDirectory() as folder:
        for words in ANSWERS:
            command = [program, *words.split(), "--json", "--quiet", "--device", "cpu"]
            if words.split()[0] in ("inspect", "digest", "patchset", "generate") or "synthesize" in words:
                command = command[:-2]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode not in (0, 1):
                raise SystemExit(f"{words}: {done.stderr}")
            for document in documents(done.stdout):
                for key in key_lines(document):
                    yield "JSON " + label(words), key
        os.mkdir(os.path.join(folder, "tables"))
        for name, words in TABLES.items():
            command = [program, *words.split(), "--csv", "--quiet", "-o", f"tables/{name}.csv"]
            subprocess.run(command, cwd=folder, capture_output=True)
        for table in sorted(Path(folder).glob("*/*.csv")):
            rows = (row for row in table.read_text().splitlines() if not row.startswith("#"))
            for column in next(csv.reader(rows)):
                yield "CSV " + re.sub("[0-9-]{10}", "DATE", table.name), column


def label(words):
    """a command line without the folder of this tree"""
    return re.sub(r"\S*/", "", words)


def argument_lines(function, name):
    try:
        arguments = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return
    for place, one in enumerate(arguments):
        if one.name.startswith("_") or one.name == "self":
            continue
        by = one.name if one.kind is one.KEYWORD_ONLY else f"{one.name} at {place}"
        default = "" if one.default is one.empty else f" = {one.default!r}"
        if " at 0x" not in default:
            yield f"Python {name}", by + default


def methods(thing):
    """Names in a class. Those that all exceptions have differ by Python's version, and are not ours."""
    if not inspect.isclass(thing):
        return []
    return sorted(set(dir(thing)) - set(dir(BaseException) if issubclass(thing, BaseException) else ()))


def python_lines():
    sys.path.insert(0, str(ROOT / "python"))
    seen = set()  # what a module has from another
    for part in MODULES:
        name = "paritas" + ("." + part if part else "")
        module = importlib.import_module(name)
        here = set()
        for public in sorted(getattr(module, "__all__", None) or dir(module)):
            thing = getattr(module, public)
            if public.startswith("_") or inspect.ismodule(thing):
                continue
            if not getattr(thing, "__module__", "paritas").startswith("paritas") or id(thing) in seen:
                continue
            here.add(id(thing))
            yield f"Python {name}", public
            if not callable(thing):
                continue
            yield from argument_lines(thing, f"{name}.{public}")
            for method in methods(thing):
                if not method.startswith("_"):
                    yield f"Python {name}.{public}", f".{method}"
                    yield from argument_lines(getattr(thing, method), f"{name}.{public}.{method}")
        seen |= here


def interface(program):
    """{thing: its parts}"""
    found = {}
    for lines in (c_lines(), option_lines(program), answer_lines(program), python_lines()):
        for thing, part in lines:
            found.setdefault(thing, {})[part] = None
    return found


def written(found):
    return "".join(" | ".join([thing, *parts]) + "\n" for thing, parts in found.items())


def read(text):
    lines = [line.split(" | ") for line in text.splitlines()]
    return {thing: dict.fromkeys(parts) for thing, *parts in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--write", metavar="FILE")
    arguments = parser.parse_args()
    text = written(interface(os.path.abspath(arguments.program)))
    if arguments.write:
        Path(arguments.write).write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
