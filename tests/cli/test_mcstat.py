"""mcstat: likelihoods by its formula, minima in closed form, and what is refused."""

import copy
import json
import math
import os
import random
import subprocess

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PARITAS = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))


def run(tmp_path, command, document, *arguments):
    path = tmp_path / "workspace.json"
    path.write_text(json.dumps(document))
    words = [PARITAS, *command.split(), str(path), *map(str, arguments), "--json", "--device", "cpu"]
    done = subprocess.run(words, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def modifier(name, kind, data=None):
    return {"name": name, "type": kind, "data": data}


def document(channels, observed, parameters=()):
    """channels: by name, (data, modifiers) a sample"""
    config = {"poi": "r", "parameters": list(parameters)}
    return {
        "channels": [
            {
                "name": name,
                "samples": [
                    {"name": f"sample_{k}", "data": data, "modifiers": modifiers}
                    for k, (data, modifiers) in enumerate(samples)
                ],
            }
            for name, samples in channels.items()
        ],
        "observations": [{"name": name, "data": data} for name, data in observed.items()],
        "measurements": [{"name": "m", "config": config}],
        "version": "1.0.0",
    }


R = modifier("r", "normfactor")


def example():
    """Two channels with errors, one with a staterror; a shapesys on a sample with errors, a bin without."""
    jes = modifier("jes", "normsys", {"hi": 1.2, "lo": 0.85})
    return document(
        {
            "A": [
                ([3.0, 5.0, 0.0], [R, jes, modifier("prop_A", "mcstat", [0.5, 0.4, 0.3])]),
                (
                    [20.0, 12.0, 6.0],
                    [
                        jes,
                        modifier("shape", "histosys", {"hi_data": [23, 11, 7], "lo_data": [18, 12.5, 5]}),
                        modifier("prop_A", "mcstat", [2.0, 1.5, 1.1]),
                        modifier("extra", "shapesys", [2.0, 1.0, 0.9]),
                    ],
                ),
                ([4.0, 2.0, 1.0], [modifier("scale", "normfactor")]),
            ],
            "B": [
                ([2.0, 0.0], [R, modifier("scale", "normfactor"), modifier("prop_B", "mcstat", [0.7, 0.0])]),
                ([9.0, 3.0], [jes]),
            ],
            "C": [([30.0], [jes, modifier("stat_C", "staterror", [2.0])]), ([5.0], [R])],
        },
        {"A": [25, 22, 4], "B": [12, 2], "C": [37]},
    )


def power_of_polynomial(hi, lo, a):
    """normsys code 4"""
    if a >= 1 or a <= -1:
        return hi**a if a > 0 else lo**-a
    up, down = math.log(hi), math.log(lo)
    sides = [(hi, hi * up, hi * up * up), (lo, -lo * down, lo * down * down)]
    even, even1, even2 = (0.5 * (sides[0][k] + (-1) ** k * sides[1][k]) for k in range(3))
    odd, odd1, odd2 = (0.5 * (sides[0][k] - (-1) ** k * sides[1][k]) for k in range(3))
    even -= 1
    c5 = (odd2 - 3 * (odd1 - odd)) / 8
    c3 = 0.5 * (odd1 - odd) - 2 * c5
    c6 = (even2 - 5 * even1 + 8 * even) / 8
    c4 = 0.5 * (even1 - 2 * even) - 2 * c6
    c = [1, odd - c3 - c5, even - c4 - c6, c3, c4, c5, c6]
    return sum(c[k] * a**k for k in range(7))


def shifted(nominal, hi, lo, a):
    """histosys code 4p"""
    even = 3 * a**6 - 10 * a**4 + 15 * a**2 if abs(a) < 1 else 8 * abs(a)
    return 0.5 * (hi - lo) * a + (hi + lo - 2 * nominal) / 16 * even


def rates(channel, point):
    bins = range(len(channel["samples"][0]["data"]))
    total, squares, gamma = [0.0 for _ in bins], [0.0 for _ in bins], None
    for sample in channel["samples"]:
        factor, base, own = 1.0, list(sample["data"]), [1.0 for _ in bins]
        for one in sample["modifiers"]:
            kind, name, data = one["type"], one["name"], one["data"]
            if kind == "normfactor":
                factor *= point[name]
            elif kind == "normsys":
                factor *= power_of_polynomial(data["hi"], data["lo"], point[name])
            elif kind == "histosys":
                for b in bins:
                    hi, lo = data["hi_data"][b], data["lo_data"][b]
                    base[b] += shifted(sample["data"][b], hi, lo, point[name])
            elif kind in ("shapesys", "staterror"):
                own = [own[b] * point[f"{name}[{b}]"] for b in bins]
        for b in bins:
            total[b] += base[b] * factor * own[b]
        for one in sample["modifiers"]:
            if one["type"] == "mcstat":
                gamma = one["name"]
                squares = [squares[b] + (factor * one["data"][b]) ** 2 for b in bins]
    if gamma is None:
        return total
    return [max(total[b] + point[f"{gamma}[{b}]"] * math.sqrt(squares[b]), 1e-9) for b in bins]


def two_nll_of_data(workspace, point):
    """without constraints"""
    observed = {one["name"]: one["data"] for one in workspace["observations"]}
    sum_of = 0.0
    for channel in workspace["channels"]:
        for n, rate in zip(observed[channel["name"]], rates(channel, point)):
            sum_of += 2 * (rate - n * math.log(rate) + math.lgamma(n + 1))
    return sum_of


def two_nll_of_constraints(point):
    """of the example, up to a constant"""
    value = sum(x * x for name, x in point.items() if name.startswith(("jes", "shape", "prop")))
    value += ((point["stat_C[0]"] - 1) / (2 / 30)) ** 2
    for b, tau in enumerate([(20 / 2) ** 2, (12 / 1) ** 2, (6 / 0.9) ** 2]):
        mean = tau * point[f"extra[{b}]"]
        value += 2 * (mean - tau * math.log(mean))
    return value


def start_of(tmp_path, workspace):
    code, answer, error = run(tmp_path, "nll", workspace)
    assert code == 0, error
    return {one["name"]: one["value"] for one in answer["parameters"]}


def test_the_likelihood_is_the_formula(tmp_path):
    workspace, draw = example(), random.Random(7)
    start, offsets = start_of(tmp_path, workspace), []
    for k in range(12):
        point = {name: value + (draw.gauss(0, 0.7) if k else 0) for name, value in start.items()}
        for name in point:
            if name.startswith(("extra", "stat")):
                point[name] = 1 + 0.1 * draw.gauss(0, 1)
        if k == 5:
            point["r"] = 0.0
        (tmp_path / "point.json").write_text(json.dumps(point))
        code, answer, error = run(
            tmp_path, "nll", workspace, "--point", tmp_path / "point.json", "--gradient", "--expected"
        )
        assert code == 0, error
        found = [rate for channel in workspace["channels"] for rate in rates(channel, point)]
        assert answer["expected_main"] == pytest.approx(found, rel=1e-13)
        own = two_nll_of_data(workspace, point) + two_nll_of_constraints(point)
        offsets.append(answer["twice_nll"] - own)
    assert max(offsets) - min(offsets) < 1e-11


def test_a_fit_with_all_statistics_converges(tmp_path):
    workspace = example()
    for command in ("fit", "limit", "significance", "hypotest-toys --mu 0.5 --ntoys 50", "gof --ntoys 50"):
        code, answer, error = run(tmp_path, command, workspace)
        assert code == 0, (command, error)
    code, answer, error = run(tmp_path, "predict", workspace)
    assert code == 0, error


# samples of one bin, counts, the best gamma
EDGES = {
    "inside": ([4.0], [1.0], 0, -1.0),
    "at the edge": ([0.2], [0.7], 0, -0.2 / 0.7),
    "below without errors": ([-0.2], [0.7], 0, 0.0),
}


@pytest.mark.parametrize("case", EDGES)
def test_an_empty_bin_ends_at_its_closed_form(tmp_path, case):
    """n = 0: lambda + gamma^2 / 2 with lambda = s + gamma e, or 0 at least"""
    data, errors, count, gamma = EDGES[case]
    workspace = document(
        {
            "A": [(data, [modifier("prop", "mcstat", errors)])],
            "B": [([10.0], [R])],
        },
        {"A": [count], "B": [11]},
    )
    code, answer, error = run(tmp_path, "fit", workspace)
    assert code == 0 and answer["status"] == "converged", error
    best = {one["name"]: one["value"] for one in answer["parameters"]}
    assert best["prop[0]"] == pytest.approx(gamma, abs=1e-6)
    assert best["r"] == pytest.approx(1.1, rel=1e-6)


def test_a_signal_strength_of_zero_is_a_minimum(tmp_path):
    """a bin with nothing but signal, and errors of the signal alone"""
    workspace = document(
        {
            "A": [
                ([4.0, 3.0], [R, modifier("prop", "mcstat", [1.0, 0.5])]),
                ([0.0, 20.0], [modifier("scale", "normsys", {"hi": 1.1, "lo": 0.9})]),
            ]
        },
        {"A": [0, 21]},
    )
    code, answer, error = run(tmp_path, "fit", workspace)
    assert code == 0 and answer["status"] == "converged", error
    best = {one["name"]: one for one in answer["parameters"]}
    assert best["r"]["value"] == 0 and best["r"]["state"] == "at_lower_bound"
    assert best["prop[0]"]["value"] == pytest.approx(0, abs=1e-6)


def edit_errors(workspace, channel, sample, change):
    for one in workspace["channels"][channel]["samples"][sample]["modifiers"]:
        if one["type"] == "mcstat":
            change(one)


REFUSED = {
    "a negative error": (
        lambda w: edit_errors(w, 0, 1, lambda m: m["data"].__setitem__(2, -0.5)),
        "channels[0].samples[1].modifiers[2].data[2]: an error must not be negative, found -0.5",
    ),
    "too few bins": (
        lambda w: edit_errors(w, 0, 1, lambda m: m["data"].pop()),
        "channels[0].samples[1].modifiers[2].data: must have 3 bins, as its sample, found 2",
    ),
    "a name in two channels": (
        lambda w: edit_errors(w, 1, 0, lambda m: m.update(name="prop_A")),
        'channels[1].samples[0].modifiers[2].name: the mcstat "prop_A" is also in channels[0]',
    ),
    "two names in a channel": (
        lambda w: edit_errors(w, 0, 1, lambda m: m.update(name="other")),
        'channels[0].samples[1].modifiers[2].name: a channel has one mcstat, here "prop_A", found "other"',
    ),
    "a name of another type": (
        lambda w: edit_errors(w, 0, 0, lambda m: m.update(name="jes")),
        'the name "jes" of this mcstat is also that of the normsys',
    ),
    "a factor a bin": (
        lambda w: w["channels"][0]["samples"][1]["modifiers"][1]["data"].update(interpcode="code1"),
        "a histosys of code 1, 5 or 6 and an mcstat cannot act in one channel",
    ),
    "a shape with a total": (
        lambda w: w["channels"][0]["samples"][1].update(shape={"minimum": 1e-9, "total": 30.0}),
        "a sample whose shape has a total cannot have an mcstat",
    ),
    "a shared shapefactor": (
        lambda w: [
            w["channels"][c]["samples"][1]["modifiers"].append(modifier("free", "shapefactor"))
            for c in (0, 1)
        ],
        'a shapefactor that the channel "B" has, too, and an mcstat cannot act in one channel',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_by_name(tmp_path, case):
    change, message = REFUSED[case]
    workspace = copy.deepcopy(example())
    change(workspace)
    code, _, error = run(tmp_path, "nll", workspace)
    assert code == 3 and message in error, error
