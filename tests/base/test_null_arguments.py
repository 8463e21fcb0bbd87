"""Every public function answers a NULL: it refuses it by its name, or its header says that NULL is allowed.

The calls are made from the headers (null_calls.py), so a new function is tested as soon as it is declared."""

import math
import os
import re
import shlex
import subprocess

import null_calls
import pytest

ROOT = null_calls.ROOT
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
BUILD = os.path.dirname(os.path.dirname(os.path.abspath(PROGRAM)))
LIBRARY = os.path.join(BUILD, "libparitas.so")
FUNCTIONS = list(null_calls.functions(null_calls.headers()))
INVALID_ARGUMENT = -2

pytestmark = pytest.mark.skipif(not os.path.exists(LIBRARY), reason="the build has no shared library")


def compiler():
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        cache = file.read()
    found = dict(re.findall(r"^(CMAKE_C_COMPILER|CMAKE_C_FLAGS):\w+=(.*)$", cache, re.M))
    return [found["CMAKE_C_COMPILER"], *shlex.split(found.get("CMAKE_C_FLAGS", ""))]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """[(call, what it answered)] of all calls"""
    folder = tmp_path_factory.mktemp("calls")
    text, calls = null_calls.program()
    (folder / "calls.c").write_text(text)
    (folder / "geometry.csv").write_text("spectrum,polarity\n1,1\n")
    include = "-I" + os.path.join(ROOT, "include")
    link = [LIBRARY, "-Wl,-rpath," + BUILD, "-lm"]
    command = [*compiler(), "-std=gnu17", "-O0", "-w", include, "calls.c", "-o", "calls", *link]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run(["./calls"], cwd=folder, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stderr
    said = dict(re.findall(r"^(\d+) ((?:status|value|signal) .*)$", done.stdout, re.M))
    assert len(said) == len(calls)
    return [(call, said[str(k)]) for k, call in enumerate(calls)]


def of_function(answers, function):
    found = [(call, answer) for call, answer in answers if call.function.name == function.name]
    assert found or not any(one.is_pointer for one in function.arguments), "no call was made of it"
    return found


def says_nothing(value):
    """NULL, no text, 0 or NaN; -1: no number of a parameter or of a response"""
    if value in ("NULL", "empty"):
        return True
    try:
        return float(value) in (0.0, -1.0) or math.isnan(float(value))
    except ValueError:
        return False


# What answers NULL otherwise, as its header says.
OTHERWISE = {
    "paritas_precision_name": "f64",
    "paritas_polish_name": "none",
    "paritas_quality_flags": "1",  # PARITAS_QUALITY_NO_FIT
    "paritas_losscone_flags": "1",
    "paritas_error_message": "context: must not be NULL; paritas_open gives one unless memory runs out",
}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_no_null_is_a_crash(answers, function):
    crashed = [
        (call.kind, call.missing) for call, answer in of_function(answers, function) if "signal" in answer
    ]
    assert crashed == []


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_null_is_refused_by_its_name_or_allowed_by_the_header(answers, function):
    arguments = {one.name: one for one in function.arguments}
    for call, answer in of_function(answers, function):
        kind, _, value = answer.partition(" ")
        if call.kind not in ("argument", "element") or kind == "signal":
            continue
        one = arguments[call.missing]
        if one.elements_or_null if call.kind == "element" else one.or_null:
            assert f"{call.missing}: must not be NULL" not in value
        elif function.has_status:
            named = call.missing + ("[0]" if call.kind == "element" else "")
            status, _, message = value.partition(" ")
            assert int(status) == INVALID_ARGUMENT, call.missing
            # paritas_open has no context that could say it
            assert message.startswith(f"{named}: ") or function.name == "paritas_open"
        else:
            assert says_nothing(value) or value == OTHERWISE.get(function.name), call.missing


def test_the_test_sees_what_a_header_says():
    text = """
PARITAS_API paritas_status paritas_new(paritas_context *context, const double *PARITAS_OR_NULL data,
                                       const char *const *names, double theta[88], size_t n);
PARITAS_API const char *paritas_new_name(void);
"""
    new, name = null_calls.functions(text)
    assert [(one.name, one.or_null, one.is_pointer) for one in new.arguments] == [
        ("context", False, True),
        ("data", True, True),
        ("names", False, True),
        ("theta", False, True),
        ("n", False, False),
    ]
    assert new.has_status and not name.has_status and name.arguments == ()
