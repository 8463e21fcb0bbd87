"""The generator and the measurement themselves: the same workspaces everywhere, legal, toys drawn anew."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import paritas  # noqa: E402

import hard_models  # noqa: E402
import lowest  # noqa: E402
import measure  # noqa: E402
import toy_data  # noqa: E402

PROGRAM = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
DIGESTS = {"ordinary": "4d993b7a340b23cb", "hard": "5271b9762c615f8f"}  # of 50 seeds


def model_of(made, folder):
    return paritas.Model.from_workspace(hard_models.write(str(folder), made), **made.codes)


@pytest.mark.parametrize("family", hard_models.FAMILIES)
def test_a_seed_gives_the_same_workspace_everywhere(family):
    digest = hashlib.sha256()
    for seed in range(50):
        digest.update(json.dumps(hard_models.generate(family, seed), sort_keys=True).encode())
    assert digest.hexdigest()[:16] == DIGESTS[family]


@pytest.mark.parametrize("family", hard_models.FAMILIES)
def test_generated_workspaces_are_legal(family, tmp_path):
    for seed in range(20):
        path = hard_models.write(str(tmp_path), hard_models.generate(family, seed))
        done = subprocess.run([PROGRAM, "inspect", path], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("family", hard_models.FAMILIES)
def test_pyhf_has_the_same_likelihood(family, tmp_path):
    pyhf = pytest.importorskip("pyhf")
    for seed in range(0, 60, 4):
        made = hard_models.generate(family, seed)
        codes = {"normsys": 4, "histosys": "4p"}
        codes.update({key.partition("_")[0]: code for key, code in made.codes.items()})
        settings = {name: {"interpcode": f"code{code}"} for name, code in codes.items()}
        document = pyhf.Workspace(made.workspace)
        other, model = document.model(modifier_settings=settings), model_of(made, tmp_path)
        start = np.array(model.suggested_init)
        here = model.twice_nll(start)
        there = -2.0 * float(np.squeeze(other.logpdf(start, document.data(other))))
        assert list(model.parameter_names) == list(other.config.par_names)
        counts = np.maximum(model.data, 1.0)
        rounding = 1e-15 * float(np.sum(counts * np.log(counts)))  # of pyhf, whose terms are as large
        if np.isfinite(here):
            assert here == pytest.approx(there, rel=1e-9, abs=1e-6 + rounding)


def test_families_have_the_traits_that_they_promise():
    seen = {trait for seed in range(200) for trait in hard_models.generate("hard", seed).traits}
    assert {
        "tiny rates",
        "huge rates",
        "empty bins",
        "negative templates",
        "variations to one side",
        "tiny shapesys",
        "huge shapesys",
        "degenerate factors",
        "a parameter of interest that does nothing",
        "data: zero",
    } <= seen


def test_toys_are_drawn_anew_as_the_program_draws_them(tmp_path):
    for seed in range(3):
        made = hard_models.generate("ordinary", seed)
        model = model_of(made, tmp_path)
        toys = model.hypotest_toys(1.0, n=10, seed=3, device="cpu").toys
        widths = toy_data.widths(model, made.workspace)
        for hypothesis, purpose in ((1.0, 0), (0.0, 1)):
            expected = model.asimov_data(hypothesis)
            rows = toys[toys["hypothesis"] == hypothesis]
            data = np.array([toy_data.draw(expected, widths, 3, purpose, int(row["toy"])) for row in rows])
            fits = model.fit_batch(data, device="cpu")
            assert fits.twice_nll == pytest.approx(rows["twice_nll_free"], abs=1e-5)


def test_the_reference_finds_a_point_below_the_suggested_starts_minimum(tmp_path):
    """A conditional fit of seed 35, with two minima."""
    made = hard_models.generate("ordinary", 35)
    reference = lowest.Reference(hard_models.write(str(tmp_path), made), made.codes, 40)
    found = reference.lowest(5.0)
    one = lowest.Reference(hard_models.write(str(tmp_path), made), made.codes, 1).lowest(5.0)
    assert found.value < one.value - 1.0
    assert found.value == pytest.approx(reference.model.twice_nll(found.points[0]), abs=1e-9)


def test_cls_of_the_lowest_minima_is_the_programs_where_there_is_one_minimum(tmp_path):
    made = hard_models.generate("ordinary", 0)
    path = hard_models.write(str(tmp_path), made)
    known = lowest.Known(lowest.Reference(path, made.codes, 5))
    answer = measure.Program(PROGRAM, path, made.options())("hypotest", "--mu", "1.5")
    assert known.cls(1.5) == pytest.approx(answer["CLs_obs"], abs=1e-7)
