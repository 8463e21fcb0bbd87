"""Parameter sets from modifiers' and the user's requirements."""

from typing import Any

from .. import exceptions

__all__ = ["reduce_paramsets_requirements"]
__dir__ = __all__.copy

_ATTRIBUTES = "paramset_type n_parameters is_scalar inits bounds auxdata factors sigmas fixed".split()
_ABSENT = "undefined"


def _configured(name: str, attribute: str, asked: Any, given: Any) -> Any:
    if isinstance(given, tuple):
        return list(given)
    if isinstance(given, list) and asked and asked != _ABSENT and len(given) != len(asked):
        raise exceptions.InvalidModel(
            f"{name}: {len(given)} values are configured for {attribute}, expected {len(asked)}."
        )
    if given and asked == _ABSENT:
        raise exceptions.InvalidModel(f"{name} does not use the {attribute} attribute.")
    return given


def reduce_paramsets_requirements(paramsets_requirements: Any, paramsets_user_configs: Any) -> dict[str, Any]:
    reduced: dict[str, Any] = {}
    for name, requirements in paramsets_requirements.items():
        user = paramsets_user_configs.get(name, {})
        combined = reduced[name] = {"name": name}
        for attribute in _ATTRIBUTES:
            values = {requirement.get(attribute, _ABSENT) for requirement in requirements}
            if len(values) != 1:
                raise exceptions.InvalidNameReuse(
                    f"'{name}' is used with several values of {attribute}: {list(values)}. Use unique names."
                )
            asked = values.pop()
            given = user.get(attribute, asked)
            if not (isinstance(given, str) and given == _ABSENT):
                combined[attribute] = _configured(name, attribute, asked, given)
    return reduced
