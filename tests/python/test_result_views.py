"""Results as views of the library's rows: what may be written, replaced and compared."""

import pickle

import numpy as np
import paritas
import pytest
from package_support import TWO


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
