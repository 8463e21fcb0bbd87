"""353QH smoothing, applied twice (J. Friedman, Data analysis techniques for high energy particle physics,
CERN 74-23, 1974; TH1::SmoothArray in ROOT)."""

import numpy as np

from .histograms import Floats, total


def _running_medians(values: Floats, width: int) -> Floats:
    """Medians of `width` neighbours; the outermost width // 2 bins stay."""
    found = values.copy()
    if len(values) >= width:
        windows = np.lib.stride_tricks.sliding_window_view(values, width)
        found[width // 2 : len(values) - width // 2] = np.sort(windows, axis=1)[:, width // 2]
    return found


def _median(*three: float) -> float:
    return float(sorted(three)[1])


def _medians_353(values: Floats) -> Floats:
    """Running medians of 3, 5 and 3. The end bins of the first compare a line through their neighbours."""
    first = _running_medians(values, 3)
    first[0] = _median(3 * first[1] - 2 * first[2], values[0], first[1])
    first[-1] = _median(first[-2], values[-1], 3 * first[-2] - 2 * first[-3])
    second = _running_medians(first, 5)
    second[1] = _median(*first[:3])
    second[-2] = _median(*first[-3:])
    return _running_medians(second, 3)


def _parabolas(values: Floats) -> Floats:
    """Three equal bins that are a peak or a valley get a parabola. Such places are three bins apart or more,
    so all can be changed at once."""
    found = values.copy()
    middle = values[2:-2]
    left, right = values[:-4] - middle, values[4:] - middle
    flat = (values[1:-3] == middle) & (middle == values[3:-1]) & (left * right > 0)
    at = np.flatnonzero(flat) + 2
    side = np.where(np.abs(right) > np.abs(left), -1, 1)[at - 2]  # to the steeper side
    far, near = values[at + 2 * side], values[at - 2 * side]
    found[at] = -0.5 * near + values[at] / 0.75 + far / 6
    found[at + side] = 0.5 * (far - near) + values[at]
    return found


def _running_means(values: Floats) -> Floats:
    found = values.copy()
    found[1:-1] = 0.25 * values[:-2] + 0.5 * values[1:-1] + 0.25 * values[2:]
    return found


def _once(values: Floats) -> Floats:
    return _running_means(_parabolas(_medians_353(values)))


def smooth_353qh_twice(values: Floats) -> Floats:
    """Smooths the values, then adds the smoothed residuals. Not below 0 if no value is. Fewer than three
    values stay as they are."""
    if len(values) < 3:
        return values
    smooth = _once(values)
    found = smooth + _once(values - smooth)
    return found if values.min() < 0 else np.maximum(found, 0.0)


def smoothed_variation(varied: Floats, nominal: Floats) -> Floats:
    """A variation whose ratio to nominal is smoothed; its sum stays. Raises ValueError if nominal is 0 in a
    bin, or the smoothed variation sums to 0."""
    if not nominal.all():
        empty = int(np.flatnonzero(nominal == 0.0)[0])
        raise ValueError(
            f"the nominal template is 0 in bin {empty}, so the relative effect cannot be smoothed"
        )
    found: Floats = smooth_353qh_twice(varied / nominal) * nominal
    if total(found) == 0.0:
        raise ValueError("the smoothed variation sums to 0")
    return found * total(varied) / total(found)
