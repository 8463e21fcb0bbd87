"""paritas.pyhf beside pyhf 0.7.6, call by call: names, models, fits, tests.

Signatures of all public names must agree, except those that docs/python/pyhf.md lists; that list must hold
nothing else. Then the same calls are made of both: order, types and shapes of results, and values: to
rounding where nothing is fitted, to what SLSQP leaves where something is (and never is our NLL higher).
"""

import importlib
import inspect
import itertools
import re
import subprocess
import sys

import numpy as np
import pytest
from pyhf_support import GENERATED, ROOT, both, compare, counting, observed, ours, plain, same, theirs

DOCUMENT = ROOT / "docs" / "python" / "pyhf.md"
MODULES = (
    "compat constraints contrib.utils contrib.viz.brazil events exceptions infer infer.calculators "
    "infer.intervals infer.intervals.upper_limits "
    "infer.mle infer.test_statistics infer.utils interpolators mixins modifiers optimize.common "
    "optimize.mixins optimize.opt_scipy parameters "
    "parameters.paramsets parameters.paramview parameters.utils patchset pdf probability readxml schema "
    "simplemodels tensor.common tensor.manager "
    "tensor.numpy_backend utils workspace writexml"
).split()
pytestmark = pytest.mark.filterwarnings("ignore")
FITTED = 2e-4  # what the other minimiser leaves, in probabilities and test statistics


# ---- signatures ----


def parameters(function):
    try:
        return [
            (p.name, p.kind, None if p.default is p.empty else repr(p.default))
            for p in inspect.signature(function).parameters.values()
        ]
    except (TypeError, ValueError):
        return None


def differences(name):
    """Names in a module of theirs that ours lacks or has with other arguments."""
    other = importlib.import_module(f"pyhf.{name}")
    mine = importlib.import_module(f"paritas.pyhf.{name}")
    for key, value in vars(other).items():
        if (
            key.startswith("_")
            or not (inspect.isclass(value) or inspect.isfunction(value))
            or value.__module__ != other.__name__
        ):
            continue
        found = getattr(mine, key, None)
        if found is None or (
            not (inspect.isclass(value) and issubclass(value, Exception))
            and parameters(found) != parameters(value)
        ):
            yield f"{name}.{key}"
        if found is not None and inspect.isclass(value):
            for attribute in dir(value):
                method = getattr(value, attribute)
                if attribute.startswith("_") or inspect.ismemberdescriptor(method):
                    continue
                if not hasattr(found, attribute) or (
                    inspect.isroutine(method) and parameters(getattr(found, attribute)) != parameters(method)
                ):
                    yield f"{name}.{key}.{attribute}"


def test_names_that_differ_are_those_the_documentation_lists():
    listed = set(re.findall(r"^\| `([a-z_]+\.[\w.]+)` \|", DOCUMENT.read_text(), re.M))
    found = set()
    for name in MODULES:
        try:
            found |= set(differences(name))
        # an optional package of theirs is not installed: what is listed of this module cannot be held against
        # it
        except ImportError as error:
            assert error.name.split(".")[0] not in ("pyhf", "paritas"), error
            listed = {entry for entry in listed if not entry.startswith(f"{name}.")}
    assert found == listed


def test_the_package_has_all_names_of_the_other():
    assert set(theirs.__all__) <= set(ours.__all__) and all(
        getattr(ours, name) is not None for name in ("tensorlib", "optimizer", "default_backend")
    )
    assert {name for name in dir(theirs.exceptions) if not name.startswith("_")} <= set(dir(ours.exceptions))


def test_import_is_light():
    program = (
        "import sys, paritas.pyhf; print([m for m in ('scipy', 'matplotlib', 'jsonschema', 'tqdm', "
        "'uproot') if m in sys.modules])"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )


# ---- models ----


@pytest.mark.parametrize("document", GENERATED, ids=range(len(GENERATED)))
def test_a_workspace_is_the_same_model(document):
    def configuration(module):
        model = module.Workspace(document).model()
        c = model.config
        parsets = {
            name: [
                getattr(c.param_set(name), what, None)
                for what in ("n_parameters", "is_scalar", "constrained", "sigmas", "factors", "auxdata")
            ]
            for name in c.par_order
        }
        return [
            c.par_order,
            c.par_names,
            c.parameters,
            c.suggested_init(),
            c.suggested_bounds(),
            c.suggested_fixed(),
            c.poi_name,
            c.poi_index,
            c.auxdata,
            c.auxdata_order,
            c.nmaindata,
            c.nauxdata,
            c.npars,
            c.channels,
            c.samples,
            c.modifiers,
            c.channel_nbins,
            [str(c.par_slice(name)) for name in c.par_order],
            parsets,
        ]

    same(configuration, 1e-14)

    def numbers(module):
        workspace = module.Workspace(document)
        model = workspace.model()
        rng = np.random.default_rng(3)
        start, data = (
            np.array(model.config.suggested_init(), dtype=float),
            np.array(workspace.data(model), dtype=float),
        )
        points = [start, start + rng.uniform(-0.05, 0.05, len(start))]
        found = [workspace.data(model), workspace.data(model, include_auxdata=False), model.nominal_rates]
        for point in points:
            rates = model.expected_actualdata(point)
            if np.any(rates < 0) or np.any((rates == 0) & (data[: len(rates)] > 0)):
                continue  # outside the domain; what either says there is in the documentation
            found += [
                model.logpdf(point, data),
                model.pdf(point, data),
                model.expected_data(point),
                model.expected_data(point, include_auxdata=False),
                rates,
                model.main_model.expected_data(point, return_by_sample=True),
                model.mainlogpdf(data[: len(rates)], point),
                module.infer.mle.twice_nll(point, data, model),
            ]
            if model.config.nauxdata:
                found += [model.expected_auxdata(point), model.constraint_logpdf(data[len(rates) :], point)]
                np.random.seed(5)
                found.append(model.make_pdf(point).sample((3,)).astype(float))
            found += [part for parts in model._modifications(point) for part in parts]
        return found

    same(numbers, 1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"modifier_settings": {"normsys": {"interpcode": "code1"}, "histosys": {"interpcode": code}}}
        for code in ("code0", "code2")
    ]
    + [{"clip_sample_data": 60.0}, {"clip_bin_data": 200.0}, {"poi_name": None}, {"batch_size": 3}],
    ids=str,
)
def test_options_of_models(options):
    document = next(
        document
        for document in GENERATED
        if any(
            m["type"] == "histosys"
            for c in document["channels"]
            for s in c["samples"]
            for m in s["modifiers"]
        )
    )

    def numbers(module):
        workspace = module.Workspace(document)
        model = workspace.model(**options)
        start = np.array(model.config.suggested_init(), dtype=float)
        points = start + np.random.default_rng(4).uniform(-0.04, 0.04, (3, len(start)))
        if not options.get("batch_size"):
            return [
                model.config.poi_name,
                [model.expected_data(point) for point in points],
                [model.logpdf(point, workspace.data(model)) for point in points],
            ]
        data = np.array(workspace.data(model), dtype=float)
        by_sample = model.main_model.expected_data(points, return_by_sample=True)
        return [
            model.expected_data(points),
            model.logpdf(points, data),
            model.logpdf(points, np.stack([data, data + 1, data])),
            by_sample,
            model.pdf(points, data),
        ]

    same(numbers, 1e-9)


def test_modifiers_of_a_users_own():
    def numbers(module):
        class builder:
            is_shared = True

            def __init__(self, config):
                self.builder_data, self.config, self.required_parsets = {}, config, {}

            def append(self, key, channel, sample, thismod, defined_samp):
                data = (
                    self.builder_data.setdefault(key, {})
                    .setdefault(sample, {})
                    .setdefault("data", {"mask": []})
                )
                data["mask"] += [bool(thismod)] * self.config.channel_nbins[channel]
                if thismod:
                    self.required_parsets.setdefault(
                        thismod["name"],
                        [
                            {
                                "paramset_type": "unconstrained",
                                "n_parameters": 1,
                                "is_scalar": True,
                                "inits": (0.0,),
                                "bounds": ((-5.0, 5.0),),
                                "fixed": False,
                            }
                        ],
                    )

            def finalize(self):
                return self.builder_data

        class applier:
            name = op_code = "addition"

            def __init__(self, modifiers, pdfconfig, builder_data, batch_size=None):
                self.mask = np.array(
                    [
                        [[builder_data[f"{kind}/{name}"][s]["data"]["mask"]] for s in pdfconfig.samples]
                        for name, kind in modifiers
                    ],
                    dtype=float,
                )
                self.slices = [pdfconfig.par_slice(name) for name, _ in modifiers]

            def apply(self, pars):
                return np.einsum(
                    "msab,m->msab", self.mask, np.array([pars[part][0] ** 2 for part in self.slices])
                )

        applier.name = "square"
        samples = [
            {
                "name": "a",
                "data": [10.0, 20.0],
                "modifiers": [{"name": "mu", "type": "normfactor", "data": None}],
            },
            {
                "name": "b",
                "data": [30.0, 5.0],
                "modifiers": [
                    {"name": "x", "type": "square", "data": None},
                    {"name": "n", "type": "normsys", "data": {"hi": 1.1, "lo": 0.9}},
                ],
            },
        ]
        model = module.Model(
            {"channels": [{"name": "c", "samples": samples}]},
            modifier_set={**module.modifiers.histfactory_set, "square": (builder, applier)},
            validate=False,
        )
        point = [{"mu": 1.1, "n": 0.3, "x": 0.7}[name] for name in model.config.par_names]
        data = [41.0, 26.0] + model.config.auxdata
        return [
            model.config.par_names,
            model.expected_data(point),
            model.logpdf(point, data),
            module.infer.mle.fixed_poi_fit(1.0, data, model, return_fitted_val=True)[1],
        ]

    same(numbers, 1e-6)


# ---- fits and tests ----


@pytest.mark.parametrize("document", GENERATED[4:6], ids=range(4, 6))
def test_minima_are_not_above_theirs(document):
    def minimum(module):
        workspace = module.Workspace(document)
        model = workspace.model()
        fits = [lambda: module.infer.mle.fit(workspace.data(model), model, return_fitted_val=True)]
        if model.config.poi_name is not None and not model.config.suggested_fixed()[model.config.poi_index]:
            fits.append(
                lambda: module.infer.mle.fixed_poi_fit(
                    1.0, workspace.data(model), model, return_fitted_val=True
                )
            )
        return [fit() for fit in fits]

    mine, other = both(minimum)
    if "raised" in other:
        return  # their minimiser gave up; whether ours does is its own affair
    assert "raised" not in mine
    for (_, value), (_, theirs_value) in zip(mine, other):
        assert value.shape == theirs_value.shape == () and value <= theirs_value + 1e-7 * max(
            1, abs(theirs_value)
        )


@pytest.mark.parametrize("fitted_val", [False, True])
@pytest.mark.parametrize("result_obj", [False, True])
def test_what_fits_return(fitted_val, result_obj):
    def returned(module):
        model = counting(module)
        found = module.infer.mle.fit(
            observed(model), model, return_fitted_val=fitted_val, return_result_obj=result_obj
        )
        return (*found[:-1], float(found[-1].fun), bool(found[-1].success)) if result_obj else found

    same(returned, 3e-5)


def test_uncertainties_and_correlations():
    model = counting(ours, signal=(30.0,), bkg=(100.0,), uncertainty=(10.0,))
    data = [125.0] + model.config.auxdata
    pars, correlations, value, result = ours.infer.mle.fit(
        data,
        model,
        return_uncertainties=True,
        return_correlations=True,
        return_fitted_val=True,
        return_result_obj=True,
    )
    hessian = np.linalg.inv(result.hess_inv)
    step = 1e-4
    for i, j in itertools.product(range(2), repeat=2):
        corners = [
            ours.infer.mle.twice_nll(pars[:, 0] + step * (a * np.eye(2)[i] + b * np.eye(2)[j]), data, model)[
                0
            ]
            * a
            * b
            for a in (1, -1)
            for b in (1, -1)
        ]
        assert 0.5 * sum(corners) / (4 * step * step) == pytest.approx(hessian[i, j], rel=1e-4)
    assert pars[:, 1] == pytest.approx(np.sqrt(np.diag(result.hess_inv))) and correlations[
        0, 0
    ] == correlations[1, 1] == pytest.approx(1)
    fixed = ours.infer.mle.fixed_poi_fit(1.0, data, model, return_uncertainties=True)
    assert fixed.shape == (2, 2) and fixed[0].tolist() == [1.0, 0.0] and fixed[1, 1] > 0
    assert value == result.fun
    ours.set_backend("numpy", "minuit")
    try:  # as cabinetry calls it
        *_, result = ours.infer.mle.fit(
            data, model, return_result_obj=True, tolerance=None, maxiter=None, strategy=None
        )
    finally:
        ours.set_backend("numpy")
    assert (
        result.minuit.valid
        and result.minuit.fmin.edm < 1e-6
        and result.minuit.values == pytest.approx(pars[:, 0])
        and result.minuit.fixed == [False, False]
    )


@pytest.mark.parametrize(
    "statistic,flags",
    [("qtilde", flags) for flags in itertools.product([False, True], repeat=4)]
    + [(name, (True,) * 4) for name in ("q", "q0")]
    + [("q0", (False,) * 4)],
    ids=str,
)
def test_what_hypotest_returns(statistic, flags):
    names = ("return_tail_probs", "return_expected", "return_expected_set", "return_calculator")

    def returned(module):
        model = counting(module, signal=(9.0, 14.0))
        found = module.infer.hypotest(
            0.0 if statistic == "q0" else 1.3,
            [58.0, 66.0] + model.config.auxdata,
            model,
            test_stat=statistic,
            **dict(zip(names, flags)),
        )
        return (*found[:-1], type(found[-1]).__name__) if flags[3] else found

    same(returned, FITTED)


@pytest.mark.parametrize("statistic", ["qtilde", "q", "q0"])
@pytest.mark.parametrize("base", ["normal", "clipped_normal"])
def test_asymptotic_calculators(statistic, base):
    def returned(module):
        model = counting(module)
        calculator = module.infer.calculators.AsymptoticCalculator(
            [55.0, 60.0] + model.config.auxdata, model, test_stat=statistic, calc_base_dist=base
        )
        value = calculator.teststatistic(0.0 if statistic == "q0" else 1.0)
        signal, background = calculator.distributions(1.0)
        fits = calculator.fitted_pars
        return [
            value,
            signal.shift,
            signal.cutoff,
            background.expected_value(1),
            signal.cdf(0.3),
            calculator.pvalues(value, signal, background),
            calculator.expected_pvalues(signal, background),
            [
                getattr(fits, name)
                for name in (
                    "asimov_pars",
                    "free_fit_to_data",
                    "free_fit_to_asimov",
                    "fixed_poi_fit_to_data",
                    "fixed_poi_fit_to_asimov",
                )
            ],
        ]

    mine, other = both(returned)
    compare(plain(mine), plain(other), 1e-3)


@pytest.mark.parametrize("name", ["qmu", "qmu_tilde", "tmu", "tmu_tilde", "q0"])
def test_test_statistics(name):
    def returned(module):
        model = counting(module)
        arguments = (
            0.0 if name == "q0" else 0.7,
            observed(model),
            model,
            model.config.suggested_init(),
            model.config.suggested_bounds(),
            model.config.suggested_fixed(),
        )
        statistic = getattr(module.infer.test_statistics, name)
        value, (held, free) = statistic(*arguments, return_fitted_pars=True)
        return [statistic(*arguments), value, held, free]

    same(returned, FITTED)


@pytest.mark.parametrize("statistic", ["qtilde", "q0"])
def test_toys_are_the_same_after_the_same_seed(statistic):
    def returned(module):
        model = counting(module)
        np.random.seed(11)
        calculator = module.infer.calculators.ToyCalculator(
            [55.0, 60.0] + model.config.auxdata, model, ntoys=12, track_progress=False, test_stat=statistic
        )
        value = calculator.teststatistic(0.0 if statistic == "q0" else 1.0)
        signal, background = calculator.distributions(0.0 if statistic == "q0" else 1.0)
        return [
            value,
            signal.samples,
            background.samples,
            signal.pvalue(value),
            calculator.pvalues(value, signal, background),
        ]

    same(returned, 1e-3)


# theirs asks NumPy for them in a way that newer ones refuse
def test_expected_values_of_toys_are_percentiles():
    model = counting(ours)
    np.random.seed(3)
    calculator = ours.infer.calculators.ToyCalculator(observed(model), model, ntoys=50, track_progress=False)
    signal, background = calculator.distributions(1.0)
    assert background.expected_value(1) == pytest.approx(np.percentile(background.samples, 84.13447460685429))
    curves = np.array(
        [[np.mean(signal.samples >= q), np.mean(background.samples >= q)] for q in background.samples]
    )
    ratios = curves[:, 0] / curves[:, 1]
    expected = calculator.expected_pvalues(signal, background)
    for band, curve in zip(expected, (curves[:, 0], curves[:, 1], ratios)):
        assert [float(value) for value in band] == pytest.approx(
            np.percentile(
                curve, [2.275013194817921, 15.865525393145708, 50, 84.13447460685429, 97.72498680518208]
            )
        )


def test_keyed_toys_depend_on_the_seed_alone():
    model = counting(ours)

    def samples(seed, ntoys):
        calculator = ours.infer.calculators.ToyCalculator(
            observed(model), model, ntoys=ntoys, track_progress=False, seed=seed
        )
        return [np.sort(distribution.samples) for distribution in calculator.distributions(1.0)]

    first, again, other = samples(5, 400), samples(5, 400), samples(6, 400)
    for mine, same_seed, other_seed in zip(first, again, other):
        assert len(mine) == 400 and np.array_equal(mine, same_seed) and not np.array_equal(mine, other_seed)
    asymptotic = float(ours.infer.hypotest(1.0, observed(model), model))
    np.random.seed(1)
    numpys = float(
        ours.infer.hypotest(
            1.0, observed(model), model, calctype="toybased", ntoys=4000, track_progress=False
        )
    )
    keyed = float(
        ours.infer.hypotest(
            1.0, observed(model), model, calctype="toybased", ntoys=4000, track_progress=False, seed=9
        )
    )
    assert abs(keyed - numpys) < 0.03 and abs(keyed - asymptotic) < 0.05
    with pytest.raises(ours.exceptions.Unsupported):
        ours.infer.hypotest(0.0, observed(model), model, calctype="toybased", seed=1)


def test_data_and_starts_of_another_length_are_refused_as_by_pyhf():
    def refused(module, call):
        model = counting(module)
        try:
            call(module, model)
        except Exception as error:
            return type(error).__name__, str(error)

    calls = {
        "InvalidPdfData": [
            lambda m, model: m.infer.hypotest(1.0, [51.0, 48.0], model),
            lambda m, model: m.infer.hypotest(0.0, [51.0, 48.0], model, test_stat="q0"),
            lambda m, model: m.infer.mle.fit([51.0, 48.0], model),
            lambda m, model: m.infer.hypotest(
                1.0, [51.0, 48.0], model, calctype="toybased", ntoys=5, track_progress=False
            ),
        ],
        "InvalidPdfParameters": [
            lambda m, model: m.infer.hypotest(
                1.0,
                observed(model),
                model,
                init_pars=[1.0] * 4,
                par_bounds=[(0, 10)] * 4,
                fixed_params=[False] * 4,
            ),
            lambda m, model: m.infer.mle.fit(observed(model), model, [1.0, 1.0], [(0, 10)] * 2, [False] * 2),
        ],
    }
    for kind, some in calls.items():
        for call in some:
            mine = refused(ours, call)
            assert mine[0] == kind and mine == refused(theirs, call)
    with pytest.raises(ours.exceptions.InvalidPdfData):
        ours.infer.hypotest(
            1.0, [51.0, 48.0], counting(ours), calctype="toybased", ntoys=5, track_progress=False, seed=1
        )


def test_upper_limits():
    def scanned(module):
        model = counting(module)
        found = module.infer.intervals.upper_limits.upper_limit(
            observed(model), model, scan=np.linspace(0.5, 2.4, 4), return_results=True
        )
        return [*found[:2], found[2][0], list(found[2][1])]

    same(scanned, 1e-3)
    same(
        lambda module: list(
            module.infer.intervals.upper_limits.toms748_scan(
                observed(counting(module)), counting(module), 0.5, 2.5, rtol=1e-3
            )
        ),
        2e-3,
    )
    model = counting(ours)
    limit, expected, (tested, tests) = ours.infer.intervals.upper_limits.upper_limit(
        observed(model), model, level=0.1, return_results=True
    )
    assert len(expected) == 5 and len(tested) == len(tests)
    for bound, curve in zip((limit, *expected), range(6)):
        observed_cls, band = ours.infer.hypotest(bound, observed(model), model, return_expected_set=True)
        assert [observed_cls, *band][curve] == pytest.approx(0.1, rel=1e-3)
    with pytest.raises(ValueError, match="CLs is above 0.05 at 0.0"):
        ours.infer.intervals.upper_limits.toms748_scan(observed(model), model, 0.0, 0.0)
