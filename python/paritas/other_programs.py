"""Names of pyhf, cabinetry, nextstat and others that a user may try here, and ours."""

from __future__ import annotations

from typing import Iterable

#: attributes of the package
_NAMES = {
    "limit": "upper_limit",
    "upper_limits": "upper_limit",
    "cls": "hypotest",
    "cls_curve": "hypotest",
    "profile_scan": "scan",
    "gof": "goodness_of_fit",
    "prediction": "predict",
    "poisson_toys": "fit_toys",
    "from_pyhf": "Model.from_workspace",
    "from_histfactory_xml": "convert",
    "HistFactoryModel": "Model",
    "apply_patchset": "PatchSet",
    "workspace_audit": "Workspace.inspect",
    "DifferentiableSession": "torch.Session",
    "ProfiledDifferentiableSession": "torch.Session",
    "MetalProfiledDifferentiableSession": "torch.Session",
    "set_threads": "set_defaults",
    "set_backend": "set_defaults",
    "set_eval_mode": "set_defaults",
}

#: keywords of functions
_KEYWORDS = {
    "n_toys": "n",
    "ntoys": "n",
    "poi_test": "mu",
    "mu_test": "mu",
    "alpha": "level",
    "init_pars": "init",
    "par_bounds": "bounds",
    "fixed_params": "fixed",
    "return_uncertainties": "covariance",
    "asimov": "data",
    "gpu": "device",
    "backend": "device",
    "n_threads": "threads",
    "method": "minimizer",
    "optimizer": "minimizer",
    "maxiter": "max_iterations",
    "max_iter": "max_iterations",
    "max_pars": "top",
}


def name_hint(name: str) -> str:
    """What follows "has no attribute": our name, or nothing."""
    return f"; it is paritas.{_NAMES[name]} here" if name in _NAMES else ""


def keyword_hint(name: str, known: Iterable[str]) -> str:
    """What follows "unexpected keyword argument": our keyword, the nearest one, or nothing."""
    from difflib import get_close_matches  # only here: `import paritas` stays quick

    keywords = list(known)
    if _KEYWORDS.get(name) in keywords:
        return f": it is {_KEYWORDS[name]!r} here"
    nearest = get_close_matches(name, keywords, 1)
    return f": did you mean {nearest[0]!r}?" if nearest else ""
