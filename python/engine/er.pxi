# Day files of the Electron Reflectometer: reading, writing, geometry, masks. All of it on the host.

# by value of paritas_er_reason
ER_REASONS = [paritas_er_reason_name(<paritas_er_reason>i).decode() for i in range(<int>PARITAS_ER_REASON_COUNT)] 
ER_UNITS = [paritas_er_unit_name(paritas_er_reason_unit(<paritas_er_reason>i)).decode() for i in range(<int>PARITAS_ER_REASON_COUNT)]

cdef object array_of(object given, tuple shape, str what):
    """`given` as a contiguous float64 array of this shape: itself where it is one. A length of -1 is free."""
    cdef object array = cnp.PyArray_FROMANY(given, cnp.NPY_FLOAT64, 0, 0, cnp.NPY_ARRAY_C_CONTIGUOUS | cnp.NPY_ARRAY_ALIGNED)
    if array.ndim != len(shape) or any([wanted not in (-1, found) for wanted, found in zip(shape, array.shape)]):
        wanted = ", ".join(["n" if length == -1 else str(length) for length in shape]) + ("," if len(shape) == 1 else "")
        raise InvalidArgument(f"{what}: an array of shape ({wanted}) is wanted, the one given has shape {array.shape}")
    return array


cdef object view(object owner, void *at, tuple shape, int kind):
    """An array over memory that `owner` keeps; may be written to."""
    cdef cnp.npy_intp lengths[3]
    cdef int i
    for i in range(len(shape)):
        lengths[i] = shape[i]
    cdef object array = cnp.PyArray_SimpleNewFromData(len(shape), lengths, kind, at)
    cnp.set_array_base(array, owner)
    return array


cdef class Day:
    """Owns a paritas_er_day. It hands out arrays that keep it alive, and keeps none of them itself: arrays
    and owner in a ring would never be freed."""

    cdef paritas_er_day *c

    def __dealloc__(self):
        paritas_er_day_free(self.c)

    @staticmethod
    def read(path, double field_lower, double field_upper, bint digest, bint strict):
        cdef Day day = Day()
        cdef bytes name = path.encode() if isinstance(path, str) else path
        cdef const char *at = name
        cdef paritas_er_options options = er_default
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        options.field_lower, options.field_upper, options.digest, options.strict = field_lower, field_upper, digest, strict
        with nogil:
            status = paritas_er_read(context.c, at, &options, &day.c)
        HOST.give(context)
        context.check(status)
        return day

    @staticmethod
    def parse(bytes text not None, str label, double field_lower, double field_upper, bint digest, bint strict):
        cdef Day day = Day()
        cdef bytes name = label.encode()
        cdef const char *at = text
        cdef const char *called = name
        cdef size_t length = len(text)
        cdef paritas_er_options options = er_default
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        options.field_lower, options.field_upper, options.digest, options.strict = field_lower, field_upper, digest, strict
        with nogil:
            status = paritas_er_parse(context.c, at, length, called, &options, &day.c)
        HOST.give(context)
        context.check(status)
        return day

    @staticmethod
    def create(size_t n):
        cdef Day day = Day()
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_day_create(context.c, n, &day.c)
        HOST.give(context)
        context.check(status)
        return day

    def write(self, path, bint exact):
        cdef bytes name = path.encode() if isinstance(path, str) else path
        cdef const char *at = name
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        with nogil:
            status = paritas_er_write(context.c, at, self.c, exact)
        HOST.give(context)
        context.check(status)

    def arrays(self):
        """The day's arrays by name, over its own memory."""
        cdef paritas_er_day *d = self.c
        cdef Py_ssize_t n = d.n
        cdef dict found = {
            "number": view(self, d.number, (n,), cnp.NPY_INT64), "sweep_reason": view(self, d.sweep_reason, (n,), cnp.NPY_UINT8),
            "row_reason": view(self, d.row_reason, (n, PARITAS_SWEEP_ROWS), cnp.NPY_UINT8),
            "cell_reason": view(self, d.cell_reason, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), cnp.NPY_UINT8), "line": view(self, d.line, (n, PARITAS_SWEEP_ROWS), cnp.NPY_UINT64),
            "utc": view(self, d.utc, (n, PARITAS_ER_UTC_SIZE), cnp.NPY_UINT8).view(f"S{PARITAS_ER_UTC_SIZE}").reshape(n) if n else np.empty(0, f"S{PARITAS_ER_UTC_SIZE}"),
            "time": view(self, d.time, (n, PARITAS_SWEEP_ROWS), cnp.NPY_FLOAT64), "energy": view(self, d.energy, (n, PARITAS_SWEEP_ROWS), cnp.NPY_FLOAT64),
            "field": view(self, d.field, (n, PARITAS_SWEEP_ROWS, 3), cnp.NPY_FLOAT64), "flux": view(self, d.flux, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), cnp.NPY_FLOAT64),
            "azimuth": view(self, d.azimuth, (n, PARITAS_SWEEP_ROWS, PARITAS_SWEEP_CELLS), cnp.NPY_FLOAT64), "polarity": view(self, d.polarity, (n, PARITAS_SWEEP_ROWS), cnp.NPY_FLOAT64),
        }
        cdef list names = ["spacecraft_potential", "spacecraft_in_sun", "projection_in_sun", "spacecraft_latitude", "spacecraft_longitude", "projection_latitude",
                           "projection_longitude", "sun_azimuth", "sun_elevation"]
        cdef double **columns = [d.spacecraft_potential, d.spacecraft_in_sun, d.projection_in_sun, d.spacecraft_latitude, d.spacecraft_longitude, d.projection_latitude,
                                 d.projection_longitude, d.sun_azimuth, d.sun_elevation]
        cdef Py_ssize_t i
        for i in range(9):
            found[names[i]] = view(self, columns[i], (n,), cnp.NPY_FLOAT64)
        return found

    def counts(self):
        """(count, line, column) of each reason that was met, by its word."""
        cdef int i
        cdef dict found = {}
        for i in range(<int>PARITAS_ER_REASON_COUNT):
            if self.c.counts[i].count > 0:
                found[ER_REASONS[i]] = (self.c.counts[i].count, self.c.counts[i].line, self.c.counts[i].column)
        return found

    def source(self):
        """(rows, bytes, digest) of the file."""
        return self.c.rows, self.c.bytes, self.c.digest.decode()

    def mask_sunlight(self, theta, double angle):
        cdef object at = array_of(theta, (PARITAS_SWEEP_CELLS,), "theta")
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_mask_sunlight(context.c, self.c, numbers(at), angle)
        HOST.give(context)
        context.check(status)

    def mask_polarity(self):
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_mask_polarity(context.c, self.c)
        HOST.give(context)
        context.check(status)


cdef class Geometry:
    """A table of geometry."""

    cdef paritas_er_geometry *c

    def __dealloc__(self):
        paritas_er_geometry_free(self.c)

    @staticmethod
    def read(str path):
        cdef Geometry made = Geometry()
        cdef bytes name = path.encode()
        cdef const char *at = name
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        with nogil:
            status = paritas_er_geometry_read(context.c, at, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def has(self, str column):
        return paritas_er_geometry_has(self.c, column.encode()) != 0

    def apply(self, Day day not None):
        """Gives its values to the day; how many sweeps it has."""
        cdef size_t matched = 0
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_geometry_apply(context.c, self.c, day.c, &matched)
        HOST.give(context)
        context.check(status)
        return matched


cdef class Attitude:
    """The spin axis over time; arrays of the table as Day's."""

    cdef paritas_er_attitude *c

    def __dealloc__(self):
        paritas_er_attitude_free(self.c)

    @staticmethod
    def read(str path):
        cdef Attitude made = Attitude()
        cdef bytes name = path.encode()
        cdef const char *at = name
        cdef Context context = HOST.take(None)
        cdef paritas_status status
        with nogil:
            status = paritas_er_attitude_read(context.c, at, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def arrays(self):
        cdef Py_ssize_t n = self.c.n
        return {"time": view(self, self.c.time, (n,), cnp.NPY_FLOAT64), "right_ascension": view(self, self.c.right_ascension, (n,), cnp.NPY_FLOAT64),
                "declination": view(self, self.c.declination, (n,), cnp.NPY_FLOAT64)}

    def at(self, times):
        """(right ascension, declination) at n times, degrees."""
        cdef object when = array_of(times, (-1,), "times")
        cdef Py_ssize_t n = len(when), i
        cdef object ascension = new_array(n), declination = new_array(n)
        for i in range(n):
            paritas_er_attitude_at(self.c, numbers(when)[i], numbers(ascension) + i, numbers(declination) + i)
        return ascension, declination


cdef class Spice:
    """CSPICE with the kernels of a folder. Its state is the process's: one at a time."""

    cdef paritas_er_spice *c

    def __dealloc__(self):
        paritas_er_spice_close(self.c)

    @staticmethod
    def open(str folder, str library=None):
        cdef Spice made = Spice()
        cdef bytes name = folder.encode(), wanted = library.encode() if library is not None else None
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_spice_open(context.c, <const char *>wanted if wanted is not None else NULL, name, &made.c)
        HOST.give(context)
        context.check(status)
        return made

    def apply(self, Attitude attitude not None, Day day not None):
        """Fills the day's geometry; how many sweeps the kernels and the attitude do not cover."""
        cdef size_t uncovered = 0
        cdef Context context = HOST.take(None)
        cdef paritas_status status = paritas_er_spice_apply(context.c, self.c, attitude.c, day.c, &uncovered)
        HOST.give(context)
        context.check(status)
        return uncovered


def er_find(str path, int year=0, int month=0, int day=0):
    """(path, date as YYYYMMDD) of each day file in a folder, or of the one file."""
    cdef bytes name = path.encode()
    cdef const char *at = name
    cdef paritas_er_files *files = NULL
    cdef Context context = HOST.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_er_find(context.c, at, year, month, day, &files)
    HOST.give(context)
    context.check(status)
    try:
        return [(files.path[i].decode(errors="surrogateescape"), files.date[i]) for i in range(files.n)]
    finally:
        paritas_er_files_free(files)


def er_file_date(str path):
    return paritas_er_file_date(path.encode())


def er_theta(path=None):
    cdef bytes name = None if path is None else path.encode()
    cdef object theta = new_array(PARITAS_SWEEP_CELLS)
    cdef Context context = HOST.take(None)
    cdef paritas_status status = paritas_er_theta(context.c, <const char *>name if name is not None else NULL, numbers(theta))
    HOST.give(context)
    context.check(status)
    return theta


def er_solid_angles(theta):
    cdef object at = array_of(theta, (PARITAS_SWEEP_CELLS,), "theta"), found = new_array(PARITAS_SWEEP_CELLS)
    paritas_er_solid_angles(numbers(at), numbers(found))
    return found


def er_utc(double time):
    cdef char utc[PARITAS_ER_UTC_SIZE]
    paritas_er_utc(time, utc)
    return utc.decode()


def er_despun_axes(double right_ascension, double declination, sun):
    cdef object at = array_of(sun, (3,), "sun"), axes = new_matrix(3, 3)
    paritas_er_despun_axes(right_ascension, declination, numbers(at), numbers(axes))
    return axes


def er_footpoint(position, field):
    """(point, polarity, latitude, longitude)"""
    cdef object at = array_of(position, (3,), "position"), along = array_of(field, (3,), "field"), point = new_array(3)
    cdef int polarity
    cdef double latitude, longitude
    paritas_er_footpoint(numbers(at), numbers(along), numbers(point), &polarity, &latitude, &longitude)
    return point, polarity, latitude, longitude
