/* session.h: one run of a command: its arguments, context, model and answer. */
#ifndef PARITAS_CLI_SESSION_H
#define PARITAS_CLI_SESSION_H

#include "base/context.h"
#include "base/json.h"
#include "options.h"
#include "progress.h"
#include "recycler.h"
#include "writer.h"

struct range {
    double lower, upper;
};

struct session {
    const struct arguments *arguments;
    paritas_options options; /* of the context; commands that compare open more with them */
    char cache[1024];        /* folder of compiled kernels, where there is one */
    paritas_context *context;
    struct arena arena;           /* of the command; freed by session_close */
    paritas_workspace *workspace; /* with its patches */
    paritas_model *model;
    paritas_job job; /* arrays in the arena */
    size_t n_parameters, n_main, n_aux;
    bool json;
    bool no_fits;         /* no fit is made, so none is polished */
    bool not_converged;   /* the exit code is 1 */
    bool partial;         /* the answer is written also after a failure: the good lines of a patch set */
    bool wrong_usage;     /* the failure is one of the command line: exit code 2 */
    struct text out;      /* the answer */
    struct writer writer; /* writes JSON to `out` */
    struct progress progress;
    struct recycler recycler; /* of commands with .days */
    bool shares;              /* the context is another session's */
    bool short_of_memory;     /* see allocated() */
};

/* Opens a context by the command line and the environment (PARITAS_ISA, PARITAS_LANES, PARITAS_CACHE,
 * PARITAS_DEVICE). Commands without an engine group get the CPU. */
paritas_status session_open(struct session *session, const struct arguments *arguments);
/* A session for a worker beside `first`: a context of its own on `device`, one thread, no progress. */
paritas_status session_open_beside(struct session *session, const struct session *first, const char *device);
/* A session in the context of `first`. Close it before `first`, and do not run both at once. Progress is
 * off from then on. */
void session_share(struct session *session, struct session *first);
/* Frees model and results. The context can take the next model. */
void session_clear(struct session *session);
void session_close(struct session *session); /* a session without a context is left as it is */
/* Opens a further context, which the caller closes in any case; its failure becomes the session's. */
paritas_status open_another(struct session *session, const paritas_options *options,
                            paritas_context **context);
/* PARITAS_DEVICE; NULL: not set, or empty. */
const char *environment_device(void);

/* The workspace of the first operand with --patchset/--patch-name and --patch. */
paritas_status load_workspace(struct session *session);
/* The --patch files, onto the session's workspace. */
paritas_status apply_patches(struct session *session);
/* The workspace, if there is none yet, the model, and the job of --fix and --init. */
paritas_status load_model(struct session *session);
/* Fails, naming file and POI, where the model has none. */
paritas_status require_poi(struct session *session);
/* Data of --asimov, if given, into the job. */
paritas_status load_asimov(struct session *session);
/* Starts from --init and --fix, and flags of --fix if `fixed` is not NULL. */
paritas_status read_starts(struct session *session, double *start, unsigned char *fixed);
/* The file of --point: an array in parameter order, an object by name, or an answer of `fit`. Other
 * parameters keep the suggested start. In the arena. */
paritas_status load_point(struct session *session, const char *path, double **point);

/* --patchset without --patch-name: the command runs over all patches. */
bool wants_patchset(const struct arguments *arguments);

const char *poi_name(const struct session *session); /* NULL: none */
const char *parameter_name(const struct session *session, size_t parameter);
/* Fails with exit code 2. */
paritas_status usage_failure(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Notes the outcome of a fit for the exit code. */
void note_status(struct session *session, paritas_fit_status status);
/* Centres of the constraints, so that the pull is (value - centre) / width. NaN without a constraint. In
 * the arena. */
paritas_status load_centres(struct session *session, double **centres);
/* The one fit of the session's job; `answers` without its size. */
paritas_status fit_job(struct session *session, paritas_fit_answers answers);

/* Cleared memory in the arena; sized_records sets the sizes of records. Without memory they give NULL and
 * allocated() fails: allocate several, then check once. */
double *numbers(struct session *session, size_t n);
void *elements(struct session *session, size_t n, size_t size);
void *sized_records(struct session *session, size_t n, size_t size);
paritas_status allocated(const struct session *session);
/* Records in another arena; no error is set. */
void *arena_records(struct arena *arena, size_t n, size_t size);

/* Bounds of a parameter. */
struct range bounds_of(const struct session *session, size_t parameter);
bool in_range(struct range range, double value);
/* `errors` errors around the best value, within the bounds. Without an error, `part` of the bounds. */
struct range range_around(const struct session *session, size_t parameter, double best, double error,
                          double errors, double part);
/* The k-th of n values from end to end. */
double range_value(struct range range, size_t k, size_t n);
/* The parameter of interest is there and not fixed. */
bool has_free_poi(const struct session *session);

/* Tables that commands share. */
extern const struct option options_patches[], options_model[], options_job[], options_engine[],
    options_fit_engine[], options_output[], options_answer[];
#define GROUP_OPTIONS {"Options", options} /* the command's own */
#define GROUP_JOB {"Fit", options_job}
#define GROUP_PATCHES {"Patches", options_patches}
#define GROUP_MODEL {"Model", options_model}
#define GROUP_ENGINE {"Engine", options_engine}
/* of models whose fits are not polished */
#define GROUP_FIT_ENGINE {"Engine", options_fit_engine}
#define GROUP_OUTPUT {"Output", options_output}
/* of commands that always answer on standard output: -o is something else there */
#define GROUP_ANSWER {"Output", options_answer}
#define OPTION_ASIMOV(what)              \
    {"--asimov", 0, OPTION_NUMBER, "MU", \
     what ": expected at the fit to the data with the parameter of interest held at MU"}
#define GROUPS_MODEL GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT /* of likelihoods */
#define GROUPS_FIT GROUP_JOB, GROUPS_MODEL                                  /* of fits */
#define GROUP_END {NULL, NULL, NULL}

/* The keys that every answer of a model ends with: poi, device, precision, polish. */
void write_provenance(struct session *session);
/* The same as text, unless it is the CPU in f64 and no choice was left to the program. */
void describe_provenance(struct session *session);

#endif
