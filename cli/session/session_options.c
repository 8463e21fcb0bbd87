/* session_options.c: options that several commands share. */
#include "session/session.h"

#define JOB_ROWS                                                                                             \
    {"--fix", OPTION_HELD, "NAME[=V]",                                                                       \
     "hold a parameter at a value or at its start (repeatable); * and ? match several nuisance "             \
     "parameters. "                                                                                          \
     "The parameter of interest may be above its bound"},                                                    \
        {"--init", OPTION_NAMED, "NAME=V", "start a parameter at a value (repeatable)"},                     \
        {"--range", OPTION_TEXT, "NAME=LO:HI",                                                               \
         "bounds of a parameter in place of the workspace's (repeatable)"},                                  \
        {"--data", OPTION_INPUT, "FILE",                                                                     \
         "data in place of the observed ones: of `generate`, or a JSON array, main data then "               \
         "auxiliary, or an object {\"main\": [...], \"aux\": [...]}. There is one answer for each toy"},     \
        {"--toy", OPTION_WHOLE, "T", "use only the toy of this number", .needs = "--data FILE"},             \
        {"--asimov", OPTION_NUMBER, "MU",                                                                    \
         "Asimov data in place of the observed ones: expected at the fit to the data with the "              \
         "parameter of interest fixed at MU"},                                                               \
        {"--prefit", OPTION_FLAG, NULL, "of --asimov: expected where fits start, without a fit to the data", \
         .needs = "--asimov MU"},                                                                            \
        LIBRARY_ROW("--max-iterations", paritas_job)

const struct option options_job[] = {JOB_ROWS, {0}};

const struct option options_statistic[] = {
    JOB_ROWS,
    LIBRARY_ROW("--starts", paritas_job),
    QUICK_ROW,
    {0},
};

const struct option options_patches[] = {
    {"--patch", OPTION_INPUT, "FILE", "apply a JSON Patch to the workspace (repeatable)"},
    {"--patchset", OPTION_INPUT, "FILE", "patch set of this workspace; its digests are checked"},
    {"--patch-name", OPTION_TEXT, "NAME", "the patch of the patch set to apply"},
    {"--mass", OPTION_TEXT, "M", "of a datacard: what $MASS stands for in names of histograms and files",
     "120", .letter = 'm'},
    {"--map", OPTION_TEXT, "PATTERN:NAME[VALUE,LOW,HIGH]",
     "of a datacard: NAME scales processes whose CHANNEL/PROCESS matches, in place of r. Later maps give "
     "NAME alone, or the factor 0 or 1 (repeatable)"},
    {"--mask", OPTION_TEXT, "CHANNEL",
     "leave a channel out of the likelihood; its rates and its parameters stay (repeatable)"},
    {"--exact", OPTION_FLAG, NULL,
     "of a datacard: skip Combine's roundings, which change rates by up to 1e-5"},
    {0},
};

const struct option options_model[] = {
    {"--measurement", OPTION_TEXT, "NAME", "measurement; default: the first"},
    {"--poi", OPTION_TEXT, "NAME",
     "parameter of interest; default: the measurement's; \"\": none. Repeated: several; all: those that the "
     "measurement lists"},
    LIBRARY_ROWS(PARITAS_MODEL_OPTIONS, paritas_model_options),
    {"--clip-sample", OPTION_NUMBER, "RATE", "clip the rate of each sample in each bin from below"},
    {"--clip-bin", OPTION_NUMBER, "RATE", "clip the rate of each bin from below"},
    {0},
};

/* `fits`: f32 fits, ended by "; " */
#define PRECISION_AUTO \
    "auto: f64 if the device is fast enough in it, else f32. Default: f64, if the device has it"
#define ENGINE_ROWS(fits)                                                                              \
    {"--threads", OPTION_COUNT, "N", "threads; default: one a processor"},                             \
        {"--device", OPTION_TEXT, "NAME",                                                              \
         "auto, cpu or a device that `paritas devices` lists; default: auto"},                         \
    {                                                                                                  \
        "--precision", OPTION_CHOICE, "f64|f32|auto", "precision of the kernels; " fits PRECISION_AUTO \
    }

const struct option options_engine[] = {
    ENGINE_ROWS("fits in f32 are polished in f64; "),
    {"--counts", OPTION_FLAG, NULL,
     "print the number of fits, iterations, gradients and points on standard error"},
    {"--no-polish", OPTION_FLAG, NULL,
     "keep f32 fits without the f64 polish, to test f32 itself: parameters may be 0.003 errors from the "
     "minimum, or worse. Differences of 2 NLL below 1e-4 are rounding"},
    {0},
};

const struct option options_fit_engine[] = {
    ENGINE_ROWS(""),
    {0},
};

#define JSON_ROW {"--json", OPTION_FLAG, NULL, "answer as one JSON document"}
#define LAST_ROWS                                                    \
    {"--quiet", OPTION_FLAG, NULL, "no progress on standard error"}, \
        {"--help", OPTION_FLAG, NULL, "this text", .letter = 'h'}, {0}

const struct option options_output[] = {
    JSON_ROW,
    {"--output-file", OPTION_OUTPUT, "FILE",
     "write the answer to this file; no partial file is left; -: standard output, the default",
     .letter = 'o'},
    LAST_ROWS,
};

const struct option options_answer[] = {
    JSON_ROW,
    LAST_ROWS,
};
