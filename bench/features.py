#!/usr/bin/env python3
"""Features beside the programs that have them too: numbers, and processor times measured in turns.

    features.py [--pairs N] [--only WORD]... [--rabbit FOLDER] [--smodels FOLDER]

Asks what can be imported of bench/requirements-features.txt, and names what is missing. --rabbit: a clone of
WMass/rabbit, beside TensorFlow. --smodels: a clone of SModelS/smodels-database-release, for published
covariances, third moments, and workspaces that ATLAS' simplify made.

Prints a Markdown table. A difference is the largest one over the largest number. Times are medians of
processor time with one thread; a program that needs longer than 20 s is asked once."""

import argparse
import ast
import glob
import importlib
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from signals import signals_of  # noqa: E402

# other files here have names of modules that peers import
sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
import resource  # noqa: E402

import numpy as np  # noqa: E402

import paritas  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.path.join(os.path.dirname(ROOT), "shared", "workspaces")
TWO = os.path.join(ROOT, "examples", "two_bins.json")
PATIENCE = 20.0  # s
LEAST = 0.02  # s of calls, so that the clock can tell
CASES = []
HEADS = ["feature", "analysis", "number", "Paritas", "other", "difference"]
HEADS += ["time", "other's", "other / ours", "program"]


def case(*peers):
    """A function of rows that needs these modules."""

    def keep(function):
        CASES.append((function, peers))
        return function

    return keep


def seconds():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(function):
    count, started = 0, seconds()
    while True:
        value = function()
        count += 1
        spent = seconds() - started
        if spent >= LEAST:
            return spent / count, np.atleast_1d(np.asarray(value, dtype=float))


def in_turns(pairs, *functions):
    functions[0]()  # warm
    times = [[] for _ in functions]
    values = [None] * len(functions)
    for _ in range(pairs):
        for k, function in enumerate(functions):
            if times[k] and times[k][-1] > PATIENCE:
                continue
            spent, values[k] = timed(function)
            times[k].append(spent)
    return [statistics.median(one) for one in times], values


def shown(time):
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if time >= size:
            break
    return f"{time / size:.3g} {unit}"


def row(options, feature, analysis, quantity, peer, ours, theirs, each=1):
    """each: answers in one call of ours; theirs gives the first few."""
    (mine, other), (first, second) = in_turns(options.pairs, ours, theirs)
    first = first.ravel()[: second.size]
    largest = np.argmax(np.abs(second))
    away = np.max(np.abs(first - second)) / np.max(np.abs(second))
    mine = mine / each
    cells = [feature, analysis, quantity, f"{first[largest]:.6g}", f"{second[largest]:.6g}", f"{away:.0e}"]
    cells += [shown(mine), shown(other), ratio(other, mine), peer]
    options.put(cells)


def ratio(other, mine):
    return f"{float(f'{other / mine:.2g}'):g}"


def put(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def version(name):
    return f"{name} {importlib.metadata.version(name)}"


# ---- models ----


def counts():
    """Twelve bins, three samples, six systematic uncertainties; rates are exponential in them."""
    random = np.random.default_rng(3)
    bins = 12
    rates = {
        "signal": random.uniform(3, 9, bins),
        "first": random.uniform(40, 80, bins),
        "second": random.uniform(10, 30, bins),
    }
    spread = {"norm1": 0.1, "norm2": 0.2, "jes": 0.05, "lumi": 0.02, "theory": 0.08, "jer": -0.03}
    acts = {"norm1": ["first"], "norm2": ["second"], "theory": ["signal"]}
    factors = {
        name: (acts.get(name, list(rates)), np.exp(size * random.uniform(0.5, 1.5, bins)))
        for name, size in spread.items()
    }
    data = random.poisson(sum(rates.values())).astype(float)
    return rates, factors, data


def workspace_of(rates, factors, data, correlations=()):
    def sample(name, i):
        modifiers = [
            {"name": factor, "type": "normsys", "data": {"hi": size[i], "lo": 1 / size[i]}}
            for factor, (samples, size) in factors.items()
            if name in samples
        ]
        if name == "signal":
            modifiers.append({"name": "mu", "type": "normfactor", "data": None})
        return {"name": name, "data": [rates[name][i]], "modifiers": modifiers}

    names = [f"bin{i:02}" for i in range(len(data))]
    config = {"poi": "mu", "parameters": [], **({"correlations": list(correlations)} if correlations else {})}
    return {
        "channels": [
            {"name": name, "samples": [sample(one, i) for one in rates]} for i, name in enumerate(names)
        ],
        "observations": [{"name": name, "data": [float(n)]} for name, n in zip(names, data)],
        "measurements": [{"name": "all", "config": config}],
        "version": "1.0.0",
    }


def pyhf_of(document):
    import pyhf

    workspace = pyhf.Workspace(document)
    codes = {"normsys": {"interpcode": "code4"}, "histosys": {"interpcode": "code4p"}}
    model = workspace.model(modifier_settings=codes)
    return model, workspace.data(model)


def mu_and_t(model):
    best = model.fit(covariance=False)
    return [best["mu"][0], model.fit(covariance=False, fixed={"mu": 3.0}).twice_nll - best.twice_nll]


# ---- impacts, goodness of fit ----


@case("cabinetry")
def impacts(options):
    import cabinetry

    document = workspace_of(*counts())
    mine = paritas.Model.from_workspace(document)
    model, data = cabinetry.model_utils.model_and_data(document)
    exactly = {"tolerance": 1e-4, "strategy": 2}
    best = cabinetry.fit.fit(model, data, **exactly)

    def theirs():
        found = cabinetry.fit.ranking(model, data, fit_results=best, **exactly)
        return dict(zip(found.labels, np.transpose([found.prefit_up, found.prefit_down])))

    names = list(theirs())

    def ours():
        found = mine.ranking()
        rows = dict(zip(found.names, np.transpose([found.prefit_up, found.prefit_down])))
        return np.ravel([rows[name] for name in names])

    peer = version("cabinetry")
    row(
        options,
        "impacts by refits",
        "12 counts",
        "of mu, by 1 before the fit",
        peer,
        ours,
        lambda: np.ravel(list(theirs().values())),
    )

    def quality():
        return cabinetry.fit.fit(model, data, goodness_of_fit=True).goodness_of_fit

    row(
        options,
        "goodness of fit",
        "12 counts",
        "saturated p",
        peer,
        lambda: mine.goodness_of_fit().p,
        quality,
    )


@case("pyhf", "iminuit")
def shifted_data(options):
    import pyhf

    pyhf.set_backend("numpy", pyhf.optimize.minuit_optimizer(tolerance=1e-4, strategy=2))
    document = workspace_of(*counts())
    mine = paritas.Model.from_workspace(document)
    model, data = pyhf_of(document)
    names = model.config.auxdata_order
    start, poi, main = model.config.suggested_init(), model.config.poi_index, len(data) - len(names)

    def theirs():
        found = []
        for i in range(len(names)):
            ends = []
            for side in (0.3, -0.3):
                moved = list(data)
                moved[main + i] += side
                ends.append(pyhf.infer.mle.fit(moved, model, init_pars=start)[poi])
            found.append((ends[0] - ends[1]) / 0.6)
        return found

    def ours():
        found = mine.global_impacts().entries
        rows = dict(zip(found.names, found.impact))
        return [rows[name] for name in names]

    row(
        options,
        "global impacts",
        "12 counts",
        "impact on mu",
        f"refits of shifted data, {version('pyhf')}",
        ours,
        theirs,
    )


@case("pyhf", "iminuit")
def correlated(options):
    import iminuit

    rates, factors, data = counts()
    pair, rho = ["jes", "norm1"], 0.6
    given = {"name": "both", "parameters": pair, "correlation": [[1, rho], [rho, 1]]}
    mine = paritas.Model.from_workspace(workspace_of(rates, factors, data, [given]))
    model, row_of = pyhf_of(workspace_of(rates, factors, data))
    at = [model.config.par_slice(name).start for name in pair]
    more = np.linalg.inv([[1, rho], [rho, 1]]) - np.eye(2)
    poi = model.config.poi_index

    def target(values):
        own = np.asarray(values)[at]
        return -2.0 * model.logpdf(values, row_of)[0] + own @ more @ own

    def theirs():
        fit = iminuit.Minuit(target, model.config.suggested_init())
        fit.limits = model.config.suggested_bounds()
        fit.tol, fit.strategy = 1e-4, 2
        fit.migrad()
        mu, least = fit.values[poi], fit.fval
        fit.fixed[poi] = True
        fit.values[poi] = 3.0
        fit.migrad()
        return [mu, fit.fval - least]

    peer = f"{version('pyhf')} + iminuit"
    row(
        options,
        "correlated constraints",
        "12 counts",
        "mu, t at mu = 3",
        peer,
        lambda: mu_and_t(mine),
        theirs,
    )


@case("pyhf", "iminuit")
def pruned(options):
    import pyhf

    pyhf.set_backend("numpy", pyhf.optimize.minuit_optimizer(tolerance=1e-4, strategy=2))
    document = workspace_of(*counts())
    mine = paritas.Model.from_workspace(document, masks=["bin11"])
    model, data = pyhf_of(pyhf.Workspace(document).prune(channels=["bin11"]))
    poi = model.config.poi_index

    def theirs():
        best, least = pyhf.infer.mle.fit(data, model, return_fitted_val=True)
        _, other = pyhf.infer.mle.fixed_poi_fit(3.0, data, model, return_fitted_val=True)
        return [best[poi], other - least]

    row(
        options,
        "masked channel",
        "12 counts",
        "mu, t at mu = 3",
        f"pruned, {version('pyhf')}",
        lambda: mu_and_t(mine),
        theirs,
    )


# ---- rabbit ----


def write_tensor(path, rates, factors, data, masked):
    import hist
    from rabbit import tensorwriter

    def of(values):
        made = hist.Hist(
            hist.axis.Integer(0, len(values), name="x", flow=False), storage=hist.storage.Double()
        )
        made.values()[...] = values
        return made

    writer = tensorwriter.TensorWriter(systematic_type="log_normal")
    for channel, bins in (("seen", ~masked), ("masked", masked)):
        if not bins.any():
            continue
        writer.add_channel(of(data[bins]).axes, channel, masked=channel == "masked")
        if channel == "seen":
            writer.add_data(of(data[bins]), channel)
        for name, own in rates.items():
            none = np.zeros(bins.sum())
            writer.add_process(of(own[bins]), name, channel, signal=name == "signal", variances=none)
        for factor, (samples, size) in factors.items():
            for name in samples:
                ends = [of((rates[name] * size**side)[bins]) for side in (1, -1)]
                writer.add_systematic(ends, factor, name, channel, symmetrize="average")
    writer.write(outfolder=os.path.dirname(path), outfilename=os.path.basename(path))


@case("rabbit", "hist")
def rabbit_fits(options):
    from rabbit import io_tools

    program = os.path.join(options.rabbit, "bin", "rabbit_fit.py")
    cli = os.path.join(options.build, "bin", "paritas")
    rates, factors, data = counts()
    peer = "rabbit 0.2.5 (github)"
    with tempfile.TemporaryDirectory() as folder:

        def fitted(name, masked, *wanted):
            write_tensor(os.path.join(folder, name), rates, factors, data, masked)
            command = [sys.executable, program, f"{folder}/{name}.hdf5", "-o", folder, "-t", "0"]
            command += ["--unblind", ".*", "--noBinByBinStat", "--allowNegativeParam", *wanted]
            environment = {**os.environ, "PYTHONPATH": options.rabbit}

            def run():
                subprocess.run(command, check=True, capture_output=True, env=environment)
                return io_tools.get_fitresult(f"{folder}/fitresults.hdf5")

            return run

        def program_of(*command):
            done = subprocess.run([cli, *command, "--json"], check=True, capture_output=True)
            return json.loads(done.stdout)

        path = os.path.join(folder, "workspace.json")
        with open(path, "w") as file:
            json.dump(workspace_of(rates, factors, data), file)
        run = fitted("all", np.zeros(len(data), bool), "--globalImpacts")

        def theirs():
            found = run()["global_impacts"].get()
            return found.values()[0][1:]

        names = list(run()["global_impacts"].get().axes[1])[1:]

        def ours():
            found = program_of("ranking", path, "--impacts", "global", "--normsys-code", "1")
            rows = {one["name"]: one["impact"] for one in found["entries"]}
            return [rows[name] for name in names]

        row(options, "global impacts", "12 counts, processes", "impact on mu", peer, ours, theirs)
        masked = np.arange(len(data)) == len(data) - 1
        other = fitted("some", masked)

        def fit_of():
            found = other()["parms"].get()
            return [found.values()[0], found.variances()[0] ** 0.5]

        def fit_ours():
            found = program_of("fit", path, "--mask", "bin11", "--normsys-code", "1")
            at = next(one for one in found["parameters"] if one["name"] == "mu")
            return [at["value"], at["error"]]

        row(options, "masked channel", "12 counts, processes", "mu, error", peer, fit_ours, fit_of)


# ---- simplified likelihoods ----


def published(folder):
    """Moments of each analysis with a covariance, and a signal of half an error in each bin."""
    for path in sorted(glob.glob(os.path.join(folder, "13TeV", "CMS", "*", "globalInfo.txt"))):
        with open(path) as file:
            text = file.read()
        found = re.search(r"^covariance: (.*)$", text, re.M)
        order = re.search(r"^datasetOrder: (.*)$", text, re.M)
        if not found or not order:
            continue
        try:
            covariance = np.array(ast.literal_eval(found[1]), dtype=float)
            names = np.ravel(ast.literal_eval(f"[{order[1]}]")).tolist()
        except (SyntaxError, ValueError):
            continue
        sets = []
        for name in names:
            with open(os.path.join(os.path.dirname(path), name, "dataInfo.txt")) as file:
                sets.append(dict(re.findall(r"^(\w+): (\S+)$", file.read(), re.M)))
        moments = {
            "observed": [float(one["observedN"]) for one in sets],
            "background": [float(one["expectedBG"]) for one in sets],
            "signal": 0.5 * np.sqrt(np.diag(covariance)),
            "covariance": covariance,
        }
        if all("thirdMoment" in one for one in sets):
            moments["third_moments"] = [float(one["thirdMoment"]) for one in sets]
        yield os.path.basename(os.path.dirname(path)), moments


def moments_of_example():
    """The bottom squarks without their control region, to which the background is fitted."""
    folder = os.path.join(ROOT, "examples", "sbottom_A")
    names = ("BkgOnly.json", "patch.sbottom_900_250_60.json")
    found = paritas.moments(
        paritas.Model.from_workspace(*(os.path.join(folder, name) for name in names)), ["CR*"]
    )
    return {key: found[key] for key in ("observed", "background", "signal", "covariance")}


@case("spey")
def simplified(options):
    import spey

    known = [("bottom squarks", moments_of_example())]
    for name, moments in [*known, *(published(options.smodels) if options.smodels else ())]:
        third = "third_moments" in moments
        backend = "third_moment_expansion" if third else "correlated_background"
        given = {
            "signal_yields": np.array(moments["signal"]),
            "background_yields": np.array(moments["background"]),
            "data": np.array(moments["observed"]),
            "covariance_matrix": moments["covariance"],
        }
        if third:
            given["third_moment"] = np.array(moments["third_moments"])
        model = paritas.Workspace.from_moments(moments, "quadratic" if third else "linear").model()
        poi = model.poi_name

        def ours(model=model, poi=poi):
            best = model.fit(covariance=False, bounds={poi: (-10.0, 10.0)}).twice_nll
            return model.fit(covariance=False, fixed={poi: 2.0}).twice_nll - best

        def theirs(given=given, backend=backend):
            made = spey.get_backend("default." + backend)(**given)
            return 2.0 * (made.likelihood(poi_test=2.0) - made.maximize_likelihood()[1])

        def limit(given=given, backend=backend):
            return spey.get_backend("default." + backend)(**given).poi_upper_limit()

        analysis = f"{name}, {len(given['data'])} bins" + (", third moments" if third else "")
        peer = version("spey")
        row(options, "simplified likelihoods", analysis, "t at mu = 2", peer, ours, theirs)
        row(
            options,
            "simplified likelihoods",
            analysis,
            "observed limit",
            peer,
            lambda model=model: model.upper_limit().limit_obs,
            limit,
        )


@case()
def published_simplify(options):
    """Rates and errors of ATLAS' simplify, as published."""
    pairs = {
        "2018-31-eff": [(f"BkgOnly{region}", f"simplified{region}") for region in "ABC"],
        "2018-05-ewk-eff": [("ewk_signal_bkgonly", "simplified")],
        "2019-09-eff": [(f"bkg_{shell}", f"bkg_{shell}_simplified") for shell in ("onshell", "offshell")],
    }
    for analysis, names in pairs.items():
        for full, small in names if options.smodels else ():
            folder = os.path.join(options.smodels, "13TeV", "ATLAS", "ATLAS-SUSY-" + analysis)
            try:
                with open(os.path.join(folder, small + ".json")) as file:
                    theirs = json.load(file)
            except OSError:
                continue
            path = os.path.join(folder, full + ".json")
            spent, _ = timed(lambda path=path: 0 * bool(paritas.simplify(path, form="common", postfit=True)))
            rows = {
                one["name"]: one["samples"]
                for one in paritas.simplify(path, form="common", postfit=True).to_dict()["channels"]
            }
            found = {"rate": [[], []], "error": [[], []]}
            for channel in theirs["channels"]:
                mine = next(one for one in rows[channel["name"]] if one["name"] != "signal")
                for k, one in enumerate((mine, channel["samples"][0])):
                    up = next(m for m in one["modifiers"] if m["name"] == "totalError")["data"]["hi_data"]
                    found["rate"][k] += one["data"]
                    found["error"][k] += (np.array(up) - one["data"]).tolist()
            (rates, errors) = (np.array(one) for one in found.values())
            at = np.argmax(np.abs(errors[0] / errors[1] - 1.0))
            away = [np.abs(one[0] / one[1] - 1.0) for one in (rates, errors)]
            cells = ["simplified likelihoods", f"ATLAS-SUSY-{analysis[:7]} {full}, {errors.shape[1]} bins"]
            cells += ["rates; errors of bins", f"{errors[0][at]:.4g}", f"{errors[1][at]:.4g}"]
            cells += [f"{away[0].max():.0e}; {away[1].max():.0e}, median {np.median(away[1]):.0e}"]
            cells += [shown(spent), "", "", "ATLAS' simplify, as published"]
            options.put(cells)


# ---- many signals ----


@case("pyhf", "spey", "spey_pyhf")
def many_signals(options):
    import pyhf
    import spey

    pyhf.set_backend("numpy", pyhf.optimize.scipy_optimizer())
    path = os.path.join(SHARED, "tHu_FCNC.json")
    if not os.path.exists(path):
        return
    moments = paritas.moments(path, ["CR*"])
    small = paritas.Workspace.from_moments(moments)
    model, count, asked = small.model(), 2000, 2
    rates = signals_of(model, count, 0.05, 0.3)
    document = small.to_dict()
    names = [(one["name"], int(one["bins"])) for one in moments["channels"]]

    def replaced(signal):
        made, at = json.loads(json.dumps(document)), 0
        bins = dict(names)
        for channel in sorted(made["channels"], key=lambda one: one["name"]):
            for sample in channel["samples"]:
                if sample["name"] == "signal":
                    sample["data"] = signal[at : at + bins[channel["name"]]].tolist()
            at += bins[channel["name"]]
        return made

    def ours():
        return paritas.signals(model, rates, "cls", curve="observed", threads=1)

    def by_pyhf(signal):
        other, data = pyhf_of(replaced(signal))
        return float(pyhf.infer.hypotest(1.0, data, other))

    def by_spey(signal):
        given = {"signal_yields": signal, "covariance_matrix": moments["covariance"]}
        given.update(background_yields=moments["background"], data=moments["observed"])
        made = spey.get_backend("default.correlated_background")(**given)
        return 1.0 - made.exclusion_confidence_level()[0]

    def by_both(signal):
        bare = replaced(signal)
        patch = [
            {"op": "add", "path": f"/channels/{i}/samples/0", "value": channel["samples"].pop(0)}
            for i, channel in enumerate(bare["channels"])
        ]
        made = spey.get_backend("pyhf")(background_only_model=bare, signal_patch=patch)
        return 1.0 - made.exclusion_confidence_level()[0]

    for peer, ask in (
        (version("pyhf"), by_pyhf),
        (version("spey"), by_spey),
        (version("spey-pyhf"), by_both),
    ):
        (mine, other), (first, second) = in_turns(
            options.pairs, ours, lambda ask=ask: [ask(rates[i]) for i in range(asked)]
        )
        away = np.max(np.abs(first[:asked] - second)) / np.max(second)
        cells = ["many signals", "tHu, linear, 20 bins", "CLs", f"{first[0]:.6g}", f"{second[0]:.6g}"]
        cells += [f"{away:.0e}", shown(mine / count), shown(other / asked)]
        cells += [ratio(other / asked, mine / count), peer]
        options.put(cells)


def missing(peers):
    found = []
    for name in peers:
        try:
            importlib.import_module(name)
        except ImportError:
            found.append(name)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--only", action="append", default=[], help="functions of this file")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("--rabbit")
    parser.add_argument("--smodels")
    options = parser.parse_args()
    options.put = put
    if options.rabbit:
        sys.path.insert(0, options.rabbit)
    put(HEADS)
    put(["---"] * len(HEADS))
    for function, peers in CASES:
        if options.only and function.__name__ not in options.only:
            continue
        absent = missing(peers)
        if absent:
            print(f"{function.__name__}: {', '.join(absent)} is missing", file=sys.stderr)
        else:
            function(options)


if __name__ == "__main__":
    main()
