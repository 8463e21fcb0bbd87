/* Unfolding as a caller in C meets it: requests that are refused, and memory that runs out. Numbers are
 * compared in tests/python/test_unfolding.py. */
#include "infer_testing.h"
#include "paritas_unfold.h"
#include "refusing.h"

static const char *const three_bins =
    "{\"channels\":[{\"name\":\"c\",\"samples\":["
    "{\"name\":\"a\",\"data\":[50.0,8.0,1.0],\"modifiers\":[{\"name\":\"mu_1\",\"type\":\"normfactor\","
    "\"data\":null}]},"
    "{\"name\":\"b\",\"data\":[9.0,40.0,9.0],\"modifiers\":[{\"name\":\"mu_2\",\"type\":\"normfactor\","
    "\"data\":null}]},"
    "{\"name\":\"d\",\"data\":[1.0,7.0,30.0],\"modifiers\":[{\"name\":\"mu_3\",\"type\":\"normfactor\","
    "\"data\":null}]}]}],"
    "\"observations\":[{\"name\":\"c\",\"data\":[63.0,52.0,44.0]}],"
    "\"measurements\":[{\"name\":\"m\",\"config\":{\"poi\":\"mu_1\",\"parameters\":[]}}],"
    "\"version\":\"1.0.0\"}";
static const char *const all[] = {"mu_*"};

static paritas_unfold_options usual(void)
{
    paritas_unfold_options options = PARITAS_UNFOLD_OPTIONS_DEFAULT;
    options.parameters = all;
    options.n_parameters = 1;
    options.scan = 3;
    return options;
}

/* ---- wrong requests ---- */

static void refuse(const struct fixture *f, const paritas_unfold_options *options, const char *text)
{
    paritas_workspace *answer = NULL;
    assert_int_equal(paritas_unfold(f->context, f->workspace, NULL, options, &answer),
                     PARITAS_INVALID_ARGUMENT);
    assert_null(answer);
    if (!strstr(paritas_error_message(f->context), text))
        fail_msg("%s, and not: %s", paritas_error_message(f->context), text);
}

TEST(wrong_requests_are_refused)
{
    static const char *const none[] = {NULL};
    static const double numbers[] = {1.0, 2.0, NAN}, negative[] = {1.0, -1.0};
    struct fixture f = make_fixture(three_bins);
    paritas_unfold_options o = usual();
    o.n_parameters = 0;
    refuse(&f, &o, "`parameters`: name the normfactors");
    o = usual();
    o.parameters = NULL;
    refuse(&f, &o, "`parameters`: name the normfactors");
    o.parameters = none;
    refuse(&f, &o, "`parameters`: pattern 0 is NULL");
    o = usual();
    o.n_taus = 2;
    refuse(&f, &o, "taus: must not be NULL");
    o.taus = negative;
    refuse(&f, &o, "`taus`: number 1 must be at least 0, found -1");
    o = usual();
    o.weights = numbers;
    refuse(&f, &o, "`weights`: must have 3 numbers, one for each truth bin, found 0");
    o.n_weights = 3;
    refuse(&f, &o, "`weights`: number 2 is not finite");
    o = usual();
    o.n_centres = 3;
    refuse(&f, &o, "`centres`");
    o = usual();
    o.truth = numbers;
    o.n_truth = 2;
    refuse(&f, &o, "`truth`: must have 3 numbers");
    o = usual();
    o.by = (paritas_regularise)3;
    refuse(&f, &o, "`by`");
    free_fixture(&f);
}

/* ---- memory ---- */

static void make(void *user, const paritas_options *options)
{
    *(struct fixture *)user = make_fixture_with(options, three_bins);
}

static void prepare(void *user)
{
    (void)user;
}

static void end(void *user)
{
    free_fixture(user);
}

static paritas_status take_unfold(void *user)
{
    const struct fixture *f = user;
    const paritas_unfold_options options = usual();
    paritas_workspace *answer = NULL;
    const paritas_status status = paritas_unfold(f->context, f->workspace, NULL, &options, &answer);
    paritas_workspace_free(answer);
    return status;
}

static paritas_status take_penalise(void *user)
{
    const struct fixture *f = user;
    const paritas_unfold_options options = usual();
    paritas_workspace *answer = NULL;
    const paritas_status status = paritas_penalise(f->context, f->workspace, NULL, &options, 2.0, &answer);
    paritas_workspace_free(answer);
    return status;
}

TEST(every_request_may_fail)
{
    struct fixture f;
    struct refused_work work = {make, prepare, take_unfold, end, &f};
    for (int for_good = 0; for_good < 2; for_good++) {
        work.take = take_unfold;
        refuse_requests_of(&work, for_good);
        work.take = take_penalise;
        refuse_requests_of(&work, for_good);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_requests_are_refused),
        cmocka_unit_test(every_request_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
