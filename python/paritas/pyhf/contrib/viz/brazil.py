"""The Brazil band: CLs over the parameter of interest."""

from collections import namedtuple
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

__all__ = ["BrazilBandCollection", "plot_brazil_band", "plot_cls_components", "plot_results"]
__dir__ = __all__.copy


#: a figure's artists (or None), and axes
BrazilBandCollection = namedtuple(
    "BrazilBandCollection", "cls_obs cls_exp one_sigma_band two_sigma_band test_size clsb clb axes"
)


def plot_brazil_band(
    test_pois: Any, cls_obs: Any, cls_exp: Any, test_size: float, ax: Any, **kwargs: Any
) -> Any:
    """CLs, bands and test size; returns artists. Keywords: color, test_size_color, test_size_linestyle."""
    color = kwargs.pop("color", "black")
    (observed,) = ax.plot(test_pois, cls_obs, color=color, label=r"$\mathrm{CL}_{s}$")
    expected = []
    for k, curve in enumerate(cls_exp):
        style, label = ("dashed", r"$\mathrm{CL}_{s,\mathrm{exp}}$") if k == 2 else ("dotted", None)
        expected += ax.plot(test_pois, curve, color=color, linestyle=style, label=label)

    def band(sigmas: int, facecolor: str) -> Any:
        label = rf"$\pm{sigmas}\sigma$ $\mathrm{{CL}}_{{s,\mathrm{{exp}}}}$"
        low, high = cls_exp[2 - sigmas], cls_exp[2 + sigmas]
        return ax.fill_between(test_pois, low, high, facecolor=facecolor, label=label)

    two_sigma, one_sigma = band(2, "yellow"), band(1, "green")
    (size,) = ax.plot(
        test_pois,
        np.full(len(test_pois), test_size),
        color=kwargs.pop("test_size_color", "red"),
        linestyle=kwargs.pop("test_size_linestyle", "solid"),
        label=rf"$\alpha={test_size}$",
    )
    return observed, expected, one_sigma, two_sigma, size


def plot_cls_components(test_pois: Any, tail_probs: Any, ax: Any, **kwargs: Any) -> Any:
    """CLs+b and CLb; returns artists, or None. Keywords: linewidth, no_clsb, no_clb, clsb_color,
    clb_color."""
    linewidth = kwargs.pop("linewidth", 2)
    artists: list[Any] = []
    for column, (name, color, index) in enumerate((("clsb", "red", "s+b"), ("clb", "blue", "b"))):
        color = kwargs.pop(f"{name}_color", color)
        if kwargs.pop(f"no_{name}", False):
            artists.append(None)
            continue
        label = rf"$\mathrm{{CL}}_{{{index}}}$"
        curve = [pair[column] for pair in tail_probs]
        artists += ax.plot(test_pois, curve, color=color, linewidth=linewidth, label=label)
    return artists[0], artists[1]


def _legend_order(label: str) -> int:
    parts = ("exp", "pm1", "pm2", "alpha")
    return max((place + 1 for place, part in enumerate(parts) if part in label), default=0)


def plot_results(
    test_pois: Any, tests: Any, test_size: float = 0.05, ax: Any = None, **kwargs: Any
) -> BrazilBandCollection:
    """Tests from hypotest(..., return_expected_set=True); with `components` also return_tail_probs=True.
    Keywords: no_cls, xlabel, ylabel, and those above."""
    ax = plt.gca() if ax is None else ax
    components, no_cls = kwargs.pop("components", False), kwargs.pop("no_cls", False)
    x_label, y_label = kwargs.pop("xlabel", r"$\mu$ (POI)"), kwargs.pop("ylabel", r"$\mathrm{CL}_{s}$")
    if components and len(tests[0]) != 3:
        raise ValueError(
            f"Components need tests [CLs_obs, [CLsb, CLb], [CLs_exp band]], not {len(tests[0])} values"
        )
    band: Any = (None,) * 5
    if not no_cls:
        observed = np.array([test[0] for test in tests], dtype=np.float64).ravel()
        expected = np.array([np.ravel(test[-1]) for test in tests], dtype=np.float64).T
        band = plot_brazil_band(test_pois, observed, list(expected), test_size, ax, **kwargs)
    both: Any = (None, None)
    if components:
        both = plot_cls_components(test_pois, [test[1] for test in tests], ax, **kwargs)
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.set_ylim(*((test_size * 0.1, 1) if ax.get_yscale() == "log" else (0, 1)))
    legend = sorted(zip(*ax.get_legend_handles_labels()), key=lambda entry: _legend_order(entry[1]))
    ax.legend(*zip(*legend), loc="best")
    return BrazilBandCollection(*(*band, *both, ax))
