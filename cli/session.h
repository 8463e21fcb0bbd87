/* session.h: one run of a command: arguments, context, what was loaded, and the answer that is being
 * written. */
#ifndef PARITAS_CLI_SESSION_H
#define PARITAS_CLI_SESSION_H

#include "base/context.h"
#include "base/json.h"
#include "options.h"
#include "progress.h"
#include "recycler.h"
#include "writer.h"

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
    bool no_fits;         /* the answer is of given points: there is nothing to polish */
    bool not_converged;   /* the exit code is 1 */
    bool partial;         /* deliver the answer although the command failed: the good lines of a patch set */
    bool wrong_usage;     /* the failure is one of the command line: exit code 2 */
    struct text out;      /* the answer */
    struct writer writer; /* writes JSON to `out` */
    struct progress progress;
    struct recycler recycler; /* of commands with .days */
    bool shares;              /* the context is another session's */
};

/* Opens a context with the options that the command line and the environment name: PARITAS_ISA,
 * PARITAS_LANES, PARITAS_CACHE, and for commands with GROUP_ENGINE or GROUP_FIT_ENGINE PARITAS_DEVICE; others
 * have the CPU. */
paritas_status session_open(struct session *session, const struct arguments *arguments);
/* A session for one of several workers beside `first`: with its options, but a context of its own of one
 * thread on `device`, and without progress. */
paritas_status session_open_beside(struct session *session, const struct session *first, const char *device);
/* A session in the context of `first`, which shows no progress from then on. To be closed before `first`, and
 * not to run while `first` does. */
void session_share(struct session *session, struct session *first);
/* Frees what was loaded and forgets what became of it, so that the context can take the next model. */
void session_clear(struct session *session);
void session_close(struct session *session); /* a session without a context is left as it is */
/* PARITAS_DEVICE, which stands for --device; NULL: not set, or empty. */
const char *environment_device(void);

/* The workspace of the first operand with --patchset/--patch-name and --patch. */
paritas_status load_workspace(struct session *session);
/* The --patch files, onto the session's workspace. */
paritas_status apply_patches(struct session *session);
/* load_workspace, unless there is one already; then the model and the job of --fix and --init. */
paritas_status load_model(struct session *session);
/* Fails, naming file and POI, where the model has none. */
paritas_status require_poi(struct session *session);
/* Data of --asimov, if given, into the job. */
paritas_status load_asimov(struct session *session);
/* Point of --point: an array in parameter order, an object by name, or an answer of `fit`; what is not named
 * stands at the suggested start. In the arena. */
paritas_status load_point(struct session *session, const char *path, double **point);

/* A patch set is given and no patch of it named: the command runs over all of it. */
bool wants_patchset(const struct arguments *arguments);

const char *poi_name(const struct session *session); /* NULL: none */
/* The failure of a command line that cannot be meant: exit 2. */
paritas_status usage_failure(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Notes the outcome of a fit for the exit code. */
void note_status(struct session *session, paritas_fit_status status);
/* Where each parameter's constraint is at its best, so that the pull is (value - centre) / width; NaN without
 * a constraint. In the arena. */
paritas_status load_centres(struct session *session, double **centres);
/* n numbers in the arena; NULL, with the error set, when memory ran out. */
double *numbers(struct session *session, size_t n);
/* n records of the library's in the arena, `size` bytes each, with their sizes set; NULL likewise. */
void *sized_records(struct session *session, size_t n, size_t size);
/* The same in another arena; no error is set. */
void *arena_records(struct arena *arena, size_t n, size_t size);

/* Tables that commands share. */
extern const struct option options_patches[], options_model[], options_job[], options_engine[],
    options_fit_engine[], options_output[], options_answer[];
#define GROUP_JOB {"Fit", options_job}
#define GROUP_PATCHES {"Patches", options_patches}
#define GROUP_MODEL {"Model", options_model}
#define GROUP_ENGINE {"Engine", options_engine}
/* of models whose fits are not polished */
#define GROUP_FIT_ENGINE {"Engine", options_fit_engine}
#define GROUP_OUTPUT {"Output", options_output}
/* of commands that always answer on standard output: -o is something else there */
#define GROUP_ANSWER {"Output", options_answer}
#define GROUP_END {NULL, NULL}

/* The keys that every answer of a model ends with: poi, device, precision, polish. */
void write_provenance(struct session *session);
/* The same for people, behind the table, where the device is not the CPU, the precision is f32 or was to be
 * chosen. */
void describe_provenance(struct session *session);

#endif
