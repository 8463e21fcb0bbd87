/* Operations on workspaces. That the results are pyhf's is shown in test_pyhf.py; here: identities, refusals,
 * memory. */
#include "histfactory/documents.h"
#include "histfactory/workspace/workspace_read.h"

#define NAMES(...) \
    {(const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *)}

#define PRUNE(...) {.size = sizeof(paritas_prune_options), __VA_ARGS__}
#define RENAME(...) {.size = sizeof(paritas_rename_options), __VA_ARGS__}

TEST(sorting_twice_is_sorting_once_and_leaves_the_input)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *same = parse(&context, small), *once,
                             *twice;
    assert_int_equal(paritas_workspace_sort(&context, document, &once), PARITAS_OK);
    assert_int_equal(paritas_workspace_sort(&context, once, &twice), PARITAS_OK);
    assert_true(json_equal(document->root, same->root));
    assert_true(json_equal(once->root, twice->root));
    assert_false(json_equal(once->root, document->root));
    assert_true(json_text_is(json_get(json_at(json_get(once->root, "channels"), 0), "name"), "CR"));
    paritas_workspace_free(document);
    paritas_workspace_free(same);
    paritas_workspace_free(once);
    paritas_workspace_free(twice);
    assert_int_equal(ledger.live, 0);
}

TEST(renaming_there_and_back_is_nothing_and_a_swap_works)
{
    const paritas_rename_options there =
                                     RENAME(.channels = NAMES("SR", "CR", "CR", "SR"),
                                            .samples = NAMES("background", "b"),
                                            .modifiers = NAMES("mu", "nu"), .measurements = NAMES("m", "n")),
                                 back =
                                     RENAME(.channels = NAMES("SR", "CR", "CR", "SR"),
                                            .samples = NAMES("b", "background"),
                                            .modifiers = NAMES("nu", "mu"), .measurements = NAMES("n", "m"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *away, *again;
    assert_int_equal(paritas_workspace_rename(&context, document, &there, &away), PARITAS_OK);
    assert_true(json_text_is(json_get(json_at(json_get(away->root, "observations"), 0), "name"), "CR"));
    const struct json *measurement = json_at(json_get(away->root, "measurements"), 0);
    assert_true(json_text_is(json_get(json_get(measurement, "config"), "poi"), "nu"));
    assert_int_equal(paritas_workspace_rename(&context, away, &back, &again), PARITAS_OK);
    assert_true(json_equal(document->root, again->root));
    paritas_workspace_free(document);
    paritas_workspace_free(away);
    paritas_workspace_free(again);
    assert_int_equal(ledger.live, 0);
}

TEST(a_workspace_cut_in_two_and_combined_is_the_workspace)
{
    const paritas_prune_options no_cr = PRUNE(.channels = NAMES("CR")),
                                no_sr = PRUNE(.channels = NAMES("SR"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *left, *right, *whole;
    assert_int_equal(paritas_workspace_prune(&context, document, &no_cr, &left), PARITAS_OK);
    assert_int_equal(paritas_workspace_prune(&context, document, &no_sr, &right), PARITAS_OK);
    assert_int_equal(paritas_workspace_combine(&context, left, right, "outer", false, &whole), PARITAS_OK);
    assert_true(json_equal(document->root, whole->root));
    paritas_workspace_free(whole);
    assert_int_equal(paritas_workspace_combine(&context, left, right, "none", false, &whole),
                     PARITAS_INVALID_INPUT);
    assert_null(whole);
    assert_string_equal(context.message,
                        "test.json (pruned) and test.json (pruned): measurements: \"m\" is in both");
    assert_int_equal(paritas_workspace_combine(&context, left, right, "none", true, &whole),
                     PARITAS_INVALID_ARGUMENT);
    paritas_workspace_free(document);
    paritas_workspace_free(left);
    paritas_workspace_free(right);
    assert_int_equal(ledger.live, 0);
}

TEST(names_that_are_not_there_are_named)
{
    const struct {
        paritas_prune_options prune;
        const char *message;
    } cases[] = {
        {PRUNE(.channels = NAMES("SR", "signal")), "test.json: there is no channel \"signal\""},
        {PRUNE(.samples = NAMES("SR")), "test.json: there is no sample \"SR\""},
        {PRUNE(.modifiers = NAMES("m")), "test.json: there is no modifier \"m\""},
        {PRUNE(.measurements = NAMES("mu")), "test.json: there is no measurement \"mu\""},
        {PRUNE(.modifier_types = NAMES("normsyst")), "test.json: there is no modifier of type \"normsyst\""},
    };
    const paritas_rename_options unknown = RENAME(.modifiers = NAMES("mu", "nu", "nobody", "x")),
                                 odd = RENAME(.samples = NAMES("signal"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *out;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(paritas_workspace_prune(&context, document, &cases[i].prune, &out),
                         PARITAS_NOT_FOUND);
        assert_null(out);
        assert_string_equal(context.message, cases[i].message);
    }
    assert_int_equal(paritas_workspace_rename(&context, document, &unknown, &out), PARITAS_NOT_FOUND);
    assert_string_equal(context.message, "test.json: there is no modifier \"nobody\"");
    assert_int_equal(paritas_workspace_rename(&context, document, &odd, &out), PARITAS_INVALID_ARGUMENT);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(a_result_that_is_no_workspace_is_refused)
{
    const paritas_prune_options all = PRUNE(.channels = NAMES("SR", "CR"));
    const paritas_rename_options twice = RENAME(.channels = NAMES("SR", "CR"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *out;
    assert_int_equal(paritas_workspace_prune(&context, document, &all, &out), PARITAS_INVALID_INPUT);
    assert_string_equal(context.message, "test.json (pruned): channels: must not be empty");
    assert_int_equal(paritas_workspace_rename(&context, document, &twice, &out), PARITAS_INVALID_INPUT);
    assert_string_equal(context.message,
                        "test.json (renamed): channels[1]: the name \"CR\" is also that of channels[0]");
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(a_malformed_document_is_refused_by_every_operation)
{
    const paritas_prune_options prune = PRUNE(.channels = NAMES("CR"));
    const paritas_rename_options rename = RENAME(.channels = NAMES("CR", "x"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *good = parse(&context, small),
                             *bad = parse(&context, swapped(small, "[20.0, 30.0]", "[20.0, null]")), *out;
    const char *message = "test.json: channels[0].samples[1].data[1]: must be a number, found null";
#define REFUSED(call)                                  \
    do {                                               \
        assert_int_equal(call, PARITAS_INVALID_INPUT); \
        assert_string_equal(context.message, message); \
        context.message[0] = '\0';                     \
    } while (0)
    REFUSED(hf_workspace_check(&context, bad));
    REFUSED(paritas_workspace_sort(&context, bad, &out));
    REFUSED(paritas_workspace_prune(&context, bad, &prune, &out));
    REFUSED(paritas_workspace_rename(&context, bad, &rename, &out));
    REFUSED(paritas_workspace_inspect(&context, bad, &out));
    REFUSED(paritas_workspace_combine(&context, bad, good, "outer", false, &out));
    REFUSED(paritas_workspace_combine(&context, good, bad, "outer", false, &out));
#undef REFUSED
    paritas_workspace_free(good);
    paritas_workspace_free(bad);
    assert_int_equal(ledger.live, 0);
}

TEST(a_wrong_normsys_can_be_pruned_away)
{
    const paritas_prune_options prune = PRUNE(.modifiers = NAMES("scale"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, swapped(small, "\"hi\": 1.1", "\"hi\": 0")), *out;
    assert_int_equal(paritas_workspace_prune(&context, document, &prune, &out), PARITAS_OK);
    paritas_workspace_free(document);
    paritas_workspace_free(out);
    assert_int_equal(ledger.live, 0);
}

TEST(inspecting_lists_what_is_there_and_what_is_left_over)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document =
                                 parse(&context, swapped(small, "\"poi\": \"mu\"", "\"poi\": \"SR\"")),
                             *out;
    assert_int_equal(paritas_workspace_inspect(&context, document, &out), PARITAS_OK);
    assert_string_equal(written(&context, json_get(out->root, "channels"), 0, false),
                        "[[\"CR\", 3], [\"SR\", 2]]");
    assert_string_equal(written(&context, json_get(out->root, "counts"), 0, false),
                        "{\"channels\": 2, \"samples\": 2, \"parameters\": 7, \"modifiers\": 7}");
    assert_string_equal(written(&context, json_get(out->root, "unused"), 0, false),
                        "{\"observations\": [], \"parameters\": [], \"pois\": [[\"m\", \"SR\"]]}");
    paritas_workspace_free(document);
    paritas_workspace_free(out);
    assert_int_equal(ledger.live, 0);
}

TEST(nothing_named_is_a_copy)
{
    const paritas_prune_options no_prune = PARITAS_PRUNE_OPTIONS_DEFAULT,
                                odd = {.size = sizeof(size_t), .channels = NAMES("nobody")};
    const paritas_rename_options no_rename = PARITAS_RENAME_OPTIONS_DEFAULT;
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *out[4];
    assert_int_equal(paritas_workspace_prune(&context, document, NULL, &out[0]), PARITAS_OK);
    assert_int_equal(paritas_workspace_prune(&context, document, &no_prune, &out[1]), PARITAS_OK);
    /* of a size that no version had nothing is read */
    assert_int_equal(paritas_workspace_prune(&context, document, &odd, &out[2]), PARITAS_INVALID_ARGUMENT);
    assert_null(out[2]);
    assert_int_equal(paritas_workspace_rename(&context, document, NULL, &out[2]), PARITAS_OK);
    assert_int_equal(paritas_workspace_rename(&context, document, &no_rename, &out[3]), PARITAS_OK);
    for (size_t i = 0; i < COUNT(out); i++) {
        assert_ptr_not_equal(out[i], document);
        assert_true(json_equal(out[i]->root, document->root));
        paritas_workspace_free(out[i]);
    }
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

TEST(arguments_that_are_missing_or_wrong_are_refused)
{
    static const char *const one_lost[] = {"CR", NULL};
    const paritas_prune_options lost = PRUNE(.channels = {one_lost, 2}),
                                none = PRUNE(.modifier_types = {NULL, 1}),
                                empty = PRUNE(.samples = NAMES(""));
    const paritas_rename_options to_lost = RENAME(.channels = {one_lost, 2}),
                                 to_bytes = RENAME(.samples = NAMES("signal", "sig\xff"));
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, small), *out = document;
#define REFUSED(call, expected)                           \
    do {                                                  \
        out = document;                                   \
        assert_int_equal(call, PARITAS_INVALID_ARGUMENT); \
        assert_null(out);                                 \
        assert_string_equal(context.message, expected);   \
    } while (0)
    REFUSED(paritas_workspace_sort(&context, NULL, &out), "workspace: must not be NULL");
    REFUSED(paritas_workspace_prune(&context, NULL, NULL, &out), "workspace: must not be NULL");
    REFUSED(paritas_workspace_rename(&context, NULL, NULL, &out), "workspace: must not be NULL");
    REFUSED(paritas_workspace_inspect(&context, NULL, &out), "workspace: must not be NULL");
    REFUSED(paritas_workspace_combine(&context, document, NULL, NULL, 0, &out), "right: must not be NULL");
    REFUSED(paritas_workspace_combine(&context, NULL, document, NULL, 0, &out), "left: must not be NULL");
    REFUSED(paritas_workspace_combine(&context, document, document, "inner", 0, &out),
            "join \"inner\": there are none, outer, left outer, right outer");
    REFUSED(paritas_workspace_combine(&context, document, document, NULL, 1, &out),
            "channels can be merged by an outer join only, not by \"none\"");
    REFUSED(paritas_workspace_prune(&context, document, &lost, &out), "channel: name 1 is NULL");
    REFUSED(paritas_workspace_prune(&context, document, &none, &out), "modifier of type: name 0 is NULL");
    REFUSED(paritas_workspace_rename(&context, document, &to_lost, &out), "channel: name 1 is NULL");
    REFUSED(paritas_workspace_rename(&context, document, &to_bytes, &out),
            "sample: the new name of \"signal\" is not UTF-8");
#undef REFUSED
    assert_int_equal(paritas_workspace_prune(&context, document, &empty, &out), PARITAS_NOT_FOUND);
    assert_int_equal(paritas_workspace_sort(&context, document, NULL), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_inspect(&context, document, NULL), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_sort(NULL, document, &out), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_prune(NULL, document, NULL, &out), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_rename(NULL, document, NULL, &out), PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_combine(NULL, document, document, NULL, 0, &out),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_workspace_inspect(NULL, document, &out), PARITAS_INVALID_ARGUMENT);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

/* ---- memory ---- */

static paritas_status every_operation(paritas_context *context)
{
    const paritas_prune_options prune = PRUNE(.channels = NAMES("CR"), .modifiers = NAMES("mu"));
    const paritas_rename_options rename =
        RENAME(.channels = NAMES("CR", "x"), .modifiers = NAMES("mu", "nu"));
    struct paritas_workspace *document, *sorted = NULL, *pruned = NULL, *renamed = NULL, *seen = NULL,
                                        *both = NULL;
    paritas_status status = json_read(context, small, strlen(small), "test.json", &document);
    if (status != PARITAS_OK) return status;
    status = paritas_workspace_sort(context, document, &sorted);
    if (status == PARITAS_OK) status = paritas_workspace_prune(context, document, &prune, &pruned);
    if (status == PARITAS_OK) status = paritas_workspace_rename(context, document, &rename, &renamed);
    if (status == PARITAS_OK) status = paritas_workspace_inspect(context, document, &seen);
    if (status == PARITAS_OK)
        status = paritas_workspace_combine(context, document, renamed, "right outer", true, &both);
    paritas_workspace_free(document);
    paritas_workspace_free(sorted);
    paritas_workspace_free(pruned);
    paritas_workspace_free(renamed);
    paritas_workspace_free(seen);
    paritas_workspace_free(both);
    return status;
}

TEST(an_allocation_that_fails_anywhere_is_an_error)
{
    check_every_failure(every_operation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_twice_is_sorting_once_and_leaves_the_input),
        cmocka_unit_test(renaming_there_and_back_is_nothing_and_a_swap_works),
        cmocka_unit_test(a_workspace_cut_in_two_and_combined_is_the_workspace),
        cmocka_unit_test(names_that_are_not_there_are_named),
        cmocka_unit_test(a_result_that_is_no_workspace_is_refused),
        cmocka_unit_test(a_malformed_document_is_refused_by_every_operation),
        cmocka_unit_test(a_wrong_normsys_can_be_pruned_away),
        cmocka_unit_test(inspecting_lists_what_is_there_and_what_is_left_over),
        cmocka_unit_test(nothing_named_is_a_copy),
        cmocka_unit_test(arguments_that_are_missing_or_wrong_are_refused),
        cmocka_unit_test(an_allocation_that_fails_anywhere_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
