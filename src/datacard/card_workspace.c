/* card_workspace.c: the workspace of a card: channels, observations, measurement. */
#include "datacard/card_workspace.h"
#include "base/math/host_math.h"

#include <stdio.h>
#include <string.h>

static const double NOTHING = 0.0 / 0.0; /* NaN: not asked for */

static struct json *append_modifier(struct card_build *build, struct json *modifiers, const char *name,
                                    const char *type)
{
    struct json *modifier = card_append_object(build, modifiers);
    card_put_text(build, modifier, "name", name);
    card_put_text(build, modifier, "type", type);
    return modifier;
}

static void write_effect(struct card_build *build, struct json *modifiers, uint32_t n_bins,
                         const struct card_effect *effect)
{
    const char *name = effect->parameter->name;
    effect->parameter->used = true;
    if (effect->factor) {
        struct json *modifier = append_modifier(build, modifiers, name, "normfactor");
        card_put(build, modifier, "data", json_new(build->document, JSON_NULL));
        return;
    }
    if (effect->up) {
        struct json *data =
            card_put_object(build, append_modifier(build, modifiers, name, "histosys"), "data");
        card_put_numbers(build, data, "hi_data", n_bins, effect->up);
        card_put_numbers(build, data, "lo_data", n_bins, effect->down);
        card_put_text(build, data, "interpcode", "code4p");
        if (effect->scale != 1.0) card_put_number(build, data, "scale", effect->scale);
    }
    if (effect->morphs && effect->high == 1.0 && effect->low == 1.0) return;
    struct json *data = card_put_object(build, append_modifier(build, modifiers, name, "normsys"), "data");
    card_put_number(build, data, "hi", effect->high);
    card_put_number(build, data, "lo", effect->low);
    card_put_text(build, data, "interpcode", effect->lognormal ? "lnN" : "code2c");
}

static void write_shift(struct card_build *build, struct json *modifiers, uint32_t n_bins, double *zeros,
                        const struct card_bin_shift *shift)
{
    struct json *data =
        card_put_object(build, append_modifier(build, modifiers, shift->name, "histosys"), "data");
    zeros[shift->bin] = shift->error;
    card_put_numbers(build, data, "hi_data", n_bins, zeros);
    zeros[shift->bin] = -shift->error;
    card_put_numbers(build, data, "lo_data", n_bins, zeros);
    zeros[shift->bin] = 0.0;
    card_put_text(build, data, "interpcode", "code2c");
}

/* Shifts add to the clipped rates, so a sample of their own has them, with the factors of the process. */
static void write_shifts(struct card_build *build, struct json *samples, const struct card_sample *sample)
{
    const char *process = build->card->columns[sample->column].process;
    const size_t room = strlen(process) + sizeof " (errors)";
    char *name = arena_array(build->arena, room, 1);
    double *zeros = arena_array(build->arena, sample->n_bins, sizeof *zeros);
    if (!name || !zeros) {
        build->failed = true;
        return;
    }
    snprintf(name, room, "%s (errors)", process);
    struct json *object = card_append_object(build, samples);
    card_put_text(build, object, "name", name);
    card_put_numbers(build, object, "data", sample->n_bins, zeros);
    struct json *modifiers = card_put_array(build, object, "modifiers");
    for (uint32_t i = 0; i < sample->n_effects; i++) {
        struct card_effect factor = sample->effects[i];
        factor.up = factor.down = NULL;
        write_effect(build, modifiers, sample->n_bins, &factor);
    }
    for (const struct card_bin_shift *shift = sample->shifts; shift; shift = shift->next)
        write_shift(build, modifiers, sample->n_bins, zeros, shift);
}

/* Parameters of single bins. A count k of a bin is a shapesys of the relative width 1 / sqrt(k). */
static void write_errors(struct card_build *build, struct json *modifiers, const struct card_sample *sample)
{
    if (sample->errors_name)
        card_put_numbers(build, append_modifier(build, modifiers, sample->errors_name, "mcstat"), "data",
                         sample->n_bins, sample->bin_errors);
    if (!sample->counts_name) return;
    double *widths = arena_array(build->arena, sample->n_bins, sizeof *widths);
    if (!widths) {
        build->failed = true;
        return;
    }
    for (uint32_t i = 0; i < sample->n_bins; i++)
        widths[i] = sample->counts[i] > 0.0 ? sample->data[i] / host_sqrt(sample->counts[i]) : 0.0;
    card_put_numbers(build, append_modifier(build, modifiers, sample->counts_name, "shapesys"), "data",
                     sample->n_bins, widths);
}

void card_sample_write(struct card_build *build, struct json *samples, const struct card_sample *sample)
{
    const struct card *card = build->card;
    struct json *object = card_append_object(build, samples);
    card_put_text(build, object, "name",
                  sample->column == CARD_NONE ? "without_effect" : card->columns[sample->column].process);
    card_put_numbers(build, object, "data", sample->n_bins, sample->data);
    if (sample->minimum == sample->minimum) {
        struct json *shape = card_put_object(build, object, "shape");
        card_put_number(build, shape, "minimum", sample->minimum);
        if (sample->total == sample->total) card_put_number(build, shape, "total", sample->total);
        if (sample->padding > 0.0) card_put_number(build, shape, "padding", sample->padding);
        if (sample->logarithmic) card_put(build, shape, "logarithmic", json_new(build->document, JSON_TRUE));
    }
    struct json *modifiers = card_put_array(build, object, "modifiers");
    for (uint32_t i = 0; i < sample->n_effects; i++)
        write_effect(build, modifiers, sample->n_bins, &sample->effects[i]);
    write_errors(build, modifiers, sample);
    if (sample->shifts) write_shifts(build, samples, sample);
}

/* A count, written into the card. */
static paritas_status count_sample(struct card_build *build, struct card_sample *sample)
{
    const struct card *card = build->card;
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next) {
        const struct card_value *value = &at->values[sample->column];
        if (value->none || !card_is_shape(at->law)) continue;
        if (at->law == CARD_SHAPE_OR_LNN)
            TRY(card_factor_add(build, sample, at));
        else
            return card_refuse(
                card, at->line, at->first_word == CARD_NONE ? 1 : at->first_word + sample->column,
                "`%s` needs histograms, and the channel \"%.200s\" is a count: write -, or a line "
                "`shapes`",
                card_law_names[at->law], card->channels[card->columns[sample->column].channel].name);
    }
    sample->data = arena_array(build->arena, 1, sizeof *sample->data);
    if (!sample->data) return paritas_fail_memory(card->context);
    sample->n_bins = 1;
    return card_rate_find(card, sample, NOTHING, &sample->data[0]);
}

static paritas_status find_sample(struct card_build *build, uint32_t column, struct card_sample *sample)
{
    const struct card_channel *channel = &build->card->channels[build->card->columns[column].channel];
    *sample = (struct card_sample){.column = column, .minimum = NOTHING, .total = NOTHING};
    TRY(card_factors_find(build, sample));
    return channel->counts ? count_sample(build, sample) : card_template_sample(build, sample);
}

static paritas_status add_samples(struct card_build *build, struct json *list, uint32_t c)
{
    const struct card *card = build->card;
    struct card_sample *const samples = &build->samples[build->n_samples];
    uint32_t n = 0;
    for (uint32_t k = 0; k < card->n_columns; k++) {
        if (card->columns[k].channel != c || card->columns[k].off || !card_is_present(card, k)) continue;
        TRY(find_sample(build, k, &samples[n]));
        n += samples[n].n_bins > 0;
    }
    build->n_samples += n;
    if (card->channels[c].monte_carlo) TRY(card_bin_errors_find(build, c, samples, n));
    for (uint32_t i = 0; i < n; i++) card_sample_write(build, list, &samples[i]);
    return PARITAS_OK;
}

/* Parameters without effect stay: they act on a sample without events. */
static paritas_status add_unused(struct card_build *build, struct json *samples, uint32_t n_bins)
{
    struct card_sample sample = {.column = CARD_NONE, .n_bins = n_bins, .minimum = NOTHING, .total = NOTHING};
    for (uint32_t i = 0; i < build->n_parameters; i++) {
        struct card_parameter *parameter = &build->parameters[i];
        if (parameter->used) continue;
        struct card_effect *effect = card_effect_of(build, &sample, parameter);
        if (!effect) return paritas_fail_memory(build->card->context);
        effect->factor =
            parameter->law == CARD_LAWS || parameter->law == CARD_GMN || parameter->law == CARD_GMM;
    }
    if (sample.n_effects == 0) return PARITAS_OK;
    sample.data = arena_array(build->arena, n_bins, sizeof *sample.data);
    if (!sample.data) return paritas_fail_memory(build->card->context);
    card_sample_write(build, samples, &sample);
    return PARITAS_OK;
}

static paritas_status count_data(struct card_build *build, const struct card_channel *channel, double **data)
{
    const struct card *card = build->card;
    *data = arena_array(build->arena, 1, sizeof **data);
    if (!*data) return paritas_fail_memory(card->context);
    if (!channel->observed_word)
        return card_refuse(
            card, card->columns_bin, CARD_NONE,
            "there is no line `observation` above, and the channel \"%.200s\" is a count: add one",
            channel->name);
    if (channel->observed == -1.0)
        return card_refuse(
            card, card->observation, (uint32_t)(channel->observed_word - card->observation->words),
            "-1 means a histogram's integral, and the channel \"%.200s\" has no histograms: give "
            "the count, or a line `shapes`",
            channel->name);
    **data = channel->observed;
    return PARITAS_OK;
}

static paritas_status histogram_data(struct card_build *build, uint32_t c, double **data)
{
    const struct card *card = build->card;
    const struct card_channel *channel = &card->channels[c];
    const struct card_wanted wanted = {c, CARD_NONE, NULL, CARD_NOMINAL};
    struct card_template made;
    TRY(card_template_read(build->files, &wanted, &made));
    const double given = channel->observed, found = made.integral, most = 0.005 * (given > 1.0 ? given : 1.0);
    if (channel->observed_word && given != -1.0 && (given - found > most || found - given > most))
        return card_refuse(
            card, card->observation, (uint32_t)(channel->observed_word - card->observation->words),
            "`observation` is %.8g, but the histogram of the data in \"%.200s\" has %.8g events: "
            "make them agree, or write -1",
            given, channel->name, found);
    for (uint32_t i = 0; i < made.n_bins; i++)
        if (made.bins[i] < 0.0) made.bins[i] = 0.0;
    *data = made.bins;
    return PARITAS_OK;
}

/* FAKE, or no line `shapes` in the card: a count. */
static void find_counts(struct card *card)
{
    for (uint32_t c = 0; c < card->n_channels; c++) {
        struct card_channel *channel = &card->channels[c];
        const struct card_shapes *shapes = card_shapes_find(card, channel->name, "data_obs");
        channel->fake = shapes && card_same(shapes->file, "FAKE");
        channel->counts = channel->fake || !card->shapes;
        if (channel->counts) channel->n_bins = 1;
    }
}

/* All channels, since the widest one decides about the others. */
static paritas_status read_data(struct card_build *build, double **data)
{
    const struct card *card = build->card;
    for (uint32_t c = 0; c < card->n_channels; c++) {
        const struct card_channel *channel = &card->channels[c];
        TRY(channel->counts ? count_data(build, channel, &data[c]) : histogram_data(build, c, &data[c]));
        if (channel->n_bins > build->n_widest) build->n_widest = channel->n_bins;
    }
    return PARITAS_OK;
}

static paritas_status add_channel(struct card_build *build, struct json *root, uint32_t c, const double *data)
{
    struct card *card = build->card;
    const struct card_channel *channel = &card->channels[c];
    struct json *object = card_append_object(build, (struct json *)json_get(root, "channels"));
    card_put_text(build, object, "name", channel->name);
    struct json *samples = card_put_array(build, object, "samples");
    TRY(add_samples(build, samples, c));
    struct json *observation = card_append_object(build, (struct json *)json_get(root, "observations"));
    card_put_text(build, observation, "name", channel->name);
    card_put_numbers(build, observation, "data", channel->n_bins, data);
    return PARITAS_OK;
}

static paritas_status add_channels(struct card_build *build, struct json *root)
{
    const struct card *card = build->card;
    double **data = arena_array(build->arena, card->n_channels, sizeof *data);
    build->samples = arena_array(build->arena, card->n_columns, sizeof *build->samples);
    if (!data || !build->samples) return paritas_fail_memory(card->context);
    TRY(read_data(build, data));
    for (uint32_t c = 0; c < card->n_channels; c++) TRY(add_channel(build, root, c, data[c]));
    if (build->failed) return paritas_fail_memory(card->context);
    const struct json *channel = json_get(root, "channels")->last;
    return add_unused(build, (struct json *)json_get(channel, "samples"),
                      card->channels[card->n_channels - 1].n_bins);
}

static void put_pois(struct card_build *build, struct json *config)
{
    const struct card_poi *first = build->card->pois;
    card_put_text(build, config, "poi", first ? first->name : "");
    if (!first || !first->next) return;
    struct json *list = card_put_array(build, config, "pois");
    for (const struct card_poi *at = first; at && !build->failed; at = at->next) {
        struct json *name = json_new_text(build->document, at->name);
        build->failed = !name || !json_append(list, name);
    }
}

static paritas_status fill(struct card_build *build)
{
    struct json *root = build->document->root = json_new(build->document, JSON_OBJECT);
    card_put_array(build, root, "channels");
    card_put_array(build, root, "observations");
    struct json *measurement = card_append_object(build, card_put_array(build, root, "measurements"));
    card_put_text(build, measurement, "name", "datacard");
    struct json *config = card_put_object(build, measurement, "config");
    card_put_text(build, root, "version", "1.0.0");
    if (build->failed) return paritas_fail_memory(build->card->context);
    TRY(card_parameters_collect(build));
    put_pois(build, config);
    TRY(add_channels(build, root));
    TRY(card_parameters_write(build, config));
    return build->failed ? paritas_fail_memory(build->card->context) : PARITAS_OK;
}

paritas_status card_workspace_make(struct card *card, struct card_files *files, paritas_workspace **workspace)
{
    struct card_build build = {.card = card, .files = files, .arena = card->arena};
    find_counts(card);
    build.document = json_open(card->context, card->path);
    if (!build.document) return paritas_fail_memory(card->context);
    const paritas_status status = fill(&build);
    return json_hand_out(status, build.document, workspace);
}
