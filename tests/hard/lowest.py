"""The lowest minima that many starts find, by the Python package: what a program's answers are held against.

A point counts by its value alone, whatever the status of its fit: any point in the domain and within bounds
is an upper bound of the minimum."""

import copy
import math

import numpy as np

from paritas import Model


def log_tail(t):
    """The logarithm of the normal distribution's upper tail. Far out erfc underflows; there it is the first
    terms of Mills' ratio, with a relative error below 3 / t^4."""
    if t < 30.0:
        return math.log(0.5 * math.erfc(t / math.sqrt(2.0)))
    return -0.5 * t * t - math.log(t * math.sqrt(2.0 * math.pi)) + math.log1p(-1.0 / (t * t))


def cls_of_tails(t, q_asimov):
    """CLs is a quotient of two tails (eqs. 59 and 67 of arXiv:1007.1727), which may both be tiny."""
    return math.exp(log_tail(t + q_asimov**0.5) - log_tail(t))


def observed_shift(q, q_asimov):
    """How far q-tilde is from its median without signal."""
    u, a = q**0.5, q_asimov**0.5
    return (u * u - a * a) / (2 * a) if u > a > 0 else u - a


class Lowest:
    """Points found for one data set and one value of the parameter of interest (or none), lowest first."""

    def __init__(self, values, points, edm, tolerance, feasible_starts):
        order = np.argsort(values, kind="stable")
        self.values, self.points, self.tolerance = values[order], points[order], tolerance
        self.edm = edm[order]
        self.feasible_starts = feasible_starts

    @property
    def value(self):
        """Twice the NLL; infinite where no start found a point of the domain."""
        return float(self.values[0]) if len(self.values) else math.inf

    def equals(self):
        """All points as low as the lowest, the most precise one first."""
        equal = self.values <= self.value + self.tolerance
        return self.points[equal][np.argsort(np.nan_to_num(self.edm[equal], nan=np.inf), kind="stable")]

    def distinct(self, most=8):
        """One point of each value that was met."""
        found = []
        for value, point in zip(self.values, self.points):
            if len(found) < most and all(abs(value - other) > 1e-4 for other, _ in found):
                found.append((value, point))
        return [point for _, point in found]


def hold(rows, held):
    for k, value in held.items():
        rows[:, k] = value


class Reference:
    """Lowest minima of a model. The starts are drawn as by `paritas fit --starts N`. Further draws replace
    those outside the domain, where some lie in it."""

    def __init__(self, path, codes, starts, poi=None):
        self.model = Model.from_workspace(path, poi=poi, **codes)
        self.starts = starts
        self.scales = (1.0,)  # of the widths of starts, in turns
        self.poi = self.model.poi_index
        self.data = np.array(self.model.data)
        self.start = np.array(self.model.suggested_init)
        self.lower, self.upper = np.array(self.model.lower_bounds), np.array(self.model.upper_bounds)
        self.fixed = np.array(self.model.suggested_fixed, dtype=bool)

    def noise(self, data):
        """Rounding of twice the NLL, in proportion to its largest terms."""
        n = np.abs(data[: self.model.main_count])
        return 1e-6 + 4e-16 * float(np.sum(2.0 * n * (1.0 + np.log1p(n))))

    def _draw(self, n, lower, upper):
        """Starts (n, parameters): the suggested one, then random ones."""
        random, free = np.random.default_rng(0), ~self.fixed
        more = np.tile(self.start, (n - 1, 1))
        reach = 3.0 * np.maximum(np.abs(self.start), 1.0)
        flat = random.uniform(
            np.maximum(lower, self.start - reach), np.minimum(upper, self.start + reach), more.shape
        )
        widths = np.asarray(self.model.constraint_widths)
        scale = np.resize(self.scales, (n - 1, 1)) * np.nan_to_num(widths)
        near = self.start + scale * random.normal(size=more.shape)
        more[:, free] = np.where(np.isnan(widths), flat, near)[:, free]
        return np.clip(np.concatenate([self.start[None], more]), lower, upper)

    def _starts(self, held, data, lower, upper, replace):
        """(starts, how many of all draws were in the domain)"""
        rows = self._draw(self.starts * (20 if replace else 1), lower, upper)
        hold(rows, held)
        if not replace:
            return rows, 0
        inside = np.isfinite(self.model.twice_nll_batch(rows, data, device="cpu", threads=1)[:, 0])
        order = 1 + np.argsort(~inside[1:], kind="stable")  # those inside first
        return rows[np.concatenate([[0], order[: self.starts - 1]])], int(inside.sum())

    def lowest(self, mu=None, data=None, hints=(), replace=True):
        """Of the data (None: observed), with the parameter of interest held at mu. hints: further starts.
        replace: starts outside the domain."""
        return self.lowest_held({} if mu is None else {self.poi: mu}, data, hints, replace)

    def lowest_held(self, held, data=None, hints=(), replace=True):
        """The same with any parameters held. held: values by number."""
        data = self.data if data is None else data
        lower, upper = self._bounds(held)
        rows, feasible = self._starts(held, data, lower, upper, replace)
        if len(hints):
            rows = np.concatenate([rows, np.array(hints)])
        return self.ends(rows, held, data, feasible)

    def _bounds(self, held):
        """Those that the held values widen."""
        lower, upper = self.lower.copy(), self.upper.copy()
        for k, value in held.items():
            lower[k], upper[k] = min(lower[k], value), max(upper[k], value)
        return lower, upper

    def ends(self, rows, held, data=None, feasible=0):
        """Where fits end that start at rows, as far as these lie within bounds."""
        data, fixed = self.data if data is None else data, self.fixed.copy()
        fixed[list(held)] = True
        lower, upper = self._bounds(held)
        rows = np.clip(rows, lower, upper)
        hold(rows, held)
        bounds = np.stack([lower, upper], axis=1)
        fits = self.model.fit_batch(data, init=rows, bounds=bounds, fixed=fixed, device="cpu", threads=1)
        values = self.model.twice_nll_batch(fits.values, data, device="cpu", threads=1)[:, 0]
        kept = np.isfinite(values) & np.all((fits.values >= lower) & (fits.values <= upper), axis=1)
        return Lowest(values[kept], fits.values[kept], fits.edm[kept], self.noise(data), feasible)

    def met(self, n, mu=None):
        """The lowest value at which `fit --starts n` ends, from its own starts alone."""
        few = copy.copy(self)
        few.starts = n
        return few.lowest(mu, replace=False).value

    def expected(self, point):
        return np.array(self.model.expected_data(point, device="cpu", threads=1))

    def upper_poi(self):
        return float(self.upper[self.poi])

    def thorough(self):
        """The same with ten times the starts, of which every other one is three times as far away."""
        found = copy.copy(self)
        found.starts = 10 * self.starts
        found.scales = (1.0, 3.0)
        return found

    def widened(self, upper):
        """The same with another upper bound of the parameter of interest."""
        found = copy.copy(self)
        found.upper = self.upper.copy()
        found.upper[self.poi] = upper
        return found

    def allows(self, mu):
        return mu is None or self.lower[self.poi] <= mu <= self.upper[self.poi]


class Known:
    """The lowest points of all that a test needs, each searched once. They know of each other: a conditional
    fit also starts where the free one ended, and the free fit where a conditional one ended lower."""

    def __init__(self, reference):
        self.reference = reference
        self._data, self._asimov, self._sets = {}, {}, None

    def lowest(self, mu=None):
        """Of the observed data."""
        if mu not in self._data:
            hints = () if mu is None else self.lowest().distinct()
            found = self._data[mu] = self.reference.lowest(mu, hints=hints)
            if found.value < self.lowest().value - found.tolerance and self.reference.allows(mu):
                self._data[None] = self.reference.lowest(hints=found.distinct())
        return self._data[mu]

    def asimov_sets(self):
        """(expected data of background alone, their point), of each conditional minimum as low as the
        lowest."""
        if self._sets is None:
            self._sets = []
            for point in self.lowest(0.0).equals():
                data = self.reference.expected(point)
                scale = abs(data)
                scale[self.reference.model.main_count :] += 1.0
                if all((abs(data - other) > 1e-4 * scale).any() for other, _ in self._sets):
                    self._sets.append((data, point))
            self._sets = self._sets[:4]
        return self._sets

    def asimov(self, k, mu=None):
        """Of the k-th Asimov data."""
        if (k, mu) not in self._asimov:
            data, point = self.asimov_sets()[k]
            hints = [point] if mu is None else [point, *self.asimov(k).distinct()]
            self._asimov[k, mu] = self.reference.lowest(mu, data, hints)
        return self._asimov[k, mu]

    def statistics(self, mu, free, fixed):
        """q-tilde of the lowest minima; two values where equal minima lie on both sides of mu."""
        q = max(0.0, fixed.value - free.value)
        return sorted({0.0 if point[self.reference.poi] > mu else q for point in free.equals()})

    def q(self, mu):
        fixed = self.lowest(mu)
        return self.statistics(mu, self.lowest(), fixed)

    def q_asimov(self, mu):
        sets = range(len(self.asimov_sets()))
        return sorted({q for k in sets for q in self.statistics(mu, self.asimov(k), self.asimov(k, mu))})

    def cls(self, mu):
        """CLs of the lowest minima; None where it does not exist."""
        q, q_asimov = self.q(mu), self.q_asimov(mu)
        if not q or not q_asimov:
            return None
        return cls_of_tails(observed_shift(q[0], q_asimov[0]), q_asimov[0])
