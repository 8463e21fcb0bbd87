# Day files of the Electron Reflectometer: reading, writing, geometry, masks. All on the host.

MOON_RADIUS = PARITAS_MOON_RADIUS # km

def er_reasons():
    """{reason: its unit}, in the order of codes."""
    return {word: paritas_er_unit_name(paritas_er_reason_unit(<paritas_er_reason><int>value)).decode()
            for word, value in enumeration("paritas_er_reason").items()}

#: shapes of a day's arrays other than (n,)
cdef dict DAY_SHAPES = {
    **dict.fromkeys(("row_reason", "line", "time", "energy", "polarity"), (PARITAS_SWEEP_ROWS,)),
    **dict.fromkeys(("cell_reason", "flux", "azimuth"), (PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS)),
    "field": (PARITAS_SWEEP_ROWS, 3),
}

cdef dict views(object owner, Py_ssize_t n, dict arrays, dict shapes):
    """Views of the library's memory, which `owner` keeps."""
    return {name: view(owner, <void *><size_t>at, (n, *shapes.get(name, ())), np.dtype(kind))
            for name, (at, kind) in arrays.items()}


cdef class Day:
    """Owns a paritas_er_day. Its arrays keep it alive; it keeps none of them, since a ring would never be
    freed."""

    cdef paritas_er_day *c

    def __dealloc__(self):
        paritas_er_day_free(self.c)

    @staticmethod
    def read(path, bytes text=None, field_limits=None, bint digest=False, bint strict=False):
        """From a file, or from `text`, named `path` in messages."""
        cdef Day day = Day()
        cdef str name = text_of(path)
        cdef const char *at = PyUnicode_AsUTF8(name)
        cdef paritas_er_options options = paritas_er_options_default
        if field_limits is not None:
            options.field_lower, options.field_upper = field_limits
        options.digest, options.strict = digest, strict
        if text is None:
            paritas_er_read(at, &options, &day.c)
        else:
            paritas_er_parse(text, len(text), at, &options, &day.c)
        return day

    @staticmethod
    def create(size_t n):
        cdef Day day = Day()
        paritas_er_day_create(n, &day.c)
        return day

    def write(self, path, bint exact):
        cdef str name = text_of(path)
        paritas_er_write(PyUnicode_AsUTF8(name), self.c, exact)

    def arrays(self):
        """Arrays by name, over the day's memory."""
        return views(self, self.c.n, arrays_of_er_day(self.c), DAY_SHAPES)

    def counts(self):
        """(count, line, column) by reason."""
        cdef dict found = {}
        cdef int value
        for word, value in enumeration("paritas_er_reason").items():
            met = self.c.counts[value]
            if met.count > 0:
                found[word] = met.count, met.line, met.column
        return found

    @property
    def digest(self):
        return self.c.digest.decode()

    def mask_sunlight(self, theta, double angle):
        cdef Array at = array_of(theta, (SWEEP_CELLS,), "theta")
        paritas_er_mask_sunlight(self.c, at.at, angle)

    def mask_polarity(self):
        paritas_er_mask_polarity(self.c)

    def copy(self):
        """(the same day in other memory)"""
        return day_join([self])[0]

    def find_background(self, theta):
        """Rates, n."""
        cdef Array at = array_of(theta, (SWEEP_CELLS,), "theta"), rate = new_array(self.c.n)
        paritas_er_find_background(self.c, at.at, rate.at)
        return rate.array

    def subtract_background(self, rate):
        cdef Array at = array_of(rate, (self.c.n,), "rate")
        paritas_er_subtract_background(self.c, at.at)

    def mask_counts(self, theta, double least):
        cdef Array at = array_of(theta, (SWEEP_CELLS,), "theta")
        paritas_er_mask_counts(self.c, at.at, least)


cdef class Geometry:
    """A table of geometry."""

    cdef paritas_er_geometry *c

    def __dealloc__(self):
        paritas_er_geometry_free(self.c)

    @staticmethod
    def read(str path):
        cdef Geometry made = Geometry()
        paritas_er_geometry_read(PyUnicode_AsUTF8(path), &made.c)
        return made

    def has(self, str column):
        return paritas_er_geometry_has(self.c, PyUnicode_AsUTF8(column)) != 0

    def apply(self, Day day not None):
        """Returns the number of sweeps that it has."""
        cdef size_t matched = 0
        paritas_er_geometry_apply(self.c, day.c, &matched)
        return matched


cdef class Magnetometer:
    """Records of the magnetometer."""

    cdef paritas_er_mag *c

    def __dealloc__(self):
        paritas_er_mag_free(self.c)

    @staticmethod
    def read(str path):
        cdef Magnetometer made = Magnetometer()
        paritas_er_mag_read(PyUnicode_AsUTF8(path), &made.c)
        return made

    def arrays(self):
        shapes = {name: (3,) for name in ("field", "field_sse", "position", "position_sse")}
        return views(self, self.c.n, arrays_of_er_mag(self.c), shapes)

    @property
    def skipped(self):
        return self.c.skipped

    def apply(self, Day day not None):
        """(mean fields (n, 3), number of sweeps with a record)."""
        cdef size_t matched = 0
        cdef Array fields = new_array(3 * day.c.n)
        fields.array[...] = float("nan")
        paritas_er_mag_apply(self.c, day.c, fields.at, &matched)
        return fields.array.reshape(-1, 3), matched


cdef class Attitude:
    """The spin axis over time."""

    cdef paritas_er_attitude *c

    def __dealloc__(self):
        paritas_er_attitude_free(self.c)

    @staticmethod
    def read(str path):
        cdef Attitude made = Attitude()
        paritas_er_attitude_read(PyUnicode_AsUTF8(path), &made.c)
        return made

    def arrays(self):
        return views(self, self.c.n, arrays_of_er_attitude(self.c), {})

    def at(self, times):
        """(right ascension, declination) at n times, degrees."""
        cdef Array when = array_of(times, (-1,), "times")
        cdef Py_ssize_t n = when.n, i
        cdef Array ascension = new_array(n), declination = new_array(n)
        for i in range(n):
            paritas_er_attitude_at(self.c, when.at[i], ascension.at + i, declination.at + i)
        return ascension.array, declination.array


def er_apply_spice(str folder not None, str library, Attitude attitude not None, Day day not None):
    """Geometry by CSPICE with a folder's kernels. Returns the number of sweeps that they miss. CSPICE's state
    is the process's: one call at a time."""
    cdef paritas_er_spice *spice = NULL
    cdef size_t uncovered = 0
    paritas_er_spice_open(NULL if library is None else PyUnicode_AsUTF8(library), PyUnicode_AsUTF8(folder),
                          &spice)
    try:
        paritas_er_spice_apply(spice, attitude.c, day.c, &uncovered)
    finally:
        paritas_er_spice_close(spice)
    return uncovered


def er_find(str path, int year=0, int month=0, int day=0):
    """(path, date as YYYYMMDD) of a folder's day files, or of one file."""
    cdef paritas_er_files *files = NULL
    paritas_er_find(PyUnicode_AsUTF8(path), year, month, day, &files)
    try:
        return [(files.path[i].decode(errors="surrogateescape"), files.date[i]) for i in range(files.n)]
    finally:
        paritas_er_files_free(files)


def er_find_mags(str path):
    """(path, date as YYYYMMDD) of a folder's files of the magnetometer."""
    cdef paritas_er_files *files = NULL
    paritas_er_find_mags(PyUnicode_AsUTF8(path), &files)
    try:
        return [(files.path[i].decode(errors="surrogateescape"), files.date[i]) for i in range(files.n)]
    finally:
        paritas_er_files_free(files)


def er_file_date(str path):
    return paritas_er_file_date(PyUnicode_AsUTF8(path))


def er_theta(str path=None):
    cdef Array theta = new_array(SWEEP_CELLS)
    paritas_er_theta(NULL if path is None else PyUnicode_AsUTF8(path), theta.at)
    return theta.array


def er_solid_angles(theta):
    cdef Array at = array_of(theta, (SWEEP_CELLS,), "theta"), found = new_array(SWEEP_CELLS)
    paritas_er_solid_angles(at.at, found.at)
    return found.array


def er_utc(double time):
    cdef char utc[PARITAS_ER_UTC_SIZE]
    paritas_er_utc(time, utc)
    return utc.decode()


def er_despun_axes(double right_ascension, double declination, sun):
    cdef Array at = array_of(sun, (3,), "sun"), axes = new_matrix(3, 3)
    paritas_er_despun_axes(right_ascension, declination, at.at, axes.at)
    return axes.array


def er_footpoint(position, field):
    """(point, polarity, latitude, longitude)"""
    cdef Array at = array_of(position, (3,), "position"), along = array_of(field, (3,), "field")
    cdef Array point = new_array(3)
    cdef int polarity
    cdef double latitude, longitude
    paritas_er_footpoint(at.at, along.at, point.at, &polarity, &latitude, &longitude)
    return point.array, polarity, latitude, longitude
