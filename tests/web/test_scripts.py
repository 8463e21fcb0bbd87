"""The page's own arithmetic, run in Chromium: triangles, contours, cut patch sets, counts, ticks."""

import json
import math
import random
import re
import subprocess

import page_support as support
import pytest

pytest.importorskip("playwright.sync_api", reason="playwright: tools/setup web")
pytestmark = pytest.mark.skipif(support.chromium_program() is None, reason="there is no Chromium")


@pytest.fixture(scope="module")
def run(browser):
    """run(scripts, expression, argument): a value computed by scripts of the page"""
    page = browser.new_page()

    def value(scripts, expression, argument=None):
        folder = support.ROOT / "web" / "page"
        texts = "\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in scripts)
        return page.evaluate(f"(argument) => {{ {texts}\n return {expression}; }}", argument)

    yield value
    page.close()


def asked(*words):
    return subprocess.run([support.PROGRAM, *words, "--help"], capture_output=True, text=True).stdout


@pytest.mark.skipif(not support.PROGRAM.exists(), reason="no native program to ask")
def test_options_are_those_of_the_programs_help(run):
    commands = re.findall(r"^  ([a-z-]+)  ", asked(), re.MULTILINE)
    assert len(commands) > 25
    for command in commands:
        text = asked(command)
        options = run(["elements", "options"], "helpOf(argument).options", text)
        names = re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE)
        assert [one["name"] for one in options] == names
        words = " ".join(" ".join([one["name"], one["value"], one["about"]]) for one in options)
        listed = text[: text.rindex("\nExit codes")].split("\n")
        lines = "\n".join(line for line in listed if line.startswith("  "))
        assert words.split() == re.sub(r"^  -\w, ", "", lines, flags=re.MULTILINE).split()
        for one in options:
            assert one["group"] and one["about"], one
            assert re.fullmatch(r"|[^ ]+|OLD NEW|none\|outer\|left outer\|right outer", one["value"]), one


@pytest.mark.skipif(not support.PROGRAM.exists(), reason="no native program to ask")
def test_words_and_defaults_of_options(run):
    chosen = "helpOf(argument).options.map((one) => [one.name, wordsOf(one), defaultOf(one)])"
    answer = run(["elements", "options"], chosen, asked("fit"))
    known = {name: (words, default) for name, words, default in answer}
    assert known["--minimizer"] == (["newton", "lbfgsb", "de"], "newton")
    assert known["--normsys-code"] == (["1", "4", "0", "2c", "6", "lnN"], "4")
    assert known["--minos"] == ([], "") and known["--mask"] == ([], "")
    answer = run(["elements", "options"], chosen, asked("sample"))
    known = {name: default for name, _, default in answer}
    assert (known["--target"], known["--level"], known["--chains"]) == ("0.7", "0.9", "16")


def area(a, b, c):
    return abs((b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])) / 2


def circle(a, b, c):
    """centre and squared radius of the circle through three points"""
    d = 2 * (a[0] * (b[1] - c[1]) + b[0] * (c[1] - a[1]) + c[0] * (a[1] - b[1]))
    squares = [p[0] ** 2 + p[1] ** 2 for p in (a, b, c)]
    x = (squares[0] * (b[1] - c[1]) + squares[1] * (c[1] - a[1]) + squares[2] * (a[1] - b[1])) / d
    y = (squares[0] * (c[0] - b[0]) + squares[1] * (a[0] - c[0]) + squares[2] * (b[0] - a[0])) / d
    return x, y, (a[0] - x) ** 2 + (a[1] - y) ** 2


def test_triangles_fill_the_hull_and_no_circle_holds_another_point(run):
    generator = random.Random(1)
    inner = [[generator.uniform(0.01, 0.99), generator.uniform(0.01, 0.99)] for _ in range(60)]
    points = [[0, 0], [1, 0], [0, 1], [1, 1], *inner]
    triangles = run(["contour"], "triangulate(argument)", points)
    assert sum(area(*(points[k] for k in one)) for one in triangles) == pytest.approx(1, abs=1e-9)
    for one in triangles:
        x, y, r2 = circle(*(points[k] for k in one))
        others = (points[k] for k in range(len(points)) if k not in one)
        assert all((p[0] - x) ** 2 + (p[1] - y) ** 2 > r2 * (1 - 1e-9) for p in others)


def test_the_contour_of_a_plane_is_its_line(run):
    points = [[i / 4, j / 4 + (i % 2) / 50] for i in range(5) for j in range(5)]
    argument = [points, [2 * x + y for x, y in points]]
    pieces = run(
        ["contour"], "contourPieces(argument[0], triangulate(argument[0]), argument[1], 1.23)", argument
    )
    assert len(pieces) > 5
    for piece in pieces:
        for x, y in piece:
            assert 2 * x + y == pytest.approx(1.23, abs=1e-12)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_cut_patch_set_has_the_patches_of_the_whole(run, size):
    text = (support.ROOT / "examples" / "sbottom_A" / "patchset.json").read_text()
    for whole in (
        text,
        json.dumps(json.loads(text), indent=2),
        '{"patches": [], "metadata": {"a": "]}\\""}}',
    ):
        parts = run(["patchset_cut"], "cutPatchset(argument[0], argument[1])", [whole, size])
        documents = [json.loads(part) for part in parts]
        original = json.loads(whole)
        assert [one for document in documents for one in document["patches"]] == original["patches"]
        assert all(document["metadata"] == original["metadata"] for document in documents)
        assert len(parts) == math.ceil(len(original["patches"]) / size)


@pytest.mark.parametrize("name", ["constructor", "__proto__", "toString", "hasOwnProperty"])
def test_names_that_every_object_has_are_no_names_of_a_document(run, name):
    assert run(["elements", "examples"], "EXAMPLES.has(argument)", name) is False
    assert run(["elements"], "own({}, argument) === undefined", name) is True
    document = json.dumps({name: "own"})
    assert run(["elements"], "own(JSON.parse(argument[0]), argument[1])", [document, name]) == "own"


def test_intervals_of_counts_are_garwoods(run):
    # from quantiles of chi-squared; Wilson and Hilferty are within 1 %
    assert run(["figure_yields"], "poissonInterval(0)") == pytest.approx([0, 1.8410], rel=0.01)
    assert run(["figure_yields"], "poissonInterval(10)") == pytest.approx([6.8916, 14.2669], rel=0.01)


@pytest.mark.parametrize("low, high", [(0, 1), (-3, 3), (1e-9, 3e-9), (0, 1e7), (-1e-12, 1e-12)])
def test_ticks_are_round_and_inside(run, low, high):
    ticks = run(["elements", "axes"], "new Scale(argument[0], argument[1], 0, 100).ticks()", [low, high])
    values = [tick["value"] for tick in ticks]
    assert 3 <= len(values) <= 13
    margin = 1e-9 * (high - low)
    assert all(low - margin <= one <= high + margin for one in values)
    assert len({tick["label"] for tick in ticks}) == len(ticks)
    assert all(len(tick["label"]) <= 8 for tick in ticks)
