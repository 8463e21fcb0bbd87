# Draws from posteriors, and their summaries.

def sample(Model model not None, Job job, dict numbers, priors, before=None, store=None, bint resume=False,
           Engine engine=None, progress=None):
    """`numbers`: members of paritas_sample_options. priors: (parameter, kind, a, b). before: an answer of
    fewer draws, which goes on. store: a path, or None. Has `values` (chains, draws, p), `draws` and `chains`,
    rows of paritas_draw and paritas_chain, and `state`."""
    cdef paritas_sample_options options = paritas_sample_options_default
    cdef paritas_sample_answers answers = paritas_sample_answers_default
    cdef Py_ssize_t n = len(priors), i
    options.chains, options.draws = numbers["chains"], numbers["draws"]
    options.warmup, options.seed = numbers["warmup"], numbers["seed"]
    options.target, options.max_depth = numbers["target"], numbers["max_depth"]
    cdef Py_ssize_t chains = options.chains, draws = options.draws, p = model.parameter_count
    cdef Array values = new_block(chains, draws, p), rows = new_rows("paritas_draw", chains * draws)
    cdef Array ends = new_rows("paritas_chain", chains)
    cdef Array state = new_matrix(chains, paritas_sample_state_size(model.c))
    cdef paritas_prior *given = <paritas_prior *>calloc(n + 1, sizeof(paritas_prior))
    if given == NULL:
        raise MemoryError()
    try:
        for i in range(n):
            given[i].parameter, word, given[i].numbers[0], given[i].numbers[1] = priors[i]
            given[i].kind = <paritas_prior_kind>value_of("paritas_prior_kind", word, "prior")
        options.n_priors, options.priors = n, given
        if before is not None:
            made = before.values.shape[1]
            values.array[:, :made] = before.values
            rows.array.reshape(chains, draws)[:, :made] = before.draws
            state.array[...] = before.state
            options.resume = 1
        if store is not None:
            options.store, options.resume = PyUnicode_AsUTF8(store), resume
        answers.parameters, answers.draws = values.at, <paritas_draw *>rows.rows
        answers.chains, answers.state = <paritas_chain *>ends.rows, state.at
        paritas_sample(model.c, job_of(job), &options, &answers, engine, progress)
    finally:
        free(given)
    return SimpleNamespace(values=values.array, draws=rows.array.reshape(chains, draws), chains=ends.array,
                           state=state.array)


def predictive_data(Model model not None, points, seed, Engine engine=None):
    """Data drawn at n points: (n, main + aux)."""
    cdef Array at = matrix(points, model.parameter_count, "points")
    cdef Py_ssize_t n = at.n
    cdef Array data = new_matrix(n, model.data_count)
    paritas_predictive_data(model.c, n, at.at, seed, data.at, engine)
    return data.array


def summarise_draws(values, double level, Engine engine=None):
    """Rows of paritas_posterior of values (chains, draws, n)."""
    cdef object whole = np.ascontiguousarray(values, dtype=np.float64)
    if whole.ndim != 3:
        raise InvalidArgument(f"values: (chains, draws, columns) is wanted, not {whole.shape}")
    cdef Py_ssize_t n = whole.shape[2]
    cdef Array rows = new_rows("paritas_posterior", n)
    cdef double *at = <double *>address(whole)
    paritas_summarise_draws(whole.shape[0], whole.shape[1], n, at, level, rows.rows, engine)
    return rows.array


def judge_draws(posteriors, chains, Engine engine=None):
    """A row of paritas_sample_verdict."""
    cdef Array rows = copied_rows("paritas_posterior", posteriors, len(posteriors), "posteriors")
    cdef Array of = copied_rows("paritas_chain", chains, len(chains), "chains")
    cdef Array verdict = new_rows("paritas_sample_verdict", 1)
    paritas_judge_draws(rows.n, rows.rows, of.n, of.rows, verdict.rows, engine)
    return verdict.array[0]
