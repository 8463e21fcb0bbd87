# Loss cones: fits, confidence sets, profiles, models. `options`: paritas_losscone_options.

SWEEP_ROWS, SWEEP_CELLS = PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS
cdef tuple ROWS = (-1, SWEEP_ROWS), CELLS = (-1, SWEEP_ROWS, SWEEP_CELLS)

cdef Array of_sweeps(object given, Py_ssize_t n, tuple shape, str what):
    """`shape`: for any n."""
    return array_of(given, (n, *shape[1:]), what)


cdef class SweepArrays:
    """Checked; borrowed if contiguous and float64."""

    cdef readonly object energy, potential, cosine, flux
    cdef readonly Py_ssize_t n
    cdef paritas_sweeps c

    def __init__(self, energy, potential, cosine, flux):
        cdef Array energies = array_of(energy, ROWS, "energy")
        cdef Py_ssize_t n = energies.n
        cdef Array volts = of_sweeps(potential, n, ROWS, "potential")
        cdef Array cosines = of_sweeps(cosine, n, CELLS, "cosine"), fluxes = of_sweeps(flux, n, CELLS, "flux")
        self.n, self.energy, self.potential = n, energies.array, volts.array
        self.cosine, self.flux = cosines.array, fluxes.array
        self.c = paritas_sweeps_default
        self.c.n, self.c.energy, self.c.potential = n, energies.at, volts.at
        self.c.cosine, self.c.flux = cosines.at, fluxes.at


def losscone_fit(SweepArrays sweeps not None, dict options, Engine engine=None, progress=None):
    """Rows of paritas_losscone_result."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array rows = new_rows("paritas_losscone_result", sweeps.n)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_fit(call.c, &sweeps.c, &chosen, rows.rows)
    return call.end(rows.array)


def losscone_confidence(SweepArrays sweeps not None, dict options, results, thresholds=None, double step=0.0,
                        Engine engine=None, progress=None):
    """Rows of paritas_confidence around losscone_fit's results."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef Array above = vector(thresholds, sweeps.n, "thresholds")
    cdef Array rows = new_rows("paritas_confidence", sweeps.n)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_confidence(call.c, &sweeps.c, &chosen, found.rows, above.at, step,
                                                rows.rows)
    return call.end(rows.array)


def losscone_bootstrap(SweepArrays sweeps not None, dict options, results, unsigned draws, double level,
                       Engine engine=None, progress=None):
    """Thresholds, n."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef Array thresholds = new_array(sweeps.n)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_bootstrap(call.c, &sweeps.c, &chosen, found.rows, draws, level,
                                               thresholds.at)
    return call.end(thresholds.array)


def losscone_profile(SweepArrays sweeps not None, dict options, potentials, Engine engine=None,
                     progress=None):
    """`misfit`, `ratio`, `amplitude`: n x len(potentials)."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array at = array_of(potentials, (-1,), "potentials")
    cdef size_t count = at.n
    cdef Array misfit = new_matrix(sweeps.n, count), ratio = new_matrix(sweeps.n, count)
    cdef Array amplitude = new_matrix(sweeps.n, count)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_profile(call.c, &sweeps.c, &chosen, count, at.at, misfit.at,
                                             ratio.at, amplitude.at)
    return call.end(SimpleNamespace(misfit=misfit.array, ratio=ratio.array, amplitude=amplitude.array))


def losscone_misfit(SweepArrays sweeps not None, dict options, points, Engine engine=None, progress=None):
    """`misfit` (n x len(points)) and `cells` (n); points: rows of U, r, A."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array at = matrix(points, 3, "points")
    cdef size_t count = at.n
    cdef Array misfit = new_matrix(sweeps.n, count), cells = held(np.empty(sweeps.n, np.uint32))
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_misfit(call.c, &sweeps.c, &chosen, count, at.at, misfit.at,
                                            <unsigned *>cells.rows)
    return call.end(SimpleNamespace(misfit=misfit.array, cells=cells.array))


def losscone_model(SweepArrays sweeps not None, dict options, points, bint edge, Engine engine=None):
    """`model` (n x 15 x 88) and `edge` (n x 15, degrees) or None; points: n x 3."""
    cdef paritas_losscone_options chosen = option_values("paritas_losscone_options", options)
    cdef Array at = array_of(points, (sweeps.n, 3), "points")
    cdef Array model = new_block(sweeps.n, SWEEP_ROWS, SWEEP_CELLS)
    cdef Array angle = new_matrix(sweeps.n, SWEEP_ROWS) if edge else held(None)
    cdef Context call = begin(engine, None)
    with nogil:
        call.status = paritas_losscone_model(call.c, &sweeps.c, &chosen, at.at, model.at, angle.at)
    return call.end(SimpleNamespace(model=model.array, edge=angle.array))


def losscone_beam(SweepArrays sweeps not None):
    """Rows of paritas_beam."""
    cdef Array rows = new_rows("paritas_beam", sweeps.n)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_beam(call.c, &sweeps.c, rows.rows)
    return call.end(rows.array)


def losscone_cosines(theta, field, polarity, azimuth):
    """n x 15 x 88."""
    cdef Array inclination = array_of(theta, (SWEEP_CELLS,), "theta")
    cdef Array along = array_of(field, (-1, SWEEP_ROWS, 3), "field")
    cdef size_t n = along.n
    cdef Array sign = of_sweeps(polarity, n, ROWS, "polarity")
    cdef Array angle = of_sweeps(azimuth, n, CELLS, "azimuth")
    cdef Array cosine = new_block(n, SWEEP_ROWS, SWEEP_CELLS)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_cosines(call.c, n, inclination.at, along.at, sign.at, angle.at,
                                             cosine.at)
    return call.end(cosine.array)


cdef Array room_like(object out, Array flux, str what):
    """`out`, which must be writable, or new."""
    if out is None:
        return held(np.empty_like(flux.array))
    cdef tuple shape = flux.array.shape
    cdef bint usable = isinstance(out, np.ndarray) and out.dtype == np.float64
    if not (usable and out.flags.carray and out.shape == shape):
        raise InvalidArgument(f"{what}: a contiguous, writable float64 array of shape {shape} is wanted")
    return held(out)


def losscone_normalise(cosine, flux, str how, out=None):
    """n x 15 x 88, in `out` if given, which may be `flux`."""
    cdef Array angle = array_of(cosine, CELLS, "cosine")
    cdef size_t n = angle.n
    cdef Array measured = of_sweeps(flux, n, CELLS, "flux"), normalised = room_like(out, measured, "out")
    cdef int normalisation = value_of("paritas_normalisation", how, "normalisation")
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_normalise(call.c, n, <paritas_normalisation>normalisation, angle.at,
                                               measured.at, normalised.at)
    return call.end(normalised.array)


def losscone_mask(cosine, flux, normalised, str method):
    """Masks `normalised` in place."""
    cdef Array angle = array_of(cosine, CELLS, "cosine")
    cdef size_t n = angle.n
    cdef Array measured = of_sweeps(flux, n, CELLS, "flux")
    cdef Array kept = room_like(normalised, measured, "normalised")
    cdef int wanted = value_of("paritas_losscone_method", method, "method")
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_mask(call.c, n, <paritas_losscone_method>wanted, angle.at, measured.at,
                                          kept.at)
    call.end(None)
