# Loss cones: fits, confidence sets, profiles, models. Options: of option_values.

QUALITY_TEXT = PARITAS_QUALITY_TEXT
SWEEP_ROWS, SWEEP_CELLS = PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS
cdef tuple ANY_GRID = (-1, -1, -1)


cdef class SweepArrays:
    """Checked; borrowed if contiguous and float64. channel and the others after it: or None."""

    cdef readonly object energy, potential, cosine, flux, channel, counts, background, potential_error, measured
    cdef readonly Py_ssize_t n, rows, cells
    cdef paritas_sweeps c

    def __init__(self, energy, potential, cosine, flux, channel=None, counts=None, background=None,
                 potential_error=None, measured=None):
        cdef Array cosines = array_of(cosine, ANY_GRID, "cosine")
        cdef Py_ssize_t n = cosines.n, rows = cosines.array.shape[1], cells = cosines.array.shape[2]
        cdef tuple of_rows = (n, rows), of_cells = (n, rows, cells)
        cdef Array energies = array_of(energy, of_rows, "energy")
        cdef Array volts = array_of(potential, of_rows, "potential")
        cdef Array fluxes = array_of(flux, of_cells, "flux")
        self.n, self.rows, self.cells = n, rows, cells
        self.energy, self.potential = energies.array, volts.array
        self.cosine, self.flux = cosines.array, fluxes.array
        self.c = paritas_sweeps_default
        self.c.n, self.c.energy, self.c.potential = n, energies.at, volts.at
        self.c.cosine, self.c.flux, self.c.rows, self.c.cells = cosines.at, fluxes.at, rows, cells
        cdef Array channels = array_of(channel, (n, rows, PARITAS_CHANNEL_ENERGIES), "channel")
        cdef Array counted = array_of(counts, of_cells, "counts")
        cdef Array floor = array_of(background, of_rows, "background")
        self.channel, self.counts, self.background = channels.array, counted.array, floor.array
        self.c.channel, self.c.counts, self.c.background = channels.at, counted.at, floor.at
        cdef Array raw = array_of(measured, of_cells, "measured")
        self.measured, self.c.measured = raw.array, raw.at
        cdef Array errors = vector(potential_error, n, "potential_error")
        self.potential_error, self.c.potential_error = errors.array, errors.at


def losscone_fit(SweepArrays sweeps not None, paritas_losscone_options options, Engine engine=None,
                 progress=None):
    """Rows of paritas_losscone_result."""
    cdef Array rows = new_rows("paritas_losscone_result", sweeps.n)
    paritas_losscone_fit(&sweeps.c, &options, rows.rows, engine, progress)
    return rows.array


def losscone_answer(SweepArrays sweeps not None, paritas_losscone_options options, confidence, unsigned draws,
                    double level, double step, Engine engine=None, progress=None):
    """`results` (rows of paritas_losscone_result) and `sets` (of paritas_confidence, or None). confidence: a
    word of paritas_confidence_kind, or a threshold."""
    cdef Array rows = new_rows("paritas_losscone_result", sweeps.n), around = held(None)
    cdef paritas_losscone_sets sets = paritas_losscone_sets_default
    sets.draws, sets.level, sets.step = draws, level, step
    if isinstance(confidence, str):
        sets.confidence = <paritas_confidence_kind>value_of("paritas_confidence_kind", confidence,
                                                            "confidence")
    else:
        sets.confidence, sets.threshold = PARITAS_CONFIDENCE_KIND_THRESHOLD, confidence
    if sets.confidence != PARITAS_CONFIDENCE_KIND_NONE:
        around = new_rows("paritas_confidence", sweeps.n)
    paritas_losscone_answer(&sweeps.c, &options, &sets, rows.rows, around.rows, engine, progress)
    return SimpleNamespace(results=rows.array, sets=around.array)


def losscone_options_of(paritas_losscone_options options, str response):
    """The options of one response."""
    cdef paritas_losscone_options made
    cdef int wanted = value_of("paritas_losscone_response", response, "response")
    paritas_losscone_options_of(&options, <paritas_losscone_response>wanted, &made)
    return made


def losscone_fitted(results):
    """Truth, n."""
    cdef Array rows = copied_rows("paritas_losscone_result", results, len(results), "results")
    cdef paritas_losscone_result *at = <paritas_losscone_result *>rows.rows
    return np.array([paritas_losscone_fitted(&at[k]) != 0 for k in range(rows.n)], np.bool_)


def losscone_quality(results, others=None):
    """Words, n, as the program's column `quality`. others: results of the other response."""
    cdef Py_ssize_t k, n = len(results)
    cdef Array own = copied_rows("paritas_losscone_result", results, n, "results")
    cdef Array other = own if others is None else copied_rows("paritas_losscone_result", others, n, "others")
    cdef paritas_losscone_result *first = <paritas_losscone_result *>own.rows
    cdef paritas_losscone_result *second = <paritas_losscone_result *>other.rows
    cdef char text[PARITAS_QUALITY_TEXT]
    words = np.empty(n, f"U{PARITAS_QUALITY_TEXT}")
    for k in range(n):
        paritas_quality_words(paritas_quality_flags(&first[k], NULL if others is None else &second[k]), text)
        words[k] = text.decode()
    return words


def losscone_both(hard, folded):
    """`preferred` (words; "": not both have a fit) and `good` (n), of one response or both."""
    cdef Py_ssize_t k, n = len(hard if folded is None else folded)
    cdef Array one = held(None) if hard is None else copied_rows("paritas_losscone_result", hard, n, "hard")
    cdef Array two = held(None)
    if folded is not None:
        two = copied_rows("paritas_losscone_result", folded, n, "folded")
    cdef paritas_losscone_result *first = <paritas_losscone_result *>one.rows
    cdef paritas_losscone_result *second = <paritas_losscone_result *>two.rows
    cdef paritas_losscone_result *a
    cdef paritas_losscone_result *b
    cdef int better
    cdef list preferred = [], good = []
    for k in range(n):
        a, b = (NULL if first == NULL else &first[k]), (NULL if second == NULL else &second[k])
        better = paritas_losscone_preferred(a, b)
        preferred.append("" if better < 0 else
                         paritas_losscone_response_name(<paritas_losscone_response>better).decode())
        good.append(paritas_losscone_flags(a, b) == 0)
    return SimpleNamespace(preferred=np.array(preferred, "U6"), good=np.array(good, np.uint8))


def losscone_confidence(SweepArrays sweeps not None, paritas_losscone_options options, results,
                        thresholds=None, double step=0.0,
                        Engine engine=None, progress=None):
    """Rows of paritas_confidence around losscone_fit's results."""
    cdef Array found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef Array above = vector(thresholds, sweeps.n, "thresholds")
    cdef Array rows = new_rows("paritas_confidence", sweeps.n)
    paritas_losscone_confidence(&sweeps.c, &options, found.rows, above.at, step, rows.rows, engine, progress)
    return rows.array


def losscone_bootstrap(SweepArrays sweeps not None, paritas_losscone_options options, results,
                       unsigned draws, double level,
                       Engine engine=None, progress=None):
    """Thresholds, n."""
    cdef Array found = copied_rows("paritas_losscone_result", results, sweeps.n, "results")
    cdef Array thresholds = new_array(sweeps.n)
    paritas_losscone_bootstrap(&sweeps.c, &options, found.rows, draws, level, thresholds.at, engine, progress)
    return thresholds.array


def losscone_profile(SweepArrays sweeps not None, paritas_losscone_options options, potentials,
                     Engine engine=None,
                     progress=None):
    """`misfit`, `ratio`, `amplitude`: n x len(potentials)."""
    cdef Array at = array_of(potentials, (-1,), "potentials")
    cdef Array misfit = new_matrix(sweeps.n, at.n), ratio = new_matrix(sweeps.n, at.n)
    cdef Array amplitude = new_matrix(sweeps.n, at.n)
    paritas_losscone_profile(&sweeps.c, &options, at.n, at.at, misfit.at, ratio.at, amplitude.at, engine,
                             progress)
    return SimpleNamespace(misfit=misfit.array, ratio=ratio.array, amplitude=amplitude.array)


def losscone_misfit(SweepArrays sweeps not None, paritas_losscone_options options, points,
                    Engine engine=None, progress=None):
    """`misfit` (n x len(points)) and `cells` (n); points: rows of U, r, A."""
    cdef Array at = matrix(points, 3, "points")
    cdef Array misfit = new_matrix(sweeps.n, at.n), cells = held(np.empty(sweeps.n, np.uint32))
    paritas_losscone_misfit(&sweeps.c, &options, at.n, at.at, misfit.at, <unsigned *>cells.rows, engine,
                            progress)
    return SimpleNamespace(misfit=misfit.array, cells=cells.array)


def losscone_model(SweepArrays sweeps not None, paritas_losscone_options options, points, bint edge,
                   Engine engine=None,
                   progress=None):
    """`model` (n x rows x cells) and `edge` (n x rows, degrees) or None; points: n x 3."""
    cdef Array at = array_of(points, (sweeps.n, 3), "points")
    cdef Array model = new_block(sweeps.n, sweeps.rows, sweeps.cells)
    cdef Array angle = new_matrix(sweeps.n, sweeps.rows) if edge else held(None)
    paritas_losscone_model(&sweeps.c, &options, at.at, model.at, angle.at, engine, progress)
    return SimpleNamespace(model=model.array, edge=angle.array)


def losscone_beam(SweepArrays sweeps not None):
    """Rows of paritas_beam."""
    cdef Array rows = new_rows("paritas_beam", sweeps.n)
    paritas_losscone_beam(&sweeps.c, rows.rows)
    return rows.array


cdef paritas_sweep_grid grid_of(Array of_cells) except *:
    """Of an array n x rows x cells."""
    cdef paritas_sweep_grid grid
    grid.rows, grid.cells = of_cells.array.shape[1], of_cells.array.shape[2]
    if 0 in (grid.rows, grid.cells):
        raise InvalidArgument(f"an array of shape {of_cells.array.shape} has no rows or no cells")
    return grid


def losscone_cosines(theta, field, polarity, azimuth):
    """n x rows x cells, as azimuth."""
    cdef Array angle = array_of(azimuth, ANY_GRID, "azimuth")
    cdef paritas_sweep_grid grid = grid_of(angle)
    cdef Array inclination = array_of(theta, (grid.cells,), "theta")
    cdef Array along = array_of(field, (angle.n, grid.rows, 3), "field")
    cdef Array sign = array_of(polarity, (angle.n, grid.rows), "polarity")
    cdef Array cosine = new_block(angle.n, grid.rows, grid.cells)
    paritas_losscone_cosines(angle.n, &grid, inclination.at, along.at, sign.at, angle.at, cosine.at)
    return cosine.array


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
    """n x rows x cells, in `out` if given, which may be `flux`."""
    cdef Array angle = array_of(cosine, ANY_GRID, "cosine")
    cdef paritas_sweep_grid grid = grid_of(angle)
    cdef Array measured = array_of(flux, angle.array.shape, "flux")
    cdef Array normalised = room_like(out, measured, "out")
    cdef int kind = value_of("paritas_normalisation", how, "normalisation")
    paritas_losscone_normalise(angle.n, &grid, <paritas_normalisation>kind, angle.at, measured.at,
                               normalised.at)
    return normalised.array


def losscone_channels(SweepArrays sweeps not None, double response_width, flux):
    """n x rows x 5, of measured fluxes."""
    cdef Array measured = array_of(flux, (sweeps.n, sweeps.rows, sweeps.cells), "flux")
    cdef Array channel = new_block(sweeps.n, sweeps.rows, PARITAS_CHANNEL_ENERGIES)
    cdef paritas_losscone_options options = paritas_losscone_options_default
    options.response_width = response_width
    paritas_losscone_channels(&sweeps.c, &options, measured.at, channel.at)
    return channel.array


def losscone_mask(cosine, flux, normalised, str method):
    """Masks `normalised` in place."""
    cdef Array angle = array_of(cosine, ANY_GRID, "cosine")
    cdef paritas_sweep_grid grid = grid_of(angle)
    cdef Array measured = array_of(flux, angle.array.shape, "flux")
    cdef Array kept = room_like(normalised, measured, "normalised")
    cdef int wanted = value_of("paritas_losscone_method", method, "method")
    paritas_losscone_mask(angle.n, &grid, <paritas_losscone_method>wanted, angle.at, measured.at, kept.at)
