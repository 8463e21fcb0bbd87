/* modifier_histosys.c: a shift of each bin; normal constraint. */
#include "histfactory/workspace/workspace_spec.h"

static bool acts(const struct hf_modifier *modifier, const struct hf_sample *sample, uint32_t n_bins)
{
    if (modifier->hi_template || modifier->lo_template || sample->data_template) return true;
    for (uint32_t i = 0; i < n_bins; i++)
        if (modifier->hi_data[i] != sample->data[i] || modifier->lo_data[i] != sample->data[i]) return true;
    return false;
}

const struct hf_modifier_kind hf_modifier_histosys = {.name = "histosys",
                                                      .data = HF_DATA_HI_LO_BINS,
                                                      .action = HF_INTERPOLATED_SHIFT,
                                                      .constraint = HF_GAUSSIAN,
                                                      .shares = HF_BIT(HF_NORMSYS) | HF_BIT(HF_HISTOSYS),
                                                      .lower = -5.0,
                                                      .upper = 5.0,
                                                      .acts = acts};
