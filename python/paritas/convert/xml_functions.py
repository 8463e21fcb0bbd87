"""Functions of parameters in HistFactory's XML, as far as factors of samples can say them (expressions.py).

<Function Name="scale" Expression="0.4*k*mu + 0.6" Dependents="k[1,0,3], mu[1,0,5]"/>"""

import re
from dataclasses import dataclass
from typing import Any, Optional, Sequence

from .expressions import Terms, UnreadExpression, read_terms, smooth_expression
from .xml_grammar import Element


@dataclass(frozen=True)
class Dependent:
    """A parameter as RooFit's factory writes it: name, name[low,high], name[value,low,high]."""

    name: str
    numbers: tuple[float, ...] = ()

    @property
    def config(self) -> Optional[dict[str, Any]]:
        """None: declared elsewhere."""
        if not self.numbers:
            return None
        low, high = self.numbers[-2:] if len(self.numbers) > 1 else 2 * self.numbers
        start = self.numbers[0] if len(self.numbers) != 2 else 0.5 * (low + high)
        config: dict[str, Any] = {"name": self.name, "inits": [start]}
        return {**config, "fixed": True} if len(self.numbers) == 1 else {**config, "bounds": [[low, high]]}


def _named(place: re.Match[str], dependents: Sequence[Dependent]) -> str:
    """The name for @0 or x[0]; what names no dependent stays."""
    i = int(place[1] or place[2])
    return dependents[i].name if i < len(dependents) else place[0]


class Function:
    """terms: of the expression, None if it is no sum of them; expression: of a workspace's function;
    dependents: by name."""

    def __init__(self, element: Element) -> None:
        self.element = element
        listed = re.findall(r"([^\s,\[\]]+)\s*(?:\[([^\]]*)\])?", element.get("Dependents"))
        try:
            found = [
                Dependent(name, tuple(map(float, text.split(",") if text else ()))) for name, text in listed
            ]
        except ValueError:
            raise element.refuse("Dependents must be like a[1,0,3], b") from None
        if any(len(one.numbers) > 3 for one in found):
            raise element.refuse("Dependents must be like a[1,0,3], b")
        self.dependents = {one.name: one for one in found}
        text = element.get("Expression")
        text = re.sub(
            r"@(0|[1-9]\d{0,5})\b|\bx\[(0|[1-9]\d{0,5})\]", lambda place: _named(place, found), text
        )
        try:
            self.expression = smooth_expression(text, self.dependents)
        except UnreadExpression as error:
            raise element.inexpressible(f"the function {element.get('Expression')!r}: {error}") from None
        self.terms: Optional[Terms] = None
        try:
            self.terms = read_terms(text, self.dependents)
        except UnreadExpression:
            pass
