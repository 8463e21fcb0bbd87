"""Histograms in ROOT files, through uproot."""

from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy

from .._engine import Error
from .root_bins import bins_of
from .xml_grammar import Element


def uproot() -> Any:
    try:
        import uproot as module
    except ImportError as error:
        raise ImportError("ROOT files need uproot: pip install 'paritas[root]'") from error
    return module


@contextmanager
def reading(path: object, refuse: Callable[[str], Exception]) -> Iterator[None]:
    """Refuses what uproot cannot read. Damaged files make it raise exceptions of any type."""
    try:
        yield
    except (Error, ImportError):
        raise
    except Exception as error:
        why = " ".join(str(error).split()) or type(error).__name__
        raise refuse(f"uproot cannot read {path} as a ROOT file: {why:.300}") from error


class Histogram(NamedTuple):
    """single: ROOT keeps it in single precision. shape: bins of each axis."""

    contents: list[float]
    errors: list[float]
    single: bool
    shape: tuple[int, ...]


def write_histograms(
    path: Path, histograms: Mapping[str, tuple[Sequence[float], Optional[Sequence[float]]]]
) -> None:
    """Writes TH1D of bins of width 1: name -> contents and errors (None: roots of the contents)."""
    module = uproot()

    def flanked(values: Any) -> Any:  # with under- and overflow
        return numpy.concatenate([[0.0], values, [0.0]])

    with module.recreate(path) as file:
        for name, (contents, errors) in histograms.items():
            squares = numpy.empty(0) if errors is None else flanked(numpy.square(errors))
            bins = len(contents)
            centres = numpy.arange(bins) + 0.5
            axis = module.writing.identify.to_TAxis(
                fName="xaxis", fTitle="", fNbins=bins, fXmin=0.0, fXmax=float(bins)
            )
            file[name] = module.writing.identify.to_TH1x(
                fName=name.rpartition("/")[2],
                fTitle="",
                data=flanked(contents),
                fEntries=float(bins),
                fTsumw=float(numpy.sum(contents)),
                fTsumw2=float(squares.sum()),
                fTsumwx=float(numpy.dot(contents, centres)),
                fTsumwx2=float(numpy.dot(contents, centres**2)),
                fSumw2=squares,
                fXaxis=axis,
            )


class RootFiles:
    """Each opened once. `mounts`: pairs (folder here, folder in the XML). A context manager."""

    def __init__(self, folder: Path, mounts: list[tuple[Path, Path]]) -> None:
        self.folder, self.mounts = folder, mounts
        self.opened: dict[Path, Any] = {}
        self.notes: list[str] = []

    def __enter__(self) -> "RootFiles":
        return self

    def __exit__(self, *_: object) -> None:
        for file in self.opened.values():
            file.close()

    def resolve(self, name: str, element: Element) -> Path:
        path = Path(name)
        for host, mount in self.mounts:
            if mount == path or mount in path.parents:
                path = host / path.relative_to(mount)
                break
        path = self.folder / path
        if not path.is_file():
            start = f"; relative paths start in {self.folder.absolute()} (--rootdir)"
            hint = "" if Path(name).is_absolute() else start
            raise element.refuse(f"there is no file {path}{hint}")
        return path

    def histogram(self, element: Element, file_name: str, folder: str, name: str) -> Histogram:
        """Contents and errors without under- and overflow, two dimensions row by row.

        Errors: root of summed squared weights, or of contents (NaN of what has no root). As in pyhf, a
        histogram missing in its folder is taken from the top, with a note."""
        path = self.resolve(file_name, element)
        with reading(path, element.refuse):
            return self._found(path, element, folder, name)

    def _found(self, path: Path, element: Element, folder: str, name: str) -> Histogram:
        if path not in self.opened:
            self.opened[path] = uproot().open(path)
        file = self.opened[path]
        full = "/".join(part for part in (folder.strip("/"), name) if part)
        if full not in file:
            if name not in file:
                either = f"has neither '{full}' nor '{name}'" if full != name else f"has no '{name}'"
                raise element.refuse(f"{path} {either}")
            self.notes.append(element.at(f"{path} has no '{full}'; '{name}' was taken, as pyhf does"))
            full = name
        found = file[full]
        if not hasattr(found, "variances") or not hasattr(found, "values"):
            kind = getattr(found, "classname", type(found).__name__)
            raise element.refuse(f"'{full}' in {path} is a {kind}, not a histogram")
        try:
            values, squares = bins_of(found)
        except ValueError as error:
            raise element.refuse(f"'{full}' in {path}: {error}") from None
        contents = values.astype(float).ravel()
        if not numpy.isfinite(contents).all():
            raise element.refuse(f"'{full}' in {path} has contents that are not finite")
        with numpy.errstate(invalid="ignore"):
            errors = numpy.sqrt(contents if squares is None else squares.ravel()).tolist()
        return Histogram(contents.tolist(), errors, values.dtype == numpy.float32, values.shape)
