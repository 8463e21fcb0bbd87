/* documents.c: the reader and the operations as a program, for the comparison with pyhf (test_pyhf.py).
 *
 *   documents spec FILE...                        what was read, a line of JSON a file
 *   documents sort FILE
 *   documents inspect FILE
 *   documents prune FILE (KIND NAME)...           KIND: channel sample modifier type measurement
 *   documents rename FILE (KIND OLD NEW)...       KIND: channel sample modifier measurement
 *   documents combine LEFT RIGHT JOIN (merge)
 *   documents apply WORKSPACE PATCHSET NAME
 *
 * A refusal is a line {"error": message}. Numbers round-trip. */
#include "base/json/json.h"
#include "histfactory/workspace/workspace_spec.h"

#include <stdio.h>
#include <string.h>

#define MOST 64

/* ---- the spec as JSON ---- */

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
    text_quoted(text, bytes, strlen(bytes));
}

static void print_set(struct text *text, const struct hf_set *set)
{
    static const char *const constraints[] = {"none", "normal", "poisson"};
    text_append(text, "{\"name\": ", 9);
    quoted(text, set->name);
    text_format(text, ", \"size\": %lu, \"first\": %lu, \"scalar\": %s, \"constraint\": \"%s\", ",
                (unsigned long)set->size, (unsigned long)set->first, set->scalar ? "true" : "false",
                constraints[set->constraint]);
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
    for (uint32_t k = 0; k < set->size; k++)
        text_format(text, "%s%s", k != 0 ? ", " : "", set->fixed[k] ? "true" : "false");
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
            if (modifier->uncertainty != NULL)
                numbers(text, "uncertainty", modifier->uncertainty, channel->n_bins);
            if (modifier->type == HF_NORMSYS) {
                numbers(text, "hi", &modifier->hi, 1);
                numbers(text, "lo", &modifier->lo, 1);
            }
            text_format(text, "\"type\": %d, \"set\": %lu, \"first\": %lu}", (int)modifier->type,
                        (unsigned long)modifier->set, (unsigned long)modifier->first);
        }
        text_append(text, "]}", 2);
    }
    text_append(text, "]}", 2);
}

static void print_spec(struct text *text, const struct hf_spec *spec)
{
    text_format(text, "{\"parameters\": %lu, \"main\": %lu, \"aux\": %lu, \"poi\": %ld, \"sets\": [",
                (unsigned long)spec->n_parameters, (unsigned long)spec->n_main, (unsigned long)spec->n_aux,
                (long)spec->poi);
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

/* ---- commands ---- */

static void print_error(struct text *text, const paritas_context *context)
{
    text_append(text, "{\"error\": ", 10);
    quoted(text, paritas_error_message(context));
    text_append(text, "}", 1);
}

static int print_and_free(struct text *text)
{
    printf("%.*s\n", (int)text->length, text->bytes);
    bool failed = text->failed;
    text_free(text);
    return failed;
}

static int specs(paritas_context *context, int n, char **files)
{
    int bad = 0;
    for (int i = 0; i < n; i++) {
        paritas_workspace *workspace = NULL;
        struct hf_spec *spec = NULL;
        struct text text;
        text_open(&text, &context->allocator);
        paritas_status status = paritas_workspace_read(context, files[i], &workspace);
        if (status == PARITAS_OK) status = hf_spec_read(context, workspace, NULL, NULL, &spec);
        if (status == PARITAS_OK)
            print_spec(&text, spec);
        else
            print_error(&text, context);
        bad |= print_and_free(&text);
        hf_spec_free(spec);
        paritas_workspace_free(workspace);
    }
    return bad;
}

/* Names of one kind, gathered from arguments (KIND and `step` names) that come in any order. */
struct gathered {
    const char *items[MOST];
    paritas_names list;
};

static paritas_names gather(struct gathered *gathered, const char *kind, int n, char *const *arguments,
                            int step)
{
    size_t count = 0;
    for (int i = 0; i + step < n; i += step + 1)
        for (int k = 1; strcmp(arguments[i], kind) == 0 && k <= step && count < MOST; k++)
            gathered->items[count++] = arguments[i + k];
    gathered->list = (paritas_names){gathered->items, count};
    return gathered->list;
}

static paritas_status operate(paritas_context *context, const char *command, const paritas_workspace *first,
                              const paritas_workspace *second, int n, char **arguments,
                              paritas_workspace **out)
{
    struct gathered channels, samples, modifiers, types, measurements;
    if (strcmp(command, "sort") == 0) return paritas_workspace_sort(context, first, out);
    if (strcmp(command, "inspect") == 0) return paritas_workspace_inspect(context, first, out);
    if (strcmp(command, "prune") == 0) {
        const paritas_prune_options prune = {sizeof prune,
                                             gather(&channels, "channel", n, arguments, 1),
                                             gather(&samples, "sample", n, arguments, 1),
                                             gather(&modifiers, "modifier", n, arguments, 1),
                                             gather(&types, "type", n, arguments, 1),
                                             gather(&measurements, "measurement", n, arguments, 1)};
        return paritas_workspace_prune(context, first, &prune, out);
    }
    if (strcmp(command, "rename") == 0) {
        const paritas_rename_options rename = {sizeof rename, gather(&channels, "channel", n, arguments, 2),
                                               gather(&samples, "sample", n, arguments, 2),
                                               gather(&modifiers, "modifier", n, arguments, 2),
                                               gather(&measurements, "measurement", n, arguments, 2)};
        return paritas_workspace_rename(context, first, &rename, out);
    }
    if (strcmp(command, "apply") == 0 && n == 1)
        return paritas_patchset_apply(context, first, second, arguments[0], out);
    if (strcmp(command, "combine") == 0 && n > 0)
        return paritas_workspace_combine(context, first, second, arguments[0], n > 1, out);
    return paritas_fail(context, PARITAS_INVALID_ARGUMENT, "no such command: %s", command);
}

static int operation(paritas_context *context, const char *command, int n, char **arguments)
{
    int files = strcmp(command, "combine") == 0 || strcmp(command, "apply") == 0 ? 2 : 1;
    paritas_workspace *first = NULL, *second = NULL, *out = NULL;
    struct text text;
    text_open(&text, &context->allocator);
    paritas_status status =
        n < files ? PARITAS_INVALID_ARGUMENT : paritas_workspace_read(context, arguments[0], &first);
    if (status == PARITAS_OK && files == 2) status = paritas_workspace_read(context, arguments[1], &second);
    if (status == PARITAS_OK)
        status = operate(context, command, first, second, n - files, arguments + files, &out);
    if (status == PARITAS_OK)
        json_write(&text, out->root, 0, false);
    else
        print_error(&text, context);
    paritas_workspace_free(first);
    paritas_workspace_free(second);
    paritas_workspace_free(out);
    return print_and_free(&text);
}

int main(int argc, char **argv)
{
    paritas_context *context = NULL;
    if (argc < 3 || paritas_open(NULL, &context) != PARITAS_OK) return 2;
    int bad = strcmp(argv[1], "spec") == 0 ? specs(context, argc - 2, argv + 2)
                                           : operation(context, argv[1], argc - 2, argv + 2);
    paritas_close(context);
    return bad;
}
