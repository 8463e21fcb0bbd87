/* claims_histfactory.c: values, derivatives and fits of HistFactory models are the CPU's bits. */
#include "fit/fit_testing.h"
#include "flush.h"
#include "matrix/histfactory_answers.h"
#include "matrix/matrix.h"
#include "opencl/workspace.h"

#define EVERY_ENTRY PART(ANSWER_PARTS) /* on accelerators: every entry must have run */

/* ---- models ---- */

/* One of text, published, tiny, or the random one of a seed. */
struct source {
    const char *text;
    const struct published *published;
    double tiny;
    uint64_t seed;
    bool has_poi, mcstat, cards;
    int normsys_code, histosys_code, clips, templates;
    const char *config; /* in place of the small model's `"parameters": [` */
};

static const paritas_template templates[] = {
    {PARITAS_TEMPLATE_NOMINAL, "A", "signal", NULL},
    {PARITAS_TEMPLATE_NOMINAL, "A", "top", NULL},
    {PARITAS_TEMPLATE_HISTOSYS_UP, "A", "top", "shape"},
    {PARITAS_TEMPLATE_HISTOSYS_DOWN, "A", "fakes", "shape"},
    {PARITAS_TEMPLATE_NOMINAL, "A", "fakes", NULL},
    {PARITAS_TEMPLATE_NOMINAL, "B", "signal", NULL},
};

static bool is_here(const struct published *analysis)
{
    struct fixture f;
    if (!make_published(analysis, NULL, &f)) return false;
    free_fixture(&f);
    return true;
}

/* A normfactor is a function: of another function, of parameters of all kinds, and of some that act nowhere
 * else. */
#define FUNCTIONS                                                                             \
    "\"functions\": [{\"name\": \"k\", \"expression\": \"sqrt(one) * exp(0.1*two) / (1 "      \
    "+ 0.2*jes^2) + l\"}, {\"name\": \"l\", \"expression\": \"0.02*mu*theory + "              \
    "0.1*log(1.5 + one^two - jer/9)\"}], \"parameters\": [{\"name\": \"one\"}, {\"name\": "   \
    "\"two\", \"bounds\": [[-5, 5]], \"constraint\": {\"type\": \"gaussian\"}, \"auxdata\": " \
    "[0.1], \"sigmas\": [0.7]}, "
/* Groups of three and nine, with factors of bins. */
#define CORRELATIONS                                                                                    \
    "\"correlations\": [{\"name\": \"three\", \"parameters\": [\"jes\", \"stat_A[2]\", \"theory\"], "   \
    "\"correlation\": [[1, 0.4, -0.3], [0.4, 1, 0.1], [-0.3, 0.1, 1]]}, {\"name\": \"nine\", "          \
    "\"parameters\": [\"scale\", \"jer\", \"trigger\", \"electrons\", \"muons\", \"shape\", \"btag\", " \
    "\"stat_A[7]\", \"lumi\"], \"correlation\": ["                                                      \
    "[1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625], "                         \
    "[0.5, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125], "                                \
    "[0.25, 0.5, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625], "                                     \
    "[0.125, 0.25, 0.5, 1, 0.5, 0.25, 0.125, 0.0625, 0.03125], "                                        \
    "[0.0625, 0.125, 0.25, 0.5, 1, 0.5, 0.25, 0.125, 0.0625], "                                         \
    "[0.03125, 0.0625, 0.125, 0.25, 0.5, 1, 0.5, 0.25, 0.125], "                                        \
    "[0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1, 0.5, 0.25], "                                     \
    "[0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1, 0.5], "                                \
    "[0.00390625, 0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1]"                           \
    "]}], \"parameters\": ["

/* Factors of 0 at one side or both, in codes that take them, beside others of the same samples. */
static const char zero_factors[] =
    "{\"channels\": [{\"name\": \"A\", \"samples\": ["
    "{\"name\": \"signal\", \"data\": [5.0, 3.0], \"modifiers\": ["
    "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}]}, "
    "{\"name\": \"fakes\", \"data\": [20.0, 15.0], \"modifiers\": ["
    "{\"name\": \"low\", \"type\": \"normsys\", \"data\": {\"hi\": 2.0, \"lo\": 0.0}}, "
    "{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}]}, "
    "{\"name\": \"other\", \"data\": [9.0, 8.0], \"modifiers\": ["
    "{\"name\": \"high\", \"type\": \"normsys\", \"data\": {\"hi\": 0.0, \"lo\": 1.5}}, "
    "{\"name\": \"line\", \"type\": \"normsys\", "
    "\"data\": {\"hi\": 2.0, \"lo\": 0.0, \"interpcode\": \"code0\"}}, "
    "{\"name\": \"both\", \"type\": \"normsys\", \"data\": {\"hi\": 0.0, \"lo\": 0.0}}]}]}], "
    "\"observations\": [{\"name\": \"A\", \"data\": [31.0, 29.0]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": []}}], "
    "\"version\": \"1.0.0\"}";

static char *with_config(const char *config)
{
    static const char here[] = "\"parameters\": [";
    const char *at = strstr(small_workspace, here);
    const size_t before = (size_t)(at - small_workspace), room = strlen(small_workspace) + strlen(config) + 1;
    char *text = malloc(room);
    assert_non_null(text);
    snprintf(text, room, "%.*s%s%s", (int)before, small_workspace, config, at + strlen(here));
    return text;
}

static struct fixture make_model(const struct source *source)
{
    struct fixture f;
    if (source->published) {
        assert_true(make_published(source->published, NULL, &f));
        return f;
    }
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.normsys_code = source->normsys_code;
    options.histosys_code = source->histosys_code;
    options.clip_sample = options.clip_bin = source->clips;
    options.clip_sample_at = 1.5;
    options.clip_bin_at = 6.0;
    options.n_templates = source->templates ? COUNT(templates) : 0;
    options.templates = templates;
    char *made = source->text     ? NULL
                 : source->config ? with_config(source->config)
                 : source->tiny ? tiny_workspace(source->tiny)
                                : random_workspace(source->seed,
                                                   (source->has_poi ? TRAIT_ALL & ~TRAIT_NO_POI : TRAIT_ALL) |
                                                       (source->mcstat ? TRAIT_MCSTAT : 0) |
                                                       (source->cards ? TRAIT_CARDS : 0));
    f = make_fixture(made ? made : source->text, NULL, &options);
    free(made);
    return f;
}

static const struct source random_sources[] = {
    {.seed = 0}, {.seed = 1}, {.seed = 2}, {.seed = 200}, {.seed = 200, .has_poi = true}};
static const struct subject random_0[] = {{"random model 0", &random_sources[0]}},
                            random_1[] = {{"random model 1", &random_sources[1]}},
                            random_2[] = {{"random model 2", &random_sources[2]}},
                            random_200[] = {{"random model 200", &random_sources[3]}},
                            random_poi[] = {{"random model 200 with a POI", &random_sources[4]}};

static const struct source small = {.text = small_workspace},
                           straight = {.text = small_workspace,
                                       .normsys_code = 1,
                                       .histosys_code = PARITAS_HISTOSYS_CODE_0},
                           clipped = {.text = small_workspace,
                                      .histosys_code = PARITAS_HISTOSYS_CODE_2,
                                      .clips = 1},
                           with_templates = {.text = small_workspace, .templates = 1},
                           with_mcstat = {.seed = 600, .has_poi = true, .mcstat = true},
                           of_a_card = {.seed = 634, .has_poi = true, .mcstat = true, .cards = true},
                           of_zeros = {.text = zero_factors}, of_functions = {.config = FUNCTIONS},
                           correlated = {.config = CORRELATIONS},
                           roots = {.text = small_workspace,
                                    .normsys_code = PARITAS_NORMSYS_CODE_2C,
                                    .histosys_code = PARITAS_HISTOSYS_CODE_2C};
enum { SMALL_MODELS = 10, PLAIN_MODELS = 5 };
static const struct subject small_models[SMALL_MODELS] = {{"small model", &small},
                                                          {"small model with templates", &with_templates},
                                                          {"random model with mcstat", &with_mcstat},
                                                          {"small model with functions", &of_functions},
                                                          {"small model with correlations", &correlated},
                                                          {"small model in straight pieces", &straight},
                                                          {"small model, clipped", &clipped},
                                                          {"small model of ROOT's codes", &roots},
                                                          {"random model of a datacard", &of_a_card},
                                                          {"model with factors of 0", &of_zeros}};

static const struct source tiny[] = {{.tiny = 1e-10}, {.tiny = 1e-19}, {.tiny = 1e-26}, {.tiny = 1e-37},
                                     {.tiny = 1e-42}, {.seed = 205},   {.seed = 206}};
static const struct subject tiny_models[] = {{"tiny model 1e-10", &tiny[0]}, {"tiny model 1e-19", &tiny[1]},
                                             {"tiny model 1e-26", &tiny[2]}, {"tiny model 1e-37", &tiny[3]},
                                             {"tiny model 1e-42", &tiny[4]}, {"random model 205", &tiny[5]},
                                             {"random model 206", &tiny[6]}};

/* ---- claims ---- */

static void ask(const struct cell *cell, paritas_context *context, unsigned parts, struct results *results)
{
    struct fixture f = make_model(cell->subject);
    histfactory_answer(context, f.model, parts, results);
    if (parts & EVERY_ENTRY) assert_every_entry_ran(context, context->precision == 64 ? NULL : "hf_sample");
    free_fixture(&f);
}

static void compare(const struct cell *cell, unsigned parts)
{
    const struct source *source = cell->subject;
    if (source->published && !is_here(source->published)) skip_because(PUBLISHED_ABSENT);
    matrix_compare(cell, ask, parts);
}

#define NEWTON (PART(RESULTS_EVALUATE) | PART(RESULTS_EXPECTED) | PART(RESULTS_FIT))
#define ENTRIES                                                                                          \
    (NEWTON | PART(RESULTS_LBFGSB) | PART(RESULTS_DE) | PART(ANSWER_QUASI_NEWTON) | PART(ANSWER_DRAWN) | \
     PART(ANSWER_TANGENT) | PART(ANSWER_CHAINS))
#define ALL ((PART(RESULTS_PART_COUNT) - 1) | ENTRIES)

CLAIM(all_results_are_the_cpus)
{
    compare(*state, ALL);
}
CLAIM(all_results_of_every_entry_are_the_cpus)
{
    compare(*state, ALL | EVERY_ENTRY);
}
CLAIM(results_of_every_entry_are_the_cpus)
{
    compare(*state, ENTRIES | EVERY_ENTRY);
}
CLAIM(results_are_the_cpus)
{
    compare(*state, ENTRIES);
}
CLAIM(fits_are_the_cpus)
{
    compare(*state, NEWTON | PART(RESULTS_LBFGSB));
}
CLAIM(chains_are_the_cpus)
{
    compare(*state, PART(ANSWER_CHAINS));
}
CLAIM(newtons_fits_are_the_cpus)
{
    compare(*state, NEWTON);
}
CLAIM(tests_and_evolution_are_the_cpus)
{
    compare(*state, PART(RESULTS_HYPOTEST) | PART(RESULTS_DE));
}
CLAIM(values_and_draws_are_the_cpus)
{
    compare(*state, PART(ANSWER_POINTS) | PART(ANSWER_TOY_ROWS));
}
CLAIM(fits_within_bounds_are_the_cpus)
{
    compare(*state, PART(ANSWER_ONE_STEP) | PART(ANSWER_QUASI_FITS) | PART(ANSWER_WHOLE_FITS));
}
CLAIM(fits_scans_and_limits_are_the_cpus)
{
    compare(*state, PART(RESULTS_FIT) | PART(RESULTS_SCAN) | PART(RESULTS_LIMIT));
}

/* ---- targets ---- */

static const struct target
    cuda_all[] = {ON(CUDA_TEXT, 64, 3, .turns = TURNS_MIXED), ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED)},
    cuda_f64[] = {ON(CUDA_TEXT, 64, 3, .turns = TURNS_MIXED), ON(CUDA_TEXT, 64, 32, .turns = TURNS_MIXED),
                  ON(CUDA_TEXT, 64, 32, .turns = TURNS_BACKWARD), ON(CUDA_TEXT, 64, 1)},
    cuda_f32[] = {ON(CUDA_TEXT, 32, 3, .turns = TURNS_MIXED, .polished = true),
                  ON(CUDA_TEXT, 32, 32, .turns = TURNS_MIXED, .polished = true),
                  ON(CUDA_TEXT, 32, 32, .turns = TURNS_BACKWARD, .polished = true),
                  ON(CUDA_TEXT, 32, 1, .polished = true), ON(CUDA_TEXT, 32, 32, .turns = TURNS_MIXED)},
    metal_all[] = {ON(METAL_TEXT, 32, 1), ON("metal", 32, 0), ON("metal", 32, 32), ON("metal", 32, 64)},
    metal_teams[] = {ON(METAL_TEXT, 32, 3, .turns = TURNS_BACKWARD),
                     ON(METAL_TEXT, 32, 32, .turns = TURNS_MIXED)},
    metal_backward[] = {ON(METAL_TEXT, 32, 32, .turns = TURNS_BACKWARD)},
    metal_32[] = {ON(METAL_TEXT, 32, 32)}, metal_flushing[] = {ON(METAL_TEXT, 32, 3, .flushes = true)},
    texts[] = {ON(CUDA_TEXT, 64, 7, .turns = TURNS_MIXED), ON(METAL_TEXT, 32, 7, .turns = TURNS_MIXED)};

/* Real devices, and CUDA's stand-in as one of them. */
static const struct target cuda[] = {ON("cuda", 64, 0)}, cuda_32[] = {ON("cuda", 32, 0, .polished = true)},
                           cuda_usual[] = {ON("cuda", 64, 0), ON("cuda", 32, 0)},
                           blocks_f64[] = {ON("cuda", 64, 0), ON("cuda", 64, 1), ON("cuda", 64, 7),
                                           ON("cuda", 64, 64)},
                           blocks_f32[] = {ON("cuda", 32, 0, .polished = true),
                                           ON("cuda", 32, 1, .polished = true),
                                           ON("cuda", 32, 7, .polished = true),
                                           ON("cuda", 32, 64, .polished = true), ON("cuda", 32, 0)},
                           stand_in[] = {ON(CUDA_STAND_IN, 64, 0), ON(CUDA_STAND_IN, 64, 1),
                                         ON(CUDA_STAND_IN, 64, 7), ON(CUDA_STAND_IN, 64, 64),
                                         ON(CUDA_STAND_IN, 32, 0, .polished = true)},
                           polished[] = {ON(METAL_TEXT, 32, 0, .polished = true),
                                         ON(CUDA_STAND_IN, 32, 0, .polished = true)};

/* OpenCL's drivers take half a minute to compile the fit for one size. The first two sizes run everything, in
 * f64 the third values alone; PARITAS_LONG_TESTS in the environment: all of them everything. */
#define GROUPS(precision, ...)                                                          \
    {ON("opencl", precision, 1, __VA_ARGS__), ON("opencl", precision, 32, __VA_ARGS__), \
     ON("opencl", precision, 7, __VA_ARGS__), ON("opencl", precision, 64, __VA_ARGS__), \
     ON("opencl", precision, 256, __VA_ARGS__)}
static const struct target opencl_f64[] = GROUPS(64, .polished = false),
                           opencl_f32[] = GROUPS(32, .polished = true);

static void add_opencl(struct matrix *matrix)
{
    const bool longer = getenv("PARITAS_LONG_TESTS") != NULL;
    static const struct source sbottom = {.published = &published[11]},
                               displaced_leptons = {.published = &published[12]},
                               tHu = {.published = &published[15]};
    static const struct subject analyses[] = {
        {"sbottom_A 900_250_60", &sbottom}, {"displaced_leptons", &displaced_leptons}, {"tHu_FCNC", &tHu}};
    const size_t n_values = longer ? 5 : 3, n = longer ? 5 : 2;
    ADD(matrix, values_and_draws_are_the_cpus, small_models, SMALL_MODELS, opencl_f64, n_values);
    ADD(matrix, fits_within_bounds_are_the_cpus, small_models, SMALL_MODELS, opencl_f64, n);
    ADD(matrix, values_and_draws_are_the_cpus, analyses, COUNT(analyses), opencl_f64, n_values);
    ADD(matrix, fits_within_bounds_are_the_cpus, analyses, COUNT(analyses), opencl_f64, n);
    ADD(matrix, values_and_draws_are_the_cpus, small_models, PLAIN_MODELS, opencl_f32, n);
    ADD(matrix, fits_within_bounds_are_the_cpus, small_models, PLAIN_MODELS, opencl_f32, n);
}

static void add_published(struct matrix *matrix)
{
    static struct source sources[32];
    static struct subject analyses[32];
    assert_true(n_published <= COUNT(sources));
    for (size_t k = 0; k < n_published; k++) {
        sources[k] = (struct source){.published = &published[k]};
        analyses[k] = (struct subject){published[k].name, &sources[k]};
    }
    ADD(matrix, fits_are_the_cpus, analyses, n_published, cuda, 1);
    ADD(matrix, newtons_fits_are_the_cpus, analyses, n_published, cuda_32, 1);
    ADD(matrix, results_are_the_cpus, analyses, 1, metal_32, 1);
}

void add_histfactory(struct matrix *matrix)
{
    ADD(matrix, all_results_are_the_cpus, random_0, 1, cuda_all, SOME(cuda_all));
    ADD(matrix, all_results_are_the_cpus, random_0, 1, cuda, 1);
    ADD(matrix, all_results_are_the_cpus, random_1, 1, cuda, 1);
    ADD(matrix, all_results_are_the_cpus, random_2, 1, cuda, 1);
    ADD(matrix, tests_and_evolution_are_the_cpus, small_models, 1, stand_in, 1);
    ADD(matrix, all_results_of_every_entry_are_the_cpus, random_poi, 1, metal_all, COUNT(metal_all));
    ADD(matrix, results_of_every_entry_are_the_cpus, random_poi, 1, metal_teams, COUNT(metal_teams));
    ADD(matrix, results_of_every_entry_are_the_cpus, random_poi, 1, cuda_usual, COUNT(cuda_usual));
    ADD(matrix, newtons_fits_are_the_cpus, random_poi, 1, metal_backward, 1);
    ADD(matrix, fits_scans_and_limits_are_the_cpus, random_poi, 1, polished, COUNT(polished));
    ADD(matrix, fits_are_the_cpus, random_0, 1, blocks_f64, COUNT(blocks_f64));
    if (SHARE <= 2) ADD(matrix, newtons_fits_are_the_cpus, random_1, 1, cuda_f64, COUNT(cuda_f64));
    ADD(matrix, fits_are_the_cpus, random_200, 1, cuda_f32, SOME(cuda_f32));
    ADD(matrix, fits_are_the_cpus, small_models, 1, stand_in, COUNT(stand_in));
    ADD(matrix, chains_are_the_cpus, small_models, 1, stand_in, 4);
    ADD(matrix, chains_are_the_cpus, small_models, SMALL_MODELS, cuda_f64, SOME(cuda_f64));
    ADD(matrix, chains_are_the_cpus, small_models, 1, opencl_f64, 2);
    ADD(matrix, fits_are_the_cpus, small_models, 1, blocks_f32, COUNT(blocks_f32));
    ADD(matrix, values_and_draws_are_the_cpus, small_models, SMALL_MODELS, texts, COUNT(texts));
    ADD(matrix, fits_within_bounds_are_the_cpus, small_models + 1, 2, texts, COUNT(texts));
    ADD(matrix, fits_are_the_cpus, &small_models[PLAIN_MODELS - 1], 1, texts, COUNT(texts));
    if (FLUSH_IS_KNOWN) ADD(matrix, results_are_the_cpus, tiny_models, COUNT(tiny_models), metal_flushing, 1);
    add_published(matrix);
    add_opencl(matrix);
}
