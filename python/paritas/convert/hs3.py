"""HS3 (HEP Statistics Serialization Standard, v0.2) to pyhf workspaces and back, for its HistFactory part.

A `histfactory_dist` is a channel. Likelihoods join channels with data, analyses are measurements, domains
bounds, parameter points starts and constants. What a workspace cannot express is refused with its JSON
pointer (list: docs/python/convert.md). Source: https://github.com/hep-statistics-serialization-standard,
chapters 2.1 to 2.8; ROOT 6.28 to 6.38 and pyhs3."""

from typing import Any, Optional

from ..files import PathLike, write_text
from ..interpolation import Code, pyhfs_code
from .conversion import DEFAULT_CODES, Conversion, ConversionError
from .hs3_reader import Reader
from .hs3_writer import Writer
from .json_nodes import json_text, read_json

__all__ = ["from_pyhf", "read", "to_pyhf", "write"]

#: of `to_pyhf`
CHOICES: dict[str, tuple[str, ...]] = {
    "names": ("keep", "pyhf"),
    "shapesys_vals": ("relative", "absolute", "tau", "inverse"),
    "poisson_staterror": ("keep", "refuse", "gauss"),
}


def to_pyhf(
    document: Any,
    *,
    names: str = "keep",
    analysis: Optional[str] = None,
    shapesys_vals: Optional[str] = None,
    poisson_staterror: str = "keep",
) -> Conversion:
    """The pyhf workspace of an HS3 document (as json.load returns it).

    names: "keep" parameter names (a set of one parameter a bin is named by their common part), or "pyhf":
        alpha_X becomes X, gamma_stat_CHANNEL_bin_i staterror_CHANNEL, gamma_X_bin_i X, and Lumi lumi.
        `Conversion.names` has the mapping.
    analysis: the analysis (or likelihood, without analyses) whose data to take. Analyses of the same channels
        and data become measurements, this one first. Default: the one data set not called asimovData.
    shapesys_vals: meaning of `vals` of a shapesys, if not in the document: "relative", "absolute", "tau"
        (1/relative^2) or "inverse" (1/relative).
    poisson_staterror: Poisson-constrained parameters shared by samples, which pyhf lacks. "keep" them as a
        staterror with `constraint`, "refuse" them, or take a Gaussian of the same width ("gauss"), with a
        note.

    Raises ConversionError with JSON pointer and reason."""
    given = {"names": names, "shapesys_vals": shapesys_vals, "poisson_staterror": poisson_staterror}
    for option, value in given.items():
        if value not in CHOICES[option] and (option, value) != ("shapesys_vals", None):
            raise ValueError(f"{option}: must be {' or '.join(map(repr, CHOICES[option]))}, not {value!r}")
    return Reader(document, names, analysis, shapesys_vals, poisson_staterror).convert()


def from_pyhf(
    spec: Any,
    *,
    normsys_code: Code = DEFAULT_CODES["normsys"],
    histosys_code: Code = DEFAULT_CODES["histosys"],
) -> Conversion:
    """The HS3 document of a pyhf workspace, for ROOT: `model_CHANNEL` distributions, obsData and asimovData,
    default_domain, and for each measurement an analysis of either data.

    normsys_code, histosys_code: the interpolation of modifiers without an interpcode of their own ("code1",
        "code4p"; also ROOT's "code0", "code2c", and for histosys "code1", "code5", "code6"). 1 and "1" are
        "code1", too."""
    codes = {"normsys": pyhfs_code(normsys_code), "histosys": pyhfs_code(histosys_code)}
    return Writer(spec, codes).convert()


def read(path: PathLike, **options: Any) -> Conversion:
    """`to_pyhf` of a file, which errors name. Raises OSError if it cannot be read."""
    document = read_json(path)
    try:
        return to_pyhf(document, **options)
    except ConversionError as error:
        raise ConversionError(f"{path}, at {error.where}", error.why) from None


def write(spec: Any, path: PathLike, **options: Any) -> Conversion:
    """Writes `from_pyhf` to a file, whole or not at all."""
    answer = from_pyhf(spec, **options)
    write_text(json_text(answer.spec), path)
    return answer
