"""Digests, command-line options, citation."""

import hashlib
import json
import platform
from typing import Any, Iterable

__all__ = ["citation", "digest", "environment_info", "options_from_eqdelimstring"]
__dir__ = __all__.copy

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


def _scalar(text: str) -> Any:
    """JSON (true, false, null in any case), a number like .5, or text."""
    word = text.strip()
    if word.lower() in ("true", "false", "null"):
        word = word.lower()
    for read in (json.loads, float):
        try:
            return read(word)
        except ValueError:
            pass
    return word


def options_from_eqdelimstring(opts: Iterable[str]) -> dict[str, Any]:
    """A dict from texts "key=value"."""
    return {key: _scalar(value) for key, value in (option.split("=", 1) for option in opts)}


def digest(obj: Any, algorithm: str = "sha256") -> str:
    """Hexadecimal hash with sorted keys."""
    try:
        text = json.dumps(obj, sort_keys=True, ensure_ascii=False).encode("utf8")
    except TypeError:
        raise ValueError("A digest needs JSON: this object is not JSON-serializable.") from None
    if not hasattr(hashlib, algorithm):
        raise ValueError(f"hashlib has no algorithm {algorithm}")
    return str(getattr(hashlib, algorithm)(text).hexdigest())


def citation(oneline: bool = False) -> str:
    """pyhf's BibTeX entry."""
    return "".join(_CITATION.splitlines()) if oneline else _CITATION


def environment_info() -> str:
    import numpy

    from .. import __version__

    versions = (
        ("os", platform.platform()),
        ("python", platform.python_version()),
        ("numpy", numpy.__version__),
        ("paritas", __version__),
    )
    return "".join(f"* {what} version: {version}\n" for what, version in versions)
