/* print_spec.c: prints the spec of each workspace named on the command line as one line of JSON, for compare_spec.py. A refusal is a line
 * {"error": message}. Numbers round-trip. */
#include "base/json.h"
#include "histfactory/spec.h"

#include <stdio.h>

static void numbers(struct text *text, const char *key, const double *values, size_t n)
{
    text_format(text, "\"%s\": [", key);
    for (size_t i = 0; i < n; i++) {
        if (i != 0) text_append(text, ", ", 2);
        text_number(text, values[i]);
    }
    text_append(text, "], ", 3);
}

static void quoted(struct text *text, const char *bytes)
{
    size_t length = 0;
    while (bytes[length] != '\0') length++;
    text_quoted(text, bytes, length);
}

static void print_set(struct text *text, const struct hf_set *set)
{
    static const char *const constraints[] = {"none", "normal", "poisson"};
    text_append(text, "{\"name\": ", 9);
    quoted(text, set->name);
    text_format(text, ", \"size\": %lu, \"first\": %lu, \"scalar\": %s, \"constraint\": \"%s\", ", (unsigned long)set->size,
                (unsigned long)set->first, set->scalar ? "true" : "false", constraints[set->constraint]);
    numbers(text, "init", set->init, set->size);
    numbers(text, "lower", set->lower, set->size);
    numbers(text, "upper", set->upper, set->size);
    if (set->aux != NULL) {
        text_format(text, "\"first_aux\": %lu, ", (unsigned long)set->first_aux);
        numbers(text, "aux", set->aux, set->size);
    }
    if (set->sigma != NULL) numbers(text, "sigma", set->sigma, set->size);
    if (set->tau != NULL) numbers(text, "tau", set->tau, set->size);
    text_append(text, "\"fixed\": [", 10);
    for (uint32_t k = 0; k < set->size; k++) text_format(text, "%s%s", k != 0 ? ", " : "", set->fixed[k] ? "true" : "false");
    text_append(text, "]}", 2);
}

static void print_channel(struct text *text, const struct hf_channel *channel)
{
    text_append(text, "{\"name\": ", 9);
    quoted(text, channel->name);
    text_format(text, ", \"first_bin\": %lu, ", (unsigned long)channel->first_bin);
    numbers(text, "observed", channel->observed, channel->n_bins);
    text_append(text, "\"samples\": [", 12);
    for (uint32_t s = 0; s < channel->n_samples; s++) {
        const struct hf_sample *sample = &channel->samples[s];
        text_format(text, "%s{\"name\": ", s != 0 ? ", " : "");
        quoted(text, sample->name);
        text_append(text, ", ", 2);
        numbers(text, "data", sample->data, channel->n_bins);
        text_append(text, "\"modifiers\": [", 14);
        for (uint32_t m = 0; m < sample->n_modifiers; m++) {
            const struct hf_modifier *modifier = &sample->modifiers[m];
            text_format(text, "%s{", m != 0 ? ", " : "");
            if (modifier->hi_data != NULL) {
                numbers(text, "hi_data", modifier->hi_data, channel->n_bins);
                numbers(text, "lo_data", modifier->lo_data, channel->n_bins);
            }
            if (modifier->uncertainty != NULL) numbers(text, "uncertainty", modifier->uncertainty, channel->n_bins);
            if (modifier->type == HF_NORMSYS) {
                numbers(text, "hi", &modifier->hi, 1);
                numbers(text, "lo", &modifier->lo, 1);
            }
            text_format(text, "\"type\": %d, \"set\": %lu, \"first\": %lu}", (int)modifier->type, (unsigned long)modifier->set,
                        (unsigned long)modifier->first);
        }
        text_append(text, "]}", 2);
    }
    text_append(text, "]}", 2);
}

static void print_spec(struct text *text, const struct hf_spec *spec)
{
    text_format(text, "{\"parameters\": %lu, \"main\": %lu, \"aux\": %lu, \"poi\": %ld, \"sets\": [", (unsigned long)spec->n_parameters,
                (unsigned long)spec->n_main, (unsigned long)spec->n_aux, (long)spec->poi);
    for (uint32_t i = 0; i < spec->n_sets; i++) {
        if (i != 0) text_append(text, ", ", 2);
        print_set(text, &spec->sets[i]);
    }
    text_append(text, "], \"channels\": [", 16);
    for (uint32_t c = 0; c < spec->n_channels; c++) {
        if (c != 0) text_append(text, ", ", 2);
        print_channel(text, &spec->channels[c]);
    }
    text_append(text, "]}", 2);
}

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    if (paritas_open(NULL, &context) != PARITAS_OK) return 1;
    for (int i = 1; i < argc; i++) {
        paritas_workspace *workspace = NULL;
        struct hf_spec *spec = NULL;
        struct text text;
        text_open(&text, &context->allocator);
        paritas_status status = paritas_workspace_read(context, argv[i], &workspace);
        if (status == PARITAS_OK) status = hf_spec_read(context, workspace, NULL, NULL, &spec);
        if (status == PARITAS_OK) {
            print_spec(&text, spec);
        } else {
            text_append(&text, "{\"error\": ", 10);
            quoted(&text, paritas_error_message(context));
            text_append(&text, "}", 1);
        }
        printf("%.*s\n", (int)text.length, text.bytes);
        text_free(&text);
        hf_spec_free(spec);
        paritas_workspace_free(workspace);
    }
    paritas_close(context);
    return 0;
}
