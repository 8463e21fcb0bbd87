"""CLs over values of the parameter of interest, with the bands that look like Brazil's flag."""

from __future__ import annotations

from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np

__all__ = ["BrazilBandCollection", "plot_brazil_band", "plot_cls_components", "plot_results"]


def __dir__() -> list[str]:
    return __all__


class BrazilBandCollection(NamedTuple):
    """The artists of a figure by what they show (None: not drawn), and its axes."""

    cls_obs: Any
    cls_exp: Any
    one_sigma_band: Any
    two_sigma_band: Any
    test_size: Any
    clsb: Any
    clb: Any
    axes: Any


def plot_brazil_band(
    test_pois: Any, cls_obs: Any, cls_exp: Any, test_size: float, ax: Any, **kwargs: Any
) -> tuple[Any, ...]:
    """Observed CLs, expected ones with their bands of 1 and 2 sigma, and the size of the test. Keywords:
    color, test_size_color, test_size_linestyle. Their artists."""
    color = kwargs.pop("color", "black")
    (observed,) = ax.plot(test_pois, cls_obs, color=color, label=r"$\mathrm{CL}_{s}$")
    styles = ["dotted", "dotted", "dashed", "dotted", "dotted"]
    labels = [None, None, r"$\mathrm{CL}_{s,\mathrm{exp}}$", None, None]
    expected = [
        ax.plot(test_pois, curve, color=color, linestyle=style, label=label)[0]
        for curve, style, label in zip(cls_exp, styles, labels)
    ]
    two_sigma = ax.fill_between(
        test_pois,
        cls_exp[0],
        cls_exp[-1],
        facecolor="yellow",
        label=r"$\pm2\sigma$ $\mathrm{CL}_{s,\mathrm{exp}}$",
    )
    one_sigma = ax.fill_between(
        test_pois,
        cls_exp[1],
        cls_exp[-2],
        facecolor="green",
        label=r"$\pm1\sigma$ $\mathrm{CL}_{s,\mathrm{exp}}$",
    )
    size_color, size_style = kwargs.pop("test_size_color", "red"), kwargs.pop("test_size_linestyle", "solid")
    (size,) = ax.plot(
        test_pois,
        np.full(len(test_pois), test_size),
        color=size_color,
        linestyle=size_style,
        label=rf"$\alpha={test_size}$",
    )
    return observed, expected, one_sigma, two_sigma, size


def plot_cls_components(test_pois: Any, tail_probs: Any, ax: Any, **kwargs: Any) -> tuple[Any, Any]:
    """CLs+b and CLb. Keywords: linewidth, no_clsb, no_clb, clsb_color, clb_color. Their artists, None where
    not drawn."""
    linewidth = kwargs.pop("linewidth", 2)
    artists: list[Any] = []
    for column, name, color, label in (
        (0, "clsb", "red", r"$\mathrm{CL}_{s+b}$"),
        (1, "clb", "blue", r"$\mathrm{CL}_{b}$"),
    ):
        color = kwargs.pop(f"{name}_color", color)
        if kwargs.pop(f"no_{name}", False):
            artists.append(None)
            continue
        artists += ax.plot(
            test_pois, [pair[column] for pair in tail_probs], color=color, linewidth=linewidth, label=label
        )
    return artists[0], artists[1]


def _legend_order(label: str) -> int:
    """Observed curves and components first, then what is expected, the bands, and the test's size."""
    parts = ("exp", "pm1", "pm2", "alpha")
    return max((place + 1 for place, part in enumerate(parts) if part in label), default=0)


def plot_results(
    test_pois: Any, tests: Any, test_size: float = 0.05, ax: Any = None, **kwargs: Any
) -> BrazilBandCollection:
    """The tests that hypotest(..., return_expected_set=True) makes at `test_pois`; with `components` those
    with return_tail_probs=True, too. Keywords besides those of the two functions above: components, no_cls,
    xlabel, ylabel. ValueError: components that the tests do not have."""
    ax = plt.gca() if ax is None else ax
    components, no_cls = kwargs.pop("components", False), kwargs.pop("no_cls", False)
    x_label, y_label = kwargs.pop("xlabel", r"$\mu$ (POI)"), kwargs.pop("ylabel", r"$\mathrm{CL}_{s}$")
    if components and len(tests[0]) != 3:
        raise ValueError(
            f"The components of 'tests' should have len of 3 to visualize the CLs components but have len {len(tests[0])}: "
            "[CLs_obs, [CLsb, CLb], [CLs_exp band]]"
        )
    band: tuple[Any, ...] = (None,) * 5
    if not no_cls:
        observed = np.array([test[0] for test in tests], dtype=np.float64).ravel()
        expected = np.array([np.ravel(test[-1]) for test in tests], dtype=np.float64).T
        band = plot_brazil_band(test_pois, observed, list(expected), test_size, ax, **kwargs)
    clsb, clb = (
        plot_cls_components(test_pois, [test[1] for test in tests], ax, **kwargs)
        if components
        else (None, None)
    )
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.set_ylim(*((test_size * 0.1, 1) if ax.get_yscale() == "log" else (0, 1)))
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda index: _legend_order(labels[index]))
    ax.legend([handles[index] for index in order], [labels[index] for index in order], loc="best")
    observed_line, expected_lines, one_sigma, two_sigma, size = band
    return BrazilBandCollection(observed_line, expected_lines, one_sigma, two_sigma, size, clsb, clb, ax)
