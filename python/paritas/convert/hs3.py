"""HS3 (HEP Statistics Serialization Standard, v0.2) to pyhf workspaces and back: the part of it that is
HistFactory.

A document's `histfactory_dist`s are channels, its likelihoods join them with data, its analyses are
measurements, domains are bounds, parameter points are starting values and what is held fixed. What a pyhf
workspace cannot say is refused by its name and JSON pointer; docs/python/convert.md lists it. Source:
https://github.com/hep-statistics-serialization-standard, chapters 2.1 to 2.8, and what ROOT 6.28 to 6.38 and
pyhs3 write and read.
"""

from __future__ import annotations

from typing import Any, Optional

from ..files import PathLike
from .conversion import Conversion, ConversionError, read_json, write_json
from .hs3_reader import Reader
from .hs3_writer import Writer

__all__ = ["from_pyhf", "read", "to_pyhf", "write"]


def to_pyhf(
    document: Any,
    *,
    names: str = "keep",
    analysis: Optional[str] = None,
    shapesys_vals: Optional[str] = None,
    poisson_staterror: str = "refuse",
) -> Conversion:
    """A pyhf workspace of an HS3 document (what json.load answers).

    names: "keep" (parameters keep their names; a set with one parameter a bin is called by what they have in
        common) or "pyhf" (alpha_X -> X, gamma_stat_CHANNEL_bin_i -> staterror_CHANNEL, gamma_X_bin_i -> X,
        Lumi -> lumi). `Conversion.names` maps each in either case.
    analysis: the analysis (or, in a document without any, the likelihood) whose data are wanted, where the
        document has several sets of data; all analyses of the same channels and data become measurements,
        this one the first. Default: the one set of data not called asimovData.
    shapesys_vals: what `vals` of a shapesys are, where the document leaves it open: "relative", "absolute",
        "tau" (1/relative^2) or "inverse" (1/relative).
    poisson_staterror: pyhf cannot share a Poisson-constrained parameter among samples. "refuse", or "gauss":
        take a Gaussian of the same width, with a note. Raises ConversionError with the JSON pointer and the
        reason.
    """
    if names not in ("keep", "pyhf"):
        raise ValueError(f"names: 'keep' or 'pyhf', not {names!r}")
    if shapesys_vals not in (None, "relative", "absolute", "tau", "inverse"):
        raise ValueError(f"shapesys_vals: 'relative', 'absolute', 'tau' or 'inverse', not {shapesys_vals!r}")
    if poisson_staterror not in ("refuse", "gauss"):
        raise ValueError(f"poisson_staterror: 'refuse' or 'gauss', not {poisson_staterror!r}")
    return Reader(document, names, analysis, shapesys_vals, poisson_staterror).convert()


def from_pyhf(spec: Any, *, normsys_code: str = "code4", histosys_code: str = "code4p") -> Conversion:
    """An HS3 document of a pyhf workspace, such as ROOT reads: `model_CHANNEL` distributions, obsData and
    asimovData, default_domain, an analysis on the observed and one on the Asimov data for each measurement.

    normsys_code, histosys_code: the interpolation that the model is built with (code1 or code4; code0 or
        code4p), which a workspace does not carry.
    """
    return Writer(spec, normsys_code, histosys_code).convert()


def read(path: PathLike, **options: Any) -> Conversion:
    """`to_pyhf` of a file. OSError where it cannot be read; errors in the document say which file."""
    document = read_json(path)
    try:
        return to_pyhf(document, **options)
    except ConversionError as error:
        raise ConversionError(f"{path}, at {error.where}", error.why) from None


def write(spec: Any, path: PathLike, **options: Any) -> Conversion:
    """`from_pyhf`, written to a file whole or not at all."""
    answer = from_pyhf(spec, **options)
    write_json(answer.spec, path)
    return answer
