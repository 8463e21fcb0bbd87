/* CMS datacards: words and numbers, patterns, what a card becomes, and what is left without memory. Bad cards
 * are in tests/cli/test_cli_datacards.py. */
#include "refusing.h"

#include "base/json/json.h"
#include "datacard/card.h"
#include "paritas_datacard.h"
#include "paritas_model.h"

#define FOLDER PARITAS_SOURCE_DIR "/tests/datacard/"

static struct ledger ledger;
static paritas_context context;

static int fresh(void **state)
{
    (void)state;
    ledger = (struct ledger){.for_good = true};
    context = (paritas_context){.allocator = ledger_allocator(&ledger)};
    return 0;
}

static int nothing_is_left(void **state)
{
    (void)state;
    return ledger.live != 0;
}

/* ---- text ---- */

TEST(numbers_are_read_as_people_write_them)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {{"5.", 5.0},  {".5", 0.5},     {"+3", 3.0},     {"-0.25", -0.25}, {"007", 7.0},
                {"1e3", 1e3}, {"1.e-3", 1e-3}, {"+.5E+1", 5.0}, {"-00.5", -0.5},  {"0", 0.0}};
    static const char *const bad[] = {"",    ".",   "-",     "+",     "1,5", "1e",    "e1",  "nan",
                                      "inf", "0x1", "1e400", "1.2.3", "--1", "1_000", "1 2", "1e+"};
    for (size_t i = 0; i < COUNT(good); i++) {
        double value = NAN;
        assert_true(card_number(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        double value;
        if (card_number(bad[i], &value)) fail_msg("\"%s\" was read", bad[i]);
    }
}

TEST(printed_numbers_are_rounded)
{
    assert_true(card_six_digits(20.123456789) == 20.1235);
    assert_true(card_six_digits(1234567.0) == 1234570.0);
    assert_true(card_six_digits(1.2345674e-8) == 1.23457e-8);
    assert_true(card_six_digits(0.0) == 0.0);
    assert_true(card_six_decimals(1.0576437) == 1.057644);
    assert_true(card_six_decimals(-0.0000004) == 0.0);
    assert_true(card_six_decimals(1e300) == 1e300);
}

TEST(an_exact_card_rounds_nothing)
{
    const struct card rounded = {0}, exact = {.exact = true};
    assert_true(card_rounded(&rounded, CARD_SIX_DIGITS, 20.123456789) == 20.1235);
    assert_true(card_rounded(&rounded, CARD_SIX_DECIMALS, 1.0576437) == 1.057644);
    assert_true(card_rounded(&rounded, CARD_SINGLE, 0.1) == (double)0.1f);
    for (int i = CARD_SIX_DIGITS; i <= CARD_SINGLE; i++)
        assert_true(card_rounded(&exact, (enum card_rounding)i, 0.123456789) == 0.123456789);
}

TEST(wildcards_match_names)
{
    static const struct {
        const char *pattern, *text;
        bool matches;
    } cases[] = {{"*", "", true},          {"*", "any", true},     {"b?", "b1", true},
                 {"b?", "b", false},       {"Zm*", "Zmumu", true}, {"Zm*", "Zee", false},
                 {"*t*t", "ttbart", true}, {"a*b", "acbd", false}, {"[ab]1", "b1", true},
                 {"[!ab]1", "b1", false},  {"[a-c]", "b", true},   {"[a", "[a", true},
                 {"a[]", "a[]", true}};
    for (size_t i = 0; i < COUNT(cases); i++)
        if (card_matches_wildcard(cases[i].pattern, cases[i].text) != cases[i].matches)
            fail_msg("%s against %s", cases[i].pattern, cases[i].text);
}

TEST(expressions_match_whole_names)
{
    static const struct {
        const char *expression, *text;
        enum card_match found;
    } cases[] = {
        {"*", "any", CARD_MATCHES},
        {"top", "top", CARD_MATCHES},
        {"top", "topo", CARD_DIFFERS},
        {"t.*", "top", CARD_MATCHES},
        {"^t.+$", "t", CARD_DIFFERS},
        {"(top|qcd)", "qcd", CARD_MATCHES},
        {"(a|b)?c", "c", CARD_MATCHES},
        {"(a|b)?c", "bc", CARD_MATCHES},
        {"a|b", "b", CARD_MATCHES},
        {"b[0-9]+", "b12", CARD_MATCHES},
        {"b\\d\\.x", "b1.x", CARD_MATCHES},
        {"b\\.", "bx", CARD_DIFFERS},
        {"(ab", "ab", CARD_NO_PATTERN},
        {"a)", "a", CARD_NO_PATTERN},
        {"(a)+", "aa", CARD_NO_PATTERN},
        {"a{2}", "aa", CARD_NO_PATTERN},
        {"+", "+", CARD_NO_PATTERN},
        {"[a", "a", CARD_NO_PATTERN},
        {"((a|b)c|d)e", "bce", CARD_MATCHES},
        {"\\1", "a", CARD_NO_PATTERN},
        {".*.*.*.*.*.*.*.*x", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", CARD_NO_PATTERN},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        if (card_matches_expression(cases[i].expression, cases[i].text) != cases[i].found)
            fail_msg("%s against %s", cases[i].expression, cases[i].text);
}

/* ---- what a card becomes ---- */

static paritas_workspace *read_card(const char *name, const char *const *masks, size_t n_masks)
{
    char path[512];
    paritas_workspace *made;
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    options.masks = (paritas_names){masks, n_masks};
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    ASSERT_OK(&context, paritas_datacard_read(&context, path, &options, &made));
    return made;
}

static const struct json *named(const struct json *list, const char *name)
{
    const struct json *at = list->first;
    while (at && !json_text_is(json_get(at, "name"), name)) at = at->next;
    if (!at) fail_msg("there is no %s", name);
    return at;
}

static const struct json *sample_of(const paritas_workspace *made, const char *channel, const char *sample)
{
    return named(json_get(named(json_get(made->root, "channels"), channel), "samples"), sample);
}

static const struct json *config_of(const paritas_workspace *made)
{
    return json_get(json_get(made->root, "measurements")->first, "config");
}

static const struct json *data_of(const struct json *sample, const char *modifier)
{
    return json_get(named(json_get(sample, "modifiers"), modifier), "data");
}

static double number_of(const struct json *object, const char *key)
{
    const struct json *found = json_get(object, key);
    return found ? found->number : NAN;
}

TEST(a_count_becomes_a_sample_of_one_bin)
{
    paritas_workspace *made = read_card("counting.txt", NULL, 0);
    const struct json *top = sample_of(made, "sr", "top"), *fakes = sample_of(made, "sr", "fakes");
    assert_true(json_at(json_get(top, "data"), 0)->number == 4.0);
    assert_true(number_of(data_of(top, "lumi"), "hi") == 1.02);
    assert_true(number_of(data_of(top, "lumi"), "lo") == 1.0 / 1.02);
    assert_true(number_of(data_of(top, "xsec"), "hi") == 1.2); /* low/high */
    assert_true(number_of(data_of(top, "xsec"), "lo") == 0.9);
    assert_true(json_at(json_get(fakes, "data"), 0)->number == 0.5); /* alpha, times the count */
    const struct json *count = named(json_get(config_of(made), "parameters"), "fakes");
    assert_true(json_at(json_get(count, "inits"), 0)->number == 6.0);
    assert_true(json_at(json_get(count, "auxdata"), 0)->number == 5.0);
    assert_true(json_text_is(json_get(config_of(made), "poi"), "r"));
    paritas_workspace_free(made);
}

TEST(fractions_are_scaled_to_the_rate_and_whole_histograms_are_not)
{
    paritas_workspace *made = read_card("shapes.txt", NULL, 0);
    const struct json *top = sample_of(made, "sr", "top"), *shape = json_get(top, "shape");
    assert_true(number_of(shape, "minimum") == 1e-9 && number_of(shape, "total") == 18.0);
    ASSERT_CLOSE(json_at(json_get(top, "data"), 0)->number, 6.0 / 18.0, 1e-15);
    const struct json *control = sample_of(made, "cr", "top");
    assert_true(number_of(json_get(control, "shape"), "minimum") == 1e-9);
    assert_null(json_get(json_get(control, "shape"), "total"));
    assert_true(json_at(json_get(control, "data"), 0)->number == 40.0); /* of the histogram, not the rate */
    assert_true(json_at(data_of(control, "prop_bincr"), 1)->number == 1.5);
    paritas_workspace_free(made);
}

TEST(a_small_scale_smooths_a_morph_and_scales_its_norm)
{
    paritas_workspace *made = read_card("shapes.txt", NULL, 0);
    const struct json *fakes = sample_of(made, "sr", "fakes");
    const struct json *data = data_of(fakes, "tilt");
    assert_true(isnan(number_of(data, "scale"))); /* 0.5 / 0.5 */
    const double nominal = 4.0 / 9.0, up = (double)4.2f / ((double)4.2f + (double)4.8f);
    ASSERT_CLOSE(json_at(json_get(data, "hi_data"), 0)->number, nominal + 0.5 * (up - nominal), 1e-15);
    paritas_workspace_free(made);
}

/* The text of a card in this folder, with a piece of it replaced; it becomes a workspace. */
static paritas_workspace *read_changed(const char *name, const char *old, const char *new)
{
    char path[512], text[4096] = "", whole[4096];
    const paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    paritas_workspace *made;
    snprintf(path, sizeof path, "%s%s", FOLDER, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    char *at = length > 0 ? strstr(text, old) : NULL;
    assert_non_null(at);
    snprintf(whole, sizeof whole, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    ASSERT_OK(&context, paritas_datacard_parse(&context, whole, strlen(whole), path, &options, &made));
    return made;
}

TEST(a_morph_of_logarithms_scales_exponents)
{
    paritas_workspace *made = read_changed("shapes.txt", "tilt   shape ", "tilt   shapeN ");
    const struct json *fakes = sample_of(made, "sr", "fakes"), *shape = json_get(fakes, "shape");
    assert_true(number_of(shape, "minimum") == 0.0 && number_of(shape, "total") == 9.0);
    assert_true(json_is(json_get(shape, "logarithmic"), JSON_TRUE));
    const double nominal = 4.0 / 9.0, up = (double)4.2f / ((double)4.2f + (double)4.8f);
    const struct json *data = data_of(fakes, "tilt");
    ASSERT_CLOSE(json_at(json_get(data, "hi_data"), 0)->number, nominal * sqrt(up / nominal), 1e-15);
    assert_true(json_at(json_get(data, "hi_data"), 2)->number == 0.0); /* empty bins stay empty */
    const struct json *control = json_get(sample_of(made, "cr", "top"), "shape");
    assert_true(number_of(control, "minimum") == 1e-9 && number_of(control, "total") == 70.0);
    paritas_workspace_free(made);
}

TEST(a_measurement_of_two_widths_has_their_ratio)
{
    paritas_workspace *made =
        read_changed("counting.txt", "fakes 1 [0,5]", "fakes 2*@0 p\np param 1.5 -0.2/+0.5\n#");
    const struct json *p = named(json_get(config_of(made), "parameters"), "p"),
                      *law = json_get(p, "constraint");
    assert_true(json_text_is(json_get(law, "type"), "bifurcated") && number_of(law, "ratio") == 2.5);
    assert_true(json_at(json_get(p, "sigmas"), 0)->number == 0.2);
    assert_true(json_at(json_get(p, "auxdata"), 0)->number == 1.5);
    ASSERT_CLOSE(json_at(json_at(json_get(p, "bounds"), 0), 0)->number, 0.7, 1e-15);
    ASSERT_CLOSE(json_at(json_at(json_get(p, "bounds"), 0), 1)->number, 3.5, 1e-15);
    paritas_workspace_free(made);
}

TEST(a_masked_channel_is_marked)
{
    static const char *const masks[] = {"cr"};
    paritas_workspace *made = read_card("counting.txt", masks, 1), *given;
    const struct json *channels = json_get(made->root, "channels");
    assert_true(json_is(json_get(named(channels, "cr"), "masked"), JSON_TRUE));
    assert_null(json_get(named(channels, "sr"), "masked"));
    named(json_get(config_of(made), "parameters"), "free");
    ASSERT_OK(&context, paritas_workspace_mask(&context, made, NULL, &given));
    assert_true(json_equal(given->root, made->root));
    paritas_workspace_free(given);
    paritas_workspace_free(made);
}

TEST(names_and_scales_of_bins_are_listed)
{
    paritas_workspace *made = read_card("shapes.txt", NULL, 0), *names;
    ASSERT_OK(&context, paritas_datacard_names(&context, made, &names));
    assert_true(json_text_is(json_get(json_get(names->root, "prop_bincr_bin1"), "name"), "prop_bincr[1]"));
    paritas_workspace_free(names);
    paritas_workspace_free(made);
}

TEST(groups_of_nuisances_are_listed)
{
    const char *card = PARITAS_SOURCE_DIR "/examples/shapes.txt";
    paritas_workspace *groups;
    ASSERT_OK(&context, paritas_datacard_groups(&context, FOLDER "counting.txt", &groups));
    assert_int_equal(groups->root->count, 0);
    paritas_workspace_free(groups);
    ASSERT_OK(&context, paritas_datacard_groups(&context, card, &groups));
    const struct json *theory = json_get(groups->root, "theory");
    assert_int_equal(theory->count, 2);
    assert_true(json_text_is(json_at(theory, 1), "fakerate"));
    paritas_workspace_free(groups);
    for (long n = 1;; n++) {
        fresh(NULL);
        ledger.fail_at = n;
        const paritas_status status = paritas_datacard_groups(&context, card, &groups);
        paritas_workspace_free(groups);
        assert_int_equal(ledger.live, 0);
        if (!status) break;
        assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
    }
}

TEST(the_first_character_tells_a_card_from_json)
{
    paritas_workspace *made;
    ASSERT_OK(&context, paritas_document_read(&context, FOLDER "counting.txt", NULL, &made));
    assert_non_null(json_get(made->root, "channels"));
    paritas_workspace_free(made);
    ASSERT_OK(&context,
              paritas_document_read(&context, PARITAS_SOURCE_DIR "/examples/two_bins.json", NULL, &made));
    assert_non_null(json_get(made->root, "channels"));
    paritas_workspace_free(made);
    assert_int_equal(paritas_document_read(&context, FOLDER "none.txt", NULL, &made), PARITAS_UNREADABLE);
    assert_null(made);
}

static void refuse(const char *text, size_t length, paritas_status status, const char *message)
{
    paritas_workspace *made;
    assert_int_equal(paritas_datacard_parse(&context, text, length, "card", NULL, &made), status);
    assert_null(made);
    assert_string_equal(context.message, message);
}

TEST(what_is_no_card_is_refused)
{
    refuse("", 0, PARITAS_INVALID_INPUT, "card:1:1: the file is empty");
    refuse("# only\n--\n", 10, PARITAS_INVALID_INPUT, "card:1:1: the file is empty");
    refuse("imax 1\na\0b\n", 11, PARITAS_INVALID_INPUT,
           "card:2:2: a zero byte, so this is no text; give the datacard itself");
    refuse("bin \xff\nprocess a\nprocess 0\nrate 1\n", 33, PARITAS_INVALID_INPUT,
           "card:1:5: the name is not UTF-8: save the card in that encoding");
}

TEST(wrong_options_are_refused)
{
    static const char *const masks[] = {"xr"};
    paritas_workspace *made;
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    options.mass = "heavy";
    assert_int_equal(paritas_datacard_read(&context, FOLDER "counting.txt", &options, &made),
                     PARITAS_INVALID_ARGUMENT);
    options.mass = NULL;
    options.masks = (paritas_names){masks, 1};
    assert_int_equal(paritas_datacard_read(&context, FOLDER "counting.txt", &options, &made),
                     PARITAS_NOT_FOUND);
    options.size = 3;
    assert_int_equal(paritas_datacard_read(&context, FOLDER "counting.txt", &options, &made),
                     PARITAS_INVALID_ARGUMENT);
}

TEST(without_memory_nothing_is_left)
{
    static const char *const cards[] = {FOLDER "counting.txt", FOLDER "shapes.txt"};
    static const char *const masks[] = {"cr"}, *const maps[] = {"sr/signal:mu[1,0,5]", "cr/top:t[1,3]"};
    paritas_datacard_options options = PARITAS_DATACARD_OPTIONS_DEFAULT;
    options.masks = (paritas_names){masks, COUNT(masks)};
    options.maps = (paritas_names){maps, COUNT(maps)};
    for (size_t card = 0; card < COUNT(cards); card++)
        for (long n = 1;; n++) {
            paritas_workspace *made, *names = NULL;
            paritas_model *model = NULL;
            fresh(NULL);
            ledger.fail_at = n;
            paritas_status status = paritas_document_read(&context, cards[card], &options, &made);
            if (!status) status = paritas_model_create(&context, made, NULL, &model);
            paritas_model_free(model);
            if (!status) status = paritas_datacard_names(&context, made, &names);
            paritas_workspace_free(names);
            paritas_workspace_free(made);
            assert_int_equal(ledger.live, 0);
            if (!status) break;
            assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
            assert_string_equal(context.message, "memory could not be allocated");
        }
}

TEST(combined_cards_are_a_card)
{
    static const char *const cards[] = {FOLDER "counting.txt", FOLDER "shapes.txt"}, *const labels[] = {"a",
                                                                                                        NULL};
    static const char *const wrong[] = {FOLDER "counting.txt", NULL};
    paritas_workspace *made;
    char *text;
    ASSERT_OK(&context, paritas_datacard_combine(&context, 2, labels, cards, NULL, &text));
    ASSERT_OK(&context, paritas_datacard_parse(&context, text, strlen(text), "combined", NULL, &made));
    named(json_get(made->root, "channels"), "a_sr");
    named(json_get(made->root, "channels"), "ch2_cr");
    paritas_workspace_free(made);
    paritas_text_free(&context, text);
    assert_int_equal(paritas_datacard_combine(&context, 0, NULL, cards, NULL, &text),
                     PARITAS_INVALID_ARGUMENT);
    assert_int_equal(paritas_datacard_combine(&context, 2, NULL, wrong, NULL, &text),
                     PARITAS_INVALID_ARGUMENT);
    assert_true(paritas_is_datacard(cards[0]) && !paritas_is_datacard(NULL));
    assert_false(paritas_is_datacard(PARITAS_SOURCE_DIR "/examples/two_bins.json"));
}

TEST(cards_combined_without_memory_leave_nothing)
{
    static const char *const cards[] = {FOLDER "counting.txt", FOLDER "shapes.txt"};
    for (long n = 1;; n++) {
        char *text;
        fresh(NULL);
        ledger.fail_at = n;
        const paritas_status status = paritas_datacard_combine(&context, 2, NULL, cards, FOLDER, &text);
        paritas_text_free(&context, text);
        assert_int_equal(ledger.live, 0);
        if (!status) break;
        assert_int_equal(status, PARITAS_OUT_OF_MEMORY);
    }
}

int main(void)
{
#define CASE(claim) cmocka_unit_test_setup_teardown(claim, fresh, nothing_is_left)
    const struct CMUnitTest tests[] = {
        CASE(numbers_are_read_as_people_write_them),
        CASE(printed_numbers_are_rounded),
        CASE(an_exact_card_rounds_nothing),
        CASE(wildcards_match_names),
        CASE(expressions_match_whole_names),
        CASE(a_count_becomes_a_sample_of_one_bin),
        CASE(fractions_are_scaled_to_the_rate_and_whole_histograms_are_not),
        CASE(a_small_scale_smooths_a_morph_and_scales_its_norm),
        CASE(a_morph_of_logarithms_scales_exponents),
        CASE(a_measurement_of_two_widths_has_their_ratio),
        CASE(a_masked_channel_is_marked),
        CASE(names_and_scales_of_bins_are_listed),
        CASE(groups_of_nuisances_are_listed),
        CASE(the_first_character_tells_a_card_from_json),
        CASE(what_is_no_card_is_refused),
        CASE(wrong_options_are_refused),
        CASE(without_memory_nothing_is_left),
        CASE(combined_cards_are_a_card),
        CASE(cards_combined_without_memory_leave_nothing),
    };
    return cmocka_run_group_tests_name("datacards", tests, NULL, NULL);
}
