# Toys: fits, tests, limits, goodness of fit; stores.

cdef struct growing_rows:
    char *bytes
    size_t width, count, room # bytes of a row; rows

cdef char *more(growing_rows *rows, size_t n) noexcept nogil:
    """Room for n rows at the end; NULL: no memory."""
    cdef size_t room = max(2 * rows.room, rows.count + n)
    cdef char *moved
    if rows.count + n > rows.room:
        moved = <char *>realloc(rows.bytes, room * rows.width + 1)
        if moved == NULL:
            return NULL
        rows.bytes, rows.room = moved, room
    rows.count += n
    return rows.bytes + (rows.count - n) * rows.width


cdef class Rows:
    """Rows added bit by bit, in memory that becomes an array."""

    cdef growing_rows c

    def __cinit__(self, size_t width):
        self.c.width = width

    def __dealloc__(self):
        free(self.c.bytes)

    cdef object array(self, object dtype, tuple shape=()):
        """The rows, each of this shape, as an array that takes over their memory."""
        if self.c.count == 0:
            return np.empty((0, *shape), dtype)
        return view(self, self.c.bytes, (self.c.count, *shape), dtype)


cdef int take_toys(void *user, size_t n, const paritas_toy *toys) noexcept nogil:
    cdef char *at = more(<growing_rows *>user, n)
    if at == NULL:
        return 1
    memcpy(at, toys, n * sizeof(paritas_toy))
    return 0


cdef struct toy_fit: # parameters follow
    uint64_t toy
    double statistic
    paritas_fit_result fit

cdef struct growing_fits:
    growing_rows *fits
    growing_rows *parameters
    growing_rows *errors # NULL: not wanted
    size_t p

cdef int take_fits(void *user, size_t n, const paritas_toy_fit *fits) noexcept nogil:
    cdef growing_fits *taken = <growing_fits *>user
    cdef size_t i, p = taken.p
    cdef toy_fit *row = <toy_fit *>more(taken.fits, n)
    cdef double *parameters = <double *>more(taken.parameters, n)
    cdef double *errors = NULL if taken.errors == NULL else <double *>more(taken.errors, n)
    if row == NULL or parameters == NULL or (taken.errors != NULL and errors == NULL):
        return 1
    for i in range(n):
        row[i].toy, row[i].statistic, row[i].fit = fits[i].toy, fits[i].statistic, fits[i].result
        memcpy(parameters + i * p, fits[i].parameters, p * sizeof(double))
        if errors != NULL:
            memcpy(errors + i * p, fits[i].errors, p * sizeof(double))
    return 0


TOYS = PARITAS_TOYS # of each tested value and hypothesis


cdef class ToyOptions:
    """shard: (i, n), or None. entries: (name, value) of the store's key. keep: collects the toys of tests.
    importance: True, or strengths."""

    cdef paritas_toys_options c
    cdef paritas_key_entry *entries
    cdef tuple texts
    cdef Rows kept
    cdef Array strengths

    def __cinit__(self, uint64_t n, uint64_t seed=0, shard=None, bint fix_aux=False, bint newton_only=False,
                  store=None, bint resume=False, entries=(), bint keep=False, importance=False,
                  str algo="saturated"):
        cdef size_t k = 0
        self.c = paritas_toys_options_default
        self.c.n, self.c.seed = n, seed
        self.c.fix_aux, self.c.newton_only, self.c.resume = fix_aux, newton_only, resume
        if shard is not None:
            self.c.shard, self.c.shards = shard
        if keep:
            self.kept = Rows(sizeof(paritas_toy))
            self.c.take, self.c.user = take_toys, &self.kept.c
        self.c.algo = <paritas_gof_algorithm>value_of("paritas_gof_algorithm", algo, "algo")
        self.c.importance = importance is not False
        if self.c.importance and importance is not True:
            self.strengths = vector(importance, len(importance), "importance")
            self.c.n_strengths, self.c.strengths = len(importance), self.strengths.at
        if store is None:
            return
        self.texts = store, tuple(entries)
        self.c.store = PyUnicode_AsUTF8(store)
        k = self.c.n_entries = len(self.texts[1])
        self.c.entries = self.entries = <paritas_key_entry *>calloc(k + 1, sizeof(paritas_key_entry))
        if self.entries == NULL:
            raise MemoryError()
        for k, (name, value) in enumerate(self.texts[1]):
            self.entries[k].name, self.entries[k].value = PyUnicode_AsUTF8(name), PyUnicode_AsUTF8(value)

    def __dealloc__(self):
        free(self.entries)

    cdef object toys(self):
        """Toys fitted by this run: rows of paritas_toy; None if not kept."""
        return None if self.kept is None else self.kept.array(record("paritas_toy").dtype)


def fit_toys(Model model not None, Job job, ToyOptions options not None, params=None, expected=None,
             bint errors=False, bint keep=True, bint save_parameters=False, Engine engine=None,
             progress=None):
    """Toys with fits: `result`, a row of paritas_toys_result; `summary`, a row of paritas_toys_parameter each
    parameter; with `keep` also `fits` (toy, statistic, fit), `values` and `errors` of this call's toys."""
    cdef size_t p = model.parameter_count
    cdef Array at = vector(params, p, "params"), around = vector(expected, model.data_count, "expected")
    cdef Array rows = new_rows("paritas_toys_result", 1), summary = new_rows("paritas_toys_parameter", p)
    cdef Rows fits = Rows(sizeof(toy_fit))
    cdef Rows values = Rows(p * sizeof(double)), widths = Rows(p * sizeof(double))
    cdef growing_fits taken
    cdef paritas_toys_request request = paritas_toys_request_default
    taken.fits, taken.parameters, taken.errors, taken.p = &fits.c, &values.c, NULL, p
    if errors:
        taken.errors = &widths.c
    request.point, request.expected = at.at, around.at
    if errors:
        request.flags |= PARITAS_TOYS_ERRORS
    if save_parameters:
        request.flags |= PARITAS_TOYS_KEEP_PARAMETERS
    request.parameters = summary.rows
    if keep:
        request.take, request.user = take_fits, &taken
    paritas_toys(model.c, job_of(job), &request, &options.c, rows.rows, engine, progress)
    found = SimpleNamespace(result=rows.array[0], summary=summary.array)
    found.fits = found.values = found.errors = None
    if keep:
        kind, real = record("paritas_fit_result").dtype, np.dtype(np.float64)
        found.fits = fits.array(np.dtype([("toy", np.uint64), ("statistic", real), ("fit", kind)]))
        found.values = values.array(real, (p,))
        found.errors = widths.array(real, (p,)) if errors else None
    return found


cdef class ToyData:
    """Data rows of a model, and how they were made."""

    cdef paritas_toy_data *c
    cdef readonly Model model

    def __dealloc__(self):
        paritas_toy_data_free(self.c)

    @staticmethod
    def read(Model model not None, str path):
        """From a file of data."""
        cdef ToyData made = ToyData()
        made.model = model
        paritas_toy_data_read(model.c, PyUnicode_AsUTF8(path), &made.c)
        return made

    @staticmethod
    def generate(Model model not None, Job job, ToyOptions options not None, params=None, expected=None,
                 bint only_expected=False, Engine engine=None):
        """Toys without fits."""
        cdef Array at = vector(params, model.parameter_count, "params")
        cdef Array around = vector(expected, model.data_count, "expected")
        cdef paritas_toys_request request = paritas_toys_request_default
        cdef ToyData made = ToyData()
        made.model = model
        request.point, request.expected = at.at, around.at
        if only_expected:
            request.flags = PARITAS_TOYS_EXPECTED
        paritas_generate(model.c, job_of(job), &request, &options.c, &made.c, engine)
        return made

    def bytes(self, bint archive, bint any_model=False):
        """A file: JSON, or an archive of arrays. any_model: without the digest of the model."""
        cdef char *text = NULL
        cdef size_t length = 0
        cdef Context call = begin(None, None)
        cdef paritas_toy_data data = self.c[0]
        if any_model:
            data.model = NULL
        if archive:
            call.status = in_c_paritas_toy_data_pack(call.c, self.model.c, &data, &text, &length)
        else:
            call.status = in_c_paritas_toy_data_write(call.c, self.model.c, &data, &text, &length)
        call.end()
        written = text[:length]
        paritas_text_free(call.c, text)
        return written

    def rows(self):
        """(toys, main + auxiliary)."""
        return view(self, <char *>self.c.rows, (self.c.n, self.model.data_count), np.dtype(np.float64))

    def point(self):
        """Where they were drawn; None: unknown."""
        if self.c.point == NULL:
            return None
        return view(self, <char *>self.c.point, (self.model.parameter_count,), np.dtype(np.float64))

    def facts(self):
        return {"first": self.c.first, "seed": self.c.seed, "fix_aux": bool(self.c.fix_aux),
                "expected": bool(self.c.expected),
                "model": None if self.c.model == NULL else self.c.model.decode(),
                "status": list(enumeration("paritas_fit_status"))[self.c.status]}


def hypotest_toys(Model model not None, Job job, statistic, double mu, ToyOptions options not None,
                  Engine engine=None, progress=None):
    """`result`, a row of paritas_hypotest_toys_result, and this call's `toys`."""
    cdef Array rows = new_rows("paritas_hypotest_toys_result", 1)
    paritas_hypotest_toys(model.c, job_of(job), statistic_of(statistic), mu, &options.c, rows.rows, engine,
                          progress)
    return SimpleNamespace(result=rows.array[0], toys=options.toys())


def significance_toys(Model model not None, Job job, ToyOptions options not None, Engine engine=None,
                      progress=None):
    """`result`, a row of paritas_significance_toys_result, and the `test` behind it as from hypotest_toys."""
    cdef Array rows = new_rows("paritas_significance_toys_result", 1)
    cdef Array tests = new_rows("paritas_hypotest_toys_result", 1)
    paritas_significance_toys(model.c, job_of(job), &options.c, rows.rows, tests.rows, engine, progress)
    return SimpleNamespace(result=rows.array[0], test=tests.array[0], toys=options.toys())


def limit_toys(Model model not None, Job job, statistic, double level, double rtol,
               ToyOptions options not None, Engine engine=None, progress=None):
    """`result`, a row of paritas_limit_toys_result; `scan`, the tested values; this call's `toys`."""
    cdef Array rows = new_rows("paritas_limit_toys_result", 1)
    cdef Array scan = new_rows("paritas_hypotest_toys_result", PARITAS_SCAN_MOST)
    cdef paritas_limit_toys_request request = paritas_limit_toys_request_default
    request.statistic, request.level, request.rtol = statistic_of(statistic), level, rtol
    request.scan_room, request.scan = PARITAS_SCAN_MOST, scan.rows
    paritas_limit_toys(model.c, job_of(job), &request, &options.c, rows.rows, engine, progress)
    found = scan.array[:rows.array[0]["n_scan"]]
    return SimpleNamespace(result=rows.array[0], scan=found, toys=options.toys())


def interval_toys(Model model not None, Job job, double level, double rtol, ToyOptions options not None,
                  Engine engine=None, progress=None):
    """`result`, a row of paritas_interval_toys_result; `scan`, the tested values; this call's `toys`."""
    cdef Array rows = new_rows("paritas_interval_toys_result", 1)
    cdef Array scan = new_rows("paritas_hypotest_toys_result", PARITAS_SCAN_MOST)
    cdef paritas_interval_toys_request request = paritas_interval_toys_request_default
    request.level, request.rtol = level, rtol
    request.scan_room, request.scan = PARITAS_SCAN_MOST, scan.rows
    paritas_interval_toys(model.c, job_of(job), &request, &options.c, rows.rows, engine, progress)
    found = scan.array[:rows.array[0]["n_scan"]]
    return SimpleNamespace(result=rows.array[0], scan=found, toys=options.toys())


def look_elsewhere(Model background, list models, list jobs, Job background_job, double upcrossed,
                   ToyOptions options not None, Engine engine=None, progress=None):
    """`result`, a row of paritas_look_elsewhere_result, and `points`, a row of paritas_look_elsewhere_point
    a model. jobs: one a model, or None. background None: it has no parameters."""
    cdef Py_ssize_t n = len(models), i
    cdef Array rows = new_rows("paritas_look_elsewhere_result", 1)
    cdef Array points = new_rows("paritas_look_elsewhere_point", n)
    cdef paritas_look_elsewhere_request request = paritas_look_elsewhere_request_default
    cdef const paritas_model **listed = <const paritas_model **>calloc(n + 1, sizeof(void *))
    cdef paritas_job *given = <paritas_job *>calloc(n + 1, sizeof(paritas_job))
    cdef Model model
    cdef Job job
    try:
        if listed == NULL or given == NULL:
            raise MemoryError()
        for i in range(n):
            model, job = models[i], jobs[i]
            listed[i] = model.c
            given[i] = paritas_job_default if job is None else job.one
        request.n_points, request.models, request.jobs = n, listed, given
        request.background = NULL if background is None else background.c
        request.background_job = job_of(background_job)
        request.upcrossed, request.points = upcrossed, points.rows
        paritas_look_elsewhere(&request, &options.c, rows.rows, engine, progress)
    finally:
        free(listed)
        free(given)
    return SimpleNamespace(result=rows.array[0], points=points.array)


def goodness_of_fit_toys(Model model not None, Job job, ToyOptions options not None, Engine engine=None,
                         progress=None):
    """`result`, a row of paritas_gof_toys_result, and `gof` of the data, a row of paritas_gof_result."""
    cdef Array rows = new_rows("paritas_gof_toys_result", 1), of_data = new_rows("paritas_gof_result", 1)
    paritas_gof_toys(model.c, job_of(job), &options.c, rows.rows, of_data.rows, engine, progress)
    return SimpleNamespace(result=rows.array[0], gof=of_data.array[0])


def compatibility_toys(Model model not None, Job job, Model separate not None, ToyOptions options not None,
                       Engine engine=None, progress=None):
    """`result`, a row of paritas_gof_toys_result; `observed` and `groups` as in `compatibility`."""
    cdef Array rows = new_rows("paritas_gof_toys_result", 1)
    cdef Array observed = new_rows("paritas_compatibility_result", 1)
    cdef Array groups = new_rows("paritas_compatibility_group", len(separate.poi_indices))
    paritas_compatibility_toys(model.c, job_of(job), separate.c, &options.c, rows.rows, observed.rows,
                               groups.rows, engine, progress)
    return SimpleNamespace(result=rows.array[0], observed=observed.array[0],
                           groups=groups.array)


def merge_stores(list paths, str output):
    """Pools the shards of one run into a new store."""
    cdef Names names = Names(paths)
    paritas_store_merge(names.c.count, names.c.items, PyUnicode_AsUTF8(output))


def check_stores_whole(list paths):
    """Raises InvalidInput if the stores lack toys of their run."""
    cdef Names names = Names(paths)
    paritas_store_check_whole(names.c.count, names.c.items)


def hypotest_of_store(str path):
    """A row of paritas_hypotest_toys_result from a store."""
    cdef Array rows = new_rows("paritas_hypotest_toys_result", 1)
    paritas_store_hypotest(PyUnicode_AsUTF8(path), rows.rows)
    return rows.array[0]
