/* modifier_codes.c: interpolation codes of modifiers, and what they ask of histograms. */
#include "histfactory/modifiers/modifier_numbers.h"
#include "histfactory/workspace/workspace_read.h"

#include <stdio.h>
#include <string.h>

struct word {
    int code;
    const char *text;
};
#define WORD_OF_CODE(name, value, word, meaning) {value, word},
static const struct word normsys_words[] = {PARITAS_NORMSYS_CODE_LIST(WORD_OF_CODE)},
                         histosys_words[] = {PARITAS_HISTOSYS_CODE_LIST(WORD_OF_CODE)};

paritas_status hf_code_read(const struct hf_place *data, const struct json *node,
                            struct hf_modifier *modifier)
{
    const bool factor = modifier->type == HF_NORMSYS;
    const struct word *words = factor ? normsys_words : histosys_words;
    const size_t n = factor ? COUNT_OF(normsys_words) : COUNT_OF(histosys_words);
    char found[64], known[96] = "";
    if (!node) return PARITAS_OK;
    for (size_t k = 1; k < n; k++) { /* the first is the default's, without a word */
        char word[16];
        snprintf(word, sizeof word, "%s%s", words[k].text[0] <= '9' ? "code" : "", words[k].text);
        if (strcmp(node->text, word) == 0) {
            modifier->code = words[k].code;
            return PARITAS_OK;
        }
        const size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s%s", k > 1 ? ", " : "", word);
    }
    return hf_refuse(HF_MEMBER(data, HF_CODE_KEY), "unknown interpolation %s of a %s, only %s",
                     hf_describe(node, found), hf_kind(modifier->type)->name, known);
}

static paritas_status refuse_bin(const struct hf_raw *raw, const struct hf_use *use, const char *member,
                                 uint32_t bin, double value)
{
    char found[32];
    return hf_refuse_use(raw, use, member, bin,
                         "a histosys of code 1, 5 or 6 multiplies the rate of a bin, which asks for a number "
                         "greater than 0, found %s",
                         hf_number(value, found));
}

/* Nominal rates, and the variations of an exponential, must be positive. An empty bin stays empty. */
static paritas_status check_factors(const struct hf_raw *raw, const struct hf_use *use)
{
    const struct hf_modifier *m = use->modifier;
    const struct hf_use nominal = {use->channel, use->sample, NULL};
    const bool exponential = hf_factor_code(m->code) != PARITAS_NORMSYS_CODE_6;
    for (uint32_t b = 0; b < use->sample->n_bins; b++) {
        const double rate = use->sample->data[b], hi = m->hi_data[b], lo = m->lo_data[b];
        if (rate == 0.0 && hi == 0.0 && lo == 0.0) continue;
        if (!(rate > 0.0)) return refuse_bin(raw, &nominal, "data", b, rate);
        if (exponential && !(hi > 0.0)) return refuse_bin(raw, use, "data.hi_data", b, hi);
        if (exponential && !(lo > 0.0)) return refuse_bin(raw, use, "data.lo_data", b, lo);
    }
    return PARITAS_OK;
}

/* An exponential through 0 has no value at 0: its logarithm is infinite. */
static paritas_status check_zero(const struct hf_raw *raw, const struct hf_use *use)
{
    const struct hf_modifier *m = use->modifier;
    if ((m->hi > 0.0 && m->lo > 0.0) || m->hi_template || m->lo_template ||
        hf_factor_takes_zero((paritas_normsys_code)m->code))
        return PARITAS_OK;
    return hf_refuse_use(raw, use, m->hi > 0.0 ? "data.lo" : "data.hi", HF_NONE,
                         "is 0, which codes 0, 2c, 4 and 6 can interpolate, but no exponential: %s",
                         m->code == PARITAS_NORMSYS_CODE_1 ? "code 1" : "lnN");
}

paritas_status hf_codes_settle(paritas_context *context, const paritas_workspace *workspace,
                               struct hf_spec *spec, paritas_normsys_code normsys,
                               paritas_histosys_code histosys)
{
    const struct hf_raw raw = {.source = {context, workspace->label}};
    for (uint32_t c = 0; c < spec->n_channels; c++)
        for (uint32_t s = 0; s < spec->channels[c].n_samples; s++) {
            struct hf_use use = {&spec->channels[c], &spec->channels[c].samples[s], NULL};
            for (uint32_t k = 0; k < use.sample->n_modifiers; k++) {
                struct hf_modifier *m = use.modifier = &use.sample->modifiers[k];
                if (m->type == HF_NORMSYS && m->code == 0)
                    m->code = normsys ? normsys : PARITAS_NORMSYS_CODE_4;
                if (m->type == HF_HISTOSYS && m->code == 0)
                    m->code = histosys ? histosys : PARITAS_HISTOSYS_CODE_4P;
                if (m->type == HF_NORMSYS) TRY(check_zero(&raw, &use));
                if (hf_multiplies_bins(m)) TRY(check_factors(&raw, &use));
            }
        }
    return PARITAS_OK;
}
