"""Distributions of the test statistic in toys, compared with pyhf's ToyCalculator, under both hypotheses.

Each distribution is compared with 500 toys that pyhf makes here (two-sample tests), and with the binned
counts of 9000 of pyhf's toys in toys.json, which `python tests/pyhf/test_pyhf_toys.py 9000` makes in some
hours. pyhf's minimiser leaves some 1e-4 where the statistic is 0, so all values below 1e-3 form one bin, the
atom at 0. The tests can fail: they refuse toys whose auxiliary data are not drawn."""

import json
import os
import sqlite3
import sys

import numpy as np
import pyhf
import pytest
import scipy.stats

if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from comparison import answer

REFERENCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "toys.json")
ATOM = 1e-3
BINS = 12
LEAST = 1e-4  # the smallest p-value allowed; there are some forty


def channel(name, **samples):
    return {
        "name": name,
        "samples": [
            {"name": sample, "data": data, "modifiers": modifiers}
            for sample, (data, *modifiers) in samples.items()
        ],
    }


def workspace(observed, *channels, bounds):
    return {
        "channels": list(channels),
        "observations": [{"name": c["name"], "data": data} for c, data in zip(channels, observed)],
        "measurements": [
            {
                "name": "m",
                "config": {"poi": "mu", "parameters": [{"name": "mu", "inits": [1.0], "bounds": [bounds]}]},
            }
        ],
        "version": "1.0.0",
    }


MU = {"name": "mu", "type": "normfactor", "data": None}


def normsys(name, hi, lo):
    return {"name": name, "type": "normsys", "data": {"hi": hi, "lo": lo}}


# Poisson constraints
UNCORRELATED = workspace(
    [[51.0, 48.0]],
    channel(
        "SR",
        signal=([12.0, 11.0], MU),
        background=([50.0, 52.0], {"name": "unc", "type": "shapesys", "data": [3.0, 7.0]}),
    ),
    bounds=[0, 10],
)
# normal constraints of shapes and norms over two channels; best fits below 0
CORRELATED = workspace(
    [[23.0, 41.0], [60.0]],
    channel(
        "SR",
        signal=([6.0, 9.0], MU, normsys("scale", 1.1, 0.92)),
        background=(
            [25.0, 30.0],
            {"name": "shape", "type": "histosys", "data": {"hi_data": [28.0, 36.0], "lo_data": [23.0, 26.0]}},
            normsys("norm", 1.2, 0.85),
        ),
    ),
    channel("CR", background=([55.0], normsys("norm", 1.15, 0.9))),
    bounds=[-4, 10],
)
# few events: far from any asymptotic formula
FEW = workspace(
    [[6.0, 2.0]],
    channel(
        "SR",
        signal=([2.0, 1.5], MU),
        fakes=([1.5, 0.5], {"name": "rate", "type": "shapesys", "data": [0.7, 0.3]}),
        top=(
            [2.0, 0.8],
            {"name": "stat", "type": "staterror", "data": [0.5, 0.3]},
            normsys("theory", 1.3, 0.8),
        ),
    ),
    bounds=[0, 10],
)
CASES = {
    "uncorrelated": (UNCORRELATED, "qtilde", 1.0),
    "correlated": (CORRELATED, "q", 1.5),
    "few": (FEW, "qtilde", 1.5),
    "discovery": (CORRELATED, "q0", 0.0),
}


def pyhf_toys(name, count, seed):
    """(observed statistic, toys at the tested value, toys at the other value)"""
    document, statistic, mu = CASES[name]
    model = pyhf.Workspace(document).model()
    np.random.seed(seed)
    calculator = pyhf.infer.calculators.ToyCalculator(
        pyhf.Workspace(document).data(model), model, test_stat=statistic, ntoys=count, track_progress=False
    )
    tested, other = calculator.distributions(mu)
    return float(calculator.teststatistic(mu)), np.asarray(tested.samples), np.asarray(other.samples)


def our_toys(name, count, seed, folder, *options):
    """(toys at the tested value, toys at the other value, the answer)"""
    document, statistic, mu = CASES[name]
    path, store = folder / "workspace.json", folder / f"toys{len(os.listdir(folder))}.db"
    path.write_text(json.dumps(document))
    found = answer(
        "hypotest-toys",
        path,
        "--mu",
        mu,
        "--test-stat",
        statistic,
        "--ntoys",
        count,
        "--seed",
        seed,
        "--store",
        store,
        *options,
    )
    assert found["counts"] == {"converged": 2 * count}
    with sqlite3.connect(store) as connection:
        rows = np.array(connection.execute("SELECT hypothesis, q FROM toys").fetchall())
    return rows[rows[:, 0] == mu, 1], rows[rows[:, 0] != mu, 1], found


def summary(q_observed, *samples):
    """What toys.json keeps: the number of toys, the observed statistic, and for both hypotheses edges, counts
    between them, and how many toys are at least as large as observed."""
    kept = {"n": len(samples[0]), "q": q_observed, "distributions": []}
    for q in samples:
        edges = [
            ATOM,
            *(round(float(edge), 4) for edge in np.quantile(q[q >= ATOM], np.arange(1, BINS) / BINS)),
        ]
        kept["distributions"].append(
            {"edges": edges, "counts": counts_of(q, edges), "as_large": int(np.sum(q >= q_observed))}
        )
    return kept


def counts_of(q, edges):
    return np.histogram(q, [-np.inf, *edges, np.inf])[0].tolist()


def chi_square_p(ours, theirs):
    return scipy.stats.chi2_contingency(np.array([ours, theirs]), correction=False).pvalue


def two_sample(ours, theirs):
    """p-values of the atom and, by Kolmogorov and Smirnov, of all toys; the Anderson-Darling statistic"""
    ours, theirs = (np.where(q < ATOM, 0.0, q) for q in (ours, theirs))
    atom = chi_square_p(*([np.sum(q == 0), np.sum(q > 0)] for q in (ours, theirs)))
    return (
        atom,
        scipy.stats.ks_2samp(ours, theirs).pvalue,
        scipy.stats.anderson_ksamp([ours, theirs]).statistic,
    )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["uncorrelated", "discovery"])  # pyhf is quick at these
def test_distributions_are_those_of_pyhfs_toys(name, tmp_path):
    _, *theirs = pyhf_toys(name, 300, 11)
    *ours, _ = our_toys(name, 50000, 5, tmp_path)
    for a, b in zip(ours, theirs):
        atom, smirnov, darling = two_sample(a, b)
        # the Anderson-Darling statistic exceeds 6.5 once in a thousand times
        assert atom > LEAST and smirnov > LEAST and darling < 9.0, (name, atom, smirnov, darling)


@pytest.mark.parametrize("name", CASES)
def test_distributions_are_those_of_many_toys_of_pyhf(name, tmp_path):
    with open(REFERENCE, encoding="utf-8") as file:
        kept = json.load(file)[name]
    *ours, found = our_toys(name, 200000, 6, tmp_path)
    assert found["q"] == pytest.approx(kept["q"], abs=1e-4)
    for q, theirs, p, error in zip(
        ours, kept["distributions"], (found["CLsb"], found["CLb"]), (found["CLsb_error"], found["CLb_error"])
    ):
        assert sum(theirs["counts"]) == kept["n"]
        counts = counts_of(q, theirs["edges"])
        assert chi_square_p(counts, theirs["counts"]) > LEAST, (counts, theirs["counts"])
        fraction = theirs["as_large"] / kept["n"]
        assert abs(p - fraction) < 4 * np.hypot(error, np.sqrt(fraction * (1 - fraction) / kept["n"]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_toys_with_the_auxiliary_data_as_observed_are_refused(name, tmp_path):
    with open(REFERENCE, encoding="utf-8") as file:
        kept = json.load(file)[name]
    *ours, found = our_toys(name, 200000, 6, tmp_path, "--fix-aux")
    assert (
        min(
            chi_square_p(counts_of(q, theirs["edges"]), theirs["counts"])
            for q, theirs in zip(ours, kept["distributions"])
        )
        < LEAST / 100
    )


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore")
    document = {}
    for case in CASES:
        parts = [pyhf_toys(case, 1000, part) for part in range(int(sys.argv[1]) // 1000)]
        document[case] = summary(parts[0][0], *(np.concatenate([part[k] for part in parts]) for k in (1, 2)))
        print(case, document[case], file=sys.stderr)
    with open(REFERENCE, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=1)
