/* The look-elsewhere effect: the same bits with all kernels and threads, requests that fail, wrong requests.
 * Its numbers are checked in tests/python/test_look_elsewhere.py. */
#include "refusing.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 3, TOYS = 60 };

/* A background of four bins with an uncertainty; signal k (0: none) has a bump in bin k and an uncertainty of
 * its own. */
static void write_workspace(size_t room, char *text, int signal, int observed)
{
    char sample[512] = "";
    const char *const rates[] = {"", "9, 2, 0, 0", "2, 9, 2, 0", "0, 2, 9, 2"};
    if (signal > 0)
        snprintf(sample, sizeof sample,
                 "{\"name\": \"signal\", \"data\": [%s], \"modifiers\": ["
                 "{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null},"
                 "{\"name\": \"xs%d\", \"type\": \"normsys\", \"data\": {\"hi\": 1.2, \"lo\": 0.8}}]},",
                 rates[signal], signal);
    const int length = snprintf(
        text, room,
        "{\"channels\": [{\"name\": \"c\", \"samples\": [%s{\"name\": \"b\", \"data\": [40, 35, 30, 25],"
        "\"modifiers\": [{\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": "
        "0.9}}]}]}],"
        "\"observations\": [{\"name\": \"c\", \"data\": [41, %d, 33, 22]}], \"version\": \"1.0.0\","
        "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", \"parameters\": []}}]}",
        sample, observed);
    assert_true(length > 0 && (size_t)length < room);
}

static paritas_status make_model(paritas_context *context, int signal, int observed, paritas_model **model)
{
    char text[2048];
    paritas_workspace *workspace = NULL;
    write_workspace(sizeof text, text, signal, observed);
    paritas_status status = paritas_workspace_parse(context, text, strlen(text), "test", &workspace);
    if (status == PARITAS_OK) status = paritas_model_create(context, workspace, NULL, model);
    paritas_workspace_free(workspace);
    return status;
}

struct answer {
    paritas_look_elsewhere_result result;
    paritas_look_elsewhere_point points[POINTS];
};

struct models {
    paritas_model *background, *points[POINTS];
};

static struct models make_models(paritas_context *context)
{
    struct models models;
    assert_int_equal(make_model(context, 0, 49, &models.background), PARITAS_OK);
    for (int k = 0; k < POINTS; k++)
        assert_int_equal(make_model(context, k + 1, 49, &models.points[k]), PARITAS_OK);
    return models;
}

static void free_models(struct models *models)
{
    paritas_model_free(models->background);
    for (int k = 0; k < POINTS; k++) paritas_model_free(models->points[k]);
}

static paritas_status look(paritas_context *context, const struct models *models, struct answer *answer)
{
    paritas_look_elsewhere_request request = PARITAS_LOOK_ELSEWHERE_REQUEST_DEFAULT;
    paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
    memset(answer, 0, sizeof *answer);
    answer->result.size = sizeof answer->result;
    for (int k = 0; k < POINTS; k++) answer->points[k].size = sizeof answer->points[k];
    options.n = TOYS;
    options.seed = 11;
    request.n_points = POINTS;
    request.models = (const paritas_model *const *)models->points;
    request.background = models->background;
    request.upcrossed = 0.2;
    request.points = answer->points;
    return paritas_look_elsewhere(context, &request, &options, &answer->result);
}

/* False: this build or processor lacks the instruction set. */
static bool look_with(const paritas_options *options, struct answer *answer)
{
    paritas_context *context;
    if (paritas_open(options, &context) != PARITAS_OK) {
        assert_non_null(options->isa);
        paritas_close(context); /* it has the message */
        return false;
    }
    struct models models = make_models(context);
    if (look(context, &models, answer) != PARITAS_OK) fail_msg("%s", paritas_error_message(context));
    free_models(&models);
    paritas_close(context);
    return true;
}

TEST(kernels_and_threads_make_no_difference)
{
    static const struct {
        const char *isa;
        unsigned threads;
    } others[] = {{"portable", 1}, {"scalar", 3}, {NULL, 2}};
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    options.threads = 1;
    struct answer wanted, found;
    assert_true(look_with(&options, &wanted));
    assert_int_equal(wanted.result.n, TOYS);
    assert_int_equal(wanted.result.point, 1);
    assert_true(wanted.result.p_global >= wanted.result.p_local_toys);
    for (size_t k = 0; k < COUNT(others); k++) {
        options.isa = others[k].isa;
        options.threads = others[k].threads;
        if (look_with(&options, &found)) assert_memory_equal(&found, &wanted, sizeof found);
    }
}

static void refuse_every_request(bool for_good)
{
    struct ledger ledger = {.for_good = for_good};
    const paritas_allocator allocator = ledger_allocator(&ledger);
    paritas_options options = PARITAS_OPTIONS_DEFAULT;
    paritas_context *context;
    struct answer wanted, found;
    options.allocator = &allocator;
    options.threads = 1;
    assert_int_equal(paritas_open(&options, &context), PARITAS_OK);
    struct models models = make_models(context);
    assert_int_equal(look(context, &models, &wanted), PARITAS_OK);
    bool struck = true;
    for (long n = 1; struck; n++) {
        const long live = ledger.live;
        ledger.fail_at = ledger.requests + n;
        const paritas_status status = look(context, &models, &found);
        struck = ledger.requests >= ledger.fail_at;
        ledger.fail_at = 0;
        assert_int_equal(status, struck ? PARITAS_OUT_OF_MEMORY : PARITAS_OK);
        if (struck) assert_int_equal(ledger.live, live);
    }
    assert_memory_equal(&found, &wanted, sizeof found);
    free_models(&models);
    paritas_close(context);
    assert_int_equal(ledger.live, 0);
}

TEST(every_request_may_fail)
{
    refuse_every_request(true);
    refuse_every_request(false);
}

TEST(wrong_requests_are_named)
{
    paritas_context *context;
    struct answer answer;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    struct models models = make_models(context), wrong = models;
    wrong.points[1] = NULL;
    assert_int_equal(look(context, &wrong, &answer), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "models[1]: must not be NULL"));
    assert_int_equal(make_model(context, 2, 50, &wrong.points[1]), PARITAS_OK);
    assert_int_equal(look(context, &wrong, &answer), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "models[1]: c has other data"));
    paritas_model_free(wrong.points[1]);
    wrong.points[1] = models.background;
    assert_int_equal(look(context, &wrong, &answer), PARITAS_INVALID_ARGUMENT);
    assert_non_null(strstr(paritas_error_message(context), "no parameter of interest"));
    wrong = models;
    free_models(&models);
    paritas_close(context);
}

TEST(without_a_background_the_first_point_stands_for_it)
{
    paritas_context *context;
    struct answer found, wanted;
    assert_int_equal(paritas_open(NULL, &context), PARITAS_OK);
    struct models models = make_models(context), bare = models;
    bare.background = NULL;
    assert_int_equal(look(context, &bare, &found), PARITAS_OK);
    bare.background = models.points[0];
    assert_int_equal(look(context, &bare, &wanted), PARITAS_OK);
    assert_memory_equal(&found, &wanted, sizeof found);
    assert_int_equal(found.result.n, TOYS);
    free_models(&models);
    paritas_close(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_and_threads_make_no_difference),
        cmocka_unit_test(every_request_may_fail),
        cmocka_unit_test(wrong_requests_are_named),
        cmocka_unit_test(without_a_background_the_first_point_stands_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
