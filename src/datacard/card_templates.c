/* card_templates.c: histograms of a process become a sample with morphs.
 *
 * A channel without autoMCStats has fractions that are clipped, normalised and scaled to the rate. A channel
 * with autoMCStats has whole histograms, clipped. Morphs of logarithms have positive bins: fractions are not
 * clipped, and whole histograms are scaled to their integral before. */
#include "datacard/card_workspace.h"
#include "base/math/host_math.h"

#include <stdio.h>

static const double LEAST = 1e-9; /* of a fraction, or of a bin's events */

struct morphs {
    struct card_build *build;
    struct card_sample *sample;
    const struct card_channel *channel;
    struct card_template nominal;
    double smallest; /* of the scales; at most 1 */
    double part;     /* of the histograms that `data` has: 1 over their sum, or over the control count */
    bool fractions;
};

static struct card_wanted wanted_of(const struct morphs *morphs, const struct card_nuisance *nuisance,
                                    enum card_direction direction)
{
    const uint32_t column = morphs->sample->column;
    return (struct card_wanted){morphs->build->card->columns[column].channel, column, nuisance, direction};
}

static paritas_status refuse_value(const struct morphs *morphs, const struct card_nuisance *nuisance,
                                   const char *reason)
{
    const uint32_t column = morphs->sample->column, first = nuisance->first_word;
    return card_refuse(morphs->build->card, nuisance->line, first == CARD_NONE ? 0 : first + column, "%s",
                       reason);
}

/* A line with `shape?` morphs where there are histograms, and else is a lognormal. */
static paritas_status is_morph(struct morphs *morphs, const struct card_nuisance *nuisance, bool *is)
{
    *is = !nuisance->values[morphs->sample->column].none && card_is_shape(nuisance->law);
    if (!*is || nuisance->law != CARD_SHAPE_OR_LNN) return PARITAS_OK;
    const struct card_wanted up = wanted_of(morphs, nuisance, CARD_UP);
    TRY(card_template_exists(morphs->build->files, &up, is));
    return PARITAS_OK;
}

/* A process has one kind of morphs: `shape?` counts also where it is a lognormal. */
static paritas_status check_kind(const struct morphs *morphs, const struct card_nuisance *nuisance,
                                 const struct card_nuisance *first)
{
    char reason[400];
    if ((nuisance->law == CARD_SHAPE_N) == (first->law == CARD_SHAPE_N)) return PARITAS_OK;
    snprintf(reason, sizeof reason,
             "the process has a `%s` in line %u already, and `%s` morphs %s: use one of them",
             card_law_names[first->law], first->line->number, card_law_names[nuisance->law],
             nuisance->law == CARD_SHAPE_N ? "logarithms" : "no logarithms");
    return refuse_value(morphs, nuisance, reason);
}

/* The smallest scale of a process decides how smooth all of its morphs are. */
static paritas_status find_smallest(struct morphs *morphs)
{
    struct card *card = morphs->build->card;
    const struct card_nuisance *first = NULL;
    for (const struct card_nuisance *at = card->nuisances; at; at = at->next) {
        const struct card_value *value = &at->values[morphs->sample->column];
        bool is;
        if (value->none || !card_is_shape(at->law)) continue;
        if (first) TRY(check_kind(morphs, at, first));
        if (!first) first = at;
        TRY(is_morph(morphs, at, &is));
        if (!is && (value->two || value->low != 1.0)) TRY(card_factor_add(morphs->build, morphs->sample, at));
        if (!is) continue;
        if (value->two)
            return refuse_value(morphs, at, "there are histograms, so the value must be one scale");
        morphs->sample->logarithmic = at->law == CARD_SHAPE_N;
        if (value->low < morphs->smallest) morphs->smallest = value->low;
    }
    return PARITAS_OK;
}

/* What a variation does to the normalisation; small effects are none. */
static paritas_status add_norm(struct morphs *morphs, const struct card_nuisance *nuisance,
                               struct card_effect *effect, const struct card_template sides[2])
{
    double factors[2];
    bool small = true;
    for (int i = 0; i < 2; i++) {
        const double ratio = sides[i].integral / morphs->nominal.integral;
        if (!(ratio > 0.0))
            return refuse_value(morphs, nuisance,
                                "the integral of a variation must be above 0: mend the histogram");
        small = small && ratio < 1.0 + 1e-3 && ratio > 1.0 - 1e-3;
        factors[i] = effect->scale == 1.0 ? ratio : host_exp(effect->scale * host_log(ratio));
        factors[i] = card_rounded(morphs->build->card, CARD_SIX_DECIMALS, factors[i]);
    }
    if (small) return PARITAS_OK;
    if (!(factors[0] > 0.0 && factors[1] > 0.0))
        return refuse_value(morphs, nuisance,
                            "a variation keeps no millionth of the process: mend the histogram");
    effect->high *= factors[0];
    effect->low *= factors[1];
    return PARITAS_OK;
}

/* A bin of a template, as a sample has it. A negative histogram is not divided, so that the clip takes it. */
static double share(const struct morphs *morphs, double bin, const struct card_template *template)
{
    if (!morphs->fractions) return bin * morphs->part;
    return template->sum > 0.0 ? bin / template->sum : bin;
}

/* Data + q (variation - nominal), of logarithms data (variation / nominal)^q. */
static double target_of(const struct morphs *morphs, double data, double nominal, double variation)
{
    const double q = morphs->smallest;
    const bool equal = q == 1.0 && nominal == data;
    if (!morphs->sample->logarithmic) return equal ? variation : data + q * (variation - nominal);
    if (!(nominal > 0.0 && variation > 0.0)) return data;
    return equal ? variation : data * host_exp(q * host_log(variation / nominal));
}

/* The variation has the integral of the nominal, or keeps its own. */
static double *morph_target(const struct morphs *morphs, const struct card_template *variation)
{
    const struct card_template *nominal = &morphs->nominal;
    const bool keeps = !morphs->fractions && morphs->channel->mode == 2;
    double *target = arena_array(morphs->build->arena, nominal->n_bins, sizeof *target);
    if (!target) return NULL;
    for (uint32_t i = 0; i < nominal->n_bins; i++) {
        double value = variation->bins[i];
        if (!morphs->fractions && !keeps)
            value = card_rounded(morphs->build->card, CARD_SINGLE, value * (nominal->sum / variation->sum));
        target[i] = target_of(morphs, morphs->sample->data[i], share(morphs, nominal->bins[i], nominal),
                              share(morphs, value, variation));
    }
    return target;
}

static paritas_status add_morph(struct morphs *morphs, const struct card_nuisance *nuisance)
{
    struct card_build *build = morphs->build;
    struct card_sample *sample = morphs->sample;
    struct card_template sides[2];
    for (int i = 0; i < 2; i++) {
        const struct card_wanted side = wanted_of(morphs, nuisance, i == 0 ? CARD_UP : CARD_DOWN);
        TRY(card_template_read(build->files, &side, &sides[i]));
        if (!(sides[i].sum > 0.0))
            return refuse_value(morphs, nuisance,
                                "the integral of a variation must be above 0: mend the histogram");
    }
    struct card_effect *effect = card_effect_of(build, sample, nuisance->parameter);
    if (!effect) return paritas_fail_memory(build->card->context);
    if (effect->up)
        return refuse_value(morphs, nuisance, "the process has this morph by another line already: drop one");
    effect->morphs = true;
    effect->up = morph_target(morphs, &sides[0]);
    effect->down = morph_target(morphs, &sides[1]);
    if (!effect->up || !effect->down) return paritas_fail_memory(build->card->context);
    effect->scale = nuisance->values[sample->column].low;
    if (!morphs->fractions && morphs->channel->mode == 2) {
        effect->scale /= morphs->smallest;
        return PARITAS_OK;
    }
    const paritas_status status = add_norm(morphs, nuisance, effect, sides);
    effect->scale /= morphs->smallest;
    return status;
}

/* Bins as they are at the start values; their sum is the total. */
static void fill_exponentials(const struct morphs *morphs)
{
    struct card_sample *sample = morphs->sample;
    double sum = 0.0;
    for (uint32_t i = 0; i < sample->n_bins; i++) sum += sample->data[i] > 0.0 ? sample->data[i] : 0.0;
    if (morphs->fractions) sample->minimum = 0.0;
    if (!morphs->fractions) sample->total = morphs->nominal.sum * morphs->part;
    for (uint32_t i = 0; i < sample->n_bins && !morphs->fractions; i++)
        sample->data[i] = sample->data[i] > 0.0 ? sample->data[i] * (sample->total / sum) : 0.0;
}

/* Fractions, or the histogram. Combine pads narrow channels; with morphs of fractions these have no empty
 * bins. */
static paritas_status fill_data(struct morphs *morphs, bool any)
{
    struct card_sample *sample = morphs->sample;
    const struct card_template *nominal = &morphs->nominal;
    const bool narrow = !morphs->build->card->exact && nominal->n_bins < morphs->build->n_widest;
    const bool lifted = any && !sample->logarithmic && narrow;
    double *errors = arena_array(morphs->build->arena, nominal->n_bins, sizeof *errors);
    sample->data = arena_array(morphs->build->arena, nominal->n_bins, sizeof *sample->data);
    if (!sample->data || !errors) return paritas_fail_memory(morphs->build->card->context);
    for (uint32_t i = 0; i < nominal->n_bins; i++) {
        const double value = share(morphs, nominal->bins[i], nominal);
        sample->data[i] = morphs->fractions && lifted && value < LEAST ? LEAST : value;
        errors[i] = nominal->errors[i] * morphs->part;
    }
    if (!morphs->fractions) sample->errors = errors;
    sample->minimum = morphs->fractions ? LEAST : LEAST * morphs->part;
    if (any && sample->logarithmic) fill_exponentials(morphs);
    sample->padding =
        morphs->fractions && narrow && !any ? LEAST * (morphs->build->n_widest - nominal->n_bins) : 0.0;
    return PARITAS_OK;
}

/* Without morphs the clipped and scaled rates are numbers. */
static void settle(struct card_sample *sample)
{
    double sum = sample->padding;
    for (uint32_t i = 0; i < sample->n_bins; i++) {
        if (sample->data[i] < sample->minimum) sample->data[i] = sample->minimum;
        sum += sample->data[i];
    }
    const bool scaled = sample->total == sample->total;
    for (uint32_t i = 0; scaled && i < sample->n_bins; i++)
        sample->data[i] = sample->total * sample->data[i] / sum;
    sample->minimum = sample->total = 0.0 / 0.0;
    sample->padding = 0.0;
}

static paritas_status add_morphs(struct morphs *morphs)
{
    bool any = false, is;
    const struct card_nuisance *first = morphs->build->card->nuisances;
    for (const struct card_nuisance *at = first; at && !any; at = at->next) TRY(is_morph(morphs, at, &any));
    TRY(fill_data(morphs, any));
    if (!any) settle(morphs->sample);
    for (const struct card_nuisance *at = first; any && at; at = at->next) {
        TRY(is_morph(morphs, at, &is));
        if (is) TRY(add_morph(morphs, at));
    }
    return PARITAS_OK;
}

/* A histogram of negative weights has a negative rate, but no fractions that could morph. */
static paritas_status check_integral(struct morphs *morphs)
{
    const struct card *card = morphs->build->card;
    const struct card_column *column = &card->columns[morphs->sample->column];
    const double integral = morphs->nominal.integral, sum = morphs->nominal.sum;
    bool morphed = false;
    for (const struct card_nuisance *at = card->nuisances; at && !morphed; at = at->next)
        TRY(is_morph(morphs, at, &morphed));
    if ((integral > 0.0 && sum > 0.0) || (integral < 0.0 && sum < 0.0 && !morphed)) return PARITAS_OK;
    return card_refuse(
        card, card->rate, column->word,
        "the histogram of \"%.200s\" in \"%.200s\" has no events above 0%s: write the rate 0 to "
        "leave the process out",
        column->process, morphs->channel->name, morphed && integral < 0.0 ? ", and shapes act on it" : "");
}

static bool is_empty(const struct card_template *template)
{
    for (uint32_t i = 0; i < template->n_bins; i++)
        if (template->bins[i] != 0.0) return false;
    return true;
}

paritas_status card_template_sample(struct card_build *build, struct card_sample *sample)
{
    struct card *card = build->card;
    const struct card_column *column = &card->columns[sample->column];
    const struct card_nuisance *control = card_control_count(card, sample->column);
    struct morphs morphs = {.build = build,
                            .sample = sample,
                            .channel = &card->channels[column->channel],
                            .smallest = 1.0,
                            .part = 1.0,
                            .fractions = !card->channels[column->channel].monte_carlo};
    const struct card_wanted nominal = wanted_of(&morphs, NULL, CARD_NOMINAL);
    double rate;
    TRY(card_template_read(build->files, &nominal, &morphs.nominal));
    sample->n_bins = morphs.nominal.n_bins;
    if (column->rate == -1.0 && is_empty(&morphs.nominal)) {
        sample->n_bins = 0; /* absent */
        return PARITAS_OK;
    }
    TRY(find_smallest(&morphs));
    TRY(check_integral(&morphs));
    TRY(card_rate_find(card, sample, morphs.nominal.integral, &rate));
    if (morphs.fractions)
        sample->total = rate;
    else if (control && control->numbers[0] > 0.0)
        morphs.part = 1.0 / control->numbers[0];
    return add_morphs(&morphs);
}
