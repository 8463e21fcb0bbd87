"""Synthetic day files of the Electron Reflectometer in the archive's form, with whatever is wrong with them
that a test wants, and their reading back."""

import datetime
import os

import numpy as np
import reference as ref

# the two energy tables of the mission, nearly
TABLES = [np.geomspace(38.641, 16680.334, 15), np.geomspace(7.0, 20000.0, 15)]


class Day:
    """n sweeps: number [n], time [n, 15], energy [n, 15], field [n, 15, 3], flux and azimuth [n, 15, 88];
    truth: a dictionary of [n], what they were made of"""

    def __init__(self, energy, field, azimuth, flux, start, truth=None):
        n = len(energy)
        self.energy, self.azimuth, self.flux, self.truth = (
            np.asarray(energy),
            np.asarray(azimuth),
            np.asarray(flux),
            truth or {},
        )
        self.field = np.broadcast_to(np.asarray(field).reshape(n, -1, 3), (n, 15, 3))
        self.number = np.arange(1, n + 1)
        self.time = start + 80.0 * np.arange(n)[:, None] + 2.5 * np.arange(15)

    def __len__(self):
        return len(self.energy)

    def sweep(self, k, Usc=0.0, polarity=None, **options):
        pitch = ref.pitch_angles(self.field[k], self.azimuth[k], polarity)
        return ref.Sweep(self.energy[k], pitch, self.flux[k], Usc, **options)


def geometry(n, random, tables=(0,)):
    """energies [n, 15], fields [n, 3] and azimuths [n, 15, 88] of n sweeps: fields of any direction, azimuths
    that turn by 7.5 degrees a row"""
    energy = np.array(TABLES)[np.asarray(tables)[np.arange(n) % len(tables)]]
    field = random.normal(size=(n, 3))
    field *= (random.uniform(3, 30, n) / np.linalg.norm(field, axis=1))[:, None]
    azimuth = (
        np.round((ref.PHI + random.uniform(0, 360, n)[:, None, None] + 7.5 * np.arange(15)[:, None]) % 360, 2)
        % 360
    )
    return np.round(energy, 3), np.round(field, 6), azimuth


def integral(energy, pitch, U, r, Usc):
    """the hard edge averaged over a Gaussian response in ln E, each energy by its flux in a spectrum that
    falls as E^-2.5"""
    sigma = np.arcsinh(0.25) / np.sqrt(2 * np.log(2))
    x = np.linspace(-4.2, 4.2, 281) * sigma
    weight = np.exp(-0.5 * (x / sigma) ** 2 - 2.5 * x)
    return (
        sum(w * ref.model(energy * np.exp(d), pitch, U, r, 0.0, Usc) for d, w in zip(x, weight))
        / weight.sum()
    )


EDGES = {"folded": ref.folded, "integral": integral}


def synthetic(
    n,
    seed,
    kind="hard",
    U=(-400.0, -10.0),
    r=(0.4, 1.05),
    A=(0.0, 2.0),
    Usc=(5.0, 15.0),
    noise=(0.1, 0.3),
    tables=(0,),
    start="1998-04-01",
    polarity=None,
):
    """A day of cones with a known truth, each parameter uniform in its range (a beam in half of the hard
    ones); kind: hard, folded or integral."""
    random = np.random.default_rng(seed)
    energy, field, azimuth = geometry(n, random, tables)
    truth = {
        name: np.round(random.uniform(*span, n), 3)
        for name, span in (("U", U), ("r", r), ("A", A), ("Usc", Usc), ("noise", noise))
    }
    truth["A"] *= (random.random(n) < 0.5) & (kind == "hard")
    flux = np.empty((n, 15, 88))
    for k in range(n):
        pitch = ref.pitch_angles(
            np.broadcast_to(field[k], (15, 3)),
            azimuth[k],
            None if polarity is None else np.full(15, polarity[k]),
        )
        at = [truth[name][k] for name in ("U", "r")]
        values = (
            ref.model(energy[k], pitch, *at, truth["A"][k], truth["Usc"][k])
            if kind == "hard"
            else EDGES[kind](energy[k], pitch, *at, truth["Usc"][k])
        )
        flux[k] = (
            values
            * 1e6
            * (energy[k][:, None] / 100) ** -2.5
            * np.exp(truth["noise"][k] * random.normal(size=values.shape))
        )
    return Day(energy, field, azimuth, rounded(flux), seconds(start), truth)


def response_mean(function, energy):
    """a flux as channels of the instrument's response see it: its mean over a Gaussian in ln E, as an
    integral"""
    nodes, weights = np.polynomial.hermite_e.hermegauss(15)
    sigma = np.arcsinh(0.25) / np.sqrt(2 * np.log(2))
    return sum(w * function(energy * np.exp(sigma * x)) for x, w in zip(nodes, weights)) / weights.sum()


def plasma(
    n,
    seed,
    density=(1e5, 5e6),
    kappa=(2.6, 5.5),
    T=(12.0, 120.0),
    Usc=None,
    U=(-400.0, -10.0),
    r=(0.4, 1.05),
    kind="hard",
    tables=(0, 1),
    start="1998-04-01",
    cone=True,
    polarity=None,
    folded=True,
    systematic=0.0,
    at_spacecraft=False,
):
    """A day of counted electrons: kappa distributions around a spacecraft in sunlight (or at the potentials
    of the range Usc), with the Moon's loss cone, as Poisson counts. folded: channels see the mean over their
    response; systematic: relative error of every row; at_spacecraft: the distribution is that at the
    spacecraft."""
    random = np.random.default_rng(seed)
    energy, field, azimuth = geometry(n, random, tables)
    truth = {
        name: np.exp(random.uniform(*np.log(span), n)) for name, span in (("density", density), ("T", T))
    }
    truth |= {
        name: np.round(random.uniform(*span, n), 3) for name, span in (("kappa", kappa), ("U", U), ("r", r))
    }
    truth["theta"] = ref.theta_of(truth["T"], truth["kappa"])
    truth["A"] = np.zeros(n)
    # of the plasma's electrons from 10 eV on
    current = [ref.simpson_current(*p, n=2001) for p in zip(truth["density"], truth["kappa"], truth["theta"])]
    truth["Usc"] = (
        np.nan_to_num([ref.sunlit_potential(j) for j in current], nan=0.2)
        if Usc is None
        else random.uniform(*Usc, n)
    )
    flux = np.empty((n, 15, 88))
    for k in range(n):
        V, E = truth["Usc"][k], energy[k]

        def seen(e):  # per steradian; phase-space density is kept along the way to the spacecraft
            ambient = e if at_spacecraft else e - V
            return np.where(
                ambient > 0,
                ref.omnidirectional(
                    np.maximum(ambient, 1e-3), truth["density"][k], truth["kappa"][k], truth["theta"][k]
                )
                * e
                / np.maximum(ambient, 1e-3),
                0.0,
            ) / (4 * np.pi)

        mean = np.repeat((response_mean(seen, E) if folded else seen(E))[:, None], 88, axis=1)
        if cone:
            pitch = ref.pitch_angles(
                np.broadcast_to(field[k], (15, 3)),
                azimuth[k],
                None if polarity is None else np.full(15, polarity[k]),
            )
            edge = ref.model if kind == "hard" else ref.folded
            mean = mean * edge(E, pitch, truth["U"][k], truth["r"][k], Usc=V)
        mean = mean * np.exp(systematic * random.normal(size=(15, 1)))
        each = 0.02 * E[:, None] * 2.5 / ref.PER_BELT
        flux[k] = random.poisson(np.minimum(mean * each, 1e12)) / each
    return Day(energy, field, azimuth, rounded(flux), seconds(start), truth)


def seconds(date):
    return datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc).timestamp()


def rounded(flux):
    """to the four digits that a file holds: what float() makes of them"""
    exponent = np.floor(np.log10(np.where(flux > 0, flux, 1))).astype(int)
    mantissa = np.rint(flux * 10.0 ** (3 - exponent)).astype(np.int64)
    step = exponent - 3
    return np.where(step < 0, mantissa / 10.0 ** np.abs(step), mantissa * 10.0 ** np.abs(step))


# ---- text -------------------------------------------------------------------------------------------

DIGITS = np.frombuffer(b"".join(b"%04d" % k for k in range(10000)), np.uint8).reshape(-1, 4)


def flux_text(flux):
    """[n, 88] to [n, 880] bytes, blank and d.dddE+dd each; NaN: missing"""
    absent = ~np.isfinite(flux)
    value = np.where(absent | (flux <= 0), 1.0, flux)
    exponent = np.floor(np.log10(value)).astype(int)
    mantissa = np.rint(value * 10.0 ** (3 - exponent)).astype(int)
    low, high = mantissa < 1000, mantissa > 9999
    exponent += high.astype(int) - low
    mantissa = np.clip(np.rint(value * 10.0 ** (3 - exponent)).astype(int), 1000, 9999)
    zero = flux == 0
    mantissa, exponent = np.where(zero, 0, mantissa), np.where(zero, 0, exponent)
    mantissa, exponent = np.where(absent, 9999, mantissa), np.where(absent, -99, exponent)
    out = np.empty(flux.shape + (10,), np.uint8)
    digits = DIGITS[mantissa]
    out[..., 0], out[..., 1], out[..., 2], out[..., 6] = 32, digits[..., 0], 46, 69
    out[..., 3:6] = digits[..., 1:]
    out[..., 7] = np.where(exponent < 0, 45, 43)
    out[..., 8:] = DIGITS[np.abs(exponent)][..., 2:]
    return out.reshape(flux.shape[0], -1)


def azimuth_text(azimuth):
    """[n, 88] to [n, 616] bytes, blank and ddd.dd each"""
    hundredths = np.rint(np.where(np.isfinite(azimuth), azimuth, 999.99) * 100).astype(int)
    out = np.empty(azimuth.shape + (7,), np.uint8)
    out[..., 0], out[..., 4] = 32, 46
    out[..., 1:4] = DIGITS[hundredths // 100][..., 1:]
    out[..., 5:] = DIGITS[hundredths % 100][..., 2:]
    return out.reshape(azimuth.shape[0], -1)


def lines(day):
    """the file's rows as bytes without their ends, 15 a sweep"""
    n = len(day)
    flux, azimuth = flux_text(day.flux.reshape(-1, 88)), azimuth_text(day.azimuth.reshape(-1, 88))
    result = []
    for k in range(n):
        for i in range(15):
            t = day.time[k, i]
            utc = datetime.datetime.fromtimestamp(t, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
            b = day.field[k, i]
            head = f"{utc} {t:.3f} {day.energy[k, i]:10.3f} {day.number[k]:4d}"
            head += "".join(f" {component:11.6f}" for component in b[:3])
            result.append(head.encode() + flux[15 * k + i].tobytes() + azimuth[15 * k + i].tobytes())
    return result


def name(date):
    """of a day's file, from YYYY-MM-DD"""
    return f"3D{date[2:4]}{date[5:7]}{date[8:10]}.TAB"


def write(path, day_or_lines):
    rows = lines(day_or_lines) if isinstance(day_or_lines, Day) else day_or_lines
    with open(path, "wb") as file:
        file.write(b"\n".join(rows) + b"\n")
    return path


def read(path):
    """{spectrum number: array [rows, 182] of all fields but the UTC}, of a file without defects"""
    found = {}
    with open(path, "rb") as file:
        for line in file:
            values = np.array(line.split()[1:], dtype=float)
            found.setdefault(int(values[2]), []).append(values)
    return {number: np.array(rows) for number, rows in found.items()}


def put(line, field, text):
    """the row with one field (1 to 183) replaced"""
    fields = line.split()
    fields[field - 1] = text
    return b" ".join(fields)


def folder(path, day, date="1998-04-01"):
    """a folder with one day file"""
    os.makedirs(path, exist_ok=True)
    write(os.path.join(path, name(date)), day)
    return path
