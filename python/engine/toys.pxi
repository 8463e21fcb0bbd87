# Toys: fits, tests, limits, goodness of fit; stores.

cdef struct taken_rows:
    char *bytes
    size_t width, count, room # bytes of a row; rows

cdef char *more(taken_rows *rows, size_t n) noexcept nogil:
    """Room for n rows at the end; NULL: memory ran out."""
    cdef size_t room
    cdef char *moved
    if rows.count + n > rows.room:
        room = max(2 * rows.room, rows.count + n)
        moved = <char *>realloc(rows.bytes, room * rows.width + 1)
        if moved == NULL:
            return NULL
        rows.bytes, rows.room = moved, room
    rows.count += n
    return rows.bytes + (rows.count - n) * rows.width


cdef class Rows:
    """Rows of toys as they come, in memory that becomes an array."""

    cdef taken_rows c

    def __cinit__(self, size_t width):
        self.c.width = width

    def __dealloc__(self):
        free(self.c.bytes)

    cdef object array(self, object dtype):
        """The rows as an array that keeps them; this object takes no more then."""
        cdef cnp.npy_intp size = self.c.count * self.c.width
        if size == 0:
            return np.empty(0, dtype)
        raw = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_UINT8, self.c.bytes)
        cnp.set_array_base(raw, self)
        return raw.view(dtype)


#: a toy of a test as paritas_toy has it
TOY = np.dtype([("toy", np.uint64), ("mu", np.float64), ("hypothesis", np.float64), ("q", np.float64), ("mu_hat", np.float64), ("twice_nll_free", np.float64),
                ("twice_nll_fixed", np.float64), ("status", np.int32), ("iterations", np.uint32)])

cdef struct fit_row:
    uint64_t toy
    double twice_nll, edm, statistic
    int status
    unsigned iterations

#: a toy's free fit, without its parameters
TOY_FIT = np.dtype([("toy", np.uint64), ("twice_nll", np.float64), ("edm", np.float64), ("statistic", np.float64), ("status", np.int32),
                    ("iterations", np.uint32)])

assert TOY.itemsize == sizeof(paritas_toy) and TOY_FIT.itemsize == sizeof(fit_row)


cdef int take_toys(void *user, size_t n, const paritas_toy *toys) noexcept nogil:
    cdef char *at = more(<taken_rows *>user, n)
    if at == NULL:
        return 1
    memcpy(at, toys, n * sizeof(paritas_toy))
    return 0


cdef struct taken_fits:
    taken_rows *rows
    taken_rows *parameters
    taken_rows *errors # NULL where they were not asked for
    size_t p

cdef int take_fits(void *user, size_t n, const paritas_toy_fit *fits) noexcept nogil:
    cdef taken_fits *taken = <taken_fits *>user
    cdef fit_row *row = <fit_row *>more(taken.rows, n)
    cdef double *parameters = <double *>more(taken.parameters, n)
    cdef double *errors = NULL
    cdef size_t i, p = taken.p
    if taken.errors != NULL:
        errors = <double *>more(taken.errors, n)
    if row == NULL or parameters == NULL or (taken.errors != NULL and errors == NULL):
        return 1
    for i in range(n):
        row[i].toy = fits[i].toy
        row[i].twice_nll = fits[i].result.twice_nll
        row[i].edm = fits[i].result.edm
        row[i].statistic = fits[i].statistic
        row[i].status = fits[i].result.status
        row[i].iterations = fits[i].result.iterations
        memcpy(parameters + i * p, fits[i].parameters, p * sizeof(double))
        if errors != NULL:
            memcpy(errors + i * p, fits[i].errors, p * sizeof(double))
    return 0


cdef class ToyOptions:
    """paritas_toys_options with what its pointers point to. `entries`: of the store's key, (name, value)."""

    cdef paritas_toys_options c
    cdef bytes store
    cdef list texts
    cdef paritas_key_entry *entries

    def __dealloc__(self):
        free(self.entries)

    @staticmethod
    cdef ToyOptions make(uint64_t n, uint64_t seed, shard, bint fix_aux, bint newton_only, store, bint resume, entries):
        cdef ToyOptions options = ToyOptions()
        cdef size_t k = 0
        memset(&options.c, 0, sizeof(options.c))
        options.c.size = sizeof(options.c)
        options.c.n, options.c.seed = n, seed
        options.c.fix_aux, options.c.newton_only, options.c.resume = fix_aux, newton_only, resume
        if shard is not None:
            options.c.shard, options.c.shards = shard
        if store is None:
            return options
        options.store = store.encode()
        options.c.store = options.store
        options.texts = [(name.encode(), value.encode()) for name, value in entries]
        options.entries = <paritas_key_entry *>calloc(len(options.texts) + 1, sizeof(paritas_key_entry))
        if options.entries == NULL:
            raise MemoryError()
        for name, value in options.texts:
            options.entries[k].name, options.entries[k].value = <bytes>name, <bytes>value
            k += 1
        options.c.n_entries, options.c.entries = k, options.entries
        return options


cdef tuple tally_of(const paritas_toys_tally *t):
    return ({FIT_STATUSES[k]: t.counts[k] for k in range(5)}, t.fitted, t.iterations,
            {"quasi_newton": t.by_quasi_newton, "newton": t.by_newton, "suggested_start": t.from_suggested_start, "from_the_other_fit": t.from_the_other_fit,
             "from_further_starts": t.from_further_starts, "at_edge": t.at_edge, "refitted": t.refitted})

cdef tuple toy_test_of(const paritas_hypotest_toys_result *r):
    return (r.mu, r.cls_obs, r.cls_obs_error, five(r.cls_exp), five(r.cls_exp_error), r.clsb, r.clsb_error, r.clb, r.clb_error, r.p0, r.p0_error, r.q, r.mu_hat,
            r.twice_nll_free, r.twice_nll_fixed, <int>r.status, r.n_tested, r.n_other, tally_of(&r.tally))


def fit_toys(Model model not None, uint64_t n, uint64_t seed, params=None, expected=None, bint errors=False, bint keep=True, bint save_parameters=False,
             shard=None, bint fix_aux=False, bint newton_only=False, store=None, bint resume=False, entries=(), data=None, start=None, lower=None, upper=None,
             fixed=None, Engine engine=None, progress=None):
    """Toys, each with its best fit: (status, tally, summary of parameters, rows of TOY_FIT, parameters,
    errors); the last three None unless `keep`, errors unless asked for. Of a run that is resumed the rows are
    those that this call fitted."""
    cdef Engine e = engine or HOST
    cdef Py_ssize_t p = model.parameter_count, i
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef ToyOptions options = ToyOptions.make(n, seed, shard, fix_aux, newton_only, store, resume, entries)
    cdef object at = None if params is None else vector(params, p, "params"), around = None
    if expected is not None:
        around = vector(expected, model.data_count, "expected")
    cdef const double *at_numbers = NULL if at is None else numbers(at)
    cdef const double *around_numbers = NULL if around is None else numbers(around)
    cdef unsigned flags = (PARITAS_TOYS_ERRORS if errors else 0) | (PARITAS_TOYS_KEEP_PARAMETERS if save_parameters else 0)
    cdef paritas_toys_parameter *moments = <paritas_toys_parameter *>calloc(p + 1, sizeof(paritas_toys_parameter))
    cdef Rows rows = Rows(sizeof(fit_row)), parameter_rows = Rows(p * sizeof(double)), error_rows = Rows(p * sizeof(double))
    cdef taken_fits taken
    cdef paritas_toy_fits_taker take = NULL
    cdef paritas_toys_result result
    cdef Context context
    cdef paritas_status status
    if moments == NULL:
        raise MemoryError()
    taken.rows, taken.parameters, taken.errors, taken.p = &rows.c, &parameter_rows.c, &error_rows.c if errors else NULL, p
    if keep:
        take = take_fits
    try:
        context = e.take(progress)
        with nogil:
            status = paritas_toys(context.c, model.c, &job.c, at_numbers, around_numbers, flags, &options.c, take, &taken, moments, &result)
        e.give(context)
        context.check(status)
        summary = [(moments[i].generated, moments[i].n, moments[i].mean, moments[i].rms, moments[i].n_pulls, moments[i].pull_mean,
                    moments[i].pull_rms) for i in range(p)]
    finally:
        free(moments)
    if not keep:
        return <int>result.status, tally_of(&result.tally), summary, None, None, None
    found = rows.array(TOY_FIT)
    return (<int>result.status, tally_of(&result.tally), summary, found, parameter_rows.array(np.float64).reshape(len(found), p),
            error_rows.array(np.float64).reshape(len(found), p) if errors else None)


def hypotest_toys(Model model not None, double mu, str statistic, uint64_t n, uint64_t seed, bint keep=True, shard=None, bint fix_aux=False,
                  bint newton_only=False, store=None, bint resume=False, entries=(), data=None, start=None, lower=None, upper=None, fixed=None,
                  Engine engine=None, progress=None):
    """A test by toys: (toy_test_of's tuple, rows of TOY that this call fitted or None)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef ToyOptions options = ToyOptions.make(n, seed, shard, fix_aux, newton_only, store, resume, entries)
    cdef paritas_test_statistic kind = statistic_of(statistic)
    cdef Rows rows = Rows(sizeof(paritas_toy))
    cdef paritas_hypotest_toys_result result
    cdef Context context
    cdef paritas_status status
    if keep:
        options.c.take, options.c.user = take_toys, &rows.c
    context = e.take(progress)
    with nogil:
        status = paritas_hypotest_toys(context.c, model.c, &job.c, kind, mu, &options.c, &result)
    e.give(context)
    context.check(status)
    return toy_test_of(&result), rows.array(TOY) if keep else None


def significance_toys(Model model not None, uint64_t n, uint64_t seed, bint keep=True, shard=None, bint fix_aux=False, bint newton_only=False, store=None,
                      bint resume=False, entries=(), data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """((p0, p0_error, z, z_error, z_at_least, p0_exp, p0_exp_error, z_exp, z_exp_error, z_exp_at_least),
    toy_test_of's tuple, rows of TOY or None)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef ToyOptions options = ToyOptions.make(n, seed, shard, fix_aux, newton_only, store, resume, entries)
    cdef Rows rows = Rows(sizeof(paritas_toy))
    cdef paritas_significance_toys_result r
    cdef Context context
    cdef paritas_status status
    if keep:
        options.c.take, options.c.user = take_toys, &rows.c
    context = e.take(progress)
    with nogil:
        status = paritas_significance_toys(context.c, model.c, &job.c, &options.c, &r)
    e.give(context)
    context.check(status)
    return ((r.p0, r.p0_error, r.z, r.z_error, r.z_at_least, r.p0_exp, r.p0_exp_error, r.z_exp, r.z_exp_error, r.z_exp_at_least), toy_test_of(&r.test),
            rows.array(TOY) if keep else None)


def limit_toys(Model model not None, double level, double rtol, str statistic, uint64_t n, uint64_t seed, bint keep=False, bint fix_aux=False,
               bint newton_only=False, store=None, bint resume=False, entries=(), data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None,
               progress=None):
    """(limit_obs, error, reached, limit_exp, errors, reached, asymptotic_obs, asymptotic_exp, mu_hat,
    twice_nll_free, upper_bound, bound_widened, status, tally, list of toy_test_of's, rows of TOY or None). n:
    0 for PARITAS_LIMIT_TOYS."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef ToyOptions options = ToyOptions.make(n or PARITAS_LIMIT_TOYS, seed, None, fix_aux, newton_only, store, resume, entries)
    cdef paritas_test_statistic kind = statistic_of(statistic)
    cdef Rows rows = Rows(sizeof(paritas_toy))
    cdef paritas_limit_toys_result *r = <paritas_limit_toys_result *>calloc(1, sizeof(paritas_limit_toys_result))
    cdef Context context
    cdef paritas_status status
    cdef size_t i
    if r == NULL:
        raise MemoryError()
    try:
        if keep:
            options.c.take, options.c.user = take_toys, &rows.c
        context = e.take(progress)
        with nogil:
            status = paritas_limit_toys(context.c, model.c, &job.c, kind, level, rtol, &options.c, r)
        e.give(context)
        context.check(status)
        return (r.limit_obs, r.limit_obs_error, bool(r.reached_obs), five(r.limit_exp), five(r.limit_exp_error),
                np.array([r.reached_exp[i] != 0 for i in range(5)]), r.asymptotic_obs, five(r.asymptotic_exp), r.mu_hat, r.twice_nll_free, r.upper_bound,
                bool(r.bound_widened), <int>r.status, tally_of(&r.tally), [toy_test_of(&r.scan[i]) for i in range(r.n_scan)], rows.array(TOY) if keep else None)
    finally:
        free(r)


def goodness_of_fit_toys(Model model not None, uint64_t n, uint64_t seed, shard=None, bint fix_aux=False, bint newton_only=False, store=None, bint resume=False,
                         entries=(), data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """((twice_nll, saturated, statistic, p, ndof, status), p_toys, p_toys_error, n, tally)"""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef ToyOptions options = ToyOptions.make(n, seed, shard, fix_aux, newton_only, store, resume, entries)
    cdef paritas_gof_toys_result r
    cdef Context context = e.take(progress)
    cdef paritas_status status
    with nogil:
        status = paritas_gof_toys(context.c, model.c, &job.c, &options.c, &r)
    e.give(context)
    context.check(status)
    return (r.gof.twice_nll, r.gof.saturated, r.gof.statistic, r.gof.p, r.gof.ndof, <int>r.gof.status), r.p_toys, r.p_toys_error, r.n, tally_of(&r.tally)


def merge_stores(list paths, str output):
    """Pools stores, shards of one run, into a new one."""
    cdef list encoded = [path.encode() for path in paths]
    cdef bytes target = output.encode()
    cdef const char *at = target
    cdef size_t n = len(encoded), i
    cdef const char **names = <const char **>calloc(n + 1, sizeof(char *))
    cdef Context context
    cdef paritas_status status
    if names == NULL:
        raise MemoryError()
    try:
        for i in range(n):
            names[i] = <bytes>encoded[i]
        context = HOST.take(None)
        with nogil:
            status = paritas_store_merge(context.c, n, names, at)
        HOST.give(context)
        context.check(status)
    finally:
        free(names)


def hypotest_of_store(str path):
    """The answer of hypotest_toys from the rows of a store."""
    cdef bytes name = path.encode()
    cdef const char *at = name
    cdef paritas_hypotest_toys_result result
    cdef Context context = HOST.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_store_hypotest(context.c, at, &result)
    HOST.give(context)
    context.check(status)
    return toy_test_of(&result)
