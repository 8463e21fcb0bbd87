# Kappa distributions: spectra, fits, currents, potentials. Plasma: rows of density (1/m^3), kappa, theta
# (m/s). Options: of option_values.

cdef class SpectrumArrays:
    """n checked spectra; sensitivity and counts may be None if weights do not need them."""

    cdef tuple held # keeps the arrays alive
    cdef readonly Py_ssize_t n, rows
    cdef paritas_spectra c

    def __init__(self, energy, flux, sensitivity=None, counts=None, background=None):
        cdef Array energies = array_of(energy, (-1, -1), "energy")
        self.n, self.rows = energies.n, energies.array.shape[1]
        cdef tuple shape = (self.n, self.rows)
        cdef Array fluxes = array_of(flux, shape, "flux")
        cdef Array least = array_of(sensitivity, shape, "sensitivity")
        cdef Array counted = array_of(counts, shape, "counts")
        cdef Array lost = array_of(background, shape, "background")
        self.held = energies, fluxes, least, counted, lost
        self.c = paritas_spectra_default
        self.c.rows = self.rows
        self.c.n, self.c.energy, self.c.flux = self.n, energies.at, fluxes.at
        self.c.sensitivity, self.c.counts, self.c.background = least.at, counted.at, lost.at


def kappa_flux(plasma, energy, Engine engine=None):
    """n x len(energy)."""
    cdef Array rows = matrix(plasma, 3, "plasma"), at = array_of(energy, (-1,), "energy")
    cdef Array flux = new_matrix(rows.n, at.n)
    paritas_kappa_flux(rows.n, rows.rows, at.n, at.at, flux.at, engine)
    return flux.array


cdef object of_two(double (*function)(double, double) noexcept nogil, first, second):
    """A function of numbers over broadcast arrays."""
    cdef list given = [np.asarray(unmasked(one), np.float64) for one in (first, second)]
    cdef object both = np.broadcast_arrays(*given)
    cdef Array a = held(np.array(both[0], order="C")), b = held(np.array(both[1], order="C"))
    cdef Array found = held(np.empty(a.array.shape))
    cdef Py_ssize_t i
    for i in range(found.array.size):
        found.at[i] = function(a.at[i], b.at[i])
    return found.array[()]

cdef object of_one(double (*function)(double) noexcept nogil, given):
    cdef Array a = held(np.asarray(unmasked(given), np.float64, order="C"))
    cdef Array found = held(np.empty(a.array.shape))
    cdef Py_ssize_t i
    for i in range(found.array.size):
        found.at[i] = function(a.at[i])
    return found.array[()]

def kappa_temperature(kappa, theta): return of_two(paritas_kappa_temperature, kappa, theta)
def kappa_theta(kappa, temperature): return of_two(paritas_kappa_theta, kappa, temperature)
def photoelectron_current(potential): return of_one(paritas_photoelectron_current, potential)
def photoelectron_potential(current): return of_one(paritas_photoelectron_potential, current)
def secondary_yield(energy): return of_one(paritas_secondary_yield, energy)


def electron_current(plasma, double lower, double upper):
    """n currents."""
    cdef Array rows = matrix(plasma, 3, "plasma"), found = new_array(rows.n)
    cdef Py_ssize_t i
    for i in range(rows.n):
        found.at[i] = paritas_electron_current(<const paritas_kappa_plasma *>rows.rows + i, lower, upper)
    return found.array


def kappa_response(energy, double width):
    """n x n."""
    cdef Array at = array_of(energy, (-1,), "energy"), found = new_matrix(at.n, at.n)
    paritas_kappa_response(width, at.n, at.at, found.at)
    return found.array


def kappa_spectrum(theta, energy, flux, cosine, solid_angle=None, geometric_factor=None, accumulation=None,
                   exposure=None, rate=None):
    """`omni`, `coverage`, `sensitivity`, `counts`, `error` and `background`, n x rows each. None: Lunar
    Prospector's, and no background. exposure: of another instrument, rows x cells like its solid_angle; theta
    is not read."""
    cdef Array measured = array_of(flux, ANY_GRID, "flux")
    cdef Py_ssize_t n = measured.n, rows = measured.array.shape[1], cells = measured.array.shape[2]
    cdef tuple grid = (rows, cells)
    cdef Array at = array_of(energy, (n, rows), "energy")
    cdef Array direction = array_of(cosine, (n, rows, cells), "cosine")
    cdef Array inclination = held(None), angle, exposed = array_of(exposure, grid, "exposure")
    cdef Array rates = array_of(rate, (n,), "background_rate")
    cdef paritas_cells sensor = paritas_cells_default
    cdef paritas_spectrum_request request = paritas_spectrum_request_default
    cdef Array omni = new_matrix(n, rows), coverage = new_matrix(n, rows)
    cdef Array sensitivity = new_matrix(n, rows), counts = new_matrix(n, rows)
    cdef Array error = new_matrix(n, rows), background = new_matrix(n, rows)
    if exposure is None:
        if grid != (SWEEP_ROWS, SWEEP_CELLS):
            raise InvalidArgument(f"exposure: not given; sweeps of {rows} energies and {cells} directions "
                                  "need it, with solid_angle")
        inclination = array_of(theta, (SWEEP_CELLS,), "theta")
        angle = array_of(solid_angle, (SWEEP_CELLS,), "solid_angle")
        sensor.theta, sensor.solid_angle = inclination.at, angle.at
        if geometric_factor is not None: sensor.geometric_factor = geometric_factor
        if accumulation is not None: sensor.accumulation = accumulation
        request.cells = &sensor
    else:
        angle = array_of(solid_angle, grid, "solid_angle")
        request.grid.rows, request.grid.cells = rows, cells
        request.solid_angle, request.exposure = angle.at, exposed.at
    request.n = n
    request.energy, request.flux, request.cosine = at.at, measured.at, direction.at
    request.omni, request.coverage, request.sensitivity = omni.at, coverage.at, sensitivity.at
    request.counts, request.error = counts.at, error.at
    request.rate, request.background = rates.at, background.at
    paritas_kappa_spectrum(&request)
    return SimpleNamespace(omni=omni.array, coverage=coverage.array, sensitivity=sensitivity.array,
                           counts=counts.array, error=error.array,
                           background=None if rate is None else background.array)


def kappa_fit(SpectrumArrays spectra not None, paritas_kappa_options options, Engine engine=None,
              progress=None):
    """Rows of paritas_kappa_result."""
    cdef Array rows = new_rows("paritas_kappa_result", spectra.n)
    paritas_kappa_fit(&spectra.c, &options, rows.rows, engine, progress)
    return rows.array


def kappa_misfit(SpectrumArrays spectra not None, paritas_kappa_options options, points, Engine engine=None,
                 progress=None):
    """n x len(points)."""
    cdef Array rows = matrix(points, 3, "points"), misfit = new_matrix(spectra.n, rows.n)
    paritas_kappa_misfit(&spectra.c, &options, rows.n, rows.rows, misfit.at, engine, progress)
    return misfit.array


def shade_currents(plasma, paritas_potential_options options, potentials, Engine engine=None, progress=None):
    """n x len(potentials) x 3: electrons, secondaries, ions."""
    cdef Array rows = matrix(plasma, 3, "plasma"), at = array_of(potentials, (-1,), "potentials")
    cdef Array currents = new_block(rows.n, at.n, 3)
    paritas_shade_currents(rows.n, rows.rows, &options, at.n, at.at, currents.at, engine, progress)
    return currents.array


def spacecraft_potential(plasma, covariance, sunlit, paritas_potential_options options, Engine engine=None,
                         progress=None):
    """Rows of paritas_potential; covariance n x 3 x 3 or None."""
    cdef Array rows = matrix(plasma, 3, "plasma")
    cdef Array spread = array_of(covariance, (rows.n, 3, 3), "covariance")
    cdef Array sun = flags(sunlit, rows.n, "sunlit"), found = new_rows("paritas_potential", rows.n)
    paritas_spacecraft_potential(rows.n, rows.rows, spread.at, <const unsigned char *>sun.rows, &options,
                                 found.rows, engine, progress)
    return found.array


def spacecraft_potential_of_spectra(SpectrumArrays spectra not None, sunlit, paritas_kappa_options kappa,
                                    paritas_potential_options options,
                                    Engine engine=None, progress=None):
    """`fits` (rows of paritas_kappa_result) and `potentials` (rows of paritas_potential)."""
    cdef Array sun = flags(sunlit, spectra.n, "sunlit")
    cdef Array fits = new_rows("paritas_kappa_result", spectra.n)
    cdef Array found = new_rows("paritas_potential", spectra.n)
    paritas_spacecraft_potential_of_spectra(&spectra.c, <const unsigned char *>sun.rows, &kappa, &options,
                                            fits.rows, found.rows, engine, progress)
    return SimpleNamespace(fits=fits.array, potentials=found.array)
