# paritas.h, as far as the engine calls it.
from libc.stdint cimport uint64_t

cdef extern from "paritas.h" nogil:
    ctypedef enum paritas_status:
        PARITAS_OK
        PARITAS_OUT_OF_MEMORY
        PARITAS_INVALID_ARGUMENT
        PARITAS_NOT_FOUND
        PARITAS_INVALID_INPUT
        PARITAS_UNREADABLE
        PARITAS_UNWRITABLE
        PARITAS_NO_DEVICE
        PARITAS_CANCELLED
        PARITAS_NOT_CONVERGED
    ctypedef enum paritas_fit_status:
        PARITAS_FIT_CONVERGED
    ctypedef enum paritas_minimizer:
        PARITAS_MINIMIZER_NEWTON
    ctypedef enum paritas_parameter_state:
        PARITAS_PARAMETER_FREE
    ctypedef enum paritas_test_statistic:
        PARITAS_STATISTIC_QTILDE
        PARITAS_STATISTIC_Q
        PARITAS_STATISTIC_Q0

    ctypedef struct paritas_context
    ctypedef struct paritas_workspace
    ctypedef struct paritas_model

    const char *paritas_version()
    const char *paritas_status_name(paritas_status status)
    const char *paritas_status_message(paritas_status status)
    const char *paritas_minimizer_name(paritas_minimizer minimizer)
    const char *paritas_fit_status_name(paritas_fit_status status)
    const char *paritas_parameter_state_name(paritas_parameter_state state)

    ctypedef int (*paritas_progress)(void *user, uint64_t done, uint64_t total) noexcept nogil
    ctypedef void (*paritas_note_function)(void *user, const char *message) noexcept nogil
    ctypedef struct paritas_options:
        size_t size
        unsigned threads
        const char *isa
        unsigned lanes
        const char *device
        unsigned precision
        unsigned workers
        paritas_progress progress
        void *progress_user
        const char *cache
        paritas_note_function note
        void *note_user
        int no_polish
        void *stream
    unsigned PARITAS_PRECISION_AUTO

    paritas_status paritas_open(const paritas_options *options, paritas_context **context)
    void paritas_close(paritas_context *context)
    const char *paritas_error_message(const paritas_context *context)
    const char *paritas_device_name(const paritas_context *context)
    const char *paritas_isa_name(const paritas_context *context)
    const char *paritas_precision_name(const paritas_context *context)
    const char *paritas_polish_name(const paritas_context *context)
    ctypedef struct paritas_device_info:
        char name[32]
        char description[256]
        char isa[16]
        int f64
        int f32
        char reason_f64[512]
        char reason_f32[512]
    paritas_status paritas_list_devices(paritas_context *context, size_t room, paritas_device_info *devices, size_t *count)

    paritas_status paritas_workspace_read(paritas_context *context, const char *path, paritas_workspace **workspace)
    paritas_status paritas_workspace_parse(paritas_context *context, const char *text, size_t length, const char *label, paritas_workspace **workspace)
    void paritas_workspace_free(paritas_workspace *workspace)
    paritas_status paritas_workspace_patch(paritas_context *context, const paritas_workspace *workspace, const paritas_workspace *patch,
                                           paritas_workspace **patched)
    paritas_status paritas_patchset_verify(paritas_context *context, const paritas_workspace *workspace, const paritas_workspace *patchset)
    paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset, size_t *count)
    paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset, size_t index, const char **name)
    paritas_status paritas_patchset_apply(paritas_context *context, const paritas_workspace *workspace, const paritas_workspace *patchset, const char *name,
                                          paritas_workspace **patched)
    paritas_status paritas_workspace_digest(paritas_context *context, const paritas_workspace *workspace, char *digest)
    paritas_status paritas_workspace_write(paritas_context *context, const paritas_workspace *workspace, unsigned indent, char **text, size_t *length)
    ctypedef struct paritas_names:
        const char *const *items
        size_t count
    ctypedef struct paritas_prune_options:
        size_t size
        paritas_names channels
        paritas_names samples
        paritas_names modifiers
        paritas_names modifier_types
        paritas_names measurements
    ctypedef struct paritas_rename_options:
        size_t size
        paritas_names channels
        paritas_names samples
        paritas_names modifiers
        paritas_names measurements
    paritas_status paritas_workspace_sort(paritas_context *context, const paritas_workspace *workspace, paritas_workspace **out)
    paritas_status paritas_workspace_prune(paritas_context *context, const paritas_workspace *workspace, const paritas_prune_options *options,
                                           paritas_workspace **out)
    paritas_status paritas_workspace_rename(paritas_context *context, const paritas_workspace *workspace, const paritas_rename_options *options,
                                            paritas_workspace **out)
    paritas_status paritas_workspace_combine(paritas_context *context, const paritas_workspace *left, const paritas_workspace *right, const char *join,
                                             int merge_channels, paritas_workspace **out)
    paritas_status paritas_workspace_inspect(paritas_context *context, const paritas_workspace *workspace, paritas_workspace **out)
    void paritas_text_free(paritas_context *context, char *text)

    ctypedef enum paritas_template_kind:
        PARITAS_TEMPLATE_NOMINAL
    const char *paritas_template_kind_name(paritas_template_kind kind)
    ctypedef struct paritas_template:
        paritas_template_kind kind
        const char *channel
        const char *sample
        const char *modifier
    ctypedef struct paritas_model_options:
        size_t size
        const char *measurement
        const char *poi
        int normsys_code
        int histosys_code
        int clip_sample
        double clip_sample_at
        int clip_bin
        double clip_bin_at
        size_t n_templates
        const paritas_template *templates
    paritas_status paritas_model_create(paritas_context *context, const paritas_workspace *workspace, const paritas_model_options *options,
                                        paritas_model **model)
    void paritas_model_free(paritas_model *model)
    size_t paritas_model_parameter_count(const paritas_model *model)
    size_t paritas_model_main_count(const paritas_model *model)
    size_t paritas_model_aux_count(const paritas_model *model)
    const char *paritas_model_parameter_name(const paritas_model *model, size_t index)
    ptrdiff_t paritas_model_poi_index(const paritas_model *model)
    const double *paritas_model_suggested_init(const paritas_model *model)
    const double *paritas_model_lower_bounds(const paritas_model *model)
    const double *paritas_model_upper_bounds(const paritas_model *model)
    const unsigned char *paritas_model_suggested_fixed(const paritas_model *model)
    const double *paritas_model_constraint_widths(const paritas_model *model)
    const double *paritas_model_data(const paritas_model *model)
    size_t paritas_model_template_count(const paritas_model *model)
    paritas_status paritas_model_fill_row(paritas_context *context, const paritas_model *model, const double *main_data, const double *templates, double *row)
    size_t paritas_model_channel_count(const paritas_model *model)
    const char *paritas_model_channel_name(const paritas_model *model, size_t channel)
    size_t paritas_model_channel_bins(const paritas_model *model, size_t channel)
    size_t paritas_model_sample_count(const paritas_model *model, size_t channel)
    const char *paritas_model_sample_name(const paritas_model *model, size_t channel, size_t sample)

    paritas_status paritas_evaluate(paritas_context *context, const paritas_model *model, size_t n_points, const double *points, size_t n_data,
                                    const double *data, double *twice_nll, double *gradient, double *hessian)
    paritas_status paritas_expected_data(paritas_context *context, const paritas_model *model, size_t n_points, const double *points, double *expected)
    paritas_status paritas_expected_jacobian(paritas_context *context, const paritas_model *model, const double *point, double *jacobian)
    paritas_status paritas_expected_by_sample(paritas_context *context, const paritas_model *model, const double *point, double *expected)

    ctypedef struct paritas_job:
        const double *data
        const double *start
        const double *lower
        const double *upper
        const unsigned char *fixed
    ctypedef struct paritas_fit_result:
        paritas_fit_status status
        unsigned iterations
        double twice_nll
        double edm
        double projected_gradient
    ctypedef struct paritas_fit_options:
        size_t size
        unsigned max_iterations
        int start_is_near
        paritas_minimizer minimizer
        unsigned population
        uint64_t seed
    paritas_status paritas_fit(paritas_context *context, const paritas_model *model, const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                               paritas_fit_result *results, double *parameters, double *errors, double *covariance, paritas_parameter_state *states)
    paritas_status paritas_minos(paritas_context *context, const paritas_model *model, const paritas_job *job, const double *best, double best_twice_nll,
                                 double error, size_t parameter, double *down, double *up)

    ctypedef struct paritas_hypotest_result:
        double mu, cls_obs
        double cls_exp[5]
        double clsb, clb, p0, q, q_asimov, mu_hat, twice_nll_free, twice_nll_fixed
        paritas_fit_status status
    paritas_status paritas_hypotest(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_test_statistic statistic, size_t n,
                                    const double *mu, paritas_hypotest_result *results)
    ctypedef struct paritas_limit_result:
        double limit_obs
        double limit_exp[5]
        double upper_bound
        int bound_widened
        paritas_fit_status status
        size_t n_scan
        paritas_hypotest_result scan[64]
    paritas_status paritas_limit(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_test_statistic statistic, double level,
                                 paritas_limit_result *result)
    ctypedef struct paritas_significance_result:
        double p0, z, p0_exp, z_exp, q0, mu_hat
        paritas_fit_status status
    paritas_status paritas_significance(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_significance_result *result)
    ctypedef struct paritas_scan_point:
        double q, twice_nll
        paritas_fit_status status
    paritas_status paritas_scan(paritas_context *context, const paritas_model *model, const paritas_job *job, size_t k, const size_t *parameters, size_t n,
                                const double *values, paritas_fit_result *best, double *best_parameters, paritas_scan_point *points)
    ctypedef struct paritas_ranking_entry:
        size_t parameter
        double pull, constraint, impact_up, impact_down, prefit_up, prefit_down
        paritas_fit_status status
    paritas_status paritas_ranking(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_ranking_entry *entries, size_t *n)
    ctypedef struct paritas_gof_result:
        double twice_nll, saturated, statistic, p
        size_t ndof
        paritas_fit_status status
    paritas_status paritas_gof(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_gof_result *result)

    ctypedef struct paritas_toy:
        uint64_t toy
        double mu, hypothesis, q, mu_hat, twice_nll_free, twice_nll_fixed
        paritas_fit_status status
        unsigned iterations
    ctypedef int (*paritas_toys_taker)(void *user, size_t n, const paritas_toy *toys) noexcept nogil
    ctypedef struct paritas_key_entry:
        const char *name
        const char *value
    ctypedef struct paritas_toys_options:
        size_t size
        uint64_t n
        uint64_t seed
        unsigned shard, shards
        int fix_aux
        int newton_only
        const char *store
        int resume
        size_t n_entries
        const paritas_key_entry *entries
        paritas_toys_taker take
        void *user
    ctypedef struct paritas_toys_tally:
        uint64_t counts[5]
        uint64_t fitted, iterations, by_quasi_newton, by_newton, from_suggested_start, from_the_other_fit, from_further_starts, at_edge, refitted
    ctypedef struct paritas_hypotest_toys_result:
        double mu, cls_obs
        double cls_exp[5]
        double clsb, clb, p0, cls_obs_error
        double cls_exp_error[5]
        double clsb_error, clb_error, p0_error, q, mu_hat, twice_nll_free, twice_nll_fixed
        paritas_fit_status status
        uint64_t n_tested, n_other
        paritas_toys_tally tally
    paritas_status paritas_hypotest_toys(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_test_statistic statistic,
                                         double mu, const paritas_toys_options *options, paritas_hypotest_toys_result *result)
    ctypedef struct paritas_toy_fit:
        uint64_t toy
        paritas_fit_result result
        double statistic
        const double *parameters
        const double *errors
    ctypedef int (*paritas_toy_fits_taker)(void *user, size_t n, const paritas_toy_fit *fits) noexcept nogil
    unsigned PARITAS_TOYS_KEEP_PARAMETERS
    unsigned PARITAS_TOYS_ERRORS
    ctypedef struct paritas_toys_parameter:
        double generated
        uint64_t n, n_pulls
        double mean, rms, pull_mean, pull_rms
    ctypedef struct paritas_toys_result:
        paritas_fit_status status
        paritas_toys_tally tally
    paritas_status paritas_toys(paritas_context *context, const paritas_model *model, const paritas_job *job, const double *point, const double *expected,
                                unsigned flags, const paritas_toys_options *options, paritas_toy_fits_taker take, void *user,
                                paritas_toys_parameter *parameters, paritas_toys_result *result)
    ctypedef struct paritas_gof_toys_result:
        paritas_gof_result gof
        double p_toys, p_toys_error
        uint64_t n
        paritas_toys_tally tally
    paritas_status paritas_gof_toys(paritas_context *context, const paritas_model *model, const paritas_job *job, const paritas_toys_options *options,
                                    paritas_gof_toys_result *result)
    ctypedef struct paritas_significance_toys_result:
        double p0, p0_error, z, z_error, z_at_least, p0_exp, p0_exp_error, z_exp, z_exp_error, z_exp_at_least
        paritas_hypotest_toys_result test
    paritas_status paritas_significance_toys(paritas_context *context, const paritas_model *model, const paritas_job *job, const paritas_toys_options *options,
                                             paritas_significance_toys_result *result)
    unsigned PARITAS_LIMIT_TOYS
    ctypedef struct paritas_limit_toys_result:
        double limit_obs
        double limit_exp[5]
        double limit_obs_error
        double limit_exp_error[5]
        int reached_obs
        int reached_exp[5]
        double asymptotic_obs
        double asymptotic_exp[5]
        double mu_hat, twice_nll_free, upper_bound
        int bound_widened
        paritas_fit_status status
        paritas_toys_tally tally
        size_t n_scan
        paritas_hypotest_toys_result scan[64]
    paritas_status paritas_limit_toys(paritas_context *context, const paritas_model *model, const paritas_job *job, paritas_test_statistic statistic,
                                      double level, double rtol, const paritas_toys_options *options, paritas_limit_toys_result *result)
    paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths, const char *output)
    paritas_status paritas_store_hypotest(paritas_context *context, const char *path, paritas_hypotest_toys_result *result)

cdef extern from "paritas_gradient.h" nogil:
    ctypedef enum paritas_quantity:
        PARITAS_QUANTITY_NLL
        PARITAS_QUANTITY_TWICE_NLL
        PARITAS_QUANTITY_CLS
        PARITAS_QUANTITY_LIMIT
    int PARITAS_QUANTITY_OUTPUTS
    const char *paritas_quantity_name(paritas_quantity quantity)
    ctypedef struct paritas_gradient_options:
        size_t size
        paritas_quantity quantity
        paritas_test_statistic statistic
        unsigned outputs
        double level
        int shared
        int aux_follow
    ctypedef struct paritas_gradient:
        double *values
        paritas_fit_status *statuses
        double *data
        double *at
    paritas_status paritas_differentiate(paritas_context *context, const paritas_model *model, const paritas_gradient_options *options,
                                         const paritas_job *job, size_t n, const double *at, const double *data, const paritas_gradient *gradient)
