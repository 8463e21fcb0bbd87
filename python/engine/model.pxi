# Models, likelihoods and derivatives, expected data.

cdef class Templates:
    """paritas_template array, whose texts `given` keeps."""

    cdef paritas_template *c
    cdef size_t n

    def __cinit__(self, given):
        cdef size_t i = 0
        cdef int code
        self.n = len(given)
        self.c = <paritas_template *>calloc(self.n + 1, sizeof(paritas_template))
        if self.c == NULL:
            raise MemoryError()
        for kind, channel, sample, modifier in given:
            code = value_of("paritas_template_kind", kind, "template of kind")
            self.c[i].kind = <paritas_template_kind>code
            self.c[i].channel, self.c[i].sample = PyUnicode_AsUTF8(channel), PyUnicode_AsUTF8(sample)
            if modifier is not None:
                self.c[i].modifier = PyUnicode_AsUTF8(modifier)
            i += 1

    def __dealloc__(self):
        free(self.c)


cdef class ModelMemory:
    """Owns a model for a Model and its arrays, which may outlive it. If arrays kept the Model, which has
    them, none would ever be freed."""

    cdef paritas_model *c

    def __dealloc__(self):
        paritas_model_free(self.c)

    cdef object borrowed(self, const double *at, Py_ssize_t n):
        """A read-only view of the model's memory."""
        array = view(self, <void *>at, (n,), np.dtype(np.float64))
        array.flags.writeable = False
        return array


cdef int read_model_options(paritas_model_options *c, measurement, poi, normsys_code, histosys_code,
                            clip_sample, clip_bin) except -1:
    """The arguments of Model, which keep the texts."""
    cdef int code
    if measurement is not None:
        c.measurement = PyUnicode_AsUTF8(measurement)
    if poi is not None:
        c.poi = PyUnicode_AsUTF8(poi)
    if normsys_code is not None:
        code = value_of("paritas_normsys_code", str(normsys_code).removeprefix("code"), "normsys_code")
        c.normsys_code = <paritas_normsys_code>code
    if histosys_code is not None:
        code = value_of("paritas_histosys_code", str(histosys_code).removeprefix("code"), "histosys_code")
        c.histosys_code = <paritas_histosys_code>code
    if clip_sample is not None:
        c.clip_sample, c.clip_sample_at = 1, clip_sample
    if clip_bin is not None:
        c.clip_bin, c.clip_bin_at = 1, clip_bin
    return 0


cdef class Model:
    """A frozen model. Immutable: threads may share it. Arrays are read-only views of the library's."""

    cdef paritas_model *c
    cdef ModelMemory memory
    cdef readonly Py_ssize_t parameter_count, main_count, aux_count, template_count
    cdef readonly Py_ssize_t data_count            # main, auxiliary, templates
    cdef readonly object data, suggested_init, lower_bounds, upper_bounds, suggested_fixed, constraint_widths
    cdef list names
    cdef readonly object poi_index                 # int or None
    cdef readonly list poi_indices                 # of all that the measurement lists
    cdef readonly list channel_layout              # (name, bins, [samples])
    cdef readonly list masked_channels             # of each: does the likelihood leave it out?
    cdef readonly Document document
    cdef readonly dict options                     # of __cinit__, as given
    cdef object __weakref__

    def __cinit__(self, Document workspace not None, measurement=None, poi=None, normsys_code=None,
                  histosys_code=None, clip_sample=None, clip_bin=None, templates=None):
        """Freezes one measurement's model. Arguments: paritas_model_options. poi: "" for none. templates:
        (kind, channel, sample, modifier or None) each."""
        cdef paritas_model_options options = paritas_model_options_default
        cdef Templates varied = Templates(templates or ())
        read_model_options(&options, measurement, poi, normsys_code, histosys_code, clip_sample, clip_bin)
        options.n_templates, options.templates = varied.n, varied.c
        paritas_model_create(workspace.c, &options, &self.c)
        self.memory = ModelMemory()
        self.memory.c = self.c
        self.document = workspace
        given = dict(measurement=measurement, poi=poi, normsys_code=normsys_code, histosys_code=histosys_code,
                     clip_sample=clip_sample, clip_bin=clip_bin,
                     templates=[tuple(one) for one in templates] if templates else None)
        self.options = {name: value for name, value in given.items() if value is not None}
        self.describe()

    cdef int describe(self) except -1:
        cdef const paritas_model *m = self.c
        cdef Py_ssize_t n = paritas_model_parameter_count(m), c, s
        self.parameter_count = n
        self.main_count = paritas_model_main_count(m)
        self.aux_count = paritas_model_aux_count(m)
        self.template_count = paritas_model_template_count(m)
        self.data_count = self.main_count + self.aux_count + self.template_count
        self.data = self.memory.borrowed(paritas_model_data(m), self.data_count)
        self.suggested_init = self.memory.borrowed(paritas_model_suggested_init(m), n)
        self.lower_bounds = self.memory.borrowed(paritas_model_lower_bounds(m), n)
        self.upper_bounds = self.memory.borrowed(paritas_model_upper_bounds(m), n)
        self.constraint_widths = self.memory.borrowed(paritas_model_constraint_widths(m), n)
        self.suggested_fixed = np.array([paritas_model_suggested_fixed(m)[s] != 0 for s in range(n)], bool)
        self.suggested_fixed.flags.writeable = False
        self.names = [paritas_model_parameter_name(m, s).decode() for s in range(n)]
        self.poi_index = paritas_model_poi_index(m) if paritas_model_poi_index(m) >= 0 else None
        self.poi_indices = [paritas_model_pois(m)[s] for s in range(paritas_model_poi_count(m))]
        self.channel_layout = [(paritas_model_channel_name(m, c).decode(), paritas_model_channel_bins(m, c),
                                [paritas_model_sample_name(m, c, s).decode()
                                 for s in range(paritas_model_sample_count(m, c))])
                               for c in range(paritas_model_channel_count(m))]
        self.masked_channels = [paritas_model_channel_masked(m, c) != 0
                                for c in range(paritas_model_channel_count(m))]
        return 0

    @property
    def parameter_names(self):
        """In parameter order; a new list, which callers may change."""
        return self.names[:]

    def __reduce__(self):
        return remade, (type(self), self.document, self.options)

    def __copy__(self):
        return self # immutable

    def __deepcopy__(self, memo):
        return self


def remade(kind, Document document not None, dict options not None):
    """Unpickles a model."""
    return kind(document, **options)


def evaluate(Model model not None, points, data=None, bint gradient=False, bint hessian=False,
             Engine engine=None):
    """Twice the NLL at n points for m data sets: `twice_nll` (n, m), and if asked for `gradient` (n, m, p)
    and `hessian` (n, m, p, p). data None: observed."""
    cdef Py_ssize_t p = model.parameter_count
    cdef Array at = matrix(points, p, "points"), rows = matrix(data, model.data_count, "data")
    cdef Py_ssize_t n = at.n, m = 1 if rows.array is None else rows.n
    cdef Array value = new_matrix(n, m)
    cdef Array slope = held(np.empty((n, m, p)) if gradient else None)
    cdef Array curve = held(np.empty((n, m, p, p)) if hessian else None)
    cdef paritas_evaluate_answers answers = paritas_evaluate_answers_default
    answers.twice_nll, answers.gradient, answers.hessian = value.at, slope.at, curve.at
    paritas_evaluate(model.c, n, at.at, m, rows.at, &answers, engine)
    return SimpleNamespace(twice_nll=value.array, gradient=slope.array, hessian=curve.array)


def twice_nll(Model model not None, point, data=None, Engine engine=None):
    """A float."""
    cdef Array at = vector(point, model.parameter_count, "point")
    cdef Array row = vector(data, model.data_count, "data")
    cdef double value
    cdef paritas_evaluate_answers answers = paritas_evaluate_answers_default
    answers.twice_nll = &value
    paritas_evaluate(model.c, 1, at.at, 1, row.at, &answers, engine)
    return value


def expected_data(Model model not None, points, Engine engine=None):
    """Main and auxiliary data at n points: (n, main + aux)."""
    cdef Array at = matrix(points, model.parameter_count, "points")
    cdef Py_ssize_t n = at.n
    cdef Array expected = new_matrix(n, model.data_count)
    paritas_expected_data(model.c, n, at.at, expected.at, engine)
    return expected.array


def expected_jacobian(Model model not None, point, Engine engine=None):
    """(main, p)"""
    cdef Array at = vector(point, model.parameter_count, "point")
    cdef Array jacobian = new_matrix(model.main_count, model.parameter_count)
    paritas_expected_jacobian(model.c, at.at, jacobian.at, engine)
    return jacobian.array


cdef Array new_samples(Model model):
    """Room for a number a channel, sample and bin."""
    return new_array(sum([len(samples) * bins for _, bins, samples in model.channel_layout]))

cdef list by_sample(Model model, object numbers):
    """A list of (samples, bins), one a channel."""
    cdef list parts = []
    cdef Py_ssize_t first = 0
    for _, bins, samples in model.channel_layout:
        parts.append(numbers[first:first + len(samples) * bins].reshape(len(samples), bins))
        first += len(samples) * bins
    return parts


def expected_by_sample(Model model not None, point, Engine engine=None):
    """A list of (samples, bins), one a channel."""
    cdef Array at = vector(point, model.parameter_count, "point"), expected = new_samples(model)
    paritas_expected_by_sample(model.c, at.at, expected.at, engine)
    return by_sample(model, expected.array)


cdef int read_options_of(paritas_model_options *c, Model model) except -1:
    """Those that the model was made with."""
    cdef object given = model.options
    return read_model_options(c, given.get("measurement"), given.get("poi"), given.get("normsys_code"),
                              given.get("histosys_code"), given.get("clip_sample"), given.get("clip_bin"))


def moments(Model model not None, control, bint postfit, str by not None, unsigned draws, uint64_t seed):
    """Moments of the background, as a document."""
    cdef Names of_control = Names(control)
    cdef paritas_simplify_options options = paritas_simplify_options_default
    cdef paritas_model_options of_model = paritas_model_options_default
    cdef int code = value_of("paritas_moments", by, "by")
    cdef Document made = Document.labelled(f"{model.document.label} (moments)")
    read_options_of(&of_model, model)
    options.control, options.n_control = of_control.c.items, of_control.c.count
    options.postfit, options.by, options.draws, options.seed = postfit, <paritas_moments>code, draws, seed
    paritas_simplify(model.document.c, &of_model, &options, &made.c)
    return made


cdef class UnfoldOptions:
    """paritas_unfold_options, which borrow from here."""

    cdef paritas_unfold_options c
    cdef tuple kept

    def __init__(self, parameters, weights, centres, str by not None):
        cdef Names names = Names(parameters)
        cdef Array factors = array_of(weights, (-1,), "weights"), middle = array_of(centres, (-1,), "centres")
        self.kept = names, factors, middle
        self.c = paritas_unfold_options_default
        self.c.parameters, self.c.n_parameters = names.c.items, names.c.count
        self.c.weights, self.c.n_weights = factors.at, factors.n
        self.c.centres, self.c.n_centres = middle.at, middle.n
        self.c.by = <paritas_regularise>value_of("paritas_regularise", by, "by")

    def set_strengths(self, taus, truth, unsigned scan, double tau_min, double tau_max, str choose not None):
        cdef Array strengths = array_of(taus, (-1,), "taus"), spectrum = array_of(truth, (-1,), "truth")
        self.kept += strengths, spectrum
        self.c.taus, self.c.n_taus = strengths.at, strengths.n
        self.c.truth, self.c.n_truth = spectrum.at, spectrum.n
        self.c.scan, self.c.tau_min, self.c.tau_max = scan, tau_min, tau_max
        self.c.choose = <paritas_unfold_choice>value_of("paritas_unfold_choice", choose, "choose")


def unfold(Model model not None, UnfoldOptions options not None, Engine engine=None):
    """Fits at each strength, as a document."""
    cdef paritas_model_options of_model = paritas_model_options_default
    cdef Document made = Document.labelled(f"{model.document.label} (unfolded)")
    read_options_of(&of_model, model)
    paritas_unfold(model.document.c, &of_model, &options.c, &made.c, engine)
    return made


def penalise(Model model not None, UnfoldOptions options not None, double tau):
    """The workspace with the penalty."""
    cdef paritas_model_options of_model = paritas_model_options_default
    cdef Document made = Document.labelled(f"{model.document.label} (penalised)")
    read_options_of(&of_model, model)
    paritas_penalise(model.document.c, &of_model, &options.c, tau, &made.c)
    return made
