"""null_calls.py: calls of every public function without one of its pointers, made from the headers.

The headers say all that is needed: type and name of each argument, and by PARITAS_OR_NULL which may be NULL.
A call is a line of C. Each runs in a process of its own, so that a crash costs no other call."""

import glob
import os
import re
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Argument(NamedTuple):
    type: str
    name: str
    or_null: bool
    elements_or_null: bool = False

    @property
    def is_pointer(self):
        return "*" in self.type


class Function(NamedTuple):
    name: str
    returns: str
    arguments: tuple

    @property
    def has_status(self):
        return self.returns == "paritas_status"


class Call(NamedTuple):
    function: Function
    kind: str  # what is missing: "none", "argument", "empty", "element", "member"
    missing: str  # its name
    code: str


def headers():
    """the text of the public headers, without comments and continued lines"""
    text = ""
    for path in sorted(glob.glob(os.path.join(ROOT, "include", "*.h"))):
        with open(path, encoding="utf-8") as file:
            text += file.read()
    return re.sub(r"\\\n", " ", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def argument(text):
    """of a prototype: `const double *PARITAS_OR_NULL data`, `double theta[88]`"""
    words = re.fullmatch(r"(.*?)(\w+)(\[\w*\])?", text.replace("PARITAS_OR_NULL ", "").strip(), re.S)
    kind = " ".join((words[1] + ("*" if words[3] else "")).split())
    marked = "PARITAS_OR_NULL " + words[2]
    return Argument(kind, words[2], marked in text, "PARITAS_OR_NULL const" in text)


def functions(text):
    for returns, name, arguments in re.findall(
        r"^PARITAS_API\s+([^;()]*?)(\w+)\(([^;]*?)\);", text, re.M | re.S
    ):
        listed = [] if arguments.strip() == "void" else [argument(one) for one in arguments.split(",")]
        yield Function(name, " ".join(returns.split()), tuple(listed))


def members(text):
    """{struct: [(type, member)]} of the public structs, with those of their lists of options"""
    lists = dict(re.findall(r"^#define (PARITAS_\w+_OPTIONS)\(OPTION, OTHER, S\)(.*)$", text, re.M))
    found = {}
    for name, body in re.findall(r"^typedef struct (paritas_\w+) \{(.*?)^\}", text, re.M | re.S):
        found[name] = []
        for line in body.split(";"):
            for listed in re.findall(r"(PARITAS_\w+_OPTIONS)\(", line):
                others = re.findall(r"OTHER\(\s*S, ([^,]*), (\w+),", lists[listed])
                found[name] += [(kind.strip(), member) for kind, member in others]
            match = re.fullmatch(r"((?:(?:const|struct) )*\w+) ([^(]*)", " ".join(line.split()))
            for one in match[2].split(",") if match else []:
                found[name].append((f"{match[1]} {'*' * one.count('*')}".strip(), one.split("*")[-1].strip()))
    return found


# What a struct needs beside its defaults to be taken for good.
NEEDED = {
    "paritas_fit_answers": ["results = &best"],
    "paritas_minos_request": ["best = numbers", "error = 0.5"],
    "paritas_scan_request": [
        "n_parameters = n_points = 1",
        "parameters = indices",
        "values = numbers",
        "best = &best",
        "points = &scanned",
    ],
    "paritas_interval_request": [
        "n_levels = 1",
        "levels = numbers",
        "best = &best",
        "room = 1",
        "parts = &part",
        "n_parts = &found",
    ],
    "paritas_contour_request": [
        "parameters = indices",
        "n_levels = 1",
        "levels = numbers",
        "best = &best",
        "n_points = 4",
        "points = contour",
        "parts_room = 1",
        "parts = &curve",
        "n_parts = &found",
        "edges_room = 4",
        "edges = contour",
        "n_edges = &found",
    ],
    "paritas_predict_request": ["best = numbers", "covariance = numbers"],
    "paritas_predict_answers": ["before = yields", "after = yields"],
    "paritas_look_elsewhere_request": ["n_points = 1", "models = models", "points = &looked"],
    "paritas_sample_answers": ["parameters = ROOM", "draws = ROOM", "chains = chains"],
    "paritas_sample_options": ["draws = 20", "warmup = 20"],
    "paritas_toys_options": ["n = 20"],
    "paritas_gradient": ["values = ROOM"],
    "paritas_gradient_rows": ["n = 1", "at = numbers", "data = numbers"],
    "paritas_spectrum_request": [
        "cells = &cells",
        "n = 1",
        "energy = flux = cosine = numbers",
        "omni = ROOM",
    ],
    "paritas_cells": ["theta = numbers"],
    "paritas_spectra": ["n = 1", "energy = flux = sensitivity = numbers"],
    "paritas_sweeps": ["n = 1", "energy = potential = cosine = flux = numbers"],
    "paritas_er_attitude": ["n = 1", "time = right_ascension = declination = ROOM"],
    "paritas_er_mag": ["n = 1", "time = field = field_sse = rms = position = position_sse = ROOM"],
    "paritas_names": ["items = names", "count = 1"],
}
MADE = {  # what only the library makes
    "paritas_context": "context",
    "paritas_model": "model",
    "paritas_er_day": "day",
    "paritas_er_geometry": "geometry",
    "paritas_day_sweeps": "day_sweeps",
    "paritas_toy_data": "toy_data",
    "paritas_shared_fits": "shared",
    "paritas_option": "option",
    "paritas_enumeration": "enumeration",
}
OF_NAME = {"patchset": "patchset", "patch": "patch"}  # workspaces
NUMBERS = {("paritas_summarise_draws", "draws"): "4"}
WORDS = {("paritas_options_check", "name"): '"paritas_fit_options"'}
UNMADE = ("paritas_er_spice",)  # SPICE's library is not here
STRUCTS = ("paritas_build", "paritas_parameter_set")  # that functions return
INTEGERS = ("size_t", "unsigned", "int", "uint64_t")


class Writer:
    def __init__(self, text):
        self.text = text
        self.functions = list(functions(text))
        self.members = members(text)
        self.macros = set(re.findall(r"^#define (PARITAS_\w+_DEFAULT)\b", text, re.M))
        self.enumerations = set(re.findall(r"^typedef enum (paritas_\w+)", text, re.M))
        self.statics = {}

    def struct(self, name):
        """a struct as its callers begin with it, and what it needs; four, for arrays"""
        macro = name.upper() + "_DEFAULT"
        sized = ("size_t", "size") in self.members[name]
        begin = macro if macro in self.macros else f"PARITAS_INIT({name})" if sized else "{0}"
        variable = f"a_{name}"
        assign = ""
        for one in NEEDED.get(name, []):
            *these, value = one.split(" = ")
            assign += "".join(f"    {variable}[0].{member} = {value};\n" for member in these)
        self.statics[name] = (f"static {name} {variable}[4] = {{{begin}}};\n", assign)
        return variable

    def value(self, function, one):
        """an argument that the function may take"""
        base = re.sub(r"\bconst\b|\*", "", one.type).strip()
        stars = one.type.count("*")
        if stars == 0:
            if base in INTEGERS:
                return NUMBERS.get((function.name, one.name), "1" if base != "int" else "0")
            assert base == "double" or base in self.enumerations, f"{function.name}: {one}"
            return "0.5" if base == "double" else f"({base})0"
        if stars == 2:
            if "*const *" not in one.type:
                return "ROOM"
            return {"char": "names", "paritas_model": "models", "paritas_er_day": "days"}[base]
        assert stars == 1, f"{function.name}: {one}"
        if base == "paritas_workspace":
            return OF_NAME.get(one.name, "workspace")
        if base in MADE:
            return MADE[base]
        if base == "char":
            return WORDS.get((function.name, one.name), '"nothing"') if "const" in one.type else "ROOM"
        if base == "double" and "const" in one.type:
            return "numbers"
        if base == "void":
            return self.struct("paritas_fit_options")
        if base in self.members:
            return self.struct(base)
        assert base in (*INTEGERS, "double", "unsigned char", *self.enumerations) or base.startswith(
            "paritas_"
        )
        return "ROOM"

    def members_without(self, struct):
        """(member, value): a pointer of a caller's struct withheld, or the count of one that is not there"""
        listed = self.members.get(struct, [])
        for kind, member in listed if ("size_t", "size") in listed else []:
            if "*" in kind:
                yield member, "NULL"
            elif kind == "size_t" and member != "size" and struct not in NEEDED:
                yield member, "1000"

    def call(self, function, values):
        return f"{function.name}({', '.join(values[one.name] for one in function.arguments)})"

    def calls_of(self, function):
        values = {one.name: self.value(function, one) for one in function.arguments}
        pointers = [one for one in function.arguments if one.is_pointer]
        unmade = any(base in one.type for one in pointers for base in UNMADE)
        releases = re.search(r"_(free|close)$", function.name)
        if not unmade and not releases:
            yield Call(function, "none", "", self.call(function, values))
        for one in pointers:
            if not (one.or_null and unmade):
                yield Call(function, "argument", one.name, self.call(function, {**values, one.name: "NULL"}))
            counts = [a.name for a in function.arguments if a.type == "size_t"]
            if counts and not unmade:
                empty = {**values, **{name: "0" for name in counts}, one.name: "NULL"}
                yield Call(function, "empty", one.name, self.call(function, empty))
            if "*const *" in one.type:
                element = {**values, one.name: "(void *)nothing"}
                yield Call(function, "element", one.name, self.call(function, element))
            base = re.sub(r"\bconst\b|\*", "", one.type).strip()
            for member, value in self.members_without(base) if base not in MADE and not unmade else []:
                code = f"(a_{base}[0].{member} = {value}, {self.call(function, values)})"
                yield Call(function, "member", f"{one.name}.{member}", code)

    def calls(self):
        return [call for function in self.functions for call in self.calls_of(function)]


PROGRAM = """#include "paritas.h"
#include "paritas_datacard.h"
#include "paritas_days.h"
#include "paritas_er.h"
#include "paritas_gradient.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"
#include "paritas_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Alignas(64) char room[1 << 22];
#define ROOM ((void *)room)
static double numbers[1 << 16];
static size_t indices[] = {0, 1};
static const char *names[] = {"nothing", "nothing"};
static void *nothing[] = {NULL, NULL};
static paritas_context *context;
static paritas_workspace *workspace, *patchset, *patch, *small;
static paritas_model *model;
static const paritas_model *models[1];
static paritas_er_day *day;
static const paritas_er_day *days[1];
static paritas_day_sweeps *day_sweeps;
static paritas_er_geometry *geometry;
static paritas_toy_data *toy_data;
static paritas_shared_fits *shared;
static const paritas_option *option;
static const paritas_enumeration *enumeration;
static paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
static paritas_scan_point scanned = PARITAS_INIT(paritas_scan_point);
static paritas_interval_part part = PARITAS_INIT(paritas_interval_part);
static paritas_contour_part curve = PARITAS_INIT(paritas_contour_part);
static size_t found;
static paritas_contour_point contour[4] = {PARITAS_INIT(paritas_contour_point)};
static paritas_look_elsewhere_point looked = PARITAS_INIT(paritas_look_elsewhere_point);
static paritas_cells cells = PARITAS_CELLS_DEFAULT;
static paritas_yields yields = {ROOM, ROOM, ROOM, ROOM, ROOM};
static paritas_chain chains[16] = {PARITAS_INIT(paritas_chain)};
STATICS
static void need(paritas_status status)
{
    if (status == PARITAS_OK) return;
    fprintf(stderr, "%s\\n", paritas_error_message(context));
    exit(3);
}

static void make_all(void)
{
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    paritas_truths truths = PARITAS_INIT(paritas_truths);
    double **truth = (double **)((char *)&truths + sizeof(size_t));
    options.threads = 1;
    toys.n = 2;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) numbers[k] = 0.5;
    for (size_t k = 0; (char *)truth < (char *)(&truths + 1); truth++, k += 64) *truth = (double *)ROOM + k;
    need(paritas_open(&options, &context));
    need(paritas_workspace_read(context, BACKGROUND, &workspace));
    need(paritas_workspace_read(context, PATCHSET, &patchset));
    need(paritas_workspace_parse(context, "[]", 2, NULL, &patch));
    need(paritas_workspace_read(context, SMALL, &small));
    need(paritas_model_create(context, small, NULL, &model));
    need(paritas_day_synthesize(context, NULL, NULL, 1, &truths, &day));
    need(paritas_day_prepare(context, NULL, NULL, day, &day_sweeps));
    need(paritas_er_geometry_read(context, "geometry.csv", &geometry));
    need(paritas_generate(context, model, NULL, NULL, &toys, &toy_data));
    need(paritas_shared_fits_create(context, model, NULL, &shared));
    option = paritas_option_list_find("paritas_fit_options")->options;
    enumeration = paritas_enumeration_find("paritas_status");
    models[0] = model;
    days[0] = day;
    cells.theta = numbers;
    memset(room, 0, sizeof room);
NEEDED}

static void status(paritas_status status, const paritas_context *in)
{
    printf("status %d %s\\n", (int)status, paritas_error_message(in));
}
static void text(const char *text)
{
    printf("value %s\\n", !text ? "NULL" : text[0] ? text : "empty");
}
static void pointer(const void *pointer)
{
    text(pointer ? "pointer" : NULL);
}
static void number(double number)
{
    printf("value %g\\n", number);
}

CALLS
static void (*const calls[])(void) = {LISTED};

int main(void)
{
    make_all();
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int k = 0; k < (int)(sizeof calls / sizeof *calls); k++) {
        const pid_t child = fork();
        int ended = 0;
        if (child == 0) {
            alarm(100);
            setvbuf(stdout, NULL, _IOFBF, 1 << 16);
            printf("%d ", k);
            calls[k]();
            fflush(stdout);
            _exit(0);
        }
        waitpid(child, &ended, 0);
        if (WIFSIGNALED(ended)) printf("\\n%d signal %d\\n", k, WTERMSIG(ended));
    }
    return 0;
}
"""


def shown(function):
    """C that prints what a function returns"""
    if function.returns in ("void", *STRUCTS):
        return "{0}; text(NULL);"
    if function.has_status:
        return "status({0}, {1});"
    if "*" in function.returns:
        return ("text" if function.returns == "const char *" else "pointer") + "({0});"
    return "number((double){0});"


def program():
    """(C of a program that makes all calls and prints a line for each, the calls)"""
    writer = Writer(headers())
    calls = writer.calls()
    code = ""
    for k, call in enumerate(calls):
        context = "NULL" if call.missing == "context" else "context"
        code += f"static void call_{k}(void)\n{{\n    {shown(call.function).format(call.code, context)}\n}}\n"
    background = os.path.join(ROOT, "examples", "sbottom_A", "BkgOnly.json")
    text = PROGRAM.replace("STATICS", "".join(one for one, _ in writer.statics.values()))
    text = text.replace("NEEDED}", "".join(two for _, two in writer.statics.values()) + "}")
    text = text.replace("CALLS", code).replace("LISTED", ", ".join(f"call_{k}" for k in range(len(calls))))
    for word, path in (
        ("BACKGROUND", background),
        ("PATCHSET", os.path.join(ROOT, "examples", "sbottom_A", "patchset.json")),
        ("SMALL", os.path.join(ROOT, "examples", "two_bins.json")),
    ):
        text = text.replace(f" {word},", f' "{path}",')
    return text, calls
