# Days from files to sweeps, as the program makes them: paritas_days.h.

cdef list share_of(paritas_day_share *shares, Py_ssize_t n):
    """A dictionary a file."""
    return [{"repeated": shares[i].repeated, "other": shares[i].other, "shift": shares[i].shift,
             "strays": shares[i].strays} for i in range(n)]


cdef class Days:
    """Days and their files."""

    cdef paritas_days *c

    def __dealloc__(self):
        paritas_days_free(self.c)

    @staticmethod
    def find(list paths):
        """Of files and folders."""
        cdef Days made = Days()
        cdef size_t n = len(paths), i
        cdef list texts = [text_of(path) for path in paths]
        cdef const char **at = <const char **>calloc(n + 1, sizeof(char *))
        if at == NULL:
            raise MemoryError
        try:
            for i in range(n):
                at[i] = PyUnicode_AsUTF8(texts[i])
            paritas_days_find(n, at, 0, 0, 0, &made.c)
        finally:
            free(at)
        return made

    def __len__(self):
        return self.c.n

    def date(self, size_t k):
        """YYYYMMDD."""
        return self.c.days[k].files[0].date

    def paths(self, size_t k):
        cdef const paritas_day *day = &self.c.days[k]
        return [day.files[i].path.decode(errors="surrogateescape") for i in range(day.n)]

    def read(self, size_t k, bint strict):
        """(day, what each file brings)."""
        cdef Day made = Day()
        cdef paritas_er_options options = paritas_er_options_default
        cdef const paritas_day *files = &self.c.days[k]
        cdef paritas_day_share *shares = <paritas_day_share *>calloc(files.n, sizeof(paritas_day_share))
        if shares == NULL:
            raise MemoryError
        options.strict = strict
        shares.size = sizeof(paritas_day_share)
        try:
            paritas_day_read(files, &options, shares, &made.c)
            return made, share_of(shares, files.n)
        finally:
            free(shares)


def day_join(list days):
    """(day, what each of the given ones brings)."""
    cdef Day made = Day(), part
    cdef size_t n = len(days), i
    cdef const paritas_er_day **parts = <const paritas_er_day **>calloc(n, sizeof(void *))
    cdef paritas_day_share *shares = <paritas_day_share *>calloc(n, sizeof(paritas_day_share))
    if parts == NULL or shares == NULL:
        free(parts)
        free(shares)
        raise MemoryError
    try:
        for i in range(n):
            part = days[i]
            parts[i] = part.c
        shares.size = sizeof(paritas_day_share)
        paritas_day_join(n, parts, shares, &made.c)
        return made, share_of(shares, n)
    finally:
        free(parts)
        free(shares)


cdef class DayOptions:
    """Options of a day and its sources. potential: "auto", volts, or "day", as the day has it. kappa,
    charging: of option_values."""

    cdef paritas_day_options c
    cdef paritas_day_sources sources
    cdef paritas_kappa_options kappa
    cdef paritas_potential_options charging
    cdef paritas_losscone_options losscone
    cdef Array mags # addresses
    cdef list of_mags
    cdef Array theta
    cdef tuple kept # what the pointers belong to

    def __init__(self, theta, potential, double polarity, double sunlight, str normalisation, bint sunlit,
                 double least_counts, bint subtract_background, bint weighted, double response_width,
                 str method, paritas_kappa_options kappa, paritas_potential_options charging):
        self.theta = array_of(theta, (SWEEP_CELLS,), "theta")
        self.kappa, self.charging = kappa, charging
        self.losscone = paritas_losscone_options_default
        self.losscone.response_width = response_width
        self.losscone.method = <paritas_losscone_method>value_of("paritas_losscone_method", method, "method")
        self.c = paritas_day_options_default
        self.c.theta, self.c.polarity, self.c.sunlight = self.theta.at, polarity, sunlight
        self.c.normalisation = <paritas_normalisation>value_of("paritas_normalisation", normalisation,
                                                               "normalisation")
        if isinstance(potential, str):
            self.c.potential_source = <paritas_potential_source>value_of(
                "paritas_potential_source", potential, "spacecraft_potential")
        else:
            self.c.potential_source, self.c.potential = PARITAS_POTENTIAL_SOURCE_VALUE, potential
        self.c.sunlit, self.c.least_counts, self.c.weighted = sunlit, least_counts, weighted
        self.c.subtract_background = subtract_background
        self.c.kappa, self.c.charging, self.c.losscone = &self.kappa, &self.charging, &self.losscone
        self.sources = paritas_day_sources_default

    def set_mags(self, list mags not None):
        """Magnetometers, of the next day to be prepared."""
        cdef Magnetometer one
        self.of_mags, self.mags = mags, held(np.empty(len(mags), np.uintp))
        for i in range(len(mags)):
            one = mags[i]
            self.mags.array[i] = <size_t>one.c
        self.sources.n_mags, self.sources.mags = len(mags), <const paritas_er_mag *const *>self.mags.rows

    def set_sources(self, Geometry geometry, Geometry polarities, Geometry potentials):
        self.kept = geometry, polarities, potentials
        self.sources.geometry = NULL if geometry is None else geometry.c
        self.sources.polarities = NULL if polarities is None else polarities.c
        self.sources.potentials = NULL if potentials is None else potentials.c

    def prepare(self, Day day not None, str spice, Attitude attitude):
        """DaySweeps. spice: a folder of kernels, with its attitude. CSPICE's state is the process's."""
        cdef DaySweeps made = DaySweeps()
        cdef paritas_er_spice *opened = NULL
        if spice is not None:
            paritas_er_spice_open(NULL, PyUnicode_AsUTF8(spice), &opened)
        self.sources.spice = opened
        self.sources.attitude = NULL if attitude is None else attitude.c
        try:
            paritas_day_prepare(&self.c, &self.sources, day.c, &made.c)
        finally:
            paritas_er_spice_close(opened)
            self.sources.spice = NULL
        return made


cdef object rows_at(str name, const void *at, Py_ssize_t n):
    """A copy of n rows of a record."""
    cdef Array rows = new_rows(name, n)
    memcpy(rows.rows, at, rows.array.nbytes)
    return rows.array

cdef dict DAY_SWEEPS_SHAPES = {
    "mag": (3,),
    **dict.fromkeys(("potential", "coverage", "background"), (PARITAS_SWEEP_ROWS,)),
    **dict.fromkeys(("cosine", "flux", "counts", "measured"), (PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS)),
    "channel": (PARITAS_SWEEP_ROWS, PARITAS_CHANNEL_ENERGIES),
}


cdef class DaySweeps:
    """Owns a paritas_day_sweeps."""

    cdef paritas_day_sweeps *c

    def __dealloc__(self):
        paritas_day_sweeps_free(self.c)

    def arrays(self):
        """Arrays by name, over this memory; None where there is none."""
        cdef dict there = arrays_of_day_sweeps(self.c)
        cdef dict made = views(self, self.c.n, {name: of for name, of in there.items() if of[0] != 0},
                               DAY_SWEEPS_SHAPES)
        return {name: made.get(name) for name in there}

    def plasma(self, DayOptions options not None, Day day not None, Engine engine=None, progress=None):
        """`fits` (rows of paritas_kappa_result) and `potentials` (of paritas_potential; None: were given)."""
        paritas_day_plasma(&options.c, day.c, self.c, engine, progress)
        fits = rows_at("paritas_kappa_result", self.c.plasma, self.c.n)
        if self.c.potentials == NULL:
            return SimpleNamespace(fits=fits, potentials=None)
        return SimpleNamespace(fits=fits,
                               potentials=rows_at("paritas_potential", self.c.potentials, self.c.n))

    def count(self, DayOptions options not None, Day day not None):
        paritas_day_count(&options.c, day.c, self.c)


def day_status(Day day not None, results):
    """Words, n."""
    cdef Array rows = copied_rows("paritas_losscone_result", results, day.c.n, "results")
    cdef paritas_losscone_result *at = <paritas_losscone_result *>rows.rows
    return np.array([paritas_day_status(day.c, k, &at[k]).decode() for k in range(day.c.n)], "U24")


def environments(projection_in_sun, temperature):
    """Classes, as paritas_environment."""
    cdef Array lit = array_of(projection_in_sun, (-1,), "projection_in_sun")
    cdef Array warm = array_of(temperature, (lit.n,), "temperature")
    return np.array([<int>paritas_environment_of(lit.at[k], warm.at[k]) for k in range(lit.n)], np.int64)
