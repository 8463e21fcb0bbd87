"""What modifiers ask of one name, and what the user configures of it, made into one parameter set."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

from paritas.pyhf import exceptions

__all__ = ["reduce_paramsets_requirements"]

_ATTRIBUTES = (
    "paramset_type",
    "n_parameters",
    "is_scalar",
    "inits",
    "bounds",
    "auxdata",
    "factors",
    "sigmas",
    "fixed",
)
_ABSENT = "undefined"


def __dir__() -> list[str]:
    return __all__


def _configured(name: str, attribute: str, asked: Any, given: Any) -> Any:
    if isinstance(given, tuple):
        return list(given)
    if isinstance(given, list) and asked and asked != _ABSENT and len(given) != len(asked):
        raise exceptions.InvalidModel(
            f"Incorrect number of values ({len(given)}) for {attribute} were configured by you, expected {len(asked)}."
        )
    if given and asked == _ABSENT:
        raise exceptions.InvalidModel(f"{name} does not use the {attribute} attribute.")
    return given


def reduce_paramsets_requirements(
    paramsets_requirements: Mapping[str, Sequence[Mapping[str, Any]]],
    paramsets_user_configs: Mapping[str, Mapping[str, Any]],
) -> dict[str, dict[str, Any]]:
    """For each name the arguments of its parameter set. InvalidNameReuse: requirements of one name differ;
    InvalidModel: a configuration that does not fit them."""
    reduced: dict[str, dict[str, Any]] = {}
    for name, requirements in paramsets_requirements.items():
        user = paramsets_user_configs.get(name, {})
        combined: dict[str, Any] = {"name": name}
        for attribute in _ATTRIBUTES:
            values = {requirement.get(attribute, _ABSENT) for requirement in requirements}
            if len(values) != 1:
                raise exceptions.InvalidNameReuse(
                    f"Multiple values for '{attribute}' ({list(values)}) were found for {name}. Use unique modifier names when constructing the pdf."
                )
            asked = values.pop()
            given = user.get(attribute, asked)
            if isinstance(given, str) and given == _ABSENT:
                continue
            combined[attribute] = _configured(name, attribute, asked, given)
        reduced[name] = combined
    return reduced
