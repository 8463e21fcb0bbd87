# Fits, MINOS.

cdef class Job:
    """What a fit is given, as arrays of the right shape that stay alive during the call; what is None is the
    model's own."""

    cdef object data, start, lower, upper, fixed
    cdef paritas_job c

    @staticmethod
    cdef Job make(Model model, data, start, lower, upper, fixed):
        cdef Job job = Job()
        memset(&job.c, 0, sizeof(job.c))
        if data is not None:
            job.data = vector(data, model.data_count, "data")
            job.c.data = numbers(job.data)
        if start is not None:
            job.start = vector(start, model.parameter_count, "init")
            job.c.start = numbers(job.start)
        if lower is not None:
            job.lower = vector(lower, model.parameter_count, "lower bounds")
            job.c.lower = numbers(job.lower)
        if upper is not None:
            job.upper = vector(upper, model.parameter_count, "upper bounds")
            job.c.upper = numbers(job.upper)
        if fixed is not None:
            job.fixed = flags(fixed, model.parameter_count, "fixed")
            job.c.fixed = <const unsigned char *>cnp.PyArray_DATA(<cnp.ndarray>job.fixed)
        return job


cdef int fill_fit_options(paritas_fit_options *options, str minimizer, unsigned max_iterations, unsigned population, uint64_t seed) except -1:
    memset(options, 0, sizeof(options[0]))
    options.size = sizeof(options[0])
    options.max_iterations = max_iterations
    options.population = population
    options.seed = seed
    if minimizer != "newton":
        if minimizer not in PARITAS_MINIMIZER_COUNT:
            raise InvalidArgument(f"minimizer {minimizer!r}: there are {', '.join(PARITAS_MINIMIZER_COUNT)}")
        options.minimizer = <paritas_minimizer><int>PARITAS_MINIMIZER_COUNT.index(minimizer)
    return 0


def fit(Model model not None, data=None, start=None, lower=None, upper=None, fixed=None, bint covariance=True, str minimizer="newton",
        unsigned max_iterations=0, unsigned population=0, uint64_t seed=0, Engine engine=None, progress=None):
    """One fit: (status, iterations, twice_nll, edm, projected_gradient, parameters, errors, covariance,
    states); the last three None unless `covariance`."""
    cdef Engine e = engine or HOST
    cdef Py_ssize_t p = model.parameter_count
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef paritas_fit_options options
    cdef paritas_fit_result result
    cdef object values = new_array(p), errors = None, matrix = None, states = None
    cdef double *value_numbers = numbers(values)
    cdef double *error_numbers = NULL
    cdef double *covariance_numbers = NULL
    cdef paritas_parameter_state *state_numbers = NULL
    cdef cnp.npy_intp size = p
    cdef Context context
    cdef paritas_status status
    fill_fit_options(&options, minimizer, max_iterations, population, seed)
    if covariance:
        errors = new_array(p)
        matrix = new_matrix(p, p)
        states = cnp.PyArray_EMPTY(1, &size, cnp.NPY_INT32, 0)
        error_numbers = numbers(errors)
        covariance_numbers = numbers(matrix)
        state_numbers = <paritas_parameter_state *>cnp.PyArray_DATA(<cnp.ndarray>states)
    context = e.take(progress)
    with nogil:
        status = paritas_fit(context.c, model.c, &options, 1, &job.c, &result, value_numbers, error_numbers, covariance_numbers, state_numbers)
    e.give(context)
    context.check(status)
    return result.status, result.iterations, result.twice_nll, result.edm, result.projected_gradient, values, errors, matrix, states


cdef inline const double *row_or_null(object rows, Py_ssize_t i, Py_ssize_t n) except? NULL:
    """Row i of a matrix, of one with a single row that one."""
    if rows is None:
        return NULL
    return numbers(rows) + (i if cnp.PyArray_DIM(<cnp.ndarray>rows, 0) > 1 else 0) * n


def fit_batch(Model model not None, Py_ssize_t n, data=None, start=None, lower=None, upper=None, fixed=None, bint errors=False, bint covariance=False,
              str minimizer="newton", unsigned max_iterations=0, unsigned population=0, uint64_t seed=0, Engine engine=None, progress=None):
    """n fits, row i of each matrix given belonging to fit i (one row serves all). (status, iterations,
    twice_nll, edm, projected_gradient, parameters, errors, covariance)"""
    cdef Engine e = engine or HOST
    cdef Py_ssize_t p = model.parameter_count, i
    cdef object data_rows = None if data is None else matrix(data, model.data_count, "data")
    cdef object start_rows = None if start is None else matrix(start, p, "init")
    cdef object lower_rows = None if lower is None else matrix(lower, p, "lower bounds")
    cdef object upper_rows = None if upper is None else matrix(upper, p, "upper bounds")
    cdef object fixed_rows = None if fixed is None else np.atleast_2d(np.ascontiguousarray(fixed, dtype=np.uint8))
    cdef paritas_fit_options options
    cdef paritas_job *jobs
    cdef paritas_fit_result *results
    cdef object values = new_matrix(n, p), error_rows = new_matrix(n, p) if errors else None, matrices = np.empty((n, p, p)) if covariance else None
    cdef double *value_numbers = numbers(values)
    cdef double *error_numbers = numbers(error_rows) if errors else NULL
    cdef double *covariance_numbers = numbers(matrices) if covariance else NULL
    cdef Context context
    cdef paritas_status status
    cdef object codes, iterations, twice_nll, edm, pull
    for rows, what in ((data_rows, "data"), (start_rows, "init"), (lower_rows, "lower bounds"), (upper_rows, "upper bounds"), (fixed_rows, "fixed")):
        if rows is not None and len(rows) not in (1, n):
            raise InvalidArgument(f"{what}: {n} rows or one are wanted, {len(rows)} are given")
    if fixed_rows is not None and fixed_rows.shape[1:] != (p,):
        raise InvalidArgument(f"fixed: rows of {p} flags are wanted, the array given has shape {np.shape(fixed)}")
    fill_fit_options(&options, minimizer, max_iterations, population, seed)
    jobs = <paritas_job *>calloc(n + 1, sizeof(paritas_job))
    results = <paritas_fit_result *>calloc(n + 1, sizeof(paritas_fit_result))
    try:
        if jobs == NULL or results == NULL:
            raise MemoryError()
        for i in range(n):
            jobs[i].data = row_or_null(data_rows, i, model.data_count)
            jobs[i].start = row_or_null(start_rows, i, p)
            jobs[i].lower = row_or_null(lower_rows, i, p)
            jobs[i].upper = row_or_null(upper_rows, i, p)
            if fixed_rows is not None:
                jobs[i].fixed = <const unsigned char *>cnp.PyArray_DATA(<cnp.ndarray>fixed_rows) + (i * p if len(fixed_rows) > 1 else 0)
        context = e.take(progress)
        with nogil:
            status = paritas_fit(context.c, model.c, &options, n, jobs, results, value_numbers, error_numbers, covariance_numbers, NULL)
        e.give(context)
        context.check(status)
        codes, iterations = np.empty(n, np.int32), np.empty(n, np.int64)
        twice_nll, edm, pull = np.empty(n), np.empty(n), np.empty(n)
        for i in range(n):
            (<int *>cnp.PyArray_DATA(<cnp.ndarray>codes))[i] = results[i].status
            (<long long *>cnp.PyArray_DATA(<cnp.ndarray>iterations))[i] = results[i].iterations
            numbers(twice_nll)[i] = results[i].twice_nll
            numbers(edm)[i] = results[i].edm
            numbers(pull)[i] = results[i].projected_gradient
    finally:
        free(jobs)
        free(results)
    return codes, iterations, twice_nll, edm, pull, values, error_rows, matrices


def minos(Model model not None, best, double best_twice_nll, double error, Py_ssize_t parameter, data=None, start=None, lower=None, upper=None, fixed=None,
          Engine engine=None, progress=None):
    """(down, up) of one parameter around a converged fit; NaN where a bound comes first."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef object at = vector(best, model.parameter_count, "best")
    cdef const double *best_numbers = numbers(at)
    cdef double down, up
    cdef Context context = e.take(progress)
    cdef paritas_status status
    with nogil:
        status = paritas_minos(context.c, model.c, &job.c, best_numbers, best_twice_nll, error, parameter, &down, &up)
    e.give(context)
    context.check(status)
    return down, up
