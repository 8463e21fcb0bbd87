# Statistics of many data rows with their derivatives (paritas_gradient.h).

cdef class GradientAnswers:
    """n rows, k outputs: `values` (n, k), `codes` (n) of statuses, and if asked for the derivatives `by_data`
    (n, k, row) and `by_at` (n, k, 1), of likelihoods (n, 1, p)."""

    cdef readonly object values, codes, by_data, by_at
    cdef paritas_gradient c


cdef class SharedFits:
    """The fit to a job's own data and its curvature. Keeps its model."""

    cdef paritas_shared_fits *c
    cdef readonly Model model

    def __cinit__(self, Model model not None, Job job, Engine engine=None):
        self.model = model
        paritas_shared_fits_create(model.c, job_of(job), &self.c, engine)

    def __dealloc__(self):
        paritas_shared_fits_free(self.c)


cdef class Quantity:
    """paritas_differentiate's options. outputs: bits of the curves of cls and limit; 0: all."""

    cdef paritas_gradient_options c
    cdef SharedFits shared
    cdef readonly Py_ssize_t output_count
    cdef readonly bint at_points # a likelihood: at points instead of values of mu

    def __cinit__(self, str quantity not None, statistic="qtilde", unsigned outputs=0, double level=0.05,
                  SharedFits shared=None, bint aux_follow=False):
        self.c = paritas_gradient_options_default
        self.c.quantity = <paritas_quantity>value_of("paritas_quantity", quantity, "quantity")
        self.c.statistic = statistic_of(statistic)
        self.c.outputs, self.c.level, self.c.aux_follow = outputs, level, aux_follow
        self.shared = shared
        if shared is not None:
            self.c.shared = shared.c
        self.at_points = self.c.quantity in (PARITAS_QUANTITY_NLL, PARITAS_QUANTITY_TWICE_NLL)
        self.output_count = 1
        if self.c.quantity in (PARITAS_QUANTITY_CLS, PARITAS_QUANTITY_LIMIT):
            self.output_count = bin(outputs).count("1") or PARITAS_QUANTITY_OUTPUTS


def differentiate(Model model not None, Quantity quantity not None, Job job, Py_ssize_t n, at=None, data=None,
                  bint by_data=False, bint by_at=False, Engine engine=None):
    """A quantity of n data rows (None: the model's own), and derivatives by rows and `at`: n points (n, p) of
    likelihoods, else n values of mu, or None."""
    cdef Py_ssize_t p = model.parameter_count, k = quantity.output_count
    cdef GradientAnswers answers = GradientAnswers.__new__(GradientAnswers)
    cdef Array points = matrix(at, p, "parameters") if quantity.at_points else vector(at, n, "mu")
    cdef Array rows = matrix(data, model.data_count, "data")
    if (rows.array is not None and rows.n != n) or (points.array is not None and points.n != n):
        raise InvalidArgument(f"{n} rows are wanted")
    answers.c = paritas_gradient_default
    answers.values = new_matrix(n, k).array
    answers.codes = cnp.PyArray_EMPTY(1, <cnp.npy_intp *>&n, cnp.NPY_INT32, 0)
    answers.c.values = <double *>address(answers.values)
    answers.c.statuses = <paritas_fit_status *>address(answers.codes)
    if by_data:
        answers.by_data = new_block(n, k, model.data_count).array
        answers.c.data = <double *>address(answers.by_data)
    if by_at:
        answers.by_at = new_block(n, k, p if quantity.at_points else 1).array
        answers.c.at = <double *>address(answers.by_at)
    paritas_differentiate(model.c, &quantity.c, job_of(job), n, points.at, rows.at, &answers.c, engine)
    return answers


def differentiate_along(Model model not None, Quantity quantity not None, Job job, Py_ssize_t n, at=None,
                        data=None, at_directions=None, directions=None, Engine engine=None):
    """As `differentiate`, of quantities of one output: derivatives along directions of `at` and of rows
    (None: 0) of the value, `by_data` and `by_at`."""
    cdef Py_ssize_t p = model.parameter_count, wide = p if quantity.at_points else 1
    cdef GradientAnswers first = GradientAnswers.__new__(GradientAnswers)
    cdef GradientAnswers along = GradientAnswers.__new__(GradientAnswers)
    cdef Array points = matrix(at, p, "parameters") if quantity.at_points else vector(at, n, "mu")
    cdef Array rows = matrix(data, model.data_count, "data")
    cdef Array turns = matrix(directions, model.data_count, "directions")
    cdef Array moves = matrix(at_directions, wide, "at_directions")
    cdef paritas_gradient_rows given = paritas_gradient_rows_default
    for array in (rows, points, turns, moves):
        if (<Array>array).array is not None and (<Array>array).n != n:
            raise InvalidArgument(f"{n} rows are wanted")
    first.c = along.c = paritas_gradient_default
    first.values = new_matrix(n, 1).array
    along.codes = cnp.PyArray_EMPTY(1, <cnp.npy_intp *>&n, cnp.NPY_INT32, 0)
    along.values = new_matrix(n, 1).array
    along.by_data = new_block(n, 1, model.data_count).array
    along.by_at = new_block(n, 1, wide).array
    first.c.values = <double *>address(first.values)
    first.c.statuses = <paritas_fit_status *>address(along.codes)
    along.c.values = <double *>address(along.values)
    along.c.data = <double *>address(along.by_data)
    along.c.at = <double *>address(along.by_at)
    given.n, given.at, given.data = n, points.at, rows.at
    given.at_directions, given.directions = moves.at, turns.at
    paritas_differentiate_along(model.c, &quantity.c, job_of(job), &given, &first.c, &along.c, engine)
    return along
