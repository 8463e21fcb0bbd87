# Tests, limits, scans, rankings, goodness of fit.

cdef tuple test_of(const paritas_hypotest_result *r):
    return (r.mu, r.cls_obs, five(r.cls_exp), r.clsb, r.clb, r.p0, r.q, r.q_asimov, r.mu_hat,
            r.twice_nll_free, r.twice_nll_fixed, <int>r.status)

cdef paritas_test_statistic statistic_of(str name) except? PARITAS_STATISTIC_QTILDE:
    if name not in TEST_STATISTICS:
        raise InvalidArgument(f"test statistic {name!r}: there are {', '.join(TEST_STATISTICS)}")
    return <paritas_test_statistic><int>TEST_STATISTICS.index(name)


def hypotest(Model model not None, mu, str statistic="qtilde", data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """Asymptotic tests of values of mu (an array): a list of (mu, cls_obs, cls_exp, clsb, clb, p0, q,
    q_asimov, mu_hat, twice_nll_free, twice_nll_fixed, status)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef object values = vector(mu, len(mu), "mu")
    cdef Py_ssize_t n = len(values), i
    cdef const double *mu_numbers = numbers(values)
    cdef paritas_test_statistic kind = statistic_of(statistic)
    cdef paritas_hypotest_result one
    cdef paritas_hypotest_result *results = &one if n <= 1 else <paritas_hypotest_result *>calloc(n, sizeof(paritas_hypotest_result))
    cdef Context context
    cdef paritas_status status
    if results == NULL:
        raise MemoryError()
    try:
        context = e.take(progress)
        with nogil:
            status = paritas_hypotest(context.c, model.c, &job.c, kind, n, mu_numbers, results)
        e.give(context)
        context.check(status)
        return [test_of(&results[i]) for i in range(n)]
    finally:
        if results != &one:
            free(results)


def limit(Model model not None, double level=0.05, str statistic="qtilde", data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None,
          progress=None):
    """Upper limits: (limit_obs, limit_exp, upper_bound, bound_widened, status, scan as hypotest's list)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef paritas_test_statistic kind = statistic_of(statistic)
    cdef paritas_limit_result *r = <paritas_limit_result *>calloc(1, sizeof(paritas_limit_result))
    cdef Context context
    cdef paritas_status status
    cdef size_t i
    if r == NULL:
        raise MemoryError()
    try:
        context = e.take(progress)
        with nogil:
            status = paritas_limit(context.c, model.c, &job.c, kind, level, r)
        e.give(context)
        context.check(status)
        return (r.limit_obs, five(r.limit_exp), r.upper_bound, bool(r.bound_widened),
                <int>r.status, [test_of(&r.scan[i]) for i in range(r.n_scan)])
    finally:
        free(r)


def significance(Model model not None, data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """(p0, z, p0_exp, z_exp, q0, mu_hat, status)"""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef paritas_significance_result r
    cdef Context context = e.take(progress)
    cdef paritas_status status
    with nogil:
        status = paritas_significance(context.c, model.c, &job.c, &r)
    e.give(context)
    context.check(status)
    return r.p0, r.z, r.p0_exp, r.z_exp, r.q0, r.mu_hat, <int>r.status


def scan(Model model not None, parameters, values, data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """Profile over one or two parameters (indices) at n points (n, k): ((status, iterations, twice_nll, edm,
    pull) of the free fit, its parameters, q, twice_nll, status)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef size_t which[2]
    cdef Py_ssize_t k = len(parameters), i
    if k not in (1, 2):
        raise InvalidArgument(f"parameters: one or two are scanned, not {k}")
    for i in range(k):
        which[i] = parameters[i]
    cdef object points = matrix(values, k, "values")
    cdef Py_ssize_t n = len(points)
    cdef const double *point_numbers = numbers(points)
    cdef object best_values = new_array(model.parameter_count), q = new_array(n), twice_nll = new_array(n), codes = np.empty(n, np.int32)
    cdef double *best_numbers = numbers(best_values)
    cdef paritas_fit_result best
    cdef paritas_scan_point *results = <paritas_scan_point *>calloc(n + 1, sizeof(paritas_scan_point))
    cdef Context context
    cdef paritas_status status
    if results == NULL:
        raise MemoryError()
    try:
        context = e.take(progress)
        with nogil:
            status = paritas_scan(context.c, model.c, &job.c, k, which, n, point_numbers, &best, best_numbers, results)
        e.give(context)
        context.check(status)
        for i in range(n):
            numbers(q)[i] = results[i].q
            numbers(twice_nll)[i] = results[i].twice_nll
            codes[i] = <int>results[i].status
    finally:
        free(results)
    return (<int>best.status, best.iterations, best.twice_nll, best.edm, best.projected_gradient), best_values, q, twice_nll, codes


def ranking(Model model not None, data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """Impacts, largest first: a list of (parameter, pull, constraint, impact_up, impact_down, prefit_up,
    prefit_down, status)."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef paritas_ranking_entry *entries = <paritas_ranking_entry *>calloc(model.parameter_count + 1, sizeof(paritas_ranking_entry))
    cdef size_t n = 0, i
    cdef Context context
    cdef paritas_status status
    if entries == NULL:
        raise MemoryError()
    try:
        context = e.take(progress)
        with nogil:
            status = paritas_ranking(context.c, model.c, &job.c, entries, &n)
        e.give(context)
        context.check(status)
        return [(entries[i].parameter, entries[i].pull, entries[i].constraint, entries[i].impact_up, entries[i].impact_down, entries[i].prefit_up,
                 entries[i].prefit_down, <int>entries[i].status) for i in range(n)]
    finally:
        free(entries)


def goodness_of_fit(Model model not None, data=None, start=None, lower=None, upper=None, fixed=None, Engine engine=None, progress=None):
    """(twice_nll, saturated, statistic, p, ndof, status)"""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, data, start, lower, upper, fixed)
    cdef paritas_gof_result r
    cdef Context context = e.take(progress)
    cdef paritas_status status
    with nogil:
        status = paritas_gof(context.c, model.c, &job.c, &r)
    e.give(context)
    context.check(status)
    return r.twice_nll, r.saturated, r.statistic, r.p, r.ndof, <int>r.status
