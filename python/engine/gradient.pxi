# Statistics of many data rows with their derivatives (paritas_gradient.h).

cdef const char *quantity_text(int quantity) noexcept: return paritas_quantity_name(<paritas_quantity>quantity)

QUANTITIES = names_of(PARITAS_QUANTITY_LIMIT + 1, quantity_text)


def differentiate(Model model not None, str quantity not None, str statistic not None, Py_ssize_t n, at=None, data=None, unsigned outputs=0, double level=0.05,
                  bint shared=False, bint aux_follow=False, bint by_data=False, bint by_at=False, start=None, lower=None, upper=None, fixed=None,
                  Engine engine=None):
    """A quantity of n data rows: (values (n, k), codes of statuses (n), derivatives by the rows (n, k, row)
    or None, by `at` (n, k) or None).

    at: of likelihoods n points (n, p), by which the derivatives are (n, 1, p); else n values of mu, or None.
        data: n rows, or None for the model's own.
    outputs: bits of cls's and limit's curves, 0 for all. shared: fits of q and z take their curvature from
        those to the model's own data. aux_follow: auxiliary data of the rows are those that their templates
        suggest."""
    cdef Engine e = engine or HOST
    cdef Job job = Job.make(model, None, start, lower, upper, fixed)
    cdef Py_ssize_t p = model.parameter_count, r = model.data_count, k = 1, wide
    cdef paritas_gradient_options options
    cdef paritas_gradient answer
    cdef const double *at_numbers = NULL
    cdef const double *data_numbers = NULL
    cdef Context context
    cdef paritas_status status
    if quantity not in QUANTITIES:
        raise InvalidArgument(f"quantity {quantity!r}: there are {', '.join(QUANTITIES)}")
    memset(&options, 0, sizeof(options))
    memset(&answer, 0, sizeof(answer))
    options.size = sizeof(options)
    options.quantity = <paritas_quantity><int>QUANTITIES.index(quantity)
    options.statistic = statistic_of(statistic)
    options.outputs = outputs
    options.level = level
    options.shared = shared
    options.aux_follow = aux_follow
    if options.quantity == PARITAS_QUANTITY_CLS or options.quantity == PARITAS_QUANTITY_LIMIT:
        k = sum([outputs >> i & 1 for i in range(PARITAS_QUANTITY_OUTPUTS)]) or PARITAS_QUANTITY_OUTPUTS
    wide = p if options.quantity == PARITAS_QUANTITY_NLL or options.quantity == PARITAS_QUANTITY_TWICE_NLL else 1
    if at is not None:
        at = matrix(at, p, "parameters") if wide == p else vector(at, n, "mu")
        at_numbers = numbers(at)
    if data is not None:
        data = matrix(data, r, "data")
        data_numbers = numbers(data)
    if (data is not None and len(data) != n) or (at is not None and len(at) != n):
        raise InvalidArgument(f"{n} rows are wanted")
    cdef object values = new_matrix(n, k), codes = cnp.PyArray_EMPTY(1, <cnp.npy_intp *>&n, cnp.NPY_INT32, 0)
    cdef object data_slopes = new_block(n, k, r) if by_data else None
    cdef object at_slopes = new_block(n, k, wide) if by_at else None
    answer.values = numbers(values)
    answer.statuses = <paritas_fit_status *>cnp.PyArray_DATA(<cnp.ndarray>codes)
    if by_data: answer.data = numbers(data_slopes)
    if by_at: answer.at = numbers(at_slopes)
    context = e.take(None)
    with nogil:
        status = paritas_differentiate(context.c, model.c, &options, &job.c, n, at_numbers, data_numbers, &answer)
    e.give(context)
    context.check(status)
    return values, codes, data_slopes, at_slopes
