"""From a pyhf workspace to HistFactory's XML and a ROOT file, laid out as by pyhf's writexml.

Statistical errors are in the sample's histogram, where readers find them unrounded. Refused: set or fixed
parameters of bins, factor bounds that differ among measurements, auxiliary data, interpolations that are not
the default."""

import logging
import re
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence
from xml.sax.saxutils import escape, quoteattr

from ..files import PathLike, write_text
from .conversion import DEFAULT_CODES
from .parameter_names import root_name
from .pyhf_workspace import CODE_KEY, MODIFIERS, WorkspaceSource, configs, modifiers
from .root_files import write_histograms
from .xml_constraints import written_term
from .xml_grammar import MODIFIER_ELEMENTS, dtd

log = logging.getLogger(__name__)

_DTD = "HistFactorySchema.dtd"
_ELEMENTS = {kind: element for element, kind in MODIFIER_ELEMENTS.items()}


def write(spec: Any, specdir: PathLike, datadir: PathLike, prefix: str) -> bytes:
    """Writes `specdir/prefix_CHANNEL.xml`, `datadir/data.root` and, beside specdir, the DTD. The folders must
    exist.

    Returns the top-level XML, to store beside the DTD. Logs omissions. Raises ConversionError with the place
    in the spec."""
    spec = {"version": "1.0.0", **spec} if isinstance(spec, Mapping) else spec
    return _Writer(spec, Path(specdir), Path(datadir), prefix).write()


def _tag(
    name: str, attributes: Mapping[str, str], content: Sequence[str] = (), text: Optional[str] = None
) -> str:
    opening = f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    if text is not None:
        return f"{opening}>{escape(text)}</{name}>"
    if not content:
        return f"{opening}/>"
    lines = "".join(f"  {line}\n" for item in content for line in item.split("\n"))
    return f"{opening}>\n{lines}</{name}>"


class _Writer(WorkspaceSource):
    def __init__(self, spec: Any, specdir: Path, datadir: Path, prefix: str) -> None:
        super().__init__(spec)
        self.specdir, self.data_path, self.prefix = specdir, datadir / "data.root", prefix
        self.configs = [configs(measurement) for measurement in self.measurements]
        self.histograms: dict[str, tuple[list[float], Optional[list[float]]]] = {}

    def write(self) -> bytes:
        top = [_tag("Input", {}, text=str(self._channel(channel))) for channel in self.channels]
        top += [self._measurement(*item) for item in zip(self.measurements, self.configs)]
        write_histograms(self.data_path, self.histograms)
        write_text(dtd(), self.specdir.parent / _DTD)
        combination = _tag("Combination", {"OutputFilePrefix": str(self.specdir / self.prefix)}, top)
        return f"<!DOCTYPE Combination SYSTEM '{_DTD}'>\n\n{combination}\n".encode()

    def _histogram(self, contents: list[float], *parts: str, errors: Optional[list[float]] = None) -> str:
        """Returns its name, since ROOT allows no slashes."""
        stem = "hist_" + re.sub(r"[^A-Za-z0-9_.-]", "_", "_".join(parts))
        name, count = stem, 1
        while name in self.histograms:
            count += 1
            name = f"{stem}_{count}"
        self.histograms[name] = (contents, errors)
        return name

    def _channel(self, channel: Any) -> Path:
        name, file = channel["name"], str(self.data_path)
        if not name or re.search(r"[/\\\0]", name):
            raise self.refuse(
                channel,
                "a channel's name becomes that of a file, and cannot be empty or have slashes",
                "name",
            )
        observed = self._histogram(self.observed[name], name, "data")
        content = [_tag("Data", {"HistoName": observed, "InputFile": file})]
        statistical = {one["name"] for _, one in modifiers(channel) if one["type"] == "staterror"}
        if len(statistical) > 1:
            names = ", ".join(sorted(statistical))
            raise self.refuse(channel, f"it has several staterrors ({names}); XML has one a channel")
        for carried in statistical:
            law = self.law_of_bins(carried, "gaussian").capitalize()
            content.append(_tag("StatErrorConfig", {"RelErrorThreshold": "0", "ConstraintType": law}))
            if carried != f"staterror_{name}":
                what = f"the staterror '{carried}' is called staterror_{name} when it is read again"
                log.warning(f"{self.place(channel)}: {what}")
        content += [self._sample(name, sample) for sample in channel["samples"]]
        path = self.specdir / f"{self.prefix}_{name}.xml"
        element = _tag("Channel", {"Name": name, "InputFile": file}, content)
        write_text(f"<!DOCTYPE Channel SYSTEM '../{_DTD}'>\n\n{element}\n", path)
        return path

    def _sample(self, channel: str, sample: Any) -> str:
        place, types, errors = (channel, sample["name"]), set(), None
        lines = []
        for modifier in sample["modifiers"]:
            types.add(modifier["type"])
            if modifier["type"] == "staterror":
                errors = modifier["data"]
            if modifier["type"] != "lumi":  # an attribute of the sample
                attributes = self._attributes(place, modifier, sample["data"])
                lines.append(_tag(_ELEMENTS[modifier["type"]], attributes))
        attributes = {
            "Name": sample["name"],
            "HistoName": self._histogram(sample["data"], *place, errors=errors),
            "InputFile": str(self.data_path),
            "NormalizeByTheory": str("lumi" in types),
        }
        return _tag("Sample", attributes, lines)

    def _attributes(self, place: tuple[str, str], modifier: Any, contents: list[float]) -> dict[str, str]:
        kind, name, data = modifier["type"], modifier["name"], modifier["data"]
        if kind == "staterror":
            return {"Activate": "True"}
        found = {"Name": name}
        own = data.get(CODE_KEY, DEFAULT_CODES[kind]) if isinstance(data, dict) else None
        if own is not None and own != DEFAULT_CODES[kind]:
            raise self.refuse(data, f"XML cannot say {own}; ROOT takes {DEFAULT_CODES[kind]}", CODE_KEY)
        if kind == "normsys":
            found.update(High=repr(data["hi"]), Low=repr(data["lo"]))
        elif kind == "histosys":
            for side, key in (("Low", "lo_data"), ("High", "hi_data")):
                found[f"HistoName{side}"] = self._histogram(data[key], *place, name, side)
        elif kind == "normfactor":
            low, high = self._bounds(modifier)
            start = self._start(self.configs[0].get(name, {}), 1.0)
            found.update(Val=repr(start), Low=repr(low), High=repr(high))
        elif kind == "shapesys":
            relative = [error / content if content != 0 else 0.0 for error, content in zip(data, contents)]
            law = self.law_of_bins(name, "poisson").capitalize()
            found.update(ConstraintType=law, HistoName=self._histogram(relative, *place, name))
        return found

    def _bounds(self, modifier: Any) -> list[float]:
        """Bounds on the modifier in XML. The start is the first measurement's; ParamSettings set the
        others."""
        default = [list(MODIFIERS["normfactor"].bounds)]
        rows = [config.get(modifier["name"], {}).get("bounds", default) for config in self.configs]
        if any(len(row) != 1 for row in rows):
            raise self.refuse(modifier, "a factor has one pair of bounds")
        if any(row != rows[0] for row in rows):
            raise self.refuse(
                modifier, "its bounds differ among measurements; in XML they belong to the factor"
            )
        return rows[0][0]  # type: ignore[no-any-return]

    def _start(self, config: Any, default: float) -> float:
        inits = config.get("inits", [default])
        self.check_count(inits, 1)
        return inits[0]  # type: ignore[no-any-return]

    def _measurement(self, measurement: Any, by_name: dict[str, Any]) -> str:
        lumi, width = 1.0, 0.0
        settings: list[str] = []
        terms: list[str] = []
        for note in self.unused_configs(measurement):
            log.warning(note)
        for name, config in by_name.items():
            if self._is_lumi(name):
                if not {"auxdata", "sigmas"} <= config.keys():
                    raise self.refuse(config, "lumi must have auxdata and sigmas")
                for key in ("auxdata", "sigmas"):
                    self.check_count(config[key], 1)
                lumi, width = config["auxdata"][0], config["sigmas"][0]
            if name in self.kinds or name == "lumi":
                terms += self._terms(config, name)
                settings += self._settings(config, name, lumi)
        if lumi == 0:
            raise self.refuse(measurement, "XML has the width of lumi relative to its value, which is 0")
        attributes = {
            "Name": measurement["name"],
            "Lumi": repr(lumi),
            "LumiRelErr": repr(width / lumi),
            "ExportOnly": "True",
        }
        config = measurement["config"]
        poi = _tag("POI", {}, text=" ".join(config.get("pois", [config["poi"]])))
        return _tag("Measurement", attributes, [poi, *settings, *terms])

    def _is_lumi(self, name: str) -> bool:
        """A nuisance may have this name, too."""
        return name == "lumi" and self.kinds.get(name, MODIFIERS["lumi"]).role == "lumi"

    def _terms(self, config: Any, name: str) -> list[str]:
        kind = self.kinds.get(name, MODIFIERS["lumi"])
        if "constraint" not in config or (kind.per_bin and kind.role != "shapefactor"):
            return []
        term = written_term(config) if kind.role == "alpha" else None
        if term is None:
            raise self.refuse(config, f"XML has no such constraint of '{name}'", "constraint")
        return [_tag("ConstraintTerm", term[1], text=name)]

    def _settings(self, config: Any, name: str, lumi: float) -> list[str]:
        kind = self.kinds.get(name, MODIFIERS["lumi"])
        fixed, inits = config.get("fixed", False), config.get("inits", [])
        if kind.per_bin:
            constrained = {"auxdata", "sigmas", "factors"} & config.keys()
            if fixed or constrained or any(value != 1 for value in inits):
                raise self.refuse(
                    config, f"'{name}' has one parameter a bin, which XML can neither set nor hold"
                )
            self._warn_of_bounds(config, kind.bounds)
            return []
        written = lumi if kind.role == "lumi" else kind.start
        start = self._start(config, written)
        text = root_name(kind.role, name)
        if "constraint" in config:
            text = (written_term(config) or ("", {}))[0] + name
        elif kind.role == "alpha":
            self._warn_of_bounds(config, kind.bounds)
            if "sigmas" in config or config.get("auxdata", [0]) != [0]:
                raise self.refuse(config, f"XML cannot express auxdata and sigmas of '{name}'")
        elif kind.role == "lumi":
            width = config["sigmas"][0]
            self._warn_of_bounds(config, (lumi - 5 * width, lumi + 5 * width))
        else:
            written = self._start(self.configs[0].get(name, {}), written)
        attributes = {
            **({} if start == written else {"Val": repr(start)}),
            **({"Const": "True"} if fixed else {}),
        }
        if attributes and re.search(r"\s", text):
            raise self.refuse(config, f"the name '{text}' has blanks, which separate names in XML")
        return [_tag("ParamSetting", attributes, text=text)] if attributes else []

    def _warn_of_bounds(self, config: Any, default: tuple[float, float]) -> None:
        pairs = [pair for row in config.get("bounds", ()) for pair in zip(row, default)]
        if any(abs(a - b) > 1e-9 * max(1.0, abs(b)) for a, b in pairs):
            log.warning(
                f"{self.place(config)}: XML cannot express bounds of '{config['name']}'; readers take "
                f"{list(default)}"
            )
