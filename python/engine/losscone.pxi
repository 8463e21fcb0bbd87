# Loss cones: fits, confidence sets, profiles, models. `options` are keywords of paritas_losscone_options.

SWEEP_ROWS, SWEEP_CELLS = PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS
cdef tuple ROWS = (-1, SWEEP_ROWS), CELLS = (-1, SWEEP_ROWS, SWEEP_CELLS) # shapes

cdef paritas_losscone_options losscone_options(dict given) except *:
    return option_values("paritas_losscone_options", given)

cdef object of_sweeps(object given, Py_ssize_t n, tuple shape, str what):
    """An array of n sweeps; `shape` is that of any number."""
    return array_of(given, (n, *shape[1:]), what)


cdef class SweepArrays:
    """Arrays of n sweeps, checked; borrowed where they are contiguous and float64."""

    cdef readonly object energy, potential, cosine, flux
    cdef readonly Py_ssize_t n
    cdef paritas_sweeps c

    def __init__(self, energy, potential, cosine, flux):
        self.energy = array_of(energy, ROWS, "energy")
        self.n = len(self.energy)
        self.potential = of_sweeps(potential, self.n, ROWS, "potential")
        self.cosine, self.flux = of_sweeps(cosine, self.n, CELLS, "cosine"), of_sweeps(flux, self.n, CELLS, "flux")
        self.c = paritas_sweeps_default
        self.c.n, self.c.energy, self.c.potential = self.n, numbers(self.energy), numbers(self.potential)
        self.c.cosine, self.c.flux = numbers(self.cosine), numbers(self.flux)


def losscone_fit(SweepArrays sweeps not None, dict options, Engine engine=None, progress=None):
    """Rows of paritas_losscone_result."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object rows = new_rows("paritas_losscone_result", sweeps.n)
    cdef paritas_losscone_result *results = <paritas_losscone_result *>address(rows)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_fit(call.c, &sweeps.c, &chosen, results)
    return call.end(rows)


def losscone_confidence(SweepArrays sweeps not None, dict options, results, thresholds=None, double step=0.0,
                        Engine engine=None, progress=None):
    """Rows of paritas_confidence around results of losscone_fit."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef object above = vector(thresholds, sweeps.n, "thresholds"), rows = new_rows("paritas_confidence", sweeps.n)
    cdef const paritas_losscone_result *fits = <paritas_losscone_result *>address(found)
    cdef const double *threshold_numbers = numbers(above)
    cdef paritas_confidence *sets = <paritas_confidence *>address(rows)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_confidence(call.c, &sweeps.c, &chosen, fits, threshold_numbers, step, sets)
    return call.end(rows)


def losscone_bootstrap(SweepArrays sweeps not None, dict options, results, unsigned draws, double level,
                       Engine engine=None, progress=None):
    """Thresholds, n."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef object thresholds = new_array(sweeps.n)
    cdef const paritas_losscone_result *fits = <paritas_losscone_result *>address(found)
    cdef double *at = numbers(thresholds)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_bootstrap(call.c, &sweeps.c, &chosen, fits, draws, level, at)
    return call.end(thresholds)


def losscone_profile(SweepArrays sweeps not None, dict options, potentials, Engine engine=None, progress=None):
    """`misfit`, `ratio` and `amplitude`, each n x len(potentials)."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object at = array_of(potentials, (-1,), "potentials")
    cdef size_t count = len(at)
    cdef object misfit = new_matrix(sweeps.n, count), ratio = new_matrix(sweeps.n, count)
    cdef object amplitude = new_matrix(sweeps.n, count)
    cdef const double *potential_numbers = numbers(at)
    cdef double *misfits = numbers(misfit)
    cdef double *ratios = numbers(ratio)
    cdef double *amplitudes = numbers(amplitude)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_profile(call.c, &sweeps.c, &chosen, count, potential_numbers, misfits, ratios, amplitudes)
    return call.end(SimpleNamespace(misfit=misfit, ratio=ratio, amplitude=amplitude))


def losscone_misfit(SweepArrays sweeps not None, dict options, points, Engine engine=None, progress=None):
    """`misfit` (n x len(points)) and `cells` (n); points: rows of U, r, A."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object at = matrix(points, 3, "points")
    cdef size_t count = len(at)
    cdef object misfit = new_matrix(sweeps.n, count), cells = np.empty(sweeps.n, np.uint32)
    cdef const double *point_numbers = numbers(at)
    cdef double *misfits = numbers(misfit)
    cdef unsigned *counts = <unsigned *>address(cells)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_losscone_misfit(call.c, &sweeps.c, &chosen, count, point_numbers, misfits, counts)
    return call.end(SimpleNamespace(misfit=misfit, cells=cells))


def losscone_model(SweepArrays sweeps not None, dict options, points, bint edge, Engine engine=None):
    """`model` (n x 15 x 88) and `edge` (n x 15, degrees) or None; points: n x 3."""
    cdef paritas_losscone_options chosen = losscone_options(options)
    cdef object at = array_of(points, (sweeps.n, 3), "points")
    cdef object model = np.empty((sweeps.n, *CELLS[1:])), angle = new_matrix(sweeps.n, SWEEP_ROWS) if edge else None
    cdef const double *point_numbers = numbers(at)
    cdef double *models = numbers(model)
    cdef double *edges = numbers(angle)
    cdef Context call = begin(engine, None)
    with nogil:
        call.status = paritas_losscone_model(call.c, &sweeps.c, &chosen, point_numbers, models, edges)
    return call.end(SimpleNamespace(model=model, edge=angle))


def losscone_beam(SweepArrays sweeps not None):
    """Rows of paritas_beam."""
    cdef object rows = new_rows("paritas_beam", sweeps.n)
    cdef paritas_beam *beams = <paritas_beam *>address(rows)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_beam(call.c, &sweeps.c, beams)
    return call.end(rows)


def losscone_cosines(theta, field, polarity, azimuth):
    """n x 15 x 88."""
    cdef object inclination = array_of(theta, (SWEEP_CELLS,), "theta"), along = array_of(field, (-1, SWEEP_ROWS, 3), "field")
    cdef size_t n = len(along)
    cdef object sign = of_sweeps(polarity, n, ROWS, "polarity"), angle = of_sweeps(azimuth, n, CELLS, "azimuth")
    cdef object cosine = np.empty(angle.shape)
    cdef const double *theta_numbers = numbers(inclination)
    cdef const double *field_numbers = numbers(along)
    cdef const double *polarity_numbers = numbers(sign)
    cdef const double *azimuth_numbers = numbers(angle)
    cdef double *cosines = numbers(cosine)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_cosines(call.c, n, theta_numbers, field_numbers, polarity_numbers, azimuth_numbers, cosines)
    return call.end(cosine)


cdef object room_like(object out, object flux, str what):
    """Room for fluxes: `out`, which must be writable as it is, or new."""
    if out is None:
        return np.empty(flux.shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or not out.flags.carray or out.shape != flux.shape:
        raise InvalidArgument(f"{what}: a contiguous, writable float64 array of shape {flux.shape} is wanted")
    return out


def losscone_normalise(cosine, flux, str how, out=None):
    """n x 15 x 88; into `out`, which may be `flux`, where it is given."""
    cdef object angle = array_of(cosine, CELLS, "cosine")
    cdef size_t n = len(angle)
    cdef object measured = of_sweeps(flux, n, CELLS, "flux"), normalised = room_like(out, measured, "out")
    cdef int normalisation = value_of("paritas_normalisation", how, "normalisation")
    cdef const double *cosines = numbers(angle)
    cdef const double *fluxes = numbers(measured)
    cdef double *at = numbers(normalised)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_normalise(call.c, n, <paritas_normalisation>normalisation, cosines, fluxes, at)
    return call.end(normalised)


def losscone_mask(cosine, flux, normalised, str method):
    """Masks `normalised`, in place, for a method."""
    cdef object angle = array_of(cosine, CELLS, "cosine")
    cdef size_t n = len(angle)
    cdef object measured = of_sweeps(flux, n, CELLS, "flux"), kept = room_like(normalised, measured, "normalised")
    cdef int wanted = value_of("paritas_losscone_method", method, "method")
    cdef const double *cosines = numbers(angle)
    cdef const double *fluxes = numbers(measured)
    cdef double *at = numbers(kept)
    cdef Context call = begin(None, None)
    with nogil:
        call.status = paritas_losscone_mask(call.c, n, <paritas_losscone_method>wanted, cosines, fluxes, at)
    call.end(None)
