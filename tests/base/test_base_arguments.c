/* test_base_arguments.c: every public function refuses a pointer that is NULL, by its name. */
#include "common.h"
#include "paritas.h"
#include "paritas_datacard.h"
#include "paritas_days.h"
#include "paritas_er.h"
#include "paritas_gradient.h"
#include "paritas_kappa.h"
#include "paritas_losscone.h"
#include "paritas_sample.h"

#include <dirent.h>
#include <stdbool.h>

/* P(name): an argument that may not be NULL. The test withholds them one after the other; the others point
 * to zeros, and are not read before the check. */
static _Alignas(64) char room[1 << 17];
static size_t withheld, given_so_far;
static const char *withheld_name;

static void *give(const char *name, void *pointer)
{
    if (given_so_far++ != withheld) return pointer;
    withheld_name = name;
    return NULL;
}
#define P(name) give(#name, room)
/* The same, for a struct that is read before what it holds. */
#define OF(name, pointer) give(#name, pointer)

static paritas_context *context;
#define C context

static paritas_spectra spectra = PARITAS_INIT(paritas_spectra);
static paritas_sweeps sweeps = PARITAS_INIT(paritas_sweeps);
static paritas_hypotest_toys_result toys_result = PARITAS_INIT(paritas_hypotest_toys_result);
static paritas_kappa_result kappa = PARITAS_INIT(paritas_kappa_result);
static paritas_potential potential = PARITAS_INIT(paritas_potential);
static paritas_posterior posterior = PARITAS_INIT(paritas_posterior);
static paritas_chain chain = PARITAS_INIT(paritas_chain);
static paritas_losscone_result cone = PARITAS_INIT(paritas_losscone_result);

/* A row a function: optional arguments are NULL, counts are 1. */
#define FUNCTIONS(F)                                                                                       \
    F(paritas_open, (NULL, P(context)))                                                                    \
    F(paritas_list_devices, (C, 0, NULL, P(count)))                                                        \
    F(paritas_options_check, (C, P(name), P(options)))                                                     \
    F(paritas_workspace_read, (C, P(path), P(workspace)))                                                  \
    F(paritas_workspace_parse, (C, P(text), 1, NULL, P(workspace)))                                        \
    F(paritas_workspace_write, (C, P(workspace), 0, P(text), NULL))                                        \
    F(paritas_workspace_digest, (C, P(workspace), P(digest)))                                              \
    F(paritas_workspace_prepare, (C, P(workspace)))                                                        \
    F(paritas_workspace_patch, (C, P(workspace), P(patch), P(patched)))                                    \
    F(paritas_patchset_verify, (C, P(workspace), P(patchset)))                                             \
    F(paritas_patchset_count, (C, P(patchset), P(count)))                                                  \
    F(paritas_patchset_name, (C, P(patchset), 0, P(name)))                                                 \
    F(paritas_patchset_names, (C, P(patchset), 1, P(names)))                                               \
    F(paritas_patchset_order, (C, P(patchset), 1, P(order), P(ordered)))                                   \
    F(paritas_patchset_apply, (C, P(workspace), P(patchset), P(name), P(patched)))                         \
    F(paritas_workspace_sort, (C, P(workspace), P(out)))                                                   \
    F(paritas_workspace_mask, (C, P(workspace), NULL, P(out)))                                             \
    F(paritas_workspace_prune, (C, P(workspace), NULL, P(out)))                                            \
    F(paritas_workspace_rename, (C, P(workspace), NULL, P(out)))                                           \
    F(paritas_workspace_combine, (C, P(left), P(right), NULL, 0, P(out)))                                  \
    F(paritas_workspace_split, (C, P(workspace), NULL, P(out)))                                            \
    F(paritas_simplify, (C, P(workspace), NULL, NULL, P(moments)))                                         \
    F(paritas_simplified_workspace, (C, P(moments), 0, P(workspace)))                                      \
    F(paritas_unfold, (C, P(workspace), NULL, NULL, P(answer)))                                            \
    F(paritas_penalise, (C, P(workspace), NULL, NULL, 0.0, P(penalised)))                                  \
    F(paritas_workspace_inspect, (C, P(workspace), P(out)))                                                \
    F(paritas_datacard_read, (C, P(path), NULL, P(workspace)))                                             \
    F(paritas_datacard_combine, (C, 1, NULL, P(paths), NULL, P(text)))                                     \
    F(paritas_datacard_parse, (C, P(text), 1, NULL, NULL, P(workspace)))                                   \
    F(paritas_document_read, (C, P(path), NULL, P(workspace)))                                             \
    F(paritas_datacard_names, (C, P(workspace), P(names)))                                                 \
    F(paritas_datacard_groups, (C, P(path), P(groups)))                                                    \
    F(paritas_model_create, (C, P(workspace), NULL, P(model)))                                             \
    F(paritas_model_define, (C, P(description), P(model)))                                                 \
    F(paritas_model_parameter_index, (C, P(model), P(name), P(index)))                                     \
    F(paritas_model_digest, (C, P(model), P(digest)))                                                      \
    F(paritas_model_fill_row, (C, P(model), NULL, NULL, P(row)))                                           \
    F(paritas_evaluate, (C, P(model), 1, P(points), 1, NULL, P(answers)))                                  \
    F(paritas_expected_data, (C, P(model), 1, P(points), P(expected)))                                     \
    F(paritas_expected_jacobian, (C, P(model), P(point), P(jacobian)))                                     \
    F(paritas_expected_by_sample, (C, P(model), P(point), P(expected)))                                    \
    F(paritas_expected_data_of, (C, P(model), 1, P(points), NULL, P(expected)))                            \
    F(paritas_expected_jacobian_of, (C, P(model), P(point), NULL, P(jacobian)))                            \
    F(paritas_expected_by_sample_of, (C, P(model), P(point), NULL, P(expected)))                           \
    F(paritas_data_derivatives, (C, P(model), 1, P(points), NULL, NULL, NULL, NULL))                       \
    F(paritas_expected_pullback, (C, P(model), 1, P(points), NULL, P(weights), NULL, NULL))                \
    F(paritas_minos, (C, P(model), NULL, P(request), P(offsets)))                                          \
    F(paritas_fit_refine, (C, P(model), NULL, P(point)))                                                   \
    F(paritas_find_outside, (C, P(model), P(point), NULL, 0, NULL, P(n)))                                  \
    F(paritas_find_edge, (C, P(model), P(point), NULL, 0, NULL, P(n)))                                     \
    F(paritas_shared_fits_create, (C, P(model), NULL, P(shared)))                                          \
    F(paritas_differentiate, (C, P(model), NULL, NULL, 1, NULL, NULL, P(gradient)))                        \
    F(paritas_differentiate_along, (C, P(model), NULL, NULL, P(rows), P(gradient), P(along)))              \
    F(paritas_hypotest, (C, P(model), NULL, PARITAS_STATISTIC_QTILDE, 1, P(mu), P(results)))               \
    F(paritas_limit, (C, P(model), NULL, NULL, P(result)))                                                 \
    F(paritas_significance, (C, P(model), NULL, P(result)))                                                \
    F(paritas_ranking, (C, P(model), NULL, P(entries), P(n)))                                              \
    F(paritas_constraint_centres, (C, P(model), NULL, P(centres)))                                         \
    F(paritas_breakdown, (C, P(model), NULL, 1, P(members), P(result), P(groups)))                         \
    F(paritas_global_impacts, (C, P(model), NULL, 1, P(members), P(result), P(entries), P(groups)))        \
    F(paritas_match_parameters, (C, P(model), P(pattern), P(members)))                                     \
    F(paritas_asimov_data, (C, P(model), NULL, 1.0, P(result), P(data)))                                   \
    F(paritas_compatibility, (C, P(model), NULL, P(separate), P(result), NULL))                            \
    F(paritas_gof, (C, P(model), NULL, P(result)))                                                         \
    F(paritas_predictive_data, (C, P(model), 1, P(points), 0, P(data)))                                    \
    F(paritas_summarise_draws, (C, 1, 4, 1, P(values), 0.9, P(posteriors)))                                \
    F(paritas_judge_draws, (C, 1, OF(posteriors, &posterior), 1, OF(chains, &chain), P(verdict)))          \
    F(paritas_hypotest_toys, (C, P(model), NULL, PARITAS_STATISTIC_QTILDE, 1.0, NULL, P(result)))          \
    F(paritas_significance_toys, (C, P(model), NULL, NULL, P(result), NULL))                               \
    F(paritas_limit_toys, (C, P(model), NULL, NULL, NULL, P(result)))                                      \
    F(paritas_interval_toys, (C, P(model), NULL, NULL, NULL, P(result)))                                   \
    F(paritas_toys, (C, P(model), NULL, NULL, NULL, P(result)))                                            \
    F(paritas_generate, (C, P(model), NULL, NULL, NULL, P(data)))                                          \
    F(paritas_toy_data_write, (C, P(model), P(data), P(text), P(length)))                                  \
    F(paritas_toy_data_pack, (C, P(model), P(data), P(bytes), P(length)))                                  \
    F(paritas_toy_data_read, (C, P(model), P(path), P(data)))                                              \
    F(paritas_compatibility_toys, (C, P(model), NULL, P(separate), NULL, P(result), NULL, NULL))           \
    F(paritas_gof_toys, (C, P(model), NULL, NULL, P(result), NULL))                                        \
    F(paritas_store_run_read, (C, P(path), P(run)))                                                        \
    F(paritas_store_merge, (C, 1, P(paths), P(output)))                                                    \
    F(paritas_store_check_whole, (C, 1, P(paths)))                                                         \
    F(paritas_store_hypotest, (C, P(path), OF(result, &toys_result)))                                      \
    F(paritas_er_read, (C, P(path), NULL, P(day)))                                                         \
    F(paritas_er_parse, (C, P(text), 1, P(label), NULL, P(day)))                                           \
    F(paritas_er_day_create, (C, 1, P(day)))                                                               \
    F(paritas_er_write, (C, P(path), P(day), 0))                                                           \
    F(paritas_er_find, (C, P(path), 0, 0, 0, P(files)))                                                    \
    F(paritas_er_find_mags, (C, P(path), P(files)))                                                        \
    F(paritas_er_theta, (C, NULL, P(theta)))                                                               \
    F(paritas_er_attitude_read, (C, P(path), P(attitude)))                                                 \
    F(paritas_er_mag_read, (C, P(path), P(mag)))                                                           \
    F(paritas_er_mag_apply, (C, P(mag), P(day), NULL, NULL))                                               \
    F(paritas_er_geometry_read, (C, P(path), P(geometry)))                                                 \
    F(paritas_er_geometry_apply, (C, P(geometry), P(day), NULL))                                           \
    F(paritas_er_spice_open, (C, NULL, P(folder), P(spice)))                                               \
    F(paritas_er_spice_apply, (C, P(spice), P(attitude), P(day), NULL))                                    \
    F(paritas_er_mask_sunlight, (C, P(day), P(theta), 0.0))                                                \
    F(paritas_er_mask_polarity, (C, P(day)))                                                               \
    F(paritas_er_mask_counts, (C, P(day), P(theta), 0.0))                                                  \
    F(paritas_er_find_background, (C, P(day), P(theta), P(rate)))                                          \
    F(paritas_er_subtract_background, (C, P(day), P(rate)))                                                \
    F(paritas_days_find, (C, 1, P(paths), 0, 0, 0, P(days)))                                               \
    F(paritas_day_read, (C, P(files), NULL, P(shares), P(day)))                                            \
    F(paritas_day_join, (C, 1, P(parts), P(shares), P(day)))                                               \
    F(paritas_day_prepare, (C, NULL, NULL, P(day), P(sweeps)))                                             \
    F(paritas_day_plasma, (C, NULL, P(day), P(sweeps)))                                                    \
    F(paritas_day_count, (C, NULL, P(day), P(sweeps)))                                                     \
    F(paritas_day_find_cause, (C, NULL, 0, 0, P(day), P(sweeps), P(good), P(cause)))                       \
    F(paritas_day_synthesize, (C, NULL, NULL, 1, P(truths), P(day)))                                       \
    F(paritas_kappa_flux, (C, 1, P(plasma), 1, P(energy), P(flux)))                                        \
    F(paritas_kappa_fit, (C, OF(spectra, &spectra), NULL, P(results)))                                     \
    F(paritas_kappa_misfit, (C, OF(spectra, &spectra), NULL, 1, P(points), P(misfit)))                     \
    F(paritas_kappa_response, (C, 0.5, 1, P(energy), P(matrix)))                                           \
    F(paritas_shade_currents, (C, 1, P(plasma), NULL, 1, P(potentials), P(currents)))                      \
    F(paritas_spacecraft_potential, (C, 1, P(plasma), NULL, P(sunlit), NULL, P(results)))                  \
    F(paritas_spacecraft_potential_of_spectra,                                                             \
      (C, OF(spectra, &spectra), P(sunlit), NULL, NULL, OF(fits, &kappa), OF(results, &potential)))        \
    F(paritas_losscone_fit, (C, OF(sweeps, &sweeps), NULL, P(results)))                                    \
    F(paritas_losscone_answer, (C, OF(sweeps, &sweeps), NULL, NULL, P(results), NULL))                     \
    F(paritas_losscone_confidence, (C, OF(sweeps, &sweeps), NULL, OF(results, &cone), NULL, 0.0, P(sets))) \
    F(paritas_losscone_bootstrap,                                                                          \
      (C, OF(sweeps, &sweeps), NULL, OF(results, &cone), 10, 0.68, P(thresholds)))                         \
    F(paritas_losscone_profile, (C, OF(sweeps, &sweeps), NULL, 1, P(potentials), P(misfit), NULL, NULL))   \
    F(paritas_losscone_misfit, (C, OF(sweeps, &sweeps), NULL, 1, P(points), P(misfit), NULL))              \
    F(paritas_losscone_model, (C, OF(sweeps, &sweeps), NULL, P(points), P(model), NULL))                   \
    F(paritas_losscone_cosines, (C, 1, NULL, P(theta), P(field), NULL, P(azimuth), P(cosine)))             \
    F(paritas_losscone_normalise,                                                                          \
      (C, 1, NULL, PARITAS_NORMALISATION_RATIO, P(cosine), P(flux), P(normalised)))                        \
    F(paritas_losscone_channels, (C, OF(sweeps, &sweeps), NULL, P(flux), P(channel)))                      \
    F(paritas_losscone_mask,                                                                               \
      (C, 1, NULL, PARITAS_LOSSCONE_METHOD_HALEKAS, P(cosine), P(flux), P(normalised)))                    \
    F(paritas_losscone_beam, (C, OF(sweeps, &sweeps), P(beams)))

/* These say which member of a request is missing; other tests ask them. */
static const char *const elsewhere[] = {"paritas_fit",     "paritas_scan",           "paritas_contour",
                                        "paritas_predict", "paritas_look_elsewhere", "paritas_kappa_spectrum",
                                        "paritas_sample"};

#define CALL(name, arguments)               \
    static paritas_status call_##name(void) \
    {                                       \
        return name arguments;              \
    }
FUNCTIONS(CALL)
static const struct function {
    const char *name, *arguments;
    paritas_status (*call)(void);
} functions[] = {
#define ROW(name, arguments) {#name, #arguments, call_##name},
    FUNCTIONS(ROW)
#undef ROW
};

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word)) n++;
    return n;
}

static int open_all(void **state)
{
    static double numbers[15 * 88];
    (void)state;
    for (size_t k = 0; k < COUNT(numbers); k++) numbers[k] = 0.5;
    spectra.n = sweeps.n = 1;
    spectra.energy = spectra.flux = spectra.sensitivity = numbers;
    sweeps.energy = sweeps.potential = sweeps.cosine = sweeps.flux = numbers;
    return paritas_open(NULL, &context) != PARITAS_OK;
}

static int close_all(void **state)
{
    (void)state;
    paritas_close(context);
    return 0;
}

TEST(every_pointer_of_every_function_is_refused_by_its_name)
{
    size_t failures = 0;
    for (size_t f = 0; f < COUNT(functions); f++) {
        const struct function *function = &functions[f];
        const size_t n = count_of(function->arguments, "P(") + count_of(function->arguments, "OF(");
        assert_in_range(n, 1, 6);
        for (withheld = 0; withheld < n; withheld++) {
            memset(room, 0, sizeof room);
            given_so_far = 0;
            const paritas_status status = function->call();
            const char *message = paritas_error_message(context);
            if (status != PARITAS_INVALID_ARGUMENT)
                print_error("%s without %s: status %d, %s\n", function->name, withheld_name, (int)status,
                            message);
            failures += status != PARITAS_INVALID_ARGUMENT;
            if (strcmp(function->name, "paritas_open") == 0) continue; /* there is no context to say it */
            const size_t length = strlen(withheld_name);
            const bool named = strncmp(message, withheld_name, length) == 0 && message[length] == ':';
            if (!named) print_error("%s without %s: %s\n", function->name, withheld_name, message);
            failures += !named;
        }
    }
    assert_int_equal(failures, 0);
}

TEST(without_a_context_every_function_is_refused)
{
    paritas_context *const kept = context;
    context = NULL;
    size_t failures = 0;
    withheld = 1000;
    for (size_t f = 1; f < COUNT(functions); f++) {
        memset(room, 0, sizeof room);
        if (functions[f].call() == PARITAS_INVALID_ARGUMENT) continue;
        print_error("%s without a context\n", functions[f].name);
        failures++;
    }
    context = kept;
    assert_int_equal(failures, 0);
}

static bool is_tested(const char *name, size_t length)
{
    for (size_t f = 0; f < COUNT(functions); f++)
        if (strlen(functions[f].name) == length && strncmp(functions[f].name, name, length) == 0) return true;
    for (size_t k = 0; k < COUNT(elsewhere); k++)
        if (strlen(elsewhere[k]) == length && strncmp(elsewhere[k], name, length) == 0) return true;
    return false;
}

TEST(the_table_has_every_function_of_the_headers)
{
    static const char lead[] = "\nPARITAS_API paritas_status ";
    static char text[1 << 17];
    DIR *folder = opendir(PARITAS_SOURCE_DIR "/include");
    size_t found = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder));) {
        char path[600];
        snprintf(path, sizeof path, "%s/include/%s", PARITAS_SOURCE_DIR, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (!file) continue;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        for (const char *at = text; (at = strstr(at, lead)); found++) {
            at += sizeof lead - 1;
            const size_t length = strcspn(at, "(");
            if (!is_tested(at, length)) fail_msg("%.*s is not in the table", (int)length, at);
        }
    }
    closedir(folder);
    assert_int_equal(found, COUNT(functions) + COUNT(elsewhere));
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
    assert_string_equal(paritas_error_message(NULL), "");
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
        cmocka_unit_test(every_pointer_of_every_function_is_refused_by_its_name),
        cmocka_unit_test(without_a_context_every_function_is_refused),
        cmocka_unit_test(the_table_has_every_function_of_the_headers),
        cmocka_unit_test(members_that_are_null_are_refused_by_their_names),
        cmocka_unit_test(names_out_of_range_and_answers_of_nothing_are_null_or_0),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
