# Jobs, fits, MINOS.

cdef object of_fits(object given, Py_ssize_t n, str what, object rows):
    """n numbers of one fit, or for `rows` fits: a row each, or one for all."""
    if rows is None or given is None:
        return vector(given, n, what).array
    cdef Array array = matrix(given, n, what)
    if array.n not in (1, rows):
        raise InvalidArgument(f"{what}: {rows} rows or one are wanted, {array.n} are given")
    return array.array

cdef inline const double *row_of(object array, Py_ssize_t i, Py_ssize_t n):
    """Start of fit i's numbers; NULL for None."""
    if array is None:
        return NULL
    cdef cnp.ndarray of = array
    return <double *>address(array) + (i * n if of.ndim == 2 and of.shape[0] > 1 else 0)


cdef class Job:
    """What a fit is given; None: the model's own. With `rows`: arrays have a row a fit, or one for all."""

    cdef readonly object data, start, lower, upper, fixed, rows, pois, kept
    cdef readonly unsigned starts
    cdef paritas_job one
    cdef paritas_job *c # n jobs
    cdef Py_ssize_t n

    def __cinit__(self, Model model not None, data=None, start=None, lower=None, upper=None, fixed=None,
                  rows=None, unsigned starts=0, unsigned max_iterations=0, pois=None, kept=None):
        cdef Py_ssize_t p = model.parameter_count, i
        cdef const unsigned char *first
        cdef bint several
        self.rows, self.n, self.starts = rows, 1 if rows is None else rows, starts
        self.data = of_fits(data, model.data_count, "data", rows)
        self.start = of_fits(start, p, "init", rows)
        self.lower = of_fits(lower, p, "lower bounds", rows)
        self.upper = of_fits(upper, p, "upper bounds", rows)
        if fixed is not None:
            self.fixed = flags_of_fits(fixed, p, rows)
        self.c = &self.one
        if self.n != 1:
            self.c = <paritas_job *>calloc(self.n + 1, sizeof(paritas_job))
            if self.c == NULL:
                raise MemoryError()
        if kept is not None:
            self.kept = flags(kept, p, "kept").array
        if pois is not None:
            self.pois = np.array(pois, dtype=np.uintp)
        first = <const unsigned char *>address(self.fixed)
        several = self.fixed is not None and self.fixed.size > p
        for i in range(self.n):
            self.c[i] = paritas_job_default
            self.c[i].starts, self.c[i].max_iterations = starts, max_iterations
            self.c[i].data = row_of(self.data, i, model.data_count)
            self.c[i].start = row_of(self.start, i, p)
            self.c[i].lower, self.c[i].upper = row_of(self.lower, i, p), row_of(self.upper, i, p)
            self.c[i].kept = <const unsigned char *>address(self.kept)
            if self.pois is not None:
                self.c[i].n_pois, self.c[i].pois = len(self.pois), <const size_t *>address(self.pois)
            if first != NULL:
                self.c[i].fixed = first + (i * p if several else 0)

    def __dealloc__(self):
        if self.c != &self.one:
            free(self.c)


cdef object flags_of_fits(object given, Py_ssize_t p, object rows):
    """Flags of parameters, as `of_fits`."""
    if rows is None:
        return flags(given, p, "fixed").array
    cdef object array = np.atleast_2d(np.ascontiguousarray(unmasked(given), dtype=np.uint8))
    if array.shape not in ((1, p), (rows, p)):
        raise unfit("fixed", f"{rows} rows or one of {p} flags are", given)
    return array

cdef inline const paritas_job *job_of(Job job) noexcept nogil:
    return NULL if job is None else job.c


cdef class FitOptions:
    """None: the default."""

    cdef paritas_fit_options c

    def __cinit__(self, str minimizer="newton", unsigned max_iterations=0, unsigned population=0,
                  uint64_t seed=0):
        self.c = paritas_fit_options_default
        self.c.minimizer = <paritas_minimizer>value_of("paritas_minimizer", minimizer, "minimizer")
        self.c.max_iterations, self.c.population, self.c.seed = max_iterations, population, seed


cdef class FitAnswers:
    """`results`, rows of paritas_fit_result; `parameters`, and if asked for `errors`, `covariance`, `states`,
    a row a fit. Arrays of one fit have no leading dimension. starts: of paritas_fit_starts; None: one."""

    cdef readonly object results, parameters, errors, covariance, states, starts
    cdef paritas_fit_answers c


def fit(Model model not None, Job job=None, FitOptions options=None, bint errors=False, bint covariance=False,
        bint states=False, Engine engine=None, progress=None):
    """FitAnswers of a job."""
    cdef FitAnswers answers = FitAnswers.__new__(FitAnswers)
    cdef cnp.npy_intp n = 1 if job is None else job.n
    cdef cnp.npy_intp *shape = [n, model.parameter_count, model.parameter_count]
    cdef cnp.npy_intp *lengths = shape + 1 if job is None or job.rows is None else shape # of the arrays
    cdef int rank = 1 if lengths != shape else 2
    cdef paritas_job own = paritas_job_default
    cdef const paritas_job *jobs = &own if job is None else job.c
    answers.c = paritas_fit_answers_default
    answers.results = new_rows("paritas_fit_result", n).array
    answers.c.results = address(answers.results)
    answers.parameters = cnp.PyArray_EMPTY(rank, lengths, cnp.NPY_FLOAT64, 0)
    answers.c.parameters = <double *>address(answers.parameters)
    if errors:
        answers.errors = cnp.PyArray_EMPTY(rank, lengths, cnp.NPY_FLOAT64, 0)
        answers.c.errors = <double *>address(answers.errors)
    if covariance:
        answers.covariance = cnp.PyArray_EMPTY(rank + 1, lengths, cnp.NPY_FLOAT64, 0)
        answers.c.covariance = <double *>address(answers.covariance)
    if states:
        answers.states = cnp.PyArray_EMPTY(rank, lengths, cnp.NPY_INT32, 0)
        answers.c.states = <paritas_parameter_state *>address(answers.states)
    cdef bint lowest = job is not None and job.starts == 0 and job.rows is None
    if job is not None and job.starts > 1 or lowest:
        answers.starts = new_rows("paritas_fit_starts", n).array
        answers.c.starts = <paritas_fit_starts *>address(answers.starts)
    if lowest:
        paritas_fit_lowest(model.c, NULL if options is None else &options.c, jobs, &answers.c, engine,
                           progress)
    else:
        paritas_fit(model.c, NULL if options is None else &options.c, n, jobs, &answers.c, engine, progress)
    return answers


def best_fit_bounds(Model model not None, Job job, Engine engine=None):
    """Upper bounds (parameters,) of the fit that statistics call the best one."""
    cdef Array upper = new_array(model.parameter_count)
    paritas_best_fit_bounds(model.c, job_of(job), upper.at, engine)
    return upper.array


def minos(Model model not None, Job job, parameters, best, double best_twice_nll, errors, Engine engine=None,
          progress=None):
    """([(down, up)], [(how each side ends)], [(offset where it ends)], minima) around a converged fit.
    minima: what their fits met."""
    cdef Array at = vector(best, model.parameter_count, "best")
    cdef paritas_minos_request request = paritas_minos_request_default
    cdef Array met = new_rows("paritas_minima", 1)
    cdef double offsets[2]
    cdef double reach[2]
    cdef paritas_minos_end ends[2]
    cdef list found = [], how = [], far = []
    request.ends, request.reach = ends, reach
    request.best, request.best_twice_nll = at.at, best_twice_nll
    request.minima = <paritas_minima *>met.rows
    for parameter, error in zip(parameters, errors):
        request.parameter, request.error = parameter, error
        paritas_minos(model.c, job_of(job), &request, offsets, engine, progress)
        found.append((offsets[0], offsets[1]))
        how.append((ends[0], ends[1]))
        far.append((reach[0], reach[1]))
    return found, how, far, met.array[0]
