"""From a pyhf workspace to HistFactory's XML and a ROOT file, as pyhf's writexml lays them out.

What XML cannot say is refused by name: parameters with one a bin that are set or held, bounds of a factor
that differ among measurements, auxiliary data. Statistical errors are stored with the sample's histogram,
from which every reader takes them without rounding.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any, Optional, Sequence
from xml.sax.saxutils import escape, quoteattr

from ..files import PathLike, write_text
from . import names as root_names
from .conversion import ConversionError, Node
from .root_files import uproot
from .xml_grammar import dtd

log = logging.getLogger(__name__)

_DTD = "HistFactorySchema.dtd"
_ALPHA = ("normsys", "histosys")


def write(spec: Any, specdir: PathLike, datadir: PathLike, prefix: str) -> bytes:
    """Writes `specdir/prefix_CHANNEL.xml` for each channel, `datadir/data.root` and, beside specdir, the DTD;
    answers the top-level XML, which names those files by these paths and which the caller stores beside the
    DTD. Folders must exist. What is left out is logged. ConversionError says where in the spec."""
    return _Writer(spec, Path(specdir), Path(datadir), prefix).write()


def _tag(
    name: str, attributes: dict[str, str], content: Optional[Sequence[str]] = None, text: Optional[str] = None
) -> str:
    opening = f"<{name}" + "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    if text is not None:
        return f"{opening}>{escape(text)}</{name}>"
    if not content:
        return f"{opening}/>"
    return (
        f"{opening}>\n"
        + "".join("  " + line + "\n" for item in content for line in item.split("\n"))
        + f"</{name}>"
    )


class _Writer:
    def __init__(self, spec: Any, specdir: Path, datadir: Path, prefix: str) -> None:
        self.root = Node(spec).object("channels measurements", "observations version")
        self.specdir, self.data_path, self.prefix = specdir, datadir / "data.root", prefix
        self.types: dict[str, set[str]] = {}
        for channel in self.root["channels"]:
            for sample in channel.object("name samples")["samples"]:
                for modifier in sample.object("name data modifiers")["modifiers"]:
                    self.types.setdefault(modifier.object("name type", "data")["name"].string(), set()).add(
                        modifier["type"].string()
                    )
        self.configs = []
        for measurement in self.root["measurements"]:
            configs = measurement.object("name config")["config"].object("poi parameters")["parameters"]
            self.configs.append(
                {
                    config["name"].string(): config.object(
                        "name", "inits bounds auxdata factors sigmas fixed"
                    )
                    for config in configs
                }
            )
        if not self.configs:
            raise self.root["measurements"].refuse("one or more measurements are wanted")
        self.histograms: dict[str, tuple[list[float], Optional[list[float]]]] = {}

    def write(self) -> bytes:
        top = [_tag("Input", {}, text=str(self._channel(channel))) for channel in self.root["channels"]]
        top += [
            self._measurement(measurement, configs)
            for measurement, configs in zip(self.root["measurements"], self.configs)
        ]
        self._write_histograms()
        write_text(dtd(), self.specdir.parent / _DTD)
        combination = _tag("Combination", {"OutputFilePrefix": str(self.specdir / self.prefix)}, top)
        return f"<!DOCTYPE Combination SYSTEM '{_DTD}'>\n\n{combination}\n".encode()

    # Histograms

    def _histogram(self, contents: list[float], errors: Optional[list[float]], *parts: str) -> str:
        """Keeps a histogram for the file and answers the name it gets there: ROOT's names have no slashes."""
        stem = "hist_" + re.sub(r"[^A-Za-z0-9_.-]", "_", "_".join(parts))
        name, count = stem, 1
        while name in self.histograms:
            count += 1
            name = f"{stem}_{count}"
        self.histograms[name] = (contents, errors)
        return name

    def _write_histograms(self) -> None:
        import numpy

        module = uproot()
        with module.recreate(self.data_path) as file:
            for name, (contents, errors) in self.histograms.items():
                values = numpy.concatenate([[0.0], contents, [0.0]])
                squares = (
                    numpy.concatenate([[0.0], numpy.square(errors), [0.0]])
                    if errors is not None
                    else numpy.empty(0)
                )
                centres = numpy.arange(len(contents)) + 0.5
                axis = module.writing.identify.to_TAxis(
                    fName="xaxis", fTitle="", fNbins=len(contents), fXmin=0.0, fXmax=float(len(contents))
                )
                file[name] = module.writing.identify.to_TH1x(
                    fName=name,
                    fTitle="",
                    data=values,
                    fEntries=float(len(contents)),
                    fTsumw=float(numpy.sum(contents)),
                    fTsumw2=float(squares.sum()),
                    fTsumwx=float(numpy.dot(contents, centres)),
                    fTsumwx2=float(numpy.dot(contents, centres**2)),
                    fSumw2=squares,
                    fXaxis=axis,
                )

    # Channels

    def _channel(self, channel: Node) -> Path:
        name = channel["name"].string()
        if not name or re.search(r"[/\\\0]", name):
            raise channel["name"].refuse(
                "the name of a channel becomes that of a file, and cannot be empty or have slashes"
            )
        file = str(self.data_path)
        content = []
        observed = next(
            (
                item["data"].numbers()
                for item in self.root.get("observations") or ()
                if item["name"].value == name
            ),
            None,
        )
        if observed is None:
            raise channel.refuse("it has no observation")
        content.append(
            _tag("Data", {"HistoName": self._histogram(observed, None, name, "data"), "InputFile": file})
        )
        statistical = {
            modifier["name"].string()
            for sample in channel["samples"]
            for modifier in sample["modifiers"]
            if modifier["type"].value == "staterror"
        }
        if len(statistical) > 1:
            raise channel.refuse(
                f"it has several staterrors ({', '.join(sorted(statistical))}); XML has one a channel"
            )
        if statistical:
            content.append(_tag("StatErrorConfig", {"RelErrorThreshold": "0", "ConstraintType": "Gaussian"}))
            if statistical != {f"staterror_{name}"}:
                log.warning(
                    f"{channel.path}: the staterror '{statistical.pop()}' is called staterror_{name} when it is read again"
                )
        for sample in channel["samples"]:
            contents = sample["data"].numbers(len(observed))
            errors = None
            lines = []
            for modifier in sample["modifiers"]:
                if modifier["type"].value == "staterror":
                    errors = modifier["data"].numbers(len(observed))
                line = self._modifier(name, sample, modifier, contents)
                if line:
                    lines.append(line)
            attributes = {
                "Name": sample["name"].string(),
                "HistoName": self._histogram(contents, errors, name, sample["name"].string()),
                "InputFile": file,
                "NormalizeByTheory": str(
                    any(modifier["type"].value == "lumi" for modifier in sample["modifiers"])
                ),
            }
            content.append(_tag("Sample", attributes, lines))
        path = self.specdir / f"{self.prefix}_{name}.xml"
        write_text(
            f"<!DOCTYPE Channel SYSTEM '../{_DTD}'>\n\n"
            + _tag("Channel", {"Name": name, "InputFile": file}, content)
            + "\n",
            path,
        )
        return path

    def _modifier(self, channel: str, sample: Node, modifier: Node, contents: list[float]) -> str:
        kind, name, nbins = modifier["type"].string(), modifier["name"].string(), len(contents)
        place = (channel, sample["name"].string(), name)
        if kind == "lumi":
            return ""
        if kind == "staterror":
            return _tag("StatError", {"Activate": "True"})
        if kind == "normsys":
            modifier["data"].object("hi lo")
            return _tag(
                "OverallSys",
                {
                    "Name": name,
                    "High": repr(modifier["data"]["hi"].number()),
                    "Low": repr(modifier["data"]["lo"].number()),
                },
            )
        if kind == "histosys":
            modifier["data"].object("hi_data lo_data")
            return _tag(
                "HistoSys",
                {
                    "Name": name,
                    **{
                        f"HistoName{side}": self._histogram(
                            modifier["data"][key].numbers(nbins), None, *place, side
                        )
                        for side, key in (("Low", "lo_data"), ("High", "hi_data"))
                    },
                },
            )
        if kind == "normfactor":
            value, (low, high) = self._factor(modifier, name)
            return _tag(
                "NormFactor", {"Name": name, "Val": repr(value), "Low": repr(low), "High": repr(high)}
            )
        if kind == "shapefactor":
            return _tag("ShapeFactor", {"Name": name})
        if kind == "shapesys":
            relative = [
                error / content if content != 0 else 0.0
                for error, content in zip(modifier["data"].numbers(nbins), contents)
            ]
            return _tag(
                "ShapeSys",
                {
                    "Name": name,
                    "ConstraintType": "Poisson",
                    "HistoName": self._histogram(relative, None, *place),
                },
            )
        raise modifier["type"].refuse(f"a modifier of type '{kind}' is not known")

    # Measurements

    def _factor(self, modifier: Node, name: str) -> tuple[float, list[float]]:
        """Start (that of the first measurement; others are set by ParamSetting) and bounds of a factor, which
        XML has on the modifier."""
        configs = [configs.get(name) for configs in self.configs]
        bounds = []
        for config in configs:
            rows = (
                list(config["bounds"])
                if config is not None and config.get("bounds") is not None
                else [Node([0.0, 10.0])]
            )
            if len(rows) != 1:
                raise modifier.refuse("a factor has one pair of bounds")
            bounds.append(rows[0].numbers(2))
        if any(other != bounds[0] for other in bounds):
            raise modifier.refuse("its bounds differ among measurements; in XML they belong to the factor")
        return self._start(configs[0], 1.0), bounds[0]

    def _start(self, config: Optional[Node], default: float) -> float:
        return (
            config["inits"].numbers(1)[0]
            if config is not None and config.get("inits") is not None
            else default
        )

    def _measurement(self, measurement: Node, configs: dict[str, Node]) -> str:
        lumi, width = 1.0, 0.0
        settings = []
        for name, config in configs.items():
            types = self.types.get(name, set())
            if name == "lumi":
                if config.get("auxdata") is None or config.get("sigmas") is None:
                    raise config.refuse("lumi wants auxdata and sigmas")
                lumi, width = config["auxdata"].numbers(1)[0], config["sigmas"].numbers(1)[0]
            elif not types:
                log.warning(
                    f"{config.path}: '{name}' is no parameter of these channels; its configuration was left out"
                )
                continue
            settings += self._settings(config, name, types, lumi)
        if lumi == 0:
            raise measurement.refuse("XML has the width of lumi relative to its value, which is 0")
        attributes = {
            "Name": measurement["name"].string(),
            "Lumi": repr(lumi),
            "LumiRelErr": repr(width / lumi),
            "ExportOnly": "True",
        }
        return _tag(
            "Measurement",
            attributes,
            [_tag("POI", {}, text=measurement["config"]["poi"].string()), *settings],
        )

    def _settings(self, config: Node, name: str, types: set[str], lumi: float) -> list[str]:
        """ParamSettings that say what `config` says of a parameter; refuses what they cannot."""
        fixed = bool(config.value.get("fixed", False))
        if types & {"shapesys", "staterror", "shapefactor"}:
            inits = config["inits"].numbers() if config.get("inits") is not None else []
            if (
                fixed
                or any(value != 1 for value in inits)
                or any(config.get(key) is not None for key in ("auxdata", "sigmas", "factors"))
            ):
                raise config.refuse(f"'{name}' has one parameter a bin, which XML can neither set nor hold")
            self._warn_of_bounds(config, [1e-10, 10.0] if "shapefactor" not in types else [0.0, 10.0])
            return []
        alpha = bool(types & set(_ALPHA))
        root_name = "Lumi" if name == "lumi" else root_names.alpha(name) if alpha else name
        start = self._start(config, 0.0 if alpha else lumi if name == "lumi" else 1.0)
        written = 0.0 if alpha else lumi if name == "lumi" else self._start(self.configs[0].get(name), 1.0)
        if alpha:
            self._warn_of_bounds(config, [-5.0, 5.0])
            if config.get("sigmas") is not None or (
                config.get("auxdata") is not None and config["auxdata"].numbers(1) != [0]
            ):
                raise config.refuse(f"auxdata and sigmas of '{name}' cannot stand in XML")
        elif name == "lumi":
            width = config["sigmas"].numbers(1)[0]
            self._warn_of_bounds(config, [lumi - 5 * width, lumi + 5 * width])
        attributes = {
            **({"Val": repr(start)} if start != written else {}),
            **({"Const": "True"} if fixed else {}),
        }
        if not attributes:
            return []
        if re.search(r"\s", root_name):
            raise ConversionError(config.path, f"the name '{root_name}' has blanks, which part names in XML")
        return [_tag("ParamSetting", attributes, text=root_name)]

    def _warn_of_bounds(self, config: Node, default: list[float]) -> None:
        if config.get("bounds") is not None and any(
            abs(a - b) > 1e-9 * max(1.0, abs(b))
            for row in config["bounds"]
            for a, b in zip(row.numbers(2), default)
        ):
            log.warning(
                f"{config.path}: bounds of '{config['name'].value}' cannot stand in XML; readers take {default}"
            )
