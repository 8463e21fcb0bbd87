/* test_base_arguments.c: what is NULL within structs and arrays; getters without an answer.
 * test_null_arguments.py withholds every argument of every function. */
#include "common.h"
#include "paritas.h"
#include "paritas_gradient.h"

static paritas_context *context;

static int open_all(void **state)
{
    (void)state;
    return paritas_open(NULL, &context) != PARITAS_OK;
}

static int close_all(void **state)
{
    (void)state;
    paritas_close(context);
    return 0;
}

static const char workspace_text[] =
    "{\"version\": \"1.0.0\", \"channels\": [{\"name\": \"c\", \"samples\": [{\"name\": \"s\", \"data\": "
    "[5.0], "
    "\"modifiers\": [{\"name\": \"mu\", \"type\": \"normfactor\", \"data\": null}]}]}], \"observations\": "
    "[{\"name\": \"c\", \"data\": [6]}], \"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"mu\", "
    "\"parameters\": []}}]}";

TEST(members_that_are_null_are_refused_by_their_names)
{
    paritas_workspace *workspace;
    paritas_model *model;
    paritas_hypotest_toys_result result = PARITAS_INIT(paritas_hypotest_toys_result);
    ASSERT_OK(context,
              paritas_workspace_parse(context, workspace_text, strlen(workspace_text), NULL, &workspace));
    paritas_model_options options = PARITAS_MODEL_OPTIONS_DEFAULT;
    options.n_templates = 1;
    assert_int_equal(paritas_model_create(context, workspace, &options, &model), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "options: templates must not be NULL");
    ASSERT_OK(context, paritas_model_create(context, workspace, NULL, &model));
    paritas_toys_options toys = PARITAS_TOYS_OPTIONS_DEFAULT;
    toys.n_entries = 1;
    assert_int_equal(
        paritas_hypotest_toys(context, model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &toys, &result),
        PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "options: entries must not be NULL");
    const paritas_key_entry entries[] = {{NULL, "text"}, {"name", NULL}};
    static const char *const words[] = {"options: entries[0]: name must not be NULL",
                                        "options: entries[0]: value must not be NULL"};
    for (size_t k = 0; k < COUNT(entries); k++) {
        toys.entries = &entries[k];
        assert_int_equal(
            paritas_hypotest_toys(context, model, NULL, PARITAS_STATISTIC_QTILDE, 1.0, &toys, &result),
            PARITAS_INVALID_ARGUMENT);
        assert_string_equal(paritas_error_message(context), words[k]);
    }
    const char *paths[] = {NULL};
    assert_int_equal(paritas_store_merge(context, 1, paths, "out"), PARITAS_INVALID_ARGUMENT);
    assert_string_equal(paritas_error_message(context), "paths[0]: must not be NULL");
    paritas_model_free(model);
    paritas_workspace_free(workspace);
}

TEST(names_out_of_range_and_answers_of_nothing_are_null_or_0)
{
    paritas_workspace *workspace;
    paritas_model *model;
    ASSERT_OK(context,
              paritas_workspace_parse(context, workspace_text, strlen(workspace_text), NULL, &workspace));
    ASSERT_OK(context, paritas_model_create(context, workspace, NULL, &model));
    assert_string_equal(paritas_model_sample_name(model, 0, 0), "s");
    paritas_model *const models[] = {model, NULL};
    for (size_t k = 0; k < COUNT(models); k++) {
        const size_t out = k == 0; /* without a model there is no 0 either */
        assert_null(paritas_model_parameter_name(models[k], out));
        assert_null(paritas_model_channel_name(models[k], out));
        assert_int_equal(paritas_model_channel_bins(models[k], out), 0);
        assert_int_equal(paritas_model_channel_masked(models[k], out), 0);
        assert_int_equal(paritas_model_sample_count(models[k], out), 0);
        assert_null(paritas_model_sample_name(models[k], out, 0));
        assert_null(paritas_model_sample_name(models[k], 0, out));
        assert_null(paritas_model_sample_name(models[k], SIZE_MAX, SIZE_MAX));
    }
    assert_int_equal(paritas_model_parameter_count(NULL), 0);
    assert_int_equal(paritas_model_main_count(NULL), 0);
    assert_int_equal(paritas_model_aux_count(NULL), 0);
    assert_int_equal(paritas_model_template_count(NULL), 0);
    assert_int_equal(paritas_model_channel_count(NULL), 0);
    assert_int_equal(paritas_model_poi_index(NULL), -1);
    assert_null(paritas_model_suggested_init(NULL));
    assert_null(paritas_model_data(NULL));
    assert_null(paritas_record_find(NULL));
    assert_null(paritas_enumeration_find(NULL));
    assert_null(paritas_enumeration_word(NULL, 0));
    assert_int_equal(paritas_enumeration_value(NULL, "word", &(int){0}), 0);
    assert_int_equal(paritas_enumeration_value(paritas_enumeration_find("paritas_status"), NULL, &(int){0}),
                     0);
    assert_int_equal(strncmp(paritas_error_message(NULL), "context: must not be NULL", 25), 0);
    assert_string_equal(paritas_device_name(NULL), "");
    assert_string_equal(paritas_isa_name(NULL), "");
    assert_string_equal(paritas_precision_name(NULL), "f64");
    assert_string_equal(paritas_polish_name(NULL), "none");
    assert_null(paritas_work_done(NULL));
    paritas_close(NULL);
    paritas_model_free(NULL);
    paritas_shared_fits_free(NULL);
    paritas_workspace_free(NULL);
    paritas_text_free(NULL, NULL);
    paritas_model_free(model);
    paritas_workspace_free(workspace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_that_are_null_are_refused_by_their_names),
        cmocka_unit_test(names_out_of_range_and_answers_of_nothing_are_null_or_0),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
