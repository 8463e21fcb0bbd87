"""The loss-cone system's formulas in NumPy, written from the specification and not from the C: what the
tests, the benchmark and the recovery tables measure the program against.

Arrays of a sweep are 15 rows (energies) of 88 cells; angles in degrees, energies in eV, potentials in V. NaN
is what is not there."""

import numpy as np
from scipy import integrate, optimize
from scipy.special import gammaln

ROWS, CELLS, FIELDS = 15, 88, 183
BOUNDS = [(-2000.0, 20.0), (0.3, 1.1), (0.0, 5.0)]  # U, r, A
WIDTH, SIGMA, BACKGROUND, FLOOR = 15.0, 7.5, 0.05, 1e-6
# inclination, cells of a belt, solid angle
BELTS = [(11.25, 16, 0.150279), (33.75, 16, 0.127401), (56.25, 8, 0.170253), (78.75, 4, 0.119570)]
ELECTRON, CHARGE, PROTON = 9.1093837015e-31, 1.602176634e-19, 1.67262192369e-27
# the five energies of the folded model, in units of the row's
RESPONSE = 1 + 0.25 * np.array([-1, -0.5, 0, 0.5, 1])
LEVELS = 1 + (BACKGROUND - 1) * np.arange(6) / 5  # of a cell that is in the cone of so many of them
FLUX_MASS = 5.685630e-12  # of an electron, eV s2/m2, as the flux has it
MISSING_FLUX, MISSING_AZIMUTH, FLAGGED_FLUX, FLAGGED_AZIMUTH = 9.999e-99, 999.99, -9.99e-99, 998.99


# ---- the instrument ---------------------------------------------------------------------------------


def cells():
    """inclinations, azimuths (of the first row) and solid angles of the 88 cells: belt by belt, north before
    south"""
    theta, phi, solid = [], [], []
    for inclination, n, angle in BELTS:
        for sign in (1, -1):
            theta += [sign * inclination] * n
            phi += [k * 360 / n for k in range(n)]
            solid += [angle] * n
    return np.array(theta), np.array(phi), np.array(solid)


THETA, PHI, SOLID_ANGLE = cells()
PER_BELT = np.array([{11.25: 16, 33.75: 16, 56.25: 8, 78.75: 4}[abs(t)] for t in THETA])


def cosines(field, azimuth, polarity=None, theta=THETA):
    """of the pitch angles; field: [..., 3], azimuth: [..., 88], polarity: [...] of +1 and -1 (else the row is
    NaN), None: -1"""
    field, azimuth = np.asarray(field, float), np.radians(np.asarray(azimuth, float))
    sign = -1.0 if polarity is None else np.where(np.isin(polarity, (1, -1)), polarity, np.nan)[..., None]
    b = field / np.linalg.norm(field, axis=-1, keepdims=True) * sign
    th = np.radians(theta)
    d = np.stack(
        [
            np.cos(azimuth) * np.cos(th),
            np.sin(azimuth) * np.cos(th),
            np.broadcast_to(np.sin(th), azimuth.shape),
        ],
        axis=-1,
    )
    return np.clip(np.einsum("...jk,...k->...j", d, b), -1, 1)


def pitch_angles(*arguments, **options):
    return np.degrees(np.arccos(cosines(*arguments, **options)))


def pseudo_counts(flux, energy):
    """of the rows: electrons that 2.5 s of each cell would have counted"""
    n = np.rint(np.maximum(flux, 0) * 0.02 * np.asarray(energy)[..., None] * (2.5 / PER_BELT))
    return np.nansum(n, axis=-1)


# ---- normalisation and masks ------------------------------------------------------------------------


def normalise(flux, pitch, how="ratio"):
    flux, pitch = np.asarray(flux, float), np.asarray(pitch, float)
    if how == "pairs":
        return np.array(
            [
                normalise_pairs(f, p)
                for f, p in zip(flux.reshape(-1, flux.shape[-1]), pitch.reshape(-1, flux.shape[-1]))
            ]
        ).reshape(flux.shape)
    good = (pitch < 90) & np.isfinite(flux) & (flux > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        norm = (
            np.where(good, flux, 0).sum(-1) / good.sum(-1)
            if how == "ratio"
            else np.where(good, flux, -np.inf).max(-1)
        )
        norm = np.where(good.any(-1), norm, np.nan)
        return flux / norm[..., None]


def nearest(angles, angle):
    """the first of the angles that are closest, ties but for rounding: each cell has an opposite one, so they
    are the rule"""
    return np.argmin(np.round(np.abs(angles - angle), 9))


def normalise_pairs(flux, pitch):
    result = np.full(flux.shape, np.nan)
    incident = pitch < 90
    valid = np.flatnonzero(incident & np.isfinite(flux) & (flux > 0))
    if not incident.any() or incident.all() or valid.size == 0:
        return result
    result[valid] = 1
    for j in np.flatnonzero((pitch >= 90) & (flux > 0)):
        result[j] = flux[j] / flux[valid[nearest(pitch[valid], 180 - pitch[j])]]
    result[nearest(pitch, 90)] = 1
    return result


def halekas_mask(normalised):
    return np.isfinite(normalised) & (normalised > 0)


def lillis_mask(flux, pitch):
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = np.where((pitch < 90) & np.isfinite(flux), flux, -np.inf).max(-1)
        relative = flux / np.where(np.isfinite(largest) & (largest > 0), largest, np.nan)[..., None]
        return np.isfinite(flux) & (flux > 0) & (relative > 0.07) & (relative < 0.79)


# ---- the model and its misfits ----------------------------------------------------------------------


def edge(energy, U, r, Usc=0.0):
    """alpha of each row, degrees"""
    x = np.clip(r * (1 + U / np.maximum(energy - Usc, 1e-12)), 0, 1)
    return np.degrees(np.arcsin(np.sqrt(x)))


def model(energy, pitch, U, r, A=0.0, Usc=0.0, width=WIDTH, sigma=SIGMA, background=BACKGROUND):
    """the hard edge, with the beam"""
    energy, pitch = np.asarray(energy, float), np.asarray(pitch, float)
    base = np.where(pitch <= 180 - edge(energy, U, r, Usc)[..., None], 1.0, background)
    depth = np.asarray(Usc - U)
    if width > 0 and A > 0 and (depth > 0).any():
        beam = np.where(
            depth > 0, np.exp(-0.5 * ((energy - np.maximum(depth, width)) / max(width, 1e-12)) ** 2), 0
        )
        base = base + A * beam[..., None] * (
            np.exp(-0.5 * ((pitch - 180) / sigma) ** 2) if sigma > 0 else 1.0
        )
    return base


def folded(energy, pitch, U, r, Usc=0.0, background=BACKGROUND):
    """the hard edge without beam, averaged over five energies of the response"""
    energy = np.asarray(energy, float)
    return np.mean(
        [model(energy * k, pitch, U, r, 0.0, Usc, background=background) for k in RESPONSE], axis=0
    )


def halekas(normalised, mask, values):
    """misfit"""
    if not mask.any():
        return np.nan
    return float(((np.log(normalised[mask] + FLOOR) - np.log(values[mask] + FLOOR)) ** 2).sum())


def lillis(normalised, mask, values):
    n = int(mask.sum())
    return float(((normalised[mask] - values[mask]) ** 2).sum() / max(n - 3, 1)) if n >= 5 else np.nan


class Sweep:
    """A sweep ready to be evaluated: energy [15], pitch and flux [15, 88] (measured; NaN: none), Usc a number
    or [15]"""

    def __init__(self, energy, pitch, flux, Usc=0.0, method="halekas", response="hard", how="ratio"):
        self.energy, self.pitch, self.method, self.response = (
            np.asarray(energy, float),
            np.asarray(pitch, float),
            method,
            response,
        )
        self.Usc = np.broadcast_to(np.asarray(Usc, float), self.energy.shape)
        self.normalised = normalise(flux, pitch, how)
        self.mask = (
            halekas_mask(self.normalised)
            if method == "halekas"
            else lillis_mask(flux, pitch) & halekas_mask(self.normalised)
        ) & np.isfinite(self.pitch)
        with np.errstate(invalid="ignore"):
            self.mask &= (self.energy >= self.Usc)[:, None]
        self.cells = int(self.mask.sum())
        self.least = 1 if method == "halekas" else 5

    def values(self, U, r, A=0.0):
        return (
            model(self.energy, self.pitch, U, r, A, self.Usc)
            if self.response == "hard"
            else folded(self.energy, self.pitch, U, r, self.Usc)
        )

    def misfit(self, point):
        return (halekas if self.method == "halekas" else lillis)(
            self.normalised, self.mask, self.values(*point)
        )

    def prepared(self):
        """objective(point) for many calls: the same numbers, without the masked rows' and logarithms'
        repetition"""
        rows = self.mask.any(1)
        energy, pitch, mask, depth = self.energy[rows], self.pitch[rows], self.mask[rows], self.Usc[rows]
        data = self.normalised[rows]
        logs, cells_, width2 = (
            np.where(mask, np.log(np.where(mask, data, 1.0) + FLOOR), 0.0),
            max(self.cells - 3, 1),
            -0.5 / WIDTH**2,
        )
        towards = np.exp(-0.5 * ((pitch - 180) / SIGMA) ** 2)
        shifted = np.maximum(energy - depth, 1e-12)

        steps = np.array(
            [
                (
                    np.where(mask, logs - np.log(level + FLOOR), 0.0) ** 2
                    if self.method == "halekas"
                    else np.where(mask, data - level, 0.0) ** 2
                )
                for level in LEVELS
            ]
        )
        limit, channels = (
            np.where(mask, 180 - pitch, np.inf),
            np.maximum(energy[:, None] * RESPONSE - depth[:, None], 1e-12),
        )

        def folded_objective(point):
            alpha = np.degrees(np.arcsin(np.sqrt(np.clip(point[1] * (1 + point[0] / channels), 0, 1))))
            outside = (alpha[:, None, :] > limit[:, :, None]).sum(2)
            total = np.take_along_axis(steps, outside[None], axis=0).sum()
            return total if self.method == "halekas" else total / cells_

        def objective(point):
            U, r = point[0], point[1]
            x = np.clip(r * (1 + U / shifted), 0, 1)
            values = np.where(pitch <= 180 - np.degrees(np.arcsin(np.sqrt(x)))[:, None], 1.0, BACKGROUND)
            if point[2] > 0:
                below = depth - U
                beam = np.where(below > 0, np.exp(width2 * (energy - np.maximum(below, WIDTH)) ** 2), 0.0)
                values = values + (point[2] * beam)[:, None] * towards
            if self.method == "halekas":
                return (((logs - np.log(values + FLOOR)) ** 2) * mask).sum()
            return (np.where(mask, data - values, 0.0) ** 2).sum() / cells_

        return objective if self.response == "hard" else folded_objective


def profile(sweep, U, r=BOUNDS[1]):
    """(misfit, r): the least misfit over r without a beam, exactly: between the r at which a cell leaves the
    model's plateau nothing changes"""
    hard = sweep.response == "hard"
    # [15, 1 or 5]
    shifted = np.maximum(
        sweep.energy[:, None] * (np.ones(1) if hard else RESPONSE) - sweep.Usc[:, None], 1e-12
    )
    opening = 1 + U / shifted
    levels = LEVELS[[0, 5]] if hard else LEVELS
    data = np.where(sweep.mask, sweep.normalised, 1.0)[..., None]
    each = (
        (np.log(data + FLOOR) - np.log(levels + FLOOR)) ** 2
        if sweep.method == "halekas"
        else (data - levels) ** 2
    )
    base = np.where(sweep.mask, each[..., 0], 0).sum()
    moving = sweep.mask & (sweep.pitch > 90)
    rows = np.nonzero(moving)[0]
    there = opening[rows]
    at = np.where(
        there > 0,
        np.sin(np.radians(sweep.pitch[moving]))[:, None] ** 2 / np.where(there > 0, there, 1.0),
        np.inf,
    )
    at = np.sort(at, axis=1).ravel()
    change = np.diff(each[moving], axis=1).ravel()
    order = np.argsort(at, kind="stable")
    at, total = at[order], base + np.cumsum(change[order])
    edges = np.concatenate([[-np.inf], at])  # total so far holds from edges[k] to edges[k + 1]
    total = np.concatenate([[base], total])
    lower, upper = np.maximum(edges, r[0]), np.minimum(np.concatenate([at, [np.inf]]), r[1])
    total = np.where(upper - lower > 1e-12, total, np.inf)
    k = int(np.argmin(total))
    return total[k] / (1 if sweep.method == "halekas" else max(sweep.cells - 3, 1)), (lower[k] + upper[k]) / 2


def evolve(objective, seed, start=None, bounds=BOUNDS, population=51, generations=500):
    """a differential evolution of SciPy as the original runs it: (misfit, point)"""
    n = len(bounds)
    result = optimize.differential_evolution(
        objective,
        bounds,
        strategy="best1bin",
        popsize=population // n,
        init="latinhypercube",
        mutation=0.5,
        recombination=0.9,
        rng=seed,
        updating="deferred",
        maxiter=generations,
        tol=1e-3,
        atol=1e-3,
        polish=False,
        x0=start,
    )
    return float(result.fun), result.x


def original(objective, cell):
    """the original's fit: 400 points of its Latin hypercube (cell: [400, 3]), then the evolution from the
    best of them"""
    points = np.array([-1000, 0.3, 0]) + (np.asarray(cell) + 0.5) / 400 * np.array([1000, 0.8, 5])
    found = [objective(p) for p in points]
    best = int(np.argmin(found))
    misfit, point = evolve(objective, 42, start=points[best])
    return (misfit, point) if misfit <= found[best] else (found[best], points[best])


# ---- kappa distributions and currents ---------------------------------------------------------------


def omnidirectional(energy, density, kappa, theta):
    """flux, 1/(cm2 s eV), of a kappa distribution; density in m-3, theta in m/s"""
    v = np.sqrt(2 * np.asarray(energy, float) / FLUX_MASS)
    norm = density * np.exp(gammaln(kappa + 1) - gammaln(kappa - 0.5)) / (np.pi * kappa) ** 1.5 / theta**3
    return 4 * np.pi * 1e-4 * norm * (1 + (v / theta) ** 2 / kappa) ** (-kappa - 1) * v**2 / FLUX_MASS


def temperature(kappa, theta):
    return 0.5 * kappa / (kappa - 1.5) * theta**2 * ELECTRON / CHARGE


def theta_of(T, kappa):
    return np.sqrt(2 * (kappa - 1.5) / kappa * CHARGE * T / ELECTRON)


def response(energy):
    """15 x 15: the instrument's Gaussian in ln E, rows normalised"""
    x = np.log(np.asarray(energy, float))
    w = np.exp(-0.5 * ((x[:, None] - x) / (np.arcsinh(0.25) / np.sqrt(2 * np.log(2)))) ** 2)
    return w / w.sum(1, keepdims=True)


def photoelectrons(U):
    """current of sunlit metal, A/m2"""
    return 1.07e-6 * np.exp(-np.asarray(U) / 5) + 1.6e-8 * np.exp(-np.asarray(U) / 60)


def simpson_current(density, kappa, theta, lower=10.0, upper=20000.0, n=100):
    E = np.geomspace(lower, upper, n)
    return CHARGE * 1e4 * 0.25 * integrate.simpson(omnidirectional(E, density, kappa, theta), x=E)


def thermal_current(density, kappa, theta):
    """all of it, in closed form: e n <v> / 4"""
    return (
        CHARGE
        * density
        / 4
        * 2
        * theta
        * np.sqrt(kappa / np.pi)
        * np.exp(gammaln(kappa + 1) - gammaln(kappa - 0.5))
        / (kappa * (kappa - 1))
    )


def sunlit_potential(current):
    lower, upper = photoelectrons(0.0), photoelectrons(150.0)
    return (
        optimize.brentq(lambda U: photoelectrons(U) - current, 0, 150, xtol=1e-12)
        if upper <= current <= lower
        else np.nan
    )


def secondary_yield(E):
    E = np.asarray(E, float)
    return np.where(E > 0, 7.4 * 1.5 * (E / 500) * np.exp(-2 * np.sqrt(np.maximum(E, 0) / 500)), 0.0)


def shade_currents(U, density, kappa, T, grid=None):
    """electrons, secondaries and ions onto a body in shade at U <= 0, A/m2; None where its plasma's
    temperature is not above 0. grid: energies of the sums; None: the usual ones"""
    here = T + U / (kappa - 1.5)
    if here <= 0:
        return None
    E = np.geomspace(1, 20000, 500) if grid is None else grid
    E = E[E >= abs(U)]
    flux = 0.25 * 1e4 * omnidirectional(E, density, kappa, theta_of(here, kappa))
    Je = CHARGE * np.trapezoid(flux, E)
    Jsee = CHARGE * np.trapezoid(flux * secondary_yield(E - abs(U)), E)
    Ji = CHARGE * density * np.sqrt(CHARGE * here / (2 * np.pi * PROTON)) * np.sqrt(max(0.0, 1 - U / here))
    return Je, Jsee, Ji


def shade_potential(density, kappa, T):
    """the first balance below 0 V, the sums so fine that they are integrals; NaN where secondaries and ions
    prevail at 0 V, or there is none"""

    def surplus(U):
        currents = shade_currents(U, density, kappa, T, np.geomspace(max(abs(U), 1.0), 20000, 4000))
        return 1e12 if currents is None else currents[1] + currents[2] - currents[0]

    if surplus(0.0) >= 0:
        return np.nan
    steps = np.linspace(0, -(kappa - 1.5) * T, 400)[1:]
    below = next((k for k, U in enumerate(steps) if surplus(U) > 0), None)
    return (
        np.nan
        if below is None
        else optimize.brentq(surplus, steps[below], steps[below - 1] if below > 0 else 0.0, xtol=1e-6)
    )
