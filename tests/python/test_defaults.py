"""One default an option: the library's structs in C, its descriptions, the program's help and Python's
signatures agree."""

import inspect
import math
import os
import re
import subprocess

import pytest

paritas = pytest.importorskip("paritas")
from paritas import _engine, kappa, losscone  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))

#: structs of options, commands that show theirs in full, functions of Python, and keywords that these set
STRUCTS = [
    ("paritas_losscone_options", ["losscone fit", "losscone inject"],
     [losscone.fit, losscone.profile, losscone.misfit, losscone.model], {"response", "first"}),
    ("paritas_kappa_options", ["kappa fit", "losscone fit"], [kappa.fit, kappa.misfit], set()),
    ("paritas_potential_options", ["kappa fit", "losscone fit"],
     [kappa.shade_currents, kappa.spacecraft_potential], set()),
]  # fmt: skip
#: structs whose options are written out in Python: functions, and keywords of other names
WRITTEN = [
    ("paritas_limit_request", "limit", paritas.upper_limit, {"statistic": "test_stat"}),
    ("paritas_limit_toys_request", "limit", paritas.upper_limit_toys, {"statistic": "test_stat"}),
    ("paritas_interval_toys_request", "interval", paritas.interval_toys, {}),
    ("paritas_fit_options", "fit", paritas.fit, {"start_is_near": ""}),
    ("paritas_toys_options", "hypotest-toys", paritas.hypotest_toys,
     {"n": "", "shard": "", "shards": "", "newton_only": "", "importance": "", "algo": ""}),
    ("paritas_job", "hypotest", paritas.hypotest, {}),
    ("paritas_contour_request", "contour", paritas.contour, {"n_points": "points"}),
    ("paritas_look_elsewhere_request", "look-elsewhere", paritas.look_elsewhere, {"upcrossed": ""}),
]  # fmt: skip
#: commands, and the functions of Python that answer the same question
SAME = [
    ("fit", paritas.fit),
    ("scan", paritas.scan),
    ("contour", paritas.contour),
    ("hypotest", paritas.hypotest),
    ("hypotest-toys", paritas.hypotest_toys),
    ("toys", paritas.fit_toys),
    ("limit", paritas.upper_limit),
    ("limit", paritas.upper_limit_toys),
    ("interval", paritas.interval_toys),
    ("significance", paritas.significance),
    ("significance", paritas.significance_toys),
    ("look-elsewhere", paritas.look_elsewhere),
    ("ranking", paritas.ranking),
    ("gof", paritas.goodness_of_fit),
    ("gof", paritas.goodness_of_fit_toys),
    ("compatibility", paritas.compatibility_toys),
    ("predict", paritas.predict),
    ("losscone fit", losscone.fit),
    ("losscone fit", losscone.load),
    ("losscone fit", losscone.bootstrap),
    ("losscone profile", losscone.profile),
    ("kappa fit", kappa.fit),
    ("kappa fit", kappa.spacecraft_potential),
]
#: keywords that mean another thing: a profile in Python has one response, the program's table has both
OTHERS = {("losscone profile", "response")}
WORDS = {"n": "--ntoys", "response": "--channel-width", "theta_lower": "--speed-lower"}
WORDS["theta_upper"] = "--speed-upper"


def rows_of(command):
    """{option: (its text, its default or None)} of a command's help."""
    done = subprocess.run([PROGRAM, *command.split(), "--help"], capture_output=True, text=True, check=True)
    rows = {}
    for name, text in re.findall(r"^  (?:-\w, )?(--[\w-]+)(.*(?:\n {8,}.*)*)", done.stdout, re.M):
        text = " ".join(text.split())
        default = re.search(r"default: ([^;]*)", text)
        rows[name] = text, default and default[1]
    return rows


COMMANDS = re.findall(
    r"^  ([a-z][a-z-]*(?: [a-z]+)?)  ",
    subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout,
    re.M,
)


def refusal(command, *arguments):
    """Of options alone, before any file is read; what an option needs is given too."""
    usage = subprocess.run([PROGRAM, *command.split(), "--help"], capture_output=True, text=True).stdout
    operands = re.findall(r"(?<= )[A-Z]+", usage.split(" [options]")[0])
    done = subprocess.run(
        [PROGRAM, *command.split(), *operands, *arguments], capture_output=True, text=True, timeout=60
    )
    needed = re.fullmatch(r"paritas: --\S+ needs (--\S+(?: [a-z]+)?)( or --.*| [A-Z/]+)?\n", done.stderr)
    if needed:
        value = ["1"] if needed[2] and needed[2].strip().isupper() else []
        return refusal(command, *arguments, *needed[1].split(), *value)
    assert done.returncode == 2 and done.stdout == "", (command, arguments, done.stderr)
    return done.stderr


def beyond(option):
    """Numbers just out of an option's bounds."""
    for bound, step in ((option.lower, -1), (option.upper, 1)):
        if bound is not None:
            value, allowed = bound
            value += step * allowed
            yield f"{value:.15g}" if option.kind == "real" else f"{value:.0f}"


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def same(shown, default):
    """Does a help's default say this value? One in words ("one a processor") says nothing of a number."""
    if isinstance(default, str):
        return shown == default
    return number(shown) is None or math.isclose(number(shown), default, rel_tol=1e-15)


@pytest.mark.parametrize("name", [one[0] for one in STRUCTS])
def test_the_struct_has_the_defaults_of_its_description(name):
    values = _engine.option_values(name, {})
    described = _engine.options(name)
    assert set(values) == {"size", *described}
    for option in described.values():
        default = values[option.name]
        if option.kind == "word":
            default = next(w for w, n in _engine.enumeration(option.enumeration).items() if n == default)
        assert default == option.default, option.name


@pytest.mark.parametrize("name, commands, functions, set_there", STRUCTS)
def test_every_option_has_its_default_in_the_help_and_in_python(name, commands, functions, set_there):
    described = _engine.options(name)
    for command in commands:
        rows = rows_of(command)
        for option in filter(lambda one: one.word, described.values()):
            text, default = rows[option.word]
            assert option.doc in text and same(default, option.default), (command, option.word, text)
    for function in functions:
        shown = inspect.signature(function).parameters
        for option in described.values():
            if option.name in set_there:
                continue
            assert shown[option.name].default == option.default, (function, option.name)
            assert f"    {option.name}: {option.doc}" in function.__doc__


def test_every_command_names_the_option_whose_number_is_out_of_bounds():
    described = {}
    for name in [*(one[0] for one in STRUCTS + WRITTEN), "paritas_synthetic_options"]:
        for option in _engine.options(name).values():
            described.setdefault(option.word, []).append(option)
    refused = set()
    for command in COMMANDS:
        for word, (text, _) in rows_of(command).items():
            for option in described.get(word, []):
                if not text.split("; default: ")[0].endswith(option.doc) or option.kind == "word":
                    continue
                for value in beyond(option):
                    assert refusal(command, word, value).startswith(f"paritas: {word} "), (command, value)
                    refused.add(word)
    assert refused >= {"--ntoys", "--level", "--rtol", "--population", "--background", "--speed-lower"}


@pytest.mark.parametrize("name, command, function, keywords", WRITTEN)
def test_defaults_that_are_written_out_are_the_library_s(name, command, function, keywords):
    rows, shown = rows_of(command), inspect.signature(function).parameters
    for option in _engine.options(name).values():
        if option.word:
            text, default = rows.get(option.word) or rows_of("gof")[option.word]
            assert option.doc in text, (option.word, text)
            assert default is None or same(default, option.default), (option.word, text)
        keyword = keywords.get(option.name, option.name)
        if keyword:
            assert shown[keyword].default == option.default, (function, keyword)


@pytest.mark.parametrize("command, function", SAME)
def test_a_command_and_its_function_have_the_same_defaults(command, function):
    rows = rows_of(command)
    compared = 0
    for parameter in inspect.signature(function).parameters.values():
        word = "--" + parameter.name.replace("_", "-")
        if kappa.__name__ == function.__module__ or word not in rows:
            word = WORDS.get(parameter.name, word)
        shown = rows.get(word, ("", None))[1]
        if shown is None or parameter.default in (None, inspect.Parameter.empty):
            continue
        if (command, parameter.name) in OTHERS:
            continue
        if parameter.default == 0 and parameter.name in ("max_iterations", "starts", "population", "n"):
            continue  # 0: the library's own, which the help says in words
        if not isinstance(parameter.default, (tuple, bool)):
            compared += 1
            assert same(shown.split(". ")[0], parameter.default), (word, shown, parameter.default)
    assert compared or command in ("scan", "ranking", "predict", "significance", "gof")
