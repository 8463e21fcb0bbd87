# Loss cones: fits, confidence sets, profiles, models. Results are structured arrays whose rows are the
# library's structures.

cdef const char *sweep_status_text(int status) noexcept: return paritas_sweep_status_name(<paritas_sweep_status>status)
cdef const char *losscone_method_text(int method) noexcept: return paritas_losscone_method_name(<paritas_losscone_method>method)
cdef const char *losscone_response_text(int response) noexcept: return paritas_losscone_response_name(<paritas_losscone_response>response)
cdef const char *losscone_search_text(int search) noexcept: return paritas_losscone_search_name(<paritas_losscone_search>search)

SWEEP_STATUSES = names_of(5, sweep_status_text)       # by value of paritas_sweep_status
LOSSCONE_METHODS = names_of(2, losscone_method_text)
LOSSCONE_RESPONSES = names_of(2, losscone_response_text)
LOSSCONE_SEARCHES = names_of(2, losscone_search_text)
NORMALISATIONS = ["ratio", "max", "pairs"]
LOSSCONE_DEFAULTS = {**<dict>losscone_default, "method": LOSSCONE_METHODS[losscone_default.method], "response": LOSSCONE_RESPONSES[losscone_default.response],
                     "search": LOSSCONE_SEARCHES[losscone_default.search]}
del LOSSCONE_DEFAULTS["size"]

cdef object structure(list fields, size_t size, str name):
    """The dtype of a C structure."""
    cdef object found = np.dtype(fields, align=True)
    if found.itemsize != size:
        raise ImportError(f"{name}: has {size} bytes in C, {found.itemsize} here")
    return found

LOSSCONE_RESULT = structure([
    ("status", "i4"), ("cells", "u4"), ("misfit", "f8"), ("potential", "f8"), ("ratio", "f8"), ("amplitude", "f8"), ("potential_centre", "f8"), ("ratio_centre", "f8"),
    ("potential_lower", "f8"), ("potential_upper", "f8"), ("ratio_lower", "f8"), ("ratio_upper", "f8"), ("gap", "f8"), ("boxes", "u4"), ("solved", "u4"), ("vertices", "u4"),
    ("vertex", "f8", (PARITAS_PLATEAU_VERTICES, 2))], sizeof(paritas_losscone_result), "paritas_losscone_result")
CONFIDENCE = structure([
    ("threshold", "f8"), ("intervals", "u4"), ("lower", "f8", (PARITAS_CONFIDENCE_INTERVALS,)), ("upper", "f8", (PARITAS_CONFIDENCE_INTERVALS,)), ("at_lower_bound", "i4"),
    ("at_upper_bound", "i4")], sizeof(paritas_confidence), "paritas_confidence")
BEAM = structure([("found", "i4"), ("row", "u4"), ("energy", "f8"), ("ratio", "f8"), ("potential", "f8")], sizeof(paritas_beam), "paritas_beam")


cdef inline void *bytes_of(object array):
    return cnp.PyArray_DATA(<cnp.ndarray>array)

cdef object rows_of(object given, object dtype, Py_ssize_t n, str what):
    """n rows of a structure, as a function here gave them."""
    cdef object array = np.ascontiguousarray(given, dtype=dtype)
    if array.shape != (n,):
        raise InvalidArgument(f"{what}: one for each of the {n} sweeps is wanted, the array given has shape {array.shape}")
    return array

cdef int choice(list words, object word, str what) except -1:
    if word not in words:
        raise InvalidArgument(f"{what} {word!r}: there are {', '.join(words)}")
    return words.index(word)

cdef dict with_defaults(dict defaults, dict given, str what):
    """Defaults and what is given: options that are there, and of their kind."""
    for name, value in given.items():
        if name not in defaults:
            raise TypeError(f"{what}: there is no option {name!r}; there are {', '.join(defaults)}")
        kind = type(defaults[name])
        if kind is int and not (isinstance(value, (int, np.integer)) and 0 <= value < 2 ** (64 if name in ("seed", "first") else 32)):
            raise InvalidArgument(f"{name} {value!r}: a whole number from 0 is wanted")
        if kind is float and not isinstance(value, (int, float, np.integer, np.floating)):
            raise InvalidArgument(f"{name} {value!r}: a number is wanted")
    return {**defaults, **given}

cdef paritas_losscone_options losscone_options(dict given) except *:
    cdef dict all = with_defaults(LOSSCONE_DEFAULTS, given, "loss cones")
    cdef paritas_losscone_options options = losscone_default
    options.method = <paritas_losscone_method>choice(LOSSCONE_METHODS, all["method"], "method")
    options.response = <paritas_losscone_response>choice(LOSSCONE_RESPONSES, all["response"], "response")
    options.search = <paritas_losscone_search>choice(LOSSCONE_SEARCHES, all["search"], "search")
    options.potential_lower, options.potential_upper = all["potential_lower"], all["potential_upper"]
    options.ratio_lower, options.ratio_upper = all["ratio_lower"], all["ratio_upper"]
    options.amplitude_lower, options.amplitude_upper = all["amplitude_lower"], all["amplitude_upper"]
    options.beam_width, options.beam_sigma = all["beam_width"], all["beam_sigma"]
    options.background, options.response_width = all["background"], all["response_width"]
    options.box_limit, options.seed, options.first = all["box_limit"], all["seed"], all["first"]
    options.population, options.generations = all["population"], all["generations"]
    return options


cdef class SweepArrays:
    """Arrays of n sweeps, checked; borrowed where they are contiguous and float64."""

    cdef readonly object energy, potential, cosine, flux
    cdef readonly Py_ssize_t n
    cdef paritas_sweeps c

    def __init__(self, energy, potential, cosine, flux):
        self.energy = array_of(energy, (-1, PARITAS_SWEEP_ROWS), "energy")
        self.n = len(self.energy)
        self.potential = array_of(potential, (self.n, PARITAS_SWEEP_ROWS), "potential")
        self.cosine = array_of(cosine, (self.n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "cosine")
        self.flux = array_of(flux, (self.n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "flux")
        self.c.n = self.n
        self.c.energy, self.c.potential, self.c.cosine, self.c.flux = numbers(self.energy), numbers(self.potential), numbers(self.cosine), numbers(self.flux)


def losscone_fit(SweepArrays sweeps not None, dict given, Engine engine=None, progress=None):
    """Rows of LOSSCONE_RESULT."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object results = np.empty(sweeps.n, LOSSCONE_RESULT)
    cdef paritas_losscone_result *at = <paritas_losscone_result *>bytes_of(results)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_losscone_fit(context.c, &sweeps.c, &options, at)
    e.give(context)
    context.check(status)
    return results


def losscone_confidence(SweepArrays sweeps not None, dict given, results, thresholds=None, double step=0.0, Engine engine=None, progress=None):
    """Rows of CONFIDENCE around results of losscone_fit."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object found = rows_of(results, LOSSCONE_RESULT, sweeps.n, "results"), above = None if thresholds is None else vector(thresholds, sweeps.n, "thresholds")
    cdef object sets = np.empty(sweeps.n, CONFIDENCE)
    cdef const paritas_losscone_result *result_rows = <const paritas_losscone_result *>bytes_of(found)
    cdef const double *threshold_numbers = NULL if above is None else numbers(above)
    cdef paritas_confidence *at = <paritas_confidence *>bytes_of(sets)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_losscone_confidence(context.c, &sweeps.c, &options, result_rows, threshold_numbers, step, at)
    e.give(context)
    context.check(status)
    return sets


def losscone_bootstrap(SweepArrays sweeps not None, dict given, results, unsigned draws, double level, Engine engine=None, progress=None):
    """Thresholds, n."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object found = rows_of(results, LOSSCONE_RESULT, sweeps.n, "results"), thresholds = new_array(sweeps.n)
    cdef const paritas_losscone_result *result_rows = <const paritas_losscone_result *>bytes_of(found)
    cdef double *at = numbers(thresholds)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_losscone_bootstrap(context.c, &sweeps.c, &options, result_rows, draws, level, at)
    e.give(context)
    context.check(status)
    return thresholds


def losscone_profile(SweepArrays sweeps not None, dict given, potentials, Engine engine=None, progress=None):
    """(misfit, ratio, amplitude), each n x len(potentials)."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object at = array_of(potentials, (-1,), "potentials")
    cdef Py_ssize_t count = len(at)
    cdef object misfit = new_matrix(sweeps.n, count), ratio = new_matrix(sweeps.n, count), amplitude = new_matrix(sweeps.n, count)
    cdef const double *potential_numbers = numbers(at)
    cdef double *misfit_numbers = numbers(misfit)
    cdef double *ratio_numbers = numbers(ratio)
    cdef double *amplitude_numbers = numbers(amplitude)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_losscone_profile(context.c, &sweeps.c, &options, count, potential_numbers, misfit_numbers, ratio_numbers, amplitude_numbers)
    e.give(context)
    context.check(status)
    return misfit, ratio, amplitude


def losscone_misfit(SweepArrays sweeps not None, dict given, points, Engine engine=None, progress=None):
    """(misfit n x len(points), cells n); points: rows of U, r, A."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object at = matrix(points, 3, "points")
    cdef Py_ssize_t count = len(at)
    cdef object misfit = new_matrix(sweeps.n, count), cells = np.empty(sweeps.n, np.uint32)
    cdef const double *point_numbers = numbers(at)
    cdef double *misfit_numbers = numbers(misfit)
    cdef unsigned *cell_numbers = <unsigned *>bytes_of(cells)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_losscone_misfit(context.c, &sweeps.c, &options, count, point_numbers, misfit_numbers, cell_numbers)
    e.give(context)
    context.check(status)
    return misfit, cells


def losscone_model(SweepArrays sweeps not None, dict given, points, bint edge, Engine engine=None):
    """(model n x 15 x 88, edge n x 15 in degrees or None); points: n x 3."""
    cdef Engine e = engine or HOST
    cdef paritas_losscone_options options = losscone_options(given)
    cdef object at = array_of(points, (sweeps.n, 3), "points")
    cdef object model = np.empty((sweeps.n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS)), angle = new_matrix(sweeps.n, PARITAS_SWEEP_ROWS) if edge else None
    cdef const double *point_numbers = numbers(at)
    cdef double *model_numbers = numbers(model)
    cdef double *edge_numbers = numbers(angle) if edge else NULL
    cdef paritas_status status
    cdef Context context = e.take(None)
    with nogil:
        status = paritas_losscone_model(context.c, &sweeps.c, &options, point_numbers, model_numbers, edge_numbers)
    e.give(context)
    context.check(status)
    return model, angle


def losscone_beam(SweepArrays sweeps not None):
    """Rows of BEAM."""
    cdef object beams = np.empty(sweeps.n, BEAM)
    cdef paritas_beam *at = <paritas_beam *>bytes_of(beams)
    cdef paritas_status status
    cdef Context context = HOST.take(None)
    with nogil:
        status = paritas_losscone_beam(context.c, &sweeps.c, at)
    HOST.give(context)
    context.check(status)
    return beams


def losscone_cosines(theta, field, polarity, azimuth):
    """n x 15 x 88."""
    cdef object inclination = array_of(theta, (PARITAS_SWEEP_CELLS,), "theta"), along = array_of(field, (-1, PARITAS_SWEEP_ROWS, 3), "field")
    cdef Py_ssize_t n = len(along)
    cdef object sign = None if polarity is None else array_of(polarity, (n, PARITAS_SWEEP_ROWS), "polarity")
    cdef object angle = array_of(azimuth, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "azimuth"), cosine = np.empty((n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS))
    cdef const double *theta_numbers = numbers(inclination)
    cdef const double *field_numbers = numbers(along)
    cdef const double *polarity_numbers = NULL if sign is None else numbers(sign)
    cdef const double *azimuth_numbers = numbers(angle)
    cdef double *cosine_numbers = numbers(cosine)
    cdef paritas_status status
    cdef Context context = HOST.take(None)
    with nogil:
        status = paritas_losscone_cosines(context.c, n, theta_numbers, field_numbers, polarity_numbers, azimuth_numbers, cosine_numbers)
    HOST.give(context)
    context.check(status)
    return cosine


cdef object room_like(object out, object flux, str what):
    """Room for fluxes: `out`, which must be writable as it is, or new."""
    if out is None:
        return np.empty(flux.shape)
    if not isinstance(out, np.ndarray) or out.dtype != np.float64 or not out.flags.c_contiguous or not out.flags.writeable or out.shape != flux.shape:
        raise InvalidArgument(f"{what}: a contiguous, writable float64 array of shape {flux.shape} is wanted")
    return out


def losscone_normalise(cosine, flux, str how, out=None):
    """n x 15 x 88; into `out`, which may be `flux`, where it is given."""
    cdef object angle = array_of(cosine, (-1, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "cosine")
    cdef Py_ssize_t n = len(angle)
    cdef object measured = array_of(flux, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "flux"), normalised = room_like(out, measured, "out")
    cdef paritas_normalisation normalisation = <paritas_normalisation>choice(NORMALISATIONS, how, "normalisation")
    cdef const double *cosine_numbers = numbers(angle)
    cdef const double *flux_numbers = numbers(measured)
    cdef double *normalised_numbers = numbers(normalised)
    cdef paritas_status status
    cdef Context context = HOST.take(None)
    with nogil:
        status = paritas_losscone_normalise(context.c, n, normalisation, cosine_numbers, flux_numbers, normalised_numbers)
    HOST.give(context)
    context.check(status)
    return normalised


def losscone_mask(cosine, flux, normalised, str method):
    """Masks `normalised`, in place, for a method."""
    cdef object angle = array_of(cosine, (-1, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "cosine")
    cdef Py_ssize_t n = len(angle)
    cdef object measured = array_of(flux, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "flux"), kept = room_like(normalised, measured, "normalised")
    cdef paritas_losscone_method wanted = <paritas_losscone_method>choice(LOSSCONE_METHODS, method, "method")
    cdef const double *cosine_numbers = numbers(angle)
    cdef const double *flux_numbers = numbers(measured)
    cdef double *normalised_numbers = numbers(kept)
    cdef paritas_status status
    cdef Context context = HOST.take(None)
    with nogil:
        status = paritas_losscone_mask(context.c, n, wanted, cosine_numbers, flux_numbers, normalised_numbers)
    HOST.give(context)
    context.check(status)
