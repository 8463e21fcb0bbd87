"""Intervals and regions by brute force: a fine grid of fits, each from many starts, and bisections."""

import numpy as np

STARTS = (-6.0, -3.0, -1.0, 0.5, 2.0, 4.0, 7.0)  # of each coefficient that is not held


def coefficients(model):
    """parameters of interest, and those of the models in effective_field.py"""
    return [n for n in model.parameter_names if n in model.poi_names or n.startswith("k")]


def others(model, held):
    """start values of the coefficients that are not held: all combinations"""
    names = [name for name in coefficients(model) if name not in held]
    places = [model.index(name) for name in names]
    grid = np.meshgrid(*([STARTS] * len(places)), indexing="ij") if places else [np.zeros(1)]
    return places, np.stack([axis.ravel() for axis in grid], axis=1)


def profile(model, held, values):
    """twice the NLL with parameters held at rows of values: the least of many starts; infinite without one"""
    values = np.atleast_2d(values)
    places, rows = others(model, held)
    at = [model.index(name) for name in held]
    start = np.tile(np.array(model.suggested_init), (len(values) * len(rows), 1))
    start[:, places] = np.tile(rows, (len(values), 1))[:, : len(places)]
    start[:, at] = np.repeat(values, len(rows), axis=0)
    fixed = np.zeros_like(start, dtype=bool)
    fixed[:, at] = True
    fitted = model.fit_batch(init=start, fixed=fixed)
    good = np.where(np.array(fitted.status) == "converged", fitted.twice_nll, np.inf)
    return good.reshape(len(values), len(rows)).min(axis=1)


def least(model):
    """the lowest of free fits from all combinations of starts"""
    places, rows = others(model, [])
    start = np.tile(np.array(model.suggested_init), (len(rows), 1))
    start[:, places] = rows
    fitted = model.fit_batch(init=start)
    good = [v for v, s in zip(fitted.twice_nll, fitted.status) if str(s) == "converged"]
    return min(good)


def refined(model, name, x, y):
    """adds values around turns of the curve, four times finer each time"""
    for _ in range(4):
        turns = [
            i for i in range(1, len(x) - 1) if (y[i] - y[i - 1]) * (y[i + 1] - y[i]) <= 0 or np.isinf(y[i])
        ]
        turns = [i for i in turns if not np.isinf(y[i - 1 : i + 2]).all()]
        more = np.unique(
            np.concatenate([np.linspace(x[i - 1], x[i + 1], 9)[1:-1] for i in turns] or [np.zeros(0)])
        )
        more = np.setdiff1d(more, x)
        if not len(more):
            break
        x, y = np.append(x, more), np.append(y, profile(model, [name], more[:, np.newaxis]))
        order = np.argsort(x)
        x, y = x[order], y[order]
    return x, y


def curve(model, name, points=801):
    """a fine profile between the bounds: values, twice the NLL"""
    i = model.index(name)
    low, high = model.lower_bounds[i], model.upper_bounds[i]
    x = np.linspace(low, high, points)
    return refined(model, name, x, profile(model, [name], x[:, np.newaxis]))


def bisected(model, name, inside, outside, level):
    """crossings by bisection, all at once"""
    inside, outside = np.array(inside, dtype=float), np.array(outside, dtype=float)
    for _ in range(45):
        middle = 0.5 * (inside + outside)
        below = profile(model, [name], middle[:, np.newaxis]) <= level
        inside, outside = np.where(below, middle, inside), np.where(below, outside, middle)
    return 0.5 * (inside + outside)


def parts(model, name, x, y, level):
    """edges (n, 2) of the parts where y is at most the level; ends of the range count as edges"""
    below = y <= level
    steps = np.flatnonzero(below[1:] != below[:-1])
    inside = np.where(below[steps], x[steps], x[steps + 1])
    outside = np.where(below[steps], x[steps + 1], x[steps])
    edges = bisected(model, name, inside, outside, level) if len(steps) else np.zeros(0)
    edges = np.concatenate([x[:1] if below[0] else [], edges, x[-1:] if below[-1] else []])
    return edges.reshape(-1, 2)


def plane(model, names, points=91):
    """values of both parameters between their bounds, and twice the NLL (points, points) there"""
    axes = [
        np.linspace(model.lower_bounds[i], model.upper_bounds[i], points) for i in map(model.index, names)
    ]
    grid = np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)
    rows = [profile(model, names, part) for part in np.array_split(grid, max(1, points // 10))]
    return axes, np.concatenate(rows).reshape(points, points)


def count(inside):
    """parts of a region on a grid, and its holes"""
    from scipy import ndimage

    outside = np.pad(~inside, 1, constant_values=True)
    return ndimage.label(inside)[1], ndimage.label(outside)[1] - 1
