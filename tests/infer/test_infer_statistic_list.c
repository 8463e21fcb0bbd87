/* Each line of PARITAS_STATISTIC_LIST is a test statistic everywhere: in tests, limits, toys and gradients.
 * */
#include "infer_testing.h"

#include "paritas_gradient.h"

#include "statistics/test_statistic.h"
#include <dirent.h>

static const double mu = 1.5;

static const paritas_enumeration *statistics(void)
{
    const paritas_enumeration *found = paritas_enumeration_find("paritas_test_statistic");
    assert_non_null(found);
    return found;
}

TEST(every_statistic_of_the_list_is_tested_by_formula_and_by_toys)
{
    struct fixture f = counting(12.0, 5.0, 9.0, -1.0, 10.0);
    for (size_t i = 0; i < statistics()->n; i++) {
        const paritas_test_statistic statistic = (paritas_test_statistic)statistics()->words[i].value;
        paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
        paritas_hypotest_toys_result toys = PARITAS_INIT(paritas_hypotest_toys_result);
        paritas_toys_options options = PARITAS_TOYS_OPTIONS_DEFAULT;
        options.n = 200;
        assert_int_equal(paritas_hypotest(f.context, f.model, NULL, statistic, 1, &mu, &r), PARITAS_OK);
        assert_int_equal(paritas_hypotest_toys(f.context, f.model, NULL, statistic, mu, &options, &toys),
                         PARITAS_OK);
        const bool discovery = statistic_formula(statistic)->discovery;
        assert_true(r.mu == statistic_tested(statistic, mu) && toys.mu == r.mu);
        assert_true(r.mu == (discovery ? 0.0 : mu));
        assert_true(r.q == statistic_q(statistic, r.mu, r.mu_hat, r.twice_nll_fixed, r.twice_nll_free));
        assert_true(r.cls_obs == statistic_answer(statistic, r.clsb, r.clb));
        assert_true(discovery ? r.p0 == r.cls_obs : isnan(r.p0));
        assert_true(discovery ? toys.p0 == toys.cls_obs : isnan(toys.p0));
        ASSERT_CLOSE(toys.q, r.q, 1e-6);
    }
    free_fixture(&f);
}

TEST(every_statistic_of_the_list_has_derivatives)
{
    struct fixture f = counting(12.0, 5.0, 9.0, -1.0, 10.0);
    for (size_t i = 0; i < statistics()->n; i++) {
        const paritas_test_statistic statistic = (paritas_test_statistic)statistics()->words[i].value;
        paritas_gradient_options options = PARITAS_GRADIENT_OPTIONS_DEFAULT;
        options.statistic = statistic;
        double q, row[1], values[6], slopes[6];
        paritas_gradient gradient = PARITAS_GRADIENT_DEFAULT;
        gradient.values = &q;
        gradient.data = row;
        assert_int_equal(paritas_differentiate(f.context, f.model, &options, NULL, 1, &mu, NULL, &gradient),
                         PARITAS_OK);
        paritas_hypotest_result r = PARITAS_INIT(paritas_hypotest_result);
        assert_int_equal(paritas_hypotest(f.context, f.model, NULL, statistic, 1, &mu, &r), PARITAS_OK);
        ASSERT_CLOSE(q, r.q, 1e-6);
        assert_true(isfinite(row[0]));
        options.quantity = PARITAS_QUANTITY_CLS;
        gradient.values = values;
        gradient.data = slopes;
        assert_int_equal(paritas_differentiate(f.context, f.model, &options, NULL, 1, &mu, NULL, &gradient),
                         PARITAS_OK);
        ASSERT_CLOSE(values[0], r.cls_obs, 1e-6);
    }
    free_fixture(&f);
}

TEST(limits_take_the_statistics_that_are_no_discovery_and_name_them)
{
    struct fixture f = counting(12.0, 5.0, 9.0, 0.0, 10.0);
    for (size_t i = 0; i < statistics()->n; i++) {
        const paritas_word *word = &statistics()->words[i];
        paritas_limit_request request = PARITAS_LIMIT_REQUEST_DEFAULT;
        paritas_limit_result result = PARITAS_INIT(paritas_limit_result);
        request.statistic = (paritas_test_statistic)word->value;
        const bool discovery = statistic_formula(request.statistic)->discovery;
        assert_int_equal(paritas_limit(f.context, f.model, NULL, &request, &result),
                         discovery ? PARITAS_INVALID_ARGUMENT : PARITAS_OK);
        request.statistic = PARITAS_STATISTIC_Q0;
        paritas_limit(f.context, f.model, NULL, &request, &result);
        assert_true(discovery || strstr(paritas_error_message(f.context), word->word) != NULL);
    }
    free_fixture(&f);
}

TEST(a_number_behind_the_list_is_no_statistic)
{
    struct fixture f = counting(12.0, 5.0, 9.0, 0.0, 10.0);
    const paritas_test_statistic none = (paritas_test_statistic)statistics()->n;
    assert_int_equal(statistic_check(f.context, none), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(statistic_check_limit(f.context, none), PARITAS_INVALID_ARGUMENT);
    free_fixture(&f);
}

static bool file_has(const char *path, const char *text)
{
    static char content[200000];
    FILE *file = fopen(path, "rb");
    if (file == NULL) fail_msg("%s cannot be read", path);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    return strstr(content, text) != NULL;
}

/* Significances are of q0 by definition; nothing else may ask which statistic it is. */
TEST(only_the_formulas_know_a_statistic_by_its_name)
{
    static const char *const may[] = {"test_statistic.c", "hypotest.c", "toys_significance.c",
                                      "look_elsewhere.c"};
    static const char *const rooms[] = {"minima", "statistics", "toys", "gradient"};
    for (size_t room = 0; room < sizeof rooms / sizeof *rooms; room++) {
        char path[1024];
        snprintf(path, sizeof path, PARITAS_SOURCE_DIR "/src/%s", rooms[room]);
        DIR *folder = opendir(path);
        assert_non_null(folder);
        for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
            bool known = entry->d_name[0] == '.';
            for (size_t i = 0; i < sizeof may / sizeof *may; i++)
                known = known || strcmp(entry->d_name, may[i]) == 0;
            snprintf(path, sizeof path, PARITAS_SOURCE_DIR "/src/%s/%s", rooms[room], entry->d_name);
            if (!known && file_has(path, "PARITAS_STATISTIC_Q")) fail_msg("%s asks for a statistic", path);
        }
        closedir(folder);
    }
}

TEST(the_page_says_where_a_statistic_is_added)
{
    const char *const page = PARITAS_SOURCE_DIR "/docs/development.md";
    assert_true(file_has(page, "PARITAS_STATISTIC_LIST"));
    assert_true(file_has(page, "src/statistics/test_statistic.c"));
    assert_true(file_has(PARITAS_SOURCE_DIR "/include/paritas_statistics.h", "PARITAS_STATISTIC_LIST"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_statistic_of_the_list_is_tested_by_formula_and_by_toys),
        cmocka_unit_test(every_statistic_of_the_list_has_derivatives),
        cmocka_unit_test(limits_take_the_statistics_that_are_no_discovery_and_name_them),
        cmocka_unit_test(a_number_behind_the_list_is_no_statistic),
        cmocka_unit_test(only_the_formulas_know_a_statistic_by_its_name),
        cmocka_unit_test(the_page_says_where_a_statistic_is_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
