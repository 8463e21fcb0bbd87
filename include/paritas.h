/* paritas.h: the whole public interface of Paritas.
 *
 * Paritas fits binned likelihoods in HistFactory form (pyhf JSON workspaces), one at a time or by the
 * million, and gives the same bits on every device, lane width, thread count and batch order.
 *
 *   file ──► paritas_workspace ──► paritas_model ──► jobs ──► results ──► statistics
 *            (a JSON document)     (frozen)         (fits)               (limits, scans, rankings)
 *
 * Rules that hold for every function here:
 *   - It returns PARITAS_OK (0) or a negative status; paritas_error_message(context) then says what
 *     happened, with file and place in the document where there is one. The outcome of a single fit is
 *     never an error: it is results[i].status.
 *   - The library prints nothing, never exits, and touches no locale, signal, environment variable or
 *     rounding mode. It has no global state but a counter that numbers models.
 *   - A context serves one thread at a time; distinct contexts are independent. Workspaces and models
 *     are immutable once made and may be shared by threads, each with a context of its own, as long as
 *     the context that made them is still open.
 *   - Pointers passed in are borrowed until the function returns, unless it says otherwise. What a
 *     `..._create` or `..._read` function hands out is freed by the matching `..._free`, which takes NULL.
 *   - Parameters, main data and auxiliary data stand in pyhf's order. `data` rows are main data followed
 *     by auxiliary data, and by the templates of a model that has some. Likelihoods are given as twice the
 *     negative logarithm, all constants included.
 *   - A number that does not exist (a fit that left the domain, the error of a fixed parameter) is NaN.
 */
#ifndef PARITAS_H
#define PARITAS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PARITAS_VERSION_MAJOR 0
#define PARITAS_VERSION_MINOR 1
#define PARITAS_VERSION_PATCH 0

#if defined(PARITAS_BUILDING) && defined(__GNUC__)
#define PARITAS_API __attribute__((visibility("default")))
#else
#define PARITAS_API
#endif

/* ---- statuses --------------------------------------------------------------------------------- */

/* Every status with its value and its sentence: enum, paritas_status_name and
 * paritas_status_message are made from this one list. */
#define PARITAS_STATUS_LIST(X)                                                      \
    X(OK, 0, "success")                                                             \
    X(OUT_OF_MEMORY, -1, "memory could not be allocated")                           \
    X(INVALID_ARGUMENT, -2, "an argument is not valid")                             \
    X(NOT_FOUND, -3, "the input has no such parameter, measurement, patch or name") \
    X(INVALID_INPUT, -4, "the input document is wrong")                             \
    X(UNREADABLE, -5, "a file could not be read")                                   \
    X(UNWRITABLE, -6, "a file could not be written")                                \
    X(NO_DEVICE, -7, "the device is not available")                                 \
    X(CANCELLED, -8, "cancelled by the caller")                                     \
    X(NOT_CONVERGED, -9, "a fit that the answer needs did not converge")

typedef enum paritas_status {
#define X(name, value, sentence) PARITAS_##name = value,
    PARITAS_STATUS_LIST(X)
#undef X
} paritas_status;

/* Outcome of one fit. Only CONVERGED is a success, and it is said only where the conditions were
 * checked at the returned point. */
#define PARITAS_FIT_LIST(X)                        \
    X(CONVERGED, 0, "converged")                   \
    X(AT_ITERATION_LIMIT, 1, "at_iteration_limit") \
    X(NO_PROGRESS, 2, "no_progress")               \
    X(NON_FINITE, 3, "non_finite")                 \
    X(NOT_A_MINIMUM, 4, "not_a_minimum")

typedef enum paritas_fit_status {
#define X(name, value, word) PARITAS_FIT_##name = value,
    PARITAS_FIT_LIST(X)
#undef X
} paritas_fit_status;

/* Methods of minimisation.
 *   newton  exact gradient and Hessian: the default
 *   lbfgsb  Byrd, Lu, Nocedal, Zhu, SIAM J. Sci. Comput. 16 (1995) 1190: from gradients alone; an independent
 *           check of newton
 *   de      differential evolution (Storn, Price, J. Global Optimization 11 (1997) 341): from values alone,
 *           for rough objectives of few
 *           parameters; beyond about 30 it seldom gets as near to the minimum as `converged` asks, and says
 *           so
 * Answers of the last two are checked with the exact Hessian before they say converged. */
#define PARITAS_MINIMIZER_LIST(X) \
    X(NEWTON, 0, "newton")        \
    X(LBFGSB, 1, "lbfgsb")        \
    X(DE, 2, "de")

typedef enum paritas_minimizer {
#define X(name, value, word) PARITAS_##name = value,
    PARITAS_MINIMIZER_LIST(X)
#undef X
} paritas_minimizer;

/* State of a parameter in a fit. */
typedef enum paritas_parameter_state {
    PARITAS_FREE = 0,
    PARITAS_FIXED = 1,
    PARITAS_AT_LOWER_BOUND = 2,
    PARITAS_AT_UPPER_BOUND = 3
} paritas_parameter_state;

PARITAS_API const char *paritas_version(void);
PARITAS_API const char *paritas_status_name(paritas_status status);
PARITAS_API const char *paritas_status_message(paritas_status status);
PARITAS_API const char *paritas_minimizer_name(paritas_minimizer minimizer); /* "newton", ... */
PARITAS_API const char *paritas_fit_status_name(paritas_fit_status status);  /* "converged", ... */
/* "free", "fixed", "at_lower_bound", ... */
PARITAS_API const char *paritas_parameter_state_name(paritas_parameter_state state);

/* ---- context ---------------------------------------------------------------------------------- */

typedef struct paritas_context paritas_context;

/* Memory functions of the caller's; `user` is passed back. All memory of the library comes from them. */
typedef struct paritas_allocator {
    void *(*allocate)(void *user, size_t size);
    void *(*reallocate)(void *user, void *memory, size_t size);
    void (*release)(void *user, void *memory);
    void *user;
} paritas_allocator;

/* Called from the calling thread now and then during long work: `done` of `total` jobs are finished.
 * A return other than 0 cancels the work, which then answers PARITAS_CANCELLED. */
typedef int (*paritas_progress)(void *user, uint64_t done, uint64_t total);

/* Told what takes time or was decided: that kernels are compiled, where "auto" goes on and why. A sentence at
 * a time, from the calling thread. */
typedef void (*paritas_note_function)(void *user, const char *message);

/* Options of paritas_open. Start from PARITAS_OPTIONS_DEFAULT. Zero means the default everywhere. */
typedef struct paritas_options {
    size_t size;                        /* sizeof(paritas_options), for growth */
    const paritas_allocator *allocator; /* NULL: malloc. Copied. */
    unsigned threads;                   /* worker threads of one call; 0: one per processor */
    /* NULL: the processor's best; "portable", "scalar", "avx2", "avx512", "neon" */
    const char *isa;
    unsigned lanes; /* fits in lockstep: 0: chosen by model size; 1, 2, 4, 8, 16 */
    /* NULL or "cpu"; "cuda[:i]", "metal[:i]", "opencl[:i]"; "auto": the CPU, and beside it for long work the
     * first of the others that can run */
    const char *device;
    /* 0 or 64: f64; 32: f32 kernels, fits polished in f64; PARITAS_PRECISION_AUTO: f64 where the device has
     * it at useful speed, else f32 */
    unsigned precision;
    /* size of a work-group on devices that have them; 0: the device's choice */
    unsigned workers;
    paritas_progress progress; /* NULL: none */
    void *progress_user;
    /* folder where devices keep compiled kernels, made where it is not there; NULL or "": none. Copied. */
    const char *cache;
    paritas_note_function note; /* NULL: none */
    void *note_user;
    /* nonzero: fits in f32 stand as f32 left them, which is for looking at f32 rather than for results; toys
     * that f32 does not finish are fitted in f64 also then */
    int no_polish;
    /* of a CUDA device, on which all work runs, in order with the caller's: a CUstream (or cudaStream_t) of
     * its primary context; NULL: one of the library's own. Borrowed until paritas_close */
    void *stream;
} paritas_options;
#define PARITAS_OPTIONS_DEFAULT \
    {sizeof(paritas_options), NULL, 0, NULL, 0, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL}
#define PARITAS_PRECISION_AUTO 1

/* Opens a context. `options` may be NULL. On failure *context still holds a context (unless memory ran
 * out), so that its message can be read; close it. */
PARITAS_API paritas_status paritas_open(const paritas_options *options, paritas_context **context);
PARITAS_API void paritas_close(paritas_context *context);
/* The details of the last failure, "" if none. Valid until the next call with this context. */
PARITAS_API const char *paritas_error_message(const paritas_context *context);
/* Name of the device in use ("cpu", "opencl:0") and of the kernel build ("avx512", ...). */
PARITAS_API const char *paritas_device_name(const paritas_context *context);
PARITAS_API const char *paritas_isa_name(const paritas_context *context);

/* A device as paritas_list_devices found it. */
typedef struct paritas_device_info {
    char name[32]; /* what paritas_options.device takes */
    /* processor, driver, compiler; "" where it could not be opened */
    char description[256];
    char isa[16]; /* of the CPU's kernels; "" elsewhere */
    /* nonzero: it runs, and passed its self-test, in this precision */
    int f64, f32;
    char reason_f64[512], reason_f32[512]; /* why not */
} paritas_device_info;

/* Opens all devices that the installed drivers tell of, one after the other, with the cache and the
 * work-groups of this context, and closes them again. *count: how many there are; the first `room` of them
 * are described. A kind of which there is none stands among them with its bare name and the reason. */
PARITAS_API paritas_status paritas_list_devices(paritas_context *context, size_t room,
                                                paritas_device_info *devices, size_t *count);
/* "f64" or "f32": what was asked for, or chosen; and what finishes fits: "f64" where f32 fits are polished,
 * else "none". */
PARITAS_API const char *paritas_precision_name(const paritas_context *context);
PARITAS_API const char *paritas_polish_name(const paritas_context *context);

/* ---- workspaces ------------------------------------------------------------------------------- */

typedef struct paritas_workspace paritas_workspace;

/* Reads a JSON document from a file ("-" is standard input) or from memory; `label` names it in
 * messages. The document is parsed strictly (RFC 8259, UTF-8, no duplicate keys, finite numbers); that it is
 * a workspace is checked by paritas_model_create and the operations. */
PARITAS_API paritas_status paritas_workspace_read(paritas_context *context, const char *path,
                                                  paritas_workspace **workspace);
PARITAS_API paritas_status paritas_workspace_parse(paritas_context *context, const char *text, size_t length,
                                                   const char *label, paritas_workspace **workspace);
PARITAS_API void paritas_workspace_free(paritas_workspace *workspace);
/* Applies a JSON Patch (RFC 6902), itself a document, to a copy of `workspace`. */
PARITAS_API paritas_status paritas_workspace_patch(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_workspace *patch,
                                                   paritas_workspace **patched);
/* Checks `patchset` (a pyhf patch set) against the digests of `workspace`. */
PARITAS_API paritas_status paritas_patchset_verify(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_workspace *patchset);
PARITAS_API paritas_status paritas_patchset_count(paritas_context *context, const paritas_workspace *patchset,
                                                  size_t *count);
PARITAS_API paritas_status paritas_patchset_name(paritas_context *context, const paritas_workspace *patchset,
                                                 size_t index, const char **name);
/* Verifies, then applies the patch of that name. */
PARITAS_API paritas_status paritas_patchset_apply(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  const paritas_workspace *patchset, const char *name,
                                                  paritas_workspace **patched);
/* Writes "sha256:" and 64 hexadecimal digits (72 bytes with the end) as pyhf's digest does. */
PARITAS_API paritas_status paritas_workspace_digest(paritas_context *context,
                                                    const paritas_workspace *workspace, char digest[72]);
/* The document as JSON text, indented by `indent` blanks (0: one line), keys in order. Freed by
 * paritas_text_free. */
PARITAS_API paritas_status paritas_workspace_write(paritas_context *context,
                                                   const paritas_workspace *workspace, unsigned indent,
                                                   char **text, size_t *length);
PARITAS_API void paritas_text_free(paritas_context *context, char *text);

/* Workspaces in, workspaces out, with pyhf's semantics. Each of these operations checks the shape of its
 * input (pyhf's schema, and that no channel, sample of a channel, (name, type) of a sample, observation,
 * measurement or parameter configuration is given twice), leaves it as it is, and hands out a new document,
 * to be freed, whose shape was checked as well. What the model means is not checked, so that a file with,
 * say, a wrong normsys can be repaired by pruning it. On failure *out is NULL. INVALID_INPUT, with the place:
 * a document of the wrong shape, or a result that would be one (a workspace without channels, say);
 * NOT_FOUND, with the name: one that the workspace lacks; INVALID_ARGUMENT. */

/* Names, borrowed. */
typedef struct paritas_names {
    const char *const *items; /* may be NULL where there are none */
    size_t count;
} paritas_names;

/* Sorts channels, samples, measurements, their parameters and observations by name, modifiers by name and
 * type. */
PARITAS_API paritas_status paritas_workspace_sort(paritas_context *context,
                                                  const paritas_workspace *workspace,
                                                  paritas_workspace **out);

/* What to drop: channels with their observations, modifiers with their configurations. Start from
 * PARITAS_PRUNE_OPTIONS_DEFAULT: nothing. */
typedef struct paritas_prune_options {
    size_t size; /* sizeof(paritas_prune_options), for growth */
    paritas_names channels, samples, modifiers, modifier_types, measurements;
} paritas_prune_options;
#define PARITAS_PRUNE_OPTIONS_DEFAULT \
    {sizeof(paritas_prune_options), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}}
/* The workspace without what is named. `options` may be NULL. */
PARITAS_API paritas_status paritas_workspace_prune(paritas_context *context,
                                                   const paritas_workspace *workspace,
                                                   const paritas_prune_options *options,
                                                   paritas_workspace **out);

/* Old and new names in pairs: items[0] becomes items[1], items[2] becomes items[3], ...; `count` counts both.
 * Of two pairs with one old name the last holds. Start from PARITAS_RENAME_OPTIONS_DEFAULT: none. */
typedef struct paritas_rename_options {
    size_t size; /* sizeof(paritas_rename_options), for growth */
    paritas_names channels, samples, modifiers, measurements;
} paritas_rename_options;
#define PARITAS_RENAME_OPTIONS_DEFAULT \
    {sizeof(paritas_rename_options), {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}}
/* The workspace with other names: of channels with their observations, of modifiers with their configurations
 * and the parameter of interest. All at once, so that a swap works. `options` may be NULL. INVALID_ARGUMENT:
 * an old name without its new one. */
PARITAS_API paritas_status paritas_workspace_rename(paritas_context *context,
                                                    const paritas_workspace *workspace,
                                                    const paritas_rename_options *options,
                                                    paritas_workspace **out);

/* Two workspaces into one. `join` says what may be in both: "none" (or NULL): nothing; "outer": channels and
 * observations that are equal, and measurements of one parameter of interest, whose configurations are put
 * together; "left outer", "right outer": anything, and that side wins. `merge_channels` nonzero (not with
 * "none"): channels of one name get the samples of both, the winning side's (the left's with "outer") where
 * both have one. INVALID_ARGUMENT: another join; INVALID_INPUT, with the names of both documents: what may
 * not be in both. */
PARITAS_API paritas_status paritas_workspace_combine(paritas_context *context, const paritas_workspace *left,
                                                     const paritas_workspace *right, const char *join,
                                                     int merge_channels, paritas_workspace **out);

/* What is in a workspace: a document (no workspace), to be freed, which paritas_workspace_write makes
 * readable, with pyhf's keys
 *   channels [[name, bins]], samples [name], modifiers {name: type}, parameters [[name, constraint]],
 *   systematics [[name, constraint, [type]]], measurements [[name, poi, [parameter]]], the first being the
 *   default,
 * all but the measurements sorted by name, and ours: counts {channels, samples, parameters, modifiers},
 *   unused {observations [name], parameters [[measurement, name]], pois [[measurement, poi]]}: what the file
 *   has and no model uses. */
PARITAS_API paritas_status paritas_workspace_inspect(paritas_context *context,
                                                     const paritas_workspace *workspace,
                                                     paritas_workspace **out);

/* ---- models ----------------------------------------------------------------------------------- */

typedef struct paritas_model paritas_model;

/* Numbers of a workspace that may be arguments of each job: the rates of a sample in a channel; hi_data and
 * lo_data of a histosys that it carries there. */
#define PARITAS_TEMPLATE_LIST(X)     \
    X(NOMINAL, 0, "nominal")         \
    X(HISTOSYS_UP, 1, "histosys_up") \
    X(HISTOSYS_DOWN, 2, "histosys_down")

typedef enum paritas_template_kind {
#define X(name, value, word) PARITAS_TEMPLATE_##name = value,
    PARITAS_TEMPLATE_LIST(X)
#undef X
} paritas_template_kind;

PARITAS_API const char *paritas_template_kind_name(paritas_template_kind kind); /* "nominal", ... */

/* A template: as many numbers as the channel has bins. */
typedef struct paritas_template {
    paritas_template_kind kind;
    const char *channel, *sample;
    const char *modifier; /* of a histosys; else NULL */
} paritas_template;

typedef struct paritas_model_options {
    size_t size;
    const char *measurement; /* NULL: the first */
    const char *poi;         /* NULL: the measurement's; "": none */
    int normsys_code;        /* 1 or 4; 0: 4 */
    int histosys_code;       /* PARITAS_HISTOSYS_...; 0: 4p */
    /* nonzero: expected rates of a sample in a bin are clipped from below at clip_sample_at (finite) */
    int clip_sample;
    double clip_sample_at;
    /* nonzero: expected rates of a bin are clipped from below at clip_bin_at (finite) */
    int clip_bin;
    double clip_bin_at;
    size_t n_templates; /* see "templates" below */
    const paritas_template *templates;
} paritas_model_options;
#define PARITAS_MODEL_OPTIONS_DEFAULT \
    {sizeof(paritas_model_options), NULL, NULL, 0, 0, 0, 0.0, 0, 0.0, 0, NULL}
#define PARITAS_HISTOSYS_0 100
#define PARITAS_HISTOSYS_2 102
#define PARITAS_HISTOSYS_4P 104

/* Validates a workspace and freezes the model of one measurement. `options` may be NULL. A POI that
 * the measurement names and no modifier carries means "no POI"; one named in `options` must exist. */
PARITAS_API paritas_status paritas_model_create(paritas_context *context, const paritas_workspace *workspace,
                                                const paritas_model_options *options, paritas_model **model);

/* The kernels of a model that was written in the kernel language and compiled into the program by CMake's
 * paritas_add_model (docs/models.md). The program declares them as `extern const paritas_kernels
 * paritas_model_NAME;`. */
typedef struct paritas_kernels paritas_kernels;

/* What a model of one's own consists of beside its kernels. Start from PARITAS_MODEL_DESCRIPTION_DEFAULT.
 * Zero means the default everywhere. */
typedef struct paritas_model_description {
    size_t size; /* sizeof(paritas_model_description), for growth */
    const paritas_kernels *kernels;
    size_t n_parameters;      /* as many as the kernels were written for, at most 128 */
    const char *const *names; /* of the parameters, each its own */
    const double *init, *lower, *upper;
    const unsigned char *fixed; /* NULL: none */
    /* sigma of the measurement that constrains a parameter, NaN where there is none; NULL: nowhere */
    const double *constraint_widths;
    const char *poi; /* the parameter of interest; NULL: none */
    size_t n_main;   /* main data */
    /* n_main: 0 for a count (Poisson), else sigma of a measurement (Gaussian); NULL: all are counts */
    const double *sigmas;
    /* nonzero: the kernels answer the terms of the negative log-likelihood themselves; `sigmas` is NULL */
    int terms;
    /* observed: main data, then for each constrained parameter, in their order, what was measured of it */
    const double *data;
    size_t n_ints, n_reals; /* tables that the kernels read */
    const uint32_t *ints;
    const double *reals;
} paritas_model_description;
#define PARITAS_MODEL_DESCRIPTION_DEFAULT \
    {sizeof(paritas_model_description),   \
     NULL,                                \
     0,                                   \
     NULL,                                \
     NULL,                                \
     NULL,                                \
     NULL,                                \
     NULL,                                \
     NULL,                                \
     NULL,                                \
     0,                                   \
     NULL,                                \
     0,                                   \
     NULL,                                \
     0,                                   \
     0,                                   \
     NULL,                                \
     NULL}

/* Makes a model of a user's own, to which all functions below apply as to any other. It has no channels and
 * no samples: their counts are 0, their names NULL. With `terms` nothing can be expected or drawn: functions
 * that need that (expected data, tests against Asimov data, goodness of fit, toys) answer INVALID_ARGUMENT.
 * All is copied but the kernels. INVALID_ARGUMENT names what is wrong: kernels of another version, or for
 * another number of parameters; numbers that are not finite, bounds that are no interval, negative counts. */
PARITAS_API paritas_status paritas_model_define(paritas_context *context,
                                                const paritas_model_description *description,
                                                paritas_model **model);
PARITAS_API void paritas_model_free(paritas_model *model);

PARITAS_API size_t paritas_model_parameter_count(const paritas_model *model);
PARITAS_API size_t paritas_model_main_count(const paritas_model *model); /* bins of all channels */
PARITAS_API size_t paritas_model_aux_count(const paritas_model *model);
/* as pyhf's par_names */
PARITAS_API const char *paritas_model_parameter_name(const paritas_model *model, size_t index);
PARITAS_API paritas_status paritas_model_parameter_index(paritas_context *context, const paritas_model *model,
                                                         const char *name, size_t *index);
PARITAS_API ptrdiff_t paritas_model_poi_index(const paritas_model *model); /* -1: none */
/* Arrays of parameter_count entries, owned by the model. */
PARITAS_API const double *paritas_model_suggested_init(const paritas_model *model);
PARITAS_API const double *paritas_model_lower_bounds(const paritas_model *model);
PARITAS_API const double *paritas_model_upper_bounds(const paritas_model *model);
PARITAS_API const unsigned char *paritas_model_suggested_fixed(const paritas_model *model);
/* Width of the constraint of each parameter before the fit: 1 for a normsys or histosys, sigma for a
 * Gaussian one, 1/sqrt(tau) for a Poisson one, NaN for a free parameter. */
PARITAS_API const double *paritas_model_constraint_widths(const paritas_model *model);
/* Observed main data, auxiliary data, templates: main_count + aux_count + template_count entries, owned by
 * the model. */
PARITAS_API const double *paritas_model_data(const paritas_model *model);
PARITAS_API size_t paritas_model_channel_count(const paritas_model *model); /* sorted by name, as main data */
PARITAS_API const char *paritas_model_channel_name(const paritas_model *model, size_t channel);
PARITAS_API size_t paritas_model_channel_bins(const paritas_model *model, size_t channel);
PARITAS_API size_t paritas_model_sample_count(const paritas_model *model, size_t channel);
PARITAS_API const char *paritas_model_sample_name(const paritas_model *model, size_t channel, size_t sample);

/* ---- templates -------------------------------------------------------------------------------- */

/* Data rows of a model with templates (options.templates) end with their numbers, in the order given, each as
 * many as its channel has bins. The answer of any function is that of a model made from a workspace with
 * these numbers in place of its own: also interpolation, the widths of staterror (absolute uncertainties over
 * the sum of the rates that carry them) and tau of shapesys follow from the row. Auxiliary data are data and
 * stand in the row as given. Whether a parameter is fixed is decided when the model is made, so that a row is
 * INVALID_ARGUMENT whose rates switch the constraint of a bin on or off (a sum of rates that is positive in
 * the row and not in the workspace, or the reverse), unless the measurement says itself whether it is fixed.
 * Starts, bounds and constraint widths that the model suggests are those of the workspace. Toys are
 * INVALID_ARGUMENT for such models. */

/* How many numbers all templates have together; 0 for a model without. */
PARITAS_API size_t paritas_model_template_count(const paritas_model *model);
/* Makes a data row (main_count + aux_count + template_count): main data as given (main_count), auxiliary data
 * as a workspace with these templates would have them (tau of a shapesys, unless the measurement gives them),
 * templates (template_count). NULL: the workspace's own. INVALID_ARGUMENT, with the place: a row that no job
 * may have. */
PARITAS_API paritas_status paritas_model_fill_row(paritas_context *context, const paritas_model *model,
                                                  const double *main_data, const double *templates,
                                                  double *row);

/* ---- evaluation ------------------------------------------------------------------------------- */

/* N points times M data sets in one call. `points`: n_points rows of parameter_count. `data`: n_data
 * data rows (main_count + aux_count + template_count), or NULL for the model's own (n_data is then 1). Each
 * output may be NULL; row p * n_data + d belongs to point p and data set d.
 *   twice_nll: a number a row;  gradient: parameter_count a row;  hessian: parameter_count squared a row
 *   (symmetric, row-major), both of twice the NLL, all parameters taken as free.
 * Exact derivatives, not differences. A point outside the domain answers NaN in its row. */
PARITAS_API paritas_status paritas_evaluate(paritas_context *context, const paritas_model *model,
                                            size_t n_points, const double *points, size_t n_data,
                                            const double *data, double *twice_nll, double *gradient,
                                            double *hessian);
/* Expected main and auxiliary data: n_points data rows; templates are those of the workspace. */
PARITAS_API paritas_status paritas_expected_data(paritas_context *context, const paritas_model *model,
                                                 size_t n_points, const double *points, double *expected);
/* Derivatives of the expected main data at one point: main_count rows of parameter_count. */
PARITAS_API paritas_status paritas_expected_jacobian(paritas_context *context, const paritas_model *model,
                                                     const double *point, double *jacobian);
/* Expected main data of one point by sample: for each channel, for each sample, its bins. */
PARITAS_API paritas_status paritas_expected_by_sample(paritas_context *context, const paritas_model *model,
                                                      const double *point, double *expected);
/* The same with the templates of data rows: of `data`, a row a point (one for the last two; NULL: the
 * workspace's), only templates are looked at. Rows of expected data carry them on, and can so be the data of
 * a job. */
PARITAS_API paritas_status paritas_expected_data_of(paritas_context *context, const paritas_model *model,
                                                    size_t n_points, const double *points, const double *data,
                                                    double *expected);
PARITAS_API paritas_status paritas_expected_jacobian_of(paritas_context *context, const paritas_model *model,
                                                        const double *point, const double *data,
                                                        double *jacobian);
PARITAS_API paritas_status paritas_expected_by_sample_of(paritas_context *context, const paritas_model *model,
                                                         const double *point, const double *data,
                                                         double *expected);

/* Derivatives by data rows, for HistFactory models (others: INVALID_ARGUMENT); in f64 whatever the context's
 * precision is. Point k belongs to row k of `data` (n rows; NULL: the model's own for all). Where clips or
 * interpolation have a kink, one-sided as those of paritas_evaluate.
 *
 * `gradient` (a data row a point): derivatives of twice the NLL by main data, auxiliary data and templates,
 * counts taken as real numbers (ln n! = ln Gamma(n + 1)). `along` (same shape): derivative of `gradient`
 * along `directions` (n rows of parameter_count), that is its sum over parameters p of direction[p] times the
 * derivative by p. Either may be NULL, and `directions` where `along` is. A point outside the domain answers
 * NaN in its rows. */
PARITAS_API paritas_status paritas_data_derivatives(paritas_context *context, const paritas_model *model,
                                                    size_t n, const double *points, const double *data,
                                                    const double *directions, double *gradient,
                                                    double *along);
/* The expected data row as a function of point and templates, pulled back: with `weights` (n data rows)
 * by_points (n rows of parameter_count) receives the sum over i of weights[i] times the derivative of
 * expected[i] by each parameter, by_templates (n rows of template_count) that by each template, weights of
 * the templates themselves included. Either may be NULL. */
PARITAS_API paritas_status paritas_expected_pullback(paritas_context *context, const paritas_model *model,
                                                     size_t n, const double *points, const double *data,
                                                     const double *weights, double *by_points,
                                                     double *by_templates);

/* ---- fits ------------------------------------------------------------------------------------- */

/* One fit. NULL means the model's own (observed data, suggested start, bounds, fixed flags). */
typedef struct paritas_job {
    const double *data;  /* main_count + aux_count + template_count */
    const double *start; /* parameter_count; where fixed, the value */
    const double *lower; /* parameter_count */
    const double *upper;
    const unsigned char *fixed; /* parameter_count */
} paritas_job;

typedef struct paritas_result {
    paritas_fit_status status;
    unsigned iterations;
    double twice_nll;          /* at the returned point, all constants included */
    double edm;                /* estimated distance to the minimum in units of twice the NLL */
    double projected_gradient; /* largest |gradient of twice the NLL| x error over the free parameters */
} paritas_result;

typedef struct paritas_fit_options {
    size_t size;
    unsigned max_iterations; /* 0: 200 for newton, 5000 for lbfgsb, 3000 generations for de */
    /* nonzero: starts are predictions of the minima (conditional fits from a free one); saves newton a
     * step */
    int start_is_near;
    paritas_minimizer minimizer;
    unsigned population; /* de: members, 4 to 65536; 0: 10 for each parameter, from 20 to 200 */
    uint64_t seed;       /* de: of its random numbers, which are the same for every job */
} paritas_fit_options;
#define PARITAS_FIT_OPTIONS_DEFAULT {sizeof(paritas_fit_options), 0, 0, PARITAS_NEWTON, 0, 0}

/* Runs n fits. results[i] belongs to jobs[i]. `parameters` (n rows of parameter_count), `errors`
 * (same shape: square root of the covariance's diagonal, NaN where not free), `covariance` (n rows of
 * parameter_count squared; zero rows where not free) and `states` (same shape as parameters) are the
 * caller's and may each be NULL. Covariance is the inverse of the exact Hessian at the returned point
 * on the free parameters, times that of a likelihood (units of the parameters). The answer depends on
 * (model, data, options, precision) alone. INVALID_ARGUMENT: a job with a start, bounds or data that no
 * fit can have; the message names them, and of several jobs which one, counted from 0 ("job 3: ..."). */
PARITAS_API paritas_status paritas_fit(paritas_context *context, const paritas_model *model,
                                       const paritas_fit_options *options, size_t n, const paritas_job *jobs,
                                       paritas_result *results, double *parameters, double *errors,
                                       double *covariance, paritas_parameter_state *states);

/* MINOS errors of one parameter: where the profile of twice the NLL rises by 1 over `best` (a converged fit
 * of `job`, its parameters and twice NLL). *down < 0 < *up are offsets; NaN where the bound comes first. */
PARITAS_API paritas_status paritas_minos(paritas_context *context, const paritas_model *model,
                                         const paritas_job *job, const double *best, double best_twice_nll,
                                         double error, size_t parameter, double *down, double *up);

/* ---- statistics (Cowan, Cranmer, Gross, Vitells, arXiv:1007.1727) ------------------------------- */

typedef enum paritas_test_statistic {
    PARITAS_QTILDE = 0,
    PARITAS_Q = 1,
    PARITAS_Q0 = 2
} paritas_test_statistic;

typedef struct paritas_hypotest_result {
    double mu, cls_obs, cls_exp[5]; /* expected at -2, -1, 0, 1, 2 sigma, ascending in CLs */
    double clsb, clb, p0;           /* p0: only for Q0, else NaN */
    double q, q_asimov, mu_hat;
    double twice_nll_free, twice_nll_fixed;
    paritas_fit_status status; /* the worst of the fits behind the answer */
} paritas_hypotest_result;

/* Asymptotic test of n values of mu; `job` may be NULL. Free fit and Asimov data are made once. */
PARITAS_API paritas_status paritas_hypotest(paritas_context *context, const paritas_model *model,
                                            const paritas_job *job, paritas_test_statistic statistic,
                                            size_t n, const double *mu, paritas_hypotest_result *results);

typedef struct paritas_limit_result {
    double limit_obs, limit_exp[5]; /* NaN where no root was found */
    double upper_bound;             /* of the POI, as used */
    int bound_widened;
    paritas_fit_status status;
    size_t n_scan; /* mu values that were tested on the way, ascending, in scan[] */
    paritas_hypotest_result scan[64];
} paritas_limit_result;

/* Upper limits: the roots in mu of CLs = level for the observed and the five expected curves, to 1e-7
 * relative. */
PARITAS_API paritas_status paritas_limit(paritas_context *context, const paritas_model *model,
                                         const paritas_job *job, paritas_test_statistic statistic,
                                         double level, paritas_limit_result *result);

typedef struct paritas_significance_result {
    double p0, z, p0_exp, z_exp; /* expected for mu = 1 */
    double q0, mu_hat;
    paritas_fit_status status;
} paritas_significance_result;
PARITAS_API paritas_status paritas_significance(paritas_context *context, const paritas_model *model,
                                                const paritas_job *job, paritas_significance_result *result);

typedef struct paritas_scan_point {
    double q; /* max(0, twice the NLL with the parameters fixed - free) */
    double twice_nll;
    paritas_fit_status status;
} paritas_scan_point;
/* Profile likelihood over k parameters (1 or 2) at n points: `values` has n rows of k. `best` receives
 * the free fit, `best_parameters` (may be NULL) its parameters. Every point starts from the free fit. */
PARITAS_API paritas_status paritas_scan(paritas_context *context, const paritas_model *model,
                                        const paritas_job *job, size_t k, const size_t *parameters, size_t n,
                                        const double *values, paritas_result *best, double *best_parameters,
                                        paritas_scan_point *points);

typedef struct paritas_ranking_entry {
    size_t parameter;
    double pull;       /* (best - prefit value) / constraint width; NaN for an unconstrained parameter */
    double constraint; /* error / constraint width; NaN likewise */
    double impact_up, impact_down; /* shift of the POI's best fit, parameter at best +- error */
    double prefit_up, prefit_down; /* same with the constraint width; NaN for an unconstrained parameter */
    paritas_fit_status status;
} paritas_ranking_entry;
/* Impacts of all parameters that are not fixed, largest first; entries has parameter_count places, *n
 * receives how many are used. */
PARITAS_API paritas_status paritas_ranking(paritas_context *context, const paritas_model *model,
                                           const paritas_job *job, paritas_ranking_entry *entries, size_t *n);

typedef struct paritas_gof_result {
    double twice_nll, saturated; /* at the best fit; of the saturated model */
    double statistic, p;         /* their difference; its chi-squared probability */
    size_t ndof;
    paritas_fit_status status;
} paritas_gof_result;
/* Goodness of fit against the saturated model. */
PARITAS_API paritas_status paritas_gof(paritas_context *context, const paritas_model *model,
                                       const paritas_job *job, paritas_gof_result *result);

/* ---- toys ------------------------------------------------------------------------------------- */

/* One toy of a hypothesis test, as a store keeps it: table `toys` of an SQLite file, whose columns have these
 * names. */
typedef struct paritas_toy {
    uint64_t toy;      /* its index in the run: with the seed it says all that was drawn */
    double mu;         /* the value of the POI that is tested */
    double hypothesis; /* the value of the POI that the toy was drawn at */
    double q, mu_hat;
    double twice_nll_free, twice_nll_fixed;
    paritas_fit_status status; /* the worse one of its fits */
    unsigned iterations;       /* of its fits together */
} paritas_toy;

/* Receives finished toys, ascending within a call, on the calling thread; a return other than 0 cancels the
 * run. */
typedef int (*paritas_toys_taker)(void *user, size_t n, const paritas_toy *toys);

/* A named text that belongs to the key of a store: a run is resumed, and shards are pooled, only where all
 * agree. */
typedef struct paritas_key_entry {
    const char *name, *value;
} paritas_key_entry;

typedef struct paritas_toys_options {
    size_t size;
    uint64_t n;             /* toys of each hypothesis, over all shards; 0: 2000 */
    uint64_t seed;          /* toy t depends on the seed and t alone */
    unsigned shard, shards; /* this run draws part `shard` (from 1) of `shards`; 0, 0: all */
    int fix_aux;            /* nonzero: auxiliary data stay as observed; else they are drawn as well */
    /* nonzero: no quasi-Newton with a shared matrix, which else is used where the first toys show that it
     * wins */
    int newton_only;
    const char *store; /* path of a store (SQLite) that keeps every toy; NULL: none */
    int resume;        /* nonzero: goes on with a store that exists */
    size_t n_entries;  /* further entries of the store's key, such as the digest of the workspace */
    const paritas_key_entry *entries;
    paritas_toys_taker take; /* NULL: none */
    void *user;
} paritas_toys_options;
#define PARITAS_TOYS_OPTIONS_DEFAULT \
    {sizeof(paritas_toys_options), 0, 0, 0, 0, 0, 0, NULL, 0, 0, NULL, NULL, NULL}

#define PARITAS_FIT_STATUSES 5 /* how many there are in PARITAS_FIT_LIST */

/* What became of the toys of a run. */
typedef struct paritas_toys_tally {
    uint64_t counts[PARITAS_FIT_STATUSES]; /* toys by their status */
    /* toys that this call fitted; others were in the store. Of these: */
    uint64_t fitted;
    uint64_t iterations;
    /* the method that answered */
    uint64_t by_quasi_newton, by_newton, from_suggested_start, from_the_other_fit, from_further_starts,
        at_edge;
    /* the conditional fit had found a lower minimum, from which the free fit was repeated */
    uint64_t refitted;
} paritas_toys_tally;

typedef struct paritas_hypotest_toys_result {
    /* expected: percentiles of the toys drawn at the other hypothesis, ascending in CLs */
    double mu, cls_obs, cls_exp[5];
    double clsb, clb, p0; /* p0: only for Q0, else NaN */
    /* standard errors from the number of toys; the variance of k of n takes (k + 1) / (n + 2), so that 0 and
     * n claim no certainty */
    double cls_obs_error, cls_exp_error[5], clsb_error, clb_error, p0_error;
    double q, mu_hat;
    double twice_nll_free, twice_nll_fixed;
    paritas_fit_status status; /* the worst of the fits to the observed data */
    /* toys with an answer, drawn at the tested mu and at the other hypothesis (0; for Q0: 1) */
    uint64_t n_tested, n_other;
    paritas_toys_tally tally; /* of both hypotheses together */
} paritas_hypotest_toys_result;

/* Tests mu by toys (pyhf's ToyCalculator): q of each toy from a free and a conditional fit, toys drawn around
 * the conditional fits to the observed data at mu and at the other hypothesis. `job` and `options` may be
 * NULL. Failed toys have their status counted and do not enter the fractions. Cancelled by `progress` or
 * `take`: CANCELLED, with the store as far as it got. */
PARITAS_API paritas_status paritas_hypotest_toys(paritas_context *context, const paritas_model *model,
                                                 const paritas_job *job, paritas_test_statistic statistic,
                                                 double mu, const paritas_toys_options *options,
                                                 paritas_hypotest_toys_result *result);

/* One toy's free fit. Pointers are valid until the taker returns. */
typedef struct paritas_toy_fit {
    uint64_t toy;
    /* without errors the projected gradient is NaN: what ended the fit was its EDM */
    paritas_result result;
    /* result.twice_nll less that of the saturated model, without the digits that the difference would lose */
    double statistic;
    const double *parameters; /* parameter_count */
    /* parameter_count, NaN where not free and all where the minimum is at the edge of the domain; NULL unless
     * PARITAS_TOYS_ERRORS */
    const double *errors;
} paritas_toy_fit;

/* As paritas_toys_taker, for paritas_toys. */
typedef int (*paritas_toy_fits_taker)(void *user, size_t n, const paritas_toy_fit *fits);

/* Flags of paritas_toys. */
#define PARITAS_TOYS_PARAMETERS 1u /* the store keeps the fitted parameters */
/* errors from the exact Hessian of each toy, as paritas_fit has them; the store keeps them */
#define PARITAS_TOYS_ERRORS 2u

/* One parameter over all toys with an answer whose fitted value is known: not those that a store held without
 * it. rms: root of the mean squared distance from the mean, of n - 1; NaN where there are too few. */
typedef struct paritas_toys_parameter {
    /* its value at the point that the toys were drawn at; NaN where expected data were given */
    double generated;
    uint64_t n, n_pulls;        /* toys; toys where it has an error, too */
    double mean, rms;           /* of the fitted value */
    double pull_mean, pull_rms; /* of (fitted - generated) / error */
} paritas_toys_parameter;

typedef struct paritas_toys_result {
    /* of the fit to the observed data, where toys are drawn at it; else CONVERGED */
    paritas_fit_status status;
    paritas_toys_tally tally;
} paritas_toys_result;

/* Draws toys at `point` (parameter_count), or around `expected` data (main_count + aux_count), or with both
 * NULL at the best fit to the job's data, and fits each freely within the job's bounds and fixed flags.
 * Auxiliary data are drawn as well, around what is expected of them; with options->fix_aux they stay as
 * observed (as given, with `expected`). The fits start where the expected data themselves are best fitted
 * from job->start (NULL: from `point`, or the suggested start); a fixed parameter stays at its start,
 * wherever the toys are drawn. `parameters` (parameter_count of them) and `take` may be NULL; options->take
 * is not called. Needs no parameter of interest. Memory does not depend on the number of toys. A toy without
 * an answer is counted by its status, and given to `take` and store, but enters no mean. INVALID_ARGUMENT:
 * both of `point` and `expected`; data that nothing can be drawn from, named. */
PARITAS_API paritas_status paritas_toys(paritas_context *context, const paritas_model *model,
                                        const paritas_job *job, const double *point, const double *expected,
                                        unsigned flags, const paritas_toys_options *options,
                                        paritas_toy_fits_taker take, void *user,
                                        paritas_toys_parameter *parameters, paritas_toys_result *result);

typedef struct paritas_gof_toys_result {
    paritas_gof_result gof; /* of the observed data, with the asymptotic p-value */
    /* fraction of toys whose statistic is at least the observed one; its standard error, of variance (k + 1)
     * / (n + 2) as above */
    double p_toys, p_toys_error;
    uint64_t n; /* toys with an answer */
    paritas_toys_tally tally;
} paritas_gof_toys_result;

/* Goodness of fit by toys that are drawn at the best fit to the job's data, each with its own best fit.
 * Statistics within 1e-8 count as equal. */
PARITAS_API paritas_status paritas_gof_toys(paritas_context *context, const paritas_model *model,
                                            const paritas_job *job, const paritas_toys_options *options,
                                            paritas_gof_toys_result *result);

typedef struct paritas_significance_toys_result {
    /* observed; z = Phi^-1(1 - p0), its error to first order; NaN where no toy reaches q0, or all do */
    double p0, p0_error, z, z_error;
    /* where none does: Z of 1 - 0.05^(1/n), the limit on p0 at 95 % confidence; else NaN */
    double z_at_least;
    double p0_exp, p0_exp_error, z_exp, z_exp_error; /* of the median q0 of toys drawn at mu = 1 */
    double z_exp_at_least;
    /* q0 and all else; cls_exp: p0 at -2 .. 2 sigma, ascending */
    paritas_hypotest_toys_result test;
} paritas_significance_toys_result;

/* Discovery by brute force: p0 is the fraction of toys drawn at mu = 0 whose q0 is at least the observed one.
 * As paritas_hypotest_toys with PARITAS_Q0, whose stores it shares. */
PARITAS_API paritas_status paritas_significance_toys(paritas_context *context, const paritas_model *model,
                                                     const paritas_job *job,
                                                     const paritas_toys_options *options,
                                                     paritas_significance_toys_result *result);

/* most toys of each tested mu and hypothesis, unless the options say another number */
#define PARITAS_LIMIT_TOYS 100000

typedef struct paritas_limit_toys_result {
    double limit_obs, limit_exp[5]; /* NaN where no root was found up to upper_bound */
    /* standard errors from the numbers of toys, whatever the correlation between tested mu values */
    double limit_obs_error, limit_exp_error[5];
    /* nonzero: the error is at most rtol times the limit, or there is no limit; 0: toys or places in scan[]
     * ran out */
    int reached_obs, reached_exp[5];
    double asymptotic_obs, asymptotic_exp[5]; /* the limits of paritas_limit, where the search began */
    double mu_hat, twice_nll_free;            /* of the free fit to the observed data */
    double upper_bound;                       /* of the POI, as used */
    int bound_widened;
    paritas_fit_status status; /* the worst of the fits to the observed data */
    paritas_toys_tally tally;  /* of all toys */
    size_t n_scan;             /* tested mu values, ascending, in scan[] */
    paritas_hypotest_toys_result scan[64];
} paritas_limit_toys_result;

/* Upper limits by toys: the roots in mu of CLs = level for the observed and the five expected curves, each to
 * a standard error of rtol (above 0, below 1) relative. mu values are tested where they matter, from the
 * asymptotic limits on, and toys are added where a curve's error needs them; toy t has the same random
 * numbers at every mu. options->n is the most toys of each tested mu and hypothesis (0: PARITAS_LIMIT_TOYS).
 * A store keeps all tested values; to go on with it, also with more toys or another rtol, gives what a run
 * without interruption gives. A limit cannot be cut into shards: INVALID_ARGUMENT. Else as
 * paritas_hypotest_toys. */
PARITAS_API paritas_status paritas_limit_toys(paritas_context *context, const paritas_model *model,
                                              const paritas_job *job, paritas_test_statistic statistic,
                                              double level, double rtol, const paritas_toys_options *options,
                                              paritas_limit_toys_result *result);

/* Pools n stores of toys, shards of one run, into a new one at `output`: exactly the rows of the run that was
 * not cut into shards. The stores must have been made by equal runs (entry `shard` of the key aside) and
 * share no toy; what does not fit is INVALID_INPUT, with entry or toy and the files named. `output` must not
 * exist; it appears when all is pooled, or not at all. A store that another process has open for writing is
 * UNREADABLE. Memory does not depend on the number of toys; files that are open at once are n and a few. */
PARITAS_API paritas_status paritas_store_merge(paritas_context *context, size_t n, const char *const *paths,
                                               const char *output);

/* The answer of paritas_hypotest_toys from the rows of a store that it or paritas_significance_toys made, or
 * that such stores were pooled into: no fit is made. Of the toys' fits only the counts by status are known;
 * the other numbers are 0. INVALID_ARGUMENT: a store of another kind (a limit's, of plain toys), or one in
 * which no run has come as far as a toy. */
PARITAS_API paritas_status paritas_store_hypotest(paritas_context *context, const char *path,
                                                  paritas_hypotest_toys_result *result);

#ifdef __cplusplus
}
#endif
#endif
