/* Structs of the public interface begin with their size: a wrong one is refused by the name of the argument,
 * and what is answered has the right one. */
#define _GNU_SOURCE /* mkdtemp */
#include "infer_testing.h"

#include <unistd.h>

/* ---- calls with every struct that they take --------------------------------------------------- */

enum { FEW = 3 };

/* All that a call hands over or receives; in arrays only the first has its size. */
struct calling {
    paritas_options context_options;
    paritas_device_info device;
    paritas_prune_options prune;
    paritas_rename_options rename;
    paritas_datacard_options datacard;
    paritas_model_options model_options;
    paritas_model_description description;
    paritas_job jobs[FEW];
    paritas_fit_options fit_options;
    paritas_fit_answers answers;
    paritas_fit_result fits[FEW];
    paritas_fit_starts starts[FEW];
    paritas_minos_request minos;
    paritas_hypotest_result tests[FEW], scan[PARITAS_SCAN_MOST];
    paritas_limit_request limit_request;
    paritas_limit_result limit;
    paritas_significance_result significance;
    paritas_scan_request scan_request;
    paritas_scan_point points[FEW];
    paritas_crossing crossings[4];
    paritas_interval_request interval_request;
    paritas_interval_part parts[4];
    paritas_contour_request contour_request;
    paritas_contour_point edges[4], around[64];
    paritas_contour_part curves[4];
    paritas_predict_request predict_request;
    paritas_predict_answers yields;
    paritas_ranking_entry entries[8];
    paritas_gof_result gof;
    paritas_toys_options toys_options;
    paritas_hypotest_toys_result test_toys, scan_toys[PARITAS_SCAN_MOST];
    paritas_significance_toys_result significance_toys;
    paritas_limit_toys_request limit_toys_request;
    paritas_limit_toys_result limit_toys;
    paritas_toys_request toys_request;
    paritas_toys_result toys;
    paritas_toys_parameter parameters[8];
    paritas_gof_toys_result gof_toys;
    paritas_split_options split;
    paritas_compatibility_result compatible;
    paritas_compatibility_group groups[8];
    paritas_toy_data toy_data;
    size_t n_entries;
};

static const double mu[FEW] = {0.5, 1.0, 1.5}, half = 0.5;
static const size_t poi = 0, both[] = {0, 1};
static char store[80];
static double row[2], numbers[2];
static size_t n_parts;
/* the best fit of the model, for MINOS */
static double best[2], errors[2], best_twice_nll, offsets[2];

static void set_up(struct calling *c)
{
    memset(c, 0xa5, sizeof *c);
    c->context_options = (paritas_options)PARITAS_OPTIONS_DEFAULT;
    c->context_options.threads = 1;
    c->device.size = sizeof c->device;
    c->prune = (paritas_prune_options)PARITAS_PRUNE_OPTIONS_DEFAULT;
    c->rename = (paritas_rename_options)PARITAS_RENAME_OPTIONS_DEFAULT;
    c->datacard = (paritas_datacard_options)PARITAS_DATACARD_OPTIONS_DEFAULT;
    c->model_options = (paritas_model_options)PARITAS_MODEL_OPTIONS_DEFAULT;
    c->description = (paritas_model_description)PARITAS_MODEL_DESCRIPTION_DEFAULT;
    memset(c->jobs, 0, sizeof c->jobs);
    c->jobs[0].size = sizeof c->jobs[0];
    c->fit_options = (paritas_fit_options)PARITAS_FIT_OPTIONS_DEFAULT;
    c->answers = *SIZED(paritas_fit_answers, .results = c->fits, .starts = c->starts);
    c->fits[0].size = sizeof c->fits[0];
    c->starts[0].size = sizeof c->starts[0];
    c->minos =
        *SIZED(paritas_minos_request, .best = best, .best_twice_nll = best_twice_nll, .error = errors[0]);
    c->tests[0].size = c->scan[0].size = sizeof c->tests[0];
    c->limit_request = (paritas_limit_request)PARITAS_LIMIT_REQUEST_DEFAULT;
    c->limit_request.scan_room = COUNT(c->scan);
    c->limit_request.scan = c->scan;
    c->limit.size = sizeof c->limit;
    c->significance.size = sizeof c->significance;
    c->scan_request =
        *SIZED(paritas_scan_request, .n_parameters = 1, .parameters = &poi, .n_points = FEW, .values = mu,
               .best = c->fits, .points = c->points, .n_levels = 1, .levels = &half,
               .crossings_room = COUNT(c->crossings), .crossings = c->crossings);
    c->points[0].size = sizeof c->points[0];
    c->crossings[0].size = sizeof c->crossings[0];
    c->interval_request =
        *SIZED(paritas_interval_request, .parameter = poi, .n_levels = 1, .levels = &half, .best = c->fits,
               .room = COUNT(c->parts), .parts = c->parts, .n_parts = &n_parts);
    c->parts[0].size = sizeof c->parts[0];
    c->contour_request = *SIZED(paritas_contour_request, .parameters = both, .n_levels = 1, .levels = &half,
                                .n_points = COUNT(c->edges), .best = c->fits, .points = c->edges,
                                .parts_room = COUNT(c->curves), .parts = c->curves, .n_parts = &n_parts,
                                .edges_room = COUNT(c->around), .edges = c->around, .n_edges = &n_parts);
    c->curves[0].size = sizeof c->curves[0];
    c->around[0].size = sizeof c->around[0];
    c->edges[0].size = sizeof c->edges[0];
    const paritas_yields yields = {numbers, numbers, numbers, numbers, numbers};
    c->predict_request = *SIZED(paritas_predict_request, .best = best);
    c->yields = *SIZED(paritas_predict_answers, .before = yields, .after = yields);
    c->entries[0].size = sizeof c->entries[0];
    c->gof.size = sizeof c->gof;
    c->toys_options = *SIZED(paritas_toys_options, .n = 100, .seed = 3);
    c->test_toys.size = c->scan_toys[0].size = sizeof c->test_toys;
    c->significance_toys.size = sizeof c->significance_toys;
    c->limit_toys_request = (paritas_limit_toys_request)PARITAS_LIMIT_TOYS_REQUEST_DEFAULT;
    c->limit_toys_request.rtol = 0.5;
    c->limit_toys_request.scan_room = COUNT(c->scan_toys);
    c->limit_toys_request.scan = c->scan_toys;
    c->limit_toys.size = sizeof c->limit_toys;
    c->toys_request = *SIZED(paritas_toys_request, .parameters = c->parameters);
    c->toys.size = sizeof c->toys;
    c->parameters[0].size = sizeof c->parameters[0];
    c->gof_toys.size = sizeof c->gof_toys;
    c->split = (paritas_split_options)PARITAS_SPLIT_OPTIONS_DEFAULT;
    c->compatible.size = sizeof c->compatible;
    c->groups[0].size = sizeof c->groups[0];
    c->toy_data = *SIZED(paritas_toy_data, .n = 1, .rows = row);
}

static paritas_status call_list_devices(const struct fixture *f, struct calling *c)
{
    size_t n;
    return paritas_list_devices(f->context, 1, &c->device, &n);
}

/* Documents and models that come out are freed; where nothing comes out the pointer is NULL. */
static paritas_status free_document(paritas_status status, paritas_workspace *document)
{
    assert_true((status == PARITAS_OK) == (document != NULL));
    paritas_workspace_free(document);
    return status;
}

static paritas_status free_model(paritas_status status, paritas_model *model)
{
    assert_true((status == PARITAS_OK) == (model != NULL));
    paritas_model_free(model);
    return status;
}

static paritas_status call_workspace_prune(const struct fixture *f, struct calling *c)
{
    paritas_workspace *out;
    const paritas_status status = paritas_workspace_prune(f->context, f->workspace, &c->prune, &out);
    return free_document(status, out);
}

static paritas_status call_workspace_split(const struct fixture *f, struct calling *c)
{
    paritas_workspace *out;
    const paritas_status status = paritas_workspace_split(f->context, f->workspace, &c->split, &out);
    return free_document(status, out);
}

static paritas_status call_datacard_parse(const struct fixture *f, struct calling *c)
{
    static const char card[] = "observation 1\nbin a\nprocess b\nprocess 1\nrate 1\n";
    paritas_workspace *out;
    const paritas_status status =
        paritas_datacard_parse(f->context, card, sizeof card - 1, "card", &c->datacard, &out);
    return free_document(status, out);
}

static paritas_status call_workspace_rename(const struct fixture *f, struct calling *c)
{
    paritas_workspace *out;
    const paritas_status status = paritas_workspace_rename(f->context, f->workspace, &c->rename, &out);
    return free_document(status, out);
}

static paritas_status call_model_create(const struct fixture *f, struct calling *c)
{
    paritas_model *model;
    const paritas_status status = paritas_model_create(f->context, f->workspace, &c->model_options, &model);
    return free_model(status, model);
}

static paritas_status call_model_define(const struct fixture *f, struct calling *c)
{
    paritas_model *model;
    const paritas_status status = paritas_model_define(f->context, &c->description, &model);
    return free_model(status, model);
}

static paritas_status call_fit(const struct fixture *f, struct calling *c)
{
    return paritas_fit(f->context, f->model, &c->fit_options, FEW, c->jobs, &c->answers);
}

static paritas_status call_minos(const struct fixture *f, struct calling *c)
{
    return paritas_minos(f->context, f->model, c->jobs, &c->minos, offsets);
}

static paritas_status call_hypotest(const struct fixture *f, struct calling *c)
{
    return paritas_hypotest(f->context, f->model, c->jobs, PARITAS_STATISTIC_QTILDE, FEW, mu, c->tests);
}

static paritas_status call_limit(const struct fixture *f, struct calling *c)
{
    return paritas_limit(f->context, f->model, c->jobs, &c->limit_request, &c->limit);
}

static paritas_status call_significance(const struct fixture *f, struct calling *c)
{
    return paritas_significance(f->context, f->model, c->jobs, &c->significance);
}

static paritas_status call_scan(const struct fixture *f, struct calling *c)
{
    return paritas_scan(f->context, f->model, c->jobs, &c->scan_request);
}

static paritas_status call_interval(const struct fixture *f, struct calling *c)
{
    return paritas_interval(f->context, f->model, c->jobs, &c->interval_request);
}

static paritas_status call_contour(const struct fixture *f, struct calling *c)
{
    return paritas_contour(f->context, f->model, c->jobs, &c->contour_request);
}

static paritas_status call_asimov_data(const struct fixture *f, struct calling *c)
{
    return paritas_asimov_data(f->context, f->model, c->jobs, 1.0, c->fits, row);
}

static paritas_status call_predict(const struct fixture *f, struct calling *c)
{
    return paritas_predict(f->context, f->model, c->jobs, &c->predict_request, &c->yields);
}

static paritas_status call_ranking(const struct fixture *f, struct calling *c)
{
    return paritas_ranking(f->context, f->model, c->jobs, c->entries, &c->n_entries);
}

static paritas_status call_gof(const struct fixture *f, struct calling *c)
{
    return paritas_gof(f->context, f->model, c->jobs, &c->gof);
}

/* Compared with itself: one channel has one group. */
static paritas_status call_compatibility(const struct fixture *f, struct calling *c)
{
    return paritas_compatibility(f->context, f->model, c->jobs, f->model, &c->compatible, c->groups);
}

static paritas_status call_generate(const struct fixture *f, struct calling *c)
{
    paritas_toy_data *data;
    const paritas_status status =
        paritas_generate(f->context, f->model, c->jobs, &c->toys_request, &c->toys_options, &data);
    paritas_toy_data_free(data);
    return status;
}

static paritas_status call_toy_data_write(const struct fixture *f, struct calling *c)
{
    char *text;
    size_t length;
    const paritas_status status = paritas_toy_data_write(f->context, f->model, &c->toy_data, &text, &length);
    paritas_text_free(f->context, text);
    return status;
}

static paritas_status call_toy_data_pack(const struct fixture *f, struct calling *c)
{
    char *bytes;
    size_t length;
    const paritas_status status = paritas_toy_data_pack(f->context, f->model, &c->toy_data, &bytes, &length);
    paritas_text_free(f->context, bytes);
    return status;
}

static paritas_status call_hypotest_toys(const struct fixture *f, struct calling *c)
{
    return paritas_hypotest_toys(f->context, f->model, c->jobs, PARITAS_STATISTIC_QTILDE, 1.0,
                                 &c->toys_options, &c->test_toys);
}

static paritas_status call_significance_toys(const struct fixture *f, struct calling *c)
{
    return paritas_significance_toys(f->context, f->model, c->jobs, &c->toys_options, &c->significance_toys,
                                     &c->test_toys);
}

static paritas_status call_limit_toys(const struct fixture *f, struct calling *c)
{
    return paritas_limit_toys(f->context, f->model, c->jobs, &c->limit_toys_request, &c->toys_options,
                              &c->limit_toys);
}

static paritas_status call_toys(const struct fixture *f, struct calling *c)
{
    return paritas_toys(f->context, f->model, c->jobs, &c->toys_request, &c->toys_options, &c->toys);
}

static paritas_status call_gof_toys(const struct fixture *f, struct calling *c)
{
    return paritas_gof_toys(f->context, f->model, c->jobs, &c->toys_options, &c->gof_toys, &c->gof);
}

static paritas_status call_compatibility_toys(const struct fixture *f, struct calling *c)
{
    return paritas_compatibility_toys(f->context, f->model, c->jobs, f->model, &c->toys_options, &c->gof_toys,
                                      &c->compatible, c->groups);
}

static paritas_status call_store_hypotest(const struct fixture *f, struct calling *c)
{
    return paritas_store_hypotest(f->context, store, &c->test_toys);
}

/* Every struct with a size that a function of paritas.h takes; paritas_open, which makes the context, is
 * apart. */
#define TAKES(function, argument, type, member) \
    {"paritas_" #function, call_##function, argument, #type, offsetof(struct calling, member), sizeof(type)}
static const struct {
    const char *function;
    paritas_status (*call)(const struct fixture *f, struct calling *c);
    const char *argument, *type;
    size_t offset, size;
} taken[] = {
    TAKES(list_devices, "devices", paritas_device_info, device),
    TAKES(workspace_prune, "options", paritas_prune_options, prune),
    TAKES(workspace_rename, "options", paritas_rename_options, rename),
    TAKES(workspace_split, "options", paritas_split_options, split),
    TAKES(datacard_parse, "options", paritas_datacard_options, datacard),
    TAKES(model_create, "options", paritas_model_options, model_options),
    TAKES(model_define, "description", paritas_model_description, description),
    TAKES(fit, "options", paritas_fit_options, fit_options),
    TAKES(fit, "jobs", paritas_job, jobs),
    TAKES(fit, "answers", paritas_fit_answers, answers),
    TAKES(fit, "results", paritas_fit_result, fits),
    TAKES(fit, "starts", paritas_fit_starts, starts),
    TAKES(minos, "job", paritas_job, jobs),
    TAKES(minos, "request", paritas_minos_request, minos),
    TAKES(hypotest, "job", paritas_job, jobs),
    TAKES(hypotest, "results", paritas_hypotest_result, tests),
    TAKES(limit, "job", paritas_job, jobs),
    TAKES(limit, "request", paritas_limit_request, limit_request),
    TAKES(limit, "scan", paritas_hypotest_result, scan),
    TAKES(limit, "result", paritas_limit_result, limit),
    TAKES(significance, "job", paritas_job, jobs),
    TAKES(significance, "result", paritas_significance_result, significance),
    TAKES(scan, "job", paritas_job, jobs),
    TAKES(scan, "request", paritas_scan_request, scan_request),
    TAKES(scan, "best", paritas_fit_result, fits),
    TAKES(scan, "points", paritas_scan_point, points),
    TAKES(scan, "crossings", paritas_crossing, crossings),
    TAKES(interval, "job", paritas_job, jobs),
    TAKES(interval, "request", paritas_interval_request, interval_request),
    TAKES(interval, "best", paritas_fit_result, fits),
    TAKES(interval, "parts", paritas_interval_part, parts),
    TAKES(contour, "job", paritas_job, jobs),
    TAKES(contour, "request", paritas_contour_request, contour_request),
    TAKES(contour, "best", paritas_fit_result, fits),
    TAKES(contour, "points", paritas_contour_point, edges),
    TAKES(contour, "parts", paritas_contour_part, curves),
    TAKES(contour, "edges", paritas_contour_point, around),
    TAKES(asimov_data, "job", paritas_job, jobs),
    TAKES(asimov_data, "result", paritas_fit_result, fits),
    TAKES(predict, "job", paritas_job, jobs),
    TAKES(predict, "request", paritas_predict_request, predict_request),
    TAKES(predict, "answers", paritas_predict_answers, yields),
    TAKES(ranking, "job", paritas_job, jobs),
    TAKES(ranking, "entries", paritas_ranking_entry, entries),
    TAKES(compatibility, "job", paritas_job, jobs),
    TAKES(compatibility, "result", paritas_compatibility_result, compatible),
    TAKES(compatibility, "groups", paritas_compatibility_group, groups),
    TAKES(generate, "job", paritas_job, jobs),
    TAKES(generate, "request", paritas_toys_request, toys_request),
    TAKES(generate, "options", paritas_toys_options, toys_options),
    TAKES(toy_data_write, "data", paritas_toy_data, toy_data),
    TAKES(toy_data_pack, "data", paritas_toy_data, toy_data),
    TAKES(gof, "job", paritas_job, jobs),
    TAKES(gof, "result", paritas_gof_result, gof),
    TAKES(hypotest_toys, "job", paritas_job, jobs),
    TAKES(hypotest_toys, "options", paritas_toys_options, toys_options),
    TAKES(hypotest_toys, "result", paritas_hypotest_toys_result, test_toys),
    TAKES(significance_toys, "job", paritas_job, jobs),
    TAKES(significance_toys, "options", paritas_toys_options, toys_options),
    TAKES(significance_toys, "result", paritas_significance_toys_result, significance_toys),
    TAKES(significance_toys, "test", paritas_hypotest_toys_result, test_toys),
    TAKES(limit_toys, "job", paritas_job, jobs),
    TAKES(limit_toys, "request", paritas_limit_toys_request, limit_toys_request),
    TAKES(limit_toys, "options", paritas_toys_options, toys_options),
    TAKES(limit_toys, "scan", paritas_hypotest_toys_result, scan_toys),
    TAKES(limit_toys, "result", paritas_limit_toys_result, limit_toys),
    TAKES(toys, "job", paritas_job, jobs),
    TAKES(toys, "request", paritas_toys_request, toys_request),
    TAKES(toys, "options", paritas_toys_options, toys_options),
    TAKES(toys, "parameters", paritas_toys_parameter, parameters),
    TAKES(toys, "result", paritas_toys_result, toys),
    TAKES(gof_toys, "job", paritas_job, jobs),
    TAKES(gof_toys, "options", paritas_toys_options, toys_options),
    TAKES(gof_toys, "result", paritas_gof_toys_result, gof_toys),
    TAKES(gof_toys, "gof", paritas_gof_result, gof),
    TAKES(compatibility_toys, "job", paritas_job, jobs),
    TAKES(compatibility_toys, "options", paritas_toys_options, toys_options),
    TAKES(compatibility_toys, "result", paritas_gof_toys_result, gof_toys),
    TAKES(compatibility_toys, "observed", paritas_compatibility_result, compatible),
    TAKES(compatibility_toys, "groups", paritas_compatibility_group, groups),
    TAKES(store_hypotest, "result", paritas_hypotest_toys_result, test_toys),
};

/* ---- the model and a store -------------------------------------------------------------------- */

static char folder[64];

static int open_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/paritas_sizes_XXXXXX");
    if (!mkdtemp(folder)) return 1;
    snprintf(store, sizeof store, "%s/run.db", folder);
    return 0;
}

static int close_folder(void **state)
{
    (void)state;
    unlink(store);
    return rmdir(folder);
}

/* One bin with a background that is known to 10 %: two parameters. Fitted. */
static struct fixture two_parameters(void)
{
    struct fixture f =
        make_fixture("{\"channels\":[{\"name\":\"c\",\"samples\":["
                     "{\"name\":\"s\",\"data\":[5.0],\"modifiers\":[{\"name\":\"mu\",\"type\":\"normfactor\","
                     "\"data\":null}]},"
                     "{\"name\":\"b\",\"data\":[9.0],\"modifiers\":[{\"name\":\"scale\",\"type\":\"normsys\","
                     "\"data\":{\"hi\":1.1,\"lo\":0.9}}]}]}],"
                     "\"observations\":[{\"name\":\"c\",\"data\":[12.0]}],"
                     "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu\",\"parameters\":[]}}],"
                     "\"version\":\"1.0.0\"}");
    const paritas_job job = PARITAS_JOB_DEFAULT;
    paritas_fit_result result = PARITAS_INIT(paritas_fit_result);
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 1, &job,
                                     SIZED(paritas_fit_answers, .results = &result, .parameters = best,
                                           .errors = errors)));
    best_twice_nll = result.twice_nll;
    return f;
}

/* ---- claims ----------------------------------------------------------------------------------- */

static void assert_message(const char *message, const char *argument, size_t size, const char *type)
{
    char wanted[256];
    snprintf(wanted, sizeof wanted, "%s: its size is %zu, which no version of %s had", argument, size, type);
    if (strncmp(message, wanted, strlen(wanted)) != 0)
        fail_msg("'%s' does not begin with '%s'", message, wanted);
}

TEST(a_size_of_nothing_or_of_no_version_is_refused_by_argument_and_type)
{
    static struct calling c;
    struct fixture f = two_parameters();
    for (size_t k = 0; k < COUNT(taken); k++) {
        const size_t sizes[] = {0, 1, sizeof(size_t), taken[k].size - 1, taken[k].size + 8, SIZE_MAX};
        for (size_t i = 0; i < COUNT(sizes); i++) {
            if (sizes[i] == taken[k].size) continue;
            set_up(&c);
            memcpy((char *)&c + taken[k].offset, &sizes[i], sizeof sizes[i]);
            const paritas_status status = taken[k].call(&f, &c);
            if (status != PARITAS_INVALID_ARGUMENT)
                fail_msg("%s: %s of the size %zu: %s", taken[k].function, taken[k].argument, sizes[i],
                         paritas_status_name(status));
            assert_message(paritas_error_message(f.context), taken[k].argument, sizes[i], taken[k].type);
        }
    }
    free_fixture(&f);
}

TEST(a_context_of_options_without_their_size_is_refused_with_a_message)
{
    const size_t sizes[] = {0, 1, sizeof(paritas_options) - 1, sizeof(paritas_options) + 8};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        const paritas_options options = {.size = sizes[i], .threads = 1};
        paritas_context *context;
        assert_int_equal(paritas_open(&options, &context), PARITAS_INVALID_ARGUMENT);
        assert_non_null(context);
        assert_message(paritas_error_message(context), "options", sizes[i], "paritas_options");
        paritas_close(context);
    }
}

TEST(an_answer_without_a_place_is_refused_by_its_name)
{
    struct fixture f = two_parameters();
    const paritas_job job = PARITAS_JOB_DEFAULT;
    const paritas_fit_answers answers = PARITAS_FIT_ANSWERS_DEFAULT;
    assert_int_equal(paritas_fit(f.context, f.model, NULL, 1, &job, NULL), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "answers: must not be NULL");
    ASSERT_OK(f.context, paritas_fit(f.context, f.model, NULL, 0, NULL, NULL));
    assert_int_equal(paritas_fit(f.context, f.model, NULL, 1, &job, &answers), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "results: must not be NULL");
    assert_int_equal(paritas_fit(f.context, f.model, NULL, 1, NULL, &answers), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "jobs: must not be NULL");
    assert_int_equal(paritas_minos(f.context, f.model, NULL, NULL, offsets), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "request: must not be NULL");
    assert_int_equal(paritas_hypotest(f.context, f.model, NULL, PARITAS_STATISTIC_Q, FEW, mu, NULL),
                     PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "results: must not be NULL");
    assert_int_equal(paritas_limit(f.context, f.model, NULL, NULL, NULL), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "result: must not be NULL");
    assert_int_equal(paritas_scan(f.context, f.model, NULL, NULL), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "request: must not be NULL");
    paritas_scan_request scan = PARITAS_SCAN_REQUEST_DEFAULT;
    assert_int_equal(paritas_scan(f.context, f.model, NULL, &scan), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "best: must not be NULL");
    const paritas_minos_request minos = PARITAS_INIT(paritas_minos_request);
    assert_int_equal(paritas_minos(f.context, f.model, NULL, &minos, offsets), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "best: must not be NULL");
    paritas_fit_result best = PARITAS_INIT(paritas_fit_result);
    scan.best = &best;
    scan.n_parameters = 1;
    assert_int_equal(paritas_scan(f.context, f.model, NULL, &scan), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "parameters: must not be NULL");
    assert_int_equal(paritas_gof(f.context, f.model, NULL, NULL), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(f.context), "result: must not be NULL");
    free_fixture(&f);
}

/* So that the refusals above are those of the sizes alone. */
TEST(the_same_calls_with_right_sizes_are_answered)
{
    static struct calling c;
    struct fixture f = two_parameters();
    set_up(&c);
    c.toys_options.store = store;
    ASSERT_OK(f.context, call_hypotest_toys(&f, &c));
    for (size_t k = 0; k < COUNT(taken); k++) {
        if (taken[k].call == call_list_devices) continue; /* opens every driver of the machine */
        set_up(&c);
        if (taken[k].call == call_model_define) { /* refused, but not for its size */
            assert_int_equal(taken[k].call(&f, &c), PARITAS_INVALID_ARGUMENT);
            assert_null(strstr(paritas_error_message(f.context), "its size"));
            continue;
        }
        ASSERT_OK(f.context, taken[k].call(&f, &c));
        size_t size;
        memcpy(&size, (char *)&c + taken[k].offset, sizeof size);
        assert_int_equal(size, taken[k].size); /* also of what was written */
    }
    free_fixture(&f);
}

/* All of them have their size, whatever stood there: so each can be handed on. */
#define ASSERT_SIZES(array, n) \
    for (size_t at = 0; at < (n); at++) assert_int_equal((array)[at].size, sizeof((array)[at]))

TEST(every_element_of_an_answer_has_its_size)
{
    static struct calling c;
    struct fixture f = two_parameters();
    set_up(&c);
    ASSERT_OK(f.context, call_fit(&f, &c));
    ASSERT_SIZES(c.fits, FEW);
    ASSERT_OK(f.context, call_hypotest(&f, &c));
    ASSERT_SIZES(c.tests, FEW);
    ASSERT_OK(f.context, call_limit(&f, &c));
    assert_true(c.limit.n_scan > 2);
    ASSERT_SIZES(c.scan, c.limit.n_scan);
    ASSERT_OK(f.context, call_scan(&f, &c));
    ASSERT_SIZES(c.points, FEW);
    ASSERT_OK(f.context, call_ranking(&f, &c));
    assert_int_equal(c.n_entries, 1);
    ASSERT_SIZES(c.entries, c.n_entries);
    ASSERT_OK(f.context, call_limit_toys(&f, &c));
    assert_true(c.limit_toys.n_scan > 2);
    ASSERT_SIZES(c.scan_toys, c.limit_toys.n_scan);
    ASSERT_OK(f.context, call_toys(&f, &c));
    ASSERT_SIZES(c.parameters, 2);
    free_fixture(&f);
}

static int see_toys(void *user, size_t n, const paritas_toy *toys)
{
    ASSERT_SIZES(toys, n);
    *(size_t *)user += n;
    return 0;
}

static int see_fits(void *user, size_t n, const paritas_toy_fit *fits)
{
    ASSERT_SIZES(fits, n);
    for (size_t i = 0; i < n; i++) assert_int_equal(fits[i].result.size, sizeof fits[i].result);
    *(size_t *)user += n;
    return 0;
}

TEST(every_toy_that_is_handed_out_has_its_size)
{
    static struct calling c;
    struct fixture f = two_parameters();
    size_t toys = 0, fits = 0;
    set_up(&c);
    c.toys_options.take = see_toys;
    c.toys_options.user = &toys;
    ASSERT_OK(f.context, call_hypotest_toys(&f, &c));
    assert_int_equal(toys, 200);
    for (unsigned flags = 0; flags <= PARITAS_TOYS_ERRORS; flags += PARITAS_TOYS_ERRORS) {
        set_up(&c);
        fits = 0;
        c.toys_request.flags = flags;
        c.toys_request.take = see_fits;
        c.toys_request.user = &fits;
        ASSERT_OK(f.context, call_toys(&f, &c));
        assert_int_equal(fits, 100);
    }
    free_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_size_of_nothing_or_of_no_version_is_refused_by_argument_and_type),
        cmocka_unit_test(a_context_of_options_without_their_size_is_refused_with_a_message),
        cmocka_unit_test(an_answer_without_a_place_is_refused_by_its_name),
        cmocka_unit_test_setup_teardown(the_same_calls_with_right_sizes_are_answered, open_folder,
                                        close_folder),
        cmocka_unit_test(every_element_of_an_answer_has_its_size),
        cmocka_unit_test(every_toy_that_is_handed_out_has_its_size),
    };
    return cmocka_run_group_tests_name("sizes", tests, NULL, NULL);
}
