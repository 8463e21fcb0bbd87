# Models, likelihoods and derivatives, expected data.

cdef object borrowed(object owner, const double *at, Py_ssize_t n):
    """A read-only array over memory that `owner` keeps."""
    cdef cnp.npy_intp size = n
    cdef object array = cnp.PyArray_SimpleNewFromData(1, &size, cnp.NPY_FLOAT64, <void *>at)
    cnp.set_array_base(array, owner)
    array.flags.writeable = False
    return array


cdef const char *template_kind_text(int kind) noexcept: return paritas_template_kind_name(<paritas_template_kind>kind)

TEMPLATE_KINDS = names_of(3, template_kind_text)


cdef class Templates:
    """An array of paritas_template, with its texts."""

    cdef paritas_template *c
    cdef size_t n
    cdef list texts

    def __cinit__(self, given):
        cdef size_t i = 0
        cdef bytes text
        self.texts = []
        self.n = len(given)
        self.c = <paritas_template *>calloc(self.n + 1, sizeof(paritas_template))
        if self.c == NULL:
            raise MemoryError()
        for kind, channel, sample, modifier in given:
            if kind not in TEMPLATE_KINDS:
                raise InvalidArgument(f"template of kind {kind!r}: there are {', '.join(TEMPLATE_KINDS)}")
            self.c[i].kind = <paritas_template_kind><int>TEMPLATE_KINDS.index(kind)
            self.c[i].channel = self.text(channel)
            self.c[i].sample = self.text(sample)
            if modifier is not None:
                self.c[i].modifier = self.text(modifier)
            i += 1

    cdef const char *text(self, str given) except NULL:
        cdef bytes made = given.encode()
        self.texts.append(made)
        return made

    def __dealloc__(self):
        free(self.c)


cdef class ModelMemory:
    """Owns a model, for a Model and for its arrays, which may outlive it. Arrays that kept the Model itself,
    which has them, would keep it for ever."""

    cdef paritas_model *c

    def __dealloc__(self):
        paritas_model_free(self.c)


cdef class Model:
    """A frozen model. Immutable: threads may share it. Arrays are read-only views of the library's."""

    cdef paritas_model *c
    cdef ModelMemory memory
    cdef readonly Py_ssize_t parameter_count, main_count, aux_count, template_count
    cdef readonly Py_ssize_t data_count            # of a data row: main, auxiliary, templates
    cdef readonly object data, suggested_init, lower_bounds, upper_bounds, suggested_fixed, constraint_widths
    cdef list names
    cdef readonly object poi_index                 # int or None
    cdef readonly list channel_layout              # (name, bins, [samples])
    cdef readonly Document document                # of its workspace
    cdef readonly dict options                     # those of __cinit__ that were given
    cdef object __weakref__

    cdef int fill(self) except -1:
        cdef const paritas_model *m = self.c
        self.memory = ModelMemory()
        self.memory.c = self.c
        cdef Py_ssize_t n = paritas_model_parameter_count(m), c, s
        self.parameter_count = n
        self.main_count = paritas_model_main_count(m)
        self.aux_count = paritas_model_aux_count(m)
        self.template_count = paritas_model_template_count(m)
        self.data_count = self.main_count + self.aux_count + self.template_count
        self.data = borrowed(self.memory, paritas_model_data(m), self.data_count)
        self.suggested_init = borrowed(self.memory, paritas_model_suggested_init(m), n)
        self.lower_bounds = borrowed(self.memory, paritas_model_lower_bounds(m), n)
        self.upper_bounds = borrowed(self.memory, paritas_model_upper_bounds(m), n)
        self.constraint_widths = borrowed(self.memory, paritas_model_constraint_widths(m), n)
        self.suggested_fixed = np.array([paritas_model_suggested_fixed(m)[s] != 0 for s in range(n)], dtype=bool)
        self.suggested_fixed.flags.writeable = False
        self.names = [paritas_model_parameter_name(m, s).decode() for s in range(n)]
        self.poi_index = paritas_model_poi_index(m) if paritas_model_poi_index(m) >= 0 else None
        self.channel_layout = [(paritas_model_channel_name(m, c).decode(), paritas_model_channel_bins(m, c),
                                [paritas_model_sample_name(m, c, s).decode() for s in range(paritas_model_sample_count(m, c))])
                               for c in range(paritas_model_channel_count(m))]
        return 0

    def __cinit__(self, Document workspace not None, measurement=None, poi=None, normsys_code=None, histosys_code=None, clip_sample=None, clip_bin=None,
                 templates=None):
        """Validates the workspace and freezes one measurement's model; the arguments are
        paritas_model_options'. poi: "" for none. templates: (kind, channel, sample, modifier or None) of
        each, a kind one of TEMPLATE_KINDS."""
        cdef paritas_model_options options
        cdef bytes measurement_name = measurement.encode() if measurement is not None else None
        cdef bytes poi_name = poi.encode() if poi is not None else None
        cdef Context context
        cdef paritas_status status
        memset(&options, 0, sizeof(options))
        options.size = sizeof(options)
        if measurement_name is not None: options.measurement = measurement_name
        if poi_name is not None: options.poi = poi_name
        options.normsys_code = {None: 0, 1: 1, 4: 4}.get(normsys_code, -1)
        options.histosys_code = {None: 0, 0: 100, "0": 100, 2: 102, "2": 102, "4p": 104}.get(histosys_code, -1)
        if options.normsys_code < 0 or options.histosys_code < 0:
            raise InvalidArgument(f"normsys_code {normsys_code!r}, histosys_code {histosys_code!r}: there are 1 and 4; 0, 2 and '4p'")
        if clip_sample is not None:
            options.clip_sample, options.clip_sample_at = 1, clip_sample
        if clip_bin is not None:
            options.clip_bin, options.clip_bin_at = 1, clip_bin
        cdef Templates varied = Templates(templates or ())
        options.n_templates, options.templates = varied.n, varied.c
        context = HOST.take(None)
        with nogil:
            status = paritas_model_create(context.c, workspace.c, &options, &self.c)
        HOST.give(context)
        context.check(status)
        self.document = workspace
        given = dict(measurement=measurement, poi=poi, normsys_code=normsys_code, histosys_code=histosys_code, clip_sample=clip_sample, clip_bin=clip_bin,
                     templates=[tuple(one) for one in templates] if templates else None)
        self.options = {name: value for name, value in given.items() if value is not None}
        self.fill()

    @property
    def parameter_names(self):
        """In the order of parameters; a list of the caller's own, who may take names out of it."""
        return self.names[:]

    def __reduce__(self):
        return remade, (type(self), self.document, self.options)

    def __copy__(self):
        return self # it cannot change

    def __deepcopy__(self, memo):
        return self


def remade(kind, Document document not None, dict options not None):
    """The model that was pickled."""
    return kind(document, **options)


cdef inline const double *data_of(Model model, object data) except? NULL:
    return NULL if data is None else numbers(data)


def evaluate(Model model not None, points, data=None, bint gradient=False, bint hessian=False, Engine engine=None):
    """Twice the NLL at n points for m data sets: (n, m), with its gradient (n, m, p) and Hessian (n, m, p, p)
    or None. data None: the observed."""
    cdef Engine e = engine or HOST
    cdef Py_ssize_t p = model.parameter_count
    cdef object at = matrix(points, p, "points"), rows = None if data is None else matrix(data, model.data_count, "data")
    cdef Py_ssize_t n = len(at), m = 1 if rows is None else len(rows)
    cdef object value = new_matrix(n, m)
    cdef object slope = np.empty((n, m, p)) if gradient else None, curve = np.empty((n, m, p, p)) if hessian else None
    cdef const double *point_numbers = numbers(at)
    cdef const double *data_numbers = data_of(model, rows)
    cdef double *value_numbers = numbers(value)
    cdef double *slope_numbers = numbers(slope) if gradient else NULL
    cdef double *curve_numbers = numbers(curve) if hessian else NULL
    cdef Context context = e.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_evaluate(context.c, model.c, n, point_numbers, m, data_numbers, value_numbers, slope_numbers, curve_numbers)
    e.give(context)
    context.check(status)
    return value, slope, curve


def twice_nll(Model model not None, point, data=None, Engine engine=None):
    """Twice the NLL at one point: a float."""
    cdef Engine e = engine or HOST
    cdef object at = vector(point, model.parameter_count, "point"), row = None if data is None else vector(data, model.data_count, "data")
    cdef const double *point_numbers = numbers(at)
    cdef const double *data_numbers = data_of(model, row)
    cdef double value
    cdef Context context = e.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_evaluate(context.c, model.c, 1, point_numbers, 1, data_numbers, &value, NULL, NULL)
    e.give(context)
    context.check(status)
    return value


def expected_data(Model model not None, points, Engine engine=None):
    """Expected main and auxiliary data at n points: (n, main + aux)."""
    cdef Engine e = engine or HOST
    cdef object at = matrix(points, model.parameter_count, "points")
    cdef Py_ssize_t n = len(at)
    cdef object expected = new_matrix(n, model.data_count)
    cdef const double *point_numbers = numbers(at)
    cdef double *expected_numbers = numbers(expected)
    cdef Context context = e.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_expected_data(context.c, model.c, n, point_numbers, expected_numbers)
    e.give(context)
    context.check(status)
    return expected


def expected_jacobian(Model model not None, point, Engine engine=None):
    """Derivatives of the expected main data by the parameters: (main, p)."""
    cdef Engine e = engine or HOST
    cdef object at = vector(point, model.parameter_count, "point"), jacobian = new_matrix(model.main_count, model.parameter_count)
    cdef const double *point_numbers = numbers(at)
    cdef double *jacobian_numbers = numbers(jacobian)
    cdef Context context = e.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_expected_jacobian(context.c, model.c, point_numbers, jacobian_numbers)
    e.give(context)
    context.check(status)
    return jacobian


def expected_by_sample(Model model not None, point, Engine engine=None):
    """Expected main data by sample: a list of (samples, bins), one a channel."""
    cdef Engine e = engine or HOST
    cdef object at = vector(point, model.parameter_count, "point"), parts = []
    cdef Py_ssize_t total = sum([bins * len(samples) for _, bins, samples in model.channel_layout]), first = 0
    cdef object expected = new_array(total)
    cdef const double *point_numbers = numbers(at)
    cdef double *expected_numbers = numbers(expected)
    cdef Context context = e.take(None)
    cdef paritas_status status
    with nogil:
        status = paritas_expected_by_sample(context.c, model.c, point_numbers, expected_numbers)
    e.give(context)
    context.check(status)
    for _, bins, samples in model.channel_layout:
        parts.append(expected[first:first + bins * len(samples)].reshape(len(samples), bins))
        first += bins * len(samples)
    return parts
