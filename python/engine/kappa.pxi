# Kappa distributions: spectra, fits, currents, spacecraft potentials. Plasma: rows of density (1/m^3), kappa,
# theta (m/s).

cdef const char *spectrum_status_text(int status) noexcept: return paritas_spectrum_status_name(<paritas_spectrum_status>status)
cdef const char *potential_status_text(int status) noexcept: return paritas_potential_status_name(<paritas_potential_status>status)
cdef const char *kappa_weights_text(int weights) noexcept: return paritas_kappa_weights_name(<paritas_kappa_weights>weights)
cdef const char *kappa_density_text(int density) noexcept: return paritas_kappa_density_name(<paritas_kappa_density>density)
cdef const char *currents_text(int currents) noexcept: return paritas_currents_name(<paritas_currents>currents)

SPECTRUM_STATUSES = names_of(4, spectrum_status_text)    # by value of paritas_spectrum_status
POTENTIAL_STATUSES = names_of(7, potential_status_text)
KAPPA_WEIGHTS = names_of(3, kappa_weights_text)
KAPPA_DENSITIES = names_of(2, kappa_density_text)
CURRENTS = names_of(2, currents_text)
KAPPA_DEFAULTS = {**<dict>kappa_default, "weights": KAPPA_WEIGHTS[kappa_default.weights], "density": KAPPA_DENSITIES[kappa_default.density]}
POTENTIAL_DEFAULTS = {**<dict>potential_default, "currents": CURRENTS[potential_default.currents], "liouville": bool(potential_default.liouville)}
CELL_DEFAULTS = {"geometric_factor": cells_default.geometric_factor, "accumulation": cells_default.accumulation}
del KAPPA_DEFAULTS["size"], POTENTIAL_DEFAULTS["size"]

KAPPA_RESULT = structure([
    ("status", "i4"), ("fit", "i4"), ("iterations", "u4"), ("rows", "u4"), ("empty_rows", "u4"), ("density", "f8"), ("kappa", "f8"), ("theta", "f8"), ("temperature", "f8"),
    ("density_error", "f8"), ("kappa_error", "f8"), ("theta_error", "f8"), ("temperature_error", "f8"), ("covariance", "f8", (3, 3)), ("kappa_state", "i4"),
    ("theta_state", "i4"), ("misfit", "f8"), ("dof", "i4"), ("edm", "f8"), ("density_estimate", "f8")], sizeof(paritas_kappa_result), "paritas_kappa_result")
POTENTIAL = structure([
    ("status", "i4"), ("sunlit", "i4"), ("potential", "f8"), ("error", "f8"), ("second", "f8"), ("shift", "f8"), ("temperature", "f8"), ("electrons", "f8"), ("emitted", "f8"),
    ("ions", "f8")], sizeof(paritas_potential), "paritas_potential")


cdef paritas_kappa_options kappa_options(dict given) except *:
    cdef dict all = with_defaults(KAPPA_DEFAULTS, given, "kappa fits")
    cdef paritas_kappa_options options = kappa_default
    options.weights = <paritas_kappa_weights>choice(KAPPA_WEIGHTS, all["weights"], "weights")
    options.density = <paritas_kappa_density>choice(KAPPA_DENSITIES, all["density"], "density")
    options.response, options.systematic, options.dead = all["response"], all["systematic"], all["dead"]
    options.kappa_lower, options.kappa_upper = all["kappa_lower"], all["kappa_upper"]
    options.theta_lower, options.theta_upper = all["theta_lower"], all["theta_upper"]
    options.max_iterations = all["max_iterations"]
    return options


cdef paritas_potential_options potential_options(dict given) except *:
    cdef dict all = with_defaults(POTENTIAL_DEFAULTS, given, "spacecraft potentials")
    cdef paritas_potential_options options = potential_default
    options.currents = <paritas_currents>choice(CURRENTS, all["currents"], "currents")
    options.sun_lower, options.sun_upper = all["sun_lower"], all["sun_upper"]
    options.shade_lower, options.shade_upper = all["shade_lower"], all["shade_upper"]
    options.secondary_energy, options.refits, options.liouville = all["secondary_energy"], all["refits"], all["liouville"]
    return options


cdef class SpectrumArrays:
    """Arrays of n spectra, checked; sensitivity and counts may be None where the weights do not need them."""

    cdef readonly object energy, flux, sensitivity, counts
    cdef readonly Py_ssize_t n
    cdef paritas_spectra c

    def __init__(self, energy, flux, sensitivity=None, counts=None):
        self.energy = array_of(energy, (-1, PARITAS_SWEEP_ROWS), "energy")
        self.n = len(self.energy)
        self.flux = array_of(flux, (self.n, PARITAS_SWEEP_ROWS), "flux")
        self.c.n, self.c.energy, self.c.flux = self.n, numbers(self.energy), numbers(self.flux)
        self.c.sensitivity = self.c.counts = NULL
        if sensitivity is not None:
            self.sensitivity = array_of(sensitivity, (self.n, PARITAS_SWEEP_ROWS), "sensitivity")
            self.c.sensitivity = numbers(self.sensitivity)
        if counts is not None:
            self.counts = array_of(counts, (self.n, PARITAS_SWEEP_ROWS), "counts")
            self.c.counts = numbers(self.counts)


def kappa_flux(plasma, energy, Engine engine=None):
    """n x len(energy)."""
    cdef Engine e = engine or HOST
    cdef object rows = matrix(plasma, 3, "plasma"), at = array_of(energy, (-1,), "energy")
    cdef Py_ssize_t n = len(rows), count = len(at)
    cdef object flux = new_matrix(n, count)
    cdef const paritas_kappa_plasma *plasma_rows = <const paritas_kappa_plasma *>numbers(rows)
    cdef const double *energy_numbers = numbers(at)
    cdef double *flux_numbers = numbers(flux)
    cdef paritas_status status
    cdef Context context = e.take(None)
    with nogil:
        status = paritas_kappa_flux(context.c, n, plasma_rows, count, energy_numbers, flux_numbers)
    e.give(context)
    context.check(status)
    return flux


cdef object of_two(double (*function)(double, double) noexcept nogil, first, second):
    """A function of numbers over arrays that broadcast against each other."""
    cdef object a, b, found
    cdef Py_ssize_t i
    a, b = [np.array(each, order="C") for each in np.broadcast_arrays(np.asarray(first, np.float64), np.asarray(second, np.float64))]
    found = np.empty(a.shape)
    for i in range(found.size):
        numbers(found)[i] = function(numbers(a)[i], numbers(b)[i])
    return found[()]

cdef object of_one(double (*function)(double) noexcept nogil, given):
    cdef object a = np.asarray(given, np.float64, order="C"), found = np.empty(a.shape)
    cdef Py_ssize_t i
    for i in range(found.size):
        numbers(found)[i] = function(numbers(a)[i])
    return found[()]

cdef double temperature_of(double kappa, double theta) noexcept nogil: return paritas_kappa_temperature(kappa, theta)
cdef double theta_of(double kappa, double temperature) noexcept nogil: return paritas_kappa_theta(kappa, temperature)
cdef double photoelectrons_of(double potential) noexcept nogil: return paritas_photoelectron_current(potential)
cdef double photoelectron_potential_of(double current) noexcept nogil: return paritas_photoelectron_potential(current)
cdef double secondaries_of(double energy) noexcept nogil: return paritas_secondary_yield(energy)

def kappa_temperature(kappa, theta): return of_two(temperature_of, kappa, theta)
def kappa_theta(kappa, temperature): return of_two(theta_of, kappa, temperature)
def photoelectron_current(potential): return of_one(photoelectrons_of, potential)
def photoelectron_potential(current): return of_one(photoelectron_potential_of, current)
def secondary_yield(energy): return of_one(secondaries_of, energy)


def electron_current(plasma, double lower, double upper):
    """n currents."""
    cdef object rows = matrix(plasma, 3, "plasma"), found = new_array(len(rows))
    cdef Py_ssize_t i
    for i in range(len(rows)):
        numbers(found)[i] = paritas_electron_current(<const paritas_kappa_plasma *>numbers(rows) + i, lower, upper)
    return found


def kappa_response(energy, double width):
    """n x n."""
    cdef object at = array_of(energy, (-1,), "energy")
    cdef Py_ssize_t n = len(at)
    cdef object found = new_matrix(n, n)
    cdef Context context = HOST.take(None)
    cdef paritas_status status = paritas_kappa_response(context.c, width, n, numbers(at), numbers(found))
    HOST.give(context)
    context.check(status)
    return found


def kappa_spectrum(theta, solid_angle, double geometric_factor, double accumulation, energy, flux, cosine):
    """(omni, coverage, sensitivity, counts, error), each n x 15."""
    cdef object inclination = array_of(theta, (PARITAS_SWEEP_CELLS,), "theta"), angle = None if solid_angle is None else array_of(solid_angle, (PARITAS_SWEEP_CELLS,), "solid_angle")
    cdef object at = array_of(energy, (-1, PARITAS_SWEEP_ROWS), "energy")
    cdef Py_ssize_t n = len(at)
    cdef object measured = array_of(flux, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "flux")
    cdef object direction = array_of(cosine, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), "cosine")
    cdef list found = [new_matrix(n, PARITAS_SWEEP_ROWS) for _ in range(5)]
    cdef paritas_cells cells = cells_default
    cdef const double *energy_numbers = numbers(at)
    cdef const double *flux_numbers = numbers(measured)
    cdef const double *cosine_numbers = numbers(direction)
    cdef double *room[5]
    cdef int i
    cdef paritas_status status
    cdef Context context
    cells.theta = numbers(inclination)
    if angle is not None: cells.solid_angle = numbers(angle)
    cells.geometric_factor, cells.accumulation = geometric_factor, accumulation
    for i in range(5):
        room[i] = numbers(found[i])
    context = HOST.take(None)
    with nogil:
        status = paritas_kappa_spectrum(context.c, &cells, n, energy_numbers, flux_numbers, cosine_numbers, room[0], room[1], room[2], room[3], room[4])
    HOST.give(context)
    context.check(status)
    return tuple(found)


def kappa_fit(SpectrumArrays spectra not None, dict given, Engine engine=None, progress=None):
    """Rows of KAPPA_RESULT."""
    cdef Engine e = engine or HOST
    cdef paritas_kappa_options options = kappa_options(given)
    cdef object results = np.empty(spectra.n, KAPPA_RESULT)
    cdef paritas_kappa_result *at = <paritas_kappa_result *>bytes_of(results)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_kappa_fit(context.c, &spectra.c, &options, at)
    e.give(context)
    context.check(status)
    return results


def kappa_misfit(SpectrumArrays spectra not None, dict given, points, Engine engine=None):
    """n x len(points)."""
    cdef Engine e = engine or HOST
    cdef paritas_kappa_options options = kappa_options(given)
    cdef object rows = matrix(points, 3, "points")
    cdef Py_ssize_t count = len(rows)
    cdef object misfit = new_matrix(spectra.n, count)
    cdef const paritas_kappa_plasma *point_rows = <const paritas_kappa_plasma *>numbers(rows)
    cdef double *misfit_numbers = numbers(misfit)
    cdef paritas_status status
    cdef Context context = e.take(None)
    with nogil:
        status = paritas_kappa_misfit(context.c, &spectra.c, &options, count, point_rows, misfit_numbers)
    e.give(context)
    context.check(status)
    return misfit


def shade_currents(plasma, dict given, potentials, Engine engine=None):
    """n x len(potentials) x 3: electrons, secondaries, ions."""
    cdef Engine e = engine or HOST
    cdef paritas_potential_options options = potential_options(given)
    cdef object rows = matrix(plasma, 3, "plasma"), at = array_of(potentials, (-1,), "potentials")
    cdef Py_ssize_t n = len(rows), count = len(at)
    cdef object currents = np.empty((n, count, 3))
    cdef const paritas_kappa_plasma *plasma_rows = <const paritas_kappa_plasma *>numbers(rows)
    cdef const double *potential_numbers = numbers(at)
    cdef double *current_numbers = numbers(currents)
    cdef paritas_status status
    cdef Context context = e.take(None)
    with nogil:
        status = paritas_shade_currents(context.c, n, plasma_rows, &options, count, potential_numbers, current_numbers)
    e.give(context)
    context.check(status)
    return currents


def spacecraft_potential(plasma, covariance, sunlit, dict given, Engine engine=None, progress=None):
    """Rows of POTENTIAL of given plasma; covariance n x 3 x 3 or None."""
    cdef Engine e = engine or HOST
    cdef paritas_potential_options options = potential_options(given)
    cdef object rows = matrix(plasma, 3, "plasma")
    cdef Py_ssize_t n = len(rows)
    cdef object spread = None if covariance is None else array_of(covariance, (n, 3, 3), "covariance"), sun = flags(sunlit, n, "sunlit"), results = np.empty(n, POTENTIAL)
    cdef const paritas_kappa_plasma *plasma_rows = <const paritas_kappa_plasma *>numbers(rows)
    cdef const double *covariance_numbers = NULL if spread is None else numbers(spread)
    cdef const unsigned char *sun_flags = <const unsigned char *>bytes_of(sun)
    cdef paritas_potential *at = <paritas_potential *>bytes_of(results)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_spacecraft_potential(context.c, n, plasma_rows, covariance_numbers, sun_flags, &options, at)
    e.give(context)
    context.check(status)
    return results


def spacecraft_potential_of_spectra(SpectrumArrays spectra not None, sunlit, dict kappa, dict given, Engine engine=None, progress=None):
    """(rows of KAPPA_RESULT, rows of POTENTIAL)"""
    cdef Engine e = engine or HOST
    cdef paritas_kappa_options fit_options = kappa_options(kappa)
    cdef paritas_potential_options options = potential_options(given)
    cdef object sun = flags(sunlit, spectra.n, "sunlit"), fits = np.empty(spectra.n, KAPPA_RESULT), results = np.empty(spectra.n, POTENTIAL)
    cdef const unsigned char *sun_flags = <const unsigned char *>bytes_of(sun)
    cdef paritas_kappa_result *fit_rows = <paritas_kappa_result *>bytes_of(fits)
    cdef paritas_potential *at = <paritas_potential *>bytes_of(results)
    cdef paritas_status status
    cdef Context context = e.take(progress)
    with nogil:
        status = paritas_spacecraft_potential_of_spectra(context.c, &spectra.c, sun_flags, &fit_options, &options, fit_rows, at)
    e.give(context)
    context.check(status)
    return fits, results
