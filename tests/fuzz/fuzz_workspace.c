/* fuzz_workspace.c: an input is a document, taken as a workspace. It is refused with a message that names the
 * file, or what comes out keeps the promises of spec.h, sorting changes nothing that a model sees, the other
 * operations answer, and small models are frozen and evaluated where they would start. */
#include "fuzzing.h"
#include "histfactory/workspace/workspace_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool finite(double value)
{
    return value - value == 0.0;
}

static void check_set(const struct hf_set *set)
{
    check(set->name != NULL && set->size != 0 && (!set->scalar || set->size == 1));
    for (uint32_t k = 0; k < set->size; k++) {
        check(set->lower[k] <= set->upper[k] && set->init[k] >= set->lower[k] &&
              set->init[k] <= set->upper[k]);
        check(set->fixed[k] <= 1);
        check((set->constraint == HF_UNCONSTRAINED) == (set->aux == NULL));
        check((hf_law(set)->datum == HF_MEASUREMENT) == (set->sigma != NULL) &&
              (hf_law(set)->datum == HF_COUNT) == (set->tau != NULL));
        if (set->aux != NULL) check(finite(set->aux[k]));
        if (set->sigma != NULL) check(finite(set->sigma[k]) && set->sigma[k] > 0.0);
        if (set->tau != NULL) check(finite(set->tau[k]) && set->tau[k] > 0.0 && set->aux[k] >= 0.0);
    }
}

static void check_sample(const struct hf_spec *spec, const struct hf_channel *channel,
                         const struct hf_sample *sample)
{
    for (uint32_t m = 0; m < sample->n_modifiers; m++) {
        const struct hf_modifier *modifier = &sample->modifiers[m];
        check(modifier->set < spec->n_sets);
        const struct hf_set *set = &spec->sets[modifier->set];
        if (!set->scalar) check(modifier->first + channel->n_bins <= set->size);
        if (modifier->type == HF_NORMSYS) check(modifier->hi > 0.0 && modifier->lo > 0.0);
        for (uint32_t b = 0; b < channel->n_bins; b++) {
            if (modifier->type == HF_HISTOSYS)
                check(finite(modifier->hi_data[b]) && finite(modifier->lo_data[b]));
            if (modifier->type == HF_STATERROR || modifier->type == HF_SHAPESYS)
                check(finite(modifier->uncertainty[b]));
            if (modifier->type == HF_MCSTAT)
                check(finite(modifier->uncertainty[b]) && modifier->uncertainty[b] >= 0.0);
        }
    }
}

static void check_spec(const struct hf_spec *spec)
{
    uint32_t parameters = 0, aux = 0, bins = 0;
    for (uint32_t i = 0; i < spec->n_sets; i++) {
        check_set(&spec->sets[i]);
        check(spec->sets[i].first == parameters);
        parameters += spec->sets[i].size;
        aux += spec->sets[i].aux != NULL ? spec->sets[i].size : 0;
    }
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        const struct hf_channel *channel = &spec->channels[c];
        check(c == 0 || strcmp(spec->channels[c - 1].name, channel->name) < 0);
        check(channel->first_bin == bins);
        bins += channel->n_bins;
        for (uint32_t b = 0; b < channel->n_bins; b++) check(channel->observed[b] >= 0.0);
        for (uint32_t s = 0; s < channel->n_samples; s++) {
            check(s == 0 || strcmp(channel->samples[s - 1].name, channel->samples[s].name) < 0);
            check_sample(spec, channel, &channel->samples[s]);
        }
    }
    check(parameters != 0 && parameters == spec->n_parameters && aux == spec->n_aux && bins == spec->n_main);
    check(spec->poi >= -1 && spec->poi < (int32_t)parameters && (spec->poi >= 0) == (spec->poi_name != NULL));
}

/* The first measurement of a sorted file may be another one: it is asked for by name. */
static void check_sorted(paritas_context *context, const paritas_workspace *document,
                         const struct hf_spec *spec)
{
    paritas_workspace *sorted, *seen;
    struct hf_spec *again;
    check(paritas_workspace_sort(context, document, &sorted) == PARITAS_OK);
    const char *measurement = json_get(json_at(json_get(document->root, "measurements"), 0), "name")->text;
    check(hf_spec_read(context, sorted, measurement, NULL, &again) == PARITAS_OK);
    check(again->n_sets == spec->n_sets && again->n_parameters == spec->n_parameters &&
          again->poi == spec->poi);
    for (uint32_t i = 0; i < spec->n_sets; i++) {
        check(strcmp(spec->sets[i].name, again->sets[i].name) == 0);
        check(memcmp(spec->sets[i].init, again->sets[i].init, spec->sets[i].size * sizeof(double)) == 0);
    }
    check(paritas_workspace_inspect(context, document, &seen) == PARITAS_OK);
    paritas_workspace_free(seen);
    paritas_workspace_free(sorted);
    hf_spec_free(again);
}

/* Kernels run as they are, not under the fuzzer's eyes: models that would take them long are left out. The
 * value is a number or, outside the model's domain, NaN. */
static void check_model(const paritas_workspace *document)
{
    enum { PARAMETERS = 24, DATA = 256 };
    static double hessian[PARAMETERS * PARAMETERS], gradient[PARAMETERS], expected[DATA];
    static paritas_context *context; /* opened once, kept to the end */
    if (context == NULL) {
        paritas_options options = PARITAS_OPTIONS_DEFAULT;
        options.threads = 1;
        check(paritas_open(&options, &context) == PARITAS_OK);
    }
    paritas_model *model;
    double value;
    check(paritas_model_create(context, document, NULL, &model) == PARITAS_OK);
    if (paritas_model_parameter_count(model) <= PARAMETERS &&
        paritas_model_main_count(model) + paritas_model_aux_count(model) <= DATA) {
        const double *point = paritas_model_suggested_init(model);
        const paritas_evaluate_answers answers = {
            .size = sizeof answers, .twice_nll = &value, .gradient = gradient, .hessian = hessian};
        check(paritas_evaluate(context, model, 1, point, 0, NULL, &answers) == PARITAS_OK);
        check(paritas_expected_data(context, model, 1, point, expected) == PARITAS_OK);
    }
    paritas_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paritas_context context = fuzz_context();
    paritas_workspace *document;
    struct hf_spec *spec;
    if (paritas_workspace_parse(&context, (const char *)data, size, "fuzz", &document)) return 0;
    paritas_status status = hf_spec_read(&context, document, NULL, NULL, &spec);
    if (status == PARITAS_OK) {
        check_spec(spec);
        check_sorted(&context, document, spec);
        check_model(document);
    } else {
        check(status == PARITAS_INVALID_INPUT && strncmp(context.message, "fuzz: ", 6) == 0);
    }
    hf_spec_free(spec);
    paritas_workspace_free(document);
    return 0;
}
