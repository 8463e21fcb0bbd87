/* freeze_functions.c: factors that are functions of parameters: records, words, where they act.
 *
 * A function has a dense slot. Its arguments act wherever it acts: their blocks belong to those channels. */
#include "histfactory/freeze.h"

#include <string.h>

static hf_functions_record *record_of(const struct freezer *f)
{
    return (hf_functions_record *)(f->ints.at + HF_HEADER);
}
static hf_function_record *records_of(const struct freezer *f)
{
    return (hf_function_record *)(f->ints.at + record_of(f)->functions);
}
static uint32_t slot_of(const struct freezer *f, uint32_t k)
{
    return f->dense_of[f->spec->n_parameters + k];
}

size_t freeze_function_words(const struct freezer *f)
{
    return f->spec->n_functions ? HF_WORDS(hf_functions_record) : 0;
}

size_t freeze_function_numbers(const struct freezer *f)
{
    size_t count = 0;
    for (uint32_t k = 0; k < f->spec->n_functions; k++) count += f->spec->functions[k].expression->n_numbers;
    return count;
}

/* A function acts where a unit has it, and where functions of it act. */
static void find_actions(struct freezer *f, size_t c)
{
    const struct hf_spec *spec = f->spec;
    const hf_channel_record *record = &f->channels[c].record;
    bool *acts = f->acts + c * spec->n_functions;
    for (uint32_t u = record->first_unit; u < record->first_unit + record->units; u++)
        for (uint32_t e = 0; e < f->units[u].n_entries; e++)
            if (f->units[u].entries[e].parameter >= spec->n_parameters)
                acts[f->units[u].entries[e].parameter - spec->n_parameters] = true;
    for (uint32_t k = spec->n_functions; k-- > 0;)
        for (uint32_t i = 0; acts[k] && i < spec->functions[k].expression->n_names; i++)
            if (spec->functions[k].arguments[i] >= spec->n_parameters)
                acts[spec->functions[k].arguments[i] - spec->n_parameters] = true;
}

bool freeze_find_functions(struct freezer *f)
{
    if (f->spec->n_functions == 0) return true;
    f->acts = arena_array(&f->arena, f->n.channels * f->spec->n_functions, sizeof *f->acts);
    for (size_t c = 0; f->acts && c < f->n.channels; c++) find_actions(f, c);
    return f->acts;
}

void freeze_use_arguments(const struct freezer *f, const struct channel *ch, unsigned char *uses)
{
    const size_t c = (size_t)(ch - f->channels);
    for (uint32_t k = 0; k < f->spec->n_functions; k++) {
        const struct hf_function *function = &f->spec->functions[k];
        for (uint32_t i = 0; f->acts[c * f->spec->n_functions + k] && i < function->expression->n_names; i++)
            uses[f->dense_of[function->arguments[i]] / 8] = 1;
    }
}

/* Expression and arguments of function k. */
static void write_function(struct freezer *f, uint32_t k)
{
    const struct hf_function *function = &f->spec->functions[k];
    const struct expression *e = function->expression;
    hf_function_record record = {.slot = slot_of(f, k),
                                 .n_arguments = e->n_names,
                                 .n_words = e->n_words,
                                 .linear = expression_is_linear(e)};
    record.arguments = (uint32_t)f->ints.n;
    for (uint32_t i = 0; i < e->n_names; i++) freeze_push(f, &f->ints, f->dense_of[function->arguments[i]]);
    record.words = (uint32_t)f->ints.n;
    for (uint32_t i = 0; i < 2 * e->n_words; i++) freeze_push(f, &f->ints, e->words[i]);
    record.numbers = (uint32_t)freeze_extend_reals(f, e->n_numbers);
    if (f->ints.failed || f->reals.failed) return;
    if (e->n_numbers) memcpy(f->reals.at + record.numbers, e->numbers, e->n_numbers * sizeof *e->numbers);
    records_of(f)[k] = record;
    const size_t frame = HF_DERIVATIVES((size_t)e->n_names);
    if (e->depth * frame > f->n.function_stack) f->n.function_stack = e->depth * frame;
}

bool freeze_functions(struct freezer *f)
{
    const uint32_t n = f->spec->n_functions;
    if (n == 0) return true;
    const size_t functions = freeze_extend(f, &f->ints, n * HF_WORDS(hf_function_record)),
                 spots = freeze_extend(f, &f->ints, f->n.channels);
    if (f->ints.failed) return false;
    *record_of(f) =
        (hf_functions_record){.count = n, .functions = (uint32_t)functions, .spots = (uint32_t)spots};
    for (uint32_t k = 0; k < n; k++) write_function(f, k);
    return !f->ints.failed && !f->reals.failed;
}

static void push_spot(struct freezer *f, const uint32_t *position, uint32_t slot)
{
    freeze_push(f, &f->ints, 8 * position[slot / 8] + slot % 8);
}

bool freeze_function_spots(struct freezer *f, const struct channel *ch, const uint32_t *position)
{
    const size_t c = (size_t)(ch - f->channels), list = f->ints.n;
    const struct hf_spec *spec = f->spec;
    uint32_t count = 0;
    if (spec->n_functions == 0) return true;
    freeze_push(f, &f->ints, 0);
    for (uint32_t k = spec->n_functions; k-- > 0;) {
        if (!f->acts[c * spec->n_functions + k]) continue;
        const struct hf_function *function = &spec->functions[k];
        count++;
        freeze_push(f, &f->ints, k);
        push_spot(f, position, slot_of(f, k));
        for (uint32_t i = 0; i < function->expression->n_names; i++)
            push_spot(f, position, f->dense_of[function->arguments[i]]);
    }
    if (f->ints.failed) return false;
    f->ints.at[list] = count;
    f->ints.at[record_of(f)->spots + c] = (uint32_t)list;
    return true;
}

size_t freeze_place_functions(struct freezer *f, size_t at)
{
    if (f->spec->n_functions == 0) return at;
    hf_functions_record *record = record_of(f);
    for (uint32_t k = 0; k < record->count; k++) {
        hf_function_record *function = &records_of(f)[k];
        function->derivatives = (uint32_t)at;
        at += HF_DERIVATIVES((size_t)function->n_arguments);
    }
    record->stack = (uint32_t)at;
    record->column = (uint32_t)(at += f->n.function_stack);
    record->outside = (uint32_t)(at += f->n.dense);
    return (at + 1 + 7) / 8 * 8;
}
