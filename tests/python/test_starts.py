"""Several starts: the program's answers, and a lower point where no fit converged."""

from types import SimpleNamespace

import numpy as np
import pytest
from package_support import SHARED, assert_same, model_of, program

import paritas
from paritas.starts import SeveralStarts

HARD = SHARED.parent / "hard"


@pytest.mark.parametrize("starts", [0, 1, 3])
def test_statistics_take_the_program_s_starts(starts):
    model = model_of("displaced_leptons")
    for ours, command in ((model.hypotest, "hypotest"), (model.significance, "significance")):
        theirs = program(command, "displaced_leptons", *(("--starts", starts) if starts else ()))
        found = ours(starts=starts)
        assert found.status == theirs["status"]
        assert_same(found.mu_hat, theirs["mu_hat"])


def test_a_limit_of_iterations_holds_for_every_fit():
    model = model_of("displaced_leptons")
    assert model.hypotest(max_iterations=1).status == "at_iteration_limit"
    assert model.goodness_of_fit(max_iterations=1).status == "at_iteration_limit"
    with pytest.raises(paritas.InvalidArgument, match="starts"):
        model.hypotest(starts=-1)
    with pytest.raises(TypeError, match="starts"):
        model.goodness_of_fit(starts=2)


@pytest.mark.parametrize("name", ["model_26", "model_119"])
@pytest.mark.filterwarnings("ignore:fit. not the lowest:RuntimeWarning")
def test_nothing_lower_is_hidden(name):
    path = HARD / f"{name}.json"
    if not path.exists():
        pytest.skip("the models are not here")
    model = paritas.Model.from_workspace(path)
    one, many = model.fit(), model.fit(starts=20)
    known = min(many.twice_nll, many.starts.lower_known[0] if many.starts.lower_known else np.inf)
    assert np.isnan(one.twice_nll) or known <= one.twice_nll + 1e-6


def fits_of(*answers):
    """Batches by list: rows of (status, twice_nll), and where each call started."""
    calls = []

    def fits(rows, **options):
        statuses, values = zip(*answers[len(calls)])
        calls.append((np.array(rows), options))
        return SimpleNamespace(
            status=np.array(statuses), twice_nll=np.array(values), values=np.asarray(rows) + 1.0
        )

    return fits, calls


def test_a_failed_fit_below_the_minimum_goes_on():
    fits, calls = fits_of([("converged", 5.0), ("no_progress", 2.0)], [("converged", 1.0)])
    search = SeveralStarts(model_of("two_bins"), 2, None, fits)
    outcome = search.outcome(1.0)
    assert (outcome.best_start, outcome.converged, outcome.lower_known) == (1, 2, None)
    assert outcome.minima == [(1.0, 1), (5.0, 1)]
    assert calls[1][0].shape[0] == 1 and (calls[1][0] == calls[0][0][1:] + 1.0).all()


def test_a_lower_point_without_a_minimum_is_said():
    stuck = [("no_progress", 2.0)]
    fits, calls = fits_of([("converged", 5.0), *stuck], *[stuck] * 4)
    search = SeveralStarts(model_of("two_bins"), 2, None, fits)
    assert [options.get("minimizer") for _, options in calls[1:]] == [None, "lbfgsb", None, "lbfgsb"]
    with pytest.warns(RuntimeWarning, match="not the lowest point known; .* no_progress reached 2, 3 lower"):
        outcome = search.outcome(5.0)
    assert outcome.lower_known == (2.0, "no_progress") and outcome.best_start == 0


def test_an_answer_that_fails_gives_way_to_the_next_minimum():
    fits, _ = fits_of([("converged", 5.0), ("converged", 2.0)], *[[("not_a_minimum", 2.0)]] * 4)
    search = SeveralStarts(model_of("two_bins"), 2, None, fits)
    assert search.fails("not_a_minimum") and not search.fails("converged")
    with pytest.warns(RuntimeWarning):
        assert search.outcome(5.0).lower_known == (2.0, "not_a_minimum")
