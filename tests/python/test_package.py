"""The package as its users meet it: models, results, exceptions, progress, copies, memory."""

import copy
import html.parser
import json
import os
import pickle
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from package_support import ANALYSES, SBOTTOM, TREE, TWO, model_of

import paritas

PATCH = SBOTTOM / "patch.sbottom_900_250_60.json"


def resident():
    """kB of memory that this process has."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


# ---- documents and models ----


def test_a_model_comes_from_a_path_a_dict_a_workspace_and_its_text():
    read = paritas.Workspace.read(TWO)
    for given in (
        TWO,
        str(TWO),
        read.to_dict(),
        read,
        paritas.Workspace.loads(TWO.read_text()),
        paritas.Workspace.loads(TWO.read_bytes()),
    ):
        assert paritas.Model.from_workspace(given).parameter_names == [
            "mu",
            "uncorr_bkguncrt[0]",
            "uncorr_bkguncrt[1]",
        ]


def test_patches_come_alone_as_lists_and_from_a_patch_set():
    patch = paritas.Workspace.read(PATCH).to_dict()
    expected = model_of("sbottom").fit().twice_nll
    for given in (PATCH, [PATCH], patch, [patch]):
        assert paritas.Model.from_workspace(SBOTTOM / "BkgOnly.json", given).fit().twice_nll == expected
    patches = paritas.PatchSet(SBOTTOM / "patchset.json")
    assert len(patches) == 10 and "sbottom_900_250_60" in list(patches)
    assert patches.labels == ["m_sbottom", "m_N2", "m_N1"] and list(patches.values) == patches.names
    assert patches.values["sbottom_900_250_60"] == (900, 250, 60)
    assert (
        paritas.Model.from_workspace(patches.apply(SBOTTOM / "BkgOnly.json", "sbottom_900_250_60"))
        .fit()
        .twice_nll
        == expected
    )
    assert (
        patches.to_dict()["metadata"]["digests"]["sha256"]
        == paritas.Workspace.read(SBOTTOM / "BkgOnly.json").digest().partition(":")[2]
    )
    patches.verify(SBOTTOM / "BkgOnly.json")
    with pytest.raises(paritas.InvalidInput):
        patches.verify(TWO)


def test_arrays_of_a_model_are_views_that_cannot_be_written():
    model = model_of("two_bins")
    assert model.data.tolist() == [52.0, 55.0, 277.77777777777777, 36.0] or model.data.shape == (
        model.main_count + model.aux_count,
    )
    for array in (
        model.data,
        model.suggested_init,
        model.lower_bounds,
        model.upper_bounds,
        model.suggested_fixed,
        model.constraint_widths,
    ):
        with pytest.raises(ValueError):
            array[0] = 1


def test_names_taken_out_of_a_models_list_stay_in_the_model():
    model, names = model_of("two_bins"), model_of("two_bins").parameter_names
    model.parameter_names.remove("mu")
    model.fit().names.sort(reverse=True)
    assert model.parameter_names == names == model.fit().names


def test_views_outlive_their_model():
    data = paritas.Model.from_workspace(TWO).data
    others = [paritas.Model.from_workspace(TWO) for _ in range(50)]
    assert data.tolist() == others[0].data.tolist()


def test_there_is_no_model_without_a_workspace():
    with pytest.raises(TypeError):
        paritas.Model.__new__(paritas.Model)


def test_centres_of_constraints_are_where_auxiliary_data_pull():
    """Pulls are measured from there, not from where fits start."""
    model = model_of("two_bins")
    constrained = ~np.isnan(model.constraint_widths)
    assert constrained.any() and np.array_equal(
        model.constraint_centres[constrained], model.suggested_init[constrained]
    )
    assert np.isnan(model.constraint_centres[~constrained]).all()
    workspace = paritas.Workspace(TWO).to_dict()
    workspace["channels"][0]["samples"][0]["modifiers"].append(
        {"name": "shift", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}}
    )
    workspace["measurements"][0]["config"]["parameters"] = [
        {"name": "shift", "inits": [1.0], "auxdata": [0.5]}
    ]
    model = paritas.Model.from_workspace(workspace)
    shift = model.index("shift")
    assert model.suggested_init[shift] == 1.0 and model.constraint_centres[shift] == 0.5
    ranked, fit = model.ranking(), model.fit()
    pulls = (fit.values - model.constraint_centres) / model.constraint_widths
    assert np.allclose(ranked.pull, [pulls[model.index(name)] for name in ranked.names], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["two_bins", "sbottom"])
def test_a_model_survives_pickling_and_copying(name):
    model = paritas.Model.from_workspace(
        ANALYSES[name][0], ANALYSES[name][1] or (), normsys_code=1, histosys_code=0
    )
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is paritas.Model and again.options == model.options
    assert again.fit().twice_nll == model.fit().twice_nll
    assert copy.copy(model) is model and copy.deepcopy([model])[0] is model
    assert pickle.loads(pickle.dumps(model.document)).digest() == model.document.digest()


def test_interpolation_codes_have_pyhf_s_spelling_too():
    path, patches = ANALYSES["sbottom"][0], ANALYSES["sbottom"][1] or ()

    def value(**codes):
        model = paritas.Model.from_workspace(path, patches, **codes)
        return model.twice_nll(model.suggested_init + 0.1)

    usual = value()
    other = value(normsys_code=1, histosys_code=0)
    assert value(normsys_code="code4", histosys_code="code4p") == value(normsys_code="4") == usual
    assert value(normsys_code="code1", histosys_code="code0") == other
    settings = {"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}
    assert value(modifier_settings=settings) == usual
    assert value(modifier_settings={}) == usual != other
    first = {"histosys": {"interpcode": "code0"}}  # unlike in pyhf, normsys keeps its default
    assert value(modifier_settings=first) == value(histosys_code=0) not in (usual, other)
    for short in ({"histosys": "code0"}, {"histosys": 0}):
        assert value(modifier_settings=short) == value(modifier_settings=first)
    for wrong, message in (
        ({"normsis": {}}, "modifier_settings: 'normsis' has no interpolation, only normsys, histosys"),
        ({"normsys": {"code": "code4"}}, "normsys has no setting 'code', only 'interpcode'"),
        ({"normsys": [1]}, "normsys: {'interpcode': 'code1'} or a code is wanted"),
        ("code0", "a dict is wanted"),
        (3, "a dict is wanted"),
    ):
        with pytest.raises(ValueError, match=message):
            value(modifier_settings=wrong)
    with pytest.raises(ValueError, match="not both"):
        value(modifier_settings=settings, normsys_code=1)


@pytest.mark.parametrize("edges", [(1.2, 1e-10), (1e-6, 0.5), (1e7, 0.9), (1.1, 0.9)])
def test_factors_beyond_their_edges_are_the_exponential(edges):
    hi, lo = edges
    workspace = json.loads(ANALYSES["two_bins"][0].read_text())
    for channel in workspace["channels"]:
        for sample in channel["samples"]:
            sample["modifiers"] = [m for m in sample["modifiers"] if m["type"] == "normfactor"]
            sample["modifiers"].append({"name": "k", "type": "normsys", "data": {"hi": hi, "lo": lo}})
    model = paritas.Model.from_workspace(workspace)
    point = model.suggested_init.copy()
    nominal = model.expected_data(point, include_aux=False)
    for place, factor in ((1.5, hi**1.5), (3.0, hi**3), (-1.25, lo**1.25), (-4.0, lo**4)):
        point[model.index("k")] = place
        assert np.allclose(
            model.expected_data(point, include_aux=False), nominal * factor, rtol=1e-13, atol=0
        )


def test_likelihood_and_expectations_agree_with_each_other():
    model = model_of("sbottom")
    point = model.fit().values * 1.01
    point = np.clip(point, model.lower_bounds, model.upper_bounds)
    assert model.nll(point) == 0.5 * model.twice_nll(point) == 0.5 * model.twice_nll_batch([point])[0, 0]
    step = 1e-6
    gradient, hessian, jacobian = model.gradient(point), model.hessian(point), model.expected_jacobian(point)
    for i in np.flatnonzero(~model.suggested_fixed)[:12]:
        up, down = point.copy(), point.copy()
        up[i] += step
        down[i] -= step
        assert gradient[i] == pytest.approx(
            (model.twice_nll(up) - model.twice_nll(down)) / (2 * step), rel=1e-5, abs=1e-4
        )
        assert hessian[i] == pytest.approx(
            (model.gradient(up) - model.gradient(down)) / (2 * step), rel=1e-4, abs=1e-2
        )
        slope = (
            model.expected_data(up, include_aux=False) - model.expected_data(down, include_aux=False)
        ) / (2 * step)
        assert jacobian[:, i] == pytest.approx(slope, rel=1e-5, abs=1e-5)
    parts = model.expected_by_sample(point)
    for channel in model.channels:
        assert tuple(parts[channel.name]) == channel.samples
        assert sum(parts[channel.name].values()) == pytest.approx(
            model.expected_data(point)[channel.slice], rel=1e-12
        )


# ---- fits ----


def test_a_batch_has_the_bits_of_its_fits():
    model = model_of("two_bins")
    rows = np.array([[50 + k, 60 - k, 100.0, 36.0] for k in range(20)])
    batch = model.fit_batch(rows, errors=True, covariance=True)
    assert len(batch) == 20 and batch.converged.all()
    for k in (0, 7, 19):
        alone = model.fit(data=rows[k])
        assert (
            alone.twice_nll == batch.twice_nll[k]
            and (alone.values == batch.values[k]).all()
            and alone.status == batch.status[k]
        )
        assert (
            np.array_equal(alone.errors, batch.errors[k], equal_nan=True)
            and (alone.covariance == batch.covariance[k]).all()
        )
    assert (batch["mu"] == batch.values[:, 0]).all()


def test_a_batch_takes_starts_bounds_and_flags_by_row():
    model = model_of("two_bins")
    held = model.fit_batch(init=[[0.5, 1, 1], [1.5, 1, 1]], fixed=[[True, False, False]] * 2)
    assert held["mu"].tolist() == [0.5, 1.5]
    assert held.twice_nll.tolist() == [model.fit(fixed={"mu": mu}).twice_nll for mu in (0.5, 1.5)]
    bounds = np.tile(np.stack([model.lower_bounds, model.upper_bounds], axis=1), (2, 1, 1))
    bounds[1, 0] = 0.25, 10
    assert model.fit_batch(bounds=bounds)["mu"][1] == 0.25 == model.fit(bounds={"mu": (0.25, 10)})["mu"][0]
    assert len(model.fit_batch(np.empty((0, 4)))) == 0


def test_starts_and_fixed_parameters_by_name_and_as_arrays():
    model = model_of("two_bins")
    first = model.fit(fixed={"mu": 0.5})
    for fixed, init in (
        (["mu"], {"mu": 0.5}),
        ("mu", {"mu": 0.5}),
        ([True, False, False], [0.5, 1, 1]),
        (np.array([1, 0, 0]), np.array([0.5, 1, 1])),
    ):
        again = model.fit(fixed=fixed, init=init)
        assert (
            (again.values == first.values).all() and again.states[0] == "fixed" and np.isnan(again.errors[0])
        )
    assert first["mu"][0] == 0.5 and first.to_dict()["parameters"]["mu"] == 0.5
    with pytest.raises(KeyError):
        first["nothing"]


def test_a_suggested_start_is_moved_into_the_bounds_and_one_that_was_given_is_refused():
    model, narrow = model_of("two_bins"), {"mu": (0, 0.5)}  # suggested: 1
    assert model.fit(bounds=narrow)["mu"][0] == 0.0 == model.fit()["mu"][0]
    assert (
        model.fit(bounds=narrow, init={model.parameter_names[1]: 1.0}).values
        == model.fit(bounds=narrow).values
    ).all()
    assert (
        model.hypotest(0.25, bounds=narrow).converged and model.upper_limit(bounds={"mu": (0, 0.9)}).converged
    )
    assert (model.fit_toys(n=20, bounds=narrow)["mu"] <= 0.5).all()
    assert model.hypotest_toys(0.25, 20, bounds=narrow).converged
    rows = np.tile(np.stack([model.lower_bounds, model.upper_bounds], axis=1), (2, 1, 1))
    rows[1, 0] = narrow["mu"]
    assert model.fit_batch(bounds=rows)["mu"].tolist() == [0.0, 0.0]
    assert model.fit(bounds=narrow, fixed=["mu"])["mu"][0] == 1.0  # what is held stays
    for init in ({"mu": 1.0}, model.suggested_init):
        with pytest.raises(paritas.InvalidArgument, match="start of mu: 1 lies outside its bounds"):
            model.fit(bounds=narrow, init=init)
    with pytest.raises(paritas.InvalidArgument, match="bounds of mu"):
        model.fit(bounds={"mu": (np.nan, 0.5)})


def test_whole_numbers_are_whole():
    model = model_of("two_bins")
    for name, values in {
        "n": (1.5, 0, -1, "10", 2**64),
        "seed": (1.9, -1, 2**64),
        "threads": (1.5, -1, 2**32),
        "shard": ((1.5, 2), (0, 2), (1, 2.0)),
    }.items():
        for value in values:
            for run in (
                model.fit_toys,
                model.hypotest_toys,
                model.significance_toys,
                model.goodness_of_fit_toys,
            ):
                with pytest.raises(
                    paritas.InvalidArgument, match=rf"^{name}s? .*: a whole number from [01] is wanted"
                ):
                    run(**{"n": 4, name: value})
    for name in ("max_iterations", "population", "seed", "starts", "threads"):
        for value in (1.5, -1):
            for run in (model.fit, model.fit_batch):
                with pytest.raises(paritas.InvalidArgument, match=f"^{name} {value}: a whole number"):
                    run(**{name: value})
    with pytest.raises(paritas.InvalidArgument, match="^n 1.5"):
        model.upper_limit_toys(1.5)
    assert model.fit_toys(n=np.int64(4), seed=np.uint64(3), threads=np.int32(1)).n == 4


def test_a_store_that_exists_is_named_with_what_goes_on_with_it(tmp_path):
    model, store = model_of("two_bins"), tmp_path / "toys.db"
    model.fit_toys(n=4, store=store)
    with pytest.raises(
        paritas.InvalidArgument, match=r"toys\.db: exists already; `resume` goes on with it$"
    ) as refused:
        model.fit_toys(n=4, store=store)
    assert refused.value.status == "INVALID_ARGUMENT"
    assert len(model.fit_toys(n=4, store=store, resume=True)) == 4


def test_a_scan_without_values_says_that_they_are_wanted():
    model = model_of("two_bins")
    for arguments in (("mu", "uncorr_bkguncrt[0]"), (3,), (("mu", [0, 1]), "mu")):
        with pytest.raises(paritas.InvalidArgument, match="^scan: values are wanted"):
            model.scan(*arguments)
    pairs = model.scan(("mu", [0.5, 1.0]))
    assert (model.scan(values=[0.5, 1.0]).q == pairs.q).all() and (
        model.scan("mu", values=[0.5, 1.0]).q == pairs.q
    ).all()


def test_asimov_data_hold_parameters_as_fits_do():
    model = model_of("two_bins")
    name = model.parameter_names[1]
    held = model.asimov_data(1.0, fixed={name: 1.0})
    for fixed in ([name], name, [False, True, False]):
        assert (model.asimov_data(1.0, fixed=fixed) == held).all()
    assert (held != model.asimov_data(1.0)).any() and (
        model.asimov_data(0.2, bounds={"mu": (0, 0.5)}) == model.asimov_data(0.2)
    ).all()


def test_the_fit_of_another_model_is_refused():
    model, other = model_of("two_bins"), model_of("two_bins").fit()
    other.names[1] = "another"
    for run in (model.predict, model.minos):
        with pytest.raises(paritas.InvalidArgument, match="^best: the fit of another model"):
            run(best=other)


def test_a_batch_says_which_row_is_wrong():
    model = model_of("two_bins")
    rows = np.tile(model.data, (5, 1))
    rows[3, 0] = -1.0
    with pytest.raises(paritas.InvalidArgument, match=r"^job 3: start of mu: "):
        model.fit_batch(init=np.where(rows[:, :3] < 0, np.nan, model.suggested_init))
    assert list(model.fit_batch(rows).converged) == [True, True, True, False, True]
    with pytest.raises(paritas.InvalidArgument, match=r"^data\[0\]\[0\]: "):
        model.fit(data=rows[3])
    with pytest.raises(paritas.InvalidArgument, match="5, 2; their numbers must agree"):
        model.fit_batch(rows, init=[model.suggested_init] * 2)


@pytest.mark.parametrize("clip", [np.nan, np.inf, -np.inf])
def test_clips_are_finite(clip):
    for name in ("clip_sample", "clip_bin"):
        with pytest.raises(paritas.InvalidArgument, match="must be a finite number"):
            paritas.Model.from_workspace(TWO, **{name: clip})


def test_no_false_success():
    model = model_of("two_bins")
    short = model.fit(max_iterations=1)
    assert not short.converged and short.status == "at_iteration_limit"
    with pytest.raises(paritas.NotConverged):
        model.minos(best=short)


def test_toys_depend_on_seed_and_number_alone():
    model = model_of("two_bins")
    whole = model.fit_toys(n=40, seed=3, errors=True)
    assert (
        whole.values.shape == whole.errors.shape == (40, 3)
        and whole.toy.tolist() == list(range(40))
        and len(whole) == 40
    )
    for shard in (1, 2, 3):
        part = model.fit_toys(n=40, seed=3, shard=(shard, 3), threads=1)
        assert (part.values == whole.values[part.toy.astype(int)]).all()
    assert model.fit_toys(n=40, seed=4)["mu"].tolist() != whole["mu"].tolist()
    assert np.nanmean(whole.pulls[:, 1]) == pytest.approx(whole.summary.pull_mean[1], rel=1e-12)
    light = model.fit_toys(n=40, seed=3, keep=False)
    assert light.values is None and (light.summary.mean == whole.summary.mean).all()
    with pytest.raises(ValueError, match="keep"):
        light["mu"]


def test_statistics_of_toys_are_at_hand():
    found = model_of("two_bins").hypotest_toys(1.0, 100, 2)
    assert len(found.q_tested) == found.n_tested == 100 and len(found.q_other) == found.n_other
    assert found.CLsb == np.mean(found.q_tested >= found.q - 1e-8)
    limit = model_of("two_bins").upper_limit_toys(rtol=0.3, keep=True)
    assert set(limit.toys["mu"]) == {one.mu for one in limit.scan}


# ---- exceptions ----


def test_what_is_wrong_is_said_with_its_place(tmp_path):
    with pytest.raises(paritas.Unreadable, match="nowhere.json") as caught:
        paritas.Model.from_workspace(tmp_path / "nowhere.json")
    assert isinstance(caught.value, OSError) and caught.value.status == "UNREADABLE"
    with pytest.raises(paritas.Unreadable, match="nowhere.db"):
        paritas.toys.read_store(tmp_path / "nowhere.db")
    with pytest.raises(paritas.InvalidInput, match="channels") as caught:
        paritas.Model.from_workspace({"version": "1.0.0"})
    assert isinstance(caught.value, ValueError)
    with pytest.raises(paritas.InvalidInput):
        paritas.Workspace.loads("{")
    with pytest.raises(paritas.NotFound, match="nothing"):
        paritas.Model.from_workspace(TWO, measurement="nothing")
    with pytest.raises(paritas.DeviceUnavailable, match="abacus"):
        model_of("two_bins").fit(device="abacus")
    with pytest.raises(paritas.InvalidArgument, match="f16"):
        model_of("two_bins").fit(precision="f16")
    assert all(
        issubclass(kind, paritas.Error)
        for kind in (paritas.InvalidArgument, paritas.NotConverged, paritas.OutOfMemory, paritas.Unwritable)
    )


def test_numpy_in_documents_is_read_and_what_is_no_json_is_refused():
    plain = paritas.Workspace(TWO)
    given = plain.to_dict()
    for channel in given["channels"]:
        for sample in channel["samples"]:
            sample["data"] = np.array(sample["data"])
    for observed in given["observations"]:
        observed["data"] = [np.float64(count) for count in observed["data"]]
    assert (
        paritas.Model.from_workspace(given).fit().twice_nll
        == paritas.Model.from_workspace(plain).fit().twice_nll
    )
    given["version"] = {1.0}
    with pytest.raises(TypeError, match="set"):
        paritas.Workspace(given)
    with pytest.raises(TypeError, match="loads"):
        paritas.Workspace(plain.to_json().encode())


def test_a_list_of_no_names_fixes_nothing():
    model = model_of("two_bins")
    assert (
        model.fit(fixed=[]).twice_nll
        == model.fit(fixed={}).twice_nll
        == model.fit_batch(fixed=[]).twice_nll[0]
        == model.fit().twice_nll
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.fit(fixed=list(range(m.parameter_count))),
        lambda m: m.fit(fixed=True),
        lambda m: m.fit(fixed=[None] * m.parameter_count),
        lambda m: m.fit(starts=-1),
        lambda m: m.ranking(top=-1),
        lambda m: m.fit(data=[1.0, 2.0]),
        lambda m: m.fit(data=np.ones((2, 4))),
        lambda m: m.fit(data=[1, 2, np.nan, 4]),
        lambda m: m.fit(data=[-1, 2, 3, 4]),
        lambda m: m.fit(init=[1.0]),
        lambda m: m.fit(init={"mu": -5}),
        lambda m: m.fit(bounds=[[0, 1]]),
        lambda m: m.fit(bounds={"mu": (2, 1)}),
        lambda m: m.fit(fixed=[True]),
        lambda m: m.fit(minimizer="simplex"),
        lambda m: m.hypotest(-1.0),
        lambda m: m.hypotest(1.1e7),
        lambda m: m.hypotest(test_stat="t"),
        lambda m: m.twice_nll([1.0]),
        lambda m: m.expected_data([1.0]),
        lambda m: m.fit_batch(np.ones((3, 4)), init=np.ones((2, 3))),
        lambda m: m.fit_toys(params=[1, 1, 1], expected=[1, 1, 1, 1]),
        lambda m: m.hypotest_toys(shard=(3, 2)),
        lambda m: m.fit_toys(minimizer="de"),
        lambda m: m.fit(fixed=[0, 2, 1]),
        lambda m: m.fit_batch(np.ones((2, 4)), fixed=[[0, 2, 1]]),
        lambda m: m.fit_batch(np.ones((2, 4)), fixed=np.zeros((1, 3, 2))),
        lambda m: m.scan("mu", [0, 1]),
        lambda m: m.scan("mu", "mu", "mu", values=[[1, 1, 1]]),
        lambda m: m.upper_limit(level=2.0),
        lambda m: m.upper_limit_toys(rtol=2.0),
    ],
)
def test_invalid_arguments_are_named(call):
    with pytest.raises(paritas.InvalidArgument) as caught:
        call(model_of("two_bins"))
    assert str(caught.value) and isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.fit(init={"nu": 1}),
        lambda m: m.fit(fixed=["nu"]),
        lambda m: m.scan(("nu", [1])),
        lambda m: m.index(7),
    ],
)
def test_names_that_are_not_there_are_not_found(call):
    with pytest.raises(paritas.NotFound):
        call(model_of("two_bins"))


# ---- progress, Ctrl-C, threads ----


def test_progress_is_told_and_what_it_raises_ends_the_call():
    told = []
    model_of("two_bins").hypotest_toys(1.0, 3000, progress=lambda done, total: told.append((done, total)))
    toys = [done for done, total in told if total == 6000]  # the fits before them are counted each by itself
    assert told[-1] == (6000, 6000) and toys == sorted(toys)

    class Enough(Exception):
        pass

    def stop(done, total):
        raise Enough

    with pytest.raises(Enough):
        model_of("two_bins").fit_toys(n=100000, progress=stop)
    assert model_of("two_bins").fit().converged


def test_progress_true_shows_a_bar_with_and_without_tqdm(capsys, monkeypatch):
    pytest.importorskip("tqdm")
    model_of("two_bins").hypotest_toys(1.0, 2000, progress=True)
    assert "toys" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    model_of("two_bins").hypotest_toys(1.0, 2000, progress=True)
    assert "toys:" in capsys.readouterr().err


INTERRUPTED = """
import os, signal, sys, time, threading, paritas
model = paritas.Model.from_workspace(*sys.argv[2:])
started = time.monotonic()
sent = []
def press():
    time.sleep(0.5)
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    if sys.argv[1] == "toys": model.fit_toys(n=10**9, keep=False)
    if sys.argv[1] == "test": model.hypotest_toys(1.0, 10**9, keep=False)
    if sys.argv[1] == "scan": model.scan(("mu_SIG", [k * 1e-5 for k in range(300000)]))
    if sys.argv[1] == "batch": model.fit_batch(init=[list(model.suggested_init)] * 100000)
    print("no interrupt")
except KeyboardInterrupt:
    late = time.monotonic() - sent[0]
    print("interrupted", late < 1.0 or late, model.fit().converged, model.fit_toys(n=10).tally.fitted)
"""


@pytest.mark.parametrize("kind", ["toys", "test", "scan", "batch"])
def test_ctrl_c_ends_a_long_run_within_a_second(kind):
    workspace = [SBOTTOM / "BkgOnly.json", PATCH]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, kind, *workspace], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "interrupted True True 10\n", done.stdout + done.stderr


def test_other_threads_run_during_a_call():
    counted, going = [0], [True]

    def count():
        while going[0]:
            counted[0] += 1
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    before, started = counted[0], time.monotonic()
    model_of("sbottom").fit_toys(n=400, keep=False, threads=1)
    seconds = time.monotonic() - started
    during = counted[0] - before
    going[0] = False
    counter.join()
    assert during > 20 * seconds, f"{during} counts in {seconds:.2f} s"


def test_threads_fit_at_the_same_time_with_the_same_bits():
    """Every call, with a part of its toys done, waits for all others to come as far: of calls that follow one
    another the first would wait in vain."""
    model = model_of("sbottom")
    expected = model.fit_toys(n=50, seed=8, threads=1).values
    found, together = {}, threading.Barrier(4, timeout=60.0)

    def work(k):
        parts = []

        def meet(done, total):
            if parts:
                return
            if 0 < done < total == 50:
                parts.append(done)
                together.wait()
            else:
                # longer than the engine is silent after it told something: the next part is told too
                time.sleep(0.06)

        values = model.fit_toys(n=50, seed=8, threads=1, progress=meet).values
        found[k] = parts, values

    workers = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(found) == [0, 1, 2, 3]
    assert all(parts and (values == expected).all() for parts, values in found.values())


# ---- copies and memory ----


def test_contiguous_numbers_are_not_copied():
    model = model_of("two_bins")
    rows = np.tile(model.data, (200000, 1))
    points = np.tile(model.suggested_init, (200000, 1))
    tracemalloc.start()
    values = model.twice_nll_batch(points[:1], rows)
    model.twice_nll_batch(points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2.5 * values.nbytes < points.nbytes
    toys = model.fit_toys(n=1000)
    assert toys.values.base is not None and not toys.values.flags.owndata
    assert np.shares_memory(model.point(points[0]), points)


def test_other_numbers_are_taken_too():
    model = model_of("two_bins")
    expected = model.fit(data=model.data).twice_nll
    wide = np.empty((4, 2))
    wide[:, 0] = model.data
    for data in (
        model.data.tolist(),
        tuple(model.data),
        wide[:, 0],
        model.data[::-1][::-1],
        model.data.astype(">f8"),
    ):
        assert model.fit(data=data).twice_nll == expected


def test_memory_is_flat_over_ten_thousand_calls():
    model = model_of("two_bins")
    point = np.array(model.suggested_init)

    def calls(n):
        for _ in range(n):
            model.fit()
            model.twice_nll(point)
            model.hypotest(1.0)
        for _ in range(n // 20):
            paritas.Model.from_workspace(TWO)
            model.fit_toys(n=2)
            with pytest.raises(paritas.InvalidArgument):
                model.fit(data=[1.0])

    calls(500)
    before = resident()
    calls(3400)
    assert resident() - before < 2000, "kB"


# ---- results ----


class Tags(html.parser.HTMLParser):
    VOID = {"br", "hr", "img", "meta"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_every_result_shows_itself_as_html():
    model = model_of("two_bins")
    results = [
        model.fit(),
        model.fit(covariance=False),
        model.fit_batch(),
        model.hypotest(),
        model.upper_limit(),
        model.significance(),
        model.scan(("mu", [0, 1])),
        model.ranking(),
        model.predict(),
        model.goodness_of_fit(),
        model.fit_toys(n=20, errors=True),
        model.hypotest_toys(1.0, 20),
        model.significance_toys(20),
        model.upper_limit_toys(rtol=0.5),
        model.goodness_of_fit_toys(20),
    ]
    for result in results:
        tags = Tags()
        tags.feed(result._repr_html_())
        tags.close()
        assert not tags.open and tags.seen[0] == "table", type(result)
    spiteful = model.fit().replace(names=["<script>", "&", '"'])
    assert "<script>" not in spiteful._repr_html_()


def test_public_names_are_there_and_import_costs_little():
    assert set(paritas.__all__) <= set(dir(paritas))
    for name in paritas.__all__:
        assert getattr(paritas, name) is not None
    with pytest.raises(AttributeError):
        paritas.nothing
    code = (
        "import sys, numpy; before = set(sys.modules); import paritas; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TREE
    ).stdout.split()
    assert not {"scipy", "matplotlib", "torch", "jax", "pyhf", "sqlite3", "tqdm", "pandas"} & set(loaded)


def test_the_command_knows_what_it_can_do():
    for arguments, code in (([], 2), (["nothing"], 2), (["--help"], 0)):
        done = subprocess.run([sys.executable, "-m", "paritas", *arguments], capture_output=True, text=True)
        assert done.returncode == code and "convert" in done.stdout + done.stderr
