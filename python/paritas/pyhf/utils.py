"""Digests, options from the command line, citation, environment."""

from __future__ import annotations

import hashlib
import json
import platform
from typing import Any, Iterable

__all__ = ["citation", "digest", "environment_info", "options_from_eqdelimstring"]

_CITATION = """\
@software{pyhf,
  author = {Lukas Heinrich and Matthew Feickert and Giordon Stark},
  title = "{pyhf}",
  doi = {10.5281/zenodo.1169739},
  url = {https://github.com/scikit-hep/pyhf}
}

@article{pyhf_joss,
  author = {Lukas Heinrich and Matthew Feickert and Giordon Stark and Kyle Cranmer},
  title = {pyhf: pure-Python implementation of HistFactory statistical models},
  journal = {Journal of Open Source Software},
  volume = {6},
  number = {58},
  pages = {2823},
  year = {2021},
  doi = {10.21105/joss.02823}
}"""


def __dir__() -> list[str]:
    return __all__


def _scalar(text: str) -> Any:
    """A number, a list or the like as JSON has it, true, false or null in any case, else the text itself."""
    word = text.strip()
    try:
        return json.loads(word.lower() if word.lower() in ("true", "false", "null") else word)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        return word


def options_from_eqdelimstring(opts: Iterable[str]) -> dict[str, Any]:
    """A dict of texts like "key=value"."""
    pairs = (option.split("=", 1) for option in opts)
    return {pair[0]: _scalar(pair[1]) for pair in pairs}


def digest(obj: Any, algorithm: str = "sha256") -> str:
    """Hexadecimal digits of the hash of a JSON document, keys in order. ValueError: not JSON, or no such
    algorithm in hashlib."""
    try:
        text = json.dumps(obj, sort_keys=True, ensure_ascii=False).encode("utf8")
    except TypeError:
        raise ValueError("The supplied object is not JSON-serializable for calculating a hash.") from None
    if not hasattr(hashlib, algorithm):
        raise ValueError(f"{algorithm} is not an algorithm provided by Python's hashlib library.")
    return str(getattr(hashlib, algorithm)(text).hexdigest())


def citation(oneline: bool = False) -> str:
    """How pyhf, whose interface and document format this is, wishes to be cited: BibTeX."""
    return "".join(_CITATION.splitlines()) if oneline else _CITATION


def environment_info() -> str:
    """What runs here."""
    import numpy

    from paritas import __version__

    versions = (
        ("os", platform.platform()),
        ("python", platform.python_version()),
        ("numpy", numpy.__version__),
        ("paritas", __version__),
    )
    return "".join(f"* {what} version: {version}\n" for what, version in versions)
