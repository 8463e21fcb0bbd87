"""The library's loss-cone functions through ctypes, for what the program does not print: plateaus with their
corners, misfits at chosen points, profiles, confidence sets."""

import ctypes as c
import os

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.environ.get("PARITAS_BIN", os.path.join(ROOT, "build", "release", "bin", "paritas"))
LIBRARY = os.path.join(os.path.dirname(os.path.dirname(PROGRAM)), "libparitas.so")

METHODS = {"halekas": 0, "lillis": 1, "counts": 2, "auto": 3}
RESPONSES, SEARCHES = {"hard": 0, "folded": 1}, {"exact": 0, "de": 1}
VERTICES, INTERVALS = 16, 8
double_p, unsigned_p = c.POINTER(c.c_double), c.POINTER(c.c_uint)


class ContextOptions(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("allocator", c.c_void_p),
        ("threads", c.c_uint),
        ("isa", c.c_char_p),
        ("lanes", c.c_uint),
        ("device", c.c_char_p),
        ("precision", c.c_uint),
        ("workers", c.c_uint),
        ("progress", c.c_void_p),
        ("progress_user", c.c_void_p),
        ("cache", c.c_char_p),
        ("note", c.c_void_p),
        ("note_user", c.c_void_p),
        ("no_polish", c.c_int),
        ("stream", c.c_void_p),
        ("again", c.c_int),
    ]


class Sweeps(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("n", c.c_size_t),
        ("energy", double_p),
        ("potential", double_p),
        ("cosine", double_p),
        ("flux", double_p),
        ("channel", double_p),
        ("counts", double_p),
        ("background", double_p),
        ("measured", double_p),
        ("potential_error", double_p),
        ("rows", c.c_size_t),
        ("cells", c.c_size_t),
    ]


class Options(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("method", c.c_int),
        ("response", c.c_int),
        ("search", c.c_int),
        ("potential_lower", c.c_double),
        ("potential_upper", c.c_double),
        ("ratio_lower", c.c_double),
        ("ratio_upper", c.c_double),
        ("amplitude_lower", c.c_double),
        ("amplitude_upper", c.c_double),
        ("beam_width", c.c_double),
        ("beam_sigma", c.c_double),
        ("background", c.c_double),
        ("response_width", c.c_double),
        ("box_limit", c.c_uint),
        ("seed", c.c_uint64),
        ("first", c.c_uint64),
        ("population", c.c_uint),
        ("generations", c.c_uint),
        ("potential_errors", c.c_double),
    ]


class Result(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("status", c.c_int),
        ("cells", c.c_uint),
        ("misfit", c.c_double),
        ("potential_centre", c.c_double),
        ("potential_lower", c.c_double),
        ("potential_upper", c.c_double),
        ("ratio_centre", c.c_double),
        ("ratio_lower", c.c_double),
        ("ratio_upper", c.c_double),
        ("potential", c.c_double),
        ("ratio", c.c_double),
        ("amplitude", c.c_double),
        ("gap", c.c_double),
        ("boxes", c.c_uint),
        ("solved", c.c_uint),
        ("vertices", c.c_uint),
        ("vertex", (c.c_double * 2) * VERTICES),
        ("noise", c.c_double),
        ("edge_evidence", c.c_double),
        ("cone_level", c.c_double),
        ("flags", c.c_uint),
        ("deviance", c.c_double),
        ("excess", c.c_double),
    ]


class Confidence(c.Structure):
    _fields_ = [
        ("size", c.c_size_t),
        ("threshold", c.c_double),
        ("intervals", c.c_uint),
        ("lower", c.c_double * INTERVALS),
        ("upper", c.c_double * INTERVALS),
        ("at_lower_bound", c.c_int),
        ("at_upper_bound", c.c_int),
    ]


def address(array):
    return array.ctypes.data_as(double_p)


class Library:
    """A context. `data` below: energy [n, 15], Usc [n, 15], cosine and normalised flux [n, 15, 88], and if
    wanted channel [n, 15, 5] and others, as paritas_sweeps has them; options by the names of
    paritas_losscone_options."""

    def __init__(self, path=LIBRARY, threads=0, precision=64, device=None):
        self.lib = c.CDLL(path)
        self.lib.paritas_error_message.restype = c.c_char_p
        self.context = c.c_void_p()
        options = ContextOptions(
            size=c.sizeof(ContextOptions),
            threads=threads,
            precision=precision,
            device=device.encode() if device else None,
        )
        self.check(self.lib.paritas_open(c.byref(options), c.byref(self.context)))

    def check(self, status):
        if status != 0:
            raise RuntimeError(f"status {status}: {self.lib.paritas_error_message(self.context).decode()}")

    def close(self):
        self.lib.paritas_close(self.context)
        self.context = None

    @staticmethod
    def options(method="halekas", response="hard", search="exact", **more):
        values = dict(
            potential_lower=-2000.0,
            potential_upper=20.0,
            ratio_lower=0.3,
            ratio_upper=1.1,
            amplitude_lower=0.0,
            amplitude_upper=5.0,
            beam_width=15.0,
            beam_sigma=7.5,
            background=0.05,
            response_width=0.25,
            box_limit=20000,
            seed=42,
            first=0,
            population=50,
            generations=500,
            potential_errors=2.0,
        )
        values.update(more)
        return Options(
            size=c.sizeof(Options),
            method=METHODS[method],
            response=RESPONSES[response],
            search=SEARCHES[search],
            **values,
        )

    def sweeps(self, data, potential_error=None):
        more = {} if potential_error is None else {"potential_error": potential_error}
        self.held = [np.ascontiguousarray(a, dtype=float) for a in (*data, *more.values())]
        places = [address(a) for a in self.held]
        named = dict(zip(more, places[len(data) :]))
        return Sweeps(c.sizeof(Sweeps), len(self.held[0]), *places[: len(data)], **named)

    def channels(self, data, flux, **options):
        """[n, 15, 5], of measured fluxes [n, 15, 88]"""
        sweeps, chosen, flux = (
            self.sweeps(data),
            self.options(**options),
            np.ascontiguousarray(flux, dtype=float),
        )
        found = np.empty((sweeps.n, 15, 5))
        self.check(
            self.lib.paritas_losscone_channels(
                self.context, c.byref(sweeps), c.byref(chosen), address(flux), address(found)
            )
        )
        return found

    def fit(self, data, **options):
        sweeps, chosen = self.sweeps(data), self.options(**options)
        results = (Result * sweeps.n)(Result(size=c.sizeof(Result)))  # another layout's size is refused
        self.check(self.lib.paritas_losscone_fit(self.context, c.byref(sweeps), c.byref(chosen), results))
        return results

    def misfit(self, data, points, **options):
        """[n, points]"""
        sweeps, chosen, points = (
            self.sweeps(data),
            self.options(**options),
            np.ascontiguousarray(points, dtype=float),
        )
        found = np.empty((sweeps.n, len(points)))
        self.check(
            self.lib.paritas_losscone_misfit(
                self.context,
                c.byref(sweeps),
                c.byref(chosen),
                c.c_size_t(len(points)),
                address(points),
                address(found),
                None,
            )
        )
        return found

    def profile(self, data, potentials, **options):
        sweeps, chosen, potentials = (
            self.sweeps(data),
            self.options(**options),
            np.ascontiguousarray(potentials, dtype=float),
        )
        found = np.empty((sweeps.n, len(potentials)))
        self.check(
            self.lib.paritas_losscone_profile(
                self.context,
                c.byref(sweeps),
                c.byref(chosen),
                c.c_size_t(len(potentials)),
                address(potentials),
                address(found),
                None,
                None,
            )
        )
        return found

    def confidence(self, data, results, thresholds=None, step=0.0, potential_error=None, **options):
        sweeps, chosen = self.sweeps(data, potential_error), self.options(**options)
        sets = (Confidence * sweeps.n)(Confidence(size=c.sizeof(Confidence)))
        limits = None if thresholds is None else address(np.ascontiguousarray(thresholds, dtype=float))
        self.check(
            self.lib.paritas_losscone_confidence(
                self.context, c.byref(sweeps), c.byref(chosen), results, limits, c.c_double(step), sets
            )
        )
        return sets

    def bootstrap(self, data, results, draws=40, level=0.68, **options):
        sweeps, chosen = self.sweeps(data), self.options(**options)
        thresholds = np.empty(sweeps.n)
        self.check(
            self.lib.paritas_losscone_bootstrap(
                self.context,
                c.byref(sweeps),
                c.byref(chosen),
                results,
                c.c_uint(draws),
                c.c_double(level),
                address(thresholds),
            )
        )
        return thresholds


def data_of(sweeps):
    """what the library takes, of reference.Sweep objects: their mask is put into the fluxes"""
    return (
        np.array([s.energy for s in sweeps]),
        np.array([s.Usc for s in sweeps]),
        np.array([np.cos(np.radians(s.pitch)) for s in sweeps]),
        np.array([np.where(s.mask, s.normalised, np.nan) for s in sweeps]),
    )
