"""The package's functions take workspaces, and name what users of other programs mean."""

import inspect
import json
import re

import numpy as np
import pytest
from package_support import TWO

import paritas
import paritas.differentiable
from paritas.model import FUNCTIONS
from paritas.other_programs import _KEYWORDS, _NAMES, _SENTENCES

#: the second argument that a function needs
NEEDED = {
    "asimov_data": (1.0,),
    "breakdown": ({"all": "uncorr*"},),
    "contour": ("uncorr_bkguncrt[0]",),
    "scan": (("mu", [0.0, 0.5]),),
    "fit_toys": (None, 8),
    "generate": (None, 8),
    "signals": ([[1.0, 2.0]],),
    "read_data": ("data.json",),
    "hypotest_toys": (1.0, 8),
    "significance_toys": (8,),
    "goodness_of_fit_toys": (8,),
    "compatibility_toys": (None, 8),
    "upper_limit_toys": (40,),
    "interval_toys": (40,),
    "unfold": ("uncorr*", [1.0, 2.0]),
    "penalise": ("uncorr*", 1.0),
}
QUICK = {
    "upper_limit_toys": {"rtol": 0.9},
    "interval_toys": {"rtol": 0.9},
    "unfold": {"by": "size"},
    "penalise": {"by": "size"},
}


def answer(name, model):
    found = getattr(paritas, name)(model, *NEEDED.get(name, ()), **QUICK.get(name, {}))
    if name == "asimov_data":
        return found.tolist()
    if name == "minos":
        return repr(found)
    if name in ("generate", "read_data"):
        return found.rows.tolist()
    if name == "unfold":
        return found.estimates.tolist()
    if name in ("moments", "signals"):
        return repr(found)
    if name == "predict":
        return [channel.postfit.tolist() for channel in found.channels]
    return repr(found.to_dict())


@pytest.mark.parametrize("name", [name for names in FUNCTIONS.values() for name in names])
def test_every_function_takes_a_path_a_dict_a_workspace_and_a_model(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.json").write_text("[50.0, 52.0, 100.0, 36.0]")
    model = paritas.Model.from_workspace(TWO)
    wanted = answer(name, model)
    for given in (str(TWO), TWO, json.loads(TWO.read_text()), paritas.Workspace.read(TWO)):
        assert answer(name, given) == wanted, type(given)
    first = next(iter(inspect.signature(getattr(paritas, name)).parameters.values()))
    assert (first.name, first.annotation) == ("model", "ModelLike")
    with pytest.raises(TypeError, match="a path, a dict or a Workspace is wanted, not int"):
        getattr(paritas, name)(7, *NEEDED.get(name, ()))


def test_gradients_of_a_batch_are_those_of_each_point():
    model = paritas.Model.from_workspace(TWO)
    points = np.array([[0.5, 1.01, 0.98], [1.0, 1.0, 1.0]])
    rows = np.array([model.data, model.data + 1.0, model.data + 2.0])
    found = model.gradient_batch(points, rows)
    assert found.shape == (2, 3, 3)
    for i, point in enumerate(points):
        for j, row in enumerate(rows):
            assert np.array_equal(found[i, j], model.gradient(point, row))
    assert np.array_equal(model.gradient_batch(points)[:, 0], found[:, 0])


def test_a_name_of_another_program_is_answered_with_ours():
    with pytest.raises(AttributeError, match="no attribute 'limit'; it is paritas.upper_limit here"):
        paritas.limit  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        paritas.nothing  # noqa: B018
    model = paritas.Model.from_workspace(TWO)
    with pytest.raises(AttributeError, match="no attribute 'gof'; it is .goodness_of_fit here"):
        model.gof  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
        model.nothing  # noqa: B018
    with pytest.raises(TypeError, match=r"takes no str: Model.from_workspace\(...\) makes"):
        paritas.Model("ws.json")
    for theirs, ours in _NAMES.items():
        assert theirs not in dir(paritas)
        found = paritas
        if ours != "torch.Session":  # needs PyTorch
            for part in ours.split("."):
                found = getattr(found, part)


def test_a_keyword_of_another_program_is_answered_with_ours():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_toys': it is 'n' here"):
        paritas.hypotest_toys(TWO, n_toys=10)
    with pytest.raises(TypeError, match="'init_pars': it is 'init' here"):
        paritas.fit(TWO, init_pars=[1, 1, 1])
    with pytest.raises(TypeError, match="'init_params': it is 'init' here"):
        paritas.fit_toys(TWO, None, 8, init_params=[1, 1, 1])
    with pytest.raises(TypeError, match="'calctype': this is asymptotic; paritas.hypotest_toys,"):
        paritas.hypotest(TWO, 1.0, calctype="toybased")
    with pytest.raises(TypeError, match="'presicion': did you mean 'precision'"):
        paritas.fit(TWO, presicion="f32")
    with pytest.raises(TypeError, match=r"'poi': parameters are named first, contour\(\"a\", \"b\"\)"):
        paritas.contour(TWO, poi=["mu", "x"])
    with pytest.raises(TypeError, match="'groups': paritas.breakdown takes groups"):
        paritas.ranking(TWO, groups={})
    taken = {
        name
        for names in FUNCTIONS.values()
        for function in names
        for name in inspect.signature(getattr(paritas, function)).parameters
    }
    assert set(_KEYWORDS.values()) <= taken and not (set(_KEYWORDS) | set(_SENTENCES)) & taken
    for name in re.findall(r"paritas\.(\w+)", " ".join(_SENTENCES.values())):
        assert callable(getattr(paritas, name)), name


def test_the_page_about_moving_names_what_exists():
    page = (TWO.parent.parent / "docs" / "moving.md").read_text()
    page = re.sub(r"^\|[^|]*\|", "|", page, flags=re.M)  # the first column is the other program's
    names = set(re.findall(r"\b(paritas(?:\.\w+)+)", page))
    assert len(names) > 20
    for name in names:
        found = paritas
        if name.startswith("paritas.torch"):  # needs PyTorch
            source = (TWO.parent.parent / "python" / "paritas" / "torch" / "__init__.py").read_text()
            assert name.rpartition(".")[2] in source
            continue
        for part in name.split(".")[1:]:
            found = getattr(found, part, None) or __import__(f"paritas.{part}", fromlist=["*"])
    for name in re.findall(r"`-?model\.(\w+)", page):
        assert hasattr(paritas.Model, name), name
    for name in re.findall(r"`-?session\.(\w+)", page):
        assert hasattr(paritas.differentiable.Session, name), name
    for function, keywords in re.findall(r"paritas\.(\w+)\(([^)]*=[^)]*)\)", page):
        known = inspect.signature(getattr(paritas, function)).parameters
        assert set(re.findall(r"(\w+)=", keywords)) <= set(known), function
