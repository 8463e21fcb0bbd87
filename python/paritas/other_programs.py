"""Names of pyhf, cabinetry, nextstat and others that a user may try here, and ours."""

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
    "pois": "poi",
    "poi_test": "mu",
    "mu_test": "mu",
    "alpha": "level",
    "init_pars": "init",
    "init_params": "init",
    "init_values": "init",
    "par_bounds": "bounds",
    "fixed_params": "fixed",
    "return_uncertainties": "covariance",
    "return_correlations": "covariance",
    "asimov": "data",
    "gpu": "device",
    "backend": "device",
    "n_threads": "threads",
    "method": "minimizer",
    "optimizer": "minimizer",
    "maxiter": "max_iterations",
    "max_iter": "max_iterations",
    "max_pars": "top",
    "cl": "confidence",
    "confidence_level": "confidence",
    "n_points": "points",
    "n_steps": "points",
    "track_progress": "progress",
}

#: keywords of functions that need a sentence
_SENTENCES = {
    "calctype": "this is asymptotic; paritas.hypotest_toys, upper_limit_toys and significance_toys make toys",
    "return_expected": "the expected values are in every answer",
    "return_expected_set": "the expected band is in every answer",
    "return_tail_probs": "CLsb and CLb are in every answer",
    "return_calculator": "paritas.fit has the fits",
    "return_fitted_val": "twice_nll is in every answer",
    "return_result_obj": "the answer has all of it",
    "return_results": "the tested values are in every answer",
    "do_grad": "derivatives are always exact",
    "tolerance": "fits end at the minimum, to rounding",
    "tol": "fits end at the minimum, to rounding",
    "strategy": "there is one strategy: exact derivatives",
    "minos": "paritas.minos gives MINOS errors",
    "goodness_of_fit": "paritas.goodness_of_fit tests it",
}

#: by function, keywords that it alone lacks
_ELSEWHERE = {
    "contour": dict.fromkeys(("poi", "pois"), 'parameters are named first, contour("a", "b")'),
    "scan": dict.fromkeys(("poi", "pois"), 'parameters are named first, scan(("a", values))'),
    **dict.fromkeys(
        ("upper_limit", "upper_limit_toys"),
        {"scan": "limits are found as roots, without a scan; paritas.scan scans"},
    ),
    "ranking": {"groups": "paritas.breakdown takes groups of parameters"},
    "fit": {"mu": 'fixed={"mu": 1.0} holds a parameter'},
}


def name_hint(name: str) -> str:
    """What follows "has no attribute": our name, or nothing."""
    return f"; it is paritas.{_NAMES[name]} here" if name in _NAMES else ""


def attribute_hint(name: str, kind: type) -> str:
    """What follows "has no attribute" of a class with our methods."""
    meant = _NAMES.get(name, "")
    return f"; it is .{meant} here" if meant in vars(kind) else ""


def keyword_hint(function: str, name: str, known: Iterable[str]) -> str:
    """What follows "unexpected keyword argument": our keyword, the nearest one, or nothing."""
    from difflib import get_close_matches  # only here: `import paritas` stays quick

    keywords, elsewhere = list(known), _ELSEWHERE.get(function, {})
    if name in elsewhere:
        return f": {elsewhere[name]}"
    if _KEYWORDS.get(name) in keywords:
        return f": it is {_KEYWORDS[name]!r} here"
    if name in _SENTENCES:
        return f": {_SENTENCES[name]}"
    nearest = get_close_matches(name, keywords, 1)
    return f": did you mean {nearest[0]!r}?" if nearest else ""
