"""Templates that are histograms in ROOT files."""

from typing import Iterable

from ..convert.root_files import reading
from .histograms import Histogram, histogram
from .open_files import OpenFiles, kind_of
from .places import Place
from .requests import TemplateRequest, first_setting


def _path(request: TemplateRequest, notes: list[str]) -> tuple[str, Place]:
    """File and name of a histogram with a colon between, and the place of the setting that names it."""
    if "RegionPath" in request.variation:
        notes.append((request.place / "RegionPath").at("a variation's RegionPath counts for ntuples only"))
    sample_path, sample_place = request.find("SamplePath", request.sample)
    if isinstance(sample_path, (list, tuple)):
        raise sample_place.refuse("a list of paths is for ntuples; a histogram has one path")
    varied, varied_place = request.find("VariationPath", request.general)
    parts = {
        "RegionPath": first_setting("RegionPath", request.region),
        "SamplePath": (sample_path, sample_place),
        "VariationPath": (varied or "", varied_place),
    }
    paths, _ = request.path(parts, notes)
    named_by = varied_place if request.systematic is not None else sample_place
    return paths[0], named_by


def read_histograms(requests: Iterable[TemplateRequest], folder: str, notes: list[str]) -> list[Histogram]:
    """Reads histograms in the order of the requests. folder: where relative paths start."""
    found = []
    with OpenFiles(folder) as files:
        for request in requests:
            path, place = _path(request, notes)
            file, colon, name = path.rpartition(":")
            if not colon:
                raise place.refuse(f"'{path}' names no histogram: InputPath is FILE:PATH for histograms")
            read = files.object(files.full(file), name, place)
            if not (hasattr(read, "values") and hasattr(read, "variances")):
                raise place.refuse(f"'{name}' in {file} is a {kind_of(read)}, not a histogram")
            with reading(file, place.refuse):
                axes = len(read.axes)
            if axes != 1:
                raise place.refuse(f"'{name}' in {file} has {axes} axes; 1 is needed")
            with reading(file, place.refuse):
                try:
                    found.append(histogram(read))
                except ValueError as error:
                    raise place.refuse(f"'{name}' in {file}: {error}") from None
    return found
