"""Look-elsewhere effect: closed forms, identities, upcrossings, the program."""

import hashlib
import json
import os
import subprocess

import numpy as np
import pytest

paritas = pytest.importorskip("paritas")

N = 8
OBSERVED = [50.0, 52.0, 70.0, 55.0, 51.0, 44.0, 54.0, 47.0]


def background(rates=(50.0,) * N, observed=OBSERVED, modifiers=()):
    """A signal region, and a free factor elsewhere: a model has at least one parameter."""
    factor = {"name": "factor", "type": "normfactor", "data": None}
    return {
        "channels": [
            {"name": "sr", "samples": [{"name": "b", "data": list(rates), "modifiers": list(modifiers)}]},
            {"name": "cr", "samples": [{"name": "x", "data": [90.0], "modifiers": [factor]}]},
        ],
        "observations": [{"name": "sr", "data": list(observed)}, {"name": "cr", "data": [90.0]}],
        "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": []}}],
        "version": "1.0.0",
    }


def signal(rates, modifiers=()):
    """A JSON patch."""
    mu = {"name": "mu", "type": "normfactor", "data": None}
    sample = {"name": "s", "data": list(rates), "modifiers": [mu, *modifiers]}
    return [{"op": "add", "path": "/channels/0/samples/0", "value": sample}]


def normsys(name, effect):
    return {"name": name, "type": "normsys", "data": {"hi": 1 + effect, "lo": 1 - effect}}


def bump(k, n=N, height=10.0, width=0.0):
    bins = np.arange(n)
    return height * (np.exp(-((bins - k) ** 2) / (2 * width**2)) if width else 1.0 * (bins == k))


def models_of(spec, patches):
    return [paritas.Model.from_workspace(spec, patch) for patch in patches]


def poisson_tail(n, rate):
    terms = np.cumsum(np.log(rate) - np.log(np.arange(1, n)))
    return 1.0 - np.exp(-rate) * (1.0 + np.exp(terms).sum())


def test_independent_bins_have_the_closed_form():
    spec = background()
    found = paritas.look_elsewhere(spec, models_of(spec, [signal(bump(k)) for k in range(N)]), 10000, 1)
    local = poisson_tail(70, 50.0)
    wanted = 1 - (1 - local) ** N
    assert found.converged and found.n == 10000 and found.point == 2
    assert abs(found.p_global - wanted) < 3 * found.p_global_error
    assert abs(found.p_local_toys - local) < 3 * found.p_local_toys_error
    assert found.trial_factor == pytest.approx(found.p_global / found.p_local_toys, rel=1e-12)
    assert abs(found.trial_factor - wanted / local) < 3 * found.trial_factor_error
    assert found.Z_global < found.Z_local and np.isnan(found.upcrossings)


def test_one_signal_many_times_has_the_trial_factor_1():
    spec = background(modifiers=[normsys("xs", 0.05)])
    found = paritas.look_elsewhere(spec, models_of(spec, [signal(bump(2))] * 3), 500)
    assert found.trial_factor == 1.0 and found.trial_factor_error == 0.0
    assert found.p_global == found.p_local_toys == found.points.p_local_toys[2]


def test_a_toy_depends_on_names_alone():
    """Signals with nuisance parameters of their own, which move those of the background in the order."""
    spec = background(modifiers=[normsys("xs", 0.1)])
    patches = [
        signal(bump(2)),
        signal(bump(2), [normsys("aaa", 0.0)]),
        signal(bump(2, width=1.5), [normsys("aaa", 0.2), normsys("zzz", 0.1), normsys("xs", 0.1)]),
    ]
    models = models_of(spec, patches)
    together = paritas.look_elsewhere(spec, models, 400, 5)
    assert together.points.p_local_toys[0] == together.points.p_local_toys[1]
    for model, p in zip(models, together.points.p_local_toys):
        alone = paritas.look_elsewhere(spec, [model], 400, 5)
        assert alone.p_global == alone.p_local_toys == p and alone.trial_factor == 1.0
    backward = paritas.look_elsewhere(spec, models[::-1], 400, 5)
    assert backward.points.p_local_toys.tolist() == together.points.p_local_toys[::-1].tolist()
    assert backward.p_global == together.p_global


def test_threads_make_no_difference():
    spec = background(modifiers=[normsys("xs", 0.1)])
    models = models_of(spec, [signal(bump(k, width=1.0)) for k in range(3)])
    one, two = (paritas.look_elsewhere(spec, models, 300, 7, threads=n, upcrossed=0.3) for n in (1, 2))
    assert one.to_dict() == two.to_dict()


def test_upcrossings_estimate_a_smooth_search():
    n, places = 30, np.arange(2, 28)
    rates = 40.0 * np.exp(-np.arange(n) / 40)
    observed = np.round(rates + 0.62 * bump(14, n, 30.0, 1.5))
    spec = background(rates, observed)
    models = models_of(spec, [signal(bump(k, n, 30.0, 1.5)) for k in places])
    found = paritas.look_elsewhere(spec, dict(zip(map(str, places), models)), 3000, upcrossed=0.5)
    assert found.largest == "14" and found.upcrossings > 1
    error = np.hypot(found.p_global_error, found.p_upcrossings_error)
    assert abs(found.p_upcrossings - found.p_global) < 3 * error + 0.2 * found.p_global


@pytest.fixture
def files(tmp_path):
    spec = background(modifiers=[normsys("xs", 0.1)])
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    patches = [
        {"metadata": {"name": f"m{k}", "values": [k]}, "patch": signal(bump(k, width=1.0))} for k in (5, 2, 3)
    ]
    about = {"references": {"hepdata": "ins1234567"}, "description": "bumps", "labels": ["mass"]}
    patchset = {
        "metadata": {**about, "digests": {"sha256": digest}},
        "patches": patches,
        "version": "1.0.0",
    }
    (tmp_path / "background.json").write_text(json.dumps(spec))
    (tmp_path / "patches.json").write_text(json.dumps(patchset))
    return tmp_path / "background.json", tmp_path / "patches.json"


def program(*arguments):
    path = os.environ.get("PARITAS_BIN", "build/release/bin/paritas")
    return subprocess.run([path, "look-elsewhere", *map(str, arguments)], capture_output=True, text=True)


def test_the_program_sorts_by_the_patches_number(files):
    spec, patchset = files
    done = program(spec, "--patchset", patchset, "--ntoys", 200, "--seed", 3, "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert [point["values"] for point in answer["points"]] == [[2], [3], [5]]
    patches = paritas.PatchSet(patchset)
    workspace = paritas.Workspace(spec)
    models = {name: patches.apply(workspace, name).model() for name in ("m2", "m3", "m5")}
    ours = paritas.look_elsewhere(spec, models, 200, 3, upcrossed=0.5)
    assert answer["largest"] == ours.largest == "m2" and answer["poi"] == "mu"
    for key in ("p_global", "p_global_error", "q0", "trial_factor", "upcrossings", "p_upcrossings"):
        assert answer[key] == getattr(ours, key)
    assert repr(patches) == "<paritas.PatchSet: 3 patches: m5, m2, m3>"
    for given in (patches, patchset, str(patchset)):
        assert paritas.look_elsewhere(spec, given, 200, 3) == ours
    text = program(spec, "--patchset", patchset, "--ntoys", 200).stdout
    assert "Largest excess: m2" in text and "Trial factor" in text


def test_what_is_no_search_is_refused(files):
    spec, patchset = files
    for more, message in (
        ((), "needs --patchset FILE"),
        (("--patchset", patchset, "--patch-name", "m2"), "has no option --patch-name"),
        (("--patchset", patchset, "--poi", "mu", "--poi", "xs"), "takes one --poi"),
    ):
        done = program(spec, *more)
        assert done.returncode == 2 and message in done.stderr
    model = models_of(background(), [signal(bump(2))])
    for other, message in (
        (background(observed=[50.0] * N), "other data than the background"),
        (background(rates=[50.0] * 7, observed=OBSERVED[:7]), "no channel 'sr' of 8 bins"),
    ):
        with pytest.raises(paritas.Error, match=message):
            paritas.look_elsewhere(other, model, 10)
    with pytest.raises(paritas.Error, match="no parameter of interest"):
        paritas.look_elsewhere(background(), [background()], 10)
    with pytest.raises(paritas.Error, match="n_points: 0"):
        paritas.look_elsewhere(background(), [], 10)
