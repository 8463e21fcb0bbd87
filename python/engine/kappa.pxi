# Kappa distributions: spectra, fits, currents, spacecraft potentials. Plasma: rows of density (1/m^3), kappa,
# theta (m/s). `options` are keywords of paritas_kappa_options or paritas_potential_options.

cdef paritas_kappa_options kappa_options(dict given) except *:
    return option_values("paritas_kappa_options", given)

cdef paritas_potential_options potential_options(dict given) except *:
    return option_values("paritas_potential_options", given)

cdef inline const paritas_kappa_plasma *plasma_of(object rows):
    return <const paritas_kappa_plasma *>numbers(rows)


cdef class SpectrumArrays:
    """Arrays of n spectra, checked; sensitivity and counts may be None where the weights do not need them."""

    cdef readonly object energy, flux, sensitivity, counts
    cdef readonly Py_ssize_t n
    cdef paritas_spectra c

    def __init__(self, energy, flux, sensitivity=None, counts=None):
        self.energy = array_of(energy, ROWS, "energy")
        self.n = len(self.energy)
        self.flux = of_sweeps(flux, self.n, ROWS, "flux")
        self.sensitivity = of_sweeps(sensitivity, self.n, ROWS, "sensitivity")
        self.counts = of_sweeps(counts, self.n, ROWS, "counts")
        self.c = paritas_spectra_default
        self.c.n, self.c.energy, self.c.flux = self.n, numbers(self.energy), numbers(self.flux)
        self.c.sensitivity, self.c.counts = numbers(self.sensitivity), numbers(self.counts)


def kappa_flux(plasma, energy, Engine engine=None):
    """n x len(energy)."""
    cdef object rows = matrix(plasma, 3, "plasma"), at = array_of(energy, (-1,), "energy")
    cdef size_t n = len(rows), count = len(at)
    cdef object flux = new_matrix(n, count)
    cdef const paritas_kappa_plasma *plasmas = plasma_of(rows)
    cdef const double *energies = numbers(at)
    cdef double *fluxes = numbers(flux)
    cdef Context call = begin(engine, None)
    with nogil:
        call.status = paritas_kappa_flux(call.c, n, plasmas, count, energies, fluxes)
    return call.end(flux)


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

def kappa_temperature(kappa, theta): return of_two(paritas_kappa_temperature, kappa, theta)
def kappa_theta(kappa, temperature): return of_two(paritas_kappa_theta, kappa, temperature)
def photoelectron_current(potential): return of_one(paritas_photoelectron_current, potential)
def photoelectron_potential(current): return of_one(paritas_photoelectron_potential, current)
def secondary_yield(energy): return of_one(paritas_secondary_yield, energy)


def electron_current(plasma, double lower, double upper):
    """n currents."""
    cdef object rows = matrix(plasma, 3, "plasma"), found = new_array(len(rows))
    cdef Py_ssize_t i
    for i in range(len(rows)):
        numbers(found)[i] = paritas_electron_current(plasma_of(rows) + i, lower, upper)
    return found


def kappa_response(energy, double width):
    """n x n."""
    cdef object at = array_of(energy, (-1,), "energy"), found = new_matrix(len(at), len(at))
    cdef Context call = begin(None, None)
    call.status = paritas_kappa_response(call.c, width, len(at), numbers(at), numbers(found))
    return call.end(found)


def kappa_spectrum(theta, energy, flux, cosine, solid_angle=None, geometric_factor=None, accumulation=None):
    """`omni`, `coverage`, `sensitivity`, `counts` and `error`, each n x 15. What is None of the instrument is
    Lunar Prospector's."""
    cdef object inclination = array_of(theta, (SWEEP_CELLS,), "theta")
    cdef object angle = array_of(solid_angle, (SWEEP_CELLS,), "solid_angle"), at = array_of(energy, ROWS, "energy")
    cdef Py_ssize_t n = len(at)
    cdef object measured = of_sweeps(flux, n, CELLS, "flux"), direction = of_sweeps(cosine, n, CELLS, "cosine")
    cdef paritas_cells cells = paritas_cells_default
    cdef paritas_spectrum_request request = paritas_spectrum_request_default
    cdef Context call
    found = SimpleNamespace(**{name: new_matrix(n, SWEEP_ROWS) for name in ("omni", "coverage", "sensitivity", "counts", "error")})
    cells.theta, cells.solid_angle = numbers(inclination), numbers(angle)
    if geometric_factor is not None: cells.geometric_factor = geometric_factor
    if accumulation is not None: cells.accumulation = accumulation
    request.cells, request.n = &cells, n
    request.energy, request.flux, request.cosine = numbers(at), numbers(measured), numbers(direction)
    request.omni, request.coverage, request.sensitivity = numbers(found.omni), numbers(found.coverage), numbers(found.sensitivity)
    request.counts, request.error = numbers(found.counts), numbers(found.error)
    call = begin(None, None)
    with nogil:
        call.status = paritas_kappa_spectrum(call.c, &request)
    return call.end(found)


def kappa_fit(SpectrumArrays spectra not None, dict options, Engine engine=None, progress=None):
    """Rows of paritas_kappa_result."""
    cdef paritas_kappa_options chosen = kappa_options(options)
    cdef object rows = new_rows("paritas_kappa_result", spectra.n)
    cdef paritas_kappa_result *results = <paritas_kappa_result *>address(rows)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_kappa_fit(call.c, &spectra.c, &chosen, results)
    return call.end(rows)


def kappa_misfit(SpectrumArrays spectra not None, dict options, points, Engine engine=None):
    """n x len(points)."""
    cdef paritas_kappa_options chosen = kappa_options(options)
    cdef object rows = matrix(points, 3, "points")
    cdef size_t count = len(rows)
    cdef object misfit = new_matrix(spectra.n, count)
    cdef const paritas_kappa_plasma *at = plasma_of(rows)
    cdef double *misfits = numbers(misfit)
    cdef Context call = begin(engine, None)
    with nogil:
        call.status = paritas_kappa_misfit(call.c, &spectra.c, &chosen, count, at, misfits)
    return call.end(misfit)


def shade_currents(plasma, dict options, potentials, Engine engine=None):
    """n x len(potentials) x 3: electrons, secondaries, ions."""
    cdef paritas_potential_options chosen = potential_options(options)
    cdef object rows = matrix(plasma, 3, "plasma"), at = array_of(potentials, (-1,), "potentials")
    cdef size_t n = len(rows), count = len(at)
    cdef object currents = new_block(n, count, 3)
    cdef const paritas_kappa_plasma *plasmas = plasma_of(rows)
    cdef const double *volts = numbers(at)
    cdef double *found = numbers(currents)
    cdef Context call = begin(engine, None)
    with nogil:
        call.status = paritas_shade_currents(call.c, n, plasmas, &chosen, count, volts, found)
    return call.end(currents)


def spacecraft_potential(plasma, covariance, sunlit, dict options, Engine engine=None, progress=None):
    """Rows of paritas_potential of given plasma; covariance n x 3 x 3 or None."""
    cdef paritas_potential_options chosen = potential_options(options)
    cdef object rows = matrix(plasma, 3, "plasma")
    cdef size_t n = len(rows)
    cdef object spread = array_of(covariance, (n, 3, 3), "covariance"), sun = flags(sunlit, n, "sunlit")
    cdef object found = new_rows("paritas_potential", n)
    cdef const paritas_kappa_plasma *plasmas = plasma_of(rows)
    cdef const double *covariances = numbers(spread)
    cdef const unsigned char *sun_flags = <const unsigned char *>address(sun)
    cdef paritas_potential *results = <paritas_potential *>address(found)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_spacecraft_potential(call.c, n, plasmas, covariances, sun_flags, &chosen, results)
    return call.end(found)


def spacecraft_potential_of_spectra(SpectrumArrays spectra not None, sunlit, dict kappa, dict options,
                                    Engine engine=None, progress=None):
    """`fits`, rows of paritas_kappa_result, and `potentials`, rows of paritas_potential."""
    cdef paritas_kappa_options of_fits = kappa_options(kappa)
    cdef paritas_potential_options chosen = potential_options(options)
    cdef object sun = flags(sunlit, spectra.n, "sunlit")
    cdef object fits = new_rows("paritas_kappa_result", spectra.n), found = new_rows("paritas_potential", spectra.n)
    cdef const unsigned char *sun_flags = <const unsigned char *>address(sun)
    cdef paritas_kappa_result *fit_rows = <paritas_kappa_result *>address(fits)
    cdef paritas_potential *results = <paritas_potential *>address(found)
    cdef Context call = begin(engine, progress)
    with nogil:
        call.status = paritas_spacecraft_potential_of_spectra(call.c, &spectra.c, sun_flags, &of_fits, &chosen, fit_rows, results)
    return call.end(SimpleNamespace(fits=fits, potentials=found))
