"""Results as views of the library's rows: what may be written, replaced and compared."""

import json
import pickle
import subprocess

import numpy as np
import paritas
import pytest
from package_support import PROGRAM, TWO


@pytest.fixture(scope="module")
def model():
    return paritas.Model.from_workspace(TWO)


def test_columns_of_words_are_made_once_and_are_read_only(model):
    batch = model.fit_batch([model.data] * 3)
    assert batch.status is batch.status and batch.iterations is batch.iterations
    for column in (batch.status, batch.iterations):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = column[1]
    assert np.shares_memory(batch.twice_nll, batch.row)


def test_replace_takes_fields_alone(model):
    fit = model.fit()
    assert fit.replace(status="no_progress").status == "no_progress"
    for name in ("nll", "converged", "to_dict", "no_such_name"):
        with pytest.raises(TypeError, match=name):
            fit.replace(**{name: 1})


def test_what_was_read_does_not_change_equality(model):
    batch = model.fit_batch([model.data] * 3)
    other = pickle.loads(pickle.dumps(batch))
    assert batch.status[0] == "converged" and batch == other == batch.replace()
    device = paritas.devices()[0]
    assert device.replace(name=device.name) == device


def test_tables_show_what_a_person_asks_for(model):
    batch = model.fit_batch([model.data] * 3)
    assert "3 fits (3 converged)" in batch._repr_html_()
    assert "CLs = 0.05" in model.upper_limit()._repr_html_()
    table = model.goodness_of_fit_toys(n=5)._repr_html_()
    assert "<td>statistic</td>" in table and "<td>p_toys</td>" in table


def test_to_dict_is_a_complete_record_for_json(model):
    fit = json.loads(json.dumps(model.fit(starts=2).to_dict()))
    assert fit["status"] == "converged" and len(fit["covariance"]) == len(fit["names"])
    assert fit["parameters"] == dict(zip(fit["names"], fit["values"]))
    assert fit["starts"]["n"] == 2 and fit["starts"]["minima"][0][1] == fit["starts"]["converged"]
    test = json.loads(json.dumps(model.hypotest_toys(1.0, n=3, seed=2).to_dict()))
    assert [(toy["hypothesis"], toy["toy"]) for toy in test["toys"]] == [
        (h, t) for h in (0, 1) for t in range(3)
    ]
    toys = json.loads(json.dumps(model.fit_toys(n=3).to_dict()))
    assert toys["toy"] == [0, 1, 2] and toys["run"]["tally"]["counts"]["converged"] == 3
    assert len(toys["summary"]["mean"]) == len(toys["names"])


def test_to_dict_is_what_the_program_writes(model):
    def common(one, other):
        return {key: one[key] for key in one if key in other and key != "scan"}

    done = subprocess.run([PROGRAM, "limit", TWO, "--json"], capture_output=True, text=True, check=True)
    written, found = json.loads(done.stdout), model.upper_limit().to_dict()
    assert common(found, written) == common(written, found)
    for ours, theirs in zip(found["scan"], written["scan"]):
        assert common(ours, theirs) == theirs
    assert found["scan"][0]["p0"] is None and found["scan"][0]["q_asimov_other"] is None
    assert found["crossings_obs"] == [] and found["crossings_exp"] == [[]] * 5
    for result in (model.fit(), model.hypotest(1.0), model.scan(("mu", [0, 1])), model.ranking()):
        json.dumps(result.to_dict(), allow_nan=False)


def test_crossings_have_the_length_that_was_found(model):
    limit = model.upper_limit()
    row = limit.row.copy()
    assert row["crossings_exp"].shape == (5, 128)  # as many as tests: none is left out
    row["crossings_exp"][4][:9] = range(9)
    found = type(limit)(row, level=limit.level, scan=[])
    assert [len(one) for one in found.crossings_exp] == [0, 0, 0, 0, 9]
    assert found.to_dict()["crossings_exp"][4] == [float(k) for k in range(9)]


def test_attributes_of_results_cannot_be_set(model):
    fit = model.fit()
    for name in ("values", "twice_nll", "nll"):
        with pytest.raises(AttributeError, match=f"FitResult.{name} is read-only"):
            setattr(fit, name, 3)
    with pytest.raises(AttributeError, match="FitResult has no attribute 'valeus'"):
        fit.valeus = 3


def test_only_records_with_a_status_have_converged(model):
    toys = model.hypotest_toys(1.0, n=3)
    assert toys.converged and model.fit_toys(n=3).run.converged
    for other in (paritas.devices()[0], toys.tally, model.fit_toys(n=3).summary):
        assert not hasattr(other, "converged") and "converged" not in dir(other)


def test_documentation_of_attributes_has_no_names_of_c():
    for name in dir(paritas.results):
        kind = getattr(paritas.results, name)
        for field in getattr(getattr(kind, "record", None), "fields", ()):
            assert "paritas_" not in field.doc and "_room" not in field.doc, (name, field.name, field.doc)


def test_an_unknown_keyword_is_named_with_the_nearest_known_one(model):
    assert paritas.kappa.fit is not paritas.losscone.fit  # functions of one name keep their own keywords
    assert model.fit(init={"mu": 1.0}, fixed=["mu"])["mu"][0] == 1.0
    for call, wrong, right in (
        (lambda: model.scan("mu", value=[1.0]), "scan.* 'value'", "values"),
        (lambda: model.minos(devize="cpu"), "minos.* 'devize'", "device"),
        (lambda: model.gradient(devize="cpu"), "gradient.* 'devize'", "device"),
        (lambda: model.fit(precison="f64"), "fit.* 'precison'", "precision"),
        (lambda: paritas.kappa.flux([1.0], [[1e6, 3.0, 1e6]], thread=1), "flux.* 'thread'", "threads"),
    ):
        with pytest.raises(TypeError, match=f"{wrong}: did you mean '{right}'"):
            call()


def test_a_fit_prints_as_a_table():
    fit = paritas.fit(TWO)
    head, interest, _, columns, *rows = str(fit).splitlines()
    assert head.startswith("Fit: converged, twice NLL ") and interest == "Parameter of interest: mu"
    assert columns.split() == ["parameter", "value", "error", "state"]
    assert rows[0].split() == ["mu", "0", "-", "at_lower_bound"] and len(rows) == len(fit.names)
    assert (
        repr(fit) == f"<paritas.FitResult: converged, twice NLL {fit.twice_nll:.10g}, 3 parameters, mu = 0>"
    )
