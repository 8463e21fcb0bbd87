/* The reader of workspaces: what it makes of a document, and how it refuses one. Numbers come from the
 * definitions: tau is (rate / uncertainty)^2, a staterror's width the quadratic sum of uncertainties over the
 * sum of rates. */
#include "histfactory/documents.h"
#include "histfactory/workspace/workspace_spec.h"

#include <math.h>

#define LUMI                                                                                            \
    "{\"name\": \"lumi\", \"auxdata\": [1.0], \"bounds\": [[0.5, 1.5]], \"inits\": [1.0], \"sigmas\": " \
    "[0.02]}"
#define B "channels[0].samples[1]"
#define P "measurements[0].config.parameters"

/* The spec of a text that must be right; frees everything else. */
static struct hf_spec *read_text(paritas_context *context, const char *text)
{
    struct paritas_workspace *document = parse(context, text);
    struct hf_spec *spec;
    paritas_status status = hf_spec_read(context, document, NULL, NULL, &spec);
    paritas_workspace_free(document);
    if (status != PARITAS_OK) fail_msg("%s", context->message);
    return spec;
}

/* Expects the whole message behind the label. */
static void refuses(const char *text, const char *message)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct paritas_workspace *document = parse(&context, text);
    struct hf_spec *spec;
    assert_int_equal(hf_spec_read(&context, document, NULL, NULL, &spec), PARITAS_INVALID_INPUT);
    assert_null(spec);
    assert_int_equal(strncmp(context.message, "test.json: ", 11), 0);
    assert_string_equal(context.message + 11, message);
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
}

static const struct hf_set *set_of(const struct hf_spec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->n_sets; i++)
        if (strcmp(spec->sets[i].name, name) == 0) return &spec->sets[i];
    fail_msg("no set %s", name);
    return NULL;
}

TEST(sets_stand_in_the_order_of_types_then_of_first_appearance)
{
    static const char *const order[] = {"shape", "lumi", "mu", "scale", "free", "unc", "stat"};
    static const uint32_t sizes[] = {1, 1, 1, 1, 3, 3, 2};
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, small);
    assert_int_equal(spec->n_sets, COUNT(order));
    uint32_t first = 0, aux = 0;
    for (uint32_t i = 0; i < spec->n_sets; i++) {
        const struct hf_set *set = &spec->sets[i];
        assert_string_equal(set->name, order[i]);
        assert_int_equal(set->size, sizes[i]);
        assert_int_equal(set->first, first);
        if (set->constraint != HF_UNCONSTRAINED) assert_int_equal(set->first_aux, aux);
        first += set->size;
        aux += set->constraint != HF_UNCONSTRAINED ? set->size : 0;
    }
    assert_int_equal(spec->n_parameters, first);
    assert_int_equal(spec->n_aux, aux);
    assert_int_equal(spec->n_main, 5);
    assert_int_equal(spec->poi, 2);
    assert_string_equal(spec->poi_name, "mu");
    assert_null(spec->unused_poi);
    hf_spec_free(spec);
    assert_int_equal(ledger.live, 0);
}

TEST(channels_samples_and_modifiers_are_sorted_and_observations_follow)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, small);
    assert_int_equal(spec->n_channels, 2);
    assert_string_equal(spec->channels[0].name, "CR");
    assert_string_equal(spec->channels[1].name, "SR");
    assert_int_equal(spec->channels[1].first_bin, 3);
    assert_true(spec->channels[0].observed[2] == 79.0 && spec->channels[1].observed[1] == 35.0);
    const struct hf_sample *background = &spec->channels[1].samples[0];
    assert_string_equal(background->name, "background");
    assert_int_equal(background->n_modifiers, 3);
    assert_int_equal(background->modifiers[0].type, HF_NORMSYS);
    assert_int_equal(background->modifiers[1].type, HF_HISTOSYS);
    assert_int_equal(background->modifiers[2].type, HF_STATERROR);
    assert_true(background->modifiers[0].hi == 1.1 && background->modifiers[0].lo == 0.9);
    assert_true(background->modifiers[1].hi_data[1] == 31.0 && background->modifiers[1].lo_data[0] == 18.0);
    assert_true(background->modifiers[2].uncertainty[1] == 1.5);
    assert_string_equal(spec->sets[spec->channels[0].samples[0].modifiers[0].set].name, "free");
    hf_spec_free(spec);
}

TEST(defaults_are_those_of_each_type)
{
    static const struct {
        const char *name;
        hf_constraint constraint;
        int scalar;
        double init, lower, upper, aux;
    } wanted[] = {{"mu", HF_UNCONSTRAINED, 1, 1, 0, 10, 0},   {"free", HF_UNCONSTRAINED, 0, 1, 0, 10, 0},
                  {"scale", HF_GAUSSIAN, 1, 0, -5, 5, 0},     {"shape", HF_GAUSSIAN, 1, 0, -5, 5, 0},
                  {"lumi", HF_GAUSSIAN, 1, 1, 0.5, 1.5, 1},   {"stat", HF_GAUSSIAN, 0, 1, 1e-10, 10, 1},
                  {"unc", HF_POISSON, 0, 1, 1e-10, 10, 400.0}};
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, small);
    for (size_t i = 0; i < COUNT(wanted); i++) {
        const struct hf_set *set = set_of(spec, wanted[i].name);
        assert_int_equal(set->constraint, wanted[i].constraint);
        assert_int_equal(set->scalar, wanted[i].scalar);
        assert_true(set->init[0] == wanted[i].init && set->lower[0] == wanted[i].lower &&
                    set->upper[0] == wanted[i].upper);
        assert_int_equal(set->fixed[0], 0);
        if (set->constraint == HF_UNCONSTRAINED)
            assert_null(set->aux);
        else
            assert_true(set->aux[0] == wanted[i].aux);
    }
    assert_true(set_of(spec, "scale")->sigma[0] == 1.0 && set_of(spec, "lumi")->sigma[0] == 0.02);
    hf_spec_free(spec);
}

TEST(tau_is_the_squared_ratio_and_dead_bins_are_constants)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, small);
    const struct hf_set *set = set_of(spec, "unc");
    static const double tau[] = {400.0, 225.0, 1.0};
    for (uint32_t k = 0; k < 3; k++) {
        assert_true(set->tau[k] == tau[k] && set->aux[k] == tau[k]);
        assert_int_equal(set->fixed[k], k == 2);
    }
    hf_spec_free(spec);
    spec = read_text(&context, swapped(small, "[100.0, 90.0, 80.0]", "[-100.0, 0.0, 80.0]"));
    for (uint32_t k = 0; k < 3; k++)
        assert_true(set_of(spec, "unc")->tau[k] == 1.0 && set_of(spec, "unc")->fixed[k]);
    hf_spec_free(spec);
}

/* One staterror over two channels and two samples: elements in the order of the channels, sums over the
 * samples. */
static const char *const wide =
    "{\"channels\": ["
    "{\"name\": \"b\", \"samples\": ["
    "{\"name\": \"y\", \"data\": [6.0], \"modifiers\": [{\"name\": \"s\", \"type\": \"staterror\", \"data\": "
    "[3.0]}]}, "
    "{\"name\": \"x\", \"data\": [4.0], \"modifiers\": [{\"name\": \"s\", \"type\": \"staterror\", \"data\": "
    "[4.0]}]}, "
    "{\"name\": \"other\", \"data\": [100.0], \"modifiers\": []}]}, "
    "{\"name\": \"a\", \"samples\": ["
    "{\"name\": \"x\", \"data\": [10.0, 1.0, -2.0], \"modifiers\": [{\"name\": \"s\", \"type\": "
    "\"staterror\", \"data\": [6.0, 0.0, "
    "1.0]}]}, "
    "{\"name\": \"y\", \"data\": [10.0, 1.0, 1.0], \"modifiers\": [{\"name\": \"s\", \"type\": "
    "\"staterror\", \"data\": [8.0, 0.0, "
    "1.0]}]}]}], "
    "\"observations\": [{\"name\": \"a\", \"data\": [1, 2, 3]}, {\"name\": \"b\", \"data\": [4]}], "
    "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"\", \"parameters\": []}}], \"version\": "
    "\"1.0.0\"}";

TEST(a_staterror_over_channels_sums_over_its_samples)
{
    static const double sigma[] = {0.5, 1.0, 1.0, 0.5};
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, wide);
    assert_int_equal(spec->n_sets, 1);
    assert_int_equal(spec->sets[0].size, 4);
    assert_int_equal(spec->poi, -1);
    assert_null(spec->poi_name);
    for (uint32_t k = 0; k < 4; k++) {
        assert_true(fabs(spec->sets[0].sigma[k] - sigma[k]) < 1e-15);
        assert_int_equal(spec->sets[0].fixed[k], k == 1 || k == 2);
    }
    assert_int_equal(spec->channels[0].samples[0].modifiers[0].first, 0);
    assert_int_equal(spec->channels[1].samples[1].modifiers[0].first, 3);
    hf_spec_free(spec);
}

TEST(a_staterror_must_have_the_same_samples_in_all_its_channels)
{
    const char *of_y = "{\"name\": \"s\", \"type\": \"staterror\", \"data\": [3.0]}";
    refuses(
        swapped(wide, of_y, ""),
        "channels[1].samples[1].modifiers[0]: the staterror \"s\" is carried by this sample here but not in "
        "channels[0] (\"b\"), where it is used too");
    refuses(swapped(wide, "{\"name\": \"s\", \"type\": \"staterror\", \"data\": [6.0, 0.0, 1.0]}", ""),
            "channels[0].samples[1].modifiers[0]: the staterror \"s\" is carried by this sample here but not "
            "in channels[1] (\"a\"), where "
            "it is used too");
    refuses(swapped(wide, "[100.0], \"modifiers\": []",
                    "[100.0], \"modifiers\": [{\"name\": \"s\", \"type\": \"staterror\", \"data\": [3.0]}]"),
            "channels[0].samples[2].modifiers[0]: the staterror \"s\" is carried by this sample here but not "
            "in channels[1] (\"a\"), where "
            "it is used too");
}

TEST(a_name_shared_by_normsys_and_histosys_is_one_parameter_in_the_place_of_the_histosys)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, swapped(small, "\"name\": \"shape\"", "\"name\": \"scale\""));
    assert_int_equal(spec->n_sets, 6);
    assert_string_equal(spec->sets[0].name, "scale");
    const struct hf_sample *background = &spec->channels[1].samples[0];
    assert_int_equal(background->modifiers[0].type, HF_HISTOSYS);
    assert_int_equal(background->modifiers[1].type, HF_NORMSYS);
    assert_int_equal(background->modifiers[0].set, background->modifiers[1].set);
    hf_spec_free(spec);
}

/* `small` with more parameter configurations. */
static const char *configured(const char *more)
{
    char list[1024];
    snprintf(list, sizeof list, "%s, %s", LUMI, more);
    return swapped(small, LUMI, list);
}

TEST(a_measurement_overrides_what_its_sets_have)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(
        &context, configured("{\"name\": \"unc\", \"auxdata\": [1, 2, 3], \"factors\": [4, 5, 6], \"fixed\": "
                             "false, \"inits\": [1, 1, 2], \"bounds\": [[0, 2], [0, 3], [0, 4]]}, "
                             "{\"name\": \"stat\", \"sigmas\": [0.25, 0.5], \"auxdata\": [0.9, 1.1], "
                             "\"fixed\": true}, {\"name\": \"nothing\", \"sigmas\": [0]}"));
    const struct hf_set *unc = set_of(spec, "unc"), *stat = set_of(spec, "stat");
    for (uint32_t k = 0; k < 3; k++) {
        assert_true(unc->aux[k] == k + 1.0 && unc->tau[k] == k + 4.0 && unc->lower[k] == 0 &&
                    unc->upper[k] == k + 2.0);
        assert_int_equal(unc->fixed[k], 0);
    }
    assert_true(unc->init[2] == 2.0);
    assert_true(stat->sigma[1] == 0.5 && stat->aux[0] == 0.9 && stat->fixed[0] && stat->fixed[1]);
    hf_spec_free(spec);
    spec = read_text(&context, configured("{\"name\": \"unc\", \"auxdata\": [1, 2, 3]}"));
    assert_true(set_of(spec, "unc")->tau[0] == 400.0 && set_of(spec, "unc")->fixed[2]);
    hf_spec_free(spec);
}

TEST(measurements_and_points_of_interest_are_found_by_name)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    const char *two =
        "\"measurements\": [{\"name\": \"first\", \"config\": {\"poi\": \"nobody\", \"parameters\": [" LUMI
        "]}}, {\"name\": \"m\"";
    struct paritas_workspace *document =
        parse(&context, swapped(small, "\"measurements\": [{\"name\": \"m\"", two));
    struct hf_spec *spec;
    assert_int_equal(hf_spec_read(&context, document, NULL, NULL, &spec), PARITAS_OK);
    assert_int_equal(spec->poi, -1);
    assert_string_equal(spec->unused_poi, "nobody");
    hf_spec_free(spec);
    assert_int_equal(hf_spec_read(&context, document, "m", NULL, &spec), PARITAS_OK);
    assert_string_equal(spec->poi_name, "mu");
    hf_spec_free(spec);
    assert_int_equal(hf_spec_read(&context, document, "m", "scale", &spec), PARITAS_OK);
    assert_string_equal(spec->poi_name, "scale");
    hf_spec_free(spec);
    assert_int_equal(hf_spec_read(&context, document, "m", "", &spec), PARITAS_OK);
    assert_int_equal(spec->poi, -1);
    assert_null(spec->unused_poi);
    hf_spec_free(spec);
    assert_int_equal(hf_spec_read(&context, document, "x", NULL, &spec), PARITAS_NOT_FOUND);
    assert_null(spec);
    assert_string_equal(context.message, "test.json: measurements: there is no \"x\", only \"first\", \"m\"");
    assert_int_equal(hf_spec_read(&context, document, NULL, "nobody", &spec), PARITAS_NOT_FOUND);
    assert_string_equal(context.message,
                        "test.json: the model has no parameter \"nobody\" to be the parameter of interest");
    assert_int_equal(hf_spec_read(&context, document, NULL, "SR", &spec), PARITAS_NOT_FOUND);
    assert_int_equal(hf_spec_read(&context, document, NULL, "free", &spec), PARITAS_INVALID_INPUT);
    assert_string_equal(
        context.message,
        "test.json: \"free\" is a set of 3 parameters and cannot be the parameter of interest");
    paritas_workspace_free(document);
    assert_int_equal(ledger.live, 0);
    refuses(swapped(small, "\"poi\": \"mu\"", "\"poi\": \"unc\""),
            "measurements[0].config.poi: \"unc\" is a set of 3 parameters and cannot be the parameter of "
            "interest");
}

TEST(leftovers_are_accepted)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    hf_spec_free(read_text(&context, swapped(small, "\"observations\": [",
                                             "\"observations\": [{\"name\": \"gone\", \"data\": [-1]}, ")));
    hf_spec_free(
        read_text(&context, configured("{\"name\": \"gone\", \"inits\": [1], \"bounds\": [[0, 5]]}")));
    hf_spec_free(read_text(&context, swapped(small, "\"poi\": \"mu\"", "\"poi\": \"\"")));
    assert_int_equal(ledger.live, 0);
}

TEST(a_modifier_has_its_own_code_or_the_models)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec =
        read_text(&context, swapped(small, "{\"hi\": 1.1,", "{\"interpcode\": \"code2c\", \"hi\": 1.1,"));
    struct hf_sample *background = NULL;
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < spec->channels[c].n_samples; s++)
            if (strcmp(spec->channels[c].name, "SR") == 0 &&
                strcmp(spec->channels[c].samples[s].name, "background") == 0)
                background = &spec->channels[c].samples[s];
    assert_non_null(background);
    const struct paritas_workspace workspace = {.label = "text"};
    assert_int_equal(
        hf_codes_settle(&context, &workspace, spec, PARITAS_NORMSYS_CODE_1, PARITAS_HISTOSYS_CODE_0),
        PARITAS_OK);
    for (uint32_t k = 0; k < background->n_modifiers; k++) {
        const struct hf_modifier *m = &background->modifiers[k];
        if (m->type == HF_NORMSYS) assert_int_equal(m->code, PARITAS_NORMSYS_CODE_2C);
        if (m->type == HF_HISTOSYS) assert_int_equal(m->code, PARITAS_HISTOSYS_CODE_0);
    }
    hf_spec_free(spec);
    assert_int_equal(ledger.live, 0);
}

static void refuses_factors(const char *old, const char *new, const char *message)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, swapped(small, old, new));
    const struct paritas_workspace workspace = {.label = "text"};
    assert_int_equal(
        hf_codes_settle(&context, &workspace, spec, PARITAS_NORMSYS_CODE_DEFAULT, PARITAS_HISTOSYS_CODE_1),
        PARITAS_INVALID_INPUT);
    assert_non_null(strstr(context.message, message));
    hf_spec_free(spec);
    assert_int_equal(ledger.live, 0);
}

TEST(a_factor_of_a_bin_asks_for_rates_above_zero)
{
    refuses_factors("[18.0, 29.0]", "[18.0, 0]",
                    B ".modifiers[1].data.lo_data[1]: a histosys of code 1, 5 or 6 multiplies the rate of a "
                      "bin, which asks for a number greater than 0, found 0.0");
    refuses_factors("[20.0, 30.0]", "[20.0, -1]", B ".data[1]: a histosys of code 1, 5 or 6");
}

TEST(a_document_of_the_wrong_shape_is_refused_with_its_place)
{
    static const struct {
        const char *old, *new, *message;
    } cases[] = {
        {"\"version\": \"1.0.0\"", "\"version\": 1", "version: must be \"1.0.0\", found 1"},
        {", \"version\": \"1.0.0\"", "", "version: is missing"},
        {"{\"channels\"", "{\"colour\": 1, \"channels\"", "unknown key \"colour\""},
        {"\"name\": \"SR\", \"samples\"", "\"nam\": \"SR\", \"samples\"", "channels[0]: unknown key \"nam\""},
        {"\"name\": \"CR\", \"samples\"", "\"name\": \"SR\", \"samples\"",
         "channels[1]: the name \"SR\" is also that of channels[0]"},
        {"\"name\": \"background\"", "\"name\": \"signal\"",
         B ": the name \"signal\" is also that of samples[0]"},
        {"[20.0, 30.0]", "[20.0, true]", B ".data[1]: must be a number, found true"},
        {"[20.0, 30.0]", "[20.0, \"30\"]", B ".data[1]: must be a number, found \"30\""},
        {"[20.0, 30.0]", "[]", B ".data: must not be empty"},
        {"[20.0, 30.0]", "{}", B ".data: must be an array, found an object"},
        {"\"type\": \"histosys\"", "\"type\": \"histo\"",
         B ".modifiers[1].type: unknown modifier type \"histo\""},
        {"\"type\": \"histosys\"", "\"type\": null", B ".modifiers[1].type: must be a string, found null"},
        {", \"data\": {\"hi\": 1.1, \"lo\": 0.9}", "", B ".modifiers[0].data: is missing"},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "null", B ".modifiers[0].data: must be an object, found null"},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "{\"hi\": 1.1}", B ".modifiers[0].data.lo: is missing"},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "{\"hi\": [1.1], \"lo\": 0.9}",
         B ".modifiers[0].data.hi: must be a number, found an array"},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "{\"hi\": 1.1, \"lo\": 0.9, \"mid\": 1}",
         B ".modifiers[0].data: unknown key \"mid\""},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "{\"hi\": 1.1, \"lo\": 0.9, \"interpcode\": 4}",
         B ".modifiers[0].data.interpcode: must be a string, found 4"},
        {"{\"hi\": 1.1, \"lo\": 0.9}", "{\"hi\": 1.1, \"lo\": 0.9, \"interpcode\": \"code4p\"}",
         B ".modifiers[0].data.interpcode: unknown interpolation \"code4p\" of a normsys, only code1, code4, "
           "code0, code2c, code6, lnN"},
        {"\"hi_data\": [22.0, 31.0], ", "\"interpcode\": \"4p\", \"hi_data\": [22.0, 31.0], ",
         B ".modifiers[1].data.interpcode: unknown interpolation \"4p\" of a histosys, only code0, code2, "
           "code4p, code1, code2c, code5, code6"},
        {"\"hi_data\": [22.0, 31.0], ", "", B ".modifiers[1].data.hi_data: is missing"},
        {"[18.0, 29.0]", "[18.0, null]", B ".modifiers[1].data.lo_data[1]: must be a number, found null"},
        {"[1.0, 1.5]", "null", B ".modifiers[2].data: must be an array, found null"},
        {"\"type\": \"normfactor\", \"data\": null", "\"type\": \"normfactor\", \"data\": []",
         "channels[0].samples[0].modifiers[0].data: must be null, found an array"},
        {"\"name\": \"lumi\", \"type\"", "\"name\": \"Lumi\", \"type\"",
         "channels[0].samples[0].modifiers[1].name: a modifier of type lumi must be named \"lumi\", found "
         "\"Lumi\""},
        {"\"name\": \"shape\", \"type\": \"histosys\", \"data\": {\"hi_data\": [22.0, 31.0], \"lo_data\": "
         "[18.0, 29.0]}",
         "\"name\": \"scale\", \"type\": \"normsys\", \"data\": {\"hi\": 1, \"lo\": 1}",
         B ".modifiers[1]: the normsys \"scale\" is given twice in this sample, first as modifiers[0]"},
        {"\"observations\": [", "\"observations\": [{\"name\": \"CR\", \"data\": [1]}, ",
         "observations[2]: the name \"CR\" is also that of observations[0]"},
        {"[22.0, 35.0]", "[]", "observations[0].data: must not be empty"},
        {"\"measurements\": [", "\"measurements\": [3, ", "measurements[0]: must be an object, found 3"},
        {"\"poi\": \"mu\", ", "", "measurements[0].config.poi: is missing"},
        {"\"poi\": \"mu\"", "\"poi\": null", "measurements[0].config.poi: must be a string, found null"},
        {LUMI, LUMI ", " LUMI, P "[1]: the parameter \"lumi\" is configured twice, first in parameters[0]"},
        {"[[0.5, 1.5]]", "[0.5, 1.5]", P "[0].bounds[0]: must be a pair [lower, upper], found 0.5"},
        {"[[0.5, 1.5]]", "[[0.5, 1.5, 2]]",
         P "[0].bounds[0]: must be a pair [lower, upper], found an array of 3"},
        {"[[0.5, 1.5]]", "[[0.5, \"x\"]]", P "[0].bounds[0][1]: must be a number, found \"x\""},
        {"\"inits\": [1.0]", "\"inits\": []", P "[0].inits: must not be empty"},
        {"\"inits\": [1.0]", "\"inits\": [1.0], \"fixed\": 1", P "[0].fixed: must be true or false, found 1"},
    };
    refuses("[]", "must be an object, found an array");
    for (size_t i = 0; i < COUNT(cases); i++)
        refuses(swapped(small, cases[i].old, cases[i].new), cases[i].message);
}

/* tau is 1 / width^2 where the other law has the width. */
TEST(a_measurement_chooses_the_law_of_factors_of_bins)
{
    static const char laws[] = ", {\"name\": \"unc\", \"constraint\": {\"type\": \"gaussian\"}}, "
                               "{\"name\": \"stat\", \"constraint\": {\"type\": \"poisson\"}}";
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    char with[512];
    snprintf(with, sizeof with, "%s%s", LUMI, laws);
    struct hf_spec *own = read_text(&context, small),
                   *other = read_text(&context, swapped(small, LUMI, with));
    const struct hf_set *unc = set_of(own, "unc"), *stat = set_of(own, "stat"), *unc2 = set_of(other, "unc"),
                        *stat2 = set_of(other, "stat");
    assert_null(unc2->tau);
    assert_null(stat2->sigma);
    for (uint32_t i = 0; i < unc->size; i++) {
        assert_int_equal(unc->fixed[i], unc2->fixed[i]);
        assert_true(fabs(unc2->sigma[i] * unc2->sigma[i] * unc->tau[i] - 1.0) < 1e-15);
        assert_true(unc2->aux[i] == 1.0);
    }
    for (uint32_t i = 0; i < stat->size; i++) {
        assert_int_equal(stat->fixed[i], stat2->fixed[i]);
        assert_true(fabs(stat->sigma[i] * stat->sigma[i] * stat2->tau[i] - 1.0) < 1e-15);
        assert_true(stat2->aux[i] == stat2->tau[i]);
    }
    assert_int_equal(unc2->constraint, HF_GAUSSIAN);
    assert_int_equal(stat2->constraint, HF_POISSON);
    hf_spec_free(own);
    hf_spec_free(other);
    assert_int_equal(ledger.live, 0);
}

TEST(a_document_of_the_wrong_meaning_is_refused_with_its_place)
{
    static const struct {
        const char *old, *new, *message;
    } cases[] = {
        {"[20.0, 30.0]", "[20.0]", B ".data: must have 2 bins, as the channel's first sample, found 1"},
        {"\"hi\": 1.1", "\"hi\": -1e-9",
         B ".modifiers[0].data.hi: must be a number of at least 0, found -1e-09"},
        {"\"lo\": 0.9", "\"lo\": -0.5",
         B ".modifiers[0].data.lo: must be a number of at least 0, found -0.5"},
        {"[22.0, 31.0]", "[22.0]", B ".modifiers[1].data.hi_data: must have 2 bins, as its sample, found 1"},
        {"[18.0, 29.0]", "[18.0, 29.0, 1]",
         B ".modifiers[1].data.lo_data: must have 2 bins, as its sample, found 3"},
        {"[1.0, 1.5]", "[1.0]", B ".modifiers[2].data: must have 2 bins, as its sample, found 1"},
        {"[5.0, 6.0, 0.0]", "[5.0, 6.0, 0.0, 1]",
         "channels[1].samples[0].modifiers[0].data: must have 3 bins, as its sample, found 4"},
        {"[5.0, 6.0, 0.0]", "[1e-200, 6.0, 0.0]",
         "channels[1].samples[0].modifiers[0].data[0]: tau = (rate / uncertainty)^2 is out of range for an "
         "uncertainty of 1e-200 on a rate "
         "of 100.0"},
        {"[1.0, 1.5]", "[1e200, 1.5]",
         B ".modifiers[2].data[0]: the relative uncertainty is out of range for an uncertainty of 1e+200 on "
           "a rate of 20.0"},
        {"\"name\": \"shape\"", "\"name\": \"mu\"",
         B ".modifiers[1]: the name \"mu\" of this histosys is also that of the normfactor "
           "channels[0].samples[0].modifiers[0]; only "
           "normsys and histosys may share one"},
        {"\"name\": \"stat\", \"type\": \"staterror\"", "\"name\": \"unc\", \"type\": \"shapesys\"",
         "channels[1].samples[0].modifiers[0]: the name \"unc\" of this shapesys is also that of the "
         "shapesys "
         "channels[0].samples[1].modifiers[2]; a shapesys cannot be "
         "shared"},
        {"{\"name\": \"SR\", \"data\": [22.0, 35.0]}, ", "",
         "observations: none for the channel \"SR\" (channels[0])"},
        {"[22.0, 35.0]", "[22.0]", "observations[0].data: must have 2 bins, as the channel \"SR\", found 1"},
        {"[22.0, 35.0]", "[22.0, -1e-9]", "observations[0].data[1]: must not be negative, found -1e-09"},
        {LUMI, "",
         P ": the model has a lumi modifier, so \"lumi\" must be configured with inits, bounds, auxdata and "
           "sigmas"},
        {", \"sigmas\": [0.02]", "", P "[0]: \"lumi\" has no defaults, and its sigmas are missing"},
        {"[0.02]", "[0]", P "[0].sigmas[0]: must be greater than 0, found 0.0"},
        {"\"auxdata\": [1.0]", "\"auxdata\": [1.0, 1.0]",
         P "[0].auxdata: the parameter \"lumi\" takes 1, found 2"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"inits\": [20]}",
         P "[1].inits[0]: the initial value 20.0 lies outside of the bounds [0.0, 10.0]"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"bounds\": [[2, 3]]}",
         P "[1].bounds[0]: the initial value 1.0 lies outside of the bounds [2.0, 3.0]"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"bounds\": [[10, 0]]}",
         P "[1].bounds[0]: the lower bound lies above the upper one: 10.0"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"auxdata\": [1]}",
         P "[1].auxdata: this kind of parameter has no such attribute"},
        {LUMI, LUMI ", {\"name\": \"scale\", \"sigmas\": [1]}",
         P "[1].sigmas: this kind of parameter has no such attribute"},
        {LUMI, LUMI ", {\"name\": \"stat\", \"factors\": [1, 1]}",
         P "[1].factors: this kind of parameter has no such attribute"},
        {LUMI, LUMI ", {\"name\": \"unc\", \"factors\": [1, 0, 1]}",
         P "[1].factors[1]: must be greater than 0, found 0.0"},
        {LUMI, LUMI ", {\"name\": \"unc\", \"auxdata\": [1, -1, 1]}",
         P "[1].auxdata[1]: must not be negative, found -1.0"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"gamma\"}}",
         P "[1].constraint.type: must be \"none\", \"gaussian\", \"poisson\", \"lognormal\" or "
           "\"bifurcated\", found \"gamma\""},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"poisson\", \"slope\": 0}}",
         P "[1].constraint.slope: must be greater than 0, found 0"},
        {LUMI, LUMI ", {\"name\": \"scale\", \"constraint\": {\"type\": \"gaussian\", \"offset\": 1}}",
         P "[1].constraint: only \"poisson\", \"lognormal\" and \"bifurcated\" have an offset and a slope"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"bifurcated\"}}",
         P "[1].constraint: its ratio is missing: the width above over the width below"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"poisson\", \"ratio\": 2}}",
         P "[1].constraint.ratio: only \"bifurcated\" has a ratio, found 2"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"bifurcated\", \"ratio\": -1}}",
         P "[1].constraint.ratio: must be greater than 0, found -1"},
        {LUMI, LUMI ", {\"name\": \"stat\", \"constraint\": {\"type\": \"lognormal\"}}",
         P "[1].constraint: its widths come from rates, so it is \"none\", \"gaussian\" or \"poisson\", "
           "without "
           "offset and slope"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"gaussian\"}, \"auxdata\": [1]}",
         P "[1].constraint: such a constraint has no defaults: missing are its sigmas"},
        {LUMI, LUMI ", {\"name\": \"mu\", \"constraint\": {\"type\": \"poisson\"}, \"auxdata\": [1]}",
         P "[1].constraint: such a constraint has no defaults: missing are its factors"},
        {LUMI,
         LUMI ", {\"name\": \"scale\", \"constraint\": {\"type\": \"lognormal\"}, \"auxdata\": [0], "
              "\"sigmas\": [1]}",
         P "[1].constraint: offset + slope * parameter must be positive: the parameter lies above 0.0, but "
           "its initial "
           "value is 0.0"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        refuses(swapped(small, cases[i].old, cases[i].new), cases[i].message);
    refuses("{\"channels\": [{\"name\": \"a\", \"samples\": [{\"name\": \"b\", \"data\": [1], \"modifiers\": "
            "[]}]}], \"observations\": "
            "[{\"name\": \"a\", \"data\": [1]}], "
            "\"measurements\": [{\"name\": \"m\", \"config\": {\"poi\": \"\", \"parameters\": []}}], "
            "\"version\": \"1.0.0\"}",
            "channels: no sample has a modifier, so the model has no parameter");
}

TEST(a_shapefactor_serves_channels_no_longer_than_its_first)
{
    const char *shared =
        "{\"name\": \"free\", \"type\": \"shapefactor\", \"data\": null}, {\"name\": \"stat\"";
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct hf_spec *spec = read_text(&context, swapped(small, "{\"name\": \"stat\"", shared));
    assert_int_equal(set_of(spec, "free")->size, 3);
    hf_spec_free(spec);
    char text[8192];
    snprintf(text, sizeof text, "%s", swapped(small, "{\"name\": \"stat\"", shared));
    snprintf(text, sizeof text, "%s",
             swapped(text, "\"name\": \"SR\", \"samples\"", "\"name\": \"AR\", \"samples\""));
    refuses(swapped(text, "\"name\": \"SR\", \"data\"", "\"name\": \"AR\", \"data\""),
            "channels[1].samples[0].modifiers[1]: the shapefactor \"free\" has 2 parameters, from the first "
            "channel by name that uses it, "
            "and cannot serve the 3 bins of this one");
}

/* A workspace of n normsyses in the order of i * 7919 mod n; freed by the caller. */
static struct text chain(const paritas_allocator *allocator, unsigned n)
{
    struct text text;
    text_open(&text, allocator);
    text_format(
        &text,
        "{\"channels\": [{\"name\": \"c\", \"samples\": [{\"name\": \"s\", \"data\": [1], \"modifiers\": [");
    for (unsigned i = 0; i < n; i++)
        text_format(&text,
                    "%s{\"name\": \"alpha_%u\", \"type\": \"normsys\", \"data\": {\"hi\": 1.1, \"lo\": 0.9}}",
                    i != 0 ? ", " : "", i * 7919 % n);
    text_format(&text, "]}]}], \"observations\": [{\"name\": \"c\", \"data\": [1]}], \"measurements\": "
                       "[{\"name\": \"m\", \"config\": "
                       "{\"poi\": \"alpha_0\", "
                       "\"parameters\": []}}], \"version\": \"1.0.0\"}");
    text_append(&text, "", 1);
    return text;
}

TEST(many_names_keep_their_order)
{
    struct ledger ledger;
    paritas_context context = make_context(&ledger);
    struct text text = chain(&context.allocator, 1000);
    assert_false(text.failed);
    struct hf_spec *spec = read_text(&context, text.bytes);
    assert_int_equal(spec->n_parameters, 1000);
    for (uint32_t i = 1; i < spec->n_sets; i++)
        assert_true(strcmp(spec->sets[i - 1].name, spec->sets[i].name) < 0);
    hf_spec_free(spec);
    text_free(&text);
    assert_int_equal(ledger.live, 0);
}

static const char *subject; /* the text that read_subject reads */

static paritas_status read_subject(paritas_context *context)
{
    struct paritas_workspace *document;
    struct hf_spec *spec;
    paritas_status status = json_read(context, subject, strlen(subject), "test.json", &document);
    if (status != PARITAS_OK) return status;
    status = hf_spec_read(context, document, NULL, NULL, &spec);
    hf_spec_free(spec);
    paritas_workspace_free(document);
    return status;
}

TEST(an_allocation_that_fails_anywhere_is_an_error)
{
    subject = small;
    check_every_failure(read_subject);
    subject = wide;
    check_every_failure(read_subject);
    /* an arena asks for memory where a block is full: documents of many sizes move that place through the
     * reader */
    for (unsigned n = 1; n < 160; n++) {
        struct ledger ledger;
        paritas_context context = make_context(&ledger);
        struct text text = chain(&context.allocator, n);
        subject = text.bytes;
        check_every_failure(read_subject);
        text_free(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sets_stand_in_the_order_of_types_then_of_first_appearance),
        cmocka_unit_test(channels_samples_and_modifiers_are_sorted_and_observations_follow),
        cmocka_unit_test(defaults_are_those_of_each_type),
        cmocka_unit_test(tau_is_the_squared_ratio_and_dead_bins_are_constants),
        cmocka_unit_test(a_staterror_over_channels_sums_over_its_samples),
        cmocka_unit_test(a_staterror_must_have_the_same_samples_in_all_its_channels),
        cmocka_unit_test(a_name_shared_by_normsys_and_histosys_is_one_parameter_in_the_place_of_the_histosys),
        cmocka_unit_test(a_measurement_overrides_what_its_sets_have),
        cmocka_unit_test(measurements_and_points_of_interest_are_found_by_name),
        cmocka_unit_test(leftovers_are_accepted),
        cmocka_unit_test(a_modifier_has_its_own_code_or_the_models),
        cmocka_unit_test(a_factor_of_a_bin_asks_for_rates_above_zero),
        cmocka_unit_test(a_document_of_the_wrong_shape_is_refused_with_its_place),
        cmocka_unit_test(a_measurement_chooses_the_law_of_factors_of_bins),
        cmocka_unit_test(a_document_of_the_wrong_meaning_is_refused_with_its_place),
        cmocka_unit_test(a_shapefactor_serves_channels_no_longer_than_its_first),
        cmocka_unit_test(many_names_keep_their_order),
        cmocka_unit_test(an_allocation_that_fails_anywhere_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
