/* session.h: one run of a command: arguments, context, model, answer. */
#pragma once

#include "base/context.h"
#include "base/json/json.h"
#include "options.h"
#include "progress.h"
#include "session/recycler.h"
#include "print/writer.h"

struct range {
    double lower, upper;
};

struct session {
    const struct arguments *arguments;
    paritas_options options; /* base for further contexts */
    char cache[1024];        /* of kernels */
    paritas_context *context;
    struct arena arena;
    paritas_workspace *workspace; /* patched */
    paritas_model *model;
    paritas_job job; /* arrays in the arena */
    size_t n_parameters, n_main, n_aux;
    size_t n_pois;            /* of --poi; 1 or 0 without several */
    size_t *pois;             /* their numbers; job.pois has those of the analysis at work */
    const char *poi_if_there; /* in place of --poi: none if the model lacks it; NULL: not used */
    paritas_toy_data *data;   /* of --data, if its toys are analysed in turn; else NULL */
    size_t toy, n_toys;       /* whose data the job has, from 0; of `data` */
    double *toy_row;          /* the job's */
    const void *prepared;     /* for all of them, by the analysis; NULL: nothing */
    bool json;
    bool no_fits;       /* no fit, so no polish */
    bool not_converged; /* exit code 1 */
    bool partial;       /* answer also after a failure: a patch set's good lines */
    bool wrong_usage;   /* exit code 2 */
    struct text out;
    struct text notes;    /* of the library, each with its end byte, once keeps_notes is set */
    bool keeps_notes;     /* one thread works */
    struct writer writer; /* JSON to `out` */
    struct progress progress;
    struct recycler recycler; /* of days and patch sets: each patch needs what the last one needed */
    bool shares;              /* the context is another session's */
    bool short_of_memory;     /* see allocated() */
};

/* Opens a context by command line and environment (PARITAS_ISA, _LANES, _CACHE, _DEVICE). Commands without
 * an engine group get the CPU. */
paritas_status session_open(struct session *session, const struct arguments *arguments);
/* Opens a worker's session: its own context on `device` with `threads`, no progress. */
paritas_status session_open_beside(struct session *session, const struct session *first, const char *device,
                                   unsigned threads);
/* A session in the context of `first`; progress ends. Close it before `first`; never run both at once. */
void session_share(struct session *session, struct session *first);
/* Frees model and results; the context stays. */
void session_clear(struct session *session);
void session_close(struct session *session); /* does nothing without a context */
/* Opens a further context. The caller closes it, also on failure, which becomes the session's. */
paritas_status open_another(struct session *session, const paritas_options *options,
                            paritas_context **context);
/* Returns NULL if the variable is not set, or empty. */
const char *environment_device(void);
/* Has the command the options of an engine? */
bool takes_device(const struct command *command);

/* A workspace, or that of the first operand, with --patchset/--patch-name and --patch. */
paritas_status load_workspace_of(struct session *session, const char *path);
paritas_status load_workspace(struct session *session);
/* A workspace or datacard, without patches. */
paritas_status read_document(struct session *session, const char *path, paritas_workspace **workspace);
paritas_status apply_patches(struct session *session);
/* The workspace unless loaded, the model, and the job by --fix and --init. */
paritas_status load_model(struct session *session);
/* What the command line says of models, but for the parameter of interest. */
paritas_model_options model_options(const struct session *session);
/* A further model, with the command line's options and the measurement's own parameters of interest. */
paritas_status create_model_of(struct session *session, const paritas_workspace *workspace,
                               paritas_model **model);
/* Refuses several --poi, for commands that take one. */
paritas_status refuse_several_pois(struct session *session);
/* Fails without a POI. */
paritas_status require_poi(struct session *session);
/* Asimov data by --asimov and --prefit. */
paritas_status load_asimov(struct session *session);
/* The job's data by --data and --toy: the first of several toys, until use_toy. */
paritas_status load_data(struct session *session);
void use_toy(struct session *session, size_t toy);
/* Starts by --init and --fix; flags of --fix unless `fixed` is NULL. */
paritas_status read_starts(struct session *session, double *start, unsigned char *fixed);
/* File of --point: an array, an object by name, or an answer of `fit`. Missing values: suggested start. In
 * the arena. */
paritas_status load_point(struct session *session, const char *path, double **point);

/* What the options say (option_values.c). Of several, the last counts. */
const struct given *option_given(const struct session *session, const char *name); /* NULL: not given */
/* The value as given, or the default of the option's row; without one NULL, NaN or 0. */
const struct given *option_value(const struct session *session, const char *name);
bool option_flag(const struct session *session, const char *name);
const char *option_text(const struct session *session, const char *name);
/* Whose answers are those of the data: "observed", or with --asimov "Asimov". */
const char *data_word(const struct session *session);
double option_number(const struct session *session, const char *name);
uint64_t option_whole(const struct session *session, const char *name);
size_t option_count(const struct session *session, const char *name);
/* The number as given, or a default that is found at run time. */
double option_number_or(const struct session *session, const char *name, double otherwise);
/* The constant of enumeration "paritas_minimizer" that a choice with a default names. */
int option_constant(const struct session *session, const char *name, const char *enumeration);
/* The command line's options of a struct of the library into `options`, which has its defaults, and the
 * library's checks. Wrong values: exit code 2. */
paritas_status options_take(struct session *session, const char *library, void *options);
/* Its real numbers, ranges and truths with a word: "--beam-width" is the key "beam_width". left_out: words,
 * then NULL. */
void options_write(struct writer *writer, const char *library, const void *options,
                   const char *const left_out[]);
/* The next repetition; start with *at = 0. NULL: no more. */
const struct given *option_next(const struct session *session, const char *name, size_t *at);

/* --patchset without --patch-name. */
bool wants_patchset(const struct arguments *arguments);

ptrdiff_t poi_of(const struct session *session); /* the analysis' first; -1: none */
const char *poi_name(const struct session *session);
const char *parameter_name(const struct session *session, size_t parameter);
/* "", or that the likelihood leaves the channel out */
const char *masked_word(const struct session *session, size_t channel);
/* Fails with exit code 2. */
paritas_status usage_failure(struct session *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define wrong_input(session, ...) paritas_fail((session)->context, PARITAS_INVALID_INPUT, __VA_ARGS__)
/* Notes a fit's status for the exit code. */
void note_status(struct session *session, paritas_fit_status status);
/* Centres of constraints: pull = (value - centre) / width. NaN: no constraint. In the arena. */
paritas_status load_centres(struct session *session, double **centres);
/* The best fit that statistics mean, from the job's start alone: a parameter of interest at its upper bound
 * gets a wider one. `answers` without size. */
paritas_status fit_best(struct session *session, paritas_fit_answers answers);

/* Cleared memory in the arena; arena_records also sets sizes. Out of memory: NULL, and allocated() fails:
 * check once. */
double *arena_numbers(struct session *session, size_t n);
void *arena_elements(struct session *session, size_t n, size_t size);
void *arena_element(struct session *session, size_t size);
void *arena_records(struct session *session, size_t n, size_t size);
/* Room for one more than n elements: `items`, or a copy twice as large. */
void *arena_grown(struct session *session, void *items, size_t n, size_t size);
char *arena_copied(struct session *session, const char *text, size_t length);
paritas_status allocated(const struct session *session);
/* An arena for a part of the run. arena_end frees it and goes back to the outer one. */
struct arena arena_begin(struct session *session);
void arena_end(struct session *session, struct arena outer);

/* If `widened`: the bound of the parameter of interest became `upper`. `best`: its best fit. */
void describe_widening(struct session *session, bool widened, double upper, double best);
/* The model's, or those of --range. */
struct range bounds_of(const struct session *session, size_t parameter);
/* One of the job's, else of the model's. */
bool is_of_interest(const struct session *session, size_t parameter);
/* Do statistics widen its upper bound? Not where --range gives it. */
bool upper_gives_way(const struct session *session, size_t parameter);
/* The job's bounds by --range; are all starts inside? */
paritas_status read_ranges(struct session *session);
paritas_status check_ranges(struct session *session);
bool in_range(struct range range, double value);
/* The nearest value of the range; NaN stays. */
double clamped(struct range range, double value);
/* `errors` errors around the best value, within bounds; without an error, `part` of the bounds. */
struct range range_around(const struct session *session, size_t parameter, double best, double error,
                          double errors, double part);
/* The k-th of n values, ends included. */
double range_value(struct range range, size_t k, size_t n);
bool has_free_poi(const struct session *session);

extern const struct option options_patches[], options_model[], options_job[], options_statistic[],
    options_engine[], options_fit_engine[], options_output[], options_answer[];
#define GROUP_OPTIONS {"Options", options} /* the command's own */
/* of commands that answer for whole patch sets */
#define CSV_ROW                                                                                     \
    {"--csv", OPTION_FLAG, NULL,                                                                    \
     "answer for all patches as CSV, a line a patch: its values by their labels, then the results", \
     .needs = "--patchset FILE"}
#define GROUP_JOB {"Fit", options_job}
#define GROUP_PATCHES {"Workspace", options_patches}
#define GROUP_MODEL {"Model", options_model}
#define GROUP_ENGINE {"Engine", options_engine}
/* for models whose fits are not polished */
#define GROUP_FIT_ENGINE {"Engine", options_fit_engine}
#define GROUP_OUTPUT {"Output", options_output}
/* for commands whose -o is something else: they answer on standard output */
#define GROUP_ANSWER {"Output", options_answer}
#define GROUPS_MODEL GROUP_PATCHES, GROUP_MODEL, GROUP_ENGINE, GROUP_OUTPUT
#define GROUPS_FIT GROUP_JOB, GROUPS_MODEL
/* for statistics, which make many fits */
#define GROUP_STATISTIC {"Fit", options_statistic}
#define GROUPS_STATISTIC GROUP_STATISTIC, GROUPS_MODEL

/* Last keys of every answer: poi (or pois), device, precision, polish. */
void write_provenance(struct session *session);
/* device, precision */
void write_device(struct session *session);
/* Prints device and precision as text. The CPU in f64 is named only if the program chose them. */
void describe_provenance(struct session *session);
