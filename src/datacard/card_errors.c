/* card_errors.c: autoMCStats: parameters for the statistical errors of templates.
 *
 * A bin of many effective events has one parameter for all processes. A bin of few has one for each process:
 * a count, or a shift where the error is not a count's. What a bin has is decided at the start values. */
#include "datacard/card_workspace.h"
#include "base/math/host_math.h"
#include "base/math/probability.h"

#include <stdio.h>
#include <string.h>

/* The factor of a sample at the start values. Lognormals are 1 there. */
static double start_factor(const struct card_sample *sample)
{
    double factor = 1.0;
    for (uint32_t i = 0; i < sample->n_effects; i++) {
        const struct card_effect *effect = &sample->effects[i];
        if (effect->factor)
            factor *= effect->parameter->start;
        else if (!effect->lognormal)
            factor *= 1.0 + (effect->high - 1.0) * effect->parameter->start;
    }
    return factor;
}

static double whole(double value)
{
    return value < 1e15 ? (double)(int64_t)(value + 0.5) : value;
}

/* As the likelihood has it at the start values: clipped. */
static double events_of(const struct card_sample *sample, uint32_t bin)
{
    return sample->data[bin] < sample->minimum ? sample->minimum : sample->data[bin];
}

/* Effective events of a bin; a negative number: no process has an error. */
static double effective_events(const struct card *card, const struct card_channel *channel,
                               const struct card_sample *samples, uint32_t n, uint32_t bin)
{
    double sum = 0.0, squares = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double factor = start_factor(&samples[i]), error = samples[i].errors[bin] * factor;
        if (card->columns[samples[i].column].signal && !channel->with_signal) continue;
        sum += events_of(&samples[i], bin) * factor;
        squares += error * error;
    }
    if (!(squares > 0.0)) return -1.0;
    return whole(sum * sum / squares);
}

/* Joins the texts to a name. */
static char *join_name(struct card_build *build, const char *const parts[5])
{
    size_t room = 1;
    for (int i = 0; i < 5; i++) room += strlen(parts[i]);
    char *name = arena_array(build->arena, room, 1);
    if (!name) build->failed = true;
    for (int i = 0; i < 5 && name; i++) strcat(name, parts[i]);
    return name;
}

static void share_bin(struct card_build *build, const char *channel, struct card_sample *samples, uint32_t n,
                      uint32_t bin)
{
    for (uint32_t i = 0; i < n; i++) {
        struct card_sample *sample = &samples[i];
        if (!sample->bin_errors) {
            sample->bin_errors = arena_array(build->arena, sample->n_bins, sizeof *sample->bin_errors);
            sample->errors_name = join_name(build, (const char *const[5]){"prop_bin", channel, "", "", ""});
        }
        if (!sample->bin_errors) {
            build->failed = true;
            return;
        }
        sample->bin_errors[bin] = sample->errors[bin];
    }
}

static void add_shift(struct card_build *build, const char *channel, struct card_sample *sample, uint32_t bin,
                      double error)
{
    struct card_bin_shift *shift = arena_array(build->arena, 1, sizeof *shift);
    if (!shift) {
        build->failed = true;
        return;
    }
    const char *process = build->card->columns[sample->column].process;
    char number[24];
    snprintf(number, sizeof number, "_bin%u", bin);
    *shift = (struct card_bin_shift){
        sample->shifts, join_name(build, (const char *const[5]){"prop_bin", channel, number, "_", process}),
        bin, error};
    sample->shifts = shift;
}

static void add_count(struct card_build *build, const char *channel, struct card_sample *sample, uint32_t bin,
                      double count)
{
    if (!sample->counts) {
        sample->counts = arena_array(build->arena, sample->n_bins, sizeof *sample->counts);
        sample->counts_name =
            join_name(build, (const char *const[5]){"prop_bin", channel, "_",
                                                    build->card->columns[sample->column].process, ""});
    }
    if (sample->counts)
        sample->counts[bin] = count;
    else
        build->failed = true;
}

/* Few effective events: each process on its own. */
static void split_bin(struct card_build *build, const struct card_channel *channel,
                      struct card_sample *samples, uint32_t n, uint32_t bin)
{
    for (uint32_t i = 0; i < n; i++) {
        const double value = events_of(&samples[i], bin), error = samples[i].errors[bin];
        if (!(error > 0.0)) continue;
        const double count = value >= 0.999 * error ? whole(value / error * (value / error)) : 0.0;
        if (count > 0.0 && count <= channel->threshold)
            add_count(build, channel->name, &samples[i], bin, count);
        else
            add_shift(build, channel->name, &samples[i], bin, error);
    }
}

static paritas_status check_errors(const struct card_build *build, const struct card_sample *sample)
{
    const struct card *card = build->card;
    for (uint32_t i = 0; i < sample->n_bins; i++)
        if (sample->errors[i] - sample->errors[i] != 0)
            return card_refuse(
                card, card->columns_process, card->columns[sample->column].word,
                "the error of bin %u of \"%.200s\" is no finite number, and autoMCStats needs it: "
                "mend the histogram",
                i + 1, card->columns[sample->column].process);
    return PARITAS_OK;
}

paritas_status card_bin_errors_find(struct card_build *build, uint32_t channel, struct card_sample *samples,
                                    uint32_t n)
{
    const struct card_channel *at = &build->card->channels[channel];
    if (at->threshold < 0.0 || at->counts) return PARITAS_OK;
    for (uint32_t i = 0; i < n; i++) TRY(check_errors(build, &samples[i]));
    for (uint32_t bin = 0; bin < at->n_bins; bin++) {
        const double events = effective_events(build->card, at, samples, n, bin);
        if (events > at->threshold)
            share_bin(build, at->name, samples, n, bin);
        else if (events >= 0.0)
            split_bin(build, at, samples, n, bin);
    }
    return build->failed ? paritas_fail_memory(build->card->context) : PARITAS_OK;
}

/* Half of the chi-squared value with `degrees` that is exceeded with this probability. */
static double half_quantile(double degrees, double exceeded)
{
    double low = 0.0, high = degrees + 200.0;
    while (chi2_survival(high, degrees) > exceeded) high *= 2.0;
    for (int step = 0; step < 60; step++) {
        const double middle = 0.5 * (low + high);
        *(chi2_survival(middle, degrees) > exceeded ? &low : &high) = middle;
    }
    return 0.25 * (low + high);
}

/* Seven standard deviations of a count, as a part of it. */
static void write_count_range(struct card_build *build, struct json *bounds, double count)
{
    const double tail = normal_cdf(-7.0);
    if (count > 0.0)
        card_put_range(build, bounds, half_quantile(2.0 * count, 1.0 - tail) / count,
                       half_quantile(2.0 * count + 2.0, tail) / count);
    else
        card_put_range(build, bounds, 0.0, 10.0);
}

void card_counts_write(struct card_build *build, struct json *list, const struct card_sample *sample)
{
    for (const struct card_bin_shift *shift = sample->shifts; shift; shift = shift->next) {
        struct json *config = card_append_object(build, list);
        card_put_text(build, config, "name", shift->name);
        card_put_numbers(build, config, "inits", 1, (const double[1]){0.0});
        card_put_range(build, card_put_array(build, config, "bounds"), -7.0, 7.0);
    }
    if (!sample->counts_name) return;
    struct json *config = card_append_object(build, list);
    card_put_text(build, config, "name", sample->counts_name);
    struct json *bounds = card_put_array(build, config, "bounds");
    for (uint32_t i = 0; i < sample->n_bins; i++) write_count_range(build, bounds, sample->counts[i]);
}
