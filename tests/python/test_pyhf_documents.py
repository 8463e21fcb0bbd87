"""paritas.pyhf beside pyhf 0.7.6, call by call: workspaces, patch sets, schemas, exceptions, and the pieces
that models are made of."""

import copy
import json
import pickle
import re

import numpy as np
import pytest
from pyhf_support import GENERATED, both, counting, observed, ours, same, theirs

from paritas import InvalidInput
from paritas.pyhf.jsonpatch import JsonPatch

pytestmark = pytest.mark.filterwarnings("ignore")

# ---- documents ----


def pair():
    left = copy.deepcopy(GENERATED[0])
    right = json.loads(
        json.dumps(left).replace('"' + left["channels"][0]["name"], '"other_' + left["channels"][0]["name"])
    )
    return left, right


@pytest.mark.parametrize("join", ["none", "outer", "left outer", "right outer", "inner"])
@pytest.mark.parametrize("merge", [False, True])
def test_combined_workspaces(join, merge):
    left, right = pair()
    changed = copy.deepcopy(left)
    changed["channels"][0]["samples"][0]["data"][0] += 1
    renamed = copy.deepcopy(right)
    renamed["measurements"][0]["name"] += "_other"
    for a, b in (
        (left, right),
        (left, left),
        (left, changed),
        (left, renamed),
        (left, {**right, "version": "1.0.1"}),
    ):
        same(lambda module: dict(module.Workspace.combine(a, b, join=join, merge_channels=merge)))


def test_workspace_operations():
    for document in GENERATED[:1]:
        channel, sample = document["channels"][0]["name"], document["channels"][0]["samples"][0]["name"]
        modifier = document["channels"][0]["samples"][0]["modifiers"][0]["name"]
        measurement = document["measurements"][0]["name"]
        calls = [
            lambda w: w.prune(channels=[channel]),
            lambda w: w.prune(samples=[sample]),
            lambda w: w.prune(modifiers=[modifier]),
            lambda w: w.prune(modifier_types=["normsys", "histosys"]),
            lambda w: w.prune(measurements=[measurement]),
            lambda w: w.prune(channels=["nothing"]),
            lambda w: w.prune(modifier_types=["nothing"]),
            lambda w: w.prune(),
            lambda w: w.rename(channels={channel: "C"}),
            lambda w: w.rename(samples={sample: "S"}),
            lambda w: w.rename(modifiers={modifier: "M"}),
            lambda w: w.rename(measurements={measurement: "N"}),
            lambda w: w.rename(samples={"nothing": "S"}),
            lambda w: type(w).sorted(w),
            lambda w: type(w).build(w.model(), w.data(w.model())),
            lambda w: w.get_measurement(measurement_index=3),
            lambda w: w.get_measurement(measurement_name="nothing"),
            lambda w: w.get_measurement(),
        ]
        for call in calls:
            same(lambda module: dict(call(module.Workspace(document))))


def patchset(name="point", values=(1, 2)):
    patch = [
        {"op": "replace", "path": "/channels/0/samples/0/data/0", "value": 77.5},
        {
            "op": "add",
            "path": "/channels/0/samples/0/modifiers/-",
            "value": {"name": "more", "type": "normsys", "data": {"hi": 1.2, "lo": 0.9}},
        },
    ]
    return {
        "version": "1.0.0",
        "patches": [{"metadata": {"name": name, "values": list(values)}, "patch": patch}],
        "metadata": {
            "references": {"hepdata": "ins1234567"},
            "description": "d",
            "labels": ["a", "b"],
            "digests": {"sha256": theirs.utils.digest(GENERATED[0])},
        },
    }


def test_a_patch_tells_true_from_one():
    for document, value, equal in (
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        (1, 1.0, True),
        ([0, {"a": 1}], [False, {"a": 1}], False),
        ([0, {"a": 1}], [0.0, {"a": 1}], True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1], [1, 2], False),
        (None, False, False),
    ):
        patch = JsonPatch([{"op": "test", "path": "/x", "value": value}])
        if equal:
            assert patch.apply({"x": document}) == {"x": document}
        else:
            with pytest.raises(InvalidInput, match="the test fails"):
                patch.apply({"x": document})


def test_patch_sets():
    good, broken = patchset(), patchset()
    del broken["metadata"]["labels"]
    twice = patchset()
    twice["patches"].append(copy.deepcopy(twice["patches"][0]))
    calls = [
        lambda m: [
            len(m.PatchSet(good)),
            m.PatchSet(good).labels,
            m.PatchSet(good).digests,
            m.PatchSet(good).description,
            m.PatchSet(good).references,
            m.PatchSet(good).version,
        ],
        lambda m: dict(m.PatchSet(good).apply(GENERATED[0], "point")),
        lambda m: dict(m.PatchSet(good).apply(GENERATED[0], [1, 2])),
        lambda m: m.PatchSet(good)["nothing"],
        lambda m: m.PatchSet(good).apply(GENERATED[1], "point"),
        lambda m: m.PatchSet(broken),
        lambda m: m.PatchSet(twice),
        lambda m: m.PatchSet(patchset(values=(1, 2, 3))),
        lambda m: [(p.name, p.values, p.metadata) for p in m.PatchSet(good)],
        lambda m: m.PatchSet(good)["point"] == m.PatchSet(good)[1, 2],
        lambda m: m.Workspace(GENERATED[0]).model(patches=[m.PatchSet(good)["point"]]).spec,
        lambda m: re.sub("0x[0-9a-f]+|paritas.", "", repr(m.PatchSet(good))),
    ]
    for call in calls:
        same(call)


def broken_documents():
    yield GENERATED[0]
    for path, value in (
        (["version"], "2.0.0"),
        (["channels"], []),
        (["channels", 0, "name"], 3),
        (["channels", 0, "samples", 0, "data"], []),
        (["channels", 0, "samples", 0, "data", 0], "1"),
        (["channels", 0, "samples", 0, "modifiers", 0, "type"], "other"),
        (["measurements", 0, "config", "poi"], None),
        (["channels", 0, "samples", 0, "modifiers", 0, "extra"], 1),
        (["extra"], 1),
        (["observations"], None),
        (["measurements", 0, "config", "parameters"], [{"inits": [1]}]),
    ):
        document = copy.deepcopy(GENERATED[0])
        *steps, last = path
        place = document
        for step in steps:
            place = place[step]
        place[last] = value
        yield document
    document = copy.deepcopy(GENERATED[0])
    del document["channels"][0]["samples"][0]["modifiers"]
    yield document


@pytest.mark.parametrize("document", broken_documents())
def test_schemas_refuse_the_same(document):
    same(lambda module: module.schema.validate(document, "workspace.json"))
    same(lambda module: module.schema.validate(document, "workspace.json", allow_tensors=False))
    same(lambda module: bool(module.Workspace(document)))


# ---- what is refused ----


@pytest.mark.parametrize(
    "call",
    [
        lambda m: m.set_backend("jox"),
        lambda m: m.set_backend("numpy", "fail"),
        lambda m: m.set_backend("numpy", precision="16b"),
        lambda m: m.infer.utils.get_test_stat("nothing"),
        lambda m: m.infer.hypotest(1.0, observed(counting(m)), counting(m), calctype="nothing"),
        lambda m: m.infer.hypotest(-1.0, observed(counting(m)), counting(m)),
        lambda m: m.infer.hypotest(10.1, observed(counting(m)), counting(m)),
        lambda m: m.infer.hypotest(1.0, observed(counting(m)), counting(m), test_stat="nothing"),
        lambda m: m.infer.hypotest(1.0, observed(counting(m)), counting(m), calc_base_dist="nothing"),
        lambda m: m.infer.hypotest(
            1.0, observed(counting(m)), counting(m), fixed_params=[True, False, False]
        ),
        lambda m: counting(m).logpdf([1.0], [1.0] * 4),
        lambda m: counting(m).logpdf([1.0] * 3, [1.0]),
        lambda m: m.infer.mle.fit(observed(counting(m)), counting(m), init_pars=[11.0, 1.0, 1.0]),
        lambda m: m.infer.mle.fit(observed(counting(m)), counting(m), nothing=1),
        lambda m: m.infer.mle.fit(observed(counting(m)), counting(m), do_grad=True),
        lambda m: counting(m).config.set_poi("nothing"),
        lambda m: counting(m).config.set_poi("uncorr_bkguncrt"),
        lambda m: m.interpolators.get(7),
        lambda m: m.optimize.scipy_optimizer(nothing=1),
        lambda m: m.compat.interpret_rootname("alpha_"),
        lambda m: m.compat.interpret_rootname("gamma_x"),
        lambda m: m.schema.load_schema("9.9.9/workspace.json"),
        lambda m: m.utils.digest({1, 2}),
        lambda m: m.utils.digest({}, algorithm="nothing"),
        lambda m: m.infer.calculators.AsymptoticCalculator([0.0], counting(m)).distributions(1.0),
        lambda m: m.Model(GENERATED[0]),
        lambda m: m.Workspace(GENERATED[0], nothing=1),
        lambda m: m.pdf._ModelConfig(counting(m).spec, nothing=1),
        lambda m: m.tensorlib.astensor([1], dtype="long"),
        lambda m: counting(m, bkg=(1.0,)),
        lambda m: m.Workspace.combine(GENERATED[0], GENERATED[0], join="nothing"),
    ],
)
def test_exceptions(call):
    mine, other = both(call)
    assert other[0] == "raised" and mine == other


@pytest.mark.parametrize("backend", ["jax", "pytorch", "tensorflow"])
def test_other_frameworks_say_that_they_are_not_there(backend):
    with pytest.raises(ours.exceptions.ImportBackendError, match="engine"):
        ours.set_backend(backend)
    assert ours.tensorlib.name == "numpy"


def test_models_can_be_copied_and_pickled():
    model = counting(ours)
    value = model.logpdf([1.0, 1.0, 1.0], observed(model))
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert (
            other.logpdf([1.0, 1.0, 1.0], observed(model)) == value
            and other.config.par_names == model.config.par_names
        )


def test_a_fit_that_does_not_converge_says_so():
    model = counting(ours)
    with pytest.raises(ours.exceptions.FailedMinimization) as caught:
        ours.infer.mle.fit(observed(model), model, maxiter=1)
    assert (
        not caught.value.result.success and caught.value.result.status != 0 and "limit" in str(caught.value)
    )


# ---- pieces ----


@pytest.mark.parametrize("code", [0, 1, 2, 4, "4p"])
@pytest.mark.parametrize("fast", [True, False])
def test_interpolators(code, fast):
    rng = np.random.default_rng(1)
    sets = rng.uniform(0.5, 1.5, (3, 2, 3, 4)).tolist()
    alphas = rng.uniform(-2.5, 2.5, (3, 5))
    if code == 2 and not fast:
        alphas = np.clip(alphas, -1, 1)  # beyond, their two interpolators of this code differ
    same(lambda module: module.interpolators.get(code, do_tensorized_calc=fast)(sets)(alphas), 1e-12)


def test_tensor_functions():
    x = np.array([[0.3, -0.7, 0.05], [1e-9, 0.99, -0.2]])
    positive = np.abs(x) * 7 + 0.5
    calls = [
        lambda t: t.clip(x, 0.0, 0.5),
        lambda t: t.erf(x),
        lambda t: t.erfinv(x),
        lambda t: t.tile(x, (2, 1)),
        lambda t: t.conditional(True, lambda: x, lambda: -x),
        lambda t: t.tolist(x),
        lambda t: t.outer(x[0], x[1]),
        lambda t: t.gather(x[0], np.array([2, 0])),
        lambda t: t.boolean_mask(x, x > 0),
        lambda t: t.isfinite(x),
        lambda t: t.astensor([1, 2], dtype="int"),
        lambda t: t.sum(x, axis=0),
        lambda t: t.product(x, axis=1),
        lambda t: t.abs(x),
        lambda t: t.ones((2, 3)),
        lambda t: t.zeros((4,), dtype="int"),
        lambda t: t.power(positive, 2.5),
        lambda t: t.sqrt(positive),
        lambda t: t.divide(x, positive),
        lambda t: t.log(positive),
        lambda t: t.exp(x),
        lambda t: t.stack([x, x], axis=1),
        lambda t: t.where(x > 0, x, -x),
        lambda t: t.concatenate([x, x], axis=1),
        lambda t: t.simple_broadcast(x, x[0])[1],
        lambda t: t.reshape(x, (3, 2)),
        lambda t: t.ravel(x),
        lambda t: t.einsum("ij->ji", x),
        lambda t: t.poisson_logpdf(positive, positive[::-1]),
        lambda t: t.poisson(positive, positive[::-1]),
        lambda t: t.normal_logpdf(x, 0.2, 1.3),
        lambda t: t.normal(x, 0.2, 1.3),
        lambda t: t.normal_cdf(x),
        lambda t: t.normal_cdf(-9.5),
        lambda t: t.transpose(x),
        lambda t: t.shape(x),
        lambda t: t.to_numpy(x),
        lambda t: t.poisson_dist(positive).log_prob(positive),
        lambda t: t.normal_dist(x, positive).log_prob(x),
        lambda t: t.poisson_logpdf(np.zeros(2), np.zeros(2)),
    ]
    for call in calls:
        same(lambda module: call(module.tensorlib), 1e-13)


def test_digests_and_names():
    parset = dict(
        name="x", n_parameters=1, inits=[0.0], bounds=[(-5, 5)], fixed=False, is_scalar=True, auxdata=[0.0]
    )
    calls = [
        lambda m: m.utils.digest(GENERATED[0]),
        lambda m: m.utils.digest(GENERATED[0], algorithm="md5"),
        lambda m: m.utils.options_from_eqdelimstring(["a=3", "b=x", "c=true", "d=1.5"]),
        lambda m: m.compat.interpret_rootname("gamma_stat_3"),
        lambda m: m.compat.interpret_rootname("alpha_JES"),
        lambda m: m.compat.interpret_rootname("Lumi"),
        lambda m: m.compat.interpret_rootname("mu"),
        lambda m: m.compat.paramset_to_rootnames(m.parameters.constrained_by_normal(**parset)),
        lambda m: m.compat.paramset_to_rootnames(m.parameters.unconstrained(**parset)),
        lambda m: m.compat.paramset_to_rootnames(counting(m).config.param_set("uncorr_bkguncrt")),
        lambda m: counting(m).config.param_set("uncorr_bkguncrt").width(),
        lambda m: m.schema.version,
        lambda m: (
            m.infer.intervals.upper_limits.__all__
            and m.infer.utils.all_pois_floating(counting(m), [False, True, True])
        ),
    ]
    for call in calls:
        same(call)


def test_a_sample_of_another_length_is_named():
    document = copy.deepcopy(GENERATED[0])
    channel = document["channels"][0]
    channel["samples"][-1]["data"].append(1.0)
    place = rf"sample data but got .*\(sample {channel['samples'][-1]['name']} in channel {channel['name']}\)"
    with pytest.raises(ours.exceptions.InvalidModel, match=place):
        ours.Workspace(document).model()


def test_a_built_workspace_keeps_what_constraints_measure():
    """pyhf's own loses auxiliary data and sigmas (scikit-hep/pyhf#1763)."""
    channel = {"name": "c", "samples": [{"name": "s", "data": [5.0, 6.0], "modifiers": []}]}
    modifiers = channel["samples"][0]["modifiers"]
    modifiers.append({"name": "mu", "type": "normfactor", "data": None})
    modifiers.append({"name": "lumi", "type": "lumi", "data": None})
    modifiers.append({"name": "n", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}})
    modifiers.append({"name": "st", "type": "staterror", "data": [1.0, 2.0]})
    lumi = {"name": "lumi", "auxdata": [1.0], "sigmas": [0.017], "bounds": [[0.9, 1.1]], "inits": [1.0]}
    parameters = [lumi, {"name": "n", "auxdata": [0.4]}, {"name": "st", "auxdata": [1.1, 0.9]}]
    workspace = ours.Workspace(
        {
            "channels": [channel],
            "observations": [{"name": "c", "data": [5.0, 7.0]}],
            "measurements": [{"name": "m", "config": {"poi": "mu", "parameters": parameters}}],
            "version": "1.0.0",
        }
    )
    model = workspace.model()
    data = workspace.data(model)
    built = ours.Workspace.build(model, data)
    again = built.model()
    point = model.config.suggested_init()
    assert built.data(again) == data == [5.0, 7.0, 1.0, 0.4, 1.1, 0.9]
    assert again.logpdf(point, data) == model.logpdf(point, data)
    moved = [*data[:3], 0.7, *data[4:]]
    other = ours.Workspace.build(model, moved)
    assert other.data(other.model()) == moved
