# Tests, limits, scans, rankings, goodness of fit.

cdef extern from *:
    """static const double usual_confidence[] = PARITAS_CONTOUR_CONFIDENCE;
    static const double usual_intervals[] = PARITAS_INTERVAL_CONFIDENCE;"""
    const double usual_confidence[2]
    const double usual_intervals[2]

SAME_MINIMUM = PARITAS_SAME_MINIMUM # of twice the NLL
CONTOUR_CONFIDENCE = usual_confidence[0], usual_confidence[1]
INTERVAL_CONFIDENCE = usual_intervals[0], usual_intervals[1]

cdef paritas_test_statistic statistic_of(object name) except? PARITAS_STATISTIC_QTILDE:
    return <paritas_test_statistic>value_of("paritas_test_statistic", name, "test statistic")


def hypotest(Model model not None, Job job, statistic, mu, Engine engine=None, progress=None):
    """Rows of paritas_hypotest_result."""
    cdef Array values = vector(mu, len(mu), "mu"), rows = new_rows("paritas_hypotest_result", len(mu))
    paritas_hypotest(model.c, job_of(job), statistic_of(statistic), rows.n, values.at, rows.rows, engine,
                     progress)
    return rows.array


def asymptotic_shift(statistic, double q, double q_asimov):
    """t of p-values."""
    return paritas_asymptotic_shift(statistic_of(statistic), q, q_asimov)


def limit(Model model not None, Job job, statistic, double level, Engine engine=None, progress=None):
    """`result`, a row of paritas_limit_result, and `scan`, the tests made."""
    cdef Array rows = new_rows("paritas_limit_result", 1)
    cdef Array scan = new_rows("paritas_hypotest_result", PARITAS_SCAN_MOST)
    cdef paritas_limit_request request = paritas_limit_request_default
    request.statistic, request.level = statistic_of(statistic), level
    request.scan_room, request.scan = PARITAS_SCAN_MOST, scan.rows
    paritas_limit(model.c, job_of(job), &request, rows.rows, engine, progress)
    return SimpleNamespace(result=rows.array[0], scan=scan.array[:rows.array[0]["n_scan"]])


def significance(Model model not None, Job job, Engine engine=None, progress=None):
    """A row of paritas_significance_result."""
    cdef Array rows = new_rows("paritas_significance_result", 1)
    paritas_significance(model.c, job_of(job), rows.rows, engine, progress)
    return rows.array[0]


def scan(Model model not None, Job job, parameters, values, levels, Engine engine=None, progress=None):
    """Over k parameters (indices) at n points (n, k): `best`, a row of paritas_fit_result,
    `best_parameters`, `points`, rows of paritas_scan_point, and `point_parameters`, a row for each. Of one
    parameter also `crossings` of the levels, rows of paritas_crossing."""
    cdef paritas_scan_request request = paritas_scan_request_default
    cdef size_t which[PARITAS_SCAN_PARAMETERS_MOST]
    cdef Py_ssize_t k = len(parameters), i
    if not 1 <= k <= PARITAS_SCAN_PARAMETERS_MOST:
        raise InvalidArgument(f"parameters: 1 to {PARITAS_SCAN_PARAMETERS_MOST} are scanned, not {k}")
    for i in range(k):
        which[i] = parameters[i]
    cdef Array at = matrix(values, k, "values"), points = new_rows("paritas_scan_point", at.n)
    cdef Array best = new_rows("paritas_fit_result", 1), best_parameters = new_array(model.parameter_count)
    request.n_parameters, request.parameters = k, which
    request.n_points, request.values = at.n, at.at
    request.best, request.best_parameters = best.rows, best_parameters.at
    cdef Array ends = new_matrix(at.n, model.parameter_count)
    request.points, request.point_parameters = points.rows, ends.at
    cdef Array confidence = vector(levels, len(levels), "confidence")
    cdef Array crossings = new_rows("paritas_crossing", 2 * PARITAS_PARTS_MOST * confidence.n)
    cdef size_t found = 0
    if confidence.n > 0:
        request.n_levels, request.levels = confidence.n, confidence.at
        request.crossings_room, request.crossings = crossings.n, crossings.rows
        request.n_crossings = &found
    paritas_scan(model.c, job_of(job), &request, engine, progress)
    return SimpleNamespace(best=best.array[0], best_parameters=best_parameters.array,
                           points=points.array, point_parameters=ends.array,
                           crossings=crossings.array[:found])


def scan_range(Model model not None, Job job, size_t parameter, Engine engine=None, progress=None):
    """Two ends."""
    cdef double ends[2]
    paritas_scan_range(model.c, job_of(job), parameter, ends, engine, progress)
    return ends[0], ends[1]


def interval(Model model not None, Job job, size_t parameter, levels, Engine engine=None, progress=None):
    """Of the levels: `best`, a row of paritas_fit_result, `best_parameters`, and `parts`, rows of
    paritas_interval_part."""
    cdef paritas_interval_request request = paritas_interval_request_default
    cdef Array confidence = vector(levels, len(levels), "confidence")
    cdef Array parts = new_rows("paritas_interval_part", PARITAS_PARTS_MOST * confidence.n)
    cdef Array best = new_rows("paritas_fit_result", 1), best_parameters = new_array(model.parameter_count)
    cdef size_t found = 0
    request.parameter, request.n_levels, request.levels = parameter, confidence.n, confidence.at
    request.best, request.best_parameters = best.rows, best_parameters.at
    request.room, request.parts, request.n_parts = parts.n, parts.rows, &found
    paritas_interval(model.c, job_of(job), &request, engine, progress)
    return SimpleNamespace(best=best.array[0], best_parameters=best_parameters.array,
                           parts=parts.array[:found])


def contour(Model model not None, Job job, parameters, levels, size_t points, Engine engine=None,
            progress=None):
    """Of two parameters (indices), `points` for each of the levels: `best`, a row of paritas_fit_result,
    `best_parameters`, `points`, rows of paritas_contour_point, `parts`, rows of paritas_contour_part, and
    `edges`, their points."""
    cdef paritas_contour_request request = paritas_contour_request_default
    cdef size_t which[2]
    cdef Array confidence = vector(levels, len(levels), "confidence")
    cdef Array edges = new_rows("paritas_contour_point", confidence.n * points)
    cdef Array best = new_rows("paritas_fit_result", 1), best_parameters = new_array(model.parameter_count)
    which[0], which[1] = parameters
    request.parameters = which
    request.n_levels, request.levels, request.n_points = confidence.n, confidence.at, points
    request.best, request.best_parameters = best.rows, best_parameters.at
    request.points = edges.rows
    cdef Array parts = new_rows("paritas_contour_part", confidence.n * PARITAS_PARTS_MOST)
    cdef Array around = new_rows("paritas_contour_point", confidence.n * PARITAS_EDGES_MOST)
    cdef size_t n_parts = 0, n_around = 0
    request.parts_room, request.parts, request.n_parts = parts.n, parts.rows, &n_parts
    request.edges_room, request.edges, request.n_edges = around.n, around.rows, &n_around
    paritas_contour(model.c, job_of(job), &request, engine, progress)
    return SimpleNamespace(best=best.array[0], best_parameters=best_parameters.array, points=edges.array,
                           parts=parts.array[:n_parts], edges=around.array[:n_around])


def constraint_centres(Model model not None, data, Engine engine=None):
    """Zeros of pulls (p,), NaN without a constraint."""
    cdef Array row = vector(data, model.data_count, "data"), centres = new_array(model.parameter_count)
    paritas_constraint_centres(model.c, row.at, centres.at, engine)
    return centres.array


def ranking(Model model not None, Job job, Engine engine=None, progress=None):
    """Rows of paritas_ranking_entry, largest first."""
    cdef Array rows = new_rows("paritas_ranking_entry", model.parameter_count)
    cdef size_t n = 0
    paritas_ranking(model.c, job_of(job), rows.rows, &n, engine, progress)
    return rows.array[:n]


cdef object members_of(Model model, groups, Engine engine):
    """Flags of parameters, a row for each list of patterns."""
    cdef Py_ssize_t p = model.parameter_count, n = len(groups), i
    cdef object members = np.zeros((n, p), dtype=np.uint8)
    cdef unsigned char *flags = <unsigned char *>address(members)
    for i in range(n):
        for pattern in groups[i]:
            paritas_match_parameters(model.c, PyUnicode_AsUTF8(pattern), flags + i * p, engine)
    return members


def breakdown(Model model not None, Job job, groups, Engine engine=None, progress=None):
    """`result`, a row of paritas_breakdown_result, and `groups`, rows of paritas_breakdown_group. groups:
    lists of patterns."""
    cdef Py_ssize_t n = len(groups)
    cdef Array total = new_rows("paritas_breakdown_result", 1), parts = new_rows("paritas_breakdown_group", n)
    cdef object members = members_of(model, groups, engine)
    paritas_breakdown(model.c, job_of(job), n, <unsigned char *>address(members), total.rows, parts.rows,
                      engine, progress)
    return SimpleNamespace(result=total.array[0], groups=parts.array)


def global_impacts(Model model not None, Job job, groups, Engine engine=None, progress=None):
    """`result`, a row of paritas_global_result, `entries`, rows of paritas_global_impact, and `groups`, an
    impact for each of these lists of patterns."""
    cdef Py_ssize_t n = len(groups)
    cdef Array total = new_rows("paritas_global_result", 1), parts = new_array(n)
    cdef Array entries = new_rows("paritas_global_impact", model.parameter_count)
    cdef object members = members_of(model, groups, engine)
    paritas_global_impacts(model.c, job_of(job), n, <unsigned char *>address(members), total.rows,
                           entries.rows, parts.at, engine, progress)
    return SimpleNamespace(result=total.array[0], groups=parts.array,
                           entries=entries.array[: total.array[0]["sources"]])


def goodness_of_fit(Model model not None, Job job, Engine engine=None, progress=None):
    """A row of paritas_gof_result."""
    cdef Array rows = new_rows("paritas_gof_result", 1)
    paritas_gof(model.c, job_of(job), rows.rows, engine, progress)
    return rows.array[0]


def compatibility(Model model not None, Job job, Model separate not None, Engine engine=None, progress=None):
    """`result`, a row of paritas_compatibility_result, and `groups`, rows of paritas_compatibility_group."""
    cdef Array total = new_rows("paritas_compatibility_result", 1)
    cdef Array groups = new_rows("paritas_compatibility_group", len(separate.poi_indices))
    paritas_compatibility(model.c, job_of(job), separate.c, total.rows, groups.rows, engine, progress)
    return SimpleNamespace(result=total.array[0], groups=groups.array)


def asimov_data(Model model not None, Job job, double mu, Engine engine=None):
    """A data row, and its fit, a row of paritas_fit_result."""
    cdef Array rows = new_rows("paritas_fit_result", 1), data = new_array(model.data_count)
    paritas_asimov_data(model.c, job_of(job), mu, rows.rows, data.at, engine)
    return data.array, rows.array[0]


cdef object new_yields(Model model, paritas_yields *yields):
    cdef Array bins = new_array(model.main_count), errors = new_array(model.main_count)
    cdef Array samples = new_samples(model), totals = new_array(len(model.channel_layout))
    cdef Array total_errors = new_array(len(model.channel_layout))
    yields.bins, yields.errors, yields.samples = bins.at, errors.at, samples.at
    yields.totals, yields.total_errors = totals.at, total_errors.at
    return SimpleNamespace(bins=bins.array, errors=errors.array, samples=by_sample(model, samples.array),
                           totals=totals.array, total_errors=total_errors.array)


def predict(Model model not None, Job job, best, covariance, Engine engine=None):
    """Before and after the fit: `bins`, `errors`, `samples`, `totals`, `total_errors`. covariance None:
    errors after the fit are NaN."""
    cdef Py_ssize_t p = model.parameter_count
    cdef Array at = vector(best, p, "best"), square = matrix(covariance, p, "covariance")
    cdef paritas_predict_request request = paritas_predict_request_default
    cdef paritas_predict_answers answers = paritas_predict_answers_default
    request.best, request.covariance = at.at, square.at
    before, after = new_yields(model, &answers.before), new_yields(model, &answers.after)
    paritas_predict(model.c, job_of(job), &request, &answers, engine)
    return before, after
